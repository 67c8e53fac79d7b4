/* render/field.h: a scalar field as the ray caster sees it: a dense volume or a tile list, both divided into bricks, and its samples.
 *
 * Positions are in index space (voxel units, value at the integer). Local index 0 is the first voxel of the field (of the box of stored
 * tiles). Sampling clamps to [0, size - 1]. Brick b covers the cells [edge b, edge (b + 1)). */
#ifndef TSR_RENDER_FIELD_H
#define TSR_RENDER_FIELD_H

#include "render/maths.h"

enum { TSR_FIELD_NONE = 0, TSR_FIELD_DENSE, TSR_FIELD_TILES, TSR_FIELD_MESH };
enum { TSR_BRICK_LOG2 = 3, TSR_SKIP_MOST = 15 };

typedef struct tsr_field {
    int32_t kind;
    int32_t size[3]; /* samples */
    int32_t bricks[3];
    int32_t log2_edge;      /* of a brick: 3 for dense volumes, the tile's for tile lists */
    float from_world[3][4]; /* frame position -> index */
    float scale, offset;    /* field = scale * value + offset; a surface is where it is 0, negative inside */
    float spacing;          /* smallest, world units */
    int32_t closed;         /* dense, of a surface on the CPU: no voxel in the bricks at the box's faces is inside, by more than rounding */
    const float *values;    /* dense: [z][y][x]; tiles: pool of [id][edge^3] */
    const uint32_t *table;  /* tiles: [bricks] id of the tile, static ids included */
    const float *range;     /* dense: [bricks][2] least and largest value of the brick's cells */
    const float *slope;     /* dense: [bricks] bound of the gradient's length in the world; NULL: not known */
    const float *coarse;    /* dense, of a MIP on the CPU: largest value of 8 x 8 x 8 bricks; else NULL */
    const uint64_t *cells;  /* dense, of a surface on the CPU: [bricks] bit (z, y, x) of 4^3 = the field changes sign in that block of 2^3 cells */
    const uint8_t *skip;    /* [bricks] 0 = look inside, d > 0 = no brick nearer than d (Chebyshev) needs a look */
} tsr_field;

TSR_HD tsr_float3 tsr_field_point(const tsr_field *f, tsr_float3 p)
{
    return tsr_f3(f->from_world[0][0] * p.x + f->from_world[0][1] * p.y + f->from_world[0][2] * p.z + f->from_world[0][3],
                  f->from_world[1][0] * p.x + f->from_world[1][1] * p.y + f->from_world[1][2] * p.z + f->from_world[1][3],
                  f->from_world[2][0] * p.x + f->from_world[2][1] * p.y + f->from_world[2][2] * p.z + f->from_world[2][3]);
}
TSR_HD tsr_float3 tsr_field_direction(const tsr_field *f, tsr_float3 d)
{
    return tsr_f3(f->from_world[0][0] * d.x + f->from_world[0][1] * d.y + f->from_world[0][2] * d.z,
                  f->from_world[1][0] * d.x + f->from_world[1][1] * d.y + f->from_world[1][2] * d.z,
                  f->from_world[2][0] * d.x + f->from_world[2][1] * d.y + f->from_world[2][2] * d.z);
}
/* Index-space gradient -> world-space gradient (transposed matrix). */
TSR_HD tsr_float3 tsr_field_covector(const tsr_field *f, tsr_float3 g)
{
    return tsr_f3(f->from_world[0][0] * g.x + f->from_world[1][0] * g.y + f->from_world[2][0] * g.z,
                  f->from_world[0][1] * g.x + f->from_world[1][1] * g.y + f->from_world[2][1] * g.z,
                  f->from_world[0][2] * g.x + f->from_world[1][2] * g.y + f->from_world[2][2] * g.z);
}

/* Is p inside the box of samples? `margin` in voxels widens it. */
TSR_HD int tsr_field_contains(const tsr_field *f, tsr_float3 p, float margin)
{
    return p.x >= -margin && p.y >= -margin && p.z >= -margin && p.x <= (float)(f->size[0] - 1) + margin && p.y <= (float)(f->size[1] - 1) + margin &&
           p.z <= (float)(f->size[2] - 1) + margin;
}

