/* volume/voxel.h: reading and writing one voxel of any element type. Exact class: the same bits on every backend. */
#ifndef TSR_VOLUME_VOXEL_H
#define TSR_VOLUME_VOXEL_H

#include "core/hd.h"
#include "tessera/base.h"

TSR_HD double tsr_voxel_load(const void *data, tsr_dtype dtype, int64_t i)
{
    switch (dtype) {
    case TSR_U8: return (double)((const uint8_t *)data)[i];
    case TSR_I8: return (double)((const int8_t *)data)[i];
    case TSR_U16: return (double)((const uint16_t *)data)[i];
    case TSR_I16: return (double)((const int16_t *)data)[i];
    case TSR_U32: return (double)((const uint32_t *)data)[i];
    case TSR_I32: return (double)((const int32_t *)data)[i];
    case TSR_U64: return (double)((const uint64_t *)data)[i];
    case TSR_I64: return (double)((const int64_t *)data)[i];
    case TSR_F32: return (double)((const float *)data)[i];
    case TSR_F64: return ((const double *)data)[i];
    default: return 0.0;
    }
}

/* Nearest integer, ties to even, for |v| < 2^52: adding and subtracting 1.5 * 2^52 rounds in the default mode. */
TSR_HD double tsr_round_even(double v)
{
    const double magic = 6755399441055744.0;
    return v > -4503599627370496.0 && v < 4503599627370496.0 ? (v + magic) - magic : v;
}

/* Rounds and saturates to [lower, upper], whose doubles are exact or (64 bit) the next representable; NaN gives 0. */
TSR_HD double tsr_saturate(double v, double lower, double upper)
{
    if (!(v == v)) return 0.0;
    v = tsr_round_even(v);
    return v < lower ? lower : v > upper ? upper : v;
}

TSR_HD void tsr_voxel_store(void *data, tsr_dtype dtype, int64_t i, double v)
{
    switch (dtype) {
    case TSR_U8: ((uint8_t *)data)[i] = (uint8_t)tsr_saturate(v, 0.0, 255.0); break;
    case TSR_I8: ((int8_t *)data)[i] = (int8_t)tsr_saturate(v, -128.0, 127.0); break;
    case TSR_U16: ((uint16_t *)data)[i] = (uint16_t)tsr_saturate(v, 0.0, 65535.0); break;
    case TSR_I16: ((int16_t *)data)[i] = (int16_t)tsr_saturate(v, -32768.0, 32767.0); break;
    case TSR_U32: ((uint32_t *)data)[i] = (uint32_t)tsr_saturate(v, 0.0, 4294967295.0); break;
    case TSR_I32: ((int32_t *)data)[i] = (int32_t)tsr_saturate(v, -2147483648.0, 2147483647.0); break;
    case TSR_U64: ((uint64_t *)data)[i] = (uint64_t)tsr_saturate(v, 0.0, 18446744073709549568.0); break;
    case TSR_I64: ((int64_t *)data)[i] = (int64_t)tsr_saturate(v, -9223372036854775808.0, 9223372036854774784.0); break;
    case TSR_F32: ((float *)data)[i] = (float)v; break;
    case TSR_F64: ((double *)data)[i] = v; break;
    default: break;
    }
}

/* Real value of a stored one. */
TSR_HD double tsr_voxel_real(double stored, double slope, double intercept) { return stored * slope + intercept; }

/* Does the stored value lie in [lower, upper], or, with `outside`, elsewhere? Integers are compared as integers, to the last of 64 bits; for u64 the bits
 * of the bounds are unsigned numbers. Not a number lies nowhere. */
TSR_HD int tsr_voxel_selected(const void *data, tsr_dtype dtype, int64_t i, int64_t lower, int64_t upper, int outside)
{
    if (dtype == TSR_U64) {
        const uint64_t u = ((const uint64_t *)data)[i];
        return (u >= (uint64_t)lower && u <= (uint64_t)upper) != outside;
    }
    if (dtype == TSR_I64) {
        const int64_t s = ((const int64_t *)data)[i];
        return (s >= lower && s <= upper) != outside;
    }
    const double v = tsr_voxel_load(data, dtype, i);
    return v == v && (v >= (double)lower && v <= (double)upper) != outside;
}

/* to[out] = from[in], same type, bit for bit. */
TSR_HD void tsr_voxel_copy(const void *from, tsr_dtype dtype, void *to, int64_t out, int64_t in)
{
    switch (dtype) {
    case TSR_U8: case TSR_I8: ((uint8_t *)to)[out] = ((const uint8_t *)from)[in]; break;
    case TSR_U16: case TSR_I16: ((uint16_t *)to)[out] = ((const uint16_t *)from)[in]; break;
    case TSR_U32: case TSR_I32: case TSR_F32: ((uint32_t *)to)[out] = ((const uint32_t *)from)[in]; break;
    default: ((uint64_t *)to)[out] = ((const uint64_t *)from)[in]; break;
    }
}

/* Are two voxels the same, bit for bit? */
TSR_HD int tsr_voxel_same(const void *data, tsr_dtype dtype, int64_t i, int64_t j)
{
    switch (dtype) {
    case TSR_U8: case TSR_I8: return ((const uint8_t *)data)[i] == ((const uint8_t *)data)[j];
    case TSR_U16: case TSR_I16: return ((const uint16_t *)data)[i] == ((const uint16_t *)data)[j];
    case TSR_U32: case TSR_I32: case TSR_F32: return ((const uint32_t *)data)[i] == ((const uint32_t *)data)[j];
    default: return ((const uint64_t *)data)[i] == ((const uint64_t *)data)[j];
    }
}

#endif
