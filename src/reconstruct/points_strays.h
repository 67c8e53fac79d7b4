/* reconstruct/points_strays.h: lone samples judged by what lies round them (host part). */
#ifndef TSR_RECONSTRUCT_POINTS_STRAYS_H
#define TSR_RECONSTRUCT_POINTS_STRAYS_H

#include "reconstruct/points_lone.h"
#include "core/status.h"

/* Of the points that are lone by `rule` (build->first 0 there; all arrays in host memory) those that lie in a sheet get first 1: sparse parts of a surface are
 * thin one way round each sample, as far as its nearest others, and so they are round these; what is scattered in space is not. *strays: how many stay lone.
 * *others: how many others a point must have near it that chance should make none of the strays pass, from how dense they are. Class: exact, whatever the order
 * of the points. */
tsr_status tsr_strays_judge(int threads, const tsr_tree_build *build, const tsr_lone_rule *rule, int64_t *strays, int32_t *others);

#endif
