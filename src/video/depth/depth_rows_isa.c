/* video/depth/depth_rows_isa.c */
#include "video/depth/depth_rows_isa.h"

#include <string.h>

#include "core/hd.h"
#include "io/little_endian.h"

enum { CHUNK = 256, BLOCK = 32 };

/* Vectors run on beyond the end of what they are for, into margins. */
#define ROUNDED(n) (((n) + TSR_DEPTH_MARGIN - 1) & ~(int64_t)(TSR_DEPTH_MARGIN - 1))

void TSR_ISA_NAME(tsr_depth_quantise_row)(const uint16_t *value, uint16_t *number, int64_t n, uint32_t step)
{
    const float share = 1 / (float)step; /* (v + 1/2) / step is at least 1 / (2 step) from a whole number, its error less than 1 / (80 step) */
    if (step == 1) {
        memcpy(number, value, (size_t)n * sizeof *number);
        return;
    }
    for (int64_t k = 0; k < n; k++) {
        const int32_t v = value[k];
        number[k] = (uint16_t)(v ? 1 + (int32_t)(((float)v - 0.5f) * share) : 0);
    }
}

void TSR_ISA_NAME(tsr_depth_restore_row)(const uint16_t *number, uint16_t *value, int64_t n, uint32_t step)
{
    if (step == 1) memcpy(value, number, (size_t)n * sizeof *value);
    else
        for (int64_t k = 0; k < n; k++) value[k] = (uint16_t)tsr_depth_restore(number[k], step);
}

int32_t TSR_ISA_NAME(tsr_depth_edges_row)(const uint16_t *row, int32_t n, int32_t *edge)
{
    int32_t count = 0;
    for (int32_t x = 0, there = 0;; there = !there) {
        for (; x + BLOCK <= n; x += BLOCK) {
            uint16_t any = 0, least = 0xffff;
            for (int k = 0; k < BLOCK; k++) any |= row[x + k];
            for (int k = 0; k < BLOCK; k++) least = row[x + k] < least ? row[x + k] : least;
            if (there ? !least : any) break;
        }
        while (x < n && (row[x] != 0) == there) x++;
        edge[count++] = x;
        if (x == n) return count;
    }
}

void TSR_ISA_NAME(tsr_depth_contexts_row)(const uint16_t *above, const uint8_t *token, uint8_t *context, int64_t n)
{
    const int64_t most = ROUNDED(n);
    for (int64_t k = 0; k < most; k++) {
        const uint8_t sum = (uint8_t)(2 * token[k] + token[k - 1] + token[k + 1]);
        const uint8_t level = (uint8_t)tsr_depth_level(sum);
        context[k] = above[k] && above[k - 1] ? level : (uint8_t)TSR_DEPTH_NO_ABOVE;
    }
    context[0] = above[0] ? TSR_DEPTH_FIRST : TSR_DEPTH_LONELY;
}

/* Of the first sample of a run. */
static inline uint32_t expected_first(const uint16_t *above, uint32_t before)
{
    return above[0] ? above[0] : above[-1] ? above[-1] : above[1] ? above[1] : before;
}

/* Folded differences of all but the first, and tokens: exponent and first bit below it, as a float has them. */
#define DIFFERENCES(expected)                                                                                  \
    for (int64_t k = 0; k < most; k++) {                                                                       \
        const int32_t a = row[k - 1], b = above[k], c = above[k - 1];                                          \
        const int32_t e = b && c ? (expected) : b ? b : a;                                                     \
        const uint32_t v = tsr_depth_fold((uint32_t)(row[k] - e));                                             \
        const uint32_t octaves = (tsr_float_bits((float)(int32_t)v) >> 22) - 2 * (127 + 3) + TSR_DEPTH_DIRECT; \
        folded[k] = (uint16_t)v;                                                                               \
        token[k] = (uint8_t)(v < TSR_DEPTH_DIRECT ? v : octaves);                                              \
    }

void TSR_ISA_NAME(tsr_depth_differences_row)(int predictor, const uint16_t *row, const uint16_t *above, uint32_t before,
                                             uint16_t *TSR_RESTRICT folded, uint8_t *TSR_RESTRICT token, int64_t n)
{
    const int64_t most = ROUNDED(n);
    if (predictor == TSR_DEPTH_PLANE) {
        DIFFERENCES(a + b - c)
    } else {
        DIFFERENCES(tsr_depth_median(a, b, c))
    }
    folded[0] = (uint16_t)tsr_depth_fold(row[0] - expected_first(above, before));
    token[0] = (uint8_t)tsr_depth_token(folded[0]);
}

