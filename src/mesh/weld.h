/* mesh/weld.h: points at the same place become one, in the order of first appearance. */
#ifndef TSR_MESH_WELD_H
#define TSR_MESH_WELD_H

#include "core/core.h"
#include "mesh/mesh.h"

typedef struct tsr_weld {
    const float *points;    /* [count][3]; -0 counts as another place than 0 unless the caller made it 0 */
    uint32_t *first;        /* vertex -> the point that brought it */
    uint32_t *table;        /* hash -> vertex + 1, 0 = empty */
    int64_t vertices, room; /* of `first`; the table has 2 * room entries, a power of two */
    /* Where memory comes from (NULL: the host's), so that readers count it against their limit. */
    tsr_status (*allocate)(void *user, int64_t count, size_t element, void **memory);
    void *user;
} tsr_weld;

/* indices[i] = the vertex at the place of point i. `progress` may be NULL; its fraction is that of the points. */
tsr_status tsr_weld_points(tsr_weld *weld, int64_t count, const tsr_progress *progress, uint32_t *indices);
void tsr_weld_free(tsr_weld *weld);

/* TSR_ERROR_FORMAT if an index is out of range. */
tsr_status tsr_weld_check(const tsr_mesh *mesh);
/* The host mesh with vertex v as number indices[v], which takes its place, normal and colour from vertex first[indices[v]]; without the triangles that have a corner
 * twice then. RETURNS NEW. */
tsr_status tsr_weld_mesh(const tsr_mesh *mesh, const uint32_t *indices, const uint32_t *first, int64_t vertices, tsr_mesh **welded);

#endif
