/* The sorted tile list: dense input and output, painting, growth, copies, bad input. */
#include <math.h>

#include "tessera/csg.h"
#include "tiles/tiles_build.h"
#include "tiles_check.h"

static const tsr_size3 odd = { 37, 22, 19 };

static tsr_tiles *make_tiles(tsr_context *context, int32_t edge, tsr_tiles_index index, tsr_size3 domain, const tsr_geometry *geometry)
{
    tsr_tiles_options options = TSR_TILES_OPTIONS;
    tsr_tiles *tiles;
    options.edge = edge;
    options.index = index;
    options.domain = domain;
    require_ok(tsr_tiles_create(context, geometry, &options, &tiles));
    return tiles;
}

static tsr_volume *make_field(tsr_context *context, tsr_size3 size, const float *values)
{
    tsr_volume *host, *device;
    require_ok(tsr_volume_wrap(NULL, TSR_F32, size, NULL, (void *)(uintptr_t)values, NULL, NULL, &host));
    require_ok(tsr_volume_copy(host, context, &device));
    tsr_volume_destroy(&host);
    return device;
}

/* The list as dense float32 values in host memory. */
static float *stored_values(tsr_tiles *tiles, tsr_size3 size)
{
    tsr_volume *device, *host;
    float *values = (float *)malloc((size_t)(size.x * size.y * size.z) * sizeof *values);
    assert_non_null(values);
    require_ok(tsr_volume_create(tiles->context, TSR_F32, size, NULL, &device));
    require_ok(tsr_tiles_store(tiles, device));
    require_ok(tsr_volume_copy(device, NULL, &host));
    memcpy(values, tsr_volume_data(host), (size_t)tsr_volume_count(host) * sizeof *values);
    tsr_volume_destroy(&host);
    tsr_volume_destroy(&device);
    return values;
}

static void check_mask(tsr_tiles *tiles, tsr_size3 size, const float *values)
{
    tsr_volume *device, *host;
    require_ok(tsr_volume_create(tiles->context, TSR_U8, size, NULL, &device));
    require_ok(tsr_tiles_store(tiles, device));
    require_ok(tsr_volume_copy(device, NULL, &host));
    const uint8_t *mask = (const uint8_t *)tsr_volume_data(host);
    for (int64_t i = 0; i < tsr_volume_count(host); i++) assert_int_equal(mask[i], values[i] < 0);
    tsr_volume_destroy(&host);
    tsr_volume_destroy(&device);
}

/* Counts, bounds and round trip of a loaded field. */
static void check_loaded(tsr_tiles *tiles, tsr_size3 size, const float *field)
{
    const float band = tiles->pool.band;
    int64_t active = 0, inside = 0, voxels = size.x * size.y * size.z;
    float *values = stored_values(tiles, size);
    tsr_tiles_info info = TSR_TILES_INFO;
    for (int64_t i = 0; i < voxels; i++) {
        float expected = fminf(fmaxf(field[i], -band), band);
        assert_true(values[i] == expected);
        active += expected > -band && expected < band;
        inside += expected < 0;
    }
    require_ok(tsr_tiles_describe(tiles, &info));
    assert_int_equal(info.active_voxels, active);
    assert_int_equal(info.inside_voxels, inside);
    check_mask(tiles, size, values);
    check_invariants(tiles);
    require_ok(tsr_tiles_check_whole(tiles, "loaded"));
    free(values);
}

static void fields(int which, tsr_size3 n, uint64_t *random, float *f)
{
    for (int64_t z = 0; z < n.z; z++)
        for (int64_t y = 0; y < n.y; y++)
            for (int64_t x = 0; x < n.x; x++) {
                double cx = (double)x - (double)n.x / 2, cy = (double)y - (double)n.y / 2, cz = (double)z - (double)n.z / 2, v = 0;
                switch (which) {
                case 0: v = sqrt(cx * cx + cy * cy + cz * cz) - 7; break;                     /* ball */
                case 1: v = 3 - fabs(sqrt(cx * cx + cy * cy + cz * cz) - 9); break;           /* everything but a thick shell, cut by the border */
                case 2: v = 1e6; break;                                                       /* outside everywhere */
                case 3: v = -1e6; break;                                                      /* inside everywhere */
                case 4: v = x < n.x / 2 ? -100 : 100; break;                                  /* jump over the whole band */
                case 5: v = test_uniform(random) * 20 - 10; break;                            /* noise: every tile */
                case 6: v = x == n.x - 1 && y == n.y - 1 && z == n.z - 1 ? -0.25 : 50; break; /* one voxel in the last corner */
                default: v = test_random(random) % 4000 == 0 ? -1 : 100; break;               /* dust */
                }
                f[(z * n.y + y) * n.x + x] = (float)v;
            }
}

