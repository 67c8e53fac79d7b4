/* surface/gather.h: triangles without an index, straight from the sides of the samples: the cell of an output is found by the descent of a HistoPyramid, in
 * a list, or it writes its outputs itself. docs/theory/surfaces.md 1, 4; the descent: histopyramid/tree.h. */
#ifndef TSR_SURFACE_GATHER_H
#define TSR_SURFACE_GATHER_H

#include "histopyramid/tree.h"
#include "surface/cells.h"

typedef struct tsr_gather_job {
    const tsr_surface_grid *grid; /* its sides are there */
    tsr_surface_gather gather;
    int64_t cells;                    /* (size[0] - 1)(size[1] - 1)(size[2] - 1), numbered in memory order, x fastest */
    uint8_t *counts;                  /* [cells] outputs of each: vertices (TSR_SURFACE_GATHER_VERTEX), else triangles */
    const tsr_tree *tree;             /* GATHER_VERTEX and _TRIANGLE: of the counts */
    const tsr_class_set *classes;     /* of its base */
    const tsr_pyramid_entry *entries; /* GATHER_TILE: [triangles] */
    const uint64_t *list;             /* GATHER_CELL: [listed] the cells that have triangles */
    uint8_t *listed_counts;           /* [listed] theirs */
    const uint64_t *starts;           /* GATHER_CELL: [listed], SCATTER: [cells] triangles before */
    int64_t listed, triangles;
    int64_t first; /* VERTEX, TRIANGLE and TILE: the triangles from this one on; entries begin with it */
    tsr_surface_output output;
} tsr_gather_job;

/* Cell number n: the word and bit of its lowest corner. */
TSR_HD void tsr_gather_place(const tsr_surface_grid *g, int64_t n, tsr_word_place *p, int32_t *bit)
{
    const int64_t along_x = g->size[0] - 1, along_y = g->size[1] - 1, row = n / along_x, x = n - row * along_x, z = row / along_y,
                  y = row - z * along_y;
    *bit = (int32_t)(x & 31);
    p->word = (z * g->size[1] + y) * g->row_words + (x >> 5);
    p->x = x - *bit;
    p->y = y;
    p->z = z;
    p->left[0] = g->size[0] - p->x;
    p->left[1] = g->size[1] - y;
    p->left[2] = g->size[2] - z;
    p->row_y = p->row_z = 0;
    p->id = 0;
}
TSR_HD tsr_cell_fill tsr_gather_fill(const tsr_surface_grid *g, const tsr_word_place *p, int32_t bit, const tsr_case_tables *tables)
{
    const uint64_t row[4] = { tsr_word_row(g, p, 0, 0), tsr_word_row(g, p, 1, 0), tsr_word_row(g, p, 0, 1), tsr_word_row(g, p, 1, 1) };
    return tsr_cell_filled(g, p, bit, tsr_cell_case(g, row, bit), tables);
}
/* Triangles of cell number n. */
TSR_HD int32_t tsr_gather_triangles(const tsr_surface_grid *g, int64_t n, const tsr_case_tables *tables)
{
    tsr_word_place p;
    int32_t bit;
    tsr_gather_place(g, n, &p, &bit);
    return tsr_gather_fill(g, &p, bit, tables).triangles;
}
TSR_HD void tsr_gather_count(const tsr_gather_job *job, int64_t n, const tsr_case_tables *tables)
{
    const int32_t triangles = tsr_gather_triangles(job->grid, n, tables);
    job->counts[n] = (uint8_t)(job->gather == TSR_SURFACE_GATHER_VERTEX ? 3 * triangles : triangles);
}

/* Corner `corner` of triangle number `triangle` of a cell becomes output vertex `to`: the vertex of the edge that the case table names, computed from
 * the edge's own samples, so that all triangles that share it have the same bits. */
TSR_HD void tsr_gather_corner(const tsr_gather_job *job, const tsr_word_place *p, int32_t bit, const tsr_cell_fill *fill, int32_t triangle,
                              int32_t corner, int64_t to)
{
    const tsr_surface_grid *g = job->grid;
    const int32_t edge = fill->edges[3 * triangle + (corner && g->mirrored ? 3 - corner : corner)], axis = edge >> 2, u = edge & 1, v = edge >> 1 & 1;
    tsr_word_place owner = *p;
    owner.y += axis == 0 ? u : axis == 2 ? v : 0;
    owner.z += axis == 2 ? 0 : v;
    tsr_vertex(g, &owner, bit + (axis ? u : 0), axis, job->output.vertices + 3 * to, g->normals ? job->output.normals + 3 * to : 0);
    job->output.triangles[to] = (uint32_t)to;
}
/* Triangle number `triangle` of cell n as output triangle `to`. */
TSR_HD void tsr_gather_triangle(const tsr_gather_job *job, int64_t n, int32_t triangle, int64_t to, const tsr_case_tables *tables)
{
    tsr_word_place p;
    int32_t bit;
    tsr_gather_place(job->grid, n, &p, &bit);
    const tsr_cell_fill fill = tsr_gather_fill(job->grid, &p, bit, tables);
    for (int32_t corner = 0; corner < 3; corner++) tsr_gather_corner(job, &p, bit, &fill, triangle, corner, 3 * to + corner);
}
/* Output vertex k, by its own descent. */
TSR_HD void tsr_gather_vertex(const tsr_gather_job *job, int64_t k, const tsr_case_tables *tables)
{
    const tsr_pyramid_entry entry = tsr_tree_select(job->tree, job->classes, (uint64_t)(3 * job->first + k));
    tsr_word_place p;
    int32_t bit;
    tsr_gather_place(job->grid, entry.voxel, &p, &bit);
    const tsr_cell_fill fill = tsr_gather_fill(job->grid, &p, bit, tables);
    tsr_gather_corner(job, &p, bit, &fill, (int32_t)entry.copy / 3, (int32_t)entry.copy % 3, k);
}
/* Output triangle k, by descent or from the list. */
TSR_HD void tsr_gather_one(const tsr_gather_job *job, int64_t k, const tsr_case_tables *tables)
{
    const tsr_pyramid_entry entry = job->entries ? job->entries[k] : tsr_tree_select(job->tree, job->classes, (uint64_t)(job->first + k));
    tsr_gather_triangle(job, entry.voxel, (int32_t)entry.copy, k, tables);
}
/* All triangles of cell n, from output triangle `to` on. */
TSR_HD void tsr_gather_cell(const tsr_gather_job *job, int64_t n, int32_t triangles, int64_t to, const tsr_case_tables *tables)
{
    for (int32_t k = 0; k < triangles; k++) tsr_gather_triangle(job, n, k, to + k, tables);
}

#endif
