/* Transfer functions in files: what is written comes back bit for bit, what is wrong is named by line. */
#include <unistd.h>

#include "support.h"

static tsr_status parse(const char *text, tsr_transfer *t) { return tsr_transfer_read_text(text, strlen(text), "f.txt", t); }

static void reads_every_word(void **state)
{
    (void)state;
    tsr_transfer t;
    require_ok(parse("# two tissues\n\ntessera-transfer 1\n"
                     "point -1000 alpha 0 color #000000\n"
                     "  point 40.5 alpha 0.25 color 1 0.5 0   # fat\r\n"
                     "gaussian 3 2 color #ff8000 alpha 0.5 gradient 10 4 level -2 1 beyond gradient level\n"
                     "box 1 2 alpha 1 color 0 0 1\n"
                     "triangle 1 2 alpha 0.1 color 0 1 1 shear 0.5 -1 2\n"
                     "gaussian 3 2 beyond gradient gradient 5 6 alpha 1 color 1 1 1",
                     &t));
    assert_int_equal(t.points, 2);
    assert_int_equal(t.gaussians, 4);
    assert_true(t.point[1].value == 40.5f && t.point[1].alpha == 0.25f && t.point[1].color.g == 0.5f);
    assert_true(t.gaussian[0].color.r == 1.0f && fabsf(t.gaussian[0].color.g - 128.0f / 255) < 1e-7f);
    assert_true(t.gaussian[0].gradient_centre == 10.0f && t.gaussian[0].gradient_width == 4.0f && t.gaussian[0].level_centre == -2.0f);
    assert_int_equal(t.gaussian[0].beyond, 6);
    assert_int_equal(t.gaussian[1].shape, TSR_TRANSFER_BOX);
    assert_true(t.gaussian[2].shear[2] == 2.0f && t.gaussian[2].shape == TSR_TRANSFER_TRIANGLE);
    assert_int_equal(t.gaussian[3].beyond, 2);
    assert_true(t.gaussian[3].gradient_centre == 5.0f);
}

static void names_what_is_wrong(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } wrong[] = {
        { "", "expected 'tessera-transfer 1'" },
        { "point 1 alpha 1 color #ffffff\n", "f.txt:1: not a transfer function" },
        { "tessera-transfer\n", "f.txt:1" },
        { "tessera-transfer 2\n", "version 2, expected 1" },
        { "tessera-transfer 1 x\n", "after the version" },
        { "tessera-transfer 1\n", "no points and no Gaussians" },
        { "tessera-transfer 1\nblob 1 2\n", "f.txt:2: 'blob' given, expected point" },
        { "tessera-transfer 1\npoint nan alpha 1 color 1 1 1\n", "f.txt:2: 'nan' given" },
        { "tessera-transfer 1\npoint 1e39 alpha 1 color 1 1 1\n", "finite" },
        { "tessera-transfer 1\npoint 1 alpha 2 color 1 1 1\n", "alpha 2, expected 0 to 1" },
        { "tessera-transfer 1\npoint 1 alpha 1\n", "color is missing" },
        { "tessera-transfer 1\npoint 1 color 1 1 1\n", "alpha is missing" },
        { "tessera-transfer 1\npoint 1 alpha 1 alpha 1 color 1 1 1\n", "alpha is given twice" },
        { "tessera-transfer 1\npoint 1 alpha 1 color 1 1 2\n", "color 2" },
        { "tessera-transfer 1\npoint 1 alpha 1 color #12345\n", "expected #rrggbb" },
        { "tessera-transfer 1\npoint 1 alpha 1 color #12345g\n", "expected #rrggbb" },
        { "tessera-transfer 1\npoint 1 alpha 1 color 1 1\n", "the line ends" },
        { "tessera-transfer 1\npoint 1 alpha 1 color 1 1 1 level 1 1\n", "'level' given, expected alpha, color\n" },
        { "tessera-transfer 1\npoint 2 alpha 1 color 1 1 1\npoint 2 alpha 1 color 1 1 1\n", "f.txt:3: point at 2, expected more than the 2" },
        { "tessera-transfer 1\ngaussian 1 0 alpha 1 color 1 1 1\n", "f.txt:2: width 0, expected more than 0" },
        { "tessera-transfer 1\ngaussian 1 -2 alpha 1 color 1 1 1\n", "f.txt:2: width -2" },
        { "tessera-transfer 1\nbox 1 1 alpha 1 color 1 1 1 gradient 0 -3\n", "f.txt:2: gradient width -3" },
        { "tessera-transfer 1\nbox 1 1 alpha 1 color 1 1 1 beyond value gradient value\n", "f.txt:2: beyond: value is given twice" },
        { "tessera-transfer 1\ngaussian 1 1 alpha 1 color 1 1 1 level 0 -1\n", "f.txt:2: level width -1" },
        { "tessera-transfer 1\ngaussian 1 1 alpha 1 color 1 1 1 beyond\n", "expected value, gradient or level" },
        { "tessera-transfer 1\ngaussian 1 1 alpha 1 color 1 1 1 beyond value shear 1 0 0\n", "f.txt:2: beyond and shear, expected no shear" },
    };
    tsr_transfer t = { .points = 77 };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char says[128];
        snprintf(says, sizeof says, "%s", wrong[i].says);
        says[strcspn(says, "\n")] = 0;
        tsr_status status = parse(wrong[i].text, &t);
        if (status != TSR_ERROR_FORMAT && status != TSR_ERROR_UNSUPPORTED) fail_msg("accepted: %s", wrong[i].text);
        if (!strstr(tsr_error_message(), says)) fail_msg("'%s' does not say '%s'", tsr_error_message(), says);
        assert_int_equal(t.points, 77); /* left alone */
    }
    char many[4096] = "tessera-transfer 1\n";
    for (int i = 0; i < 17; i++) snprintf(many + strlen(many), 64, "point %d alpha 0 color 0 0 0\n", i);
    require_error(parse(many, &t), TSR_ERROR_FORMAT, "f.txt:18: more than 16 points");
    require_error(tsr_transfer_read("nowhere/f.txt", &t), TSR_ERROR_IO, "nowhere/f.txt");
}

