/* tessera/region_batch.h: the leaves of a region tree as batches of work: the most important first, until a budget is spent. Rendering on demand: a
 * map says how much each pixel matters (saliency), a tree of the pixels that matter at all (TSR_REGION_CLASSES of a range) turns them into few squares,
 * and the costly renderer runs once per square. Host only. Class: exact. Source: [Ziegler10 8.7.2], docs/theory/regions.md 10. */
#ifndef TESSERA_REGION_BATCH_H
#define TESSERA_REGION_BATCH_H

#include "tessera/region_tree.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tsr_region_batch {
    int64_t leaf;   /* number in the tree's list */
    float saliency; /* of the leaf */
    int64_t work;   /* pixels (voxels) of this batch and all before it */
} tsr_region_batch;

/* batches[leaves]: by descending saliency, larger ones first among equals, then in the order of the tree. `saliency` has a number per leaf, as
 * tsr_region_tree_means gives them; BORROWS all; the tree must live on the host. TSR_ERROR_ARGUMENT for NaN. O(n log n). */
TSR_API tsr_status tsr_region_batches(const tsr_region_tree *tree, const float *saliency, tsr_region_batch *batches) TSR_CHECKED;
/* How many of the first batches cost at most `budget` pixels together. */
TSR_API int64_t tsr_region_batches_within(const tsr_region_batch *batches, int64_t count, int64_t budget);

#ifdef __cplusplus
}
#endif
#endif
