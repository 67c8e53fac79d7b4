/* levelset/potential_cuda.cu: point clouds on the GPU (and the emulator): building the octree, the potential and the union of balls in tiles,
 * sampling.
 *
 * Evaluation: one warp per block of 4^3 voxels, two voxels per lane. The lanes look at 32 nodes that follow one another in depth-first order at once
 * (one line of centres, coalesced); the mask of accepted nodes says where the walk goes, without loads in between; accepted nodes go to a list in
 * shared memory in their order, already relative to the block's centre. The list is summed when it is nearly full: one 16-byte broadcast and about 35
 * instructions per node for the two voxels. Bound: arithmetic, 64 x 17 flops per block and node; the nodes of neighbouring blocks come from L2. */
#include "device/kernel.h"
#include "levelset/potential_ops.h"
#include "levelset/sample.h"

enum { THREADS = 256 };

static uint32_t grid_for(tsr_queue *queue, int64_t n) { return tsr_blocks(n, THREADS, 16 * (int64_t)tsr_queue_processors(queue)); }

/* Index and stride of a grid-stride loop. */
#define FOR_EACH(i, n) \
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x, i##_step = (int64_t)gridDim.x * blockDim.x; i < (n); i += i##_step)

/* ---- bounds --------------------------------------------------------------------------------------------------------------------------- */

/* Order of floats as order of unsigned integers. */
TSR_DEVICE_FN uint32_t ordered_bits(float v)
{
    uint32_t u = tsr_float_bits(v);
    return u >> 31 ? ~u : u | 0x80000000u;
}
TSR_DEVICE_FN float ordered_float(uint32_t u) { return tsr_bits_float(u >> 31 ? u & 0x7fffffffu : ~u); }

TSR_KERNEL(bounds_begin_kernel)(tsr_points_bounds *bounds, int64_t points)
{
    if (threadIdx.x < 3) {
        ((uint32_t *)(void *)bounds->lower)[threadIdx.x] = 0xff800000u; /* +infinity, ordered */
        ((uint32_t *)(void *)bounds->upper)[threadIdx.x] = 0x007fffffu; /* -infinity */
    }
    if (threadIdx.x == 0) bounds->bad = points;
}
TSR_KERNEL(bounds_kernel)(const float *positions, int64_t points, tsr_points_bounds *bounds)
{
    uint32_t low[3] = { 0xff800000u, 0xff800000u, 0xff800000u }, high[3] = { 0x007fffffu, 0x007fffffu, 0x007fffffu };
    FOR_EACH(i, points)
    {
        const float p[3] = { positions[3 * i], positions[3 * i + 1], positions[3 * i + 2] };
        if (!tsr_point_finite(p)) {
            atomicMin((unsigned long long *)(void *)&bounds->bad, (unsigned long long)i);
            continue;
        }
        for (int k = 0; k < 3; k++) {
            low[k] = min(low[k], ordered_bits(p[k]));
            high[k] = max(high[k], ordered_bits(p[k]));
        }
    }
    for (int k = 0; k < 3; k++) {
        uint32_t l = __reduce_min_sync(TSR_WARP_ALL, low[k]), h = __reduce_max_sync(TSR_WARP_ALL, high[k]);
        if ((threadIdx.x & 31u) == 0) {
            atomicMin((uint32_t *)(void *)&bounds->lower[k], l);
            atomicMax((uint32_t *)(void *)&bounds->upper[k], h);
        }
    }
}
TSR_KERNEL(bounds_end_kernel)(tsr_points_bounds *bounds)
{
    if (threadIdx.x >= 3) return;
    bounds->lower[threadIdx.x] = ordered_float(((uint32_t *)(void *)bounds->lower)[threadIdx.x]);
    bounds->upper[threadIdx.x] = ordered_float(((uint32_t *)(void *)bounds->upper)[threadIdx.x]);
}

