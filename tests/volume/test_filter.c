/* Moving, resampling and smoothing volumes against float64 oracles written apart from the library's formulas; every device, SIMD variant and
 * number of threads against one, bit for bit. */
#include "volumes.h"

#include <math.h>

#include "device/isa.h"

/* ---- cutting and turning ------------------------------------------------------------------------------------------------------ */

static void crop_and_pad(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    tsr_context *context = test_context();
    for (int dtype = 0; dtype < TSR_DTYPE_COUNT; dtype++) {
        tsr_volume *in = random_volume(&random, (tsr_dtype)dtype, (tsr_size3){ 13, 9, 6 }), *device = to_device(context, in), *cut, *wide;
        require_ok(tsr_volume_crop(context, device, (tsr_size3){ 2, 1, 3 }, (tsr_size3){ 12, 9, 5 }, &cut));
        cut = to_host(cut);
        assert_string_equal(tsr_volume_meta(cut, "note"), "kept");
        for (int64_t z = 0; z < 2; z++)
            for (int64_t y = 0; y < 8; y++)
                for (int64_t x = 0; x < 10; x++) assert_true(voxel(cut, at(cut, x, y, z)) == voxel(in, at(in, x + 2, y + 1, z + 3)));
        tsr_vec3 a = tsr_geometry_to_world(tsr_volume_geometry(in), (tsr_vec3){ 6, 5, 4 }),
                 b = tsr_geometry_to_world(tsr_volume_geometry(cut), (tsr_vec3){ 4, 4, 1 });
        assert_true(fabs(a.x - b.x) + fabs(a.y - b.y) + fabs(a.z - b.z) < 1e-12);
        for (int border = 0; border < 3; border++) {
            require_ok(tsr_volume_pad(context, device, (tsr_size3){ 30, 0, 2 }, (tsr_size3){ 1, 20, 0 }, (tsr_border)border, 7, &wide));
            wide = to_host(wide);
            tsr_size3 n = tsr_volume_size(wide);
            for (int64_t i = 0; i < tsr_volume_count(wide); i++) {
                int64_t p[3] = { i % n.x - 30, i / n.x % n.y, i / n.x / n.y - 2 }, extent[3] = { 13, 9, 6 };
                int outside = 0;
                for (int axis = 0; axis < 3; axis++) {
                    while (border == TSR_BORDER_MIRROR && (p[axis] < 0 || p[axis] >= extent[axis]))
                        p[axis] = p[axis] < 0 ? -p[axis] : 2 * (extent[axis] - 1) - p[axis];
                    outside |= p[axis] < 0 || p[axis] >= extent[axis];
                    p[axis] = p[axis] < 0 ? 0 : p[axis] >= extent[axis] ? extent[axis] - 1 : p[axis];
                }
                double expected = outside && border == TSR_BORDER_CONSTANT ? 7 : voxel(in, at(in, p[0], p[1], p[2]));
                assert_true(voxel(wide, i) == expected);
            }
            tsr_volume_destroy(&wide);
        }
        tsr_volume_destroy(&cut);
        tsr_volume_destroy(&device);
        tsr_volume_destroy(&in);
    }
    tsr_context_destroy(&context);
}

/* The 48 ways to put a box back on itself: every voxel stays where it was in the world. */
static void turning_keeps_world_positions(void **state)
{
    (void)state;
    static const int32_t orders[6][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 }, { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };
    static const tsr_dtype types[4] = { TSR_U8, TSR_I16, TSR_F32, TSR_F64 };
    uint64_t random = test_seed();
    tsr_context *context = test_context();
    for (int way = 0; way < 48; way++) {
        const int32_t *axes = orders[way % 6], flip[3] = { way / 6 & 1, way / 12 & 1, way / 24 };
        tsr_volume *in = random_volume(&random, types[way % 4], (tsr_size3){ 35, 7, 40 }), *device = to_device(context, in), *out;
        require_ok(tsr_volume_permute(context, device, axes, flip, &out));
        out = to_host(out);
        tsr_size3 n = tsr_volume_size(out);
        for (int64_t i = 0; i < tsr_volume_count(out); i++) {
            tsr_vec3 index, world = tsr_geometry_to_world(tsr_volume_geometry(out),
                                                          (tsr_vec3){ (double)(i % n.x), (double)(i / n.x % n.y), (double)(i / n.x / n.y) });
            require_ok(tsr_geometry_to_index(tsr_volume_geometry(in), world, &index));
            assert_true(fabs(index.x - rint(index.x)) + fabs(index.y - rint(index.y)) + fabs(index.z - rint(index.z)) < 1e-9);
            assert_true(voxel(out, i) == voxel(in, at(in, (int64_t)rint(index.x), (int64_t)rint(index.y), (int64_t)rint(index.z))));
        }
        tsr_volume_destroy(&out);
        tsr_volume_destroy(&device);
        tsr_volume_destroy(&in);
    }
    tsr_context_destroy(&context);
}

