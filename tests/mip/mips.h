/* tests/mip/mips.h: volumes, pyramids and pictures, and an oracle of both in plain loops over the definitions (docs/theory/mip.md 1 to 5). */
#ifndef TSR_TESTS_MIPS_H
#define TSR_TESTS_MIPS_H

#include <math.h>

#include "support.h"

/* ---- volumes --------------------------------------------------------------------------------------------------------------------------------- */

static inline tsr_volume *on_device(tsr_context *context, tsr_dtype dtype, tsr_size3 n, const void *data)
{
    tsr_volume *host, *device;
    require_ok(tsr_volume_wrap(NULL, dtype, n, NULL, (void *)(uintptr_t)data, NULL, NULL, &host));
    require_ok(tsr_volume_copy(host, context, &device));
    tsr_volume_destroy(&host);
    return device;
}

static inline uint32_t value_at(const void *data, tsr_dtype dtype, int64_t i)
{
    return dtype == TSR_U8 ? ((const uint8_t *)data)[i] : ((const uint16_t *)data)[i];
}
static inline void set_value(void *data, tsr_dtype dtype, int64_t i, uint32_t v)
{
    if (dtype == TSR_U8) ((uint8_t *)data)[i] = (uint8_t)v;
    else ((uint16_t *)data)[i] = (uint16_t)v;
}

/* Random values: a share of zeros, and blocks of equal ones, so that all levels have coefficients. Free it. */
static inline void *random_values(tsr_dtype dtype, tsr_size3 n, uint64_t *seed)
{
    const int64_t count = n.x * n.y * n.z, most = dtype == TSR_U8 ? 255 : 65535;
    const int zeros = (int)(test_random(seed) % 80), block = 1 << test_random(seed) % 3;
    const uint64_t base = test_random(seed);
    void *data = malloc((size_t)count * tsr_dtype_size(dtype));
    for (int64_t i = 0; i < count; i++) {
        const int64_t x = i % n.x / block, y = i / n.x % n.y / block, z = i / n.x / n.y / block;
        uint64_t cell = base + (uint64_t)((z * 64 + y) * 64 + x) * 0x9e3779b97f4a7c15ull + 1;
        uint64_t v = test_random(&cell);
        v = test_random(&cell);
        if (test_random(seed) % 4 == 0) v = test_random(seed);
        set_value(data, dtype, i, (int)(v % 100) < zeros ? 0 : (uint32_t)(v >> 32) % (uint32_t)(most + 1));
    }
    return data;
}

/* Tubes along random curves, a body, and noise: what a vessel phantom looks like to a projection. Free it. */
static inline uint8_t *vessels(int64_t side, int tubes, int noise, uint64_t *seed)
{
    uint8_t *data = calloc(1, (size_t)(side * side * side));
    const double middle = 0.5 * (double)side;
    for (int64_t i = 0; i < side * side * side; i++) {
        const double x = (double)(i % side) - middle, y = (double)(i / side % side) - middle, z = (double)(i / side / side) - middle;
        const int body = x * x + 1.4 * y * y + z * z < 0.2 * (double)(side * side);
        const int v = (body ? 45 : 0) + (noise ? (int)(test_random(seed) % (uint64_t)noise) : 0);
        data[i] = (uint8_t)v;
    }
    for (int t = 0; t < tubes; t++) {
        double p[3], d[3], r = 1 + 2.5 * test_uniform(seed);
        const double bright = 100 + 150 * test_uniform(seed);
        for (int k = 0; k < 3; k++) {
            p[k] = (0.2 + 0.6 * test_uniform(seed)) * (double)side;
            d[k] = test_uniform(seed) - 0.5;
        }
        for (int64_t s = 0; s < 3 * side; s++) {
            for (int k = 0; k < 3; k++) {
                d[k] += 0.1 * (test_uniform(seed) - 0.5);
                p[k] += 0.5 * d[k] / sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
            }
            for (int64_t z = (int64_t)(p[2] - r); z <= (int64_t)(p[2] + r) + 1; z++)
                for (int64_t y = (int64_t)(p[1] - r); y <= (int64_t)(p[1] + r) + 1; y++)
                    for (int64_t x = (int64_t)(p[0] - r); x <= (int64_t)(p[0] + r) + 1; x++) {
                        if (x < 0 || y < 0 || z < 0 || x >= side || y >= side || z >= side) continue;
                        const double q = sqrt(pow((double)x - p[0], 2) + pow((double)y - p[1], 2) + pow((double)z - p[2], 2));
                        const double v = bright / (1 + exp(2 * (q - r)));
                        uint8_t *to = &data[(z * side + y) * side + x];
                        if (v > *to) *to = (uint8_t)v;
                    }
        }
    }
    return data;
}

