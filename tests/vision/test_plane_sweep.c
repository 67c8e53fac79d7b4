/* The plane sweep against pictures whose depth is known, scores written here, and itself on other devices (test_sweep_math.c: its parts). */
#include <math.h>

#include "device/backend.h"
#include "support.h"
#include "sweep_pinhole.h"
#include "vision/depth/sweep.h"

static tsr_volume *upload_bytes(tsr_context *context, const uint8_t *bytes, int32_t wide, int32_t high)
{
    tsr_volume *host, *device;
    require_ok(tsr_volume_wrap(NULL, TSR_U8, (tsr_size3){ wide, high, 1 }, NULL, (void *)(uintptr_t)bytes, NULL, NULL, &host));
    require_ok(tsr_volume_copy(host, context, &device));
    tsr_volume_destroy(&host);
    return device;
}
static tsr_volume *host_of(const tsr_volume *volume)
{
    tsr_volume *host;
    require_ok(tsr_volume_copy(volume, NULL, &host));
    return host;
}

/* A pair of pinholes whose focal length is the width and whose baseline is 1: disparity = width / depth. */
struct pair {
    tsr_depth_view view[3];
    tsr_volume *image[3];
    int32_t w, h, c;
};
static struct pair make_pair(tsr_context *context, const uint8_t *left, const uint8_t *right, int32_t w, int32_t h, int32_t channels)
{
    struct pair p = { .w = w, .h = h, .c = channels };
    const uint8_t *bytes[2] = { left, right };
    for (int k = 0; k < 2; k++) {
        p.image[k] = upload_bytes(context, bytes[k], w * channels, h);
        p.view[k] = (tsr_depth_view){ .camera = pinhole(k, 0, 0, 2 * atan(0.5 * h / w) * 180 / 3.14159265358979323846), .image = p.image[k] };
    }
    return p;
}
static void free_pair(struct pair *p)
{
    for (int k = 0; k < 3; k++) tsr_volume_destroy(&p->image[k]);
}
static tsr_plane_sweep_options range_of(const struct pair *p, double first, double last)
{
    tsr_plane_sweep_options o = TSR_PLANE_SWEEP_OPTIONS;
    o.channels = p->c;
    o.nearest = p->w / last;
    o.farthest = first > 0 ? p->w / first : (double)INFINITY;
    return o;
}

/* ---- planes -------------------------------------------------------------------------------------------------------------------- */

enum { W = 72, H = 30 };

static void random_texture(uint8_t *pixels, int32_t bytes, uint64_t *state)
{
    for (int32_t i = 0; i < bytes; i++) pixels[i] = (uint8_t)(test_random(state) >> 30);
}
/* right(x) = left(x + d); beyond the left picture something else. */
static void shift_left(const uint8_t *left, uint8_t *right, int32_t w, int32_t h, int32_t c, int32_t d, uint64_t *state)
{
    for (int32_t y = 0; y < h; y++)
        for (int32_t x = 0; x < w; x++)
            for (int32_t k = 0; k < c; k++)
                right[(y * w + x) * c + k] = x + d < w ? left[(y * w + x + d) * c + k] : (uint8_t)(test_random(state) >> 30);
}

/* A plane at the depth of a hypothesis is found exactly, by every cost and method. */
static void plane_exactly(void **unused)
{
    static uint8_t left[W * H * 3], right[W * H * 3];
    uint64_t state = test_seed();
    tsr_context *context = test_context();
    (void)unused;
    random_texture(left, sizeof left, &state);
    shift_left(left, right, W, H, 3, 6, &state);
    struct pair p = make_pair(context, left, right, W, H, 3);
    for (int cost = TSR_DEPTH_L2NORM; cost <= TSR_DEPTH_ZNCC + 1; cost++) {
        tsr_plane_sweep_options o = range_of(&p, 0, 12);
        tsr_depth_maps maps;
        if (cost > TSR_DEPTH_ZNCC) o.method = TSR_DEPTH_VOLUME;
        else o.cost = (tsr_depth_cost)cost;
        o.hypotheses = 13;
        o.no_levels = 1;
        o.no_parabola = 1;
        o.disparity = 1;
        require_ok(tsr_plane_sweep(context, p.view, 2, &p.view[0].camera, &o, &maps));
        assert_int_equal(maps.levels, 0);
        tsr_volume *disparity = host_of(maps.disparity), *depth = host_of(maps.depth), *t = host_of(maps.hypothesis);
        const float *d = tsr_volume_data(disparity), *z = tsr_volume_data(depth), *own = tsr_volume_data(t);
        const int margin = cost >= TSR_DEPTH_CENSUS ? 6 : 0;
        int wrong = 0; /* census: where the middle of both windows is the brightest pixel, they look alike */
        for (int y = margin; y < H - margin; y++)
            for (int x = 12 + margin; x < W - margin; x++) {
                const int i = y * W + x;
                if (cost > TSR_DEPTH_ZNCC) assert_true(fabs((double)own[i] * 12 - 6) < 0.3);
                else if (cost == TSR_DEPTH_CENSUS && fabs((double)own[i] * 12 - 6) > 1e-5 && ++wrong) continue;
                else assert_true(fabs((double)own[i] * 12 - 6) < 1e-5);
                assert_true(fabs((double)d[i] - 6) < 0.31 && fabs((double)z[i] - W / (double)d[i]) < 1e-3 * (double)z[i]);
            }
        assert_true(wrong < W * H / 50);
        tsr_volume_destroy(&disparity);
        tsr_volume_destroy(&depth);
        tsr_volume_destroy(&t);
        tsr_depth_maps_destroy(&maps);
    }
    free_pair(&p);
    tsr_context_destroy(&context);
}

