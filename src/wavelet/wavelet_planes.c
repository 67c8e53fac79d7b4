/* wavelet/wavelet_planes.c: passes that slide. Rows enter a ring, are lifted there as soon as their neighbours are in, and leave when they are
 * final. Along y the rows are rows of samples, transformed along x on their way; along z they are slices: bundles of such rows of one height,
 * which a slide along y made (the inverse: which it takes apart). */
#include "wavelet/wavelet_pass.h"

/* Rows [begin, end) of an axis of n in work; window: the rows looked at, virtual ones (beyond 0 .. n) where the boundary is periodic. */
enum { PAIR_ROWS = 8 }; /* at least what two steps with neighbours at 1 keep in a ring */
typedef struct slide slide;
struct slide {
    const pass *p;
    int64_t n, begin, end, window[2];
    int64_t next[TSR_WAVELET_STEPS], stop[TSR_WAVELET_STEPS]; /* rows of each step: the next one, one past the last */
    int64_t out;                                              /* next row to be stored */
    int64_t row_bytes;
    char *ring, *zero;
    void (*load)(slide *s, int64_t r);
    void (*lift)(slide *s, const tsr_lift_step *step, int64_t i);
    void (*store)(slide *s, int64_t y);
    void (*settled)(slide *s, int64_t y); /* row y is stored, and all before it; NULL: nobody waits for it */
    int (*pair)(slide *s, int64_t i);     /* both steps of a 5/3, on rows i and i-1; says which of these are in their place already: bits 0 and 1 */
    uint8_t stored[PAIR_ROWS];            /* rows of the ring that are */
    int (*both)(slide *s, int64_t i);     /* rows i and i+1 in, i-1 and i stored, in one go; 0: not these. NULL: never */
    int waits;                            /* the last row that came waits for the next, to go with it */
    uint8_t slot[PAIR_ROWS];              /* of pairs: where the rows of the ring lie */
};

static char *ring_row(const slide *s, int64_t r)
{
    const int64_t k = (r - s->window[0]) % s->p->ring_rows;
    return s->ring + (s->p->pairs ? s->slot[k] : k) * s->row_bytes;
}

static const char *neighbour(const slide *s, int64_t j)
{
    tsr_wavelet_boundary boundary = s->p->l->boundary;
    if (boundary != TSR_WAVELET_PERIODIC) j = tsr_lift_index(j, s->n, (int32_t)boundary);
    return j < 0 && boundary == TSR_WAVELET_ZERO ? s->zero : ring_row(s, j);
}

/* The first step on row i and the second on i-1 in one loop, as far as rows [.., `loaded`] allow. */
static void slide_pairs(slide *s, int64_t loaded, int flush)
{
    int64_t first = flush ? s->stop[0] : tsr_min64(loaded, s->stop[0]), second = flush ? s->stop[1] : tsr_min64(loaded - 1, s->stop[1]);
    while (s->next[1] == s->next[0] - 1 && s->next[0] < first && s->next[1] < second && s->next[1] > s->window[0]) {
        int64_t i = s->next[0];
        int stored = s->pair(s, i);
        for (int k = 0; k < 2; k++) s->stored[(i - k - s->window[0]) % s->p->ring_rows] = (uint8_t)(stored >> k & 1);
        s->next[0] += 2;
        s->next[1] += 2;
    }
}

static void slide_store(slide *s, int64_t y)
{
    uint8_t *stored = s->p->pairs ? &s->stored[(y - s->window[0]) % s->p->ring_rows] : NULL;
    if (!stored || !*stored) s->store(s, y);
    if (stored) *stored = 0;
    if (s->settled) s->settled(s, y);
}

/* Everything that rows [.., loaded] allow. Step k+1 follows step k at a distance at which its neighbours are ready and no row that step k has
 * yet to read is overwritten. `flush`: no more rows will come. */
static void slide_advance(slide *s, int64_t loaded, int flush)
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
    for (; s->out < tsr_min64(settled, s->end); s->out++) slide_store(s, s->out);
}

static void set_window(slide *s)
{
    const tsr_lift_filter *f = s->p->filter;
    s->window[0] = s->begin - f->reach;
    s->window[1] = s->end + f->reach;
    if (s->p->l->boundary == TSR_WAVELET_PERIODIC) return;
    s->window[0] = tsr_max64(s->window[0], 0);
    s->window[1] = tsr_min64(s->window[1], s->n);
}

