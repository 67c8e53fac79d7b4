/* surface/emit.h: one vertex, one triangle at a time. The device gives every thread one of them, so that warps stay full however unevenly
 * the surface lies in the words and neighbouring threads write neighbouring memory. Same numbers, same order as cells.h, word by word. */
#ifndef TSR_SURFACE_EMIT_H
#define TSR_SURFACE_EMIT_H

#include "surface/cells.h"

/* What the cells of a word reach: the sides of eight rows (y, z) = 00 10 01 11 20 02 21 12, the number of the first vertex of the four rows
 * that own their edges and of the words after these, and the samples left to the end of the domain (at most 255). */
typedef struct tsr_word_reach {
    uint64_t row[8];
    uint32_t first[8]; /* [row][next] */
    int32_t left[3];
    uint32_t word; /* in the block */
} tsr_word_reach;

/* Row at y + 1 and z + 1 of rows 0 .. 3. */
TSR_HD int32_t tsr_reach_above_y(int32_t j) { return 0x6341 >> (4 * j) & 15; }
TSR_HD int32_t tsr_reach_above_z(int32_t j) { return 0x7532 >> (4 * j) & 15; }

TSR_HD void tsr_reach_load(const tsr_surface_grid *g, const tsr_word_place *p, tsr_word_reach *reach)
{
    reach->row[0] = tsr_word_row(g, p, 0, 0);
    reach->row[1] = tsr_word_row(g, p, 1, 0);
    reach->row[2] = tsr_word_row(g, p, 0, 1);
    reach->row[3] = tsr_word_row(g, p, 1, 1);
    reach->row[4] = tsr_word_row(g, p, 2, 0);
    reach->row[5] = tsr_word_row(g, p, 0, 2);
    reach->row[6] = tsr_word_row(g, p, 2, 1);
    reach->row[7] = tsr_word_row(g, p, 1, 2);
    for (int32_t j = 0; j < 4; j++)
        for (int32_t next = 0; next < 2; next++) reach->first[2 * j + next] = tsr_word_first(g, tsr_word_beside(g, p, next, j & 1, j >> 1));
    for (int32_t k = 0; k < 3; k++) reach->left[k] = (int32_t)tsr_minl(p->left[k], 255);
}

TSR_HD tsr_edge_bits tsr_reach_edges(const tsr_surface_grid *g, const tsr_word_reach *reach, int32_t j)
{
    return tsr_row_edges(g, reach->row[j], reach->row[tsr_reach_above_y(j)], reach->row[tsr_reach_above_z(j)], reach->left[0],
                         reach->left[1] - (j & 1), reach->left[2] - (j >> 1));
}

/* Number of the vertex on an edge (case table) of the cell at `bit`. */
TSR_HD uint32_t tsr_reach_vertex(const tsr_surface_grid *g, const tsr_word_reach *reach, int32_t bit, int32_t edge)
{
    int32_t axis = edge >> 2, u = edge & 1, v = edge >> 1 & 1;
    int32_t row = axis == 0 ? u + 2 * v : axis == 1 ? 2 * v : v, at = bit + (axis ? u : 0), next = at == g->width;
    tsr_edge_bits e = tsr_reach_edges(g, reach, row);
    uint32_t number = reach->first[2 * row + next] + (next ? 0 : (uint32_t)tsr_edges_count(e, tsr_bits_low(at)));
    return number + (axis > 0 ? (uint32_t)(e.x >> at & 1) : 0) + (axis > 1 ? (uint32_t)(e.y >> at & 1) : 0);
}

/* The three numbers of triangle k of the cell at `bit`, whose word begins at p. */
TSR_HD void tsr_reach_triangle(const tsr_surface_grid *g, const tsr_word_reach *reach, const tsr_word_place *p, int32_t bit, int32_t k,
                               const tsr_case_tables *tables, uint32_t out[3])
{
    const uint8_t *edges = tsr_cell_filled(g, p, bit, tsr_cell_case(g, reach->row, bit), tables).edges + 3 * k;
    for (int32_t n = 0; n < 3; n++) out[n && g->mirrored ? 3 - n : n] = tsr_reach_vertex(g, reach, bit, edges[n]);
}

#endif
