/* algebra/selection.h: the signed distance to the faces of a selection, compiled by the C and the CUDA compiler (class exact: see csg_math.h), and what
 * the host makes of a tsr_selection for it. Source: docs/theory/editing.md 4; distances to segments and plane sectors: elementary geometry. */
#ifndef TSR_ALGEBRA_SELECTION_H
#define TSR_ALGEBRA_SELECTION_H

#include "algebra/csg_math.h"
#include "tessera/selection.h"

/* Kinds beyond the public ones: a lasso by how it is looked at, parallel or from an eye. */
enum { TSR_SELECTION_PRISM = 16, TSR_SELECTION_CONE };

/* Floats of a corner. STROKE: start, step to the next point, 1 / length^2 of the step. PRISM: u, v of this corner and the next, 1 / length^2. CONE: unit ray, unit
 * normal of the sector to the next ray, u, v. */
enum { TSR_CORNER = 8 };

/* local = frame * (x - centre); a lasso's w axis is the direction of view. */
typedef struct tsr_selection_field {
    int32_t kind, count;
    float centre[3], frame[9], half[3], radius;
    const float *corners; /* [count][TSR_CORNER] */
} tsr_selection_field;

/* Squared distance of p from the segment a + t d, t in [0, 1]; `inverse` = 1 / |d|^2, or 0 for a point. */
TSR_HD float tsr_segment_distance2(const float *a, const float *d, float inverse, const float *p, int32_t dimensions)
{
    float along = 0.0f, sum = 0.0f;
    for (int32_t k = 0; k < dimensions; k++) along = along + (p[k] - a[k]) * d[k];
    along = tsr_clampf(along * inverse, 0.0f, 1.0f);
    for (int32_t k = 0; k < dimensions; k++) {
        float r = (p[k] - a[k]) - along * d[k];
        sum = sum + r * r;
    }
    return sum;
}

/* Squared distance of p from the sector of the plane between the rays of `corner` and the next one, its first ray included. */
TSR_HD float tsr_sector_distance2(const float *corner, const float *next, const float *p)
{
    const float *n = corner + 3;
    float t = tsr_maxf((p[0] * corner[0] + p[1] * corner[1]) + p[2] * corner[2], 0.0f), sum = 0.0f;
    /* (a x p) . n and (p x b) . n are not negative between the rays */
    float from_a =
        (p[0] * (n[1] * corner[2] - n[2] * corner[1]) + p[1] * (n[2] * corner[0] - n[0] * corner[2])) + p[2] * (n[0] * corner[1] - n[1] * corner[0]);
    float to_b = (p[0] * (next[1] * n[2] - next[2] * n[1]) + p[1] * (next[2] * n[0] - next[0] * n[2])) + p[2] * (next[0] * n[1] - next[1] * n[0]);
    if (from_a >= 0.0f && to_b >= 0.0f) {
        float off = (p[0] * n[0] + p[1] * n[1]) + p[2] * n[2];
        return off * off;
    }
    for (int32_t k = 0; k < 3; k++) {
        float r = p[k] - t * corner[k];
        sum = sum + r * r;
    }
    return sum;
}

/* 1 if the half line from (u, v) towards +u crosses the edge: an odd number of edges means inside. */
TSR_HD int32_t tsr_edge_crossed(float au, float av, float bu, float bv, float u, float v)
{
    return (av > v) != (bv > v) && u < (bu - au) * ((v - av) / (bv - av)) + au;
}

/* Signed distance of x, negative in the selection. Cost: the corners. */
TSR_HD float tsr_selection_distance(const tsr_selection_field *s, const float x[3])
{
    float p[3] = { x[0] - s->centre[0], x[1] - s->centre[1], x[2] - s->centre[2] };
    float least = 3.0e38f;
    int32_t odd = 0;
    if (s->kind == TSR_SELECTION_BALL) return tsr_csg_length3(p[0], p[1], p[2]) - s->radius;
    if (s->kind == TSR_SELECTION_STROKE) {
        for (int32_t i = 0; i < s->count; i++) {
            const float *c = s->corners + i * TSR_CORNER;
            least = tsr_minf(least, tsr_segment_distance2(c, c + 3, c[6], p, 3));
        }
        return tsr_csg_root(least) - s->radius;
    }
    float l[3];
    for (int32_t i = 0; i < 3; i++) l[i] = (s->frame[3 * i] * p[0] + s->frame[3 * i + 1] * p[1]) + s->frame[3 * i + 2] * p[2];
    if (s->kind == TSR_SELECTION_HALF) return l[2];
    if (s->kind == TSR_SELECTION_PRISM) {
        for (int32_t i = 0; i < s->count; i++) {
            const float *c = s->corners + i * TSR_CORNER, d[2] = { c[2] - c[0], c[3] - c[1] };
            least = tsr_minf(least, tsr_segment_distance2(c, d, c[4], l, 2));
            odd ^= tsr_edge_crossed(c[0], c[1], c[2], c[3], l[0], l[1]);
        }
        return odd ? 0.0f - tsr_csg_root(least) : tsr_csg_root(least);
    }
    if (s->kind == TSR_SELECTION_CONE) {
        const int32_t front = l[2] > 0.0f;
        const float u = front ? l[0] / l[2] : 0.0f, v = front ? l[1] / l[2] : 0.0f;
        for (int32_t i = 0; i < s->count; i++) {
            const float *c = s->corners + i * TSR_CORNER, *next = s->corners + (i + 1 < s->count ? i + 1 : 0) * TSR_CORNER;
            least = tsr_minf(least, tsr_sector_distance2(c, next, l));
            odd ^= front & tsr_edge_crossed(c[6], c[7], next[6], next[7], u, v);
        }
        return odd ? 0.0f - tsr_csg_root(least) : tsr_csg_root(least);
    }
    return tsr_csg_box_distance(s->half, 0.0f, l); /* BOX and OBOX */
}

/* How far the float32 distance at x may be from the true one. */
TSR_HD float tsr_selection_slack(const tsr_selection_field *s, const float x[3])
{
    return 2.0e-6f * ((tsr_absf(x[0] - s->centre[0]) + tsr_absf(x[1] - s->centre[1])) + tsr_absf(x[2] - s->centre[2]));
}

/* ---- host (selection.c) -------------------------------------------------------------------------------------------------------------------- */

typedef struct tsr_selection_plan {
    tsr_selection_field field; /* its corners on the host */
    float *corners;            /* the same, owned (NULL: none) */
    double low[3], high[3];    /* of its bounding box; infinite for a lasso or a half space */
    double most;               /* the largest absolute number that describes it */
} tsr_selection_plan;

/* Where a selection is asked: faces beyond the box, which is finite, do not matter if it is `bounded`; distances are float32. */
typedef struct tsr_selection_place {
    double low[3], high[3], voxel; /* world units; smallest spacing */
    int bounded;
} tsr_selection_place;

/* TSR_ERROR_ARGUMENT names the field that makes no selection. `place` NULL: only checked; else what is larger than float32 can tell within a fraction of
 * a voxel is cut at the place (boxes, half spaces, lassos along their direction) or refused. */
tsr_status tsr_selection_prepare(const tsr_selection *selection, const tsr_selection_place *place, tsr_selection_plan *plan);
void tsr_selection_drop(tsr_selection_plan *plan);

#endif
