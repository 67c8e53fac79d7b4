#include "vision/depth/match_isa.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

enum { LANES = TSR_MATCH_LANES };

void TSR_ISA_NAME(tsr_match_greys)(const tsr_code_job *job, int64_t begin, int64_t end)
{
    const tsr_code_job j = *job;
    if (j.channels == 3 && j.reduce == 1)
        for (int64_t i = begin; i < end; i++) j.grey[i] = tsr_match_grey(j.image + 3 * i, 3);
    else
        for (int64_t i = begin; i < end; i++) j.grey[i] = tsr_match_grey_at(&j, i);
}

void TSR_ISA_NAME(tsr_match_codes)(const tsr_code_job *job, int32_t y)
{
    const int32_t w = job->width, h = job->height;
    const uint8_t *above[4], *below[4];
    uint32_t *code = job->code + (int64_t)y * w;
    for (int32_t dy = 0; dy < 4; dy++) {
        above[dy] = job->grey + (int64_t)tsr_maxi(0, y - dy) * w;
        below[dy] = job->grey + (int64_t)tsr_mini(h - 1, y + dy) * w;
    }
    const int32_t left = tsr_mini(4, w), right = tsr_maxi(left, w - 4);
    for (int32_t x = 0; x < left; x++) code[x] = tsr_match_code(job->grey, w, h, x, y);
    for (int32_t x = right; x < w; x++) code[x] = tsr_match_code(job->grey, w, h, x, y);
    for (int32_t x = left; x < right; x++) code[x] = 0;
    for (int32_t dy = 3; dy >= 0; dy--)
        for (int32_t dx = -4; dx <= (dy ? 4 : -1); dx++) {
            const uint8_t *a = above[dy] + dx, *b = below[dy] - dx;
            for (int32_t x = left; x < right; x++) code[x] = code[x] << 1 | (uint32_t)(a[x] > b[x]);
        }
}

/* ---- paths --------------------------------------------------------------------------------------------------------------------- */

/* The least of a pixel's path, as far as the next pixel wants it: a byte, or a register that holds it. */
#if defined(__AVX2__)
typedef __m128i least_value;
TSR_INLINE least_value least_from(uint8_t v) { return _mm_cvtsi32_si128(v); }
TSR_INLINE uint8_t least_byte(least_value v) { return (uint8_t)_mm_cvtsi128_si32(v); }
#else
typedef uint8_t least_value;
TSR_INLINE least_value least_from(uint8_t v) { return v; }
TSR_INLINE uint8_t least_byte(least_value v) { return v; }
#endif

/* A pixel of one path, from what the pixel before has (may be the same place). Beyond the first and the last hypothesis there is 255 - p1: more than any other
 * after p1 is added. Returns the least. The neighbours are shifted in registers: what has just been stored is loaded as it was stored, which the processor does
 * without waiting. */
TSR_INLINE least_value advance(const uint8_t *TSR_RESTRICT cost, const uint8_t *from, uint8_t *to, int32_t n, uint8_t p1, uint8_t p2, least_value least)
{
#if defined(__AVX2__)
    const __m256i step = _mm256_set1_epi8((char)p1), own = _mm256_broadcastb_epi8(least), jump = _mm256_add_epi8(own, _mm256_set1_epi8((char)p2));
    const __m256i end = _mm256_set1_epi8((char)(255 - p1));
    __m256i before = end, here = _mm256_load_si256((const __m256i *)(const void *)from), smallest = _mm256_set1_epi8(-1);
    for (int32_t b = 0; b < n; b += LANES) {
        const __m256i behind = b + LANES < n ? _mm256_load_si256((const __m256i *)(const void *)(from + b + LANES)) : end;
        const __m256i less = _mm256_alignr_epi8(here, _mm256_permute2x128_si256(before, here, 0x21), 15);
        const __m256i more = _mm256_alignr_epi8(_mm256_permute2x128_si256(here, behind, 0x21), here, 1);
        const __m256i side = _mm256_add_epi8(_mm256_min_epu8(less, more), step), best = _mm256_min_epu8(_mm256_min_epu8(here, side), jump);
        const __m256i next = _mm256_add_epi8(_mm256_load_si256((const __m256i *)(const void *)(cost + b)), _mm256_sub_epi8(best, own));
        _mm256_store_si256((__m256i *)(void *)(to + b), next);
        smallest = _mm256_min_epu8(smallest, next);
        before = here;
        here = behind;
    }
    __m128i s = _mm_min_epu8(_mm256_castsi256_si128(smallest), _mm256_extracti128_si256(smallest, 1));
    s = _mm_min_epu8(s, _mm_srli_epi16(s, 8));
    return _mm_minpos_epu16(_mm_and_si128(s, _mm_set1_epi16(255)));
#else
    uint8_t old[TSR_MATCH_MOST + 2], smallest = 255;
    const uint8_t jump = (uint8_t)(least + p2);
    memcpy(old + 1, from, (size_t)n);
    old[0] = old[n + 1] = (uint8_t)(255 - p1);
    for (int32_t d = 0; d < n; d++) to[d] = tsr_match_step(cost[d], old[d + 1], old[d], old[d + 2], p1, jump, least);
    for (int32_t d = 0; d < n; d++) smallest = to[d] < smallest ? to[d] : smallest;
    return smallest;
#endif
}

