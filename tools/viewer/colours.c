/* viewer/colours.c: a transfer function from probed grey values (docs/theory/segmentation.md 6: the same statistics as for the speed set its centre and
 * width). The segmentation and its sessions know nothing of it. */
#include <math.h>

#include "session.h"

/* Voxels looked at to each side at most, however large the brush. */
enum { REACH = 48 };

/* Mean and deviation go on over a stroke (Welford); one that begins starts anew. */
static void take(viewer_colours *c, double value)
{
    const double before = value - c->mean;
    c->count++;
    c->mean += before / (double)c->count;
    c->squares += before * (value - c->mean);
}

/* The voxels whose middles lie within `radius` world units of voxel `at`, at least the nearest; real values. */
static tsr_status collect(tsr_context *context, const tsr_volume *volume, const double at[3], double radius, viewer_colours *c)
{
    const tsr_geometry *g = tsr_volume_geometry(volume);
    const tsr_vec3 spacing = tsr_geometry_spacing(g), middle = tsr_geometry_to_world(g, (tsr_vec3){ at[0], at[1], at[2] });
    const double step[3] = { spacing.x, spacing.y, spacing.z };
    const tsr_size3 size = tsr_volume_size(volume);
    const int64_t extents[3] = { size.x, size.y, size.z };
    int64_t low[3], high[3], nearest[3];
    tsr_volume *box = NULL, *real = NULL, *host = NULL;
    for (int k = 0; k < 3; k++) {
        const double reach = fmin(ceil(radius / step[k]), REACH);
        nearest[k] = llround(at[k]);
        if (!(at[k] > -0.5 && at[k] < (double)extents[k] - 0.5)) return TSR_OK; /* beside the image */
        low[k] = (int64_t)fmax((double)nearest[k] - reach, 0);
        high[k] = (int64_t)fmin((double)nearest[k] + reach + 1, (double)extents[k]);
    }
    tsr_status status = tsr_volume_crop(context, volume, (tsr_size3){ low[0], low[1], low[2] }, (tsr_size3){ high[0], high[1], high[2] }, &box);
    if (status == TSR_OK) status = tsr_volume_convert(context, box, TSR_F32, &real);
    if (status == TSR_OK) status = tsr_volume_copy(real, NULL, &host);
    const float *v = status == TSR_OK ? (const float *)tsr_volume_data_const(host) : NULL;
    for (int64_t z = low[2]; v && z < high[2]; z++)
        for (int64_t y = low[1]; y < high[1]; y++)
            for (int64_t x = low[0]; x < high[0]; x++, v++) {
                const tsr_vec3 p = tsr_geometry_to_world(g, (tsr_vec3){ (double)x, (double)y, (double)z });
                const double dx = p.x - middle.x, dy = p.y - middle.y, dz = p.z - middle.z;
                if (dx * dx + dy * dy + dz * dz <= radius * radius || (x == nearest[0] && y == nearest[1] && z == nearest[2])) take(c, (double)*v);
            }
    tsr_volume_destroy(&box);
    tsr_volume_destroy(&real);
    tsr_volume_destroy(&host);
    return status;
}

/* A tent over mean +- twice the deviation, in the colour that the function had there. */
static void tent(const viewer_colours *c, double least, tsr_transfer *transfer)
{
    const double width = fmax(2 * sqrt(c->squares / (double)(c->count > 1 ? c->count - 1 : 1)), least);
    const float middle = (float)c->mean, value[3] = { fminf((float)(c->mean - width), nextafterf(middle, -INFINITY)), middle,
                                                      fmaxf((float)(c->mean + width), nextafterf(middle, INFINITY)) };
    tsr_color color = { 1, 0.85f, 0.7f };
    float away = INFINITY;
    for (int32_t i = 0; i < transfer->points; i++) {
        const tsr_color own = transfer->point[i].color;
        if (!(fabsf(transfer->point[i].value - middle) < away) || !(own.r + own.g + own.b > 0.3f)) continue;
        away = fabsf(transfer->point[i].value - middle);
        color = own;
    }
    *transfer = (tsr_transfer){ .points = 3 };
    for (int k = 0; k < 3; k++) {
        transfer->point[k].value = value[k];
        transfer->point[k].alpha = k == 1 ? 0.5f : 0;
        transfer->point[k].color = color;
    }
}

tsr_status viewer_probe_colours(viewer_session *s, tsr_context *context, const tsr_volume *volume, const viewer_image *image, const viewer_command *c,
                                viewer_colours *colours)
{
    if (c->begin) *colours = (viewer_colours){ 0 };
    tsr_status status = collect(context, volume, c->at, c->radius, colours);
    if (status != TSR_OK || !colours->count) return status;
    pthread_mutex_lock(&s->lock);
    tent(colours, (image->maximum - image->minimum) / 1024, &s->transfer);
    viewer_session_touch(s, VIEWER_VOLUME, (uint32_t)c->input);
    pthread_cond_signal(&s->to_painter);
    viewer_session_changed(s);
    pthread_mutex_unlock(&s->lock);
    return TSR_OK;
}
