/* wavelet/wavelet_cpu.c: the transforms on the CPU, as three kinds of passes over memory:
 *
 *   planes  x and y together: rows are split and lifted along x on their way into a ring of rows, lifted there along y as soon as their
 *           neighbours are in, and stored when they are final (the inverse: backwards). Each sample is read and written once. Parts of a
 *           plane are independent: each repeats the steps of the few rows around it.
 *   tiles   any other axis: a bundle of neighbouring lines is loaded, lifted and stored
 *   lines   x alone
 *
 * In place x is a pass of its own, since a plane's rows are read by their neighbours. Spec wavelet.md 2.8 (lags of the steps), 2.12. */
#include "core/parallel.h"
#include "wavelet/wavelet_isa.h"

enum { LARGE_BYTES = 24 << 20, PAD_BYTES = 64, TILE_BYTES = 256 << 10, NARROWEST_TILE = 16, WIDEST_TILE = 512, SMALL = 1 << 14, AHEAD_LINES = 32 };

static int64_t round64(int64_t bytes) { return (bytes + 63) / 64 * 64; }

/* A row in work: even samples, then odd ones, each with room for what lies beyond its ends. */
typedef struct row_shape {
    int64_t n, low, high, bytes;
} row_shape; /* samples; offsets of the two parts and total, in bytes */

static row_shape shape_of(int64_t n, size_t ring)
{
    row_shape s = { n, PAD_BYTES, 0, 0 };
    s.high = s.low + round64((n + 1) / 2 * (int64_t)ring) + PAD_BYTES;
    s.bytes = s.high + round64(n / 2 * (int64_t)ring) + PAD_BYTES;
    return s;
}

typedef struct pass {
    const tsr_wavelet_level *l;
    const tsr_wavelet_rows *rows;
    const tsr_lift_filter *filter; /* of the direction */
    int inverse, first, last;      /* first: samples or coefficients are raised or scaled on loading; last: on storing */
    int threads;
    char *work;
    int64_t per_worker;
    uint32_t *lost;
    tsr_wavelet_array from[TSR_WAVELET_BANDS], to[TSR_WAVELET_BANDS]; /* bands before and after the pass */
    int stream;                                                       /* the result is too large for the caches, and no pass follows */
    int32_t axis;
    uint32_t bits;         /* tiles: of the other axes */
    int64_t width, blocks; /* tiles: lanes, and how many of them side by side */
    row_shape shape;
    int64_t ring_rows, part, parts; /* planes: rows of a part, parts of a plane */
    int aliased;                    /* planes: `from` lies in the memory of the samples */
} pass;

static int32_t raise_bits(const pass *p) { return p->first && !p->inverse ? p->l->shift : 0; }
static int32_t lower_bits(const pass *p) { return p->last && p->inverse ? p->l->shift : 0; }
static double load_scale(const pass *p, uint32_t bits) { return p->l->scaled && p->first && p->inverse ? 1.0 / p->l->scale[bits] : 1.0; }
static double store_scale(const pass *p, uint32_t bits) { return p->l->scaled && p->last && !p->inverse ? p->l->scale[bits] : 1.0; }

static void report_lost(const pass *p, uint32_t bad)
{
    if (bad && p->lost) __atomic_store_n(p->lost, 1u, __ATOMIC_RELAXED);
}

static char *at(const pass *p, const tsr_wavelet_array *a, int64_t offset) { return (char *)a->data + offset * (int64_t)p->rows->element; }

/* ---- along x: one row in work -------------------------------------------------------------------------------------------------------------- */

/* Fills the places beyond the ends of the parity q, [from, 0) and [count, to). */
static void extend(const pass *p, char *part, int32_t q, int64_t n, int64_t from, int64_t to)
{
    size_t ring = p->rows->ring;
    int64_t count = (n + 1 - q) / 2;
    for (int64_t j = from; j < to; j = j == -1 ? count : j + 1) {
        int64_t i = tsr_lift_index(2 * j + q, n, (int32_t)p->l->boundary);
        if (i < 0) memset(part + j * (int64_t)ring, 0, ring);
        else memcpy(part + j * (int64_t)ring, part + (i >> 1) * (int64_t)ring, ring);
    }
}