/* The other picture's row backward, byte by byte of its codes. */
TSR_INLINE void turn_row(const tsr_match_job *j, int64_t row, const tsr_match_room *room)
{
    const int32_t w = j->width;
    for (int32_t x = 0; x < w; x++) {
        for (int k = 0; k < 4; k++) room->other[k][w - 1 - x] = (uint8_t)(j->code[1][row + x] >> (8 * k));
        room->other[4][w - 1 - x] = j->grey[1][row + x];
    }
}

/* Costs of a pixel of a pair. */
TSR_INLINE void costs_of(const tsr_match_job *j, const tsr_match_room *room, int32_t n, int32_t x, uint32_t code, uint8_t grey, uint8_t *TSR_RESTRICT cost)
{
    const int32_t base = j->width - 1 - x + j->first; /* of other[width - 1 - pixel], pixel = x - first - d */
    const uint8_t *TSR_RESTRICT c0 = room->other[0] + base, *TSR_RESTRICT c1 = room->other[1] + base, *TSR_RESTRICT c2 = room->other[2] + base;
    const uint8_t *TSR_RESTRICT c3 = room->other[3] + base, *TSR_RESTRICT g = room->other[4] + base;
#if defined(__AVX2__)
    /* tsr_match_cost: ones of a byte by its halves */
    const __m256i ones = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4), low = _mm256_set1_epi8(15);
    const __m256i mine = _mm256_set1_epi8((char)grey), most = _mm256_set1_epi8(33), seven = _mm256_set1_epi8(127);
    const uint8_t *const other[4] = { c0, c1, c2, c3 };
    __m256i own[4];
    for (int k = 0; k < 4; k++) own[k] = _mm256_set1_epi8((char)(code >> (8 * k)));
    for (int32_t b = 0; b < n; b += LANES) {
        const __m256i v = _mm256_loadu_si256((const __m256i *)(const void *)(g + b));
        const __m256i difference = _mm256_min_epu8(_mm256_or_si256(_mm256_subs_epu8(v, mine), _mm256_subs_epu8(mine, v)), most);
        __m256i sum = _mm256_and_si256(_mm256_srli_epi16(difference, 1), seven);
        for (int k = 0; k < 4; k++) {
            const __m256i bits = _mm256_xor_si256(_mm256_loadu_si256((const __m256i *)(const void *)(other[k] + b)), own[k]);
            sum = _mm256_add_epi8(sum, _mm256_add_epi8(_mm256_shuffle_epi8(ones, _mm256_and_si256(bits, low)),
                                                       _mm256_shuffle_epi8(ones, _mm256_and_si256(_mm256_srli_epi16(bits, 4), low))));
        }
        _mm256_store_si256((__m256i *)(void *)(cost + b), sum);
    }
#else
    const uint32_t own[4] = { (code & 255u) * 0x01010101u, (code >> 8 & 255u) * 0x01010101u, (code >> 16 & 255u) * 0x01010101u, (code >> 24) * 0x01010101u };
    uint8_t difference[LANES];
    for (int32_t b = 0; b < n; b += LANES) {
        for (int k = 0; k < LANES; k++) {
            const uint8_t v = g[b + k], d = (uint8_t)(v > grey ? v - grey : grey - v);
            difference[k] = d < 33 ? d : 33;
        }
        for (int k = 0; k < LANES; k += 4) { /* four at a time */
            uint32_t w[5], four;
            memcpy(&w[0], c0 + b + k, 4);
            memcpy(&w[1], c1 + b + k, 4);
            memcpy(&w[2], c2 + b + k, 4);
            memcpy(&w[3], c3 + b + k, 4);
            memcpy(&w[4], difference + k, 4);
            four = tsr_match_cost4(w[0] ^ own[0], w[1] ^ own[1], w[2] ^ own[2], w[3] ^ own[3], w[4]);
            memcpy(cost + b + k, &four, 4);
        }
    }
