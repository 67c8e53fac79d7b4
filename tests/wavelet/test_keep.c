/* The largest coefficients: against a sort of all of them, on every type, layout and filter; thresholds hard and soft; ties; the error that what is left
 * makes; errors. */
#include "context.h"

#include <math.h>

#include "tessera/compare.h"
#include "tessera/wavelet.h"

typedef struct entry {
    double magnitude;
    int64_t place;
    int detail;
    double weight;
} entry;

static tsr_volume *make(tsr_dtype dtype, tsr_size3 size, uint64_t *random, int kind)
{
    tsr_volume *v = NULL;
    require_ok(tsr_volume_create(NULL, dtype, size, NULL, &v));
    for (int64_t i = 0; i < tsr_volume_count(v); i++) {
        const int64_t x = i % size.x, y = i / size.x % size.y, z = i / size.x / size.y;
        const double d = (double)((x - 9) * (x - 9) + (y - 7) * (y - 7) + (z - 4) * (z - 4));
        const double k = kind == 2 ? 0 : kind == 1 ? (d < 30 ? 40 : 3) : (d < 30 ? 90 : 10) + 20 * test_uniform(random) + (double)x;
        if (dtype == TSR_I16) ((int16_t *)tsr_volume_data(v))[i] = (int16_t)k;
        else if (dtype == TSR_I32) ((int32_t *)tsr_volume_data(v))[i] = (int32_t)(1000 * k);
        else if (dtype == TSR_F32) ((float *)tsr_volume_data(v))[i] = (float)k;
        else ((double *)tsr_volume_data(v))[i] = k;
    }
    return v;
}

static double value_of(const tsr_volume *v, int64_t i)
{
    const void *data = tsr_volume_data_const(v);
    const tsr_dtype t = tsr_volume_dtype(v);
    return t == TSR_I16   ? ((const int16_t *)data)[i]
           : t == TSR_I32 ? ((const int32_t *)data)[i]
           : t == TSR_F32 ? (double)((const float *)data)[i]
                          : ((const double *)data)[i];
}

/* Every coefficient with its weight, from the bands of a plan. */
static entry *list(const tsr_volume *c, tsr_wavelet_options o)
{
    const tsr_size3 s = tsr_volume_size(c);
    const int64_t size[3] = { s.x, s.y, s.z }, n = tsr_volume_count(c);
    tsr_wavelet_plan *plan = NULL;
    tsr_wavelet_info info = TSR_WAVELET_INFO;
    entry *all = (entry *)calloc((size_t)n, sizeof *all);
    int64_t at = 0;
    o.pad = TSR_WAVELET_PAD_NONE;
    require_ok(tsr_wavelet_plan_create(context, tsr_volume_dtype(c), 3, size, &o, &plan));
    tsr_wavelet_plan_describe(plan, &info);
    for (int32_t k = 0; k < info.bands; k++) {
        tsr_wavelet_band b;
        require_ok(tsr_wavelet_plan_band(plan, k, &b));
        for (int64_t i = 0; i < b.size[0] * b.size[1] * b.size[2]; i++, at++) {
            const int64_t x = i % b.size[0], y = i / b.size[0] % b.size[1], z = i / b.size[0] / b.size[1];
            all[at].place = b.offset + x * b.stride[0] + y * b.stride[1] + z * b.stride[2];
            const double m = fabs(value_of(c, all[at].place)) * b.weight;
            all[at].magnitude = isfinite(m) ? m : HUGE_VAL;
            all[at].detail = b.high != 0;
            all[at].weight = b.weight;
        }
    }
    assert_int_equal(at, n);
    tsr_wavelet_plan_destroy(&plan);
    return all;
}

static int larger_first(const void *a, const void *b)
{
    const entry *p = (const entry *)a, *q = (const entry *)b;
    if (p->magnitude != q->magnitude) return p->magnitude > q->magnitude ? -1 : 1;
    return p->place < q->place ? -1 : p->place > q->place;
}

