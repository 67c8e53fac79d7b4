/* volume/image.h: what the picture formats share: rows of samples, the channels of a pixel side by side, out of volumes and into them. */
#ifndef TSR_VOLUME_IMAGE_H
#define TSR_VOLUME_IMAGE_H

#include "tessera/io.h"
#include "volume/volume.h"

typedef struct tsr_samples {
    int32_t width, height, channels; /* 1 to 4 */
    int32_t bits;                    /* 8 or 16 (native byte order) */
    uint8_t *at;                     /* free() */
} tsr_samples;

/* Zero-filled. */
tsr_status tsr_samples_create(int32_t width, int32_t height, int32_t channels, int32_t bits, const char *name, tsr_samples *samples);
static inline size_t tsr_samples_row(const tsr_samples *s) { return (size_t)s->width * (size_t)s->channels * (size_t)(s->bits / 8); }
/* u8 or u16, with channels. RETURNS NEW. */
tsr_status tsr_samples_volume(const tsr_samples *samples, tsr_volume **volume);
/* One slice or the channels of an image, whose real values are whole numbers that `most_bits` hold: u8 as 8 bits, all else as 16. Errors name `path` and
 * say what `format` holds. */
tsr_status tsr_samples_of_volume(const tsr_volume *volume, int32_t most_bits, const char *path, const char *format, tsr_samples *samples);

#endif
