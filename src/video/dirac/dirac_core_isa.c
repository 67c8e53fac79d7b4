/* video/dirac/dirac_core_isa.c: the sub-bands of core pictures, coefficient by coefficient: shifts and counts of bits are what it lives on, which
 * newer instruction sets have cheaper ones for. */
#include "video/dirac/dirac_core_isa.h"

#include <stdlib.h>

#include "video/dirac/arithmetic.h"
#include "video/dirac/core_contexts.h"
#include "video/dirac/quantiser.h"

static const tsr_number_contexts offset_contexts = { OFFSET_FOLLOW, 1, OFFSET_DATA, OFFSET_SIGN };

/* Which coefficients of a sub-band are not 0: a bit each, rows of `words` words. A row of 0 lies before the first one, for those that have none above. */
typedef struct marks {
    uint64_t *row;
    int64_t words;
} marks;

/* One sub-band while it is decoded. */
typedef struct band_state {
    const tsr_dirac_core *core;
    int level, orientation, inter, narrow;
    char *row; /* of the sub-band's place; elements of 16 or 32 bits */
    int64_t stride, element;
    marks marked, parent; /* the parent's rows: words 0 where there is none */
    const tsr_arithmetic_far *far;
    tsr_arithmetic arithmetic;
    tsr_bits bits;
    uint16_t p[CONTEXTS];
    int32_t index, failed, over; /* over: a coefficient does not fit */
} band_state;

/* What a row of coefficients is made of. */
typedef struct row_place {
    void *row;
    const void *above; /* NULL: none */
    uint64_t *marked;
    const uint64_t *parent;
    int64_t words;
    int32_t over;
} row_place;

static inline int32_t value_at(const void *row, int32_t x, int narrow) { return narrow ? ((const int16_t *)row)[x] : ((const int32_t *)row)[x]; }
static inline int32_t put_value(void *row, int32_t x, int32_t value, int narrow) /* what is lost: not 0 */
{
    if (!narrow) ((int32_t *)row)[x] = value;
    else ((int16_t *)row)[x] = (int16_t)value;
    return narrow ? value ^ (int16_t)value : 0;
}

/* Each of the lower 32 bits twice. */
static inline uint64_t twice(uint64_t v)
{
    v = (v | v << 16) & 0x0000ffff0000ffffu;
    v = (v | v << 8) & 0x00ff00ff00ff00ffu;
    v = (v | v << 4) & 0x0f0f0f0f0f0f0f0fu;
    v = (v | v << 2) & 0x3333333333333333u;
    v = (v | v << 1) & 0x5555555555555555u;
    return v | v << 1;
}

/* A coefficient that is not 0. */
static inline __attribute__((always_inline)) void decode_value(tsr_arithmetic *a, uint16_t *p, row_place *r, int32_t x, int parent, tsr_quantiser q,
                                                               int orientation, int narrow)
{
    const int32_t magnitude = (int32_t)tsr_arithmetic_magnitude_on(a, p, CHAIN + CHAIN_LENGTH * parent, CHAIN_LENGTH, DATA);
    const int32_t predictor = orientation == 1 && r->above ? value_at(r->above, x, narrow)
                              : orientation == 2 && x      ? value_at(r->row, x - 1, narrow)
                                                           : 0;
    const int negative = tsr_arithmetic_toss(a, &p[SIGN + 1 + tsr_dirac_sign(predictor)]);
    r->over |= put_value(r->row, x, tsr_quantiser_inverse(q, negative ? -magnitude : magnitude), narrow);
}

/* Where the contexts of coefficients from x on change that see nothing around them yet: at a mark above or of the parent, or at `end`. */
static inline int32_t quiet_until(const row_place *r, int32_t x, int32_t end)
{
    const uint64_t *above = r->marked - r->words;
    int32_t word = (x >> 6) + 1;
    while (word << 6 < end && !(above[word] | above[word - 1] >> 63 | (uint32_t)(r->parent[word >> 1] >> (word & 1 ? 32 : 0)))) word++;
    return word << 6 < end ? word << 6 : end;
}

