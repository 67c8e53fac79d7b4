/* reconstruct/particles.c: surfaces of particles: the tiles their balls meet, the distance to the union of the balls, curvature flow. */
#include <math.h>
#include <stdlib.h>

#include "algebra/csg.h"
#include "reconstruct/reconstruct.h"
#include "reconstruct/sample.h"
#include "tessera/primitives.h"

/* Per time in which curvature moves a voxel: a step is about an eighth of that and takes most of the error of the volume away. */
#define FEEDBACK 6.0
/* Voxels: balls of the default voxel are two voxels deep, and a wider step would take the rounding of their middle for a loss. */
#define MEAN_WIDTH 0.6

enum { TILES_AT_ONCE = 1 << 12 }; /* looks at progress between so many */

typedef struct run {
    tsr_context *context;
    const tsr_points *points;
    tsr_particles_options o;
    tsr_points_frame frame;
    int32_t level;            /* 2^level voxels per axis */
    double smallest, largest; /* radii */
    tsr_tiles *tiles;
} run;

static tsr_status reduce_radius(run *r, tsr_reduction reduction, double *value)
{
    tsr_reduced got;
    if (!r->points->radii) {
        *value = r->o.radius;
        return TSR_OK;
    }
    TSR_TRY(tsr_reduce_host(r->context, reduction, TSR_F32, r->points->radii, r->points->count, &got));
    *value = got.f;
    return TSR_OK;
}

/* Radii, voxel size, the cube: its side is a power of two of the voxel. */
static tsr_status set_up(run *r)
{
    double diagonal;
    int32_t flat;
    TSR_TRY(tsr_reconstruct_frame(r->context, r->points, "particles", 1, 0, &r->frame, &diagonal, &flat));
    TSR_TRY(reduce_radius(r, TSR_REDUCE_MIN, &r->smallest));
    TSR_TRY(reduce_radius(r, TSR_REDUCE_MAX, &r->largest));
    if (!(r->smallest > 0 && isfinite(r->largest)))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "particles: radii from %g to %g, expected positive numbers%s", r->smallest, r->largest,
                 r->points->radii ? "" : " (the points have none: give options.radius)");
    if (r->o.voxel == 0) r->o.voxel = 0.5 * r->smallest;
    if (!(r->o.voxel > 0 && r->o.voxel <= 1.5 * r->smallest))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "particles: voxel is %g, expected at most 1.5 of the smallest radius %g", r->o.voxel, r->smallest);
    const double h = r->o.voxel, extent = r->frame.side + 2 * (r->largest + (r->o.band + 3) * h);
    r->level = (int32_t)fmax(3, ceil(log2(extent / h)));
    if (r->level > TSR_TREE_DEPTH_MOST - 1)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "particles: %.3g voxels of %g along the longest side, expected at most %d: give a larger voxel", extent / h, h,
                 1 << (TSR_TREE_DEPTH_MOST - 1));
    const double side = ldexp(h, r->level);
    for (int k = 0; k < 3; k++) r->frame.lower[k] -= 0.5 * (side - r->frame.side);
    r->frame.side = side;
    r->frame.scale = (double)TSR_FIXED_ONE / side;
    return TSR_OK;
}

/* ---- tiles ---------------------------------------------------------------------------------------------------------------------------- */

#define TOO_LARGE "radius %g and voxel %g need a larger voxel"
#define KEYS_MOST ((int64_t)INT32_MAX)

/* What `tiles` tiles need, before any of it is asked for: a machine that promises more memory than it has ends the process instead. */
static tsr_status check_memory(const run *r, int64_t tiles, double bytes)
{
    tsr_device_info device = TSR_DEVICE_INFO;
    TSR_TRY(tsr_device_describe(r->context->device, &device));
    const int64_t has = device.memory_bytes, given = r->o.memory_limit;
    if (given > 0 && bytes > (double)given)
        TSR_FAIL(TSR_ERROR_CAPACITY, "particles: %.0f bytes for %lld tiles, the memory_limit is %lld: " TOO_LARGE, bytes, (long long)tiles,
                 (long long)given, r->largest, r->o.voxel);
    if (has > 0 && bytes > (double)has)
        TSR_FAIL(TSR_ERROR_CAPACITY, "particles: %.0f bytes for %lld tiles, the device has %lld: " TOO_LARGE, bytes, (long long)tiles, (long long)has,
                 r->largest, r->o.voxel);
    return TSR_OK;
}
static tsr_status check_tiles(const run *r, int64_t tiles)
{
    if (tiles > INT32_MAX / 2)
        TSR_FAIL(TSR_ERROR_CAPACITY, "particles: %lld tiles, expected at most %d: " TOO_LARGE, (long long)tiles, INT32_MAX / 2, r->largest,
                 r->o.voxel);
    return check_memory(r, tiles, (double)tiles * 2 * 64 * sizeof(float)); /* two fields of 4^3 voxels, the rest is less */
}

