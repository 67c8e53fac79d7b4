/* histopyramid/class_pyramid_cuda.cu: a warp counts 8 x 8 pixels in shared memory, four counters to a word (at most 64 each); levels above: a thread per count,
 * neighbours in memory are classes of the same cell. */
#include "device/kernel.h"
#include "histopyramid/classes.h"

enum { THREADS = 256, WARPS = THREADS / 32, WORDS = TSR_CLASSES_MOST / 4 };

TSR_DEVICE_FN void count_pixel(uint32_t *own, int32_t class_) { tsr_shared_add(&own[class_ >> 2], 1u << (8 * (class_ & 3))); }

TSR_KERNEL(block_kernel)(tsr_classes t, int64_t count)
{
    TSR_SHARED(uint32_t, counters, WARPS * WORDS);
    const tsr_classes_level *l = &t.level[TSR_CLASSES_LOWEST];
    const int32_t lane = (int32_t)(threadIdx.x & 31u), words = (t.classes + 3) / 4;
    const int64_t i = (int64_t)blockIdx.x * WARPS + threadIdx.x / 32u;
    uint32_t *own = counters + threadIdx.x / 32u * WORDS;
    if (i >= count) return;
    for (int32_t k = lane; k < words; k += 32) own[k] = 0;
    __syncwarp();
    const int32_t x0 = (int32_t)(i % l->columns) * 8, y = (int32_t)(i / l->columns) * 8 + lane / 4;
#pragma unroll
    for (int32_t k = 0; k < 2; k++) {
        const int32_t x = x0 + (lane & 3) * 2 + k;
        if (x >= t.width || y >= t.height) continue;
        const uint8_t v = t.image[(int64_t)y * t.width + x];
        if (t.bits) {
            for (int32_t c = 0; c < t.classes; c++)
                if (v >> c & 1) count_pixel(own, c);
        } else if (t.of[v] >= 0) {
            count_pixel(own, t.of[v]);
        }
    }
    __syncwarp();
    uint8_t *to = (uint8_t *)l->counts + i * t.classes;
    for (int32_t c = lane; c < t.classes; c += 32) to[c] = (uint8_t)(own[c >> 2] >> (8 * (c & 3)));
}

TSR_KERNEL(reduce_kernel)(tsr_classes t, int32_t level, int64_t count)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) tsr_classes_reduce(&t, level, i);
}

TSR_KERNEL(count_kernel)(tsr_classes t, const int32_t *boxes, int64_t count, uint64_t *counts)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) counts[i] = tsr_classes_count(&t, boxes + i / t.classes * 4, (int32_t)(i % t.classes));
}

static tsr_status cuda_build(tsr_queue *queue, const tsr_classes *t)
{
    const int64_t cells = (int64_t)t->level[TSR_CLASSES_LOWEST].columns * t->level[TSR_CLASSES_LOWEST].rows;
    TSR_LAUNCH(queue, block_kernel, tsr_blocks(cells, WARPS, INT32_MAX), THREADS, 0, *t, cells);
    for (int32_t l = TSR_CLASSES_LOWEST + 1; l <= t->top; l++) {
        const int64_t count = (int64_t)t->level[l].columns * t->level[l].rows * t->classes;
        TSR_LAUNCH(queue, reduce_kernel, tsr_blocks(count, THREADS, INT32_MAX), THREADS, 0, *t, l, count);
    }
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

static tsr_status cuda_count(tsr_queue *queue, const tsr_classes *t, const int32_t *boxes, int64_t count, uint64_t *counts)
{
    TSR_LAUNCH(queue, count_kernel, tsr_blocks(count * t->classes, THREADS, INT32_MAX), THREADS, 0, *t, boxes, count * t->classes, counts);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

extern "C" const tsr_classes_ops tsr_classes_cuda = { cuda_build, cuda_count };