static void lift_row(const pass *p, char *row, uint32_t *bad)
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
        p->rows->lift(step, x, neighbours, count, bad);
    }
}

/* ---- lines: rows along x ------------------------------------------------------------------------------------------------------------------- */

/* Row (or plane) number r, counted over the axes from `axis` on: its place in the samples, its bits, and its number along each axis of a band. */
typedef struct place {
    int64_t whole, index[TSR_WAVELET_DIMENSIONS];
    uint32_t bits;
} place;

static place place_of(const tsr_wavelet_level *l, int64_t r, int32_t axis)
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
static tsr_wavelet_array band_at(const pass *p, const tsr_wavelet_array *band, const place *where)
{
    tsr_wavelet_array b = *band;
    int64_t offset = 0;
    for (int32_t a = 1; a < TSR_WAVELET_DIMENSIONS; a++) offset += where->index[a] * b.stride[a];
    b.data = at(p, band, offset);
    return b;
}

/* Row y of two bands that are low and high along x, into the work row and out of it. */
static void load_bands(const pass *p, const tsr_wavelet_array pair[2], int64_t y, uint32_t bits, char *row, uint32_t *bad)
{
    const row_shape *s = &p->shape;
    p->rows->load(at(p, &pair[0], y * pair[0].stride[1]), pair[0].stride[0], (s->n + 1) / 2, 0, load_scale(p, bits), row + s->low, bad);
    p->rows->load(at(p, &pair[1], y * pair[1].stride[1]), pair[1].stride[0], s->n / 2, 0, load_scale(p, bits | 1), row + s->high, bad);
}

static void store_bands(const pass *p, const tsr_wavelet_array pair[2], int64_t y, uint32_t bits, const char *row, uint32_t *bad)
{
    const row_shape *s = &p->shape;
    p->rows->store(row + s->low, (s->n + 1) / 2, 0, store_scale(p, bits), at(p, &pair[0], y * pair[0].stride[1]), pair[0].stride[0],
                   p->stream, bad);
    p->rows->store(row + s->high, s->n / 2, 0, store_scale(p, bits | 1), at(p, &pair[1], y * pair[1].stride[1]), pair[1].stride[0], p->stream, bad);
}

static void split_row(const pass *p, int64_t offset, char *row, uint32_t *bad)
{
    const tsr_wavelet_array *whole = &p->l->whole;
    p->rows->split(at(p, whole, offset), whole->stride[0], p->shape.n, raise_bits(p), row + p->shape.low, row + p->shape.high, bad);
}

static void merge_row(const pass *p, int64_t offset, const char *row, uint32_t *bad)
{
    const tsr_wavelet_array *whole = &p->l->whole;
    p->rows->merge(row + p->shape.low, row + p->shape.high, p->shape.n, lower_bits(p), at(p, whole, offset), whole->stride[0], p->stream, bad);
}

static void narrow_row(const pass *p, char *row, uint32_t *bad)
{
    if (!p->rows->narrow) return;
    p->rows->narrow(row + p->shape.low, (p->shape.n + 1) / 2, bad);
    p->rows->narrow(row + p->shape.high, p->shape.n / 2, bad);
}

static void lines_range(void *user, int64_t begin, int64_t end, int worker)
{
    const pass *p = (const pass *)user;
    const tsr_wavelet_array *bands = p->inverse ? p->from : p->to;
    char *row = p->work + worker * p->per_worker;
    uint32_t bad = 0;
    for (int64_t r = begin; r < end; r++) {
        place where = place_of(p->l, r, 1);
        const tsr_wavelet_array pair[2] = { band_at(p, &bands[where.bits], &where), band_at(p, &bands[where.bits | 1], &where) };
        if (p->inverse) load_bands(p, pair, 0, where.bits, row, &bad);
        else split_row(p, where.whole, row, &bad);
        lift_row(p, row, &bad);
        if (p->inverse) merge_row(p, where.whole, row, &bad);
        else store_bands(p, pair, 0, where.bits, row, &bad);
    }
    report_lost(p, bad);
}

static int64_t row_count(const tsr_wavelet_level *l, int32_t axis)
{
    int64_t rows = 1;
    for (int32_t a = axis; a < TSR_WAVELET_DIMENSIONS; a++) rows *= l->size[a];
    return rows;
}

