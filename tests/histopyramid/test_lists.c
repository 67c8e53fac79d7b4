/* Classifiers, lists of voxels, batches, clouds of points and sparse matrices, against serial code of this file. */
#include <math.h>

#include "pyramids.h"

/* ---- the classifiers on their own terms ------------------------------------------------------------------------------------------------ */

static int inside(tsr_pyramid_classifier kind, double v, double lower, double upper)
{
    switch (kind) {
    case TSR_PYRAMID_NONZERO: return !isnan(v) && v != 0;
    case TSR_PYRAMID_LABEL: return v == lower;
    case TSR_PYRAMID_MAGNITUDE: return fabs(v) > lower;
    case TSR_PYRAMID_SURFACE:
    case TSR_PYRAMID_CROSSINGS: return v < lower;
    default: return lower <= v && v < upper;
    }
}
static double value_at(const double *v, tsr_size3 n, int64_t x, int64_t y, int64_t z) { return v[(z * n.y + y) * n.x + x]; }

static int expected_multiplicity(const double *v, tsr_size3 n, const tsr_pyramid_options *o, int64_t x, int64_t y, int64_t z)
{
    const int64_t at[3] = { x, y, z }, size[3] = { n.x, n.y, n.z };
    const double own = value_at(v, n, x, y, z);
    int result = 0;
    if (o->classifier == TSR_PYRAMID_SURFACE) {
        int in = 0, out = 0;
        for (int64_t dz = 0; dz <= (n.z > 1); dz++)
            for (int64_t dy = 0; dy <= (n.y > 1); dy++)
                for (int64_t dx = 0; dx <= (n.x > 1); dx++) {
                    if (x + dx >= n.x || y + dy >= n.y || z + dz >= n.z) return 0;
                    const double w = value_at(v, n, x + dx, y + dy, z + dz);
                    if (isnan(w)) return 0;
                    if (w < o->lower) in = 1;
                    else out = 1;
                }
        return in && out;
    }
    for (int k = 0; k < 3; k++) {
        if (o->classifier == TSR_PYRAMID_CROSSINGS) {
            if (at[k] + 1 >= size[k]) continue;
            const double w = value_at(v, n, x + (k == 0), y + (k == 1), z + (k == 2));
            if (!isnan(own) && !isnan(w)) result += (own < o->lower) != (w < o->lower);
        } else if (o->classifier == TSR_PYRAMID_BOUNDARY && inside(o->classifier, own, o->lower, o->upper) && size[k] > 1) {
            for (int d = -1; d <= 1; d += 2)
                if (at[k] + d < 0 || at[k] + d >= size[k] ||
                    !inside(o->classifier, value_at(v, n, x + d * (k == 0), y + d * (k == 1), z + d * (k == 2)), o->lower, o->upper))
                    result = 1;
        }
    }
    if (o->classifier == TSR_PYRAMID_CROSSINGS || o->classifier == TSR_PYRAMID_BOUNDARY) return result;
    return inside(o->classifier, own, o->lower, o->upper);
}

static void check_classifier(tsr_dtype dtype, tsr_size3 n, const void *data, const double *real, double slope, double intercept,
                             const tsr_pyramid_options *o)
{
    tsr_context *context = test_context();
    tsr_volume *host, *device;
    built b = { .context = context };
    int64_t cells = n.x * n.y * n.z, total = 0, nans = 0, k = 0;
    require_ok(tsr_volume_wrap(NULL, dtype, n, NULL, (void *)(uintptr_t)data, NULL, NULL, &host));
    require_ok(tsr_volume_set_scaling(host, slope, intercept));
    require_ok(tsr_volume_copy(host, context, &device));
    require_ok(tsr_pyramid_create(context, n, o, &b.pyramid));
    require_ok(tsr_pyramid_build(b.pyramid, device));
    b.info = (tsr_pyramid_info)TSR_PYRAMID_INFO;
    require_ok(tsr_pyramid_describe(b.pyramid, &b.info));
    int64_t *order = visits(n, o);
    for (int64_t i = 0; i < cells; i++) {
        total += expected_multiplicity(real, n, o, i % n.x, i / n.x % n.y, i / n.x / n.y);
        nans += isnan(real[i]);
    }
    if ((int64_t)b.info.total != total)
        fail_msg("classifier %d type %s: %d outputs, expected %d", (int)o->classifier, tsr_dtype_name(dtype), (int)b.info.total, (int)total);
    assert_int_equal(b.info.not_a_number, nans);
    tsr_pyramid_entry *e = selected(&b, NULL, 0, total + 1);
    uint64_t *ranks = ranked(&b, order, cells);
    for (int64_t i = 0; i < cells; i++) {
        assert_int_equal(ranks[i], k);
        const int64_t own = expected_multiplicity(real, n, o, order[i] % n.x, order[i] / n.x % n.y, order[i] / n.x / n.y);
        for (int64_t copy = 0; copy < own; copy++, k++) assert_true(e[k].voxel == order[i] && e[k].copy == copy);
    }
    free(e);
    free(ranks);
    free(order);
    tsr_volume_destroy(&host);
    tsr_volume_destroy(&device);
    finish(&b);
}

/* Every classifier on bytes, on scaled shorts and on floats with NaN; base kept and implicit; bricks of every shape. */
static void classifiers(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    const tsr_size3 sizes[] = { { 36, 9, 6 }, { 40, 21, 1 }, { 23, 5, 7 }, { 130, 1, 1 }, { 5, 3, 2 } };
    static double real[36 * 9 * 6];
    static uint8_t bytes[36 * 9 * 6];
    static int16_t shorts[36 * 9 * 6];
    static float floats[36 * 9 * 6];
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int kind = TSR_PYRAMID_RANGE; kind <= TSR_PYRAMID_CROSSINGS; kind++) {
            const int64_t cells = sizes[s].x * sizes[s].y * sizes[s].z;
            tsr_pyramid_options o = TSR_PYRAMID_OPTIONS;
            o.classifier = (tsr_pyramid_classifier)kind;
            o.order = (tsr_pyramid_order)((s + (size_t)kind) % 3);
            o.reverse = 5;
            o.implicit_base = kind % 2;
            o.fanout = (int32_t[]){ 0, 9, 27, 3 }[s % 4];
            o.lower = 3;
            o.upper = 6;
            for (int64_t i = 0; i < cells; i++) real[i] = bytes[i] = (uint8_t)(test_random(&seed) % 8);
            check_classifier(TSR_U8, sizes[s], bytes, real, 1, 0, &o);
            for (int64_t i = 0; i < cells; i++) real[i] = bytes[i] * -0.5 + 5;
            check_classifier(TSR_U8, sizes[s], bytes, real, -0.5, 5, &o);
            for (int64_t i = 0; i < cells; i++) {
                shorts[i] = (int16_t)(test_random(&seed) % 40 - 20);
                real[i] = shorts[i] * 0.5;
            }
            check_classifier(TSR_I16, sizes[s], shorts, real, 0.5, 0, &o);
            for (int64_t i = 0; i < cells; i++) real[i] = floats[i] = test_random(&seed) % 9 ? (float)(8 * test_uniform(&seed)) : NAN;
            check_classifier(TSR_F32, sizes[s], floats, real, 1, 0, &o);
        }
}

