/* histopyramid/class_pyramid_cpu.c: blocks of 8 x 8 pixels in rows, then level by level; every count is written by one thread. */
#include "core/parallel.h"
#include "histopyramid/classes.h"

struct work {
    const tsr_classes *classes;
    const int32_t *boxes;
    uint64_t *counts;
    int32_t level;
};

/* Rows of blocks. */
static void blocks(void *user, int64_t begin, int64_t end, int worker)
{
    const tsr_classes *t = ((const struct work *)user)->classes;
    const tsr_classes_level *l = &t->level[TSR_CLASSES_LOWEST];
    const size_t row = (size_t)l->columns * (size_t)t->classes;
    (void)worker;
    for (int64_t k = begin; k < end; k++) {
        uint8_t *counts = (uint8_t *)l->counts + (size_t)k * row;
        memset(counts, 0, row);
        for (int32_t y = (int32_t)(8 * k); y < tsr_mini(t->height, (int32_t)(8 * k) + 8); y++) {
            const uint8_t *p = t->image + (int64_t)y * t->width;
            for (int32_t x = 0; x < t->width; x++) {
                uint8_t *own = counts + (int64_t)(x >> 3) * t->classes;
                if (t->bits)
                    for (int32_t c = 0; c < t->classes; c++) own[c] = (uint8_t)(own[c] + (p[x] >> c & 1));
                else if (t->of[p[x]] >= 0) own[t->of[p[x]]]++;
            }
        }
    }
}

static void reduce(void *user, int64_t begin, int64_t end, int worker)
{
    const struct work *w = (const struct work *)user;
    (void)worker;
    for (int64_t i = begin; i < end; i++) tsr_classes_reduce(w->classes, w->level, i);
}

static void count_range(void *user, int64_t begin, int64_t end, int worker)
{
    const struct work *w = (const struct work *)user;
    const int32_t classes = w->classes->classes;
    (void)worker;
    for (int64_t i = begin; i < end; i++) w->counts[i] = tsr_classes_count(w->classes, w->boxes + i / classes * 4, (int32_t)(i % classes));
}

static tsr_status cpu_build(tsr_queue *queue, const tsr_classes *t)
{
    struct work w = { .classes = t };
    tsr_parallel(queue->threads, t->level[TSR_CLASSES_LOWEST].rows, 4, blocks, &w);
    for (w.level = TSR_CLASSES_LOWEST + 1; w.level <= t->top; w.level++)
        tsr_parallel(queue->threads, (int64_t)t->level[w.level].columns * t->level[w.level].rows * t->classes, 4096, reduce, &w);
    return TSR_OK;
}

static tsr_status cpu_count(tsr_queue *queue, const tsr_classes *t, const int32_t *boxes, int64_t count, uint64_t *counts)
{
    struct work w = { .classes = t, .boxes = boxes, .counts = counts };
    tsr_parallel(queue->threads, count * t->classes, 64, count_range, &w);
    return TSR_OK;
}

const tsr_classes_ops tsr_classes_cpu = { .build = cpu_build, .count = cpu_count };
