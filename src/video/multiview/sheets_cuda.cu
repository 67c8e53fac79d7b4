/* video/multiview/sheets_cuda.cu: textures of codec DIFF2D, many at once: wavelets of any shape, a level of all sheets at a time. What a kernel moves at
 * least is said with it; n samples of all sheets, 4 / 3 n over all levels. */
#include "video/multiview/multiview_cuda.h"

enum { THREADS = 256 };
/* A block takes a square of a sheet and what its steps reach beyond it: each of at most HALO steps one sample further. */
enum { TILE = 64, HALO = 4, SIDE = TILE + 2 * HALO, HALF = SIDE / 2 };

TSR_KERNEL(place_kernel)
(tsr_mvv_adaptive wavelet, const tsr_mvv_sheet *sheets, const uint32_t *place, const uint32_t *value, int32_t *first, int32_t *second)
{
    const tsr_mvv_sheet s = sheets[blockIdx.x];
    const int64_t texels = (int64_t)wavelet.width * wavelet.height;
    for (int64_t k = (int64_t)blockIdx.y * THREADS + threadIdx.x; k < s.count; k += (int64_t)gridDim.y * THREADS) {
        const uint32_t at = place[s.first + k];
        const int32_t v = tsr_mvv_signed(value[s.first + k]);
        int32_t *const sample = tsr_mvv_work_of(&wavelet, (int32_t)(at % (uint32_t)wavelet.width), (int32_t)(at / (uint32_t)wavelet.width)) ? second : first;
        sample[blockIdx.x * texels + at] = wavelet.lossless ? v : (int32_t)tsr_float_bits((float)v);
    }
}

/* A row of a square: its even samples, then its odd ones, so that the threads of a warp find theirs side by side. */
TSR_DEVICE_FN int32_t square_at(int32_t x, int32_t y) { return y * SIDE + (x & 1) * HALF + x / 2; }

/* The steps of a level along an axis. Samples near the rim become wrong, as many as there are steps: at most HALO. */
TSR_DEVICE_FN void take_steps(const tsr_mvv_stage *l, int32_t axis, int32_t *sample, const uint8_t *inside)
{
    for (int32_t s = 0; s < l->steps && l->extent[axis] > 1; s++) {
        const tsr_mvv_step step = l->step[s];
        for (int32_t k = (int32_t)threadIdx.x; k < SIDE * HALF; k += THREADS) {
            const int32_t i = axis ? 2 * (k / SIDE) + step.parity : 2 * (k % HALF) + step.parity; /* along the axis */
            const int32_t own = axis ? i * SIDE + k % SIDE : square_at(i, k / HALF);
            const int32_t a = axis ? own - SIDE : square_at(i - 1, k / HALF), b = axis ? own + SIDE : square_at(i + 1, k / HALF);
            const int in_a = i > 0 && inside[a], in_b = i + 1 < SIDE && inside[b];
            sample[own] = tsr_mvv_stage_lift(l, &step, sample[own], inside[own], in_a ? sample[a] : 0, in_b ? sample[b] : 0, in_a, in_b);
        }
        __syncthreads();
    }
}

