/* The segmentation object: invariants of its motion, room that goes back, bad input, quality on the phantoms (test_segment_session.c: scripts and rules). */
#include "device/isa.h"
#include "tiles/tiles_check.h"
#include "segment/segment.h"
#include "sphere.h"
#include "tessera/compare.h"
#include "tessera/phantom.h"

static tsr_volume *phantom(tsr_context *context, const char *name, tsr_size3 size, double noise, tsr_volume **truth)
{
    tsr_phantom_options o = TSR_PHANTOM_OPTIONS;
    tsr_volume *host, *device;
    o.size = size;
    o.noise = noise;
    o.seed = 7;
    require_ok(tsr_phantom_make(name, &o, &host, truth));
    require_ok(tsr_volume_copy(host, context, &device));
    tsr_volume_destroy(&host);
    return device;
}

/* ---- invariants of the motion ------------------------------------------------------------------------ */

static const tsr_size3 small = { 30, 26, 22 };

static tsr_volume *noise_image(tsr_context *context, tsr_size3 n, const int flip[3], const int order[3], double sign)
{
    const int64_t base[3] = { 24, 24, 24 };
    tsr_volume *host, *device;
    uint64_t random = 99;
    float values[24 * 24 * 24];
    for (int i = 0; i < 24 * 24 * 24; i++) values[i] = (float)(test_uniform(&random) * 2 - 1);
    require_ok(tsr_volume_create(NULL, TSR_F32, n, NULL, &host));
    for (int64_t i = 0; i < n.x * n.y * n.z; i++) {
        const int64_t at[3] = { i % n.x, i / n.x % n.y, i / n.x / n.y };
        int64_t from[3];
        for (int k = 0; k < 3; k++) from[order[k]] = flip[k] ? base[k] - 1 - at[k] : at[k];
        ((float *)tsr_volume_data(host))[i] = (float)(sign * (double)values[(from[2] * 24 + from[1]) * 24 + from[0]]);
    }
    require_ok(tsr_volume_copy(host, context, &device));
    tsr_volume_destroy(&host);
    return device;
}

static tsr_segment_options noisy_motion(const tsr_volume *speed)
{
    tsr_segment_options o = TSR_SEGMENT_OPTIONS;
    o.alpha = 0.8;
    o.data_weight = 0;
    o.term_count = 1;
    o.terms[0] = (tsr_term){ .kind = TSR_TERM_VOLUME, .weight = 1, .volume = speed };
    return o;
}

/* Runs steps from a ball, fewer where they are slow; the field on the host. */
static tsr_volume *moved(tsr_context *context, const tsr_volume *speed, tsr_segment_options o, tsr_vec3 at, double radius, int64_t steps)
{
    tsr_segmentation *s;
    require_ok(tsr_segmentation_create(context, speed, &o, &s));
    require_ok(tsr_segmentation_sphere(s, at, radius, 0));
    require_ok(tsr_segmentation_step(s, test_is_slow() ? (steps + 2) / 3 : steps, NULL, NULL));
    check_invariants(tsr_segmentation_tiles(s));
    tsr_volume *field = host_field(s);
    tsr_segmentation_destroy(&s);
    return field;
}

/* Reflected and permuted axes: sums in other orders, and without `exact` a device rounds in its own: at most two units of the last place of the band
 * each step. */
