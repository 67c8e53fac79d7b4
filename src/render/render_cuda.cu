/* Kernels of the renderer: one thread per pixel, a block is a tile of 16 x 8 pixels, a warp one of 8 x 4, so that the rays of a
 * warp stay together. */
#include "device/kernel.h"
#include "render/render_ops.h"
#include "render/write.h"

#ifdef TSR_EMU
#define __grid_constant__
#endif

enum { PIXEL_THREADS = 128, TILE_WIDTH = 16, TILE_HEIGHT = 8 };

struct extents { int32_t n[3]; };

/* One warp per brick. */
TSR_KERNEL(ranges_kernel)(const float *values, extents size, extents bricks, float *range, unsigned long long *nan_count)
{
    int64_t brick = (int64_t)blockIdx.x * 8 + threadIdx.x / 32, count = (int64_t)bricks.n[0] * bricks.n[1] * bricks.n[2];
    int32_t lane = (int32_t)threadIdx.x % 32;
    if (brick >= count) return;
    tsr_range r = tsr_range_empty();
    uint32_t nan = 0;
    for (int32_t i = lane; i < TSR_BRICK_SAMPLES; i += 32) r = tsr_range_sample(values, size.n, bricks.n, brick, i, r, &nan);
    for (int32_t d = 16; d > 0; d >>= 1) {
        r.low = tsr_minf(r.low, __shfl_xor_sync(TSR_WARP_ALL, r.low, d));
        r.high = tsr_maxf(r.high, __shfl_xor_sync(TSR_WARP_ALL, r.high, d));
    }
    nan = __reduce_add_sync(TSR_WARP_ALL, nan);
    if (lane == 0) {
        range[2 * brick] = r.low;
        range[2 * brick + 1] = r.high;
        if (nan) atomicAdd(nan_count, (unsigned long long)nan); /* a sum of integers: order does not matter */
    }
}

static tsr_status cuda_ranges(tsr_queue *queue, const float *values, const int32_t size[3], const int32_t bricks[3], float *range,
                              uint64_t *nan_count)
{
    extents s = { { size[0], size[1], size[2] } }, b = { { bricks[0], bricks[1], bricks[2] } };
    int64_t count = (int64_t)bricks[0] * bricks[1] * bricks[2];
    TSR_LAUNCH(queue, ranges_kernel, (uint32_t)((count + 7) / 8), 256, 0, values, s, b, range, (unsigned long long *)nan_count);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

TSR_KERNEL(visible_kernel)(const float *range, int64_t count, const __grid_constant__ tsr_brick_test test, uint8_t *visible)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) visible[i] = tsr_brick_visible(&test, range[2 * i], range[2 * i + 1]);
}
TSR_KERNEL(distance_kernel)(const uint8_t *in, extents bricks, int32_t pass, int64_t count, uint8_t *out)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = tsr_brick_distance(in, bricks.n, pass, i);
}

static void launch_distance(tsr_queue *queue, extents bricks, int64_t count, uint8_t *visible, uint8_t *skip)
{
    uint32_t blocks = (uint32_t)((count + 255) / 256);
    TSR_LAUNCH(queue, distance_kernel, blocks, 256, 0, visible, bricks, 0, count, skip);
    TSR_LAUNCH(queue, distance_kernel, blocks, 256, 0, skip, bricks, 1, count, visible);
    TSR_LAUNCH(queue, distance_kernel, blocks, 256, 0, visible, bricks, 2, count, skip);
}

static tsr_status cuda_skips(tsr_queue *queue, const float *range, const int32_t bricks[3], const tsr_brick_test *test, uint8_t *skip,
                             uint8_t *scratch)
{
    extents b = { { bricks[0], bricks[1], bricks[2] } };
    int64_t count = (int64_t)bricks[0] * bricks[1] * bricks[2];
    TSR_LAUNCH(queue, visible_kernel, (uint32_t)((count + 255) / 256), 256, 0, range, count, *test, scratch);
    launch_distance(queue, b, count, scratch, skip);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

TSR_KERNEL(table_kernel)
(const __grid_constant__ tsr_tile_pool pool, const __grid_constant__ tsr_tile_state state, extents origin, extents bricks, int64_t count,
 uint32_t *table)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) table[i] = tsr_brick_tile(&pool, &state, origin.n, bricks.n, i);
}
TSR_KERNEL(stored_kernel)(const uint32_t *table, extents bricks, int64_t count, uint8_t *visible)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) visible[i] = tsr_brick_stored(table, bricks.n, i);
}

