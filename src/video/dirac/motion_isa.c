/* video/dirac/motion_isa.c: prediction from references, and their half-sample grids. */
#include "video/dirac/motion_isa.h"

#include "core/simd.h"
#include "video/dirac/dirac_isa.h"

/* ---- prediction, a row of a block at a time ------------------------------------------------------------------------------------------------ */

/* A rectangle of places in a reference, seen with one vector, where none of them needs clamping. */
typedef struct view {
    const void *from[4]; /* the first place in up to four planes */
    int64_t stride;
    int32_t bytes, weight[4], shift; /* bytes of a sample; shift 0: from[0] as it is */
} view;

/* Places that lie rx, ry of 2^s from one of the half-sample grid on. */
static void view_weights(view *v, int32_t s, int32_t rx, int32_t ry)
{
    const int32_t one = 1 << s;
    if (rx == 0 && ry == 0) return;
    v->weight[0] = (one - ry) * (one - rx);
    v->weight[1] = (one - ry) * rx;
    v->weight[2] = ry * (one - rx);
    v->weight[3] = ry * rx;
    v->shift = 2 * s;
}

/* 0: some place lies outside. */
static int look(const tsr_dirac_predict_job *j, const char *reference, int64_t px, int64_t py, int32_t n, int32_t rows, view *v)
{
    const int32_t precision = j->p.precision;
    *v = (view){ .stride = j->width, .bytes = j->bytes };
    if (precision == 0) {
        if (px < 0 || px + n > j->width || py < 0 || py + rows > j->height) return 0;
        v->from[0] = reference + (py * j->width + px) * j->bytes;
        return 1;
    }
    const int32_t s = precision - 1, one = 1 << s, rx = (int32_t)(px & (one - 1)), ry = (int32_t)(py & (one - 1));
    const int64_t hx = px >> s, hy = py >> s;
    if (hx < 0 || hx + 2 * (int64_t)n - 1 > 2 * (int64_t)j->width - 2 || hy < 0 || hy + 2 * (int64_t)rows - 1 > 2 * (int64_t)j->height - 2) return 0;
    const int64_t plane = (int64_t)j->width * j->height * j->bytes, row = (int64_t)j->width * j->bytes; /* as tsr_dirac_half_place */
    const int32_t odd_x = (int32_t)(hx & 1), odd_y = (int32_t)(hy & 1);
    const int64_t across = odd_x ? j->bytes - plane : plane, down = odd_y ? row - 2 * plane : 2 * plane;
    const char *at = reference + (2 * odd_y + odd_x) * plane + (hy >> 1) * row + (hx >> 1) * j->bytes;
    for (int32_t k = 0; k < 4; k++) v->from[k] = at + (k & 1 ? across : 0) + (k >> 1 ? down : 0);
    view_weights(v, s, rx, ry);
    return 1;
}

#define FETCH_ROW(type)                                                                                             \
    do {                                                                                                            \
        const type *a = (const type *)v->from[0] + y * v->stride;                                                   \
        if (!v->shift) {                                                                                            \
            for (int32_t k = 0; k < n; k++) value[k] = a[k];                                                        \
            return;                                                                                                 \
        }                                                                                                           \
        const type *b = (const type *)v->from[1] + y * v->stride, *c = (const type *)v->from[2] + y * v->stride,    \
                   *d = (const type *)v->from[3] + y * v->stride;                                                   \
        for (int32_t k = 0; k < n; k++) value[k] = (wa * a[k] + wb * b[k] + wc * c[k] + wd * d[k] + half) >> shift; \
    } while (0)

static void fetch_row(const view *v, int64_t y, int32_t n, int32_t *TSR_RESTRICT value)
{
    const int32_t wa = v->weight[0], wb = v->weight[1], wc = v->weight[2], wd = v->weight[3], half = 1 << v->shift >> 1, shift = v->shift;
    if (v->bytes == 1) FETCH_ROW(int8_t);
    else FETCH_ROW(int16_t);
}

/* Where a block lies in the picture, and what it counts there: weights along x of its first place on, along y of its own rows. */
typedef struct block_place {
    int32_t x0, n, y0, y1, top;
    const int32_t *across, *down;
} block_place;

static void add_row(const int32_t *TSR_RESTRICT value, const int32_t *TSR_RESTRICT across, int32_t down, int32_t n, int32_t *TSR_RESTRICT sum)
{
    for (int32_t k = 0; k < n; k++) sum[k] += down * across[k] * value[k];
}

