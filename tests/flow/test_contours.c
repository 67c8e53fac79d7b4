/* Contours against linear fields, whose seeds lie on known lines and sheets, against a second solver that eliminates the other way round, and against the
 * analytic derivatives of the ABC flow. */
#include "fields.h"

#include "device/isa.h"

static tsr_contour_view along(double x, double y, double z) { return (tsr_contour_view){ .direction = { x, y, z } }; }

static double focus_matrix[9] = { 0.3, -1, 0, 1, 0.3, 0, 0, 0, 0.5 };
static double saddle_matrix[9] = { -0.25, 0, -0.75, 0, 1, 0, -0.75, 0, -0.25 };

static tsr_vector_field *linear_field(tsr_context *context, int64_t n, double matrix[9])
{
    const double h = 2.0 / (double)(n - 1);
    return field_of(context, (tsr_size3){ n, n, n }, (tsr_vec3){ h, h, h }, (tsr_vec3){ -1, -1, -1 }, TSR_F64, linear_rule, matrix);
}

/* Grid planes that the line t d through the middle of the box crosses inside it; -1 where the answer hangs on rounding. */
static int64_t crossings(const double d[3], int64_t n)
{
    int64_t count = 0;
    for (int axis = 0; axis < 3; axis++)
        for (int64_t k = 0; k < n; k++) {
            const double plane = -1 + 2.0 * (double)k / (double)(n - 1);
            double most = 0;
            for (int o = 0; o < 3; o++)
                if (o != axis) most = fmax(most, fabs(d[o] * plane / d[axis]));
            if (fabs(most - 1) < 1e-3) return -1;
            count += most < 1;
        }
    return count;
}

/* Where A^T r and (A^T)^2 r are both perpendicular to x. */
static void seed_line(const double a[9], const double r[3], double d[3])
{
    double s[3], t[3];
    for (int i = 0; i < 3; i++) s[i] = a[i] * r[0] + a[3 + i] * r[1] + a[6 + i] * r[2];
    for (int i = 0; i < 3; i++) t[i] = a[i] * s[0] + a[3 + i] * s[1] + a[6 + i] * s[2];
    cross(s, t, d);
}

static void linear_counts(void **unused)
{
    uint64_t state = test_seed();
    tsr_context *context = test_context();
    const int rounds = test_is_slow() ? 4 : 40;
    int looked = 0;
    (void)unused;
    for (int round = 0; round < rounds; round++) {
        double a[9], r[3], d[3];
        const int64_t n = test_is_slow() ? 8 : 8 + 2 * (int64_t)(test_random(&state) % 13);
        for (int k = 0; k < 9; k++) a[k] = 2 * test_uniform(&state) - 1;
        for (int k = 0; k < 3; k++) r[k] = 2 * test_uniform(&state) - 1;
        seed_line(a, r, d);
        const int64_t expected = crossings(d, n);
        if (expected < 0) continue;
        tsr_vector_field *field = linear_field(context, n, a);
        tsr_contours *c;
        tsr_contour_info info = TSR_CONTOUR_INFO;
        const tsr_contour_view view = along(r[0], r[1], r[2]);
        require_ok(tsr_contours_create(field, NULL, &c));
        require_ok(tsr_contours_update(c, &view, &info));
        if (info.seeds != expected || info.coincident) fail_msg("%lld seeds (%lld coincident), expected %lld", (long long)info.seeds, (long long)info.coincident, (long long)expected);
        int64_t count;
        tsr_contour_seed *seeds = seeds_of(c, &count);
        for (int64_t k = 0; k < count; k++) { /* on the line, but for the float32 of v and w */
            double p[3], off[3];
            for (int i = 0; i < 3; i++) p[i] = seeds[k].at[i] - 0.5 * (double)(n - 1);
            cross(p, d, off);
            if (norm3(off) / norm3(d) > 3e-3) fail_msg("seed %lld lies %g cells off its line", (long long)k, norm3(off) / norm3(d));
        }
        looked++;
        free(seeds);
        tsr_contours_destroy(&c);
        tsr_field_destroy(&field);
    }
    assert_true(looked > rounds / 2);
    /* 32 + 12 + 10 planes */
    assert_int_equal(crossings((const double[]){ 0.363, 0.309, 1 }, 32), 54);
    tsr_context_destroy(&context);
}

