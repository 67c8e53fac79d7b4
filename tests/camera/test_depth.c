/* Depth encodings against numbers worked out by hand, there and back for every kind, what is not valid and why, lenses. */
#include <math.h>

#include "support.h"

static tsr_camera pinhole(double near_, double far_)
{
    return (tsr_camera){ .rotation = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } }, .fov = 90, .clip = { near_, far_ } };
}
static double decode(const tsr_camera *c, const tsr_depth_encoding *e, double value)
{
    const float v = (float)value;
    float d;
    require_ok(tsr_depth_decode(c, e, 1, 1, &v, &d, NULL));
    return (double)d;
}

static void by_hand(void **unused)
{
    (void)unused;
    const tsr_camera p = pinhole(1, 3);
    tsr_camera o = p;
    o.projection = TSR_ORTHOGRAPHIC;
    o.height = 2;
    const tsr_depth_encoding ndc = { .kind = TSR_DEPTH_NDC }, window = { .kind = TSR_DEPTH_WINDOW }, w16 = { .kind = TSR_DEPTH_WINDOW, .bits = 16 };
    const tsr_depth_encoding linear = { .kind = TSR_DEPTH_EYE_LINEAR, .range = { 1, 2.5 }, .bits = 8 }, inverse = { .kind = TSR_DEPTH_INVERSE },
                             plain = { .kind = TSR_DEPTH_EYE, .scale = 0.001, .bits = 16 };
    const tsr_depth_encoding disparity = { .kind = TSR_DEPTH_DISPARITY, .focal = 500, .baseline = 0.1, .shift = 5 },
                             radial = { .kind = TSR_DEPTH_RADIAL };
    assert_true(fabs(decode(&p, &ndc, 0.25) - 2 * 3 / (4 - 0.25 * 2)) < 1e-6); /* 2 f n / (f + n - z (f - n)) */
    assert_true(fabs(decode(&p, &window, 0.75) - 6 / (4 - 0.5 * 2)) < 1e-6);
    assert_true(fabs(decode(&o, &ndc, 0.5) - 2.5) < 1e-6);
    tsr_camera from_zero = o; /* distances that begin at the camera are distances, too */
    from_zero.clip[0] = 0;
    from_zero.clip[1] = 4;
    assert_true(fabs(decode(&from_zero, &window, 0.25) - 1) < 1e-6);
    assert_true(fabs(decode(&p, &w16, 32768) - 6 / (4 - (2 * 32768.0 / 65535 - 1) * 2)) < 1e-6);
    assert_true(fabs(decode(&p, &linear, 255) - 2.5) < 1e-6 && fabs(decode(&p, &linear, 51) - 1.3) < 1e-6);
    assert_true(fabs(decode(&p, &inverse, 0.5) - 1.5) < 1e-6); /* halfway between 1/1 and 1/3 */
    assert_true(fabs(decode(&p, &plain, 2345) - 2.345) < 1e-6);
    assert_true(fabs(decode(&p, &disparity, 20) - 2) < 1e-6);
    /* the corner pixel of 2 x 2 at 90 degrees: a ray of (1/2, 1/2, 1) */
    const float v[4] = { 2, 2, 2, 2 };
    float d[4];
    require_ok(tsr_depth_decode(&p, &radial, 2, 2, v, d, NULL));
    for (int i = 0; i < 4; i++) assert_true(fabs((double)d[i] - 2 / sqrt(1.5)) < 1e-6);
}

static int64_t ulps(float a, float b)
{
    int32_t x, y;
    memcpy(&x, &a, 4);
    memcpy(&y, &b, 4);
    return llabs((long long)x - y);
}

