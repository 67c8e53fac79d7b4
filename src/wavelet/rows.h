/* wavelet/rows.h: the text of the row loops, included by wavelet_isa.c once per kind of row with
 *   NAME(f)   the function's name            T, R   element in memory, element in rows       S   type of sums
 *   RULE      what applies a rule to S
 *   PAIRS     its loops of two steps at once, where there are any
 *   INTEGER   1 or 0                         NARROW 1: T is i16, values are checked          UNSIGNED the unsigned type of R (integers) */

#if INTEGER
#define FINISH(x, p) (R)((UNSIGNED)(x) + (UNSIGNED)(p)) /* i32 wraps */
#endif

/* One element raised; whether it fits is added to `bad`. */
#if NARROW && !defined(WIDE)
/* In operations of 16 bits, which vectors have twice as many of: the raised value fits where value + half lies within [0, 2 half). */
#define BAD uint16_t
#define RAISED(v) (T)(uint16_t)((uint32_t)(v)*factor)
#define RAISE_LOST(v, r) (uint16_t)((uint16_t)((uint32_t)(v) + half) & outside)
#define RAISE_CONSTANTS                                          \
    const uint32_t factor = 1u << shift, half = 32768u >> shift; \
    const uint16_t outside = (uint16_t) ~(2 * half - 1);
#elif NARROW
#define BAD uint32_t
#define RAISED(v) TSR_LIFT_RAISE((S)(v), shift)
#define RAISE_LOST(v, r) TSR_LIFT_LOST(r)
#elif INTEGER
#define BAD uint32_t
#define RAISED(v) (R) TSR_LIFT_RAISE((S)(v), shift)
#define RAISE_LOST(v, r) 0
#else
#define BAD uint32_t
#define RAISED(v) (v)
#define RAISE_LOST(v, r) 0
#endif

#ifndef RAISE_CONSTANTS
#define RAISE_CONSTANTS
#endif

static void NAME(split)(const void *in, int64_t stride, int64_t n, int32_t shift, void *low, void *high, uint32_t *lost)
{
    const T *TSR_RESTRICT p = (const T *)in;
    R *TSR_RESTRICT l = (R *)low, *TSR_RESTRICT h = (R *)high;
    int64_t pairs = n / 2;
    BAD bad = 0;
    RAISE_CONSTANTS(void) shift;
#define SPLIT(even, odd)                                 \
    {                                                    \
        R a = RAISED(even), b = RAISED(odd);             \
        bad |= RAISE_LOST(even, a) | RAISE_LOST(odd, b); \
        l[k] = a;                                        \
        h[k] = b;                                        \
    }
    if (stride == 1)
        for (int64_t k = 0; k < pairs; k++) SPLIT(p[2 * k], p[2 * k + 1])
    else
        for (int64_t k = 0; k < pairs; k++) SPLIT(p[2 * k * stride], p[(2 * k + 1) * stride])
    if (n & 1) {
        l[pairs] = RAISED(p[(n - 1) * stride]);
        bad |= RAISE_LOST(p[(n - 1) * stride], l[pairs]);
    }
    *lost |= bad != 0;
#undef SPLIT
}

static inline T NAME(lowered)(R v, int32_t shift, uint32_t *bad)
{
    (void)shift;
    (void)bad;
#if NARROW && !defined(WIDE)
    return shift ? (T)TSR_LIFT_LOWER16(v, shift) : v;
#elif INTEGER
    S w = TSR_LIFT_LOWER((S)v, shift);
#if NARROW
    *bad |= TSR_LIFT_LOST(w);
#endif
    return (T)w;
#else
    return v;
#endif
}

static void NAME(merge_part)(const R *TSR_RESTRICT l, const R *TSR_RESTRICT h, int64_t pairs, int32_t shift, T *TSR_RESTRICT p, int64_t stride,
                             uint32_t *lost)
{
    uint32_t bad = 0;
    if (stride == 1 && shift == 0)
        for (int64_t k = 0; k < pairs; k++) {
            p[2 * k] = NAME(lowered)(l[k], 0, &bad);
            p[2 * k + 1] = NAME(lowered)(h[k], 0, &bad);
        }
    else if (stride == 1)
        for (int64_t k = 0; k < pairs; k++) {
            p[2 * k] = NAME(lowered)(l[k], shift, &bad);
            p[2 * k + 1] = NAME(lowered)(h[k], shift, &bad);
        }
    else
        for (int64_t k = 0; k < pairs; k++) {
            p[2 * k * stride] = NAME(lowered)(l[k], shift, &bad);
            p[(2 * k + 1) * stride] = NAME(lowered)(h[k], shift, &bad);
        }
    *lost |= bad;
}