static void slide_begin(slide *s)
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
    s->waits = 0;
    memset(s->stored, 0, sizeof s->stored);
    for (int k = 0; k < PAIR_ROWS; k++) s->slot[k] = (uint8_t)k;
}

static void swap_rows(slide *s, int64_t a, int64_t b)
{
    uint8_t *x = &s->slot[(a - s->window[0]) % s->p->ring_rows], *y = &s->slot[(b - s->window[0]) % s->p->ring_rows], kept = *x;
    *x = *y;
    *y = kept;
}

static void slide_alone(slide *s, int64_t r)
{
    s->load(s, r);
    slide_advance(s, r, 0);
}

/* May rows i and i+1 go through all steps at once? */
static int is_for_both(const slide *s, int64_t i)
{
    return s->next[0] == i && s->next[1] == i - 1 && s->out >= i - 2 && i - 1 > s->window[0] && i + 1 < s->window[1] && i < s->stop[0] &&
           i - 1 < s->stop[1] && i < s->end;
}

static void slide_both(slide *s, int64_t i)
{
    for (; s->out < i - 1; s->out++) slide_store(s, s->out); /* it is final, and its place is needed */
    if (!s->both(s, i)) {
        slide_alone(s, i);
        slide_alone(s, i + 1);
        return;
    }
    swap_rows(s, i, i - 2);
    swap_rows(s, i + 1, i - 1);
    s->next[0] += 2;
    s->next[1] += 2;
    s->out += 2;
    for (int64_t y = i - 1; s->settled && y <= i; y++) s->settled(s, y);
}

/* Rows of the window, one by one; what they are loaded from is there until the next one has come. */
static void slide_row(slide *s, int64_t r)
{
    const int waits = s->waits;
    s->waits = 0;
    if (waits) slide_both(s, r - 1);
    else if (s->both && is_for_both(s, r)) s->waits = 1;
    else slide_alone(s, r);
}

static void slide_end(slide *s) { slide_advance(s, s->window[1], 1); }

static void slide_part(slide *s)
{
    slide_begin(s);
    for (int64_t r = s->window[0]; r < s->window[1]; r++) slide_row(s, r);
    slide_end(s);
}

/* ---- along y -------------------------------------------------------------------------------------------------------------------------------- */

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
    int64_t own[2];                      /* rows whose details are to be stored: of those around them the coarser one needs the approximation alone */
};

/* Memory then works while the arithmetic does. */
static void fetch_ahead(plane *t)
{
    for (int k = 0; k < 2; k++)
        for (int piece = 0; piece < AHEAD_LINES && t->ahead[k] < t->ahead_end[k]; piece++, t->ahead[k] += 64) __builtin_prefetch(t->ahead[k], 0, 2);
}

static void look_at(plane *t, int k, const char *from, int64_t elements)
{
    t->ahead[k] = from;
    t->ahead_end[k] = from + elements * (int64_t)t->s.p->rows->element;
}

/* Row r is loaded: what comes after the next? For the inverse of a block, whose rows are there already: row r of the next slice. */
static void look_ahead(plane *t, int64_t r)
{
    const pass *p = t->s.p;
    const tsr_wavelet_array *whole = &p->l->whole;
    int64_t y = t->slice && p->inverse ? r : r + p->ahead, base = t->whole, n = p->shape.n;
    for (int k = 0; k < 2; k++) t->ahead[k] = t->ahead_end[k] = NULL;
    if (t->slice && !p->inverse && y >= t->s.window[1]) {
        y -= t->s.window[1] - t->s.window[0];
        base = t->next_whole;
    }
    if (y < 0 || y >= t->s.n || base < 0) return;
    if (!p->inverse && whole->stride[0] == 1) look_at(t, 0, at(p, whole, base + y * whole->stride[1]), n);
    for (int k = 0; k < 2 && p->inverse; k++) {
        const tsr_wavelet_array *b = &(t->slice ? t->next_band : t->band)[((uint32_t)(y & 1) << 1) + (uint32_t)k];
        if (b->stride[0] == 1 && b->data) look_at(t, k, at(p, b, (y >> 1) * b->stride[1]), (n + 1 - k) / 2);
    }
}

