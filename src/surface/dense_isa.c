/* surface/dense_isa.c: counts, vertices and triangles of a dense volume on the CPU.
 *
 * Work goes by pieces: up to 256 neighbouring samples of one row. Counting also makes the vertices, while the samples are near (dense_vertices.h).
 * A cell takes the numbers of its twelve edges from bit counts of the masks of its four rows, all rows at once, and its triangles are one
 * permutation of them. Bound: the samples once, the mesh once, its vertices twice more; bits and prefixes are 3/16 of a byte per cell. */
#include "surface/decider_table.h"
#include "surface/dense_vertices.h"

enum { PIECE_WORDS = 8 };

typedef struct piece {
    tsr_word_place place;
    int32_t words;
    uint64_t cells;            /* all ones, or zero where the row has no cells */
    const uint32_t *row[3][3]; /* [z][y] on from the piece; beyond the domain the last row, so that nothing is cut between */
} piece;

static inline void piece_open(const tsr_surface_grid *g, int64_t stop, piece *p)
{
    const int64_t *left = p->place.left, y = g->row_words, z = g->row_words * g->size[1];
    const int64_t along_y[3] = { 0, left[1] > 1 ? y : 0, left[1] > 2 ? 2 * y : left[1] > 1 ? y : 0 };
    const int64_t along_z[3] = { 0, left[2] > 1 ? z : 0, left[2] > 2 ? 2 * z : left[2] > 1 ? z : 0 };
    p->words = (int32_t)tsr_minl(tsr_minl(PIECE_WORDS, stop - p->place.word), (left[0] + 31) >> 5);
    p->cells = left[1] > 1 && left[2] > 1 && p->place.z < g->own ? ~(uint64_t)0 : 0;
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

#if !defined(__AVX512BW__)
/* Are not all samples that the cells and edges of a word touch on one side? From the words of the four rows and, if there is one, the next. */
static inline uint32_t busy_word(const uint32_t *a, const uint32_t *b, const uint32_t *c, const uint32_t *d)
{
    return (a[0] ^ (a[0] >> 1 | a[1] << 31)) | (a[0] ^ b[0]) | (a[0] ^ c[0]) | (a[0] ^ d[0]) | (((a[1] ^ b[1]) | (a[1] ^ c[1]) | (a[1] ^ d[1])) & 1u);
}
#endif

static inline uint32_t piece_busy(const piece *p)
{
    const uint32_t *a = p->row[0][0], *b = p->row[0][1], *c = p->row[1][0], *d = p->row[1][1];
    const int32_t last = p->place.left[0] <= 32 * (int64_t)p->words ? p->words - 1 : -1, whole = last < 0 ? p->words : last;
#if defined(__AVX512BW__)
    const __mmask8 words = (__mmask8)tsr_bits_low(p->words), next = (__mmask8)tsr_bits_low(whole);
    const __m256i va = _mm256_maskz_loadu_epi32(words, a), vb = _mm256_maskz_loadu_epi32(words, b), vc = _mm256_maskz_loadu_epi32(words, c),
                  vd = _mm256_maskz_loadu_epi32(words, d), na = _mm256_maskz_loadu_epi32(next, a + 1), nb = _mm256_maskz_loadu_epi32(next, b + 1),
                  nc = _mm256_maskz_loadu_epi32(next, c + 1), nd = _mm256_maskz_loadu_epi32(next, d + 1);
    const __m256i after = _mm256_mask_srli_epi32(na, (__mmask8)~next, va, 31); /* where no word follows the last side repeats */
    const __m256i along = _mm256_xor_si256(va, _mm256_or_si256(_mm256_srli_epi32(va, 1), _mm256_slli_epi32(after, 31)));
    const __m256i any = _mm256_or_si256(_mm256_or_si256(va, vb), _mm256_or_si256(vc, vd)),
                  all = _mm256_and_si256(_mm256_and_si256(va, vb), _mm256_and_si256(vc, vd));
    const __m256i next_any = _mm256_or_si256(_mm256_or_si256(na, nb), _mm256_or_si256(nc, nd)),
                  next_all = _mm256_and_si256(_mm256_and_si256(na, nb), _mm256_and_si256(nc, nd));
    const __m256i across = _mm256_and_si256(_mm256_xor_si256(next_any, next_all), _mm256_set1_epi32(1));
    const __m256i found = _mm256_or_si256(_mm256_or_si256(along, across), _mm256_xor_si256(any, all));
    return _mm256_mask_test_epi32_mask(words, found, found);
#else
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
#endif
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

/* Cases of the 32 cells of a word. */
static inline void word_cases(const tsr_surface_grid *g, const tsr_cell_rows *c, uint8_t cases[32])
{
#if defined(__AVX512BW__)
    __m256i v = _mm256_setzero_si256();
    for (int32_t j = 0; j < 4; j++) {
        v = _mm256_or_si256(v, _mm256_maskz_set1_epi8((__mmask32)c->row[j], (char)(1 << 2 * j)));
        v = _mm256_or_si256(v, _mm256_maskz_set1_epi8((__mmask32)(c->row[j] >> 1), (char)(2 << 2 * j)));
    }
    _mm256_storeu_si256((__m256i *)(void *)cases, _mm256_xor_si256(v, _mm256_set1_epi8((char)g->flip)));
#else
    for (uint64_t m = c->active; m; m &= m - 1) cases[tsr_bits_first(m)] = (uint8_t)tsr_cell_case(g, c->row, tsr_bits_first(m));
#endif
}

/* ---- counts and vertices ------------------------------------------------------------------------------------------------------------- */

/* Bits of g->busy: the words of a block with something in them. */
static inline void busy_put(uint32_t *mask, int32_t at, uint32_t bits)
{
    const uint64_t wide = (uint64_t)bits << (at & 31);
    mask[at >> 5] |= (uint32_t)wide;
    if (wide >> 32) mask[(at >> 5) + 1] |= (uint32_t)(wide >> 32); /* within the block: the next one may be another worker's */
}
static inline uint32_t busy_get(const uint32_t *mask, int32_t at, int32_t words)
{
    uint32_t bits = mask[at >> 5] >> (at & 31);
    if ((at & 31) > 32 - words) bits |= mask[(at >> 5) + 1] << (32 - (at & 31));
    return bits & (uint32_t)tsr_bits_low(words);
}

/* Asks early for the samples two planes on, which the sweep reads next: memory works while this counts. */
static inline void prefetch(const tsr_surface_grid *g, const piece *p, int64_t size)
{
    const tsr_word_place *q = &p->place;
    const int64_t z = q->z - g->pad + 2, at = ((z * g->stored[1] + q->y - g->pad) * g->stored[0] + q->x - g->pad) * size;
    if (z >= g->stored[2]) return;
    for (int64_t byte = 0; byte < 32 * size * p->words; byte += 64) __builtin_prefetch((const char *)g->data + at + byte, 0, 2);
}

static const tsr_case_tables tables = TSR_CASE_TABLES;

static inline tsr_word_place place_of(const piece *p, int32_t w)
{
    tsr_word_place q = p->place;
    q.word += w;
    q.x += 32 * (int64_t)w;
    q.left[0] -= 32 * (int64_t)w;
    return q;
}

/* Triangles of the cells of word w whose ambiguous faces are decided. */
static uint32_t word_decided(const tsr_surface_grid *g, const piece *p, int32_t w, uint64_t active, const uint8_t cases[32])
{
    const tsr_word_place place = place_of(p, w);
    uint32_t triangles = 0;
    for (uint64_t m = active; m; m &= m - 1) {
        const int32_t bit = tsr_bits_first(m);
        triangles += (uint32_t)tsr_cell_filled(g, &place, bit, cases[bit], &tables).triangles;
    }
    return triangles;
}

/* Counts of word w; lists its vertices. */
static inline uint32_t word_count(const tsr_surface_grid *g, const piece *p, int32_t w, batch *b, tsr_vertex_arena *arena)
{
    tsr_cell_rows c;
    uint8_t cases[32];
    rows_load(p, w, &c);
    uint32_t sum = (uint32_t)tsr_edges_count(c.edges[0], 0xffffffffu);
    if (sum) batch_list(g, p->place.x + 32 * w, p->place.y, p->place.z, c.edges[0], b, arena);
    if (c.active) word_cases(g, &c, cases);
    for (uint64_t m = c.active; m && !g->decide; m &= m - 1) sum += (uint32_t)tsr_case_triangles[cases[tsr_bits_first(m)]] << TSR_COUNT_SHIFT;
    return g->decide ? sum + (word_decided(g, p, w, c.active, cases) << TSR_COUNT_SHIFT) : sum;
}

void TSR_ISA_NAME(tsr_surface_count_dense)(const tsr_surface_grid *g, int64_t begin, int64_t end, int32_t worker)
{
    tsr_vertex_arena *arena = &g->store->arena[worker];
    const int64_t size = (int64_t)tsr_dtype_size(g->dtype);
    batch b;
    piece p;
    b.count = b.words = 0;
    if (begin < end) piece_first(g, begin << TSR_BLOCK_SHIFT, tsr_minl((begin + 1) << TSR_BLOCK_SHIFT, g->words), &p);
    for (int64_t block = begin; block < end; block++) {
        const int64_t start = block << TSR_BLOCK_SHIFT, stop = tsr_minl(start + TSR_BLOCK_WORDS, g->words);
        uint32_t sum = 0, *mask = g->busy + block * (TSR_BLOCK_WORDS / 32);
        memset(mask, 0, TSR_BLOCK_WORDS / 8);
        g->place[block] = tsr_store_place(worker, arena->count + b.count);
        for (;;) {
            const int64_t word = p.place.word;
            const uint32_t busy = piece_busy(&p);
            prefetch(g, &p, size);
            for (int32_t w = 0; w < p.words; w++) g->prefix[word + w] = (uint16_t)tsr_count_vertices(sum); /* all there is to a quiet piece */
            if (busy) busy_put(mask, (int32_t)(word - start), busy);
            for (int32_t w = busy ? 0 : p.words; w < p.words; w++) {
                g->prefix[word + w] = (uint16_t)tsr_count_vertices(sum);
                if (busy >> w & 1) sum += word_count(g, &p, w, &b, arena);
            }
            if (word + p.words >= stop) break;
            piece_next(g, &p, stop, &p);
        }
        g->block_sum[block] = sum;
        if (block + 1 < end) piece_next(g, &p, tsr_minl(stop + TSR_BLOCK_WORDS, g->words), &p);
    }
    batch_flush(g, &b, arena);
}

/* ---- triangles ----------------------------------------------------------------------------------------------------------------------- */

/* Numbers of the vertices of a cell lie in three groups of eight, by (row at x, row at x + 1): along x, along y, along z. Place of an edge: */
static const uint8_t lane_of[16] = { 0, 1, 2, 3, 8, 12, 10, 14, 16, 20, 17, 21 };
/* Corners of a mirrored triangle change places. */
static const uint8_t order_of[2][16] = { { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 },
                                         { 0, 2, 1, 3, 5, 4, 6, 8, 7, 9, 11, 10, 12, 14, 13, 15 } };

/* The indices of a cell with decided faces; `number` as above. Returns how many. */
static int32_t decided_indices(const tsr_surface_grid *g, const tsr_word_place *place, int32_t bit, uint32_t code, const uint32_t number[24],
                               uint32_t *to)
{
    const tsr_cell_fill fill = tsr_cell_filled(g, place, bit, code, &tables);
    for (int32_t k = 0; k < 3 * fill.triangles; k += 3)
        for (int32_t n = 0; n < 3; n++) to[k + n] = number[lane_of[fill.edges[k + order_of[g->mirrored][n]]]];
    return 3 * fill.triangles;
}

#if defined(__AVX512BW__)
/* Four rows side by side: the word and the first two sides of the next. */
static inline __m256i rows_beside(const uint32_t *a, const uint32_t *b, const uint32_t *c, const uint32_t *d, int32_t w, int64_t left)
{
    return _mm256_set_epi64x((long long)sides(d, w, left), (long long)sides(c, w, left), (long long)sides(b, w, left), (long long)sides(a, w, left));
}

/* Triangles of the cells of word w. */
static uint64_t word_triangles(const tsr_surface_grid *g, const piece *p, int32_t w, uint64_t triangle, const tsr_surface_output *out)
{
    const int64_t left = p->place.left[0] - 32 * (int64_t)w;
    const uint32_t *const *const y0 = p->row[0], *const *const y1 = p->row[1], *const *const y2 = p->row[2];
    const __m256i row = rows_beside(y0[0], y0[1], y1[0], y1[1], w, left), row_y = rows_beside(y0[1], y0[2], y1[1], y1[2], w, left),
                  row_z = rows_beside(y1[0], y1[1], y2[0], y2[1], w, left);
    const __m256i reach = _mm256_set1_epi64x(left > 33 ? (long long)0x1ffffffff : (long long)tsr_bits_low(left - 1));
    const __m256i along = _mm256_srli_epi64(row, 1), ex = _mm256_and_si256(_mm256_xor_si256(row, along), reach), ey = _mm256_xor_si256(row, row_y),
                  ez = _mm256_xor_si256(row, row_z);
    /* A bit counts once in `once`, twice in `twice`: three masks as a sum of two. */
    const __m128i once = _mm256_cvtepi64_epi32(_mm256_ternarylogic_epi64(ex, ey, ez, 0x96)),
                  twice = _mm256_cvtepi64_epi32(_mm256_ternarylogic_epi64(ex, ey, ez, 0xe8));
    const __m256i sum = _mm256_inserti128_si256(_mm256_castsi128_si256(once), twice, 1);
    const __m256i xs = _mm256_inserti128_si256(_mm256_castsi128_si256(_mm256_cvtepi64_epi32(ex)), _mm256_cvtepi64_epi32(_mm256_srli_epi64(ex, 1)), 1);
    const __m256i ys = _mm256_inserti128_si256(_mm256_castsi128_si256(_mm256_cvtepi64_epi32(ey)), _mm256_cvtepi64_epi32(_mm256_srli_epi64(ey, 1)), 1);
    tsr_cell_rows c;
    uint8_t cases[32];
    _mm256_storeu_si256((__m256i *)(void *)c.row, row);
    c.active = tsr_cells_cut(c.row, p->cells & (left > 32 ? 0xffffffffu : tsr_bits_low(left - 1)));
    if (!c.active) return triangle;
    word_cases(g, &c, cases);
    const int64_t word = p->place.word + w;
    const __m128i start = _mm_setr_epi32((int)tsr_word_first(g, word), (int)tsr_word_first(g, p->row[0][1] + w - g->bits),
                                         (int)tsr_word_first(g, p->row[1][0] + w - g->bits), (int)tsr_word_first(g, p->row[1][1] + w - g->bits));
    const __m256i one = _mm256_set1_epi32(1), low = _mm256_set1_epi8(15);
    const __m256i bits = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 2, 2, 4, 2, 4, 4, 6, 2, 4, 4, 6, 4, 6, 6, 8);
    const __m128i lanes = _mm_loadu_si128((const __m128i *)lane_of), order = _mm_loadu_si128((const __m128i *)order_of[g->mirrored]);
    const tsr_word_place place = place_of(p, w);
    uint32_t *to = out->triangles + 3 * (int64_t)triangle;
    for (uint64_t m = c.active; m; m &= m - 1) {
        const int32_t bit = tsr_bits_first(m), cut = cases[bit], indices = 3 * tsr_case_triangles[cut];
        const __m128i shift = _mm_cvtsi32_si128(bit);
        const __m256i below = _mm256_and_si256(sum, _mm256_set1_epi32((int32_t)((1u << bit) - 1u)));
        const __m256i bytes = _mm256_add_epi8(_mm256_shuffle_epi8(bits, _mm256_and_si256(below, low)),
                                              _mm256_shuffle_epi8(bits, _mm256_and_si256(_mm256_srli_epi32(below, 4), low)));
        const __m256i counts = _mm256_madd_epi16(_mm256_maddubs_epi16(bytes, _mm256_set1_epi8(1)), _mm256_set1_epi16(1));
        const __m256i own = _mm256_and_si256(_mm256_srl_epi32(sum, shift), one);
        const __m128i here = _mm_add_epi32(start, _mm_add_epi32(_mm256_castsi256_si128(counts), _mm256_extracti128_si256(counts, 1)));
        const __m128i own_twice = _mm_slli_epi32(_mm256_extracti128_si256(own, 1), 1);
        const __m128i next = _mm_add_epi32(_mm_add_epi32(here, _mm256_castsi256_si128(own)), own_twice);
        const __m256i x = _mm256_inserti128_si256(_mm256_castsi128_si256(here), next, 1);
        const __m256i y = _mm256_add_epi32(x, _mm256_and_si256(_mm256_srl_epi32(xs, shift), one));
        const __m256i z = _mm256_add_epi32(y, _mm256_and_si256(_mm256_srl_epi32(ys, shift), one));
        if (g->decide && tsr_decider_faces[cut]) {
            uint32_t number[24];
            _mm256_storeu_si256((__m256i *)(void *)number, x);
            _mm256_storeu_si256((__m256i *)(void *)(number + 8), y);
            _mm256_storeu_si256((__m256i *)(void *)(number + 16), z);
            to += decided_indices(g, &place, bit, (uint32_t)cut, number, to);
            continue;
        }
        const __m128i edges = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)tsr_case_edges[cut]), order);
        const __m512i from = _mm512_cvtepu8_epi32(_mm_shuffle_epi8(lanes, edges));
        const __m512i numbers = _mm512_permutex2var_epi32(_mm512_inserti64x4(_mm512_castsi256_si512(x), y, 1), from, _mm512_castsi256_si512(z));
        _mm512_mask_storeu_epi32(to, (__mmask16)((1u << indices) - 1u), numbers);
        to += indices;
    }
    return (uint64_t)(to - out->triangles) / 3;
}
#else
static inline void edges_load(const piece *p, int32_t w, tsr_cell_rows *c)
{
    const int64_t left = p->place.left[0] - 32 * (int64_t)w;
    c->edges[1] = edges_of(c->row[1], sides(p->row[0][2], w, left), c->row[3], left);
    c->edges[2] = edges_of(c->row[2], c->row[3], sides(p->row[2][0], w, left), left);
    c->edges[3] = edges_of(c->row[3], sides(p->row[1][2], w, left), sides(p->row[2][1], w, left), left);
}

