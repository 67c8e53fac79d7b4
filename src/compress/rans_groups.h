/* compress/rans_groups.h: 32 states of rANS on a CPU: groups of 32 coefficients of one stream, or of two streams at once, whose chains of steps do not wait
 * for each other. Part of fast_isa.c. */

enum { GROUP_BYTES = 2 * 2 * TSR_RANS_LANES }; /* at most, of words that a group takes without escapes */

struct lanes {
    uint32_t state[TSR_RANS_LANES];
    const uint8_t *at, *end; /* words */
    int32_t start;
#if defined(TSR_ISA_IS_avx512) || defined(TSR_ISA_IS_avx2)
    uint8_t tail[2 * GROUP_BYTES]; /* the last words once `at` is there, and zeros */
#endif
};

static void begin_lanes(const tsr_fast_source *s, struct lanes *t)
{
    t->start = tsr_rans_start_of(s->bytes, s->size);
    for (size_t l = 0; l < TSR_RANS_LANES; l++)
        t->state[l] = s->size >= TSR_RANS_HEADER + 4 * l + 4 ? tsr_get_u32(s->bytes + TSR_RANS_HEADER + 4 * l) : 0;
    t->end = s->bytes + s->size;
    t->at = s->size > TSR_RANS_HEADER + TSR_RANS_STATES ? s->bytes + TSR_RANS_HEADER + TSR_RANS_STATES : t->end;
}

/* Words that are there for one step; those beyond the end are 0. */
static inline const uint8_t *words_of(const struct lanes *t, uint8_t copy[2 * TSR_RANS_LANES])
{
    if (t->end - t->at >= 2 * TSR_RANS_LANES) return t->at;
    memset(copy, 0, 2 * TSR_RANS_LANES);
    memcpy(copy, t->at, (size_t)(t->end - t->at));
    return copy;
}
static inline void take_words(struct lanes *t, int64_t count) { t->at = count * 2 < t->end - t->at ? t->at + count * 2 : t->end; }

static void refill(struct lanes *t, const uint8_t *lane, int32_t count)
{
    uint8_t copy[2 * TSR_RANS_LANES];
    const uint8_t *words = words_of(t, copy);
    int32_t taken = 0;
    for (int32_t i = 0; i < count; i++) {
        const int32_t l = lane ? lane[i] : i;
        const uint32_t x = t->state[l], few = x < TSR_RANS_LEAST;
        t->state[l] = few ? x << 16 | tsr_get_u16(words + 2 * taken) : x;
        taken += (int32_t)few;
    }
    take_words(t, taken);
}

static uint32_t take_plain(uint32_t *state, int32_t bits)
{
    const uint32_t v = *state & ((1u << bits) - 1);
    *state >>= bits;
    return v;
}

/* Lanes whose token is the last: `above` becomes what follows it. */
static void escape(struct lanes *t, int32_t n, uint32_t *above)
{
    uint8_t lane[TSR_RANS_LANES] = { 0 }, far[TSR_RANS_LANES] = { 0 };
    int32_t bits[TSR_RANS_LANES] = { 0 }, count = 0, more = 0;
    for (int32_t l = 0; l < n; l++)
        if (above[l] == TSR_RANS_ESCAPE) lane[count++] = (uint8_t)l;
    for (int32_t i = 0; i < count; i++) bits[i] = (int32_t)take_plain(&t->state[lane[i]], TSR_RANS_ESCAPE_BITS);
    refill(t, lane, count);
    for (int32_t i = 0; i < count; i++) above[lane[i]] = take_plain(&t->state[lane[i]], bits[i] < 16 ? bits[i] : 16);
    refill(t, lane, count);
    for (int32_t i = 0; i < count; i++)
        if (bits[i] > 16) {
            above[lane[i]] |= take_plain(&t->state[lane[i]], bits[i] - 16) << 16;
            far[more++] = lane[i];
        }
    refill(t, far, more);
    for (int32_t i = 0; i < count; i++) above[lane[i]] = (above[lane[i]] | 1u << bits[i]) + TSR_RANS_ESCAPE - 1;
}

