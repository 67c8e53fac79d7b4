/* 4 x 4 matrices against the sums that define them, and what the rooms above take of cameras against points and rays one by one. */
#include <math.h>

#include "camera/camera.h"
#include "camera/lens.h"
#include "support.h"

static double entry(const double m[16], int row, int column) { return m[4 * column + row]; }

/* The sum over all permutations. */
static double leibniz(const double m[16])
{
    double sum = 0;
    for (int k = 0; k < 256; k++) {
        const int p[4] = { k & 3, k >> 2 & 3, k >> 4 & 3, k >> 6 };
        double sign = 1;
        for (int a = 0; a < 4; a++)
            for (int b = a + 1; b < 4; b++) sign *= p[a] == p[b] ? 0 : p[a] < p[b] ? 1 : -1;
        sum += sign * entry(m, 0, p[0]) * entry(m, 1, p[1]) * entry(m, 2, p[2]) * entry(m, 3, p[3]);
    }
    return sum;
}

static void inverses(void **unused)
{
    (void)unused;
    uint64_t seed = test_seed();
    for (int n = 0; n < 500; n++) {
        double a[16], b[16], product[16], inverse[16], v[4], w[4];
        const double size = n % 3 == 0 ? 1e-9 : n % 3 == 1 ? 1 : 1e12; /* rows of any scale */
        for (int i = 0; i < 16; i++) {
            a[i] = (2 * test_uniform(&seed) - 1) * (i % 4 == n % 4 ? size : 1);
            if (n % 5 == 0 && test_uniform(&seed) < 0.3) a[i] = 0; /* pivots elsewhere */
            b[i] = 2 * test_uniform(&seed) - 1;
        }
        for (int i = 0; i < 4; i++) v[i] = 2 * test_uniform(&seed) - 1;
        tsr_matrix4_multiply(a, b, product);
        tsr_matrix4_apply(a, v, w);
        for (int r = 0; r < 4; r++) {
            double row = 0, most = 0;
            for (int k = 0; k < 4; k++) {
                row += entry(a, r, k) * v[k];
                most = fmax(most, fabs(entry(a, r, k)));
            }
            assert_true(fabs(w[r] - row) <= 1e-14 * most);
            for (int c = 0; c < 4; c++) {
                double sum = 0;
                for (int k = 0; k < 4; k++) sum += entry(a, r, k) * entry(b, k, c);
                assert_true(fabs(entry(product, r, c) - sum) <= 1e-14 * most);
            }
        }
        memcpy(inverse, a, sizeof a);
        tsr_matrix4_multiply(inverse, b, inverse); /* into a factor */
        assert_memory_equal(inverse, product, sizeof product);
        memcpy(inverse, b, sizeof b);
        tsr_matrix4_multiply(a, inverse, inverse);
        assert_memory_equal(inverse, product, sizeof product);
        const double determinant = leibniz(a);
        if (fabs(determinant) < 1e-3 * size) continue; /* nearly none */
        assert_true(fabs(tsr_matrix4_determinant(a) / determinant - 1) < 1e-10);
        require_ok(tsr_matrix4_invert("here", a, inverse));
        for (int side = 0; side < 2; side++) {
            const double *first = side ? inverse : a, *second = side ? a : inverse;
            for (int r = 0; r < 4; r++)
                for (int c = 0; c < 4; c++) {
                    double sum = 0, row = 0, column = 0;
                    for (int k = 0; k < 4; k++) {
                        sum += entry(first, r, k) * entry(second, k, c);
                        row = fmax(row, fabs(entry(first, r, k)));
                        column = fmax(column, fabs(entry(second, k, c)));
                    }
                    const double most = row * column; /* rounding is of these */
                    if (!(fabs(sum - (r == c)) < 1e-10 + 1e-11 * most))
                        fail_msg("matrix %d, side %d, (%d, %d): %.17g of %g, determinant %g", n, side, r, c, sum, most, determinant);
                }
        }
    }
}

static void without_inverse(void **unused)
{
    (void)unused;
    double inverse[16];
    for (int k = 0; k < 4; k++) {
        double a[16] = { 2, 0, 0, 0, 0, 3, 0, 0, 0, 0, 4, 0, 0, 0, 0, 5 }, b[16];
        memcpy(b, a, sizeof b);
        a[5 * k] = 0; /* a row of zeros */
        assert_true(tsr_matrix4_determinant(a) == 0);
        require_error(tsr_matrix4_invert("this one", a, inverse), TSR_ERROR_ARGUMENT, "this one: the matrix has no inverse (determinant 0)");
        for (int r = 0; r < 4; r++) b[4 * k + r] = b[4 * ((k + 1) % 4) + r]; /* two columns alike */
        assert_true(tsr_matrix4_determinant(b) == 0);
        require_error(tsr_matrix4_invert("that one", b, inverse), TSR_ERROR_ARGUMENT, "that one: the matrix has no inverse");
        for (int i = 0; i < 16; i++) {
            double c[16] = { 2, 0, 0, 0, 0, 3, 0, 0, 0, 0, 4, 0, 0, 0, 0, 5 };
            char words[64];
            c[i] = k % 2 ? NAN : INFINITY;
            snprintf(words, sizeof words, "number %d of the matrix is", i);
            require_error(tsr_matrix4_invert("here", c, inverse), TSR_ERROR_ARGUMENT, words);
        }
    }
}

static double pick(uint64_t *seed, double low, double high) { return low + (high - low) * test_uniform(seed); }

