/* The algebra of tile lists against analytic answers, brute force and its own identities (docs/theory/editing.md 11). */
#include "csg_fixture.h"

static void same(const tsr_tiles *a, const tsr_tiles *b)
{
    int equal;
    require_ok(tsr_tiles_equal(a, b, &equal));
    assert_true(equal);
}
static int64_t stored(const tsr_tiles *tiles)
{
    tsr_tiles_info info = TSR_TILES_INFO;
    require_ok(tsr_tiles_describe(tiles, &info));
    return info.count;
}

/* ---- primitives against float64 distances ------------------------------------------------------------------------------------------------ */

static double oracle(const tsr_shape *s, double x, double y, double z)
{
    double px = x - s->centre.x, py = y - s->centre.y, pz = z - s->centre.z, q;
    switch (s->kind) {
    case TSR_SHAPE_SPHERE: q = hypot3(px, py, pz) - s->radius; break;
    case TSR_SHAPE_BOX: {
        double dx = fabs(px) - s->half.x, dy = fabs(py) - s->half.y, dz = fabs(pz) - s->half.z;
        q = dx <= 0 && dy <= 0 && dz <= 0 ? fmax(dx, fmax(dy, dz)) : hypot3(fmax(dx, 0), fmax(dy, 0), fmax(dz, 0));
        break;
    }
    case TSR_SHAPE_TORUS: q = hypot(hypot(px, py) - s->radius, pz) - s->minor; break;
    case TSR_SHAPE_CYLINDER: {
        double dr = hypot(px, py) - s->radius, dz = fabs(pz) - s->half.z;
        q = dr <= 0 && dz <= 0 ? fmax(dr, dz) : hypot(fmax(dr, 0), fmax(dz, 0));
        break;
    }
    default: q = hypot3(px, py, pz - fmin(fmax(pz, -s->half.z), s->half.z)) - s->radius;
    }
    return s->shell > 0 ? fabs(q) - s->shell / 2 : q;
}

static void shapes_are_distances(void **state)
{
    tsr_context *context = ((fixture *)*state)->context;
    const tsr_shape shapes[] = { { .kind = TSR_SHAPE_SPHERE, .centre = { 0.3, -1.2, 2 }, .radius = 9.5 },
                                 { .kind = TSR_SHAPE_BOX, .centre = { 1, 0, -2.5 }, .half = { 10, 6, 4 } },
                                 { .kind = TSR_SHAPE_TORUS, .centre = { 0, 0.5, 0 }, .radius = 9, .minor = 3.5 },
                                 { .kind = TSR_SHAPE_CYLINDER, .centre = { -1, 2, 0 }, .radius = 7, .half = { 0, 0, 8 } },
                                 { .kind = TSR_SHAPE_CAPSULE, .centre = { 0, 0, 1 }, .radius = 4, .half = { 0, 0, 7 } },
                                 { .kind = TSR_SHAPE_BOX, .half = { 9, 8, 7 }, .shell = 2 } };
    enum { N = 40, LOW = -20 };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int32_t edge = 4; edge <= 8; edge += 4) {
            tsr_tiles *tiles = make(context, &shapes[i], edge, 3);
            float *field = tiles_dense(context, tiles, LOW, N);
            for (int64_t v = 0; v < N * N * N; v++) {
                double d = oracle(&shapes[i], (double)(v % N + LOW), (double)(v / N % N + LOW), (double)(v / (N * N) + LOW));
                assert_true(fabs((double)field[v] - fmin(fmax(d, -3), 3)) < 2e-5);
            }
            free(field);
            tsr_tiles_destroy(&tiles);
        }
}

