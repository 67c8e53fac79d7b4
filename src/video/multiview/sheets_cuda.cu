/* video/multiview/sheets_cuda.cu: textures of codec DIFF2D, many at once: wavelets of any shape step by step, each step all sheets. What a kernel
 * moves at least is said with it; n samples of all sheets, 4 / 3 n over all levels. */
#include "video/multiview/multiview_cuda.h"

enum { THREADS = 256 };

TSR_KERNEL(place_kernel)(const tsr_mvv_sheet *sheets, const uint32_t *place, const uint32_t *value, int64_t texels, int32_t lossless, int32_t *sample)
{
    const tsr_mvv_sheet s = sheets[blockIdx.x];
    for (int64_t k = (int64_t)blockIdx.y * THREADS + threadIdx.x; k < s.count; k += (int64_t)gridDim.y * THREADS) {
        const int32_t v = tsr_mvv_signed(value[s.first + k]);
        sample[blockIdx.x * texels + place[s.first + k]] = lossless ? v : (int32_t)tsr_float_bits((float)v);
    }
}

/* Bound: 8 n bytes, read and written. */
TSR_KERNEL(sort_kernel)(tsr_mvv_stage stage, const int32_t *from, int32_t *to, int64_t count)
{
    const int64_t k = (int64_t)blockIdx.x * THREADS + threadIdx.x, each = (int64_t)stage.extent[0] * stage.extent[1];
    const int64_t sheet = k / each * ((int64_t)stage.width * stage.height), at = k % each;
    if (k < count) tsr_mvv_stage_sort(&stage, from + sheet, to + sheet, (int32_t)(at % stage.extent[0]), (int32_t)(at / stage.extent[0]));
}

/* Samples of one parity along the axis: `some` of them in a line. Bound: 6 n bytes and the masks: all are read, half of them written. */
TSR_KERNEL(lift_kernel)(tsr_mvv_stage stage, tsr_mvv_step step, const tsr_mvv_sheet *sheets, int32_t *sample, int32_t some, int64_t count)
{
    const int64_t k = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    const int32_t w = stage.axis ? stage.extent[0] : some, h = stage.axis ? some : stage.extent[1];
    const int64_t each = (int64_t)w * h, sheet = k / each, at = k % each;
    if (k >= count) return;
    const int32_t u = (int32_t)(at % w), v = (int32_t)(at / w);
    tsr_mvv_stage_lift(&stage, &step, sheets + sheet, sample + sheet * ((int64_t)stage.width * stage.height), stage.axis ? u : 2 * u + step.parity,
                       stage.axis ? 2 * v + step.parity : v);
}

/* Bound: 12 n bytes. */
TSR_KERNEL(whole_kernel)(int32_t lossless, const int32_t *base, int32_t grey, int64_t texels, int32_t *sample, int64_t count)
{
    const int64_t k = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (k >= count) return;
    const int32_t below = base ? tsr_mvv_sum(base[k % (3 * texels)], grey) : grey;
    sample[k] = tsr_mvv_sum(tsr_mvv_whole_sample(sample[k], lossless), below);
}

static void lift(tsr_queue *queue, const tsr_mvv_adaptive *a, const tsr_mvv_stage *stage, const tsr_mvv_sheet *sheets, int32_t count, int32_t *sample)
{
    const int32_t n = stage->extent[stage->axis], lines = stage->extent[!stage->axis];
    for (int32_t k = 0; k < a->steps && n > 1; k++) {
        tsr_mvv_step step = a->step[stage->undo ? a->steps - 1 - k : k];
        const int32_t some = (n + !step.parity) / 2;
        const int64_t all = (int64_t)count * some * lines;
        if (stage->undo) step.factor = -step.factor;
        TSR_LAUNCH(queue, lift_kernel, tsr_blocks(all, THREADS, INT32_MAX), THREADS, 0, *stage, step, sheets, sample, some, all);
    }
}

static void sort(tsr_queue *queue, const tsr_mvv_stage *stage, int32_t count, const int32_t *from, int32_t *to)
{
    const int64_t all = (int64_t)count * stage->extent[0] * stage->extent[1];
    TSR_LAUNCH(queue, sort_kernel, tsr_blocks(all, THREADS, INT32_MAX), THREADS, 0, *stage, from, to, all);
}

/* A level of an axis; `from` and `to` are two. */
static void stage(tsr_queue *queue, const tsr_mvv_adaptive *a, const tsr_mvv_sheet *sheets, int32_t count, int32_t axis, int32_t level, int32_t undo,
                  int32_t *from, int32_t *to)
{
    const tsr_mvv_stage s = { a->width,
                              a->height,
                              axis,
                              level,
                              { tsr_mvv_adaptive_extent(a->width, level), tsr_mvv_adaptive_extent(a->height, level) },
                              a->lossless,
                              undo,
                              undo ? 1.0f / a->scale : a->scale,
                              undo ? a->scale : 1.0f / a->scale };
    if (!undo) lift(queue, a, &s, sheets, count, from);
    sort(queue, &s, count, from, to);
    if (undo) lift(queue, a, &s, sheets, count, to);
}

