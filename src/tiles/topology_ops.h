/* tiles/topology_ops.h: what a device provides for voxel sets in its memory. Those in host memory are worked on by topology.c itself. */
#ifndef TSR_TILES_TOPOLOGY_OPS_H
#define TSR_TILES_TOPOLOGY_OPS_H

#include "device/backend.h"
#include "tiles/topology_bits.h"

/* Of the result of a step. */
typedef struct tsr_topology_totals {
    uint64_t tiles, voxels;
    int32_t lower[3], upper[3]; /* its least and greatest tiles along each axis */
} tsr_topology_totals;

/* One step of dilation. Pointers are device memory. */
typedef struct tsr_topology_job {
    const uint64_t *keys;      /* [count] in order */
    const uint64_t (*mask)[8]; /* [count] */
    int64_t count;
    int32_t neighbours;  /* 6, 18 or 26 */
    tsr_rank_box box;    /* all tiles and their neighbours lie in it */
    tsr_rank *from, *to; /* [box.words] of the tiles, of those of the result */
    uint64_t *parts;     /* [2 TSR_TOPOLOGY_PARTS(box.words)] */
    tsr_topology_totals *totals;
} tsr_topology_job;
enum { TSR_TOPOLOGY_PART = 4096 /* words */ };
#define TSR_TOPOLOGY_PARTS(words) (((words) + TSR_TOPOLOGY_PART - 1) / TSR_TOPOLOGY_PART)

typedef struct tsr_topology_ops {
    /* Fills from, to, totals->tiles. */
    tsr_status (*survey)(tsr_queue *queue, const tsr_topology_job *job);
    /* Then keys and masks of the `count` tiles of the result, and the other totals. */
    tsr_status (*write)(tsr_queue *queue, const tsr_topology_job *job, int64_t count, uint64_t *keys, uint64_t (*mask)[8]);
} tsr_topology_ops;

#endif