/* So long that tiles are searched in parts, and sorted by more than one digit of an axis. */
static void long_shape(void **unused)
{
    (void)unused;
    const char *device = getenv("TESSERA_DEVICE");
    if (device && *device && strcmp(device, "cpu") != 0) skip(); /* host code */
    const double radius = 4, half = 8300, pi = 3.14159265358979323846, exact = pi * radius * radius * (2 * half + 4.0 / 3 * radius);
    for (int axis = 0; axis < 3; axis += 2) {
        tsr_context *context = test_context_on("cpu", 2);
        tsr_shape s = { .kind = TSR_SHAPE_CAPSULE, .centre = { 11, -3, 5 }, .radius = radius, .half = { 0, 0, half } };
        tsr_tiles_measures m = TSR_TILES_MEASURES;
        tsr_tile_state state;
        if (axis == 0) s.turn = (tsr_vec3){ 0, pi / 2, 0 };
        tsr_tiles *tiles = make(context, &s, 4, 1.5);
        require_ok(tsr_tiles_read_state(tiles, &state));
        const uint64_t *key = (const uint64_t *)tiles->pool.key[state.list], most = (1u << TSR_KEY_BITS) - 1u;
        uint64_t low = most, high = 0;
        for (int64_t i = 0; i < state.count; i++) {
            const uint64_t at = key[i] >> TSR_KEY_BITS * axis & most;
            assert_true(i == 0 || key[i - 1] < key[i]);
            low = at < low ? at : low;
            high = at > high ? at : high;
        }
        assert_true(high - low > 4096);
        require_ok(tsr_tiles_measure(tiles, &m));
        assert_true(fabs(m.volume / exact - 1) < 0.005 && m.components == 1);
        tsr_tiles_destroy(&tiles);
        tsr_context_destroy(&context);
    }
}

static void turned_shapes(void **state)
{
    tsr_context *context = ((fixture *)*state)->context;
    const double pi = 3.14159265358979323846;
    tsr_shape up = { .kind = TSR_SHAPE_CYLINDER, .radius = 5, .half = { 0, 0, 10 } }, turned = up;
    turned.turn = (tsr_vec3){ 0, pi / 2, 0 }; /* z becomes x */
    tsr_tiles *tiles = make(context, &turned, 8, 3);
    float *field = tiles_dense(context, tiles, -16, 32);
    for (int64_t v = 0; v < 32 * 32 * 32; v++) {
        double x = (double)(v % 32 - 16), y = (double)(v / 32 % 32 - 16), z = (double)(v / 1024 - 16);
        assert_true(fabs((double)field[v] - fmin(fmax(oracle(&up, -z, y, x), -3), 3)) < 1e-4);
    }
    free(field);
    tsr_tiles_destroy(&tiles);
    /* an ellipsoid: the zero set, by the sign of the quadratic form */
    tsr_shape egg = { .kind = TSR_SHAPE_ELLIPSOID, .half = { 12, 7, 5 }, .centre = { 0.2, 0.1, 0.3 } };
    tiles = make(context, &egg, 8, 3);
    field = tiles_dense(context, tiles, -16, 32);
    for (int64_t v = 0; v < 32 * 32 * 32; v++) {
        double x = ((double)(v % 32 - 16) - 0.2) / 12, y = ((double)(v / 32 % 32 - 16) - 0.1) / 7, z = ((double)(v / 1024 - 16) - 0.3) / 5;
        double level = x * x + y * y + z * z - 1;
        if (fabs(level) > 1e-4) assert_true((field[v] < 0) == (level < 0));
    }
    free(field);
    tsr_tiles_destroy(&tiles);
}

/* ---- boolean operations ---------------------------------------------------------------------------------------------------------------------- */

static float combined(tsr_csg_operation operation, float a, float b)
{
    switch (operation) {
    case TSR_CSG_UNION: return fminf(a, b);
    case TSR_CSG_INTERSECTION: return fmaxf(a, b);
    default: return fmaxf(a, -b);
    }
}

static void fields_combine(void **state)
{
    tsr_context *context = ((fixture *)*state)->context;
    tsr_tiles *a = ball(context, 0, 0, 0, 10), *b = ball(context, 7.3, 2, -3, 8);
    float *fa = tiles_dense(context, a, -20, 44), *fb = tiles_dense(context, b, -20, 44);
    for (int operation = TSR_CSG_UNION; operation <= TSR_CSG_DIFFERENCE; operation++) {
        tsr_tiles *c = NULL;
        require_ok(tsr_tiles_combine(a, b, (tsr_csg_operation)operation, 0, &c));
        check_invariants(c);
        float *fc = tiles_dense(context, c, -20, 44);
        int64_t inside = 0;
        for (int64_t v = 0; v < 44 * 44 * 44; v++) {
            assert_true(fc[v] == combined((tsr_csg_operation)operation, fa[v], fb[v]));
            inside += fc[v] < 0;
        }
        tsr_tiles_info info = TSR_TILES_INFO;
        require_ok(tsr_tiles_describe(c, &info));
        assert_int_equal(info.inside_voxels, inside); /* enclosed absent tiles counted */
        free(fc);
        tsr_tiles_destroy(&c);
    }
    free(fa);
    free(fb);
    tsr_tiles_destroy(&a);
    tsr_tiles_destroy(&b);
}

