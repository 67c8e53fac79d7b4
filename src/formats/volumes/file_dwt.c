/* formats/volumes/file_dwt.c: transforms from file to file, a slab at a time. Approximations go back and forth between two nameless files, one level in each;
 * coefficients are collected in a third. */
#include "tessera/wavelet.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/pieces.h"
#include "tessera/filter.h"
#include "wavelet/slab.h"
#include "volume/volume_ops.h"
#include "wavelet/volume_dwt.h"

enum { STAGING = 1 << 20, FIXED = 8 << 20 }; /* bytes converted at once; buffers of files and of the conversion, all together */

typedef struct slabs {
    tsr_context *context, *host; /* of the transform; of conversions */
    tsr_pieces *source;
    tsr_wavelet_plan *whole; /* tells where everything lies */
    int32_t axis;
    size_t element;
    int64_t room;           /* elements of a window */
    void *in, *out, *io;    /* on the device; io on the host, where that is not the device */
    void *staging;          /* voxels in the type of the file */
    tsr_wavelet_plan *plan; /* of the last window */
    int32_t plan_level;
    int64_t plan_length;
    void *workspace;
    int64_t workspace_bytes;
    tsr_spool *approximation[2], *coefficients; /* of even and odd levels */
    tsr_dtype origin;
    const tsr_progress *progress;
    tsr_wavelet_file_info info;
    void *row; /* of a strided band */
    /* the way back: the slab of the finest level that is there */
    int64_t ready_begin, ready_end; /* samples of the axis */
    const char *ready;
    void *ready_origin; /* converted */
} slabs;

static void release(slabs *s)
{
    const size_t bytes = (size_t)s->room * s->element;
    tsr_wavelet_plan_destroy(&s->plan);
    tsr_wavelet_plan_destroy(&s->whole);
    if (s->in) tsr_device_release(s->context, s->in, bytes);
    if (s->out) tsr_device_release(s->context, s->out, bytes);
    if (s->workspace) tsr_device_release(s->context, s->workspace, (size_t)s->workspace_bytes);
    tsr_host_release(NULL, s->io, bytes);
    tsr_host_release(NULL, s->ready_origin, (size_t)s->room * tsr_dtype_size(s->origin));
    free(s->staging);
    free(s->row);
    tsr_spool_close(&s->approximation[0]);
    tsr_spool_close(&s->approximation[1]);
    tsr_spool_close(&s->coefficients);
    tsr_pieces_close(&s->source);
    tsr_context_destroy(&s->host);
}

/* ---- how thick a slab is ---------------------------------------------------------------------------------------------------------------- */

static int on_host(const slabs *s) { return s->context->device.kind == TSR_DEVICE_CPU; }

/* What windows of so many samples of the finest level take. */
static tsr_status window_bytes(const slabs *s, int64_t window, int64_t *bytes)
{
    tsr_wavelet_plan *plan;
    tsr_wavelet_info info = TSR_WAVELET_INFO;
    const int64_t elements = window * tsr_wavelet_slab_inner(s->whole, 0, s->axis);
    if (s->whole->levels) {
        TSR_TRY(tsr_wavelet_slab_plan(s->context, s->whole, 0, s->axis, window, &plan));
        tsr_wavelet_plan_describe(plan, &info);
        tsr_wavelet_plan_destroy(&plan);
    }
    *bytes = FIXED + info.workspace_bytes + elements * (int64_t)s->element * (on_host(s) ? 2 : 3);
    if (s->ready_end && s->origin != s->whole->dtype) *bytes += elements * (int64_t)tsr_dtype_size(s->origin);
    return TSR_OK;
}

