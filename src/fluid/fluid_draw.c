/* fluid/fluid_draw.c: one picture: the order of the passes. */
#include <math.h>
#include <string.h>

#include "camera/camera.h"
#include "fluid/fluid_draw.h"

/* ---- arguments ----------------------------------------------------------------------------------------------------------------------- */

static tsr_status check_number(const char *name, double v, double low, double high)
{
    if (!(v >= low && v <= high)) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s is %g, expected %g to %g", name, v, low, high);
    return TSR_OK;
}

static int32_t default_iterations(const tsr_fluid_options *o)
{
    const int32_t flow = o->resolution == 4 ? 15 : o->resolution == 2 ? 40 : 100;
    switch (o->smoother) {
    case TSR_FLUID_FLOW:
    case TSR_FLUID_FLOW_EXACT: return flow;
    case TSR_FLUID_FLOW_IMPLICIT: return o->resolution == 4 ? 3 : o->resolution == 2 ? 5 : 8;
    case TSR_FLUID_FLOW_MULTIGRID: return 2;
    case TSR_FLUID_BINOMIAL: return 20;
    case TSR_FLUID_UNSMOOTHED: return 0;
    default: return 1;
    }
}

static tsr_status check_options(tsr_fluid_drawing *d)
{
    tsr_fluid_options *o = &d->o;
    if (o->width < 1 || o->height < 1 || o->width > 16384 || o->height > 16384)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "picture of %d x %d pixels, expected 1 to 16384 each", o->width, o->height);
    if (!o->resolution) o->resolution = 1;
    if (o->resolution != 1 && o->resolution != 2 && o->resolution != 4)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "resolution is %d, expected 1 (full), 2 (half) or 4 (a quarter)", o->resolution);
    if ((unsigned)o->smoother > TSR_FLUID_UNSMOOTHED)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "smoother is %d, expected 0 to %d", (int)o->smoother, TSR_FLUID_UNSMOOTHED);
    if (o->iterations < 0 || o->iterations > 100000) TSR_FAIL(TSR_ERROR_ARGUMENT, "iterations is %d, expected 0 to 100000", o->iterations);
    if (!o->iterations && !(o->given & TSR_FLUID_GIVEN_ITERATIONS)) o->iterations = default_iterations(o);
    if (o->smoother == TSR_FLUID_UNSMOOTHED) o->iterations = 0;
    TSR_TRY(check_number("equal_iterations", o->equal_iterations, 0, 100000));
    if (!o->equal_iterations) o->equal_iterations = o->resolution == 4 ? 15 : o->resolution == 2 ? 40 : 100;
    if (!(o->step >= 0 && o->step <= 1))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "step is %g, expected at most 1: beyond its bound, 1, the flow is not stable", o->step);
    if (o->step == 0) o->step = 0.9;
    TSR_TRY(check_number("global_step", o->global_step, 0, 1e30));
    TSR_TRY(check_number("threshold", o->threshold, 0, 1e30));
    TSR_TRY(check_number("particle_scale", o->particle_scale, 0, 1e6));
    if (o->particle_scale == 0) o->particle_scale = 1;
    TSR_TRY(check_number("least_pixels", o->least_pixels, 0, 1000));
    if (o->least_pixels == 0) o->least_pixels = 0.75;
    if (o->layers < 0 || o->layers > TSR_FLUID_LAYERS) TSR_FAIL(TSR_ERROR_ARGUMENT, "layers is %d, expected 1 to %d", o->layers, TSR_FLUID_LAYERS);
    if (!o->layers) o->layers = 1;
    TSR_TRY(check_number("thickness_blur", o->thickness_blur, 0, 1000));
    if (!o->thickness_blur && !(o->given & TSR_FLUID_GIVEN_THICKNESS_BLUR)) o->thickness_blur = 4;
    if (o->thickness_step != 0 && o->thickness_step != 1 && o->thickness_step != 2)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "thickness_step is %d, expected 1 (every pixel) or 2 (every other)", o->thickness_step);
    if (!o->thickness_step) o->thickness_step = 2;
    TSR_TRY(check_number("sigma_space", o->sigma_space, 0, 1e30));
    TSR_TRY(check_number("sigma_depth", o->sigma_depth, 0, 1e30));
    TSR_TRY(check_number("neighbour_reach", o->neighbour_reach, 0, 100));
    TSR_TRY(check_number("foam_depth", o->foam_depth, 0, 1e6));
    TSR_TRY(check_number("noise_reach", o->noise_reach, 0, 100));
    TSR_TRY(check_number("spray_low", o->spray_low, 0, 1e30));
    TSR_TRY(check_number("spray_high", o->spray_high, 0, 1e30));
    if (o->spray_high > 0 && !(o->spray_high > o->spray_low))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "spray_low is %g and spray_high %g, expected rising densities", o->spray_low, o->spray_high);
    if (o->spray_low > 0 && o->spray_high == 0) o->spray_high = 2 * o->spray_low;
    TSR_TRY(check_number("spray_size", o->spray_size, 0, 100));
    TSR_TRY(check_number("spray_opacity", o->spray_opacity, 0, 1));
    return TSR_OK;
}

