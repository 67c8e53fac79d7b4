/* render/bricks.h: what is computed per brick before rays are cast: value range, visibility, distance to the next visible brick. */
#ifndef TSR_RENDER_BRICKS_H
#define TSR_RENDER_BRICKS_H

#include "grid/tile_pool.h"
#include "render/field.h"
#include "render/transfer.h"

typedef struct tsr_range { float low, high; } tsr_range;

TSR_HD tsr_range tsr_range_empty(void) { tsr_range r; r.low = TSR_FLOAT_BIG; r.high = -TSR_FLOAT_BIG; return r; }
TSR_HD tsr_range tsr_range_add(tsr_range r, float v) /* NaN changes nothing */
{
    if (v < r.low) r.low = v;
    if (v > r.high) r.high = v;
    return r;
}

enum { TSR_BRICK_SAMPLES = 9 * 9 * 9 }; /* corners of the cells of a brick */

/* Adds sample i of a brick to its range; counts the NaN voxels that no brick after it has. */
TSR_HD tsr_range tsr_range_sample(const float *values, const int32_t size[3], const int32_t bricks[3], int64_t brick, int32_t i, tsr_range r,
                                  uint32_t *nan)
{
    int32_t bx = (int32_t)(brick % bricks[0]), by = (int32_t)(brick / bricks[0] % bricks[1]),
            bz = (int32_t)(brick / ((int64_t)bricks[0] * bricks[1]));
    int32_t dx = i % 9, dy = i / 9 % 9, dz = i / 81, x = 8 * bx + dx, y = 8 * by + dy, z = 8 * bz + dz;
    if (x >= size[0] || y >= size[1] || z >= size[2]) return r;
    float v = values[((int64_t)z * size[1] + y) * size[0] + x];
    *nan += (uint32_t)(v != v && (dx < 8 || x == size[0] - 1) && (dy < 8 || y == size[1] - 1) && (dz < 8 || z == size[2] - 1));
    return tsr_range_add(r, v);
}

/* Id of the tile of a brick of the box that begins at tile `origin`. */
TSR_HD uint32_t tsr_brick_tile(const tsr_tile_pool *pool, const tsr_tile_state *state, const int32_t origin[3], const int32_t bricks[3],
                               int64_t brick)
{
    int32_t x = (int32_t)(brick % bricks[0]), y = (int32_t)(brick / bricks[0] % bricks[1]), z = (int32_t)(brick / ((int64_t)bricks[0] * bricks[1]));
    return tsr_tile_find(pool, pool->key[state->list], pool->id[state->list], state->count, state->background,
                         tsr_key_make(origin[0] + x, origin[1] + y, origin[2] + z));
}

/* What makes a brick visible. */
typedef struct tsr_brick_test {
    int32_t surface; /* 1: the field scale * v + offset changes sign; 0: the transfer function has opacity for it */
    float scale, offset;
    tsr_transfer_linear transfer;
} tsr_brick_test;

TSR_HD uint8_t tsr_brick_visible(const tsr_brick_test *test, float low, float high)
{
    float a = test->scale * low + test->offset, b = test->scale * high + test->offset;
    if (!test->surface) return (uint8_t)(low <= high && tsr_transfer_visible(&test->transfer, tsr_minf(a, b), tsr_maxf(a, b)));
    return (uint8_t)(low <= high && tsr_minf(a, b) < 0.0f && tsr_maxf(a, b) >= 0.0f);
}

/* Chebyshev distance to the nearest visible brick, one axis after the other. Pass 0 reads visibility, passes 1 and 2 the result of the pass
 * before. */
TSR_HD uint8_t tsr_brick_distance(const uint8_t *in, const int32_t bricks[3], int32_t pass, int64_t index)
{
    int32_t x = (int32_t)(index % bricks[0]), y = (int32_t)(index / bricks[0] % bricks[1]), z = (int32_t)(index / ((int64_t)bricks[0] * bricks[1]));
    int32_t at = pass == 0 ? x : pass == 1 ? y : z, count = bricks[pass], best = TSR_SKIP_MOST;
    int64_t stride = pass == 0 ? 1 : pass == 1 ? bricks[0] : (int64_t)bricks[0] * bricks[1];
    for (int32_t away = 0; away < best; away++) {
        for (int32_t side = -1; side <= 1; side += 2) {
            int32_t to = at + side * away;
            if (to < 0 || to >= count) continue;
            int32_t v = in[index + (to - at) * stride];
            v = pass == 0 ? (v ? 0 : TSR_SKIP_MOST) : v;
            best = tsr_mini(best, tsr_maxi(v, away));
        }
    }
    return (uint8_t)best;
}

/* A brick of a tile list needs a look if a voxel of its cells lies in a stored tile: its own or one of the seven next ones. */
TSR_HD uint8_t tsr_brick_stored(const uint32_t *table, const int32_t bricks[3], int64_t index)
{
    int32_t x = (int32_t)(index % bricks[0]), y = (int32_t)(index / bricks[0] % bricks[1]), z = (int32_t)(index / ((int64_t)bricks[0] * bricks[1]));
    for (int32_t i = 0; i < 8; i++) {
        int32_t a = tsr_mini(x + (i & 1), bricks[0] - 1), b = tsr_mini(y + (i >> 1 & 1), bricks[1] - 1), c = tsr_mini(z + (i >> 2), bricks[2] - 1);
        if (table[((int64_t)c * bricks[1] + b) * bricks[0] + a] >= 2u) return 1;
    }
    return 0;
}

#endif
