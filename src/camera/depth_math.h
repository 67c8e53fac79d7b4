/* camera/depth_math.h: what numbers of depth images mean. See tessera/depth_map.h and docs/theory/cameras.md. */
#ifndef TSR_CAMERA_DEPTH_MATH_H
#define TSR_CAMERA_DEPTH_MATH_H

#include "core/hd.h"
#include "tessera/depth_map.h"

/* An encoding with the camera's numbers filled in. */
typedef struct tsr_depth_code {
    int32_t kind, orthographic, background_is_valid;
    double near_, far_, low, high; /* clip distances, 0 0: none; ends of the range */
    double unit, most;             /* of real numbers: 1; of integers: 1 / (2^bits - 1) and 2^bits - 1 */
    double scale, product, shift;  /* DISPARITY: focal times baseline */
    double edge;                   /* background: d at and beyond this; 0: none */
} tsr_depth_code;

/* d of a stored value. `along`: length of the pixel's ray per unit of d (RADIAL). Not a number where the value means nothing. */
TSR_HD double tsr_depth_of(const tsr_depth_code *c, double value, double along)
{
    const double n = c->near_, f = c->far_;
    double z;
    switch (c->kind) {
    case TSR_DEPTH_NDC:
    case TSR_DEPTH_WINDOW:
        z = c->kind == TSR_DEPTH_NDC ? (c->most > 0.0 ? 2.0 * value * c->unit - 1.0 : value) : 2.0 * value * c->unit - 1.0;
        return c->orthographic ? 0.5 * (z * (f - n) + f + n) : 2.0 * f * n / ((f + n) - z * (f - n));
    case TSR_DEPTH_EYE_LINEAR: return c->low + value * c->unit * (c->high - c->low);
    case TSR_DEPTH_RADIAL: return value * c->scale / along;
    case TSR_DEPTH_INVERSE: return 1.0 / (c->high + value * c->unit * (c->low - c->high)); /* low, high: already inverse */
    case TSR_DEPTH_DISPARITY: return c->product / (value * c->scale + c->shift);
    default: return value * c->scale;
    }
}
TSR_HD double tsr_depth_value(const tsr_depth_code *c, double d, double along)
{
    const double n = c->near_, f = c->far_;
    double v;
    switch (c->kind) {
    case TSR_DEPTH_NDC:
    case TSR_DEPTH_WINDOW:
        v = c->orthographic ? (2.0 * d - f - n) / (f - n) : (f + n) / (f - n) - 2.0 * f * n / ((f - n) * d);
        return c->kind == TSR_DEPTH_NDC && !(c->most > 0.0) ? v : 0.5 * (v + 1.0) / c->unit;
    case TSR_DEPTH_EYE_LINEAR: return (d - c->low) / (c->high - c->low) / c->unit;
    case TSR_DEPTH_RADIAL: return d * along / c->scale;
    case TSR_DEPTH_INVERSE: return (1.0 / d - c->high) / (c->low - c->high) / c->unit;
    case TSR_DEPTH_DISPARITY: return (c->product / d - c->shift) / c->scale;
    default: return d / c->scale;
    }
}

#endif
