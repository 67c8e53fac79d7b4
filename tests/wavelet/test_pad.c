/* Volumes padded as Dirac pads pictures (docs/theory/wavelets.md 4): coefficients worked out by hand, the way back to the extents before, metadata that lie. */
#include "context.h"

static tsr_volume *on_host(const tsr_volume *v)
{
    tsr_volume *copy = NULL;
    require_ok(tsr_volume_copy(v, NULL, &copy));
    return copy;
}

static tsr_volume *volume_of(tsr_dtype dtype, tsr_size3 size, uint64_t *random) /* on the device; 1, 2, 3, ... without random */
{
    tsr_volume *v = NULL, *moved = NULL;
    require_ok(tsr_volume_create(NULL, dtype, size, NULL, &v));
    for (int64_t i = 0; i < tsr_volume_count(v); i++) {
        const int value = random ? (int)(test_random(random) % 200) : (int)i + 1;
        if (dtype == TSR_U8) ((uint8_t *)tsr_volume_data(v))[i] = (uint8_t)value;
        else ((int16_t *)tsr_volume_data(v))[i] = (int16_t)(value - 100);
    }
    require_ok(tsr_volume_copy(v, context, &moved));
    tsr_volume_destroy(&v);
    return moved;
}

/* 5 x 3 samples 1 to 15 become 6 x 4; one level of Haar: s = (a + b + 1) >> 1, d = b - a, along x, then y. */
static void by_hand(void **state)
{
    (void)state;
    static const int16_t expected[4][6] = { { 5, 7, 8, 1, 1, 0 }, { 12, 14, 15, 1, 1, 0 }, { 5, 5, 5, 0, 0, 0 }, { 0, 0, 0, 0, 0, 0 } };
    tsr_wavelet_options o = TSR_WAVELET_OPTIONS;
    tsr_volume *v = volume_of(TSR_U8, (tsr_size3){ 5, 3, 1 }, NULL), *c = NULL, *back = NULL;
    o.filter = TSR_WAVELET_HAAR;
    o.levels = 1;
    o.accuracy = -1;
    o.pad = TSR_WAVELET_PAD_DIRAC;
    require_ok(tsr_volume_dwt(context, v, &o, TSR_I16, &c));
    assert_string_equal(tsr_volume_meta(c, "wavelet.size"), "5 3 1");
    tsr_volume *coefficients = on_host(c);
    assert_true(tsr_volume_size(coefficients).x == 6 && tsr_volume_size(coefficients).y == 4 && tsr_volume_size(coefficients).z == 1);
    assert_memory_equal(tsr_volume_data_const(coefficients), expected, sizeof expected);
    require_ok(tsr_volume_idwt(context, c, &back));
    assert_null(tsr_volume_meta(back, "wavelet.size"));
    tsr_volume *samples = on_host(back);
    assert_true(tsr_volume_size(samples).x == 5 && tsr_volume_size(samples).y == 3 && tsr_volume_dtype(samples) == TSR_U8);
    for (int i = 0; i < 15; i++) assert_int_equal(((const uint8_t *)tsr_volume_data_const(samples))[i], i + 1);
    tsr_volume_destroy(&samples);
    tsr_volume_destroy(&coefficients);
    tsr_volume_destroy(&back);
    tsr_volume_destroy(&c);
    tsr_volume_destroy(&v);
}

/* All filters: extents of the padded volume, periodic ones among them, and all voxels back. */
static void there_and_back(void **state)
{
    (void)state;
    static const struct {
        tsr_size3 size, padded;
        int32_t levels;
        uint32_t axes;
    } cases[] = { { { 13, 9, 5 }, { 16, 12, 8 }, 2, 0 },
                  { { 16, 7, 3 }, { 16, 8, 3 }, 3, 3 },
                  { { 9, 1, 6 }, { 16, 1, 8 }, 3, 0 },
                  { { 8, 24, 16 }, { 8, 24, 16 }, 3, 0 } };
    uint64_t random = test_seed();
    for (int c = 0; c < 4; c++)
        for (int f = 0; f < TSR_WAVELET_CUSTOM; f++) {
            tsr_wavelet_options o = TSR_WAVELET_OPTIONS;
            tsr_volume *v = volume_of(f & 1 ? TSR_I16 : TSR_U8, cases[c].size, &random), *d = NULL, *back = NULL;
            o.filter = (tsr_wavelet_filter)f;
            o.levels = cases[c].levels;
            o.axes = cases[c].axes;
            o.pad = TSR_WAVELET_PAD_DIRAC;
            o.boundary = TSR_WAVELET_PERIODIC; /* asks for even lengths at each level */
            require_ok(tsr_volume_dwt(context, v, &o, TSR_I32, &d));
            const tsr_size3 is = tsr_volume_size(d), to = cases[c].padded;
            assert_true(is.x == to.x && is.y == to.y && is.z == to.z);
            assert_int_equal(tsr_volume_meta(d, "wavelet.size") != NULL, c != 3);
            require_ok(tsr_volume_idwt(context, d, &back));
            tsr_volume *a = on_host(v), *b = on_host(back);
            assert_int_equal(tsr_volume_count(a), tsr_volume_count(b));
            assert_memory_equal(tsr_volume_data_const(a), tsr_volume_data_const(b),
                                (size_t)tsr_volume_count(a) * tsr_dtype_size(tsr_volume_dtype(a)));
            tsr_volume_destroy(&a);
            tsr_volume_destroy(&b);
            tsr_volume_destroy(&back);
            tsr_volume_destroy(&d);
            tsr_volume_destroy(&v);
        }
}

static void wrong(void **state)
{
    (void)state;
    static const char *const sizes[] = { "5 3", "0 3 1", "5 3 1 1", "7 4 1", "4 3 1", "99999999999999999999 3 1", "x" };
    const int64_t extents[2] = { 8, 8 };
    tsr_wavelet_options o = TSR_WAVELET_OPTIONS;
    tsr_volume *v = volume_of(TSR_U8, (tsr_size3){ 5, 3, 1 }, NULL), *c = NULL, *back = NULL;
    tsr_wavelet_plan *plan = NULL;
    o.pad = TSR_WAVELET_PAD_DIRAC;
    require_error(tsr_wavelet_plan_create(context, TSR_I16, 2, extents, &o, &plan), TSR_ERROR_ARGUMENT, "pad is 1, expected 0");
    o.levels = 9;
    require_error(tsr_volume_dwt(context, v, &o, TSR_I16, &c), TSR_ERROR_ARGUMENT, "levels is 9, expected 0 to 3");
    o.levels = 1;
    o.pad = (tsr_wavelet_pad)7;
    require_error(tsr_volume_dwt(context, v, &o, TSR_I16, &c), TSR_ERROR_ARGUMENT, "pad is 7");
    require_ok(tsr_volume_dwt(context, v, NULL, TSR_DTYPE_COUNT, &c)); /* no options are those of zeros */
    tsr_volume_destroy(&c);
    o.pad = TSR_WAVELET_PAD_DIRAC;
    require_ok(tsr_volume_dwt(context, v, &o, TSR_I16, &c));
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        require_ok(tsr_volume_set_meta(c, "wavelet.size", sizes[k]));
        require_error(tsr_volume_idwt(context, c, &back), TSR_ERROR_ARGUMENT, "wavelet.size is");
        assert_null(back);
    }
    tsr_volume_destroy(&c);
    tsr_volume_destroy(&v);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(by_hand), cmocka_unit_test(there_and_back), cmocka_unit_test(wrong) };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
