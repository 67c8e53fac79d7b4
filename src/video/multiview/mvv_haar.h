/* video/multiview/mvv_haar.h: Haar wavelets, one pair. docs/theory/multiview.md 3.2.
 *
 * Forward, orthonormal: float32, so that no rounding adds up; coefficients are rounded once. Inverse: integers with TSR_MVV_SAMPLE_FRACTION bits of
 * fraction in
 * the scale of samples, where a pair is mean + difference, mean - difference: additions alone, the same bits in any order. Lossless: lifting steps. */
#ifndef TSR_VIDEO_MULTIVIEW_MVV_HAAR_H
#define TSR_VIDEO_MULTIVIEW_MVV_HAAR_H

#include "video/multiview/mvv_tree.h"

enum { TSR_MVV_SAMPLE_FRACTION = 12, TSR_MVV_FRACTION = 4, TSR_MVV_GREY = 128 /* samples are texels less this */ };

TSR_HD float tsr_mvv_haar_low(float a, float b) { return (a + b) * 0.70710678f; }
TSR_HD float tsr_mvv_haar_high(float a, float b) { return (a - b) * 0.70710678f; }
TSR_HD int32_t tsr_mvv_round(float v) { return (int32_t)(v < 0.0f ? v - 0.5f : v + 0.5f); }

/* Sums wrap around: streams may hold anything. */
TSR_HD int32_t tsr_mvv_add(int32_t a, int32_t b) { return (int32_t)((uint32_t)a + (uint32_t)b); }
TSR_HD int32_t tsr_mvv_subtract(int32_t a, int32_t b) { return (int32_t)((uint32_t)a - (uint32_t)b); }

/* Lossless: the same rotation in three lifting steps, each rounded, so that integers come back exactly and coefficients of all scales count alike:
 * low is about (a + b) / sqrt 2, high about (a - b) / sqrt 2. */
TSR_HD int32_t tsr_mvv_times(int32_t x, int32_t factor) { return (int32_t)(((int64_t)x * factor + 32768) >> 16); }
TSR_HD void tsr_mvv_turn(int32_t a, int32_t b, int32_t *low, int32_t *high)
{
    const int32_t x = tsr_mvv_subtract(a, tsr_mvv_times(b, 27146)); /* tan(pi / 8) */
    *low = tsr_mvv_add(b, tsr_mvv_times(x, 46341));                 /* sin(pi / 4) */
    *high = tsr_mvv_subtract(x, tsr_mvv_times(*low, 27146));
}
TSR_HD int32_t tsr_mvv_turned_low(int32_t a, int32_t b)
{
    int32_t low, high;
    tsr_mvv_turn(a, b, &low, &high);
    return low;
}
TSR_HD int32_t tsr_mvv_turned_high(int32_t a, int32_t b)
{
    int32_t low, high;
    tsr_mvv_turn(a, b, &low, &high);
    return high;
}
TSR_HD int32_t tsr_mvv_back_second(int32_t low, int32_t high)
{
    return tsr_mvv_subtract(low, tsr_mvv_times(tsr_mvv_add(high, tsr_mvv_times(low, 27146)), 46341));
}
TSR_HD int32_t tsr_mvv_back_first(int32_t low, int32_t high)
{
    return tsr_mvv_add(tsr_mvv_add(high, tsr_mvv_times(low, 27146)), tsr_mvv_times(tsr_mvv_back_second(low, high), 27146));
}

/* A coefficient of TSR_MVV_FRACTION bits of fraction, of so many steps of pairs, in the scale of samples. `size` < 2^31. */
TSR_HD int32_t tsr_mvv_to_sample_scale(uint32_t size, int negative, int32_t steps)
{
    const int64_t factor = steps & 1 ? 46341 : 65536; /* 2^16 / sqrt 2 */
    const int32_t shift = 16 + TSR_MVV_FRACTION - TSR_MVV_SAMPLE_FRACTION + (steps >> 1);
    const int64_t value = tsr_minl(((int64_t)size * factor + ((int64_t)1 << (shift - 1))) >> shift, 1 << 22);
    return (int32_t)(negative ? -value : value);
}

TSR_HD int32_t tsr_mvv_from_texel(uint8_t texel, int32_t fraction) { return ((int32_t)texel - TSR_MVV_GREY) * (1 << fraction); }
TSR_HD uint8_t tsr_mvv_to_texel(int32_t sample)
{
    const int32_t v = (sample >> TSR_MVV_SAMPLE_FRACTION) + (sample >> (TSR_MVV_SAMPLE_FRACTION - 1) & 1) + TSR_MVV_GREY;
    return (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : v);
}

TSR_HD uint8_t tsr_mvv_plain_texel(int32_t v) { return (uint8_t)(v < -TSR_MVV_GREY ? 0 : v > 255 - TSR_MVV_GREY ? 255 : v + TSR_MVV_GREY); }

#endif