/* A level of all sheets, `tiles` blocks each, `across` of them side by side. Bound: 8 n bytes, read and written, and the masks. */
template <int UNDO>
TSR_KERNEL(__launch_bounds__(THREADS) level_kernel)
(tsr_mvv_stage l, const tsr_mvv_sheet *sheets, const int32_t *from, int32_t *to, uint32_t across, uint32_t tiles)
{
    TSR_SHARED(int32_t, sample, SIDE * SIDE);
    TSR_SHARED(uint8_t, inside, SIDE * SIDE);
    const uint32_t number = blockIdx.x / tiles, tile = blockIdx.x % tiles;
    const int32_t u0 = (int32_t)(tile % across) * TILE, v0 = (int32_t)(tile / across) * TILE;
    const tsr_mvv_sheet sheet = sheets[number];
    const int64_t first = (int64_t)number * l.width * l.height;
    int any = 0;
    from += first;
    to += first;
    for (int32_t k = (int32_t)threadIdx.x; k < SIDE * SIDE; k += THREADS) { /* in the order in which they lie in the sheet */
        const int32_t x = UNDO ? k % HALF * 2 + k % SIDE / HALF : k % SIDE, y = k / SIDE, u = u0 - HALO + x, v = v0 - HALO + y;
        const int in = tsr_mvv_stage_inside(&l, &sheet, u, v);
        int32_t value = 0;
        if (in) value = UNDO ? tsr_mvv_stage_scale(&l, 1, v, from[tsr_mvv_stage_place(&l, u, v)]) : from[(int64_t)v * l.width + u];
        sample[square_at(x, y)] = value;
        inside[square_at(x, y)] = (uint8_t)in;
        any |= in;
    }
    if (__syncthreads_or(any)) { /* else all is 0 and stays so */
        take_steps(&l, UNDO, sample, inside);
        for (int32_t k = (int32_t)threadIdx.x; k < SIDE * SIDE; k += THREADS) sample[k] = tsr_mvv_stage_scale(&l, 0, k % SIDE / HALF, sample[k]);
        __syncthreads();
        take_steps(&l, !UNDO, sample, inside);
    }
    for (int32_t k = (int32_t)threadIdx.x; k < TILE * TILE; k += THREADS) {
        const int32_t x = UNDO ? k % TILE : k % (TILE / 2) * 2 + k % TILE / (TILE / 2), y = k / TILE, u = u0 + x, v = v0 + y;
        const int32_t value = sample[square_at(HALO + x, HALO + y)];
        if (u >= l.extent[0] || v >= l.extent[1]) continue;
        if (UNDO) to[(int64_t)v * l.width + u] = value;
        else to[tsr_mvv_stage_place(&l, u, v)] = tsr_mvv_stage_scale(&l, 1, v, value);
    }
}

/* Bound: 12 n bytes. */
TSR_KERNEL(whole_kernel)(int32_t lossless, const int32_t *base, int32_t grey, int64_t texels, int32_t *sample)
{
    const int64_t at = (int64_t)blockIdx.x * THREADS + threadIdx.x, k = blockIdx.y * texels + at;
    if (at >= texels) return;
    const int32_t below = base ? tsr_mvv_sum(base[blockIdx.y % 3 * texels + at], grey) : grey;
    sample[k] = tsr_mvv_sum(tsr_mvv_whole_sample(sample[k], lossless), below);
}

/* A thread a texel of each sheet; a batch has fewer sheets than a grid along y. */
static dim3 of_sheets(int64_t texels, int64_t sheets) { return dim3(tsr_blocks(texels, THREADS, INT32_MAX), (uint32_t)sheets); }

/* A level of the wavelet, or back; work: samples and coefficients as tsr_mvv_work_of has them. */
static void level(tsr_queue *queue, const tsr_mvv_adaptive *a, const tsr_mvv_sheet *sheets, int32_t count, int32_t number, int32_t undo,
                  int32_t *const work[2])
{
    tsr_mvv_stage l = { a->width,
                        a->height,
                        number,
                        { tsr_mvv_adaptive_extent(a->width, number), tsr_mvv_adaptive_extent(a->height, number) },
                        a->lossless,
                        undo,
                        a->steps,
                        {},
                        undo ? 1.0f / a->scale : a->scale,
                        undo ? a->scale : 1.0f / a->scale };
    for (int32_t k = 0; k < a->steps; k++) {
        l.step[k] = a->step[undo ? a->steps - 1 - k : k];
        if (undo) l.step[k].factor = -l.step[k].factor;
    }
    const uint32_t across = (uint32_t)((l.extent[0] + TILE - 1) / TILE), tiles = across * (uint32_t)((l.extent[1] + TILE - 1) / TILE);
    int32_t *const samples = work[number % 2], *const coefficients = work[number % 2 == 0];
    if (undo) TSR_LAUNCH(queue, level_kernel<1>, (uint32_t)count * tiles, THREADS, 0, l, sheets, coefficients, samples, across, tiles);
    else TSR_LAUNCH(queue, level_kernel<0>, (uint32_t)count * tiles, THREADS, 0, l, sheets, samples, coefficients, across, tiles);
}

