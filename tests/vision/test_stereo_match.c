/* Matching along paths against the recurrences of semi-global matching written here, pixel by pixel, and shifted pictures. */
#include <math.h>

#include "support.h"

enum { W = 47, H = 31, D = 21 };

static tsr_volume *upload_bytes(tsr_context *context, const uint8_t *bytes, int32_t wide, int32_t high)
{
    tsr_volume *host, *device;
    require_ok(tsr_volume_wrap(NULL, TSR_U8, (tsr_size3){ wide, high, 1 }, NULL, (void *)(uintptr_t)bytes, NULL, NULL, &host));
    require_ok(tsr_volume_copy(host, context, &device));
    tsr_volume_destroy(&host);
    return device;
}

static int clamp(int v, int most) { return v < 0 ? 0 : v > most ? most : v; }

static int cost_of(const uint8_t *left, const uint8_t *right, int x, int y, int d)
{
    const int o = x - d;
    if (d >= D) return 63;
    if (o < 0 || o >= W) return 12;
    int different = 0;
    for (int dy = -3; dy <= 0; dy++)
        for (int dx = -4; dx <= 4; dx++) {
            if (dy == 0 && dx >= 0) continue;
            const int ya = clamp(y + dy, H - 1), yb = clamp(y - dy, H - 1);
            const int l = left[ya * W + clamp(x + dx, W - 1)] > left[yb * W + clamp(x - dx, W - 1)];
            const int r = right[ya * W + clamp(o + dx, W - 1)] > right[yb * W + clamp(o - dx, W - 1)];
            different += l != r;
        }
    const int grey = abs(left[y * W + x] - right[y * W + o]);
    return different + (grey > 33 ? 33 : grey) / 2;
}

/* Sums over the paths. */
static void reference(const uint8_t *left, const uint8_t *right, int paths, int p1, int p2, int *sums)
{
    static const int step[8][2] = { { 1, 0 }, { -1, 0 }, { 0, 1 }, { 0, -1 }, { 1, 1 }, { -1, -1 }, { 1, -1 }, { -1, 1 } };
    enum { P = 32 };
    static int l[H][W][P];
    memset(sums, 0, sizeof(int) * W * H * P);
    for (int k = 0; k < paths; k++) {
        const int dx = step[k][0], dy = step[k][1];
        for (int i = 0; i < W * H; i++) {
            const int x = dx < 0 ? W - 1 - i % W : i % W, y = dy < 0 ? H - 1 - i / W : i / W, xb = x - dx, yb = y - dy;
            const int inside = xb >= 0 && yb >= 0 && xb < W && yb < H;
            int least = 1 << 20, jump = 0;
            for (int d = 0; d < P && inside; d++) least = l[yb][xb][d] < least ? l[yb][xb][d] : least;
            if (inside) {
                jump = p2 * 16 / (16 + abs(left[y * W + x] - left[yb * W + xb]));
                if (jump < p1) jump = p1;
            }
            for (int d = 0; d < P; d++) {
                int best = 0;
                if (inside) {
                    best = l[yb][xb][d];
                    if (d > 0 && l[yb][xb][d - 1] + p1 < best) best = l[yb][xb][d - 1] + p1;
                    if (d + 1 < P && l[yb][xb][d + 1] + p1 < best) best = l[yb][xb][d + 1] + p1;
                    if (least + jump < best) best = least + jump;
                    best -= least;
                }
                l[y][x][d] = cost_of(left, right, x, y, d) + best;
                sums[(y * W + x) * P + d] += l[y][x][d];
            }
        }
    }
}

