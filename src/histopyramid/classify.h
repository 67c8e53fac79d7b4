/* histopyramid/classify.h: the multiplicity of one voxel: see tsr_pyramid_classifier. One text for every backend: a classifier is a case here. */
#ifndef TSR_HISTOPYRAMID_CLASSIFY_H
#define TSR_HISTOPYRAMID_CLASSIFY_H

#include "volume/voxel.h"
#include "primitives/element.h"
#include "tessera/pyramid.h"

typedef struct tsr_classifier {
    tsr_pyramid_classifier kind;
    tsr_dtype dtype;
    const void *data;
    int64_t size[3]; /* of one volume of the stack */
    double slope, intercept;
    double lower, upper;
    int32_t most; /* COUNTS: the largest value that is one */
    /* Bytes whose multiplicity is 0 or 1 by their value alone: (low <= byte <= high) != invert. */
    int32_t bytes, low, high, invert;
} tsr_classifier;

TSR_HD double tsr_classifier_value(const tsr_classifier *c, int64_t i) { return tsr_voxel_load(c->data, c->dtype, i) * c->slope + c->intercept; }

/* By the real value alone; kinds that look at neighbours: whether the value is inside. */
TSR_HD int tsr_classify_value(const tsr_classifier *c, double v)
{
    switch (c->kind) {
    case TSR_PYRAMID_NONZERO: return v != 0.0 && v == v;
    case TSR_PYRAMID_LABEL: return v == c->lower;
    case TSR_PYRAMID_MAGNITUDE: return v > c->lower || v < -c->lower;
    case TSR_PYRAMID_SURFACE:
    case TSR_PYRAMID_CROSSINGS: return v < c->lower;
    default: return v >= c->lower && v < c->upper;
    }
}
TSR_HD int tsr_classifier_local(tsr_pyramid_classifier kind)
{
    return kind != TSR_PYRAMID_SURFACE && kind != TSR_PYRAMID_BOUNDARY && kind != TSR_PYRAMID_CROSSINGS;
}

/* Among the 2 x 2 x 2 corners of the cell at (x, y, z) are some inside and some outside. Axes of one voxel have no cells. */
TSR_HD int tsr_classify_surface(const tsr_classifier *c, int64_t i, const int64_t at[3])
{
    int64_t stride[3] = { 1, c->size[0], c->size[0] * c->size[1] };
    int inside = 0, corners = 0;
    for (int k = 0; k < 3; k++) {
        if (c->size[k] == 1) stride[k] = 0;
        else if (at[k] + 1 >= c->size[k]) return 0;
    }
    for (int n = 0; n < 8; n++) {
        if (((n & 1) && !stride[0]) || ((n & 2) && !stride[1]) || ((n & 4) && !stride[2])) continue;
        double v = tsr_classifier_value(c, i + (n & 1) * stride[0] + (n >> 1 & 1) * stride[1] + (n >> 2) * stride[2]);
        if (!(v == v)) return 0;
        inside += tsr_classify_value(c, v);
        corners++;
    }
    return inside > 0 && inside < corners;
}
/* An inside voxel with an outside one among its six neighbours; beyond the volume is outside, axes of one voxel have no neighbours. */
TSR_HD int tsr_classify_boundary(const tsr_classifier *c, int64_t i, const int64_t at[3])
{
    const int64_t stride[3] = { 1, c->size[0], c->size[0] * c->size[1] };
    if (!tsr_classify_value(c, tsr_classifier_value(c, i))) return 0;
    for (int k = 0; k < 3; k++) {
        if (c->size[k] == 1) continue;
        if (at[k] == 0 || at[k] + 1 == c->size[k] || !tsr_classify_value(c, tsr_classifier_value(c, i - stride[k])) ||
            !tsr_classify_value(c, tsr_classifier_value(c, i + stride[k])))
            return 1;
    }
    return 0;
}
/* Of the edges towards +x, +y and +z, those with one end inside. */
TSR_HD int tsr_classify_crossings(const tsr_classifier *c, int64_t i, const int64_t at[3])
{
    const int64_t stride[3] = { 1, c->size[0], c->size[0] * c->size[1] };
    const double v = tsr_classifier_value(c, i);
    int crossings = 0;
    for (int k = 0; k < 3; k++) {
        if (at[k] + 1 >= c->size[k]) continue;
        double w = tsr_classifier_value(c, i + stride[k]);
        if (v == v && w == w) crossings += tsr_classify_value(c, v) != tsr_classify_value(c, w);
    }
    return crossings;
}

/* A multiplicity as it is stored; a value that is none makes no output, and is counted. */
TSR_HD uint32_t tsr_classify_count(const tsr_classifier *c, int64_t i, int32_t *refused)
{
    if (c->dtype == TSR_U8 && c->most >= UINT8_MAX) return ((const uint8_t *)c->data)[i];
    const double v = tsr_voxel_load(c->data, c->dtype, i);
    if (v >= 0 && v <= c->most) return (uint32_t)v;
    ++*refused;
    return 0;
}

