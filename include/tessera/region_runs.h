/* tessera/region_runs.h: a region tree as runs of voxels along x: run-length encoding of what a compaction found, or of the labels of a segmentation.
 * Host only. Class: exact. Source: [Ziegler10 9.11] names it; docs/theory/regions.md 10. */
#ifndef TESSERA_REGION_RUNS_H
#define TESSERA_REGION_RUNS_H

#include "tessera/region_tree.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tsr_region_run {
    int64_t start;  /* memory index of its first voxel, (z ny + y) nx + x */
    int64_t length; /* voxels, all in one row */
    int64_t leaf;   /* of its first voxel */
} tsr_region_run;

/* The longest runs of voxels that lie in leaves, ascending by start; two that touch within a row are one unless `values` (one per leaf; NULL: none) differ
 * across the border. BORROWS a host tree with a list of leaves. Time and memory: rows of leaves. RETURNS NEW array, for tsr_region_runs_destroy. */
TSR_API tsr_status tsr_region_runs(const tsr_region_tree *tree, const float *values, tsr_region_run **runs, int64_t *count) TSR_CHECKED;
TSR_API void tsr_region_runs_destroy(tsr_region_run **runs);

#ifdef __cplusplus
}
#endif
#endif
