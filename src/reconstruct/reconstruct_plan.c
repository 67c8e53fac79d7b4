/* reconstruct/reconstruct_plan.c: what a reconstruction would take: tiles and memory from the occupied cells of the octree, time of the potential from a
 * sample (docs/theory/reconstruction.md 4: about four times the tiles per level). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reconstruct/reconstruct.h"

/* Stored tiles per tile that holds samples, and tiles that come and go per tile that stays: measured on scans (docs/guide/reconstruct.md). */
static const double TILES_PER_OCCUPIED = 2.4, TILES_MADE = 1.6;
enum { SAMPLE_TILES = 512 };

/* Number of cells with samples at each depth, from the sorted positions. */
static tsr_status occupied_cells(const tsr_points_tree *tree, uint32_t *fixed[3], int64_t occupied[TSR_TREE_DEPTH_MOST + 1])
{
    int64_t begin[TSR_TREE_DEPTH_MOST + 1] = { 0 }; /* cells of a depth that begin where those of the depth before go on */
    const int32_t depth = tree->view.depth, shift = TSR_FIXED_BITS - depth;
    uint64_t before = 0;
    for (int64_t i = 0; i < tree->points; i++) {
        const uint64_t key = tsr_morton(fixed[0][i] >> shift, fixed[1][i] >> shift, fixed[2][i] >> shift);
        if (i && key != before) begin[tsr_common_depth(before, key, depth) + 1]++;
        before = key;
    }
    occupied[0] = 1;
    for (int32_t d = 1; d <= depth; d++) occupied[d] = occupied[d - 1] + begin[d];
    return TSR_OK;
}

/* Cells that the surface meets at each depth: where they hold less than two samples the cloud has holes, the surface has none: about four times the depth before. */
static void surface_cells(const int64_t occupied[TSR_TREE_DEPTH_MOST + 1], int64_t points, int32_t depth, double cells[TSR_TREE_DEPTH_MOST + 1])
{
    cells[0] = 1;
    for (int32_t d = 1; d <= depth; d++) {
        cells[d] = (double)occupied[d];
        if ((double)points < 2.5 * cells[d]) cells[d] = fmax(cells[d], 3.9 * cells[d - 1]);
    }
}

/* Seconds per tile of the finest level. */
static tsr_status sample_potential(const tsr_points_tree *tree, const tsr_reconstruct_options *o, uint32_t *fixed[3], double *seconds)
{
    tsr_context *context = tree->context;
    tsr_potential_params params;
    uint64_t keys[SAMPLE_TILES];
    void *device_keys = NULL, *pages = NULL;
    const int32_t count = (int32_t)tsr_min64(SAMPLE_TILES, tree->points), shift = TSR_FIXED_BITS - (o->depth - 2);
    tsr_status status;
    TSR_TRY(tsr_potential_prepare(o->power, o->epsilon, o->theta, o->depth, &params));
    for (int32_t t = 0; t < count; t++) { /* runs of neighbours, as in a list */
        const int64_t i = (int64_t)(t / 32) * 32 * (tree->points / count) + t % 32;
        keys[t] = tsr_key_make((int32_t)(fixed[0][i] >> shift), (int32_t)(fixed[1][i] >> shift), (int32_t)(fixed[2][i] >> shift));
    }
    TSR_TRY_GOTO(tsr_device_allocate(context, sizeof keys, &device_keys), done);
    TSR_TRY_GOTO(tsr_device_allocate(context, SAMPLE_TILES * 256, &pages), done);
    TSR_TRY_GOTO(context->backend->upload(context->queue, device_keys, keys, sizeof keys), done);
    const tsr_page_list list = { .keys = tsr_keys_wide((const uint64_t *)device_keys), .count = count, .log2_edge = 2, .pages = (float *)pages };
    double best = INFINITY;
    for (int i = 0; i < 3; i++) {
        const double start = tsr_seconds_now();
        TSR_TRY_GOTO(context->backend->potential->evaluate(context->queue, &tree->view, &params, &list), done);
        TSR_TRY_GOTO(tsr_context_synchronize(context), done);
        best = fmin(best, tsr_seconds_now() - start);
    }
    *seconds = best / count;
done:
    if (device_keys) tsr_device_release(context, device_keys, sizeof keys);
    if (pages) tsr_device_release(context, pages, SAMPLE_TILES * 256);
    return status;
}

