/* bench/wavelet_variants.c: see wavelet_variants.h. */
#include "wavelet_variants.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/parallel.h"
#include "wavelet/lifting.h"

enum { PAD = 16, TILE = 32, REACH = VARIANT_REACH };

/* ---- one step on many samples -------------------------------------------------------------------------------------------------------------- */

#define PART(k) ((int32_t)near[k][i] * tap[k])
#define LOOP(SIGN, SUM) \
    for (int32_t i = 0; i < n; i++) x[i] = (int16_t)(x[i] SIGN TSR_LIFT_ROUND(SUM, rounding, shift))
#define BOTH(SUM)          \
    do {                   \
        if (s->sign > 0) { \
            LOOP(+, SUM);  \
        } else {           \
            LOOP(-, SUM);  \
        }                  \
    } while (0)

/* x[i] += sign * round(sum of tap[k] * near[k][i]). */
static void lift(int16_t *restrict x, const int16_t *const *from, int32_t n, const tsr_wavelet_step *s)
{
    const int16_t *near[TSR_WAVELET_TAPS];
    int16_t tap[TSR_WAVELET_TAPS]; /* of 16 bits: products of two int16 are one instruction */
    const int32_t rounding = s->rounding, shift = s->shift;
    for (int32_t k = 0; k < TSR_WAVELET_TAPS; k++) {
        near[k] = from[k < s->count ? k : 0];
        tap[k] = (int16_t)s->tap[k];
    }
    if (s->count == 1 && tap[0] == 1) BOTH(near[0][i]);
    else if (s->count == 2 && tap[0] == 1 && tap[1] == 1) BOTH(near[0][i] + near[1][i]);
    else if (s->count == 2) BOTH(PART(0) + PART(1));
    else if (s->count == 4) BOTH(PART(0) + PART(1) + PART(2) + PART(3));
    else if (s->count == 8) BOTH(PART(0) + PART(1) + PART(2) + PART(3) + PART(4) + PART(5) + PART(6) + PART(7));
    else abort(); /* the library's filters have no other counts */
}

/* ---- along x ------------------------------------------------------------------------------------------------------------------------------- */

/* The two halves of a row in `work`, which has room for 2 n + 4 PAD values. */
static void halves_of(int32_t n, void *work, int16_t *half[2], int32_t count[2])
{
    count[0] = (n + 1) / 2;
    count[1] = n / 2;
    half[0] = (int16_t *)work + PAD;
    half[1] = half[0] + count[0] + 2 * PAD;
}

static void steps16(const wavelet_variant_job *j, int16_t *const half[2], const int32_t count[2], int32_t n)
{
    for (int32_t k = 0; k < j->steps; k++) {
        const tsr_wavelet_step *s = &j->step[k];
        const int16_t *near[TSR_WAVELET_TAPS] = { NULL };
        const int32_t p = s->parity, q = 1 - p;
        for (int32_t i = 1; i <= PAD / 2; i++) { /* the border of the other half */
            const int64_t before = tsr_lift_index(2 * -i + q, n, j->boundary), after = tsr_lift_index(2 * (count[q] + i - 1) + q, n, j->boundary);
            half[q][-i] = before < 0 ? 0 : half[q][before / 2];
            half[q][count[q] + i - 1] = after < 0 ? 0 : half[q][after / 2];
        }
        for (int32_t t = 0; t < s->count; t++) near[t] = half[q] + (2 * p - 1 + s->first + 2 * t) / 2;
        lift(half[p], near, count[p], s);
    }
}

/* A row of n samples to its two halves, and back. `from` may be `to`. */
static void row16(const wavelet_variant_job *j, const int16_t *from, int32_t n, int32_t bits, int16_t *to, void *work)
{
    int16_t *half[2];
    int32_t count[2];
    halves_of(n, work, half, count);
    for (int32_t i = 0; i < count[1]; i++) {
        half[0][i] = (int16_t)TSR_LIFT_RAISE(from[2 * i], bits);
        half[1][i] = (int16_t)TSR_LIFT_RAISE(from[2 * i + 1], bits);
    }
    if (n & 1) half[0][count[1]] = (int16_t)TSR_LIFT_RAISE(from[n - 1], bits);
    steps16(j, half, count, n);
    memcpy(to, half[0], (size_t)count[0] * sizeof *to);
    memcpy(to + count[0], half[1], (size_t)count[1] * sizeof *to);
}

