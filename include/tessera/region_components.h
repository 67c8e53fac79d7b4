/* tessera/region_components.h: the connected parts of what a quadtree or octree holds, found among its leaves: far fewer than voxels. Two leaves touch
 * where they share a part of a face: each looks for the leaf beside it that is as large or larger, by a point query; smaller ones look themselves.
 * Exact class: the same on every backend. Source: docs/theory/regions.md 10 (leaf neighbours). */
#ifndef TESSERA_REGION_COMPONENTS_H
#define TESSERA_REGION_COMPONENTS_H

#include "tessera/region_tree.h"

#ifdef __cplusplus
extern "C" {
#endif

/* neighbours[leaf][2 axis + side] (4 or 6 each): the leaf across the lower (0) or upper (1) face if it is as large or larger, else -1: smaller leaves,
 * nothing kept, or the end of the volume. Device memory; does not wait. O(top) each. */
TSR_API tsr_status tsr_region_tree_neighbours(const tsr_region_tree *tree, int32_t *neighbours) TSR_CHECKED;

typedef struct tsr_region_component {
    int64_t leaves, voxels;
    int64_t lower[3], upper[3]; /* box of voxels, half-open */
    double centre[3];           /* mean index of its voxels */
    double mean;                /* of `values` over its voxels; 0 without */
} tsr_region_component;

typedef struct tsr_region_components tsr_region_components;
/* Of a tree with leaves, on a context. Leaves that touch belong together, with `equal` != 0 only those of equal `values` (labels; NaN equals nothing).
 * `values`: host memory, one per leaf; NULL: none. Waits; linear time in the leaves beside the queries. RETURNS NEW, host memory. */
TSR_API tsr_status tsr_region_components_create(const tsr_region_tree *tree, const float *values, int equal,
                                                tsr_region_components **components) TSR_CHECKED;
TSR_API void tsr_region_components_destroy(tsr_region_components **components);
TSR_API int64_t tsr_region_components_count(const tsr_region_components *components);
/* The component of every leaf, [leaves], from 0. RETURNS VIEW. */
TSR_API const int32_t *tsr_region_components_labels(const tsr_region_components *components);
/* By number: those of most voxels first, of as many the one with the first leaf. RETURNS VIEW. */
TSR_API const tsr_region_component *tsr_region_components_list(const tsr_region_components *components);

#ifdef __cplusplus
}
#endif
#endif
