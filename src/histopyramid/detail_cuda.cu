/* histopyramid/detail_cuda.cu: a thread per voxel of a level; a block per cell counts and emits its coefficients in order; a thread per coefficient codes; a
 * thread per run selects. */
#include "device/kernel.h"
#include "histopyramid/detail_ops.h"

enum { THREADS = 256, WARPS = THREADS / 32 };

TSR_DEVICE_FN int64_t own_index(void) { return (int64_t)blockIdx.x * THREADS + threadIdx.x; }

TSR_KERNEL(reduce_kernel)(tsr_adjunction a, int32_t j, int64_t count)
{
    const int64_t i = own_index();
    const int32_t *n = a.size[j + 1];
    if (i >= count) return;
    tsr_adjunction_store(a.level[j + 1], a.bytes, i,
                         tsr_adjunction_reduce(&a, j, (int32_t)(i % n[0]), (int32_t)(i / n[0] % n[1]), (int32_t)(i / n[0] / n[1])));
}
TSR_KERNEL(expand_kernel)(tsr_adjunction a, int32_t j, void *data, int64_t count)
{
    const int64_t i = own_index();
    const int32_t *n = a.size[j];
    if (i >= count) return;
    const uint32_t s = tsr_adjunction_expand(&a, j, (int32_t)(i % n[0]), (int32_t)(i / n[0] % n[1]), (int32_t)(i / n[0] / n[1]));
    if (data) tsr_adjunction_store(data, a.bytes, i, s);
    else if (s > tsr_adjunction_load(a.level[j], a.bytes, i)) tsr_adjunction_store(a.level[j], a.bytes, i, s);
}

static tsr_status cuda_reduce(tsr_queue *queue, const tsr_adjunction *a, int32_t j)
{
    const int64_t count = tsr_adjunction_cells(a->size[j + 1]);
    TSR_LAUNCH(queue, reduce_kernel, tsr_blocks(count, THREADS, INT32_MAX), THREADS, 0, *a, j, count);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}
static tsr_status cuda_expand(tsr_queue *queue, const tsr_adjunction *a, int32_t j)
{
    const int64_t count = tsr_adjunction_cells(a->size[j]);
    TSR_LAUNCH(queue, expand_kernel, tsr_blocks(count, THREADS, INT32_MAX), THREADS, 0, *a, j, (void *)0, count);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}
