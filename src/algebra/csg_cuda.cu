/* algebra/csg_cuda.cu: the algebra of tile lists on the GPU (and the emulator). */
#include "device/kernel.h"
#include "algebra/csg_carve.h"
#include "algebra/csg_labels.h"
#include "algebra/csg_settle.h"
#include "primitives/primitives_ops.h"

enum { ITEM_THREADS = 256, TILE_THREADS = 128 };

#define X(name)                                                                                                       \
    TSR_KERNEL(name##_items)(tsr_csg_args g, int64_t items)                                                           \
    {                                                                                                                 \
        int64_t step = (int64_t)gridDim.x * blockDim.x;                                                               \
        for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < items; i += step) tsr_csg_##name(&g, i); \
    }
TSR_CSG_ITEMS(X)
#undef X
/* One block per tile. */
#define X(name)                                                                                                                          \
    TSR_KERNEL(name##_tiles)(tsr_csg_args g, int64_t items)                                                                              \
    {                                                                                                                                    \
        for (int64_t i = blockIdx.x; i < items; i += gridDim.x) tsr_csg_##name##_tile(&g, i, (int32_t)threadIdx.x, (int32_t)blockDim.x); \
    }
TSR_CSG_TILES(X)
#undef X

static tsr_status cuda_run(tsr_queue *queue, tsr_csg_kernel kernel, const tsr_csg_args *args, int64_t items)
{
    int64_t processors = tsr_queue_processors(queue);
    if (items <= 0) return TSR_OK;
    switch (kernel) {
#define X(name)                                                                                                           \
    case TSR_CSG_##name##_kernel:                                                                                         \
        TSR_LAUNCH(queue, name##_items, tsr_blocks(items, ITEM_THREADS, 32 * processors), ITEM_THREADS, 0, *args, items); \
        break;
        TSR_CSG_ITEMS(X)
#undef X
#define X(name) \
    case TSR_CSG_##name##_kernel: TSR_LAUNCH(queue, name##_tiles, tsr_blocks(items, 1, 64 * processors), TILE_THREADS, 0, *args, items); break;
        TSR_CSG_TILES(X)
#undef X
    }
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

/* ---- merging: ranks ---------------------------------------------------------------------------------------------------------------------- */

/* flags[j] = 1 if entry j of b is not in a; one more 0 at the end. */
TSR_KERNEL(merge_flags_kernel)(tsr_csg_args g)
{
    const tsr_tile_state *sa = g.a.state, *sb = g.b.state;
    int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t j = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; j <= sb->count; j += step) {
        uint32_t alone = 0;
        if (j < sb->count) {
            uint64_t key = tsr_pool_key(&g.b, sb->list, j) + (uint64_t)g.shift_b - (uint64_t)g.shift_a;
            int32_t at = tsr_keys_lower_bound(tsr_pool_keys(&g.a, sa->list), sa->count, key);
            alone = !(at < sa->count && tsr_pool_key(&g.a, sa->list, at) == key);
        }
        g.flags[j] = alone;
    }
}

/* An entry's place is its own rank plus the entries of the other list before it; flags holds the sums of the flags of b. */
TSR_KERNEL(merge_list_kernel)(tsr_csg_args g, const uint32_t *before)
{
    const tsr_tile_state *sa = g.a.state, *sb = g.b.state;
    const tsr_keys ka = tsr_pool_keys(&g.a, sa->list), kb = tsr_pool_keys(&g.b, sb->list);
    const uint64_t shift_a = (uint64_t)g.shift_a, shift_b = (uint64_t)g.shift_b;
    int32_t na = sa->count, nb = sb->count;
    int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < na + nb; i += step) {
        if (i < na) {
            uint64_t key = tsr_key_at(ka, i) + shift_a;
            int32_t rank = tsr_keys_lower_bound(kb, nb, key - shift_b);
            int both = rank < nb && tsr_key_at(kb, rank) == key - shift_b;
            int64_t place = i + before[rank];
            g.keys[place] = key;
            g.first[place] = g.a.id[sa->list][i];
            g.second[place] = both ? g.b.id[sb->list][rank] : tsr_csg_find(&g.b, key - shift_b);
        } else if (before[i - na] != before[i - na + 1]) {
            uint64_t key = tsr_key_at(kb, i - na) + shift_b;
            int64_t place = tsr_keys_lower_bound(ka, na, key - shift_a) + (int64_t)before[i - na];
            g.keys[place] = key;
            g.first[place] = tsr_csg_find(&g.a, key - shift_a);
            g.second[place] = g.b.id[sb->list][i - na];
        }
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) g.totals[0] = na + (int64_t)before[nb];
}

extern "C" const tsr_primitives_ops tsr_primitives_cuda;

static tsr_status merge_with(tsr_queue *queue, const tsr_csg_args *g, int64_t room, uint32_t *before, void *workspace)
{
    int64_t processors = tsr_queue_processors(queue);
    TSR_LAUNCH(queue, merge_flags_kernel, tsr_blocks(room, 256, 32 * processors), 256, 0, *g);
    TSR_TRY(tsr_launch_check(queue));
    TSR_TRY(tsr_primitives_cuda.scan(queue, 0, TSR_U32, g->flags, room, TSR_U32, before, workspace));
    TSR_LAUNCH(queue, merge_list_kernel, tsr_blocks(g->count, 256, 32 * processors), 256, 0, *g, (const uint32_t *)before);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

/* count = room of the result: both lists; b's share of it is what a leaves. */
static tsr_status cuda_merge(tsr_queue *queue, const tsr_csg_args *g)
{
    int64_t room = g->b.capacity + 1;
    size_t sums = (size_t)room * sizeof(uint32_t), bytes = (sums + 255) / 256 * 256 + tsr_primitives_cuda.scan_bytes(room);
    void *memory;
    TSR_TRY(tsr_queue_allocate(queue, bytes, &memory));
    tsr_status status = tsr_queue_fill(queue, g->flags, 0, sums);
    if (status == TSR_OK) status = merge_with(queue, g, room, (uint32_t *)memory, (char *)memory + (sums + 255) / 256 * 256);
    tsr_queue_release(queue, memory, bytes);
    return status;
}

/* ---- linking ------------------------------------------------------------------------------------------------------------------------------- */

/* A warp per tile, lanes are directions. */
TSR_KERNEL(link_list_kernel)(tsr_csg_args g)
{
    const int32_t lane = (int32_t)(threadIdx.x & 31u), n = (int32_t)g.count;
    const int64_t warps = (int64_t)gridDim.x * blockDim.x / 32;
    for (int64_t i = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) / 32; i < n; i += warps) {
        uint32_t id = (uint32_t)i + TSR_TILE_FIRST;
        if (lane < TSR_TILE_DIRECTIONS) {
            uint64_t key = g.keys[i] + (uint64_t)tsr_key_offset(lane);
            int32_t at = tsr_key_lower_bound(g.keys, n, key);
            g.to.neighbours[(int64_t)id * TSR_NEIGHBOUR_ROW + lane] =
                at < n && g.keys[at] == key ? (uint32_t)at + TSR_TILE_FIRST : g.words[i] >> lane & 1u;
        } else if (lane == TSR_TILE_DIRECTIONS) {
            tsr_pool_key_put(&g.to, 0, i, g.keys[i]);
            tsr_pool_key_of_put(&g.to, id, g.keys[i]);
            g.to.id[0][i] = id;
            g.to.activity[id] = TSR_ACTIVITY_AREAS;
        }
    }
    if (blockIdx.x != 0 || threadIdx.x != 0) return;
    tsr_pool_key_put(&g.to, 0, n, TSR_KEY_END);
    g.to.state->count = n;
    g.to.state->free_count = g.to.capacity - TSR_TILE_FIRST - n;
}

static tsr_status cuda_link(tsr_queue *queue, const tsr_csg_args *g)
{
    TSR_LAUNCH(queue, link_list_kernel, tsr_blocks(g->count, 8, 32 * (int64_t)tsr_queue_processors(queue)), 256, 0, *g);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

extern "C" const tsr_csg_ops tsr_csg_cuda = { cuda_run, cuda_merge, cuda_link };