/* Cell and fraction of one coordinate. */
TSR_HD void tsr_cell(float p, int32_t size, int32_t *cell, float *fraction)
{
    float most = (float)(size - 1);
    p = p > 0.0f ? (p < most ? p : most) : 0.0f; /* NaN becomes 0 */
    int32_t i = tsr_mini((int32_t)p, tsr_maxi(size - 2, 0));
    *cell = i;
    *fraction = p - (float)i;
}

TSR_HD float tsr_trilinear(const float c[8], float fx, float fy, float fz)
{
    float x00 = c[0] + fx * (c[1] - c[0]), x10 = c[2] + fx * (c[3] - c[2]), x01 = c[4] + fx * (c[5] - c[4]), x11 = c[6] + fx * (c[7] - c[6]);
    float y0 = x00 + fy * (x10 - x00), y1 = x01 + fy * (x11 - x01);
    return y0 + fz * (y1 - y0);
}

TSR_HD float tsr_tile_value(const tsr_field *f, int32_t x, int32_t y, int32_t z)
{
    int32_t log2_edge = f->log2_edge, mask = (1 << log2_edge) - 1;
    int64_t tile = ((int64_t)(z >> log2_edge) * f->bricks[1] + (y >> log2_edge)) * f->bricks[0] + (x >> log2_edge);
    int64_t in = (((int64_t)(z & mask) << log2_edge | (y & mask)) << log2_edge) | (x & mask);
    return f->values[((int64_t)f->table[tile] << (3 * log2_edge)) + in];
}

/* Value of one voxel, coordinates in range. */
TSR_HD float tsr_field_voxel(const tsr_field *f, int32_t x, int32_t y, int32_t z)
{
    if (f->kind == TSR_FIELD_TILES) return tsr_tile_value(f, x, y, z);
    return f->values[((int64_t)z * f->size[1] + y) * f->size[0] + x];
}

/* Trilinear value at an index position. */
TSR_HD float tsr_field_value(const tsr_field *f, tsr_float3 p)
{
    int32_t x, y, z;
    float fx, fy, fz, c[8];
    tsr_cell(p.x, f->size[0], &x, &fx);
    tsr_cell(p.y, f->size[1], &y, &fy);
    tsr_cell(p.z, f->size[2], &z, &fz);
    int32_t mask = (1 << f->log2_edge) - 1;
    if (f->kind == TSR_FIELD_TILES && (((x & mask) == mask) | ((y & mask) == mask) | ((z & mask) == mask))) {
        for (int32_t i = 0; i < 8; i++)
            c[i] = tsr_tile_value(f, tsr_mini(x + (i & 1), f->size[0] - 1), tsr_mini(y + (i >> 1 & 1), f->size[1] - 1),
                                  tsr_mini(z + (i >> 2), f->size[2] - 1));
        return tsr_trilinear(c, fx, fy, fz);
    }
    const float *v;
    int64_t dx, dy, dz;
    if (f->kind == TSR_FIELD_TILES) {
        int64_t tile = ((int64_t)(z >> f->log2_edge) * f->bricks[1] + (y >> f->log2_edge)) * f->bricks[0] + (x >> f->log2_edge);
        int32_t in = (((z & mask) << f->log2_edge | (y & mask)) << f->log2_edge) | (x & mask);
        v = f->values + ((int64_t)f->table[tile] << (3 * f->log2_edge)) + in;
        dx = 1;
        dy = (int64_t)1 << f->log2_edge;
        dz = (int64_t)1 << (2 * f->log2_edge);
    } else {
        v = f->values + (((int64_t)z * f->size[1] + y) * f->size[0] + x);
        dx = f->size[0] > 1;
        dy = f->size[1] > 1 ? f->size[0] : 0;
        dz = f->size[2] > 1 ? (int64_t)f->size[0] * f->size[1] : 0;
    }
    c[0] = v[0];
    c[1] = v[dx];
    c[2] = v[dy];
    c[3] = v[dy + dx];
    c[4] = v[dz];
    c[5] = v[dz + dx];
    c[6] = v[dz + dy];
    c[7] = v[dz + dy + dx];
    return tsr_trilinear(c, fx, fy, fz);
}
TSR_HD float tsr_field_nearest(const tsr_field *f, tsr_float3 p)
{
    return tsr_field_voxel(f, tsr_maxi(0, tsr_mini(f->size[0] - 1, tsr_floor_int(p.x + 0.5f))),
                           tsr_maxi(0, tsr_mini(f->size[1] - 1, tsr_floor_int(p.y + 0.5f))),
                           tsr_maxi(0, tsr_mini(f->size[2] - 1, tsr_floor_int(p.z + 0.5f))));
}

