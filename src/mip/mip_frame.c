/* mip/mip_frame.c: frames: memory, downloads, combination, images, errors. */
#include <math.h>
#include <stdlib.h>

#include "mip/mip_view.h"

enum { EXTENT_MOST = 32768 };

tsr_status tsr_mip_frame_create(tsr_context *context, int32_t width, int32_t height, tsr_mip_frame **frame)
{
    TSR_RETURNS(frame);
    TSR_NEEDS(context);
    tsr_status status;
    if (width < 1 || height < 1 || width > EXTENT_MOST || height > EXTENT_MOST)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "mip: viewport of %d x %d pixels, expected 1 to %d each", width, height, EXTENT_MOST);
    TSR_TRY(tsr_host_allocate(&context->host_allocator, sizeof **frame, (void **)frame));
    tsr_mip_frame *f = *frame;
    *f = (tsr_mip_frame){ .context = context, .width = width, .height = height };
    const size_t bytes = (size_t)width * (size_t)height * 4;
    TSR_TRY_GOTO(tsr_device_allocate(context, bytes, (void **)&f->picture), fail);
    TSR_TRY_GOTO(context->backend->fill(context->queue, f->picture, 0, bytes), fail);
    return TSR_OK;
fail:
    tsr_mip_frame_destroy(frame);
    return status;
}

void tsr_mip_frame_destroy(tsr_mip_frame **frame)
{
    if (!frame || !*frame) return;
    tsr_mip_frame *f = *frame;
    *frame = NULL;
    if (f->picture) tsr_device_release(f->context, f->picture, (size_t)f->width * (size_t)f->height * 4);
    if (f->images) tsr_device_release(f->context, f->images, (size_t)f->image_bytes);
    if (f->scratch) tsr_device_release(f->context, f->scratch, (size_t)f->scratch_bytes);
    if (f->offsets) tsr_device_release(f->context, f->offsets, (size_t)f->offset_bytes);
    tsr_host_release(&f->context->host_allocator, f, sizeof *f);
}

static tsr_status reserve(tsr_context *context, void **memory, int64_t *bytes, int64_t wanted)
{
    if (wanted <= *bytes) return TSR_OK;
    if (*memory) tsr_device_release(context, *memory, (size_t)*bytes);
    *memory = NULL;
    *bytes = 0;
    TSR_TRY(tsr_device_allocate(context, (size_t)wanted, memory));
    *bytes = wanted;
    return TSR_OK;
}

tsr_status tsr_mip_frame_reserve(tsr_mip_frame *f, int64_t images, int64_t scratch, int64_t offsets)
{
    TSR_TRY(reserve(f->context, (void **)&f->images, &f->image_bytes, images));
    TSR_TRY(reserve(f->context, (void **)&f->scratch, &f->scratch_bytes, scratch));
    TSR_TRY(reserve(f->context, (void **)&f->offsets, &f->offset_bytes, offsets));
    return TSR_OK;
}

const uint32_t *tsr_mip_frame_values(const tsr_mip_frame *frame) { return frame ? frame->picture : NULL; }

tsr_status tsr_mip_frame_download(const tsr_mip_frame *frame, uint32_t *values)
{
    TSR_NEEDS(frame, values);
    TSR_TRY(tsr_device_move(NULL, values, frame->context, frame->picture, (size_t)frame->width * (size_t)frame->height * 4));
    return TSR_OK;
}

static tsr_status require_equal(const tsr_mip_frame *a, const tsr_mip_frame *b)
{
    if (!a || !b) TSR_FAIL(TSR_ERROR_ARGUMENT, "mip frame is NULL");
    if (a->width != b->width || a->height != b->height)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "mip: frames of %d x %d and %d x %d pixels, expected equal ones", a->width, a->height, b->width, b->height);
    return TSR_OK;
}

tsr_status tsr_mip_frame_combine(tsr_mip_frame *frame, const tsr_mip_frame *other)
{
    TSR_NEEDS(frame, other);
    uint32_t *copy = NULL;
    TSR_TRY(require_equal(frame, other));
    const int64_t pixels = (int64_t)frame->width * frame->height;
    TSR_TRY(tsr_device_allocate(frame->context, (size_t)pixels * 4, (void **)&copy));
    tsr_status status = tsr_device_move(frame->context, copy, other->context, other->picture, (size_t)pixels * 4);
    if (status == TSR_OK) status = frame->context->backend->mip->combine(frame->context->queue, frame->picture, copy, pixels);
    if (status == TSR_OK) status = frame->context->backend->synchronize(frame->context->queue);
    tsr_device_release(frame->context, copy, (size_t)pixels * 4);
    TSR_TRY(status);
    return TSR_OK;
}

