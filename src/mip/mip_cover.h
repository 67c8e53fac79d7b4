/* mip/mip_cover.h: what the coefficients of each level cover, in voxels and in pixels. */
#ifndef TSR_MIP_MIP_COVER_H
#define TSR_MIP_MIP_COVER_H

#include "mip/mip_view.h"

/* Sets the covers of a job. Elements that are no box need lists: *lists (host, NULL if none; free with tsr_host_release(NULL, *lists, *bytes)) go to the
 * device, and voxel and pixel of the covers count from their first entry until tsr_mip_covers_place. */
tsr_status tsr_mip_covers(const tsr_mip *mip, const tsr_mip_setup *setup, int exact, tsr_mip_cover *cover, int16_t **lists, int64_t *bytes);
/* The covers' lists lie at `device`. */
void tsr_mip_covers_place(const tsr_mip *mip, tsr_mip_cover *cover, const int16_t *device);

#endif
