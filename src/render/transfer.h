/* render/transfer.h: evaluation of a transfer function (docs/theory/rendering.md 4), colours linear. */
#ifndef TSR_RENDER_TRANSFER_H
#define TSR_RENDER_TRANSFER_H

#include "render/maths.h"

enum { TSR_TRANSFER_MOST_POINTS = 16, TSR_TRANSFER_MOST_GAUSSIANS = 8 };

enum { TSR_BEYOND_VALUE = 1, TSR_BEYOND_GRADIENT = 2, TSR_BEYOND_LEVEL = 4 };

typedef struct tsr_transfer_linear {
    int32_t points, gaussians, needs_gradient;
    int32_t needs_level, general; /* general: anything but Gaussians of value and gradient along the axes */
    struct {
        float value, alpha;
        tsr_float3 color;
    } point[TSR_TRANSFER_MOST_POINTS];
    struct {
        float centre, inverse_width, gradient_centre, gradient_inverse_width, alpha;
        tsr_float3 color;
        float level_centre, level_inverse_width, shear[3];
        int32_t shape, beyond; /* shape: tsr_transfer_shape */
    } gaussian[TSR_TRANSFER_MOST_GAUSSIANS];
} tsr_transfer_linear;

/* Place of v in a segment, and what lies there between a and b. */
TSR_HD float tsr_transfer_share(float v, float low, float high) { return (v - low) / (high - low); }
TSR_HD float tsr_transfer_between(float a, float b, float t) { return a + t * (b - a); }

/* Piecewise-linear part: segment of v and weight of its upper end. */
TSR_HD float tsr_transfer_points(const tsr_transfer_linear *f, float v, tsr_float3 *color)
{
    int32_t i = 0;
    if (f->points == 0) {
        *color = tsr_f3(0.0f, 0.0f, 0.0f);
        return 0.0f;
    }
    if (!(v > f->point[0].value)) {
        *color = f->point[0].color;
        return f->point[0].alpha;
    }
    while (i + 1 < f->points && v > f->point[i + 1].value) i++;
    if (i + 1 >= f->points) {
        *color = f->point[i].color;
        return f->point[i].alpha;
    }
    float t = tsr_transfer_share(v, f->point[i].value, f->point[i + 1].value);
    *color = tsr_mix3(f->point[i].color, f->point[i + 1].color, t);
    return tsr_transfer_between(f->point[i].alpha, f->point[i + 1].alpha, t);
}

/* Square of the distance to the centre of Gaussian i, in widths, and the Gaussian's opacity there from exp(-square). */
TSR_HD float tsr_transfer_square(const tsr_transfer_linear *f, int32_t i, float v, float gradient)
{
    float x = (v - f->gaussian[i].centre) * f->gaussian[i].inverse_width;
    float y = (gradient - f->gaussian[i].gradient_centre) * f->gaussian[i].gradient_inverse_width;
    return x * x + y * y;
}
TSR_HD float tsr_transfer_bump(float alpha, float square, float exponential)
{
    float a = alpha * exponential;
    return square < 25.0f ? a : 0.0f; /* exp(-25) = 1e-11: cut, so that bricks can be skipped */
}

TSR_HD float tsr_transfer_offset(float v, float centre, int32_t held) { return held && v > centre ? 0.0f : v - centre; }

