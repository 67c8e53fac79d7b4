/* vision/lens_lines.h: contours of an image that may be straight lines seen through a lens, and how bent they are without its distortion. */
#ifndef TSR_VISION_LENS_LINES_H
#define TSR_VISION_LENS_LINES_H

#include "vision/lens_warp.h"

typedef struct tsr_lens_line {
    int64_t first, count;
    double length;
} tsr_lens_line; /* points, pixels from end to end as seen */
typedef struct tsr_lens_lines {
    int32_t width, height;
    double (*point)[2]; /* pixels; a pixel's centre is at one half */
    tsr_lens_line *line;
    int64_t points, lines;
    double length; /* of all lines */
} tsr_lens_lines;

/* Lines of a grey host image of a contrast of at least `threshold` grey values per pixel. Pieces of contours without corners, joined over the gaps where one
 * goes on as another, such as the squares of a board; those of at least an eighth of the width or height stay. Exact. The caller frees them. */
tsr_status tsr_lens_lines_find(const uint8_t *image, int32_t width, int32_t height, double threshold, tsr_lens_lines *lines);
void tsr_lens_lines_free(tsr_lens_lines *lines);
/* Pixels (as seen) by which the points lie beside straight lines once the distortion is taken away: the mean over all points of their line's root mean
 * square. Infinite where a point has no place without the distortion. */
double tsr_lens_lines_bend(const tsr_lens_lines *lines, const tsr_lens_map *map);

#endif