static const struct {
    tsr_dtype dtype;
    tsr_size3 size;
    int kind;
    tsr_wavelet_options o;
} cases[] = {
    { TSR_I16, { 33, 20, 17 }, 0, { .levels = 2 } },
    { TSR_I16, { 24, 16, 8 }, 1, { .filter = TSR_WAVELET_HAAR } }, /* most are equal to some other */
    { TSR_F32, { 32, 16, 16 }, 0, { .filter = TSR_WAVELET_HAAR, .normalise = 1, .layout = TSR_WAVELET_SPLIT } },
    { TSR_F64, { 19, 31, 5 }, 0, { .filter = TSR_WAVELET_DAUB97, .layout = TSR_WAVELET_INTERLEAVED } },
    { TSR_I32, { 40, 9, 11 }, 0, { .filter = TSR_WAVELET_JPEG53, .axes = 5, .levels = 3 } },
    { TSR_I16, { 500, 1, 1 }, 1, { .filter = TSR_WAVELET_DD137, .pad = TSR_WAVELET_PAD_DIRAC } },
    { TSR_F32, { 16, 16, 4 }, 2, { .levels = 1 } }, /* nothing but zeros */
    { TSR_F32, { 8, 8, 8 }, 0, { .levels = 3 } },   /* bands of one coefficient */
    { TSR_F64, { 3, 1, 2 }, 0, { .levels = 1 } },   /* bands of one, and of none */
};
enum { CASES = sizeof cases / sizeof *cases };

static tsr_volume *transform(const tsr_volume *v, const tsr_wavelet_options *options, tsr_volume **on_host)
{
    tsr_volume *moved = NULL, *c = NULL;
    tsr_wavelet_options o = *options;
    o.struct_size = sizeof o;
    require_ok(tsr_volume_copy(v, context, &moved));
    require_ok(tsr_volume_dwt(context, moved, &o, tsr_volume_dtype(v), &c));
    require_ok(tsr_volume_copy(c, NULL, on_host));
    tsr_volume_destroy(&moved);
    return c;
}

static void share(void **state)
{
    (void)state;
    static const double percent[] = { 10, 1e-6, 37.5, 99.99, 100 };
    uint64_t random = test_seed();
    for (int n = 0; n < CASES; n++)
        for (size_t p = 0; p < sizeof percent / sizeof *percent; p++) {
            tsr_volume *v = make(cases[n].dtype, cases[n].size, &random, cases[n].kind), *before, *after = NULL;
            tsr_wavelet_options o = cases[n].o;
            o.struct_size = sizeof o;
            tsr_volume *c = transform(v, &o, &before);
            const int64_t count = tsr_volume_count(c);
            int64_t kept = (int64_t)floor(percent[p] / 100 * (double)count + 0.5), nonzero = 0;
            if (kept < 1) kept = 1;
            tsr_wavelet_keep_options k = TSR_WAVELET_KEEP_OPTIONS;
            tsr_wavelet_keep_info info = TSR_WAVELET_KEEP_INFO;
            k.keep = percent[p];
            entry *all = list(before, o);
            qsort(all, (size_t)count, sizeof *all, larger_first);
            require_ok(tsr_wavelet_volume_keep(context, c, &k, &info));
            require_ok(tsr_volume_copy(c, NULL, &after));
            for (int64_t i = 0; i < count; i++) {
                const double is = value_of(after, all[i].place), should = i < kept ? value_of(before, all[i].place) : 0;
                if (is != should)
                    fail_msg("case %d, %g %%: coefficient %lld of rank %lld is %g, expected %g", n, percent[p], (long long)all[i].place, (long long)i,
                             is, should);
                nonzero += is != 0;
            }
            assert_int_equal(info.coefficients, count);
            assert_int_equal(info.kept, kept);
            assert_int_equal(info.nonzero, nonzero);
            assert_true(info.least == all[kept - 1].magnitude);
            free(all);
            tsr_volume_destroy(&after);
            tsr_volume_destroy(&before);
            tsr_volume_destroy(&c);
            tsr_volume_destroy(&v);
        }
}

