/* A camera's lens from pictures of a chessboard of 9 x 6 inner corners and squares of 25 mm: calibrate PICTURE.png... ; without pictures it draws its own. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <tessera/tessera.h>

#define TRY(call)                                         \
    do {                                                  \
        if ((call) != TSR_OK) {                           \
            fprintf(stderr, "%s\n", tsr_error_message()); \
            return 1;                                     \
        }                                                 \
    } while (0)

enum { COLUMNS = 9, ROWS = 6, CORNERS = COLUMNS * ROWS, OWN = 6 };

/* The board turned a little further each time, seen through a lens that is known. */
static tsr_pinhole pose(int n)
{
    const double a = 0.45 * sin(2.4 * n), b = 0.45 * cos(1.7 * n);
    return (tsr_pinhole){
        .width = 640,
        .height = 480,
        .fx = 540,
        .fy = 540,
        .cx = 320,
        .cy = 240,
        .k = { -0.2 },
        .rotation = { { cos(b), sin(b) * sin(a), sin(b) * cos(a) }, { 0, cos(a), -sin(a) }, { -sin(b), cos(b) * sin(a), cos(b) * cos(a) } },
        .translation = { -100 * cos(b), -60, 340 + 100 * sin(b) }
    };
}

int main(int argc, char **argv)
{
    const tsr_chessboard board = { COLUMNS, ROWS, 25 };
    const int pictures = argc > 1 ? argc - 1 : OWN;
    tsr_sighting *sighting = (tsr_sighting *)malloc((size_t)pictures * CORNERS * sizeof *sighting);
    tsr_pinhole camera = { 0 }; /* fx = 0: not known */
    int64_t count = 0;
    int32_t boards = 0;

    for (int n = 0; n < pictures && sighting; n++) {
        tsr_image image;
        double corner[CORNERS][2];
        int found;
        const tsr_pinhole own = pose(n);
        if (argc > 1) TRY(tsr_image_read(argv[n + 1], NULL, &image));
        else TRY(tsr_chessboard_draw(&board, &own, &image));
        TRY(tsr_chessboard_find(&image, &board, NULL, corner, &found));
        camera.width = image.width;
        camera.height = image.height;
        tsr_image_destroy(&image);
        for (int i = 0; found && i < CORNERS; i++)
            sighting[count++] =
                (tsr_sighting){ .pose = boards, .point = { 25.0 * (i % COLUMNS), 25.0 * (i / COLUMNS), 0 }, .pixel = { corner[i][0], corner[i][1] } };
        boards += found;
    }

    tsr_calibrate_options options = TSR_CALIBRATE_OPTIONS;
    tsr_calibration *result;
    tsr_calibration_info info = TSR_CALIBRATION_INFO;
    tsr_calibration_sigma sigma;
    options.free = TSR_FREE_FOCAL | TSR_FREE_CENTRE | TSR_FREE_K1;
    TRY(tsr_calibrate(sighting, count, &camera, 1, &options, &result));
    TRY(tsr_calibration_get_info(result, &info));
    TRY(tsr_calibration_camera(result, 0, &camera, &sigma, NULL));
    printf("%d boards, error %.3f pixels: focal length %.2f +- %.2f, k1 %.4f +- %.4f\n", info.poses, info.rms, camera.fx, sigma.fx, camera.k[0],
           sigma.k[0]);
    for (int i = 0; tsr_calibration_warning(result, i); i++) printf("%s\n", tsr_calibration_warning(result, i));
    tsr_calibration_destroy(&result);
    free(sighting);
    return argc > 1 || (fabs(camera.fx - 540) < 3 && fabs(camera.k[0] + 0.2) < 0.01) ? 0 : 1;
}
