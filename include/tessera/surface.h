/* tessera/surface.h: triangle meshes of level sets (marching cubes), from dense volumes and from tile lists.
 *
 * The surface of value `isovalue` is cut out of the cells between 8 neighbouring samples. Vertices lie on the cell edges whose two
 * samples are on different sides, each shared by all triangles that touch it (an indexed mesh), at the place where the value varies
 * linearly; t = (iso - f_a) / (f_b - f_a) in float64 from the sample of smaller index, then the affine matrix in float64, then rounded
 * to float32. Triangles are counter-clockwise seen from outside, also where the affine matrix mirrors. Ambiguous faces separate the
 * inside corners (or as the options say), so that neighbouring cells agree: the mesh is closed and 2-manifold wherever the surface does not leave the volume.
 *
 * Order: vertices by the sample that owns their edge (the one of smaller index) in memory order (x fastest), then edges along x, y, z;
 * triangles by cell in the same order, then by the case table. For tile lists: tile by tile in the order of the list, the same within a
 * tile. Exact class: the same mesh, bit for bit, on every backend and thread count.
 * Source: HistoPyramid marching cubes [Dyken08], indexed form, docs/theory/surfaces.md; cases after Lorensen and Cline 1987. */
#ifndef TESSERA_SURFACE_H
#define TESSERA_SURFACE_H

#include "tessera/labels.h"
#include "tessera/mesh.h"
#include "tessera/planes_source.h"
#include "tessera/tiles.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tsr_surface_inside {
    TSR_SURFACE_INSIDE_ABOVE = 0, /* inside = value >= isovalue (densities: CT, MRI) */
    TSR_SURFACE_INSIDE_BELOW      /* inside = value < isovalue (level sets) */
} tsr_surface_inside;

typedef enum tsr_surface_normals {
    TSR_SURFACE_NORMALS_NONE = 0,
    TSR_SURFACE_NORMALS_FORWARD,  /* forward differences at both ends of the edge, interpolated: first order, 4 samples per end */
    TSR_SURFACE_NORMALS_CENTRAL,  /* central differences, interpolated: second order, 6 samples per end */
    TSR_SURFACE_NORMALS_TRILINEAR /* gradient of the trilinear interpolant at the vertex, the mean of the cells around the edge: along the edge the
                                   * difference of its ends, across it as central */
} tsr_surface_normals;

/* A face with two inside corners on one diagonal and two outside corners on the other is ambiguous. All rules depend on the samples of the face
 * alone, so that neighbours agree and the mesh stays closed and 2-manifold. */
typedef enum tsr_surface_ambiguity {
    TSR_SURFACE_SEPARATE_INSIDE = 0, /* the inside corners are cut off from each other */
    TSR_SURFACE_SEPARATE_OUTSIDE,    /* the outside corners are, the inside holds together */
    TSR_SURFACE_DECIDE               /* asymptotic decider (Nielson and Hamann 1991): each face by the side of the saddle of its bilinear interpolant,
                                      * which is the isovalue + (a c - b d) / (a + c - b - d) for corners a b c d around the face, less the isovalue:
                                      * on the inside (a saddle that equals the isovalue: as a sample would be), and the inside corners hold together.
                                      * Separates the inside where a sample is not finite or beyond the border (close). Exchanging inside and outside
                                      * gives the same lines on every face. Faces alone are decided: whether a tube runs through the inside of a
                                      * cell is not asked. Up to 10 triangles a cell (others: 5) */
} tsr_surface_ambiguity;

/* What a sample that is NaN does. Infinite samples have a side and are no fault. */
typedef enum tsr_surface_nan {
    TSR_SURFACE_NAN_OUTSIDE = 0, /* it lies outside, whichever side that is; the report counts it */
    TSR_SURFACE_NAN_FAIL         /* TSR_ERROR_STATE, the message says how many there are */
} tsr_surface_nan;

/* Normals have unit length and point from inside to outside. A difference that would leave the volume uses the two samples there
 * are; one that is not finite counts as 0; a gradient of 0 gives the direction of the cut edge. */
typedef struct tsr_surface_options {
    size_t struct_size;
    double isovalue;           /* in real values (slope and intercept of the volume applied), finite or infinite, not NaN */
    tsr_surface_inside inside; /* tile lists are level sets: always below */
    tsr_surface_normals normals;
    int close; /* != 0: as if the volume were surrounded by outside samples: the surface is capped half a voxel beyond
                                    * the border. For tile lists with a domain not supported; an unbounded list needs no cap */
    tsr_surface_ambiguity ambiguity;
    int midpoints;       /* != 0: vertices in the middle of their edges, whatever the values: blocky, the same triangles */
    tsr_surface_nan nan; /* not of a tracker, which looks at the sides alone */
} tsr_surface_options;
#define TSR_SURFACE_OPTIONS TSR_SIZED(tsr_surface_options)

