/* grid/tiles_halo.h: the halo cube of a tile on the CPU: (E+2)^3 floats, rows of E+2, voxel (x, y, z) at ((z+1) H + y+1) H + x+1. */
#ifndef TSR_GRID_TILES_HALO_H
#define TSR_GRID_TILES_HALO_H

#include <string.h>

#include "grid/tile_pool.h"

enum { TSR_CUBE_MOST = 10 * 10 * 10 + 32 }; /* room for vector loops that read past the last row */

/* The cube without regard to the domain. With a constant E every row is one vector. */
static inline __attribute__((always_inline)) void tsr_cube_rows(int32_t E, const uint32_t *row, const float *phi, float *cube)
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

/* Copies the cube; cells beyond the domain take the cell at the clamped coordinate. extent = voxels of the tile in the domain, per axis. */
static inline void tsr_cube_gather(const tsr_tile_pool *pool, const float *phi, uint64_t key, uint32_t id, float *cube, int32_t extent[3])
{
    const int32_t E = 1 << pool->log2_edge, H = E + 2;
    const uint32_t *row = pool->neighbours + (int64_t)id * TSR_NEIGHBOUR_ROW;
    if (E == 8) tsr_cube_rows(8, row, phi, cube);
    else tsr_cube_rows(4, row, phi, cube);
    extent[0] = extent[1] = extent[2] = E;
    if (!pool->bounded) return;
    const int32_t first[3] = { tsr_key_x(key) * E, tsr_key_y(key) * E, tsr_key_z(key) * E };
    int32_t low[3], high[3], touches = 0;
    for (int k = 0; k < 3; k++) {
        int32_t left = pool->domain[k] - first[k];
        extent[k] = left < E ? left : E;
        low[k] = first[k] == 0;
        high[k] = left > E ? E + 1 : extent[k];
        touches |= low[k] || high[k] <= E;
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

#endif
