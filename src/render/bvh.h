/* render/bvh.h: bounding volume hierarchy over triangles: nodes, ray traversal. Built on the host (bvh.c). Every
 * backend walks it in the same order, so that of two hits at equal distance the same one counts. */
#ifndef TSR_RENDER_BVH_H
#define TSR_RENDER_BVH_H

#include "render/field.h"

enum { TSR_BVH_STACK = 64 };

/* count 0: inner node, children first and first + 1; else triangles [first, first + count). */
typedef struct tsr_bvh_node { float lower[3]; uint32_t first; float upper[3]; uint32_t count; } tsr_bvh_node;

typedef struct tsr_bvh {
    const tsr_bvh_node *nodes;
    const float *corners;      /* [triangles][3][3], relative to the mesh's own origin */
    const float *normals;      /* [triangles][3][3] */
    int64_t triangles;
} tsr_bvh;

typedef struct tsr_bvh_hit { float t, u, v; int64_t triangle; } tsr_bvh_hit;

/* Entry distance of a box, or TSR_FLOAT_BIG when it is missed or farther than t1. Widened by 4 ulp so that flat boxes are never missed. */
TSR_HD float tsr_bvh_box(const tsr_bvh_node *n, tsr_float3 o, tsr_float3 inverse, float t0, float t1)
{
    for (int32_t k = 0; k < 3; k++) {
        float a = (n->lower[k] - tsr_get3(o, k)) * tsr_get3(inverse, k), b = (n->upper[k] - tsr_get3(o, k)) * tsr_get3(inverse, k);
        float low = tsr_minf(a, b), high = tsr_maxf(a, b);
        low -= tsr_absf(low) * 5.0e-7f;
        high += tsr_absf(high) * 5.0e-7f;
        t0 = tsr_maxf(t0, low);
        t1 = tsr_minf(t1, high);
    }
    return t0 <= t1 ? t0 : TSR_FLOAT_BIG;
}

/* Ray and triangle, watertight: the vertices are sheared so that the ray is the axis `k` (Woop, Benthin, Wald 2013). */
TSR_HD int tsr_bvh_triangle(const float *c, tsr_float3 o, tsr_float3 d, int32_t k, tsr_bvh_hit *hit, float t0)
{
    int32_t i = k == 2 ? 0 : k + 1, j = i == 2 ? 0 : i + 1;
    float dk = tsr_get3(d, k), sx = tsr_get3(d, i) / dk, sy = tsr_get3(d, j) / dk, sz = 1.0f / dk, x[3], y[3], z[3];
    for (int32_t v = 0; v < 3; v++) {
        float pi = c[3 * v + i] - tsr_get3(o, i), pj = c[3 * v + j] - tsr_get3(o, j), pk = c[3 * v + k] - tsr_get3(o, k);
        x[v] = pi - sx * pk;
        y[v] = pj - sy * pk;
        z[v] = sz * pk;
    }
    float a = x[2] * y[1] - y[2] * x[1], b = x[0] * y[2] - y[0] * x[2], e = x[1] * y[0] - y[1] * x[0];
    if ((a < 0.0f || b < 0.0f || e < 0.0f) && (a > 0.0f || b > 0.0f || e > 0.0f)) return 0;
    float det = (a + b) + e;
    if (det == 0.0f) return 0;
    float t = ((a * z[0] + b * z[1]) + e * z[2]) / det;
    if (!(t >= t0 && t < hit->t)) return 0;
    hit->t = t;
    hit->u = b / det;
    hit->v = e / det;
    return 1;
}

/* Nearest hit in [t0, hit->t), hit->triangle = -1 if none. `any` returns at the first one found. */
TSR_HD void tsr_bvh_trace(const tsr_bvh *bvh, tsr_float3 o, tsr_float3 d, float t0, int any, tsr_bvh_hit *hit)
{
    const float tiny = 1.0e-20f;
    tsr_float3 inverse =
        tsr_f3(1.0f / (tsr_absf(d.x) > tiny ? d.x : tiny), 1.0f / (tsr_absf(d.y) > tiny ? d.y : tiny), 1.0f / (tsr_absf(d.z) > tiny ? d.z : tiny));
    int32_t k = tsr_absf(d.x) > tsr_absf(d.y) ? (tsr_absf(d.x) > tsr_absf(d.z) ? 0 : 2) : (tsr_absf(d.y) > tsr_absf(d.z) ? 1 : 2);
    uint32_t stack[TSR_BVH_STACK], node = 0;
    int32_t depth = 0;
    hit->triangle = -1;
    if (tsr_bvh_box(&bvh->nodes[0], o, inverse, t0, hit->t) >= TSR_FLOAT_BIG) return;
    for (;;) {
        const tsr_bvh_node *n = &bvh->nodes[node];
        if (n->count) {
            for (uint32_t i = 0; i < n->count; i++) {
                if (tsr_bvh_triangle(bvh->corners + 9 * ((int64_t)n->first + i), o, d, k, hit, t0)) {
                    hit->triangle = (int64_t)n->first + i;
                    if (any) return;
                }
            }
        } else {
            float a = tsr_bvh_box(&bvh->nodes[n->first], o, inverse, t0, hit->t), b = tsr_bvh_box(&bvh->nodes[n->first + 1], o, inverse, t0, hit->t);
            uint32_t near_child = b < a ? n->first + 1 : n->first, far_child = b < a ? n->first : n->first + 1;
            float near_t = tsr_minf(a, b), far_t = tsr_maxf(a, b);
            if (near_t < TSR_FLOAT_BIG) {
                if (far_t < TSR_FLOAT_BIG) stack[depth++] = far_child;
                node = near_child;
                continue;
            }
        }
        if (depth == 0) return;
        node = stack[--depth];
    }
}

#endif
