/* volume/volume.h: the inside of a dense volume. */
#ifndef TSR_VOLUME_VOLUME_H
#define TSR_VOLUME_VOLUME_H

#include "device/backend.h"
#include "volume/volume_ops.h"
#include "tessera/volume.h"

/* Voxels that come piece by piece instead of lying in memory: a volume larger than memory, on its way between files. */
typedef struct tsr_voxel_feed {
    void *user;
    tsr_status (*read)(void *user, int64_t first, int64_t count, void *to); /* voxels [first, first + count) in the order of memory */
} tsr_voxel_feed;

struct tsr_volume {
    tsr_context *context; /* NULL: host memory that belongs to no context */
    tsr_dtype dtype;
    tsr_size3 size;
    int64_t bytes;
    tsr_geometry geometry;
    double slope, intercept;
    void *data;
    void (*release)(void *user, void *data); /* of wrapped memory */
    void *release_user;
    int borrowed;
    int32_t read_only; /* wrapped memory that must not be written */
    const tsr_voxel_feed *feed; /* else NULL; then data is NULL: for the writers of files alone, which go through tsr_output_voxels (formats/pieces.h) */
    int64_t parts[3]; /* frames, layers and channels of the file it was read from (formats/parts.h); 0: no such axis */
    struct tsr_meta { char *key, *value; } *meta;
    int32_t meta_count;
};

/* TSR_ERROR_ARGUMENT unless every kernel of `context` can read the volume: same context, or host memory and a CPU context. */
tsr_status tsr_volume_require(const tsr_context *context, const tsr_volume *volume, const char *name);
/* Volume of uninitialised voxels with the metadata of `like`, slope 1 and intercept 0: for operations that write every voxel. */
tsr_status tsr_volume_create_like(tsr_context *context, const tsr_volume *like, tsr_dtype dtype, tsr_size3 size, const tsr_geometry *geometry,
                                  tsr_volume **volume);

static inline tsr_source tsr_volume_source(const tsr_volume *v) { return (tsr_source){ v->data, v->dtype, v->slope, v->intercept }; }

/* How many of so many samples in host memory are NaN; none of integers. */
int64_t tsr_samples_nan(tsr_dtype dtype, const void *samples, int64_t count);

/* TSR_ERROR_ARGUMENT unless both place every voxel at the same point, LPS and RAS converted, within what text headers keep (1e-4 of the
 * spacing). Where either names no space, only the numbers are compared. `what` begins the message, `advice` ends it. */
tsr_status tsr_geometry_require_same(const tsr_geometry *a, const tsr_geometry *b, const char *what, const char *advice);

/* Copies geometry, scaling and metadata. */
tsr_status tsr_volume_copy_header(tsr_volume *to, const tsr_volume *from);

#endif
