/* tessera/unstructured.h: unstructured grids: points anywhere, a value at each, and cells of four to eight of them; and the surface of a value in them.
 *
 * Every cell is taken apart into tetrahedra from its corner with the smallest point number: each face that does not hold this corner, split by the
 * diagonal from its own smallest corner if it has four, makes a tetrahedron with it for every triangle. So a face with four corners is split by the
 * diagonal from its smallest corner from both sides, neighbours fit, and no cell needs a point of its own (the pulling triangulation; Dompierre et al.
 * 1999, "How to subdivide pyramids, prisms and hexahedra into tetrahedra"). A tetrahedron makes 1, a pyramid 2, a wedge 3, a hexahedron 6. Where corners
 * of a cell are the same point the tetrahedra without volume are left out. A cell whose corners run the other way round (its tetrahedra
 * have a negative volume together) is turned over.
 *
 * The surface (marching tetrahedra) cuts the edges whose ends lie on different sides. Each is one vertex for all triangles around it, at the place where the
 * value varies linearly, so that the mesh is closed and consistently oriented where the surface does not leave the grid and cells meet in whole faces. No
 * case is ambiguous. Order: vertices by edge, edges by their smaller then their larger point number; triangles by cell, in the order given.
 * Exact class: the same mesh, bit for bit, on every backend.
 * Source: [Ziegler10 7.3.5] (only a stream of cells is required), docs/theory/surfaces.md 4, 7. */
#ifndef TESSERA_UNSTRUCTURED_H
#define TESSERA_UNSTRUCTURED_H

#include "tessera/io.h"
#include "tessera/surface.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tsr_unstructured tsr_unstructured;

/* Numbers and order of the corners as in VTK's files. Cells without volume (vertices 1 2, lines 3 4, triangles 5 6, polygons 7, pixels 8, quads 9) may be
 * there and are passed over. */
typedef enum tsr_cell_type {
    TSR_CELL_TETRAHEDRON = 10,
    TSR_CELL_VOXEL = 11,      /* 8 corners, x fastest, then y, z */
    TSR_CELL_HEXAHEDRON = 12, /* 4 corners around one face, then the 4 opposite */
    TSR_CELL_WEDGE = 13,      /* 3 corners of one triangle, then the 3 opposite */
    TSR_CELL_PYRAMID = 14     /* 4 corners around the base, then the apex */
} tsr_cell_type;

typedef struct tsr_unstructured_source {
    size_t struct_size;
    int64_t point_count, cell_count;
    const double *points;  /* [point_count][3], world coordinates, within float32 */
    const double *values;  /* [point_count]; NULL: all 0 until tsr_unstructured_set_values */
    const uint8_t *types;  /* [cell_count] tsr_cell_type; NULL: all tetrahedra */
    const int64_t *starts; /* [cell_count + 1] where the corners of each cell begin in `corners`, ascending from 0; NULL: one after another as the
                            * types say (of types with a number of corners of their own) */
    const uint32_t *corners;
    int64_t corner_count; /* of all cells */
    tsr_space space;      /* of the coordinates */
} tsr_unstructured_source;
#define TSR_UNSTRUCTURED_SOURCE TSR_SIZED(tsr_unstructured_source)

typedef struct tsr_unstructured_info {
    int64_t points, cells; /* with volume */
    int64_t passed_over;   /* cells without */
    int64_t turned;        /* cells whose corners ran the other way round */
    int64_t tetrahedra, edges;
    int64_t bytes; /* of the arrays */
    tsr_space space;
    char arrays[256]; /* of a file: the names of the arrays of point data that could be its values, with ", " between them, as many as fit */
} tsr_unstructured_info;

/* COPIES the arrays of the source (host memory) to the context's device, NULL: host memory of no context, for copies. Linear time but for the few edges of
 * a point. TSR_ERROR_ARGUMENT: a corner that is no point, a coordinate that is not finite or no float32 holds, types of other numbers, counts that do not fit;
 * TSR_ERROR_UNSUPPORTED: 2^32 points or edges and more; TSR_ERROR_MEMORY. RETURNS NEW. */
TSR_API tsr_status tsr_unstructured_create(tsr_context *context, const tsr_unstructured_source *source, tsr_unstructured **grid) TSR_CHECKED;
TSR_API void tsr_unstructured_destroy(tsr_unstructured **grid);
/* To another context (NULL: host). RETURNS NEW. */
TSR_API tsr_status tsr_unstructured_copy(const tsr_unstructured *grid, tsr_context *context, tsr_unstructured **copy) TSR_CHECKED;
TSR_API const tsr_unstructured_info *tsr_unstructured_describe(const tsr_unstructured *grid); /* RETURNS VIEW */
/* Other values at the same points: a field that moves. COPIES [points] doubles of host memory; what cells share is kept. */
TSR_API tsr_status tsr_unstructured_set_values(tsr_unstructured *grid, const double *values) TSR_CHECKED;
/* The samples of a host volume (every element type, slope and intercept applied) as points, its cells as voxels: marching tetrahedra on a regular grid, which
 * the literature compares with marching cubes; six to a cell. 72 bytes a sample for points, values and edges and 240 for tetrahedra. RETURNS NEW. */
TSR_API tsr_status tsr_unstructured_from_volume(tsr_context *context, const tsr_volume *volume, tsr_unstructured **grid) TSR_CHECKED;

/* The surface of a value, by a HistoPyramid over the edges (one vertex each) and one over the tetrahedra (up to two triangles), no scatter. Of the options
 * isovalue, inside, midpoints and nan count; TSR_ERROR_UNSUPPORTED: normals, close; ambiguity changes nothing. report: cells are tetrahedra,
 * not_a_number points. A point that is NaN lies outside. The grid must live on the context's device. Waits for the queue. Errors as
 * tsr_surface_extract. RETURNS NEW mesh on the context's device. */
TSR_API tsr_status tsr_surface_extract_unstructured(tsr_context *context, const tsr_unstructured *grid, const tsr_surface_options *options,
                                                    tsr_mesh **mesh, tsr_surface_report *report) TSR_CHECKED;

/* Reads a grid of VTK's legacy files (DATASET UNSTRUCTURED_GRID; version 1 to 5.1; ASCII and BINARY, whose numbers are big-endian) to host memory. `values`
 * names the array of point data that gives the values: SCALARS with one component or a one-component array of a FIELD; NULL: the first; "": none
 * is needed, all values are 0. Other arrays are read over. Errors as tsr_volume_read: every count is checked against the bytes that are there;
 * TSR_ERROR_FORMAT: no such array (the names are listed). RETURNS NEW. */
TSR_API tsr_status tsr_unstructured_read(const char *path, const tsr_read_options *options, const char *values, tsr_unstructured **grid) TSR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
