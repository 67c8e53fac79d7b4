#include "region/region_tree.h"

static int64_t leaf_bytes(const tsr_region_info *i) { return i->nodes_only ? 0 : i->leaves * (int64_t)sizeof(uint64_t); }
static int64_t node_bytes(const tsr_region_info *i) { return (i->nodes << i->dimensions) * (int64_t)sizeof(int32_t); }

static int64_t table_bytes(const tsr_region_info *i) { return i->cap ? (int64_t)sizeof(tsr_region_entry) << (i->dimensions * i->cap) : 0; }

static tsr_status take(tsr_context *context, int64_t bytes, void **memory)
{
    if (context) TSR_TRY(tsr_device_allocate(context, (size_t)bytes, memory));
    else if (bytes) TSR_TRY(tsr_host_allocate(NULL, (size_t)bytes, memory));
    return TSR_OK;
}
static void give(tsr_context *context, void *memory, int64_t bytes)
{
    if (context) tsr_device_release(context, memory, (size_t)bytes);
    else if (memory) tsr_host_release(NULL, memory, (size_t)bytes);
}

static tsr_status check_counts(const tsr_region_info *info)
{
    if ((info->leaves > INT32_MAX && !info->nodes_only) || info->nodes > INT32_MAX)
        TSR_FAIL(TSR_ERROR_CAPACITY, "region tree: %lld leaves and %lld nodes, expected fewer than 2^31: build it in parts", (long long)info->leaves,
                 (long long)info->nodes);
    return TSR_OK;
}

tsr_status tsr_region_tree_create(tsr_context *context, const tsr_region_info *info, const tsr_geometry *geometry, tsr_region_tree **tree)
{
    tsr_status status;
    *tree = NULL;
    TSR_TRY(check_counts(info));
    TSR_TRY(tsr_host_allocate(NULL, sizeof **tree, (void **)tree));
    tsr_region_tree *t = *tree;
    *t = (tsr_region_tree){ .context = context, .info = *info, .geometry = *geometry };
    t->info.cap = 0; /* tables are made by themselves */
    t->leaf_room = leaf_bytes(info);
    t->node_room = node_bytes(info);
    t->info.device_bytes = t->leaf_room + t->node_room;
    TSR_TRY_GOTO(take(context, t->leaf_room, (void **)&t->leaves), fail);
    TSR_TRY_GOTO(take(context, t->node_room, (void **)&t->nodes), fail);
    return TSR_OK;
fail:
    tsr_region_tree_destroy(tree);
    return status;
}

void tsr_region_tree_destroy(tsr_region_tree **tree)
{
    if (!tree || !*tree) return;
    tsr_region_tree *t = *tree;
    *tree = NULL;
    give(t->context, t->leaves, t->leaf_room);
    give(t->context, t->nodes, t->node_room);
    give(t->context, t->table, table_bytes(&t->info));
    tsr_host_release(NULL, t, sizeof *t);
}

tsr_status tsr_region_tree_extract(const tsr_region_pyramid *pyramid, tsr_region_tree **tree)
{
    TSR_RETURNS(tree);
    TSR_NEEDS(pyramid);
    tsr_region_info info = TSR_REGION_INFO;
    tsr_status status;
    TSR_TRY(tsr_region_pyramid_describe(pyramid, &info));
    TSR_TRY(tsr_region_tree_create(pyramid->context, &info, &pyramid->geometry, tree));
    const tsr_region_lists lists = { info.nodes_only ? NULL : (*tree)->leaves, (*tree)->nodes };
    if (info.leaves) TSR_TRY_GOTO(pyramid->context->backend->region->list(pyramid->context->queue, &pyramid->regions, &pyramid->rule, &lists), fail);
    return TSR_OK;
fail:
    tsr_region_tree_destroy(tree);
    return status;
}

