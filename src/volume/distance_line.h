/* volume/distance_line.h: the distance transform of one line of voxels: lower envelope of parabolas (Felzenszwalb and Huttenlocher 2012).
 *
 * One signed array carries both transforms: a voxel outside holds +d2, one inside -d2, with d2 the squared distance to the nearest voxel
 * of the other side found so far; TSR_DISTANCE_FAR where there is none. Voxels of the other side stand for the height 0. So each run of
 * equal sign along a line needs only its own heights and the two voxels that bound it: those beyond are never nearer.
 *
 * Voxels are not points but boxes with rounded edges: a box that is shorter than the voxel by the smallest spacing along each axis, and everything within half of
 * that spacing of it. Half the smallest spacing is taken off at the end; `core`, half of the inner box in voxels along the axis, from each distance along
 * a line that is not 0 (tsr_distance_steps), so that the surface lies on the face between two voxels whatever their spacing. For equal spacings the inner box
 * is a point and core 0.
 *
 * Heights and weights are float32; comparisons are made in float64, exactly while the values are integers below 2^24 (equal spacing). */
#ifndef TSR_VOLUME_DISTANCE_LINE_H
#define TSR_VOLUME_DISTANCE_LINE_H

#include <math.h>

#include "volume/voxel.h"

#define TSR_DISTANCE_FAR 3.0e38f

/* How squared distances become the result. */
typedef struct tsr_distance_finish {
    int32_t mode; /* tsr_distance_mode; negative: leave the signed squares as they are */
    float scale;  /* world units per square root */
    float half;   /* half a voxel */
    float band;   /* infinity: none */
} tsr_distance_finish;

TSR_HD float tsr_distance_finished(const tsr_distance_finish *f, float value)
{
    if (f->mode < 0) return value;
    float square = tsr_absf(value), distance = square < TSR_DISTANCE_FAR ? sqrtf(square) * f->scale : tsr_bits_float(0x7f800000u);
    int inside = value < 0.0f;
    if (f->mode == 1) return inside ? 0.0f : tsr_minf(distance, f->band);
    distance = tsr_minf(distance - f->half, f->band);
    return inside ? -distance : distance;
}

TSR_HD int tsr_distance_inside(const void *mask, tsr_dtype dtype, int64_t i)
{
    double v = tsr_voxel_load(mask, dtype, i);
    return v == v && v != 0.0;
}

/* Square of the distance from a voxel to the inner box of another one `steps` (not 0) along the axis, in voxels. Loops over points (core 0, equal spacings)
 * have steps^2 in its place, the same bits. */
TSR_HD double tsr_distance_steps(double steps, float core)
{
    const double rest = (steps < 0.0 ? -steps : steps) - (double)core;
    return rest * rest;
}

TSR_HD double tsr_distance_square(double steps, float core, int boxes) { return boxes ? tsr_distance_steps(steps, core) : steps * steps; }

/* Signed squared distance of a voxel at x from the nearest one of the other side in its row, at `nearest` (negative: none). */
TSR_HD float tsr_distance_along_row(int inside, int32_t x, int32_t nearest, float weight, float core)
{
    float square = nearest < 0 ? TSR_DISTANCE_FAR : (float)(tsr_distance_steps((double)(x - nearest), core) * (double)weight);
    return inside ? -square : square;
}

/* What a line needs of its surroundings. Element i lies at [i * stride]. */
typedef struct tsr_distance_line {
    const float *in;
    float *out;      /* not `in` */
    uint16_t *stack; /* room for n positions, stride as well */
    int64_t in_stride, out_stride, stack_stride;
    int32_t n;
    float weight; /* square of the spacing */
    float core;
    int outside_only; /* != 0: runs inside stay as they are, for those whose distances become 0 in the end */
} tsr_distance_line;

TSR_HD double tsr_distance_height(const tsr_distance_line *l, int32_t i, int inside)
{
    float v = l->in[i * l->in_stride];
    return (v < 0.0f) == inside ? (double)tsr_absf(v) : 0.0;
}

/* height + weight i^2: where the parabola at i crosses others depends only on these sums. */
TSR_HD double tsr_distance_sum(const tsr_distance_line *l, int32_t i, double height) { return height + (double)l->weight * ((double)i * (double)i); }

/* 1 if the parabola at b is nowhere the lowest between a and c (a < b < c): it meets c not after it met a. */
TSR_HD int tsr_distance_hidden(double sum_a, int32_t a, double sum_b, int32_t b, double sum_c, int32_t c)
{
    return (sum_b - sum_a) * (double)(c - b) >= (sum_c - sum_b) * (double)(b - a);
}

