/* wavelet/fast_isa.c, compiled once per SIMD variant: packed blocks of coefficients and the way back from them. */
#include "wavelet/rans_isa.h"
#include "wavelet/restore.h"

#include <stdlib.h>
#include <string.h>

#include "core/hd.h"
#include "io/bytes.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { BLOCK = 32, MOST_EDGE = 256, MOST_LEVELS = 6, CHUNK = 16 };

/* ---- planes of a block to values: sign in the lowest bit ------------------------------------------------------------------------------------------ */

#if defined(TSR_ISA_IS_avx512)
static inline void narrow_planes(const uint8_t *at, int width, int16_t *v)
{
    __m512i all = _mm512_setzero_si512();
    for (int p = 0; p < width; p++) all = _mm512_or_si512(all, _mm512_maskz_set1_epi16(tsr_get_u32(at + 4 * p), (short)(1u << p)));
    const __m512i sign = _mm512_sub_epi16(_mm512_setzero_si512(), _mm512_and_si512(all, _mm512_set1_epi16(1)));
    _mm512_storeu_si512((void *)v, _mm512_xor_si512(_mm512_srli_epi16(all, 1), sign));
}
static inline void wide_planes(const uint8_t *at, int width, int32_t *v)
{
    __m512i a = _mm512_setzero_si512(), b = a;
    for (int p = 0; p < width; p++) {
        const uint32_t w = tsr_get_u32(at + 4 * p);
        a = _mm512_or_si512(a, _mm512_maskz_set1_epi32((__mmask16)w, (int)(1u << p)));
        b = _mm512_or_si512(b, _mm512_maskz_set1_epi32((__mmask16)(w >> 16), (int)(1u << p)));
    }
    const __m512i zero = _mm512_setzero_si512(), one = _mm512_set1_epi32(1);
    _mm512_storeu_si512((void *)v, _mm512_xor_si512(_mm512_srli_epi32(a, 1), _mm512_sub_epi32(zero, _mm512_and_si512(a, one))));
    _mm512_storeu_si512((void *)(v + 16), _mm512_xor_si512(_mm512_srli_epi32(b, 1), _mm512_sub_epi32(zero, _mm512_and_si512(b, one))));
}
#else
#if defined(TSR_ISA_IS_avx2)
static inline void narrow_planes(const uint8_t *at, int width, int16_t *v)
{
    const __m256i lane = _mm256_setr_epi16(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, -32768);
    __m256i a = _mm256_setzero_si256(), b = a;
    for (int p = 0; p < width; p++) {
        const uint32_t w = tsr_get_u32(at + 4 * p);
        const __m256i bit = _mm256_set1_epi16((short)(1u << p));
        const __m256i low = _mm256_and_si256(_mm256_set1_epi16((short)w), lane), high = _mm256_and_si256(_mm256_set1_epi16((short)(w >> 16)), lane);
        a = _mm256_or_si256(a, _mm256_and_si256(_mm256_cmpeq_epi16(low, lane), bit));
        b = _mm256_or_si256(b, _mm256_and_si256(_mm256_cmpeq_epi16(high, lane), bit));
    }
    const __m256i zero = _mm256_setzero_si256(), one = _mm256_set1_epi16(1);
    _mm256_storeu_si256((__m256i *)(void *)v, _mm256_xor_si256(_mm256_srli_epi16(a, 1), _mm256_sub_epi16(zero, _mm256_and_si256(a, one))));
    _mm256_storeu_si256((__m256i *)(void *)(v + 16), _mm256_xor_si256(_mm256_srli_epi16(b, 1), _mm256_sub_epi16(zero, _mm256_and_si256(b, one))));
}
#else
static inline void narrow_planes(const uint8_t *at, int width, int16_t *v)
{
    uint16_t u[BLOCK] = { 0 };
    for (int p = 0; p < width; p++) {
        const uint32_t w = tsr_get_u32(at + 4 * p);
        for (int i = 0; i < BLOCK; i++) u[i] = (uint16_t)(u[i] | (w >> i & 1) << p);
    }
    for (int i = 0; i < BLOCK; i++) v[i] = (int16_t)(u[i] >> 1 ^ -(u[i] & 1));
}
#endif
static inline void wide_planes(const uint8_t *at, int width, int32_t *v)
{
    uint32_t u[BLOCK] = { 0 };
    for (int p = 0; p < width; p++) {
        const uint32_t w = tsr_get_u32(at + 4 * p);
        for (int i = 0; i < BLOCK; i++) u[i] |= (w >> i & 1) << p;
    }
    for (int i = 0; i < BLOCK; i++) v[i] = (int32_t)(u[i] >> 1 ^ (0u - (u[i] & 1)));
}
#endif