static void row16_back(const wavelet_variant_job *j, const int16_t *from, int32_t n, int32_t bits, int16_t *to, void *work)
{
    int16_t *half[2];
    int32_t count[2];
    halves_of(n, work, half, count);
    memcpy(half[0], from, (size_t)count[0] * sizeof *from);
    memcpy(half[1], from + count[0], (size_t)count[1] * sizeof *from);
    steps16(j, half, count, n);
    for (int32_t i = 0; i < count[1]; i++) {
        to[2 * i] = (int16_t)TSR_LIFT_LOWER(half[0][i], bits);
        to[2 * i + 1] = (int16_t)TSR_LIFT_LOWER(half[1][i], bits);
    }
    if (n & 1) to[n - 1] = (int16_t)TSR_LIFT_LOWER(half[0][count[1]], bits);
}

/* A pass of one level, as its threads see it. */
struct pass {
    const wavelet_variant_job *job;
    const void *from;
    void *to;
    int64_t from_stride, to_stride; /* elements from row to row */
    int32_t width, height, bits;
};

static void *work_of(const wavelet_variant_job *j, int worker) { return (char *)j->work + (size_t)worker * j->work_bytes; }

static void rows16(void *user, int64_t begin, int64_t end, int worker)
{
    const struct pass *p = (const struct pass *)user;
    for (int64_t y = begin; y < end; y++)
        (p->job->inverse ? row16_back : row16)(p->job, (const int16_t *)p->from + y * p->from_stride, p->width, p->bits,
                                               (int16_t *)p->to + y * p->to_stride, work_of(p->job, worker));
}

/* ---- along y: the window ------------------------------------------------------------------------------------------------------------------- */

static int32_t larger(int32_t a, int32_t b) { return a > b ? a : b; }

/* Rows a step reads ahead, and the farthest it reads at all: beyond the last row, what stands for it lies as far back (haar, odd heights). */
static int32_t ahead_of(const tsr_wavelet_step *s) { return s->first + 2 * (s->count - 1); }
static int32_t reach_of(const tsr_wavelet_step *s) { return larger(-s->first, ahead_of(s)); }

static void find_window(wavelet_variant_job *w)
{
    const tsr_wavelet_step *s = w->step;
    w->top = w->overlap = w->bottom = 0;
    for (int32_t k = 0; k < w->steps; k++) w->last[k] = k ? w->last[k - 1] - larger(ahead_of(&s[k]), reach_of(&s[k - 1])) : s[0].parity - 2;
    w->bottom = larger(0, w->last[0] + ahead_of(&s[0]) + 1);
    for (int32_t k = larger(0, w->steps - 2); k < w->steps; k++) w->overlap = larger(w->overlap, -w->last[k] - 2);
    for (int32_t k = 0; k < w->steps; k++) w->top = larger(w->top, -w->overlap - w->last[k] - 2 + reach_of(&s[k]));
}

/* One slab of `n` columns, at most a strip; rows of the window are `strip` apart, one of zeros behind them. */
static void slide(const struct pass *p, int16_t *slab, int32_t n, int16_t *rows)
{
    const wavelet_variant_job *j = p->job;
    const int32_t strip = j->strip, kept = j->top + j->overlap + j->bottom, h = p->height;
    int16_t *zero = rows + (size_t)(kept + j->rows) * (size_t)strip;
    int32_t next[TSR_WAVELET_STEPS], in = 0, out = 0, end = 0;
    memset(zero, 0, (size_t)strip * sizeof *zero);
    for (int32_t k = 0; k < j->steps; k++) next[k] = j->step[k].parity;
    for (int last = 0; !last;) {
        last = end + j->rows + j->bottom > h;
        const int32_t base = end - j->overlap - j->top; /* the row at the window's upper edge; `end`: of the working area before this one */
        for (const int32_t stop = last ? h : end + j->rows + j->bottom; in < stop; in++)
            memcpy(rows + (in - base) * strip, slab + in * p->to_stride, (size_t)n * sizeof *rows);
        end += j->rows;
        for (int32_t k = 0; k < j->steps; k++) {
            const tsr_wavelet_step *s = &j->step[k];
            const int32_t stop = last ? h - 1 : end + j->last[k];
            for (; next[k] <= stop; next[k] += 2) {
                const int16_t *near[TSR_WAVELET_TAPS] = { NULL };
                for (int32_t t = 0; t < s->count; t++) {
                    const int64_t r = tsr_lift_index(next[k] + s->first + 2 * t, h, j->boundary);
                    near[t] = r < 0 ? zero : rows + (r - base) * strip;
                }
                lift(rows + (next[k] - base) * strip, near, n, s);
            }
        }
        for (const int32_t stop = last ? h : end - j->overlap; out < stop; out++)
            memcpy(slab + out * p->to_stride, rows + (out - base) * strip, (size_t)n * sizeof *rows);
        if (!last) memmove(rows, rows + (size_t)j->rows * (size_t)strip, (size_t)kept * (size_t)strip * sizeof *rows);
    }
}

