/* Phantoms: golden integer counts, analytic distances and volumes, noise statistics, determinism. */
#include "support.h"

#include <math.h>

static void make(const char *name, int64_t n, tsr_phantom_options *options, tsr_volume **volume, tsr_volume **truth)
{
    tsr_phantom_options own = TSR_PHANTOM_OPTIONS;
    if (!options) options = &own;
    options->size = (tsr_size3){ n, n, n };
    require_ok(tsr_phantom_make(name, options, volume, truth));
}
static int64_t count_negative(const tsr_volume *v)
{
    const float *p = (const float *)tsr_volume_data_const(v);
    int64_t inside = 0, n = tsr_volume_count(v);
    for (int64_t i = 0; i < n; i++) inside += p[i] < 0;
    return inside;
}
static int64_t count_label(const tsr_volume *v, int label)
{
    const uint8_t *p = (const uint8_t *)tsr_volume_data_const(v);
    int64_t count = 0, n = tsr_volume_count(v);
    for (int64_t i = 0; i < n; i++) count += p[i] == label;
    return count;
}

/* Inside samples of docs/theory/surfaces.md 9. */
static void golden_counts(void **state)
{
    (void)state;
    static const struct { const char *name; int64_t count[4]; } golden[3] = { { "sphere", { 6704, 55192, 452112, 3663008 } },
                                                                            { "torus", { 2816, 23360, 190032, 1535656 } },
                                                                            { "cayley", { 4208, 34012, 272516, 2185060 } } };
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < (test_is_slow() ? 2 : 4); k++) {
            tsr_volume *volume, *truth;
            make(golden[i].name, 32 << k, NULL, &volume, &truth);
            assert_int_equal(count_negative(volume), golden[i].count[k]);
            assert_int_equal(count_label(truth, 1), golden[i].count[k]);
            tsr_volume_destroy(&volume);
            tsr_volume_destroy(&truth);
        }
}

/* A signed distance has gradient length 1 where it is smooth, and its zero level encloses the analytic volume. */
static void distances_are_distances(void **state)
{
    (void)state;
    const double unit = 47.5;
    const struct { const char *name; double volume, tolerance; } shapes[] = {
        { "sphere", 4.18879020479 * 0.421875, 0.005 },
        { "torus", 2 * 9.86960440109 * 0.6 * 0.0625, 0.005 },
        { "box", 8 * 0.6 * 0.45 * 0.35, 0.03 },
        { "ellipsoid", 4.18879020479 * 0.8 * 0.5 * 0.35, 0.005 },
        { "two_spheres", 2 * 4.18879020479 * 0.027, 0.005 },
        { "enright", 0.0141372 * 96 * 96 * 96 / (47.5 * 47.5 * 47.5), 0.01 },
        { "spiral", 1.799e5 * (96 / 128.0) * (96 / 128.0) * (96 / 128.0) / (47.5 * 47.5 * 47.5), 0.02 },
        { "dumbbell", 2 * 4.18879020479 * 0.027 + 3.14159265359 * 0.01 * 0.434, 0.03 },
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        if (test_is_slow() && !strcmp(shapes[i].name, "spiral")) continue; /* a search in every voxel */
        tsr_volume *volume;
        make(shapes[i].name, 96, NULL, &volume, NULL);
        const float *p = (const float *)tsr_volume_data_const(volume);
        double enclosed = 0;
        int64_t steep = 0, tested = 0;
        for (int64_t k = 0; k < 96 * 96 * 96; k++) {
            double d = (double)p[k];
            enclosed += d < -0.5 ? 1 : d > 0.5 ? 0 : 0.5 - d; /* linear in the voxel that the surface cuts */
            int64_t x = k % 96, y = k / 96 % 96, z = k / 9216;
            if (x < 1 || y < 1 || z < 1 || x > 94 || y > 94 || z > 94) continue;
            double gx = 0.5 * (double)(p[k + 1] - p[k - 1]), gy = 0.5 * (double)(p[k + 96] - p[k - 96]),
                   gz = 0.5 * (double)(p[k + 9216] - p[k - 9216]);
            double g = sqrt(gx * gx + gy * gy + gz * gz);
            if (g > 1.05)
                fail_msg("%s: gradient %g at (%d, %d, %d)", shapes[i].name, g, (int)x, (int)y,
                         (int)z); /* differences over two voxels overshoot a little at edges */
            tested++;
            steep += g > 0.97;
        }
        assert_true((double)steep > 0.8 * (double)tested); /* less near edges and axes of symmetry only */
        double exact = shapes[i].volume * unit * unit * unit;
        if (fabs(enclosed - exact) > shapes[i].tolerance * exact) fail_msg("%s encloses %g, expected %g", shapes[i].name, enclosed, exact);
        tsr_volume_destroy(&volume);
    }
}

