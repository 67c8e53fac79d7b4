/* video/multiview/mvv_file.h: what the chunks of .mvv files are. docs/formats/mvv.md is normative. */
#ifndef TSR_VIDEO_MULTIVIEW_MVV_FILE_H
#define TSR_VIDEO_MULTIVIEW_MVV_FILE_H

#include "video/chunks/chunk_file.h"
#include "video/multiview/multiview.h"

enum { TSR_MVV_HEAD_BYTES = 96 };

#define TSR_MVV_MODL TSR_CHUNK_TYPE('M', 'O', 'D', 'L')
#define TSR_MVV_ATLS TSR_CHUNK_TYPE('A', 'T', 'L', 'S')
#define TSR_MVV_HASH TSR_CHUNK_TYPE('H', 'A', 'S', 'H')
#define TSR_MVV_MASK TSR_CHUNK_TYPE('M', 'A', 'S', 'K')
#define TSR_MVV_TEXR TSR_CHUNK_TYPE('T', 'E', 'X', 'R') /* a texture as it is */
#define TSR_MVV_GOPS TSR_CHUNK_TYPE('G', 'O', 'P', 'S') /* a component of a group of pictures */
#define TSR_MVV_MSTR TSR_CHUNK_TYPE('M', 'S', 'T', 'R') /* streams of a segment, */
#define TSR_MVV_STEP TSR_CHUNK_TYPE('S', 'T', 'E', 'P') /* a step */

/* What the HEAD chunk says. */
typedef struct tsr_mvv_head {
    int32_t width, height, cameras, steps, rate[2];
    int32_t codec, masks, atlas; /* atlas 1: an ATLS chunk */
    int32_t group;               /* steps in a group; masks start anew with it */
    int32_t lossless, fill, syntax, fraction, filter, levels, open_loop;
    double bpp[3]; /* asked for */
} tsr_mvv_head;
static inline int32_t tsr_mvv_groups(const tsr_mvv_head *h) { return (h->steps + h->group - 1) / h->group; }

extern const tsr_chunk_kind tsr_mvv_kind;

tsr_status tsr_mvv_write_head(tsr_chunk_writer *w, const tsr_mvv_head *head, const tsr_multiview *names);

typedef struct tsr_mvv_reader {
    tsr_chunk_reader chunks; /* tsr_chunk_file_close_reader */
    tsr_mvv_head head;
    const uint8_t *names; /* of cameras, in the HEAD chunk: a byte of length, then the text */
    int64_t names_size;
} tsr_mvv_reader;

/* As tsr_chunk_file_open_reader; the header is checked. */
tsr_status tsr_mvv_reader_open(tsr_mvv_reader *r, tsr_input *input, int partial);

#endif
