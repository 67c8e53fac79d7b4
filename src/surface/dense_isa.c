/* surface/dense_isa.c: counts, vertices and triangles of a dense volume on the CPU.
 *
 * Work goes by pieces: up to 256 neighbouring samples of one row. The cut edges of a piece are listed as codes in the order of their vertices, the
 * samples beside them are widened to float64 once, and one vector loop makes the vertices. A cell takes the numbers of its twelve edges from bit
 * counts of the masks of its four rows, all rows at once, and its triangles are one permutation of them. Bound: the samples twice (once for
 * their sides, once beside the surface), the mesh once; bits and prefixes are 3/16 of a byte per cell. */
#include "surface/surface_isa.h"

#include "core/core.h"
#include "surface/case_table.h"
#if defined(__AVX512BW__)
#include <immintrin.h>
#endif

enum { PIECE_WORDS = 8, PIECE = 32 * PIECE_WORDS, STRIDE = PIECE + 8, MOST_CODES = 3 * PIECE + 8, AHEAD = 4 };

typedef struct piece {
    tsr_word_place place;
    int32_t words;
    uint64_t cells;            /* all ones, or zero where the row has no cells */
    const uint32_t *row[3][3]; /* [z][y] on from the piece; beyond the domain the last row, so that nothing is cut between */
    uint32_t busy;             /* words to look at */
    tsr_cell_rows of[PIECE_WORDS];
} piece;

static inline void piece_open(const tsr_surface_grid *g, int64_t stop, piece *p)
{
    const int64_t *left = p->place.left, y = g->row_words, z = g->row_words * g->size[1];
    const int64_t along_y[3] = { 0, left[1] > 1 ? y : 0, left[1] > 2 ? 2 * y : left[1] > 1 ? y : 0 };
    const int64_t along_z[3] = { 0, left[2] > 1 ? z : 0, left[2] > 2 ? 2 * z : left[2] > 1 ? z : 0 };
    p->words = (int32_t)tsr_minl(tsr_minl(PIECE_WORDS, stop - p->place.word), (left[0] + 31) >> 5);
    p->cells = left[1] > 1 && left[2] > 1 ? ~(uint64_t)0 : 0;
    for (int32_t k = 0; k < 3; k++)
        for (int32_t j = 0; j < 3; j++) p->row[k][j] = g->bits + p->place.word + along_y[j] + along_z[k];
}

static inline void piece_first(const tsr_surface_grid *g, int64_t word, int64_t stop, piece *p)
{
    tsr_word_locate(g, word, &p->place);
    piece_open(g, stop, p);
}

/* The piece after `from`; there must be one. */
static inline void piece_next(const tsr_surface_grid *g, const piece *from, int64_t stop, piece *p)
{
    tsr_word_place q = from->place;
    q.word += from->words;
    q.x += 32 * (int64_t)from->words;
    q.left[0] -= 32 * (int64_t)from->words;
    if (q.left[0] <= 0) {
        q.x = 0;
        q.left[0] = g->size[0];
        q.y++;
        q.left[1]--;
        if (q.left[1] == 0) {
            q.y = 0;
            q.left[1] = g->size[1];
            q.z++;
            q.left[2]--;
        }
    }
    p->place = q;
    piece_open(g, stop, p);
}

/* Are not all samples that the cells and edges of a word touch on one side? From the words of the four rows and, if there is one, the next. */
static inline uint32_t busy_word(const uint32_t *a, const uint32_t *b, const uint32_t *c, const uint32_t *d)
{
    return (a[0] ^ (a[0] >> 1 | a[1] << 31)) | (a[0] ^ b[0]) | (a[0] ^ c[0]) | (a[0] ^ d[0]) | (((a[1] ^ b[1]) | (a[1] ^ c[1]) | (a[1] ^ d[1])) & 1u);
}

