/* wavelet/wavelet_pass.h: a pass over memory on the CPU, and what all kinds of passes do with rows. wavelet_cpu.c tells the kinds. */
#ifndef TSR_WAVELET_WAVELET_PASS_H
#define TSR_WAVELET_WAVELET_PASS_H

#include "core/parallel.h"
#include "wavelet/calm.h"
#include "wavelet/wavelet_isa.h"

enum {
    LARGE_BYTES = 24 << 20,
    PAD_BYTES = 64,
    PAGE = 4096,
    ROW_PLACE = 640, /* how far rows in work go on within a page: a processor takes what is written to one row for a row read at the same place of a page */
    TILE_BYTES = 256 << 10,
    BLOCK_BYTES = 384 << 10,
    TWO_LEVELS_BYTES = 5 << 20, /* what is smaller stays in a cache from level to level */
    KEPT_BYTES = 6 << 20,
    NARROWEST_TILE = 16,
    WIDEST_TILE = 512,
    SMALL = 1 << 14,
    AHEAD_LINES = 32,
    AHEAD_BYTES = 8192 /* of rows: what memory needs to answer */
};

static inline int64_t round64(int64_t bytes) { return (bytes + 63) / 64 * 64; }

/* A row in work: even samples, then odd ones, each with room for what lies beyond its ends. */
typedef struct row_shape {
    int64_t n, low, high, bytes;
} row_shape; /* samples; offsets of the two parts and total, in bytes */

static inline row_shape shape_of(int64_t n, size_t ring)
{
    row_shape s = { n, PAD_BYTES, 0, 0 };
    s.high = s.low + round64((n + 1) / 2 * (int64_t)ring) + PAD_BYTES;
    s.bytes = s.high + round64(n / 2 * (int64_t)ring) + PAD_BYTES;
    s.bytes += (ROW_PLACE - s.bytes % PAGE + PAGE) % PAGE;
    return s;
}

typedef struct pass {
    const tsr_wavelet_level *l;
    const tsr_wavelet_rows *rows;
    const tsr_lift_filter *filter; /* of the direction */
    int pairs;                     /* tsr_wavelet_pairs */
    int32_t calm;                  /* planes: rows within this bound are lifted without a look; 0: none */
    const tsr_calm_loops *loops;   /* planes: that calm rows go through two by two; NULL: there are none */
    int *unfit;                    /* planes: only calm rows will do; set when there is another, and nothing made so far is worth anything. NULL: all do */
    int back;                      /* the inverse of a 5/3, mirrored: merge_pair */
    int inverse, first, last;      /* first: samples or coefficients are raised or scaled on loading; last: on storing */
    int threads;
    char *work;
    int64_t per_worker;
    uint32_t *lost;
    tsr_wavelet_array from[TSR_WAVELET_BANDS], to[TSR_WAVELET_BANDS]; /* bands before and after the pass */
    int stream;                                                       /* the result is too large for the caches, and no pass follows; */
    int keep;                                                         /* but the approximation, which is read again soon, is not */
    int32_t axis;
    uint32_t bits;         /* tiles: of the other axes */
    int64_t width, blocks; /* tiles: lanes, and how many of them side by side */
    row_shape shape;
    int64_t ring_rows, part, parts; /* planes: rows of a part, parts of a plane */
    int64_t ahead;                  /* planes: so many rows later those will be loaded that are asked for now */
    int aliased;                    /* planes: `from` lies in the memory of the samples */
    struct pass *coarser;           /* planes: that takes the approximation row by row; its work lies behind this one's */
} pass;

static inline int32_t raise_bits(const pass *p) { return p->first && !p->inverse ? p->l->shift : 0; }
static inline int32_t lower_bits(const pass *p) { return p->last && p->inverse ? p->l->shift : 0; }
static inline double load_scale(const pass *p, uint32_t bits) { return p->l->scaled && p->first && p->inverse ? 1.0 / p->l->scale[bits] : 1.0; }
static inline double store_scale(const pass *p, uint32_t bits) { return p->l->scaled && p->last && !p->inverse ? p->l->scale[bits] : 1.0; }

static inline void report_lost(const pass *p, uint32_t bad)
{
    if (bad && p->lost) __atomic_store_n(p->lost, 1u, __ATOMIC_RELAXED);
}

static inline char *at(const pass *p, const tsr_wavelet_array *a, int64_t offset) { return (char *)a->data + offset * (int64_t)p->rows->element; }

/* ---- along x: one row in work -------------------------------------------------------------------------------------------------------------- */

