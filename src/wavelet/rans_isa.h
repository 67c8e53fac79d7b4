/* wavelet/rans_isa.h: streams of the coder rans on a CPU. Class exact. */
#ifndef TSR_WAVELET_RANS_ISA_H
#define TSR_WAVELET_RANS_ISA_H

#include "device/isa.h"
#include "wavelet/fast.h"
#include "wavelet/rans.h"

typedef int32_t eight32 __attribute__((vector_size(32)));
typedef float eight_floats __attribute__((vector_size(32)));
typedef uint8_t eight8 __attribute__((vector_size(8)));

typedef struct tsr_rans_lookup {
    uint32_t slot[TSR_RANS_TABLES][TSR_RANS_SLOTS]; /* token | slots since the token's first << 4 | frequency << 16 */
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

/* As tsr_fast_decode, of streams by rans (stream 0: packed blocks); `work` has tsr_rans_work bytes. */
TSR_ISA_DECLARE(const void *, tsr_rans_decode, const tsr_fast_source *streams, int32_t levels, const int32_t size[3], int narrow,
                const tsr_rans_lookup *lookup, void *work)
static inline size_t tsr_rans_work(int64_t count, int narrow) { return tsr_fast_work(count, narrow) + (size_t)count * 5 + 64; }

#endif
