/* vision/lens_math.h: places of pixels of warped images, bilinear and Catmull-Rom samples, contour directions. See docs/theory/cameras.md. */
#ifndef TSR_VISION_LENS_MATH_H
#define TSR_VISION_LENS_MATH_H

#include "camera/lens_model.h"
#include "tessera/lens.h"

/* Index (pixel centres are whole numbers) in the source of pixel (x, y) of the result; add: the result is the distorted image. */
TSR_HD int tsr_lens_place(const tsr_lens_map *m, int32_t add, double x, double y, double at[2])
{
    const double dx = x + 0.5 - m->centre[0], dy = y + 0.5 - m->centre[1];
    const double u[2] = { dx * m->step, dy * m->step_y };
    double added[2];
    if (!(add ? tsr_lens_remove(&m->lens, u, added) : tsr_lens_add(&m->lens, u, added))) return 0;
    at[0] = x + dx * (m->scale - 1.0) + added[0] * m->half;
    at[1] = y + dy * (m->scale - 1.0) + added[1] * m->half_y;
    return 1;
}

/* Within the centres of the outermost pixels, `margin` pixels inwards? Not a number is not. */
TSR_HD int tsr_lens_within(const double at[2], int32_t width, int32_t height, double margin)
{
    return at[0] >= margin && at[1] >= margin && at[0] <= (double)(width - 1) - margin && at[1] <= (double)(height - 1) - margin;
}

/* One channel at a place within the image; `row` bytes lie between rows, `step` between pixels. */
TSR_HD float tsr_lens_bilinear(const uint8_t *p, int64_t row, int32_t step, int32_t width, int32_t height, const double at[2])
{
    const int32_t x = (int32_t)at[0], y = (int32_t)at[1];
    const float fx = (float)(at[0] - (double)x), fy = (float)(at[1] - (double)y);
    const uint8_t *q = p + y * row + (int64_t)x * step;
    const int64_t right = x + 1 < width ? step : 0, down = y + 1 < height ? row : 0;
    const float a = (float)q[0] + fx * ((float)q[right] - (float)q[0]), b = (float)q[down] + fx * ((float)q[down + right] - (float)q[down]);
    return a + fy * (b - a);
}
TSR_HD void tsr_lens_cubic(float f, float w[4])
{
    w[0] = f * (f * (1.0f - 0.5f * f) - 0.5f);
    w[1] = 1.0f + f * f * (1.5f * f - 2.5f);
    w[2] = f * (0.5f + f * (2.0f - 1.5f * f));
    w[3] = f * f * (0.5f * f - 0.5f);
}
TSR_HD float tsr_lens_catmull_rom(const uint8_t *p, int64_t row, int32_t step, int32_t width, int32_t height, const double at[2])
{
    const int32_t x = (int32_t)at[0], y = (int32_t)at[1];
    float wx[4], wy[4], sum = 0.0f;
    tsr_lens_cubic((float)(at[0] - (double)x), wx);
    tsr_lens_cubic((float)(at[1] - (double)y), wy);
    for (int32_t j = 0; j < 4; j++) {
        const uint8_t *q = p + tsr_maxi(0, tsr_mini(height - 1, y + j - 1)) * row;
        float line = 0.0f;
        for (int32_t i = 0; i < 4; i++) line += wx[i] * (float)q[(int64_t)tsr_maxi(0, tsr_mini(width - 1, x + i - 1)) * step];
        sum += wy[j] * line;
    }
    return sum;
}
TSR_HD uint8_t tsr_lens_byte(float v) { return (uint8_t)tsr_clampf(v + 0.5f, 0.0f, 255.0f); }

/* ---- contour directions -------------------------------------------------------------------------------------------------------------------- */

enum { TSR_LENS_TAPS = 7, TSR_LENS_REACH = 3, TSR_LENS_BINS = 360, TSR_LENS_BANK = 16 };

typedef struct tsr_lens_votes {
    float smooth[TSR_LENS_TAPS], slope[TSR_LENS_TAPS]; /* Gaussian and its derivative; unit response to a ramp of slope 1 */
    float cosine[TSR_LENS_BINS], sine[TSR_LENS_BINS];  /* of the lower edges of the bins; SOURCE: of the filters */
    float threshold;
    int32_t bins, source, width, height;
    double margin;
} tsr_lens_votes;

/* The warped pixel (x, y); 0: unknown. */
TSR_HD int tsr_lens_sample(const tsr_lens_votes *v, const tsr_lens_map *map, const uint8_t *image, int32_t x, int32_t y, float *value)
{
    double at[2];
    *value = 0.0f;
    if (x < 0 || y < 0 || x >= v->width || y >= v->height || !tsr_lens_place(map, 0, x, y, at) ||
        !tsr_lens_within(at, v->width, v->height, v->margin))
        return 0;
    *value = tsr_lens_bilinear(image, v->width, 1, v->width, v->height, at);
    return 1;
}

/* Bin of a direction modulo 180 degrees: the number of lower edges that it is not before, less one. */
TSR_HD int32_t tsr_lens_bin(const tsr_lens_votes *v, float gx, float gy)
{
    int32_t low = 0, high = v->bins;
    if (gy < 0.0f || (gy == 0.0f && gx < 0.0f)) {
        gx = -gx;
        gy = -gy;
    }
    while (high - low > 1) {
        const int32_t middle = (low + high) / 2;
        if (v->cosine[middle] * gy >= v->sine[middle] * gx) low = middle;
        else high = middle;
    }
    return low;
}
/* A counter that others add to as well. */
TSR_HD void tsr_lens_count(uint32_t *counter, uint32_t amount)
{
#if defined(__CUDA_ARCH__)
    atomicAdd(counter, amount);
#else
    *counter += amount;
#endif
}
/* The votes of a pixel: 1/16 grey values per pixel for its direction (CONCENTRATION); one for each filter that responds (SOURCE). */
TSR_HD void tsr_lens_vote(const tsr_lens_votes *v, float gx, float gy, uint32_t *histogram)
{
    if (v->source) {
        for (int32_t b = 0; b < v->bins; b++)
            if (tsr_absf(v->cosine[b] * gx + v->sine[b] * gy) > v->threshold) tsr_lens_count(&histogram[b], 1u);
        return;
    }
    const float magnitude = tsr_sqrt(gx * gx + gy * gy);
    if (magnitude >= v->threshold) tsr_lens_count(&histogram[tsr_lens_bin(v, gx, gy)], (uint32_t)(magnitude * 16.0f + 0.5f));
}

#endif
