/* solver/upwind.h: one axis of an upwind norm, and the steepest difference at a voxel: for the solver and the segmentation, docs/theory/levelset.md 2.
 * Derivatives of an axis: `minus` to the left of the voxel, `plus` to its right. [Osher88]; exact class. */
#ifndef TSR_SOLVER_UPWIND_H
#define TSR_SOLVER_UPWIND_H

#include "core/hd.h"

enum { TSR_DIFFERENCE_UPWIND = 0, TSR_DIFFERENCE_GODUNOV, TSR_DIFFERENCE_ENO2, TSR_DIFFERENCE_WENO5 }; /* = tsr_stencil */

TSR_HD float tsr_square_above(float v)
{
    v = v > 0.0f ? v : 0.0f;
    return v * v;
}
TSR_HD float tsr_square_below(float v)
{
    v = v < 0.0f ? v : 0.0f;
    return v * v;
}

/* One axis of |grad phi|^2 for a front that moves outward (phi falls) or inward. Osher-Sethian sums with UPWIND, else the larger (Godunov). */
TSR_HD float tsr_upwind_square(int32_t space, float a, float b) { return space == TSR_DIFFERENCE_UPWIND ? a + b : tsr_maxf(a, b); }
TSR_HD float tsr_outward_square(int32_t space, float minus, float plus)
{
    return tsr_upwind_square(space, tsr_square_above(minus), tsr_square_below(plus));
}
TSR_HD float tsr_inward_square(int32_t space, float minus, float plus)
{
    return tsr_upwind_square(space, tsr_square_above(plus), tsr_square_below(minus));
}

/* Largest of |grad phi| by central differences and the one-sided differences, below and above along each axis. */
TSR_HD float tsr_steepest_of(float xm, float xp, float ym, float yp, float zm, float zp)
{
    const float gx = 0.5f * (xm + xp), gy = 0.5f * (ym + yp), gz = 0.5f * (zm + zp);
    return tsr_maxf(tsr_maxf(tsr_maxf(tsr_absf(xm), tsr_absf(xp)), tsr_maxf(tsr_absf(ym), tsr_absf(yp))),
                    tsr_maxf(tsr_maxf(tsr_absf(zm), tsr_absf(zp)), tsr_sqrt((gx * gx + gy * gy) + gz * gz)));
}

#endif
