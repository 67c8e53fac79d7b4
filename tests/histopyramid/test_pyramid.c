#include <math.h>

#include "pyramids.h"

/* ---- golden vectors of docs/theory/histopyramid.md 7 ------------------------------------------------------------------------------------------ */

static void golden_compaction(void **state)
{
    (void)state;
    static const int8_t expected[12][2] = { { 2, 1 }, { 2, 2 }, { 5, 1 }, { 5, 2 }, { 0, 4 }, { 1, 5 },
                                            { 2, 6 }, { 3, 6 }, { 7, 4 }, { 6, 5 }, { 4, 6 }, { 5, 6 } };
    uint8_t counts[64] = { 0 };
    for (int k = 0; k < 12; k++) counts[8 * expected[k][1] + expected[k][0]] = 1;
    built b = build(TSR_U8, (tsr_size3){ 8, 8, 1 }, counts, NULL);
    assert_int_equal(b.info.total, 12);
    assert_int_equal(b.info.levels, 1);
    tsr_pyramid_entry *e = selected(&b, NULL, 0, 14);
    for (int k = 0; k < 12; k++) {
        assert_int_equal(e[k].voxel, 8 * expected[k][1] + expected[k][0]);
        assert_int_equal(e[k].copy, 0);
    }
    assert_int_equal(e[12].voxel, -1);
    assert_int_equal(e[13].voxel, -1);
    /* the printed levels, by the ranks of the first pixels of their cells in the order of visits */
    static const uint8_t one[4][4] = { { 0, 1, 1, 0 }, { 0, 1, 1, 0 }, { 2, 0, 0, 2 }, { 0, 2, 2, 0 } }, two[2][2] = { { 2, 2 }, { 4, 4 } };
    int64_t cells[17];
    for (int k = 0; k < 16; k++) cells[k] = 8 * 2 * ((k >> 1 & 1) | (k >> 3) << 1) + 2 * ((k & 1) | (k >> 2 & 1) << 1);
    cells[16] = 64; /* beyond: the total */
    uint64_t *r = ranked(&b, cells, 17);
    for (int k = 0; k < 16; k++) assert_int_equal(r[k + 1] - r[k], one[(k >> 1 & 1) | (k >> 3) << 1][(k & 1) | (k >> 2 & 1) << 1]);
    for (int k = 0; k < 4; k++) assert_int_equal(r[4 * k + 4] - r[4 * k], two[k >> 1][k & 1]);
    free(r);
    free(e);
    finish(&b);
}

static void golden_expansion(void **state)
{
    (void)state;
    static const uint8_t counts[16] = { 1, 1, 0, 1, 1, 0, 1, 0, 0, 2, 0, 1, 1, 0, 0, 0 };
    static const int8_t expected[9][3] = { { 0, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 }, { 3, 0, 0 }, { 2, 1, 0 },
                                           { 1, 2, 0 }, { 1, 2, 1 }, { 0, 3, 0 }, { 3, 2, 0 } };
    built b = build(TSR_U8, (tsr_size3){ 4, 4, 1 }, counts, NULL);
    assert_int_equal(b.info.total, 9);
    tsr_pyramid_entry *e = selected(&b, NULL, 0, 9);
    for (int k = 0; k < 9; k++) {
        assert_int_equal(e[k].voxel, 4 * expected[k][1] + expected[k][0]);
        assert_int_equal(e[k].copy, expected[k][2]);
    }
    free(e);
    finish(&b);
    /* its binary version: level 1 is 3 2 / 2 1 */
    uint8_t binary[16];
    for (int k = 0; k < 16; k++) binary[k] = counts[k] > 0;
    const int64_t cells[5] = { 0, 2, 8, 10, 16 };
    b = build(TSR_U8, (tsr_size3){ 4, 4, 1 }, binary, NULL);
    uint64_t *r = ranked(&b, cells, 5);
    assert_true(b.info.total == 8 && r[0] == 0 && r[1] == 3 && r[2] == 5 && r[3] == 7 && r[4] == 8);
    free(r);
    finish(&b);
}

