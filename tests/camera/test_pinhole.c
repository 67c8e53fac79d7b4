/* Pinhole records: fields that are refused, one at a time, and cameras that no record has, on both sides of the limits. */
#include <math.h>

#include "support.h"
#include "tessera/camera.h"

static const tsr_pinhole plain = {
    .width = 640, .height = 480, .fx = 510, .fy = 500, .cx = 323, .cy = 232, .rotation = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } }
};

static void fields(void **unused)
{
    (void)unused;
    const double bad[4] = { NAN, INFINITY, -INFINITY, 0 };
    tsr_camera c;
    require_ok(tsr_camera_from_pinhole(&plain, &c));
    for (int field = 0; field < 4; field++)
        for (int k = 0; k < 4; k++) {
            tsr_pinhole p = plain;
            (&p.fx)[field] = bad[k];
            if (field < 2 || k < 3)
                require_error(tsr_camera_from_pinhole(&p, &c), TSR_ERROR_ARGUMENT, "expected focal lengths above 0 and finite numbers");
            else require_ok(tsr_camera_from_pinhole(&p, &c)); /* the centre may lie anywhere */
        }
    for (int field = 0; field < 2; field++) { /* of a part of a pixel, for an image of a few */
        tsr_pinhole p = plain;
        (&p.fx)[field] = 0.25;
        require_ok(tsr_camera_from_pinhole(&p, &c));
    }
    for (int axis = 0; axis < 2; axis++)
        for (int32_t size = -1; size < 3; size++) {
            tsr_pinhole p = plain;
            *(axis ? &p.height : &p.width) = size;
            if (size < 1) require_error(tsr_camera_from_pinhole(&p, &c), TSR_ERROR_ARGUMENT, "expected numbers above 0");
            else require_ok(tsr_camera_from_pinhole(&p, &c));
        }
    for (int k = 0; k < 8; k++) { /* of the fish-eye */
        tsr_pinhole p = plain;
        p.fisheye = 1;
        *(k < 6 ? &p.k[k] : &p.p[k - 6]) = 1e-3;
        if (k < 4) require_ok(tsr_camera_from_pinhole(&p, &c));
        else require_error(tsr_camera_from_pinhole(&p, &c), TSR_ERROR_ARGUMENT, "has k[0] to k[3] alone");
    }
}

/* A lens whose centre, pixels or focal length are not those of the image: refused from a millionth on, and not below. */
static void one_place(void **unused)
{
    (void)unused;
    static const struct {
        int fisheye;
        const char *text;
    } ways[] = { { 0, "pinhole records have one place" }, { 1, "pinhole records have one place" }, { 0, "pixels of aspect" }, { 1, "focal length" } };
    for (int way = 0; way < 4; way++)
        for (int sign = -1; sign <= 1; sign += 2)
            for (int size = 0; size < 3; size++) {
                tsr_pinhole p = plain, back;
                tsr_camera c;
                p.k[0] = 0.01;
                p.fisheye = ways[way].fisheye;
                require_ok(tsr_camera_from_pinhole(&p, &c));
                require_ok(tsr_camera_to_pinhole(&c, p.width, p.height, &back));
                const double off = sign * (size == 2 ? 3e-7 : size ? 3e-6 : 0.3); /* of a width or the value itself */
                if (way == 0) c.lens.shift[0] += 2 * off;
                if (way == 1) c.lens.shift[1] += 2 * off;
                if (way == 2) c.lens.pixel_aspect = p.fy / p.fx * (1 + off), c.lens.shift[1] *= 1 / (1 + off); /* the centre stays */
                if (way == 3) c.lens.focal *= 1 + off;
                const tsr_status status = tsr_camera_to_pinhole(&c, p.width, p.height, &back);
                if (size == 2 ? status != TSR_OK : status != TSR_ERROR_UNSUPPORTED || !strstr(tsr_error_message(), ways[way].text))
                    fail_msg("way %d, off by %g: %s, '%s'", way, off, tsr_status_name(status), tsr_error_message());
            }
}

/* Lenses of square pixels, and of any focal length, come back. */
static void there_and_back(void **unused)
{
    (void)unused;
    for (int fisheye = 0; fisheye < 2; fisheye++)
        for (int square = 0; square < 2; square++)
            for (int wide = 0; wide < 2; wide++) {
                tsr_pinhole p = plain, back;
                tsr_camera c;
                p.fx = wide ? 150 : 510;
                p.fy = square ? p.fx : 0.9 * p.fx;
                p.k[0] = 0.01;
                p.fisheye = fisheye;
                require_ok(tsr_camera_from_pinhole(&p, &c));
                require_ok(tsr_camera_to_pinhole(&c, p.width, p.height, &back));
                assert_true(fabs(back.fx - p.fx) + fabs(back.fy - p.fy) + fabs(back.cx - p.cx) + fabs(back.cy - p.cy) < 1e-9);
                assert_true(fabs(back.k[0] - 0.01) < 1e-12 && back.fisheye == fisheye);
                if (!fisheye) continue;
                c.lens.focal *= 1.1;
                require_error(tsr_camera_to_pinhole(&c, p.width, p.height, &back), TSR_ERROR_UNSUPPORTED, "focal length");
            }
}

/* A matrix is a pinhole where nothing but the numbers of a frustum is not 0, and those of the focal lengths are above it. */
static void matrices(void **unused)
{
    (void)unused;
    tsr_camera c, of_matrix;
    tsr_pinhole back;
    require_ok(tsr_camera_from_pinhole(&plain, &c));
    of_matrix = c;
    of_matrix.projection = TSR_PROJECTION_MATRIX;
    require_ok(tsr_camera_matrices(&c, plain.width, plain.height, NULL, of_matrix.matrix));
    require_ok(tsr_camera_to_pinhole(&of_matrix, plain.width, plain.height, &back));
    assert_true(fabs(back.fx - 510) + fabs(back.fy - 500) + fabs(back.cx - 323) + fabs(back.cy - 232) < 1e-9);
    for (int k = 0; k < 16; k++) {
        tsr_camera other = of_matrix;
        other.matrix[k] += 0.125;
        const int free_one = k == 0 || k == 5 || k == 8 || k == 9 || k == 10 || k == 14; /* focal lengths, centre, depths */
        const tsr_status status = tsr_camera_to_pinhole(&other, plain.width, plain.height, &back);
        if (free_one ? status != TSR_OK : status == TSR_OK) fail_msg("element %d: %s", k, tsr_status_name(status));
    }
    for (int k = 0; k <= 5; k += 5) {
        tsr_camera other = of_matrix;
        other.matrix[k] = -other.matrix[k];
        require_error(tsr_camera_to_pinhole(&other, plain.width, plain.height, &back), TSR_ERROR_UNSUPPORTED, "its matrix is no frustum");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(fields), cmocka_unit_test(one_place), cmocka_unit_test(there_and_back),
                                        cmocka_unit_test(matrices) };
    return cmocka_run_group_tests_name("pinholes", tests, NULL, NULL);
}
