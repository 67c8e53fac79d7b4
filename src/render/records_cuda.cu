/* Kernels of the surface records: a block per tile finds them, a thread per record expands them, a thread per pixel shades. */
#include "device/kernel.h"

#define TSR_RECORD_KEEP(address, number) atomicMin((unsigned long long *)(address), (unsigned long long)(number))

#include "render/records_ops.h"

#ifdef TSR_EMU
#define __grid_constant__
#endif

enum { TILE_THREADS = 128, TILE_WARPS = TILE_THREADS / 32, RECORD_THREADS = 128, PIXEL_WIDTH = 16, PIXEL_HEIGHT = 8 };

/* The codes in and around the tile lie in shared memory; its cells go by in order, a thread each, and ballots number those that are recorded. */
template <int WRITE, int LOG2_EDGE> TSR_KERNEL(__launch_bounds__(TILE_THREADS) tile_kernel)(const __grid_constant__ tsr_records_job j)
{
    TSR_SHARED(uint8_t, code, TSR_RECORD_CODES_MOST);
    TSR_SHARED(uint32_t, warps, TILE_WARPS);
    const int32_t t = (int32_t)blockIdx.x, thread = (int32_t)threadIdx.x, edge = 1 << LOG2_EDGE;
    const int32_t codes = (edge + 2) * (edge + 2) * (edge + 2), cells = (edge + 1) * (edge + 1) * (edge + 1);
    const uint64_t key = tsr_record_key(&j, t);
    const uint32_t id = j.ids[t], lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    uint32_t found = 0, sides = 0;
    if (!WRITE && t == 0 && thread == 0 && !j.by_id) j.counts[j.tiles] = 0;
    if (!WRITE && thread == 0 && j.by_id) j.tile_keys[t] = key;
    if (WRITE && !j.counts[t]) return;
    for (int32_t i = thread; i < codes; i += TILE_THREADS) {
        const uint32_t c = tsr_record_load(&j, LOG2_EDGE, id, i);
        code[i] = (uint8_t)c;
        sides |= c < TSR_RECORD_OUTSIDE ? 1u : 2u;
    }
    const int outside = __syncthreads_or((int)(sides & 2u)), inside = __syncthreads_or((int)(sides & 1u));
    if (!outside || !inside) {
        if (!WRITE && thread == 0) j.counts[t] = 0;
        return;
    }
    for (int32_t first = 0; first < cells; first += TILE_THREADS) {
        uint16_t position[3];
        uint64_t values;
        uint32_t own, before = 0, all = 0;
        const int32_t i = first + thread, at[3] = { i % (edge + 1) - 1, i / (edge + 1) % (edge + 1) - 1, i / ((edge + 1) * (edge + 1)) - 1 };
        const int cut = i < cells && tsr_record_cell(&j, LOG2_EDGE, key, id, code, at, position, &own, &values);
        const uint32_t mask = __ballot_sync(TSR_WARP_ALL, cut);
        if (lane == 0) warps[warp] = (uint32_t)__popc(mask);
        __syncthreads();
        for (uint32_t k = 0; k < TILE_WARPS; k++) {
            before += k < warp ? warps[k] : 0u;
            all += warps[k];
        }
        if (WRITE && cut) tsr_record_store(&j, j.places[t] + found + before + (uint32_t)__popc(mask & ((1u << lane) - 1u)), position, own, values);
        found += all;
        __syncthreads();
    }
    if (!WRITE && thread == 0) j.counts[t] = found;
}

template <int WRITE> static void launch_tiles(tsr_queue *queue, const tsr_records_job *job)
{
    const uint32_t tiles = (uint32_t)job->tiles;
    if (job->log2_edge == 2) TSR_LAUNCH(queue, (tile_kernel<WRITE, 2>), tiles, TILE_THREADS, 0, *job);
    else TSR_LAUNCH(queue, (tile_kernel<WRITE, 3>), tiles, TILE_THREADS, 0, *job);
}

static tsr_status cuda_count(tsr_queue *queue, const tsr_records_job *job)
{
    launch_tiles<0>(queue, job);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}
