#include "surface/surface_isa.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

/* ---- sides of 32 samples ------------------------------------------------------------------------------------------------------------ */

#define WORD_OF(name, type, field, side, flag)                                                      \
    static uint32_t some_##name(const type *v, int32_t n, const tsr_side *s)                        \
    {                                                                                               \
        uint32_t word = 0;                                                                          \
        for (int32_t k = 0; k < n; k++) word |= (uint32_t)side(v[k], (type)s->field, s->flag) << k; \
        return word;                                                                                \
    }
WORD_OF(u8, uint8_t, u, TSR_SIDE_INTEGER, invert)
WORD_OF(i8, int8_t, i, TSR_SIDE_INTEGER, invert)
WORD_OF(u16, uint16_t, u, TSR_SIDE_INTEGER, invert)
WORD_OF(i16, int16_t, i, TSR_SIDE_INTEGER, invert)
WORD_OF(u32, uint32_t, u, TSR_SIDE_INTEGER, invert)
WORD_OF(i32, int32_t, i, TSR_SIDE_INTEGER, invert)
WORD_OF(u64, uint64_t, u, TSR_SIDE_INTEGER, invert)
WORD_OF(i64, int64_t, i, TSR_SIDE_INTEGER, invert)
#if defined(__AVX512BW__)
static uint32_t some_f32(const float *v, int32_t n, const tsr_side *s)
{
    const __mmask16 low = (__mmask16)tsr_bits_low(tsr_minl(n, 16)), high = (__mmask16)tsr_bits_low(n - 16);
    const __m512 t = _mm512_set1_ps(s->f), a = _mm512_maskz_loadu_ps(low, v), b = _mm512_maskz_loadu_ps(high, high ? v + 16 : v);
    if (s->below) return _mm512_mask_cmp_ps_mask(low, a, t, _CMP_LT_OQ) | (uint32_t)_mm512_mask_cmp_ps_mask(high, b, t, _CMP_LT_OQ) << 16;
    return _mm512_mask_cmp_ps_mask(low, a, t, _CMP_GE_OQ) | (uint32_t)_mm512_mask_cmp_ps_mask(high, b, t, _CMP_GE_OQ) << 16;
}
#else
WORD_OF(f32, float, f, TSR_SIDE_REAL, below)
#endif
WORD_OF(f64, double, d, TSR_SIDE_REAL, below)

#if defined(__AVX2__)
#define LOAD(v, k) _mm256_loadu_si256((const __m256i *)(const void *)(v) + (k))
#define NOT_BELOW(bits, sign, k) _mm256_cmpeq_epi##bits(_mm256_max_ep##sign##bits(LOAD(v, k), t), LOAD(v, k))
#define WIDE_OF(name, type, field, setting, body)                 \
    static uint32_t full_##name(const type *v, const tsr_side *s) \
    {                                                             \
        const __m256i t = setting;                                \
        uint32_t word = body;                                     \
        return s->invert ? ~word : word;                          \
    }
#define BITS_OF_16(a, b) (uint32_t) _mm256_movemask_epi8(_mm256_permute4x64_epi64(_mm256_packs_epi16(a, b), 0xd8))
#define BITS_OF_32(a) (uint32_t) _mm256_movemask_ps(_mm256_castsi256_ps(a))
WIDE_OF(u8, uint8_t, u, _mm256_set1_epi8((char)s->u), (uint32_t)_mm256_movemask_epi8(NOT_BELOW(8, u, 0)))
WIDE_OF(i8, int8_t, i, _mm256_set1_epi8((char)s->i), (uint32_t)_mm256_movemask_epi8(NOT_BELOW(8, i, 0)))
WIDE_OF(u16, uint16_t, u, _mm256_set1_epi16((short)s->u), BITS_OF_16(NOT_BELOW(16, u, 0), NOT_BELOW(16, u, 1)))
WIDE_OF(i16, int16_t, i, _mm256_set1_epi16((short)s->i), BITS_OF_16(NOT_BELOW(16, i, 0), NOT_BELOW(16, i, 1)))
WIDE_OF(u32, uint32_t, u, _mm256_set1_epi32((int)s->u),
        BITS_OF_32(NOT_BELOW(32, u, 0)) | BITS_OF_32(NOT_BELOW(32, u, 1)) << 8 | BITS_OF_32(NOT_BELOW(32, u, 2)) << 16 |
            BITS_OF_32(NOT_BELOW(32, u, 3)) << 24)
WIDE_OF(i32, int32_t, i, _mm256_set1_epi32((int)s->i),
        BITS_OF_32(NOT_BELOW(32, i, 0)) | BITS_OF_32(NOT_BELOW(32, i, 1)) << 8 | BITS_OF_32(NOT_BELOW(32, i, 2)) << 16 |
            BITS_OF_32(NOT_BELOW(32, i, 3)) << 24)
