/* mesh/voxelize_open.h: what the winding number of an open mesh has beside the crossings, and the signs of tiles that are not stored.
 *
 * The surface together with half-planes from its boundary edges towards +x is closed as seen from a voxel, and a row towards -x crosses none
 * of the half-planes. So the generalised winding number of the surface is the number of crossings towards -x less the part of the sphere
 * around the voxel that the half-planes cover: one spherical triangle (a, b, +x) per boundary edge. Its sign comes from the same exact
 * predicate as the crossings: where the row towards -x meets the edge itself, both change together. */
#ifndef TSR_MESH_VOXELIZE_OPEN_H
#define TSR_MESH_VOXELIZE_OPEN_H

#include "mesh/voxelize_math.h"

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

/* A point at which the boundary is looked at, and the box around it in which the answer is wanted. The box decides what of the tree counts as far away: all
 * points looked at from one box take the same way through it. */
typedef struct tsr_vox_view {
    double p[3], half[3]; /* the box: middle and half size, voxels from base */
    double radius;        /* of the box, world units */
    double at[3];         /* the point, voxels from base */
    int64_t y, z;         /* the same, fixed */
    double scale[3];      /* fixed to steps of x: directions need no other unit */
    double turns;         /* out of tsr_vox_look: what the boundary adds, not rounded */
    double change;        /* out of tsr_vox_vary: how much that can vary within the box, whole turns apart */
    int passed;           /* out of tsr_vox_vary: a row of the box may meet an edge */
} tsr_vox_view;

TSR_HD void tsr_vox_set_scale(const tsr_vox_grid *g, double scale[3])
{
    for (int32_t k = 0; k < 3; k++) scale[k] = g->spacing[k] / g->spacing[0] / (double)((int64_t)1 << g->fraction);
}

/* Is a fixed position on the row (y, z)? Towards -x it is seen as after the move of tsr_vox_left, along y by this part of its x, along z by that: the
 * angles of the two edges that meet in it depend on the direction of the move. */
TSR_HD int tsr_vox_on_row(const int32_t fixed[3], int64_t y, int64_t z) { return (fixed[1] == y) & (fixed[2] == z); }

/* From the view's point to a fixed position. */
TSR_HD void tsr_vox_see(const tsr_vox_grid *g, const int32_t fixed[3], const tsr_vox_view *at, double v[3])
{
    v[0] = ((double)fixed[0] - at->at[0] * (double)((int64_t)1 << g->fraction)) * at->scale[0];
    v[1] = (double)(fixed[1] - at->y) * at->scale[1];
    v[2] = (double)(fixed[2] - at->z) * at->scale[2];
    if (v[0] < 0 && tsr_vox_on_row(fixed, at->y, at->z)) {
        v[1] = 1e-5 * v[0];
        v[2] = 1e-10 * v[0];
    }
}

/* |v| + v_x without cancellation, as a fraction: directions need no quotients. */
typedef struct tsr_vox_ratio {
    double over, under;
} tsr_vox_ratio;
TSR_HD tsr_vox_ratio tsr_vox_ahead(double x, double square) /* square = y^2 + z^2 */
{
    const double sum = sqrt(x * x + square) + fabs(x);
    const tsr_vox_ratio r = { x < 0 ? square : sum, x < 0 ? sum : 1.0 };
    return r;
}

/* A sum of angles as a product of numbers: whole turns, and a number x + iy whose angle in [-pi, pi) is the rest; upper: is that in [0, pi)? 1 or 0.
 * Selections between numbers: compilers make vectors of them. */
typedef struct tsr_vox_spin {
    double x, y, upper, turns;
} tsr_vox_spin;
#define TSR_VOX_SPIN \
    {                \
        1, 0, 1, 0   \
    }

/* Adds the angle of re + i im, im >= 0, or subtracts it: a step of at most half a turn, so that the half planes before and after tell whether it went past
 * the end of the range. Rounding cannot mislead: where the sum could be near either end, both products have the same sign. */