/* How many tiles away a ball's band may end. */
static int32_t reach_of(const run *r) { return (int32_t)ceil((r->largest + r->o.band * r->o.voxel) / (4 * r->o.voxel)); }

/* Sorted keys of the tiles that a ball or its band may meet; device memory of `count` keys, *room bytes long. */
static tsr_status near_tiles(run *r, uint64_t **keys, size_t *room, int64_t *count)
{
    tsr_context *context = r->context;
    const int32_t depth = r->level - 2, reach = reach_of(r);
    tsr_points_tree *cells = NULL;
    void *sorted = NULL, *first = NULL, *workspace = NULL;
    size_t sort_bytes, select_bytes;
    uint64_t found;
    tsr_status status;
    TSR_TRY(tsr_points_tree_create(context, r->points->positions, NULL, r->points->count, &r->frame, depth, 1, &cells));
    const tsr_tree_build leaves = { .points = cells->points,
                                    .leaves = cells->leaves,
                                    .depth = depth,
                                    .start = cells->start,
                                    .fixed = { cells->fixed[0], cells->fixed[1], cells->fixed[2] } };
    const int64_t each = tsr_tiles_round_count(reach), n = each > KEYS_MOST / cells->leaves ? KEYS_MOST + 1 : cells->leaves * each;
    if (n > KEYS_MOST)
        TSR_FAIL_GOTO(TSR_ERROR_CAPACITY, done, "particles: %lld places of particles times %lld tiles in reach, expected at most %lld: " TOO_LARGE,
                      (long long)cells->leaves, (long long)each, (long long)KEYS_MOST, r->largest, r->o.voxel);
    TSR_TRY_GOTO(tsr_sort_workspace(context, TSR_U64, 0, n, &sort_bytes), done);
    TSR_TRY_GOTO(tsr_select_workspace(context, n, &select_bytes), done);
    const size_t most = sort_bytes > select_bytes ? sort_bytes : select_bytes;
    TSR_TRY_GOTO(check_memory(r, each, (double)n * (2 * sizeof **keys + 1) + (double)most), done);
    *room = (size_t)n * sizeof **keys;
    TSR_TRY_GOTO(tsr_device_allocate(context, *room, (void **)keys), done);
    TSR_TRY_GOTO(context->backend->potential->tiles_round(context->queue, &leaves, depth, reach, *keys), free_keys);
    TSR_TRY_GOTO(tsr_device_allocate(context, most + 256, &workspace), free_keys);
    TSR_TRY_GOTO(tsr_device_allocate(context, *room, &sorted), free_keys);
    TSR_TRY_GOTO(tsr_device_allocate(context, (size_t)n, &first), free_keys);
    uint64_t *counter = (uint64_t *)workspace;
    void *space = (char *)workspace + 256;
    TSR_TRY_GOTO(tsr_sort(context, TSR_U64, *keys, sorted, NULL, NULL, n, 0, 64, space, most), free_keys);
    TSR_TRY_GOTO(context->backend->potential->unique(context->queue, (const uint64_t *)sorted, n, 0, (uint8_t *)first), free_keys);
    TSR_TRY_GOTO(tsr_select_values(context, (const uint8_t *)first, sorted, 8, n, *keys, n, counter, space, most), free_keys);
    TSR_TRY_GOTO(tsr_found_host(context, counter, n, &found), free_keys);
    *count = (int64_t)found;
free_keys:
    if (workspace) tsr_device_release(context, workspace, most + 256);
    if (sorted) tsr_device_release(context, sorted, *room);
    if (first) tsr_device_release(context, first, (size_t)n);
    if (status != TSR_OK) {
        tsr_device_release(context, *keys, *room);
        *keys = NULL;
    }
done:
    tsr_points_tree_destroy(&cells);
    return status;
}