tsr_status tsr_cuda_mvv_sheets(tsr_queue *queue, const tsr_mvv_adaptive *wavelet, const tsr_mvv_sheet *sheets, int32_t count, const uint32_t *place,
                               const uint32_t *value, int32_t *work[2], const int32_t *base, int32_t grey)
{
    const int64_t texels = (int64_t)wavelet->width * wavelet->height, all = count * texels;
    TSR_TRY(tsr_queue_fill(queue, work[0], 0, (size_t)all * 4));
    TSR_LAUNCH(queue, place_kernel, dim3((uint32_t)count, 4), THREADS, 0, sheets, place, value, texels, wavelet->lossless, work[0]);
    for (int32_t level = wavelet->levels - 1; level >= 0; level--) { /* what is coarser lies in the corner, what is finer waits around it */
        stage(queue, wavelet, sheets, count, 1, level, 1, work[0], work[1]);
        stage(queue, wavelet, sheets, count, 0, level, 1, work[1], work[0]);
    }
    TSR_LAUNCH(queue, whole_kernel, tsr_blocks(all, THREADS, INT32_MAX), THREADS, 0, wavelet->lossless, base, grey, texels, work[0], all);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

/* Bound: 4 n read of sheets, 1 n written, averages and masks once. */
TSR_KERNEL(sum_kernel)
(const tsr_mvv_sheet *sheets, int32_t width, int64_t texels, int32_t cameras, int32_t fraction, const int32_t *sheet, const int32_t *average,
 uint8_t *y, uint8_t *cb, uint8_t *cr, int64_t count)
{
    const int64_t k = (int64_t)blockIdx.x * THREADS + threadIdx.x, number = k / texels, at = k % texels, texture = number / 3, p = number % 3;
    if (k >= count) return;
    const int32_t a = average[(texture / cameras * 3 + p) * texels + at];
    uint8_t *const plane = p == 0 ? y : p == 1 ? cb : cr;
    plane[texture * texels + at] =
        tsr_mvv_relevant(sheets + number, width, at % width, at / width) ? tsr_mvv_summed_texel(sheet[k], a, fraction) : (uint8_t)0;
}

tsr_status tsr_cuda_mvv_sum(tsr_queue *queue, const tsr_mvv_sheet *sheets, int32_t width, int32_t height, int32_t cameras, int32_t steps,
                            int32_t fraction, const int32_t *sheet, const int32_t *average, uint8_t *const plane[3])
{
    const int64_t texels = (int64_t)width * height, count = texels * cameras * steps * 3;
    TSR_LAUNCH(queue, sum_kernel, tsr_blocks(count, THREADS, INT32_MAX), THREADS, 0, sheets, width, texels, cameras, fraction, sheet, average,
               plane[0], plane[1], plane[2], count);
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
(tsr_mvv_minuend minuend, const tsr_mvv_sheet *sheets, int32_t width, int64_t texels, int32_t lossless, int32_t *sample, int64_t count)
{
    const int64_t k = (int64_t)blockIdx.x * THREADS + threadIdx.x, sheet = k / texels, at = k % texels;
    if (k >= count) return;
    const int in = tsr_mvv_relevant(sheets + sheet, width, at % width, at / width);
    const int32_t v = in ? tsr_mvv_difference_of(&minuend, sheet, texels, at) : 0;
    sample[k] = lossless ? v : (int32_t)tsr_float_bits((float)v);
}

/* Bound: 8 n. */
TSR_KERNEL(round_kernel)(int32_t *sample, int64_t count)
{
    const int64_t k = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (k < count) sample[k] = tsr_mvv_round(tsr_mvv_as_float(sample[k]));
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
    const int64_t texels = (int64_t)wavelet->width * wavelet->height, all = count * texels;
    const uint32_t blocks = tsr_blocks(all, THREADS, INT32_MAX);
    TSR_LAUNCH(queue, difference_kernel, blocks, THREADS, 0, *minuend, sheets, wavelet->width, texels, wavelet->lossless, work[0], all);
    for (int32_t level = 0; level < wavelet->levels; level++) {
        stage(queue, wavelet, sheets, count, 0, level, 0, work[0], work[1]);
        stage(queue, wavelet, sheets, count, 1, level, 0, work[1], work[0]);
    }
    if (!wavelet->lossless) TSR_LAUNCH(queue, round_kernel, blocks, THREADS, 0, work[0], all);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}
