/* formats/points/vtk_points.h: points of VTK's XML files, for the formats that hold them. */
#ifndef TSR_FORMATS_VTK_POINTS_H
#define TSR_FORMATS_VTK_POINTS_H

#include "formats/format.h"

tsr_status tsr_vtk_xml_read_points(tsr_input *input, const tsr_read_options *options, tsr_points **points);

/* Points of legacy files, with their data (volumes/vtk.c). Whether one of PolyData holds a surface (meshes/vtk_mesh.c). */
tsr_status tsr_vtk_read_points(tsr_input *input, const tsr_read_options *options, tsr_points **points);
int tsr_vtk_has_polygons(tsr_input *input);
/* Legacy files of points (vtk_points_write.c). */
tsr_status tsr_vtk_write_points(const tsr_points *points, const char *path, const tsr_write_options *options);

#endif
