/* region/triangle.h: triangles and cells of an octree: which touch, and what becomes of a pair. docs/theory/regions.md 9. */
#ifndef TSR_REGION_TRIANGLE_H
#define TSR_REGION_TRIANGLE_H

#include "region/region.h"
#include "tessera/triangle_tree.h"

enum { TSR_TRIANGLE_MOST = 64 };
typedef enum tsr_triangle_state { TSR_TRIANGLE_OUTSIDE, TSR_TRIANGLE_THERE, TSR_TRIANGLE_CORNER, TSR_TRIANGLE_POSITION } tsr_triangle_state;

typedef struct tsr_triangles {
    const float *vertices;
    const uint32_t *triangles;
    int64_t vertex_count, triangle_count;
    double origin[3], index[3][3]; /* world to cells: voxel i covers i to i + 1; its centre is i + 1/2 */
    int64_t size[3];               /* of the lattice */
    int32_t top, most;
    int32_t voxels, centres;
} tsr_triangles;

/* Pairs of a level: Morton codes of the cells, sorted unless `voxels`, and triangles. */
typedef struct tsr_triangle_pairs {
    int64_t count;
    int32_t level;
    const uint64_t *codes;
    const uint32_t *triangles;
    uint8_t *masks, *counts, *done; /* children that are touched; their number; is it a leaf */
    uint64_t *keys;                 /* of the leaf */
} tsr_triangle_pairs;

#define TSR_TRIANGLE_MARGIN 0x1p-24

/* Corner c of triangle t in cells. */
TSR_HD void tsr_triangle_corner(const tsr_triangles *m, int64_t t, int32_t c, double p[3])
{
    const float *v = m->vertices + 3 * (int64_t)m->triangles[3 * t + c];
    const double x = (double)v[0] - m->origin[0], y = (double)v[1] - m->origin[1], z = (double)v[2] - m->origin[2];
    for (int32_t k = 0; k < 3; k++) p[k] = m->index[k][0] * x + m->index[k][1] * y + m->index[k][2] * z + 0.5;
}

/* Takes out of `mask` the children of a cell, centred at -q or q along each axis and reaching h around that, that lie beside the slab that the triangle spans
 * along the axis (x, y, z). Positions are relative to the middle of the cell. */
TSR_HD uint32_t tsr_triangle_slab(const double v[3][3], double x, double y, double z, double q, double h, uint32_t mask)
{
    const double a = x * v[0][0] + y * v[0][1] + z * v[0][2], b = x * v[1][0] + y * v[1][1] + z * v[1][2],
                 c = x * v[2][0] + y * v[2][1] + z * v[2][2];
    const double least = a < b ? a : b, most = a < b ? b : a;
    const double reach = h * ((x < 0.0 ? -x : x) + (y < 0.0 ? -y : y) + (z < 0.0 ? -z : z));
    const double low = (least < c ? least : c) - reach, high = (most > c ? most : c) + reach;
    const double dx = x * q, dy = y * q, dz = z * q;
    for (uint32_t n = 0; n < 8; n++) {
        const double middle = (n & 1u ? dx : -dx) + (n & 2u ? dy : -dy) + (n & 4u ? dz : -dz);
        if (low > middle || high < middle) mask &= ~(1u << n);
    }
    return mask;
}

/* Which of the eight children of the cell [lower, lower + side]^3 does the triangle with these corners touch? */
TSR_HD uint32_t tsr_triangle_children(const double corner[3][3], const double lower[3], double side)
{
    const double q = 0.25 * side, h = q + TSR_TRIANGLE_MARGIN;
    double v[3][3], e[3][3];
    uint32_t mask = 255u;
    for (int32_t n = 0; n < 3; n++)
        for (int32_t k = 0; k < 3; k++) v[n][k] = corner[n][k] - (lower[k] + 0.5 * side);
    for (int32_t k = 0; k < 3 && mask; k++) mask = tsr_triangle_slab(v, k == 0 ? 1.0 : 0.0, k == 1 ? 1.0 : 0.0, k == 2 ? 1.0 : 0.0, q, h, mask);
    for (int32_t n = 0; n < 3; n++)
        for (int32_t k = 0; k < 3; k++) e[n][k] = v[(n + 1) % 3][k] - v[n][k];
    if (mask)
        mask = tsr_triangle_slab(v, e[0][1] * e[1][2] - e[0][2] * e[1][1], e[0][2] * e[1][0] - e[0][0] * e[1][2],
                                 e[0][0] * e[1][1] - e[0][1] * e[1][0], q, h, mask);
    for (int32_t n = 0; n < 3 && mask; n++) {
        mask = tsr_triangle_slab(v, 0.0, e[n][2], -e[n][1], q, h, mask);
        mask = tsr_triangle_slab(v, -e[n][2], 0.0, e[n][0], q, h, mask);
        mask = tsr_triangle_slab(v, e[n][1], -e[n][0], 0.0, q, h, mask);
    }
    return mask;
}

