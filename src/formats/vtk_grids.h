/* formats/vtk_grids.h: the reader of VTK's XML grids with cells (volumes/vtk_grids.c), for tsr_unstructured_read. */
#ifndef TSR_FORMATS_VTK_GRIDS_H
#define TSR_FORMATS_VTK_GRIDS_H

#include "formats/format.h"

tsr_status tsr_vtk_xml_read_grid(tsr_input *input, const tsr_read_options *options, const char *values, tsr_unstructured **grid);

#endif