/* Room for `bytes`, the content of before lost; a quarter more where it grows. */
static tsr_status grow(tsr_context *context, void **memory, int64_t *room, int64_t bytes)
{
    if (bytes <= *room) return TSR_OK;
    give(context, *memory, *room);
    *memory = NULL;
    *room = 0;
    TSR_TRY(take(context, bytes + bytes / 4, memory));
    *room = bytes + bytes / 4;
    return TSR_OK;
}

static tsr_status make_table(tsr_region_tree *t)
{
    const tsr_region_view view = tsr_region_view_of(t);
    if (t->table && t->info.root == TSR_REGION_NODE) TSR_TRY(t->context->backend->region->enter(t->context->queue, &view, t->info.cap, t->table));
    return TSR_OK;
}

tsr_status tsr_region_tree_renew(const tsr_region_pyramid *pyramid, tsr_region_tree *tree)
{
    TSR_NEEDS(pyramid, tree);
    tsr_region_info info = TSR_REGION_INFO;
    tsr_status status;
    TSR_TRY(tsr_region_tree_require(tree, 0, NULL, NULL));
    TSR_TRY(tsr_region_pyramid_describe(pyramid, &info));
    if (pyramid->context != tree->context) TSR_FAIL(TSR_ERROR_ARGUMENT, "region tree: pyramid and tree are of different contexts, expected one");
    if (info.dimensions != tree->info.dimensions || info.top != tree->info.top)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "region tree: pyramid of %d dimensions and %d levels, expected %d and %d as the tree", info.dimensions, info.top,
                 tree->info.dimensions, tree->info.top);
    TSR_TRY(check_counts(&info));
    const int32_t cap = tree->info.cap;
    TSR_TRY_GOTO(grow(tree->context, (void **)&tree->leaves, &tree->leaf_room, leaf_bytes(&info)), fail);
    TSR_TRY_GOTO(grow(tree->context, (void **)&tree->nodes, &tree->node_room, node_bytes(&info)), fail);
    tree->info = info;
    tree->info.cap = cap;
    tree->info.device_bytes = tree->leaf_room + tree->node_room + table_bytes(&tree->info);
    tree->geometry = pyramid->geometry;
    const tsr_region_lists lists = { info.nodes_only ? NULL : tree->leaves, tree->nodes };
    if (info.leaves) TSR_TRY_GOTO(pyramid->context->backend->region->list(pyramid->context->queue, &pyramid->regions, &pyramid->rule, &lists), fail);
    TSR_TRY_GOTO(make_table(tree), fail);
    return TSR_OK;
fail:
    tree->info.leaves = tree->info.nodes = 0;
    tree->info.root = TSR_REGION_EMPTY;
    return status;
}

tsr_status tsr_region_tree_cap(tsr_region_tree *tree, int32_t levels)
{
    TSR_NEEDS(tree);
    enum { MOST_BITS = 27 };
    tsr_region_entry *table = NULL;
    TSR_TRY(tsr_region_tree_require(tree, 0, NULL, NULL));
    if (levels < 0 || (levels > 0 && levels > tree->info.top - 1) || levels * tree->info.dimensions > MOST_BITS)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "region tree: cap is %d levels of %d, expected 0 to %d", levels, tree->info.top,
                 tsr_mini(tsr_maxi(tree->info.top - 1, 0), MOST_BITS / tree->info.dimensions));
    tsr_region_info info = tree->info;
    info.cap = levels;
    if (levels) TSR_TRY(tsr_device_allocate(tree->context, (size_t)table_bytes(&info), (void **)&table));
    give(tree->context, tree->table, table_bytes(&tree->info));
    info.device_bytes += table_bytes(&info) - table_bytes(&tree->info);
    tree->info = info;
    tree->table = table;
    TSR_TRY(make_table(tree));
    return TSR_OK;
}

