/* vision/rig_edit/rig_edit_shade.h: one place of the proxy as a camera's picture has it: the projector equation with the lens, the shadow test, the sample, its tone.
 * docs/theory/calibration.md 10. */
#ifndef TSR_VISION_RIG_EDIT_SHADE_H
#define TSR_VISION_RIG_EDIT_SHADE_H

#include "core/hd.h"

/* What a camera makes of light, undone: values by colour, then by the squared distance from the centre in half diagonals, FALL_STEPS a unit. */
enum { TSR_SHADE_FALL = 256, TSR_SHADE_FALL_STEPS = 64 };
typedef struct tsr_shade_tone {
    float value[3][256], fall[TSR_SHADE_FALL + 1];
} tsr_shade_tone;

typedef struct tsr_shade_camera {
    float m[12], f[2], c[2], k[6], p[2]; /* places counted from a common middle; f, c: pixels of the size below */
    float limit;                         /* of the squared radius, undistorted: what lies beyond is none of the lens's */
    const uint8_t *pixels;               /* 3 channels, of the size that suits the pane */
    int32_t width, height;
    float scale;        /* pixels of the camera a pixel of it */
    const float *least; /* inverse depths of the proxy as it sees it, the farthest of each place's neighbours; NULL: nothing hides anything */
    int32_t shadow_width, shadow_height;
    float shadow_f[2], shadow_c[2], bias;
    const tsr_shade_tone *tone; /* NULL: as it came */
    float half;                 /* of the picture's diagonal, its pixels, to the power -2 */
} tsr_shade_camera;

/* Between four pixels, times 65536; x, y from the picture's corner in its own pixels, inside of it: nothing is clamped to the border. */
TSR_HD void tsr_shade_mix(const uint8_t *pixels, int32_t width, int32_t height, float x, float y, uint32_t rgb[3])
{
    float u = x - 0.5f, v = y - 0.5f;
    u = u < 0.0f ? 0.0f : u > (float)(width - 1) ? (float)(width - 1) : u;
    v = v < 0.0f ? 0.0f : v > (float)(height - 1) ? (float)(height - 1) : v;
    const int32_t i = (int32_t)u, j = (int32_t)v, right = i + 1 < width ? 3 : 0, below = j + 1 < height ? 3 * width : 0;
    const uint32_t a = (uint32_t)((u - (float)i) * 256.0f), b = (uint32_t)((v - (float)j) * 256.0f);
    const uint32_t low = (256 - a) * b, both = a * b, top = (256 - a) * (256 - b), side = a * (256 - b);
    const uint8_t *q = pixels + 3 * ((int64_t)j * width + i), *r = q + below;
    for (int32_t k = 0; k < 3; k++) rgb[k] = top * q[k] + side * q[k + right] + low * r[k] + both * r[k + right];
}

/* What the tone makes of a colour at a place of the picture. */
TSR_HD void tsr_shade_tint(const tsr_shade_camera *s, float x, float y, float rgb[3])
{
    const tsr_shade_tone *t = s->tone;
    const float dx = x - s->c[0], dy = y - s->c[1], far = (dx * dx + dy * dy) * s->half * (float)TSR_SHADE_FALL_STEPS;
    const float at = far < (float)(TSR_SHADE_FALL - 1) ? far : (float)(TSR_SHADE_FALL - 1);
    const int32_t i = (int32_t)at;
    const float fall = t->fall[i] + (at - (float)i) * (t->fall[i + 1] - t->fall[i]);
    for (int32_t k = 0; k < 3; k++) {
        const float v = t->value[k][(int32_t)(rgb[k] + 0.5f)] * fall;
        rgb[k] = v < 255.0f ? v : 255.0f;
    }
}

/* 1 and the colour at a place of the picture, from its corner in its own pixels; 0 outside. */
TSR_HD int32_t tsr_shade_take(const tsr_shade_camera *s, float x, float y, float rgb[3])
{
    uint32_t mixed[3];
    if (!(x >= 0.0f && y >= 0.0f && x <= (float)s->width && y <= (float)s->height)) return 0;
    tsr_shade_mix(s->pixels, s->width, s->height, x, y, mixed);
    for (int32_t k = 0; k < 3; k++) rgb[k] = (float)mixed[k] * (1.0f / 65536.0f);
    if (s->tone) tsr_shade_tint(s, x, y, rgb);
    return 1;
}

