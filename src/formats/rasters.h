/* formats/rasters.h: what the readers of pictures share. */
#ifndef TSR_FORMATS_RASTERS_H
#define TSR_FORMATS_RASTERS_H

#include "formats/format.h"
#include "volume/image.h"

/* Room for the pixels that a header asks for, within the memory limit; zero-filled. */
tsr_status tsr_raster_room(const tsr_input *input, int64_t width, int64_t height, int32_t channels, int32_t bits, tsr_samples *samples);
/* As 8 bits, of which 16 are rounded, `most` being white; grey with alpha becomes RGBA. ADOPTS the samples. `file_bits` for options->image_bits. */
tsr_status tsr_raster_image(tsr_samples *samples, int most, int32_t file_bits, const tsr_read_options *options, tsr_image *image);

/* Pictures of float32, row 0 on top, channel by channel: a volume of width x height x channels, which says so where there are 4 channels at most. */
tsr_status tsr_raster_volume(tsr_input *input, int64_t width, int64_t height, int64_t channels, tsr_volume **volume);

#endif
