/* wavelet/wavelet_slide.h: passes that slide (wavelet_planes.c, wavelet_blocks.c). Rows enter a ring, are lifted there as soon as their neighbours are
 * in, and leave when they are final. Where a filter of two steps allows, two rows go through all steps on their way in, and the ring holds but the
 * two before them. */
#ifndef TSR_WAVELET_WAVELET_SLIDE_H
#define TSR_WAVELET_WAVELET_SLIDE_H

#include "wavelet/wavelet_pass.h"

/* Rows [begin, end) of an axis of n in work; window: the rows looked at, virtual ones (beyond 0 .. n) where the boundary is periodic. */
enum { PAIR_ROWS = 8, CALM_ROWS_MOST = 64 }; /* at least what two steps with neighbours at 1 keep in a ring; at most what others do */
typedef struct slide slide;
struct slide {
    const pass *p;
    int64_t n, begin, end, window[2];
    int64_t turn;                                             /* the row that last came to the first place of the ring */
    int64_t wild;                                             /* the last row that is not calm */
    int64_t next[TSR_WAVELET_STEPS], stop[TSR_WAVELET_STEPS]; /* rows of each step: the next one, one past the last */
    int64_t out;                                              /* next row to be stored */
    int64_t row_bytes;
    char *ring, *zero;
    void (*load)(slide *s, int64_t r);
    void (*lift)(slide *s, const tsr_lift_step *step, int64_t i);
    void (*store)(slide *s, int64_t y);
    void (*flush)(slide *s);              /* what lift only put down is done now; NULL: it did it */
    void (*settled)(slide *s, int64_t y); /* row y is stored, and all before it; NULL: nobody waits for it */
    int (*pair)(slide *s, int64_t i);     /* both steps of a 5/3, on rows i and i-1; says which of these are in their place already: bits 0 and 1 */
    uint8_t stored[CALM_ROWS_MOST];       /* rows of the ring that are in their place already: of pairs and calm ones */
    int (*both)(slide *s, int64_t i);     /* rows i and i+1 in, i-1 and i stored, in one go; 0: not these. NULL: never */
    int waits;                            /* the last row that came waits for the next, to go with it */
    uint8_t slot[PAIR_ROWS];              /* of pairs: where the rows of the ring lie */
    uint8_t calm[CALM_ROWS_MOST];         /* rows of the ring that are (pass.calm) */
};

/* Where row r is in the ring: rows in work lie within one turn of it around `turn`. */
static inline int64_t ring_place(const slide *s, int64_t r)
{
    const int64_t k = r - s->turn, rows = s->p->ring_rows;
    return k < 0 ? k + rows : k < rows ? k : k - rows;
}

static inline char *ring_row(const slide *s, int64_t r)
{
    const int64_t k = ring_place(s, r);
    return s->ring + (s->p->pairs ? s->slot[k] : k) * s->row_bytes;
}

/* The row that stands for row j; *zero: none, but zeros. */
static inline int64_t stand_in(const slide *s, int64_t j, int *zero)
{
    tsr_wavelet_boundary boundary = s->p->l->boundary;
    if (boundary != TSR_WAVELET_PERIODIC) j = tsr_lift_index(j, s->n, (int32_t)boundary);
    *zero = j < 0 && boundary == TSR_WAVELET_ZERO;
    return j;
}

static inline const char *neighbour(const slide *s, int64_t j)
{
    int zero;
    j = stand_in(s, j, &zero);
    return zero ? s->zero : ring_row(s, j);
}

static inline uint8_t *calm_row(slide *s, int64_t r) { return &s->calm[ring_place(s, r) % CALM_ROWS_MOST]; }

/* A row has come: is it calm? */
static inline void set_calm(slide *s, int64_t r, int calm)
{
    *calm_row(s, r) = (uint8_t)calm;
    if (calm) return;
    s->wild = tsr_max64(s->wild, r);
    if (s->p->unfit) __atomic_store_n(s->p->unfit, 1, __ATOMIC_RELAXED);
}

/* Is row i, and are all rows that the step reads? */
static inline int is_calm(slide *s, const tsr_lift_step *step, int64_t i)
{
    if (!s->p->calm) return 0;
    if (i - step->reach > s->wild && i - step->reach >= s->window[0] && i + step->reach < s->window[1]) return 1;
    int calm = *calm_row(s, i);
    for (int32_t k = 0; k < step->count && calm; k++) {
        int zero;
        const int64_t j = stand_in(s, i + step->first + 2 * k, &zero);
        calm = zero || *calm_row(s, j);
    }
    if (!calm) set_calm(s, i, 0);
    return calm;
}

