/* pyramid/region_tree.h: the inside of region pyramids and trees. */
#ifndef TSR_PYRAMID_REGION_TREE_H
#define TSR_PYRAMID_REGION_TREE_H

#include "pyramid/classifier.h"
#include "pyramid/region_ops.h"

struct tsr_region_pyramid {
    tsr_context *context;
    tsr_region_options options;
    tsr_size3 size;
    tsr_geometry geometry; /* of the first channel */
    tsr_regions regions;
    void *memory;
    int64_t bytes;
    int built;
};

struct tsr_region_tree {
    tsr_context *context; /* NULL: host */
    tsr_region_info info;
    tsr_geometry geometry;
    uint64_t *leaves;
    int32_t *nodes;
};

/* Tree with room for its lists. */
tsr_status tsr_region_tree_create(tsr_context *context, const tsr_region_info *info, const tsr_geometry *geometry, tsr_region_tree **tree);
tsr_region_view tsr_region_view_of(const tsr_region_tree *tree);

#endif