/* Stored numbers come back: floats within 4 units in the last place, integers exactly. */
static void there_and_back(void **unused)
{
    (void)unused;
    uint64_t seed = test_seed();
    enum { W = 8, H = 6 };
    for (int n = 0; n < 400; n++) {
        tsr_camera c = pinhole(0.01 + test_uniform(&seed), 10 + 90 * test_uniform(&seed));
        if (n % 3 == 1) c.projection = TSR_ORTHOGRAPHIC;
        c.height = 4;
        tsr_depth_encoding e = { .kind = (tsr_depth_kind)(n % 7), .bits = n & 8 ? 16 : 0, .focal = 500, .baseline = 0.3, .background_is_valid = 1 };
        if (e.bits)
            e.scale = e.kind == TSR_DEPTH_EYE || e.kind == TSR_DEPTH_RADIAL ? 2 * c.clip[1] / 65535 : e.kind == TSR_DEPTH_DISPARITY ? 0.25 : 0;
        float d[W * H], value[W * H], again[W * H], back[W * H];
        for (int i = 0; i < W * H; i++) d[i] = (float)(c.clip[0] * 1.01 + (0.98 * c.clip[1] - c.clip[0] * 1.01) * test_uniform(&seed));
        tsr_depth_report r = TSR_DEPTH_REPORT;
        require_ok(tsr_depth_encode(&c, &e, W, H, d, value));
        require_ok(tsr_depth_decode(&c, &e, W, H, value, back, &r));
        require_ok(tsr_depth_encode(&c, &e, W, H, back, again));
        for (int i = 0; i < W * H; i++) {
            if (!(back[i] > 0)) continue; /* an integer too coarse for it: 0 */
            if (e.bits) assert_true(value[i] == again[i]);
            else if (e.kind == TSR_DEPTH_EYE || e.kind == TSR_DEPTH_RADIAL || e.kind == TSR_DEPTH_DISPARITY || e.kind == TSR_DEPTH_INVERSE)
                assert_true(ulps(d[i], back[i]) <= 64);
            if (!e.bits && fabsf(value[i]) > 1e-2f) assert_true(ulps(value[i], again[i]) <= 4);
        }
        if (e.bits) assert_true(r.quantum > 0 && r.samples == W * H);
    }
    /* the step of a Z-buffer: d^2 (f - n) / (f n) 2^-b */
    const tsr_camera c = pinhole(0.1, 50);
    const tsr_depth_encoding e = { .kind = TSR_DEPTH_WINDOW, .bits = 16 };
    float d = 10, v;
    tsr_depth_report r = TSR_DEPTH_REPORT;
    require_ok(tsr_depth_encode(&c, &e, 1, 1, &d, &v));
    require_ok(tsr_depth_decode(&c, &e, 1, 1, &v, &d, &r));
    assert_true(fabs(r.quantum / (100 * (50 - 0.1) / (50 * 0.1) / 65536) - 1) < 0.05);
}

static void validity(void **unused)
{
    (void)unused;
    const tsr_camera c = pinhole(1, 3);
    const tsr_depth_encoding eye = { .kind = TSR_DEPTH_EYE }, w8 = { .kind = TSR_DEPTH_WINDOW, .bits = 8 };
    const float v[8] = { NAN, INFINITY, 0, -1, 0.5f, 3, 7, 2 };
    float d[8];
    tsr_depth_report r = TSR_DEPTH_REPORT;
    require_ok(tsr_depth_decode(&c, &eye, 8, 1, v, d, &r));
    assert_true(r.samples == 8 && r.valid == 1 && r.not_numbers == 2 && r.behind == 2 && r.beyond == 2 && r.background == 1 && d[7] == 2 &&
                r.nearest == 2);
    for (int i = 0; i < 7; i++) assert_true(d[i] == 0);
    const float top[2] = { 255, 254 };
    require_ok(tsr_depth_decode(&c, &w8, 2, 1, top, d, &r));
    assert_true(d[0] == 0 && d[1] > 0 && r.background == 1); /* the last value of a Z-buffer is nothing */
    const tsr_depth_encoding whole = { .kind = TSR_DEPTH_WINDOW,
                                       .bits = 8,
                                       .background_is_valid = 1 }; /* or a surface; the step is that to 254: none is beyond 255 */
    require_ok(tsr_depth_decode(&c, &whole, 1, 1, top, d, &r));
    assert_true(r.valid == 1 && fabs(r.nearest - 3) < 1e-6 && fabs(r.quantum - (3 - 1 / (1 - 254.0 / 255 * (1 - 1.0 / 3)))) < 1e-6);
    tsr_camera from_zero = c; /* clip distances may begin at the eye, where rays are parallel */
    from_zero.projection = TSR_ORTHOGRAPHIC;
    from_zero.height = 2;
    from_zero.clip[0] = 0;
    const float w[3] = { 1e-3f, 2.9f, 3.1f };
    require_ok(tsr_depth_decode(&from_zero, &eye, 3, 1, w, d, &r));
    assert_true(d[0] == w[0] && d[1] == w[1] && d[2] == 0 && r.beyond == 1 && r.valid == 2);
    tsr_depth_encoding bad = { .kind = TSR_DEPTH_WINDOW };
    tsr_camera plain = c;
    plain.clip[0] = plain.clip[1] = 0;
    require_error(tsr_depth_decode(&plain, &bad, 2, 1, top, d, NULL), TSR_ERROR_ARGUMENT, "without the camera's clip distances");
    bad = (tsr_depth_encoding){ .kind = TSR_DEPTH_DISPARITY };
    require_error(tsr_depth_decode(&c, &bad, 2, 1, top, d, NULL), TSR_ERROR_ARGUMENT, "focal length of 0");
    bad = (tsr_depth_encoding){ .kind = TSR_DEPTH_EYE_LINEAR, .range = { 5, 2 } };
    require_error(tsr_depth_decode(&c, &bad, 2, 1, top, d, NULL), TSR_ERROR_ARGUMENT, "range of the depths is 5 to 2");
    bad = (tsr_depth_encoding){ .bits = 40 };
    require_error(tsr_depth_decode(&c, &bad, 2, 1, top, d, NULL), TSR_ERROR_ARGUMENT, "40 bits");
    require_error(tsr_depth_kind_parse("metres", &bad.kind), TSR_ERROR_ARGUMENT, "'metres', expected eye");
}

