/* histopyramid/classes.h: pyramids of class counts as every backend sees them. docs/theory/features.md 4. */
#ifndef TSR_HISTOPYRAMID_CLASSES_H
#define TSR_HISTOPYRAMID_CLASSES_H

#include "core/hd.h"
#include "device/backend.h"
#include "tessera/class_pyramid.h"

enum { TSR_CLASSES_LOWEST = 3, TSR_CLASSES_LEVELS = 17, TSR_CLASSES_MOST = 256 };

typedef struct tsr_classes_level {
    int32_t columns, rows, bytes;
    void *counts; /* [rows][columns][classes] */
} tsr_classes_level;

typedef struct tsr_classes {
    const uint8_t *image;
    int32_t width, height, classes, bits, top;
    int16_t of[256]; /* class of a byte, -1: none; with `bits` not used */
    tsr_classes_level level[TSR_CLASSES_LEVELS];
} tsr_classes;

typedef struct tsr_classes_ops {
    tsr_status (*build)(tsr_queue *queue, const tsr_classes *classes);
    tsr_status (*count)(tsr_queue *queue, const tsr_classes *classes, const int32_t *boxes, int64_t count, uint64_t *counts);
} tsr_classes_ops;

TSR_HD uint64_t tsr_classes_get(const tsr_classes_level *l, int64_t i)
{
    return l->bytes == 1 ? ((const uint8_t *)l->counts)[i] : l->bytes == 2 ? ((const uint16_t *)l->counts)[i] : ((const uint32_t *)l->counts)[i];
}
TSR_HD void tsr_classes_set(const tsr_classes_level *l, int64_t i, uint64_t v)
{
    if (l->bytes == 1) ((uint8_t *)l->counts)[i] = (uint8_t)v;
    else if (l->bytes == 2) ((uint16_t *)l->counts)[i] = (uint16_t)v;
    else ((uint32_t *)l->counts)[i] = (uint32_t)v;
}
TSR_HD int tsr_classes_member(const tsr_classes *t, uint8_t value, int32_t class_) { return t->bits ? value >> class_ & 1 : t->of[value] == class_; }

/* Count of a class in cell (x, y) of a level. */
TSR_HD uint64_t tsr_classes_cell(const tsr_classes *t, int32_t level, int32_t x, int32_t y, int32_t class_)
{
    if (level >= TSR_CLASSES_LOWEST) {
        const tsr_classes_level *l = &t->level[level];
        return x < l->columns && y < l->rows ? tsr_classes_get(l, ((int64_t)y * l->columns + x) * t->classes + class_) : 0;
    }
    uint64_t sum = 0;
    const int32_t x1 = tsr_mini(t->width, (x + 1) << level), y1 = tsr_mini(t->height, (y + 1) << level);
    for (int32_t v = y << level; v < y1; v++)
        for (int32_t u = x << level; u < x1; u++) sum += (uint64_t)tsr_classes_member(t, t->image[(int64_t)v * t->width + u], class_);
    return sum;
}
/* Count i ([row][column][class]) of a level above the lowest: the sum over four cells. */
TSR_HD void tsr_classes_reduce(const tsr_classes *t, int32_t level, int64_t i)
{
    const tsr_classes_level *l = &t->level[level];
    const int32_t class_ = (int32_t)(i % t->classes), x = (int32_t)(i / t->classes % l->columns), y = (int32_t)(i / t->classes / l->columns);
    uint64_t sum = 0;
    for (int32_t c = 0; c < 4; c++) sum += tsr_classes_cell(t, level - 1, 2 * x + (c & 1), 2 * y + (c >> 1), class_);
    tsr_classes_set(l, i, sum);
}

/* Count of a class in a box: odd rows and columns of cells at its border are taken off level by level, what is left are cells of the next. */
TSR_HD uint64_t tsr_classes_count(const tsr_classes *t, const int32_t box[4], int32_t class_)
{
    int32_t x0 = tsr_maxi(0, box[0]), y0 = tsr_maxi(0, box[1]), x1 = tsr_mini(t->width, box[2]), y1 = tsr_mini(t->height, box[3]);
    uint64_t sum = 0;
    for (int32_t l = 0; x0 < x1 && y0 < y1; l++) {
        const int last = l == t->top;
        for (; x0 < x1 && (last || x0 & 1); x0++)
            for (int32_t y = y0; y < y1; y++) sum += tsr_classes_cell(t, l, x0, y, class_);
        for (; x0 < x1 && x1 & 1; x1--)
            for (int32_t y = y0; y < y1; y++) sum += tsr_classes_cell(t, l, x1 - 1, y, class_);
        for (; y0 < y1 && y0 & 1; y0++)
            for (int32_t x = x0; x < x1; x++) sum += tsr_classes_cell(t, l, x, y0, class_);
        for (; y0 < y1 && y1 & 1; y1--)
            for (int32_t x = x0; x < x1; x++) sum += tsr_classes_cell(t, l, x, y1 - 1, class_);
        x0 /= 2;
        x1 /= 2;
        y0 /= 2;
        y1 /= 2;
    }
    return sum;
}

#endif
