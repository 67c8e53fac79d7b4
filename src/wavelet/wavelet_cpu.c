/* wavelet/wavelet_cpu.c: the transforms on the CPU, as four kinds of passes over memory:
 *
 *   planes  x and y together: rows are split and lifted along x on their way into a ring of rows, lifted there along y as soon as their
 *           neighbours are in, and stored when they are final (the inverse: backwards). Each sample is read and written once. Parts of a
 *           plane are independent: each repeats the steps of the few rows around it. Of large planes the forward transform takes two levels
 *           at once: rows of the first one's approximation go from its ring to the second one's.
 *   blocks  x, y and z together: planes, a bundle of their rows at a time, and z in a ring of such bundles, where that fits a cache
 *   tiles   any other axis: a bundle of neighbouring lines is loaded, lifted and stored
 *   lines   x alone
 *
 * In place x is a pass of its own, since a plane's rows are read by their neighbours. docs/theory/wavelets.md 7 (lags of the steps), 2.12. */
#include "wavelet/keep.h"
#include "wavelet/shrink.h"
#include "wavelet/wavelet_pass.h"

/* ---- lines: rows along x ------------------------------------------------------------------------------------------------------------------- */

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
        if (p->inverse) {
            unlift_row(p, where.whole, row, 0, &bad);
        } else {
            (void)split_row(p, at(p, &p->l->whole, where.whole), p->l->whole.stride[0], row, &bad);
            store_bands(p, pair, 0, where.bits, row, &bad);
        }
    }
    report_lost(p, bad);
}

static void run_lines(pass *p)
{
    int64_t rows = row_count(p->l, 1);
    p->shape = shape_of(p->l->size[0], p->rows->ring);
    tsr_parallel(p->threads, rows, tsr_max64(1, SMALL / p->l->size[0]), lines_range, p);
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
    tsr_wavelet_kind kind = l->dtype == TSR_I32                        ? TSR_ROWS_I32
                            : l->dtype == TSR_F32                      ? TSR_ROWS_F32
                            : l->dtype == TSR_F64                      ? TSR_ROWS_F64
                            : filter->steps <= 2 && !filter->nonlinear ? TSR_ROWS_I16
                                                                       : TSR_ROWS_I16_WIDE;
    return TSR_ISA_SELECT(tsr_wavelet_rows_of)(kind);
}

static int64_t worker_bytes(const tsr_wavelet_level *l, const tsr_lift_filter *filter)
{
    const tsr_wavelet_rows *rows = rows_of(l, filter);
    int64_t bytes = 0;
    if (tsr_wavelet_has_blocks(l, rows, filter)) return round64(tsr_wavelet_planes_bytes(l, rows, filter)) + 128;
    for (int32_t a = tsr_wavelet_has_planes(l) ? 2 : 1; a < TSR_WAVELET_AXES; a++)
        if (l->axes >> a & 1) bytes = tsr_max64(bytes, (l->size[a] + 1) * tile_width(l->size[a], rows->ring) * (int64_t)rows->ring);
    if (tsr_wavelet_has_planes(l)) bytes = tsr_max64(bytes, tsr_wavelet_planes_bytes(l, rows, filter));
    else if (l->axes & 1) bytes = tsr_max64(bytes, shape_of(l->size[0], rows->ring).bytes);
    return round64(bytes) + 128; /* workers apart, and alignment */
}

static int32_t cpu_passes(const tsr_wavelet_level *l, const tsr_lift_filter *filter, int inverse)
{
    (void)inverse;
    int32_t axes = 0;
    for (int32_t a = 0; a < TSR_WAVELET_AXES; a++) axes += (int32_t)(l->axes >> a & 1);
    return tsr_wavelet_has_blocks(l, rows_of(l, filter), filter) ? 1 : axes - tsr_wavelet_has_planes(l);
}

static int has_two_levels(const tsr_wavelet_level *level, int32_t n, int32_t levels)
{
    return n + 1 < levels && tsr_wavelet_has_two_levels(&level[n]);
}

static int64_t two_levels_bytes(const tsr_wavelet_level level[2], const tsr_lift_filter *filter)
{
    return worker_bytes(&level[0], filter) + worker_bytes(&level[1], filter) + tsr_wavelet_handed_bytes(&level[0]);
}

static size_t cpu_work_bytes(tsr_queue *queue, int32_t threads, const tsr_wavelet_level *level, int32_t levels, const tsr_lift_filter *filter)
{
    (void)queue;
    int64_t most = 0;
    for (int32_t n = 0; n < levels; n++) {
        most = tsr_max64(most, worker_bytes(&level[n], filter));
        if (has_two_levels(level, n, levels)) most = tsr_max64(most, two_levels_bytes(&level[n], filter));
    }
    return (size_t)(most * threads);
}

/* Of planes; 0: none. */
static int32_t calm_bound(const pass *p, int32_t bound)
{
    const tsr_wavelet_level *l = p->l;
    return tsr_wavelet_has_planes(l) && tsr_min64(l->size[0], l->size[1]) >= TSR_CALM_LEAST ? bound : 0;
}

static void take_loops(pass *p)
{
    if (p->calm && p->rows->calm_loops && p->l->boundary == TSR_WAVELET_CLAMP) p->loops = p->rows->calm_loops(p->filter);
}