/* The filled seam in float64: a circle of the radius rolls along both surfaces. */
static double blended(double a, double b, double radius, double band)
{
    double value = fmax(radius, fmin(a, b)) - sqrt(pow(fmax(radius - a, 0), 2) + pow(fmax(radius - b, 0), 2));
    return fmin(fmax(value, -band), band);
}

static void blends_fill_the_seam(void **state)
{
    tsr_context *context = ((fixture *)*state)->context;
    tsr_tiles *a = ball(context, 0, 0, 0, 10), *b = ball(context, 7.3, 2, -3, 8), *far = ball(context, 16.5, 0, 0, 3), *c = NULL, *d = NULL;
    float *fa = tiles_dense(context, a, -20, 44), *fb = tiles_dense(context, b, -20, 44);
    for (int round = 0; round < 2; round++) {
        const double radius = round ? 3 : 1.7;
        require_ok(tsr_tiles_combine(a, b, TSR_CSG_BLEND, radius, &c));
        check_invariants(c);
        float *fc = tiles_dense(context, c, -20, 44);
        int64_t filled = 0, kept = 0;
        for (int64_t v = 0; v < 44 * 44 * 44; v++) {
            const float smaller = fminf(fa[v], fb[v]);
            assert_true(fabs((double)fc[v] - blended((double)fa[v], (double)fb[v], radius, 3)) < 1e-5);
            assert_true(fc[v] <= smaller);
            if ((double)fa[v] >= radius || (double)fb[v] >= radius) assert_true(fc[v] == smaller);
            filled += fc[v] < 0 && smaller >= 0;
            kept += fc[v] == smaller;
        }
        assert_true(filled > 20 && kept > 1000);
        free(fc);
        tsr_tiles_destroy(&c);
    }
    /* 3.5 apart, more than two radii: the union, field and all, though both bands cover the gap */
    require_ok(tsr_tiles_combine(a, far, TSR_CSG_BLEND, 1.7, &c));
    require_ok(tsr_tiles_combine(a, far, TSR_CSG_UNION, 0, &d));
    same(c, d);
    free(fa);
    free(fb);
    tsr_tiles_destroy(&a);
    tsr_tiles_destroy(&b);
    tsr_tiles_destroy(&c);
    tsr_tiles_destroy(&d);
    tsr_tiles_destroy(&far);
}

