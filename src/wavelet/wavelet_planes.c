/* wavelet/wavelet_planes.c: x and y together: rows of samples, transformed along x on their way into the ring of a slide along y; and two levels of
 * large planes at once. */
#include "wavelet/wavelet_slide.h"

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

/* With loops for all steps of two rows: they ask for it. */
static void look_for_both(plane *t, int64_t r)
{
    const pass *p = t->s.p;
    const int64_t low = (p->shape.n + 1) / 2 * (int64_t)p->rows->element;
    const char **soon = t->soon[(r - t->s.window[0]) & 1];
    soon[0] = t->ahead[0];
    soon[1] = p->inverse ? t->ahead[1] : t->ahead[0] ? t->ahead[0] + low : NULL;
    for (int k = 0; k < 2; k++) t->ahead[k] = t->ahead_end[k] = NULL;
}

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
    if (p->loops) look_for_both(t, r);
    if (p->inverse && t->slice) {
        memcpy(row + p->shape.low, slice_row(t, r), low);
        memcpy(row + p->shape.high, slice_row(t, r) + low, (size_t)(p->shape.n / 2) * ring);
    } else if (p->inverse) {
        load_bands(p, &t->band[odd], y >> 1, t->bits | odd, row, &t->bad);
        set_calm(s, r, is_calm_row(p, row));
    } else {
        fetch_ahead(t);
        const char *from = t->source[0] ? t->source[y & 1] : at(p, &p->l->whole, t->whole + y * p->l->whole.stride[1]);
        set_calm(s, r, split_row(p, from, t->source[0] ? 1 : p->l->whole.stride[0], row, &t->bad));
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
        fetch_ahead(t);
        unlift_row(p, t->whole + y * p->l->whole.stride[1], row, p->calm && *calm_row(s, y), &t->bad);
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

/* A calm row's last step on the way forward: what it makes goes to the bands at once; into the ring only where the other rows' step reads it. */
static void to_bands(plane *t, int64_t i, lift_job *j)
{
    slide *s = &t->s;
    const pass *p = s->p;
    const int64_t left = p->filter->step + p->filter->steps - j->step; /* steps, with this one */
    int stream[2];
    char *to[2];
    if (p->inverse || t->slice || t->coarser || left > 2 || i < s->begin || i >= s->end) return;
    if (!plane_targets(t, i, to, stream) || stream[0] || stream[1]) return;
    for (int k = 0; k < 2; k++) *(left == 1 ? &j->out[k] : &j->copy[k]) = to[k];
    s->stored[ring_place(s, i)] = 1;
}

static void lift_alone(plane *t, const lift_job *j)
{
    const pass *p = t->s.p;
    for (int k = 0; k < 2; k++) {
        const int64_t part = k ? p->shape.high : p->shape.low, n = (p->shape.n + 1 - k) / 2;
        const void *from[TSR_WAVELET_TAPS];
        char *x = j->row + part;
        for (int32_t m = 0; m < j->step->count; m++) from[m] = (const char *)j->from[m] + part;
        fetch_ahead(t);
        if (j->calm) p->rows->lift_calm(j->step, x, from, n, j->out[k] ? j->out[k] : x, j->copy[k]);
        else p->rows->lift(j->step, x, from, n, &t->bad);
    }
}

/* Are the jobs one of each step, in their order, all calm, and do the last two go to the bands, or neither? */
static int is_round(const plane *t)
{
    const tsr_lift_filter *f = t->s.p->filter;
    const int32_t n = f->steps;
    int round = t->s.p->loops && t->jobs == n;
    for (int32_t k = 0; k < n && round; k++) {
        const lift_job *j = &t->job[k];
        round = j->calm && j->step == &f->step[k] && (!k || !t->s.p->loops->chained || j->from[j->step->count - 1] == j[-1].row);
    }
    return round && !t->job[n - 2].copy[0] == !t->job[n - 1].out[0];
}

static void plane_flush(slide *s)
{
    plane *t = (plane *)s;
    const pass *p = s->p;
    if (is_round(t)) {
        const lift_job *last = &t->job[t->jobs - 1];
        tsr_calm_rows r = { .begin = { p->shape.low / (int64_t)p->rows->ring, p->shape.high / (int64_t)p->rows->ring },
                            .n = { (p->shape.n + 1) / 2, p->shape.n / 2 } };
        for (int32_t k = 0; k < t->jobs; k++) {
            r.x[k] = t->job[k].row;
            memcpy(r.from[k], t->job[k].from, sizeof r.from[k]);
        }
        for (int k = 0; k < 2; k++) {
            r.out[0][k] = last[-1].copy[k];
            r.out[1][k] = last->out[k];
            for (int j = 0; j < 2; j++) r.ahead[j][k] = t->soon[j][k] ? t->soon[j][k] : last->row;
        }
        p->loops->across(p->filter, &r);
    } else {
        for (int32_t k = 0; k < t->jobs; k++) lift_alone(t, &t->job[k]);
    }
    t->jobs = 0;
}

static void plane_lift(slide *s, const tsr_lift_step *step, int64_t i)
{
    plane *t = (plane *)s;
    lift_job *j = &t->job[t->jobs++];
    *j = (lift_job){ .step = step, .row = ring_row(s, i), .calm = is_calm(s, step, i) };
    for (int32_t k = 0; k < step->count; k++) j->from[k] = neighbour(s, i + step->first + 2 * k);
    if (j->calm) to_bands(t, i, j);
    if (!s->flush || t->jobs == CALM_JOBS) plane_flush(s);
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

plane tsr_wavelet_plane_make(const pass *p, char *work)
{
    plane t = { .s = { .p = p,
                       .n = p->l->size[1],
                       .row_bytes = p->shape.bytes,
                       .load = plane_load,
                       .lift = plane_lift,
                       .store = plane_store,
                       .flush = p->loops ? plane_flush : NULL,
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
    plane t = tsr_wavelet_plane_make(p, p->work + worker * p->per_worker);
    for (int64_t task = begin; task < end; task++) {
        plane_place(&t, task / p->parts);
        if (p->aliased) move_plane(&t, t.s.ring + p->ring_rows * p->shape.bytes);
        t.s.begin = task % p->parts * p->part;
        t.s.end = tsr_min64(t.s.begin + p->part, t.s.n);
        set_window(&t.s);
        slide_part(&t.s);
    }
    if (p->stream) p->rows->drain();
    if (!is_vain(p)) report_lost(p, t.bad);
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
    plane t = tsr_wavelet_plane_make(p, p->work + worker * p->per_worker), u = tsr_wavelet_plane_make(q, q->work + worker * q->per_worker);
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
        if (!is_vain(p)) slide_end(&u.s);
    }
    if (p->stream || q->stream) p->rows->drain();
    if (!is_vain(p)) report_lost(p, t.bad | u.bad);
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

int tsr_wavelet_has_planes(const tsr_wavelet_level *l) { return (l->axes & 3) == 3 && !l->inplace; }