/* The row is 0 before. Contexts of 64 coefficients come from the marks above and of the parent; stretches where they do not change are taken
 * together as long as coefficients are 0. The decoder is a local one: in registers. */
static inline __attribute__((always_inline)) void decode_row(tsr_arithmetic *a, uint16_t *p, row_place *r, int32_t x0, int32_t x1, tsr_quantiser q,
                                                             int orientation, int narrow, const tsr_arithmetic_far *far)
{
    const uint64_t *above = r->marked - r->words;
    uint64_t left = x0 ? r->marked[(x0 - 1) >> 6] >> ((x0 - 1) & 63) & 1 : 0;
    for (int32_t x = x0; x < x1;) {
        const int32_t word = x >> 6, base = x & ~63, end = x1 - base < 64 ? x1 - base : 64;
        const uint64_t near = above[word] | above[word] << 1 | (word ? above[word - 1] >> 63 : 0);
        const uint64_t parent = twice(r->parent[word >> 1] >> (word & 1 ? 32 : 0) & 0xffffffffu);
        uint64_t mine = 0;
        int zero;
        if (!left && !((near | parent) >> (x & 63))) {
            x += tsr_arithmetic_ones(a, &p[FIRST], quiet_until(r, x, x1) - x, far, &zero);
            if (!zero) continue;
            decode_value(a, p, r, x, 0, q, orientation, narrow);
            r->marked[x >> 6] |= (uint64_t)1 << (x & 63);
            left = 1;
            x++;
            continue;
        }
        for (int32_t k = x - base; k < end; k++) {
            const int under = parent >> k & 1;
            if (!left) {
                const int beside = near >> k & 1;
                const uint64_t other = ((parent ^ (0 - (uint64_t)under)) | (near ^ (0 - (uint64_t)beside))) >> k;
                const int32_t same = other ? __builtin_ctzll(other) : 64, most = same < end - k ? same : end - k;
                k += tsr_arithmetic_ones(a, &p[FIRST + 2 * under + beside], most, far, &zero);
                if (!zero) {
                    k--; /* the next one is at hand */
                    continue;
                }
            } else if (tsr_arithmetic_fork(a, &p[FIRST + 2 * under + 1])) {
                left = 0;
                continue;
            }
            decode_value(a, p, r, base + k, under, q, orientation, narrow);
            mine |= (uint64_t)1 << k;
            left = 1;
        }
        r->marked[word] |= mine;
        x = base + end;
    }
}

static void decode_row_arithmetic(band_state *s, int32_t x0, int32_t x1, int32_t y, tsr_quantiser q)
{
    char *row = s->row + y * s->stride * s->element;
    row_place r = { row,
                    y ? row - s->stride * s->element : NULL,
                    s->marked.row + y * s->marked.words,
                    s->parent.row + (y >> 1) * s->parent.words,
                    s->marked.words,
                    0 };
    tsr_arithmetic own = s->arithmetic;
    memset(row + x0 * s->element, 0, (size_t)((x1 - x0) * s->element));
    if (s->narrow && s->orientation == 1) decode_row(&own, s->p, &r, x0, x1, q, 1, 1, s->far);
    else if (s->narrow && s->orientation == 2) decode_row(&own, s->p, &r, x0, x1, q, 2, 1, s->far);
    else if (s->narrow) decode_row(&own, s->p, &r, x0, x1, q, 3, 1, s->far);
    else decode_row(&own, s->p, &r, x0, x1, q, s->orientation, 0, s->far);
    s->arithmetic = own;
    s->over |= r.over;
}

static void zero_block(band_state *s, int32_t x0, int32_t x1, int32_t y0, int32_t y1)
{
    for (int32_t y = y0; y < y1; y++) memset(s->row + (y * s->stride + x0) * s->element, 0, (size_t)((x1 - x0) * s->element));
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
        char *row = s->row + y * s->stride * s->element;
        for (int32_t x = x0; x < x1; x++) s->over |= put_value(row, x, tsr_quantiser_inverse(q, tsr_bits_int(&s->bits)), s->narrow);
    }
}

