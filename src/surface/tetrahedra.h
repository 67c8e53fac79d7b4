/* surface/tetrahedra.h: marching tetrahedra: the sides of points, the triangles of a tetrahedron, vertices. The cell or edge of an output is found by the
 * descent of a HistoPyramid (GPU), or the cells and edges are walked over from the rank of the first (CPU). A vertex leaves its number at its edge, where up to
 * six triangles read it. docs/theory/surfaces.md 4; the pyramid: histopyramid/tree.h. */
#ifndef TSR_SURFACE_TETRAHEDRA_H
#define TSR_SURFACE_TETRAHEDRA_H

#include "mesh/unstructured.h"
#include "histopyramid/tree.h"
#include "surface/cells.h"

typedef struct tsr_tetra_job {
    double isovalue, cut; /* where edges are cut: the isovalue, or NaN for their middle */
    int32_t below;
    int64_t points, tetrahedra, edges;
    const double *point, *value;
    const uint32_t *corner, *edge, *edge_of;
    uint8_t *sides;              /* [points] 1 inside */
    uint8_t *cut_edges, *counts; /* [edges] 0 or 1; [tetrahedra] triangles */
    uint64_t *not_a_number;
    uint32_t *numbers; /* [edges] the vertex of an edge that is cut; of others not written */
    const tsr_tree *edge_tree, *tree;
    const tsr_class_set *edge_classes, *classes;
    int64_t vertices, triangles;
    float *vertex_out;
    uint32_t *triangle_out;
} tsr_tetra_job;

/* Triangles of a tetrahedron by the mask of its inside corners: their number << 24 | its edges (01 02 03 12 13 23), four bits each, the first lowest;
 * counter-clockwise seen from outside where corners 1 2 3 are so seen from 0's far side. */
TSR_HD uint32_t tsr_tetra_case(uint32_t mask)
{
    switch (mask) {
    case 1: return 0x01000210u;
    case 2: return 0x01000340u;
    case 3: return 0x02341421u;
    case 4: return 0x01000531u;
    case 5: return 0x02532302u;
    case 6: return 0x02150540u;
    case 7: return 0x01000542u;
    case 8: return 0x01000452u;
    case 9: return 0x02450510u;
    case 10: return 0x02523203u;
    case 11: return 0x01000351u;
    case 12: return 0x02241431u;
    case 13: return 0x01000430u;
    case 14: return 0x01000120u;
    default: return 0;
    }
}

/* The side of a point, which all that follows reads; returns whether its value is NaN. */
TSR_HD int tsr_tetra_side(const tsr_tetra_job *j, int64_t p)
{
    j->sides[p] = (uint8_t)TSR_SIDE_REAL(j->value[p], j->isovalue, j->below);
    return !(j->value[p] == j->value[p]);
}
TSR_HD uint32_t tsr_tetra_mask(const tsr_tetra_job *j, int64_t t)
{
    uint32_t mask = 0;
    for (int32_t k = 0; k < 4; k++) mask |= (uint32_t)j->sides[j->corner[4 * t + k]] << k;
    return mask;
}
TSR_HD void tsr_tetra_count_edge(const tsr_tetra_job *j, int64_t e)
{
    j->cut_edges[e] = (uint8_t)(j->sides[j->edge[2 * e]] != j->sides[j->edge[2 * e + 1]]);
}
TSR_HD void tsr_tetra_count(const tsr_tetra_job *j, int64_t t) { j->counts[t] = (uint8_t)(tsr_tetra_case(tsr_tetra_mask(j, t)) >> 24); }

/* Output vertex k, which lies on edge e. */
TSR_HD void tsr_tetra_vertex(const tsr_tetra_job *j, int64_t k, int64_t e)
{
    const int64_t a = j->edge[2 * e], b = j->edge[2 * e + 1];
    const double t = tsr_vertex_share(j->cut, j->value[a], j->value[b]);
    for (int32_t r = 0; r < 3; r++) j->vertex_out[3 * k + r] = (float)(j->point[3 * a + r] + t * (j->point[3 * b + r] - j->point[3 * a + r]));
    j->numbers[e] = (uint32_t)k;
}
/* Output triangle k, triangle number `copy` of tetrahedron t: after all vertices. */
TSR_HD void tsr_tetra_triangle(const tsr_tetra_job *j, int64_t k, int64_t t, uint32_t copy)
{
    const uint32_t edges = tsr_tetra_case(tsr_tetra_mask(j, t)) >> (12 * copy);
    for (int32_t n = 0; n < 3; n++) j->triangle_out[3 * k + n] = j->numbers[j->edge_of[TSR_TETRA_EDGES * t + (edges >> (4 * n) & 15u)]];
}

#endif
