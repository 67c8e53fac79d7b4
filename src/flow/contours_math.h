/* flow/contours_math.h: S and T at a sample, their common zeros on a face, and what is known of a seed. Class exact. */
#ifndef TSR_FLOW_CONTOURS_MATH_H
#define TSR_FLOW_CONTOURS_MATH_H

#include "flow/field_math.h"
#include "tessera/contours.h"
#include "tessera/pyramid.h"

typedef struct tsr_contour_job {
    tsr_field_grid grid;
    int32_t perspective, second_order;
    float r[3];   /* parallel: A^T r, r of length 1 */
    float eye[3]; /* perspective: index coordinates */
    double tolerance, merge;          /* negative: off */
    uint8_t *counts;                  /* [samples] */
    float *slices;                    /* scratch of the CPU: two slices of S and two of T for each worker */
    const tsr_pyramid_entry *entries; /* [seeds_count] */
    tsr_contour_seed *seeds;
    int64_t seeds_count;
    float *volume; /* S or T at the samples */
    int32_t which;
} tsr_contour_job;

/* S = k . v with k = A^T r; of perspective views r = (x - eye) / |x - eye| at each sample, and *inverse is 1 / |x - eye|, 0 at the eye. */
TSR_HD void tsr_contour_direction(const tsr_contour_job *j, int32_t x, int32_t y, int32_t z, float k[3], float *inverse)
{
    *inverse = 1.0f;
    for (int i = 0; i < 3; i++) k[i] = j->r[i];
    if (!j->perspective) return;
    const float d[3] = { (float)x - j->eye[0], (float)y - j->eye[1], (float)z - j->eye[2] };
    const float square = j->grid.m[0] * (d[0] * d[0]) + j->grid.m[1] * (d[1] * d[1]) + j->grid.m[2] * (d[2] * d[2]);
    *inverse = square > 0.0f ? 1.0f / sqrtf(square) : 0.0f;
    for (int i = 0; i < 3; i++) k[i] = j->grid.m[i] * d[i] * *inverse;
}
TSR_HD float tsr_contour_dot(const float k[3], const float *v) { return k[0] * v[0] + k[1] * v[1] + k[2] * v[2]; }

/* v: of that sample. */
TSR_HD float tsr_contour_s_of(const tsr_contour_job *j, int32_t x, int32_t y, int32_t z, const float *v)
{
    float k[3], inverse;
    tsr_contour_direction(j, x, y, z, k, &inverse);
    return tsr_contour_dot(k, v);
}
TSR_HD float tsr_contour_s(const tsr_contour_job *j, int32_t x, int32_t y, int32_t z)
{
    return tsr_contour_s_of(j, x, y, z, j->grid.v + tsr_field_at(&j->grid, x, y, z));
}
TSR_HD float tsr_contour_t(const tsr_contour_job *j, int32_t x, int32_t y, int32_t z)
{
    float k[3], inverse;
    const int64_t at = tsr_field_at(&j->grid, x, y, z);
    tsr_contour_direction(j, x, y, z, k, &inverse);
    const float t = tsr_contour_dot(k, j->grid.w + at);
    if (!(j->perspective && j->second_order)) return t;
    const float *v = j->grid.v + at;
    return t + inverse * (j->grid.m[0] * (v[0] * v[0]) + j->grid.m[1] * (v[1] * v[1]) + j->grid.m[2] * (v[2] * v[2]));
}

/* ---- faces ------------------------------------------------------------------------------------------------------------------------------ */

/* Face 0, 1, 2 of a sample is normal to z, y, x and spanned by the axes (x, y), (x, z), (y, z). */
TSR_HD int tsr_contour_axis_u(int face) { return face == 2; }
TSR_HD int tsr_contour_axis_q(int face) { return face == 0 ? 1 : 2; }
TSR_HD int tsr_contour_exists(const tsr_contour_job *j, const int32_t at[3], int face)
{
    const int u = tsr_contour_axis_u(face), q = tsr_contour_axis_q(face);
    return at[u] + 1 < j->grid.n[u] && at[q] + 1 < j->grid.n[q];
}

typedef struct tsr_contour_roots {
    int32_t count, coincident;
    double u[2], q[2];
} tsr_contour_roots;

/* Could there be a zero between four values? */
TSR_HD int tsr_contour_mixed(const float s[4])
{
    const float low = tsr_minf(tsr_minf(s[0], s[1]), tsr_minf(s[2], s[3])), high = tsr_maxf(tsr_maxf(s[0], s[1]), tsr_maxf(s[2], s[3]));
    return low <= 0.0f && high >= 0.0f;
}

