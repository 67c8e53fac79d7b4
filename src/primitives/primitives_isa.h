/* primitives/primitives_isa.h: the loops of the CPU backend that are built once per SIMD variant. */
#ifndef TSR_PRIMITIVES_PRIMITIVES_ISA_H
#define TSR_PRIMITIVES_PRIMITIVES_ISA_H

#include "device/isa.h"
#include "primitives/primitives_ops.h"

enum { TSR_CHUNK = 65536 }; /* elements of one piece of work of scan, select and count */

/* Sum bits or key of up to TSR_TILE_ELEMENTS elements. */
TSR_ISA_DECLARE(uint64_t, tsr_reduce_tile, tsr_reduction reduction, tsr_dtype dtype, const void *data, int64_t count)
/* Sum of float64 in 1024 lanes of any length. */
TSR_ISA_DECLARE(double, tsr_reduce_lanes, const double *data, int64_t count)
/* Sum of the elements (u8, u32, u64). */
TSR_ISA_DECLARE(uint64_t, tsr_scan_total, tsr_dtype dtype, const void *data, int64_t count)
TSR_ISA_DECLARE(void, tsr_scan_chunk, tsr_dtype from, const void *data, tsr_dtype to, void *sums, int64_t count, int inclusive, uint64_t before)
/* Where segments begin: a byte or a bit per element. */
typedef struct tsr_heads {
    const uint8_t *flags; /* NULL: bits */
    const uint32_t *bits;
} tsr_heads;
/* Sum of [begin, end) from its last head on; *any: it has one. */
TSR_ISA_DECLARE(uint64_t, tsr_segment_tail, const tsr_segment_scan_job *job, const tsr_heads *heads, int64_t begin, int64_t end, int *any)
TSR_ISA_DECLARE(void, tsr_segment_chunk, const tsr_segment_scan_job *job, const tsr_heads *heads, int64_t begin, int64_t end, uint64_t before)
/* Kept elements of data[begin, end). */
TSR_ISA_DECLARE(uint64_t, tsr_select_count, tsr_keep keep, tsr_dtype dtype, const void *data, int64_t begin, int64_t end)
/* Writes what job keeps of [begin, end) to out[at...], not beyond the capacity. */
TSR_ISA_DECLARE(void, tsr_select_chunk, const tsr_select_job *job, int64_t begin, int64_t end, uint64_t at)

#endif