static void axes_are_alike(void **unused)
{
    (void)unused;
    tsr_context *context = test_context();
    const tsr_size3 n = { 24, 24, 24 };
    const int none[3] = { 0, 0, 0 }, straight[3] = { 0, 1, 2 };
    tsr_volume *speed = noise_image(context, n, none, straight, 1),
               *expected = moved(context, speed, noisy_motion(speed), (tsr_vec3){ 10, 12, 13 }, 6, 60);
    static const int flips[3][3] = { { 1, 0, 0 }, { 0, 1, 1 }, { 0, 0, 0 } }, orders[3][3] = { { 0, 1, 2 }, { 0, 1, 2 }, { 2, 0, 1 } };
    for (int c = 0; c < 3; c++) {
        const double at[3] = { 10, 12, 13 };
        double to[3];
        for (int k = 0; k < 3; k++) to[k] = flips[c][k] ? 23 - at[orders[c][k]] : at[orders[c][k]];
        tsr_volume *turned = noise_image(context, n, flips[c], orders[c], 1);
        tsr_volume *field = moved(context, turned, noisy_motion(turned), (tsr_vec3){ to[0], to[1], to[2] }, 6, 60);
        const float *p = (const float *)tsr_volume_data_const(field), *q = (const float *)tsr_volume_data_const(expected);
        double worst = 0;
        for (int64_t i = 0; i < 24 * 24 * 24; i++) {
            const int64_t here[3] = { i % 24, i / 24 % 24, i / 576 };
            int64_t from[3];
            for (int k = 0; k < 3; k++) from[orders[c][k]] = flips[c][k] ? 23 - here[k] : here[k];
            worst = fmax(worst, fabs((double)p[i] - (double)q[(from[2] * 24 + from[1]) * 24 + from[0]]));
        }
        print_message("axes %d: largest difference %.2g\n", c, worst);
        assert_true(worst <= 2 * 60 * 0x1p-22);
        tsr_volume_destroy(&field);
        tsr_volume_destroy(&turned);
    }
    tsr_volume_destroy(&expected);
    tsr_volume_destroy(&speed);
    tsr_context_destroy(&context);
}

/* Inside and outside are dual: phi -> -phi with speed -> -speed gives -phi, bit for bit. */
static void duality(void **unused)
{
    (void)unused;
    tsr_context *context = test_context();
    const tsr_size3 n = { 24, 24, 24 };
    const int none[3] = { 0, 0, 0 }, straight[3] = { 0, 1, 2 };
    tsr_volume *result[2];
    for (int i = 0; i < 2; i++) {
        tsr_volume *speed = noise_image(context, n, none, straight, i ? -1 : 1), *host, *device;
        tsr_segment_options o = noisy_motion(speed);
        tsr_segmentation *s;
        require_ok(tsr_volume_create(NULL, TSR_F32, n, NULL, &host));
        for (int64_t k = 0; k < 24 * 24 * 24; k++) {
            double d = sqrt(pow((double)(k % 24) - 11, 2) + pow((double)(k / 24 % 24) - 12, 2) + pow((double)(k / 576) - 10, 2)) - 6.3;
            ((float *)tsr_volume_data(host))[k] = (float)(i ? -d : d);
        }
        require_ok(tsr_volume_copy(host, context, &device));
        require_ok(tsr_segmentation_create(context, speed, &o, &s));
        require_ok(tsr_segmentation_from_field(s, device));
        require_ok(tsr_segmentation_step(s, test_is_slow() ? 20 : 60, NULL, NULL));
        result[i] = host_field(s);
        tsr_segmentation_destroy(&s);
        tsr_volume_destroy(&host);
        tsr_volume_destroy(&device);
        tsr_volume_destroy(&speed);
    }
    const float *p = (const float *)tsr_volume_data_const(result[0]), *q = (const float *)tsr_volume_data_const(result[1]);
    for (int64_t k = 0; k < 24 * 24 * 24; k++) assert_true(p[k] == -q[k]);
    tsr_volume_destroy(&result[0]);
    tsr_volume_destroy(&result[1]);
    tsr_context_destroy(&context);
}