static void load_and_store(void **unused)
{
    (void)unused;
    tsr_context *context = test_context();
    uint64_t random = test_seed();
    const tsr_size3 sizes[] = { odd, { 8, 8, 8 }, { 2, 33, 9 }, { 40, 16, 24 } };
    for (int s = 0; s < 4; s++)
        for (int32_t edge = 4; edge <= 8; edge += 4)
            for (int index = 0; index < 2; index++) {
                tsr_tiles *tiles = make_tiles(context, edge, index ? TSR_TILES_PAGED : TSR_TILES_SORTED, sizes[s], NULL);
                float *f = (float *)malloc((size_t)(sizes[s].x * sizes[s].y * sizes[s].z) * sizeof *f);
                assert_non_null(f);
                for (int which = 0; which < 8; which++) { /* one list for all: a load replaces what was there */
                    fields(which, sizes[s], &random, f);
                    tsr_volume *field = make_field(context, sizes[s], f);
                    require_ok(tsr_tiles_load(tiles, field));
                    check_loaded(tiles, sizes[s], f);
                    tsr_volume_destroy(&field);
                }
                free(f);
                tsr_tiles_destroy(&tiles);
            }
    tsr_context_destroy(&context);
}

/* A dense field in an unbounded list: the box of the field, at the origin. */
static void load_into_unbounded(void **unused)
{
    (void)unused;
    tsr_context *context = test_context();
    const tsr_size3 n = { 70, 50, 61 };
    float *f = (float *)malloc((size_t)(n.x * n.y * n.z) * sizeof *f);
    uint64_t random = test_seed();
    assert_non_null(f);
    fields(0, n, &random, f);
    tsr_volume *field = make_field(context, n, f);
    for (int32_t edge = 4; edge <= 8; edge += 4) {
        tsr_tiles *tiles = make_tiles(context, edge, TSR_TILES_SORTED, (tsr_size3){ 0, 0, 0 }, NULL);
        require_ok(tsr_tiles_load(tiles, field));
        check_loaded(tiles, n, f);
        tsr_tiles_destroy(&tiles);
    }
    tsr_volume_destroy(&field);
    free(f);
    tsr_context_destroy(&context);
}

/* Only tiles with a voxel in the band or beside a sign change, and those their guard areas touch, are stored. */
static void stores_no_more_than_needed(void **unused)
{
    (void)unused;
    tsr_context *context = test_context();
    const tsr_size3 n = { 64, 64, 64 };
    float *f = (float *)malloc((size_t)(n.x * n.y * n.z) * sizeof *f);
    assert_non_null(f);
    for (int64_t i = 0; i < n.x * n.y * n.z; i++)
        f[i] = (float)(sqrt(pow((double)(i % 64) - 31.5, 2) + pow((double)(i / 64 % 64) - 31.5, 2) + pow((double)(i / 4096) - 31.5, 2)) - 24);
    tsr_volume *field = make_field(context, n, f);
    for (int32_t edge = 4; edge <= 8; edge += 4) {
        tsr_tiles *tiles = make_tiles(context, edge, TSR_TILES_SORTED, n, NULL);
        require_ok(tsr_tiles_load(tiles, field));
        tiles_picture p = picture_of(tiles);
        int64_t with_band = 0, band_voxels = 0, exact = 0;
        for (int32_t i = 0; i < p.state.count; i++) with_band += (p.pool.activity[p.ids[i]] & TSR_ACTIVITY_AREAS) != 0;
        for (int64_t i = 0; i < n.x * n.y * n.z; i++) band_voxels += fabsf(f[i]) < p.pool.band;
        assert_int_equal(p.state.active_voxels, band_voxels);
        /* the exact set (the page of paging allows 1.05 times as many): tiles with a voxel in the band or beside one, diagonally too */
        for (int64_t t = 0; t < 64 * 64 * 64 / (edge * edge * edge); t++) {
            const int64_t side = 64 / edge, at[3] = { t % side * edge, t / side % side * edge, t / side / side * edge };
            int wanted = 0;
            for (int64_t z = at[2] - 1; z <= at[2] + edge && !wanted; z++)
                for (int64_t y = at[1] - 1; y <= at[1] + edge && !wanted; y++)
                    for (int64_t x = at[0] - 1; x <= at[0] + edge && !wanted; x++)
                        wanted = ((x | y | z) & ~63) == 0 && fabsf(f[(z * 64 + y) * 64 + x]) < p.pool.band;
            exact += wanted;
        }
        print_message("edge %d: %d tiles, %d hold the band, %d are needed\n", (int)edge, (int)p.state.count, (int)with_band, (int)exact);
        assert_int_equal(p.state.count, exact);
        tsr_tiles_info info = TSR_TILES_INFO;
        require_ok(tsr_tiles_describe(tiles, &info));
        /* [Lefohn04]'s pages: fill of 8^3 tiles 0.25-0.30, of 4^3 tiles 0.39-0.44 for small spheres, of the tiles that hold the band */
        assert_true((double)band_voxels / (double)(with_band * edge * edge * edge) > (edge == 8 ? 0.25 : 0.39));
        assert_true((double)info.device_bytes <= 1.35 * (double)info.capacity * (double)(edge * edge * edge) * sizeof(float) * 2 + 65536);
        picture_drop(&p);
        tsr_tiles_destroy(&tiles);
    }
    tsr_volume_destroy(&field);
    free(f);
    tsr_context_destroy(&context);
}

