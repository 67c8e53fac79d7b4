/* wavelet/pairs.h: the text of the loops that take both steps of a filter of two taps each (5/3) at once, a vector at a time, so that no sample is
 * read or written between them. Included by wavelet_isa.c once per kind of row with
 *   NAME(f)   the function's name            T, V   element, and a vector of LANES of them
 *   EVENS, ODDS, NEXT, PREVIOUS   lanes of two vectors behind each other: the even ones, the odd ones, moved by one to the front, to the back
 *   TWO       what the steps need of a filter
 *   NAME(first), NAME(second)   one step on a vector; lanes that are lost are marked in `bad`
 *   NAME(marked)                is one of the first lanes marked?
 *   NAME(raised), NAME(too_large)   a vector of samples raised, with what does not fit in `over`; is there anything?
 *   ZIP_LOW, ZIP_HIGH   lanes of two vectors by turns, their lower halves and their upper ones
 *   NAME(lowered)   a vector of samples lowered by bits
 *   CALM_PART(two, rows, line, next, whole)   what another loop does of two rows first: returns the place where it stopped
 *   BEFORE_BOTH   where that loop stands, unless there is none */

static inline V NAME(at)(const T *p) { return *(const V *)(const void *)p; }
static inline void NAME(put)(T *p, V v, int stream)
{
    if (stream) tsr_wide_stream(p, &v);
    else *(V *)(void *)p = v;
}

/* x += first(behind, after), then out = behind + second(before, x); `copy`, unless NULL, gets x as well. The rest of a row is one more vector, a
 * part of which counts. */
TSR_PAIRS_INLINE void NAME(pair_of)(const TWO two, const T *before, const T *behind, T *x, const T *after, int64_t n, T *out, T *copy, int stream,
                                    uint32_t *lost)
{
    V bad = { 0 }, last = { 0 };
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        const V b = NAME(at)(behind + i), d = NAME(first)(two, NAME(at)(x + i), b, NAME(at)(after + i), &bad);
        const V s = NAME(second)(two, b, NAME(at)(before + i), d, &bad);
        NAME(put)(x + i, d, 0);
        if (copy) NAME(put)(copy + i, d, stream & TSR_ROWS_STREAM_COPY);
        NAME(put)(out + i, s, stream & TSR_ROWS_STREAM_OUT);
    }
    if (i < n) {
        T part[4][LANES] = { { 0 } };
        const size_t rest = (size_t)(n - i) * sizeof(T);
        memcpy(part[0], before + i, rest);
        memcpy(part[1], behind + i, rest);
        memcpy(part[2], x + i, rest);
        memcpy(part[3], after + i, rest);
        const V b = NAME(at)(part[1]), d = NAME(first)(two, NAME(at)(part[2]), b, NAME(at)(part[3]), &last);
        const V s = NAME(second)(two, b, NAME(at)(part[0]), d, &last);
        memcpy(x + i, &d, rest);
        if (copy) memcpy(copy + i, &d, rest);
        memcpy(out + i, &s, rest);
        *lost |= NAME(marked)(last, LANES);
    }
    *lost |= NAME(marked)(bad, LANES);
}

/* A row of n >= 2 samples, mirrored at its ends, on its way through the steps along it: LANES places of both parts at a time. */
typedef struct NAME(line) {
    const T *p, *tail; /* tail: 2 LANES, what whole vectors leave, and the even sample behind it or what stands for it */
    V even, odd, previous;
} NAME(line);

TSR_PAIRS_INLINE void NAME(line_load)(const TWO two, const T *from, V *even, V *odd, V *over)
{
    const V a = NAME(at)(from), b = NAME(at)(from + LANES);
    *even = NAME(raised)(two, __builtin_shufflevector(a, b, EVENS), over);
    *odd = NAME(raised)(two, __builtin_shufflevector(a, b, ODDS), over);
}

TSR_PAIRS_INLINE void NAME(line_begin)(const TWO two, NAME(line) * line, const T *p, int64_t n, T tail[2 * LANES], V *over)
{
    const int64_t pairs = n / 2, whole = pairs / LANES * LANES, rest = pairs - whole;
    line->p = p;
    line->tail = tail;
    line->previous = (V){ 0 };
    memcpy(tail, p + 2 * whole, (size_t)(2 * rest) * sizeof(T));
    tail[2 * rest] = p[n & 1 ? n - 1 : n - 2];
    NAME(line_load)(two, whole ? p : tail, &line->even, &line->odd, over);
}

