/* io/inflate.h: unpacking gzip (members following one another count as one stream) and zlib data that lie in memory. */
#ifndef TSR_IO_INFLATE_H
#define TSR_IO_INFLATE_H

#include "io/stream.h"

enum { TSR_DEFLATE_MOST_RATIO = 1032 }; /* no deflate stream expands more than this */

/* A look at the beginning: up to `room` decoded bytes; *ended = 1 if the stream ended by then, and only then its checksum was compared. `name` stands in
 * messages. */
tsr_status tsr_inflate_head(const char *name, const uint8_t *packed, size_t packed_size, tsr_wrapper wrapper, uint8_t *to, size_t room, size_t *stored,
                            int *ended);
/* All below read the stream to its end and compare its checksum, whatever part of it is wanted. Bytes behind the end become a remark (tsr_remarks). */
/* The whole stream into `to`; *stored < size if the content is shorter, *over = 1 if it is longer (then what is stored is unspecified). */
tsr_status tsr_inflate_whole(const char *name, const uint8_t *packed, size_t packed_size, tsr_wrapper wrapper, uint8_t *to, size_t size,
                             size_t *stored, int *over);
/* Decoded bytes [skip, skip + size), all of them or an error that names `what`, to `sink` in parts. */
tsr_status tsr_inflate_to(const char *name, const tsr_progress *progress, const uint8_t *packed, size_t packed_size, tsr_wrapper wrapper, int64_t skip,
                          int64_t size, tsr_input_sink sink, void *user, const char *what);
/* Decoded bytes [skip, skip + size), all of them or an error that names `what`. */
tsr_status tsr_inflate_exactly(const char *name, const tsr_progress *progress, const uint8_t *packed, size_t packed_size, tsr_wrapper wrapper,
                               int64_t skip, uint8_t *to, size_t size, const char *what);

#endif
