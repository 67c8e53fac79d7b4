/* Matter given by a function of the voxel, for suites of light. */
#ifndef TSR_TESTS_LIGHT_SUPPORT_H
#define TSR_TESTS_LIGHT_SUPPORT_H

#include <math.h>

#include "context.h"
#include "tessera/light.h"

/* A volume of n^3 voxels of edge h around the origin. */
static inline tsr_volume *light_volume(int64_t n, double h, double (*f)(const double p[3]))
{
    tsr_volume *v;
    const double first = -0.5 * h * (double)(n - 1);
    const tsr_geometry g = tsr_geometry_make((tsr_vec3){ h, h, h }, (tsr_vec3){ first, first, first }, TSR_SPACE_NONE);
    require_ok(tsr_volume_create(NULL, TSR_F32, (tsr_size3){ n, n, n }, &g, &v));
    float *to = (float *)tsr_volume_data(v);
    for (int64_t i = 0; i < n * n * n; i++) {
        const double p[3] = { first + h * (double)(i % n), first + h * (double)(i / n % n), first + h * (double)(i / n / n) };
        to[i] = (float)f(p);
    }
    return v;
}

static inline double light_one(const double p[3]) { (void)p; return 1; }

static inline tsr_light_matter *light_matter(tsr_context *on, int64_t n, double h, double (*index)(const double p[3]), double (*extinction)(const double p[3]),
                                             double smooth)
{
    tsr_light_volumes v = { .struct_size = sizeof v, .smooth = smooth };
    tsr_light_matter *m;
    tsr_volume *a = light_volume(n, h, index), *b = extinction ? light_volume(n, h, extinction) : NULL;
    v.index = a;
    v.extinction[0] = v.extinction[1] = v.extinction[2] = b;
    require_ok(tsr_light_matter_create(on, &v, &m));
    tsr_volume_destroy(&a);
    tsr_volume_destroy(&b);
    return m;
}

#endif
