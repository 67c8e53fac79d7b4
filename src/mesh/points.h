/* mesh/points.h: the inside of a point cloud. */
#ifndef TSR_MESH_POINTS_H
#define TSR_MESH_POINTS_H

#include "device/backend.h"
#include "tessera/array.h"

enum { TSR_POINTS_ATTRIBUTES = 16, TSR_POINTS_COMPONENTS = 16 };
typedef struct tsr_points_column {
    char name[64];
    int32_t components;
    float *data;
} tsr_points_column;

struct tsr_points {
    tsr_context *context; /* NULL: host memory that belongs to no context */
    int64_t count, capacity;
    float *positions, *normals, *radii; /* the last two may be NULL */
    tsr_points_column attribute[TSR_POINTS_ATTRIBUTES];
    int32_t attributes;
    tsr_space space;
    double origin[3]; /* world = origin + position, in float64 */
    tsr_array lent[3]; /* by tsr_points_array_part: memory of a caller's; data NULL: ours */
};

void tsr_points_shrink(tsr_points *points, int64_t count);
void tsr_points_drop_normals(tsr_points *points);
/* Room for normals or radii, if there is none yet; content undefined. */
tsr_status tsr_points_add_part(tsr_points *points, tsr_points_parts part);
tsr_status tsr_points_require_host(const tsr_points *points, const char *what);

#endif
