/* video/dirac/checksum.h: the MD5 of a picture, as auxiliary data have it. */
#ifndef TSR_VIDEO_DIRAC_CHECKSUM_H
#define TSR_VIDEO_DIRAC_CHECKSUM_H

#include "core/core.h"

enum { TSR_DIRAC_DIGEST = 16, TSR_DIRAC_AUXILIARY_MD5 = 3 /* first byte of the payload */ };

/* [RFC1321] over rows in blocks of 64 bytes, a row's last block filled up with zeros, without the length at the end: docs/theory/vc2.md 1. */
typedef struct tsr_dirac_md5 {
    uint32_t state[4];
} tsr_dirac_md5;
void tsr_dirac_md5_begin(tsr_dirac_md5 *md5);
/* A component: rows of `width` bytes, `stride` bytes apart; host memory. */
void tsr_dirac_md5_rows(tsr_dirac_md5 *md5, const void *rows, int64_t stride, int64_t width, int32_t height);
void tsr_dirac_md5_digest(const tsr_dirac_md5 *md5, uint8_t digest[TSR_DIRAC_DIGEST]);

#endif
