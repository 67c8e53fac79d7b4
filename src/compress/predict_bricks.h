/* compress/predict_bricks.h: samples of a brick by prediction: every one from the samples before it, the error by mixed contexts. The densest and slowest
 * coder of a compressed volume (docs/formats/tsc.md). */
#ifndef TSR_COMPRESS_PREDICT_BRICKS_H
#define TSR_COMPRESS_PREDICT_BRICKS_H

#include <stdint.h>

#include "core/core.h"
#include "device/isa.h"
#include "wavelet/poll.h"

/* `samples` are nx x ny x nz, x fastest. Sizes are at least 1 and small enough for an int32 product. The stream (malloc) goes to the caller.
 * The poll (may be NULL) is asked for every 16 rows. */
TSR_ISA_DECLARE(tsr_status, tsr_predict_encode, const int32_t *samples, const int32_t size[3], const tsr_poll *poll, uint8_t **stream, size_t *bytes)
/* Any bytes give samples: a stream that was cut or damaged gives wrong ones. */
TSR_ISA_DECLARE(tsr_status, tsr_predict_decode, const uint8_t *stream, size_t bytes, const int32_t size[3], const tsr_poll *poll, int32_t *samples)

#endif
