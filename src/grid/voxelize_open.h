/* grid/voxelize_open.h: what the winding number of an open mesh has beside the crossings, and the signs of tiles that are not stored.
 *
 * The surface together with half-planes from its boundary edges towards +x is closed as seen from a voxel, and a row towards -x crosses none
 * of the half-planes. So the generalised winding number of the surface is the number of crossings towards -x less the part of the sphere
 * around the voxel that the half-planes cover: one spherical triangle (a, b, +x) per boundary edge. Its sign comes from the same exact
 * predicate as the crossings: where the row towards -x meets the edge itself, both change together. */
#ifndef TSR_GRID_VOXELIZE_OPEN_H
#define TSR_GRID_VOXELIZE_OPEN_H

#include "grid/voxelize_math.h"

/* Angle of (x, y) in (-pi, pi], error below 1e-8, by arithmetic only: the same on every backend. */
TSR_HD double tsr_vox_angle(double y, double x)
{
    double ax = fabs(x), ay = fabs(y), high = ax > ay ? ax : ay, low = ax > ay ? ay : ax, add = 0;
    if (!(high > 0)) return 0;
    double t = low / high;
    if (t > 0.4142135623730951) { /* tan(pi/8): turned by pi/4 */
        t = (t - 1) / (t + 1);
        add = 0.78539816339744831;
    }
    double s = t * t, sum = 0;
    for (int32_t k = 19; k > 1; k -= 2) sum = s * (((k & 2) ? -1.0 : 1.0) / (double)k + sum);
    double angle = add + t * (1 + sum);
    if (ay > ax) angle = 1.5707963267948966 - angle;
    if (x < 0) angle = 3.1415926535897932 - angle;
    return y < 0 ? -angle : angle;
}

/* A point at which the boundary is looked at, and the box around it in which the answer is wanted. */
typedef struct tsr_vox_view {
    double p[3], half[3]; /* voxels from base */
    double radius;        /* of the box, world units */
    int64_t y, z;         /* fixed */
    double turns;         /* out: what the boundary adds, not rounded */
    double change;        /* out: how much that can vary within the box, whole turns apart */
    int passed;           /* out: a row of the box may meet an edge */
} tsr_vox_view;

/* From the view to a fixed position, world units. A place exactly on the row towards -x is seen as after the move of tsr_vox_left: there the
 * angles of the two edges that meet in it depend on the direction of the move. */
TSR_HD void tsr_vox_see(const tsr_vox_grid *g, const int32_t fixed[3], const tsr_vox_view *at, double v[3])
{
    const double one = (double)((int64_t)1 << g->fraction);
    v[0] = ((double)fixed[0] - at->p[0] * one) / one * g->spacing[0];
    v[1] = (double)(fixed[1] - at->y) / one * g->spacing[1];
    v[2] = (double)(fixed[2] - at->z) / one * g->spacing[2];
    if (v[0] < 0 && fixed[1] == at->y && fixed[2] == at->z) {
        v[1] = 1e-5 * v[0];
        v[2] = 1e-10 * v[0];
    }
}

/* |v| + v_x without cancellation. */
TSR_HD double tsr_vox_ahead(const double v[3])
{
    double length = sqrt(tsr_vox_dot(v, v));
    return v[0] < 0 ? (v[1] * v[1] + v[2] * v[2]) / (length - v[0]) : length + v[0];
}

/* Solid angle of the triangle (a, b, +x): tan of its half is det(a, b, +x) / (|a||b| + a.b + b_x |a| + a_x |b|). */
TSR_HD double tsr_vox_sector(const tsr_vox_grid *g, const tsr_vox_edge *e, const tsr_vox_view *at)
{
    int64_t area;
    double a[3], b[3];
    int left = tsr_vox_left(e->fixed[0], e->fixed[1], at->y, at->z, &area);
    tsr_vox_see(g, e->fixed[0], at, a);
    tsr_vox_see(g, e->fixed[1], at, b);
    double angle = 2 * tsr_vox_angle(fabs(a[1] * b[2] - a[2] * b[1]), tsr_vox_ahead(a) * tsr_vox_ahead(b) + (a[1] * b[1] + a[2] * b[2]));
    return left ? angle : -angle;
}

/* May the rows from the view towards -x meet the box? Where one meets an edge the sum jumps by a turn, as the crossings do. */
TSR_HD int tsr_vox_passes(const tsr_vox_view *at, const float lower[3], const float upper[3])
{
    for (int32_t k = 1; k < 3; k++)
        if (at->p[k] + at->half[k] < (double)lower[k] - 0.01 || at->p[k] - at->half[k] > (double)upper[k] + 0.01) return 0;
    return at->p[0] + at->half[0] >= (double)lower[0] - 0.01;
}

/* Sums over the tree. A node far away whose box no row of the view meets counts as dipole and chords; the dipole's relative error is of the
 * order of (radius / distance)^2 / 2, below 1/100. */