/* Fills the places beyond the ends of the parity q, [from, 0) and [count, to). */
static inline void extend(const pass *p, char *part, int32_t q, int64_t n, int64_t from, int64_t to)
{
    size_t ring = p->rows->ring;
    int64_t count = (n + 1 - q) / 2;
    for (int64_t j = from; j < to; j = j == -1 ? count : j + 1) {
        int64_t i = tsr_lift_index(2 * j + q, n, (int32_t)p->l->boundary);
        if (ring == sizeof(int16_t)) ((int16_t *)part)[j] = i < 0 ? (int16_t)0 : ((int16_t *)part)[i >> 1];
        else if (i < 0) memset(part + j * (int64_t)ring, 0, ring);
        else memcpy(part + j * (int64_t)ring, part + (i >> 1) * (int64_t)ring, ring);
    }
}

/* Are all values of a row that was just loaded within the bound? */
static inline int is_calm_row(const pass *p, const char *row)
{
    const row_shape *s = &p->shape;
    return p->calm && p->rows->within(row + s->low, (s->n + 1) / 2, p->calm) && p->rows->within(row + s->high, s->n / 2, p->calm);
}

static inline void lift_part(const pass *p, const tsr_lift_step *step, void *x, const void *const *neighbours, int64_t n, int calm, uint32_t *bad)
{
    if (calm) p->rows->lift_calm(step, x, neighbours, n, x, NULL);
    else p->rows->lift(step, x, neighbours, n, bad);
}

static inline void lift_row(const pass *p, char *row, int calm, uint32_t *bad)
{
    const row_shape *s = &p->shape;
    int64_t ring = (int64_t)p->rows->ring;
    for (int32_t k = 0; k < p->filter->steps; k++) {
        const tsr_lift_step *step = &p->filter->step[k];
        int32_t q = !step->parity;
        int64_t shift = (step->parity + step->first - q) / 2, count = (s->n + 1 - step->parity) / 2, own = (s->n + 1 - q) / 2;
        char *x = row + (step->parity ? s->high : s->low), *from = row + (q ? s->high : s->low);
        const void *neighbours[TSR_WAVELET_TAPS];
        int64_t least = tsr_min64(shift, 0), most = count + shift + step->count - 1;
        extend(p, from, q, s->n, least < 0 ? least : own, tsr_max64(most, own));
        for (int32_t t = 0; t < step->count; t++) neighbours[t] = from + (shift + t) * ring;
        lift_part(p, step, x, neighbours, count, calm, bad);
    }
}

/* Row (or plane) number r, counted over the axes from `axis` on: its place in the samples, its bits, and its number along each axis of a band. */
typedef struct place {
    int64_t whole, index[TSR_WAVELET_DIMENSIONS];
    uint32_t bits;
} place;

static inline place place_of(const tsr_wavelet_level *l, int64_t r, int32_t axis)
{
    place where = { 0 };
    for (int32_t a = axis; a < TSR_WAVELET_DIMENSIONS; a++) {
        int64_t i = r % l->size[a];
        r /= l->size[a];
        where.whole += i * l->whole.stride[a];
        where.index[a] = l->axes >> a & 1 ? i >> 1 : i;
        if (l->axes >> a & 1) where.bits |= (uint32_t)(i & 1) << a;
    }
    return where;
}

/* The part of a band at a place. */
static inline tsr_wavelet_array band_at(const pass *p, const tsr_wavelet_array *band, const place *where)
{
    tsr_wavelet_array b = *band;
    int64_t offset = 0;
    for (int32_t a = 1; a < TSR_WAVELET_DIMENSIONS; a++) offset += where->index[a] * b.stride[a];
    b.data = at(p, band, offset);
    return b;
}

/* Row y of two bands that are low and high along x, into the work row and out of it. */
static inline void load_bands(const pass *p, const tsr_wavelet_array pair[2], int64_t y, uint32_t bits, char *row, uint32_t *bad)
{
    const row_shape *s = &p->shape;
    p->rows->load(at(p, &pair[0], y * pair[0].stride[1]), pair[0].stride[0], (s->n + 1) / 2, 0, load_scale(p, bits), row + s->low, bad);
    p->rows->load(at(p, &pair[1], y * pair[1].stride[1]), pair[1].stride[0], s->n / 2, 0, load_scale(p, bits | 1), row + s->high, bad);
}

static inline int streams(const pass *p, uint32_t bits) { return p->stream && (bits || !p->keep); }

static inline void store_band(const pass *p, const tsr_wavelet_array *band, int64_t y, uint32_t bits, const char *row, uint32_t *bad)
{
    const row_shape *s = &p->shape;
    p->rows->store(row + (bits & 1 ? s->high : s->low), (s->n + !(bits & 1)) / 2, 0, store_scale(p, bits), at(p, band, y * band->stride[1]),
                   band->stride[0], streams(p, bits), bad);
}

