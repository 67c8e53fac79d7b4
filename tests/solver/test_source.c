/* The library's level sets against the method of [Laan11 6] (source/stl.h), a program of its own: lists and their traversals, the same
 * keys, flags and values after every step with tiles of 4^3 and 8^3, the same values of all voxels with 3^3 and on a dense grid, and its formulas beside the
 * library's (6.2). Where bits are compared both sides use the library's formulas; everything around them is each side's own. */
#include "tiles/tiles_check.h"
#include "solver/engine_object.h"
#include "engine_support.h"
#include "source/keys.h"
#include "source/scheme.h"
#include "source/stl.h"

/* ---- lists ----------------------------------------------------------------------------------------------------------------------------------------- */

static int key_order(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}
static int32_t sorted(uint64_t *keys, int32_t count)
{
    int32_t kept = 0;
    qsort(keys, (size_t)count, sizeof *keys, key_order);
    for (int32_t i = 0; i < count; i++)
        if (i == 0 || keys[i] != keys[kept - 1]) keys[kept++] = keys[i];
    return kept;
}

/* Clusters, lone tiles, and tiles at the ends of the coordinates; the end mark behind. */
static int32_t random_list(uint64_t *random, int32_t wanted, uint64_t *keys)
{
    const int32_t ends[3] = { -SOURCE_BIAS + 1, -3, SOURCE_BIAS - 2 - 8 };
    for (int32_t i = 0; i < wanted; i++) {
        const int32_t first = ends[test_random(random) % 3];
        keys[i] = source_key(first + (int32_t)(test_random(random) % 9), first + (int32_t)(test_random(random) % 9),
                             first + (int32_t)(test_random(random) % 9));
    }
    const int32_t count = sorted(keys, wanted);
    keys[count] = SOURCE_END;
    return count;
}

enum { MOST = 120 };

/* Any number of units, more than there are entries included, gives the dilated list in order, each element once, and who reaches it. */
static void dilation(void **unused)
{
    (void)unused;
    uint64_t random = 20261123, keys[MOST + 1], expected[27 * MOST];
    for (int round = 0; round < 400; round++) {
        const int32_t count = random_list(&random, (int32_t)(test_random(&random) % MOST), keys);
        int32_t all = 0, units = 1 + (int32_t)(test_random(&random) % (uint64_t)(round % 2 ? 7 : count + 3));
        for (int32_t i = 0; i < count; i++)
            for (int d = 0; d < 27; d++) expected[all++] = keys[i] + source_offset(d);
        all = sorted(expected, all);
        int32_t at = 0;
        for (int32_t u = 0; u < units; u++) {
            source_dilation d = source_dilation_of(keys, count, u, units);
            while (source_dilation_next(&d)) {
                if (at >= all || d.current != expected[at]) fail_msg("seed 20261123, round %d, unit %d of %d: element %d", round, u, units, at);
                for (int i = 0; i < 27; i++) {
                    const uint64_t other = d.current + source_offset(i);
                    const int there = bsearch(&other, keys, (size_t)count, sizeof *keys, key_order) != NULL;
                    assert_int_equal(d.match >> i & 1u, there);
                    if (there) assert_true(keys[d.p[i]] == other);
                }
                at++;
            }
        }
        assert_int_equal(at, all);
    }
}

/* The traversal with a stencil, begun anywhere, finds what 27 searches find. */
static void traversal(void **unused)
{
    (void)unused;
    uint64_t random = 20261124, keys[MOST + 1];
    for (int round = 0; round < 400; round++) {
        const int32_t count = random_list(&random, 1 + (int32_t)(test_random(&random) % (MOST - 1)), keys),
                      first = (int32_t)(test_random(&random) % (uint64_t)count);
        source_stencil s = source_stencil_at(keys, count, first);
        for (int32_t o = first; o < count; o++) {
            const uint32_t match = source_stencil_visit(&s, o);
            for (int i = 0; i < 27; i++) {
                const uint64_t other = keys[o] + source_offset(i);
                const uint64_t *found = (const uint64_t *)bsearch(&other, keys, (size_t)count, sizeof *keys, key_order);
                assert_int_equal(match >> i & 1u, found != NULL);
                if (found) assert_true(found == keys + s.p[i]);
            }
        }
    }
}

