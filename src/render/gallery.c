/* The pictures of a segmentation, in one call. */
#include <math.h>
#include <string.h>

#include "render/scene.h"

/* Heads and organs are round: fitting a box that is a little smaller than theirs fills the picture better and still shows all of them. */
static tsr_box rounded(const tsr_box *b)
{
    tsr_vec3 centre = tsr_vec3_scale(tsr_vec3_add(b->lower, b->upper), 0.5), half = tsr_vec3_scale(tsr_vec3_sub(b->upper, b->lower), 0.5 * 0.88);
    return (tsr_box){ tsr_vec3_sub(centre, half), tsr_vec3_add(centre, half) };
}

/* Index along each axis of the source of the middle of the surface. */
static tsr_status middle_of_surface(const tsr_scene *scene, const tsr_scene_info *info, double position[3])
{
    tsr_vec3 centre = tsr_vec3_scale(tsr_vec3_add(info->surface_bounds.lower, info->surface_bounds.upper), 0.5), index;
    TSR_TRY(tsr_geometry_to_index(&scene->source->geometry, centre, &index));
    const double at[3] = { index.x, index.y, index.z };
    for (int k = 0; k < 3; k++) position[k] = fmin(fmax(rint(at[k]), 0), scene->source->size[k] - 1);
    return TSR_OK;
}

/* The pictures report one after the other. */
struct share {
    const tsr_progress *all;
    int done;
};
static int report_share(void *user, double fraction, const char *stage)
{
    const struct share *s = (const struct share *)user;
    return tsr_progress_report(s->all, (s->done + fraction) / 6, stage);
}

static tsr_status draw_view(tsr_scene *scene, const tsr_box *bounds, tsr_space space, double azimuth, double elevation,
                            const tsr_render_options *options, tsr_picture *picture, tsr_image *image)
{
    tsr_camera camera;
    tsr_box box = rounded(bounds);
    TSR_TRY(tsr_camera_orbit(&box, space, azimuth, elevation, TSR_PERSPECTIVE, (double)picture->width / picture->height, &camera));
    TSR_TRY(tsr_render(scene, &camera, options, picture));
    TSR_TRY(tsr_picture_image(picture, 3, image));
    return TSR_OK;
}

tsr_status tsr_gallery_render(tsr_scene *scene, const tsr_gallery_options *options, tsr_gallery *gallery)
{
    TSR_NEEDS(scene, gallery);
    tsr_status status;
    tsr_gallery_options o;
    tsr_scene_info info = TSR_SCENE_INFO;
    tsr_picture *picture = NULL;
    double position[3];
    memset(gallery, 0, sizeof *gallery);
    TSR_TRY(TSR_OPTIONS_TAKE(&o, options));
    TSR_TRY(tsr_scene_describe(scene, &info));
    if (!info.has_volume || !info.has_surface)
        TSR_FAIL(TSR_ERROR_STATE, "a gallery needs a volume and a surface; the scene has no %s", info.has_volume ? "surface" : "volume");
    if (scene->surface_kind == TSR_FIELD_MESH)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "a gallery needs a surface given by a volume or a tile list (a mesh has no inside)");
    TSR_TRY(middle_of_surface(scene, &info, position));
    TSR_TRY(tsr_picture_create(scene->context, o.size ? o.size : 768, o.size ? o.size : 768, &picture));
    struct share share = { &o.progress, 0 };
    const tsr_progress progress = { o.progress.report ? report_share : NULL, &share };
    for (int k = 0; k < 3; k++) {
        tsr_slice_options s = TSR_SLICE_OPTIONS;
        s.axis = k;
        s.position = position[k];
        s.supersampling = 2;
        s.progress = progress;
        share.done = k;
        TSR_TRY_GOTO(tsr_render_slice(scene, &s, picture), end);
        TSR_TRY_GOTO(tsr_picture_image(picture, 3, &gallery->slice[k]), end);
    }
    tsr_render_options r = TSR_RENDER_OPTIONS;
    r.mode = TSR_RENDER_SURFACE;
    r.supersampling = 2;
    r.surface_color = o.surface_color;
    r.given = o.given;
    r.progress = progress;
    share.done = 3;
    TSR_TRY_GOTO(draw_view(scene, &info.surface_bounds, info.space, 50, 18, &r, picture, &gallery->view[0]), end);
    share.done = 4;
    TSR_TRY_GOTO(draw_view(scene, &info.surface_bounds, info.space, 180, 72, &r, picture, &gallery->view[1]), end);
    share.done = 5;
    r.mode = TSR_RENDER_COMBINED; /* the surface in its place within the rest of the source */
    r.transfer = o.transfer;
    r.region = TSR_REGION_OUTSIDE;
    r.step = 1;
    TSR_TRY_GOTO(draw_view(scene, &info.bounds, info.space, 50, 12, &r, picture, &gallery->combined), end);
end:
    tsr_picture_destroy(&picture);
    if (status != TSR_OK) tsr_gallery_destroy(gallery);
    return status;
}

tsr_status tsr_gallery_sheet(const tsr_gallery *gallery, tsr_image *sheet)
{
    TSR_NEEDS(gallery, sheet);
    const tsr_image *all[6] = {
        &gallery->slice[0], &gallery->slice[1], &gallery->slice[2], &gallery->view[0], &gallery->view[1], &gallery->combined
    };
    int32_t size = gallery->slice[0].width, gap = size / 96 + 1;
    memset(sheet, 0, sizeof *sheet);
    for (int i = 0; i < 6; i++)
        if (!all[i]->pixels || all[i]->width != size || all[i]->height != size || all[i]->channels != 3)
            TSR_FAIL(TSR_ERROR_ARGUMENT, "gallery: picture %d is missing or differs in size", i);
    TSR_TRY(tsr_image_create(3 * size + 2 * gap, 2 * size + gap, 3, sheet));
    for (int i = 0; i < 6; i++) {
        int32_t x = i % 3 * (size + gap), y = i / 3 * (size + gap);
        for (int32_t row = 0; row < size; row++)
            memcpy(sheet->pixels + 3 * ((size_t)(y + row) * (size_t)sheet->width + (size_t)x), all[i]->pixels + 3 * (size_t)row * (size_t)size,
                   3 * (size_t)size);
    }
    return TSR_OK;
}

void tsr_gallery_destroy(tsr_gallery *g)
{
    if (!g) return;
    for (int k = 0; k < 3; k++) tsr_image_destroy(&g->slice[k]);
    for (int k = 0; k < 2; k++) tsr_image_destroy(&g->view[k]);
    tsr_image_destroy(&g->combined);
    memset(g, 0, sizeof *g);
}