static inline uint32_t piece_busy(const piece *p)
{
    const uint32_t *a = p->row[0][0], *b = p->row[0][1], *c = p->row[1][0], *d = p->row[1][1];
    const int32_t last = p->place.left[0] <= 32 * (int64_t)p->words ? p->words - 1 : -1, whole = last < 0 ? p->words : last;
    uint32_t found[PIECE_WORDS] = { 0 }, busy = 0;
    if (whole == PIECE_WORDS) {
#pragma omp simd
        for (int32_t w = 0; w < PIECE_WORDS; w++) found[w] = busy_word(a + w, b + w, c + w, d + w);
    } else {
#pragma omp simd
        for (int32_t w = 0; w < whole; w++) found[w] = busy_word(a + w, b + w, c + w, d + w);
    }
    if (last >= 0) { /* no word follows */
        uint32_t v = a[last];
        found[last] = (v + 1 > 1 ? 1u : 0u) | (v ^ b[last]) | (v ^ c[last]) | (v ^ d[last]);
    }
    for (int32_t w = 0; w < PIECE_WORDS; w++) busy |= (found[w] ? 1u : 0u) << w;
    return busy;
}

/* 34 sides from word w of a row. */
static inline uint64_t sides(const uint32_t *row, int32_t w, int64_t left) { return row[w] | (left > 32 ? (uint64_t)(row[w + 1] & 3u) << 32 : 0); }

/* Edges of a row of a word with `left` samples to the end: where the row at y + 1 or z + 1 is missing it is the row itself. */
static inline tsr_edge_bits edges_of(uint64_t row, uint64_t row_y, uint64_t row_z, int64_t left)
{
    const uint64_t reach = ((uint64_t)1 << 33) - 1;
    return tsr_edges_cut(row, row_y, row_z, left > 33 ? reach : tsr_bits_low(left - 1), reach, reach);
}

static inline void rows_load(const piece *p, int32_t w, tsr_cell_rows *c)
{
    const int64_t left = p->place.left[0] - 32 * (int64_t)w;
    for (int32_t j = 0; j < 4; j++) c->row[j] = sides(p->row[j >> 1][j & 1], w, left);
    c->active = tsr_cells_cut(c->row, p->cells & (left > 32 ? 0xffffffffu : tsr_bits_low(left - 1)));
    c->edges[0] = edges_of(c->row[0], c->row[1], c->row[2], left);
}

static inline void edges_load(const piece *p, int32_t w, tsr_cell_rows *c)
{
    const int64_t left = p->place.left[0] - 32 * (int64_t)w;
    c->edges[1] = edges_of(c->row[1], sides(p->row[0][2], w, left), c->row[3], left);
    c->edges[2] = edges_of(c->row[2], c->row[3], sides(p->row[2][0], w, left), left);
    c->edges[3] = edges_of(c->row[3], sides(p->row[1][2], w, left), sides(p->row[2][1], w, left), left);
}

/* Cases of the 32 cells of a word. */
static inline void word_cases(const tsr_cell_rows *c, uint8_t cases[32])
{
#if defined(__AVX512BW__)
    __m256i v = _mm256_setzero_si256();
    for (int32_t j = 0; j < 4; j++) {
        v = _mm256_or_si256(v, _mm256_maskz_set1_epi8((__mmask32)c->row[j], (char)(1 << 2 * j)));
        v = _mm256_or_si256(v, _mm256_maskz_set1_epi8((__mmask32)(c->row[j] >> 1), (char)(2 << 2 * j)));
    }
    _mm256_storeu_si256((__m256i *)(void *)cases, v);
#else
    for (uint64_t m = c->active; m; m &= m - 1) cases[tsr_bits_first(m)] = (uint8_t)tsr_cell_case(c->row, tsr_bits_first(m));
#endif
}

/* ---- counts ------------------------------------------------------------------------------------------------------------------------- */

