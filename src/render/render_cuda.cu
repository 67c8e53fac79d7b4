/* Kernels of the renderer: one thread per pixel, a block is a tile of 16 x 8 pixels, a warp one of 8 x 4, so that the rays of a
 * warp stay together. */
#include "device/kernel.h"
#include "render/march_together.h"
#include "render/render_ops.h"
#define TSR_MAXIMUM tsr_maximum
#define TSR_ACCUMULATE tsr_accumulate_together
#include "render/write.h"

#ifdef TSR_EMU
#define __grid_constant__
#endif

enum { PIXEL_THREADS = 128, TILE_WIDTH = 16, TILE_HEIGHT = 8 };

struct extents {
    int32_t n[3];
};

enum { STRIP_THREADS = 256, SUMMARY_THREADS = 256 };

/* A block looks at TSR_STRIP_BRICKS bricks in a row, a thread at one column of their voxels. */
TSR_KERNEL(ranges_kernel)(const __grid_constant__ tsr_brick_source s, float *range, float *slope, tsr_brick_counts *counts)
{
    TSR_SHARED(float, low, STRIP_THREADS);
    TSR_SHARED(float, high, STRIP_THREADS);
    TSR_SHARED(float, steep, STRIP_THREADS);
    const int32_t by = (int32_t)blockIdx.y, bz = (int32_t)blockIdx.z, b0 = (int32_t)blockIdx.x * TSR_STRIP_BRICKS;
    const int32_t column = (int32_t)threadIdx.x, x = 8 * b0 + column, sx = s.size[0], sy = s.size[1], sz = s.size[2];
    const int64_t dy = sx, dz = (int64_t)sx * sy;
    tsr_range r = tsr_range_empty();
    uint32_t nan = 0;
    if (column < TSR_STRIP_COLUMNS && x < sx) {
        const int32_t owned = column < TSR_STRIP_COLUMNS - 1 || x == sx - 1;
        const int32_t last_y = tsr_mini(sy, 8 * by + 9), last_z = tsr_mini(sz, 8 * bz + 9), inside_x = x > 0 && x < sx - 1;
        for (int32_t z = 8 * bz; z < last_z; z++) {
            const float *v = s.values + (z * dz + 8 * by * dy + x);
            const int32_t inside = inside_x && z > 0 && z < sz - 1, owned_z = owned && (z < 8 * bz + 8 || z == sz - 1);
#pragma unroll 3
            for (int32_t y = 8 * by; y < last_y; y++, v += dy) {
                r = tsr_range_voxel(&s, r, *v, inside && y > 0 && y < sy - 1 ? tsr_voxel_steepness(&s, v, dy, dz) : 0.0f);
                nan += (uint32_t)(*v != *v && owned_z && (y < 8 * by + 8 || y == sy - 1));
            }
        }
    }
    low[column] = r.low;
    high[column] = r.high;
    steep[column] = r.slope;
    if (nan) atomicAdd((unsigned long long *)&counts->found.nan_count, (unsigned long long)nan); /* a sum of integers: order does not matter */
    __syncthreads();
    const int32_t b = b0 + column;
    if (column >= TSR_STRIP_BRICKS || b >= s.bricks[0]) return;
    r = tsr_range_empty();
    for (int32_t i = 8 * column; i < 8 * column + 9; i++) r = tsr_range_join(r, low[i], high[i], steep[i]); /* columns beyond the volume are empty */
    const int32_t at[3] = { b, by, bz };
    const int64_t to = ((int64_t)bz * s.bricks[1] + by) * s.bricks[0] + b;
    r = tsr_range_finish(&s, at, r);
    range[2 * to] = r.low;
    range[2 * to + 1] = r.high;
    slope[to] = r.slope;
}