/* ---- several classes in one sweep: the list of each as if it were alone ------------------------------------------------------------------- */

static void check_classes(tsr_dtype dtype, tsr_size3 n, const void *data, const double *real, const tsr_pyramid_options *options)
{
    const int64_t cells = n.x * n.y * n.z, batch = options->batch ? options->batch : 1;
    const tsr_size3 one = { n.x, n.y, n.z / batch };
    int64_t *order = visits(n, options), k = 0, nans = 0;
    tsr_context *context = test_context();
    tsr_volume *host, *device; /* it outlives the queries: the base may be implicit */
    built b = { .context = context };
    require_ok(tsr_volume_wrap(NULL, dtype, n, NULL, (void *)(uintptr_t)data, NULL, NULL, &host));
    require_ok(tsr_volume_copy(host, context, &device));
    require_ok(tsr_pyramid_create(context, n, options, &b.pyramid));
    require_ok(tsr_pyramid_build(b.pyramid, device));
    b.info = (tsr_pyramid_info)TSR_PYRAMID_INFO;
    require_ok(tsr_pyramid_describe(b.pyramid, &b.info));
    int64_t *stacked = malloc((size_t)(cells * options->channels) * sizeof *stacked);
    for (int32_t c = 0; c < options->channels; c++)
        for (int64_t i = 0; i < cells; i++) stacked[c * cells + i] = c * cells + order[i];
    tsr_pyramid_entry *e = selected(&b, NULL, 0, (int64_t)b.info.total + 1);
    uint64_t *ranks = ranked(&b, stacked, cells * options->channels), firsts[1 + 16 * 16];
    void *memory;
    require_ok(tsr_device_allocate(b.context, sizeof firsts, &memory));
    require_ok(tsr_pyramid_firsts(b.pyramid, memory));
    require_ok(tsr_device_move(NULL, firsts, b.context, memory, (size_t)(options->channels * batch + 1) * 8));
    tsr_device_release(b.context, memory, sizeof firsts);
    for (int64_t i = 0; i < cells; i++) nans += isnan(real[i]);
    assert_int_equal(b.info.not_a_number, options->classes[0].classifier == TSR_PYRAMID_COUNTS ? 0 : nans);
    for (int32_t c = 0; c < options->channels; c++) {
        tsr_pyramid_options alone = *options;
        alone.classifier = options->classes[c].classifier;
        alone.lower = options->classes[c].lower;
        alone.upper = options->classes[c].upper;
        for (int64_t i = 0; i < cells; i++) {
            const int64_t own = order[i] % (one.x * one.y * one.z), volume = order[i] / (one.x * one.y * one.z);
            const double *values = real + volume * one.x * one.y * one.z;
            const int m = alone.classifier == TSR_PYRAMID_COUNTS
                              ? (int)values[own]
                              : expected_multiplicity(values, one, &alone, own % n.x, own / n.x % n.y, own / n.x / n.y);
            if (i % (one.x * one.y * one.z) == 0) assert_int_equal(firsts[c * batch + volume], k);
            assert_int_equal(ranks[c * cells + i], k);
            for (int copy = 0; copy < m; copy++, k++)
                if (k >= (int64_t)b.info.total || e[k].voxel != c * cells + order[i] || e[k].copy != copy)
                    fail_msg("%dx%dx%d class %d of %d, base %d, fanout %d order %d output %d: voxel %d, expected %d", (int)n.x, (int)n.y, (int)n.z, c,
                             options->channels, options->implicit_base, options->fanout, (int)options->order, (int)k, (int)e[k].voxel,
                             (int)(c * cells + order[i]));
        }
    }
    assert_int_equal(k, b.info.total);
    assert_int_equal(firsts[options->channels * batch], k);
    assert_int_equal(e[k].voxel, -1);
    free(stacked);
    free(ranks);
    free(order);
    free(e);
    tsr_volume_destroy(&host);
    tsr_volume_destroy(&device);
    finish(&b);
}

static void several_classes(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    const tsr_size3 sizes[] = { { 32, 18, 18 }, { 80, 70, 1 }, { 23, 5, 6 }, { 5, 1, 1 }, { 2100, 2, 2 } };
    static double real[32 * 18 * 18];
    static uint8_t bytes[32 * 18 * 18];
    static float floats[32 * 18 * 18];
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int round = 0; round < 6; round++) {
            const int64_t cells = sizes[s].x * sizes[s].y * sizes[s].z;
            tsr_pyramid_class classes[TSR_PYRAMID_CHANNELS];
            tsr_pyramid_options o = TSR_PYRAMID_OPTIONS;
            o.channels = (int32_t[]){ 1, 2, 3, 5, 16, 7 }[round];
            o.classes = classes;
            o.order = (tsr_pyramid_order)((s + (size_t)round) % 3);
            o.reverse = 3;
            o.fanout = (int32_t[]){ 0, 9, 16, 3, 0 }[(s + (size_t)round) % 5];
            o.implicit_base = round == 3;
            if (sizes[s].z % 2 == 0 && round % 2) o.batch = 2;
            for (int32_t c = 0; c < o.channels; c++) {
                const double lower = (double)(test_random(&seed) % 6);
                const tsr_pyramid_classifier kind = (tsr_pyramid_classifier)(round < 4 ? TSR_PYRAMID_RANGE + c % 4 : 1 + (c + round) % 7);
                classes[c] = (tsr_pyramid_class){ kind, lower, lower + 1 + (double)(test_random(&seed) % 4) };
            }
            if (round == 5) classes[1].classifier = TSR_PYRAMID_COUNTS;
            for (int64_t i = 0; i < cells; i++) real[i] = bytes[i] = (uint8_t)(test_random(&seed) % 8 * (i / 5000 != 1)); /* and empty tiles */
            check_classes(TSR_U8, sizes[s], bytes, real, &o);
            if (round == 5 || (test_is_slow() && round % 2)) continue;
            for (int64_t i = 0; i < cells; i++) real[i] = floats[i] = test_random(&seed) % 9 ? (float)(8 * test_uniform(&seed)) : NAN;
            check_classes(TSR_F32, sizes[s], floats, real, &o);
        }
    tsr_context *context = test_context();
    tsr_pyramid_options o = TSR_PYRAMID_OPTIONS;
    tsr_pyramid_class wrong[2] = { { TSR_PYRAMID_NONZERO, 0, 0 }, { TSR_PYRAMID_RANGE, 2, 2 } };
    tsr_pyramid *p;
    o.channels = 2;
    require_error(tsr_pyramid_create(context, (tsr_size3){ 4, 4, 4 }, &o, &p), TSR_ERROR_ARGUMENT, "classes is NULL, expected 2");
    o.classes = wrong;
    require_error(tsr_pyramid_create(context, (tsr_size3){ 4, 4, 4 }, &o, &p), TSR_ERROR_ARGUMENT, "range from 2 to 2");
    o.channels = 17;
    require_error(tsr_pyramid_create(context, (tsr_size3){ 4, 4, 4 }, &o, &p), TSR_ERROR_ARGUMENT, "channels is 17, expected 0 to 16");
    tsr_context_destroy(&context);
}

