/* histopyramid/points_source.c: clouds of volumes that come a few planes at a time. */
#include <string.h>

#include "histopyramid/pyramid.h"

/* A slab owns the points of its planes. Which voxels are kept takes the planes beside it; the gradient at the far end of an edge one more. */
enum { BEHIND = 1, AFTER = 2 };

struct slabs {
    tsr_context *context;
    tsr_planes_source from;
    tsr_points_volume_options options;
    tsr_pyramid_options rule;
    tsr_geometry geometry;
    int32_t channels;
    int64_t plane;                           /* bytes */
    tsr_pyramid *pyramid;                    /* of the last slab */
    tsr_points **part[TSR_PYRAMID_CHANNELS]; /* on the host, [slabs] */
    int64_t parts;
};

/* keys[2 c], keys[2 c + 1]: the outputs of class c in the planes [begin, end) of the volume. */
static tsr_status ranges(struct slabs *s, int64_t begin, int64_t end, int64_t depth, uint64_t keys[2 * TSR_PYRAMID_CHANNELS])
{
    const int64_t voxels = s->from.size.x * s->from.size.y;
    const size_t bytes = 2 * (size_t)s->channels * sizeof(int64_t);
    int64_t at[2 * TSR_PYRAMID_CHANNELS];
    void *there = NULL;
    tsr_status status;
    for (int32_t c = 0; c < s->channels; c++) {
        at[2 * c] = (c * depth + begin) * voxels;
        at[2 * c + 1] = (c * depth + end) * voxels;
    }
    TSR_TRY(tsr_device_allocate(s->context, 2 * bytes, &there));
    TSR_TRY_GOTO(tsr_device_move(s->context, there, NULL, at, bytes), done);
    TSR_TRY_GOTO(tsr_pyramid_rank(s->pyramid, (const int64_t *)there, 2 * s->channels, (uint64_t *)((char *)there + bytes)), done);
    TSR_TRY_GOTO(tsr_device_move(NULL, keys, s->context, (char *)there + bytes, bytes), done);
done:
    tsr_device_release(s->context, there, 2 * bytes);
    return status;
}

/* The points of one class of the slab, to the host. */
static tsr_status points_of(struct slabs *s, const tsr_volume *volume, int64_t from, int32_t c, uint64_t first, int64_t count)
{
    const size_t bytes = (size_t)count * sizeof(tsr_pyramid_entry);
    tsr_points *made = NULL;
    void *entries = NULL;
    tsr_status status;
    TSR_TRY(tsr_device_allocate(s->context, bytes, &entries));
    TSR_TRY_GOTO(tsr_pyramid_extract(s->pyramid, first, count, (tsr_pyramid_entry *)entries), done);
    TSR_TRY_GOTO(tsr_points_of_class(s->context, volume, from, &s->options, s->pyramid, c, (const tsr_pyramid_entry *)entries, count, &made), done);
    TSR_TRY_GOTO(tsr_context_synchronize(s->context), done); /* the list is released */
    TSR_TRY_GOTO(tsr_points_copy(made, NULL, &s->part[c][s->parts]), done);
done:
    tsr_device_release(s->context, entries, bytes);
    tsr_points_destroy(&made);
    return status;
}

