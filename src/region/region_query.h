/* region/region_query.h: queries of region trees: of one point, of one ray, of one leaf. docs/theory/regions.md 6. */
#ifndef TSR_REGION_REGION_QUERY_H
#define TSR_REGION_REGION_QUERY_H

#include <math.h>

#include "region/region.h"

/* An entry point below the top levels: 0 nothing, > 0 node, < 0 leaf, and the level of what it stands for. */
typedef struct tsr_region_entry {
    int32_t reference, level;
} tsr_region_entry;

/* The lists of a tree. */
typedef struct tsr_region_view {
    int64_t size[3];
    int32_t bits, top;
    tsr_region_root root;
    int64_t leaves, nodes;
    const uint64_t *leaf;
    const int32_t *node;
    const tsr_region_entry *table; /* of the cells of level top - cap in Morton order; NULL: none */
    int32_t cap;
} tsr_region_view;

TSR_HD int32_t tsr_region_root_reference(const tsr_region_view *v) { return v->root == TSR_REGION_LEAF ? ~0 : 0; }

TSR_HD tsr_region_hit tsr_region_outside(const int32_t at[3])
{
    tsr_region_hit hit = { -2, 0, { at[0], at[1], at[2] } };
    return hit;
}
TSR_HD int tsr_region_contains(const tsr_region_view *v, const int32_t at[3])
{
    for (int32_t k = 0; k < 3; k++)
        if (at[k] < 0 || at[k] >= v->size[k]) return 0;
    return 1;
}

/* From node e.reference of level e.level towards a point, down to the level `stop` at most. */
TSR_HD tsr_region_entry tsr_region_descend(const tsr_region_view *v, const int32_t at[3], tsr_region_entry e, int32_t stop)
{
    do { /* reference 0 is the root at first, then nothing */
        e.level--;
        const int32_t c = (at[0] >> e.level & 1) | (at[1] >> e.level & 1) << 1 | (v->bits == 3 ? (at[2] >> e.level & 1) << 2 : 0);
        e.reference = v->node[((int64_t)e.reference << v->bits) + c];
    } while (e.reference > 0 && e.level > stop);
    return e;
}

/* Entry number i of the table; the root is a node. */
TSR_HD tsr_region_entry tsr_region_enter(const tsr_region_view *v, int32_t cap, int64_t i)
{
    const tsr_region_entry root = { 0, v->top };
    int64_t cell[3];
    int32_t at[3];
    tsr_region_decode(v->bits, (uint64_t)i, cell);
    for (int32_t k = 0; k < 3; k++) at[k] = (int32_t)(cell[k] << (v->top - cap));
    return tsr_region_descend(v, at, root, v->top - cap);
}

TSR_HD tsr_region_hit tsr_region_find(const tsr_region_view *v, const int32_t at[3])
{
    tsr_region_entry e = { tsr_region_root_reference(v), v->top };
    if (!tsr_region_contains(v, at)) return tsr_region_outside(at);
    if (v->root == TSR_REGION_NODE) {
        const int32_t low = v->top - v->cap;
        if (v->table) e = v->table[tsr_region_code(v->bits, at[0] >> low, at[1] >> low, v->bits == 3 ? at[2] >> low : 0)];
        if (!v->table || e.reference > 0) e = tsr_region_descend(v, at, e, 0);
    }
    const int32_t level = e.level;
    tsr_region_hit hit = { e.reference < 0 ? (int64_t)~e.reference : -1, level, { 0, 0, 0 } };
    for (int32_t k = 0; k < (v->bits == 3 ? 3 : 2); k++) hit.lower[k] = at[k] >> level << level;
    return hit;
}

