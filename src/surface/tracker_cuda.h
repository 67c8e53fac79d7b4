/* surface/tracker_cuda.h: a surface that follows its list, some tiles of it (tracker.c); part of surface_cuda.cu. */
#ifndef TSR_SURFACE_TRACKER_CUDA_H
#define TSR_SURFACE_TRACKER_CUDA_H

#include "surface/emit_cuda.h"
#include "surface/tracker_math.h"

/* A warp per entry of the list; most only compare keys. */
TSR_KERNEL(look_kernel)(tsr_surface_look l)
{
    const uint32_t lane = threadIdx.x & 31;
    const int64_t entry = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) >> 5;
    if (entry >= l.entries) return;
    const uint64_t key = tsr_key_at(l.keys, entry);
    const uint32_t id = l.ids[entry];
    const int wanted = tsr_track_wanted(&l, key, id);
    uint64_t sum = wanted ? tsr_track_sum(&l, id, (int32_t)lane, 32) : 0;
    for (uint32_t d = 16; d; d >>= 1) sum += __shfl_xor_sync(TSR_WARP_ALL, sum, d);
    __syncwarp();
    if (lane == 0) tsr_track_keep(&l, key, id, wanted, sum);
}
TSR_KERNEL(gone_kernel)(tsr_surface_look l)
{
    int64_t id = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (id < l.capacity) tsr_track_gone(&l, id);
}
TSR_KERNEL(ring_kernel)(tsr_surface_look l)
{
    int64_t entry = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (entry < l.entries) tsr_track_ring(&l, l.ids[entry]);
}
TSR_KERNEL(reach_kernel)(tsr_surface_look l)
{
    int64_t entry = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (entry < l.entries) tsr_track_reach(&l, l.ids[entry]);
}
/* Few are found: the host need not hear of the others. */
TSR_KERNEL(found_kernel)(tsr_surface_look l)
{
    const int64_t id = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const int32_t kind = id < l.capacity ? tsr_track_kind(&l, id) : -1;
    if (kind >= 0) l.found[1 + atomicAdd(l.found, 1u)] = tsr_track_found((uint32_t)id, (uint32_t)kind);
}

