/* wavelet/calm_rows.h: the loops of calm.h over rows in work. Included by wavelet_isa.c, once. Samples in memory are of 16 bits, or, `wide`, of 32. */
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

/* Sixteen bits of each of so many numbers of 32; what does not fit becomes the nearest that does. */
TSR_PAIRS_INLINE tsr_wide_i16 narrowed(const int32_t *from)
{
#if defined(TSR_ISA_IS_avx512)
    const __m512i both = _mm512_packs_epi32(_mm512_loadu_si512(from), _mm512_loadu_si512(from + TSR_WIDE_32));
    return (tsr_wide_i16)_mm512_permutexvar_epi64(_mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7), both);
#elif defined(TSR_ISA_IS_avx2)
    const __m256i *p = (const __m256i *)(const void *)from;
    return (tsr_wide_i16)_mm256_permute4x64_epi64(_mm256_packs_epi32(_mm256_loadu_si256(p), _mm256_loadu_si256(p + 1)), 0xd8);
#elif defined(__x86_64__)
    const __m128i *p = (const __m128i *)(const void *)from;
    return (tsr_wide_i16)_mm_packs_epi32(_mm_loadu_si128(p), _mm_loadu_si128(p + 1));
#else
    tsr_wide_i16 v;
    for (int k = 0; k < TSR_WIDE_16; k++) v[k] = (int16_t)tsr_maxi(tsr_mini(from[k], INT16_MAX), INT16_MIN);
    return v;
#endif
}
TSR_PAIRS_INLINE void widened(tsr_wide_i16 v, int32_t *to)
{
#if defined(TSR_ISA_IS_avx512)
    _mm512_storeu_si512(to, _mm512_cvtepi16_epi32(_mm512_castsi512_si256((__m512i)v)));
    _mm512_storeu_si512(to + TSR_WIDE_32, _mm512_cvtepi16_epi32(_mm512_extracti64x4_epi64((__m512i)v, 1)));
#elif defined(TSR_ISA_IS_avx2)
    _mm256_storeu_si256((__m256i *)(void *)to, _mm256_cvtepi16_epi32(_mm256_castsi256_si128((__m256i)v)));
    _mm256_storeu_si256((__m256i *)(void *)(to + TSR_WIDE_32), _mm256_cvtepi16_epi32(_mm256_extracti128_si256((__m256i)v, 1)));
#else
    for (int k = 0; k < TSR_WIDE_16; k++) to[k] = v[k];
#endif
}