/* Places k .. k + LANES, whole ones behind them up to `whole`. */
TSR_PAIRS_INLINE void NAME(line_next)(const TWO two, NAME(line) * line, int64_t k, int64_t whole, V *low, V *high, V *bad, V *over)
{
    V even, odd;
    NAME(line_load)(two, k + LANES < whole ? line->p + 2 * (k + LANES) : line->tail, &even, &odd, over);
    const V d = NAME(first)(two, line->odd, line->even, __builtin_shufflevector(line->even, even, NEXT), bad);
    if (!k) line->previous = d[0] - (V){ 0 };
    *low = NAME(second)(two, line->even, __builtin_shufflevector(line->previous, d, PREVIOUS), d, bad);
    *high = d;
    line->previous = d;
    line->even = even;
    line->odd = odd;
}

/* What is left behind whole vectors: (n + 1) / 2 - whole of low and n / 2 - whole of high. */
TSR_PAIRS_INLINE void NAME(line_end)(const TWO two, NAME(line) * line, int64_t n, T *low, T *high, V *over, uint32_t *lost)
{
    const int64_t pairs = n / 2, whole = pairs / LANES * LANES, rest = pairs - whole;
    V end = { 0 }, d = line->previous;
    T before = whole ? d[LANES - 1] : (T)0; /* the last one of high */
    if (rest) {
        d = NAME(first)(two, line->odd, line->even, __builtin_shufflevector(line->even, line->even, NEXT), &end);
        if (!whole) line->previous = d[0] - (V){ 0 };
        const V s = NAME(second)(two, line->even, __builtin_shufflevector(line->previous, d, PREVIOUS), d, &end);
        memcpy(low, &s, (size_t)rest * sizeof(T));
        memcpy(high, &d, (size_t)rest * sizeof(T));
        before = high[rest - 1];
        *lost |= NAME(marked)(end, (int)rest);
    }
    if (n & 1) {
        V single = { 0 }, alone = { 0 };
        alone[0] = line->tail[2 * rest];
        d = (V){ 0 };
        d[0] = before;
        const V s = NAME(second)(two, NAME(raised)(two, alone, over), d, d, &single);
        low[rest] = s[0];
        *lost |= NAME(marked)(single, 1);
    }
}

TSR_PAIRS_INLINE void NAME(split_pair_of)(const TWO two, const T *p, int64_t n, T *low, T *high, uint32_t *lost)
{
    const int64_t whole = n / 2 / LANES * LANES;
    V bad = { 0 }, over = { 0 };
    NAME(line) line;
    T tail[2 * LANES] = { 0 };
    NAME(line_begin)(two, &line, p, n, tail, &over);
    for (int64_t k = 0; k < whole; k += LANES) {
        V l, h;
        NAME(line_next)(two, &line, k, whole, &l, &h, &bad, &over);
        NAME(put)(low + k, l, 0);
        NAME(put)(high + k, h, 0);
    }
    NAME(line_end)(two, &line, n, low + whole, high + whole, &over, lost);
    *lost |= NAME(marked)(bad, LANES) | NAME(too_large)(over);
}

/* Even and odd samples to their places. */
TSR_PAIRS_INLINE void NAME(zip)(V even, V odd, int32_t shift, T *to, int stream)
{
    const V e = NAME(lowered)(even, shift), o = NAME(lowered)(odd, shift);
    NAME(put)(to, __builtin_shufflevector(e, o, ZIP_LOW), stream);
    NAME(put)(to + LANES, __builtin_shufflevector(e, o, ZIP_HIGH), stream);
}

/* Undoes the steps along a row, mirrored at its ends; even samples are ahead of odd ones by a vector. */
TSR_PAIRS_INLINE void NAME(merge_pair_of)(const TWO two, const T *low, const T *high, int64_t n, int32_t shift, T *out, int stream, uint32_t *lost)
{
    const int64_t pairs = n / 2, whole = pairs / LANES * LANES, rest = pairs - whole;
    const int past = stream && (uintptr_t)out % 64 == 0;
    T tail[2][LANES] = { { 0 } }, ends[2 * LANES];
    V bad = { 0 }, last = { 0 };
    memcpy(tail[0], low + whole, (size_t)(rest + (n & 1)) * sizeof(T));
    memcpy(tail[1], high + whole, (size_t)rest * sizeof(T));
    tail[1][rest] = high[pairs - 1];
    V h = NAME(at)(whole ? high : tail[1]), e = { 0 };
    e = NAME(first)(two, NAME(at)(whole ? low : tail[0]), __builtin_shufflevector(h[0] - (V){ 0 }, h, PREVIOUS), h, whole ? &bad : &last);
    for (int64_t k = 0; k < whole; k += LANES) {
        const int more = k + LANES < whole;
        const V next = NAME(at)(more ? high + k + LANES : tail[1]);
        V even = NAME(first)(two, NAME(at)(more ? low + k + LANES : tail[0]), __builtin_shufflevector(h, next, PREVIOUS), next, more ? &bad : &last);
        if (!more && !rest && !(n & 1)) even[0] = e[LANES - 1];
        NAME(zip)(e, NAME(second)(two, h, e, __builtin_shufflevector(e, even, NEXT), &bad), shift, out + 2 * k, past);
        e = even;
        h = next;
    }
    *lost |= NAME(marked)(bad, LANES) | NAME(marked)(last, (int)(rest + (n & 1)));
    if (rest + (n & 1) == 0) return;
    if (rest && !(n & 1)) e[rest] = e[rest - 1];
    last = (V){ 0 };
    NAME(zip)(e, NAME(second)(two, h, e, __builtin_shufflevector(e, e, NEXT), &last), shift, ends, 0);
    memcpy(out + 2 * whole, ends, (size_t)(n - 2 * whole) * sizeof(T));
    *lost |= NAME(marked)(last, (int)rest);
}

