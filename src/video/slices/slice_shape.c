/* video/slices/slice_shape.c: the bands of a transform as kernels want them. */
#include "video/slices/slice_jobs.h"

int tsr_slice_shape_make(const tsr_dirac_transform *t, const tsr_dirac_layout layout[3], tsr_slice_shape *shape)
{
    *shape = (tsr_slice_shape){ .slices_x = t->slices_x, .slices_y = t->slices_y, .high_quality = t->high_quality };
    for (int c = 0; c < 2; c++) {
        int64_t most = 0;
        shape->stride[c] = layout[c].stride;
        shape->bands = 0;
        for (int level = 0; level <= t->horizontal + t->depth; level++)
            for (int band = level > 0; band < tsr_dirac_bands(t, level); band++) {
                const tsr_dirac_band *b = &layout[c].band[level][band];
                shape->band[c][shape->bands++] = (tsr_slice_band){
                    .offset = b->offset, .width = b->width, .height = b->height, .matrix = t->matrix[level][band], .steps = tsr_dirac_steps_of(t, b)
                };
                most += tsr_ceil_div(b->width, t->slices_x) * tsr_ceil_div(b->height, t->slices_y);
            }
        if (most > TSR_SLICE_MOST) return 0;
    }
    return 1;
}
