/* video/multiview/mvv_file.h: .mvv files: a row of chunks, each with its checksum, and a directory at the end. docs/formats/mvv.md is normative. */
#ifndef TSR_VIDEO_MULTIVIEW_MVV_FILE_H
#define TSR_VIDEO_MULTIVIEW_MVV_FILE_H

#include "io/little_endian.h"
#include "io/stream.h"
#include "video/multiview/multiview.h"

enum { TSR_MVV_MAGIC_BYTES = 8, TSR_MVV_CHUNK_BYTES = 32, TSR_MVV_TRAILER_BYTES = 16, TSR_MVV_HEAD_BYTES = 96, TSR_MVV_MOST_CHUNKS = 1 << 26 };

#define TSR_MVV_TYPE(a, b, c, d) ((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 | (uint32_t)(d) << 24)
#define TSR_MVV_HEAD TSR_MVV_TYPE('H', 'E', 'A', 'D')
#define TSR_MVV_MODL TSR_MVV_TYPE('M', 'O', 'D', 'L')
#define TSR_MVV_ATLS TSR_MVV_TYPE('A', 'T', 'L', 'S')
#define TSR_MVV_HASH TSR_MVV_TYPE('H', 'A', 'S', 'H')
#define TSR_MVV_MASK TSR_MVV_TYPE('M', 'A', 'S', 'K')
#define TSR_MVV_TEXR TSR_MVV_TYPE('T', 'E', 'X', 'R') /* a texture as it is */
#define TSR_MVV_GOPS TSR_MVV_TYPE('G', 'O', 'P', 'S') /* a component of a group of pictures */
#define TSR_MVV_MSTR TSR_MVV_TYPE('M', 'S', 'T', 'R') /* of a segment, */
#define TSR_MVV_AVRG TSR_MVV_TYPE('A', 'V', 'R', 'G') /* a step, */
#define TSR_MVV_RESD TSR_MVV_TYPE('R', 'E', 'S', 'D') /* a step and camera */
#define TSR_MVV_DIRY TSR_MVV_TYPE('D', 'I', 'R', 'Y')

/* What the HEAD chunk says. */
typedef struct tsr_mvv_head {
    int32_t width, height, cameras, steps, rate[2];
    int32_t codec, masks, atlas; /* atlas 1: an ATLS chunk */
    int32_t group;               /* steps in a group; masks start anew with it */
    int32_t lossless, fill, syntax, fraction, filter, levels, open_loop;
    double bpp[3]; /* asked for */
} tsr_mvv_head;
static inline int32_t tsr_mvv_groups(const tsr_mvv_head *h) { return (h->steps + h->group - 1) / h->group; }

typedef struct tsr_mvv_entry {
    uint32_t type, index;
    int64_t offset, size; /* of the payload */
} tsr_mvv_entry;

/* ---- writing ---------------------------------------------------------------------------------------------------------------------------------- */

typedef struct tsr_mvv_writer {
    tsr_output *output;
    tsr_mvv_entry *entry;
    int64_t entries, room, position;
} tsr_mvv_writer;

tsr_status tsr_mvv_writer_open(tsr_mvv_writer *w, const char *path, int overwrite);
tsr_status tsr_mvv_writer_chunk(tsr_mvv_writer *w, uint32_t type, int64_t index, const void *payload, size_t size);
tsr_status tsr_mvv_writer_head(tsr_mvv_writer *w, const tsr_mvv_head *head, const tsr_multiview *names);
/* Directory and trailer, then as tsr_output_finish. */
tsr_status tsr_mvv_writer_close(tsr_mvv_writer *w, tsr_status status);

/* ---- reading ---------------------------------------------------------------------------------------------------------------------------------- */

typedef struct tsr_mvv_reader {
    const char *name; /* for messages */
    const uint8_t *bytes;
    int64_t size;
    tsr_mvv_entry *entry; /* by type and index */
    int64_t entries;
    int partial, complete; /* complete: a directory stands at the end */
    tsr_mvv_head head;
    const uint8_t *names; /* of cameras, in the HEAD chunk: a byte of length, then the text */
    int64_t names_size;
} tsr_mvv_reader;

/* BORROWS `input` until the reader is closed. A file without its end is TSR_ERROR_FORMAT unless `partial`. */
tsr_status tsr_mvv_reader_open(tsr_mvv_reader *r, tsr_input *input, int partial);
void tsr_mvv_reader_close(tsr_mvv_reader *r);
/* The payload, its checksum checked; `embedded`: one that is cut off is given as far as it goes. NULL if there is no such chunk, or (partial) a damaged
 * one, which a remark names. */
tsr_status tsr_mvv_reader_chunk(const tsr_mvv_reader *r, uint32_t type, int64_t index, int embedded, const uint8_t **payload, int64_t *size);
const tsr_mvv_entry *tsr_mvv_reader_find(const tsr_mvv_reader *r, uint32_t type, int64_t index);
int tsr_mvv_reader_good(const tsr_mvv_reader *r, const tsr_mvv_entry *entry); /* is it whole, with the right checksum? */

#endif