static char *slice_row(const plane *t, int64_t r) { return t->slice + (r - t->slice_first) * t->s.p->shape.n * (int64_t)t->s.p->rows->ring; }

static char *handed_row(const plane *t, int64_t y)
{
    const pass *p = t->s.p;
    return t->handed + (y >> 1) % PAIR_ROWS * round64((p->shape.n + 1) / 2 * (int64_t)p->rows->element);
}

static int is_own(const plane *t, int64_t y) { return y >= t->own[0] && y < t->own[1]; }

static void plane_load(slide *s, int64_t r)
{
    plane *t = (plane *)s;
    const pass *p = s->p;
    char *row = ring_row(s, r);
    int64_t y = tsr_lift_index(r, s->n, TSR_WAVELET_PERIODIC);
    size_t ring = p->rows->ring, low = (size_t)((p->shape.n + 1) / 2) * ring;
    uint32_t odd = (uint32_t)(y & 1) << 1;
    look_ahead(t, r);
    if (p->inverse && t->slice) {
        memcpy(row + p->shape.low, slice_row(t, r), low);
        memcpy(row + p->shape.high, slice_row(t, r) + low, (size_t)(p->shape.n / 2) * ring);
    } else if (p->inverse) {
        load_bands(p, &t->band[odd], y >> 1, t->bits | odd, row, &t->bad);
    } else {
        fetch_ahead(t);
        if (t->source[0]) split_row(p, t->source[y & 1], 1, row, &t->bad);
        else split_row(p, at(p, &p->l->whole, t->whole + y * p->l->whole.stride[1]), p->l->whole.stride[0], row, &t->bad);
        fetch_ahead(t);
        narrow_row(p, row, &t->bad);
    }
}

static void plane_store(slide *s, int64_t y)
{
    plane *t = (plane *)s;
    const pass *p = s->p;
    char *row = ring_row(s, y);
    size_t ring = p->rows->ring, low = (size_t)((p->shape.n + 1) / 2) * ring;
    uint32_t odd = (uint32_t)(y & 1) << 1;
    fetch_ahead(t);
    if (p->inverse) {
        narrow_row(p, row, &t->bad);
        lift_row(p, row, &t->bad);
        fetch_ahead(t);
        merge_row(p, t->whole + y * p->l->whole.stride[1], row, &t->bad);
    } else if (t->slice) {
        memcpy(slice_row(t, y), row + p->shape.low, low);
        memcpy(slice_row(t, y) + low, row + p->shape.high, (size_t)(p->shape.n / 2) * ring);
    } else if (t->coarser) {
        if (!odd) p->rows->store(row + p->shape.low, (p->shape.n + 1) / 2, 0, store_scale(p, t->bits), handed_row(t, y), 1, 0, &t->bad);
        for (uint32_t b = odd ? 0 : 1; is_own(t, y) && b < 2; b++) store_band(p, &t->band[odd | b], y >> 1, t->bits | odd | b, row, &t->bad);
    } else {
        store_bands(p, &t->band[odd], y >> 1, t->bits | odd, row, &t->bad);
    }
}

static void plane_settled(slide *s, int64_t y)
{
    plane *t = (plane *)s;
    if (y & 1) return;
    t->coarser->source[y >> 1 & 1] = handed_row(t, y);
    slide_row(&t->coarser->s, y >> 1);
}

static void plane_lift(slide *s, const tsr_lift_step *step, int64_t i)
{
    plane *t = (plane *)s;
    const pass *p = s->p;
    const void *low[TSR_WAVELET_TAPS], *high[TSR_WAVELET_TAPS];
    char *row = ring_row(s, i);
    for (int32_t k = 0; k < step->count; k++) {
        const char *from = neighbour(s, i + step->first + 2 * k);
        low[k] = from + p->shape.low;
        high[k] = from + p->shape.high;
    }
    fetch_ahead(t);
    p->rows->lift(step, row + p->shape.low, low, (p->shape.n + 1) / 2, &t->bad);
    fetch_ahead(t);
    p->rows->lift(step, row + p->shape.high, high, p->shape.n / 2, &t->bad);
}

