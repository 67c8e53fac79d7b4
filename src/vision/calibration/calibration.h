/* vision/calibration/calibration.h: what the files of this room share. */
#ifndef TSR_VISION_CALIBRATION_CALIBRATION_H
#define TSR_VISION_CALIBRATION_CALIBRATION_H

#include "core/core.h"
#include "tessera/calibrate.h"

enum { TSR_INTRINSICS = 12 }; /* fx fy cx cy k[0..5] p[0..1] */

typedef struct tsr_view_model {
    double v[TSR_INTRINSICS];
    int fisheye;
} tsr_view_model;

tsr_view_model tsr_view_model_of(const tsr_pinhole *pinhole);
void tsr_view_model_put(const tsr_view_model *model, tsr_pinhole *pinhole);
/* Pixels of a point on the camera's axes, and the derivatives by intrinsics and point (both NULL: none). 0: not seen (behind the camera, behind
 * the lens's
 * last radius). */
int tsr_view_project(const tsr_view_model *model, const double x[3], double pixel[2], double by_intrinsics[2][TSR_INTRINSICS], double by_point[2][3]);
/* The undistorted place (x / z, y / z) of a pixel. 0: none. */
int tsr_view_normalise(const tsr_view_model *model, const double pixel[2], double place[2]);

void tsr_pose_apply(const tsr_pose *pose, const double x[3], double y[3]);
tsr_pose tsr_pose_compose(const tsr_pose *a, const tsr_pose *b); /* a after b */
tsr_pose tsr_pose_inverse(const tsr_pose *a);
void tsr_pose_step(tsr_pose *pose, const double step[6]); /* x -> exp(w) x + v after it */
tsr_pose tsr_pose_identity(void);

/* Extent of points: eigenvalues of their covariance, ascending; axes as rows, centre. */
void tsr_points_extent(const tsr_vec3 *point, int64_t count, double value[3], double axis[3][3], double centre[3]);
enum { TSR_POINTS_LINE = 1, TSR_POINTS_PLANE = 2, TSR_POINTS_SPACE = 3 };
int tsr_points_rank(const double value[3]);

/* Closed form, on undistorted places (x / z, y / z); 0: none. */
int tsr_homography_solve(const double (*from)[2], const double (*to)[2], int64_t count, double h[3][3]);
int tsr_pose_of_plane(const double h[3][3], tsr_pose *pose);
int tsr_pose_of_places(const tsr_vec3 *point, const double (*place)[2], int64_t count, tsr_pose *pose);
/* Focal length in pixels by Zhang's equations with the centre and the aspect fy / fx known; `homography` to pixels. 0: none. */
double tsr_focal_of_planes(const double (*homography)[3][3], int count, const double centre[2], double aspect);

/* Least squares over cameras and poses. */
typedef struct tsr_refine {
    const tsr_sighting *sighting;
    int64_t count;
    int32_t cameras, poses;
    tsr_view_model *model;
    tsr_pose *extrinsic; /* of the cameras; the first stays the identity */
    tsr_pose *pose;
    uint32_t free;
    double huber;
    int32_t iterations_most;
    const tsr_progress *progress; /* may be NULL */
    /* found: */
    double cost;                /* sum of squares, Huber's where given */
    int32_t iterations, shared; /* shared: unknowns of the cameras */
    int converged;
} tsr_refine;
tsr_status tsr_refine_run(tsr_refine *problem);
/* At the solution: residuals, covariance / sigma^2 of the shared unknowns (shared^2) and of the poses (36 each), condition number, and the
 * eigenvector of
 * its smallest eigenvalue (shared). pose_condition: the largest of the poses alone, and which. */
typedef struct tsr_refine_report {
    double (*residual)[2];
    double *shared, *poses, *weakest;
    double condition, pose_condition, degrees; /* degrees: sum of weights x 2 less unknowns */
    int32_t worst_pose;
    double weighted; /* sum of weighted squares */
} tsr_refine_report;
tsr_status tsr_refine_judge(tsr_refine *problem, tsr_refine_report *report);
/* The free intrinsics of a camera: their numbers in tsr_view_model.v, in the order of the unknowns; with the focal length alone, fy follows fx. */
int tsr_refine_free(uint32_t free, int fisheye, int index[TSR_INTRINSICS]);