void TSR_ISA_NAME(tsr_surface_count_dense)(const tsr_surface_grid *g, int64_t begin, int64_t end)
{
    piece p;
    if (begin < end) piece_first(g, begin << TSR_BLOCK_SHIFT, tsr_minl((begin + 1) << TSR_BLOCK_SHIFT, g->words), &p);
    for (int64_t block = begin; block < end; block++) {
        const int64_t stop = tsr_minl((block + 1) << TSR_BLOCK_SHIFT, g->words);
        uint32_t sum = 0;
        for (;;) {
            const int64_t word = p.place.word;
            const uint32_t busy = piece_busy(&p);
            for (int32_t w = 0; w < p.words; w++) g->prefix[word + w] = (uint16_t)sum; /* all there is to a quiet piece */
            for (int32_t w = busy ? 0 : p.words; w < p.words; w++) {
                g->prefix[word + w] = (uint16_t)sum;
                if (!(busy >> w & 1)) continue;
                tsr_cell_rows c;
                uint8_t cases[32];
                rows_load(&p, w, &c);
                sum += (uint32_t)tsr_edges_count(c.edges[0], 0xffffffffu);
                if (c.active) word_cases(&c, cases);
                for (uint64_t m = c.active; m; m &= m - 1) sum += (uint32_t)tsr_case_triangles[cases[tsr_bits_first(m)]] << 16;
            }
            if (word + p.words >= stop) break;
            piece_next(g, &p, stop, &p);
        }
        g->block_sum[block] = sum;
        if (block + 1 < end) piece_next(g, &p, tsr_minl(stop + TSR_BLOCK_WORDS, g->words), &p);
    }
}

/* ---- samples ------------------------------------------------------------------------------------------------------------------------- */

/* A whole word is the usual case: a constant 32 leaves no loop. */
#define WIDEN_OF(name, type)                                              \
    static inline void widen_##name(const type *v, int64_t n, double *to) \
    {                                                                     \
        if (n == 32) {                                                    \
            for (int32_t i = 0; i < 32; i++) to[i] = (double)v[i];        \
        } else {                                                          \
            for (int64_t i = 0; i < n; i++) to[i] = (double)v[i];         \
        }                                                                 \
    }
WIDEN_OF(u8, uint8_t)
WIDEN_OF(i8, int8_t)
WIDEN_OF(u16, uint16_t)
WIDEN_OF(i16, int16_t)
WIDEN_OF(u32, uint32_t)
WIDEN_OF(i32, int32_t)
WIDEN_OF(u64, uint64_t)
WIDEN_OF(i64, int64_t)
WIDEN_OF(f32, float)
WIDEN_OF(f64, double)

static void widen(const void *data, tsr_dtype dtype, int64_t at, int64_t n, double *to)
{
    switch (dtype) {
    case TSR_U8: widen_u8((const uint8_t *)data + at, n, to); break;
    case TSR_I8: widen_i8((const int8_t *)data + at, n, to); break;
    case TSR_U16: widen_u16((const uint16_t *)data + at, n, to); break;
    case TSR_I16: widen_i16((const int16_t *)data + at, n, to); break;
    case TSR_U32: widen_u32((const uint32_t *)data + at, n, to); break;
    case TSR_I32: widen_i32((const int32_t *)data + at, n, to); break;
    case TSR_U64: widen_u64((const uint64_t *)data + at, n, to); break;
    case TSR_I64: widen_i64((const int64_t *)data + at, n, to); break;
    case TSR_F32: widen_f32((const float *)data + at, n, to); break;
    default: widen_f64((const double *)data + at, n, to); break;
    }
}

/* 32 samples from (x, y, z), padded coordinates; NaN beyond the volume. */
static inline void samples(const tsr_surface_grid *g, int64_t x, int64_t y, int64_t z, double *to)
{
    int64_t i = x - g->pad, j = y - g->pad, k = z - g->pad, from = 0, end = 32;
    if (i < 0 || i + 32 > g->stored[0] || j < 0 || k < 0 || j >= g->stored[1] || k >= g->stored[2]) {
        for (int32_t a = 0; a < 32; a++) to[a] = tsr_not_a_number();
        if (j < 0 || k < 0 || j >= g->stored[1] || k >= g->stored[2]) return;
        from = tsr_maxl(-i, 0);
        end = tsr_minl(32, g->stored[0] - i);
        if (from >= end) return;
    }
    widen(g->data, g->dtype, (k * g->stored[1] + j) * g->stored[0] + i + from, end - from, to + from);
}

/* Asks early for the samples of the cut edges of word w: the volume is long out of the cache. */
static inline void prefetch(const tsr_surface_grid *g, const piece *p, int32_t w, int64_t size)
{
    const tsr_word_place *q = &p->place;
    const tsr_edge_bits e = p->of[w].edges[0];
    const int64_t row = g->stored[0] * size;
    const char *from = (const char *)g->data + (((q->z - g->pad) * g->stored[1] + q->y - g->pad) * g->stored[0] + q->x - g->pad + 32 * w) * size;
    for (int64_t at = 0; at < 33 * size; at += 64) { /* beyond the volume a prefetch does nothing */
        if (e.x | e.y | e.z) __builtin_prefetch(from + at);
        if (e.y) __builtin_prefetch(from + at + row);
        if (e.z) __builtin_prefetch(from + at + row * g->stored[1]);
    }
}

