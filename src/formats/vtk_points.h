/* formats/vtk_points.h: points of VTK's XML files, for the formats that hold them. */
#ifndef TSR_FORMATS_VTK_POINTS_H
#define TSR_FORMATS_VTK_POINTS_H

#include "formats/format.h"

tsr_status tsr_vtk_xml_read_points(tsr_input *input, const tsr_read_options *options, tsr_points **points);

#endif
