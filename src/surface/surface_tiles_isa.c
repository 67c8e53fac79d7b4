/* surface/surface_tiles_isa.c: counts, vertices and triangles of a tile list on the CPU, a tile at a time.
 *
 * Cells and edges are found for eight rows at once (tile_rows.h). The vertices of a tile follow one another: their numbers go to a table by place and
 * axis, with those on the borders that other tiles own, so that the corners of a cell's triangles are a choice from four short rows of it. Their positions
 * are made by vectors. Same numbers, same order as cells.h, word by word. */
#include "surface/decider_table.h"
#include "surface/surface_isa.h"
#include "surface/tile_rows.h"

static const tsr_case_tables tables = TSR_CASE_TABLES;

/* Cases of the cells of plane z, in the order of its bits; at least where `cells` has one. */
TSR_INLINE void plane_cases(const tsr_surface_grid *g, const tile *t, int32_t z, uint64_t cells, uint8_t cases[64])
{
    const uint64_t *a = t->plane[z].corner, *b = t->plane[z + 1].corner;
#if defined(__AVX512BW__)
    __m512i v = _mm512_set1_epi8((char)g->flip);
    (void)cells;
    for (int32_t c = 0; c < 4; c++) {
        v = _mm512_mask_blend_epi8(a[c], v, _mm512_xor_si512(v, _mm512_set1_epi8((char)(1 << c))));
        v = _mm512_mask_blend_epi8(b[c], v, _mm512_xor_si512(v, _mm512_set1_epi8((char)(16 << c))));
    }
    _mm512_storeu_si512(cases, v);
#else
    for (uint64_t m = cells; m; m &= m - 1) {
        const int32_t i = tsr_bits_first(m);
        uint32_t code = 0;
        for (int32_t c = 0; c < 4; c++) code |= (uint32_t)(a[c] >> i & 1) << c | (uint32_t)(b[c] >> i & 1) << (4 + c);
        cases[i] = (uint8_t)(code ^ (uint32_t)g->flip);
    }
#endif
}

/* The triangles of the cell at bit i of plane z. */
TSR_INLINE tsr_cell_fill plane_fill(const tsr_surface_grid *g, const tile *t, int32_t z, int32_t i, uint32_t code, int32_t edge)
{
    const tsr_word_place p = tile_row_place(t, i >> 3, z, edge);
    return tsr_cell_filled(g, &p, i & 7, code, &tables);
}

/* ---- counts -------------------------------------------------------------------------------------------------------------------------------------- */

