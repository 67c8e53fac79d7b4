/* solver/resample.h: one voxel, one neighbour entry of a list of twice or half the resolution, cell-centred (docs/theory/tiles.md 9): fine voxels
 * 2 c and 2 c + 1 share the cell of coarse voxel c. Values are in world units and do not change with the resolution. Exact class. */
#ifndef TSR_SOLVER_RESAMPLE_H
#define TSR_SOLVER_RESAMPLE_H

#include "tiles/tile_pool.h"

/* Voxel (x, y, z), each from -1 to edge, of the tile with this neighbour row. */
TSR_HD float tsr_halo_value(const tsr_tile_pool *pool, const float *phi, const uint32_t *row, int32_t x, int32_t y, int32_t z)
{
    const int32_t E = 1 << pool->log2_edge, mask = E - 1;
    const int32_t dx = x < 0 ? 0 : x >= E ? 2 : 1, dy = y < 0 ? 0 : y >= E ? 2 : 1, dz = z < 0 ? 0 : z >= E ? 2 : 1;
    return tsr_pool_value(pool, phi, ((int64_t)row[9 * dz + 3 * dy + dx] << 3 * pool->log2_edge) + (((z & mask) * E + (y & mask)) * E + (x & mask)));
}

/* Along an axis: the coarse voxel that holds the fine one, and the next on its side of the middle. */
TSR_HD float tsr_upsampled_pair(float near, float far) { return 0.75f * near + 0.25f * far; }

/* Value of fine voxel (x, y, z) of the fine tile `key` from the row of its parent. */
TSR_HD float tsr_upsampled_value(const tsr_tile_pool *from, const float *phi, const uint32_t *row, uint64_t key, const int32_t at[3], float band)
{
    const int32_t E = 1 << from->log2_edge, tile[3] = { tsr_key_x(key), tsr_key_y(key), tsr_key_z(key) };
    int32_t near[3], far[3];
    for (int32_t k = 0; k < 3; k++) {
        const int32_t fine = (tile[k] & 1) * E + at[k], origin = (tile[k] >> 1) * E;
        near[k] = fine >> 1;
        far[k] = fine & 1 ? near[k] + 1 : near[k] - 1;
        if (from->bounded) { /* beyond the domain the field is replicated */
            near[k] = tsr_mini(near[k], from->domain[k] - 1 - origin);
            far[k] = tsr_maxi(tsr_mini(far[k], from->domain[k] - 1 - origin), -origin);
        }
    }
    float plane[2];
    for (int32_t z = 0; z < 2; z++) {
        float line[2];
        for (int32_t y = 0; y < 2; y++) {
            const int32_t cy = y ? far[1] : near[1], cz = z ? far[2] : near[2];
            line[y] = tsr_upsampled_pair(tsr_halo_value(from, phi, row, near[0], cy, cz), tsr_halo_value(from, phi, row, far[0], cy, cz));
        }
        plane[z] = tsr_upsampled_pair(line[0], line[1]);
    }
    return tsr_clampf(tsr_upsampled_pair(plane[0], plane[1]), -band, band);
}

/* All 64 voxels of a fine tile of edge 4, with the same bits: the 4^3 coarse voxels it is made of, then one axis after the other. */
TSR_HD void tsr_upsampled_tile(const tsr_tile_pool *from, const float *phi, const uint32_t *row, uint64_t key, float band, float value[64])
{
    const int32_t tile[3] = { tsr_key_x(key), tsr_key_y(key), tsr_key_z(key) };
    int32_t at[3][4];
    float half[2][64]; /* after x, after y */
    for (int32_t k = 0; k < 3; k++)
        for (int32_t i = 0; i < 4; i++) {
            const int32_t origin = (tile[k] >> 1) * 4, c = (tile[k] & 1) * 2 + i - 1;
            at[k][i] = from->bounded ? tsr_maxi(tsr_mini(c, from->domain[k] - 1 - origin), -origin) : c;
        }
    for (int32_t i = 0; i < 64; i += 4) {
        float c[4];
        for (int32_t x = 0; x < 4; x++) c[x] = tsr_halo_value(from, phi, row, at[0][x], at[1][i >> 2 & 3], at[2][i >> 4]);
        for (int32_t x = 0; x < 4; x++) half[0][i + x] = tsr_upsampled_pair(c[1 + x / 2], c[x < 2 ? 2 * x : 2 * x - 3]);
    }
    for (int32_t axis = 1; axis < 3; axis++)
        for (int32_t i = 0; i < 64; i++) {
            const int32_t stride = axis == 1 ? 4 : 16, place = i / stride & 3, line = i - place * stride;
            const float v = tsr_upsampled_pair(half[axis - 1][line + (1 + place / 2) * stride],
                                               half[axis - 1][line + (place < 2 ? 2 * place : 2 * place - 3) * stride]);
            if (axis == 1) half[1][i] = v;
            else value[i] = tsr_clampf(v, -band, band);
        }
}

