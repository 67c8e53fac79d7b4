/* Keys of 32 and 64 bits (docs/theory/tiles.md 1): the short form against its definition, the same lists, fields and reports with both
 * widths whatever is done with a list, what the width saves, the ends of the box, and refusals. */
#include "engine_support.h"
#include "tiles/tile_key.h"
#include "tiles/tiles.h"
#include "tessera/csg.h"
#include "tessera/levelset.h"

/* ---- the short form ----------------------------------------------------------------------------------------------------------------------- */

/* Tiles in order: z, then y, then x. */
static int order(const int32_t a[3], const int32_t b[3])
{
    for (int k = 2; k >= 0; k--)
        if (a[k] != b[k]) return a[k] < b[k] ? -1 : 1;
    return 0;
}
static int32_t coordinate(uint64_t *random, int32_t first)
{
    const int32_t near = (int32_t)(test_random(random) % 5);
    switch (test_random(random) % 4) { /* often at the faces of the box, on either side of them */
    case 0: return first - 2 + near;
    case 1: return first + 1022 + near - 2;
    case 2: return first + (int32_t)(test_random(random) % 1024);
    default: return first - 3000 + (int32_t)(test_random(random) % 7000);
    }
}

static void short_form(void **unused)
{
    (void)unused;
    enum { TILES = 60, LOOKS = 400 };
    uint64_t random = test_seed();
    uint32_t *list = (uint32_t *)calloc(TILES + 1, sizeof(uint64_t)); /* room for either width: the compiler does not see which */
    assert_non_null(list);
    for (int round = 0; round < 200; round++) {
        int32_t first[3], at[TILES][3];
        for (int k = 0; k < 3; k++)
            first[k] = round == 0 ? -1048575 : round == 1 ? 1048574 - 1023 : (int32_t)(test_random(&random) % 2000000) - 1000000 - 3100;
        const uint64_t box = tsr_key_make(first[0], first[1], first[2]);
        for (int i = 0; i < TILES; i++) {
            for (int k = 0; k < 3; k++) at[i][k] = first[k] + (int32_t)(test_random(&random) % (test_random(&random) % 2 ? 1024 : 3));
            if (i % 7 == 0) at[i][i % 3] = first[i % 3] + 1023;
        }
        for (int i = 1; i < TILES; i++) /* by insertion */
            for (int j = i; j > 0 && order(at[j - 1], at[j]) > 0; j--)
                for (int k = 0; k < 3; k++) {
                    const int32_t other = at[j][k];
                    at[j][k] = at[j - 1][k];
                    at[j - 1][k] = other;
                }
        for (int i = 0; i < TILES; i++) {
            const uint64_t key = tsr_key_make(at[i][0], at[i][1], at[i][2]);
            list[i] = tsr_key_shorten(box, key);
            assert_int_equal(list[i],
                             ((uint32_t)(at[i][2] - first[2]) * 1024 + (uint32_t)(at[i][1] - first[1])) * 1024 + (uint32_t)(at[i][0] - first[0]));
            assert_true(tsr_key_widen(box, list[i]) == key && tsr_key_in_box(box, key));
        }
        list[TILES] = tsr_key_shorten(box, TSR_KEY_END);
        const tsr_keys keys = tsr_keys_of(list, box);
        assert_true(tsr_key_at(keys, TILES) == TSR_KEY_END && tsr_keys_lower_bound(keys, TILES, TSR_KEY_END) == TILES);
        for (int look = 0; look < LOOKS; look++) {
            int32_t x[3], before = 0, in = 1;
            for (int k = 0; k < 3; k++) {
                x[k] = look % 3 ? coordinate(&random, first[k]) : at[look % TILES][k] + (int32_t)(test_random(&random) % 3) - 1;
                x[k] = x[k] < -1048576 ? -1048576 : x[k] > 1048575 ? 1048575 : x[k];
                in &= x[k] >= first[k] && x[k] < first[k] + 1024;
            }
            const uint64_t key = tsr_key_make(x[0], x[1], x[2]);
            while (before < TILES && order(at[before], x) < 0) before++;
            assert_int_equal(tsr_key_in_box(box, key), in);
            if (key != TSR_KEY_END) assert_int_equal(tsr_keys_lower_bound(keys, TILES, key), before);
        }
    }
    free(list);
}