static tsr_status choose_thickness(slabs *s, int64_t limit)
{
    const int64_t n = s->whole->stage[0].size[s->axis], least = tsr_wavelet_slab_most(s->whole, 0, s->axis, 2);
    int64_t bytes = 0, window = n;
    TSR_TRY(window_bytes(s, window, &bytes));
    while (bytes > limit && window > least) {
        window = tsr_max64(least, tsr_min64(window * 7 / 8, (int64_t)((double)window * (double)limit / (double)bytes)));
        window = tsr_max64(least, window / 2 * 2); /* what is less than the whole is even, as a periodic axis wants it */
        TSR_TRY(window_bytes(s, window, &bytes));
    }
    if (bytes > limit)
        TSR_FAIL(TSR_ERROR_MEMORY, "wavelet: memory_limit is %lld, expected at least %lld bytes for %lld slices at a time", (long long)limit,
                 (long long)bytes, (long long)window);
    const size_t room = (size_t)(window * tsr_wavelet_slab_inner(s->whole, 0, s->axis)) * s->element;
    s->info.memory_bytes = bytes;
    s->room = window * tsr_wavelet_slab_inner(s->whole, 0, s->axis);
    TSR_TRY(tsr_device_allocate(s->context, room, &s->in));
    TSR_TRY(tsr_device_allocate(s->context, room, &s->out));
    if (!on_host(s)) TSR_TRY(tsr_host_allocate(NULL, room, &s->io));
    if (s->ready_end && s->origin != s->whole->dtype) TSR_TRY(tsr_host_allocate(NULL, (size_t)s->room * tsr_dtype_size(s->origin), &s->ready_origin));
    s->staging = malloc(STAGING);
    s->row = malloc((size_t)s->whole->size[0] * s->element * 2);
    if (!s->staging || !s->row) TSR_FAIL(TSR_ERROR_MEMORY, "wavelet: out of memory");
    return TSR_OK;
}

/* Samples that a part of a level owns, so that its window has room. */
static int64_t thickness(const slabs *s, int32_t level)
{
    const int64_t n = s->whole->stage[level].size[s->axis], fits = s->room / tsr_wavelet_slab_inner(s->whole, level, s->axis);
    if (fits >= n) return n;
    if (!tsr_wavelet_slab_split(s->whole, level, s->axis)) return tsr_max64(1, fits);
    return tsr_max64(2, (fits - 2 * s->whole->forward.reach) / 2 * 2);
}

/* ---- slices in and out -------------------------------------------------------------------------------------------------------------------- */

/* Elements of the file as they are. */
static tsr_status read_finite(slabs *s, int64_t first, int64_t count, void *to)
{
    const tsr_volume *header = s->source->header;
    const tsr_voxel_feed *feed = &s->source->feed;
    uint32_t bad = 0;
    TSR_TRY(feed->read(feed->user, first, count, to));
    if (header->dtype >= TSR_F32) TSR_TRY(s->host->backend->volume->find_nonfinite(s->host->queue, to, header->dtype, count, &bad));
    if (bad)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "wavelet: NaN or infinite among elements %lld to %lld of the file, expected finite values: they would spread",
                 (long long)first, (long long)(first + count - 1));
    return TSR_OK;
}

/* Elements of the file in the type of the transform. */
static tsr_status read_source(slabs *s, int64_t first, int64_t count, char *to)
{
    const tsr_volume *header = s->source->header;
    if (header->dtype == s->whole->dtype) return read_finite(s, first, count, to);
    const int64_t most = STAGING / 8;
    for (int64_t at = 0; at < count; at += most) {
        const int64_t n = tsr_min64(most, count - at);
        tsr_volume *part, *copy = NULL;
        TSR_TRY(read_finite(s, first + at, n, s->staging));
        TSR_TRY(tsr_volume_wrap(NULL, header->dtype, (tsr_size3){ n, 1, 1 }, NULL, s->staging, NULL, NULL, &part));
        const tsr_status status = tsr_volume_convert(s->host, part, s->whole->dtype, &copy);
        if (status == TSR_OK) memcpy(to + at * (int64_t)s->element, copy->data, (size_t)n * s->element);
        tsr_volume_destroy(&copy);
        tsr_volume_destroy(&part);
        TSR_TRY(status);
    }
    return TSR_OK;
}