/* ---- the same bits --------------------------------------------------------------------------------------------------------------------------------------- */

static const int32_t box[3] = { 28, 27, 26 };

static double ball(double x, double y, double z) { return distance3(x, y, z, 13.3, 12.8, 13.1) - 6.4; }
static double pebble(double x, double y, double z) { return distance3(x, y, z, 13.3, 12.8, 13.1) - 3.1; }
/* So steep that the field jumps over the whole band between two voxels. */
static double steep(double x, double y, double z) { return 9 * ball(x, y, z); }
/* Every voxel has another value, so that one halo cell that is read wrongly shows. */
static double uneven(double x, double y, double z)
{
    const uint32_t mixed = ((uint32_t)x * 7919u + (uint32_t)y * 104729u + (uint32_t)z * 1299709u) * 2654435761u;
    return 0.3 * ball(x, y, z) + 0.6 * (double)(mixed >> 8) / 16777216.0;
}
static double two_balls(double x, double y, double z)
{
    return fmin(distance3(x, y, z, 9.2, 13, 12.6) - 4.1, distance3(x, y, z, 18.4, 13.3, 13) - 3.8);
}
static double brick(double x, double y, double z)
{
    const double dx = fabs(x - 13.2) - 5.3, dy = fabs(y - 13.1) - 4.2, dz = fabs(z - 12.9) - 3.4;
    const double ox = fmax(dx, 0), oy = fmax(dy, 0), oz = fmax(dz, 0);
    return sqrt(ox * ox + oy * oy + oz * oz) + fmin(fmax(dx, fmax(dy, dz)), 0);
}

/* A voxel by the library's formulas, as test_engine's dense grid has it. */
struct rule {
    const tsr_engine_setup *setup;
    float step;
};
static float by_rule(void *user, const float *p, int sy, int sz, const int32_t at[3], float start, int stage)
{
    const struct rule *r = (const struct rule *)user;
    const tsr_engine_setup *s = r->setup;
    const tsr_engine_given none = { 0 };
    float change = 0;
    if (!tsr_voxel_still(p, sy, sz, s->scheme.band)) {
        tsr_engine_moment moment;
        tsr_engine_moment_at(&s->flow, 0, 0, &moment); /* no term depends on time */
        const tsr_engine_values v = tsr_engine_at(&s->flow, &moment, at[0], at[1], at[2], &none);
        change = r->step * tsr_scheme_rate(p, sy, sz, &v, &s->scheme, 0);
    }
    return tsr_stage_value(start, p[0], change, s->blend[stage], s->scheme.band);
}

struct dense {
    float *phi[3];
    int64_t count;
};
static float dense_value(const float *phi, int32_t x, int32_t y, int32_t z, float band)
{
    if (x < 0 || y < 0 || z < 0 || x >= box[0] || y >= box[1] || z >= box[2]) return band;
    return phi[((int64_t)z * box[1] + y) * box[0] + x];
}
/* A step of every voxel of the box, outside beyond it. */
static void dense_step(struct dense *d, struct rule *r)
{
    const int stages = r->setup->stages;
    const float band = r->setup->scheme.band;
    int from = 0, need[343], needed = 0; /* three voxels along the axes, one along diagonals */
    for (int c = 0; c < 343; c++) {
        const int dx = abs(c % 7 - 3), dy = abs(c / 7 % 7 - 3), dz = abs(c / 49 - 3);
        if ((dx <= 1 && dy <= 1 && dz <= 1) || (dx != 0) + (dy != 0) + (dz != 0) == 1) need[needed++] = c;
    }
    for (int stage = 0; stage < stages; stage++) {
        const int to = from == 1 ? 2 : 1;
        float cube[343] = { 0 };
        for (int64_t i = 0; i < d->count; i++) {
            const int32_t at[3] = { (int32_t)(i % box[0]), (int32_t)(i / box[0] % box[1]), (int32_t)(i / box[0] / box[1]) };
            for (int j = 0; j < needed; j++)
                cube[need[j]] = dense_value(d->phi[from], at[0] + need[j] % 7 - 3, at[1] + need[j] / 7 % 7 - 3, at[2] + need[j] / 49 - 3, band);
            d->phi[to][i] = by_rule(r, cube + 171, 7, 49, at, d->phi[0][i], stage);
        }
        from = to;
    }
    float *phi = d->phi[0];
    d->phi[0] = d->phi[from];
    d->phi[from] = phi;
}

