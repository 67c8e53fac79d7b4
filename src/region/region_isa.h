/* region/region_isa.h: loops over cells of region pyramids, built once per SIMD variant: they count bits. */
#ifndef TSR_REGION_REGION_ISA_H
#define TSR_REGION_REGION_ISA_H

#include "device/isa.h"
#include "region/region_ops.h"

/* Cells begin .. end - 1 of level > brick. */
TSR_ISA_DECLARE(void, tsr_region_reduce_range, const tsr_regions *regions, tsr_region_rule_kind kind, double threshold, int32_t level, int64_t begin,
                int64_t end)
/* Entries of the cells begin .. end - 1 of level >= brick. */
TSR_ISA_DECLARE(void, tsr_region_list_range, const tsr_regions *regions, const tsr_region_lists *lists, int32_t level, int64_t begin, int64_t end)

#endif