static void recurrences(void **unused)
{
    static uint8_t left[W * H], right[W * H];
    static int sums[W * H * 32];
    uint64_t state = test_seed();
    tsr_context *context = test_context();
    (void)unused;
    for (int i = 0; i < W * H; i++) left[i] = (uint8_t)(test_random(&state) >> 30);
    for (int i = 0; i < W * H; i++) right[i] = i % W < W - 9 ? (uint8_t)(left[i + (i / W < H / 2 ? 4 : 9)] ^ (test_random(&state) >> 61)) : (uint8_t)(test_random(&state) >> 30);
    tsr_volume *l = upload_bytes(context, left, W, H), *r = upload_bytes(context, right, W, H);
    for (int paths = 3; paths <= 8; paths += paths == 3 ? 1 : 4) {
        tsr_stereo_match_options o = TSR_STEREO_MATCH_OPTIONS;
        tsr_volume *disparity, *valid, *hd, *hv;
        o.paths = paths;
        o.disparities = D;
        o.p1 = 7;
        o.p2 = 60;
        o.uniqueness = 8;
        require_ok(tsr_stereo_match(context, l, r, &o, &disparity, &valid));
        require_ok(tsr_volume_copy(disparity, NULL, &hd));
        require_ok(tsr_volume_copy(valid, NULL, &hv));
        reference(left, right, paths, 7, 60, sums);
        int found = 0;
        for (int y = 0; y < H; y++) {
            int at[W], ok[W], owner[W], owner_sum[W];
            for (int x = 0; x < W; x++) owner[x] = -1, owner_sum[x] = 1 << 20;
            for (int x = 0; x < W; x++) {
                const int *s = sums + (y * W + x) * 32;
                int second = 1 << 20;
                at[x] = 0;
                for (int d = 1; d < D; d++)
                    if (s[d] < s[at[x]]) at[x] = d;
                for (int d = 0; d < D; d++)
                    if (abs(d - at[x]) > 1 && s[d] < second) second = s[d];
                ok[x] = second * 92 >= s[at[x]] * 100;
                const int o2 = x - at[x];
                if (o2 < 0) ok[x] = 0;
                else if (s[at[x]] < owner_sum[o2] || (s[at[x]] == owner_sum[o2] && at[x] < owner[o2])) owner_sum[o2] = s[at[x]], owner[o2] = at[x];
            }
            for (int x = 0; x < W; x++) {
                const int *s = sums + (y * W + x) * 32, i = y * W + x;
                if (x - at[x] >= 0 && abs(owner[x - at[x]] - at[x]) > 1) ok[x] = 0;
                double part = 0;
                if (at[x] > 0 && at[x] < D - 1) {
                    const double a = s[at[x] - 1], b = s[at[x]], c = s[at[x] + 1];
                    if (a - 2 * b + c > 0) part = (a - c) / (2 * (a - 2 * b + c));
                }
                const float got = ((const float *)tsr_volume_data(hd))[i];
                assert_int_equal(((const uint8_t *)tsr_volume_data(hv))[i], ok[x]);
                if (ok[x]) assert_true(fabs((double)got - (at[x] + part)) < 1e-5);
                else assert_true(isnan(got));
                found += ok[x];
            }
        }
        assert_true(found > W * H / 3);
        tsr_volume_destroy(&hd);
        tsr_volume_destroy(&hv);
        tsr_volume_destroy(&disparity);
        tsr_volume_destroy(&valid);
    }
    tsr_volume_destroy(&l);
    tsr_volume_destroy(&r);
    tsr_context_destroy(&context);
}

