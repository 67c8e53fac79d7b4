/* mesh/voxelize_math.h: the mathematics of mesh to level set: one triangle, one tile, one voxel.
 *
 * Local coordinates: world units along the grid's axes, 0 at voxel (0, 0, 0): voxel i lies at i * spacing. Fixed coordinates: voxels times
 * 2^fraction, counted from `base`, below 2^30, so that products of two differences fit in 64 bits: signs of areas are exact. */
#ifndef TSR_MESH_VOXELIZE_MATH_H
#define TSR_MESH_VOXELIZE_MATH_H

#include <math.h>

#include "core/mix.h"
#include "tiles/tile_pool.h"

/* A triangle in a frame of its own: A at the origin, the longest side AB along u, C = (cx, cy) in the plane of u and v, w normal. */
typedef struct tsr_vox_triangle {
    double origin[3]; /* A, local */
    float u[3], v[3], w[3];
    float length, cx, cy;         /* |AB|, C; cy >= 0 */
    float inverse_bc, inverse_ca; /* 1 / |BC|^2, 1 / |CA|^2; 0 for sides without length */
    float radius;                 /* smallest circle around it, rounded up */
    double centre[3];             /* of that circle, local */
} tsr_vox_triangle;

/* The same as seen from the middle of a tile: coordinates of a point p there are u[0..2] . p + u[3] and so on. */
typedef struct tsr_vox_local {
    float u[4], v[4], w[4];
    float length, cx, cy, inverse_bc, inverse_ca;
    float centre[3], radius;
} tsr_vox_local;

/* An edge of the boundary, from a to b. */
typedef struct tsr_vox_edge {
    int32_t fixed[2][3];
} tsr_vox_edge;

/* A node of the tree over the edges: those of [first, last). Seen from far off its closed curves are one dipole, its open ones chords. */
typedef struct tsr_vox_node {
    int32_t first, last, right; /* children: the next node and `right`; 0: none */
    int32_t chords;             /* 0 to 2 */
    float lower[3], upper[3];   /* in voxels from `base` */
    float centre[3], radius;    /* centre in voxels from `base`, radius in world units */
    float area[3], length;      /* vector area of the curves closed with their chords, length of the edges, world units */
    tsr_vox_edge chord[2];
} tsr_vox_node;

/* Tiles of a small box: bit b of the mask is tile b of it, x fastest. 0: the box is large. */
typedef struct tsr_vox_few {
    uint64_t first; /* packed key of its first tile */
    uint32_t mask;
    uint16_t wide, high; /* tiles along x and y */
} tsr_vox_few;

typedef struct tsr_vox_grid {
    double axis[3][3], origin[3];  /* local_r = axis[r] . (world - origin) */
    double spacing[3], inverse[3]; /* and 1 / spacing */
    float reach;                   /* distances below this are wanted: band, plus half the thickness of a shell */
    float touch;                   /* reach, and at least one voxel along every axis: tiles so near a triangle are stored */
    float h[3], band, shell;       /* shell: half thickness */
    double slack;                  /* boundary: winding numbers so near a half are rounded towards 0, negative: away from it */
    int32_t rule, mirrored, log2_edge;
    int32_t fraction, first[3], last[3], shift[3]; /* tiles the mesh may touch; packed key: coordinates from `first`, y and z shifted */
    int64_t base[3];                               /* voxels */
    int64_t vertices, triangles, pairs, tiles, nodes;
    const float *vertex;
    const uint32_t *corner;
    const uint32_t *faced;          /* the same, of triangles turned where that was mended: what crossings count */
    int32_t (*fixed)[3];            /* [vertices] */
    tsr_vox_triangle *triangle;     /* [triangles]; the CPU has none, and makes what it needs (voxelize_batch.h) */
    uint32_t *count;                /* [triangles] tiles each touches */
    tsr_vox_few *few;               /* [triangles] for the CPU: kept between counting and writing */
    uint64_t *offset;               /* [triangles] inclusive sums of them */
    uint64_t *key, *sorted_key;     /* [pairs] packed; the CPU has */
    uint32_t *cell;                 /* [pairs] number of the tile in the box of tiles instead, */
    uint64_t *tile_key;             /* [tiles] packed */
    uint32_t *owner, *sorted_owner; /* [pairs] triangle, or TSR_VOX_NOBODY */
    uint8_t *head;                  /* [pairs] 1 at the first pair of a tile */
    uint32_t *start;                /* [tiles + 1] first pair of a tile */
    int32_t *before;                /* [tiles][edge^2] winding number of each row of voxels where it enters the tile */
    int32_t *after;                 /* [tiles] the same behind the tile, of its middle row */
    int32_t *exit;                  /* [tiles][edge^2] of all rows, where there is a boundary */
    uint64_t (*face)[6];            /* [tiles] with a boundary: tsr_vox_face */
    const tsr_vox_edge *edge;       /* boundary; NULL: closed */
    const tsr_vox_node *node;       /* [nodes] */
} tsr_vox_grid;