static tsr_status insert_tiles(run *r)
{
    uint64_t *keys = NULL;
    size_t room = 0;
    int64_t count = 0;
    TSR_TRY(near_tiles(r, &keys, &room, &count));
    tsr_status status = check_tiles(r, count);
    if (status == TSR_OK) status = tsr_tiles_reserve(r->tiles, count + TSR_TILE_FIRST);
    if (status == TSR_OK) status = r->context->backend->tiles->insert(r->context->queue, &r->tiles->pool, keys, (int32_t)count);
    if (status == TSR_OK) status = tsr_context_synchronize(r->context);
    tsr_device_release(r->context, keys, room);
    return status;
}

/* ---- the field ------------------------------------------------------------------------------------------------------------------------ */

static tsr_status fill_field(run *r)
{
    tsr_points_tree *tree;
    tsr_tile_state state;
    const int32_t depth = r->level + 3 < TSR_TREE_DEPTH_MOST ? r->level + 3 : TSR_TREE_DEPTH_MOST; /* one place = an eighth of a voxel */
    tsr_context *context = r->context;
    const tsr_ball_params params = { .level = r->level,
                                     .unit = (float)ldexp(r->frame.side, -TSR_FIXED_BITS),
                                     .voxel = (float)r->o.voxel,
                                     .radius = (float)r->largest,
                                     .reach = (float)(r->largest + r->o.band * r->o.voxel),
                                     .band = r->tiles->pool.band };
    TSR_TRY(tsr_points_tree_create(context, r->points->positions, r->points->radii, r->points->count, &r->frame, depth, 0, &tree));
    tsr_status status;
    TSR_TRY_GOTO(tsr_tiles_read_state(r->tiles, &state), done);
    tsr_page_list list = tsr_pages_of_pool(&r->tiles->pool, 1);
    list.pages = r->tiles->pool.phi[state.phi];
    list.state = NULL; /* parts of the list, so that a caller can end it between them */
    for (int32_t from = 0; from < state.count && status == TSR_OK; from += TILES_AT_ONCE) {
        if (tsr_progress_report(&r->o.progress, 0.5 * from / state.count, "joining the balls"))
            TSR_FAIL_GOTO(TSR_ERROR_CANCELLED, done, "cancelled during joining the balls");
        list.ids = r->tiles->pool.id[state.list] + from;
        list.count = tsr_mini(TILES_AT_ONCE, state.count - from);
        status = context->backend->potential->balls(context->queue, &tree->view, &params, &list);
    }
    if (status == TSR_OK) status = context->backend->tiles->refresh(context->queue, &r->tiles->pool);
    if (status == TSR_OK) status = tsr_tiles_manage(r->tiles);
done:
    tsr_points_tree_destroy(&tree);
    return status;
}

/* Curvature flow for `smooth` in squares of the radius, with the square of a voxel as unit of time, so that all units of length run alike. Conserving adds
 * the mean of the curvature with the other sign and pulls back to the volume at the start what the differences lose. The reshaping must not move the
 * surface, which a smooth sign does by a good part of a voxel on small balls. */
static tsr_status smooth_field(run *r)
{
    const double unit = r->o.voxel * r->o.voxel;
    tsr_levelset_options s = TSR_LEVELSET_OPTIONS;
    tsr_levelset *solver;
    tsr_levelset_report got = TSR_LEVELSET_REPORT;
    s.space = TSR_STENCIL_ENO2;
    s.sign = TSR_SIGN_SUBCELL;
    s.reshape_weight = 0.5; /* about as fast as the curvature of a voxel */
    s.terms[s.term_count++] = (tsr_levelset_term){ .kind = TSR_LEVELSET_CURVATURE, .value = unit };
    if (r->o.conserve) {
        s.terms[s.term_count++] = (tsr_levelset_term){ .kind = TSR_LEVELSET_MEAN_CURVATURE, .value = unit };
        s.feedback = FEEDBACK;
        s.mean_width = MEAN_WIDTH;
    }
    TSR_TRY(tsr_levelset_create(r->tiles, &s, &solver));
    tsr_status status = tsr_levelset_advance(solver, r->o.smooth * r->smallest * r->smallest / unit, &r->o.progress, &got);
    tsr_levelset_destroy(&solver);
    TSR_TRY(status);
    if (got.empty || got.tiles == 0) TSR_FAIL(TSR_ERROR_STATE, "particles: the surface vanished while it was smoothed: give a smaller smooth");
    return TSR_OK;
}