/* A shift is found, holes are filled, smaller pictures give the same in pixels of the full ones; the same bits on one thread of a CPU. */
static void shifts(void **unused)
{
    enum { SW = 96, SH = 40, SHIFT = 12 };
    static uint8_t left[SW * SH * 3], right[SW * SH * 3];
    uint64_t state = test_seed();
    tsr_context *context[2] = { test_context(), test_context_on("cpu", 1) };
    (void)unused;
    for (int y = 0; y < SH; y++)
        for (int x = 0; x < SW; x++)
            for (int k = 0; k < 3; k++) left[(y * SW + x) * 3 + k] = (uint8_t)(test_random(&state) >> 30);
    for (int y = 0; y < SH; y += 2) /* blocks of 2 x 2, which halved pictures show */
        for (int x = 0; x < SW; x += 2)
            for (int k = 0; k < 3; k++)
                left[(y * SW + x + 1) * 3 + k] = left[((y + 1) * SW + x) * 3 + k] = left[((y + 1) * SW + x + 1) * 3 + k] = left[(y * SW + x) * 3 + k];
    for (int i = 0; i < SW * SH; i++)
        for (int k = 0; k < 3; k++) right[i * 3 + k] = i % SW + SHIFT < SW ? left[(i + SHIFT) * 3 + k] : (uint8_t)(test_random(&state) >> 30);
    for (int n = 0; n < 4; n++) {
        tsr_volume *host[2], *known[2];
        for (int c = 0; c < 2; c++) {
            tsr_volume *l = upload_bytes(context[c], left, SW * 3, SH), *r = upload_bytes(context[c], right, SW * 3, SH), *d, *v;
            tsr_stereo_match_options o = TSR_STEREO_MATCH_OPTIONS;
            o.channels = 3;
            o.first = n == 3 ? -5 : 0;
            o.disparities = n == 2 ? 70 : 40;
            o.fill = n == 1;
            o.reduce = n == 1 ? 2 : 1;
            o.paths = n == 2 ? 8 : n == 1 ? 3 : 4;
            require_ok(tsr_stereo_match(context[c], l, r, &o, &d, &v));
            require_ok(tsr_volume_copy(d, NULL, &host[c]));
            require_ok(tsr_volume_copy(v, NULL, &known[c]));
            tsr_volume_destroy(&l);
            tsr_volume_destroy(&r);
            tsr_volume_destroy(&d);
            tsr_volume_destroy(&v);
        }
        assert_memory_equal(tsr_volume_data(host[0]), tsr_volume_data(host[1]), SW * SH * 4);
        assert_memory_equal(tsr_volume_data(known[0]), tsr_volume_data(known[1]), SW * SH);
        const float *d = tsr_volume_data(host[0]);
        for (int y = 0; y < SH; y++)
            for (int x = SHIFT + 8; x < SW - 8; x++) assert_true(fabs((double)d[y * SW + x] - SHIFT) < 0.35);
        for (int i = 0; i < SW * SH && n == 1; i++) assert_true(isfinite(d[i]));
        for (int c = 0; c < 2; c++) {
            tsr_volume_destroy(&host[c]);
            tsr_volume_destroy(&known[c]);
        }
    }
    tsr_context_destroy(&context[0]);
    tsr_context_destroy(&context[1]);
}

static void mistakes(void **unused)
{
    static uint8_t bytes[W * H * 3];
    tsr_context *context = test_context();
    tsr_volume *a = upload_bytes(context, bytes, W, H), *b = upload_bytes(context, bytes, W - 1, H), *d, *real;
    tsr_stereo_match_options o = TSR_STEREO_MATCH_OPTIONS;
    (void)unused;
    require_error(tsr_stereo_match(context, a, b, &o, &d, NULL), TSR_ERROR_ARGUMENT, "expected the same");
    require_error(tsr_stereo_match(context, NULL, b, &o, &d, NULL), TSR_ERROR_ARGUMENT, "left is NULL");
    require_error(tsr_stereo_match(context, a, a, &o, NULL, NULL), TSR_ERROR_ARGUMENT, "disparity is NULL");
    o.disparities = 513;
    require_error(tsr_stereo_match(context, a, a, &o, &d, NULL), TSR_ERROR_ARGUMENT, "2 to 512");
    o.disparities = 16;
    o.paths = 5;
    require_error(tsr_stereo_match(context, a, a, &o, &d, NULL), TSR_ERROR_ARGUMENT, "3, 4 or 8");
    o.paths = 4;
    o.p1 = 20;
    o.p2 = 10;
    require_error(tsr_stereo_match(context, a, a, &o, &d, NULL), TSR_ERROR_ARGUMENT, "p2");
    o.p1 = o.p2 = 0;
    o.reduce = 3;
    require_error(tsr_stereo_match(context, a, a, &o, &d, NULL), TSR_ERROR_ARGUMENT, "reduce");
    o.reduce = 8;
    require_error(tsr_stereo_match(context, a, a, &o, &d, NULL), TSR_ERROR_ARGUMENT, "at least 8 x 8");
    o.reduce = 1;
    o.channels = 2;
    require_error(tsr_stereo_match(context, a, a, &o, &d, NULL), TSR_ERROR_ARGUMENT, "channels");
    require_ok(tsr_volume_create(context, TSR_F32, (tsr_size3){ W, H, 1 }, NULL, &real));
    o.channels = 1;
    require_error(tsr_stereo_match(context, real, a, &o, &d, NULL), TSR_ERROR_ARGUMENT, "expected u8");
    tsr_volume_destroy(&real);
    tsr_volume_destroy(&a);
    tsr_volume_destroy(&b);
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(recurrences), cmocka_unit_test(shifts), cmocka_unit_test(mistakes) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
