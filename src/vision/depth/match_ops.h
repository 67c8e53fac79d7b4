/* vision/depth/match_ops.h: what a backend provides for matching along paths. All pointers are device memory of the queue. */
#ifndef TSR_VISION_DEPTH_MATCH_OPS_H
#define TSR_VISION_DEPTH_MATCH_OPS_H

#include <math.h>

#include "device/backend.h"
#include "vision/depth/match_math.h"

/* Codes and greys of a picture. */
typedef struct tsr_code_job {
    int32_t width, height, channels;
    int32_t reduce, image_width; /* grey: of blocks of reduce x reduce pixels of the image, which is so wide */
    const uint8_t *image;        /* [height reduce][image_width][channels]; NULL: grey is there already */
    uint8_t *grey;               /* [height][width] */
    uint32_t *code;              /* or NULL */
} tsr_code_job;

typedef struct tsr_match_job {
    int32_t width, height;
    int32_t first, depths, padded; /* of a pair: hypothesis d is the disparity first + d; padded: depths up to a multiple of TSR_MATCH_LANES */
    int32_t paths, p1;             /* 3, 4 or 8 */
    const uint32_t *code[2];       /* of a pair side by side, or NULL: */
    const uint8_t *grey[2];        /* [0]: of the picture, or the depth camera's view: for P2 */
    const uint8_t *volume;         /* costs, [height][width][padded] */
    const uint8_t *p2;             /* [256], by the difference of greys */
    uint16_t *sums;                /* [height][width][padded]; NULL: CPU with three paths, whose aggregate finds the answers as well */
    uint16_t *more;                /* CPU with several threads: a second one, or NULL */
    int32_t uniqueness;            /* the best must be so many per cent below the others (its neighbours apart) */
    int32_t consistency;           /* of a pair: largest difference to the other picture's disparity; -1: not asked */
    float *best;                   /* [height][width]: hypothesis with its fraction */
    uint8_t *valid;                /* 1 where it is unique and both pictures agree */
    uint16_t *index, *score;       /* the hypothesis, and its sum */
} tsr_match_job;

/* From hypotheses to disparities, at full size. */
typedef struct tsr_finish_job {
    int32_t width, height, first; /* of the match */
    int32_t reduce, full_width, full_height;
    int32_t fill;
    const float *best;
    const uint8_t *valid;
    float *row, *smooth; /* [height][width]: holes filled; after the median. Without fill the first is all there is */
    float *full;
    uint8_t *full_valid; /* or NULL */
} tsr_finish_job;

typedef struct tsr_match_ops {
    tsr_status (*code)(tsr_queue *queue, const tsr_code_job *job);
    tsr_status (*aggregate)(tsr_queue *queue, const tsr_match_job *job); /* sums (and more) */
    tsr_status (*select)(tsr_queue *queue, const tsr_match_job *job);    /* best, valid, score */
    tsr_status (*finish)(tsr_queue *queue, const tsr_finish_job *job);
} tsr_match_ops;

/* Directions of the paths: forward with the rows, then backward; the first two of each are the four paths, all of these but the one from below the three. The step to the pixel before: */
TSR_HD int32_t tsr_match_dx(int32_t path) { return path == 0 || path == 2 ? -1 : path == 3 ? 1 : path == 4 || path == 6 ? 1 : path == 7 ? -1 : 0; }
TSR_HD int32_t tsr_match_dy(int32_t path) { return path == 0 || path == 4 ? 0 : path < 4 ? -1 : 1; }

/* What the cost of hypothesis d (0 to padded - 1) at a pixel is made of, and the cost. grey: of the other picture's pixel, or why there is none. */
enum { TSR_MATCH_NO_PIXEL = -1, TSR_MATCH_NO_HYPOTHESIS = -2, TSR_MATCH_GIVEN = -3 };
typedef struct tsr_match_other {
    uint32_t code; /* TSR_MATCH_GIVEN: the cost */
    int32_t grey;
} tsr_match_other;
/* Of a pair: pixel i at x of its row. */
TSR_HD tsr_match_other tsr_match_look_pair(const tsr_match_job *j, int64_t i, int32_t x, int32_t d)
{
    tsr_match_other o = { 0u, d < j->depths ? TSR_MATCH_NO_PIXEL : TSR_MATCH_NO_HYPOTHESIS };
    const int32_t other = x - j->first - d;
    if (d < j->depths && (uint32_t)other < (uint32_t)j->width) {
        o.code = j->code[1][i - j->first - d];
        o.grey = j->grey[1][i - j->first - d];
    }
    return o;
}
TSR_HD tsr_match_other tsr_match_look_volume(const tsr_match_job *j, int64_t i, int32_t d)
{
    const tsr_match_other o = { j->volume[i * j->padded + d], TSR_MATCH_GIVEN };
    return o;
}
TSR_HD uint8_t tsr_match_cost_of(uint32_t code, int32_t grey, tsr_match_other o)
{
    if (o.grey >= 0) return tsr_match_cost(code, o.code, grey, o.grey);
    if (o.grey == TSR_MATCH_GIVEN) return (uint8_t)o.code;
    return o.grey == TSR_MATCH_NO_PIXEL ? TSR_MATCH_UNSEEN : TSR_MATCH_WORST;
}

