/* levelset/edit_flow.c: operators of an editor that move the surface: the level-set solver on a copy of the whole list, or on the tiles within reach
 * of a brush (spec editing.md 2.2, 2.3, 2.6-2.8). */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "grid/volume.h"
#include "levelset/edit.h"

/* ---- the whole list ------------------------------------------------------------------------------------------------------------------------------ */

static void flow_options(const tsr_editor *editor, tsr_levelset_options *o)
{
    *o = (tsr_levelset_options)TSR_LEVELSET_OPTIONS;
    o->space = editor->options.draft ? TSR_STENCIL_GODUNOV : TSR_STENCIL_WENO5;
    o->time = editor->options.draft ? TSR_TIME_EULER : TSR_TIME_RK3;
    o->reshape = TSR_RESHAPE_TERM;
    o->sign = TSR_SIGN_SMOOTH;
}

static double smallest_spacing(const tsr_tiles *tiles)
{
    const float *h = tiles->pool.spacing;
    return (double)tsr_minf(h[0], tsr_minf(h[1], h[2]));
}

/* Advances the surface of a list that belongs to the caller. A surface that vanishes is a result. */
static tsr_status advance(tsr_tiles *tiles, const tsr_levelset_options *options, double duration, const tsr_progress *progress)
{
    tsr_levelset *levelset = NULL;
    tsr_levelset_report report;
    tsr_tile_state state;
    TSR_TRY(tsr_tiles_read_state(tiles, &state));
    if (state.count == 0 || !(duration > 0)) return TSR_OK;
    TSR_TRY(tsr_levelset_create(tiles, options, &levelset));
    tsr_status status = tsr_levelset_advance(levelset, duration, progress, &report);
    tsr_levelset_destroy(&levelset);
    return status;
}

tsr_status tsr_edit_copy_list(const tsr_tiles *tiles, tsr_tiles **copy)
{
    TSR_TRY(tsr_csg_merge_lists(tiles, 0, NULL, 0, TSR_CSG_FIRST, 0, copy));
    return TSR_OK;
}

tsr_status tsr_edit_settle(tsr_editor *editor, int32_t slot, tsr_tiles **work)
{
    tsr_tiles *made = NULL;
    tsr_status status = tsr_edit_copy_list(*work, &made);
    tsr_tiles_destroy(work);
    TSR_TRY(status);
    tsr_edit_begin(editor);
    TSR_TRY(tsr_edit_replace(editor, slot, &made));
    return TSR_OK;
}

struct run {
    tsr_levelset_options options;
    double duration;
};

/* Some flows one after another on a copy of the object; the document changes when all are done. */
static tsr_status run_flows(tsr_editor *editor, const char *object, const struct run *runs, int count, const tsr_progress *progress)
{
    int32_t slot;
    tsr_tiles *work = NULL;
    TSR_TRY(tsr_edit_find(editor, object, &slot));
    TSR_TRY(tsr_edit_copy_list(editor->object[slot].tiles, &work));
    tsr_status status = TSR_OK;
    for (int i = 0; i < count && status == TSR_OK; i++) status = advance(work, &runs[i].options, runs[i].duration, progress);
    if (status == TSR_OK) return tsr_edit_settle(editor, slot, &work);
    tsr_tiles_destroy(&work);
    return status;
}

static tsr_status check_length(const char *what, double value)
{
    if (!(value >= 0 && value < 1e9)) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s is %g, expected 0 or a positive number", what, value);
    return TSR_OK;
}

/* Motion along the normal by a signed distance. */
static struct run offset_run(const tsr_editor *editor, double distance)
{
    struct run r = { .duration = fabs(distance) };
    flow_options(editor, &r.options);
    r.options.terms[0] = (tsr_flow_term){ .kind = TSR_FLOW_SPEED, .value = distance < 0 ? -1 : 1 };
    r.options.term_count = 1;
    return r;
}

tsr_status tsr_editor_offset(tsr_editor *editor, const char *object, double distance, const tsr_progress *progress)
{
    if (!editor) TSR_FAIL(TSR_ERROR_ARGUMENT, "editor is NULL");
    TSR_TRY(check_length("distance", fabs(distance)));
    struct run r = offset_run(editor, distance);
    TSR_TRY(run_flows(editor, object, &r, 1, progress));
    return TSR_OK;
}

