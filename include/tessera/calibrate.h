/* tessera/calibrate.h: cameras from what they saw: boards found in pictures, intrinsics, lenses and poses by least squares, poses in closed form.
 *
 * Pixels count from the upper left corner of the image (the middle of the first pixel is 0.5, 0.5; OpenCV's numbers plus 1/2). Axes of a camera
 * here are
 * those of tsr_pinhole: x right, y down, z forward; a pose takes a point to them: x_camera = R x + t. Everything is computed on the host in float64.
 * Class: exact on one build; results of an iteration are tolerant (docs/theory/calibration.md 8). Any thread. Source: docs/theory/calibration.md. */
#ifndef TESSERA_CALIBRATE_H
#define TESSERA_CALIBRATE_H

#include "tessera/camera.h"
#include "tessera/io.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- boards in pictures -------------------------------------------------------------------------------------------------------- */

/* A chessboard by its inner corners, where four squares meet: columns along x, rows along y, both at least 3. */
typedef struct tsr_chessboard {
    int32_t columns, rows;
    double square; /* side of a square, in the unit of the scene */
} tsr_chessboard;

typedef struct tsr_chessboard_options {
    size_t struct_size;
    int32_t window;  /* half-width in pixels of the sub-pixel step; 0 = 11, less where the squares are small */
    double contrast; /* least difference of black and white, grey values; 0 = 12 */
    tsr_progress progress;
} tsr_chessboard_options;
#define TSR_CHESSBOARD_OPTIONS TSR_SIZED(tsr_chessboard_options)

/* Looks for the whole board in an image of 1, 3 or 4 channels and writes columns x rows places, row after row, to `pixel` (room for columns *
 * rows). *found is 0
 * where there is none. The first corner is one that makes x and y turn as they do on the paper seen from its front; where columns + rows is odd it
 * is the one
 * with a dark square inside the grid beside it, so that pictures of several cameras agree; else the one nearest to the upper left corner of the
 * image.
 * Of several boards the one with the largest squares is taken. */
TSR_API tsr_status tsr_chessboard_find(const tsr_image *image, const tsr_chessboard *board, const tsr_chessboard_options *options, double (*pixel)[2],
                                       int *found) TSR_CHECKED;
/* Moves places to the nearest corner of two edges: sub-pixel, `window` pixels around. Those that would leave their window stay; *moved (may be
 * NULL) counts the
 * others. */
TSR_API tsr_status tsr_corners_refine(const tsr_image *image, int32_t window, int64_t count, double (*pixel)[2], int64_t *moved) TSR_CHECKED;

/* The board on white paper, one square of margin around, as a camera sees it whose pose takes the board's plane (x along the columns, y along the
 * rows, z into the
 * paper, first corner at 0) to its axes. Grey, 16 samples a pixel. For trying things, and for printing: a camera straight above. RETURNS NEW. */
TSR_API tsr_status tsr_chessboard_draw(const tsr_chessboard *board, const tsr_pinhole *camera, tsr_image *image) TSR_CHECKED;

/* ---- other targets ------------------------------------------------------------------------------------------------------------- */

typedef enum tsr_target_kind {
    TSR_TARGET_CHESSBOARD = 0, /* columns x rows inner corners, as above */
    TSR_TARGET_CIRCLES, /* dark discs on light, columns in each of `rows` rows; every other row is shifted by half of a step (OpenCV's asymmetric grid) */
    TSR_TARGET_CHARUCO /* columns x rows squares, those that are white hold markers: a part of the board is enough (OpenCV's ChArUco) */
} tsr_target_kind;

/* The markers of a board, by OpenCV's names: bits each way. The first 250 of each. */
typedef enum tsr_marker_family {
    TSR_MARKERS_4X4 = 0,
    TSR_MARKERS_5X5,
    TSR_MARKERS_6X6,
    TSR_MARKERS_7X7,
    TSR_MARKERS_36H11,
    TSR_MARKERS_ORIGINAL
} tsr_marker_family;

typedef struct tsr_target {
    tsr_target_kind kind;
    int32_t columns, rows;     /* CHARUCO: squares, 3 to 64 each way; else points, 3 to 256 (circles: 2 columns are enough) */
    double square;             /* side of a square; CIRCLES: from row to row, which is half of the step in a row */
    double marker;             /* CHARUCO: side of a marker with its black border, below `square`; else 0 */
    tsr_marker_family markers; /* CHARUCO */
    int legacy;                /* CHARUCO: != 0: the upper left square is white where `rows` is even, as OpenCV printed them before 4.6 */
} tsr_target;

/* A text such as 9x6,25mm, circles:4x11,20mm or charuco:5x7,30mm,22mm,4x4_50 (families 4x4, 5x5, 6x6, 7x7 with _50, _100 or _250, 36h11, original; a fifth word "legacy").
 * The unit, in `unit` (NULL: not wanted), is whatever letters stand behind the numbers, "" for none. TSR_ERROR_ARGUMENT says what was expected. */