typedef struct tsr_surface_report {
    size_t struct_size;
    int64_t cells;        /* cells looked at */
    int64_t not_a_number; /* NaN samples: outside; an edge with an end that is not finite is cut in the middle */
    int64_t work_bytes;   /* device memory used beside volume and mesh, released on return */
} tsr_surface_report;
#define TSR_SURFACE_REPORT TSR_SIZED(tsr_surface_report)

/* Extracts the surface of a volume of any element type on the volume's device, which must be the context's. One number pair is read
 * back (the counts), so that the mesh has its exact size: the call waits for the queue once. Linear time. An empty surface is a mesh
 * without triangles. `options` NULL: isovalue 0, inside above. `report` may be NULL.
 * TSR_ERROR_ARGUMENT: an extent < 2 (without close), isovalue NaN; TSR_ERROR_STATE: a NaN sample where options->nan says so; TSR_ERROR_UNSUPPORTED: more than 2^32 - 1 vertices (says how many);
 * TSR_ERROR_MEMORY. RETURNS NEW mesh on the context's device, in world coordinates. */
TSR_API tsr_status tsr_surface_extract(tsr_context *context, const tsr_volume *volume, const tsr_surface_options *options, tsr_mesh **mesh,
                                       tsr_surface_report *report) TSR_CHECKED;

/* The surface of one label of a label map: of the mask of its voxels, halfway between voxels inside and outside, whatever the numbers of the labels. `label`
 * as tsr_labels_count gives it: its value and box count, and only the box is looked at. Where two labels touch, both surfaces lie at the same place.
 * Options as above without isovalue and inside. On the volume's device. RETURNS NEW. */
TSR_API tsr_status tsr_surface_extract_label(tsr_context *context, const tsr_volume *volume, const tsr_label *label,
                                             const tsr_surface_options *options, tsr_mesh **mesh, tsr_surface_report *report) TSR_CHECKED;

/* The same from a tile list (value < isovalue is inside, |isovalue| < band). Visits stored tiles only. TSR_ERROR_STATE if a sign
 * change lies beside a tile that is not stored (a list changed without management). RETURNS NEW. */
TSR_API tsr_status tsr_surface_extract_tiles(tsr_context *context, const tsr_tiles *tiles, const tsr_surface_options *options, tsr_mesh **mesh,
                                             tsr_surface_report *report) TSR_CHECKED;

/* The surface of a tile list that changes in places: a sculpted model, a front that has come to rest almost everywhere. Keeps the mesh from call to
 * call and makes anew only what changed. KEEPS the context and COPIES the options (NULL as in tsr_surface_extract_tiles; `close` changes nothing).
 * One thread at a time. RETURNS NEW. */
typedef struct tsr_surface_tracker tsr_surface_tracker;
TSR_API tsr_status tsr_surface_tracker_create(tsr_context *context, const tsr_surface_options *options, tsr_surface_tracker **tracker) TSR_CHECKED;
TSR_API void tsr_surface_tracker_destroy(tsr_surface_tracker **tracker);

/* Voxels of a list whose values may have changed, lower <= index < upper; upper <= lower along an axis: none. */
typedef struct tsr_surface_region {
    int64_t lower[3], upper[3]; /* x, y, z */
} tsr_surface_region;

typedef struct tsr_surface_update_report {
    size_t struct_size;
    int64_t tiles, changed, renewed; /* stored; found to be new or different; whose triangles were made anew: these and some around them */
    int64_t vertices, triangles;     /* of the surface: without the gaps of the mesh */
    int64_t work_bytes;              /* device memory of the tracker, beside the mesh */
} tsr_surface_update_report;
#define TSR_SURFACE_UPDATE_REPORT TSR_SIZED(tsr_surface_update_report)