#define TSR_VOX_NOBODY UINT32_MAX
enum { TSR_VOX_RULE_NONZERO = 0, TSR_VOX_RULE_EVEN_ODD, TSR_VOX_RULE_POSITIVE, TSR_VOX_RULE_SHELL };

TSR_HD int64_t tsr_vox_floor(double v)
{
    int64_t i = (int64_t)v;
    return i - (v < (double)i);
}
TSR_HD int64_t tsr_vox_ceil(double v)
{
    int64_t i = (int64_t)v;
    return i + (v > (double)i);
}

/* ---- set-up ------------------------------------------------------------------------------------------------------------------------ */

TSR_HD void tsr_vox_locate(const tsr_vox_grid *g, const float p[3], double local[3])
{
    const double d[3] = { (double)p[0] - g->origin[0], (double)p[1] - g->origin[1], (double)p[2] - g->origin[2] };
    for (int32_t r = 0; r < 3; r++) local[r] = (g->axis[r][0] * d[0] + g->axis[r][1] * d[1]) + g->axis[r][2] * d[2];
}
TSR_HD void tsr_vox_position(const tsr_vox_grid *g, uint32_t vertex, double local[3]) { tsr_vox_locate(g, g->vertex + 3 * (int64_t)vertex, local); }

TSR_HD void tsr_vox_fix(const tsr_vox_grid *g, const double local[3], int32_t fixed[3])
{
    for (int32_t k = 0; k < 3; k++)
        fixed[k] = (int32_t)tsr_vox_floor((local[k] / g->spacing[k] - (double)g->base[k]) * (double)((int64_t)1 << g->fraction) + 0.5);
}

TSR_HD double tsr_vox_dot(const double a[3], const double b[3]) { return (a[0] * b[0] + a[1] * b[1]) + a[2] * b[2]; }

/* Frame of the triangle with these corners (local). Made in float64, so that slivers have a good normal; one without area is a segment. No branches, and
 * selections between numbers: compilers make vectors of it. */
TSR_HD void tsr_vox_frame(const double p[3][3], tsr_vox_triangle *t)
{
    double square[3], side[3], d[3], u[3], v[3], w[3], across[3];
    for (int32_t k = 0; k < 3; k++) {
        for (int32_t r = 0; r < 3; r++) side[r] = p[(k + 1) % 3][r] - p[k][r];
        square[k] = tsr_vox_dot(side, side);
    }
    const double most = square[1] > square[0] ? square[1] : square[0], length = sqrt(square[2] > most ? square[2] : most), middle = 0.5 * length;
    for (int32_t r = 0; r < 3; r++) { /* A, B and C of the longest side */
        const double a = square[1] > square[0] ? p[1][r] : p[0][r], b = square[1] > square[0] ? p[2][r] : p[1][r];
        const double c = square[1] > square[0] ? p[0][r] : p[2][r], origin = square[2] > most ? p[2][r] : a;
        t->origin[r] = origin;
        side[r] = (square[2] > most ? p[0][r] : b) - origin;
        d[r] = (square[2] > most ? p[1][r] : c) - origin;
        u[r] = length > 0 ? side[r] / length : r == 0 ? 1.0 : 0.0;
    }
    const double cx = tsr_vox_dot(d, u), x = fabs(u[0]), y = fabs(u[1]), z = fabs(u[2]);
    for (int32_t r = 0; r < 3; r++) v[r] = d[r] - cx * u[r];
    const double height = sqrt(tsr_vox_dot(v, v)), cy = height > 1e-12 * length ? height : 0.0;
    /* Without area any direction across: from the axis of the least of u. */
    const double axis = x <= (y < z ? y : z) ? 0.0 : y <= z ? 1.0 : 2.0, least = axis < 1 ? u[0] : axis < 2 ? u[1] : u[2];
    for (int32_t r = 0; r < 3; r++) across[r] = axis == (double)r ? -u[r] * least + 1 : -u[r] * least;
    const double size = cy > 0 ? cy : sqrt(tsr_vox_dot(across, across));
    for (int32_t r = 0; r < 3; r++) v[r] = (cy > 0 ? v[r] : across[r]) / size;
    w[0] = u[1] * v[2] - u[2] * v[1];
    w[1] = u[2] * v[0] - u[0] * v[2];
    w[2] = u[0] * v[1] - u[1] * v[0];
    for (int32_t r = 0; r < 3; r++) {
        t->u[r] = (float)u[r];
        t->v[r] = (float)v[r];
        t->w[r] = (float)w[r];
    }
    const double bc = (cx - length) * (cx - length) + cy * cy, ca = cx * cx + cy * cy;
    t->length = (float)length;
    t->cx = (float)cx;
    t->cy = (float)cy;
    t->inverse_bc = (float)(bc > 0 ? 1 / bc : 0.0);
    t->inverse_ca = (float)(ca > 0 ? 1 / ca : 0.0);
    /* Obtuse at C: the circle over AB; else the one through all three. */
    const double acute = cy > 0 ? (cx - middle) * (cx - middle) + cy * cy - middle * middle : 0.0;
    const double sy = acute > 0 ? (ca - length * cx) / (2 * cy) : 0.0, radius = acute > 0 ? sqrt(middle * middle + sy * sy) : middle;
    t->radius = (float)(radius * 1.00001);
    for (int32_t r = 0; r < 3; r++) t->centre[r] = t->origin[r] + (middle * u[r] + sy * v[r]);
}

