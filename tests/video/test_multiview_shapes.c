/* Shape-adaptive wavelets and BISK, for masks of every kind, beside programs that share no code with them. */
#include "multiview_footage.h"
#include "video/multiview/mvv_adaptive.h"
#include "video/multiview/mvv_bisk.h"

enum { KINDS = 6 };
static const char *const kind_name[KINDS] = { "full", "empty", "isolated", "stripes of odd runs", "random", "disc" };

static void make_mask(int kind, uint64_t *seed, int32_t w, int32_t h, uint8_t *mask)
{
    for (int32_t v = 0; v < h; v++)
        for (int32_t u = 0; u < w; u++) {
            const double x = (u + 0.5) / w - 0.5, y = (v + 0.5) / h - 0.5;
            int in = 1;
            if (kind == 1) in = 0;
            if (kind == 2) in = (u * 7 + v * 3) % 5 == 0 && u % 2 == v % 2;
            if (kind == 3) in = u % 8 < 5 && v % 4 < 3;
            if (kind == 4) in = test_random(seed) % 3 > 0;
            if (kind == 5) in = x * x + y * y < 0.2;
            mask[(int64_t)v * w + u] = (uint8_t)in;
        }
}

/* Float: one line's transform by the words of the page: runs, mirrored at both ends of each, in double. */
static void plain_line(double *x, const uint8_t *in, int n, int filter)
{
    static const double real97[4] = { -1.586134342059924, -0.052980118572961, 0.882911075530934, 0.443506852043971 };
    static const double real53[2] = { -0.5, 0.25 };
    const double *step = filter ? real53 : real97;
    const double scale = filter ? sqrt(2) : 1.149604398860241;
    if (n < 2) return;
    for (int a = 0; a < n;) {
        int b = a;
        if (!in[a]) {
            a++;
            continue;
        }
        while (b < n && in[b]) b++; /* run [a, b) */
        for (int s = 0; s < (filter ? 2 : 4); s++)
            for (int i = a; i < b; i++) {
                if (i % 2 != (s % 2 ? 0 : 1) || b - a == 1) continue;
                const int left = i - 1 < a ? i + 1 : i - 1, right = i + 1 >= b ? i - 1 : i + 1;
                x[i] += step[s] * (x[left] + x[right]);
            }
        for (int i = a; i < b; i++) x[i] *= i % 2 ? 1 / scale : scale;
        a = b;
    }
}

static void sort_line(double *x, uint8_t *in, int n)
{
    double y[600];
    uint8_t m[600];
    for (int i = 0; i < n; i++) {
        const int to = i % 2 ? (n + 1) / 2 + i / 2 : i / 2;
        y[to] = x[i];
        m[to] = in[i];
    }
    memcpy(x, y, (size_t)n * sizeof *x);
    memcpy(in, m, (size_t)n);
}

static void plain_forward(double *x, uint8_t *mask, int w, int h, int levels, int filter)
{
    double line[600];
    uint8_t in[600];
    const int stride = w;
    for (int level = 0; level < levels; level++, w = (w + 1) / 2, h = (h + 1) / 2) {
        for (int v = 0; v < h; v++) {
            plain_line(x + v * stride, mask + v * stride, w, filter);
            sort_line(x + v * stride, mask + v * stride, w);
        }
        for (int u = 0; u < w; u++) {
            for (int v = 0; v < h; v++) line[v] = x[v * stride + u], in[v] = mask[v * stride + u];
            plain_line(line, in, h, filter);
            sort_line(line, in, h);
            for (int v = 0; v < h; v++) x[v * stride + u] = line[v], mask[v * stride + u] = in[v];
        }
    }
}

static const int32_t extents[][2] = { { 1, 1 }, { 1, 9 }, { 13, 1 }, { 16, 16 }, { 33, 17 }, { 50, 64 } };

