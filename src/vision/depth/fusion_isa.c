#include "vision/depth/fusion_isa.h"

void TSR_ISA_NAME(tsr_fusion_reach_range)(const tsr_fusion_job *job, int64_t begin, int64_t end)
{
    const tsr_fusion_job own = *job;
    uint64_t last = TSR_FUSION_EMPTY;
    for (int64_t i = begin; i < end; i++) tsr_fusion_reach_pixel(&own.view, &own.table, i, &last);
}

void TSR_ISA_NAME(tsr_fusion_integrate_range)(const tsr_fusion_job *job, int64_t begin, int64_t end)
{
    const tsr_fusion_job own = *job;
    for (int64_t i = begin; i < end; i++) {
        const uint32_t at = own.table.reached[i];
        float *brick = own.pool + (int64_t)own.table.bricks[at] * TSR_FUSION_PARTS * TSR_FUSION_VOXELS;
        int32_t place[3];
        tsr_fusion_place(own.table.keys[at], place);
        for (int32_t row = 0; row < TSR_FUSION_EDGE * TSR_FUSION_EDGE; row++) {
            float q[3], z;
            tsr_fusion_row(&own.view, place, row, q, &z);
            for (int32_t n = 0; n < TSR_FUSION_EDGE; n++) tsr_fusion_voxel(&own.view, q, z, n, brick + row * TSR_FUSION_EDGE + n);
        }
    }
}