/* Multiplicity of voxel i of the stack; *not_a_number is counted up for its own value. */
TSR_HD uint32_t tsr_classify(const tsr_classifier *c, int64_t i, int32_t *not_a_number)
{
    if (c->kind == TSR_PYRAMID_COUNTS) return tsr_classify_count(c, i, not_a_number);
    const double v = tsr_classifier_value(c, i);
    *not_a_number += !(v == v);
    if (tsr_classifier_local(c->kind)) return (uint32_t)tsr_classify_value(c, v);
    const int64_t at[3] = { i % c->size[0], i / c->size[0] % c->size[1], i / c->size[0] / c->size[1] % c->size[2] };
    if (c->kind == TSR_PYRAMID_SURFACE) return (uint32_t)tsr_classify_surface(c, i, at);
    if (c->kind == TSR_PYRAMID_BOUNDARY) return (uint32_t)tsr_classify_boundary(c, i, at);
    return (uint32_t)tsr_classify_crossings(c, i, at);
}

/* ---- several classes of one volume: as if it were stacked once for each --------------------------------------------------------------------- */

typedef struct tsr_channel {
    tsr_pyramid_classifier kind;
    int32_t bytes, low, high, invert;
    double lower, upper;
} tsr_channel;
typedef struct tsr_class_set {
    tsr_classifier first; /* the only one where count is 1 */
    int32_t count;
    int64_t voxels; /* of the volume, all of its batch */
    tsr_channel channel[TSR_PYRAMID_CHANNELS];
} tsr_class_set;

TSR_HD tsr_classifier tsr_class_of(const tsr_class_set *c, int32_t channel)
{
    tsr_classifier own = c->first;
    const tsr_channel *k = &c->channel[channel];
    if (c->count == 1) return own;
    own.kind = k->kind;
    own.lower = k->lower;
    own.upper = k->upper;
    own.bytes = k->bytes;
    own.low = k->low;
    own.high = k->high;
    own.invert = k->invert;
    return own;
}
/* Voxel i of the stack of classes. NaN counts once, for the first of them. */
TSR_HD uint32_t tsr_classify_stacked(const tsr_class_set *c, int64_t i, int32_t *not_a_number)
{
    if (c->count == 1) return tsr_classify(&c->first, i, not_a_number);
    const int32_t channel = (int32_t)(i / c->voxels);
    const tsr_classifier own = tsr_class_of(c, channel);
    int32_t other = 0;
    return tsr_classify(&own, i - channel * c->voxels, channel ? &other : not_a_number);
}

/* 4 bits: the multiplicities of 4 bytes, by the byte rule. */
TSR_HD uint32_t tsr_classify_bytes(const tsr_classifier *c, uint32_t w)
{
    return tsr_bytes_within(w, (uint32_t)c->low * 0x01010101u, (uint32_t)c->high * 0x01010101u) ^ (c->invert ? 15u : 0u);
}

/* ---- bricks: 64 cells in Morton order, one bit each ------------------------------------------------------------------------------------ */

/* Bits of 4 cells along x to their places in a brick of 4 x 4 x 4; of 8 cells, of 8 x 8. */
TSR_HD uint64_t tsr_brick_spread4(uint64_t n) { return (n & 3u) | (n & 12u) << 6; }
TSR_HD uint64_t tsr_brick_spread8(uint64_t n) { return (n & 3u) | (n & 12u) << 2 | (n & 48u) << 12 | (n & 192u) << 14; }
/* Place of row (y, z) in a brick of 4 x 4 x 4; of row y of 8 x 8. */
TSR_HD int32_t tsr_brick_row4(int32_t y, int32_t z) { return (y & 1) * 2 + (y >> 1) * 16 + (z & 1) * 4 + (z >> 1) * 32; }
TSR_HD int32_t tsr_brick_row8(int32_t y) { return (y & 1) * 2 + (y >> 1 & 1) * 8 + (y >> 2) * 32; }

TSR_HD int32_t tsr_popcount(uint64_t v)
{
#if defined(__CUDA_ARCH__)
    return __popcll(v);
#else
    return __builtin_popcountll(v);
#endif
}
TSR_HD int32_t tsr_lowest_bit(uint64_t v) /* v is not 0 */
{
#if defined(__CUDA_ARCH__)
    return __ffsll((long long)v) - 1;
#else
    return __builtin_ctzll(v);
#endif
}
/* Place of set bit number n of v, n < popcount. */
TSR_HD int32_t tsr_nth_bit(uint64_t v, int32_t n)
{
    int32_t place = 0;
    for (int32_t half = 32; half; half >>= 1) {
        const int32_t low = tsr_popcount(v & (((uint64_t)1 << half) - 1u));
        if (n >= low) {
            n -= low;
            place += half;
            v >>= half;
        } else {
            v &= ((uint64_t)1 << half) - 1u;
        }
    }
    return place;
}
/* Bit i of the result is bit i ^ flip of v. */
TSR_HD uint64_t tsr_flip_bits(uint64_t v, int32_t flip)
{
    if (flip & 1) v = (v >> 1 & 0x5555555555555555ull) | (v & 0x5555555555555555ull) << 1;
    if (flip & 2) v = (v >> 2 & 0x3333333333333333ull) | (v & 0x3333333333333333ull) << 2;
    if (flip & 4) v = (v >> 4 & 0x0f0f0f0f0f0f0f0full) | (v & 0x0f0f0f0f0f0f0f0full) << 4;
    if (flip & 8) v = (v >> 8 & 0x00ff00ff00ff00ffull) | (v & 0x00ff00ff00ff00ffull) << 8;
    if (flip & 16) v = (v >> 16 & 0x0000ffff0000ffffull) | (v & 0x0000ffff0000ffffull) << 16;
    if (flip & 32) v = v >> 32 | v << 32;
    return v;
}

#endif