/* Distance to an ellipsoid by brute force over its surface. */
static void ellipsoid_distance(void **state)
{
    (void)state;
    tsr_volume *volume;
    make("ellipsoid", 31, NULL, &volume, NULL);
    const float *p = (const float *)tsr_volume_data_const(volume);
    uint64_t random = test_seed();
    for (int trial = 0; trial < 40; trial++) {
        int64_t i = trial == 0  ? (15 * 31 + 15) * 31 + 15
                    : trial < 8 ? (15 * 31 + 13 + trial) * 31 + 12 + trial
                                : (int64_t)(test_uniform(&random) * 31 * 31 * 31);
        double x = (double)(i % 31) - 15, y = (double)(i / 31 % 31) - 15, z = (double)(i / 961) - 15, best = 1e9, a = 12, b = 7.5, c = 5.25;
        for (int u = 0; u <= 400; u++)
            for (int v = 0; v < 800; v++) {
                double s = u * 3.14159265358979 / 400, t = v * 2 * 3.14159265358979 / 800;
                double dx = a * sin(s) * cos(t) - x, dy = b * sin(s) * sin(t) - y, dz = c * cos(s) - z;
                best = fmin(best, dx * dx + dy * dy + dz * dz);
            }
        double inside = x * x / (a * a) + y * y / (b * b) + z * z / (c * c) < 1 ? -1 : 1;
        assert_true(fabs((double)p[i] - inside * sqrt(best)) < 0.01);
    }
    tsr_volume_destroy(&volume);
}

/* Rician noise: in the background (I = 0) Rayleigh with mean sigma sqrt(pi/2) and variance (2 - pi/2) sigma^2;
 * E[M^2] = I^2 + 2 sigma^2 everywhere. */
static void rician_noise(void **state)
{
    (void)state;
    tsr_phantom_options options = TSR_PHANTOM_OPTIONS;
    options.noise = 0.1;
    tsr_volume *volume, *truth;
    make("step_edge", 64, &options, &volume, &truth);
    const float *p = (const float *)tsr_volume_data_const(volume);
    const uint8_t *t = (const uint8_t *)tsr_volume_data_const(truth);
    double n[2] = { 0 }, sum[2] = { 0 }, square[2] = { 0 };
    for (int64_t i = 0; i < 64 * 64 * 64; i++) {
        double v = (double)p[i];
        n[t[i]] += 1;
        sum[t[i]] += v;
        square[t[i]] += v * v;
    }
    double mean = sum[0] / n[0], variance = square[0] / n[0] - mean * mean;
    assert_true(fabs(mean - 0.1 * 1.2533141373) < 5 * 0.0655 / sqrt(n[0]));
    assert_true(fabs(variance - 0.01 * 0.4292036732) < 0.02 * 0.01 * 0.43);
    assert_true(fabs(square[0] / n[0] - 0.02) < 0.0002 && fabs(square[1] / n[1] - 1.02) < 0.004);
    assert_true(fabs(sum[1] / n[1] - (1 + 0.01 / 2)) < 0.002); /* I + sigma^2 / (2 I) at high signal */
    tsr_volume_destroy(&volume);
    tsr_volume_destroy(&truth);
}

