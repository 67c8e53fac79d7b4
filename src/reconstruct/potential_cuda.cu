/* reconstruct/potential_cuda.cu: point clouds on the GPU (and the emulator): building the octree, the potential and the union of balls in tiles,
 * sampling.
 *
 * Evaluation: one warp per block of 4^3 voxels, two voxels per lane, by the walk of potential_walk.h. A node costs one 16-byte broadcast and about 35
 * instructions for the two voxels. Bound: arithmetic, 64 x 17 flops per block and node; the nodes of neighbouring blocks come from L2. */
#include "device/kernel.h"
#include "reconstruct/potential_walk.h"
#include "reconstruct/sample.h"

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
TSR_KERNEL(others_kernel)(tsr_tree_build b, tsr_lone_rule rule) { FOR_EACH(i, b.points) b.first[i] = (uint8_t)tsr_point_has_others(&b, &rule, i); }
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
static tsr_status cuda_others(tsr_queue *queue, const tsr_tree_build *b, tsr_lone_rule rule)
{
    TSR_LAUNCH(queue, others_kernel, grid_for(queue, b->points), THREADS, 0, *b, rule);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}
static tsr_status cuda_leaves(tsr_queue *queue, const tsr_tree_build *b, int32_t axis)
{
    TSR_LAUNCH(queue, leaves_kernel, grid_for(queue, b->leaves + 1), THREADS, 0, *b, axis);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

/* ---- pages ---------------------------------------------------------------------------------------------------------------------------- */

enum { WARPS = TSR_WALK_WARPS, LIST = TSR_WALK_LIST };

/* Lane l has the voxels (l & 3, l / 4 & 3, l / 16) and the one two planes above. */
struct voxel_pair {
    float a, b;
};
template <class W> TSR_DEVICE_FN void walk_blocks(const tsr_tree_view &tree, tsr_page_list list, W work, float4 *shared)
{
    const uint32_t lane = threadIdx.x & 31u, warp = threadIdx.x >> 5;
    float4 *nodes = shared + warp * LIST;
    tsr_pages_open(&list);
    const int64_t blocks = (int64_t)list.count << (3 * (list.log2_edge - 2));
    const int32_t E = 1 << list.log2_edge;
    for (int64_t at = (int64_t)blockIdx.x * WARPS + warp; at < blocks; at += (int64_t)gridDim.x * WARPS) {
        int32_t voxel[3], inside[3];
        const int64_t page = tsr_block_page(list, at, voxel, inside);
        const uint32_t centre[3] = { tsr_block_centre(voxel[0], work.level()), tsr_block_centre(voxel[1], work.level()),
                                     tsr_block_centre(voxel[2], work.level()) };
        voxel_pair sums = { work.begin(), work.begin() };
        tsr_walk_nodes(tree, work, centre, nodes, lane, &sums);
        const int32_t x = inside[0] + (int32_t)(lane & 3u), y = inside[1] + (int32_t)(lane >> 2 & 3u), z = inside[2] + (int32_t)(lane >> 4);
        const int64_t first = page + (z * E + y) * E + x, second = first + 2 * E * E;
        const float va = work.end(sums.a, list.coded), vb = work.end(sums.b, list.coded);
        if (list.coded) {
            ((uint16_t *)(void *)list.pages)[first] = (uint16_t)va;
            ((uint16_t *)(void *)list.pages)[second] = (uint16_t)vb;
        } else {
            list.pages[first] = va;
            list.pages[second] = vb;
        }
    }
}

#define INSIDE __device__ __forceinline__

template <int POWER> struct potential_work {
    tsr_potential_params k;
    INSIDE int32_t level() const { return k.level; }
    INSIDE float begin() const { return 0.0f; }
    INSIDE float end(float v, int coded) const { return coded ? tsr_potential_code(v, &k) : tsr_potential_kept(v, &k); }
    INSIDE int look(const tsr_tree_view &, uint32_t, const tsr_tree_centre &c, const tsr_tree_walk &w, const uint32_t centre[3], float4 *seen,
                    const voxel_pair *) const
    {
        tsr_seen s = tsr_node_seen(&c, centre, k.unit);
        *seen = make_float4(s.x, s.y, s.z, s.count);
        return tsr_node_accepted(&w, &s, &k);
    }
    INSIDE void sum(const float4 *nodes, uint32_t count, uint32_t lane, voxel_pair *v) const
    {
        const float x = (float)(int32_t)(lane & 3u) - 1.5f, y = (float)(int32_t)(lane >> 2 & 3u) - 1.5f, z = (float)(int32_t)(lane >> 4) - 1.5f;
        for (uint32_t i = 0; i < count; i++) {
            const float4 s = nodes[i];
            float dx = x - s.x, dy = y - s.y, za = z - s.z, zb = (z + 2.0f) - s.z, xy = dx * dx + dy * dy;
            v->a = v->a + tsr_potential_term(s.w, xy + (za * za + k.epsilon2), (tsr_power)POWER, k.exponent);
            v->b = v->b + tsr_potential_term(s.w, xy + (zb * zb + k.epsilon2), (tsr_power)POWER, k.exponent);
        }
    }
};

struct ball_work {
    tsr_ball_params k;
    float reach;
    INSIDE int32_t level() const { return k.level; }
    INSIDE float begin() const { return k.band; }
    INSIDE float end(float v, int) const { return tsr_maxf(v, -k.band); }
    INSIDE int look(const tsr_tree_view &tree, uint32_t node, const tsr_tree_centre &c, const tsr_tree_walk &w, const uint32_t centre[3],
                    float4 *seen, const voxel_pair *) const
    {
        if (!tsr_ball_near(&c, w.depth & 31u, centre, reach, k.unit)) return -1;
        if (!(w.depth & TSR_TREE_LEAF)) return 0;
        tsr_seen s = tsr_node_seen(&c, centre, k.unit);
        *seen = make_float4(s.x, s.y, s.z, tree.radius ? tree.radius[node] : k.radius);
        return 1;
    }
    INSIDE void sum(const float4 *nodes, uint32_t count, uint32_t lane, voxel_pair *v) const
    {
        const float x = ((float)(int32_t)(lane & 3u) - 1.5f) * k.voxel, y = ((float)(int32_t)(lane >> 2 & 3u) - 1.5f) * k.voxel;
        const float z = (float)(int32_t)(lane >> 4) - 1.5f;
        for (uint32_t i = 0; i < count; i++) {
            const float4 s = nodes[i];
            float dx = x - s.x, dy = y - s.y;
            v->a = tsr_minf(tsr_ball_distance(dx, dy, z * k.voxel - s.z, s.w), v->a);
            v->b = tsr_minf(tsr_ball_distance(dx, dy, (z + 2.0f) * k.voxel - s.z, s.w), v->b);
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
TSR_KERNEL(scatter_pages_kernel)(const float *pages, const uint32_t *ids, int64_t words, int32_t log2_size, float *payload)
{
    FOR_EACH(i, words) payload[((int64_t)ids[i >> log2_size] << log2_size) + (i & ((1 << log2_size) - 1))] = pages[i];
}
static tsr_status cuda_scatter_pages(tsr_queue *queue, const float *pages, const uint32_t *ids, int32_t count, int32_t log2_words, float *payload)
{
    const int64_t words = (int64_t)count << log2_words;
    TSR_LAUNCH(queue, scatter_pages_kernel, grid_for(queue, words), THREADS, 0, pages, ids, words, log2_words, payload);
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

TSR_KERNEL(gather_kernel)(const uint32_t *from, const uint32_t *places, int64_t count, int32_t width, uint32_t *to)
{
    FOR_EACH(i, count * width) to[i] = from[(int64_t)places[i / width] * width + i % width];
}
static tsr_status cuda_gather(tsr_queue *queue, const uint32_t *from, const uint32_t *places, int64_t count, int32_t width, uint32_t *to)
{
    TSR_LAUNCH(queue, gather_kernel, grid_for(queue, count * width), THREADS, 0, from, places, count, width, to);
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

TSR_KERNEL(unique_kernel)(const uint64_t *sorted, int64_t count, int32_t shift, uint8_t *first)
{
    FOR_EACH(i, count) first[i] = (uint8_t)tsr_key_first(sorted, i, shift);
}
static tsr_status cuda_unique(tsr_queue *queue, const uint64_t *sorted, int64_t count, int32_t shift, uint8_t *first)
{
    TSR_LAUNCH(queue, unique_kernel, grid_for(queue, count), THREADS, 0, sorted, count, shift, first);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

extern "C" const tsr_potential_ops tsr_potential_cuda = { cuda_bounds, cuda_keys,     cuda_fixed, cuda_others,      cuda_leaves,
                                                          cuda_count,  cuda_nodes,    cuda_evaluate, cuda_balls,    cuda_gather_keys,
                                                          cuda_scatter_pages, cuda_sample, cuda_gather, cuda_tiles_round, cuda_unique };
