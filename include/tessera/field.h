/* tessera/field.h: vector fields on regular grids, steady or a series in time: what contours (tessera/contours.h) and stream lines
 * (tessera/streamlines.h) are made of; derived volumes (curl, divergence, Q criterion, FTLE ...); analytic fields to try things on.
 *
 * A field has a vector at every sample of a grid. The components are those along the axes of the WORLD; positions in between are interpolated
 * trilinearly. The axes of the grid must be perpendicular. Beside the vectors v the field keeps, computed once when it is made, the acceleration
 * w = J v along a stream line (J the Jacobian by central differences, one-sided at the border), the curvature kappa = |v x w| / |v|^3 of the stream
 * line (0 where |v| is at most 10^-6 of the largest) and the magnitude of the curl: 32 bytes a sample. In between, w is interpolated as a field of its
 * own. Class: exact (the same bits on every backend). Source: docs/theory/flow.md. */
#ifndef TESSERA_FIELD_H
#define TESSERA_FIELD_H

#include "tessera/io.h"
#include "tessera/volume.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tsr_vector_field tsr_vector_field;

/* From three host volumes of the same size and geometry, the components along x, y and z of the world (any element type, scaling applied, taken to
 * float32). COPIES; the field lives on the context's device. A field whose longest vector is below 1e-18 world units or cells long counts as zeros.
 * TSR_ERROR_ARGUMENT: an extent below 2, sizes or geometries that differ, a value that is not finite (the message names the first sample), a vector
 * longer than 1e18 world units or cells; TSR_ERROR_UNSUPPORTED: axes that are not perpendicular. RETURNS NEW. */
TSR_API tsr_status tsr_field_create(tsr_context *context, const tsr_volume *const components[3], tsr_vector_field **field) TSR_CHECKED;
TSR_API void tsr_field_destroy(tsr_vector_field **field);

typedef struct tsr_field_info {
    size_t struct_size;
    tsr_size3 size;
    tsr_geometry geometry;
    double speed_max, speed_rms;  /* of |v| at the samples */
    double accel_max, accel_rms;  /* of |w| */
    int64_t device_bytes;
} tsr_field_info;
#define TSR_FIELD_INFO TSR_SIZED(tsr_field_info)
TSR_API tsr_status tsr_field_describe(const tsr_vector_field *field, tsr_field_info *info) TSR_CHECKED;

/* What a field says of one place. Index coordinates: (0, 0, 0) is the first sample. */
typedef struct tsr_vector_sample {
    tsr_vec3 v, w;        /* along the world's axes */
    double curvature, vorticity;
} tsr_vector_sample;
/* Interpolated at host positions (index coordinates, [count][3]), clamped to the grid. Waits. For probes and tests: a few thousand places. */
TSR_API tsr_status tsr_field_probe(const tsr_vector_field *field, const double *positions, int64_t count, tsr_vector_sample *samples) TSR_CHECKED;

/* ---- files --------------------------------------------------------------------------------------------------------------------- */

/* Reads the three components as host volumes (RETURNS NEW, components[3]): of one file with voxels of three numbers (NRRD with a vector axis, NIfTI vectors,
 * NumPy arrays of shape z, y, x, 3, MetaImage with 3 channels, legacy VTK image data with VECTORS or an array of 3 components), or of three files of one
 * number a voxel each. `count` is 1 or 3. Components of three files whose names say LPS or RAS stay as they are: numbers along the axes of the world.
 * Errors as tsr_volume_read; TSR_ERROR_FORMAT for a file of one component, or of more than three. */
TSR_API tsr_status tsr_field_read(const char *const *paths, int32_t count, const tsr_read_options *options, tsr_volume *components[3]) TSR_CHECKED;
/* Writes three host volumes of one size as one file: .nrrd (vector axis first, float32), .npy (z, y, x, 3), .vtk (legacy image data, binary). Of .npy and
 * .vtk only spacing (and .vtk the origin) are kept. */
TSR_API tsr_status tsr_field_write(const tsr_volume *const components[3], const char *path, const tsr_write_options *options) TSR_CHECKED;