/* Order of fixed positions, and a number for each: what identifies the ends of an edge. */
TSR_HD int32_t tsr_vox_compare(const int32_t a[3], const int32_t b[3])
{
    for (int32_t k = 0; k < 3; k++)
        if (a[k] != b[k]) return a[k] < b[k] ? -1 : 1;
    return 0;
}
TSR_HD uint64_t tsr_vox_place(const int32_t p[3])
{
    const uint64_t h = tsr_mix64(((uint64_t)(uint32_t)p[1] << 32 | (uint32_t)p[0]) + TSR_GOLDEN_STEP);
    return tsr_mix64(h ^ (uint32_t)p[2]);
}
/* A number for the directed edge between two places that is the negative of the one for its reverse: they sum to 0 over a closed surface. */
TSR_HD uint64_t tsr_vox_edge_number(uint64_t a, uint64_t b)
{
    const uint64_t h = tsr_mix64(a < b ? a * 3 + b : b * 3 + a), number = a < b ? h : (uint64_t)0 - h;
    return a == b ? 0 : number;
}

/* ---- distance ------------------------------------------------------------------------------------------------------------------------ */

/* Middle of a tile, local. */
TSR_HD double tsr_vox_middle_along(const tsr_vox_grid *g, int32_t k, int32_t at)
{
    const int32_t edge = 1 << g->log2_edge;
    return ((double)at * edge + 0.5 * (edge - 1)) * g->spacing[k];
}
TSR_HD void tsr_vox_middle(const tsr_vox_grid *g, const int32_t tile[3], double middle[3])
{
    for (int32_t k = 0; k < 3; k++) middle[k] = tsr_vox_middle_along(g, k, tile[k]);
}

TSR_HD void tsr_vox_localise(const tsr_vox_triangle *t, const double middle[3], tsr_vox_local *l)
{
    double d[3], u0 = 0, v0 = 0, w0 = 0;
    for (int32_t r = 0; r < 3; r++) {
        d[r] = middle[r] - t->origin[r];
        l->u[r] = t->u[r];
        l->v[r] = t->v[r];
        l->w[r] = t->w[r];
        u0 += (double)t->u[r] * d[r];
        v0 += (double)t->v[r] * d[r];
        w0 += (double)t->w[r] * d[r];
    }
    l->u[3] = (float)u0;
    l->v[3] = (float)v0;
    l->w[3] = (float)w0;
    l->length = t->length;
    l->cx = t->cx;
    l->cy = t->cy;
    l->inverse_bc = t->inverse_bc;
    l->inverse_ca = t->inverse_ca;
    for (int32_t r = 0; r < 3; r++) l->centre[r] = (float)(t->centre[r] - middle[r]);
    l->radius = t->radius;
}

/* Squared distance of the point p (from the tile's middle) to the triangle: in its plane, that to the nearest side or, within, 0. No branches:
 * compilers make vectors of it. */
