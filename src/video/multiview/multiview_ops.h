/* video/multiview/multiview_ops.h: what a backend provides to decode and encode codec SPIHT4D, and for
 * the textures of DIFF2D. All pointers are device memory of the queue. The
 * CPU has none: there the loops of mvv_groups.c work on the textures themselves. */
#ifndef TSR_VIDEO_MULTIVIEW_MULTIVIEW_OPS_H
#define TSR_VIDEO_MULTIVIEW_MULTIVIEW_OPS_H

#include "device/backend.h"
#include "video/multiview/mvv_fill.h"
#include "video/multiview/mvv_haar.h"
#include "video/multiview/mvv_planes.h"
#include "video/multiview/mvv_sheets.h"

/* How far a stream is: bits, entries of lists; of sets those from `begin` on are the generation at hand, `kept` stay for the next plane. */
typedef struct tsr_mvv_progress {
    int64_t at, pixels, next_pixels, sets, begin, kept, found, before;
    int32_t cut, unused; /* decoder: it ends here */
} tsr_mvv_progress;

enum { TSR_MVV_PARTS = 64, TSR_MVV_TOTALS = 4 };

/* What a stream of syntax planes goes through, in several parts at once. */
typedef struct tsr_mvv_lists {
    uint32_t *pixel[2], *set[2], *found; /* of this plane and of the next one; room for 2^all entries and some more */
    int32_t planes, unused;
    tsr_mvv_progress state[2];                    /* before and after a step, in turn */
    int64_t total[TSR_MVV_PARTS][TSR_MVV_TOTALS]; /* of each part of a step: bits of children, found, new sets, kept */
} tsr_mvv_lists;

/* A stream that is read. */
typedef struct tsr_mvv_stream {
    int64_t offset, size; /* in the bytes of all; size 0: nothing is found */
    uint32_t *value;      /* of what is found */
    tsr_mvv_lists lists;
    int64_t found_count;       /* result */
    int32_t bad_plane, unused; /* result: 1 + the plane that its directory contradicts */
} tsr_mvv_stream;

/* Where the texels of a decoded group go: those of some steps and cameras of it. */
typedef struct tsr_mvv_target {
    uint8_t *texel;                          /* of the first step and camera */
    int32_t width, height, cameras;          /* of the textures there */
    int32_t first_step, steps, first_camera; /* in the group */
} tsr_mvv_target;

/* Textures of a group that become samples: those of the steps and cameras that are there. */
typedef struct tsr_mvv_source {
    const uint8_t *texel; /* of the first step and camera */
    const uint64_t *mask; /* likewise; NULL: every texel is relevant */
    int32_t width, height, cameras, steps;
    int32_t fraction, lossless, filled, flat; /* flat: each texture for itself */
} tsr_mvv_source;

/* A stream that is made from `value`; room for 2^all of each. */
typedef struct tsr_mvv_coding {
    int32_t *value;
    tsr_mvv_sets sets;
    tsr_mvv_lists lists;                  /* planes: result of prepare */
    uint32_t *bits;                       /* all 0 at first; behind the directory; room for 64 more than `enough` */
    int64_t enough;                       /* bits that count, whole bytes */
    uint32_t offset[TSR_MVV_MOST_PLANES]; /* the directory */
} tsr_mvv_coding;

typedef struct tsr_multiview_ops {
    /* Several, of at most `planes` planes. */
    tsr_status (*streams)(tsr_queue *queue, const tsr_mvv_shape *shape, const uint8_t *bytes, tsr_mvv_stream *streams, int32_t count, int32_t planes);
    /* coefficients (2^all, and as many twice more to work in) from what was found, then back to texels. */
    tsr_status (*restore)(tsr_queue *queue, const tsr_mvv_shape *shape, const tsr_mvv_stream *stream, int lossless, int32_t *work[3],
                          const tsr_mvv_target *target);
    /* Texels whose bit is 0 become 0; rows of `words` words of masks, of all textures. */
    tsr_status (*blank)(tsr_queue *queue, uint8_t *texel, const uint64_t *mask, int32_t width, int64_t rows);
    /* Coefficients and sets of a group's component, and its planes. `coding` is of the host, `there` the same on the device; work: 2^all each. */
    tsr_status (*prepare)(tsr_queue *queue, const tsr_mvv_shape *shape, const tsr_mvv_source *source, int32_t *work[2], const tsr_mvv_coding *coding,
                          tsr_mvv_coding *there);
    /* Several, of at most `planes` planes. state[*slot].at bits are there; they may be more than enough. */
    tsr_status (*encode)(tsr_queue *queue, const tsr_mvv_shape *shape, tsr_mvv_coding *codings, int32_t count, int32_t planes, int32_t *slot);
    /* Sheets in work[0] from their coefficients, places and values (tsr_mvv_signed) one after the other; work: a place for each sample of all. Then
     * they are integers, each added to the one below it: `grey` and, of base[number % 3], a sample; base NULL: 0. */
    tsr_status (*sheets)(tsr_queue *queue, const tsr_mvv_adaptive *wavelet, const tsr_mvv_sheet *sheets, int32_t count, const uint32_t *place,
                         const uint32_t *value, int32_t *work[2], const int32_t *base, int32_t grey);
    /* Textures from sheets of [step][camera][component] and averages of [step][component]; those of a component lie as in an object. */
    tsr_status (*sum)(tsr_queue *queue, const tsr_mvv_sheet *sheets, int32_t width, int32_t height, int32_t cameras, int32_t steps, int32_t fraction,
                      const int32_t *sheet, const int32_t *average, uint8_t *const plane[3]);
    /* Averages of [step][component] of textures and masks (NULL: all) that lie as in an object. */
    tsr_status (*averages)(tsr_queue *queue, const tsr_multiview_view *textures, int32_t fraction, int32_t *average);
    /* Added to sums (and numbers) of each component, where the masks of the steps have a texel; and the mean of all. */
    tsr_status (*add_averages)(tsr_queue *queue, const tsr_multiview_view *textures, const uint64_t *masks, const int32_t *average, int64_t *sum,
                               int32_t *number);
    tsr_status (*mean)(tsr_queue *queue, int64_t texels, const int64_t *sum, const int32_t *number, int32_t grey, int32_t *mean);
    /* Coefficients of sheets in work[0], integers. */
    tsr_status (*coefficients)(tsr_queue *queue, const tsr_mvv_adaptive *wavelet, const tsr_mvv_sheet *sheets, int32_t count,
                               const tsr_mvv_minuend *minuend, int32_t *work[2]);
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
    to[at + 2 * i * stride] = lossless ? tsr_mvv_back_first(l, h) : tsr_mvv_add(l, h);
    to[at + (2 * i + 1) * stride] = lossless ? tsr_mvv_back_second(l, h) : tsr_mvv_subtract(l, h);
}