TSR_API tsr_status tsr_target_parse(const char *text, tsr_target *target, char unit[16]) TSR_CHECKED;
/* How many points it has, and where one lies on its plane, x along the columns, y along the rows. CHESSBOARD, CIRCLES: the first at 0; CHARUCO: inner corners, row after row,
 * from the outer corner of the board (OpenCV's numbers and places). TSR_ERROR_ARGUMENT for targets that there are none of. */
TSR_API tsr_status tsr_target_count(const tsr_target *target, int32_t *count) TSR_CHECKED;
TSR_API tsr_status tsr_target_point(const tsr_target *target, int32_t index, double at[2]) TSR_CHECKED;

typedef struct tsr_target_found {
    size_t struct_size;
    int32_t points;  /* how many were found: all or none, CHARUCO: 6 and more, or none */
    int32_t boards;  /* that the picture shows; of several the largest is taken */
    int32_t markers; /* CHARUCO: read */
    int mirrored; /* != 0: what there is shows its back, or the picture was mirrored; then there are no points. (Chessboards, and circles in an odd number of rows, look alike.) */
} tsr_target_found;
#define TSR_TARGET_FOUND TSR_SIZED(tsr_target_found)

/* Looks for the target in an image of 1, 3 or 4 channels: place `pixel` and `seen` = 1 of every point that was found, by its number; `pixel` and `seen` have room for all.
 * Chessboards are those of tsr_chessboard_find. Circles' places are those of their middles, not of the middles of their ellipses. The first circle of a grid with an even number
 * of rows is the one nearest to the upper left corner of the image: half a turn looks alike. */
TSR_API tsr_status tsr_target_find(const tsr_image *image, const tsr_target *target, const tsr_chessboard_options *options, double (*pixel)[2],
                                   uint8_t *seen, tsr_target_found *found) TSR_CHECKED;
/* The target on white paper as tsr_chessboard_draw draws chessboards. Circles are 0.8 squares wide. RETURNS NEW. */
TSR_API tsr_status tsr_target_draw(const tsr_target *target, const tsr_pinhole *camera, tsr_image *image) TSR_CHECKED;

/* ---- poses in closed form ------------------------------------------------------------------------------------------------------ */

typedef struct tsr_pose {
    double rotation[3][3], translation[3];
} tsr_pose;

/* Where three points lie along three rays (camera axes, any length): up to four poses. *count may be 0. TSR_ERROR_ARGUMENT for points on a line. */
TSR_API tsr_status tsr_pose_from_three(const tsr_vec3 point[3], const tsr_vec3 ray[3], tsr_pose pose[4], int *count) TSR_CHECKED;
/* Pose of a camera with known intrinsics from `count` >= 4 points (3 where one solution is as good as another: the first is taken) and where they
 * were seen.
 * Planar points go through their homography, others through the linear equations, few through three at a time; the best is refined. `camera`'s
 * pose is set.
 * TSR_ERROR_ARGUMENT for fewer points or points on a line. */
TSR_API tsr_status tsr_pose_from_points(tsr_pinhole *camera, const tsr_vec3 *point, const double (*pixel)[2], int64_t count) TSR_CHECKED;
/* The 3 x 3 matrix with pixel ~ H (x, y, 1), last element or norm 1, from `count` >= 4 pairs. TSR_ERROR_ARGUMENT where they determine none (on a
 * line). */
TSR_API tsr_status tsr_homography_fit(const double (*plane)[2], const double (*pixel)[2], int64_t count, double homography[3][3]) TSR_CHECKED;
/* Pose of the plane z = 0 whose homography to pixels is given, without lens distortion, in front of the camera. Sets `camera`'s pose. */
TSR_API tsr_status tsr_pose_from_homography(const double homography[3][3], tsr_pinhole *camera) TSR_CHECKED;
/* Focal length and rotation from the vanishing points of the world's x and y directions (square pixels, centre known: camera's cx, cy). Sets fx,
 * fy and
 * rotation. The directions point away from the camera. TSR_ERROR_ARGUMENT where no focal length has them at a right angle. */
TSR_API tsr_status tsr_pose_from_vanishing(const double along_x[2], const double along_y[2], tsr_pinhole *camera) TSR_CHECKED;

/* ---- calibration --------------------------------------------------------------------------------------------------------------- */

/* One known point, seen once. Points of one pose move together (a board held up, or the scene: one pose for all). */
typedef struct tsr_sighting {
    int32_t camera, pose;
    tsr_vec3 point;
    double pixel[2];
} tsr_sighting;

