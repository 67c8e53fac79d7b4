/* The level-set solver: a sparse run equals a dense run bit for bit (docs/theory/levelset.md 5), analytic answers (9), bad input (3).
 *
 * The dense side applies tsr_scheme_rate to every voxel of a clamped grid with replicated borders; what is tested is everything else: tiles, halos
 * of one and three voxels, packing into vectors, Runge-Kutta buffers, management, wide guard areas, time steps, totals. The formulas have their own
 * tests (test_scheme.c). */
#include "device/isa.h"
#include "engine_support.h"
#include "solver/engine_object.h"
#include "tessera/levelset.h"

static double small_sphere(double x, double y, double z) { return distance3(x, y, z, 12.3, 11.8, 12.1) - 7.4; }
static double two_spheres(double x, double y, double z)
{
    return fmin(distance3(x, y, z, 8.2, 12, 11.6) - 4.6, distance3(x, y, z, 18.4, 12.3, 12) - 4.2);
}
static double box(double x, double y, double z)
{
    double dx = fabs(x - 12.2) - 6.3, dy = fabs(y - 12.1) - 5.2, dz = fabs(z - 11.9) - 4.4;
    double ox = fmax(dx, 0), oy = fmax(dy, 0), oz = fmax(dz, 0);
    return sqrt(ox * ox + oy * oy + oz * oz) + fmin(fmax(dx, fmax(dy, dz)), 0);
}
static double cut_by_border(double x, double y, double z) { return distance3(x, y, z, 2.2, 22.8, 5.1) - 9.3; }

/* ---- dense = sparse -------------------------------------------------------------------------------------------------------------------------- */

struct dense {
    tsr_size3 n;
    int64_t count;
    float *phi[3];
    int current;
    tsr_engine_setup setup;
    tsr_engine_control control;
    double time;
    int64_t active, inside;
};

static float dense_at(const struct dense *d, const float *phi, int64_t x, int64_t y, int64_t z)
{
    x = x < 0 ? 0 : x >= d->n.x ? d->n.x - 1 : x;
    y = y < 0 ? 0 : y >= d->n.y ? d->n.y - 1 : y;
    z = z < 0 ? 0 : z >= d->n.z ? d->n.z - 1 : z;
    return phi[(z * d->n.y + y) * d->n.x + x];
}

/* Where in a cube of 7^3 a scheme looks: three voxels along the axes, one along diagonals. */
static int needed_voxels(int need[343])
{
    int n = 0;
    for (int c = 0; c < 343; c++) {
        const int dx = abs(c % 7 - 3), dy = abs(c / 7 % 7 - 3), dz = abs(c / 49 - 3), most = dx > dy ? (dx > dz ? dx : dz) : dy > dz ? dy : dz;
        if (most <= 1 || dx + dy + dz == most) need[n++] = c;
    }
    return n;
}

/* What may be left out of a pass: a voxel at the end of the band beside six like it, from where no difference, of whatever order, is other than 0. */
static int flat(const float *p, float band)
{
    static const int beside[6] = { -1, 1, -7, 7, -49, 49 };
    int same = fabsf(p[0]) == band;
    for (int k = 0; k < 6; k++) same = same && p[beside[k]] == p[0];
    return same;
}

/* One pass over every voxel. */
static void dense_pass(struct dense *d, int index)
{
    const tsr_engine_setup *s = &d->setup;
    const int passes = s->stages + s->sweeps, sweep = index >= s->stages, last = index == passes - 1;
    const int buffer[3] = { d->current, d->current ^ 1, 2 };
    const float *start = d->phi[d->current], *from = d->phi[buffer[tsr_pass_source(index, passes)]];
    float *to = d->phi[buffer[tsr_pass_target(index, passes)]];
    const tsr_engine_scheme *k = sweep ? &s->sweep : &s->scheme;
    const float step = sweep ? s->sweep_step : d->control.time_step, blend = sweep ? 1.0f : s->blend[index];
    tsr_engine_moment moment;
    tsr_engine_moment_at(&s->flow, d->time + (sweep ? 0 : (double)s->moment[index] * (double)d->control.time_step), d->control.mean_speed, &moment);
    float cube[343] = { 0 };
    int need[343];
    const int needed = needed_voxels(need);
    if (last) d->active = d->inside = 0;
    for (int64_t i = 0; i < d->count; i++) {
        const int64_t x = i % d->n.x, y = i / d->n.x % d->n.y, z = i / d->n.x / d->n.y;
        float change = 0;
        const tsr_engine_given none = { 0 };
        float *p = cube + 171;
        p[0] = from[i];
        for (int a = 0; a < 3; a++)
            for (int side = -1; side <= 1; side += 2)
                p[side * (a == 0 ? 1 : a == 1 ? 7 : 49)] = dense_at(d, from, x + (a == 0) * side, y + (a == 1) * side, z + (a == 2) * side);
        if (!flat(p, k->band)) {
            for (int j = 0; j < needed; j++) cube[need[j]] = dense_at(d, from, x + need[j] % 7 - 3, y + need[j] / 7 % 7 - 3, z + need[j] / 49 - 3);
            tsr_engine_values v = { 0 };
            if (!sweep) v = tsr_engine_at(&s->flow, &moment, (int32_t)x, (int32_t)y, (int32_t)z, &none);
            if (index == 0 && s->measured && p[0] > -k->band && p[0] < k->band) {
                d->control.rate_bits = tsr_float_bits(tsr_maxf(tsr_bits_float(d->control.rate_bits), tsr_engine_hyperbolic(&v, k)));
                d->control.curvature_bits = tsr_float_bits(tsr_maxf(tsr_bits_float(d->control.curvature_bits), tsr_absf(v.curvature)));
            }
            change = step * tsr_scheme_rate(p, 7, 49, &v, k, sweep);
        }
        to[i] = tsr_stage_value(start[i], p[0], change, blend, k->band);
        if (!last) continue;
        const int in_band = to[i] > -k->band && to[i] < k->band;
        d->active += in_band;
        d->inside += to[i] < 0;
        if (in_band) d->control.change_bits = tsr_float_bits(tsr_maxf(tsr_bits_float(d->control.change_bits), tsr_absf(to[i] - start[i])));
    }
}

