/* wavelet/shrink_cuda.cu: the loops of denoising on the GPU. */
#include "device/kernel.h"

#include "wavelet/shrink.h"

enum { THREADS = 256, PART = TSR_SHRINK_PART, LANES = TSR_SHRINK_LANES, BLOCKS = 16 /* a multiprocessor */ };

static uint32_t blocks_for(tsr_queue *queue, int64_t count) { return tsr_blocks(count, THREADS, BLOCKS * tsr_queue_processors(queue)); }

/* ---- voxels ------------------------------------------------------------------------------------------------------------------------------------ */

TSR_KERNEL(finite_kernel)(const void *voxels, tsr_dtype dtype, int64_t count, uint64_t *first)
{
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < count; i += (int64_t)gridDim.x * THREADS)
        if (!tsr_shrink_is_finite(tsr_voxel_load(voxels, dtype, i))) atomicMin((unsigned long long *)first, (unsigned long long)i);
}

static tsr_status cuda_finite(tsr_queue *queue, const void *voxels, tsr_dtype dtype, int64_t count, uint64_t *first)
{
    TSR_TRY(tsr_queue_fill(queue, first, 0xff, sizeof *first));
    TSR_LAUNCH(queue, finite_kernel, blocks_for(queue, count), THREADS, 0, voxels, dtype, count, first);
    return tsr_launch_check(queue);
}

TSR_KERNEL(take_kernel)(tsr_shrink_job j)
{
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < j.count; i += (int64_t)gridDim.x * THREADS)
        j.samples[i] = tsr_shrink_sample(&j, i);
}
TSR_KERNEL(give_kernel)(tsr_shrink_job j)
{
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < j.count; i += (int64_t)gridDim.x * THREADS) tsr_shrink_give(&j, i);
}

/* A block takes a row at a time. */
template <int BACK> TSR_KERNEL(roll_kernel)(tsr_shrink_job j)
{
    for (int64_t r = blockIdx.x; r < j.size[1] * j.size[2]; r += gridDim.x) {
        const int64_t from = tsr_shrink_row(&j, r), to = r * j.size[0];
        for (int64_t x = threadIdx.x; x < j.size[0]; x += blockDim.x) {
            const int64_t at = from + tsr_shrink_column(&j, x);
            if (BACK) j.sum[at] += j.shifted[to + x];
            else j.shifted[to + x] = j.samples[at];
        }
    }
}

static tsr_status cuda_take(tsr_queue *queue, const tsr_shrink_job *job)
{
    TSR_LAUNCH(queue, take_kernel, blocks_for(queue, job->count), THREADS, 0, *job);
    return tsr_launch_check(queue);
}
static tsr_status cuda_give(tsr_queue *queue, const tsr_shrink_job *job)
{
    TSR_LAUNCH(queue, give_kernel, blocks_for(queue, job->count), THREADS, 0, *job);
    return tsr_launch_check(queue);
}
template <int BACK> static tsr_status launch_roll(tsr_queue *queue, const tsr_shrink_job *job)
{
    const uint32_t threads = job->size[0] <= 32 ? 32 : job->size[0] <= 128 ? 128 : THREADS;
    TSR_LAUNCH(queue, (roll_kernel<BACK>), tsr_blocks(job->size[1] * job->size[2], 1, 64 * tsr_queue_processors(queue)), threads, 0, *job);
    return tsr_launch_check(queue);
}
static tsr_status cuda_roll(tsr_queue *queue, const tsr_shrink_job *job) { return launch_roll<0>(queue, job); }
static tsr_status cuda_add(tsr_queue *queue, const tsr_shrink_job *job) { return launch_roll<1>(queue, job); }

/* ---- coefficients ------------------------------------------------------------------------------------------------------------------------------ */

TSR_KERNEL(magnitude_kernel)(const float *from, int64_t count, uint32_t *to)
{
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < count; i += (int64_t)gridDim.x * THREADS) {
        const float m = fabsf(from[i]);
        memcpy(&to[i], &m, sizeof m);
    }
}
static tsr_status cuda_magnitudes(tsr_queue *queue, const float *from, int64_t count, uint32_t *to)
{
    TSR_LAUNCH(queue, magnitude_kernel, blocks_for(queue, count), THREADS, 0, from, count, to);
    return tsr_launch_check(queue);
}

/* A block takes a part. */
TSR_KERNEL(square_kernel)(const tsr_shrink_band band, double *partial)
{
    TSR_SHARED(double, lane, LANES);
    const int64_t first = (int64_t)blockIdx.x * PART, last = tsr_minl(first + PART, band.count);
    double sum = 0;
#pragma unroll 4
    for (int64_t i = first + threadIdx.x; i < last; i += LANES) sum += tsr_shrink_square(band.data[i]);
    lane[threadIdx.x] = sum;
    for (int half = LANES / 2; half > 0; half /= 2) {
        __syncthreads();
        if ((int)threadIdx.x < half) lane[threadIdx.x] += lane[threadIdx.x + half];
    }
    if (threadIdx.x == 0) partial[band.first_part + blockIdx.x] = lane[0];
}
static tsr_status cuda_squares(tsr_queue *queue, const tsr_shrink_band *bands, int32_t count, double *partial)
{
    for (int32_t k = 0; k < count; k++)
        if (bands[k].count) TSR_LAUNCH(queue, square_kernel, (uint32_t)tsr_shrink_parts(bands[k].count), LANES, 0, bands[k], partial);
    return tsr_launch_check(queue);
}

TSR_KERNEL(shrink_kernel)(const tsr_shrink_band band, int hard)
{
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < band.count; i += (int64_t)gridDim.x * THREADS)
        band.data[i] = tsr_shrink_coefficient(band.data[i], band.threshold, hard);
}
static tsr_status cuda_shrink(tsr_queue *queue, const tsr_shrink_band *bands, int32_t count, int hard)
{
    for (int32_t k = 0; k < count; k++)
        if (bands[k].count) TSR_LAUNCH(queue, shrink_kernel, blocks_for(queue, bands[k].count), THREADS, 0, bands[k], hard);
    return tsr_launch_check(queue);
}

extern "C" const tsr_shrink_ops tsr_shrink_cuda = {
    cuda_finite, cuda_take, cuda_roll, cuda_add, cuda_give, cuda_magnitudes, cuda_squares, cuda_shrink
};