/* Three waves, a third of a period apart: no place is flat, and within half a period no other looks like it. */
static void wave(double x, uint8_t *p)
{
    for (int k = 0; k < 3; k++) p[k] = (uint8_t)(127.5 + 127 * sin(2 * 3.14159265358979323846 * (x / 36 + k / 3.0)) + 0.5);
}
static void slanted(uint8_t *left, uint8_t *right, int32_t w, int32_t h)
{
    for (int32_t y = 0; y < h; y++)
        for (int32_t x = 0; x < w; x++) {
            wave(x, left + (y * w + x) * 3);
            wave((x + 4) / 0.98, right + (y * w + x) * 3); /* disparity 4 + x / 50 */
        }
}

/* A slanted plane to half a step by hypotheses, to a tenth by the parabola. */
static void slanted_plane(void **unused)
{
    static uint8_t left[W * H * 3], right[W * H * 3];
    tsr_context *context = test_context();
    (void)unused;
    slanted(left, right, W, H);
    struct pair p = make_pair(context, left, right, W, H, 3);
    for (int parabola = 0; parabola < 2; parabola++) {
        tsr_plane_sweep_options o = range_of(&p, 0, 12);
        tsr_depth_maps maps;
        o.cost = TSR_DEPTH_SSD;
        o.hypotheses = 13;
        o.no_levels = 1;
        o.no_parabola = !parabola;
        o.disparity = 1;
        require_ok(tsr_plane_sweep(context, p.view, 2, &p.view[0].camera, &o, &maps));
        tsr_volume *disparity = host_of(maps.disparity);
        const float *d = tsr_volume_data(disparity);
        double worst = 0;
        for (int y = 0; y < H; y++)
            for (int x = 14; x < W - 1; x++) worst = fmax(worst, fabs((double)d[y * W + x] - (4 + x / 50.0)));
        print_message("slanted plane, parabola %d: largest error %.4f steps\n", parabola, worst);
        assert_true(worst <= (parabola ? 0.1 : 0.53));
        tsr_volume_destroy(&disparity);
        tsr_depth_maps_destroy(&maps);
    }
    free_pair(&p);
    tsr_context_destroy(&context);
}

/* ---- many views ---------------------------------------------------------------------------------------------------------------- */

static double bilinear_of(const uint8_t *p, int32_t w, int32_t c, double u, int32_t y, int32_t k)
{
    const int x = (int)u < w - 2 ? (int)u : w - 2;
    const double f = u - x;
    return (1 - f) * p[(y * w + x) * c + k] + f * p[(y * w + x + 1) * c + k];
}