/* ---- multiplicities of any integer type ------------------------------------------------------------------------------------------------------ */

static void put_integer(tsr_dtype dtype, void *data, int64_t i, int64_t v)
{
    switch (dtype) {
    case TSR_U8: ((uint8_t *)data)[i] = (uint8_t)v; break;
    case TSR_I8: ((int8_t *)data)[i] = (int8_t)v; break;
    case TSR_U16: ((uint16_t *)data)[i] = (uint16_t)v; break;
    case TSR_I16: ((int16_t *)data)[i] = (int16_t)v; break;
    case TSR_U32: ((uint32_t *)data)[i] = (uint32_t)v; break;
    case TSR_I32: ((int32_t *)data)[i] = (int32_t)v; break;
    case TSR_U64: ((uint64_t *)data)[i] = (uint64_t)v; break;
    default: ((int64_t *)data)[i] = v; break;
    }
}

static void counts_of_integers(void **state)
{
    (void)state;
    static const struct {
        tsr_dtype dtype;
        int64_t least, largest; /* what the type holds of values that matter */
    } types[] = { { TSR_U8, 0, 255 },         { TSR_I8, -128, 127 },       { TSR_U16, 0, 65535 },     { TSR_I16, -32768, 32767 },
                  { TSR_U32, 0, 3000000000 }, { TSR_I32, -7, 2000000000 }, { TSR_U64, 0, 1ll << 60 }, { TSR_I64, -(1ll << 60), 1ll << 60 } };
    static const tsr_size3 sizes[] = { { 21, 9, 6 }, { 70, 33, 1 }, { 130, 1, 1 } };
    static const int32_t bounds[] = { 0, 1, 100, 255, 1000, 1 << 20 };
    static uint64_t data[70 * 33];
    static int64_t count[70 * 33];
    uint64_t seed = test_seed();
    for (int round = 0; round < 3 * 8 * 6; round++) {
        const tsr_size3 n = sizes[round % 3];
        const int64_t cells = n.x * n.y * n.z;
        const int type = round / 3 % 8;
        tsr_pyramid_options o = TSR_PYRAMID_OPTIONS;
        o.most = bounds[round / 24];
        o.implicit_base = o.most > 255 || round % 2;
        o.order = (tsr_pyramid_order)(round % 2);
        o.fanout = round % 5 == 4 ? 9 : 0;
        const int64_t most = o.most ? o.most : 255;
        int64_t refused = -1, wrong = 0, total = 0, k = 0;
        for (int64_t i = 0; i < cells; i++) {
            const uint64_t pick = test_random(&seed) % 40;
            int64_t v = pick < 30 ? 0 : pick < 38 ? (int64_t)pick - 29 : pick == 38 ? most : test_random(&seed) % 2 ? most + 1 : -1;
            if (most > 255 && pick == 38 && i % 500) v = 300; /* lists stay short */
            v = v < types[type].least ? types[type].least : v > types[type].largest ? types[type].largest : v;
            put_integer(types[type].dtype, data, i, v);
            count[i] = v < 0 || v > most ? 0 : v;
            total += count[i];
            if (v < 0 || v > most) {
                wrong++;
                if (refused < 0) refused = i;
            }
        }
        tsr_context *context = test_context();
        tsr_volume *host, *device;
        built b = { .context = context };
        int64_t *order = visits(n, &o);
        require_ok(tsr_volume_wrap(NULL, types[type].dtype, n, NULL, data, NULL, NULL, &host));
        require_ok(tsr_volume_copy(host, context, &device));
        require_ok(tsr_pyramid_create(context, n, &o, &b.pyramid));
        require_ok(tsr_pyramid_build(b.pyramid, device));
        b.info = (tsr_pyramid_info)TSR_PYRAMID_INFO;
        require_ok(tsr_pyramid_describe(b.pyramid, &b.info));
        assert_int_equal(b.info.total, total);
        assert_int_equal(b.info.not_a_number, wrong);
        assert_int_equal(b.info.refused, refused);
        if (total < 200000) {
            tsr_pyramid_entry *e = selected(&b, NULL, 0, total + 1);
            uint64_t *ranks = ranked(&b, order, cells);
            for (int64_t i = 0; i < cells; i++) {
                assert_int_equal(ranks[i], k);
                for (int64_t copy = 0; copy < count[order[i]]; copy++, k++)
                    if (e[k].voxel != order[i] || e[k].copy != copy)
                        fail_msg("type %d, most %d: output %d is copy %d of voxel %d, expected %d of %d", (int)types[type].dtype, (int)most, (int)k,
                                 (int)e[k].copy, (int)e[k].voxel, (int)copy, (int)order[i]);
            }
            assert_int_equal(k, total);
            assert_int_equal(e[k].voxel, -1);
            free(ranks);
            free(e);
        }
        free(order);
        tsr_volume_destroy(&host);
        tsr_volume_destroy(&device);
        finish(&b);
    }
    tsr_context *context = test_context();
    tsr_pyramid_options o = TSR_PYRAMID_OPTIONS;
    tsr_pyramid *p;
    tsr_volume *floats;
    o.most = 256;
    require_error(tsr_pyramid_create(context, (tsr_size3){ 4, 4, 4 }, &o, &p), TSR_ERROR_ARGUMENT,
                  "most is 256, expected at most 255, or implicit_base");
    o.implicit_base = 1;
    o.most = (1 << 20) + 1;
    require_error(tsr_pyramid_create(context, (tsr_size3){ 4, 4, 4 }, &o, &p), TSR_ERROR_ARGUMENT, "most is 1048577, expected 1 to 1048576");
    o.most = 9;
    require_ok(tsr_pyramid_create(context, (tsr_size3){ 4, 4, 4 }, &o, &p));
    require_ok(tsr_volume_create(context, TSR_F32, (tsr_size3){ 4, 4, 4 }, NULL, &floats));
    require_error(tsr_pyramid_build(p, floats), TSR_ERROR_ARGUMENT, "counts of type f32, expected integers");
    tsr_volume_destroy(&floats);
    tsr_pyramid_destroy(&p);
    tsr_context_destroy(&context);
}