static void identities(void **state)
{
    tsr_context *context = ((fixture *)*state)->context;
    tsr_tiles *a = ball(context, 0, 0, 0, 10), *b = ball(context, 8, 1, 0, 9), *c = NULL, *d = NULL, *na = NULL, *nb = NULL, *e = NULL;
    require_ok(tsr_tiles_combine(a, a, TSR_CSG_UNION, 0, &c)); /* A u A = A */
    same(a, c);
    tsr_tiles_destroy(&c);
    require_ok(tsr_tiles_combine(a, a, TSR_CSG_INTERSECTION, 0, &c)); /* A n A = A */
    same(a, c);
    tsr_tiles_destroy(&c);
    require_ok(tsr_tiles_combine(a, a, TSR_CSG_DIFFERENCE, 0, &c)); /* A \ A is empty, exact zeros on the sphere included */
    assert_int_equal(stored(c), 0);
    tsr_tiles_destroy(&c);
    require_ok(tsr_tiles_complement(a, &na));
    require_ok(tsr_tiles_complement(b, &nb));
    check_invariants(na);
    require_ok(tsr_tiles_complement(na, &c)); /* twice is nothing */
    same(a, c);
    tsr_tiles_destroy(&c);
    require_ok(tsr_tiles_combine(a, na, TSR_CSG_UNION, 0, &c)); /* A u not A is everything: no tile, all inside */
    assert_int_equal(stored(c), 0);
    require_ok(tsr_tiles_combine(c, a, TSR_CSG_DIFFERENCE, 0, &d)); /* everything \ A = not A */
    same(d, na);
    tsr_tiles_destroy(&c);
    tsr_tiles_destroy(&d);
    /* De Morgan: not (A u B) = not A n not B; not (A n B) = not A u not B; A \ B = A n not B */
    require_ok(tsr_tiles_combine(a, b, TSR_CSG_UNION, 0, &c));
    require_ok(tsr_tiles_complement(c, &d));
    require_ok(tsr_tiles_combine(na, nb, TSR_CSG_INTERSECTION, 0, &e));
    same(d, e);
    tsr_tiles_destroy(&c);
    tsr_tiles_destroy(&d);
    tsr_tiles_destroy(&e);
    require_ok(tsr_tiles_combine(a, b, TSR_CSG_INTERSECTION, 0, &c));
    require_ok(tsr_tiles_complement(c, &d));
    require_ok(tsr_tiles_combine(na, nb, TSR_CSG_UNION, 0, &e));
    same(d, e);
    tsr_tiles_destroy(&c);
    tsr_tiles_destroy(&d);
    tsr_tiles_destroy(&e);
    require_ok(tsr_tiles_combine(a, b, TSR_CSG_DIFFERENCE, 0, &c));
    require_ok(tsr_tiles_combine(a, nb, TSR_CSG_INTERSECTION, 0, &d));
    same(c, d);
    tsr_tiles_destroy(&c);
    tsr_tiles_destroy(&d);
    tsr_tiles_destroy(&na);
    tsr_tiles_destroy(&nb);
    tsr_tiles_destroy(&a);
    tsr_tiles_destroy(&b);
}

static void paste_disjoint(void **state)
{
    tsr_context *context = ((fixture *)*state)->context;
    tsr_tiles *a = ball(context, 0, 0, 0, 6), *b = ball(context, 40, 3, -20, 7), *ab = NULL, *ba = NULL, *back = NULL;
    require_ok(tsr_tiles_combine(a, b, TSR_CSG_UNION, 0, &ab));
    require_ok(tsr_tiles_combine(b, a, TSR_CSG_UNION, 0, &ba));
    same(ab, ba); /* commutes */
    assert_int_equal(stored(ab), stored(a) + stored(b));
    require_ok(tsr_tiles_combine(ab, b, TSR_CSG_DIFFERENCE, 0, &back)); /* b's surface is gone */
    tsr_tiles_measures m = TSR_TILES_MEASURES;
    require_ok(tsr_tiles_measure(back, &m));
    assert_int_equal(m.components, 1);
    tsr_tiles_destroy(&back);
    tsr_tiles_destroy(&ab);
    tsr_tiles_destroy(&ba);
    tsr_tiles_destroy(&a);
    tsr_tiles_destroy(&b);
}

/* ---- movement ---------------------------------------------------------------------------------------------------------------------------------- */

static void translate_and_back(void **state)
{
    tsr_context *context = ((fixture *)*state)->context;
    tsr_tiles *a = ball(context, 1.5, 0, 0, 9), *moved = NULL, *back = NULL, *there;
    require_ok(tsr_tiles_translate(a, 3, -2, 5, &moved));
    check_invariants(moved);
    there = ball(context, 1.5 + 12, -8, 20, 9);
    float *f = tiles_dense(context, moved, -24, 64), *g = tiles_dense(context, there, -24, 64);
    for (int64_t v = 0; v < 64 * 64 * 64; v++) assert_true(fabsf(f[v] - g[v]) < 1e-5f);
    free(f);
    free(g);
    require_ok(tsr_tiles_translate(moved, -3, 2, -5, &back));
    same(a, back);
    tsr_tiles_destroy(&back);
    require_error(tsr_tiles_translate(a, 1 << 20, 0, 0, &back), TSR_ERROR_ARGUMENT, "along x");
    assert_null(back);
    tsr_tiles_destroy(&moved);
    tsr_tiles_destroy(&there);
    tsr_tiles_destroy(&a);
}