/* Scores of two views are the norm of the difference of their colours; a third view that is masked changes nothing; the order of views does not matter. */
static void scores_of_views(void **unused)
{
    static uint8_t left[W * H * 3], right[W * H * 3], zero[W * H], third[W * H * 3];
    uint64_t state = test_seed();
    tsr_context *context = test_context();
    (void)unused;
    random_texture(left, sizeof left, &state);
    random_texture(right, sizeof right, &state);
    random_texture(third, sizeof third, &state);
    struct pair p = make_pair(context, left, right, W, H, 3);
    tsr_plane_sweep_options o = range_of(&p, 0, 12);
    tsr_depth_maps two, masked, swapped, three, other;
    o.hypotheses = 9;
    o.no_levels = 1;
    o.scores = 1;
    require_ok(tsr_plane_sweep(context, p.view, 2, &p.view[0].camera, &o, &two));
    tsr_volume *s = host_of(two.scores), *m;
    const float *score = tsr_volume_data(s), *again;
    assert_int_equal(tsr_volume_size(s).x, 9);
    for (int i = 0; i < W * H; i++)
        for (int k = 0; k < 9; k++) {
            const double u = i % W - 1.5 * k;
            if (u < 1e-3) {
                if (u < -1e-3) assert_true(score[i * 9 + k] == -1.0f);
                continue;
            }
            double sum = 0;
            for (int c = 0; c < 3; c++) {
                const double e = left[i * 3 + c] - bilinear_of(right, W, 3, u, i / W, c);
                sum += e * e;
            }
            assert_true(fabs((double)score[i * 9 + k] - sqrt(sum)) < 0.02);
        }
    p.image[2] = upload_bytes(context, third, W * 3, H);
    tsr_volume *none = upload_bytes(context, zero, W, H);
    p.view[2] = (tsr_depth_view){ .camera = pinhole(0.5, 0, 0, p.view[0].camera.fov), .image = p.image[2], .mask = none };
    require_ok(tsr_plane_sweep(context, p.view, 3, &p.view[0].camera, &o, &masked));
    m = host_of(masked.scores);
    again = tsr_volume_data(m);
    int away = 0;
    for (int i = 0; i < W * H * 9; i++) away += fabs((double)again[i] - (double)score[i]) > 1e-4 * (1 + (double)score[i]);
    /* Masked, the left and right borders of a view do not interpolate beyond: all the same but for roundings of its outermost places. */
    assert_true(away < W * H * 9 / 500);
    tsr_volume_destroy(&m);
    const tsr_depth_view turned[2] = { p.view[1], p.view[0] };
    require_ok(tsr_plane_sweep(context, turned, 2, &p.view[0].camera, &o, &swapped));
    m = host_of(swapped.scores);
    assert_memory_equal(tsr_volume_data(m), score, sizeof(float) * W * H * 9);
    tsr_volume_destroy(&m);
    p.view[2].mask = NULL;
    require_ok(tsr_plane_sweep(context, p.view, 3, &p.view[0].camera, &o, &three));
    const tsr_depth_view mixed[3] = { p.view[2], p.view[0], p.view[1] };
    require_ok(tsr_plane_sweep(context, mixed, 3, &p.view[0].camera, &o, &other));
    tsr_volume *a = host_of(three.scores), *b = host_of(other.scores);
    const float *x = tsr_volume_data(a), *y = tsr_volume_data(b);
    for (int i = 0; i < W * H * 9; i++) assert_true(fabs((double)x[i] - (double)y[i]) <= 1e-4 * (1 + fabs((double)x[i])));
    tsr_volume_destroy(&a);
    tsr_volume_destroy(&b);
    tsr_volume_destroy(&s);
    tsr_volume_destroy(&none);
    tsr_depth_maps_destroy(&two);
    tsr_depth_maps_destroy(&masked);
    tsr_depth_maps_destroy(&swapped);
    tsr_depth_maps_destroy(&three);
    tsr_depth_maps_destroy(&other);
    free_pair(&p);
    tsr_context_destroy(&context);
}

/* A place that one view sees agrees with itself: by sums it wins, shared by contributors it is not asked. */
static void single_contributors(void **unused)
{
    static uint8_t left[W * H], right[W * H];
    uint64_t state = test_seed();
    tsr_context *context = test_context();
    (void)unused;
    random_texture(left, sizeof left, &state);
    random_texture(right, sizeof right, &state);
    struct pair p = make_pair(context, left, right, W, H, 1);
    static uint8_t zero[W * H];
    tsr_volume *none = upload_bytes(context, zero, W, H);
    p.image[2] = upload_bytes(context, left, W, H);
    p.view[2] = (tsr_depth_view){ .camera = p.view[0].camera, .image = p.image[2], .mask = none };
    for (int raw = 0; raw < 2; raw++) {
        tsr_plane_sweep_options o = range_of(&p, 0, 12);
        tsr_depth_maps maps;
        o.hypotheses = 13;
        o.no_levels = 1;
        o.raw = raw;
        require_ok(tsr_plane_sweep(context, p.view, 3, &p.view[0].camera, &o, &maps));
        tsr_volume *count = host_of(maps.count), *valid = host_of(maps.valid);
        int ones = 0;
        for (int i = 0; i < W * H; i++) {
            const uint8_t c = ((const uint8_t *)tsr_volume_data(count))[i];
            ones += c == 1;
            if (!raw) assert_true(c >= 2 ? ((const uint8_t *)tsr_volume_data(valid))[i] == 1 : c == 0);
        }
        assert_true(raw ? ones > 5 * H : ones == 0);
        tsr_volume_destroy(&count);
        tsr_volume_destroy(&valid);
        tsr_depth_maps_destroy(&maps);
    }
    tsr_volume_destroy(&none);
    free_pair(&p);
    tsr_context_destroy(&context);
}

