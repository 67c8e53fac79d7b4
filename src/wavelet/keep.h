/* wavelet/keep.h: which coefficients stay: what one of them counts as, and what a backend provides to find and to apply a threshold. */
#ifndef TSR_WAVELET_KEEP_H
#define TSR_WAVELET_KEEP_H

#include <float.h>
#include <math.h>

#include "core/hd.h"
#include "device/backend.h"
#include "volume/voxel.h"

enum { TSR_KEEP_BITS = 11, TSR_KEEP_BINS = 1 << TSR_KEEP_BITS /* of a digit; counters fit the first-level cache, and shared memory */ };

/* A band of coefficients within a volume, memory of the device. */
typedef struct tsr_keep_band {
    void *data;
    tsr_dtype dtype;
    int64_t size[3], stride[3], offset;
    double weight;
    int32_t detail; /* not the approximation */
} tsr_keep_band;

/* One digit of the keys, or of the places of those whose key is `equal`: only what begins with `prefix` is counted. */
typedef struct tsr_keep_pass {
    int32_t by_place, shift;
    uint64_t prefix, equal;
} tsr_keep_pass;

/* What stays: greater keys than `key`, and that one up to `place`. */
typedef struct tsr_keep_limit {
    uint64_t key, place;
    int32_t details, soft; /* details alone can go; those that stay move by `cut` */
    double cut;
} tsr_keep_limit;

typedef struct tsr_keep_ops {
    /* counts (of the device): TSR_KEEP_BINS, to which those of the bands are added. */
    tsr_status (*count)(tsr_queue *queue, const tsr_keep_band *bands, int32_t number, const tsr_keep_pass *pass, uint64_t *counts);
    tsr_status (*apply)(tsr_queue *queue, const tsr_keep_band *bands, int32_t number, const tsr_keep_limit *limit);
} tsr_keep_ops;

extern const tsr_keep_ops tsr_keep_cpu;
#ifdef __cplusplus
extern "C" const tsr_keep_ops tsr_keep_cuda;
#endif

/* Bits of a magnitude, which have its order; what is not finite is one and the largest. */
TSR_HD uint64_t tsr_keep_bits(double magnitude)
{
    const double m = magnitude <= DBL_MAX ? magnitude : (double)INFINITY;
    uint64_t bits;
    memcpy(&bits, &m, sizeof bits);
    return bits;
}
TSR_HD uint64_t tsr_keep_key(double coefficient, double weight) { return tsr_keep_bits(fabs(coefficient) * weight); }

/* Digit of a key at a place; -1: not asked for. */
TSR_HD int32_t tsr_keep_digit(const tsr_keep_pass *p, uint64_t key, uint64_t place)
{
    const uint64_t v = (p->by_place ? place : key) >> p->shift;
    if ((p->by_place && key != p->equal) || v >> TSR_KEEP_BITS != p->prefix) return -1;
    return (int32_t)(v & (TSR_KEEP_BINS - 1));
}

/* Place of element i of a band in the volume. */
TSR_HD int64_t tsr_keep_place(const tsr_keep_band *b, int64_t x, int64_t y, int64_t z)
{
    return b->offset + x * b->stride[0] + y * b->stride[1] + z * b->stride[2];
}

/* The coefficient at a place as it is afterwards. */
TSR_HD double tsr_keep_value(const tsr_keep_limit *l, const tsr_keep_band *b, double c, uint64_t place)
{
    if (l->details && !b->detail) return c;
    const uint64_t key = tsr_keep_key(c, b->weight);
    if (key < l->key || (key == l->key && place > l->place)) return 0.0;
    if (!l->soft || !(fabs(c) <= DBL_MAX)) return c; /* what is not finite has nothing to be less by */
    const double by = l->cut / b->weight;
    const double left = fabs(c) > by ? fabs(c) - by : 0.0;
    return c < 0.0 ? -left : left;
}

#endif
