/* primitives/primitives_isa.c: loops the compiler vectorises; intrinsics only where bytes become bits and bits become indices. */
#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "primitives/primitives_isa.h"

/* ---- reduce --------------------------------------------------------------------------------------------------------------------- */

/* A tile has at most 2^16 elements: sums of 16-bit ones fit in 32 bits. */
#define INTEGERS(T, name, sum, key)                                                            \
    static uint64_t sum_##name(const T *p, int64_t n)                                          \
    {                                                                                          \
        sum total = 0;                                                                         \
        for (int64_t i = 0; i < n; i++) total += (sum)p[i];                                    \
        return (uint64_t)total;                                                                \
    }                                                                                          \
    static uint64_t min_##name(const T *p, int64_t n)                                          \
    {                                                                                          \
        T m = p[0];                                                                            \
        for (int64_t i = 1; i < n; i++) m = p[i] < m ? p[i] : m;                               \
        return key(m);                                                                         \
    }                                                                                          \
    static uint64_t max_##name(const T *p, int64_t n)                                          \
    {                                                                                          \
        T m = p[0];                                                                            \
        for (int64_t i = 1; i < n; i++) m = p[i] > m ? p[i] : m;                               \
        return key(m);                                                                         \
    }
INTEGERS(uint8_t, u8, uint32_t, (uint64_t))
INTEGERS(int8_t, i8, int32_t, tsr_key_signed)
INTEGERS(uint16_t, u16, uint32_t, (uint64_t))
INTEGERS(int16_t, i16, int32_t, tsr_key_signed)
INTEGERS(uint32_t, u32, uint64_t, (uint64_t))
INTEGERS(int32_t, i32, int64_t, tsr_key_signed)
INTEGERS(uint64_t, u64, uint64_t, (uint64_t))
INTEGERS(int64_t, i64, uint64_t, tsr_key_signed)

#define FLOATS(T, name, order_type)                                                            \
    static double sum_##name(const T *p, int64_t n)                                            \
    {                                                                                          \
        double lane[TSR_TILE_LANES];                                                           \
        int64_t width = 1, i;                                                                  \
        while (width < n && width < TSR_TILE_LANES) width *= 2; /* the lanes beyond hold 0 */  \
        for (int64_t l = 0; l < width; l++) lane[l] = l < n ? 0.0 + (double)p[l] : 0.0;        \
        for (i = width; i + TSR_TILE_LANES <= n; i += TSR_TILE_LANES)                          \
            for (int l = 0; l < TSR_TILE_LANES; l++) lane[l] += (double)p[i + l];              \
        for (int l = 0; i < n; i++, l++) lane[l] += (double)p[i];                              \
        for (int64_t step = width / 2; step > 0; step /= 2)                                    \
            for (int64_t l = 0; l < step; l++) lane[l] += lane[l + step];                      \
        return lane[0];                                                                        \
    }                                                                                          \
    static uint64_t min_##name(const T *p, int64_t n, order_type neutral)                      \
    {                                                                                          \
        order_type m = neutral;                                                                \
        for (int64_t i = 0; i < n; i++) {                                                      \
            order_type o = tsr_order_##name(p[i], neutral);                                    \
            m = o < m ? o : m;                                                                 \
        }                                                                                      \
        return tsr_key_signed(m);                                                              \
    }                                                                                          \
    static uint64_t max_##name(const T *p, int64_t n, order_type neutral)                      \
    {                                                                                          \
        order_type m = neutral;                                                                \
        for (int64_t i = 0; i < n; i++) {                                                      \
            order_type o = tsr_order_##name(p[i], neutral);                                    \
            m = o > m ? o : m;                                                                 \
        }                                                                                      \
        return tsr_key_signed(m);                                                              \
    }
FLOATS(float, f32, int32_t)
FLOATS(double, f64, int64_t)

static uint64_t double_bits(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, 8);
    return bits;
}

double TSR_ISA_NAME(tsr_reduce_lanes)(const double *data, int64_t count) { return sum_f64(data, count); }

