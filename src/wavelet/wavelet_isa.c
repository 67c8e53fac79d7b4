/* wavelet/wavelet_isa.c: compiled once per SIMD variant. The loops stand in rows.h, one text for all element types. */
#include "wavelet/wavelet_isa.h"
#include "wavelet/calm.h"

#include "core/simd.h"

enum { STREAM_PART = 1024 };

/* Stores past the caches. */
static void stream_copy(void *to, const void *from, size_t bytes)
{
    char *q = (char *)to;
    const char *p = (const char *)from;
    size_t head = (size_t)(-(uintptr_t)q & (TSR_WIDE_BYTES - 1));
    if (head > bytes) head = bytes;
    memcpy(q, p, head);
    size_t i = head;
    for (; i + TSR_WIDE_BYTES <= bytes; i += TSR_WIDE_BYTES) tsr_wide_stream(q + i, p + i);
    memcpy(q + i, p + i, bytes - i);
}

/* Steps that stay within 16 bits, a whole vector at a time; the rest of a row is one more vector, partly done already: so it works on a copy. */
#define LOOP16(SIGN, P, LOST)                                                                                              \
    for (int64_t i = 0; i + TSR_WIDE_16 <= n; i += TSR_WIDE_16) {                                                          \
        tsr_wide_i16 a = *(const tsr_wide_i16 *)(const void *)(v0 + i), b = *(const tsr_wide_i16 *)(const void *)(v1 + i); \
        tsr_wide_i16 before = *(const tsr_wide_i16 *)(const void *)(x + i), p = (P), r = before SIGN p;                    \
        (void)b;                                                                                                           \
        bad |= LOST(before, p, r);                                                                                         \
        *(tsr_wide_i16 *)(void *)(x + i) = r;                                                                              \
    }
#define BOTH16(P)                                \
    do {                                         \
        if (s->sign > 0) {                       \
            LOOP16(+, P, TSR_LIFT_LOST_ADD)      \
        } else {                                 \
            LOOP16(-, P, TSR_LIFT_LOST_SUBTRACT) \
        }                                        \
    } while (0)

static int lift_vectors(const tsr_lift_step *s, int16_t *x, const int16_t *v0, const int16_t *v1, int64_t n, uint32_t *lost)
{
    tsr_wide_i16 bad = { 0 };
    if (s->count == 2 && s->shift == 1 && s->rounding == 1) BOTH16(TSR_LIFT_HALF_UP(a, b));
    else if (s->count == 2 && s->shift == 1 && s->rounding == 0) BOTH16(TSR_LIFT_HALF_DOWN(a, b));
    else if (s->count == 2 && s->shift == 2 && s->rounding == 2) BOTH16(TSR_LIFT_QUARTER(a, b));
    else if (s->count == 1 && s->shift == 0 && s->rounding == 0) BOTH16(a);
    else if (s->count == 1 && s->shift == 1 && s->rounding == 1) BOTH16(TSR_LIFT_ONE_UP(a));
    else return 0;
    for (int j = 0; j < TSR_WIDE_16; j++) *lost |= bad[j] < 0;
    return 1;
}

static int i16_lift16(const tsr_lift_step *s, int16_t *x, const int16_t *v0, const int16_t *v1, int64_t n, uint32_t *lost)
{
    if (!s->unit || !(s->symmetric || s->count == 1)) return 0;
    int64_t whole = n / TSR_WIDE_16 * TSR_WIDE_16, rest = n - whole;
    if (!lift_vectors(s, x, v0, v1, whole, lost)) return 0;
    if (rest) {
        int16_t copy[3][TSR_WIDE_16] = { { 0 } };
        memcpy(copy[0], x + whole, (size_t)rest * sizeof *x);
        memcpy(copy[1], v0 + whole, (size_t)rest * sizeof *x);
        memcpy(copy[2], v1 + whole, (size_t)rest * sizeof *x);
        lift_vectors(s, copy[0], copy[1], copy[2], TSR_WIDE_16, lost);
        memcpy(x + whole, copy[0], (size_t)rest * sizeof *x);
    }
    return 1;
}

/* ---- weighted sums within 16 bits ---------------------------------------------------------------------------------------------------------- */

/* Symmetric steps of 2, 4 and 8 taps: products of 16 bits are added by pairs to sums of 32, which is exact; what the step adds is packed again. Where it does
 * not fit (and only there) the part is done one by one. Lanes go apart and together in the same order. */