/* Triangles of the cells of word w. */
static uint64_t word_triangles(const tsr_surface_grid *g, const piece *p, int32_t w, uint64_t triangle, const tsr_surface_output *out)
{
    uint32_t once[4], twice[4], *to = out->triangles + 3 * (int64_t)triangle, first[4];
    uint8_t cases[32];
    tsr_cell_rows c;
    rows_load(p, w, &c);
    if (!c.active) return triangle;
    edges_load(p, w, &c);
    word_cases(g, &c, cases);
    const tsr_word_place place = place_of(p, w);
    for (int32_t j = 0; j < 4; j++) { /* three masks as a sum of two: a bit counts once in `once`, twice in `twice` */
        const uint32_t x = (uint32_t)c.edges[j].x, y = (uint32_t)c.edges[j].y, z = (uint32_t)c.edges[j].z;
        once[j] = x ^ y ^ z;
        twice[j] = (x & y) | (z & (x ^ y));
        first[j] = tsr_word_first(g, p->row[j >> 1][j & 1] + w - g->bits);
    }
    for (uint64_t m = c.active; m; m &= m - 1) {
        const int32_t bit = tsr_bits_first(m), cut = cases[bit], indices = 3 * tsr_case_triangles[cut];
        const uint32_t below = (1u << bit) - 1u;
        uint32_t number[24];
        for (int32_t j = 0; j < 4; j++) {
            number[j] = first[j] + (uint32_t)tsr_bits_count(once[j] & below) + 2 * (uint32_t)tsr_bits_count(twice[j] & below);
            number[4 + j] = number[j] + (once[j] >> bit & 1) + 2 * (twice[j] >> bit & 1);
            number[8 + j] = number[j] + (uint32_t)(c.edges[j].x >> bit & 1);
            number[12 + j] = number[4 + j] + (uint32_t)(c.edges[j].x >> (bit + 1) & 1);
            number[16 + j] = number[8 + j] + (uint32_t)(c.edges[j].y >> bit & 1);
            number[20 + j] = number[12 + j] + (uint32_t)(c.edges[j].y >> (bit + 1) & 1);
        }
        if (g->decide && tsr_decider_faces[cut]) {
            to += decided_indices(g, &place, bit, (uint32_t)cut, number, to);
            continue;
        }
        for (int32_t n = 0; n < indices; n++) to[n] = number[lane_of[tsr_case_edges[cut][order_of[g->mirrored][n]]]];
        to += indices;
    }
    return (uint64_t)(to - out->triangles) / 3;
}
#endif

