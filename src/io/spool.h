/* io/spool.h: a file without a name, for what memory is not to hold until it is written in another order. It lies in the folder of the target and
 * vanishes with the process, however that ends. */
#ifndef TSR_IO_SPOOL_H
#define TSR_IO_SPOOL_H

#include "core/core.h"

typedef struct tsr_spool tsr_spool;

/* `path`: the target; "-" and devices: the folder for temporary files. */
tsr_status tsr_spool_open(const char *path, tsr_spool **spool);
/* Appends; *offset is where (NULL: not asked for). */
tsr_status tsr_spool_write(tsr_spool *spool, const void *bytes, size_t size, int64_t *offset);
/* Anywhere, also beyond the end; what was never written is 0. */
tsr_status tsr_spool_put(tsr_spool *spool, int64_t offset, const void *bytes, size_t size);
/* TSR_ERROR_IO beyond the end. */
tsr_status tsr_spool_get(tsr_spool *spool, int64_t offset, void *bytes, size_t size);
/* The file has `size` bytes from now on, if it had fewer. */
tsr_status tsr_spool_reserve(tsr_spool *spool, int64_t size);
/* All that was written, as memory that the system may take back. RETURNS VIEW, valid until the spool is closed; nothing is written after that. */
tsr_status tsr_spool_map(tsr_spool *spool, const uint8_t **bytes);
/* What was read of the mapping leaves memory until it is read again. */
void tsr_spool_rest(tsr_spool *spool);
void tsr_spool_close(tsr_spool **spool); /* NULL is fine */

#endif