/* ---- levels -------------------------------------------------------------------------------------------------------------------- */

/* A dark region that does not count keeps the depth it has from the coarsest level: the same for all its pixels of a coarse place. */
static void ignored_region(void **unused)
{
    static uint8_t left[W * H], right[W * H];
    uint64_t state = test_seed();
    tsr_context *context = test_context();
    (void)unused;
    for (int i = 0; i < W * H; i++) left[i] = (uint8_t)(64 + (test_random(&state) >> 30) % 160);
    shift_left(left, right, W, H, 1, 5, &state);
    for (int y = 0; y < H; y++)
        for (int x = 40; x < 53; x++) left[y * W + x] = 3;
    struct pair p = make_pair(context, left, right, W, H, 1);
    tsr_plane_sweep_options o = range_of(&p, 0, 12);
    tsr_depth_maps maps;
    o.dark = 15;
    o.levels = 2;
    require_ok(tsr_plane_sweep(context, p.view, 2, &p.view[0].camera, &o, &maps));
    tsr_volume *states = host_of(maps.state), *map = host_of(maps.hypothesis), *valid = host_of(maps.valid);
    const uint8_t *s = tsr_volume_data(states), *v = tsr_volume_data(valid);
    const float *t = tsr_volume_data(map);
    for (int y = 0; y < H; y++)
        for (int x = 40; x < 53; x++) {
            const int i = y * W + x;
            assert_int_equal(s[i], TSR_PLANES_HELD);
            assert_int_equal(v[i], 0);
            if (x >= 45 && x < 51) assert_true(t[i] == t[y / 9 * 9 * W + 45]); /* of one coarse place, whose finer ones see nothing */
        }
    int found = 0;
    for (int y = 0; y < H; y++)
        for (int x = 14; x < 34; x++) found += s[y * W + x] == TSR_PLANES_SEARCHED && fabs((double)t[y * W + x] * 12 - 5) < 0.6;
    assert_true(found > 20 * H * 8 / 10);
    tsr_volume_destroy(&states);
    tsr_volume_destroy(&map);
    tsr_volume_destroy(&valid);
    tsr_depth_maps_destroy(&maps);
    /* No texture at all: with `flat` nothing is refined below the coarsest level. */
    memset(left, 100, sizeof left);
    memset(right, 100, sizeof right);
    free_pair(&p);
    p = make_pair(context, left, right, W, H, 1);
    o = range_of(&p, 0, 12);
    o.levels = 2;
    o.flat = -1;
    require_ok(tsr_plane_sweep(context, p.view, 2, &p.view[0].camera, &o, &maps));
    states = host_of(maps.state);
    s = tsr_volume_data(states);
    for (int i = 0; i < W * H; i++) assert_true(s[i] != TSR_PLANES_SEARCHED);
    tsr_volume_destroy(&states);
    tsr_depth_maps_destroy(&maps);
    free_pair(&p);
    tsr_context_destroy(&context);
}

/* ---- scenes -------------------------------------------------------------------------------------------------------------------- */

