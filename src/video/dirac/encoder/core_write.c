/* video/dirac/encoder/core_write.c: all sub-bands are quantised first, side by side, since contexts look at parents; then they are coded, side by side. */
#include "video/dirac/encoder/core_write.h"

#include <stdlib.h>

#include "core/parallel.h"
#include "video/dirac/closed_loop.h"
#include "video/dirac/encoder/arithmetic_write.h"
#include "video/statistics/band_streams_write.h"
#include "video/dirac/core_contexts.h"
#include "video/dirac/encoder/encoder_isa.h"

enum { COEFFICIENT_BYTES = 96 }; /* no coefficient of 32 bits takes more */

/* The one sub-band of an item. */
typedef struct place {
    int component, level, orientation;
} place;

static int32_t bands_of(const tsr_dirac_core_writing *w) { return 1 + 3 * w->transform->depth; }

static place place_of(const tsr_dirac_core_writing *w, int64_t item)
{
    const int32_t bands = bands_of(w), within = (int32_t)(item % bands);
    const place p = { (int)(item / bands), within ? (within - 1) / 3 + 1 : 0, within ? (within - 1) % 3 + 1 : 0 };
    return p;
}

/* The finest sub-bands first: they take longest. */
static int64_t item_of(const tsr_dirac_core_writing *w, int64_t turn)
{
    return turn / bands_of(w) * bands_of(w) + bands_of(w) - 1 - turn % bands_of(w);
}

/* ---- quantisation -------------------------------------------------------------------------------------------------------------------------- */

/* The approximation of an intra picture: each coefficient is predicted from what a decoder has of its neighbours. */
static double quantise_predicted(const tsr_dirac_core_writing *w, int c)
{
    const tsr_dirac_layout *l = w->layout[c];
    const tsr_dirac_band *b = &l->band[0][0];
    const int32_t index = w->index[c][0][0];
    const uint64_t scale = tsr_quantiser_scale(index);
    const tsr_quantiser q = tsr_quantiser_make(index, w->inter);
    double error = 0;
    for (int32_t y = 0; y < b->height; y++)
        for (int32_t x = 0; x < b->width; x++) {
            const int64_t at = b->offset + (int64_t)y * l->stride + x;
            int32_t *here = w->decoded[c] + at;
            (void)tsr_dirac_close_loop(w->coefficients[c][at], here, l->stride, x, y, scale, q, &w->quantised[c][at]);
            const double d = (double)*here - w->coefficients[c][at];
            error += d * d;
        }
    return error;
}

static void quantise_bands(void *user, int64_t begin, int64_t end, int worker)
{
    tsr_dirac_core_writing *w = (tsr_dirac_core_writing *)user;
    (void)worker;
    for (int64_t turn = begin; turn < end; turn++) {
        const place p = place_of(w, item_of(w, turn));
        const tsr_dirac_layout *l = w->layout[p.component];
        const tsr_dirac_band *b = &l->band[p.level][p.orientation];
        tsr_dirac_written *out = &w->band[p.component][p.level][p.orientation];
        out->error = 0;
        if (!p.level && !w->inter) {
            out->error = quantise_predicted(w, p.component);
            continue;
        }
        const int32_t index = w->index[p.component][p.level][p.orientation];
        for (int32_t y = 0; y < b->height; y++) {
            const int64_t at = b->offset + (int64_t)y * l->stride;
            out->error += TSR_ISA_SELECT(tsr_dirac_quantise_row)(w->coefficients[p.component] + at, b->width, index, w->inter, w->rounding,
                                                                 w->quantised[p.component] + at, w->decoded[p.component] + at);
        }
    }
}

/* ---- codes --------------------------------------------------------------------------------------------------------------------------------- */

typedef struct band_state {
    const int32_t *row; /* of the sub-band's place */
    int64_t stride;
    const int32_t *parent; /* NULL: none */
    int orientation, variable;
    tsr_arithmetic_out arithmetic;
    tsr_bits_out bits;
    uint16_t p[CONTEXTS];
} band_state;