/* With numbers that float32 holds exactly the seeds are exact, too. */
static void exact_line(void **unused)
{
    double a[9] = { 0.5, -1, 0.25, 1, 0.5, -0.75, 0.125, 0.25, -0.5 }, r[3] = { 1, 0.5, 2 }, d[3];
    const int64_t n = test_is_slow() ? 8 : 32;
    const double middle = 0.5 * (double)(n - 1);
    tsr_context *context = test_context();
    tsr_vector_field *field = field_of(context, (tsr_size3){ n, n, n }, (tsr_vec3){ 1, 1, 1 }, (tsr_vec3){ -middle, -middle, -middle }, TSR_F64, linear_rule, a);
    tsr_contours *c;
    const tsr_contour_view view = { .direction = { 1, 0.5, 2 } };
    int64_t count;
    double worst = 0;
    (void)unused;
    seed_line(a, r, d);
    require_ok(tsr_contours_create(field, NULL, &c));
    require_ok(tsr_contours_update(c, &view, NULL));
    tsr_contour_seed *seeds = seeds_of(c, &count);
    assert_true(count >= n / 2);
    for (int64_t k = 0; k < count; k++) {
        double p[3], off[3];
        for (int i = 0; i < 3; i++) p[i] = seeds[k].at[i] - middle;
        cross(p, d, off);
        worst = fmax(worst, norm3(off) / norm3(d));
    }
    print_message("farthest seed from its line: %.2g cells\n", worst);
    assert_true(worst < 1e-5); /* r is rounded to float32 */
    free(seeds);
    tsr_contours_destroy(&c);
    tsr_field_destroy(&field);
    tsr_context_destroy(&context);
}

/* An eigenplane seen along its normal: seeds fill it, 2 n (n - 1) of them, whether it lies between samples or on them. */
static void eigenplane_counts(void **unused)
{
    static const int64_t sizes[] = { 8, 9, 32, 33, 64 };
    tsr_context *context = test_context();
    (void)unused;
    for (int k = 0; k < (test_is_slow() ? 2 : 5); k++) {
        const int64_t n = sizes[k];
        tsr_vector_field *field = linear_field(context, n, focus_matrix);
        tsr_contour_options none = TSR_CONTOUR_OPTIONS;
        tsr_contours *c;
        tsr_contour_info info = TSR_CONTOUR_INFO;
        const tsr_contour_view view = along(0, 0, 1), back = along(0, 0, -3);
        require_ok(tsr_contours_create(field, NULL, &c));
        require_ok(tsr_contours_update(c, &view, &info));
        assert_int_equal(info.seeds, 2 * n * (n - 1));
        assert_int_equal(info.coincident, info.seeds);
        require_ok(tsr_contours_update(c, &back, &info));
        assert_int_equal(info.coincident, 2 * n * (n - 1));
        int64_t count;
        tsr_contour_seed *seeds = seeds_of(c, &count);
        for (int64_t i = 0; i < count; i++) assert_true(fabs(seeds[i].at[2] - 0.5 * (double)(n - 1)) < 1e-5 && seeds[i].coincident == 1 && seeds[i].angle == 1);
        free(seeds);
        tsr_contours_destroy(&c);
        none.coincidence = -1;
        require_ok(tsr_contours_create(field, &none, &c));
        require_ok(tsr_contours_update(c, &view, &info));
        assert_int_equal(info.coincident, 0);
        tsr_contours_destroy(&c);
        tsr_field_destroy(&field);
    }
    tsr_context_destroy(&context);
}

static void finds_eigenplanes(void **unused)
{
    tsr_context *context = test_context();
    (void)unused;
    if (!test_is_slow())
        for (int k = 0; k < 2; k++) {
            tsr_vector_field *field = linear_field(context, 12, k ? saddle_matrix : focus_matrix);
            const double expected[2][3] = { { 0, 0, 1 }, { sqrt(0.5), 0, -sqrt(0.5) } };
            tsr_contours *c;
            tsr_eigenplanes found;
            tsr_eigenplane_options o = TSR_EIGENPLANE_OPTIONS;
            tsr_image picture;
            o.views = 200;
            o.planes = 1 + 2 * k;
            o.refinements = 9;
            require_ok(tsr_contours_create(field, NULL, &c));
            require_ok(tsr_contours_eigenplanes(c, &o, &found));
            double best = 0;
            for (int32_t p = 0; p < found.count; p++) {
                const double n[3] = { found.planes[p].normal.x, found.planes[p].normal.y, found.planes[p].normal.z };
                best = fmax(best, fabs(dot3(n, expected[k])));
                print_message("normal %.5f %.5f %.5f, %lld coincident, score %g\n", n[0], n[1], n[2], (long long)found.planes[p].coincident, found.planes[p].score);
            }
            assert_true(found.count >= 1 && best > 1 - 1e-6);
            require_ok(tsr_eigenplanes_picture(&found, 0, 64, &picture));
            assert_int_equal(picture.width, 64);
            tsr_image_destroy(&picture);
            tsr_eigenplanes_destroy(&found);
            tsr_contours_destroy(&c);
            tsr_field_destroy(&field);
        }
    tsr_context_destroy(&context);
}