TSR_HD float tsr_vox_distance(const tsr_vox_local *t, float px, float py, float pz)
{
    float u = (t->u[0] * px + t->u[1] * py) + (t->u[2] * pz + t->u[3]);
    float v = (t->v[0] * px + t->v[1] * py) + (t->v[2] * pz + t->v[3]);
    float w = (t->w[0] * px + t->w[1] * py) + (t->w[2] * pz + t->w[3]);
    float ab = u - tsr_minf(tsr_maxf(u, 0.0f), t->length);
    float along_bc = t->cx - t->length, from_b = u - t->length;
    float s = tsr_minf(tsr_maxf((from_b * along_bc + v * t->cy) * t->inverse_bc, 0.0f), 1.0f);
    float bu = from_b - s * along_bc, bv = v - s * t->cy;
    s = tsr_minf(tsr_maxf((u * t->cx + v * t->cy) * t->inverse_ca, 0.0f), 1.0f);
    float cu = u - s * t->cx, cv = v - s * t->cy;
    float side = tsr_minf(ab * ab + v * v, tsr_minf(bu * bu + bv * bv, cu * cu + cv * cv));
    int within = (v > 0.0f) & (ab == 0.0f) & (along_bc * v - t->cy * from_b > 0.0f) & (t->cx * v - t->cy * u < 0.0f);
    return w * w + (within ? 0.0f : side);
}

/* Is a ball of this radius about a point, `square` away (squared) from the centre of the circle, clear of the triangle? Only if surely so. */
TSR_HD int tsr_vox_clear(float square, float ball, float radius)
{
    float sum = (ball + radius) * 1.00002f;
    return square > sum * sum;
}

/* What of a triangle tells whether it is near: its circle and its plane, from the middle of a tile. */
typedef struct tsr_vox_disc {
    float centre[3], radius, w[4];
} tsr_vox_disc;

/* Is the triangle in the disc surely no nearer to p than the root of `best`? The disc of its circle is not: the nearest point of that is w away
 * across its plane and the rest of the way to the centre less the radius along it. Without roots: rho > radius + s for s = sqrt(best - w^2). */
TSR_HD int tsr_vox_beyond(const tsr_vox_disc *t, float px, float py, float pz, float best)
{
    const float dx = px - t->centre[0], dy = py - t->centre[1], dz = pz - t->centre[2], radius = t->radius * 1.0001f;
    const float w = (t->w[0] * px + t->w[1] * py) + (t->w[2] * pz + t->w[3]), across = w * w * 0.99999f;
    const float left = best - across, along = ((dx * dx + dy * dy) + dz * dz) * 0.99999f - w * w, more = (along - radius * radius) - left;
    return left < 0.0f || (more > 0.0f && more * more > 4.0004f * (radius * radius) * left);
}

/* A lower bound of the squared distance from p to the disc: across the plane, and along it to the rim; and how it grows from p on: distance times
 * gradient, by axis. The distance to a convex set is convex, so that at p + o the disc is no nearer than (square + slope . o) / distance, up to rounding:
 * what lies to one side of a block and what lies to the other are told apart. */
typedef struct tsr_vox_slope {
    float square, x, y, z;
} tsr_vox_slope;
TSR_HD tsr_vox_slope tsr_vox_lean(const tsr_vox_disc *t, float px, float py, float pz)
{
    const float dx = px - t->centre[0], dy = py - t->centre[1], dz = pz - t->centre[2];
    const float w = (t->w[0] * px + t->w[1] * py) + (t->w[2] * pz + t->w[3]), along = ((dx * dx + dy * dy) + dz * dz) * 0.99999f - w * w;
    const float rho = sqrtf(tsr_maxf(along, 0.0f)), rim = tsr_maxf(rho - t->radius * 1.0001f, 0.0f), part = rim / tsr_maxf(rho, 1e-30f);
    const float left = w - part * w;
    const tsr_vox_slope s = { w * w * 0.99999f + rim * rim, part * dx + left * t->w[0], part * dy + left * t->w[1], part * dz + left * t->w[2] };
    return s;
}

/* Is what has this bound and slope surely farther than limit[l] from all eight corners p + (+-half, +-half, +-half) of a block? Those of larger x have odd l,
 * of larger y bit 1, of larger z bit 2. limit: from tsr_vox_limit. Near p itself directions are uncertain. */
