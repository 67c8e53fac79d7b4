/* edit/attract_ops.h: what a backend provides for attraction by points. Pointers are device memory; no call synchronises or allocates. */
#ifndef TSR_EDIT_ATTRACT_OPS_H
#define TSR_EDIT_ATTRACT_OPS_H

#include "edit/attract.h"
#include "reconstruct/potential_ops.h"

/* Pages of velocities (tsr_pull_pack) of tiles with sorted keys. */
typedef struct tsr_attract_cache {
    const uint64_t *keys;
    const uint32_t *pages; /* [count][edge^3] */
    int32_t count;
} tsr_attract_cache;

/* Values of a part put back into pages of the whole where its voxels lie within the radius. */
typedef struct tsr_attract_blend {
    const float *part;     /* field of the part, pages of all ids */
    const uint32_t *ids;   /* [count] of the tiles in the part, stored or static */
    const uint32_t *words; /* [count][edge^3] */
    float *pages;          /* [count][edge^3] before and after */
    float *change;         /* [count] largest |after - before| of a voxel that is or was in the band */
    int32_t count, log2_edge;
    float band;
} tsr_attract_blend;

typedef struct tsr_attract_ops {
    /* tsr_attract_within of tiles with these keys. */
    tsr_status (*within)(tsr_queue *queue, const tsr_tree_view *tree, const tsr_attract_params *params, const uint64_t *keys, int64_t count,
                           int32_t log2_edge, uint8_t *within);
    /* Fills pages (of 32-bit words): from the cache where it has the tile, else by walks through the tree. */
    tsr_status (*fill)(tsr_queue *queue, const tsr_tree_view *tree, const tsr_attract_params *params, const tsr_attract_cache *cache,
                       const tsr_page_list *pages);
    tsr_status (*blend)(tsr_queue *queue, const tsr_attract_blend *blend);
} tsr_attract_ops;

/* Value of voxel i of tile `at` after blending, and how much it changed. */
TSR_HD float tsr_attract_blended(const tsr_attract_blend *b, int64_t at, int32_t i, float *change)
{
    const int32_t shift = 3 * b->log2_edge;
    const int64_t own = (at << shift) + i;
    const float before = b->pages[own], after = b->part[((int64_t)b->ids[at] << shift) + i];
    *change = 0.0f;
    if (!b->words[own]) return before;
    if (tsr_absf(before) < b->band || tsr_absf(after) < b->band) *change = tsr_absf(after - before);
    return after;
}

#endif
