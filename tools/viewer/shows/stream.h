/* viewer/shows/stream.h: streams of Dirac and VC-2 for the mode `film`: frames by the library's decoder, and what each is put together from, to be
 * drawn over it. */
#ifndef TESSERA_VIEWER_STREAM_H
#define TESSERA_VIEWER_STREAM_H

#include "tessera/tessera.h"

/* Of one frame (of field streams, of its first field). Zero: nothing is known. */
typedef struct viewer_anatomy {
    uint32_t number;
    int32_t blocks[2], separation[2], precision, slices[2];
    tsr_dirac_block_info *block;
    uint8_t *quantiser;
    int64_t bytes; /* of both */
} viewer_anatomy;
void viewer_anatomy_free(viewer_anatomy *anatomy);

typedef struct viewer_stream viewer_stream;
/* The first frame is read; its header is there. */
tsr_status viewer_stream_create(tsr_context *context, const char *path, int64_t memory_limit, viewer_stream **stream);
void viewer_stream_destroy(viewer_stream **stream);
const tsr_dirac_sequence *viewer_stream_sequence(const viewer_stream *stream);
/* RETURNS NEW both. *more 0 at the end. */
tsr_status viewer_stream_next(viewer_stream *stream, tsr_image *image, viewer_anatomy *anatomy, int *more);

enum { VIEWER_OVER_NOTHING = 0, VIEWER_OVER_BLOCKS, VIEWER_OVER_VECTORS, VIEWER_OVER_QUANTISERS, VIEWER_OVERLAYS };
/* Pixel (x, y) of the picture shows (left + (x + 0.5) size) / aspect, top + (y + 0.5) size of a frame of width x height. Blocks: edges, red a constant, green
 * from the first reference, blue from the second, yellow from both; vectors: from the middle of a block to where it was; quantisers: slices, the coarser
 * the redder. */
void viewer_overlay_draw(const viewer_anatomy *anatomy, int overlay, int32_t width, int32_t height, double left, double top, double size,
                         double aspect, tsr_image *picture);

#endif