/* Where the picture has what lies at (h_x, h_y, h_z) / inverse in the camera's axes; *a, *b: its undistorted place. 0: behind the camera, or beyond its lens or picture. */
TSR_HD int32_t tsr_shade_aim(const tsr_shade_camera *s, float hx, float hy, float hz, float inverse, float *a, float *b, float *x, float *y)
{
    const int32_t before = hz > 1e-6f * inverse;
    const float z = 1.0f / (before ? hz : 1.0f), p = hx * z, q = hy * z, r2 = p * p + q * q;
    const float up = 1.0f + r2 * (s->k[0] + r2 * (s->k[1] + r2 * s->k[2])), down = 1.0f + r2 * (s->k[3] + r2 * (s->k[4] + r2 * s->k[5])),
                g = up / down;
    const float u = p * g + 2.0f * s->p[0] * p * q + s->p[1] * (r2 + 2.0f * p * p),
                v = q * g + s->p[0] * (r2 + 2.0f * q * q) + 2.0f * s->p[1] * p * q;
    *a = p;
    *b = q;
    *x = s->f[0] * u + s->c[0];
    *y = s->f[1] * v + s->c[1];
    return before & (r2 <= s->limit) & (*x >= 0.0f) & (*y >= 0.0f) & (*x <= (float)s->width) & (*y <= (float)s->height);
}

/* Something of the proxy is nearer at an undistorted place; inverse: of the depth there. */
TSR_HD int32_t tsr_shade_hidden(const tsr_shade_camera *s, float a, float b, float inverse)
{
    const float u = s->shadow_f[0] * a + s->shadow_c[0], v = s->shadow_f[1] * b + s->shadow_c[1];
    if (!(u >= 0.0f && v >= 0.0f && u < (float)s->shadow_width && v < (float)s->shadow_height)) return 0;
    return inverse < s->least[(int64_t)(int32_t)v * s->shadow_width + (int32_t)u] * (1.0f - s->bias);
}

/* 1 and where in the picture, if the camera sees the place (before it, inside the picture, nothing nearer). */
TSR_HD int32_t tsr_shade_find(const tsr_shade_camera *s, const float p[3], float *x, float *y)
{
    const float *m = s->m;
    float a, b;
    const float ez = m[8] * p[0] + m[9] * p[1] + m[10] * p[2] + m[11];
    return tsr_shade_aim(s, m[0] * p[0] + m[1] * p[1] + m[2] * p[2] + m[3], m[4] * p[0] + m[5] * p[1] + m[6] * p[2] + m[7], ez, 1.0f, &a, &b, x, y) &&
           !(s->least && tsr_shade_hidden(s, a, b, 1.0f / ez));
}

/* ... and the colour. */
TSR_HD int32_t tsr_shade_place(const tsr_shade_camera *s, const float p[3], float rgb[3])
{
    float x, y;
    return tsr_shade_find(s, p, &x, &y) && tsr_shade_take(s, x, y, rgb);
}

/* ---- runs of pixels ------------------------------------------------------------------------------------------------------------- */

/* Neighbours in a row of a pane: the directions x / z, y / z of their rays, and inverse depths of the proxy on them (0: nothing). */
enum { TSR_SHADE_RUN = 128 };
typedef struct tsr_shade_run {
    int32_t count;
    float x[TSR_SHADE_RUN], y[TSR_SHADE_RUN], inverse[TSR_SHADE_RUN];
} tsr_shade_run;
/* From the pane's axes to a camera's: h = turn (x, y, 1) + inverse shift. */
typedef struct tsr_shade_path {
    float turn[9], shift[3];
} tsr_shade_path;
/* Colours, times 256, and how many cameras gave one. */
typedef struct tsr_shade_sum {
    uint32_t rgb[3][TSR_SHADE_RUN], seen[TSR_SHADE_RUN];
} tsr_shade_sum;

#endif
