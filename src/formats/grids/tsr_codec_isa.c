/* formats/grids/tsr_codec_isa.c: see the header. Intrinsics only where a mask puts values to their places: no compiler finds those instructions. */
#if defined(TSR_ISA_IS_avx512) || defined(TSR_ISA_IS_avx2)
#include <immintrin.h>
#endif
#include <string.h>

#include "formats/grids/tsr_codec_isa.h"

uint32_t TSR_ISA_NAME(tsr_words_of_planes)(const uint8_t *planes, int64_t n, uint32_t *restrict to)
{
    const uint8_t *restrict a = planes, *restrict b = a + n, *restrict c = b + n, *restrict d = c + n;
    uint32_t most = 0;
    for (int64_t i = 0; i < n; i++) {
        const uint32_t word = (uint32_t)a[i] | (uint32_t)b[i] << 8 | (uint32_t)c[i] << 16 | (uint32_t)d[i] << 24, magnitude = word & 0x7fffffffu;
        to[i] = word;
        most = magnitude > most ? magnitude : most;
    }
    return most;
}

int64_t TSR_ISA_NAME(tsr_join_tile)(const uint8_t *listed, const uint8_t *negative, int32_t voxels, uint32_t outside, const uint32_t *from, int64_t n,
                                    float *to)
{
#if defined(TSR_ISA_IS_avx512)
    const __m512i plus = _mm512_set1_epi32((int)outside), minus = _mm512_set1_epi32((int)(outside | 0x80000000u));
    for (int32_t i = 0; i < voxels; i += 16) {
        uint16_t e, s;
        memcpy(&e, listed + (i >> 3), sizeof e);
        memcpy(&s, negative + (i >> 3), sizeof s);
        const __m512i constant = _mm512_mask_blend_epi32(s, plus, minus);
        _mm512_storeu_si512((void *)(to + i), _mm512_mask_expandloadu_epi32(constant, e, (const void *)(from + n)));
        n += __builtin_popcount(e);
    }
#elif defined(TSR_ISA_IS_avx2)
    const __m256i plus = _mm256_set1_epi32((int)outside), bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    for (int32_t i = 0; i < voxels; i += 8) {
        const uint64_t e = listed[i >> 3], bytes = _pdep_u64(e, 0x0101010101010101ull) * 255; /* places of the listed, then their numbers in there */
        const __m256i s = _mm256_and_si256(_mm256_set1_epi32(negative[i >> 3]), bit);
        const __m256i number = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128((long long)_pdep_u64(0x0706050403020100ull, bytes)));
        const __m256i place = _mm256_cvtepi8_epi32(_mm_cvtsi64_si128((long long)bytes));
        const __m256i constant = _mm256_or_si256(plus, _mm256_slli_epi32(_mm256_cmpeq_epi32(s, bit), 31));
        const __m256i value = _mm256_permutevar8x32_epi32(_mm256_loadu_si256((const __m256i *)(const void *)(from + n)), number);
        _mm256_storeu_si256((__m256i *)(void *)(to + i), _mm256_blendv_epi8(constant, value, place));
        n += __builtin_popcountll(e);
    }
#else
    for (int32_t i = 0; i < voxels; i += 8) {
        uint32_t e = listed[i >> 3], s = negative[i >> 3], bits[8];
        if (e == 0xff) {
            memcpy(to + i, from + n, sizeof bits);
            n += 8;
            continue;
        }
        for (int k = 0; k < 8; k++) bits[k] = outside | (s >> k & 1u) << 31;
        for (; e; e &= e - 1) bits[__builtin_ctz(e)] = from[n++];
        memcpy(to + i, bits, sizeof bits);
    }
#endif
    return n;
}

void TSR_ISA_NAME(tsr_planes_of_words)(const uint32_t *restrict from, int64_t n, int32_t width, uint8_t *restrict planes)
{
    for (int32_t b = 0; b < width; b++)
        for (int64_t i = 0; i < n; i++) planes[b * n + i] = (uint8_t)(from[i] >> 8 * b);
}

int64_t TSR_ISA_NAME(tsr_split_tile)(const float *from, int32_t voxels, uint32_t outside, uint8_t *listed, uint8_t *negative, uint32_t *to, int64_t n)
{
#if defined(TSR_ISA_IS_avx512)
    const __m512i plus = _mm512_set1_epi32((int)outside), minus = _mm512_set1_epi32((int)(outside | 0x80000000u));
    for (int32_t i = 0; i < voxels; i += 16) {
        const __m512i value = _mm512_loadu_si512((const void *)(from + i));
        const uint16_t s = _mm512_cmpeq_epi32_mask(value, minus), e = (uint16_t) ~(_mm512_cmpeq_epi32_mask(value, plus) | s);
        memcpy(listed + (i >> 3), &e, sizeof e);
        memcpy(negative + (i >> 3), &s, sizeof s);
        _mm512_storeu_si512((void *)(to + n), _mm512_maskz_compress_epi32(e, value));
        n += __builtin_popcount(e);
    }
#elif defined(TSR_ISA_IS_avx2)
    const __m256i plus = _mm256_set1_epi32((int)outside), minus = _mm256_set1_epi32((int)(outside | 0x80000000u));
    for (int32_t i = 0; i < voxels; i += 8) {
        const __m256i value = _mm256_loadu_si256((const __m256i *)(const void *)(from + i));
        const uint32_t s = (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(value, minus)));
        const uint32_t e = ~((uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(value, plus))) | s) & 0xffu;
        const uint64_t bytes = _pdep_u64(e, 0x0101010101010101ull) * 255; /* places of the listed, then their numbers */
        const __m256i number = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128((long long)_pext_u64(0x0706050403020100ull, bytes)));
        listed[i >> 3] = (uint8_t)e;
        negative[i >> 3] = (uint8_t)s;
        _mm256_storeu_si256((__m256i *)(void *)(to + n), _mm256_permutevar8x32_epi32(value, number));
        n += __builtin_popcount(e);
    }
#else
    const uint32_t inside = outside | 0x80000000u;
    for (int32_t i = 0; i < voxels; i += 8) {
        uint32_t bits[8], e = 0, s = 0;
        memcpy(bits, from + i, sizeof bits);
        for (int k = 0; k < 8; k++) {
            const uint32_t in = bits[k] == inside;
            s |= in << k;
            e |= (uint32_t)((bits[k] != outside) & !in) << k;
        }
        listed[i >> 3] = (uint8_t)e;
        negative[i >> 3] = (uint8_t)s;
        for (; e; e &= e - 1) to[n++] = bits[__builtin_ctz(e)];
    }
#endif
    return n;
}
