/* wavelet/calm_rows.h: the loops of calm.h over rows in work. Included by wavelet_isa.c, once. */
static int i16_within(const void *row, int64_t n, int32_t bound)
{
    const int16_t *v = (const int16_t *)row;
    const uint16_t half = (uint16_t)bound, all = (uint16_t)(2 * bound);
    tsr_wide_u16 beyond = { 0 };
    int over = 0;
    int64_t i = 0;
    for (; i + TSR_WIDE_16 <= n; i += TSR_WIDE_16) beyond |= (tsr_wide_u16)((*(const tsr_wide_u16 *)(const void *)(v + i) + half) >= all);
    for (; i < n; i++) over |= v[i] < -bound || v[i] >= bound;
    return !over && !tsr_wide_any_u16(beyond);
}

static inline tsr_wide_i16 larger16(tsr_wide_i16 a, tsr_wide_i16 b)
{
#if defined(TSR_ISA_IS_avx512)
    return (tsr_wide_i16)_mm512_max_epi16((__m512i)a, (__m512i)b);
#elif defined(TSR_ISA_IS_avx2)
    return (tsr_wide_i16)_mm256_max_epi16((__m256i)a, (__m256i)b);
#elif defined(__x86_64__)
    return (tsr_wide_i16)_mm_max_epi16((__m128i)a, (__m128i)b);
#else
    const tsr_wide_i16 m = (tsr_wide_i16)(a > b);
    return (m & a) | (~m & b);
#endif
}

/* Magnitudes: v or -1 - v, whichever is not negative. */
#define MAGNITUDE16(v) ((v) ^ ((v) >> 15))

static int i16_split_calm(const void *in, int64_t n, int32_t shift, int32_t bound, void *low, void *high)
{
    const int16_t *p = (const int16_t *)in;
    int16_t *l = (int16_t *)low, *h = (int16_t *)high;
    const int16_t bits = (int16_t)shift, most = (int16_t)((bound >> shift) - 1); /* the largest magnitude before it is raised */
    tsr_wide_i16 large = { 0 };
    int over = most < 0;
    int64_t k = 0;
    for (; k + TSR_WIDE_16 <= n / 2; k += TSR_WIDE_16) {
        const tsr_wide_i16 a = *(const tsr_wide_i16 *)(const void *)(p + 2 * k), b = *(const tsr_wide_i16 *)(const void *)(p + 2 * k + TSR_WIDE_16);
        large = larger16(large, larger16(MAGNITUDE16(a), MAGNITUDE16(b)));
        *(tsr_wide_i16 *)(void *)(l + k) = __builtin_shufflevector(a, b, CALM_EVENS) << bits;
        *(tsr_wide_i16 *)(void *)(h + k) = __builtin_shufflevector(a, b, CALM_ODDS) << bits;
    }
    for (int64_t i = 2 * k; i < n; i++) {
        over |= MAGNITUDE16(p[i]) > most;
        (i & 1 ? h : l)[i >> 1] = (int16_t)(uint16_t)((uint32_t)p[i] << shift);
    }
    return !over && !tsr_wide_any_u16((tsr_wide_u16)(large > most));
}

static inline tsr_wide_i16 product16(tsr_wide_i16 s, int16_t eighth) /* (eighth s + 2^14) >> 15 */
{
#if defined(TSR_ISA_IS_avx512)
    return (tsr_wide_i16)_mm512_mulhrs_epi16((__m512i)s, _mm512_set1_epi16(eighth));
#elif defined(TSR_ISA_IS_avx2)
    return (tsr_wide_i16)_mm256_mulhrs_epi16((__m256i)s, _mm256_set1_epi16(eighth));
#else
    tsr_wide_i16 p = { 0 };
    for (int k = 0; k < TSR_WIDE_16; k++) p[k] = (int16_t)((s[k] * eighth + 16384) >> 15);
    return p;
#endif
}

