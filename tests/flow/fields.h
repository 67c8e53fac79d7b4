/* tests/flow/fields.h: fields by rule, float64 oracles. */
#ifndef TSR_TESTS_FIELDS_H
#define TSR_TESTS_FIELDS_H

#include <math.h>

#include "support.h"

typedef void (*field_rule)(void *user, const double p[3], double v[3]);

/* Samples at origin + spacing * index. */
static inline tsr_vector_field *field_of(tsr_context *context, tsr_size3 n, tsr_vec3 spacing, tsr_vec3 origin, tsr_dtype dtype, field_rule rule, void *user)
{
    const tsr_geometry g = tsr_geometry_make(spacing, origin, TSR_SPACE_NONE);
    tsr_volume *c[3];
    tsr_vector_field *field = NULL;
    for (int k = 0; k < 3; k++) require_ok(tsr_volume_create(NULL, dtype, n, &g, &c[k]));
    for (int64_t i = 0; i < n.x * n.y * n.z; i++) {
        const double p[3] = { origin.x + spacing.x * (double)(i % n.x), origin.y + spacing.y * (double)(i / n.x % n.y), origin.z + spacing.z * (double)(i / n.x / n.y) };
        double v[3];
        rule(user, p, v);
        for (int k = 0; k < 3; k++) {
            if (dtype == TSR_F64) ((double *)tsr_volume_data(c[k]))[i] = v[k];
            else ((float *)tsr_volume_data(c[k]))[i] = (float)v[k];
        }
    }
    require_ok(tsr_field_create(context, (const tsr_volume *const *)c, &field));
    for (int k = 0; k < 3; k++) tsr_volume_destroy(&c[k]);
    return field;
}

/* v = A x, user: double[3][3]. */
static inline void linear_rule(void *user, const double p[3], double v[3])
{
    const double *a = (const double *)user;
    for (int r = 0; r < 3; r++) v[r] = a[3 * r] * p[0] + a[3 * r + 1] * p[1] + a[3 * r + 2] * p[2];
}
/* (-y, x, c), user: double c. */
static inline void helix_rule(void *user, const double p[3], double v[3])
{
    v[0] = -p[1];
    v[1] = p[0];
    v[2] = *(const double *)user;
}
static inline void abc_rule(void *user, const double p[3], double v[3])
{
    const double a = sqrt(3), b = sqrt(2);
    (void)user;
    v[0] = a * sin(p[2]) + cos(p[1]);
    v[1] = b * sin(p[0]) + a * cos(p[2]);
    v[2] = sin(p[1]) + b * cos(p[0]);
}
static inline void abc_acceleration(const double p[3], double w[3])
{
    const double a = sqrt(3), b = sqrt(2);
    double v[3];
    abc_rule(NULL, p, v);
    w[0] = -sin(p[1]) * v[1] + a * cos(p[2]) * v[2];
    w[1] = b * cos(p[0]) * v[0] - a * sin(p[2]) * v[2];
    w[2] = -b * sin(p[0]) * v[0] + cos(p[1]) * v[1];
}
/* n^3 samples of the ABC flow on [0, 2 pi]^3. */
static inline tsr_vector_field *abc_field(tsr_context *context, int64_t n)
{
    const double h = 2 * 3.14159265358979323846 / (double)(n - 1);
    return field_of(context, (tsr_size3){ n, n, n }, (tsr_vec3){ h, h, h }, (tsr_vec3){ 0, 0, 0 }, TSR_F64, abc_rule, NULL);
}
static inline void cross(const double a[3], const double b[3], double c[3])
{
    for (int i = 0; i < 3; i++) c[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}
static inline double dot3(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
static inline double norm3(const double a[3]) { return sqrt(dot3(a, a)); }

static inline tsr_contour_seed *seeds_of(const tsr_contours *contours, int64_t *count)
{
    tsr_contours_seeds(contours, count);
    tsr_contour_seed *seeds = malloc((size_t)(*count + 1) * sizeof *seeds);
    assert_non_null(seeds);
    require_ok(tsr_contours_download(contours, 0, *count, seeds));
    return seeds;
}
static inline float *host_copy(const tsr_volume *volume)
{
    tsr_volume *host;
    const size_t bytes = (size_t)tsr_volume_count(volume) * sizeof(float);
    float *copy = malloc(bytes);
    assert_non_null(copy);
    require_ok(tsr_volume_copy(volume, NULL, &host));
    memcpy(copy, tsr_volume_data(host), bytes);
    tsr_volume_destroy(&host);
    return copy;
}

#endif