/* The band that is taken where none is given: 2.5 of the smallest voxels, but two of the largest. How thick a slice is does not count, whichever axis is flat. */
static void default_band(void **state)
{
    (void)state;
    static const struct {
        tsr_size3 n;
        tsr_vec3 h;
        double band;
    } rows[] = {
        { { 60, 50, 40 }, { 1, 1, 1 }, 2.5 },  { { 60, 50, 40 }, { 1, 1, 0.1 }, 2 }, { { 60, 50, 40 }, { 1, 3, 2 }, 6 },
        { { 60, 50, 1 }, { 1, 1, 0.1 }, 2.5 }, { { 60, 50, 1 }, { 1, 1, 9 }, 2.5 },  { { 60, 50, 2 }, { 1, 1, 0.1 }, 2 },
        { { 60, 1, 40 }, { 1, 0.1, 1 }, 2.5 }, { { 60, 1, 40 }, { 1, 9, 1 }, 2.5 },  { { 60, 2, 40 }, { 1, 0.1, 1 }, 2 },
        { { 1, 50, 40 }, { 0.1, 1, 1 }, 2.5 }, { { 1, 50, 40 }, { 9, 1, 1 }, 2.5 },  { { 2, 50, 40 }, { 0.1, 1, 1 }, 2 },
        { { 1, 50, 1 }, { 0.1, 2, 7 }, 5 },    { { 1, 50, 40 }, { 7, 1, 0.5 }, 2 },  { { 60, 1, 40 }, { 0.5, 7, 1 }, 2 },
    };
    tsr_context *context = test_context();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const tsr_geometry geometry = tsr_geometry_make(rows[i].h, (tsr_vec3){ 0, 0, 0 }, TSR_SPACE_NONE);
        tsr_tiles_options options = TSR_TILES_OPTIONS;
        tsr_tiles_info info = TSR_TILES_INFO;
        tsr_tiles *tiles;
        options.domain = rows[i].n;
        require_ok(tsr_tiles_create(context, &geometry, &options, &tiles));
        require_ok(tsr_tiles_describe(tiles, &info));
        if (!(fabs(info.band - rows[i].band) < 1e-6)) fail_msg("row %d: band %g, expected %g", (int)i, info.band, rows[i].band);
        tsr_tiles_destroy(&tiles);
    }
    tsr_context_destroy(&context);
}

/* ---- painting against float64 ------------------------------------------------------------------------------------------------------------------ */

/* phi of a list of strokes at one voxel in double precision, before the clamp. */
static double painted(const tsr_tiles_sphere *s, int count, const double h[3], double x, double y, double z, double band)
{
    double v = band;
    for (int i = 0; i < count; i++) {
        double dx = x * h[0] - (double)s[i].x, dy = y * h[1] - (double)s[i].y, dz = z * h[2] - (double)s[i].z,
               d = sqrt(dx * dx + dy * dy + dz * dz) - (double)s[i].radius;
        v = s[i].erase ? fmax(v, -d) : fmin(v, d);
        v = fmin(fmax(v, -band), band);
    }
    return v;
}

static void random_strokes(uint64_t *random, tsr_size3 n, const double h[3], tsr_tiles_sphere *s, int count)
{
    for (int i = 0; i < count; i++) {
        s[i].x = (float)(test_uniform(random) * (double)n.x * h[0]);
        s[i].y = (float)(test_uniform(random) * (double)n.y * h[1]);
        s[i].z = (float)(test_uniform(random) * (double)n.z * h[2]);
        s[i].radius = (float)(1 + test_uniform(random) * 12);
        s[i].erase = i > 0 && test_random(random) % 3 == 0;
    }
}