/* ---- vertices ------------------------------------------------------------------------------------------------------------------------ */

typedef struct vertices {
    double value[3 * STRIDE];  /* samples of the row, of the row at y + 1, of the row at z + 1; only where edges are cut */
    uint32_t code[MOST_CODES]; /* place of the edge's lower sample | place of its upper sample << 16 */
    double share[MOST_CODES];
    int32_t count;
} vertices;

/* Lists the cut edges that word w of the piece owns, by sample, then axis. */
static inline void vertices_list(const tsr_surface_grid *g, const tsr_word_place *p, int32_t w, tsr_edge_bits e, vertices *v)
{
    uint32_t x = (uint32_t)e.x, y = (uint32_t)e.y, z = (uint32_t)e.z, *code = v->code + v->count;
    double *value = v->value + 32 * w;
    samples(g, p->x + 32 * w, p->y, p->z, value);
    if (x >> 31) value[32] = tsr_sample(g, p, 32 * w + 32, 0, 0);
    if (y) samples(g, p->x + 32 * w, p->y + 1, p->z, value + STRIDE);
    if (z) samples(g, p->x + 32 * w, p->y, p->z + 1, value + 2 * STRIDE);
    for (uint32_t m = x | y | z; m; m &= m - 1) { /* without a branch on the axis: all three are written, the cut ones are kept */
        uint32_t bit = (uint32_t)tsr_bits_first(m), at = 32u * (uint32_t)w + bit;
        *code = at | (at + 1) << 16;
        code += x >> bit & 1;
        *code = at | (at + STRIDE) << 16;
        code += y >> bit & 1;
        *code = at | (at + 2 * STRIDE) << 16;
        code += z >> bit & 1;
    }
    v->count = (int32_t)(code - v->code);
}

/* Writes the listed vertices of a piece that begins at `start`. */
static void vertices_write(const tsr_surface_grid *g, const tsr_word_place *start, vertices *v, uint32_t first, const tsr_surface_output *out)
{
    const double x = (double)(start->x - g->pad), y = (double)(start->y - g->pad), z = (double)(start->z - g->pad), isovalue = g->isovalue;
    const double *value = v->value;
    float px[MOST_CODES], py[MOST_CODES], pz[MOST_CODES], *to = out->vertices + 3 * (int64_t)first;
    const int32_t count = v->count;
#pragma omp simd
    for (int32_t n = 0; n < count; n++) {
        int32_t at = (int32_t)(v->code[n] & 0xffffu), upper = (int32_t)(v->code[n] >> 16);
        double t = tsr_vertex_share(isovalue, value[at], value[upper]);
        double i = x + (double)at + (upper < STRIDE ? t : 0.0), j = y + (upper >= STRIDE ? upper < 2 * STRIDE ? t : 0.0 : 0.0),
               k = z + (upper >= 2 * STRIDE ? t : 0.0);
        v->share[n] = t;
        px[n] = tsr_vertex_coordinate(g, 0, i, j, k);
        py[n] = tsr_vertex_coordinate(g, 1, i, j, k);
        pz[n] = tsr_vertex_coordinate(g, 2, i, j, k);
    }
    for (int32_t n = 0; n < count; n++) {
        to[3 * n] = px[n];
        to[3 * n + 1] = py[n];
        to[3 * n + 2] = pz[n];
    }
    for (int32_t n = 0; n < count && g->normals; n++) {
        int32_t at = (int32_t)(v->code[n] & 0xffffu), upper = (int32_t)(v->code[n] >> 16);
        tsr_vertex_normal(g, start, at, upper / STRIDE, value[at], value[upper], v->share[n], out->normals + 3 * (int64_t)(first + (uint32_t)n));
    }
}

/* ---- triangles ----------------------------------------------------------------------------------------------------------------------- */