#endif
    const int32_t begin = tsr_maxi(0, tsr_mini(j->depths, x - j->first - j->width + 1)), end = tsr_maxi(0, tsr_mini(j->depths, x - j->first + 1));
    for (int32_t d = 0; d < begin; d++) cost[d] = TSR_MATCH_UNSEEN;
    for (int32_t d = end; d < j->depths; d++) cost[d] = TSR_MATCH_UNSEEN;
    for (int32_t d = j->depths; d < n; d++) cost[d] = TSR_MATCH_WORST;
}

/* Three paths, one row at a time: both along the row. `n` is a constant where this is inlined. */
TSR_INLINE void along_of(const tsr_match_job *job, int32_t y, const tsr_match_room *room, const tsr_match_rows *rows, const int32_t n)
{
    const tsr_match_job j = *job;
    const int32_t w = j.width;
    const int64_t row = (int64_t)y * w;
    const uint8_t *grey = j.grey[0] + row, p1 = (uint8_t)j.p1;
    const uint8_t *costs = j.volume ? j.volume + row * n : rows->cost;
    uint8_t none[TSR_MATCH_MOST] __attribute__((aligned(64)));
    if (!j.volume) {
        turn_row(&j, row, room);
        for (int32_t x = 0; x < w; x++) costs_of(&j, room, n, x, j.code[0][row + x], grey[x], rows->cost + (int64_t)x * n);
    }
    memset(none, 0, sizeof none);
    const uint8_t *left = none, *right = none;
    least_value least_left = least_from(0), least_right = least_from(0);
    for (int32_t i = 0; i < w; i++) { /* two chains side by side: each waits for its own pixel before */
        const int32_t xl = i, xr = w - 1 - i;
        const int32_t dl = i ? (int32_t)grey[xl] - (int32_t)grey[xl - 1] : 0, dr = i ? (int32_t)grey[xr] - (int32_t)grey[xr + 1] : 0;
        uint8_t *to_left = rows->path[0] + (int64_t)xl * n, *to_right = rows->path[1] + (int64_t)xr * n;
        least_left = advance(costs + (int64_t)xl * n, left, to_left, n, p1, j.p2[dl < 0 ? -dl : dl], least_left);
        least_right = advance(costs + (int64_t)xr * n, right, to_right, n, p1, j.p2[dr < 0 ? -dr : dr], least_right);
        left = to_left;
        right = to_right;
    }
}

void TSR_ISA_NAME(tsr_match_along)(const tsr_match_job *job, int32_t y, const tsr_match_room *room, const tsr_match_rows *rows)
{
    if (job->padded == 64) along_of(job, y, room, rows, 64);
    else if (job->padded == 128) along_of(job, y, room, rows, 128);
    else along_of(job, y, room, rows, job->padded);
}

/* The path from above, of columns begin to end - 1. */
TSR_INLINE void down_of(const tsr_match_job *job, int32_t y, int32_t begin, int32_t end, const tsr_match_rows *above, const tsr_match_rows *rows, const int32_t n)
{
    const tsr_match_job j = *job;
    const int64_t row = (int64_t)y * j.width;
    const uint8_t *grey = j.grey[0] + row, *before = y ? grey - j.width : grey, *costs = j.volume ? j.volume + row * n : rows->cost;
    uint8_t none[TSR_MATCH_MOST] __attribute__((aligned(64)));
    memset(none, 0, sizeof none);
    for (int32_t x = begin; x < end; x++) {
        const int32_t difference = (int32_t)grey[x] - (int32_t)before[x];
        const uint8_t *from = y ? above->path[2] + (int64_t)x * n : none;
        rows->least[x] = least_byte(advance(costs + (int64_t)x * n, from, rows->path[2] + (int64_t)x * n, n, (uint8_t)j.p1,
                                            j.p2[difference < 0 ? -difference : difference], least_from(y ? above->least[x] : 0)));
    }
}

void TSR_ISA_NAME(tsr_match_down)(const tsr_match_job *job, int32_t y, int32_t begin, int32_t end, const tsr_match_rows *above, const tsr_match_rows *rows)
{
    if (job->padded == 64) down_of(job, y, begin, end, above, rows, 64);
    else if (job->padded == 128) down_of(job, y, begin, end, above, rows, 128);
    else down_of(job, y, begin, end, above, rows, job->padded);
}