static void NAME(merge)(const void *low, const void *high, int64_t n, int32_t shift, void *out, int64_t stride, int stream, uint32_t *lost)
{
    const R *l = (const R *)low, *h = (const R *)high;
    T *p = (T *)out, part[STREAM_PART];
    if (stream && stride == 1)
        for (int64_t k = 0; k < n / 2; k += STREAM_PART / 2) {
            int64_t pairs = n / 2 - k < STREAM_PART / 2 ? n / 2 - k : STREAM_PART / 2;
            NAME(merge_part)(l + k, h + k, pairs, shift, part, 1, lost);
            stream_copy(p + 2 * k, part, (size_t)(2 * pairs) * sizeof *p);
        }
    else NAME(merge_part)(l, h, n / 2, shift, p, stride, lost);
    if (n & 1) p[(n - 1) * stride] = NAME(lowered)(l[n / 2], shift, lost);
}

static void NAME(load)(const void *in, int64_t stride, int64_t n, int32_t shift, double scale, void *row, uint32_t *lost)
{
    const T *TSR_RESTRICT p = (const T *)in;
    R *TSR_RESTRICT r = (R *)row;
#if INTEGER
    BAD bad = 0;
    RAISE_CONSTANTS(void) scale;
    if (stride == 1 && !shift && sizeof(T) == sizeof(R)) memcpy(r, p, (size_t)n * sizeof *r);
    else if (stride == 1)
        for (int64_t i = 0; i < n; i++) {
            r[i] = RAISED(p[i]);
            bad |= RAISE_LOST(p[i], r[i]);
        }
    else
        for (int64_t i = 0; i < n; i++) {
            r[i] = RAISED(p[i * stride]);
            bad |= RAISE_LOST(p[i * stride], r[i]);
        }
    *lost |= bad != 0;
#else
    (void)shift;
    (void)lost;
    const T factor = (T)scale;
    if (factor == (T)1 && stride == 1) memcpy(r, p, (size_t)n * sizeof *r);
    else if (factor == (T)1)
        for (int64_t i = 0; i < n; i++) r[i] = p[i * stride];
    else
        for (int64_t i = 0; i < n; i++) r[i] = p[i * stride] * factor;
#endif
}

static void NAME(store_part)(const R *TSR_RESTRICT r, int64_t n, int32_t shift, double scale, T *TSR_RESTRICT p, int64_t stride, uint32_t *lost)
{
#if INTEGER
    uint32_t bad = 0;
    (void)scale;
    if (!shift && sizeof(T) == sizeof(R) && stride == 1) memcpy(p, r, (size_t)n * sizeof *r);
    else if (stride == 1)
        for (int64_t i = 0; i < n; i++) p[i] = NAME(lowered)(r[i], shift, &bad);
    else
        for (int64_t i = 0; i < n; i++) p[i * stride] = NAME(lowered)(r[i], shift, &bad);
    *lost |= bad;
#else
    const T factor = (T)scale;
    (void)shift;
    (void)lost;
    if (factor == (T)1 && stride == 1) memcpy(p, r, (size_t)n * sizeof *r);
    else
        for (int64_t i = 0; i < n; i++) p[i * stride] = factor == (T)1 ? r[i] : r[i] * factor;
#endif
}

static void NAME(store)(const void *row, int64_t n, int32_t shift, double scale, void *out, int64_t stride, int stream, uint32_t *lost)
{
    const R *r = (const R *)row;
    T *p = (T *)out, part[STREAM_PART];
    if (!stream || stride != 1) NAME(store_part)(r, n, shift, scale, p, stride, lost);
    else if (sizeof(T) == sizeof(R) && !shift && scale == 1) stream_copy(p, r, (size_t)n * sizeof *p);
    else
        for (int64_t i = 0; i < n; i += STREAM_PART) {
            int64_t count = n - i < STREAM_PART ? n - i : STREAM_PART;
            NAME(store_part)(r + i, count, shift, scale, part, 1, lost);
            stream_copy(p + i, part, (size_t)count * sizeof *p);
        }
}

#undef BAD
#undef RAISED
#undef RAISE_CONSTANTS
#undef RAISE_LOST

/* One form of sum over all i. V(k): neighbour k. */
#define V(k) ((S)v##k[i])
#if NARROW && !defined(WIDE)
#define LIFT_LOOP(SUM)                                                \
    for (int64_t i = 0; i < n; i++) {                                 \
        S p = (TSR_LIFT_ROUND(SUM, rounding, shift) ^ minus) - minus; \
        S r = (S)x[i] + p;                                            \
        bad |= TSR_LIFT_LOST(r);                                      \
        x[i] = (R)r;                                                  \
    }
#elif INTEGER
#define LIFT_LOOP(SUM)                                                \
    for (int64_t i = 0; i < n; i++) {                                 \
        S p = (TSR_LIFT_ROUND(SUM, rounding, shift) ^ minus) - minus; \
        x[i] = FINISH(x[i], p);                                       \
    }
#else
#define LIFT_LOOP(SUM) \
    for (int64_t i = 0; i < n; i++) x[i] = x[i] + (SUM);
#endif

