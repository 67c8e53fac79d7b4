/* video/dirac/dirac_levels.h: what the levels of VC-2 allow (SMPTE ST 2042-2; 64 to 66: transport over SDI, RP 2047). */
#ifndef TSR_VIDEO_DIRAC_DIRAC_LEVELS_H
#define TSR_VIDEO_DIRAC_DIRAC_LEVELS_H

#include "video/dirac/syntax.h"

enum { TSR_DIRAC_LEVEL_SDI = 64 }; /* the first one of transport over SDI */

/* The first thing that the sequence header, or the transform of a picture (custom: it brings a matrix), has and its level forbids, as text; 1:
 * there is one. */
int tsr_dirac_level_header(const tsr_dirac_sequence *s, char *text, size_t room);
int tsr_dirac_level_transform(const tsr_dirac_sequence *s, const tsr_dirac_transform *t, int custom, char *text, size_t room);
/* What the sequence has had so far; zero before its first unit. The same of the order of its data units, `code` being the next one's. */
typedef struct tsr_dirac_level_units {
    int header, pictures, fragments; /* header: the last unit was one */
} tsr_dirac_level_units;
int tsr_dirac_level_order(const tsr_dirac_sequence *s, int32_t code, tsr_dirac_level_units *seen, char *text, size_t room);

/* The header as its level wants it, by the base format that is the film's; an error says what stands in the way. */
tsr_status tsr_dirac_level_take(tsr_dirac_sequence *s);
/* What a level over SDI fixes, where the options leave it open. */
void tsr_dirac_level_options(const tsr_dirac_sequence *s, tsr_dirac_encode_options *o);

#endif
