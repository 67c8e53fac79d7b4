/* volume/filter.c: host logic of tessera/filter.h: cutting, turning, resampling, smoothing. */
#include "tessera/filter.h"

#include <math.h>

#include "volume/deterministic.h"
#include "volume/volume.h"

/* ---- cutting and turning ------------------------------------------------------------------------------------------------------ */

/* Runs a plan whose size, axes, flip, offset and border are set; the geometry follows from them. */
static tsr_status rearrange(tsr_context *context, const tsr_volume *volume, tsr_rearrange *plan, tsr_volume **out)
{
    tsr_status status;
    const int64_t input[3] = { volume->size.x, volume->size.y, volume->size.z };
    tsr_geometry geometry = volume->geometry;
    double origin[3] = { 0 }; /* input index of output voxel 0 */
    for (int a = 0; a < 3; a++) {
        plan->input_size[a] = input[a];
        origin[plan->axes[a]] = (double)plan->offset[a];
        for (int r = 0; r < 3; r++) geometry.affine[r][a] = (plan->flip[a] ? -1.0 : 1.0) * volume->geometry.affine[r][plan->axes[a]];
    }
    tsr_vec3 world = tsr_geometry_to_world(&volume->geometry, (tsr_vec3){ origin[0], origin[1], origin[2] });
    geometry.affine[0][3] = world.x;
    geometry.affine[1][3] = world.y;
    geometry.affine[2][3] = world.z;
    TSR_TRY(tsr_volume_create_like(context, volume, volume->dtype, (tsr_size3){ plan->size[0], plan->size[1], plan->size[2] }, &geometry, out));
    (*out)->slope = volume->slope;
    (*out)->intercept = volume->intercept;
    TSR_TRY_GOTO(context->backend->volume->rearrange(context->queue, plan, volume->data, (*out)->data, tsr_dtype_size(volume->dtype)), fail);
    return TSR_OK;
fail:
    tsr_volume_destroy(out);
    return status;
}

tsr_status tsr_volume_crop(tsr_context *context, const tsr_volume *volume, tsr_size3 begin, tsr_size3 end, tsr_volume **cropped)
{
    TSR_RETURNS(cropped);
    TSR_NEEDS(context, volume);
    TSR_TRY(tsr_volume_require(context, volume, "volume"));
    const int64_t from[3] = { begin.x, begin.y, begin.z }, to[3] = { end.x, end.y, end.z },
                  size[3] = { volume->size.x, volume->size.y, volume->size.z };
    tsr_rearrange plan = { .axes = { 0, 1, 2 }, .border = TSR_BORDER_REPLICATE };
    for (int a = 0; a < 3; a++) {
        if (from[a] < 0 || from[a] >= to[a] || to[a] > size[a])
            TSR_FAIL(TSR_ERROR_ARGUMENT, "crop: range %c is %lld to %lld, expected 0 <= begin < end <= %lld", "xyz"[a], (long long)from[a],
                     (long long)to[a], (long long)size[a]);
        plan.offset[a] = from[a];
        plan.size[a] = to[a] - from[a];
    }
    TSR_TRY(rearrange(context, volume, &plan, cropped));
    return TSR_OK;
}

tsr_status tsr_volume_pad(tsr_context *context, const tsr_volume *volume, tsr_size3 before, tsr_size3 after, tsr_border border, double value,
                          tsr_volume **padded)
{
    TSR_RETURNS(padded);
    TSR_NEEDS(context, volume);
    TSR_TRY(tsr_volume_require(context, volume, "volume"));
    if ((int)border < 0 || border > TSR_BORDER_CONSTANT)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "pad: border %d, expected replicate, mirror or constant", (int)border);
    const int64_t low[3] = { before.x, before.y, before.z }, high[3] = { after.x, after.y, after.z };
    const int64_t size[3] = { volume->size.x, volume->size.y, volume->size.z };
    tsr_rearrange plan = { .axes = { 0, 1, 2 }, .border = border };
    for (int a = 0; a < 3; a++) {
        if (low[a] < 0 || high[a] < 0 || low[a] > INT64_MAX / 4 || high[a] > INT64_MAX / 4)
            TSR_FAIL(TSR_ERROR_ARGUMENT, "pad: %lld and %lld voxels along %c, expected numbers >= 0", (long long)low[a], (long long)high[a],
                     "xyz"[a]);
        plan.offset[a] = -low[a];
        plan.size[a] = size[a] + low[a] + high[a];
    }
    tsr_voxel_store(&plan.value, volume->dtype, 0, (value - volume->intercept) / volume->slope);
    TSR_TRY(rearrange(context, volume, &plan, padded));
    return TSR_OK;
}

