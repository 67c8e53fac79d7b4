/* segment/total_speed.h: the speed F = D - (1 - alpha) K that moves the surface at a voxel, for pictures: the data speed of segment/speed.h and the
 * curvature that a step finds there. docs/theory/rendering.md 7 (speed window: F or D). Exact class. */
#ifndef TSR_SEGMENT_TOTAL_SPEED_H
#define TSR_SEGMENT_TOTAL_SPEED_H

#include "tiles/tiles_sample.h"
#include "segment/speed.h"
#include "segment/update.h"

/* phi at voxel (x, y, z) and the 26 around it as a step sees them: cell (k + 1) of each axis at 9 z + 3 y + x; `row` are the neighbours of its tile. */
TSR_HD void tsr_voxel_cube(const tsr_tile_finder *f, const uint32_t *row, int32_t x, int32_t y, int32_t z, float cube[27])
{
    const int32_t e = f->pool->log2_edge, m = (1 << e) - 1, at[3] = { x, y, z };
    for (int32_t i = 0; i < 27; i++) {
        int32_t p[3] = { x + i % 3 - 1, y + i / 3 % 3 - 1, z + i / 9 - 1 }, d[3];
        for (int32_t k = 0; k < 3; k++) {
            if (f->pool->bounded) p[k] = tsr_mini(tsr_maxi(p[k], 0), f->pool->domain[k] - 1);
            d[k] = (p[k] >> e) - (at[k] >> e) + 1;
        }
        const uint32_t id = row[9 * d[2] + 3 * d[1] + d[0]];
        cube[i] = f->phi[((int64_t)id << 3 * e) + ((((p[2] & m) << e) + (p[1] & m)) << e) + (p[0] & m)];
    }
}

/* F at voxel (x, y, z) of the tile `id`: the data speed alone where no tile is stored, and where phi is cut off at the band's width nearby: there its
 * curvature is that of the cut. */
TSR_HD float tsr_total_speed_at(const tsr_speed *s, const tsr_tile_finder *f, const tsr_segment_params *k, uint32_t id, int32_t x, int32_t y,
                                int32_t z)
{
    const float speed = tsr_speed_at(s, x, y, z);
    float cube[27];
    if (id < TSR_TILE_FIRST || k->curvature == 0.0f) return speed;
    tsr_voxel_cube(f, f->pool->neighbours + (int64_t)id * TSR_NEIGHBOUR_ROW, x, y, z, cube);
    for (int32_t i = 0; i < 27; i++)
        if (!(tsr_absf(cube[i]) < k->band)) return speed;
    return tsr_total_speed(speed, tsr_limited_curvature(tsr_curvature(cube + 13, 3, 9, k->inverse_spacing), k), k);
}

#endif
