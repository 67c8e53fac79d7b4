/* fluid/fluid_filter.h: the smoothers that curvature flow is compared with, at one pixel of a depth image. */
#ifndef TSR_FLUID_FILTER_H
#define TSR_FLUID_FILTER_H

#include "fluid/fluid_view.h"

typedef enum tsr_fluid_filter_kind {
    TSR_FILTER_GAUSSIAN = 0,   /* separable; pixels without fluid have no weight; bleeds over edges */
    TSR_FILTER_BILATERAL,      /* two one-dimensional passes, which is an approximation */
    TSR_FILTER_BILATERAL_TRUE, /* all of the square */
    TSR_FILTER_BINOMIAL,       /* (1 2 1) / 4 */
    TSR_FILTER_NARROW          /* narrow range, two one-dimensional passes and a small square */
} tsr_fluid_filter_kind;

typedef struct tsr_fluid_filter {
    tsr_fluid_filter_kind kind;
    float space;      /* sigma in world units: divided by the width of a pixel at the pixel's depth */
    float pixels;     /* most of it in pixels */
    float depth;      /* sigma of depths, world units */
    float range, clamp; /* of the narrow range */
    float slope, step;  /* width of a pixel = slope z + step */
    int32_t reach;    /* most pixels to either side */
} tsr_fluid_filter;

/* The passes of one iteration: 0 along rows, 1 along columns, 2 the square, 3 a square of 5 x 5. */
TSR_HD int32_t tsr_fluid_passes(tsr_fluid_filter_kind kind, int32_t passes[4])
{
    passes[0] = kind == TSR_FILTER_BILATERAL_TRUE ? 2 : 0;
    passes[1] = 1;
    passes[2] = 3;
    return kind == TSR_FILTER_BILATERAL_TRUE ? 1 : kind == TSR_FILTER_NARROW ? 3 : 2;
}

/* Pixels to either side and 1 / (2 sigma^2) of the pixel. */
TSR_HD int32_t tsr_fluid_reach(const tsr_fluid_filter *f, float z, float *fall)
{
    const float sigma = tsr_clampf(f->space / (f->slope * z + f->step), 0.3f, f->pixels);
    *fall = 0.5f / (sigma * sigma);
    return tsr_mini(tsr_ceil_int(2.0f * sigma), f->reach);
}

/* Largest eigenvalue's root of the shape that q describes: the longest half axis, 1 / sqrt(least eigenvalue of Q), bounded by Gershgorin's circles of the
 * inverse: here from the trace of the adjugate over the determinant. */
TSR_HD float tsr_fluid_longest(const float q[6])
{
    const float a = q[1] * q[2] - q[5] * q[5], b = q[0] * q[2] - q[4] * q[4], c = q[0] * q[1] - q[3] * q[3];
    const float det = q[0] * a - q[3] * (q[3] * q[2] - q[5] * q[4]) + q[4] * (q[3] * q[5] - q[1] * q[4]);
    return tsr_sqrt((a + b + c) / (det > 1.0e-20f ? det : 1.0e-20f));
}

/* Weight and value that a neighbour has for the pixel of depth z: 0 where it has none. */
typedef struct tsr_fluid_range { float front, back; } tsr_fluid_range;
TSR_HD float tsr_fluid_weigh(const tsr_fluid_filter *f, float z, float fall, float distance2, float other, const tsr_fluid_range *range, float *value)
{
    *value = other;
    if (f->kind == TSR_FILTER_NARROW) {
        if (other < z - range->front) return 0.0f; /* something else before it */
        if (other > z + range->back) *value = z + f->clamp; /* and behind it, or nothing */
        return tsr_expf(-distance2 * fall);
    }
    if (!(other < TSR_FLUID_NOTHING)) {
        *value = 0.0f;
        return 0.0f;
    }
    if (f->kind == TSR_FILTER_GAUSSIAN) return tsr_expf(-distance2 * fall);
    const float apart = (other - z) / f->depth;
    return tsr_expf(-(distance2 * fall + 0.5f * (apart * apart)));
}
TSR_HD void tsr_fluid_widen(const tsr_fluid_filter *f, float z, float other, tsr_fluid_range *range)
{
    if (other >= z - range->front && other <= z) range->front = tsr_maxf(range->front, z - other + f->range);
    if (other >= z && other <= z + range->back) range->back = tsr_maxf(range->back, other - z + f->range);
}

/* One pass along one axis: `step` from pixel to pixel, `before` and `after` pixels of the image on either side. */
TSR_HD float tsr_fluid_filter_line(const tsr_fluid_filter *f, const float *p, int64_t step, int32_t before, int32_t after)
{
    const float z = *p;
    if (!(z < TSR_FLUID_NOTHING)) return z;
    if (f->kind == TSR_FILTER_BINOMIAL) {
        const float a = before > 0 && p[-step] < TSR_FLUID_NOTHING ? p[-step] : z, b = after > 0 && p[step] < TSR_FLUID_NOTHING ? p[step] : z;
        return 0.25f * (a + b) + 0.5f * z;
    }
    float fall, sum = z, weights = 1.0f;
    const int32_t reach = tsr_fluid_reach(f, z, &fall);
    tsr_fluid_range left = { f->range, f->range }, right = left;
    for (int32_t k = 1; k <= reach; k++) {
        float one = 0.0f, two = 0.0f, w1 = 0.0f, w2 = 0.0f;
        const float d2 = (float)(k * k);
        const float a = k <= before ? p[-k * step] : TSR_FLUID_NOTHING, b = k <= after ? p[k * step] : TSR_FLUID_NOTHING;
        w1 = tsr_fluid_weigh(f, z, fall, d2, a, &left, &one);
        w2 = tsr_fluid_weigh(f, z, fall, d2, b, &right, &two);
        if (f->kind == TSR_FILTER_NARROW) {
            if (w1 == 0.0f || w2 == 0.0f) continue; /* both of a pair or none: no tilt */
            tsr_fluid_widen(f, z, a, &left);
            tsr_fluid_widen(f, z, b, &right);
        }
        sum += w1 * one + w2 * two;
        weights += w1 + w2;
    }
    return sum / weights;
}

/* All of the square at once; sides[4]: pixels of the image to the left, right, above and below. `most` bounds the reach. */
TSR_HD float tsr_fluid_filter_square(const tsr_fluid_filter *f, const float *p, int64_t stride, const int32_t sides[4], int32_t most)
{
    const float z = *p;
    if (!(z < TSR_FLUID_NOTHING)) return z;
    float fall, sum = 0.0f, weights = 0.0f;
    const int32_t reach = tsr_mini(tsr_fluid_reach(f, z, &fall), most);
    const tsr_fluid_range range = { f->range, f->range };
    for (int32_t j = -tsr_mini(reach, sides[2]); j <= tsr_mini(reach, sides[3]); j++)
        for (int32_t i = -tsr_mini(reach, sides[0]); i <= tsr_mini(reach, sides[1]); i++) {
            float value;
            const float w = tsr_fluid_weigh(f, z, fall, (float)(i * i + j * j), p[j * stride + i], &range, &value);
            sum += w * value;
            weights += w;
        }
    return sum / weights;
}

#endif
