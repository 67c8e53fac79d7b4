/* tessera/band.h: the half width that a narrow band takes when nobody names one. */
#ifndef TESSERA_BAND_H
#define TESSERA_BAND_H

#include "tessera/volume.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Half width in world units: `voxels` of the smallest spacing, but at least two of the largest, so that a difference across the surface meets true
 * distances along every axis (a band below that clamps the neighbours along the coarse axis, and the surface moves), and at most 1000 of the
 * smallest, the limit of tile lists. Callable from any thread. Source: docs/theory/tiles.md 1 (band >= 1 voxel, 3 with wide schemes). */
TSR_API double tsr_band_default(tsr_vec3 spacing, double voxels);

/* The spacing that counts for a band over this domain (zero = unbounded): nothing varies along an axis of one voxel, so that it takes the smallest of the
 * others. Callable from any thread. */
TSR_API tsr_vec3 tsr_band_spacing(tsr_vec3 spacing, tsr_size3 domain);

#ifdef __cplusplus
}
#endif

#endif
