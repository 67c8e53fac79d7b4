/* device/rejoin.h: the lanes of a warp go on together.
 *
 * Where a function, or the round of a loop, ends with `if (threadIdx.x == 0) ...`, nvcc (13.0) may join that branch with the next one on the same
 * condition, and the place where both ways meet (BSSY, BSYNC) gets lost: the warp comes to the next barrier in two parts, and shuffles behind it find
 * lanes missing. tsr_rejoin() stands between. Neither the emulator nor compute-sanitizer shows a place without it. */
#ifndef TSR_DEVICE_REJOIN_H
#define TSR_DEVICE_REJOIN_H

#include "device/kernel.h"

TSR_DEVICE_FN void tsr_rejoin(void) { __syncwarp(); }

#endif
