/* video/dirac/dirac_core.c: lengths are read first, then sub-bands of one orientation are decoded from the coarsest on, the orientations and
 * components side by side: a coefficient's contexts look at the level before of the same orientation alone. */
#include "video/dirac/dirac_core.h"

#include "core/parallel.h"
#include "video/dirac/arithmetic.h"
#include "video/dirac/core_contexts.h"
#include "video/dirac/quantiser.h"

static const tsr_number_contexts offset_contexts = { OFFSET_FOLLOW, 1, OFFSET_DATA, OFFSET_SIGN };

typedef struct core_job {
    const tsr_dirac_core *core;
    tsr_dirac_coded_band band[3][TSR_DIRAC_LEVELS + 1][4];
    tsr_dirac_core_damage damage;
} core_job;

/* One sub-band while it is decoded. */
typedef struct band_state {
    const tsr_dirac_core *core;
    int level, orientation, inter;
    int32_t *row; /* of the sub-band's place */
    int64_t stride;
    const int32_t *parent; /* NULL: none */
    tsr_arithmetic arithmetic;
    tsr_bits bits;
    uint16_t p[CONTEXTS];
    int32_t index, failed;
} band_state;

/* Where the coefficients of a row look: NULL where there is nothing. */
typedef struct row_sources {
    int32_t *row;
    const int32_t *above, *parent;
} row_sources;

enum { QUIET = 8 }; /* coefficients looked at together */

static inline __attribute__((always_inline)) uint64_t any_of(const int32_t *v, int pairs)
{
    uint64_t any = 0;
    for (int k = 0; k < pairs; k++) {
        uint64_t two;
        memcpy(&two, v + 2 * k, sizeof two);
        any |= two;
    }
    return any;
}

/* The row is 0 before. A copy for each orientation and for rows with and without others to look at. The decoder is a local one: in registers. */
static inline __attribute__((always_inline)) void decode_row(tsr_arithmetic *a, uint16_t *p, const row_sources *s, int32_t x0, int32_t x1,
                                                             tsr_quantiser q, int orientation, int has_above, int has_parent)
{
    int32_t left = x0 ? s->row[x0 - 1] : 0, corner = has_above && x0 ? s->above[x0 - 1] : 0;
    for (int32_t x = x0; x < x1; x++) {
        /* Where nothing is around the next ones all have one context, as long as they are 0. */
        if (!(left | corner) && x + QUIET <= x1 && (!has_above || !any_of(s->above + x, QUIET / 2)) &&
            (!has_parent || !(any_of(s->parent + (x >> 1), QUIET / 4) | (uint32_t)s->parent[(x + QUIET - 1) >> 1]))) {
            const int32_t zeros = tsr_arithmetic_ones(a, &p[FIRST], QUIET);
            x += zeros;
            if (zeros == QUIET) {
                x--;
                continue;
            }
        }
        const int32_t up = has_above ? s->above[x] : 0;
        const int parent = has_parent && s->parent[x >> 1] != 0, near = (left | up | corner) != 0;
        corner = up;
        if (tsr_arithmetic_bit(a, &p[FIRST + 2 * parent + near])) {
            left = 0;
            continue;
        }
        const int32_t magnitude = (int32_t)tsr_arithmetic_magnitude_on(a, p, CHAIN + CHAIN_LENGTH * parent, CHAIN_LENGTH, DATA);
        const int32_t predictor = orientation == 1 ? up : orientation == 2 ? left : 0;
        const int negative = tsr_arithmetic_bit(a, &p[SIGN + 1 + tsr_dirac_sign(predictor)]);
        s->row[x] = left = tsr_quantiser_inverse(q, negative ? -magnitude : magnitude);
    }
}

static void decode_row_arithmetic(band_state *s, tsr_arithmetic *a, int32_t x0, int32_t x1, int32_t y, tsr_quantiser q)
{
    int32_t *row = s->row + y * s->stride;
    const row_sources from = { row, y ? row - s->stride : NULL, s->parent ? s->parent + (y >> 1) * s->stride : NULL };
    tsr_arithmetic own = *a;
    memset(row + x0, 0, (size_t)(x1 - x0) * sizeof *row);
    if (!from.above || !from.parent) decode_row(&own, s->p, &from, x0, x1, q, s->orientation, from.above != NULL, from.parent != NULL);
    else if (s->orientation == 1) decode_row(&own, s->p, &from, x0, x1, q, 1, 1, 1);
    else if (s->orientation == 2) decode_row(&own, s->p, &from, x0, x1, q, 2, 1, 1);
    else decode_row(&own, s->p, &from, x0, x1, q, 3, 1, 1);
    *a = own;
}

static void zero_block(band_state *s, int32_t x0, int32_t x1, int32_t y0, int32_t y1)
{
    for (int32_t y = y0; y < y1; y++) memset(s->row + y * s->stride + x0, 0, (size_t)(x1 - x0) * sizeof(int32_t));
}

