/* solver/engine_lanes.h: the sixteen voxels of a pair of rows as lanes, for what no loop says well to a compiler: masks of lanes, and some of them put
 * side by side and back. With AVX2 they are two vectors, with AVX-512 one; TSR_LANES is defined where there are such operations. */
#ifndef TSR_SOLVER_ENGINE_LANES_H
#define TSR_SOLVER_ENGINE_LANES_H

#include "solver/engine_rows.h"

#if defined(TSR_ISA_IS_avx512)
#define TSR_LANES 1

typedef __m512 tsr_lanes;
TSR_INLINE tsr_lanes tsr_lanes_load(const float *from) { return _mm512_loadu_ps(from); }
TSR_INLINE void tsr_lanes_store(float *to, tsr_lanes v) { _mm512_storeu_ps(to, v); }
TSR_INLINE tsr_lanes tsr_lanes_minus(tsr_lanes a, tsr_lanes b) { return _mm512_sub_ps(a, b); }

/* Lanes that are not +-band, and those below 0. */
TSR_INLINE uint32_t tsr_lanes_free(tsr_lanes v, float band) { return _mm512_cmp_ps_mask(_mm512_abs_ps(v), _mm512_set1_ps(band), _CMP_NEQ_UQ); }
TSR_INLINE uint32_t tsr_lanes_inside(tsr_lanes v) { return _mm512_cmp_ps_mask(v, _mm512_setzero_ps(), _CMP_LT_OQ); }

/* 1 in the lanes of the mask, 0 in the others. */
TSR_INLINE void tsr_lanes_flags(int32_t *to, uint32_t mask) { _mm512_storeu_si512(to, _mm512_maskz_set1_epi32((__mmask16)mask, 1)); }

/* The way of the lanes of a mask to the front of a row. */
typedef __m512i tsr_lane_order;
TSR_INLINE tsr_lane_order tsr_lanes_order(uint32_t mask)
{
    return _mm512_maskz_compress_epi32((__mmask16)mask, _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
}
/* Writes them side by side; what follows up to the sixteenth is of no meaning. */
TSR_INLINE void tsr_lanes_pack(float *to, tsr_lane_order order, tsr_lanes v) { _mm512_storeu_ps(to, _mm512_permutexvar_ps(order, v)); }
/* `own`, with the lanes of the mask taken from a row where they lie side by side. */
TSR_INLINE tsr_lanes tsr_lanes_unpack(tsr_lanes own, uint32_t mask, const float *from)
{
    return _mm512_mask_expand_ps(own, (__mmask16)mask, _mm512_loadu_ps(from));
}

/* Bit k: the k-th 16 bits of eight words are not all 0. */
TSR_INLINE uint32_t tsr_words_used(const uint64_t words[8])
{
    const __m512i v = _mm512_loadu_si512(words);
    return _mm512_test_epi16_mask(v, v);
}

#elif defined(TSR_ISA_IS_avx2)
#define TSR_LANES 1

typedef struct tsr_lanes {
    __m256 low, high;
} tsr_lanes;
TSR_INLINE tsr_lanes tsr_lanes_load(const float *from) { return (tsr_lanes){ _mm256_loadu_ps(from), _mm256_loadu_ps(from + TSR_ROW) }; }
TSR_INLINE void tsr_lanes_store(float *to, tsr_lanes v)
{
    _mm256_storeu_ps(to, v.low);
    _mm256_storeu_ps(to + TSR_ROW, v.high);
}
TSR_INLINE tsr_lanes tsr_lanes_minus(tsr_lanes a, tsr_lanes b) { return (tsr_lanes){ _mm256_sub_ps(a.low, b.low), _mm256_sub_ps(a.high, b.high) }; }

TSR_INLINE uint32_t tsr_row_free(__m256 v, float band)
{
    const __m256 magnitude = _mm256_and_ps(v, _mm256_castsi256_ps(_mm256_set1_epi32(0x7fffffff)));
    return (uint32_t)_mm256_movemask_ps(_mm256_cmp_ps(magnitude, _mm256_set1_ps(band), _CMP_NEQ_UQ));
}
TSR_INLINE uint32_t tsr_row_inside(__m256 v) { return (uint32_t)_mm256_movemask_ps(_mm256_cmp_ps(v, _mm256_setzero_ps(), _CMP_LT_OQ)); }
/* Lanes that are not +-band, and those below 0. */
TSR_INLINE uint32_t tsr_lanes_free(tsr_lanes v, float band) { return tsr_row_free(v.low, band) | tsr_row_free(v.high, band) << TSR_ROW; }
TSR_INLINE uint32_t tsr_lanes_inside(tsr_lanes v) { return tsr_row_inside(v.low) | tsr_row_inside(v.high) << TSR_ROW; }

/* All ones in the lanes of a mask of a row. */
TSR_INLINE __m256i tsr_row_mask(uint32_t mask)
{
    const __m256i bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    return _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32((int32_t)mask), bit), bit);
}
/* 1 in the lanes of the mask, 0 in the others. */
TSR_INLINE void tsr_lanes_flags(int32_t *to, uint32_t mask)
{
    _mm256_storeu_si256((__m256i *)(void *)to, _mm256_srli_epi32(tsr_row_mask(mask), 31));
    _mm256_storeu_si256((__m256i *)(void *)(to + TSR_ROW), _mm256_srli_epi32(tsr_row_mask(mask >> TSR_ROW), 31));
}