/* ---- the same with both widths --------------------------------------------------------------------------------------------------------------- */

static double two_balls(double x, double y, double z)
{
    return fmin(distance3(x, y, z, 8.3, 11.8, 12.1) - 5.4, distance3(x, y, z, 30.2, 12.4, 10.9) - 6.3);
}
static const tsr_size3 box = { 40, 25, 23 };

static int32_t bits_of(const tsr_tiles *tiles)
{
    tsr_tiles_info info = TSR_TILES_INFO;
    require_ok(tsr_tiles_describe(tiles, &info));
    return info.key_bits;
}

struct list_kind {
    int32_t edge;
    tsr_tiles_index index;
    int bounded, coded;
    int64_t capacity;
};
static tsr_tiles *make(tsr_context *context, const struct list_kind *kind, int32_t bits)
{
    tsr_tiles_options options = TSR_TILES_OPTIONS;
    tsr_volume *host, *field;
    tsr_tiles *tiles;
    options.edge = kind->edge;
    options.index = kind->index;
    options.band = 2.5;
    options.capacity = kind->capacity;
    options.storage = kind->coded ? TSR_STORAGE_I16 : TSR_STORAGE_F32;
    options.key_bits = bits;
    if (kind->bounded) options.domain = box;
    require_ok(tsr_volume_create(NULL, TSR_F32, box, NULL, &host));
    float *v = (float *)tsr_volume_data(host);
    for (int64_t i = 0; i < box.x * box.y * box.z; i++)
        v[i] = (float)two_balls((double)(i % box.x), (double)(i / box.x % box.y), (double)(i / box.x / box.y));
    require_ok(tsr_volume_copy(host, context, &field));
    require_ok(tsr_tiles_create(context, NULL, &options, &tiles));
    require_ok(tsr_tiles_load(tiles, field));
    tsr_volume_destroy(&field);
    tsr_volume_destroy(&host);
    assert_int_equal(bits_of(tiles), bits);
    return tiles;
}

#define TERMS(...) .terms = { __VA_ARGS__ }, .term_count = (int32_t)(sizeof((tsr_levelset_term[]){ __VA_ARGS__ }) / sizeof(tsr_levelset_term))
#define SPEED(v)                                 \
    {                                            \
        .kind = TSR_LEVELSET_SPEED, .value = (v) \
    }

static uint64_t flown(const char *device, const struct list_kind *kind, int32_t bits, const tsr_levelset_options *o, int64_t steps)
{
    tsr_context *context = test_context_on(device, 2);
    tsr_tiles *tiles = make(context, kind, bits);
    tsr_levelset *levelset;
    require_ok(tsr_levelset_create(tiles, o, &levelset));
    require_ok(tsr_levelset_step(levelset, steps, NULL, NULL));
    tsr_levelset_destroy(&levelset);
    assert_int_equal(bits_of(tiles), bits);
    if (kind->coded) require_ok(tsr_tiles_set_storage(tiles, TSR_STORAGE_F32));
    const uint64_t hash = digest_of(tiles);
    tsr_tiles_destroy(&tiles);
    tsr_context_destroy(&context);
    return hash;
}

static void flows(void **unused)
{
    (void)unused;
    const struct list_kind kinds[] = { { 8, TSR_TILES_SORTED, 0, 0, 20 },
                                       { 4, TSR_TILES_SORTED, 1, 0, 300 },
                                       { 8, TSR_TILES_PAGED, 1, 0, 20 },
                                       { 8, TSR_TILES_SORTED, 0, 1, 40 },
                                       { 4, TSR_TILES_SORTED, 0, 0, (1 << 18) + 8 } };
    const tsr_levelset_options ways[] = {
        OPTIONS(TERMS(SPEED(1), { .kind = TSR_LEVELSET_CURVATURE, .value = 0.2 }), .time_step = 0.2, .persistent = -1),
        OPTIONS(TERMS(SPEED(-0.8)), .space = TSR_STENCIL_GODUNOV, .time_step = 0.25, .persistent = 1),
        OPTIONS(TERMS({ .kind = TSR_LEVELSET_VELOCITY, .value = 1, .vector = { 0.5, 0.2, -0.4 } }), .space = TSR_STENCIL_WENO5, .time = TSR_TIME_RK3,
                .time_step = 0.3),
    };
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
            if (kinds[k].capacity > 1 << 18 && (w || on_emulator())) continue; /* other kernels of a GPU, where room is what matters */
            const int64_t steps = w == 2 ? 4 : 14;
            const uint64_t wide = flown("cpu", &kinds[k], 64, &ways[w], steps), narrow = flown(device_name(), &kinds[k], 32, &ways[w], steps);
            if (wide != narrow) fail_msg("list %zu, flow %zu: not the same with 32-bit keys", k, w);
        }
}

