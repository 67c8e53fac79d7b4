/* Speed of cameras found from lines, and of boards found in pictures. Bounds: a candidate looks up one byte and computes 60 operations for each place of a line (8192
 * candidates, 683 and 1024 places, three levels: 1.3 G operations); the rest, on the host, is the picture's edges (some 100 operations a pixel) and the refinement of about 190
 * cameras. The detector computes about 60 operations a pixel and level. Each picture found counts only if the camera lies within 0.2 pixels of the true one. */
#include "bench.h"

static struct {
    bench b;
    tsr_image image, board;
    tsr_align_line line[2048];
    tsr_align_proxy proxy;
    tsr_pinhole truth, start;
    int found;
    double off;
} s;

static double place(const tsr_pinhole *c, const tsr_vec3 *x, double pixel[2])
{
    double e[3];
    for (int i = 0; i < 3; i++) e[i] = c->rotation[i][0] * x->x + c->rotation[i][1] * x->y + c->rotation[i][2] * x->z + c->translation[i];
    pixel[0] = c->fx * e[0] / e[2] + c->cx;
    pixel[1] = c->fy * e[1] / e[2] + c->cy;
    return e[2];
}

static tsr_status align_call(void *user)
{
    tsr_align_result r = TSR_ALIGN_RESULT;
    const tsr_status status = tsr_align_edges(s.b.context, &s.image, &s.proxy, &s.start, NULL, &r);
    double sum = 0;
    int count = 0;
    (void)user;
    for (int64_t i = 0; i < s.proxy.lines && status == TSR_OK; i++) {
        double a[2], b[2];
        if (!(place(&s.truth, &s.line[i].from, a) > 0) || !(a[0] >= 0 && a[1] >= 0 && a[0] < s.truth.width && a[1] < s.truth.height)) continue;
        place(&r.camera, &s.line[i].from, b);
        sum += (a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]);
        count++;
    }
    s.off = count ? sqrt(sum / count) : 1e9;
    return status;
}

static tsr_status board_call(void *user)
{
    const tsr_chessboard board = { 9, 6, 1 };
    double corner[54][2];
    (void)user;
    return tsr_chessboard_find(&s.board, &board, NULL, corner, &s.found);
}

int main(int argc, char **argv)
{
    if (!bench_begin(&s.b, argc, argv, "align")) return 2;
    const int gpu = tsr_context_device(s.b.context).kind == TSR_DEVICE_CUDA;
    tsr_camera c = { .fov = 2 * atan(0.5 * 720 / 2000) * 57.29577951308232 };
    tsr_pitch_options o = TSR_PITCH_OPTIONS;
    MUST(tsr_camera_look_at(&c, (tsr_vec3){ 0, -75, 22 }, (tsr_vec3){ 26, -2, 0 }, (tsr_vec3){ 0, 0, 1 }));
    MUST(tsr_camera_to_pinhole(&c, 1280, 720, &s.truth));
    o.players = 20;
    o.noise = 3;
    MUST(tsr_pitch_draw(&s.truth, &o, &s.image));
    s.proxy = (tsr_align_proxy){ .line = s.line, .lines = tsr_pitch_lines(s.line) };
    /* the camera looks 5 degrees too far to the right, stands 4 m off, and its focal length is a tenth too long */
    const double a = 5 * 0.017453292519943295;
    s.start = s.truth;
    for (int k = 0; k < 3; k++) {
        s.start.rotation[0][k] = cos(a) * s.truth.rotation[0][k] - sin(a) * s.truth.rotation[2][k];
        s.start.rotation[2][k] = sin(a) * s.truth.rotation[0][k] + cos(a) * s.truth.rotation[2][k];
    }
    s.start.translation[0] = cos(a) * s.truth.translation[0] - sin(a) * s.truth.translation[2] + 2.5;
    s.start.translation[2] = sin(a) * s.truth.translation[0] + cos(a) * s.truth.translation[2] + 3;
    s.start.fx *= 1.1;
    s.start.fy *= 1.1;
    if (bench_wants(&s.b, "pitch")) {
        bench_case b = { .name = "pitch 1280x720, start wrong by 5 degrees, 5 %, 10 %", .n = 3 * 8192, .flops = 1.3e9, .bar = gpu ? "0.2 pixels in at most 0.5 s" : "0.2 pixels in at most 20 s" };
        b.time = bench_measure(&s.b, align_call, NULL, NULL);
        b.holds = s.off <= 0.2 && b.time.median <= (gpu ? 0.5 : 20);
        bench_report(&s.b, &b);
    }
    if (bench_wants(&s.b, "board")) {
        const tsr_chessboard board = { 9, 6, 1 };
        const tsr_pinhole p = { .width = 640, .height = 480, .fx = 540, .fy = 540, .cx = 326, .cy = 236, .k = { -0.26, 0.09 },
                                .rotation = { { 0.96, 0, 0.28 }, { 0, 1, 0 }, { -0.28, 0, 0.96 } }, .translation = { -4, -2.5, 13 } };
        MUST(tsr_chessboard_draw(&board, &p, &s.board));
        bench_case b = { .name = "board of 9 x 6 in 640x480", .n = 640 * 480, .flops = 640 * 480 * 1.25 * 60 };
        b.time = bench_measure(&s.b, board_call, NULL, NULL);
        bench_report(&s.b, &b);
        if (!s.found) fprintf(stderr, "bench align: the board was not found\n");
    }
    tsr_image_destroy(&s.image);
    tsr_image_destroy(&s.board);
    return bench_end(&s.b);
}
