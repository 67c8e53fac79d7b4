/* video/slices/core_jobs.h: sub-bands of core syntax, entropy-decoded and -coded where the picture lies.
 *
 * Arithmetic codes are decoded one after the other, by a warp a sub-band, so that it takes the sub-bands of many pictures to fill a device.
 *
 * Variable-length codes: a run of them has no marks at which one could begin. But a reader of bits is in one of four states, so that what a piece of the run does is known
 * without knowing what precedes it: a map of states to states, and for each how many codes begin in the piece. Maps of pieces are composed, and then
 * each piece is read by a thread of its own. All pointers of jobs are device memory of the queue. */
#ifndef TSR_VIDEO_SLICES_CORE_JOBS_H
#define TSR_VIDEO_SLICES_CORE_JOBS_H

#include "video/dirac/closed_loop.h"
#include "video/slices/slice_write.h"

enum {
    TSR_CORE_BANDS = 3 * (3 * TSR_DIRAC_DEPTH + 1),
    TSR_CORE_PIECE = 32, /* bits of a thread */
    TSR_CORE_STATES = 4
};

/* One sub-band; its bytes lie behind one another. */
typedef struct tsr_core_band {
    int64_t data, size; /* bytes from the job's first; size 0: all coefficients are 0 */
    int64_t offset;     /* of its first coefficient */
    int32_t component, width, height, index, blocks[2];
    int32_t predicted; /* the approximation of an intra picture, which was predicted from its neighbours */
} tsr_core_band;

typedef struct tsr_core_decode_job {
    const uint8_t *bytes; /* aligned to 4; 4 more are readable */
    const tsr_core_band *band;
    int32_t bands, inter, offsets, old_blocks; /* `offsets`: code blocks have quantisers of their own, as in tsr_dirac_core */
    int32_t *coefficients[3];                  /* all 0 before */
    int64_t stride[3];
    uint32_t *failed; /* counts bands with a quantiser that is none */
} tsr_core_decode_job;

/* One sub-band of arithmetic codes. */
typedef struct tsr_core_arithmetic_band {
    int64_t data, size;    /* bytes from the job's first */
    int32_t *to;           /* its first coefficient */
    const int32_t *parent; /* that of the level before with the same orientation; NULL: none */
    int64_t stride;
    int32_t width, height, index, blocks[2];
    int32_t orientation, inter, picture;
    int32_t offsets; /* code blocks have quantisers of their own */
} tsr_core_arithmetic_band;

/* Those of several pictures, from the coarsest level on. */
typedef struct tsr_core_arithmetic_job {
    const uint8_t *bytes; /* aligned to 4; 4 more are readable */
    const tsr_core_arithmetic_band *band;
    int32_t first[TSR_DIRAC_DEPTH + 2]; /* band of each level, and behind the last */
    int32_t levels;
    const uint16_t *step; /* tsr_arithmetic_step */
    uint32_t *failed;     /* of each picture: counts bands with a quantiser that is none */
} tsr_core_arithmetic_job;

typedef struct tsr_core_encode_job {
    const int32_t *coefficients[3];
    int32_t *quantised[3], *decoded[3];
    int64_t stride[3];
    tsr_core_band *band; /* `size` is found by measure */
    int32_t bands, inter, tallest;
    const uint64_t *scale; /* tsr_quantiser_scale of index 0 to 127 */
    int64_t *row;          /* `tallest` for each band: bits of a row, then those before it */
    uint8_t *bytes;        /* 0 before */
} tsr_core_encode_job;

typedef struct tsr_core_ops {
    tsr_status (*decode)(tsr_queue *queue, const tsr_core_decode_job *job);
    tsr_status (*measure)(tsr_queue *queue, const tsr_core_encode_job *job); /* quantises; sizes of bands and places of rows */
    tsr_status (*write)(tsr_queue *queue, const tsr_core_encode_job *job);
    /* All coefficients are 0 before; predictions of approximations are undone. */
    tsr_status (*arithmetic)(tsr_queue *queue, const tsr_core_arithmetic_job *job);
} tsr_core_ops;

/* ---- maps of states ------------------------------------------------------------------------------------------------------------------------ */

/* States: 0 a code begins; 1 a data bit comes; 2 another continue bit; 3 the sign. */
TSR_HD int32_t tsr_core_step(int32_t state, int32_t bit)
{
    if (state == 0) return bit ? 0 : 1;
    if (state == 1) return 2;
    if (state == 2) return bit ? 3 : 1;
    return 0;
}

/* Of each state 16 bits: the state behind the piece, and above these two bits how many codes begin in it. */
typedef uint64_t tsr_core_map;
TSR_HD int32_t tsr_core_state(tsr_core_map m, int32_t state) { return (int32_t)(m >> 16 * state & 3); }
TSR_HD int32_t tsr_core_begun(tsr_core_map m, int32_t state) { return (int32_t)(m >> (16 * state + 2) & 0x3fff); }
TSR_HD tsr_core_map tsr_core_map_of(int32_t from, int32_t to, int32_t begun)
{
    return (tsr_core_map)((uint32_t)begun << 2 | (uint32_t)to) << 16 * from;
}
TSR_HD tsr_core_map tsr_core_nothing(void)
{
    tsr_core_map m = 0;
    for (int32_t s = 0; s < TSR_CORE_STATES; s++) m |= tsr_core_map_of(s, s, 0);
    return m;
}
TSR_HD tsr_core_map tsr_core_compose(tsr_core_map first, tsr_core_map second)
{
    tsr_core_map m = 0;
    for (int32_t s = 0; s < TSR_CORE_STATES; s++) {
        const int32_t between = tsr_core_state(first, s);
        m |= tsr_core_map_of(s, tsr_core_state(second, between), tsr_core_begun(first, s) + tsr_core_begun(second, between));
    }
    return m;
}
TSR_HD tsr_core_map tsr_core_map_of_byte(uint32_t byte)
{
    tsr_core_map m = 0;
    for (int32_t s = 0; s < TSR_CORE_STATES; s++) {
        int32_t state = s, begun = 0;
        for (int32_t k = 7; k >= 0; k--) {
            begun += state == 0;
            state = tsr_core_step(state, (int32_t)(byte >> k & 1));
        }
        m |= tsr_core_map_of(s, state, begun);
    }
    return m;
}

/* Bits until the next code begins in a piece, whose bits are `word`, from its top; TSR_CORE_PIECE: none does. */
TSR_HD int32_t tsr_core_until(int32_t state, uint32_t word)
{
    int32_t bits = 0;
    for (; state && bits < TSR_CORE_PIECE; bits++) state = tsr_core_step(state, (int32_t)(word >> (31 - bits) & 1));
    return state ? TSR_CORE_PIECE : bits;
}

/* ---- codes --------------------------------------------------------------------------------------------------------------------------------- */

/* Where a reader of bits up to `end` is. */
TSR_HD int64_t tsr_core_position(const tsr_slice_reader *r, int64_t end) { return end - r->left - r->filled; }

TSR_HD int32_t tsr_core_length(int32_t value)
{
    const uint32_t magnitude = tsr_magnitude(value);
    return tsr_code_bits(magnitude) + (magnitude != 0);
}

/* What is coded of a coefficient, and what a decoder makes of it. */
TSR_HD int32_t tsr_core_quantise(int32_t value, uint64_t scale)
{
    const int32_t magnitude = (int32_t)tsr_quantiser_magnitude(scale, value);
    return value < 0 ? -magnitude : magnitude;
}

#endif
