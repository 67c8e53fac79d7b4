/* edit/edit_flow.c: operators of an editor that move the surface: the level-set solver on a copy of the whole list, or on the tiles within reach
 * of a brush (docs/theory/editing.md 6). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "edit/edit.h"

/* ---- the whole list ------------------------------------------------------------------------------------------------------------------------------ */

void tsr_edit_flow_options(const tsr_editor *editor, tsr_levelset_options *o)
{
    *o = (tsr_levelset_options)TSR_LEVELSET_OPTIONS;
    o->space = editor->options.draft ? TSR_STENCIL_GODUNOV : TSR_STENCIL_WENO5;
    o->time = editor->options.draft ? TSR_TIME_EULER : TSR_TIME_RK3;
    o->reshape = TSR_RESHAPE_TERM;
    o->sign = TSR_SIGN_SMOOTH;
}

double tsr_edit_reshape_weight(const tsr_tiles *tiles, double fastest) { return fmax(1, fastest / tsr_list_smallest_spacing(tiles)); }

/* Advances the surface of a list that belongs to the caller. A surface that vanishes is a result. */
static tsr_status advance(tsr_tiles *tiles, const tsr_levelset_options *options, double duration, const tsr_progress *progress)
{
    tsr_levelset *levelset = NULL;
    tsr_levelset_report report = TSR_LEVELSET_REPORT;
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

tsr_status tsr_edit_check_length(const char *what, double value)
{
    if (!(value >= 0 && value < 1e9)) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s is %g, expected 0 or more and less than 1e9", what, value);
    return TSR_OK;
}

/* Motion along the normal by a signed distance. */
static struct run offset_run(const tsr_editor *editor, double distance)
{
    struct run r = { .duration = fabs(distance) };
    tsr_edit_flow_options(editor, &r.options);
    r.options.terms[0] = (tsr_levelset_term){ .kind = TSR_LEVELSET_SPEED, .value = distance < 0 ? -1 : 1 };
    r.options.term_count = 1;
    return r;
}

tsr_status tsr_editor_offset(tsr_editor *editor, const char *object, double distance, const tsr_progress *progress)
{
    TSR_NEEDS(editor);
    TSR_TRY(tsr_edit_check_length("distance", fabs(distance)));
    struct run r = offset_run(editor, distance);
    TSR_TRY(run_flows(editor, object, &r, 1, progress));
    return TSR_OK;
}

static tsr_status there_and_back(tsr_editor *editor, const char *object, double first, const tsr_progress *progress)
{
    if (!editor) TSR_FAIL(TSR_ERROR_ARGUMENT, "editor is NULL");
    TSR_TRY(tsr_edit_check_length("radius", fabs(first)));
    const struct run runs[2] = { offset_run(editor, first), offset_run(editor, -first) };
    TSR_TRY(run_flows(editor, object, runs, 2, progress));
    return TSR_OK;
}
tsr_status tsr_editor_open(tsr_editor *editor, const char *object, double radius, const tsr_progress *progress)
{
    TSR_NEEDS(editor);
    TSR_TRY(tsr_edit_check_length("radius", radius));
    return there_and_back(editor, object, -radius, progress);
}
tsr_status tsr_editor_close(tsr_editor *editor, const char *object, double radius, const tsr_progress *progress)
{
    TSR_NEEDS(editor);
    TSR_TRY(tsr_edit_check_length("radius", radius));
    return there_and_back(editor, object, radius, progress);
}

tsr_status tsr_editor_smooth(tsr_editor *editor, const char *object, double time, int conserve, const tsr_progress *progress)
{
    TSR_NEEDS(editor);
    struct run r = { .duration = time };
    TSR_TRY(tsr_edit_check_length("time", time));
    tsr_edit_flow_options(editor, &r.options);
    r.options.terms[0] = (tsr_levelset_term){ .kind = TSR_LEVELSET_CURVATURE, .value = 0.5 };
    r.options.term_count = 1;
    if (conserve) {
        r.options.terms[1] = (tsr_levelset_term){ .kind = TSR_LEVELSET_MEAN_CURVATURE, .value = 0.5 };
        r.options.term_count = 2;
        r.options.feedback = 0.1;
    }
    TSR_TRY(run_flows(editor, object, &r, 1, progress));
    return TSR_OK;
}

tsr_status tsr_editor_rotate(tsr_editor *editor, const char *object, const tsr_motion *motion, const tsr_progress *progress)
{
    TSR_NEEDS(editor, motion);
    const tsr_motion *m = motion;
    if (m->shift.x != 0 || m->shift.y != 0 || m->shift.z != 0 || (m->scale != 0 && m->scale != 1))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "rotation: shift and scale of the motion must be 0");
    if (!isfinite(m->angle)) TSR_FAIL(TSR_ERROR_ARGUMENT, "rotation: the angle is not finite");
    if (m->axis.x == 0 && m->axis.y == 0 && m->axis.z == 0) TSR_FAIL(TSR_ERROR_ARGUMENT, "rotation: the axis has no length");
    struct run r = { .duration = fabs(m->angle) };
    tsr_edit_flow_options(editor, &r.options);
    r.options.terms[0] = (tsr_levelset_term){ .kind = TSR_LEVELSET_ROTATION, .value = m->angle < 0 ? -1 : 1, .vector = m->axis, .centre = m->centre };
    r.options.term_count = 1;
    TSR_TRY(run_flows(editor, object, &r, 1, progress));
    return TSR_OK;
}