/* Samples [from, to) of the axis at the level, counted on beyond the ends. */
static tsr_status read_samples(slabs *s, int32_t level, int64_t from, int64_t to, char *q)
{
    const int64_t n = s->whole->stage[level].size[s->axis], inner = tsr_wavelet_slab_inner(s->whole, level, s->axis);
    while (from < to) {
        const int64_t at = (from % n + n) % n, count = tsr_min64(to - from, n - at), bytes = count * inner * (int64_t)s->element;
        if (level) TSR_TRY(tsr_spool_get(s->approximation[level & 1], at * inner * (int64_t)s->element, q, (size_t)bytes));
        else TSR_TRY(read_source(s, at * inner, count * inner, q));
        from += count;
        q += bytes;
    }
    return TSR_OK;
}

/* A row of coefficients, `stride` elements apart, out of the collected ones (those of the file on the way back) and into them. */
static tsr_status get_span(slabs *s, int64_t offset, int64_t count, void *to)
{
    if (s->coefficients) return tsr_spool_get(s->coefficients, offset * (int64_t)s->element, to, (size_t)count * s->element);
    return read_finite(s, offset, count, to);
}

static void pick(size_t element, int64_t count, void *to, int64_t to_stride, const void *from, int64_t from_stride)
{
    char *q = (char *)to;
    const char *p = (const char *)from;
    for (int64_t k = 0; k < count; k++, q += to_stride * (int64_t)element, p += from_stride * (int64_t)element) memcpy(q, p, element);
}

static tsr_status get_row(slabs *s, int64_t offset, int64_t stride, int64_t count, void *to)
{
    if (stride == 1) return get_span(s, offset, count, to);
    TSR_TRY(get_span(s, offset, (count - 1) * stride + 1, s->row));
    pick(s->element, count, to, 1, s->row, stride);
    return TSR_OK;
}

static tsr_status put_row(slabs *s, int64_t offset, int64_t stride, int64_t count, const void *from)
{
    const int64_t span = (count - 1) * stride + 1, at = offset * (int64_t)s->element;
    if (stride == 1) return tsr_spool_put(s->coefficients, at, from, (size_t)count * s->element);
    TSR_TRY(get_span(s, offset, span, s->row));
    pick(s->element, count, s->row, stride, from, 1);
    TSR_TRY(tsr_spool_put(s->coefficients, at, s->row, (size_t)span * s->element));
    return TSR_OK;
}

/* ---- coefficients of a window --------------------------------------------------------------------------------------------------------------- */

/* Moves the band with these bits between a packed window and the file: `count` of its places along the axis, from number `local` of the window and number
 * `global` of the whole on. The approximation of a level that is not the last one is a file of its own, packed. */
static tsr_status move_band(slabs *s, int32_t level, uint32_t bits, char *window, int64_t local, int64_t global, int64_t count, int store)
{
    const tsr_wavelet_stage *stage = &s->whole->stage[level];
    const tsr_wavelet_slot *there = &stage->band[bits], *here = &s->plan->stage[0].band[bits];
    const int next = !bits && level + 1 < s->whole->levels;
    int64_t size[3], band[3], first[3] = { 0, 0, 0 };
    for (int32_t a = 0; a < 3; a++) size[a] = band[a] = tsr_wavelet_stage_band(stage, bits, a);
    size[s->axis] = count;
    first[s->axis] = global;
    if (!size[0] || !size[1] || !size[2]) return TSR_OK;
    for (int64_t z = 0; z < size[2]; z++)
        for (int64_t y = 0; y < size[1]; y++) {
            int64_t at[3] = { 0, y, z };
            int64_t offset = there->offset, packed = 0, own = here->offset;
            for (int32_t a = 2; a >= 0; a--) {
                const int64_t i = (first[a] + at[a]) % band[a]; /* counted on beyond the ends: periodic */
                offset += i * there->stride[a];
                packed = packed * band[a] + i;
                own += (at[a] + (a == s->axis ? local : 0)) * here->stride[a];
            }
            char *row = window + own * (int64_t)s->element;
            const size_t bytes = (size_t)size[0] * s->element;
            tsr_spool *file = s->approximation[(level + 1) & 1];
            if (next && store) TSR_TRY(tsr_spool_put(file, packed * (int64_t)s->element, row, bytes));
            else if (next) TSR_TRY(tsr_spool_get(file, packed * (int64_t)s->element, row, bytes));
            else if (store) TSR_TRY(put_row(s, offset, there->stride[0], size[0], row));
            else TSR_TRY(get_row(s, offset, there->stride[0], size[0], row));
        }
    return TSR_OK;
}

