/* Every mixture of terms that are the same everywhere, on the CPU: edge 8 has loops of its own for some of them (engine_uniform_isa.c), edge 4 others (engine_isa.c), and
 * test_engine holds the latter against a dense reference. The lists are of different tiles; what they say of every voxel is the same, bit for bit. */
#include "device/isa.h"
#include "engine_support.h"
#include "tessera/csg.h"
#include "tessera/levelset.h"

static double wave(double x, double y, double z)
{
    return (distance3(x, y, z, 11.3, 12.1, 11.7) - 5 - 2 * sin(0.7 * x) * cos(0.9 * y) * sin(0.8 * z)) * 0.9;
}

/* Voxels of unit width, which have loops of their own at first order, in a band that fills their rows; and others, in a band that half fills them. */
struct world {
    tsr_vec3 spacing;
    double band;
};
static const struct world even = { { 1, 1, 1 }, 2.5 }, uneven = { { 1.25, 0.8, 1 }, 1.2 }, thin = { { 1, 1, 1 }, 1.2 };

static tsr_tiles *unbounded(tsr_context *context, int32_t edge, const struct world *world)
{
    const tsr_size3 n = { 24, 24, 24 };
    const tsr_geometry geometry = tsr_geometry_make(world->spacing, (tsr_vec3){ 0, 0, 0 }, TSR_SPACE_NONE);
    tsr_tiles_options options = TSR_TILES_OPTIONS;
    tsr_volume *field;
    tsr_tiles *tiles;
    options.edge = edge;
    options.band = world->band;
    require_ok(tsr_volume_create(context, TSR_F32, n, &geometry, &field));
    float *v = (float *)tsr_volume_data(field);
    for (int64_t i = 0; i < n.x * n.y * n.z; i++) /* 0 and -0, which are not inside, stand out: there the limit of curvature binds */
        v[i] = i % 101 == 0 ? -0.0f : i % 103 == 0 ? 0.0f : (float)wave((double)(i % n.x), (double)(i / n.x % n.y), (double)(i / n.x / n.y));
    require_ok(tsr_tiles_create(context, &geometry, &options, &tiles));
    require_ok(tsr_tiles_load(tiles, field));
    tsr_volume_destroy(&field);
    return tiles;
}

static uint64_t digest_field(tsr_context *context, const tsr_tiles *tiles)
{
    const tsr_size3 n = { 24, 24, 24 };
    tsr_volume *host = host_of(context, tiles, n);
    const uint64_t hash = digest(14695981039346656037ull, tsr_volume_data_const(host), (size_t)(n.x * n.y * n.z) * sizeof(float));
    tsr_volume_destroy(&host);
    return hash;
}

/* The field and the counts after some steps. */
static uint64_t after_steps(int32_t edge, int isa, int threads, const struct world *world, const tsr_levelset_options *o)
{
    tsr_context_options wanted = TSR_CONTEXT_OPTIONS;
    tsr_context *context;
    tsr_levelset *levelset;
    tsr_levelset_report report = TSR_LEVELSET_REPORT;
    tsr_tiles_info info = TSR_TILES_INFO;
    wanted.device = "cpu";
    wanted.threads = threads;
    tsr_isa_force(isa);
    require_ok(tsr_context_create(&wanted, &context));
    tsr_tiles *tiles = unbounded(context, edge, world);
    require_ok(tsr_levelset_create(tiles, o, &levelset));
    require_ok(tsr_levelset_step(levelset, 3, NULL, &report));
    require_ok(tsr_tiles_describe(tiles, &info));
    uint64_t hash = digest_field(context, tiles);
    hash = digest(hash, &report.active_voxels, sizeof report.active_voxels);
    hash = digest(hash, &report.largest_change, sizeof report.largest_change);
    hash = digest(hash, &info.inside_voxels, sizeof info.inside_voxels);
    tsr_levelset_destroy(&levelset);
    tsr_tiles_destroy(&tiles);
    tsr_context_destroy(&context);
    tsr_isa_force(-1);
    return hash;
}

