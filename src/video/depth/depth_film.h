/* video/depth/depth_film.h: what tests and fuzz targets open without a file. */
#ifndef TSR_VIDEO_DEPTH_DEPTH_FILM_H
#define TSR_VIDEO_DEPTH_DEPTH_FILM_H

#include "io/stream.h"
#include "tessera/depth_film.h"

/* As tsr_depth_film_reader_create. ADOPTS the input, also where this fails. */
tsr_status tsr_depth_film_reader_of(tsr_input *input, int partial, tsr_depth_film_reader **reader);

#endif