/* On [0, 1) x [0, 1); what is within 10^-12 of a border is on it, from both of its sides. */
TSR_HD int tsr_contour_within(double *u)
{
    if (fabs(*u) < 1e-12) *u = 0.0;
    if (fabs(*u - 1.0) < 1e-12) *u = 1.0;
    return *u >= 0.0 && *u < 1.0;
}

/* The middle of the curve S = 0 of a face: of the first two of its ends on the border. Corners 00 10 01 11. */
TSR_HD int tsr_contour_middle(const double s[4], double *u, double *q)
{
    double pu[8], pq[8];
    int n = 0;
    for (int k = 0; k < 4; k++) /* edges 00-10, 01-11, 00-01, 10-11 */
    {
        const int along = k < 2, a = along ? 2 * k : k - 2, b = along ? a + 1 : a + 2;
        if (!((s[a] < 0.0 && s[b] > 0.0) || (s[a] > 0.0 && s[b] < 0.0))) continue;
        const double t = s[a] / (s[a] - s[b]);
        pu[n] = along ? t : (double)(k - 2);
        pq[n++] = along ? (double)k : t;
    }
    for (int k = 0; k < 4; k++)
        if (s[k] == 0.0) {
            pu[n] = (double)(k & 1);
            pq[n++] = (double)(k >> 1);
        }
    if (n < 2) return 0;
    *u = 0.5 * (pu[0] + pu[1]);
    *q = 0.5 * (pq[0] + pq[1]);
    return 1;
}

/* One common zero near (u, q), made exact by a step of Newton's method where the two curves cross at an angle. */
TSR_HD int tsr_contour_root(const double a[4], const double b[4], double scale_s, double scale_t, double *u, double *q)
{
    const double down_s = a[2] + a[3] * *u, down_t = b[2] + b[3] * *u;
    const int by_s = fabs(down_s) * scale_t >= fabs(down_t) * scale_s;
    const double down = by_s ? down_s : down_t;
    if (down == 0.0) return 0;
    *q = -(by_s ? a[0] + a[1] * *u : b[0] + b[1] * *u) / down;
    if (!(*q > -1e-6 && *q < 1.000001)) return 0;
    const double s = a[0] + a[1] * *u + (a[2] + a[3] * *u) * *q, t = b[0] + b[1] * *u + (b[2] + b[3] * *u) * *q;
    if (fabs(s) > 1e-7 * scale_s || fabs(t) > 1e-7 * scale_t) return 0; /* a zero of the eliminated equation alone */
    const double su = a[1] + a[3] * *q, sq = a[2] + a[3] * *u, tu = b[1] + b[3] * *q, tq = b[2] + b[3] * *u, det = su * tq - sq * tu;
    if (fabs(det) > 1e-6 * scale_s * scale_t) {
        *u -= (s * tq - sq * t) / det;
        *q -= (su * t - s * tu) / det;
    }
    const int within_u = tsr_contour_within(u), within_q = tsr_contour_within(q);
    return within_u && within_q;
}

/* Common zeros of two bilinear functions, corners 00 10 01 11, by elimination of q: A u^2 + B u + C = 0. In the order of u. */
TSR_HD void tsr_contour_solve(const float s4[4], const float t4[4], double tolerance, tsr_contour_roots *r)
{
    double s[4], t[4], scale_s = 0.0, scale_t = 0.0;
    r->count = r->coincident = 0;
    if (!tsr_contour_mixed(s4) || !tsr_contour_mixed(t4)) return;
    for (int k = 0; k < 4; k++) {
        s[k] = (double)s4[k];
        t[k] = (double)t4[k];
        if (fabs(s[k]) > scale_s) scale_s = fabs(s[k]);
        if (fabs(t[k]) > scale_t) scale_t = fabs(t[k]);
    }
    if (scale_s == 0.0 || scale_t == 0.0) return; /* one of them vanishes all over the face: no point of it is singled out */
    const double a[4] = { s[0], s[1] - s[0], s[2] - s[0], s[3] - s[2] - s[1] + s[0] };
    const double b[4] = { t[0], t[1] - t[0], t[2] - t[0], t[3] - t[2] - t[1] + t[0] };
    const double qa = a[3] * b[1] - a[1] * b[3], qb = a[3] * b[0] + a[2] * b[1] - a[1] * b[2] - a[0] * b[3], qc = a[2] * b[0] - a[0] * b[2];
    const double most = fmax(fabs(qa), fmax(fabs(qb), fabs(qc)));
    if (tolerance >= 0.0 && most <= tolerance * scale_s * scale_t) {
        double u, q;
        if (!tsr_contour_middle(s, &u, &q)) return;
        if (fabs(b[0] + b[1] * u + (b[2] + b[3] * u) * q) > tolerance * scale_t) return; /* parallel, not the same */
        const int within_u = tsr_contour_within(&u), within_q = tsr_contour_within(&q);
        if (!within_u || !within_q) return;
        r->count = r->coincident = 1;
        r->u[0] = u;
        r->q[0] = q;
        return;
    }
    double root[2];
    int roots = 0;
    if (fabs(qa) <= 1e-12 * most) {
        if (qb != 0.0) root[roots++] = -qc / qb;
    } else {
        const double inside = qb * qb - 4.0 * qa * qc;
        if (!(inside >= 0.0)) return;
        const double p = -0.5 * (qb + (qb < 0.0 ? -sqrt(inside) : sqrt(inside)));
        root[roots++] = p / qa;
        if (inside > 0.0 && p != 0.0) root[roots++] = qc / p;
        if (roots == 2 && root[1] < root[0]) {
            const double swap = root[0];
            root[0] = root[1];
            root[1] = swap;
        }
    }
    for (int k = 0; k < roots; k++) {
        double u = root[k], q;
        if (!(u > -1e-6 && u < 1.000001) || !tsr_contour_root(a, b, scale_s, scale_t, &u, &q)) continue;
        if (r->count && fabs(u - r->u[0]) < 1e-12 && fabs(q - r->q[0]) < 1e-12) continue;
        r->u[r->count] = u;
        r->q[r->count++] = q;
    }
}

