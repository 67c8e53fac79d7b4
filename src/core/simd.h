/* core/simd.h: the vectors of the CPU's loops, for files that are compiled once per SIMD variant (TSR_ISA_IS_avx2, TSR_ISA_IS_avx512, neither: what
 * every x86-64 or another CPU has). Lanes are numbered as their elements lie in memory. Exact: every operation rounds as the plain one does. */
#ifndef TSR_CORE_SIMD_H
#define TSR_CORE_SIMD_H

#include <string.h>

#include "core/hd.h"
#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* ---- one register of the variant ------------------------------------------------------------------------------------------------------------------ */

#if defined(TSR_ISA_IS_avx512)
enum { TSR_WIDE_BYTES = 64 };
#elif defined(TSR_ISA_IS_avx2)
enum { TSR_WIDE_BYTES = 32 };
#else
enum { TSR_WIDE_BYTES = 16 };
#endif
enum { TSR_WIDE_16 = TSR_WIDE_BYTES / 2, TSR_WIDE_32 = TSR_WIDE_BYTES / 4 }; /* lanes */

/* In registers; and as they are read and written anywhere in memory: a memcpy may go in halves. */
typedef float tsr_wide_f32 __attribute__((vector_size(TSR_WIDE_BYTES)));
typedef int32_t tsr_wide_i32 __attribute__((vector_size(TSR_WIDE_BYTES)));
typedef uint32_t tsr_wide_u32 __attribute__((vector_size(TSR_WIDE_BYTES)));
typedef float tsr_wide_f32_at __attribute__((vector_size(TSR_WIDE_BYTES), aligned(4), may_alias));
typedef uint32_t tsr_wide_u32_at __attribute__((vector_size(TSR_WIDE_BYTES), aligned(4), may_alias));
typedef int16_t tsr_wide_i16 __attribute__((vector_size(TSR_WIDE_BYTES), aligned(2), may_alias));
typedef uint16_t tsr_wide_u16 __attribute__((vector_size(TSR_WIDE_BYTES), aligned(2), may_alias));

TSR_INLINE tsr_wide_f32_at tsr_wide_load(const float *from) { return *(const tsr_wide_f32_at *)(const void *)from; }
TSR_INLINE void tsr_wide_store(float *to, tsr_wide_f32_at v) { *(tsr_wide_f32_at *)(void *)to = v; }

/* 1/sqrt(x), x > 0, the bits of tsr_rsqrt (core/hd.h) in every lane. */
TSR_INLINE tsr_wide_f32 tsr_wide_rsqrt(tsr_wide_f32 x)
{
    tsr_wide_f32 y = (tsr_wide_f32)(0x5f1ffff9u - ((tsr_wide_u32)x >> 1));
    y = y * (0.703952253f * (2.38924456f - x * y * y));
    return y * (1.5f - 0.5f * x * y * y);
}

/* A vector past the caches: `to` is a multiple of its size. tsr_stream_drain: what was written so is there for other threads. */
TSR_INLINE void tsr_wide_stream(void *to, const void *from)
{
#if defined(TSR_ISA_IS_avx512)
    _mm512_stream_si512(to, _mm512_loadu_si512(from));
#elif defined(TSR_ISA_IS_avx2)
    _mm256_stream_si256((__m256i *)to, _mm256_loadu_si256((const __m256i *)from));
#elif defined(__x86_64__)
    _mm_stream_si128((__m128i *)to, _mm_loadu_si128((const __m128i *)from));
#else
    memcpy(to, from, TSR_WIDE_BYTES);
#endif
}
TSR_INLINE void tsr_stream_drain(void)
{
#if defined(__x86_64__)
    _mm_sfence();
#endif
}