/* Adds block b times its weights. */
static void add_block(const tsr_dirac_predict_job *j, const tsr_dirac_block *b, const block_place *p)
{
    int32_t value[TSR_DIRAC_BLOCK_MOST], other[TSR_DIRAC_BLOCK_MOST];
    view seen[2];
    int plain = !b->global && !(j->p.weighted && b->mode);
    for (int r = 0; r < 2 && plain; r++)
        if (b->mode >> r & 1)
            plain = look(j, (const char *)j->reference[r], ((int64_t)p->x0 << j->p.precision) + (b->vector[r][0] >> j->down[0]),
                         ((int64_t)p->y0 << j->p.precision) + (b->vector[r][1] >> j->down[1]), p->n, p->y1 - p->y0, &seen[r]);
    if (!b->mode)
        for (int32_t k = 0; k < p->n; k++) value[k] = b->dc[j->component];
    for (int32_t y = p->y0; y < p->y1; y++) {
        if (!plain)
            for (int32_t k = 0; k < p->n; k++) value[k] = tsr_dirac_block_value(j, b, p->x0 + k, y);
        else if (b->mode == 3) {
            fetch_row(&seen[0], y - p->y0, p->n, value);
            fetch_row(&seen[1], y - p->y0, p->n, other);
            for (int32_t k = 0; k < p->n; k++) value[k] = (value[k] + other[k] + 1) >> 1;
        } else if (b->mode) fetch_row(&seen[b->mode - 1], y - p->y0, p->n, value);
        add_row(value, p->across, p->down[y - p->top], p->n, j->predicted + y * j->stride + p->x0);
    }
}

/* ---- the same in 16 bits: samples of up to 10 bits around 0, times weights that are 64 together ------------------------------------------------ */

enum { NARROW_BITS = 10, NARROW_LANES = 32, NARROW_WIDTH = NARROW_LANES, RUN_MOST = 512, STRIP = 32, STRIP_MOST = STRIP + TSR_DIRAC_BLOCK_MOST };
enum { COLUMNS_MOST = 16384 + 4 }; /* of blocks: 4 samples of 65535 each */
enum { PATCH_STRIDE = TSR_DIRAC_BLOCK_MOST + NARROW_LANES, PATCH = PATCH_STRIDE * TSR_DIRAC_BLOCK_MOST };

typedef int16_t lanes_8 __attribute__((vector_size(16), aligned(2), may_alias));
typedef int16_t lanes_16 __attribute__((vector_size(32), aligned(2), may_alias));
typedef int8_t bytes_8 __attribute__((vector_size(8), aligned(1), may_alias));
typedef int8_t bytes_16 __attribute__((vector_size(16), aligned(1), may_alias));
typedef int8_t wide_bytes __attribute__((vector_size(TSR_WIDE_16), aligned(1), may_alias));
typedef int32_t wide_16 __attribute__((vector_size(64), aligned(4), may_alias));

static inline lanes_8 widened_bytes_8(bytes_8 v) { return __builtin_convertvector(v, lanes_8); }
#if defined(TSR_ISA_IS_avx512) || defined(TSR_ISA_IS_avx2)
#define widened_bytes_16(v) ((lanes_16)_mm256_cvtepi8_epi16((__m128i)(v))) /* the compiler would go in halves */
#else
#define widened_bytes_16(v) __builtin_convertvector(v, lanes_16) /* not returned where there are no such registers */
#endif
static inline tsr_wide_i16 widened_wide_bytes(wide_bytes v)
{
#if defined(TSR_ISA_IS_avx512)
    return (tsr_wide_i16)_mm512_cvtepi8_epi16((__m256i)v);
#elif defined(TSR_ISA_IS_avx2)
    return (tsr_wide_i16)_mm256_cvtepi8_epi16((__m128i)v);
#else
    return __builtin_convertvector(v, tsr_wide_i16);
#endif
}

/* Rows of blocks that are alike, side by side: their overlap weighs as much as a place within one. */
typedef struct narrow_run {
    const view *first, *second; /* second: where there are two, and their mean counts */
    const int16_t *across;
    const int16_t *down;
    int16_t *sum;
    int64_t stride; /* of the sums */
    int32_t rows;
} narrow_run;

/* The planes that a view needs: 1, 2 or 4. */
static int32_t view_planes(const view *v) { return !v->shift ? 1 : v->weight[3] ? 4 : 2; }