static void dense_mean(struct dense *d)
{
    for (int64_t i = 0; i < d->count; i++) {
        const int64_t x = i % d->n.x, y = i / d->n.x % d->n.y, z = i / d->n.x / d->n.y;
        float cube[27];
        for (int c = 0; c < 27; c++) cube[c] = dense_at(d, d->phi[d->current], x + c % 3 - 1, y + c / 3 % 3 - 1, z + c / 9 - 1);
        tsr_engine_mean_voxel(cube + 13, 3, 9, &d->setup.scheme, d->setup.delta_width, d->control.sums);
    }
    tsr_engine_mean(&d->setup, 0, &d->control);
    tsr_engine_begin(&d->setup, d->time, &d->control);
}

static void dense_step(struct dense *d)
{
    if (d->setup.needs_mean) dense_mean(d);
    for (int k = 0; k < d->setup.stages + d->setup.sweeps; k++) dense_pass(d, k);
    d->time += (double)d->control.time_step;
    d->current ^= 1;
    tsr_tile_state state = { .count = 1, .time = d->time };
    tsr_engine_finish(&d->setup, 8, 1, &state, &d->control);
}

struct setting {
    const char *name;
    shape_function shape;
    int32_t edge, threads, isa, steps;
    double band;
    tsr_levelset_options options;
};

static void compare(const struct dense *d, tsr_context *context, const tsr_tiles *tiles, const struct setting *t, int step)
{
    tsr_tile_state state;
    tsr_volume *host = host_of(context, tiles, d->n);
    const float *phi = (const float *)tsr_volume_data(host), *expected = d->phi[d->current];
    const int fused = t->options.fused && strcmp(device_name(), "cpu") != 0; /* rounds differently: some last bits a step */
    for (int64_t i = 0; i < d->count; i++)
        if (fused ? !(fabsf(phi[i] - expected[i]) <= 2e-6f * (float)(step * t->band)) : memcmp(&phi[i], &expected[i], sizeof *phi))
            fail_msg("%s, step %d, voxel (%d, %d, %d): sparse %.9g dense %.9g", t->name, step, (int)(i % d->n.x), (int)(i / d->n.x % d->n.y),
                     (int)(i / d->n.x / d->n.y), (double)phi[i], (double)expected[i]);
    tsr_volume_destroy(&host);
    require_ok(tsr_tiles_read_state(tiles, &state));
    if (step == 0 || fused) return;
    assert_int_equal(state.active_voxels, d->active);
    assert_int_equal(state.inside_voxels + state.inside_absent, d->inside);
    assert_int_equal(state.count + state.free_count + TSR_TILE_FIRST, tiles->pool.capacity);
    assert_memory_equal(&state.time, &d->time, sizeof d->time);
}

static void sparse_equals_dense(const struct setting *t)
{
    const tsr_size3 n = { 26, 25, 23 };
    tsr_isa_force(t->isa);
    tsr_context *context = test_context_on(device_name(), t->threads);
    tsr_tiles *tiles = tiles_of(context, n, t->edge, t->band, t->shape);
    tsr_levelset *levelset;
    tsr_levelset_report report = TSR_LEVELSET_REPORT;
    require_ok(tsr_levelset_create(tiles, &t->options, &levelset));
    struct dense d = { .n = n, .count = n.x * n.y * n.z, .setup = levelset->setup };
    tsr_volume *host = host_of(context, tiles, n);
    for (int b = 0; b < 3; b++) {
        d.phi[b] = (float *)malloc((size_t)d.count * sizeof(float));
        memcpy(d.phi[b], tsr_volume_data(host), (size_t)d.count * sizeof(float));
    }
    tsr_volume_destroy(&host);
    compare(&d, context, tiles, t, 0);
    for (int step = 1; step <= t->steps; step++) {
        require_ok(tsr_levelset_step(levelset, 1, NULL, &report));
        if (step == 1) { /* the lengths of the steps follow from the first; the same formulas go on from there */
            d.control = levelset->seen;
            d.control.time_step = (float)report.time_step;
            d.control.volume_start = -1;
            d.control.change_bits = d.control.rate_bits = d.control.curvature_bits = 0;
        }
        if (report.steps == 0) break;
        if (d.setup.measured) d.control.time_step = (float)report.time_step; /* every call measures anew */
        else if (!d.setup.needs_mean) assert_true((float)report.time_step == d.control.time_step);
        d.control.end = HUGE_VAL;
        dense_step(&d);
        compare(&d, context, tiles, t, step);
    }
    for (int b = 0; b < 3; b++) free(d.phi[b]);
    tsr_levelset_destroy(&levelset);
    tsr_tiles_destroy(&tiles);
    tsr_context_destroy(&context);
    tsr_isa_force(-1);
}

#define TERMS(...) .terms = { __VA_ARGS__ }, .term_count = (int32_t)(sizeof((tsr_levelset_term[]){ __VA_ARGS__ }) / sizeof(tsr_levelset_term))

static const tsr_levelset_term shrink = { .kind = TSR_LEVELSET_SPEED, .value = -1 }, grow = { .kind = TSR_LEVELSET_SPEED, .value = 0.7 },
                               bend = { .kind = TSR_LEVELSET_CURVATURE, .value = 0.5 }, mean = { .kind = TSR_LEVELSET_MEAN_CURVATURE, .value = 0.5 },
                               slide = { .kind = TSR_LEVELSET_VELOCITY, .value = 1.1, .vector = { 0.6, -0.7, 0.4 } },
                               spin = { .kind = TSR_LEVELSET_ROTATION, .value = 0.08, .vector = { 0, 1, 2 }, .centre = { 12, 12, 11 } },
                               swirl = { .kind = TSR_LEVELSET_ENRIGHT, .value = 1, .radius = 24, .period = 6 },
                               dab = { .kind = TSR_LEVELSET_SPEED, .value = 1.2, .centre = { 17, 12, 12 }, .sigma = 2.2 };