/* Where the parabola at q, from there on, is lower than the one at p < q: their difference grows with the place, along three straight lines. */
TSR_HD double tsr_distance_meet(const tsr_distance_line *l, double sum_p, int32_t p, double sum_q, int32_t q)
{
    const double w = (double)l->weight, core = (double)l->core, length = (double)(q - p), middle = 0.5 * ((double)p + (double)q);
    const double rise = ((sum_q - w * ((double)q * (double)q)) - (sum_p - w * ((double)p * (double)p))) / w;
    const double between = rise / (2.0 * (length - 2.0 * core));
    if (between >= -0.5 * length && between <= 0.5 * length) return middle + between;
    return middle + rise / (2.0 * length) + (between > 0.0 ? core : -core);
}

/* tsr_distance_hidden for boxes, too. The places of their parabolas hold c^2 at their own voxel in place of 0, which the end puts right. */
TSR_HD int tsr_distance_covered(const tsr_distance_line *l, int boxes, double sum_a, int32_t a, double sum_b, int32_t b, double sum_c, int32_t c)
{
    if (!boxes) return tsr_distance_hidden(sum_a, a, sum_b, b, sum_c, c);
    return tsr_distance_meet(l, sum_a, a, sum_b, b) >= tsr_distance_meet(l, sum_b, b, sum_c, c);
}

/* The run of one sign that begins at `begin`; returns its end. `boxes`, known to the compiler: is core other than 0? */
TSR_HD int32_t tsr_distance_run(const tsr_distance_line *l, int32_t begin, const tsr_distance_finish *finish, int boxes)
{
    int inside = l->in[begin * l->in_stride] < 0.0f;
    int32_t depth = 0, end = l->n;
    if (inside && l->outside_only) {
        for (end = begin; end < l->n && l->in[end * l->in_stride] < 0.0f; end++)
            l->out[end * l->out_stride] = tsr_distance_finished(finish, l->in[end * l->in_stride]);
        return end;
    }
    double top = 0.0, below = 0.0; /* sums of the last two parabolas of the envelope */
    for (int32_t c = begin > 0 ? begin - 1 : begin; c <= end && c < l->n; c++) {
        float v = l->in[c * l->in_stride];
        int own = (v < 0.0f) == inside;
        double height = own ? (double)tsr_absf(v) : 0.0;
        if (!own && c > begin) end = c;
        if (height >= (double)TSR_DISTANCE_FAR) continue;
        double sum = tsr_distance_sum(l, c, height);
        while (depth >= 2) {
            int32_t b = l->stack[(depth - 1) * l->stack_stride], a = l->stack[(depth - 2) * l->stack_stride];
            if (!tsr_distance_covered(l, boxes, below, a, top, b, sum, c)) break;
            depth--;
            top = below;
            if (depth >= 2) {
                a = l->stack[(depth - 2) * l->stack_stride];
                below = tsr_distance_sum(l, a, tsr_distance_height(l, a, inside));
            }
        }
        l->stack[depth * l->stack_stride] = (uint16_t)c;
        depth++;
        below = top;
        top = sum;
    }
    if (!depth) {
        for (int32_t i = begin; i < end; i++)
            l->out[i * l->out_stride] = tsr_distance_finished(finish, inside ? -TSR_DISTANCE_FAR : TSR_DISTANCE_FAR);
        return end;
    }
    int32_t at = 0, here = l->stack[0];
    double height = tsr_distance_height(l, here, inside);
    int32_t then = depth > 1 ? l->stack[l->stack_stride] : 0;
    double then_height = depth > 1 ? tsr_distance_height(l, then, inside) : 0.0;
    for (int32_t i = begin; i < end; i++) {
        double best = height + (double)l->weight * tsr_distance_square((double)(i - here), l->core, boxes);
        while (at + 1 < depth) {
            double next = then_height + (double)l->weight * tsr_distance_square((double)(i - then), l->core, boxes);
            if (next > best) break;
            best = next;
            at++;
            here = then;
            height = then_height;
            if (at + 1 < depth) {
                then = l->stack[(at + 1) * l->stack_stride];
                then_height = tsr_distance_height(l, then, inside);
            }
        }
        float square = (float)best;
        if (boxes) square = tsr_minf(square, tsr_absf(l->in[i * l->in_stride])); /* the voxel itself is no step away */
        l->out[i * l->out_stride] = tsr_distance_finished(finish, inside ? -square : square);
    }
    return end;
}

TSR_HD void tsr_distance_transform_line(const tsr_distance_line *l, const tsr_distance_finish *finish)
{
    if (l->core == 0.0f)
        for (int32_t begin = 0; begin < l->n;) begin = tsr_distance_run(l, begin, finish, 0);
    else
        for (int32_t begin = 0; begin < l->n;) begin = tsr_distance_run(l, begin, finish, 1);
}

