/* wavelet/shrink.h: what denoising does to one voxel, coefficient or row, and what a backend provides for it. Sums have one order on all of them. */
#ifndef TSR_WAVELET_SHRINK_H
#define TSR_WAVELET_SHRINK_H

#include <float.h>
#include <math.h>

#include "core/hd.h"
#include "device/backend.h"
#include "volume/voxel.h"
#include "tessera/wavelet.h"

/* Squares are summed part by part: each lane every TSR_SHRINK_LANES-th of the part in order, lanes folded by halves. */
enum { TSR_SHRINK_PART = 1 << 14, TSR_SHRINK_LANES = 256 };

/* A sample is (voxel - base) scale: about 0 and at most 1, so that float32 has the precision of the range, wherever it lies. All pointers are
 * memory of the device. */
typedef struct tsr_shrink_job {
    const void *voxels;
    void *denoised;
    tsr_dtype dtype;
    int64_t size[3], count, shift[3];
    double base, scale;
    uint64_t base64; /* base of 64 bit integers, whose differences a double keeps where it cannot keep the values */
    float *samples, *shifted, *sum;
    float spins; /* in the sum */
} tsr_shrink_job;

typedef struct tsr_shrink_band {
    float *data; /* memory of the device */
    int64_t count, first_part;
    float threshold;
} tsr_shrink_band;

typedef struct tsr_shrink_ops {
    /* *first (of the device): the number of the first voxel of a float type that is not finite; count or more: all are. */
    tsr_status (*finite)(tsr_queue *queue, const void *voxels, tsr_dtype dtype, int64_t count, uint64_t *first);
    tsr_status (*take)(tsr_queue *queue, const tsr_shrink_job *job);                            /* voxels to samples */
    tsr_status (*roll)(tsr_queue *queue, const tsr_shrink_job *job);                            /* samples to shifted, moved round by the shift */
    tsr_status (*add)(tsr_queue *queue, const tsr_shrink_job *job);                             /* shifted, moved back, into the sum */
    tsr_status (*give)(tsr_queue *queue, const tsr_shrink_job *job);                            /* the sum to denoised */
    tsr_status (*magnitudes)(tsr_queue *queue, const float *from, int64_t count, uint32_t *to); /* as keys that sort like them */
    /* partial: memory of the device, a sum of squares for each part of each band, at band.first_part and on. */
    tsr_status (*squares)(tsr_queue *queue, const tsr_shrink_band *bands, int32_t count, double *partial);
    tsr_status (*shrink)(tsr_queue *queue, const tsr_shrink_band *bands, int32_t count, int hard);
} tsr_shrink_ops;

extern const tsr_shrink_ops tsr_shrink_cpu;
#ifdef __cplusplus
extern "C" const tsr_shrink_ops tsr_shrink_cuda;
#endif

TSR_HD int tsr_shrink_is_finite(double v) { return fabs(v) <= DBL_MAX; }
TSR_HD int tsr_shrink_is_wide(tsr_dtype dtype) { return dtype == TSR_I64 || dtype == TSR_U64; }
/* Order and differences of i64 are those of u64 with the sign turned over. */
TSR_HD uint64_t tsr_shrink_turn(tsr_dtype dtype) { return dtype == TSR_I64 ? (uint64_t)1 << 63 : 0; }
TSR_HD double tsr_shrink_apart(uint64_t v, uint64_t base) { return v >= base ? (double)(v - base) : -(double)(base - v); }

/* Voxel i above the base. */
TSR_HD double tsr_shrink_above(const tsr_shrink_job *j, int64_t i)
{
    if (!tsr_shrink_is_wide(j->dtype)) return tsr_voxel_load(j->voxels, j->dtype, i) - j->base;
    return tsr_shrink_apart(((const uint64_t *)j->voxels)[i] ^ tsr_shrink_turn(j->dtype), j->base64);
}
TSR_HD float tsr_shrink_sample(const tsr_shrink_job *j, int64_t i) { return (float)(tsr_shrink_above(j, i) * j->scale); }

TSR_HD uint64_t tsr_shrink_add(uint64_t base, double step)
{
    const double size = fabs(nearbyint(step));
    const uint64_t most = step < 0 ? base : UINT64_MAX - base;
    const uint64_t by = size >= 18446744073709551616.0 || (uint64_t)size > most ? most : (uint64_t)size;
    return step < 0 ? base - by : base + by;
}
/* Writes voxel i from the sum of its results. */
TSR_HD void tsr_shrink_give(const tsr_shrink_job *j, int64_t i)
{
    const double most = j->dtype == TSR_F32 ? (double)FLT_MAX : DBL_MAX;
    const double step = (double)(j->sum[i] / j->spins) * (1 / j->scale);
    if (tsr_shrink_is_wide(j->dtype)) ((uint64_t *)j->denoised)[i] = tsr_shrink_add(j->base64, step) ^ tsr_shrink_turn(j->dtype);
    else tsr_voxel_store(j->denoised, j->dtype, i, fmax(-most, fmin(most, j->base + step)));
}

/* Where row r of the shifted volume lies in the volume: its first sample there is number shift[0] of the row. */
TSR_HD int64_t tsr_shrink_row(const tsr_shrink_job *j, int64_t r)
{
    const int64_t ny = j->size[1], y = (r % ny + j->shift[1]) % ny, z = (r / ny + j->shift[2]) % j->size[2];
    return (z * ny + y) * j->size[0];
}
TSR_HD int64_t tsr_shrink_column(const tsr_shrink_job *j, int64_t x)
{
    return x < j->size[0] - j->shift[0] ? x + j->shift[0] : x + j->shift[0] - j->size[0];
}

/* A coefficient behind the threshold t. */
TSR_HD float tsr_shrink_coefficient(float c, float t, int hard) { return fabsf(c) <= t ? 0.0f : hard ? c : c < 0 ? c + t : c - t; }

TSR_HD double tsr_shrink_square(float c) { return (double)c * (double)c; }

static inline int64_t tsr_shrink_parts(int64_t count) { return tsr_ceil_div(count, TSR_SHRINK_PART); }

#endif
