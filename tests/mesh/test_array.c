/* Arrays: what objects give and take without a copy, strided views, and DLPack both ways. */
#include "tessera/array.h"

#include "support.h"

static int released;
static void count_release(void *owner)
{
    (void)owner;
    released++;
}

static tsr_array owned(void *data, tsr_dtype dtype, int32_t axes, const int64_t *shape)
{
    tsr_array a;
    require_ok(tsr_array_make(data, dtype, axes, shape, &a));
    a.release = count_release;
    return a;
}

static void volumes_live_on_arrays(void **state)
{
    (void)state;
    uint16_t voxels[2 * 3 * 4];
    for (int i = 0; i < 24; i++) voxels[i] = (uint16_t)(100 + i);
    tsr_array a = owned(voxels, TSR_U16, 3, (const int64_t[]){ 2, 3, 4 }), view;
    tsr_volume *v;
    released = 0;
    require_ok(tsr_volume_from_array(NULL, &a, NULL, &v));
    assert_null(a.data);
    assert_ptr_equal(tsr_volume_data(v), voxels);
    const tsr_size3 size = tsr_volume_size(v);
    assert_int_equal(size.x, 4);
    assert_int_equal(size.y, 3);
    assert_int_equal(size.z, 2);
    require_ok(tsr_volume_array(v, &view));
    assert_ptr_equal(view.data, voxels);
    assert_int_equal(view.stride[0], 12);
    assert_int_equal(view.stride[1], 4);
    assert_int_equal(view.stride[2], 1);
    assert_int_equal(released, 0);
    tsr_volume_destroy(&v);
    assert_int_equal(released, 1);

    a = owned(voxels, TSR_U16, 3, (const int64_t[]){ 2, 3, 4 });
    a.read_only = 1;
    require_ok(tsr_volume_from_array(NULL, &a, NULL, &v));
    assert_null(tsr_volume_data(v));
    assert_ptr_equal(tsr_volume_data_const(v), voxels);
    tsr_volume_destroy(&v);
    assert_int_equal(released, 2);
}

/* Against an index computed by hand: axes swapped, every second element, backwards. */
static void strided_arrays_are_copied(void **state)
{
    (void)state;
    int32_t memory[60];
    for (int i = 0; i < 60; i++) memory[i] = i;
    tsr_array a = TSR_ARRAY;
    a.data = memory + 59;
    a.dtype = TSR_I32;
    a.axes = 3;
    memcpy(a.shape, (const int64_t[]){ 5, 4, 2 }, 3 * sizeof(int64_t));
    memcpy(a.stride, (const int64_t[]){ -1, -5, -20 }, 3 * sizeof(int64_t));
    a.release = count_release;
    tsr_volume *v;
    released = 0;
    assert_false(tsr_array_contiguous(&a));
    require_ok(tsr_volume_from_array(NULL, &a, NULL, &v));
    assert_int_equal(released, 1); /* copied: the array is free */
    const int32_t *got = tsr_volume_data_const(v);
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 4; j++)
            for (int k = 0; k < 2; k++) assert_int_equal(got[(i * 4 + j) * 2 + k], 59 - i - 5 * j - 20 * k);
    tsr_volume_destroy(&v);

    int32_t other[40];
    tsr_array from, to;
    require_ok(tsr_array_make(memory, TSR_I32, 2, (const int64_t[]){ 5, 4 }, &from));
    require_ok(tsr_array_make(other, TSR_I32, 2, (const int64_t[]){ 5, 4 }, &to));
    from.stride[0] = 0; /* the same row five times */
    require_ok(tsr_array_copy(&from, &to));
    for (int i = 0; i < 20; i++) assert_int_equal(other[i], i % 4);
    to.read_only = 1;
    require_error(tsr_array_copy(&from, &to), TSR_ERROR_ARGUMENT, "read-only");
    to.read_only = 0;
    to.dtype = TSR_U32;
    require_error(tsr_array_copy(&from, &to), TSR_ERROR_ARGUMENT, "another type");
}