/* `n` and `paths` are constants where this is inlined. */
TSR_INLINE void pass_of(const tsr_match_job *job, int backward, uint16_t *sums, int add, const tsr_match_room *room, const int32_t n, const int32_t paths)
{
    const tsr_match_job j = *job;
    const int32_t w = j.width;
    const uint8_t p1 = (uint8_t)j.p1;
    const uint8_t *next[4] = { NULL, NULL, NULL, NULL };
    uint8_t own[TSR_MATCH_MOST] __attribute__((aligned(64)));
    for (int32_t p = 0; p < paths; p++) {
        memset(room->path[p], 0, (size_t)w * (size_t)n);
        memset(room->least[p], 0, (size_t)w);
    }
    for (int32_t r = 0; r < j.height; r++) {
        const int32_t y = backward ? j.height - 1 - r : r, before_y = backward ? y + 1 : y - 1, step = backward ? -1 : 1;
        const int64_t row = (int64_t)y * w;
        const uint8_t *grey = j.grey[0] + row, *grey_before = j.grey[0] + (r ? (int64_t)before_y * w : row);
        if (!j.volume) turn_row(&j, row, room);
        memset(room->path[0], 0, (size_t)n); /* the path along the row begins anew: one entry */
        room->least[0][0] = 0;
        for (int32_t i = 0; i < w; i++) {
            const int32_t x = backward ? w - 1 - i : i;
            const uint8_t *cost = own;
            if (j.volume) cost = j.volume + (row + x) * n;
            else costs_of(&j, room, n, x, j.code[0][row + x], grey[x], own);
            for (int32_t p = 0; p < paths; p++) {
                /* Entries of a slanted path go along with it: that of a pixel is the one of the pixel before. */
                int32_t at = p == 0 ? 0 : p == 1 ? i : p == 2 ? i - r % w : i + r % w;
                at = at < 0 ? at + w : at >= w ? at - w : at;
                uint8_t *old = room->path[p] + (int64_t)at * n, *least = &room->least[p][at];
                const int32_t xb = p == 0 || p == 2 ? x - step : p == 3 ? x + step : x;
                int32_t difference = 0;
                if (p && (r == 0 || xb < 0 || xb >= w)) { /* enters the picture */
                    if (p > 1) memset(old, 0, (size_t)n), *least = 0;
                } else if (p || i) {
                    difference = (int32_t)grey[x] - (int32_t)(p ? grey_before : grey)[xb];
                }
                *least = least_byte(advance(cost, old, old, n, p1, j.p2[difference < 0 ? -difference : difference], least_from(*least)));
                next[p] = old;
            }
            uint16_t *TSR_RESTRICT s = sums + (row + x) * n;
            const uint8_t *a0 = next[0], *a1 = next[1], *a2 = paths == 4 ? next[2] : a0, *a3 = paths == 4 ? next[3] : a0;
            for (int32_t b = 0; b < n; b += LANES)
                for (int32_t d = b; d < b + LANES; d++) {
                    const uint16_t two = (uint16_t)(a0[d] + a1[d]), all = paths == 4 ? (uint16_t)(two + a2[d] + a3[d]) : two;
                    s[d] = add ? (uint16_t)(s[d] + all) : all;
                }
        }
    }
}

void TSR_ISA_NAME(tsr_match_pass)(const tsr_match_job *job, int backward, uint16_t *sums, int add, const tsr_match_room *room)
{
    if (job->padded == 64 && job->paths == 4) pass_of(job, backward, sums, add, room, 64, 2);
    else if (job->padded == 64) pass_of(job, backward, sums, add, room, 64, 4);
    else if (job->padded == 128 && job->paths == 4) pass_of(job, backward, sums, add, room, 128, 2);
    else if (job->paths == 4) pass_of(job, backward, sums, add, room, job->padded, 2);
    else pass_of(job, backward, sums, add, room, job->padded, 4);
}

/* ---- answers ------------------------------------------------------------------------------------------------------------------- */

/* Least of n sums, n a multiple of LANES. */
TSR_INLINE uint16_t least_sum(const uint16_t *v, int32_t n)
{
#if defined(__AVX2__)
    __m256i m = _mm256_loadu_si256((const __m256i *)(const void *)v);
    for (int32_t b = 16; b < n; b += 16) m = _mm256_min_epu16(m, _mm256_loadu_si256((const __m256i *)(const void *)(v + b)));
    return (uint16_t)_mm_cvtsi128_si32(_mm_minpos_epu16(_mm_min_epu16(_mm256_castsi256_si128(m), _mm256_extracti128_si256(m, 1))));
#else
    uint16_t least = 0xffff;
    for (int32_t d = 0; d < n; d++) least = v[d] < least ? v[d] : least;
    return least;
#endif
}

