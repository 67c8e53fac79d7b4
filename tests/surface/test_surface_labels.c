/* The surface of a label is that of its mask: whatever the numbers of the labels, and wherever the label lies. */
#include "support.h"

#include <math.h>

static const int64_t N[3] = { 26, 22, 18 };

/* Two balls that touch along a plane, and a box at the border; labels as wide as the type. */
static int which(int64_t x, int64_t y, int64_t z)
{
    const double a = (double)((x - 9) * (x - 9) + (y - 10) * (y - 10) + (z - 9) * (z - 9)),
                 b = (double)((x - 15) * (x - 15) + (y - 10) * (y - 10) + (z - 9) * (z - 9));
    if (x >= 22 && y >= 18) return 3;
    return a < 36 && x < 12 ? 1 : b < 36 && x >= 12 ? 2 : 0;
}

static tsr_volume *to_device_of(tsr_context *context, tsr_volume *host)
{
    tsr_volume *moved;
    require_ok(tsr_volume_copy(host, context, &moved));
    return moved;
}

static tsr_mesh *to_host_of(tsr_mesh *mesh)
{
    tsr_mesh *host;
    require_ok(tsr_mesh_copy(mesh, NULL, &host));
    tsr_mesh_destroy(&mesh);
    return host;
}

static void label_is_mask(void **state)
{
    (void)state;
    static const int64_t values[4] = { 0, 9007199254740992, 9007199254740993, 7 };
    tsr_context *context = test_context(), *cpu = test_context_on("cpu", 2);
    const tsr_geometry geometry = tsr_geometry_make((tsr_vec3){ 1, 2, 0.5 }, (tsr_vec3){ -8, 16, 4 }, TSR_SPACE_LPS);
    for (int wide = 0; wide < 3; wide++) {
        tsr_volume *map, *masks[4], *device;
        tsr_label *labels;
        int32_t count;
        const tsr_size3 n = { N[0], N[1], N[2] };
        require_ok(tsr_volume_create(NULL, wide == 0 ? TSR_U8 : wide == 1 ? TSR_I64 : TSR_F32, n, &geometry, &map));
        for (int k = 1; k < 4; k++) require_ok(tsr_volume_create(NULL, TSR_U8, n, &geometry, &masks[k]));
        for (int64_t i = 0; i < tsr_volume_count(map); i++) {
            const int k = which(i % N[0], i / N[0] % N[1], i / (N[0] * N[1]));
            if (wide == 0) ((uint8_t *)tsr_volume_data(map))[i] = (uint8_t)(k * 80);
            else if (wide == 1) ((int64_t *)tsr_volume_data(map))[i] = values[k];
            else ((float *)tsr_volume_data(map))[i] = (float)k;
            if (k) ((uint8_t *)tsr_volume_data(masks[k]))[i] = 1;
        }
        require_ok(tsr_labels_count(cpu, map, 0, &labels, &count));
        assert_int_equal(count, 3);
        device = to_device_of(context, map);
        for (int32_t l = 0; l < count; l++) {
            const int k = wide == 1 ? (labels[l].value == 7 ? 3 : (int)(labels[l].value - values[1]) + 1)
                          : wide    ? (int)labels[l].value
                                    : (int)labels[l].value / 80;
            tsr_surface_options options = TSR_SURFACE_OPTIONS;
            tsr_mesh *mesh, *expected;
            tsr_volume *mask = to_device_of(context, masks[k]);
            options.close = l & 1;
            require_ok(tsr_surface_extract_label(context, device, &labels[l], &options, &mesh, NULL));
            options.isovalue = 0.5;
            require_ok(tsr_surface_extract(context, mask, &options, &expected, NULL));
            mesh = to_host_of(mesh);
            expected = to_host_of(expected);
            assert_true(tsr_mesh_triangle_count(mesh) > 0);
            assert_int_equal(tsr_mesh_triangle_count(mesh), tsr_mesh_triangle_count(expected));
            assert_int_equal(tsr_mesh_vertex_count(mesh), tsr_mesh_vertex_count(expected));
            assert_int_equal(tsr_mesh_space(mesh), TSR_SPACE_LPS);
            assert_memory_equal(tsr_mesh_vertices(mesh), tsr_mesh_vertices(expected),
                                (size_t)tsr_mesh_vertex_count(mesh) * 12); /* the numbers are exact here */
            assert_memory_equal(tsr_mesh_triangles(mesh), tsr_mesh_triangles(expected), (size_t)tsr_mesh_triangle_count(mesh) * 12);
            tsr_mesh_destroy(&mesh);
            tsr_mesh_destroy(&expected);
            tsr_volume_destroy(&mask);
        }
        tsr_labels_destroy(&labels);
        for (int k = 1; k < 4; k++) tsr_volume_destroy(&masks[k]);
        tsr_volume_destroy(&device);
        tsr_volume_destroy(&map);
    }
    tsr_context_destroy(&cpu);
    tsr_context_destroy(&context);
}

static void wrong_labels(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    tsr_volume *v;
    tsr_mesh *mesh;
    require_ok(tsr_volume_create(context, TSR_U8, (tsr_size3){ 4, 4, 4 }, NULL, &v));
    const tsr_label beyond = { 1, 1, 1, { 0, 0, 0 }, { 5, 1, 1 } };
    require_error(tsr_surface_extract_label(context, v, &beyond, NULL, &mesh, NULL), TSR_ERROR_ARGUMENT, "the box of label 1");
    assert_null(mesh);
    tsr_volume_destroy(&v);
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(label_is_mask), cmocka_unit_test(wrong_labels) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