/* The surface of the list as it is now. *mesh is a VIEW that belongs to the tracker, valid until its next call. It has the triangles that
 * tsr_surface_extract_tiles would make, bit for bit, but in another order and with gaps: each tile owns a run of vertices and a run of triangles
 * with room to spare, in the order in which tiles came; the triangles of a gap are 0 0 0, its vertices are used by no triangle and mean nothing.
 * Same calls, same mesh on every backend and thread count. When half of it is gaps it is laid anew. For a file, extract the list.
 *
 * `region` NULL: changed tiles are found by a 64-bit sum over the values of each, one reading of the list. Else values outside the region must be those
 * of the last update of this list, and the cost is that of the tiles in the region, of new and vanished ones, and one look at the keys of the list
 * (12 bytes a tile; no values). The list may be another one each time: what is not the same is made anew. Waits for the queue three times.
 * Errors as tsr_surface_extract_tiles; after a failure *mesh is NULL and the next update makes everything anew. `report` may be NULL. */
TSR_API tsr_status tsr_surface_update(tsr_surface_tracker *tracker, const tsr_tiles *tiles, const tsr_surface_region *region, const tsr_mesh **mesh,
                                      tsr_surface_update_report *report) TSR_CHECKED;

/* Surfaces of several values at once: meshes[k] is what tsr_surface_extract gives for isovalues[k] (options->isovalue is not read), but the volume
 * is read by all of them together, plane by plane on the CPU, and the call waits for the queue once for each value. 1 <= count <= 64;
 * reports, if not NULL, has `count` entries, the first begun by its macro: the others get its struct_size. RETURNS NEW meshes; after a failure all are NULL. */
TSR_API tsr_status tsr_surface_extract_several(tsr_context *context, const tsr_volume *volume, const tsr_surface_options *options,
                                               const double *isovalues, int32_t count, tsr_mesh **meshes, tsr_surface_report *reports) TSR_CHECKED;

/* A surface that is cut again and again: a field that moves, an isovalue that is dragged. The workspace keeps all memory from call to call and takes
 * more of the device only when a surface needs more than any before (a quarter to spare). KEEPS the context; one thread at a time. */
typedef struct tsr_surface_workspace tsr_surface_workspace;
TSR_API tsr_status tsr_surface_workspace_create(tsr_context *context, tsr_surface_workspace **workspace) TSR_CHECKED; /* RETURNS NEW */
TSR_API void tsr_surface_workspace_destroy(tsr_surface_workspace **workspace);
/* As tsr_surface_extract, but *mesh is a VIEW that belongs to the workspace, valid until its next call. Volumes of any size and element type may
 * follow one another. After a failure *mesh is NULL and the workspace can be used again. */
TSR_API tsr_status tsr_surface_extract_again(tsr_surface_workspace *workspace, const tsr_volume *volume, const tsr_surface_options *options,
                                             const tsr_mesh **mesh, tsr_surface_report *report) TSR_CHECKED;

/* The surface of a source by slabs of `planes` planes (0: as many as fill 64 MiB, at least 8), and three more for neighbours: no more samples than
 * that are in memory, of the host and of the device. The mesh is the one of the whole volume, bit for bit. `close` is not supported.
 * BORROWS the source for the call. TSR_ERROR_UNSUPPORTED: close, more than 2^32 - 1 vertices; else as tsr_surface_extract.
 * RETURNS NEW mesh on the host. */
TSR_API tsr_status tsr_surface_extract_source(tsr_context *context, const tsr_planes_source *source, const tsr_surface_options *options,
                                              int64_t planes, tsr_mesh **mesh, tsr_surface_report *report) TSR_CHECKED;

/* Triangles one by one: vertex n of triangle k becomes vertex 3 k + n, with its normal; what draws or writes triangles without an index wants.
 * The mesh must live on the context's device. TSR_ERROR_UNSUPPORTED: more than 2^32 - 1 vertices. Class: exact. RETURNS NEW. */
TSR_API tsr_status tsr_surface_unindex(tsr_context *context, const tsr_mesh *mesh, tsr_mesh **unindexed) TSR_CHECKED;

/* A surface through samples that lie on the isovalue has triangles without area: corners in one place. These corners become one, and such triangles go; what only
 * touches (corners in one place that no such triangle joins) stays apart, unlike by tsr_mesh_weld. *contracted is NULL where there is nothing to do. BORROWS a host
 * mesh; keeps normals, colours and parts. Linear time. RETURNS NEW. */
TSR_API tsr_status tsr_surface_contract(const tsr_mesh *mesh, tsr_mesh **contracted) TSR_CHECKED;

/* Ways to triangles without an index that never make an indexed mesh: how an output finds its cell. All give the same mesh, that of tsr_surface_unindex.
 * With few triangles to many cells the descents are few, where nearly every cell has some the scan costs no more than the pyramid; the indexed mesh and
 * tsr_surface_unindex are the fastest of all. Source: [Ziegler10 7.3.6, 7.3.7], docs/theory/surfaces.md 5. */