static tsr_status cuda_ranges(tsr_queue *queue, const tsr_brick_source *source, float *range, float *slope, tsr_brick_counts *counts)
{
    const dim3 blocks((uint32_t)((source->bricks[0] + TSR_STRIP_BRICKS - 1) / TSR_STRIP_BRICKS), (uint32_t)source->bricks[1],
                      (uint32_t)source->bricks[2]);
    TSR_LAUNCH(queue, ranges_kernel, blocks, STRIP_THREADS, 0, *source, range, slope, counts);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

/* One pass over the bricks: counts of the next digit; the first pass also finds least and largest value. Integers: order does not matter. */
TSR_KERNEL(rank_kernel)(const float *range, int64_t bricks, int32_t pass, tsr_brick_counts *counts)
{
    TSR_SHARED(uint32_t, bin, TSR_RANK_BINS);
    for (int32_t i = (int32_t)threadIdx.x; i < TSR_RANK_BINS; i += SUMMARY_THREADS) bin[i] = 0;
    __syncthreads();
    const uint32_t found = counts->found.key;
    uint32_t lowest = 0, highest = 0, count = 0;
    for (int64_t b = (int64_t)blockIdx.x * SUMMARY_THREADS + threadIdx.x; b < bricks; b += (int64_t)gridDim.x * SUMMARY_THREADS) {
        if (range[2 * b] > range[2 * b + 1]) continue; /* nothing but NaN */
        const uint32_t low = ~tsr_float_key(range[2 * b]), high = tsr_float_key(range[2 * b + 1]);
        const int32_t at = tsr_rank_bin(pass, found, high);
        if (at >= 0) atomicAdd(&bin[at], 1u);
        lowest = low > lowest ? low : lowest;
        highest = high > highest ? high : highest;
        count++;
    }
    if (pass == 0 && count) {
        atomicMax(&counts->found.lowest, lowest);
        atomicMax(&counts->found.highest, highest);
        atomicAdd(&counts->found.bricks, count);
    }
    __syncthreads();
    for (int32_t i = (int32_t)threadIdx.x; i < TSR_RANK_BINS; i += SUMMARY_THREADS)
        if (bin[i]) atomicAdd(&counts->bin[pass][i], bin[i]);
}
/* One block: the digit, first among groups of bins, then among those of its group. */
TSR_KERNEL(digit_kernel)(int32_t pass, tsr_brick_counts *counts)
{
    enum { GROUP = TSR_RANK_BINS / SUMMARY_THREADS };
    TSR_SHARED(uint32_t, sum, SUMMARY_THREADS);
    const uint32_t *bin = counts->bin[pass];
    uint32_t own = 0;
    for (int32_t i = 0; i < GROUP; i++) own += bin[(int32_t)threadIdx.x * GROUP + i];
    sum[threadIdx.x] = own;
    __syncthreads();
    if (threadIdx.x > 0 || !counts->found.bricks) return;
    uint32_t rank = pass == 0 ? tsr_rank_wanted(counts->found.bricks) : counts->found.rank;
    const int32_t group = tsr_rank_pick(sum, SUMMARY_THREADS, &rank), digit = group * GROUP + tsr_rank_pick(bin + group * GROUP, GROUP, &rank);
    counts->found.rank = rank;
    counts->found.key |= (uint32_t)digit << tsr_rank_shift(pass);
}
static tsr_status cuda_summarize(tsr_queue *queue, const float *range, int64_t bricks, tsr_brick_counts *counts)
{
    for (int32_t pass = 0; pass < TSR_RANK_PASSES; pass++) {
        TSR_LAUNCH(queue, rank_kernel, tsr_blocks(bricks, SUMMARY_THREADS, 128), SUMMARY_THREADS, 0, range, bricks, pass, counts);
        TSR_LAUNCH(queue, digit_kernel, 1, SUMMARY_THREADS, 0, pass, counts);
    }
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

TSR_KERNEL(visible_kernel)(const float *range, int64_t count, const __grid_constant__ tsr_brick_test test, uint8_t *visible)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) visible[i] = tsr_brick_visible(&test, range[2 * i], range[2 * i + 1]);
}
TSR_KERNEL(distance_kernel)(const uint8_t *in, extents bricks, int32_t pass, int32_t margin, int64_t count, uint8_t *out)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = tsr_brick_distance(in, bricks.n, pass, margin, i);
}

static void launch_distance(tsr_queue *queue, extents bricks, int64_t count, int32_t margin, uint8_t *visible, uint8_t *skip)
{
    uint32_t blocks = (uint32_t)((count + 255) / 256);
    TSR_LAUNCH(queue, distance_kernel, blocks, 256, 0, visible, bricks, 0, margin, count, skip);
    TSR_LAUNCH(queue, distance_kernel, blocks, 256, 0, skip, bricks, 1, margin, count, visible);
    TSR_LAUNCH(queue, distance_kernel, blocks, 256, 0, visible, bricks, 2, margin, count, skip);
}

