/* tessera/max_tree.h: attribute filters of grey volumes by their max-tree.
 *
 * The nodes are the connected components of the sets { f >= t } that have a voxel of value t; the parent of a component is the next larger one. Filters keep
 * components by an attribute of their shape or size and never move an edge: what stays has its outline. Built once, a tree answers any number of filters;
 * the filtered volume goes to tsr_mip_build or tsr_mip_dense_create, so that a slider over the threshold changes the picture without a second tree.
 * Host work on one thread, class exact. Immutable after creation: any number of threads may filter.
 * Source: M. Westenberg, J. Roerdink, M. Wilkinson, Volumetric attribute filtering and interactive visualization using the max-tree representation, 2007 (rules,
 * attributes); C. Berger et al., Effective component tree computation, 2007 (construction); docs/theory/mip.md 9. */
#ifndef TESSERA_MAX_TREE_H
#define TESSERA_MAX_TREE_H

#include "tessera/volume.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tsr_max_tree tsr_max_tree;

typedef struct tsr_max_tree_options {
    size_t struct_size;
    int32_t neighbours; /* that connect voxels: 6, 18 or 26; 0 = 26 */
    tsr_progress progress;
} tsr_max_tree_options;
#define TSR_MAX_TREE_OPTIONS TSR_SIZED(tsr_max_tree_options)

/* The tree of a u8 or u16 volume of at most 2^32 - 2 voxels, of any device (copied to the host while it is built). RETURNS NEW; the volume is BORROWED. Time
 * of a counting sort and a union-find with ranks: near-linear. 17 bytes per voxel while it is built, 4 per voxel and 16 per node after. TSR_ERROR_ARGUMENT
 * for other element types; TSR_ERROR_CANCELLED. */
TSR_API tsr_status tsr_max_tree_create(const tsr_volume *volume, const tsr_max_tree_options *options, tsr_max_tree **tree) TSR_CHECKED;
TSR_API void tsr_max_tree_destroy(tsr_max_tree **tree);

typedef struct tsr_max_tree_info {
    tsr_size3 size;
    tsr_dtype dtype;
    int32_t neighbours;
    int64_t nodes, leaves; /* node 0 is the root: all voxels; parents come before their children */
} tsr_max_tree_info;
TSR_API const tsr_max_tree_info *tsr_max_tree_describe(const tsr_max_tree *tree);
/* Per node, RETURNS VIEW: parent (the root's is 0), value; per voxel: its node. */
TSR_API const uint32_t *tsr_max_tree_parents(const tsr_max_tree *tree);
TSR_API const uint16_t *tsr_max_tree_values(const tsr_max_tree *tree);
TSR_API const uint32_t *tsr_max_tree_voxels(const tsr_max_tree *tree);

/* Of a component C of value t, with its parent's value s (0 for the root). */
typedef enum tsr_max_tree_attribute {
    TSR_MAX_TREE_VOLUME = 0,    /* voxels */
    TSR_MAX_TREE_HEIGHT,        /* contrast: max f over C - s */
    TSR_MAX_TREE_MASS,          /* sum of f - s over C */
    TSR_MAX_TREE_EXTENT,        /* longest side of its box, voxels */
    TSR_MAX_TREE_NONCOMPACTNESS /* (sum |x - mean|^2 + V / 4) / V^(5/3): 0.25 for a cube, 0.231 for a ball, more for tubes and sheets. Not increasing */
} tsr_max_tree_attribute;

/* values[nodes] of an attribute. */
TSR_API tsr_status tsr_max_tree_attributes(const tsr_max_tree *tree, tsr_max_tree_attribute attribute, double *values) TSR_CHECKED;

/* What becomes of components with attribute < threshold, and of others inside them. All but SUBTRACTIVE are equal for increasing attributes, those of which
 * no component has more than what it lies in: all but NONCOMPACTNESS. */
typedef enum tsr_max_tree_rule {
    TSR_MAX_TREE_DIRECT = 0, /* they take the value of what they lie in */
    TSR_MAX_TREE_MIN,        /* with them all components inside them */
    TSR_MAX_TREE_MAX,        /* they go only if no component inside them stays */
    TSR_MAX_TREE_SUBTRACTIVE /* components inside them are lowered by the same amount: keeps contrasts */
} tsr_max_tree_rule;

typedef struct tsr_max_tree_filter_options {
    size_t struct_size;
    tsr_max_tree_attribute attribute;
    tsr_max_tree_rule rule;
    double threshold; /* the least attribute that stays; the root stays always */
} tsr_max_tree_filter_options;
#define TSR_MAX_TREE_FILTER_OPTIONS TSR_SIZED(tsr_max_tree_filter_options)

/* The filtered volume on `context` (NULL: host memory), with the metadata of the source. RETURNS NEW. *kept (may be NULL): nodes that stay. */
TSR_API tsr_status tsr_max_tree_filter(tsr_context *context, const tsr_max_tree *tree, const tsr_max_tree_filter_options *options,
                                       tsr_volume **filtered, int64_t *kept) TSR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