static tsr_status check_particles(tsr_fluid_drawing *d, const tsr_fluid_particles *particles)
{
    TSR_TRY(TSR_OPTIONS_TAKE(&d->particles, particles));
    const tsr_fluid_particles *p = &d->particles;
    if (!particles) TSR_FAIL(TSR_ERROR_ARGUMENT, "particles is NULL");
    if (p->count < 0 || p->count > INT32_MAX) TSR_FAIL(TSR_ERROR_ARGUMENT, "%lld particles, expected 0 to %d", (long long)p->count, INT32_MAX);
    if (p->count > 0 && !p->positions) TSR_FAIL(TSR_ERROR_ARGUMENT, "positions is NULL");
    if (!(p->radius > 0 && p->radius < 1e15))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "radius is %g, expected a length above 0 (typical, where particles have their own)", p->radius);
    if (!(fabs(p->origin.x) < 1e15 && fabs(p->origin.y) < 1e15 && fabs(p->origin.z) < 1e15)) TSR_FAIL(TSR_ERROR_ARGUMENT, "origin is not finite");
    return TSR_OK;
}

static tsr_status check_backdrop(tsr_fluid_drawing *d, const tsr_fluid_backdrop *backdrop)
{
    TSR_TRY(TSR_OPTIONS_TAKE(&d->backdrop, backdrop));
    const tsr_fluid_backdrop *b = &d->backdrop;
    if ((unsigned)b->scenery > TSR_FLUID_PICTURE) TSR_FAIL(TSR_ERROR_ARGUMENT, "scenery is %d, expected 0 to %d", (int)b->scenery, TSR_FLUID_PICTURE);
    if (b->scenery == TSR_FLUID_PICTURE && !b->color)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "color of the backdrop is NULL, expected a picture for this scenery");
    TSR_TRY(check_number("check", b->check, 0, 1e30));
    const double *low = &b->bounds.lower.x, *high = &b->bounds.upper.x;
    for (int k = 0; k < 3; k++)
        if (!(low[k] > -1e15 && high[k] < 1e15 && low[k] <= high[k]))
            TSR_FAIL(TSR_ERROR_ARGUMENT, "bounds of the backdrop from %g to %g along %c, expected rising numbers", low[k], high[k], "xyz"[k]);
    return TSR_OK;
}

/* ---- views --------------------------------------------------------------------------------------------------------------------------- */

void tsr_fluid_extent(tsr_fluid_view *v, int32_t width, int32_t height)
{
    v->width = width;
    v->height = height;
    v->stride = (width + 2 * TSR_FLUID_PAD + 15) / 16 * 16;
    v->tiles[0] = (width + TSR_FLUID_TILE - 1) / TSR_FLUID_TILE;
    v->tiles[1] = (height + TSR_FLUID_TILE - 1) / TSR_FLUID_TILE;
}

static tsr_float3 single(tsr_vec3 v) { return tsr_f3((float)v.x, (float)v.y, (float)v.z); }

static tsr_status make_views(tsr_fluid_drawing *d, const tsr_camera *camera)
{
    tsr_camera_rays rays;
    tsr_vec3 right, up, forward;
    if (!camera) TSR_FAIL(TSR_ERROR_ARGUMENT, "camera is NULL");
    TSR_TRY(tsr_camera_check(camera));
    if (camera->projection == TSR_PROJECTION_MATRIX)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "camera: a projection by a matrix, expected a pinhole or an orthographic camera");
    TSR_TRY(tsr_camera_rays_make("camera", camera, d->o.width, d->o.height, &rays));
    tsr_camera_axes(camera, &right, &up, &forward);
    tsr_fluid_view *v = &d->view;
    v->eye = single(tsr_vec3_sub(camera->position, d->particles.origin));
    v->right = single(right);
    v->down = single(tsr_vec3_scale(up, -1));
    v->forward = single(forward);
    const int parallel = camera->projection == TSR_ORTHOGRAPHIC;
    for (int k = 0; k < 2; k++) {
        v->centre[k] = (float)rays.centre[k];
        v->slope[k] = parallel ? 0.0f : (float)fabs(rays.step[k]);
        v->step[k] = parallel ? (float)fabs(rays.step[k]) : 0.0f;
    }
    const double least = parallel ? 0 : 1e-3 * d->particles.radius;
    v->nearest = (float)fmax(camera->clip[0] > 0 || parallel ? camera->clip[0] : 0, least);
    tsr_fluid_extent(v, d->o.width, d->o.height);
    d->low = *v;
    const int32_t r = d->o.resolution;
    for (int k = 0; k < 2; k++) {
        d->low.centre[k] = v->centre[k] / (float)r;
        d->low.slope[k] = v->slope[k] * (float)r;
        d->low.step[k] = v->step[k] * (float)r;
    }
    tsr_fluid_extent(&d->low, (d->o.width + r - 1) / r, (d->o.height + r - 1) / r);
    return TSR_OK;
}