struct scene {
    tsr_depth_view view[16];
    tsr_volume *image[16];
    int32_t count, w, h;
};
static struct scene make_scene(tsr_context *context, const char *name, tsr_rig_layout layout, int32_t count, double baseline, int32_t w, int32_t h,
                               double noise)
{
    struct scene s = { .count = count, .w = w, .h = h };
    tsr_rig_layout_options o = TSR_RIG_LAYOUT_OPTIONS;
    tsr_analytic_options draw = TSR_ANALYTIC_OPTIONS;
    tsr_rig *rig;
    o.count = count;
    o.baseline = baseline;
    o.width = w;
    o.height_pixels = h;
    o.degrees = 40;
    o.clip[0] = 2;
    o.clip[1] = 11;
    draw.backdrop = 1;
    draw.noise = noise;
    draw.supersampling = 3;
    require_ok(tsr_rig_make(layout, &o, &rig));
    for (int32_t v = 0; v < count; v++) {
        tsr_rig_camera c;
        tsr_image image;
        require_ok(tsr_rig_get(rig, v, &c));
        draw.seed = (uint64_t)v;
        require_ok(tsr_analytic_render(name, &c.camera, w, h, &draw, &image, NULL));
        s.image[v] = upload_bytes(context, image.pixels, w * 3, h);
        s.view[v] = (tsr_depth_view){ .camera = c.camera, .image = s.image[v] };
        tsr_image_destroy(&image);
    }
    tsr_rig_destroy(&rig);
    return s;
}
static void free_scene(struct scene *s)
{
    for (int32_t v = 0; v < s->count; v++) tsr_volume_destroy(&s->image[v]);
}
/* Share of the pixels of a map whose depth is off by more than `limit` pixels of motion in the view where it moves most: by t over the range. */
static double bad_share(const char *name, const tsr_camera *camera, const struct scene *s, const tsr_depth_maps *maps, double limit, int only_valid,
                        double *counted)
{
    float *truth = malloc((size_t)s->w * (size_t)s->h * sizeof *truth);
    tsr_analytic_options draw = TSR_ANALYTIC_OPTIONS;
    tsr_volume *depth = host_of(maps->depth), *valid = host_of(maps->valid), *count = host_of(maps->count);
    draw.backdrop = 1;
    require_ok(tsr_analytic_render(name, camera, s->w, s->h, &draw, NULL, truth));
    int64_t all = 0, bad = 0;
    for (int32_t i = 0; i < s->w * s->h; i++) {
        const double d = (double)((const float *)tsr_volume_data(depth))[i];
        const int ok = ((const uint8_t *)tsr_volume_data(valid))[i];
        if (!(truth[i] > 0) || (only_valid ? !ok : ((const uint8_t *)tsr_volume_data(count))[i] < 2)) continue;
        all++;
        bad += !ok || !(fabs(1 / d - 1 / (double)truth[i]) <= limit);
    }
    *counted = (double)all / (s->w * s->h);
    tsr_volume_destroy(&depth);
    tsr_volume_destroy(&valid);
    tsr_volume_destroy(&count);
    free(truth);
    return (double)bad / (double)(all ? all : 1);
}

/* Generated scenes, by the smoothed volume: a plane to a pixel but for 0.5 %, layers with what both views see but for 5 %. */
static void scenes(void **unused)
{
    static const struct {
        const char *name;
        double noise, most;
    } cases[] = { { "plane", 0, 0.005 }, { "slant", 0, 0.01 }, { "head", 1, 0.05 }, { "layers", 1, 0.05 } };
    tsr_context *context = test_context();
    (void)unused;
    if (test_is_slow()) {
        tsr_context_destroy(&context);
        return;
    }
    for (size_t n = 0; n < 4; n++) {
        enum { SWIDE = 240, SHIGH = 180 };
        struct scene s = make_scene(context, cases[n].name, TSR_RIG_PAIR, 2, 0.25, SWIDE, SHIGH, cases[n].noise);
        tsr_plane_sweep_options o = TSR_PLANE_SWEEP_OPTIONS;
        tsr_depth_maps maps;
        double counted;
        o.channels = 3;
        o.method = TSR_DEPTH_VOLUME;
        o.consistency = 0.03;
        require_ok(tsr_plane_sweep(context, s.view, 2, &s.view[0].camera, &o, &maps));
        const double focal = SHIGH / 2 / tan(20 * 3.14159265358979323846 / 180), pixel = 1 / (focal * 0.25);
        const double bad = bad_share(cases[n].name, &s.view[0].camera, &s, &maps, pixel, 1, &counted);
        print_message("%s: %d hypotheses, %.2f %% of %.1f %% off by more than a pixel\n", cases[n].name, maps.hypotheses, 100 * bad, 100 * counted);
        assert_true(bad <= cases[n].most && counted > 0.5);
        tsr_depth_maps_destroy(&maps);
        free_scene(&s);
    }
    tsr_context_destroy(&context);
}

/* ---- devices, errors ----------------------------------------------------------------------------------------------------------- */