/* What there is no distance for is stored as what reads as nothing: the far end of a Z-buffer, 0 of the rest. Integers are the nearest ones. */
static void stored_numbers(void **unused)
{
    (void)unused;
    const tsr_camera c = pinhole(1, 3);
    const float nothing[4] = { 0, -1, NAN, INFINITY };
    for (int kind = TSR_DEPTH_EYE; kind <= TSR_DEPTH_DISPARITY; kind++)
        for (int bits = 0; bits <= 16; bits += 8) {
            tsr_depth_encoding e = { .kind = (tsr_depth_kind)kind, .bits = bits, .focal = 500, .baseline = 0.1 };
            const int buffer = kind == TSR_DEPTH_NDC || kind == TSR_DEPTH_WINDOW, last = buffer || kind == TSR_DEPTH_EYE_LINEAR;
            float value[4], back[4];
            tsr_depth_report r = TSR_DEPTH_REPORT;
            require_ok(tsr_depth_encode(&c, &e, 4, 1, nothing, value));
            for (int i = 0; i < 4; i++) {
                const float expected = last ? bits ? (float)(ldexp(1, bits) - 1) : 1.0f : 0.0f;
                if (value[i] != expected)
                    fail_msg("kind %d, %d bits: %g is stored as %g, expected %g", kind, bits, (double)nothing[i], (double)value[i], (double)expected);
            }
            require_ok(tsr_depth_decode(&c, &e, 4, 1, value, back, &r));
            for (int i = 0; i < 4 && kind != TSR_DEPTH_INVERSE && kind != TSR_DEPTH_EYE_LINEAR; i++) assert_true(back[i] == 0);
            assert_true(!buffer || r.background == 4);
        }
    const tsr_depth_encoding eye = { .kind = TSR_DEPTH_EYE, .scale = 0.5, .bits = 8 };
    for (int k = 0; k <= 260; k++)
        for (int side = 0; side < 4; side++) {
            static const double part[4] = { -0.49, -0.3, 0.3, 0.49 };
            const float d = (float)(0.5 * (k + part[side]));
            float value;
            if (!(d > 0)) continue;
            require_ok(tsr_depth_encode(&c, &eye, 1, 1, &d, &value));
            assert_true(value == (float)(k < 255 ? k : 255));
        }
    /* the step between stored numbers: of a Z-buffer of 8 bits by its own formula, at the farthest that is valid */
    const tsr_depth_encoding w = { .kind = TSR_DEPTH_WINDOW, .bits = 8 };
    const float values[3] = { 10, 100, 200 };
    float d[3];
    tsr_depth_report r = TSR_DEPTH_REPORT;
    require_ok(tsr_depth_decode(&c, &w, 3, 1, values, d, &r));
    const double here = 1 / (1 - 200.0 / 255 * (1 - 1.0 / 3)), next = 1 / (1 - 201.0 / 255 * (1 - 1.0 / 3));
    assert_true(r.valid == 3 && fabs(r.quantum / (next - here) - 1) < 1e-6 && fabs((double)d[2] - here) < 1e-6);
    /* clip distances: 0 < near < far where rays meet, near < far where they do not; none at all is no distance */
    for (int parallel = 0; parallel < 2; parallel++) {
        static const struct {
            double near_, far_;
            int good;
        } clips[] = { { 0, 0, 3 }, { 0, 1, 2 }, { 1e-9, 1, 3 }, { -1, 1, 2 }, { 1, 1, 0 }, { 2, 1, 0 }, { NAN, 1, 0 }, { 1, INFINITY, 0 } };
        for (size_t k = 0; k < sizeof clips / sizeof *clips; k++) {
            tsr_camera other = pinhole(clips[k].near_, clips[k].far_);
            other.projection = parallel ? TSR_ORTHOGRAPHIC : TSR_PERSPECTIVE;
            other.height = 2;
            if (clips[k].good >> parallel & 1) require_ok(tsr_camera_check(&other));
            else require_error(tsr_camera_check(&other), TSR_ERROR_ARGUMENT, parallel ? "expected near < far" : "expected 0 < near < far");
        }
    }
}