/* Set bits of each byte. */
TSR_INLINE uint64_t count_bytes(uint64_t v)
{
    v -= v >> 1 & UINT64_C(0x5555555555555555);
    v = (v & UINT64_C(0x3333333333333333)) + (v >> 2 & UINT64_C(0x3333333333333333));
    return (v + (v >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
}

/* The prefixes of the rows of a plane: `first` and what the bytes say. */
TSR_INLINE void put_prefixes(uint16_t *to, uint32_t first, uint64_t bytes, const int32_t edge)
{
#if defined(__SSE2__)
    const __m128i all = _mm_add_epi16(_mm_unpacklo_epi8(_mm_cvtsi64_si128((long long)bytes), _mm_setzero_si128()), _mm_set1_epi16((short)first));
    if (edge == 8) _mm_storeu_si128((__m128i *)(void *)to, all);
    else _mm_storel_epi64((__m128i *)(void *)to, all);
#else
    for (int32_t y = 0; y < edge; y++) to[y] = (uint16_t)(first + (bytes >> 8 * y & 255));
#endif
}

/* Prefixes of a tile's words; `sum` with its counts added. */
TSR_INLINE uint32_t count_tile(const tsr_surface_grid *g, int64_t word, uint32_t sum, int *torn, const int32_t edge)
{
    tile t;
    uint8_t cases[64];
    uint32_t vertices = tsr_count_vertices(sum), triangles = tsr_count_triangles(sum);
    const int some = tile_load(g, word, &t, edge);
    if (!some) {
        for (int32_t i = 0; i < edge * edge; i++) g->prefix[word + i] = (uint16_t)vertices;
        return sum;
    }
    for (int32_t z = 0; z < edge; z++) {
        const tsr_edge_bits e = tile_edges(&t, z);
        const uint64_t cells = tile_cells(&t, z), every = UINT64_C(0x0101010101010101);
        const uint64_t up_to = (count_bytes(e.x) + count_bytes(e.y) + count_bytes(e.z)) * every; /* and with the row: at most 192 */
        put_prefixes(g->prefix + word + z * edge, vertices, up_to << 8, edge);
        vertices += (uint32_t)(up_to >> 56);
        if (!cells) continue;
        plane_cases(g, &t, z, cells, cases);
        for (uint64_t m = cells; m; m &= m - 1) {
            const int32_t i = tsr_bits_first(m);
            const uint32_t code = cases[i];
            triangles += g->decide && tsr_decider_faces[code] ? (uint32_t)plane_fill(g, &t, z, i, code, edge).triangles : tsr_case_triangles[code];
        }
    }
    *torn |= tile_torn(&t, edge);
    return vertices | triangles << TSR_COUNT_SHIFT;
}

int TSR_ISA_NAME(tsr_surface_count_tiles)(const tsr_surface_grid *g, int64_t begin, int64_t end)
{
    int torn = 0;
    for (int64_t block = begin; block < end; block++) {
        uint32_t sum = 0, before = 0, busy = 0;
        const int32_t shift = 2 * g->log2_edge;
        const int64_t first = block << TSR_BLOCK_SHIFT, tiles = tsr_minl(TSR_BLOCK_WORDS, g->words - first) >> shift;
        for (int64_t k = 0; k < tiles; k++, before = sum) {
            const int64_t word = first + (k << shift);
            sum = g->log2_edge == 3 ? count_tile(g, word, sum, &torn, 8) : count_tile(g, word, sum, &torn, 4);
            busy |= (uint32_t)(sum != before) << k;
        }
        g->block_sum[block] = sum;
        g->busy[block * (TSR_BLOCK_WORDS / 32)] = busy;
    }
    return torn;
}

int TSR_ISA_NAME(tsr_surface_count_some)(const tsr_surface_grid *g, const tsr_surface_some *some, int64_t begin, int64_t end)
{
    int torn = 0;
    for (int64_t k = begin; k < end; k++) {
        const int64_t word = (int64_t)some->ids[k] << 2 * g->log2_edge;
        some->counts[k] = g->log2_edge == 3 ? count_tile(g, word, 0, &torn, 8) : count_tile(g, word, 0, &torn, 4);
    }
    return torn;
}

/* ---- output --------------------------------------------------------------------------------------------------------------------------------------- */

/* The vertices on the edges of sample x of row (y, z) are numbers 3 x + axis of its row in the table; room for vectors behind. */
enum { SIDE = MOST + 1, NODE_ROW = 32, NODE_PLANE = SIDE * NODE_ROW, LIST = 3 * MOST * MOST * MOST, LANES = 16 };

typedef struct work {
    tile t;
    uint32_t number[SIDE * NODE_PLANE];
    uint32_t listed[LIST + LANES]; /* place in the tile | axis << 12 of the tile's own vertices */
    int32_t count;
    double share[LIST + LANES];
    float lower[LIST + LANES], upper[LIST + LANES], x[LIST + LANES], y[LIST + LANES], z[LIST + LANES];
} work;

/* Numbers of the vertices of row (y, z), from that of its first one; `list`: of the tile's own, which are listed too. Returns the next number. */
TSR_INLINE uint32_t number_row(work *w, uint32_t ex, uint32_t ey, uint32_t ez, int32_t y, int32_t z, uint32_t number, const int list,
                               const int32_t edge)
{
    uint32_t *to = w->number + z * NODE_PLANE + y * NODE_ROW;
    const uint32_t place = (uint32_t)(z * edge + y) * (uint32_t)edge;
#if defined(__AVX512BW__)
    const uint32_t each = (uint32_t)_pdep_u64(ex, 0x249249) | (uint32_t)_pdep_u64(ey, 0x492492) | (uint32_t)_pdep_u64(ez, 0x924924);
    const __mmask16 low = (__mmask16)each, high = (__mmask16)(each >> 16);
    const __m512i rank = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const uint32_t next = number + (uint32_t)__builtin_popcount(low), after = number + (uint32_t)__builtin_popcount(each);
#define CODE(x, axis) ((x) | (axis) << 12)
    if (list) {
        const __m512i at = _mm512_set1_epi32((int)place),
                      code_low = _mm512_setr_epi32(CODE(0, 0), CODE(0, 1), CODE(0, 2), CODE(1, 0), CODE(1, 1), CODE(1, 2), CODE(2, 0), CODE(2, 1),
                                                   CODE(2, 2), CODE(3, 0), CODE(3, 1), CODE(3, 2), CODE(4, 0), CODE(4, 1), CODE(4, 2), CODE(5, 0)),
                      code_high = _mm512_setr_epi32(CODE(5, 1), CODE(5, 2), CODE(6, 0), CODE(6, 1), CODE(6, 2), CODE(7, 0), CODE(7, 1), CODE(7, 2), 0,
                                                    0, 0, 0, 0, 0, 0, 0);
        _mm512_storeu_si512(w->listed + w->count, _mm512_maskz_compress_epi32(low, _mm512_or_si512(code_low, at)));
        if (edge == 8) _mm512_storeu_si512(w->listed + w->count + (next - number), _mm512_maskz_compress_epi32(high, _mm512_or_si512(code_high, at)));
        w->count += (int32_t)(after - number);
    }
#undef CODE
    _mm512_storeu_si512(to, _mm512_add_epi32(_mm512_set1_epi32((int)number), _mm512_maskz_expand_epi32(low, rank)));
    if (edge == 8)
        _mm256_storeu_si256((__m256i *)(void *)(to + 16),
                            _mm512_castsi512_si256(_mm512_add_epi32(_mm512_set1_epi32((int)next), _mm512_maskz_expand_epi32(high, rank))));
    return after;
#else
    for (uint32_t m = ex | ey | ez; m; m &= m - 1) { /* without a branch on the axis */
        const uint32_t bit = (uint32_t)tsr_bits_first(m);
        const uint32_t has[3] = { ex >> bit & 1u, ey >> bit & 1u, ez >> bit & 1u };
        for (uint32_t axis = 0; axis < 3; axis++) {
            to[3 * bit + axis] = number;
            number += has[axis];
            if (!list) continue;
            w->listed[w->count] = bit | place | axis << 12;
            w->count += (int32_t)has[axis];
        }
    }
    return number;
#endif
}

/* Numbers of all edges that the tile's cells have. */
TSR_INLINE void number_edges(const tsr_surface_grid *g, int64_t word, work *w, const int32_t edge)
{
    const tile *t = &w->t;
    const uint32_t low = (uint32_t)tsr_bits_low(edge), last = 1u << edge;
    const float *phi = g->phi + (int64_t)t->place.id * edge * edge * edge;
    uint32_t own = tsr_word_first(g, word);
    w->count = 0;
    for (int32_t z = 0; z < edge; z++) {
        const tsr_edge_bits e = tile_edges(t, z);
        for (uint64_t m = e.x | e.y | e.z; m;) {
            const int32_t y = tsr_bits_first(m) >> 3;
            __builtin_prefetch(phi + (z * edge + y) * edge); /* its vertices are made after all rows have their numbers */
            own = number_row(w, (uint32_t)(e.x >> 8 * y & 255), (uint32_t)(e.y >> 8 * y & 255), (uint32_t)(e.z >> 8 * y & 255), y, z, own, 1, edge);
            m &= ~(UINT64_C(255) << 8 * y);
        }
    }
    for (int32_t i = 0; i <= 2 * edge; i++) { /* rows after the tile along y and z */
        const int32_t z = i <= edge ? i : edge, y = i <= edge ? edge : i - edge - 1, dy = y == edge, dz = z == edge;
        const tsr_edge_bits e = tile_row_edges(t, y, z, edge);
        if (!((e.x | e.y | e.z) & low) || t->first[dz][dy][0] < 0) continue;
        number_row(w, (uint32_t)e.x & low, (uint32_t)e.y & low, (uint32_t)e.z & low, y, z,
                   tsr_word_first(g, t->first[dz][dy][0] + (z & (edge - 1)) * edge + (y & (edge - 1))), 0, edge);
    }
    for (int32_t z = 0; z <= edge; z++) /* and samples along x */
        for (uint32_t m = tile_column_cut(t, z, edge); m; m &= m - 1) {
            const int32_t y = tsr_bits_first(m), dy = y == edge, dz = z == edge;
            if (t->first[dz][dy][1] < 0) continue;
            const tsr_edge_bits e = tile_row_edges(t, y, z, edge);
            uint32_t *to = w->number + z * NODE_PLANE + y * NODE_ROW + 3 * edge;
            to[1] = tsr_word_first(g, t->first[dz][dy][1] + (z & (edge - 1)) * edge + (y & (edge - 1))) + ((e.x & last) != 0);
            to[2] = to[1] + ((e.y & last) != 0);
        }
}

static void make_normals(const tsr_surface_grid *g, const work *w, float *to, int32_t edge)
{
    for (int32_t i = 0; i < w->count; i++) {
        const int32_t k = g->log2_edge, at = (int32_t)(w->listed[i] & 4095u), axis = (int32_t)(w->listed[i] >> 12);
        const tsr_word_place p = tile_row_place(&w->t, at >> k & (edge - 1), at >> 2 * k, edge);
        tsr_vertex_normal(g, &p, at & (edge - 1), axis, (double)w->lower[i], (double)w->upper[i], w->share[i], to + 3 * i);
    }
}

TSR_INLINE void make_vertices(const tsr_surface_grid *g, work *w, const tsr_surface_output *out, uint32_t first, const int32_t edge)
{
    const tile *t = &w->t;
    const int32_t k = edge == 8 ? 3 : 2, mask = edge - 1, voxels = edge * edge * edge;
    const double cut = g->cut, from_x = (double)t->place.x, from_y = (double)t->place.y, from_z = (double)t->place.z;
    const int32_t n = (w->count + LANES - 1) / LANES * LANES;
    const float *phi = g->phi + ((int64_t)t->place.id << 3 * k);
    /* From a sample at the end of the tile to the one after it. */
    const int64_t next_x = ((int64_t)t->id[0][0][1] - t->place.id) * voxels - mask,
                  next_y = ((int64_t)t->id[0][1][0] - t->place.id) * voxels - mask * edge,
                  next_z = ((int64_t)t->id[1][0][0] - t->place.id) * voxels - mask * edge * edge;
    for (int32_t i = w->count; i < n; i++) w->listed[i] = w->listed[0]; /* no remainders: the last vector repeats a vertex */
    float *to = out->vertices + 3 * (int64_t)first;
    for (int32_t i = 0; i < n; i++) {
        const int32_t code = (int32_t)w->listed[i], at = code & 4095, axis = code >> 12;
        const int64_t step[3] = { (at & mask) == mask ? next_x : 1, (at >> k & mask) == mask ? next_y : edge,
                                  at >> 2 * k == mask ? next_z : edge * edge };
        w->lower[i] = phi[at];
        w->upper[i] = phi[at + step[axis]];
    }
#pragma omp simd
    for (int32_t i = 0; i < n; i++) {
        const int32_t code = (int32_t)w->listed[i], x = code & mask, y = code >> k & mask, z = code >> 2 * k & mask, axis = code >> 12;
        const double s = tsr_vertex_share(cut, (double)w->lower[i], (double)w->upper[i]);
        const double px = from_x + (double)x + (axis == 0 ? s : 0.0), py = from_y + (double)y + (axis == 1 ? s : 0.0),
                     pz = from_z + (double)z + (axis == 2 ? s : 0.0);
        w->share[i] = s;
        w->x[i] = tsr_vertex_coordinate(g, 0, px, py, pz);
        w->y[i] = tsr_vertex_coordinate(g, 1, px, py, pz);
        w->z[i] = tsr_vertex_coordinate(g, 2, px, py, pz);
    }
    for (int32_t i = 0; i < w->count; i++) {
        to[3 * i] = w->x[i];
        to[3 * i + 1] = w->y[i];
        to[3 * i + 2] = w->z[i];
    }
    if (g->normals) make_normals(g, w, out->normals + 3 * (int64_t)first, edge);
}

/* Where the twelve edges of the case table stand in `number`, from the cell's lowest corner; and in the four rows of its corners, eight of each. */
#define CORNER(axis, x, y, z) ((z)*NODE_PLANE + (y)*NODE_ROW + 3 * (x) + (axis))
#define CHOSEN(axis, x, y, z) (16 * (z) + 8 * (y) + 3 * (x) + (axis))
#define TWELVE(of)                                                                                                                                  \
    of(0, 0, 0, 0), of(0, 0, 1, 0), of(0, 0, 0, 1), of(0, 0, 1, 1), of(1, 0, 0, 0), of(1, 1, 0, 0), of(1, 0, 0, 1), of(1, 1, 0, 1), of(2, 0, 0, 0), \
        of(2, 1, 0, 0), of(2, 0, 1, 0), of(2, 1, 1, 0)
static const uint16_t corner[12] = { TWELVE(CORNER) };

TSR_INLINE uint32_t *put_triangles(const uint32_t *number, tsr_cell_fill fill, int32_t swap, uint32_t *to)
{
    for (const uint8_t *e = fill.edges, *end = e + 3 * fill.triangles; e < end; e += 3, to += 3) {
        to[0] = number[corner[e[0]]];
        to[1 + swap] = number[corner[e[1]]];
        to[2 - swap] = number[corner[e[2]]];
    }
    return to;
}

#if defined(__AVX512BW__)
/* The same of the case table by one choice from the rows. */
TSR_INLINE uint32_t *put_case(const uint32_t *number, uint32_t code, __m128i order, uint32_t *to)
{
    const __m128i chosen = _mm_setr_epi8(TWELVE(CHOSEN), 0, 0, 0, 0);
    const __m128i edges = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(const void *)tsr_case_edges[code]), order);
    const __m256i *row = (const __m256i *)(const void *)number, *above = (const __m256i *)(const void *)(number + NODE_PLANE);
    const __m512i near = _mm512_inserti64x4(_mm512_castsi256_si512(_mm256_loadu_si256(row)), _mm256_loadu_si256(row + NODE_ROW / 8), 1),
                  far = _mm512_inserti64x4(_mm512_castsi256_si512(_mm256_loadu_si256(above)), _mm256_loadu_si256(above + NODE_ROW / 8), 1);
    const uint32_t corners = 3u * tsr_case_triangles[code];
    _mm512_mask_storeu_epi32(to, (__mmask16)((1u << corners) - 1u),
                             _mm512_permutex2var_epi32(near, _mm512_cvtepu8_epi32(_mm_shuffle_epi8(chosen, edges)), far));
    return to + corners;
}
#endif