static tsr_status cuda_opening(tsr_queue *queue, const tsr_adjunction *a, void *data)
{
    const int64_t count = tsr_adjunction_cells(a->size[0]);
    TSR_LAUNCH(queue, expand_kernel, tsr_blocks(count, THREADS, INT32_MAX), THREADS, 0, *a, 0, data, count);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

/* Sum of the block's flags before this thread; *all = of the block. `sums` is shared, one per warp. */
TSR_DEVICE_FN uint32_t block_rank(int flag, uint32_t *sums, uint32_t *all)
{
    const uint32_t lane = threadIdx.x & 31u, warp = threadIdx.x / 32u, votes = __ballot_sync(TSR_WARP_ALL, flag);
    uint32_t before = (uint32_t)__popc(votes & ((1u << lane) - 1u));
    __syncthreads();
    if (lane == 0) sums[warp] = (uint32_t)__popc(votes);
    __syncthreads();
    *all = 0;
    for (uint32_t w = 0; w < WARPS; w++) {
        if (w < warp) before += sums[w];
        *all += sums[w];
    }
    return before;
}

TSR_KERNEL(count_kernel)(tsr_adjunction a, tsr_details d, uint32_t *counts)
{
    TSR_SHARED(uint32_t, sums, WARPS);
    const int64_t cell = blockIdx.x;
    uint32_t total = 0;
    for (int32_t j = 0; j <= d.levels; j++) {
        int32_t o[3], n[3];
        const int32_t voxels = tsr_detail_cell(&d, cell, j, o, n);
        for (int32_t k = (int32_t)threadIdx.x; k < voxels; k += THREADS) {
            uint32_t residual;
            total += tsr_adjunction_detail(&a, j, o[0] + k % n[0], o[1] + k / n[0] % n[1], o[2] + k / (n[0] * n[1]), &residual) != 0;
        }
    }
    total = __reduce_add_sync(TSR_WARP_ALL, total);
    if ((threadIdx.x & 31u) == 0) sums[threadIdx.x / 32u] = total;
    __syncthreads();
    if (threadIdx.x) return;
    for (int w = 1; w < WARPS; w++) total += sums[w];
    counts[cell] = total;
}
TSR_KERNEL(emit_kernel)(tsr_adjunction a, tsr_details d, tsr_detail_sort s)
{
    TSR_SHARED(uint32_t, sums, WARPS);
    const int64_t cell = (d.format == TSR_MIP_BRICKS ? s.brick : 0) + blockIdx.x;
    int64_t at = s.cell[cell] - s.first;
    for (int32_t j = 0; j <= d.levels; j++) {
        int32_t o[3], n[3];
        const int32_t voxels = tsr_detail_cell(&d, cell, j, o, n);
        for (int32_t first = 0; first < voxels; first += THREADS) {
            const int32_t k = first + (int32_t)threadIdx.x;
            uint64_t key = 0;
            uint32_t payload = 0, all;
            const int found = k < voxels && tsr_detail_emit(&a, &d, &s, cell, j, o, o[0] + k % n[0], o[1] + k / n[0] % n[1], o[2] + k / (n[0] * n[1]),
                                                            &key, &payload);
            const uint32_t rank = block_rank(found, sums, &all);
            if (found) {
                tsr_detail_key_put(&s, at + rank, key);
                s.payload[at + rank] = payload;
            }
            at += all;
        }
    }
}

static tsr_status cuda_count(tsr_queue *queue, const tsr_adjunction *a, const tsr_details *d, uint32_t *counts)
{
    TSR_LAUNCH(queue, count_kernel, (uint32_t)tsr_adjunction_cells(d->cells), THREADS, 0, *a, *d, counts);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}
static tsr_status cuda_emit(tsr_queue *queue, const tsr_adjunction *a, const tsr_details *d, const tsr_detail_sort *sort)
{
    TSR_LAUNCH(queue, emit_kernel, (uint32_t)sort->bricks, THREADS, 0, *a, *d, *sort);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

TSR_KERNEL(code_kernel)(tsr_details d, tsr_detail_sort s, uint8_t *heads, uint32_t *runs, unsigned long long *histogram)
{
    const int64_t i = own_index();
    int32_t level;
    uint32_t value, residual;
    int64_t brick;
    if (i >= s.count) return;
    heads[i] = (uint8_t)tsr_detail_code(&d, &s, i, &level, &value, &residual, &brick);
    if (heads[i]) atomicAdd(&runs[brick], 1u);
    atomicAdd(&histogram[(int64_t)level * 65536 + residual], 1ull);
}
TSR_KERNEL(runs_kernel)(tsr_details d, tsr_detail_sort s, const uint32_t *heads, int64_t count, tsr_detail_run *to)
{
    const int64_t k = own_index();
    if (k < count) to[k] = tsr_detail_run_make(&d, &s, heads[k]);
}
static tsr_status cuda_code(tsr_queue *queue, const tsr_details *d, const tsr_detail_sort *sort, uint8_t *heads, uint32_t *runs, uint64_t *histogram)
{
    TSR_LAUNCH(queue, code_kernel, tsr_blocks(sort->count, THREADS, INT32_MAX), THREADS, 0, *d, *sort, heads, runs, (unsigned long long *)histogram);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}
static tsr_status cuda_runs(tsr_queue *queue, const tsr_details *d, const tsr_detail_sort *sort, const uint32_t *heads, int64_t count,
                            tsr_detail_run *to)
{
    TSR_LAUNCH(queue, runs_kernel, tsr_blocks(count, THREADS, INT32_MAX), THREADS, 0, *d, *sort, heads, count, to);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

/* A block per brick, or (lists) per piece of the runs of the only one. */
TSR_DEVICE_FN uint32_t first_run(const tsr_details &d, int64_t *brick, uint32_t *step)
{
    *brick = d.bricks == 1 ? 0 : blockIdx.x;
    *step = (d.bricks == 1 ? gridDim.x : 1u) * THREADS;
    return d.brick[*brick].run + (d.bricks == 1 ? blockIdx.x * THREADS : 0u) + threadIdx.x;
}
static uint32_t run_blocks(const tsr_details *d) { return d->bricks == 1 ? tsr_blocks(d->runs, THREADS, 4096) : (uint32_t)d->bricks; }

TSR_KERNEL(choose_kernel)(tsr_details d, tsr_detail_choice c)
{
    int64_t brick;
    uint32_t step;
    for (uint32_t k = first_run(d, &brick, &step); k < d.brick[brick].run + d.brick[brick].runs; k += step) {
        uint32_t ties;
        d.to[k] = tsr_detail_choose(&d, &c, &d.brick[brick], k, &ties);
        if (ties) atomicAdd((unsigned long long *)&c.ties[tsr_detail_bin(&d, &c, &d.run[k])], (unsigned long long)ties);
    }
}
TSR_KERNEL(ties_kernel)(tsr_details d, tsr_detail_choice c)
{
    int64_t brick;
    uint32_t step;
    for (uint32_t k = first_run(d, &brick, &step); k < d.brick[brick].run + d.brick[brick].runs; k += step) {
        uint32_t ties;
        if (tsr_detail_bin(&d, &c, &d.run[k]) >= c.bin) break;
        const uint32_t above = tsr_detail_choose(&d, &c, &d.brick[brick], k, &ties);
        d.to[k] = above + ties;
    }
}
TSR_KERNEL(count_rest_kernel)(tsr_details d, tsr_detail_choice c, uint32_t *numbers)
{
    const int64_t brick = own_index();
    if (brick < d.bricks) numbers[brick] = tsr_detail_rest(&d, &c, brick);
}
TSR_KERNEL(choose_rest_kernel)(tsr_details d, tsr_detail_choice c, const uint32_t *numbers)
{
    const int64_t brick = own_index();
    if (brick < d.bricks) tsr_detail_take_rest(&d, &c, brick, numbers[brick]);
}
static tsr_status cuda_count_rest(tsr_queue *queue, const tsr_details *d, const tsr_detail_choice *choice, uint32_t *numbers)
{
    TSR_LAUNCH(queue, count_rest_kernel, tsr_blocks(d->bricks, THREADS, INT32_MAX), THREADS, 0, *d, *choice, numbers);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}
static tsr_status cuda_choose_rest(tsr_queue *queue, const tsr_details *d, const tsr_detail_choice *choice, const uint32_t *numbers)
{
    TSR_LAUNCH(queue, choose_rest_kernel, tsr_blocks(d->bricks, THREADS, INT32_MAX), THREADS, 0, *d, *choice, numbers);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

static tsr_status cuda_choose(tsr_queue *queue, const tsr_details *d, const tsr_detail_choice *choice)
{
    TSR_LAUNCH(queue, choose_kernel, run_blocks(d), THREADS, 0, *d, *choice);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}
static tsr_status cuda_choose_ties(tsr_queue *queue, const tsr_details *d, const tsr_detail_choice *choice)
{
    TSR_LAUNCH(queue, ties_kernel, run_blocks(d), THREADS, 0, *d, *choice);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

/* A warp per brick. */
TSR_KERNEL(most_kernel)(tsr_details d, uint32_t *most)
{
    const int64_t brick = (int64_t)blockIdx.x * WARPS + threadIdx.x / 32u;
    if (brick >= d.bricks) return;
    const tsr_detail_brick b = d.brick[brick];
    uint32_t best = 0;
    for (uint32_t k = threadIdx.x & 31u; k < b.runs; k += 32) best = max(best, tsr_detail_most(&d, &b, k));
    best = __reduce_max_sync(TSR_WARP_ALL, best);
    if ((threadIdx.x & 31u) == 0) most[brick] = best;
}
static tsr_status cuda_most(tsr_queue *queue, const tsr_details *d, uint32_t *most)
{
    TSR_LAUNCH(queue, most_kernel, tsr_blocks(d->bricks, WARPS, INT32_MAX), THREADS, 0, *d, most);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

/* Bricks: a warp per run. Lists: the same, over all runs. */
TSR_KERNEL(scatter_kernel)(tsr_adjunction a, tsr_details d)
{
    const int64_t brick = d.bricks == 1 ? 0 : blockIdx.x;
    const tsr_detail_brick b = d.brick[brick];
    const uint32_t lane = threadIdx.x & 31u, warp = (d.bricks == 1 ? blockIdx.x * WARPS : 0u) + threadIdx.x / 32u;
    for (uint32_t k = b.run + warp; k < b.run + b.runs; k += (d.bricks == 1 ? gridDim.x : 1u) * WARPS) {
        const tsr_detail_run r = d.run[k];
        const uint32_t count = tsr_detail_run_count(&d, &b, k);
        for (uint32_t i = lane; i < count; i += 32) tsr_detail_scatter(&a, &d, brick, &r, b.first + r.first + i);
    }
}
static tsr_status cuda_scatter(tsr_queue *queue, const tsr_adjunction *a, const tsr_details *d)
{
    if (d->runs) TSR_LAUNCH(queue, scatter_kernel, d->bricks == 1 ? tsr_blocks(d->runs, WARPS, 4096) : (uint32_t)d->bricks, THREADS, 0, *a, *d);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

extern "C" const tsr_detail_ops tsr_detail_cuda = { cuda_reduce,      cuda_expand, cuda_opening, cuda_count,       cuda_emit,
                                                    cuda_code,        cuda_runs,   cuda_choose,  cuda_choose_ties, cuda_count_rest,
                                                    cuda_choose_rest, cuda_most,   cuda_scatter };
