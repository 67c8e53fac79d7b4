/* vision/textures/unwrap.h: an atlas for meshes that have none, or one whose charts lie over one another. */
#ifndef TSR_VISION_TEXTURES_UNWRAP_H
#define TSR_VISION_TEXTURES_UNWRAP_H

#include "core/status.h"

typedef struct tsr_unwrap_mesh {
    int64_t vertices, triangles;
    const float *position;    /* [vertices][3], finite */
    const uint32_t *triangle; /* [triangles][3] */
    int32_t width, height;    /* of the atlas, texels */
} tsr_unwrap_mesh;

/* Charts of triangles that look about the same way, laid flat and side by side at one scale (docs/theory/multiview-textures.md 1). place [*places][2] within 0 to 1,
 * corner [triangles][3]: RETURNS NEW both, freed by free(). Triangles without area get a place without area. The same on every machine. `what` names the mesh;
 * `progress` may be NULL. TSR_ERROR_FORMAT: no triangle has an area, or the atlas is too small for the charts; _CANCELLED; _MEMORY. */
tsr_status tsr_unwrap(const char *what, const tsr_unwrap_mesh *mesh, const tsr_progress *progress, float **place, int64_t *places,
                      uint32_t **corner) TSR_CHECKED;

/* ---- its parts -------------------------------------------------------------------------------------------------------------------- */

typedef struct tsr_unwrap_chart {
    int64_t first, count; /* triangles: of `order` */
    double axis[3];
    double size[2]; /* of the chart laid flat, world units */
    int64_t place;  /* its first */
    int64_t places;
    int32_t at[2]; /* its corner in the atlas, texels */
    int turned;    /* half a turn */
} tsr_unwrap_chart;

typedef struct tsr_unwrapping {
    const char *what;
    const tsr_unwrap_mesh *mesh;
    tsr_progress_part progress;
    int64_t work;        /* since the last report */
    double (*normal)[3]; /* unit length; 0 without area */
    double *area;
    uint32_t *welded;   /* vertices: the first of those at the same point */
    int64_t *neighbour; /* [triangles][3]: the triangle across each edge, -1: none */
    int64_t *order;     /* triangles, chart by chart */
    int32_t *chart_of;  /* -1: none yet */
    tsr_unwrap_chart *chart;
    int32_t charts, room;
    double (*flat)[2]; /* places, world units from the corner of their chart */
    uint32_t *corner;
    int64_t places;
    double scale; /* texels a world unit */
} tsr_unwrapping;

tsr_status tsr_unwrap_grow(tsr_unwrapping *u) TSR_CHECKED; /* charts */
tsr_status tsr_unwrap_pack(tsr_unwrapping *u) TSR_CHECKED; /* where each lies, and the scale */
/* So much work more is done, a triangle or a place asked each, now at a fraction of this part: reported from time to time. */
tsr_status tsr_unwrap_report(tsr_unwrapping *u, int64_t work, double fraction) TSR_CHECKED;

#endif