TSR_PAIRS_INLINE int split_calm16(const void *in, int64_t n, int32_t shift, int32_t bound, void *low, void *high, const int wide)
{
    const int16_t *p = (const int16_t *)in;
    const int32_t *p32 = (const int32_t *)in;
    int16_t *l = (int16_t *)low, *h = (int16_t *)high;
    const int16_t bits = (int16_t)shift, most = (int16_t)((bound >> shift) - 1); /* the largest magnitude before it is raised */
    tsr_wide_i16 large = { 0 };
    int over = most < 0;
    int64_t k = 0;
    for (; k + TSR_WIDE_16 <= n / 2; k += TSR_WIDE_16) {
        const tsr_wide_i16 a = wide ? narrowed(p32 + 2 * k) : *(const tsr_wide_i16 *)(const void *)(p + 2 * k);
        const tsr_wide_i16 b = wide ? narrowed(p32 + 2 * k + TSR_WIDE_16) : *(const tsr_wide_i16 *)(const void *)(p + 2 * k + TSR_WIDE_16);
        large = larger16(large, larger16(MAGNITUDE16(a), MAGNITUDE16(b)));
        *(tsr_wide_i16 *)(void *)(l + k) = __builtin_shufflevector(a, b, CALM_EVENS) << bits;
        *(tsr_wide_i16 *)(void *)(h + k) = __builtin_shufflevector(a, b, CALM_ODDS) << bits;
    }
    for (int64_t i = 2 * k; i < n; i++) {
        const int32_t v = wide ? p32[i] : p[i];
        over |= (v ^ v >> 31) > most;
        (i & 1 ? h : l)[i >> 1] = (int16_t)(uint16_t)((uint32_t)v << shift);
    }
    return !over && !tsr_wide_any_u16((tsr_wide_u16)(large > most));
}
static int i16_split_calm(const void *in, int64_t n, int32_t shift, int32_t bound, void *low, void *high)
{
    return split_calm16(in, n, shift, bound, low, high, 0);
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

/* What is known of a step where a loop is compiled, and its numbers, held in registers. */
typedef struct calm_step {
    tsr_calm_kind kind;
    int minus;
} calm_step;
typedef struct calm_numbers {
    int16_t rounding, shift, factor;
} calm_numbers;

static inline calm_numbers calm_numbers_of(const tsr_lift_step *s)
{
    const int32_t tap = s->tap[0] - (tsr_calm_kind_of(s) == TSR_CALM_PRODUCT_WHOLE ? 4096 : 0);
    return (calm_numbers){ (int16_t)s->rounding, (int16_t)(s->count == 4 ? s->shift - 3 : s->shift), (int16_t)(8 * tap) };
}

TSR_PAIRS_INLINE tsr_wide_i16 calm_at(const int16_t *p) { return *(const tsr_wide_i16 *)(const void *)p; }
TSR_PAIRS_INLINE void calm_put(int16_t *p, tsr_wide_i16 v) { *(tsr_wide_i16 *)(void *)p = v; }

/* What a step adds for neighbours v[0], v[1], ... at place i, but for the sign; `newest`, unless NULL, is the last of them. */
TSR_PAIRS_INLINE tsr_wide_i16 calm_value(const tsr_calm_kind kind, const calm_numbers c, const int16_t *const *v, int64_t i,
                                         const tsr_wide_i16 *newest)
{
#define AT(k) calm_at(v[k] + i)
#define LAST(k) (newest ? *newest : AT(k))
    switch (kind) {
    case TSR_CALM_ONE: return (LAST(0) + c.rounding) >> c.shift;
    case TSR_CALM_TWO: return (AT(0) + LAST(1) + c.rounding) >> c.shift;
    case TSR_CALM_PRODUCT: return product16(AT(0) + LAST(1), c.factor);
    case TSR_CALM_PRODUCT_WHOLE: {
        const tsr_wide_i16 sum = AT(0) + LAST(1);
        return sum + product16(sum, c.factor);
    }
    case TSR_CALM_FOUR: {
        const tsr_wide_i16 sum = AT(1) + AT(2);
        return (sum + ((sum - AT(0) - LAST(3) + c.rounding) >> 3)) >> c.shift;
    }
    case TSR_CALM_EIGHT_EVEN: return eight_even16(AT(3) + AT(4), AT(2) + AT(5), AT(1) + AT(6), AT(0) + LAST(7));
    default: return eight_odd16(AT(3) + AT(4), AT(2) + AT(5), AT(1) + AT(6), AT(0) + LAST(7));
    }
#undef AT
#undef LAST
}

TSR_PAIRS_INLINE tsr_wide_i16 calm_lifted(const calm_step s, const calm_numbers c, const int16_t *x, const int16_t *const *v, int64_t i,
                                          const tsr_wide_i16 *newest)
{
    const tsr_wide_i16 before = calm_at(x + i), p = calm_value(s.kind, c, v, i, newest);
    return s.minus ? before - p : before + p;
}

TSR_PAIRS_INLINE void calm_lift(const calm_step s, const tsr_lift_step *step, const int16_t *x, const int16_t *const *v, int64_t n, int16_t *to,
                                int16_t *copy)
{
    const calm_numbers c = calm_numbers_of(step);
    int64_t i = 0;
    for (; i + TSR_WIDE_16 <= n; i += TSR_WIDE_16) {
        const tsr_wide_i16 r = calm_lifted(s, c, x, v, i, NULL);
        calm_put(to + i, r);
        if (copy) calm_put(copy + i, r);
    }
    if (i == n) return;
    const tsr_wide_i16 r = calm_lifted(s, c, x, v, i, NULL);
    memcpy(to + i, &r, (size_t)(n - i) * sizeof *to);
    if (copy) memcpy(copy + i, &r, (size_t)(n - i) * sizeof *to);
}

static void i16_lift_calm(const tsr_lift_step *s, void *row, const void *const *neighbours, int64_t n, void *out, void *copy)
{
    const int16_t *v[TSR_WAVELET_TAPS];
    for (int32_t k = 0; k < s->count; k++) v[k] = (const int16_t *)neighbours[k];
#define LIFT(KIND)                                                                                                          \
    case KIND:                                                                                                              \
        if (s->sign < 0) calm_lift((calm_step){ KIND, 1 }, s, (const int16_t *)row, v, n, (int16_t *)out, (int16_t *)copy); \
        else calm_lift((calm_step){ KIND, 0 }, s, (const int16_t *)row, v, n, (int16_t *)out, (int16_t *)copy);             \
        break
    switch (tsr_calm_kind_of(s)) {
        LIFT(TSR_CALM_ONE);
        LIFT(TSR_CALM_TWO);
        LIFT(TSR_CALM_PRODUCT);
        LIFT(TSR_CALM_PRODUCT_WHOLE);
        LIFT(TSR_CALM_FOUR);
        LIFT(TSR_CALM_EIGHT_EVEN);
        LIFT(TSR_CALM_EIGHT_ODD);
    default: break;
    }
#undef LIFT
}

/* ---- all steps of a filter in one call ----------------------------------------------------------------------------------------------------- */

/* What is known of a filter where its loops are compiled: the parity that its first step changes, kinds and signs of its steps. chained: the last neighbour
 * of a step across rows is the row that the step before it has just made. */
typedef struct calm_steps {
    int first, steps, chained;
    calm_step step[4];
} calm_steps;

/* Step k along a row whose ends stand for what lies beyond them (clamp); both parts have room for a vector on either side. */
TSR_PAIRS_INLINE void calm_ends(int16_t *part, int64_t n)
{
    calm_put(part - TSR_WIDE_16, part[0] - (tsr_wide_i16){ 0 });
    calm_put(part + n, part[n - 1] - (tsr_wide_i16){ 0 });
}
#define CALM_ALONG(k)                                                     \
    const calm_numbers numbers = calm_numbers_of(&f->step[k]);            \
    const int odd = ((k)&1) ^ c.first;                                    \
    int16_t *const x = odd ? high : low, *const other = odd ? low : high; \
    const int64_t count = (n + 1 - odd) / 2;                              \
    const int16_t *v[TSR_WAVELET_TAPS];                                   \
    calm_ends(other, (n + odd) / 2);                                      \
    for (int t = 0; t < TSR_WAVELET_TAPS; t++) v[t] = other + (f->step[k].first + (odd ? 1 : -1)) / 2 + t

TSR_PAIRS_INLINE void calm_along(const calm_steps c, const tsr_lift_filter *f, int16_t *low, int16_t *high, int64_t n, int steps)
{
#pragma GCC unroll 4
    for (int k = 0; k < steps; k++) {
        CALM_ALONG(k);
        for (int64_t i = 0; i < count; i += TSR_WIDE_16) calm_put(x + i, calm_lifted(c.step[k], numbers, x, v, i, NULL));
    }
}

/* All steps along a row, the last one on the way to the samples. */
TSR_PAIRS_INLINE void calm_zip(tsr_wide_i16 even, tsr_wide_i16 odd, int32_t shift, void *out, int64_t at, const int wide)
{
    if (!wide) {
        pair16_zip(even, odd, shift, (int16_t *)out + at, 0);
        return;
    }
    const tsr_wide_i16 e = pair16_lowered(even, shift), o = pair16_lowered(odd, shift);
    widened(__builtin_shufflevector(e, o, CALM_ZIP_LOW), (int32_t *)out + at);
    widened(__builtin_shufflevector(e, o, CALM_ZIP_HIGH), (int32_t *)out + at + TSR_WIDE_16);
}
TSR_PAIRS_INLINE void calm_merge(const calm_steps c, const tsr_lift_filter *f, int16_t *low, int16_t *high, int64_t n, int32_t shift, void *out,
                                 const int wide)
{
    const int last = c.steps - 1;
    const int64_t pairs = n / 2;
    int64_t i = 0;
    calm_along(c, f, low, high, n, last);
    CALM_ALONG(last);
    for (; i + TSR_WIDE_16 <= pairs; i += TSR_WIDE_16) {
        const tsr_wide_i16 r = calm_lifted(c.step[last], numbers, x, v, i, NULL), o = calm_at(other + i);
        calm_zip(odd ? o : r, odd ? r : o, shift, out, 2 * i, wide);
    }
    if (2 * i == n) return;
    const size_t element = wide ? sizeof(int32_t) : sizeof(int16_t);
    int32_t ends[2 * TSR_WIDE_16];
    const tsr_wide_i16 r = calm_lifted(c.step[last], numbers, x, v, i, NULL), o = calm_at(other + i);
    calm_zip(odd ? o : r, odd ? r : o, shift, ends, 0, wide);
    memcpy((char *)out + (size_t)(2 * i) * element, ends, (size_t)(n - 2 * i) * element);
    (void)count;
}

/* Across rows: step k of row x[k], in the order of the steps. */
TSR_PAIRS_INLINE void calm_send(void *to, int64_t at, tsr_wide_i16 v, const int wide)
{
    if (wide) widened(v, (int32_t *)to + at);
    else calm_put((int16_t *)to + at, v);
}
TSR_PAIRS_INLINE void calm_across(const calm_steps c, const tsr_lift_filter *f, const tsr_calm_rows *r, const int out, const int wide)
{
    const size_t element = wide ? sizeof(int32_t) : sizeof(int16_t);
    calm_numbers numbers[4];
    const int16_t *v[4][TSR_WAVELET_TAPS];
    int16_t *x[4];
#pragma GCC unroll 4
    for (int k = 0; k < c.steps; k++) {
        numbers[k] = calm_numbers_of(&f->step[k]);
        x[k] = (int16_t *)r->x[k];
        for (int32_t t = 0; t < TSR_WAVELET_TAPS; t++) v[k][t] = (const int16_t *)r->from[k][t];
    }
    for (int part = 0; part < 2; part++) {
        const int64_t begin = r->begin[part], end = begin + r->n[part];
        void *const to[2] = { r->out[0][part], r->out[1][part] };
        const char *ahead[2] = { (const char *)r->ahead[0][part], (const char *)r->ahead[1][part] };
        int64_t i = begin;
#define COLUMN(PUT)                                                                                     \
    do {                                                                                                \
        tsr_wide_i16 before = { 0 }, value = { 0 };                                                     \
        _Pragma("GCC unroll 4") for (int k = 0; k < c.steps; k++)                                       \
        {                                                                                               \
            before = value;                                                                             \
            value = calm_lifted(c.step[k], numbers[k], x[k], v[k], i, k && c.chained ? &before : NULL); \
            if (k < c.steps - 1 || !out) calm_put(x[k] + i, value);                                     \
        }                                                                                               \
        if (out) {                                                                                      \
            PUT(to[0], before);                                                                         \
            PUT(to[1], value);                                                                          \
        }                                                                                               \
    } while (0)
#define PUT_WHOLE(p, v) calm_send((p), i - begin, (v), wide)
#define PUT_REST(p, v)                                                                          \
    do {                                                                                        \
        int32_t rest[TSR_WIDE_16];                                                              \
        calm_send(rest, 0, (v), wide);                                                          \
        memcpy((char *)(p) + (size_t)(i - begin) * element, rest, (size_t)(end - i) * element); \
    } while (0)
        for (; i + TSR_WIDE_16 <= end; i += TSR_WIDE_16) {
            for (int j = 0; j < 2; ahead[j++] += TSR_WIDE_16 * element)
                for (size_t line = 0; line < TSR_WIDE_16 * element; line += 64) __builtin_prefetch(ahead[j] + line, 0, 2);
            COLUMN(PUT_WHOLE);
        }
        if (i < end) COLUMN(PUT_REST);
#undef COLUMN
#undef PUT_WHOLE
#undef PUT_REST
    }
}

#define MINUS(what)                         \
    {                                       \
        .kind = TSR_CALM_##what, .minus = 1 \
    }
#define PLUS(what)              \
    {                           \
        .kind = TSR_CALM_##what \
    }
/* Loops of a filter over samples of 16 bits and of 32. */
#define CALM_LOOPS_OF(name, prefix, wide, first, steps, chained, ...)                                                                \
    static int prefix##split_##name(const tsr_lift_filter *f, const void *in, int64_t n, int32_t shift, void *low, void *high)       \
    {                                                                                                                                \
        const int calm = split_calm16(in, n, shift, f->calm16, low, high, wide);                                                     \
        if (calm) calm_along((calm_steps){ first, steps, chained, { __VA_ARGS__ } }, f, (int16_t *)low, (int16_t *)high, n, steps);  \
        return calm;                                                                                                                 \
    }                                                                                                                                \
    static void prefix##merge_##name(const tsr_lift_filter *f, void *low, void *high, int64_t n, int32_t shift, void *out)           \
    {                                                                                                                                \
        calm_merge((calm_steps){ first, steps, chained, { __VA_ARGS__ } }, f, (int16_t *)low, (int16_t *)high, n, shift, out, wide); \
    }                                                                                                                                \
    static void prefix##across_##name(const tsr_lift_filter *f, const tsr_calm_rows *r)                                              \
    {                                                                                                                                \
        if (r->out[0][0]) calm_across((calm_steps){ first, steps, chained, { __VA_ARGS__ } }, f, r, 1, wide);                        \
        else calm_across((calm_steps){ first, steps, chained, { __VA_ARGS__ } }, f, r, 0, wide);                                     \
    }
#define CALM_FILTER(name, first, steps, chained, ...)                                     \
    enum { chained_##name = chained };                                                    \
    static const calm_steps steps_of_##name = { first, steps, chained, { __VA_ARGS__ } }; \
    CALM_LOOPS_OF(name, i16_, 0, first, steps, chained, __VA_ARGS__)                      \
    CALM_LOOPS_OF(name, i32_, 1, first, steps, chained, __VA_ARGS__)
#define CALM_LOOPS(name)                                                                   \
    {                                                                                      \
        &steps_of_##name,                                                                  \
        {                                                                                  \
            { i16_split_##name, i16_merge_##name, i16_across_##name, chained_##name },     \
                { i32_split_##name, i32_merge_##name, i32_across_##name, chained_##name }, \
        }                                                                                  \
    }

CALM_FILTER(haar, 1, 2, 1, MINUS(ONE), PLUS(ONE))
CALM_FILTER(haar_back, 0, 2, 1, MINUS(ONE), PLUS(ONE))
CALM_FILTER(legall53, 1, 2, 1, MINUS(TWO), PLUS(TWO)) /* int16 has loops with averages for it */
CALM_FILTER(legall53_back, 0, 2, 1, MINUS(TWO), PLUS(TWO))
CALM_FILTER(dd97, 1, 2, 0, MINUS(FOUR), PLUS(TWO))
CALM_FILTER(dd97_back, 0, 2, 1, MINUS(TWO), PLUS(FOUR))
CALM_FILTER(dd137, 1, 2, 1, MINUS(FOUR), PLUS(FOUR))
CALM_FILTER(dd137_back, 0, 2, 1, MINUS(FOUR), PLUS(FOUR))
CALM_FILTER(daub97, 1, 4, 1, MINUS(PRODUCT_WHOLE), MINUS(PRODUCT), PLUS(PRODUCT), PLUS(PRODUCT))
CALM_FILTER(daub97_back, 0, 4, 1, MINUS(PRODUCT), MINUS(PRODUCT), PLUS(PRODUCT), PLUS(PRODUCT_WHOLE))
CALM_FILTER(fidelity, 0, 2, 1, PLUS(EIGHT_EVEN), MINUS(EIGHT_ODD))
CALM_FILTER(fidelity_back, 1, 2, 1, PLUS(EIGHT_ODD), MINUS(EIGHT_EVEN))

static const tsr_calm_loops *calm_loops_of(const tsr_lift_filter *f, int wide)
{
    static const struct {
        const calm_steps *steps;
        tsr_calm_loops loops[2];
    } all[] = { CALM_LOOPS(haar),   CALM_LOOPS(haar_back),   CALM_LOOPS(legall53), CALM_LOOPS(legall53_back),
                CALM_LOOPS(dd97),   CALM_LOOPS(dd97_back),   CALM_LOOPS(dd137),    CALM_LOOPS(dd137_back),
                CALM_LOOPS(daub97), CALM_LOOPS(daub97_back), CALM_LOOPS(fidelity), CALM_LOOPS(fidelity_back) };
    for (size_t m = 0; m < sizeof all / sizeof *all; m++) {
        const calm_steps *c = all[m].steps;
        int same = c->steps == f->steps;
        for (int k = 0; k < c->steps && same; k++) {
            const tsr_lift_step *s = &f->step[k];
            same = s->parity == (c->first ^ (k & 1)) && tsr_calm_kind_of(s) == c->step[k].kind && (s->sign < 0) == c->step[k].minus;
        }
        if (same) return &all[m].loops[wide];
    }
    return NULL;
}
static const tsr_calm_loops *i16_calm_loops(const tsr_lift_filter *f) { return calm_loops_of(f, 0); }
static const tsr_calm_loops *i32_calm_loops(const tsr_lift_filter *f) { return calm_loops_of(f, 1); }
#undef MINUS
#undef PLUS
#undef CALM_FILTER
#undef CALM_LOOPS
#undef CALM_LOOPS_OF
#undef CALM_ALONG
