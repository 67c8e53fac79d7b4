/* surface/emit.h: one vertex, one triangle at a time. The device gives every thread one of them, so that warps stay full however unevenly
 * the surface lies in the words and neighbouring threads write neighbouring memory. Same numbers, same order as cells.h, word by word. */
#ifndef TSR_SURFACE_EMIT_H
#define TSR_SURFACE_EMIT_H

#include "surface/cells.h"

/* A row that owns edges: its cut edges by sample (bits below the width) and the number of its first vertex. */
typedef struct tsr_reach_row {
    uint32_t x, y, z, first;
} tsr_reach_row;

/* What the cells of a word reach: four rows (y, z) = 00 10 01 11, and of the words after them the edges of the first sample. */
typedef struct tsr_word_reach {
    tsr_reach_row row[4];
    uint64_t side[4];
    uint32_t next[4];
    uint32_t far; /* bit 3 row + axis */
    int64_t word;
    uint64_t apart; /* on other banks than the next */
} tsr_word_reach;

TSR_HD void tsr_reach_load(const tsr_surface_grid *g, const tsr_word_place *p, tsr_word_reach *reach)
{
    const int64_t *left = p->left;
    uint64_t side[8]; /* rows 00 10 01 11 20 02 21 12 */
    for (int32_t j = 0; j < 8; j++) side[j] = tsr_word_row(g, p, 0x12021010 >> (4 * j) & 15, 0x21201100 >> (4 * j) & 15);
    reach->word = p->word;
    reach->far = 0;
    for (int32_t j = 0; j < 4; j++) { /* rows at y + 1: 1 4 3 6, at z + 1: 2 3 5 7 */
        const tsr_edge_bits e =
            tsr_row_edges(g, side[j], side[0x6341 >> (4 * j) & 15], side[0x7532 >> (4 * j) & 15], left[0], left[1] - (j & 1), left[2] - (j >> 1));
        const uint32_t own = (uint32_t)tsr_bits_low(g->width);
        reach->row[j].x = (uint32_t)e.x & own;
        reach->row[j].y = (uint32_t)e.y & own;
        reach->row[j].z = (uint32_t)e.z & own;
        reach->far |= (uint32_t)((e.x >> g->width & 1u) << (3 * j) | (e.y >> g->width & 1u) << (3 * j + 1) | (e.z >> g->width & 1u) << (3 * j + 2));
        reach->row[j].first = tsr_word_first(g, tsr_word_beside(g, p, 0, j & 1, j >> 1));
        reach->next[j] = tsr_word_first(g, tsr_word_beside(g, p, 1, j & 1, j >> 1));
        reach->side[j] = side[j];
    }
}

/* The same for words of a dense volume, whose neighbours lie at fixed distances. */
typedef struct tsr_dense_bits {
    uint32_t own, next; /* the sides of a word, and the first two of the one after it */
} tsr_dense_bits;
TSR_HD tsr_dense_bits tsr_dense_bits_of(const tsr_surface_grid *g, const tsr_word_place *p, int32_t oy, int32_t oz)
{
    tsr_dense_bits row = { 0, 0 };
    if (oy < p->left[1] && oz < p->left[2]) {
        const uint32_t *bits = g->bits + p->word + (oy + oz * g->size[1]) * g->row_words;
        row.own = bits[0];
        row.next = p->left[0] > 32 ? bits[1] & 3u : 0;
    }
    return row;
}
TSR_HD uint32_t tsr_reach_first(const tsr_surface_grid *g, int64_t word)
{
    return g->base + g->block_vertex[word >> TSR_BLOCK_SHIFT] + g->prefix[word];
}
/* Row number j (y, z) = 00 10 01 11 with those beside it at y + 1 and z + 1. The number of its first vertex is looked up where it has any: words that lie apart
 * in memory are what the device waits for. */