/* Signed field (negative inside a surface). */
TSR_HD float tsr_field_phi(const tsr_field *f, tsr_float3 p) { return f->scale * tsr_field_value(f, p) + f->offset; }

/* World-space gradient of the value by central differences of trilinear samples, one voxel to each side; at the box's faces one-sided. */
TSR_HD tsr_float3 tsr_field_gradient(const tsr_field *f, tsr_float3 p)
{
    float g[3];
    for (int32_t k = 0; k < 3; k++) {
        float at = tsr_get3(p, k), most = (float)(f->size[k] - 1);
        float low = tsr_maxf(at - 1.0f, 0.0f), high = tsr_minf(at + 1.0f, most);
        tsr_float3 a = p, b = p;
        if (k == 0) {
            a.x = low;
            b.x = high;
        } else if (k == 1) {
            a.y = low;
            b.y = high;
        } else {
            a.z = low;
            b.z = high;
        }
        g[k] = high > low ? (tsr_field_value(f, b) - tsr_field_value(f, a)) / (high - low) : 0.0f;
    }
    return tsr_field_covector(f, tsr_f3(g[0], g[1], g[2]));
}

/* ---- walking along a ray -------------------------------------------------------------------------------------------------------- */

typedef struct tsr_ray {
    tsr_float3 o, d;
} tsr_ray;

/* Cuts [*t0, *t1] by the box of samples; *axis = axis (1 to 3, sign of the outward face normal) of the face it entered by, or 0. Returns 0 if
 * nothing is left. */
TSR_HD int tsr_field_clip(const tsr_field *f, const tsr_ray *r, float *t0, float *t1, int32_t *axis)
{
    int hit = 1;
    *axis = 0;
    for (int32_t k = 0; k < 3; k++) { /* without branches, so that loops over rays become vector code */
        const float o = tsr_get3(r->o, k), d = tsr_get3(r->d, k), most = (float)(f->size[k] - 1), inverse = 1.0f / d;
        const int along = tsr_absf(d) < 1.0e-12f;
        const float a = (0.0f - o) * inverse, b = (most - o) * inverse;
        const float low = along ? -TSR_FLOAT_BIG : tsr_minf(a, b), high = along ? TSR_FLOAT_BIG : tsr_maxf(a, b);
        hit &= (along == 0) | ((o >= 0.0f) & (o <= most));
        *axis = low > *t0 ? (d > 0.0f ? -(k + 1) : k + 1) : *axis;
        *t0 = low > *t0 ? low : *t0;
        *t1 = high < *t1 ? high : *t1;
    }
    return hit & (*t0 < *t1);
}

/* Where the ray leaves the box of bricks around index position p that the skip value s allows (s = 0: the brick of p alone). */
TSR_HD float tsr_field_exit(const tsr_field *f, const tsr_ray *r, const int32_t brick[3], int32_t s)
{
    float t = TSR_FLOAT_BIG;
    int32_t edge = 1 << f->log2_edge, radius = s > 0 ? s - 1 : 0;
    for (int32_t k = 0; k < 3; k++) {
        float d = tsr_get3(r->d, k);
        if (tsr_absf(d) < 1.0e-12f) continue;
        float face = d > 0.0f ? (float)((brick[k] + radius + 1) * edge) : (float)((brick[k] - radius) * edge);
        t = tsr_minf(t, (face - tsr_get3(r->o, k)) / d);
    }
    return t;
}
TSR_HD int64_t tsr_field_brick(const tsr_field *f, tsr_float3 p, int32_t brick[3])
{
    float scale = 1.0f / (float)(1 << f->log2_edge);
    brick[0] = tsr_maxi(0, tsr_mini(f->bricks[0] - 1, (int32_t)(p.x * scale)));
    brick[1] = tsr_maxi(0, tsr_mini(f->bricks[1] - 1, (int32_t)(p.y * scale)));
    brick[2] = tsr_maxi(0, tsr_mini(f->bricks[2] - 1, (int32_t)(p.z * scale)));
    return ((int64_t)brick[2] * f->bricks[1] + brick[1]) * f->bricks[0] + brick[0];
}

#endif