tsr_status tsr_mip_frame_image(const tsr_mip_frame *frame, tsr_dtype dtype, double window, double level, tsr_image *image)
{
    TSR_NEEDS(frame, image);
    uint32_t *values;
    *image = (tsr_image){ 0 };
    if (dtype != TSR_U8 && dtype != TSR_U16) TSR_FAIL(TSR_ERROR_ARGUMENT, "mip: dtype is %s, expected u8 or u16", tsr_dtype_name(dtype));
    if (window == 0 && level == 0) {
        window = dtype == TSR_U8 ? 255 : 65535;
        level = window / 2;
    }
    if (!(window > 0) || !isfinite(window) || !isfinite(level))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "mip: window %g and level %g, expected a finite window above 0 and a finite level", window, level);
    const int64_t pixels = (int64_t)frame->width * frame->height;
    TSR_TRY(tsr_host_allocate(NULL, (size_t)pixels * 4, (void **)&values));
    tsr_status status = tsr_mip_frame_download(frame, values);
    if (status == TSR_OK) status = tsr_image_create(frame->width, frame->height, 1, image);
    if (status == TSR_OK)
        for (int64_t i = 0; i < pixels; i++) {
            const double v = ((double)values[i] - (level - window / 2)) / window * 255;
            image->pixels[i] = (uint8_t)(v <= 0 ? 0 : v >= 255 ? 255 : v + 0.5);
        }
    tsr_host_release(NULL, values, (size_t)pixels * 4);
    TSR_TRY(status);
    return TSR_OK;
}

/* ---- errors ------------------------------------------------------------------------------------------------------------------------------ */

/* Median of the differences that are not 0, from how often each occurs; of an even number the mean of the two in the middle. */
static double median_of(const int64_t *counts, int64_t all)
{
    const int64_t low = (all - 1) / 2, high = all / 2;
    int64_t before = 0, first = -1;
    for (int64_t v = 1; v < 65536; v++) {
        before += counts[v];
        if (first < 0 && before > low) first = v;
        if (before > high) return 0.5 * (double)(first + v);
    }
    return 0;
}

tsr_status tsr_mip_compare(const tsr_mip_frame *frame, const tsr_mip_frame *reference, tsr_mip_errors *errors)
{
    TSR_NEEDS(frame, reference, errors);
    uint32_t *values = NULL;
    tsr_mip_errors own = TSR_MIP_ERRORS;
    TSR_TRY(TSR_STRUCT_GIVE(errors, &own));
    TSR_TRY(require_equal(frame, reference));
    const int64_t pixels = (int64_t)frame->width * frame->height;
    const size_t bytes = (size_t)pixels * 8 + 65536 * 8;
    TSR_TRY(tsr_host_allocate(NULL, bytes, (void **)&values));
    int64_t *counts = (int64_t *)(void *)values;
    uint32_t *a = values + 2 * 65536, *b = a + pixels;
    memset(counts, 0, 65536 * 8);
    tsr_status status = tsr_mip_frame_download(frame, a);
    if (status == TSR_OK) status = tsr_mip_frame_download(reference, b);
    int64_t sum = 0, total = 0;
    for (int64_t i = 0; i < pixels && status == TSR_OK; i++) {
        const int64_t d = a[i] > b[i] ? a[i] - b[i] : b[i] - a[i];
        sum += d;
        total += b[i];
        counts[d < 65536 ? d : 65535]++;
        own.different += d != 0;
        if ((double)d > own.maximum) own.maximum = (double)d;
    }
    if (status == TSR_OK) {
        own.relative = sum ? (total ? (double)sum / (double)total : (double)INFINITY) : 0;
        own.median = own.different ? median_of(counts, own.different) : 0;
    }
    tsr_host_release(NULL, values, bytes);
    TSR_TRY(status);
    return TSR_STRUCT_GIVE(errors, &own);
}
