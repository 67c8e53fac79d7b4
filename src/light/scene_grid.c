/* light/scene_grid.c: shapes from meshes and volumes in files. */
#include "light/scene_grid.h"

#include <math.h>

#include "tessera/voxelize.h"

static void place(tsr_scene_shape *shape, const double centre[3], const double corner[3], const double extent[3], double step, double scale)
{
    /* the grid's sample 0 lies at `corner` of its own units, `step` apart; its box's middle comes to `centre`, its units times `scale` */
    shape->scale = 1 / (step * scale);
    for (int k = 0; k < 3; k++) {
        shape->shift[k] = centre[k] + (corner[k] - (corner[k] + 0.5 * extent[k])) * scale;
        shape->low[k] = centre[k] - 0.5 * extent[k] * scale;
        shape->high[k] = centre[k] + 0.5 * extent[k] * scale;
    }
}

tsr_status tsr_scene_grid_volume(const char *path, const double centre[3], double size, const double range[2], tsr_scene_shape *shape)
{
    tsr_context_options options = TSR_CONTEXT_OPTIONS;
    tsr_context *context = NULL;
    tsr_volume *volume = NULL, *converted = NULL;
    tsr_status status;
    options.device = "cpu";
    TSR_TRY(tsr_context_create(&options, &context));
    TSR_TRY_GOTO(tsr_volume_read(path, NULL, &volume), end);
    const tsr_vec3 h = tsr_geometry_spacing(tsr_volume_geometry(volume));
    if (fabs(h.y - h.x) > 1e-4 * h.x || fabs(h.z - h.x) > 1e-4 * h.x)
        TSR_FAIL_GOTO(TSR_ERROR_UNSUPPORTED, end, "%s: voxels of %g x %g x %g, expected cubes: resample it first", path, h.x, h.y, h.z);
    TSR_TRY_GOTO(tsr_volume_convert(context, volume, TSR_F32, &converted), end);
    TSR_TRY_GOTO(tsr_volume_copy(converted, NULL, &shape->grid), end); /* the scene outlives the context */
    const tsr_size3 n = tsr_volume_size(shape->grid);
    float *v = (float *)tsr_volume_data(shape->grid);
    for (int64_t i = 0; i < n.x * n.y * n.z; i++) {
        const double c = ((double)v[i] - range[0]) / (range[1] - range[0]);
        v[i] = c > 0 ? c < 1 ? (float)c : 1.0f : 0.0f; /* NaN is nothing */
    }
    const double extent[3] = { (double)(n.x - 1), (double)(n.y - 1), (double)(n.z - 1) }, corner[3] = { 0, 0, 0 };
    place(shape, centre, corner, extent, 1, size / fmax(1, fmax(extent[0], fmax(extent[1], extent[2]))));
end:
    tsr_volume_destroy(&converted);
    tsr_volume_destroy(&volume);
    tsr_context_destroy(&context);
    return status;
}

tsr_status tsr_scene_grid_mesh(const char *path, const double centre[3], double size, const tsr_light_scene *scene, tsr_scene_shape *shape)
{
    tsr_context_options options = TSR_CONTEXT_OPTIONS;
    tsr_voxelize_options how = TSR_VOXELIZE_OPTIONS;
    tsr_context *context = NULL;
    tsr_mesh *mesh = NULL;
    tsr_volume *volume = NULL;
    tsr_status status;
    double longest = 0, box = 0;
    options.device = "cpu";
    TSR_TRY(tsr_context_create(&options, &context));
    TSR_TRY_GOTO(tsr_mesh_read(path, NULL, &mesh), end);
    const float *p = tsr_mesh_vertices_const(mesh);
    const int64_t count = tsr_mesh_vertex_count(mesh);
    double low[3] = { 1e300, 1e300, 1e300 }, high[3] = { -1e300, -1e300, -1e300 }, extent[3], corner[3];
    for (int64_t i = 0; i < count; i++)
        for (int k = 0; k < 3; k++) {
            low[k] = fmin(low[k], (double)p[3 * i + k]);
            high[k] = fmax(high[k], (double)p[3 * i + k]);
        }
    for (int k = 0; k < 3; k++) {
        longest = fmax(longest, high[k] - low[k]);
        box = fmax(box, scene->high[k] - scene->low[k]);
    }
    if (!(longest > 0)) TSR_FAIL_GOTO(TSR_ERROR_FORMAT, end, "%s: a mesh without an extent", path);
    /* as fine as the scene's voxels */
    const double cells = fmin(fmax(box > 0 ? size / box * scene->resolution : 128, 16), 512), step = longest / cells,
                 reach = tsr_scene_reach(scene->smooth);
    const double margin = 1 + ceil(reach);
    how.band = margin * step;
    how.spacing = (tsr_vec3){ step, step, step };
    how.origin = (tsr_vec3){ low[0] - margin * step, low[1] - margin * step, low[2] - margin * step };
    for (int k = 0; k < 3; k++) {
        extent[k] = (ceil((high[k] - low[k]) / step) + 2 * margin) * step;
        corner[k] = low[k] - margin * step;
    }
    how.size = (tsr_size3){ (int64_t)lround(extent[0] / step) + 1, (int64_t)lround(extent[1] / step) + 1, (int64_t)lround(extent[2] / step) + 1 };
    TSR_TRY_GOTO(tsr_volume_from_mesh(context, mesh, TSR_F32, &how, &volume, NULL), end);
    TSR_TRY_GOTO(tsr_volume_copy(volume, NULL, &shape->grid), end);
    float *v = (float *)tsr_volume_data(shape->grid);
    for (int64_t i = 0; i < how.size.x * how.size.y * how.size.z; i++) v[i] = (float)tsr_scene_cover((double)v[i], reach * step);
    place(shape, centre, corner, extent, step, size / longest);
end:
    tsr_volume_destroy(&volume);
    tsr_mesh_destroy(&mesh);
    tsr_context_destroy(&context);
    return status;
}