static void threshold(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    for (int n = 0; n < CASES; n++)
        for (int soft = 0; soft < 2; soft++) {
            tsr_volume *v = make(cases[n].dtype, cases[n].size, &random, cases[n].kind), *before, *after = NULL;
            tsr_wavelet_options o = cases[n].o;
            o.struct_size = sizeof o;
            tsr_volume *c = transform(v, &o, &before);
            const int64_t count = tsr_volume_count(c);
            const int whole = tsr_volume_dtype(c) == TSR_I16 || tsr_volume_dtype(c) == TSR_I32;
            tsr_wavelet_keep_options k = { .struct_size = sizeof k, .cut = cases[n].dtype == TSR_I32 ? 6543.5 : 7.25, .soft = soft };
            tsr_wavelet_keep_info info = TSR_WAVELET_KEEP_INFO;
            int64_t nonzero = 0, gone = 0;
            entry *all = list(before, o);
            require_ok(tsr_wavelet_volume_keep(context, c, &k, &info));
            require_ok(tsr_volume_copy(c, NULL, &after));
            for (int64_t i = 0; i < count; i++) {
                const double was = value_of(before, all[i].place), is = value_of(after, all[i].place), by = soft ? k.cut / all[i].weight : 0;
                const double should = !all[i].detail ? was : all[i].magnitude < k.cut ? 0 : was < 0 ? was + by : was - by;
                const double slack = all[i].detail && soft ? (whole ? 0.5 : 0) + 1e-5 : 0;
                if (!(fabs(is - should) <= slack)) fail_msg("case %d: coefficient %lld is %g, expected %g", n, (long long)all[i].place, is, should);
                nonzero += is != 0;
                gone += was != 0 && is == 0;
            }
            if (!cases[n].kind) assert_true(gone > count / 50);
            assert_int_equal(info.nonzero, nonzero);
            assert_true(info.least == k.cut);
            free(all);
            tsr_volume_destroy(&after);
            tsr_volume_destroy(&before);
            tsr_volume_destroy(&c);
            tsr_volume_destroy(&v);
        }
}

/* More coefficients never make the volume worse, and of an orthonormal transform the squared error is what the lost ones held. */
static void compaction(void **state)
{
    (void)state;
    static const double percent[] = { 0.5, 1, 2, 5, 10, 25, 60, 100 };
    uint64_t random = test_seed();
    tsr_volume *v = make(TSR_F32, (tsr_size3){ 32, 32, 16 }, &random, 0);
    for (int filter = 0; filter < 2; filter++) {
        double last = HUGE_VAL;
        for (size_t p = 0; p < sizeof percent / sizeof *percent; p++) {
            const tsr_wavelet_options o = { .struct_size = sizeof o,
                                            .filter = filter ? TSR_WAVELET_DAUB97 : TSR_WAVELET_HAAR,
                                            .levels = 3,
                                            .boundary = TSR_WAVELET_SYMMETRIC,
                                            .normalise = 1 };
            const tsr_wavelet_keep_options k = { .struct_size = sizeof k, .keep = percent[p] };
            tsr_volume *before, *after = NULL, *c = transform(v, &o, &before), *back = NULL, *samples = NULL;
            double lost = 0, error = 0;
            require_ok(tsr_wavelet_volume_keep(context, c, &k, NULL));
            require_ok(tsr_volume_idwt(context, c, &back));
            require_ok(tsr_volume_copy(c, NULL, &after));
            require_ok(tsr_volume_copy(back, NULL, &samples));
            for (int64_t i = 0; i < tsr_volume_count(v); i++) {
                const double d = value_of(samples, i) - value_of(v, i), e = value_of(after, i) - value_of(before, i);
                error += d * d;
                lost += e * e;
            }
            assert_true(error <= last);
            if (!filter) assert_true(fabs(error - lost) <= 1e-5 * lost + 1e-4);
            last = error;
            tsr_volume_destroy(&samples);
            tsr_volume_destroy(&after);
            tsr_volume_destroy(&back);
            tsr_volume_destroy(&before);
            tsr_volume_destroy(&c);
        }
        assert_true(last < 1e-3);
    }
    tsr_volume_destroy(&v);
}

/* Coefficients that left float32, or came from elsewhere: no transform takes voxels that are not finite. */
static tsr_volume *poisoned(const tsr_volume *v, const tsr_wavelet_options *o, tsr_volume **on_host)
{
    tsr_volume *c = transform(v, o, on_host);
    tsr_volume_destroy(&c);
    for (int i = 0; i < 8; i++) ((float *)tsr_volume_data(*on_host))[37 + 51 * i] = i % 3 ? NAN : i % 2 ? INFINITY : -INFINITY;
    require_ok(tsr_volume_copy(*on_host, context, &c));
    return c;
}