/* Who reads a place asks for the one a strip further down: rows of a narrow block are too far apart for a processor to foresee. */
#define NARROW_RUN(lanes, packed)                                                                                                                \
    static inline __attribute__((always_inline)) void get_##lanes(const view *v, int32_t plane, int32_t small, int64_t at, lanes *to)            \
    {                                                                                                                                            \
        __builtin_prefetch((const void *)((intptr_t)v->from[plane] + (at + STRIP * v->stride) * (small ? 1 : 2)));                               \
        if (small) *to = widened_##packed(*(const packed *)(const void *)((const int8_t *)v->from[plane] + at));                                 \
        else *to = *(const lanes *)(const void *)((const int16_t *)v->from[plane] + at);                                                         \
    }                                                                                                                                            \
    static inline __attribute__((always_inline)) void seen_##lanes(const view *v, int32_t planes, int32_t small, int64_t at, lanes *to)          \
    {                                                                                                                                            \
        const int32_t second = v->weight[1] ? 1 : 2;                                                                                             \
        lanes a, b, c, d;                                                                                                                        \
        get_##lanes(v, 0, small, at, &a);                                                                                                        \
        *to = a;                                                                                                                                 \
        if (planes == 1) return;                                                                                                                 \
        const int16_t wa = (int16_t)v->weight[0], wb = (int16_t)v->weight[second];                                                               \
        const int16_t half = (int16_t)(1 << v->shift >> 1), shift = (int16_t)v->shift;                                                           \
        get_##lanes(v, second, small, at, &b);                                                                                                   \
        const lanes two = wa * a + wb * b + half;                                                                                                \
        *to = two >> shift;                                                                                                                      \
        if (planes == 2) return;                                                                                                                 \
        const int16_t wc = (int16_t)v->weight[2], wd = (int16_t)v->weight[3];                                                                    \
        get_##lanes(v, 2, small, at, &c);                                                                                                        \
        get_##lanes(v, 3, small, at, &d);                                                                                                        \
        *to = (two + wc * c + wd * d) >> shift;                                                                                                  \
    }                                                                                                                                            \
    static inline                                                                                                                                \
        __attribute__((always_inline)) void rows_##lanes(const narrow_run *r, int32_t x0, int32_t x1, int32_t one, int32_t other, int32_t small) \
    {                                                                                                                                            \
        const view v = *r->first, w = *r->second;                                                                                                \
        const int16_t *const across = r->across, *const weights = r->down;                                                                       \
        int16_t *sum = r->sum;                                                                                                                   \
        const int64_t stride = r->stride;                                                                                                        \
        const int32_t rows = r->rows;                                                                                                            \
        for (int32_t y = 0; y < rows; y++, sum += stride) {                                                                                      \
            const int16_t down = weights[y];                                                                                                     \
            for (int32_t x = x0; x < x1; x += (int32_t)(sizeof(lanes) / sizeof(int16_t))) {                                                      \
                lanes *to = (lanes *)(void *)(sum + x);                                                                                          \
                lanes p, q;                                                                                                                      \
                seen_##lanes(&v, one, small, y *v.stride + x, &p);                                                                               \
                if (other) {                                                                                                                     \
                    seen_##lanes(&w, other, small, y *w.stride + x, &q);                                                                         \
                    p = (p + q + 1) >> 1;                                                                                                        \
                }                                                                                                                                \
                *to += p * (*(const lanes *)(const void *)(across + x) * down);                                                                  \
            }                                                                                                                                    \
        }                                                                                                                                        \
    }                                                                                                                                            \
    static inline __attribute__((always_inline)) void add_sized_##lanes(const narrow_run *r, int32_t x0, int32_t x1, int32_t one, int32_t other, \
                                                                        int32_t small)                                                           \
    {                                                                                                                                            \
        switch (8 * one + other) {                                                                                                               \
        case 8: rows_##lanes(r, x0, x1, 1, 0, small); break;                                                                                     \
        case 9: rows_##lanes(r, x0, x1, 1, 1, small); break;                                                                                     \
        case 10: rows_##lanes(r, x0, x1, 1, 2, small); break;                                                                                    \
        case 12: rows_##lanes(r, x0, x1, 1, 4, small); break;                                                                                    \
        case 16: rows_##lanes(r, x0, x1, 2, 0, small); break;                                                                                    \
        case 17: rows_##lanes(r, x0, x1, 2, 1, small); break;                                                                                    \
        case 18: rows_##lanes(r, x0, x1, 2, 2, small); break;                                                                                    \
        case 20: rows_##lanes(r, x0, x1, 2, 4, small); break;                                                                                    \
        case 32: rows_##lanes(r, x0, x1, 4, 0, small); break;                                                                                    \
        case 33: rows_##lanes(r, x0, x1, 4, 1, small); break;                                                                                    \
        case 34: rows_##lanes(r, x0, x1, 4, 2, small); break;                                                                                    \
        default: rows_##lanes(r, x0, x1, 4, 4, small); break;                                                                                    \
        }                                                                                                                                        \
    }                                                                                                                                            \
    static void add_##lanes(const narrow_run *r, int32_t x0, int32_t x1, int32_t one, int32_t other)                                             \
    {                                                                                                                                            \
        if (r->first->bytes == 1) add_sized_##lanes(r, x0, x1, one, other, 1);                                                                   \
        else add_sized_##lanes(r, x0, x1, one, other, 0);                                                                                        \
    }