static tsr_status cuda_bounds(tsr_queue *queue, const float *positions, int64_t points, tsr_points_bounds *bounds)
{
    TSR_LAUNCH(queue, bounds_begin_kernel, 1, 32, 0, bounds, points);
    TSR_LAUNCH(queue, bounds_kernel, grid_for(queue, points), THREADS, 0, positions, points, bounds);
    TSR_LAUNCH(queue, bounds_end_kernel, 1, 32, 0, bounds);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

/* ---- building ------------------------------------------------------------------------------------------------------------------------- */

TSR_KERNEL(keys_kernel)(tsr_tree_build b)
{
    FOR_EACH(i, b.points)
    {
        b.keys[i] = tsr_point_key(&b, i);
        b.order[i] = (uint32_t)i;
    }
}
TSR_KERNEL(fixed_kernel)(tsr_tree_build b) { FOR_EACH(i, b.points) tsr_point_fixed(&b, i); }
TSR_KERNEL(leaves_kernel)(tsr_tree_build b, int32_t axis) { FOR_EACH(i, b.leaves + 1) tsr_leaf_gather(&b, i, axis); }
TSR_KERNEL(count_kernel)(tsr_tree_build b) { FOR_EACH(i, b.leaves + 1) b.counts[i] = i < b.leaves ? tsr_leaf_nodes(&b, i) : 0; }
TSR_KERNEL(nodes_kernel)(tsr_tree_build b) { FOR_EACH(i, b.leaves) tsr_leaf_write(&b, i); }

#define BUILD_STEP(name, items)                                                     \
    static tsr_status cuda_##name(tsr_queue *queue, const tsr_tree_build *b)        \
    {                                                                               \
        TSR_LAUNCH(queue, name##_kernel, grid_for(queue, (items)), THREADS, 0, *b); \
        TSR_TRY(tsr_launch_check(queue));                                           \
        return TSR_OK;                                                              \
    }
BUILD_STEP(keys, b->points)
BUILD_STEP(fixed, b->points)
BUILD_STEP(count, b->leaves + 1)
BUILD_STEP(nodes, b->leaves)
static tsr_status cuda_leaves(tsr_queue *queue, const tsr_tree_build *b, int32_t axis)
{
    TSR_LAUNCH(queue, leaves_kernel, grid_for(queue, b->leaves + 1), THREADS, 0, *b, axis);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

/* ---- pages ---------------------------------------------------------------------------------------------------------------------------- */

enum { WARPS = 4, LIST = 128 }; /* warps per thread block, nodes in a warp's list */

/* The first voxel of a block of 4^3 voxels, and where its page is. `at` counts blocks: tile by tile. */
TSR_DEVICE_FN float *block_page(const tsr_page_list &list, int64_t at, int32_t voxel[3], int32_t inside[3])
{
    const int32_t per_axis = list.log2_edge - 2, E = 1 << list.log2_edge;
    const int64_t tile = at >> (3 * per_axis), id = list.ids ? (int64_t)list.ids[tile] : tile;
    const int32_t part = (int32_t)(at & ((1 << (3 * per_axis)) - 1)), mask = (1 << per_axis) - 1;
    const uint64_t key = tsr_key_at(list.keys, id);
    inside[0] = (part & mask) * TSR_BLOCK_EDGE;
    inside[1] = (part >> per_axis & mask) * TSR_BLOCK_EDGE;
    inside[2] = (part >> (2 * per_axis)) * TSR_BLOCK_EDGE;
    voxel[0] = tsr_key_x(key) * E + inside[0];
    voxel[1] = tsr_key_y(key) * E + inside[1];
    voxel[2] = tsr_key_z(key) * E + inside[2];
    return list.pages + (id << (3 * list.log2_edge));
}

/* Lane l has the voxels (l & 3, l / 4 & 3, l / 16) and the one two planes above. */
template <class W> TSR_DEVICE_FN void walk_blocks(const tsr_tree_view &tree, tsr_page_list list, W work, float4 *shared)
{
    const uint32_t lane = threadIdx.x & 31u, warp = threadIdx.x >> 5;
    float4 *nodes = shared + warp * LIST;
    tsr_pages_open(&list);
    const int64_t blocks = (int64_t)list.count << (3 * (list.log2_edge - 2));
    const int32_t E = 1 << list.log2_edge;
    for (int64_t at = (int64_t)blockIdx.x * WARPS + warp; at < blocks; at += (int64_t)gridDim.x * WARPS) {
        int32_t voxel[3], inside[3];
        float *page = block_page(list, at, voxel, inside);
        const uint32_t centre[3] = { tsr_block_centre(voxel[0], work.level()), tsr_block_centre(voxel[1], work.level()),
                                     tsr_block_centre(voxel[2], work.level()) };
        float a = work.begin(), b = work.begin();
        uint32_t node = 0, count = 0;
        while (node < tree.nodes) {
            const uint32_t own = node + lane;
            uint32_t skip = 0, next;
            float4 seen = make_float4(0, 0, 0, 0);
            int choice = -1; /* 1 take it, 0 open it, -1 leave it out with all below */
            if (own < tree.nodes) {
                tsr_tree_centre c = tree.centre[own];
                tsr_tree_walk w = tree.walk[own];
                choice = work.look(tree, own, c, w, centre, &seen);
                skip = w.skip;
            }
            const uint32_t stops = __ballot_sync(TSR_WARP_ALL, choice != 0), taken = __ballot_sync(TSR_WARP_ALL, choice == 1);
            uint32_t place = 0, visited = 0; /* accepted nodes that the walk really comes to */
            for (;;) {
                uint32_t rest = place < 32u ? stops & (0xffffffffu << place) : 0;
                if (!rest) {
                    next = node + (place < 32u ? 32u : place);
                    break;
                }
                uint32_t stop = (uint32_t)__ffs((int)rest) - 1u;
                visited |= 1u << stop;
                next = __shfl_sync(TSR_WARP_ALL, skip, (int)stop);
                if (node + stop >= tree.nodes) { /* past the end */
                    visited &= ~(1u << stop);
                    next = tree.nodes;
                    break;
                }
                place = next - node;
            }
            visited &= taken;
            if (visited >> lane & 1u) nodes[count + (uint32_t)__popc(visited & ((1u << lane) - 1u))] = seen;
            count += (uint32_t)__popc(visited);
            node = next;
            if (count > LIST - 32 || node >= tree.nodes) {
                __syncwarp();
                work.sum(nodes, count, lane, &a, &b);
                count = 0;
                __syncwarp();
            }
        }
        const int32_t x = inside[0] + (int32_t)(lane & 3u), y = inside[1] + (int32_t)(lane >> 2 & 3u), z = inside[2] + (int32_t)(lane >> 4);
        page[(z * E + y) * E + x] = work.end(a);
        page[((z + 2) * E + y) * E + x] = work.end(b);
    }
}

#define INSIDE __device__ __forceinline__

template <int POWER> struct potential_work {
    tsr_potential_params k;
    INSIDE int32_t level() const { return k.level; }
    INSIDE float begin() const { return 0.0f; }
    INSIDE float end(float v) const { return tsr_potential_kept(v, &k); }
    INSIDE int look(const tsr_tree_view &, uint32_t, const tsr_tree_centre &c, const tsr_tree_walk &w, const uint32_t centre[3], float4 *seen) const
    {
        tsr_seen s = tsr_node_seen(&c, centre, k.unit);
        *seen = make_float4(s.x, s.y, s.z, s.count);
        return tsr_node_accepted(&w, &s, &k);
    }
    INSIDE void sum(const float4 *nodes, uint32_t count, uint32_t lane, float *a, float *b) const
    {
        const float x = (float)(int32_t)(lane & 3u) - 1.5f, y = (float)(int32_t)(lane >> 2 & 3u) - 1.5f, z = (float)(int32_t)(lane >> 4) - 1.5f;
        for (uint32_t i = 0; i < count; i++) {
            const float4 s = nodes[i];
            float dx = x - s.x, dy = y - s.y, za = z - s.z, zb = (z + 2.0f) - s.z, xy = dx * dx + dy * dy;
            *a = *a + tsr_potential_term(s.w, xy + (za * za + k.epsilon2), (tsr_power)POWER, k.exponent);
            *b = *b + tsr_potential_term(s.w, xy + (zb * zb + k.epsilon2), (tsr_power)POWER, k.exponent);
        }
    }
};

struct ball_work {
    tsr_ball_params k;
    float reach;
    INSIDE int32_t level() const { return k.level; }
    INSIDE float begin() const { return k.band; }
    INSIDE float end(float v) const { return tsr_maxf(v, -k.band); }
    INSIDE int look(const tsr_tree_view &tree, uint32_t node, const tsr_tree_centre &c, const tsr_tree_walk &w, const uint32_t centre[3],
                    float4 *seen) const
    {
        if (!tsr_ball_near(&c, w.depth & 31u, centre, reach, k.unit)) return -1;
        if (!(w.depth & TSR_TREE_LEAF)) return 0;
        tsr_seen s = tsr_node_seen(&c, centre, k.unit);
        *seen = make_float4(s.x, s.y, s.z, tree.radius ? tree.radius[node] : k.radius);
        return 1;
    }
    INSIDE void sum(const float4 *nodes, uint32_t count, uint32_t lane, float *a, float *b) const
    {
        const float x = ((float)(int32_t)(lane & 3u) - 1.5f) * k.voxel, y = ((float)(int32_t)(lane >> 2 & 3u) - 1.5f) * k.voxel;
        const float z = (float)(int32_t)(lane >> 4) - 1.5f;
        for (uint32_t i = 0; i < count; i++) {
            const float4 s = nodes[i];
            float dx = x - s.x, dy = y - s.y;
            *a = tsr_minf(tsr_ball_distance(dx, dy, z * k.voxel - s.z, s.w), *a);
            *b = tsr_minf(tsr_ball_distance(dx, dy, (z + 2.0f) * k.voxel - s.z, s.w), *b);
        }
    }
};

template <class W> TSR_KERNEL(__launch_bounds__(WARPS * 32) walk_kernel)(tsr_tree_view tree, tsr_page_list list, W work)
{
    TSR_SHARED(float4, shared, WARPS * LIST);
    walk_blocks<W>(tree, list, work, shared);
}
template <class W> static tsr_status launch_walk(tsr_queue *queue, const tsr_tree_view *tree, const tsr_page_list *list, W work)
{
    void (*kernel)(tsr_tree_view, tsr_page_list, W) = walk_kernel<W>;
    const int64_t most = 16 * (int64_t)tsr_queue_processors(queue);
    const uint32_t blocks = list->state ? (uint32_t)most : tsr_blocks((int64_t)list->count << (3 * (list->log2_edge - 2)), WARPS, most);
    TSR_LAUNCH(queue, kernel, blocks, WARPS * 32, 0, *tree, *list, work);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

static tsr_status cuda_evaluate(tsr_queue *queue, const tsr_tree_view *tree, const tsr_potential_params *params, const tsr_page_list *list)
{
    const potential_work<TSR_POWER_SQUARE> square = { *params };
    const potential_work<TSR_POWER_ROOT> root = { *params };
    const potential_work<TSR_POWER_FOURTH> fourth = { *params };
    const potential_work<TSR_POWER_SIXTH> sixth = { *params };
    const potential_work<TSR_POWER_ANY> any = { *params };
    switch (params->power) {
    case TSR_POWER_SQUARE: TSR_TRY(launch_walk(queue, tree, list, square)); break;
    case TSR_POWER_ROOT: TSR_TRY(launch_walk(queue, tree, list, root)); break;
    case TSR_POWER_FOURTH: TSR_TRY(launch_walk(queue, tree, list, fourth)); break;
    case TSR_POWER_SIXTH: TSR_TRY(launch_walk(queue, tree, list, sixth)); break;
    default: TSR_TRY(launch_walk(queue, tree, list, any)); break;
    }
    return TSR_OK;
}

static tsr_status cuda_balls(tsr_queue *queue, const tsr_tree_view *tree, const tsr_ball_params *params, const tsr_page_list *list)
{
    const ball_work work = { *params, tsr_ball_reach(params) };
    TSR_TRY(launch_walk(queue, tree, list, work));
    return TSR_OK;
}

TSR_KERNEL(gather_keys_kernel)(tsr_keys key_of, const uint32_t *ids, int32_t count, uint64_t *keys)
{
    FOR_EACH(i, count) keys[i] = tsr_key_at(key_of, ids[i]);
}
static tsr_status cuda_gather_keys(tsr_queue *queue, tsr_keys key_of, const uint32_t *ids, int32_t count, uint64_t *keys)
{
    TSR_LAUNCH(queue, gather_keys_kernel, grid_for(queue, count), THREADS, 0, key_of, ids, count, keys);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}
TSR_KERNEL(scatter_pages_kernel)(const float *pages, const uint32_t *ids, int64_t values, int32_t log2_size, float *payload)
{
    FOR_EACH(i, values) payload[((int64_t)ids[i >> log2_size] << log2_size) + (i & ((1 << log2_size) - 1))] = pages[i];
}
static tsr_status cuda_scatter_pages(tsr_queue *queue, const float *pages, const uint32_t *ids, int32_t count, int32_t log2_edge, float *payload)
{
    const int64_t values = (int64_t)count << (3 * log2_edge);
    TSR_LAUNCH(queue, scatter_pages_kernel, grid_for(queue, values), THREADS, 0, pages, ids, values, 3 * log2_edge, payload);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

/* ---- sampling ------------------------------------------------------------------------------------------------------------------------- */

TSR_KERNEL(sample_kernel)(tsr_tile_pool pool, tsr_sample_job job) { FOR_EACH(i, job.points) job.distance[i] = tsr_sample_point(&pool, &job, i); }
static tsr_status cuda_sample(tsr_queue *queue, const tsr_tile_pool *pool, const tsr_sample_job *job)
{
    TSR_LAUNCH(queue, sample_kernel, grid_for(queue, job->points), THREADS, 0, *pool, *job);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

TSR_KERNEL(round_kernel)(tsr_tree_build b, int32_t depth, int32_t reach, uint64_t *keys)
{
    const int64_t each = tsr_tiles_round_count(reach);
    FOR_EACH(i, b.leaves * each) keys[i] = tsr_tile_round(&b, i / each, depth, reach, (int32_t)(i % each));
}
static tsr_status cuda_tiles_round(tsr_queue *queue, const tsr_tree_build *build, int32_t depth, int32_t reach, uint64_t *keys)
{
    TSR_LAUNCH(queue, round_kernel, grid_for(queue, build->leaves * tsr_tiles_round_count(reach)), THREADS, 0, *build, depth, reach, keys);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

TSR_KERNEL(unique_kernel)(const uint64_t *sorted, int64_t count, uint8_t *first)
{
    FOR_EACH(i, count) first[i] = sorted[i] != TSR_KEY_END && (i == 0 || sorted[i] != sorted[i - 1]);
}
static tsr_status cuda_unique(tsr_queue *queue, const uint64_t *sorted, int64_t count, uint8_t *first)
{
    TSR_LAUNCH(queue, unique_kernel, grid_for(queue, count), THREADS, 0, sorted, count, first);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

extern "C" const tsr_potential_ops tsr_potential_cuda = { cuda_bounds, cuda_keys,        cuda_fixed, cuda_leaves,      cuda_count,
                                                          cuda_nodes,  cuda_evaluate,    cuda_balls, cuda_gather_keys, cuda_scatter_pages,
                                                          cuda_sample, cuda_tiles_round, cuda_unique };