#ifdef BEFORE_BOTH
#include BEFORE_BOTH
#endif

/* Two rows of samples from memory to the bands: both steps along them and both across. */
TSR_PAIRS_INLINE void NAME(split_both_of)(const TWO two, const tsr_wavelet_two_rows *r, uint32_t *lost)
{
    const int64_t n = r->n, whole = n / 2 / LANES * LANES;
    const char *ahead[2] = { (const char *)r->ahead[0], (const char *)r->ahead[1] };
    T *before[2] = { (T *)r->before[0], (T *)r->before[1] }, *behind[2] = { (T *)r->behind[0], (T *)r->behind[1] };
    T *out[2] = { (T *)r->out[0], (T *)r->out[1] }, *copy[2] = { (T *)r->copy[0], (T *)r->copy[1] };
    V bad = { 0 }, over = { 0 };
    NAME(line) line, next;
    T tail[2][2 * LANES] = { { 0 } };
    NAME(line_begin)(two, &line, (const T *)r->row[0], n, tail[0], &over);
    NAME(line_begin)(two, &next, (const T *)r->row[1], n, tail[1], &over);
    for (int64_t k = CALM_PART(two, r, &line, &next, whole); k < whole; k += LANES) {
        V x[2], after[2];
        for (int j = 0; j < 2; j++) { /* of each row two vectors are read */
            const size_t at = 2 * (size_t)k * sizeof(T);
            __builtin_prefetch(ahead[j] + at, 0, 2);
            if (2 * sizeof(V) > 64) __builtin_prefetch(ahead[j] + at + 64, 0, 2);
        }
        NAME(line_next)(two, &line, k, whole, &x[0], &x[1], &bad, &over);
        NAME(line_next)(two, &next, k, whole, &after[0], &after[1], &bad, &over);
        for (int j = 0; j < 2; j++) {
            const V b = NAME(at)(behind[j] + k), d = NAME(first)(two, x[j], b, after[j], &bad);
            const V s = NAME(second)(two, b, NAME(at)(before[j] + k), d, &bad);
            NAME(put)(before[j] + k, d, 0);
            NAME(put)(behind[j] + k, after[j], 0);
            NAME(put)(copy[j] + k, d, r->stream_copy[j]);
            NAME(put)(out[j] + k, s, r->stream_out[j]);
        }
    }
    *lost |= NAME(marked)(bad, LANES);
    if (n == 2 * whole) {
        *lost |= NAME(too_large)(over);
        return;
    }
    T x[2][LANES] = { { 0 } }, after[2][LANES] = { { 0 } };
    NAME(line_end)(two, &line, n, x[0], x[1], &over, lost);
    NAME(line_end)(two, &next, n, after[0], after[1], &over, lost);
    for (int j = 0; j < 2; j++) {
        const int64_t rest = (n + 1 - j) / 2 - whole;
        NAME(pair_of)(two, before[j] + whole, behind[j] + whole, x[j], after[j], rest, out[j] + whole, copy[j] + whole, 0, lost);
        memcpy(before[j] + whole, x[j], (size_t)rest * sizeof(T));
        memcpy(behind[j] + whole, after[j], (size_t)rest * sizeof(T));
    }
    *lost |= NAME(too_large)(over);
}

#undef NAME
#undef T
#undef V
#undef LANES
#undef EVENS
#undef ODDS
#undef NEXT
#undef PREVIOUS
#undef ZIP_LOW
#undef ZIP_HIGH
#undef TWO
#undef CALM_PART
#undef BEFORE_BOTH