static void test_reconstruction(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    for (int kind = 0; kind < KINDS; kind++)
        for (size_t e = 0; e < sizeof extents / sizeof *extents; e++)
            for (int variant = 0; variant < 5; variant++) {
                static const tsr_multiview_filter filter[] = { TSR_MULTIVIEW_FILTER_97, TSR_MULTIVIEW_FILTER_53, TSR_MULTIVIEW_FILTER_HAAR,
                                                               TSR_MULTIVIEW_FILTER_53, TSR_MULTIVIEW_FILTER_HAAR };
                const int lossless = variant > 2;
                const int32_t w = extents[e][0], h = extents[e][1], n = w * h;
                tsr_mvv_adaptive a;
                uint8_t mask[3200], sorted[3200], again[3200];
                int32_t value[3200], whole[3200];
                float real[3200];
                double plain[3200];
                require_ok(tsr_mvv_adaptive_make(w, h, filter[variant], 4, lossless, &a));
                make_mask(kind, &seed, w, h, mask);
                for (int32_t k = 0; k < n; k++) {
                    whole[k] = value[k] = mask[k] ? (int32_t)(test_random(&seed) % 511) - 255 : 0;
                    plain[k] = value[k];
                    real[k] = (float)value[k];
                }
                memcpy(sorted, mask, sizeof mask);
                memcpy(again, mask, sizeof mask);
                tsr_mvv_adaptive_sort_mask(&a, again);
                tsr_mvv_adaptive_forward(&a, lossless ? (void *)whole : (void *)real, sorted);
                assert_memory_equal(sorted, again, (size_t)n);
                for (int32_t k = 0; k < n; k++) assert_true(sorted[k] || (lossless ? whole[k] == 0 : real[k] == 0));
                if (variant < 2) { /* the same numbers as a plain program's */
                    memcpy(again, mask, sizeof mask);
                    plain_forward(plain, again, w, h, 4, variant);
                    assert_memory_equal(sorted, again, (size_t)n);
                    for (int32_t k = 0; k < n; k++) assert_true(fabs((double)real[k] - plain[k]) < 0.01);
                }
                tsr_mvv_adaptive_inverse(&a, lossless ? (void *)whole : (void *)real, sorted);
                assert_memory_equal(sorted, mask, (size_t)n);
                for (int32_t k = 0; k < n; k++) {
                    const int good = lossless ? whole[k] == value[k] : fabs((double)real[k] - value[k]) < 0.01;
                    if (!good) fail_msg("mask %s, %d x %d, variant %d: sample %d", kind_name[kind], w, h, variant, k);
                }
                tsr_mvv_adaptive_free(&a);
            }
}

/* Everything comes back; every prefix decodes, and errors fall; points on the curve say what errors are left. */
static void test_bisk(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    tsr_bisk_tree tree = { 0 }, other = { 0 };
    tsr_bisk_coder coder = { 0 };
    for (int kind = 0; kind < KINDS; kind++)
        for (size_t e = 0; e < sizeof extents / sizeof *extents; e++) {
            const int32_t w = extents[e][0], h = extents[e][1], n = w * h;
            uint8_t mask[3200], *bytes;
            int32_t value[3200], back[3200];
            int64_t size, short_size;
            double all = 0, before;
            make_mask(kind, &seed, w, h, mask);
            for (int32_t k = 0; k < n; k++) {
                const int32_t range = 1 << (10 - (k % w * 8 / w));
                value[k] = mask[k] ? (int32_t)(test_random(&seed) % (uint64_t)(2 * range)) - range : 0;
                all += (double)value[k] * value[k];
            }
            require_ok(tsr_bisk_tree_make(&tree, w, h, 4, mask, 0));
            require_ok(tsr_bisk_encode(&coder, &tree, value, 1 << 20, 0, &bytes, &size));
            const tsr_bisk_point last = coder.point[coder.points - 1];
            assert_true(fabs(last.gain - all) < 1e-6 * all + 1e-6); /* nothing is left */
            before = all;
            for (int64_t cut = 0; cut <= size; cut += cut < 200 || size - cut < 64 ? 1 : 23) {
                double error = 0;
                require_ok(tsr_bisk_tree_make(&other, w, h, 4, mask, 0));
                require_ok(tsr_bisk_decode(&coder, &other, bytes, cut, back));
                for (int32_t k = 0; k < n; k++) error += (value[k] - back[k]) * (double)(value[k] - back[k]);
                assert_true(error <= before + all / 16); /* a single value may be unlucky by a quarter of its size */
                before = error;
            }
            assert_memory_equal(back, value, (size_t)n * 4);
            uint8_t *shorter;
            require_ok(tsr_bisk_encode(&coder, &tree, value, size / 2 + 1, 0, &shorter, &short_size));
            assert_true(short_size <= size / 2 + 1);
            require_ok(tsr_bisk_decode(&coder, &other, shorter, short_size, back));
            double error = 0;
            for (int32_t k = 0; k < n; k++) error += (value[k] - back[k]) * (double)(value[k] - back[k]);
            assert_true(error <= all);
            free(shorter);
            free(bytes);
        }
    tsr_bisk_tree_free(&tree);
    tsr_bisk_tree_free(&other);
    tsr_bisk_coder_free(&coder);
}