/* One code block of `blocks` in the sub-band. */
static void decode_block(band_state *s, int32_t blocks, int32_t x0, int32_t x1, int32_t y0, int32_t y1)
{
    const tsr_dirac_core *c = s->core;
    const int offsets = c->transform->codeblock_mode == 1 && !(c->old_blocks && blocks == 1);
    int zero = s->failed;
    if (!zero && blocks > 1) zero = c->variable ? tsr_bits_flag(&s->bits) : tsr_arithmetic_bit(&s->arithmetic, &s->p[ZERO]);
    if (!zero && offsets) {
        const int64_t index = (int64_t)s->index + (c->variable ? tsr_bits_int(&s->bits) : tsr_arithmetic_int(&s->arithmetic, s->p, &offset_contexts));
        if (index < 0 || index > TSR_QUANTISER_MOST) s->failed = zero = 1;
        else s->index = (int32_t)index;
    }
    if (zero) {
        zero_block(s, x0, x1, y0, y1);
        return;
    }
    const tsr_quantiser q = tsr_quantiser_make(s->index, s->inter);
    for (int32_t y = y0; y < y1; y++) {
        if (!c->variable) {
            decode_row_arithmetic(s, &s->arithmetic, x0, x1, y, q);
            continue;
        }
        int32_t *row = s->row + y * s->stride;
        for (int32_t x = x0; x < x1; x++) row[x] = tsr_quantiser_inverse(q, tsr_bits_int(&s->bits));
    }
}

static int decode_band(const tsr_dirac_core *core, const tsr_dirac_coded_band *coded, int component, int level, int orientation)
{
    const tsr_dirac_layout *l = core->layout[component];
    const tsr_dirac_band *b = &l->band[level][orientation];
    const int32_t nx = core->transform->codeblocks[level][0], ny = core->transform->codeblocks[level][1];
    band_state s = { .core = core,
                     .level = level,
                     .orientation = orientation,
                     .inter = core->inter,
                     .row = core->coefficients[component] + b->offset,
                     .stride = l->stride,
                     .parent = level >= 2 ? core->coefficients[component] + l->band[level - 1][orientation].offset : NULL,
                     .bits = { coded->data, 0, 8 * coded->size },
                     .index = coded->index };
    if (!coded->size) {
        zero_block(&s, 0, b->width, 0, b->height);
        return 0;
    }
    for (int k = 0; k < CONTEXTS; k++) s.p[k] = 0x8000;
    tsr_arithmetic_begin(&s.arithmetic, coded->data, coded->size);
    for (int32_t by = 0; by < ny; by++)
        for (int32_t bx = 0; bx < nx; bx++)
            decode_block(&s, nx * ny, (int32_t)((int64_t)b->width * bx / nx), (int32_t)((int64_t)b->width * (bx + 1) / nx),
                         (int32_t)((int64_t)b->height * by / ny), (int32_t)((int64_t)b->height * (by + 1) / ny));
    return s.failed;
}

/* Items: [component][orientation]; orientation 0 is the approximation. */
static void decode_chains(void *user, int64_t begin, int64_t end, int worker)
{
    core_job *j = (core_job *)user;
    const int32_t levels = j->core->transform->depth;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        const int component = (int)(i / 4), orientation = (int)(i % 4);
        int32_t failed = 0;
        for (int level = orientation > 0; level <= (orientation ? levels : 0); level++)
            failed += decode_band(j->core, &j->band[component][level][orientation], component, level, orientation);
        if (failed) __atomic_fetch_add(&j->damage.quantiser, failed, __ATOMIC_RELAXED);
    }
}

void tsr_dirac_core_find(const tsr_dirac_transform *transform, tsr_bits *bits, tsr_dirac_coded_band band[3][TSR_DIRAC_LEVELS + 1][4],
                         tsr_dirac_core_damage *damage)
{
    for (int component = 0; component < 3; component++)
        for (int level = 0; level <= transform->depth; level++)
            for (int orientation = level > 0; orientation < tsr_dirac_bands(transform, level); orientation++) {
                tsr_bits_align(bits);
                const int64_t length = bits->at < bits->end ? (int64_t)tsr_bits_uint(bits) : 0;
                if (!length) {
                    damage->cut += tsr_bits_over(bits) || bits->at > bits->end;
                    continue;
                }
                const uint32_t index = tsr_bits_uint(bits);
                tsr_bits_align(bits);
                const int64_t left = bits->end / 8 - bits->at / 8;
                if (left > 0 && index > TSR_QUANTISER_MOST) damage->quantiser++;
                else if (left > 0)
                    band[component][level][orientation] =
                        (tsr_dirac_coded_band){ bits->data + bits->at / 8, length < left ? length : left, (int32_t)index };
                damage->cut += length > left;
                bits->at += 8 * length;
            }
    tsr_bits_align(bits);
}

void tsr_dirac_core_decode(const tsr_dirac_core *core, tsr_bits *bits, tsr_dirac_core_damage *damage)
{
    core_job job = { .core = core };
    tsr_dirac_core_find(core->transform, bits, job.band, &job.damage);
    tsr_parallel(core->threads, 12, 1, decode_chains, &job);
    *damage = job.damage;
}