static void run_lines(pass *p)
{
    int64_t rows = row_count(p->l, 1);
    p->shape = shape_of(p->l->size[0], p->rows->ring);
    tsr_parallel(p->threads, rows, tsr_max64(1, SMALL / p->l->size[0]), lines_range, p);
}

/* ---- planes: x and y ------------------------------------------------------------------------------------------------------------------------- */

/* The part [begin, end) of a plane in work; window: the rows it looks at, virtual ones (beyond 0 .. ny) where the boundary is periodic. */
typedef struct slide {
    const pass *p;
    int64_t begin, end, window[2], ny;
    int64_t next[TSR_WAVELET_STEPS], stop[TSR_WAVELET_STEPS]; /* rows of each step: the next one, one past the last */
    int64_t out;                                              /* next row to be stored */
    char *ring, *zero;
    int64_t whole;             /* offset of the plane in the samples, */
    uint32_t bits;             /* its bits, */
    tsr_wavelet_array band[4]; /* its bands by the bits of x and y */
    uint32_t bad;
    const char *ahead[2], *ahead_end[2]; /* what the row after next will be made of: asked for piece by piece while this one is in work */
} slide;

static char *ring_row(const slide *s, int64_t r) { return s->ring + (r - s->window[0]) % s->p->ring_rows * s->p->shape.bytes; }

/* Memory then works while the arithmetic does. */
static void slide_ahead(slide *s)
{
    for (int k = 0; k < 2; k++)
        for (int piece = 0; piece < AHEAD_LINES && s->ahead[k] < s->ahead_end[k]; piece++, s->ahead[k] += 64) __builtin_prefetch(s->ahead[k], 0, 2);
}

static void slide_look(slide *s, int64_t y)
{
    const pass *p = s->p;
    const tsr_wavelet_array *pair = &s->band[(uint32_t)(y & 1) << 1], *whole = &p->l->whole;
    int64_t n = p->shape.n, element = (int64_t)p->rows->element;
    for (int k = 0; k < 2; k++) s->ahead[k] = s->ahead_end[k] = NULL;
    if (y >= s->ny) return;
    for (int k = 0; k < 2 && p->inverse; k++) {
        if (pair[k].stride[0] != 1) continue;
        s->ahead[k] = at(p, &pair[k], (y >> 1) * pair[k].stride[1]);
        s->ahead_end[k] = s->ahead[k] + (n + 1 - k) / 2 * element;
    }
    if (!p->inverse && whole->stride[0] == 1) {
        s->ahead[0] = at(p, whole, s->whole + y * whole->stride[1]);
        s->ahead_end[0] = s->ahead[0] + n * element;
    }
}

static void slide_load(slide *s, int64_t r)
{
    const pass *p = s->p;
    char *row = ring_row(s, r);
    int64_t y = tsr_lift_index(r, s->ny, TSR_WAVELET_PERIODIC);
    uint32_t odd = (uint32_t)(y & 1) << 1;
    slide_look(s, y + 2);
    if (p->inverse) {
        load_bands(p, &s->band[odd], y >> 1, s->bits | odd, row, &s->bad);
        return;
    }
    split_row(p, s->whole + y * p->l->whole.stride[1], row, &s->bad);
    slide_ahead(s);
    lift_row(p, row, &s->bad);
    slide_ahead(s);
    narrow_row(p, row, &s->bad);
}

static void slide_store(slide *s, int64_t y)
{
    const pass *p = s->p;
    char *row = ring_row(s, y);
    uint32_t odd = (uint32_t)(y & 1) << 1;
    slide_ahead(s);
    if (!p->inverse) {
        store_bands(p, &s->band[odd], y >> 1, s->bits | odd, row, &s->bad);
        return;
    }
    narrow_row(p, row, &s->bad);
    lift_row(p, row, &s->bad);
    slide_ahead(s);
    merge_row(p, s->whole + y * p->l->whole.stride[1], row, &s->bad);
}