tsr_status tsr_region_tree_make(tsr_context *context, const tsr_volume *const *channels, int32_t count, const tsr_region_options *options,
                                tsr_region_tree **tree)
{
    TSR_RETURNS(tree);
    TSR_NEEDS(context);
    tsr_region_pyramid *pyramid = NULL;
    tsr_status status;
    if (!channels || count < 1 || !channels[0]) TSR_FAIL(TSR_ERROR_ARGUMENT, "region tree: no channel, expected 1 to 4 volumes");
    TSR_TRY(tsr_region_pyramid_create(context, channels[0]->size, options, &pyramid));
    TSR_TRY_GOTO(tsr_region_pyramid_build(pyramid, channels, count), done);
    TSR_TRY_GOTO(tsr_region_tree_extract(pyramid, tree), done);
    TSR_TRY_GOTO(tsr_context_synchronize(context), done); /* the pyramid is released */
done:
    tsr_region_pyramid_destroy(&pyramid);
    if (status != TSR_OK) tsr_region_tree_destroy(tree);
    return status;
}

const tsr_region_info *tsr_region_tree_describe(const tsr_region_tree *tree)
{
    static const tsr_region_info none;
    return tree ? &tree->info : &none;
}
tsr_status tsr_region_tree_from_world(const tsr_region_tree *tree, tsr_vec3 world, double position[3])
{
    TSR_NEEDS(tree, position);
    tsr_vec3 index;
    TSR_TRY(tsr_geometry_to_index(&tree->geometry, world, &index));
    position[0] = index.x + 0.5;
    position[1] = index.y + 0.5;
    position[2] = index.z + 0.5;
    return TSR_OK;
}

tsr_status tsr_region_ray_from_world(const tsr_region_tree *tree, tsr_vec3 origin, tsr_vec3 direction, double most, tsr_region_ray *ray)
{
    TSR_NEEDS(tree, ray);
    tsr_geometry turned = tree->geometry; /* of directions: without a place */
    tsr_vec3 along;
    for (int k = 0; k < 3; k++) turned.affine[k][3] = 0;
    *ray = (tsr_region_ray){ .most = most };
    TSR_TRY(tsr_region_tree_from_world(tree, origin, ray->origin));
    TSR_TRY(tsr_geometry_to_index(&turned, direction, &along));
    ray->direction[0] = along.x;
    ray->direction[1] = along.y;
    ray->direction[2] = along.z;
    return TSR_OK;
}

const tsr_geometry *tsr_region_tree_geometry(const tsr_region_tree *tree) { return tree ? &tree->geometry : NULL; }
const uint64_t *tsr_region_tree_leaves(const tsr_region_tree *tree) { return tree && !tree->info.nodes_only ? tree->leaves : NULL; }
const int32_t *tsr_region_tree_nodes(const tsr_region_tree *tree) { return tree ? tree->nodes : NULL; }

tsr_status tsr_region_tree_copy(const tsr_region_tree *tree, tsr_context *context, tsr_region_tree **copy)
{
    TSR_RETURNS(copy);
    TSR_NEEDS(tree);
    tsr_status status;
    TSR_TRY(tsr_region_tree_create(context, &tree->info, &tree->geometry, copy));
    if (tree->info.cap && context) TSR_TRY_GOTO(tsr_device_allocate(context, (size_t)table_bytes(&tree->info), (void **)&(*copy)->table), fail);
    if ((*copy)->table) {
        (*copy)->info.cap = tree->info.cap;
        (*copy)->info.device_bytes += table_bytes(&tree->info);
        TSR_TRY_GOTO(tsr_device_move(context, (*copy)->table, tree->context, tree->table, (size_t)table_bytes(&tree->info)), fail);
    }
    if (leaf_bytes(&tree->info))
        TSR_TRY_GOTO(tsr_device_move(context, (*copy)->leaves, tree->context, tree->leaves, (size_t)leaf_bytes(&tree->info)), fail);
    if (tree->info.nodes) TSR_TRY_GOTO(tsr_device_move(context, (*copy)->nodes, tree->context, tree->nodes, (size_t)node_bytes(&tree->info)), fail);
    return TSR_OK;
fail:
    tsr_region_tree_destroy(copy);
    return status;
}