/* The points of the planes [begin, end); the samples are those of [from, to). */
static tsr_status slab(struct slabs *s, void *samples, int64_t from, int64_t begin, int64_t end, int64_t to)
{
    const tsr_size3 size = { s->from.size.x, s->from.size.y, to - from };
    uint64_t keys[2 * TSR_PYRAMID_CHANNELS];
    tsr_volume *volume = NULL;
    tsr_status status;
    TSR_TRY(tsr_volume_wrap(s->context, s->from.dtype, size, &s->geometry, samples, NULL, NULL, &volume));
    TSR_TRY_GOTO(tsr_volume_set_scaling(volume, s->from.slope, s->from.intercept), done);
    if (s->pyramid && s->pyramid->size.z != size.z) tsr_pyramid_destroy(&s->pyramid);
    if (!s->pyramid) TSR_TRY_GOTO(tsr_pyramid_create(s->context, size, &s->rule, &s->pyramid), done);
    TSR_TRY_GOTO(tsr_pyramid_build(s->pyramid, volume), done);
    TSR_TRY_GOTO(ranges(s, begin - from, end - from, to - from, keys), done);
    for (int32_t c = 0; c < s->channels; c++)
        TSR_TRY_GOTO(points_of(s, volume, from, c, keys[2 * c], (int64_t)(keys[2 * c + 1] - keys[2 * c])), done);
    s->parts++;
done:
    tsr_volume_destroy(&volume);
    return status;
}

/* The parts of a class, one after another. */
static tsr_status join(struct slabs *s, int32_t c, tsr_points **points)
{
    int64_t count = 0, at = 0;
    for (int64_t k = 0; k < s->parts; k++) count += tsr_points_count(s->part[c][k]);
    if (count > INT32_MAX) TSR_FAIL(TSR_ERROR_CAPACITY, "points: %lld of them, expected at most 2^31 - 1: narrow the range", (long long)count);
    TSR_TRY(tsr_points_create(NULL, count, s->options.normals ? TSR_POINTS_NORMALS : 0, points));
    tsr_points_set_space(*points, s->geometry.space);
    for (int64_t k = 0; k < s->parts; k++) {
        const tsr_points *part = s->part[c][k];
        const int64_t n = tsr_points_count(part);
        if (n) memcpy(tsr_points_positions(*points) + 3 * at, tsr_points_positions_const(part), (size_t)n * 3 * sizeof(float));
        if (n && s->options.normals) memcpy(tsr_points_normals(*points) + 3 * at, tsr_points_normals_const(part), (size_t)n * 3 * sizeof(float));
        at += n;
        tsr_points_destroy(&s->part[c][k]);
    }
    return TSR_OK;
}

static tsr_status told(const tsr_progress *progress, double fraction)
{
    TSR_PROGRESS(progress, fraction, "points");
    return TSR_OK;
}

static tsr_status check(struct slabs *s, const tsr_planes_source *source, const tsr_points_volume_options *options, int64_t planes,
                        tsr_points **points)
{
    TSR_TRY(TSR_OPTIONS_TAKE(&s->options, options));
    TSR_TRY(TSR_OPTIONS_TAKE(&s->rule, s->options.pyramid));
    TSR_TRY(TSR_OPTIONS_TAKE(&s->from, source));
    TSR_TRY(tsr_points_check_rule(&s->rule, points));
    s->channels = tsr_maxi(s->rule.channels, 1);
    const tsr_pyramid_class *classes = s->rule.classes;
    if (s->channels > TSR_PYRAMID_CHANNELS)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "points: channels is %d, expected at most %d", s->channels, (int)TSR_PYRAMID_CHANNELS);
    if (s->rule.order != TSR_PYRAMID_ROW)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "points: order is %d, expected ROW: no other order of a volume is that of its slabs", (int)s->rule.order);
    if ((classes ? classes[0].classifier : s->rule.classifier) == TSR_PYRAMID_USER)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "points: the classifier USER sees the whole volume, expected one of the others by slabs");
    if (!s->from.planes) TSR_FAIL(TSR_ERROR_ARGUMENT, "points: the source has no function that gives planes");
    if ((unsigned)s->from.dtype >= TSR_DTYPE_COUNT)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "points: element type %d of the source is unknown", (int)s->from.dtype);
    if (planes < 0) TSR_FAIL(TSR_ERROR_ARGUMENT, "points: slabs of %lld planes, expected 0 or more", (long long)planes);
    if (s->from.size.x < 1 || s->from.size.y < 1 || s->from.size.z < 1)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "points: a source of %lld x %lld x %lld, expected extents of at least 1", (long long)s->from.size.x,
                 (long long)s->from.size.y, (long long)s->from.size.z);
    if (s->from.slope == 0) s->from.slope = 1;
    s->geometry = s->from.geometry ? *s->from.geometry : tsr_geometry_make((tsr_vec3){ 1, 1, 1 }, (tsr_vec3){ 0, 0, 0 }, TSR_SPACE_NONE);
    return TSR_OK;
}