static void first_order_cases(void **unused)
{
    (void)unused;
    const int few = on_emulator() || test_watches_threads() ? 6 : test_is_slow() ? 24 : 60, many = few < 60 ? few : 500;
    const struct setting settings[] = {
        { "curvature flow of a sphere, nearly until it is gone", small_sphere, 8, 2, -1, many, 2.5, OPTIONS(TERMS(bend), .time_step = 0.05) },
        { "curvature flow of a sphere", small_sphere, 8, 1, -1, few, 2.5, OPTIONS(TERMS(bend), .time_step = 0.2) },
        { "curvature flow, edge 4, two threads", small_sphere, 4, 2, -1, few, 2.5, OPTIONS(TERMS(bend), .time_step = 0.2) },
        { "two spheres merging", two_spheres, 8, 2, TSR_ISA_BASE, few / 2, 2.5, OPTIONS(TERMS(grow)) },
        { "a box shrinking to nothing", box, 4, 2, TSR_ISA_AVX2, few, 1.5, OPTIONS(TERMS(shrink), .space = TSR_STENCIL_GODUNOV) },
        { "expansion and curvature, wide band", two_spheres, 8, 1, -1, few / 2, 3, OPTIONS(TERMS(grow, bend), .sign = TSR_SIGN_SGN) },
        { "translation", box, 8, 2, -1, few / 2, 2.5, OPTIONS(TERMS(slide), .sign = TSR_SIGN_SUBCELL) },
        { "rotation, beyond the border", cut_by_border, 8, 1, -1, few / 2, 2.5, OPTIONS(TERMS(spin), .sign = TSR_SIGN_PHI) },
        { "without reshape", small_sphere, 8, 1, -1, few / 3, 2.5, OPTIONS(TERMS(grow, slide), .reshape = TSR_RESHAPE_NONE) },
        { "reinitialised", box, 4, 1, -1, few / 3, 2.5, OPTIONS(TERMS(slide), .reshape = TSR_RESHAPE_REINIT, .reshape_sweeps = 2) },
        { "curvature, then a sweep", small_sphere, 8, 1, -1, few / 3, 2.5,
          OPTIONS(TERMS(shrink, bend), .reshape = TSR_RESHAPE_REINIT, .time_step = 0.1) },
        { "the same by Godunov, three sweeps, across the border, edge 4", cut_by_border, 4, 1, -1, few / 3, 2.5,
          OPTIONS(TERMS(grow, bend), .space = TSR_STENCIL_GODUNOV, .reshape = TSR_RESHAPE_REINIT, .reshape_sweeps = 3, .time_step = 0.1) },
        { "a brush, then a sweep, sub-cell sign", box, 8, 1, -1, few / 3, 2.5,
          OPTIONS(TERMS(dab), .reshape = TSR_RESHAPE_REINIT, .sign = TSR_SIGN_SUBCELL) },
        { "RK3 of first-order differences, edge 4", box, 4, 2, -1, few / 3, 2.5,
          OPTIONS(TERMS(slide, bend), .space = TSR_STENCIL_GODUNOV, .time = TSR_TIME_RK3, .time_step = 0.2) },
        { "a brush", box, 8, 1, -1, few / 3, 2.5, OPTIONS(TERMS(dab)) },
        { "volume-conserving", box, 8, 2, -1, few / 3, 2.5, OPTIONS(TERMS(bend, mean), .feedback = 0.1, .time_step = 0.2) },
        { "sign by the gradient", two_spheres, 8, 2, -1, few / 3, 2.5, OPTIONS(TERMS(shrink, bend), .sign = TSR_SIGN_GRADIENT, .time_step = 0.1) },
    };
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) sparse_equals_dense(&settings[i]);
}

static void wide_cases(void **unused)
{
    (void)unused;
    const int few = on_emulator() || test_watches_threads() ? 3 : test_is_slow() ? 6 : 16;
    const struct setting settings[] = {
        { "WENO5 and RK3 in a vortex", small_sphere, 8, 2, -1, few, 3, OPTIONS(TERMS(swirl), .space = TSR_STENCIL_WENO5, .time = TSR_TIME_RK3) },
        { "WENO5 and RK3, edge 4, SSE", small_sphere, 4, 1, TSR_ISA_BASE, few, 3,
          OPTIONS(TERMS(swirl), .space = TSR_STENCIL_WENO5, .time = TSR_TIME_RK3, .sign = TSR_SIGN_SGN) },
        { "WENO5 and RK3 without reshape", two_spheres, 8, 1, TSR_ISA_AVX2, few, 3,
          OPTIONS(TERMS(swirl), .space = TSR_STENCIL_WENO5, .time = TSR_TIME_RK3, .reshape = TSR_RESHAPE_NONE) },
        { "the same, edge 4", two_spheres, 4, 1, -1, few, 3,
          OPTIONS(TERMS(swirl), .space = TSR_STENCIL_WENO5, .time = TSR_TIME_RK3, .reshape = TSR_RESHAPE_NONE) },
        { "WENO5 and RK3 in a vortex across the border, sub-cell sign", cut_by_border, 8, 1, -1, few, 3,
          OPTIONS(TERMS(swirl), .space = TSR_STENCIL_WENO5, .time = TSR_TIME_RK3, .sign = TSR_SIGN_SUBCELL) },
        { "WENO5 and RK3, speed and curvature across the border", cut_by_border, 8, 1, -1, few, 3,
          OPTIONS(TERMS(shrink, bend), .space = TSR_STENCIL_WENO5, .time = TSR_TIME_RK3, .time_step = 0.1) },
        { "WENO5 and RK2, translation and curvature", two_spheres, 8, 2, -1, few, 2.5,
          OPTIONS(TERMS(slide, bend), .space = TSR_STENCIL_WENO5, .time = TSR_TIME_RK2, .sign = TSR_SIGN_SGN, .time_step = 0.1) },
        { "ENO2 and RK2, curvature, across the border", cut_by_border, 8, 1, -1, few, 2.5,
          OPTIONS(TERMS(grow, bend), .space = TSR_STENCIL_ENO2, .time = TSR_TIME_RK2) },
        { "WENO5 and RK3, sign by the gradient, edge 4", two_spheres, 4, 1, -1, few, 3,
          OPTIONS(TERMS(swirl), .space = TSR_STENCIL_WENO5, .time = TSR_TIME_RK3, .sign = TSR_SIGN_GRADIENT) },
        { "WENO5 with first-order reshape and sweeps", box, 8, 2, -1, few, 3,
          OPTIONS(TERMS(shrink), .space = TSR_STENCIL_WENO5, .reshape = TSR_RESHAPE_REINIT, .reshape_space = TSR_STENCIL_GODUNOV) },
        { "WENO5 and RK3, then a sweep", small_sphere, 8, 1, -1, few, 3,
          OPTIONS(TERMS(shrink, bend), .space = TSR_STENCIL_WENO5, .time = TSR_TIME_RK3, .reshape = TSR_RESHAPE_REINIT, .time_step = 0.1) },
        { "WENO5 in a vortex, then two sweeps, across the border, sub-cell sign", cut_by_border, 8, 1, -1, few, 3,
          OPTIONS(TERMS(swirl), .space = TSR_STENCIL_WENO5, .reshape = TSR_RESHAPE_REINIT, .reshape_sweeps = 2, .sign = TSR_SIGN_SUBCELL) },
        { "WENO5 and RK3 of terms with places, then three sweeps", two_spheres, 8, 1, -1, few, 3,
          OPTIONS(TERMS(dab), .space = TSR_STENCIL_WENO5, .time = TSR_TIME_RK3, .reshape = TSR_RESHAPE_REINIT, .reshape_sweeps = 3) },
    };
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) sparse_equals_dense(&settings[i]);
}

