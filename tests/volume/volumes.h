/* tests/volume/volumes.h: random volumes with geometry, scaling and metadata, on any device, read back voxel by voxel. */
#ifndef TSR_TESTS_GRID_VOLUMES_H
#define TSR_TESTS_GRID_VOLUMES_H

#include "support.h"

/* Spacing 0.9, 1.3 and 2.1 along perpendicular axes that are none of the world's; and axes that are not perpendicular. */
static const tsr_geometry oblique = { { { 0.6, -1.3 / 3, 1.4, 10 }, { 0.6, 2.6 / 3, -0.7, -20 }, { -0.3, 2.6 / 3, 1.4, 5 } }, TSR_SPACE_RAS };
static const tsr_geometry sheared = { { { 0.8, -0.5, 0.1, 10 }, { 0.4, 1.2, 0.2, -20 }, { 0.1, 0, 2.0, 5 } }, TSR_SPACE_RAS };

/* Host volume of random voxels of any type, with geometry, scaling and metadata. */
static inline tsr_volume *random_volume(uint64_t *random, tsr_dtype dtype, tsr_size3 size)
{
    tsr_volume *values, *volume;
    tsr_context *cpu = test_context_on("cpu", 1);
    require_ok(tsr_volume_create(NULL, TSR_F32, size, &oblique, &values));
    float *v = (float *)tsr_volume_data(values);
    for (int64_t i = 0; i < tsr_volume_count(values); i++)
        v[i] = (float)(test_uniform(random) * 250 - (dtype == TSR_F32 || dtype == TSR_F64 ? 125 : 0));
    require_ok(tsr_volume_set_meta(values, "note", "kept"));
    tsr_volume *converted;
    require_ok(tsr_volume_convert(cpu, values, dtype, &converted));
    require_ok(tsr_volume_copy(converted, NULL, &volume));
    tsr_volume_destroy(&converted);
    tsr_volume_destroy(&values);
    tsr_context_destroy(&cpu);
    return volume;
}

static inline tsr_volume *to_device(tsr_context *context, const tsr_volume *host)
{
    tsr_volume *device;
    require_ok(tsr_volume_copy(host, context, &device));
    return device;
}
/* Brings the result home and destroys the device's. */
static inline tsr_volume *to_host(tsr_volume *device)
{
    tsr_volume *host;
    require_ok(tsr_volume_copy(device, NULL, &host));
    tsr_volume_destroy(&device);
    return host;
}
static inline double voxel(const tsr_volume *v, int64_t i)
{
    const void *p = tsr_volume_data_const(v);
    double slope, intercept, x = 0;
    switch (tsr_volume_dtype(v)) {
    case TSR_U8: x = ((const uint8_t *)p)[i]; break;
    case TSR_I8: x = ((const int8_t *)p)[i]; break;
    case TSR_U16: x = ((const uint16_t *)p)[i]; break;
    case TSR_I16: x = ((const int16_t *)p)[i]; break;
    case TSR_U32: x = ((const uint32_t *)p)[i]; break;
    case TSR_I32: x = ((const int32_t *)p)[i]; break;
    case TSR_U64: x = (double)((const uint64_t *)p)[i]; break;
    case TSR_I64: x = (double)((const int64_t *)p)[i]; break;
    case TSR_F32: x = (double)((const float *)p)[i]; break;
    default: x = ((const double *)p)[i]; break;
    }
    tsr_volume_scaling(v, &slope, &intercept);
    return x * slope + intercept;
}
static inline int64_t at(const tsr_volume *v, int64_t x, int64_t y, int64_t z)
{
    tsr_size3 n = tsr_volume_size(v);
    return (z * n.y + y) * n.x + x;
}
static inline void same_volume(const tsr_volume *a, const tsr_volume *b)
{
    tsr_size3 n = tsr_volume_size(a), m = tsr_volume_size(b);
    assert_true(n.x == m.x && n.y == m.y && n.z == m.z && tsr_volume_dtype(a) == tsr_volume_dtype(b));
    assert_memory_equal(tsr_volume_data_const(a), tsr_volume_data_const(b), (size_t)tsr_volume_count(a) * tsr_dtype_size(tsr_volume_dtype(a)));
    assert_memory_equal(tsr_volume_geometry(a)->affine, tsr_volume_geometry(b)->affine, sizeof oblique.affine);
    assert_true((tsr_volume_meta(a, "note") == NULL) == (tsr_volume_meta(b, "note") == NULL));
}

#endif
