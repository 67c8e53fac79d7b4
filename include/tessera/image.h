/* tessera/image.h: images, the palettes of their colours, and test pictures. */
#ifndef TESSERA_IMAGE_H
#define TESSERA_IMAGE_H

#include "tessera/volume.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Images: 8 bits per channel, row 0 on top: what a screen shows. tsr_volume_read keeps 16 bits, and grey with alpha, of a PNG file: images are volumes too
 * (tsr_volume_channels); tsr_image_read rounds to 8 bits (options.image_bits says what the file had); it also
 * takes volume files of one slice, or of channels, of u8, and pictures of linear light (EXR, Radiance), which get the curve of sRGB and a remark. */
typedef struct tsr_image { int32_t width, height, channels; uint8_t *pixels; } tsr_image; /* channels 1, 3 or 4; pixels: width*height*channels */
/* Between the two: channel c of pixel x, y is voxel x, y, c of a host volume of u8. RETURNS NEW. The other way TSR_ERROR_ARGUMENT unless the volume is u8
 * without scaling, on the host, with a third axis of 1, 3 or 4 samples. */
TSR_API tsr_status tsr_volume_from_image(const tsr_image *image, tsr_volume **volume) TSR_CHECKED;
TSR_API tsr_status tsr_image_from_volume(const tsr_volume *volume, tsr_image *image) TSR_CHECKED;
TSR_API tsr_status tsr_image_create(int32_t width, int32_t height, int32_t channels, tsr_image *image) TSR_CHECKED; /* zero-filled */
TSR_API void tsr_image_destroy(tsr_image *image);

/* ---- few colours for a picture ------------------------------------------------------------------------------------------------------- */

/* Few colours for a picture, from an octree over the cube of colours. Every colour that occurs is a voxel of 256^3; a cell holds the number
 * and the sum of the pixels below. The palette is the finest level with no more occupied cells than entries are wanted; then the cell of most
 * pixels (of as many, the first in Morton order) splits into its occupied children, again and again, while the entries suffice; the last
 * one into as many groups of children, neighbours in Morton order, as entries are left, those of least squared error. So there are as many entries as were
 * wanted, or as colours. An entry is the mean of its pixels, rounded: a picture of no more colours than that comes back exactly.
 *
 * Exact class. Cost: a sort of the pixels. Source: Gervautz and Purgathofer 1990, in the form of docs/theory/regions.md 12. */

typedef struct tsr_colours_options {
    size_t struct_size;
    int32_t colours;         /* entries at most, 1 to 65536; 0 = 256 */
    int32_t bits[3];         /* of red, green and blue that tell colours apart, 1 to 8; 0 = 8. Means are of all bits */
} tsr_colours_options;
#define TSR_COLOURS_OPTIONS TSR_SIZED(tsr_colours_options)

typedef struct tsr_colours tsr_colours;
/* From a picture of 1, 3 or 4 channels (grey counts as three equal channels, alpha is ignored). BORROWS; the context's device sorts. RETURNS NEW, host memory. */
TSR_API tsr_status tsr_colours_create(tsr_context *context, const tsr_image *image, const tsr_colours_options *options, tsr_colours **palette) TSR_CHECKED;
TSR_API void tsr_colours_destroy(tsr_colours **palette);
TSR_API int32_t tsr_colours_count(const tsr_colours *palette);
/* An entry: its colour, the level (0 to 8) and corner of its cell, the pixels that it stands for. Of a group of children: their parent's level, the corner
 * of the first of them. */
typedef struct tsr_colours_entry { uint8_t colour[3], lower[3]; int32_t level; int64_t pixels; } tsr_colours_entry;
TSR_API const tsr_colours_entry *tsr_colours_entries(const tsr_colours *palette); /* in Morton order of their cells; RETURNS VIEW */
TSR_API int64_t tsr_colours_found(const tsr_colours *palette); /* that occur in the picture, told apart by `bits` */
/* indices[pixel] = entry whose cell holds its colour (a point query); of a colour in no cell, as another picture may have, the entry of nearest colour. BORROWS. */
TSR_API tsr_status tsr_colours_map(const tsr_colours *palette, tsr_context *context, const tsr_image *image, uint16_t *indices) TSR_CHECKED;

/* ---- test pictures and films --------------------------------------------------------------------------------------------------------- */

/* Pictures and films of a known scene, to try things on: a stereo pair with its exact disparities, a chessboard through a lens, a film.
 *
 * Class exact: the same pixels on every machine, from a name, a size and a seed. The stereo pair looks along z at a tilted wall with a ball before it, from two
 * pinholes side by side, x = -B/2 and +B/2; the disparity of a pixel of the left picture is focal * B / z, in pixels. */

typedef struct tsr_picture_info {
    const char *name;                        /* "picture-left", "film-balls", ...; static */
    const char *description;                 /* one line; static */
    int32_t width, height, channels, frames; /* defaults; frames 1: a picture */
} tsr_picture_info;
TSR_API const tsr_picture_info *tsr_picture_at(int32_t index); /* index 0, 1, ... until it returns NULL. RETURNS VIEW, static */

typedef struct tsr_picture_options {
    size_t struct_size;
    int32_t width, height; /* 0 = the default; 16 to 16384 */
    int32_t frame, frames; /* of a film: which of how many (0 = the default); its last frame comes before its first */
    uint64_t seed;         /* of the texture */
} tsr_picture_options;
#define TSR_PICTURE_OPTIONS TSR_SIZED(tsr_picture_options)

/* Makes a picture, or one frame of a film. RETURNS NEW pixels in *image. TSR_ERROR_ARGUMENT for an unknown name (the message lists them) or an extent or
 * frame out of range. */
TSR_API tsr_status tsr_picture_make(const char *name, const tsr_picture_options *options, tsr_image *image) TSR_CHECKED;
/* Of the stereo pair of this width: focal length in pixels, and focal * B, which divided by z is the disparity. */
TSR_API void tsr_picture_stereo(int32_t width, double *focal, double *disparity);

#ifdef __cplusplus
}
#endif
#endif