tsr_status tsr_volume_permute(tsr_context *context, const tsr_volume *volume, const int32_t axes[3], const int32_t *flip, tsr_volume **permuted)
{
    TSR_RETURNS(permuted);
    TSR_NEEDS(volume);
    TSR_TRY(tsr_volume_require(context, volume, "volume"));
    const int64_t size[3] = { volume->size.x, volume->size.y, volume->size.z };
    int seen = 0;
    for (int a = 0; a < 3; a++) seen |= axes[a] >= 0 && axes[a] < 3 ? 1 << axes[a] : 0;
    if (seen != 7) TSR_FAIL(TSR_ERROR_ARGUMENT, "permute: axes %d %d %d, expected a permutation of 0 1 2", (int)axes[0], (int)axes[1], (int)axes[2]);
    tsr_rearrange plan = { .border = TSR_BORDER_REPLICATE };
    for (int a = 0; a < 3; a++) {
        plan.axes[a] = axes[a];
        plan.flip[a] = flip && flip[a];
        plan.size[a] = size[axes[a]];
        plan.offset[a] = plan.flip[a] ? size[axes[a]] - 1 : 0;
    }
    TSR_TRY(rearrange(context, volume, &plan, permuted));
    return TSR_OK;
}

/* ---- resampling --------------------------------------------------------------------------------------------------------------- */

/* Extents and geometry of the target. */
static tsr_status resample_target(const tsr_volume *volume, const tsr_resample_options *o, tsr_size3 *size, tsr_geometry *geometry)
{
    const int channels = tsr_volume_channels(volume); /* stay as they are */
    const double want[3] = { o->spacing.x, o->spacing.y, channels ? tsr_geometry_spacing(&volume->geometry).z : o->spacing.z };
    const int64_t input[3] = { volume->size.x, volume->size.y, volume->size.z };
    int64_t target[3] = { o->size.x, o->size.y, o->size.z };
    int have_size = target[0] || target[1] || target[2], have_spacing = o->spacing.x != 0 || o->spacing.y != 0 || o->spacing.z != 0;
    if (o->geometry) {
        if (!have_size || have_spacing) TSR_FAIL(TSR_ERROR_ARGUMENT, "resample: a target geometry needs size and no spacing");
        TSR_TRY(tsr_geometry_check(o->geometry));
        if (o->geometry->space != volume->geometry.space && o->geometry->space != TSR_SPACE_NONE && volume->geometry.space != TSR_SPACE_NONE)
            TSR_FAIL(TSR_ERROR_ARGUMENT, "resample: target and volume use different world axes (RAS, LPS): convert one with tsr_geometry_convert");
        *geometry = *o->geometry;
        *size = o->size;
        return TSR_OK;
    }
    if (!have_size && !have_spacing) TSR_FAIL(TSR_ERROR_ARGUMENT, "resample: none of geometry, size and spacing is set");
    tsr_vec3 s = tsr_geometry_spacing(&volume->geometry);
    const double have[3] = { s.x, s.y, s.z };
    double ratio[3], start[3]; /* input index = ratio * target index + start */
    for (int a = 0; a < 3; a++) {
        if (have_spacing && !(want[a] > 0 && isfinite(want[a])))
            TSR_FAIL(TSR_ERROR_ARGUMENT, "resample: spacing %c is %g, expected a positive number", "xyz"[a], want[a]);
        if (have_size && target[a] <= 0)
            TSR_FAIL(TSR_ERROR_ARGUMENT, "resample: size %c is %lld, expected a positive number", "xyz"[a], (long long)target[a]);
        if (!have_size) {
            double n = floor((double)input[a] * have[a] / want[a] + 0.5);
            if (n > 1e15) TSR_FAIL(TSR_ERROR_ARGUMENT, "resample: spacing %c is %g, which makes %g voxels", "xyz"[a], want[a], n);
            target[a] = n < 1 ? 1 : (int64_t)n;
        }
        ratio[a] = have_spacing ? want[a] / have[a] : (double)input[a] / (double)target[a];
        start[a] = 0.5 * ((double)(input[a] - 1) - ratio[a] * (double)(target[a] - 1)); /* the centre stays */
    }
    *geometry = volume->geometry;
    tsr_vec3 world = tsr_geometry_to_world(&volume->geometry, (tsr_vec3){ start[0], start[1], start[2] });
    const double origin[3] = { world.x, world.y, world.z };
    for (int r = 0; r < 3; r++) {
        for (int a = 0; a < 3; a++) geometry->affine[r][a] *= ratio[a];
        geometry->affine[r][3] = origin[r];
    }
    *size = (tsr_size3){ target[0], target[1], target[2] };
    return TSR_OK;
}