/* Numbers of the vertices of a cell lie in three groups of eight, by (row at x, row at x + 1): along x, along y, along z. Place of an edge: */
static const uint8_t lane_of[16] = { 0, 1, 2, 3, 8, 12, 10, 14, 16, 20, 17, 21 };
/* Corners of a mirrored triangle change places. */
static const uint8_t order_of[2][16] = { { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 },
                                         { 0, 2, 1, 3, 5, 4, 6, 8, 7, 9, 11, 10, 12, 14, 13, 15 } };

/* Three masks as a sum of two: a bit counts once in `once`, twice in `twice`. */
static inline void add_masks(tsr_edge_bits e, uint32_t *once, uint32_t *twice)
{
    uint32_t x = (uint32_t)e.x, y = (uint32_t)e.y, z = (uint32_t)e.z;
    *once = x ^ y ^ z;
    *twice = (x & y) | (z & (x ^ y));
}

/* Triangles of the active cells of a word. first: number of the first vertex of the word in each of the four rows. */
static uint64_t triangles_write(const tsr_surface_grid *g, const tsr_cell_rows *c, const uint32_t first[4], uint64_t triangle,
                                const tsr_surface_output *out)
{
    _Alignas(32) uint32_t sums[8], along_x[8], along_y[8]; /* sums: once | twice; along: bits at x | at x + 1 */
    uint8_t cases[32];
    uint32_t *to = out->triangles + 3 * (int64_t)triangle;
    word_cases(c, cases);
    for (int32_t j = 0; j < 4; j++) {
        add_masks(c->edges[j], &sums[j], &sums[4 + j]);
        along_x[j] = (uint32_t)c->edges[j].x;
        along_x[4 + j] = (uint32_t)(c->edges[j].x >> 1);
        along_y[j] = (uint32_t)c->edges[j].y;
        along_y[4 + j] = (uint32_t)(c->edges[j].y >> 1);
    }
#if defined(__AVX512BW__)
    const __m256i sum = _mm256_load_si256((const __m256i *)sums), xs = _mm256_load_si256((const __m256i *)along_x),
                  ys = _mm256_load_si256((const __m256i *)along_y), one = _mm256_set1_epi32(1), low = _mm256_set1_epi8(15);
    const __m256i bits = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 2, 2, 4, 2, 4, 4, 6, 2, 4, 4, 6, 4, 6, 6, 8);
    const __m128i start = _mm_loadu_si128((const __m128i *)first), lanes = _mm_loadu_si128((const __m128i *)lane_of),
                  order = _mm_loadu_si128((const __m128i *)order_of[g->mirrored]);
    for (uint64_t m = c->active; m; m &= m - 1) {
        const int32_t bit = tsr_bits_first(m), cut = cases[bit], indices = 3 * tsr_case_triangles[cut];
        const __m128i shift = _mm_cvtsi32_si128(bit);
        const __m256i below = _mm256_and_si256(sum, _mm256_set1_epi32((int32_t)((1u << bit) - 1u)));
        const __m256i bytes = _mm256_add_epi8(_mm256_shuffle_epi8(bits, _mm256_and_si256(below, low)),
                                              _mm256_shuffle_epi8(bits, _mm256_and_si256(_mm256_srli_epi32(below, 4), low)));
        const __m256i counts = _mm256_madd_epi16(_mm256_maddubs_epi16(bytes, _mm256_set1_epi8(1)), _mm256_set1_epi16(1));
        const __m256i own = _mm256_and_si256(_mm256_srl_epi32(sum, shift), one);
        const __m128i here = _mm_add_epi32(start, _mm_add_epi32(_mm256_castsi256_si128(counts), _mm256_extracti128_si256(counts, 1)));
        const __m128i twice = _mm_slli_epi32(_mm256_extracti128_si256(own, 1), 1);
        const __m128i next = _mm_add_epi32(_mm_add_epi32(here, _mm256_castsi256_si128(own)), twice);
        const __m256i x = _mm256_inserti128_si256(_mm256_castsi128_si256(here), next, 1);
        const __m256i y = _mm256_add_epi32(x, _mm256_and_si256(_mm256_srl_epi32(xs, shift), one));
        const __m256i z = _mm256_add_epi32(y, _mm256_and_si256(_mm256_srl_epi32(ys, shift), one));
        const __m128i edges = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)tsr_case_edges[cut]), order);
        const __m512i from = _mm512_cvtepu8_epi32(_mm_shuffle_epi8(lanes, edges));
        const __m512i numbers = _mm512_permutex2var_epi32(_mm512_inserti64x4(_mm512_castsi256_si512(x), y, 1), from, _mm512_castsi256_si512(z));
        _mm512_mask_storeu_epi32(to, (__mmask16)((1u << indices) - 1u), numbers);
        to += indices;
    }