TSR_HD void tsr_reach_row_dense(const tsr_surface_grid *g, const tsr_word_place *p, int32_t j, tsr_dense_bits row, tsr_dense_bits row_y,
                                tsr_dense_bits row_z, tsr_word_reach *reach)
{
    const int32_t oy = j & 1, oz = j >> 1;
    const uint32_t own = (uint32_t)tsr_bits_low(p->left[0]);
    tsr_reach_row *to = &reach->row[j];
    to->x = (row.own ^ (row.own >> 1 | row.next << 31)) & (uint32_t)tsr_bits_low(p->left[0] - 1);
    to->y = oy + 1 < p->left[1] ? (row.own ^ row_y.own) & own : 0;
    to->z = oz + 1 < p->left[2] ? (row.own ^ row_z.own) & own : 0;
    to->first = to->x | to->y | to->z ? tsr_reach_first(g, p->word + (oy + oz * g->size[1]) * g->row_words) : 0;
    reach->side[j] = row.own | (uint64_t)row.next << 32;
}
/* And of the word after it, which the last cell of a word reaches. */
TSR_HD void tsr_reach_next_dense(const tsr_surface_grid *g, const tsr_word_place *p, int32_t j, tsr_dense_bits row, tsr_dense_bits row_y,
                                 tsr_dense_bits row_z, tsr_word_reach *reach)
{
    const int32_t oy = j & 1, oz = j >> 1;
    const uint32_t x = p->left[0] > 33 ? row.next ^ row.next >> 1 : 0, y = oy + 1 < p->left[1] ? row.next ^ row_y.next : 0,
                   z = oz + 1 < p->left[2] ? row.next ^ row_z.next : 0;
    reach->next[j] = tsr_reach_first(g, p->word + (oy + oz * g->size[1]) * g->row_words + 1);
    reach->far |= ((x & 1u) | (y & 1u) << 1 | (z & 1u) << 2) << (3 * j);
}
TSR_HD void tsr_reach_load_dense(const tsr_surface_grid *g, const tsr_word_place *p, tsr_word_reach *reach)
{
    const tsr_dense_bits r00 = tsr_dense_bits_of(g, p, 0, 0), r10 = tsr_dense_bits_of(g, p, 1, 0), r01 = tsr_dense_bits_of(g, p, 0, 1),
                         r11 = tsr_dense_bits_of(g, p, 1, 1), r20 = tsr_dense_bits_of(g, p, 2, 0), r02 = tsr_dense_bits_of(g, p, 0, 2),
                         r21 = tsr_dense_bits_of(g, p, 2, 1), r12 = tsr_dense_bits_of(g, p, 1, 2);
    reach->word = p->word;
    reach->far = 0;
    tsr_reach_row_dense(g, p, 0, r00, r10, r01, reach);
    tsr_reach_row_dense(g, p, 1, r10, r20, r11, reach);
    tsr_reach_row_dense(g, p, 2, r01, r11, r02, reach);
    tsr_reach_row_dense(g, p, 3, r11, r21, r12, reach);
    if (!(tsr_cells_active(g, p, reach->side) >> 31)) return;
    tsr_reach_next_dense(g, p, 0, r00, r10, r01, reach);
    tsr_reach_next_dense(g, p, 1, r10, r20, r11, reach);
    tsr_reach_next_dense(g, p, 2, r01, r11, r02, reach);
    tsr_reach_next_dense(g, p, 3, r11, r21, r12, reach);
}
/* Of them the edges that the word owns: all that its vertices need. */
TSR_HD void tsr_reach_load_own(const tsr_surface_grid *g, const tsr_word_place *p, tsr_word_reach *reach)
{
    const tsr_dense_bits row = tsr_dense_bits_of(g, p, 0, 0), row_y = tsr_dense_bits_of(g, p, 1, 0), row_z = tsr_dense_bits_of(g, p, 0, 1);
    reach->word = p->word;
    reach->far = 0;
    tsr_reach_row_dense(g, p, 0, row, row_y, row_z, reach);
}

TSR_HD uint32_t tsr_bits_count32(uint32_t v)
{
#if defined(__CUDA_ARCH__)
    return (uint32_t)__popc(v);
#else
    return (uint32_t)__builtin_popcount(v);
#endif
}

/* Number of the vertex on an edge (case table) of the cell at `bit`. */
TSR_HD uint32_t tsr_reach_vertex(const tsr_word_reach *reach, int32_t width, int32_t bit, int32_t edge)
{
    const int32_t axis = edge >> 2, u = edge & 1, v = edge >> 1 & 1;
    const int32_t row = axis == 0 ? u + 2 * v : axis == 1 ? 2 * v : v, at = bit + (axis ? u : 0);
    if (at == width) {
        const uint32_t far = reach->far >> (3 * row);
        return reach->next[row] + (axis > 0 ? far & 1u : 0u) + (axis > 1 ? far >> 1 & 1u : 0u);
    }
    const tsr_reach_row r = reach->row[row];
    const uint32_t below = (1u << at) - 1u, with = below << 1 | 1u; /* at the sample itself, the axes before come first */
    return r.first + tsr_bits_count32(r.x & (axis > 0 ? with : below)) + tsr_bits_count32(r.y & (axis > 1 ? with : below)) +
           tsr_bits_count32(r.z & below);
}

/* The three numbers of a triangle, given its edges, of the cell at `bit`. */
TSR_HD void tsr_reach_triangle(const tsr_surface_grid *g, const tsr_word_reach *reach, int32_t bit, const uint8_t *edges, uint32_t out[3])
{
    for (int32_t n = 0; n < 3; n++) out[n && g->mirrored ? 3 - n : n] = tsr_reach_vertex(reach, g->width, bit, edges[n]);
}

#endif