/* Whole slices of the finest level in layout mallat: the bands lie side by side as they do in the window. */
static tsr_status move_slices(slabs *s, char *window, int64_t local, int64_t global, int64_t band, int64_t base, int64_t count, int store)
{
    const int64_t inner = tsr_wavelet_slab_inner(s->whole, 0, s->axis), bytes = inner * (int64_t)s->element;
    while (count > 0) {
        const int64_t at = global % band, n = tsr_min64(count, band - at);
        char *slice = window + local * bytes;
        if (store) TSR_TRY(tsr_spool_put(s->coefficients, (base + at) * bytes, slice, (size_t)(n * bytes)));
        else TSR_TRY(get_span(s, (base + at) * inner, n * inner, slice));
        local += n;
        global += n;
        count -= n;
    }
    return TSR_OK;
}

/* Coefficients of a slab out of a window (store: what it owns) or into it (all of the window). */
static tsr_status move_coefficients(slabs *s, int32_t level, const tsr_wavelet_slab *w, char *window, int store)
{
    const tsr_wavelet_stage *stage = &s->whole->stage[level];
    const int split = tsr_wavelet_slab_split(s->whole, level, s->axis), plain = !level && s->whole->layout == TSR_WAVELET_MALLAT;
    const int64_t lows = tsr_wavelet_stage_band(stage, 0, s->axis), highs = split ? stage->size[s->axis] / 2 : 0;
    const int64_t first = split ? (store ? w->begin : w->from) / 2 : (store ? w->begin : w->from), skip = store ? w->skip : 0;
    const int64_t count[2] = { store ? w->own_low : w->low, store ? w->own_high : w->high };
    if (plain) {
        TSR_TRY(move_slices(s, window, skip, lows + first, lows, 0, count[0], store));
        if (count[1]) TSR_TRY(move_slices(s, window, w->low + skip, highs + first, highs, lows, count[1], store));
    }
    for (uint32_t bits = 0; bits < 8; bits++) {
        if (bits & ~stage->axes || (plain && bits) || (plain && s->whole->levels == 1)) continue;
        const int high = split && (bits >> s->axis & 1);
        const int64_t band = high ? highs : lows;
        if (count[high]) TSR_TRY(move_band(s, level, bits, window, skip, band + first, count[high], store));
    }
    return TSR_OK;
}

/* ---- levels ----------------------------------------------------------------------------------------------------------------------------------- */

static tsr_status take_plan(slabs *s, int32_t level, int64_t length)
{
    tsr_wavelet_info info = TSR_WAVELET_INFO;
    if (s->plan && s->plan_level == level && s->plan_length == length) return TSR_OK;
    tsr_wavelet_plan_destroy(&s->plan);
    TSR_TRY(tsr_wavelet_slab_plan(s->context, s->whole, level, s->axis, length, &s->plan));
    s->plan_level = level;
    s->plan_length = length;
    tsr_wavelet_plan_describe(s->plan, &info);
    if (info.workspace_bytes <= s->workspace_bytes) return TSR_OK;
    if (s->workspace) tsr_device_release(s->context, s->workspace, (size_t)s->workspace_bytes);
    s->workspace = NULL;
    s->workspace_bytes = info.workspace_bytes;
    TSR_TRY(tsr_device_allocate(s->context, (size_t)info.workspace_bytes, &s->workspace));
    return TSR_OK;
}