/* May a row of a band be written from the loop that finishes it? */
static int is_plain(const pass *p, const tsr_wavelet_array *band, uint32_t bits, const char *row)
{
    return band->stride[0] == 1 && !(p->l->scaled && p->last) && (!streams(p, bits) || (uintptr_t)row % 64 == 0);
}

/* Where the two parts of row y go, and whether past the caches; 0: not from the loop that finishes it. */
static int plane_targets(const plane *t, int64_t y, char *to[2], int stream[2])
{
    const pass *p = t->s.p;
    for (uint32_t high = 0; high < 2; high++) {
        const uint32_t of = (uint32_t)(y & 1) << 1 | high;
        const tsr_wavelet_array *band = &t->band[of];
        stream[high] = 0;
        if (t->slice) {
            to[high] = slice_row(t, y) + high * ((p->shape.n + 1) / 2) * (int64_t)p->rows->ring;
        } else if (t->coarser && !of) {
            if (p->l->scaled && p->last) return 0;
            to[high] = handed_row(t, y);
        } else if (t->coarser && !is_own(t, y)) {
            to[high] = NULL;
        } else {
            to[high] = at(p, band, (y >> 1) * band->stride[1]);
            stream[high] = streams(p, t->bits | of);
            if (!is_plain(p, band, t->bits | of, to[high])) return 0;
        }
    }
    return 1;
}

static int plane_pair(slide *s, int64_t i)
{
    plane *t = (plane *)s;
    const pass *p = s->p;
    const int64_t n = p->shape.n, first = (n + 1) / 2;
    char *x = ring_row(s, i), *behind = ring_row(s, i - 1);
    const char *before = neighbour(s, i - 2), *after = neighbour(s, i + 1);
    int stored = 0, stream[2][2] = { { 0 } };
    char *to[2][2] = { { NULL } }; /* of row i and of row i-1 */
    for (int k = 0; k < 2 && !p->inverse; k++) {
        if (i - k < s->begin || i - k >= s->end) continue;
        if (plane_targets(t, i - k, to[k], stream[k])) stored |= 1 << k;
        else to[k][0] = to[k][1] = NULL;
    }
    for (int high = 0; high < 2; high++) {
        const int64_t part = high ? p->shape.high : p->shape.low;
        const int past = (to[1][high] && stream[1][high] ? TSR_ROWS_STREAM_OUT : 0) | (stream[0][high] ? TSR_ROWS_STREAM_COPY : 0);
        fetch_ahead(t);
        p->rows->pair(p->filter, before + part, behind + part, x + part, after + part, high ? n / 2 : first,
                      to[1][high] ? to[1][high] : behind + part, to[0][high], past, &t->bad);
    }
    return stored;
}

static int plane_both(slide *s, int64_t i)
{
    plane *t = (plane *)s;
    const pass *p = s->p;
    const tsr_wavelet_array *whole = &p->l->whole;
    const int64_t parts[2] = { p->shape.low, p->shape.high };
    char *to[2][2]; /* of row i and of row i-1 */
    tsr_wavelet_two_rows rows = { .n = p->shape.n, .shift = raise_bits(p) };
    if (!plane_targets(t, i, to[0], rows.stream_copy) || !plane_targets(t, i - 1, to[1], rows.stream_out)) return 0;
    for (int k = 0; k < 2; k++) {
        const int64_t y = i + k;
        look_ahead(t, y);
        rows.row[k] = t->source[0] ? t->source[y & 1] : at(p, whole, t->whole + y * whole->stride[1]);
        rows.ahead[k] = t->ahead[0] ? t->ahead[0] : rows.row[k];
        t->ahead[0] = t->ahead_end[0];
        rows.before[k] = ring_row(s, i - 2) + parts[k];
        rows.behind[k] = ring_row(s, i - 1) + parts[k];
        rows.copy[k] = to[0][k];
        rows.out[k] = to[1][k];
        if (!to[0][k] || !to[1][k]) return 0;
    }
    p->rows->split_both(p->filter, &rows, &t->bad);
    return 1;
}

/* Do rows go two by two? Forward from whole ones, mirrored at the ends, by filters with pairs. */
static int has_both(const pass *p)
{
    const tsr_wavelet_level *l = p->l;
    return !p->inverse && is_mirrored(p) && l->whole.stride[0] == 1;
}

