/* tests/segment/sphere.h: moving spheres and measuring them, for tests against analytic answers. */
#ifndef TSR_TESTS_LEVELSET_SPHERE_H
#define TSR_TESTS_LEVELSET_SPHERE_H

#include <math.h>

#include "support.h"
#include "tessera/segment.h"

/* Image whose grey value is the distance from the centre (n-1)/2 of the volume; spacing h. */
static inline tsr_volume *distance_image(tsr_context *context, tsr_size3 n, tsr_vec3 h)
{
    const tsr_geometry geometry = tsr_geometry_make(h, (tsr_vec3){ 0, 0, 0 }, TSR_SPACE_NONE);
    tsr_volume *host, *device;
    require_ok(tsr_volume_create(NULL, TSR_F32, n, &geometry, &host));
    float *v = (float *)tsr_volume_data(host);
    for (int64_t i = 0; i < n.x * n.y * n.z; i++) {
        double x = ((double)(i % n.x) - (double)(n.x - 1) / 2) * h.x, y = ((double)(i / n.x % n.y) - (double)(n.y - 1) / 2) * h.y,
               z = ((double)(i / n.x / n.y) - (double)(n.z - 1) / 2) * h.z;
        v[i] = (float)sqrt(x * x + y * y + z * z);
    }
    require_ok(tsr_volume_copy(host, context, &device));
    tsr_volume_destroy(&host);
    return device;
}

static inline tsr_volume *host_field(const tsr_segmentation *s)
{
    tsr_volume *field, *host;
    require_ok(tsr_segmentation_field(s, &field));
    require_ok(tsr_volume_copy(field, NULL, &host));
    tsr_volume_destroy(&field);
    return host;
}

/* One byte a voxel, inside or not; to be freed. */
static inline uint8_t *host_mask(const tsr_segmentation *s)
{
    tsr_volume *mask, *host;
    require_ok(tsr_segmentation_mask(s, &mask));
    require_ok(tsr_volume_copy(mask, NULL, &host));
    uint8_t *copy = (uint8_t *)malloc((size_t)tsr_volume_count(host));
    assert_non_null(copy);
    memcpy(copy, tsr_volume_data(host), (size_t)tsr_volume_count(host));
    tsr_volume_destroy(&mask);
    tsr_volume_destroy(&host);
    return copy;
}

/* Distances of the zero crossings of all grid edges (linear interpolation) from the centre of the volume. */
typedef struct radius_measure { double mean, least, most; int64_t count; } radius_measure;

static inline radius_measure measure_radius(const tsr_volume *field, int axes /* how many axes count: 3 sphere, 2 cylinder along z */)
{
    const float *p = (const float *)tsr_volume_data_const(field);
    tsr_size3 n = tsr_volume_size(field);
    tsr_vec3 h = tsr_geometry_spacing(tsr_volume_geometry(field));
    const int64_t size[3] = { n.x, n.y, n.z }, stride[3] = { 1, n.x, n.x * n.y };
    const double spacing[3] = { h.x, h.y, h.z };
    radius_measure m = { 0, 1e30, 0, 0 };
    for (int64_t i = 0; i < n.x * n.y * n.z; i++) {
        const int64_t at[3] = { i % n.x, i / n.x % n.y, i / n.x / n.y };
        for (int a = 0; a < axes; a++) {
            if (at[a] + 1 >= size[a] || (p[i] < 0) == (p[i + stride[a]] < 0)) continue;
            double t = (double)p[i] / ((double)p[i] - (double)p[i + stride[a]]), r2 = 0;
            for (int k = 0; k < axes; k++) {
                double x = ((double)at[k] + (k == a ? t : 0) - (double)(size[k] - 1) / 2) * spacing[k];
                r2 += x * x;
            }
            double r = sqrt(r2);
            m.mean += r;
            m.least = fmin(m.least, r);
            m.most = fmax(m.most, r);
            m.count++;
        }
    }
    if (m.count) m.mean /= (double)m.count;
    return m;
}

/* A segmentation that starts as a sphere at the centre. */
static inline tsr_segmentation *start_sphere(tsr_context *context, const tsr_volume *image, const tsr_segment_options *options, double radius)
{
    tsr_segmentation *s;
    tsr_size3 n = tsr_volume_size(image);
    require_ok(tsr_segmentation_create(context, image, options, &s));
    require_ok(tsr_segmentation_sphere(s, (tsr_vec3){ (double)(n.x - 1) / 2, (double)(n.y - 1) / 2, (double)(n.z - 1) / 2 }, radius, 0));
    return s;
}

/* Radius of the surface after so many steps. */
static inline radius_measure radius_after(tsr_segmentation *s, int64_t steps)
{
    tsr_segment_report report = TSR_SEGMENT_REPORT;
    require_ok(tsr_segmentation_step(s, steps, NULL, &report));
    assert_int_equal(report.steps, steps);
    tsr_volume *field = host_field(s);
    radius_measure m = measure_radius(field, 3);
    tsr_volume_destroy(&field);
    return m;
}

/* Options of a surface that moves with constant speed c and curvature weight 1 - alpha, time step dt. */
static inline tsr_segment_options plain_motion(double alpha, double c, double dt)
{
    tsr_segment_options o = TSR_SEGMENT_OPTIONS;
    o.alpha = alpha;
    o.data_weight = 0;
    o.time_step = dt;
    o.term_count = 1;
    o.terms[0] = (tsr_term){ .kind = TSR_TERM_CONSTANT, .weight = 1, .value = c };
    return o;
}

#endif
