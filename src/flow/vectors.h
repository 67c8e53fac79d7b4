/* flow/vectors.h: the inside of a vector field. */
#ifndef TSR_FLOW_VECTORS_H
#define TSR_FLOW_VECTORS_H

#include "core/vec3.h"
#include "flow/flow_ops.h"
#include "volume/volume.h"

struct tsr_vector_field {
    tsr_context *context;
    tsr_size3 size;
    tsr_geometry geometry;
    tsr_field_grid grid; /* v and w are device memory of the context, which the field owns */
    double inverse[3][4]; /* world to index */
    double hand;          /* sign of the determinant of the axes */
    double spacing;       /* the smallest */
    double speed_max, accel_max;
    double moment[2][3][3]; /* means of v v^T and w w^T in the world */
    size_t bytes;           /* of v, and of w */
};

/* TSR_ERROR_ARGUMENT unless the field is there. */
tsr_status tsr_field_require(const tsr_vector_field *field, const char *name);
/* Does another field have the same size and place? */
tsr_status tsr_field_require_same(const tsr_vector_field *field, const tsr_vector_field *other, const char *what);
/* World to index coordinates. */
void tsr_field_to_index(const tsr_vector_field *field, const double world[3], double index[3]);
/* A volume on the field's device with its geometry. */
tsr_status tsr_field_volume(const tsr_vector_field *field, tsr_volume **volume);
/* TSR_ERROR_ARGUMENT, or the checked arrays of a series on its device: vectors of each frame, and times. The caller releases *memory of *bytes. */
tsr_status tsr_field_series_upload(const tsr_field_series *series, void **memory, size_t *bytes, const float *const **frames, const double **times);

#endif
