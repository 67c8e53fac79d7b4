/* viewer/overlay.c: what is laid over pictures: a second image or the speed over slices, the colours of labels, the surface through what hides it. */
#include "draw.h"

#include <math.h>
#include <string.h>

static const double least_label = 0.4; /* opacity of labels where the inside is not filled */

tsr_status viewer_need_picture(tsr_context *context, tsr_picture **picture, int32_t width, int32_t height)
{
    if (*picture && tsr_picture_width(*picture) == width && tsr_picture_height(*picture) == height) return TSR_OK;
    tsr_picture_destroy(picture);
    return tsr_picture_create(context, width, height, picture);
}

tsr_status viewer_drawer_take_overlay(viewer_drawer *d, viewer_image *image)
{
    viewer_image *before = d->overlay;
    tsr_volume *volume_before = d->overlay_volume;
    tsr_status status = TSR_OK;
    d->overlay = image;
    d->overlay_volume = NULL;
    if (!d->overlay_scene) status = tsr_scene_create(d->context, &d->overlay_scene);
    if (status == TSR_OK && image && tsr_context_device(d->context).kind != TSR_DEVICE_CPU)
        status = tsr_volume_copy(image->volume, d->context, &d->overlay_volume);
    if (status == TSR_OK) status = tsr_scene_set_volume(d->overlay_scene, d->overlay_volume ? d->overlay_volume : image ? image->volume : NULL);
    if (status != TSR_OK) { /* nothing is laid over */
        if (d->overlay_scene && tsr_scene_set_volume(d->overlay_scene, NULL) != TSR_OK) tsr_scene_destroy(&d->overlay_scene);
        tsr_volume_destroy(&d->overlay_volume);
        viewer_image_release(d->s, &d->overlay);
    }
    tsr_volume_destroy(&volume_before);
    viewer_image_release(d->s, &before);
    return status;
}

static uint8_t mixed(uint8_t below, double above, double share) { return (uint8_t)(below + share * (above - below) + 0.5); }

/* Dark is clear; then red, yellow, white. */
static double heat(double v, double opacity, double rgb[3])
{
    for (int k = 0; k < 3; k++) rgb[k] = 255 * fmin(1, fmax(0, 3 * v - k));
    return opacity * fmin(1, 2 * v);
}

/* What has no colour is clear: where the speed is nothing. */
static double coloured(const uint8_t *pixel, double opacity, double rgb[3])
{
    int least = 255, most = 0;
    for (int k = 0; k < 3; k++) {
        rgb[k] = pixel[k];
        if (pixel[k] < least) least = pixel[k];
        if (pixel[k] > most) most = pixel[k];
    }
    return opacity * (most - least) / 255;
}

static tsr_status draw_second(viewer_drawer *d, tsr_scene *scene, const tsr_slice_options *options, const tsr_image *under, tsr_image *over)
{
    tsr_status status = viewer_need_picture(d->context, &d->second, under->width, under->height);
    if (status == TSR_OK) status = tsr_render_slice(scene, options, d->second);
    return status == TSR_OK ? tsr_picture_image(d->second, 3, over) : status;
}

tsr_status viewer_lay_over(viewer_drawer *d, const viewer_task *t, const tsr_slice_options *slice, tsr_image *image)
{
    tsr_slice_options options = *slice;
    tsr_image over = { 0 };
    viewer_look look = t->look;
    const int speed = t->over == VIEWER_OVER_SPEED;
    look.speed = d->speed.kind;
    if (speed ? !d->speed.volume || !viewer_speed_covers(&d->speed, &look) : t->over != VIEWER_OVER_IMAGE || !d->overlay) return TSR_OK;
    options.line_width = -1;
    if (speed) {
        viewer_speed_palette(d, &options);
    } else {
        options.window_low = d->overlay->window_low;
        options.window_high = d->overlay->window_high;
    }
    const tsr_status status = draw_second(d, speed ? viewer_speed_scene(d) : d->overlay_scene, &options, image, &over);
    for (size_t i = 0, n = (size_t)image->width * (size_t)image->height; status == TSR_OK && i < n; i++) {
        double rgb[3];
        const double share = speed ? coloured(over.pixels + 3 * i, t->over_opacity, rgb) : heat(over.pixels[3 * i] / 255.0, t->over_opacity, rgb);
        for (int k = 0; k < 3; k++) image->pixels[3 * i + (size_t)k] = mixed(image->pixels[3 * i + (size_t)k], rgb[k], share);
    }
    tsr_image_destroy(&over);
    return status;
}

void viewer_lay_labels(const viewer_drawer *d, const viewer_task *t, const viewer_frame *f, tsr_image *image)
{
    const int64_t n[3] = { d->image->size.x, d->image->size.y, d->image->size.z };
    const double share = fmax(t->opacity, least_label);
    for (int32_t y = 0; d->labels && y < image->height; y++)
        for (int32_t x = 0; x < image->width; x++) {
            uint8_t *pixel = image->pixels + 3 * ((size_t)y * (size_t)image->width + (size_t)x);
            int64_t at[3];
            int within = 1;
            for (int k = 0; k < 3; k++) {
                at[k] = (int64_t)floor((double)f->origin[k] + (x + 0.5) * (double)f->right[k] + (y + 0.5) * (double)f->down[k] + 0.5);
                within &= at[k] >= 0 && at[k] < n[k];
            }
            if (!within) continue;
            const uint8_t *rgba = t->label[d->labels->voxel[(at[2] * n[1] + at[1]) * n[0] + at[0]]];
            for (int k = 0; rgba[3] && k < 3; k++) pixel[k] = mixed(pixel[k], rgba[k], share);
        }
}

tsr_status viewer_see_through(viewer_drawer *d, const viewer_task *t, const tsr_render_options *options, tsr_image *image)
{
    tsr_render_options alone = *options;
    tsr_image surface = { 0 };
    alone.mode = TSR_RENDER_SURFACE;
    alone.transparent = 1;
    alone.clip = alone.clip_volume_only = 0;
    tsr_status status = viewer_need_picture(d->context, &d->second, image->width, image->height);
    if (status == TSR_OK) status = tsr_render(d->scene, &d->camera, &alone, d->second);
    if (status == TSR_OK) status = tsr_picture_image(d->second, 4, &surface);
    for (size_t i = 0, n = (size_t)image->width * (size_t)image->height; status == TSR_OK && i < n; i++) {
        const uint8_t *rgba = surface.pixels + 4 * i;
        for (int k = 0; rgba[3] && k < 3; k++)
            image->pixels[3 * i + (size_t)k] = mixed(image->pixels[3 * i + (size_t)k], rgba[k], t->look.see_through * rgba[3] / 255.0);
    }
    tsr_image_destroy(&surface);
    return status;
}