/* Bytes per tile of a list with payload, from a small one. */
static tsr_status tile_bytes(tsr_context *context, tsr_storage storage, double *bytes)
{
    tsr_tiles *tiles = NULL;
    tsr_tiles_options options = TSR_TILES_OPTIONS;
    options.edge = 4;
    options.domain = (tsr_size3){ 64, 64, 64 };
    options.capacity = 4096;
    options.storage = storage;
    TSR_TRY(tsr_tiles_create(context, NULL, &options, &tiles));
    tsr_status status = tsr_tiles_need_payload(tiles);
    *bytes = (double)tiles->bytes / (double)tiles->pool.capacity;
    tsr_tiles_destroy(&tiles);
    return status;
}

static tsr_status make_plan(const tsr_points_tree *tree, const tsr_reconstruct_options *o, uint32_t *fixed[3], tsr_reconstruct_plan *plan)
{
    int64_t occupied[TSR_TREE_DEPTH_MOST + 1];
    double seconds = 0, per_tile = 0, cells[TSR_TREE_DEPTH_MOST + 1];
    TSR_TRY(occupied_cells(tree, fixed, occupied));
    surface_cells(occupied, tree->points, o->depth, cells);
    TSR_TRY(sample_potential(tree, o, fixed, &seconds));
    TSR_TRY(tile_bytes(tree->context, o->storage, &per_tile));
    plan->tree_bytes = tsr_points_tree_bytes(tree);
    plan->points = tree->points;
    plan->lone = tree->lone;
    plan->build_bytes = (tree->points + tree->lone) * 70;
    for (int32_t level = o->start_depth; level <= o->depth; level++) {
        const int32_t d = level - 2;
        plan->level[plan->levels].level = level;
        plan->level[plan->levels].occupied = occupied[d];
        const double tiles = fmin(TILES_PER_OCCUPIED * cells[d], ldexp(1, 3 * d)); /* never more than the grid has */
        plan->level[plan->levels].tiles = (int64_t)tiles;
        plan->level[plan->levels].bytes = (int64_t)(tiles * per_tile);
        /* upsampling makes eight tiles of each, growth leaves a quarter free */
        const int64_t before = plan->levels ? plan->level[plan->levels - 1].tiles : 0;
        const int64_t peak = (int64_t)(1.25 * per_tile * fmax((double)plan->level[plan->levels].tiles, 8.0 * (double)before)) +
                             (int64_t)(per_tile * (double)before) + plan->tree_bytes + 4 * tree->points;
        plan->peak_bytes = tsr_max64(plan->peak_bytes, tsr_max64(peak, plan->build_bytes));
        plan->seconds += seconds * TILES_MADE * (double)plan->level[plan->levels].tiles;
        plan->levels++;
    }
    return TSR_OK;
}

tsr_status tsr_reconstruct_estimate(tsr_context *context, const tsr_points *points, const tsr_reconstruct_options *options,
                                    tsr_reconstruct_plan *plan)
{
    TSR_NEEDS(context, points, plan);
    tsr_reconstruct_options o;
    tsr_points_frame frame;
    double diagonal;
    tsr_points_tree *tree;
    uint32_t *fixed[3] = { NULL, NULL, NULL };
    tsr_status status = TSR_OK;
    tsr_reconstruct_plan own = TSR_RECONSTRUCT_PLAN;
    TSR_TRY(TSR_STRUCT_GIVE(plan, &own));
    TSR_TRY(tsr_reconstruct_take(options, &o));
    TSR_TRY(tsr_reconstruct_octree(context, points, &o, &frame, &diagonal, &own.flat, &tree));
    const size_t bytes = (size_t)tree->points * sizeof **fixed;
    for (int k = 0; k < 3 && status == TSR_OK; k++) {
        status = tsr_host_allocate(NULL, bytes, (void **)&fixed[k]);
        if (status == TSR_OK) status = context->backend->download(context->queue, fixed[k], tree->fixed[k], bytes);
    }
    if (status == TSR_OK) status = make_plan(tree, &o, fixed, &own);
    for (int k = 0; k < 3; k++) tsr_host_release(NULL, fixed[k], bytes);
    tsr_points_tree_destroy(&tree);
    TSR_TRY(status);
    return TSR_STRUCT_GIVE(plan, &own);
}
