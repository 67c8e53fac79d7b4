/* io/points.h: what the formats of point clouds share. */
#ifndef TSR_IO_POINTS_H
#define TSR_IO_POINTS_H

#include "grid/points.h"
#include "io/meshes.h"

/* Host points counted against the memory limit of the input; RETURNS NEW. */
tsr_status tsr_points_for_input(const tsr_input *input, int64_t count, int parts, tsr_points **points);

#endif
