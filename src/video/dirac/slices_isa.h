/* video/dirac/slices_isa.h: slices, a variant per instruction set. Codes are read several at a time, by a table of what the next bits begin with. */
#ifndef TSR_VIDEO_DIRAC_SLICES_ISA_H
#define TSR_VIDEO_DIRAC_SLICES_ISA_H

#include "device/isa.h"
#include "video/dirac/quantiser.h"
#include "video/dirac/slices.h"

enum { TSR_CODE_BITS = 11, TSR_CODE_VALUES = 8, TSR_CODE_LOOKS = 5, TSR_CODE_SLACK = TSR_CODE_LOOKS * TSR_CODE_VALUES, TSR_SLICE_INDICES = 511 };

typedef struct tsr_code_entry {
    int8_t value[TSR_CODE_VALUES];
    uint8_t count, bits; /* 0: the first code is longer */
} tsr_code_entry;
typedef struct tsr_code_table {
    tsr_code_entry entry[1 << TSR_CODE_BITS];
} tsr_code_table;

/* A band whose slices all have the same extents. */
typedef struct tsr_even_band {
    int64_t offset;
    int32_t w, h, matrix;
} tsr_even_band;

typedef struct tsr_slices_job {
    const tsr_dirac_slices *slices;
    const tsr_code_table *codes;
    const uint8_t *data;
    const int64_t *starts;
    int64_t first, end, room;
    tsr_dirac_steps steps[2][TSR_DIRAC_LEVELS + 1][4];
    tsr_quantiser quantiser[TSR_SLICE_INDICES]; /* of index k - 255: those below 0 are 0 */
    int32_t even[2], even_bands, even_size[2];  /* luma, chroma: all bands are even; their number; coefficients of a slice */
    tsr_even_band even_band[2][3 * TSR_DIRAC_LEVELS + 1];
    int32_t failed, over; /* `over`: a narrow coefficient left 16 bits */
} tsr_slices_job;

/* 1: a narrow coefficient left 16 bits. Slices first + [begin, end); `buffer` has room for `room` coefficients and TSR_CODE_SLACK more, twice. */
TSR_ISA_DECLARE(int, tsr_dirac_decode_range, const tsr_slices_job *job, int64_t begin, int64_t end, int32_t *buffer)

#endif
