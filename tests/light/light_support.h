/* Matter given by a function of the voxel, for suites of light. */
#ifndef TSR_TESTS_LIGHT_SUPPORT_H
#define TSR_TESTS_LIGHT_SUPPORT_H

#include <math.h>

#include "context.h"
#include "tessera/light.h"

/* A volume of voxels of edge h around the origin. */
static inline tsr_volume *light_box(tsr_size3 n, double h, double (*f)(const double p[3]))
{
    tsr_volume *v;
    const tsr_vec3 first = { -0.5 * h * (double)(n.x - 1), -0.5 * h * (double)(n.y - 1), -0.5 * h * (double)(n.z - 1) };
    const tsr_geometry g = tsr_geometry_make((tsr_vec3){ h, h, h }, first, TSR_SPACE_NONE);
    require_ok(tsr_volume_create(NULL, TSR_F32, n, &g, &v));
    float *to = (float *)tsr_volume_data(v);
    for (int64_t i = 0; i < n.x * n.y * n.z; i++) {
        const double p[3] = { first.x + h * (double)(i % n.x), first.y + h * (double)(i / n.x % n.y), first.z + h * (double)(i / n.x / n.y) };
        to[i] = (float)f(p);
    }
    return v;
}
static inline tsr_volume *light_volume(int64_t n, double h, double (*f)(const double p[3])) { return light_box((tsr_size3){ n, n, n }, h, f); }

static inline double light_one(const double p[3])
{
    (void)p;
    return 1;
}

static inline tsr_light_matter *light_matter_box(tsr_context *on, tsr_size3 n, double h, double (*index)(const double p[3]),
                                                 double (*extinction)(const double p[3]), double smooth)
{
    tsr_light_volumes v = { .struct_size = sizeof v, .smooth = smooth };
    tsr_light_matter *m;
    tsr_volume *a = light_box(n, h, index), *b = extinction ? light_box(n, h, extinction) : NULL;
    v.index = a;
    v.extinction[0] = v.extinction[1] = v.extinction[2] = b;
    require_ok(tsr_light_matter_create(on, &v, &m));
    tsr_volume_destroy(&a);
    tsr_volume_destroy(&b);
    return m;
}
static inline tsr_light_matter *light_matter(tsr_context *on, int64_t n, double h, double (*index)(const double p[3]),
                                             double (*extinction)(const double p[3]), double smooth)
{
    return light_matter_box(on, (tsr_size3){ n, n, n }, h, index, extinction, smooth);
}

#endif