TSR_HD tsr_vox_spin tsr_vox_spun(tsr_vox_spin s, double re, double im, double sign)
{
    const double real = re == 0 ? im == 0 ? 1.0 : re : re, turned = sign * im; /* no direction: the point is a corner */
    const double least = sign < 0 ? -1.0 : 0.0, most = sign > 0 ? 1.0 : 0.0;
    const double x = s.x * real - s.y * turned, y = s.x * turned + s.y * real;
    const double right = x > 0 ? 1.0 : 0.0, above = y > 0 ? 1.0 : 0.0, upper = y == 0 ? right : above;
    double past = s.upper - upper;
    past = past < least ? least : past;
    past = past > most ? most : past;
    const tsr_vox_spin r = { x, y, upper, s.turns + past };
    return r;
}

/* Every fourth factor is followed by this: four stay far from the ends of float64. */
TSR_HD tsr_vox_spin tsr_vox_shorter(tsr_vox_spin s)
{
    const double size = fabs(s.x) + fabs(s.y), factor = size > 0 ? 1 / size : 0.0;
    const tsr_vox_spin r = { s.x * factor, s.y * factor, s.upper, s.turns };
    return r;
}
enum { TSR_VOX_FACTORS = 4 };

/* Adds half the solid angle of the triangle (a, b, +x): its tangent is det(a, b, +x) / (|a||b| + a.b + b_x |a| + a_x |b|), whose denominator is
 * (|a| + a_x)(|b| + b_x) + a_y b_y + a_z b_z. */
TSR_HD tsr_vox_spin tsr_vox_sector(const tsr_vox_grid *g, const tsr_vox_edge *e, const tsr_vox_view *at, tsr_vox_spin s)
{
    int64_t area;
    double a[3], b[3];
    const double sign = tsr_vox_left(e->fixed[0], e->fixed[1], at->y, at->z, &area) ? 1.0 : -1.0;
    tsr_vox_see(g, e->fixed[0], at, a);
    tsr_vox_see(g, e->fixed[1], at, b);
    const tsr_vox_ratio ahead = tsr_vox_ahead(a[0], a[1] * a[1] + a[2] * a[2]), other = tsr_vox_ahead(b[0], b[1] * b[1] + b[2] * b[2]);
    const double under = ahead.under * other.under, across = fabs(a[1] * b[2] - a[2] * b[1]), along = a[1] * b[1] + a[2] * b[2];
    return tsr_vox_spun(s, ahead.over * other.over + along * under, across * under, sign);
}

/* Solid angle of a node far away: its dipole. d: from the point to its centre, world units. */
TSR_HD double tsr_vox_dipole(const float area[3], double x, double y, double z)
{
    const double square = (x * x + y * y) + z * z;
    return ((double)area[0] * x + ((double)area[1] * y + (double)area[2] * z)) / (square * sqrt(square));
}

#define TSR_VOX_TURN 0.079577471545947668 /* 1 / 4 pi */

/* Turns, not rounded, of a product and the solid angles of dipoles. */
TSR_HD double tsr_vox_all_turns(const tsr_vox_grid *g, tsr_vox_spin s, double dipoles)
{
    const double angle = s.y == 0 && s.x < 0 ? -3.1415926535897932 : tsr_vox_angle(s.y, s.x);
    const double turns = s.turns + (angle * 2 + dipoles) * TSR_VOX_TURN;
    return g->mirrored ? -turns : turns;
}

/* May the rows from the view towards -x meet the box? Where one meets an edge the sum jumps by a turn, as the crossings do. */
TSR_HD int tsr_vox_passes(const tsr_vox_view *at, const float lower[3], const float upper[3])
{
    for (int32_t k = 1; k < 3; k++)
        if (at->p[k] + at->half[k] < (double)lower[k] - 0.01 || at->p[k] - at->half[k] > (double)upper[k] + 0.01) return 0;
    return at->p[0] + at->half[0] >= (double)lower[0] - 0.01;
}

/* How the box of a view sees a node. A node far away whose box no row of the view meets counts as dipole and chords; the dipole's relative error is of the
 * order of (radius / distance)^2 / 2, below 1/100. */