static void mixtures(void **unused)
{
    static const tsr_levelset_term speed = { .kind = TSR_LEVELSET_SPEED, .value = 0.8 }, inwards = { .kind = TSR_LEVELSET_SPEED, .value = -0.6 },
                               bend = { .kind = TSR_LEVELSET_CURVATURE, .value = 0.3 }, mean = { .kind = TSR_LEVELSET_MEAN_CURVATURE, .value = 0.3 };
    const tsr_levelset_term terms[5][2] = { { speed }, { inwards }, { bend }, { inwards, bend }, { mean, bend } };
    uint64_t seen[5 * 4 * 8];
    int count = 0, same = 0;
    (void)unused;
    tsr_isa_force(TSR_ISA_AVX512);
    const int best = (int)tsr_isa_current();
    for (int what = 0; what < 5; what++)
        for (int space = 0; space < 4; space++)
            for (int kind = 0; kind < 8; kind++) { /* none; the term with five signs; sweeps with two */
                if (test_watches_threads() && (what + space + kind) % 4) continue;
                tsr_levelset_options o = OPTIONS(.terms = { terms[what][0], terms[what][1] }, .term_count = what >= 3 ? 2 : 1);
                o.space = (tsr_stencil)space;
                o.time = space < 2 ? TSR_TIME_EULER : TSR_TIME_RK3;
                o.reshape = kind == 0 ? TSR_RESHAPE_NONE : kind < 6 ? TSR_RESHAPE_TERM : TSR_RESHAPE_REINIT;
                o.sign = kind == 0 ? TSR_SIGN_SMOOTH : kind < 6 ? (tsr_sign)(kind - 1) : kind == 6 ? TSR_SIGN_SMOOTH : TSR_SIGN_SUBCELL;
                o.reshape_sweeps = 2;
                o.guard = 3; /* sweeps come after the stages, which move the edge of the band by a voxel each */
                const uint64_t expected = after_steps(4, TSR_ISA_BASE, 1, &even, &o);
                for (int isa = 0; isa <= best; isa++) {
                    if (after_steps(8, isa, 1 + isa % 2, &even, &o) == expected) continue;
                    fail_msg("terms %d, space %d, reshape %d: edge 8 with variant %d differs from edge 4", what, space, kind, isa);
                }
                for (int other = 0; other < 2 && space < 2 && (kind < 2 || kind == 4 || kind == 7); other++) {
                    const struct world *world = other ? &thin : &uneven;
                    const uint64_t there = after_steps(4, TSR_ISA_BASE, 1, world, &o);
                    if (after_steps(8, best, 1, world, &o) == there && there != expected) continue;
                    fail_msg("terms %d, space %d, reshape %d, band %g, spacing %g: edge 8 differs from edge 4", what, space, kind, world->band,
                             world->spacing.x);
                }
                seen[count++] = expected;
            }
    for (int i = 0; i < count; i++) /* the settings are told apart by what they do; curvature alone has no use for the differences: two pairs */
        for (int j = 0; j < i; j++) same += seen[i] == seen[j];
    if (!test_watches_threads()) assert_int_equal(same, 2);
}

/* A box that grows by HJ-WENO5 and RK3 with one sweep after each step, seen as a field of 64^3. */
static tsr_volume *grown_box(tsr_context *context, int32_t guard)
{
    const tsr_size3 n = { 64, 64, 64 };
    const tsr_shape box = { .kind = TSR_SHAPE_BOX, .centre = { 31.5, 31.5, 31.5 }, .half = { 12, 12, 12 } };
    tsr_levelset_options o = OPTIONS(.terms = { { .kind = TSR_LEVELSET_SPEED, .value = 1 } }, .term_count = 1);
    tsr_tiles_options list = TSR_TILES_OPTIONS;
    tsr_levelset *levelset;
    tsr_tiles *tiles;
    list.band = 3;
    o.space = TSR_STENCIL_WENO5;
    o.time = TSR_TIME_RK3;
    o.reshape = TSR_RESHAPE_REINIT;
    o.sign = TSR_SIGN_SUBCELL;
    o.guard = guard;
    require_ok(tsr_tiles_shape(context, NULL, &list, &box, &tiles));
    require_ok(tsr_levelset_create(tiles, &o, &levelset));
    require_ok(tsr_levelset_advance(levelset, 8, NULL, NULL));
    tsr_volume *host = host_of(context, tiles, n);
    tsr_levelset_destroy(&levelset);
    tsr_tiles_destroy(&tiles);
    return host;
}

/* What the narrow guard that sweeps have by default costs: the field beside the surface is that of a dense run to less than a thousandth of a voxel. */
static void guards_of_sweeps(void **unused)
{
    const int64_t n = 64 * 64 * 64;
    tsr_context *context;
    double worst = 0;
    int64_t differ = 0, unlike = 0;
    (void)unused;
    require_ok(tsr_context_create(NULL, &context));
    tsr_volume *narrow = grown_box(context, 0), *one = grown_box(context, 1), *wide = grown_box(context, 3);
    const float *a = (const float *)tsr_volume_data_const(narrow), *b = (const float *)tsr_volume_data_const(one),
                *c = (const float *)tsr_volume_data_const(wide);
    for (int64_t i = 0; i < n; i++) {
        unlike += a[i] != b[i];
        differ += a[i] != c[i];
        if (fabsf(c[i]) < 1) worst = fmax(worst, fabs((double)a[i] - (double)c[i]));
    }
    assert_int_equal(unlike, 0); /* 1 is the default */
    assert_true(differ > 0);     /* the guard is what is measured */
    assert_true(worst < 1e-3);
    tsr_volume_destroy(&narrow);
    tsr_volume_destroy(&one);
    tsr_volume_destroy(&wide);
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(mixtures), cmocka_unit_test(guards_of_sweeps) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