/* ---- a line by searching ----------------------------------------------------------------------------------------------------------------------
 *
 * The same minimum without a stack, for threads that share a line. For heights of one side (0 at voxels of the other) let a(i) be a place of the
 * parabola that is lowest at i. For p < i < q some a(i) lies between a(p) and a(q), whichever places are taken where several parabolas are equally
 * low: what lies before a(p) and is not lower than it at p is higher at every i > p, for the difference grows with i. So the places of every
 * TSR_DISTANCE_STRIDE-th voxel are searched outward from it, then those half-way between known ones among what lies between theirs: about two
 * parabolas a voxel and halving. A voxel of the other side is its own a(i), so one array of places serves both sides.
 *
 * `real` is float where all heights and weights are integers below 2^24 (nothing is rounded), else double. */
enum { TSR_DISTANCE_STRIDE = 32 };

/* Element i of the line lies at value[i * pitch], the place found for it at place[i * pitch]. */
typedef struct tsr_distance_shared {
    const float *value;
    uint16_t *place;
    int32_t pitch, n;
    float weight, core;
} tsr_distance_shared;

/* The parabola with the smallest value at i, searched outward from i as far as one can lie below the best. Returns the signed square. */
#define TSR_DISTANCE_OUTWARD(name, real, square_of)                                               \
    TSR_HD float name(const tsr_distance_shared *l, int32_t i)                                    \
    {                                                                                             \
        const float own = l->value[i * l->pitch], side = own < 0.0f ? -1.0f : 1.0f;               \
        const real weight = (real)l->weight;                                                      \
        real best = (real)tsr_absf(own), steps = 1;                                               \
        int32_t at = i, low = i - 1, high = i + 1;                                                \
        for (; low >= 0 || high < l->n; low--, high++, steps += 1) {                              \
            const real square = weight * square_of(steps);                                        \
            if (square >= best) break;                                                            \
            if (low >= 0) {                                                                       \
                const real sum = (real)tsr_maxf(side * l->value[low * l->pitch], 0.0f) + square;  \
                if (sum < best) {                                                                 \
                    best = sum;                                                                   \
                    at = low;                                                                     \
                }                                                                                 \
            }                                                                                     \
            if (high < l->n) {                                                                    \
                const real sum = (real)tsr_maxf(side * l->value[high * l->pitch], 0.0f) + square; \
                if (sum < best) {                                                                 \
                    best = sum;                                                                   \
                    at = high;                                                                    \
                }                                                                                 \
            }                                                                                     \
        }                                                                                         \
        l->place[i * l->pitch] = (uint16_t)at;                                                    \
        return side * (float)best;                                                                \
    }
#define TSR_DISTANCE_BOX(steps) tsr_distance_steps(steps, l->core)
#define TSR_DISTANCE_POINT(steps) ((steps) * (steps)) /* core 0 */
TSR_DISTANCE_OUTWARD(tsr_distance_outward, double, TSR_DISTANCE_BOX)
TSR_DISTANCE_OUTWARD(tsr_distance_outward_whole, float, TSR_DISTANCE_POINT)

/* Where the places of i lie, known those of p < i and of q > i (q >= n: none); voxels of the other side are their own. */
TSR_HD int32_t tsr_distance_bound(const tsr_distance_shared *l, int32_t p, float own)
{
    return (l->value[p * l->pitch] < 0.0f) == (own < 0.0f) ? (int32_t)l->place[p * l->pitch] : p;
}

/* The parabola with the smallest value at i, among those between the bounds from p and q. Returns the signed square. */
#define TSR_DISTANCE_BETWEEN(name, real, square_of)                                                                    \
    TSR_HD float name(const tsr_distance_shared *l, int32_t i, int32_t p, int32_t q)                                   \
    {                                                                                                                  \
        const float own = l->value[i * l->pitch], side = own < 0.0f ? -1.0f : 1.0f;                                    \
        const int32_t low = tsr_distance_bound(l, p, own), high = q < l->n ? tsr_distance_bound(l, q, own) : l->n - 1; \
        const real weight = (real)l->weight;                                                                           \
        real best = (real)tsr_absf(own), steps = (real)(i - low), nearest = 0;                                         \
        const float *value = l->value + low * l->pitch;                                                                \
        for (int32_t j = low; j <= high; j++, value += l->pitch, steps -= 1) {                                         \
            const real sum = (real)tsr_maxf(side * *value, 0.0f) + weight * square_of(steps);                          \
            nearest = sum < best ? steps : nearest;                                                                    \
            best = sum < best ? sum : best;                                                                            \
        }                                                                                                              \
        l->place[i * l->pitch] = (uint16_t)(i - (int32_t)nearest);                                                     \
        return side * (float)best;                                                                                     \
    }
TSR_DISTANCE_BETWEEN(tsr_distance_between, double, TSR_DISTANCE_BOX)
TSR_DISTANCE_BETWEEN(tsr_distance_between_whole, float, TSR_DISTANCE_POINT)

#endif
