/* video/multiview/mvv_fill.h: sparse fill: irrelevant texels become what makes coefficients small. docs/theory/multiview.md 3.1. */
#ifndef TSR_VIDEO_MULTIVIEW_MVV_FILL_H
#define TSR_VIDEO_MULTIVIEW_MVV_FILL_H

#include <stddef.h>

#include "video/multiview/mvv_tree.h"

#define TSR_MVV_EMPTY INT32_MIN /* in place of a sample that counts for nothing */

/* Rounded mean of the children of a cell that are there. */
TSR_HD int32_t tsr_mvv_mean_of(const int32_t *child, const int64_t *offset, int count)
{
    const int64_t below = 1 << 20; /* samples are greater than its negative: what is divided is not negative */
    int64_t sum = 0, there = 0;
    for (int k = 0; k < count; k++) {
        const int32_t v = child[offset[k]];
        if (v == TSR_MVV_EMPTY) continue;
        sum += v;
        there++;
    }
    if (!there) return TSR_MVV_EMPTY;
    return (int32_t)((2 * (sum + there * below) + there) / (2 * there) - below);
}
/* Children that are empty take the value of their cell. */
TSR_HD void tsr_mvv_inherit(int32_t *child, int32_t cell, const int64_t *offset, int count)
{
    for (int k = 0; k < count; k++)
        if (child[offset[k]] == TSR_MVV_EMPTY) child[offset[k]] = cell;
}

/* Elements of scratch that filling takes. */
size_t tsr_mvv_fill_scratch(const tsr_mvv_shape *shape);
/* `samples`, 2^all of them with TSR_MVV_EMPTY where nothing is, are filled in place; those that are not empty stay. Over all four axes, or (flat)
 * each texture
 * for itself. Where nothing at all is there, 0. Samples within
 * +-2^20. */
void tsr_mvv_fill(const tsr_mvv_shape *shape, int flat, int32_t *samples, int32_t *scratch);

#endif