static plane plane_make(const pass *p, char *work)
{
    plane t = { .s = { .p = p,
                       .n = p->l->size[1],
                       .row_bytes = p->shape.bytes,
                       .load = plane_load,
                       .lift = plane_lift,
                       .store = plane_store,
                       .pair = plane_pair,
                       .both = has_both(p) ? plane_both : NULL } };
    t.s.zero = work;
    t.s.ring = work + p->shape.bytes;
    t.next_whole = -1;
    memset(t.s.zero, 0, (size_t)p->shape.bytes);
    return t;
}

/* Brings the bands of a plane that lie where its samples will, out of the way. */
static void move_plane(plane *t, char *copy)
{
    const pass *p = t->s.p;
    const tsr_wavelet_level *l = p->l;
    for (uint32_t b = 0; b < 4; b++) {
        tsr_wavelet_array to = { copy, { 1, tsr_wavelet_band_size(l, b, 0) } };
        int64_t nx = to.stride[1], ny = tsr_wavelet_band_size(l, b, 1), element = (int64_t)p->rows->element;
        for (int64_t y = 0; y < ny; y++, copy += nx * element) {
            const char *from = at(p, &t->band[b], y * t->band[b].stride[1]);
            if (t->band[b].stride[0] == 1) memcpy(copy, from, (size_t)(nx * element));
            else
                for (int64_t x = 0; x < nx; x++) memcpy(copy + x * element, from + x * t->band[b].stride[0] * element, (size_t)element);
        }
        t->band[b] = to;
    }
}

static void plane_place(plane *t, int64_t number)
{
    const pass *p = t->s.p;
    const tsr_wavelet_array *bands = p->inverse ? p->from : p->to;
    const place where = place_of(p->l, number, 2);
    t->whole = where.whole;
    t->bits = where.bits;
    for (uint32_t b = 0; b < 4; b++) t->band[b] = band_at(p, &bands[where.bits | b], &where);
}

static void planes_range(void *user, int64_t begin, int64_t end, int worker)
{
    const pass *p = (const pass *)user;
    plane t = plane_make(p, p->work + worker * p->per_worker);
    for (int64_t task = begin; task < end; task++) {
        plane_place(&t, task / p->parts);
        if (p->aliased) move_plane(&t, t.s.ring + p->ring_rows * p->shape.bytes);
        t.s.begin = task % p->parts * p->part;
        t.s.end = tsr_min64(t.s.begin + p->part, t.s.n);
        set_window(&t.s);
        slide_part(&t.s);
    }
    if (p->stream) p->rows->drain();
    report_lost(p, t.bad);
}

static int64_t ring_rows(const tsr_lift_filter *f)
{
    int64_t rows = 4;
    for (int32_t k = 0; k < f->steps; k++) {
        int32_t before = k ? f->step[k - 1].reach : 0;
        rows += f->step[k].reach > before ? f->step[k].reach : before;
    }
    return rows + f->step[f->steps - 1].reach;
}

static void prepare_planes(pass *p, int64_t planes)
{
    const tsr_wavelet_level *l = p->l;
    int64_t least = tsr_max64(16, 4 * p->filter->reach);
    p->stream = p->last && row_count(l, 0) * (int64_t)p->rows->element > LARGE_BYTES;
    p->shape = shape_of(l->size[0], p->rows->ring);
    p->ahead = (tsr_ceil_div(AHEAD_BYTES, l->size[0] * (int64_t)p->rows->element) + 1) / 2 * 2;
    p->ring_rows = ring_rows(p->filter);
    p->part = l->size[1];
    if (p->threads > 1 && planes < 4 * p->threads && !p->aliased) p->part = tsr_max64(least, tsr_ceil_div(l->size[1] * planes, 4 * p->threads));
}

static void run_parts(pass *p, int64_t planes, tsr_parallel_body body)
{
    p->part = (p->part + 1) / 2 * 2;
    p->parts = tsr_ceil_div(p->l->size[1], p->part);
    tsr_parallel(p->threads, planes * p->parts, 1, body, p);
}

