/* bench/predict_gather_cuda.cu: the kernel of predict_gather.h. A module of its own that bench_dirac opens, and in the emulator for the suite
 * test_dirac_regions; the library does not use it. */
#include "device/kernel.h"

#include "predict_gather.h"
#include "video/dirac/predict_rows.h"

/* A thread a column of a run of rows. */
TSR_KERNEL(__launch_bounds__(GATHER_ACROSS, 8) gather_kernel)(tsr_dirac_predict_job job, uint32_t columns)
{
    const tsr_dirac_predict_job *const j = &job;
    TSR_SHARED(int32_t, weight, GATHER_BLOCKS * GATHER_RUN);
    const tsr_dirac_extent across = tsr_dirac_extent_of(j, 0), down = tsr_dirac_extent_of(j, 1);
    const tsr_dirac_run_source source = tsr_dirac_run_source_of(j);
    const int32_t column = (int32_t)(blockIdx.x % columns * GATHER_ACROSS + threadIdx.x), x = tsr_mini(column, j->width - 1); /* whole warps */
    const int32_t begin = gather_begin(&down, (int32_t)(blockIdx.x / columns));
    const int32_t first = tsr_maxi(begin, 0), last = tsr_mini(begin + GATHER_RUN, j->height) - 1;
    int32_t u0, v0, v1, sum[GATHER_RUN], within = 1;
    if (last < first) return; /* the whole block */
    v1 = tsr_dirac_cover(last, down.length, down.separation, down.count, &v0);
    v1 += v0;
    tsr_dirac_cover(first, down.length, down.separation, down.count, &v0);
    for (int32_t k = (int32_t)threadIdx.x; k < (v1 - v0) * GATHER_RUN; k += GATHER_ACROSS) {
        const int32_t y = begin + k % GATHER_RUN;
        weight[k] = y < first || y > last ? 0 : gather_weight(&down, y, v0 + k / GATHER_RUN);
    }
    __syncthreads();
    const int32_t blocks = tsr_dirac_cover(x, across.length, across.separation, across.count, &u0), most = __reduce_max_sync(TSR_WARP_ALL, blocks);
#pragma unroll
    for (int k = 0; k < GATHER_RUN; k++) sum[k] = 0;
#pragma unroll 1
    for (int32_t i = 0; i < most; i++) { /* a lane without a second block has it count nothing */
        const int32_t u = u0 + tsr_mini(i, blocks - 1);
        const int32_t wx =
            i < blocks ? tsr_dirac_weight(x - (u * across.separation - across.offset), across.length, across.separation, u, across.count) : 0;
#pragma unroll 1
        for (int32_t v = v0; v < v1; v++) {
            const tsr_dirac_block b = tsr_dirac_block_at(j, (int64_t)v * across.count + u);
            const int32_t *const wy = weight + (v - v0) * GATHER_RUN;
            int32_t value[GATHER_RUN];
            within &= tsr_dirac_block_rows<GATHER_RUN, GATHER_HALF>(j, &source, &b, x, begin, GATHER_RUN, gather_halves(&down, begin, v), value);
#pragma unroll
            for (int k = 0; k < GATHER_RUN; k++) sum[k] += wx * wy[k] * value[k];
        }
    }
#pragma unroll
    for (int k = 0; k < GATHER_RUN; k++)
        if (within && column < j->width && begin + k >= first && begin + k <= last)
            j->predicted[(int64_t)(begin + k) * j->stride + x] = (sum[k] + 32) >> 6;
    if (within || column >= j->width) return;
#pragma unroll 1
    for (int32_t y = first; y <= last; y++) j->predicted[(int64_t)y * j->stride + x] = tsr_dirac_predict_sample(j, x, y);
}

/* The job's memory is the device's. Launched; 0: that failed. */
extern "C" __attribute__((visibility("default"))) int predict_by_gathering(tsr_queue *queue, const tsr_dirac_predict_job *job)
{
    const uint32_t columns = tsr_blocks(job->width, GATHER_ACROSS, INT32_MAX);
    const int32_t above = tsr_dirac_extent_of(job, 1).offset; /* the first run begins */
    TSR_LAUNCH(queue, gather_kernel, columns * tsr_blocks((int64_t)job->height + above, GATHER_RUN, INT32_MAX), GATHER_ACROSS, 0, *job, columns);
#ifdef TSR_EMU
    return tsr_launch_check(queue) == TSR_OK;
#else
    return cudaPeekAtLastError() == cudaSuccess;
#endif
}
