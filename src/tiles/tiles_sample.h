/* tiles/tiles_sample.h: the value of a tile list at any position: which tile, which voxels, the interpolation. */
#ifndef TSR_TILES_TILES_SAMPLE_H
#define TSR_TILES_TILES_SAMPLE_H

#include "tiles/tile_pool.h"

/* How positions become voxel indices. */
typedef struct tsr_sample_map {
    int32_t nearest, world;
    double to_index[3][4]; /* world: index = to_index (x, y, z, 1) */
} tsr_sample_map;

/* Where tiles are found: by search in the list, or through an index of blocks of 8^3 tiles (tiles_index.h). */
typedef struct tsr_tile_finder {
    const tsr_tile_pool *pool;
    const float *phi;
    tsr_keys keys;
    const uint32_t *ids;
    int32_t count, background;
    const uint32_t *block; /* NULL: search. [blocks] static id, or number of the block's cells + 2 */
    const uint32_t *cell;  /* [...][512] ids, x fastest */
    int32_t lower[3], blocks[3];
    uint32_t beyond; /* static id of everything outside the box of blocks */
} tsr_tile_finder;

TSR_HD tsr_tile_finder tsr_finder_of(const tsr_tile_pool *pool)
{
    const tsr_tile_state *s = pool->state;
    tsr_tile_finder f;
    f.pool = pool;
    f.phi = pool->phi[s->phi];
    f.keys = tsr_pool_keys(pool, s->list);
    f.ids = pool->id[s->list];
    f.count = s->count;
    f.background = s->background;
    f.block = f.cell = NULL;
    for (int32_t k = 0; k < 3; k++) f.lower[k] = f.blocks[k] = 0;
    f.beyond = 0;
    return f;
}

/* Through the index: the static id of all around, or one from TSR_TILE_FIRST on and in *cell where the id stands. Without branches: positions at random would have them
 * guessed wrong. */
TSR_HD uint32_t tsr_finder_block(const tsr_tile_finder *f, int32_t x, int32_t y, int32_t z, int64_t *cell)
{
    const int32_t bx = (x >> 3) - f->lower[0], by = (y >> 3) - f->lower[1], bz = (z >> 3) - f->lower[2];
    const int64_t in =
        -(int64_t)(((uint32_t)bx < (uint32_t)f->blocks[0]) & ((uint32_t)by < (uint32_t)f->blocks[1]) & ((uint32_t)bz < (uint32_t)f->blocks[2]));
    const uint32_t found = f->block[(((int64_t)bz * f->blocks[1] + by) * f->blocks[0] + bx) & in], b = in ? found : f->beyond;
    *cell = ((int64_t)(b - TSR_TILE_FIRST) * 512 + ((z & 7) * 8 + (y & 7)) * 8 + (x & 7)) & -(int64_t)(b >= TSR_TILE_FIRST);
    return b;
}
/* Id of the tile (stored or static) with these coordinates. */
TSR_HD uint32_t tsr_finder_id(const tsr_tile_finder *f, int32_t x, int32_t y, int32_t z)
{
    if (!f->block) return tsr_tile_find(f->pool, f->keys, f->ids, f->count, f->background, tsr_key_make(x, y, z));
    int64_t cell;
    const uint32_t b = tsr_finder_block(f, x, y, z, &cell);
    return b < TSR_TILE_FIRST ? b : f->cell[cell];
}

/* The value of a voxel; beyond a domain that of the nearest one inside. */
TSR_HD float tsr_finder_voxel(const tsr_tile_finder *f, int32_t x, int32_t y, int32_t z)
{
    const int32_t e = f->pool->log2_edge, m = (1 << e) - 1;
    if (f->pool->bounded) {
        x = tsr_mini(tsr_maxi(x, 0), f->pool->domain[0] - 1);
        y = tsr_mini(tsr_maxi(y, 0), f->pool->domain[1] - 1);
        z = tsr_mini(tsr_maxi(z, 0), f->pool->domain[2] - 1);
    }
    const uint32_t id = tsr_finder_id(f, x >> e, y >> e, z >> e);
    return f->phi[((int64_t)id << 3 * e) + ((((z & m) << e) + (y & m)) << e) + (x & m)];
}

