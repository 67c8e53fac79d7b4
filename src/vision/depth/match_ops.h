/* vision/depth/match_ops.h: what a backend provides for matching along paths. All pointers are device memory of the queue. */
#ifndef TSR_VISION_MATCH_OPS_H
#define TSR_VISION_MATCH_OPS_H

#include "device/backend.h"
#include "vision/depth/match_math.h"

/* Codes and greys of a picture. */
typedef struct tsr_code_job {
    int32_t width, height, channels;
    const uint8_t *image; /* [height][width][channels] */
    uint8_t *grey;        /* [height][width] */
    uint32_t *code;
} tsr_code_job;

typedef struct tsr_match_job {
    int32_t width, height;
    int32_t first, depths, padded; /* of a pair: hypothesis d is the disparity first + d; padded: depths up to a multiple of TSR_MATCH_LANES */
    int32_t paths, p1;             /* 4 or 8 */
    const uint32_t *code[2];       /* of a pair side by side, or NULL: */
    const uint8_t *grey[2];        /* [0]: of the picture, or the depth camera's view: for P2 */
    const uint8_t *volume;         /* costs, [height][width][padded] */
    const uint8_t *p2;             /* [256], by the difference of greys */
    uint16_t *sums;                /* [height][width][padded] */
    uint16_t *more;                /* CPU with several threads: a second one, or NULL */
    int32_t uniqueness;            /* the best must be so many per cent below the others (its neighbours apart) */
    int32_t consistency;           /* of a pair: largest difference to the other picture's disparity; -1: not asked */
    float *best;                   /* [height][width]: hypothesis with its fraction */
    uint8_t *valid;                /* 1 where it is unique and both pictures agree */
    uint16_t *index, *score;       /* the hypothesis, and its sum */
} tsr_match_job;

typedef struct tsr_match_ops {
    tsr_status (*code)(tsr_queue *queue, const tsr_code_job *job);
    tsr_status (*aggregate)(tsr_queue *queue, const tsr_match_job *job); /* sums (and more) */
    tsr_status (*select)(tsr_queue *queue, const tsr_match_job *job);    /* best, valid, score */
} tsr_match_ops;

/* Directions of the paths: forward with the rows, then backward; the first two of each are the four paths. The step to the pixel before: */
TSR_HD int32_t tsr_match_dx(int32_t path) { return path == 0 || path == 2 ? -1 : path == 3 ? 1 : path == 4 || path == 6 ? 1 : path == 7 ? -1 : 0; }
TSR_HD int32_t tsr_match_dy(int32_t path) { return path == 0 || path == 4 ? 0 : path < 4 ? -1 : 1; }

/* Cost of hypothesis d (0 to padded - 1) at a pixel. */
TSR_HD uint8_t tsr_match_cost_at(const tsr_match_job *j, int32_t x, int32_t y, int32_t d)
{
    const int64_t row = (int64_t)y * j->width;
    if (j->volume) return j->volume[(row + x) * j->padded + d];
    if (d >= j->depths) return TSR_MATCH_WORST;
    const int32_t other = x - j->first - d;
    if (other < 0 || other >= j->width) return TSR_MATCH_UNSEEN;
    return tsr_match_cost(j->code[0][row + x], j->code[1][row + other], j->grey[0][row + x], j->grey[1][row + other]);
}

#endif