static tsr_status cuda_look(tsr_queue *queue, const tsr_surface_look *look)
{
    const tsr_surface_look l = *look;
    TSR_LAUNCH(queue, look_kernel, tsr_blocks(l.entries * 32, 256, INT32_MAX), 256, 0, l);
    TSR_LAUNCH(queue, gone_kernel, tsr_blocks(l.capacity, 256, INT32_MAX), 256, 0, l);
    TSR_LAUNCH(queue, ring_kernel, tsr_blocks(l.entries, 256, INT32_MAX), 256, 0, l);
    TSR_LAUNCH(queue, reach_kernel, tsr_blocks(l.entries, 256, INT32_MAX), 256, 0, l);
    TSR_LAUNCH(queue, found_kernel, tsr_blocks(l.capacity, 256, INT32_MAX), 256, 0, l);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

TSR_KERNEL(some_rows_kernel)(tsr_surface_grid g, tsr_surface_some some)
{
    const int64_t at = (int64_t)blockIdx.x * blockDim.x + threadIdx.x, k = at >> 3 * g.log2_edge;
    const int32_t edge = 1 << g.log2_edge;
    int64_t voxel = 0;
    int inside = 0;
    if (k < some.count) {
        voxel = (int64_t)some.ids[k] << 3 * g.log2_edge | (at & (edge * edge * edge - 1));
        inside = side(g.side, g.phi[voxel]);
    }
    uint32_t bits = __ballot_sync(TSR_WARP_ALL, inside);
    if (k < some.count && (voxel & (edge - 1)) == 0) g.bits[voxel >> g.log2_edge] = bits >> (threadIdx.x & 31) & (uint32_t)tsr_bits_low(edge);
}

/* A block of 64 threads per tile, a word each (16 of them have one if the edge is 4). */
enum { SOME_THREADS = 64 };
template <int DECIDE> TSR_KERNEL(some_count_kernel)(tsr_surface_grid g, tsr_surface_some some)
{
    if (!DECIDE) g.decide = 0;
    TSR_SHARED(uint32_t, warps, 32);
    const int64_t k = blockIdx.x, words = (int64_t)1 << 2 * g.log2_edge, word = ((int64_t)some.ids[k] << 2 * g.log2_edge) + threadIdx.x;
    uint32_t count = 0, total;
    if (threadIdx.x < words) {
        const tsr_case_tables tables = TSR_CASE_TABLES;
        tsr_word_place p;
        int torn;
        tsr_word_locate(&g, word, &p);
        count = tsr_word_count(&g, &p, &tables, &torn);
        if (torn) atomicOr(some.torn, 1u);
    }
    uint32_t before = scan_block(count, warps, &total), busy = __ballot_sync(TSR_WARP_ALL, count != 0);
    if ((threadIdx.x & 31) == 0) some.busy[2 * k + (threadIdx.x >> 5)] = busy;
    if (threadIdx.x < words) g.prefix[word] = (uint16_t)tsr_count_vertices(before);
    if (threadIdx.x == 0) some.counts[k] = total;
}

static tsr_status cuda_count_some(tsr_queue *queue, const tsr_surface_grid *grid, const tsr_surface_some *some)
{
    const tsr_surface_grid g = *grid;
    const tsr_surface_some s = *some;
    TSR_TRY(tsr_queue_fill(queue, s.torn, 0, sizeof *s.torn));
    if (s.count == 0) return TSR_OK;
    TSR_LAUNCH(queue, some_rows_kernel, tsr_blocks(s.count << 3 * g.log2_edge, 256, INT32_MAX), 256, 0, g, s);
    if (g.decide) TSR_LAUNCH(queue, some_count_kernel<1>, (uint32_t)s.count, SOME_THREADS, 0, g, s);
    else TSR_LAUNCH(queue, some_count_kernel<0>, (uint32_t)s.count, SOME_THREADS, 0, g, s);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

template <int DECIDE>
TSR_KERNEL(__launch_bounds__(EMIT_WARPS * 32) some_emit_kernel)
(tsr_surface_grid g, tsr_surface_some some, tsr_surface_output out)
{
    if (!DECIDE) g.decide = 0;
    TSR_SHARED(emit_lists, lists, EMIT_WARPS);
    const uint32_t lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const int64_t k = (int64_t)blockIdx.x * EMIT_WARPS + warp;
    if (k >= some.count) return;
    const uint32_t *mask = some.busy + 2 * k, id = some.ids[k];
    emit_block(g, out, (int64_t)id << 2 * g.log2_edge, mask, (uint32_t)(__popc(mask[0]) + __popc(mask[1])), g.block_vertex[id], some.triangle[k],
               lane, &lists[warp]);
}

TSR_KERNEL(some_place_kernel)(tsr_surface_grid g, tsr_surface_some some)
{
    int64_t k = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (k < some.count) g.block_vertex[some.ids[k]] = some.vertex[k];
}
/* A block per gap. */
TSR_KERNEL(gap_kernel)(tsr_surface_some some, uint32_t *triangles)
{
    const uint64_t *gap = some.gap[blockIdx.x];
    for (uint64_t k = 3 * gap[0] + threadIdx.x; k < 3 * gap[1]; k += blockDim.x) triangles[k] = 0;
}

static tsr_status cuda_emit_some(tsr_queue *queue, const tsr_surface_grid *grid, const tsr_surface_some *some, const tsr_surface_output *output)
{
    const tsr_surface_grid g = *grid;
    const tsr_surface_some s = *some;
    const tsr_surface_output out = *output;
    if (s.gaps) TSR_LAUNCH(queue, gap_kernel, (uint32_t)s.gaps, 64, 0, s, out.triangles);
    if (s.count) {
        TSR_LAUNCH(queue, some_place_kernel, tsr_blocks(s.count, 256, INT32_MAX), 256, 0, g, s);
        if (g.decide) TSR_LAUNCH(queue, some_emit_kernel<1>, tsr_blocks(s.count, EMIT_WARPS, INT32_MAX), EMIT_WARPS * 32, 0, g, s, out);
        else TSR_LAUNCH(queue, some_emit_kernel<0>, tsr_blocks(s.count, EMIT_WARPS, INT32_MAX), EMIT_WARPS * 32, 0, g, s, out);
    }
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

#endif