static tsr_status there_and_back(tsr_editor *editor, const char *object, double first, const tsr_progress *progress)
{
    if (!editor) TSR_FAIL(TSR_ERROR_ARGUMENT, "editor is NULL");
    TSR_TRY(check_length("radius", fabs(first)));
    const struct run runs[2] = { offset_run(editor, first), offset_run(editor, -first) };
    TSR_TRY(run_flows(editor, object, runs, 2, progress));
    return TSR_OK;
}
tsr_status tsr_editor_open(tsr_editor *editor, const char *object, double radius, const tsr_progress *progress)
{
    TSR_TRY(check_length("radius", radius));
    return there_and_back(editor, object, -radius, progress);
}
tsr_status tsr_editor_close(tsr_editor *editor, const char *object, double radius, const tsr_progress *progress)
{
    TSR_TRY(check_length("radius", radius));
    return there_and_back(editor, object, radius, progress);
}

tsr_status tsr_editor_smooth(tsr_editor *editor, const char *object, double time, int conserve, const tsr_progress *progress)
{
    struct run r = { .duration = time };
    if (!editor) TSR_FAIL(TSR_ERROR_ARGUMENT, "editor is NULL");
    TSR_TRY(check_length("time", time));
    flow_options(editor, &r.options);
    r.options.terms[0] = (tsr_flow_term){ .kind = TSR_FLOW_CURVATURE, .value = 0.5 };
    r.options.term_count = 1;
    if (conserve) {
        r.options.terms[1] = (tsr_flow_term){ .kind = TSR_FLOW_MEAN_CURVATURE, .value = 0.5 };
        r.options.term_count = 2;
        r.options.feedback = 0.1;
    }
    TSR_TRY(run_flows(editor, object, &r, 1, progress));
    return TSR_OK;
}

tsr_status tsr_editor_rotate(tsr_editor *editor, const char *object, const tsr_motion *motion, const tsr_progress *progress)
{
    if (!editor || !motion) TSR_FAIL(TSR_ERROR_ARGUMENT, "editor or motion is NULL");
    const tsr_motion *m = motion;
    if (m->shift.x != 0 || m->shift.y != 0 || m->shift.z != 0 || (m->scale != 0 && m->scale != 1))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "rotation: shift and scale of the motion must be 0");
    if (!isfinite(m->angle)) TSR_FAIL(TSR_ERROR_ARGUMENT, "rotation: the angle is not finite");
    if (m->axis.x == 0 && m->axis.y == 0 && m->axis.z == 0) TSR_FAIL(TSR_ERROR_ARGUMENT, "rotation: the axis has no length");
    struct run r = { .duration = fabs(m->angle) };
    flow_options(editor, &r.options);
    r.options.terms[0] = (tsr_flow_term){ .kind = TSR_FLOW_ROTATION, .value = m->angle < 0 ? -1 : 1, .vector = m->axis, .centre = m->centre };
    r.options.term_count = 1;
    TSR_TRY(run_flows(editor, object, &r, 1, progress));
    return TSR_OK;
}

tsr_status tsr_edit_make_distance(tsr_tiles *tiles)
{
    tsr_tile_state state;
    TSR_TRY(tsr_tiles_read_state(tiles, &state));
    if (state.count == 0) return TSR_OK;
    int32_t sweeps = (int32_t)ceil(2 * (double)tiles->pool.band / (0.3 * smallest_spacing(tiles)));
    TSR_TRY(tsr_levelset_reinitialise(tiles, TSR_STENCIL_WENO5, sweeps, NULL));
    return TSR_OK;
}

tsr_status tsr_editor_redistance(tsr_editor *editor, const char *object)
{
    int32_t slot;
    tsr_tiles *work = NULL;
    TSR_TRY(tsr_edit_find(editor, object, &slot));
    TSR_TRY(tsr_edit_copy_list(editor->object[slot].tiles, &work));
    tsr_status status = tsr_edit_make_distance(work);
    if (status == TSR_OK) return tsr_edit_settle(editor, slot, &work);
    tsr_tiles_destroy(&work);
    return status;
}

/* ---- brushes ---------------------------------------------------------------------------------------------------------------------------------------- */

/* Tiles that a sphere meets, as a box of tile coordinates. */
static tsr_status tiles_of_ball(const tsr_tile_pool *pool, tsr_vec3 centre, double radius, int32_t low[3], int32_t high[3])
{
    const double c[3] = { centre.x, centre.y, centre.z }, edge = (double)(1 << pool->log2_edge);
    for (int k = 0; k < 3; k++) {
        double a = floor((c[k] - radius) / ((double)pool->spacing[k] * edge)), b = floor((c[k] + radius) / ((double)pool->spacing[k] * edge));
        if (!(a > tsr_pool_least(pool, k) + 3 && b < tsr_pool_most(pool, k) - 2))
            TSR_FAIL(TSR_ERROR_ARGUMENT, "the brush reaches beyond the tile coordinates along %c", "xyz"[k]);
        low[k] = (int32_t)a;
        high[k] = (int32_t)b;
    }
    return TSR_OK;
}