#if defined(__x86_64__)
#if defined(TSR_ISA_IS_avx512)
typedef __m512i sums;
#define SUMS(f) _mm512_##f
#define SUMS_LOAD(p) _mm512_loadu_si512((const void *)(p))
#define SUMS_STORE(p, v) _mm512_storeu_si512((void *)(p), v)
#define SUMS_XOR _mm512_xor_si512
#define SUMS_AND _mm512_and_si512
#define SUMS_OR _mm512_or_si512
static inline int sums_beyond(sums p)
{
    return (_mm512_cmpeq_epi16_mask(p, _mm512_set1_epi16(INT16_MAX)) | _mm512_cmpeq_epi16_mask(p, _mm512_set1_epi16(INT16_MIN))) != 0;
}
static inline int sums_marked(sums v) { return _mm512_movepi16_mask(v) != 0; }
#elif defined(TSR_ISA_IS_avx2)
typedef __m256i sums;
#define SUMS(f) _mm256_##f
#define SUMS_LOAD(p) _mm256_loadu_si256((const __m256i *)(const void *)(p))
#define SUMS_STORE(p, v) _mm256_storeu_si256((__m256i *)(void *)(p), v)
#define SUMS_XOR _mm256_xor_si256
#define SUMS_AND _mm256_and_si256
#define SUMS_OR _mm256_or_si256
static inline int sums_beyond(sums p)
{
    return _mm256_movemask_epi8(
               _mm256_or_si256(_mm256_cmpeq_epi16(p, _mm256_set1_epi16(INT16_MAX)), _mm256_cmpeq_epi16(p, _mm256_set1_epi16(INT16_MIN)))) != 0;
}
static inline int sums_marked(sums v) { return ((uint32_t)_mm256_movemask_epi8(v) & 0xaaaaaaaau) != 0; }
#else
typedef __m128i sums;
#define SUMS(f) _mm_##f
#define SUMS_LOAD(p) _mm_loadu_si128((const __m128i *)(const void *)(p))
#define SUMS_STORE(p, v) _mm_storeu_si128((__m128i *)(void *)(p), v)
#define SUMS_XOR _mm_xor_si128
#define SUMS_AND _mm_and_si128
#define SUMS_OR _mm_or_si128
static inline int sums_beyond(sums p)
{
    return _mm_movemask_epi8(_mm_or_si128(_mm_cmpeq_epi16(p, _mm_set1_epi16(INT16_MAX)), _mm_cmpeq_epi16(p, _mm_set1_epi16(INT16_MIN)))) != 0;
}
static inline int sums_marked(sums v) { return (_mm_movemask_epi8(v) & 0xaaaa) != 0; }
#endif

static uint32_t sums_one(const tsr_lift_step *s, int16_t *x, const int16_t *const *v, int64_t i)
{
    int32_t sum = 0;
    for (int32_t k = 0; k < s->count; k++) sum += s->tap[k] * v[k][i];
    const int32_t p = TSR_LIFT_ROUND(sum, s->rounding, s->shift), r = s->sign < 0 ? x[i] - p : x[i] + p;
    x[i] = (int16_t)r;
    return TSR_LIFT_LOST(r);
}

static inline __attribute__((always_inline)) void sums_of(const tsr_lift_step *s, int16_t *x, const int16_t *const *v, int64_t n, int32_t half,
                                                          int subtract, uint32_t *lost)
{
    const sums rounding = SUMS(set1_epi32)(s->rounding);
    const __m128i shift = _mm_cvtsi32_si128(s->shift);
    sums bad = SUMS(set1_epi32)(0);
    int64_t i = 0;
    for (; i + TSR_WIDE_16 <= n; i += TSR_WIDE_16) {
        sums low = rounding, high = rounding;
        for (int32_t k = 0; k < half; k++) {
            const sums a = SUMS_LOAD(v[half - 1 - k] + i), b = SUMS_LOAD(v[half + k] + i), t = SUMS(set1_epi16)((int16_t)s->tap[half + k]);
            low = SUMS(add_epi32)(low, SUMS(madd_epi16)(SUMS(unpacklo_epi16)(a, b), t));
            high = SUMS(add_epi32)(high, SUMS(madd_epi16)(SUMS(unpackhi_epi16)(a, b), t));
        }
        const sums p = SUMS(packs_epi32)(SUMS(sra_epi32)(low, shift), SUMS(sra_epi32)(high, shift));
        if (__builtin_expect(sums_beyond(p), 0)) {
            for (int64_t k = i; k < i + TSR_WIDE_16; k++) *lost |= sums_one(s, x, v, k);
            continue;
        }
        const sums before = SUMS_LOAD(x + i), r = subtract ? SUMS(sub_epi16)(before, p) : SUMS(add_epi16)(before, p);
        bad = SUMS_OR(bad, subtract ? SUMS_AND(SUMS_XOR(before, p), SUMS_XOR(before, r)) : SUMS_AND(SUMS_XOR(before, r), SUMS_XOR(p, r)));
        SUMS_STORE(x + i, r);
    }
    for (; i < n; i++) *lost |= sums_one(s, x, v, i);
    *lost |= (uint32_t)sums_marked(bad);
}

