#include "region/region_isa.h"

void TSR_ISA_NAME(tsr_region_reduce_range)(const tsr_regions *regions, tsr_region_rule_kind kind, double threshold, int32_t level, int64_t begin,
                                           int64_t end)
{
    int64_t at[3];
    tsr_region_position(&regions->level[level], begin, at);
    for (int64_t i = begin; i < end; i++, tsr_region_next(&regions->level[level], at)) tsr_region_reduce(regions, kind, threshold, level, at, i);
}

void TSR_ISA_NAME(tsr_region_list_range)(const tsr_regions *regions, const tsr_region_lists *lists, int32_t level, int64_t begin, int64_t end)
{
    int64_t at[3];
    tsr_region_position(&regions->level[level], begin, at);
    for (int64_t i = begin; i < end; i++, tsr_region_next(&regions->level[level], at))
        if (level > regions->brick) tsr_region_list_cell(regions, lists, level, at, i, level == regions->brick + 1);
        else tsr_region_list_brick(regions, lists, i);
}