/* Place in primitive i of a general function, in its widths from its centre. */
TSR_HD tsr_float3 tsr_transfer_axes(const tsr_transfer_linear *f, int32_t i, float v, float gradient, float level)
{
    const int32_t beyond = f->gaussian[i].beyond;
    const float *shear = f->gaussian[i].shear;
    float a = tsr_transfer_offset(v, f->gaussian[i].centre, beyond & TSR_BEYOND_VALUE);
    float b = tsr_transfer_offset(gradient, f->gaussian[i].gradient_centre, beyond & TSR_BEYOND_GRADIENT);
    float c = tsr_transfer_offset(level, f->gaussian[i].level_centre, beyond & TSR_BEYOND_LEVEL);
    return tsr_f3((a * f->gaussian[i].inverse_width + shear[0] * b) + shear[1] * c, b * f->gaussian[i].gradient_inverse_width + shear[2] * c,
                  c * f->gaussian[i].level_inverse_width);
}
TSR_HD float tsr_transfer_norm(tsr_float3 x) { return (x.x * x.x + x.y * x.y) + x.z * x.z; }
/* Share of the opacity of a box (shape 1) or triangle. */
TSR_HD float tsr_transfer_block(int32_t shape, tsr_float3 x)
{
    const float most = tsr_maxf(tsr_absf(x.x), tsr_maxf(tsr_absf(x.y), tsr_absf(x.z)));
    return shape == 1 ? (most <= 1.0f ? 1.0f : 0.0f) : tsr_saturatef(1.0f - most);
}
/* Opacity of primitive i of a general function. */
TSR_HD float tsr_transfer_primitive(const tsr_transfer_linear *f, int32_t i, float v, float gradient, float level)
{
    const tsr_float3 x = tsr_transfer_axes(f, i, v, gradient, level);
    if (f->gaussian[i].shape == 0) {
        const float square = tsr_transfer_norm(x);
        return tsr_transfer_bump(f->gaussian[i].alpha, square, tsr_expf(-square));
    }
    return f->gaussian[i].alpha * tsr_transfer_block(f->gaussian[i].shape, x);
}

/* Opacity per reference length, in [0, 1], and colour. NaN is transparent. `full` = 0: f is not general (a constant, for the compiler). */
TSR_HD float tsr_transfer_evaluate(const tsr_transfer_linear *f, int full, float v, float gradient, float level, tsr_float3 *color)
{
    *color = tsr_f3(0.0f, 0.0f, 0.0f);
    if (!(v == v)) return 0.0f;
    tsr_float3 c;
    float alpha = tsr_transfer_points(f, v, &c);
    if (f->gaussians == 0) {
        *color = c;
        return tsr_minf(alpha, 1.0f);
    }
    c = tsr_scale3(c, alpha);
    for (int32_t i = 0; i < f->gaussians; i++) {
        float a;
        if (full && f->general) {
            a = tsr_transfer_primitive(f, i, v, gradient, level);
        } else {
            float square = tsr_transfer_square(f, i, v, gradient);
            a = tsr_transfer_bump(f->gaussian[i].alpha, square, tsr_expf(-square));
        }
        alpha += a;
        c = tsr_add3(c, tsr_scale3(f->gaussian[i].color, a));
    }
    if (!(alpha > 0.0f)) return 0.0f;
    *color = tsr_scale3(c, 1.0f / alpha);
    return tsr_minf(alpha, 1.0f);
}

/* Can a value in [low, high] have opacity? Conservative. */
TSR_HD int tsr_transfer_visible(const tsr_transfer_linear *f, float low, float high)
{
    tsr_float3 c;
    if (!(low <= high)) return 0; /* a brick of NaN */
    if (tsr_transfer_points(f, low, &c) > 0.0f || tsr_transfer_points(f, high, &c) > 0.0f) return 1;
    for (int32_t i = 0; i < f->points; i++)
        if (f->point[i].value >= low && f->point[i].value <= high && f->point[i].alpha > 0.0f) return 1;
    for (int32_t i = 0; i < f->gaussians; i++) {
        float nearest = tsr_clampf(f->gaussian[i].centre, low, high);
        float x = tsr_transfer_offset(nearest, f->gaussian[i].centre, f->gaussian[i].beyond & TSR_BEYOND_VALUE) * f->gaussian[i].inverse_width;
        float reach = f->gaussian[i].shape == 0 ? 5.0f : 1.0f;                            /* in widths: where a primitive ends */
        if (f->gaussian[i].shear[0] != 0.0f || f->gaussian[i].shear[1] != 0.0f) x = 0.0f; /* depends on the other axes */
        if (f->gaussian[i].alpha > 0.0f && tsr_absf(x) <= reach) return 1;
    }
    return 0;
}

#endif