/* ---- resampling --------------------------------------------------------------------------------------------------------------- */

static double polynomial(tsr_vec3 w, int degree)
{
    return 2 * w.x - 0.7 * w.y + 0.3 * w.z + 4 + (degree == 2 ? 0.02 * w.x * w.x - 0.01 * w.y * w.z : 0);
}

/* Trilinear reproduces linear and Catmull-Rom quadratic functions of the world where all taps are inside, on aligned and on turned targets. */
static void resampling_reproduces_polynomials(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    tsr_size3 n = { 20, 17, 15 };
    tsr_volume *fields[2], *out;
    for (int degree = 1; degree < 3; degree++) {
        tsr_volume *in;
        require_ok(tsr_volume_create(NULL, TSR_F64, n, &sheared, &in));
        for (int64_t i = 0; i < tsr_volume_count(in); i++) {
            tsr_vec3 w = tsr_geometry_to_world(&sheared, (tsr_vec3){ (double)(i % n.x), (double)(i / n.x % n.y), (double)(i / n.x / n.y) });
            ((double *)tsr_volume_data(in))[i] = polynomial(w, degree);
        }
        fields[degree - 1] = to_device(context, in);
        tsr_volume_destroy(&in);
    }
    tsr_geometry turned = { { { 0.3, 0.2, 0, 13 }, { -0.1, 0.5, 0.2, -8 }, { 0, 0.1, 0.9, 16 } }, TSR_SPACE_RAS };
    for (int way = 0; way < 6; way++) {
        tsr_resample_options options = TSR_RESAMPLE_OPTIONS;
        options.interpolation = way % 2 ? TSR_INTERPOLATE_CUBIC : TSR_INTERPOLATE_LINEAR;
        if (way / 2 == 0) options.spacing = (tsr_vec3){ 0.31, 1.7, 0.9 };
        if (way / 2 == 1) options.size = (tsr_size3){ 41, 9, 22 };
        if (way / 2 == 2) {
            options.geometry = &turned;
            options.size = (tsr_size3){ 12, 10, 9 };
        }
        require_ok(tsr_volume_resample(context, fields[way % 2], &options, &out));
        out = to_host(out);
        tsr_size3 m = tsr_volume_size(out);
        int64_t tested = 0;
        for (int64_t i = 0; i < tsr_volume_count(out); i++) {
            tsr_vec3 p, w = tsr_geometry_to_world(tsr_volume_geometry(out),
                                                  (tsr_vec3){ (double)(i % m.x), (double)(i / m.x % m.y), (double)(i / m.x / m.y) });
            require_ok(tsr_geometry_to_index(&sheared, w, &p));
            if (p.x < 1 || p.y < 1 || p.z < 1 || p.x > 18 || p.y > 15 || p.z > 13) continue;
            tested++;
            assert_true(fabs(voxel(out, i) - polynomial(w, 1 + way % 2)) < 1e-10);
        }
        assert_true(tested > 300);
        tsr_volume_destroy(&out);
    }
    tsr_volume_destroy(&fields[0]);
    tsr_volume_destroy(&fields[1]);
    tsr_context_destroy(&context);
}

