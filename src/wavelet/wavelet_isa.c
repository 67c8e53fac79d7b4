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
typedef int16_t wide16 __attribute__((vector_size(WIDE_BYTES), aligned(2)));
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

#define NAME(f) i16_##f
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
