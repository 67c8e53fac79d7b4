/* vision/depth/fusion_math.h: which bricks a depth map reaches, and what it does to a voxel. Bricks are found by a table of their keys; which place of the table
 * and of the pool a brick has depends on the order of threads, what is in it does not. */
#ifndef TSR_VISION_FUSION_MATH_H
#define TSR_VISION_FUSION_MATH_H

#include "core/hd.h"

enum { TSR_FUSION_EDGE = 8, TSR_FUSION_VOXELS = 512, TSR_FUSION_REACH = 1 << 20, TSR_FUSION_PARTS = 5 /* distance, weight, red, green, blue */ };

#define TSR_FUSION_EMPTY (~(uint64_t)0)

TSR_HD uint64_t tsr_fusion_key(int32_t x, int32_t y, int32_t z)
{
    return (uint64_t)(uint32_t)(z + TSR_FUSION_REACH) << 42 | (uint64_t)(uint32_t)(y + TSR_FUSION_REACH) << 21 | (uint64_t)(uint32_t)(x + TSR_FUSION_REACH);
}
TSR_HD void tsr_fusion_place(uint64_t key, int32_t place[3])
{
    for (int k = 0; k < 3; k++) place[k] = (int32_t)(key >> (21 * k) & 0x1fffffu) - TSR_FUSION_REACH;
}
TSR_HD uint64_t tsr_fusion_hash(uint64_t key)
{
    key = (key ^ (key >> 32)) * 0x9e3779b97f4a7c15ull;
    return key ^ (key >> 29);
}