static void meshes_and_points_live_on_arrays(void **state)
{
    (void)state;
    float corner[4][3] = { { 0, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
    uint32_t face[2][3] = { { 0, 1, 2 }, { 0, 1, 3 } };
    uint8_t color[4][4] = { { 1, 2, 3, 4 } };
    const int64_t s4[] = { 4, 3 }, s2[] = { 2, 3 }, sc[] = { 4, 4 };
    tsr_array v = owned(corner, TSR_F32, 2, s4), t = owned(face, TSR_U32, 2, s2), c = owned(color, TSR_U8, 2, sc), view;
    tsr_mesh *m;
    released = 0;
    require_ok(tsr_mesh_from_arrays(NULL, &v, &t, NULL, &c, &m));
    assert_ptr_equal(tsr_mesh_vertices(m), corner);
    assert_ptr_equal(tsr_mesh_triangles(m), face);
    assert_ptr_equal(tsr_mesh_colors(m), color);
    assert_int_equal(tsr_mesh_triangle_count(m), 2);
    require_ok(tsr_mesh_array(m, TSR_MESH_ARRAY_TRIANGLES, &view));
    assert_ptr_equal(view.data, face);
    assert_int_equal(view.shape[0], 2);
    require_error(tsr_mesh_array(m, TSR_MESH_ARRAY_NORMALS, &view), TSR_ERROR_STATE, "normals");
    assert_int_equal(released, 0);
    tsr_mesh_destroy(&m);
    assert_int_equal(released, 3);

    face[1][2] = 4;
    v = owned(corner, TSR_F32, 2, s4), t = owned(face, TSR_U32, 2, s2);
    require_error(tsr_mesh_from_arrays(NULL, &v, &t, NULL, NULL, &m), TSR_ERROR_ARGUMENT, "row 1 names vertex 4");
    assert_int_equal(released, 5);
    v = owned(corner, TSR_F32, 2, (const int64_t[]){ 3, 4 }), t = owned(face, TSR_U32, 2, s2);
    require_error(tsr_mesh_from_arrays(NULL, &v, &t, NULL, NULL, &m), TSR_ERROR_ARGUMENT, "4 in a row, expected 2 axes and 3");
    v = owned(face, TSR_U32, 2, s2), t = owned(face, TSR_U32, 2, s2);
    require_error(tsr_mesh_from_arrays(NULL, &v, &t, NULL, NULL, &m), TSR_ERROR_ARGUMENT, "elements of u32, expected f32");

    float radius[4] = { 1, 2, 3, 4 };
    tsr_points *p;
    tsr_array at = owned(corner, TSR_F32, 2, s4), r = owned(radius, TSR_F32, 1, s4);
    r.read_only = 1; /* objects of points may be changed in place: copied */
    released = 0;
    require_ok(tsr_points_from_arrays(NULL, &at, NULL, &r, &p));
    assert_int_equal(released, 1);
    assert_ptr_equal(tsr_points_positions(p), corner);
    assert_ptr_not_equal(tsr_points_radii(p), radius);
    assert_true(tsr_points_radii(p)[3] == 4.0f);
    tsr_points_destroy(&p);
    assert_int_equal(released, 2);
}

static void dlpack_both_ways(void **state)
{
    (void)state;
    double memory[6] = { 0, 1, 2, 3, 4, 5 };
    tsr_array a = owned(memory, TSR_F64, 2, (const int64_t[]){ 2, 3 }), back;
    tsr_dlpack *d;
    a.read_only = 1;
    released = 0;
    require_ok(tsr_array_to_dlpack(&a, &d));
    assert_null(a.data);
    assert_int_equal(d->version.major, 1);
    assert_int_equal(d->tensor.dtype.code, 2);
    assert_int_equal(d->tensor.dtype.bits, 64);
    assert_int_equal(d->tensor.device.type, 1);
    assert_int_equal(d->flags, 1);
    assert_int_equal(d->tensor.strides[0], 3);
    require_ok(tsr_array_from_dlpack(&d, &back));
    assert_null(d);
    assert_int_equal(back.read_only, 1);
    assert_ptr_equal(back.data, memory);
    assert_int_equal(released, 0);
    tsr_array_release(&back);
    assert_int_equal(released, 1);

    static const struct { uint8_t code, bits; uint16_t lanes; uint32_t major; int32_t device; const char *text; } bad[] = {
        { 2, 16, 1, 1, 1, "16 bits" }, { 5, 64, 1, 1, 1, "code 5" }, { 2, 32, 4, 1, 1, "4 lanes" }, { 2, 32, 1, 2, 1, "version 2" }, { 2, 32, 1, 1, 10, "device type 10" }
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        a = owned(memory, TSR_F64, 2, (const int64_t[]){ 2, 3 });
        require_ok(tsr_array_to_dlpack(&a, &d));
        d->tensor.dtype.code = bad[k].code;
        d->tensor.dtype.bits = bad[k].bits;
        d->tensor.dtype.lanes = bad[k].lanes;
        d->version.major = bad[k].major;
        d->tensor.device.type = bad[k].device;
        released = 0;
        require_error(tsr_array_from_dlpack(&d, &back), TSR_ERROR_UNSUPPORTED, bad[k].text);
        assert_int_equal(released, 1);
    }
    for (int type = 0; type < TSR_DTYPE_COUNT; type++) { /* every type comes back as itself */
        a = owned(memory, (tsr_dtype)type, 1, (const int64_t[]){ 2 });
        require_ok(tsr_array_to_dlpack(&a, &d));
        require_ok(tsr_array_from_dlpack(&d, &back));
        assert_int_equal(back.dtype, type);
        tsr_array_release(&back);
    }
}

static void bad_arrays(void **state)
{
    (void)state;
    double memory[2] = { 0, 0 };
    tsr_array a;
    require_error(tsr_array_make(memory, (tsr_dtype)99, 1, (const int64_t[]){ 2 }, &a), TSR_ERROR_ARGUMENT, "element type 99");
    require_error(tsr_array_make(memory, TSR_U8, 9, (const int64_t[]){ 2 }, &a), TSR_ERROR_ARGUMENT, "axes is 9");
    require_error(tsr_array_make(memory, TSR_U8, 1, (const int64_t[]){ -2 }, &a), TSR_ERROR_ARGUMENT, "shape[0] is -2");
    require_error(tsr_array_make(memory, TSR_U8, 3, (const int64_t[]){ INT64_MAX, INT64_MAX, 2 }, &a), TSR_ERROR_ARGUMENT, "counted");
    require_error(tsr_array_make((char *)memory + 1, TSR_F64, 1, (const int64_t[]){ 1 }, &a), TSR_ERROR_ARGUMENT, "aligned");
    require_error(tsr_array_make(NULL, TSR_F64, 1, (const int64_t[]){ 1 }, &a), TSR_ERROR_ARGUMENT, "data is NULL");
    tsr_volume *v;
    require_error(tsr_volume_from_array(NULL, NULL, NULL, &v), TSR_ERROR_ARGUMENT, "array is NULL");
    require_error(tsr_volume_array(NULL, &a), TSR_ERROR_ARGUMENT, "volume is NULL");
    require_ok(tsr_array_make(memory, TSR_F64, 0, NULL, &a));
    require_error(tsr_volume_from_array(NULL, &a, NULL, &v), TSR_ERROR_ARGUMENT, "0 axes");
    require_ok(tsr_array_make(NULL, TSR_F64, 2, (const int64_t[]){ 0, 3 }, &a));
    require_error(tsr_volume_from_array(NULL, &a, NULL, &v), TSR_ERROR_ARGUMENT, "no elements");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(volumes_live_on_arrays), cmocka_unit_test(strided_arrays_are_copied),
                                        cmocka_unit_test(meshes_and_points_live_on_arrays), cmocka_unit_test(dlpack_both_ways), cmocka_unit_test(bad_arrays) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
