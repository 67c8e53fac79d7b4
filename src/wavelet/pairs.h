/* wavelet/pairs.h: the text of the loops that take both steps of a filter of two taps each (5/3) at once, a vector at a time, so that no sample is
 * read or written between them. Included by wavelet_isa.c once per kind of row with
 *   NAME(f)   the function's name            T, V   element, and a vector of LANES of them
 *   EVENS, ODDS, NEXT, PREVIOUS   lanes of two vectors behind each other: the even ones, the odd ones, moved by one to the front, to the back
 *   TWO       what the steps need of a filter              STREAM(to, v)   a store past the caches
 *   NAME(first), NAME(second)   one step on a vector; lanes that are lost are marked in `bad`
 *   NAME(marked)                is one of the first lanes marked?
 *   NAME(raised), NAME(too_large)   a vector of samples raised, with what does not fit in `over`; is there anything? */

static inline V NAME(at)(const T *p) { return *(const V *)(const void *)p; }
static inline void NAME(put)(T *p, V v, int stream)
{
#if defined(__x86_64__)
    if (stream) {
        STREAM(p, v);
        return;
    }
#else
    (void)stream;
#endif
    *(V *)(void *)p = v;
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

/* One row of n >= 2 samples, mirrored at its ends. */
TSR_PAIRS_INLINE void NAME(split_pair_of)(const TWO two, const T *p, int64_t n, T *low, T *high, uint32_t *lost)
{
    const int64_t pairs = n / 2, whole = pairs / LANES * LANES, rest = pairs - whole;
    T tail[2 * LANES] = { 0 }; /* what whole vectors leave, and the even sample behind it or what stands for it */
    memcpy(tail, p + 2 * whole, (size_t)(2 * rest) * sizeof(T));
    tail[2 * rest] = p[n & 1 ? n - 1 : n - 2];
    V bad = { 0 }, over = { 0 }, end = { 0 }, previous = { 0 }, d = { 0 };
    const T *from = whole ? p : tail;
    V a = NAME(at)(from), b = NAME(at)(from + LANES);
    V even = NAME(raised)(two, __builtin_shufflevector(a, b, EVENS), &over), odd = NAME(raised)(two, __builtin_shufflevector(a, b, ODDS), &over);
    for (int64_t k = 0; k < whole; k += LANES) {
        from = k + LANES < whole ? p + 2 * (k + LANES) : tail;
        a = NAME(at)(from);
        b = NAME(at)(from + LANES);
        const V next_even = NAME(raised)(two, __builtin_shufflevector(a, b, EVENS), &over);
        const V next_odd = NAME(raised)(two, __builtin_shufflevector(a, b, ODDS), &over);
        d = NAME(first)(two, odd, even, __builtin_shufflevector(even, next_even, NEXT), &bad);
        if (!k) previous = d[0] - (V){ 0 };
        NAME(put)(low + k, NAME(second)(two, even, __builtin_shufflevector(previous, d, PREVIOUS), d, &bad), 0);
        NAME(put)(high + k, d, 0);
        previous = d;
        even = next_even;
        odd = next_odd;
    }
    if (rest) {
        d = NAME(first)(two, odd, even, __builtin_shufflevector(even, even, NEXT), &end);
        if (!whole) previous = d[0] - (V){ 0 };
        const V s = NAME(second)(two, even, __builtin_shufflevector(previous, d, PREVIOUS), d, &end);
        memcpy(low + whole, &s, (size_t)rest * sizeof(T));
        memcpy(high + whole, &d, (size_t)rest * sizeof(T));
        *lost |= NAME(marked)(end, (int)rest);
    }
    if (n & 1) {
        V single = { 0 }, alone = { 0 };
        alone[0] = tail[2 * rest];
        d = (V){ 0 };
        d[0] = high[pairs - 1];
        const V s = NAME(second)(two, NAME(raised)(two, alone, &over), d, d, &single);
        low[pairs] = s[0];
        *lost |= NAME(marked)(single, 1);
    }
    *lost |= NAME(marked)(bad, LANES) | NAME(too_large)(over);
}

#undef NAME
#undef T
#undef V
#undef LANES
#undef EVENS
#undef ODDS
#undef NEXT
#undef PREVIOUS
#undef TWO
#undef STREAM
