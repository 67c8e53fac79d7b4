/* formats/lzma.h: unpacking whole streams of LZMA (.xz and .lzma), as chunks of Zarr and blocks of VTK's XML files are packed. */
#ifndef TSR_FORMATS_LZMA_H
#define TSR_FORMATS_LZMA_H

#include <stddef.h>
#include <stdint.h>

enum { TSR_LZMA_MOST_RATIO = 1 << 14 }; /* zeros take a seven thousandth; no stream expands more than this */

/* 1 if the stream is sound and gives exactly `bytes`; 0 always where the build does not have liblzma (TSR_HAVE_LZMA). */
int tsr_lzma_unpack(const uint8_t *packed, size_t size, uint8_t *to, size_t bytes);

#endif