tsr_region_leaf tsr_region_leaf_of(uint64_t key, int32_t dimensions)
{
    int64_t at[3];
    tsr_region_decode(dimensions == 2 ? 2 : 3, key >> 6, at);
    return (tsr_region_leaf){ at[0], at[1], at[2], (int64_t)1 << (key & 63u) };
}

tsr_region_view tsr_region_view_of(const tsr_region_tree *t)
{
    return (tsr_region_view){ { t->info.size.x, t->info.size.y, t->info.size.z },
                              t->info.dimensions,
                              t->info.top,
                              t->info.root,
                              t->info.leaves,
                              t->info.nodes,
                              t->leaves,
                              t->nodes,
                              t->table,
                              t->info.cap };
}

tsr_status tsr_region_tree_require(const tsr_region_tree *t, int64_t count, const void *from, const void *to)
{
    if (!t) TSR_FAIL(TSR_ERROR_ARGUMENT, "region tree is NULL");
    if (!t->context) TSR_FAIL(TSR_ERROR_ARGUMENT, "region tree: it lies on the host, expected a context: copy it there");
    if (count < 0) TSR_FAIL(TSR_ERROR_ARGUMENT, "region tree: count is %lld, expected 0 or more", (long long)count);
    if (count && (!from || !to)) TSR_FAIL(TSR_ERROR_ARGUMENT, "region tree: an array is NULL, expected device memory");
    return TSR_OK;
}

/* For what reads the list of leaves. */
static tsr_status require_leaves(const tsr_region_tree *t)
{
    if (t->info.nodes_only) TSR_FAIL(TSR_ERROR_STATE, "region tree: it has nodes only, expected one with a list of leaves");
    return TSR_OK;
}

static tsr_status find(const tsr_region_tree *t, int linear, const int32_t *positions, int64_t count, tsr_region_hit *hits)
{
    TSR_TRY(tsr_region_tree_require(t, count, positions, hits));
    if (linear) TSR_TRY(require_leaves(t));
    const tsr_region_view view = tsr_region_view_of(t);
    if (count) TSR_TRY(t->context->backend->region->find(t->context->queue, &view, linear, positions, count, hits));
    return TSR_OK;
}
tsr_status tsr_region_tree_find(const tsr_region_tree *tree, const int32_t *positions, int64_t count, tsr_region_hit *hits)
{
    TSR_NEEDS(tree, hits);
    TSR_TRY(find(tree, 0, positions, count, hits));
    return TSR_OK;
}
tsr_status tsr_region_tree_search(const tsr_region_tree *tree, const int32_t *positions, int64_t count, tsr_region_hit *hits)
{
    TSR_NEEDS(tree, hits);
    TSR_TRY(find(tree, 1, positions, count, hits));
    return TSR_OK;
}

static tsr_status trace(const tsr_region_tree *t, const tsr_region_ray *rays, int64_t count, int32_t room, tsr_region_trace_mode mode,
                        tsr_region_span *spans, int32_t *found)
{
    TSR_TRY(tsr_region_tree_require(t, count, rays, found));
    if (room < 0) TSR_FAIL(TSR_ERROR_ARGUMENT, "region tree: room is %d, expected 0 or more spans per ray", room);
    if (count && room && !spans) TSR_FAIL(TSR_ERROR_ARGUMENT, "region tree: spans is NULL, expected device memory");
    const tsr_region_view view = tsr_region_view_of(t);
    if (count) TSR_TRY(t->context->backend->region->trace(t->context->queue, &view, rays, count, room, (int32_t)mode, spans, found));
    return TSR_OK;
}
tsr_status tsr_region_tree_rays(const tsr_region_tree *tree, const tsr_region_ray *rays, int64_t count, int32_t room, int first_only,
                                tsr_region_span *spans, int32_t *found)
{
    TSR_NEEDS(tree, rays, found);
    TSR_TRY(trace(tree, rays, count, room, first_only ? TSR_TRACE_FIRST : TSR_TRACE_ALL, spans, found));
    return TSR_OK;
}
tsr_status tsr_region_tree_gaps(const tsr_region_tree *tree, const tsr_region_ray *rays, int64_t count, int32_t room, tsr_region_span *spans,
                                int32_t *found)
{
    TSR_NEEDS(tree, rays, found);
    TSR_TRY(trace(tree, rays, count, room, TSR_TRACE_GAPS, spans, found));
    return TSR_OK;
}