/* Noise-free tumour: the exact intensities, 0.7 exactly in the truth, which lies inside the brain and is one component of a few per cent. */
static void tumour(void **state)
{
    (void)state;
    tsr_context *cpu = test_context_on("cpu", 2);
    for (uint64_t seed = 0; seed < 4; seed++) {
        tsr_phantom_options options = TSR_PHANTOM_OPTIONS;
        options.size = (tsr_size3){ 64, 64, 44 };
        options.seed = seed;
        options.noise = options.blur = -1;
        tsr_volume *volume, *truth, *largest;
        require_ok(tsr_phantom_make("phantom_tumour", &options, &volume, &truth));
        const float *p = (const float *)tsr_volume_data_const(volume);
        const uint8_t *t = (const uint8_t *)tsr_volume_data_const(truth);
        int64_t inside = count_label(truth, 1), voxels;
        if (inside < 400 || inside > 8000) fail_msg("%d voxels of tumour", (int)inside);
        for (int64_t i = 0; i < tsr_volume_count(volume); i++) {
            assert_true((p[i] == 0.7f) == (t[i] == 1));
            static const int64_t steps[3] = { 1, 64, 64 * 64 };
            for (int k = 0; k < 3 && t[i]; k++) assert_true(p[i + steps[k]] != 0.9f && p[i + steps[k]] != 0.0f && p[i - steps[k]] != 0.9f);
        }
        require_ok(tsr_volume_largest_component(cpu, truth, 6, &largest, &voxels));
        assert_int_equal(voxels, inside);
        tsr_volume_destroy(&largest);
        tsr_volume_destroy(&volume);
        tsr_volume_destroy(&truth);
    }
    tsr_context_destroy(&cpu);
}

/* Every phantom: finite, not constant, truth agrees, the same with one and with five threads, other noise with another seed. */
static void all_phantoms(void **state)
{
    (void)state;
    const tsr_phantom_info *info = NULL;
    for (int32_t i = 0; (info = tsr_phantom_at(i)); i++) {
        tsr_phantom_options options = TSR_PHANTOM_OPTIONS;
        options.size = (tsr_size3){ 33, 24, 19 };
        options.spacing = (tsr_vec3){ 1, 1.5, 0.8 };
        options.threads = 1;
        options.bias = info->kind == TSR_PHANTOM_IMAGE ? 0.1 : 0;
        tsr_volume *a, *b, *truth, *truth_b;
        require_ok(tsr_phantom_make(info->name, &options, &a, &truth));
        options.threads = 5;
        require_ok(tsr_phantom_make(info->name, &options, &b, &truth_b));
        size_t count = (size_t)tsr_volume_count(a);
        assert_memory_equal(tsr_volume_data(a), tsr_volume_data(b), count * 4);
        assert_memory_equal(tsr_volume_data(truth), tsr_volume_data(truth_b), count);
        const float *p = (const float *)tsr_volume_data(a);
        int64_t inside = (int64_t)count - count_label(truth, 0), varied = 0;
        for (size_t k = 0; k < count; k++) {
            assert_true(isfinite(p[k]));
            varied += p[k] != p[0];
            if (info->kind != TSR_PHANTOM_IMAGE) assert_int_equal(((uint8_t *)tsr_volume_data(truth))[k], p[k] < 0);
        }
        if (inside < 20 || inside > (int64_t)count - 20 || varied < 20)
            fail_msg("%s: %d voxels inside, %d differ", info->name, (int)inside, (int)varied);
        assert_true(strlen(info->description) > 10);
        assert_true(tsr_volume_geometry(a)->affine[1][1] == 1.5);
        tsr_volume_destroy(&b);
        if (info->noise > 0) {
            options.seed = 77;
            require_ok(tsr_phantom_make(info->name, &options, &b, NULL));
            assert_memory_not_equal(tsr_volume_data(a), tsr_volume_data(b), count * 4);
            tsr_volume_destroy(&b);
        }
        tsr_volume_destroy(&a);
        tsr_volume_destroy(&truth);
        tsr_volume_destroy(&truth_b);
    }
}

