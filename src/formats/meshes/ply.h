/* formats/meshes/ply.h: the types of PLY's numbers, and its writer of meshes. */
#ifndef TSR_FORMATS_PLY_H
#define TSR_FORMATS_PLY_H

#include "formats/mesh_files.h"

typedef enum ply_type { PLY_I8, PLY_U8, PLY_I16, PLY_U16, PLY_I32, PLY_U32, PLY_F32, PLY_F64, PLY_TYPES } ply_type;
extern const char *const tsr_ply_type_names[PLY_TYPES][2]; /* the old name and the new one */
extern const uint8_t tsr_ply_type_bytes[PLY_TYPES];

/* u and v of the corners of each face ("property list uchar float texcoord", as MeshLab writes them): place [triangles][3][2], of the triangles that
 * tsr_mesh_read_fans makes of the faces. *found 0: the file has none. */
tsr_status tsr_ply_read_wedges(tsr_input *input, int64_t triangles, float *place, int *found);
tsr_status tsr_ply_write(const tsr_mesh *mesh, const char *path, const tsr_write_options *options);

#endif