/* ---- lists of voxels and batches ------------------------------------------------------------------------------------------------------- */

static void indices_and_batches(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    const tsr_size3 n = { 70, 33, 12 };
    static uint8_t data[70 * 33 * 12];
    for (int share = 0; share < 3; share++)
        for (int order = 0; order < 3; order++) {
            tsr_pyramid_options o = TSR_PYRAMID_OPTIONS;
            o.classifier = TSR_PYRAMID_NONZERO;
            o.order = (tsr_pyramid_order)order;
            o.reverse = 6;
            o.batch = 4;
            for (size_t i = 0; i < sizeof data; i++) data[i] = test_uniform(&seed) < (const double[]){ 0.004, 0.3, 1 }[share];
            built b = build(TSR_U8, n, data, &o);
            const int64_t total = (int64_t)b.info.total;
            int64_t *expected = visits(n, &o), k = 0;
            for (int64_t i = 0; i < (int64_t)sizeof data; i++)
                if (data[expected[i]]) expected[k++] = expected[i];
            assert_int_equal(k, total);
            uint32_t *narrow = malloc((size_t)total * 4 + 4);
            uint64_t *wide = malloc((size_t)total * 8 + 8), firsts[5];
            void *memory;
            require_ok(tsr_device_allocate(b.context, (size_t)total * 8 + 64, &memory));
            require_ok(tsr_pyramid_indices(b.pyramid, 0, total, TSR_U32, memory));
            require_ok(tsr_device_move(NULL, narrow, b.context, memory, (size_t)total * 4));
            require_ok(tsr_pyramid_indices(b.pyramid, 0, total, TSR_U64, memory));
            require_ok(tsr_device_move(NULL, wide, b.context, memory, (size_t)total * 8));
            require_ok(tsr_pyramid_firsts(b.pyramid, memory));
            require_ok(tsr_device_move(NULL, firsts, b.context, memory, sizeof firsts));
            for (int64_t i = 0; i < total; i++) assert_true(narrow[i] == expected[i] && wide[i] == (uint64_t)expected[i]);
            for (int64_t v = 0; v <= 4; v++) {
                int64_t before = 0;
                for (int64_t i = 0; i < v * n.x * n.y * 3; i++) before += data[i];
                assert_int_equal(firsts[v], before);
            }
            tsr_device_release(b.context, memory, (size_t)total * 8 + 64);
            free(narrow);
            free(wide);
            free(expected);
            finish(&b);
        }
}

/* ---- clouds of points ------------------------------------------------------------------------------------------------------------------- */