/* The first step on row i and the second on i-1 in one loop, as far as rows [.., `loaded`] allow. */
static inline void slide_pairs(slide *s, int64_t loaded, int flush)
{
    int64_t first = flush ? s->stop[0] : tsr_min64(loaded, s->stop[0]), second = flush ? s->stop[1] : tsr_min64(loaded - 1, s->stop[1]);
    while (s->next[1] == s->next[0] - 1 && s->next[0] < first && s->next[1] < second && s->next[1] > s->window[0]) {
        int64_t i = s->next[0];
        int stored = s->pair(s, i);
        for (int k = 0; k < 2; k++) s->stored[ring_place(s, i - k)] = (uint8_t)(stored >> k & 1);
        s->next[0] += 2;
        s->next[1] += 2;
    }
}

static inline void slide_store(slide *s, int64_t y)
{
    uint8_t *stored = s->p->pairs || s->p->calm ? &s->stored[ring_place(s, y)] : NULL;
    if (!stored || !*stored) s->store(s, y);
    if (stored) *stored = 0;
    if (s->settled) s->settled(s, y);
}

/* Everything that rows [.., loaded] allow. Step k+1 follows step k at a distance at which its neighbours are ready and no row that step k has
 * yet to read is overwritten. `flush`: no more rows will come. */
static inline void slide_advance(slide *s, int64_t loaded, int flush)
{
    const tsr_lift_filter *f = s->p->filter;
    int64_t front = loaded, settled = flush ? s->end : INT64_MAX;
    if (s->p->pairs) slide_pairs(s, loaded, flush);
    for (int32_t k = 0; k < f->steps; k++) {
        int32_t lag = k ? f->step[k - 1].reach > f->step[k].reach ? f->step[k - 1].reach : f->step[k].reach : f->step[0].reach;
        front -= lag;
        int64_t stop = flush ? s->stop[k] : tsr_min64(front + 1, s->stop[k]);
        for (; s->next[k] < stop; s->next[k] += 2) s->lift(s, &f->step[k], s->next[k]);
        if (!flush) settled = tsr_min64(settled, s->next[k] - f->step[k].reach); /* rows below are read no more */
    }
    if (s->flush) s->flush(s);
    for (; s->out < tsr_min64(settled, s->end); s->out++) slide_store(s, s->out);
}

static inline void set_window(slide *s)
{
    const tsr_lift_filter *f = s->p->filter;
    s->window[0] = s->begin - f->reach;
    s->window[1] = s->end + f->reach;
    if (s->p->l->boundary == TSR_WAVELET_PERIODIC) return;
    s->window[0] = tsr_max64(s->window[0], 0);
    s->window[1] = tsr_min64(s->window[1], s->n);
}

static inline void slide_begin(slide *s)
{
    const tsr_lift_filter *f = s->p->filter;
    int periodic = s->p->l->boundary == TSR_WAVELET_PERIODIC;
    int64_t reach = 0;
    for (int32_t k = 0; k < f->steps; k++) {
        reach += f->step[k].reach; /* near an end of the window that is none of the plane, rows lack neighbours */
        s->next[k] = s->window[0] + (periodic || s->window[0] > 0 ? reach : 0);
        s->stop[k] = s->window[1] - (periodic || s->window[1] < s->n ? reach : 0);
        s->next[k] += (s->next[k] ^ f->step[k].parity) & 1;
    }
    s->out = s->begin;
    s->turn = s->window[0];
    s->wild = INT64_MIN;
    s->waits = 0;
    memset(s->stored, 0, sizeof s->stored);
    for (int k = 0; k < PAIR_ROWS; k++) s->slot[k] = (uint8_t)k;
}

static inline void swap_rows(slide *s, int64_t a, int64_t b)
{
    uint8_t *x = &s->slot[ring_place(s, a)], *y = &s->slot[ring_place(s, b)], kept = *x;
    *x = *y;
    *y = kept;
}

static inline void enter_ring(slide *s, int64_t r)
{
    if (r - s->turn >= s->p->ring_rows) s->turn += s->p->ring_rows;
}

static inline void slide_alone(slide *s, int64_t r)
{
    enter_ring(s, r);
    s->load(s, r);
    if (!s->flush || (r - s->window[0]) & 1) slide_advance(s, r, 0);
}

/* May rows i and i+1 go through all steps at once? */
static inline int is_for_both(const slide *s, int64_t i)
{
    return s->next[0] == i && s->next[1] == i - 1 && s->out >= i - 2 && i - 1 > s->window[0] && i + 1 < s->window[1] && i < s->stop[0] &&
           i - 1 < s->stop[1] && i < s->end;
}

static inline void slide_both(slide *s, int64_t i)
{
    for (; s->out < i - 1; s->out++) slide_store(s, s->out); /* it is final, and its place is needed */
    if (!s->both(s, i)) {
        slide_alone(s, i);
        slide_alone(s, i + 1);
        return;
    }
    swap_rows(s, i, i - 2);
    swap_rows(s, i + 1, i - 1);
    enter_ring(s, i + 1);
    s->next[0] += 2;
    s->next[1] += 2;
    s->out += 2;
    for (int64_t y = i - 1; s->settled && y <= i; y++) s->settled(s, y);
}

