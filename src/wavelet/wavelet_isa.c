/* wavelet/wavelet_isa.c: compiled once per SIMD variant. The loops stand in rows.h, one text for all element types. */
#include "wavelet/wavelet_isa.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#if defined(TSR_ISA_IS_avx512)
enum { WIDE_BYTES = 64 };
#elif defined(TSR_ISA_IS_avx2)
enum { WIDE_BYTES = 32 };
#else
enum { WIDE_BYTES = 16 };
#endif
typedef int16_t wide16 __attribute__((vector_size(WIDE_BYTES), aligned(2), may_alias));
enum { LANES16 = WIDE_BYTES / 2, STREAM_PART = 1024 };

/* Stores past the caches. */
static void stream_copy(void *to, const void *from, size_t bytes)
{
    char *q = (char *)to;
    const char *p = (const char *)from;
#if defined(__x86_64__)
    size_t head = (size_t)(-(uintptr_t)q & (WIDE_BYTES - 1));
    if (head > bytes) head = bytes;
    memcpy(q, p, head);
    size_t i = head;
    for (; i + WIDE_BYTES <= bytes; i += WIDE_BYTES)
#if defined(TSR_ISA_IS_avx512)
        _mm512_stream_si512((void *)(q + i), _mm512_loadu_si512((const void *)(p + i)));
#elif defined(TSR_ISA_IS_avx2)
        _mm256_stream_si256((__m256i *)(void *)(q + i), _mm256_loadu_si256((const __m256i *)(const void *)(p + i)));
#else
        _mm_stream_si128((__m128i *)(void *)(q + i), _mm_loadu_si128((const __m128i *)(const void *)(p + i)));
#endif
    memcpy(q + i, p + i, bytes - i);
#else
    memcpy(q, p, bytes);
#endif
}
static void stream_drain(void)
{
#if defined(__x86_64__)
    _mm_sfence();
#endif
}

/* Steps that stay within 16 bits, a whole vector at a time; the rest of a row is one more vector, partly done already: so it works on a copy. */
#define LOOP16(SIGN, P, LOST)                                                                            \
    for (int64_t i = 0; i + LANES16 <= n; i += LANES16) {                                                \
        wide16 a = *(const wide16 *)(const void *)(v0 + i), b = *(const wide16 *)(const void *)(v1 + i); \
        wide16 before = *(const wide16 *)(const void *)(x + i), p = (P), r = before SIGN p;              \
        (void)b;                                                                                         \
        bad |= LOST(before, p, r);                                                                       \
        *(wide16 *)(void *)(x + i) = r;                                                                  \
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
    wide16 bad = { 0 };
    if (s->count == 2 && s->shift == 1 && s->rounding == 1) BOTH16(TSR_LIFT_HALF_UP(a, b));
    else if (s->count == 2 && s->shift == 1 && s->rounding == 0) BOTH16(TSR_LIFT_HALF_DOWN(a, b));
    else if (s->count == 2 && s->shift == 2 && s->rounding == 2) BOTH16(TSR_LIFT_QUARTER(a, b));
    else if (s->count == 1 && s->shift == 0 && s->rounding == 0) BOTH16(a);
    else if (s->count == 1 && s->shift == 1 && s->rounding == 1) BOTH16(TSR_LIFT_ONE_UP(a));
    else return 0;
    for (int j = 0; j < LANES16; j++) *lost |= bad[j] < 0;
    return 1;
}

static int i16_lift16(const tsr_lift_step *s, int16_t *x, const int16_t *v0, const int16_t *v1, int64_t n, uint32_t *lost)
{
    if (!s->unit || !(s->symmetric || s->count == 1)) return 0;
    int64_t whole = n / LANES16 * LANES16, rest = n - whole;
    if (!lift_vectors(s, x, v0, v1, whole, lost)) return 0;
    if (rest) {
        int16_t copy[3][LANES16] = { { 0 } };
        memcpy(copy[0], x + whole, (size_t)rest * sizeof *x);
        memcpy(copy[1], v0 + whole, (size_t)rest * sizeof *x);
        memcpy(copy[2], v1 + whole, (size_t)rest * sizeof *x);
        lift_vectors(s, copy[0], copy[1], copy[2], LANES16, lost);
        memcpy(x + whole, copy[0], (size_t)rest * sizeof *x);
    }
    return 1;
}

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
typedef uint16_t wideu16 __attribute__((vector_size(WIDE_BYTES), aligned(2)));
typedef float wide32 __attribute__((vector_size(WIDE_BYTES), aligned(4), may_alias));

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
static inline wide16 two16_part(const two16 two, int half, wide16 a, wide16 b)
{
    if (!half) return TSR_LIFT_QUARTER(a, b);
    return two.up ? TSR_LIFT_HALF_UP(a, b) : TSR_LIFT_HALF_DOWN(a, b);
}
TSR_PAIRS_INLINE wide16 pair16_first(const two16 two, wide16 x, wide16 a, wide16 b, wide16 *bad)
{
    const wide16 p = two16_part(two, two.forward, a, b), r = x - p;
    *bad |= TSR_LIFT_LOST_SUBTRACT(x, p, r);
    return r;
}
TSR_PAIRS_INLINE wide16 pair16_second(const two16 two, wide16 x, wide16 a, wide16 b, wide16 *bad)
{
    const wide16 p = two16_part(two, !two.forward, a, b), r = x + p;
    *bad |= TSR_LIFT_LOST_ADD(x, p, r);
    return r;
}
TSR_PAIRS_INLINE wide16 pair16_raised(const two16 two, wide16 v, wide16 *over)
{
    const wideu16 u = (wideu16)v;
    *over |= (wide16)((u + two.half) & two.outside);
    return (wide16)(u * two.factor);
}
static inline uint32_t pair16_marked(wide16 bad, int lanes) /* by its sign */
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
TSR_PAIRS_INLINE wide16 pair16_lowered(wide16 v, int32_t shift)
{
    const int16_t bits = (int16_t)shift;
    return shift ? (wide16)TSR_LIFT_LOWER16(v, bits) : v;
}
static inline uint32_t pair16_too_large(wide16 over) { return pair16_marked(over != 0, LANES16); }

