#include "vision/rig_edit/rig_edit_isa.h"

/* Colours at places of the picture; x < 0: none. */
static void add(const tsr_shade_camera *s, const float *x, const float *y, int32_t count, tsr_shade_sum *sum)
{
    const uint8_t *pixels = s->pixels;
    const int32_t width = s->width, height = s->height;
    for (int32_t i = 0; i < count; i++) {
        uint32_t rgb[3];
        float tinted[3];
        if (!(x[i] >= 0.0f)) continue;
        if (s->tone) {
            if (!tsr_shade_take(s, x[i], y[i], tinted)) continue;
            for (int32_t k = 0; k < 3; k++) sum->rgb[k][i] += (uint32_t)(tinted[k] * 256.0f);
        } else {
            tsr_shade_mix(pixels, width, height, x[i], y[i], rgb);
            for (int32_t k = 0; k < 3; k++) sum->rgb[k][i] += rgb[k] >> 8;
        }
        sum->seen[i]++;
    }
}

void TSR_ISA_NAME(tsr_shade_row)(const tsr_shade_camera *camera, const tsr_shade_path *path, const tsr_shade_run *run, tsr_shade_sum *sum)
{
    const tsr_shade_camera s = *camera;
    const float *t = path->turn, *w = path->shift;
    float a[TSR_SHADE_RUN], b[TSR_SHADE_RUN], z[TSR_SHADE_RUN], x[TSR_SHADE_RUN], y[TSR_SHADE_RUN];
#pragma omp simd
    for (int32_t i = 0; i < TSR_SHADE_RUN; i++) {
        const float p = run->x[i], q = run->y[i], inverse = run->inverse[i];
        const float hz = t[6] * p + t[7] * q + t[8] + inverse * w[2];
        float u, v;
        const int32_t good = tsr_shade_aim(&s, t[0] * p + t[1] * q + t[2] + inverse * w[0], t[3] * p + t[4] * q + t[5] + inverse * w[1], hz, inverse,
                                           &a[i], &b[i], &u, &v) &
                             (inverse > 0.0f);
        x[i] = good ? u : -1.0f;
        y[i] = v;
        z[i] = inverse / (good ? hz : 1.0f);
    }
    if (s.least)
        for (int32_t i = 0; i < run->count; i++)
            if (x[i] >= 0.0f && tsr_shade_hidden(&s, a[i], b[i], z[i])) x[i] = -1.0f;
    add(&s, x, y, run->count, sum);
}

void TSR_ISA_NAME(tsr_shade_own)(const tsr_shade_camera *camera, double x, double y, double step, int32_t count, tsr_shade_sum *sum)
{
    float u[TSR_SHADE_RUN], v[TSR_SHADE_RUN];
    const int32_t inside = y >= 0 && y <= camera->height;
    for (int32_t i = 0; i < count; i++) {
        const double at = x + i * step;
        u[i] = inside && at >= 0 && at <= camera->width ? (float)at : -1.0f;
        v[i] = (float)y;
    }
    add(camera, u, v, count, sum);
}
