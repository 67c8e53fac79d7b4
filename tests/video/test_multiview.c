/* Multi-view textures: the object and its file. */
#include <unistd.h>

#include "context.h"
#include "multiview_footage.h"

static char path[] = "/tmp/multiview-XXXXXX";

static void make_path(void)
{
    memcpy(path, "/tmp/multiview-XXXXXX", sizeof path);
    const int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
}

static void same(const tsr_multiview *a, const tsr_multiview *b)
{
    tsr_multiview_difference d = TSR_MULTIVIEW_DIFFERENCE;
    require_ok(tsr_multiview_compare(a, b, &d));
    assert_int_equal(d.masks_differ, 0);
    assert_true(d.texels > 0);
    for (int p = 0; p < 3; p++) assert_int_equal(d.largest[p], 0);
}

static void test_object(void **state)
{
    (void)state;
    tsr_multiview *m = NULL;
    tsr_multiview_view v;
    require_error(tsr_multiview_create(context, 0, 5, 1, 1, 0, &m), TSR_ERROR_ARGUMENT, "0 x 5");
    require_error(tsr_multiview_create(context, 5, 5, 300, 1, 0, &m), TSR_ERROR_ARGUMENT, "300 cameras");
    require_ok(tsr_multiview_create(context, 70, 5, 2, 3, 1, &m));
    require_ok(tsr_multiview_view_of(m, &v));
    assert_int_equal(v.width, 70);
    assert_int_equal(v.steps, 3);
    assert_non_null(v.visible);
    assert_string_equal(tsr_multiview_camera_name(m, 1), "");
    require_ok(tsr_multiview_set_camera_name(m, 1, "left"));
    assert_string_equal(tsr_multiview_camera_name(m, 1), "left");
    require_error(tsr_multiview_set_camera_name(m, 2, "left"), TSR_ERROR_ARGUMENT, "camera 2");
    const int32_t none[2] = { 25, 0 };
    require_error(tsr_multiview_set_rate(m, none), TSR_ERROR_ARGUMENT, "25 / 0");
    tsr_multiview_destroy(&m);
    assert_null(m);
}

static void test_raw(void **state)
{
    (void)state;
    for (int masks = 0; masks < 2; masks++) {
        const footage f = { .width = 75, .height = 34, .cameras = 3, .steps = 11, .masks = masks, .noise = 2 };
        tsr_multiview *m = footage_make(context, &f), *back = NULL;
        const int32_t rate[2] = { 30000, 1001 };
        int32_t got[2];
        size_t size;
        tsr_multiview_report report = TSR_MULTIVIEW_REPORT, again = TSR_MULTIVIEW_REPORT;
        tsr_multiview_write_options o = TSR_MULTIVIEW_WRITE_OPTIONS;
        require_ok(tsr_multiview_set_rate(m, rate));
        require_ok(tsr_multiview_set_camera_name(m, 2, "c\xc3\xa4mera"));
        require_ok(tsr_multiview_set_model_bytes(m, "model", 5));
        make_path();
        o.overwrite = 1;
        require_ok(tsr_multiview_write(m, path, &o, &report));
        require_ok(tsr_multiview_inspect(path, &again));
        assert_memory_equal(&report, &again, sizeof report);
        assert_int_equal(report.padded, 1);
        require_ok(tsr_multiview_read(context, path, NULL, &back));
        same(m, back);
        tsr_multiview_rate(back, got);
        assert_memory_equal(got, rate, sizeof rate);
        assert_string_equal(tsr_multiview_camera_name(back, 2), "c\xc3\xa4mera");
        assert_memory_equal(tsr_multiview_model_bytes(back, &size), "model", 5);
        assert_int_equal(size, 5);
        tsr_multiview_destroy(&back);
        tsr_multiview_destroy(&m);
        unlink(path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_object), cmocka_unit_test(test_raw) };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
