/* surface/tile_rows.h: a tile of a list with the two samples after it along each axis, as bits: its rows, and its planes for eight rows at once.
 *
 * The sides are gathered once, from the seven tiles that follow the tile; words no longer look up their neighbours. A plane is 64 bits, a byte per row
 * of x (of tiles of edge 4 the low half of the low four), so that cells and edges of a plane are a few operations and vectors of bytes know them as masks.
 * Functions take the edge as a constant and are compiled for each. */
#ifndef TSR_SURFACE_TILE_ROWS_H
#define TSR_SURFACE_TILE_ROWS_H

#include "surface/cells.h"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

enum { MOST = 8, ROWS = MOST + 2 };

/* The sides of the corners (x, y), (x + 1, y), (x, y + 1), (x + 1, y + 1) of the cells of a plane, the order of the case table. */
typedef struct tile_plane {
    uint64_t corner[4];
} tile_plane;

/* A tile with what follows it. */
typedef struct tile {
    tsr_word_place place;      /* of its first row */
    uint32_t id[2][2][2];      /* of the tiles [z][y][x] on; static ids where none is stored */
    int64_t first[2][2][2];    /* their first words, or TSR_WORD_OUTSIDE, TSR_WORD_INSIDE */
    uint16_t side[ROWS][ROWS]; /* [z][y]: edge + 2 sides */
    tile_plane plane[MOST + 1];
    uint64_t cells, cut_x, cut_y, cut_z; /* of a plane, what lies in the domain: cells, edges along the axes */
    int32_t cells_z, whole;              /* planes with cells and edges along z; whole: all seven are stored */
} tile;

/* A byte with the low n bits, in each of eight rows; the first n rows. */
TSR_INLINE uint64_t every_row(int64_t n) { return tsr_bits_low(tsr_minl(n, MOST)) * UINT64_C(0x0101010101010101); }
TSR_INLINE uint64_t first_rows(int64_t n) { return tsr_bits_low(8 * tsr_maxl(n, 0)); }

#define EIGHT(v) v, v, v, v, v, v, v, v
static const uint32_t tile_outside[MOST * MOST] = { 0 }, tile_inside[MOST * MOST] = { EIGHT(EIGHT(~0u)) };
#undef EIGHT

TSR_INLINE const uint32_t *tile_words(const tsr_surface_grid *g, int64_t first)
{
    return first >= 0 ? g->bits + first : first == TSR_WORD_INSIDE ? tile_inside : tile_outside;
}

/* Rows of a tile and of the one after it along x. */
TSR_INLINE void tile_load_rows(const tsr_surface_grid *g, const int64_t first[2], int32_t high, int32_t wide, int32_t edge, uint16_t *to)
{
    const uint32_t *own = tile_words(g, first[0]), *next = tile_words(g, first[1]), low = (uint32_t)tsr_bits_low(edge);
    for (int32_t z = 0; z < high; z++)
        for (int32_t y = 0; y < wide; y++) to[z * ROWS + y] = (uint16_t)((own[z * edge + y] & low) | (next[z * edge + y] & 3u) << edge);
}

/* What lies beyond the domain is on no side. */
static void tile_cut_rows(tile *t, int32_t edge)
{
    const int64_t *left = t->place.left;
    for (int32_t z = 0; z < edge + 2; z++)
        for (int32_t y = 0; y < edge + 2; y++) {
            uint16_t *row = &t->side[z][y];
            if (y >= left[1] || z >= left[2]) *row = 0;
            else if (left[0] <= edge) *row &= (uint16_t)tsr_bits_low(edge);
        }
}

/* One of the corners of the cells of a plane: the bits from `from` on of each row. */
TSR_INLINE uint64_t tile_corner(const uint16_t *side, int32_t from, int32_t edge)
{
    const uint32_t low = (uint32_t)tsr_bits_low(edge);
#if defined(__SSE2__)
    const __m128i rows = _mm_loadu_si128((const __m128i *)(const void *)side),
                  cut = _mm_and_si128(from ? _mm_srli_epi16(rows, 1) : rows, _mm_set1_epi16((short)low));
    return (uint64_t)_mm_cvtsi128_si64(_mm_packus_epi16(cut, cut)) & tsr_bits_low(8 * edge);
#else
    uint64_t bits = 0;
    for (int32_t y = 0; y < edge; y++) bits |= (uint64_t)(side[y] >> from & low) << 8 * y;
    return bits;
#endif
}