/* The last leaf not after the point holds it, or none does. */
TSR_HD tsr_region_hit tsr_region_search(const tsr_region_view *v, const int32_t at[3])
{
    if (!tsr_region_contains(v, at)) return tsr_region_outside(at);
    const uint64_t code = tsr_region_code(v->bits, at[0], at[1], at[2]);
    int64_t low = 0, high = v->leaves;
    tsr_region_hit hit = { -1, 0, { at[0], at[1], at[2] } };
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (v->leaf[middle] >> 6 <= code) low = middle + 1;
        else high = middle;
    }
    if (!low) return hit;
    const int32_t level = (int32_t)(v->leaf[low - 1] & 63u);
    if ((code ^ v->leaf[low - 1] >> 6) >> (v->bits * level)) return hit;
    hit.leaf = low - 1;
    hit.level = level;
    for (int32_t k = 0; k < (v->bits == 3 ? 3 : 2); k++) hit.lower[k] = at[k] >> level << level;
    return hit;
}

/* The leaf beside a leaf, across face 2 axis (lower) or 2 axis + 1 (upper), if it is as large or larger; else -1. */
TSR_HD int32_t tsr_region_neighbour(const tsr_region_view *v, int64_t leaf, int32_t face)
{
    const int32_t level = (int32_t)(v->leaf[leaf] & 63u), axis = face >> 1;
    int64_t corner[3];
    int32_t at[3];
    tsr_region_decode(v->bits, v->leaf[leaf] >> 6, corner);
    for (int32_t k = 0; k < 3; k++) at[k] = (int32_t)corner[k] + (k != axis ? 0 : face & 1 ? (int32_t)1 << level : -1);
    const tsr_region_hit hit = tsr_region_find(v, at);
    return hit.leaf >= 0 && hit.level >= level ? (int32_t)hit.leaf : -1;
}

/* Above any t of a ray within a tree. */
#define TSR_RAY_FAR 1e300

/* A ray by what its planes need: t where coordinate k is p = (p - origin) inverse; along axes that it does not move on, never. */
typedef struct tsr_ray_lines {
    double origin[3], inverse[3];
    int32_t back, still; /* bit k: it moves towards lower k; not at all, or by less than a voxel */
} tsr_ray_lines;

TSR_HD double tsr_ray_plane(const tsr_ray_lines *r, int32_t k, double p) { return (p - r->origin[k]) * r->inverse[k]; }

/* t at which the ray has passed coordinate k = p, the one that it is on from then on. */
TSR_HD double tsr_ray_passes(const tsr_ray_lines *r, int32_t k, double p)
{
    if (r->still >> k & 1) return r->origin[k] >= p ? -TSR_RAY_FAR : TSR_RAY_FAR;
    return tsr_ray_plane(r, k, p);
}
/* t at which the ray leaves [corner, corner + side) of axis k. */
TSR_HD double tsr_ray_leaves(const tsr_ray_lines *r, int32_t k, double corner, double side)
{
    return r->still >> k & 1 ? TSR_RAY_FAR : tsr_ray_plane(r, k, r->back >> k & 1 ? corner : corner + side);
}

/* The lines of a ray and the interval of t in which it is inside [0, upper); empty or not a ray: 0. */
TSR_HD int tsr_ray_clip(const tsr_region_ray *ray, const double upper[3], tsr_ray_lines *r, double *begin, double *end)
{
    *begin = 0.0;
    *end = ray->most;
    r->back = r->still = 0;
    for (int32_t k = 0; k < 3; k++) {
        const double d = ray->direction[k], o = ray->origin[k];
        if (!(d == d && o == o && d < TSR_RAY_FAR && d > -TSR_RAY_FAR && o < TSR_RAY_FAR && o > -TSR_RAY_FAR)) return 0;
        r->origin[k] = o;
        r->inverse[k] = 1.0 / d;
        if (d < 1.0 / TSR_RAY_FAR && d > -1.0 / TSR_RAY_FAR) {
            r->still |= 1 << k;
            if (o < 0.0 || o >= upper[k]) return 0;
            continue;
        }
        r->back |= (d < 0.0) << k;
        const double a = tsr_ray_plane(r, k, 0.0), b = tsr_ray_plane(r, k, upper[k]), low = d > 0.0 ? a : b, high = d > 0.0 ? b : a;
        if (low > *begin) *begin = low;
        if (high < *end) *end = high;
    }
    return r->still != 7 && *end > *begin;
}

