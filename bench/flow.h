/* bench/flow.h: the rows of bench_flow that stand in files of their own, and what they share. */
#ifndef TSR_BENCH_FLOW_H
#define TSR_BENCH_FLOW_H

#include "experiments.h"

/* What OpenVDB says of the same motion: bench/peers/openvdb_levelset.cpp. */
struct flow_peer {
    double seconds, steps, volume;
    unsigned long long before, after;
    int there;
};
struct flow_peer flow_openvdb(const bench *b, const char *arguments);

/* So many steps, or so long, timed by the clock of the bench. */
tsr_status flow_step(bench *b, tsr_levelset *solver, int64_t steps, tsr_levelset_report *report);
tsr_status flow_advance(bench *b, tsr_levelset *solver, double duration, tsr_levelset_report *report);

/* A shape as an unbounded list with this band. */
tsr_status flow_shape(bench *b, double band, tsr_shape s, tsr_tiles **tiles);

/* flow_peers.c: the same work done by OpenVDB, and by two threads. */
tsr_status flow_curvature_peer(bench *b, int gpu, int32_t sweeps);
tsr_status flow_two_threads(bench *b);
tsr_status flow_renormalise_peer(bench *b);
tsr_status flow_dilate_peer(bench *b, tsr_stencil space);

/* flow_lists.c: the list itself: management, keys, storage, topology, and lists that only memory limits. */
tsr_status flow_management_share(bench *b);
tsr_status flow_keys(bench *b, int gpu);
tsr_status flow_storages(bench *b, int gpu);
tsr_status flow_large(bench *b, double radius, int64_t steps);
tsr_status flow_topologies(bench *b, int gpu);
tsr_status flow_paging(bench *b, int gpu);

/* flow_deformation.c: the periodic deformation. */
tsr_status flow_sheet(bench *b, int64_t n, double duration);
tsr_status flow_enright_reinit(bench *b, int64_t n, double duration);
tsr_status flow_enright(bench *b, int64_t n, double period, int gpu);

#endif
