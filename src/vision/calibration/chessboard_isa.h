/* vision/calibration/chessboard_isa.h: rows and windows of the detector, built once per SIMD variant. */
#ifndef TSR_VISION_CALIBRATION_CHESSBOARD_ISA_H
#define TSR_VISION_CALIBRATION_CHESSBOARD_ISA_H

#include <stdint.h>

#include "device/isa.h"

enum { TSR_CORNER_WINDOW_MOST = 32 };

/* Bytes as numbers; means of two by two pixels of two rows, width of the result. */
TSR_ISA_DECLARE(void, tsr_corner_grey_row, const uint8_t *from, int32_t width, float *to)
TSR_ISA_DECLARE(void, tsr_corner_halve_row, const float *upper, const float *lower, int32_t width, float *to)
/* Binomial 1 4 6 4 1 of five rows, then along the row; `between` has room for width + 4 numbers. */
TSR_ISA_DECLARE(void, tsr_corner_blur_row, const float *const rows[5], int32_t width, float *between, float *to)
/* Minus the determinant of the second derivatives, of columns 1 to width - 2, 0 where it is below a fiftieth of their squared sum (an edge); the two others become 0. Returns the largest of every 16 in `most`. */
TSR_ISA_DECLARE(void, tsr_corner_saddle_row, const float *middle, int32_t width, float *to, float *most)
/* peak[x] = 1 where a saddle's score is above `least` and largest of its four neighbours (of equal ones the first), else 0; from `first` to before `last`, of a row of `width`. */
TSR_ISA_DECLARE(void, tsr_corner_peak_row, const float *score, int32_t width, int32_t first, int32_t last, float least, uint8_t *peak)
/* Sums m gx gx, m gx gy, m gy gy, m (gx gx x + gx gy y), m (gx gy x + gy gy y) over the window of 2 window + 1 places each way whose corner is first, between
 * pixels: (fx, fy) to the right of and below `first`. mask[2 window + 1]. */
TSR_ISA_DECLARE(void, tsr_corner_moments, const float *first, int64_t stride, float fx, float fy, int32_t window, const float *mask, double sums[5])

#endif