/* For each mask of a row, a byte a lane: which lanes it holds, side by side; and how many of them come before each lane. */
#define TSR_BEFORE(m, lane) ((uint64_t)__builtin_popcount((unsigned)(m) & ((1u << (lane)) - 1u)))
#define TSR_HELD(m, lane) ((m) >> (lane)&1 ? (uint64_t)(lane) << 8 * TSR_BEFORE(m, lane) : 0)
#define TSR_RANK(m, lane) (TSR_BEFORE(m, lane) << 8 * (lane))
#define TSR_LANES_8(of, m) (of(m, 0) | of(m, 1) | of(m, 2) | of(m, 3) | of(m, 4) | of(m, 5) | of(m, 6) | of(m, 7))
#define TSR_MASKS_4(of, m) TSR_LANES_8(of, m), TSR_LANES_8(of, (m) + 1), TSR_LANES_8(of, (m) + 2), TSR_LANES_8(of, (m) + 3)
#define TSR_MASKS_16(of, m) TSR_MASKS_4(of, m), TSR_MASKS_4(of, (m) + 4), TSR_MASKS_4(of, (m) + 8), TSR_MASKS_4(of, (m) + 12)
#define TSR_MASKS_64(of, m) TSR_MASKS_16(of, m), TSR_MASKS_16(of, (m) + 16), TSR_MASKS_16(of, (m) + 32), TSR_MASKS_16(of, (m) + 48)
#define TSR_MASKS_256(of) TSR_MASKS_64(of, 0), TSR_MASKS_64(of, 64), TSR_MASKS_64(of, 128), TSR_MASKS_64(of, 192)
static const uint64_t tsr_row_held[256] = { TSR_MASKS_256(TSR_HELD) }, tsr_row_rank[256] = { TSR_MASKS_256(TSR_RANK) };
#undef TSR_BEFORE
#undef TSR_HELD
#undef TSR_RANK
#undef TSR_LANES_8
#undef TSR_MASKS_4
#undef TSR_MASKS_16
#undef TSR_MASKS_64
#undef TSR_MASKS_256
TSR_INLINE __m256i tsr_row_lanes(uint64_t bytes) { return _mm256_cvtepu8_epi32(_mm_cvtsi64_si128((int64_t)bytes)); }

/* The way of the lanes of a mask to the front of a row. */
typedef struct tsr_lane_order {
    __m256i low, high;
    int32_t lows;
} tsr_lane_order;
TSR_INLINE tsr_lane_order tsr_lanes_order(uint32_t mask)
{
    return (tsr_lane_order){ tsr_row_lanes(tsr_row_held[mask & 0xffu]), tsr_row_lanes(tsr_row_held[mask >> TSR_ROW]),
                             __builtin_popcount(mask & 0xffu) };
}
/* Writes them side by side; what follows up to the sixteenth is of no meaning. */
TSR_INLINE void tsr_lanes_pack(float *to, tsr_lane_order order, tsr_lanes v)
{
    _mm256_storeu_ps(to, _mm256_permutevar8x32_ps(v.low, order.low));
    _mm256_storeu_ps(to + order.lows, _mm256_permutevar8x32_ps(v.high, order.high));
}
TSR_INLINE __m256 tsr_row_unpack(__m256 own, uint32_t mask, const float *from)
{
    const __m256 spread = _mm256_permutevar8x32_ps(_mm256_loadu_ps(from), tsr_row_lanes(tsr_row_rank[mask]));
    return _mm256_blendv_ps(own, spread, _mm256_castsi256_ps(tsr_row_mask(mask)));
}
/* `own`, with the lanes of the mask taken from a row where they lie side by side. */
TSR_INLINE tsr_lanes tsr_lanes_unpack(tsr_lanes own, uint32_t mask, const float *from)
{
    return (tsr_lanes){ tsr_row_unpack(own.low, mask & 0xffu, from),
                        tsr_row_unpack(own.high, mask >> TSR_ROW, from + __builtin_popcount(mask & 0xffu)) };
}

/* Bit k: the k-th 16 bits of eight words are not all 0. */
TSR_INLINE uint32_t tsr_words_used(const uint64_t words[8])
{
    const __m256i zero = _mm256_setzero_si256(), low = _mm256_loadu_si256((const __m256i *)(const void *)words),
                  high = _mm256_loadu_si256((const __m256i *)(const void *)(words + 4));
    const __m256i none = _mm256_packs_epi16(_mm256_cmpeq_epi16(low, zero), _mm256_cmpeq_epi16(high, zero)); /* by halves of a vector: in the order 0, 2, 1, 3 */
    return ~(uint32_t)_mm256_movemask_epi8(_mm256_permute4x64_epi64(none, 0xd8));
}

#endif

#endif