TSR_HD int tsr_vox_aside(tsr_vox_slope s, const float half[3], const float limit[8])
{
    const float distance = sqrtf(s.square), x = s.x * half[0], y = s.y * half[1], z = s.z * half[2];
    const float a = y + z, b = y - z, low = s.square - x, high = s.square + x;
    float least = tsr_minf(low - a - limit[0] * distance, high - a - limit[1] * distance);
    least = tsr_minf(least, tsr_minf(low + b - limit[2] * distance, high + b - limit[3] * distance));
    least = tsr_minf(least, tsr_minf(low - b - limit[4] * distance, high - b - limit[5] * distance));
    least = tsr_minf(least, tsr_minf(low + a - limit[6] * distance, high + a - limit[7] * distance));
    return (least > 0.0f) & (distance > 0.1f * tsr_maxf(half[0], tsr_maxf(half[1], half[2])));
}
/* The distance a corner must be farther than, with room for rounding; `square`: its squared distance so far, `radius`: how far it is from p. */
TSR_HD float tsr_vox_limit(float square, float radius) { return sqrtf(square) * 1.0001f + 1e-4f * radius; }

/* The square of a ball's radius, with room for what estimates are rounded by. */
TSR_HD float tsr_vox_margin(float ball)
{
    const float wide = ball * 1.00002f;
    return wide * wide;
}

/* Place of voxel i of a tile along an axis, from the tile's middle. */
TSR_HD float tsr_vox_offset(int32_t i, int32_t edge, float h) { return ((float)i - 0.5f * (float)(edge - 1)) * h; }

/* How far a block of voxels, `half` to both sides of its middle, reaches from there; rounded up. */
TSR_HD float tsr_vox_block_radius(const float half[3]) { return sqrtf((half[0] * half[0] + half[1] * half[1]) + half[2] * half[2]) * 1.0001f; }
/* Square of how near to the middle of such a block a triangle must come to matter; `square`: the largest squared distance of its voxels so far. */
TSR_HD float tsr_vox_farthest(float square, float radius)
{
    const float far = sqrtf(square) + radius;
    return far * far;
}

/* What is inside lies below 0, at distance 0, too: the least normal number there keeps the side that the crossings say. */
#define TSR_VOX_LEAST 1.17549435e-38f

/* The field from the squared distance. */
TSR_HD float tsr_vox_field(const tsr_vox_grid *g, float square, int inside)
{
    float d = sqrtf(square);
    if (g->rule == TSR_VOX_RULE_SHELL) return tsr_clampf(d - g->shell, -g->band, g->band);
    d = tsr_minf(d, g->band);
    return inside ? -tsr_maxf(d, TSR_VOX_LEAST) : d;
}

TSR_HD int tsr_vox_inside(const tsr_vox_grid *g, int32_t winding)
{
    if (g->rule == TSR_VOX_RULE_EVEN_ODD) return winding & 1;
    if (g->rule == TSR_VOX_RULE_POSITIVE) return winding > 0;
    return g->rule == TSR_VOX_RULE_NONZERO && winding != 0;
}

/* ---- which tiles a triangle touches -------------------------------------------------------------------------------------------------- */

TSR_HD uint64_t tsr_vox_pack(const tsr_vox_grid *g, int32_t x, int32_t y, int32_t z)
{
    return (uint64_t)(x - g->first[0]) | (uint64_t)(y - g->first[1]) << g->shift[1] | (uint64_t)(z - g->first[2]) << g->shift[2];
}
TSR_HD void tsr_vox_unpack(const tsr_vox_grid *g, uint64_t key, int32_t tile[3])
{
    tile[0] = g->first[0] + (int32_t)(key & (((uint64_t)1 << g->shift[1]) - 1));
    tile[1] = g->first[1] + (int32_t)((key >> g->shift[1]) & (((uint64_t)1 << (g->shift[2] - g->shift[1])) - 1));
    tile[2] = g->first[2] + (int32_t)(key >> g->shift[2]);
}

/* Tiles with voxels in [lower, upper] along axis k, within the grid: numbers of voxels fit in 32 bits; none if *last < *first. */
TSR_HD void tsr_vox_range(const tsr_vox_grid *g, int32_t k, double lower, double upper, int32_t *first, int32_t *last)
{
    const double low = lower * g->inverse[k], high = upper * g->inverse[k], a = (double)(int32_t)low, b = (double)(int32_t)high;
    const int32_t from = (int32_t)(a < low ? a + 1 : a), to = (int32_t)(b > high ? b - 1 : b);
    *first = from >> g->log2_edge;
    *last = from <= to ? to >> g->log2_edge : *first - 1;
}