/* Target index to input index; entries that are rounding noise of an axis-aligned pair become the exact 0 the fast path looks for. */
static tsr_status resample_matrix(const tsr_geometry *target, const tsr_geometry *input, double matrix[3][4])
{
    tsr_vec3 corner[4], origin;
    for (int c = 0; c < 4; c++) {
        tsr_vec3 world = { target->affine[0][c], target->affine[1][c], target->affine[2][c] };
        TSR_TRY(tsr_geometry_to_index(input, world, &corner[c]));
    }
    TSR_TRY(tsr_geometry_to_index(input, (tsr_vec3){ 0, 0, 0 }, &origin));
    for (int c = 0; c < 4; c++) {
        const double v[3] = { corner[c].x, corner[c].y, corner[c].z }, o[3] = { origin.x, origin.y, origin.z };
        for (int r = 0; r < 3; r++) matrix[r][c] = c < 3 ? v[r] - o[r] : v[r];
    }
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
            double largest = fmax(fabs(matrix[r][0]), fmax(fabs(matrix[r][1]), fabs(matrix[r][2])));
            if (fabs(matrix[r][c]) < 1e-12 * largest) matrix[r][c] = 0;
        }
    return TSR_OK;
}

/* Is any voxel of the target within the volume (its outer faces included)? Row by row, the interval of x in which all three positions are. */
static int overlaps(const tsr_resample_plan *p)
{
    for (int64_t z = 0; z < p->size[2]; z++)
        for (int64_t y = 0; y < p->size[1]; y++) {
            double low = 0, high = (double)(p->size[0] - 1);
            for (int r = 0; r < 3; r++) {
                const double row = tsr_resample_row(p, r, (double)y, (double)z), step = p->matrix[r][0];
                const double first = -0.5 - row, last = (double)p->input_size[r] - 0.5 - row; /* step * x lies between them */
                if (step != 0) {
                    low = fmax(low, (step > 0 ? first : last) / step);
                    high = fmin(high, (step > 0 ? last : first) / step);
                } else if (!(first <= 0 && last >= 0)) high = -1;
            }
            if (ceil(low - 1e-9) <= high + 1e-9) return 1;
        }
    return 0;
}

/* The value outside as it is stored. */
static tsr_status stored_value(const tsr_volume *volume, double value, double *stored)
{
    uint64_t one = 0;
    *stored = (value - volume->intercept) / volume->slope;
    if (volume->dtype == TSR_F32 || volume->dtype == TSR_F64) return TSR_OK;
    tsr_voxel_store(&one, volume->dtype, 0, *stored);
    if (fabs(tsr_voxel_load(&one, volume->dtype, 0) - *stored) <= 0.5 + 1e-12 * fabs(*stored)) return TSR_OK;
    TSR_FAIL(TSR_ERROR_ARGUMENT, "resample: the value outside is %g, which voxels of type %s with slope %g and intercept %g do not hold", value,
             tsr_dtype_name(volume->dtype), volume->slope, volume->intercept);
}