/* ---- pictures -------------------------------------------------------------------------------------------------------------------------------- */

static inline uint32_t *pixels_of(const tsr_mip_frame *frame, int32_t width, int32_t height)
{
    uint32_t *values = malloc((size_t)width * (size_t)height * 4);
    require_ok(tsr_mip_frame_download(frame, values));
    return values;
}

/* The picture of a pyramid; free it. */
static inline uint32_t *drawn(tsr_mip *mip, tsr_context *context, const tsr_mip_view *view, const tsr_mip_render_options *options, int32_t width,
                              int32_t height)
{
    tsr_mip_frame *frame;
    require_ok(tsr_mip_frame_create(context, width, height, &frame));
    require_ok(tsr_mip_render(mip, view, options, frame, NULL));
    uint32_t *values = pixels_of(frame, width, height);
    tsr_mip_frame_destroy(&frame);
    return values;
}

static inline void rotation_rows(const tsr_mip_view *view, double r[3][3])
{
    const double *q = view->rotation;
    const double l = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    const double w = l > 0 ? q[0] / l : 1, x = l > 0 ? q[1] / l : 0, y = l > 0 ? q[2] / l : 0, z = l > 0 ? q[3] / l : 0;
    const double m[9] = { w * w + x * x - y * y - z * z, 2 * x * y - 2 * w * z,         2 * x * z + 2 * w * y,
                          2 * x * y + 2 * w * z,         w * w - x * x + y * y - z * z, 2 * y * z - 2 * w * x,
                          2 * x * z - 2 * w * y,         2 * y * z + 2 * w * x,         w * w - x * x - y * y + z * z };
    for (int k = 0; k < 9; k++) r[k / 3][k % 3] = m[k];
}

/* Every voxel by itself, by the formula of the page; zoom at most 1. slab: depths of voxel centres along the view, or NULL. */
static inline uint32_t *projected(const void *data, tsr_dtype dtype, tsr_size3 n, const tsr_mip_view *view, int32_t width, int32_t height,
                                  const double *slab)
{
    uint32_t *image = calloc((size_t)width * (size_t)height, 4);
    double r[3][3], c[3] = { 0.5 * (double)n.x, 0.5 * (double)n.y, 0.5 * (double)n.z };
    const double s = view->zoom != 0 ? view->zoom : 1, extent[3] = { width, height, 0 };
    int64_t step[3][3], first[3];
    rotation_rows(view, r);
    for (int k = 0; k < 3; k++) {
        const double scale = k < 2 ? s : 1;
        for (int i = 0; i < 3; i++) step[k][i] = llround(65536 * scale * r[k][i]);
        first[k] = llround(65536 * (extent[k] / 2 - scale * (r[k][0] * c[0] + r[k][1] * c[1] + r[k][2] * c[2])));
    }
    for (int64_t i = 0; i < n.x * n.y * n.z; i++) {
        const int64_t at[3] = { i % n.x, i / n.x % n.y, i / n.x / n.y };
        int64_t p[3];
        for (int k = 0; k < 3; k++)
            p[k] = first[k] + ((step[k][0] * (2 * at[0] + 1) + step[k][1] * (2 * at[1] + 1) + step[k][2] * (2 * at[2] + 1)) >> 1);
        const int64_t x = p[0] >> 16, y = p[1] >> 16;
        if (x < 0 || y < 0 || x >= width || y >= height) continue;
        if (slab && (p[2] < llround(65536 * slab[0]) || p[2] >= llround(65536 * slab[1]))) continue;
        const uint32_t v = value_at(data, dtype, i);
        if (v > image[y * width + x]) image[y * width + x] = v;
    }
    return image;
}

static inline tsr_mip_view random_view(uint64_t *seed, double zoom)
{
    tsr_mip_view v = { .zoom = zoom };
    for (int k = 0; k < 4; k++) v.rotation[k] = test_uniform(seed) - 0.5;
    return v;
}

/* The 24 axis-aligned views. */
static inline tsr_mip_view aligned_view(int k)
{
    static const double face[6][4] = { { 1, 0, 0, 0 }, { 1, 1, 0, 0 }, { 1, -1, 0, 0 }, { 0, 1, 0, 0 }, { 1, 0, 1, 0 }, { 1, 0, -1, 0 } };
    static const double turn[4][2] = { { 1, 0 }, { 1, 1 }, { 0, 1 }, { 1, -1 } }; /* w, z */
    const double *a = face[k / 4], w = turn[k % 4][0], z = turn[k % 4][1];
    return (tsr_mip_view){ .rotation = { w * a[0] - z * a[3], w * a[1] - z * a[2], w * a[2] + z * a[1], w * a[3] + z * a[0] }, .zoom = 1 };
}

#endif