static uint32_t full_u64(const uint64_t *v, const tsr_side *s) { return some_u64(v, 32, s); }
static uint32_t full_i64(const int64_t *v, const tsr_side *s) { return some_i64(v, 32, s); }
#if defined(__AVX512BW__)
static uint32_t full_f32(const float *v, const tsr_side *s)
{
    const __m512 t = _mm512_set1_ps(s->f), a = _mm512_loadu_ps(v), b = _mm512_loadu_ps(v + 16);
    if (s->below) return _mm512_cmp_ps_mask(a, t, _CMP_LT_OQ) | (uint32_t)_mm512_cmp_ps_mask(b, t, _CMP_LT_OQ) << 16;
    return _mm512_cmp_ps_mask(a, t, _CMP_GE_OQ) | (uint32_t)_mm512_cmp_ps_mask(b, t, _CMP_GE_OQ) << 16;
}
#else
static uint32_t full_f32(const float *v, const tsr_side *s)
{
    const __m256 t = _mm256_set1_ps(s->f);
    uint32_t word = 0;
    if (s->below)
        for (int k = 0; k < 4; k++) word |= (uint32_t)_mm256_movemask_ps(_mm256_cmp_ps(_mm256_loadu_ps(v + 8 * k), t, _CMP_LT_OQ)) << 8 * k;
    else
        for (int k = 0; k < 4; k++) word |= (uint32_t)_mm256_movemask_ps(_mm256_cmp_ps(_mm256_loadu_ps(v + 8 * k), t, _CMP_GE_OQ)) << 8 * k;
    return word;
}
#endif
static uint32_t full_f64(const double *v, const tsr_side *s)
{
    const __m256d t = _mm256_set1_pd(s->d);
    uint32_t word = 0;
    if (s->below)
        for (int k = 0; k < 8; k++) word |= (uint32_t)_mm256_movemask_pd(_mm256_cmp_pd(_mm256_loadu_pd(v + 4 * k), t, _CMP_LT_OQ)) << 4 * k;
    else
        for (int k = 0; k < 8; k++) word |= (uint32_t)_mm256_movemask_pd(_mm256_cmp_pd(_mm256_loadu_pd(v + 4 * k), t, _CMP_GE_OQ)) << 4 * k;
    return word;
}
#else
#define FULL_OF(name, type) \
    static uint32_t full_##name(const type *v, const tsr_side *s) { return some_##name(v, 32, s); }
FULL_OF(u8, uint8_t)
FULL_OF(i8, int8_t)
FULL_OF(u16, uint16_t)
FULL_OF(i16, int16_t)
FULL_OF(u32, uint32_t)
FULL_OF(i32, int32_t)
FULL_OF(u64, uint64_t)
FULL_OF(i64, int64_t)
FULL_OF(f32, float)
FULL_OF(f64, double)
#endif

/* Is one of up to 32 samples not a number? Their registers are those of the comparison. */
#define NEVER_OF(name, type)                                    \
    static inline uint32_t odd_##name(const type *v, int32_t n) \
    {                                                           \
        (void)v;                                                \
        (void)n;                                                \
        return 0;                                               \
    }
NEVER_OF(u8, uint8_t)
NEVER_OF(i8, int8_t)
NEVER_OF(u16, uint16_t)
NEVER_OF(i16, int16_t)
NEVER_OF(u32, uint32_t)
NEVER_OF(i32, int32_t)
NEVER_OF(u64, uint64_t)
NEVER_OF(i64, int64_t)
static inline uint32_t odd_f32(const float *v, int32_t n)
{
#if defined(__AVX512BW__)
    const __mmask16 low = (__mmask16)tsr_bits_low(tsr_minl(n, 16)), high = (__mmask16)tsr_bits_low(n - 16);
    return _mm512_cmp_ps_mask(_mm512_maskz_loadu_ps(low, v), _mm512_maskz_loadu_ps(high, high ? v + 16 : v), _CMP_UNORD_Q);
#else
    uint32_t found = 0;
    for (int32_t k = 0; k < n; k++) found |= v[k] != v[k];
    return found;
#endif
}
static inline uint32_t odd_f64(const double *v, int32_t n)
{
    uint32_t found = 0;
    for (int32_t k = 0; k < n; k++) found |= v[k] != v[k];
    return found;
}

enum { AHEAD = 2048 }; /* bytes: the processor's own prefetch stops at the end of a page */