/* The union of the balls, into the empty list. */
static tsr_status join(run *r)
{
    TSR_TRY(insert_tiles(r));
    TSR_TRY(fill_field(r));
    return TSR_OK;
}

tsr_status tsr_particles_join(const tsr_tiles *like, const tsr_points_frame *frame, int32_t level, const tsr_points *points, tsr_tiles **balls)
{
    const double h = ldexp(frame->side, -level);
    run r = { .context = like->context, .points = points, .frame = *frame, .level = level };
    TSR_TRY(reduce_radius(&r, TSR_REDUCE_MAX, &r.largest));
    r.o = (tsr_particles_options){ .voxel = h, .band = (double)like->pool.band / h, .memory_limit = like->memory_limit };
    TSR_TRY(tsr_csg_create_like(like, 0, 0, &r.tiles));
    tsr_status status = join(&r);
    if (status != TSR_OK) {
        tsr_tiles_destroy(&r.tiles);
        return tsr_frame_at(status, __func__, __FILE__, __LINE__);
    }
    *balls = r.tiles;
    return TSR_OK;
}

static tsr_status surface(run *r)
{
    TSR_TRY(set_up(r));
    TSR_TRY(check_tiles(r, tsr_tiles_round_count(reach_of(r)))); /* about so many lie round one particle already */
    const tsr_geometry geometry = tsr_reconstruct_geometry(&r->frame, r->level, r->points->space);
    tsr_tiles_options options = TSR_TILES_OPTIONS;
    options.edge = 4;
    options.domain = (tsr_size3){ (int64_t)1 << r->level, (int64_t)1 << r->level, (int64_t)1 << r->level };
    options.band = r->o.band * r->o.voxel;
    options.memory_limit = r->o.memory_limit;
    TSR_PROGRESS(&r->o.progress, 0, "joining the balls");
    TSR_TRY(tsr_tiles_create(r->context, &geometry, &options, &r->tiles));
    TSR_TRY(join(r));
    if (r->o.smooth > 0) TSR_TRY(smooth_field(r));
    return TSR_OK;
}

tsr_status tsr_particles_surface(tsr_context *context, const tsr_points *points, const tsr_particles_options *options, tsr_tiles **tiles)
{
    TSR_RETURNS(tiles);
    TSR_NEEDS(context, points);
    run r = { .context = context, .points = points };
    TSR_TRY(TSR_OPTIONS_TAKE(&r.o, options));
    if (r.o.band == 0) r.o.band = 2;
    if (!(r.o.band >= 1 && r.o.band <= 5)) TSR_FAIL(TSR_ERROR_ARGUMENT, "particles: band is %g, expected 1 to 5 voxels", r.o.band);
    if (r.o.smooth == 0) r.o.smooth = 0.15;
    if (r.o.conserve && r.o.smooth < 0)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "particles: conserve without smoothing (smooth is %g), expected a smooth of 0 or more", r.o.smooth);
    if (r.o.memory_limit < 0)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "particles: memory_limit is %lld, expected 0 (what the device has) or more", (long long)r.o.memory_limit);
    if (!(r.o.smooth <= 10)) TSR_FAIL(TSR_ERROR_ARGUMENT, "particles: smooth is %g, expected at most 10", r.o.smooth);
    tsr_status status = surface(&r);
    if (status != TSR_OK) {
        tsr_tiles_destroy(&r.tiles);
        return tsr_frame_at(status, __func__, __FILE__, __LINE__);
    }
    *tiles = r.tiles;
    return TSR_OK;
}