TSR_HD void tsr_contour_corner(const int32_t at[3], int face, int k, int32_t corner[3])
{
    for (int i = 0; i < 3; i++) corner[i] = at[i];
    corner[tsr_contour_axis_u(face)] += k & 1;
    corner[tsr_contour_axis_q(face)] += k >> 1;
}
TSR_HD void tsr_contour_face_t(const tsr_contour_job *j, const int32_t at[3], int face, float t[4])
{
    for (int k = 0; k < 4; k++) {
        int32_t c[3];
        tsr_contour_corner(at, face, k, c);
        t[k] = tsr_contour_t(j, c[0], c[1], c[2]);
    }
}
TSR_HD void tsr_contour_face_s(const tsr_contour_job *j, const int32_t at[3], int face, float s[4])
{
    for (int k = 0; k < 4; k++) {
        int32_t c[3];
        tsr_contour_corner(at, face, k, c);
        s[k] = tsr_contour_s(j, c[0], c[1], c[2]);
    }
}
TSR_HD void tsr_contour_face(const tsr_contour_job *j, const int32_t at[3], int face, tsr_contour_roots *roots)
{
    float s[4], t[4];
    roots->count = roots->coincident = 0;
    tsr_contour_face_s(j, at, face, s);
    if (!tsr_contour_mixed(s)) return;
    tsr_contour_face_t(j, at, face, t);
    tsr_contour_solve(s, t, j->tolerance, roots);
}

TSR_HD void tsr_contour_place(const int32_t at[3], int face, double u, double q, double place[3])
{
    for (int i = 0; i < 3; i++) place[i] = (double)at[i];
    place[tsr_contour_axis_u(face)] += u;
    place[tsr_contour_axis_q(face)] += q;
}

/* Is there no seed before this one, in the order of the list, closer than `merge`? Only seeds near an edge can have one: faces share nothing else. */
TSR_HD int tsr_contour_is_first(const tsr_contour_job *j, const int32_t at[3], int face, double u, double q)
{
    const double m = j->merge;
    double own[3];
    if (!(m > 0.0) || (u >= m && u <= 1.0 - m && q >= m && q <= 1.0 - m)) return 1;
    tsr_contour_place(at, face, u, q, own);
    for (int n = 0; n < 27; n++) {
        const int32_t there[3] = { at[0] + n % 3 - 1, at[1] + n / 3 % 3 - 1, at[2] + n / 9 - 1 };
        if (n > 13) return 1; /* of samples behind its own */
        if (there[0] < 0 || there[1] < 0 || there[2] < 0 || there[0] >= j->grid.n[0] || there[1] >= j->grid.n[1]) continue;
        for (int f = 0; f < (n == 13 ? face : 3); f++) {
            tsr_contour_roots r;
            if (!tsr_contour_exists(j, there, f)) continue;
            tsr_contour_face(j, there, f, &r);
            for (int k = 0; k < r.count; k++) {
                double other[3], far = 0.0;
                tsr_contour_place(there, f, r.u[k], r.q[k], other);
                for (int i = 0; i < 3; i++) far += (other[i] - own[i]) * (other[i] - own[i]);
                if (far < m * m) return 0;
            }
        }
    }
    return 1;
}

/* Seeds of a face from its corners. */
TSR_HD int tsr_contour_count(const tsr_contour_job *j, const int32_t at[3], int face, const float s[4], const float t[4])
{
    tsr_contour_roots r;
    int count = 0;
    tsr_contour_solve(s, t, j->tolerance, &r);
    for (int k = 0; k < r.count; k++) count += tsr_contour_is_first(j, at, face, r.u[k], r.q[k]);
    return count;
}

