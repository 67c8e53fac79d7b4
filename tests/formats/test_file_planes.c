/* Files a few planes at a time: the samples, statistics and surfaces are those of the whole. */
#include "scratch.h"

#include "tessera/planes.h"
#include "tessera/surface.h"

static tsr_context *cpu;

static tsr_volume *make(tsr_dtype dtype)
{
    const tsr_size3 n = { 40, 36, 50 };
    tsr_geometry g = tsr_geometry_make((tsr_vec3){ 0.5, 0.7, 1.1 }, (tsr_vec3){ -7, 3, 11 }, TSR_SPACE_LPS);
    tsr_volume *v;
    g.affine[0][2] = 0.3;
    require_ok(tsr_volume_create(NULL, dtype, n, &g, &v));
    for (int64_t z = 0, i = 0; z < n.z; z++)
        for (int64_t y = 0; y < n.y; y++)
            for (int64_t x = 0; x < n.x; x++, i++) {
                const double r = sqrt(pow((double)x - 20, 2) + pow((double)y - 17, 2) + pow((double)z - 25, 2)) + 2 * sin((double)(x * y % 17));
                if (dtype == TSR_F32) ((float *)tsr_volume_data(v))[i] = (float)(15 - r);
                else ((int16_t *)tsr_volume_data(v))[i] = (int16_t)lround(100 * (15 - r));
            }
    return v;
}

static void as_the_whole(void **unused)
{
    (void)unused;
    static const char *const names[] = { "a.nii", "a.nii.gz", "a.nrrd", "a.tif", "a.npy" };
    for (int k = 0; k < 10; k++) {
        const char *name = names[k / 2];
        tsr_volume *v = make(k % 2 ? TSR_I16 : TSR_F32), *back;
        tsr_planes *planes;
        tsr_planes_info info = TSR_PLANES_INFO;
        tsr_write_options write = TSR_WRITE_OPTIONS;
        tsr_statistics whole = TSR_STATISTICS, parts = TSR_STATISTICS;
        write.overwrite = 1;
        require_ok(tsr_volume_write(v, scratch(name), &write));
        require_ok(tsr_volume_read(scratch(name), NULL, &back)); /* what the format keeps of the place */
        tsr_read_options read = TSR_READ_OPTIONS;
        read.memory_limit = 60000; /* less than the voxels */
        require_ok(tsr_planes_open(scratch(name), &read, &planes));
        require_ok(tsr_planes_describe(planes, &info));
        const tsr_size3 n = tsr_volume_size(back);
        const size_t plane = (size_t)(n.x * n.y) * tsr_dtype_size(info.dtype);
        assert_true(info.size.x == n.x && info.size.y == n.y && info.size.z == n.z && info.dtype == tsr_volume_dtype(back));
        const tsr_geometry *place = tsr_volume_geometry(back);
        assert_memory_equal(info.geometry.affine, place->affine, sizeof place->affine);
        assert_int_equal(info.geometry.space, place->space);
        uint8_t *samples = (uint8_t *)malloc(7 * plane);
        static const int64_t begins[] = { 0, 43, 5, 20 };
        for (int r = 0; r < 4; r++) { /* in any order */
            require_ok(tsr_planes_read(planes, begins[r], begins[r] + 7, samples));
            assert_memory_equal(samples, (const uint8_t *)tsr_volume_data_const(back) + (size_t)begins[r] * plane, 7 * plane);
        }
        require_error(tsr_planes_read(planes, 44, 51, samples), TSR_ERROR_ARGUMENT, "planes 44 to 51, expected a range within 0 to 50");
        free(samples);
        require_ok(tsr_volume_statistics(cpu, back, &whole));
        require_ok(tsr_planes_statistics(cpu, planes, &parts));
        assert_true(whole.count == parts.count && whole.minimum == parts.minimum && whole.maximum == parts.maximum);
        assert_true(fabs(whole.mean - parts.mean) < 1e-12 * fabs(whole.maximum) && fabs(whole.variance - parts.variance) < 1e-11 * whole.variance);
        tsr_surface_options options = TSR_SURFACE_OPTIONS;
        tsr_planes_source source = TSR_PLANES_SOURCE;
        tsr_mesh *one, *cut;
        options.isovalue = 3;
        options.normals = TSR_SURFACE_NORMALS_CENTRAL;
        require_ok(tsr_planes_as_source(planes, &source));
        require_ok(tsr_surface_extract(cpu, back, &options, &one, NULL));
        require_ok(tsr_surface_extract_source(cpu, &source, &options, 4, &cut, NULL));
        assert_true(tsr_mesh_triangle_count(one) > 1000 && tsr_mesh_triangle_count(one) == tsr_mesh_triangle_count(cut));
        assert_true(tsr_mesh_vertex_count(one) == tsr_mesh_vertex_count(cut));
        assert_memory_equal(tsr_mesh_vertices_const(one), tsr_mesh_vertices_const(cut), (size_t)tsr_mesh_vertex_count(one) * 12);
        assert_memory_equal(tsr_mesh_normals_const(one), tsr_mesh_normals_const(cut), (size_t)tsr_mesh_vertex_count(one) * 12);
        assert_memory_equal(tsr_mesh_triangles_const(one), tsr_mesh_triangles_const(cut), (size_t)tsr_mesh_triangle_count(one) * 12);
        tsr_mesh_destroy(&one);
        tsr_mesh_destroy(&cut);
        tsr_planes_close(&planes);
        tsr_volume_destroy(&back);
        tsr_volume_destroy(&v);
        scratch_files(1);
    }
}