typedef struct tsr_vox_aspect {
    double room; /* distance of the box from the edges, at least */
    int passes, far;
} tsr_vox_aspect;
TSR_HD tsr_vox_aspect tsr_vox_judge(const tsr_vox_grid *g, const tsr_vox_node *n, const tsr_vox_view *at)
{
    double d[3];
    tsr_vox_aspect a;
    for (int32_t k = 0; k < 3; k++) d[k] = ((double)n->centre[k] - at->p[k]) * g->spacing[k];
    a.room = sqrt(tsr_vox_dot(d, d)) - (double)n->radius - at->radius;
    a.passes = tsr_vox_passes(at, n->lower, n->upper);
    a.far = !a.passes && a.room > 6 * (double)n->radius;
    return a;
}

/* How much what the boundary adds may vary within the box of the view: 0 where that is anything, and the walk ends as soon as it is known. Without angles. */
TSR_HD int tsr_vox_vary(const tsr_vox_grid *g, tsr_vox_view *at)
{
    int32_t stack[64], depth = 0;
    double change = 0;
    at->passed = 0;
    stack[depth++] = 0;
    while (depth) {
        const int32_t own = stack[--depth];
        const tsr_vox_node *n = &g->node[own];
        const tsr_vox_aspect seen = tsr_vox_judge(g, n, at);
        if (!seen.far && n->right) {
            stack[depth++] = n->right;
            stack[depth++] = own + 1;
            continue;
        }
        at->passed |= seen.passes;
        /* the gradient of a solid angle is the field of a current in the boundary: at most length / distance^2 */
        change += seen.room > 0 ? (double)n->length * at->radius / (seen.room * seen.room) : 1e300;
        at->change = change * TSR_VOX_TURN + 1e-6;
        if (at->change > 0.5) return 0;
    }
    return 1;
}

/* What the boundary adds at the view's point: sums over the tree. tsr_vox_turns does the same for all voxels of a tile. */
TSR_HD void tsr_vox_look(const tsr_vox_grid *g, tsr_vox_view *at)
{
    int32_t stack[64], depth = 0, factors = 0;
    double dipoles = 0;
    tsr_vox_spin spin = TSR_VOX_SPIN;
    stack[depth++] = 0;
    while (depth) {
        const int32_t own = stack[--depth];
        const tsr_vox_node *n = &g->node[own];
        const int far = tsr_vox_judge(g, n, at).far;
        if (!far && n->right) {
            stack[depth++] = n->right;
            stack[depth++] = own + 1;
            continue;
        }
        if (far) {
            double d[3];
            for (int32_t k = 0; k < 3; k++) d[k] = ((double)n->centre[k] - at->at[k]) * g->spacing[k];
            dipoles += tsr_vox_dipole(n->area, d[0], d[1], d[2]);
        }
        const tsr_vox_edge *edge = far ? n->chord : g->edge + n->first;
        const int32_t count = far ? n->chords : n->last - n->first;
        for (int32_t k = 0; k < count; k++) {
            spin = tsr_vox_sector(g, &edge[k], at, spin);
            if (++factors % TSR_VOX_FACTORS == 0) spin = tsr_vox_shorter(spin);
        }
    }
    at->turns = tsr_vox_all_turns(g, spin, dipoles);
}

TSR_HD int32_t tsr_vox_round(double turns) { return (int32_t)tsr_vox_floor(turns + 0.5); }

/* The winding number of crossings and turns, rounded. A wall that belongs to nothing has a half on both sides, and sums over a tree are off by some
 * thousandths: what is so near a half goes to one side, that of g->slack. */
TSR_HD int32_t tsr_vox_whole(const tsr_vox_grid *g, int32_t crossings, double turns)
{
    const int64_t below = tsr_vox_floor(turns) + crossings;
    const double part = turns - (double)(below - crossings), limit = below < 0 ? 0.5 - g->slack : 0.5 + g->slack;
    return (int32_t)(below + (part > limit || (part == limit && below >= 0)));
}

