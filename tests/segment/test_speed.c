/* The speed with its curvature term over a box: analytic spheres, the formula in float64 on the dense field, boxes, every device the same bits. */
#include "sphere.h"

static const tsr_size3 extent = { 37, 31, 27 };
static const tsr_vec3 spacing = { 1, 1.25, 0.8 };

static tsr_segmentation *ball(tsr_context *context, const tsr_volume *image, double alpha, int32_t edge, double radius)
{
    tsr_segment_options o = TSR_SEGMENT_OPTIONS;
    tsr_segmentation *s;
    o.epsilon = 9;
    o.alpha = alpha;
    o.tile_edge = edge;
    o.band = 3;
    require_ok(tsr_segmentation_create(context, image, &o, &s));
    if (radius > 0) require_ok(tsr_segmentation_sphere(s, (tsr_vec3){ 18, 15, 13 }, radius, 0));
    return s;
}

static tsr_volume *speed_on_host(tsr_segmentation *s, tsr_size3 begin, tsr_size3 end, int total)
{
    tsr_volume *device, *host;
    require_ok((total ? tsr_segmentation_total_speed_box : tsr_segmentation_speed_box)(s, begin, end, &device));
    require_ok(tsr_volume_copy(device, NULL, &host));
    tsr_volume_destroy(&device);
    return host;
}

/* Independent of segment/update.h: divergence of the unit normals at the six faces, in float64, the field continued beyond its border. */
static double phi_at(const tsr_volume *field, int64_t x, int64_t y, int64_t z)
{
    const tsr_size3 n = tsr_volume_size(field);
    x = x < 0 ? 0 : x >= n.x ? n.x - 1 : x;
    y = y < 0 ? 0 : y >= n.y ? n.y - 1 : y;
    z = z < 0 ? 0 : z >= n.z ? n.z - 1 : z;
    return (double)((const float *)tsr_volume_data_const(field))[(z * n.y + y) * n.x + x];
}
static double curvature_at(const tsr_volume *field, const int64_t at[3])
{
    const double h[3] = { spacing.x, spacing.y, spacing.z };
    double sum = 0;
    for (int a = 0; a < 3; a++)
        for (int side = 0; side < 2; side++) {
            int64_t low[3] = { at[0], at[1], at[2] }, high[3];
            if (side == 0) low[a]--;
            memcpy(high, low, sizeof high);
            high[a]++;
            double g[3], square = 1e-12;
            for (int k = 0; k < 3; k++) {
                int64_t p[4][3];
                for (int i = 0; i < 4; i++) memcpy(p[i], i < 2 ? low : high, sizeof p[i]);
                if (k == a) {
                    g[k] = (phi_at(field, high[0], high[1], high[2]) - phi_at(field, low[0], low[1], low[2])) / h[k];
                } else {
                    for (int i = 0; i < 4; i++) p[i][k] += i % 2 ? 1 : -1;
                    g[k] = (phi_at(field, p[1][0], p[1][1], p[1][2]) - phi_at(field, p[0][0], p[0][1], p[0][2]) +
                            phi_at(field, p[3][0], p[3][1], p[3][2]) - phi_at(field, p[2][0], p[2][1], p[2][2])) /
                           (4 * h[k]);
                }
                square += g[k] * g[k];
            }
            sum += (side ? 1 : -1) * g[a] / sqrt(square) / h[a];
        }
    return sum;
}

/* Data speed minus (1 - alpha) K where the field is not cut off, K limited: of a ball, of one that the border of the image cuts, after some steps, with tiles of both sizes. */
static void formula(void **unused)
{
    (void)unused;
    tsr_context *context = test_context();
    tsr_volume *image = distance_image(context, extent, spacing);
    for (int c = 0; c < 4; c++) {
        tsr_segmentation *s = ball(context, image, 0.6, c == 1 ? 4 : 8, 7);
        if (c == 2) require_ok(tsr_segmentation_sphere(s, (tsr_vec3){ 1, 2, 25 }, 5, 0));
        if (c == 3) require_ok(tsr_segmentation_step(s, 9, NULL, NULL));
        tsr_volume *field = host_field(s), *data = speed_on_host(s, (tsr_size3){ 0, 0, 0 }, extent, 0),
                   *total = speed_on_host(s, (tsr_size3){ 0, 0, 0 }, extent, 1);
        const float *d = (const float *)tsr_volume_data_const(data), *t = (const float *)tsr_volume_data_const(total);
        int64_t curved = 0;
        for (int64_t i = 0; i < tsr_volume_count(field); i++) {
            const int64_t at[3] = { i % extent.x, i / extent.x % extent.y, i / extent.x / extent.y };
            const double limit = 2 / 0.8, k = fmin(fmax(curvature_at(field, at), -limit), limit);
            double most = 0;
            for (int n = 0; n < 27; n++) most = fmax(most, fabs(phi_at(field, at[0] + n % 3 - 1, at[1] + n / 3 % 3 - 1, at[2] + n / 9 - 1)));
            if (most >= (double)(float)(0.8 * 3)) { /* cut off */
                assert_true(t[i] == d[i]);
                continue;
            }
            if (fabs((double)t[i] - ((double)d[i] - 0.4 * k)) > 2e-4)
                fail_msg("case %d voxel %lld: %g, expected %g - 0.4 %g", c, (long long)i, (double)t[i], (double)d[i], k);
            curved += fabs(k) > 0.05;
        }
        assert_true(curved > 300);
        tsr_volume_destroy(&field);
        tsr_volume_destroy(&data);
        tsr_volume_destroy(&total);
        tsr_segmentation_destroy(&s);
    }
    tsr_volume_destroy(&image);
    tsr_context_destroy(&context);
}

