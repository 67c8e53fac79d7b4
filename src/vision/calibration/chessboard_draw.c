/* vision/calibration/chessboard_draw.c: pictures of boards. */
#include <math.h>

#include "vision/calibration/calibration.h"
#include "vision/calibration/dense.h"

tsr_status tsr_chessboard_draw(const tsr_chessboard *board, const tsr_pinhole *camera, tsr_image *image)
{
    enum { SAMPLES = 16 };
    if (!board || !camera || !image) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s is NULL", !board ? "board" : !camera ? "camera" : "image");
    if (board->columns < 3 || board->rows < 3 || board->columns > 256 || board->rows > 256 || !(board->square > 0) || !isfinite(board->square))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "board of %d x %d inner corners and squares of %g, expected 3 to 256 each way and a side above 0",
                 board->columns, board->rows, board->square);
    if (camera->width < 1 || camera->height < 1 || camera->width > 32768 || camera->height > 32768 || !(camera->fx > 0 && camera->fy > 0))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "camera of %d x %d pixels and focal lengths %g and %g, expected 1 to 32768 pixels and numbers above 0",
                 camera->width, camera->height, camera->fx, camera->fy);
    const tsr_view_model model = tsr_view_model_of(camera);
    double h[3][3], back[3][3]; /* board to places and back */
    for (int i = 0; i < 3; i++) {
        h[i][0] = camera->rotation[i][0] * board->square;
        h[i][1] = camera->rotation[i][1] * board->square;
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
    const tsr_status status = tsr_image_create(camera->width, camera->height, 1, image);
    for (int32_t y = 0; y < camera->height && status == TSR_OK; y++)
        for (int32_t x = 0; x < camera->width; x++) {
            double sum = 0;
            for (int k = 0; k < SAMPLES; k++) { /* two pixels wide, the blur of a camera */
                const double at[2] = { x + 0.5 + 2 * ((7 * k) % SAMPLES + 0.5) / SAMPLES, y + 0.5 + 2 * (k + 0.5) / SAMPLES };
                const int32_t i = (int32_t)at[0], j = (int32_t)at[1];
                const double fx = at[0] - i, fy = at[1] - j;
                double q[2], value = 110;
                for (int c = 0; c < 2; c++) {
                    const double *n = &node[(int64_t)j * w + i][c];
                    q[c] = (n[0] * (1 - fx) + n[2] * fx) * (1 - fy) + (n[2 * w] * (1 - fx) + n[2 * w + 2] * fx) * fy;
                }
                if (q[0] > -2 && q[1] > -2 && q[0] < board->columns + 1 && q[1] < board->rows + 1) {
                    value = 225;
                    if (q[0] > -1 && q[1] > -1 && q[0] < board->columns && q[1] < board->rows && !(((int)floor(q[0]) + (int)floor(q[1])) & 1))
                        value = 25;
                }
                sum += value;
            }
            image->pixels[(int64_t)y * camera->width + x] = (uint8_t)(sum / SAMPLES + 0.5);
        }
    tsr_host_release(NULL, room, bytes);
    return status;
}