/* Moved by whole voxels, also across tile borders, the field is the same bit for bit. */
static void translation(void **unused)
{
    (void)unused;
    tsr_context *context = test_context();
    const tsr_size3 n = { 48, 48, 48 };
    tsr_volume *expected = NULL;
    const int shifts[][3] = { { 0, 0, 0 }, { 1, 0, 0 }, { 3, 5, 7 }, { -4, 2, -6 } };
    for (int c = 0; c < 4; c++) {
        tsr_volume *host, *image;
        const int *d = shifts[c];
        require_ok(tsr_volume_create(NULL, TSR_F32, n, NULL, &host));
        for (int64_t i = 0; i < 48 * 48 * 48; i++) {
            double x = (double)(i % 48) - d[0], y = (double)(i / 48 % 48) - d[1], z = (double)(i / 2304) - d[2];
            ((float *)tsr_volume_data(host))[i] = (float)(fabs(x - 24) + 0.5 * fabs(y - 23) + fabs(z - 22) + 3 * ((int)(x + 64) * 7 % 3));
        }
        require_ok(tsr_volume_copy(host, context, &image));
        tsr_segment_options o = TSR_SEGMENT_OPTIONS;
        o.epsilon = 12;
        o.alpha = 0.6;
        o.normalise = TSR_NORMALISE_EPSILON;
        tsr_volume *field = moved(context, image, o, (tsr_vec3){ 24 + d[0], 23 + d[1], 22 + d[2] }, 5, 80);
        if (c == 0) expected = field;
        else {
            const float *p = (const float *)tsr_volume_data_const(field), *q = (const float *)tsr_volume_data_const(expected);
            for (int64_t z = 8; z < 40; z++)
                for (int64_t y = 8; y < 40; y++)
                    for (int64_t x = 8; x < 40; x++) assert_true(p[((z + d[2]) * 48 + y + d[1]) * 48 + x + d[0]] == q[(z * 48 + y) * 48 + x]);
            tsr_volume_destroy(&field);
        }
        tsr_volume_destroy(&host);
        tsr_volume_destroy(&image);
    }
    tsr_volume_destroy(&expected);
    tsr_context_destroy(&context);
}

/* alpha = 1 without rescaling: a surface that starts inside another stays inside. Flat voxels stay flat. */
static void comparison_principle(void **unused)
{
    (void)unused;
    tsr_context *context = test_context();
    const tsr_size3 n = { 24, 24, 24 };
    const int none[3] = { 0, 0, 0 }, straight[3] = { 0, 1, 2 };
    tsr_volume *speed = noise_image(context, n, none, straight, 1);
    tsr_segment_options o = noisy_motion(speed);
    o.alpha = 1;
    o.rescale = TSR_RESCALING_NONE;
    tsr_volume *inner = moved(context, speed, o, (tsr_vec3){ 12, 11, 12 }, 5, 100),
               *outer = moved(context, speed, o, (tsr_vec3){ 12, 11, 12 }, 6.5, 100);
    const float *p = (const float *)tsr_volume_data_const(inner), *q = (const float *)tsr_volume_data_const(outer);
    for (int64_t i = 0; i < 24 * 24 * 24; i++) assert_true(q[i] <= p[i] + 1e-6f);
    tsr_volume_destroy(&inner);
    tsr_volume_destroy(&outer);
    tsr_volume_destroy(&speed);
    tsr_context_destroy(&context);
}

/* Every SIMD variant, thread count and tile edge, both indices, tight or roomy memory: the same bits. */
static void same_bits_everywhere(void **unused)
{
    (void)unused;
    tsr_volume *expected = NULL;
    const char *device = getenv("TESSERA_DEVICE");
    const int emulated = device && !strcmp(device, "emu");
    for (int c = 0; c < 7; c++) {
        if (emulated && c >= 1 && c <= 3) continue; /* one thread, no SIMD variants */
        tsr_context *context = test_context_on(device && *device ? device : "cpu", c == 1 ? 1 : 2);
        tsr_volume *image = distance_image(context, small, (tsr_vec3){ 1, 1.25, 0.8 });
        tsr_segment_options o = TSR_SEGMENT_OPTIONS;
        o.epsilon = 9;
        o.alpha = 0.7;
        if (c == 2 || c == 3) tsr_isa_force(c == 2 ? TSR_ISA_BASE : TSR_ISA_AVX2);
        if (c == 4) o.tile_edge = 4;
        if (c == 5) o.tile_index = TSR_TILES_PAGED;
        if (c == 6) o.tile_capacity = 8;
        tsr_volume *field = moved(context, image, o, (tsr_vec3){ 9, 14, 10 }, 4, 120);
        tsr_isa_force(-1);
        if (!expected) expected = field;
        else {
            assert_memory_equal(tsr_volume_data_const(field), tsr_volume_data_const(expected), (size_t)tsr_volume_count(field) * sizeof(float));
            tsr_volume_destroy(&field);
        }
        tsr_volume_destroy(&image);
        tsr_context_destroy(&context);
    }
    tsr_volume_destroy(&expected);
}

