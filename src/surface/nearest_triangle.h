/* surface/nearest_triangle.h: nearest point of a triangle mesh, by a tree of boxes over the triangles in Morton order. */
#ifndef TSR_SURFACE_NEAREST_TRIANGLE_H
#define TSR_SURFACE_NEAREST_TRIANGLE_H

#include "mesh/mesh.h"

typedef struct tsr_triangle_tree tsr_triangle_tree;

/* KEEPS the mesh (host, indices in range, finite, at least one triangle). Linear time; 16 to 28 bytes per triangle, 32 more while it is
 * built. RETURNS NEW. */
tsr_status tsr_triangle_tree_create(const tsr_mesh *mesh, tsr_triangle_tree **tree);
void tsr_triangle_tree_destroy(tsr_triangle_tree **tree);

/* Squared distance from a point to the mesh, exact up to rounding in float64. *hint: any triangle on entry (the result of a point nearby
 * makes the search short), the nearest one on return. Thread-safe. */
double tsr_triangle_tree_nearest(const tsr_triangle_tree *tree, tsr_vec3 point, uint32_t *hint);

#endif
