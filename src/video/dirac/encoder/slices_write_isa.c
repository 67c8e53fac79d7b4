/* video/dirac/encoder/slices_write_isa.c */
#include "video/dirac/encoder/slices_write_isa.h"

#include <pthread.h>

#include "core/simd.h"

typedef int32_t wide_at __attribute__((vector_size(TSR_WIDE_BYTES), aligned(4), may_alias));
typedef int32_t eight __attribute__((vector_size(32), aligned(4), may_alias));
typedef int16_t eight_short __attribute__((vector_size(16), aligned(2), may_alias));
typedef int32_t four __attribute__((vector_size(16), aligned(4), may_alias));
typedef int16_t four_short __attribute__((vector_size(8), aligned(2), may_alias));

static tsr_wide_i32 at_once(const int32_t *value) { return *(const wide_at *)(const void *)value; }

/* Minus magnitudes, which are all there are in 32 bits; and below what those are that reach `least`. */
static tsr_wide_i32 minus_magnitudes(tsr_wide_i32 v) { return (v ^ ~(v >> 31)) - ~(v >> 31); }
static int32_t below(uint32_t least) { return least > 1u << 31 ? INT32_MIN : (int32_t)(1 - (int64_t)least); }

static int32_t sum_of(tsr_wide_i32 v)
{
    int32_t sum = 0;
    for (int k = 0; k < TSR_WIDE_32; k++) sum += v[k];
    return sum;
}
static int any_of(tsr_wide_i32 v) { return tsr_wide_any_u16((tsr_wide_u16)v); }

/* How many of n values there are up to the last whose magnitude reaches `least`. */
static int32_t up_to_last(const int32_t *value, int32_t n, uint32_t least)
{
    const int32_t bound = below(least);
    while (n >= TSR_WIDE_32 && !any_of(minus_magnitudes(at_once(value + n - TSR_WIDE_32)) < bound)) n -= TSR_WIDE_32;
    while (n && (value[n - 1] > 0 ? -value[n - 1] : value[n - 1]) >= bound) n--;
    return n;
}

/* Takes off *reached how many magnitudes reach each of three bounds, all together, and off *first those that reach the first one. Not 0: some reach the
 * last one. Up to TSR_WIDE_32 - 1 values behind the n are read. */
static inline __attribute__((always_inline)) int count_three(const int32_t *value, int32_t n, const uint32_t least[3], tsr_wide_i32 *first,
                                                             tsr_wide_i32 *reached)
{
    const int32_t a = below(least[0]), b = below(least[1]), c = below(least[2]);
    tsr_wide_i32 in_a = *first, in_all = *reached, far = { 0 }, lane;
    for (int k = 0; k < TSR_WIDE_32; k++) lane[k] = k;
    for (int32_t x = 0; x < n; x += TSR_WIDE_32) {
        tsr_wide_i32 m = minus_magnitudes(at_once(value + x));
        if (n - x < TSR_WIDE_32) m &= lane < n - x;
        const tsr_wide_i32 reach_a = m < a, reach_b = m < b, reach_c = m < c;
        in_a += reach_a;
        in_all += reach_a + reach_b + reach_c;
        far |= reach_c;
    }
    *first = in_a;
    *reached = in_all;
    return any_of(far);
}

static int32_t own_index(int32_t index, int32_t matrix) { return index > matrix ? index - matrix : 0; }

int64_t TSR_ISA_NAME(tsr_dirac_run_bits)(const int32_t *value, const tsr_dirac_run *runs, int32_t count, int32_t index, const tsr_code_steps *steps)
{
    int32_t n = 0, last = 0, k = count - 1;
    tsr_wide_i32 signs = { 0 }, digits = { 0 }, none = { 0 };
    for (int32_t r = 0; r < count; r++) n += runs[r].size;
    for (; k >= 0 && !last; k -= !last) { /* nothing is written behind the last that is not 0 */
        n -= runs[k].size;
        last = up_to_last(value + n, runs[k].size, steps->least[own_index(index, runs[k].matrix)][1]);
    }
    if (k < 0) return 0;
    const int64_t all = n + last;
    for (int32_t r = 0; r <= k; r++) {
        const uint32_t *least = steps->least[own_index(index, runs[r].matrix)];
        const int32_t size = r == k ? last : runs[r].size;
        int more = count_three(value, size, least + 1, &signs, &digits);
        for (int32_t step = 4; more && step + 3 <= TSR_CODE_STEPS; step += 3) more = count_three(value, size, least + step, &none, &digits);
        value += size;
    }
    return all - sum_of(signs) - 2 * (int64_t)sum_of(digits);
}

