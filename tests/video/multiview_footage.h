/* Footage for tests of multi-view textures: a textured pattern that moves a little from step to step, shaded differently in each camera, with noise, on an
 * atlas of round charts of which each camera sees its own changing part. */
#ifndef TSR_TESTS_MULTIVIEW_FOOTAGE_H
#define TSR_TESTS_MULTIVIEW_FOOTAGE_H

#include <math.h>
#include <unistd.h>

#include "support.h"

typedef struct footage {
    int32_t width, height, cameras, steps;
    int masks;
    double noise; /* standard deviation, about */
    uint64_t seed;
} footage;

static inline uint32_t footage_hash(uint32_t x)
{
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ x >> 16;
}

/* Smooth noise of a lattice with `cell` texels. */
static inline double footage_lattice(double u, double v, double cell, uint32_t seed)
{
    const double x = u / cell, y = v / cell, fx = x - floor(x), fy = y - floor(y);
    const double sx = fx * fx * (3 - 2 * fx), sy = fy * fy * (3 - 2 * fy);
    double corner[4];
    for (int k = 0; k < 4; k++)
        corner[k] = footage_hash((uint32_t)((int32_t)floor(x) + (k & 1)) * 73856093u ^ (uint32_t)((int32_t)floor(y) + (k >> 1)) * 19349663u ^ seed) / 4294967296.0;
    return (corner[0] * (1 - sx) + corner[1] * sx) * (1 - sy) + (corner[2] * (1 - sx) + corner[3] * sx) * sy;
}

/* Charts: six discs on a 3 x 2 grid. -1: between them. */
static inline int footage_chart(const footage *f, int32_t u, int32_t v, double *x, double *y)
{
    const double cw = f->width / 3.0, ch = f->height / 2.0;
    const int i = (int)(u / cw), j = (int)(v / ch);
    *x = ((u + 0.5) / cw - i) * 2 - 1;
    *y = ((v + 0.5) / ch - j) * 2 - 1;
    return *x * *x + *y * *y < 0.92 ? j * 3 + i : -1;
}

static inline double footage_value(const footage *f, int32_t t, int32_t c, int32_t u, int32_t v, int p)
{
    const double drift = 0.15 * t, scale = f->width / 512.0;
    double x = 140 + 70 * (footage_lattice(u + drift, v, 48 * scale + 2, 11u + (uint32_t)p) - 0.5) + 50 * (footage_lattice(u, v + drift, 12 * scale + 1, 7) - 0.5) +
               24 * (footage_lattice(u, v, 4 * scale + 1, 5) - 0.5);
    if (((int)((u + 2 * v) / (24 * scale + 1)) & 3) == 0) x -= 30; /* stripes */
    const double shade = 6 * sin(0.8 * c + 0.05 * t + u * 3.0 / f->width);
    return p ? 128 + 0.35 * (x - 140) + 0.2 * shade : x + shade;
}

/* RETURNS NEW, on the context's device. */
static inline tsr_multiview *footage_make(tsr_context *on, const footage *f)
{
    tsr_context *host = test_context_on("cpu", 1);
    tsr_multiview *m = NULL, *result = NULL;
    tsr_multiview_view v, to;
    require_ok(tsr_multiview_create(host, f->width, f->height, f->cameras, f->steps, f->masks, &m));
    require_ok(tsr_multiview_view_of(m, &v));
    const int64_t words = (f->width + 63) / 64, texels = (int64_t)f->width * f->height;
    for (int32_t t = 0; t < f->steps; t++)
        for (int32_t c = 0; c < f->cameras; c++)
            for (int32_t y = 0; y < f->height; y++)
                for (int32_t u = 0; u < f->width; u++) {
                    double a, b;
                    const int chart = footage_chart(f, u, y, &a, &b);
                    const double angle = 6.283185307179586 * c / f->cameras + chart + 0.1 * t;
                    const int64_t k = t * f->cameras + c, at = k * texels + (int64_t)y * f->width + u;
                    const int seen = chart >= 0 && a * cos(angle) + b * sin(angle) > -0.25;
                    if (f->masks && chart >= 0) v.atlas[y * words + u / 64] |= 1ull << u % 64;
                    if (f->masks && seen) v.visible[k * words * f->height + y * words + u / 64] |= 1ull << u % 64;
                    if (f->masks && !seen) continue;
                    for (int p = 0; p < 3; p++) {
                        uint32_t n = footage_hash((uint32_t)(at * 3 + p) ^ (uint32_t)f->seed);
                        const double noise = ((int)((n & 255) + (n >> 8 & 255) + (n >> 16 & 255) + (n >> 24)) - 510) / 147.8 * f->noise;
                        const double x = footage_value(f, t, c, u, y, p) + noise;
                        v.plane[p][at] = (uint8_t)(x < 0 ? 0 : x > 255 ? 255 : x + 0.5);
                    }
                }
    if (tsr_context_device(on).kind == TSR_DEVICE_CPU) {
        require_ok(tsr_multiview_create(on, f->width, f->height, f->cameras, f->steps, f->masks, &result));
        require_ok(tsr_multiview_view_of(result, &to));
        for (int p = 0; p < 3; p++) memcpy(to.plane[p], v.plane[p], (size_t)(texels * f->cameras * f->steps));
        if (f->masks) memcpy(to.visible, v.visible, (size_t)(words * f->height * f->cameras * f->steps) * 8);
        if (f->masks) memcpy(to.atlas, v.atlas, (size_t)(words * f->height) * 8);
    } else { /* through a file, as anybody would */
        char path[] = "/tmp/multiview-XXXXXX";
        const int file = mkstemp(path);
        assert_true(file >= 0);
        close(file);
        tsr_multiview_write_options o = TSR_MULTIVIEW_WRITE_OPTIONS;
        o.overwrite = 1;
        require_ok(tsr_multiview_write(m, path, &o, NULL));
        require_ok(tsr_multiview_read(on, path, NULL, &result));
        unlink(path);
    }
    tsr_multiview_destroy(&m);
    tsr_context_destroy(&host);
    return result;
}

#endif
