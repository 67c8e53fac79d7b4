/* histopyramid/pyramid_ops.h: what a backend provides for HistoPyramids. All pointers are device memory of the queue. */
#ifndef TSR_HISTOPYRAMID_PYRAMID_OPS_H
#define TSR_HISTOPYRAMID_PYRAMID_OPS_H

#include "device/backend.h"
#include "histopyramid/levels.h"
#include "histopyramid/list_points.h"

typedef struct tsr_pyramid_ops {
    tsr_status (*build)(tsr_queue *queue, const tsr_tree *tree, const tsr_class_set *classes);
    tsr_status (*select)(tsr_queue *queue, const tsr_tree *tree, const tsr_class_set *classes, const uint64_t *keys, int64_t count,
                         tsr_pyramid_entry *entries);
    tsr_status (*extract)(tsr_queue *queue, const tsr_tree *tree, const tsr_class_set *classes, const tsr_tree_list *list);
    tsr_status (*rank)(tsr_queue *queue, const tsr_tree *tree, const tsr_class_set *classes, const int64_t *voxels, int64_t count, uint64_t *keys);
    tsr_status (*firsts)(tsr_queue *queue, const tsr_tree *tree, const tsr_class_set *classes, int64_t batch, uint64_t *keys);
    tsr_status (*points)(tsr_queue *queue, const tsr_points_job *job);
    tsr_status (*matrix)(tsr_queue *queue, const tsr_tree *tree, const tsr_matrix_job *job);
    tsr_status (*product)(tsr_queue *queue, const tsr_product_job *job);
    /* jobs[0 .. count) one after another: each reads what the one before wrote */
    tsr_status (*levels)(tsr_queue *queue, tsr_level_rule rule, const tsr_level_job *jobs, int32_t count);
} tsr_pyramid_ops;

/* In files of their own. */
tsr_status tsr_levels_cpu(tsr_queue *queue, tsr_level_rule rule, const tsr_level_job *jobs, int32_t count);
#ifdef __cplusplus
tsr_status tsr_levels_cuda(tsr_queue *queue, tsr_level_rule rule, const tsr_level_job *jobs, int32_t count);
#endif

#endif