static void quantise_run(const int32_t *value, int32_t n, uint64_t scale, int32_t *to)
{
    int32_t x = 0;
    if (scale >> 32) { /* nothing changes */
        memcpy(to, value, (size_t)n * sizeof *to);
        return;
    }
#if defined(__AVX2__)
    const __m256i factor = _mm256_set1_epi64x((int64_t)scale);
    for (; x + 8 <= n; x += 8) { /* products of 32 bits by 32, those of odd places apart */
        const __m256i v = _mm256_loadu_si256((const __m256i *)(const void *)(value + x)), m = _mm256_abs_epi32(v);
        const __m256i even = _mm256_srli_epi64(_mm256_mul_epu32(m, factor), 32), odd = _mm256_mul_epu32(_mm256_srli_epi64(m, 32), factor);
        _mm256_storeu_si256((__m256i *)(void *)(to + x), _mm256_sign_epi32(_mm256_blend_epi32(even, odd, 0xaa), v));
    }
#endif
    for (; x < n; x++) {
        const int32_t v = value[x], sign = v >> 31, magnitude = (int32_t)((uint64_t)(((uint32_t)v ^ (uint32_t)sign) - (uint32_t)sign) * scale >> 32);
        to[x] = (magnitude ^ sign) - sign;
    }
}

static void put_value(tsr_bits_out *out, int32_t v)
{
    tsr_bits_put_uint(out, v < 0 ? 0u - (uint32_t)v : (uint32_t)v);
    if (v) tsr_bits_put(out, v < 0, 1);
}

/* TOGETHER codes at once, where all values are small; else 0, and nothing is written. */
#if defined(__AVX2__)
enum { TOGETHER = 8, SMALL = 126 }; /* 14 bits each, so that four fit in what tsr_bits_put takes */

/* Of the 64-bit lanes that a and b are made of: a's, then b's behind them, b being `bits` long. */
static __m256i behind(__m256i a, __m256i b, __m256i bits) { return _mm256_or_si256(_mm256_sllv_epi64(a, bits), b); }

static int put_together(tsr_bits_out *out, const int32_t *value)
{
    const __m256i none = _mm256_setzero_si256(), one = _mm256_set1_epi32(1), most = _mm256_set1_epi32(SMALL);
    const __m256i v = _mm256_loadu_si256((const __m256i *)(const void *)value), m = _mm256_abs_epi32(v), next = _mm256_add_epi32(m, one);
    if (_mm256_movemask_epi8(_mm256_cmpeq_epi32(_mm256_max_epu32(m, most), most)) != -1) return 0;
    const __m256i exponent = _mm256_srli_epi32(_mm256_castps_si256(_mm256_cvtepi32_ps(next)), 23); /* of m + 1: how many data bits there are */
    const __m256i digits = _mm256_slli_epi32(_mm256_sub_epi32(exponent, _mm256_set1_epi32(127)), 1), zero = _mm256_cmpeq_epi32(m, none);
    __m256i spread = next; /* tsr_code_spread of 7 bits, the first of which is no data */
    spread = _mm256_and_si256(_mm256_or_si256(spread, _mm256_slli_epi32(spread, 4)), _mm256_set1_epi32(0x0f0f));
    spread = _mm256_and_si256(_mm256_or_si256(spread, _mm256_slli_epi32(spread, 2)), _mm256_set1_epi32(0x3333));
    spread = _mm256_and_si256(_mm256_or_si256(spread, _mm256_slli_epi32(spread, 1)), _mm256_set1_epi32(0x5555));
    spread = _mm256_xor_si256(spread, _mm256_sllv_epi32(one, digits));
    const __m256i magnitude = _mm256_or_si256(_mm256_add_epi32(spread, spread), one);
    const __m256i whole = _mm256_or_si256(_mm256_add_epi32(magnitude, magnitude), _mm256_srli_epi32(v, 31));
    const __m256i code = _mm256_blendv_epi8(whole, magnitude, zero), bits = _mm256_add_epi32(_mm256_add_epi32(digits, _mm256_set1_epi32(2)), zero);
    const __m256i later = _mm256_srli_epi64(bits, 32);
    const __m256i two = behind(_mm256_blend_epi32(code, none, 0xaa), _mm256_srli_epi64(code, 32), later);
    const __m256i two_bits = _mm256_add_epi64(_mm256_blend_epi32(bits, none, 0xaa), later), other_bits = _mm256_shuffle_epi32(two_bits, 0x4e);
    const __m256i quad = behind(two, _mm256_shuffle_epi32(two, 0x4e), other_bits), quad_bits = _mm256_add_epi64(two_bits, other_bits);
    const uint64_t first = (uint64_t)_mm256_extract_epi64(quad, 0), second = (uint64_t)_mm256_extract_epi64(quad, 2);
    const int32_t first_bits = _mm256_extract_epi32(quad_bits, 0), second_bits = _mm256_extract_epi32(quad_bits, 4);
    if (first_bits + second_bits <= 56) tsr_bits_put(out, first << second_bits | second, first_bits + second_bits);
    else {
        tsr_bits_put(out, first, first_bits);
        tsr_bits_put(out, second, second_bits);
    }
    return 1;
}
static void get_ready(void) {}
#else
enum { TOGETHER = 2, PAIR = 16, HALF_PAIR = PAIR / 2 };
typedef struct pair_code {
    uint32_t code;
    int32_t bits;
} pair_code;