/* Vertices of a sphere's isosurface lie on it, with radial normals, under an oblique mirrored geometry too. */
static void points_of_a_sphere(void **state)
{
    (void)state;
    const int n = 24;
    const double r = 8.3, c = 11.4;
    float *phi = malloc(sizeof *phi * (size_t)(n * n * n));
    const tsr_geometry g = { .affine = { { 0, -2, 0, 5 }, { 2, 0, 0, -7 }, { 0, 0, 2, 1 } }, .space = TSR_SPACE_LPS };
    for (int i = 0; i < n * n * n; i++) phi[i] = (float)(2 * (sqrt(pow(i % n - c, 2) + pow(i / n % n - c, 2) + pow(i / n / n - c, 2)) - r));
    tsr_context *context = test_context();
    tsr_volume *host, *device;
    tsr_points *points, *local;
    tsr_points_volume_options o = TSR_POINTS_VOLUME_OPTIONS;
    tsr_pyramid_options kept = TSR_PYRAMID_OPTIONS;
    o.pyramid = &kept;
    kept.classifier = TSR_PYRAMID_CROSSINGS;
    o.normals = 1;
    require_ok(tsr_volume_wrap(NULL, TSR_F32, (tsr_size3){ n, n, n }, &g, phi, NULL, NULL, &host));
    require_ok(tsr_volume_copy(host, context, &device));
    require_ok(tsr_points_from_volume(context, device, &o, &points));
    require_ok(tsr_points_copy(points, NULL, &local));
    assert_int_equal(tsr_points_space(local), TSR_SPACE_LPS);
    const int64_t count = tsr_points_count(local);
    assert_true(count > 1000);
    const tsr_vec3 m = tsr_geometry_to_world(&g, (tsr_vec3){ c, c, c });
    double off = 0, turned = 0;
    for (int64_t k = 0; k < count; k++) {
        const float *p = tsr_points_positions(local) + 3 * k, *q = tsr_points_normals(local) + 3 * k;
        const double d[3] = { p[0] - m.x, p[1] - m.y, p[2] - m.z }, far = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
        off = fmax(off, fabs(far - 2 * r));
        const double cross[3] = { d[1] * q[2] - d[2] * q[1], d[2] * q[0] - d[0] * q[2], d[0] * q[1] - d[1] * q[0] };
        turned = fmax(turned, asin(sqrt(cross[0] * cross[0] + cross[1] * cross[1] + cross[2] * cross[2]) / far) * 180 / acos(-1.0));
        assert_true(d[0] * q[0] + d[1] * q[1] + d[2] * q[2] > 0);
        assert_true(fabs(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] - 1) < 1e-5);
    }
    /* a distance is interpolated linearly along an edge, which takes up to h / 8 R voxels off it; central differences of it turn by h^2 / R^2 */
    print_message("points off the sphere by %.4f, normals turned by %.3f degrees\n", off, turned);
    assert_true(off < 2 / (8 * r) + 1e-4 && turned < 0.2);
    tsr_points_destroy(&points);
    tsr_points_destroy(&local);
    /* solid voxels, normals inwards; the place is the voxel's own */
    kept.classifier = TSR_PYRAMID_BOUNDARY;
    kept.order = TSR_PYRAMID_ROW;
    kept.lower = -INFINITY;
    o.inward = 1;
    require_ok(tsr_points_from_volume(context, device, &o, &points));
    require_ok(tsr_points_copy(points, NULL, &local));
    int64_t k = 0;
    for (int i = 0; i < n * n * n; i++) {
        const int x = i % n, y = i / n % n, z = i / n / n;
        if (!(phi[i] < 0)) continue;
        if (phi[i - 1] < 0 && phi[i + 1] < 0 && phi[i - n] < 0 && phi[i + n] < 0 && phi[i - n * n] < 0 && phi[i + n * n] < 0) continue;
        const tsr_vec3 w = tsr_geometry_to_world(&g, (tsr_vec3){ x, y, z });
        const float *p = tsr_points_positions(local) + 3 * k, *q = tsr_points_normals(local) + 3 * k++;
        assert_true(p[0] == (float)w.x && p[1] == (float)w.y && p[2] == (float)w.z);
        assert_true((w.x - m.x) * q[0] + (w.y - m.y) * q[1] + (w.z - m.z) * q[2] < 0);
    }
    assert_int_equal(tsr_points_count(local), k);
    tsr_points_destroy(&points);
    tsr_points_destroy(&local);
    /* two clouds in one sweep: each as if it were alone */
    const tsr_pyramid_class both[3] = { { TSR_PYRAMID_CROSSINGS, 2, 0 }, { TSR_PYRAMID_RANGE, -1, 1 }, { TSR_PYRAMID_LABEL, 1e9, 0 } };
    tsr_points_volume_options several = o;
    tsr_pyramid_options three = kept;
    several.pyramid = &three;
    tsr_points *clouds[3];
    three.channels = 3;
    three.classes = both;
    require_ok(tsr_points_from_classes(context, device, &several, clouds));
    for (int which = 0; which < 3; which++) {
        tsr_points *expected, *here;
        kept.classifier = both[which].classifier;
        kept.lower = both[which].lower;
        kept.upper = both[which].upper;
        require_ok(tsr_points_from_volume(context, device, &o, &points));
        require_ok(tsr_points_copy(points, NULL, &expected));
        require_ok(tsr_points_copy(clouds[which], NULL, &here));
        const size_t bytes = (size_t)tsr_points_count(expected) * 12;
        assert_int_equal(tsr_points_count(here), tsr_points_count(expected));
        assert_true((bytes > 0) == (which < 2));
        if (bytes) {
            assert_memory_equal(tsr_points_positions(here), tsr_points_positions(expected), bytes);
            assert_memory_equal(tsr_points_normals(here), tsr_points_normals(expected), bytes);
        }
        tsr_points_destroy(&expected);
        tsr_points_destroy(&here);
        tsr_points_destroy(&points);
        tsr_points_destroy(&clouds[which]);
    }
    require_error(tsr_points_from_volume(context, device, &several, &points), TSR_ERROR_ARGUMENT, "channels is 3, expected one class");
    kept.classifier = TSR_PYRAMID_LABEL;
    kept.lower = 1e9; /* nothing */
    require_ok(tsr_points_from_volume(context, device, &o, &points));
    assert_int_equal(tsr_points_count(points), 0);
    tsr_points_destroy(&points);
    int64_t nans = -1;
    o.not_a_number = &nans;
    require_ok(tsr_points_from_volume(context, device, &o, &points));
    assert_int_equal(nans, 0);
    tsr_points_destroy(&points);
    tsr_volume *holes = NULL, *there = NULL;
    require_ok(tsr_volume_create(NULL, TSR_F32, (tsr_size3){ 9, 7, 5 }, NULL, &holes));
    for (int i = 0; i < 9 * 7 * 5; i++) ((float *)tsr_volume_data(holes))[i] = i % 45 == 11 ? NAN : 1e9f;
    require_ok(tsr_volume_copy(holes, context, &there));
    require_ok(tsr_points_from_volume(context, there, &o, &points));
    assert_int_equal(nans, 7);
    assert_int_equal(tsr_points_count(points), 9 * 7 * 5 - 7);
    tsr_points_destroy(&points);
    tsr_volume_destroy(&there);
    tsr_volume_destroy(&holes);
    kept.classifier = TSR_PYRAMID_COUNTS;
    require_error(tsr_points_from_volume(context, device, &o, &points), TSR_ERROR_ARGUMENT, "classifier counts");
    tsr_volume_destroy(&host);
    tsr_volume_destroy(&device);
    tsr_context_destroy(&context);
    free(phi);
}

