/* formats/meshes/polygons.h: faces of more than three corners, as the mesh formats give them, become triangles. */
#ifndef TSR_FORMATS_POLYGONS_H
#define TSR_FORMATS_POLYGONS_H

#include "mesh/mesh.h"
#include "formats/format.h"

/* Feed the corners of polygon after polygon. A polygon of fewer than 3 corners gives no triangle, others of n corners n - 2. */
typedef struct tsr_fan {
    uint32_t *next; /* where the next triangle goes */
    int64_t corners;
    uint32_t first, last;
    uint8_t *joined;     /* bit t: triangle t belongs to the polygon of the one before */
    uint32_t *triangles; /* the first of them */
} tsr_fan;

/* Room for the polygons of a mesh, counted against the memory limit of the input. */
tsr_status tsr_fan_open(const tsr_input *input, tsr_mesh *mesh, tsr_fan *fan);
/* When all corners and all positions are there: cuts the polygons anew where fans would not cover them (unless the input's settings keep them), counts those that are none. Frees the room, whatever
 * `status` was; returns it or its own. */
tsr_status tsr_fan_close(const tsr_input *input, tsr_mesh *mesh, tsr_fan *fan, const tsr_progress *progress, tsr_status status);

static inline void tsr_fan_begin(tsr_fan *fan) { fan->corners = 0; }
static inline void tsr_fan_corner(tsr_fan *fan, uint32_t vertex)
{
    if (fan->corners == 0) fan->first = vertex;
    if (fan->corners >= 2) {
        const int64_t t = (fan->next - fan->triangles) / 3;
        if (fan->corners > 2) fan->joined[t >> 3] |= (uint8_t)(1u << (t & 7));
        fan->next[0] = fan->first;
        fan->next[1] = fan->last;
        fan->next[2] = vertex;
        fan->next += 3;
    }
    fan->last = vertex;
    fan->corners++;
}
static inline int64_t tsr_fan_triangles(int64_t corners) { return corners > 2 ? corners - 2 : 0; }

/* Cells of VTK: polygons, or strips of triangles; cell k has the corners from offset[k - 1] (0) to before offset[k]. */
typedef struct tsr_fan_cells {
    int64_t count, corners;
    int64_t *offset, *corner;
} tsr_fan_cells;
int64_t tsr_fan_cells_triangles(const tsr_fan_cells *cells); /* a strip has as many as a polygon */
/* Their corners count from vertex `first`. */
void tsr_fan_put_cells(tsr_fan *fan, const tsr_fan_cells *cells, int strips, int64_t first);

#endif