tsr_status tsr_volume_resample(tsr_context *context, const tsr_volume *volume, const tsr_resample_options *options, tsr_volume **resampled)
{
    TSR_RETURNS(resampled);
    TSR_NEEDS(context, volume);
    tsr_status status;
    tsr_resample_options o;
    tsr_resample_plan plan = { 0 };
    tsr_geometry geometry;
    tsr_size3 size;
    TSR_TRY(tsr_options_take(&o, sizeof o, options));
    TSR_TRY(tsr_volume_require(context, volume, "volume"));
    if ((int)o.interpolation < 0 || o.interpolation > TSR_INTERPOLATE_LABEL)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "resample: interpolation %d, expected linear, nearest, cubic or label", (int)o.interpolation);
    if (o.border != TSR_BORDER_REPLICATE && o.border != TSR_BORDER_CONSTANT)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "resample: border %d, expected replicate or constant", (int)o.border);
    TSR_TRY(resample_target(volume, &o, &size, &geometry));
    if (o.interpolation == TSR_INTERPOLATE_LINEAR || o.interpolation == TSR_INTERPOLATE_CUBIC)
        TSR_TRY(tsr_volume_check_finite(context, volume, "resample"));
    TSR_TRY(resample_matrix(&geometry, &volume->geometry, plan.matrix));
    const int64_t to[3] = { size.x, size.y, size.z }, from[3] = { volume->size.x, volume->size.y, volume->size.z };
    memcpy(plan.size, to, sizeof to);
    memcpy(plan.input_size, from, sizeof from);
    plan.interpolation = o.interpolation;
    plan.constant = o.border == TSR_BORDER_CONSTANT;
    if (plan.constant) TSR_TRY(stored_value(volume, o.value, &plan.value));
    if (o.geometry && !overlaps(&plan))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "resample: no voxel of the target grid lies within the volume, expected grids that overlap");
    TSR_TRY(tsr_volume_create_like(context, volume, volume->dtype, size, &geometry, resampled));
    (*resampled)->slope = volume->slope;
    (*resampled)->intercept = volume->intercept;
    TSR_TRY_GOTO(context->backend->volume->resample(context->queue, &plan, volume->data, volume->dtype, (*resampled)->data), fail);
    return TSR_OK;
fail:
    tsr_volume_destroy(resampled);
    return status;
}

/* ---- smoothing ---------------------------------------------------------------------------------------------------------------- */

/* Sampled Gaussian, normalised so that w[0] + 2 (w[1] + ... ) = 1, computed in float64 with our own exp: the same on every machine. */
static void gaussian_weights(double sigma, int64_t radius, float *w)
{
    double total = 1;
    for (int64_t k = 1; k <= radius; k++) total += 2 * tsr_det_exp(-0.5 * (double)k * (double)k / (sigma * sigma));
    w[0] = (float)(1 / total);
    for (int64_t k = 1; k <= radius; k++) w[k] = (float)(tsr_det_exp(-0.5 * (double)k * (double)k / (sigma * sigma)) / total);
}

static tsr_status smooth_radii(const tsr_volume *volume, const tsr_smooth_options *o, double sigma[3], int64_t radius[3])
{
    double truncation = o->truncation == 0 ? 4 : o->truncation;
    if (!o->in_voxels && o->sigma != 0) TSR_TRY(tsr_geometry_check_perpendicular(&volume->geometry, "smooth"));
    tsr_vec3 s = tsr_geometry_spacing(&volume->geometry);
    const double spacing[3] = { s.x, s.y, s.z };
    const int64_t size[3] = { volume->size.x, volume->size.y, tsr_volume_channels(volume) ? 1 : volume->size.z }; /* channels stay apart */
    if (!(o->sigma >= 0) || !isfinite(o->sigma)) TSR_FAIL(TSR_ERROR_ARGUMENT, "smooth: sigma is %g, expected a finite number >= 0", o->sigma);
    if (!(truncation > 0) || !isfinite(truncation))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "smooth: truncation is %g, expected a positive number", o->truncation);
    for (int a = 0; a < 3; a++) {
        sigma[a] = o->in_voxels ? o->sigma : o->sigma / spacing[a];
        double r = ceil(truncation * sigma[a]), most = 4 * (double)tsr_max64(size[a], 64);
        if (r > most)
            TSR_FAIL(TSR_ERROR_ARGUMENT, "smooth: sigma %g is %g voxels along %c, expected a kernel radius of at most %g voxels, 4 times the extent",
                     o->sigma, sigma[a], "xyz"[a], most);
        radius[a] = size[a] == 1 ? 0 : (int64_t)r; /* one sample and its replicas: the kernel's sum is 1 */
    }
    return TSR_OK;
}

