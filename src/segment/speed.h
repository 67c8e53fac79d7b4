/* segment/speed.h: the data speed of one voxel: a weighted sum of terms, each a function of one or more dense volumes.
 *
 * The sum does not depend on time, so it is evaluated once for a tile when the tile is created (or when a parameter changes) and kept
 * as the tile's payload (docs/theory/tiles.md 8); any number of terms costs nothing per step. docs/theory/segmentation.md 2. Exact class. */
#ifndef TSR_SEGMENT_SPEED_H
#define TSR_SEGMENT_SPEED_H

#include "core/hd.h"
#include "volume/voxel.h"

enum { TSR_SPEED_TERMS = 8, TSR_SPEED_CHANNELS = 4 };

enum {
    TSR_SPEED_TENT = 0,   /* a - |I - b|, with I = scale * stored + offset: epsilon - |I - T|; at least -c */
    TSR_SPEED_CONSTANT,   /* a */
    TSR_SPEED_VOLUME,     /* I: a speed computed before (edge term, caller's own) */
    TSR_SPEED_INTERVAL,   /* +a if b <= I <= c, else -a: flood fill */
    TSR_SPEED_VECTOR      /* a - sqrt((v - mean)^T P (v - mean)) over `channels` volumes, P = inverse covariance */
};

typedef struct tsr_speed_term {
    int32_t kind, channels;
    float weight;                                         /* multiplies the term; alpha is in here */
    float a, b, c;
    const void *data[TSR_SPEED_CHANNELS];                 /* dense volumes over the domain, device memory */
    int32_t dtype[TSR_SPEED_CHANNELS];
    float scale[TSR_SPEED_CHANNELS], offset[TSR_SPEED_CHANNELS];
    float mean[TSR_SPEED_CHANNELS], precision[TSR_SPEED_CHANNELS][TSR_SPEED_CHANNELS];
} tsr_speed_term;

typedef struct tsr_speed {
    int32_t count;
    int32_t size[3]; /* extents of every volume, x y z */
    tsr_speed_term term[TSR_SPEED_TERMS];
} tsr_speed;

TSR_HD float tsr_speed_sample(const tsr_speed_term *t, int32_t channel, int64_t at)
{
    return (float)tsr_voxel_load(t->data[channel], (tsr_dtype)t->dtype[channel], at) * t->scale[channel] + t->offset[channel];
}

TSR_HD float tsr_speed_term_at(const tsr_speed_term *t, int64_t at)
{
    float v, sum = 0.0f;
    switch (t->kind) {
    case TSR_SPEED_TENT: return tsr_maxf(t->a - tsr_absf(tsr_speed_sample(t, 0, at) - t->b), -t->c);
    case TSR_SPEED_CONSTANT: return t->a;
    case TSR_SPEED_VOLUME: return tsr_speed_sample(t, 0, at);
    case TSR_SPEED_INTERVAL: v = tsr_speed_sample(t, 0, at); return v >= t->b && v <= t->c ? t->a : -t->a;
    case TSR_SPEED_VECTOR:
        for (int32_t i = 0; i < t->channels; i++)
            for (int32_t j = 0; j < t->channels; j++)
                sum = sum + (tsr_speed_sample(t, i, at) - t->mean[i]) * t->precision[i][j] * (tsr_speed_sample(t, j, at) - t->mean[j]);
        return t->a - tsr_sqrt(tsr_maxf(sum, 0.0f));
    default: return 0.0f;
    }
}

/* F at voxel (x, y, z); indices beyond the volumes are clamped to them. */
TSR_HD float tsr_speed_at(const tsr_speed *s, int32_t x, int32_t y, int32_t z)
{
    x = tsr_mini(tsr_maxi(x, 0), s->size[0] - 1);
    y = tsr_mini(tsr_maxi(y, 0), s->size[1] - 1);
    z = tsr_mini(tsr_maxi(z, 0), s->size[2] - 1);
    int64_t at = ((int64_t)z * s->size[1] + y) * s->size[0] + x;
    float sum = 0.0f;
    for (int32_t i = 0; i < s->count; i++) sum = sum + s->term[i].weight * tsr_speed_term_at(&s->term[i], at);
    return sum;
}

#endif
