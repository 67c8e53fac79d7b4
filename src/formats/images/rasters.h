/* formats/images/rasters.h: what the readers of pictures share. */
#ifndef TSR_FORMATS_RASTERS_H
#define TSR_FORMATS_RASTERS_H

#include "formats/format.h"
#include "volume/image.h"

/* Room for the pixels that a header asks for, within the memory limit; zero-filled. */
tsr_status tsr_raster_room(const tsr_input *input, int64_t width, int64_t height, int32_t channels, int32_t bits, tsr_samples *samples);
/* As 8 bits, of which 16 are rounded, `most` being white; grey with alpha becomes RGBA. ADOPTS the samples. `file_bits` for options->image_bits. */
tsr_status tsr_raster_image(tsr_samples *samples, int most, int32_t file_bits, const tsr_read_options *options, tsr_image *image);

/* The same as a volume of u8 or u16 with channels. ADOPTS the samples. */
tsr_status tsr_raster_samples_volume(tsr_samples *samples, tsr_volume **volume);
/* For writers of 8 bits without grey with alpha, which is refused with the name of the format. To be freed by tsr_image_destroy. */
tsr_status tsr_raster_of_volume(const tsr_volume *volume, const char *path, const char *format, tsr_image *image);

/* Pictures of float32, row 0 on top, channel by channel: a volume of width x height x channels, which says so where there are 4 channels at most. */
tsr_status tsr_raster_volume(tsr_input *input, int64_t width, int64_t height, int64_t channels, tsr_volume **volume);

#endif