static void golden_rows(void **state)
{
    (void)state;
    static const uint8_t counts[16] = { 1, 0, 1, 1, 1, 0, 1, 0, 0, 1, 0, 1, 4, 0, 0, 0 }; /* group sums 3 2 2 4 */
    tsr_pyramid_options options = TSR_PYRAMID_OPTIONS;
    options.order = TSR_PYRAMID_ROW;
    built b = build(TSR_U8, (tsr_size3){ 16, 1, 1 }, counts, &options);
    const uint64_t keys[2] = { 4, 9 };
    const int64_t groups[4] = { 4, 8, 12, 15 };
    assert_int_equal(b.info.total, 11);
    tsr_pyramid_entry *e = selected(&b, keys, 0, 2);
    uint64_t *r = ranked(&b, groups, 4);
    assert_true(e[0].voxel == 6 && e[0].copy == 0 && e[1].voxel == 12 && e[1].copy == 2);
    assert_true(r[0] == 3 && r[1] == 5 && r[2] == 7 && r[3] == 11);
    free(e);
    free(r);
    finish(&b);
}

/* ---- against a serial walk in the documented order ------------------------------------------------------------------------------------- */

static void check_all(tsr_size3 n, const uint8_t *counts, const tsr_pyramid_options *options)
{
    int64_t cells = n.x * n.y * n.z, total = 0, k = 0;
    int64_t *voxels = visits(n, options);
    for (int64_t i = 0; i < cells; i++) total += counts[i];
    built b = build(TSR_U8, n, counts, options);
    assert_int_equal(b.info.total, total);
    uint64_t *keys = malloc((size_t)(total + 1) * sizeof *keys);
    for (int64_t i = 0; i <= total; i++) keys[i] = (uint64_t)i;
    tsr_pyramid_entry *e = selected(&b, NULL, 0, total + 1), *descended = selected(&b, keys, 0, total + 1);
    uint64_t *ranks = ranked(&b, voxels, cells);
    for (int64_t i = 0; i < cells; i++) {
        assert_int_equal(ranks[i], k);
        for (int64_t copy = 0; copy < counts[voxels[i]]; copy++, k++)
            if (e[k].voxel != voxels[i] || e[k].copy != copy || descended[k].voxel != voxels[i] || descended[k].copy != copy)
                fail_msg("%dx%dx%d order %d fanout %d output %d: voxel %d copy %d, by descent %d copy %d, expected %d, %d", (int)n.x, (int)n.y,
                         (int)n.z, (int)options->order, options->fanout, (int)k, (int)e[k].voxel, (int)e[k].copy, (int)descended[k].voxel,
                         (int)descended[k].copy, (int)voxels[i], (int)copy);
    }
    assert_int_equal(e[total].voxel, -1);
    assert_int_equal(descended[total].voxel, -1);
    if (total > 3) { /* a part of the list */
        tsr_pyramid_entry *part = selected(&b, NULL, (uint64_t)total / 3, total / 2);
        assert_memory_equal(part, e + total / 3, (size_t)(total / 2) * sizeof *e);
        free(part);
    }
    free(e);
    free(descended);
    free(keys);
    free(ranks);
    free(voxels);
    finish(&b);
}

/* Every order and, in turn, every fan-out and way to keep the base. */
static void check_orders(tsr_size3 n, const uint8_t *counts, uint64_t turn)
{
    for (int order = TSR_PYRAMID_MORTON; order <= TSR_PYRAMID_VIEW; order++, turn++) {
        tsr_pyramid_options options = TSR_PYRAMID_OPTIONS;
        options.order = (tsr_pyramid_order)order;
        options.reverse = (int32_t)(1 + turn % 7);
        options.fanout = (int32_t[]){ 0, 2, 4, 9, 8, 16, 27, 32, 64, 3 }[turn % 10];
        if (turn % 2 && n.z % 2 == 0) options.batch = n.z > 2 ? n.z / 2 : n.z;
        check_all(n, counts, &options);
    }
}