/* The arithmetic of the device: next to the exact answer, and the same bits again. The CPU takes no notice. */
static void fused_cases(void **unused)
{
    (void)unused;
    const int few = on_emulator() || test_watches_threads() ? 3 : 8;
    const struct setting settings[] = {
        { "fused, first order", small_sphere, 8, 1, -1, few, 2.5, OPTIONS(TERMS(shrink, bend), .time_step = 0.1, .fused = 1) },
        { "fused, first order, edge 4", two_spheres, 4, 2, -1, few, 2.5,
          OPTIONS(TERMS(grow, bend), .space = TSR_STENCIL_GODUNOV, .time_step = 0.1, .fused = 1) },
        { "fused, WENO5 and RK3 in a vortex", small_sphere, 8, 1, -1, few, 3,
          OPTIONS(TERMS(swirl), .space = TSR_STENCIL_WENO5, .time = TSR_TIME_RK3, .fused = 1) },
    };
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        uint64_t hash[2];
        sparse_equals_dense(&settings[i]);
        for (int run = 0; run < 2; run++) {
            tsr_context *context = test_context();
            tsr_tiles *tiles = tiles_of(context, (tsr_size3){ 26, 25, 23 }, settings[i].edge, settings[i].band, settings[i].shape);
            tsr_levelset *levelset;
            require_ok(tsr_levelset_create(tiles, &settings[i].options, &levelset));
            require_ok(tsr_levelset_step(levelset, few, NULL, NULL));
            tsr_levelset_destroy(&levelset);
            hash[run] = digest_of(tiles);
            tsr_tiles_destroy(&tiles);
            tsr_context_destroy(&context);
        }
        assert_true(hash[0] == hash[1]);
    }
}

/* ---- convergence, payload, cancellation, bad input ------------------------------------------------------------------------------------------------- */

static void convergence(void **unused)
{
    (void)unused;
    tsr_context *context = test_context();
    tsr_tiles *tiles = tiles_of(context, (tsr_size3){ 26, 25, 23 }, 8, 2.5, small_sphere);
    tsr_levelset *levelset;
    tsr_levelset_report report = TSR_LEVELSET_REPORT;
    tsr_levelset_options o = OPTIONS(.reshape = TSR_RESHAPE_NONE, .time_step = 0.1, .age = 5, .max_steps = 300);
    require_ok(tsr_levelset_create(tiles, &o, &levelset));
    require_ok(tsr_levelset_run(levelset, NULL, &report));
    assert_int_equal(report.steps, 6); /* nothing moves: threshold + 1 */
    assert_true(report.converged);
    tsr_levelset_destroy(&levelset);
    /* A slow front: the rule of [Jalba13] takes it for converged, the safe rule does not. */
    o = (tsr_levelset_options)OPTIONS(.terms = { { .kind = TSR_LEVELSET_SPEED, .value = 0.3 } }, .term_count = 1, .time_step = 0.3, .age = 5,
                                      .source_rule = 1, .max_steps = 40);
    tsr_tiles_destroy(&tiles);
    tiles = tiles_of(context, (tsr_size3){ 26, 25, 23 }, 8, 2.5, small_sphere);
    require_ok(tsr_levelset_create(tiles, &o, &levelset));
    require_ok(tsr_levelset_run(levelset, NULL, &report));
    assert_true(report.converged && report.steps < 30);
    o.source_rule = 0;
    require_ok(tsr_levelset_set(levelset, &o));
    require_ok(tsr_levelset_run(levelset, NULL, &report));
    assert_true(!report.converged && report.steps == 40);
    /* A front that goes on making tiles never grows old, but it is calm if what it moves in a step, 0.3 * 0.3, is little enough for that many steps. */
    o.age = 100;
    o.calm_steps = 7;
    o.change_tolerance = 0.2;
    require_ok(tsr_levelset_set(levelset, &o));
    require_ok(tsr_levelset_run(levelset, NULL, &report));
    assert_true(report.converged && report.steps == 7 && report.largest_change < 0.2);
    o.change_tolerance = 0.05;
    o.max_steps = 10;
    require_ok(tsr_levelset_set(levelset, &o));
    require_ok(tsr_levelset_run(levelset, NULL, &report));
    assert_true(!report.converged && report.steps == 10 && report.largest_change > 0.05);
    for (o.max_steps = 1; o.max_steps <= 2; o.max_steps++) { /* a way of twenty steps ends after so many */
        require_ok(tsr_levelset_set(levelset, &o));
        require_ok(tsr_levelset_advance(levelset, 6, NULL, &report));
        assert_int_equal(report.steps, o.max_steps);
    }
    o.change_tolerance = 0;
    assert_int_equal(tsr_levelset_set(levelset, &o), TSR_ERROR_ARGUMENT);
    assert_non_null(strstr(tsr_error_message(), "calm_steps is 7 with age 100 and change_tolerance 0"));
    tsr_levelset_destroy(&levelset);
    tsr_tiles_destroy(&tiles);
    tsr_context_destroy(&context);
}

/* A box whose faces lie in the middle of tiles and move in phase: no tile is made for a while. By the rule of [Jalba13] it has converged after 6 steps of 0.3,
 * by the safe rule it has not until it fills the domain. A list rewritten in order between runs gives the same bits; with room enough nothing moves. */
