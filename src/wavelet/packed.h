/* wavelet/packed.h: filters of two steps of eight taps (Fidelity) on samples of 16 bits that stay packed by twos: what a step makes of a word, and the pass
 * of packed_cuda.cu. A word holds two samples of one parity, neighbours within it. With taps of 8 bits a dot product of halves and bytes
 * (__dp2a_lo) is two taps of the sum; the shift is 8, so that a sum's second and third byte are the sample. docs/theory/wavelets.md. */
#ifndef TSR_WAVELET_PACKED_H
#define TSR_WAVELET_PACKED_H

#include "wavelet/wavelet_ops.h"

enum { TSR_PACKED_TAPS = 8, TSR_PACKED_SHIFT = 8, TSR_PACKED_NEAR = 5 };

/* A step's taps by twos, as bytes. The two around the sample may need nine bits: the rest of them is `rest`. */
typedef struct tsr_packed_step {
    int32_t whole[4];  /* of a sample whose neighbours are four words */
    int32_t broken[5]; /* whose neighbours are the second half of a word, three words and the first half of one */
    int32_t rest;
    uint32_t rounding; /* the lowest byte */
} tsr_packed_step;

typedef struct tsr_packed_pass {
    tsr_packed_step step[2];
    int32_t width, height, boundary;
    int32_t strips, segments, segment;    /* rows of a segment, a multiple of 4 */
    int32_t size[TSR_WAVELET_DIMENSIONS]; /* of the planes: axes from 2 on */
    int32_t whole_row, half_row[4];       /* from row to row, bytes */
    tsr_wavelet_array whole, half[4];     /* half: bit 0 high along x, bit 1 along y */
    uint32_t *lost;
} tsr_packed_pass;

/* The filter's step in bytes, x - ((sum + rounding) >> 8) as x + ((-sum + 255 - rounding) >> 8); 0: it does not fit. large: its inner taps may need
 * nine bits. */
static inline int tsr_packed_fits(const tsr_lift_step *s, int32_t parity, int large, tsr_packed_step *packed)
{
    const int32_t rounding = s->sign < 0 ? 255 - s->rounding : s->rounding;
    int32_t t[TSR_PACKED_TAPS];
    if (s->rule || s->parity != parity || s->count != TSR_PACKED_TAPS || s->first != 1 - TSR_PACKED_TAPS || !s->symmetric) return 0;
    if (s->shift != TSR_PACKED_SHIFT || rounding < 0 || rounding > 255) return 0;
    for (int32_t k = 0; k < TSR_PACKED_TAPS; k++) t[k] = s->sign * s->tap[k];
    const int32_t inner = tsr_maxi(-128, tsr_mini(127, t[3])), rest = t[3] - inner;
    if (rest < -128 || rest > 127 || (rest && !large)) return 0;
    t[3] = t[4] = inner;
    for (int32_t k = 0; k < TSR_PACKED_TAPS; k++)
        if (t[k] < -128 || t[k] > 127) return 0;
    packed->rounding = (uint32_t)rounding;
#define TSR_PACKED_TWO(low, high) (int32_t)(((uint32_t)(low)&0xffu) | ((uint32_t)(high)&0xffu) << 8)
    for (int32_t k = 0; k < 4; k++) packed->whole[k] = TSR_PACKED_TWO(t[2 * k], t[2 * k + 1]);
    for (int32_t k = 0; k < 5; k++) packed->broken[k] = TSR_PACKED_TWO(k ? t[2 * k - 1] : 0, k < 4 ? t[2 * k] : 0);
    packed->rest = TSR_PACKED_TWO(rest, rest);
#undef TSR_PACKED_TWO
    return 1;
}

#ifdef __cplusplus
/* Is there so much to do that packing pays? */
extern "C" int tsr_packed_wants_cuda(tsr_queue *queue, const tsr_packed_pass *pass);
extern "C" tsr_status tsr_packed_run_cuda(tsr_queue *queue, tsr_packed_pass *pass, int inverse);
#endif

#endif