/* What lists are made into, and back. */
static uint64_t through_everything(tsr_context *context, int32_t bits)
{
    const struct list_kind kind = { 8, TSR_TILES_SORTED, 0, 0, 0 };
    const tsr_motion motion = { .axis = { 0, 0, 1 }, .angle = 0.6, .shift = { 3.5, -20.25, 4 } };
    tsr_tiles_options options = TSR_TILES_OPTIONS;
    tsr_tiles *a = make(context, &kind, bits), *b, *list[8];
    int lists = 0;
    uint64_t hash = 0;
    options.band = 2.5;
    options.key_bits = bits;
    require_ok(tsr_tiles_shape(context, NULL, &options, &(tsr_shape){ .kind = TSR_SHAPE_BOX, .centre = { 20, -4, 9 }, .half = { 9, 14, 3 } }, &b));
    assert_int_equal(bits_of(b), bits);
    require_ok(tsr_tiles_combine(a, b, TSR_CSG_UNION, 0, &list[lists++]));
    require_ok(tsr_tiles_combine(b, a, TSR_CSG_DIFFERENCE, 0, &list[lists++]));
    require_ok(tsr_tiles_transform(b, &motion, &list[lists++]));
    require_ok(tsr_tiles_upsample(a, &list[lists++]));
    require_ok(tsr_tiles_downsample(a, &list[lists++]));
    require_ok(tsr_tiles_copy(list[0], context, &list[lists++]));
    require_ok(tsr_tiles_compact(list[5], 400));
    require_ok(tsr_tiles_translate(a, -700, 0, 900000, &list[lists++]));
    const float positions[4][3] = { { 8.5f, 12.0f, 12.0f }, { -300.0f, 1e6f, 7.0f }, { 30.0f, 12.0f, 4.5f }, { 3.0f, 11.0f, 12.0f } };
    void *device;
    float *values, found[4];
    require_ok(tsr_device_allocate(context, sizeof positions + sizeof found, &device));
    require_ok(context->backend->upload(context->queue, device, positions, sizeof positions));
    values = (float *)device + 12;
    require_ok(tsr_tiles_sample(list[0], (const float(*)[3])device, values, 4, NULL));
    require_ok(context->backend->download(context->queue, found, values, sizeof found));
    tsr_device_release(context, device, sizeof positions + sizeof found);
    hash = digest(hash, found, sizeof found);
    for (int i = 0; i < lists; i++) {
        tsr_tiles_measures m = TSR_TILES_MEASURES;
        int64_t low[3], high[3];
        assert_int_equal(bits_of(list[i]), bits);
        require_ok(tsr_tiles_measure(list[i], &m));
        require_ok(tsr_tiles_bounds(list[i], low, high));
        const uint64_t own = digest_of(list[i]);
        hash = digest(hash, &own, sizeof own);
        hash = digest(hash, &m.volume, sizeof m.volume);
        hash = digest(hash, &m.components, sizeof m.components);
        hash = digest(digest(hash, low, sizeof low), high, sizeof high);
        tsr_tiles_destroy(&list[i]);
    }
    tsr_tiles_destroy(&b);
    tsr_tiles_destroy(&a);
    return hash;
}

static void lists_of_lists(void **unused)
{
    (void)unused;
    tsr_context *context = test_context(), *cpu = test_context_on("cpu", 2);
    const uint64_t wide = through_everything(cpu, 64);
    assert_true(through_everything(context, 32) == wide);
    tsr_context_destroy(&cpu);
    tsr_context_destroy(&context);
}

