/* Pyramids for maximum intensity projection: reconstruction, the golden volume, pictures against the projection of every voxel, selection,
 * thresholds, slabs, hidden voxels, errors, and what is refused (test_mip_closing.c, test_mip_refine.c). */
#include "mips.h"

static tsr_mip *build(tsr_context *context, tsr_dtype dtype, tsr_size3 n, const void *data, const tsr_mip_options *options)
{
    tsr_volume *volume = on_device(context, dtype, n, data);
    tsr_mip *mip;
    require_ok(tsr_mip_build(context, volume, options, &mip));
    tsr_volume_destroy(&volume);
    return mip;
}

/* An element of four points that is no box and has no centre. */
static const int8_t corner[4][3] = { { 0, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };

static tsr_mip_options variant(uint64_t *seed, tsr_size3 n)
{
    tsr_mip_options o = TSR_MIP_OPTIONS;
    const int64_t most = n.x > n.y ? (n.x > n.z ? n.x : n.z) : n.y > n.z ? n.y : n.z;
    int limit = 1;
    while (most >> limit) limit++;
    o.levels = (int32_t)(test_random(seed) % (uint64_t)(limit < 5 ? limit + 1 : 5));
    if (!o.levels) o.levels = -1;
    o.element = (tsr_mip_element)(test_random(seed) % 4);
    o.points = corner;
    o.point_count = 4;
    o.key = (tsr_mip_key)(test_random(seed) % 4);
    o.format = (tsr_mip_format)(test_random(seed) % 4);
    return o;
}

static tsr_size3 random_size(uint64_t *seed, int64_t most)
{
    return (tsr_size3){ 1 + (int64_t)(test_random(seed) % (uint64_t)most), 1 + (int64_t)(test_random(seed) % (uint64_t)most),
                        1 + (int64_t)(test_random(seed) % (uint64_t)most) };
}

static void reconstructs(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    tsr_context *context = test_context();
    for (int k = 0; k < (test_is_slow() ? 8 : 24); k++) {
        const tsr_size3 n = random_size(&seed, 40);
        const tsr_dtype dtype = k % 3 ? TSR_U8 : TSR_U16;
        const size_t bytes = (size_t)(n.x * n.y * n.z) * tsr_dtype_size(dtype);
        void *data = random_values(dtype, n, &seed);
        const tsr_mip_options o = variant(&seed, n);
        tsr_mip *mip = build(context, dtype, n, data, &o);
        const tsr_mip_info info = *tsr_mip_describe(mip);
        tsr_volume *back, *host;
        int64_t sum = 0;
        for (int j = 0; j <= info.levels; j++) sum += info.by_level[j];
        assert_int_equal(sum, info.coefficients);
        if (o.element == TSR_MIP_CUBE2) assert_true(info.coefficients <= n.x * n.y * n.z);
        require_ok(tsr_mip_reconstruct(mip, &back));
        require_ok(tsr_volume_copy(back, NULL, &host));
        if (memcmp(tsr_volume_data_const(host), data, bytes))
            fail_msg("%lld x %lld x %lld, %d levels, element %d, format %d: other voxels came back", (long long)n.x, (long long)n.y, (long long)n.z,
                     info.levels, (int)o.element, (int)o.format);
        tsr_volume_destroy(&host);
        tsr_volume_destroy(&back);
        tsr_mip_destroy(&mip);
        free(data);
    }
    tsr_context_destroy(&context);
}

/* The volume of the specification's page, with its numbers. */
static void golden(void **state)
{
    (void)state;
    static const uint32_t full[16] = { 11, 15, 14, 13, 14, 14, 12, 15, 10, 15, 15, 11, 13, 14, 9, 14 };
    static const uint32_t level1[16] = { 3, 3, 4, 4, 3, 3, 4, 4, 4, 4, 7, 7, 4, 4, 7, 7 };
    uint8_t f[64], coarse[64];
    for (int i = 0; i < 64; i++) {
        const int x = i % 4, y = i / 4 % 4, z = i / 16;
        f[i] = (uint8_t)(3 + (5 * x + 3 * y + 7 * z + x * y * z) % 13);
    }
    tsr_context *context = test_context();
    const tsr_size3 n = { 4, 4, 4 };
    tsr_mip *mip = build(context, TSR_U8, n, f, NULL);
    const tsr_mip_info info = *tsr_mip_describe(mip);
    assert_int_equal(info.by_level[0], 55);
    assert_int_equal(info.by_level[1], 4);
    assert_int_equal(info.by_level[2], 1);
    const tsr_mip_view view = { .zoom = 1 };
    for (int mode = 0; mode < 3; mode++) {
        tsr_mip_render_options o = TSR_MIP_RENDER_OPTIONS;
        o.mode = (tsr_mip_mode)mode;
        uint32_t *image = drawn(mip, context, &view, &o, 4, 4);
        assert_memory_equal(image, full, sizeof full);
        free(image);
        for (int j = 1; j <= 2; j++) { /* previews: the pictures of f_1 and f_2 */
            o.finest = j;
            image = drawn(mip, context, &view, &o, 4, 4);
            for (int i = 0; i < 16; i++) assert_int_equal(image[i], j == 1 ? level1[i] : 3);
            free(image);
        }
    }
    tsr_mip_destroy(&mip);
    /* f_1 of the page, each value a block of 2^3: level 1 alone */
    static const uint8_t f1[8] = { 3, 3, 3, 4, 3, 4, 4, 7 };
    for (int i = 0; i < 64; i++) coarse[i] = f1[(i / 32) * 4 + (i / 8 % 2) * 2 + i % 4 / 2];
    mip = build(context, TSR_U8, n, coarse, NULL);
    assert_int_equal(tsr_mip_describe(mip)->by_level[0], 0);
    uint32_t *image = drawn(mip, context, &view, NULL, 4, 4);
    assert_memory_equal(image, level1, sizeof level1);
    free(image);
    tsr_mip_destroy(&mip);
    tsr_context_destroy(&context);
}

static void require_pixels(const uint32_t *a, const uint32_t *b, int32_t width, int32_t height, const char *what, int number)
{
    for (int64_t i = 0; i < (int64_t)width * height; i++)
        if (a[i] != b[i])
            fail_msg("%s %d: pixel (%lld, %lld) is %u, expected %u", what, number, (long long)(i % width), (long long)(i / width), a[i], b[i]);
}

/* Axis-aligned views: every mode is the projection of every voxel, whatever the parity of volume and picture. */
static void aligned_modes_are_exact(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    tsr_context *context = test_context();
    for (int k = 0; k < (test_is_slow() ? 24 : 48); k++) {
        const tsr_size3 n = random_size(&seed, 20);
        const tsr_dtype dtype = k % 2 ? TSR_U8 : TSR_U16;
        void *data = random_values(dtype, n, &seed);
        const tsr_mip_options o = variant(&seed, n);
        const tsr_mip_view view = aligned_view(k % 24);
        const int32_t width = 20 + k % 5, height = 20 + k % 7;
        tsr_mip *mip = build(context, dtype, n, data, &o);
        uint32_t *want = projected(data, dtype, n, &view, width, height, NULL);
        for (int mode = 0; mode < 3; mode++) {
            tsr_mip_render_options r = TSR_MIP_RENDER_OPTIONS;
            r.mode = (tsr_mip_mode)mode;
            char what[160];
            snprintf(what, sizeof what, "%lldx%lldx%lld in %dx%d, element %d, %d levels, format %d, view %d: mode", (long long)n.x, (long long)n.y,
                     (long long)n.z, width, height, (int)o.element, (int)tsr_mip_describe(mip)->levels, (int)o.format, k % 24);
            uint32_t *image = drawn(mip, context, &view, &r, width, height);
            require_pixels(image, want, width, height, what, mode);
            free(image);
        }
        free(want);
        tsr_mip_destroy(&mip);
        free(data);
    }
    tsr_context_destroy(&context);
}

/* The picture of a volume by rays, then by slices, is the one wanted. */
static void require_dense(tsr_mip_dense *dense, const tsr_mip_view *view, tsr_mip_render_options r, tsr_mip_frame *frame, int32_t width,
                          int32_t height, const uint32_t *want, const char *by_rays, const char *by_slices, int number)
{
    for (r.slices = 0; r.slices < 2; r.slices++) {
        require_ok(tsr_mip_dense_render(dense, view, &r, frame));
        uint32_t *image = pixels_of(frame, width, height);
        require_pixels(image, want, width, height, r.slices ? by_slices : by_rays, number);
        free(image);
    }
}

/* Any view: the exact mode and the rays of the dense volume are the projection of every voxel, with thresholds and slabs too. */
static void exact_everywhere(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    tsr_context *context = test_context();
    for (int k = 0; k < (test_is_slow() ? 10 : 30); k++) {
        const tsr_size3 n = random_size(&seed, k % 4 ? 24 : 70);
        const tsr_dtype dtype = k % 3 ? TSR_U8 : TSR_U16;
        void *data = random_values(dtype, n, &seed);
        const tsr_mip_options o = variant(&seed, n);
        const tsr_mip_view view = random_view(&seed, k % 2 ? 1 : 0.2 + 0.8 * test_uniform(&seed));
        const int32_t width = 40, height = 33 + k % 3;
        tsr_mip_render_options r = TSR_MIP_RENDER_OPTIONS;
        double slab[2] = { -3 + 6 * test_uniform(&seed), 0 };
        slab[1] = slab[0] + 0.1 + 5 * test_uniform(&seed);
        r.mode = TSR_MIP_EXACT;
        r.close = TSR_MIP_CLOSE_OFF;
        r.slab = k % 5 == 0;
        r.slab_lower = slab[0];
        r.slab_upper = slab[1];
        tsr_volume *volume = on_device(context, dtype, n, data);
        tsr_mip *mip = build(context, dtype, n, data, &o);
        tsr_mip_dense *dense;
        tsr_mip_frame *frame;
        uint32_t *want = projected(data, dtype, n, &view, width, height, r.slab ? slab : NULL),
                 *image = drawn(mip, context, &view, &r, width, height);
        require_pixels(image, want, width, height, "exact, volume", k);
        free(image);
        require_ok(tsr_mip_dense_create(context, volume, &dense));
        require_ok(tsr_mip_frame_create(context, width, height, &frame));
        require_dense(dense, &view, r, frame, width, height, want, "rays, volume", "slices, volume", k);
        r.lower = dtype == TSR_U8 ? 60 : 9000;
        r.upper = dtype == TSR_U8 ? 180 : 40000;
        for (int64_t i = 0; i < (int64_t)width * height; i++)
            want[i] = want[i] < (uint32_t)r.lower ? 0 : want[i] > (uint32_t)r.upper ? (dtype == TSR_U8 ? 255 : 65535) : want[i];
        image = drawn(mip, context, &view, &r, width, height);
        require_pixels(image, want, width, height, "thresholds, volume", k);
        free(image);
        require_dense(dense, &view, r, frame, width, height, want, "thresholds of rays, volume", "thresholds of slices, volume", k);
        free(want);
        tsr_mip_frame_destroy(&frame);
        tsr_mip_dense_destroy(&dense);
        tsr_mip_destroy(&mip);
        tsr_volume_destroy(&volume);
        free(data);
    }
    tsr_context_destroy(&context);
}

/* Sparse volumes, where nearly every pixel is a hole: the rays close the picture by the element they are told, as its pyramid does. */
static void closes_by_the_element(void **state)
{
    (void)state;
    static const tsr_size3 sizes[4] = { { 33, 17, 9 }, { 5, 3, 7 }, { 13, 29, 31 }, { 1, 40, 1 } };
    static const int8_t own[3][3] = { { 0, 0, 0 }, { 1, 2, 0 }, { -2, 0, 1 } };
    uint64_t seed = test_seed();
    tsr_context *context = test_context();
    for (int k = 0; k < 4 * 4 * 4; k++) {
        const tsr_size3 n = sizes[k / 16];
        const tsr_dtype dtype = k / 16 == 2 ? TSR_U16 : TSR_U8;
        const int64_t count = n.x * n.y * n.z;
        const int32_t width = 48, height = 47;
        const tsr_mip_view view = random_view(&seed, k % 3 ? 1 : 0.4 + 2 * test_uniform(&seed));
        void *data = calloc((size_t)count, tsr_dtype_size(dtype));
        for (int64_t i = 0; i < count; i++)
            if (test_random(&seed) % 20 == 0) set_value(data, dtype, i, 1 + (uint32_t)(test_random(&seed) % (dtype == TSR_U8 ? 255 : 65535)));
        tsr_mip_options o = TSR_MIP_OPTIONS;
        tsr_mip_render_options r = TSR_MIP_RENDER_OPTIONS;
        int8_t points[64][3];
        o.element = (tsr_mip_element)(k % 4);
        o.points = own;
        o.point_count = 3;
        r.mode = TSR_MIP_EXACT;
        r.close = (tsr_mip_close)(k / 4 % 4);
        tsr_volume *volume = on_device(context, dtype, n, data);
        tsr_mip *mip = build(context, dtype, n, data, &o);
        tsr_mip_dense *dense;
        tsr_mip_frame *frame;
        const tsr_mip_info info = *tsr_mip_describe(mip);
        tsr_mip_get_points(mip, points);
        if (o.element == TSR_MIP_OWN) assert_memory_equal(points, own, sizeof own);
        r.element = info.element;
        r.points = (const int8_t(*)[3])points;
        r.point_count = info.points;
        uint32_t *want = drawn(mip, context, &view, &r, width, height);
        require_ok(tsr_mip_dense_create(context, volume, &dense));
        require_ok(tsr_mip_frame_create(context, width, height, &frame));
        require_dense(dense, &view, r, frame, width, height, want, "closed rays, case", "closed slices, case", k);
        free(want);
        tsr_mip_frame_destroy(&frame);
        tsr_mip_dense_destroy(&dense);
        tsr_mip_destroy(&mip);
        tsr_volume_destroy(&volume);
        free(data);
    }
    tsr_context_destroy(&context);
}

/* ---- the order of the coefficients ------------------------------------------------------------------------------------------------------------- */

/* A coefficient drawn alone has its pixel: the pictures of K and K + 1 differ by one coefficient at most, and the sequence of its effects never rises. */
struct entry {
    int level;
    uint32_t value, residual;
    int64_t place;
};

static int64_t opening_of(const uint8_t *f, const int n[3], int x, int y, int z, uint8_t *coarse, const int m[3])
{
    (void)f;
    (void)n;
    return coarse[((z / 2) * m[1] + y / 2) * m[0] + x / 2];
}

/* Keys of all coefficients of an octree pyramid of u8, by the definitions. */
static int64_t entries_of(const uint8_t *f0, tsr_size3 size, int levels, struct entry *list)
{
    int n[3] = { (int)size.x, (int)size.y, (int)size.z };
    uint8_t *f = malloc((size_t)(size.x * size.y * size.z));
    int64_t count = 0;
    memcpy(f, f0, (size_t)(size.x * size.y * size.z));
    for (int j = 0; j <= levels; j++) {
        const int m[3] = { (n[0] + 1) / 2, (n[1] + 1) / 2, (n[2] + 1) / 2 };
        uint8_t *g = malloc((size_t)(m[0] * m[1] * m[2]));
        memset(g, 255, (size_t)(m[0] * m[1] * m[2]));
        for (int z = 0; z < n[2]; z++)
            for (int y = 0; y < n[1]; y++)
                for (int x = 0; x < n[0]; x++) {
                    uint8_t *to = &g[((z / 2) * m[1] + y / 2) * m[0] + x / 2];
                    const uint8_t v = f[(z * n[1] + y) * n[0] + x];
                    if (v < *to) *to = v;
                }
        for (int z = 0; z < n[2]; z++)
            for (int y = 0; y < n[1]; y++)
                for (int x = 0; x < n[0]; x++) {
                    const int64_t v = f[(z * n[1] + y) * n[0] + x], s = j < levels ? opening_of(f, n, x, y, z, g, m) : 0;
                    /* cells of 32 voxels in memory order first: volumes here have one */
                    if (v > s) list[count++] = (struct entry){ j, (uint32_t)v, (uint32_t)(v - s), ((int64_t)z * n[1] + y) * n[0] + x };
                }
        free(f);
        f = g;
        for (int k = 0; k < 3; k++) n[k] = m[k];
    }
    free(f);
    return count;
}

static int entry_shift; /* of the key, for qsort */
static int by_order(const void *a, const void *b)
{
    const struct entry *p = a, *q = b;
    const uint64_t x = (uint64_t)p->residual << (entry_shift * p->level), y = (uint64_t)q->residual << (entry_shift * q->level);
    if (x != y) return x < y ? 1 : -1;
    if (p->level != q->level) return q->level - p->level;
    if (p->value != q->value) return p->value < q->value ? 1 : -1;
    return p->place < q->place ? -1 : 1;
}

/* The first K of the order drawn one by one, for every key and format. */
static void selects_the_first(void **state)
{
    (void)state;
    static const int shifts[4] = { 1, 0, 2, 3 };
    uint64_t seed = test_seed();
    tsr_context *context = test_context();
    const tsr_mip_view view = { .zoom = 1 };
    for (int k = 0; k < 16; k++) {
        const tsr_size3 n = { 9 + k % 3, 12, 7 + k % 5 };
        const int levels = 1 + k % 3;
        uint8_t *data = random_values(TSR_U8, n, &seed);
        for (int64_t i = 0; i < n.x * n.y * n.z; i++) data[i] = (uint8_t)(data[i] / 40 * 20); /* many ties */
        struct entry *list = malloc((size_t)(n.x * n.y * n.z) * sizeof *list);
        const int64_t count = entries_of(data, n, levels, list);
        tsr_mip_options o = TSR_MIP_OPTIONS;
        o.levels = levels;
        o.key = (tsr_mip_key)(k % 4);
        o.format = (tsr_mip_format)(k / 4);
        entry_shift = shifts[k % 4];
        qsort(list, (size_t)count, sizeof *list, by_order);
        tsr_mip *mip = build(context, TSR_U8, n, data, &o);
        assert_int_equal(tsr_mip_describe(mip)->coefficients, count);
        uint32_t want[20 * 20] = { 0 };
        int64_t done = 0;
        for (int64_t first = 1; first <= count; first += first < 6 ? 1 : count / 9) {
            tsr_mip_render_options r = TSR_MIP_RENDER_OPTIONS;
            r.count = first;
            for (; done < first; done++) {
                const struct entry *e = &list[done];
                const int64_t nx = (n.x + (1 << e->level) - 1) >> e->level, ny = (n.y + (1 << e->level) - 1) >> e->level;
                const int64_t x = e->place % nx << e->level, y = e->place / nx % ny << e->level;
                for (int64_t b = y; b < y + (1 << e->level) && b < n.y; b++) /* what reaches out of the volume is nowhere */
                    for (int64_t a = x; a < x + (1 << e->level) && a < n.x; a++) {
                        const int64_t px = 10 - n.x / 2 - (n.x & 1) + a, py = 10 - n.y / 2 + b;
                        const int64_t fx = n.x & 1 ? px + 1 : px; /* half a voxel to the left, rounded as the formula does */
                        if (fx >= 0 && fx < 20 && py >= 0 && py < 20 && e->value > want[py * 20 + fx]) want[py * 20 + fx] = e->value;
                    }
            }
            uint32_t *image = drawn(mip, context, &view, &r, 20, 20);
            require_pixels(image, want, 20, 20, "first coefficients, number", (int)first);
            free(image);
        }
        tsr_mip_destroy(&mip);
        free(list);
        free(data);
    }
    tsr_context_destroy(&context);
}

/* ---- quality ------------------------------------------------------------------------------------------------------------------------------------ */

/* Oblique views of vessels: how far the fast modes are from the exact one; and at equal numbers the order by effect beats levels. */
static void approximates(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    tsr_context *context = test_context();
    const int side = test_is_slow() ? 48 : 64, pixels = side * 7 / 4;
    uint8_t *data = vessels(side, 14, 10, &seed);
    const tsr_size3 n = { side, side, side };
    tsr_mip_options o = TSR_MIP_OPTIONS;
    o.measure = 1;
    tsr_mip *mip = build(context, TSR_U8, n, data, &o);
    const tsr_mip_info info = *tsr_mip_describe(mip);
    tsr_mip_frame *exact, *frame;
    tsr_mip_errors e = TSR_MIP_ERRORS;
    require_ok(tsr_mip_frame_create(context, pixels, pixels, &exact));
    require_ok(tsr_mip_frame_create(context, pixels, pixels, &frame));
    for (int k = 0; k < 3; k++) {
        const tsr_mip_view view = random_view(&seed, 1);
        tsr_mip_render_options r = TSR_MIP_RENDER_OPTIONS;
        r.close = TSR_MIP_CLOSE_OFF;
        r.mode = TSR_MIP_EXACT;
        require_ok(tsr_mip_render(mip, &view, &r, exact, NULL));
        r.mode = TSR_MIP_SPLAT;
        require_ok(tsr_mip_render(mip, &view, &r, frame, NULL));
        require_ok(tsr_mip_compare(frame, exact, &e));
        if (!(e.relative > 0 && e.relative <= 0.01)) fail_msg("splat: relative error %g", e.relative);
        r.mode = TSR_MIP_CASCADE;
        require_ok(tsr_mip_render(mip, &view, &r, frame, NULL));
        require_ok(tsr_mip_compare(frame, exact, &e));
        if (!(e.relative > 0 && e.relative <= 0.03)) fail_msg("cascade: relative error %g", e.relative);
    }
    /* levels 1 and 2 alone against as many by effect */
    const tsr_mip_view view = { .zoom = 1 };
    tsr_mip_options coarse = TSR_MIP_OPTIONS;
    uint8_t *smooth = malloc((size_t)(side * side * side)); /* d_0 = 0: the opening, each block its least voxel */
    for (int z = 0; z < side; z++)
        for (int y = 0; y < side; y++)
            for (int x = 0; x < side; x++) {
                uint8_t least = 255;
                for (int c = 0; c < 8; c++) {
                    const uint8_t v = data[((z / 2 * 2 + c / 4) * side + y / 2 * 2 + c / 2 % 2) * side + x / 2 * 2 + c % 2];
                    if (v < least) least = v;
                }
                smooth[(z * side + y) * side + x] = least;
            }
    tsr_mip *levels = build(context, TSR_U8, n, smooth, &coarse);
    tsr_mip_render_options r = TSR_MIP_RENDER_OPTIONS;
    tsr_mip_errors by_levels = TSR_MIP_ERRORS, by_effect = TSR_MIP_ERRORS;
    require_ok(tsr_mip_render(mip, &view, &r, exact, NULL));
    require_ok(tsr_mip_render(levels, &view, &r, frame, NULL));
    require_ok(tsr_mip_compare(frame, exact, &by_levels));
    r.count = tsr_mip_describe(levels)->coefficients;
    require_ok(tsr_mip_render(mip, &view, &r, frame, NULL));
    require_ok(tsr_mip_compare(frame, exact, &by_effect));
    if (!(by_effect.relative < 0.5 * by_levels.relative)) fail_msg("by effect %g, by levels %g", by_effect.relative, by_levels.relative);
    /* the measured errors fall, and the error budget takes the first that is small enough */
    assert_int_equal(info.steps, TSR_MIP_STEPS);
    assert_true(info.step[TSR_MIP_STEPS - 1].relative == 0 && info.step[TSR_MIP_STEPS - 1].count == info.coefficients);
    tsr_mip_statistics s = TSR_MIP_STATISTICS;
    r.count = 0;
    r.error = info.step[9].relative;
    require_ok(tsr_mip_render(mip, &view, &r, frame, &s));
    assert_true(s.drawn <= info.step[9].count && s.drawn > 0);
    /* a time budget: as much as fits, and never more than there is */
    r.error = 0;
    r.milliseconds = 1e6;
    int64_t before = 0;
    for (int k = 0; k < 8; k++) {
        require_ok(tsr_mip_render(mip, &view, &r, frame, &s));
        assert_true(s.drawn >= before && s.drawn <= info.coefficients && s.milliseconds > 0);
        before = s.drawn;
    }
    assert_int_equal(before, info.coefficients);
    tsr_mip_frame_destroy(&exact);
    tsr_mip_frame_destroy(&frame);
    tsr_mip_destroy(&levels);
    tsr_mip_destroy(&mip);
    free(smooth);
    free(data);
    tsr_context_destroy(&context);
}

/* Thick slices. From above a voxel is one pixel, from the front one of the spacing there, whatever the spacing along the ray: expected in plain loops
 * over the volume. At a slant nothing shines through a full body. */
static void thick_slices(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    enum { NX = 24, NY = 20, NZ = 9, THICK = 5, SIDE = 64 };
    static uint8_t data[NX * NY * NZ];
    for (int i = 0; i < NX * NY * NZ; i++) data[i] = (uint8_t)(1 + test_random(&seed) % 255);
    tsr_context *context = test_context();
    tsr_mip *mip = build(context, TSR_U8, (tsr_size3){ NX, NY, NZ }, data, NULL);
    tsr_volume *volume = on_device(context, TSR_U8, (tsr_size3){ NX, NY, NZ }, data);
    tsr_mip_dense *dense;
    require_ok(tsr_mip_dense_create(context, volume, &dense));
    for (int mode = 0; mode < 4; mode++) { /* splat, cascade, exact, dense */
        for (int front = 0; front < 2; front++) {
            tsr_mip_view view = tsr_mip_orbit(0, front ? 0 : 90, 1);
            tsr_mip_render_options r = TSR_MIP_RENDER_OPTIONS;
            tsr_mip_frame *frame;
            view.stretch = (tsr_vec3){ 1, 1, THICK };
            if (mode < 3) r.mode = mode == 0 ? TSR_MIP_SPLAT : mode == 1 ? TSR_MIP_CASCADE : TSR_MIP_EXACT;
            require_ok(tsr_mip_frame_create(context, SIDE, SIDE, &frame));
            if (mode < 3) require_ok(tsr_mip_render(mip, &view, &r, frame, NULL));
            else require_ok(tsr_mip_dense_render(dense, &view, &r, frame));
            uint32_t *image = pixels_of(frame, SIDE, SIDE);
            /* the picture's centre is the volume's; each of its axes runs along one of the volume, forwards or backwards */
            const int n[3] = { NX, NY, NZ }, thick[3] = { 1, 1, THICK };
            double rows[3][3];
            int axis[2] = { 0, 0 }, sign[2], wrong = 0;
            rotation_rows(&view, rows);
            for (int c = 0; c < 2; c++) {
                for (int k = 0; k < 3; k++) axis[c] = fabs(rows[c][k]) > 0.5 ? k : axis[c];
                sign[c] = rows[c][axis[c]] > 0 ? 1 : -1;
            }
            const int ray = 3 - axis[0] - axis[1];
            for (int y = 0; y < SIDE; y++)
                for (int x = 0; x < SIDE; x++) {
                    const double from_centre[2] = { x + 0.5 - 0.5 * SIDE, y + 0.5 - 0.5 * SIDE };
                    int at[3] = { 0, 0, 0 }, within = 1, border = 0;
                    for (int c = 0; c < 2; c++) {
                        const int k = axis[c];
                        const double place = (sign[c] * from_centre[c] + 0.5 * n[k] * thick[k]) / thick[k], part = place - floor(place);
                        at[k] = (int)floor(place);
                        within &= at[k] >= 0 && at[k] < n[k];
                        border |= thick[k] > 1 && fmin(part, 1 - part) * thick[k] < 0.9; /* rows of five pixels may begin a pixel earlier or later */
                    }
                    uint32_t expected = 0;
                    for (int i = 0; i < n[ray] && within; i++) {
                        at[ray] = i;
                        const uint8_t v = data[(at[2] * NY + at[1]) * NX + at[0]];
                        expected = v > expected ? v : expected;
                    }
                    wrong += !border && image[y * SIDE + x] != expected;
                }
            if (wrong) fail_msg("mode %d, %s: %d pixels are wrong", mode, front ? "front" : "above", wrong);
            free(image);
            tsr_mip_frame_destroy(&frame);
        }
    }
    memset(data, 200, sizeof data);
    tsr_mip *full = build(context, TSR_U8, (tsr_size3){ NX, NY, NZ }, data, NULL);
    for (int k = 0; k < (test_is_slow() ? 8 : 40); k++) {
        tsr_mip_view view = tsr_mip_orbit(360 * test_uniform(&seed), 180 * test_uniform(&seed) - 90, 0.5 + test_uniform(&seed));
        double r[3][3];
        view.stretch = (tsr_vec3){ 1, 1, THICK };
        rotation_rows(&view, r);
        for (int mode = 0; mode < 2; mode++) { /* the cascade moves levels by some pixels at a slant */
            tsr_mip_render_options o = TSR_MIP_RENDER_OPTIONS;
            o.mode = mode ? TSR_MIP_EXACT : TSR_MIP_SPLAT;
            uint32_t *image = drawn(full, context, &view, &o, SIDE, SIDE);
            int holes = 0;
            for (int y = 0; y < SIDE; y++)
                for (int x = 0; x < SIDE; x++) { /* the ray through the pixel's middle passes through a slice, a voxel from its border */
                    const double u = (x + 0.5 - 0.5 * SIDE) / view.zoom, v = (y + 0.5 - 0.5 * SIDE) / view.zoom,
                                 half[3] = { NX / 2. - 2, NY / 2. - 2, (NZ / 2. - 0.5) * THICK };
                    double from = -1e9, to = 1e9;
                    for (int a = 0; a < 3; a++) { /* point = u right + v down + t away */
                        const double p = u * r[0][a] + v * r[1][a], d = r[2][a];
                        if (fabs(d) < 1e-9) from = fabs(p) > half[a] ? 1e9 : from;
                        else {
                            from = fmax(from, fmin((-half[a] - p) / d, (half[a] - p) / d));
                            to = fmin(to, fmax((-half[a] - p) / d, (half[a] - p) / d));
                        }
                    }
                    holes += (to - from) * fabs(r[2][2]) > 1.1 * THICK && !image[y * SIDE + x];
                }
            if (holes)
                fail_msg("mode %d, rotation %g %g %g %g, zoom %g: %d holes", mode, view.rotation[0], view.rotation[1], view.rotation[2],
                         view.rotation[3], view.zoom, holes);
            free(image);
        }
    }
    tsr_mip_destroy(&full);
    tsr_mip_dense_destroy(&dense);
    tsr_volume_destroy(&volume);
    tsr_mip_destroy(&mip);
    tsr_context_destroy(&context);
}

/* Largest value along a ray through voxels as cubes, by small steps: cells that the segments between crossings lie in. */
static uint32_t along_ray(const uint8_t *data, int side, const double from[3], const double direction[3])
{
    uint32_t best = 0;
    double t = 0;
    while (t < 4.0 * side) {
        double next = 4.0 * side;
        for (int k = 0; k < 3; k++) {
            if (direction[k] == 0) continue;
            const double p = from[k] + t * direction[k], to = direction[k] > 0 ? floor(p + 1e-9) + 1 : ceil(p - 1e-9) - 1;
            next = fmin(next, (to - from[k]) / direction[k]);
        }
        int at[3], within = 1;
        for (int k = 0; k < 3; k++) {
            at[k] = (int)floor(from[k] + 0.5 * (t + next) * direction[k]);
            within &= at[k] >= 0 && at[k] < side;
        }
        if (within && data[(at[2] * side + at[1]) * side + at[0]] > best) best = data[(at[2] * side + at[1]) * side + at[0]];
        t = next > t + 1e-12 ? next : t + 1e-9;
    }
    return best;
}

static void hides(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    tsr_context *context = test_context();
    enum { SIDE = 14 };
    int64_t rays = 0;
    for (int smooth = 0; smooth < 3; smooth++) {
        const tsr_size3 n = { SIDE, SIDE, SIDE };
        uint8_t data[SIDE * SIDE * SIDE];
        for (int i = 0; i < SIDE * SIDE * SIDE; i++) data[i] = (uint8_t)test_random(&seed);
        for (int pass = 0; pass < smooth; pass++)
            for (int i = SIDE * SIDE + SIDE + 1; i < SIDE * SIDE * SIDE; i++)
                data[i] = (uint8_t)((data[i] + data[i - 1] + data[i - SIDE] + data[i - SIDE * SIDE]) / 4);
        tsr_volume *volume = on_device(context, TSR_U8, n, data), *result, *host;
        tsr_mip_options o = TSR_MIP_OPTIONS;
        int64_t hidden;
        require_ok(tsr_mip_hide(context, volume, &o, &result, &hidden));
        require_ok(tsr_volume_copy(result, NULL, &host));
        const uint8_t *after = tsr_volume_data_const(host);
        assert_true(hidden > SIDE * SIDE * SIDE / 20);
        for (int k = 0; k < (test_is_slow() ? 2000 : 34000); k++, rays++) {
            double from[3], direction[3], length = 0;
            for (int c = 0; c < 3; c++) {
                direction[c] = test_uniform(&seed) - 0.5;
                length += direction[c] * direction[c];
            }
            for (int c = 0; c < 3; c++) direction[c] /= sqrt(length);
            for (int c = 0; c < 3; c++) from[c] = test_uniform(&seed) * SIDE - 2.0 * SIDE * direction[c];
            const uint32_t a = along_ray(data, SIDE, from, direction), b = along_ray(after, SIDE, from, direction);
            if (a != b) fail_msg("ray %d of volume %d: %u before, %u after", k, smooth, a, b);
        }
        tsr_mip *all, *fewer;
        require_ok(tsr_mip_build(context, volume, &o, &all));
        o.hide = 1;
        require_ok(tsr_mip_build(context, volume, &o, &fewer));
        assert_true(tsr_mip_describe(fewer)->coefficients < tsr_mip_describe(all)->coefficients);
        tsr_mip_destroy(&all);
        tsr_mip_destroy(&fewer);
        tsr_volume_destroy(&host);
        tsr_volume_destroy(&result);
        tsr_volume_destroy(&volume);
    }
    assert_true(rays > 0);
    tsr_context_destroy(&context);
}

/* Special volumes: nothing, everything, checkerboard, blocks; disjoint slabs and other frames combine to the whole. */
static void special_volumes(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    uint64_t seed = test_seed();
    enum { SIDE = 16 };
    const tsr_size3 n = { SIDE, SIDE, SIDE };
    uint8_t data[SIDE * SIDE * SIDE] = { 0 };
    tsr_mip *mip = build(context, TSR_U8, n, data, NULL);
    assert_int_equal(tsr_mip_describe(mip)->coefficients, 0);
    uint32_t *image = drawn(mip, context, NULL, NULL, 20, 20);
    for (int i = 0; i < 400; i++) assert_int_equal(image[i], 0);
    free(image);
    tsr_mip_destroy(&mip);
    memset(data, 255, sizeof data);
    mip = build(context, TSR_U8, n, data, NULL);
    assert_int_equal(tsr_mip_describe(mip)->coefficients, 64);
    tsr_mip_destroy(&mip);
    for (int i = 0; i < SIDE * SIDE * SIDE; i++) data[i] = (i + i / SIDE + i / SIDE / SIDE) % 2 ? 255 : 0;
    mip = build(context, TSR_U8, n, data, NULL);
    assert_int_equal(tsr_mip_describe(mip)->by_level[0], SIDE * SIDE * SIDE / 2);
    assert_int_equal(tsr_mip_describe(mip)->by_level[1], 0);
    tsr_mip_destroy(&mip);
    uint8_t *random = random_values(TSR_U8, n, &seed);
    mip = build(context, TSR_U8, n, random, NULL);
    const tsr_mip_view view = random_view(&seed, 1);
    tsr_mip_frame *near, *far;
    tsr_mip_render_options r = TSR_MIP_RENDER_OPTIONS;
    r.mode = TSR_MIP_EXACT;
    r.close = TSR_MIP_CLOSE_OFF;
    image = drawn(mip, context, &view, &r, 40, 40);
    require_ok(tsr_mip_frame_create(context, 40, 40, &near));
    require_ok(tsr_mip_frame_create(context, 40, 40, &far));
    r.slab = 1;
    r.slab_lower = -100;
    r.slab_upper = 0.7;
    require_ok(tsr_mip_render(mip, &view, &r, near, NULL));
    r.slab_lower = 0.7;
    r.slab_upper = 100;
    require_ok(tsr_mip_render(mip, &view, &r, far, NULL));
    require_ok(tsr_mip_frame_combine(near, far));
    uint32_t *both = pixels_of(near, 40, 40);
    assert_memory_equal(both, image, 40 * 40 * 4);
    tsr_image grey;
    require_ok(tsr_mip_frame_image(near, TSR_U8, 100, 120, &grey));
    for (int i = 0; i < 1600; i++)
        assert_int_equal(grey.pixels[i], both[i] <= 70 ? 0 : both[i] >= 170 ? 255 : (int)floor((both[i] - 70.0) * 2.55 + 0.5));
    tsr_image_destroy(&grey);
    free(both);
    free(image);
    free(random);
    tsr_mip_frame_destroy(&near);
    tsr_mip_frame_destroy(&far);
    tsr_mip_destroy(&mip);
    tsr_context_destroy(&context);
}

static void refuses(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    const tsr_size3 n = { 5, 6, 7 };
    static const int8_t wide[4][3] = { { 0, 0, 0 }, { 2, 0, 0 }, { 0, 2, 0 }, { 0, 0, 4 } };
    tsr_volume *bytes, *floats, *integers, *longest;
    tsr_mip *mip;
    tsr_mip_frame *frame, *other;
    require_ok(tsr_volume_create(context, TSR_U8, n, NULL, &bytes));
    require_ok(tsr_volume_create(context, TSR_F32, n, NULL, &floats));
    require_ok(tsr_volume_create(context, TSR_I16, n, NULL, &integers));
    require_ok(tsr_volume_create(context, TSR_U8, (tsr_size3){ 1, 1, 65537 }, NULL, &longest));
    tsr_mip_options o = TSR_MIP_OPTIONS;
    require_error(tsr_mip_build(context, floats, NULL, &mip), TSR_ERROR_ARGUMENT, "choose a range");
    require_error(tsr_mip_build(context, integers, NULL, &mip), TSR_ERROR_ARGUMENT, "add an offset");
    o.levels = 4;
    require_error(tsr_mip_build(context, bytes, &o, &mip), TSR_ERROR_ARGUMENT, "expected 0 to 3");
    o.levels = 1;
    o.element = TSR_MIP_OWN;
    require_error(tsr_mip_build(context, bytes, &o, &mip), TSR_ERROR_ARGUMENT, "0 points");
    o.points = wide;
    o.point_count = 4;
    require_error(tsr_mip_build(context, bytes, &o, &mip), TSR_ERROR_ARGUMENT, "pyramid condition");
    o.element = TSR_MIP_CUBE2;
    o.format = TSR_MIP_LIST6;
    require_error(tsr_mip_build(context, longest, &o, &mip), TSR_ERROR_ARGUMENT, "extent z is 65537");
    require_ok(tsr_mip_build(context, bytes, NULL, &mip));
    require_error(tsr_mip_frame_create(context, 0, 5, &frame), TSR_ERROR_ARGUMENT, "0 x 5");
    require_error(tsr_mip_frame_create(context, 5, 40000, &frame), TSR_ERROR_ARGUMENT, "40000");
    require_ok(tsr_mip_frame_create(context, 8, 8, &frame));
    require_ok(tsr_mip_frame_create(context, 8, 9, &other));
    tsr_mip_errors errors = TSR_MIP_ERRORS;
    require_error(tsr_mip_compare(frame, other, &errors), TSR_ERROR_ARGUMENT, "8 x 9");
    tsr_mip_render_options r = TSR_MIP_RENDER_OPTIONS;
    r.fraction = 1.5;
    require_error(tsr_mip_render(mip, NULL, &r, frame, NULL), TSR_ERROR_ARGUMENT, "fraction is 1.5");
    r.fraction = NAN;
    require_error(tsr_mip_render(mip, NULL, &r, frame, NULL), TSR_ERROR_ARGUMENT, "fraction");
    r.fraction = 0;
    r.lower = 9;
    r.upper = 8;
    require_error(tsr_mip_render(mip, NULL, &r, frame, NULL), TSR_ERROR_ARGUMENT, "thresholds 9 to 8");
    r.lower = r.upper = 0;
    r.slab = 1;
    r.slab_upper = 1;
    require_error(tsr_mip_render(mip, NULL, &r, frame, NULL), TSR_ERROR_ARGUMENT, "slab needs the mode exact");
    r.slab = 0;
    r.error = 0.1;
    require_error(tsr_mip_render(mip, NULL, &r, frame, NULL), TSR_ERROR_STATE, "not measured");
    r.error = 0;
    const tsr_mip_view bad[3] = { { .rotation = { NAN, 0, 0, 0 } }, { .zoom = -1 }, { .stretch = { 1, 0, 1 } } };
    static const char *const texts[3] = { "quaternion", "zoom is -1", "stretch y" };
    for (int k = 0; k < 3; k++) require_error(tsr_mip_render(mip, &bad[k], &r, frame, NULL), TSR_ERROR_ARGUMENT, texts[k]);
    tsr_mip_frame_destroy(&frame);
    tsr_mip_frame_destroy(&other);
    tsr_mip_destroy(&mip);
    tsr_volume_destroy(&bytes);
    tsr_volume_destroy(&floats);
    tsr_volume_destroy(&integers);
    tsr_volume_destroy(&longest);
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(golden),
                                        cmocka_unit_test(reconstructs),
                                        cmocka_unit_test(aligned_modes_are_exact),
                                        cmocka_unit_test(exact_everywhere),
                                        cmocka_unit_test(closes_by_the_element),
                                        cmocka_unit_test(selects_the_first),
                                        cmocka_unit_test(approximates),
                                        cmocka_unit_test(thick_slices),
                                        cmocka_unit_test(hides),
                                        cmocka_unit_test(special_volumes),
                                        cmocka_unit_test(refuses) };
    return cmocka_run_group_tests_name("mip", tests, NULL, NULL);
}