/* Does the line along z through the centre of the voxel meet the triangle between its lower face and its upper one (that one not)? */
TSR_HD int tsr_triangle_centred(const double corner[3][3], const double lower[3])
{
    const double x = lower[0] + 0.5, y = lower[1] + 0.5;
    double w[3], sum = 0.0, z = 0.0;
    for (int32_t n = 0; n < 3; n++) {
        const double *a = corner[(n + 1) % 3], *b = corner[(n + 2) % 3];
        w[n] = (b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0]);
        sum += w[n];
        z += w[n] * corner[n][2];
    }
    const int left = w[0] >= 0.0 && w[1] >= 0.0 && w[2] >= 0.0, right = w[0] <= 0.0 && w[1] <= 0.0 && w[2] <= 0.0;
    if (sum == 0.0 || (!left && !right)) return 0;
    z /= sum;
    return z >= lower[2] && z < lower[2] + 1.0;
}

/* tsr_triangle_state of triangle t. */
TSR_HD uint8_t tsr_triangle_look(const tsr_triangles *m, int64_t t)
{
    const double origin[3] = { 0.0, 0.0, 0.0 };
    double p[3][3];
    for (int32_t c = 0; c < 3; c++)
        if ((int64_t)m->triangles[3 * t + c] >= m->vertex_count) return TSR_TRIANGLE_CORNER;
    for (int32_t c = 0; c < 3; c++) {
        tsr_triangle_corner(m, t, c, p[c]);
        for (int32_t k = 0; k < 3; k++)
            if (!(p[c][k] > -1e30 && p[c][k] < 1e30)) return TSR_TRIANGLE_POSITION;
    }
    if (m->top == 0 && m->centres && !tsr_triangle_centred(p, origin)) return TSR_TRIANGLE_OUTSIDE; /* a single voxel */
    return tsr_triangle_children(p, origin, (double)((int64_t)1 << m->top)) ? TSR_TRIANGLE_THERE : TSR_TRIANGLE_OUTSIDE;
}

/* Has the cell of pair i more than `most` of them? They are next to each other. */
TSR_HD int tsr_triangle_crowded(const tsr_triangle_pairs *p, int64_t i, int32_t most)
{
    for (int32_t k = 0; k <= most; k++) {
        const int64_t first = i - k, last = first + most;
        if (first >= 0 && last < p->count && p->codes[first] == p->codes[i] && p->codes[last] == p->codes[i]) return 1;
    }
    return 0;
}

/* Splits pair i or makes it one of a leaf. */
TSR_HD void tsr_triangle_split(const tsr_triangles *m, const tsr_triangle_pairs *p, int64_t i)
{
    const int64_t side = (int64_t)1 << p->level;
    int64_t at[3];
    uint32_t mask = 0;
    int split = p->level > 0 && m->voxels;
    tsr_region_decode(3, p->codes[i], at);
    if (p->level > 0 && !split) {
        for (int32_t k = 0; k < 3; k++) split |= (at[k] + 1) * side > m->size[k]; /* leaves lie within */
        if (!split) split = tsr_triangle_crowded(p, i, m->most);
    }
    p->done[i] = (uint8_t)!split;
    p->keys[i] = p->codes[i] << (3 * p->level) << 6 | (uint64_t)p->level;
    if (split) {
        double corner[3][3];
        for (int32_t c = 0; c < 3; c++) tsr_triangle_corner(m, p->triangles[i], c, corner[c]);
        const double from[3] = { (double)(at[0] * side), (double)(at[1] * side), (double)(at[2] * side) };
        const int64_t half = side / 2;
        mask = tsr_triangle_children(corner, from, (double)side);
        for (int32_t c = 0; c < 8; c++) {
            const int64_t lower[3] = { at[0] * side + (c & 1) * half, at[1] * side + (c >> 1 & 1) * half, at[2] * side + (c >> 2) * half };
            const double place[3] = { (double)lower[0], (double)lower[1], (double)lower[2] };
            const int inside = lower[0] < m->size[0] && lower[1] < m->size[1] && lower[2] < m->size[2];
            if (!inside || ((mask >> c & 1u) && half == 1 && m->centres && !tsr_triangle_centred(corner, place))) mask &= ~(1u << c);
        }
    }
    p->masks[i] = (uint8_t)mask;
    p->counts[i] = (uint8_t)tsr_popcount(mask);
}