/* The rows that all points of an image are taken with, against one point at a time; rays likewise, whose places are those of their pixels. */
static void all_points_and_one(void **unused)
{
    (void)unused;
    uint64_t seed = test_seed();
    int met = 0;
    for (int n = 0; n < 600; n++) {
        const int32_t w = 1 + (int32_t)(test_random(&seed) % 900), h = 1 + (int32_t)(test_random(&seed) % 900);
        tsr_camera c = { .projection = (tsr_projection)(n % 3), .fov = pick(&seed, 5, 150), .height = pick(&seed, 0.1, 50) };
        require_ok(tsr_camera_look_at(&c, (tsr_vec3){ pick(&seed, -9, 9), pick(&seed, -9, 9), pick(&seed, -9, 9) },
                                      (tsr_vec3){ pick(&seed, -9, 9), pick(&seed, -9, 9), pick(&seed, -9, 9) }, (tsr_vec3){ 0.1, 0.2, 1 }));
        if (n & 4) c.aspect = pick(&seed, 0.3, 3);
        if (n & 8) c.offset[0] = pick(&seed, -2, 2), c.offset[1] = pick(&seed, -2, 2);
        if (c.projection == TSR_PROJECTION_MATRIX) {
            tsr_camera model = c;
            model.projection = n & 16 ? TSR_PERSPECTIVE : TSR_ORTHOGRAPHIC;
            require_ok(tsr_camera_matrices(&model, w, h, NULL, c.matrix));
        }
        tsr_camera_points points;
        tsr_camera_rays rays;
        double view[16], projection[16];
        require_ok(tsr_camera_points_make("here", &c, w, h, &points));
        require_ok(tsr_camera_rays_make("here", &c, w, h, &rays));
        require_ok(tsr_camera_matrices(&c, w, h, view, projection));
        assert_true(fabs(points.scale - 0.5 * h * fabs(projection[5])) < 1e-12 * points.scale);
        for (int k = 0; k < 5; k++) {
            const tsr_vec3 p = { pick(&seed, -20, 20), pick(&seed, -20, 20), pick(&seed, -20, 20) };
            double pixel[2], depth, seen[4];
            if (tsr_camera_project(&c, w, h, p, pixel, &depth) != TSR_OK) continue;
            for (int r = 0; r < 4; r++) seen[r] = points.row[r][0] * p.x + points.row[r][1] * p.y + points.row[r][2] * p.z + points.row[r][3];
            assert_true(fabs(seen[0] / seen[2] - pixel[0]) < 1e-7 * (w + fabs(pixel[0])) &&
                        fabs(seen[1] / seen[2] - pixel[1]) < 1e-7 * (h + fabs(pixel[1])));
            assert_true(fabs(seen[3] - depth) < 1e-9 * (1 + fabs(depth)));
            met++;
        }
        const double pixel[2] = { pick(&seed, 0, w), pick(&seed, 0, h) };
        tsr_vec3 origin, direction, from, along;
        require_ok(tsr_camera_ray(&c, w, h, pixel, &origin, &direction));
        tsr_camera_rays_at(&rays, pixel[0], pixel[1], &from, &along);
        assert_true(!memcmp(&origin, &from, sizeof from) && !memcmp(&direction, &along, sizeof along));
        c.lens.k1 = -0.1;
        require_error(tsr_camera_points_make("points", &c, w, h, &points), TSR_ERROR_ARGUMENT, "points: the camera's lens distorts");
        require_error(tsr_camera_rays_make("rays", &c, w, h, &rays), TSR_ERROR_ARGUMENT, "rays: the camera's lens distorts");
    }
    assert_true(met > 500);
}

/* The lens of a camera: a fish-eye has a focal length of its own, or the camera's; of other models it says nothing. */
static void lenses(void **unused)
{
    (void)unused;
    tsr_camera c = {
        .rotation = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } }, .fov = 60, .aspect = 1.5, .lens = { .model = TSR_LENS_FISHEYE, .focal = 0.7 }
    };
    assert_true(tsr_camera_lens(&c, 300, 200).focal == 0.7);
    c.lens.focal = 0;
    assert_true(fabs(tsr_camera_lens(&c, 300, 200).focal - 1 / (1.5 * tan(30 * 3.14159265358979323846 / 180))) < 1e-12);
    c.lens = (tsr_lens){ .model = TSR_LENS_POLY, .k1 = 0.1 };
    assert_true(tsr_camera_lens(&c, 300, 200).focal == 0);
    /* what a point that no lens shows is told: its radius, and the largest */
    const tsr_lens inwards = { .k1 = -0.25 }, outwards = { .k1 = 0.25 };
    double to[2];
    const double far_[2] = { 100 + 100 * 2, 50 + 100 * 1.5 }; /* (300, 200): 2.5 half-widths */
    require_error(tsr_lens_distort(&outwards, 200, 100, far_, to), TSR_ERROR_ARGUMENT,
                  "the point (300, 200) lies at the radius 2.5, expected at most 1 for k1 = 0.25");
    require_error(tsr_lens_undistort(&inwards, 200, 100, far_, to), TSR_ERROR_ARGUMENT,
                  "the point (300, 200) lies at the radius 2.5, expected less than 2 for k1 = -0.25");
    const tsr_lens folds = { .model = TSR_LENS_POLY, .k1 = -0.2 }, ends = { .model = TSR_LENS_POLY, .k4 = -0.2 };
    require_error(tsr_lens_distort(&ends, 200, 100, far_, to), TSR_ERROR_ARGUMENT, "the point (300, 200), radius 2.5, is beyond what the lens shows");
    require_error(tsr_lens_undistort(&folds, 200, 100, far_, to), TSR_ERROR_ARGUMENT,
                  "is seen at (300, 200), radius 2.5: the polynomial folds there");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(inverses), cmocka_unit_test(without_inverse), cmocka_unit_test(all_points_and_one),
                                        cmocka_unit_test(lenses) };
    return cmocka_run_group_tests_name("matrices", tests, NULL, NULL);
}
