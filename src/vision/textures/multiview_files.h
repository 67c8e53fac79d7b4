/* vision/textures/multiview_files.h: meshes with places in an atlas, from OBJ files. */
#ifndef TSR_VISION_TEXTURES_MULTIVIEW_FILES_H
#define TSR_VISION_TEXTURES_MULTIVIEW_FILES_H

#include "io/stream.h"

typedef struct tsr_placed_mesh {
    int64_t vertices, places, triangles;
    float *position;             /* [vertices][3] */
    float *place;                /* [places][2] */
    uint32_t *triangle, *corner; /* [triangles][3] vertices, places */
} tsr_placed_mesh;

/* Vertices, texture coordinates and faces of an OBJ file; polygons become fans round their first corner, whatever their shape: the same in every step.
 * TSR_ERROR_FORMAT names the line; every corner must have texture coordinates. */
tsr_status tsr_placed_mesh_read(tsr_input *input, tsr_placed_mesh *mesh) TSR_CHECKED;
void tsr_placed_mesh_free(tsr_placed_mesh *mesh);

#endif