void tsr_wavelet_run_planes(pass *p)
{
    int64_t planes = row_count(p->l, 2);
    prepare_planes(p, planes);
    run_parts(p, planes, planes_range);
}

/* ---- two levels at once ------------------------------------------------------------------------------------------------------------------------ */

int tsr_wavelet_has_two_levels(const tsr_wavelet_level l[2])
{
    for (int k = 0; k < 2; k++)
        if (l[k].axes != 3 || l[k].inplace || l[k].boundary == TSR_WAVELET_PERIODIC || l[k].size[1] < 4) return 0;
    return row_count(&l[0], 0) * (int64_t)tsr_dtype_size(l[0].dtype) > TWO_LEVELS_BYTES;
}

int64_t tsr_wavelet_handed_bytes(const tsr_wavelet_level *l) { return PAIR_ROWS * round64((l->size[0] + 1) / 2 * (int64_t)tsr_dtype_size(l->dtype)); }

/* Parts are rows of the second level; the first one's reach as far as the second one's windows. */
static void two_levels_range(void *user, int64_t begin, int64_t end, int worker)
{
    const pass *p = (const pass *)user, *q = p->coarser;
    plane t = plane_make(p, p->work + worker * p->per_worker), u = plane_make(q, q->work + worker * q->per_worker);
    t.coarser = &u;
    t.handed = u.s.ring + q->ring_rows * q->shape.bytes;
    t.s.settled = plane_settled;
    for (int64_t task = begin; task < end; task++) {
        plane_place(&t, task / q->parts);
        plane_place(&u, task / q->parts);
        u.s.begin = task % q->parts * q->part;
        u.s.end = tsr_min64(u.s.begin + q->part, u.s.n);
        set_window(&u.s);
        t.own[0] = 2 * u.s.begin;
        t.own[1] = tsr_min64(2 * u.s.end, t.s.n);
        t.s.begin = 2 * u.s.window[0];
        t.s.end = tsr_min64(2 * u.s.window[1], t.s.n);
        set_window(&t.s);
        slide_begin(&u.s);
        slide_part(&t.s);
        slide_end(&u.s);
    }
    if (p->stream || q->stream) p->rows->drain();
    report_lost(p, t.bad | u.bad);
}

void tsr_wavelet_run_two_levels(pass *p)
{
    const int64_t planes = row_count(p->l, 2);
    prepare_planes(p, planes);
    prepare_planes(p->coarser, planes);
    p->coarser->stream = p->stream;                                       /* what the first level leaves alone of the caches is not much */
    if (p->coarser->part < p->coarser->l->size[1]) p->coarser->part *= 2; /* they repeat more around them: fewer */
    p->coarser->part = (p->coarser->part + 1) / 2 * 2;
    p->coarser->parts = tsr_ceil_div(p->coarser->l->size[1], p->coarser->part);
    tsr_parallel(p->threads, planes * p->coarser->parts, 1, two_levels_range, p);
}

/* ---- along z -------------------------------------------------------------------------------------------------------------------------------- */

typedef struct block {
    slide s;
    plane t;
    place where; /* of slice 0, over the axes behind z */
    int64_t rows;
    uint32_t bad;
} block;

static int64_t block_elements(const block *b) { return b->rows * b->s.p->shape.n; }

static void narrow_slice(const block *b, char *slice, uint32_t *bad)
{
    if (b->s.p->rows->narrow) b->s.p->rows->narrow(slice, block_elements(b), bad);
}

static uint32_t block_bands(const block *b, int64_t z, tsr_wavelet_array band[4])
{
    const pass *p = b->s.p;
    const tsr_wavelet_array *bands = p->inverse ? p->from : p->to;
    uint32_t bits = b->where.bits | (uint32_t)(z & 1) << 2;
    place where = b->where;
    where.index[2] = z >> 1;
    for (uint32_t k = 0; k < 4; k++) band[k] = band_at(p, &bands[bits | k], &where);
    return bits;
}

/* The plane in work becomes slice z; its band[] are the bands at that height. */
static void block_place(block *b, int64_t z)
{
    int64_t stride = b->s.p->l->whole.stride[2];
    b->t.whole = b->where.whole + z * stride;
    b->t.next_whole = z + 1 < b->s.n && stride > 0 ? b->t.whole + stride : -1;
    b->t.bits = block_bands(b, z, b->t.band);
}

