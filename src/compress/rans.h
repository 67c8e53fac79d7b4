/* compress/rans.h: wavelet coefficients by 32 interleaved rANS coders (docs/formats/tsc.md, coder rans): what one coefficient is coded as. Lane l of a
 * group takes coefficient l of 32 in a row of a band; all lanes read from one run of 16-bit words, so that a warp, or a vector of a CPU, decodes 32
 * coefficients at once. Source: Duda, "Asymmetric numeral systems" (arXiv 1311.2540); interleaving as in Giesen (arXiv 1402.3392). */
#ifndef TSR_COMPRESS_RANS_H
#define TSR_COMPRESS_RANS_H

#include "core/hd.h"

enum {
    TSR_RANS_LANES = 32,
    TSR_RANS_BITS = 11, /* frequencies of a table add up to 2^11 */
    TSR_RANS_SLOTS = 1 << TSR_RANS_BITS,
    TSR_RANS_TOKENS = 16,
    TSR_RANS_ESCAPE = TSR_RANS_TOKENS - 1,
    TSR_RANS_ESCAPE_BITS = 5,
    TSR_RANS_SMALL = 10, /* contexts below have a table of their own and no plain bits */
    TSR_RANS_TABLES = TSR_RANS_SMALL + 2,
    TSR_RANS_CONTEXTS = 40, /* the last has 15 plain bits: 16 with the sign are what a state can give at once */
    TSR_RANS_MAGNITUDE = 32768,
    TSR_RANS_HEADER = 2, /* bytes: of a coefficient on the way back, context where nothing is known */
    TSR_RANS_STATES = 4 * TSR_RANS_LANES,
    TSR_RANS_BRICK = 1 << 15, /* voxels at most: they fit into the shared memory of a multiprocessor */
    TSR_RANS_MODEL_BYTES = 2 * TSR_RANS_TABLES * TSR_RANS_TOKENS
};
#define TSR_RANS_LEAST 65536u /* of a state between two steps */

/* Of one file. Each table's frequencies are at least 1. */
typedef struct tsr_rans_model {
    uint16_t frequency[TSR_RANS_TABLES][TSR_RANS_TOKENS];
} tsr_rans_model;

/* ---- context: the magnitudes around ------------------------------------------------------------------------------------------------------------------ */

TSR_HD uint32_t tsr_rans_magnitude(int32_t v)
{
    const uint32_t m = v < 0 ? 0u - (uint32_t)v : (uint32_t)v;
    return m < (uint32_t)TSR_RANS_MAGNITUDE ? m : (uint32_t)TSR_RANS_MAGNITUDE;
}

TSR_HD uint16_t tsr_rans_magnitude16(int16_t v) { return (uint16_t)(v < 0 ? -v : v); }

/* How a band of `size` sees the coefficients before: 2: those of the slice before, 1: of the row before, 0: none. They belong to earlier groups. */
TSR_HD int32_t tsr_rans_reach(int32_t nx, int32_t ny) { return nx * (ny - 2) >= TSR_RANS_LANES ? 2 : nx >= TSR_RANS_LANES ? 1 : 0; }

/* Eight times the mean magnitude of those before: at the place itself and beside it, in the slice or the row before. */
#define TSR_RANS_SLICE_SUM(at, left, right, above, below) (4 * (at) + (left) + (right) + (above) + (below))
#define TSR_RANS_ROW_SUM(at, left) (4 * (at) + 4 * (left))

/* Of that sum and the sum of magnitudes in `siblings` earlier bands of the stream at the same place, in 256ths: what gives 8 times the mean, those before
 * counting as four bands. 0 and 0: nothing is known. */
typedef struct tsr_rans_weights {
    uint32_t before, siblings;
} tsr_rans_weights;
TSR_HD tsr_rans_weights tsr_rans_weigh(int before, int32_t siblings)
{
    tsr_rans_weights w = { 0, 0 };
    if (before) {
        w.before = 1024u / (uint32_t)(4 + siblings);
        w.siblings = 2048u / (uint32_t)(4 + siblings);
    } else if (siblings) w.siblings = 2048u / (uint32_t)siblings;
    return w;
}
#define TSR_RANS_ENERGY(w, sum_before, sum_siblings) (((sum_before) * (w).before + (sum_siblings) * (w).siblings) >> 8)
TSR_HD uint32_t tsr_rans_energy(tsr_rans_weights w, uint32_t before, uint32_t siblings) { return TSR_RANS_ENERGY(w, before, siblings); }

/* 0 for 0 (below it), else two contexts an octave: 1 + 2 log2 + the next bit, which are the exponent and the first bit of a float. */
#define TSR_RANS_OCTAVES(bits) (((bits) >> 22) - 253)
TSR_HD int32_t tsr_rans_context_of_bits(uint32_t bits)
{
    const int32_t c = TSR_RANS_OCTAVES((int32_t)bits);
    return c > 0 ? c : 0;
}
TSR_HD int32_t tsr_rans_context(uint32_t energy) { return tsr_rans_context_of_bits(tsr_float_bits((float)(int32_t)energy)); }
TSR_HD int32_t tsr_rans_start(int32_t said) { return said < TSR_RANS_CONTEXTS ? said : TSR_RANS_CONTEXTS - 1; }

TSR_HD int32_t tsr_rans_table(int32_t context) { return context < TSR_RANS_SMALL ? context : TSR_RANS_SMALL + (context & 1); }
/* Plain bits below the token. */
TSR_HD int32_t tsr_rans_plain(int32_t context) { return context < TSR_RANS_SMALL ? 0 : (context - TSR_RANS_SMALL + 2) >> 1; }

/* ---- states ------------------------------------------------------------------------------------------------------------------------------------------ */

/* After a token of frequency f that begins `offset` slots before this one. */
TSR_HD uint32_t tsr_rans_advance(uint32_t state, uint32_t f, uint32_t offset) { return f * (state >> TSR_RANS_BITS) + offset; }

/* Coefficient from its magnitude above the plain bits; takes plain bits and, unless it is 0, the sign. */
TSR_HD int32_t tsr_rans_finish(uint32_t *state, uint32_t above, int32_t plain)
{
    const uint32_t x = *state, m = above << plain | (x & ((1u << plain) - 1)), some = m != 0, negative = x >> plain & some;
    *state = x >> (plain + (int32_t)some);
    return (int32_t)((m ^ (0u - negative)) + negative);
}

#endif
