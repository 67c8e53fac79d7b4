/* Orders of a pyramid's coefficients that are no function of level and residual (none, greedy), and pyramids of the first of them. */
#include "formats/scratch.h"
#include "mips.h"

static tsr_mip *built(tsr_context *context, tsr_size3 n, tsr_dtype dtype, const void *data, tsr_mip_key key, tsr_mip_format format, int levels)
{
    tsr_volume *volume = on_device(context, dtype, n, data);
    tsr_mip_options o = TSR_MIP_OPTIONS;
    tsr_mip *mip;
    o.key = key;
    o.format = format;
    o.levels = levels;
    require_ok(tsr_mip_build(context, volume, &o, &mip));
    tsr_volume_destroy(&volume);
    return mip;
}

/* ---- an oracle: octree coefficients by the definition, and the volume that any set of them makes ------------------------------------------------ */

struct entry {
    int level;
    uint32_t value;
    int64_t place; /* in its level */
};
enum { SIDE = 8, VOXELS = SIDE * SIDE * SIDE };

/* Of a volume of SIDE^3, L levels. */
static int entries_of(const uint8_t *data, int levels, struct entry *list)
{
    uint8_t f[VOXELS], g[VOXELS];
    int count = 0;
    memcpy(f, data, VOXELS);
    for (int j = 0, n = SIDE; j <= levels; j++, n /= 2) {
        for (int i = 0; i < n * n * n / 8; i++) g[i] = 255;
        for (int i = 0; i < n * n * n; i++) {
            uint8_t *to = &g[((i / n / n / 2) * (n / 2) + i / n % n / 2) * (n / 2) + i % n / 2];
            if (f[i] < *to) *to = f[i];
        }
        for (int i = 0; i < n * n * n; i++) {
            const uint8_t s = j < levels ? g[((i / n / n / 2) * (n / 2) + i / n % n / 2) * (n / 2) + i % n / 2] : 0;
            if (f[i] > s) list[count++] = (struct entry){ j, f[i], i };
        }
        memcpy(f, g, sizeof f);
    }
    return count;
}

static int64_t put(uint8_t *volume, const struct entry *e, int really)
{
    const int n = SIDE >> e->level, s = 1 << e->level, x = (int)(e->place % n) * s, y = (int)(e->place / n % n) * s, z = (int)(e->place / n / n) * s;
    int64_t gain = 0;
    for (int i = 0; i < s * s * s; i++) {
        uint8_t *v = &volume[((z + i / s / s) * SIDE + y + i / s % s) * SIDE + x + i % s];
        if (e->value <= *v) continue;
        gain += e->value - *v;
        if (really) *v = (uint8_t)e->value;
    }
    return gain;
}

/* Sum of the volume that a pyramid of the first `count` reconstructs. */
static int64_t sum_of_first(tsr_mip *mip, int64_t count, const uint8_t *whole)
{
    tsr_mip *kept;
    tsr_volume *volume, *host;
    int64_t sum = 0;
    require_ok(tsr_mip_keep(mip, count, &kept));
    require_ok(tsr_mip_reconstruct(kept, &volume));
    require_ok(tsr_volume_copy(volume, NULL, &host));
    for (int i = 0; i < VOXELS; i++) {
        const uint8_t v = ((const uint8_t *)tsr_volume_data(host))[i];
        assert_true(v <= whole[i]);
        sum += v;
    }
    tsr_volume_destroy(&host);
    tsr_volume_destroy(&volume);
    tsr_mip_destroy(&kept);
    return sum;
}

