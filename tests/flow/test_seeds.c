/* Seeds of stream lines: where each is, how evenly many lie, that random numbers of one axis say nothing of another's, and what is refused. */
#include "fields.h"
#include "tessera/streamlines.h"

static const tsr_size3 extents = { 13, 8, 5 };
static const tsr_vec3 spacing = { 0.5, 2, 1 }, origin = { -3, 1, 10 };
static tsr_vector_field *field_here(tsr_context *context)
{
    double rise = 1;
    return field_of(context, extents, spacing, origin, TSR_F32, helix_rule, &rise);
}

static void grids_and_lines(void **unused)
{
    (void)unused;
    tsr_context *context = test_context();
    tsr_vector_field *field = field_here(context);
    double *seeds;
    int64_t count;
    for (int32_t every = 0; every < 14; every++) { /* 0: every tenth */
        tsr_seed_options o = TSR_SEED_OPTIONS;
        const int32_t step = every ? every : 10;
        int64_t k = 0;
        o.every = every;
        require_ok(tsr_seeds_make(field, &o, &seeds, &count));
        for (int64_t z = 0; z < extents.z; z += step)
            for (int64_t y = 0; y < extents.y; y += step)
                for (int64_t x = 0; x < extents.x; x += step, k++) {
                    assert_true(k < count);
                    const double at[3] = { origin.x + spacing.x * (double)x, origin.y + spacing.y * (double)y, origin.z + spacing.z * (double)z };
                    for (int c = 0; c < 3; c++) assert_true(fabs(seeds[3 * k + c] - at[c]) < 1e-12);
                }
        assert_int_equal(count, k);
        tsr_seeds_destroy(&seeds);
    }
    for (int64_t n = 0; n < 6; n++) { /* one in the middle, two at the ends; 0: a hundred */
        tsr_seed_options o = TSR_SEED_OPTIONS;
        o.kind = TSR_SEED_LINE;
        o.count = n;
        o.point[0] = (tsr_vec3){ 1, 2, 3 };
        o.point[1] = (tsr_vec3){ 3, -2, 9 };
        require_ok(tsr_seeds_make(field, &o, &seeds, &count));
        assert_int_equal(count, n ? n : 100);
        for (int64_t k = 0; k < count; k++) {
            const double s = count == 1 ? 0.5 : (double)k / (double)(count - 1);
            assert_true(fabs(seeds[3 * k] - (1 + 2 * s)) + fabs(seeds[3 * k + 1] - (2 - 4 * s)) + fabs(seeds[3 * k + 2] - (3 + 6 * s)) < 1e-12);
        }
        tsr_seeds_destroy(&seeds);
    }
    for (int32_t across = 0; across < 4; across++)
        for (int32_t down = 0; down < 4; down++) {
            tsr_seed_options o = TSR_SEED_OPTIONS;
            const int32_t n[2] = { across ? across : 10, down ? down : 10 };
            o.kind = TSR_SEED_PLANE;
            o.resolution[0] = across;
            o.resolution[1] = down;
            o.point[0] = (tsr_vec3){ 1, 1, 1 };
            o.point[1] = (tsr_vec3){ 3, 1, 1 };
            o.point[2] = (tsr_vec3){ 1, 5, 2 };
            require_ok(tsr_seeds_make(field, &o, &seeds, &count));
            assert_int_equal(count, n[0] * n[1]);
            for (int64_t k = 0; k < count; k++) {
                const double a = n[0] == 1 ? 0.5 : (double)(k % n[0]) / (n[0] - 1), b = n[1] == 1 ? 0.5 : (double)(k / n[0]) / (n[1] - 1);
                assert_true(fabs(seeds[3 * k] - (1 + 2 * a)) + fabs(seeds[3 * k + 1] - (1 + 4 * b)) + fabs(seeds[3 * k + 2] - (1 + b)) < 1e-12);
            }
            tsr_seeds_destroy(&seeds);
        }
    tsr_field_destroy(&field);
    tsr_context_destroy(&context);
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Even over a sphere: steps of equal height, and nobody nearer to another than a good share of what the area allows. Balls and boxes: the moments of even
 * densities; no two numbers of any axis alike, and none says anything of the next or of another axis. */
static void spread(void **unused)
{
    (void)unused;
    enum { N = 1500 };
    tsr_context *context = test_context();
    tsr_vector_field *field = field_here(context);
    double *seeds, *other;
    static double u[3 * N], sorted[3 * N];
    int64_t count;
    tsr_seed_options o = TSR_SEED_OPTIONS;
    o.kind = TSR_SEED_SPHERE;
    o.count = N;
    o.radius = 3;
    o.point[0] = (tsr_vec3){ 1, 2, 3 };
    require_ok(tsr_seeds_make(field, &o, &seeds, &count));
    double nearest = 100;
    for (int64_t k = 0; k < N; k++) {
        const double d[3] = { seeds[3 * k] - 1, seeds[3 * k + 1] - 2, seeds[3 * k + 2] - 3 };
        assert_true(fabs(norm3(d) - 3) < 1e-12 && fabs(d[2] / 3 - (1 - (2.0 * (double)k + 1) / N)) < 1e-12);
        for (int64_t i = 0; i < k; i++) {
            const double e[3] = { seeds[3 * k] - seeds[3 * i], seeds[3 * k + 1] - seeds[3 * i + 1], seeds[3 * k + 2] - seeds[3 * i + 2] };
            nearest = fmin(nearest, norm3(e));
        }
    }
    assert_true(nearest > 0.8 * 3 * sqrt(4 * 3.14159265358979 / N)); /* a square of its share of the area; of the densest packing 1.07 */
    tsr_seeds_destroy(&seeds);
    for (int ball = 0; ball < 2; ball++)
        for (uint64_t seed = 0; seed < 3; seed++) {
            double mean[3] = { 0 }, cross[3][3] = { { 0 } }, next[3][3] = { { 0 } }, square = 0;
            o.kind = ball ? TSR_SEED_BALL : TSR_SEED_RANDOM;
            o.seed = seed;
            require_ok(tsr_seeds_make(field, &o, &seeds, &count));
            assert_int_equal(count, N);
            for (int64_t k = 0; k < N; k++) {
                const double p[3] = { seeds[3 * k], seeds[3 * k + 1], seeds[3 * k + 2] };
                const double low[3] = { origin.x, origin.y, origin.z }, side[3] = { 6, 14, 4 };
                for (int c = 0; c < 3; c++) { /* to -1 .. 1 */
                    u[3 * k + c] = ball ? (p[c] - (c + 1)) / 3 : 2 * (p[c] - low[c]) / side[c] - 1;
                    assert_true(u[3 * k + c] >= -1 && u[3 * k + c] <= 1);
                    mean[c] += u[3 * k + c] / N;
                }
                const double r2 = u[3 * k] * u[3 * k] + u[3 * k + 1] * u[3 * k + 1] + u[3 * k + 2] * u[3 * k + 2];
                square += r2 / N;
                if (ball) assert_true(r2 <= 1 + 1e-12);
            }
            for (int64_t k = 0; k + 1 < N; k++)
                for (int a = 0; a < 3; a++)
                    for (int b = 0; b < 3; b++) {
                        cross[a][b] += u[3 * k + a] * u[3 * k + b] / N;
                        next[a][b] += u[3 * k + a] * u[3 * k + 3 + b] / N;
                    }
            const double variance = ball ? 0.2 : 1.0 / 3; /* of one axis; five standard deviations of the mean of N products are 0.13 of it */
            assert_true(fabs(square - 3 * variance) < 0.1);
            for (int a = 0; a < 3; a++) {
                assert_true(fabs(mean[a]) < 5 * sqrt(variance / N));
                for (int b = 0; b < 3; b++) {
                    assert_true(fabs(cross[a][b] - (a == b) * variance) < 0.15 * variance);
                    assert_true(fabs(next[a][b]) < 0.15 * variance);
                }
            }
            memcpy(sorted, u, sizeof u);
            qsort(sorted, 3 * N, sizeof *sorted, by_value);
            for (int k = 1; k < 3 * N; k++) assert_true(sorted[k] - sorted[k - 1] > 1e-13);
            o.seed = seed + 1;
            require_ok(tsr_seeds_make(field, &o, &other, &count));
            for (int k = 0; k < 3 * N; k += 3) assert_true(seeds[k] != other[k]);
            tsr_seeds_destroy(&other);
            tsr_seeds_destroy(&seeds);
        }
    assert_null(seeds);
    tsr_seeds_destroy(&seeds);
    tsr_field_destroy(&field);
    tsr_context_destroy(&context);
}

static void refused(void **unused)
{
    (void)unused;
    tsr_context *context = test_context();
    tsr_vector_field *field = field_here(context);
    double *seeds;
    int64_t count;
    for (int way = 0; way < 20; way++) {
        tsr_seed_options o = TSR_SEED_OPTIONS;
        const char *text = NULL;
        o.kind = TSR_SEED_LINE;
        if (way == 0) o.kind = (tsr_seeding)6, text = "kind of seeds is 6";
        if (way == 1) o.kind = (tsr_seeding)-1, text = "kind of seeds is -1";
        if (way == 2) o.count = -1, text = "count of seeds is -1";
        if (way == 3) o.count = (int64_t)INT32_MAX + 1, text = "count of seeds is 2147483648";
        if (way == 4) o.every = -1, text = "every is -1";
        if (way == 5) o.resolution[0] = -1, text = "resolution is -1 x 0";
        if (way == 6) o.resolution[1] = -1, text = "resolution is 0 x -1";
        if (way == 7) o.resolution[0] = 30001, text = "resolution is 30001 x 0";
        if (way == 8) o.resolution[1] = 30001, text = "resolution is 0 x 30001";
        if (way == 9) o.resolution[0] = o.resolution[1] = 30000; /* of a line: nobody asks */
        if (way >= 10 && way < 13) o.point[way - 10].y = NAN, text = "is not finite";
        if (way == 13) o.kind = TSR_SEED_SPHERE, text = "radius is 0";
        if (way == 14) o.kind = TSR_SEED_BALL, o.radius = -1, text = "radius is -1";
        if (way == 15) o.kind = TSR_SEED_BALL, o.radius = INFINITY, text = "radius is inf";
        if (way == 16) o.kind = TSR_SEED_SPHERE, o.radius = NAN, text = "radius is";
        if (way == 17) o.point[0].x = INFINITY, text = "point 0 is not finite";
        if (way == 18) o.point[2].z = -INFINITY, text = "point 2 is not finite";
        if (text) {
            require_error(tsr_seeds_make(field, &o, &seeds, &count), TSR_ERROR_ARGUMENT, text);
            assert_null(seeds);
            assert_int_equal(count, 0);
        } else {
            require_ok(tsr_seeds_make(field, &o, &seeds, &count));
            tsr_seeds_destroy(&seeds);
        }
    }
    tsr_field_destroy(&field);
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(grids_and_lines), cmocka_unit_test(spread), cmocka_unit_test(refused) };
    return cmocka_run_group_tests_name("seeds", tests, NULL, NULL);
}
