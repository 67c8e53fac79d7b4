/* video/slices/undo_prediction.h: an approximation from the differences to its prediction, by one block of TSR_UNDO_THREADS threads: a thread a row, each
 * a column behind the row above. */
#ifndef TSR_VIDEO_SLICES_UNDO_PREDICTION_H
#define TSR_VIDEO_SLICES_UNDO_PREDICTION_H

#include "device/kernel.h"
#include "video/dirac/layout.h"

enum { TSR_UNDO_THREADS = 256 };

TSR_DEVICE_FN void tsr_undo_prediction(int32_t *from, int64_t stride, int32_t width, int32_t height)
{
    for (int32_t first = 0; first < height; first += TSR_UNDO_THREADS) {
        const int32_t y = first + (int32_t)threadIdx.x, rows = tsr_mini(height - first, TSR_UNDO_THREADS);
        for (int32_t step = 0; step < width + rows - 1; step++) {
            const int32_t x = step - (int32_t)threadIdx.x;
            if (y < height && x >= 0 && x < width) {
                int32_t *here = from + y * stride + x;
                *here = (int32_t)((uint32_t)*here + (uint32_t)tsr_dirac_neighbours_mean(here, stride, x, y));
            }
            __syncthreads();
        }
    }
}

#endif
