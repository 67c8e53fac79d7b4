/* mip/mip_ray.h: the picture of every voxel, from the dense volume: the ray of a pixel visits slice after slice across the axis that it mostly follows and
 * takes the voxels whose centres fall on the pixel. Floating point only narrows the search; the test is the projection's own. */
#ifndef TSR_MIP_MIP_RAY_H
#define TSR_MIP_MIP_RAY_H

#include "mip/mip_pixels.h"

enum { TSR_MIP_RAY_BRICK = 8 };

typedef struct tsr_mip_rays {
    tsr_mip_projection p;
    const void *data;
    const uint16_t *most; /* per brick of 8^3 */
    int32_t bytes, size[3], bricks[3];
    int32_t axis[3];   /* the one followed, then the others */
    int32_t backwards; /* the near end has the larger index */
    int32_t width, height;
    int32_t lower, upper, saturated, largest; /* values above `upper` become `saturated`; `largest` of the volume, so shown */
    int32_t slab;
    int64_t slab_lower, slab_upper;
    double inverse; /* 1 / (U_a V_b - U_b V_a) */
    int32_t slices; /* slice by slice instead of ray by ray */
    uint32_t *image;
} tsr_mip_rays;

/* Voxels a and b of slice t whose centres may fall on the pixel: [low, high]. */
TSR_HD void tsr_mip_ray_span(const tsr_mip_rays *r, int64_t pu, int64_t pv, int32_t t, int32_t low[2], int32_t high[2])
{
    const int32_t m = r->axis[0], a = r->axis[1], b = r->axis[2];
    const double u = (double)(pu - r->p.u[m] * (int64_t)t) + 32768.0, v = (double)(pv - r->p.v[m] * (int64_t)t) + 32768.0; /* the pixel's middle */
    const double middle[2] = { (u * r->p.v[b] - v * r->p.u[b]) * r->inverse, (v * r->p.u[a] - u * r->p.v[a]) * r->inverse };
    const double scale = 32768.0 * (r->inverse < 0.0 ? -r->inverse : r->inverse);
    const double half[2] = { scale * ((double)(r->p.v[b] < 0 ? -r->p.v[b] : r->p.v[b]) + (double)(r->p.u[b] < 0 ? -r->p.u[b] : r->p.u[b])),
                             scale * ((double)(r->p.v[a] < 0 ? -r->p.v[a] : r->p.v[a]) + (double)(r->p.u[a] < 0 ? -r->p.u[a] : r->p.u[a])) };
    for (int k = 0; k < 2; k++) {
        const double most = (double)r->size[r->axis[k + 1]], from = middle[k] - half[k] - 1e-6, to = middle[k] + half[k] + 1e-6;
        /* of numbers beyond the volume only that they are; the ceiling from the truncation towards 0 */
        low[k] = from <= 0.0 ? 0 : from >= most ? (int32_t)most : (int32_t)from;
        high[k] = to < 0.0 ? -1 : to >= most ? (int32_t)most - 1 : (int32_t)to;
    }
}

TSR_HD uint32_t tsr_mip_ray_slice(const tsr_mip_rays *r, int64_t pu, int64_t pv, int32_t t, uint32_t best)
{
    const int32_t m = r->axis[0], a = r->axis[1], b = r->axis[2];
    int32_t low[2], high[2], at[3] = { 0, 0, 0 };
    tsr_mip_ray_span(r, pu, pv, t, low, high);
    at[m] = t;
    for (int32_t j = low[1]; j <= high[1]; j++)
        for (int32_t i = low[0]; i <= high[0]; i++) {
            const int64_t u = r->p.u[m] * (int64_t)t + r->p.u[a] * (int64_t)i + r->p.u[b] * (int64_t)j - pu;
            const int64_t v = r->p.v[m] * (int64_t)t + r->p.v[a] * (int64_t)i + r->p.v[b] * (int64_t)j - pv;
            if (u < 0 || u >= 65536 || v < 0 || v >= 65536) continue;
            at[a] = i;
            at[b] = j;
            const uint32_t value = tsr_adjunction_load(r->data, r->bytes, tsr_adjunction_index(r->size, at[0], at[1], at[2]));
            if (value <= best) continue;
            if (r->slab) {
                const int64_t depth = r->p.anchor_w + tsr_mip_dot(r->p.w, at[0], at[1], at[2]);
                if (depth < r->slab_lower || depth >= r->slab_upper) continue;
            }
            best = value;
        }
    return best;
}

