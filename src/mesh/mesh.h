/* mesh/mesh.h: the inside of an indexed triangle mesh. Here, a floor below surface/, because io reads and writes it. */
#ifndef TSR_MESH_MESH_H
#define TSR_MESH_MESH_H

#include "device/backend.h"
#include "tessera/mesh.h"

struct tsr_mesh {
    tsr_context *context; /* NULL: host memory that belongs to no context */
    int64_t vertex_count, triangle_count;
    float *vertices, *normals; /* normals NULL if there are none */
    uint32_t *triangles;
    tsr_space space;
    double origin[3];     /* world = origin + vertex, in float64 */
    uint8_t *colors;      /* [vertices][4], NULL if there are none */
    tsr_mesh_part *parts; /* host memory, as its names are; NULL if there are none */
    char *part_names;     /* their names, one behind the other */
    int32_t part_count;
    int64_t odd_faces; /* tsr_mesh_odd_faces */
};

/* Makes the mesh smaller without moving memory (counts known only after extraction). */
void tsr_mesh_shrink(tsr_mesh *mesh, int64_t vertices, int64_t triangles);
/* *mesh (or NULL) with these counts, its arrays kept if they are large enough, else made anew with a quarter to spare. Content undefined. */
tsr_status tsr_mesh_refill(tsr_context *context, int64_t vertices, int64_t triangles, int normals, tsr_mesh **mesh);
/* Counts up to which tsr_mesh_refill keeps the arrays; 0 0 if it would not, because normals are wanted or not. */
void tsr_mesh_room(const tsr_mesh *mesh, int normals, int64_t *vertices, int64_t *triangles);
/* Counts positions from another origin. */
tsr_status tsr_positions_change_origin(float *positions, int64_t count, double from[3], tsr_vec3 origin);
void tsr_mesh_drop_normals(tsr_mesh *mesh);
void tsr_mesh_drop_colors(tsr_mesh *mesh);
tsr_status tsr_mesh_require_host(const tsr_mesh *mesh, const char *what);

#endif