/* Extent along `other` of the part of the triangle with lower <= p[axis] <= upper. */
TSR_HD void tsr_vox_clip(const double p[3][3], int32_t axis, double lower, double upper, int32_t other, double range[2])
{
    range[0] = 1e300;
    range[1] = -1e300;
    for (int32_t k = 0; k < 3; k++) {
        const double *a = p[k], *b = p[(k + 1) % 3];
        double da = a[axis], db = b[axis];
        if (da >= lower && da <= upper) {
            range[0] = a[other] < range[0] ? a[other] : range[0];
            range[1] = a[other] > range[1] ? a[other] : range[1];
        }
        for (int32_t n = 0; n < 2; n++) {
            double plane = n ? upper : lower;
            if ((da < plane) == (db < plane)) continue;
            double at = a[other] + (b[other] - a[other]) * ((plane - da) / (db - da));
            range[0] = at < range[0] ? at : range[0];
            range[1] = at > range[1] ? at : range[1];
        }
    }
}

typedef struct tsr_vox_box {
    int32_t lower[3], upper[3];
} tsr_vox_box;

/* Box of tiles around the triangle dilated by the reach of touch. */
TSR_HD void tsr_vox_bound(const tsr_vox_grid *g, const double p[3][3], tsr_vox_box *box)
{
    const double touch = (double)g->touch;
    for (int32_t k = 0; k < 3; k++) {
        double lower = p[0][k] < p[1][k] ? p[0][k] : p[1][k], upper = p[0][k] > p[1][k] ? p[0][k] : p[1][k];
        lower = p[2][k] < lower ? p[2][k] : lower;
        upper = p[2][k] > upper ? p[2][k] : upper;
        tsr_vox_range(g, k, lower - touch, upper + touch, &box->lower[k], &box->upper[k]);
    }
}

/* Rows of tiles in that box, about; at most 2^33: nothing is known of the triangle yet. To be cut to an integer. */
TSR_HD double tsr_vox_row_estimate(const tsr_vox_grid *g, const double p[3][3])
{
    double rows = 1;
    for (int32_t k = 1; k < 3; k++) {
        double lower = p[0][k] < p[1][k] ? p[0][k] : p[1][k], upper = p[0][k] > p[1][k] ? p[0][k] : p[1][k];
        lower = p[2][k] < lower ? p[2][k] : lower;
        upper = p[2][k] > upper ? p[2][k] : upper;
        rows *= (upper - lower + 2 * (double)g->touch) / (g->spacing[k] * (double)(1 << g->log2_edge)) + 1;
    }
    return rows < 8589934592.0 ? rows : 8589934592.0;
}

/* How far the middle of the triangle's circle lies beyond the voxels of tile number `at` along axis k, squared. */
TSR_HD float tsr_vox_outside(const tsr_vox_grid *g, double centre, int32_t k, int32_t at)
{
    const double middle = tsr_vox_middle_along(g, k, at);
    const float half = 0.5f * (float)((1 << g->log2_edge) - 1) * g->h[k], beyond = tsr_maxf(tsr_absf((float)(centre - middle)) - half, 0.0f);
    return beyond * beyond;
}

/* May a voxel of the tile be within touch of a triangle whose circle is? For triangles that are not small: plane against box and the distance of the
 * middle. */
TSR_HD int tsr_vox_touches_closely(const tsr_vox_grid *g, const tsr_vox_triangle *t, const int32_t tile[3])
{
    tsr_vox_local l;
    double middle[3];
    float spread = 0.0f, corner = 0.0f, reach = g->touch;
    if (t->radius < 0.5f * reach) return 1;
    tsr_vox_middle(g, tile, middle);
    tsr_vox_localise(t, middle, &l);
    for (int32_t k = 0; k < 3; k++) {
        const float half = 0.5f * (float)((1 << g->log2_edge) - 1) * g->h[k];
        spread += tsr_absf(l.w[k]) * half;
        corner += half * half;
    }
    if (tsr_absf(l.w[3]) > (reach + spread) * 1.0001f + 1e-6f * l.radius) return 0;
    float far = (reach + sqrtf(corner)) * 1.0001f + 1e-6f * l.radius;
    return tsr_vox_distance(&l, 0.0f, 0.0f, 0.0f) <= far * far;
}

