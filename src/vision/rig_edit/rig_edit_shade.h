/* vision/rig_edit/rig_edit_shade.h: one place of the proxy as a camera's picture has it: the projector equation with the lens, the shadow test, the sample.
 * docs/theory/calibration.md 10. */
#ifndef TSR_VISION_RIG_EDIT_SHADE_H
#define TSR_VISION_RIG_EDIT_SHADE_H

#include "core/hd.h"

typedef struct tsr_shade_camera {
    float m[12], f[2], c[2], k[6], p[2]; /* places counted from a common middle; pixels of the picture */
    float limit;                         /* of the squared radius, undistorted: what lies beyond is none of the lens's */
    const uint8_t *pixels;               /* 3 channels, of the size that suits the pane */
    int32_t width, height;
    float scale;          /* pixels of the picture a pixel of it */
    const float *inverse; /* depths of the proxy as it sees it; NULL: nothing hides anything */
    int32_t shadow_width, shadow_height;
    float shadow_scale, bias;
} tsr_shade_camera;

/* Between four pixels; x, y from the picture's corner in its own pixels. 0 outside: nothing is clamped. */
TSR_HD int32_t tsr_shade_sample(const uint8_t *pixels, int32_t width, int32_t height, float x, float y, float rgb[3])
{
    if (!(x >= 0.0f && y >= 0.0f && x <= (float)width && y <= (float)height)) return 0;
    float u = x - 0.5f, v = y - 0.5f;
    u = u < 0.0f ? 0.0f : u > (float)(width - 1) ? (float)(width - 1) : u;
    v = v < 0.0f ? 0.0f : v > (float)(height - 1) ? (float)(height - 1) : v;
    const int32_t i = (int32_t)u, j = (int32_t)v, right = i + 1 < width ? 3 : 0, below = j + 1 < height ? 3 * width : 0;
    const float a = u - (float)i, b = v - (float)j;
    const uint8_t *q = pixels + 3 * ((int64_t)j * width + i);
    for (int32_t k = 0; k < 3; k++) {
        const float top = (float)q[k] + a * ((float)q[k + right] - (float)q[k]),
                    low = (float)q[k + below] + a * ((float)q[k + below + right] - (float)q[k + below]);
        rgb[k] = top + b * (low - top);
    }
    return 1;
}

/* 1 and the colour where the camera sees the place (w > 0, inside the picture, nothing before it). */
TSR_HD int32_t tsr_shade_place(const tsr_shade_camera *s, const float x[3], float rgb[3])
{
    const float *m = s->m;
    const float ez = m[8] * x[0] + m[9] * x[1] + m[10] * x[2] + m[11];
    if (!(ez > 1e-6f)) return 0;
    const float z = 1.0f / ez, a = (m[0] * x[0] + m[1] * x[1] + m[2] * x[2] + m[3]) * z, b = (m[4] * x[0] + m[5] * x[1] + m[6] * x[2] + m[7]) * z,
                r2 = a * a + b * b;
    if (!(r2 <= s->limit)) return 0;
    if (s->inverse) {
        const float u = (s->f[0] * a + s->c[0]) / s->shadow_scale, v = (s->f[1] * b + s->c[1]) / s->shadow_scale;
        if (u >= 0.0f && v >= 0.0f && u < (float)s->shadow_width && v < (float)s->shadow_height) {
            const int32_t i = (int32_t)u, j = (int32_t)v;
            float least = 1e30f; /* the farthest of the neighbours: slanted faces do not hide themselves */
            for (int32_t y = j > 0 ? j - 1 : 0; y <= j + 1 && y < s->shadow_height; y++)
                for (int32_t c = i > 0 ? i - 1 : 0; c <= i + 1 && c < s->shadow_width; c++) {
                    const float d = s->inverse[(int64_t)y * s->shadow_width + c];
                    least = d < least ? d : least;
                }
            if (z < least * (1.0f - s->bias)) return 0;
        }
    }
    const float up = 1.0f + r2 * (s->k[0] + r2 * (s->k[1] + r2 * s->k[2])), down = 1.0f + r2 * (s->k[3] + r2 * (s->k[4] + r2 * s->k[5])),
                g = up / down;
    const float u = a * g + 2.0f * s->p[0] * a * b + s->p[1] * (r2 + 2.0f * a * a),
                v = b * g + s->p[0] * (r2 + 2.0f * b * b) + 2.0f * s->p[1] * a * b;
    return tsr_shade_sample(s->pixels, s->width, s->height, (s->f[0] * u + s->c[0]) / s->scale, (s->f[1] * v + s->c[1]) / s->scale, rgb);
}

#endif