static void lists_equal_serial_walk(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    const tsr_size3 sizes[] = { { 1, 1, 1 },  { 1, 9, 1 },   { 3, 5, 7 }, { 16, 4, 4 }, { 33, 17, 1 },
                                { 9, 1, 20 }, { 31, 33, 5 }, { 2, 2, 2 }, { 1, 1, 65 } };
    const int most[] = { 1, 2, 4, 15, 255 };
    const tsr_pyramid_options any = TSR_PYRAMID_OPTIONS;
    static uint8_t counts[31 * 33 * 5];
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int density = 0; density < 4; density++) {
            int64_t cells = sizes[s].x * sizes[s].y * sizes[s].z;
            double share = (const double[]){ 0, 0.01, 0.5, 1 }[density];
            int m = most[(s + (size_t)density) % 5];
            for (int64_t i = 0; i < cells; i++) counts[i] = test_uniform(&seed) < share ? (uint8_t)(1 + test_random(&seed) % (uint64_t)m) : 0;
            check_orders(sizes[s], counts, 3 * s + (size_t)density);
        }
    memset(counts, 0, sizeof counts);
    counts[31 * 33 * 5 - 1] = 255; /* all outputs in the last cell */
    check_all((tsr_size3){ 31, 33, 5 }, counts, &any);
    memset(counts, 255, sizeof counts); /* the most every level can hold */
    check_all((tsr_size3){ 16, 16, 16 }, counts, &any);
}

/* x before y before z in each bit, the highest that differs decides. */
static int before(const int64_t a[3], const int64_t b[3])
{
    int64_t most = 0;
    int axis = 0;
    for (int k = 0; k < 3; k++) {
        const int64_t differ = a[k] ^ b[k];
        if (differ < most && differ < (differ ^ most)) continue; /* its highest bit is lower */
        most = differ;
        axis = k;
    }
    return a[axis] < b[axis];
}
/* Lists of sides beside powers of two and of flat boxes: as many entries as voxels kept, all kept, each after the one before. */
static void sides_of_the_page(void **state)
{
    (void)state;
    const tsr_size3 large[] = { { 255, 255, 255 }, { 257, 257, 257 }, { 256, 64, 64 }, { 64, 257, 256 } },
                    small[] = { { 31, 31, 31 }, { 33, 33, 33 }, { 64, 16, 16 }, { 16, 65, 64 } };
    uint64_t seed = test_seed();
    for (int k = 0; k < 4; k++)
        for (int order = 0; order < 2; order++) {
            const tsr_size3 n = test_is_slow() ? small[k] : large[k];
            const int64_t cells = n.x * n.y * n.z;
            uint8_t *data = calloc((size_t)cells, 1);
            int64_t kept = 0, last[3] = { 0, 0, 0 };
            for (int64_t i = test_is_slow() ? 3 : 1009; i < cells; i += 1 + (int64_t)(test_random(&seed) % (test_is_slow() ? 7 : 499)), kept++)
                data[i] = 1;
            kept += !data[cells - 1];
            data[cells - 1] = 1;
            tsr_pyramid_options options = TSR_PYRAMID_OPTIONS;
            options.classifier = TSR_PYRAMID_NONZERO;
            options.order = order ? TSR_PYRAMID_ROW : TSR_PYRAMID_MORTON;
            built b = build(TSR_U8, n, data, &options);
            assert_int_equal(b.info.total, kept);
            tsr_pyramid_entry *e = selected(&b, NULL, 0, kept + 1);
            for (int64_t i = 0; i < kept; i++) {
                const int64_t v = e[i].voxel, at[3] = { v % n.x, v / n.x % n.y, v / n.x / n.y };
                if (v < 0 || v >= cells || !data[v] || e[i].copy) fail_msg("entry %lld is voxel %lld", (long long)i, (long long)v);
                if (i && !(order ? v > e[i - 1].voxel : before(last, at))) fail_msg("entry %lld is out of order", (long long)i);
                memcpy(last, at, sizeof last);
            }
            assert_int_equal(e[kept].voxel, -1);
            free(e);
            free(data);
            finish(&b);
        }
}