static double middle_box(double x, double y, double z) { return fmax(fabs(x - 15.5) - 3.4, fmax(fabs(y - 15.5) - 3.4, fabs(z - 15.5) - 3.4)); }
static void moving_box(void **unused)
{
    (void)unused;
    tsr_context *context = test_context();
    const tsr_size3 n = { 32, 32, 32 };
    tsr_tiles *tiles = tiles_of(context, n, 8, 1.5, middle_box), *twin = tiles_of(context, n, 8, 1.5, middle_box);
    tsr_levelset *l, *other;
    tsr_levelset_report report = TSR_LEVELSET_REPORT;
    tsr_levelset_options o = OPTIONS(.terms = { grow }, .term_count = 1, .time_step = 0.3, .age = 5, .source_rule = 1, .max_steps = 50);
    require_ok(tsr_levelset_create(tiles, &o, &l));
    require_ok(tsr_levelset_run(l, NULL, &report));
    assert_true(report.converged && report.steps == 6);
    o.source_rule = 0;
    o.age = 0;
    require_ok(tsr_levelset_set(l, &o));
    require_ok(tsr_levelset_create(twin, &o, &other));
    require_ok(tsr_levelset_step(other, 6, NULL, NULL));
    o.age = 5;
    require_ok(tsr_levelset_set(other, &o));
    require_ok(tsr_levelset_set(l, &o));
    require_ok(tsr_tiles_reserve(tiles, 200));
    require_ok(tsr_tiles_reserve(twin, 200));
    const float *phi = tiles->pool.phi[0];
    for (int part = 0; part < 3; part++) {
        require_ok(tsr_levelset_step(l, 9, NULL, &report));
        assert_true(!report.converged);
        assert_true(part > 0 || tiles->pool.phi[0] == phi); /* grew in the room it had */
        require_ok(tsr_tiles_compact(tiles, part == 1 ? 300 : 0));
    }
    require_ok(tsr_levelset_step(other, 27, NULL, &report));
    assert_true(digest_of(tiles) == digest_of(twin));
    tsr_levelset_destroy(&l);
    tsr_levelset_destroy(&other);
    tsr_tiles_destroy(&tiles);
    tsr_tiles_destroy(&twin);
    tsr_context_destroy(&context);
}

/* A front that travels: on the CPU the tiles come back into the order of the list, and the field is that of a run whose tiles stay where they are
 * (a solver that is set anew begins to count anew, so that its list never gets that far). */
static double large_sphere(double x, double y, double z) { return distance3(x, y, z, 32, 34, 34) - 28; }
static int32_t tiles_in_order(const tsr_tiles *tiles)
{
    const tsr_tile_state *state = tiles->pool.state;
    const uint32_t *id = tiles->pool.id[state->list];
    int32_t followed = 0;
    for (int32_t i = 1; i < state->count; i++) followed += id[i] == id[i - 1] + 1;
    return followed;
}
static void travelling_front(void **unused)
{
    (void)unused;
    enum { CALLS = 48, STEPS = 2 };
    if (strcmp(device_name(), "cpu") != 0) skip(); /* looks into the pool, and only there is the order of use */
    tsr_context *context = test_context();
    const tsr_size3 n = { 88, 68, 68 };
    tsr_tiles *tiles = tiles_of(context, n, 4, 1.5, large_sphere), *twin = tiles_of(context, n, 4, 1.5, large_sphere);
    tsr_levelset_options o =
        OPTIONS(.terms = { { .kind = TSR_LEVELSET_VELOCITY, .value = 1, .vector = { 1, 0, 0 } } }, .term_count = 1, .time_step = 0.25);
    tsr_levelset *l, *still;
    tsr_levelset_report report = TSR_LEVELSET_REPORT;
    require_ok(tsr_levelset_create(tiles, &o, &l));
    require_ok(tsr_levelset_create(twin, &o, &still));
    require_ok(tsr_levelset_step(l, CALLS * STEPS, NULL, &report));
    for (int call = 0; call < CALLS; call++) {
        require_ok(tsr_levelset_step(still, STEPS, NULL, NULL));
        require_ok(tsr_levelset_set(still, &o));
    }
    assert_true(report.tiles >= 1024);
    assert_true(digest_of(tiles) == digest_of(twin));
    assert_true(10 * tiles_in_order(tiles) > 7 * report.tiles);
    assert_true(2 * tiles_in_order(twin) < tiles_in_order(tiles));
    tsr_levelset_destroy(&l);
    tsr_levelset_destroy(&still);
    tsr_tiles_destroy(&tiles);
    tsr_tiles_destroy(&twin);
    tsr_context_destroy(&context);
}

/* A potential whose gradient points to +x everywhere moves like a velocity along +x. */
static tsr_status fill_ramp(void *user, tsr_queue *queue, const tsr_tile_pool *pool, int all)
{
    int *calls = (int *)user;
    const int32_t E = 1 << pool->log2_edge, count = all ? pool->state->count : pool->state->created;
    const uint32_t *ids = all ? pool->id[pool->state->list] : pool->created_ids;
    (void)queue;
    *calls += 1;
    for (int32_t u = 0; u < count; u++)
        for (int32_t i = 0; i < E * E * E; i++)
            pool->payload[(int64_t)ids[u] * E * E * E + i] = 3.0f * (float)(tsr_key_x(tsr_pool_key_of(pool, ids[u])) * E + i % E);
    return TSR_OK;
}

static void potential(void **unused)
{
    (void)unused;
    if (strcmp(device_name(), "cpu") != 0) skip(); /* this provider writes from the host */
    tsr_context *context = test_context();
    const tsr_size3 n = { 40, 24, 24 };
    tsr_tiles *a = tiles_of(context, n, 8, 2.5, small_sphere), *b = tiles_of(context, n, 8, 2.5, small_sphere);
    tsr_levelset_options along = OPTIONS(.terms = { { .kind = TSR_LEVELSET_POTENTIAL, .value = 0.8 } }, .term_count = 1, .time_step = 0.25);
    tsr_levelset_options plain =
        OPTIONS(.terms = { { .kind = TSR_LEVELSET_VELOCITY, .value = 0.8, .vector = { 1, 0, 0 } } }, .term_count = 1, .time_step = 0.25);
    tsr_levelset *with, *without;
    int calls = 0;
    const tsr_payload_provider provider = { fill_ramp, &calls, 1 };
    require_ok(tsr_levelset_create(a, &along, &with));
    require_error(tsr_levelset_step(with, 1, NULL, NULL), TSR_ERROR_STATE, "payload provider");
    require_ok(tsr_levelset_set_payload(with, &provider));
    require_ok(tsr_levelset_create(b, &plain, &without));
    require_ok(tsr_levelset_step(with, 60, NULL, NULL));
    require_ok(tsr_levelset_step(without, 60, NULL, NULL));
    assert_true(calls > 1);
    tsr_volume *first = host_of(context, a, n), *second = host_of(context, b, n);
    const float *p = (const float *)tsr_volume_data_const(first), *q = (const float *)tsr_volume_data_const(second);
    for (int64_t i = 0; i < tsr_volume_count(first); i++) assert_true(fabs((double)p[i] - (double)q[i]) < 1e-4);
    tsr_volume_destroy(&first);
    tsr_volume_destroy(&second);
    tsr_levelset_destroy(&with);
    tsr_levelset_destroy(&without);
    tsr_tiles_destroy(&a);
    tsr_tiles_destroy(&b);
    tsr_context_destroy(&context);
}