NARROW_RUN(lanes_8, bytes_8)
NARROW_RUN(lanes_16, bytes_16)
NARROW_RUN(tsr_wide_i16, wide_bytes)

/* The last vector may reach behind the blocks, where weights are 0, or behind the row. */
static void add_run(const narrow_run *r, int32_t n)
{
    const int32_t one = view_planes(r->first), other = r->second != r->first ? view_planes(r->second) : 0;
    const int32_t whole = n / TSR_WIDE_16 * TSR_WIDE_16;
    if (whole) add_tsr_wide_i16(r, 0, whole, one, other);
    if (n - whole > 16) add_tsr_wide_i16(r, whole, n, one, other);
    else if (n - whole > 8) add_lanes_16(r, whole, n, one, other);
    else if (n > whole) add_lanes_8(r, whole, n, one, other);
}

/* Whole vectors are read: not from the last row, behind which there may be nothing. */
static int look_lanes(const tsr_dirac_predict_job *j, const tsr_dirac_block *b, int r, const block_place *p, view *v)
{
    const int64_t px = ((int64_t)p->x0 << j->p.precision) + (b->vector[r][0] >> j->down[0]);
    const int64_t py = ((int64_t)p->y0 << j->p.precision) + (b->vector[r][1] >> j->down[1]);
    const int32_t rows = p->y1 - p->y0;
    const int64_t last = j->p.precision ? ((py >> (j->p.precision - 1)) + 2 * (int64_t)rows - 1) >> 1 : py + rows - 1;
    return last < j->height - 1 && look(j, (const char *)j->reference[r], px, py, p->n, rows, v);
}

/* All references that the block has. */
static int look_both(const tsr_dirac_predict_job *j, const tsr_dirac_block *b, const block_place *p, view seen[2])
{
    int plain = b->mode && !b->global;
    for (int r = 0; r < 2 && plain; r++)
        if (b->mode >> r & 1) plain = look_lanes(j, b, r, p, &seen[r]);
    return plain;
}

/* One row of places (hx + 2 k, hy) of a half-sample grid, those outside clamped. */
static void patch_row(const tsr_dirac_predict_job *j, const void *reference, int64_t hx, int64_t hy, int32_t n, int16_t *to)
{
    const int64_t right = 2 * (int64_t)j->width - 2, y = tsr_minl(tsr_maxl(hy, 0), 2 * (int64_t)j->height - 2);
    const int32_t first = (int32_t)tsr_minl(hx < 0 ? (1 - hx) >> 1 : 0, n), behind = (int32_t)tsr_minl(tsr_maxl(right - hx + 2, 0) >> 1, n);
    const int64_t even = tsr_dirac_half_place(j->width, j->height, 0, y);
    const int64_t inside = behind > first ? tsr_dirac_half_place(j->width, j->height, hx + 2 * (int64_t)first, y) : 0;
    for (int32_t k = 0; k < first; k++) to[k] = (int16_t)tsr_dirac_sample(reference, j->bytes, even);
    if (j->bytes == 1)
        for (int32_t k = first; k < behind; k++) to[k] = ((const int8_t *)reference)[inside + k - first];
    else if (behind > first) memcpy(to + first, (const int16_t *)reference + inside, (size_t)(behind - first) * sizeof *to);
    for (int32_t k = behind > first ? behind : first; k < n; k++) to[k] = (int16_t)tsr_dirac_sample(reference, j->bytes, even + j->width - 1);
}

/* A view of a block that reaches beyond its reference, from a copy. */
static void look_patch(const tsr_dirac_predict_job *j, const tsr_dirac_block *b, int r, const block_place *p, int16_t (*patch)[PATCH], view *v)
{
    const int32_t precision = j->p.precision, s = precision - 1, one = precision ? 1 << s : 1, rows = p->y1 - p->y0;
    const int64_t px = ((int64_t)p->x0 << precision) + (b->vector[r][0] >> j->down[0]);
    const int64_t py = ((int64_t)p->y0 << precision) + (b->vector[r][1] >> j->down[1]);
    const int32_t rx = (int32_t)(px & (one - 1)), ry = (int32_t)(py & (one - 1));
    *v = (view){ .from = { patch[0], patch[1], patch[2], patch[3] }, .stride = PATCH_STRIDE, .bytes = sizeof(int16_t) };
    if (precision) view_weights(v, s, rx, ry);
    for (int32_t q = 0; q < 4; q++) {
        if (v->shift ? !v->weight[q] : q > 0) continue;
        for (int32_t y = 0; y < rows; y++) {
            int16_t *to = patch[q] + y * PATCH_STRIDE;
            if (precision) patch_row(j, j->reference[r], (px >> s) + (q & 1), (py >> s) + 2 * (int64_t)y + (q >> 1), p->n, to);
            else
                for (int32_t k = 0; k < p->n; k++)
                    to[k] = (int16_t)tsr_dirac_fetch(j->reference[r], j->bytes, j->width, j->height, 0, px + k, py + y);
        }
    }
}

