/* histopyramid/bricks_isa.c: rows of voxels become rows of bits, 16 rows of 64 bits become 16 bricks. Intrinsics only where bytes become bits. */
#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "histopyramid/bricks_isa.h"

/* Bits of 64 bytes: (low <= byte <= low + span) != invert. */
static uint64_t bits_of_64(const uint8_t *p, uint8_t low, uint8_t span)
{
#if defined(TSR_ISA_IS_avx512)
    const __m512i v = _mm512_sub_epi8(_mm512_loadu_si512((const void *)p), _mm512_set1_epi8((char)low));
    return _mm512_cmple_epu8_mask(v, _mm512_set1_epi8((char)span));
#elif defined(TSR_ISA_IS_avx2)
    uint64_t bits = 0;
    for (int k = 0; k < 2; k++) {
        const __m256i v = _mm256_sub_epi8(_mm256_loadu_si256((const __m256i *)(const void *)(p + 32 * k)), _mm256_set1_epi8((char)low));
        const __m256i kept = _mm256_cmpeq_epi8(_mm256_min_epu8(v, _mm256_set1_epi8((char)span)), v);
        bits |= (uint64_t)(uint32_t)_mm256_movemask_epi8(kept) << 32 * k;
    }
    return bits;
#elif defined(__SSE2__)
    uint64_t bits = 0;
    for (int k = 0; k < 4; k++) {
        const __m128i v = _mm_sub_epi8(_mm_loadu_si128((const __m128i *)(const void *)(p + 16 * k)), _mm_set1_epi8((char)low));
        const __m128i kept = _mm_cmpeq_epi8(_mm_min_epu8(v, _mm_set1_epi8((char)span)), v);
        bits |= (uint64_t)(uint32_t)_mm_movemask_epi8(kept) << 16 * k;
    }
    return bits;
#else
    uint64_t bits = 0;
    for (int k = 0; k < 64; k++) bits |= (uint64_t)((uint8_t)(p[k] - low) <= span) << k;
    return bits;
#endif
}

static void bits_of_bytes(const uint8_t *p, int64_t n, uint8_t low, uint8_t high, uint64_t invert, uint64_t *bits)
{
    const uint8_t span = (uint8_t)(high - low);
    int64_t i = 0;
    for (; i + 64 <= n; i += 64) bits[i / 64] = bits_of_64(p + i, low, span) ^ invert;
    if (i < n) {
        uint8_t rest[64] = { 0 };
        memcpy(rest, p + i, (size_t)(n - i));
        bits[i / 64] = (bits_of_64(rest, low, span) ^ invert) & (((uint64_t)1 << (n - i)) - 1u);
    }
}

/* One byte per voxel, 0 or 1; the loops the compiler vectorises, one per element type and kind. */
#define FLAGS(T, name)                                                                                              \
    static inline __attribute__((always_inline))                                                                    \
    int32_t flags_kind_##name(tsr_classifier c, tsr_pyramid_classifier kind, const T *p, int64_t n, uint8_t *flags) \
    {                                                                                                               \
        int32_t not_a_number = 0;                                                                                   \
        c.kind = kind;                                                                                              \
        for (int64_t i = 0; i < n; i++) {                                                                           \
            const double v = (double)p[i] * c.slope + c.intercept;                                                  \
            flags[i] = (uint8_t)tsr_classify_value(&c, v);                                                          \
            not_a_number += !(v == v);                                                                              \
        }                                                                                                           \
        return not_a_number;                                                                                        \
    }                                                                                                               \
    static int32_t flags_##name(const tsr_classifier *c, const T *p, int64_t n, uint8_t *flags)                     \
    {                                                                                                               \
        switch (c->kind) {                                                                                          \
        case TSR_PYRAMID_NONZERO: return flags_kind_##name(*c, TSR_PYRAMID_NONZERO, p, n, flags);                   \
        case TSR_PYRAMID_LABEL: return flags_kind_##name(*c, TSR_PYRAMID_LABEL, p, n, flags);                       \
        case TSR_PYRAMID_MAGNITUDE: return flags_kind_##name(*c, TSR_PYRAMID_MAGNITUDE, p, n, flags);               \
        default: return flags_kind_##name(*c, TSR_PYRAMID_RANGE, p, n, flags);                                      \
        }                                                                                                           \
    }
