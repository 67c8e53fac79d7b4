/* surface/mesh_math.h: float64 vectors, and the checks every function on host meshes begins with. */
#ifndef TSR_SURFACE_MESH_MATH_H
#define TSR_SURFACE_MESH_MATH_H

#include "mesh/mesh.h"

static inline double tsr_dot(tsr_vec3 a, tsr_vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static inline tsr_vec3 tsr_minus(tsr_vec3 a, tsr_vec3 b) { return (tsr_vec3){ a.x - b.x, a.y - b.y, a.z - b.z }; }
static inline tsr_vec3 tsr_cross(tsr_vec3 a, tsr_vec3 b) { return (tsr_vec3){ a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x }; }
static inline tsr_vec3 tsr_mesh_position(const tsr_mesh *mesh, uint32_t vertex)
{
    const float *p = mesh->vertices + 3 * (int64_t)vertex;
    return (tsr_vec3){ (double)p[0], (double)p[1], (double)p[2] };
}

/* Without area: its corners are in one place or on a line, whatever their indices. */
static inline int tsr_mesh_flat(const tsr_mesh *mesh, const uint32_t *corner)
{
    const tsr_vec3 a = tsr_mesh_position(mesh, corner[0]);
    const tsr_vec3 n = tsr_cross(tsr_minus(tsr_mesh_position(mesh, corner[1]), a), tsr_minus(tsr_mesh_position(mesh, corner[2]), a));
    return n.x == 0 && n.y == 0 && n.z == 0;
}

/* TSR_ERROR_FORMAT, naming vertex or triangle, unless all positions are finite and all indices in range; and the bounding box
 * (zero without vertices). */
tsr_status tsr_mesh_check(const tsr_mesh *mesh, tsr_vec3 *lower, tsr_vec3 *upper);

#endif