/* The tiles of the ball in either list: what there was, and within the ball what `part` has now. */
static tsr_status patch_of_ball(const tsr_tiles *tiles, const tsr_tiles *part, tsr_vec3 centre, double radius, tsr_patch *patch)
{
    tsr_context *context = tiles->context;
    int32_t low[3], high[3];
    uint64_t *before, *after, *both = NULL;
    int64_t nb, na, n;
    tsr_csg_work work;
    TSR_TRY(tiles_of_ball(&tiles->pool, centre, radius, low, high));
    TSR_TRY(tsr_csg_box_keys(tiles, low, high, &before, &nb));
    tsr_status status = tsr_csg_box_keys(part, low, high, &after, &na);
    if (status != TSR_OK) {
        free(before);
        return status;
    }
    both = (uint64_t *)malloc((size_t)(na + nb + 1) * sizeof *both);
    if (!both) status = TSR_FAILED(TSR_ERROR_MEMORY, "brush: out of memory for %lld tiles", (long long)(na + nb));
    if (status == TSR_OK) {
        memcpy(both, before, (size_t)nb * sizeof *both);
        memcpy(both + nb, after, (size_t)na * sizeof *both);
        n = tsr_keys_sort_unique(both, na + nb);
        status = tsr_patch_take(tiles, both, n, patch);
        if (status == TSR_OK && n > 0) {
            status = tsr_csg_work_take(context, n, 0, &work);
            if (status == TSR_OK) {
                work.args.a = part->pool;
                work.args.pages = patch->pages;
                work.args.shape = (tsr_csg_shape){ .centre = { (float)centre.x, (float)centre.y, (float)centre.z }, .radius = (float)radius };
                status = context->backend->upload(context->queue, work.args.keys, both, (size_t)n * sizeof *both);
                if (status == TSR_OK) status = tsr_csg_run(&work, TSR_CSG_locate_kernel, n);
                if (status == TSR_OK) status = tsr_csg_run(&work, TSR_CSG_ball_kernel, n);
                tsr_csg_work_drop(&work);
            }
            if (status != TSR_OK) tsr_patch_drop(patch);
        }
    }
    free(before);
    free(after);
    free(both);
    return status;
}

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* One piece of a local flow: the tiles of the ball and a ring move as a list of their own, then their voxels in the ball go back. The piece is so
 * short that neither the surface crosses a tile nor the cut edge of the part reaches the ball. */
static tsr_status local_piece(tsr_editor *editor, int32_t slot, tsr_vec3 centre, double radius, const tsr_levelset_options *options, double duration,
                              const tsr_progress *progress)
{
    const tsr_tiles *tiles = editor->object[slot].tiles;
    int32_t low[3], high[3];
    uint64_t *keys;
    int64_t count;
    tsr_tiles *part = NULL;
    tsr_patch patch;
    TSR_TRY(tiles_of_ball(&tiles->pool, centre, radius, low, high));
    for (int k = 0; k < 3; k++) {
        int32_t ring = tiles->pool.log2_edge == 3 ? 1 : 2;
        low[k] -= ring;
        high[k] += ring;
    }
    TSR_TRY(tsr_csg_box_keys(tiles, low, high, &keys, &count));
    tsr_status status = tsr_csg_part(tiles, keys, count, &part);
    free(keys);
    if (status == TSR_OK) status = advance(part, options, duration, progress);
    if (status == TSR_OK && count > 0) {
        status = patch_of_ball(tiles, part, centre, radius, &patch);
        if (status == TSR_OK) {
            const double began = seconds_now();            /* the keys have come from the device: all before is done */
            status = tsr_edit_patch(editor, slot, &patch); /* ends with the state of the managed list */
            editor->list_seconds += seconds_now() - began;
            tsr_patch_drop(&patch);
        }
    }
    tsr_tiles_destroy(&part);
    return status;
}

/* A flow that is confined to a ball, one step of the history. `fastest` bounds its speed. */
static tsr_status run_local(tsr_editor *editor, int32_t slot, tsr_vec3 centre, double radius, const tsr_levelset_options *options, double duration,
                            double fastest, const tsr_progress *progress)
{
    const double h = smallest_spacing(editor->object[slot].tiles), most = h / fmax(fastest, 1e-9);
    double pieces = ceil(duration / most);
    if (!(pieces < 1e6)) TSR_FAIL(TSR_ERROR_ARGUMENT, "the brush moves the surface by %g voxels, expected less than a million", pieces);
    tsr_edit_begin(editor);
    for (double i = 0; i < pieces; i++) {
        tsr_status status = local_piece(editor, slot, centre, radius, options, duration / pieces, progress);
        if (status == TSR_OK) continue;
        tsr_edit_abandon(editor);
        return status;
    }
    return TSR_OK;
}