/* The loaded window through the transform; *result is on the host. */
static tsr_status transform(slabs *s, int64_t elements, int inverse, char **result)
{
    const size_t bytes = (size_t)elements * s->element;
    if (!on_host(s)) TSR_TRY(tsr_device_move(s->context, s->in, NULL, s->io, bytes));
    if (inverse) TSR_TRY(tsr_wavelet_inverse(s->plan, s->in, s->out, s->workspace));
    else TSR_TRY(tsr_wavelet_forward(s->plan, s->in, s->out, s->workspace));
    if (!on_host(s)) TSR_TRY(tsr_device_move(NULL, s->io, s->context, s->out, bytes));
    *result = (char *)(on_host(s) ? s->out : s->io);
    return TSR_OK;
}

static char *load_buffer(const slabs *s) { return (char *)(on_host(s) ? s->in : s->io); }

static tsr_status report(const slabs *s, int32_t level, double fraction)
{
    /* Seven eighths of the work are in the finest level, of the rest again. */
    const double before = 1 - ldexp(1, -3 * level), whole = ldexp(1, -3 * level) * (level + 1 < s->whole->levels ? 0.875 : 1);
    TSR_PROGRESS(s->progress, before + whole * fraction, "transforming");
    return TSR_OK;
}

static tsr_status forward_level(slabs *s, int32_t level)
{
    const int64_t n = s->whole->stage[level].size[s->axis], step = thickness(s, level), inner = tsr_wavelet_slab_inner(s->whole, level, s->axis);
    for (int64_t begin = 0; begin < n; begin += step) {
        const tsr_wavelet_slab w = tsr_wavelet_slab_make(s->whole, level, s->axis, begin, tsr_min64(begin + step, n));
        char *result;
        TSR_TRY(report(s, level, (double)begin / (double)n));
        TSR_TRY(take_plan(s, level, w.to - w.from));
        TSR_TRY(read_samples(s, level, w.from, w.to, load_buffer(s)));
        TSR_TRY(transform(s, (w.to - w.from) * inner, 0, &result));
        TSR_TRY(move_coefficients(s, level, &w, result, 1));
        s->info.parts += !level;
    }
    return TSR_OK;
}

static tsr_status inverse_slab(slabs *s, int32_t level, int64_t begin, int64_t end, char **own)
{
    const int64_t inner = tsr_wavelet_slab_inner(s->whole, level, s->axis);
    const tsr_wavelet_slab w = tsr_wavelet_slab_make(s->whole, level, s->axis, begin, end);
    TSR_TRY(take_plan(s, level, w.to - w.from));
    /* A window that begins before the array has coefficients counted from the end: move_coefficients takes them modulo their number. */
    TSR_TRY(move_coefficients(s, level, &w, load_buffer(s), 0));
    TSR_TRY(transform(s, (w.to - w.from) * inner, 1, own));
    *own += (begin - w.from) * inner * (int64_t)s->element;
    return TSR_OK;
}

static tsr_status inverse_level(slabs *s, int32_t level)
{
    const int64_t n = s->whole->stage[level].size[s->axis], step = thickness(s, level), inner = tsr_wavelet_slab_inner(s->whole, level, s->axis);
    for (int64_t begin = 0; begin < n; begin += step) {
        const int64_t end = tsr_min64(begin + step, n);
        char *own;
        TSR_PROGRESS(s->progress, 0.125 * (double)begin / (double)n, "transforming");
        TSR_TRY(inverse_slab(s, level, begin, end, &own));
        TSR_TRY(tsr_spool_put(s->approximation[level & 1], begin * inner * (int64_t)s->element, own, (size_t)((end - begin) * inner) * s->element));
    }
    return TSR_OK;
}

/* ---- there ------------------------------------------------------------------------------------------------------------------------------------ */

static int64_t limit_of(const tsr_read_options *read) { return read->memory_limit ? read->memory_limit : tsr_physical_memory() / 2; }

