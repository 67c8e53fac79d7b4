/* video/multiview/mvv_diff.h: what both directions of codec DIFF2D share. docs/theory/multiview.md 4. */
#ifndef TSR_VIDEO_MULTIVIEW_MVV_DIFF_H
#define TSR_VIDEO_MULTIVIEW_MVV_DIFF_H

#include "video/multiview/mvv_adaptive.h"
#include "video/multiview/mvv_bisk.h"
#include "video/multiview/mvv_codec.h"

/* What one worker needs. Samples of textures are integers times 2^fraction. */
typedef struct tsr_diff_tool {
    int32_t width, height, cameras, fraction, lossless;
    int64_t texels;
    tsr_mvv_adaptive wavelet;
    tsr_bisk_tree tree;
    tsr_bisk_coder coder;
    uint8_t *mask, *sorted, *scratch; /* of texels, of coefficients */
    uint16_t *count;                  /* cameras that see a texel */
    int32_t *work, *coefficient;
    int32_t *average[3], *sample; /* decoded averages of a step; one texture */
    int32_t *trial[2];            /* lossless: a texture as it is, and from some planes */
} tsr_diff_tool;

tsr_status tsr_diff_tool_make(const tsr_mvv_head *h, tsr_diff_tool *t);
void tsr_diff_tool_free(tsr_diff_tool *t);

/* t->mask from a mask of bits (NULL: all), or of cameras masks `stride` words apart: texels that any sees, counted in t->count. */
void tsr_diff_mask(tsr_diff_tool *t, const uint64_t *bits);
void tsr_diff_mask_any(tsr_diff_tool *t, const uint64_t *bits, int64_t stride);
/* Makes ready for coding textures of t->mask. */
tsr_status tsr_diff_ready(tsr_diff_tool *t);
/* Samples on t->mask; others are not looked at. RETURNS NEW in *bytes. */
tsr_status tsr_diff_encode(tsr_diff_tool *t, const int32_t *sample, int64_t budget, uint8_t **bytes, int64_t *size);
/* The same of coefficients. */
tsr_status tsr_diff_code(tsr_diff_tool *t, const int32_t *coefficient, int64_t budget, uint8_t **bytes, int64_t *size);
/* Samples, 0 outside t->mask, from any bytes. */
tsr_status tsr_diff_decode(tsr_diff_tool *t, const uint8_t *bytes, int64_t size, int32_t *sample);

/* Are all streams there that steps [begin, end) of a segment hang on, of the cameras that are read? */
tsr_status tsr_diff_look(const tsr_mvv_reading *r, int64_t segment, int64_t begin, int64_t end);

/* The streams of a chunk: Y, U, V of a segment's master, or of a step's average and of the textures of its cameras. Sizes of all but the last one stand
 * first, seven bits a byte, the lowest first, bit 7 where more follow. */
typedef struct tsr_diff_streams {
    const uint8_t *bytes; /* NULL: missing (partial) */
    int64_t size, whole;  /* whole: of the chunk, of which `size` bytes are there */
    int32_t count;
} tsr_diff_streams;
static inline int32_t tsr_diff_streams_in(const tsr_mvv_head *h, uint32_t type) { return type == TSR_MVV_MSTR ? 3 : 3 * (1 + h->cameras); }
/* Number of the first stream of camera c; -1: the average. */
static inline int32_t tsr_diff_first_stream(int32_t c) { return 3 * (1 + c); }
/* Where stream `number` lies, as far as it is there; 0: the sizes do not fit the chunk. */
int tsr_diff_find_stream(const tsr_diff_streams *s, int32_t number, int64_t *begin, int64_t *end);

tsr_status tsr_diff_open_streams(const tsr_mvv_reading *r, uint32_t type, int64_t index, tsr_diff_streams *s);
/* A stream, as far as its rate is kept; *size 0: it is missing (partial). */
tsr_status tsr_diff_stream(const tsr_mvv_reading *r, const tsr_diff_streams *s, int32_t number, const uint8_t **bytes, int64_t *size);

#endif
