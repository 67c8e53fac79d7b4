/* mip/mip_pyramid.h: the inside of a pyramid for maximum intensity projection. */
#ifndef TSR_MIP_MIP_PYRAMID_H
#define TSR_MIP_MIP_PYRAMID_H

#include "histopyramid/detail_ops.h"

/* One residual of one level: how many coefficients have a larger effect, and how many this one. */
typedef struct tsr_mip_rank {
    uint64_t effect;
    int64_t before, count;
} tsr_mip_rank;

struct tsr_mip {
    tsr_context *context;
    tsr_mip_info info;
    tsr_geometry geometry;
    double slope, intercept;
    int8_t point[TSR_MIP_POINTS][4];
    tsr_details details;
    tsr_detail_brick *brick; /* host copy, memory order */
    tsr_mip_rank *rank;      /* by effect, descending, one per effect */
    int64_t ranks;
    uint64_t *ties;                                    /* device, per bin */
    int64_t selected;                                  /* K of details.to; -1 = nothing yet */
    int64_t selected_from;                             /* K of details.from */
    tsr_detail_chunk *chunk;                           /* lists, device: the selected coefficients */
    int64_t chunks, chunk_bytes, chunk_from, chunk_to; /* for these selections; chunk_to -1 = none yet */
    uint32_t *most;                                    /* device, per brick: largest selected value */
    int64_t order_from, order_to;                      /* selections of details.order; order_to -1 = none yet */
};

/* The element's points, checked. `a` gets points, count and cube2. */
tsr_status tsr_mip_element_points(tsr_mip_element element, const int8_t (*points)[3], int32_t count, tsr_adjunction *a);
tsr_status tsr_mip_check_levels(tsr_size3 size, int32_t levels);
/* Extents of the levels, cells, and widths of places; the format must hold them. */
tsr_status tsr_mip_plan(tsr_mip *mip);

/* For the key GREEDY: a->code from a->level (device memory both; the caller's to release, after a failure too). */
tsr_status tsr_mip_order_greedily(const tsr_mip *mip, tsr_adjunction *a, const tsr_progress *progress);

/* An empty pyramid by the options, of which of the volume all but the voxels is asked for; `a` gets the element. The caller destroys *result after a failure, too. */
tsr_status tsr_mip_create(tsr_context *context, const tsr_volume *volume, const tsr_mip_options *options, tsr_mip **result, tsr_adjunction *a);
/* Builds without hiding and measuring. */
tsr_status tsr_mip_build_plain(tsr_context *context, const tsr_volume *volume, const tsr_mip_options *options, tsr_mip **mip);
/* Device memory for bricks, coefficients, runs and the selection, by the numbers in details, where there is none yet. */
tsr_status tsr_mip_allocate(tsr_mip *mip);
/* After bricks (host and device), runs, places and residuals are there: drawing order, ranks from the counts per [level][residual]. */
tsr_status tsr_mip_complete(tsr_mip *mip, const uint64_t *histogram);

tsr_status tsr_mip_make_ranks(tsr_mip *mip, const uint64_t *histogram);

/* details.to = the first `count` coefficients; details.from = none, or what was selected before (refine). Waits where `count` changed. */
tsr_status tsr_mip_select(tsr_mip *mip, int64_t count, int refine);
/* The same over parts of one pyramid: equal tables of bricks, of which each part has some; `ranked` has the ranks of all. */
tsr_status tsr_mip_select_parts(tsr_mip *const *parts, int32_t parts_count, const tsr_mip *ranked, int64_t count, int refine);

/* Its steps, for parts that come one after another. bar_of: the residuals from which on the first `count` lie, c->rest of those equal to them too.
 * bar_choose: details.to = what lies above; ties (host, per bin, may be NULL) += what is equal. bar_bin: from all ties the bin that c->rest ends in.
 * bar_ties: the ties before that bin, and of it c->rest, which becomes what the parts did not have. bar_apply: all of that. */
int64_t tsr_mip_bins(const tsr_mip *mip);
void tsr_mip_bar_of(const tsr_mip *ranked, int64_t count, tsr_detail_choice *c);
tsr_status tsr_mip_bar_choose(tsr_mip *mip, const tsr_detail_choice *c, uint64_t *ties);
void tsr_mip_bar_bin(const tsr_mip *mip, const uint64_t *ties, tsr_detail_choice *c);
tsr_status tsr_mip_bar_ties(tsr_mip *const *parts, int32_t count, tsr_detail_choice *c);
tsr_status tsr_mip_bar_apply(tsr_mip *const *parts, int32_t count, tsr_detail_choice *c);
/* Lists: mip->chunk of the selection. Waits where that changed. */
tsr_status tsr_mip_make_chunks(tsr_mip *mip);
/* Bricks: details.order of the selection. Waits where that changed. */
tsr_status tsr_mip_make_order(tsr_mip *mip);

#endif