static void slabs(void *user, int64_t begin, int64_t end, int worker)
{
    const struct pass *p = (const struct pass *)user;
    for (int64_t k = begin; k < end; k++) {
        const int32_t x = (int32_t)k * p->job->strip, left = p->width - x;
        slide(p, (int16_t *)p->to + x, left < p->job->strip ? left : p->job->strip, (int16_t *)work_of(p->job, worker));
    }
}

/* ---- along y: one column at a time --------------------------------------------------------------------------------------------------------- */

static void columns(void *user, int64_t begin, int64_t end, int worker)
{
    const struct pass *p = (const struct pass *)user;
    (void)worker;
    for (int64_t x = begin; x < end; x++) {
        int16_t *column = (int16_t *)p->to + x;
        for (int32_t k = 0; k < p->job->steps; k++) {
            const tsr_wavelet_step *s = &p->job->step[k];
            for (int32_t y = s->parity; y < p->height; y += 2) {
                int32_t sum = 0;
                for (int32_t t = 0; t < s->count; t++) {
                    const int64_t r = tsr_lift_index(y + s->first + 2 * t, p->height, p->job->boundary);
                    if (r >= 0) sum += s->tap[t] * column[r * p->to_stride];
                }
                column[y * p->to_stride] = (int16_t)(column[y * p->to_stride] + s->sign * TSR_LIFT_ROUND(sum, s->rounding, s->shift));
            }
        }
    }
}

/* ---- along y: transposed ------------------------------------------------------------------------------------------------------------------- */

typedef int16_t vector8 __attribute__((vector_size(16)));

/* 8 x 8 values. A round moves value i of the 64 to 2 i mod 63: the bits of i go round by one place, and after three row and column are swapped. */
static void turn8(const int16_t *from, int64_t from_stride, int16_t *to, int64_t to_stride)
{
    vector8 a[8], b[8];
    for (int k = 0; k < 8; k++) memcpy(&a[k], from + k * from_stride, sizeof *a);
    for (int round = 0; round < 3; round++) {
        for (int k = 0; k < 4; k++) {
            b[2 * k] = __builtin_shufflevector(a[k], a[k + 4], 0, 8, 1, 9, 2, 10, 3, 11);
            b[2 * k + 1] = __builtin_shufflevector(a[k], a[k + 4], 4, 12, 5, 13, 6, 14, 7, 15);
        }
        memcpy(a, b, sizeof a);
    }
    for (int k = 0; k < 8; k++) memcpy(to + k * to_stride, &a[k], sizeof *a);
}

/* Bands of TILE rows of `from` become columns of `to`. */
static void turn(void *user, int64_t begin, int64_t end, int worker)
{
    const struct pass *p = (const struct pass *)user;
    const int16_t *from = (const int16_t *)p->from;
    int16_t *to = (int16_t *)p->to;
    const int64_t w8 = p->width / 8 * 8;
    (void)worker;
    for (int64_t band = begin; band < end; band++) {
        const int64_t first = band * TILE, last = p->height < first + TILE ? p->height : first + TILE, last8 = first + (last - first) / 8 * 8;
        for (int64_t x = 0; x < w8; x += 8)
            for (int64_t y = first; y < last8; y += 8) turn8(from + y * p->from_stride + x, p->from_stride, to + x * p->to_stride + y, p->to_stride);
        for (int64_t x = 0; x < p->width; x++)
            for (int64_t y = x < w8 ? last8 : first; y < last; y++) to[x * p->to_stride + y] = from[y * p->from_stride + x];
    }
}

/* ---- filter bank --------------------------------------------------------------------------------------------------------------------------- */