static void painting_equals_formula(void **unused)
{
    (void)unused;
    tsr_context *context = test_context();
    uint64_t random = test_seed();
    const double h[3] = { 1, 1.5, 0.75 };
    const tsr_geometry geometry = tsr_geometry_make((tsr_vec3){ h[0], h[1], h[2] }, (tsr_vec3){ 3, 4, 5 }, TSR_SPACE_RAS);
    int rounds = context->device.kind == TSR_DEVICE_EMU ? 1 : 6;
    for (int round = 0; round < rounds; round++)
        for (int32_t edge = 4; edge <= 8; edge += 4)
            for (int index = 0; index < 3; index++) { /* sorted, paged, unbounded */
                tsr_tiles *tiles =
                    make_tiles(context, edge, index == 1 ? TSR_TILES_PAGED : TSR_TILES_SORTED, index == 2 ? (tsr_size3){ 0, 0, 0 } : odd, &geometry);
                tsr_tiles_sphere strokes[7];
                random_strokes(&random, odd, h, strokes, 7);
                for (int i = 0; i < 7; i++) { /* one at a time: each meets what the earlier ones made */
                    require_ok(tsr_tiles_paint(tiles, &strokes[i], 1));
                    check_invariants(tiles);
                }
                float *values = stored_values(tiles, odd);
                for (int64_t k = 0; k < odd.x * odd.y * odd.z; k++) {
                    double v = painted(strokes, 7, h, (double)(k % odd.x), (double)(k / odd.x % odd.y), (double)(k / odd.x / odd.y),
                                       (double)tiles->pool.band);
                    if (!(fabs((double)values[k] - v) < 1e-4))
                        fail_msg("edge %d index %d voxel %lld: %g instead of %g", edge, index, (long long)k, (double)values[k], v);
                }
                free(values);
                tsr_tiles_destroy(&tiles);
            }
    tsr_context_destroy(&context);
}

/* Several spheres in one call = one call each; SORTED = PAGED; the tiles of unbounded space have negative coordinates, too. */
static void painting_together(void **unused)
{
    (void)unused;
    tsr_context *context = test_context();
    uint64_t random = test_seed();
    const double h[3] = { 1, 1, 1 };
    tsr_tiles_sphere strokes[5];
    random_strokes(&random, odd, h, strokes, 5);
    tsr_tiles *a = make_tiles(context, 8, TSR_TILES_SORTED, odd, NULL), *b = make_tiles(context, 8, TSR_TILES_PAGED, odd, NULL);
    require_ok(tsr_tiles_paint(a, strokes, 5));
    for (int i = 0; i < 5; i++) require_ok(tsr_tiles_paint(b, &strokes[i], 1));
    tiles_picture p = picture_of(a), q = picture_of(b);
    assert_int_equal(p.state.count, q.state.count);
    assert_memory_equal(p.keys, q.keys, (size_t)p.state.count * sizeof *p.keys);
    for (int32_t i = 0; i < p.state.count; i++) assert_memory_equal(p.phi + p.ids[i] * 512, q.phi + q.ids[i] * 512, 512 * sizeof(float));
    assert_int_equal(p.state.inside_absent + p.state.inside_voxels, q.state.inside_absent + q.state.inside_voxels);
    picture_drop(&p);
    picture_drop(&q);
    tsr_tiles_destroy(&a);
    tsr_tiles_destroy(&b);

    tsr_tiles *open = make_tiles(context, 4, TSR_TILES_SORTED, (tsr_size3){ 0, 0, 0 }, NULL);
    const tsr_tiles_sphere ball = { -500, 20, -30, 6.25f, 0 };
    tsr_tiles_info info = TSR_TILES_INFO;
    require_ok(tsr_tiles_paint(open, &ball, 1));
    check_invariants(open);
    require_ok(tsr_tiles_describe(open, &info));
    int32_t(*at)[3] = (int32_t(*)[3])malloc((size_t)info.count * sizeof *at);
    float *values = (float *)malloc((size_t)info.count * 64 * sizeof *values);
    assert_true(at && values);
    require_ok(tsr_tiles_download(open, at, values));
    int64_t inside = 0;
    for (int64_t i = 0; i < info.count * 64; i++) {
        const int32_t *tile = at[i / 64];
        double x = tile[0] * 4 + (double)(i % 4) + 500, y = tile[1] * 4 + (double)(i / 4 % 4) - 20, z = tile[2] * 4 + (double)(i / 16 % 4) + 30;
        double v = fmin(fmax(sqrt(x * x + y * y + z * z) - 6.25, -2.5), 2.5);
        assert_true(fabs(v - (double)values[i]) < 1e-5);
    }
    for (int x = -7; x <= 7; x++)
        for (int y = -7; y <= 7; y++)
            for (int z = -7; z <= 7; z++) inside += x * x + y * y + z * z < 6.25 * 6.25;
    assert_int_equal(info.inside_voxels, inside);
    free(at);
    free(values);
    tsr_tiles_destroy(&open);
    tsr_context_destroy(&context);
}