/* The library's list, entry by entry: keys, border flags towards what is not stored, areas and classes, values. */
static void compare_lists(const char *name, int step, const tsr_tiles *tiles, const source_stl *s)
{
    tiles_picture p = picture_of(tiles);
    if (p.state.count != s->count)
        fail_msg("%s, step %d, edge %d: %d tiles, the method of [Laan11] has %d", name, step, s->edge, p.state.count, s->count);
    for (int32_t o = 0; o < s->count; o++) {
        const uint32_t id = p.ids[o], block = s->index[0][o], *row = p.pool.neighbours + (int64_t)id * TSR_NEIGHBOUR_ROW;
        const uint64_t key = s->key[0][o];
        const int32_t at[3] = { source_coordinate(key, 0), source_coordinate(key, 1), source_coordinate(key, 2) };
        if (tsr_key_x(p.keys[o]) != at[0] || tsr_key_y(p.keys[o]) != at[1] || tsr_key_z(p.keys[o]) != at[2])
            fail_msg("%s, step %d, edge %d: entry %d", name, step, s->edge, o);
        for (int i = 0; i < 27; i++)
            if (row[i] < TSR_TILE_FIRST && (row[i] == TSR_TILE_OUTSIDE) != (s->border[0][block] >> i & 1u))
                fail_msg("%s, step %d, edge %d: sign of (%d, %d, %d) in direction %d", name, step, s->edge, at[0], at[1], at[2], i);
        if ((p.pool.activity[id] & (TSR_ACTIVITY_AREAS | TSR_ACTIVITY_OUTSIDE)) != s->act[0][block])
            fail_msg("%s, step %d, edge %d: areas of (%d, %d, %d): %x, the method of [Laan11] has %x", name, step, s->edge, at[0], at[1], at[2],
                     p.pool.activity[id], s->act[0][block]);
        if (memcmp(p.phi + (int64_t)id * s->voxels, s->phi[0] + (int64_t)block * s->voxels, (size_t)s->voxels * sizeof(float)))
            fail_msg("%s, step %d, edge %d: values of (%d, %d, %d)", name, step, s->edge, at[0], at[1], at[2]);
    }
    picture_drop(&p);
}

struct setting {
    const char *name;
    shape_function shape;
    double band;
    int steps;
    tsr_levelset_options options;
};

