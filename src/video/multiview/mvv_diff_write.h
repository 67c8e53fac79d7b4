/* video/multiview/mvv_diff_write.h: what encoding codec DIFF2D is made of, on the processor and with a device. */
#ifndef TSR_VIDEO_MULTIVIEW_MVV_DIFF_WRITE_H
#define TSR_VIDEO_MULTIVIEW_MVV_DIFF_WRITE_H

#include "video/multiview/mvv_diff.h"

typedef struct tsr_diff_curve {
    tsr_bisk_point point[TSR_BISK_MOST_POINTS];
    int32_t points;
    int wanted, cut; /* it is to be tried out; it ends where the trial did */
    int64_t known;   /* bytes up to which its hull is what it would be without an end: that of the last point but one */
} tsr_diff_curve;

typedef struct tsr_diff_coded {
    uint8_t *bytes;
    int64_t size;
} tsr_diff_coded;

/* Streams of a component in a segment: the master, the average of each step, each texture. */
typedef struct tsr_diff_writing {
    tsr_mvv_writing *w;
    tsr_diff_tool *tool; /* of each worker */
    int threads;
    int64_t segment, first_step, steps, streams;
    int32_t *mean[3], *master[3]; /* of the segment, around grey: what it is, what the decoder has */
    uint8_t *mask;                /* of the master */
    int64_t *relevant;            /* texels of each stream */
    int64_t *budget;              /* bytes, [component][stream] */
    tsr_diff_curve *curve;        /* likewise; NULL: not needed */
    int again;                    /* trials are as long as they may be */
    int64_t first;                /* step of the batch, from first_step on */
    tsr_diff_coded *result;       /* [step of the batch][average, cameras][component] */
    struct {
        tsr_status status;
        char message[256];
    } * note;
    struct tsr_diff_there *there; /* NULL: textures are of the host */
} tsr_diff_writing;

static inline int64_t tsr_diff_average_stream(const tsr_diff_writing *g, int64_t t) { return 1 + t * (1 + g->w->view->cameras); }
static inline const uint64_t *tsr_diff_masks(const tsr_diff_writing *g, int64_t t) { return tsr_mvv_mask(g->w->view, g->first_step + t, 0); }
static inline int64_t tsr_diff_budget(const tsr_diff_writing *g, int64_t stream, int p)
{
    return g->w->head.lossless ? INT64_MAX : g->budget[p * g->streams + stream];
}
static inline int tsr_diff_is_average(const tsr_diff_writing *g, int64_t stream)
{
    return stream > 0 && (stream - 1) % (1 + g->w->view->cameras) == 0;
}
/* Bytes for which it is tried out what they are worth: first what most streams will not get; again, for those that would: of a master all there are, since
 * all textures hang on it. */
static inline int64_t tsr_diff_trial(const tsr_diff_writing *g, int64_t stream, int p)
{
    const int64_t shares = !stream                          ? (g->again ? tsr_max64(24, g->steps * g->w->view->cameras) : 8)
                           : g->again                       ? 6
                           : tsr_diff_is_average(g, stream) ? 4
                                                            : 2;
    return 64 + shares * tsr_mvv_budget(g->w->head.bpp[p], g->tool->texels);
}
/* Is a stream, or any of `count` from it on, to be tried out? */
static inline int tsr_diff_wanted(const tsr_diff_writing *g, int64_t stream, int p) { return g->curve && g->curve[p * g->streams + stream].wanted; }
static inline int tsr_diff_any_wanted(const tsr_diff_writing *g, int64_t stream, int64_t count)
{
    int any = 0;
    for (int64_t k = 0; k < count; k++)
        for (int p = 0; p < 3; p++) any |= tsr_diff_wanted(g, stream + k, p);
    return any;
}
void tsr_diff_count_relevant(tsr_diff_writing *g, const tsr_diff_tool *t, int64_t stream);
/* size: of the stream that was tried out. */
void tsr_diff_keep_curve(const tsr_diff_writing *g, const tsr_diff_tool *t, int64_t stream, int p, int64_t size);
void tsr_diff_note(tsr_diff_writing *g, int64_t k, tsr_status status);
tsr_status tsr_diff_outcome(const tsr_diff_writing *g, int64_t jobs);

/* Means, differences and wavelets of a batch of steps on the device; streams of their coefficients, and all of the master, on the host. */
int64_t tsr_diff_there_batch(const tsr_mvv_head *h);
tsr_status tsr_diff_there_open(tsr_diff_writing *g, int64_t batch);
void tsr_diff_there_close(tsr_diff_writing *g);
tsr_status tsr_diff_there_means(tsr_diff_writing *g);
tsr_status tsr_diff_there_try(tsr_diff_writing *g, int64_t some);
tsr_status tsr_diff_there_code(tsr_diff_writing *g, int64_t some);

#endif