/* What lies in no reference as it is: DC values, global motion, places outside. */
static void look_made(const tsr_dirac_predict_job *j, const tsr_dirac_block *b, const block_place *p, int16_t (*patch)[4][PATCH], view seen[2])
{
    if (b->mode && !b->global) {
        for (int r = 0; r < 2; r++)
            if (b->mode >> r & 1) look_patch(j, b, r, p, patch[r], &seen[r]);
        return;
    }
    int16_t *to = patch[0][0];
    seen[0] = seen[1] = (view){ .from = { to }, .stride = b->mode ? PATCH_STRIDE : 0, .bytes = sizeof *to };
    for (int32_t y = p->y0; y < (b->mode ? p->y1 : p->y0 + 1); y++, to += PATCH_STRIDE)
        for (int32_t k = 0; k < p->n; k++) to[k] = (int16_t)tsr_dirac_block_value(j, b, p->x0 + k, y);
}

static void finish_narrow(int32_t *predicted, int32_t width) /* from the end on, since they overlap */
{
    const int16_t *sum = (const int16_t *)(const void *)predicted;
    int32_t x = width;
    for (; x >= 16; x -= 16) {
        const lanes_16 v = (*(const lanes_16 *)(const void *)(sum + x - 16) + 32) >> 6;
        *(wide_16 *)(void *)(predicted + x - 16) = __builtin_convertvector(v, wide_16);
    }
    while (--x >= 0) {
        int16_t v;
        memcpy(&v, sum + x, sizeof v);
        predicted[x] = (int16_t)(v + 32) >> 6;
    }
}

/* Sums and a residue of 16 bits, or none, to samples. Residues are limited first, so that nothing leaves 16 bits. */
static void store_narrow(const tsr_dirac_store_job *j, const int16_t *sum, int64_t y)
{
    enum { FAR = 1 << 14 };
    const int16_t half = (int16_t)(1 << (j->depth - 1)), least = (int16_t)-half, most = (int16_t)(half - 1);
    const int32_t bytes = j->bytes, width = j->width;
    int16_t piece[TSR_DIRAC_PIECE], made[TSR_DIRAC_PIECE + 1];
    for (int32_t x0 = 0; x0 < width; x0 += TSR_DIRAC_PIECE) {
        const int32_t n = tsr_mini(TSR_DIRAC_PIECE, width - x0);
        const int16_t *TSR_RESTRICT p = sum + x0, *TSR_RESTRICT s = tsr_dirac_residue_piece(j, y, x0, n, made);
        if (s)
            for (int32_t x = 0; x < n; x++) {
                const int16_t r = s[x] < -FAR ? -FAR : s[x] > FAR ? FAR : s[x], v = (int16_t)(r + (int16_t)((int16_t)(p[x] + 32) >> 6));
                piece[x] = v < least ? least : v > most ? most : v;
            }
        else
            for (int32_t x = 0; x < n; x++) {
                const int16_t v = (int16_t)((int16_t)(p[x] + 32) >> 6);
                piece[x] = v < least ? least : v > most ? most : v;
            }
        tsr_dirac_keep_row(j, y, x0, piece, n);
        if (bytes == 1) {
            uint8_t *TSR_RESTRICT to = (uint8_t *)j->plane + y * j->plane_stride + x0;
            for (int32_t x = 0; x < n; x++) to[x] = (uint8_t)(piece[x] + half);
        } else {
            uint16_t *TSR_RESTRICT to = (uint16_t *)j->plane + y * j->plane_stride + x0;
            for (int32_t x = 0; x < n; x++) to[x] = (uint16_t)(piece[x] + half);
        }
    }
}

/* Do all sums of blocks [first, last) of rows stay within 16 bits? */
static int is_narrow(const tsr_dirac_predict_job *j, int32_t first, int32_t last)
{
    const tsr_dirac_block *b = j->blocks + (int64_t)first * j->p.blocks_x;
    if (j->depth < 1 || j->depth > NARROW_BITS || j->p.weighted || j->width < NARROW_WIDTH) return 0;
    const uint16_t half = 1 << (NARROW_BITS - 1);
    const int32_t component = j->component;
    uint32_t far = 0; /* of blocks with references it is 0, or looked at in vain */
    for (int64_t k = 0; k < (int64_t)(last - first) * j->p.blocks_x; k++) far |= (uint16_t)((uint16_t)b[k].dc[component] + half);
    return far < 2u * half;
}

