/* tessera/voxelize.h: triangle mesh to level set: straight into a sorted tile list (narrow band, unbounded), or into a dense volume.
 *
 * Magnitude: the exact distance of the voxel to the nearest triangle, in world units, clamped to the band; spacings may differ per axis.
 * Sign: the winding number w of the surface around the voxel (w grows by 1 where a ray enters through the front of a triangle) and a rule.
 * Where every edge has as many triangles on one side as on the other (closed meshes: nested, overlapping, inverted and non-manifold ones
 * too) w is an integer, counted along the rows of voxels with exact integer predicates, so that no ray slips through an edge or a corner.
 * Where that is not so, the first of these that helps (report->signs says which):
 *   - Triangles that are there twice count once. Triangles are turned so that neighbours across edges of two agree: a piece faces the side that two
 *     thirds of its area face; where fewer agree, outwards, within an odd number of other pieces inwards. w is an integer then, if no edge is open.
 *   - If every edge has an even number of triangles: inside is what lies behind an odd number of triangles, for every rule.
 *   - Open meshes have the generalised winding number, rounded to the nearest integer: the same count plus the part of the sphere that the
 *     boundary curves cut out, summed over a tree of the boundary edges. Within 1/128 of a half it is rounded towards 0, so that sheets
 *     enclose nothing, but away from 0 where no edge has a single triangle, so that walls within a body are part of it.
 * A sample on the surface is on the side of one that is moved by next to nothing along x, by less along y and by even less along z: a box from 0 to
 * 10 has the samples 0 to 9. Inside its value is then the least negative number, outside 0.
 * Corners at the same place are one corner, whatever their indices.
 * Positions are rounded for the sign (not for the distance) to 2^-20 voxel, coarser only for meshes of more than 2^10 voxels.
 *
 * Class: exact: the same bits on every backend and thread count. Cost: linear in triangles + touched tiles (open meshes: times the
 * logarithm of the boundary edges).
 * Source: docs/theory/voxelize.md; solid angles after Van Oosterom and Strackee 1983, generalised winding number after
 * Jacobson et al. 2013, by crossings and boundary after Martens and Bessmeltsev 2024. */
#ifndef TESSERA_VOXELIZE_H
#define TESSERA_VOXELIZE_H

#include "tessera/mesh.h"
#include "tessera/tiles.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tsr_voxelize_rule {
    TSR_VOXELIZE_NONZERO = 0, /* inside: w != 0. Overlapping and nested parts unite, inverted ones count too */
    TSR_VOXELIZE_EVEN_ODD,    /* inside: w odd. Nested parts are holes whatever their orientation */
    TSR_VOXELIZE_POSITIVE,    /* inside: w > 0. Triangles must face outwards; inverted nested parts are holes */
    TSR_VOXELIZE_SHELL        /* no inside: a sheet of `thickness` around the triangles (field = distance - thickness / 2) */
} tsr_voxelize_rule;

/* What told inside from outside: the first of these that a mesh allows. */
typedef enum tsr_voxelize_signs {
    TSR_VOXELIZE_SIGNS_CONSISTENT = 0, /* every edge has as many triangles on one side as on the other: winding numbers are integers */
    TSR_VOXELIZE_SIGNS_TURNED,         /* so it is after triangles were turned */
    TSR_VOXELIZE_SIGNS_CROSSINGS,      /* every edge has an even number of triangles: inside lies behind an odd number of them, whatever the rule */
    TSR_VOXELIZE_SIGNS_WINDING         /* open: the generalised winding number, after triangles were turned, rounded */
} tsr_voxelize_signs;