/* A term of the caller: a speed that depends on place and time, as a field of the same values gives it; NaN is found. */
static void answer_speed(const void *data, const float x[3], double t, tsr_levelset_answer *answer)
{
    (void)t;
    *answer = (tsr_levelset_answer){ .speed = 0.5f + 0.05f * (x[0] - 12.0f) };
    if (x[0] > *(const float *)data) answer->speed = NAN;
}

static void user_term(void **unused)
{
    (void)unused;
    tsr_context *context = test_context();
    const tsr_size3 n = { 40, 24, 24 };
    tsr_tiles *a = tiles_of(context, n, 8, 2.5, small_sphere), *b = tiles_of(context, n, 8, 2.5, small_sphere);
    float limit = 1e9f;
    tsr_levelset_user own = { .evaluate = answer_speed, .data = &limit };
    tsr_levelset_options with = OPTIONS(.terms = { { .kind = TSR_LEVELSET_USER, .value = 2, .user = &own } }, .term_count = 1, .time_step = 0.1);
    tsr_levelset *l;
    if (strcmp(device_name(), "cpu") != 0) {
        require_error(tsr_levelset_create(a, &with, &l), TSR_ERROR_UNSUPPORTED, "tsr_term_load");
    } else {
        tsr_volume *field;
        require_ok(tsr_volume_create(context, TSR_F32, n, NULL, &field));
        float *v = (float *)tsr_volume_data(field);
        for (int64_t i = 0; i < tsr_volume_count(field); i++) v[i] = 0.5f + 0.05f * ((float)(i % n.x) - 12.0f);
        tsr_levelset_options sampled =
            OPTIONS(.terms = { { .kind = TSR_LEVELSET_SPEED_FIELD, .value = 2, .field = { field } } }, .term_count = 1, .time_step = 0.1);
        require_ok(tsr_levelset_create(a, &with, &l));
        require_ok(tsr_levelset_step(l, 40, NULL, NULL));
        limit = 14;
        require_error(tsr_levelset_step(l, 1, NULL, NULL), TSR_ERROR_ARGUMENT, "step 41: term 0 (USER) is not finite at voxel (15,");
        tsr_levelset_destroy(&l);
        require_ok(tsr_levelset_create(b, &sampled, &l));
        require_ok(tsr_levelset_step(l, 40, NULL, NULL));
        tsr_levelset_destroy(&l);
        tsr_volume *first = host_of(context, a, n), *second = host_of(context, b, n);
        const float *p = (const float *)tsr_volume_data_const(first), *q = (const float *)tsr_volume_data_const(second);
        for (int64_t i = 0; i < tsr_volume_count(first); i++) assert_true(fabs((double)p[i] - (double)q[i]) < 1e-5);
        tsr_volume_destroy(&first);
        tsr_volume_destroy(&second);
        tsr_volume_destroy(&field);
        own.evaluate = NULL;
        require_error(tsr_levelset_create(a, &with, &l), TSR_ERROR_ARGUMENT, "has no function");
    }
    tsr_tiles_destroy(&a);
    tsr_tiles_destroy(&b);
    tsr_context_destroy(&context);
}

static int stop_now(void *user, double fraction, const char *stage)
{
    int *left = (int *)user;
    (void)stage;
    assert_true(fraction >= 0 && fraction <= 1);
    return (*left)-- <= 0;
}