static void block_weights(int32_t length, int32_t separation, int32_t count, int32_t weight[3][TSR_DIRAC_BLOCK_MOST]) /* first, middle, last block */
{
    for (int32_t k = 0; k < length; k++) {
        weight[0][k] = tsr_dirac_weight(k, length, separation, 0, count);
        weight[1][k] = tsr_dirac_weight(k, length, separation, 1, count);
        weight[2][k] = tsr_dirac_weight(k, length, separation, count - 1, count);
    }
}

/* Blocks of one component: along x and y; and what they weigh. */
typedef struct block_grid {
    int32_t length[2], separation[2], offset[2], count[2];
    int32_t weight[2][3][TSR_DIRAC_BLOCK_MOST];
} block_grid;

static int32_t kind_of(int32_t k, int32_t count) { return k == 0 ? 0 : k == count - 1 ? 2 : 1; }

/* `across` blocks from u on of `down` rows of them from v on, within rows [begin, end) of the picture. */
static block_place place_of(const tsr_dirac_predict_job *j, const block_grid *g, int32_t u, int32_t v, int32_t across, int32_t down, int64_t begin,
                            int64_t end)
{
    const int32_t left = u * g->separation[0] - g->offset[0], top = v * g->separation[1] - g->offset[1], x0 = tsr_maxi(left, 0);
    const int32_t right = left + (across - 1) * g->separation[0] + g->length[0], bottom = top + (down - 1) * g->separation[1] + g->length[1];
    return (block_place){ x0,
                          tsr_mini(right, j->width) - x0,
                          tsr_maxi(top, (int32_t)begin),
                          tsr_mini(bottom, (int32_t)end),
                          top,
                          g->weight[0][kind_of(u, g->count[0])] + (x0 - left),
                          g->weight[1][kind_of(v, g->count[1])] };
}

/* Weights along a run of blocks: those of its first block, 8 where two overlap, those of its last block. From place `skip` on. */
static void run_weights(const block_grid *g, int axis, int32_t u, int32_t run, int32_t skip, int32_t n, int16_t *weights)
{
    const int32_t *first = g->weight[axis][kind_of(u, g->count[axis])], *last = g->weight[axis][kind_of(u + run - 1, g->count[axis])];
    const int32_t length = g->length[axis], offset = g->offset[axis], behind = (run - 1) * g->separation[axis];
    for (int32_t k = 0; k < n; k++) weights[k] = 8;
    for (int32_t k = skip; k < skip + n && k < 2 * offset; k++) weights[k - skip] = (int16_t)first[k];
    for (int32_t k = tsr_maxi(skip, behind + length - 2 * offset); k < skip + n; k++) weights[k - skip] = (int16_t)last[k - behind];
}

static int alike(const tsr_dirac_block *a, const tsr_dirac_block *b) { return memcmp(a, b, sizeof *a) == 0; }

/* How many of `most` blocks from here on are like *like. */
static int32_t alike_blocks(const tsr_dirac_block *like, const tsr_dirac_block *from, int32_t most)
{
    int32_t n = 0;
    while (n < most && alike(like, from + n)) n++;
    return n;
}

/* Rows [begin, end) of a picture, and where their sums in 16 bits are. */
typedef struct narrow_strip {
    int64_t begin, end;
    int16_t *sum; /* of row `begin` */
    int64_t stride;
} narrow_strip;

/* Row v of blocks, to the sums; and those of rows below, before `last`, that go on with what is above them. until[u]: rows of blocks before it are done
 * in column u. */