static void same_bits(const struct setting *t)
{
    static const int32_t edges[3] = { 4, 8, 3 }; /* the last is none of the library's */
    const tsr_size3 n = { box[0], box[1], box[2] };
    struct dense d = { .count = n.x * n.y * n.z };
    tsr_context *context = test_context_on(device_name(), 2);
    tsr_tiles *tiles[2];
    tsr_levelset *solver[2];
    source_stl *source[3];
    for (int i = 0; i < 3; i++) d.phi[i] = (float *)malloc((size_t)d.count * sizeof(float));
    for (int64_t i = 0; i < d.count; i++) {
        const double v = t->shape((double)(i % n.x), (double)(i / n.x % n.y), (double)(i / n.x / n.y));
        d.phi[0][i] = tsr_clampf((float)v, -(float)t->band, (float)t->band);
    }
    for (int i = 0; i < 2; i++) {
        tsr_tiles_options options = TSR_TILES_OPTIONS;
        tsr_volume *host, *field;
        options.edge = edges[i];
        options.band = t->band;
        require_ok(tsr_volume_create(NULL, TSR_F32, n, NULL, &host));
        memcpy(tsr_volume_data(host), d.phi[0], (size_t)d.count * sizeof(float));
        require_ok(tsr_volume_copy(host, context, &field));
        require_ok(tsr_tiles_create(context, NULL, &options, &tiles[i]));
        require_ok(tsr_tiles_load(tiles[i], field));
        require_ok(tsr_levelset_create(tiles[i], &t->options, &solver[i]));
        tsr_volume_destroy(&field);
        tsr_volume_destroy(&host);
    }
    struct rule rule = { &solver[0]->setup, solver[0]->setup.fixed_step };
    const source_motion motion = { .stages = solver[0]->setup.stages, .update = by_rule, .user = &rule };
    for (int i = 0; i < 3; i++) {
        source[i] = source_create(edges[i], (float)t->band, solver[0]->setup.guard, motion.stages, d.phi[0], box);
        assert_non_null(source[i]);
    }
    int64_t made = 0, gone = 0;
    for (int step = 1; step <= t->steps; step++) {
        tsr_levelset_report report = TSR_LEVELSET_REPORT;
        dense_step(&d, &rule);
        for (int i = 0; i < 3; i++) {
            if (!source_step(source[i], &motion, 1 + (step + i) % 5)) fail_msg("%s, step %d: %s", t->name, step, source[i]->error);
            if (source_broken(source[i])) fail_msg("%s, step %d, edge %d: %s", t->name, step, edges[i], source_broken(source[i]));
            made += source[i]->created;
            gone += source[i]->removed;
            for (int64_t v = 0; v < d.count; v++) {
                const int32_t at[3] = { (int32_t)(v % box[0]), (int32_t)(v / box[0] % box[1]), (int32_t)(v / box[0] / box[1]) };
                const float sparse = source_value(source[i], at[0], at[1], at[2]);
                if (memcmp(&sparse, &d.phi[0][v], sizeof sparse))
                    fail_msg("%s, step %d, edge %d, voxel (%d, %d, %d): %.9g, dense %.9g", t->name, step, edges[i], at[0], at[1], at[2],
                             (double)sparse, (double)d.phi[0][v]);
            }
            if (i == 2) continue;
            const tsr_status stepped = tsr_levelset_step(solver[i], 1, NULL, &report);
            if (t->options.force) require_error(stepped, TSR_ERROR_STATE, "left its band"); /* told, and done */
            else require_ok(stepped);
            compare_lists(t->name, step, tiles[i], source[i]);
        }
    }
    assert_true(made > 0 || gone > 0); /* management had something to do */
    if (t->shape == brick) assert_true(source[0]->count == 0 || t->steps < 30);
    for (int i = 0; i < 3; i++) {
        source_destroy(&source[i]);
        free(d.phi[i]);
    }
    for (int i = 0; i < 2; i++) {
        tsr_levelset_destroy(&solver[i]);
        tsr_tiles_destroy(&tiles[i]);
    }
    tsr_context_destroy(&context);
}

#define TERMS(...) .terms = { __VA_ARGS__ }, .term_count = (int32_t)(sizeof((tsr_levelset_term[]){ __VA_ARGS__ }) / sizeof(tsr_levelset_term))

static const tsr_levelset_term shrink = { .kind = TSR_LEVELSET_SPEED, .value = -1 }, ebb = { .kind = TSR_LEVELSET_SPEED, .value = -0.3 },
                           grow = { .kind = TSR_LEVELSET_SPEED, .value = 0.9 }, bend = { .kind = TSR_LEVELSET_CURVATURE, .value = 0.5 },
                           slide = { .kind = TSR_LEVELSET_VELOCITY, .value = 1.1, .vector = { 0.6, -0.7, 0.4 } };