/* The greedy order in plain loops: every candidate anew at every step. At the ends of the classes the pyramid's own order has taken the same. */
static void greedy_is_its_definition(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    tsr_context *context = test_context();
    for (int c = 0; c < 3; c++) {
        const int levels = 1 + c;
        uint8_t *data = random_values(TSR_U8, (tsr_size3){ SIDE, SIDE, SIDE }, &seed), there[VOXELS] = { 0 };
        struct entry list[2 * VOXELS];
        int64_t sums[2 * VOXELS + 1] = { 0 };
        const int count = entries_of(data, levels, list);
        for (int taken = 0; taken < count; taken++) {
            int best = taken;
            int64_t most = -1;
            for (int i = taken; i < count; i++) {
                const int64_t gain = put(there, &list[i], 0);
                const struct entry *a = &list[i], *b = &list[best];
                const int ties = a->level != b->level ? a->level > b->level : a->value != b->value ? a->value > b->value : a->place < b->place;
                if (gain > most || (gain == most && ties)) {
                    most = gain;
                    best = i;
                }
            }
            sums[taken + 1] = sums[taken] + put(there, &list[best], 1);
            const struct entry swap = list[taken];
            list[taken] = list[best];
            list[best] = swap;
        }
        tsr_mip *mip = built(context, (tsr_size3){ SIDE, SIDE, SIDE }, TSR_U8, data, TSR_MIP_KEY_GREEDY, (tsr_mip_format)c, levels);
        assert_int_equal(tsr_mip_describe(mip)->coefficients, count);
        for (int k = 1; k <= 255; k += 18) { /* ends of classes; 255: all */
            const double share = (double)k / 255;
            const int64_t end = k == 255 ? count : (int64_t)((double)count * (share * share * share));
            assert_int_equal(sum_of_first(mip, end, data), sums[end]);
        }
        tsr_mip_destroy(&mip);
        free(data);
    }
    tsr_context_destroy(&context);
}

/* Its point: the L1 error of the volume, at any number about the least of all orders. */
static void greedy_is_best(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    tsr_context *context = test_context();
    uint8_t *data = vessels(24, 4, 12, &seed);
    int64_t sums[6][3];
    static const double shares[3] = { 0.05, 0.2, 0.5 };
    for (int key = 0; key < 6; key++) {
        tsr_mip *mip = built(context, (tsr_size3){ 24, 24, 24 }, TSR_U8, data, (tsr_mip_key)key, TSR_MIP_BRICKS, 2), *kept;
        for (int k = 0; k < 3; k++) {
            tsr_volume *volume, *host;
            sums[key][k] = 0;
            require_ok(tsr_mip_keep(mip, (int64_t)(shares[k] * (double)tsr_mip_describe(mip)->coefficients), &kept));
            require_ok(tsr_mip_reconstruct(kept, &volume));
            require_ok(tsr_volume_copy(volume, NULL, &host));
            for (int64_t i = 0; i < 24 * 24 * 24; i++) sums[key][k] += ((const uint8_t *)tsr_volume_data(host))[i];
            tsr_volume_destroy(&host);
            tsr_volume_destroy(&volume);
            tsr_mip_destroy(&kept);
            if (key == TSR_MIP_KEY_GREEDY)
                for (int other = 0; other < TSR_MIP_KEY_GREEDY; other++) assert_true((double)sums[key][k] > 0.995 * (double)sums[other][k]);
        }
        tsr_mip_destroy(&mip);
    }
    for (int k = 0; k < 3; k++) assert_true(sums[TSR_MIP_KEY_GREEDY][k] > sums[TSR_MIP_KEY_NONE][k]);
    free(data);
    tsr_context_destroy(&context);
}

/* No order: level by level from the coarsest, in a level the brightest first, then cells and voxels in memory order. */
static void none_is_by_value(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    tsr_context *context = test_context();
    uint8_t *data = random_values(TSR_U8, (tsr_size3){ SIDE, SIDE, SIDE }, &seed), there[VOXELS] = { 0 };
    struct entry list[2 * VOXELS];
    const int count = entries_of(data, 2, list);
    tsr_mip *mip = built(context, (tsr_size3){ SIDE, SIDE, SIDE }, TSR_U8, data, TSR_MIP_KEY_NONE, TSR_MIP_LIST6, 2);
    int64_t sum = 0;
    for (int taken = 0; taken < count; taken++) {
        int best = taken;
        for (int i = taken; i < count; i++) {
            const struct entry *a = &list[i], *b = &list[best];
            if (a->level != b->level ? a->level > b->level : a->value != b->value ? a->value > b->value : a->place < b->place) best = i;
        }
        const struct entry swap = list[taken];
        list[taken] = list[best];
        list[best] = swap;
        sum += put(there, &list[taken], 1);
        if (taken % 37 == 0 || taken == count - 1) assert_int_equal(sum_of_first(mip, taken + 1, data), sum);
    }
    tsr_mip_destroy(&mip);
    free(data);
    tsr_context_destroy(&context);
}

