/* video/dirac/dirac_core.c: lengths are read first, then sub-bands of one orientation are decoded from the coarsest on, the orientations and components
 * side by side: a coefficient's contexts look at the level before of the same orientation alone. */
#include "video/dirac/dirac_core.h"

#include "core/parallel.h"
#include "video/dirac/core_contexts.h"
#include "video/dirac/quantiser.h"

static const tsr_number_contexts offset_contexts = { OFFSET_FOLLOW, 1, OFFSET_DATA, OFFSET_SIGN };

typedef struct coded_band {
    const uint8_t *data;
    int64_t size; /* 0: all coefficients are 0 */
    int32_t index;
} coded_band;

typedef struct core_job {
    const tsr_dirac_core *core;
    coded_band band[3][TSR_DIRAC_LEVELS + 1][4];
    int32_t damaged;
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

static void decode_row_arithmetic(band_state *s, int32_t x0, int32_t x1, int32_t y, tsr_quantiser q)
{
    int32_t *row = s->row + y * s->stride;
    const int32_t *above = y ? row - s->stride : NULL;
    const int32_t *parent = s->parent ? s->parent + (y >> 1) * s->stride : NULL;
    for (int32_t x = x0; x < x1; x++) {
        const int has_parent = parent && parent[x >> 1] != 0;
        const int32_t left = x ? row[x - 1] : 0, up = above ? above[x] : 0, corner = x && above ? above[x - 1] : 0;
        const int32_t magnitude = (int32_t)tsr_arithmetic_magnitude(&s->arithmetic, s->p, FIRST + 2 * has_parent + ((left | up | corner) != 0),
                                                                    CHAIN + CHAIN_LENGTH * has_parent, CHAIN_LENGTH, DATA);
        int32_t value = magnitude;
        if (magnitude) {
            const int32_t predictor = s->orientation == 1 ? up : s->orientation == 2 ? left : 0;
            if (tsr_arithmetic_bit(&s->arithmetic, &s->p[SIGN + 1 + tsr_dirac_sign(predictor)])) value = -magnitude;
        }
        row[x] = tsr_quantiser_inverse(q, value);
    }
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
            decode_row_arithmetic(s, x0, x1, y, q);
            continue;
        }
        int32_t *row = s->row + y * s->stride;
        for (int32_t x = x0; x < x1; x++) row[x] = tsr_quantiser_inverse(q, tsr_bits_int(&s->bits));
    }
}

static int decode_band(const tsr_dirac_core *core, const coded_band *coded, int component, int level, int orientation)
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
        if (failed) __atomic_fetch_add(&j->damaged, failed, __ATOMIC_RELAXED);
    }
}

void tsr_dirac_core_decode(const tsr_dirac_core *core, tsr_bits *bits, int32_t *damaged)
{
    core_job job = { .core = core };
    for (int component = 0; component < 3; component++)
        for (int level = 0; level <= core->transform->depth; level++)
            for (int orientation = level > 0; orientation < tsr_dirac_bands(core->transform, level); orientation++) {
                coded_band *coded = &job.band[component][level][orientation];
                tsr_bits_align(bits);
                const int64_t length = bits->at < bits->end ? (int64_t)tsr_bits_uint(bits) : 0;
                if (!length) {
                    job.damaged += tsr_bits_over(bits) || bits->at > bits->end;
                    continue;
                }
                const uint32_t index = tsr_bits_uint(bits);
                tsr_bits_align(bits);
                const int64_t left = bits->end / 8 - bits->at / 8;
                if (index > TSR_QUANTISER_MOST || left <= 0) job.damaged++;
                else *coded = (coded_band){ bits->data + bits->at / 8, length < left ? length : left, (int32_t)index };
                job.damaged += length > left && left > 0;
                bits->at += 8 * length;
            }
    tsr_bits_align(bits);
    tsr_parallel(core->threads, 12, 1, decode_chains, &job);
    *damaged = job.damaged;
}