static tsr_status open_source(slabs *s, tsr_context *context, const char *input, const tsr_read_options *read, const char *output)
{
    tsr_context_options options = TSR_CONTEXT_OPTIONS;
    if (!context) TSR_FAIL(TSR_ERROR_ARGUMENT, "context is NULL");
    if (read->memory_limit < 0) TSR_FAIL(TSR_ERROR_ARGUMENT, "memory_limit is %lld, expected 0 or more bytes", (long long)read->memory_limit);
    s->context = context;
    s->progress = &read->progress;
    options.device = "cpu";
    options.threads = context->threads;
    TSR_TRY(tsr_context_create(&options, &s->host));
    TSR_TRY(tsr_pieces_open(input, read, output, &s->source));
    return TSR_OK;
}

static tsr_status find_range(slabs *s, double *minimum, double *maximum)
{
    const tsr_volume *header = s->source->header;
    const tsr_voxel_feed *feed = &s->source->feed;
    const int64_t count = tsr_volume_count(header), most = STAGING / (int64_t)tsr_dtype_size(header->dtype);
    *minimum = HUGE_VAL;
    *maximum = -HUGE_VAL;
    void *part = malloc(STAGING);
    tsr_status status = TSR_OK;
    if (!part) TSR_FAIL(TSR_ERROR_MEMORY, "wavelet: out of memory");
    for (int64_t at = 0; at < count && status == TSR_OK; at += most) {
        const int64_t n = tsr_min64(most, count - at);
        tsr_volume *voxels = NULL;
        tsr_statistics found = TSR_STATISTICS;
        TSR_TRY_GOTO(feed->read(feed->user, at, n, part), done);
        TSR_TRY_GOTO(tsr_volume_wrap(NULL, header->dtype, (tsr_size3){ n, 1, 1 }, NULL, part, NULL, NULL, &voxels), done);
        status = tsr_volume_statistics(s->host, voxels, &found);
        tsr_volume_destroy(&voxels);
        *minimum = fmin(*minimum, found.minimum);
        *maximum = fmax(*maximum, found.maximum);
        if (status == TSR_OK && tsr_progress_report(s->progress, (double)at / (double)count, "looking for the range"))
            status = TSR_FAILED(TSR_ERROR_CANCELLED, "cancelled during looking for the range");
    }
done:
    free(part);
    return status;
}

static tsr_status make_whole(slabs *s, tsr_dtype dtype, const tsr_wavelet_options *o)
{
    const tsr_size3 extents = s->source->header->size;
    const int64_t size[3] = { extents.x, extents.y, extents.z };
    TSR_TRY(tsr_wavelet_plan_create(s->context, dtype, 3, size, o, &s->whole));
    s->axis = tsr_wavelet_slab_axis(s->whole);
    s->element = tsr_dtype_size(dtype);
    return TSR_OK;
}

/* A volume with the header of another and no voxels that may be touched. */
static tsr_status bare_volume(const tsr_volume *like, tsr_dtype dtype, void *nothing, tsr_volume **volume)
{
    TSR_TRY(tsr_volume_wrap(NULL, dtype, like->size, &like->geometry, nothing, NULL, NULL, volume));
    const tsr_status status = tsr_volume_copy_header(*volume, like);
    if (status != TSR_OK) tsr_volume_destroy(volume);
    TSR_TRY(status);
    return TSR_OK;
}

static tsr_status feed_coefficients(void *user, int64_t first, int64_t count, void *to) { return get_span((slabs *)user, first, count, to); }

