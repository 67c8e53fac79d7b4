/* video/slices/core_device.h: pictures in core syntax with variable-length codes, decoded and coded where a device has their coefficients. */
#ifndef TSR_VIDEO_SLICES_CORE_DEVICE_H
#define TSR_VIDEO_SLICES_CORE_DEVICE_H

#include "video/dirac/dirac_core.h"
#include "video/dirac/encoder/core_write.h"
#include "video/slices/core_jobs.h"

typedef struct tsr_core_device {
    tsr_context *context; /* NULL: nothing was made */
    tsr_core_band *bands; /* device memory, as all that follows */
    uint32_t *failed;
    uint8_t *bytes;
    int64_t room;
    /* coding: */
    uint64_t *scale;
    int64_t *row, rows;
    int32_t *quantised[3], *decoded[3];
    int64_t elements[3];
} tsr_core_device;

/* 1: the device codes pictures of this kind. */
int tsr_core_device_usable(const tsr_context *context, int variable);
/* tsr_dirac_core_decode to `coefficients` in device memory, whose extents core->layout has. Predictions of an approximation are undone. */
tsr_status tsr_core_device_decode(tsr_core_device *d, tsr_context *context, const tsr_dirac_core *core, tsr_bits *bits,
                                  int32_t *const coefficients[3], tsr_dirac_core_damage *damage);
/* tsr_dirac_core_write of `coefficients` in device memory; what a decoder has of them is in d->decoded, not in the writing's memory. */
tsr_status tsr_core_device_write(tsr_core_device *d, tsr_context *context, tsr_dirac_core_writing *writing, const int32_t *const coefficients[3]);
void tsr_core_device_free(tsr_core_device *d);

#endif