static void slide_lift(slide *s, const tsr_lift_step *step, int64_t i)
{
    const pass *p = s->p;
    const char *from[TSR_WAVELET_TAPS];
    const void *low[TSR_WAVELET_TAPS], *high[TSR_WAVELET_TAPS];
    char *row = ring_row(s, i);
    for (int32_t t = 0; t < step->count; t++) {
        int64_t j = i + step->first + 2 * t;
        if (p->l->boundary != TSR_WAVELET_PERIODIC) j = tsr_lift_index(j, s->ny, (int32_t)p->l->boundary);
        from[t] = j < 0 && p->l->boundary == TSR_WAVELET_ZERO ? s->zero : ring_row(s, j);
        low[t] = from[t] + p->shape.low;
        high[t] = from[t] + p->shape.high;
    }
    slide_ahead(s);
    p->rows->lift(step, row + p->shape.low, low, (p->shape.n + 1) / 2, &s->bad);
    slide_ahead(s);
    p->rows->lift(step, row + p->shape.high, high, p->shape.n / 2, &s->bad);
}

/* Everything that rows [.., loaded] allow. Step k+1 follows step k at a distance at which its neighbours are ready and no row that step k has
 * yet to read is overwritten. `flush`: no more rows will come. */
static void slide_advance(slide *s, int64_t loaded, int flush)
{
    const tsr_lift_filter *f = s->p->filter;
    int64_t front = loaded, settled = flush ? s->end : INT64_MAX;
    for (int32_t k = 0; k < f->steps; k++) {
        int32_t lag = k ? f->step[k - 1].reach > f->step[k].reach ? f->step[k - 1].reach : f->step[k].reach : f->step[0].reach;
        front -= lag;
        int64_t stop = flush ? s->stop[k] : tsr_min64(front + 1, s->stop[k]);
        for (; s->next[k] < stop; s->next[k] += 2) slide_lift(s, &f->step[k], s->next[k]);
        if (!flush) settled = tsr_min64(settled, s->next[k] - f->step[k].reach); /* rows below are read no more */
    }
    for (; s->out < tsr_min64(settled, s->end); s->out++) slide_store(s, s->out);
}

static void slide_part(slide *s)
{
    const tsr_lift_filter *f = s->p->filter;
    int periodic = s->p->l->boundary == TSR_WAVELET_PERIODIC;
    int64_t reach = 0;
    s->window[0] = s->begin - f->reach;
    s->window[1] = s->end + f->reach;
    if (!periodic) {
        s->window[0] = tsr_max64(s->window[0], 0);
        s->window[1] = tsr_min64(s->window[1], s->ny);
    }
    for (int32_t k = 0; k < f->steps; k++) {
        reach += f->step[k].reach; /* near an end of the window that is none of the plane, rows lack neighbours */
        s->next[k] = s->window[0] + (periodic || s->window[0] > 0 ? reach : 0);
        s->stop[k] = s->window[1] - (periodic || s->window[1] < s->ny ? reach : 0);
        s->next[k] += (s->next[k] ^ f->step[k].parity) & 1;
    }
    s->out = s->begin;
    for (int64_t r = s->window[0]; r < s->window[1]; r++) {
        slide_load(s, r);
        slide_advance(s, r, 0);
    }
    slide_advance(s, s->window[1], 1);
}

/* Brings the bands of a plane that lie where its samples will, out of the way. */
static void move_plane(slide *s, char *copy)
{
    const pass *p = s->p;
    const tsr_wavelet_level *l = p->l;
    for (uint32_t b = 0; b < 4; b++) {
        tsr_wavelet_array to = { copy, { 1, tsr_wavelet_band_size(l, b, 0) } };
        int64_t nx = to.stride[1], ny = tsr_wavelet_band_size(l, b, 1), element = (int64_t)p->rows->element;
        for (int64_t y = 0; y < ny; y++, copy += nx * element) {
            const char *from = at(p, &s->band[b], y * s->band[b].stride[1]);
            if (s->band[b].stride[0] == 1) memcpy(copy, from, (size_t)(nx * element));
            else
                for (int64_t x = 0; x < nx; x++) memcpy(copy + x * element, from + x * s->band[b].stride[0] * element, (size_t)element);
        }
        s->band[b] = to;
    }
}