/* The outer faces stay, nearest picks the voxel that contains the sample, constant borders begin half a voxel outside. */
static void resampling_positions(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    uint64_t random = test_seed();
    tsr_volume *in = random_volume(&random, TSR_I16, (tsr_size3){ 6, 5, 4 }), *device, *out;
    tsr_geometry unit = tsr_geometry_make((tsr_vec3){ 1, 1, 1 }, (tsr_vec3){ 0 }, TSR_SPACE_NONE);
    require_ok(tsr_volume_set_geometry(in, &unit));
    device = to_device(context, in);
    tsr_resample_options options = TSR_RESAMPLE_OPTIONS;
    options.size = (tsr_size3){ 12, 10, 8 };
    options.interpolation = TSR_INTERPOLATE_NEAREST;
    require_ok(tsr_volume_resample(context, device, &options, &out));
    out = to_host(out);
    assert_true(tsr_volume_geometry(out)->affine[0][0] == 0.5 && tsr_volume_geometry(out)->affine[0][3] == -0.25);
    for (int64_t i = 0; i < 960; i++) assert_true(voxel(out, i) == voxel(in, at(in, i % 12 / 2, i / 12 % 10 / 2, i / 120 / 2)));
    tsr_volume_destroy(&out);
    tsr_geometry shifted = tsr_geometry_make((tsr_vec3){ 0.5, 1, 1 }, (tsr_vec3){ -1.25, 0, 0 }, TSR_SPACE_NONE);
    for (int i = 0; i < 3; i++) {
        options = (tsr_resample_options)TSR_RESAMPLE_OPTIONS;
        options.geometry = &shifted;
        options.size = (tsr_size3){ 18, 5, 4 };
        options.interpolation = (tsr_interpolation)i;
        options.border = TSR_BORDER_CONSTANT;
        options.value = -9;
        require_ok(tsr_volume_resample(context, device, &options, &out));
        out = to_host(out);
        for (int64_t x = 0; x < 18; x++) {
            double p = 0.5 * (double)x - 1.25, v = voxel(out, at(out, x, 2, 1));
            if (p < -0.5 || p > 5.5) assert_true(v == -9);
            else if (p < 0) assert_true(v == voxel(in, at(in, 0, 2, 1)));
            else if (p > 5) assert_true(v == voxel(in, at(in, 5, 2, 1)));
        }
        tsr_volume_destroy(&out);
    }
    tsr_volume_destroy(&device);
    tsr_volume_destroy(&in);
    tsr_context_destroy(&context);
}

/* ---- smoothing ---------------------------------------------------------------------------------------------------------------- */

static tsr_volume *gaussian_blob(tsr_size3 n, const tsr_geometry *geometry, double variance)
{
    tsr_volume *v;
    require_ok(tsr_volume_create(NULL, TSR_F32, n, geometry, &v));
    for (int64_t i = 0; i < tsr_volume_count(v); i++) {
        tsr_vec3 w = tsr_geometry_to_world(geometry, (tsr_vec3){ (double)(i % n.x), (double)(i / n.x % n.y), (double)(i / n.x / n.y) });
        ((float *)tsr_volume_data(v))[i] = (float)exp(-0.5 * (w.x * w.x + w.y * w.y + w.z * w.z) / variance);
    }
    return v;
}

/* A Gaussian smoothed by a Gaussian is the Gaussian of the summed variances; its Laplacian is known. */
static void gaussian_of_gaussian(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    tsr_geometry geometry = tsr_geometry_make((tsr_vec3){ 0.5, 0.6, 0.75 }, (tsr_vec3){ -11.75, -11.7, -11.25 }, TSR_SPACE_NONE);
    tsr_volume *in = gaussian_blob((tsr_size3){ 48, 40, 31 }, &geometry, 4), *device = to_device(context, in), *out;
    tsr_smooth_options options = TSR_SMOOTH_OPTIONS;
    options.sigma = 1.5;
    options.truncation = 6;
    require_ok(tsr_volume_smooth(context, device, &options, &out));
    out = to_host(out);
    double worst = 0, variance = 4 + 1.5 * 1.5;
    for (int64_t i = 0; i < tsr_volume_count(out); i++) {
        tsr_vec3 w = tsr_geometry_to_world(&geometry, (tsr_vec3){ (double)(i % 48), (double)(i / 48 % 40), (double)(i / 48 / 40) });
        double r2 = w.x * w.x + w.y * w.y + w.z * w.z, exact = pow(4 / variance, 1.5) * exp(-0.5 * r2 / variance);
        if (r2 < 16) worst = fmax(worst, fabs(voxel(out, i) - exact));
    }
    assert_true(worst < 1e-6);
    tsr_volume_destroy(&out);
    require_ok(tsr_volume_laplacian(context, device, &options, &out));
    out = to_host(out);
    worst = 0;
    for (int64_t i = 0; i < tsr_volume_count(out); i++) {
        tsr_vec3 w = tsr_geometry_to_world(&geometry, (tsr_vec3){ (double)(i % 48), (double)(i / 48 % 40), (double)(i / 48 / 40) });
        double r2 = w.x * w.x + w.y * w.y + w.z * w.z, g = pow(4 / variance, 1.5) * exp(-0.5 * r2 / variance);
        if (r2 < 16) worst = fmax(worst, fabs(voxel(out, i) - g * (r2 / variance - 3) / variance));
    }
    assert_true(worst < 0.004); /* h^2/12 times the fourth derivatives: 0.0034 in the middle */
    assert_true(worst > 1e-4);
    tsr_volume_destroy(&out);
    tsr_volume_destroy(&device);
    tsr_volume_destroy(&in);
    tsr_context_destroy(&context);
}