/* ---- passes -------------------------------------------------------------------------------------------------------------------------- */

static tsr_status make_draw(tsr_fluid_drawing *d)
{
    tsr_fluid_cast *w = &d->draw;
    const int noisy = d->look.noise > 0 || d->look.agitated > 0;
    *w = (tsr_fluid_cast){ .view = d->low,
                           .radius = (float)d->particles.radius,
                           .scale = (float)d->o.particle_scale,
                           .least = (float)d->o.least_pixels,
                           .noise_reach = noisy ? (float)(d->o.noise_reach > 0             ? d->o.noise_reach
                                                          : (double)d->look.noise_size > 0 ? (double)d->look.noise_size
                                                                                           : 2.5)
                                                : 0,
                           .spray_low = (float)d->o.spray_low,
                           .spray_high = d->particles.densities ? (float)d->o.spray_high : 0,
                           .spray_opacity = (float)(d->o.spray_opacity > 0 ? d->o.spray_opacity : 0.5),
                           .spray_size = (float)(d->o.spray_size > 0 ? d->o.spray_size : 0.7),
                           .noise_calm = d->look.noise,
                           .noise_wild = fmaxf(d->look.agitated, d->look.noise),
                           .sprite = d->o.sprites != 0,
                           .count = (int32_t)d->particles.count };
    d->radius = d->particles.radius * d->o.particle_scale;
    d->f->has_noise = noisy && d->particles.count > 0;
    d->f->has_spray = w->spray_high > 0 && d->particles.count > 0;
    return TSR_OK;
}

/* Backends that scatter need no lists while the particles are small: then all threads have about the same to do, whereas tiles have lists of very
 * different length. Both ways give the same bits. Ellipsoids and layers go by lists. */
static int scattered(const tsr_fluid_drawing *d)
{
    const tsr_fluid_tally *t = &d->tally;
    return t->largest <= 16384 && t->pixels <= (uint64_t)d->particles.count * 1024;
}

