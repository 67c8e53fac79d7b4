/* flow/field_math.h: a vector field at one place: interpolation, Jacobian, what is derived from it. Class exact: float32 and float64 with + - * / and sqrt.
 *
 * Vectors are kept along the axes of the GRID and in cells per unit of time: world component along grid axis i = h[i] times it. So a particle moves in index
 * coordinates without a matrix, and r . v of the world is (A^T r) . v with the index-to-world matrix A. */
#ifndef TSR_FLOW_FIELD_MATH_H
#define TSR_FLOW_FIELD_MATH_H

#include <math.h>

#include "core/quad.h"
#include "tessera/field.h"

typedef struct tsr_field_grid {
    int32_t n[3];
    int64_t sy, sz;      /* floats from a sample to the next along y and z */
    const float *v;      /* [samples][4]: velocity, cells per unit of time; curvature */
    const float *w;      /* [samples][4]: acceleration, likewise; |curl| */
    float m[3];          /* squares of the spacing: |v|^2 = sum of m v^2 */
    double h[3];         /* spacing */
    double axis[3][3];   /* [r][i]: component r of the unit vector along grid axis i */
    double origin[3];    /* of sample 0 */
    double still;        /* speeds up to this count as 0: curvature */
} tsr_field_grid;

TSR_HD int64_t tsr_field_at(const tsr_field_grid *g, int32_t x, int32_t y, int32_t z) { return (int64_t)x * 4 + y * g->sy + z * g->sz; }

/* Length in the world of a vector along the grid's axes. */
TSR_HD float tsr_field_norm(const tsr_field_grid *g, tsr_f4 v)
{
    const tsr_f4 q = tsr_f4_make(g->m[0], g->m[1], g->m[2]) * (v * v);
    return sqrtf((TSR_F4_AT(q, 0) + TSR_F4_AT(q, 1)) + TSR_F4_AT(q, 2));
}
TSR_HD double tsr_field_norm3(const tsr_field_grid *g, const double v[3])
{
    double sum = 0.0;
    for (int i = 0; i < 3; i++) sum += g->h[i] * v[i] * (g->h[i] * v[i]);
    return sqrt(sum);
}

/* J of the components along grid axes by index coordinates: j[i][k] = d v_i / d x_k, central, one-sided at the border. `which` 0: of v, 1: of w. */
TSR_HD void tsr_field_jacobian(const tsr_field_grid *g, const float *v, const int32_t at[3], double j[3][3])
{
    const int64_t base = tsr_field_at(g, at[0], at[1], at[2]), step[3] = { 4, g->sy, g->sz };
    for (int k = 0; k < 3; k++) {
        const int low = at[k] > 0, high = at[k] + 1 < g->n[k];
        const float *a = v + base - (low ? step[k] : 0), *b = v + base + (high ? step[k] : 0);
        const double scale = low && high ? 0.5 : 1.0;
        for (int i = 0; i < 3; i++) j[i][k] = ((double)b[i] - (double)a[i]) * scale;
    }
}

/* Curl along the grid's axes in the world, right-handed in their frame. */
TSR_HD void tsr_field_curl(const tsr_field_grid *g, double j[3][3], double curl[3])
{
    for (int i = 0; i < 3; i++) {
        const int a = (i + 1) % 3, b = (i + 2) % 3;
        curl[i] = j[b][a] * (g->h[b] / g->h[a]) - j[a][b] * (g->h[a] / g->h[b]);
    }
}

/* |v x w| / |v|^3 in the world; 0 where the speed is at most g->still. */
TSR_HD double tsr_field_curvature(const tsr_field_grid *g, const double v[3], const double w[3])
{
    double a[3], b[3], square = 0.0;
    const double speed = tsr_field_norm3(g, v);
    if (!(speed > g->still)) return 0.0;
    for (int i = 0; i < 3; i++) {
        a[i] = g->h[i] * v[i];
        b[i] = g->h[i] * w[i];
    }
    for (int i = 0; i < 3; i++) {
        const double c = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
        square += c * c;
    }
    return sqrt(square) / (speed * speed * speed);
}

