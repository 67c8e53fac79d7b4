#include <string.h>

#include "render/scene.h"

enum { LARGEST = 16384 };

tsr_status tsr_picture_create(tsr_context *context, int32_t width, int32_t height, tsr_picture **picture)
{
    TSR_RETURNS(picture);
    TSR_NEEDS(context);
    tsr_status status;
    if (width < 1 || height < 1 || width > LARGEST || height > LARGEST)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "picture of %d x %d pixels, expected 1 to %d each", width, height, LARGEST);
    TSR_TRY(tsr_host_allocate(&context->host_allocator, sizeof **picture, (void **)picture));
    tsr_picture *p = *picture;
    *p = (tsr_picture){ .context = context, .width = width, .height = height };
    size_t pixels = (size_t)width * (size_t)height;
    TSR_TRY_GOTO(tsr_device_allocate(context, pixels * 16, (void **)&p->rgba), fail);
    TSR_TRY_GOTO(tsr_device_allocate(context, pixels * 4, (void **)&p->depth), fail);
    TSR_TRY_GOTO(context->backend->render->clear(context->queue, p->rgba, p->depth, (int64_t)pixels), fail);
    return TSR_OK;
fail:
    tsr_picture_destroy(picture);
    return status;
}

void tsr_picture_destroy(tsr_picture **picture)
{
    if (!picture || !*picture) return;
    tsr_picture *p = *picture;
    *picture = NULL;
    size_t pixels = (size_t)p->width * (size_t)p->height;
    tsr_device_release(p->context, p->rgba, pixels * 16);
    tsr_device_release(p->context, p->depth, pixels * 4);
    tsr_host_release(&p->context->host_allocator, p, sizeof *p);
}

int32_t tsr_picture_width(const tsr_picture *p) { return p ? p->width : 0; }
int32_t tsr_picture_height(const tsr_picture *p) { return p ? p->height : 0; }
tsr_device tsr_picture_device(const tsr_picture *p) { return p ? p->context->device : (tsr_device){ 0 }; }
const float *tsr_picture_rgba(const tsr_picture *p) { return p ? p->rgba : NULL; }
const float *tsr_picture_depth(const tsr_picture *p) { return p ? p->depth : NULL; }

tsr_status tsr_picture_download(const tsr_picture *picture, float *rgba, float *depth)
{
    TSR_NEEDS(picture);
    size_t pixels = (size_t)picture->width * (size_t)picture->height;
    if (rgba) TSR_TRY(picture->context->backend->download(picture->context->queue, rgba, picture->rgba, pixels * 16));
    if (depth) TSR_TRY(picture->context->backend->download(picture->context->queue, depth, picture->depth, pixels * 4));
    return TSR_OK;
}

tsr_status tsr_picture_image(const tsr_picture *picture, int32_t channels, tsr_image *image)
{
    TSR_NEEDS(picture, image);
    tsr_status status;
    void *bytes = NULL;
    memset(image, 0, sizeof *image);
    if (channels != 3 && channels != 4) TSR_FAIL(TSR_ERROR_ARGUMENT, "image of %d channels, expected 3 or 4", channels);
    int64_t pixels = (int64_t)picture->width * picture->height;
    size_t size = (size_t)pixels * (size_t)channels;
    TSR_TRY(tsr_device_allocate(picture->context, size, &bytes));
    TSR_TRY_GOTO(tsr_image_create(picture->width, picture->height, channels, image), end);
    TSR_TRY_GOTO(picture->context->backend->render->encode(picture->context->queue, picture->rgba, pixels, channels, (uint8_t *)bytes), end);
    TSR_TRY_GOTO(picture->context->backend->download(picture->context->queue, image->pixels, bytes, size), end);
end:
    tsr_device_release(picture->context, bytes, size);
    if (status != TSR_OK) tsr_image_destroy(image);
    return status;
}