/* The same clouds by slabs of every thickness: planes are asked for once, in order; the bits, the NaN and the order are those of the whole. */
struct planes {
    const char *data;
    int64_t plane, next, depth, failing;
};
static tsr_status give_planes(void *user, int64_t begin, int64_t end, void *samples)
{
    struct planes *p = (struct planes *)user;
    assert_true(begin == p->next && end > begin && end <= p->depth);
    p->next = end;
    if (p->failing >= 0 && end > p->failing) return TSR_ERROR_IO;
    memcpy(samples, p->data + begin * p->plane, (size_t)((end - begin) * p->plane));
    return TSR_OK;
}
static void clouds_by_slabs(void **state)
{
    (void)state;
    enum { CLASSES = 6, NX = 19, NY = 17, NZ = 21 };
    static const tsr_pyramid_class classes[CLASSES] = { { TSR_PYRAMID_CROSSINGS, 0.5, 0 }, { TSR_PYRAMID_RANGE, 0.4, 0.6 },
                                                        { TSR_PYRAMID_SURFACE, 0.5, 0 },   { TSR_PYRAMID_BOUNDARY, 0.3, 2 },
                                                        { TSR_PYRAMID_LABEL, 7, 0 },       { TSR_PYRAMID_MAGNITUDE, 0.9, 0 } };
    static const tsr_geometry g = { .affine = { { 0.1, -2, 0.3, 5 }, { 2, 0, 0.7, -7.3 }, { 0, 0.2, 1.9, 1e3 } }, .space = TSR_SPACE_LPS };
    uint64_t seed = test_seed();
    tsr_context *context = test_context();
    float *values = malloc(sizeof *values * NX * NY * NZ);
    assert_non_null(values);
    for (int i = 0; i < NX * NY * NZ; i++) values[i] = (float)(0.25 * test_uniform(&seed) + (double)(i / NX / NY % 7 < 3) * 0.5);
    values[5] = values[NX * NY * 7] = values[NX * NY * NZ - 1] = NAN;
    for (int turn = 0; turn < 4; turn++) { /* all of it, one plane, two, and an image */
        const tsr_size3 n = { NX, NY, turn == 1 ? 1 : turn == 2 ? 2 : NZ };
        tsr_volume *host, *device;
        tsr_points_volume_options o = TSR_POINTS_VOLUME_OPTIONS;
        tsr_pyramid_options rule = TSR_PYRAMID_OPTIONS;
        tsr_points *whole[CLASSES], *made[CLASSES];
        int64_t nan[2] = { -1, -1 };
        rule.order = TSR_PYRAMID_ROW;
        rule.channels = CLASSES;
        rule.classes = classes;
        o.pyramid = &rule;
        o.normals = turn != 3;
        o.not_a_number = &nan[0];
        require_ok(tsr_volume_wrap(NULL, TSR_F32, n, &g, values, NULL, NULL, &host));
        require_ok(tsr_volume_copy(host, context, &device));
        require_ok(tsr_volume_set_scaling(device, 2, -0.5));
        require_ok(tsr_points_from_classes(context, device, &o, whole));
        for (int64_t thick = 0; thick <= n.z; thick += thick < 5 ? 1 : 7) {
            struct planes p = { (const char *)values, NX * NY * (int64_t)sizeof(float), 0, n.z, -1 };
            tsr_planes_source source = TSR_PLANES_SOURCE;
            source.size = n;
            source.dtype = TSR_F32;
            source.slope = 2;
            source.intercept = -0.5;
            source.geometry = &g;
            source.planes = give_planes;
            source.user = &p;
            o.not_a_number = &nan[1];
            require_ok(tsr_points_from_source(context, &source, &o, thick, made));
            assert_int_equal(p.next, n.z);
            assert_int_equal(nan[1], nan[0]);
            for (int c = 0; c < CLASSES; c++) {
                tsr_points *here;
                require_ok(tsr_points_copy(whole[c], NULL, &here));
                const size_t bytes = (size_t)tsr_points_count(here) * 12;
                assert_true(tsr_points_device(made[c]).kind == TSR_DEVICE_CPU && tsr_points_space(made[c]) == TSR_SPACE_LPS);
                if (tsr_points_count(made[c]) != tsr_points_count(here))
                    fail_msg("class %d, %d planes of %d: %d points, expected %d", c, (int)thick, (int)n.z, (int)tsr_points_count(made[c]),
                             (int)tsr_points_count(here));
                if (bytes) assert_memory_equal(tsr_points_positions(made[c]), tsr_points_positions(here), bytes);
                if (bytes && o.normals) assert_memory_equal(tsr_points_normals(made[c]), tsr_points_normals(here), bytes);
                if (n.z == NZ) assert_true((bytes > 0) == (classes[c].classifier != TSR_PYRAMID_LABEL));
                tsr_points_destroy(&here);
                tsr_points_destroy(&made[c]);
            }
            if (thick != 3 || n.z != NZ) continue;
            test_stop stop = { 0.5, 0 };
            p.next = 0;
            o.progress = (tsr_progress){ test_stops, &stop };
            require_error(tsr_points_from_source(context, &source, &o, thick, made), TSR_ERROR_CANCELLED, "cancelled during points");
            for (int c = 0; c < CLASSES; c++) assert_null(made[c]);
            o.progress = (tsr_progress){ NULL, NULL };
            p.next = 0;
            p.failing = 12;
            assert_int_equal(tsr_points_from_source(context, &source, &o, thick, made), TSR_ERROR_IO);
            for (int c = 0; c < CLASSES; c++) assert_null(made[c]);
            rule.order = TSR_PYRAMID_MORTON;
            require_error(tsr_points_from_source(context, &source, &o, 0, made), TSR_ERROR_UNSUPPORTED, "expected ROW");
            rule.order = TSR_PYRAMID_ROW;
            require_error(tsr_points_from_source(context, &source, &o, -1, made), TSR_ERROR_ARGUMENT, "slabs of -1 planes");
            source.planes = NULL;
            require_error(tsr_points_from_source(context, &source, &o, 0, made), TSR_ERROR_ARGUMENT, "no function");
        }
        for (int c = 0; c < CLASSES; c++) tsr_points_destroy(&whole[c]);
        tsr_volume_destroy(&host);
        tsr_volume_destroy(&device);
    }
    assert_int_equal(tsr_context_memory(context)->current_bytes, 0);
    free(values);
    tsr_context_destroy(&context);
}

/* ---- sparse matrices --------------------------------------------------------------------------------------------------------------------- */

/* A x by a plain loop over the dense matrix: within 1e-12 of the sum of magnitudes, for vectors of both types; and bit for bit the
 * documented sum. */
