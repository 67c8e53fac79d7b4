/* volume/distance_isa.c: compiled once per SIMD variant. Columns lie side by side, so that a step outward is one sum and one comparison for all of them; it ends when
 * none can gain. Near surfaces that is after a few steps. */
#include "volume/distance_isa.h"

#include "core/simd.h"

#if defined(TSR_ISA_IS_avx512)
typedef __m512 part;
#define PART(operation) _mm512_##operation##_ps
TSR_INLINE part part_flipped(part v, part sign) { return (part)_mm512_xor_si512((__m512i)v, (__m512i)sign); }
TSR_INLINE part part_sign(part v) { return (part)_mm512_and_si512((__m512i)v, _mm512_set1_epi32(INT32_MIN)); }
TSR_INLINE int part_above(part v, part limit) { return _mm512_cmp_ps_mask(v, limit, _CMP_GT_OQ) != 0; }
#elif defined(TSR_ISA_IS_avx2)
typedef __m256 part;
#define PART(operation) _mm256_##operation##_ps
TSR_INLINE part part_flipped(part v, part sign) { return _mm256_xor_ps(v, sign); }
TSR_INLINE part part_sign(part v) { return _mm256_and_ps(v, _mm256_set1_ps(-0.0f)); }
TSR_INLINE int part_above(part v, part limit) { return _mm256_movemask_ps(_mm256_cmp_ps(v, limit, _CMP_GT_OQ)) != 0; }
#elif defined(__x86_64__)
typedef __m128 part;
#define PART(operation) _mm_##operation##_ps
TSR_INLINE part part_flipped(part v, part sign) { return _mm_xor_ps(v, sign); }
TSR_INLINE part part_sign(part v) { return _mm_and_ps(v, _mm_set1_ps(-0.0f)); }
TSR_INLINE int part_above(part v, part limit) { return _mm_movemask_ps(_mm_cmpgt_ps(v, limit)) != 0; }
#else
typedef float part;
#define PART(operation) plain_##operation
TSR_INLINE part plain_loadu(const float *from) { return *from; }
TSR_INLINE void plain_storeu(float *to, part v) { *to = v; }
TSR_INLINE part plain_set1(float v) { return v; }
TSR_INLINE part plain_add(part a, part b) { return a + b; }
TSR_INLINE part plain_min(part a, part b) { return a < b ? a : b; }
TSR_INLINE part plain_max(part a, part b) { return a > b ? a : b; }
TSR_INLINE part part_flipped(part v, part sign) { return sign < 0.0f ? -v : v; }
TSR_INLINE part part_sign(part v) { return v < 0.0f ? -1.0f : 1.0f; }
TSR_INLINE int part_above(part v, part limit) { return v > limit; }
#endif
enum { WIDTH = (int)(sizeof(part) / sizeof(float)), PARTS = TSR_DISTANCE_COLUMNS / WIDTH };

/* Squares become results; a mode known to the compiler makes this a plain loop. */
TSR_INLINE void finish_as(float *row, const tsr_distance_finish *given, int32_t mode)
{
    const tsr_distance_finish finish = { .mode = mode, .scale = given->scale, .half = given->half, .band = given->band };
    for (int c = 0; c < TSR_DISTANCE_COLUMNS; c++) row[c] = tsr_distance_finished(&finish, row[c]);
}

void TSR_ISA_NAME(tsr_distance_outward_columns)(const float *in, float *out, int32_t n, const tsr_distance_finish *finish)
{
    const part zero = PART(set1)(0.0f);
    for (int32_t i = 0; i < n; i++) {
        const int32_t below = i, above = n - 1 - i, most = below > above ? below : above;
        float *row = out + (int64_t)i * TSR_DISTANCE_COLUMNS;
        part sign[PARTS], best[PARTS];
#pragma GCC unroll 16
        for (int k = 0; k < PARTS; k++) {
            const part own = PART(loadu)(in + (int64_t)i * TSR_DISTANCE_COLUMNS + k * WIDTH);
            sign[k] = part_sign(own);
            best[k] = part_flipped(own, sign[k]);
        }
        for (int32_t s = 1; s <= most; s++) {
            const part square = PART(set1)((float)s * (float)s);
            const float *low = in + (int64_t)(i - s) * TSR_DISTANCE_COLUMNS, *high = in + (int64_t)(i + s) * TSR_DISTANCE_COLUMNS;
            int gain = 0;
#pragma GCC unroll 16
            for (int k = 0; k < PARTS; k++) gain |= part_above(best[k], square);
            if (!gain) break;
            if (s <= below) {
#pragma GCC unroll 16
                for (int k = 0; k < PARTS; k++)
                    best[k] = PART(min)(PART(add)(PART(max)(part_flipped(PART(loadu)(low + k * WIDTH), sign[k]), zero), square), best[k]);
            }
            if (s <= above) {
#pragma GCC unroll 16
                for (int k = 0; k < PARTS; k++)
                    best[k] = PART(min)(PART(add)(PART(max)(part_flipped(PART(loadu)(high + k * WIDTH), sign[k]), zero), square), best[k]);
            }
        }
#pragma GCC unroll 16
        for (int k = 0; k < PARTS; k++) PART(storeu)(row + k * WIDTH, part_flipped(best[k], sign[k]));
        if (finish->mode == 1) finish_as(row, finish, 1);
        else if (finish->mode >= 0) finish_as(row, finish, 0);
    }
}