/* ---- seeds ------------------------------------------------------------------------------------------------------------------------------ */

/* Gradient at a sample of S (which 0) or T in the world, along the grid's axes. */
TSR_HD void tsr_contour_gradient(const tsr_contour_job *j, const int32_t at[3], int which, double gradient[3])
{
    for (int i = 0; i < 3; i++) {
        int32_t a[3] = { at[0], at[1], at[2] }, b[3] = { at[0], at[1], at[2] };
        a[i] -= at[i] > 0;
        b[i] += at[i] + 1 < j->grid.n[i];
        const float low = which ? tsr_contour_t(j, a[0], a[1], a[2]) : tsr_contour_s(j, a[0], a[1], a[2]);
        const float high = which ? tsr_contour_t(j, b[0], b[1], b[2]) : tsr_contour_s(j, b[0], b[1], b[2]);
        gradient[i] = ((double)high - (double)low) / ((double)(b[i] - a[i]) * j->grid.h[i]);
    }
}

TSR_HD void tsr_contour_describe(const tsr_contour_job *j, const int32_t at[3], int face, double u, double q, tsr_contour_seed *seed)
{
    const double weight[4] = { (1.0 - u) * (1.0 - q), u * (1.0 - q), (1.0 - u) * q, u * q };
    double gradient[2][3] = { { 0.0, 0.0, 0.0 }, { 0.0, 0.0, 0.0 } }, v[3] = { 0.0, 0.0, 0.0 }, curvature = 0.0, dot = 0.0, length[2] = { 0.0, 0.0 };
    for (int k = 0; k < 4; k++) {
        int32_t c[3];
        tsr_contour_corner(at, face, k, c);
        const float *p = j->grid.v + tsr_field_at(&j->grid, c[0], c[1], c[2]);
        for (int i = 0; i < 3; i++) v[i] += weight[k] * (double)p[i];
        curvature += weight[k] * (double)p[3];
        for (int which = 0; which < 2; which++) {
            double own[3];
            tsr_contour_gradient(j, c, which, own);
            for (int i = 0; i < 3; i++) gradient[which][i] += weight[k] * own[i];
        }
    }
    for (int i = 0; i < 3; i++) {
        dot += gradient[0][i] * gradient[1][i];
        for (int k = 0; k < 2; k++) length[k] += gradient[k][i] * gradient[k][i];
    }
    const double both = length[0] * length[1], cosine = both > 0.0 ? dot * dot / both : 1.0;
    seed->curvature = (float)curvature;
    seed->speed = (float)tsr_field_norm3(&j->grid, v);
    seed->angle = seed->coincident ? 1.0f : (float)sqrt(cosine < 1.0 ? 1.0 - cosine : 0.0);
}

/* Seed number `copy` of a sample. */
TSR_HD void tsr_contour_seed_one(const tsr_contour_job *j, int64_t i)
{
    const tsr_pyramid_entry e = j->entries[i];
    const int64_t slice = (int64_t)j->grid.n[0] * j->grid.n[1];
    const int32_t at[3] = { (int32_t)(e.voxel % j->grid.n[0]), (int32_t)(e.voxel % slice / j->grid.n[0]), (int32_t)(e.voxel / slice) };
    int64_t left = e.copy;
    for (int face = 0; face < 3; face++) {
        tsr_contour_roots r;
        if (!tsr_contour_exists(j, at, face)) continue;
        tsr_contour_face(j, at, face, &r);
        for (int k = 0; k < r.count; k++) {
            if (!tsr_contour_is_first(j, at, face, r.u[k], r.q[k]) || left-- > 0) continue;
            tsr_contour_seed *seed = j->seeds + i;
            seed->vertex = e.voxel;
            seed->face = (uint8_t)face;
            seed->root = (uint8_t)k;
            seed->coincident = (uint8_t)r.coincident;
            seed->reserved = 0;
            tsr_contour_place(at, face, r.u[k], r.q[k], seed->at);
            tsr_contour_describe(j, at, face, r.u[k], r.q[k], seed);
            return;
        }
    }
}

TSR_HD void tsr_contour_volume_one(const tsr_contour_job *j, int64_t i)
{
    const int64_t slice = (int64_t)j->grid.n[0] * j->grid.n[1];
    const int32_t x = (int32_t)(i % j->grid.n[0]), y = (int32_t)(i % slice / j->grid.n[0]), z = (int32_t)(i / slice);
    j->volume[i] = j->which ? tsr_contour_t(j, x, y, z) : tsr_contour_s(j, x, y, z);
}

#endif
