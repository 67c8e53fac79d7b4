/* tessera/triangle_tree.h: octrees of the triangles of a mesh themselves, refined where triangles crowd: top down, each level made of the one above. Cells with more
 * triangles than wanted are split, down to the voxels of a lattice; what no triangle comes near is never looked at. So the lattice may be far finer
 * than any volume that fits in memory, and an octree answers which triangles may be met where (points, rays: tessera/region_tree.h).
 *
 * A triangle belongs to every cell that it overlaps or touches (exact separating axes in float64; cells are larger by 2^-24 voxel on every side, so
 * that rounding loses none). Triangles that share an edge or a corner touch the same voxels however small these are: a leaf may
 * hold more than `most`, but then it is a voxel. Open meshes, and those that cut themselves, are as good as any.
 *
 * Pairs of a cell and a triangle are expanded by a HistoPyramid level by level, sorted, and counted. Class: exact, the same on every backend and number of
 * threads. Cost: pairs x levels. Source: docs/theory/regions.md 9 ([Ziegler10 9.8.6], sub-OcPyramids on demand), [Ziegler10 6.8.1] (Dicer); separating axes after
 * Akenine-Moeller, Fast 3D triangle-box overlap testing, J. Graphics Tools 6 (2001). */
#ifndef TESSERA_TRIANGLE_TREE_H
#define TESSERA_TRIANGLE_TREE_H

#include "tessera/points.h"
#include "tessera/region_tree.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tsr_triangle_tree_options {
    size_t struct_size;
    int32_t most;          /* triangles that a leaf may hold without being split, up to 64; 0 = 1 */
    int voxels;            /* != 0: everything is split down to voxels: the surface voxels of the mesh */
    int centres;           /* != 0 (with voxels): only voxels whose centre line along z meets a triangle within the voxel, as rendering slice by slice finds them:
                            * triangles seen edge-on are missed */
    tsr_progress progress; /* asked once per level */
} tsr_triangle_tree_options;
#define TSR_TRIANGLE_TREE_OPTIONS TSR_SIZED(tsr_triangle_tree_options)

/* The triangles of every leaf, ascending: triangles[starts[leaf]] up to starts[leaf + 1]. Memory of the context's device. */
typedef struct tsr_triangle_lists {
    tsr_context *context;
    int64_t leaves, pairs;
    uint64_t *starts;      /* [leaves + 1] */
    uint32_t *triangles;   /* [pairs] */
} tsr_triangle_lists;
TSR_API void tsr_triangle_lists_destroy(tsr_triangle_lists *lists);

/* Octree over a lattice of `size` voxels (extents up to 2^19; tsr_winding_lattice makes one of a spacing; voxel i covers i - 1/2 to i + 1/2 of `geometry`, NULL: unit
 * voxels). BORROWS the mesh, on the context's device (host meshes serve CPU contexts); parts of it outside of the lattice are left out. Leaves lie within
 * the lattice. `lists` may be NULL; destroy them also after a failure (they are empty then). Waits several times. RETURNS NEW, on the context's device.
 * TSR_ERROR_FORMAT names a triangle with a corner out of range or a position that is no number; TSR_ERROR_CAPACITY: 2^31 pairs or more;
 * TSR_ERROR_CANCELLED, TSR_ERROR_MEMORY. */
TSR_API tsr_status tsr_region_tree_from_triangles(tsr_context *context, const tsr_mesh *mesh, tsr_size3 size, const tsr_geometry *geometry,
                                                  const tsr_triangle_tree_options *options, tsr_region_tree **tree, tsr_triangle_lists *lists) TSR_CHECKED;

/* The surface voxels of a mesh as a cloud: a point at the centre of each, in Morton order: no place of the surface is further than half the diagonal of a voxel
 * from a point, whatever the triangles are like. `normals` != 0: the mean of the unit normals of the triangles of the voxel. `options` as above (voxels is
 * implied). RETURNS NEW, on the context's device. */
TSR_API tsr_status tsr_points_from_surface(tsr_context *context, const tsr_mesh *mesh, tsr_size3 size, const tsr_geometry *geometry,
                                           const tsr_triangle_tree_options *options, int normals, tsr_points **points) TSR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