TSR_HD void tsr_vox_look(const tsr_vox_grid *g, tsr_vox_view *at)
{
    int32_t stack[64], depth = 0;
    double sum = 0;
    at->change = 0;
    at->passed = 0;
    stack[depth++] = 0;
    while (depth) {
        const int32_t own = stack[--depth];
        const tsr_vox_node *n = &g->node[own];
        double d[3], square, room;
        for (int32_t k = 0; k < 3; k++) d[k] = ((double)n->centre[k] - at->p[k]) * g->spacing[k];
        square = tsr_vox_dot(d, d);
        room = sqrt(square) - (double)n->radius - at->radius; /* distance of the box from the edges, at least */
        const int passes = tsr_vox_passes(at, n->lower, n->upper), far = !passes && room > 6 * (double)n->radius;
        if (!far && n->right) {
            stack[depth++] = n->right;
            stack[depth++] = own + 1;
            continue;
        }
        at->passed |= passes;
        /* the gradient of a solid angle is the field of a current in the boundary: at most length / distance^2 */
        at->change += room > 0 ? (double)n->length * at->radius / (room * room) : 1e300;
        if (far) {
            sum += ((double)n->area[0] * d[0] + ((double)n->area[1] * d[1] + (double)n->area[2] * d[2])) / (square * sqrt(square));
            for (int32_t k = 0; k < n->chords; k++) sum += tsr_vox_sector(g, &n->chord[k], at);
        } else {
            for (int32_t k = n->first; k < n->last; k++) sum += tsr_vox_sector(g, &g->edge[k], at);
        }
    }
    at->turns = (g->mirrored ? -sum : sum) * 0.079577471545947668; /* 1 / 4 pi */
    at->change = at->change * 0.079577471545947668 + 1e-6;
}

TSR_HD int32_t tsr_vox_round(double turns) { return (int32_t)tsr_vox_floor(turns + 0.5); }

/* What to add to the crossings at a voxel of a tile. */
TSR_HD int32_t tsr_vox_turn(const tsr_vox_grid *g, const int32_t tile[3], const int32_t voxel[3])
{
    tsr_vox_view at;
    if (!g->node) return 0;
    for (int32_t k = 0; k < 3; k++) {
        at.p[k] = (double)((int64_t)tile[k] * (1 << g->log2_edge) + voxel[k] - g->base[k]);
        at.half[k] = 0;
    }
    at.radius = 0;
    at.y = (int64_t)at.p[1] * ((int64_t)1 << g->fraction);
    at.z = (int64_t)at.p[2] * ((int64_t)1 << g->fraction);
    tsr_vox_look(g, &at);
    return tsr_vox_round(at.turns);
}

/* The view from the middle of the box of `size` voxels per axis from voxel `first` on. */
TSR_HD void tsr_vox_look_box(const tsr_vox_grid *g, const int64_t first[3], int64_t size, tsr_vox_view *at)
{
    double square = 0;
    for (int32_t k = 0; k < 3; k++) {
        at->half[k] = 0.5 * (double)(size - 1);
        at->p[k] = (double)(first[k] - g->base[k]) + at->half[k];
        square += at->half[k] * g->spacing[k] * (at->half[k] * g->spacing[k]);
    }
    at->radius = sqrt(square);
    at->y = (2 * (first[1] - g->base[1]) + size - 1) * ((int64_t)1 << (g->fraction - 1));
    at->z = (2 * (first[2] - g->base[2]) + size - 1) * ((int64_t)1 << (g->fraction - 1));
    tsr_vox_look(g, at);
}

/* Is what must be added surely the same at all voxels of the tile? Then *turn is that. */
TSR_HD int tsr_vox_steady(const tsr_vox_grid *g, const int32_t tile[3], int32_t *turn)
{
    tsr_vox_view at;
    int64_t first[3];
    *turn = 0;
    if (!g->node) return 1;
    for (int32_t k = 0; k < 3; k++) first[k] = (int64_t)tile[k] * (1 << g->log2_edge);
    tsr_vox_look_box(g, first, 1 << g->log2_edge, &at);
    if (at.passed || at.change > 0.5) return 0;
    *turn = tsr_vox_round(at.turns - at.change);
    return *turn == tsr_vox_round(at.turns + at.change);
}

/* The row of voxels that speaks for a tile without crossings. */
TSR_HD int32_t tsr_vox_middle_row(const tsr_vox_grid *g) { return (1 << (g->log2_edge - 1)) * (1 + (1 << g->log2_edge)); }

/* Static id of a tile that is not stored; at = first entry of the list beyond it. Between stored tiles of a row nothing is crossed. */
TSR_HD uint32_t tsr_vox_absent(const tsr_vox_grid *g, const uint64_t *key, int64_t at, uint64_t wanted)
{
    if (!g->before) return TSR_TILE_OUTSIDE;
    const int32_t middle = 1 << (g->log2_edge - 1), tile[3] = { tsr_key_x(wanted), tsr_key_y(wanted), tsr_key_z(wanted) };
    const int32_t voxel[3] = { middle, middle, middle };
    int32_t winding = at > 0 && key[at - 1] >> TSR_KEY_BITS == wanted >> TSR_KEY_BITS ? g->after[at - 1] : 0;
    return tsr_vox_inside(g, winding + tsr_vox_turn(g, tile, voxel)) ? TSR_TILE_INSIDE : TSR_TILE_OUTSIDE;
}

#endif
