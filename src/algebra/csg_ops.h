/* algebra/csg_ops.h: what a backend provides for the algebra and the editing of tile lists.
 *
 * Nearly all of it is per-item or per-tile work that needs no communication within a block: the bodies stand once, in csg_kernels.h, and a
 * backend only runs them over a range. Two operations on whole lists have their own form on each backend: merging (one linear pass of two
 * pointers on a CPU, ranks by binary search on a GPU) and linking (nine walking rows, or 27 searches a tile). */
#ifndef TSR_ALGEBRA_CSG_OPS_H
#define TSR_ALGEBRA_CSG_OPS_H

#include "tiles/tiles_ops.h"
#include "algebra/csg_math.h"
#include "algebra/selection.h"

/* Bodies run once per item. */
#define TSR_CSG_ITEMS(X)                                                                                                                       \
    X(borders)                                                                                                                                 \
    X(sub_borders)                                                                                                                             \
    X(probe_borders)                                                                                                                           \
    X(locate)                                                                                                                                  \
    X(locate_entry) X(read_borders) X(write_borders) X(activity_begin) X(activity_end) X(enclosed) X(enclosed_sums) X(entry_of) X(label_begin) \
        X(label_join) X(label_gaps) X(label_flatten) X(label_roots) X(label_count) X(label_number) X(label_tally) X(keep_where) X(keep_mark) X(keep_borders) X(measure)     \
            X(row_ends) X(row_keys) X(selection_near) X(selection_keys) X(carve_borders) X(locate_moved)
/* Bodies run per tile: voxels first, first + step, ... */
#define TSR_CSG_TILES(X) \
    X(combine)           \
    X(shape) X(resample) X(read) X(write) X(count) X(positive) X(conflict) X(activity) X(differs) X(ball) X(keep) X(selection) X(carve) X(label_masks) X(settle) X(settle_back)

typedef enum tsr_csg_kernel {
#define X(name) TSR_CSG_##name##_kernel,
    TSR_CSG_ITEMS(X) TSR_CSG_TILES(X)
#undef X
} tsr_csg_kernel;

/* Arguments of all bodies; each says in csg_kernels.h what it reads. Pointers are device memory. */
typedef struct tsr_csg_args {
    tsr_tile_pool a, b, to;
    int64_t shift_a, shift_b; /* added to the keys of a and b: translation by whole tiles */
    int64_t count;            /* entries of keys, first, second, words, flags, pages */
    uint64_t *keys;
    uint32_t *first, *second; /* ids in a and b (stored or static) */
    uint32_t *words;          /* border words: bit d = 1: the absent neighbour in direction d is INSIDE */
    uint32_t *flags;
    float *pages;              /* [count][edge^3] */
    int32_t operation, wanted; /* wanted: 1 = labels of the inside, 0 = of the outside */
    float amount, scale;       /* of BLEND and MIX; of resampling */
    tsr_csg_shape shape;
    double matrix[12]; /* resampling: source index = matrix * target index */
    uint32_t *parent;  /* [tsr_csg_nodes] union-find: voxels, boxes of absent tiles, the space beyond */
    uint32_t *entries; /* [capacity of a] list position of a stored id */
    uint32_t *roots;   /* [root_room] in order */
    uint64_t *tallies; /* [root_count] voxels */
    int64_t *totals;   /* counters */
    int32_t root_room, root_count;
    double *sums;     /* measure: [count * edge][6] */
    int64_t *corners; /* measure: [4] vertices, edges, faces, cells */
    float width;      /* measure: reach of the smeared delta in voxels; carving: of the wall at the faces of the selection */
    float reach;      /* selection_near: how far from the faces a tile is near them */
    tsr_selection_field selection;
} tsr_csg_args;

typedef struct tsr_csg_ops {
    tsr_status (*run)(tsr_queue *queue, tsr_csg_kernel kernel, const tsr_csg_args *args, int64_t items);
    /* The union of the keys of a and b (shifted), in order, into keys, first, second (room for both lists); their number into totals[0]. flags has
     * room for as many entries as b. */
    tsr_status (*merge)(tsr_queue *queue, const tsr_csg_args *args);
    /* Makes `to` (cleared, capacity for count + 2 ids) the list of keys[0 .. count): keys, ids, neighbour rows with the signs of words. Values are left
     * to the caller, who then refreshes and manages. */
    tsr_status (*link)(tsr_queue *queue, const tsr_csg_args *args);
} tsr_csg_ops;

#endif