FLAGS(uint8_t, u8)
FLAGS(int8_t, i8)
FLAGS(uint16_t, u16)
FLAGS(int16_t, i16)
FLAGS(uint32_t, u32)
FLAGS(int32_t, i32)
FLAGS(uint64_t, u64)
FLAGS(int64_t, i64)
FLAGS(float, f32)
FLAGS(double, f64)

static int32_t flags_of(const tsr_classifier *c, int64_t first, int64_t n, uint8_t *flags)
{
    int32_t not_a_number = 0;
    if (!tsr_classifier_local(c->kind)) {
        for (int64_t i = 0; i < n; i++) flags[i] = (uint8_t)tsr_classify(c, first + i, &not_a_number);
        return not_a_number;
    }
    switch (c->dtype) {
    case TSR_U8: return flags_u8(c, (const uint8_t *)c->data + first, n, flags);
    case TSR_I8: return flags_i8(c, (const int8_t *)c->data + first, n, flags);
    case TSR_U16: return flags_u16(c, (const uint16_t *)c->data + first, n, flags);
    case TSR_I16: return flags_i16(c, (const int16_t *)c->data + first, n, flags);
    case TSR_U32: return flags_u32(c, (const uint32_t *)c->data + first, n, flags);
    case TSR_I32: return flags_i32(c, (const int32_t *)c->data + first, n, flags);
    case TSR_U64: return flags_u64(c, (const uint64_t *)c->data + first, n, flags);
    case TSR_I64: return flags_i64(c, (const int64_t *)c->data + first, n, flags);
    case TSR_F32: return flags_f32(c, (const float *)c->data + first, n, flags);
    default: return flags_f64(c, (const double *)c->data + first, n, flags);
    }
}

/* Bits of `count` voxels; the last word is filled up with 0. */
static int32_t row_bits(const tsr_classifier *c, int64_t first, int64_t count, uint64_t *bits)
{
    uint8_t flags[TSR_STRIP_VOXELS];
    int32_t not_a_number = 0;
    if (c->bytes && c->low <= c->high) {
        bits_of_bytes((const uint8_t *)c->data + first, count, (uint8_t)c->low, (uint8_t)c->high, c->invert ? ~(uint64_t)0 : 0u, bits);
        return 0;
    }
    not_a_number = flags_of(c, first, count, flags);
    bits_of_bytes(flags, count, 1, 255, 0, bits);
    return not_a_number;
}

int32_t TSR_ISA_NAME(tsr_brick_strip)(const tsr_classifier *classifier, tsr_tree_brick brick, const int64_t *rows, int64_t count, uint64_t *words,
                                      uint8_t *sums)
{
    uint64_t bits[TSR_STRIP_VOXELS / 64];
    int32_t not_a_number = 0;
    if (brick == TSR_BRICK_ROW) {
        not_a_number = row_bits(classifier, rows[0], count, words);
        for (int64_t k = 0; k < (count + 63) / 64; k++) sums[k] = (uint8_t)__builtin_popcountll(words[k]);
        return not_a_number;
    }
    const int cube = brick == TSR_BRICK_CUBE, each = cube ? 16 : 8; /* rows of a brick; bricks of a word */
    const int64_t full = (count + 63) / 64, bricks = (count + 64 / each - 1) * each / 64;
    for (int r = 0; r < each; r++) {
        if (rows[r] < 0) {
            if (r == 0) memset(words, 0, (size_t)bricks * sizeof *words);
            continue;
        }
        not_a_number += row_bits(classifier, rows[r], count, bits);
        const int shift = cube ? tsr_brick_row4(r & 3, r >> 2) : tsr_brick_row8(r);
        for (int64_t w = 0; w < full; w++) {
            uint64_t *to = words + w * each;
            const uint64_t row = bits[w];
            const int64_t most = bricks - w * each < each ? bricks - w * each : each;
            if (r == 0) memset(to, 0, (size_t)most * sizeof *to);
            if (!row) continue;
            if (most == 16)
                for (int k = 0; k < 16; k++) to[k] |= tsr_brick_spread4(row >> 4 * k & 15u) << shift;
            else if (cube)
                for (int k = 0; k < most; k++) to[k] |= tsr_brick_spread4(row >> 4 * k & 15u) << shift;
            else if (most == 8)
                for (int k = 0; k < 8; k++) to[k] |= tsr_brick_spread8(row >> 8 * k & 255u) << shift;
            else
                for (int k = 0; k < most; k++) to[k] |= tsr_brick_spread8(row >> 8 * k & 255u) << shift;
        }
    }
    for (int64_t k = 0; k < bricks; k++) sums[k] = (uint8_t)__builtin_popcountll(words[k]);
    return not_a_number;
}