/* ---- 32 states of rANS ------------------------------------------------------------------------------------------------------------------------------- */

enum { GROUP_BYTES = 2 * 2 * TSR_RANS_LANES }; /* at most, of words that a group takes without escapes */

struct lanes {
    uint32_t state[TSR_RANS_LANES];
    const uint8_t *at, *end; /* words */
    int32_t start;
#if defined(TSR_ISA_IS_avx512)
    uint8_t tail[2 * GROUP_BYTES]; /* the last words once `at` is there, and zeros */
#endif
};

static void begin_lanes(const tsr_fast_source *s, struct lanes *t)
{
    t->start = s->size > 1 ? tsr_rans_start(s->bytes[1]) : 0;
    for (size_t l = 0; l < TSR_RANS_LANES; l++)
        t->state[l] = s->size >= TSR_RANS_HEADER + 4 * l + 4 ? tsr_get_u32(s->bytes + TSR_RANS_HEADER + 4 * l) : 0;
    t->end = s->bytes + s->size;
    t->at = s->size > TSR_RANS_HEADER + TSR_RANS_STATES ? s->bytes + TSR_RANS_HEADER + TSR_RANS_STATES : t->end;
}

/* Words that are there for one step; those beyond the end are 0. */
static inline const uint8_t *words_of(const struct lanes *t, uint8_t copy[2 * TSR_RANS_LANES])
{
    if (t->end - t->at >= 2 * TSR_RANS_LANES) return t->at;
    memset(copy, 0, 2 * TSR_RANS_LANES);
    memcpy(copy, t->at, (size_t)(t->end - t->at));
    return copy;
}
static inline void take_words(struct lanes *t, int64_t count) { t->at = count * 2 < t->end - t->at ? t->at + count * 2 : t->end; }

static void refill(struct lanes *t, const uint8_t *lane, int32_t count)
{
    uint8_t copy[2 * TSR_RANS_LANES];
    const uint8_t *words = words_of(t, copy);
    int32_t taken = 0;
    for (int32_t i = 0; i < count; i++) {
        const int32_t l = lane ? lane[i] : i;
        const uint32_t x = t->state[l], few = x < TSR_RANS_LEAST;
        t->state[l] = few ? x << 16 | tsr_get_u16(words + 2 * taken) : x;
        taken += (int32_t)few;
    }
    take_words(t, taken);
}

static uint32_t take_plain(uint32_t *state, int32_t bits)
{
    const uint32_t v = *state & ((1u << bits) - 1);
    *state >>= bits;
    return v;
}

/* Lanes whose token is the last: `above` becomes what follows it. */
static void escape(struct lanes *t, int32_t n, uint32_t *above)
{
    uint8_t lane[TSR_RANS_LANES] = { 0 }, far[TSR_RANS_LANES] = { 0 };
    int32_t bits[TSR_RANS_LANES] = { 0 }, count = 0, more = 0;
    for (int32_t l = 0; l < n; l++)
        if (above[l] == TSR_RANS_ESCAPE) lane[count++] = (uint8_t)l;
    for (int32_t i = 0; i < count; i++) bits[i] = (int32_t)take_plain(&t->state[lane[i]], TSR_RANS_ESCAPE_BITS);
    refill(t, lane, count);
    for (int32_t i = 0; i < count; i++) above[lane[i]] = take_plain(&t->state[lane[i]], bits[i] < 16 ? bits[i] : 16);
    refill(t, lane, count);
    for (int32_t i = 0; i < count; i++)
        if (bits[i] > 16) {
            above[lane[i]] |= take_plain(&t->state[lane[i]], bits[i] - 16) << 16;
            far[more++] = lane[i];
        }
    refill(t, far, more);
    for (int32_t i = 0; i < count; i++) above[lane[i]] = (above[lane[i]] | 1u << bits[i]) + TSR_RANS_ESCAPE - 1;
}