void TSR_ISA_NAME(tsr_depth_undo_row)(int predictor, const uint16_t *folded, const uint16_t *above, uint32_t before, uint16_t *TSR_RESTRICT row,
                                      int64_t n)
{
    uint32_t a = row[0] = (uint16_t)(tsr_depth_unfold(folded[0]) + expected_first(above, before));
    if (predictor == TSR_DEPTH_MEDIAN) {
        for (int64_t k = 1; k < n; k++) {
            const int32_t b = above[k], c = above[k - 1];
            a = row[k] = (uint16_t)(tsr_depth_unfold(folded[k]) + (uint32_t)(b && c ? tsr_depth_median((int32_t)a, b, c) : b ? b : (int32_t)a));
        }
        return;
    }
    for (int64_t first = 1; first < n; first += CHUNK) { /* what is added to the one on the left, and whether it counts */
        uint16_t more[CHUNK], keep[CHUNK];
        const int64_t count = n - first < CHUNK ? n - first : CHUNK, most = ROUNDED(count);
        const uint16_t *f = folded + first, *up = above + first;
        for (int64_t k = 0; k < most; k++) {
            const uint16_t b = up[k], c = up[k - 1], both = b && c ? 0xffff : 0;
            more[k] = (uint16_t)(tsr_depth_unfold(f[k]) + b - (c & both));
            keep[k] = (uint16_t)(b ? both : 0xffff);
        }
        for (int64_t k = 0; k < count; k++) row[first + k] = (uint16_t)(a = (a & keep[k]) + more[k]);
    }
}

#define STEP(lane, place)                                                                                 \
    do {                                                                                                  \
        const uint32_t s_ = slot[context[place]][x##lane & (TSR_DEPTH_SLOTS - 1)];                        \
        token[place] = (uint8_t)s_;                                                                       \
        x##lane = (s_ >> 20) * (x##lane >> TSR_DEPTH_BITS) + (s_ >> 8 & (TSR_DEPTH_SLOTS - 1));           \
        const uint32_t few_ = x##lane < TSR_DEPTH_LEAST, word_ = x##lane << 16 | tsr_get_u16(words + at); \
        x##lane = few_ ? word_ : x##lane;                                                                 \
        at += few_;                                                                                       \
    } while (0)

int64_t TSR_ISA_NAME(tsr_depth_tokens_row)(uint32_t state[TSR_DEPTH_LANES], const uint32_t (*slot)[TSR_DEPTH_SLOTS], const uint16_t *words,
                                           const uint8_t *context, uint8_t *TSR_RESTRICT token, int64_t n)
{
    uint32_t x0 = state[0], x1 = state[1], x2 = state[2], x3 = state[3];
    int64_t at = 0, k = 0;
    for (; k + 4 <= n; k += 4) {
        STEP(0, k);
        STEP(1, k + 1);
        STEP(2, k + 2);
        STEP(3, k + 3);
    }
    if (k < n) STEP(0, k);
    if (k + 1 < n) STEP(1, k + 1);
    if (k + 2 < n) STEP(2, k + 2);
    state[0] = x0;
    state[1] = x1;
    state[2] = x2;
    state[3] = x3;
    return at;
}

void TSR_ISA_NAME(tsr_depth_symbols_row)(const uint8_t *context, const uint8_t *token, uint16_t *TSR_RESTRICT symbol, int64_t n)
{
    const int64_t most = ROUNDED(n);
    for (int64_t k = 0; k < most; k++) symbol[k] = (uint16_t)(context[k] << TSR_DEPTH_TOKEN_BITS | token[k]);
}

#define PUT(lane, place)                                                                       \
    do {                                                                                       \
        const tsr_depth_share *s_ = &share[symbol[place]];                                     \
        const uint32_t full_ = x##lane > s_->most;                                             \
        tsr_put_u16(end - 2, (uint16_t)x##lane);                                               \
        end -= 2 * full_;                                                                      \
        x##lane = full_ ? x##lane >> 16 : x##lane;                                             \
        const uint32_t whole_ = (uint32_t)((unsigned __int128)x##lane * s_->reciprocal >> 64); \
        x##lane += s_->first + whole_ * s_->rest;                                              \
    } while (0)

uint8_t *TSR_ISA_NAME(tsr_depth_put_row)(uint32_t state[TSR_DEPTH_LANES], const tsr_depth_share *share, uint8_t *end, const uint16_t *symbol,
                                         int64_t n)
{
    uint32_t x0 = state[0], x1 = state[1], x2 = state[2], x3 = state[3];
    int64_t k = n & ~(int64_t)3;
    if (k + 2 < n) PUT(2, k + 2);
    if (k + 1 < n) PUT(1, k + 1);
    if (k < n) PUT(0, k);
    for (k -= 4; k >= 0; k -= 4) {
        PUT(3, k + 3);
        PUT(2, k + 2);
        PUT(1, k + 1);
        PUT(0, k);
    }
    state[0] = x0;
    state[1] = x1;
    state[2] = x2;
    state[3] = x3;
    return end;
}