static tsr_status check_brush(const tsr_brush *b)
{
    if (!b) TSR_FAIL(TSR_ERROR_ARGUMENT, "brush is NULL");
    if (!isfinite(b->centre.x) || !isfinite(b->centre.y) || !isfinite(b->centre.z)) TSR_FAIL(TSR_ERROR_ARGUMENT, "brush: the centre is not finite");
    if (!(b->sigma > 0 && b->sigma < 1e6)) TSR_FAIL(TSR_ERROR_ARGUMENT, "brush: sigma is %g, expected a positive number below 1e6", b->sigma);
    if (!isfinite(b->speed)) TSR_FAIL(TSR_ERROR_ARGUMENT, "brush: the speed is not finite");
    TSR_TRY(check_length("time of the brush", b->time));
    return TSR_OK;
}

static tsr_status brush_with(tsr_editor *editor, const char *object, const tsr_brush *b, const tsr_flow_term *term, double fastest,
                             const tsr_progress *progress)
{
    int32_t slot;
    tsr_levelset_options options;
    TSR_TRY(tsr_edit_find(editor, object, &slot));
    flow_options(editor, &options);
    options.terms[0] = *term;
    options.terms[0].centre = b->centre;
    options.terms[0].sigma = b->sigma;
    options.term_count = 1;
    TSR_TRY(run_local(editor, slot, b->centre, 3 * b->sigma, &options, b->time, fastest, progress));
    return TSR_OK;
}

tsr_status tsr_editor_brush(tsr_editor *editor, const char *object, const tsr_brush *brush, const tsr_progress *progress)
{
    TSR_TRY(check_brush(brush));
    tsr_flow_term term = { .kind = TSR_FLOW_SPEED, .value = brush->speed };
    TSR_TRY(brush_with(editor, object, brush, &term, fabs(brush->speed), progress));
    return TSR_OK;
}

tsr_status tsr_editor_smooth_brush(tsr_editor *editor, const char *object, const tsr_brush *brush, const tsr_progress *progress)
{
    TSR_TRY(check_brush(brush));
    if (!(brush->speed >= 0)) TSR_FAIL(TSR_ERROR_ARGUMENT, "brush: the weight of the curvature is %g, expected 0 or more", brush->speed);
    int32_t slot;
    TSR_TRY(tsr_edit_find(editor, object, &slot));
    tsr_flow_term term = { .kind = TSR_FLOW_CURVATURE, .value = 0.5 * brush->speed };
    double h = smallest_spacing(editor->object[slot].tiles); /* |K| is at most 2 / h */
    TSR_TRY(brush_with(editor, object, brush, &term, brush->speed / h, progress));
    return TSR_OK;
}

/* ---- attraction ------------------------------------------------------------------------------------------------------------------------------------------ */

/* Velocity at x: direction of the gradient of the potential, weighted by the distance to the nearest point. */
static void pull(const tsr_attraction *a, const double x[3], double soft, float u[3])
{
    double g[3] = { 0, 0, 0 }, nearest = HUGE_VAL;
    for (int64_t i = 0; i < a->count; i++) {
        double d[3] = { a->points[i][0] - x[0], a->points[i][1] - x[1], a->points[i][2] - x[2] };
        double s = d[0] * d[0] + d[1] * d[1] + d[2] * d[2], w = 1 / ((s + soft) * (s + soft)); /* grad 1/(s + soft) = 2 d w */
        nearest = fmin(nearest, s);
        for (int k = 0; k < 3; k++) g[k] += d[k] * w;
    }
    double length = sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]), t = 1 - nearest / (a->radius * a->radius);
    for (int k = 0; k < 3; k++) u[k] = length > 0 && t > 0 ? (float)(t * t * g[k] / length) : 0;
}

