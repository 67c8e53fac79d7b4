/* algebra/csg.h: the inside of the algebra of tile lists (host part). */
#ifndef TSR_ALGEBRA_CSG_H
#define TSR_ALGEBRA_CSG_H

#include "tiles/tiles.h"
#include "algebra/csg_ops.h"
#include "tessera/csg.h"

/* TSR_ERROR_UNSUPPORTED or _ARGUMENT unless the list holds float32, and for the first also has no domain; `name` is what the message calls it. */
tsr_status tsr_csg_require(const tsr_tiles *tiles, const char *name);
tsr_status tsr_csg_require_field(const tsr_tiles *tiles, const char *name);
/* The second of both, and the same spacing, band, edge, domain and context. */
tsr_status tsr_csg_require_pair(const tsr_tiles *a, const tsr_tiles *b);

/* Device arrays for n entries in args: keys, first, second, words, flags (at least flag_room), totals. */
typedef struct tsr_csg_work {
    tsr_context *context;
    tsr_csg_args args;
    void *memory;
    size_t bytes;
} tsr_csg_work;
tsr_status tsr_csg_work_take(tsr_context *context, int64_t n, int64_t flag_room, tsr_csg_work *work);
void tsr_csg_work_drop(tsr_csg_work *work);
static inline tsr_status tsr_csg_run(tsr_csg_work *w, tsr_csg_kernel kernel, int64_t items)
{
    return w->context->backend->csg->run(w->context->queue, kernel, &w->args, items);
}

/* tsr_tiles_transform with a progress that may be NULL. */
tsr_status tsr_csg_transform(const tsr_tiles *tiles, const tsr_motion *motion, const tsr_progress *progress, tsr_tiles **result);

/* An empty SORTED list like `like` with room for n tiles. `band` 0 = the same. RETURNS NEW. */
tsr_status tsr_csg_create_like(const tsr_tiles *like, int64_t n, double band, tsr_tiles **made);
/* Links work->args.keys/words[0 .. count) into `to` and sets args.to. */
tsr_status tsr_csg_link(tsr_csg_work *work, tsr_tiles *to);
/* Refreshes, counts the enclosed space, manages; a list without inside or outside becomes empty. The last step of everything that makes a list. */
tsr_status tsr_csg_finish(tsr_tiles *tiles);
/* Keys and sources of the union of both lists in `work` (which has room for it); *count of them. b NULL: those of a, count_a. */
tsr_status tsr_csg_merge_keys(tsr_csg_work *work, const tsr_tiles *a, const tsr_tiles *b, int64_t count_a, int64_t *count);
/* One operation on one (b NULL) or two lists, keys shifted by shift_a and shift_b. */
tsr_status tsr_csg_merge_lists(const tsr_tiles *a, int64_t shift_a, const tsr_tiles *b, int64_t shift_b, int32_t operation, float amount,
                               tsr_tiles **result);
/* A copy with another band: values are clamped to a narrower one, and stay what they were in a wider one (sweeps of reinitialisation fill it). */
tsr_status tsr_csg_with_band(const tsr_tiles *tiles, double band, tsr_tiles **result);
/* 1 if the inside of a list without a domain has no end. `state` is that of the list. */
tsr_status tsr_csg_is_unbounded(const tsr_tiles *tiles, const tsr_tile_state *state, int *unbounded);
/* The sorted keys of the list on the host (malloc; *count of them). */
tsr_status tsr_csg_keys(const tsr_tiles *tiles, uint64_t **keys, int64_t *count);
/* First and last stored tile along each axis (low > high: none), and their number. */
tsr_status tsr_csg_extent(const tsr_tiles *tiles, int64_t low[3], int64_t high[3], int64_t *count);
/* The sorted keys of the stored tiles [low, high] (inclusive, tile coordinates), on the host (malloc). Two binary searches a row of the box on the
 * list's device; only what is in the box is read back. */
tsr_status tsr_csg_box_keys(const tsr_tiles *tiles, const int32_t low[3], const int32_t high[3], uint64_t **keys, int64_t *count);
/* The part of a list given by sorted stored keys (host memory), all of the stored tiles in [low, high]; it makes none beyond this box. */
tsr_status tsr_csg_part(const tsr_tiles *tiles, const uint64_t *keys, int64_t count, const int32_t low[3], const int32_t high[3],
                        tsr_tiles **part);
/* Rotation matrix of axis times angle (row-major 3 x 3). */
void tsr_csg_rotation(tsr_vec3 axis, double angle, double m[9]);

/* ---- labels --------------------------------------------------------------------------------------------------------------------------------- */

typedef struct tsr_csg_labels {
    tsr_csg_work work;    /* args.parent: component of every node; args.entries */
    int64_t count, nodes; /* components; nodes of the union-find */
    uint32_t *roots;      /* host, [count] first node */
    int64_t *voxels;      /* host, [count] */
    void *memory;
    size_t bytes;
    uint32_t unbounded; /* the component of the unbounded space, or UINT32_MAX */
} tsr_csg_labels;
/* Components of the inside (wanted 1) or the outside (0). */
tsr_status tsr_csg_label(const tsr_tiles *tiles, int32_t wanted, int32_t connectivity, tsr_csg_labels *labels);
void tsr_csg_labels_drop(tsr_csg_labels *labels);
/* Of several components (6-connected, as the pieces of a mesh are) those that have a voxel where `body` is inside, too; the others become outside, as by
 * tsr_tiles_keep, and outside that is enclosed becomes inside. *tiles is REPLACED where that changes it. */
tsr_status tsr_csg_keep_with(tsr_tiles **tiles, const tsr_tiles *body);

#endif