/* Groups of any number of coefficients. */
static void decode_some(struct lanes *t, const tsr_rans_lookup *lookup, const uint8_t *context, int32_t n, int32_t *v)
{
    uint32_t above[TSR_RANS_LANES], escapes = 0;
    for (int32_t l = 0; l < n; l++) {
        const uint32_t x = t->state[l], s = lookup->slot[tsr_rans_table(context[l])][x & (TSR_RANS_SLOTS - 1)];
        above[l] = s & 15;
        escapes |= above[l] == TSR_RANS_ESCAPE;
        t->state[l] = tsr_rans_advance(x, s >> 16, s >> 4 & (TSR_RANS_SLOTS - 1));
    }
    refill(t, NULL, n);
    if (escapes) escape(t, n, above);
    for (int32_t l = 0; l < n; l++) v[l] = tsr_rans_finish(&t->state[l], above[l], tsr_rans_plain(context[l]));
    refill(t, NULL, n);
}

#if defined(TSR_ISA_IS_avx512)
static inline __m512i refill_half(const uint8_t **at, __m512i x)
{
    const __mmask16 few = _mm512_cmplt_epu32_mask(x, _mm512_set1_epi32((int)TSR_RANS_LEAST));
    const __m512i words = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const void *)*at));
    *at += 2 * __builtin_popcount(few);
    return _mm512_mask_or_epi32(x, few, _mm512_slli_epi32(x, 16), _mm512_maskz_expand_epi32(few, words));
}
static inline __m512i plain_half(__m512i context)
{
    const __m512i k = _mm512_srli_epi32(_mm512_sub_epi32(context, _mm512_set1_epi32(TSR_RANS_SMALL - 2)), 1);
    return _mm512_maskz_mov_epi32(_mm512_cmpge_epi32_mask(context, _mm512_set1_epi32(TSR_RANS_SMALL)), k);
}
static inline __m512i token_half(__m512i *x, __m512i context, const tsr_rans_lookup *lookup)
{
    const __m512i large = _mm512_add_epi32(_mm512_and_si512(context, _mm512_set1_epi32(1)), _mm512_set1_epi32(TSR_RANS_SMALL));
    const __m512i table = _mm512_mask_mov_epi32(context, _mm512_cmpge_epi32_mask(context, _mm512_set1_epi32(TSR_RANS_SMALL)), large);
    const __m512i slots = _mm512_set1_epi32(TSR_RANS_SLOTS - 1);
    const __m512i s =
        _mm512_i32gather_epi32(_mm512_or_si512(_mm512_slli_epi32(table, TSR_RANS_BITS), _mm512_and_si512(*x, slots)), &lookup->slot[0][0], 4);
    *x = _mm512_add_epi32(_mm512_mullo_epi32(_mm512_srli_epi32(s, 16), _mm512_srli_epi32(*x, TSR_RANS_BITS)),
                          _mm512_and_si512(_mm512_srli_epi32(s, 4), slots));
    return _mm512_and_si512(s, _mm512_set1_epi32(15));
}
static inline __m512i finish_half(__m512i *x, __m512i above, __m512i plain)
{
    const __m512i one = _mm512_set1_epi32(1), zero = _mm512_setzero_si512();
    const __m512i m = _mm512_or_si512(_mm512_sllv_epi32(above, plain), _mm512_and_si512(*x, _mm512_sub_epi32(_mm512_sllv_epi32(one, plain), one)));
    const __m512i some = _mm512_maskz_mov_epi32(_mm512_test_epi32_mask(m, m), one);
    const __m512i negative = _mm512_and_si512(_mm512_srlv_epi32(*x, plain), some);
    *x = _mm512_srlv_epi32(*x, _mm512_add_epi32(plain, some));
    return _mm512_add_epi32(_mm512_xor_si512(m, _mm512_sub_epi32(zero, negative)), negative);
}
/* From here on so many bytes may be read as a group takes. */
static inline const uint8_t *with_room(struct lanes *t, const uint8_t *at)
{
    const size_t rest = (size_t)(t->end - at);
    if (rest >= GROUP_BYTES || (at >= t->tail && at <= t->tail + GROUP_BYTES)) return at;
    memcpy(t->tail, at, rest);
    memset(t->tail + rest, 0, sizeof t->tail - rest);
    t->end = t->tail + rest;
    return t->tail;
}
static void escape_group(struct lanes *t, const uint8_t **at, __m512i state[2], __m512i above[2])
{
    uint32_t a[TSR_RANS_LANES];
    for (int k = 0; k < 2; k++) _mm512_storeu_si512((void *)(t->state + 16 * k), state[k]);
    for (int k = 0; k < 2; k++) _mm512_storeu_si512((void *)(a + 16 * k), above[k]);
    t->at = *at < t->end ? *at : t->end;
    escape(t, TSR_RANS_LANES, a);
    *at = with_room(t, t->at);
    for (int k = 0; k < 2; k++) state[k] = _mm512_loadu_si512((const void *)(t->state + 16 * k));
    for (int k = 0; k < 2; k++) above[k] = _mm512_loadu_si512((const void *)(a + 16 * k));
}
/* Whole groups; returns the place behind them. States stay in registers. */
#define DECODE_GROUPS(T, PUT)                                                                                                 \
    static int64_t decode_groups_##T(struct lanes *t, const tsr_rans_lookup *lookup, const uint8_t *context, int64_t n, T *v) \
    {                                                                                                                         \
        const __m512i last = _mm512_set1_epi32(TSR_RANS_ESCAPE);                                                              \
        __m512i x = _mm512_loadu_si512((const void *)t->state), y = _mm512_loadu_si512((const void *)(t->state + 16));        \
        const uint8_t *at = t->at;                                                                                            \
        int64_t i = 0;                                                                                                        \
        for (; i + TSR_RANS_LANES <= n; i += TSR_RANS_LANES) {                                                                \
            const __m512i c = _mm512_cvtepu8_epi32(_mm_loadu_si128((const void *)(context + i)));                             \
            const __m512i d = _mm512_cvtepu8_epi32(_mm_loadu_si128((const void *)(context + i + 16)));                        \
            __m512i a = token_half(&x, c, lookup), b = token_half(&y, d, lookup);                                             \
            at = with_room(t, at);                                                                                            \
            x = refill_half(&at, x);                                                                                          \
            y = refill_half(&at, y);                                                                                          \
            if (_mm512_cmpeq_epi32_mask(a, last) | _mm512_cmpeq_epi32_mask(b, last)) {                                        \
                __m512i state[2] = { x, y }, above[2] = { a, b };                                                             \
                escape_group(t, &at, state, above);                                                                           \
                x = state[0];                                                                                                 \
                y = state[1];                                                                                                 \
                a = above[0];                                                                                                 \
                b = above[1];                                                                                                 \
            }                                                                                                                 \
            PUT(v + i, finish_half(&x, a, plain_half(c)));                                                                    \
            PUT(v + i + 16, finish_half(&y, b, plain_half(d)));                                                               \
            x = refill_half(&at, x);                                                                                          \
            y = refill_half(&at, y);                                                                                          \
            at = at < t->end ? at : t->end;                                                                                   \
        }                                                                                                                     \
        _mm512_storeu_si512((void *)t->state, x);                                                                             \
        _mm512_storeu_si512((void *)(t->state + 16), y);                                                                      \
        t->at = at;                                                                                                           \
        return i;                                                                                                             \
    }