/* By how many bits a coefficient of integers counts more than one of the finest diagonal band, from its place alone. */
static int weight_of(int32_t w, int32_t h, int32_t u, int32_t v, int levels)
{
    for (int level = 0; level < levels; level++) {
        w = (w + 1) / 2;
        h = (h + 1) / 2;
        if (u >= w || v >= h) return u >= w && v >= h ? level : level + 1;
    }
    return levels + 1;
}

/* Weighted: a prefix is whole planes of coefficients times their weights, never a part of one, and nothing before those that are needed. */
static void test_weighted(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    tsr_bisk_tree tree = { 0 };
    tsr_bisk_coder coder = { 0 };
    for (int kind = 0; kind < KINDS; kind++)
        for (size_t e = 0; e < sizeof extents / sizeof *extents; e++) {
            const int32_t w = extents[e][0], h = extents[e][1], n = w * h, needed = 1 + kind % 4;
            uint8_t mask[3200], *bytes;
            int32_t value[3200], back[3200];
            int64_t size;
            int planes = 0;
            make_mask(kind, &seed, w, h, mask);
            for (int32_t k = 0; k < n; k++) {
                value[k] = mask[k] ? (int32_t)(test_random(&seed) % 41) - 20 : 0;
                for (int b = 0; b < 5; b++)
                    if (abs(value[k]) >> b && b + 1 + weight_of(w, h, k % w, k / w, 4) > planes) planes = b + 1 + weight_of(w, h, k % w, k / w, 4);
            }
            require_ok(tsr_bisk_tree_make(&tree, w, h, 4, mask, 1));
            require_ok(tsr_bisk_encode(&coder, &tree, value, 1 << 20, needed, &bytes, &size));
            assert_int_equal(bytes[0], planes);
            int missing = planes;
            for (int64_t cut = 0; cut <= size; cut += cut < 100 || size - cut < 64 ? 1 : 23) {
                require_ok(tsr_bisk_decode(&coder, &tree, bytes, cut, back));
                for (int as = 0; !as; missing -= !as) { /* as many planes as before, or more */
                    as = 1;
                    for (int32_t k = 0; k < n && as; k++) {
                        const int hidden = missing - weight_of(w, h, k % w, k / w, 4), size_of = abs(value[k]);
                        const int known = hidden > 0 ? size_of >> hidden << hidden : size_of;
                        const int expected = missing > planes - needed && missing ? 0
                                             : !known                             ? 0
                                             : hidden > 0                         ? known + ((1 << hidden) - 1) / 2
                                                                                  : known;
                        as = back[k] == (value[k] < 0 ? -expected : expected);
                    }
                    if (!as) assert_true(missing > 0);
                }
            }
            assert_memory_equal(back, value, (size_t)n * 4);
            free(bytes);
        }
    tsr_bisk_tree_free(&tree);
    tsr_bisk_coder_free(&coder);
}

