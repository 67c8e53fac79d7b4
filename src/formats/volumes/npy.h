/* formats/volumes/npy.h: what NPZ archives ask of NumPy's arrays. */
#ifndef TSR_FORMATS_NPY_H
#define TSR_FORMATS_NPY_H

#include "formats/format.h"

enum { TSR_NPY_HEAD = 65536 + 12, TSR_NPY_AXES = 4 };
/* What the header of an array says; `bytes` may end behind it. Errors name `name`. */
tsr_status tsr_npy_peek(const uint8_t *bytes, size_t size, const char *name, char descr[16], int64_t shape[TSR_NPY_AXES], int *axes);
/* The header that is written: at most TSR_NPY_WRITTEN bytes, a multiple of 64. Returns its size. */
enum { TSR_NPY_WRITTEN = 256 };
size_t tsr_npy_header(const tsr_volume *volume, int big_endian, char header[TSR_NPY_WRITTEN]);

#endif
