/* tessera/class_pyramid.h: histograms of image regions: a pyramid of counts for each of many classes, all made in one sweep.
 *
 * Pixels of a u8 image fall into classes (bins of a range of values, or bits that say to which of eight classes a pixel belongs, several or
 * none). A cell of level l covers 2^l x 2^l pixels and holds one count per class; level 0 are the pixels, the top is the histogram of the
 * image. Levels up to 2 are not stored but counted from the image. Counts are 8 bits wide on level 3, 16 up to level 7, 32 above: a level
 * cannot overflow them. Exact class. Source: histogram by multi-channel sum reduction [Ziegler10 5.3], docs/theory/features.md 4. */
#ifndef TESSERA_CLASS_PYRAMID_H
#define TESSERA_CLASS_PYRAMID_H

#include "tessera/volume.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tsr_class_options {
    size_t struct_size;
    int32_t width, height; /* of the image, 1 to 65535 */
    int32_t classes;       /* 1 to 256; with `bits` 1 to 8 */
    double lower, upper;   /* class = floor((v - lower) * classes / (upper - lower)) of the real value v; others in none. Both 0 = 0 to 256 */
    int bits;              /* != 0: bit c of the byte says whether the pixel is in class c */
} tsr_class_options;
#define TSR_CLASS_OPTIONS TSR_SIZED(tsr_class_options)

typedef struct tsr_class_pyramid tsr_class_pyramid;

/* Storage on the context's device: classes / 38 bytes per pixel. RETURNS NEW. */
TSR_API tsr_status tsr_class_pyramid_create(tsr_context *context, const tsr_class_options *options, tsr_class_pyramid **pyramid) TSR_CHECKED;
TSR_API void tsr_class_pyramid_destroy(tsr_class_pyramid **pyramid);
/* KEEPS the image (u8, width x height x 1, same device), which must stay as it is until the last query. Allocates nothing, does not wait. Linear. */
TSR_API tsr_status tsr_class_pyramid_build(tsr_class_pyramid *pyramid, const tsr_volume *image) TSR_CHECKED;

TSR_API int32_t tsr_class_pyramid_top(const tsr_class_pyramid *pyramid); /* level of the one cell: the least with 2^top >= both extents, at least 3 */
/* counts[classes] of the image, on the host. Waits. */
TSR_API tsr_status tsr_class_pyramid_histogram(const tsr_class_pyramid *pyramid, uint64_t *counts) TSR_CHECKED;
/* counts[box][class] of `count` boxes x0, y0, x1, y1 (half-open; cut to the image), both in device memory. O(perimeter) cells each, O(1) for one cell of
 * the pyramid. Does not wait. */
TSR_API tsr_status tsr_class_pyramid_count(const tsr_class_pyramid *pyramid, const int32_t *boxes, int64_t count, uint64_t *counts) TSR_CHECKED;
/* The counts of level 3 or above as they are stored: [rows][columns][classes], `bytes` wide each. RETURNS VIEW, device memory. */
TSR_API tsr_status tsr_class_pyramid_level(const tsr_class_pyramid *pyramid, int32_t level, int64_t *columns, int64_t *rows, int32_t *bytes,
                                           const void **counts) TSR_CHECKED;

/* Of a histogram on the host: sums[b] = counts[0] + ... + counts[b]. */
TSR_API void tsr_histogram_cumulative(const uint64_t *counts, int32_t bins, uint64_t *sums);
/* The least bin with at least `share` (0 to 1) of all counts in it and below; -1 for an empty histogram. */
TSR_API int32_t tsr_histogram_percentile(const uint64_t *counts, int32_t bins, double share);
/* Otsu's threshold: the bin t (0 to bins - 2) for which the classes up to t and above lie furthest apart (largest variance between them; the first of
 * equals); -1 if fewer than two bins hold anything. */
TSR_API int32_t tsr_histogram_otsu(const uint64_t *counts, int32_t bins);

#ifdef __cplusplus
}
#endif
#endif