/* Value of coarse voxel (x, y, z) from the ids of the eight tiles under its tile (z, y, x order): the mean, saturated where all eight are. */
TSR_HD float tsr_downsampled_value(const tsr_tile_pool *from, const float *phi, const uint32_t children[8], const int32_t at[3], float band)
{
    const int32_t E = 1 << from->log2_edge;
    float sum = 0.0f;
    int32_t outside = 0, inside = 0;
    for (int32_t c = 0; c < 8; c++) {
        const int32_t x = 2 * at[0] + (c & 1), y = 2 * at[1] + (c >> 1 & 1), z = 2 * at[2] + (c >> 2);
        const uint32_t id = children[(z >= E) * 4 + (y >= E) * 2 + (x >= E)];
        const int64_t at_voxel = ((int64_t)id << 3 * from->log2_edge) + (((z & (E - 1)) * E + (y & (E - 1))) * E + (x & (E - 1)));
        const float v = tsr_pool_value(from, phi, at_voxel);
        sum = sum + v;
        outside += v >= from->band;
        inside += v <= -from->band;
    }
    return outside == 8 ? band : inside == 8 ? -band : tsr_clampf(0.125f * sum, -band, band);
}

TSR_HD uint64_t tsr_key_half(uint64_t key) { return tsr_key_make(tsr_key_x(key) >> 1, tsr_key_y(key) >> 1, tsr_key_z(key) >> 1); }
TSR_HD uint64_t tsr_key_child(uint64_t key, int32_t c)
{
    return tsr_key_make(2 * tsr_key_x(key) + (c & 1), 2 * tsr_key_y(key) + (c >> 1 & 1), 2 * tsr_key_z(key) + (c >> 2));
}

/* A fine tile's neighbour in direction d lies under this entry of its parent's row: stored if that is (all eight children are), else the same
 * constant. */
TSR_HD uint32_t tsr_upsampled_entry(const uint32_t *row, uint64_t key, int32_t d)
{
    const int32_t x = tsr_key_x(key), y = tsr_key_y(key), z = tsr_key_z(key);
    const int32_t px = ((x + tsr_direction_x(d)) >> 1) - (x >> 1), py = ((y + tsr_direction_y(d)) >> 1) - (y >> 1),
                  pz = ((z + tsr_direction_z(d)) >> 1) - (z >> 1);
    return row[TSR_TILE_MIDDLE + 9 * pz + 3 * py + px];
}
TSR_HD uint32_t tsr_resampled_constant(uint32_t id) { return id == TSR_TILE_INSIDE ? TSR_TILE_INSIDE : TSR_TILE_OUTSIDE; }

/* Neighbour entry of tile `key` of `to` in direction d: the stored tile, or the constant that the other list has there. `row`: of the parent, up
 * only. */
TSR_HD uint32_t tsr_resampled_neighbour(const tsr_tile_pool *from, const tsr_tile_pool *to, const uint32_t *row, uint64_t key, int32_t d, int up)
{
    const tsr_tile_state *f = from->state, *t = to->state;
    const uint64_t other = key + (uint64_t)tsr_key_offset(d);
    if (up) {
        const uint32_t entry = tsr_upsampled_entry(row, key, d);
        if (entry < TSR_TILE_FIRST) return tsr_resampled_constant(entry);
    }
    const int32_t at = tsr_keys_lower_bound(tsr_pool_keys(to, t->list), t->count, other);
    if (at < t->count && tsr_pool_key(to, t->list, at) == other) return to->id[t->list][at];
    /* a stored one lies beyond the domain */
    return up ? (uint32_t)TSR_TILE_OUTSIDE
              : tsr_resampled_constant(
                    tsr_tile_find(from, tsr_pool_keys(from, f->list), from->id[f->list], f->count, f->background, tsr_key_child(other, 0)));
}

#endif