/* ---- a second solver -------------------------------------------------------------------------------------------------------------------- */

/* Common zeros of two bilinear functions by elimination of u. */
static int solve_other(const double s[4], const double t[4], double u[2], double q[2])
{
    const double a[4] = { s[0], s[1] - s[0], s[2] - s[0], s[3] - s[2] - s[1] + s[0] }, b[4] = { t[0], t[1] - t[0], t[2] - t[0], t[3] - t[2] - t[1] + t[0] };
    const double A = a[3] * b[2] - a[2] * b[3], B = a[3] * b[0] + a[1] * b[2] - a[2] * b[1] - a[0] * b[3], C = a[1] * b[0] - a[0] * b[1];
    double roots[2];
    int n = 0, found = 0;
    if (fabs(A) < 1e-14 * (fabs(B) + fabs(C))) {
        if (B != 0) roots[n++] = -C / B;
    } else if (B * B - 4 * A * C >= 0) {
        const double root = sqrt(B * B - 4 * A * C);
        roots[n++] = (-B - root) / (2 * A);
        roots[n++] = (-B + root) / (2 * A);
    }
    for (int k = 0; k < n; k++) {
        const double y = roots[k], ds = a[1] + a[3] * y, dt = b[1] + b[3] * y;
        const double x = fabs(ds) > fabs(dt) ? -(a[0] + a[2] * y) / ds : -(b[0] + b[2] * y) / dt;
        if (x >= 0 && x < 1 && y >= 0 && y < 1) {
            u[found] = x;
            q[found++] = y;
        }
    }
    return found;
}

static void second_solver(void **unused)
{
    tsr_context *context = test_context();
    const int64_t n = test_is_slow() ? 10 : 28;
    tsr_vector_field *field = abc_field(context, n);
    tsr_contours *c;
    (void)unused;
    require_ok(tsr_contours_create(field, NULL, &c));
    for (int round = 0; round < 3; round++) {
        tsr_contour_view view = along(0.3 + round, -0.7, 0.9 - round);
        if (round == 2) view = (tsr_contour_view){ .perspective = 1, .eye = { 3, 9, 4 } };
        tsr_volume *s, *t;
        int64_t count, at = 0, faces_seen = 0;
        double worst = 0;
        require_ok(tsr_contours_volume(c, &view, 0, &s));
        require_ok(tsr_contours_volume(c, &view, 1, &t));
        require_ok(tsr_contours_update(c, &view, NULL));
        float *sv = host_copy(s), *tv = host_copy(t);
        tsr_contour_seed *seeds = seeds_of(c, &count);
        assert_true(count > 10);
        for (int64_t i = 0; i < n * n * n; i++) {
            const int64_t p[3] = { i % n, i / n % n, i / n / n }, stride[3] = { 1, n, n * n };
            for (int face = 0; face < 3; face++) {
                const int ua = face == 2, qa = face == 0 ? 1 : 2;
                double sc[4], tc[4], u[2], q[2], scale[2] = { 0, 0 };
                if (p[ua] + 1 >= n || p[qa] + 1 >= n) continue;
                for (int k = 0; k < 4; k++) {
                    const int64_t from = i + (k & 1) * stride[ua] + (k >> 1) * stride[qa];
                    sc[k] = (double)sv[from];
                    tc[k] = (double)tv[from];
                    scale[0] = fmax(scale[0], fabs(sc[k]));
                    scale[1] = fmax(scale[1], fabs(tc[k]));
                }
                const int found = solve_other(sc, tc, u, q);
                faces_seen++;
                for (int k = 0; k < found; k++) {
                    if (at >= count) fail_msg("the list ends before the seeds do");
                    int match = -1; /* the two of a face come in the order of u */
                    for (int m = 0; m < 2 && at + m < count && match < 0; m++) {
                        double off = 0;
                        for (int axis = 0; axis < 3; axis++) off = fmax(off, fabs(seeds[at + m].at[axis] - ((double)p[axis] + (axis == ua ? u[k] : axis == qa ? q[k] : 0))));
                        if (off < 1e-5 && seeds[at + m].vertex == i && seeds[at + m].face == face) match = m;
                    }
                    if (match < 0) fail_msg("face %d of sample %lld: a seed at %g, %g is not in the list", face, (long long)i, u[k], q[k]);
                }
                for (int k = 0; k < found; k++, at++) { /* S and T vanish there */
                    const double x = seeds[at].at[ua] - (double)p[ua], y = seeds[at].at[qa] - (double)p[qa];
                    for (int w = 0; w < 2; w++) {
                        const double *v = w ? tc : sc;
                        worst = fmax(worst, fabs((1 - y) * ((1 - x) * v[0] + x * v[1]) + y * ((1 - x) * v[2] + x * v[3])) / scale[w]);
                    }
                }
            }
        }
        if (at != count) fail_msg("%lld seeds in the list, %lld on the faces", (long long)count, (long long)at);
        print_message("%lld seeds on %lld faces, residual %.2g\n", (long long)count, (long long)faces_seen, worst);
        assert_true(worst < 1e-12);
        free(seeds);
        free(sv);
        free(tv);
        tsr_volume_destroy(&s);
        tsr_volume_destroy(&t);
    }
    tsr_contours_destroy(&c);
    tsr_field_destroy(&field);
    tsr_context_destroy(&context);
}