static void bad_input(void **unused)
{
    (void)unused;
    tsr_context *context = test_context();
    const tsr_size3 n = { 26, 25, 23 };
    tsr_tiles *tiles = tiles_of(context, n, 8, 2.5, small_sphere);
    tsr_levelset *l;
    tsr_levelset_options o = OPTIONS(.terms = { { .kind = TSR_LEVELSET_SPEED, .value = 1 } }, .term_count = 1);
    require_error(tsr_levelset_create(NULL, &o, &l), TSR_ERROR_ARGUMENT, "NULL");
    o.term_count = 9;
    require_error(tsr_levelset_create(tiles, &o, &l), TSR_ERROR_ARGUMENT, "term_count is 9");
    o.term_count = 1;
    o.terms[0].value = (double)NAN;
    require_error(tsr_levelset_create(tiles, &o, &l), TSR_ERROR_ARGUMENT, "value of term 0 (SPEED)");
    o.terms[0] = (tsr_levelset_term){ .kind = TSR_LEVELSET_VELOCITY, .value = 1, .vector = { 0, (double)INFINITY, 0 } };
    require_error(tsr_levelset_create(tiles, &o, &l), TSR_ERROR_ARGUMENT, "vector of term 0");
    o.terms[0] = (tsr_levelset_term){ .kind = TSR_LEVELSET_VELOCITY_FIELD, .value = 1 };
    require_error(tsr_levelset_create(tiles, &o, &l), TSR_ERROR_ARGUMENT, "field[0] of term 0");
    tsr_volume *host, *field;
    require_ok(tsr_volume_create(NULL, TSR_F32, n, NULL, &host));
    memset(tsr_volume_data(host), 0, (size_t)tsr_volume_count(host) * 4);
    ((float *)tsr_volume_data(host))[77] = NAN;
    require_ok(tsr_volume_copy(host, context, &field));
    o.terms[0] = (tsr_levelset_term){ .kind = TSR_LEVELSET_SPEED_FIELD, .value = 1, .field = { field } };
    require_error(tsr_levelset_create(tiles, &o, &l), TSR_ERROR_ARGUMENT, "field");
    tsr_volume_destroy(&field);
    tsr_volume_destroy(&host);
    o.terms[0] = (tsr_levelset_term){ .kind = TSR_LEVELSET_SPEED, .value = 1 };
    o.guard = 4;
    require_error(tsr_levelset_create(tiles, &o, &l), TSR_ERROR_ARGUMENT, "guard is 4");
    o.guard = 0;
    o.cfl = 2;
    require_error(tsr_levelset_create(tiles, &o, &l), TSR_ERROR_ARGUMENT, "cfl is 2");
    o.cfl = 0;
    o.reshape = TSR_RESHAPE_REINIT;
    o.sign = TSR_SIGN_PHI;
    o.reshape_step = 0.3;
    require_error(tsr_levelset_create(tiles, &o, &l), TSR_ERROR_ARGUMENT, "reshape_step is 0.3");
    o.reshape_step = 0; /* automatic: under the bound of the sign */
    require_ok(tsr_levelset_create(tiles, &o, &l));
    tsr_levelset_destroy(&l);
    o.reshape = TSR_RESHAPE_TERM;
    o.sign = TSR_SIGN_SMOOTH;
    o.terms[0] = (tsr_levelset_term){ .kind = TSR_LEVELSET_CURVATURE, .value = -1 };
    require_error(tsr_levelset_create(tiles, &o, &l), TSR_ERROR_ARGUMENT, "no stable step");
    o.terms[0] = (tsr_levelset_term){ .kind = TSR_LEVELSET_CURVATURE, .value = 1 };
    o.time_step = 0.2; /* over 1 / 6 */
    require_ok(tsr_levelset_create(tiles, &o, &l));
    require_error(tsr_levelset_step(l, 1, NULL, NULL), TSR_ERROR_ARGUMENT, "stability bound 0.1666");
    o.force = 1;
    require_ok(tsr_levelset_set(l, &o));
    require_ok(tsr_levelset_step(l, 1, NULL, NULL));
    require_error(tsr_levelset_step(l, -1, NULL, NULL), TSR_ERROR_ARGUMENT, "-1 steps");
    require_error(tsr_levelset_advance(l, (double)NAN, NULL, NULL), TSR_ERROR_ARGUMENT, "duration");
    o = (tsr_levelset_options)OPTIONS(.reshape = TSR_RESHAPE_NONE);
    require_ok(tsr_levelset_set(l, &o));
    require_error(tsr_levelset_step(l, 1, NULL, NULL), TSR_ERROR_STATE, "no term moves");
    require_error(tsr_levelset_run(l, NULL, NULL), TSR_ERROR_ARGUMENT, "max_steps");
    /* Cancelled: the surface of the last completed step, and the solver goes on. */
    o = (tsr_levelset_options)OPTIONS(.terms = { { .kind = TSR_LEVELSET_SPEED, .value = -0.05 } }, .term_count = 1, .time_step = 0.1);
    require_ok(tsr_levelset_set(l, &o));
    int left = 2;
    tsr_progress progress = { stop_now, &left };
    tsr_levelset_report report = TSR_LEVELSET_REPORT;
    require_error(tsr_levelset_step(l, 1000, &progress, &report), TSR_ERROR_CANCELLED, "cancelled after 64 steps");
    assert_int_equal(report.steps, 64);
    require_ok(tsr_levelset_step(l, 1, NULL, &report));
    /* The surface vanishes: a legal result. */
    o.terms[0].value = -2;
    require_ok(tsr_levelset_set(l, &o));
    require_ok(tsr_levelset_step(l, 400, NULL, &report));
    assert_true(report.empty && report.tiles == 0 && report.steps < 400);
    require_ok(tsr_levelset_step(l, 5, NULL, &report));
    assert_int_equal(report.steps, 0);
    tsr_levelset_destroy(&l);
    tsr_tiles_destroy(&tiles);
    tsr_context_destroy(&context);
}

/* A surface that goes farther than its band between two management passes (docs/theory/levelset.md 3): by many steps without one, in a forced step, past both sides of
 * the band in one. The run ends with the step, in time: nothing is lost yet of the first. Where the band is wide enough, the run is what it should be. */
static double large_ball(double x, double y, double z) { return distance3(x, y, z, 20, 20, 20) - 10; }
static void out_of_band(void **unused)
{
    (void)unused;
    const tsr_size3 n = { 41, 41, 41 };
    const struct {
        tsr_levelset_options options;
        double duration;
        int lost;
    } cases[] = { { OPTIONS(.space = TSR_STENCIL_WENO5, .time = TSR_TIME_RK3, .managed_every = 1000), 8, 1 },
                  { OPTIONS(.managed_every = 1000), 8, 1 },
                  { OPTIONS(.time_step = 5, .force = 1), 6, 1 },
                  { OPTIONS(.time_step = 5, .force = 1), -6, 1 },
                  { OPTIONS(.time_step = 7, .force = 1), 7, 1 },
                  { OPTIONS(.space = TSR_STENCIL_WENO5, .time = TSR_TIME_RK3, .managed_every = 6), 8, 0 },
                  { OPTIONS(.time_step = 0.25, .force = 1), -15, 0 } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tsr_context *context = test_context();
        tsr_tiles *tiles = tiles_of(context, n, 0, 3, large_ball);
        tsr_levelset_options o = cases[i].options;
        tsr_levelset *l;
        tsr_levelset_report report = TSR_LEVELSET_REPORT;
        tsr_tiles_info info = TSR_TILES_INFO;
        o.terms[0] = (tsr_levelset_term){ .kind = TSR_LEVELSET_SPEED, .value = cases[i].duration < 0 ? -1 : 1 };
        o.term_count = 1;
        require_ok(tsr_levelset_create(tiles, &o, &l));
        tsr_status status = tsr_levelset_advance(l, fabs(cases[i].duration), NULL, &report);
        if (cases[i].lost) require_error(status, TSR_ERROR_STATE, "the surface left its band");
        else require_ok(status);
        require_ok(tsr_tiles_describe(tiles, &info));
        const double R = 10 + (cases[i].duration < 0 ? -1 : 1) * report.time, volume = 4.18879 * pow(fmax(R, 0), 3);
        print_message("case %d: %d steps to time %g, %d voxels inside, expected %.0f\n", (int)i, (int)report.steps, report.time,
                      (int)info.inside_voxels, volume);
        if (cases[i].options.time_step > 1) assert_true(report.steps == 1);
        else if (cases[i].lost) assert_true(report.time > 1.5 && report.time < 2.5);
        if (!(cases[i].options.time_step > 1)) assert_true(fabs((double)info.inside_voxels - volume) <= 0.05 * volume);
        require_ok(tsr_levelset_step(l, 0, NULL, NULL)); /* the solver is as after any run */
        tsr_levelset_destroy(&l);
        tsr_tiles_destroy(&tiles);
        tsr_context_destroy(&context);
    }
}