/* Bits that must never change: FNV-1a of small phantoms. Catches a compiler or machine that computes something else. */
static void frozen_bits(void **state)
{
    (void)state;
    static const struct { const char *name; uint64_t hash; } frozen[] = {
        { "phantom_tumour", 0x4cd4a7068b0684d2 }, { "phantom_cortex", 0x88a9d0e6e38d3cf9 }, { "gyroid", 0xc13e9d9c1047dfb9 },
        { "metaballs", 0x7dddba47677e66b4 }, { "noise", 0x9dfe51e4bff0050a }, { "ellipsoid", 0x3d07d1fb509542f5 },
        { "phantom_liver", 0xfba973b0ff4da0d6 },  { "phantom_membrane", 0xb3927521db73a47a },
    };
    int wrong = 0;
    for (size_t i = 0; i < sizeof frozen / sizeof *frozen; i++) {
        tsr_phantom_options options = TSR_PHANTOM_OPTIONS;
        options.bias = strstr(frozen[i].name, "phantom") ? 0.1 : 0;
        tsr_volume *volume;
        make(frozen[i].name, 24, &options, &volume, NULL);
        const uint8_t *bytes = (const uint8_t *)tsr_volume_data(volume);
        uint64_t hash = 0xcbf29ce484222325ull;
        for (size_t k = 0; k < 24 * 24 * 24 * 4; k++) hash = (hash ^ bytes[k]) * 0x100000001b3ull;
        tsr_volume_destroy(&volume);
        if (hash == frozen[i].hash) continue;
        print_error("%s: hash 0x%016llx\n", frozen[i].name, (unsigned long long)hash);
        wrong++;
    }
    assert_int_equal(wrong, 0);
}

static void wrong_arguments(void **state)
{
    (void)state;
    tsr_phantom_options options = TSR_PHANTOM_OPTIONS;
    tsr_volume *volume, *truth;
    require_error(tsr_phantom_make("banana", &options, &volume, &truth), TSR_ERROR_ARGUMENT, "phantom_tumour");
    require_error(tsr_phantom_make(NULL, NULL, &volume, NULL), TSR_ERROR_ARGUMENT, "(null)");
    options.size = (tsr_size3){ 8, 1, 8 };
    require_error(tsr_phantom_make("sphere", &options, &volume, &truth), TSR_ERROR_ARGUMENT, "size y is 1");
    options.size = (tsr_size3){ 8, 8, 8 };
    options.noise = 0.1;
    require_error(tsr_phantom_make("sphere", &options, &volume, &truth), TSR_ERROR_ARGUMENT, "for images");
    options.noise = NAN;
    require_error(tsr_phantom_make("leak", &options, &volume, &truth), TSR_ERROR_ARGUMENT, "noise");
    options.noise = 0;
    options.bias = 1;
    require_error(tsr_phantom_make("leak", &options, &volume, &truth), TSR_ERROR_ARGUMENT, "bias is 1");
    options.bias = 0;
    options.spacing = (tsr_vec3){ 1, 1, 0 };
    require_error(tsr_phantom_make("leak", &options, &volume, &truth), TSR_ERROR_ARGUMENT, "spacing z is 0");
    options.spacing = (tsr_vec3){ 1, 1, 1 };
    options.progress.report = test_stops;
    require_error(tsr_phantom_make("leak", &options, &volume, &truth), TSR_ERROR_CANCELLED, "cancelled");
    assert_null(volume);
    assert_null(truth);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_counts),
        cmocka_unit_test(distances_are_distances),
        cmocka_unit_test(ellipsoid_distance),
        cmocka_unit_test(rician_noise),
        cmocka_unit_test(tumour),
        cmocka_unit_test(all_phantoms),
        cmocka_unit_test(frozen_bits),
        cmocka_unit_test(wrong_arguments),
    };
    return cmocka_run_group_tests_name("phantom", tests, NULL, NULL);
}
