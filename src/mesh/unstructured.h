/* mesh/unstructured.h: the inside of an unstructured grid: tetrahedra and the edges they share. */
#ifndef TSR_MESH_UNSTRUCTURED_H
#define TSR_MESH_UNSTRUCTURED_H

#include "device/backend.h"
#include "tessera/unstructured.h"

/* Edges of a tetrahedron by its corners: 01 02 03 12 13 23. */
enum { TSR_TETRA_EDGES = 6 };

struct tsr_unstructured {
    tsr_context *context; /* NULL: host memory that belongs to no context */
    tsr_unstructured_info info;
    double *points, *values;
    uint32_t *corners;  /* [tetrahedra][4], positively oriented as far as their cell is */
    uint32_t *edges;    /* [edges][2] points, the smaller first, ascending */
    uint32_t *edges_of; /* [tetrahedra][6] */
};

#endif