/* Against a direct float64 convolution, at the borders too, with kernels longer than the volume. */
static void smoothing_of_noise(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    tsr_context *context = test_context();
    tsr_volume *in = random_volume(&random, TSR_U16, (tsr_size3){ 37, 5, 9 }), *device = to_device(context, in), *out;
    for (int way = 0; way < 2; way++) {
        tsr_smooth_options options = TSR_SMOOTH_OPTIONS;
        options.sigma = way ? 3.2 : 0.8;
        options.in_voxels = 1;
        int radius = (int)ceil(4 * options.sigma);
        double w[64], total = 0, worst = 0;
        for (int k = 0; k <= radius; k++) total += (k ? 2 : 1) * (w[k] = exp(-0.5 * k * k / (options.sigma * options.sigma)));
        require_ok(tsr_volume_smooth(context, device, &options, &out));
        out = to_host(out);
        for (int64_t z = 0; z < 9; z++)
            for (int64_t y = 0; y < 5; y++)
                for (int64_t x = 0; x < 37; x += 6) {
                    double sum = 0;
                    for (int c = -radius; c <= radius; c++)
                        for (int b = -radius; b <= radius; b++)
                            for (int a = -radius; a <= radius; a++) {
                                int64_t px = x + a < 0    ? 0
                                             : x + a > 36 ? 36
                                                          : x + a,
                                        py = y + b < 0   ? 0
                                             : y + b > 4 ? 4
                                                         : y + b,
                                        pz = z + c < 0   ? 0
                                             : z + c > 8 ? 8
                                                         : z + c;
                                sum += w[abs(a)] * w[abs(b)] * w[abs(c)] / (total * total * total) * voxel(in, at(in, px, py, pz));
                            }
                    worst = fmax(worst, fabs(sum - voxel(out, at(out, x, y, z))));
                }
        assert_true(worst < 250 * 3e-7 * 8);
        tsr_volume_destroy(&out);
    }
    tsr_volume_destroy(&device);
    tsr_volume_destroy(&in);
    tsr_context_destroy(&context);
}

/* ---- this device against the CPU, and one thread against many ----------------------------------------------------------------- */

/* Runs operation `which` on the volume; the result comes back to the host. */
static tsr_volume *run_operation(tsr_context *context, const tsr_volume *host, int which)
{
    tsr_volume *in = to_device(context, host), *out = NULL;
    tsr_resample_options resample = TSR_RESAMPLE_OPTIONS;
    tsr_smooth_options smooth = TSR_SMOOTH_OPTIONS;
    tsr_geometry turned = { { { 0.3, 0.2, 0, 13 }, { -0.1, 0.5, 0.2, -8 }, { 0, 0.1, 0.9, 16 } }, TSR_SPACE_RAS };
    resample.interpolation = (tsr_interpolation)(which % 3);
    smooth.sigma = 1.1;
    switch (which) {
    case 0: case 1: case 2:
        resample.spacing = (tsr_vec3){ 0.7, 0.5, 1.1 };
        require_ok(tsr_volume_resample(context, in, &resample, &out));
        break;
    case 3: case 4: case 5:
        resample.geometry = &turned;
        resample.size = (tsr_size3){ 45, 22, 19 };
        resample.border = which == 4 ? TSR_BORDER_REPLICATE : TSR_BORDER_CONSTANT;
        tsr_volume_scaling(in, &(double){ 0 }, &resample.value); /* a value that every type holds */
        require_ok(tsr_volume_resample(context, in, &resample, &out));
        break;
    case 6: require_ok(tsr_volume_smooth(context, in, &smooth, &out)); break;
    case 7: require_ok(tsr_volume_laplacian(context, in, &smooth, &out)); break;
    case 8: require_ok(tsr_volume_threshold(context, in, 20, 80.5, &out)); break;
    default: require_ok(tsr_volume_convert(context, in, (tsr_dtype)(which - 9), &out)); break;
    }
    tsr_volume_destroy(&in);
    return to_host(out);
}

