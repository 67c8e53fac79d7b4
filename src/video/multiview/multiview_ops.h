/* video/multiview/multiview_ops.h: what a backend provides to decode codec SPIHT4D. All pointers are device memory of the queue. The CPU has none:
 * there the
 * loops of mvv_groups.c work on the textures themselves. */
#ifndef TSR_VIDEO_MULTIVIEW_MULTIVIEW_OPS_H
#define TSR_VIDEO_MULTIVIEW_MULTIVIEW_OPS_H

#include "device/backend.h"
#include "video/multiview/mvv_haar.h"
#include "video/multiview/mvv_planes.h"

/* A stream of syntax planes and its lists, which hold 2^all entries each. */
typedef struct tsr_mvv_stream {
    int64_t offset, size; /* in the bytes of all; size 0: nothing is found */
    uint32_t *pixels, *sets, *found, *value;
    int64_t found_count;       /* result */
    int32_t bad_plane, unused; /* result: 1 + the plane that its directory contradicts */
} tsr_mvv_stream;

/* Where the texels of a decoded group go: those of some steps and cameras of it. */
typedef struct tsr_mvv_target {
    uint8_t *texel;                          /* of the first step and camera */
    int32_t width, height, cameras;          /* of the textures there */
    int32_t first_step, steps, first_camera; /* in the group */
} tsr_mvv_target;

typedef struct tsr_multiview_ops {
    tsr_status (*streams)(tsr_queue *queue, const tsr_mvv_shape *shape, const uint8_t *bytes, tsr_mvv_stream *streams, int32_t count);
    /* coefficients (2^all, and as many twice more to work in) from what was found, then back to texels. */
    tsr_status (*restore)(tsr_queue *queue, const tsr_mvv_shape *shape, const tsr_mvv_stream *stream, int lossless, int32_t *work[3],
                          const tsr_mvv_target *target);
    /* Texels whose bit is 0 become 0; rows of `words` words of masks, of all textures. */
    tsr_status (*blank)(tsr_queue *queue, uint8_t *texel, const uint64_t *mask, int32_t width, int64_t rows);
} tsr_multiview_ops;

/* One coefficient that was found. */
TSR_HD void tsr_mvv_scatter(const tsr_mvv_shape *s, uint32_t x, uint32_t value, int lossless, int32_t *coefficient)
{
    const uint32_t size = value & ~TSR_MVV_NEGATIVE;
    const int negative = (int)(value >> 31);
    coefficient[x] = lossless ? (negative ? -(int32_t)size : (int32_t)size) : tsr_mvv_to_sample_scale(size, negative, tsr_mvv_steps_of(s, x));
}

/* One pair of an axis on its way back: `pair` counts those of scale 2 * half over the whole block. Means lie in `low` (as far as they are not in
 * `high`), differences in
 * `high`; the pair goes to `to`. */
TSR_HD void tsr_mvv_restore_pair(const tsr_mvv_shape *s, int a, int64_t half, int64_t pair, int lossless, const int32_t *low, const int32_t *high,
                                 int32_t *to)
{
    const int64_t stride = (int64_t)1 << s->shift[a], inner = pair % stride, i = pair / stride % half, outer = pair / stride / half;
    const int64_t at = outer * (stride << s->bits[a]) + inner;
    const int32_t l = low[at + i * stride], h = high[at + (half + i) * stride];
    const int32_t first = lossless ? tsr_mvv_s_first(l, h) : tsr_mvv_add(l, h);
    to[at + 2 * i * stride] = first;
    to[at + (2 * i + 1) * stride] = tsr_mvv_subtract(lossless ? first : l, h);
}

/* Texel k of the target. */
TSR_HD void tsr_mvv_put_texel(const tsr_mvv_shape *s, const tsr_mvv_target *t, int lossless, const int32_t *sample, int64_t k)
{
    const int64_t u = k % t->width, v = k / t->width % t->height, texture = k / t->width / t->height;
    const int64_t c = t->first_camera + texture % t->cameras, step = t->first_step + texture / t->cameras;
    const int32_t x = sample[step << s->shift[3] | c << s->shift[2] | v << s->shift[1] | u];
    t->texel[k] = lossless ? tsr_mvv_plain_texel(x) : tsr_mvv_to_texel(x);
}

#endif
