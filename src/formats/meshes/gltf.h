/* formats/meshes/gltf.h: what a glTF file holds: its JSON, its buffers, and the numbers of its accessors, every size checked against the bytes that are there.
 * Format: Khronos, "glTF 2.0 Specification". */
#ifndef TSR_FORMATS_GLTF_H
#define TSR_FORMATS_GLTF_H

#include <jansson.h>

#include "formats/mesh_files.h"

enum { GLTF_I8 = 5120, GLTF_U8, GLTF_I16, GLTF_U16, GLTF_U32 = 5125, GLTF_F32 };
enum { GLTF_NONE = -1, GLTF_TRIANGLES = 4, GLTF_STRIP, GLTF_FAN, GLTF_DEPTH_MOST = 1024 }; /* no index; modes; of nodes within nodes */

typedef struct gltf_buffer {
    const uint8_t *bytes;
    int64_t size;
    tsr_input *beside; /* the file, where it is one */
    uint8_t *decoded;  /* of a data URI */
} gltf_buffer;

typedef struct gltf {
    tsr_input *input;
    const char *file;
    json_t *root;
    const uint8_t *binary; /* the second chunk of a GLB file */
    int64_t binary_size;
    gltf_buffer *buffer;
    int64_t buffers;
} gltf;

typedef struct gltf_accessor {
    const uint8_t *at; /* NULL: zeros */
    int64_t count, stride;
    int components, type, normalized;
    int64_t sparse; /* elements that are other ones */
    const uint8_t *places, *values;
    int place_type;
} gltf_accessor;

/* Parses the file and finds its buffers; freed by gltf_close also after a failure. KEEPS the input. */
tsr_status gltf_open(tsr_input *input, gltf *g);
void gltf_close(gltf *g);
/* `index` of the array `name` at the root; an error if there is none. */
tsr_status gltf_item(const gltf *g, const char *name, int64_t index, const json_t **item);
/* A whole number of an object, `otherwise` if it has none of that name; an error unless it lies in 0 to `most`. */
tsr_status gltf_integer(const gltf *g, const json_t *object, const char *name, int64_t otherwise, int64_t most, int64_t *value);
tsr_status gltf_accessor_open(const gltf *g, int64_t index, gltf_accessor *a);
/* An error where a primitive's numbers are packed by Draco and nothing stands in their place. */
tsr_status gltf_refuse_packed(const gltf *g, const json_t *primitive);
/* All elements, `components` numbers each (what the accessor has more is left out, what it has less is 1), real values if they are normalized. */
void gltf_accessor_floats(const gltf_accessor *a, int components, float *to);
/* All elements as indices; an error for one that is not below `most`. */
tsr_status gltf_accessor_indices(const gltf *g, const gltf_accessor *a, int64_t most, uint32_t *to);

/* How a node lies in the one above it. */
typedef struct gltf_placement {
    double translation[3], rotation[4], scale[3]; /* rotation: x, y, z, w */
    int fixed;                                    /* the matrix counts */
    double matrix[3][4];
} gltf_placement;
extern const double gltf_identity[3][4];
void gltf_multiply(const double a[3][4], const double b[3][4], double to[3][4]);
/* `count` numbers of a list; 0 where it is not there, or has another length. */
int gltf_numbers(const json_t *object, const char *name, double *to, int count);
/* GLTF_NONE where the object has none of that name. */
tsr_status gltf_optional_index(const gltf *g, const json_t *object, const char *name, int64_t *value);
void gltf_placement_of(const json_t *node, gltf_placement *placement);
tsr_status gltf_placement_matrix(const gltf *g, const gltf_placement *placement, double m[3][4]);

tsr_status gltf_write_mesh(const tsr_mesh *mesh, const char *path, const tsr_write_options *options);

#endif
