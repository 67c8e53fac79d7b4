/* vision/lens.c: points and units of lens models. */
#include "vision/lens.h"

#include <math.h>

tsr_status tsr_lens_map_make(const char *where, const tsr_lens *l, int32_t width, int32_t height, double scale, tsr_lens_map *map)
{
    const double numbers[] = { l->k1, l->k2, l->k3, l->p1, l->p2, l->shift[0], l->shift[1] };
    static const char *const names[] = { "k1", "k2", "k3", "p1", "p2", "shift[0]", "shift[1]" };
    if ((unsigned)l->model > TSR_LENS_POLY)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: lens model is %d, expected 0 (division) or 1 (poly)", where, (int)l->model);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (!(fabs(numbers[i]) <= 10)) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: %s of the lens is %g, expected -10 to 10", where, names[i], numbers[i]);
    if (l->model == TSR_LENS_DIVISION && (l->k2 != 0 || l->k3 != 0 || l->p1 != 0 || l->p2 != 0))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: the division model has k1 alone, expected k2, k3, p1 and p2 to be 0 (or the model poly)", where);
    if (width < 1 || height < 1 || !(scale >= 0.01 && scale <= 100))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: image of %d x %d at scale %g, expected extents above 0 and a scale from 0.01 to 100", where, width, height,
                 scale);
    const double half = 0.5 * width;
    *map = (tsr_lens_map){
        .lens = *l, .half = half, .scale = scale, .step = scale / half, .centre = { half + l->shift[0] * half, 0.5 * height + l->shift[1] * half }
    };
    return TSR_OK;
}

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

static void relative(const tsr_lens_map *m, const double p[2], double u[2])
{
    u[0] = (p[0] - m->centre[0]) / m->half;
    u[1] = (p[1] - m->centre[1]) / m->half;
}

tsr_status tsr_lens_distort(const tsr_lens *lens, int32_t width, int32_t height, const double undistorted[2], double distorted[2])
{
    tsr_lens_map m;
    double u[2], added[2];
    TSR_TRY(tsr_lens_map_make("lens", lens, width, height, 1.0, &m));
    relative(&m, undistorted, u);
    if (!tsr_lens_add(lens, u, added))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "lens: the point (%g, %g) lies at the radius %.6g, expected at most %.6g for k1 = %g", undistorted[0],
                 undistorted[1], sqrt(u[0] * u[0] + u[1] * u[1]), 0.5 / sqrt(lens->k1), lens->k1);
    for (int k = 0; k < 2; k++) distorted[k] = undistorted[k] + added[k] * m.half;
    return TSR_OK;
}

tsr_status tsr_lens_undistort(const tsr_lens *lens, int32_t width, int32_t height, const double distorted[2], double undistorted[2])
{
    tsr_lens_map m;
    double d[2], added[2];
    TSR_TRY(tsr_lens_map_make("lens", lens, width, height, 1.0, &m));
    relative(&m, distorted, d);
    if (!tsr_lens_remove(lens, d, added)) {
        if (lens->model == TSR_LENS_DIVISION)
            TSR_FAIL(TSR_ERROR_ARGUMENT, "lens: the point (%g, %g) lies at the radius %.6g, expected less than %.6g for k1 = %g", distorted[0],
                     distorted[1], sqrt(d[0] * d[0] + d[1] * d[1]), 1.0 / sqrt(-lens->k1), lens->k1);
        TSR_FAIL(TSR_ERROR_ARGUMENT, "lens: no undistorted point is seen at (%g, %g), radius %.6g: the polynomial folds there", distorted[0],
                 distorted[1], sqrt(d[0] * d[0] + d[1] * d[1]));
    }
    for (int k = 0; k < 2; k++) undistorted[k] = distorted[k] + added[k] * m.half;
    return TSR_OK;
}
