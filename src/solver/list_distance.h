/* solver/list_distance.h: the values of a tile list become distances again. */
#ifndef TSR_SOLVER_LIST_DISTANCE_H
#define TSR_SOLVER_LIST_DISTANCE_H

#include "tiles/tiles.h"
#include "tessera/levelset.h"

/* The smallest spacing of a voxel, world units. */
double tsr_list_smallest_spacing(const tsr_tiles *tiles);
/* Sweeps of reinitialisation that reach the end of the band. */
tsr_status tsr_list_make_distance(tsr_tiles *tiles, const tsr_progress *progress);
/* The same from nothing: for values that are far from distances, or just above 0 where something was taken away, which sweeps take too long to lift. */
tsr_status tsr_list_make_distance_anew(tsr_tiles *tiles, const tsr_progress *progress);

#endif
