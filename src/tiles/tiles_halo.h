/* tiles/tiles_halo.h: the halo cube of a tile on the CPU: (E+2)^3 floats, rows of E+2, voxel (x, y, z) at ((z+1) H + y+1) H + x+1. */
#ifndef TSR_TILES_TILES_HALO_H
#define TSR_TILES_TILES_HALO_H

#include <string.h>

#include "tiles/tile_pool.h"

enum { TSR_CUBE_MOST = 10 * 10 * 10 + 32 }; /* room for vector loops that read past the last row */

/* The cube without regard to the domain. With a constant E every row is one vector. */
TSR_INLINE void tsr_cube_rows(int32_t E, const uint32_t *row, const float *phi, float *cube)
{
    const int32_t H = E + 2, V = E * E * E;
    for (int32_t z = 0; z < H; z++) {
        int32_t dz = z == 0 ? 0 : z == H - 1 ? 2 : 1, sz = (z + E - 1) & (E - 1);
        for (int32_t y = 0; y < H; y++) {
            int32_t dy = y == 0 ? 0 : y == H - 1 ? 2 : 1, sy = (y + E - 1) & (E - 1), line = (sz * E + sy) * E;
            const uint32_t *three = row + 9 * dz + 3 * dy;
            float *to = cube + (z * H + y) * H;
            to[0] = phi[(int64_t)three[0] * V + line + E - 1];
            memcpy(to + 1, phi + (int64_t)three[1] * V + line, (size_t)E * sizeof *to);
            to[H - 1] = phi[(int64_t)three[2] * V + line];
        }
    }
}

/* Cells beyond the domain take the cell at the clamped coordinate; the halo is `radius` wide. Sets the voxels of the tile in the domain. */
static inline void tsr_cube_domain(const tsr_tile_pool *pool, uint64_t key, int32_t radius, float *cube, int32_t extent[3])
{
    const int32_t E = 1 << pool->log2_edge, H = E + 2 * radius;
    extent[0] = extent[1] = extent[2] = E;
    if (!pool->bounded) return;
    const int32_t first[3] = { tsr_key_x(key) * E, tsr_key_y(key) * E, tsr_key_z(key) * E };
    int32_t low[3], high[3], touches = 0;
    for (int k = 0; k < 3; k++) {
        int32_t left = pool->domain[k] - first[k];
        extent[k] = left < E ? left : E;
        low[k] = tsr_maxi(radius - first[k], 0);
        high[k] = tsr_mini(left - 1 + radius, H - 1);
        touches |= low[k] > 0 || high[k] < H - 1;
    }
    if (!touches) return;
    for (int32_t z = 0; z < H; z++)
        for (int32_t y = 0; y < H; y++)
            for (int32_t x = 0; x < H; x++) {
                int32_t cx = tsr_mini(tsr_maxi(x, low[0]), high[0]), cy = tsr_mini(tsr_maxi(y, low[1]), high[1]), cz = tsr_mini(tsr_maxi(z, low[2]), high[2]);
                int32_t from = (cz * H + cy) * H + cx, to = (z * H + y) * H + x;
                if (from != to) cube[to] = cube[from];
            }
}

/* Does the halo of this width lie in the domain, so that nothing is clamped? */
static inline int tsr_halo_clear(const tsr_tile_pool *pool, uint64_t key, int32_t radius)
{
    const int32_t E = 1 << pool->log2_edge, first[3] = { tsr_key_x(key) * E, tsr_key_y(key) * E, tsr_key_z(key) * E };
    for (int k = 0; k < 3 && pool->bounded; k++)
        if (first[k] < radius || first[k] > pool->domain[k] - E - radius) return 0;
    return 1;
}

/* Copies the cube; cells beyond the domain take the cell at the clamped coordinate. extent = voxels of the tile in the domain, per axis. */
static inline void tsr_cube_gather(const tsr_tile_pool *pool, const float *phi, uint64_t key, uint32_t id, float *cube, int32_t extent[3])
{
    const uint32_t *row = pool->neighbours + (int64_t)id * TSR_NEIGHBOUR_ROW;
    if (pool->log2_edge == 3) tsr_cube_rows(8, row, phi, cube);
    else tsr_cube_rows(4, row, phi, cube);
    tsr_cube_domain(pool, key, 1, cube, extent);
}

/* ---- the cross of three voxels ------------------------------------------------------------------------------------------------------------- */

enum { TSR_CROSS_RADIUS = 3, TSR_CROSS_MOST = 14 * 14 * 14 + 32 };

/* One row of E own voxels and `ends` voxels of the neighbours on both sides. */
TSR_INLINE void tsr_cross_row(int32_t E, const uint32_t *three, const float *phi, int32_t line, int32_t ends, float *to)
{
    const int32_t V = E * E * E;
    memcpy(to, phi + (int64_t)three[1] * V + line, (size_t)E * sizeof *to);
    for (int32_t i = 1; i <= ends; i++) {
        to[-i] = phi[(int64_t)three[0] * V + line + E - i];
        to[E - 1 + i] = phi[(int64_t)three[2] * V + line + i - 1];
    }
}

TSR_INLINE void tsr_cross_rows(int32_t E, const uint32_t *row, const float *phi, float *cube)
{
    enum { R = TSR_CROSS_RADIUS };
    const int32_t H = E + 2 * R;
    for (int32_t z = -R; z < E + R; z++) {
        const int32_t dz = z < 0 ? 0 : z >= E ? 2 : 1, deep_z = z < -1 || z > E;
        for (int32_t y = -R; y < E + R; y++) {
            const int32_t dy = y < 0 ? 0 : y >= E ? 2 : 1, deep_y = y < -1 || y > E;
            if (dz != 1 && dy != 1 && (deep_z || deep_y)) continue;
            const int32_t ends = dz == 1 && dy == 1 ? R : (dz != 1 && dy != 1) || deep_z || deep_y ? 0 : 1;
            tsr_cross_row(E, row + 9 * dz + 3 * dy, phi, ((z & (E - 1)) * E + (y & (E - 1))) * E, ends, cube + ((z + R) * H + y + R) * H + R);
        }
    }
}

/* What stencils of radius 3 along the axes and of radius 1 along face diagonals read: cells of a cube of (E+6)^3 floats, voxel (x, y, z) at
 * ((z+3) H + y+3) H + x+3 with H = E+6; other cells of the cube are not touched. Cells beyond the domain as in tsr_cube_gather. */
static inline void tsr_cross_gather(const tsr_tile_pool *pool, const float *phi, uint64_t key, uint32_t id, float *cube, int32_t extent[3])
{
    const uint32_t *row = pool->neighbours + (int64_t)id * TSR_NEIGHBOUR_ROW;
    if (pool->log2_edge == 3) tsr_cross_rows(8, row, phi, cube);
    else tsr_cross_rows(4, row, phi, cube);
    tsr_cube_domain(pool, key, TSR_CROSS_RADIUS, cube, extent);
}

#endif
