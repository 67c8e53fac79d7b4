/* formats/images/png_notes.h: what a PNG file says beside its pixels, as metadata "png.NAME" of a volume. Both functions may leave by libpng's error handler. */
#ifndef TSR_FORMATS_PNG_NOTES_H
#define TSR_FORMATS_PNG_NOTES_H

#include "volume/volume.h"

#include <png.h>

/* Gamma, sRGB intent, chromaticities, size of pixels, texts, EXIF orientation; the name of a colour profile, which is not kept. */
tsr_status tsr_png_read_notes(png_structp png, png_infop info, tsr_volume *volume);
/* Before png_write_info. The size of pixels is taken from the spacing where that is not 1: millimetres. */
void tsr_png_write_notes(png_structp png, png_infop info, const tsr_volume *volume);

#endif