/* A sphere that covers the domain leaves nothing stored, inside everywhere; erasing it again leaves nothing stored, outside everywhere. */
static void full_and_empty(void **unused)
{
    (void)unused;
    tsr_context *context = test_context();
    const tsr_tiles_sphere cover = { 18, 11, 9, 100, 0 }, uncover = { 18, 11, 9, 100, 1 }, hole = { 18, 11, 9, 3, 1 };
    for (int index = 0; index < 2; index++) {
        tsr_tiles *tiles = make_tiles(context, 4, index ? TSR_TILES_PAGED : TSR_TILES_SORTED, odd, NULL);
        const int64_t all = odd.x * odd.y * odd.z;
        tsr_tiles_info info = TSR_TILES_INFO;
        for (int step = 0; step < 4; step++) {
            const tsr_tiles_sphere *s = step == 0 ? &cover : step == 1 ? &hole : step == 2 ? &cover : &uncover;
            require_ok(tsr_tiles_paint(tiles, s, 1));
            check_invariants(tiles);
            require_ok(tsr_tiles_describe(tiles, &info));
            float *values = stored_values(tiles, odd);
            for (int64_t i = 0; i < all; i++) {
                double r =
                    sqrt(pow((double)(i % odd.x) - 18, 2) + pow((double)(i / odd.x % odd.y) - 11, 2) + pow((double)(i / odd.x / odd.y) - 9, 2));
                double expected = step == 0 || step == 2 ? -2.5 : step == 3 ? 2.5 : fmin(fmax(3 - r, -2.5), 2.5);
                assert_true(fabs((double)values[i] - expected) < 1e-5);
            }
            free(values);
            if (step != 1) assert_int_equal(info.count, 0);
            if (step != 1) assert_int_equal(info.inside_voxels, step == 3 ? 0 : all);
        }
        tsr_tiles_destroy(&tiles);
    }
    tsr_context_destroy(&context);
}

/* ---- copies, limits, bad input ------------------------------------------------------------------------ */

static void copies(void **unused)
{
    (void)unused;
    tsr_context *context = test_context(), *host = test_context_on("cpu", 1);
    for (int index = 0; index < 2; index++) {
        tsr_tiles *tiles = make_tiles(context, 8, index ? TSR_TILES_PAGED : TSR_TILES_SORTED, odd, NULL), *same, *other;
        const tsr_tiles_sphere ball = { 15, 11, 9, 6, 0 }, more = { 25, 9, 9, 5, 0 };
        require_ok(tsr_tiles_paint(tiles, &ball, 1));
        float *before = stored_values(tiles, odd);
        require_ok(tsr_tiles_copy(tiles, context, &same));
        require_ok(tsr_tiles_copy(tiles, host, &other));
        require_ok(tsr_tiles_paint(tiles, &more, 1));
        tsr_tiles *both[2] = { same, other };
        for (int i = 0; i < 2; i++) {
            check_invariants(both[i]);
            float *kept = stored_values(both[i], odd);
            assert_memory_equal(kept, before, (size_t)(odd.x * odd.y * odd.z) * sizeof *kept);
            free(kept);
            require_ok(tsr_tiles_paint(both[i], &more, 1)); /* a copy is a list like any other */
            check_invariants(both[i]);
            float *changed = stored_values(both[i], odd), *expected = stored_values(tiles, odd);
            assert_memory_equal(changed, expected, (size_t)(odd.x * odd.y * odd.z) * sizeof *changed);
            free(changed);
            free(expected);
        }
        free(before);
        tsr_tiles_destroy(&same);
        tsr_tiles_destroy(&other);
        tsr_tiles_destroy(&tiles);
    }
    tsr_context_destroy(&host);
    tsr_context_destroy(&context);
}

static void memory_limit_keeps_the_list(void **unused)
{
    (void)unused;
    tsr_context *context = test_context();
    tsr_tiles_options options = TSR_TILES_OPTIONS;
    const tsr_tiles_sphere small = { 20, 20, 20, 5, 0 }, large = { 64, 64, 64, 50, 0 };
    tsr_tiles *tiles;
    options.domain = (tsr_size3){ 128, 128, 128 };
    options.capacity = 64;
    options.memory_limit = 4 << 20;
    require_ok(tsr_tiles_create(context, NULL, &options, &tiles));
    require_ok(tsr_tiles_paint(tiles, &small, 1));
    float *before = stored_values(tiles, options.domain);
    require_error(tsr_tiles_paint(tiles, &large, 1), TSR_ERROR_CAPACITY, "memory_limit");
    check_invariants(tiles);
    float *after = stored_values(tiles, options.domain);
    assert_memory_equal(before, after, (size_t)(128 * 128 * 128) * sizeof *after);
    tsr_tiles_info info = TSR_TILES_INFO;
    require_ok(tsr_tiles_describe(tiles, &info));
    assert_true(info.device_bytes <= options.memory_limit + 4096);
    free(before);
    free(after);
    tsr_tiles_destroy(&tiles);
    tsr_context_destroy(&context);
}