TSR_INLINE void select_of(const tsr_match_job *job, int32_t y, const tsr_match_rows *rows, uint32_t *other, const int32_t n)
{
    const tsr_match_job j = *job;
    const int32_t w = j.width, pair = !j.volume && j.consistency >= 0;
    const uint16_t unique = (uint16_t)(100 - j.uniqueness);
    uint16_t sum[TSR_MATCH_MOST] __attribute__((aligned(64))), mark[TSR_MATCH_MOST] __attribute__((aligned(64)));
    for (int32_t x = 0; x < w && pair; x++) other[x] = 0xffffffffu;
    for (int32_t x = 0; x < w; x++) {
        const int64_t i = (int64_t)y * w + x;
        const uint16_t *TSR_RESTRICT s = rows ? NULL : j.sums + i * n;
        if (rows) {
            const uint8_t *TSR_RESTRICT a = rows->path[0] + (int64_t)x * n, *TSR_RESTRICT b = rows->path[1] + (int64_t)x * n, *TSR_RESTRICT c = rows->path[2] + (int64_t)x * n;
            for (int32_t d = 0; d < n; d++) sum[d] = (uint16_t)(a[d] + b[d] + c[d]);
        } else if (j.more) {
            const uint16_t *TSR_RESTRICT m = j.more + i * n;
            for (int32_t d = 0; d < n; d++) sum[d] = (uint16_t)(s[d] + m[d]);
        } else {
            for (int32_t d = 0; d < n; d++) sum[d] = s[d];
        }
        for (int32_t d = j.depths; d < n; d++) sum[d] = 0xffff;
        const uint16_t best = least_sum(sum, n);
        for (int32_t d = 0; d < n; d++) mark[d] = (uint16_t)((uint16_t)d | (uint16_t)-(uint16_t)(sum[d] != best));
        const uint16_t at = least_sum(mark, n);
        uint16_t second = 0xffff;
        if (j.uniqueness > 0) {
            for (int32_t d = 0; d < n; d++) mark[d] = (uint16_t)(sum[d] | (uint16_t)-(uint16_t)((uint16_t)(d + 1 - at) <= 2));
            second = least_sum(mark, n);
        }
        const float part = at > 0 && at < j.depths - 1 ? tsr_match_vertex(sum[at - 1], best, sum[at + 1]) : 0.0f;
        j.best[i] = (float)at + part;
        j.index[i] = at;
        j.score[i] = best;
        j.valid[i] = (uint8_t)((uint32_t)second * unique >= (uint32_t)best * 100u);
        if (pair) {
            const int32_t xo = x - j.first - at;
            if (xo < 0 || xo >= w) {
                j.valid[i] = 0;
            } else {
                const uint32_t key = tsr_match_key(best, at);
                other[xo] = key < other[xo] ? key : other[xo];
            }
        }
    }
    for (int32_t x = 0; x < w && pair; x++) {
        const int64_t i = (int64_t)y * w + x;
        const int32_t xo = x - j.first - j.index[i];
        if (xo >= 0 && xo < w && !tsr_match_agrees(other[xo], j.index[i], j.consistency)) j.valid[i] = 0;
    }
}

void TSR_ISA_NAME(tsr_match_select_row)(const tsr_match_job *job, int32_t y, const tsr_match_rows *rows, uint32_t *other)
{
    if (job->padded == 64) select_of(job, y, rows, other, 64);
    else if (job->padded == 128) select_of(job, y, rows, other, 128);
    else select_of(job, y, rows, other, job->padded / LANES * LANES);
}

void TSR_ISA_NAME(tsr_match_smooth_row)(const tsr_finish_job *job, int32_t y)
{
    const tsr_finish_job j = *job;
    const float *TSR_RESTRICT a = j.row + (int64_t)tsr_maxi(0, y - 1) * j.width, *TSR_RESTRICT b = j.row + (int64_t)y * j.width;
    const float *TSR_RESTRICT c = j.row + (int64_t)tsr_mini(j.height - 1, y + 1) * j.width;
    float *TSR_RESTRICT to = j.smooth + (int64_t)y * j.width;
    for (int32_t x = 1; x < j.width - 1; x++) {
        const float v[9] = { a[x - 1], a[x], a[x + 1], b[x - 1], b[x], b[x + 1], c[x - 1], c[x], c[x + 1] };
        to[x] = tsr_match_median9(v);
    }
    tsr_finish_smooth(&j, 0, y);
    tsr_finish_smooth(&j, j.width - 1, y);
}

void TSR_ISA_NAME(tsr_match_full_range)(const tsr_finish_job *job, int64_t begin, int64_t end)
{
    const tsr_finish_job j = *job;
    for (int64_t i = begin; i < end; i++) tsr_finish_full(&j, i);
}