static void block_load(slide *s, int64_t r)
{
    block *b = (block *)s;
    const pass *p = s->p;
    int64_t z = tsr_lift_index(r, s->n, TSR_WAVELET_PERIODIC);
    b->t.slice = ring_row(s, r);
    block_place(b, z);
    if (!p->inverse) {
        slide_part(&b->t.s);
        narrow_slice(b, b->t.slice, &b->bad);
        return;
    }
    for (int64_t v = b->t.s.window[0]; v < b->t.s.window[1]; v++) {
        int64_t y = tsr_lift_index(v, b->t.s.n, TSR_WAVELET_PERIODIC);
        for (uint32_t high = 0, odd = (uint32_t)(y & 1) << 1; high < 2; high++) {
            const tsr_wavelet_array *band = &b->t.band[odd | high];
            p->rows->load(at(p, band, (y >> 1) * band->stride[1]), band->stride[0], (p->shape.n + 1 - high) / 2, 0,
                          load_scale(p, b->t.bits | odd | high), slice_row(&b->t, v) + (high ? (p->shape.n + 1) / 2 : 0) * (int64_t)p->rows->ring,
                          &b->bad);
        }
    }
    for (int k = 0; k < 4; k++) b->t.next_band[k].data = NULL;
    if (z + 1 < s->n) block_bands(b, z + 1, b->t.next_band);
}

static void block_store(slide *s, int64_t z)
{
    block *b = (block *)s;
    const pass *p = s->p;
    b->t.slice = ring_row(s, z);
    block_place(b, z);
    if (p->inverse) {
        narrow_slice(b, b->t.slice, &b->bad);
        slide_part(&b->t.s);
        return;
    }
    for (int64_t y = b->t.s.begin; y < b->t.s.end; y++)
        for (uint32_t high = 0, odd = (uint32_t)(y & 1) << 1; high < 2; high++) {
            const tsr_wavelet_array *band = &b->t.band[odd | high];
            const uint32_t bits = b->t.bits | odd | high;
            p->rows->store(slice_row(&b->t, y) + (high ? (p->shape.n + 1) / 2 : 0) * (int64_t)p->rows->ring, (p->shape.n + 1 - high) / 2, 0,
                           store_scale(p, bits), at(p, band, (y >> 1) * band->stride[1]), band->stride[0], streams(p, bits), &b->bad);
        }
}

static void block_lift(slide *s, const tsr_lift_step *step, int64_t i)
{
    block *b = (block *)s;
    const void *from[TSR_WAVELET_TAPS];
    for (int32_t k = 0; k < step->count; k++) from[k] = neighbour(s, i + step->first + 2 * k);
    s->p->rows->lift(step, ring_row(s, i), from, block_elements(b), &b->bad);
}

static int block_pair(slide *s, int64_t i)
{
    block *b = (block *)s;
    const pass *p = s->p;
    const int64_t n = p->shape.n, first = (n + 1) / 2, ring = (int64_t)p->rows->ring;
    char *x = ring_row(s, i), *behind = ring_row(s, i - 1);
    const char *before = neighbour(s, i - 2), *after = neighbour(s, i + 1);
    tsr_wavelet_array band[2][4]; /* of slice i and of slice i-1 */
    uint32_t bits[2];
    if (p->inverse || i >= s->end) goto in_place;
    for (int k = 0; k < 2; k++) {
        bits[k] = block_bands(b, i - k, band[k]);
        for (int of = 0; of < 4; of++) {
            const tsr_wavelet_array *a = &band[k][of];
            const int aligned = a->stride[1] * (int64_t)p->rows->element % 64 == 0;
            if (!is_plain(p, a, bits[k] | (uint32_t)of, (const char *)a->data) || (p->stream && !aligned)) goto in_place;
        }
    }
    for (int64_t y = b->t.s.begin; y < b->t.s.end; y++)
        for (int high = 0; high < 2; high++) {
            const int64_t offset = ((y - b->t.slice_first) * n + high * first) * ring;
            const uint32_t of = (uint32_t)(y & 1) << 1 | (uint32_t)high;
            char *to[2];
            for (int k = 0; k < 2; k++) to[k] = at(p, &band[k][of], (y >> 1) * band[k][of].stride[1]);
            const int past = (streams(p, bits[1] | of) ? TSR_ROWS_STREAM_OUT : 0) | (streams(p, bits[0] | of) ? TSR_ROWS_STREAM_COPY : 0);
            p->rows->pair(p->filter, before + offset, behind + offset, x + offset, after + offset, high ? n / 2 : first, to[1], to[0], past, &b->bad);
        }
    return 3;
in_place:
    p->rows->pair(p->filter, before, behind, x, after, block_elements(b), behind, NULL, 0, &b->bad);
    return 0;
}