static void comes_back_bit_for_bit(void **state)
{
    (void)state;
    char path[64];
    snprintf(path, sizeof path, "/tmp/tessera-transfer-%d.txt", (int)getpid());
    uint64_t random = test_seed();
    for (int round = 0; round < 20; round++) {
        tsr_transfer a, b;
        memset(&a, 0, sizeof a);
        memset(&b, 0, sizeof b);
        a.points = round % (TSR_TRANSFER_POINTS + 1);
        a.gaussians = 1 + round % TSR_TRANSFER_GAUSSIANS;
        float value = -3;
        for (int i = 0; i < a.points; i++) {
            value += 0.01f + 7 * (float)test_uniform(&random);
            a.point[i].value = value;
            a.point[i].alpha = (float)test_uniform(&random);
            a.point[i].color = (tsr_color){ (float)test_uniform(&random), (float)test_uniform(&random), (float)test_uniform(&random) };
        }
        for (int i = 0; i < a.gaussians; i++) {
            struct tsr_transfer_gaussian *g = &a.gaussian[i];
            g->centre = (float)test_uniform(&random) * 1e-6f;
            g->width = (float)test_uniform(&random) + 1e-3f;
            g->alpha = (float)test_uniform(&random);
            g->color = (tsr_color){ (float)test_uniform(&random), 0, 1 };
            if (i % 2) g->gradient_centre = (float)test_uniform(&random), g->gradient_width = (float)test_uniform(&random) * 1e6f;
            if (i % 3 == 1) g->level_centre = -(float)test_uniform(&random), g->level_width = (float)test_uniform(&random);
            if (i % 4 == 2) g->shear[1] = (float)test_uniform(&random);
            else g->beyond = i % 8;
            g->shape = (tsr_transfer_shape)(i % 3);
        }
        tsr_write_options options = TSR_WRITE_OPTIONS;
        options.overwrite = 1;
        require_ok(tsr_transfer_write(&a, path, &options));
        require_ok(tsr_transfer_read(path, &b));
        assert_memory_equal(&a, &b, sizeof a);
        require_error(tsr_transfer_write(&a, path, NULL), TSR_ERROR_IO, "exists");
    }
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(reads_every_word), cmocka_unit_test(names_what_is_wrong),
                                        cmocka_unit_test(comes_back_bit_for_bit) };
    return cmocka_run_group_tests_name("transfer_file", tests, NULL, NULL);
}
