/* bench/wavelet_variants.h: the ways to a plane's coefficients that [Laan11w V.B] compares (docs/theory/wavelets.md 7): on the CPU, each with the rows
 * shared out among threads and loops that the compiler makes vectors of, and on a GPU (wavelet_variants_cuda.cu). The library uses none of them. What they all share is the pass along x: a row is
 * split into even and odd samples, lifted, and written as low and high half. They differ in what they do along y:
 *
 *   window       slabs of columns; a window of rows slides down them, every step as far as the rows in it allow. In place: layout split
 *   transpose    the plane is transposed, lifted along x, and transposed back. A second plane; layout mallat
 *   column       every column by itself, top to bottom, once for each step: the trivial way. In place: layout split
 *   convolution  filter bank instead of lifting: every coefficient is a sum over the whole filter. float; a second plane; layout mallat */
#ifndef TSR_BENCH_WAVELET_VARIANTS_H
#define TSR_BENCH_WAVELET_VARIANTS_H

#include "tessera/wavelet.h"

enum { VARIANT_REACH = 64 };

typedef enum wavelet_variant { VARIANT_WINDOW, VARIANT_TRANSPOSE, VARIANT_COLUMN, VARIANT_CONVOLUTION, VARIANTS } wavelet_variant;

typedef struct wavelet_variant_job {
    wavelet_variant variant;
    tsr_wavelet_filter filter;     /* convolution: haar only where every length is even */
    tsr_wavelet_boundary boundary; /* clamp, symmetric or zero; convolution: symmetric */
    int32_t width, height, levels; /* both extents stay above 1 before every level */
    int32_t accuracy;              /* bits added before each level, of integers */
    int32_t strip, rows;           /* window: columns of a slab; rows it moves down at once, even, at least 16 */
    int threads;
    int inverse;   /* coefficients to samples; not by convolution */
    void *samples; /* packed; int16_t, convolution: float */
    void *coefficients;
    void *second, *work; /* variant_begin takes them, variant_end gives them back */
    size_t work_bytes;   /* of one thread */
    int32_t steps;
    tsr_wavelet_step step[TSR_WAVELET_STEPS];
    /* Rows of the window, docs/theory/wavelets.md 7: final ones still read, unfinished ones, ones read ahead; last[s]: last row that step s may lift, counted from the end
     * of the working area. */
    int32_t top, overlap, bottom, last[TSR_WAVELET_STEPS];
    /* Coefficients of the samples around an even (low) or an odd (high) one, reach[p] on both sides: what the steps come to without rounding. */
    double tap[2][2 * VARIANT_REACH + 1];
    int32_t reach[2];
} wavelet_variant_job;

const char *wavelet_variant_name(wavelet_variant variant);
static inline tsr_wavelet_layout wavelet_variant_layout(wavelet_variant variant)
{
    return variant == VARIANT_WINDOW || variant == VARIANT_COLUMN ? TSR_WAVELET_SPLIT : TSR_WAVELET_MALLAT;
}

/* Fills in what follows from the fields above; 0 for want of memory. */
int wavelet_variant_begin(wavelet_variant_job *job);
void wavelet_variant_run(const wavelet_variant_job *job);
void wavelet_variant_end(wavelet_variant_job *job);

#endif