/* Largest error of the field near the surface after a motion, against the oracle of the moved shape. */
static void transform_moves(void **state)
{
    tsr_context *context = ((fixture *)*state)->context;
    const double pi = 3.14159265358979323846;
    tsr_shape torus = { .kind = TSR_SHAPE_TORUS, .radius = 12, .minor = 6, .centre = { 2, 0, 0 } };
    tsr_tiles *a = make(context, &torus, 8, 5.5), *moved = NULL;
    tsr_motion motion = { .centre = { 2, 0, 0 }, .axis = { 1, 1, 0.5 }, .angle = 0.7, .shift = { 0.3, -1.7, 2.4 } };
    require_ok(tsr_tiles_transform(a, &motion, &moved));
    check_invariants(moved);
    tsr_shape expected = torus;
    double length = sqrt(2.25);
    expected.centre = (tsr_vec3){ 2.3, -1.7, 2.4 };
    expected.turn = (tsr_vec3){ 0.7 / length, 0.7 / length, 0.35 / length };
    tsr_tiles *target = make(context, &expected, 8, 5.5);
    float *f = tiles_dense(context, moved, -24, 52), *g = tiles_dense(context, target, -24, 52), worst = 0;
    for (int64_t v = 0; v < 52 * 52 * 52; v++)
        if (fabsf(g[v]) < 1) worst = fmaxf(worst, fabsf(f[v] - g[v]));
    print_message("transform: largest error near the surface %.4f voxels\n", (double)worst);
    assert_true(worst < 0.01f);
    free(f);
    free(g);
    tsr_tiles_destroy(&moved);
    tsr_tiles_destroy(&target);
    /* half the size */
    motion = (tsr_motion){ .centre = { 2, 0, 0 }, .scale = 0.5 };
    require_ok(tsr_tiles_transform(a, &motion, &moved));
    check_invariants(moved);
    tsr_tiles_measures m = TSR_TILES_MEASURES;
    require_ok(tsr_tiles_measure(moved, &m));
    assert_true(fabs(m.volume - 2 * pi * pi * 6 * 3 * 3) < 0.02 * m.volume);
    assert_int_equal(m.genus, 1);
    tsr_tiles_destroy(&moved);
    require_error(tsr_tiles_transform(a, &(tsr_motion){ .angle = 1 }, &moved), TSR_ERROR_ARGUMENT, "axis has no length");
    require_error(tsr_tiles_transform(a, &(tsr_motion){ .scale = -1 }, &moved), TSR_ERROR_ARGUMENT, "scale is -1");
    require_error(tsr_tiles_transform(a, &(tsr_motion){ .shift = { NAN, 0, 0 } }, &moved), TSR_ERROR_ARGUMENT, "not finite");
    tsr_tiles_destroy(&a);
}

/* ---- parts ----------------------------------------------------------------------------------------------------------------------------------------- */

static void selection_is_brute_force(void **state)
{
    tsr_context *context = ((fixture *)*state)->context;
    uint64_t random = test_seed();
    tsr_tiles *a = ball(context, 0, 0, 0, 20);
    int64_t n = stored(a);
    int32_t(*all)[3] = (int32_t(*)[3])malloc((size_t)n * sizeof *all), (*hit)[3] = (int32_t(*)[3])malloc((size_t)n * sizeof *hit);
    require_ok(tsr_tiles_download(a, all, NULL));
    for (int trial = 0; trial < 60; trial++) {
        tsr_box r;
        double *low = &r.lower.x, *high = &r.upper.x;
        for (int k = 0; k < 3; k++) {
            double p = 60 * test_uniform(&random) - 30, q = 60 * test_uniform(&random) - 30;
            low[k] = trial == 0 ? -100 : fmin(p, q);
            high[k] = trial == 0 ? 100 : trial == 1 ? low[k] : fmax(p, q); /* everything; nothing between two voxels */
        }
        int64_t count, expected = 0;
        require_ok(tsr_tiles_select(a, &r, hit, n, &count));
        for (int64_t i = 0; i < n; i++) {
            int in = 1;
            for (int k = 0; k < 3; k++) {
                int any = 0;
                for (int v = 0; v < 4; v++) any |= all[i][k] * 4 + v >= low[k] && all[i][k] * 4 + v <= high[k];
                in &= any;
            }
            if (!in) continue;
            assert_true(expected < count);
            assert_memory_equal(all[i], hit[expected], sizeof *all);
            expected++;
        }
        assert_int_equal(count, expected);
    }
    free(all);
    free(hit);
    int64_t count;
    require_error(tsr_tiles_select(a, &(tsr_box){ { 1, 0, 0 }, { 0, 1, 1 } }, NULL, 0, &count), TSR_ERROR_ARGUMENT, "along x");
    tsr_tiles_destroy(&a);
}