/* What is asked of a ray: its leaves, whether there is one, the intervals without any. */
typedef enum tsr_region_trace_mode { TSR_TRACE_ALL, TSR_TRACE_FIRST, TSR_TRACE_GAPS } tsr_region_trace_mode;

TSR_HD int32_t tsr_region_span_put(tsr_region_span *spans, int32_t room, int32_t found, int64_t leaf, double enter, double leave)
{
    const tsr_region_span span = { leaf, enter, leave };
    if (found < room) spans[found] = span;
    return found + 1;
}

/* Highest set bit of v, which is not 0. */
TSR_HD int32_t tsr_highest_bit(uint32_t v)
{
#if defined(__CUDA_ARCH__)
    return 31 - __clz((int)v);
#else
    return 31 - __builtin_clz(v);
#endif
}

/* Leaves (or gaps) along a ray, the first `room` to `spans`; returns how many there are (TSR_TRACE_FIRST: 0 or 1). At a node t decides which
 * child the ray is in; where it leaves that, the highest bit that changes in its coordinates names the ancestor that holds the next one.
 * Nothing but the nodes on the way is kept: the planes follow from the coordinates. */
TSR_HD int32_t tsr_region_trace(const tsr_region_view *v, const tsr_region_ray *ray, int32_t room, int32_t mode, tsr_region_span *spans)
{
    tsr_ray_lines lines;
    int32_t way[TSR_REGION_LEVELS]; /* node of each level above */
    double t, end, leaves[3], cut[3], upper[3];
    double from = 0.0, to = -1.0; /* the gap in hand; to < from: none */
    int32_t level = v->top, node = 0, found = 0, corner[3] = { 0, 0, 0 };
    const double side = (double)((int64_t)1 << v->top);
    for (int32_t k = 0; k < 3; k++) upper[k] = mode == TSR_TRACE_GAPS ? (double)v->size[k] : k < 2 || v->bits == 3 ? side : 1.0;
    if ((v->root == TSR_REGION_EMPTY && mode != TSR_TRACE_GAPS) || !tsr_ray_clip(ray, upper, &lines, &t, &end)) return 0;
    if (v->root == TSR_REGION_EMPTY) return tsr_region_span_put(spans, room, 0, -1, t, end);
    if (v->root == TSR_REGION_LEAF) return mode == TSR_TRACE_GAPS ? 0 : tsr_region_span_put(spans, room, 0, 0, t, end);
    for (int32_t k = 0; k < 3; k++) {
        leaves[k] = tsr_ray_leaves(&lines, k, 0.0, side);
        cut[k] = TSR_RAY_FAR; /* z of a quadtree */
    }
    for (;;) {
        const int32_t half = (int32_t)1 << (level - 1);
        int32_t child = 0;
        double next = end;
        for (int32_t k = 0; k < 3; k++) {
            if (k == 2 && v->bits == 2) continue;
            const double middle = tsr_ray_passes(&lines, k, (double)(corner[k] + half));
            const int after = t >= middle;
            child |= (after != (lines.back >> k & 1)) << k;
            cut[k] = after ? leaves[k] : middle;
            next = cut[k] < next ? cut[k] : next;
        }
        const int32_t reference = v->node[((int64_t)node << v->bits) + child];
        if (next > t) {
            if (reference > 0) {
                way[level--] = node;
                node = reference;
                for (int32_t k = 0; k < 3; k++) {
                    corner[k] += child >> k & 1 ? half : 0;
                    leaves[k] = cut[k];
                }
                continue;
            }
            if (reference == 0 && mode == TSR_TRACE_GAPS) {
                if (to >= from && to < t) found = tsr_region_span_put(spans, room, found, -1, from, to);
                if (!(to >= from && to == t)) from = t;
                to = next;
            }
            if (reference < 0 && mode != TSR_TRACE_GAPS) {
                found = tsr_region_span_put(spans, room, found, (int64_t)~reference, t, next);
                if (mode == TSR_TRACE_FIRST) return found;
            }
            t = next;
        }
        if (!(t < end)) break;
        uint32_t changes = 0;
        for (int32_t k = 0; k < 3; k++) {
            if (!(cut[k] <= t)) continue;
            const int32_t low = corner[k] + (child >> k & 1 ? half : 0), edge = lines.back >> k & 1 ? low : low + half;
            changes |= (uint32_t)(edge ^ (edge - 1));
        }
        const int32_t up = tsr_highest_bit(changes) + 1;
        if (up > v->top) break; /* beyond the root */
        if (up == level) continue;
        level = up;
        node = way[level];
        for (int32_t k = 0; k < 3; k++) {
            corner[k] = (int32_t)((uint32_t)corner[k] >> level << level);
            leaves[k] = tsr_ray_leaves(&lines, k, (double)corner[k], (double)((int64_t)1 << level));
        }
    }
    if (to >= from) found = tsr_region_span_put(spans, room, found, -1, from, to);
    return found;
}