static void add_blocks_narrow(const tsr_dirac_predict_job *j, const block_grid *g, int32_t v, int32_t last, const narrow_strip *s, int32_t *until)
{
    int16_t patch[2][4][PATCH], across[RUN_MOST + NARROW_LANES], down[STRIP_MOST];
    const int32_t columns = g->count[0], most = (RUN_MOST - g->length[0]) / g->separation[0] + 1;
    const tsr_dirac_block *row = j->blocks + (int64_t)v * columns;
    for (int32_t u = 0, run; u < columns; u += run) {
        view seen[2];
        int32_t rows = 1;
        run = 1;
        if (until[u] > v) continue;
        block_place p = place_of(j, g, u, v, 1, 1, s->begin, s->end);
        if (p.n <= 0 || p.y1 <= p.y0) continue;
        if (look_both(j, &row[u], &p, seen)) {
            while (run < most && u + run < columns && until[u + run] <= v && alike(&row[u], &row[u + run])) run++;
            do p = place_of(j, g, u, v, run, 1, s->begin, s->end);
            while (!look_both(j, &row[u], &p, seen) && --run);
            for (; v + rows < last && alike_blocks(&row[u], &row[u + (int64_t)rows * columns], run) == run; rows++) {
                const block_place more = place_of(j, g, u, v, run, rows + 1, s->begin, s->end);
                view further[2]; /* they begin at the same place */
                if (!look_both(j, &row[u], &more, further)) break;
                p = more;
            }
            for (int32_t k = 0; k < run; k++) until[u + k] = v + rows;
        } else look_made(j, &row[u], &p, patch, seen);
        run_weights(g, 0, u, run, p.x0 - (u * g->separation[0] - g->offset[0]), p.n, across);
        memset(across + p.n, 0, NARROW_LANES * sizeof *across);
        run_weights(g, 1, v, rows, p.y0 - p.top, p.y1 - p.y0, down);
        const int made = !row[u].mode || row[u].global;
        const narrow_run r = { .first = &seen[!made && row[u].mode == 2],
                               .second = &seen[!made && row[u].mode != 1],
                               .across = across,
                               .down = down,
                               .sum = s->sum + (p.y0 - s->begin) * s->stride + p.x0,
                               .stride = s->stride,
                               .rows = p.y1 - p.y0 };
        add_run(&r, p.n);
    }
}

static void add_blocks(const tsr_dirac_predict_job *j, const block_grid *g, int32_t v, int64_t begin, int64_t end)
{
    for (int32_t u = 0; u < g->count[0]; u++) {
        const block_place p = place_of(j, g, u, v, 1, 1, begin, end);
        if (p.n > 0 && p.y1 > p.y0) add_block(j, &j->blocks[(int64_t)v * g->count[0] + u], &p);
    }
}

/* Rows that stay in the caches from the first block on to the end. What is stored at once has its sums in `memory`, again and again. */
static void predict_strip(const tsr_dirac_predict_job *j, const block_grid *g, int64_t begin, int64_t end, int32_t *memory)
{
    int32_t first, last, until[COLUMNS_MOST];
    memset(until, 0, (size_t)g->count[0] * sizeof *until);
    (void)tsr_dirac_cover((int32_t)begin, g->length[1], g->separation[1], g->count[1], &first);
    const int32_t covers = tsr_dirac_cover((int32_t)end - 1, g->length[1], g->separation[1], g->count[1], &last);
    last += covers;
    const tsr_dirac_store_job *store = j->store;
    const int narrow = is_narrow(j, first, last), small = store && (store->narrow || !store->residue) && store->depth <= NARROW_BITS;
    const int at_once = narrow && small && store->plane;
    const int64_t tight = (int64_t)j->width + NARROW_LANES;
    const narrow_strip s = { begin, end, (int16_t *)(void *)(at_once ? memory : j->predicted + begin * j->stride), at_once ? tight : 2 * j->stride };
    for (int64_t y = 0; y < end - begin; y++)
        if (narrow) memset(s.sum + y * s.stride, 0, (size_t)tight * sizeof *s.sum);
        else memset(j->predicted + (begin + y) * j->stride, 0, (size_t)j->width * sizeof *j->predicted);
    for (int32_t v = first; v < last; v++)
        if (narrow) add_blocks_narrow(j, g, v, last, &s, until);
        else add_blocks(j, g, v, begin, end);
    for (int64_t y = begin; y < end; y++) {
        int32_t *sum = j->predicted + y * j->stride;
        if (at_once) {
            store_narrow(store, s.sum + (y - begin) * s.stride, y);
            continue;
        }
        if (narrow) finish_narrow(sum, j->width);
        else
            for (int32_t x = 0; x < j->width; x++) sum[x] = (sum[x] + 32) >> 6;
        if (store) TSR_ISA_NAME(tsr_dirac_store_rows)(store, y, y + 1);
    }
}

void TSR_ISA_NAME(tsr_dirac_predict_rows)(const tsr_dirac_predict_job *j, int64_t begin, int64_t end)
{
    block_grid g;
    for (int k = 0; k < 2; k++) {
        g.length[k] = j->p.length[k] >> j->down[k];
        g.separation[k] = j->p.separation[k] >> j->down[k];
        g.offset[k] = (g.length[k] - g.separation[k]) / 2;
        g.count[k] = k ? j->p.blocks_y : j->p.blocks_x;
        block_weights(g.length[k], g.separation[k], g.count[k], g.weight[k]);
    }
    const int64_t step = (STRIP + g.separation[1] - 1) / g.separation[1] * g.separation[1];
    for (int64_t y = begin, next; y < end; y = next) { /* between rows of blocks */
        next = tsr_minl((y / step + 1) * step, end);
        predict_strip(j, &g, y, next, j->predicted + begin * j->stride);
    }
}