/* ---- multiplicities above 1: rows of bytes become bricks of 64 bytes ------------------------------------------------------------------------------------ */

/* Rows of 16 multiplicities: those of a piece of a strip. `row` points at 16 bytes each (CUBE: y + 4 z; PLANE: y); out has the bricks of the piece, 4 or 2. In
 * Morton order the 2 voxels of an even x lie together: so units are of 16 bits. */
#if defined(__SSE2__)
static inline __m128i load16(const uint8_t *p) { return _mm_loadu_si128((const __m128i *)(const void *)p); }
static inline void store16(uint8_t *p, __m128i v) { _mm_storeu_si128((__m128i *)(void *)p, v); }
/* A row of a cube has 2 units, A0 A1: rows of y and z 0 or 1 go together as A0 B0 C0 D0 A1 B1 C1 D1. */
static void cube_piece(const uint8_t *const *row, uint8_t *out)
{
    for (int k = 0; k < 4; k++) { /* upper bits of y and z */
        const int first = (k & 1) * 2 + (k >> 1) * 8;
        const __m128i a = load16(row[first]), b = load16(row[first + 1]), c = load16(row[first + 4]), d = load16(row[first + 5]);
        const __m128i ab = _mm_unpacklo_epi16(a, b), cd = _mm_unpacklo_epi16(c, d), ab2 = _mm_unpackhi_epi16(a, b), cd2 = _mm_unpackhi_epi16(c, d);
        store16(out + 16 * k, _mm_unpacklo_epi32(ab, cd));
        store16(out + 64 + 16 * k, _mm_unpackhi_epi32(ab, cd));
        store16(out + 128 + 16 * k, _mm_unpacklo_epi32(ab2, cd2));
        store16(out + 192 + 16 * k, _mm_unpackhi_epi32(ab2, cd2));
    }
}
/* A row of a plane has 4 units: rows of two bits of y go together as A0 B0 A1 B1 C0 D0 C1 D1, then those of 2 and 3. */
static void plane_piece(const uint8_t *const *row, uint8_t *out)
{
    for (int k = 0; k < 2; k++) { /* upper bit of y */
        const __m128i a = load16(row[4 * k]), b = load16(row[4 * k + 1]), c = load16(row[4 * k + 2]), d = load16(row[4 * k + 3]);
        const __m128i ab = _mm_unpacklo_epi16(a, b), cd = _mm_unpacklo_epi16(c, d), ab2 = _mm_unpackhi_epi16(a, b), cd2 = _mm_unpackhi_epi16(c, d);
        store16(out + 32 * k, _mm_unpacklo_epi64(ab, cd));
        store16(out + 32 * k + 16, _mm_unpackhi_epi64(ab, cd));
        store16(out + 64 + 32 * k, _mm_unpacklo_epi64(ab2, cd2));
        store16(out + 64 + 32 * k + 16, _mm_unpackhi_epi64(ab2, cd2));
    }
}
static uint16_t sum_64(const uint8_t *p)
{
    __m128i sum = _mm_setzero_si128();
    for (int k = 0; k < 64; k += 16) sum = _mm_add_epi64(sum, _mm_sad_epu8(load16(p + k), _mm_setzero_si128()));
    return (uint16_t)(_mm_cvtsi128_si32(sum) + _mm_cvtsi128_si32(_mm_srli_si128(sum, 8)));
}
#else
static void cube_piece(const uint8_t *const *row, uint8_t *out)
{
    for (int r = 0; r < 16; r++)
        for (int x = 0; x < 16; x++) out[x / 4 * 64 + tsr_brick_row4(r & 3, r >> 2) + (x & 1) + (x >> 1 & 1) * 8] = row[r][x];
}
static void plane_piece(const uint8_t *const *row, uint8_t *out)
{
    for (int r = 0; r < 8; r++)
        for (int x = 0; x < 16; x++) out[x / 8 * 64 + tsr_brick_row8(r) + (x & 1) + (x >> 1 & 1) * 4 + (x >> 2 & 1) * 16] = row[r][x];
}
static uint16_t sum_64(const uint8_t *p)
{
    uint32_t sum = 0;
    for (int k = 0; k < 64; k++) sum += p[k];
    return (uint16_t)sum;
}
#endif