static int i16_lift_sums(const tsr_lift_step *s, int16_t *x, const void *const *neighbours, int64_t n, uint32_t *lost)
{
    const int16_t *v[TSR_WAVELET_TAPS];
    int64_t all = 0;
    if (!s->symmetric || (s->count != 2 && s->count != 4 && s->count != 8)) return 0;
    for (int32_t k = 0; k < s->count; k++) {
        if (s->tap[k] < INT16_MIN || s->tap[k] > INT16_MAX) return 0;
        all += s->tap[k] < 0 ? -s->tap[k] : s->tap[k];
        v[k] = (const int16_t *)neighbours[k];
    }
    if (all * 32768 + s->rounding > INT32_MAX || s->rounding < 0) return 0;
    switch (s->count * 2 + (s->sign < 0)) {
    case 4: sums_of(s, x, v, n, 1, 0, lost); break;
    case 5: sums_of(s, x, v, n, 1, 1, lost); break;
    case 8: sums_of(s, x, v, n, 2, 0, lost); break;
    case 9: sums_of(s, x, v, n, 2, 1, lost); break;
    case 16: sums_of(s, x, v, n, 4, 0, lost); break;
    default: sums_of(s, x, v, n, 4, 1, lost); break;
    }
    return 1;
}
#else
static int i16_lift_sums(const tsr_lift_step *s, int16_t *x, const void *const *neighbours, int64_t n, uint32_t *lost)
{
    (void)s, (void)x, (void)neighbours, (void)n, (void)lost;
    return 0;
}
#endif

/* ---- both steps of a 5/3 at once ----------------------------------------------------------------------------------------------------------- */

#define EVENS_4 0, 2, 4, 6
#define EVENS_8 EVENS_4, 8, 10, 12, 14
#define EVENS_16 EVENS_8, 16, 18, 20, 22, 24, 26, 28, 30
#define EVENS_32 EVENS_16, 32, 34, 36, 38, 40, 42, 44, 46, 48, 50, 52, 54, 56, 58, 60, 62
#define ODDS_4 1, 3, 5, 7
#define ODDS_8 ODDS_4, 9, 11, 13, 15
#define ODDS_16 ODDS_8, 17, 19, 21, 23, 25, 27, 29, 31
#define ODDS_32 ODDS_16, 33, 35, 37, 39, 41, 43, 45, 47, 49, 51, 53, 55, 57, 59, 61, 63
#define NEXT_4 1, 2, 3, 4
#define NEXT_8 NEXT_4, 5, 6, 7, 8
#define NEXT_16 NEXT_8, 9, 10, 11, 12, 13, 14, 15, 16
#define NEXT_32 NEXT_16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32
#define PREVIOUS_4 3, 4, 5, 6
#define PREVIOUS_8 7, 8, 9, 10, 11, 12, 13, 14
#define PREVIOUS_16 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30
#define PREVIOUS_32 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62
#define ZIP(from, lanes) (from), (from) + (lanes)
#define ZIP_2(from, lanes) ZIP(from, lanes), ZIP((from) + 1, lanes)
#define ZIP_4(from, lanes) ZIP_2(from, lanes), ZIP_2((from) + 2, lanes)
#define ZIP_8(from, lanes) ZIP_4(from, lanes), ZIP_4((from) + 4, lanes)
#define ZIP_16(from, lanes) ZIP_8(from, lanes), ZIP_8((from) + 8, lanes)

#define TSR_PAIRS_INLINE static inline __attribute__((always_inline))

/* 16 bits: the half is taken away and the quarter added, in this order (forward) or the other; up: halves are rounded up. */
typedef struct two16 {
    int forward, up;
    uint16_t factor, half, outside; /* of raising: it fits where value + half lies within [0, 2 half) */
} two16;