/* Smooths into `to` (device memory). */
static tsr_status smooth_into(tsr_context *context, const tsr_volume *volume, const tsr_smooth_options *o, float *to)
{
    tsr_status status;
    tsr_smooth_plan plan = { .size = { volume->size.x, volume->size.y, volume->size.z } };
    double sigma[3];
    TSR_TRY(smooth_radii(volume, o, sigma, plan.radius));
    size_t total = (size_t)(plan.radius[0] + plan.radius[1] + plan.radius[2] + 3), bytes = total * sizeof(float);
    size_t scratch_bytes = context->backend->volume->smooth_needs_scratch ? (size_t)tsr_volume_count(volume) * sizeof(float) : 0;
    float *host = NULL;
    void *device = NULL, *scratch = NULL;
    TSR_TRY(tsr_host_allocate(NULL, bytes, (void **)&host));
    TSR_TRY_GOTO(tsr_device_allocate(context, bytes, &device), done);
    TSR_TRY_GOTO(tsr_device_allocate(context, scratch_bytes, &scratch), done);
    float *at = host;
    for (int a = 0; a < 3; at += plan.radius[a] + 1, a++) {
        gaussian_weights(sigma[a], plan.radius[a], at);
        plan.weights[a] = (const float *)device + (at - host);
    }
    TSR_TRY_GOTO(context->backend->upload(context->queue, device, host, bytes), done);
    tsr_source source = tsr_volume_source(volume);
    TSR_TRY_GOTO(context->backend->volume->smooth(context->queue, &plan, &source, to, (float *)scratch), done);
done:
    tsr_device_release(context, scratch, scratch_bytes);
    tsr_device_release(context, device, bytes);
    tsr_host_release(NULL, host, bytes);
    return status;
}

tsr_status tsr_volume_smooth(tsr_context *context, const tsr_volume *volume, const tsr_smooth_options *options, tsr_volume **smoothed)
{
    TSR_RETURNS(smoothed);
    TSR_NEEDS(context, volume);
    tsr_status status;
    tsr_smooth_options o;
    TSR_TRY(tsr_options_take(&o, sizeof o, options));
    TSR_TRY(tsr_volume_require(context, volume, "volume"));
    TSR_TRY(tsr_volume_check_finite(context, volume, "smooth"));
    TSR_TRY(tsr_volume_create_like(context, volume, TSR_F32, volume->size, &volume->geometry, smoothed));
    TSR_TRY_GOTO(smooth_into(context, volume, &o, (float *)(*smoothed)->data), fail);
    return TSR_OK;
fail:
    tsr_volume_destroy(smoothed);
    return status;
}

tsr_status tsr_volume_laplacian(tsr_context *context, const tsr_volume *volume, const tsr_smooth_options *options, tsr_volume **laplacian)
{
    TSR_RETURNS(laplacian);
    TSR_NEEDS(context, volume);
    tsr_status status;
    tsr_volume *smoothed = NULL;
    TSR_TRY(tsr_volume_require(context, volume, "volume"));
    TSR_TRY(tsr_geometry_check_perpendicular(&volume->geometry, "Laplacian"));
    TSR_TRY(tsr_volume_smooth(context, volume, options, &smoothed));
    tsr_vec3 s = tsr_geometry_spacing(&volume->geometry);
    const float inverse[3] = { (float)(1 / (s.x * s.x)), (float)(1 / (s.y * s.y)), (float)(1 / (s.z * s.z)) };
    const int64_t size[3] = { volume->size.x, volume->size.y, volume->size.z };
    TSR_TRY_GOTO(tsr_volume_create_like(context, smoothed, TSR_F32, volume->size, &volume->geometry, laplacian), done);
    status = context->backend->volume->laplacian(context->queue, (const float *)smoothed->data, (float *)(*laplacian)->data, size, inverse);
    if (status != TSR_OK) {
        tsr_frame_at(status, __func__, __FILE__, __LINE__);
        tsr_volume_destroy(laplacian);
    }
done:
    tsr_volume_destroy(&smoothed);
    return status;
}