/* Records and, where they are needed, lists of tiles for the view in `draw`. The host waits once, for the tally. */
static tsr_status bin(tsr_fluid_drawing *d, const tsr_fluid_cast *draw)
{
    const int64_t count = draw->count, tiles = (int64_t)draw->view.tiles[0] * draw->view.tiles[1];
    const int may_scatter = d->ops->scatters && !d->particles.shapes && d->o.layers == 1;
    size_t scan;
    TSR_FLUID_NEED(records, (size_t)count * sizeof(tsr_fluid_record));
    if (d->particles.shapes) TSR_FLUID_NEED(forms, (size_t)count * 24);
    TSR_FLUID_NEED(tally, sizeof d->tally);
    TSR_FLUID_NEED(counts, (size_t)(tiles + 1) * 4);
    const tsr_backend *backend = d->f->context->backend;
    TSR_TRY(backend->fill(d->queue, d->b->tally.data, 0, sizeof d->tally));
    if (!may_scatter) TSR_TRY(backend->fill(d->queue, d->b->counts.data, 0, (size_t)(tiles + 1) * 4));
    const int hot = d->f->heated == d->particles.count && d->f->heated > 0;
    tsr_fluid_bin_job job = { .draw = *draw,
                              .positions = d->particles.positions,
                              .radii = d->particles.radii,
                              .densities = d->particles.densities,
                              .heats = hot ? (const float *)d->b->heat.data : NULL,
                              .axes = d->particles.shapes,
                              .records = (tsr_fluid_record *)d->b->records.data,
                              .forms = (float *)d->b->forms.data,
                              .counts = may_scatter ? NULL : (uint32_t *)d->b->counts.data,
                              .tally = (tsr_fluid_tally *)d->b->tally.data };
    if (count > 0) TSR_TRY(d->ops->project(d->queue, &job));
    TSR_TRY(backend->download(d->queue, &d->tally, d->b->tally.data, sizeof d->tally));
    d->listed = !(may_scatter && scattered(d));
    if (!d->listed) return TSR_OK;
    const uint64_t total = d->tally.entries;
    if (total > (uint64_t)1 << 34)
        TSR_FAIL(TSR_ERROR_CAPACITY,
                 "particles cover %llu tiles of 16 x 16 pixels in all, expected at most 2^34: they are too large or too near for so many",
                 (unsigned long long)total);
    if (may_scatter) {
        job.counts = (uint32_t *)d->b->counts.data;
        TSR_TRY(backend->fill(d->queue, d->b->counts.data, 0, (size_t)(tiles + 1) * 4));
        if (count > 0) TSR_TRY(d->ops->count(d->queue, &job));
    }
    TSR_FLUID_NEED(starts, (size_t)(tiles + 1) * 8);
    TSR_FLUID_NEED(cursors, (size_t)tiles * 4);
    TSR_FLUID_NEED(entries, (size_t)(total > 0 ? total : 1) * 4);
    TSR_TRY(tsr_scan_workspace(d->f->context, tiles + 1, &scan));
    TSR_FLUID_NEED(workspace, scan);
    TSR_TRY(
        tsr_scan(d->f->context, TSR_SCAN_EXCLUSIVE, TSR_U32, d->b->counts.data, tiles + 1, TSR_U64, d->b->starts.data, d->b->workspace.data, scan));
    TSR_TRY(backend->fill(d->queue, d->b->cursors.data, 0, (size_t)tiles * 4));
    job.starts = (const uint64_t *)d->b->starts.data;
    job.cursors = (uint32_t *)d->b->cursors.data;
    job.entries = (uint32_t *)d->b->entries.data;
    if (total > 0) TSR_TRY(d->ops->fill(d->queue, &job));
    return TSR_OK;
}

/* Ellipsoids of the particles, in place of their spheres, and where they are drawn. */
static tsr_status make_shapes(tsr_fluid_drawing *d)
{
    const size_t count = (size_t)d->particles.count;
    uint32_t mask = 1023;
    size_t sort;
    while (mask < count && mask < (1u << 24) - 1) mask = 2 * mask + 1;
    for (int k = 0; k < 2; k++) {
        TSR_FLUID_NEED(keys[k], count * 4);
        TSR_FLUID_NEED(numbers[k], count * 4);
    }
    TSR_FLUID_NEED(cells, ((size_t)mask + 1) * 8);
    TSR_FLUID_NEED(places, count * 12);
    TSR_FLUID_NEED(shapes, count * 24);
    TSR_TRY(tsr_sort_workspace(d->f->context, TSR_U32, 1, (int64_t)count, &sort));
    TSR_FLUID_NEED(workspace, sort);
    const double reach = (d->o.neighbour_reach > 0 ? d->o.neighbour_reach : 4) * d->particles.radius;
    tsr_fluid_shape_job job = { .positions = d->particles.positions,
                                .keys = (uint32_t *)d->b->keys[0].data,
                                .numbers = (uint32_t *)d->b->numbers[0].data,
                                .first = (uint32_t *)d->b->cells.data,
                                .last = (uint32_t *)d->b->cells.data + mask + 1,
                                .places = (float *)d->b->places.data,
                                .shapes = (float *)d->b->shapes.data,
                                .count = (int32_t)count,
                                .fewest = 10,
                                .mask = mask,
                                .reach = (float)reach,
                                .inverse = (float)(1 / reach),
                                .pull = 0.9f,
                                .longest = 4.0f };
    TSR_TRY(d->ops->keys(d->queue, &job));
    TSR_TRY(tsr_sort(d->f->context, TSR_U32, job.keys, d->b->keys[1].data, job.numbers, (uint32_t *)d->b->numbers[1].data, (int64_t)count, 0, 24,
                     d->b->workspace.data, sort));
    job.keys = (uint32_t *)d->b->keys[1].data;
    job.numbers = (uint32_t *)d->b->numbers[1].data;
    TSR_TRY(d->f->context->backend->fill(d->queue, d->b->cells.data, 0, ((size_t)mask + 1) * 8));
    TSR_TRY(d->ops->shapes(d->queue, &job));
    d->particles.positions = job.places;
    d->particles.shapes = job.shapes;
    return TSR_OK;
}

