#include "pyramid/region_isa.h"

void TSR_ISA_NAME(tsr_region_reduce_range)(const tsr_regions *regions, tsr_region_rule_kind kind, double threshold, int32_t level, int64_t begin,
                                           int64_t end)
{
    for (int64_t i = begin; i < end; i++) tsr_region_reduce(regions, kind, threshold, level, i);
}

void TSR_ISA_NAME(tsr_region_list_range)(const tsr_regions *regions, const tsr_region_lists *lists, int32_t level, int64_t begin, int64_t end)
{
    if (level > regions->brick) {
        for (int64_t i = begin; i < end; i++) tsr_region_list_cell(regions, lists, level, i);
        return;
    }
    for (int64_t i = begin; i < end; i++)
        if (regions->words[i]) tsr_region_list_brick(regions, lists, i);
}