/* ---- invariance ------------------------------------------------------------------------------------------------------------------------- */

static int by_place(const void *a, const void *b)
{
    const tsr_contour_seed *x = a, *y = b;
    for (int i = 0; i < 3; i++) {
        const double p = floor(x->at[i] * 1e3 + 0.5), q = floor(y->at[i] * 1e3 + 0.5);
        if (p != q) return (p > q) - (p < q);
    }
    return 0;
}

/* The field turned by 90 degrees about z: v'(R p) = R v(p). */
static void turned_rule(void *user, const double p[3], double v[3])
{
    const double back[3] = { p[1], -p[0], p[2] };
    double own[3];
    linear_rule(user, back, own);
    for (int k = 0; k < 3; k++) own[k] += 0.3 * back[(k + 1) % 3] * back[(k + 2) % 3];
    v[0] = -own[1];
    v[1] = own[0];
    v[2] = own[2];
}
static void unturned_rule(void *user, const double p[3], double v[3])
{
    linear_rule(user, p, v);
    for (int k = 0; k < 3; k++) v[k] += 0.3 * p[(k + 1) % 3] * p[(k + 2) % 3];
}

static void invariant(void **unused)
{
    const int64_t n = test_is_slow() ? 8 : 24;
    const double h = 2.0 / (double)(n - 1);
    tsr_context *context = test_context();
    const tsr_size3 size = { n, n, n };
    const tsr_vec3 spacing = { h, h, h }, origin = { -1, -1, -1 };
    double a[9] = { 0.31, -0.83, 0.27, 0.71, 0.19, -0.43, 0.11, 0.57, -0.61 };
    tsr_vector_field *field = field_of(context, size, spacing, origin, TSR_F64, unturned_rule, a);
    tsr_vector_field *turned = field_of(context, size, spacing, origin, TSR_F64, turned_rule, a);
    tsr_contours *c, *d;
    int64_t count[4];
    tsr_contour_seed *seeds[4];
    (void)unused;
    require_ok(tsr_contours_create(field, NULL, &c));
    require_ok(tsr_contours_create(turned, NULL, &d));
    const tsr_contour_view views[4] = { along(0.4, 0.7, -0.5), along(-0.4, -0.7, 0.5), along(1.6, 2.8, -2), along(-0.7, 0.4, -0.5) };
    for (int k = 0; k < 4; k++) {
        require_ok(tsr_contours_update(k < 3 ? c : d, &views[k], NULL));
        seeds[k] = seeds_of(k < 3 ? c : d, &count[k]);
    }
    assert_true(count[0] > 5);
    for (int k = 1; k < 3; k++) { /* the other way, and another length */
        assert_int_equal(count[k], count[0]);
        assert_memory_equal(seeds[k], seeds[0], (size_t)count[0] * sizeof **seeds);
    }
    assert_int_equal(count[3], count[0]);
    for (int64_t k = 0; k < count[0]; k++) { /* R of the seed */
        const double x = seeds[0][k].at[0];
        seeds[0][k].at[0] = (double)(n - 1) - seeds[0][k].at[1];
        seeds[0][k].at[1] = x;
    }
    qsort(seeds[0], (size_t)count[0], sizeof **seeds, by_place);
    qsort(seeds[3], (size_t)count[3], sizeof **seeds, by_place);
    int64_t near = 0;
    for (int64_t k = 0; k < count[0]; k++) {
        double off = 0;
        for (int i = 0; i < 3; i++) off = fmax(off, fabs(seeds[0][k].at[i] - seeds[3][k].at[i]));
        near += off < 1e-3;
    }
    assert_int_equal(near, count[0]);
    for (int k = 0; k < 4; k++) free(seeds[k]);
    tsr_contours_destroy(&c);
    tsr_contours_destroy(&d);
    tsr_field_destroy(&field);
    tsr_field_destroy(&turned);
    tsr_context_destroy(&context);
}