tsr_status tsr_fluid_clear(tsr_fluid_drawing *d, tsr_fluid_buffer *buffer, const tsr_fluid_view *view, size_t element, int nothing)
{
    const size_t bytes = tsr_fluid_padded(view) * element;
    TSR_TRY(tsr_fluid_buffer_need(d->f->context, buffer, bytes));
    if (nothing) TSR_TRY(d->ops->nothing(d->queue, (float *)buffer->data, (int64_t)(bytes / 4)));
    else TSR_TRY(d->f->context->backend->fill(d->queue, buffer->data, 0, bytes));
    return TSR_OK;
}

/* An image all of whose pixels splatting writes, if there is anything to splat; nobody looks at its border. */
static tsr_status room(tsr_fluid_drawing *d, tsr_fluid_buffer *buffer, const tsr_fluid_view *view, size_t element)
{
    if (d->particles.count == 0) return tsr_fluid_clear(d, buffer, view, element, 0);
    return tsr_fluid_buffer_need(d->f->context, buffer, tsr_fluid_padded(view) * element);
}

/* Sums of whole units, of particles that are scattered. */
static tsr_status clear_units(tsr_fluid_drawing *d, const tsr_fluid_view *view)
{
    if (!d->listed) TSR_TRY(tsr_fluid_clear(d, &d->b->units, view, 8, 0));
    return TSR_OK;
}

/* The image of the scene's distances: its border is infinite, and its content stays where the backdrop does. */
static tsr_status need_scene(tsr_fluid_drawing *d)
{
    const void *held = d->b->scene.data;
    if (d->f->has_backdrop && held && !memcmp(&d->f->backdrop.low, &d->low, sizeof d->low)) return TSR_OK;
    d->f->has_backdrop = 0;
    TSR_TRY(tsr_fluid_clear(d, &d->b->scene, &d->low, 4, 1));
    return TSR_OK;
}

/* Thickness is added in units of 1 / 8192 of the largest diameter. Without the radii at hand: of particles eight times as large as `radius`. */
static tsr_fluid_splat_job splat_job(const tsr_fluid_drawing *d, const tsr_fluid_cast *draw)
{
    const float most = d->particles.radii || d->particles.shapes ? 8.0f : 1.0f, diameter = 2.0f * (float)d->radius * most;
    return (tsr_fluid_splat_job){ .draw = *draw,
                                  .records = (const tsr_fluid_record *)d->b->records.data,
                                  .forms = d->particles.shapes ? (const float *)d->b->forms.data : NULL,
                                  .starts = d->listed ? (const uint64_t *)d->b->starts.data : NULL,
                                  .entries = (const uint32_t *)d->b->entries.data,
                                  .per_unit = 8192.0f * most / diameter,
                                  .unit = diameter / (8192.0f * most) };
}

static tsr_status blur(tsr_fluid_drawing *d, const tsr_fluid_view *view, const void *depth, void *image, int32_t passes)
{
    if (passes < 1) return TSR_OK;
    TSR_TRY(tsr_fluid_clear(d, &d->b->other, view, 4, 0));
    const tsr_fluid_blur_job job = {
        .view = *view, .depth = (const float *)depth, .image = (float *)image, .other = (float *)d->b->other.data, .passes = passes
    };
    TSR_TRY(d->ops->blur(d->queue, &job));
    return TSR_OK;
}

