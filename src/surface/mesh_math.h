/* surface/mesh_math.h: the checks every function on host meshes begins with. */
#ifndef TSR_SURFACE_MESH_MATH_H
#define TSR_SURFACE_MESH_MATH_H

#include "core/vec3.h"
#include "mesh/mesh.h"

static inline tsr_vec3 tsr_mesh_position(const tsr_mesh *mesh, uint32_t vertex)
{
    const float *p = mesh->vertices + 3 * (int64_t)vertex;
    return (tsr_vec3){ (double)p[0], (double)p[1], (double)p[2] };
}

/* Without area: its corners are in one place or on a line, whatever their indices. */
static inline int tsr_mesh_flat(const tsr_mesh *mesh, const uint32_t *corner)
{
    const tsr_vec3 a = tsr_mesh_position(mesh, corner[0]);
    const tsr_vec3 n = tsr_vec3_cross(tsr_vec3_sub(tsr_mesh_position(mesh, corner[1]), a), tsr_vec3_sub(tsr_mesh_position(mesh, corner[2]), a));
    return n.x == 0 && n.y == 0 && n.z == 0;
}

/* TSR_ERROR_FORMAT, naming vertex or triangle, unless all positions are finite and all indices in range; and the bounding box
 * (zero without vertices). */
tsr_status tsr_mesh_check(const tsr_mesh *mesh, tsr_vec3 *lower, tsr_vec3 *upper);

#endif
