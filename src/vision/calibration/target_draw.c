/* vision/calibration/target_draw.c: pictures of boards. */
#include <math.h>

#include "vision/calibration/calibration.h"
#include "vision/calibration/dense.h"

enum { INK = 25, PAPER = 225, AROUND = 110 };

/* A marker's bit, or its black border; q in squares from the corner of its square. */
static int marker_ink(const tsr_target *t, const double q[2], int32_t number)
{
    const int bits = tsr_marker_bits(t->markers);
    const double part = t->marker / t->square, from = 0.5 * (1 - part), cell = part / (bits + 2);
    const int x = (int)floor((q[0] - from) / cell), y = (int)floor((q[1] - from) / cell);
    if (x < 0 || y < 0 || x > bits + 1 || y > bits + 1) return PAPER;
    if (x == 0 || y == 0 || x == bits + 1 || y == bits + 1) return INK;
    return tsr_marker_code(t->markers, number) >> (bits * bits - 1 - (bits * (y - 1) + x - 1)) & 1 ? PAPER : INK;
}

/* Grey value at a place in squares: of points the first is at 0, of marked boards the outer corner. */
static int paper(const tsr_target *t, const double q[2])
{
    const double margin = t->kind == TSR_TARGET_CHESSBOARD ? 2 : t->kind == TSR_TARGET_CIRCLES ? 1.5 : 1, radius = 0.4;
    const double across = t->kind == TSR_TARGET_CIRCLES      ? 2 * t->columns - 1
                          : t->kind == TSR_TARGET_CHESSBOARD ? t->columns - 1
                                                             : t->columns,
                 down = t->kind == TSR_TARGET_CHARUCO ? t->rows : t->rows - 1;
    if (!(q[0] > -margin && q[1] > -margin && q[0] < across + margin && q[1] < down + margin))
        return AROUND; /* not a number: nothing is seen there */
    const int32_t x = (int32_t)floor(q[0]), y = (int32_t)floor(q[1]);
    if (t->kind == TSR_TARGET_CHESSBOARD) return q[0] > -1 && q[1] > -1 && q[0] < t->columns && q[1] < t->rows && !((x + y) & 1) ? INK : PAPER;
    if (t->kind == TSR_TARGET_CHARUCO) {
        if (x < 0 || y < 0 || x >= t->columns || y >= t->rows) return PAPER;
        const int32_t number = tsr_charuco_marker(t, x, y);
        return number < 0 ? INK : marker_ink(t, (double[2]){ q[0] - x, q[1] - y }, number);
    }
    const int32_t row = (int32_t)floor(q[1] + 0.5), column = (int32_t)floor((q[0] - (row & 1)) / 2 + 0.5);
    const double dx = q[0] - (2 * column + (row & 1)), dy = q[1] - row;
    return row >= 0 && column >= 0 && row < t->rows && column < t->columns && dx * dx + dy * dy < radius * radius ? INK : PAPER;
}

tsr_status tsr_chessboard_draw(const tsr_chessboard *board, const tsr_pinhole *camera, tsr_image *image)
{
    TSR_NEEDS(board, camera, image);
    const tsr_target target = { .columns = board->columns, .rows = board->rows, .square = board->square };
    return tsr_target_draw(&target, camera, image);
}

tsr_status tsr_target_draw(const tsr_target *target, const tsr_pinhole *camera, tsr_image *image)
{
    enum { SAMPLES = 55, TURN = 34, SHIFT = 44 }; /* Fibonacci numbers; with the shift every place has its opposite */
    TSR_NEEDS(target, camera, image);
    *image = (tsr_image){ 0 };
    TSR_TRY(tsr_target_check(target));
    if (camera->width < 1 || camera->height < 1 || camera->width > 32768 || camera->height > 32768 || !(camera->fx > 0 && camera->fy > 0))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "camera of %d x %d pixels and focal lengths %g and %g, expected 1 to 32768 pixels and numbers above 0",
                 camera->width, camera->height, camera->fx, camera->fy);
    const tsr_view_model model = tsr_view_model_of(camera);
    double h[3][3], back[3][3]; /* board to places and back */
    for (int i = 0; i < 3; i++) {
        h[i][0] = camera->rotation[i][0] * target->square;
        h[i][1] = camera->rotation[i][1] * target->square;
        h[i][2] = camera->translation[i];
    }
    if (!tsr_dense_invert3((const double(*)[3])h, back)) TSR_FAIL(TSR_ERROR_ARGUMENT, "the camera looks along the plane of the board");
    /* where on the board the corners of the pixels lie; between them it is interpolated, 1e-4 pixels off at most */
    const int32_t w = camera->width + 3, height = camera->height + 3;
    void *room = NULL;
    const size_t bytes = (size_t)w * (size_t)height * sizeof(double[2]);
    TSR_TRY(tsr_host_allocate(NULL, bytes, &room));
    double(*node)[2] = (double(*)[2])room;
    for (int32_t y = 0; y < height; y++)
        for (int32_t x = 0; x < w; x++) {
            const double pixel[2] = { x - 1, y - 1 };
            double *to = node[(int64_t)y * w + x], p[2] = { 0, 0 };
            const int seen = tsr_view_normalise(&model, pixel, p);
            const double scale = back[2][0] * p[0] + back[2][1] * p[1] + back[2][2];
            for (int k = 0; k < 2; k++) to[k] = seen && scale > 0 ? (back[k][0] * p[0] + back[k][1] * p[1] + back[k][2]) / scale : (double)NAN;
        }
    double spread[SAMPLES][2]; /* a Fibonacci lattice: edges of every direction pass evenly, and the middle is the pixel's */
    for (int k = 0; k < SAMPLES; k++) {
        spread[k][0] = (k + 0.5) / SAMPLES;
        spread[k][1] = ((TURN * k + SHIFT) % SAMPLES + 0.5) / SAMPLES;
    }
    const tsr_status status = tsr_image_create(camera->width, camera->height, 1, image);
    for (int32_t y = 0; y < camera->height && status == TSR_OK; y++)
        for (int32_t x = 0; x < camera->width; x++) {
            double sum = 0;
            for (int k = 0; k < SAMPLES; k++) { /* two pixels wide, the blur of a camera */
                const double at[2] = { x + 0.5 + 2 * spread[k][0], y + 0.5 + 2 * spread[k][1] };
                const int32_t i = (int32_t)at[0], j = (int32_t)at[1];
                const double fx = at[0] - i, fy = at[1] - j;
                double q[2];
                for (int c = 0; c < 2; c++) {
                    const double *n = &node[(int64_t)j * w + i][c];
                    q[c] = (n[0] * (1 - fx) + n[2] * fx) * (1 - fy) + (n[2 * w] * (1 - fx) + n[2 * w + 2] * fx) * fy;
                }
                sum += paper(target, q);
            }
            image->pixels[(int64_t)y * camera->width + x] = (uint8_t)(sum / SAMPLES + 0.5);
        }
    tsr_host_release(NULL, room, bytes);
    return status;
}