/* Returns the end of what was written. */
TSR_INLINE uint32_t *make_triangles(const tsr_surface_grid *g, const work *w, uint32_t *to, const int32_t edge)
{
    const tile *t = &w->t;
    const int32_t swap = g->mirrored != 0;
    uint8_t cases[64];
#if defined(__AVX512BW__)
    const __m128i order = swap ? _mm_setr_epi8(0, 2, 1, 3, 5, 4, 6, 8, 7, 9, 11, 10, 12, 14, 13, 15)
                               : _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
#endif
    for (int32_t z = 0; z < edge; z++) {
        const uint64_t cells = tile_cells(t, z);
        if (!cells) continue;
        plane_cases(g, t, z, cells, cases);
        for (uint64_t m = cells; m; m &= m - 1) {
            const int32_t i = tsr_bits_first(m);
            const uint32_t code = cases[i], *number = w->number + z * NODE_PLANE + (i >> 3) * NODE_ROW + 3 * (i & 7);
            if (g->decide && tsr_decider_faces[code]) to = put_triangles(number, plane_fill(g, t, z, i, code, edge), swap, to);
#if defined(__AVX512BW__)
            else to = put_case(number, code, order, to);
#else
            else to = put_triangles(number, (tsr_cell_fill){ tsr_case_edges[code], tsr_case_triangles[code] }, swap, to);
#endif
        }
    }
    return to;
}