/* ---- blocks -------------------------------------------------------------------------------------------------------------------------- */

void TSR_ISA_NAME(tsr_surface_emit_dense)(const tsr_surface_grid *g, const tsr_surface_output *out, int64_t begin, int64_t end)
{
    for (int64_t k = begin; k < end; k++) {
        const int64_t block = g->active[k], start = block << TSR_BLOCK_SHIFT, stop = tsr_minl(start + TSR_BLOCK_WORDS, g->words),
                      vertex = 3 * (int64_t)g->block_vertex[block];
        const uint32_t *mask = g->busy + block * (TSR_BLOCK_WORDS / 32);
        uint64_t triangle = g->block_triangle[block];
        piece p;
        tsr_store_take(g->store, g->place[block], tsr_minl(tsr_count_vertices(g->block_sum[block]), out->vertex_count - vertex / 3),
                       out->vertices + vertex, g->normals ? out->normals + vertex : NULL);
        piece_first(g, start, stop, &p);
        for (;;) {
            for (uint32_t m = p.cells ? busy_get(mask, (int32_t)(p.place.word - start), p.words) : 0; m; m &= m - 1)
                triangle = word_triangles(g, &p, tsr_bits_first(m), triangle, out);
            if (p.place.word + p.words >= stop) break;
            piece_next(g, &p, stop, &p);
        }
    }
}
