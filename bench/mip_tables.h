/* bench/mip_tables.h: what bench_mip measures beyond pictures at given shares: equal errors, linearity, and other multiresolution forms. */
#ifndef TSR_BENCH_MIP_TABLES_H
#define TSR_BENCH_MIP_TABLES_H

#include "bench.h"

typedef struct mip_scene {
    bench *b;
    const tsr_volume *volume;
    tsr_mip *mip;
    tsr_mip_frame *frame, *full; /* of one size */
    const tsr_mip_view *view;
} mip_scene;

/* The fewest coefficients whose picture has a relative L1 error of `error` at most, and its time. */
tsr_status mip_equal_error(mip_scene *s, double error);
/* The levels above the finest by cascade, and as many coefficients streamed: their errors. */
tsr_status mip_figure_1_3(mip_scene *s);
/* Times from 10 M coefficients up, and the R^2 of the straight line through them. */
tsr_status mip_linearity(mip_scene *s);
/* Projections of what as many coefficients of wavelets, and of a linear pyramid of means, leave of the volume. */
tsr_status mip_rivals(mip_scene *s);

#endif