static void disconnected_at_the_faces(void **state)
{
    tsr_context *context = ((fixture *)*state)->context;
    tsr_tiles *a = make(context, &(tsr_shape){ .kind = TSR_SHAPE_CAPSULE, .radius = 5, .half = { 0, 0, 16 } }, 8, 3), *cut = NULL, *kept = NULL;
    tsr_box region = { { -10, -10, 2 }, { 10, 10, 40 } };
    require_ok(tsr_tiles_disconnect(a, &region, 0, &cut));
    check_invariants(cut);
    float *f = tiles_dense(context, cut, -24, 48);
    for (int32_t y = 0; y < 48; y++)
        for (int32_t x = 0; x < 48; x++) /* no inside touches the plane z = 2 */
            for (int32_t z = 2 - 1; z <= 2 + 1; z++) assert_true(f[((z + 24) * 48 + y) * 48 + x] >= 0);
    free(f);
    tsr_component parts[4];
    int64_t count;
    require_ok(tsr_tiles_components(cut, 26, parts, 4, &count));
    assert_int_equal(count, 2);
    assert_true(parts[0].first.z < 2 && parts[1].first.z > 2);
    const uint8_t upper[2] = { 0, 1 };
    require_ok(tsr_tiles_keep(cut, upper, 2, &kept));
    check_invariants(kept);
    int64_t one;
    tsr_component part;
    require_ok(tsr_tiles_components(kept, 26, &part, 1, &one));
    assert_int_equal(one, 1);
    assert_int_equal(part.voxels, parts[1].voxels);
    tsr_tiles_destroy(&kept);
    require_error(tsr_tiles_keep(cut, upper, 1, &kept), TSR_ERROR_ARGUMENT, "1 choices, the surface has 2");
    tsr_tiles *gone = NULL;
    const uint8_t none[2] = { 0, 0 };
    require_ok(tsr_tiles_keep(cut, none, 2, &gone));
    assert_int_equal(stored(gone), 0);
    tsr_tiles_destroy(&gone);
    tsr_tiles_destroy(&cut);
    require_error(tsr_tiles_disconnect(a, &region, 1, &cut), TSR_ERROR_ARGUMENT, "width is 1");
    tsr_tiles_destroy(&a);
}

/* Left is right, and the lower halves of the legs have the radius and the place that the animal gives them. */
static void legs_are_capsules(tsr_context *context, const tsr_tiles *animal, double size)
{
    enum { N = 64, LOW = -32 };
    const double up[3] = { 0.18, 0.09, -0.05 }, down[3] = { 0.20, 0.10, -0.33 };
    double axis[3], length2 = 0;
    int64_t seen = 0;
    for (int k = 0; k < 3; k++) axis[k] = down[k] - up[k], length2 += axis[k] * axis[k];
    float *field = tiles_dense(context, animal, LOW, N);
    for (int64_t v = 0; v < N * N * N; v++) {
        const int64_t x = v % N + LOW, y = v / N % N + LOW, z = v / (N * N) + LOW;
        if (y == LOW) continue;
        assert_true(fabsf(field[v] - field[(v % N) + N * ((-y - LOW) + N * (v / (N * N)))]) < 1e-4f);
        const double p[3] = { fabs((double)x) / size - up[0], fabs((double)y) / size - up[1], (double)z / size - up[2] };
        const double t = fmin((p[0] * axis[0] + p[1] * axis[1] + p[2] * axis[2]) / length2, 1);
        const double d = size * (hypot3(p[0] - t * axis[0], p[1] - t * axis[1], p[2] - t * axis[2]) - 0.05);
        if (t < 0.65 || fabs(d) > 1) continue;
        assert_true(fabs((double)field[v] - d) < 0.15);
        seen++;
    }
    assert_true(seen > 400);
    free(field);
}