typedef enum tsr_surface_gather {
    TSR_SURFACE_GATHER_VERTEX = 0, /* a HistoPyramid over the vertices of the cells; every vertex descends */
    TSR_SURFACE_GATHER_TRIANGLE,   /* over the triangles; every triangle descends */
    TSR_SURFACE_GATHER_CELL,       /* over the cells that have triangles, one bit each; their list is scanned and expanded 32 cells at a time */
    TSR_SURFACE_GATHER_TILE,       /* over the triangles, listed by tile expansion: 16 bytes a triangle beside */
    TSR_SURFACE_SCATTER            /* no pyramid: the triangles of all cells are scanned, 8 bytes a cell beside, and each cell writes its own */
} tsr_surface_gather;

/* The surface of a dense volume as triangles one by one: vertices 3 k to 3 k + 2 are triangle k, in the order and with the bits of tsr_surface_extract
 * followed by tsr_surface_unindex. Waits for the queue to know the number of triangles; linear time. `options` and `report` as there.
 * Errors as tsr_surface_extract; TSR_ERROR_UNSUPPORTED: more than (2^32 - 1) / 3 triangles. Class: exact. RETURNS NEW. */
TSR_API tsr_status tsr_surface_extract_triangles(tsr_context *context, const tsr_volume *volume, const tsr_surface_options *options,
                                                 tsr_surface_gather gather, tsr_mesh **mesh, tsr_surface_report *report) TSR_CHECKED;

/* Triangles that are drawn, measured or sent on and never stored: made from the pyramid as they are asked for. The consumer is given `chunk` triangles at a
 * time (0: 2^20; the last time what is left), as tsr_surface_extract_triangles has them: `triangles` is a VIEW of a mesh on the context's device, three
 * vertices to a triangle, valid during the call, whose triangle 0 is number `first` of `total`. It is called from the calling thread, never for an empty
 * surface; work that it queues on the context is done before the next chunk is made; a status other than TSR_OK ends the call and is returned.
 * Memory: 1.4 bytes a cell, and 48 bytes a triangle of a chunk (84 with normals; TILE: 16 more), however many triangles there are in all: also more than
 * 2^32 - 1 vertices. `gather`: VERTEX, TRIANGLE or TILE. Errors as tsr_surface_extract_triangles. Class: exact.
 * Source: [Ziegler10 7.3.5] (drawing on the fly; GLHP-VS), docs/theory/surfaces.md 5. */
typedef tsr_status (*tsr_surface_consumer)(void *user, const tsr_mesh *triangles, int64_t first, int64_t total);
TSR_API tsr_status tsr_surface_expand(tsr_context *context, const tsr_volume *volume, const tsr_surface_options *options, tsr_surface_gather gather,
                                      int64_t chunk, tsr_surface_consumer consumer, void *user, tsr_surface_report *report) TSR_CHECKED;

/* How a surface is looked at, in world coordinates. */
typedef struct tsr_surface_view {
    size_t struct_size;
    int32_t perspective;   /* 0: from afar along `direction`; else from `eye` */
    int32_t nearest_first; /* 0: the farthest first, as blending draws translucent triangles */
    tsr_vec3 direction;    /* of looking, any length but 0 */
    tsr_vec3 eye;          /* anywhere, also between the triangles */
} tsr_surface_view;
#define TSR_SURFACE_VIEW TSR_SIZED(tsr_surface_view)

/* Puts the triangles of a mesh in the order of a view. `geometry` (BORROWS) is that of the volume or tile list from which the mesh was made: a triangle
 * counts to the cell in which its centre lies, and cells go by their distances from the eye along z, y and x of the index, memory order with some axes
 * turned round. No cell hides one that lies before it in this order (the other way with nearest_first); triangles of one cell keep the order
 * they had. Vertices stay as they are. Exact as far as the mesh is: the same on every backend. Cells count up to 2^20 from index 0 along every axis,
 * beyond as if there. Device memory: 36 bytes a triangle and as many to sort, released on return. Does not wait.
 * TSR_ERROR_ARGUMENT: no direction, numbers that are not finite; TSR_ERROR_UNSUPPORTED: 2^32 triangles or more; after a failure the mesh is as it was.
 * Source: [Ziegler10 7.3.9] (view-dependent layering), docs/theory/surfaces.md 8. */
TSR_API tsr_status tsr_surface_order(tsr_context *context, tsr_mesh *mesh, const tsr_geometry *geometry, const tsr_surface_view *view) TSR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
