/* video/dirac/dirac_levels.h: what the levels of VC-2 allow (SMPTE ST 2042-2; 64 to 66: transport over SDI, RP 2047). */
#ifndef TSR_VIDEO_DIRAC_DIRAC_LEVELS_H
#define TSR_VIDEO_DIRAC_DIRAC_LEVELS_H

#include "video/dirac/syntax.h"

/* The first thing that the sequence header, or the transform of a picture (custom: it brings a matrix), has and its level forbids, as text; 1: there is one. */
int tsr_dirac_level_header(const tsr_dirac_sequence *s, char *text, size_t room);
int tsr_dirac_level_transform(const tsr_dirac_sequence *s, const tsr_dirac_transform *t, int custom, char *text, size_t room);

#endif