uint64_t TSR_ISA_NAME(tsr_reduce_tile)(tsr_reduction reduction, tsr_dtype dtype, const void *data, int64_t count)
{
    const int64_t neutral = tsr_key_order(tsr_reduce_neutral(reduction, dtype));
    switch (dtype) {
#define CASE(type, T, name)                                                                    \
    case type:                                                                                 \
        return reduction == TSR_REDUCE_SUM ? sum_##name((const T *)data, count)                \
             : reduction == TSR_REDUCE_MIN ? min_##name((const T *)data, count) : max_##name((const T *)data, count);
    CASE(TSR_U8, uint8_t, u8)
    CASE(TSR_I8, int8_t, i8)
    CASE(TSR_U16, uint16_t, u16)
    CASE(TSR_I16, int16_t, i16)
    CASE(TSR_U32, uint32_t, u32)
    CASE(TSR_I32, int32_t, i32)
    CASE(TSR_U64, uint64_t, u64)
    CASE(TSR_I64, int64_t, i64)
    case TSR_F32:
        return reduction == TSR_REDUCE_SUM ? double_bits(sum_f32((const float *)data, count))
             : reduction == TSR_REDUCE_MIN ? min_f32((const float *)data, count, (int32_t)neutral) : max_f32((const float *)data, count, (int32_t)neutral);
    default:
        return reduction == TSR_REDUCE_SUM ? double_bits(sum_f64((const double *)data, count))
             : reduction == TSR_REDUCE_MIN ? min_f64((const double *)data, count, neutral) : max_f64((const double *)data, count, neutral);
    }
}

/* ---- scan ----------------------------------------------------------------------------------------------------------------------- */

uint64_t TSR_ISA_NAME(tsr_scan_total)(tsr_dtype dtype, const void *data, int64_t count)
{
    return dtype == TSR_U8 ? sum_u8((const uint8_t *)data, count) : dtype == TSR_U32 ? sum_u32((const uint32_t *)data, count)
                                                                                     : sum_u64((const uint64_t *)data, count);
}

#define SCAN(T, S, name)                                                                                   \
    static void scan_##name(const T *TSR_RESTRICT p, S *TSR_RESTRICT sums, int64_t n, int inclusive, S sum) \
    {                                                                                                      \
        if (inclusive)                                                                                     \
            for (int64_t i = 0; i < n; i++) sums[i] = sum += (S)p[i];                                      \
        else                                                                                               \
            for (int64_t i = 0; i < n; i++) {                                                              \
                sums[i] = sum;                                                                             \
                sum += (S)p[i];                                                                            \
            }                                                                                              \
    }
SCAN(uint8_t, uint32_t, u8_u32)
SCAN(uint8_t, uint64_t, u8_u64)
SCAN(uint32_t, uint32_t, u32_u32)
SCAN(uint32_t, uint64_t, u32_u64)
SCAN(uint64_t, uint64_t, u64_u64)

void TSR_ISA_NAME(tsr_scan_chunk)(tsr_dtype from, const void *data, tsr_dtype to, void *sums, int64_t count, int inclusive, uint64_t before)
{
    const int wide = to == TSR_U64;
    if (from == TSR_U8 && !wide) scan_u8_u32((const uint8_t *)data, (uint32_t *)sums, count, inclusive, (uint32_t)before);
    else if (from == TSR_U8) scan_u8_u64((const uint8_t *)data, (uint64_t *)sums, count, inclusive, before);
    else if (from == TSR_U32 && !wide) scan_u32_u32((const uint32_t *)data, (uint32_t *)sums, count, inclusive, (uint32_t)before);
    else if (from == TSR_U32) scan_u32_u64((const uint32_t *)data, (uint64_t *)sums, count, inclusive, before);
    else scan_u64_u64((const uint64_t *)data, (uint64_t *)sums, count, inclusive, before);
}

/* ---- segmented scan --------------------------------------------------------------------------------------------------------------- */

static inline int head_at(const tsr_heads *h, int64_t i) { return h->flags ? h->flags[i] != 0 : h->bits[i / 32] >> (i % 32) & 1u; }

