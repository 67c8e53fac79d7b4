/* edit/attract_cuda.cu: attraction by points on the GPU (and the emulator): tiles within reach, pages of velocities, putting back.
 *
 * Pages: one warp per block of 4^3 voxels, two voxels per lane, three walks of potential_walk.h (upper bounds, nearest leaf, force); most blocks of a
 * stroke come from the cache, a copy. Bound: arithmetic, 64 x 25 flops per block and node of the force. */
#include "device/kernel.h"
#include "edit/attract_ops.h"
#include "reconstruct/potential_walk.h"

enum { THREADS = 128 };

/* ---- tiles within reach ------------------------------------------------------------------------------------------------------------------ */

TSR_KERNEL(within_kernel)(tsr_tree_view tree, tsr_attract_params params, const uint64_t *keys, int64_t count, int32_t log2_edge, uint8_t *within)
{
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += (int64_t)gridDim.x * blockDim.x)
        within[i] = (uint8_t)tsr_attract_within(&tree, &params, keys[i], log2_edge);
}
static tsr_status cuda_within(tsr_queue *queue, const tsr_tree_view *tree, const tsr_attract_params *params, const uint64_t *keys, int64_t count,
                                int32_t log2_edge, uint8_t *within)
{
    TSR_LAUNCH(queue, within_kernel, tsr_blocks(count, 32, 64 * (int64_t)tsr_queue_processors(queue)), 32, 0, *tree, *params, keys, count,
               log2_edge, within);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

/* ---- pages --------------------------------------------------------------------------------------------------------------------------------- */

/* Squared distances of the lane's voxels; `bound` is the largest of the warp's. */
struct nearest_pair {
    float a, b, bound;
    int taken;
};
struct nearest_work {
    const tsr_attract_params &k;
    int32_t limit;
    float spread;
    TSR_INSIDE int look(const tsr_tree_view &, uint32_t, const tsr_tree_centre &c, const tsr_tree_walk &w, const uint32_t centre[3], float4 *seen,
                        const nearest_pair *v) const
    {
        const tsr_seen s = tsr_node_seen(&c, centre, k.potential.unit);
        *seen = make_float4(s.x, s.y, s.z, s.count);
        return tsr_attract_look(&c, w.depth, centre, &k, limit, v->bound);
    }
    TSR_INSIDE void sum(const float4 *nodes, uint32_t count, uint32_t lane, nearest_pair *v) const
    {
        const float x = ((float)(int32_t)(lane & 3u) - 1.5f) * k.step[0], y = ((float)(int32_t)(lane >> 2 & 3u) - 1.5f) * k.step[1];
        const float za = ((float)(int32_t)(lane >> 4) - 1.5f) * k.step[2], zb = ((float)(int32_t)(lane >> 4) + 0.5f) * k.step[2];
        for (uint32_t i = 0; i < count; i++) {
            const float4 s = nodes[i];
            const float dx = x - s.x, dy = y - s.y, da = za - s.z, db = zb - s.z, xy = dx * dx + dy * dy;
            v->a = tsr_minf(v->a, (xy + da * da) + spread);
            v->b = tsr_minf(v->b, (xy + db * db) + spread);
        }
        v->taken |= count > 0;
        const uint32_t most = __reduce_max_sync(TSR_WARP_ALL, tsr_float_bits(tsr_maxf(v->a, v->b))); /* not negative: in order as integers */
        v->bound = tsr_minf(v->bound, tsr_bits_float(most));
    }
};

struct force_pair {
    float a[3], b[3];
};
template <int POWER> struct force_work {
    const tsr_attract_params &k;
    TSR_INSIDE int look(const tsr_tree_view &, uint32_t, const tsr_tree_centre &c, const tsr_tree_walk &w, const uint32_t centre[3], float4 *seen,
                        const force_pair *) const
    {
        const tsr_seen s = tsr_node_seen(&c, centre, k.potential.unit);
        *seen = make_float4(s.x, s.y, s.z, s.count);
        return tsr_node_accepted(&w, &s, &k.potential);
    }
    TSR_INSIDE void sum(const float4 *nodes, uint32_t count, uint32_t lane, force_pair *v) const
    {
        const float x = ((float)(int32_t)(lane & 3u) - 1.5f) * k.step[0], y = ((float)(int32_t)(lane >> 2 & 3u) - 1.5f) * k.step[1];
        const float za = ((float)(int32_t)(lane >> 4) - 1.5f) * k.step[2], zb = ((float)(int32_t)(lane >> 4) + 0.5f) * k.step[2];
        const float epsilon2 = k.potential.epsilon2, exponent = k.potential.exponent;
        for (uint32_t i = 0; i < count; i++) {
            const float4 s = nodes[i];
            const float dx = x - s.x, dy = y - s.y, da = za - s.z, db = zb - s.z, xy = dx * dx + dy * dy;
            const float fa = tsr_attract_force(s.w, xy + (da * da + epsilon2), (tsr_power)POWER, exponent);
            const float fb = tsr_attract_force(s.w, xy + (db * db + epsilon2), (tsr_power)POWER, exponent);
            v->a[0] = v->a[0] - fa * dx;
            v->a[1] = v->a[1] - fa * dy;
            v->a[2] = v->a[2] - fa * da;
            v->b[0] = v->b[0] - fb * dx;
            v->b[1] = v->b[1] - fb * dy;
            v->b[2] = v->b[2] - fb * db;
        }
    }
};

/* Words of the lane's two voxels of a block. */
template <int POWER>
TSR_DEVICE_FN void block_words(const tsr_tree_view &tree, const tsr_attract_params &k, const int32_t voxel[3], float4 *nodes, uint32_t lane,
                               uint32_t words[2])
{
    uint32_t centre[3];
    words[0] = words[1] = 0;
    tsr_attract_centre(&k, voxel, 2, centre);
    nearest_pair upper = { k.radius2, k.radius2, k.radius2, 0 };
    const nearest_work cells = { k, k.coarse, k.spread };
    tsr_walk_nodes(tree, cells, centre, nodes, lane, &upper);
    if (!upper.taken) return;
    nearest_pair least = { k.radius2, k.radius2, upper.bound, 0 };
    const nearest_work leaves = { k, TSR_TREE_DEPTH_MOST + 1, 0.0f };
    tsr_walk_nodes(tree, leaves, centre, nodes, lane, &least);
    if (!__any_sync(TSR_WARP_ALL, least.a < k.radius2 || least.b < k.radius2)) return;
    force_pair force = {};
    const force_work<POWER> pull = { k };
    tsr_walk_nodes(tree, pull, centre, nodes, lane, &force);
    words[0] = tsr_attract_word(force.a, least.a, &k);
    words[1] = tsr_attract_word(force.b, least.b, &k);
}

template <int POWER>
TSR_KERNEL(__launch_bounds__(TSR_WALK_WARPS * 32) fill_kernel)
(tsr_tree_view tree, tsr_attract_params params, tsr_attract_cache cache, tsr_page_list list)
{
    TSR_SHARED(float4, shared, TSR_WALK_WARPS * TSR_WALK_LIST);
    const uint32_t lane = threadIdx.x & 31u, warp = threadIdx.x >> 5;
    tsr_pages_open(&list);
    const int64_t blocks = (int64_t)list.count << (3 * (list.log2_edge - 2));
    const int32_t E = 1 << list.log2_edge;
    for (int64_t at = (int64_t)blockIdx.x * TSR_WALK_WARPS + warp; at < blocks; at += (int64_t)gridDim.x * TSR_WALK_WARPS) {
        int32_t voxel[3], inside[3];
        uint32_t words[2];
        const int64_t page = tsr_block_page(list, at, voxel, inside);
        const int32_t x = inside[0] + (int32_t)(lane & 3u), y = inside[1] + (int32_t)(lane >> 2 & 3u), z = inside[2] + (int32_t)(lane >> 4);
        const int32_t first = (z * E + y) * E + x, second = first + 2 * E * E;
        const uint64_t key = tsr_key_make(voxel[0] >> list.log2_edge, voxel[1] >> list.log2_edge, voxel[2] >> list.log2_edge);
        const int32_t place = cache.count ? tsr_key_lower_bound(cache.keys, cache.count, key) : 0;
        if (place < cache.count && cache.keys[place] == key) {
            const uint32_t *from = cache.pages + ((int64_t)place << 3 * list.log2_edge);
            words[0] = from[first];
            words[1] = from[second];
        } else {
            block_words<POWER>(tree, params, voxel, shared + warp * TSR_WALK_LIST, lane, words);
        }
        list.pages[page + first] = tsr_bits_float(words[0]);
        list.pages[page + second] = tsr_bits_float(words[1]);
    }
}

template <int POWER>
static tsr_status launch_fill(tsr_queue *queue, const tsr_tree_view *tree, const tsr_attract_params *params, const tsr_attract_cache *cache,
                              const tsr_page_list *list)
{
    void (*kernel)(tsr_tree_view, tsr_attract_params, tsr_attract_cache, tsr_page_list) = fill_kernel<POWER>;
    const int64_t most = 16 * (int64_t)tsr_queue_processors(queue);
    const uint32_t blocks = list->state ? (uint32_t)most : tsr_blocks((int64_t)list->count << (3 * (list->log2_edge - 2)), TSR_WALK_WARPS, most);
    TSR_LAUNCH(queue, kernel, blocks, TSR_WALK_WARPS * 32, 0, *tree, *params, *cache, *list);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

static tsr_status cuda_fill(tsr_queue *queue, const tsr_tree_view *tree, const tsr_attract_params *params, const tsr_attract_cache *cache,
                            const tsr_page_list *list)
{
    switch (params->potential.power) {
    case TSR_POWER_SQUARE: TSR_TRY(launch_fill<TSR_POWER_SQUARE>(queue, tree, params, cache, list)); break;
    case TSR_POWER_ROOT: TSR_TRY(launch_fill<TSR_POWER_ROOT>(queue, tree, params, cache, list)); break;
    case TSR_POWER_FOURTH: TSR_TRY(launch_fill<TSR_POWER_FOURTH>(queue, tree, params, cache, list)); break;
    case TSR_POWER_SIXTH: TSR_TRY(launch_fill<TSR_POWER_SIXTH>(queue, tree, params, cache, list)); break;
    default: TSR_TRY(launch_fill<TSR_POWER_ANY>(queue, tree, params, cache, list)); break;
    }
    return TSR_OK;
}

/* ---- putting back ---------------------------------------------------------------------------------------------------------------------------- */

/* A thread block per tile. */
TSR_KERNEL(blend_kernel)(tsr_attract_blend blend)
{
    TSR_SHARED(uint32_t, most, 1);
    const int32_t V = 1 << 3 * blend.log2_edge;
    for (int64_t at = (int64_t)blockIdx.x; at < blend.count; at += (int64_t)gridDim.x) {
        uint32_t own = 0;
        if (threadIdx.x == 0) *most = 0;
        __syncthreads();
        for (int32_t i = (int32_t)threadIdx.x; i < V; i += THREADS) {
            float change;
            blend.pages[at * V + i] = tsr_attract_blended(&blend, at, i, &change);
            own = max(own, tsr_float_bits(change));
        }
        own = __reduce_max_sync(TSR_WARP_ALL, own);
        if ((threadIdx.x & 31u) == 0 && own) atomicMax(most, own);
        __syncthreads();
        if (threadIdx.x == 0) blend.change[at] = tsr_bits_float(*most);
        __syncthreads();
    }
}
static tsr_status cuda_blend(tsr_queue *queue, const tsr_attract_blend *blend)
{
    TSR_LAUNCH(queue, blend_kernel, tsr_blocks(blend->count, 1, 16 * (int64_t)tsr_queue_processors(queue)), THREADS, 0, *blend);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

extern "C" const tsr_attract_ops tsr_attract_cuda = { cuda_within, cuda_fill, cuda_blend };