typedef struct tsr_voxelize_options {
    size_t struct_size;
    tsr_vec3 spacing;             /* world units per voxel along x, y, z; positive. Required unless `geometry` is given */
    tsr_vec3 origin;              /* world position of voxel (0, 0, 0) */
    const tsr_geometry *geometry; /* BORROWS; replaces spacing and origin: any orthogonal axes. NULL: axis-aligned, the space of the mesh */
    double band;                  /* half width in world units, inside and outside; 0 = 3 voxels, see band.h */
    int32_t edge;                 /* voxels per tile edge: 4 or 8; 0 = 8 */
    tsr_voxelize_rule rule;
    double thickness;             /* of SHELL, world units; 0 = 2 voxels of the largest spacing */
    int64_t memory_limit;         /* bytes of device memory for the work and the list; beyond it TSR_ERROR_CAPACITY. 0 = none */
    tsr_size3 size;               /* tsr_volume_from_mesh only: extents of the volume; zero = the mesh with its band */
    tsr_progress progress;
} tsr_voxelize_options;
#define TSR_VOXELIZE_OPTIONS TSR_SIZED(tsr_voxelize_options)

typedef struct tsr_voxelize_report {
    size_t struct_size;
    int64_t triangles;            /* of the mesh */
    int64_t degenerate_triangles; /* without area: they count for the distance as the line or point they are */
    int64_t boundary_edges;       /* edges of exactly one triangle, corners at the same place being one; as tsr_mesh_measures */
    int64_t boundary_loops;       /* closed curves of the edges with more triangles on one side than on the other, after turning; 0 = closed */
    int64_t pairs;                /* (tile, triangle) pairs that were looked at */
    int64_t tiles;                /* tiles stored */
    int64_t work_bytes;           /* device memory used beside mesh and list, at most at once; released on return */
    tsr_voxelize_signs signs;     /* what told inside from outside */
    int64_t misoriented_edges;    /* edges of two triangles that run the same way */
    int64_t nonmanifold_edges;    /* edges of more than two triangles; not counted where signs are CONSISTENT */
    int64_t turned_triangles;     /* turned round for the signs; the mesh stays as it is */
    double closing;               /* open meshes: the part of the surface round the inside in which no triangle lies, what closes holes: 0 to 1, and 1 if nothing
                                   * is inside. A body with holes has little of it, a sheet half. 0 where signs are not WINDING */
} tsr_voxelize_report;
#define TSR_VOXELIZE_REPORT TSR_SIZED(tsr_voxelize_report)

/* Makes a sorted unbounded list (space NONE unless the mesh or the geometry says otherwise) of the mesh, which must lie on the context's
 * device (host meshes serve CPU contexts). BORROWS the mesh. `report` may be NULL. Waits for the queue several times (counts decide sizes);
 * the boundary of an open mesh is sorted out on the host.
 * A mesh with an origin of its own (tsr_mesh_origin) lies at its place in the world: options->origin or geometry near it keep the coordinates of tiles small.
 * An open mesh is no error: look at report->boundary_edges and report->closing. Where a hole is wider than the band, the field jumps from -band to +band
 * across it: tiles are stored there, and redistancing makes the jump smooth.
 * TSR_ERROR_ARGUMENT: spacing, band, edge, rule or thickness out of range, mesh without triangles or on another
 * device; TSR_ERROR_FORMAT: a position is not finite (names the vertex), a corner is out of range (names the triangle);
 * TSR_ERROR_UNSUPPORTED: axes not perpendicular (tsr_geometry_check_perpendicular), the mesh at this spacing reaches beyond the coordinates of tiles
 * (+-2^20 tiles), or more than 2^32 - 1 pairs;
 * TSR_ERROR_CAPACITY, TSR_ERROR_MEMORY, TSR_ERROR_CANCELLED. RETURNS NEW. */
TSR_API tsr_status tsr_tiles_from_mesh(tsr_context *context, const tsr_mesh *mesh, const tsr_voxelize_options *options, tsr_tiles **tiles,
                                       tsr_voxelize_report *report) TSR_CHECKED;

/* The same as a dense volume: TSR_F32 the clamped field, TSR_U8 the mask (1 inside, 0 outside). The grid is `geometry` and `size`; without
 * `size`, the voxels of the grid that cover the mesh and one voxel beyond its band (the geometry's origin moves there). RETURNS NEW volume
 * on the context's device. Errors as above. */
TSR_API tsr_status tsr_volume_from_mesh(tsr_context *context, const tsr_mesh *mesh, tsr_dtype dtype, const tsr_voxelize_options *options,
                                        tsr_volume **volume, tsr_voxelize_report *report) TSR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