static void prepare(pass *p, tsr_queue *queue, const tsr_wavelet_job *job, const tsr_wavelet_level *l, int inverse)
{
    *p = (pass){ .l = l, .filter = inverse ? job->inverse : job->forward, .inverse = inverse, .first = 1, .lost = job->lost };
    p->rows = rows_of(l, p->filter);
    p->pairs = tsr_wavelet_pairs(p->rows, p->filter);
    p->back = p->inverse && p->filter->step[0].parity == 0 && tsr_wavelet_is_53(p->rows, p->filter) &&
              (p->l->boundary == TSR_WAVELET_CLAMP || p->l->boundary == TSR_WAVELET_SYMMETRIC);
    p->threads = row_count(l, 0) < SMALL ? 1 : queue->threads;
    if (p->rows->within && !p->pairs && !tsr_wavelet_has_blocks(l, p->rows, p->filter)) p->calm = calm_bound(p, p->filter->calm);
    take_loops(p);
    p->work = (char *)job->work;
    p->per_worker = worker_bytes(l, p->filter);
}

/* Planes whose rows are of 32 bits, since values may leave 16 between steps, or do as they are: rows of 16 are tried first, and do where all values are so
 * small that nothing leaves them. 0: not of this pass. */
static int has_narrow_rows(const pass *p, int *unfit, pass *narrow)
{
    const tsr_wavelet_level *l = p->l;
    int plain = l->whole.stride[0] == 1;
    for (uint32_t b = 0; b < 4; b++) plain = plain && (!p->inverse || l->band[b].stride[0] == 1);
    if ((l->dtype != TSR_I16 && l->dtype != TSR_I32) || l->axes != 3 || !plain || l->scaled) return 0;
    *narrow = *p;
    narrow->rows = TSR_ISA_SELECT(tsr_wavelet_rows_of)(l->dtype == TSR_I16 ? TSR_ROWS_I16 : TSR_ROWS_I32_NARROW);
    narrow->calm = calm_bound(p, p->filter->calm16);
    narrow->unfit = unfit;
    if (p->rows == narrow->rows || !(narrow->calm >> (p->inverse ? 0 : l->shift))) return 0;
    take_loops(narrow);
    return l->dtype == TSR_I16 || narrow->loops;
}

static void run_planes(pass *p)
{
    int unfit = 0;
    pass narrow;
    if (has_narrow_rows(p, &unfit, &narrow)) {
        tsr_wavelet_run_planes(&narrow);
        if (!unfit) return;
    }
    tsr_wavelet_run_planes(p);
}

/* Is the approximation read again by the next level, while it is in a cache? */
static int is_kept(const tsr_wavelet_job *job, const tsr_wavelet_level *l)
{
    int64_t bytes = (int64_t)tsr_dtype_size(l->dtype);
    for (int32_t a = 0; a < TSR_WAVELET_DIMENSIONS; a++) bytes *= tsr_wavelet_band_size(l, 0, a);
    return l + 1 < job->level + job->levels && bytes <= KEPT_BYTES;
}

static void forward_level(tsr_queue *queue, const tsr_wavelet_job *job, const tsr_wavelet_level *l)
{
    pass p;
    prepare(&p, queue, job, l, 0);
    p.keep = is_kept(job, l);
    uint32_t left = l->axes;
    memcpy(p.to, l->band, sizeof p.to);
    if (tsr_wavelet_has_blocks(l, p.rows, p.filter)) {
        p.last = 1;
        tsr_wavelet_run_blocks(&p);
        return;
    }
    if (left & 1) {
        left &= tsr_wavelet_has_planes(l) ? ~3u : ~1u;
        p.last = !left;
        if (tsr_wavelet_has_planes(l)) run_planes(&p);
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
    uint32_t left = l->axes, together = tsr_wavelet_has_planes(l) ? 3 : 1;
    memcpy(p.from, l->band, sizeof p.from);
    if (tsr_wavelet_has_blocks(l, p.rows, p.filter)) {
        p.last = 1;
        tsr_wavelet_run_blocks(&p);
        return;
    }
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

static void forward_two_levels(tsr_queue *queue, const tsr_wavelet_job *job, const tsr_wavelet_level level[2])
{
    pass p[2], narrow[2];
    int unfit = 0;
    for (int k = 0; k < 2; k++) {
        prepare(&p[k], queue, job, &level[k], 0);
        p[k].last = 1;
        memcpy(p[k].to, level[k].band, sizeof p[k].to);
        p[k].per_worker = two_levels_bytes(level, job->forward);
    }
    p[1].keep = is_kept(job, &level[1]);
    p[1].work += worker_bytes(&level[0], job->forward);
    p[0].coarser = &p[1];
    if (level->dtype == TSR_I32 && has_narrow_rows(&p[0], &unfit, &narrow[0]) && has_narrow_rows(&p[1], &unfit, &narrow[1])) {
        narrow[0].coarser = &narrow[1];
        tsr_wavelet_run_two_levels(narrow);
        if (!unfit) return;
    }
    tsr_wavelet_run_two_levels(p);
}

static int32_t cpu_together(tsr_queue *queue, const tsr_wavelet_job *job, int32_t first, int inverse)
{
    (void)queue;
    return !inverse && has_two_levels(job->level, first, job->levels) ? 2 : 1;
}

static tsr_status cpu_forward(tsr_queue *queue, const tsr_wavelet_job *job)
{
    for (int32_t n = 0; n < job->levels; n++)
        if (has_two_levels(job->level, n, job->levels)) forward_two_levels(queue, job, &job->level[n++]);
        else forward_level(queue, job, &job->level[n]);
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

const tsr_wavelet_ops tsr_wavelet_cpu = { .passes = cpu_passes,
                                          .together = cpu_together,
                                          .work_bytes = cpu_work_bytes,
                                          .forward = cpu_forward,
                                          .inverse = cpu_inverse,
                                          .copy = cpu_copy,
                                          .denoise = &tsr_shrink_cpu,
                                          .keep = &tsr_keep_cpu };