/* A step seen through a lens: without it no sample lies between the two distances. */
static void lenses(void **unused)
{
    (void)unused;
    enum { W = 64, H = 48 };
    tsr_camera c = pinhole(1, 30);
    c.lens = (tsr_lens){ .model = TSR_LENS_POLY, .k1 = -0.08 };
    static float d[W * H], straight[W * H + 1];
    straight[W * H] = 7;              /* nothing is written behind it */
    for (int i = 0; i < W * H; i++) { /* the edge x = 8 of the undistorted image, by the library's own lens (tested elsewhere) */
        const double at[2] = { i % W + 0.5, i / W + 0.5 };
        double u[2];
        require_ok(tsr_lens_undistort(&c.lens, W, H, at, u));
        d[i] = u[0] < 20 ? 2.0f : 5.0f;
    }
    require_ok(tsr_depth_undistort(&c, W, H, d, straight));
    int wrong = 0;
    for (int i = 0; i < W * H; i++) {
        assert_true(straight[i] == 2.0f || straight[i] == 5.0f || straight[i] == 0.0f);
        wrong += straight[i] > 0 && straight[i] != (i % W < 20 ? 2.0f : 5.0f);
    }
    assert_true(wrong <= 2 * H); /* the column beside the edge */
    assert_true(straight[W * H] == 7);
    wrong = 0; /* and down the image */
    for (int i = 0; i < W * H; i++) {
        const double at[2] = { i % W + 0.5, i / W + 0.5 };
        double u[2];
        require_ok(tsr_lens_undistort(&c.lens, W, H, at, u));
        d[i] = u[1] < 9 ? 2.0f : 5.0f;
    }
    require_ok(tsr_depth_undistort(&c, W, H, d, straight));
    for (int i = 0; i < W * H; i++) wrong += straight[i] > 0 && straight[i] != (i / W < 9 ? 2.0f : 5.0f);
    assert_true(wrong <= W / 2);
    /* every sample that of the pixel where the lens shows its middle, nothing where that is outside */
    for (int i = 0; i < W * H; i++) d[i] = (float)(1 + i);
    require_ok(tsr_depth_undistort(&c, W, H, d, straight));
    for (int i = 0; i < W * H; i++) {
        const double at[2] = { i % W + 0.5, i / W + 0.5 };
        double u[2];
        require_ok(tsr_lens_distort(&c.lens, W, H, at, u));
        const int inside = u[0] >= 0 && u[1] >= 0 && u[0] < W && u[1] < H;
        if (fabs(u[0] - round(u[0])) < 1e-9 || fabs(u[1] - round(u[1])) < 1e-9) continue; /* between two */
        assert_true(straight[i] == (inside ? (float)(1 + (int)u[1] * W + (int)u[0]) : 0.0f));
    }
    /* along a ray that the lens has bent: by its place without the lens, 24 pixels being the focal length at 90 degrees */
    const tsr_depth_encoding radial = { .kind = TSR_DEPTH_RADIAL };
    static float far_[W * H];
    for (int i = 0; i < W * H; i++) far_[i] = 10;
    require_ok(tsr_depth_decode(&c, &radial, W, H, far_, d, NULL));
    for (int i = 0; i < W * H; i++) {
        const double at[2] = { i % W + 0.5, i / W + 0.5 };
        double u[2];
        require_ok(tsr_lens_undistort(&c.lens, W, H, at, u));
        const double x = (u[0] - W / 2.0) / 24, y = (u[1] - H / 2.0) / 24;
        assert_true(fabs((double)d[i] * sqrt(1 + x * x + y * y) - 10) < 1e-4);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(by_hand), cmocka_unit_test(there_and_back), cmocka_unit_test(validity),
                                        cmocka_unit_test(stored_numbers), cmocka_unit_test(lenses) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