/* A solver goes on while the width changes under it, and the memory is what tiles.h says. */
static void changes_of_width(void **unused)
{
    (void)unused;
    tsr_context *context = test_context();
    const struct list_kind kinds[] = { { 8, TSR_TILES_SORTED, 0, 0, 0 }, { 4, TSR_TILES_PAGED, 1, 0, 0 } };
    for (size_t k = 0; k < 2; k++) {
        const tsr_levelset_options o = OPTIONS(TERMS(SPEED(1)), .time_step = 0.25);
        tsr_tiles *list[2];
        for (int i = 0; i < 2; i++) {
            tsr_levelset *levelset;
            list[i] = make(context, &kinds[k], 64);
            require_ok(tsr_levelset_create(list[i], &o, &levelset));
            for (int part = 0; part < 3; part++) {
                if (i) require_ok(tsr_tiles_set_key_bits(list[i], part % 2 ? 0 : 32));
                assert_int_equal(bits_of(list[i]), i && part % 2 == 0 ? 32 : 64);
                require_ok(tsr_levelset_step(levelset, 4, NULL, NULL));
            }
            tsr_levelset_destroy(&levelset);
        }
        assert_true(digest_of(list[0]) == digest_of(list[1]));
        tsr_tiles_info wide = TSR_TILES_INFO, narrow = TSR_TILES_INFO;
        for (int i = 0; i < 2; i++) require_ok(tsr_tiles_compact(list[i], 1000));
        require_ok(tsr_tiles_describe(list[0], &wide));
        require_ok(tsr_tiles_describe(list[1], &narrow));
        assert_int_equal(wide.capacity, narrow.capacity);
        const int64_t each = context->device.kind == TSR_DEVICE_CPU ? 12 : 16; /* two lists and the ids; the requests of a GPU */
        assert_int_equal(wide.device_bytes - narrow.device_bytes, each * narrow.capacity + 2 * 4);
        for (int i = 0; i < 2; i++) tsr_tiles_destroy(&list[i]);
    }
    tsr_context_destroy(&context);
}

/* ---- the ends of the box ---------------------------------------------------------------------------------------------------------------------- */

/* A small list of 32-bit keys with a box of 1024^3 tiles from (7, -20, 300), whose content ends at a face of it. */
static tsr_tiles *at_the_face(tsr_context *context, int axis, int sign)
{
    const struct list_kind kind = { 8, TSR_TILES_SORTED, 0, 0, 0 };
    tsr_tiles *from = make(context, &kind, 64), *moved;
    tsr_tiles_info info = TSR_TILES_INFO;
    require_ok(tsr_tiles_describe(from, &info));
    const size_t n = (size_t)info.count;
    int32_t(*at)[3] = malloc(n * sizeof *at), low[3] = { INT32_MAX, INT32_MAX, INT32_MAX }, high[3] = { INT32_MIN, INT32_MIN, INT32_MIN };
    require_ok(tsr_tiles_download(from, at, NULL));
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < 3; k++) {
            low[k] = at[i][k] < low[k] ? at[i][k] : low[k];
            high[k] = at[i][k] > high[k] ? at[i][k] : high[k];
        }
    free(at);
    const int32_t least[3] = { 7, -20, 300 };
    const uint64_t first = tsr_key_make(least[0], least[1], least[2]);
    int32_t shift[3] = { 0, 0, 0 };
    for (int k = 0; k < 3; k++) shift[k] = least[k] - low[k] + 100;
    shift[axis] = sign < 0 ? least[axis] - low[axis] : least[axis] + 1023 - high[axis];
    require_ok(tsr_tiles_translate(from, shift[0], shift[1], shift[2], &moved));
    require_ok(tsr_tiles_rebuild(moved, 0, first)); /* that box */
    tsr_tiles_destroy(&from);
    return moved;
}

