/* io/deflate.h: a deflate stream written in independent pieces by several threads; the same bytes for every number of threads. */
#ifndef TSR_IO_DEFLATE_H
#define TSR_IO_DEFLATE_H

#include "io/stream.h"

typedef struct tsr_deflater tsr_deflater;
typedef tsr_status (*tsr_sink)(void *user, const void *bytes, size_t size);

/* Level 1..9, 0 = the default. Packed bytes go to `sink`. */
tsr_status tsr_deflater_create(tsr_wrapper wrapper, int level, tsr_sink sink, void *user, tsr_deflater **deflater);
tsr_status tsr_deflater_write(tsr_deflater *deflater, const void *bytes, size_t size);
tsr_status tsr_deflater_end(tsr_deflater *deflater); /* writes what is left and the checksum */
void tsr_deflater_destroy(tsr_deflater **deflater);

#endif
