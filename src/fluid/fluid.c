/* fluid/fluid.c: the object: its memory, what is asked of it before and after a drawing. */
#include "fluid/fluid.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

tsr_status tsr_fluid_buffer_need(tsr_context *context, tsr_fluid_buffer *buffer, size_t bytes)
{
    if (bytes <= buffer->bytes) return TSR_OK;
    tsr_device_release(context, buffer->data, buffer->bytes);
    *buffer = (tsr_fluid_buffer){ 0 };
    const size_t room = bytes + bytes / 8; /* so that frames that grow do not allocate each time */
    TSR_TRY(tsr_device_allocate(context, room, &buffer->data));
    buffer->bytes = room;
    return TSR_OK;
}

tsr_status tsr_fluid_create(tsr_context *context, tsr_fluid **fluid)
{
    TSR_RETURNS(fluid);
    TSR_NEEDS(context);
    tsr_status status;
    TSR_TRY(tsr_host_allocate(&context->host_allocator, sizeof **fluid, (void **)fluid));
    tsr_fluid *f = *fluid;
    memset(f, 0, sizeof *f);
    f->context = context;
    f->light.level = 1.0f;
    TSR_TRY_GOTO(tsr_host_allocate(&context->host_allocator, TSR_FLUID_SKY_BYTES, (void **)&f->sky_map), fail);
    TSR_TRY_GOTO(tsr_fluid_set_sky(f, "day", (tsr_vec3){ 0, 0, 1 }), fail);
    return TSR_OK;
fail:
    tsr_fluid_destroy(fluid);
    return status;
}

void tsr_fluid_destroy(tsr_fluid **fluid)
{
    if (!fluid || !*fluid) return;
    tsr_fluid *f = *fluid;
    *fluid = NULL;
    tsr_fluid_buffer *b = (tsr_fluid_buffer *)(void *)&f->buffers;
    for (size_t k = 0; k < sizeof f->buffers / sizeof *b; k++) tsr_device_release(f->context, b[k].data, b[k].bytes);
    tsr_host_release(&f->context->host_allocator, f->sky_map, TSR_FLUID_SKY_BYTES);
    tsr_host_release(&f->context->host_allocator, f, sizeof *f);
}

int64_t tsr_fluid_bytes(const tsr_fluid *f)
{
    const tsr_fluid_buffer *b = (const tsr_fluid_buffer *)(const void *)&f->buffers;
    int64_t sum = 0;
    for (size_t k = 0; k < sizeof f->buffers / sizeof *b; k++) sum += (int64_t)b[k].bytes;
    return sum;
}

/* ---- results ------------------------------------------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    int32_t channels, of_picture;
} shapes[TSR_FLUID_IMAGES] = { { "color", 4, 1 },  { "depth", 1, 1 },     { "raw depth", 1, 0 }, { "surface", 1, 0 }, { "thickness", 1, 0 },
                               { "normal", 3, 0 }, { "curvature", 1, 0 }, { "noise", 1, 0 },     { "foam", 1, 0 },    { "spray", 1, 0 } };

tsr_status tsr_fluid_image_shape(const tsr_fluid *fluid, tsr_fluid_image image, int32_t *width, int32_t *height, int32_t *channels)
{
    TSR_NEEDS(fluid);
    if ((unsigned)image >= TSR_FLUID_IMAGES) TSR_FAIL(TSR_ERROR_ARGUMENT, "image is %d, expected 0 to %d", (int)image, TSR_FLUID_IMAGES - 1);
    if (!fluid->drawn) TSR_FAIL(TSR_ERROR_STATE, "nothing is drawn yet: draw a picture first");
    const tsr_fluid_view *v = shapes[image].of_picture ? &fluid->view : &fluid->low;
    if (width) *width = v->width;
    if (height) *height = v->height;
    if (channels) *channels = shapes[image].channels;
    return TSR_OK;
}

tsr_status tsr_fluid_download(tsr_fluid *fluid, tsr_fluid_image image, float *values)
{
    TSR_NEEDS(fluid, values);
    tsr_status status;
    float *padded = NULL;
    int32_t width, height, channels;
    TSR_TRY(tsr_fluid_image_shape(fluid, image, &width, &height, &channels));
    const struct tsr_fluid_buffers *b = &fluid->buffers;
    const size_t pixels = (size_t)width * (size_t)height;
    if (image == TSR_FLUID_IMAGE_COLOR) {
        TSR_TRY(fluid->context->backend->download(fluid->context->queue, values, b->color[fluid->result].data, pixels * 16));
        for (size_t i = 0; i < pixels; i++) values[4 * i + 3] = 1.0f;
        return TSR_OK;
    }
    if (image == TSR_FLUID_IMAGE_DEPTH) {
        TSR_TRY(fluid->context->backend->download(fluid->context->queue, values, b->distance.data, pixels * 4));
        return TSR_OK;
    }
    if (((image == TSR_FLUID_IMAGE_NOISE || image == TSR_FLUID_IMAGE_FOAM) && !fluid->has_noise) ||
        (image == TSR_FLUID_IMAGE_SPRAY && !fluid->has_spray)) {
        memset(values, 0, pixels * 4);
        return TSR_OK;
    }
    const int of_normals = image == TSR_FLUID_IMAGE_NORMAL || image == TSR_FLUID_IMAGE_CURVATURE;
    const void *from = image == TSR_FLUID_IMAGE_RAW_DEPTH   ? b->raw[0].data
                       : image == TSR_FLUID_IMAGE_SURFACE   ? b->depth[0].data
                       : image == TSR_FLUID_IMAGE_THICKNESS ? b->thickness[0].data
                       : image == TSR_FLUID_IMAGE_NOISE     ? b->noise.data
                       : image == TSR_FLUID_IMAGE_FOAM      ? b->foam.data
                       : image == TSR_FLUID_IMAGE_SPRAY     ? b->spray.data
                                                            : b->normals[0].data;
    const size_t bytes = tsr_fluid_padded(&fluid->low) * (of_normals ? 16u : 4u);
    TSR_TRY(tsr_host_allocate(&fluid->context->host_allocator, bytes, (void **)&padded));
    TSR_TRY_GOTO(fluid->context->backend->download(fluid->context->queue, padded, from, bytes), end);
    for (int32_t y = 0; y < height; y++)
        for (int32_t x = 0; x < width; x++) {
            const int64_t at = tsr_fluid_at(&fluid->low, x, y);
            float *to = values + ((size_t)y * (size_t)width + (size_t)x) * (size_t)channels;
            if (image == TSR_FLUID_IMAGE_NORMAL) {
                to[0] = padded[4 * at];
                to[1] = -padded[4 * at + 1];
                to[2] = -padded[4 * at + 2];
            } else *to = image == TSR_FLUID_IMAGE_CURVATURE ? padded[4 * at + 3] : padded[at];
        }
    status = TSR_OK;
end:
    tsr_host_release(&fluid->context->host_allocator, padded, bytes);
    return status;
}

tsr_status tsr_fluid_picture(tsr_fluid *fluid, double exposure, tsr_image *image)
{
    TSR_NEEDS(fluid, image);
    tsr_status status;
    int32_t width, height;
    memset(image, 0, sizeof *image);
    TSR_TRY(tsr_fluid_image_shape(fluid, TSR_FLUID_IMAGE_COLOR, &width, &height, NULL));
    if (!(exposure >= 0 && exposure <= 1e6)) TSR_FAIL(TSR_ERROR_ARGUMENT, "exposure is %g, expected 0 to 1e6", exposure);
    const int64_t pixels = (int64_t)width * height;
    TSR_TRY(tsr_fluid_buffer_need(fluid->context, &fluid->buffers.bytes, (size_t)pixels * 3));
    TSR_TRY(tsr_image_create(width, height, 3, image));
    TSR_TRY_GOTO(fluid->context->backend->fluid->encode(fluid->context->queue, (const float *)fluid->buffers.color[fluid->result].data,
                                                        (uint8_t *)fluid->buffers.bytes.data, pixels, 3, exposure > 0 ? (float)exposure : 1.0f),
                 fail);
    TSR_TRY_GOTO(fluid->context->backend->download(fluid->context->queue, image->pixels, fluid->buffers.bytes.data, (size_t)pixels * 3), fail);
    return TSR_OK;
fail:
    tsr_image_destroy(image);
    return status;
}

/* ---- a row of frames ----------------------------------------------------------------------------------------------------------------- */