/* What is kept draws as that many of the whole do, in every format, through a file too; u16 and another element. */
static void kept_draws_the_first(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    tsr_context *context = test_context();
    const tsr_size3 n = { 21, 17, 19 };
    const tsr_mip_view view = tsr_mip_orbit(33, 12, 0.8);
    const char *path = scratch("kept.mip");
    for (int c = 0; c < 8; c++) {
        const tsr_dtype dtype = c % 2 ? TSR_U16 : TSR_U8;
        void *data = random_values(dtype, n, &seed);
        tsr_mip *mip = built(context, n, dtype, data, c < 4 ? (tsr_mip_key)c : TSR_MIP_KEY_GREEDY, (tsr_mip_format)(c % 4), 2), *kept, *again;
        const int64_t all = tsr_mip_describe(mip)->coefficients, number = all / 5;
        require_ok(tsr_mip_keep(mip, number, &kept));
        const tsr_mip_info i = *tsr_mip_describe(kept);
        assert_true(i.coefficients == number && i.by_level[0] + i.by_level[1] + i.by_level[2] == number && i.steps == 0);
        assert_true(i.device_bytes < tsr_mip_describe(mip)->device_bytes);
        const tsr_write_options write = { .struct_size = sizeof write, .overwrite = 1 };
        require_ok(tsr_mip_write(kept, path, &write));
        require_ok(tsr_mip_read(context, path, NULL, &again));
        for (int mode = 0; mode < 3; mode++)
            for (int part = 0; part < 2; part++) {
                tsr_mip_render_options r = TSR_MIP_RENDER_OPTIONS;
                r.mode = (tsr_mip_mode)mode;
                r.count = part ? number / 3 : number;
                uint32_t *whole = drawn(mip, context, &view, &r, 24, 20), *first = drawn(kept, context, &view, &r, 24, 20),
                         *read = drawn(again, context, &view, &r, 24, 20);
                assert_memory_equal(whole, first, 24 * 20 * sizeof *whole);
                assert_memory_equal(whole, read, 24 * 20 * sizeof *whole);
                free(whole);
                free(first);
                free(read);
            }
        tsr_mip_destroy(&again);
        tsr_mip_destroy(&kept);
        require_ok(tsr_mip_keep(mip, 0, &kept));
        assert_true(tsr_mip_describe(kept)->coefficients == 0 && tsr_mip_describe(kept)->runs == 0);
        tsr_mip_destroy(&kept);
        require_error(tsr_mip_keep(mip, all + 1, &kept), TSR_ERROR_ARGUMENT, "to keep, expected 0 to");
        assert_null(kept);
        require_error(tsr_mip_keep(mip, -1, &kept), TSR_ERROR_ARGUMENT, "-1 coefficients");
        require_ok(tsr_mip_keep(mip, all, &kept)); /* all of them: the volume */
        tsr_volume *volume, *host;
        require_ok(tsr_mip_reconstruct(kept, &volume));
        require_ok(tsr_volume_copy(volume, NULL, &host));
        assert_memory_equal(tsr_volume_data(host), data, (size_t)(n.x * n.y * n.z) * tsr_dtype_size(dtype));
        tsr_volume_destroy(&host);
        tsr_volume_destroy(&volume);
        tsr_mip_destroy(&kept);
        tsr_mip_destroy(&mip);
        free(data);
    }
    tsr_context_destroy(&context);
}

static int stop_at_order(void *user, double fraction, const char *stage)
{
    (void)user;
    (void)fraction;
    return !strcmp(stage, "order");
}

static void bad_input(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    tsr_context *context = test_context();
    uint8_t *data = random_values(TSR_U8, (tsr_size3){ SIDE, SIDE, SIDE }, &seed);
    tsr_volume *volume = on_device(context, TSR_U8, (tsr_size3){ SIDE, SIDE, SIDE }, data);
    tsr_mip_options o = TSR_MIP_OPTIONS;
    tsr_mip *mip;
    o.key = (tsr_mip_key)6;
    require_error(tsr_mip_build(context, volume, &o, &mip), TSR_ERROR_ARGUMENT, "key is 6");
    o.key = TSR_MIP_KEY_GREEDY;
    o.progress.report = stop_at_order;
    require_error(tsr_mip_build(context, volume, &o, &mip), TSR_ERROR_CANCELLED, "cancelled during order");
    assert_null(mip);
    require_error(tsr_mip_keep(NULL, 1, &mip), TSR_ERROR_ARGUMENT, "mip is NULL");
    tsr_volume_destroy(&volume);
    free(data);
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(greedy_is_its_definition), cmocka_unit_test(greedy_is_best),
                                        cmocka_unit_test(none_is_by_value), cmocka_unit_test(kept_draws_the_first), cmocka_unit_test(bad_input) };
    return cmocka_run_group_tests_name("mip_order", tests, scratch_make, scratch_remove);
}
