/* wavelet/averages.h: a 5/3 whose halves are rounded up, of 16 bits, by the processor's average of unsigned numbers, (a + b + 1) >> 1 with one bit
 * more between: for numbers that are small enough, so that nothing can be lost and nothing is looked for. In numbers modulo 2^16, with
 *   E = e + 2^15 for even samples, N = -1 - o for odd ones, M = 2^15 - 1 - d for details, avg the average:
 *   d = o - ((e1 + e2 + 1) >> 1)   is   M = N + avg(E1, E2)
 *   s = e + ((d1 + d2 + 2) >> 2)   is   s = E - avg(avg(M1, M2), 2^15)
 * since avg(M1, M2) = 2^15 - 1 - ((d1 + d2) >> 1). Half of the operations that the signed forms take. Included by wavelet_isa.c. */

enum { CALM = 8192, CALM_BETWEEN = 2 * CALM }; /* samples, and what became of them along x, lie within [-CALM, CALM): then along y nothing is lost */

#define SHIFTED16(v) ((v) ^ (uint16_t)0x8000)  /* v + 2^15; and back */
#define MIRRORED16(v) ((v) ^ (uint16_t)0x7fff) /* 2^15 - 1 - v; and back */
#define DETAIL16(N, E1, E2) ((N) + tsr_wide_average_u16(E1, E2))
#define SMOOTH16(E, M1, M2) ((E)-tsr_wide_average_u16(tsr_wide_average_u16(M1, M2), SHIFTED16((tsr_wide_u16){ 0 })))

typedef struct calm16 {
    tsr_wide_u16 even, odd, previous; /* E, N, M */
} calm16;

/* A row goes on by one vector: what it was given is done, s and M; what comes takes its place. */
TSR_PAIRS_INLINE void calm16_next(calm16 *line, tsr_wide_i16 a, tsr_wide_i16 b, uint16_t factor, int first, tsr_wide_u16 *s, tsr_wide_u16 *m)
{
    const tsr_wide_u16 even = SHIFTED16((tsr_wide_u16)__builtin_shufflevector(a, b, EVENS) * factor);
    const tsr_wide_u16 odd = ~((tsr_wide_u16)__builtin_shufflevector(a, b, ODDS) * factor);
    const tsr_wide_u16 detail = DETAIL16(line->odd, line->even, (tsr_wide_u16)__builtin_shufflevector(line->even, even, NEXT));
    if (first) line->previous = detail[0] - (tsr_wide_u16){ 0 };
    *s = SMOOTH16(line->even, (tsr_wide_u16)__builtin_shufflevector(line->previous, detail, PREVIOUS), detail);
    *m = detail;
    *line = (calm16){ even, odd, detail };
}

/* pair16_split_both_of as far as numbers are small; returns the place of the first vectors that it leaves. */
TSR_PAIRS_INLINE int64_t pair16_calm(const two16 two, const tsr_wavelet_two_rows *r, pair16_line *line, pair16_line *next, int64_t whole)
{
    const uint16_t half = (uint16_t)(CALM / two.factor), outside = (uint16_t) ~(2 * half - 1), between = (uint16_t) ~(2 * CALM_BETWEEN - 1);
    int16_t *before[2] = { (int16_t *)r->before[0], (int16_t *)r->before[1] }, *behind[2] = { (int16_t *)r->behind[0], (int16_t *)r->behind[1] };
    int16_t *out[2] = { (int16_t *)r->out[0], (int16_t *)r->out[1] }, *copy[2] = { (int16_t *)r->copy[0], (int16_t *)r->copy[1] };
    pair16_line *const lines[2] = { line, next };
    calm16 calm[2];
    tsr_wide_u16 large = { 0 };
    int64_t k = 0;
    if (!two.up || !half || !whole) return 0;
    for (int j = 0; j < 2; j++) {
        large |= ((tsr_wide_u16)lines[j]->even + (uint16_t)CALM) | ((tsr_wide_u16)lines[j]->odd + (uint16_t)CALM);
        calm[j] = (calm16){ SHIFTED16((tsr_wide_u16)lines[j]->even), ~(tsr_wide_u16)lines[j]->odd, { 0 } };
    }
    if (tsr_wide_any_u16(large & (uint16_t) ~(2 * CALM - 1))) return 0;
    for (; k < whole; k += TSR_WIDE_16) {
        tsr_wide_i16 raw[2][2], old[2];
        tsr_wide_u16 s[2], m[2];
        for (int j = 0; j < 2; j++) {
            const int16_t *from = k + TSR_WIDE_16 < whole ? lines[j]->p + 2 * (k + TSR_WIDE_16) : lines[j]->tail;
            __builtin_prefetch((const char *)r->ahead[j] + 4 * k, 0, 2);
            if (2 * TSR_WIDE_BYTES > 64) __builtin_prefetch((const char *)r->ahead[j] + 4 * k + 64, 0, 2);
            raw[j][0] = pair16_at(from);
            raw[j][1] = pair16_at(from + TSR_WIDE_16);
            old[j] = pair16_at(behind[j] + k);
        }
        large =
            ((tsr_wide_u16)raw[0][0] + half) | ((tsr_wide_u16)raw[0][1] + half) | ((tsr_wide_u16)raw[1][0] + half) | ((tsr_wide_u16)raw[1][1] + half);
        if (tsr_wide_any_u16((large & outside) |
                             ((((tsr_wide_u16)old[0] + (uint16_t)CALM_BETWEEN) | ((tsr_wide_u16)old[1] + (uint16_t)CALM_BETWEEN)) & between)))
            break;
        for (int j = 0; j < 2; j++) calm16_next(&calm[j], raw[j][0], raw[j][1], two.factor, !k, &s[j], &m[j]);
        const tsr_wide_u16 after[2] = { s[1], MIRRORED16(m[1]) }, x[2] = { ~s[0], SHIFTED16(m[0]) }; /* x as N */
        for (int j = 0; j < 2; j++) {
            const tsr_wide_u16 e = SHIFTED16((tsr_wide_u16)old[j]), d = DETAIL16(x[j], e, SHIFTED16(after[j]));
            const tsr_wide_u16 smooth = SMOOTH16(e, MIRRORED16((tsr_wide_u16)pair16_at(before[j] + k)), d), detail = MIRRORED16(d);
            pair16_put(before[j] + k, (tsr_wide_i16)detail, 0);
            pair16_put(behind[j] + k, (tsr_wide_i16)after[j], 0);
            pair16_put(copy[j] + k, (tsr_wide_i16)detail, r->stream_copy[j]);
            pair16_put(out[j] + k, (tsr_wide_i16)smooth, r->stream_out[j]);
        }
    }
    for (int j = 0; j < 2; j++) {
        lines[j]->even = (tsr_wide_i16)SHIFTED16(calm[j].even);
        lines[j]->odd = (tsr_wide_i16)~calm[j].odd;
        lines[j]->previous = (tsr_wide_i16)MIRRORED16(calm[j].previous);
    }
    return k;
}