/* Memory of `bytes` that keeps what it holds. */
static tsr_status keep(tsr_context *context, tsr_fluid_buffer *buffer, size_t held, size_t bytes)
{
    tsr_status status;
    tsr_fluid_buffer larger = { 0 };
    if (bytes <= buffer->bytes) return TSR_OK;
    TSR_TRY(tsr_fluid_buffer_need(context, &larger, bytes));
    if (held > 0) TSR_TRY_GOTO(context->backend->copy(context->queue, larger.data, buffer->data, held), fail);
    tsr_device_release(context, buffer->data, buffer->bytes);
    *buffer = larger;
    return TSR_OK;
fail:
    tsr_device_release(context, larger.data, larger.bytes);
    return status;
}

tsr_status tsr_fluid_agitate(tsr_fluid *fluid, const tsr_fluid_particles *particles, double seconds, double threshold, double cooling)
{
    TSR_NEEDS(fluid, particles);
    tsr_fluid_particles p;
    TSR_TRY(tsr_options_take(&p, sizeof p, particles));
    if (p.count < 0 || p.count > INT32_MAX) TSR_FAIL(TSR_ERROR_ARGUMENT, "%lld particles, expected 0 to %d", (long long)p.count, INT32_MAX);
    if (p.count > 0 && !p.velocities) TSR_FAIL(TSR_ERROR_ARGUMENT, "velocities is NULL, expected them: agitation is a change of velocity");
    if (!(seconds >= 0 && seconds <= 1e9)) TSR_FAIL(TSR_ERROR_ARGUMENT, "seconds is %g, expected the time since the frame before, 0 to 1e9", seconds);
    if (!(threshold >= 0 && threshold <= 1e18))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "threshold is %g, expected a change of velocity of 0 to 1e18", threshold);
    if (!(cooling > 0 && cooling <= 1e9)) TSR_FAIL(TSR_ERROR_ARGUMENT, "cooling is %g, expected a time above 0", cooling);
    if (p.count == 0) return TSR_OK;
    const int64_t known = fluid->heated < p.count ? fluid->heated : p.count;
    TSR_TRY(keep(fluid->context, &fluid->buffers.heat, (size_t)known * 4, (size_t)p.count * 4));
    TSR_TRY(keep(fluid->context, &fluid->buffers.velocity, (size_t)known * 12, (size_t)p.count * 12));
    const tsr_fluid_heat_job job = { .velocities = p.velocities,
                                     .before = (float *)fluid->buffers.velocity.data,
                                     .heats = (float *)fluid->buffers.heat.data,
                                     .count = (int32_t)p.count,
                                     .known = (int32_t)known,
                                     .threshold = (float)threshold,
                                     .keep = (float)exp(-seconds / cooling) };
    TSR_TRY(fluid->context->backend->fluid->heat(fluid->context->queue, &job));
    fluid->heated = p.count;
    return TSR_OK;
}