/* (a + b + 1) >> 1, with one bit more between. */
TSR_INLINE tsr_wide_u16 tsr_wide_average_u16(tsr_wide_u16 a, tsr_wide_u16 b)
{
#if defined(TSR_ISA_IS_avx512)
    return (tsr_wide_u16)_mm512_avg_epu16((__m512i)a, (__m512i)b);
#elif defined(TSR_ISA_IS_avx2)
    return (tsr_wide_u16)_mm256_avg_epu16((__m256i)a, (__m256i)b);
#elif defined(__x86_64__)
    return (tsr_wide_u16)_mm_avg_epu16((__m128i)a, (__m128i)b);
#else
    return (a | b) - ((a ^ b) >> 1);
#endif
}
/* 1 if a lane is not 0. */
TSR_INLINE int tsr_wide_any_u16(tsr_wide_u16 v)
{
#if defined(TSR_ISA_IS_avx512)
    return _mm512_test_epi16_mask((__m512i)v, (__m512i)v) != 0;
#elif defined(TSR_ISA_IS_avx2)
    return !_mm256_testz_si256((__m256i)v, (__m256i)v);
#elif defined(__x86_64__)
    return _mm_movemask_epi8(_mm_cmpeq_epi16((__m128i)v, _mm_setzero_si128())) != 0xffff;
#else
    uint16_t all = 0;
    for (int k = 0; k < TSR_WIDE_16; k++) all |= v[k];
    return all != 0;
#endif
}

/* ---- 8 floats ------------------------------------------------------------------------------------------------------------------------------------- */

#if defined(TSR_ISA_IS_avx512) || defined(TSR_ISA_IS_avx2)

typedef float tsr_octet __attribute__((vector_size(32), aligned(4), may_alias));
TSR_INLINE tsr_octet tsr_octet_load(const float *from) { return *(const tsr_octet *)from; }
TSR_INLINE void tsr_octet_store(float *to, tsr_octet v) { *(tsr_octet *)to = v; }
/* The last k voxels of a, then the first 8 - k of b. */
TSR_INLINE tsr_octet tsr_octet_join_1(tsr_octet a, tsr_octet b) { return __builtin_shufflevector(a, b, 7, 8, 9, 10, 11, 12, 13, 14); }
TSR_INLINE tsr_octet tsr_octet_join_2(tsr_octet a, tsr_octet b) { return __builtin_shufflevector(a, b, 6, 7, 8, 9, 10, 11, 12, 13); }
TSR_INLINE tsr_octet tsr_octet_join_3(tsr_octet a, tsr_octet b) { return __builtin_shufflevector(a, b, 5, 6, 7, 8, 9, 10, 11, 12); }
TSR_INLINE tsr_octet tsr_octet_join_5(tsr_octet a, tsr_octet b) { return __builtin_shufflevector(a, b, 3, 4, 5, 6, 7, 8, 9, 10); }
TSR_INLINE tsr_octet tsr_octet_join_6(tsr_octet a, tsr_octet b) { return __builtin_shufflevector(a, b, 2, 3, 4, 5, 6, 7, 8, 9); }
TSR_INLINE tsr_octet tsr_octet_join_7(tsr_octet a, tsr_octet b) { return __builtin_shufflevector(a, b, 1, 2, 3, 4, 5, 6, 7, 8); }

#else

typedef struct tsr_octet {
    float v[8];
} tsr_octet;
TSR_INLINE tsr_octet tsr_octet_load(const float *from)
{
    tsr_octet o;
    memcpy(o.v, from, sizeof o.v);
    return o;
}
TSR_INLINE void tsr_octet_store(float *to, tsr_octet o) { memcpy(to, o.v, sizeof o.v); }
TSR_INLINE tsr_octet tsr_octet_join(tsr_octet a, tsr_octet b, int32_t k)
{
    tsr_octet o;
    memcpy(o.v, a.v + (8 - k), (size_t)k * sizeof *o.v);
    memcpy(o.v + k, b.v, (size_t)(8 - k) * sizeof *o.v);
    return o;
}
TSR_INLINE tsr_octet tsr_octet_join_1(tsr_octet a, tsr_octet b) { return tsr_octet_join(a, b, 1); }
TSR_INLINE tsr_octet tsr_octet_join_2(tsr_octet a, tsr_octet b) { return tsr_octet_join(a, b, 2); }
TSR_INLINE tsr_octet tsr_octet_join_3(tsr_octet a, tsr_octet b) { return tsr_octet_join(a, b, 3); }
TSR_INLINE tsr_octet tsr_octet_join_5(tsr_octet a, tsr_octet b) { return tsr_octet_join(a, b, 5); }
TSR_INLINE tsr_octet tsr_octet_join_6(tsr_octet a, tsr_octet b) { return tsr_octet_join(a, b, 6); }
TSR_INLINE tsr_octet tsr_octet_join_7(tsr_octet a, tsr_octet b) { return tsr_octet_join(a, b, 7); }

