/* video/dirac/encoder/encoder_isa.c */
#include "video/dirac/encoder/encoder_isa.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "video/dirac/predict.h"
#include "video/dirac/quantiser.h"

double TSR_ISA_NAME(tsr_dirac_quantise_row)(const int32_t *coefficients, int32_t n, int32_t index, int inter, int32_t rounding, int32_t *quantised,
                                            int32_t *decoded)
{
    const uint64_t scale = tsr_quantiser_scale(index), half = index ? (uint64_t)rounding << 16 : 0;
    const tsr_quantiser q = tsr_quantiser_make(index, inter);
    double error = 0;
    for (int32_t x = 0; x < n; x++) {
        const int32_t c = coefficients[x];
        const uint32_t magnitude = (uint32_t)(((uint64_t)(c < 0 ? 0u - (uint32_t)c : (uint32_t)c) * scale + half) >> 32);
        const int32_t back = magnitude ? (int32_t)((magnitude * q.factor + q.offset) >> 2) : 0;
        quantised[x] = c < 0 ? -(int32_t)magnitude : (int32_t)magnitude;
        decoded[x] = c < 0 ? -back : back;
        const double d = (double)(decoded[x] - c);
        error += d * d;
    }
    return error;
}

/* Rows of bytes 16 at a time, what lies behind the last one masked. */
#if defined(__x86_64__)
static const uint8_t bytes_mask[32] = { 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255 };
static __m128i load_16(const uint8_t *from) { return _mm_loadu_si128((const __m128i *)(const void *)from); }
static int32_t both_halves(__m128i v) { return _mm_cvtsi128_si32(v) + _mm_cvtsi128_si32(_mm_srli_si128(v, 8)); }
#endif

int32_t TSR_ISA_NAME(tsr_dirac_difference)(const uint8_t *a, int64_t a_stride, const uint8_t *b, int64_t b_stride, int32_t w, int32_t h)
{
#if defined(__x86_64__)
    const int32_t whole = (w - 1) & ~15;
    const __m128i mask = load_16(bytes_mask + 16 - (w - whole));
    __m128i sum = _mm_setzero_si128();
    for (int32_t y = 0; y < h; y++, a += a_stride, b += b_stride) {
        for (int32_t x = 0; x < whole; x += 16) sum = _mm_add_epi64(sum, _mm_sad_epu8(load_16(a + x), load_16(b + x)));
        sum = _mm_add_epi64(sum, _mm_sad_epu8(_mm_and_si128(load_16(a + whole), mask), _mm_and_si128(load_16(b + whole), mask)));
    }
    return both_halves(sum);
#else
    int32_t sum = 0;
    for (int32_t y = 0; y < h; y++, a += a_stride, b += b_stride)
        for (int32_t x = 0; x < w; x++) {
            const int32_t d = (int32_t)a[x] - (int32_t)b[x];
            sum += d < 0 ? -d : d;
        }
    return sum;
#endif
}

int32_t TSR_ISA_NAME(tsr_dirac_difference_mean)(const uint8_t *a, int64_t a_stride, const uint8_t *b, int64_t b_stride, const uint8_t *c,
                                                int64_t c_stride, int32_t w, int32_t h)
{
#if defined(__x86_64__)
    const int32_t whole = (w - 1) & ~15;
    const __m128i mask = load_16(bytes_mask + 16 - (w - whole));
    __m128i sum = _mm_setzero_si128();
    for (int32_t y = 0; y < h; y++, a += a_stride, b += b_stride, c += c_stride) {
        for (int32_t x = 0; x < whole; x += 16) sum = _mm_add_epi64(sum, _mm_sad_epu8(load_16(a + x), _mm_avg_epu8(load_16(b + x), load_16(c + x))));
        const __m128i mean = _mm_avg_epu8(load_16(b + whole), load_16(c + whole));
        sum = _mm_add_epi64(sum, _mm_sad_epu8(_mm_and_si128(load_16(a + whole), mask), _mm_and_si128(mean, mask)));
    }
    return both_halves(sum);
#else
    int32_t sum = 0;
    for (int32_t y = 0; y < h; y++, a += a_stride, b += b_stride, c += c_stride)
        for (int32_t x = 0; x < w; x++) {
            const int32_t d = (int32_t)a[x] - ((int32_t)b[x] + c[x] + 1) / 2;
            sum += d < 0 ? -d : d;
        }
    return sum;
#endif
}

int32_t TSR_ISA_NAME(tsr_dirac_difference_flat)(const uint8_t *a, int64_t a_stride, int32_t w, int32_t h, int32_t *mean)
{
    int32_t sum = 0;
    for (int32_t y = 0; y < h; y++)
        for (int32_t x = 0; x < w; x++) sum += a[y * a_stride + x];
    const int32_t m = (sum + w * h / 2) / (w * h);
    sum = 0;
    for (int32_t y = 0; y < h; y++)
        for (int32_t x = 0; x < w; x++) {
            const int32_t d = a[y * a_stride + x] - m;
            sum += d < 0 ? -d : d;
        }
    *mean = m;
    return sum;
}

void TSR_ISA_NAME(tsr_dirac_blend)(const uint8_t *const from[4], int64_t stride, const int32_t weight[4], int32_t shift, int32_t w, int32_t h,
                                   uint8_t *restrict to, int64_t to_stride)
{
    const int32_t half = 1 << (shift - 1), whole = 1 << shift;
    for (int32_t y = 0; y < h; y++, to += to_stride) {
        const uint8_t *a = from[0] + y * stride, *b = from[1] + y * stride, *c = from[2] + y * stride, *d = from[3] + y * stride;
        if (2 * weight[0] == whole && weight[0] == weight[1])
            for (int32_t x = 0; x < w; x++) to[x] = (uint8_t)((a[x] + b[x] + 1) >> 1);
        else if (2 * weight[0] == whole && weight[0] == weight[2])
            for (int32_t x = 0; x < w; x++) to[x] = (uint8_t)((a[x] + c[x] + 1) >> 1);
        else if (4 * weight[0] == whole && weight[0] == weight[1] && weight[0] == weight[2])
            for (int32_t x = 0; x < w; x++) to[x] = (uint8_t)((a[x] + b[x] + c[x] + d[x] + 2) >> 2);
        else
            for (int32_t x = 0; x < w; x++)
                to[x] = (uint8_t)((weight[0] * a[x] + weight[1] * b[x] + weight[2] * c[x] + weight[3] * d[x] + half) >> shift);
    }
}

void TSR_ISA_NAME(tsr_dirac_half_bytes)(const uint8_t *from, int64_t step, int32_t n, uint8_t *restrict to)
{
    const uint8_t *p[8];
    for (int32_t k = 0; k < 8; k++) p[k] = from + (k - 3) * step;
    for (int32_t x = 0; x < n; x++) {
        const int32_t v[8] = { p[0][x], p[1][x], p[2][x], p[3][x], p[4][x], p[5][x], p[6][x], p[7][x] };
        to[x] = (uint8_t)tsr_dirac_half_taps(v, 0, 255);
    }
}
