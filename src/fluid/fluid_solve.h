/* fluid/fluid_solve.h: the linear systems of implicit curvature flow: windows of tridiagonal systems, and cycles of multigrid.
 *
 * Rows and columns are solved in windows of SOLVE_CORE pixels with SOLVE_HALO more on either side, each for itself. What lies beyond has an influence of
 * r^HALO, r = 1 + 1/(2c) - sqrt((1 + 1/(2c))^2 - 1): 6e-9 for c = 2.8, the longest step of the defaults. So windows are independent work for every backend. */
#ifndef TSR_FLUID_SOLVE_H
#define TSR_FLUID_SOLVE_H

#include "fluid/fluid_flow.h"

enum { TSR_FLUID_SOLVE_CORE = 96, TSR_FLUID_SOLVE_HALO = 32, TSR_FLUID_SOLVE_ALL = TSR_FLUID_SOLVE_CORE + 2 * TSR_FLUID_SOLVE_HALO, TSR_FLUID_LEVELS = 4,
       TSR_FLUID_SWEEPS = 4, TSR_FLUID_LAST_SWEEPS = 8 }; /* of multigrid: before and after a coarser level, and of the coarsest; even */

/* -c w[i-1] + (1 + 2 c) w[i] - c w[i+1] = r: elimination downwards, then w[i] = d[i] + e[i] w[i+1]. */
TSR_HD void tsr_fluid_eliminate(float c, float r, float *e, float *d)
{
    const float pivot = 1.0f / ((1.0f + 2.0f * c) - c * *e);
    *d = (r + c * *d) * pivot;
    *e = c * pivot;
}

/* Second difference of w, 0 where the pixel has no links. */
TSR_HD float tsr_fluid_second(float c, float a, float w, float b) { return c > 0.0f ? c * ((b - w) - (w - a)) : 0.0f; }

/* ---- multigrid -------------------------------------------------------------------------------------------------------------------------------
 * (1 - cx d_xx - cy d_yy) u = r on an image; the coarser level has half the extents, a quarter of the means of cx and cy, and the mean of the residual.
 * Pixels without links (cx = cy = 0) keep u = r = 0. A coarse pixel takes part only if all four of its own have links along both axes: then none of them lies at
 * an edge, and nothing is carried over edges. */
typedef struct tsr_fluid_level {
    int32_t width, height, stride; /* padded as images are; borders 0 */
    float *cx, *cy, *r, *u, *t;
} tsr_fluid_level;

TSR_HD int64_t tsr_fluid_level_at(const tsr_fluid_level *l, int32_t x, int32_t y) { return (int64_t)(y + 1) * l->stride + x + TSR_FLUID_PAD; }

TSR_HD float tsr_fluid_applied(const tsr_fluid_level *l, const float *u, int64_t at) /* off-diagonal part, negated */
{
    return l->cx[at] * (u[at - 1] + u[at + 1]) + l->cy[at] * (u[at - l->stride] + u[at + l->stride]);
}
/* One step of weighted Jacobi. */
TSR_HD float tsr_fluid_relax(const tsr_fluid_level *l, const float *u, int64_t at, float weight)
{
    const float diagonal = 1.0f + 2.0f * (l->cx[at] + l->cy[at]);
    return u[at] + weight * ((l->r[at] + tsr_fluid_applied(l, u, at)) / diagonal - u[at]);
}
/* Four steps with the roots of the Chebyshev polynomial of the upper half of the spectrum, [1/2, 2], leave 1/40 of what a coarser level does not see. */
TSR_HD float tsr_fluid_weight(int32_t step)
{
    const int32_t k = step & 3;
    return k == 0 ? 0.51469f : k == 1 ? 1.79498f : k == 2 ? 0.65061f : 1.03838f;
}
TSR_HD float tsr_fluid_residual(const tsr_fluid_level *l, int64_t at)
{
    return l->r[at] + tsr_fluid_applied(l, l->u, at) - (1.0f + 2.0f * (l->cx[at] + l->cy[at])) * l->u[at];
}
/* Pixel (x, y) of the coarser level. */
TSR_HD void tsr_fluid_restrict(const tsr_fluid_level *fine, const tsr_fluid_level *coarse, int32_t x, int32_t y)
{
    float cx = 0.0f, cy = 0.0f, r = 0.0f;
    int32_t whole = 1;
    for (int32_t k = 0; k < 4; k++) {
        const int32_t a = 2 * x + k % 2, b = 2 * y + k / 2;
        if (a >= fine->width || b >= fine->height) {
            whole = 0;
            continue;
        }
        const int64_t at = tsr_fluid_level_at(fine, a, b);
        whole &= fine->cx[at] > 0.0f && fine->cy[at] > 0.0f;
        cx += fine->cx[at];
        cy += fine->cy[at];
        r += tsr_fluid_residual(fine, at);
    }
    const int64_t to = tsr_fluid_level_at(coarse, x, y);
    coarse->cx[to] = whole ? cx * 0.0625f : 0.0f;
    coarse->cy[to] = whole ? cy * 0.0625f : 0.0f;
    coarse->r[to] = whole ? 0.25f * r : 0.0f;
    coarse->u[to] = 0.0f;
}
/* The correction of a pixel of the finer level (0 if its coarse pixel takes no part): linear between the middles of coarse pixels, along both axes. */
TSR_HD float tsr_fluid_prolong(const tsr_fluid_level *coarse, int32_t x, int32_t y)
{
    const int64_t at = tsr_fluid_level_at(coarse, x / 2, y / 2);
    const int64_t side = x % 2 ? 1 : -1, down = y % 2 ? coarse->stride : -coarse->stride;
    const float *u = coarse->u + at;
    if (!(coarse->cx[at] > 0.0f)) return 0.0f;
    return 0.5625f * u[0] + 0.1875f * (u[side] + u[down]) + 0.0625f * u[side + down];
}

#endif
