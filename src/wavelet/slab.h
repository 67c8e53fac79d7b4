/* wavelet/slab.h: one level of an array in parts along its outermost axis.
 *
 * A part owns the samples [begin, end) of the axis, begin even, end even or the length. It is computed from the window [from, to), which reaches as far
 * beyond as all steps of the filter together: what the ends of a window do wrong stays within that reach, and every sample and coefficient
 * that the part owns has the bits it has in the whole. Where the window meets an end of the array, the boundary rule is the array's own, as the window's
 * parity is. Where the axis is periodic, windows count on beyond the ends. docs/theory/wavelets.md 7 (halos), 2.13. */
#ifndef TSR_WAVELET_SLAB_H
#define TSR_WAVELET_SLAB_H

#include "wavelet/wavelet.h"

typedef struct tsr_wavelet_slab {
    int64_t begin, end, from, to; /* samples of the axis, at the level */
    int64_t low, high;            /* coefficients along the axis that the window has: of each kind; where the axis is not split, low alone */
    int64_t own_low, own_high;    /* that the part owns, */
    int64_t skip;                 /* behind this many of the window's, of each kind */
} tsr_wavelet_slab;

/* The axis along which arrays are cut: the last one with more than one sample, but never x. */
int32_t tsr_wavelet_slab_axis(const tsr_wavelet_plan *whole);
/* Is the axis transformed at the level? */
static inline int tsr_wavelet_slab_split(const tsr_wavelet_plan *whole, int32_t level, int32_t axis)
{
    return (int)(whole->stage[level].axes >> axis & 1);
}
tsr_wavelet_slab tsr_wavelet_slab_make(const tsr_wavelet_plan *whole, int32_t level, int32_t axis, int64_t begin, int64_t end);
/* Samples of a window at most: of `own` samples. */
int64_t tsr_wavelet_slab_most(const tsr_wavelet_plan *whole, int32_t level, int32_t axis, int64_t own);
/* Elements along all axes but the one of the cut. */
int64_t tsr_wavelet_slab_inner(const tsr_wavelet_plan *whole, int32_t level, int32_t axis);
/* Plan of one level, for a window of `length` samples, packed; coefficients in layout mallat. On `context`, which may be another than the whole's. */
tsr_status tsr_wavelet_slab_plan(tsr_context *context, const tsr_wavelet_plan *whole, int32_t level, int32_t axis, int64_t length,
                                 tsr_wavelet_plan **plan);

/* Numbers along axis a of a band with these bits. */
static inline int64_t tsr_wavelet_stage_band(const tsr_wavelet_stage *s, uint32_t bits, int32_t a)
{
    return !(s->axes >> a & 1) ? s->size[a] : (bits >> a & 1) ? s->size[a] / 2 : (s->size[a] + 1) / 2;
}

#endif