/* What is not finite ranks first, in the order of memory. */
static void not_finite(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    tsr_volume *v = make(TSR_F32, (tsr_size3){ 16, 8, 4 }, &random, 0), *before;
    const tsr_wavelet_options o = { .struct_size = sizeof o, .levels = 1 };
    tsr_volume *c = poisoned(v, &o, &before), *after = NULL;
    const int64_t count = tsr_volume_count(v);
    int64_t wild = 0;
    for (int64_t i = 0; i < count; i++) wild += !isfinite(value_of(before, i));
    assert_true(wild > 4 && wild < count / 2);
    const tsr_wavelet_keep_options k = { .struct_size = sizeof k, .keep = 100.0 * (double)(wild - 2) / (double)count };
    tsr_wavelet_keep_info info = TSR_WAVELET_KEEP_INFO;
    require_ok(tsr_wavelet_volume_keep(context, c, &k, &info));
    require_ok(tsr_volume_copy(c, NULL, &after));
    assert_int_equal(info.kept, wild - 2);
    assert_true(isinf(info.least));
    int64_t left = wild - 2;
    for (int64_t i = 0; i < count; i++) {
        const int stays = !isfinite(value_of(before, i)) && left > 0;
        assert_true(stays ? !isfinite(value_of(after, i)) : value_of(after, i) == 0);
        left -= stays;
    }
    tsr_volume_destroy(&after);
    tsr_volume_destroy(&before);
    tsr_volume_destroy(&c);
    for (int soft = 0; soft < 2; soft++) { /* a threshold leaves it as it is, hard and soft */
        const tsr_wavelet_keep_options cut = { .struct_size = sizeof cut, .cut = 30, .soft = soft };
        int64_t zeros = 0;
        c = poisoned(v, &o, &before);
        require_ok(tsr_wavelet_volume_keep(context, c, &cut, &info));
        require_ok(tsr_volume_copy(c, NULL, &after));
        for (int64_t i = 0; i < count; i++) {
            const double was = value_of(before, i), is = value_of(after, i);
            zeros += is == 0;
            if (isnan(was)) assert_true(isnan(is));
            else if (isinf(was)) assert_true(is == was);
        }
        assert_int_equal(info.nonzero, count - zeros);
        tsr_volume_destroy(&after);
        tsr_volume_destroy(&before);
        tsr_volume_destroy(&c);
    }
    tsr_volume_destroy(&v);
}

static int stop(void *user, double fraction, const char *stage)
{
    (void)stage;
    ++*(int *)user;
    assert_true(fraction >= 0 && fraction <= 1);
    return *(int *)user == 3;
}

static void errors(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    tsr_volume *v = make(TSR_I16, (tsr_size3){ 16, 8, 4 }, &random, 0), *before, *after = NULL, *moved = NULL;
    const tsr_wavelet_options o = { .struct_size = sizeof o };
    tsr_volume *c = transform(v, &o, &before);
    tsr_wavelet_keep_options k = TSR_WAVELET_KEEP_OPTIONS;
    int calls = 0;
    require_error(tsr_wavelet_volume_keep(context, c, NULL, NULL), TSR_ERROR_ARGUMENT, "keep is 0 and cut is 0");
    k.keep = 101;
    require_error(tsr_wavelet_volume_keep(context, c, &k, NULL), TSR_ERROR_ARGUMENT, "keep is 101, expected above 0 to 100");
    k.keep = (double)NAN;
    require_error(tsr_wavelet_volume_keep(context, c, &k, NULL), TSR_ERROR_ARGUMENT, "keep is");
    k.keep = 5;
    k.soft = 1;
    require_error(tsr_wavelet_volume_keep(context, c, &k, NULL), TSR_ERROR_ARGUMENT, "soft");
    k.soft = 0;
    k.cut = 2;
    require_error(tsr_wavelet_volume_keep(context, c, &k, NULL), TSR_ERROR_ARGUMENT, "expected one of them");
    k.cut = -1;
    require_error(tsr_wavelet_volume_keep(context, c, &k, NULL), TSR_ERROR_ARGUMENT, "cut is -1");
    k.cut = 0;
    require_ok(tsr_volume_copy(v, context, &moved));
    require_error(tsr_wavelet_volume_keep(context, moved, &k, NULL), TSR_ERROR_ARGUMENT, "wavelet.filter");
    k.progress = (tsr_progress){ stop, &calls };
    require_error(tsr_wavelet_volume_keep(context, c, &k, NULL), TSR_ERROR_CANCELLED, "cancelled during selecting");
    require_ok(tsr_volume_copy(c, NULL, &after));
    assert_memory_equal(tsr_volume_data_const(before), tsr_volume_data_const(after), (size_t)tsr_volume_count(v) * 2);
    tsr_volume_destroy(&moved);
    tsr_volume_destroy(&after);
    tsr_volume_destroy(&before);
    tsr_volume_destroy(&c);
    tsr_volume_destroy(&v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(share), cmocka_unit_test(threshold), cmocka_unit_test(compaction), cmocka_unit_test(not_finite), cmocka_unit_test(errors),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
