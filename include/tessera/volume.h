/* tessera/volume.h: dense volumes with geometry.
 *
 * Voxel (x, y, z) of a volume of extents (nx, ny, nz) lies at data[(z*ny + y)*nx + x]: x runs fastest. The value sits AT the
 * integer index (not at a cell corner). world = A * (x, y, z, 1)^T with a 3x4 float64 matrix A, any invertible one; the tag says
 * what the world axes mean. Ranges are half-open. The real value of a voxel is stored * slope + intercept. */
#ifndef TESSERA_VOLUME_H
#define TESSERA_VOLUME_H

#include "tessera/device.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tsr_space { TSR_SPACE_NONE = 0, TSR_SPACE_RAS, TSR_SPACE_LPS } tsr_space;

/* Index to world, world units (millimetres unless the metadata says otherwise). */
typedef struct tsr_geometry {
    double affine[3][4]; /* row r: world_r = affine[r][0] x + affine[r][1] y + affine[r][2] z + affine[r][3] */
    tsr_space space;
} tsr_geometry;

/* Axis-aligned geometry with the given spacing and origin. */
TSR_API tsr_geometry tsr_geometry_make(tsr_vec3 spacing, tsr_vec3 origin, tsr_space space);
TSR_API tsr_vec3 tsr_geometry_spacing(const tsr_geometry *geometry); /* lengths of the three columns */
TSR_API double tsr_geometry_determinant(const tsr_geometry *geometry); /* signed volume of a voxel */
/* Fails with TSR_ERROR_UNSUPPORTED, naming `name`, if two of the index axes are not perpendicular (cosine above 1e-3): level sets are moved and measured
 * along them, as many differences and distances are. Every operation that takes the spacing for lengths along the axes asks this. */
TSR_API tsr_status tsr_geometry_check_perpendicular(const tsr_geometry *geometry, const char *name) TSR_CHECKED;
TSR_API tsr_vec3 tsr_geometry_to_world(const tsr_geometry *geometry, tsr_vec3 index);
/* Fails with TSR_ERROR_ARGUMENT if the matrix is not finite or not invertible. */
TSR_API tsr_status tsr_geometry_to_index(const tsr_geometry *geometry, tsr_vec3 world, tsr_vec3 *index) TSR_CHECKED;
TSR_API tsr_status tsr_geometry_check(const tsr_geometry *geometry) TSR_CHECKED;
/* The same points expressed in the other convention (RAS and LPS differ by the sign of x and y). NONE is left alone. */
TSR_API tsr_geometry tsr_geometry_convert(const tsr_geometry *geometry, tsr_space space);

typedef struct tsr_volume tsr_volume;

/* Creates a volume on the context's device; `context` NULL = plain host memory, usable with every CPU context. The content is
 * zero. Extents must be positive and their product times the element size must fit in int64. COPIES geometry (NULL = unit
 * spacing, origin 0, TSR_SPACE_NONE). The context must outlive the volume. RETURNS NEW. */
TSR_API tsr_status tsr_volume_create(tsr_context *context, tsr_dtype dtype, tsr_size3 size, const tsr_geometry *geometry,
                                     tsr_volume **volume) TSR_CHECKED;

/* Wraps memory of the caller: KEEPS `data` (on the context's device) if `release` is NULL, else ADOPTS it and calls
 * release(user, data) at the end, also when the call fails. */
TSR_API tsr_status tsr_volume_wrap(tsr_context *context, tsr_dtype dtype, tsr_size3 size, const tsr_geometry *geometry, void *data,
                                   void (*release)(void *user, void *data), void *user, tsr_volume **volume) TSR_CHECKED;
TSR_API void tsr_volume_destroy(tsr_volume **volume);

TSR_API tsr_dtype tsr_volume_dtype(const tsr_volume *volume);
TSR_API tsr_size3 tsr_volume_size(const tsr_volume *volume);
TSR_API int64_t tsr_volume_count(const tsr_volume *volume);          /* voxels */
TSR_API tsr_device tsr_volume_device(const tsr_volume *volume);
TSR_API void *tsr_volume_data(tsr_volume *volume);                   /* RETURNS VIEW; device memory on a GPU; NULL over read-only memory (tessera/array.h) */
TSR_API const void *tsr_volume_data_const(const tsr_volume *volume); /* RETURNS VIEW */
TSR_API const tsr_geometry *tsr_volume_geometry(const tsr_volume *volume); /* RETURNS VIEW */
TSR_API tsr_status tsr_volume_set_geometry(tsr_volume *volume, const tsr_geometry *geometry) TSR_CHECKED;
TSR_API void tsr_volume_scaling(const tsr_volume *volume, double *slope, double *intercept);
TSR_API tsr_status tsr_volume_set_scaling(tsr_volume *volume, double slope, double intercept) TSR_CHECKED; /* slope finite, not 0 */

/* Free-form metadata, kept through operations and file round trips. Keys of one format start with its name ("nifti.descrip").
 * Get RETURNS VIEW or NULL; set COPIES (value NULL removes). Enumerate with index 0.. until it returns 0. */
TSR_API const char *tsr_volume_meta(const tsr_volume *volume, const char *key);
TSR_API tsr_status tsr_volume_set_meta(tsr_volume *volume, const char *key, const char *value) TSR_CHECKED;
TSR_API int tsr_volume_meta_at(const tsr_volume *volume, int32_t index, const char **key, const char **value);

/* An image is a volume too: x runs to the right, y downwards, and the third axis counts channels (grey; grey and alpha; red, green, blue; these and alpha),
 * which filters of space leave apart. Metadata say so (image.channel_axis = z), which operations and NRRD, MetaImage and .tsc files keep.
 * tsr_volume_channels: of an image 1 to 4, of another volume 0. tsr_volume_set_channels: says that the third axis, of 4 samples at most, counts channels. */
TSR_API int32_t tsr_volume_channels(const tsr_volume *volume);
TSR_API tsr_status tsr_volume_set_channels(tsr_volume *volume) TSR_CHECKED;

/* The unit of length of the world, in millimetres (0.001 for micrometres), as the metadata of the file say it (NIfTI xyzt_units, NRRD space units, MetaImage
 * DistanceUnits); 0 if they say nothing, which everything here takes for millimetres. The name (static; NULL likewise): "mm", "um", "m", "cm", "nm", "angstrom", "inch". */
TSR_API double tsr_volume_unit(const tsr_volume *volume);
TSR_API const char *tsr_volume_unit_name(const tsr_volume *volume);
/* Says another unit; the geometry stays as it is. TSR_ERROR_ARGUMENT for a name that is none. */
TSR_API tsr_status tsr_volume_set_unit(tsr_volume *volume, const char *name) TSR_CHECKED;

/* Does the file that the volume came from say that its integers are labels (NIfTI: intent code 1002; NRRD: a segmentation, with keys such as Segment0_ID)?
 * Labels are names, not amounts: they must not be interpolated or averaged. 1 or 0. */
TSR_API int tsr_volume_holds_labels(const tsr_volume *volume);

/* Copies a volume to the device of `context` (NULL = host), geometry and metadata included. RETURNS NEW. */
TSR_API tsr_status tsr_volume_copy(const tsr_volume *volume, tsr_context *context, tsr_volume **copy) TSR_CHECKED;

/* New volume of another type on the same device, real values (slope and intercept applied; the result has slope 1, intercept
 * 0). To integers: rounds to nearest even and saturates; NaN becomes 0. Exact class. RETURNS NEW. */
TSR_API tsr_status tsr_volume_convert(tsr_context *context, const tsr_volume *volume, tsr_dtype dtype, tsr_volume **converted) TSR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
