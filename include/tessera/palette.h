/* tessera/palette.h: few colours for a picture, from an octree over the cube of colours. Every colour that occurs is a voxel of 256^3; a cell holds the number
 * and the sum of the pixels below. The palette is the finest level with no more occupied cells than entries are wanted; then the cell of most
 * pixels (of as many, the first in Morton order) splits into its occupied children, again and again, while the entries suffice; the last
 * one into as many groups of children, neighbours in Morton order, as entries are left, those of least squared error. So there are as many entries as were
 * wanted, or as colours. An entry is the mean of its pixels, rounded: a picture of no more colours than that comes back exactly.
 *
 * Exact class. Cost: a sort of the pixels. Source: Gervautz and Purgathofer 1990, in the form of docs/theory/regions.md 12. */
#ifndef TESSERA_PALETTE_H
#define TESSERA_PALETTE_H

#include "tessera/device.h"
#include "tessera/io.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tsr_colours_options {
    size_t struct_size;
    int32_t colours;         /* entries at most, 1 to 65536; 0 = 256 */
    int32_t bits[3];         /* of red, green and blue that tell colours apart, 1 to 8; 0 = 8. Means are of all bits */
} tsr_colours_options;
#define TSR_COLOURS_OPTIONS { .struct_size = sizeof(tsr_colours_options) }

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

#ifdef __cplusplus
}
#endif
#endif