static void animal_is_one_piece(void **state)
{
    tsr_context *context = ((fixture *)*state)->context;
    tsr_tiles_options options = TSR_TILES_OPTIONS;
    tsr_tiles *animal = NULL;
    options.band = 3;
    require_ok(tsr_tiles_animal(context, NULL, &options, (tsr_vec3){ 0, 0, 0 }, 64, &animal));
    check_invariants(animal);
    tsr_tiles_measures m = TSR_TILES_MEASURES;
    require_ok(tsr_tiles_measure(animal, &m));
    assert_int_equal(m.components, 1);
    assert_int_equal(m.genus, 0);
    assert_true(m.volume > 0.02 * 64 * 64 * 64 && m.volume < 0.1 * 64 * 64 * 64);
    legs_are_capsules(context, animal, 64);
    tsr_tiles_destroy(&animal);
}

/* The same lists, bit for bit, as on the CPU with one thread and with three. */
static tsr_tiles *long_way(tsr_context *context)
{
    tsr_tiles *a = make(context, &(tsr_shape){ .kind = TSR_SHAPE_TORUS, .radius = 11, .minor = 4.5, .turn = { 0.4, 0.2, 0 } }, 8, 3);
    tsr_tiles *b = make(context, &(tsr_shape){ .kind = TSR_SHAPE_ELLIPSOID, .centre = { 6, 2, 1 }, .half = { 9, 6, 7 } }, 8, 3), *c = NULL, *d = NULL;
    require_ok(tsr_tiles_combine(a, b, TSR_CSG_BLEND, 3, &c));
    require_ok(
        tsr_tiles_transform(c, &(tsr_motion){ .centre = { 3, 1, 0 }, .axis = { 1, 2, 3 }, .angle = 0.5, .scale = 1.1, .shift = { 0.7, 0, 0 } }, &d));
    tsr_tiles_destroy(&c);
    require_ok(tsr_tiles_disconnect(d, &(tsr_box){ { -3, -30, -30 }, { 30, 30, 30 } }, 0, &c));
    tsr_tiles_destroy(&a);
    tsr_tiles_destroy(&b);
    tsr_tiles_destroy(&d);
    return c;
}

static void same_bits_everywhere(void **state)
{
    tsr_context *context = ((fixture *)*state)->context;
    tsr_tiles *here = long_way(context);
    tsr_tiles_measures m = TSR_TILES_MEASURES, other = TSR_TILES_MEASURES;
    require_ok(tsr_tiles_measure(here, &m));
    for (int threads = 1; threads <= 3; threads += 2) {
        tsr_context *cpu = test_context_on("cpu", threads);
        tsr_tiles *there = long_way(cpu), *copy = NULL;
        require_ok(tsr_tiles_copy(here, cpu, &copy));
        same(copy, there);
        require_ok(tsr_tiles_measure(there, &other));
        assert_memory_equal(&m, &other, sizeof m);
        tsr_tiles_destroy(&copy);
        tsr_tiles_destroy(&there);
        tsr_context_destroy(&cpu);
    }
    tsr_tiles_destroy(&here);
}

/* ---- bad input -------------------------------------------------------------------------------------------------------------------------------------- */