/* Seeds on the line x = y = z go through samples: three faces of each see them, and one seed stays. */
static void merged(void **unused)
{
    double a[9] = { 1, -1, 0, 1, -2, 1, 0, 0, 1 };
    const int64_t n = 9;
    tsr_context *context = test_context();
    tsr_vector_field *field = field_of(context, (tsr_size3){ n, n, n }, (tsr_vec3){ 1, 1, 1 }, (tsr_vec3){ -4, -4, -4 }, TSR_F32, linear_rule, a);
    tsr_contour_options o = TSR_CONTOUR_OPTIONS;
    const tsr_contour_view view = along(1, 0, 0);
    tsr_contour_info info = TSR_CONTOUR_INFO;
    (void)unused;
    for (int merge = 0; merge < 2; merge++) {
        tsr_contours *c;
        o.merge = merge ? 0 : -1;
        require_ok(tsr_contours_create(field, &o, &c));
        require_ok(tsr_contours_update(c, &view, &info));
        assert_int_equal(info.seeds, merge ? n - 1 : 3 * (n - 1));
        tsr_contours_destroy(&c);
    }
    tsr_field_destroy(&field);
    tsr_context_destroy(&context);
}

static void thinned(void **unused)
{
    tsr_context *context = test_context();
    tsr_vector_field *field = abc_field(context, test_is_slow() ? 10 : 30);
    tsr_contour_options o = TSR_CONTOUR_OPTIONS;
    tsr_contour_info all = TSR_CONTOUR_INFO, few = TSR_CONTOUR_INFO;
    const tsr_contour_view view = along(0.2, 0.5, 0.8);
    tsr_contours *c;
    int64_t count;
    (void)unused;
    require_ok(tsr_contours_create(field, NULL, &c));
    require_ok(tsr_contours_update(c, &view, &all));
    tsr_contours_destroy(&c);
    o.thinning = 1.7;
    require_ok(tsr_contours_create(field, &o, &c));
    require_ok(tsr_contours_update(c, &view, &few));
    assert_true(few.seeds < all.seeds && few.seeds > 0);
    assert_int_equal(few.seeds + few.thinned, all.seeds);
    tsr_contour_seed *seeds = seeds_of(c, &count);
    assert_int_equal(count, few.seeds);
    for (int64_t i = 0; i < count; i++)
        for (int64_t k = 0; k < i; k++) {
            double d[3];
            for (int x = 0; x < 3; x++) d[x] = seeds[i].at[x] - seeds[k].at[x];
            assert_true(norm3(d) >= 1.7);
        }
    free(seeds);
    tsr_contours_destroy(&c);
    tsr_field_destroy(&field);
    tsr_context_destroy(&context);
}

/* ---- analytic derivatives --------------------------------------------------------------------------------------------------------------- */

