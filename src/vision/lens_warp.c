/* vision/lens_warp.c: units of lens models. */
#include "vision/lens_warp.h"

#include <math.h>

double tsr_lens_convert_k1(double k1, tsr_lens_unit from, tsr_lens_unit to, int32_t width, int32_t height)
{
    const double w = 0.5 * width, h = 0.5 * height, unit[3] = { w, sqrt(w * w + h * h), 1.0 };
    if ((unsigned)from > TSR_LENS_PIXEL || (unsigned)to > TSR_LENS_PIXEL) return NAN;
    return k1 * (unit[to] / unit[from]) * (unit[to] / unit[from]);
}

/* GIMP looks up the source at the place times 1 + A/200 rho^2 + E/200 rho^4, rho in half diagonals: that is the polynomial of the undistorted image seen
 * as the source; a picture that GIMP distorted is cured by the same polynomial's inverse, to first order its negative. */
tsr_lens tsr_lens_gimp(double main, double edge, int32_t width, int32_t height)
{
    const double unit = tsr_lens_convert_k1(1.0, TSR_LENS_HALF_DIAGONAL, TSR_LENS_HALF_WIDTH, width, height);
    return (tsr_lens){ .model = TSR_LENS_POLY, .k1 = -main / 200.0 * unit, .k2 = -edge / 200.0 * unit * unit };
}
