/* formats/meshes/gltf_motion_parts.h: what gltf_motion.c and gltf_motion_mesh.c share. */
#ifndef TSR_FORMATS_GLTF_MOTION_PARTS_H
#define TSR_FORMATS_GLTF_MOTION_PARTS_H

#include "formats/meshes/gltf.h"
#include "formats/meshes/gltf_motion.h"

enum { NONE = GLTF_NONE, SETS_MOST = 4, PIECES_MOST = 1 << 16, VERTICES_MOST = 1 << 26 };
enum { PATH_TRANSLATION, PATH_ROTATION, PATH_SCALE, PATH_WEIGHTS, PATHS };

typedef struct channel {
    int64_t node, keys;
    int path, how, width; /* numbers of a value */
    float *time, *value;  /* cubic: tangent in, value, tangent out of each key */
} channel;

typedef struct node {
    gltf_placement still, now;
    int64_t parent, mesh, skin;
    double *weights; /* of the morph targets of its mesh */
    int64_t targets;
    double place[3][4]; /* in the scene, at the time asked for */
    int placed;
} node;

typedef struct piece {
    int64_t node, vertices, triangles, first; /* first: vertex */
    int64_t position, place, indices, targets, sets, mode, corners;
    const char *name;                     /* of its node, or mesh */
    double offset[2], rotation, scale[2]; /* of its texture, KHR_texture_transform; scale 0: none */
    int mirrored;                         /* by its node: what is outside turns */
    const json_t *primitive;
    float *rest, *target;  /* [vertices][3], [targets][vertices][3] */
    float *joint, *weight; /* [sets][vertices][4] */
} piece;

struct tsr_gltf_motion {
    gltf g;
    node *node;
    int64_t nodes;
    piece *piece;
    int64_t pieces, room, vertices, triangles;
    channel *channel;
    int64_t channels;
    double seconds;
    int64_t left_out; /* primitives of points and lines */
};

/* All of an accessor of `components` numbers an element. RETURNS NEW, with at least one element's room. */
tsr_status tsr_gltf_floats(const gltf *g, int64_t index, int components, int64_t expected, const char *what, float **to, int64_t *count);
/* The triangles and texture coordinates of a primitive that has been entered with its node and name: their counts and accessors. */
tsr_status tsr_gltf_piece_shape(const gltf *g, piece *p);

#endif
