/* region/region_tree.h: the inside of region pyramids and trees. */
#ifndef TSR_REGION_REGION_TREE_H
#define TSR_REGION_REGION_TREE_H

#include "histopyramid/classifier.h"
#include "region/region_ops.h"

struct tsr_region_pyramid {
    tsr_context *context;
    tsr_region_options options;
    tsr_size3 size;
    tsr_geometry geometry; /* of the first channel */
    tsr_regions regions;
    tsr_region_rule rule; /* of the last build */
    void *memory;
    int64_t bytes;
    int built;
};

struct tsr_region_tree {
    tsr_context *context; /* NULL: host */
    tsr_region_info info;
    tsr_geometry geometry;
    uint64_t *leaves; /* NULL: nodes only */
    int32_t *nodes;
    int64_t leaf_room, node_room; /* bytes */
    tsr_region_entry *table;      /* of the cap, or NULL */
};

/* Tree with room for its lists. */
tsr_status tsr_region_tree_create(tsr_context *context, const tsr_region_info *info, const tsr_geometry *geometry, tsr_region_tree **tree);
tsr_region_view tsr_region_view_of(const tsr_region_tree *tree);

/* Leaves, nodes and root from the counts of the top. */
void tsr_region_count(const int64_t counts[2], tsr_region_info *info);
tsr_status tsr_region_tree_require(const tsr_region_tree *tree, int64_t count, const void *from, const void *to);

#endif