/* Steps that are no sums. */
static void NAME(lift_rule)(const tsr_lift_step *s, R *x, const void *const *neighbours, int64_t n, uint32_t *lost)
{
    S t[TSR_WAVELET_TAPS], v[TSR_WAVELET_TAPS];
    for (int32_t k = 0; k < s->count; k++)
#if INTEGER
        t[k] = s->tap[k];
#elif defined(DOUBLE)
        t[k] = s->real[k];
#else
        t[k] = s->real32[k];
#endif
    for (int64_t i = 0; i < n; i++) {
        for (int32_t k = 0; k < s->count; k++) v[k] = (S)((const R *)neighbours[k])[i];
        const S f = RULE(s->rule, s->threshold, s->count, t, v);
#if INTEGER
        const S p = TSR_LIFT_ROUND(f, s->rounding, s->shift);
        x[i] = FINISH(x[i], s->sign < 0 ? -p : p);
#else
        x[i] = s->sign < 0 ? x[i] - f : x[i] + f;
#endif
    }
    (void)lost; /* i16: rows are wide here, and looked at when they are narrowed */
}

static void NAME(lift)(const tsr_lift_step *s, void *to, const void *const *neighbours, int64_t n, uint32_t *lost)
{
    R *TSR_RESTRICT x = (R *)to;
    const R *v0 = (const R *)neighbours[0], *v1 = (const R *)neighbours[s->count > 1], *v2 = v0, *v3 = v0, *v4 = v0, *v5 = v0, *v6 = v0, *v7 = v0;
    S t[TSR_WAVELET_TAPS];
    uint32_t bad = 0;
    if (s->rule) {
        NAME(lift_rule)(s, x, neighbours, n, lost);
        return;
    }
#if INTEGER
    const S rounding = s->rounding, minus = s->sign < 0 ? -1 : 0;
    const int32_t shift = s->shift;
    for (int k = 0; k < TSR_WAVELET_TAPS; k++) t[k] = s->tap[k];
#if NARROW && !defined(WIDE)
    if (NAME(lift16)(s, x, v0, v1, n, lost) || NAME(lift_sums)(s, x, neighbours, n, lost)) return;
#endif
#elif defined(DOUBLE)
    memcpy(t, s->real, sizeof t);
#else
    memcpy(t, s->real32, sizeof t);
#endif
    if (s->count >= 4) {
        v2 = (const R *)neighbours[2];
        v3 = (const R *)neighbours[3];
    }
    if (s->symmetric && s->count == 2) {
#if INTEGER
        if (s->unit) {
            LIFT_LOOP(V(0) + V(1))
        } else
#endif
        {
            LIFT_LOOP(TSR_LIFT_PAIR(t, V))
        }
    } else if (s->symmetric && s->count == 4) {
        LIFT_LOOP(TSR_LIFT_FOUR(t, V))
    } else if (s->symmetric && s->count == 8) {
        v4 = (const R *)neighbours[4], v5 = (const R *)neighbours[5], v6 = (const R *)neighbours[6], v7 = (const R *)neighbours[7];
        LIFT_LOOP(TSR_LIFT_EIGHT(t, V))
    } else if (s->count == 1) {
        LIFT_LOOP(t[0] * V(0))
    } else { /* in the order of the taps */
        for (int64_t i = 0; i < n; i++) {
            S sum = t[0] * V(0);
            for (int32_t k = 1; k < s->count; k++) sum = sum + t[k] * (S)((const R *)neighbours[k])[i];
#if INTEGER
            S p = (TSR_LIFT_ROUND(sum, rounding, shift) ^ minus) - minus;
#if NARROW && !defined(WIDE)
            bad |= TSR_LIFT_LOST((S)x[i] + p);
#endif
            x[i] = FINISH(x[i], p);
#else
            x[i] = x[i] + sum;
#endif
        }
    }
    *lost |= bad;
}

#ifdef WIDE
/* After an axis the values fit into 16 bits again, or are lost. */
static void NAME(narrow)(void *row, int64_t n, uint32_t *lost)
{
    R *r = (R *)row;
    uint32_t bad = 0;
    for (int64_t i = 0; i < n; i++) {
        bad |= TSR_LIFT_LOST(r[i]);
        r[i] = (T)r[i];
    }
    *lost |= bad;
}
#define NARROW_ROW NAME(narrow)
#else
#define NARROW_ROW NULL
#endif

#ifndef PAIRS
#define PAIRS NULL, NULL, NULL, NULL
#endif
#ifndef CALM_ROWS
#define CALM_ROWS NULL, NULL, NULL, NULL
#endif
static const tsr_wavelet_rows NAME(rows) = { sizeof(T),   sizeof(R),    NAME(split), NAME(merge), NAME(lift), NAME(load),
                                             NAME(store), tsr_stream_drain, NARROW_ROW,  CALM_ROWS,   PAIRS };

#undef NARROW_ROW
#undef PAIRS
#undef CALM_ROWS

#undef RULE
#undef FINISH
#undef V
#undef LIFT_LOOP
#undef NAME
#undef T
#undef R
#undef S
#undef INTEGER
#undef NARROW
#undef UNSIGNED