#define PUT16(to, v) _mm256_storeu_si256((__m256i *)(void *)(to), _mm512_cvtepi32_epi16(v))
#define PUT32(to, v) _mm512_storeu_si512((void *)(to), v)
DECODE_GROUPS(int16_t, PUT16)
DECODE_GROUPS(int32_t, PUT32)
#else
static int64_t decode_groups_int16_t(struct lanes *t, const tsr_rans_lookup *lookup, const uint8_t *context, int64_t n, int16_t *v)
{
    int64_t i = 0;
    for (; i + TSR_RANS_LANES <= n; i += TSR_RANS_LANES) {
        int32_t wide[TSR_RANS_LANES];
        decode_some(t, lookup, context + i, TSR_RANS_LANES, wide);
        for (int l = 0; l < TSR_RANS_LANES; l++) v[i + l] = (int16_t)wide[l];
    }
    return i;
}
static int64_t decode_groups_int32_t(struct lanes *t, const tsr_rans_lookup *lookup, const uint8_t *context, int64_t n, int32_t *v)
{
    int64_t i = 0;
    for (; i + TSR_RANS_LANES <= n; i += TSR_RANS_LANES) decode_some(t, lookup, context + i, TSR_RANS_LANES, v + i);
    return i;
}
#endif

#define T int16_t
#define GROUPS decode_groups_int16_t
#define NAME(f) narrow_##f
#define EVEN tsr_restore_even16
#define ODD tsr_restore_odd16
#include "wavelet/fast_body.h"
#undef T
#undef GROUPS
#undef NAME
#undef EVEN
#undef ODD

