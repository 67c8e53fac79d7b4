/* video/chunks/chunk_file.h: files that are a row of chunks, each with its checksum, and a directory at the end: .mvv (docs/formats/mvv.md is normative)
 * and .tdf. */
#ifndef TSR_VIDEO_CHUNKS_CHUNK_FILE_H
#define TSR_VIDEO_CHUNKS_CHUNK_FILE_H

#include "io/little_endian.h"
#include "io/stream.h"

enum { TSR_CHUNK_MAGIC = 8, TSR_CHUNK_HEADER = 32, TSR_CHUNK_TRAILER = 16, TSR_CHUNKS_MOST = 1 << 26 };

#define TSR_CHUNK_TYPE(a, b, c, d) ((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 | (uint32_t)(d) << 24)
#define TSR_CHUNK_HEAD TSR_CHUNK_TYPE('H', 'E', 'A', 'D')
#define TSR_CHUNK_DIRECTORY TSR_CHUNK_TYPE('D', 'I', 'R', 'Y')

/* What tells one kind of file from another. */
typedef struct tsr_chunk_kind {
    uint8_t magic[TSR_CHUNK_MAGIC], ending[8];
    const char *what; /* for messages: "multi-view textures (.mvv)" */
} tsr_chunk_kind;

typedef struct tsr_chunk {
    uint32_t type, index;
    int64_t offset, size; /* of the payload */
} tsr_chunk;

/* ---- writing ---------------------------------------------------------------------------------------------------------------------------------- */

typedef struct tsr_chunk_writer {
    const tsr_chunk_kind *kind;
    tsr_output *output;
    tsr_chunk *entry;
    int64_t entries, room, position;
} tsr_chunk_writer;

/* KEEPS `kind`. */
tsr_status tsr_chunk_file_open_writer(tsr_chunk_writer *w, const tsr_chunk_kind *kind, const char *path, int overwrite);
tsr_status tsr_chunk_file_write(tsr_chunk_writer *w, uint32_t type, int64_t index, const void *payload, size_t size);
int64_t tsr_chunk_file_bytes(const tsr_chunk_writer *w); /* of the file, if it were finished now */
/* Directory and trailer, then as tsr_output_finish. */
tsr_status tsr_chunk_file_finish(tsr_chunk_writer *w, tsr_status status);

/* ---- reading ---------------------------------------------------------------------------------------------------------------------------------- */

typedef struct tsr_chunk_reader {
    const tsr_chunk_kind *kind;
    const char *name; /* for messages */
    const uint8_t *bytes;
    int64_t size;
    tsr_chunk *entry; /* by type and index */
    int64_t entries;
    int partial, complete; /* complete: a directory stands at the end */
} tsr_chunk_reader;

/* KEEPS `kind`, BORROWS `input` until the reader is closed. A file without its end is TSR_ERROR_FORMAT unless `partial`. */
tsr_status tsr_chunk_file_open_reader(tsr_chunk_reader *r, const tsr_chunk_kind *kind, tsr_input *input, int partial);
void tsr_chunk_file_close_reader(tsr_chunk_reader *r);
/* The payload, its checksum checked; `embedded`: one that is cut off is given as far as it goes. NULL if there is no such chunk, or (partial) a
 * damaged one, which a remark names. */
tsr_status tsr_chunk_file_read(const tsr_chunk_reader *r, uint32_t type, int64_t index, int embedded, const uint8_t **payload, int64_t *size);
/* Remarks about a chunk that is missing or damaged (partial) are for the calling thread: it looks before others read. */
tsr_status tsr_chunk_file_look(const tsr_chunk_reader *r, uint32_t type, int64_t index);
const tsr_chunk *tsr_chunk_file_find(const tsr_chunk_reader *r, uint32_t type, int64_t index);
int tsr_chunk_file_good(const tsr_chunk_reader *r, const tsr_chunk *entry); /* is it whole, with the right checksum? */

#endif
