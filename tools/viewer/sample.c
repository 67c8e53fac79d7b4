/* viewer/sample.c: values at places: of the level set under the cursor and under the pixels of a slice, whose inside is filled with a colour. */
#include "draw.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Arrays of a device are the memory of volumes. */
static tsr_status sample_there(tsr_context *context, const tsr_tiles *tiles, float (*places)[3], float *values, int64_t count,
                               const tsr_tiles_sample_options *options)
{
    const tsr_size3 size[2] = { { 3 * count, 1, 1 }, { count, 1, 1 } };
    void *memory[2] = { places, values };
    tsr_volume *on[2] = { NULL, NULL }, *host = NULL;
    tsr_status status = TSR_OK;
    for (int i = 0; i < 2 && status == TSR_OK; i++) {
        status = tsr_volume_wrap(NULL, TSR_F32, size[i], NULL, memory[i], NULL, NULL, &host);
        if (status == TSR_OK) status = tsr_volume_copy(host, context, &on[i]);
        tsr_volume_destroy(&host);
    }
    if (status == TSR_OK)
        status = tsr_tiles_sample(tiles, (const float(*)[3])tsr_volume_data(on[0]), (float *)tsr_volume_data(on[1]), count, options);
    if (status == TSR_OK) status = tsr_volume_copy(on[1], NULL, &host);
    if (status == TSR_OK) memcpy(values, tsr_volume_data_const(host), (size_t)count * sizeof *values);
    tsr_volume_destroy(&host);
    tsr_volume_destroy(&on[0]);
    tsr_volume_destroy(&on[1]);
    return status;
}

tsr_status viewer_sample(tsr_context *context, const tsr_tiles *tiles, float (*places)[3], float *values, int64_t count)
{
    tsr_tiles_sample_options options = TSR_TILES_SAMPLE_OPTIONS;
    options.world = 1;
    if (tsr_context_device(context).kind != TSR_DEVICE_CPU) return sample_there(context, tiles, places, values, count, &options);
    tsr_status status = tsr_tiles_sample(tiles, (const float(*)[3])places, values, count, &options);
    return status == TSR_OK ? tsr_context_synchronize(context) : status;
}

static double voxel(const tsr_volume *volume, int64_t x, int64_t y, int64_t z)
{
    const tsr_size3 n = tsr_volume_size(volume);
    const void *data = tsr_volume_data_const(volume);
    const int64_t i = (z * n.y + y) * n.x + x;
    double slope, intercept, v = NAN;
    tsr_volume_scaling(volume, &slope, &intercept);
    switch (tsr_volume_dtype(volume)) {
    case TSR_U8: v = ((const uint8_t *)data)[i]; break;
    case TSR_I8: v = ((const int8_t *)data)[i]; break;
    case TSR_U16: v = ((const uint16_t *)data)[i]; break;
    case TSR_I16: v = ((const int16_t *)data)[i]; break;
    case TSR_U32: v = ((const uint32_t *)data)[i]; break;
    case TSR_I32: v = ((const int32_t *)data)[i]; break;
    case TSR_F32: v = (double)((const float *)data)[i]; break;
    case TSR_F64: v = ((const double *)data)[i]; break;
    default: return NAN; /* of these no image is shown */
    }
    return slope * v + intercept;
}

void viewer_values_at(const viewer_drawer *d, tsr_vec3 at, double *grey, double *level)
{
    const viewer_image *i = d->image;
    *grey = *level = NAN;
    if (!i) return;
    const int64_t x = (int64_t)floor(at.x + 0.5), y = (int64_t)floor(at.y + 0.5), z = (int64_t)floor(at.z + 0.5);
    if (x < 0 || y < 0 || z < 0 || x >= i->size.x || y >= i->size.y || z >= i->size.z) return;
    if (i->volume) *grey = voxel(i->volume, x, y, z); /* in host memory */
    const tsr_vec3 world = tsr_geometry_to_world(&i->geometry, at);
    float place[1][3] = { { (float)world.x, (float)world.y, (float)world.z } }, value = 0;
    if (d->tiles && viewer_sample(d->context, d->tiles, place, &value, 1) == TSR_OK) *level = (double)value;
}

/* Every second pixel of every second row is looked at and stands for its neighbours: a filled area needs no more, its border is the contour's. */
void viewer_fill(const viewer_drawer *d, const viewer_task *t, const viewer_frame *f, tsr_image *image)
{
    enum { PITCH = 2 };
    const int32_t w = (image->width + PITCH - 1) / PITCH, h = (image->height + PITCH - 1) / PITCH;
    const int64_t count = (int64_t)w * h;
    if (!d->tiles) return;
    float(*places)[3] = (float(*)[3])malloc((size_t)count * sizeof *places), *values = (float *)malloc((size_t)count * sizeof *values);
    for (int64_t i = 0; places && values && i < count; i++) {
        const double x = PITCH * (double)(i % w) + 0.5 * PITCH, y = PITCH * (double)(i / w) + 0.5 * PITCH;
        double index[3];
        for (int k = 0; k < 3; k++) index[k] = (double)f->origin[k] + x * (double)f->right[k] + y * (double)f->down[k];
        const tsr_vec3 at = tsr_geometry_to_world(&d->image->geometry, (tsr_vec3){ index[0], index[1], index[2] });
        places[i][0] = (float)at.x;
        places[i][1] = (float)at.y;
        places[i][2] = (float)at.z;
    }
    if (places && values && viewer_sample(d->context, d->tiles, places, values, count) == TSR_OK)
        for (int32_t y = 0; y < image->height; y++)
            for (int32_t x = 0; x < image->width; x++) {
                uint8_t *pixel = image->pixels + 3 * ((size_t)y * (size_t)image->width + (size_t)x);
                if (!(values[(int64_t)(y / PITCH) * w + x / PITCH] < 0)) continue;
                for (int k = 0; k < 3; k++) pixel[k] = (uint8_t)(pixel[k] + t->opacity * (255 * t->colour[k] - pixel[k]) + 0.5);
            }
    free(places);
    free(values);
}