/* With `exact` a device gives the bits of the CPU, with a term of the caller's, too. */
static void exact_on_every_device(void **unused)
{
    (void)unused;
    const char *device = getenv("TESSERA_DEVICE");
    if (!device || !*device || !strcmp(device, "cpu")) skip();
    const int none[3] = { 0, 0, 0 }, straight[3] = { 0, 1, 2 };
    const tsr_size3 n = { 24, 24, 24 };
    tsr_volume *result[2];
    for (int i = 0; i < 2; i++) {
        tsr_context *context = test_context_on(i ? device : "cpu", 1);
        tsr_volume *speed = noise_image(context, n, none, straight, 1);
        tsr_segment_options o = noisy_motion(speed);
        o.exact = 1;
        result[i] = moved(context, speed, o, (tsr_vec3){ 10, 12, 13 }, 6, 60);
        tsr_volume_destroy(&speed);
        tsr_context_destroy(&context);
    }
    assert_memory_equal(tsr_volume_data_const(result[0]), tsr_volume_data_const(result[1]), 24 * 24 * 24 * sizeof(float));
    tsr_volume_destroy(&result[0]);
    tsr_volume_destroy(&result[1]);
}

/* Lists of more tiles than the emulator has warps (80), so that a warp takes several in turn, one by one or (from 16 for each on) in rows of four: the bits of the
 * CPU. */
static void more_tiles_than_warps(void **unused)
{
    (void)unused;
    const char *device = getenv("TESSERA_DEVICE");
    if (!device || !*device || !strcmp(device, "cpu")) skip();
    static const struct {
        int64_t n;
        double radius;
        int64_t tiles;
    } rows[] = { { 64, 26, 160 }, { 136, 60, 1280 } };
    for (int c = 0; c < 2; c++) {
        const tsr_size3 n = { rows[c].n, rows[c].n, rows[c].n };
        const double middle = (double)(rows[c].n - 1) / 2;
        tsr_volume *result[2];
        for (int i = 0; i < 2; i++) {
            tsr_context *context = test_context_on(i ? device : "cpu", 2);
            tsr_volume *image = distance_image(context, n, (tsr_vec3){ 1, 1, 1 });
            tsr_segment_options o = TSR_SEGMENT_OPTIONS;
            tsr_segmentation *s;
            tsr_tiles_info info = TSR_TILES_INFO;
            o.epsilon = rows[c].radius + 3;
            o.alpha = 0.7;
            o.exact = 1;
            require_ok(tsr_segmentation_create(context, image, &o, &s));
            require_ok(tsr_segmentation_sphere(s, (tsr_vec3){ middle, middle, middle }, rows[c].radius, 0));
            require_ok(tsr_tiles_describe(tsr_segmentation_tiles(s), &info));
            assert_true(info.count >= rows[c].tiles);
            require_ok(tsr_segmentation_step(s, 2, NULL, NULL));
            result[i] = host_field(s);
            tsr_segmentation_destroy(&s);
            tsr_volume_destroy(&image);
            tsr_context_destroy(&context);
        }
        assert_memory_equal(tsr_volume_data_const(result[0]), tsr_volume_data_const(result[1]), (size_t)tsr_volume_count(result[0]) * sizeof(float));
        tsr_volume_destroy(&result[0]);
        tsr_volume_destroy(&result[1]);
    }
}