static void find_bank(wavelet_variant_job *b)
{
    memset(b->tap, 0, sizeof b->tap);
    b->reach[0] = b->reach[1] = 0;
    b->tap[0][REACH] = b->tap[1][REACH] = 1;
    for (int32_t k = 0; k < b->steps; k++) {
        const tsr_wavelet_step *s = &b->step[k];
        const int32_t p = s->parity, q = 1 - p;
        for (int32_t t = 0; t < s->count; t++) {
            const double weight = s->sign * (s->real[t] != 0.0 ? s->real[t] : ldexp((double)s->tap[t], -s->shift));
            const int32_t offset = s->first + 2 * t;
            for (int32_t i = -b->reach[q]; i <= b->reach[q]; i++) b->tap[p][REACH + i + offset] += weight * b->tap[q][REACH + i];
        }
        b->reach[p] = larger(b->reach[p], b->reach[q] + larger(abs(s->first), abs(s->first + 2 * (s->count - 1))));
    }
}

/* to[i] = sum of tap[k] * from[k][i], four products at a time. */
static void weigh(float *restrict to, const float *const *from, const double *tap, int32_t taps, int32_t n)
{
    for (int32_t k = 0; k < taps; k += 4) {
        const float *near[4];
        float t[4];
        for (int32_t m = 0; m < 4; m++) {
            near[m] = from[k + m < taps ? k + m : k];
            t[m] = k + m < taps ? (float)tap[k + m] : 0.0F;
        }
        if (k)
            for (int32_t i = 0; i < n; i++) to[i] += t[0] * near[0][i] + t[1] * near[1][i] + t[2] * near[2][i] + t[3] * near[3][i];
        else
            for (int32_t i = 0; i < n; i++) to[i] = t[0] * near[0][i] + t[1] * near[1][i] + t[2] * near[2][i] + t[3] * near[3][i];
    }
}

static void convolve_rows(void *user, int64_t begin, int64_t end, int worker)
{
    const struct pass *p = (const struct pass *)user;
    const wavelet_variant_job *b = p->job;
    const int32_t n = p->width, count[2] = { (n + 1) / 2, n / 2 };
    float *half[2];
    half[0] = (float *)work_of(p->job, worker) + PAD;
    half[1] = half[0] + count[0] + 2 * PAD;
    for (int64_t y = begin; y < end; y++) {
        const float *from = (const float *)p->from + y * p->from_stride;
        float *to = (float *)p->to + y * p->to_stride;
        for (int32_t i = 0; i < n; i++) half[i & 1][i >> 1] = from[i];
        for (int32_t q = 0; q < 2; q++)
            for (int32_t i = 1; i <= PAD; i++) {
                half[q][-i] = from[tsr_lift_index(2 * -i + q, n, p->job->boundary)];
                half[q][count[q] + i - 1] = from[tsr_lift_index(2 * (count[q] + i - 1) + q, n, p->job->boundary)];
            }
        for (int32_t q = 0; q < 2; q++) {
            const float *near[2 * REACH + 1];
            for (int32_t i = -b->reach[q]; i <= b->reach[q]; i++) near[i + b->reach[q]] = half[(q + i) & 1] + (q + i - ((q + i) & 1)) / 2;
            weigh(to + (q ? count[0] : 0), near, b->tap[q] + REACH - b->reach[q], 2 * b->reach[q] + 1, count[q]);
        }
    }
}

static void convolve_columns(void *user, int64_t begin, int64_t end, int worker)
{
    const struct pass *p = (const struct pass *)user;
    const wavelet_variant_job *b = p->job;
    (void)worker;
    for (int64_t m = begin; m < end; m++) { /* rows of the result: the low half, then the high one */
        const int32_t low = (p->height + 1) / 2, q = m >= low, y = (int32_t)(q ? 2 * (m - low) + 1 : 2 * m);
        const float *near[2 * REACH + 1];
        for (int32_t i = -b->reach[q]; i <= b->reach[q]; i++)
            near[i + b->reach[q]] = (const float *)p->from + tsr_lift_index(y + i, p->height, p->job->boundary) * p->from_stride;
        weigh((float *)p->to + m * p->to_stride, near, b->tap[q] + REACH - b->reach[q], 2 * b->reach[q] + 1, p->width);
    }
}

/* ---- all levels ---------------------------------------------------------------------------------------------------------------------------- */