/* Rows of the window, one by one; what they are loaded from is there until the next one has come. */
static inline void slide_row(slide *s, int64_t r)
{
    const int waits = s->waits;
    s->waits = 0;
    if (waits) slide_both(s, r - 1);
    else if (s->both && is_for_both(s, r)) s->waits = 1;
    else slide_alone(s, r);
}

/* Is what is made here worth nothing, since a row is not calm? */
static inline int is_vain(const pass *p) { return p->unfit && __atomic_load_n(p->unfit, __ATOMIC_RELAXED); }

static inline void slide_end(slide *s) { slide_advance(s, s->window[1], 1); }

static inline void slide_part(slide *s)
{
    slide_begin(s);
    for (int64_t r = s->window[0]; r < s->window[1] && !is_vain(s->p); r++) slide_row(s, r);
    if (!is_vain(s->p)) slide_end(s);
}

/* ---- planes -------------------------------------------------------------------------------------------------------------------------------- */

enum { CALM_JOBS = 8 };
typedef struct lift_job {
    const tsr_lift_step *step;
    char *row, *out[2], *copy[2]; /* calm: where the two parts go, and again; NULL: they stay in the row, no copy */
    const void *from[TSR_WAVELET_TAPS];
    int calm;
} lift_job;

typedef struct plane plane;
struct plane {
    slide s;                   /* first: the callbacks get it */
    int64_t whole;             /* offset of the plane in the samples, */
    uint32_t bits;             /* its bits, */
    tsr_wavelet_array band[4]; /* its bands by the bits of x and y */
    uint32_t bad;
    char *slice;                         /* of a block: where rows go to (forward) or come from instead of bands, packed; NULL: a plane alone */
    int64_t slice_first;                 /* its first row */
    int64_t next_whole;                  /* as `whole`, of the slice that follows; -1: none */
    tsr_wavelet_array next_band[4];      /* the inverse of a block: as `band`, of the slice that will be loaded next; data NULL: none */
    const char *ahead[2], *ahead_end[2]; /* what will soon be loaded: asked for piece by piece while rows are in work */
    plane *coarser;                      /* takes the approximation, row by row; NULL: it goes to memory */
    char *handed;                        /* its rows on their way there: PAIR_ROWS of them, row y/2 in place y/2 % PAIR_ROWS */
    const char *source[2];               /* of the coarser one: even and odd rows that come */
    const char *soon[2][2];  /* with loops for all steps: what the rows of either parity will be, two parts of a row each; NULL: nothing */
    lift_job job[CALM_JOBS]; /* what is to be lifted along y, where the filter has loops for all at once: `jobs` of them */
    int32_t jobs;
    int64_t own[2]; /* rows whose details are to be stored: of those around them the coarser one needs the approximation alone */
};

static inline char *slice_row(const plane *t, int64_t r) { return t->slice + (r - t->slice_first) * t->s.p->shape.n * (int64_t)t->s.p->rows->ring; }

/* May a row of a band be written from the loop that finishes it? */
static inline int is_plain(const pass *p, const tsr_wavelet_array *band, uint32_t bits, const char *row)
{
    return band->stride[0] == 1 && !(p->l->scaled && p->last) && (!streams(p, bits) || (uintptr_t)row % 64 == 0);
}

static inline int64_t ring_rows(const tsr_lift_filter *f)
{
    int64_t rows = 4;
    for (int32_t k = 0; k < f->steps; k++) {
        int32_t before = k ? f->step[k - 1].reach : 0;
        rows += f->step[k].reach > before ? f->step[k].reach : before;
    }
    return rows + f->step[f->steps - 1].reach;
}

static inline void prepare_planes(pass *p, int64_t planes)
{
    const tsr_wavelet_level *l = p->l;
    int64_t least = tsr_max64(16, 4 * p->filter->reach);
    p->stream = p->last && row_count(l, 0) * (int64_t)p->rows->element > LARGE_BYTES;
    p->shape = shape_of(l->size[0], p->rows->ring);
    p->ahead = (tsr_ceil_div(AHEAD_BYTES, l->size[0] * (int64_t)p->rows->element) + 1) / 2 * 2;
    p->ring_rows = ring_rows(p->filter) + (p->loops != NULL);
    if (p->ring_rows > CALM_ROWS_MOST) p->calm = 0;
    p->part = l->size[1];
    if (p->threads > 1 && planes < 4 * p->threads && !p->aliased) p->part = tsr_max64(least, tsr_ceil_div(l->size[1] * planes, 4 * p->threads));
}

static inline void run_parts(pass *p, int64_t planes, tsr_parallel_body body)
{
    p->part = (p->part + 1) / 2 * 2;
    p->parts = tsr_ceil_div(p->l->size[1], p->part);
    tsr_parallel(p->threads, planes * p->parts, 1, body, p);
}

/* Of a worker, before it is given rows; `work` holds its ring. */
plane tsr_wavelet_plane_make(const pass *p, char *work);

#endif