/* Other threads do the same at the same time; the emulator's come one after another. */
TSR_HD uint64_t tsr_fusion_claim(uint64_t *place, uint64_t expected, uint64_t value)
{
#if defined(__CUDA_ARCH__)
    return atomicCAS((unsigned long long *)place, (unsigned long long)expected, (unsigned long long)value);
#else
    __atomic_compare_exchange_n(place, &expected, value, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return expected;
#endif
}
TSR_HD uint64_t tsr_fusion_peek(const uint64_t *place)
{
#if defined(__CUDA_ARCH__)
    return *(const volatile uint64_t *)place;
#else
    return __atomic_load_n(place, __ATOMIC_RELAXED);
#endif
}
TSR_HD void tsr_fusion_fault(uint32_t *counters, uint32_t which)
{
#if defined(__CUDA_ARCH__)
    atomicMax(&counters[2], which);
#else
    uint32_t there = __atomic_load_n(&counters[2], __ATOMIC_RELAXED);
    while (there < which && !__atomic_compare_exchange_n(&counters[2], &there, which, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
#endif
}
TSR_HD uint32_t tsr_fusion_next(uint32_t *counter)
{
#if defined(__CUDA_ARCH__)
    return atomicAdd(counter, 1u);
#else
    return __atomic_fetch_add(counter, 1u, __ATOMIC_RELAXED);
#endif
}
TSR_HD uint32_t tsr_fusion_stamp(uint32_t *place, uint32_t stamp)
{
#if defined(__CUDA_ARCH__)
    return atomicExch(place, stamp);
#else
    return __atomic_load_n(place, __ATOMIC_RELAXED) == stamp ? stamp : __atomic_exchange_n(place, stamp, __ATOMIC_RELAXED);
#endif
}

/* A depth map and its camera. */
typedef struct tsr_fusion_view {
    int32_t width, height, channels, parallel;
    const float *depth;
    const uint8_t *image;
    float origin[3], along[3], right[3], down[3]; /* of the pixel (0, 0)'s corner, in voxels: the place at depth d of pixel (x, y) is
                                                   * origin + d (along + x right + y down); parallel rays: origin + x right + y down + d along */
    float row[3][4];   /* of a voxel (x, y, z, 1): pixel x w, pixel y w, w; */
    float axis[4];     /* and its depth */
    float nearest, farthest, truncation, voxel; /* world units */
    float near_weight; /* > 0: weights are (near_weight / depth)^2, 1 at most */
    float most_weight; /* > 0 */
} tsr_fusion_view;

typedef struct tsr_fusion_table {
    uint64_t *keys;     /* [size], a power of two */
    uint32_t *stamps;   /* [size]: of the map that last reached it */
    uint32_t *bricks;   /* [size]: its brick in the pool, from the finish of the step on */
    uint32_t size, stamp;
    uint32_t *counters; /* [0]: places of the table in use, [1]: reached by this map, [2]: != 0: no room, or too far */
    uint32_t *reached;  /* [size]: places of the table */
} tsr_fusion_table;

/* Enters a brick. */
TSR_HD void tsr_fusion_reach(const tsr_fusion_table *t, uint64_t key)
{
    uint32_t at = (uint32_t)tsr_fusion_hash(key) & (t->size - 1);
    for (uint32_t n = 0; n < 64; n++, at = (at + 1) & (t->size - 1)) {
        uint64_t there = tsr_fusion_peek(&t->keys[at]);
        if (there == TSR_FUSION_EMPTY) {
            there = tsr_fusion_claim(&t->keys[at], TSR_FUSION_EMPTY, key);
            if (there == TSR_FUSION_EMPTY) {
                t->bricks[at] = tsr_fusion_next(&t->counters[0]);
                there = key;
            }
        }
        if (there != key) continue;
        if (tsr_fusion_stamp(&t->stamps[at], t->stamp) != t->stamp) t->reached[tsr_fusion_next(&t->counters[1])] = at;
        return;
    }
    tsr_fusion_fault(t->counters, 1);
}

TSR_HD int32_t tsr_fusion_floor(float v)
{
    const int32_t i = (int32_t)v;
    return (float)i > v ? i - 1 : i;
}

/* The bricks that a pixel's ray passes within the truncation of its depth: at steps of half a brick and at both ends. `last` is the key that was entered
 * last, which the next pixels mostly want again. */
TSR_HD void tsr_fusion_reach_pixel(const tsr_fusion_view *v, const tsr_fusion_table *t, int64_t i, uint64_t *last)
{
    const float d = v->depth[i], px = (float)(int32_t)(i % v->width) + 0.5f, py = (float)(int32_t)(i / v->width) + 0.5f;
    if (!(d > 0.0f) || !(d >= v->nearest && d <= v->farthest)) return;
    const float from = d - v->truncation, length = 2.0f * v->truncation;
    const int32_t steps = 1 + (int32_t)(length / (0.5f * (float)TSR_FUSION_EDGE * v->voxel));
    for (int32_t n = 0; n <= steps; n++) {
        const float at = from + length * ((float)n / (float)steps);
        int32_t place[3];
        if (!(at > 0.0f)) continue;
        for (int k = 0; k < 3; k++) {
            const float side = v->right[k] * px + v->down[k] * py;
            const float c = (v->parallel ? v->origin[k] + side + at * v->along[k] : v->origin[k] + at * (v->along[k] + side)) * (1.0f / (float)TSR_FUSION_EDGE);
            if (!(c > (float)(2 - TSR_FUSION_REACH) && c < (float)(TSR_FUSION_REACH - 2))) {
                tsr_fusion_fault(t->counters, 2);
                return;
            }
            place[k] = tsr_fusion_floor(c);
        }
        const uint64_t key = tsr_fusion_key(place[0], place[1], place[2]);
        if (key == *last) continue;
        *last = key;
        tsr_fusion_reach(t, key);
    }
}

/* One voxel of a row of a brick: q and z are those of the row's first, `n` its number in the row. parts: of this voxel, the others follow a brick apart. */
TSR_HD void tsr_fusion_voxel(const tsr_fusion_view *v, const float q[3], float z, int32_t n, float *parts)
{
    const float x = (float)n, w = q[2] + x * v->row[2][0], inverse = 1.0f / w;
    const float px = (q[0] + x * v->row[0][0]) * inverse, py = (q[1] + x * v->row[1][0]) * inverse, own = z + x * v->axis[0];
    if (!(w > 0.0f) || !(px >= 0.0f && py >= 0.0f && px < (float)v->width && py < (float)v->height)) return;
    const int64_t i = (int64_t)(int32_t)py * v->width + (int32_t)px;
    const float d = v->depth[i], between = d - own;
    if (!(d > 0.0f) || !(d >= v->nearest && d <= v->farthest) || !(between >= -v->truncation)) return;
    const float distance = between < v->truncation ? between : v->truncation;
    float gain = 1.0f;
    if (v->near_weight > 0.0f) {
        const float ratio = v->near_weight / d;
        gain = ratio < 1.0f ? ratio * ratio : 1.0f;
    }
    const float before = parts[TSR_FUSION_VOXELS], after = before + gain, share = gain / after;
    parts[0] += share * (distance - parts[0]);
    parts[TSR_FUSION_VOXELS] = v->most_weight > 0.0f && after > v->most_weight ? v->most_weight : after;
    if (!v->image || between > v->truncation) return;
    const uint8_t *c = v->image + i * v->channels;
    for (int k = 0; k < 3; k++) {
        float *p = parts + (2 + k) * TSR_FUSION_VOXELS;
        /* -1: no colour yet; what came without a picture does not count. */
        const float colour = (float)c[v->channels < 3 ? 0 : k];
        *p = *p < 0.0f ? colour : *p + share * (colour - *p);
    }
}
/* Row `row` (y + 8 z) of a brick at brick coordinates `place`. */
TSR_HD void tsr_fusion_row(const tsr_fusion_view *v, const int32_t place[3], int32_t row, float q[3], float *z)
{
    const float x = (float)(place[0] * TSR_FUSION_EDGE), y = (float)(place[1] * TSR_FUSION_EDGE + row % TSR_FUSION_EDGE);
    const float h = (float)(place[2] * TSR_FUSION_EDGE + row / TSR_FUSION_EDGE);
    for (int k = 0; k < 3; k++) q[k] = v->row[k][0] * x + v->row[k][1] * y + v->row[k][2] * h + v->row[k][3];
    *z = v->axis[0] * x + v->axis[1] * y + v->axis[2] * h + v->axis[3];
}

#endif