/* ---- put together from parts -------------------------------------------------------------------------- */

/* A rod along an axis through the middle of one tile and nothing beside it: without a word about signs the absent tiles at its ends alone are inside. */
static void signs_of_nearest_voxels(void **unused)
{
    (void)unused;
    tsr_context *context = test_context();
    tsr_tiles_options options = TSR_TILES_OPTIONS;
    for (options.edge = 4; options.edge <= 8; options.edge += 4)
        for (int axis = 0; axis < 3; axis++) {
            const int32_t E = options.edge, place[1][3] = { { 3, -2, 5 } };
            float values[512];
            for (int32_t k = 0; k < E * E * E; k++) {
                const int32_t at[3] = { k % E, k / E % E, k / (E * E) }, a = at[(axis + 1) % 3], b = at[(axis + 2) % 3];
                values[k] = a > 0 && a < E - 1 && b > 0 && b < E - 1 ? -1.0f : 1.0f;
            }
            tsr_tiles_contents contents = TSR_TILES_CONTENTS;
            tsr_tiles *tiles;
            contents.count = contents.keep = 1;
            contents.coordinates = place;
            contents.values = values;
            require_ok(tsr_tiles_assemble(context, NULL, &options, &contents, &tiles));
            tiles_picture p = picture_of(tiles);
            assert_int_equal(p.state.count, 1);
            for (int32_t d = 0; d < 27; d++) {
                const int32_t step[3] = { d % 3 - 1, d / 3 % 3 - 1, d / 9 - 1 };
                const int along = step[axis] != 0 && step[(axis + 1) % 3] == 0 && step[(axis + 2) % 3] == 0;
                if (d != 13 && p.pool.neighbours[(int64_t)p.ids[0] * TSR_NEIGHBOUR_ROW + d] != (along ? TSR_TILE_INSIDE : TSR_TILE_OUTSIDE))
                    fail_msg("edge %d, axis %d: the absent tile in direction %d is %u", E, axis, d,
                             p.pool.neighbours[(int64_t)p.ids[0] * TSR_NEIGHBOUR_ROW + d]);
            }
            picture_drop(&p);
            tsr_tiles_destroy(&tiles);
        }
    tsr_context_destroy(&context);
}

/* No tiles at all are the whole domain, or nothing. */
static void empty_lists(void **unused)
{
    (void)unused;
    tsr_context *context = test_context();
    for (int round = 0; round < 8; round++) {
        tsr_tiles_options options = TSR_TILES_OPTIONS;
        tsr_tiles_contents contents = TSR_TILES_CONTENTS;
        tsr_tiles_info info = TSR_TILES_INFO;
        tsr_tiles *tiles;
        if (round & 4) options.domain = (tsr_size3){ 5, 9, 7 };
        contents.background_inside = round & 1;
        contents.keep = round >> 1 & 1;
        require_ok(tsr_tiles_assemble(context, NULL, &options, &contents, &tiles));
        require_ok(tsr_tiles_describe(tiles, &info));
        assert_true(info.count == 0 && info.active_voxels == 0);
        assert_int_equal(info.inside_voxels, round & 4 && round & 1 ? 5 * 9 * 7 : 0);
        tsr_tiles_destroy(&tiles);
    }
    tsr_context_destroy(&context);
}