TSR_INLINE uint32_t *emit_edge(const tsr_surface_grid *g, const tsr_surface_output *out, int64_t word, uint32_t *triangles, work *w,
                               const int32_t edge)
{
    if (!tile_load(g, word, &w->t, edge)) return triangles;
    number_edges(g, word, w, edge);
    if (w->count) make_vertices(g, w, out, tsr_word_first(g, word), edge);
    return make_triangles(g, w, triangles, edge);
}

static uint32_t *emit_tile(const tsr_surface_grid *g, const tsr_surface_output *out, int64_t word, uint32_t *triangles, work *w)
{
    return g->log2_edge == 3 ? emit_edge(g, out, word, triangles, w, 8) : emit_edge(g, out, word, triangles, w, 4);
}

void TSR_ISA_NAME(tsr_surface_emit_tiles)(const tsr_surface_grid *g, const tsr_surface_output *out, int64_t begin, int64_t end)
{
    work w;
    for (int64_t k = begin; k < end; k++) {
        const int64_t block = g->active[k];
        uint32_t *to = out->triangles + 3 * (int64_t)g->block_triangle[block];
        for (uint32_t m = g->busy[block * (TSR_BLOCK_WORDS / 32)]; m; m &= m - 1)
            to = emit_tile(g, out, (block << TSR_BLOCK_SHIFT) + ((int64_t)tsr_bits_first(m) << 2 * g->log2_edge), to, &w);
    }
}

void TSR_ISA_NAME(tsr_surface_emit_some)(const tsr_surface_grid *g, const tsr_surface_some *some, const tsr_surface_output *out, int64_t begin,
                                         int64_t end)
{
    work w;
    for (int64_t k = begin; k < end; k++)
        if (some->counts[k]) emit_tile(g, out, (int64_t)some->ids[k] << 2 * g->log2_edge, out->triangles + 3 * (int64_t)some->triangle[k], &w);
}