#define SEGMENT_TAIL(T, name)                                                                                            \
    static uint64_t tail_##name(const tsr_heads *h, const T *p, int64_t begin, int64_t end, int *any)                    \
    {                                                                                                                    \
        uint64_t sum = 0;                                                                                                \
        *any = 0;                                                                                                        \
        for (int64_t i = end - 1; i >= begin && !*any; i--) {                                                            \
            sum += p[i];                                                                                                 \
            *any = head_at(h, i);                                                                                        \
        }                                                                                                                \
        return sum;                                                                                                      \
    }
SEGMENT_TAIL(uint8_t, u8)
SEGMENT_TAIL(uint32_t, u32)
SEGMENT_TAIL(uint64_t, u64)

#define SEGMENT_SCAN(T, S, name)                                                                                                       \
    static void segments_##name(const tsr_heads *h, const T *TSR_RESTRICT p, S *TSR_RESTRICT sums, int64_t begin, int64_t end,         \
                                int inclusive, S sum)                                                                                  \
    {                                                                                                                                  \
        for (int64_t i = begin; i < end; i++) {                                                                                        \
            const S before = head_at(h, i) ? 0 : sum;                                                                                  \
            sum = before + (S)p[i];                                                                                                    \
            sums[i] = inclusive ? sum : before;                                                                                        \
        }                                                                                                                              \
    }
SEGMENT_SCAN(uint8_t, uint32_t, u8_u32)
SEGMENT_SCAN(uint8_t, uint64_t, u8_u64)
SEGMENT_SCAN(uint32_t, uint32_t, u32_u32)
SEGMENT_SCAN(uint32_t, uint64_t, u32_u64)
SEGMENT_SCAN(uint64_t, uint64_t, u64_u64)

uint64_t TSR_ISA_NAME(tsr_segment_tail)(const tsr_segment_scan_job *job, const tsr_heads *heads, int64_t begin, int64_t end, int *any)
{
    return job->data_type == TSR_U8    ? tail_u8(heads, (const uint8_t *)job->data, begin, end, any)
           : job->data_type == TSR_U32 ? tail_u32(heads, (const uint32_t *)job->data, begin, end, any)
                                       : tail_u64(heads, (const uint64_t *)job->data, begin, end, any);
}

void TSR_ISA_NAME(tsr_segment_chunk)(const tsr_segment_scan_job *job, const tsr_heads *heads, int64_t begin, int64_t end, uint64_t before)
{
    const int wide = job->sum_type == TSR_U64, inclusive = job->inclusive;
    if (job->data_type == TSR_U8 && !wide)
        segments_u8_u32(heads, (const uint8_t *)job->data, (uint32_t *)job->sums, begin, end, inclusive, (uint32_t)before);
    else if (job->data_type == TSR_U8) segments_u8_u64(heads, (const uint8_t *)job->data, (uint64_t *)job->sums, begin, end, inclusive, before);
    else if (job->data_type == TSR_U32 && !wide)
        segments_u32_u32(heads, (const uint32_t *)job->data, (uint32_t *)job->sums, begin, end, inclusive, (uint32_t)before);
    else if (job->data_type == TSR_U32) segments_u32_u64(heads, (const uint32_t *)job->data, (uint64_t *)job->sums, begin, end, inclusive, before);
    else segments_u64_u64(heads, (const uint64_t *)job->data, (uint64_t *)job->sums, begin, end, inclusive, before);
}

/* ---- select --------------------------------------------------------------------------------------------------------------------- */

/* 64 bytes that are 0 or 0xff as 64 bits. */
static uint64_t bits_of(const uint8_t *flag)
{
#if defined(__AVX512BW__)
    return _mm512_movepi8_mask(_mm512_loadu_si512(flag));
#elif defined(__AVX2__)
    uint64_t low = (uint32_t)_mm256_movemask_epi8(_mm256_loadu_si256((const __m256i *)(const void *)flag));
    uint64_t high = (uint32_t)_mm256_movemask_epi8(_mm256_loadu_si256((const __m256i *)(const void *)(flag + 32)));
    return low | high << 32;
#elif defined(__SSE2__)
    uint64_t bits = 0;
    for (int k = 0; k < 4; k++)
        bits |= (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_loadu_si128((const __m128i *)(const void *)(flag + 16 * k))) << (16 * k);
    return bits;
#else
    uint64_t bits = 0;
    for (int k = 0; k < 64; k++) bits |= (uint64_t)(flag[k] & 1u) << k;
    return bits;
#endif
}

