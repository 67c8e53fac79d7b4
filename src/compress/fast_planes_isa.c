/* compress/fast_planes_isa.c, compiled once per SIMD variant: packed blocks of coefficients and the way back from them. */
#include "compress/rans_isa.h"
#include "compress/restore.h"

#include <stdlib.h>
#include <string.h>

#include "core/hd.h"
#include "io/little_endian.h"

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

#include "compress/rans_groups.h"

#define T int16_t
#define MAGNITUDE tsr_rans_magnitude16
#define GROUPS decode_groups_int16_t
#define NAME(f) narrow_##f
#define EVEN tsr_restore_even16
#define ODD tsr_restore_odd16
#include "compress/fast_planes_body.h"
#undef T
#undef MAGNITUDE
#undef GROUPS
#undef NAME
#undef EVEN
#undef ODD

#define T int32_t
#define MAGNITUDE tsr_rans_magnitude
#define GROUPS decode_groups_int32_t
#define NAME(f) wide_##f
#define EVEN tsr_restore_even32
#define ODD tsr_restore_odd32
#include "compress/fast_planes_body.h"
#undef T
#undef MAGNITUDE
#undef GROUPS
#undef NAME
#undef EVEN
#undef ODD

void TSR_ISA_NAME(tsr_fast_decode)(const tsr_fast_brick *bricks, int32_t count, int32_t levels, const int32_t size[3], int narrow,
                                   const struct tsr_rans_lookup *lookup, void *work, const void **samples)
{
    if (narrow) narrow_decode(bricks, count, levels, size, lookup, work, samples);
    else wide_decode(bricks, count, levels, size, lookup, work, samples);
}

void TSR_ISA_NAME(tsr_rans_decode_rows)(const uint8_t *bytes, size_t size, const tsr_rans_lookup *lookup, int64_t rows,
                                        tsr_rans_row (*row)(void *user, int64_t k), void *user)
{
    const tsr_fast_source source = { bytes, size };
    struct lanes lanes;
    begin_lanes(&source, &lanes);
    for (int64_t k = 0; k < rows; k++) {
        const tsr_rans_row r = row(user, k);
        const uint8_t *context[1] = { r.context };
        int32_t *to[1] = { r.v };
        const int32_t done = r.n >= TSR_RANS_LANES ? (int32_t)decode_groups_int32_t(&lanes, 1, lookup, context, 0, r.n, to) : 0;
        if (done < r.n) decode_some(&lanes, lookup, r.context + done, r.n - done, r.v + done);
    }
}

/* ---- voxels ------------------------------------------------------------------------------------------------------------------------------------------- */

void TSR_ISA_NAME(tsr_fast_widen)(const int16_t *samples, int64_t count, int32_t *wide)
{
    for (int64_t i = 0; i < count; i++) wide[i] = samples[i];
}

/* Rows are short: whole vectors of them, then half ones. */
#define STORE_SOME(type, least, most, n)                  \
    _Pragma("omp simd") for (int64_t k = 0; k < (n); k++) \
    {                                                     \
        int32_t sum = base + from[x + k];                 \
        sum = sum < (least) ? (least) : sum;              \
        sum = sum > (most) ? (most) : sum;                \
        v[x + k] = (type)sum;                             \
    }
#define STORE(type, least, most)                                                                           \
    do {                                                                                                   \
        for (int64_t z = 0; z < count[2]; z++)                                                             \
            for (int64_t y = 0; y < count[1]; y++) {                                                       \
                const int16_t *TSR_RESTRICT from = samples + z * step[1] + y * step[0];                    \
                type *TSR_RESTRICT v = (type *)voxels + z * voxel_step[1] + y * voxel_step[0];             \
                int64_t x = 0;                                                                             \
                for (; x + CHUNK <= count[0]; x += CHUNK) STORE_SOME(type, least, most, CHUNK)             \
                for (; x + CHUNK / 2 <= count[0]; x += CHUNK / 2) STORE_SOME(type, least, most, CHUNK / 2) \
                for (; x < count[0]; x++) STORE_SOME(type, least, most, 1)                                 \
            }                                                                                              \
    } while (0)

void TSR_ISA_NAME(tsr_fast_store)(const int16_t *samples, const int64_t step[2], const int64_t count[3], int32_t base, tsr_dtype dtype, void *voxels,
                                  const int64_t voxel_step[2])
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