static void check_product(const tsr_matrix *m, const double *real, double tolerance)
{
    enum { MOST = 500 };
    double x[MOST], y[MOST];
    float narrow[MOST], result[MOST];
    void *there[2];
    uint64_t seed = 5;
    assert_true(m->rows <= MOST && m->columns_count <= MOST);
    for (int64_t c = 0; c < m->columns_count; c++) {
        x[c] = 2 * test_uniform(&seed) - 1;
        narrow[c] = (float)x[c];
    }
    const size_t bytes[2] = { (size_t)m->columns_count * 8, (size_t)m->rows * 8 };
    for (int k = 0; k < 2; k++) require_ok(tsr_device_allocate(m->context, bytes[k], &there[k]));
    require_ok(tsr_device_move(m->context, there[0], NULL, x, bytes[0]));
    require_ok(tsr_matrix_multiply(m, TSR_F64, there[0], there[1]));
    require_ok(tsr_device_move(NULL, y, m->context, there[1], bytes[1]));
    require_ok(tsr_device_move(m->context, there[0], NULL, narrow, bytes[0] / 2));
    require_ok(tsr_matrix_multiply(m, TSR_F32, there[0], there[1]));
    require_ok(tsr_device_move(NULL, result, m->context, there[1], bytes[1] / 2));
    for (int64_t r = 0; r < m->rows; r++) {
        double sum = 0, most = 0, single = 0, part[32] = { 0 };
        int64_t entries = 0;
        for (int64_t c = 0; c < m->columns_count; c++) {
            const double a = real[r * m->columns_count + c];
            if (!(fabs(a) > tolerance)) continue;
            sum += a * x[c];
            part[entries++ % 32] += a * x[c];
            single += a * (double)narrow[c];
            most += fabs(a * x[c]);
        }
        if (!(fabs(y[r] - sum) <= 1e-12 * most)) fail_msg("row %d: %.17g, expected %.17g", (int)r, y[r], sum);
        assert_true(fabs((double)result[r] - single) <= 1e-7 * most);
        for (int half = 16; half; half /= 2)
            for (int k = 0; k < half; k++) part[k] += part[k + half];
        assert_true(y[r] == part[0]);
    }
    require_error(tsr_matrix_multiply(m, TSR_I32, there[0], there[1]), TSR_ERROR_ARGUMENT, "vectors of type i32, expected f32 or f64");
    require_error(tsr_matrix_multiply(m, TSR_F64, there[0], NULL), TSR_ERROR_ARGUMENT, "y is NULL");
    require_error(tsr_matrix_multiply(m, TSR_F64, there[0], (char *)there[0] + 8), TSR_ERROR_ARGUMENT, "x and y overlap");
    for (int k = 0; k < 2; k++) tsr_device_release(m->context, there[k], bytes[k]);
}

static void check_matrix(tsr_dtype dtype, int64_t rows, int64_t columns, const void *dense, const double *real, double tolerance, int64_t expected)
{
    tsr_context *context = test_context();
    tsr_volume *host, *device;
    tsr_matrix m;
    require_ok(tsr_volume_wrap(NULL, dtype, (tsr_size3){ columns, rows, 1 }, NULL, (void *)(uintptr_t)dense, NULL, NULL, &host));
    require_ok(tsr_volume_copy(host, context, &device));
    require_ok(tsr_matrix_from_dense(context, device, tolerance, &m));
    assert_true(m.rows == rows && m.columns_count == columns && m.dtype == dtype);
    if (expected >= 0) assert_int_equal(m.nonzeros, expected);
    const size_t bytes = tsr_dtype_size(dtype), count = (size_t)m.nonzeros;
    uint64_t *starts = malloc((size_t)(rows + 1) * 8);
    uint32_t *column = malloc(count * 4 + 4);
    char *values = malloc(count * bytes + 8);
    require_ok(tsr_device_move(NULL, starts, context, m.starts, (size_t)(rows + 1) * 8));
    if (count) {
        require_ok(tsr_device_move(NULL, column, context, m.columns, count * 4));
        require_ok(tsr_device_move(NULL, values, context, m.values, count * bytes));
    }
    size_t k = 0;
    for (int64_t r = 0; r < rows; r++) {
        assert_int_equal(starts[r], k);
        for (int64_t c = 0; c < columns; c++)
            if (fabs(real[r * columns + c]) > tolerance) {
                assert_true(k < count);
                assert_int_equal(column[k], c);
                assert_memory_equal(values + k * bytes, (const char *)dense + (size_t)(r * columns + c) * bytes, bytes);
                k++;
            }
    }
    assert_int_equal(starts[rows], k);
    assert_int_equal(m.nonzeros, k);
    check_product(&m, real, tolerance);
    char *again = calloc((size_t)(rows * columns), bytes); /* and back */
    for (int64_t r = 0; r < rows; r++)
        for (uint64_t n = starts[r]; n < starts[r + 1]; n++) memcpy(again + (size_t)(r * columns + column[n]) * bytes, values + n * bytes, bytes);
    if (tolerance == 0) assert_memory_equal(again, dense, (size_t)(rows * columns) * bytes);
    free(again);
    free(starts);
    free(column);
    free(values);
    tsr_matrix_destroy(&m);
    tsr_matrix_destroy(&m);
    tsr_volume_destroy(&host);
    tsr_volume_destroy(&device);
    tsr_context_destroy(&context);
}

/* The other layouts of a sparse matrix come from what is there (docs/guide/pyramids.md): coordinates are the list of entries itself, compressed columns are the
 * rows of the matrix turned round. Both against plain loops over the dense matrix. */
static void coordinates_and_columns(void **state)
{
    (void)state;
    enum { ROWS = 23, COLUMNS = 41, CELLS = ROWS * COLUMNS };
    uint64_t seed = test_seed();
    float dense[CELLS];
    tsr_context *context = test_context();
    tsr_volume *host, *device, *turned;
    for (int i = 0; i < CELLS; i++) dense[i] = test_uniform(&seed) < 0.8 ? 0 : (float)(test_uniform(&seed) - 0.5);
    require_ok(tsr_volume_wrap(NULL, TSR_F32, (tsr_size3){ COLUMNS, ROWS, 1 }, NULL, dense, NULL, NULL, &host));
    require_ok(tsr_volume_copy(host, context, &device));

    tsr_pyramid_options o = TSR_PYRAMID_OPTIONS; /* coordinates */
    tsr_pyramid *pyramid;
    tsr_pyramid_info info = TSR_PYRAMID_INFO;
    uint32_t place[CELLS];
    void *list;
    o.classifier = TSR_PYRAMID_MAGNITUDE;
    o.lower = 0.1;
    o.order = TSR_PYRAMID_ROW;
    require_ok(tsr_pyramid_create(context, tsr_volume_size(device), &o, &pyramid));
    require_ok(tsr_pyramid_build(pyramid, device));
    require_ok(tsr_pyramid_describe(pyramid, &info));
    require_ok(tsr_device_allocate(context, sizeof place, &list));
    require_ok(tsr_pyramid_indices(pyramid, 0, (int64_t)info.total, TSR_U32, list));
    require_ok(tsr_device_move(NULL, place, context, list, (size_t)info.total * 4));
    uint64_t k = 0;
    for (uint32_t r = 0; r < ROWS; r++)
        for (uint32_t c = 0; c < COLUMNS; c++)
            if (fabs((double)dense[r * COLUMNS + c]) > 0.1) {
                assert_true(k < info.total && place[k] / COLUMNS == r && place[k] % COLUMNS == c);
                k++;
            }
    assert_int_equal(k, info.total);

    tsr_matrix columns; /* compressed columns */
    uint64_t starts[COLUMNS + 1];
    uint32_t rows[CELLS];
    float values[CELLS];
    require_ok(tsr_volume_permute(context, device, (const int32_t[]){ 1, 0, 2 }, NULL, &turned));
    require_ok(tsr_matrix_from_dense(context, turned, 0.1, &columns));
    assert_true(columns.rows == COLUMNS && columns.columns_count == ROWS && columns.nonzeros == (int64_t)k);
    require_ok(tsr_device_move(NULL, starts, context, columns.starts, sizeof starts));
    require_ok(tsr_device_move(NULL, rows, context, columns.columns, (size_t)k * 4));
    require_ok(tsr_device_move(NULL, values, context, columns.values, (size_t)k * 4));
    uint64_t n = 0;
    for (uint32_t c = 0; c < COLUMNS; c++) {
        assert_int_equal(starts[c], n);
        for (uint32_t r = 0; r < ROWS; r++)
            if (fabs((double)dense[r * COLUMNS + c]) > 0.1) {
                assert_true(n < k && rows[n] == r && values[n] == dense[r * COLUMNS + c]);
                n++;
            }
    }
    assert_int_equal(starts[COLUMNS], n);
    tsr_matrix_destroy(&columns);
    tsr_device_release(context, list, sizeof place);
    tsr_pyramid_destroy(&pyramid);
    tsr_volume_destroy(&turned);
    tsr_volume_destroy(&device);
    tsr_volume_destroy(&host);
    tsr_context_destroy(&context);
}