/* For what reads a volume over the leaves. */
static tsr_status take_source(const tsr_region_tree *t, const tsr_volume *volume, const void *results, tsr_classifier *source)
{
    TSR_TRY(tsr_region_tree_require(t, t ? t->info.leaves : 0, results, results));
    TSR_TRY(require_leaves(t));
    TSR_TRY(tsr_volume_require(t->context, volume, "volume"));
    const tsr_size3 n = volume->size, own = t->info.size;
    if (n.x != own.x || n.y != own.y || n.z != own.z)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "region tree: volume of %lld x %lld x %lld, expected %lld x %lld x %lld as the tree", (long long)n.x,
                 (long long)n.y, (long long)n.z, (long long)own.x, (long long)own.y, (long long)own.z);
    TSR_TRY(tsr_classifier_make("region tree", TSR_PYRAMID_NONZERO, 0, 0, volume, 1, source));
    return TSR_OK;
}

/* A volume read over the leaves, into one of the two. */
static tsr_status over_leaves(const tsr_region_tree *t, const tsr_volume *volume, float *means, tsr_region_statistics *statistics)
{
    tsr_classifier source;
    TSR_TRY(take_source(t, volume, means ? (const void *)means : statistics, &source));
    const tsr_region_view view = tsr_region_view_of(t);
    const tsr_region_ops *ops = t->context->backend->region;
    if (!t->info.leaves) return TSR_OK;
    if (means) TSR_TRY(ops->means(t->context->queue, &view, &source, means));
    else TSR_TRY(ops->statistics(t->context->queue, &view, &source, statistics));
    return TSR_OK;
}

tsr_status tsr_region_tree_means(const tsr_region_tree *tree, const tsr_volume *volume, float *means)
{
    TSR_NEEDS(tree, volume, means);
    TSR_TRY(over_leaves(tree, volume, means, NULL));
    return TSR_OK;
}

tsr_status tsr_region_tree_statistics(const tsr_region_tree *tree, const tsr_volume *volume, tsr_region_statistics *statistics)
{
    TSR_NEEDS(tree, volume, statistics);
    TSR_TRY(over_leaves(tree, volume, NULL, statistics));
    return TSR_OK;
}

tsr_status tsr_region_tree_paint(const tsr_region_tree *tree, tsr_dtype dtype, const float *values, float background, tsr_volume **volume)
{
    TSR_RETURNS(volume);
    TSR_NEEDS(tree);
    tsr_status status;
    TSR_TRY(tsr_region_tree_require(tree, 0, NULL, NULL));
    if (values) TSR_TRY(require_leaves(tree));
    if (dtype != TSR_U8 && dtype != TSR_I32 && dtype != TSR_F32)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "region tree: dtype is %d, expected u8, i32 or f32", (int)dtype);
    TSR_TRY(tsr_volume_create(tree->context, dtype, tree->info.size, &tree->geometry, volume));
    const tsr_region_paint_job job = { tsr_region_view_of(tree), values, background, dtype, (*volume)->data };
    TSR_TRY_GOTO(tree->context->backend->region->paint(tree->context->queue, &job), fail);
    return TSR_OK;
fail:
    tsr_volume_destroy(volume);
    return status;
}