tsr_status tsr_points_from_source(tsr_context *context, const tsr_planes_source *source, const tsr_points_volume_options *options, int64_t planes,
                                  tsr_points **points)
{
    TSR_NEEDS(context, source, points);
    struct slabs s = { .context = context };
    tsr_status status;
    int64_t bytes = 0, nan = 0;
    char *host = NULL;
    void *device = NULL;
    TSR_TRY(check(&s, source, options, planes, points));
    const int64_t depth = s.from.size.z, voxels = s.from.size.x * s.from.size.y;
    TSR_TRY(tsr_size_bytes((tsr_size3){ s.from.size.x, s.from.size.y, 1 }, tsr_dtype_size(s.from.dtype), "plane of the source", &s.plane));
    if (!planes) planes = tsr_maxl(8, (64 << 20) / s.plane);
    planes = tsr_minl(planes, depth);
    TSR_TRY(tsr_size_bytes((tsr_size3){ s.from.size.x, s.from.size.y, tsr_minl(depth, planes + BEHIND + AFTER) }, tsr_dtype_size(s.from.dtype),
                           "slab of the source", &bytes));
    TSR_TRY_GOTO(tsr_host_allocate(NULL, (size_t)bytes, (void **)&host), done);
    const size_t list = (size_t)tsr_ceil_div(depth, planes) * sizeof *s.part[0];
    for (int32_t c = 0; c < s.channels; c++) {
        TSR_TRY_GOTO(tsr_host_allocate(NULL, list, (void **)&s.part[c]), done);
        memset(s.part[c], 0, list);
    }
    if (context->device.kind != TSR_DEVICE_CPU) TSR_TRY_GOTO(tsr_device_allocate(context, (size_t)bytes, &device), done);
    for (int64_t begin = 0, kept = 0, have = 0; begin < depth; begin += planes) { /* the host has the planes [kept, have) */
        const int64_t end = tsr_minl(begin + planes, depth), first = tsr_maxl(0, begin - BEHIND), to = tsr_minl(end + AFTER, depth);
        TSR_TRY_GOTO(told(&s.options.progress, (double)begin / (double)depth), done);
        if (begin) memmove(host, host + (first - kept) * s.plane, (size_t)((have - first) * s.plane));
        kept = first;
        if (to > have) {
            char *fresh = host + (have - kept) * s.plane;
            TSR_TRY_GOTO(s.from.planes(s.from.user, have, to, fresh), done);
            nan += tsr_samples_nan(s.from.dtype, fresh, (to - have) * voxels);
            have = to;
        }
        if (device) TSR_TRY_GOTO(context->backend->upload(context->queue, device, host, (size_t)((have - kept) * s.plane)), done);
        TSR_TRY_GOTO(slab(&s, device ? device : host, kept, begin, end, have), done);
    }
    for (int32_t c = 0; c < s.channels; c++) TSR_TRY_GOTO(join(&s, c, &points[c]), done);
    if (s.options.not_a_number) *s.options.not_a_number = nan;
done:
    tsr_pyramid_destroy(&s.pyramid);
    for (int32_t c = 0; c < s.channels; c++) {
        for (int64_t k = 0; s.part[c] && k < tsr_ceil_div(depth, planes); k++) tsr_points_destroy(&s.part[c][k]);
        tsr_host_release(NULL, s.part[c], 0);
        if (status != TSR_OK) tsr_points_destroy(&points[c]);
    }
    tsr_device_release(context, device, (size_t)bytes);
    tsr_host_release(NULL, host, (size_t)bytes);
    return status;
}