/* What is unknown of every camera besides its pose. */
enum {
    TSR_FREE_FOCAL = 1,
    TSR_FREE_ASPECT = 2, /* fy beside fx; else their ratio stays */
    TSR_FREE_CENTRE = 4,
    TSR_FREE_K1 = 8, /* K1 << n for k[n], n < 6 (fish-eye: 4) */
    TSR_FREE_K2 = 16,
    TSR_FREE_K3 = 32,
    TSR_FREE_K4 = 64,
    TSR_FREE_K5 = 128,
    TSR_FREE_K6 = 256,
    TSR_FREE_TANGENTIAL = 512,
    TSR_FREE_POSE_ONLY = 1024 /* nothing else */
};
enum { TSR_CALIBRATE_CAMERAS_MOST = 256, TSR_CALIBRATE_POSES_MOST = 65536 };

typedef struct tsr_calibrate_options {
    size_t struct_size;
    uint32_t free;      /* TSR_FREE_ of above; 0 = FOCAL ASPECT CENTRE K1 K2 K3 TANGENTIAL, fish-eye FOCAL ASPECT CENTRE K1 to K4 */
    double huber;       /* pixels from which a residual counts linearly; 0 = least squares */
    int use_pose;       /* start from the cameras' own poses (one pose alone) */
    int32_t iterations; /* at most; 0 = 200 */
    double sigma;       /* of a pixel's coordinate, pixels; 0 = as the residuals say */
    tsr_progress progress;
} tsr_calibrate_options;
#define TSR_CALIBRATE_OPTIONS TSR_SIZED(tsr_calibrate_options)

typedef struct tsr_calibration tsr_calibration; /* host memory, of no context */

typedef struct tsr_calibration_info {
    size_t struct_size;
    int32_t cameras, poses, unknowns, iterations, warnings;
    int64_t sightings;
    double rms;       /* pixels, of distances: sqrt(sum of squares / sightings) */
    double sigma;     /* of one coordinate, by the residuals or as given */
    double condition; /* of the normal equations scaled to a unit diagonal, poses eliminated; above 1e8 there are warnings */
    int converged;
} tsr_calibration_info;
#define TSR_CALIBRATION_INFO TSR_SIZED(tsr_calibration_info)

/* Standard deviations; 0 what was not free, infinite what the sightings do not determine. */
typedef struct tsr_calibration_sigma {
    double fx, fy, cx, cy, k[6], p[2];
    double rotation[3], translation[3]; /* radians about, and lengths along, the camera's axes */
} tsr_calibration_sigma;

/* `camera`: as many as the largest number in the sightings says, with width and height; fx = 0: start values are found (planar points with several
 * poses, or
 * one pose), else it is one, with fy, cx, cy and the lens; `fisheye` is heeded either way. Several poses: the frame of the result is the first
 * camera's; one
 * pose: that of the points. RETURNS NEW. TSR_ERROR_ARGUMENT for no sightings, too few for the unknowns, points on a line, cameras that share no
 * pose with the
 * others. */
TSR_API tsr_status tsr_calibrate(const tsr_sighting *sightings, int64_t count, const tsr_pinhole *camera, int32_t cameras,
                                 const tsr_calibrate_options *options, tsr_calibration **calibration) TSR_CHECKED;
TSR_API void tsr_calibration_destroy(tsr_calibration **calibration);
TSR_API tsr_status tsr_calibration_get_info(const tsr_calibration *calibration, tsr_calibration_info *info) TSR_CHECKED;
/* `sigma`, `rms` may be NULL. */
TSR_API tsr_status tsr_calibration_camera(const tsr_calibration *calibration, int32_t index, tsr_pinhole *camera, tsr_calibration_sigma *sigma,
                                          double *rms) TSR_CHECKED;
/* Pose of a board in the frame of the result, its 6 x 6 covariance (rotation about, translation along the axes: dx = w x x + v), its error.
 * Outputs but the
 * first may be NULL. */
TSR_API tsr_status tsr_calibration_pose(const tsr_calibration *calibration, int32_t index, tsr_pose *pose, double covariance[36],
                                        double *rms) TSR_CHECKED;
/* Covariance of what is free in the cameras, unknowns x unknowns less six per pose, RETURNS VIEW; *count its rows. */
TSR_API tsr_status tsr_calibration_covariance(const tsr_calibration *calibration, const double **covariance, int32_t *count) TSR_CHECKED;
/* Seen less predicted, two numbers per sighting. RETURNS VIEW. */
TSR_API const double (*tsr_calibration_residuals(const tsr_calibration *calibration))[2];
/* A sentence about what is not well determined. NULL beyond the last. RETURNS VIEW. */
TSR_API const char *tsr_calibration_warning(const tsr_calibration *calibration, int32_t index);

#ifdef __cplusplus
}
#endif
#endif