static inline two16 two16_of(int forward, int up, int32_t shift)
{
    const uint32_t half = 32768u >> shift;
    return (two16){ forward, up, (uint16_t)(1u << shift), (uint16_t)half, (uint16_t) ~(2 * half - 1) };
}
static inline tsr_wide_i16 two16_part(const two16 two, int half, tsr_wide_i16 a, tsr_wide_i16 b)
{
    if (!half) return TSR_LIFT_QUARTER(a, b);
    return two.up ? TSR_LIFT_HALF_UP(a, b) : TSR_LIFT_HALF_DOWN(a, b);
}
TSR_PAIRS_INLINE tsr_wide_i16 pair16_first(const two16 two, tsr_wide_i16 x, tsr_wide_i16 a, tsr_wide_i16 b, tsr_wide_i16 *bad)
{
    const tsr_wide_i16 p = two16_part(two, two.forward, a, b), r = x - p;
    *bad |= TSR_LIFT_LOST_SUBTRACT(x, p, r);
    return r;
}
TSR_PAIRS_INLINE tsr_wide_i16 pair16_second(const two16 two, tsr_wide_i16 x, tsr_wide_i16 a, tsr_wide_i16 b, tsr_wide_i16 *bad)
{
    const tsr_wide_i16 p = two16_part(two, !two.forward, a, b), r = x + p;
    *bad |= TSR_LIFT_LOST_ADD(x, p, r);
    return r;
}
TSR_PAIRS_INLINE tsr_wide_i16 pair16_raised(const two16 two, tsr_wide_i16 v, tsr_wide_i16 *over)
{
    const tsr_wide_u16 u = (tsr_wide_u16)v;
    *over |= (tsr_wide_i16)((u + two.half) & two.outside);
    return (tsr_wide_i16)(u * two.factor);
}
static inline uint32_t pair16_marked(tsr_wide_i16 bad, int lanes) /* by its sign */
{
#if defined(TSR_ISA_IS_avx512)
    const uint64_t marks = _mm512_movepi16_mask((__m512i)bad);
    return (marks & ((1ull << lanes) - 1)) != 0;
#elif defined(TSR_ISA_IS_avx2)
    const uint64_t marks = (uint32_t)_mm256_movemask_epi8((__m256i)bad) & 0xaaaaaaaau;
    return (marks & ((1ull << 2 * lanes) - 1)) != 0;
#else
    int16_t all = 0;
    for (int k = 0; k < lanes; k++) all |= bad[k];
    return all < 0;
#endif
}
TSR_PAIRS_INLINE tsr_wide_i16 pair16_lowered(tsr_wide_i16 v, int32_t shift)
{
    const int16_t bits = (int16_t)shift;
    return shift ? (tsr_wide_i16)TSR_LIFT_LOWER16(v, bits) : v;
}
static inline uint32_t pair16_too_large(tsr_wide_i16 over) { return pair16_marked(over != 0, TSR_WIDE_16); }

typedef struct two32 {
    float first, second;
} two32;
TSR_PAIRS_INLINE tsr_wide_f32_at pair32_first(const two32 two, tsr_wide_f32_at x, tsr_wide_f32_at a, tsr_wide_f32_at b, tsr_wide_f32_at *bad)
{
    (void)bad;
    return x + two.first * (a + b);
}
TSR_PAIRS_INLINE tsr_wide_f32_at pair32_second(const two32 two, tsr_wide_f32_at x, tsr_wide_f32_at a, tsr_wide_f32_at b, tsr_wide_f32_at *bad)
{
    (void)bad;
    return x + two.second * (a + b);
}
TSR_PAIRS_INLINE tsr_wide_f32_at pair32_raised(const two32 two, tsr_wide_f32_at v, tsr_wide_f32_at *over)
{
    (void)two;
    (void)over;
    return v;
}
static inline uint32_t pair32_marked(tsr_wide_f32_at bad, int lanes)
{
    (void)bad;
    (void)lanes;
    return 0;
}
TSR_PAIRS_INLINE tsr_wide_f32_at pair32_lowered(tsr_wide_f32_at v, int32_t shift)
{
    (void)shift;
    return v;
}
static inline uint32_t pair32_too_large(tsr_wide_f32_at over) { return pair32_marked(over, 0); }

