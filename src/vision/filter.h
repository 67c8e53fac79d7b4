/* vision/filter.h: does a pixel belong to a feature: see tsr_feature_filter_kind. One text for every backend, integers alone (a lens apart). */
#ifndef TSR_VISION_FILTER_H
#define TSR_VISION_FILTER_H

#include "tessera/features.h"
#include "vision/lens_math.h"

typedef struct tsr_frame_view {
    const uint8_t *data, *previous; /* of one image; previous may be NULL */
    int32_t width, height, channels, ycbcr, warp;
    int64_t row, image; /* bytes from one to the next */
    tsr_lens_map map;
} tsr_frame_view;

typedef struct tsr_pixel {
    int32_t r, g, b;
} tsr_pixel;

/* A filter ready for use: inclusive integers. */
typedef struct tsr_feature_test {
    int32_t kind, local; /* local: by the pixel alone */
    int32_t lower[3], upper[3], threshold;
    int32_t bytes, low, high; /* bytes: grey pixels pass if low <= value <= high */
} tsr_feature_test;

TSR_HD int32_t tsr_pixel_clamp(int32_t v) { return tsr_maxi(0, tsr_mini(255, v)); }
/* 16.16 fixed point of 255/219 and 255/224 times the weights of BT.601. */
TSR_HD void tsr_pixel_from_ycbcr(tsr_pixel *p)
{
    const int32_t y = 76309 * (p->r - 16) + 32768, cb = p->g - 128, cr = p->b - 128;
    p->r = tsr_pixel_clamp((y + 104597 * cr) >> 16);
    p->g = tsr_pixel_clamp((y - 25675 * cb - 53279 * cr) >> 16);
    p->b = tsr_pixel_clamp((y + 132201 * cb) >> 16);
}

/* The pixel as filters see it; 0: beyond the frame. `data` is the view's frame or the one before. */
TSR_HD int tsr_frame_get(const tsr_frame_view *v, const uint8_t *data, int32_t x, int32_t y, tsr_pixel *p)
{
    if (x < 0 || y < 0 || x >= v->width || y >= v->height) return 0;
    if (v->warp) {
        double at[2];
        if (!tsr_lens_place(&v->map, 0, x, y, at)) return 0;
        at[0] += 0.5;
        at[1] += 0.5;
        if (!(at[0] >= 0.0 && at[1] >= 0.0 && at[0] < (double)v->width && at[1] < (double)v->height)) return 0;
        x = (int32_t)at[0];
        y = (int32_t)at[1];
    }
    const uint8_t *q = data + y * v->row + (int64_t)x * v->channels;
    p->r = q[0];
    p->g = v->channels > 1 ? q[1] : q[0];
    p->b = v->channels > 1 ? q[2] : q[0];
    if (v->ycbcr) tsr_pixel_from_ycbcr(p);
    return 1;
}

TSR_HD int32_t tsr_pixel_luminance(tsr_pixel p) { return (77 * p.r + 150 * p.g + 29 * p.b + 128) >> 8; }
TSR_HD int32_t tsr_pixel_difference(tsr_pixel a, tsr_pixel b)
{
    const int32_t r = a.r - b.r, g = a.g - b.g, c = a.b - b.b;
    return tsr_maxi(r < 0 ? -r : r, tsr_maxi(g < 0 ? -g : g, c < 0 ? -c : c));
}
/* Hue in 1536ths of the circle (grey: 0), saturation and value to 255, rounded down. */
TSR_HD void tsr_pixel_hsv(tsr_pixel p, int32_t hsv[3])
{
    const int32_t most = tsr_maxi(p.r, tsr_maxi(p.g, p.b)), d = most - tsr_mini(p.r, tsr_mini(p.g, p.b));
    hsv[0] = 0;
    hsv[1] = most ? 255 * d / most : 0;
    hsv[2] = most;
    if (!d) return;
    const int32_t sector = most == p.r ? 0 : most == p.g ? 512 : 1024, off = most == p.r ? p.g - p.b : most == p.g ? p.b - p.r : p.r - p.g;
    hsv[0] = (256 * off + 1536 * d) / d + sector;
    if (hsv[0] >= 1536) hsv[0] -= 1536;
}

TSR_HD int tsr_pixel_passes(const tsr_feature_test *t, tsr_pixel p)
{
    switch (t->kind) {
    case TSR_FEATURE_LUMINANCE: {
        const int32_t l = tsr_pixel_luminance(p);
        return l >= t->lower[0] && l <= t->upper[0];
    }
    case TSR_FEATURE_BOX:
        return p.r >= t->lower[0] && p.r <= t->upper[0] && p.g >= t->lower[1] && p.g <= t->upper[1] && p.b >= t->lower[2] && p.b <= t->upper[2];
    case TSR_FEATURE_DISTANCE: {
        const int32_t r = p.r - t->lower[0], g = p.g - t->lower[1], b = p.b - t->lower[2];
        return r * r + g * g + b * b <= t->threshold;
    }
    case TSR_FEATURE_HSV: {
        int32_t h[3];
        tsr_pixel_hsv(p, h);
        const int hue = t->lower[0] <= t->upper[0] ? h[0] >= t->lower[0] && h[0] <= t->upper[0] : h[0] >= t->lower[0] || h[0] <= t->upper[0];
        return hue && h[1] >= t->lower[1] && h[1] <= t->upper[1] && h[2] >= t->lower[2] && h[2] <= t->upper[2];
    }
    default: return (p.r & t->lower[0]) != 0;
    }
}

TSR_HD int32_t tsr_frame_luminance(const tsr_frame_view *v, int32_t x, int32_t y, int32_t otherwise)
{
    tsr_pixel p;
    return tsr_frame_get(v, v->data, x, y, &p) ? tsr_pixel_luminance(p) : otherwise;
}

/* Pixel (x, y), whose value is p, with its neighbours in space and time. Beyond the frame is what the pixel itself is. */
TSR_HD int tsr_feature_passes(const tsr_feature_test *t, const tsr_frame_view *v, int32_t x, int32_t y, tsr_pixel p)
{
    if (t->local) return tsr_pixel_passes(t, p);
    if (t->kind == TSR_FEATURE_MOTION) {
        tsr_pixel q;
        return v->previous && tsr_frame_get(v, v->previous, x, y, &q) && tsr_pixel_difference(p, q) >= t->threshold;
    }
    if (t->kind == TSR_FEATURE_GRADIENT) { /* the threshold is of the squared length of twice the gradient */
        const int32_t l = tsr_pixel_luminance(p);
        const int32_t gx = tsr_frame_luminance(v, x + 1, y, l) - tsr_frame_luminance(v, x - 1, y, l);
        const int32_t gy = tsr_frame_luminance(v, x, y + 1, l) - tsr_frame_luminance(v, x, y - 1, l);
        return gx * gx + gy * gy >= t->threshold;
    }
    int32_t most = 0;
    for (int32_t n = 0; n < 4; n++) {
        tsr_pixel q;
        if (tsr_frame_get(v, v->data, x + (n == 0) - (n == 1), y + (n == 2) - (n == 3), &q)) most = tsr_maxi(most, tsr_pixel_difference(p, q));
    }
    return most <= t->threshold;
}

#endif