/* Groups of any number of coefficients. */
static void decode_some(struct lanes *t, const tsr_rans_lookup *lookup, const uint8_t *context, int32_t n, int32_t *v)
{
    uint32_t above[TSR_RANS_LANES], escapes = 0;
    for (int32_t l = 0; l < n; l++) {
        const uint32_t x = t->state[l], s = lookup->slot[tsr_rans_table(context[l])][x & (TSR_RANS_SLOTS - 1)];
        above[l] = s & 15;
        escapes |= above[l] == TSR_RANS_ESCAPE;
        t->state[l] = tsr_rans_advance(x, s >> 16, s >> 4 & (TSR_RANS_SLOTS - 1));
    }
    refill(t, NULL, n);
    if (escapes) escape(t, n, above);
    for (int32_t l = 0; l < n; l++) v[l] = tsr_rans_finish(&t->state[l], above[l], tsr_rans_plain(context[l]));
    refill(t, NULL, n);
}

#if defined(TSR_ISA_IS_avx512) || defined(TSR_ISA_IS_avx2)

/* ---- as vectors: PARTS of them hold the states, `reg` ------------------------------------------------------------------------------------------- */

#if defined(TSR_ISA_IS_avx512)
enum { PARTS = 2 };
typedef __m512i reg;
static inline reg load_part(const uint32_t *p) { return _mm512_loadu_si512((const void *)p); }
static inline void store_part(uint32_t *p, reg v) { _mm512_storeu_si512((void *)p, v); }
static inline void put16(int16_t *to, const reg v[PARTS])
{
    for (int k = 0; k < PARTS; k++) _mm256_storeu_si256((__m256i *)(void *)(to + 16 * k), _mm512_cvtepi32_epi16(v[k]));
}
static inline void put32(int32_t *to, const reg v[PARTS])
{
    for (int k = 0; k < PARTS; k++) _mm512_storeu_si512((void *)(to + 16 * k), v[k]);
}
static inline reg refill_part(const tsr_rans_lookup *lookup, const uint8_t **at, reg x)
{
    (void)lookup;
    const __mmask16 few = _mm512_cmplt_epu32_mask(x, _mm512_set1_epi32((int)TSR_RANS_LEAST));
    const reg words = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const void *)*at));
    *at += 2 * __builtin_popcount(few);
    return _mm512_mask_or_epi32(x, few, _mm512_slli_epi32(x, 16), _mm512_maskz_expand_epi32(few, words));
}
/* Tokens by four steps of halving among the slots at which they begin, which a permutation of `first` gives for every lane's table before its state is
 * known: words of 16 bits, lanes 0-3, 16-19, 4-7, 20-23, ..., as packing puts them. Returns whether a token is the last. */