static tsr_status dwt(slabs *s, const tsr_read_options *read, tsr_wavelet_options *o, tsr_dtype dtype, const char *output,
                      const tsr_write_options *write)
{
    const tsr_volume *header = s->source->header;
    const tsr_voxel_feed feed = { s, feed_coefficients };
    tsr_volume *bare = NULL;
    tsr_status status;
    double minimum = 0, maximum = 0;
    o->axes = tsr_dwt_axes(header, o);
    if (tsr_dwt_needs_range(header->dtype, dtype)) TSR_TRY(find_range(s, &minimum, &maximum));
    TSR_TRY(tsr_dwt_choose_type(header->dtype, header->size, minimum, maximum, o, &dtype));
    TSR_TRY(make_whole(s, dtype, o));
    TSR_TRY(choose_thickness(s, limit_of(read)));
    s->info.slices = thickness(s, 0);
    TSR_TRY(tsr_spool_open(output, &s->coefficients));
    TSR_TRY(tsr_spool_reserve(s->coefficients, s->whole->elements * (int64_t)s->element));
    for (int k = 0; k < 2 && s->whole->levels > 1; k++) TSR_TRY(tsr_spool_open(output, &s->approximation[k]));
    for (int32_t level = 0; level < s->whole->levels; level++) TSR_TRY(forward_level(s, level));
    if (!s->whole->levels) { /* one voxel */
        TSR_TRY(read_source(s, 0, s->whole->elements, load_buffer(s)));
        TSR_TRY(tsr_spool_put(s->coefficients, 0, load_buffer(s), (size_t)s->whole->elements * s->element));
    }
    TSR_TRY(bare_volume(header, dtype, s, &bare));
    TSR_TRY_GOTO(tsr_dwt_write_meta(bare, s->whole, o->axes ? o->axes : 7, header->dtype), done);
    TSR_TRY_GOTO(tsr_pieces_write(bare, &feed, output, write), done);
done:
    tsr_volume_destroy(&bare);
    return status;
}

tsr_status tsr_file_dwt(tsr_context *context, const char *input, const tsr_read_options *read, const tsr_wavelet_options *options, tsr_dtype dtype,
                        const char *output, const tsr_write_options *write, tsr_wavelet_file_info *info)
{
    tsr_read_options own_read;
    tsr_write_options own_write;
    tsr_wavelet_options o;
    slabs s = { 0 };
    int keeps;
    tsr_status status;
    TSR_TRY(TSR_STRUCT_BEGUN(info));
    TSR_TRY(TSR_OPTIONS_TAKE(&own_read, read));
    TSR_TRY(TSR_OPTIONS_TAKE(&own_write, write));
    TSR_TRY(tsr_dwt_take_options(options, &o));
    TSR_TRY(tsr_file_keeps_metadata(output, &own_write, &keeps));
    if (!keeps)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: the format has no place for what the inverse needs to know, expected NRRD, MetaImage or .tsc", output);
    TSR_TRY_GOTO(open_source(&s, context, input, &own_read, output), done);
    TSR_TRY_GOTO(dwt(&s, &own_read, &o, dtype, output, &own_write), done);
    status = TSR_STRUCT_GIVE(info, &s.info);
done:
    release(&s);
    return status;
}

/* ---- and back ----------------------------------------------------------------------------------------------------------------------------------- */

/* The slab of the finest level that begins at `begin`, in the type of the volume. */
static tsr_status make_ready(slabs *s, int64_t begin)
{
    const int64_t n = s->whole->stage[0].size[s->axis], inner = tsr_wavelet_slab_inner(s->whole, 0, s->axis),
                  end = tsr_min64(begin + thickness(s, 0), n);
    char *own;
    TSR_PROGRESS(s->progress, 0.125 + 0.875 * (double)begin / (double)n, "transforming");
    if (s->whole->levels) TSR_TRY(inverse_slab(s, 0, begin, end, &own));
    else {
        own = load_buffer(s);
        TSR_TRY(get_span(s, begin * inner, (end - begin) * inner, own));
    }
    s->info.parts++;
    s->ready_begin = begin;
    s->ready_end = end;
    s->ready = own;
    if (s->origin == s->whole->dtype) return TSR_OK;
    const int64_t count = (end - begin) * inner, most = STAGING / 8;
    for (int64_t at = 0; at < count; at += most) {
        const int64_t some = tsr_min64(most, count - at);
        tsr_volume *part, *copy = NULL;
        TSR_TRY(tsr_volume_wrap(NULL, s->whole->dtype, (tsr_size3){ some, 1, 1 }, NULL, own + at * (int64_t)s->element, NULL, NULL, &part));
        const tsr_status status = tsr_volume_convert(s->host, part, s->origin, &copy);
        if (status == TSR_OK)
            memcpy((char *)s->ready_origin + at * (int64_t)tsr_dtype_size(s->origin), copy->data, (size_t)some * tsr_dtype_size(s->origin));
        tsr_volume_destroy(&copy);
        tsr_volume_destroy(&part);
        TSR_TRY(status);
    }
    s->ready = (const char *)s->ready_origin;
    return TSR_OK;
}

