/* io/lz4.h: unpacking blocks of LZ4 (its "block format"), as VTK's XML files hold them. */
#ifndef TSR_IO_LZ4_H
#define TSR_IO_LZ4_H

#include <stddef.h>
#include <stdint.h>

enum { TSR_LZ4_MOST_RATIO = 255 }; /* no block expands more than this */

/* 1 if the block is sound and gives exactly `size` bytes. */
int tsr_lz4_unpack(const uint8_t *packed, size_t packed_size, uint8_t *to, size_t size);

#endif