/* 3 x 3 : 1 in the plane, worked by hand: bricks of 27 = 9 x 3 pixels, and nine of them a cell. */
static void golden_thirds(void **state)
{
    (void)state;
    static const int16_t expected[9][2] = { { 0, 0 }, { 2, 0 }, { 1, 1 }, { 0, 2 }, { 3, 0 }, { 8, 2 }, { 4, 3 }, { 9, 0 }, { 26, 26 } };
    static uint8_t counts[27 * 27];
    tsr_pyramid_options options = TSR_PYRAMID_OPTIONS;
    options.fanout = 9;
    memset(counts, 0, sizeof counts);
    for (int k = 0; k < 9; k++) counts[27 * expected[k][1] + expected[k][0]] = (uint8_t)(k == 4 ? 2 : 1);
    built b = build(TSR_U8, (tsr_size3){ 27, 27, 1 }, counts, &options);
    assert_int_equal(b.info.total, 10);
    assert_int_equal(b.info.levels, 3); /* 27 pixels, 9 bricks, 3 cells */
    tsr_pyramid_entry *e = selected(&b, NULL, 0, 10);
    for (int k = 0, n = 0; k < 9; k++)
        for (int copy = 0; copy < (k == 4 ? 2 : 1); copy++, n++) {
            assert_int_equal(e[n].voxel, 27 * expected[k][1] + expected[k][0]);
            assert_int_equal(e[n].copy, copy);
        }
    free(e);
    finish(&b);
}

/* Volumes of several tiles of 4096 voxels, some empty, some sparse, some dense: lists of every type, whole and in parts, against a walk. */
static void check_tiles(tsr_size3 n, const uint8_t *data, tsr_pyramid_order order, tsr_pyramid_classifier classifier, int64_t batch)
{
    tsr_pyramid_options options = TSR_PYRAMID_OPTIONS;
    options.order = order;
    options.classifier = classifier;
    options.lower = 100;
    options.upper = 201;
    options.batch = batch;
    options.reverse = 5;
    const int64_t cells = n.x * n.y * n.z;
    int64_t *voxels = visits(n, &options), total = 0;
    for (int64_t i = 0; i < cells; i++) {
        const int v = data[voxels[i]];
        if (classifier == TSR_PYRAMID_NONZERO ? v != 0 : v >= 100 && v <= 200) voxels[total++] = voxels[i];
    }
    built b = build(TSR_U8, n, data, &options);
    assert_int_equal(b.info.total, total);
    assert_true(b.info.not_a_number == 0 && total > 5000);
    tsr_pyramid_entry *e = selected(&b, NULL, 0, total + 1);
    for (int64_t k = 0; k < total; k++)
        if (e[k].voxel != voxels[k] || e[k].copy != 0)
            fail_msg("order %d classifier %d output %d: voxel %d, expected %d", (int)order, (int)classifier, (int)k, (int)e[k].voxel, (int)voxels[k]);
    assert_int_equal(e[total].voxel, -1);
    free(e);
    for (int wide = 0; wide < 2; wide++) {
        const int64_t first[] = { 0, 1, total / 3, total - 5 }, count[] = { total, total - 2, total / 2, 5 };
        const size_t size = wide ? 8 : 4;
        void *device, *host = malloc((size_t)(total + 2) * size);
        require_ok(tsr_device_allocate(b.context, (size_t)(total + 2) * size, &device));
        for (int part = 0; part < 4; part++) {
            memset(host, 0xee, (size_t)(total + 2) * size);
            require_ok(tsr_device_move(b.context, device, NULL, host, (size_t)(total + 2) * size));
            require_ok(tsr_pyramid_indices(b.pyramid, (uint64_t)first[part], count[part], wide ? TSR_U64 : TSR_U32, (char *)device + size));
            require_ok(tsr_device_move(NULL, host, b.context, device, (size_t)(total + 2) * size));
            for (int64_t k = -1; k <= count[part]; k++) { /* nothing beside the part */
                const uint64_t v = wide ? ((uint64_t *)host)[k + 1] : ((uint32_t *)host)[k + 1];
                const uint64_t untouched = wide ? 0xeeeeeeeeeeeeeeeeu : 0xeeeeeeeeu;
                if (v != (k < 0 || k == count[part] ? untouched : (uint64_t)voxels[first[part] + k]))
                    fail_msg("order %d part %d index %d: %llx", (int)order, part, (int)k, (unsigned long long)v);
            }
        }
        tsr_device_release(b.context, device, (size_t)(total + 2) * size);
        free(host);
    }
    uint64_t *ranks = ranked(&b, voxels, total);
    for (int64_t k = 0; k < total; k++) assert_int_equal(ranks[k], k);
    free(ranks);
    free(voxels);
    finish(&b);
}

