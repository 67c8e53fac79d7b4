/* compress/restore_body.h: the inverse of jpeg53, level by level, for one width of samples: T, and EVEN and ODD of restore.h. */

/* Of n samples of as many rows or planes. Most rows are short: whole vectors, then half ones, through memory of their own, so that nothing has to be
 * found out about the others. */
#define UNDO(RULE, x, to)                                                                                                        \
    do {                                                                                                                         \
        int64_t i = 0;                                                                                                           \
        T part[CHUNK];                                                                                                           \
        for (; i + CHUNK <= n; i += CHUNK) {                                                                                     \
            _Pragma("omp simd") for (int64_t k = 0; k < CHUNK; k++) part[k] = RULE((x)[i + k], before[i + k], after[i + k]);     \
            memcpy((to) + i, part, sizeof part);                                                                                 \
        }                                                                                                                        \
        for (; i + CHUNK / 2 <= n; i += CHUNK / 2) {                                                                             \
            _Pragma("omp simd") for (int64_t k = 0; k < CHUNK / 2; k++) part[k] = RULE((x)[i + k], before[i + k], after[i + k]); \
            memcpy((to) + i, part, sizeof part / 2);                                                                             \
        }                                                                                                                        \
        for (; i < n; i++) (to)[i] = RULE((x)[i], before[i], after[i]);                                                          \
    } while (0)
static inline void NAME(undo_update)(const T *low, const T *before, const T *after, int64_t n, T *even) { UNDO(EVEN, low, even); }
static inline void NAME(undo_predict)(const T *high, const T *before, const T *after, int64_t n, T *odd) { UNDO(ODD, high, odd); }
#undef UNDO

/* `count` samples of n each along an axis whose low and high parts are apart, n elements from one to the next; mirrored at the ends. */
static void NAME(merge)(const T *low, const T *high, int64_t step, int64_t count, int64_t n, T *out, int64_t out_step)
{
    const int64_t evens = (count + 1) / 2, odds = count / 2;
    if (!odds) {
        memcpy(out, low, (size_t)n * sizeof(T));
        return;
    }
    for (int64_t k = 0; k <= evens; k++) {
        if (k < evens)
            NAME(undo_update)(low + k * step, high + (k ? k - 1 : 0) * step, high + (k < odds ? k : odds - 1) * step, n, out + 2 * k * out_step);
        if (k && k - 1 < odds) NAME(undo_predict)
        (high + (k - 1) * step, out + (2 * k - 2) * out_step, out + (k < evens ? 2 * k : 2 * k - 2) * out_step, n, out + (2 * k - 1) * out_step);
    }
}

/* Even sample k of a row and the odd one behind it. */
#define MERGED(k, to, at)                                                                                     \
    do {                                                                                                      \
        const T here = EVEN(low[k], high[(k)-1], high[k]), next = EVEN(low[(k) + 1], high[k], high[(k) + 1]); \
        (to)[2 * (at)] = here;                                                                                \
        (to)[2 * (at) + 1] = ODD(high[k], here, next);                                                        \
    } while (0)

/* A row from its two halves, whole vectors of them: what lies beside them is read, and the ends of the row are put right. */
static void NAME(merge_row)(const T *low, const T *high, int64_t n, T *TSR_RESTRICT out)
{
    const int64_t evens = (n + 1) / 2, odds = n / 2;
    int64_t i = 0;
    T rest[2 * CHUNK];
    if (!odds) {
        out[0] = low[0];
        return;
    }
    for (; i + CHUNK <= odds; i += CHUNK) {
        T *TSR_RESTRICT to = out + 2 * i;
        _Pragma("omp simd") for (int64_t k = 0; k < CHUNK; k++) MERGED(i + k, to, k);
    }
    if (2 * i < n) {
        _Pragma("omp simd") for (int64_t k = 0; k < CHUNK; k++) MERGED(i + k, rest, k);
        memcpy(out + 2 * i, rest, (size_t)(n - 2 * i) * sizeof(T));
    }
    const T first = EVEN(low[0], high[0], high[0]);
    const T second = evens > 1 ? EVEN(low[1], high[0], high[odds > 1 ? 1 : 0]) : first;
    out[0] = first;
    out[1] = ODD(high[0], first, second);
    if (evens > odds) out[2 * odds] = EVEN(low[odds], high[odds - 1], high[odds - 1]);
    out[2 * odds - 1] = ODD(high[odds - 1], out[2 * odds - 2], out[evens > odds ? 2 * odds : 2 * odds - 2]);
}
#undef MERGED

/* One level: `low` and the bands behind each other to `out`, which may not be `low`. */
static void NAME(level)(const T *low, const T *bands, const int32_t size[3], T *slabs, T *slice, T *out)
{
    int32_t half[3], rest[3];
    const T *band[8];
    T *part[4];
    for (int a = 0; a < 3; a++) {
        half[a] = (size[a] + 1) / 2;
        rest[a] = size[a] / 2;
    }
    for (int k = 0; k < 8; k++) {
        band[k] = k ? bands : low;
        if (k) bands += (int64_t)(k & 1 ? rest[0] : half[0]) * (k & 2 ? rest[1] : half[1]) * (k & 4 ? rest[2] : half[2]);
    }
    for (int k = 0; k < 4; k++) { /* z: quadrants of every slice, one slice after the other */
        const int64_t n = (int64_t)(k & 1 ? rest[0] : half[0]) * (k & 2 ? rest[1] : half[1]);
        part[k] = slabs;
        slabs += n * size[2];
        if (n) NAME(merge)(band[k], band[k | 4], n, size[2], n, part[k], n);
    }
    for (int32_t z = 0; z < size[2]; z++) {
        T *left = slice, *right = slice + (int64_t)half[0] * size[1];
        const int64_t wl = half[0], wr = rest[0];
        NAME(merge)(part[0] + z * wl * half[1], part[2] + z * wl * rest[1], wl, size[1], wl, left, wl);
        if (wr) NAME(merge)(part[1] + z * wr * half[1], part[3] + z * wr * rest[1], wr, size[1], wr, right, wr);
        for (int32_t y = 0; y < size[1]; y++) NAME(merge_row)(left + y * wl, right + y * wr, size[0], out + ((int64_t)z * size[1] + y) * size[0]);
    }
}
