/* video/multiview/multiview_cuda.h: what the kernels of this room share. */
#ifndef TSR_VIDEO_MULTIVIEW_MULTIVIEW_CUDA_H
#define TSR_VIDEO_MULTIVIEW_MULTIVIEW_CUDA_H

#include "device/kernel.h"
#include "video/multiview/multiview_ops.h"

tsr_status tsr_cuda_mvv_prepare(tsr_queue *queue, const tsr_mvv_shape *shape, const tsr_mvv_source *source, int32_t *work[2],
                                const tsr_mvv_coding *coding, tsr_mvv_coding *there);
tsr_status tsr_cuda_mvv_encode(tsr_queue *queue, const tsr_mvv_shape *shape, tsr_mvv_coding *codings, int32_t count, int32_t planes, int32_t *slot);
tsr_status tsr_cuda_mvv_sheets(tsr_queue *queue, const tsr_mvv_adaptive *wavelet, const tsr_mvv_sheet *sheets, int32_t count, const uint32_t *place,
                               const uint32_t *value, int32_t *work[2], const int32_t *base, int32_t grey);
tsr_status tsr_cuda_mvv_sum(tsr_queue *queue, const tsr_mvv_sheet *sheets, int32_t width, int32_t height, int32_t cameras, int32_t steps,
                            int32_t fraction, const int32_t *sheet, const int32_t *average, uint8_t *const plane[3]);
tsr_status tsr_cuda_mvv_averages(tsr_queue *queue, const tsr_multiview_view *textures, int32_t fraction, int32_t *average);
tsr_status tsr_cuda_mvv_add_averages(tsr_queue *queue, const tsr_multiview_view *textures, const uint64_t *masks, const int32_t *average,
                                     int64_t *sum, int32_t *number);
tsr_status tsr_cuda_mvv_mean(tsr_queue *queue, int64_t texels, const int64_t *sum, const int32_t *number, int32_t grey, int32_t *mean);
tsr_status tsr_cuda_mvv_coefficients(tsr_queue *queue, const tsr_mvv_adaptive *wavelet, const tsr_mvv_sheet *sheets, int32_t count,
                                     const tsr_mvv_minuend *minuend, int32_t *work[2]);

/* What comes before this thread in its block, and (all) in total: of whatever fields a word holds, as far as their sums fit. `total`: shared, a word
 * a warp. */
template <uint32_t WARPS> TSR_DEVICE_FN uint64_t tsr_block_before(uint64_t own, uint64_t *total, uint64_t *all)
{
    const uint32_t lane = threadIdx.x & 31u, warp = threadIdx.x / 32u;
    uint64_t sum = own;
    for (int d = 1; d < 32; d <<= 1) {
        const uint64_t other = __shfl_up_sync(TSR_WARP_ALL, sum, d);
        if (lane >= (uint32_t)d) sum += other;
    }
    __syncthreads();
    if (lane == 31) total[warp] = sum;
    __syncthreads();
    uint64_t before = 0, whole = 0;
    for (uint32_t w = 0; w < WARPS; w++) {
        before += w < warp ? total[w] : 0;
        whole += total[w];
    }
    *all = whole;
    return before + sum - own;
}

#endif