static void sparse_matrices(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    enum { N = 12, M = N * N };
    static double a[M * M];
    static float f[37 * 70];
    for (int i = 0; i < M; i++) { /* five-point Laplacian: 5 n^2 - 4 n entries */
        a[i * M + i] = 4;
        if (i % N) a[i * M + i - 1] = -1;
        if (i % N < N - 1) a[i * M + i + 1] = -1;
        if (i >= N) a[i * M + i - N] = -1;
        if (i < M - N) a[i * M + i + N] = -1;
    }
    check_matrix(TSR_F64, M, M, a, a, 0, 5 * N * N - 4 * N);
    for (int i = 0; i < 37 * 70; i++) a[i] = f[i] = i / 70 == 5 || i % 70 == 9 || test_uniform(&seed) < 0.7 ? 0 : (float)(test_uniform(&seed) - 0.5);
    f[3] = NAN;
    a[3] = NAN;
    check_matrix(TSR_F32, 37, 70, f, a, 0.1, -1);
    memset(f, 0, sizeof f);
    memset(a, 0, sizeof a);
    check_matrix(TSR_F32, 70, 37, f, a, 0, 0);
    for (int i = 0; i < 37 * 70; i++) a[i] = f[i] = 1;
    check_matrix(TSR_F32, 37, 70, f, a, 0, 37 * 70);
    int16_t shorts[90 * 3];
    for (int i = 0; i < 90 * 3; i++) a[i] = shorts[i] = (int16_t)(i % 4 ? 0 : i - 130);
    check_matrix(TSR_I16, 90, 3, shorts, a, 0, -1);
    tsr_matrix none = { 0 };
    double x = 0;
    require_error(tsr_matrix_multiply(&none, TSR_F64, &x, &x), TSR_ERROR_ARGUMENT, "it is empty");
}

static void wrong_arguments(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    tsr_pyramid_options o = TSR_PYRAMID_OPTIONS;
    tsr_pyramid *p;
    tsr_volume *v;
    tsr_matrix m;
    const tsr_size3 n = { 4, 4, 6 };
    o.fanout = 12;
    require_error(tsr_pyramid_create(context, n, &o, &p), TSR_ERROR_ARGUMENT, "fanout is 12");
    o.fanout = 0;
    o.batch = 4;
    require_error(tsr_pyramid_create(context, n, &o, &p), TSR_ERROR_ARGUMENT, "batch is 4, expected a divisor");
    o.batch = 0;
    o.reverse = 8;
    require_error(tsr_pyramid_create(context, n, &o, &p), TSR_ERROR_ARGUMENT, "reverse is 8");
    o.reverse = 0;
    o.classifier = TSR_PYRAMID_MAGNITUDE;
    o.lower = -1;
    require_error(tsr_pyramid_create(context, n, &o, &p), TSR_ERROR_ARGUMENT, "lower is -1, expected 0 or more");
    o.classifier = TSR_PYRAMID_LABEL;
    o.lower = NAN;
    require_error(tsr_pyramid_create(context, n, &o, &p), TSR_ERROR_ARGUMENT, "lower is nan");
    o.classifier = (tsr_pyramid_classifier)99;
    require_error(tsr_pyramid_create(context, n, &o, &p), TSR_ERROR_ARGUMENT, "classifier is 99");
    require_ok(tsr_pyramid_create(context, n, NULL, &p));
    require_error(tsr_pyramid_indices(p, 0, 1, TSR_F32, &m), TSR_ERROR_ARGUMENT, "index_type");
    uint64_t keys[2];
    require_error(tsr_pyramid_firsts(p, keys), TSR_ERROR_STATE, "nothing was built");
    tsr_pyramid_destroy(&p);
    require_ok(tsr_volume_create(context, TSR_F32, n, NULL, &v));
    require_error(tsr_matrix_from_dense(context, v, 0, &m), TSR_ERROR_ARGUMENT, "expected columns x rows x 1");
    tsr_matrix_destroy(&m);
    tsr_volume_destroy(&v);
    require_ok(tsr_volume_create(context, TSR_F32, (tsr_size3){ 4, 4, 1 }, NULL, &v));
    require_error(tsr_matrix_from_dense(context, v, NAN, &m), TSR_ERROR_ARGUMENT, "lower is nan");
    tsr_matrix_destroy(&m);
    tsr_volume_destroy(&v);
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(classifiers),        cmocka_unit_test(several_classes),
                                        cmocka_unit_test(counts_of_integers), cmocka_unit_test(indices_and_batches),
                                        cmocka_unit_test(points_of_a_sphere), cmocka_unit_test(clouds_by_slabs),
                                        cmocka_unit_test(sparse_matrices),    cmocka_unit_test(coordinates_and_columns),
                                        cmocka_unit_test(wrong_arguments) };
    return cmocka_run_group_tests_name("pyramid lists", tests, NULL, NULL);
}
