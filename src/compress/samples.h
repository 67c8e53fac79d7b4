/* compress/samples.h: one sample of a compressed volume to the voxel it stands for (docs/formats/tsc.md, maps). Class exact. */
#ifndef TSR_COMPRESS_SAMPLES_H
#define TSR_COMPRESS_SAMPLES_H

#include <math.h>

#include "core/hd.h"
#include "tessera/base.h"

/* What a voxel v is coded as. */
typedef enum tsr_tsc_map {
    TSR_TSC_INTEGER = 0, /* v - base */
    TSR_TSC_ORDERED,     /* the bits of a float32, as an integer that grows with it */
    TSR_TSC_STEPS,       /* the nearest k with v = base + k step */
    TSR_TSC_REAL,        /* v - base in float32; the transform's coefficients are integer multiples of step */
    TSR_TSC_MAPS
} tsr_tsc_map;

typedef struct tsr_code_map {
    int32_t map;
    tsr_dtype dtype;
    int64_t base;
    double base_real, step;
} tsr_code_map;

/* base + wrapped 32-bit difference, as the type stores it. */
TSR_HD void tsr_sample_store_integer(void *data, tsr_dtype dtype, int64_t i, int64_t v)
{
    switch (dtype) {
    case TSR_U8: ((uint8_t *)data)[i] = (uint8_t)v; return;
    case TSR_I8: ((int8_t *)data)[i] = (int8_t)v; return;
    case TSR_U16: ((uint16_t *)data)[i] = (uint16_t)v; return;
    case TSR_I16: ((int16_t *)data)[i] = (int16_t)v; return;
    case TSR_U32: ((uint32_t *)data)[i] = (uint32_t)v; return;
    case TSR_I32: ((int32_t *)data)[i] = (int32_t)v; return;
    case TSR_U64: ((uint64_t *)data)[i] = (uint64_t)v; return;
    default: ((int64_t *)data)[i] = v; return;
    }
}

/* A value as the type stores it: rounded and saturated for integers. */
TSR_HD void tsr_sample_store_real(void *data, tsr_dtype dtype, int64_t i, double v)
{
    if (dtype == TSR_F32) {
        ((float *)data)[i] = (float)v;
        return;
    }
    if (dtype == TSR_F64) {
        ((double *)data)[i] = v;
        return;
    }
    const int32_t bits = dtype <= TSR_I8 ? 8 : dtype <= TSR_I16 ? 16 : dtype <= TSR_I32 ? 32 : 64;
    const int negative = dtype == TSR_I8 || dtype == TSR_I16 || dtype == TSR_I32 || dtype == TSR_I64;
    const double half = bits == 64 ? 9223372036854775808.0 : (double)((int64_t)1 << (bits - 1)); /* of the values there are */
    const double lower = negative ? -half : 0, above = negative ? half : 2 * half;
    v = floor(v + 0.5);
    v = v > lower ? v : lower; /* NaN, too */
    if (dtype == TSR_U64) {
        ((uint64_t *)data)[i] = v >= above ? UINT64_MAX : (uint64_t)v;
        return;
    }
    if (dtype == TSR_I64) {
        ((int64_t *)data)[i] = v >= above ? INT64_MAX : (int64_t)v;
        return;
    }
    v = v < above - 1 ? v : above - 1;
    tsr_sample_store_integer(data, dtype, i, (int64_t)v);
}

TSR_HD float tsr_sample_unorder(int32_t bits)
{
    float v;
    bits ^= (int32_t)((uint32_t)(bits >> 31) & 0x7fffffffu);
    memcpy(&v, &bits, 4);
    return v;
}

/* base + k step in a 64-bit type, saturated: the step nearest to the greatest voxel may lie beyond the type. */
TSR_HD int64_t tsr_sample_expand(const tsr_code_map *t, int32_t k)
{
    const uint64_t least = t->dtype == TSR_U64 ? 0 : (uint64_t)INT64_MIN, most = t->dtype == TSR_U64 ? UINT64_MAX : (uint64_t)INT64_MAX;
    const uint64_t base = (uint64_t)t->base, step = (uint64_t)t->step, count = k < 0 ? 0 - (uint64_t)k : (uint64_t)k;
    const uint64_t room = k < 0 ? base - least : most - base;
    if (count > room / step) return (int64_t)(k < 0 ? least : most);
    return (int64_t)(k < 0 ? base - count * step : base + count * step);
}

/* Of an integer type of 8 or 16 bits. */
typedef struct tsr_sample_range {
    int32_t least, most;
} tsr_sample_range;
TSR_HD tsr_sample_range tsr_sample_range_of(tsr_dtype dtype)
{
    const int32_t most = dtype == TSR_U8 ? 255 : dtype == TSR_I8 ? 127 : dtype == TSR_U16 ? 65535 : 32767;
    const tsr_sample_range r = { dtype == TSR_U8 || dtype == TSR_U16 ? 0 : -most - 1, most };
    return r;
}

/* base + sample; reduced or cut samples of small types may leave the type: they saturate. Complete ones are as they were. */
TSR_HD void tsr_sample_integer(const tsr_code_map *t, int32_t sample, void *voxels, int64_t i)
{
    int64_t v = (int64_t)((uint64_t)t->base + (uint64_t)(int64_t)sample);
    if (t->dtype <= TSR_I16) {
        const tsr_sample_range r = tsr_sample_range_of(t->dtype);
        v = v < r.least ? r.least : v > r.most ? r.most : v;
    }
    tsr_sample_store_integer(voxels, t->dtype, i, v);
}
/* base + sample step. */
TSR_HD void tsr_sample_steps(const tsr_code_map *t, int32_t sample, void *voxels, int64_t i)
{
    if (t->dtype == TSR_F32 || t->dtype == TSR_F64) {
        const double by = (double)sample * t->step;
        tsr_sample_store_real(voxels, t->dtype, i, t->base_real + by);
    } else if (t->dtype < TSR_U64) {
        const double by = (double)sample * t->step;
        tsr_sample_store_real(voxels, t->dtype, i, (double)t->base + by); /* exact below 2^53 */
    } else tsr_sample_store_integer(voxels, t->dtype, i, tsr_sample_expand(t, sample));
}

/* Voxel i from its sample, by any map of integers. */
TSR_HD void tsr_sample_voxel(const tsr_code_map *t, int32_t sample, void *voxels, int64_t i)
{
    if (t->map == TSR_TSC_INTEGER) tsr_sample_integer(t, sample, voxels, i);
    else if (t->map == TSR_TSC_ORDERED) ((float *)voxels)[i] = tsr_sample_unorder(sample);
    else tsr_sample_steps(t, sample, voxels, i);
}

#endif