/* What is not finite is counted where it lies, in whichever slab. */
static void not_finite(void **unused)
{
    (void)unused;
    tsr_volume *v = make(TSR_F32);
    float *data = (float *)tsr_volume_data(v);
    tsr_planes *planes;
    tsr_read_options read = TSR_READ_OPTIONS;
    tsr_statistics whole = TSR_STATISTICS, parts = TSR_STATISTICS;
    data[40 * 36 * 31 + 5] = (float)NAN;
    data[40 * 36 * 33 + 9] = INFINITY;
    require_ok(tsr_volume_write(v, scratch("a.nrrd"), NULL));
    read.memory_limit = 60000;
    require_ok(tsr_planes_open(scratch("a.nrrd"), &read, &planes));
    require_ok(tsr_volume_statistics(cpu, v, &whole));
    require_ok(tsr_planes_statistics(cpu, planes, &parts));
    assert_true(parts.nan_count == 1 && parts.infinite_count == 1 && parts.first_nonfinite == 40 * 36 * 31 + 5 && parts.count == whole.count);
    tsr_planes_close(&planes);
    for (int64_t i = 0; i < tsr_volume_count(v); i++) data[i] = (float)NAN;
    tsr_write_options write = TSR_WRITE_OPTIONS;
    write.overwrite = 1;
    require_ok(tsr_volume_write(v, scratch("a.nrrd"), &write));
    require_ok(tsr_planes_open(scratch("a.nrrd"), &read, &planes));
    require_ok(tsr_planes_statistics(cpu, planes, &parts));
    assert_true(parts.count == 0 && isnan(parts.minimum) && isnan(parts.maximum) && isnan(parts.mean) && parts.first_nonfinite == 0);
    tsr_planes_close(&planes);
    tsr_volume_destroy(&v);
    require_error(tsr_planes_open(scratch("none.nrrd"), NULL, &planes), TSR_ERROR_IO, "none.nrrd");
    require_error(tsr_planes_open("-", NULL, &planes), TSR_ERROR_UNSUPPORTED, "cannot be read in pieces");
    read.memory_limit = -1;
    require_error(tsr_planes_open(scratch("a.nrrd"), &read, &planes), TSR_ERROR_ARGUMENT, "memory_limit is -1");
    scratch_files(1);
}

static int open_all(void **state)
{
    cpu = test_context_on("cpu", 2);
    return scratch_make(state);
}
static int close_all(void **state)
{
    tsr_context_destroy(&cpu);
    return scratch_remove(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(as_the_whole), cmocka_unit_test(not_finite) };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