static int is_zero(const band_state *s, int32_t x0, int32_t x1, int32_t y0, int32_t y1)
{
    for (int32_t y = y0; y < y1; y++)
        for (int32_t x = x0; x < x1; x++)
            if (s->row[y * s->stride + x]) return 0;
    return 1;
}

static void code_row_arithmetic(band_state *s, int32_t x0, int32_t x1, int32_t y)
{
    const int32_t *row = s->row + y * s->stride;
    const int32_t *above = y ? row - s->stride : NULL;
    const int32_t *parent = s->parent ? s->parent + (y >> 1) * s->stride : NULL;
    for (int32_t x = x0; x < x1; x++) {
        const int has_parent = parent && parent[x >> 1] != 0;
        const int32_t left = x ? row[x - 1] : 0, up = above ? above[x] : 0, corner = x && above ? above[x - 1] : 0, value = row[x];
        tsr_arithmetic_put_magnitude(&s->arithmetic, s->p, FIRST + 2 * has_parent + ((left | up | corner) != 0), CHAIN + CHAIN_LENGTH * has_parent,
                                     CHAIN_LENGTH, DATA, value < 0 ? 0u - (uint32_t)value : (uint32_t)value);
        if (value) {
            const int32_t predictor = s->orientation == 1 ? up : s->orientation == 2 ? left : 0;
            tsr_arithmetic_put(&s->arithmetic, &s->p[SIGN + 1 + tsr_dirac_sign(predictor)], value < 0);
        }
    }
}

/* Room for a row more; what was written stays. */
static int grow(tsr_dirac_written *out, band_state *s, int64_t coefficients)
{
    const int64_t used = s->variable ? s->bits.at - out->bytes : s->arithmetic.at - out->bytes,
                  wanted = (out->bytes ? used : 0) + coefficients * COEFFICIENT_BYTES + 64;
    if (wanted <= out->room) return 1;
    uint8_t *larger = (uint8_t *)realloc(out->bytes, (size_t)(wanted + wanted / 2));
    if (!larger) return 0;
    if (s->variable) s->bits.at = larger + (out->bytes ? used : 0);
    else {
        s->arithmetic.at = larger + (out->bytes ? used : 0);
        s->arithmetic.begin = larger;
    }
    out->bytes = larger;
    out->room = wanted + wanted / 2;
    return 1;
}

static int code_block(band_state *s, tsr_dirac_written *out, int32_t blocks, int32_t x0, int32_t x1, int32_t y0, int32_t y1)
{
    if (blocks > 1) {
        const int zero = is_zero(s, x0, x1, y0, y1);
        if (!grow(out, s, 1)) return 0;
        if (s->variable) tsr_bits_put(&s->bits, (uint64_t)zero, 1);
        else tsr_arithmetic_put(&s->arithmetic, &s->p[ZERO], zero);
        if (zero) return 1;
    }
    for (int32_t y = y0; y < y1; y++) {
        if (!grow(out, s, x1 - x0)) return 0;
        if (!s->variable) code_row_arithmetic(s, x0, x1, y);
        else
            for (int32_t x = x0; x < x1; x++) tsr_bits_put_int(&s->bits, s->row[y * s->stride + x]);
    }
    return 1;
}