/* May a voxel of the tile be within touch of the triangle? Ball against box first. */
TSR_HD int tsr_vox_touches(const tsr_vox_grid *g, const tsr_vox_triangle *t, const int32_t tile[3])
{
    const float square =
        (tsr_vox_outside(g, t->centre[0], 0, tile[0]) + tsr_vox_outside(g, t->centre[1], 1, tile[1])) + tsr_vox_outside(g, t->centre[2], 2, tile[2]);
    return !tsr_vox_clear(square, g->touch, t->radius) && tsr_vox_touches_closely(g, t, tile);
}

/* Tiles along x, in the row of tiles (y, z), that the triangle may touch: from its slices across y and z and from its plane. */
TSR_HD void tsr_vox_span(const tsr_vox_grid *g, const tsr_vox_triangle *t, const double p[3][3], const tsr_vox_box *box, int32_t y, int32_t z,
                         int32_t *first, int32_t *last)
{
    const int32_t tile[3] = { box->lower[0], y, z }, edge = 1 << g->log2_edge;
    const double touch = (double)g->touch;
    double lower = -1e300, upper = 1e300, range[2];
    *first = box->lower[0];
    *last = box->upper[0];
    if (*last - *first < 2) return;
    for (int32_t k = 1; k < 3; k++) {
        double a = (double)tile[k] * edge * g->spacing[k] - touch, b = a + (edge - 1) * g->spacing[k] + 2 * touch;
        tsr_vox_clip(p, k, a, b, 0, range);
        lower = range[0] - touch > lower ? range[0] - touch : lower;
        upper = range[1] + touch < upper ? range[1] + touch : upper;
    }
    if (tsr_absf(t->w[0]) > 1e-3f) {
        double middle[3], reach = touch * 1.001 + 1e-6 * (double)t->radius, rest = 0;
        tsr_vox_middle(g, tile, middle);
        for (int32_t k = 0; k < 3; k++) {
            reach += fabs((double)t->w[k]) * 0.5 * (edge - 1) * g->spacing[k];
            rest += (double)t->w[k] * (k ? middle[k] - t->origin[k] : -t->origin[0]);
        }
        double a = (-reach - rest) / (double)t->w[0], b = (reach - rest) / (double)t->w[0], half = 0.5 * (edge - 1) * g->spacing[0];
        double low = (a < b ? a : b) - half, high = (a < b ? b : a) + half; /* middles of tiles to voxels */
        lower = low > lower ? low : lower;
        upper = high < upper ? high : upper;
    }
    if (lower > upper) {
        *last = *first - 1;
        return;
    }
    int32_t a, b;
    double least = (double)box->lower[0] * edge * g->spacing[0], most = ((double)box->upper[0] + 1) * edge * g->spacing[0];
    tsr_vox_range(g, 0, lower > least ? lower : least, upper < most ? upper : most, &a, &b);
    *first = tsr_maxi(*first, a);
    *last = tsr_mini(*last, b);
}

enum { TSR_VOX_SMALL = 32 }; /* boxes of up to so many tiles are looked through one by one, larger ones by the spans of their rows */

/* Is the box of the triangle one that is looked through tile by tile? */
TSR_HD int tsr_vox_is_small(const tsr_vox_grid *g, const double p[3][3])
{
    tsr_vox_box box;
    double tiles = 1;
    tsr_vox_bound(g, p, &box);
    for (int32_t k = 0; k < 3; k++) tiles *= (double)box.upper[k] - (double)box.lower[k] + 1.0;
    return tiles <= (double)TSR_VOX_SMALL;
}

/* Tiles that a triangle of this frame touches, of the rows of its box that are lane, lane + lanes, ...: counts them and, with `key`, writes their keys. */
TSR_HD uint32_t tsr_vox_tiles(const tsr_vox_grid *g, const tsr_vox_triangle *t, const double p[3][3], int32_t lane, int32_t lanes, uint64_t *key)
{
    tsr_vox_box box;
    uint32_t count = 0;
    tsr_vox_bound(g, p, &box);
    if (box.lower[0] > box.upper[0] || box.lower[1] > box.upper[1] || box.lower[2] > box.upper[2]) return 0;
    int64_t wide = box.upper[1] - box.lower[1] + 1, rows = wide * (box.upper[2] - box.lower[2] + 1), length = box.upper[0] - box.lower[0] + 1;
    for (int64_t row = lane; row < rows; row += lanes) {
        int32_t tile[3] = { box.lower[0], box.lower[1] + (int32_t)(row % wide), box.lower[2] + (int32_t)(row / wide) }, last = box.upper[0];
        if (rows > TSR_VOX_SMALL || rows * length > TSR_VOX_SMALL) tsr_vox_span(g, t, p, &box, tile[1], tile[2], &tile[0], &last);
        for (; tile[0] <= last; tile[0]++) {
            if (!tsr_vox_touches(g, t, tile)) continue;
            if (key) key[count] = tsr_vox_pack(g, tile[0], tile[1], tile[2]);
            count++;
        }
    }
    return count;
}

