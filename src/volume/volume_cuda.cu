/* volume/volume_cuda.cu: dense volume operations that run through the voxels one after another. */
#include "volume/volume_cuda.h"

/* Four voxels per thread and turn, each a whole row of threads apart: coalesced, and four loads are in flight at once. */
enum { THREADS = 256, UNROLL = 4 };

template <tsr_dtype T> TSR_KERNEL(convert_kernel)(tsr_source from, void *to, tsr_dtype to_type, int64_t count)
{
    int64_t step = (int64_t)gridDim.x * (THREADS * UNROLL);
    for (int64_t i = (int64_t)blockIdx.x * (THREADS * UNROLL) + threadIdx.x; i < count; i += step) {
        double v[UNROLL] = { 0.0 };
#pragma unroll
        for (int k = 0; k < UNROLL; k++)
            if (i + k * THREADS < count) v[k] = tsr_source_real<T>(from, i + k * THREADS);
#pragma unroll
        for (int k = 0; k < UNROLL; k++)
            if (i + k * THREADS < count) tsr_voxel_store(to, to_type, i + k * THREADS, v[k]);
    }
}

static tsr_status cuda_convert(tsr_queue *queue, const tsr_source *from, void *to, tsr_dtype to_type, int64_t count)
{
    TSR_FOR_DTYPE(from->dtype,
                  TSR_LAUNCH(queue, convert_kernel<T>, tsr_stream_blocks(queue, tsr_ceil_div(count, UNROLL)), THREADS, 0, *from, to, to_type, count))
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

template <tsr_dtype T> TSR_KERNEL(threshold_kernel)(tsr_source from, int64_t count, double lower, double upper, uint8_t *mask)
{
    int64_t step = (int64_t)gridDim.x * (THREADS * UNROLL);
    for (int64_t i = (int64_t)blockIdx.x * (THREADS * UNROLL) + threadIdx.x; i < count; i += step) {
        uint8_t v[UNROLL] = { 0 };
#pragma unroll
        for (int k = 0; k < UNROLL; k++)
            if (i + k * THREADS < count) v[k] = tsr_in_interval(tsr_source_real<T>(from, i + k * THREADS), lower, upper);
#pragma unroll
        for (int k = 0; k < UNROLL; k++)
            if (i + k * THREADS < count) mask[i + k * THREADS] = v[k];
    }
}

static tsr_status cuda_threshold(tsr_queue *queue, const tsr_source *from, int64_t count, double lower, double upper, uint8_t *mask)
{
    TSR_FOR_DTYPE(from->dtype, TSR_LAUNCH(queue, threshold_kernel<T>, tsr_stream_blocks(queue, tsr_ceil_div(count, UNROLL)), THREADS, 0, *from, count,
                                          lower, upper, mask))
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

template <tsr_dtype T> TSR_KERNEL(select_kernel)(const void *data, int64_t count, int64_t lower, int64_t upper, int outside, uint8_t *mask)
{
    int64_t step = (int64_t)gridDim.x * THREADS;
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < count; i += step)
        mask[i] = (uint8_t)tsr_voxel_selected(data, T, i, lower, upper, outside);
}

static tsr_status cuda_select(tsr_queue *queue, const void *data, tsr_dtype dtype, int64_t count, int64_t lower, int64_t upper, int outside, uint8_t *mask)
{
    TSR_FOR_DTYPE(dtype, TSR_LAUNCH(queue, select_kernel<T>, tsr_stream_blocks(queue, count), THREADS, 0, data, count, lower, upper, outside, mask))
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

TSR_KERNEL(combine_kernel)(tsr_combination combination, double a, tsr_source first, double b, tsr_source second, double c, float *to, int64_t count)
{
    int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
        double p = tsr_voxel_real(tsr_voxel_load(first.data, first.dtype, i), first.slope, first.intercept);
        double q = second.data ? tsr_voxel_real(tsr_voxel_load(second.data, second.dtype, i), second.slope, second.intercept) : 0.0;
        to[i] = tsr_combine_value(combination, a, p, b, q, c);
    }
}

static tsr_status cuda_combine(tsr_queue *queue, tsr_combination combination, double a, const tsr_source *first, double b, const tsr_source *second,
                               double c, float *to, int64_t count)
{
    tsr_source none = { 0, TSR_U8, 1, 0 };
    TSR_LAUNCH(queue, combine_kernel, tsr_stream_blocks(queue, count), THREADS, 0, combination, a, *first, b, second ? *second : none, c, to, count);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

/* ---- statistics: one block of threads per block of voxels; the 32 voxels of a lane stay in registers for the second pass ------------------ */

template <tsr_dtype T> TSR_KERNEL(statistics_kernel)(tsr_source from, int64_t count, tsr_block_statistics *blocks)
{
    TSR_SHARED(double, sum, TSR_STATISTICS_LANES);
    TSR_SHARED(double, lower, TSR_STATISTICS_LANES);
    TSR_SHARED(double, upper, TSR_STATISTICS_LANES);
    TSR_SHARED(unsigned long long, first_bad, 1);
    TSR_SHARED(uint32_t, bad, 2);
    uint32_t lane = threadIdx.x;
    int64_t first = (int64_t)blockIdx.x * TSR_STATISTICS_BLOCK;
    double v[TSR_STATISTICS_ROWS] = { 0.0 }, s = 0.0, low = TSR_LARGEST, high = -TSR_LARGEST;
    if (lane == 0) {
        first_bad[0] = TSR_NO_INDEX;
        bad[0] = bad[1] = 0;
    }
    __syncthreads();
#pragma unroll
    for (int row = 0; row < TSR_STATISTICS_ROWS; row++) {
        int64_t i = first + row * TSR_STATISTICS_LANES + lane;
        if (i >= count) continue;
        v[row] = tsr_source_real<T>(from, i);
        if (tsr_is_finite(v[row])) {
            s = tsr_lane_add(s, v[row]);
            low = tsr_lane_minimum(low, v[row]);
            high = tsr_lane_maximum(high, v[row]);
        } else {
            atomicMin(&first_bad[0], (unsigned long long)i);
            atomicAdd(&bad[v[row] == v[row]], 1u);
        }
    }
    sum[lane] = s;
    lower[lane] = low;
    upper[lane] = high;
    __syncthreads();
    for (uint32_t half = TSR_STATISTICS_LANES / 2; half > 0; half /= 2) {
        if (lane < half) {
            sum[lane] = tsr_lane_add(sum[lane], sum[lane + half]);
            lower[lane] = tsr_lane_minimum(lower[lane], lower[lane + half]);
            upper[lane] = tsr_lane_maximum(upper[lane], upper[lane + half]);
        }
        __syncthreads();
    }
    int64_t n = tsr_minl(TSR_STATISTICS_BLOCK, count - first) - bad[0] - bad[1];
    double mean = n ? sum[0] / (double)n : 0.0;
    __syncthreads();
    s = 0.0;
#pragma unroll
    for (int row = 0; row < TSR_STATISTICS_ROWS; row++)
        if (first + row * TSR_STATISTICS_LANES + lane < count && tsr_is_finite(v[row])) s = tsr_lane_square(s, v[row], mean);
    sum[lane] = s;
    __syncthreads();
    for (uint32_t half = TSR_STATISTICS_LANES / 2; half > 0; half /= 2) {
        if (lane < half) sum[lane] = tsr_lane_add(sum[lane], sum[lane + half]);
        __syncthreads();
    }
    if (lane == 0) {
        tsr_block_statistics b = { mean, n ? sum[0] : 0.0, n ? lower[0] : 0.0, n ? upper[0] : 0.0, n, bad[0], bad[1], (int64_t)first_bad[0] };
        blocks[blockIdx.x] = b;
    }
}

static tsr_status cuda_statistics(tsr_queue *queue, const tsr_source *from, int64_t count, tsr_block_statistics *blocks)
{
    uint32_t grid = (uint32_t)tsr_ceil_div(count, TSR_STATISTICS_BLOCK);
    TSR_FOR_DTYPE(from->dtype, TSR_LAUNCH(queue, statistics_kernel<T>, grid, TSR_STATISTICS_LANES, 0, *from, count, blocks))
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

TSR_KERNEL(nonfinite_kernel)(const void *data, tsr_dtype dtype, int64_t count, uint32_t *bad)
{
    int64_t step = (int64_t)gridDim.x * blockDim.x;
    uint64_t found = 0;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step)
        found |= dtype == TSR_F32 ? (uint64_t)tsr_nonfinite_float(((const uint32_t *)data)[i]) : tsr_nonfinite_double(((const uint64_t *)data)[i]);
    if (found) atomicOr(bad, 1u);
}

static tsr_status cuda_find_nonfinite(tsr_queue *queue, const void *data, tsr_dtype dtype, int64_t count, uint32_t *bad)
{
    TSR_LAUNCH(queue, nonfinite_kernel, tsr_stream_blocks(queue, count), THREADS, 0, data, dtype, count, bad);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

/* ---- histogram: per block in shared memory while it fits, then one atomic per used bin ---------------------------------------------------- */

enum { SHARED_BINS = 8192 };

template <tsr_dtype T>
TSR_KERNEL(histogram_kernel)
(tsr_source from, int64_t count, tsr_histogram_plan plan, int32_t shared_bins, unsigned long long *counts)
{
    TSR_SHARED_DYNAMIC(uint32_t, local);
    for (int32_t i = (int32_t)threadIdx.x; i < shared_bins; i += (int32_t)blockDim.x) local[i] = 0;
    __syncthreads();
    int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
        int32_t bin = tsr_histogram_bin(&plan, tsr_source_real<T>(from, i));
        if (shared_bins) atomicAdd(&local[bin], 1u);
        else atomicAdd(&counts[bin], 1ull);
    }
    __syncthreads();
    for (int32_t i = (int32_t)threadIdx.x; i < shared_bins; i += (int32_t)blockDim.x)
        if (local[i]) atomicAdd(&counts[i], (unsigned long long)local[i]);
}

static tsr_status cuda_histogram(tsr_queue *queue, const tsr_source *from, int64_t count, const tsr_histogram_plan *plan, uint64_t *counts)
{
    int32_t shared_bins = plan->bins + 3 <= SHARED_BINS ? plan->bins + 3 : 0;
    TSR_FOR_DTYPE(from->dtype, TSR_LAUNCH(queue, histogram_kernel<T>, tsr_blocks(count, THREADS, 8 * (int64_t)tsr_queue_processors(queue)), THREADS,
                                          (size_t)shared_bins * sizeof(uint32_t), *from, count, *plan, shared_bins, (unsigned long long *)counts))
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

/* ---- maps in the caller's own C ------------------------------------------------------------------------------------------------------------ */

#ifdef TSR_EMU
TSR_KERNEL(map_kernel)(void (*thread)(const tsr_map_job *, int64_t, int64_t, int64_t), tsr_map_job job, int64_t count)
{
    thread(&job, (int64_t)blockIdx.x * blockDim.x + threadIdx.x, (int64_t)gridDim.x * blockDim.x, count);
}
#endif

static tsr_status cuda_map(tsr_queue *queue, const tsr_map_module *module, const tsr_map_job *job)
{
    const int64_t count = job->size[0] * job->size[1] * job->size[2];
    const uint32_t blocks = tsr_blocks(count, 256, 32 * (int64_t)tsr_queue_processors(queue));
#ifdef TSR_EMU
    TSR_LAUNCH(queue, map_kernel, blocks, 256, 0, module->thread, *job, count);
    TSR_TRY(tsr_launch_check(queue));
#else
    const cudaError_t error = (cudaError_t)module->launch(tsr_cuda_stream(queue), job, blocks);
    if (error != cudaSuccess) TSR_FAIL(TSR_ERROR_DEVICE, "map: its kernel was not launched: %s", cudaGetErrorString(error));
#endif
    return TSR_OK;
}

static tsr_volume_ops make_ops(void)
{
    tsr_volume_ops ops = {};
    ops.convert = cuda_convert;
    ops.rearrange = tsr_cuda_rearrange;
    ops.resample = tsr_cuda_resample;
    ops.smooth = tsr_cuda_smooth;
    ops.smooth_needs_scratch = 1;
    ops.laplacian = tsr_cuda_laplacian;
    ops.statistics = cuda_statistics;
    ops.find_nonfinite = cuda_find_nonfinite;
    ops.histogram = cuda_histogram;
    ops.threshold = cuda_threshold;
    ops.select = cuda_select;
    ops.combine = cuda_combine;
    ops.components = tsr_cuda_components;
    ops.components_work = tsr_cuda_components_work;
    ops.label_sizes = tsr_cuda_label_sizes;
    ops.select_labels = tsr_cuda_select_labels;
    ops.map = cuda_map;
    return ops;
}

extern "C" const tsr_volume_ops tsr_volume_cuda = make_ops();