tsr_status tsr_editor_redistance(tsr_editor *editor, const char *object)
{
    TSR_NEEDS(editor);
    int32_t slot;
    tsr_tiles *work = NULL;
    TSR_TRY(tsr_edit_find(editor, object, &slot));
    TSR_TRY(tsr_edit_copy_list(editor->object[slot].tiles, &work));
    tsr_status status = tsr_list_make_distance(work, NULL);
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
                if (status == TSR_OK) status = tsr_csg_run(&work, TSR_CSG_locate_moved_kernel, n);
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
    tsr_status status = tsr_csg_part(tiles, keys, count, low, high, &part);
    free(keys);
    if (status == TSR_OK) status = advance(part, options, duration, progress);
    if (status == TSR_OK && count > 0) {
        status = patch_of_ball(tiles, part, centre, radius, &patch);
        if (status == TSR_OK) {
            const double began = tsr_seconds_now();            /* the keys have come from the device: all before is done */
            status = tsr_edit_patch(editor, slot, &patch); /* ends with the state of the managed list */
            editor->list_seconds += tsr_seconds_now() - began;
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
    const double h = tsr_list_smallest_spacing(editor->object[slot].tiles), most = h / fmax(fastest, 1e-9);
    double pieces = ceil(duration / most);
    if (!(pieces < 1e6)) TSR_FAIL(TSR_ERROR_ARGUMENT, "the brush moves the surface by %g voxels, expected less than a million", pieces);
    tsr_edit_begin(editor);
    for (double i = 0; i < pieces; i++) {
        tsr_status status = local_piece(editor, slot, centre, radius, options, duration / pieces, progress);
        if (status == TSR_OK) continue;
        tsr_edit_abandon(editor);
        return status;
    }
    TSR_TRY(tsr_edit_finish(editor, slot));
    return TSR_OK;
}

static tsr_status check_brush(const tsr_brush *b)
{
    if (!b) TSR_FAIL(TSR_ERROR_ARGUMENT, "brush is NULL");
    if (!isfinite(b->centre.x) || !isfinite(b->centre.y) || !isfinite(b->centre.z)) TSR_FAIL(TSR_ERROR_ARGUMENT, "brush: the centre is not finite");
    if (!(b->sigma > 0 && b->sigma < 1e6)) TSR_FAIL(TSR_ERROR_ARGUMENT, "brush: sigma is %g, expected a positive number below 1e6", b->sigma);
    if (!isfinite(b->speed)) TSR_FAIL(TSR_ERROR_ARGUMENT, "brush: the speed is not finite");
    TSR_TRY(tsr_edit_check_length("time of the brush", b->time));
    return TSR_OK;
}

static tsr_status brush_with(tsr_editor *editor, const char *object, const tsr_brush *b, const tsr_levelset_term *term, double fastest,
                             const tsr_progress *progress)
{
    int32_t slot;
    tsr_levelset_options options;
    TSR_TRY(tsr_edit_find(editor, object, &slot));
    tsr_edit_flow_options(editor, &options);
    options.terms[0] = *term;
    options.terms[0].centre = b->centre;
    options.terms[0].sigma = b->sigma;
    options.term_count = 1;
    if (term->kind == TSR_LEVELSET_SPEED) options.reshape_weight = tsr_edit_reshape_weight(editor->object[slot].tiles, fastest);
    TSR_TRY(run_local(editor, slot, b->centre, 3 * b->sigma, &options, b->time, fastest, progress));
    return TSR_OK;
}

tsr_status tsr_editor_brush(tsr_editor *editor, const char *object, const tsr_brush *brush, const tsr_progress *progress)
{
    TSR_NEEDS(editor, brush);
    TSR_TRY(check_brush(brush));
    tsr_levelset_term term = { .kind = TSR_LEVELSET_SPEED, .value = brush->speed };
    TSR_TRY(brush_with(editor, object, brush, &term, fabs(brush->speed), progress));
    return TSR_OK;
}

tsr_status tsr_editor_smooth_brush(tsr_editor *editor, const char *object, const tsr_brush *brush, const tsr_progress *progress)
{
    TSR_NEEDS(editor, brush);
    TSR_TRY(check_brush(brush));
    if (!(brush->speed >= 0)) TSR_FAIL(TSR_ERROR_ARGUMENT, "brush: the weight of the curvature is %g, expected 0 or more", brush->speed);
    int32_t slot;
    TSR_TRY(tsr_edit_find(editor, object, &slot));
    tsr_levelset_term term = { .kind = TSR_LEVELSET_CURVATURE, .value = 0.5 * brush->speed };
    double h = tsr_list_smallest_spacing(editor->object[slot].tiles); /* |K| is at most 2 / h */
    TSR_TRY(brush_with(editor, object, brush, &term, brush->speed / h, progress));
    return TSR_OK;
}
