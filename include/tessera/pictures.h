/* tessera/pictures.h: pictures and films of a known scene, to try things on: a stereo pair with its exact disparities, a chessboard through a lens, a film.
 *
 * Class exact: the same pixels on every machine, from a name, a size and a seed. The stereo pair looks along z at a tilted wall with a ball before it, from two
 * pinholes side by side, x = -B/2 and +B/2; the disparity of a pixel of the left picture is focal * B / z, in pixels. */
#ifndef TESSERA_PICTURES_H
#define TESSERA_PICTURES_H

#include "tessera/io.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tsr_picture_info {
    const char *name;                        /* "picture-left", "film-balls", ...; static */
    const char *description;                 /* one line; static */
    int32_t width, height, channels, frames; /* defaults; frames 1: a picture */
} tsr_picture_info;
TSR_API int tsr_picture_at(int32_t index, tsr_picture_info *info); /* index 0, 1, ... until it returns 0 */

typedef struct tsr_picture_options {
    size_t struct_size;
    int32_t width, height; /* 0 = the default; 16 to 16384 */
    int32_t frame, frames; /* of a film: which of how many (0 = the default); its last frame comes before its first */
    uint64_t seed;         /* of the texture */
} tsr_picture_options;
#define TSR_PICTURE_OPTIONS                        \
    {                                              \
        .struct_size = sizeof(tsr_picture_options) \
    }

/* Makes a picture, or one frame of a film. RETURNS NEW pixels in *image. TSR_ERROR_ARGUMENT for an unknown name (the message lists them) or an extent or
 * frame out of range. */
TSR_API tsr_status tsr_picture_make(const char *name, const tsr_picture_options *options, tsr_image *image) TSR_CHECKED;
/* Of the stereo pair of this width: focal length in pixels, and focal * B, which divided by z is the disparity. */
TSR_API void tsr_picture_stereo(int32_t width, double *focal, double *disparity);

#ifdef __cplusplus
}
#endif
#endif
