/* reconstruct/sample.h: the field of a tile list at a point; tiles round a leaf. */
#ifndef TSR_RECONSTRUCT_SAMPLE_H
#define TSR_RECONSTRUCT_SAMPLE_H

#include "tiles/tile_pool.h"
#include "reconstruct/potential_ops.h"

/* Id of the tile of the voxel, starting from a stored or static tile of `home`. */
TSR_HD uint32_t tsr_sample_tile(const tsr_tile_pool *pool, const tsr_tile_state *state, uint64_t home, uint32_t id, uint64_t key)
{
    if (key == home) return id;
    if (id >= TSR_TILE_FIRST) { /* one tile away at most */
        int32_t direction =
            9 * (tsr_key_z(key) - tsr_key_z(home) + 1) + 3 * (tsr_key_y(key) - tsr_key_y(home) + 1) + tsr_key_x(key) - tsr_key_x(home) + 1;
        return pool->neighbours[(int64_t)id * TSR_NEIGHBOUR_ROW + direction];
    }
    return tsr_tile_find(pool, tsr_pool_keys(pool, state->list), pool->id[state->list], state->count, state->background, key);
}

/* |phi| (phi if the job wants the sign) at point i, trilinear between voxel centres; beyond the outermost centres the field is replicated (docs/theory/reconstruction.md 7). */
TSR_HD float tsr_sample_point(const tsr_tile_pool *pool, const tsr_sample_job *job, int64_t i)
{
    const tsr_tile_state *state = pool->state;
    const float *phi = pool->phi[state->phi];
    const int32_t shift = TSR_FIXED_BITS - job->level, last = (int32_t)((1u << job->level) - 1u), log2_edge = pool->log2_edge,
                  mask = (1 << log2_edge) - 1;
    int32_t low[3], high[3];
    float t[3];
    for (int k = 0; k < 3; k++) {
        int64_t u = (int64_t)job->fixed[k][i] - ((int64_t)1 << (shift - 1)); /* voxel centres lie at halves */
        int32_t base = (int32_t)(u >> shift);
        t[k] = (float)(uint32_t)(u & (((int64_t)1 << shift) - 1)) / (float)((int64_t)1 << shift);
        low[k] = tsr_maxi(base, 0);
        high[k] = tsr_mini(base + 1, last);
    }
    const uint64_t home = tsr_key_make(low[0] >> log2_edge, low[1] >> log2_edge, low[2] >> log2_edge);
    const uint32_t id = tsr_tile_find(pool, tsr_pool_keys(pool, state->list), pool->id[state->list], state->count, state->background, home);
    float v[8];
    for (int c = 0; c < 8; c++) {
        int32_t x = c & 1 ? high[0] : low[0], y = c & 2 ? high[1] : low[1], z = c & 4 ? high[2] : low[2];
        uint32_t at = tsr_sample_tile(pool, state, home, id, tsr_key_make(x >> log2_edge, y >> log2_edge, z >> log2_edge));
        v[c] = tsr_pool_value(pool, phi, ((int64_t)at << (3 * log2_edge)) + ((((z & mask) << log2_edge) + (y & mask)) << log2_edge) + (x & mask));
    }
    for (int c = 0; c < 4; c++) v[c] = v[2 * c] + t[0] * (v[2 * c + 1] - v[2 * c]);
    for (int c = 0; c < 2; c++) v[c] = v[2 * c] + t[1] * (v[2 * c + 1] - v[2 * c]);
    const float value = v[0] + t[2] * (v[1] - v[0]);
    return job->with_sign ? value : tsr_absf(value);
}

/* Is key i the first of a sorted list whose value without the lowest `shift` bits is its own? Not for TSR_KEY_END. */
TSR_HD int tsr_key_first(const uint64_t *sorted, int64_t i, int32_t shift)
{
    return sorted[i] != TSR_KEY_END && (i == 0 || sorted[i] >> shift != sorted[i - 1] >> shift);
}

TSR_HD int64_t tsr_tiles_round_count(int32_t reach) { return (int64_t)(2 * reach + 1) * (2 * reach + 1) * (2 * reach + 1); }

/* Tile `which` of those round the cell of depth `depth` that holds leaf i. */
TSR_HD uint64_t tsr_tile_round(const tsr_tree_build *b, int64_t i, int32_t depth, int32_t reach, int32_t which)
{
    const int32_t wide = 2 * reach + 1, cells = 1 << depth, shift = TSR_FIXED_BITS - depth;
    const int64_t point = b->start[i];
    int32_t x = (int32_t)(b->fixed[0][point] >> shift) + which % wide - reach,
            y = (int32_t)(b->fixed[1][point] >> shift) + which / wide % wide - reach,
            z = (int32_t)(b->fixed[2][point] >> shift) + which / wide / wide - reach;
    return x < 0 || y < 0 || z < 0 || x >= cells || y >= cells || z >= cells ? TSR_KEY_END : tsr_key_make(x, y, z);
}

#endif