/* One padded row of n samples: bit b of the row is sample b - pad. Returns != 0 if some may not be numbers. */
#define ROW_OF(name, type)                                                                                         \
    static uint32_t row_##name(const tsr_surface_grid *g, int64_t at, uint32_t *to)                                \
    {                                                                                                              \
        const type *v = (const type *)g->data + at;                                                                \
        const tsr_side side = g->side;                                                                             \
        uint32_t odd = 0;                                                                                          \
        int64_t n = g->stored[0], x = -(int64_t)g->pad;                                                            \
        for (int64_t w = 0; w < g->row_words; w++, x += 32) {                                                      \
            int32_t skip = x < 0 ? (int32_t)-x : 0;                                                                \
            for (size_t k = 0; k < 32 * sizeof *v; k += 64) __builtin_prefetch((const char *)(v + x) + AHEAD + k); \
            if (!skip && x + 32 <= n) {                                                                            \
                to[w] = full_##name(v + x, &side);                                                                 \
                odd |= odd_##name(v + x, 32);                                                                      \
            } else if (x >= n) to[w] = 0;                                                                          \
            else {                                                                                                 \
                const int32_t some = (int32_t)tsr_minl(32 - skip, n - x - skip);                                   \
                to[w] = some_##name(v + x + skip, some, &side) << skip;                                            \
                odd |= odd_##name(v + x + skip, some);                                                             \
            }                                                                                                      \
        }                                                                                                          \
        return odd;                                                                                                \
    }
ROW_OF(u8, uint8_t)
ROW_OF(i8, int8_t)
ROW_OF(u16, uint16_t)
ROW_OF(i16, int16_t)
ROW_OF(u32, uint32_t)
ROW_OF(i32, int32_t)
ROW_OF(u64, uint64_t)
ROW_OF(i64, int64_t)
ROW_OF(f32, float)
ROW_OF(f64, double)

/* NaN samples of a row that was just read. */
static int64_t row_not_a_number(const tsr_surface_grid *g, int64_t at)
{
    int64_t n = g->stored[0], count = 0;
    if (g->dtype == TSR_F32) {
        const float *v = (const float *)g->data + at;
        int32_t found = 0;
        for (int64_t i = 0; i < n; i++) found |= v[i] != v[i];
        for (int64_t i = 0; found && i < n; i++) count += v[i] != v[i];
    } else if (g->dtype == TSR_F64) {
        const double *v = (const double *)g->data + at;
        for (int64_t i = 0; i < n; i++) count += v[i] != v[i];
    }
    return count;
}

int64_t TSR_ISA_NAME(tsr_surface_rows)(const tsr_surface_grid *g, int64_t begin, int64_t end)
{
    int64_t not_a_number = 0;
    for (int64_t r = begin; r < end; r++) {
        int64_t z = r / g->size[1], y = r - z * g->size[1] - g->pad;
        uint32_t *to = g->bits + r * g->row_words;
        z -= g->pad;
        if (y < 0 || z < 0 || y >= g->stored[1] || z >= g->stored[2]) {
            memset(to, 0, (size_t)g->row_words * sizeof *to);
            continue;
        }
        int64_t at = (z * g->stored[1] + y) * g->stored[0];
        uint32_t odd = 0;
        switch (g->dtype) {
        case TSR_U8: odd = row_u8(g, at, to); break;
        case TSR_I8: odd = row_i8(g, at, to); break;
        case TSR_U16: odd = row_u16(g, at, to); break;
        case TSR_I16: odd = row_i16(g, at, to); break;
        case TSR_U32: odd = row_u32(g, at, to); break;
        case TSR_I32: odd = row_i32(g, at, to); break;
        case TSR_U64: odd = row_u64(g, at, to); break;
        case TSR_I64: odd = row_i64(g, at, to); break;
        case TSR_F32: odd = row_f32(g, at, to); break;
        default: odd = row_f64(g, at, to); break;
        }
        if (odd) not_a_number += row_not_a_number(g, at);
    }
    return not_a_number;
}

int64_t TSR_ISA_NAME(tsr_surface_tile_rows)(const tsr_surface_grid *g, int64_t begin, int64_t end)
{
    const int32_t k = g->log2_edge, edge = 1 << k, rows = 32 >> k; /* words of 32 samples that lie together */
    int64_t not_a_number = 0;
    for (int64_t word = begin; word < end; word += rows) {
        const int64_t id = g->by_id ? word >> 2 * k : (int64_t)g->ids[word >> 2 * k];
        const float *v = g->phi + (((id << 2 * k) | (word & (edge * edge - 1))) << k);
        const uint32_t sides = full_f32(v, &g->side);
        for (int32_t r = 0; r < rows; r++) g->bits[word + r] = sides >> (r << k) & (uint32_t)tsr_bits_low(edge);
        if (odd_f32(v, 32))
            for (int32_t i = 0; i < 32; i++) not_a_number += v[i] != v[i];
    }
    return not_a_number;
}
