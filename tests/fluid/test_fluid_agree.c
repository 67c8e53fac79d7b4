/* The same bits from the emulator's kernels, every SIMD variant and any number of threads, in every image of every kind of drawing. */
#include "device/isa.h"
#include "fluids.h"

enum { W = 70, H = 54, KINDS = 12 };

static void draw(tsr_context *c, int kind, const float *p, int64_t count, double radius, float *images[TSR_FLUID_IMAGES],
                 size_t bytes[TSR_FLUID_IMAGES])
{
    tsr_fluid *fluid;
    tsr_camera camera = { .fov = 50 };
    tsr_fluid_options o = TSR_FLUID_OPTIONS;
    tsr_fluid_look look;
    tsr_fluid_backdrop b = TSR_FLUID_BACKDROP;
    static const tsr_fluid_smoother smoothers[KINDS] = { TSR_FLUID_FLOW,           TSR_FLUID_FLOW_EXACT,   TSR_FLUID_FLOW_IMPLICIT,
                                                         TSR_FLUID_FLOW_MULTIGRID, TSR_FLUID_NARROW_RANGE, TSR_FLUID_BILATERAL,
                                                         TSR_FLUID_BILATERAL_TRUE, TSR_FLUID_GAUSSIAN,     TSR_FLUID_BINOMIAL,
                                                         TSR_FLUID_FLOW,           TSR_FLUID_FLOW,         TSR_FLUID_BILATERAL_GRID };
    require_ok(tsr_fluid_create(c, &fluid));
    require_ok(tsr_camera_look_at(&camera, (tsr_vec3){ 0.4, 0, 0.9 }, (tsr_vec3){ 0, 4, -0.4 }, (tsr_vec3){ 0, 0, 1 }));
    if (kind == 3) {
        camera.projection = TSR_ORTHOGRAPHIC;
        camera.height = 3;
    }
    if (kind == 1) camera.aspect = 2; /* pixels that are not square */
    require_ok(tsr_fluid_look_make((tsr_fluid_preset)(kind % 5), radius, &look));
    look.noise = kind % 2 || kind == 10 ? 0.3f : 0;
    look.agitated = kind % 2 || kind == 10 ? 0.6f : 0;
    o.width = W;
    o.height = H;
    o.smoother = smoothers[kind];
    o.iterations = kind < 2 ? 7 : kind == 8 ? 4 : 2;
    o.resolution = kind == 5 ? 2 : kind == 7 ? 4 : 1;
    o.layers = kind == 2 || kind == 9 ? 2 : 1;
    o.sprites = kind == 6;
    o.thickness_step = kind == 4 ? 1 : 0;
    o.thickness_blur = kind == 4 ? 6 : kind == 6 ? 9 : 0;
    o.particle_scale = kind == 10 ? 8 : 1.7; /* 9 and 10 are drawn by lists of tiles on every backend, with noise */
    o.curvature = kind == 8;
    o.anisotropic = kind == 0 || kind == 2;
    o.spray_low = 1;
    o.spray_high = 2;
    b.scenery = (tsr_fluid_scenery)(kind % 3);
    b.bounds = (tsr_box){ { -1, 3, -1 }, { 1, 5, 0.5 } };
    b.shadow = kind % 2;
    b.shadow_bounds = b.bounds;
    cloud all = cloud_of(c, count, p, NULL, radius);
    float *densities = malloc((size_t)count * 4), *velocities = malloc((size_t)count * 12);
    assert_true(densities && velocities);
    for (int64_t i = 0; i < count; i++) {
        densities[i] = 0.5f + (float)(i % 7) * 0.4f;
        for (int k = 0; k < 3; k++) velocities[3 * i + k] = (float)(i % 5) * (float)k;
    }
    all.densities = to_device(c, densities, (size_t)count * 4);
    all.velocities = to_device(c, velocities, (size_t)count * 12);
    all.particles.densities = all.densities;
    all.particles.velocities = all.velocities;
    require_ok(tsr_fluid_agitate(fluid, &all.particles, 0.1, 1, 0.5));
    for (int64_t i = 0; i < count; i += 3) velocities[3 * i] += 3;
    require_ok(tsr_device_move(c, all.velocities, NULL, velocities, (size_t)count * 12));
    require_ok(tsr_fluid_agitate(fluid, &all.particles, 0.1, 1, 0.5));
    require_ok(tsr_fluid_draw(fluid, &all.particles, &camera, &b, &look, &o, NULL));
    for (int k = 0; k < TSR_FLUID_IMAGES; k++) {
        int32_t width, height, channels;
        require_ok(tsr_fluid_image_shape(fluid, (tsr_fluid_image)k, &width, &height, &channels));
        bytes[k] = (size_t)width * (size_t)height * (size_t)channels * 4;
        images[k] = image_of(fluid, (tsr_fluid_image)k);
    }
    free(densities);
    free(velocities);
    cloud_end(&all);
    tsr_fluid_destroy(&fluid);
}

static void compare(tsr_context *one, tsr_context *two, int isa, const char *what)
{
    uint64_t state = test_seed();
    int64_t count;
    double radius;
    float *p = pool(9, &state, &count, &radius);
    for (int kind = 0; kind < KINDS; kind++) {
        float *a[TSR_FLUID_IMAGES], *b[TSR_FLUID_IMAGES];
        size_t bytes[TSR_FLUID_IMAGES], again[TSR_FLUID_IMAGES];
        draw(one, kind, p, count, radius, a, bytes);
        if (isa >= 0) tsr_isa_force(isa);
        draw(two, kind, p, count, radius, b, again);
        tsr_isa_force(-1);
        for (int k = 0; k < TSR_FLUID_IMAGES; k++) {
            assert_int_equal(bytes[k], again[k]);
            for (size_t i = 0; i < bytes[k] / 4; i++)
                if (memcmp(&a[k][i], &b[k][i], 4))
                    fail_msg("%s, drawing %d, image %d, value %zu: %.9g and %.9g", what, kind, k, i, (double)a[k][i], (double)b[k][i]);
            free(a[k]);
            free(b[k]);
        }
    }
    free(p);
}

static void threads(void **unused)
{
    (void)unused;
    tsr_context *one = test_context_on("cpu", 1), *three = test_context_on("cpu", 3);
    compare(one, three, -1, "three threads");
    tsr_context_destroy(&one);
    tsr_context_destroy(&three);
}
static void variants(void **unused)
{
    (void)unused;
    if (test_watches_threads()) return;
    tsr_context *one = test_context_on("cpu", 1);
    for (int isa = TSR_ISA_BASE; isa < (int)tsr_isa_current(); isa++) compare(one, one, isa, tsr_isa_name((tsr_isa)isa));
    tsr_context_destroy(&one);
}
static void kernels(void **unused)
{
    (void)unused;
    for (int kind = TSR_DEVICE_CUDA; kind <= TSR_DEVICE_EMU; kind++) {
        if (tsr_device_count((tsr_device_kind)kind, NULL) < 1) {
            print_message("%s: no device\n", tsr_device_kind_name((tsr_device_kind)kind));
            continue;
        }
        tsr_context *one = test_context_on("cpu", 2), *two = test_context_on(tsr_device_kind_name((tsr_device_kind)kind), 1);
        compare(one, two, -1, tsr_device_kind_name((tsr_device_kind)kind));
        tsr_context_destroy(&two);
        tsr_context_destroy(&one);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(threads), cmocka_unit_test(variants), cmocka_unit_test(kernels) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