#define NAME(f) pair16_##f
#define T int16_t
#define V tsr_wide_i16
#define LANES TSR_WIDE_16
#define TWO two16
#define CALM_PART pair16_calm
#define BEFORE_BOTH "wavelet/averages.h"
#if defined(TSR_ISA_IS_avx512)
#define EVENS EVENS_32
#define CALM_EVENS EVENS_32
#define CALM_ODDS ODDS_32
#define CALM_ZIP_LOW ZIP_16(0, 32)
#define CALM_ZIP_HIGH ZIP_16(16, 32)
#define ODDS ODDS_32
#define NEXT NEXT_32
#define PREVIOUS PREVIOUS_32
#define ZIP_LOW ZIP_16(0, 32)
#define ZIP_HIGH ZIP_16(16, 32)
#elif defined(TSR_ISA_IS_avx2)
#define EVENS EVENS_16
#define CALM_EVENS EVENS_16
#define CALM_ODDS ODDS_16
#define CALM_ZIP_LOW ZIP_8(0, 16)
#define CALM_ZIP_HIGH ZIP_8(8, 16)
#define ODDS ODDS_16
#define NEXT NEXT_16
#define PREVIOUS PREVIOUS_16
#define ZIP_LOW ZIP_8(0, 16)
#define ZIP_HIGH ZIP_8(8, 16)
#else
#define EVENS EVENS_8
#define CALM_EVENS EVENS_8
#define CALM_ODDS ODDS_8
#define CALM_ZIP_LOW ZIP_4(0, 8)
#define CALM_ZIP_HIGH ZIP_4(4, 8)
#define ODDS ODDS_8
#define NEXT NEXT_8
#define PREVIOUS PREVIOUS_8
#define ZIP_LOW ZIP_4(0, 8)
#define ZIP_HIGH ZIP_4(4, 8)
#endif
#include "wavelet/pairs.h"

#define NAME(f) pair32_##f
#define T float
#define V tsr_wide_f32_at
#define LANES (TSR_WIDE_BYTES / 4)
#define TWO two32
#define CALM_PART(two, rows, line, next, whole) 0
#if defined(TSR_ISA_IS_avx512)
#define EVENS EVENS_16
#define ODDS ODDS_16
#define NEXT NEXT_16
#define PREVIOUS PREVIOUS_16
#define ZIP_LOW ZIP_8(0, 16)
#define ZIP_HIGH ZIP_8(8, 16)
#elif defined(TSR_ISA_IS_avx2)
#define EVENS EVENS_8
#define ODDS ODDS_8
#define NEXT NEXT_8
#define PREVIOUS PREVIOUS_8
#define ZIP_LOW ZIP_4(0, 8)
#define ZIP_HIGH ZIP_4(4, 8)
#else
#define EVENS EVENS_4
#define ODDS ODDS_4
#define NEXT NEXT_4
#define PREVIOUS PREVIOUS_4
#define ZIP_LOW ZIP_2(0, 4)
#define ZIP_HIGH ZIP_2(2, 4)
#endif
#include "wavelet/pairs.h"

/* Each order of the steps and each rounding is code of its own. */
#define TWO16(CALL)                                     \
    do {                                                \
        const int forward = f->step[0].parity == 1;     \
        const int up = f->step[!forward].rounding == 1; \
        if (forward && up) CALL(two16_of(1, 1, shift)); \
        else if (forward) CALL(two16_of(1, 0, shift));  \
        else if (up) CALL(two16_of(0, 1, shift));       \
        else CALL(two16_of(0, 0, shift));               \
    } while (0)

static void i16_pair(const tsr_lift_filter *f, const void *before, const void *behind, void *x, const void *after, int64_t n, void *out, void *copy,
                     int stream, uint32_t *lost)
{
    const int32_t shift = 0;
#define CALL(two)                                                                                                                                   \
    pair16_pair_of(two, (const int16_t *)before, (const int16_t *)behind, (int16_t *)x, (const int16_t *)after, n, (int16_t *)out, (int16_t *)copy, \
                   stream, lost)
    TWO16(CALL);
#undef CALL
}
/* Rows that are split go forward. */
#define FORWARD16(CALL)                                            \
    do {                                                           \
        if (f->step[0].rounding == 1) CALL(two16_of(1, 1, shift)); \
        else CALL(two16_of(1, 0, shift));                          \
    } while (0)