static void bad_input(void **unused)
{
    (void)unused;
    tsr_context *context = test_context();
    tsr_volume *image = distance_image(context, small, (tsr_vec3){ 1, 1, 1 }), *other, *host, *thin, *full;
    tsr_segmentation *s;
    const struct {
        double alpha, epsilon;
        const char *text;
    } options[] = { { -0.1, 8, "alpha" },  { 1.1, 8, "alpha" },    { NAN, 8, "alpha" },
                    { 0.5, 0, "epsilon" }, { 0.5, -1, "epsilon" }, { 0.5, NAN, "epsilon" } };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        tsr_segment_options o = TSR_SEGMENT_OPTIONS;
        o.alpha = options[i].alpha;
        o.epsilon = options[i].epsilon;
        require_error(tsr_segmentation_create(context, image, &o, &s), TSR_ERROR_ARGUMENT, options[i].text);
        assert_null(s);
    }
    tsr_segment_options o = TSR_SEGMENT_OPTIONS;
    o.epsilon = 8;
    require_ok(tsr_volume_create(context, TSR_F32, (tsr_size3){ 1, 20, 20 }, NULL, &thin));
    require_error(tsr_segmentation_create(context, thin, &o, &s), TSR_ERROR_ARGUMENT, "1 voxels along x");
    require_ok(tsr_volume_copy(image, NULL, &host));
    ((float *)tsr_volume_data(host))[(5 * small.y + 4) * small.x + 3] = NAN;
    require_ok(tsr_volume_copy(host, context, &other));
    require_error(tsr_segmentation_create(context, other, &o, &s), TSR_ERROR_ARGUMENT, "1 voxels are NaN and 0 infinite, the first at (3, 4, 5)");
    tsr_volume_destroy(&other);
    tsr_volume_destroy(&host);
    tsr_geometry skew = { { { 1, 0.5, 0, 0 }, { 0, 1, 0, 0 }, { 0, 0, 1, 0 } }, TSR_SPACE_RAS };
    require_ok(tsr_volume_create(context, TSR_F32, small, &skew, &other));
    require_error(tsr_segmentation_create(context, other, &o, &s), TSR_ERROR_UNSUPPORTED, "perpendicular");
    tsr_volume_destroy(&other);

    require_ok(tsr_segmentation_create(context, image, &o, &s));
    require_error(tsr_segmentation_run(s, NULL, NULL), TSR_ERROR_STATE, "no surface");
    /* without a zero crossing: refused, whatever there was before, and that is kept */
    for (int there = 0; there < 2; there++) {
        tsr_volume *before = there ? host_field(s) : NULL, *after;
        for (int inside = 0; inside < 2; inside++) {
            require_ok(tsr_volume_create(NULL, TSR_F32, small, NULL, &full));
            for (int64_t i = 0; i < tsr_volume_count(full); i++) ((float *)tsr_volume_data(full))[i] = (float)inside * (1 + (float)(i % 7));
            require_ok(tsr_volume_copy(full, context, &other));
            require_error(tsr_segmentation_from_mask(s, other), TSR_ERROR_STATE,
                          inside ? "the mask has no zero crossing: it is all inside" : "the mask has no zero crossing: it is all outside");
            require_error(tsr_segmentation_from_field(s, other), TSR_ERROR_STATE, "the field has no zero crossing");
            tsr_volume_destroy(&other);
            tsr_volume_destroy(&full);
        }
        if (there) {
            after = host_field(s);
            assert_memory_equal(tsr_volume_data_const(before), tsr_volume_data_const(after), (size_t)tsr_volume_count(after) * sizeof(float));
            tsr_volume_destroy(&after);
            tsr_volume_destroy(&before);
        }
        require_ok(tsr_segmentation_sphere(s, (tsr_vec3){ 15, 13, 11 }, 5, 0));
    }
    require_error(tsr_segmentation_from_mask(s, thin), TSR_ERROR_ARGUMENT, "1 x 20 x 20");
    require_error(tsr_segmentation_sphere(s, (tsr_vec3){ 100, 0, 0 }, 3, 0), TSR_ERROR_ARGUMENT, "outside");
    require_error(tsr_segmentation_sphere(s, (tsr_vec3){ 5, 5, 5 }, 0, 0), TSR_ERROR_ARGUMENT, "radius");
    require_error(tsr_segmentation_sphere(s, (tsr_vec3){ 5, 5, 5 }, NAN, 0), TSR_ERROR_ARGUMENT, "radius");
    require_error(tsr_segmentation_step(s, -1, NULL, NULL), TSR_ERROR_ARGUMENT, "-1 steps");
    tsr_segment_report report = TSR_SEGMENT_REPORT;
    require_ok(tsr_segmentation_sphere(s, (tsr_vec3){ 15, 13, 11 }, 4, 0));
    tsr_segment_options now = TSR_SEGMENT_OPTIONS;
    require_ok(tsr_segmentation_get_options(s, &now));
    now.target = 1e4;
    require_ok(tsr_segmentation_set_options(s, &now));
    require_ok(tsr_segmentation_step(s, 1, NULL, &report));
    assert_true(report.target_outside);
    tsr_segmentation_destroy(&s);
    tsr_volume_destroy(&thin);
    tsr_volume_destroy(&image);
    tsr_context_destroy(&context);
}