/* A sphere of radius R under curvature alone shrinks with 2 / R at its surface. */
static void sphere_shrinks(void **unused)
{
    (void)unused;
    tsr_context *context = test_context();
    tsr_volume *image = distance_image(context, extent, (tsr_vec3){ 1, 1, 1 });
    const double radius = 9;
    tsr_segmentation *s = ball(context, image, 0, 8, radius);
    tsr_volume *field = host_field(s), *total = speed_on_host(s, (tsr_size3){ 0, 0, 0 }, extent, 1);
    int64_t count = 0;
    for (int64_t i = 0; i < tsr_volume_count(field); i++) {
        const double phi = (double)((const float *)tsr_volume_data_const(field))[i];
        if (fabs(phi) > 0.5) continue; /* the band is 3 wide: nothing is cut off beside these */
        assert_true(fabs((double)((const float *)tsr_volume_data_const(total))[i] + 2 / (radius + phi)) < 0.006);
        count++;
    }
    assert_true(count > 800);
    tsr_volume_destroy(&field);
    tsr_volume_destroy(&total);
    tsr_segmentation_destroy(&s);
    tsr_volume_destroy(&image);
    tsr_context_destroy(&context);
}

/* A box is what cropping gives; without a surface, or without curvature, F is the data speed. */
static void boxes(void **unused)
{
    (void)unused;
    tsr_context *context = test_context();
    tsr_volume *image = distance_image(context, extent, spacing);
    const tsr_size3 zero = { 0, 0, 0 }, begin = { 3, 5, 2 }, end = { extent.x, 11, 20 };
    tsr_segmentation *s = ball(context, image, 0.6, 8, 7);
    tsr_volume *whole = speed_on_host(s, zero, extent, 1), *box = speed_on_host(s, begin, end, 1), *crop, *wrong = NULL;
    tsr_context *cpu = test_context_on("cpu", 1);
    require_ok(tsr_volume_crop(cpu, whole, begin, end, &crop));
    assert_memory_equal(tsr_volume_data(box), tsr_volume_data(crop), (size_t)tsr_volume_count(crop) * sizeof(float));
    assert_memory_equal(tsr_volume_geometry(box)->affine, tsr_volume_geometry(crop)->affine, sizeof tsr_volume_geometry(box)->affine);
    require_error(tsr_segmentation_total_speed_box(s, end, begin, &wrong), TSR_ERROR_ARGUMENT, "along x");
    assert_null(wrong);
    tsr_volume_destroy(&crop);
    tsr_context_destroy(&cpu);
    tsr_volume_destroy(&box);
    tsr_volume_destroy(&whole);
    tsr_segment_options now = TSR_SEGMENT_OPTIONS;
    require_ok(tsr_segmentation_get_options(s, &now));
    now.alpha = 1;
    require_ok(tsr_segmentation_set_options(s, &now));
    for (int bare = 0; bare < 2; bare++) {
        tsr_volume *data = speed_on_host(s, zero, extent, 0), *total = speed_on_host(s, zero, extent, 1);
        assert_memory_equal(tsr_volume_data(data), tsr_volume_data(total), (size_t)tsr_volume_count(data) * sizeof(float));
        tsr_volume_destroy(&data);
        tsr_volume_destroy(&total);
        tsr_segmentation_destroy(&s);
        if (!bare) s = ball(context, image, 0.6, 8, 0);
    }
    tsr_volume_destroy(&image);
    tsr_context_destroy(&context);
}

/* Any device gives the bits of one processor thread. */
static void same_bits(void **unused)
{
    (void)unused;
    tsr_volume *total[2];
    const char *device = getenv("TESSERA_DEVICE");
    for (int c = 0; c < 2; c++) {
        tsr_context *context = test_context_on(c || !device || !*device ? "cpu" : device, c == 1 ? 1 : 2);
        tsr_volume *image = distance_image(context, extent, spacing);
        tsr_segmentation *s = ball(context, image, 0.3, 8, 6);
        total[c] = speed_on_host(s, (tsr_size3){ 2, 0, 1 }, extent, 1);
        tsr_segmentation_destroy(&s);
        tsr_volume_destroy(&image);
        tsr_context_destroy(&context);
    }
    assert_memory_equal(tsr_volume_data(total[0]), tsr_volume_data(total[1]), (size_t)tsr_volume_count(total[0]) * sizeof(float));
    for (int c = 0; c < 2; c++) tsr_volume_destroy(&total[c]);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(formula), cmocka_unit_test(sphere_shrinks), cmocka_unit_test(boxes),
                                        cmocka_unit_test(same_bits) };
    return cmocka_run_group_tests_name("speed", tests, NULL, NULL);
}