/* At a seed r is along v x w, the binormal: the sine of the angle falls with the square of the spacing. S and T of the samples, likewise. */
static void second_order(void **unused)
{
    double error[2] = { 0, 0 }, tangent[2] = { 0, 0 }, t_error[2] = { 0, 0 };
    const double r[3] = { 0.26, -0.53, 0.81 };
    tsr_context *context = test_context();
    (void)unused;
    for (int k = 0; k < 2; k++) {
        const int64_t n = test_is_slow() ? 9 + 8 * k : 33 + 32 * k;
        const double h = 2 * 3.14159265358979323846 / (double)(n - 1), length = norm3(r);
        tsr_vector_field *field = abc_field(context, n);
        tsr_contours *c;
        tsr_volume *t;
        const tsr_contour_view view = along(r[0], r[1], r[2]);
        int64_t count, taken = 0;
        require_ok(tsr_contours_create(field, NULL, &c));
        require_ok(tsr_contours_update(c, &view, NULL));
        tsr_contour_seed *seeds = seeds_of(c, &count);
        for (int64_t s = 0; s < count; s++) {
            const double p[3] = { h * seeds[s].at[0], h * seeds[s].at[1], h * seeds[s].at[2] };
            double v[3], w[3], b[3], off[3];
            abc_rule(NULL, p, v);
            abc_acceleration(p, w);
            cross(v, w, b);
            if (norm3(b) < 1.5 || p[0] < h || p[1] < h || p[2] < h) continue;
            cross(r, b, off);
            error[k] += norm3(off) / (length * norm3(b));
            tangent[k] += fabs(dot3(r, v)) / (length * norm3(v));
            taken++;
        }
        assert_true(taken > 5);
        error[k] /= (double)taken;
        tangent[k] /= (double)taken;
        require_ok(tsr_contours_volume(c, &view, 1, &t));
        float *tv = host_copy(t);
        for (int64_t i = 0; i < n * n * n; i++) {
            const int64_t at[3] = { i % n, i / n % n, i / n / n };
            const double p[3] = { h * (double)at[0], h * (double)at[1], h * (double)at[2] };
            double w[3];
            if (at[0] == 0 || at[1] == 0 || at[2] == 0 || at[0] == n - 1 || at[1] == n - 1 || at[2] == n - 1) continue;
            abc_acceleration(p, w);
            t_error[k] = fmax(t_error[k], fabs((double)tv[i] - dot3(r, w) / length));
        }
        free(tv);
        tsr_volume_destroy(&t);
        free(seeds);
        tsr_contours_destroy(&c);
        tsr_field_destroy(&field);
    }
    print_message("binormal off by %.3g and %.3g, tangent by %.3g and %.3g, T by %.3g and %.3g\n", error[0], error[1], tangent[0], tangent[1], t_error[0], t_error[1]);
    assert_true(error[0] / error[1] > 2.8 && tangent[0] / tangent[1] > 2.8 && t_error[0] / t_error[1] > 3.4);
    tsr_context_destroy(&context);
}

/* Seeds of the helix (-y, x, c) stand on a vertical line, and its curvature is rho / (rho^2 + c^2). */
static void helix(void **unused)
{
    double c = 0.5;
    const int64_t n = test_is_slow() ? 9 : 33;
    const double middle = 0.5 * (double)(n - 1), r[3] = { 1, 0.5, 2.25 };
    tsr_context *context = test_context();
    tsr_vector_field *field = field_of(context, (tsr_size3){ n, n, n }, (tsr_vec3){ 0.25, 0.25, 0.25 }, (tsr_vec3){ -0.25 * middle, -0.25 * middle, 0 }, TSR_F64, helix_rule, &c);
    const double square = r[0] * r[0] + r[1] * r[1], x = -r[1] * r[2] * c / square, y = r[0] * r[2] * c / square, rho = sqrt(x * x + y * y);
    const tsr_contour_view view = along(r[0], r[1], r[2]);
    tsr_contours *k;
    tsr_volume *volume;
    int64_t count;
    (void)unused;
    require_ok(tsr_contours_create(field, NULL, &k));
    require_ok(tsr_contours_update(k, &view, NULL));
    tsr_contour_seed *seeds = seeds_of(k, &count);
    assert_int_equal(count, n); /* one on every plane of z, none elsewhere */
    for (int64_t s = 0; s < count; s++) {
        assert_true(fabs(0.25 * (seeds[s].at[0] - middle) - x) < 1e-5 && fabs(0.25 * (seeds[s].at[1] - middle) - y) < 1e-5);
        assert_true(fabs((double)seeds[s].speed - sqrt(rho * rho + c * c)) < 1e-5);
        assert_true(fabs((double)seeds[s].curvature - rho / (rho * rho + c * c)) < 0.02); /* interpolated */
    }
    require_ok(tsr_field_derive(field, TSR_FIELD_CURVATURE, &volume));
    float *kappa = host_copy(volume);
    for (int64_t i = 0; i < n * n * n; i++) {
        const double px = 0.25 * ((double)(i % n) - middle), py = 0.25 * ((double)(i / n % n) - middle), own = sqrt(px * px + py * py);
        assert_true(fabs((double)kappa[i] - own / (own * own + c * c)) <= 1e-6 * own / (own * own + c * c));
    }
    free(kappa);
    tsr_volume_destroy(&volume);
    free(seeds);
    tsr_contours_destroy(&k);
    tsr_field_destroy(&field);
    tsr_context_destroy(&context);
}