TSR_HD float tsr_mix(float a, float b, float t) { return a + (b - a) * t; }

TSR_HD int32_t tsr_floor(float v)
{
    const int32_t i = (int32_t)v;
    return i - (v < (float)i);
}

/* v + 0.5 would be rounded. */
TSR_HD int32_t tsr_nearest(float v)
{
    const int32_t i = tsr_floor(v);
    return i + (v - (float)i >= 0.5f);
}

/* Trilinear at a position in voxel indices. */
TSR_HD float tsr_sample_index(const tsr_tile_finder *f, const float p[3])
{
    const int32_t e = f->pool->log2_edge, m = (1 << e) - 1;
    const int32_t x = tsr_floor(p[0]), y = tsr_floor(p[1]), z = tsr_floor(p[2]);
    const float tx = p[0] - (float)x, ty = p[1] - (float)y, tz = p[2] - (float)z;
    float v[8];
    int32_t inside = (x & m) < m && (y & m) < m && (z & m) < m;
    if (f->pool->bounded)
        inside = inside && x >= 0 && y >= 0 && z >= 0 && x < f->pool->domain[0] - 1 && y < f->pool->domain[1] - 1 && z < f->pool->domain[2] - 1;
    if (inside) { /* all in one tile */
        const uint32_t id = tsr_finder_id(f, x >> e, y >> e, z >> e);
        const float *at = f->phi + ((int64_t)id << 3 * e) + ((((z & m) << e) + (y & m)) << e) + (x & m);
        for (int32_t i = 0; i < 8; i++) v[i] = at[((i >> 2) << 2 * e) + ((i >> 1 & 1) << e) + (i & 1)];
    } else {
        for (int32_t i = 0; i < 8; i++) v[i] = tsr_finder_voxel(f, x + (i & 1), y + (i >> 1 & 1), z + (i >> 2));
    }
    const float near = tsr_mix(tsr_mix(v[0], v[1], tx), tsr_mix(v[2], v[3], tx), ty),
                far = tsr_mix(tsr_mix(v[4], v[5], tx), tsr_mix(v[6], v[7], tx), ty);
    return tsr_mix(near, far, tz);
}

/* The position in voxel indices; 0 if it is not finite. */
TSR_HD int tsr_sample_place(const tsr_tile_finder *f, const tsr_sample_map *map, const float position[3], float p[3])
{
    int finite = 1;
    for (int32_t k = 0; k < 3; k++) p[k] = position[k];
    if (map->world)
        for (int32_t k = 0; k < 3; k++)
            p[k] = (float)(map->to_index[k][0] * (double)position[0] + map->to_index[k][1] * (double)position[1] +
                           map->to_index[k][2] * (double)position[2] + map->to_index[k][3]);
    /* far away positions come to where there is no tile either */
    const float limit = (float)((TSR_KEY_BIAS - 4) << f->pool->log2_edge);
    for (int32_t k = 0; k < 3; k++) {
        finite &= (tsr_float_bits(p[k]) & 0x7f800000u) != 0x7f800000u;
        p[k] = finite ? tsr_clampf(p[k], -limit, limit) : 0.0f;
    }
    return finite;
}

TSR_HD float tsr_tile_sample(const tsr_tile_finder *f, const tsr_sample_map *map, const float position[3])
{
    float p[3];
    if (!tsr_sample_place(f, map, position, p)) return tsr_no_number();
    if (map->nearest) return tsr_finder_voxel(f, tsr_nearest(p[0]), tsr_nearest(p[1]), tsr_nearest(p[2]));
    return tsr_sample_index(f, p);
}

#endif