static inline int token_group(const tsr_rans_lookup *lookup, const uint8_t *context, reg x[PARTS], reg above[PARTS], reg plain[PARTS])
{
    const reg order = _mm512_setr_epi64(0, 4, 1, 5, 2, 6, 3, 7), zero = _mm512_setzero_si512(), slots = _mm512_set1_epi32(TSR_RANS_SLOTS - 1);
    const reg c = _mm512_permutexvar_epi64(order, _mm512_cvtepu8_epi16(_mm256_loadu_si256((const void *)context)));
    const reg odd = _mm512_and_si512(c, _mm512_set1_epi16(1));
    const reg row = _mm512_min_epu16(c, _mm512_or_si512(odd, _mm512_set1_epi16(TSR_RANS_ROWS - 2)));
    const reg bits = _mm512_srli_epi16(_mm512_subs_epu16(c, _mm512_set1_epi16(TSR_RANS_SMALL - 2)), 1);
    reg f[TSR_RANS_TOKENS];
    for (int k = 1; k < TSR_RANS_TOKENS; k++) {
        f[k] = _mm512_permutexvar_epi16(row, _mm512_loadu_si512((const void *)lookup->first[k]));
        __asm__("" : "+v"(f[k])); /* or GCC makes one of permutation and blend, which waits for the state */
    }
    const reg slot = _mm512_packus_epi32(_mm512_and_si512(x[0], slots), _mm512_and_si512(x[1], slots));
    reg begin = zero, end = _mm512_set1_epi16(TSR_RANS_SLOTS), token = zero;
    for (int half = TSR_RANS_TOKENS / 2; half; half /= 2) { /* f[half] is the middle; what remains moves to f[1] to f[half - 1] */
        const __mmask32 high = _mm512_cmpge_epu16_mask(slot, f[half]);
        begin = _mm512_mask_mov_epi16(begin, high, f[half]);
        end = _mm512_mask_blend_epi16(high, f[half], end);
        token = _mm512_mask_add_epi16(token, high, token, _mm512_set1_epi16((short)half));
        for (int k = 1; k < half; k++) f[k] = _mm512_mask_blend_epi16(high, f[k], f[k + half]);
    }
    const reg width = _mm512_sub_epi16(end, begin), offset = _mm512_sub_epi16(slot, begin);
    x[0] = _mm512_add_epi32(_mm512_mullo_epi32(_mm512_unpacklo_epi16(width, zero), _mm512_srli_epi32(x[0], TSR_RANS_BITS)),
                            _mm512_unpacklo_epi16(offset, zero));
    x[1] = _mm512_add_epi32(_mm512_mullo_epi32(_mm512_unpackhi_epi16(width, zero), _mm512_srli_epi32(x[1], TSR_RANS_BITS)),
                            _mm512_unpackhi_epi16(offset, zero));
    above[0] = _mm512_unpacklo_epi16(token, zero);
    above[1] = _mm512_unpackhi_epi16(token, zero);
    plain[0] = _mm512_unpacklo_epi16(bits, zero);
    plain[1] = _mm512_unpackhi_epi16(bits, zero);
    return _mm512_cmpeq_epi16_mask(token, _mm512_set1_epi16(TSR_RANS_ESCAPE)) != 0;
}
static inline reg finish_part(reg *x, reg above, reg plain)
{
    const reg one = _mm512_set1_epi32(1), zero = _mm512_setzero_si512();
    const reg m = _mm512_or_si512(_mm512_sllv_epi32(above, plain), _mm512_and_si512(*x, _mm512_sub_epi32(_mm512_sllv_epi32(one, plain), one)));
    const reg some = _mm512_maskz_mov_epi32(_mm512_test_epi32_mask(m, m), one);
    const reg negative = _mm512_and_si512(_mm512_srlv_epi32(*x, plain), some);
    *x = _mm512_srlv_epi32(*x, _mm512_add_epi32(plain, some));
    return _mm512_add_epi32(_mm512_xor_si512(m, _mm512_sub_epi32(zero, negative)), negative);
}
#else
enum { PARTS = 4 };
typedef __m256i reg;
static inline reg load_part(const uint32_t *p) { return _mm256_loadu_si256((const void *)p); }
static inline void store_part(uint32_t *p, reg v) { _mm256_storeu_si256((void *)p, v); }
static inline void put16(int16_t *to, const reg v[PARTS])
{
    const reg low = _mm256_set1_epi32(0xffff);
    for (int k = 0; k < PARTS; k += 2) {
        const reg both = _mm256_packus_epi32(_mm256_and_si256(v[k], low), _mm256_and_si256(v[k + 1], low));
        _mm256_storeu_si256((__m256i *)(void *)(to + 8 * k), _mm256_permute4x64_epi64(both, 0xd8));
    }
}
static inline void put32(int32_t *to, const reg v[PARTS])
{
    for (int k = 0; k < PARTS; k++) _mm256_storeu_si256((__m256i *)(void *)(to + 8 * k), v[k]);
}
static inline reg refill_part(const tsr_rans_lookup *lookup, const uint8_t **at, reg x)
{
    const reg few = _mm256_cmpeq_epi32(_mm256_srli_epi32(x, 16), _mm256_setzero_si256());
    const int mask = _mm256_movemask_ps(_mm256_castsi256_ps(few));
    const reg words = _mm256_cvtepu16_epi32(_mm_loadu_si128((const void *)*at));
    const reg order = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const void *)lookup->expand[mask]));
    *at += 2 * __builtin_popcount((unsigned)mask);
    return _mm256_blendv_epi8(x, _mm256_or_si256(_mm256_slli_epi32(x, 16), _mm256_permutevar8x32_epi32(words, order)), few);
}
static inline int token_group(const tsr_rans_lookup *lookup, const uint8_t *context, reg x[PARTS], reg above[PARTS], reg plain[PARTS])
{
    const reg slots = _mm256_set1_epi32(TSR_RANS_SLOTS - 1), last = _mm256_set1_epi32(TSR_RANS_ESCAPE);
    reg far = _mm256_setzero_si256();
    for (int k = 0; k < PARTS; k++) {
        const reg c = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const void *)(context + 8 * k)));
        const reg large = _mm256_add_epi32(_mm256_and_si256(c, _mm256_set1_epi32(1)), _mm256_set1_epi32(TSR_RANS_SMALL));
        const reg table = _mm256_blendv_epi8(c, large, _mm256_cmpgt_epi32(c, _mm256_set1_epi32(TSR_RANS_SMALL - 1)));
        const reg at = _mm256_or_si256(_mm256_slli_epi32(table, TSR_RANS_BITS), _mm256_and_si256(x[k], slots));
        const reg s = _mm256_i32gather_epi32((const int *)(const void *)lookup->slot, at, 4);
        x[k] = _mm256_add_epi32(_mm256_mullo_epi32(_mm256_srli_epi32(s, 16), _mm256_srli_epi32(x[k], TSR_RANS_BITS)),
                                _mm256_and_si256(_mm256_srli_epi32(s, 4), slots));
        above[k] = _mm256_and_si256(s, last);
        plain[k] = _mm256_srli_epi32(_mm256_max_epi32(_mm256_sub_epi32(c, _mm256_set1_epi32(TSR_RANS_SMALL - 2)), _mm256_setzero_si256()), 1);
        far = _mm256_or_si256(far, _mm256_cmpeq_epi32(above[k], last));
    }
    return !_mm256_testz_si256(far, far);
}
static inline reg finish_part(reg *x, reg above, reg plain)
{
    const reg one = _mm256_set1_epi32(1), zero = _mm256_setzero_si256();
    const reg m = _mm256_or_si256(_mm256_sllv_epi32(above, plain), _mm256_and_si256(*x, _mm256_sub_epi32(_mm256_sllv_epi32(one, plain), one)));
    const reg some = _mm256_add_epi32(_mm256_cmpeq_epi32(m, zero), one);
    const reg negative = _mm256_and_si256(_mm256_srlv_epi32(*x, plain), some);
    *x = _mm256_srlv_epi32(*x, _mm256_add_epi32(plain, some));
    return _mm256_add_epi32(_mm256_xor_si256(m, _mm256_sub_epi32(zero, negative)), negative);
}
#endif