#endif

/* ---- 16 floats as 4 rows of 4 ---------------------------------------------------------------------------------------------------------------------- */

#if defined(TSR_ISA_IS_avx512)

typedef float tsr_plane __attribute__((vector_size(64), aligned(4), may_alias)); /* read and written as one: a memcpy may go in halves */
TSR_INLINE tsr_plane tsr_plane_load(const float *from) { return *(const tsr_plane *)from; }
TSR_INLINE void tsr_plane_store(float *to, tsr_plane p) { *(tsr_plane *)to = p; }
/* Rows one further down: the last of `before`, then the first three of `own`; one further up: the last three of `own`, then the first of `after`. */
TSR_INLINE tsr_plane tsr_plane_down(tsr_plane before, tsr_plane own)
{
    return __builtin_shufflevector(before, own, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27);
}
TSR_INLINE tsr_plane tsr_plane_up(tsr_plane own, tsr_plane after)
{
    return __builtin_shufflevector(own, after, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19);
}
/* The same along the rows: the last voxel of each row of `before` ahead of the first three of `own`. */
TSR_INLINE tsr_plane tsr_plane_left(tsr_plane before, tsr_plane own)
{
    return __builtin_shufflevector(before, own, 3, 16, 17, 18, 7, 20, 21, 22, 11, 24, 25, 26, 15, 28, 29, 30);
}
TSR_INLINE tsr_plane tsr_plane_right(tsr_plane own, tsr_plane after)
{
    return __builtin_shufflevector(own, after, 1, 2, 3, 16, 5, 6, 7, 20, 9, 10, 11, 24, 13, 14, 15, 28);
}

#else

typedef float tsr_quad __attribute__((vector_size(16), aligned(4), may_alias));
typedef struct tsr_plane {
    tsr_quad row[4];
} tsr_plane;
TSR_INLINE tsr_plane tsr_plane_load(const float *from)
{
    const tsr_quad *row = (const tsr_quad *)from;
    return (tsr_plane){ { row[0], row[1], row[2], row[3] } };
}
TSR_INLINE void tsr_plane_store(float *to, tsr_plane p)
{
    tsr_quad *row = (tsr_quad *)to;
    for (int y = 0; y < 4; y++) row[y] = p.row[y];
}
TSR_INLINE tsr_plane tsr_plane_down(tsr_plane before, tsr_plane own) { return (tsr_plane){ { before.row[3], own.row[0], own.row[1], own.row[2] } }; }
TSR_INLINE tsr_plane tsr_plane_up(tsr_plane own, tsr_plane after) { return (tsr_plane){ { own.row[1], own.row[2], own.row[3], after.row[0] } }; }
TSR_INLINE tsr_plane tsr_plane_left(tsr_plane before, tsr_plane own)
{
    tsr_plane p;
    for (int y = 0; y < 4; y++) p.row[y] = __builtin_shufflevector(before.row[y], own.row[y], 3, 4, 5, 6);
    return p;
}
TSR_INLINE tsr_plane tsr_plane_right(tsr_plane own, tsr_plane after)
{
    tsr_plane p;
    for (int y = 0; y < 4; y++) p.row[y] = __builtin_shufflevector(own.row[y], after.row[y], 1, 2, 3, 4);
    return p;
}

#endif

/* ---- 16 floats as lanes --------------------------------------------------------------------------------------------------------------------------- */

/* For what no loop says well to a compiler: masks of lanes, and some of them put side by side and back. With AVX2 they are two vectors, with AVX-512 one;
 * TSR_LANES is defined where there are such operations. */
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
TSR_INLINE tsr_lanes tsr_lanes_load(const float *from) { return (tsr_lanes){ _mm256_loadu_ps(from), _mm256_loadu_ps(from + 8) }; }
TSR_INLINE void tsr_lanes_store(float *to, tsr_lanes v)
{
    _mm256_storeu_ps(to, v.low);
    _mm256_storeu_ps(to + 8, v.high);
}
TSR_INLINE tsr_lanes tsr_lanes_minus(tsr_lanes a, tsr_lanes b) { return (tsr_lanes){ _mm256_sub_ps(a.low, b.low), _mm256_sub_ps(a.high, b.high) }; }