/* Pair n of the level below, from entry n of the pyramid over the counts. */
TSR_HD void tsr_triangle_descend(const tsr_triangle_pairs *p, const tsr_pyramid_entry *entries, uint64_t *codes, uint32_t *triangles, int64_t n)
{
    const int64_t i = entries[n].voxel;
    codes[n] = p->codes[i] << 3 | (uint64_t)tsr_nth_bit(p->masks[i], (int32_t)entries[n].copy);
    triangles[n] = p->triangles[i];
}

/* Point of the leaf (a voxel) that holds triangles first .. last - 1 of the list. */
typedef struct tsr_surface_job {
    tsr_triangles mesh;
    double affine[3][4]; /* voxels to world */
    int64_t count;
    const uint64_t *leaves, *starts;
    const uint32_t *triangles;
    float *positions, *normals;
} tsr_surface_job;

/* v to length 1 (to 1e-6); 0 where it has none. */
TSR_HD void tsr_surface_unit(const double v[3], float unit[3])
{
    double most = 0.0;
    float square = 0.0f;
    for (int32_t r = 0; r < 3; r++) {
        const double size = v[r] < 0.0 ? -v[r] : v[r];
        most = size > most ? size : most;
    }
    for (int32_t r = 0; r < 3; r++) {
        unit[r] = most > 0.0 ? (float)(v[r] / most) : 0.0f;
        square += unit[r] * unit[r];
    }
    for (int32_t r = 0; r < 3; r++) unit[r] *= tsr_rsqrt(square);
}

TSR_HD void tsr_surface_point(const tsr_surface_job *job, int64_t n)
{
    int64_t at[3];
    tsr_region_decode(3, job->leaves[n] >> 6, at);
    for (int32_t r = 0; r < 3; r++)
        job->positions[3 * n + r] =
            (float)(job->affine[r][0] * (double)at[0] + job->affine[r][1] * (double)at[1] + job->affine[r][2] * (double)at[2] + job->affine[r][3]);
    if (!job->normals) return;
    double sum[3] = { 0.0, 0.0, 0.0 };
    for (uint64_t k = job->starts[n]; k < job->starts[n + 1]; k++) {
        const uint32_t *corner = job->mesh.triangles + 3 * (int64_t)job->triangles[k];
        const float *a = job->mesh.vertices + 3 * (int64_t)corner[0], *b = job->mesh.vertices + 3 * (int64_t)corner[1],
                    *c = job->mesh.vertices + 3 * (int64_t)corner[2];
        double u[3], v[3], w[3];
        float unit[3];
        for (int32_t r = 0; r < 3; r++) {
            u[r] = (double)b[r] - (double)a[r];
            v[r] = (double)c[r] - (double)a[r];
        }
        for (int32_t r = 0; r < 3; r++) w[r] = u[(r + 1) % 3] * v[(r + 2) % 3] - u[(r + 2) % 3] * v[(r + 1) % 3];
        tsr_surface_unit(w, unit);
        for (int32_t r = 0; r < 3; r++) sum[r] += (double)unit[r];
    }
    for (int32_t r = 0; r < 3; r++)
        if (sum[r] < 1e-5 && sum[r] > -1e-5) sum[r] = 0.0; /* sides that face each other */
    tsr_surface_unit(sum, job->normals + 3 * n);
}

#endif