static inline void store_bands(const pass *p, const tsr_wavelet_array pair[2], int64_t y, uint32_t bits, const char *row, uint32_t *bad)
{
    for (uint32_t high = 0; high < 2; high++) store_band(p, &pair[high], y, bits | high, row, bad);
}

/* Does the filter's loop of both steps along a row fit, which mirrors at the ends? */
static inline int is_mirrored(const pass *p)
{
    const tsr_wavelet_boundary boundary = p->l->boundary; /* clamp is the same for neighbours at 1 */
    return p->pairs && p->filter->step[0].parity == 1 && p->shape.n >= 2 && (boundary == TSR_WAVELET_CLAMP || boundary == TSR_WAVELET_SYMMETRIC);
}

/* Samples, `stride` apart, become a row that is lifted along x; says whether it was calm. */
static inline int split_row(const pass *p, const char *from, int64_t stride, char *row, uint32_t *bad)
{
    char *low = row + p->shape.low, *high = row + p->shape.high;
    if (stride == 1 && is_mirrored(p)) {
        p->rows->split_pair(p->filter, from, p->shape.n, raise_bits(p), low, high, bad);
        return 0;
    }
    if (p->loops && stride == 1 && p->loops->split(p->filter, from, p->shape.n, raise_bits(p), low, high)) return 1;
    int calm = p->calm && !p->loops && stride == 1 && p->rows->split_calm(from, p->shape.n, raise_bits(p), p->calm, low, high);
    if (!calm) {
        p->rows->split(from, stride, p->shape.n, raise_bits(p), low, high, bad);
        calm = (p->loops || stride != 1) && is_calm_row(p, row);
    }
    lift_row(p, row, calm, bad);
    return calm;
}

static inline void merge_row(const pass *p, int64_t offset, const char *row, uint32_t *bad)
{
    const tsr_wavelet_array *whole = &p->l->whole;
    p->rows->merge(row + p->shape.low, row + p->shape.high, p->shape.n, lower_bits(p), at(p, whole, offset), whole->stride[0], p->stream, bad);
}

/* A row of which the steps along x are still to be undone. */
static inline void unlift_row(const pass *p, int64_t offset, char *row, int calm, uint32_t *bad)
{
    const tsr_wavelet_array *whole = &p->l->whole;
    if (p->back && whole->stride[0] == 1 && p->shape.n >= 2) {
        p->rows->merge_pair(p->filter, row + p->shape.low, row + p->shape.high, p->shape.n, lower_bits(p), at(p, whole, offset), p->stream, bad);
        return;
    }
    if (calm && p->loops && whole->stride[0] == 1 && !p->stream) {
        p->loops->merge(p->filter, row + p->shape.low, row + p->shape.high, p->shape.n, lower_bits(p), at(p, whole, offset));
        return;
    }
    lift_row(p, row, calm, bad);
    merge_row(p, offset, row, bad);
}

static inline void narrow_row(const pass *p, char *row, uint32_t *bad)
{
    if (!p->rows->narrow) return;
    p->rows->narrow(row + p->shape.low, (p->shape.n + 1) / 2, bad);
    p->rows->narrow(row + p->shape.high, p->shape.n / 2, bad);
}

static inline int64_t row_count(const tsr_wavelet_level *l, int32_t axis)
{
    int64_t rows = 1;
    for (int32_t a = axis; a < TSR_WAVELET_DIMENSIONS; a++) rows *= l->size[a];
    return rows;
}

/* x and y together (wavelet_planes.c), x, y and z together (wavelet_blocks.c). */
int tsr_wavelet_has_planes(const tsr_wavelet_level *l);
int tsr_wavelet_has_blocks(const tsr_wavelet_level *l, const tsr_wavelet_rows *rows, const tsr_lift_filter *filter);
int64_t tsr_wavelet_planes_bytes(const tsr_wavelet_level *l, const tsr_wavelet_rows *rows, const tsr_lift_filter *filter); /* per worker */
void tsr_wavelet_run_planes(pass *p);
/* Two levels at once (p->coarser the second): the rows of the first one's approximation go from one ring to the next and never to memory. */
int tsr_wavelet_has_two_levels(const tsr_wavelet_level l[2]);
int64_t tsr_wavelet_handed_bytes(const tsr_wavelet_level *l); /* per worker, beside the planes' of both levels */
void tsr_wavelet_run_two_levels(pass *p);
void tsr_wavelet_run_blocks(pass *p);

#endif
