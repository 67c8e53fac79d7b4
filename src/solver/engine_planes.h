/* solver/engine_planes.h: the neighbours of all 64 voxels of a tile of edge 4, as arrays that vector loops read at full width.
 *
 * A tile is four planes of 16 voxels, each one run of 64 bytes. The array of a direction is the tile seen one voxel further that way: whole planes
 * along z, planes whose rows come from two tiles along y, rows whose ends come from two tiles along x. So the halo never is a cube of short rows:
 * nothing but loads, shuffles and stores of planes. Only for tiles whose halo lies in the domain. */
#ifndef TSR_SOLVER_ENGINE_PLANES_H
#define TSR_SOLVER_ENGINE_PLANES_H

#include "core/simd.h"
#include "tiles/tile_pool.h"

enum { TSR_PLANE = 16, TSR_PLANES_VOXELS = 64 };

/* Plane z, from -1 to 4, of the column of tiles over the place (dx, dy) of a neighbour row. */
TSR_INLINE tsr_plane tsr_plane_at(const float *pages, const uint32_t *row, int32_t dx, int32_t dy, int32_t z)
{
    const int32_t dz = z < 0 ? -1 : z > 3 ? 1 : 0;
    return tsr_plane_load(pages + (int64_t)row[TSR_TILE_MIDDLE + 9 * dz + 3 * dy + dx] * TSR_PLANES_VOXELS + (z & 3) * TSR_PLANE);
}

/* The six neighbours: near[direction] for the directions of faces (tile_pool.h). */
TSR_INLINE void tsr_planes_faces(const float *pages, const uint32_t *row, float (*near)[TSR_PLANES_VOXELS])
{
    for (int32_t z = 0; z < 4; z++) {
        const tsr_plane own = tsr_plane_at(pages, row, 0, 0, z);
        tsr_plane_store(near[TSR_TILE_MIDDLE - 1] + z * TSR_PLANE, tsr_plane_left(tsr_plane_at(pages, row, -1, 0, z), own));
        tsr_plane_store(near[TSR_TILE_MIDDLE + 1] + z * TSR_PLANE, tsr_plane_right(own, tsr_plane_at(pages, row, 1, 0, z)));
        tsr_plane_store(near[TSR_TILE_MIDDLE - 3] + z * TSR_PLANE, tsr_plane_down(tsr_plane_at(pages, row, 0, -1, z), own));
        tsr_plane_store(near[TSR_TILE_MIDDLE + 3] + z * TSR_PLANE, tsr_plane_up(own, tsr_plane_at(pages, row, 0, 1, z)));
        tsr_plane_store(near[TSR_TILE_MIDDLE - 9] + z * TSR_PLANE, tsr_plane_at(pages, row, 0, 0, z - 1));
        tsr_plane_store(near[TSR_TILE_MIDDLE + 9] + z * TSR_PLANE, tsr_plane_at(pages, row, 0, 0, z + 1));
    }
}

/* The twelve neighbours along diagonals of faces. */
TSR_INLINE void tsr_planes_edges(const float *pages, const uint32_t *row, float (*near)[TSR_PLANES_VOXELS])
{
    for (int32_t z = -1; z < 5; z++) { /* plane z is what the voxels of planes z - 1 and z + 1 see */
        const tsr_plane own = tsr_plane_at(pages, row, 0, 0, z);
        const tsr_plane left = tsr_plane_left(tsr_plane_at(pages, row, -1, 0, z), own),
                        right = tsr_plane_right(own, tsr_plane_at(pages, row, 1, 0, z)),
                        down = tsr_plane_down(tsr_plane_at(pages, row, 0, -1, z), own), up = tsr_plane_up(own, tsr_plane_at(pages, row, 0, 1, z));
        for (int32_t side = -1; side <= 1; side += 2) { /* below the voxels of plane z + 1, above those of plane z - 1 */
            const int32_t seen_from = z - side;
            if (seen_from < 0 || seen_from > 3) continue;
            float(*beside)[TSR_PLANES_VOXELS] = near + TSR_TILE_MIDDLE + 9 * side;
            tsr_plane_store(beside[-1] + seen_from * TSR_PLANE, left);
            tsr_plane_store(beside[1] + seen_from * TSR_PLANE, right);
            tsr_plane_store(beside[-3] + seen_from * TSR_PLANE, down);
            tsr_plane_store(beside[3] + seen_from * TSR_PLANE, up);
        }
        if (z < 0 || z > 3) continue;
        const tsr_plane down_left = tsr_plane_down(tsr_plane_at(pages, row, -1, -1, z), tsr_plane_at(pages, row, -1, 0, z)),
                        down_right = tsr_plane_down(tsr_plane_at(pages, row, 1, -1, z), tsr_plane_at(pages, row, 1, 0, z)),
                        up_left = tsr_plane_up(tsr_plane_at(pages, row, -1, 0, z), tsr_plane_at(pages, row, -1, 1, z)),
                        up_right = tsr_plane_up(tsr_plane_at(pages, row, 1, 0, z), tsr_plane_at(pages, row, 1, 1, z));
        const int32_t at = z * TSR_PLANE;
        tsr_plane_store(near[TSR_TILE_MIDDLE - 4] + at, tsr_plane_left(down_left, down));
        tsr_plane_store(near[TSR_TILE_MIDDLE - 2] + at, tsr_plane_right(down, down_right));
        tsr_plane_store(near[TSR_TILE_MIDDLE + 2] + at, tsr_plane_left(up_left, up));
        tsr_plane_store(near[TSR_TILE_MIDDLE + 4] + at, tsr_plane_right(up, up_right));
    }
}

#endif
