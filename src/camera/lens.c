/* camera/lens.c: lenses are checked, and points distorted and undistorted. */
#include "camera/lens.h"

#include <math.h>

tsr_status tsr_lens_check(const char *where, const tsr_lens *l)
{
    const double numbers[] = { l->k1, l->k2, l->k3, l->p1, l->p2, l->shift[0], l->shift[1], l->k4, l->k5, l->k6 };
    static const char *const names[] = { "k1", "k2", "k3", "p1", "p2", "shift[0]", "shift[1]", "k4", "k5", "k6" };
    enum { PLACES = 10 };
    if ((unsigned)l->model > TSR_LENS_FISHEYE)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: lens model is %d, expected 0 (division), 1 (poly) or 2 (fisheye)", where, (int)l->model);
    const double most = l->model == TSR_LENS_DIVISION ? 10 : 1000; /* rational terms all but cancel each other: their numbers may be large */
    for (int i = 0; i < PLACES; i++) {
        const double limit = i == 5 || i == 6 ? 10 : most;
        if (!(fabs(numbers[i]) <= limit))
            TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: %s of the lens is %g, expected -%g to %g", where, names[i], numbers[i], limit, limit);
    }
    if (l->model == TSR_LENS_DIVISION && (l->k2 != 0 || l->k3 != 0 || l->p1 != 0 || l->p2 != 0 || l->k4 != 0 || l->k5 != 0 || l->k6 != 0))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: the division model has k1 alone, expected k2 to k6, p1 and p2 to be 0 (or the model poly)", where);
    if (l->model == TSR_LENS_FISHEYE && (l->k5 != 0 || l->k6 != 0 || l->p1 != 0 || l->p2 != 0))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: the fish-eye model has k1 to k4, expected k5, k6, p1 and p2 to be 0 (or the model poly)", where);
    if (!(l->focal >= 0 && l->focal <= 1e6)) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: focal length of the lens is %g, expected 0 to 1e6", where, l->focal);
    if (!(l->pixel_aspect >= 0 && l->pixel_aspect <= 100) || (l->pixel_aspect > 0 && l->pixel_aspect < 0.01))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: the lens's pixel aspect is %g, expected 0.01 to 100 (0 = 1)", where, l->pixel_aspect);
    return TSR_OK;
}

tsr_status tsr_lens_map_make(const char *where, const tsr_lens *l, int32_t width, int32_t height, double scale, tsr_lens_map *map)
{
    if (!l) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: lens is NULL", where);
    TSR_TRY(tsr_lens_check(where, l));
    if (l->model == TSR_LENS_FISHEYE && !(l->focal > 0))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: focal length of a fish-eye is 0, expected half-widths above 0", where);
    if (width < 1 || height < 1 || !(scale >= 0.01 && scale <= 100))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: image of %d x %d at scale %g, expected extents above 0 and a scale from 0.01 to 100", where, width, height,
                 scale);
    const double half = 0.5 * width, half_y = l->pixel_aspect > 0 ? half * l->pixel_aspect : half;
    *map = (tsr_lens_map){ .lens = *l,
                           .half = half,
                           .half_y = half_y,
                           .scale = scale,
                           .step = scale / half,
                           .step_y = scale / half_y,
                           .centre = { half + l->shift[0] * half, 0.5 * height + l->shift[1] * half_y } };
    return TSR_OK;
}

int tsr_lens_distorts(const tsr_lens *l)
{
    return l && (l->model == TSR_LENS_FISHEYE || l->k1 != 0 || l->k2 != 0 || l->k3 != 0 || l->p1 != 0 || l->p2 != 0 || l->k4 != 0 || l->k5 != 0 ||
                 l->k6 != 0);
}

static void relative(const tsr_lens_map *m, const double p[2], double u[2])
{
    u[0] = (p[0] - m->centre[0]) / m->half;
    u[1] = (p[1] - m->centre[1]) / m->half_y;
}

tsr_status tsr_lens_distort(const tsr_lens *lens, int32_t width, int32_t height, const double undistorted[2], double distorted[2])
{
    TSR_NEEDS(lens);
    tsr_lens_map m;
    double u[2], added[2];
    TSR_TRY(tsr_lens_map_make("lens", lens, width, height, 1.0, &m));
    relative(&m, undistorted, u);
    if (!tsr_lens_add(lens, u, added)) {
        const double radius = sqrt(u[0] * u[0] + u[1] * u[1]);
        if (lens->model == TSR_LENS_DIVISION)
            TSR_FAIL(TSR_ERROR_ARGUMENT, "lens: the point (%g, %g) lies at the radius %.6g, expected at most %.6g for k1 = %g", undistorted[0],
                     undistorted[1], radius, 0.5 / sqrt(lens->k1), lens->k1);
        TSR_FAIL(TSR_ERROR_ARGUMENT, "lens: the point (%g, %g), radius %.6g, is beyond what the lens shows: its formula folds before", undistorted[0],
                 undistorted[1], radius);
    }
    distorted[0] = undistorted[0] + added[0] * m.half;
    distorted[1] = undistorted[1] + added[1] * m.half_y;
    return TSR_OK;
}

tsr_status tsr_lens_undistort(const tsr_lens *lens, int32_t width, int32_t height, const double distorted[2], double undistorted[2])
{
    TSR_NEEDS(lens);
    tsr_lens_map m;
    double d[2], added[2];
    TSR_TRY(tsr_lens_map_make("lens", lens, width, height, 1.0, &m));
    relative(&m, distorted, d);
    if (!tsr_lens_remove(lens, d, added)) {
        const double radius = sqrt(d[0] * d[0] + d[1] * d[1]);
        if (lens->model == TSR_LENS_DIVISION)
            TSR_FAIL(TSR_ERROR_ARGUMENT, "lens: the point (%g, %g) lies at the radius %.6g, expected less than %.6g for k1 = %g", distorted[0],
                     distorted[1], radius, 1.0 / sqrt(-lens->k1), lens->k1);
        TSR_FAIL(TSR_ERROR_ARGUMENT, "lens: no undistorted point is seen at (%g, %g), radius %.6g: the polynomial folds there", distorted[0],
                 distorted[1], radius);
    }
    undistorted[0] = distorted[0] + added[0] * m.half;
    undistorted[1] = distorted[1] + added[1] * m.half_y;
    return TSR_OK;
}