static void ends_of_the_box(void **unused)
{
    (void)unused;
    tsr_context *context = test_context();
    for (int axis = 0; axis < 3; axis++)
        for (int sign = -1; sign <= 1; sign += 2) {
            tsr_tiles *tiles = at_the_face(context, axis, sign);
            tsr_levelset *levelset;
            tsr_levelset_report report = TSR_LEVELSET_REPORT;
            tsr_levelset_options drift = OPTIONS(TERMS({ .kind = TSR_LEVELSET_VELOCITY, .value = 1, .vector = { 0, 0, 0 } }), .time_step = 0.3);
            double *along[3] = { &drift.terms[0].vector.x, &drift.terms[0].vector.y, &drift.terms[0].vector.z };
            assert_int_equal(bits_of(tiles), 32);
            *along[axis] = sign;
            require_ok(tsr_levelset_create(tiles, &drift, &levelset));
            require_error(tsr_levelset_step(levelset, 60, NULL, &report), TSR_ERROR_CAPACITY,
                          "limits of the tile coordinates (32-bit keys: tiles 7 to 1030 along x, -20 to 1003 along y, 300 to 1323 along z, each of");
            assert_true(report.steps < 60);
            require_ok(tsr_tiles_set_key_bits(tiles, 64)); /* the way on */
            require_ok(tsr_levelset_step(levelset, 10, NULL, &report));
            tsr_levelset_destroy(&levelset);
            tsr_tiles_destroy(&tiles);
        }
    tsr_context_destroy(&context);
}

static void bad_input(void **unused)
{
    (void)unused;
    tsr_context *context = test_context();
    tsr_tiles_options options = TSR_TILES_OPTIONS;
    tsr_tiles *tiles, *far, *both;
    const struct list_kind kind = { 8, TSR_TILES_SORTED, 0, 0, 0 };
    options.key_bits = 33;
    require_error(tsr_tiles_create(context, NULL, &options, &tiles), TSR_ERROR_ARGUMENT, "key_bits is 33, expected 0 (automatic), 32 or 64");
    options.key_bits = 32;
    options.domain = (tsr_size3){ 64, 8 * 1024 + 1, 64 };
    require_error(tsr_tiles_create(context, NULL, &options, &tiles), TSR_ERROR_CAPACITY, "has tiles 0 to 1024 along y, 32-bit keys hold 1024 tiles");
    options.domain.y = 8 * 1024;
    require_ok(tsr_tiles_create(context, NULL, &options, &tiles));
    tsr_tiles_destroy(&tiles);
    tiles = make(context, &kind, 32);
    require_error(tsr_tiles_set_key_bits(tiles, 16), TSR_ERROR_ARGUMENT, "key_bits is 16");
    require_error(tsr_tiles_set_key_bits(NULL, 32), TSR_ERROR_ARGUMENT, "NULL");
    /* two surfaces too far apart for a box: the union has 64 bits, and cannot be made one of 32 */
    require_ok(tsr_tiles_translate(tiles, 0, 0, 1500, &far));
    assert_int_equal(bits_of(far), 32);
    require_ok(tsr_tiles_combine(tiles, far, TSR_CSG_UNION, 0, &both));
    assert_int_equal(bits_of(both), 64);
    const uint64_t hash = digest_of(both);
    require_error(tsr_tiles_set_key_bits(both, 32), TSR_ERROR_CAPACITY, "along z, 32-bit keys hold 1024 tiles of an axis: use key_bits 64");
    assert_true(digest_of(both) == hash && bits_of(both) == 64);
    tsr_tiles_destroy(&both);
    tsr_tiles_destroy(&far);
    options.domain = (tsr_size3){ 0, 0, 0 };
    require_error(tsr_tiles_shape(context, NULL, &options, &(tsr_shape){ .kind = TSR_SHAPE_CAPSULE, .radius = 4, .half = { 0, 0, 4200 } }, &far),
                  TSR_ERROR_CAPACITY, "along z, 32-bit keys hold 1024 tiles");
    tiles->memory_limit = 1000;
    require_error(tsr_tiles_set_key_bits(tiles, 64), TSR_ERROR_CAPACITY, "memory_limit");
    assert_int_equal(bits_of(tiles), 32);
    tsr_tiles_destroy(&tiles);
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(short_form),       cmocka_unit_test(flows),           cmocka_unit_test(lists_of_lists),
                                        cmocka_unit_test(changes_of_width), cmocka_unit_test(ends_of_the_box), cmocka_unit_test(bad_input) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