static tsr_status feed_samples(void *user, int64_t first, int64_t count, void *to)
{
    slabs *s = (slabs *)user;
    const int64_t inner = tsr_wavelet_slab_inner(s->whole, 0, s->axis), element = (int64_t)tsr_dtype_size(s->origin), step = thickness(s, 0);
    char *q = (char *)to;
    while (count) {
        const int64_t at = first / inner;
        if (!s->ready || at < s->ready_begin || at >= s->ready_end) TSR_TRY(make_ready(s, at / step * step));
        const int64_t within = first - s->ready_begin * inner, n = tsr_min64(count, s->ready_end * inner - first);
        memcpy(q, s->ready + within * element, (size_t)(n * element));
        first += n;
        count -= n;
        q += n * element;
    }
    return TSR_OK;
}

static tsr_status idwt(slabs *s, const tsr_read_options *read, const char *output, const tsr_write_options *write)
{
    const tsr_volume *header = s->source->header;
    const tsr_voxel_feed feed = { s, feed_samples };
    tsr_wavelet_options o;
    tsr_wavelet_step steps[TSR_WAVELET_STEPS];
    tsr_volume *bare = NULL;
    tsr_status status;
    TSR_TRY(tsr_dwt_read_meta(header, &o, steps, &s->origin));
    if (tsr_volume_meta(header, "wavelet.size"))
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "wavelet: coefficients of a padded volume, expected none from file to file: without a memory limit");
    TSR_TRY(make_whole(s, header->dtype, &o));
    s->ready_end = 1; /* there is a way back: room for the volume's own type */
    TSR_TRY(choose_thickness(s, limit_of(read)));
    s->ready_end = 0;
    s->info.slices = thickness(s, 0);
    for (int k = 0; k < 2 && s->whole->levels > 1; k++) TSR_TRY(tsr_spool_open(output, &s->approximation[k]));
    for (int32_t level = s->whole->levels - 1; level > 0; level--) TSR_TRY(inverse_level(s, level));
    TSR_TRY(bare_volume(header, s->origin, s, &bare));
    TSR_TRY_GOTO(tsr_dwt_clear_meta(bare), done);
    TSR_TRY_GOTO(tsr_pieces_write(bare, &feed, output, write), done);
done:
    tsr_volume_destroy(&bare);
    return status;
}

tsr_status tsr_file_idwt(tsr_context *context, const char *input, const tsr_read_options *read, const char *output, const tsr_write_options *write,
                         tsr_wavelet_file_info *info)
{
    TSR_NEEDS(context);
    tsr_read_options own_read;
    tsr_write_options own_write;
    slabs s = { 0 };
    tsr_status status;
    TSR_TRY(TSR_STRUCT_BEGUN(info));
    TSR_TRY(TSR_OPTIONS_TAKE(&own_read, read));
    TSR_TRY(TSR_OPTIONS_TAKE(&own_write, write));
    TSR_TRY(tsr_file_check_output(output, TSR_FILE_VOLUME, &own_write));
    TSR_TRY_GOTO(open_source(&s, context, input, &own_read, output), done);
    TSR_TRY_GOTO(idwt(&s, &own_read, output, &own_write), done);
    status = TSR_STRUCT_GIVE(info, &s.info);
done:
    release(&s);
    return status;
}
