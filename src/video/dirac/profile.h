/* video/dirac/profile.h: time by stages. */
#ifndef TSR_VIDEO_DIRAC_PROFILE_H
#define TSR_VIDEO_DIRAC_PROFILE_H

#include "device/backend.h"
#include "tessera/dirac.h"

/* What was done since the last call belongs to *current, what is done from now on to `stage`; -1: to none. A NULL profile counts nothing. */
void tsr_dirac_profile_enter(tsr_dirac_profile *profile, tsr_context *context, int stage, int kind, int *current, double *since);

#endif
