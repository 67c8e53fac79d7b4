/* compress/encoder.h: what the two halves of compression share: the streams of all bricks (compress.c) and how much of each is kept (quality.c). */
#ifndef TSR_COMPRESS_ENCODER_H
#define TSR_COMPRESS_ENCODER_H

#include "core/parallel.h"
#include "io/spool.h"
#include "compress/codec.h"

struct tsr_encoder {
    const tsr_volume *volume;
    const tsr_compress_options *options;
    const char *path;
    tsr_tsc t;
    tsr_codec codec;
    tsr_cut cut;
    int32_t threads;
    double lower, upper; /* least and greatest finite voxel */
    int64_t lower_whole, upper_whole;
    int64_t finite;            /* voxels that are */
    tsr_planes_stream *stream; /* [brick][streams] */
    uint8_t *passes;           /* [brick][streams][layers]: passes up to this layer */
    const uint8_t **bytes;     /* [pieces] */
    uint8_t *kept;             /* [brick][streams]: passes, while layers are made */
    int64_t first, stride;     /* bricks first, first + stride, ... are coded */
    double squared;            /* measured error of all finite voxels */
    double *squared_of;        /* [brick], with these passes: */
    uint8_t *measured;         /* [brick][streams]; 255: not measured */
    tsr_spool *spool;          /* where streams wait that memory shall not hold; NULL: nowhere */
    int64_t *spooled;          /* [brick][streams]: 1 + offset there; 0: in memory. NULL: no limit */
    int64_t held;              /* bytes of streams in memory */
    int64_t kept_in_spool;     /* streams before this one are in the spool */
    const char *stage;         /* of progress: */
    int64_t coded, to_code;    /* bricks of it */
    tsr_shared_failure failure;
};

static inline tsr_poll tsr_encoder_poll(struct tsr_encoder *e, int worker)
{
    const double fraction = (double)__atomic_load_n(&e->coded, __ATOMIC_RELAXED) / (double)e->to_code;
    return (tsr_poll){ &e->failure, worker ? NULL : &e->options->progress, e->stage, fraction };
}

/* The voxels of bricks before `end` rest, from the *rested-th one on, by whole rows of bricks. */
void tsr_encoder_rest(const struct tsr_encoder *e, int64_t *rested, int64_t end);
/* The passes of every layer, for streams that end with cut number `cut` and what else has `room`, and the sizes of the pieces. */
void tsr_encoder_set_cut(struct tsr_encoder *e, int64_t cut, double room);
/* Decodes everything as a reader would: e->squared. */
tsr_status tsr_encoder_measure(struct tsr_encoder *e);
double tsr_encoder_psnr(const struct tsr_encoder *e);
/* The value below which planes cannot matter to what is asked for (tsr_codec.least), by the sizes of all coefficients. */
double tsr_encoder_least(const struct tsr_encoder *e, const int64_t octaves[TSR_CODEC_OCTAVES]);
/* The cheapest cut that is measured to reach the PSNR; the best one within the rate. *short_of: planes that were not coded would have been needed. */
tsr_status tsr_encoder_cut_by_psnr(struct tsr_encoder *e, int *short_of);
tsr_status tsr_encoder_cut_by_rate(struct tsr_encoder *e, int *short_of);

#endif