/* The voxels of a leaf by number, x fastest: their indices in the volume. */
typedef struct tsr_region_box {
    int64_t at[3], voxels;
    int32_t level;
} tsr_region_box;
TSR_HD tsr_region_box tsr_region_box_of(const tsr_region_view *v, int64_t leaf)
{
    tsr_region_box box;
    box.level = (int32_t)(v->leaf[leaf] & 63u);
    box.voxels = (int64_t)1 << (v->bits * box.level);
    tsr_region_decode(v->bits, v->leaf[leaf] >> 6, box.at);
    return box;
}
TSR_HD int64_t tsr_region_box_voxel(const tsr_region_view *v, const tsr_region_box *box, int64_t i)
{
    const int64_t mask = ((int64_t)1 << box->level) - 1;
    const int64_t x = box->at[0] + (i & mask), y = box->at[1] + (i >> box->level & mask), z = box->at[2] + (i >> (2 * box->level));
    return (z * v->size[1] + y) * v->size[0] + x;
}

/* Sum of a leaf's voxels with stride 32 from number `lane`. */
TSR_HD double tsr_region_lane_sum(const tsr_region_view *v, const tsr_classifier *source, int64_t leaf, int32_t lane)
{
    const tsr_region_box box = tsr_region_box_of(v, leaf);
    double sum = 0.0;
    for (int64_t i = lane; i < box.voxels; i += 32) sum += tsr_classifier_value(source, tsr_region_box_voxel(v, &box, i));
    return sum;
}
TSR_HD float tsr_region_mean(const tsr_region_view *v, int64_t leaf, double sum)
{
    const int32_t level = (int32_t)(v->leaf[leaf] & 63u);
    return (float)(sum / (double)((int64_t)1 << (v->bits * level)));
}

/* Statistics of a leaf: 32 lanes look at its voxels with stride 32, once for the sum and the extremes, once more for the squares of what differs from the mean; what
 * they saw is joined by halves: lane i with lane i + 16, then i + 8 ... NaN is no extreme; there are none (NaN) until a number was seen. */
typedef struct tsr_region_seen {
    double sum, least, most;
} tsr_region_seen;
TSR_HD tsr_region_seen tsr_region_unseen(void)
{
    const tsr_region_seen nothing = { 0.0, (double)NAN, (double)NAN };
    return nothing;
}
TSR_HD void tsr_region_join(tsr_region_seen *a, double sum, double least, double most)
{
    a->sum += sum;
    if (!(a->least <= least) && least == least) a->least = least;
    if (!(a->most >= most) && most == most) a->most = most;
}
TSR_HD double tsr_region_average(const tsr_region_box *box, double sum) { return sum / (double)box->voxels; }
TSR_HD double tsr_region_square(double value, double mean) { return (value - mean) * (value - mean); }
TSR_HD tsr_region_statistics tsr_region_statistics_of(const tsr_region_box *box, const tsr_region_seen *seen, double squares)
{
    const tsr_region_statistics result = { tsr_region_average(box, seen->sum), tsr_region_average(box, squares), seen->least, seen->most };
    return result;
}

#endif