/* The tile whose first word this is. Returns 0 if all its cells and edges lie on one side. */
TSR_INLINE int tile_load(const tsr_surface_grid *g, int64_t word, tile *t, const int32_t edge)
{
    const int32_t k = edge == 8 ? 3 : 2;
    uint32_t any = 0, all = ~0u;
    tsr_word_locate(g, word, &t->place);
    const uint32_t *beside = g->neighbours + (int64_t)t->place.id * TSR_NEIGHBOUR_ROW;
    t->whole = 1;
    for (int32_t z = 0; z < 2; z++)
        for (int32_t y = 0; y < 2; y++)
            for (int32_t x = 0; x < 2; x++) {
                const uint32_t id = x + y + z ? beside[TSR_TILE_MIDDLE + 9 * z + 3 * y + x] : t->place.id;
                t->id[z][y][x] = id;
                t->whole &= id >= TSR_TILE_FIRST;
                t->first[z][y][x] = id >= TSR_TILE_FIRST    ? (int64_t)(g->by_id ? id : g->slot_of[id]) << 2 * k
                                    : id == TSR_TILE_INSIDE ? TSR_WORD_INSIDE
                                                            : TSR_WORD_OUTSIDE;
            }
    memset(t->side, 0, sizeof t->side);
    tile_load_rows(g, t->first[0][0], edge, edge, edge, t->side[0]);
    tile_load_rows(g, t->first[0][1], edge, 2, edge, t->side[0] + edge);
    tile_load_rows(g, t->first[1][0], 2, edge, edge, t->side[edge]);
    tile_load_rows(g, t->first[1][1], 2, 2, edge, t->side[edge] + edge);
    if (g->bounded) tile_cut_rows(t, edge);
    for (int32_t z = 0; z < edge + 2; z++)
        for (int32_t y = 0; y < edge + 2; y++) {
            any |= t->side[z][y];
            all &= t->side[z][y];
        }
    if (!any || all == tsr_bits_low(edge + 2)) return 0;
    for (int32_t z = 0; z <= edge; z++)
        for (int32_t c = 0; c < 4; c++) t->plane[z].corner[c] = tile_corner(t->side[z] + (c >> 1), c & 1, edge);
    const int64_t *left = t->place.left, planes = tsr_maxl(left[2] - 1, 0);
    t->cut_x = every_row(tsr_minl(edge, left[0] - 1)) & first_rows(edge);
    t->cut_y = every_row(tsr_minl(edge, left[0])) & first_rows(tsr_minl(edge, left[1] - 1));
    t->cut_z = every_row(tsr_minl(edge, left[0])) & first_rows(edge);
    t->cells = t->cut_x & first_rows(tsr_minl(edge, left[1] - 1));
    t->cells_z = (int32_t)tsr_minl(edge, planes);
    return 1;
}

/* Cells of plane z whose corners are not all on one side. */
TSR_INLINE uint64_t tile_cells(const tile *t, int32_t z)
{
    const uint64_t *a = t->plane[z].corner, *b = t->plane[z + 1].corner;
    const uint64_t any = a[0] | a[1] | a[2] | a[3] | b[0] | b[1] | b[2] | b[3], all = a[0] & a[1] & a[2] & a[3] & b[0] & b[1] & b[2] & b[3];
    return z < t->cells_z ? any & ~all & t->cells : 0;
}

/* Edges of plane z that its samples own. */
TSR_INLINE tsr_edge_bits tile_edges(const tile *t, int32_t z)
{
    const uint64_t *a = t->plane[z].corner;
    return tsr_edges_between(a[0], a[1], a[2], t->plane[z + 1].corner[0], t->cut_x, t->cut_y, z < t->cells_z ? t->cut_z : 0);
}

/* Cut edges of row (y, z), also of the rows after the tile: edge + 1 bits. */
TSR_INLINE tsr_edge_bits tile_row_edges(const tile *t, int32_t y, int32_t z, const int32_t edge)
{
    const int64_t *left = t->place.left;
    const uint64_t reach = tsr_bits_low(edge + 1), reach_yz = reach & tsr_bits_low(left[0]);
    return tsr_edges_cut(t->side[z][y], t->side[z][y + 1], t->side[z + 1][y], reach & tsr_bits_low(left[0] - 1), left[1] - y > 1 ? reach_yz : 0,
                         left[2] - z > 1 ? reach_yz : 0);
}

/* Sides of the first samples after the tile in plane z, a bit per row. */
TSR_INLINE uint32_t tile_column(const tile *t, int32_t z, const int32_t edge)
{
    const uint64_t last = t->plane[z].corner[1] >> (edge - 1) & UINT64_C(0x0101010101010101);
    return (uint32_t)(last * UINT64_C(0x0102040810204080) >> 56) | (uint32_t)(t->side[z][edge] >> edge & 1) << edge;
}
/* Rows of plane z at whose first sample after the tile an edge along y or z may be cut that a cell of the tile has: a bit per row. */
TSR_INLINE uint32_t tile_column_cut(const tile *t, int32_t z, const int32_t edge)
{
    const uint32_t own = tile_column(t, z, edge);
    return ((own ^ own >> 1) & (uint32_t)tsr_bits_low(edge)) | (z < edge ? own ^ tile_column(t, z + 1, edge) : 0);
}

TSR_INLINE tsr_word_place tile_row_place(const tile *t, int32_t y, int32_t z, int32_t edge)
{
    tsr_word_place p = t->place;
    p.word += z * edge + y;
    p.row_y = y;
    p.row_z = z;
    p.y += y;
    p.z += z;
    p.left[1] -= y; /* of a list without a domain: as good as endless */
    p.left[2] -= z;
    return p;
}

/* Does a cell of the tile have a cut edge whose tile is not stored? */
TSR_INLINE int tile_torn(const tile *t, const int32_t edge)
{
    const int64_t *left = t->place.left;
    uint64_t torn = 0;
    if (t->whole || left[0] < 2 || left[1] < 2 || left[2] < 2) return 0;
    for (int32_t z = 0; z <= edge; z++)
        for (int32_t y = 0; y <= edge; y++) {
            const int32_t dy = y == edge, dz = z == edge, own = t->first[dz][dy][0] >= 0;
            if (own && t->first[dz][dy][1] >= 0) continue;
            const tsr_edge_bits e = tile_row_edges(t, y, z, edge);
            const uint64_t used = (e.x & tsr_bits_low(edge)) | (dy ? 0 : e.y) | (dz ? 0 : e.z);
            torn |= used & ((own ? 0 : tsr_bits_low(edge)) | (t->first[dz][dy][1] >= 0 ? 0 : (uint64_t)1 << edge));
        }
    return torn != 0;
}

#endif