/* Sample x of a group: around grey times 2^fraction; what is not relevant is `outside`. */
TSR_HD int32_t tsr_mvv_take_sample(const tsr_mvv_shape *s, const tsr_mvv_source *from, int32_t outside, uint32_t x)
{
    const int64_t u = tsr_mvv_coordinate(s, x, 0), v = tsr_mvv_coordinate(s, x, 1), c = tsr_mvv_coordinate(s, x, 2), t = tsr_mvv_coordinate(s, x, 3);
    if (u >= from->width || v >= from->height || c >= from->cameras || t >= from->steps) return outside;
    const int64_t row = (t * from->cameras + c) * from->height + v;
    if (from->mask && !(from->mask[row * (((int64_t)from->width + 63) / 64) + (u >> 6)] >> (u & 63) & 1)) return outside;
    return tsr_mvv_from_texel(from->texel[row * from->width + u], from->fraction);
}

/* The sets of coefficient x of a level, from those of its children. */
TSR_HD void tsr_mvv_measure_sets(const tsr_mvv_shape *s, const int32_t *value, const tsr_mvv_sets *sets, uint32_t x, int32_t level)
{
    if (!tsr_mvv_has_children(s, x, level)) return;
    const uint32_t base = tsr_mvv_base(s, x, level);
    int32_t all = 0, but_children = 0;
    for (int32_t k = tsr_mvv_first_child(x); k < s->children[level]; k++) {
        const uint32_t y = base + s->child[level][k];
        const int32_t below = tsr_mvv_has_children(s, y, level + 1) ? sets->all[y] : 0;
        all = tsr_maxi(all, tsr_maxi(below, tsr_mvv_scale(tsr_mvv_size_of(value[y]))));
        but_children = tsr_maxi(but_children, below);
    }
    sets->all[x] = (uint8_t)all;
    sets->but_children[x] = (uint8_t)but_children;
}

/* What a significant set puts out: of kind A bits of its children and signs of those found, in order from the lowest; and the sets that it adds. */
typedef struct tsr_mvv_opening {
    uint32_t bits, signs;
    int32_t children, found, more;
} tsr_mvv_opening;
TSR_HD tsr_mvv_opening tsr_mvv_opening_of(const tsr_mvv_shape *s, const int32_t *value, uint32_t entry, int32_t plane)
{
    const uint32_t x = entry & ~TSR_MVV_SET_B;
    const int32_t level = tsr_mvv_level(s, x), first = tsr_mvv_first_child(x);
    const uint32_t base = tsr_mvv_base(s, x, level);
    tsr_mvv_opening o = { 0, 0, 0, 0, 0 };
    for (int32_t k = first; k < s->children[level]; k++) {
        const uint32_t y = base + s->child[level][k];
        if (entry & TSR_MVV_SET_B) o.more += tsr_mvv_has_children(s, y, level + 1);
        else if (tsr_mvv_size_of(value[y]) >> plane & 1) {
            o.bits |= 1u << (k - first);
            o.signs |= (uint32_t)(value[y] < 0) << o.found++;
        }
    }
    if (entry & TSR_MVV_SET_B) return o;
    o.children = s->children[level] - first;
    o.more = tsr_mvv_has_grandchildren(s, x, level);
    return o;
}

/* What a step did: entries it looked at, and totals of all parts. The next plane begins with a whole byte. */
TSR_HD void tsr_mvv_after_pixels(tsr_mvv_progress *p, const int64_t *total)
{
    p->at += p->pixels + total[1];
    p->before = p->found;
    p->found += total[1];
    p->next_pixels = total[3];
}
TSR_HD void tsr_mvv_after_sets(tsr_mvv_progress *p, const int64_t *total)
{
    const int64_t end = p->sets;
    p->at += end - p->begin + total[0] + total[1];
    p->next_pixels += total[0] - total[1];
    p->found += total[1];
    p->sets += total[2];
    p->kept += total[3];
    p->begin = end;
}
TSR_HD void tsr_mvv_after_plane(tsr_mvv_progress *p)
{
    p->at = (p->at + p->before + 7) / 8 * 8;
    p->pixels = p->next_pixels;
    p->sets = p->kept;
    p->begin = p->kept = 0;
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