static void lists_of_tiles(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    const tsr_size3 sizes[] = { { 80, 34, 40 }, { 48, 40, 66 } };
    for (int s = 0; s < 2; s++) {
        const int64_t cells = sizes[s].x * sizes[s].y * sizes[s].z;
        uint8_t *data = malloc((size_t)cells);
        for (int64_t i = 0; i < cells; i++) {
            const int64_t x = i % sizes[s].x, z = i / sizes[s].x / sizes[s].y;
            const double share = z < 16 ? 0.003 : z < 24 ? 0 : x < 30 ? 1 : 0.5;
            data[i] = test_uniform(&seed) < share ? (uint8_t)(1 + test_random(&seed) % 255) : 0;
        }
        check_tiles(sizes[s], data, TSR_PYRAMID_MORTON, s ? TSR_PYRAMID_RANGE : TSR_PYRAMID_NONZERO, 1);
        check_tiles(sizes[s], data, TSR_PYRAMID_ROW, s ? TSR_PYRAMID_NONZERO : TSR_PYRAMID_RANGE, 1);
        if (s) check_tiles(sizes[s], data, TSR_PYRAMID_MORTON, TSR_PYRAMID_NONZERO, 2);
        else check_tiles(sizes[s], data, TSR_PYRAMID_VIEW, TSR_PYRAMID_NONZERO, 1);
        free(data);
    }
}

/* 255 in every cell of 258^3: the total exceeds 32 bits. */
static void wide_total(void **state)
{
    (void)state;
    const tsr_size3 n = { 258, 258, 258 };
    const uint64_t total = (uint64_t)255 * 258 * 258 * 258;
    uint8_t *counts = malloc((size_t)(n.x * n.y * n.z));
    memset(counts, 255, (size_t)(n.x * n.y * n.z));
    built b = build(TSR_U8, n, counts, NULL);
    assert_true(b.info.total == total && total > UINT32_MAX);
    const uint64_t keys[4] = { total - 1, total, (uint64_t)UINT32_MAX + 1, 255 * 8 };
    tsr_pyramid_entry *e = selected(&b, keys, 0, 4);
    assert_true(e[0].voxel == n.x * n.y * n.z - 1 && e[0].copy == 254 && e[1].voxel == -1 && e[3].voxel == 2 && e[3].copy == 0);
    uint64_t *r = ranked(&b, &e[2].voxel, 1);
    assert_true(r[0] + (uint64_t)e[2].copy == keys[2]);
    free(e);
    free(r);
    free(counts);
    finish(&b);
}

/* Sixteen classes that keep everything, classified again by every query, nothing of the base stored: more outputs and more numbers of voxels than
 * 31 bits hold, and the classes in thirds as well. */