static void lists_and_bits(void **unused)
{
    (void)unused;
    const int few = on_emulator() || test_watches_threads() ? 4 : test_is_slow() ? 10 : 24;
    const struct setting settings[] = {
        { "mean curvature of a ball", ball, 1.5, few, OPTIONS(TERMS(bend), .time_step = 0.3) },
        { "a field that jumps over the band", steep, 1.5, 5, OPTIONS(TERMS(grow), .time_step = 0.25) },
        { "every voxel another value", uneven, 1.5, 2, OPTIONS(TERMS(grow, bend), .time_step = 0.1) },
        { "every voxel another value, WENO5", uneven, 1.5, 2, OPTIONS(TERMS(grow, bend), .space = TSR_STENCIL_WENO5, .time_step = 0.1) },
        { "steps three times the bound, forced: the band goes a voxel a step all the same", ball, 1.5, 4,
          OPTIONS(TERMS(grow), .time_step = 2, .force = 1) },
        { "jumps over the band, WENO5 and RK3", steep, 1.5, 3,
          OPTIONS(TERMS(grow), .space = TSR_STENCIL_WENO5, .time = TSR_TIME_RK3, .time_step = 0.25) },
        { "two balls merging", two_balls, 2.5, few / 3 + 2, OPTIONS(TERMS(grow), .time_step = 0.3) },
        { "a brick shrinking to nothing", brick, 1.5, few, OPTIONS(TERMS(shrink), .sign = TSR_SIGN_SGN, .time_step = 0.25) },
        { "WENO5 and RK3 with reshape", two_balls, 3, few / 6 + 1,
          OPTIONS(TERMS(slide, bend), .space = TSR_STENCIL_WENO5, .time = TSR_TIME_RK3, .time_step = 0.15) },
        { "WENO5 and RK3 without, to the rim of the box", pebble, 3, 2,
          OPTIONS(TERMS(grow), .space = TSR_STENCIL_WENO5, .time = TSR_TIME_RK3, .reshape = TSR_RESHAPE_NONE, .time_step = 0.3) },
    };
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) same_bits(&settings[i]);
}

/* ---- its own formulas ------------------------------------------------------------------------------------------------------------------------------------ */

/* The right-hand side of both at voxels of a random smooth field: they differ by roundings alone. */
static void formulas(void **unused)
{
    (void)unused;
    uint64_t random = 20261125;
    for (int round = 0; round < 3000; round++) {
        float cube[343], wave[3], phase[3], slope;
        for (int k = 0; k < 3; k++) {
            wave[k] = 0.2f + 0.6f * (float)(test_random(&random) % 1000) / 1000;
            phase[k] = 6.28f * (float)(test_random(&random) % 1000) / 1000;
        }
        for (int c = 0; c < 343; c++)
            cube[c] = sinf(wave[0] * (float)(c % 7) + phase[0]) + sinf(wave[1] * (float)(c / 7 % 7) + phase[1]) +
                      sinf(wave[2] * (float)(c / 49) + phase[2]);
        const float *p = cube + 171;
        const int weno = round % 2;
        const source_pair x = weno ? source_fifth_order(p, 1) : source_first_order(p, 1),
                          y = weno ? source_fifth_order(p, 7) : source_first_order(p, 7),
                          z = weno ? source_fifth_order(p, 49) : source_first_order(p, 49);
        tsr_engine_scheme k = { .inverse_spacing = { 1, 1, 1 },
                              .spacing = 1,
                              .band = 5,
                              .curvature_limit = 2,
                              .reshape = 1,
                              .space = weno ? TSR_DIFFERENCE_WENO5 : TSR_DIFFERENCE_UPWIND,
                              .has_speed = 1,
                              .has_curvature = 1 };
        k.reshape_space = k.space;
        const tsr_engine_values v = { .speed = round % 4 < 2 ? 0.7f : -0.7f, .curvature = 0.4f };
        const float toward = p[0] > 0 ? source_outwards(x, y, z, weno) : source_inwards(x, y, z, weno);
        const float expected = -v.speed * (v.speed > 0 ? source_outwards(x, y, z, weno) : source_inwards(x, y, z, weno)) +
                               v.curvature * source_bent(p, 7, 49, &slope) + p[0] / sqrtf(p[0] * p[0] + 1) * (1 - toward);
        const float got = tsr_scheme_rate(p, 7, 49, &v, &k, 0);
        if (!(fabsf(got - expected) < 2e-5f))
            fail_msg("seed 20261125, round %d: %.9g, the text of [Laan11] gives %.9g", round, (double)got, (double)expected);
    }
}