/* From far away rays are parallel; with second order the seeds fulfil (x - eye) . w + |v|^2 = 0. */
static void perspective(void **unused)
{
    tsr_context *context = test_context();
    const int64_t n = test_is_slow() ? 10 : 40;
    const double h = 2 * 3.14159265358979323846 / (double)(n - 1);
    tsr_vector_field *field = abc_field(context, n);
    tsr_contour_options o = TSR_CONTOUR_OPTIONS;
    tsr_contours *c;
    tsr_contour_info near = TSR_CONTOUR_INFO, far = TSR_CONTOUR_INFO;
    const tsr_contour_view parallel = along(0.3, -0.5, 0.8), away = { .perspective = 1, .eye = { 3 - 0.3e5, 3 + 0.5e5, 3 - 0.8e5 } };
    (void)unused;
    require_ok(tsr_contours_create(field, NULL, &c));
    require_ok(tsr_contours_update(c, &parallel, &near));
    require_ok(tsr_contours_update(c, &away, &far));
    assert_true(llabs(near.seeds - far.seeds) <= 2 + near.seeds / 50);
    tsr_contours_destroy(&c);
    o.second_order = 1;
    require_ok(tsr_contours_create(field, &o, &c));
    const tsr_contour_view close = { .perspective = 1, .eye = { 3, -4, 5 } };
    require_ok(tsr_contours_update(c, &close, NULL));
    int64_t count;
    double sum = 0;
    tsr_contour_seed *seeds = seeds_of(c, &count);
    assert_true(count > 10);
    for (int64_t k = 0; k < count; k++) {
        const double p[3] = { h * seeds[k].at[0], h * seeds[k].at[1], h * seeds[k].at[2] }, d[3] = { p[0] - 3, p[1] + 4, p[2] - 5 };
        double v[3], w[3];
        abc_rule(NULL, p, v);
        abc_acceleration(p, w);
        sum += fabs(dot3(d, w) + dot3(v, v)) / (norm3(d) * 3);
    }
    assert_true(sum / (double)count < (test_is_slow() ? 0.3 : 0.02));
    free(seeds);
    tsr_contours_destroy(&c);
    tsr_field_destroy(&field);
    tsr_context_destroy(&context);
}

/* ---- backends --------------------------------------------------------------------------------------------------------------------------- */

/* The same seeds, lines and tubes, bit for bit, on this device, on the CPU with every number of threads, and with every SIMD variant. */
static void same_bits(void **unused)
{
    tsr_contour_seed *seeds[4];
    float *positions[4], *vertices[4];
    int64_t count[4], points[4], corners[4];
    (void)unused;
    for (int k = 0; k < 4; k++) {
        if (k == 3) tsr_isa_force(TSR_ISA_BASE);
        tsr_context *context = k == 0 ? test_context() : test_context_on("cpu", k == 2 ? 3 : 1);
        tsr_vector_field *field = abc_field(context, test_is_slow() ? 9 : 30);
        tsr_contours *c;
        tsr_streamlines *lines;
        tsr_mesh *tubes, *host;
        tsr_contour_relevance relevance = TSR_CONTOUR_RELEVANCE;
        tsr_streamline_options trace = TSR_STREAMLINE_OPTIONS;
        tsr_tube_options tube = TSR_TUBE_OPTIONS;
        const tsr_contour_view view = along(0.3, -0.5, 0.8);
        trace.max_steps = test_is_slow() ? 12 : 60;
        relevance.use = 1;
        tube.colored = 1;
        tube.color = TSR_STREAM_AT_VORTICITY;
        tube.caps = 1;
        require_ok(tsr_contours_create(field, NULL, &c));
        require_ok(tsr_contours_update(c, &view, NULL));
        seeds[k] = seeds_of(c, &count[k]);
        require_ok(tsr_contours_trace(c, &relevance, &trace, &lines));
        points[k] = tsr_streamlines_point_count(lines);
        positions[k] = malloc((size_t)points[k] * 12);
        require_ok(tsr_streamlines_download(lines, positions[k], NULL));
        require_ok(tsr_streamlines_tubes(lines, field, &tube, &tubes));
        require_ok(tsr_mesh_copy(tubes, NULL, &host));
        corners[k] = tsr_mesh_vertex_count(host);
        vertices[k] = malloc((size_t)corners[k] * 12);
        memcpy(vertices[k], tsr_mesh_vertices(host), (size_t)corners[k] * 12);
        tsr_mesh_destroy(&host);
        tsr_mesh_destroy(&tubes);
        tsr_streamlines_destroy(&lines);
        tsr_contours_destroy(&c);
        tsr_field_destroy(&field);
        tsr_context_destroy(&context);
        tsr_isa_force(-1);
        assert_int_equal(count[k], count[0]);
        assert_memory_equal(seeds[k], seeds[0], (size_t)count[0] * sizeof **seeds);
        assert_int_equal(points[k], points[0]);
        assert_memory_equal(positions[k], positions[0], (size_t)points[0] * 12);
        assert_int_equal(corners[k], corners[0]);
        assert_memory_equal(vertices[k], vertices[0], (size_t)corners[0] * 12);
    }
    assert_true(count[0] > 3 && points[0] > count[0]);
    for (int k = 0; k < 4; k++) {
        free(seeds[k]);
        free(positions[k]);
        free(vertices[k]);
    }
}

