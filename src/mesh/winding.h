/* mesh/winding.h: winding numbers by counted crossings: one vertex, one triangle. Positions and crossings are those of voxelize_math.h. */
#ifndef TSR_MESH_WINDING_H
#define TSR_MESH_WINDING_H

#include "mesh/voxelize_math.h"

/* A box of the lattice. Of `mesh` only axes, spacing, base, fraction and the lists are used. */
typedef struct tsr_wind_grid {
    tsr_vox_grid mesh;
    double span; /* positions are 0 <= p < span voxels from mesh.base */
    int64_t lower[3], size[3];
    int32_t *number; /* [z][y][x] */
} tsr_wind_grid;

/* 0 = nothing wrong, so that a fill prepares it; a number i is kept as INT64_MAX - i, the first one being the greatest. */
typedef struct tsr_wind_summary {
    int64_t bad_vertex, far_vertex, bad_corner;
    uint64_t edges; /* sum of the numbers of all directed edges: 0 if closed */
} tsr_wind_summary;

enum { TSR_WIND_FIXED, TSR_WIND_BAD, TSR_WIND_FAR };

/* Fixed position of vertex i, or one that no triangle uses. */
TSR_HD int32_t tsr_wind_fix(const tsr_wind_grid *w, int64_t i)
{
    const tsr_vox_grid *g = &w->mesh;
    double p[3];
    int32_t result = TSR_WIND_FIXED;
    tsr_vox_position(g, (uint32_t)i, p);
    for (int32_t k = 0; k < 3; k++) {
        const double v = p[k] / g->spacing[k] - (double)g->base[k];
        if (!(v >= 0.0 && v < w->span)) result = v - v == 0.0 ? tsr_maxi(result, TSR_WIND_FAR) : TSR_WIND_BAD;
        if (result == TSR_WIND_BAD) break;
    }
    if (result == TSR_WIND_FIXED) tsr_vox_fix(g, p, g->fixed[i]);
    else g->fixed[i][0] = -1;
    return result;
}

/* First corner of the triangle that is no vertex, or -1. */
TSR_HD int64_t tsr_wind_bad_corner(const tsr_vox_grid *g, int64_t triangle)
{
    for (int64_t i = 3 * triangle; i < 3 * triangle + 3; i++)
        if ((int64_t)g->corner[i] >= g->vertices) return i;
    return -1;
}

/* Number of a triangle's edges for tsr_wind_summary. */
TSR_HD uint64_t tsr_wind_edges(const int32_t *a, const int32_t *b, const int32_t *c)
{
    const uint64_t p = tsr_vox_place(a), q = tsr_vox_place(b), r = tsr_vox_place(c);
    return tsr_vox_edge_number(p, q) + tsr_vox_edge_number(q, r) + tsr_vox_edge_number(r, p);
}

/* Rows y, z of the box that may meet a triangle, from its lower corner; 0: none. */
TSR_HD int tsr_wind_rows(const tsr_wind_grid *w, const int32_t *a, const int32_t *b, const int32_t *c, int64_t first[3], int64_t last[3])
{
    const tsr_vox_grid *g = &w->mesh;
    const int32_t one = (1 << g->fraction) - 1;
    for (int32_t k = 0; k < 3; k++) {
        const int32_t low = tsr_mini(a[k], tsr_mini(b[k], c[k])), high = tsr_maxi(a[k], tsr_maxi(b[k], c[k]));
        const int64_t shift = g->base[k] - w->lower[k];
        if (k == 0) { /* crossings behind the box do not matter; one voxel for the rounding of x */
            if ((low >> g->fraction) + shift >= w->size[0]) return 0;
            continue;
        }
        first[k] = tsr_maxl((((int64_t)low + one) >> g->fraction) + shift, 0);
        last[k] = tsr_minl((high >> g->fraction) + shift, w->size[k] - 1);
        if (last[k] < first[k]) return 0;
    }
    return 1;
}

/* Crossing of row (y, z) of the box: what it adds from *voxel on (in memory), or 0. */
TSR_HD int32_t tsr_wind_cross(const tsr_wind_grid *w, const int32_t *a, const int32_t *b, const int32_t *c, int64_t y, int64_t z, int64_t *voxel)
{
    const tsr_vox_grid *g = &w->mesh;
    int64_t x;
    const int32_t turn = tsr_vox_cross(g, a, b, c, (w->lower[1] + y - g->base[1]) << g->fraction, (w->lower[2] + z - g->base[2]) << g->fraction, &x);
    if (!turn) return 0;
    x = tsr_maxl(x + g->base[0] - w->lower[0], 0);
    if (x >= w->size[0]) return 0;
    *voxel = (z * w->size[1] + y) * w->size[0] + x;
    return turn;
}

#endif
