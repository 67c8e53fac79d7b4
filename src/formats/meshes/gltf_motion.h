/* formats/meshes/gltf_motion.h: a glTF scene that moves: its triangles with texture coordinates, and where their vertices are at a time. */
#ifndef TSR_FORMATS_GLTF_MOTION_H
#define TSR_FORMATS_GLTF_MOTION_H

#include "io/stream.h"

typedef struct tsr_gltf_motion tsr_gltf_motion;

/* 1 where the bytes begin a glTF file (binary, or JSON with an "asset"), and this build can read one. */
int tsr_gltf_is(const uint8_t *bytes, size_t size);
/* The scene that the file names, with one animation: `animation` by name, NULL: the first; a file without any stands still. Nodes, skins (JOINTS_0 and
 * WEIGHTS_0 and what follows) and morph targets move the vertices. Points and lines are left out, with a remark. KEEPS the input.
 * RETURNS NEW. TSR_ERROR_FORMAT, _UNSUPPORTED (a build without jansson), _MEMORY. */
tsr_status tsr_gltf_motion_open(tsr_input *input, const char *animation, tsr_gltf_motion **motion);
void tsr_gltf_motion_close(tsr_gltf_motion **motion);
void tsr_gltf_motion_counts(const tsr_gltf_motion *motion, int64_t *vertices, int64_t *triangles, double *seconds);
/* place [vertices][2]: u, v with v up, of the set that the texture of the colour takes, as its KHR_texture_transform places them; NULL: not wanted, else
 * TSR_ERROR_FORMAT names a mesh that has none. triangle [triangles][3]. */
tsr_status tsr_gltf_motion_mesh(const tsr_gltf_motion *motion, float *place, uint32_t *triangle);
/* position [vertices][3] in the scene's axes; before its first and behind its last key an animation stands still. */
tsr_status tsr_gltf_motion_pose(tsr_gltf_motion *motion, double seconds, float *position);

#endif