static inline tsr_wide_i16 eight_even16(tsr_wide_i16 s, tsr_wide_i16 t, tsr_wide_i16 u, tsr_wide_i16 w) /* 161 s - 46 t + 21 u - 8 w */
{
    tsr_wide_i16 p = (s + u) >> 1;
    p = (p + t) >> 1;
    p = (p + u) >> 1;
    p = (p - w) >> 1;
    p = (p + u - t) >> 1;
    p = (p + s - t) >> 2;
    return (p + s + 1) >> 1;
}
static inline tsr_wide_i16 eight_odd16(tsr_wide_i16 s, tsr_wide_i16 t, tsr_wide_i16 u, tsr_wide_i16 w) /* 81 s - 25 t + 10 u - 2 w */
{
    const tsr_wide_i16 d = s - t;
    tsr_wide_i16 p = d >> 1;
    p = (p + u - w) >> 2;
    p = (p + u - t) >> 1;
    p = (p + d) >> 2;
    p = (p + s) >> 1;
    return (p + 1) >> 1;
}

#define AT16(k) (*(const tsr_wide_i16 *)(const void *)(v[k] + i))
#define AT_X (*(const tsr_wide_i16 *)(const void *)(x + i))
#define CALM_LOOP(SIGN, P)                                                           \
    do {                                                                             \
        int64_t i = 0;                                                               \
        for (; i + TSR_WIDE_16 <= n; i += TSR_WIDE_16) {                             \
            const tsr_wide_i16 p = (P), r = AT_X SIGN p;                             \
            *(tsr_wide_i16 *)(void *)(to + i) = r;                                   \
            if (copy) *(tsr_wide_i16 *)(void *)((int16_t *)copy + i) = r;            \
        }                                                                            \
        if (i < n) {                                                                 \
            const tsr_wide_i16 p = (P), r = AT_X SIGN p;                             \
            memcpy(to + i, &r, (size_t)(n - i) * sizeof *to);                        \
            if (copy) memcpy((int16_t *)copy + i, &r, (size_t)(n - i) * sizeof *to); \
        }                                                                            \
    } while (0)
#define CALM_BOTH(P)                      \
    do {                                  \
        if (s->sign < 0) CALM_LOOP(-, P); \
        else CALM_LOOP(+, P);             \
    } while (0)

static void i16_lift_calm(const tsr_lift_step *s, void *row, const void *const *neighbours, int64_t n, void *out, void *copy)
{
    const int16_t *const x = (const int16_t *)row;
    int16_t *const to = (int16_t *)out;
    const int16_t *v[TSR_WAVELET_TAPS];
    const int16_t rounding = (int16_t)s->rounding, shift = (int16_t)s->shift;
    const int whole = s->tap[0] > 4095;
    const int16_t eighth = (int16_t)(8 * (whole ? s->tap[0] - 4096 : s->tap[0]));
    for (int32_t k = 0; k < s->count; k++) v[k] = (const int16_t *)neighbours[k];
    switch (tsr_calm_kind_of(s)) {
    case TSR_CALM_ONE: CALM_BOTH((AT16(0) + rounding) >> shift); break;
    case TSR_CALM_TWO: CALM_BOTH((AT16(0) + AT16(1) + rounding) >> shift); break;
    case TSR_CALM_PRODUCT:
        if (whole) CALM_BOTH(AT16(0) + AT16(1) + product16(AT16(0) + AT16(1), eighth));
        else CALM_BOTH(product16(AT16(0) + AT16(1), eighth));
        break;
    case TSR_CALM_FOUR: {
        const int16_t rest = (int16_t)(s->shift - 3);
        CALM_BOTH((AT16(1) + AT16(2) + ((AT16(1) + AT16(2) - AT16(0) - AT16(3) + rounding) >> 3)) >> rest);
        break;
    }
    case TSR_CALM_EIGHT_EVEN: CALM_BOTH(eight_even16(AT16(3) + AT16(4), AT16(2) + AT16(5), AT16(1) + AT16(6), AT16(0) + AT16(7))); break;
    default: CALM_BOTH(eight_odd16(AT16(3) + AT16(4), AT16(2) + AT16(5), AT16(1) + AT16(6), AT16(0) + AT16(7))); break;
    }
}
#undef AT16
#undef AT_X
#undef CALM_LOOP
#undef CALM_BOTH