static void planes_range(void *user, int64_t begin, int64_t end, int worker)
{
    const pass *p = (const pass *)user;
    const tsr_wavelet_array *bands = p->inverse ? p->from : p->to;
    slide s = { .p = p, .ny = p->l->size[1] };
    s.zero = p->work + worker * p->per_worker;
    s.ring = s.zero + p->shape.bytes;
    memset(s.zero, 0, (size_t)p->shape.bytes);
    for (int64_t task = begin; task < end; task++) {
        place where = place_of(p->l, task / p->parts, 2);
        s.whole = where.whole;
        s.bits = where.bits;
        for (uint32_t b = 0; b < 4; b++) s.band[b] = band_at(p, &bands[where.bits | b], &where);
        if (p->aliased) move_plane(&s, s.ring + p->ring_rows * p->shape.bytes);
        s.begin = task % p->parts * p->part;
        s.end = tsr_min64(s.begin + p->part, s.ny);
        slide_part(&s);
    }
    if (p->stream) p->rows->drain();
    report_lost(p, s.bad);
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

static void run_planes(pass *p)
{
    const tsr_wavelet_level *l = p->l;
    int64_t planes = row_count(l, 2), least = tsr_max64(16, 4 * p->filter->reach);
    p->stream = p->last && row_count(l, 0) * (int64_t)p->rows->element > LARGE_BYTES;
    p->shape = shape_of(l->size[0], p->rows->ring);
    p->ring_rows = ring_rows(p->filter);
    p->part = l->size[1];
    if (p->threads > 1 && planes < 4 * p->threads && !p->aliased) p->part = tsr_max64(least, tsr_ceil_div(l->size[1] * planes, 4 * p->threads));
    p->part = (p->part + 1) / 2 * 2;
    p->parts = tsr_ceil_div(l->size[1], p->part);
    tsr_parallel(p->threads, planes * p->parts, 1, planes_range, p);
}

/* ---- tiles: any axis, a bundle of lines at a time ----------------------------------------------------------------------------------------------- */

static int64_t tile_width(int64_t n, size_t ring)
{
    int64_t width = TILE_BYTES / (n * (int64_t)ring) / NARROWEST_TILE * NARROWEST_TILE;
    return tsr_max64(NARROWEST_TILE, tsr_min64(width, WIDEST_TILE));
}

static void tile_lift(const pass *p, char *tile, int64_t lanes, uint32_t *bad)
{
    int64_t n = p->l->size[p->axis], pitch = p->width * (int64_t)p->rows->ring;
    char *zero = tile + n * pitch;
    for (int32_t k = 0; k < p->filter->steps; k++) {
        const tsr_lift_step *step = &p->filter->step[k];
        for (int64_t i = step->parity; i < n; i += 2) {
            const void *neighbours[TSR_WAVELET_TAPS];
            for (int32_t t = 0; t < step->count; t++) {
                int64_t j = tsr_lift_index(i + step->first + 2 * t, n, (int32_t)p->l->boundary);
                neighbours[t] = j < 0 ? zero : tile + j * pitch;
            }
            p->rows->lift(step, tile + i * pitch, neighbours, lanes, bad);
        }
    }
}

static void tiles_range(void *user, int64_t begin, int64_t end, int worker)
{
    const pass *p = (const pass *)user;
    const tsr_wavelet_level *l = p->l;
    const uint32_t own = 1u << p->axis;
    char *tile = p->work + worker * p->per_worker;
    int64_t n = l->size[p->axis], pitch = p->width * (int64_t)p->rows->ring, across = tsr_wavelet_band_size(l, p->bits, 0);
    uint32_t bad = 0;
    memset(tile + n * pitch, 0, (size_t)pitch);
    for (int64_t task = begin; task < end; task++) {
        int64_t x = task % p->blocks * p->width, lanes = tsr_min64(p->width, across - x), rest = task / p->blocks,
                index[TSR_WAVELET_DIMENSIONS] = { x };
        for (int32_t a = 1; a < TSR_WAVELET_DIMENSIONS; a++) {
            if (a == p->axis) continue;
            int64_t count = tsr_wavelet_band_size(l, p->bits, a);
            index[a] = rest % count;
            rest /= count;
        }
        for (int store = 0; store < 2; store++) {
            if (store) tile_lift(p, tile, lanes, &bad);
            for (uint32_t high = 0; high < 2; high++) {
                uint32_t bits = p->bits | (high ? own : 0);
                const tsr_wavelet_array *b = store ? &p->to[bits] : &p->from[bits];
                int64_t offset = 0;
                for (int32_t a = 0; a < TSR_WAVELET_DIMENSIONS; a++) offset += index[a] * b->stride[a];
                for (int64_t i = high; i < n; i += 2, offset += b->stride[p->axis]) {
                    char *row = tile + i * pitch;
                    if (store) p->rows->store(row, lanes, lower_bits(p), store_scale(p, bits), at(p, b, offset), b->stride[0], 0, &bad);
                    else p->rows->load(at(p, b, offset), b->stride[0], lanes, raise_bits(p), load_scale(p, bits), row, &bad);
                }
            }
        }
    }
    report_lost(p, bad);
}

static void run_tiles(pass *p)
{
    const tsr_wavelet_level *l = p->l;
    uint32_t others = l->axes & ~(1u << p->axis);
    p->width = tile_width(l->size[p->axis], p->rows->ring);
    for (p->bits = 0; p->bits < TSR_WAVELET_BANDS; p->bits++) {
        if (p->bits & ~others) continue;
        int64_t across = tsr_wavelet_band_size(l, p->bits, 0), lines = 1;
        p->blocks = tsr_ceil_div(across, p->width);
        for (int32_t a = 1; a < TSR_WAVELET_DIMENSIONS; a++) lines *= a == p->axis ? 1 : tsr_wavelet_band_size(l, p->bits, a);
        tsr_parallel(p->threads, lines * p->blocks, tsr_max64(1, SMALL / (l->size[p->axis] * tsr_min64(p->width, across + 1))), tiles_range, p);
    }
}

/* ---- levels ---------------------------------------------------------------------------------------------------------------------------------------- */

static const tsr_wavelet_rows *rows_of(const tsr_wavelet_level *l, const tsr_lift_filter *filter)
{
    tsr_wavelet_kind kind = l->dtype == TSR_I32   ? TSR_ROWS_I32
                            : l->dtype == TSR_F32 ? TSR_ROWS_F32
                            : l->dtype == TSR_F64 ? TSR_ROWS_F64
                            : filter->steps <= 2  ? TSR_ROWS_I16
                                                  : TSR_ROWS_I16_WIDE;
    return TSR_ISA_SELECT(tsr_wavelet_rows_of)(kind);
}

static int has_planes(const tsr_wavelet_level *l) { return (l->axes & 3) == 3 && !l->inplace; }

static int64_t worker_bytes(const tsr_wavelet_level *l, const tsr_lift_filter *filter)
{
    const tsr_wavelet_rows *rows = rows_of(l, filter);
    int64_t bytes = 0, row = shape_of(l->size[0], rows->ring).bytes;
    for (int32_t a = has_planes(l) ? 2 : 1; a < TSR_WAVELET_AXES; a++)
        if (l->axes >> a & 1) bytes = tsr_max64(bytes, (l->size[a] + 1) * tile_width(l->size[a], rows->ring) * (int64_t)rows->ring);
    if (has_planes(l)) bytes = tsr_max64(bytes, (1 + ring_rows(filter)) * row + (l->axes > 3 ? l->size[0] * l->size[1] * (int64_t)rows->element : 0));
    else if (l->axes & 1) bytes = tsr_max64(bytes, row);
    return round64(bytes) + 128; /* workers apart, and alignment */
}

static size_t cpu_work_bytes(int32_t threads, const tsr_wavelet_level *level, int32_t levels, const tsr_lift_filter *filter)
{
    int64_t most = 0;
    for (int32_t n = 0; n < levels; n++) most = tsr_max64(most, worker_bytes(&level[n], filter));
    return (size_t)(most * threads);
}

static void prepare(pass *p, tsr_queue *queue, const tsr_wavelet_job *job, const tsr_wavelet_level *l, int inverse)
{
    *p = (pass){ .l = l, .filter = inverse ? job->inverse : job->forward, .inverse = inverse, .first = 1, .lost = job->lost };
    p->rows = rows_of(l, p->filter);
    p->threads = row_count(l, 0) < SMALL ? 1 : queue->threads;
    p->work = (char *)job->work;
    p->per_worker = worker_bytes(l, p->filter);
}

static void forward_level(tsr_queue *queue, const tsr_wavelet_job *job, const tsr_wavelet_level *l)
{
    pass p;
    prepare(&p, queue, job, l, 0);
    uint32_t left = l->axes;
    memcpy(p.to, l->band, sizeof p.to);
    if (left & 1) {
        left &= has_planes(l) ? ~3u : ~1u;
        p.last = !left;
        if (has_planes(l)) run_planes(&p);
        else run_lines(&p);
        p.first = 0;
    }
    for (p.axis = 1; p.axis < TSR_WAVELET_AXES; p.axis++) {
        if (!(left >> p.axis & 1)) continue;
        for (uint32_t bits = 0; bits < TSR_WAVELET_BANDS; bits++)
            p.from[bits] = p.first ? tsr_wavelet_interleaved(&l->whole, l->axes, bits, p.rows->element) : l->band[bits];
        left &= ~(1u << p.axis);
        p.last = !left;
        run_tiles(&p);
        p.first = 0;
    }
}

static void inverse_level(tsr_queue *queue, const tsr_wavelet_job *job, const tsr_wavelet_level *l)
{
    pass p;
    prepare(&p, queue, job, l, 1);
    uint32_t left = l->axes, together = has_planes(l) ? 3 : 1;
    memcpy(p.from, l->band, sizeof p.from);
    for (p.axis = TSR_WAVELET_AXES - 1; p.axis > 0; p.axis--) {
        if (!((left & ~together) >> p.axis & 1)) continue;
        left &= ~(1u << p.axis);
        tsr_wavelet_partly(l, left, p.rows->element, p.to);
        p.last = !left;
        run_tiles(&p);
        memcpy(p.from, p.to, sizeof p.from);
        p.first = 0;
    }
    p.last = 1;
    p.aliased = !p.first;
    if (left == 3 && together == 3) run_planes(&p);
    else if (left) run_lines(&p);
}

static tsr_status cpu_forward(tsr_queue *queue, const tsr_wavelet_job *job)
{
    for (int32_t n = 0; n < job->levels; n++) forward_level(queue, job, &job->level[n]);
    return TSR_OK;
}

static tsr_status cpu_inverse(tsr_queue *queue, const tsr_wavelet_job *job)
{
    for (int32_t n = job->levels - 1; n >= 0; n--) inverse_level(queue, job, &job->level[n]);
    return TSR_OK;
}

/* ---- copies ------------------------------------------------------------------------------------------------------------------------------------------ */

struct copy {
    size_t element;
    const int64_t *size;
    const tsr_wavelet_array *from, *to;
};

static void copy_rows(void *user, int64_t begin, int64_t end, int worker)
{
    const struct copy *c = (const struct copy *)user;
    (void)worker;
    for (int64_t row = begin; row < end; row++) {
        int64_t rest = row, from = 0, to = 0, fs = c->from->stride[0], ts = c->to->stride[0], element = (int64_t)c->element;
        for (int32_t a = 1; a < TSR_WAVELET_DIMENSIONS; a++) {
            from += rest % c->size[a] * c->from->stride[a];
            to += rest % c->size[a] * c->to->stride[a];
            rest /= c->size[a];
        }
        const char *p = (const char *)c->from->data + from * element;
        char *q = (char *)c->to->data + to * element;
        if (fs == 1 && ts == 1) memcpy(q, p, (size_t)(c->size[0] * element));
        else
            for (int64_t x = 0; x < c->size[0]; x++) memcpy(q + x * ts * element, p + x * fs * element, c->element);
    }
}

static tsr_status cpu_copy(tsr_queue *queue, size_t element, const int64_t size[TSR_WAVELET_DIMENSIONS], const tsr_wavelet_array *from,
                           const tsr_wavelet_array *to)
{
    struct copy c = { element, size, from, to };
    int64_t rows = size[1] * size[2] * size[3] * size[4];
    tsr_parallel(queue->threads, rows, tsr_max64(1, SMALL / tsr_max64(1, size[0])), copy_rows, &c);
    return TSR_OK;
}

const tsr_wavelet_ops tsr_wavelet_cpu = { .work_bytes = cpu_work_bytes, .forward = cpu_forward, .inverse = cpu_inverse, .copy = cpu_copy };
