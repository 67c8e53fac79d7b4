/* tessera/features.h: the largest connected regions of pixels with a property, by one reduction of every frame: box, centroid, number of pixels.
 *
 * A filter says which pixels belong to a feature. Every such pixel is a box of one pixel; then four neighbouring cells become one, level by level:
 * boxes that touch are united, and of what is left the largest `keep` survive. Frames do not depend on one another, time depends on the size
 * alone. Exact for rectangles and discs; else a heuristic that compares boxes, not pixels (a U whose arms fall into different cells may lose one, a
 * blob inside the box of an L is united with it): TSR_FEATURE_EXACT labels components instead.
 *
 * Boxes are half-open, y downwards. Two boxes touch if they overlap or share a border (8: or a corner) on both axes. Larger is, in turn: larger
 * area of the box (or, by_count, more pixels), more pixels, the earlier child (upper left, upper right, lower left, lower right).
 * Exact class: the same on every backend and number of threads. Source: feature clustering [Ziegler10 5.2], docs/theory/features.md 1, 2. */
#ifndef TESSERA_FEATURES_H
#define TESSERA_FEATURES_H

#include "tessera/lens.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Which pixels; 8-bit values, grey images have r = g = b, alpha is not looked at. */
typedef enum tsr_feature_filter_kind {
    TSR_FEATURE_LUMINANCE = 0, /* lower[0] <= (77 r + 150 g + 29 b + 128) / 256 <= upper[0] */
    TSR_FEATURE_BOX,           /* lower[c] <= channel c <= upper[c] for r, g, b */
    TSR_FEATURE_DISTANCE,      /* (r, g, b) within the distance `threshold` of (lower[0], lower[1], lower[2]) */
    TSR_FEATURE_HSV,           /* hue in degrees from lower[0] up to upper[0] (through 0 if lower > upper), saturation and value 0 to 255 likewise */
    TSR_FEATURE_MASK,          /* first channel & (int)lower[0] is not 0: filters of your own, one bit each */
    TSR_FEATURE_MOTION,        /* a channel differs by `threshold` or more from the frame before */
    TSR_FEATURE_GRADIENT,      /* central differences of the luminance are `threshold` grey values per pixel long or longer */
    TSR_FEATURE_SMOOTH,        /* no channel differs by more than `threshold` from the pixel left, right, above or below: areas of any one colour */
    TSR_FEATURE_FILTERS
} tsr_feature_filter_kind;

typedef struct tsr_feature_filter {
    tsr_feature_filter_kind kind;
    double lower[3], upper[3];
    double threshold; /* 0 to 1000 */
} tsr_feature_filter;

/* "luminance=200:255", "box=#101010:#80ff80", "distance=#ff2010:60", "hsv=340:20,128:255,80:255", "mask=4", "motion=25", "gradient=30", "smooth=6". */
TSR_API tsr_status tsr_feature_filter_parse(const char *text, tsr_feature_filter *filter) TSR_CHECKED;

enum { TSR_FEATURES_MOST = 8, TSR_FEATURES_KEEP = 4 };

typedef struct tsr_features_options {
    size_t struct_size;
    int32_t width, height;     /* of a frame, 1 to 2^24 */
    int32_t channels;          /* bytes per pixel, 1, 3 or 4; 0 = 1 */
    int32_t images;            /* frames looked at together (a stereo pair: 2); 0 = 1, at most 4096 */
    int32_t count;             /* filters, 1 to TSR_FEATURES_MOST; each has results of its own, pixels are read once */
    tsr_feature_filter filter[TSR_FEATURES_MOST];
    int32_t connectivity;      /* 4 or 8; 0 = 8 */
    int by_count;              /* != 0: larger = more pixels, not the larger box */
    int32_t keep;              /* regions kept in every cell and reported, 1 to TSR_FEATURES_KEEP; 0 = 1 */
    const tsr_lens *lens;      /* COPIES; frames are looked at without this distortion (nearest pixel; beyond the frame is nothing). NULL: as they are */
    int ycbcr;                 /* != 0: pixels are Y, Cb, Cr (BT.601, 16 to 235) and become r, g, b first; 3 or 4 channels */
} tsr_features_options;
#define TSR_FEATURES_OPTIONS TSR_SIZED(tsr_features_options)

/* One region. count 0: there is none, all else is 0 too. */
typedef struct tsr_feature {
    int64_t count;             /* pixels that pass */
    int32_t lower[2], upper[2]; /* x, y; half-open */
    double centroid[2];        /* mean of the pixels' indices: (0, 0) for the upper left pixel alone; tsr_camera_ray wants it + 1/2 */
} tsr_feature;

typedef struct tsr_features tsr_features;

/* Everything that detection needs, on the context's device: below 1/25 byte per pixel and feature. RETURNS NEW. */
TSR_API tsr_status tsr_features_create(tsr_context *context, const tsr_features_options *options, tsr_features **features) TSR_CHECKED;
TSR_API void tsr_features_destroy(tsr_features **features);

/* Frames: u8 volume on the context's device, [images][height][width][channels], so extent x is width times channels. BORROWED. `previous` (same
 * form): the frames before, for MOTION; NULL: none, and MOTION finds nothing. Queued: allocates nothing, does not wait. Linear time. */
TSR_API tsr_status tsr_features_detect(tsr_features *features, const tsr_volume *frames, const tsr_volume *previous) TSR_CHECKED;
/* Waits; found[(image * count + filter) * keep + rank], largest first. TSR_ERROR_STATE before the first detection. */
TSR_API tsr_status tsr_features_results(const tsr_features *features, tsr_feature *found) TSR_CHECKED;

/* Pixels that pass filter `index`: u8, 1 or 0, [images][height][width]. RETURNS NEW. */
TSR_API tsr_status tsr_features_mask(tsr_features *features, const tsr_volume *frames, const tsr_volume *previous, int32_t index,
                                     tsr_volume **mask) TSR_CHECKED;

/* All components of filter `index` in image `image` by labelling, largest first (ties: the one whose first pixel comes first); the `room` largest of them
 * go to `found`, *total says how many there are. Linear time; allocates, waits. */
TSR_API tsr_status tsr_features_exact(tsr_features *features, const tsr_volume *frames, const tsr_volume *previous, int32_t image, int32_t index,
                                      tsr_feature *found, int64_t room, int64_t *total) TSR_CHECKED;

/* The baseline: one pass over the rows, runs join the open regions above (boxes of runs, not boxes of boxes: exact); CPU contexts only. Results as
 * tsr_features_exact with room 1. One thread. */
TSR_API tsr_status tsr_features_scanline(tsr_features *features, const tsr_volume *frames, const tsr_volume *previous, int32_t image, int32_t index,
                                         tsr_feature *found) TSR_CHECKED;

/* u8 volume of frames from images of equal size and channels (BORROWS), on the context's device (NULL: host). RETURNS NEW. */
TSR_API tsr_status tsr_frames_upload(tsr_context *context, const tsr_image *images, int32_t count, tsr_volume **frames) TSR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