enum { EACH = TSR_RANS_LANES / PARTS };

/* From here on so many bytes may be read as a group takes. */
static inline const uint8_t *with_room(struct lanes *t, const uint8_t *at)
{
    const size_t rest = (size_t)(t->end - at);
    if (rest >= GROUP_BYTES || (at >= t->tail && at <= t->tail + GROUP_BYTES)) return at;
    memcpy(t->tail, at, rest);
    memset(t->tail + rest, 0, sizeof t->tail - rest);
    t->end = t->tail + rest;
    return t->tail;
}
static const uint8_t *escape_group(struct lanes *t, const uint8_t *at, reg state[PARTS], reg above[PARTS])
{
    uint32_t a[TSR_RANS_LANES];
    for (int k = 0; k < PARTS; k++) {
        store_part(t->state + EACH * k, state[k]);
        store_part(a + EACH * k, above[k]);
    }
    t->at = at < t->end ? at : t->end;
    escape(t, TSR_RANS_LANES, a);
    for (int k = 0; k < PARTS; k++) {
        state[k] = load_part(t->state + EACH * k);
        above[k] = load_part(a + EACH * k);
    }
    return with_room(t, t->at);
}
/* Whole groups of `many` streams; returns the place behind them. Each stream has variables of its own: states stay in registers. */
#define DECODE_GROUPS(T, PUT)                                                                                                                \
    static inline __attribute__((always_inline))                                                                                             \
    const uint8_t *group_##T(struct lanes *t, const tsr_rans_lookup *lookup, const uint8_t *at, reg x[PARTS], const uint8_t *context, T *v)  \
    {                                                                                                                                        \
        reg above[PARTS], plain[PARTS], value[PARTS];                                                                                        \
        const int far = token_group(lookup, context, x, above, plain);                                                                       \
        at = with_room(t, at);                                                                                                               \
        for (int k = 0; k < PARTS; k++) x[k] = refill_part(lookup, &at, x[k]);                                                               \
        if (far) at = escape_group(t, at, x, above);                                                                                         \
        for (int k = 0; k < PARTS; k++) value[k] = finish_part(&x[k], above[k], plain[k]);                                                   \
        PUT(v, value);                                                                                                                       \
        for (int k = 0; k < PARTS; k++) x[k] = refill_part(lookup, &at, x[k]);                                                               \
        return at < t->end ? at : t->end;                                                                                                    \
    }                                                                                                                                        \
    static int64_t decode_groups_##T(struct lanes *t, int many, const tsr_rans_lookup *lookup, const uint8_t *const *context, int64_t first, \
                                     int64_t n, T *const *v)                                                                                 \
    {                                                                                                                                        \
        struct lanes *const u = &t[many - 1];                                                                                                \
        const uint8_t *at = t->at, *also = u->at, *const c = context[0], *const d = context[many - 1];                                       \
        T *const to = v[0], *const too = v[many - 1];                                                                                        \
        reg x[PARTS], y[PARTS];                                                                                                              \
        int64_t i = first;                                                                                                                   \
        for (int k = 0; k < PARTS; k++) x[k] = load_part(t->state + EACH * k);                                                               \
        for (int k = 0; k < PARTS; k++) y[k] = load_part(u->state + EACH * k);                                                               \
        for (; many == 1 && i + TSR_RANS_LANES <= first + n; i += TSR_RANS_LANES) at = group_##T(t, lookup, at, x, c + i, to + i);           \
        for (; i + TSR_RANS_LANES <= first + n; i += TSR_RANS_LANES) {                                                                       \
            at = group_##T(t, lookup, at, x, c + i, to + i);                                                                                 \
            also = group_##T(u, lookup, also, y, d + i, too + i);                                                                            \
        }                                                                                                                                    \
        if (many == 2) {                                                                                                                     \
            u->at = also;                                                                                                                    \
            for (int k = 0; k < PARTS; k++) store_part(u->state + EACH * k, y[k]);                                                           \
        }                                                                                                                                    \
        t->at = at;                                                                                                                          \
        for (int k = 0; k < PARTS; k++) store_part(t->state + EACH * k, x[k]);                                                               \
        return i - first;                                                                                                                    \
    }
DECODE_GROUPS(int16_t, put16)
DECODE_GROUPS(int32_t, put32)
#else
#define DECODE_GROUPS(T)                                                                                                                     \
    static int64_t decode_groups_##T(struct lanes *t, int many, const tsr_rans_lookup *lookup, const uint8_t *const *context, int64_t first, \
                                     int64_t n, T *const *v)                                                                                 \
    {                                                                                                                                        \
        int64_t i = first;                                                                                                                   \
        for (; i + TSR_RANS_LANES <= first + n; i += TSR_RANS_LANES)                                                                         \
            for (int s = 0; s < many; s++) {                                                                                                 \
                int32_t wide[TSR_RANS_LANES];                                                                                                \
                decode_some(&t[s], lookup, context[s] + i, TSR_RANS_LANES, wide);                                                            \
                for (int l = 0; l < TSR_RANS_LANES; l++) v[s][i + l] = (T)wide[l];                                                           \
            }                                                                                                                                \
        return i - first;                                                                                                                    \
    }
DECODE_GROUPS(int16_t)
DECODE_GROUPS(int32_t)
#endif
#undef DECODE_GROUPS
