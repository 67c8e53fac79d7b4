/* vision/lens_cuda.cu: the search warps, filters and votes tile by tile in shared memory, all candidates in one launch; no image is stored. */
#include "device/kernel.h"
#include "vision/align/align_job.h"
#include "vision/lens_ops.h"

enum { THREADS = 256, TILE_WIDE = 32, TILE_HIGH = 16, WIDE = TILE_WIDE + 2 * TSR_LENS_REACH, HIGH = TILE_HIGH + 2 * TSR_LENS_REACH };

TSR_KERNEL(warp_kernel)(tsr_warp_job job, int64_t count)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) tsr_warp_pixel(&job, i);
}

/* blockIdx.x: the tile, y: the candidate. */
TSR_KERNEL(votes_kernel)(tsr_votes_job job)
{
    TSR_SHARED(tsr_lens_votes, votes, 1);
    TSR_SHARED(float, value, HIGH *WIDE);
    TSR_SHARED(float, smooth, HIGH *TILE_WIDE);
    TSR_SHARED(float, slope, HIGH *TILE_WIDE);
    TSR_SHARED(uint8_t, known, HIGH * WIDE);
    TSR_SHARED(uint8_t, row_known, HIGH * TILE_WIDE);
    TSR_SHARED(uint32_t, histogram, TSR_LENS_BINS);
    const int32_t i = (int32_t)threadIdx.x, columns = (job.width + TILE_WIDE - 1) / TILE_WIDE;
    const int32_t x0 = (int32_t)(blockIdx.x % (uint32_t)columns) * TILE_WIDE, y0 = (int32_t)(blockIdx.x / (uint32_t)columns) * TILE_HIGH;
    const tsr_lens_map map = job.maps[blockIdx.y];
    for (int32_t k = i; k < (int32_t)(sizeof(tsr_lens_votes) / 4); k += THREADS)
        ((uint32_t *)(void *)votes)[k] = ((const uint32_t *)(const void *)job.votes)[k];
    for (int32_t k = i; k < job.bins; k += THREADS) histogram[k] = 0;
    __syncthreads();
    for (int32_t k = i; k < HIGH * WIDE; k += THREADS)
        known[k] = (uint8_t)tsr_lens_sample(votes, &map, job.image, x0 + k % WIDE - TSR_LENS_REACH, y0 + k / WIDE - TSR_LENS_REACH, &value[k]);
    __syncthreads();
    for (int32_t k = i; k < HIGH * TILE_WIDE; k += THREADS) {
        const int32_t from = k / TILE_WIDE * WIDE + k % TILE_WIDE;
        uint8_t all = 1;
        for (int32_t t = 0; t < TSR_LENS_TAPS; t++) all &= known[from + t];
        row_known[k] = all;
        smooth[k] = tsr_lens_taps(value + from, 1, votes->smooth);
        slope[k] = tsr_lens_taps(value + from, 1, votes->slope);
    }
    __syncthreads();
    for (int32_t k = i; k < TILE_HIGH * TILE_WIDE; k += THREADS) {
        uint8_t all = 1;
        for (int32_t t = 0; t < TSR_LENS_TAPS; t++) all &= row_known[k + t * TILE_WIDE];
        if (all)
            tsr_lens_vote(votes, tsr_lens_taps(slope + k, TILE_WIDE, votes->smooth), tsr_lens_taps(smooth + k, TILE_WIDE, votes->slope), histogram);
    }
    __syncthreads();
    for (int32_t k = i; k < job.bins; k += THREADS)
        if (histogram[k]) atomicAdd((unsigned long long *)&job.histograms[(int64_t)blockIdx.y * job.bins + k], (unsigned long long)histogram[k]);
}

static tsr_status cuda_warp(tsr_queue *queue, const tsr_warp_job *job)
{
    const int64_t count = (int64_t)job->images * job->width * job->height;
    TSR_LAUNCH(queue, warp_kernel, tsr_blocks(count, THREADS, INT32_MAX), THREADS, 0, *job, count);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

static tsr_status cuda_votes(tsr_queue *queue, const tsr_votes_job *job)
{
    const uint32_t columns = tsr_blocks(job->width, TILE_WIDE, INT32_MAX), rows = tsr_blocks(job->height, TILE_HIGH, INT32_MAX);
    TSR_LAUNCH(queue, votes_kernel, dim3(columns * rows, (uint32_t)job->candidates), dim3(THREADS), 0, *job);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

/* A block a candidate; samples and distances come from caches. */
enum { ALIGN_THREADS = 128 };

TSR_KERNEL(align_kernel)(tsr_align_job job)
{
    TSR_SHARED(uint32_t, part, ALIGN_THREADS / 32);
    const tsr_align_candidate c = job.candidate[blockIdx.x];
    uint32_t sum = 0;
    for (int32_t i = (int32_t)threadIdx.x; i < job.samples; i += ALIGN_THREADS) sum += tsr_align_cost(&job, &c, i);
    sum = __reduce_add_sync(TSR_WARP_ALL, sum);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int32_t k = 1; k < ALIGN_THREADS / 32; k++) sum += part[k];
        job.cost[blockIdx.x] = sum;
    }
}

static tsr_status cuda_align(tsr_queue *queue, const tsr_align_job *job)
{
    TSR_LAUNCH(queue, align_kernel, (uint32_t)job->candidates, ALIGN_THREADS, 0, *job);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

extern "C" const tsr_lens_ops tsr_lens_cuda = { cuda_warp, cuda_votes, cuda_align };