/* ---- errors ----------------------------------------------------------------------------------------------------------------------------- */

static void constant_rule(void *user, const double p[3], double v[3])
{
    (void)user;
    (void)p;
    v[0] = 1, v[1] = 2, v[2] = -0.5;
}
static void zero_rule(void *user, const double p[3], double v[3])
{
    (void)user;
    (void)p;
    v[0] = v[1] = v[2] = 0;
}

static void errors(void **unused)
{
    double c = 0;
    tsr_context *context = test_context();
    const tsr_size3 n = { 6, 7, 8 };
    const tsr_vec3 one = { 1, 1, 1 }, origin = { -3, -3, 0 };
    tsr_vector_field *constant = field_of(context, n, one, origin, TSR_F32, constant_rule, NULL), *planar = field_of(context, n, one, origin, TSR_F32, helix_rule, &c);
    tsr_vector_field *zero = field_of(context, n, one, origin, TSR_F32, zero_rule, NULL), *other = abc_field(context, 5);
    tsr_contours *k, *m;
    tsr_contour_options o = TSR_CONTOUR_OPTIONS;
    tsr_contour_view view = along(0, 0, 0);
    tsr_volume *volume;
    (void)unused;
    require_ok(tsr_contours_create(planar, NULL, &k));
    require_error(tsr_contours_update(k, &view, NULL), TSR_ERROR_ARGUMENT, "direction");
    view = along(NAN, 0, 1);
    require_error(tsr_contours_update(k, &view, NULL), TSR_ERROR_ARGUMENT, "direction");
    view = (tsr_contour_view){ .perspective = 1, .eye = { INFINITY, 0, 0 } };
    require_error(tsr_contours_update(k, &view, NULL), TSR_ERROR_ARGUMENT, "eye");
    view = along(0, 0, 2);
    require_error(tsr_contours_update(k, &view, NULL), TSR_ERROR_STATE, "S vanishes identically");
    require_error(tsr_contours_volume(k, &view, 2, &volume), TSR_ERROR_ARGUMENT, "which");
    require_error(tsr_contours_set_field(k, other), TSR_ERROR_ARGUMENT, "samples");
    require_error(tsr_contours_update(k, NULL, NULL), TSR_ERROR_ARGUMENT, "view");
    require_error(tsr_contours_create(NULL, NULL, &m), TSR_ERROR_ARGUMENT, "field");
    o.merge = 2;
    require_error(tsr_contours_create(planar, &o, &m), TSR_ERROR_ARGUMENT, "merge");
    view = along(1, 0, 0);
    require_ok(tsr_contours_set_field(k, constant));
    require_error(tsr_contours_update(k, &view, NULL), TSR_ERROR_STATE, "T vanishes identically");
    require_ok(tsr_contours_set_field(k, zero));
    require_error(tsr_contours_update(k, &view, NULL), TSR_ERROR_STATE, "0 everywhere");
    tsr_contours_destroy(&k);
    tsr_field_destroy(&constant);
    tsr_field_destroy(&planar);
    tsr_field_destroy(&zero);
    tsr_field_destroy(&other);
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(linear_counts),  cmocka_unit_test(exact_line),  cmocka_unit_test(eigenplane_counts), cmocka_unit_test(finds_eigenplanes),
        cmocka_unit_test(second_solver),  cmocka_unit_test(invariant),   cmocka_unit_test(merged),            cmocka_unit_test(thinned),
        cmocka_unit_test(second_order),   cmocka_unit_test(helix),       cmocka_unit_test(perspective),       cmocka_unit_test(same_bits),
        cmocka_unit_test(errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
