/* volume/distance.c: host logic of the exact distance transform. */
#include "tessera/distance.h"

#include <math.h>

#include "volume/distance_ops.h"
#include "volume/volume.h"

enum { MOST_EXTENT = 65535 }; /* positions along a line are 16 bits */

/* Spacings relative to the smallest, squared, and the inner boxes of distance_line.h, which are points for distances between centres; within
 * rounding of the affine matrix equal spacings count as equal. */
static tsr_status weights(const tsr_geometry *geometry, int centres, float weight[3], float core[3], double *smallest)
{
    tsr_vec3 spacing = tsr_geometry_spacing(geometry);
    const double h[3] = { spacing.x, spacing.y, spacing.z };
    *smallest = fmin(h[0], fmin(h[1], h[2]));
    for (int axis = 0; axis < 3; axis++) {
        double ratio = h[axis] / *smallest;
        if (!(ratio <= 1e6))
            TSR_FAIL(TSR_ERROR_ARGUMENT, "distance transform: spacings %g, %g and %g, expected ratios up to 1e6", h[0], h[1], h[2]);
        const int equal = ratio < 1 + 1e-6;
        weight[axis] = equal ? 1.0f : (float)(ratio * ratio);
        core[axis] = equal || centres ? 0.0f : (float)(0.5 - 0.5 / ratio);
    }
    return TSR_OK;
}

tsr_status tsr_distance_transform(tsr_context *context, const tsr_volume *mask, const tsr_distance_options *options, tsr_volume **distance)
{
    TSR_RETURNS(distance);
    TSR_NEEDS(context, mask);
    tsr_distance_options own = TSR_DISTANCE_OPTIONS;
    void *scratch = NULL;
    float weight[3], core[3];
    double smallest;
    tsr_status status;
    TSR_TRY(TSR_OPTIONS_TAKE(&own, options));
    TSR_TRY(tsr_volume_require(context, mask, "mask"));
    if (own.mode != TSR_DISTANCE_SIGNED && own.mode != TSR_DISTANCE_TO_MASK)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "distance transform: mode is %d, expected TSR_DISTANCE_SIGNED or TSR_DISTANCE_TO_MASK", (int)own.mode);
    if (!(own.band >= 0)) TSR_FAIL(TSR_ERROR_ARGUMENT, "distance transform: band is %g, expected 0 (none) or more", own.band);
    if (mask->size.x > MOST_EXTENT || mask->size.y > MOST_EXTENT || mask->size.z > MOST_EXTENT)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "distance transform: extents %lld x %lld x %lld, expected at most %d each", (long long)mask->size.x,
                 (long long)mask->size.y, (long long)mask->size.z, MOST_EXTENT);
    TSR_TRY(tsr_geometry_check_perpendicular(&mask->geometry, "distance transform: the mask"));
    TSR_TRY(weights(&mask->geometry, own.mode == TSR_DISTANCE_TO_MASK, weight, core, &smallest));
    TSR_TRY(tsr_volume_create(context, TSR_F32, mask->size, &mask->geometry, distance));
    const tsr_distance_ops *ops = context->backend->distance;
    size_t bytes = (size_t)ops->scratch_bytes(context->queue, mask->size);
    TSR_TRY_GOTO(tsr_volume_copy_header(*distance, mask), fail);
    TSR_TRY_GOTO(tsr_volume_set_scaling(*distance, 1, 0), fail);
    TSR_TRY_GOTO(tsr_device_allocate(context, bytes, &scratch), fail);
    tsr_distance_finish finish = { .mode = (int32_t)own.mode, .scale = (float)smallest, .half = (float)(0.5 * smallest),
                                   .band = own.band > 0 ? (float)own.band : INFINITY };
    TSR_TRY_GOTO(
        ops->transform(context->queue, mask->data, mask->dtype, mask->size, weight, core, &finish, scratch, (float *)(*distance)->data), fail);
    tsr_device_release(context, scratch, bytes);
    return TSR_OK;
fail:
    if (scratch) tsr_device_release(context, scratch, bytes);
    tsr_volume_destroy(distance);
    return status;
}