/* 16 bits and back: half a step of 1 / 32767 of the band, and the ends of the band exactly; all that is held is counted. */
static void storage_there_and_back(void **unused)
{
    (void)unused;
    tsr_context *context = test_context();
    uint64_t random = test_seed();
    for (int32_t edge = 4; edge <= 8; edge += 4)
        for (int which = 0; which < 6; which += 5) { /* ball, noise */
            tsr_tiles *tiles = make_tiles(context, edge, TSR_TILES_SORTED, odd, NULL);
            float *f = (float *)malloc((size_t)(odd.x * odd.y * odd.z) * sizeof *f);
            assert_non_null(f);
            fields(which, odd, &random, f);
            tsr_volume *field = make_field(context, odd, f);
            require_ok(tsr_tiles_load(tiles, field));
            const float band = tiles->pool.band;
            const int64_t bytes = tiles->bytes;
            require_ok(tsr_tiles_set_storage(tiles, TSR_STORAGE_I16));
            assert_true(tiles->bytes < bytes);
            require_ok(tsr_tiles_set_storage(tiles, TSR_STORAGE_F32));
            assert_int_equal(tiles->bytes, bytes);
            float *values = stored_values(tiles, odd);
            for (int64_t i = 0; i < odd.x * odd.y * odd.z; i++) {
                const float expected = fminf(fmaxf(f[i], -band), band);
                if (fabsf(expected) == band ? values[i] != expected : fabs((double)values[i] - (double)expected) > (double)band / 32767 * 0.51)
                    fail_msg("field %d, voxel %d: %g, expected %g", which, (int)i, (double)values[i], (double)expected);
            }
            free(values);
            free(f);
            tsr_volume_destroy(&field);
            tsr_tiles_destroy(&tiles);
        }
    tsr_context_destroy(&context);
}

/* The last byte that is allowed may be taken. */
static void limit_to_the_byte(void **unused)
{
    (void)unused;
    tsr_context *context = test_context();
    for (int enough = 0; enough < 2; enough++) {
        tsr_tiles *tiles = make_tiles(context, 8, TSR_TILES_SORTED, odd, NULL);
        const int64_t before = tiles->bytes, page = 8 * 8 * 8 * (int64_t)sizeof(float);
        tiles->memory_limit = before + tiles->pool.capacity * page - !enough;
        if (enough) require_ok(tsr_tiles_need_payload(tiles));
        else require_error(tsr_tiles_need_payload(tiles), TSR_ERROR_CAPACITY, "the memory_limit is");
        assert_int_equal(tiles->bytes, enough ? tiles->memory_limit : before);
        tsr_tiles_destroy(&tiles);
    }
    tsr_context_destroy(&context);
}

static void bad_input(void **unused)
{
    (void)unused;
    tsr_context *context = test_context();
    tsr_tiles_options o = TSR_TILES_OPTIONS;
    tsr_tiles *tiles;
    o.edge = 5;
    require_error(tsr_tiles_create(context, NULL, &o, &tiles), TSR_ERROR_ARGUMENT, "edge is 5");
    assert_null(tiles);
    o = (tsr_tiles_options)TSR_TILES_OPTIONS;
    o.index = TSR_TILES_PAGED;
    require_error(tsr_tiles_create(context, NULL, &o, &tiles), TSR_ERROR_ARGUMENT, "domain");
    o.index = (tsr_tiles_index)7;
    require_error(tsr_tiles_create(context, NULL, &o, &tiles), TSR_ERROR_ARGUMENT, "index is 7");
    o = (tsr_tiles_options)TSR_TILES_OPTIONS;
    o.domain = (tsr_size3){ 10, 0, 10 };
    require_error(tsr_tiles_create(context, NULL, &o, &tiles), TSR_ERROR_ARGUMENT, "along y");
    o.domain = (tsr_size3){ 10, 10, (int64_t)1 << 40 };
    require_error(tsr_tiles_create(context, NULL, &o, &tiles), TSR_ERROR_ARGUMENT, "along z");
    o = (tsr_tiles_options)TSR_TILES_OPTIONS;
    const double bands[] = { 0.5, -1, NAN, INFINITY };
    for (int i = 0; i < 4; i++) {
        o.band = bands[i];
        require_error(tsr_tiles_create(context, NULL, &o, &tiles), TSR_ERROR_ARGUMENT, "band");
    }
    o = (tsr_tiles_options)TSR_TILES_OPTIONS;
    o.capacity = -1;
    require_error(tsr_tiles_create(context, NULL, &o, &tiles), TSR_ERROR_ARGUMENT, "capacity");
    o = (tsr_tiles_options)TSR_TILES_OPTIONS;
    o.capacity = 100000;
    o.memory_limit = 1000;
    require_error(tsr_tiles_create(context, NULL, &o, &tiles), TSR_ERROR_CAPACITY, "memory_limit is 1000");
    require_error(tsr_tiles_create(NULL, NULL, NULL, &tiles), TSR_ERROR_ARGUMENT, "context");
    tsr_geometry flat = tsr_geometry_make((tsr_vec3){ 1, 1, 0 }, (tsr_vec3){ 0, 0, 0 }, TSR_SPACE_NONE);
    require_error(tsr_tiles_create(context, &flat, NULL, &tiles), TSR_ERROR_ARGUMENT, "spacing");

    tiles = make_tiles(context, 8, TSR_TILES_SORTED, odd, NULL);
    const tsr_tiles_sphere ball = { 15, 11, 9, 6, 0 };
    require_ok(tsr_tiles_paint(tiles, &ball, 1));
    float *f = (float *)calloc((size_t)(odd.x * odd.y * odd.z), sizeof *f), *before = stored_values(tiles, odd);
    assert_non_null(f);
    f[(7 * odd.y + 3) * odd.x + 20] = NAN;
    f[(9 * odd.y + 3) * odd.x + 20] = INFINITY;
    tsr_volume *bad = make_field(context, odd, f), *bytes, *wrong;
    require_error(tsr_tiles_load(tiles, bad), TSR_ERROR_ARGUMENT, "20, 3, 7");
    check_invariants(tiles); /* a refused field leaves the list as it was */
    float *after = stored_values(tiles, odd);
    assert_memory_equal(before, after, (size_t)(odd.x * odd.y * odd.z) * sizeof *after);
    require_ok(tsr_volume_create(context, TSR_I16, odd, NULL, &bytes));
    require_error(tsr_tiles_load(tiles, bytes), TSR_ERROR_ARGUMENT, "i16");
    require_error(tsr_tiles_store(tiles, bytes), TSR_ERROR_ARGUMENT, "i16");
    require_ok(tsr_volume_create(context, TSR_F32, (tsr_size3){ 4, 4, 4 }, NULL, &wrong));
    require_error(tsr_tiles_load(tiles, wrong), TSR_ERROR_ARGUMENT, "4 x 4 x 4");
    free(f);
    free(before);
    free(after);
    tsr_volume_destroy(&bad);
    tsr_volume_destroy(&bytes);
    tsr_volume_destroy(&wrong);
    tsr_tiles_destroy(&tiles);
    tsr_tiles_destroy(&tiles);
    tsr_context_destroy(&context);
}