TSR_INLINE uint32_t tsr_row_free(__m256 v, float band)
{
    const __m256 magnitude = _mm256_and_ps(v, _mm256_castsi256_ps(_mm256_set1_epi32(0x7fffffff)));
    return (uint32_t)_mm256_movemask_ps(_mm256_cmp_ps(magnitude, _mm256_set1_ps(band), _CMP_NEQ_UQ));
}
TSR_INLINE uint32_t tsr_row_inside(__m256 v) { return (uint32_t)_mm256_movemask_ps(_mm256_cmp_ps(v, _mm256_setzero_ps(), _CMP_LT_OQ)); }
/* Lanes that are not +-band, and those below 0. */
TSR_INLINE uint32_t tsr_lanes_free(tsr_lanes v, float band) { return tsr_row_free(v.low, band) | tsr_row_free(v.high, band) << 8; }
TSR_INLINE uint32_t tsr_lanes_inside(tsr_lanes v) { return tsr_row_inside(v.low) | tsr_row_inside(v.high) << 8; }

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
    _mm256_storeu_si256((__m256i *)(void *)(to + 8), _mm256_srli_epi32(tsr_row_mask(mask >> 8), 31));
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
    return (tsr_lane_order){ tsr_row_lanes(tsr_row_held[mask & 0xffu]), tsr_row_lanes(tsr_row_held[mask >> 8]), __builtin_popcount(mask & 0xffu) };
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
    return (tsr_lanes){ tsr_row_unpack(own.low, mask & 0xffu, from), tsr_row_unpack(own.high, mask >> 8, from + __builtin_popcount(mask & 0xffu)) };
}

/* Bit k: the k-th 16 bits of eight words are not all 0. */
TSR_INLINE uint32_t tsr_words_used(const uint64_t words[8])
{
    const __m256i zero = _mm256_setzero_si256(), low = _mm256_loadu_si256((const __m256i *)(const void *)words),
                  high = _mm256_loadu_si256((const __m256i *)(const void *)(words + 4));
    const __m256i none =
        _mm256_packs_epi16(_mm256_cmpeq_epi16(low, zero), _mm256_cmpeq_epi16(high, zero)); /* by halves of a vector: in the order 0, 2, 1, 3 */
    return ~(uint32_t)_mm256_movemask_epi8(_mm256_permute4x64_epi64(none, 0xd8));
}

#endif

#if defined(TSR_ISA_IS_avx512)
/* Two rows of 8, seen one lane further down (the last of each row of `before` first) and up. */
TSR_INLINE tsr_lanes tsr_lanes_rows_down(tsr_lanes before, tsr_lanes own)
{
    return _mm512_permutex2var_ps(before, _mm512_setr_epi32(7, 16, 17, 18, 19, 20, 21, 22, 15, 24, 25, 26, 27, 28, 29, 30), own);
}
TSR_INLINE tsr_lanes tsr_lanes_rows_up(tsr_lanes own, tsr_lanes after)
{
    return _mm512_permutex2var_ps(own, _mm512_setr_epi32(1, 2, 3, 4, 5, 6, 7, 16, 9, 10, 11, 12, 13, 14, 15, 24), after);
}
/* Bits that differ between lanes, gathered over several comparisons; lanes of a mask without any; those whose magnitude is at least `least`. */
typedef __m512i tsr_lane_bits;
TSR_INLINE tsr_lane_bits tsr_lanes_differ(tsr_lanes a, const float *b) { return _mm512_xor_si512(_mm512_castps_si512(a), _mm512_loadu_si512(b)); }
TSR_INLINE tsr_lane_bits tsr_lanes_differ_too(tsr_lane_bits already, tsr_lanes a, const float *b)
{
    enum { OR_DIFFERENCE = 0xf6 }; /* a | (b ^ c) */
    return _mm512_ternarylogic_epi32(already, _mm512_castps_si512(a), _mm512_loadu_si512(b), OR_DIFFERENCE);
}
TSR_INLINE uint32_t tsr_lanes_without(uint32_t mask, tsr_lane_bits bits) { return _mm512_mask_testn_epi32_mask((__mmask16)mask, bits, bits); }
TSR_INLINE uint32_t tsr_lanes_beyond(tsr_lanes v, float least) { return _mm512_cmp_ps_mask(_mm512_abs_ps(v), _mm512_set1_ps(least), _CMP_GE_OQ); }
#endif

#endif