static void devices_and_threads_agree(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    tsr_context *context = test_context(), *one = test_context_on("cpu", 1), *many = test_context_on("cpu", 7);
    for (int dtype = 0; dtype < TSR_DTYPE_COUNT; dtype += test_is_slow() ? 4 : 1) { /* or u8, u32 and f32 */
        tsr_volume *in = random_volume(&random, (tsr_dtype)dtype, (tsr_size3){ 67, 23, 20 });
        require_ok(tsr_volume_set_scaling(in, dtype & 1 ? 1 : 0.37, dtype & 2 ? 0 : 3));
        for (int which = 0; which < 9 + TSR_DTYPE_COUNT; which++) {
            tsr_volume *a = run_operation(one, in, which), *b = run_operation(many, in, which), *c = run_operation(context, in, which);
            same_volume(a, b);
            same_volume(a, c);
            for (int isa = TSR_ISA_BASE; isa < TSR_ISA_COUNT; isa++) { /* `one` and `many` ran the best one of this machine */
                tsr_isa_force(isa);
                tsr_volume *d = run_operation(one, in, which);
                same_volume(a, d);
                tsr_volume_destroy(&d);
            }
            tsr_isa_force(-1);
            assert_string_equal(tsr_volume_meta(c, "note"), "kept");
            tsr_volume_destroy(&a);
            tsr_volume_destroy(&b);
            tsr_volume_destroy(&c);
        }
        tsr_volume *device = to_device(context, in);
        tsr_statistics s[3] = { TSR_STATISTICS, TSR_STATISTICS, TSR_STATISTICS };
        require_ok(tsr_volume_statistics(one, in, &s[0]));
        require_ok(tsr_volume_statistics(many, in, &s[1]));
        require_ok(tsr_volume_statistics(context, device, &s[2]));
        assert_memory_equal(&s[0], &s[1], sizeof s[0]);
        assert_memory_equal(&s[0], &s[2], sizeof s[0]);
        tsr_isa_force(TSR_ISA_BASE);
        require_ok(tsr_volume_statistics(one, in, &s[1]));
        tsr_isa_force(-1);
        assert_memory_equal(&s[0], &s[1], sizeof s[0]);
        tsr_volume_destroy(&device);
        tsr_volume_destroy(&in);
    }
    tsr_context_destroy(&many);
    tsr_context_destroy(&one);
    tsr_context_destroy(&context);
}

static void wrong_arguments(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    tsr_volume *v, *out;
    require_ok(tsr_volume_create(context, TSR_F32, (tsr_size3){ 4, 4, 4 }, NULL, &v));
    require_error(tsr_volume_crop(context, v, (tsr_size3){ 0, 2, 0 }, (tsr_size3){ 4, 5, 4 }, &out), TSR_ERROR_ARGUMENT, "range y is 2 to 5");
    require_error(tsr_volume_crop(context, v, (tsr_size3){ 2, 0, 0 }, (tsr_size3){ 2, 4, 4 }, &out), TSR_ERROR_ARGUMENT, "range x is 2 to 2");
    require_error(tsr_volume_pad(context, v, (tsr_size3){ -1, 0, 0 }, (tsr_size3){ 0, 0, 0 }, TSR_BORDER_REPLICATE, 0, &out), TSR_ERROR_ARGUMENT,
                  "-1");
    require_error(tsr_volume_pad(context, v, (tsr_size3){ 0, 0, 0 }, (tsr_size3){ 0, 0, 0 }, (tsr_border)9, 0, &out), TSR_ERROR_ARGUMENT, "border 9");
    int32_t axes[3] = { 0, 1, 1 };
    require_error(tsr_volume_permute(context, v, axes, NULL, &out), TSR_ERROR_ARGUMENT, "axes 0 1 1");
    tsr_resample_options resample = TSR_RESAMPLE_OPTIONS;
    require_error(tsr_volume_resample(context, v, &resample, &out), TSR_ERROR_ARGUMENT, "none of");
    resample.spacing = (tsr_vec3){ 1, -1, 1 };
    require_error(tsr_volume_resample(context, v, &resample, &out), TSR_ERROR_ARGUMENT, "spacing y is -1");
    resample.spacing = (tsr_vec3){ 1, 1e-300, 1 };
    require_error(tsr_volume_resample(context, v, &resample, &out), TSR_ERROR_ARGUMENT, "spacing y is 1e-300");
    tsr_smooth_options smooth = TSR_SMOOTH_OPTIONS;
    smooth.sigma = NAN;
    require_error(tsr_volume_smooth(context, v, &smooth, &out), TSR_ERROR_ARGUMENT, "sigma is");
    smooth.sigma = 1e9;
    require_error(tsr_volume_smooth(context, v, &smooth, &out), TSR_ERROR_ARGUMENT, "radius");
    tsr_volume_destroy(&v);
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(crop_and_pad),
        cmocka_unit_test(turning_keeps_world_positions),
        cmocka_unit_test(resampling_reproduces_polynomials),
        cmocka_unit_test(resampling_positions),
        cmocka_unit_test(gaussian_of_gaussian),
        cmocka_unit_test(smoothing_of_noise),
        cmocka_unit_test(devices_and_threads_agree),
        cmocka_unit_test(wrong_arguments),
    };
    return cmocka_run_group_tests_name("filter", tests, NULL, NULL);
}