/* Grey of block i. */
TSR_HD uint8_t tsr_match_grey_at(const tsr_code_job *j, int64_t i)
{
    if (j->reduce == 1) return tsr_match_grey(j->image + i * j->channels, j->channels);
    const int64_t x = i % j->width * j->reduce, y = i / j->width * j->reduce;
    int32_t sum = 0;
    for (int32_t v = 0; v < j->reduce; v++)
        for (int32_t u = 0; u < j->reduce; u++) sum += tsr_match_grey(j->image + ((y + v) * j->image_width + x + u) * j->channels, j->channels);
    return (uint8_t)((sum + j->reduce * j->reduce / 2) / (j->reduce * j->reduce));
}

/* A row: disparities, holes as the smaller of their neighbours', which lies behind. left, right: the nearest valid ones there, or no number. */
TSR_HD float tsr_finish_hole(const tsr_finish_job *j, float left, float right)
{
    if (!(left != left || right < left)) return left;
    return right == right ? right : left == left ? left : (float)j->first;
}
TSR_HD void tsr_finish_row(const tsr_finish_job *j, int32_t y)
{
    const int64_t row = (int64_t)y * j->width;
    float last = tsr_no_number();
    for (int32_t x = 0; x < j->width; x++) {
        const int valid = j->valid[row + x];
        if (valid) last = j->best[row + x] + (float)j->first;
        j->row[row + x] = valid || j->fill ? last : tsr_no_number();
    }
    if (!j->fill) return;
    last = tsr_no_number();
    for (int32_t x = j->width - 1; x >= 0; x--) {
        if (j->valid[row + x]) last = j->row[row + x];
        else j->row[row + x] = tsr_finish_hole(j, j->row[row + x], last);
    }
}
TSR_HD void tsr_finish_smooth(const tsr_finish_job *j, int32_t px, int32_t y)
{
    float v[9];
    for (int32_t n = 0; n < 9; n++)
        v[n] = j->row[(int64_t)tsr_maxi(0, tsr_mini(j->height - 1, y + n / 3 - 1)) * j->width + tsr_maxi(0, tsr_mini(j->width - 1, px + n % 3 - 1))];
    j->smooth[(int64_t)y * j->width + px] = tsr_match_median9(v);
}
/* Pixel i of the full size: between the four around where they belong together, else the nearest. */
TSR_HD void tsr_finish_full(const tsr_finish_job *j, int64_t i)
{
    const int32_t fx = (int32_t)(i % j->full_width), fy = (int32_t)(i / j->full_width), r = j->reduce;
    const float *from = j->fill ? j->smooth : j->row;
    const int32_t x = tsr_mini(j->width - 1, fx / r), y = tsr_mini(j->height - 1, fy / r);
    const int64_t near = (int64_t)y * j->width + x;
    float v = from[near];
    if (r > 1 && v == v) {
        const float u = ((float)fx + 0.5f) / (float)r - 0.5f, w = ((float)fy + 0.5f) / (float)r - 0.5f;
        const int32_t x0 = tsr_maxi(0, tsr_mini(j->width - 2, (int32_t)u)), y0 = tsr_maxi(0, tsr_mini(j->height - 2, (int32_t)w));
        const float *a = from + (int64_t)y0 * j->width + x0, *b = a + j->width;
        const float tx = tsr_clampf(u - (float)x0, 0.0f, 1.0f), ty = tsr_clampf(w - (float)y0, 0.0f, 1.0f);
        const float low = tsr_minf(tsr_minf(a[0], a[1]), tsr_minf(b[0], b[1])), high = tsr_maxf(tsr_maxf(a[0], a[1]), tsr_maxf(b[0], b[1]));
        const float above = a[0] + tx * (a[1] - a[0]), below = b[0] + tx * (b[1] - b[0]), mixed = above + ty * (below - above);
        if (mixed == mixed && high - low <= 1.0f) v = mixed;
    }
    j->full[i] = v == v ? v * (float)r : tsr_no_number();
    if (j->full_valid) j->full_valid[i] = j->valid[near];
}

#endif
