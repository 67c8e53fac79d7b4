#include "support.h"

#include <math.h>

static void convert_rounds_and_saturates(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    const float in[8] = { 0.5f, 1.5f, 2.5f, -3.0f, 300.0f, NAN, 254.6f, 1e30f };
    const uint8_t expected[8] = { 0, 2, 2, 0, 255, 0, 255, 255 };
    tsr_volume *host, *device, *bytes, *back;
    require_ok(tsr_volume_wrap(NULL, TSR_F32, (tsr_size3){ 2, 2, 2 }, NULL, (void *)(uintptr_t)in, NULL, NULL, &host));
    require_ok(tsr_volume_copy(host, context, &device));
    require_ok(tsr_volume_convert(context, device, TSR_U8, &bytes));
    require_ok(tsr_volume_copy(bytes, NULL, &back));
    assert_memory_equal(tsr_volume_data(back), expected, sizeof expected);
    tsr_volume_destroy(&back);
    tsr_volume_destroy(&bytes);
    tsr_volume_destroy(&device);
    tsr_volume_destroy(&host);
    tsr_context_destroy(&context);
}

static void geometry_round_trip(void **state)
{
    (void)state;
    tsr_geometry g = { { { 0.9, -0.3, 0.1, 5 }, { 0.2, 1.1, 0, -7 }, { 0, 0.1, 2.5, 9 } }, TSR_SPACE_RAS };
    tsr_vec3 p = { 3.25, -1.5, 8 }, q;
    require_ok(tsr_geometry_to_index(&g, tsr_geometry_to_world(&g, p), &q));
    assert_true(fabs(p.x - q.x) < 1e-12 && fabs(p.y - q.y) < 1e-12 && fabs(p.z - q.z) < 1e-12);
    tsr_geometry lps = tsr_geometry_convert(&g, TSR_SPACE_LPS);
    assert_true(lps.affine[0][0] == -0.9 && lps.affine[1][3] == 7 && lps.affine[2][2] == 2.5);
    g.affine[0][0] = NAN;
    require_error(tsr_geometry_check(&g), TSR_ERROR_ARGUMENT, "finite");
    tsr_geometry flat = tsr_geometry_make((tsr_vec3){ 1, 1, 0 }, (tsr_vec3){ 0 }, TSR_SPACE_NONE);
    require_error(tsr_geometry_check(&flat), TSR_ERROR_ARGUMENT, "spacing");
}

static void wrong_arguments(void **state)
{
    (void)state;
    tsr_volume *volume;
    require_error(tsr_volume_create(NULL, TSR_U8, (tsr_size3){ 0, 4, 4 }, NULL, &volume), TSR_ERROR_ARGUMENT, "extent x is 0");
    require_error(tsr_volume_create(NULL, TSR_F64, (tsr_size3){ 1 << 30, 1 << 30, 1 << 30 }, NULL, &volume), TSR_ERROR_ARGUMENT, "overflow");
    require_error(tsr_volume_create(NULL, (tsr_dtype)77, (tsr_size3){ 4, 4, 4 }, NULL, &volume), TSR_ERROR_ARGUMENT, "77");
    assert_null(volume);
}

static void metadata(void **state)
{
    (void)state;
    tsr_volume *volume;
    require_ok(tsr_volume_create(NULL, TSR_U8, (tsr_size3){ 4, 4, 4 }, NULL, &volume));
    require_ok(tsr_volume_set_meta(volume, "a", "1"));
    require_ok(tsr_volume_set_meta(volume, "b", "2"));
    require_ok(tsr_volume_set_meta(volume, "a", "3"));
    assert_string_equal(tsr_volume_meta(volume, "a"), "3");
    require_ok(tsr_volume_set_meta(volume, "a", NULL));
    assert_null(tsr_volume_meta(volume, "a"));
    assert_string_equal(tsr_volume_meta(volume, "b"), "2");
    tsr_volume_destroy(&volume);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(convert_rounds_and_saturates), cmocka_unit_test(geometry_round_trip),
                                        cmocka_unit_test(wrong_arguments), cmocka_unit_test(metadata) };
    return cmocka_run_group_tests_name("volume", tests, NULL, NULL);
}
