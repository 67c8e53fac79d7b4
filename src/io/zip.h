/* io/zip.h: archives of files, as NPZ and 3MF are: what is in them, entries unpacked in memory, and archives written. Stored and deflated entries, sizes of 64 bits;
 * what is encrypted, split or packed otherwise is TSR_ERROR_UNSUPPORTED. Format: PKWARE's APPNOTE.TXT 4.3. */
#ifndef TSR_IO_ZIP_H
#define TSR_IO_ZIP_H

#include "io/stream.h"
#include "io/text.h"

typedef struct tsr_zip_entry {
    tsr_word name; /* in the archive */
    int method;    /* 0 stored, 8 deflated */
    int encrypted;
    int64_t packed, size, header; /* bytes; where its own header lies */
    uint32_t crc;
} tsr_zip_entry;

typedef struct tsr_zip {
    tsr_input *input;
    const uint8_t *bytes;
    int64_t size;
    tsr_zip_entry *entry;
    int64_t entries;
} tsr_zip;

/* Reads the directory; freed by tsr_zip_close also after a failure. KEEPS the input. */
tsr_status tsr_zip_open(tsr_input *input, tsr_zip *zip);
void tsr_zip_close(tsr_zip *zip);
const tsr_zip_entry *tsr_zip_find(const tsr_zip *zip, const char *name); /* NULL if there is none; a leading '/' of the name is no part of it */
/* The first bytes, at most `room`; *stored says how many. */
tsr_status tsr_zip_head(const tsr_zip *zip, const tsr_zip_entry *entry, uint8_t *to, size_t room, size_t *stored);
/* All bytes, their checksum compared, counted against the input's memory limit: a view of the archive where they lie in it plainly, else new memory. The block
 * has no release function for a view. */
tsr_status tsr_zip_take(const tsr_zip *zip, const tsr_zip_entry *entry, tsr_block *block);

typedef struct tsr_zip_writer tsr_zip_writer;
/* BORROWS the output until tsr_zip_end. */
tsr_status tsr_zip_begin(tsr_output *output, tsr_zip_writer **writer);
/* The entry that follows; level 0: stored, 1 to 9: deflated. */
tsr_status tsr_zip_entry_begin(tsr_zip_writer *writer, const char *name, int level);
tsr_status tsr_zip_write(tsr_zip_writer *writer, const void *bytes, size_t size);
tsr_status tsr_zip_printf(tsr_zip_writer *writer, const char *format, ...) TSR_PRINTF(2, 3);
tsr_status tsr_zip_entry_end(tsr_zip_writer *writer);
/* Writes the directory if `status` is TSR_OK; frees the writer in every case and returns the first failure. */
tsr_status tsr_zip_end(tsr_zip_writer **writer, tsr_status status);

#endif
