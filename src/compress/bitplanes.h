/* compress/bitplanes.h: wavelet coefficients plane by plane, most significant bits first: a stream that may be cut after any pass and then gives
 * the best approximation that so many bytes hold (docs/formats/tsc.md). */
#ifndef TSR_COMPRESS_BITPLANES_H
#define TSR_COMPRESS_BITPLANES_H

#include <stdint.h>

#include "core/core.h"
#include "device/isa.h"
#include "wavelet/poll.h"

enum {
    TSR_PLANES_PASSES = 3 * 32,
    TSR_PLANES_BANDS = 7,
    TSR_PLANES_REST = 112 /* 256ths: where magnitudes lie on average between the known bits and the next value */
};

/* A band of int32 coefficients, packed; along an axis it is high or low (bit a of `high`). */
typedef struct tsr_planes_band {
    int32_t *data;
    int32_t size[3];
    uint32_t high;
    double weight; /* encoder: what an error of 1 costs, as a root of squared error */
} tsr_planes_band;

typedef struct tsr_planes_pass {
    uint32_t bytes; /* of the stream that must be there for this pass */
    double gain;    /* squared error taken away by all passes up to this one */
} tsr_planes_pass;

typedef struct tsr_planes_stream {
    uint8_t *bytes; /* malloc */
    size_t size;
    int32_t passes, raw; /* raw: samples as they are (raw.h), which the directory says by TSR_RAW_PASSES */
    double energy;       /* squared error without any pass */
    tsr_planes_pass pass[TSR_PLANES_PASSES];
} tsr_planes_stream;

/* Codes up to TSR_PLANES_BANDS bands together, all planes from the highest down to plane `lowest`: what is coded does not depend on where it
 * ends. The poll (may be NULL) is asked for every slice. */
TSR_ISA_DECLARE(tsr_status, tsr_planes_encode, const tsr_planes_band *bands, int32_t count, int32_t lowest, const tsr_poll *poll,
                tsr_planes_stream *stream)
/* Decodes `passes` passes (fewer if the stream has fewer planes). Bits that are not known become `rest`, 0 to 255, 256ths of their range. Any bytes
 * give coefficients. */
TSR_ISA_DECLARE(tsr_status, tsr_planes_decode, const uint8_t *stream, size_t bytes, int32_t passes, int32_t rest, const tsr_planes_band *bands,
                int32_t count, const tsr_poll *poll)

#endif
