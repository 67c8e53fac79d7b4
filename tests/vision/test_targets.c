/* Boards of circles and boards with markers: places against the definitions of tessera/camera.h, whole boards, parts, backs, two at once, none. What
 * OpenCV prints and finds is asked by board_peers.py. */
#include <math.h>

#include "support.h"
#include "tessera/calibrate.h"
#include "vision/calibration/calibration.h"

enum { POINTS_MOST = 512 };

static double gauss(uint64_t *state)
{
    const double u = 1 - test_uniform(state), v = test_uniform(state);
    return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

/* A camera that sees the middle of the target, turned about z, x and y (radians). */
static tsr_pinhole camera_at(const tsr_target *t, int32_t width, int32_t height, double spin, double over, double across, double share)
{
    tsr_pinhole c = {
        .width = width, .height = height, .fx = 1.1 * width, .fy = 1.1 * width, .cx = 0.5 * width + 3, .cy = 0.5 * height - 2, .k = { -0.12, 0.03 }
    };
    const double cz = cos(spin), sz = sin(spin), cx = cos(over), sx = sin(over), cy = cos(across), sy = sin(across);
    const double r[3][3] = { { cy * cz, -cy * sz, sy },
                             { sx * sy * cz + cx * sz, cx * cz - sx * sy * sz, -sx * cy },
                             { sx * sz - cx * sy * cz, cx * sy * sz + sx * cz, cx * cy } };
    double low[2] = { 1e9, 1e9 }, high[2] = { -1e9, -1e9 };
    int32_t n;
    memcpy(c.rotation, r, sizeof r);
    require_ok(tsr_target_count(t, &n));
    for (int32_t i = 0; i < n; i++) {
        double at[2];
        require_ok(tsr_target_point(t, i, at));
        for (int k = 0; k < 2; k++) low[k] = fmin(low[k], at[k]), high[k] = fmax(high[k], at[k]);
    }
    const double size = fmax(high[0] - low[0], high[1] - low[1]), middle[2] = { 0.5 * (low[0] + high[0]), 0.5 * (low[1] + high[1]) };
    for (int i = 0; i < 3; i++) c.translation[i] = (i == 2 ? size * 1.1 * width / (share * height) : 0) - r[i][0] * middle[0] - r[i][1] * middle[1];
    return c;
}

/* Where a place of the target's plane is seen. */
static void see(const tsr_pinhole *c, const double at[2], double pixel[2])
{
    double e[3];
    for (int i = 0; i < 3; i++) e[i] = c->rotation[i][0] * at[0] + c->rotation[i][1] * at[1] + c->translation[i];
    const double x = e[0] / e[2], y = e[1] / e[2], r2 = x * x + y * y, g = 1 + c->k[0] * r2 + c->k[1] * r2 * r2;
    pixel[0] = c->fx * x * g + c->cx;
    pixel[1] = c->fy * y * g + c->cy;
}

static void add_noise(tsr_image *image, double sigma, uint64_t *state)
{
    for (int64_t i = 0; i < (int64_t)image->width * image->height; i++)
        image->pixels[i] = (uint8_t)fmin(255, fmax(0, image->pixels[i] + sigma * gauss(state) + 0.5));
}

static tsr_target parsed(const char *text)
{
    tsr_target t;
    require_ok(tsr_target_parse(text, &t, NULL));
    return t;
}

/* Root of the mean square and largest distance from where the points are. half_turn: the picture does not tell the board's ends apart. */
static void judge(const tsr_target *t, const tsr_pinhole *c, const double (*pixel)[2], const uint8_t *seen, int half_turn, double *rms, double *worst)
{
    int32_t n, count = 0;
    double sum = 0;
    require_ok(tsr_target_count(t, &n));
    *worst = 0;
    for (int32_t i = 0; i < n; i++) {
        double at[2], expected[2];
        if (!seen[i]) continue;
        require_ok(tsr_target_point(t, half_turn ? n - 1 - i : i, at));
        see(c, at, expected);
        const double off = hypot(pixel[i][0] - expected[0], pixel[i][1] - expected[1]);
        sum += off * off;
        *worst = fmax(*worst, off);
        count++;
    }
    *rms = count ? sqrt(sum / count) : (double)INFINITY;
}

static const char *const boards[] = { "circles:4x11,20mm",
                                      "circles:5x6,1",
                                      "charuco:5x7,30mm,22mm,4x4_50",
                                      "charuco:6x8,30,20,6x6_250,legacy",
                                      "charuco:7x5,3,2.2,5x5_100",
                                      "charuco:5x5,4,3,36h11",
                                      "charuco:5x6,1,0.7,original",
                                      "charuco:6x5,1,0.7,7x7_50",
                                      "9x6,25mm" };
enum { BOARDS = (int)(sizeof boards / sizeof *boards) };

static void in_pictures(void **unused)
{
    (void)unused;
    static double pixel[POINTS_MOST][2];
    uint8_t seen[POINTS_MOST];
    uint64_t state = test_seed();
    for (int b = 0; b < BOARDS; b++) {
        const tsr_target t = parsed(boards[b]);
        int32_t n;
        require_ok(tsr_target_count(&t, &n));
        for (int view = 0; view < (test_is_slow() ? 2 : 5); view++) {
            const tsr_pinhole c =
                camera_at(&t, view == 3 ? 1280 : 640, view == 3 ? 960 : 480, 1.3 * view + 0.1, 0.5 * sin(2.0 * view), 0.5 * cos(1.3 * view), 0.75);
            tsr_image image;
            tsr_target_found found = TSR_TARGET_FOUND;
            double rms, worst;
            require_ok(tsr_target_draw(&t, &c, &image));
            add_noise(&image, view ? 3 : 0, &state);
            require_ok(tsr_target_find(&image, &t, NULL, pixel, seen, &found));
            if (found.points < (t.kind == TSR_TARGET_CHARUCO ? n - 1 : n) || found.boards != 1 || found.mirrored)
                fail_msg("%s, view %d: %d of %d points, %d boards, mirrored %d", boards[b], view, found.points, n, found.boards, found.mirrored);
            judge(&t, &c, (const double(*)[2])pixel, seen, 0, &rms, &worst);
            if (t.kind == TSR_TARGET_CIRCLES && !(t.rows & 1) && worst > 1) judge(&t, &c, (const double(*)[2])pixel, seen, 1, &rms, &worst);
            if (!(rms < 0.09 && worst < 0.35)) fail_msg("%s, view %d: off by %.3f pixels, one by %.3f", boards[b], view, rms, worst);
            if (t.kind == TSR_TARGET_CIRCLES && !(rms < 0.06)) fail_msg("%s, view %d: circles off by %.3f pixels", boards[b], view, rms);
            tsr_image_destroy(&image);
        }
    }
}

/* The middle of a circle is not the middle of its picture; wide circles seen from near tell them apart. */
static void middles(void **unused)
{
    (void)unused;
    const tsr_target t = parsed("circles:2x3,1");
    tsr_pinhole c = camera_at(&t, 900, 900, 0.05, 0.6, 0.1, 0.5);
    double pixel[6][2], rms, worst;
    uint8_t seen[6];
    tsr_image image;
    tsr_target_found found = TSR_TARGET_FOUND;
    memset(c.k, 0, sizeof c.k);
    c.fx *= 0.7; /* shorter, and nearer: the target is 3 wide, and was 6.6 away */
    c.fy *= 0.7;
    c.translation[2] -= 0.3 * 6.6;
    require_ok(tsr_target_draw(&t, &c, &image));
    require_ok(tsr_target_find(&image, &t, NULL, pixel, seen, &found));
    assert_int_equal(found.points, 6);
    judge(&t, &c, (const double(*)[2])pixel, seen, 0, &rms, &worst);
    double bias = 0; /* of the middles of ellipses, from circles of points */
    for (int32_t i = 0; i < 6; i++) {
        double at[2], p[2], middle[2] = { 0, 0 }, low[2] = { 1e9, 1e9 }, high[2] = { -1e9, -1e9 };
        require_ok(tsr_target_point(&t, i, at));
        for (int k = 0; k < 4096; k++) {
            const double on[2] = { at[0] + 0.4 * cos(k * 6.283185307179586 / 4096), at[1] + 0.4 * sin(k * 6.283185307179586 / 4096) };
            see(&c, on, p);
            for (int d = 0; d < 2; d++) low[d] = fmin(low[d], p[d]), high[d] = fmax(high[d], p[d]);
        }
        for (int d = 0; d < 2; d++) middle[d] = 0.5 * (low[d] + high[d]); /* an ellipse's box has its middle */
        see(&c, at, p);
        bias = fmax(bias, hypot(middle[0] - p[0], middle[1] - p[1]));
    }
    if (!(bias > 0.5)) fail_msg("the picture tells nothing: middles of ellipses are off by %.3f pixels", bias);
    if (!(rms < 0.04 && worst < 0.08)) fail_msg("middles off by %.3f pixels, one by %.3f (of ellipses %.2f)", rms, worst, bias);
    tsr_image_destroy(&image);
}

static void mirror(tsr_image *image)
{
    for (int y = 0; y < image->height; y++)
        for (int x = 0; x < image->width / 2; x++) {
            uint8_t *row = image->pixels + (int64_t)y * image->width, kept = row[x];
            row[x] = row[image->width - 1 - x];
            row[image->width - 1 - x] = kept;
        }
}

/* Backs are said to be backs, where the board tells; halves of marked boards are found, of others none; of two boards the larger one. */
static void odd_pictures(void **unused)
{
    (void)unused;
    static double pixel[POINTS_MOST][2], other[POINTS_MOST][2];
    uint8_t seen[POINTS_MOST];
    const char *const kind[] = { "circles:4x10,20mm", "charuco:5x7,30mm,22mm,4x4_50" };
    for (int b = 0; b < 2; b++) {
        const tsr_target t = parsed(kind[b]);
        const tsr_pinhole c = camera_at(&t, 640, 480, 0.3, 0.3, 0.2, 0.68), small = camera_at(&t, 640, 480, 0.1, -0.2, 0.3, 0.45);
        tsr_image image, second, both, half;
        tsr_target_found found = TSR_TARGET_FOUND;
        double rms, worst;
        require_ok(tsr_target_draw(&t, &c, &image));
        require_ok(tsr_target_draw(&t, &small, &second));
        require_ok(tsr_image_create(1280, 480, 3, &both));
        for (int y = 0; y < 480; y++)
            for (int x = 0; x < 1280; x++)
                memset(both.pixels + 3 * (1280 * y + x), x < 640 ? image.pixels[640 * y + x] : second.pixels[640 * y + x - 640], 3);
        require_ok(tsr_target_find(&both, &t, NULL, pixel, seen, &found));
        if (found.boards != 2) fail_msg("%s: %d boards of 2", kind[b], found.boards);
        judge(&t, &c, (const double(*)[2])pixel, seen, b == 0 && pixel[0][0] + pixel[0][1] > 800, &rms, &worst);
        if (b == 0 && worst > 1) judge(&t, &c, (const double(*)[2])pixel, seen, 1, &rms, &worst);
        if (!(rms < 0.1)) fail_msg("%s: of two boards not the larger one: off by %.3f", kind[b], rms);
        require_ok(tsr_image_create(330, 480, 1, &half)); /* the left part: what it shows of the board lies where it lay in the whole */
        for (int y = 0; y < 480; y++) memcpy(half.pixels + 330 * y, image.pixels + 640 * y, 330);
        require_ok(tsr_target_find(&half, &t, NULL, other, seen, &found));
        if (b == 0) assert_int_equal(found.points, 0);
        else {
            if (!(found.points >= 6 && found.points < 24)) fail_msg("%d points of half a board", found.points);
            judge(&t, &c, (const double(*)[2])other, seen, 0, &rms, &worst);
            if (!(worst < 0.3)) fail_msg("half a board: off by %.3f", worst);
        }
        mirror(&image);
        require_ok(tsr_target_find(&image, &t, NULL, pixel, seen, &found));
        if (found.points || !found.mirrored) fail_msg("%s mirrored: %d points, mirrored %d", kind[b], found.points, found.mirrored);
        for (int32_t i = 0; i < 24; i++) assert_true(!seen[i] && pixel[i][0] == 0);
        tsr_image_destroy(&image);
        tsr_image_destroy(&second);
        tsr_image_destroy(&both);
        tsr_image_destroy(&half);
    }
}

/* Noise, nothing, tiny pictures, other boards: none. */
static void no_boards(void **unused)
{
    (void)unused;
    static double pixel[POINTS_MOST][2];
    uint8_t seen[POINTS_MOST];
    uint64_t state = test_seed();
    tsr_target_found found = TSR_TARGET_FOUND;
    for (int b = 0; b < BOARDS; b++) {
        const tsr_target t = parsed(boards[b]), next = parsed(boards[(b + 3) % BOARDS]);
        const tsr_pinhole c = camera_at(&next, 480, 360, 0.2, 0.1, 0.2, 0.8);
        for (int what = 0; what < 4; what++) {
            tsr_image image;
            if (what == 3) require_ok(tsr_target_draw(&next, &c, &image));
            else require_ok(tsr_image_create(what == 2 ? 7 : 320, what == 2 ? 3 : 200, what ? 1 : 4, &image));
            for (int64_t i = 0; what == 1 && i < 320 * 200; i++) image.pixels[i] = (uint8_t)(256 * test_uniform(&state));
            require_ok(tsr_target_find(&image, &t, NULL, pixel, seen, &found));
            if (found.points || found.boards) fail_msg("%s in picture %d: %d points", boards[b], what, found.points);
            tsr_image_destroy(&image);
        }
    }
}

/* A camera from pictures of each kind: what was put in comes out. */
static void calibrated(void **unused)
{
    (void)unused;
    static tsr_sighting s[POINTS_MOST * 8];
    static double pixel[POINTS_MOST][2];
    uint8_t seen[POINTS_MOST];
    for (int b = 0; b < 3; b += 2) {
        const tsr_target t = parsed(boards[b]);
        int64_t n = 0;
        int32_t count;
        tsr_pinhole truth = { 0 }, start = { .width = 640, .height = 480 }, found;
        tsr_calibration *k;
        tsr_calibrate_options o = TSR_CALIBRATE_OPTIONS;
        require_ok(tsr_target_count(&t, &count));
        for (int view = 0; view < 8; view++) {
            tsr_target_found f = TSR_TARGET_FOUND;
            tsr_image image;
            truth = camera_at(&t, 640, 480, 0.4 * sin(1.1 * view), 0.6 * sin(2.4 * view), 0.6 * cos(1.7 * view), 0.62);
            require_ok(tsr_target_draw(&t, &truth, &image));
            require_ok(tsr_target_find(&image, &t, NULL, pixel, seen, &f));
            tsr_image_destroy(&image);
            for (int32_t i = 0; i < count; i++) {
                double at[2];
                if (!seen[i]) continue;
                require_ok(tsr_target_point(&t, i, at));
                s[n++] = (tsr_sighting){ .pose = view, .point = { at[0], at[1], 0 }, .pixel = { pixel[i][0], pixel[i][1] } };
            }
        }
        o.free = TSR_FREE_FOCAL | TSR_FREE_ASPECT | TSR_FREE_CENTRE | TSR_FREE_K1 | TSR_FREE_K2;
        require_ok(tsr_calibrate(s, n, &start, 1, &o, &k));
        require_ok(tsr_calibration_camera(k, 0, &found, NULL, NULL));
        if (!(fabs(found.fx - truth.fx) < 1.5 && fabs(found.cx - truth.cx) < 1 && fabs(found.k[0] - truth.k[0]) < 0.01))
            fail_msg("%s: focal length %.2f, centre %.2f, k1 %.4f, expected %.2f, %.2f, %.2f", boards[b], found.fx, found.cx, found.k[0], truth.fx,
                     truth.cx, truth.k[0]);
        tsr_calibration_destroy(&k);
    }
}

static int bits_set(uint64_t v)
{
    int n = 0;
    for (; v; v &= v - 1) n++;
    return n;
}

/* Codes of one family differ by some bits however they are turned; four quarters are none, and so are two mirrors. */
static void codes(void **unused)
{
    (void)unused;
    const int least[] = { 3, 6, 9, 14, 11, 1 };
    for (int f = 0; f <= TSR_MARKERS_ORIGINAL; f++) {
        const int bits = tsr_marker_bits((tsr_marker_family)f);
        int distance = 64;
        for (int32_t a = 0; a < 250; a++) {
            uint64_t code = tsr_marker_code((tsr_marker_family)f, a);
            assert_true(code >> (bits * bits - 1) >> 1 == 0);
            assert_true(tsr_marker_mirror(tsr_marker_mirror(code, bits), bits) == code);
            for (int turn = 0; turn < 4; turn++, code = tsr_marker_turn(code, bits))
                for (int32_t b = 0; b < a; b++) {
                    const int d = bits_set(code ^ tsr_marker_code((tsr_marker_family)f, b));
                    distance = d < distance ? d : distance;
                }
            assert_true(code == tsr_marker_code((tsr_marker_family)f, a));
        }
        if (distance < least[f]) fail_msg("family %d: two codes differ by %d bits, expected %d", f, distance, least[f]);
    }
    /* a quarter turn brings the lower left bit to the upper left */
    assert_int_equal(tsr_marker_turn(2, 2), 8);
    assert_int_equal(tsr_marker_mirror(2, 2), 1);
}

static void texts(void **unused)
{
    (void)unused;
    tsr_target t;
    char unit[16];
    require_ok(tsr_target_parse("charuco:5x7,30mm,22mm,4x4_50", &t, unit));
    assert_true(t.kind == TSR_TARGET_CHARUCO && t.columns == 5 && t.rows == 7 && t.square == 30 && t.marker == 22 && t.markers == TSR_MARKERS_4X4 &&
                !t.legacy);
    assert_string_equal(unit, "mm");
    require_ok(tsr_target_parse("charuco:6x8,1.5,1.1,36h11,legacy", &t, unit));
    assert_true(t.markers == TSR_MARKERS_36H11 && t.legacy && !*unit);
    require_ok(tsr_target_parse("circles:4x11", &t, NULL));
    assert_true(t.kind == TSR_TARGET_CIRCLES && t.square == 1);
    require_ok(tsr_target_parse("9X6,25cm", &t, unit));
    assert_true(t.kind == TSR_TARGET_CHESSBOARD && t.columns == 9 && t.rows == 6 && t.square == 25);
    const char *const bad[] = { "",
                                "9",
                                "9x",
                                "x6",
                                "9x6,",
                                "9x6,0",
                                "9x6,-2mm",
                                "9x6,nan",
                                "9x6,25mm,3",
                                "2x6",
                                "9x300",
                                "circles:1x11,2",
                                "circles:4x11,20mm,15mm",
                                "circles4x11",
                                "charuco:5x7",
                                "charuco:5x7,30mm",
                                "charuco:5x7,30mm,22mm",
                                "charuco:5x7,30mm,22cm,4x4_50",
                                "charuco:5x7,30mm,30mm,4x4_50",
                                "charuco:5x7,30mm,22mm,4x4_60",
                                "charuco:5x7,30mm,22mm,8x8_50",
                                "charuco:12x10,30mm,22mm,4x4_50",
                                "charuco:5x7,30mm,22mm,36h11_50",
                                "charuco:5x7,30mm,22mm,4x4_50,new",
                                "charuco:5x7,30mm,22mm,4x4_50,",
                                "charuco:65x7,30mm,22mm,4x4_50",
                                "charuco:40x40,30mm,22mm,4x4_250" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (tsr_target_parse(bad[i], &t, unit) != TSR_ERROR_ARGUMENT) fail_msg("'%s' was taken", bad[i]);
        if (!strstr(tsr_error_message(), "expected")) fail_msg("'%s': %s", bad[i], tsr_error_message());
    }
}

static void mistakes(void **unused)
{
    (void)unused;
    tsr_target t = parsed("circles:4x11,20mm");
    double pixel[64][2], at[2];
    uint8_t seen[64];
    int32_t n;
    tsr_image image;
    tsr_target_found found = TSR_TARGET_FOUND, unbegun = { 0 };
    tsr_chessboard_options o = TSR_CHESSBOARD_OPTIONS;
    require_ok(tsr_target_count(&t, &n));
    assert_int_equal(n, 44);
    require_ok(tsr_target_point(&t, 5, at)); /* the second circle of the second row */
    assert_true(at[0] == 60 && at[1] == 20);
    require_error(tsr_target_point(&t, 44, at), TSR_ERROR_ARGUMENT, "point 44 of a circles, expected 0 to 43");
    require_ok(tsr_image_create(64, 64, 1, &image));
    assert_int_equal(tsr_target_find(&image, &t, NULL, pixel, seen, &unbegun), TSR_ERROR_ARGUMENT);
    assert_int_equal(tsr_target_find(NULL, &t, NULL, pixel, seen, &found), TSR_ERROR_ARGUMENT);
    o.window = 33;
    require_error(tsr_target_find(&image, &t, &o, pixel, seen, &found), TSR_ERROR_ARGUMENT, "window: 33 pixels, expected 1 to 32");
    o.window = 0;
    o.contrast = (double)NAN;
    require_error(tsr_target_find(&image, &t, &o, pixel, seen, &found), TSR_ERROR_ARGUMENT, "contrast");
    t.marker = 3;
    require_error(tsr_target_count(&t, &n), TSR_ERROR_ARGUMENT, "markers of 3, expected 0");
    t.kind = TSR_TARGET_CHARUCO;
    t.markers = (tsr_marker_family)9;
    t.marker = 15;
    require_error(tsr_target_find(&image, &t, NULL, pixel, seen, &found), TSR_ERROR_ARGUMENT, "family 9");
    t.kind = (tsr_target_kind)7;
    require_error(tsr_target_count(&t, &n), TSR_ERROR_ARGUMENT, "kind 7");
    tsr_image_destroy(&image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_pictures), cmocka_unit_test(middles), cmocka_unit_test(odd_pictures), cmocka_unit_test(no_boards),
        cmocka_unit_test(calibrated),  cmocka_unit_test(codes),   cmocka_unit_test(texts),        cmocka_unit_test(mistakes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