/* Start values for all: models where fx is 0, poses, extrinsics. */
tsr_status tsr_start_values(tsr_refine *problem, const tsr_pinhole *camera, int use_pose);

/* The detector. Its pixels are counted from the middle of the first one, at 0. */
typedef struct tsr_grey {
    int32_t width, height;
    float *at;
} tsr_grey;
tsr_status tsr_grey_of(const tsr_image *image, tsr_grey *grey); /* values as in the image */
#define TSR_CORNER_EXACT 1e-3
int tsr_corner_refine(const tsr_grey *grey, int window, double enough, double pixel[2]); /* until a step is no longer than `enough` pixels */
typedef struct tsr_corner {
    double at[2], angle[2];
    float contrast, scale;
} tsr_corner; /* angles of the two edges, [0, pi) */
/* Of a picture and the same smoothed. share: corners must have this share of the strongest's contrast. wide: radius in pixels of the second ring, 3.5 or more.
 * levels: how many sizes of the picture are looked at, each half of the one before. */
enum { TSR_CORNER_LEVELS = 16 };
tsr_status tsr_corners_list(const tsr_grey *smooth, const tsr_grey *grey, double contrast, double share, double wide, int levels, tsr_corner **corner,
                            int32_t *count);
tsr_status tsr_grey_blur(const tsr_grey *from, tsr_grey *to); /* 1 4 6 4 1 both ways */
void tsr_grey_release(tsr_grey *grey);
float tsr_grey_sample(const tsr_grey *grey, double x, double y); /* between pixels, the middle of the first at 0 */
/* What grew from one seed: corners by column and row, some may be missing. Used (not 0): its corners seed no other. */
typedef struct tsr_lattice_cell {
    int32_t x, y, corner;
} tsr_lattice_cell;
typedef int (*tsr_lattice_use)(void *user, const tsr_lattice_cell *cells, int32_t count);
/* Lattices of corners that edges join; `inset`: how far beside an edge, in its lengths, brightness is looked at. */
tsr_status tsr_corners_lattices(const tsr_grey *grey, const tsr_corner *corner, int32_t count, double contrast, double inset, int32_t limit,
                                tsr_lattice_use use, void *user);
/* Puts the corners of the largest board in order. *boards: how many there are. */
tsr_status tsr_corners_grid(const tsr_grey *grey, const tsr_corner *corner, int32_t count, const tsr_chessboard *board, double contrast,
                            int32_t *order, int32_t *boards);
/* As tsr_chessboard_find, with the number of boards. */
tsr_status tsr_chessboard_search(const tsr_image *image, const tsr_chessboard *board, const tsr_chessboard_options *options, double (*pixel)[2],
                                 int32_t *boards);

/* Targets (checked by the caller). Pixels of the middle of the first pixel at 0. */
typedef struct tsr_target_search {
    const tsr_grey *grey;
    const tsr_target *target;
    double contrast;
    int window; /* 0: as the squares allow */
    double (*pixel)[2];
    uint8_t *seen;
    tsr_target_found found;
} tsr_target_search;
tsr_status tsr_target_check(const tsr_target *target);
tsr_status tsr_image_require(const tsr_image *image);
tsr_status tsr_circles_find(tsr_target_search *search);
tsr_status tsr_charuco_find(tsr_target_search *search);
/* Discs: places and shapes (covariance, pixels^2). */
typedef struct tsr_disc {
    double at[2], xx, xy, yy, area;
} tsr_disc;
tsr_status tsr_discs_list(const tsr_grey *grey, double contrast, int reach, tsr_disc **disc, int32_t *count);
int tsr_disc_refine(const tsr_grey *grey, double contrast, tsr_disc *disc); /* by grey values; 0: no disc */
/* Markers: bits each way; the code of one, its first bit the highest; how a code looks a quarter turn further, and in a mirror. */
int tsr_marker_bits(tsr_marker_family family);
uint64_t tsr_marker_code(tsr_marker_family family, int32_t number);
uint64_t tsr_marker_turn(uint64_t code, int bits);
uint64_t tsr_marker_mirror(uint64_t code, int bits);
/* The square of a board that holds a marker: its number, -1: black. */
int32_t tsr_charuco_marker(const tsr_target *target, int32_t column, int32_t row);

#endif
