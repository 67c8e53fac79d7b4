/* flow/vtk_image.h: vectors of VTK's legacy image data. */
#ifndef TSR_FLOW_VTK_IMAGE_H
#define TSR_FLOW_VTK_IMAGE_H

#include "volume/volume.h"
#include "io/stream.h"

/* Is it a legacy VTK file? */
int tsr_vtk_image_is(tsr_input *input);
/* DATASET STRUCTURED_POINTS, ASCII or BINARY (big-endian): the first VECTORS, array of three SCALARS, or array of a FIELD with three components, of the point
 * data. Every count is checked against the bytes that are left. RETURNS NEW components[3]. */
tsr_status tsr_vtk_image_read(tsr_input *input, const tsr_progress *progress, tsr_volume *components[3]);

#endif