/* Any bytes give some coefficients, and none where the mask is not. */
static void test_any_bytes(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    tsr_bisk_tree tree = { 0 };
    tsr_bisk_coder coder = { 0 };
    for (int turn = 0; turn < 600; turn++) {
        const int32_t w = extents[turn % 6][0], h = extents[turn % 6][1];
        uint8_t mask[3200], bytes[200];
        int32_t back[3200];
        const int64_t size = (int64_t)(test_random(&seed) % sizeof bytes);
        make_mask(turn / 6 % KINDS, &seed, w, h, mask);
        for (int64_t k = 0; k < size; k++) bytes[k] = (uint8_t)test_random(&seed);
        if (turn % 3) bytes[0] = (uint8_t)(bytes[0] % 27);
        require_ok(tsr_bisk_tree_make(&tree, w, h, 4, mask, turn & 1));
        const tsr_status status = tsr_bisk_decode(&coder, &tree, bytes, size, back);
        assert_true(status == TSR_OK || status == TSR_ERROR_FORMAT);
        for (int32_t k = 0; k < w * h; k++) assert_true(mask[k] || back[k] == 0);
    }
    tsr_bisk_tree_free(&tree);
    tsr_bisk_coder_free(&coder);
}

/* The picture of a step: the colours of its texels; where there are masks, nothing where a camera sees nothing. */
static void test_pictures(void **state)
{
    (void)state;
    tsr_context *host = test_context_on("cpu", 1);
    uint64_t seed = test_seed();
    for (int masks = 0; masks < 2; masks++)
        for (int alpha = 0; alpha < 2; alpha++) {
            enum { W = 70, H = 5, CAMERAS = 2, STEPS = 3, WORDS = 2 };
            const int32_t step = 2, camera = 1, k = step * CAMERAS + camera;
            tsr_multiview *m;
            tsr_multiview_view v;
            tsr_image image;
            int seen = 0;
            require_ok(tsr_multiview_create(host, W, H, CAMERAS, STEPS, masks, &m));
            require_ok(tsr_multiview_view_of(m, &v));
            for (int p = 0; p < 3; p++)
                for (int i = 0; i < W * H * CAMERAS * STEPS; i++) v.plane[p][i] = (uint8_t)test_random(&seed);
            for (int i = 0; masks && i < WORDS * H * CAMERAS * STEPS; i++) v.visible[i] = test_random(&seed) & (i % WORDS ? 63 : UINT64_MAX);
            require_ok(tsr_multiview_image(m, step, camera, alpha, &image));
            assert_true(image.width == W && image.height == H && image.channels == 3 + alpha);
            for (int i = 0; i < W * H; i++) {
                const uint8_t *pixel = image.pixels + i * (3 + alpha);
                const uint8_t yuv[3] = { v.plane[0][k * W * H + i], v.plane[1][k * W * H + i], v.plane[2][k * W * H + i] };
                const int in = !masks || v.visible[k * WORDS * H + i / W * WORDS + i % W / 64] >> i % W % 64 & 1;
                uint8_t rgb[3] = { 0, 0, 0 };
                if (in) tsr_multiview_rgb(yuv, rgb);
                assert_memory_equal(pixel, rgb, 3);
                if (alpha) assert_int_equal(pixel[3], in ? 255 : 0);
                seen += in;
            }
            assert_true(masks ? seen > 100 && seen < 250 : seen == W * H);
            tsr_image_destroy(&image);
            tsr_multiview_destroy(&m);
        }
    tsr_context_destroy(&host);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_reconstruction), cmocka_unit_test(test_bisk), cmocka_unit_test(test_weighted),
                                        cmocka_unit_test(test_any_bytes), cmocka_unit_test(test_pictures) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