static pair_code code_of(int32_t v)
{
    const uint32_t m = (uint32_t)(v < 0 ? -v : v);
    const int32_t bits = tsr_code_bits(m), digits = bits / 2;
    const uint32_t code = (uint32_t)(tsr_code_spread((m + 1) & ((1u << digits) - 1)) << 1 | 1);
    return (pair_code){ v ? code << 1 | (v < 0) : code, bits + (v != 0) };
}

static pair_code pairs[PAIR * PAIR];
static pthread_once_t pairs_once = PTHREAD_ONCE_INIT;
static void make_pairs(void)
{
    for (int32_t a = 0; a < PAIR; a++)
        for (int32_t b = 0; b < PAIR; b++) {
            const pair_code p = code_of(a - HALF_PAIR), q = code_of(b - HALF_PAIR);
            pairs[a * PAIR + b] = (pair_code){ p.code << q.bits | q.code, p.bits + q.bits };
        }
}
static void get_ready(void) { pthread_once(&pairs_once, make_pairs); }

static int put_together(tsr_bits_out *out, const int32_t *value)
{
    const uint32_t a = (uint32_t)value[0] + HALF_PAIR, b = (uint32_t)value[1] + HALF_PAIR;
    if ((a | b) >= PAIR) return 0;
    tsr_bits_put(out, pairs[a * PAIR + b].code, pairs[a * PAIR + b].bits);
    return 1;
}
#endif

void TSR_ISA_NAME(tsr_dirac_run_write)(const int32_t *value, const tsr_dirac_run *runs, int32_t count, int32_t index, const tsr_code_steps *steps,
                                       int32_t *scratch, tsr_bits_out *own)
{
    int32_t n = 0, k = 0;
    get_ready();
    for (int32_t r = 0; r < count; r++) {
        const uint64_t scale = steps->scale[own_index(index, runs[r].matrix)];
        quantise_run(value + n, runs[r].size, scale, scratch + n);
        n += runs[r].size;
    }
    while (n > 0 && !scratch[n - 1]) n--;
    tsr_bits_out out = *own;
    for (; k + TOGETHER <= n; k += TOGETHER) {
        if (put_together(&out, scratch + k)) continue;
        for (int32_t m = 0; m < TOGETHER; m++) put_value(&out, scratch[k + m]);
    }
    for (; k < n; k++) put_value(&out, scratch[k]);
    *own = out;
}

enum { AHEAD = 128 };

void TSR_ISA_NAME(tsr_dirac_gather)(const int32_t *wide, const int16_t *narrow, int64_t stride, const tsr_dirac_piece *pieces, int32_t count,
                                    int32_t across, int32_t down, int32_t *to)
{
    for (int32_t k = 0; k < count; k++) {
        const tsr_dirac_piece p = pieces[k];
        for (int32_t y = 0; y < p.h; y++, to += p.w) {
            const int64_t at = p.at + ((int64_t)down * p.h + y) * stride + (int64_t)across * p.w;
            int32_t x = 0;
            if (narrow) {
                __builtin_prefetch(narrow + at + AHEAD); /* of later slices: too many rows at once for the processor to see them coming */
                for (; x + 8 <= p.w; x += 8)
                    *(eight *)(void *)(to + x) = __builtin_convertvector(*(const eight_short *)(const void *)(narrow + at + x), eight);
                for (; x + 4 <= p.w; x += 4)
                    *(four *)(void *)(to + x) = __builtin_convertvector(*(const four_short *)(const void *)(narrow + at + x), four);
                for (; x < p.w; x++) to[x] = narrow[at + x];
            } else memcpy(to, wide + at, (size_t)p.w * sizeof *to);
        }
    }
}