/* The velocity on the voxels of a box, as three volumes on the device. */
static tsr_status velocity_fields(const tsr_editor *editor, const tsr_attraction *a, const int64_t first[3], tsr_size3 size, tsr_volume *field[3])
{
    tsr_vec3 h = tsr_geometry_spacing(&editor->options.geometry);
    tsr_geometry geometry = editor->options.geometry;
    tsr_vec3 origin = tsr_geometry_to_world(&geometry, (tsr_vec3){ (double)first[0], (double)first[1], (double)first[2] });
    geometry.affine[0][3] = origin.x;
    geometry.affine[1][3] = origin.y;
    geometry.affine[2][3] = origin.z;
    size_t n = (size_t)size.x * (size_t)size.y * (size_t)size.z;
    float *values = (float *)malloc(3 * n * sizeof *values), u[3];
    if (!values) TSR_FAIL(TSR_ERROR_MEMORY, "attraction: out of memory for %zu velocities", n);
    const double soft = fmin(h.x, fmin(h.y, h.z)) * fmin(h.x, fmin(h.y, h.z));
    for (size_t i = 0; i < n; i++) {
        int64_t v = (int64_t)i;
        const double x[3] = { (double)(v % size.x + first[0]) * h.x, (double)(v / size.x % size.y + first[1]) * h.y,
                              (double)(v / size.x / size.y + first[2]) * h.z };
        pull(a, x, soft, u);
        for (int k = 0; k < 3; k++) values[(size_t)k * n + i] = u[k];
    }
    tsr_status status = TSR_OK;
    for (int k = 0; k < 3 && status == TSR_OK; k++) {
        status = tsr_volume_create(editor->context, TSR_F32, size, &geometry, &field[k]);
        if (status == TSR_OK)
            status = editor->context->backend->upload(editor->context->queue, field[k]->data, values + (size_t)k * n, n * sizeof *values);
    }
    free(values);
    return status;
}

static tsr_status check_attraction(const tsr_attraction *a)
{
    if (!a || !a->points) TSR_FAIL(TSR_ERROR_ARGUMENT, "attraction: no points");
    if (a->count < 1 || a->count > 65536) TSR_FAIL(TSR_ERROR_ARGUMENT, "attraction: %lld points, expected 1 to 65536", (long long)a->count);
    for (int64_t i = 0; i < 3 * a->count; i++)
        if (!isfinite(a->points[i / 3][i % 3])) TSR_FAIL(TSR_ERROR_ARGUMENT, "attraction: point %lld is not finite", (long long)(i / 3));
    if (!(a->radius > 0 && a->radius < 1e6))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "attraction: radius is %g, expected a positive number below 1e6", a->radius);
    if (!isfinite(a->speed)) TSR_FAIL(TSR_ERROR_ARGUMENT, "attraction: the speed is not finite");
    TSR_TRY(check_length("time of the attraction", a->time));
    return TSR_OK;
}

tsr_status tsr_editor_attract(tsr_editor *editor, const char *object, const tsr_attraction *a, const tsr_progress *progress)
{
    int32_t slot;
    int64_t first[3], size[3];
    double low[3] = { HUGE_VAL, HUGE_VAL, HUGE_VAL }, high[3] = { -HUGE_VAL, -HUGE_VAL, -HUGE_VAL }, half = 0;
    tsr_volume *field[3] = { NULL, NULL, NULL };
    tsr_levelset_options options;
    TSR_TRY(tsr_edit_find(editor, object, &slot));
    TSR_TRY(check_attraction(a));
    const float *h = editor->model->pool.spacing;
    double voxels = 1;
    for (int k = 0; k < 3; k++) {
        for (int64_t i = 0; i < a->count; i++) {
            low[k] = fmin(low[k], a->points[i][k]);
            high[k] = fmax(high[k], a->points[i][k]);
        }
        double begin = floor((low[k] - a->radius) / (double)h[k]) - 1, end = ceil((high[k] + a->radius) / (double)h[k]) + 1;
        first[k] = (int64_t)begin;
        size[k] = (int64_t)(end - begin) + 1;
        voxels *= (double)size[k];
        half += (high[k] - low[k]) * (high[k] - low[k]) / 4;
    }
    if (!(voxels < 1e9)) TSR_FAIL(TSR_ERROR_ARGUMENT, "attraction: the points and their radius span %g voxels, expected fewer than 1e9", voxels);
    tsr_status status = velocity_fields(editor, a, first, (tsr_size3){ size[0], size[1], size[2] }, field);
    flow_options(editor, &options);
    options.terms[0] = (tsr_flow_term){ .kind = TSR_FLOW_VELOCITY_FIELD, .value = a->speed, .field = { field[0], field[1], field[2] } };
    options.term_count = 1;
    tsr_vec3 centre = { 0.5 * (low[0] + high[0]), 0.5 * (low[1] + high[1]), 0.5 * (low[2] + high[2]) };
    if (status == TSR_OK) status = run_local(editor, slot, centre, sqrt(half) + a->radius, &options, a->time, fabs(a->speed), progress);
    for (int k = 0; k < 3; k++) tsr_volume_destroy(&field[k]);
    return status;
}
