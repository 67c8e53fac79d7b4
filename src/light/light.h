/* light/light.h: the room's objects. */
#ifndef TSR_LIGHT_LIGHT_H
#define TSR_LIGHT_LIGHT_H

#include "light/light_ops.h"
#include "tessera/light.h"

struct tsr_light_matter {
    tsr_context *context;
    tsr_light_medium medium; /* device pointers */
    double voxel, origin[3]; /* edge length; world place of voxel 0, 0, 0 */
    double least_index, most_index, empty;
    int64_t bytes;
};

struct tsr_light_field {
    tsr_context *context;
    int32_t size[3], layers;
    float *field;
    tsr_light_floor floor; /* light: device memory or NULL; sums NULL */
};

enum { TSR_LIGHT_SIDES = 512 }; /* indices on either side of 256 surfaces */
/* Arrays of a matter on the host, [z][y][x][4] each, of malloc; NULL: none. index[..][0] is set, gradients are not yet. */
typedef struct tsr_light_arrays {
    int32_t size[3];
    double voxel, origin[3];
    float *index, *dim, *scatter, *emit, *skin;
    /* Surfaces that are known exactly: edge[..][0] is set as tsr_light_medium says, gradients are not yet; cells[..] is the surface that is nearest to a voxel. NULL: none */
    float *edge, sides[TSR_LIGHT_SIDES];
    uint8_t *cells;
} tsr_light_arrays;
tsr_status tsr_light_arrays_create(tsr_light_arrays *a, float **array);
void tsr_light_arrays_destroy(tsr_light_arrays *a);
/* Gradients, blocks; to the device. */
tsr_status tsr_light_matter_take(tsr_context *context, tsr_light_arrays *arrays, tsr_light_matter **matter);

static inline int64_t tsr_light_voxels(const int32_t size[3]) { return (int64_t)size[0] * size[1] * size[2]; }
/* World to voxels. */
static inline void tsr_light_place(const tsr_light_matter *m, const double world[3], double to[3])
{
    for (int k = 0; k < 3; k++) to[k] = (world[k] - m->origin[k]) / m->voxel;
}
tsr_status tsr_light_require(tsr_context *context, const tsr_light_matter *matter);
/* Lights that can be: kinds, directions, colours. */
tsr_status tsr_light_check_sources(const tsr_light_source *sources, int32_t count);
void tsr_light_cone(const tsr_light_source *source, double *inner, double *outer); /* cosines of a spot */

#endif