/* HALF counts half of every curvature, everywhere and under a brush, and of its mean: the same bits as the halved values; the report has what was used. */
static void curvature_forms(void **unused)
{
    (void)unused;
    const tsr_size3 n = { 26, 25, 23 };
    uint64_t hash[3];
    for (int form = 0; form < 3; form++) {
        tsr_context *context = test_context();
        tsr_tiles *tiles = tiles_of(context, n, 8, 2.5, box);
        const double a = form == 1 ? 0.4 : 0.2;
        tsr_levelset_options o = OPTIONS(.terms = { { .kind = TSR_LEVELSET_CURVATURE, .value = a },
                                                    { .kind = TSR_LEVELSET_MEAN_CURVATURE, .value = a },
                                                    { .kind = TSR_LEVELSET_CURVATURE, .value = a, .centre = { 16, 12, 12 }, .sigma = 2 } },
                                         .term_count = 3, .time_step = 0.1, .curvature_form = form == 1 ? TSR_CURVATURE_HALF : TSR_CURVATURE_FULL);
        tsr_levelset *l;
        tsr_levelset_report report = TSR_LEVELSET_REPORT;
        if (form == 2) o.terms[2].value = 0; /* the brush takes part at all */
        require_ok(tsr_levelset_create(tiles, &o, &l));
        require_ok(tsr_levelset_step(l, 4, NULL, &report));
        assert_true(fabs(report.curvature - 0.2) < 1e-12);
        hash[form] = digest_of(tiles);
        o.curvature_form = (tsr_curvature_form)2;
        require_error(tsr_levelset_set(l, &o), TSR_ERROR_ARGUMENT, "curvature_form is 2");
        tsr_levelset_destroy(&l);
        tsr_tiles_destroy(&tiles);
        tsr_context_destroy(&context);
    }
    assert_true(hash[0] == hash[1] && hash[0] != hash[2]);
}

/* A pool with room for very many tiles is managed by other kernels (tiles/tiles_link.h): the same list and field after every step, growing and shrinking. */
static void roomy_list(void **unused)
{
    (void)unused;
    tsr_context *context = test_context();
    const tsr_size3 n = { 24, 24, 24 };
    tsr_tiles *tiles[2] = { tiles_of(context, n, 4, 1.5, small_sphere), tiles_with_room(context, n, 4, 1.5, small_sphere, (1 << 18) + 8) };
    tsr_levelset *solver[2];
    tsr_levelset_options o = OPTIONS(.terms = { { .kind = TSR_LEVELSET_SPEED, .value = 1 } }, .term_count = 1, .time_step = 0.25);
    const int steps = on_emulator() ? 4 : 16, turn = on_emulator() ? 2 : 7; /* its fences around so much memory take seconds */
    int64_t most = 0, least = INT64_MAX;
    for (int i = 0; i < 2; i++) require_ok(tsr_levelset_create(tiles[i], &o, &solver[i]));
    for (int step = 0; step < steps; step++) {
        tsr_levelset_report report[2] = { TSR_LEVELSET_REPORT, TSR_LEVELSET_REPORT };
        if (step == turn) o.terms[0].value = -1;
        for (int i = 0; i < 2; i++) {
            if (step == turn) require_ok(tsr_levelset_set(solver[i], &o));
            require_ok(tsr_levelset_step(solver[i], 1, NULL, &report[i]));
        }
        assert_true(report[0].tiles == report[1].tiles && report[0].active_voxels == report[1].active_voxels);
        assert_true(digest_of(tiles[0]) == digest_of(tiles[1]));
        most = report[0].tiles > most ? report[0].tiles : most;
        least = report[0].tiles < least ? report[0].tiles : least;
    }
    assert_true(on_emulator() || most > least);
    for (int i = 0; i < 2; i++) {
        tsr_levelset_destroy(&solver[i]);
        tsr_tiles_destroy(&tiles[i]);
    }
    tsr_context_destroy(&context);
}

/* Lists of other resolutions and distances anew have the same tiles and bits on every backend, and the lists are sound. */
static void derived(const char *device, int32_t edge, uint64_t hash[3])
{
    tsr_context *context = test_context_on(device, 2);
    tsr_tiles *tiles = tiles_of(context, (tsr_size3){ 26, 24, 22 }, edge, 2.5, cut_by_border), *fine, *coarse;
    require_ok(tsr_tiles_upsample(tiles, &fine));
    require_ok(tsr_tiles_downsample(tiles, &coarse));
    require_ok(tsr_levelset_redistance(tiles, 0, NULL));
    hash[0] = digest_of(tiles);
    hash[1] = digest_of(fine);
    hash[2] = digest_of(coarse);
    tsr_tiles_destroy(&coarse);
    tsr_tiles_destroy(&fine);
    tsr_tiles_destroy(&tiles);
    tsr_context_destroy(&context);
}

static void derived_lists(void **unused)
{
    (void)unused;
    for (int32_t edge = 4; edge <= 8; edge += 4) {
        uint64_t cpu[3], device[3];
        derived("cpu", edge, cpu);
        derived(device_name(), edge, device);
        for (int i = 0; i < 3; i++) assert_true(cpu[i] == device[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(first_order_cases), cmocka_unit_test(wide_cases),  cmocka_unit_test(fused_cases),
                                        cmocka_unit_test(derived_lists),     cmocka_unit_test(convergence), cmocka_unit_test(moving_box),
                                        cmocka_unit_test(potential),         cmocka_unit_test(user_term),   cmocka_unit_test(bad_input),
                                        cmocka_unit_test(curvature_forms),   cmocka_unit_test(roomy_list),  cmocka_unit_test(travelling_front),
                                        cmocka_unit_test(out_of_band) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