static void refusals(void **state)
{
    tsr_context *context = ((fixture *)*state)->context;
    tsr_tiles *a = ball(context, 0, 0, 0, 5), *b = NULL, *c = NULL;
    tsr_tiles_options options = TSR_TILES_OPTIONS;
    require_error(tsr_tiles_combine(a, NULL, TSR_CSG_UNION, 0, &c), TSR_ERROR_ARGUMENT, "b is NULL");
    b = make(context, &(tsr_shape){ .radius = 5 }, 4, 4);
    require_error(tsr_tiles_combine(a, b, TSR_CSG_UNION, 0, &c), TSR_ERROR_ARGUMENT, "band: 3 and 4");
    tsr_tiles_destroy(&b);
    b = make(context, &(tsr_shape){ .radius = 5 }, 8, 3);
    require_error(tsr_tiles_combine(a, b, TSR_CSG_UNION, 0, &c), TSR_ERROR_ARGUMENT, "tile edge: 4 and 8");
    tsr_tiles_destroy(&b);
    tsr_geometry half = tsr_geometry_make((tsr_vec3){ 0.5, 0.5, 0.5 }, (tsr_vec3){ 0, 0, 0 }, TSR_SPACE_NONE);
    options.edge = 4;
    options.band = 3;
    require_ok(tsr_tiles_shape(context, &half, &options, &(tsr_shape){ .radius = 5 }, &b));
    require_error(tsr_tiles_combine(a, b, TSR_CSG_UNION, 0, &c), TSR_ERROR_ARGUMENT, "voxel size along x: 1 and 0.5");
    tsr_tiles_destroy(&b);
    options.domain = (tsr_size3){ 16, 16, 16 };
    require_ok(tsr_tiles_create(context, NULL, &options, &b));
    require_error(tsr_tiles_combine(a, b, TSR_CSG_UNION, 0, &c), TSR_ERROR_ARGUMENT, "domain: the second operand has one");
    require_error(tsr_tiles_translate(b, 1, 0, 0, &c), TSR_ERROR_UNSUPPORTED, "expected an unbounded one");
    tsr_tiles_destroy(&b);
    require_error(tsr_tiles_combine(a, a, (tsr_csg_operation)9, 0, &c), TSR_ERROR_ARGUMENT, "operation is 9");
    require_error(tsr_tiles_combine(a, a, TSR_CSG_BLEND, 0, &c), TSR_ERROR_ARGUMENT, "radius of the blend is 0");
    require_error(tsr_tiles_shape(context, NULL, NULL, &(tsr_shape){ .radius = -1 }, &c), TSR_ERROR_ARGUMENT, "radius is -1");
    require_error(tsr_tiles_shape(context, NULL, NULL, &(tsr_shape){ .radius = NAN }, &c), TSR_ERROR_ARGUMENT, "radius is");
    require_error(tsr_tiles_shape(context, NULL, NULL, &(tsr_shape){ .radius = 1e9 }, &c), TSR_ERROR_ARGUMENT, "along x");
    require_error(tsr_tiles_shape(context, NULL, NULL, &(tsr_shape){ .kind = TSR_SHAPE_BOX }, &c), TSR_ERROR_ARGUMENT, "half.x is 0");
    tsr_csg_operation operation;
    require_error(tsr_csg_parse("xor", &operation), TSR_ERROR_ARGUMENT, "'xor' is no operation");
    /* a limit on memory: refused, operands unchanged */
    options = (tsr_tiles_options)TSR_TILES_OPTIONS;
    options.edge = 4;
    options.band = 3;
    options.capacity = 8;
    options.memory_limit = 100000;
    require_error(tsr_tiles_shape(context, NULL, &options, &(tsr_shape){ .radius = 60 }, &c), TSR_ERROR_CAPACITY, "memory_limit is 100000");
    assert_null(c);
    /* empty lists take part */
    options.memory_limit = 0;
    require_ok(tsr_tiles_create(context, NULL, &options, &b));
    require_ok(tsr_tiles_combine(a, b, TSR_CSG_UNION, 0, &c));
    same(a, c);
    tsr_tiles_destroy(&c);
    require_ok(tsr_tiles_combine(a, b, TSR_CSG_INTERSECTION, 0, &c));
    assert_int_equal(stored(c), 0);
    tsr_tiles_destroy(&c);
    tsr_tiles_measures m = TSR_TILES_MEASURES;
    require_ok(tsr_tiles_measure(b, &m));
    assert_int_equal(m.components, 0);
    tsr_tiles_destroy(&b);
    tsr_tiles_destroy(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(shapes_are_distances, set_up, tear_down),
        cmocka_unit_test(long_shape),
        cmocka_unit_test_setup_teardown(turned_shapes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(fields_combine, set_up, tear_down),
        cmocka_unit_test_setup_teardown(blends_fill_the_seam, set_up, tear_down),
        cmocka_unit_test_setup_teardown(identities, set_up, tear_down),
        cmocka_unit_test_setup_teardown(paste_disjoint, set_up, tear_down),
        cmocka_unit_test_setup_teardown(translate_and_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(transform_moves, set_up, tear_down),
        cmocka_unit_test_setup_teardown(selection_is_brute_force, set_up, tear_down),
        cmocka_unit_test_setup_teardown(disconnected_at_the_faces, set_up, tear_down),
        cmocka_unit_test_setup_teardown(animal_is_one_piece, set_up, tear_down),
        cmocka_unit_test_setup_teardown(same_bits_everywhere, set_up, tear_down),
        cmocka_unit_test_setup_teardown(refusals, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
