/* tessera/winding.h: triangle mesh to a volume of winding numbers: how often the surface is around a voxel. 1 inside a closed mesh whose triangles face
 * outwards, 0 outside, 2 in a nested or overlapping part, -1 where the normals are inverted. Solid is > 0, empty 0, inverted < 0.
 *
 * Every triangle enters +-1 where the rows of voxels along x cross it, with exact integer predicates: a row through an edge or a corner crosses
 * one triangle of those around it; then rows are summed up. Crossings before the volume count as at its first voxel, so that any box of the lattice
 * comes out the same whether made alone or as part of a larger one, and meshes may reach outside. Positions are rounded to 2^-20 voxel, coarser only
 * for lattices of more than 340 voxels. Nothing is allocated and nothing waited for from frame to frame: for meshes that move.
 *
 * Meshes that are not closed have no winding numbers: rows that enter through a hole stay inside to their end. The report says so.
 * Class: exact, whatever the backend and the number of threads. Cost: voxels + rows that cross triangles. Source: docs/theory/voxelize.md 4. */
#ifndef TESSERA_WINDING_H
#define TESSERA_WINDING_H

#include "tessera/mesh.h"
#include "tessera/volume.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tsr_winding tsr_winding;

/* Work for meshes of up to `vertices` vertices on a lattice of `size` voxels (extents up to 2^19; axes of `geometry` must be orthogonal; NULL: unit voxels
 * from 0). Vertices may lie up to the largest extent outside. 12 bytes per vertex on the context's device. RETURNS NEW. */
TSR_API tsr_status tsr_winding_create(tsr_context *context, tsr_size3 size, const tsr_geometry *geometry, int64_t vertices, tsr_winding **winding) TSR_CHECKED;
TSR_API void tsr_winding_destroy(tsr_winding **winding);
/* Winding numbers of the box of `volume`'s size (i32, same device, any content) that begins at voxel `lower` of the lattice (NULL: 0, may be negative). BORROWS
 * the mesh, on the same device (host meshes serve CPU contexts). Sets the volume's geometry. Does not wait: vertices that are no numbers or too far
 * out, and corners out of range, make their triangles disappear; tsr_winding_check tells. TSR_ERROR_CAPACITY: more vertices than there is room for. */
TSR_API tsr_status tsr_winding_build(tsr_winding *winding, const tsr_mesh *mesh, const int64_t lower[3], tsr_volume *volume) TSR_CHECKED;

typedef struct tsr_winding_report {
    size_t struct_size;
    int64_t triangles;
    int64_t boundary_edges;    /* edges of exactly one triangle, corners at the same place being one; as tsr_mesh_measures: 0 = closed */
    int64_t boundary_loops;    /* closed curves of the edges with more triangles on one side than on the other; 0: numbers are those of a closed mesh */
    int64_t misoriented_edges; /* edges of two triangles that run the same way */
} tsr_winding_report;
#define TSR_WINDING_REPORT TSR_SIZED(tsr_winding_report)
/* How the last build went, on `mesh` as it was then: waits. TSR_ERROR_FORMAT names a vertex that is no number or the corner that is out of range,
 * TSR_ERROR_UNSUPPORTED a vertex too far outside of the lattice. `report` may be NULL. Open meshes are no error. */
TSR_API tsr_status tsr_winding_check(tsr_winding *winding, const tsr_mesh *mesh, tsr_winding_report *report) TSR_CHECKED;

typedef struct tsr_winding_options {
    size_t struct_size;
    int64_t memory_limit;    /* bytes on the context's device for volume and work; beyond it TSR_ERROR_CAPACITY. 0 = what the machine has (CPU), none
                              * (others) */
    tsr_progress progress;   /* asked between layers of about 2^22 voxels */
} tsr_winding_options;
#define TSR_WINDING_OPTIONS TSR_SIZED(tsr_winding_options)

/* The three in one, layer by layer: RETURNS NEW i32 volume of `size` voxels at `geometry`. `options` NULL: the defaults. */
TSR_API tsr_status tsr_winding_volume(tsr_context *context, const tsr_mesh *mesh, tsr_size3 size, const tsr_geometry *geometry,
                                      const tsr_winding_options *options, tsr_volume **volume, tsr_winding_report *report) TSR_CHECKED;

/* The lattice of spacing h (world units; axis-aligned, a voxel at `origin`) around a host mesh, with `margin` voxels to spare on each side.
 * TSR_ERROR_UNSUPPORTED: more than 2^19 voxels along an axis, or an origin over 2^52 voxels away, where float64 has no fractions of them. */
TSR_API tsr_status tsr_winding_lattice(const tsr_mesh *mesh, tsr_vec3 spacing, tsr_vec3 origin, int64_t margin, tsr_size3 *size,
                                       tsr_geometry *geometry) TSR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