static tsr_status cuda_extract(tsr_queue *queue, const tsr_records_job *job)
{
    launch_tiles<1>(queue, job);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

/* A block per gap; the first also set the runs. */
TSR_KERNEL(settle_kernel)(tsr_records_some s)
{
    const int64_t gap = blockIdx.x, run = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (gap < s.gaps)
        for (uint32_t k = s.gap[gap][0] + threadIdx.x; k < s.gap[gap][1]; k += blockDim.x) s.cases[k] = 0;
    if (run < s.count) {
        s.runs[s.run[run][0]].begin = s.run[run][1];
        s.runs[s.run[run][0]].count = s.run[run][2];
    }
}
static tsr_status cuda_settle(tsr_queue *queue, const tsr_records_some *some)
{
    const int64_t blocks = some->gaps > (some->count + 31) / 32 ? some->gaps : (some->count + 31) / 32;
    if (blocks) TSR_LAUNCH(queue, settle_kernel, (uint32_t)blocks, 32, 0, *some);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

TSR_KERNEL(expand_count_kernel)(const __grid_constant__ tsr_records_expand e)
{
    const int64_t k = (int64_t)blockIdx.x * RECORD_THREADS + threadIdx.x;
    if (k <= e.view.count) e.counts[k] = k < e.view.count ? (uint8_t)tsr_record_triangles(&e.view, k) : (uint8_t)0;
}
TSR_KERNEL(expand_kernel)(const __grid_constant__ tsr_records_expand e)
{
    const int64_t k = (int64_t)blockIdx.x * RECORD_THREADS + threadIdx.x;
    if (k < e.view.count) tsr_record_expand(&e, k);
}
static tsr_status cuda_expand_count(tsr_queue *queue, const tsr_records_expand *job)
{
    TSR_LAUNCH(queue, expand_count_kernel, tsr_blocks(job->view.count + 1, RECORD_THREADS, INT32_MAX), RECORD_THREADS, 0, *job);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}
static tsr_status cuda_expand(tsr_queue *queue, const tsr_records_expand *job)
{
    TSR_LAUNCH(queue, expand_kernel, tsr_blocks(job->view.count, RECORD_THREADS, INT32_MAX), RECORD_THREADS, 0, *job);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

TSR_KERNEL(splat_kernel)(const __grid_constant__ tsr_records_draw_job j)
{
    const int64_t k = j.from + (int64_t)blockIdx.x * RECORD_THREADS + threadIdx.x;
    if (k < j.to) tsr_record_splat(&j, k);
}
/* A warp per tile. */
TSR_KERNEL(splat_runs_kernel)(const __grid_constant__ tsr_records_draw_job j)
{
    const int64_t id = j.from + (((int64_t)blockIdx.x * RECORD_THREADS + threadIdx.x) >> 5);
    if (id >= j.to) return;
    const tsr_record_run run = j.runs[id];
    if (!run.count || !tsr_record_meets(&j, j.keys[id])) return;
    for (int64_t k = run.begin + (threadIdx.x & 31); k < (int64_t)run.begin + run.count; k += 32) tsr_record_splat(&j, k);
}
TSR_KERNEL(clear_kernel)(const __grid_constant__ tsr_records_draw_job j)
{
    int64_t count;
    uint64_t *to = j.hits + tsr_record_row(&j, blockIdx.x, &count);
    for (int64_t k = threadIdx.x; k < count; k += RECORD_THREADS) to[k] = TSR_RECORD_NO_HIT;
}
/* MOST: layers a ray keeps at once. */
template <int PARTS, int MOST>
TSR_KERNEL(pixel_kernel)
(const __grid_constant__ tsr_records_draw_job j, const __grid_constant__ tsr_transfer_linear transfer, int32_t row_begin, int32_t row_end,
 float *rgba, float *depth)
{
    const int32_t x = j.window[0] + (int32_t)(blockIdx.x * PIXEL_WIDTH + threadIdx.x % PIXEL_WIDTH),
                  y = row_begin + (int32_t)(blockIdx.y * PIXEL_HEIGHT + threadIdx.x / PIXEL_WIDTH);
    tsr_hit hits[MOST];
    if (x < j.window[2] && y < row_end) tsr_record_pixel(&j, PARTS, MOST, &transfer, x, y, hits, rgba, depth);
}
static tsr_status cuda_splat(tsr_queue *queue, const tsr_records_draw_job *job)
{
    if (job->runs) TSR_LAUNCH(queue, splat_runs_kernel, tsr_blocks(32 * (job->to - job->from), RECORD_THREADS, INT32_MAX), RECORD_THREADS, 0, *job);
    else TSR_LAUNCH(queue, splat_kernel, tsr_blocks(job->to - job->from, RECORD_THREADS, INT32_MAX), RECORD_THREADS, 0, *job);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}
static tsr_status cuda_clear(tsr_queue *queue, const tsr_records_draw_job *job)
{
    TSR_LAUNCH(queue, clear_kernel, (uint32_t)((job->window[3] - job->window[1]) * job->frame.samples), RECORD_THREADS, 0, *job);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}
static tsr_status cuda_draw(tsr_queue *queue, const tsr_records_draw_job *job, const tsr_transfer_linear *transfer, int32_t row_begin,
                            int32_t row_end, float *rgba, float *depth)
{
    const dim3 blocks((uint32_t)((job->window[2] - job->window[0] + PIXEL_WIDTH - 1) / PIXEL_WIDTH),
                      (uint32_t)((row_end - row_begin + PIXEL_HEIGHT - 1) / PIXEL_HEIGHT), 1);
    const int32_t threads = PIXEL_WIDTH * PIXEL_HEIGHT;
    if (tsr_frame_parts(&job->frame, transfer) == TSR_PART_SHEET && job->frame.layers == 1)
        TSR_LAUNCH(queue, (pixel_kernel<TSR_PART_SHEET, 1>), blocks, threads, 0, *job, *transfer, row_begin, row_end, rgba, depth);
    else TSR_LAUNCH(queue, (pixel_kernel<TSR_PARTS_ALL, TSR_RECORD_LAYERS>), blocks, threads, 0, *job, *transfer, row_begin, row_end, rgba, depth);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

extern "C" const tsr_records_ops tsr_records_cuda = { cuda_count,  cuda_extract, cuda_settle, cuda_expand_count,
                                                      cuda_expand, cuda_splat,   cuda_clear,  cuda_draw };
