/* wavelet/rans_isa.h: streams of the coder rans on a CPU. Class exact. */
#ifndef TSR_WAVELET_RANS_ISA_H
#define TSR_WAVELET_RANS_ISA_H

#include "device/isa.h"
#include "wavelet/fast.h"
#include "wavelet/rans.h"

typedef int32_t eight32 __attribute__((vector_size(32)));
typedef float eight_floats __attribute__((vector_size(32)));
typedef uint8_t eight8 __attribute__((vector_size(8)));

enum { TSR_RANS_ROWS = 32 }; /* contexts from the last two on are like these: contexts, and so tables, in a vector of 16-bit words */
typedef struct tsr_rans_lookup {
    uint32_t slot[TSR_RANS_TABLES][TSR_RANS_SLOTS]; /* token | slots since the token's first << 4 | frequency << 16 */
    uint16_t first[TSR_RANS_TOKENS][TSR_RANS_ROWS]; /* slot at which a token begins in the table of a context */
    uint8_t expand[256][8];                         /* for every set bit of a mask the number of those below it */
} tsr_rans_lookup;
void tsr_rans_lookup_fill(const tsr_rans_model *model, tsr_rans_lookup *lookup);

/* How often each token follows each table, from many streams. */
typedef struct tsr_rans_counts {
    uint64_t count[TSR_RANS_TABLES][TSR_RANS_TOKENS];
} tsr_rans_counts;
void tsr_rans_model_fit(const tsr_rans_counts *counts, tsr_rans_model *model);

/* Details of one resolution to a stream, or, without a model, into counts alone. No stream (size 0) where all are 0. */
tsr_status tsr_rans_encode(const tsr_planes_band *bands, int32_t count, int narrow, const tsr_rans_model *model, tsr_rans_counts *counts,
                           tsr_planes_stream *stream);

#endif
