/* volume/surface_distances.h: summary of the distances between two surfaces, for masks and meshes. */
#ifndef TSR_VOLUME_SURFACE_DISTANCES_H
#define TSR_VOLUME_SURFACE_DISTANCES_H

#include "core/core.h"
#include "tessera/compare.h"

/* Distances >= 0 from the points of one surface (`forward`) and of the other (`backward`), neither empty. Linear time. */
void tsr_surface_distances_summarise(const float *forward, int64_t forward_count, const float *backward, int64_t backward_count,
                                     tsr_surface_distances *summary);

#endif