/* Beyond the field of a list without a domain all is outside, below it and above it, whatever the tile edge: what is inside are the field's voxels, and
 * the mirrored field measures the same. */
static void borders_of_unbounded(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    static const int64_t extents[] = { 5, 8, 9, 16, 19 };
    for (int c = 0; c < 20; c++) {
        const int64_t n = extents[c % 5], count = n * n * n;
        const int32_t edge = c / 5 % 2 ? 8 : 4;
        int64_t inside = 0;
        double volume[2];
        for (int side = 0; side < 2; side++) {
            float *f = (float *)malloc((size_t)count * sizeof *f);
            assert_non_null(f);
            inside = 0;
            for (int64_t i = 0; i < count; i++) {
                const double x = (double)(side ? n - 1 - i % n : i % n), y = (double)(i / n % n), z = (double)(i / (n * n)),
                             m = 0.5 * (double)(n - 1);
                f[i] = c < 10 ? -20.0f : (float)(sqrt(x * x + (y - m) * (y - m) + (z - m) * (z - m)) - 0.4 * (double)n);
                inside += f[i] < 0;
            }
            tsr_tiles *tiles = make_tiles(context, edge, TSR_TILES_SORTED, (tsr_size3){ 0, 0, 0 }, NULL);
            tsr_volume *field = make_field(context, (tsr_size3){ n, n, n }, f);
            tsr_tiles_measures measures = TSR_TILES_MEASURES;
            tsr_tiles_info info = TSR_TILES_INFO;
            require_ok(tsr_tiles_load(tiles, field));
            check_invariants(tiles);
            require_ok(tsr_tiles_describe(tiles, &info));
            assert_int_equal(info.inside_voxels, inside);
            require_ok(tsr_tiles_measure(tiles, &measures));
            volume[side] = measures.volume;
            tsr_volume_destroy(&field);
            tsr_tiles_destroy(&tiles);
            free(f);
        }
        assert_true(fabs(volume[0] - volume[1]) < 1e-9 * volume[0]);
    }
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(load_and_store),
                                        cmocka_unit_test(load_into_unbounded),
                                        cmocka_unit_test(borders_of_unbounded),
                                        cmocka_unit_test(stores_no_more_than_needed),
                                        cmocka_unit_test(default_band),
                                        cmocka_unit_test(painting_equals_formula),
                                        cmocka_unit_test(painting_together),
                                        cmocka_unit_test(full_and_empty),
                                        cmocka_unit_test(copies),
                                        cmocka_unit_test(memory_limit_keeps_the_list),
                                        cmocka_unit_test(signs_of_nearest_voxels),
                                        cmocka_unit_test(empty_lists),
                                        cmocka_unit_test(storage_there_and_back),
                                        cmocka_unit_test(limit_to_the_byte),
                                        cmocka_unit_test(bad_input) };
    return cmocka_run_group_tests_name("tiles", tests, NULL, NULL);
}