static void i16_split_pair(const tsr_lift_filter *f, const void *in, int64_t n, int32_t shift, void *low, void *high, uint32_t *lost)
{
#define CALL(two) pair16_split_pair_of(two, (const int16_t *)in, n, (int16_t *)low, (int16_t *)high, lost)
    FORWARD16(CALL);
#undef CALL
}
static void i16_split_both(const tsr_lift_filter *f, const tsr_wavelet_two_rows *rows, uint32_t *lost)
{
    const int32_t shift = rows->shift;
#define CALL(two) pair16_split_both_of(two, rows, lost)
    FORWARD16(CALL);
#undef CALL
}
static void i16_merge_pair(const tsr_lift_filter *f, const void *low, const void *high, int64_t n, int32_t shift, void *out, int stream,
                           uint32_t *lost)
{
#define CALL(two, bits) pair16_merge_pair_of(two, (const int16_t *)low, (const int16_t *)high, n, bits, (int16_t *)out, stream, lost)
    if (f->step[1].rounding == 1 && shift == 1) CALL(two16_of(0, 1, 0), 1);
    else if (f->step[1].rounding == 1) CALL(two16_of(0, 1, 0), shift);
    else CALL(two16_of(0, 0, 0), shift);
#undef CALL
}
static void f32_merge_pair(const tsr_lift_filter *f, const void *low, const void *high, int64_t n, int32_t shift, void *out, int stream,
                           uint32_t *lost)
{
    const two32 two = { f->step[0].real32[1], f->step[1].real32[1] };
    pair32_merge_pair_of(two, (const float *)low, (const float *)high, n, shift, (float *)out, stream, lost);
}
static void f32_pair(const tsr_lift_filter *f, const void *before, const void *behind, void *x, const void *after, int64_t n, void *out, void *copy,
                     int stream, uint32_t *lost)
{
    const two32 two = { f->step[0].real32[1], f->step[1].real32[1] };
    pair32_pair_of(two, (const float *)before, (const float *)behind, (float *)x, (const float *)after, n, (float *)out, (float *)copy, stream, lost);
}
static void f32_split_pair(const tsr_lift_filter *f, const void *in, int64_t n, int32_t shift, void *low, void *high, uint32_t *lost)
{
    const two32 two = { f->step[0].real32[1], f->step[1].real32[1] };
    (void)shift;
    pair32_split_pair_of(two, (const float *)in, n, (float *)low, (float *)high, lost);
}

static void f32_split_both(const tsr_lift_filter *f, const tsr_wavelet_two_rows *rows, uint32_t *lost)
{
    const two32 two = { f->step[0].real32[1], f->step[1].real32[1] };
    pair32_split_both_of(two, rows, lost);
}

#include "wavelet/calm_rows.h"

#define NAME(f) i16_##f
#define CALM_ROWS i16_within, i16_split_calm, i16_lift_calm, i16_calm_loops
#define PAIRS i16_pair, i16_split_pair, i16_merge_pair, i16_split_both
#define RULE tsr_lift_rule_i32
#define T int16_t
#define R int16_t
#define S int32_t
#define INTEGER 1
#define NARROW 1
#define UNSIGNED uint16_t
#include "wavelet/rows.h"

#define WIDE
#define NAME(f) i16_wide_##f
#define RULE tsr_lift_rule_i32
#define T int16_t
#define R int32_t
#define S int32_t
#define INTEGER 1
#define NARROW 1
#define UNSIGNED uint32_t
#include "wavelet/rows.h"
#undef WIDE

#include "wavelet/calm_rows32.h"

#define NAME(f) i32_##f
#define CALM_ROWS i32_within, i32_split_calm, i32_lift_calm, NULL
#define RULE tsr_lift_rule_i64
#define T int32_t
#define R int32_t
#define S int64_t
#define INTEGER 1
#define NARROW 0
#define UNSIGNED uint32_t
#include "wavelet/rows.h"

#include "wavelet/calm_narrow.h"

#define NAME(f) f32_##f
#define PAIRS f32_pair, f32_split_pair, f32_merge_pair, f32_split_both
#define RULE tsr_lift_rule_f32
#define T float
#define R float
#define S float
#define INTEGER 0
#define NARROW 0
#include "wavelet/rows.h"

#define DOUBLE
#define NAME(f) f64_##f
#define RULE tsr_lift_rule_f64
#define T double
#define R double
#define S double
#define INTEGER 0
#define NARROW 0
#include "wavelet/rows.h"
#undef DOUBLE

const tsr_wavelet_rows *TSR_ISA_NAME(tsr_wavelet_rows_of)(tsr_wavelet_kind kind)
{
    static const tsr_wavelet_rows *const all[] = { &i16_rows, &i16_wide_rows, &i32_rows, &i32_narrow_rows, &f32_rows, &f64_rows };
    return all[kind];
}
