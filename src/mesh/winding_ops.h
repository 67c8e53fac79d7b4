/* mesh/winding_ops.h: what a backend provides for winding numbers. */
#ifndef TSR_MESH_WINDING_OPS_H
#define TSR_MESH_WINDING_OPS_H

#include "device/backend.h"
#include "mesh/winding.h"

typedef struct tsr_winding_ops {
    /* mesh.fixed of all vertices, then the crossings into w->number (0 before), then its rows summed up. The summary is 0 before. */
    tsr_status (*build)(tsr_queue *queue, const tsr_wind_grid *w, tsr_wind_summary *summary);
} tsr_winding_ops;

#endif
