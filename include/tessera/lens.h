/* tessera/lens.h: images without the distortion of their lens, and the strength of a lens found by itself from a picture of straight lines.
 *
 * What a lens is, its models and units, stand in tessera/camera.h.
 * Class: the warp is exact (IEEE float64 without contraction), the search too. Source: docs/theory/cameras.md. */
#ifndef TESSERA_LENS_H
#define TESSERA_LENS_H

#include "tessera/camera.h"
#include "tessera/io.h"
#include "tessera/volume.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Units of a coefficient k1: r = 1 at half the width, at half the diagonal, or one pixel from the centre. */
typedef enum tsr_lens_unit { TSR_LENS_HALF_WIDTH = 0, TSR_LENS_HALF_DIAGONAL, TSR_LENS_PIXEL } tsr_lens_unit;
TSR_API double tsr_lens_convert_k1(double k1, tsr_lens_unit from, tsr_lens_unit to, int32_t width, int32_t height);
/* The lens (POLY) of GIMP's lens distortion with `main` and `edge` in [-100, 100]: see gimp's plug-in; first order in both. */
TSR_API tsr_lens tsr_lens_gimp(double main, double edge, int32_t width, int32_t height);

typedef enum tsr_lens_sampling { TSR_LENS_BILINEAR = 0, TSR_LENS_CATMULL_ROM, TSR_LENS_NEAREST } tsr_lens_sampling;
typedef struct tsr_lens_warp_options {
    size_t struct_size;
    tsr_lens_sampling sampling;
    int32_t channels;   /* bytes per pixel of the images, 1 to 4; 0 = 1 */
    int add;            /* != 0: the other way round: gives an undistorted image the distortion (pixels are places as the camera sees them) */
    double scale;       /* of the result: > 1 shows more of what lies beyond the border, smaller; 0 = 1 */
} tsr_lens_warp_options;
#define TSR_LENS_WARP_OPTIONS TSR_SIZED(tsr_lens_warp_options)

/* Images without their distortion: frames (u8, [images][height][width][channels]: extent x is width times channels) to *warped of the same extents.
 * *mask (NULL: not wanted): u8 [images][height][width], 1 where the result lies within the source, else 0 (and black). A lens without distortion
 * gives the same bytes. RETURNS NEW. Linear time. */
TSR_API tsr_status tsr_lens_warp(tsr_context *context, const tsr_volume *frames, const tsr_lens *lens, const tsr_lens_warp_options *options,
                                 tsr_volume **warped, tsr_volume **mask) TSR_CHECKED;

/* What is looked for: k at which the directions of the contours of an image cluster most, or its lines are straightest. */
typedef enum tsr_lens_criterion {
    TSR_LENS_CONCENTRATION = 0, /* every pixel votes with its gradient's magnitude for its direction; the sum of squared shares of the bins
                                 * (each the mean of 1, 2, 1 neighbours) */
    TSR_LENS_SOURCE,            /* literal: pixels above `threshold` in a bank of 16 steered filters; most votes of a bin less fewest */
    TSR_LENS_LINES              /* plumb lines: long contours without corners, also of the squares of a board one behind the other, become as straight as
                                 * they can; the score is 1 / their bend. Seen at a slant too, where directions spread. Host work on any device */
} tsr_lens_criterion;

typedef struct tsr_lens_search_options {
    size_t struct_size;
    tsr_lens_criterion criterion;
    double lower, upper, step; /* of k1; all 0 = -0.15, 0.15, 0.005 (61 candidates); at most 1024 candidates */
    int32_t bins;              /* of 180 degrees: CONCENTRATION 8 to 360, 0 = 90; SOURCE 16 */
    double threshold;          /* least magnitude that votes, grey values per pixel; 0 = 8 (SOURCE: of the filter's response) */
    int32_t margin;            /* pixels left out at the border of what the warp knows; 0 = 4, negative = none */
    int no_refinement;         /* != 0: best candidate of the grid as it is; else finer grids around it, to 1e-4 */
    int centre;                /* != 0: the centre too, by a search along its coordinates in turn */
    tsr_lens lens;             /* what is not searched: model, further coefficients, shift */
    tsr_progress progress;
    int quartic;               /* != 0 (model POLY): k2 too, from lens.k2, by turns with k1, which may then leave lower .. upper */
} tsr_lens_search_options;
#define TSR_LENS_SEARCH_OPTIONS TSR_SIZED(tsr_lens_search_options)

typedef struct tsr_lens_candidate { double k1, score; uint64_t votes; } tsr_lens_candidate;
typedef struct tsr_lens_found {
    tsr_lens lens;
    double score;              /* at the answer */
    double peak;               /* score / median score of the grid: below 1.05 the answer means little (no straight contours) */
    int at_edge;               /* != 0: the best of the grid is its first or last: a better k1 may lie outside the range, which the answer leaves with `quartic` alone */
    int32_t candidates;
    tsr_lens_candidate *candidate; /* of the grid; freed by tsr_lens_found_destroy */
    int32_t bins;
    uint64_t *histogram;       /* [candidates][bins] votes; NULL and 0 bins with LINES */
    /* The line test, whatever the criterion: lines of the picture, their length in pixels, and by how many pixels their points lie beside straight lines as
     * seen and under the lens that was found (a mean in which a curve of the scene counts for a pixel at most). straighter != 0: there are 6 lines or more,
     * together twice as long as the picture is wide, and they lose a fiftieth of their bend or more. Without it do not believe the answer. */
    int64_t lines;
    double line_length, bend_before, bend;
    int straighter;
} tsr_lens_found;
TSR_API void tsr_lens_found_destroy(tsr_lens_found *found);

/* One grey image (u8 volume width x height x 1 on the context's device). TSR_ERROR_STATE if no pixel votes at any k, or
 * there are too few lines for LINES: k is undetermined, not 0.
 * All candidates of a grid are one launch on a GPU; no warped image is stored. Cost: pixels times candidates. Waits. */
TSR_API tsr_status tsr_lens_search(tsr_context *context, const tsr_volume *image, const tsr_lens_search_options *options, tsr_lens_found *found) TSR_CHECKED;

/* A checkerboard as the lens sees it, 8-bit grey, 4 x 4 samples per pixel: squares of `square` pixels, turned by `degrees`, with Gaussian noise of
 * `noise` grey values from `seed`. 40 and 215 are its greys. The caller calls tsr_image_destroy. */
typedef struct tsr_board_options {
    size_t struct_size;
    int32_t width, height; /* 0 = 512 */
    double square;         /* 0 = 48 */
    double degrees, noise;
    uint64_t seed;
    tsr_lens lens;
} tsr_board_options;
#define TSR_BOARD_OPTIONS TSR_SIZED(tsr_board_options)
TSR_API tsr_status tsr_board_make(const tsr_board_options *options, tsr_image *image) TSR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
