/* solver/engine_object.h: the inside of a solver. */
#ifndef TSR_SOLVER_ENGINE_OBJECT_H
#define TSR_SOLVER_ENGINE_OBJECT_H

#include "solver/engine.h"

struct tsr_levelset {
    tsr_context *context;
    tsr_tiles *tiles; /* the caller's */
    tsr_levelset_options options;
    tsr_engine_setup setup;
    tsr_payload_provider provider;
    tsr_engine_control *control; /* device */
    tsr_engine_control seen;     /* as of the last download */
    tsr_engine_plan *plan;       /* for `planned` and `planned_step` or NULL */
    tsr_tile_pool planned;
    float planned_step;
    int payload_valid, payload_coded; /* its pages hold what the provider says, for lists of that storage */
    int64_t total_steps;
    void *term_data[TSR_LEVELSET_TERMS]; /* device copies of the data of terms of the caller's own, NULL on the CPU */
};

extern const char *const tsr_engine_kind_names[]; /* by tsr_levelset_kind */

/* Checks options against a list and turns them into the numbers of a run. */
tsr_status tsr_engine_make_setup(const tsr_tiles *tiles, const tsr_levelset_options *options, tsr_engine_setup *setup);
/* tsr_levelset_reinitialise by another sign: SUBCELL keeps the zero set where the field is steep. */
tsr_status tsr_engine_reinitialise(tsr_tiles *tiles, tsr_stencil space, tsr_sign sign, int32_t sweeps, const tsr_progress *progress);

#endif
