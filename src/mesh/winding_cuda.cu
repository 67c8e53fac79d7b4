/* mesh/winding_cuda.cu: winding numbers on the GPU (and the emulator): lanes take the rows of a triangle, a warp sums up a row. */
#include "device/kernel.h"

#include "mesh/winding_ops.h"

enum { THREADS = 256, FEW = 1 << 14 };

TSR_DEVICE_FN int64_t thread_index(void) { return (int64_t)blockIdx.x * THREADS + threadIdx.x; }
TSR_DEVICE_FN int64_t thread_count(void) { return (int64_t)gridDim.x * THREADS; }
TSR_DEVICE_FN void raise_to(int64_t *target, int64_t value) { atomicMax((long long *)(void *)target, (long long)value); }

TSR_KERNEL(fix_kernel)(tsr_wind_grid w, tsr_wind_summary *summary)
{
    for (int64_t i = thread_index(); i < w.mesh.vertices; i += thread_count()) {
        const int32_t result = tsr_wind_fix(&w, i);
        if (result) raise_to(result == TSR_WIND_BAD ? &summary->bad_vertex : &summary->far_vertex, INT64_MAX - i);
    }
}

/* `lanes` threads per triangle: a warp, or a block where triangles are few and may be large. */
TSR_KERNEL(cross_kernel)(tsr_wind_grid w, int32_t lanes, tsr_wind_summary *summary)
{
    const tsr_vox_grid *g = &w.mesh;
    const int32_t lane = (int32_t)(thread_index() % lanes);
    for (int64_t i = thread_index() / lanes; i < g->triangles; i += thread_count() / lanes) {
        const int64_t bad = tsr_wind_bad_corner(g, i);
        int64_t first[3], last[3], voxel;
        if (bad >= 0) {
            if (lane == 0) raise_to(&summary->bad_corner, INT64_MAX - bad);
            continue;
        }
        const int32_t *a = g->fixed[g->corner[3 * i]], *b = g->fixed[g->corner[3 * i + 1]], *c = g->fixed[g->corner[3 * i + 2]];
        if (a[0] < 0 || b[0] < 0 || c[0] < 0) continue;
        if (lane == 0) {
            const uint64_t edges = tsr_wind_edges(a, b, c);
            atomicAdd((unsigned long long *)(void *)&summary->edges, (unsigned long long)edges);
        }
        if (!tsr_wind_rows(&w, a, b, c, first, last)) continue;
        const int64_t wide = last[1] - first[1] + 1, rows = wide * (last[2] - first[2] + 1);
        for (int64_t row = lane; row < rows; row += lanes) {
            const int32_t turn = tsr_wind_cross(&w, a, b, c, first[1] + row % wide, first[2] + row / wide, &voxel);
            if (turn) atomicAdd(&w.number[voxel], turn);
        }
    }
}

TSR_KERNEL(sum_kernel)(tsr_wind_grid w)
{
    const int64_t n = w.size[0], rows = w.size[1] * w.size[2];
    const int32_t lane = (int32_t)(threadIdx.x & 31u);
    for (int64_t r = thread_index() >> 5; r < rows; r += thread_count() >> 5) {
        int32_t *row = w.number + r * n, before = 0;
        for (int64_t x = 0; x < n; x += 32) {
            int32_t sum = x + lane < n ? row[x + lane] : 0;
            for (uint32_t d = 1; d < 32; d <<= 1) {
                const int32_t other = __shfl_up_sync(TSR_WARP_ALL, sum, d);
                if (lane >= (int32_t)d) sum += other;
            }
            sum += before;
            if (x + lane < n) row[x + lane] = sum;
            before = __shfl_sync(TSR_WARP_ALL, sum, 31);
        }
    }
}

static tsr_status cuda_build(tsr_queue *queue, const tsr_wind_grid *w, tsr_wind_summary *summary)
{
    const int64_t most = 16 * (int64_t)tsr_queue_processors(queue), rows = w->size[1] * w->size[2];
    const int32_t lanes = w->mesh.triangles < FEW ? THREADS : 32;
    TSR_LAUNCH(queue, fix_kernel, tsr_blocks(w->mesh.vertices, THREADS, most), THREADS, 0, *w, summary);
    TSR_LAUNCH(queue, cross_kernel, tsr_blocks(w->mesh.triangles, THREADS / lanes, most), THREADS, 0, *w, lanes, summary);
    TSR_LAUNCH(queue, sum_kernel, tsr_blocks(rows, THREADS / 32, most), THREADS, 0, *w);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

extern "C" const tsr_winding_ops tsr_winding_cuda = { cuda_build };
