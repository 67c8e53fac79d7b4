/* vision/depth/fusion_ops.h: what a backend provides for fusion. All pointers are device memory of the queue. */
#ifndef TSR_VISION_FUSION_OPS_H
#define TSR_VISION_FUSION_OPS_H

#include "device/backend.h"
#include "vision/depth/fusion_math.h"

typedef struct tsr_fusion_job {
    tsr_fusion_view view;
    tsr_fusion_table table;
    float *pool;       /* [bricks][TSR_FUSION_PARTS][TSR_FUSION_VOXELS] */
    uint32_t reached;  /* integrate: so many of table.reached */
    uint32_t first, fresh; /* clear: so many bricks from the first on are new */
    const uint64_t *old_keys; /* rehash: from this table, */
    const uint32_t *old_bricks;
    uint32_t old_size;
} tsr_fusion_job;

typedef struct tsr_fusion_ops {
    tsr_status (*reach)(tsr_queue *queue, const tsr_fusion_job *job);     /* enters bricks, counts */
    tsr_status (*integrate)(tsr_queue *queue, const tsr_fusion_job *job); /* the map into the bricks that it reached */
    tsr_status (*clear)(tsr_queue *queue, const tsr_fusion_job *job);     /* new bricks: no weight, no colour */
    tsr_status (*rehash)(tsr_queue *queue, const tsr_fusion_job *job);
} tsr_fusion_ops;

/* Voxel i of the new bricks. */
TSR_HD void tsr_fusion_clear_at(const tsr_fusion_job *j, int64_t i)
{
    float *p = j->pool + (j->first + i / TSR_FUSION_VOXELS) * TSR_FUSION_PARTS * TSR_FUSION_VOXELS + i % TSR_FUSION_VOXELS;
    p[0] = p[TSR_FUSION_VOXELS] = 0.0f;
    for (int k = 2; k < TSR_FUSION_PARTS; k++) p[k * TSR_FUSION_VOXELS] = -1.0f;
}
TSR_HD void tsr_fusion_rehash_at(const tsr_fusion_job *j, int64_t i)
{
    const uint64_t key = j->old_keys[i];
    if (key == TSR_FUSION_EMPTY) return;
    uint32_t at = (uint32_t)tsr_fusion_hash(key) & (j->table.size - 1);
    while (tsr_fusion_claim(&j->table.keys[at], TSR_FUSION_EMPTY, key) != TSR_FUSION_EMPTY) at = (at + 1) & (j->table.size - 1);
    j->table.bricks[at] = j->old_bricks[i];
}

#endif
