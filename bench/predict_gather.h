/* bench/predict_gather.h: overlapped block motion compensation that gathers: a thread goes down some rows of a column and adds all blocks that cover one of
 * them, those that do not cover a row with weight 0. The rival of the library's way, by regions (src/video/dirac/predict_regions.h). */
#ifndef TSR_BENCH_PREDICT_GATHER_H
#define TSR_BENCH_PREDICT_GATHER_H

#include "device/backend.h"
#include "video/dirac/predict_run.h"

/* What a module that has the kernel calls predict_by_gathering. Launches it; 0: that failed. */
typedef int (*predict_gather_call)(tsr_queue *queue, const tsr_dirac_predict_job *job);

enum {
    GATHER_ACROSS = 128, /* threads, a column each */
    GATHER_RUN = 8,      /* rows */
    GATHER_HALF = GATHER_RUN / 2,
    GATHER_BLOCKS = GATHER_RUN + 2 /* that cover a run, at most: where blocks are a sample apart */
};

/* The weight of block number `block` at place x of the axis; 0: it does not cover it. */
TSR_HD int32_t gather_weight(const tsr_dirac_extent *e, int32_t x, int32_t block)
{
    int32_t first;
    const int32_t covers = tsr_dirac_cover(x, e->length, e->separation, e->count, &first);
    if (block < first || block >= first + covers) return 0;
    return tsr_dirac_weight(x - (block * e->separation - e->offset), e->length, e->separation, block, e->count);
}

/* The first row of run number `run`: runs begin where blocks do, if their heights let them. */
TSR_HD int32_t gather_begin(const tsr_dirac_extent *rows, int32_t run) { return run * GATHER_RUN - rows->offset; }

/* Rows of a run that a block covers, by halves: bit h is set where it covers some of the rows from h GATHER_HALF on. What it does not cover has weight 0. */
TSR_HD int32_t gather_halves(const tsr_dirac_extent *rows, int32_t begin, int32_t v)
{
    const int32_t from = v * rows->separation - rows->offset - begin, to = from + rows->length;
    return (from < GATHER_HALF && to > 0) | (from < GATHER_RUN && to > GATHER_HALF) << 1;
}

#endif