static tsr_status cuda_tile_table(tsr_queue *queue, const tsr_tile_pool *pool, const tsr_tile_state *state, const int32_t origin[3],
                                  const int32_t bricks[3], uint32_t *table, uint8_t *skip, uint8_t *scratch)
{
    extents b = { { bricks[0], bricks[1], bricks[2] } }, o = { { origin[0], origin[1], origin[2] } };
    int64_t count = (int64_t)bricks[0] * bricks[1] * bricks[2];
    uint32_t blocks = (uint32_t)((count + 255) / 256);
    TSR_LAUNCH(queue, table_kernel, blocks, 256, 0, *pool, *state, o, b, count, table);
    TSR_LAUNCH(queue, stored_kernel, blocks, 256, 0, table, b, count, scratch);
    launch_distance(queue, b, count, scratch, skip);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

/* Pixel of this thread. */
TSR_DEVICE_FN int32_t pixel_x(void) { return (int32_t)(blockIdx.x * TILE_WIDTH + (threadIdx.x >> 5 & 1) * 8 + (threadIdx.x & 7)); }
TSR_DEVICE_FN int32_t pixel_y(void) { return (int32_t)(blockIdx.y * TILE_HEIGHT + (threadIdx.x >> 6) * 4 + (threadIdx.x >> 3 & 3)); }

template <int FULL> static __global__ void __launch_bounds__(PIXEL_THREADS)
draw_kernel(const __grid_constant__ tsr_frame frame, const __grid_constant__ tsr_transfer_linear transfer, int32_t row_begin, int32_t row_end, float *rgba,
            float *depth)
{
    int32_t x = pixel_x(), y = row_begin + pixel_y();
    if (x >= frame.width || y >= row_end) return;
    tsr_frame_store(&frame, FULL, &transfer, x, y, rgba, depth);
}

static dim3 picture_blocks(int32_t width, int32_t height)
{
    return dim3((uint32_t)((width + TILE_WIDTH - 1) / TILE_WIDTH), (uint32_t)((height + TILE_HEIGHT - 1) / TILE_HEIGHT), 1);
}

static tsr_status cuda_draw(tsr_queue *queue, const tsr_frame *frame, const tsr_transfer_linear *transfer, int32_t row_begin, int32_t row_end,
                            float *rgba, float *depth)
{
    dim3 blocks = picture_blocks(frame->width, row_end - row_begin);
    if (tsr_frame_full(frame, transfer)) TSR_LAUNCH(queue, draw_kernel<1>, blocks, PIXEL_THREADS, 0, *frame, *transfer, row_begin, row_end, rgba, depth);
    else TSR_LAUNCH(queue, draw_kernel<0>, blocks, PIXEL_THREADS, 0, *frame, *transfer, row_begin, row_end, rgba, depth);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

TSR_KERNEL(slice_kernel)(const __grid_constant__ tsr_slice_frame frame, int32_t row_begin, int32_t row_end, float *rgba, float *depth)
{
    int32_t x = pixel_x(), y = row_begin + pixel_y();
    if (x >= frame.width || y >= row_end) return;
    tsr_pixel p = tsr_slice_pixel(&frame, x, y);
    tsr_pixel_store(&p, rgba, depth, (int64_t)y * frame.width + x);
}
static tsr_status cuda_slice(tsr_queue *queue, const tsr_slice_frame *frame, int32_t row_begin, int32_t row_end, float *rgba, float *depth)
{
    TSR_LAUNCH(queue, slice_kernel, picture_blocks(frame->width, row_end - row_begin), PIXEL_THREADS, 0, *frame, row_begin, row_end, rgba, depth);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

TSR_KERNEL(encode_kernel)(const float *rgba, int64_t pixels, int32_t channels, uint8_t *out)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= pixels) return;
    for (int32_t c = 0; c < channels; c++) out[i * channels + c] = tsr_encode_channel(rgba + 4 * i, channels, c);
}
static tsr_status cuda_encode(tsr_queue *queue, const float *rgba, int64_t pixels, int32_t channels, uint8_t *out)
{
    TSR_LAUNCH(queue, encode_kernel, (uint32_t)((pixels + 255) / 256), 256, 0, rgba, pixels, channels, out);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

TSR_KERNEL(clear_kernel)(float *rgba, float *depth, int64_t pixels)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const tsr_pixel empty = { 0.0f, 0.0f, 0.0f, 0.0f, TSR_FLOAT_BIG };
    if (i < pixels) tsr_pixel_store(&empty, rgba, depth, i);
}
static tsr_status cuda_clear(tsr_queue *queue, float *rgba, float *depth, int64_t pixels)
{
    TSR_LAUNCH(queue, clear_kernel, (uint32_t)((pixels + 255) / 256), 256, 0, rgba, depth, pixels);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

extern "C" const tsr_render_ops tsr_render_cuda = { cuda_ranges, cuda_skips, cuda_tile_table, cuda_draw, cuda_slice, cuda_encode, cuda_clear };