/* The fluid's thickness as the sun sees it. */
static tsr_status shade_scene(tsr_fluid_drawing *d)
{
    const tsr_box *b = &d->backdrop.shadow_bounds;
    const tsr_vec3 middle = tsr_vec3_scale(tsr_vec3_add(b->lower, b->upper), 0.5), across = tsr_vec3_sub(b->upper, b->lower);
    const double reach = 0.5 * tsr_vec3_length(across) + 4 * d->radius;
    tsr_fluid_cast draw = d->draw;
    tsr_fluid_view *v = &draw.view;
    if (!(reach > 0 && reach < 1e15)) TSR_FAIL(TSR_ERROR_ARGUMENT, "shadow_bounds of the backdrop are not finite, expected the box of the particles");
    const tsr_float3 to =
        tsr_add3(tsr_add3(tsr_scale3(d->set.east, d->light.sun.x), tsr_scale3(d->set.north, d->light.sun.y)), tsr_scale3(d->set.up, d->light.sun.z));
    const tsr_float3 side = tsr_absf(to.z) < 0.9f ? tsr_f3(0, 0, 1) : tsr_f3(1, 0, 0);
    v->forward = tsr_scale3(to, -1);
    v->right = tsr_normalize3(tsr_cross3(v->forward, side), tsr_f3(1, 0, 0));
    v->down = tsr_cross3(v->forward, v->right);
    v->eye = tsr_along3(single(tsr_vec3_sub(middle, d->particles.origin)), to, (float)(2 * reach));
    tsr_fluid_extent(v, TSR_FLUID_SHADE_SIZE, TSR_FLUID_SHADE_SIZE);
    v->nearest = 0;
    for (int k = 0; k < 2; k++) {
        v->centre[k] = 0.5f * TSR_FLUID_SHADE_SIZE;
        v->slope[k] = 0;
        v->step[k] = (float)(2 * reach / TSR_FLUID_SHADE_SIZE);
    }
    draw.noise_reach = 0;
    draw.spray_high = 0;
    TSR_TRY(bin(d, &draw));
    TSR_TRY(tsr_fluid_clear(d, &d->b->shade, v, 4, 0));
    TSR_TRY(tsr_fluid_clear(d, &d->b->depth[0], v, 4, 0)); /* all there, for the blur */
    tsr_fluid_splat_job job = splat_job(d, &draw);
    job.thickness = (float *)d->b->shade.data;
    TSR_TRY(clear_units(d, v));
    job.units = (uint64_t *)d->b->units.data;
    TSR_TRY(d->ops->splat(d->queue, &job));
    TSR_TRY(blur(d, v, d->b->depth[0].data, d->b->shade.data, 3));
    d->set.shade = (const float *)d->b->shade.data;
    d->set.shade_view = *v;
    d->set.shade_density = tsr_f3(d->look.absorption[0], d->look.absorption[1], d->look.absorption[2]);
    const float scatter = (float)(0.05 / d->radius); /* what is reflected and bent away */
    d->set.shade_density = tsr_add3(tsr_scale3(d->set.shade_density, 0.6f), tsr_f3(scatter, scatter, scatter));
    return TSR_OK;
}

static tsr_status make_scene(tsr_fluid_drawing *d)
{
    const tsr_fluid_backdrop *b = &d->backdrop;
    tsr_fluid_set *s = &d->set;
    tsr_vec3 axes[3], origin = d->particles.origin;
    tsr_fluid_level_axes(d->f->up, axes);
    const double away[3] = { tsr_vec3_dot(origin, axes[0]), tsr_vec3_dot(origin, axes[1]), tsr_vec3_dot(origin, axes[2]) };
    const double *low = &b->bounds.lower.x, *high = &b->bounds.upper.x;
    *s = (tsr_fluid_set){ .kind = b->scenery == TSR_FLUID_PICTURE ? 0 : (int32_t)b->scenery,
                          .east = single(axes[0]),
                          .north = single(axes[1]),
                          .up = single(axes[2]),
                          .pale = { 0.74f, 0.72f, 0.68f },
                          .dark = { 0.30f, 0.33f, 0.36f },
                          .wall = { 0.62f, 0.60f, 0.56f } };
    for (int k = 0; k < 3; k++) {
        s->lower[k] = (float)(low[k] - away[k]);
        s->upper[k] = (float)(high[k] - away[k]);
    }
    s->eye = tsr_fluid_frame(s, d->view.eye);
    s->right = tsr_fluid_frame(s, d->view.right);
    s->down = tsr_fluid_frame(s, d->view.down);
    s->forward = tsr_fluid_frame(s, d->view.forward);
    const double extent = fmax(fmax(high[0] - low[0], high[1] - low[1]), 8 * d->particles.radius);
    s->check = (float)(b->check > 0 ? b->check : extent / 8);
    s->fog = (float)(1 / (10 * extent));
    d->light = tsr_fluid_turned_light(d->f);
    TSR_FLUID_NEED(sky, TSR_FLUID_SKY_BYTES);
    if (!d->f->sky_fresh) TSR_TRY(d->f->context->backend->upload(d->queue, d->b->sky.data, d->f->sky_map, TSR_FLUID_SKY_BYTES));
    d->f->sky_fresh = 1;
    d->light.map = (const float *)d->b->sky.data;
    d->light.size = TSR_FLUID_SKY_SIZE;
    if (b->shadow && d->particles.count > 0 && (s->kind == 1 || s->kind == 2)) TSR_TRY(shade_scene(d));
    TSR_FLUID_NEED(back, (size_t)d->view.width * (size_t)d->view.height * 16);
    TSR_TRY(need_scene(d));
    const tsr_fluid_backdrop_job job = { .view = d->view,
                                         .set = *s,
                                         .light = d->light,
                                         .color = b->scenery == TSR_FLUID_PICTURE ? b->color : NULL,
                                         .distance = b->scenery == TSR_FLUID_PICTURE ? b->distance : NULL,
                                         .back = (float *)d->b->back.data,
                                         .scene = (float *)d->b->scene.data,
                                         .low = d->low,
                                         .factor = d->o.resolution };
    /* A scene that does not change is drawn once. What the caller's pictures hold may have changed. */
    if (d->f->has_backdrop && !job.color && !s->shade && !memcmp(&job, &d->f->backdrop, sizeof job)) return TSR_OK;
    d->f->has_backdrop = 0;
    TSR_TRY(d->ops->backdrop(d->queue, &job));
    memcpy(&d->f->backdrop, &job, sizeof job);
    d->f->has_backdrop = !job.color && !s->shade;
    return TSR_OK;
}