/* ---- crossings ------------------------------------------------------------------------------------------------------------------------ */

/* Is the row (y, z) left of the line from a to b, seen against x? *area: twice the area of the triangle with it. A row on the line counts as
 * moved a little along y and even less along z, so that of two triangles at an edge exactly one has it. */
TSR_HD int tsr_vox_left(const int32_t a[3], const int32_t b[3], int64_t y, int64_t z, int64_t *area)
{
    int64_t by = (int64_t)b[1] - a[1], bz = (int64_t)b[2] - a[2];
    *area = by * (z - a[2]) - bz * (y - a[1]);
    return (*area > 0) | ((*area == 0) & ((bz < 0) | ((bz == 0) & (by > 0))));
}

/* Does the row (y, z) (fixed) cross the triangle? 1 if it has all three sides on its left, -1 if on its right, 0 if not; the areas with the sides. No
 * branches: compilers make vectors of it. */
TSR_HD int32_t tsr_vox_crosses(const int32_t *a, const int32_t *b, const int32_t *c, int64_t y, int64_t z, int64_t *ea, int64_t *eb, int64_t *ec)
{
    const int32_t left = tsr_vox_left(b, c, y, z, ea) + tsr_vox_left(c, a, y, z, eb) + tsr_vox_left(a, b, y, z, ec);
    return ((*ea | *eb | *ec) != 0) * ((left == 3) - (left == 0));
}

/* The first voxel behind a crossing with these areas, from base; one that the crossing lies on is behind it, as if moved along x, more than rows are along y:
 * ranges are half-open along every axis. To the nearest fixed position: where all corners have the same x, so has the crossing. */
TSR_HD int64_t tsr_vox_behind(const tsr_vox_grid *g, const int32_t *a, const int32_t *b, const int32_t *c, int64_t ea, int64_t eb, int64_t ec)
{
    const double area = ((double)ea + (double)eb) + (double)ec;
    const double x = (((double)ea * (double)a[0] + (double)eb * (double)b[0]) + (double)ec * (double)c[0]) / area;
    return (tsr_vox_floor(x + 0.5) + ((int64_t)1 << g->fraction) - 1) >> g->fraction;
}

/* Where the row (y, z) (fixed) crosses the triangle: *voxel = first one behind, from base; returns what that adds to the winding number, or 0. */
TSR_HD int32_t tsr_vox_cross(const tsr_vox_grid *g, const int32_t *a, const int32_t *b, const int32_t *c, int64_t y, int64_t z, int64_t *voxel)
{
    int64_t ea, eb, ec;
    const int32_t side = tsr_vox_crosses(a, b, c, y, z, &ea, &eb, &ec);
    if (!side) return 0;
    *voxel = tsr_vox_behind(g, a, b, c, ea, eb, ec);
    return g->mirrored ? side : -side;
}

/* Rows and voxels of a tile (from its first one) that may meet the triangle: box->upper < box->lower where none does. */
TSR_HD int tsr_vox_meets(const tsr_vox_grid *g, const int32_t *a, const int32_t *b, const int32_t *c, const int32_t tile[3], tsr_vox_box *box)
{
    int32_t edge = 1 << g->log2_edge, one = (1 << g->fraction) - 1;
    for (int32_t k = 0; k < 3; k++) {
        int32_t lower = tsr_mini(a[k], tsr_mini(b[k], c[k])), upper = tsr_maxi(a[k], tsr_maxi(b[k], c[k]));
        int64_t first = (int64_t)tile[k] * edge - g->base[k];
        int64_t low = k ? (((int64_t)lower + one) >> g->fraction) : (lower >> g->fraction), high = (upper >> g->fraction) + (k ? 0 : 2);
        if (high < first || low >= first + edge || high < low) return 0;
        box->lower[k] = (int32_t)tsr_maxl(low - first, 0);
        box->upper[k] = (int32_t)tsr_minl(high - first, edge - 1);
    }
    return 1;
}

#endif