/* ---- quality ------------------------------------------------------------------------ */

/* The voxel of a mask whose shortest straight way out along the axes is longest. */
static tsr_vec3 deepest(const tsr_volume *truth)
{
    tsr_size3 n = tsr_volume_size(truth);
    const uint8_t *m = (const uint8_t *)tsr_volume_data_const(truth);
    double best = 0;
    int64_t at = 0;
    for (int64_t i = 0; i < n.x * n.y * n.z; i++) {
        if (!m[i]) continue;
        const int64_t p[3] = { i % n.x, i / n.x % n.y, i / n.x / n.y }, size[3] = { n.x, n.y, n.z }, stride[3] = { 1, n.x, n.x * n.y };
        double shortest = 1e9;
        for (int k = 0; k < 3; k++)
            for (int sign = -1; sign <= 1; sign += 2) {
                int64_t step = 0;
                while (p[k] + sign * step >= 0 && p[k] + sign * step < size[k] && m[i + sign * step * stride[k]]) step++;
                shortest = fmin(shortest, (double)step);
            }
        if (shortest > best) {
            best = shortest;
            at = i;
        }
    }
    return (tsr_vec3){ (double)(at % n.x), (double)(at / n.x % n.y), (double)(at / n.x / n.y) };
}

/* A tumour from one probed ball of radius 5 that is also the seed. epsilon = twice the probed deviation, the default: 95 % of the grey values of the tumour; with one
 * deviation the noise of a third of its voxels pushes inwards and the surface stays short of the blurred edge (Dice at best 0.88). */
static void tumour_quality(void **unused)
{
    (void)unused;
    if (test_is_slow()) skip(); /* minutes; the emulator has the same bits (same_bits_everywhere), a sanitizer sees the same code in other cases */
    tsr_context *context = test_context_on("cpu", 0);
    const double noise[] = { 0.05, 0.1 }, wanted[] = { 0.95, 0.9 };
    for (int i = 0; i < 2; i++) {
        tsr_volume *truth, *image = phantom(context, "phantom_tumour", (tsr_size3){ 192, 192, 131 }, noise[i], &truth), *mask, *host;
        tsr_segment_options o = TSR_SEGMENT_OPTIONS;
        tsr_segmentation *s;
        tsr_probe probe;
        tsr_segment_report report = TSR_SEGMENT_REPORT;
        tsr_mask_comparison c = TSR_MASK_COMPARISON;
        o.epsilon = 1;
        o.alpha = 0.8;
        o.max_steps = 3000;
        o.volume_tolerance = 1e-4;
        require_ok(tsr_segmentation_create(context, image, &o, &s));
        tsr_vec3 seed = deepest(truth);
        require_ok(tsr_segmentation_probe(s, seed, 5, &probe));
        require_ok(tsr_segmentation_sphere(s, seed, 5, 0));
        require_ok(tsr_segmentation_run(s, NULL, &report));
        require_ok(tsr_segmentation_mask(s, &mask));
        require_ok(tsr_volume_copy(mask, NULL, &host));
        require_ok(tsr_compare_masks(context, host, truth, NULL, &c));
        print_message("phantom_tumour, noise %.2f: T %.3f, epsilon %.3f, %lld steps (%s), Dice %.4f\n", noise[i], probe.mean, probe.deviation,
                      (long long)report.steps, tsr_stop_name(report.stop), c.dice);
        assert_true(c.dice >= wanted[i]);
        tsr_volume_destroy(&mask);
        tsr_volume_destroy(&host);
        tsr_segmentation_destroy(&s);
        tsr_volume_destroy(&image);
        tsr_volume_destroy(&truth);
    }
    tsr_context_destroy(&context);
}