/* ---- analytic fields ----------------------------------------------------------------------------------------------------------- */

typedef struct tsr_field_shape {
    const char *name;        /* "field-saddle", ...; static */
    const char *description; /* one line; static */
    tsr_size3 size;          /* default extents */
    tsr_vec3 lower, upper;   /* the box whose corners are the first and the last sample */
} tsr_field_shape;
TSR_API const tsr_field_shape *tsr_field_shape_at(int32_t index); /* index 0, 1, ... until it returns NULL. RETURNS VIEW, static */

typedef struct tsr_field_options {
    size_t struct_size;
    tsr_size3 size;  /* extents, each 2 or more; 0: the field's own */
    double time;     /* of fields that change with time (storm, double gyre, Taylor-Green decays) */
    int32_t threads; /* 0 = all */
    tsr_progress progress;
} tsr_field_options;
#define TSR_FIELD_OPTIONS TSR_SIZED(tsr_field_options)
/* Makes the components as float32 host volumes (RETURNS NEW, components[3]). TSR_ERROR_ARGUMENT for an unknown name (the message lists the names). */
TSR_API tsr_status tsr_field_make(const char *name, const tsr_field_options *options, tsr_volume *components[3]) TSR_CHECKED;

/* ---- derived volumes ----------------------------------------------------------------------------------------------------------- */

/* By the same differences as w, in world units. */
typedef enum tsr_field_quantity {
    TSR_FIELD_SPEED = 0,  /* |v| */
    TSR_FIELD_CURVATURE,  /* kappa of the stream line, 1 / length */
    TSR_FIELD_VORTICITY,  /* |curl v| */
    TSR_FIELD_DIVERGENCE, /* trace of J */
    TSR_FIELD_Q,          /* Q criterion (Hunt et al. 1988): (|Omega|^2 - |S|^2) / 2, positive in vortices */
    TSR_FIELD_HELICITY,   /* v . curl v */
    TSR_FIELD_CURL_X,     /* curl v along the axes of the world */
    TSR_FIELD_CURL_Y,
    TSR_FIELD_CURL_Z,
    TSR_FIELD_QUANTITIES
} tsr_field_quantity;
/* "speed", "curvature", ...; TSR_ERROR_ARGUMENT with the list for another name. */
TSR_API tsr_status tsr_field_quantity_parse(const char *name, tsr_field_quantity *quantity) TSR_CHECKED;
TSR_API const char *tsr_field_quantity_name(tsr_field_quantity quantity);
/* float32 volume on the field's device. RETURNS NEW. */
TSR_API tsr_status tsr_field_derive(const tsr_vector_field *field, tsr_field_quantity quantity, tsr_volume **volume) TSR_CHECKED;

/* ---- series in time ------------------------------------------------------------------------------------------------------------ */

/* Fields of the same grid at ascending times; in between vectors are interpolated linearly. The fields are BORROWED for the time of a call. */
typedef struct tsr_field_series {
    const tsr_vector_field *const *fields;
    const double *times; /* [count], ascending */
    int32_t count;       /* 1: steady, at all times */
} tsr_field_series;

typedef struct tsr_ftle_options {
    size_t struct_size;
    double start;    /* time at which particles start, inside the series */
    double duration; /* of their way; below 0: backward in time (attracting structures); not 0 */
    double step;     /* of RK4, in time; 0: duration / 100 */
    tsr_progress progress;
} tsr_ftle_options;
#define TSR_FTLE_OPTIONS TSR_SIZED(tsr_ftle_options)
/* Finite-time Lyapunov exponent at every sample (Haller 2001): ln sqrt(largest eigenvalue of F^T F) / |duration|, F the gradient of the flow map by
 * differences of neighbouring particles in world units. Particles that leave the grid stay where they left it. float32 volume on the fields' device.
 * RETURNS NEW. */
TSR_API tsr_status tsr_field_ftle(const tsr_field_series *series, const tsr_ftle_options *options, tsr_volume **volume) TSR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