static void more_outputs_than_memory(void **state)
{
    (void)state;
    const tsr_size3 n = { 1 << 11, 1 << 9, test_is_slow() ? 1 : 129 };
    const uint64_t cells = (uint64_t)(n.x * n.y * n.z);
    tsr_pyramid_class classes[TSR_PYRAMID_CHANNELS];
    tsr_pyramid_options options = TSR_PYRAMID_OPTIONS;
    uint8_t *bytes = calloc(cells, 1);
    for (int c = 0; c < TSR_PYRAMID_CHANNELS; c++) classes[c] = (tsr_pyramid_class){ TSR_PYRAMID_RANGE, -1, 1 + c };
    options.channels = TSR_PYRAMID_CHANNELS;
    options.classes = classes;
    options.implicit_base = 1;
    options.order = TSR_PYRAMID_ROW;
    tsr_context *context = test_context();
    tsr_volume *host, *device;
    tsr_pyramid *pyramid;
    tsr_pyramid_info info = TSR_PYRAMID_INFO;
    require_ok(tsr_volume_wrap(NULL, TSR_U8, n, NULL, bytes, NULL, NULL, &host));
    require_ok(tsr_volume_copy(host, context, &device));
    require_ok(tsr_pyramid_create(context, n, &options, &pyramid));
    require_ok(tsr_pyramid_build(pyramid, device));
    require_ok(tsr_pyramid_describe(pyramid, &info));
    assert_true(info.total == 16 * cells && (test_is_slow() || info.total > INT32_MAX));
    assert_true(info.device_bytes < (int64_t)(16 * cells / 32));
    built b = { context, pyramid, info };
    const uint64_t keys[4] = { 0, info.total / 2 + 12345, info.total - 1, info.total };
    tsr_pyramid_entry *e = selected(&b, keys, 0, 4), *part = selected(&b, NULL, keys[1], 300);
    for (int k = 0; k < 3; k++) assert_true(e[k].voxel == (int64_t)keys[k] && e[k].copy == 0);
    for (int k = 0; k < 300; k++) assert_true(part[k].voxel == (int64_t)keys[1] + k);
    assert_int_equal(e[3].voxel, -1);
    free(e);
    free(part);
    tsr_volume_destroy(&host);
    tsr_volume_destroy(&device);
    free(bytes);
    finish(&b);
}

/* The range classifier on real values; the storage is used again for other data. */
static void ranges(void **state)
{
    (void)state;
    const tsr_size3 n = { 7, 3, 2 };
    int16_t stored[42];
    float values[42];
    for (int i = 0; i < 42; i++) stored[i] = (int16_t)(i - 20);
    tsr_pyramid_options options = TSR_PYRAMID_OPTIONS;
    options.classifier = TSR_PYRAMID_RANGE;
    options.order = TSR_PYRAMID_ROW;
    options.lower = 1;
    options.upper = 2;
    tsr_context *context = test_context();
    tsr_volume *host, *device;
    tsr_pyramid *pyramid;
    tsr_pyramid_info info = TSR_PYRAMID_INFO;
    require_ok(tsr_pyramid_create(context, n, &options, &pyramid));
    require_ok(tsr_volume_wrap(NULL, TSR_I16, n, NULL, stored, NULL, NULL, &host));
    require_ok(tsr_volume_set_scaling(host, 0.25, 0.5)); /* real 1 <= v < 2: stored 2, 3, 4, 5 */
    require_ok(tsr_volume_copy(host, context, &device));
    require_ok(tsr_pyramid_build(pyramid, device));
    require_ok(tsr_pyramid_describe(pyramid, &info));
    assert_true(info.total == 4 && info.not_a_number == 0);
    built b = { context, pyramid, info };
    tsr_pyramid_entry *e = selected(&b, NULL, 0, 4);
    for (int k = 0; k < 4; k++) assert_int_equal(e[k].voxel, 22 + k);
    free(e);
    tsr_volume_destroy(&host);
    tsr_volume_destroy(&device);
    for (int i = 0; i < 42; i++) values[i] = i % 3 ? 1.5f : NAN;
    require_ok(tsr_volume_wrap(NULL, TSR_F32, n, NULL, values, NULL, NULL, &host));
    require_ok(tsr_volume_copy(host, context, &device));
    int64_t before = tsr_context_memory(context)->allocations;
    require_ok(tsr_pyramid_build(pyramid, device));
    assert_int_equal(tsr_context_memory(context)->allocations, before);
    require_ok(tsr_pyramid_describe(pyramid, &info));
    assert_true(info.total == 28 && info.not_a_number == 14);
    tsr_volume_destroy(&host);
    tsr_volume_destroy(&device);
    tsr_pyramid_destroy(&pyramid);
    tsr_context_destroy(&context);
}

