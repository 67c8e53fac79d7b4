/* vision/lens_ops.h: what a backend provides for lenses. All pointers are device memory of the queue. */
#ifndef TSR_VISION_LENS_OPS_H
#define TSR_VISION_LENS_OPS_H

#include "device/backend.h"
#include "vision/lens_math.h"

typedef struct tsr_warp_job {
    tsr_lens_map map;
    int32_t add, sampling, channels, width, height, images;
    const uint8_t *data; /* [images][height][width][channels] */
    uint8_t *warped;
    uint8_t *mask; /* [images][height][width], or NULL */
} tsr_warp_job;

/* Votes for directions in a grey image, for each of several lenses. */
typedef struct tsr_votes_job {
    const tsr_lens_votes *votes;
    const tsr_lens_map *maps;
    const uint8_t *image;
    uint64_t *histograms; /* [candidates][bins], added to */
    int32_t candidates, bins, width, height;
} tsr_votes_job;

struct tsr_align_job;

typedef struct tsr_lens_ops {
    tsr_status (*warp)(tsr_queue *queue, const tsr_warp_job *job);
    tsr_status (*votes)(tsr_queue *queue, const tsr_votes_job *job);
    tsr_status (*align)(tsr_queue *queue, const struct tsr_align_job *job); /* vision/align/align_job.h */
} tsr_lens_ops;

/* Pixel i of the warped images. */
TSR_HD void tsr_warp_pixel(const tsr_warp_job *j, int64_t i)
{
    const int32_t x = (int32_t)(i % j->width), y = (int32_t)(i / j->width % j->height);
    const int64_t row = (int64_t)j->width * j->channels;
    const uint8_t *from = j->data + i / j->width / j->height * j->height * row;
    uint8_t *to = j->warped + i * j->channels;
    double at[2] = { 0.0, 0.0 };
    const int within = tsr_lens_place(&j->map, j->add, x, y, at) && tsr_lens_within(at, j->width, j->height, 0.0);
    if (j->mask) j->mask[i] = (uint8_t)within;
    for (int32_t c = 0; c < j->channels; c++) {
        if (!within) to[c] = 0;
        else if (j->sampling == TSR_LENS_BILINEAR) to[c] = tsr_lens_byte(tsr_lens_bilinear(from + c, row, j->channels, j->width, j->height, at));
        else if (j->sampling == TSR_LENS_CATMULL_ROM)
            to[c] = tsr_lens_byte(tsr_lens_catmull_rom(from + c, row, j->channels, j->width, j->height, at));
        else to[c] = from[(int64_t)(at[1] + 0.5) * row + (int64_t)(at[0] + 0.5) * j->channels + c];
    }
}

/* Seven values, `stride` apart, times their weights. */
TSR_HD float tsr_lens_taps(const float *p, int32_t stride, const float *weights)
{
    float sum = 0.0f;
    for (int32_t t = 0; t < TSR_LENS_TAPS; t++) sum += weights[t] * p[t * stride];
    return sum;
}

#endif
