/* formats/images/jpeg.h: what a JPEG file shows. */
#ifndef TSR_FORMATS_JPEG_H
#define TSR_FORMATS_JPEG_H

#include "formats/images/rasters.h"

/* Grey or RGB (CMYK is converted), turned as the file's EXIF orientation asks unless options->camera_size is its size as stored; with a remark. TSR_ERROR_FORMAT:
 * truncated, damaged. */
tsr_status tsr_jpeg_read(tsr_input *input, const tsr_read_options *options, tsr_samples *samples);

#endif
