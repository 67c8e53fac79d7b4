/* formats/images/linear.c: pictures of linear light: as 8 bits with the curve of sRGB, and 8 or 16 bits as linear light. */
#include <math.h>
#include <string.h>

#include "core/srgb.h"
#include "formats/images/linear.h"
#include "tessera/io.h"

/* Do the names of the channels, divided by spaces, begin with these? */
static int begin(const char *names, const char *first)
{
    const size_t length = strlen(first);
    return !strncmp(names, first, length) && (!names[length] || names[length] == ' ');
}

int32_t tsr_linear_colours(const tsr_volume *v)
{
    const char *names = tsr_volume_meta(v, "exr.channels");
    const int32_t channels = tsr_volume_channels(v);
    if (names) return begin(names, "R G B") ? 3 : begin(names, "Y");
    return channels > 2 ? 3 : channels > 0;
}

tsr_status tsr_linear_image(const tsr_volume *v, const char *name, tsr_image *image)
{
    const int64_t count = v->size.x * v->size.y;
    const char *names = tsr_volume_meta(v, "exr.channels");
    const int alpha = names ? begin(names, "R G B A") : tsr_volume_channels(v) == 4;
    const int32_t channels = alpha ? 4 : tsr_linear_colours(v);
    int64_t cut = 0;
    if (v->size.x > INT32_MAX || v->size.y > INT32_MAX) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: more than %d pixels a side", name, INT32_MAX);
    TSR_TRY(tsr_image_create((int32_t)v->size.x, (int32_t)v->size.y, channels, image));
    const float *from = (const float *)v->data;
    for (int32_t c = 0; c < channels; c++)
        for (int64_t i = 0; i < count; i++) {
            const double light = (double)from[c * count + i], held = light > 0 ? fmin(light, 1) : 0; /* NaN is black */
            cut += !(light >= 0 && light <= 1);
            image->pixels[i * channels + c] = (uint8_t)(255 * (c == 3 ? held : tsr_srgb_of_linear(held)) + 0.5);
        }
    tsr_remark("%s: linear light as 8 bits with the curve of sRGB%s", name, cut ? "; what is below 0 or above 1 is cut" : "");
    return TSR_OK;
}

/* Linear light of the samples of a picture as the file has it. */
static tsr_status take_light(const tsr_volume *v, const char *path, tsr_volume **map)
{
    const int64_t count = v->size.x * v->size.y;
    const int32_t colours = tsr_linear_colours(v);
    if (!colours)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: no picture: %lld x %lld x %lld numbers, expected colours or grey", path, (long long)v->size.x,
                 (long long)v->size.y, (long long)v->size.z);
    if (v->dtype != TSR_F32 && v->dtype != TSR_U8 && v->dtype != TSR_U16)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: a picture of %s, expected u8, u16 or f32", path, tsr_dtype_name(v->dtype));
    TSR_TRY(tsr_volume_create(NULL, TSR_F32, (tsr_size3){ v->size.x, v->size.y, 3 }, NULL, map));
    TSR_TRY(tsr_volume_set_channels(*map));
    float *to = (float *)(*map)->data;
    for (int32_t c = 0; c < 3; c++)
        for (int64_t i = 0; i < count; i++) {
            const int64_t at = (colours == 3 ? c : 0) * count + i;
            to[c * count + i] = v->dtype == TSR_F32   ? ((const float *)v->data)[at]
                                : v->dtype == TSR_U16 ? (float)tsr_linear_of_srgb(((const uint16_t *)v->data)[at] / 65535.0)
                                                      : (float)tsr_linear_of_srgb(((const uint8_t *)v->data)[at] / 255.0);
        }
    return TSR_OK;
}

tsr_status tsr_panorama_read(const char *path, const tsr_read_options *options, tsr_volume **map)
{
    TSR_RETURNS(map);
    TSR_NEEDS(path);
    tsr_volume *file = NULL;
    TSR_TRY(tsr_volume_read(path, options, &file));
    tsr_status status = TSR_OK;
    if (file->size.x < 2 || file->size.y < 2)
        status = TSR_FAILED(TSR_ERROR_FORMAT, "%s: %lld x %lld pixels, expected 2 or more each way", path, (long long)file->size.x,
                            (long long)file->size.y);
    if (status == TSR_OK) status = take_light(file, path, map);
    const float *v = status == TSR_OK ? (const float *)(*map)->data : NULL;
    for (int64_t i = 0; v && i < tsr_volume_count(*map) && status == TSR_OK; i++)
        if (!(v[i] >= 0 && isfinite(v[i]))) {
            const int64_t pixel = i % (file->size.x * file->size.y);
            status = TSR_FAILED(TSR_ERROR_FORMAT, "%s: light of %g at pixel %lld %lld, expected a finite number from 0 on", path, (double)v[i],
                                (long long)(pixel % file->size.x), (long long)(pixel / file->size.x));
        }
    tsr_volume_destroy(&file);
    if (status != TSR_OK) tsr_volume_destroy(map);
    return status;
}