static inline tsr_wide_i16 limited(tsr_wide_i16 v, int16_t least, int16_t most)
{
#if defined(TSR_ISA_IS_avx512)
    return (tsr_wide_i16)_mm512_max_epi16(_mm512_set1_epi16(least), _mm512_min_epi16(_mm512_set1_epi16(most), (__m512i)v));
#elif defined(TSR_ISA_IS_avx2)
    return (tsr_wide_i16)_mm256_max_epi16(_mm256_set1_epi16(least), _mm256_min_epi16(_mm256_set1_epi16(most), (__m256i)v));
#else
    const tsr_wide_i16 below = v<least, above = v> most;
    return (v & ~(below | above)) | (below & least) | (above & most);
#endif
}

/* n results of the 8 taps, of which those of place x begin at from[k] + x; samples of one type. The last vector goes over some again. */
#define HALF_TAPS(type, at_once)                                                                                                   \
    static void taps_##type(const type *const p[8], int32_t n, int32_t low, int32_t high, type *TSR_RESTRICT to)                   \
    {                                                                                                                              \
        const int in_vectors = n >= TSR_WIDE_16 && low >= -256 && high < 256; /* 64 times that and 16 stay within 16 bits */       \
        for (int32_t at = 0; at < n && in_vectors; at += TSR_WIDE_16) {                                                            \
            const int32_t x = tsr_mini(at, n - TSR_WIDE_16);                                                                       \
            tsr_wide_i16 v[8];                                                                                                     \
            for (int k = 0; k < 8; k++) v[k] = widened(*(const at_once *)(const void *)(p[k] + x));                                \
            const tsr_wide_i16 sum = (3 * (v[1] + v[6]) - (v[0] + v[7]) - 7 * (v[2] + v[5]) + 21 * (v[3] + v[4]) + 16) >> 5;       \
            *(at_once *)(void *)(to + x) = __builtin_convertvector(limited(sum, (int16_t)low, (int16_t)high), at_once);            \
        }                                                                                                                          \
        for (int32_t x = 0; x < n && !in_vectors; x++) {                                                                           \
            const int32_t v[8] = { p[0][x], p[1][x], p[2][x], p[3][x], p[4][x], p[5][x], p[6][x], p[7][x] };                       \
            to[x] = (type)tsr_dirac_half_taps(v, low, high);                                                                       \
        }                                                                                                                          \
    }                                                                                                                              \
    static void half_row_##type(const tsr_dirac_half_job *job, int64_t y)                                                          \
    {                                                                                                                              \
        const int32_t w = job->width, inside = tsr_maxi(w - 7, 0); /* places whose taps need no clamping: 3 to w - 5 */            \
        type *grid = (type *)job->grid, *even = grid + tsr_dirac_half_place(w, job->height, 0, y);                                 \
        type *odd = grid + tsr_dirac_half_place(w, job->height, 1, y);                                                             \
        const type *p[8];                                                                                                          \
        for (int32_t k = 0; k < 8; k++) p[k] = grid + (int64_t)tsr_dirac_clamp((int32_t)(y >> 1) - 3 + k, 0, job->height - 1) * w; \
        if (y & 1) taps_##type(p, w, job->low, job->high, even);                                                                   \
        for (int32_t k = 0; k < 8; k++) p[k] = even + k;                                                                           \
        if (inside) taps_##type(p, inside, job->low, job->high, odd + 3);                                                          \
        for (int32_t x = 0; x < tsr_mini(3, w - 1); x++) odd[x] = (type)tsr_dirac_half_row(job, 2 * x + 1, (int32_t)y);            \
        for (int32_t x = 3 + inside; x < w - 1; x++) odd[x] = (type)tsr_dirac_half_row(job, 2 * x + 1, (int32_t)y);                \
        odd[w - 1] = 0; /* not read; known all the same */                                                                         \
    }
#define widened(v) widened_wide_bytes(v)
HALF_TAPS(int8_t, wide_bytes)
#undef widened
#define widened(v) (v)
HALF_TAPS(int16_t, tsr_wide_i16)

void TSR_ISA_NAME(tsr_dirac_half_rows)(const tsr_dirac_half_job *job, int64_t begin, int64_t end)
{
    for (int64_t y = begin; y < end; y++)
        if (job->bytes == 1) half_row_int8_t(job, y);
        else half_row_int16_t(job, y);
}
