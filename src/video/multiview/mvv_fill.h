/* video/multiview/mvv_fill.h: sparse fill: irrelevant texels become what makes coefficients small. docs/theory/multiview.md 3.1. */
#ifndef TSR_VIDEO_MULTIVIEW_MVV_FILL_H
#define TSR_VIDEO_MULTIVIEW_MVV_FILL_H

#include <stddef.h>

#include "video/multiview/mvv_tree.h"

#define TSR_MVV_EMPTY INT32_MIN /* in place of a sample that counts for nothing */

/* Elements of scratch that filling takes. */
size_t tsr_mvv_fill_scratch(const tsr_mvv_shape *shape);
/* `samples`, 2^all of them with TSR_MVV_EMPTY where nothing is, are filled in place; those that are not empty stay. Over all four axes, or (flat) each texture
 * for itself. Where nothing at all is there, 0. */
void tsr_mvv_fill(const tsr_mvv_shape *shape, int flat, int32_t *samples, int32_t *scratch);

#endif