/* Multiplicities of voxels first, first + 1, ...: as they lie in memory, or worked out into `own`. */
static const uint8_t *row_counts(const tsr_classifier *c, int64_t first, int64_t n, uint8_t *own, int32_t *not_a_number)
{
    if (c->kind == TSR_PYRAMID_COUNTS && c->dtype == TSR_U8 && c->most >= UINT8_MAX) return (const uint8_t *)c->data + first;
    if (c->kind == TSR_PYRAMID_COUNTS) {
        for (int64_t i = 0; i < n; i++) own[i] = (uint8_t)tsr_classify_count(c, first + i, not_a_number);
        return own;
    }
    *not_a_number += flags_of(c, first, n, own);
    return own;
}

int32_t TSR_ISA_NAME(tsr_brick_counts)(const tsr_classifier *classifier, tsr_tree_brick brick, const int64_t *rows, int64_t count,
                                       const int64_t *slots, uint8_t *bricks, uint16_t *sums)
{
    enum { PIECE = 64 }; /* voxels whose multiplicities are worked out at a time */
    static const uint8_t none[PIECE];
    const int each = brick == TSR_BRICK_CUBE ? 16 : brick == TSR_BRICK_PLANE ? 8 : 1, wide = 64 / each, step = each == 1 ? 64 : 16;
    uint8_t own[16][PIECE], out[256];
    int32_t not_a_number = 0;
    for (int64_t x = 0; x < count; x += PIECE) {
        const int64_t n = count - x < PIECE ? count - x : PIECE;
        const uint8_t *row[16], *part[16];
        for (int r = 0; r < each; r++) {
            row[r] = rows[r] < 0 ? none : row_counts(classifier, rows[r] + x, n, own[r], &not_a_number);
            if (n == PIECE || rows[r] < 0) continue;
            if (row[r] != own[r]) memcpy(own[r], row[r], (size_t)n); /* the end of a row: filled up */
            memset(own[r] + n, 0, (size_t)(PIECE - n));
            row[r] = own[r];
        }
        for (int64_t p = 0; p < n; p += step) {
            for (int r = 0; r < each; r++) part[r] = row[r] + p;
            if (each == 16) cube_piece(part, out);
            else if (each == 8) plane_piece(part, out);
            else memcpy(out, part[0], 64);
            for (int64_t k = (x + p) / wide; k < (x + p + step) / wide && k * wide < count; k++) {
                const uint8_t *from = out + 64 * (k - (x + p) / wide);
                sums[k] = sum_64(from);
                if (bricks && sums[k]) memcpy(bricks + 64 * slots[k], from, 64);
            }
        }
    }
    return not_a_number;
}