/* Whole runs by its own formulas, the mean curvature of the surface included: the library's field stays next to it. */
static void own_runs(void **unused)
{
    (void)unused;
    const int steps = on_emulator() || test_watches_threads() ? 3 : test_is_slow() ? 8 : 24;
    const struct {
        const char *name;
        double band, tolerance;
        tsr_levelset_options options;
        source_motion motion;
    } runs[] = {
        { "first order, half of the curvature",
          1.5,
          2e-5,
          OPTIONS(.terms = { { .kind = TSR_LEVELSET_CURVATURE, .value = 1 }, ebb }, .term_count = 2, .curvature_form = TSR_CURVATURE_HALF,
                  .time_step = 0.2),
          { .curvature = 1, .half = 1, .speed = -0.3f, .reshape = 1, .stages = 1, .step = 0.2f } },
        { "volume kept, WENO5 and RK3",
          3,
          1e-4,
          OPTIONS(.terms = { bend, { .kind = TSR_LEVELSET_MEAN_CURVATURE, .value = 0.5 } }, .term_count = 2, .space = TSR_STENCIL_WENO5,
                  .time = TSR_TIME_RK3, .feedback = 0.1, .time_step = 0.2),
          { .curvature = 0.5f, .mean = 0.5f, .feedback = 0.1f, .reshape = 1, .weno = 1, .stages = 3, .step = 0.2f } },
        { "sgn of the printed discretisation",
          2,
          2e-5,
          OPTIONS(.terms = { bend }, .term_count = 1, .sign = TSR_SIGN_SGN, .time_step = 0.2),
          { .curvature = 0.5f, .reshape = 1, .sgn = 1, .stages = 1, .step = 0.2f } },
    };
    for (size_t r = 0; r < sizeof runs / sizeof *runs; r++) {
        tsr_context *context = test_context_on(device_name(), 2);
        const tsr_size3 n = { box[0], box[1], box[2] };
        tsr_tiles_options options = TSR_TILES_OPTIONS;
        tsr_volume *host, *field;
        tsr_tiles *tiles;
        tsr_levelset *solver;
        tsr_levelset_report report = TSR_LEVELSET_REPORT;
        float *there;
        options.edge = 4;
        options.band = runs[r].band;
        require_ok(tsr_volume_create(NULL, TSR_F32, n, NULL, &host));
        there = (float *)tsr_volume_data(host);
        for (int64_t i = 0; i < n.x * n.y * n.z; i++) there[i] = (float)brick((double)(i % n.x), (double)(i / n.x % n.y), (double)(i / n.x / n.y));
        source_stl *s = source_create(r == 1 ? 4 : 3, (float)runs[r].band, 1, runs[r].motion.stages, there, box);
        require_ok(tsr_volume_copy(host, context, &field));
        require_ok(tsr_tiles_create(context, NULL, &options, &tiles));
        require_ok(tsr_tiles_load(tiles, field));
        require_ok(tsr_levelset_create(tiles, &runs[r].options, &solver));
        require_ok(tsr_levelset_step(solver, steps, NULL, &report));
        for (int i = 0; i < steps; i++) assert_true(source_step(s, &runs[r].motion, 2));
        assert_null(source_broken(s));
        if (runs[r].motion.mean != 0) assert_true(fabs(report.mean_curvature - s->mean) < 1e-4 && s->mean > 0.1);
        const int64_t first[3] = { 0, 0, 0 };
        require_ok(tsr_tiles_store_box(tiles, first, field));
        tsr_volume_destroy(&host);
        require_ok(tsr_volume_copy(field, NULL, &host));
        there = (float *)tsr_volume_data(host);
        double worst = 0;
        for (int64_t i = 0; i < n.x * n.y * n.z; i++)
            worst =
                fmax(worst, fabs((double)there[i] - (double)source_value(s, (int32_t)(i % n.x), (int32_t)(i / n.x % n.y), (int32_t)(i / n.x / n.y))));
        if (!(worst <= runs[r].tolerance)) fail_msg("%s: fields differ by %g", runs[r].name, worst);
        assert_true(source_active(s) > 100);
        source_destroy(&s);
        tsr_volume_destroy(&field);
        tsr_volume_destroy(&host);
        tsr_levelset_destroy(&solver);
        tsr_tiles_destroy(&tiles);
        tsr_context_destroy(&context);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(dilation), cmocka_unit_test(traversal), cmocka_unit_test(lists_and_bits),
                                        cmocka_unit_test(formulas), cmocka_unit_test(own_runs) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
