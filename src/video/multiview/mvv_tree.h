/* video/multiview/mvv_tree.h: the coefficients of a group of pictures in four dimensions, and the trees that they form: docs/theory/multiview.md 3.3.
 *
 * A coefficient's number holds its four coordinates in fields of bits: u lowest, then v, camera, time. scale(0) = 0, scale(i) = floor(log2 i) + 1; the level
 * of a coefficient is the greatest scale among its coordinates. At level n an axis of 2^b samples is active if b > n. Children double the coordinates on
 * active axes, with 0 or 1 added, and keep the others. */
#ifndef TSR_VIDEO_MULTIVIEW_MVV_TREE_H
#define TSR_VIDEO_MULTIVIEW_MVV_TREE_H

#include "core/hd.h"

enum { TSR_MVV_AXES = 4, TSR_MVV_MOST_BITS = 30, TSR_MVV_LEVELS = 17, TSR_MVV_CHILDREN = 16 };

typedef struct tsr_mvv_shape {
    int32_t bits[TSR_MVV_AXES];      /* log2 of the extents along u, v, camera, time */
    int32_t shift[TSR_MVV_AXES];     /* where each field begins */
    int32_t all;                     /* sum of bits: 2^all coefficients */
    int32_t levels;                  /* the greatest of bits: levels 0 to it */
    uint32_t active[TSR_MVV_LEVELS]; /* of each level: the fields that are doubled for its children */
    uint32_t low[TSR_MVV_LEVELS];    /* the lowest bits of those */
    int32_t children[TSR_MVV_LEVELS];                  /* 2^(active axes) */
    uint32_t child[TSR_MVV_LEVELS][TSR_MVV_CHILDREN]; /* what is added to the doubled number */
} tsr_mvv_shape;

TSR_HD int32_t tsr_mvv_scale(uint32_t i)
{
#if defined(__CUDA_ARCH__)
    return 32 - __clz((int)i);
#else
    return i ? 32 - __builtin_clz(i) : 0;
#endif
}
TSR_HD uint32_t tsr_mvv_coordinate(const tsr_mvv_shape *s, uint32_t x, int a) { return x >> s->shift[a] & ((1u << s->bits[a]) - 1u); }

/* Bits needed for `extent` samples. */
TSR_HD int32_t tsr_mvv_bits_for(int32_t extent) { return tsr_mvv_scale((uint32_t)extent - 1u); }

/* 0 if that is more than a number holds. */
TSR_HD int tsr_mvv_shape_make(int32_t width, int32_t height, int32_t cameras, int32_t steps, tsr_mvv_shape *s)
{
    const int32_t extent[TSR_MVV_AXES] = { width, height, cameras, steps };
    memset(s, 0, sizeof *s);
    for (int a = 0; a < TSR_MVV_AXES; a++) {
        s->bits[a] = tsr_mvv_bits_for(extent[a]);
        s->shift[a] = s->all;
        s->all += s->bits[a];
        if (s->bits[a] > s->levels) s->levels = s->bits[a];
    }
    if (s->all > TSR_MVV_MOST_BITS || s->levels >= TSR_MVV_LEVELS) return 0;
    for (int32_t n = 0; n <= s->levels; n++) {
        s->children[n] = 1;
        for (int a = 0; a < TSR_MVV_AXES; a++) {
            if (s->bits[a] <= n) continue;
            s->active[n] |= ((1u << s->bits[a]) - 1u) << s->shift[a];
            s->low[n] |= 1u << s->shift[a];
            for (int32_t k = 0; k < s->children[n]; k++) s->child[n][s->children[n] + k] = s->child[n][k] | 1u << s->shift[a];
            s->children[n] *= 2;
        }
        if (s->children[n] == 1) s->children[n] = 0;
    }
    return 1;
}

/* The coordinates on axes of more than 2^n samples, all together: only their highest bit matters. */
TSR_HD uint32_t tsr_mvv_joined(const tsr_mvv_shape *s, uint32_t x, int32_t n)
{
    uint32_t joined = 0;
    for (int a = 0; a < TSR_MVV_AXES; a++)
        if (s->bits[a] > n) joined |= tsr_mvv_coordinate(s, x, a);
    return joined;
}

TSR_HD int32_t tsr_mvv_level(const tsr_mvv_shape *s, uint32_t x) { return tsr_mvv_scale(tsr_mvv_joined(s, x, -1)); }

/* Has it children? Has one of its children some? `level` is its own. */
TSR_HD int tsr_mvv_has_children(const tsr_mvv_shape *s, uint32_t x, int32_t level)
{
    return s->children[level] && tsr_mvv_scale(tsr_mvv_joined(s, x, level)) == level;
}
TSR_HD int tsr_mvv_has_grandchildren(const tsr_mvv_shape *s, uint32_t x, int32_t level)
{
    return level < s->levels && s->children[level + 1] && tsr_mvv_scale(tsr_mvv_joined(s, x, level + 1)) == level;
}

/* Child k is tsr_mvv_base + child[level][k]; the root's child 0 would be itself, so its children begin at 1. */
TSR_HD uint32_t tsr_mvv_base(const tsr_mvv_shape *s, uint32_t x, int32_t level) { return x + (x & s->active[level]); }
TSR_HD int32_t tsr_mvv_first_child(uint32_t x) { return x ? 0 : 1; }

/* Of a coefficient of level 1 or more. */
TSR_HD uint32_t tsr_mvv_parent(const tsr_mvv_shape *s, uint32_t x, int32_t level)
{
    const uint32_t halved = s->active[level - 1], low = s->low[level - 1];
    return (x & ~halved) | (x & halved & ~low) >> 1;
}

/* Steps of pairs that went into a coefficient: it is 2^(-steps / 2) times what it is for the samples. */
TSR_HD int32_t tsr_mvv_steps_of(const tsr_mvv_shape *s, uint32_t x)
{
    int32_t steps = 0;
    for (int a = 0; a < TSR_MVV_AXES; a++) {
        const int32_t scale = tsr_mvv_scale(tsr_mvv_coordinate(s, x, a));
        steps += s->bits[a] - (scale > 1 ? scale - 1 : 0);
    }
    return steps;
}

#endif