static int64_t slice_bytes(const tsr_wavelet_level *l, const tsr_wavelet_rows *rows, int64_t height)
{
    return round64(height * l->size[0] * (int64_t)rows->ring);
}

/* Rows of a block, so that the ring of its slices fits the cache. */
static int64_t block_height(const tsr_wavelet_level *l, const tsr_wavelet_rows *rows, const tsr_lift_filter *f)
{
    int64_t height = BLOCK_BYTES / (ring_rows(f) * l->size[0] * (int64_t)rows->ring);
    return tsr_min64(height / 2 * 2, (l->size[1] + 1) / 2 * 2);
}

static void blocks_range(void *user, int64_t begin, int64_t end, int worker)
{
    const pass *p = (const pass *)user;
    char *work = p->work + worker * p->per_worker;
    block b = { .s = { .p = p, .n = p->l->size[2], .load = block_load, .lift = block_lift, .store = block_store, .pair = block_pair } };
    b.t = plane_make(p, work);
    b.s.zero = work + (1 + p->ring_rows) * p->shape.bytes;
    b.s.row_bytes = slice_bytes(p->l, p->rows, p->part + (p->inverse ? 2 * p->filter->reach : 0));
    b.s.ring = b.s.zero + b.s.row_bytes;
    memset(b.s.zero, 0, (size_t)b.s.row_bytes);
    for (int64_t task = begin; task < end; task++) {
        b.where = place_of(p->l, task / p->parts, 3);
        b.t.s.begin = task % p->parts * p->part;
        b.t.s.end = tsr_min64(b.t.s.begin + p->part, b.t.s.n);
        set_window(&b.t.s);
        b.t.slice_first = p->inverse ? b.t.s.window[0] : b.t.s.begin;
        b.rows = p->inverse ? b.t.s.window[1] - b.t.s.window[0] : b.t.s.end - b.t.s.begin;
        b.s.begin = 0;
        b.s.end = b.s.n;
        set_window(&b.s);
        slide_part(&b.s);
    }
    if (p->stream) p->rows->drain();
    report_lost(p, b.bad | b.t.bad);
}

void tsr_wavelet_run_blocks(pass *p)
{
    int64_t volumes = row_count(p->l, 3);
    prepare_planes(p, volumes);
    p->part = tsr_min64(p->part, block_height(p->l, p->rows, p->filter));
    run_parts(p, volumes, blocks_range);
}

/* ---- where they fit -------------------------------------------------------------------------------------------------------------------------- */

int tsr_wavelet_has_planes(const tsr_wavelet_level *l) { return (l->axes & 3) == 3 && !l->inplace; }

/* Blocks repeat the rows around them: at least half of the work is to be new. */
int tsr_wavelet_has_blocks(const tsr_wavelet_level *l, const tsr_wavelet_rows *rows, const tsr_lift_filter *filter)
{
    return l->axes == 7 && !l->inplace && block_height(l, rows, filter) >= tsr_min64(4 * filter->reach, l->size[1]);
}

int64_t tsr_wavelet_planes_bytes(const tsr_wavelet_level *l, const tsr_wavelet_rows *rows, const tsr_lift_filter *filter)
{
    int64_t ring = ring_rows(filter), bytes = (1 + ring) * shape_of(l->size[0], rows->ring).bytes;
    if (tsr_wavelet_has_blocks(l, rows, filter)) return bytes + (1 + ring) * slice_bytes(l, rows, block_height(l, rows, filter) + 2 * filter->reach);
    return bytes + (l->axes > 3 ? l->size[0] * l->size[1] * (int64_t)rows->element : 0);
}