static void require_same(const tsr_volume *a, const tsr_volume *b)
{
    if (!a && !b) return;
    tsr_volume *x = host_of(a), *y = host_of(b);
    const size_t bytes = (size_t)tsr_volume_count(x) * tsr_dtype_size(tsr_volume_dtype(x));
    assert_memory_equal(tsr_volume_data(x), tsr_volume_data(y), bytes);
    tsr_volume_destroy(&x);
    tsr_volume_destroy(&y);
}

/* The same bits on one thread of a CPU and on this device, for every method and option. */
static void devices_agree(void **unused)
{
    enum { DW = 48, DH = 27, RUNS = 9 };
    static uint8_t left[DW * DH * 3], right[DW * DH * 3], mask[DW * DH];
    uint64_t state = test_seed();
    tsr_context *context[2] = { test_context(), test_context_on("cpu", 1) };
    (void)unused;
    random_texture(left, sizeof left, &state);
    shift_left(left, right, DW, DH, 3, 4, &state);
    for (int i = 0; i < DW * DH * 3; i++) right[i] = (uint8_t)(right[i] ^ (test_random(&state) >> 60));
    for (int i = 0; i < DW * DH; i++) mask[i] = test_uniform(&state) > 0.1;
    for (int n = 0; n < RUNS; n++) {
        tsr_depth_maps maps[2];
        for (int k = 0; k < 2; k++) {
            struct pair p = make_pair(context[k], left, right, DW, DH, 3);
            tsr_plane_sweep_options o = range_of(&p, 0, 10);
            tsr_volume *m = upload_bytes(context[k], mask, DW, DH);
            tsr_camera middle;
            int32_t views = 2;
            const tsr_camera *camera = &p.view[0].camera;
            o.disparity = 1;
            o.uniqueness = 0.05;
            if (n == 1) o.method = TSR_DEPTH_MIPMAP, o.levels = 1, o.samples = 2;
            if (n == 2) o.filter = TSR_DEPTH_GAUSS, o.cost = TSR_DEPTH_L1, o.median = TSR_DEPTH_MEDIAN_5;
            if (n == 3) o.ratio = 2, o.upsampling = TSR_DEPTH_BILATERAL, o.cost = TSR_DEPTH_SSD;
            if (n == 4) o.cost = TSR_DEPTH_ZNCC, o.levels = 1, o.upsampling = TSR_DEPTH_BILINEAR;
            if (n == 5) o.cost = TSR_DEPTH_CENSUS, o.no_levels = 1, o.hypotheses = 6, p.view[1].mask = m;
            if (n == 6) o.method = TSR_DEPTH_VOLUME, o.paths = 8, o.refinements = 1;
            if (n == 7) {
                o.method = TSR_DEPTH_VOLUME;
                o.consistency = 0.1;
                p.view[0].camera.lens = (tsr_lens){ .k1 = 0.03 };
                p.view[0].mask = m;
                require_ok(tsr_camera_middle((const tsr_camera[]){ p.view[0].camera, p.view[1].camera }, 2, &middle));
                camera = &middle;
            }
            if (n == 8) {
                p.view[2] = p.view[0];
                p.view[2].mask = m;
                views = 3;
                o.dark = 20;
                o.texture = 10;
            }
            require_ok(tsr_plane_sweep(context[k], p.view, views, camera, &o, &maps[k]));
            tsr_volume_destroy(&m);
            free_pair(&p);
        }
        assert_int_equal(maps[0].valid_count, maps[1].valid_count);
        assert_true(maps[0].valid_count > 0);
        require_same(maps[0].hypothesis, maps[1].hypothesis);
        require_same(maps[0].depth, maps[1].depth);
        require_same(maps[0].valid, maps[1].valid);
        require_same(maps[0].score, maps[1].score);
        require_same(maps[0].count, maps[1].count);
        require_same(maps[0].state, maps[1].state);
        require_same(maps[0].disparity, maps[1].disparity);
        tsr_depth_maps_destroy(&maps[0]);
        tsr_depth_maps_destroy(&maps[1]);
    }
    tsr_context_destroy(&context[0]);
    tsr_context_destroy(&context[1]);
}

