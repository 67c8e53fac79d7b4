/* tessera/mesh.h: indexed triangle meshes. Vertices are float32 world positions, triangles counter-clockwise seen from outside.
 *
 * Far from the origin of the world float32 has no digits left (at 10^6 steps of 0.06): then a mesh has an origin of its own, from which its vertices
 * count, world = origin + vertex. Readers give one where they are told that they may (tsr_read_options.local_origin), and writers add it back in float64.
 * Everything else takes the vertices as they are: a mesh with an origin lies there at its own place, 0, and so does what is made of it. */
#ifndef TESSERA_MESH_H
#define TESSERA_MESH_H

#include "tessera/volume.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tsr_mesh tsr_mesh;

/* Room for `vertices` and `triangles` on the context's device (NULL = host); `normals` != 0 adds one float32 normal per vertex.
 * Content undefined. 64-bit counts; indices are u32, so vertices <= 2^32 - 1. RETURNS NEW. */
TSR_API tsr_status tsr_mesh_create(tsr_context *context, int64_t vertices, int64_t triangles, int normals, tsr_mesh **mesh) TSR_CHECKED;
TSR_API void tsr_mesh_destroy(tsr_mesh **mesh);
TSR_API int64_t tsr_mesh_vertex_count(const tsr_mesh *mesh);
TSR_API int64_t tsr_mesh_triangle_count(const tsr_mesh *mesh);
TSR_API tsr_device tsr_mesh_device(const tsr_mesh *mesh);
TSR_API float *tsr_mesh_vertices(tsr_mesh *mesh);            /* RETURNS VIEW, [vertices][3] */
TSR_API float *tsr_mesh_normals(tsr_mesh *mesh);             /* RETURNS VIEW, [vertices][3], NULL if the mesh has none */
TSR_API uint32_t *tsr_mesh_triangles(tsr_mesh *mesh);        /* RETURNS VIEW, [triangles][3] */
TSR_API const float *tsr_mesh_vertices_const(const tsr_mesh *mesh);
TSR_API const float *tsr_mesh_normals_const(const tsr_mesh *mesh);
TSR_API const uint32_t *tsr_mesh_triangles_const(const tsr_mesh *mesh);
TSR_API tsr_space tsr_mesh_space(const tsr_mesh *mesh);
TSR_API void tsr_mesh_set_space(tsr_mesh *mesh, tsr_space space); /* names the frame; the numbers stay */
/* Of a mesh that was read from a file: faces of more than three corners that are no simple polygons (they cross themselves, or have no area) and became fans of
 * triangles round their first corner. 0 of others. */
TSR_API int64_t tsr_mesh_odd_faces(const tsr_mesh *mesh);
/* The same points in the other convention: RAS and LPS differ by the signs of x and y, of positions and normals. NONE is left alone, as in
 * tsr_geometry_convert. Host meshes only. Class: exact. */
TSR_API tsr_status tsr_mesh_convert_space(tsr_mesh *mesh, tsr_space space) TSR_CHECKED;
TSR_API tsr_status tsr_mesh_copy(const tsr_mesh *mesh, tsr_context *context, tsr_mesh **copy) TSR_CHECKED; /* to another device; RETURNS NEW */

TSR_API tsr_vec3 tsr_mesh_origin(const tsr_mesh *mesh);
TSR_API void tsr_mesh_set_origin(tsr_mesh *mesh, tsr_vec3 origin); /* the numbers of the vertices stay: the mesh moves */
/* The same points counted from another origin: each vertex is rounded to float32 once. Host meshes only. */
TSR_API tsr_status tsr_mesh_change_origin(tsr_mesh *mesh, tsr_vec3 origin) TSR_CHECKED;

/* Colours of the vertices, [vertices][4]: red, green, blue, alpha, 0 to 255. Kept by tsr_mesh_copy and by files that have a place for them. RETURNS VIEW, NULL
 * if the mesh has none; `add` makes room (content undefined) if it has none. */
TSR_API const uint8_t *tsr_mesh_colors_const(const tsr_mesh *mesh);
TSR_API uint8_t *tsr_mesh_colors(tsr_mesh *mesh);
TSR_API tsr_status tsr_mesh_add_colors(tsr_mesh *mesh) TSR_CHECKED;

/* Triangles that belong together: one label of a label map, one group of a file. Parts follow one another in the order of the triangles and hold all of
 * them; the same value may come again. Kept by tsr_mesh_copy and by files that have a place for them. */
typedef struct tsr_mesh_part {
    int64_t value;
    const char *name; /* NULL if it has none */
    int64_t triangles;
} tsr_mesh_part;
/* COPIES `count` parts (0: the mesh has none), names included. TSR_ERROR_ARGUMENT unless their triangles are those of the mesh. */
TSR_API tsr_status tsr_mesh_set_parts(tsr_mesh *mesh, const tsr_mesh_part *parts, int32_t count) TSR_CHECKED;
TSR_API int tsr_mesh_part_at(const tsr_mesh *mesh, int32_t index, tsr_mesh_part *part); /* 0 behind the last; the name is a VIEW */
/* Several host meshes in one, each a part of it: meshes[k] with the value and name of parts[k]. They have the same space and origin. RETURNS NEW. */
TSR_API tsr_status tsr_mesh_join(tsr_mesh *const *meshes, const tsr_mesh_part *parts, int32_t count, tsr_mesh **joined) TSR_CHECKED;

/* Vertices at the same place become one (the first: its normal and colour count), and triangles that have two corners in one place, and so no area, go. A
 * surface that touches itself is joined there. BORROWS a host mesh. Linear time. RETURNS NEW. */
TSR_API tsr_status tsr_mesh_weld(const tsr_mesh *mesh, tsr_mesh **welded) TSR_CHECKED;

/* Measures of a host mesh, float64 sums in a fixed order (reproducible). Volume is signed: positive when triangles face outwards. */
typedef struct tsr_mesh_measures {
    size_t struct_size;
    double area, volume;
    int64_t vertices, edges, triangles;
    int64_t euler;              /* vertices - edges + triangles, unused vertices and triangles with a repeated index not counted */
    int64_t boundary_edges;     /* edges of exactly one triangle */
    int64_t nonmanifold_edges;  /* edges of more than two triangles */
    int64_t misoriented_edges;  /* edges of two triangles that run the same way */
    int64_t components;         /* connected pieces */
    int64_t degenerate_triangles; /* without area: corners in one place or on a line, whatever their indices */
    tsr_vec3 lower, upper;      /* bounding box */
} tsr_mesh_measures;
#define TSR_MESH_MEASURES TSR_SIZED(tsr_mesh_measures)
/* BORROWS a host mesh. TSR_ERROR_FORMAT if an index is out of range (names the triangle) or a position is not finite (names the vertex),
 * TSR_ERROR_ARGUMENT for a device mesh. Linear time. Triangles with a repeated index have no edges and join nothing. The volume of a surface with
 * boundary is the one enclosed by the cone over it from the middle of the bounding box. */
TSR_API tsr_status tsr_mesh_measure(const tsr_mesh *mesh, tsr_mesh_measures *measures) TSR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