tsr_status tsr_cuda_mvv_sheets(tsr_queue *queue, const tsr_mvv_adaptive *wavelet, const tsr_mvv_sheet *sheets, int32_t count, const uint32_t *place,
                               const uint32_t *value, int32_t *work[2], const int32_t *base, int32_t grey)
{
    const int64_t texels = (int64_t)wavelet->width * wavelet->height;
    for (int k = 0; k < 2; k++) TSR_TRY(tsr_queue_fill(queue, work[k], 0, (size_t)(count * texels) * 4));
    TSR_LAUNCH(queue, place_kernel, dim3((uint32_t)count, 4), THREADS, 0, *wavelet, sheets, place, value, work[0], work[1]);
    for (int32_t k = wavelet->levels - 1; k >= 0; k--) level(queue, wavelet, sheets, count, k, 1, work);
    TSR_LAUNCH(queue, whole_kernel, of_sheets(texels, count), THREADS, 0, wavelet->lossless, base, grey, texels, work[0]);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

/* Bound: 4 n read of sheets, 1 n written, averages and masks once. */
TSR_KERNEL(sum_kernel)
(const tsr_mvv_sheet *sheets, int32_t width, int64_t texels, int32_t cameras, int32_t fraction, const int32_t *sheet, const int32_t *average,
 uint8_t *y, uint8_t *cb, uint8_t *cr)
{
    const uint32_t number = blockIdx.y, texture = number / 3, p = number % 3, at = blockIdx.x * THREADS + threadIdx.x;
    if (at >= texels) return;
    const int32_t a = average[(texture / (uint32_t)cameras * 3 + p) * texels + at];
    uint8_t *const plane = p == 0 ? y : p == 1 ? cb : cr;
    plane[texture * texels + at] = tsr_mvv_relevant(sheets + number, width, at % (uint32_t)width, at / (uint32_t)width)
                                       ? tsr_mvv_summed_texel(sheet[number * texels + at], a, fraction)
                                       : (uint8_t)0;
}

tsr_status tsr_cuda_mvv_sum(tsr_queue *queue, const tsr_mvv_sheet *sheets, int32_t width, int32_t height, int32_t cameras, int32_t steps,
                            int32_t fraction, const int32_t *sheet, const int32_t *average, uint8_t *const plane[3])
{
    const int64_t texels = (int64_t)width * height;
    TSR_LAUNCH(queue, sum_kernel, of_sheets(texels, (int64_t)3 * cameras * steps), THREADS, 0, sheets, width, texels, cameras, fraction, sheet,
               average, plane[0], plane[1], plane[2]);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

/* ---- encoding --------------------------------------------------------------------------------------------------------------------------------- */

/* Sees a camera this texel? A mask of all textures, rows of whole words. */
TSR_DEVICE_FN int is_seen(const uint64_t *masks, int64_t texture, int32_t width, int32_t height, int64_t at)
{
    const int64_t words = ((int64_t)width + 63) / 64;
    const tsr_mvv_sheet s = { masks ? masks + texture * words * height : NULL, 0, 0 };
    return tsr_mvv_relevant(&s, width, at % width, at / width);
}

/* A texel of a step. Bound: 3 n and masks read, 12 written for each texel of a step. */
TSR_KERNEL(average_kernel)(tsr_multiview_view v, int32_t fraction, int32_t *average, int64_t count)
{
    const int64_t k = (int64_t)blockIdx.x * THREADS + threadIdx.x, texels = (int64_t)v.width * v.height, step = k / texels, at = k % texels;
    int32_t sum[3] = { 0, 0, 0 }, n = 0;
    if (k >= count) return;
    for (int32_t c = 0; c < v.cameras; c++) {
        const int64_t texture = step * v.cameras + c;
        if (!is_seen(v.visible, texture, v.width, v.height, at)) continue;
        n++;
        for (int p = 0; p < 3; p++) sum[p] += v.plane[p][texture * texels + at];
    }
    for (int p = 0; p < 3; p++) average[(step * 3 + p) * texels + at] = tsr_mvv_mean_texel(sum[p], n, fraction);
}

/* A texel of all steps. Bound: 12 read for each texel of a step. */
TSR_KERNEL(add_kernel)(tsr_multiview_view v, const uint64_t *masks, const int32_t *average, int64_t *sum, int32_t *number)
{
    const int64_t at = (int64_t)blockIdx.x * THREADS + threadIdx.x, texels = (int64_t)v.width * v.height;
    if (at >= texels) return;
    for (int32_t step = 0; step < v.steps; step++) {
        if (!is_seen(masks, step, v.width, v.height, at)) continue;
        number[at]++;
        for (int p = 0; p < 3; p++) sum[p * texels + at] += average[((int64_t)step * 3 + p) * texels + at];
    }
}

TSR_KERNEL(mean_of_all_kernel)(int64_t texels, const int64_t *sum, const int32_t *number, int32_t grey, int32_t *mean)
{
    const int64_t k = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (k < 3 * texels) mean[k] = tsr_mvv_mean_sample(sum[k], number[k % texels], grey);
}

/* Bound: 1 n and masks read of textures, averages once, 4 n written. */
TSR_KERNEL(difference_kernel)
(tsr_mvv_minuend minuend, const tsr_mvv_sheet *sheets, int32_t width, int64_t texels, int32_t lossless, int32_t *sample)
{
    const uint32_t sheet = blockIdx.y, at = blockIdx.x * THREADS + threadIdx.x;
    if (at >= texels) return;
    const int in = tsr_mvv_relevant(sheets + sheet, width, at % (uint32_t)width, at / (uint32_t)width);
    const int32_t v = in ? tsr_mvv_difference_of(&minuend, sheet, texels, at) : 0;
    sample[sheet * texels + at] = lossless ? v : (int32_t)tsr_float_bits((float)v);
}

/* Coefficients from where their levels left them. Bound: 8 n. */
TSR_KERNEL(gather_kernel)(tsr_mvv_adaptive wavelet, int32_t *first, const int32_t *second)
{
    const int64_t texels = (int64_t)wavelet.width * wavelet.height;
    const uint32_t at = blockIdx.x * THREADS + threadIdx.x;
    if (at >= texels) return;
    const int there = tsr_mvv_work_of(&wavelet, (int32_t)(at % (uint32_t)wavelet.width), (int32_t)(at / (uint32_t)wavelet.width));
    const int32_t x = (there ? second : first)[blockIdx.y * texels + at];
    first[blockIdx.y * texels + at] = wavelet.lossless ? x : tsr_mvv_round(tsr_mvv_as_float(x));
}

tsr_status tsr_cuda_mvv_averages(tsr_queue *queue, const tsr_multiview_view *textures, int32_t fraction, int32_t *average)
{
    const int64_t count = (int64_t)textures->width * textures->height * textures->steps;
    TSR_LAUNCH(queue, average_kernel, tsr_blocks(count, THREADS, INT32_MAX), THREADS, 0, *textures, fraction, average, count);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

tsr_status tsr_cuda_mvv_add_averages(tsr_queue *queue, const tsr_multiview_view *textures, const uint64_t *masks, const int32_t *average,
                                     int64_t *sum, int32_t *number)
{
    const int64_t texels = (int64_t)textures->width * textures->height;
    TSR_LAUNCH(queue, add_kernel, tsr_blocks(texels, THREADS, INT32_MAX), THREADS, 0, *textures, masks, average, sum, number);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

tsr_status tsr_cuda_mvv_mean(tsr_queue *queue, int64_t texels, const int64_t *sum, const int32_t *number, int32_t grey, int32_t *mean)
{
    TSR_LAUNCH(queue, mean_of_all_kernel, tsr_blocks(3 * texels, THREADS, INT32_MAX), THREADS, 0, texels, sum, number, grey, mean);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

tsr_status tsr_cuda_mvv_coefficients(tsr_queue *queue, const tsr_mvv_adaptive *wavelet, const tsr_mvv_sheet *sheets, int32_t count,
                                     const tsr_mvv_minuend *minuend, int32_t *work[2])
{
    const int64_t texels = (int64_t)wavelet->width * wavelet->height;
    TSR_LAUNCH(queue, difference_kernel, of_sheets(texels, count), THREADS, 0, *minuend, sheets, wavelet->width, texels, wavelet->lossless, work[0]);
    for (int32_t k = 0; k < wavelet->levels; k++) level(queue, wavelet, sheets, count, k, 0, work);
    TSR_LAUNCH(queue, gather_kernel, of_sheets(texels, count), THREADS, 0, *wavelet, work[0], work[1]);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}
