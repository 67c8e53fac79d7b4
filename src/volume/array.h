/* volume/array.h: arrays of the caller become the memory of objects. */
#ifndef TSR_VOLUME_ARRAY_H
#define TSR_VOLUME_ARRAY_H

#include "device/backend.h"
#include "tessera/array.h"

/* A view: `axes` extents, slowest first. */
tsr_array tsr_array_view(const tsr_context *context, const void *data, tsr_dtype dtype, int32_t axes, const int64_t *shape);
/* *array as contiguous memory of the context's device: itself, or a copy of it on the host with what it owned released. TSR_ERROR_ARGUMENT unless the type is
 * `dtype` (negative: any). What is read-only is copied, too, if `writable`. On failure the array is as it was. */
tsr_status tsr_array_settle(const tsr_context *context, int dtype, int writable, const char *name, tsr_array *array);

#endif