static void mistakes(void **unused)
{
    static uint8_t left[W * H], right[W * H];
    uint64_t state = test_seed();
    tsr_context *context = test_context();
    tsr_depth_maps maps;
    (void)unused;
    random_texture(left, sizeof left, &state);
    random_texture(right, sizeof right, &state);
    struct pair p = make_pair(context, left, right, W, H, 1);
    tsr_plane_sweep_options o = range_of(&p, 1, 12);
    const tsr_camera *camera = &p.view[0].camera;
    require_error(tsr_plane_sweep(context, p.view, 1, camera, &o, &maps), TSR_ERROR_ARGUMENT, "at least 2");
    require_error(tsr_plane_sweep(NULL, p.view, 2, camera, &o, &maps), TSR_ERROR_ARGUMENT, "context is NULL");
    require_error(tsr_plane_sweep(context, NULL, 2, camera, &o, &maps), TSR_ERROR_ARGUMENT, "views is NULL");
    require_error(tsr_plane_sweep(context, p.view, 2, camera, &o, NULL), TSR_ERROR_ARGUMENT, "maps is NULL");
    o.nearest = 80;
    require_error(tsr_plane_sweep(context, p.view, 2, camera, &o, &maps), TSR_ERROR_ARGUMENT, "nearest < farthest");
    o = range_of(&p, 1, 12);
    o.nearest = o.farthest = 0;
    require_error(tsr_plane_sweep(context, p.view, 2, camera, &o, &maps), TSR_ERROR_ARGUMENT, "no range");
    o = range_of(&p, 1, 12);
    o.hypotheses = 1;
    require_error(tsr_plane_sweep(context, p.view, 2, camera, &o, &maps), TSR_ERROR_ARGUMENT, "hypotheses");
    o = range_of(&p, 1, 12);
    o.contributors = 1;
    require_error(tsr_plane_sweep(context, p.view, 2, camera, &o, &maps), TSR_ERROR_ARGUMENT, "contributors");
    o = range_of(&p, 1, 12);
    o.window = 6;
    require_error(tsr_plane_sweep(context, p.view, 2, camera, &o, &maps), TSR_ERROR_ARGUMENT, "window");
    o = range_of(&p, 1, 12);
    o.method = TSR_DEPTH_VOLUME;
    o.p1 = 70;
    require_error(tsr_plane_sweep(context, p.view, 2, camera, &o, &maps), TSR_ERROR_ARGUMENT, "p1");
    o = range_of(&p, 1, 12);
    tsr_camera singular = *camera;
    singular.projection = TSR_PROJECTION_MATRIX; /* of zeros */
    require_error(tsr_plane_sweep(context, p.view, 2, &singular, &o, &maps), TSR_ERROR_ARGUMENT, "the matrix has no inverse");
    tsr_volume *small = upload_bytes(context, left, W / 2, H);
    p.view[1].mask = small;
    require_error(tsr_plane_sweep(context, p.view, 2, camera, &o, &maps), TSR_ERROR_ARGUMENT, "mask of view 1");
    p.view[1].mask = NULL;
    /* Views that look away from each other: what each of them sees is said. */
    tsr_camera away = p.view[1].camera;
    require_ok(tsr_camera_look_at(&away, (tsr_vec3){ 1, 0, 0 }, (tsr_vec3){ 1, 0, 5 }, (tsr_vec3){ 0, 1, 0 }));
    p.view[1].camera = away;
    require_error(tsr_plane_sweep(context, p.view, 2, camera, &o, &maps), TSR_ERROR_STATE, "1: 0 %");
    assert_null(maps.depth);
    tsr_volume_destroy(&small);
    free_pair(&p);
    test_stop stop = { .after = 0.1 };
    p = make_pair(context, left, right, W, H, 1);
    o.progress = (tsr_progress){ test_stops, &stop };
    require_error(tsr_plane_sweep(context, p.view, 2, camera, &o, &maps), TSR_ERROR_CANCELLED, "cancelled");
    assert_true(stop.calls > 0);
    free_pair(&p);
    tsr_context_destroy(&context);
}

static void middle_camera(void **unused)
{
    tsr_camera c[2], m;
    (void)unused;
    for (int k = 0; k < 2; k++) {
        c[k] = pinhole(0, 0, 0, 40);
        const double a = (k ? 20 : -20) * 3.14159265358979323846 / 180;
        require_ok(tsr_camera_look_at(&c[k], (tsr_vec3){ 4 * sin(a), 0, 4 * cos(a) }, (tsr_vec3){ 0, 0, 0 }, (tsr_vec3){ 0, 1, 0 }));
    }
    require_ok(tsr_camera_middle(c, 2, &m));
    for (int k = 0; k < 9; k++) assert_true(fabs(m.rotation[k / 3][k % 3] - (k % 4 == 0)) < 1e-12);
    assert_true(fabs(m.position.x) < 1e-12 && fabs(m.position.z - 4 * cos(20 * 3.14159265358979323846 / 180)) < 1e-12);
    require_error(tsr_camera_middle(c, 0, &m), TSR_ERROR_ARGUMENT, "at least 1");
    require_ok(tsr_camera_look_at(&c[1], (tsr_vec3){ 0, 0, 0 }, (tsr_vec3){ -c[0].position.x + 8 * sin(-20 * 3.14159265358979323846 / 180), 0, 8 },
                                  (tsr_vec3){ 0, -1, 0 }));
}

