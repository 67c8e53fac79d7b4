/* grid/mesh.h: the inside of an indexed triangle mesh. Here, a floor below surface/, because io reads and writes it. */
#ifndef TSR_GRID_MESH_H
#define TSR_GRID_MESH_H

#include "device/backend.h"
#include "tessera/mesh.h"

struct tsr_mesh {
    tsr_context *context; /* NULL: host memory that belongs to no context */
    int64_t vertex_count, triangle_count;
    float *vertices, *normals; /* normals NULL if there are none */
    uint32_t *triangles;
    tsr_space space;
    int64_t odd_faces; /* tsr_mesh_odd_faces */
};

/* Makes the mesh smaller without moving memory (counts known only after extraction). */
void tsr_mesh_shrink(tsr_mesh *mesh, int64_t vertices, int64_t triangles);
/* *mesh (or NULL) with these counts, its arrays kept if they are large enough, else made anew with a quarter to spare. Content undefined. */
tsr_status tsr_mesh_refill(tsr_context *context, int64_t vertices, int64_t triangles, int normals, tsr_mesh **mesh);
/* Counts up to which tsr_mesh_refill keeps the arrays; 0 0 if it would not, because normals are wanted or not. */
void tsr_mesh_room(const tsr_mesh *mesh, int normals, int64_t *vertices, int64_t *triangles);
void tsr_mesh_drop_normals(tsr_mesh *mesh);
tsr_status tsr_mesh_require_host(const tsr_mesh *mesh, const char *what);

#endif
