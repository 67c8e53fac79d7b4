/* tests/wavelet/volumes.h: volumes to be compressed, and the two files of a suite that does. */
#ifndef TEST_WAVELET_VOLUMES_H
#define TEST_WAVELET_VOLUMES_H

#include "support.h"

#include <math.h>
#include <unistd.h>

static char path[64], other[64];

static inline int set_up(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "compress-%ld.tsc", (long)getpid());
    snprintf(other, sizeof other, "compress-%ld-b.tsc", (long)getpid());
    return 0;
}
static inline int tear_down(void **state)
{
    (void)state;
    unlink(path);
    unlink(other);
    return 0;
}

/* A smooth field with an edge and noise, in the range of the type. */
static inline double scene(int64_t x, int64_t y, int64_t z, uint64_t *random)
{
    const double d = sqrt((double)((x - 20) * (x - 20) + (y - 15) * (y - 15) + 2 * (z - 8) * (z - 8)));
    return (d < 14 ? 0.75 + 0.2 * sin(0.3 * (double)x) : 0.1 + 0.002 * (double)y) + 0.02 * (test_uniform(random) - 0.5);
}

static inline void put(void *data, tsr_dtype t, int64_t i, double v)
{
    switch (t) {
    case TSR_U8: ((uint8_t *)data)[i] = (uint8_t)(255 * v); break;
    case TSR_I8: ((int8_t *)data)[i] = (int8_t)(255 * v - 128); break;
    case TSR_U16: ((uint16_t *)data)[i] = (uint16_t)(60000 * v); break;
    case TSR_I16: ((int16_t *)data)[i] = (int16_t)(4000 * v - 1000); break;
    case TSR_U32: ((uint32_t *)data)[i] = (uint32_t)(4e9 * v); break;
    case TSR_I32: ((int32_t *)data)[i] = (int32_t)(4e9 * (v - 0.5)); break;
    case TSR_U64: ((uint64_t *)data)[i] = 0xfffffffff0000000u + (uint64_t)(2e8 * v); break;
    case TSR_I64: ((int64_t *)data)[i] = -(int64_t)(2e8 * v) - 0x7ffffffff0000000; break;
    case TSR_F32: ((float *)data)[i] = (float)(v * 10 - 3); break;
    default: ((double *)data)[i] = v * 10 - 3; break;
    }
}

static inline tsr_volume *make(tsr_dtype dtype, tsr_size3 size, uint64_t *random)
{
    const tsr_geometry g = tsr_geometry_make((tsr_vec3){ 0.5, 2, 3 }, (tsr_vec3){ 7, -4, 1 }, TSR_SPACE_LPS);
    tsr_volume *v = NULL;
    require_ok(tsr_volume_create(NULL, dtype, size, &g, &v));
    for (int64_t z = 0, i = 0; z < size.z; z++)
        for (int64_t y = 0; y < size.y; y++)
            for (int64_t x = 0; x < size.x; x++) put(tsr_volume_data(v), dtype, i++, fmax(0, scene(x, y, z, random)));
    require_ok(tsr_volume_set_meta(v, "nifti.descrip", "a test, with \xc3\xa4"));
    require_ok(tsr_volume_set_scaling(v, 0.25, -3));
    return v;
}

static inline size_t bytes_of(const tsr_volume *v) { return (size_t)tsr_volume_count(v) * tsr_dtype_size(tsr_volume_dtype(v)); }
static inline void require_same(const tsr_volume *a, const tsr_volume *b)
{
    double slope, intercept;
    assert_int_equal(tsr_volume_dtype(a), tsr_volume_dtype(b));
    assert_int_equal(bytes_of(a), bytes_of(b));
    assert_memory_equal(tsr_volume_data_const(a), tsr_volume_data_const(b), bytes_of(a));
    const tsr_geometry *ga = tsr_volume_geometry(a), *gb = tsr_volume_geometry(b); /* not as a whole: a struct has holes */
    assert_memory_equal(ga->affine, gb->affine, sizeof ga->affine);
    assert_int_equal(ga->space, gb->space);
    tsr_volume_scaling(b, &slope, &intercept);
    assert_true(slope == 0.25 && intercept == -3);
    assert_string_equal(tsr_volume_meta(b, "nifti.descrip"), tsr_volume_meta(a, "nifti.descrip"));
}

static inline double at(const tsr_volume *v, int64_t i)
{
    const void *d = tsr_volume_data_const(v);
    switch (tsr_volume_dtype(v)) {
    case TSR_U8: return ((const uint8_t *)d)[i];
    case TSR_I8: return ((const int8_t *)d)[i];
    case TSR_U16: return ((const uint16_t *)d)[i];
    case TSR_I16: return ((const int16_t *)d)[i];
    case TSR_U32: return ((const uint32_t *)d)[i];
    case TSR_I32: return ((const int32_t *)d)[i];
    case TSR_F32: return (double)((const float *)d)[i];
    default: return ((const double *)d)[i];
    }
}

static inline uint8_t *slurp(const char *name, size_t *size)
{
    FILE *f = fopen(name, "rb");
    assert_non_null(f);
    uint8_t *bytes = (uint8_t *)malloc(1 << 24);
    assert_non_null(bytes);
    *size = fread(bytes, 1, 1 << 24, f);
    fclose(f);
    return bytes;
}
static inline void spill(const char *name, const uint8_t *bytes, size_t size)
{
    FILE *f = fopen(name, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, size, f), size);
    fclose(f);
}

static inline tsr_compress_options options_of(tsr_compress_coder coder)
{
    tsr_compress_options o = TSR_COMPRESS_OPTIONS;
    o.coder = coder;
    o.overwrite = 1;
    o.threads = 1;
    return o;
}

static inline double measure_psnr(const tsr_volume *a, const tsr_volume *b)
{
    double sum = 0, lower = HUGE_VAL, upper = -HUGE_VAL;
    int64_t n = 0;
    for (int64_t i = 0; i < tsr_volume_count(a); i++) {
        const double x = at(a, i), d = x - at(b, i);
        if (!isfinite(x)) continue;
        n++;
        lower = fmin(lower, x);
        upper = fmax(upper, x);
        sum += d * d;
    }
    return 20 * log10((upper - lower) / sqrt(sum / (double)n));
}

#endif
