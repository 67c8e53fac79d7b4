/* wavelet/keep_cuda.cu: the loops of keep.c on the GPU. A block counts in shared memory; a thread adds runs of equal digits at once, since the first digits
 * of most coefficients are the same. Bound: a pass reads the coefficients once. */
#include "device/kernel.h"

#include "wavelet/keep.h"

enum { THREADS = 512, BLOCKS = 4 /* a multiprocessor */, BINS = TSR_KEEP_BINS };

static uint32_t blocks_for(tsr_queue *queue, int64_t count) { return tsr_blocks(count, THREADS, BLOCKS * tsr_queue_processors(queue)); }
static int64_t count_of(const tsr_keep_band &b) { return b.size[0] * b.size[1] * b.size[2]; }

TSR_DEVICE_FN int64_t place_of(const tsr_keep_band &b, int64_t i)
{
    const int64_t row = i / b.size[0], z = row / b.size[1];
    return tsr_keep_place(&b, i - row * b.size[0], row - z * b.size[1], z);
}

TSR_KERNEL(count_kernel)(const tsr_keep_band b, const tsr_keep_pass pass, uint64_t *counts)
{
    TSR_SHARED(uint32_t, local, BINS);
    const int64_t n = b.size[0] * b.size[1] * b.size[2];
    int32_t bin = -1;
    uint32_t run = 0;
    for (int i = (int)threadIdx.x; i < BINS; i += THREADS) local[i] = 0;
    __syncthreads();
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < n; i += (int64_t)gridDim.x * THREADS) {
        const int64_t at = place_of(b, i);
        const int32_t digit = tsr_keep_digit(&pass, tsr_keep_key(tsr_voxel_load(b.data, b.dtype, at), b.weight), (uint64_t)at);
        if (digit != bin) {
            if (bin >= 0) atomicAdd(&local[bin], run);
            bin = digit;
            run = 0;
        }
        run++;
    }
    if (bin >= 0) atomicAdd(&local[bin], run);
    __syncthreads();
    for (int i = (int)threadIdx.x; i < BINS; i += THREADS)
        if (local[i]) atomicAdd((unsigned long long *)counts + i, (unsigned long long)local[i]);
}

TSR_KERNEL(apply_kernel)(const tsr_keep_band b, const tsr_keep_limit limit)
{
    const int64_t n = b.size[0] * b.size[1] * b.size[2];
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < n; i += (int64_t)gridDim.x * THREADS) {
        const int64_t at = place_of(b, i);
        const double c = tsr_voxel_load(b.data, b.dtype, at), v = tsr_keep_value(&limit, &b, c, (uint64_t)at);
        if (v != c) tsr_voxel_store(b.data, b.dtype, at, v);
    }
}

static tsr_status cuda_count(tsr_queue *queue, const tsr_keep_band *bands, int32_t number, const tsr_keep_pass *pass, uint64_t *counts)
{
    for (int32_t k = 0; k < number; k++) TSR_LAUNCH(queue, count_kernel, blocks_for(queue, count_of(bands[k])), THREADS, 0, bands[k], *pass, counts);
    return tsr_launch_check(queue);
}

static tsr_status cuda_apply(tsr_queue *queue, const tsr_keep_band *bands, int32_t number, const tsr_keep_limit *limit)
{
    for (int32_t k = 0; k < number; k++) TSR_LAUNCH(queue, apply_kernel, blocks_for(queue, count_of(bands[k])), THREADS, 0, bands[k], *limit);
    return tsr_launch_check(queue);
}

extern "C" const tsr_keep_ops tsr_keep_cuda = { cuda_count, cuda_apply };
