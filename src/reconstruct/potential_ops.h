/* reconstruct/potential_ops.h: what a backend provides for point clouds: building the octree, the potential in tiles, sampling a tile list. Pointers
 * are device memory; no call synchronises or allocates. */
#ifndef TSR_RECONSTRUCT_POTENTIAL_OPS_H
#define TSR_RECONSTRUCT_POTENTIAL_OPS_H

#include "device/backend.h"
#include "tiles/tile_pool.h"
#include "reconstruct/ball.h"
#include "reconstruct/points_lone.h"
#include "reconstruct/potential.h"

/* Box of the points that are finite; bad = index of the first that is not, or the number of points. */
typedef struct tsr_points_bounds {
    float lower[3], upper[3];
    int64_t bad;
} tsr_points_bounds;

/* Tiles whose pages of (2^log2_edge)^3 floats, or uint16_t if `coded`, are to be filled: those with the ids, or without ids 0, 1, ... count - 1; tile `id` has key keys[id] and
 * its page at pages + id * size. From a pool (state not NULL) the ids are those of the current list or of the last created tiles, as the device
 * knows them, none while the list waits for ids or the run has halted. */
typedef struct tsr_page_list {
    const uint32_t *ids;
    tsr_keys keys;
    int32_t count, log2_edge;
    int32_t coded; /* the potential only */
    float *pages;
    const tsr_tile_state *state;
    const uint32_t *listed[2]; /* of the pool; NULL: the created ones */
} tsr_page_list;

/* Payload pages of a pool. */
TSR_HD tsr_page_list tsr_pages_of_pool(const tsr_tile_pool *pool, int all)
{
    tsr_page_list list;
    memset(&list, 0, sizeof list);
    list.ids = pool->created_ids;
    list.keys = tsr_pool_keys_of(pool);
    list.log2_edge = pool->log2_edge;
    list.coded = pool->coded;
    list.pages = pool->payload;
    list.state = pool->state;
    for (int i = 0; i < 2; i++) list.listed[i] = all ? pool->id[i] : 0;
    return list;
}
/* Reads count and ids where they lie on the device. */
TSR_HD void tsr_pages_open(tsr_page_list *list)
{
    if (!list->state) return;
    const int idle = tsr_tile_stopped(list->state);
    if (list->listed[0]) list->ids = list->listed[list->state->list];
    list->count = idle ? 0 : list->listed[0] ? list->state->count : list->state->created;
}

/* Samples a list: points in fixed units of a cube that is the domain of the list, 2^level voxels per axis. */
typedef struct tsr_sample_job {
    const uint32_t *fixed[3];
    int64_t points;
    int32_t level;
    int32_t with_sign; /* phi instead of |phi| */
    float *distance;   /* [points] |phi|, trilinear */
} tsr_sample_job;

typedef struct tsr_potential_ops {
    tsr_status (*bounds)(tsr_queue *queue, const float *positions, int64_t points, tsr_points_bounds *bounds);
    /* The steps of building in their order; what lies between (sort, select, scans) is the caller's. */
    tsr_status (*keys)(tsr_queue *queue, const tsr_tree_build *build);  /* keys, order */
    tsr_status (*fixed)(tsr_queue *queue, const tsr_tree_build *build); /* fixed, first */
    tsr_status (*others)(tsr_queue *queue, const tsr_tree_build *build, tsr_lone_rule rule); /* first = 1 where a point has others near it */
    tsr_status (*leaves)(tsr_queue *queue, const tsr_tree_build *build,
                         int32_t axis);                                 /* leaf_sums[axis]; axis 0: also leaf_keys, radii, start[leaves] */
    tsr_status (*count)(tsr_queue *queue, const tsr_tree_build *build); /* counts */
    tsr_status (*nodes)(tsr_queue *queue, const tsr_tree_build *build); /* centre, walk, radius */

    tsr_status (*evaluate)(tsr_queue *queue, const tsr_tree_view *tree, const tsr_potential_params *params, const tsr_page_list *pages);
    tsr_status (*balls)(tsr_queue *queue, const tsr_tree_view *tree, const tsr_ball_params *params, const tsr_page_list *pages);
    /* Pages made elsewhere: the keys of tiles for it, and the pages (in order), of 2^log2_words words of 32 bits each, to the places of their
     * tiles. */
    tsr_status (*gather_keys)(tsr_queue *queue, tsr_keys key_of, const uint32_t *ids, int32_t count, uint64_t *keys);
    tsr_status (*scatter_pages)(tsr_queue *queue, const float *pages, const uint32_t *ids, int32_t count, int32_t log2_words, float *payload);
    tsr_status (*sample)(tsr_queue *queue, const tsr_tile_pool *pool, const tsr_sample_job *job);
    /* Word k of item i of `to` is word k of item places[i] of `from`; items of `width` words. */
    tsr_status (*gather)(tsr_queue *queue, const uint32_t *from, const uint32_t *places, int64_t count, int32_t width, uint32_t *to);
    /* Keys of the (2 reach + 1)^3 tiles round the cell of each leaf at `depth`, 64-bit tile keys (TSR_KEY_END beyond the domain of 2^depth tiles). */
    tsr_status (*tiles_round)(tsr_queue *queue, const tsr_tree_build *build, int32_t depth, int32_t reach, uint64_t *keys);
    /* first[i] = 1 where a sorted key without its lowest `shift` bits is the first of its value, and the key is not TSR_KEY_END. */
    tsr_status (*unique)(tsr_queue *queue, const uint64_t *sorted, int64_t count, int32_t shift, uint8_t *first);
} tsr_potential_ops;

extern const tsr_potential_ops tsr_potential_cpu;

#endif
