/* pyramid/pyramid_ops.h: what a backend provides for HistoPyramids. All pointers are device memory of the queue. */
#ifndef TSR_PYRAMID_PYRAMID_OPS_H
#define TSR_PYRAMID_PYRAMID_OPS_H

#include "device/backend.h"
#include "pyramid/tree.h"

typedef struct tsr_pyramid_ops {
    tsr_status (*build)(tsr_queue *queue, const tsr_tree *tree, const tsr_tree_classifier *classifier);
    /* keys NULL: first, first + 1, ... */
    tsr_status (*select)(tsr_queue *queue, const tsr_tree *tree, const uint64_t *keys, uint64_t first, int64_t count, tsr_pyramid_entry *entries);
    tsr_status (*rank)(tsr_queue *queue, const tsr_tree *tree, const int64_t *voxels, int64_t count, uint64_t *keys);
} tsr_pyramid_ops;

#endif
