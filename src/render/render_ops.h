/* render/render_ops.h: what a backend provides for the renderer. All pointers but the struct arguments are device memory of the queue. */
#ifndef TSR_RENDER_RENDER_OPS_H
#define TSR_RENDER_RENDER_OPS_H

#include "device/backend.h"
#include "tiles/tile_pool.h"
#include "render/bricks.h"
#include "render/frame.h"

struct tsr_records_ops;
struct tsr_stack_block;
#ifdef __cplusplus
extern "C" {
#endif
extern const struct tsr_records_ops tsr_records_cpu, tsr_records_cuda;
/* The picture's pixels from the slices of a stack that are in memory (stack.h). */
tsr_status tsr_stack_cpu(tsr_queue *queue, const tsr_frame *frame, const tsr_transfer_linear *transfer, const struct tsr_stack_block *block, float *rgba,
                         float *depth);
tsr_status tsr_stack_cuda(tsr_queue *queue, const tsr_frame *frame, const tsr_transfer_linear *transfer, const struct tsr_stack_block *block,
                          float *rgba, float *depth);
#ifdef __cplusplus
}
#endif

typedef struct tsr_render_ops {
    /* range[brick] = least and largest value of the brick's cells (9^3 voxels), NaN left out; slope[brick] = bound of the gradient's length within it;
     * counts->found.nan_count += NaN voxels (each once). */
    tsr_status (*ranges)(tsr_queue *queue, const tsr_brick_source *source, float *range, float *slope, tsr_brick_counts *counts);
    /* The rest of the counts from the ranges of `bricks` bricks. */
    tsr_status (*summarize)(tsr_queue *queue, const float *range, int64_t bricks, tsr_brick_counts *counts);
    /* skip[brick] for tsr_field.skip from the ranges; `scratch` has as many bytes. */
    tsr_status (*skips)(tsr_queue *queue, const float *range, const int32_t bricks[3], const tsr_brick_test *test, uint8_t *skip, uint8_t *scratch);
    /* cells[brick] for tsr_field.cells where skip[brick] is 0. NULL: this backend has no use for them. */
    tsr_status (*cells)(tsr_queue *queue, const tsr_brick_source *source, const tsr_brick_test *test, const uint8_t *skip, uint64_t *cells);
    /* table[brick] = id of the tile at origin + brick, static ids included, and skip[brick]. */
    tsr_status (*tile_table)(tsr_queue *queue, const tsr_tile_pool *pool, const tsr_tile_state *state, const int32_t origin[3],
                             const int32_t bricks[3], uint32_t *table, uint8_t *skip, uint8_t *scratch);
    /* Rows row_begin to row_end - 1 of the picture. `transfer` is all zero where the frame shows no volume. */
    tsr_status (*draw)(tsr_queue *queue, const tsr_frame *frame, const tsr_transfer_linear *transfer, int32_t row_begin, int32_t row_end, float *rgba,
                       float *depth);
    tsr_status (*slice)(tsr_queue *queue, const tsr_slice_frame *frame, int32_t row_begin, int32_t row_end, float *rgba, float *depth);
    /* out[pixel][channels] */
    tsr_status (*encode)(tsr_queue *queue, const float *rgba, int64_t pixels, int32_t channels, uint8_t *out);
    /* rgba = 0, depth = infinity */
    tsr_status (*clear)(tsr_queue *queue, float *rgba, float *depth, int64_t pixels);
    const struct tsr_records_ops *records; /* records_ops.h */
    tsr_status (*stack)(tsr_queue *queue, const tsr_frame *frame, const tsr_transfer_linear *transfer, const struct tsr_stack_block *block, float *rgba,
                        float *depth);
} tsr_render_ops;

#endif