const char *wavelet_variant_name(wavelet_variant variant)
{
    static const char *const names[VARIANTS] = { "sliding window", "transpose", "trivial column", "convolution" };
    return names[variant];
}

int wavelet_variant_begin(wavelet_variant_job *j)
{
    const size_t longest = (size_t)larger(j->width, j->height);
    tsr_wavelet_step forward[TSR_WAVELET_STEPS];
    j->steps = tsr_wavelet_filter_steps(j->filter, forward, NULL);
    for (int32_t k = 0; k < j->steps; k++) {
        j->step[k] = forward[j->inverse ? j->steps - 1 - k : k];
        if (j->inverse) j->step[k].sign = -j->step[k].sign;
    }
    find_window(j);
    find_bank(j);
    j->work_bytes = (longest + 4 * PAD) * sizeof(float);
    if (j->variant == VARIANT_WINDOW) j->work_bytes += (size_t)(j->top + j->overlap + j->bottom + j->rows + 1) * (size_t)j->strip * sizeof(int16_t);
    j->work_bytes = (j->work_bytes + 63) / 64 * 64;
    j->work = malloc((size_t)j->threads * j->work_bytes);
    j->second = malloc((size_t)j->width * (size_t)j->height * (j->variant == VARIANT_CONVOLUTION ? sizeof(float) : sizeof(int16_t)));
    if (j->work && j->second) return 1;
    wavelet_variant_end(j);
    return 0;
}

void wavelet_variant_end(wavelet_variant_job *j)
{
    free(j->work);
    free(j->second);
    j->work = j->second = NULL;
}

/* A level of the lifted ones along y, in place. */
static void along_y(const struct pass *p)
{
    const wavelet_variant_job *j = p->job;
    const int64_t tall = p->height;
    if (j->variant == VARIANT_WINDOW) tsr_parallel(j->threads, (p->width + j->strip - 1) / j->strip, 1, slabs, (void *)p);
    if (j->variant == VARIANT_COLUMN) tsr_parallel(j->threads, p->width, 32, columns, (void *)p);
    if (j->variant == VARIANT_TRANSPOSE) {
        struct pass there = *p, lines = *p, back = *p;
        there.from = p->to, there.from_stride = p->to_stride, there.to = j->second, there.to_stride = tall;
        tsr_parallel(j->threads, (p->height + TILE - 1) / TILE, 1, turn, &there);
        lines.from = lines.to = j->second, lines.from_stride = lines.to_stride = tall;
        lines.width = p->height, lines.height = p->width, lines.bits = 0;
        tsr_parallel(j->threads, p->width, 16, rows16, &lines);
        back.from = j->second, back.from_stride = tall;
        back.width = p->height, back.height = p->width;
        tsr_parallel(j->threads, (p->width + TILE - 1) / TILE, 1, turn, &back);
    }
}

static void forward_level(const wavelet_variant_job *j, int32_t level, struct pass *p)
{
    const int convolves = j->variant == VARIANT_CONVOLUTION;
    if (!level) p->from = j->samples, p->from_stride = j->width;
    if (convolves) p->to = j->second;
    tsr_parallel(j->threads, p->height, 16, convolves ? convolve_rows : rows16, p);
    if (convolves) {
        p->from = j->second, p->from_stride = p->to_stride, p->to = j->coefficients;
        tsr_parallel(j->threads, p->height, 16, convolve_columns, p);
    }
    along_y(p);
}

void wavelet_variant_run(const wavelet_variant_job *j)
{
    const int split = wavelet_variant_layout(j->variant) == TSR_WAVELET_SPLIT;
    if (j->inverse) memcpy(j->samples, j->coefficients, (size_t)j->width * (size_t)j->height * sizeof(int16_t));
    for (int32_t k = 0; k < j->levels; k++) {
        const int32_t level = j->inverse ? j->levels - 1 - k : k, round = (1 << level) - 1;
        struct pass p = { .job = j, .width = (j->width + round) >> level, .height = (j->height + round) >> level, .bits = j->accuracy };
        p.from = p.to = j->inverse ? j->samples : j->coefficients;
        p.from_stride = p.to_stride = split ? (int64_t)j->width << level : j->width;
        if (j->inverse) {
            along_y(&p);
            tsr_parallel(j->threads, p.height, 16, rows16, &p);
        } else {
            forward_level(j, level, &p);
        }
    }
}