/* `marked` gets the marks of this sub-band; `parent` has those of the level before, and words 0 where there is none. */
static void decode_band(tsr_core_bands *job, int component, int level, int orientation, marks marked, marks parent)
{
    const tsr_dirac_core *core = job->core;
    const tsr_dirac_coded_band *coded = &job->band[component][level][orientation];
    const tsr_dirac_layout *l = core->layout[component];
    const tsr_dirac_band *b = &l->band[level][orientation];
    const int32_t nx = core->transform->codeblocks[level][0], ny = core->transform->codeblocks[level][1];
    const int narrow = core->narrow[component] && level > 0;
    const int64_t element = narrow ? (int64_t)sizeof(int16_t) : (int64_t)sizeof(int32_t);
    band_state s = { .core = core,
                     .level = level,
                     .orientation = orientation,
                     .inter = core->inter,
                     .narrow = narrow,
                     .row = (narrow ? (char *)core->narrow[component] : (char *)core->coefficients[component]) + b->offset * element,
                     .stride = l->stride,
                     .element = element,
                     .marked = marked,
                     .parent = parent,
                     .far = tsr_arithmetic_far_ranges(),
                     .bits = { coded->data, 0, 8 * coded->size },
                     .index = coded->index };
    memset(marked.row - marked.words, 0, (size_t)((b->height + 1) * marked.words) * sizeof *marked.row);
    uint8_t *empty = narrow ? &core->empty[component][level][orientation] : NULL;
    if (!coded->size) {
        if (!empty || !*empty) zero_block(&s, 0, b->width, 0, b->height);
        if (empty) *empty = 1;
        return;
    }
    if (empty) *empty = 0;
    for (int k = 0; k < CONTEXTS; k++) s.p[k] = 0x8000;
    tsr_arithmetic_begin(&s.arithmetic, coded->data, coded->size);
    for (int32_t by = 0; by < ny; by++)
        for (int32_t bx = 0; bx < nx; bx++)
            decode_block(&s, nx * ny, (int32_t)((int64_t)b->width * bx / nx), (int32_t)((int64_t)b->width * (bx + 1) / nx),
                         (int32_t)((int64_t)b->height * by / ny), (int32_t)((int64_t)b->height * (by + 1) / ny));
    if (s.failed) __atomic_fetch_add(&job->damage.quantiser, 1, __ATOMIC_RELAXED);
    if (s.over) __atomic_store_n(&job->over, 1, __ATOMIC_RELAXED);
}

void TSR_ISA_NAME(tsr_dirac_core_chains)(tsr_core_bands *j, int64_t begin, int64_t end)
{
    const int32_t levels = j->core->transform->depth;
    for (int64_t i = begin; i < end; i++) {
        const int component = (int)(i / 4), orientation = (int)(i % 4), first = orientation > 0, last = orientation ? levels : 0;
        if (first > last) continue;
        const tsr_dirac_band *largest = &j->core->layout[component]->band[last][orientation];
        const int64_t words = (largest->width + 63) / 64 + 1, size = (largest->height + 1) * words;
        uint64_t *both = (uint64_t *)malloc((size_t)(2 * size) * sizeof *both);
        if (!both) {
            __atomic_store_n(&j->failed, 1, __ATOMIC_RELAXED);
            return;
        }
        marks marked[2] = { { both + words, words }, { both + size + words, words } };
        memset(marked[!(first & 1)].row, 0, (size_t)words * sizeof *both); /* the first one has no parent */
        for (int level = first; level <= last; level++) {
            marks parent = marked[!(level & 1)];
            if (level == first) parent.words = 0;
            decode_band(j, component, level, orientation, marked[level & 1], parent);
        }
        free(both);
    }
}