#define T int32_t
#define GROUPS decode_groups_int32_t
#define NAME(f) wide_##f
#define EVEN tsr_restore_even32
#define ODD tsr_restore_odd32
#include "wavelet/fast_body.h"
#undef T
#undef GROUPS
#undef NAME
#undef EVEN
#undef ODD

const void *TSR_ISA_NAME(tsr_fast_decode)(const tsr_fast_source *streams, int32_t levels, const int32_t size[3], int narrow, void *work)
{
    if (narrow) return narrow_decode(streams, levels, size, NULL, work);
    return wide_decode(streams, levels, size, NULL, work);
}
const void *TSR_ISA_NAME(tsr_rans_decode)(const tsr_fast_source *streams, int32_t levels, const int32_t size[3], int narrow,
                                          const tsr_rans_lookup *lookup, void *work)
{
    if (narrow) return narrow_decode(streams, levels, size, lookup, work);
    return wide_decode(streams, levels, size, lookup, work);
}

/* ---- voxels ------------------------------------------------------------------------------------------------------------------------------------------- */

void TSR_ISA_NAME(tsr_fast_widen)(const int16_t *samples, int64_t count, int32_t *wide)
{
    for (int64_t i = 0; i < count; i++) wide[i] = samples[i];
}

#define STORE(type, least, most)                                            \
    do {                                                                    \
        type *v = (type *)voxels;                                           \
        for (int64_t i = 0; i < count; i++) {                               \
            const int32_t x = base + samples[i];                            \
            v[i] = (type)(x < (least) ? (least) : x > (most) ? (most) : x); \
        }                                                                   \
    } while (0)

void TSR_ISA_NAME(tsr_fast_store)(const int16_t *TSR_RESTRICT samples, int64_t count, int32_t base, tsr_dtype dtype, void *TSR_RESTRICT voxels)
{
    if (dtype == TSR_U8) STORE(uint8_t, 0, 255);
    else if (dtype == TSR_I8) STORE(int8_t, -128, 127);
    else if (dtype == TSR_U16) STORE(uint16_t, 0, 65535);
    else STORE(int16_t, -32768, 32767);
}

/* ---- there ------------------------------------------------------------------------------------------------------------------------------------------ */

static uint32_t fold(int32_t v) { return (uint32_t)v << 1 ^ (uint32_t)(v >> 31); }

static int width_of(const int32_t *v, int64_t n)
{
    uint32_t all = 0;
    for (int64_t i = 0; i < n; i++) all |= fold(v[i]);
    return all ? 32 - __builtin_clz(all) : 0;
}

static size_t pack(const tsr_planes_band *band, uint8_t *to)
{
    const int64_t count = (int64_t)band->size[0] * band->size[1] * band->size[2], blocks = (count + BLOCK - 1) / BLOCK;
    uint8_t *at = to + blocks;
    for (int64_t b = 0; b < blocks; b++) {
        const int32_t *v = band->data + b * BLOCK;
        const int64_t n = count - b * BLOCK < BLOCK ? count - b * BLOCK : BLOCK;
        const int width = width_of(v, n);
        to[b] = (uint8_t)width;
        for (int p = 0; p < width; p++, at += 4) {
            uint32_t w = 0;
            for (int64_t i = 0; i < n; i++) w |= (fold(v[i]) >> p & 1) << i;
            tsr_put_u32(at, w);
        }
    }
    return (size_t)(at - to);
}

tsr_status TSR_ISA_NAME(tsr_fast_encode)(const tsr_planes_band *bands, int32_t count, tsr_planes_stream *stream)
{
    size_t room = 1;
    memset(stream, 0, sizeof *stream);
    for (int32_t k = 0; k < count; k++) room += (size_t)bands[k].size[0] * (size_t)bands[k].size[1] * (size_t)bands[k].size[2] * 5 + 5 * BLOCK;
    stream->bytes = (uint8_t *)malloc(room);
    if (!stream->bytes) TSR_FAIL(TSR_ERROR_MEMORY, "compression: out of memory for a stream");
    for (int32_t k = 0; k < count; k++) stream->size += pack(&bands[k], stream->bytes + stream->size);
    stream->passes = 1;
    stream->pass[0].bytes = (uint32_t)stream->size;
    return TSR_OK;
}