static void wrong_arguments(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    tsr_pyramid_options options = TSR_PYRAMID_OPTIONS;
    tsr_pyramid *pyramid;
    tsr_pyramid_entry entry;
    tsr_volume *volume;
    require_error(tsr_pyramid_create(context, (tsr_size3){ 4, 0, 4 }, NULL, &pyramid), TSR_ERROR_ARGUMENT, "extent y is 0");
    require_error(tsr_pyramid_create(context, (tsr_size3){ (int64_t)1 << 40, 1 << 20, 1 }, NULL, &pyramid), TSR_ERROR_ARGUMENT, "overflow");
    options.classifier = TSR_PYRAMID_RANGE;
    require_error(tsr_pyramid_create(context, (tsr_size3){ 4, 4, 4 }, &options, &pyramid), TSR_ERROR_ARGUMENT, "lower < upper");
    options.upper = NAN;
    require_error(tsr_pyramid_create(context, (tsr_size3){ 4, 4, 4 }, &options, &pyramid), TSR_ERROR_ARGUMENT, "lower < upper");
    options.order = (tsr_pyramid_order)4;
    require_error(tsr_pyramid_create(context, (tsr_size3){ 4, 4, 4 }, &options, &pyramid), TSR_ERROR_ARGUMENT, "order is 4");
    assert_null(pyramid);
    require_ok(tsr_pyramid_create(context, (tsr_size3){ 4, 4, 4 }, NULL, &pyramid));
    require_error(tsr_pyramid_extract(pyramid, 0, 1, &entry), TSR_ERROR_STATE, "nothing was built");
    require_ok(tsr_volume_create(context, TSR_F32, (tsr_size3){ 4, 4, 4 }, NULL, &volume));
    require_error(tsr_pyramid_build(pyramid, volume), TSR_ERROR_ARGUMENT, "counts of type f32");
    tsr_volume_destroy(&volume);
    require_ok(tsr_volume_create(context, TSR_U8, (tsr_size3){ 4, 4, 5 }, NULL, &volume));
    require_error(tsr_pyramid_build(pyramid, volume), TSR_ERROR_ARGUMENT, "4 x 4 x 5, expected 4 x 4 x 4");
    tsr_volume_destroy(&volume);
    require_ok(tsr_volume_create(context, TSR_U8, (tsr_size3){ 4, 4, 4 }, NULL, &volume));
    require_ok(tsr_pyramid_build(pyramid, volume));
    require_error(tsr_pyramid_extract(pyramid, 0, 3, NULL), TSR_ERROR_ARGUMENT, "array is NULL");
    require_error(tsr_pyramid_extract(pyramid, 0, -3, &entry), TSR_ERROR_ARGUMENT, "count is -3");
    tsr_volume_destroy(&volume);
    tsr_pyramid_destroy(&pyramid);
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(golden_compaction),
                                        cmocka_unit_test(golden_expansion),
                                        cmocka_unit_test(golden_rows),
                                        cmocka_unit_test(golden_thirds),
                                        cmocka_unit_test(more_outputs_than_memory),
                                        cmocka_unit_test(lists_equal_serial_walk),
                                        cmocka_unit_test(sides_of_the_page),
                                        cmocka_unit_test(lists_of_tiles),
                                        cmocka_unit_test(wide_total),
                                        cmocka_unit_test(ranges),
                                        cmocka_unit_test(wrong_arguments) };
    return cmocka_run_group_tests_name("pyramid", tests, NULL, NULL);
}
