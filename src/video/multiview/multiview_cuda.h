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

/* ---- steps of streams: several blocks a stream, each with its part of a list ----------------------------------------------------------------- */

#ifdef TSR_EMU
enum { TSR_MVV_THREADS = 64, TSR_MVV_MOST_PARTS = 2 }; /* the emulator runs them one after another */
#else
enum { TSR_MVV_THREADS = 256, TSR_MVV_MOST_PARTS = TSR_MVV_PARTS };
#endif
enum { TSR_MVV_WARPS = TSR_MVV_THREADS / 32 };

static inline uint32_t tsr_mvv_parts(const tsr_queue *queue, int32_t streams)
{
    return (uint32_t)tsr_maxl(1, tsr_minl(TSR_MVV_MOST_PARTS, 8 * (int64_t)tsr_queue_processors(queue) / streams));
}
/* Of a plane: sets of kind A and of kind B for each level with children, but the last has no B. */
static inline int32_t tsr_mvv_generations(const tsr_mvv_shape *shape) { return tsr_maxi(0, 2 * shape->levels - 1); }

/* What a block works on: whole tiles of a list, of plane number k. */
typedef struct tsr_mvv_part {
    tsr_mvv_progress before;
    int32_t plane;
    uint32_t number;
    const uint32_t *list;
    int64_t begin, end, from, to;
} tsr_mvv_part;

TSR_DEVICE_FN tsr_mvv_part tsr_mvv_part_of(const tsr_mvv_lists *l, uint32_t parts, int32_t k, int32_t slot, int sets)
{
    tsr_mvv_part p;
    p.number = blockIdx.x % parts;
    p.before = l->state[slot];
    p.plane = l->planes - 1 - k;
    p.list = sets ? l->set[k & 1] : l->pixel[k & 1];
    p.begin = sets ? p.before.begin : 0;
    p.end = sets ? p.before.sets : p.before.pixels;
    const int64_t tiles = (p.end - p.begin + TSR_MVV_THREADS - 1) / TSR_MVV_THREADS, each = (tiles + parts - 1) / parts * TSR_MVV_THREADS;
    p.from = tsr_minl(p.end, p.begin + p.number * each);
    p.to = tsr_minl(p.end, p.from + each);
    return p;
}

/* Totals [first, last) of the parts before one, and of all; a warp each. */
TSR_DEVICE_FN void tsr_mvv_sum_parts(const tsr_mvv_lists *l, uint32_t number, uint32_t parts, uint32_t first, uint32_t last, int64_t *before,
                                     int64_t *all)
{
    const uint32_t lane = threadIdx.x & 31u;
    for (uint32_t f = first + threadIdx.x / 32u; f < last; f += TSR_MVV_WARPS) {
        int64_t own = 0, sum = 0;
        for (uint32_t k = lane; k < parts; k += 32) {
            const int64_t v = l->total[k][f];
            sum += v;
            own += k < number ? v : 0;
        }
        for (int d = 16; d > 0; d /= 2) {
            sum += __shfl_xor_sync(TSR_WARP_ALL, sum, d);
            own += __shfl_xor_sync(TSR_WARP_ALL, own, d);
        }
        if (lane == 0) {
            before[f] = own;
            all[f] = sum;
        }
    }
    __syncthreads();
}

#endif