/* alpha = 1 on clean data = the component within the interval that holds the seed, up to one layer of voxels. */
static void clean_data_is_flood_fill(void **unused)
{
    (void)unused;
    tsr_context *context = test_context();
    const tsr_size3 n = { 48, 40, 36 };
    tsr_volume *host, *image;
    require_ok(tsr_volume_create(NULL, TSR_U8, n, NULL, &host));
    uint8_t *v = (uint8_t *)tsr_volume_data(host);
    for (int64_t i = 0; i < n.x * n.y * n.z; i++) { /* two boxes, one of them with the seed; 200 in, 20 out */
        int64_t x = i % n.x, y = i / n.x % n.y, z = i / n.x / n.y;
        v[i] = (x >= 6 && x < 24 && y >= 6 && y < 34 && z >= 5 && z < 30) || (x >= 32 && x < 44 && y >= 6 && y < 34 && z >= 5 && z < 30) ? 200 : 20;
    }
    require_ok(tsr_volume_copy(host, context, &image));
    tsr_segment_options o = TSR_SEGMENT_OPTIONS;
    o.alpha = 1;
    o.target = 200;
    o.epsilon = 60;
    o.max_steps = 2000;
    o.volume_tolerance = 1e-6;
    tsr_segmentation *s;
    require_ok(tsr_segmentation_create(context, image, &o, &s));
    require_ok(tsr_segmentation_sphere(s, (tsr_vec3){ 14, 20, 17 }, 4, 0));
    require_ok(tsr_segmentation_run(s, NULL, NULL));
    uint8_t *mask = host_mask(s);
    for (int64_t i = 0; i < n.x * n.y * n.z; i++) {
        int64_t x = i % n.x, y = i / n.x % n.y, z = i / n.x / n.y;
        int within = x >= 7 && x < 23 && y >= 7 && y < 33 && z >= 6 && z < 29, near = x >= 5 && x < 25 && y >= 5 && y < 35 && z >= 4 && z < 31;
        assert_true(!within || mask[i]);
        assert_true(near || !mask[i]);
    }
    free(mask);
    tsr_segmentation_destroy(&s);
    tsr_volume_destroy(&host);
    tsr_volume_destroy(&image);
    tsr_context_destroy(&context);
}

/* Room that is no longer used goes back between steps, and the surface does not notice. */
static void room_goes_back(void **unused)
{
    (void)unused;
    tsr_context *context = test_context();
    tsr_volume *speed = noise_image(context, (tsr_size3){ 24, 24, 24 }, (const int[3]){ 0, 0, 0 }, (const int[3]){ 0, 1, 2 }, 1);
    tsr_segment_options o = noisy_motion(speed);
    tsr_volume *field[2];
    o.tile_edge = 4;
    for (int roomy = 0; roomy < 2; roomy++) {
        tsr_segmentation *s;
        tsr_tiles_info info = TSR_TILES_INFO;
        require_ok(tsr_segmentation_create(context, speed, &o, &s));
        require_ok(tsr_segmentation_sphere(s, (tsr_vec3){ 12, 11, 12 }, 6, 0));
        if (roomy) require_ok(tsr_tiles_reserve(s->tiles, 20000));
        for (int part = 0; part < 2; part++) {
            require_ok(tsr_segmentation_step(s, 5, NULL, NULL));
            require_ok(tsr_tiles_describe(tsr_segmentation_tiles(s), &info));
            assert_true(info.capacity < 2000);
            check_invariants(tsr_segmentation_tiles(s));
        }
        field[roomy] = host_field(s);
        tsr_segmentation_destroy(&s);
    }
    assert_memory_equal(tsr_volume_data(field[0]), tsr_volume_data(field[1]), 24 * 24 * 24 * sizeof(float));
    for (int k = 0; k < 2; k++) tsr_volume_destroy(&field[k]);
    tsr_volume_destroy(&speed);
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(axes_are_alike),
                                        cmocka_unit_test(duality),
                                        cmocka_unit_test(translation),
                                        cmocka_unit_test(comparison_principle),
                                        cmocka_unit_test(same_bits_everywhere),
                                        cmocka_unit_test(exact_on_every_device),
                                        cmocka_unit_test(more_tiles_than_warps),
                                        cmocka_unit_test(room_goes_back),
                                        cmocka_unit_test(bad_input),
                                        cmocka_unit_test(tumour_quality),
                                        cmocka_unit_test(clean_data_is_flood_fill) };
    return cmocka_run_group_tests_name("segment", tests, NULL, NULL);
}