/* Depths as points, and whether another map says the same. */
static void points_and_checks(void **unused)
{
    enum { PW = 32, PH = 24 };
    tsr_context *context = test_context();
    tsr_camera c[2] = { pinhole(0, 0, 0, 50), pinhole(0.2, 0, 0, 50) };
    float map[2][PW * PH];
    tsr_volume *depth[2], *valid, *back;
    (void)unused;
    for (int i = 0; i < PW * PH; i++) map[0][i] = map[1][i] = 5;
    for (int i = 0; i < PW; i++) map[0][3 * PW + i] = 4; /* a row that the other map does not have */
    map[0][0] = 0;
    uint8_t ones[PW * PH];
    memset(ones, 1, sizeof ones);
    for (int k = 0; k < 2; k++) {
        tsr_volume *host;
        require_ok(tsr_volume_wrap(NULL, TSR_F32, (tsr_size3){ PW, PH, 1 }, NULL, map[k], NULL, NULL, &host));
        require_ok(tsr_volume_copy(host, context, &depth[k]));
        tsr_volume_destroy(&host);
    }
    tsr_mesh *mesh;
    require_ok(tsr_depth_vertices(depth[0], &c[0], NULL, 1, &mesh));
    assert_int_equal(tsr_mesh_vertex_count(mesh), PW * PH - 1);
    for (int64_t n = 0; n < PW * PH - 1; n++) {
        const float *v = tsr_mesh_vertices(mesh) + 3 * n;
        double seen[2];
        require_ok(tsr_camera_project(&c[0], PW, PH, (tsr_vec3){ (double)v[0], (double)v[1], (double)v[2] }, seen, NULL));
        assert_true(fabs(seen[0] - ((n + 1) % PW + 0.5)) < 1e-4 && fabs(seen[1] - ((n + 1) / PW + 0.5)) < 1e-4);
    }
    const float *normal = tsr_mesh_normals(mesh) + 3 * (10 * PW + 10);
    assert_true(fabs((double)normal[2] - 1) < 1e-5); /* towards the camera, which looks along -z */
    tsr_mesh_destroy(&mesh);
    valid = upload_bytes(context, ones, PW, PH);
    require_ok(tsr_depth_check(context, depth[0], &c[0], depth[1], &c[1], 0.02, 0, valid));
    back = host_of(valid);
    const uint8_t *v = tsr_volume_data(back);
    for (int i = 0; i < PW * PH; i++) assert_int_equal(v[i], i != 0 && i / PW != 3 ? 1 : i / PW == 3 && i % PW < 2 ? v[i] : 0);
    tsr_volume_destroy(&back);
    require_ok(tsr_depth_check(context, depth[0], &c[0], depth[1], &c[1], 0.02, 1, valid));
    back = host_of(valid);
    v = tsr_volume_data(back);
    assert_int_equal(v[10 * PW], 0); /* the other camera does not see the left border */
    assert_int_equal(v[10 * PW + 8], 1);
    tsr_volume_destroy(&back);
    require_error(tsr_depth_check(context, NULL, &c[0], depth[1], &c[1], 0.02, 0, valid), TSR_ERROR_ARGUMENT, "depth is NULL");
    require_error(tsr_depth_vertices(valid, &c[0], NULL, 1, &mesh), TSR_ERROR_ARGUMENT, "expected f32");
    tsr_volume_destroy(&valid);
    tsr_volume_destroy(&depth[0]);
    tsr_volume_destroy(&depth[1]);
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plane_exactly),   cmocka_unit_test(slanted_plane),
        cmocka_unit_test(scores_of_views), cmocka_unit_test(single_contributors),

        cmocka_unit_test(ignored_region),  cmocka_unit_test(scenes),
        cmocka_unit_test(devices_agree),   cmocka_unit_test(mistakes),
        cmocka_unit_test(middle_camera),   cmocka_unit_test(points_and_checks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
