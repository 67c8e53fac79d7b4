/* video/dirac/encoder/syntax_write.h */
#ifndef TSR_VIDEO_DIRAC_SYNTAX_WRITE_H
#define TSR_VIDEO_DIRAC_SYNTAX_WRITE_H

#include "video/dirac/encoder/bits_write.h"
#include "video/dirac/syntax.h"

enum { TSR_DIRAC_HEADERS = 4096 }; /* bytes that any of these take at most */

void tsr_dirac_sequence_write(tsr_bits_out *bits, const tsr_dirac_sequence *sequence);
void tsr_dirac_transform_write(tsr_bits_out *bits, int32_t major, const tsr_dirac_transform *transform);
/* TSR_DIRAC_HEADER bytes. */
void tsr_dirac_unit_write(uint8_t *to, int32_t code, uint32_t next, uint32_t previous);

#endif