static tsr_status draw_layers(tsr_fluid_drawing *d)
{
    for (int k = 0; k < d->o.layers; k++) {
        TSR_TRY(tsr_fluid_clear(d, &d->b->depth[k], &d->low, 4, 1));
        TSR_TRY(room(d, &d->b->thickness[k], &d->low, 4));
        TSR_FLUID_NEED(normals[k], tsr_fluid_padded(&d->low) * 16);
        if (d->o.layers > 1) TSR_TRY(tsr_fluid_clear(d, &d->b->ends[k % 2], &d->low, 4, 1));
        tsr_fluid_splat_job job = splat_job(d, &d->draw);
        job.scene = (const float *)d->b->scene.data;
        job.depth = (float *)d->b->depth[k].data;
        const int thin = d->o.layers == 1 && d->o.thickness_step == 2;
        tsr_fluid_view half = d->low;
        tsr_fluid_extent(&half, (half.width + 1) / 2, (half.height + 1) / 2);
        if (thin) TSR_TRY(room(d, &d->b->thin, &half, 4));
        TSR_TRY(clear_units(d, thin ? &half : &d->low));
        job.units = (uint64_t *)d->b->units.data;
        job.thickness = thin ? NULL : (float *)d->b->thickness[k].data;
        job.thin = thin ? (float *)d->b->thin.data : NULL;
        job.thin_view = half;
        job.before = k ? (const float *)d->b->ends[1 - k % 2].data : NULL;
        job.ends = d->o.layers > 1 ? (float *)d->b->ends[k % 2].data : NULL;
        if (d->particles.count > 0) TSR_TRY(d->ops->splat(d->queue, &job));
        if (thin) TSR_TRY(d->ops->enlarge(d->queue, &half, job.thin, &d->low, (float *)d->b->thickness[k].data));
        const size_t bytes = tsr_fluid_padded(&d->low) * 4;
        TSR_FLUID_NEED(raw[k], bytes);
        TSR_TRY(d->f->context->backend->copy(d->queue, d->b->raw[k].data, d->b->depth[k].data, bytes));
        TSR_TRY(blur(d, &d->low, d->b->raw[k].data, d->b->thickness[k].data, d->o.thickness_blur));
        TSR_TRY(tsr_fluid_smooth(d, k));
    }
    if (d->f->has_noise) {
        TSR_TRY(tsr_fluid_clear(d, &d->b->noise, &d->low, 4, 0));
        TSR_TRY(tsr_fluid_clear(d, &d->b->foam, &d->low, 4, 0));
    }
    if (d->f->has_spray) TSR_TRY(tsr_fluid_clear(d, &d->b->spray, &d->low, 4, 0));
    if (d->f->has_spray) TSR_TRY(clear_units(d, &d->low));
    if (d->f->has_noise || d->f->has_spray) {
        const tsr_fluid_noise_job job = { .draw = d->draw,
                                          .records = (const tsr_fluid_record *)d->b->records.data,
                                          .starts = d->listed ? (const uint64_t *)d->b->starts.data : NULL,
                                          .entries = (const uint32_t *)d->b->entries.data,
                                          .depth = (const float *)d->b->depth[0].data,
                                          .scene = (const float *)d->b->scene.data,
                                          .noise = d->f->has_noise ? (float *)d->b->noise.data : NULL,
                                          .foam = (float *)d->b->foam.data,
                                          .fill = d->look.foam_fill,
                                          .spray = d->f->has_spray ? (float *)d->b->spray.data : NULL,
                                          .units = (uint64_t *)d->b->units.data,
                                          .fade = (float)(1 / (d->o.foam_depth > 0 ? d->o.foam_depth : 1)) };
        TSR_TRY(d->ops->noise(d->queue, &job));
    }
    for (int k = 0; k < d->o.layers; k++) {
        const tsr_fluid_normal_job job = { .view = d->low,
                                           .step = d->step,
                                           .depth = (const float *)d->b->depth[k].data,
                                           .noise = d->f->has_noise && k == 0 ? (const float *)d->b->noise.data : NULL,
                                           .bump = d->look.bump * (float)d->radius,
                                           .normals = (float *)d->b->normals[k].data };
        TSR_TRY(d->ops->normals(d->queue, &job));
    }
    return TSR_OK;
}