typedef struct two32 {
    float first, second;
} two32;
TSR_PAIRS_INLINE wide32 pair32_first(const two32 two, wide32 x, wide32 a, wide32 b, wide32 *bad)
{
    (void)bad;
    return x + two.first * (a + b);
}
TSR_PAIRS_INLINE wide32 pair32_second(const two32 two, wide32 x, wide32 a, wide32 b, wide32 *bad)
{
    (void)bad;
    return x + two.second * (a + b);
}
TSR_PAIRS_INLINE wide32 pair32_raised(const two32 two, wide32 v, wide32 *over)
{
    (void)two;
    (void)over;
    return v;
}
static inline uint32_t pair32_marked(wide32 bad, int lanes)
{
    (void)bad;
    (void)lanes;
    return 0;
}
TSR_PAIRS_INLINE wide32 pair32_lowered(wide32 v, int32_t shift)
{
    (void)shift;
    return v;
}
static inline uint32_t pair32_too_large(wide32 over) { return pair32_marked(over, 0); }

#define NAME(f) pair16_##f
#define T int16_t
#define V wide16
#define LANES LANES16
#define TWO two16
#define CALM_PART pair16_calm
#define BEFORE_BOTH "wavelet/averages.h"
#if defined(TSR_ISA_IS_avx512)
#define STREAM(to, v) _mm512_stream_si512((void *)(to), (__m512i)(v))
#define EVENS EVENS_32
#define ODDS ODDS_32
#define NEXT NEXT_32
#define PREVIOUS PREVIOUS_32
#define ZIP_LOW ZIP_16(0, 32)
#define ZIP_HIGH ZIP_16(16, 32)
#elif defined(TSR_ISA_IS_avx2)
#define STREAM(to, v) _mm256_stream_si256((__m256i *)(void *)(to), (__m256i)(v))
#define EVENS EVENS_16
#define ODDS ODDS_16
#define NEXT NEXT_16
#define PREVIOUS PREVIOUS_16
#define ZIP_LOW ZIP_8(0, 16)
#define ZIP_HIGH ZIP_8(8, 16)
#else
#define STREAM(to, v) _mm_stream_si128((__m128i *)(void *)(to), (__m128i)(v))
#define EVENS EVENS_8
#define ODDS ODDS_8
#define NEXT NEXT_8
#define PREVIOUS PREVIOUS_8
#define ZIP_LOW ZIP_4(0, 8)
#define ZIP_HIGH ZIP_4(4, 8)
#endif
#include "wavelet/pairs.h"

#define NAME(f) pair32_##f
#define T float
#define V wide32
#define LANES (WIDE_BYTES / 4)
#define TWO two32
#define CALM_PART(two, rows, line, next, whole) 0
#if defined(TSR_ISA_IS_avx512)
#define STREAM(to, v) _mm512_stream_ps((to), (__m512)(v))
#define EVENS EVENS_16
#define ODDS ODDS_16
#define NEXT NEXT_16
#define PREVIOUS PREVIOUS_16
#define ZIP_LOW ZIP_8(0, 16)
#define ZIP_HIGH ZIP_8(8, 16)
#elif defined(TSR_ISA_IS_avx2)
#define STREAM(to, v) _mm256_stream_ps((to), (__m256)(v))
#define EVENS EVENS_8
#define ODDS ODDS_8
#define NEXT NEXT_8
#define PREVIOUS PREVIOUS_8
#define ZIP_LOW ZIP_4(0, 8)
#define ZIP_HIGH ZIP_4(4, 8)
#else
#define STREAM(to, v) _mm_stream_ps((to), (__m128)(v))
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

#define NAME(f) i16_##f
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

#define NAME(f) i32_##f
#define RULE tsr_lift_rule_i64
#define T int32_t
#define R int32_t
#define S int64_t
#define INTEGER 1
#define NARROW 0
#define UNSIGNED uint32_t
#include "wavelet/rows.h"

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
    static const tsr_wavelet_rows *const all[] = { &i16_rows, &i16_wide_rows, &i32_rows, &f32_rows, &f64_rows };
    return all[kind];
}