static int code_band(tsr_dirac_core_writing *w, place at)
{
    const tsr_dirac_layout *l = w->layout[at.component];
    const tsr_dirac_band *b = &l->band[at.level][at.orientation];
    const int32_t nx = w->transform->codeblocks[at.level][0], ny = w->transform->codeblocks[at.level][1];
    tsr_dirac_written *out = &w->band[at.component][at.level][at.orientation];
    band_state s = { .row = w->quantised[at.component] + b->offset,
                     .stride = l->stride,
                     .parent = at.level >= 2 ? w->quantised[at.component] + l->band[at.level - 1][at.orientation].offset : NULL,
                     .orientation = at.orientation,
                     .variable = w->variable };
    out->size = 0;
    if (is_zero(&s, 0, b->width, 0, b->height)) return 1;
    for (int k = 0; k < CONTEXTS; k++) s.p[k] = 0x8000;
    s.bits.at = out->bytes;
    tsr_arithmetic_start(&s.arithmetic, out->bytes);
    for (int32_t by = 0; by < ny; by++)
        for (int32_t bx = 0; bx < nx; bx++)
            if (!code_block(&s, out, nx * ny, (int32_t)((int64_t)b->width * bx / nx), (int32_t)((int64_t)b->width * (bx + 1) / nx),
                            (int32_t)((int64_t)b->height * by / ny), (int32_t)((int64_t)b->height * (by + 1) / ny)))
                return 0;
    if (w->variable) {
        tsr_bits_finish(&s.bits);
        out->size = s.bits.at - out->bytes;
    } else out->size = tsr_arithmetic_finish(&s.arithmetic);
    return 1;
}

static void code_bands(void *user, int64_t begin, int64_t end, int worker)
{
    tsr_dirac_core_writing *w = (tsr_dirac_core_writing *)user;
    (void)worker;
    for (int64_t turn = begin; turn < end; turn++)
        if (!code_band(w, place_of(w, item_of(w, turn)))) __atomic_store_n(&w->failed, 1, __ATOMIC_RELAXED);
}

tsr_status tsr_dirac_core_write(tsr_dirac_core_writing *w)
{
    w->failed = 0;
    tsr_parallel(w->threads, 3 * bands_of(w), 1, quantise_bands, w);
    if (w->statistics) return tsr_statistics_write(w);
    tsr_parallel(w->threads, 3 * bands_of(w), 1, code_bands, w);
    if (w->failed) TSR_FAIL(TSR_ERROR_MEMORY, "no memory for sub-bands");
    return TSR_OK;
}

/* ---- together ------------------------------------------------------------------------------------------------------------------------------ */

/* Length, index and bytes of one sub-band behind the last. */
static uint8_t *put_band(const tsr_dirac_written *band, int32_t index, uint8_t *to)
{
    tsr_bits_out out = { .at = to };
    tsr_bits_put_uint(&out, (uint32_t)band->size);
    if (band->size) tsr_bits_put_uint(&out, (uint32_t)index);
    tsr_bits_finish(&out);
    if (band->size) memcpy(out.at, band->bytes, (size_t)band->size);
    return out.at + band->size;
}

int64_t tsr_dirac_core_bytes(const tsr_dirac_core_writing *w)
{
    int64_t bytes = 0;
    if (w->statistics) return w->whole.size;
    for (int64_t k = 0; k < 3 * bands_of(w); k++) {
        const place p = place_of(w, k);
        const tsr_dirac_written *band = &w->band[p.component][p.level][p.orientation];
        const int32_t index = w->index[p.component][p.level][p.orientation];
        bytes += (tsr_code_bits((uint32_t)band->size) + (band->size ? tsr_code_bits((uint32_t)index) : 0) + 7) / 8 + band->size;
    }
    return bytes;
}

void tsr_dirac_core_put(const tsr_dirac_core_writing *w, uint8_t *to)
{
    if (w->statistics) {
        memcpy(to, w->whole.bytes, (size_t)w->whole.size);
        return;
    }
    for (int64_t k = 0; k < 3 * bands_of(w); k++) {
        const place p = place_of(w, k);
        to = put_band(&w->band[p.component][p.level][p.orientation], w->index[p.component][p.level][p.orientation], to);
    }
}

void tsr_dirac_core_writing_free(tsr_dirac_core_writing *w)
{
    free(w->whole.bytes);
    w->whole = (tsr_dirac_written){ 0 };
    for (int c = 0; c < 3; c++)
        for (int level = 0; level <= TSR_DIRAC_LEVELS; level++)
            for (int orientation = 0; orientation < 4; orientation++) {
                free(w->band[c][level][orientation].bytes);
                w->band[c][level][orientation] = (tsr_dirac_written){ 0 };
            }
}