/* w, curvature and |curl| of one sample: out[0..3] acceleration and |curl|, *curvature. */
TSR_HD void tsr_field_derive_one(const tsr_field_grid *g, const int32_t at[3], float out[4], float *curvature)
{
    double j[3][3], w[3], curl[3], v[3];
    const float *p = g->v + tsr_field_at(g, at[0], at[1], at[2]);
    tsr_field_jacobian(g, g->v, at, j);
    for (int i = 0; i < 3; i++) v[i] = (double)p[i];
    for (int i = 0; i < 3; i++) {
        w[i] = j[i][0] * v[0] + j[i][1] * v[1] + j[i][2] * v[2];
        out[i] = (float)w[i];
    }
    tsr_field_curl(g, j, curl);
    out[3] = (float)sqrt(curl[0] * curl[0] + curl[1] * curl[1] + curl[2] * curl[2]);
    *curvature = (float)tsr_field_curvature(g, v, w);
}

/* One derived quantity at a sample. `hand` is the sign of the determinant of the axes. */
TSR_HD float tsr_field_quantity_one(const tsr_field_grid *g, int32_t quantity, const int32_t at[3], double hand)
{
    double j[3][3], curl[3], value = 0.0;
    const float *p = g->v + tsr_field_at(g, at[0], at[1], at[2]);
    tsr_field_jacobian(g, g->v, at, j);
    switch (quantity) {
    case TSR_FIELD_SPEED:
        for (int i = 0; i < 3; i++) value += g->h[i] * (double)p[i] * (g->h[i] * (double)p[i]);
        return (float)sqrt(value);
    case TSR_FIELD_CURVATURE: return p[3];
    case TSR_FIELD_DIVERGENCE: return (float)(j[0][0] + j[1][1] + j[2][2]);
    case TSR_FIELD_Q: /* -1/2 sum J_ik J_ki + 1/2 ... : (|Omega|^2 - |S|^2) / 2 = -1/2 trace(J J), also of compressible flow */
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++) value -= 0.5 * j[i][k] * j[k][i];
        return (float)value;
    default: break;
    }
    tsr_field_curl(g, j, curl);
    for (int i = 0; i < 3; i++) curl[i] *= hand;
    if (quantity == TSR_FIELD_VORTICITY) return (float)sqrt(curl[0] * curl[0] + curl[1] * curl[1] + curl[2] * curl[2]);
    if (quantity == TSR_FIELD_HELICITY) {
        for (int i = 0; i < 3; i++) value += g->h[i] * (double)p[i] * curl[i];
        return (float)value;
    }
    const int r = quantity - TSR_FIELD_CURL_X;
    for (int i = 0; i < 3; i++) value += g->axis[r][i] * curl[i];
    return (float)value;
}

/* ---- sums ------------------------------------------------------------------------------------------------------------------------------- */

/* Of one slice: largest |v|^2 and |w|^2 in the world, and the sums of the products of the components of v and w along grid axes in the world (xx yy zz xy xz
 * yz). Lanes take every TSR_FIELD_LANES-th sample and fold by halves, so that every backend adds in the same order. */
enum { TSR_FIELD_LANES = 64 };
typedef struct tsr_field_moments { double most[2], sum[12]; } tsr_field_moments;

TSR_HD void tsr_field_moments_lane(const tsr_field_grid *g, int32_t z, int32_t lane, tsr_field_moments *own)
{
    const int64_t count = (int64_t)g->n[0] * g->n[1];
    const float *const from[2] = { g->v + z * g->sz, g->w + z * g->sz };
    for (int k = 0; k < 2; k++) own->most[k] = 0.0;
    for (int k = 0; k < 12; k++) own->sum[k] = 0.0;
    for (int64_t i = lane; i < count; i += TSR_FIELD_LANES)
        for (int k = 0; k < 2; k++) {
            const double x = g->h[0] * (double)from[k][4 * i], y = g->h[1] * (double)from[k][4 * i + 1], u = g->h[2] * (double)from[k][4 * i + 2];
            const double square = x * x + y * y + u * u;
            double *sum = own->sum + 6 * k;
            if (square > own->most[k]) own->most[k] = square;
            sum[0] += x * x;
            sum[1] += y * y;
            sum[2] += u * u;
            sum[3] += x * y;
            sum[4] += x * u;
            sum[5] += y * u;
        }
}
TSR_HD void tsr_field_moments_add(tsr_field_moments *a, const tsr_field_moments *b)
{
    for (int k = 0; k < 2; k++)
        if (b->most[k] > a->most[k]) a->most[k] = b->most[k];
    for (int k = 0; k < 12; k++) a->sum[k] += b->sum[k];
}

#endif