/* Bit k: element i + k of n (at most 64 of them) is kept. */
static uint64_t kept_bits(tsr_keep keep, tsr_dtype dtype, const void *data, int64_t i, int64_t n)
{
    uint8_t flag[64];
#define FLAGS(T, kept)                                                                         \
    do {                                                                                       \
        const T *p = (const T *)data + i;                                                      \
        if (n >= 64)                                                                           \
            for (int k = 0; k < 64; k++) flag[k] = (uint8_t)-(kept);                           \
        else                                                                                   \
            for (int k = 0; k < 64; k++) flag[k] = k < n ? (uint8_t)-(kept) : (uint8_t)0;      \
    } while (0)
    if (dtype == TSR_U8 && keep.nonzero) FLAGS(uint8_t, p[k] != 0);
    else if (dtype == TSR_U8) FLAGS(uint8_t, (p[k] >= (uint8_t)keep.lower) & (p[k] <= (uint8_t)keep.upper));
    else if (dtype == TSR_U16) FLAGS(uint16_t, tsr_kept_int(keep, p[k]));
    else FLAGS(float, tsr_kept_float(keep, p[k]));
    return bits_of(flag);
}

uint64_t TSR_ISA_NAME(tsr_select_count)(tsr_keep keep, tsr_dtype dtype, const void *data, int64_t begin, int64_t end)
{
    uint64_t found = 0;
    for (int64_t i = begin; i < end; i += 64) found += (uint64_t)__builtin_popcountll(kept_bits(keep, dtype, data, i, end - i));
    return found;
}

/* Indices or values of the set bits to out[at...]. */
static uint64_t emit(const tsr_select_job *job, uint64_t bits, int64_t i, uint64_t at)
{
#if defined(__AVX512F__)
    if (!job->values && job->out_bytes == 4 && __builtin_popcountll(bits) > 8) {
        uint32_t *out = (uint32_t *)job->out;
        const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
        for (int k = 0; k < 4; k++) {
            __mmask16 mask = (__mmask16)(bits >> (16 * k));
            int some = __builtin_popcount(mask);
            __m512i index = _mm512_add_epi32(lanes, _mm512_set1_epi32((int)(uint32_t)(i + 16 * k)));
            _mm512_mask_storeu_epi32(out + at, (__mmask16)((1u << some) - 1u), _mm512_maskz_compress_epi32(mask, index));
            at += (uint64_t)some;
        }
        return at;
    }
#endif
#define EMIT(T, value)                                                                         \
    do {                                                                                       \
        T *out = (T *)job->out;                                                                \
        for (; bits; bits &= bits - 1) {                                                       \
            const int64_t k = i + __builtin_ctzll(bits);                                       \
            out[at++] = (value);                                                               \
        }                                                                                      \
    } while (0)
    if (!job->values && job->out_bytes == 4) EMIT(uint32_t, (uint32_t)k);
    else if (!job->values) EMIT(uint64_t, (uint64_t)k);
    else if (job->out_bytes == 1) EMIT(uint8_t, ((const uint8_t *)job->values)[k]);
    else if (job->out_bytes == 2) EMIT(uint16_t, ((const uint16_t *)job->values)[k]);
    else if (job->out_bytes == 4) EMIT(uint32_t, ((const uint32_t *)job->values)[k]);
    else EMIT(uint64_t, ((const uint64_t *)job->values)[k]);
    return at;
}

void TSR_ISA_NAME(tsr_select_chunk)(const tsr_select_job *job, int64_t begin, int64_t end, uint64_t at)
{
    const uint64_t capacity = (uint64_t)job->capacity;
    for (int64_t i = begin; i < end && at < capacity; i += 64) {
        uint64_t bits = kept_bits(job->keep, job->dtype, job->data, i, end - i);
        if (!bits) continue;
        while ((uint64_t)__builtin_popcountll(bits) > capacity - at) bits &= ~(1ull << (63 - __builtin_clzll(bits)));
        at = emit(job, bits, i, at);
    }
}
