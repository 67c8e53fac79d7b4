/* Several volumes of one shape as the frames of one file: NIfTI, NRRD, TIFF and Zarr have a fourth axis. The writers see one volume whose voxels are fed frame after
 * frame (tsr_volume_stack). */
#include "formats/format.h"
#include "formats/volume_files.h"

#include <string.h>

typedef struct stack {
    const tsr_volume *const *frame;
    int64_t count, each; /* voxels of a frame */
} stack;

static tsr_status read_frames(void *user, int64_t first, int64_t count, void *to)
{
    const stack *s = (const stack *)user;
    uint8_t *at = (uint8_t *)to;
    while (count > 0) {
        const int64_t within = first % s->each, n = tsr_min64(count, s->each - within);
        const tsr_volume *v = s->frame[first / s->each];
        const size_t element = tsr_dtype_size(v->dtype), bytes = (size_t)n * element;
        memcpy(at, (const uint8_t *)v->data + (size_t)within * element, bytes);
        at += bytes;
        first += n;
        count -= n;
    }
    return TSR_OK;
}

int64_t tsr_volume_stack(const tsr_volume *v) { return v->feed && v->feed->read == read_frames ? ((const stack *)v->feed->user)->count : 0; }

static tsr_status check_frame(const tsr_volume *a, const tsr_volume *b, int64_t k, const char *path)
{
    const tsr_device device = tsr_volume_device(b);
    if (device.kind != TSR_DEVICE_CPU)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: frame %lld lives on %s:%d; copy it to the host with tsr_volume_copy first", path, (long long)k,
                 tsr_device_kind_name(device.kind), device.index);
    if (memcmp(&a->size, &b->size, sizeof a->size) || a->dtype != b->dtype)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: frame %lld is %lld x %lld x %lld %s, expected %lld x %lld x %lld %s, as frame 0 is", path, (long long)k,
                 (long long)b->size.x, (long long)b->size.y, (long long)b->size.z, tsr_dtype_name(b->dtype), (long long)a->size.x,
                 (long long)a->size.y, (long long)a->size.z, tsr_dtype_name(a->dtype));
    if (a->slope != b->slope || a->intercept != b->intercept)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: frame %lld has slope %g and intercept %g, frame 0 %g and %g: convert them first (tsr_volume_convert)", path,
                 (long long)k, b->slope, b->intercept, a->slope, a->intercept);
    TSR_TRY(tsr_geometry_require_same(&a->geometry, &b->geometry, "the frames", "expected the same grid for all"));
    return TSR_OK;
}

tsr_status tsr_volume_write_frames(const tsr_volume *const *frames, int64_t count, const char *path, const tsr_write_options *options)
{
    TSR_NEEDS(frames, path);
    tsr_write_options own;
    const tsr_format *format;
    TSR_TRY(TSR_OPTIONS_TAKE(&own, options));
    if (count < 1) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: %lld frames, expected 1 or more", path, (long long)count);
    if (own.compression < -1 || own.compression > 9)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "compression is %d, expected -1 (none), 0 (default) or 1 to 9", own.compression);
    TSR_TRY(tsr_format_of_output(path, own.format, TSR_FILE_VOLUME, &format));
    if (!format->stacks || !format->write_volume)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: a %s file has no axis for frames here, expected NIfTI, NRRD, TIFF or Zarr", path, format->name);
    for (int64_t k = 0; k < count; k++) {
        if (!frames[k]) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: frame %lld is NULL", path, (long long)k);
        TSR_TRY(check_frame(frames[0], frames[k], k, path));
    }
    if (tsr_volume_channels(frames[0]) > 1)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: frames of %d channels, expected one (a film holds colours)", path, tsr_volume_channels(frames[0]));
    if (!format->scales) TSR_TRY(tsr_require_unscaled(frames[0], path, format->name));
    stack s = { frames, count, tsr_volume_count(frames[0]) };
    const tsr_voxel_feed feed = { &s, read_frames };
    tsr_volume header = *frames[0]; /* metadata are borrowed */
    header.context = NULL;
    header.data = NULL;
    header.feed = &feed;
    TSR_TRY(format->write_volume(&header, path, &own));
    return TSR_OK;
}
