/* formats/point_files.h: what the formats of point clouds share. */
#ifndef TSR_FORMATS_POINT_FILES_H
#define TSR_FORMATS_POINT_FILES_H

#include "mesh/points.h"
#include "formats/mesh_files.h"

/* Host points counted against the memory limit of the input; RETURNS NEW. */
tsr_status tsr_points_for_input(const tsr_input *input, int64_t count, int parts, tsr_points **points);
/* A remark about what a file of this format leaves out of points: attributes but those in `kept` (NULL at the end), radii, normals unless they are kept. */
void tsr_points_say_left(const tsr_points *points, const char *path, const char *format, int normals, const char *const *kept);

#endif