/* Largest value of the bricks that slices [t, t + 8) of the ray may touch. */
TSR_HD uint32_t tsr_mip_ray_most(const tsr_mip_rays *r, int64_t pu, int64_t pv, int32_t t, int32_t last)
{
    const int32_t m = r->axis[0], a = r->axis[1], b = r->axis[2];
    int32_t low[2], high[2], low2[2], high2[2], at[3] = { 0, 0, 0 };
    uint32_t most = 0;
    tsr_mip_ray_span(r, pu, pv, t, low, high);
    tsr_mip_ray_span(r, pu, pv, last, low2, high2);
    for (int k = 0; k < 2; k++) {
        low[k] = tsr_mini(low[k], low2[k]);
        high[k] = tsr_maxi(high[k], high2[k]);
        if (high[k] < low[k]) return 0;
    }
    at[m] = t / TSR_MIP_RAY_BRICK;
    for (int32_t j = low[1] / TSR_MIP_RAY_BRICK; j <= high[1] / TSR_MIP_RAY_BRICK; j++)
        for (int32_t i = low[0] / TSR_MIP_RAY_BRICK; i <= high[0] / TSR_MIP_RAY_BRICK; i++) {
            at[a] = tsr_mini(i, r->bricks[a] - 1);
            at[b] = tsr_mini(j, r->bricks[b] - 1);
            const uint32_t v = r->most[tsr_adjunction_index(r->bricks, at[0], at[1], at[2])];
            most = v > most ? v : most;
        }
    return most;
}

/* What is shown of the largest value found, lower - 1 = none. */
TSR_HD uint32_t tsr_mip_ray_shown(const tsr_mip_rays *r, uint32_t best)
{
    return best == (uint32_t)r->lower - 1u ? 0u : best > (uint32_t)r->upper ? (uint32_t)r->saturated : best;
}

TSR_HD uint32_t tsr_mip_ray_pixel(const tsr_mip_rays *r, int32_t x, int32_t y)
{
    const int64_t pu = ((int64_t)x << 16) - r->p.anchor_u[0], pv = ((int64_t)y << 16) - r->p.anchor_v[0];
    const int32_t slices = r->size[r->axis[0]], blocks = (slices + TSR_MIP_RAY_BRICK - 1) / TSR_MIP_RAY_BRICK;
    const uint32_t floor = (uint32_t)r->lower - 1u;
    uint32_t best = floor;
    for (int32_t k = 0; k < blocks && best < (uint32_t)r->largest; k++) {
        const int32_t block = r->backwards ? blocks - 1 - k : k, t0 = block * TSR_MIP_RAY_BRICK, t1 = tsr_mini(t0 + TSR_MIP_RAY_BRICK, slices);
        if (tsr_mip_ray_most(r, pu, pv, t0, t1 - 1) <= best) continue;
        for (int32_t t = t0; t < t1; t++) best = tsr_mip_ray_slice(r, pu, pv, t, best);
    }
    return tsr_mip_ray_shown(r, best);
}

/* Slice t blended into pixel (x, y) by maximum; the slices come in order, the first one begins the picture, the last one ends it. */
TSR_HD void tsr_mip_slice_pixel(const tsr_mip_rays *r, int32_t x, int32_t y, int32_t t)
{
    const int64_t pu = ((int64_t)x << 16) - r->p.anchor_u[0], pv = ((int64_t)y << 16) - r->p.anchor_v[0];
    uint32_t *pixel = r->image + (int64_t)y * r->width + x;
    const uint32_t floor = (uint32_t)r->lower - 1u, best = tsr_mip_ray_slice(r, pu, pv, t, t == 0 ? floor : *pixel);
    *pixel = t + 1 < r->size[r->axis[0]] ? best : tsr_mip_ray_shown(r, best);
}

/* Largest value of a brick. */
TSR_HD uint16_t tsr_mip_ray_brick(const void *data, int32_t bytes, const int32_t size[3], const int32_t bricks[3], int64_t brick)
{
    const int32_t o[3] = { (int32_t)(brick % bricks[0]) * TSR_MIP_RAY_BRICK, (int32_t)(brick / bricks[0] % bricks[1]) * TSR_MIP_RAY_BRICK,
                           (int32_t)(brick / ((int64_t)bricks[0] * bricks[1])) * TSR_MIP_RAY_BRICK };
    uint32_t most = 0;
    for (int32_t z = o[2]; z < tsr_mini(o[2] + TSR_MIP_RAY_BRICK, size[2]); z++)
        for (int32_t y = o[1]; y < tsr_mini(o[1] + TSR_MIP_RAY_BRICK, size[1]); y++)
            for (int32_t x = o[0]; x < tsr_mini(o[0] + TSR_MIP_RAY_BRICK, size[0]); x++) {
                const uint32_t v = tsr_adjunction_load(data, bytes, tsr_adjunction_index(size, x, y, z));
                most = v > most ? v : most;
            }
    return (uint16_t)most;
}

#endif
