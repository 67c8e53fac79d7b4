/* tools/tessera/calibrate.h: what the verb and its report share. */
#ifndef TESSERA_CLI_CALIBRATE_H
#define TESSERA_CLI_CALIBRATE_H

#include "cli.h"

/* One picture, or all pairs of points. */
typedef struct calibrate_view {
    char name[300];
    int32_t camera, pose; /* pose -1: no board was found */
    int32_t width, height;
    int64_t first, count; /* sightings */
    double (*corner)[2];
    int32_t *number; /* of the board's points, those that were seen */
} calibrate_view;

typedef struct calibrate_result {
    const calibrate_view *view;
    int32_t views;
    const tsr_sighting *sighting;
    const tsr_calibration *calibration;
    tsr_calibration_info info;
    const char *unit;
    tsr_image *picture; /* of each camera one, pixels NULL: none */
} calibrate_result;

/* The root of the mean square of a view's residuals. */
double calibrate_view_rms(const calibrate_result *r, const calibrate_view *view);
/* What a projector must show: written to `image`, NULL: not wanted. */
typedef struct calibrate_canvas {
    const char *image;
    tsr_rig_compensate_options o;
} calibrate_canvas;
/* Runs a recorded session of the workbench's mode calibrate; writes its cameras where `output` is given. Returns an exit code. */
int calibrate_session(cli_call *cli, const char *session, const char *output, const char *format, const calibrate_canvas *canvas);
/* Writes the page. Returns an exit code. */
int calibrate_report(const cli_call *cli, const char *path, const calibrate_result *result);

#endif
