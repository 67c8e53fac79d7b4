/* render/transfer_probe.c: transfer functions from probed points (docs/theory/rendering.md 4). */
#include <math.h>

#include "volume/voxel.h"
#include "render/scene.h"

/* Value and gradient magnitude of a host volume at an index position, by float64. */
struct probe {
    const tsr_volume *volume;
    double size[3];
};

static double real(const tsr_volume *v, int64_t i) { return tsr_voxel_real(tsr_voxel_load(v->data, v->dtype, i), v->slope, v->intercept); }
static double voxel(const tsr_volume *v, int64_t x, int64_t y, int64_t z) { return real(v, (z * v->size.y + y) * v->size.x + x); }

static double sample(const struct probe *p, const double at[3])
{
    int64_t cell[3], next[3];
    double f[3], sum = 0;
    for (int k = 0; k < 3; k++) {
        double c = fmin(fmax(at[k], 0), p->size[k] - 1);
        cell[k] = (int64_t)fmin(floor(c), fmax(p->size[k] - 2, 0));
        next[k] = cell[k] + (p->size[k] > 1);
        f[k] = c - (double)cell[k];
    }
    for (int i = 0; i < 8; i++) {
        double w = (i & 1 ? f[0] : 1 - f[0]) * (i & 2 ? f[1] : 1 - f[1]) * (i & 4 ? f[2] : 1 - f[2]);
        if (w > 0) sum += w * voxel(p->volume, i & 1 ? next[0] : cell[0], i & 2 ? next[1] : cell[1], i & 4 ? next[2] : cell[2]);
    }
    return sum;
}

static tsr_status slope(const struct probe *p, const double at[3], double *magnitude)
{
    const tsr_geometry *g = &p->volume->geometry;
    tsr_vec3 world = tsr_geometry_to_world(g, (tsr_vec3){ at[0], at[1], at[2] }), corner;
    double derivative[3], square = 0;
    for (int k = 0; k < 3; k++) {
        double low[3] = { at[0], at[1], at[2] }, high[3] = { at[0], at[1], at[2] };
        low[k] = fmax(at[k] - 1, 0);
        high[k] = fmin(at[k] + 1, p->size[k] - 1);
        derivative[k] = high[k] > low[k] ? (sample(p, high) - sample(p, low)) / (high[k] - low[k]) : 0;
    }
    for (int c = 0; c < 3; c++) { /* along world axis c */
        tsr_vec3 moved = { world.x + (c == 0), world.y + (c == 1), world.z + (c == 2) };
        TSR_TRY(tsr_geometry_to_index(g, moved, &corner));
        double d = derivative[0] * (corner.x - at[0]) + derivative[1] * (corner.y - at[1]) + derivative[2] * (corner.z - at[2]);
        square += d * d;
    }
    *magnitude = sqrt(square);
    return TSR_OK;
}

static void moments(double sum, double squares, int32_t count, double *mean, double *deviation)
{
    *mean = sum / count;
    *deviation = sqrt(fmax(squares / count - *mean * *mean, 0));
}

tsr_status tsr_transfer_probe(tsr_transfer *transfer, const tsr_volume *volume, const tsr_vec3 *points, int32_t count, int by_gradient, double alpha,
                              tsr_color color)
{
    TSR_NEEDS(transfer, volume, points);
    tsr_volume *copy = NULL;
    tsr_status status = TSR_OK;
    if (count < 1) TSR_FAIL(TSR_ERROR_ARGUMENT, "transfer function: %d probed points, expected at least 1", count);
    if (transfer->gaussians < 0 || transfer->gaussians >= TSR_TRANSFER_GAUSSIANS)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "transfer function: %d Gaussians in use, expected fewer than %d so that one can be added", transfer->gaussians,
                 TSR_TRANSFER_GAUSSIANS);
    if (!(alpha > 0 && alpha <= 1)) TSR_FAIL(TSR_ERROR_ARGUMENT, "transfer function: alpha %g, expected (0, 1]", alpha);
    if (volume->context && volume->context->device.kind != TSR_DEVICE_CPU) TSR_TRY(tsr_volume_copy(volume, NULL, &copy));
    const tsr_volume *v = copy ? copy : volume;
    struct probe p = { v, { (double)v->size.x, (double)v->size.y, (double)v->size.z } };
    double sum = 0, squares = 0, steep = 0, steep_squares = 0, least = INFINITY, most = -INFINITY, mean, width, gradient = 0, gradient_width = 0;
    for (int32_t i = 0; i < count; i++) {
        tsr_vec3 at;
        double magnitude = 0;
        TSR_TRY_GOTO(tsr_geometry_to_index(&v->geometry, points[i], &at), end);
        const double place[3] = { at.x, at.y, at.z };
        for (int k = 0; k < 3; k++)
            if (!(place[k] >= -0.5 && place[k] <= p.size[k] - 0.5))
                TSR_FAIL_GOTO(TSR_ERROR_ARGUMENT, end, "probed point %d (%g, %g, %g) lies outside the volume", i, points[i].x, points[i].y,
                              points[i].z);
        double value = sample(&p, place);
        if (!isfinite(value))
            TSR_FAIL_GOTO(TSR_ERROR_ARGUMENT, end, "probed point %d (%g, %g, %g) has no finite value", i, points[i].x, points[i].y, points[i].z);
        if (by_gradient) TSR_TRY_GOTO(slope(&p, place, &magnitude), end);
        sum += value;
        squares += value * value;
        steep += magnitude;
        steep_squares += magnitude * magnitude;
    }
    for (int64_t i = 0; i < v->size.x * v->size.y * v->size.z; i++) {
        double value = real(v, i);
        if (!isfinite(value)) continue;
        least = fmin(least, value);
        most = fmax(most, value);
    }
    moments(sum, squares, count, &mean, &width);
    width = fmax(width, fmax(0.01 * (most - least), 1e-6 * fabs(mean) + 1e-30));
    if (by_gradient) {
        moments(steep, steep_squares, count, &gradient, &gradient_width);
        gradient_width = fmax(gradient_width, fmax(0.01 * gradient, 1e-30));
    }
    transfer->gaussian[transfer->gaussians++] = (struct tsr_transfer_gaussian){ .centre = (float)mean,
                                                                                .width = (float)width,
                                                                                .gradient_centre = (float)gradient,
                                                                                .gradient_width = (float)gradient_width,
                                                                                .alpha = (float)alpha,
                                                                                .color = color };
end:
    tsr_volume_destroy(&copy);
    return status;
}