static tsr_status cuda_skips(tsr_queue *queue, const float *range, const int32_t bricks[3], const tsr_brick_test *test, uint8_t *skip,
                             uint8_t *scratch)
{
    extents b = { { bricks[0], bricks[1], bricks[2] } };
    int64_t count = (int64_t)bricks[0] * bricks[1] * bricks[2];
    TSR_LAUNCH(queue, visible_kernel, (uint32_t)((count + 255) / 256), 256, 0, range, count, *test, scratch);
    launch_distance(queue, b, count, test->margin, scratch, skip);
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
    launch_distance(queue, b, count, 0, scratch, skip);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

/* Pixel of this thread. */
TSR_DEVICE_FN int32_t pixel_x(void) { return (int32_t)(blockIdx.x * TILE_WIDTH + (threadIdx.x >> 5 & 1) * 8 + (threadIdx.x & 7)); }
TSR_DEVICE_FN int32_t pixel_y(void) { return (int32_t)(blockIdx.y * TILE_HEIGHT + (threadIdx.x >> 6) * 4 + (threadIdx.x >> 3 & 3)); }

/* Blocks a multiprocessor has room for: where there is nothing but samples of one field, more of them hide more of the waiting than the registers
 * that they take away are worth (measured on an H200: 9.8 ms instead of 10.5 with six). */
enum { DRAW_BLOCKS_BOTH = 5 }; /* a surface in its source */
template <int PARTS>
static __global__ void __launch_bounds__(PIXEL_THREADS, PARTS == TSR_PART_VOLUME                      ? 6
                                                        : PARTS == (TSR_PART_SHEET | TSR_PART_VOLUME) ? DRAW_BLOCKS_BOTH
                                                                                                      : 4)
    draw_kernel(const __grid_constant__ tsr_frame frame, const __grid_constant__ tsr_transfer_linear transfer, int32_t row_begin, int32_t row_end,
                float *rgba, float *depth)
{
    int32_t x = pixel_x(), y = row_begin + pixel_y();
    if (x >= frame.width || y >= row_end) return;
    tsr_frame_store(&frame, PARTS, &transfer, x, y, NULL, 0, rgba, depth);
}

static dim3 picture_blocks(int32_t width, int32_t height)
{
    return dim3((uint32_t)((width + TILE_WIDTH - 1) / TILE_WIDTH), (uint32_t)((height + TILE_HEIGHT - 1) / TILE_HEIGHT), 1);
}

template <int PARTS>
static void draw(tsr_queue *queue, dim3 blocks, const tsr_frame *frame, const tsr_transfer_linear *transfer, int32_t row_begin, int32_t row_end,
                 float *rgba, float *depth)
{
    TSR_LAUNCH(queue, draw_kernel<PARTS>, blocks, PIXEL_THREADS, 0, *frame, *transfer, row_begin, row_end, rgba, depth);
}

static tsr_status cuda_draw(tsr_queue *queue, const tsr_frame *frame, const tsr_transfer_linear *transfer, int32_t row_begin, int32_t row_end,
                            float *rgba, float *depth)
{
    dim3 blocks = picture_blocks(frame->width, row_end - row_begin);
    /* The least of these that has all the picture needs. */
    const int parts = tsr_frame_parts(frame, transfer), without_mesh = TSR_PART_SHEET | TSR_PART_VOLUME;
    if (parts & TSR_PART_EXTRA) draw<TSR_PARTS_ALL>(queue, blocks, frame, transfer, row_begin, row_end, rgba, depth);
    else if (parts & TSR_PART_MESH) draw<without_mesh | TSR_PART_MESH>(queue, blocks, frame, transfer, row_begin, row_end, rgba, depth);
    else if (parts & TSR_PART_MIP) draw<TSR_PART_MIP>(queue, blocks, frame, transfer, row_begin, row_end, rgba, depth);
    else if (parts == TSR_PART_VOLUME) draw<TSR_PART_VOLUME>(queue, blocks, frame, transfer, row_begin, row_end, rgba, depth);
    else if (parts == TSR_PART_SHEET) draw<TSR_PART_SHEET>(queue, blocks, frame, transfer, row_begin, row_end, rgba, depth);
    else draw<without_mesh>(queue, blocks, frame, transfer, row_begin, row_end, rgba, depth);
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

extern "C" const tsr_render_ops tsr_render_cuda = { cuda_ranges,     cuda_summarize,    cuda_skips,    NULL,
                                                    cuda_tile_table, cuda_draw,         cuda_slice,    cuda_encode,
                                                    cuda_clear,      &tsr_records_cuda, tsr_stack_cuda };