#else
    for (uint64_t m = c->active; m; m &= m - 1) {
        const int32_t bit = tsr_bits_first(m), cut = cases[bit], indices = 3 * tsr_case_triangles[cut];
        const uint32_t below = (1u << bit) - 1u;
        uint32_t number[24];
        for (int32_t j = 0; j < 4; j++) {
            number[j] = first[j] + (uint32_t)tsr_bits_count(sums[j] & below) + 2 * (uint32_t)tsr_bits_count(sums[4 + j] & below);
            number[4 + j] = number[j] + (sums[j] >> bit & 1) + 2 * (sums[4 + j] >> bit & 1);
        }
        for (int32_t j = 0; j < 8; j++) {
            number[8 + j] = number[j] + (along_x[j] >> bit & 1);
            number[16 + j] = number[8 + j] + (along_y[j] >> bit & 1);
        }
        for (int32_t n = 0; n < indices; n++) to[n] = number[lane_of[tsr_case_edges[cut][order_of[g->mirrored][n]]]];
        to += indices;
    }
#endif
    return (uint64_t)(to - out->triangles) / 3;
}

/* ---- blocks -------------------------------------------------------------------------------------------------------------------------- */

/* Loads the masks of a piece and asks for its samples. */
static void piece_load(const tsr_surface_grid *g, piece *p)
{
    const int64_t size = (int64_t)tsr_dtype_size(g->dtype);
    p->busy = piece_busy(p);
    for (uint32_t m = p->busy; m; m &= m - 1) {
        const int32_t w = tsr_bits_first(m);
        rows_load(p, w, &p->of[w]);
        prefetch(g, p, w, size);
    }
}

static uint64_t piece_write(const tsr_surface_grid *g, piece *p, vertices *v, uint64_t triangle, const tsr_surface_output *out)
{
    v->count = 0;
    for (uint32_t m = p->busy; m; m &= m - 1) {
        const int32_t w = tsr_bits_first(m);
        tsr_cell_rows *c = &p->of[w];
        uint32_t first[4];
        if ((uint32_t)(c->edges[0].x | c->edges[0].y | c->edges[0].z)) vertices_list(g, &p->place, w, c->edges[0], v);
        if (!c->active) continue;
        edges_load(p, w, c);
        for (int32_t j = 0; j < 4; j++) first[j] = tsr_word_first(g, p->row[j >> 1][j & 1] + w - g->bits);
        triangle = triangles_write(g, c, first, triangle, out);
    }
    if (v->count) vertices_write(g, &p->place, v, tsr_word_first(g, p->place.word), out);
    return triangle;
}

void TSR_ISA_NAME(tsr_surface_emit_dense)(const tsr_surface_grid *g, const tsr_surface_output *out, int64_t begin, int64_t end)
{
    vertices v;
    memset(v.value, 0, sizeof v.value);
    for (int64_t k = begin; k < end; k++) {
        const int64_t block = g->active[k], stop = tsr_minl((block + 1) << TSR_BLOCK_SHIFT, g->words);
        uint64_t triangle = g->block_triangle[block];
        piece ring[AHEAD]; /* one is written while the samples of the next ones are on their way */
        int32_t loaded = 0, done = 0, last = 0;
        for (;;) {
            for (; !last && loaded < done + AHEAD; loaded++) {
                piece *p = &ring[loaded % AHEAD];
                if (loaded == 0) piece_first(g, block << TSR_BLOCK_SHIFT, stop, p);
                else piece_next(g, &ring[(loaded - 1) % AHEAD], stop, p);
                piece_load(g, p);
                last = p->place.word + p->words >= stop;
            }
            if (done == loaded) break;
            triangle = piece_write(g, &ring[done++ % AHEAD], &v, triangle, out);
        }
    }
}
