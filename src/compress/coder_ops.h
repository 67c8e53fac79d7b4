/* compress/coder_ops.h: what a backend provides to decode the bricks of a compressed volume (coder rans). All pointers are device memory of the queue. */
#ifndef TSR_COMPRESS_CODER_OPS_H
#define TSR_COMPRESS_CODER_OPS_H

#include "device/backend.h"
#include "compress/rans.h"
#include "compress/samples.h"

/* One stream of a brick. */
typedef struct tsr_coder_piece {
    int64_t offset;       /* even, in `bytes` */
    uint32_t bytes, sum;  /* even; 0: all 0 */
    uint32_t there, seed; /* 0: the file was cut off before it; its number's lower half, the seed of its checksum */
    uint32_t seed_high, unused;
} tsr_coder_piece;

/* What became of a batch; uploaded with 0 and UINT32_MAX. */
typedef struct tsr_coder_report {
    uint32_t bad;             /* pieces that are damaged or missing */
    uint32_t first_bad;       /* the least of them: brick of the batch * streams + stream */
    uint32_t wrong_stream;    /* the first brick with a stream of another width, UINT32_MAX: none */
    uint32_t wrong_exception; /* the first brick whose list of exceptions contradicts itself */
} tsr_coder_report;

typedef struct tsr_coder_job {
    tsr_code_map map;
    int64_t size[3];
    int32_t edge[3], levels, reduce, streams, resolutions, exceptions, image, partial;
    int32_t wide;                   /* some stream says coefficients of 4 bytes */
    int64_t grid[2][3];             /* bricks that are decoded; */
    int64_t first, count;           /* of them, this batch: numbers in the grid, x fastest */
    int64_t origin[3], out_size[3]; /* of the volume, in the reduced resolution */
    const uint8_t *bytes;
    const tsr_coder_piece *piece; /* [brick of the batch][streams] */
    const uint8_t *token;         /* [TSR_RANS_TABLES][TSR_RANS_SLOTS] */
    const uint32_t *share;        /* [TSR_RANS_TABLES][TSR_RANS_TOKENS]: frequency | first slot << 16 */
    int64_t coefficients, sums;   /* of a brick */
    int32_t *coefficient;         /* [count][coefficients] */
    uint32_t *sum;                /* [count][sums] */
    uint8_t *good;                /* [count][streams] */
    tsr_coder_report *report;
    void *voxels;
} tsr_coder_job;

typedef struct tsr_coder_ops {
    tsr_status (*decode)(tsr_queue *queue, const tsr_coder_job *job); /* bricks of a compressed volume; NULL: the host does it */
} tsr_coder_ops;

/* ---- bricks --------------------------------------------------------------------------------------------------------------------------------------- */

typedef struct tsr_coder_brick {
    int64_t origin[3];
    int32_t size[3], reduced[3];
    int32_t levels, absent; /* of transforms to be undone; streams that bricks of full size have before these details */
} tsr_coder_brick;

TSR_HD int32_t tsr_coder_shrink(int32_t n, int32_t by) { return (n + (1 << by) - 1) >> by; }

/* Brick number k of the batch. */
TSR_HD tsr_coder_brick tsr_coder_brick_at(const tsr_coder_job *j, int64_t k)
{
    const int64_t nx = j->grid[1][0] - j->grid[0][0], ny = j->grid[1][1] - j->grid[0][1], n = j->first + k;
    const int64_t at[3] = { j->grid[0][0] + n % nx, j->grid[0][1] + n / nx % ny, j->grid[0][2] + n / nx / ny };
    tsr_coder_brick b;
    int32_t most = 1, possible = 0;
    for (int a = 0; a < 3; a++) {
        b.origin[a] = at[a] * j->edge[a];
        b.size[a] = (int32_t)tsr_minl(j->edge[a], j->size[a] - b.origin[a]);
        b.reduced[a] = tsr_coder_shrink(b.size[a], j->reduce);
        most = tsr_maxi(most, b.size[a]);
    }
    while (possible < j->levels && most > 1 << possible) possible++;
    b.levels = tsr_maxi(possible - j->reduce, 0);
    b.absent = j->levels - possible;
    return b;
}

/* Extents at resolution r: after the approximation and the details up to it. */
TSR_HD int32_t tsr_coder_extent(const tsr_coder_brick *b, int32_t r, int a) { return tsr_coder_shrink(b->reduced[a], b->levels - r); }
/* Coefficients of the resolutions before r. */
TSR_HD int64_t tsr_coder_before(const tsr_coder_brick *b, int32_t r)
{
    return r ? (int64_t)tsr_coder_extent(b, r - 1, 0) * tsr_coder_extent(b, r - 1, 1) * tsr_coder_extent(b, r - 1, 2) : 0;
}
/* Sums of the resolutions 1 to r - 1: one for each place of their low bands. */
TSR_HD int64_t tsr_coder_sums_before(const tsr_coder_brick *b, int32_t r)
{
    int64_t n = 0;
    for (int32_t k = 1; k < r; k++) n += tsr_coder_before(b, k);
    return n;
}

#endif