/* Layers from the back to the front, each over the picture so far. */
static tsr_status compose(tsr_fluid_drawing *d)
{
    const size_t pixels = (size_t)d->view.width * (size_t)d->view.height;
    const tsr_fluid_look *l = &d->look;
    TSR_FLUID_NEED(color[0], pixels * 16);
    if (d->o.layers > 1) TSR_FLUID_NEED(color[1], pixels * 16);
    TSR_FLUID_NEED(distance, pixels * 4);
    tsr_fluid_compose_job job = {
        .view = d->view, .low = d->low, .factor = d->o.resolution, .set = d->set, .light = d->light, .distance = (float *)d->b->distance.data
    };
    job.paint = (tsr_fluid_paint){ .color = tsr_f3(l->color[0], l->color[1], l->color[2]),
                                   .absorption = tsr_f3(l->absorption[0], l->absorption[1], l->absorption[2]),
                                   .foam = tsr_f3(l->foam[0], l->foam[1], l->foam[2]),
                                   .emission = tsr_f3(l->emission[0], l->emission[1], l->emission[2]),
                                   .fresnel = l->fresnel,
                                   .specular = l->specular,
                                   .shininess = l->shininess,
                                   .refraction = l->refraction,
                                   .matte = l->matte,
                                   .foam_low = l->foam_low,
                                   .foam_high = l->foam_high > l->foam_low ? l->foam_high : l->foam_low + 1.0e-6f,
                                   .threshold = d->step.threshold,
                                   .curvature = d->o.curvature,
                                   .curvature_scale = (float)(2 * d->radius) };
    const float *back = (const float *)d->b->back.data;
    for (int k = d->o.layers - 1; k >= 0; k--) {
        job.depth = (const float *)d->b->depth[k].data;
        job.thickness = (const float *)d->b->thickness[k].data;
        job.normals = (const float *)d->b->normals[k].data;
        job.foam = d->f->has_noise && k == 0 ? (const float *)d->b->foam.data : NULL;
        job.spray = d->f->has_spray && k == 0 ? (const float *)d->b->spray.data : NULL;
        job.back = back;
        job.color = (float *)d->b->color[k % 2].data;
        TSR_TRY(d->ops->compose(d->queue, &job));
        back = job.color;
    }
    d->f->result = 0;
    return TSR_OK;
}

tsr_status tsr_fluid_draw(tsr_fluid *fluid, const tsr_fluid_particles *particles, const tsr_camera *camera, const tsr_fluid_backdrop *backdrop,
                          const tsr_fluid_look *look, const tsr_fluid_options *options, tsr_fluid_info *info)
{
    TSR_NEEDS(fluid, particles);
    tsr_fluid_drawing own = { .f = fluid }, *d = &own;
    d->b = &fluid->buffers;
    d->ops = fluid->context->backend->fluid;
    d->queue = fluid->context->queue;
    TSR_TRY(check_particles(d, particles));
    TSR_TRY(check_backdrop(d, backdrop));
    TSR_TRY(TSR_OPTIONS_TAKE(&d->o, options));
    if (look) TSR_TRY(TSR_OPTIONS_TAKE(&d->look, look));
    else TSR_TRY(tsr_fluid_look_make(TSR_FLUID_WATER, particles->radius, &d->look));
    TSR_TRY(check_options(d));
    TSR_TRY(make_views(d, camera));
    fluid->drawn = 0;
    TSR_TRY(make_draw(d));
    tsr_fluid_make_step(d);
    if (d->o.anisotropic && !d->particles.shapes && d->particles.count > 0) TSR_TRY(make_shapes(d));
    TSR_TRY(make_scene(d));
    TSR_TRY(bin(d, &d->draw));
    TSR_TRY(draw_layers(d));
    TSR_TRY(compose(d));
    fluid->view = d->view;
    fluid->low = d->low;
    fluid->drawn = 1;
    if (info) {
        tsr_fluid_info got = { .not_finite = d->tally.fates[TSR_FLUID_NOT_FINITE],
                               .too_near = d->tally.fates[TSR_FLUID_TOO_NEAR],
                               .entries = (int64_t)d->tally.entries,
                               .width = d->low.width,
                               .height = d->low.height,
                               .iterations = d->o.iterations,
                               .device_bytes = tsr_fluid_bytes(fluid) };
        return TSR_STRUCT_GIVE(info, &got);
    }
    return TSR_OK;
}