/* The box of `size` voxels per axis from voxel `first` on, looked at from its middle. */
TSR_HD void tsr_vox_set_box(const tsr_vox_grid *g, const int64_t first[3], int64_t size, tsr_vox_view *at)
{
    double square = 0;
    for (int32_t k = 0; k < 3; k++) {
        at->half[k] = 0.5 * (double)(size - 1);
        at->p[k] = at->at[k] = (double)(first[k] - g->base[k]) + at->half[k];
        square += at->half[k] * g->spacing[k] * (at->half[k] * g->spacing[k]);
    }
    at->radius = sqrt(square);
    at->y = (2 * (first[1] - g->base[1]) + size - 1) * ((int64_t)1 << (g->fraction - 1));
    at->z = (2 * (first[2] - g->base[2]) + size - 1) * ((int64_t)1 << (g->fraction - 1));
    tsr_vox_set_scale(g, at->scale);
}
TSR_HD void tsr_vox_tile_box(const tsr_vox_grid *g, const int32_t tile[3], tsr_vox_view *at)
{
    int64_t first[3];
    for (int32_t k = 0; k < 3; k++) first[k] = (int64_t)tile[k] * (1 << g->log2_edge);
    tsr_vox_set_box(g, first, 1 << g->log2_edge, at);
}

/* A voxel of a tile: seen from that point, decided for the tile. */
TSR_HD void tsr_vox_tile_view(const tsr_vox_grid *g, const int32_t tile[3], const int32_t voxel[3], tsr_vox_view *at)
{
    tsr_vox_tile_box(g, tile, at);
    for (int32_t k = 0; k < 3; k++) at->at[k] = (double)((int64_t)tile[k] * (1 << g->log2_edge) + voxel[k] - g->base[k]);
    at->y = (int64_t)at->at[1] * ((int64_t)1 << g->fraction);
    at->z = (int64_t)at->at[2] * ((int64_t)1 << g->fraction);
}

/* The winding number there, of so many crossings. */
TSR_HD int32_t tsr_vox_turn(const tsr_vox_grid *g, const int32_t tile[3], const int32_t voxel[3], int32_t crossings)
{
    tsr_vox_view at;
    if (!g->node) return crossings;
    tsr_vox_tile_view(g, tile, voxel, &at);
    tsr_vox_look(g, &at);
    return tsr_vox_whole(g, crossings, at.turns);
}

/* Is what must be added surely the same at all voxels of the tile? Then *turn is that. */
TSR_HD int tsr_vox_steady(const tsr_vox_grid *g, const int32_t tile[3], int32_t *turn)
{
    tsr_vox_view at;
    *turn = 0;
    if (!g->node) return 1;
    tsr_vox_tile_box(g, tile, &at);
    if (!tsr_vox_vary(g, &at) || at.passed) return 0;
    tsr_vox_look(g, &at);
    const double change = at.change + fabs(g->slack);
    *turn = tsr_vox_round(at.turns - change);
    return *turn == tsr_vox_round(at.turns + change);
}

/* The row of voxels that speaks for a tile without crossings. */
TSR_HD int32_t tsr_vox_middle_row(const tsr_vox_grid *g) { return (1 << (g->log2_edge - 1)) * (1 + (1 << g->log2_edge)); }

/* Static id of a tile that is not stored, of a closed mesh; at = first entry of the list beyond it. Between stored tiles of a row nothing is crossed. What is
 * absent about an open one is told by the tiles around it (voxelize_absent.h). */
TSR_HD uint32_t tsr_vox_absent(const tsr_vox_grid *g, const uint64_t *key, int64_t at, uint64_t wanted)
{
    if (!g->before || g->node) return TSR_TILE_OUTSIDE;
    const int32_t winding = at > 0 && key[at - 1] >> TSR_KEY_BITS == wanted >> TSR_KEY_BITS ? g->after[at - 1] : 0;
    return tsr_vox_inside(g, winding) ? TSR_TILE_INSIDE : TSR_TILE_OUTSIDE;
}

/* Which voxels of a side of a tile are inside; side 2 k is that of the least coordinate along axis k, 2 k + 1 the other one. Bit u + edge v: u along the first
 * of the other two axes. */
TSR_HD uint64_t tsr_vox_face(const float *phi, int32_t log2_edge, int32_t side)
{
    const int32_t edge = 1 << log2_edge, axis = side >> 1, far = (side & 1) * (edge - 1);
    const int32_t step = 1 << (axis * log2_edge), u = axis == 0 ? edge : 1, v = axis == 2 ? edge : edge * edge;
    uint64_t bits = 0;
    for (int32_t i = 0; i < edge * edge; i++) bits |= (uint64_t)(phi[far * step + (i & (edge - 1)) * u + (i >> log2_edge) * v] < 0.0f) << i;
    return bits;
}

#endif
