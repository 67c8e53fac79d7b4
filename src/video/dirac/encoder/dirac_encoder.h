/* video/dirac/encoder/dirac_encoder.h: the state of an encoder. encoder.c: creation, data units, the calls of tessera/dirac.h; encoder_slices.c: VC-2
 * pictures; encoder_group.c: which frames become what, and in which order; encoder_core.c: pictures in core syntax. */
#ifndef TSR_VIDEO_DIRAC_DIRAC_ENCODER_H
#define TSR_VIDEO_DIRAC_DIRAC_ENCODER_H

#include "formats/films/video.h"
#include "video/dirac/checksum.h"
#include "video/dirac/encoder/core_write.h"
#include "video/dirac/dirac_ops.h"
#include "video/dirac/encoder/motion_modes.h"
#include "video/dirac/profile.h"
#include "video/dirac/encoder/dirac_rate.h"
#include "video/dirac/encoder/slices_write.h"
#include "video/dirac/encoder/syntax_write.h"
#include "video/dirac/synthesis.h"
#include "video/slices/core_device.h"
#include "video/slices/slice_encode.h"

enum { TSR_DIRAC_ANCHORS = 8, TSR_DIRAC_WAITING = 10 };

/* A reference of the encoder, as a decoder has it. */
typedef struct tsr_dirac_anchor {
    int used, halved;
    uint32_t number;
    int64_t turn;     /* when it was coded */
    int16_t *grid;    /* half-sample grids in device memory, the components one after the other; their first planes are the picture */
    int64_t elements; /* of the picture */
    tsr_dirac_seen seen;
} tsr_dirac_anchor;

/* A frame that was given and is not coded yet. */
typedef struct tsr_dirac_waiting {
    tsr_video_frame frame;
    tsr_dirac_seen seen[2]; /* of each field, or of the frame */
    int64_t index;          /* of all frames */
    int scene;              /* 1: unlike the frame before */
} tsr_dirac_waiting;

/* One picture to be coded. */
typedef struct tsr_dirac_task {
    const tsr_dirac_waiting *from;
    int field, reference; /* `reference`: others are predicted from it */
    int32_t references;
    int anchor[2]; /* indices */
    int scene;
} tsr_dirac_task;

typedef struct tsr_dirac_core_coder {
    tsr_dirac_transform transform[2];             /* intra, inter */
    tsr_dirac_synthesis plans[2][2];              /* intra, inter; luma, chroma */
    double weight[2][2][TSR_DIRAC_LEVELS + 1][4]; /* intra, inter; luma, chroma: what quantisers are divided by */
    tsr_dirac_core_writing writing;
    tsr_core_device device; /* where it codes the sub-bands */
    int on_device;          /* it does */
    int32_t *predicted[3];  /* device memory */
    int64_t predicted_elements[3];
    tsr_dirac_prediction prediction;
    tsr_dirac_block *blocks, *blocks_on_device;
    uint8_t *splits, *motion, *motion_scratch;
    int64_t block_bytes, motion_room, motion_bytes;
    tsr_dirac_search search;
    tsr_dirac_anchor anchor[TSR_DIRAC_ANCHORS];
    tsr_dirac_waiting waiting[TSR_DIRAC_WAITING]; /* a ring, by the frame's index */
    int64_t given, last_anchor, last_intra;       /* frames given; the last that became a reference, an intra one; -1: none */
    int64_t turn;                                 /* references coded */
    void *reconstructed;                          /* device memory of a frame */
    tsr_video_frame shown;
    int16_t *luma; /* host memory, to look at references that lie on a device */
} tsr_dirac_core_coder;

struct tsr_dirac_encoder {
    tsr_context *context;
    tsr_dirac_encode_options options;
    tsr_dirac_sequence sequence;
    tsr_dirac_transform transform;
    tsr_dirac_layout layout[3];
    tsr_dirac_synthesis plans[2];
    void *plane;        /* device memory of a whole frame */
    const void *source; /* what is analysed: `plane`, or on the host the frame itself */
    int64_t plane_bytes;
    int32_t *samples, *on_device[3], *coefficients[3];
    int16_t *narrow[3]; /* high quality on the host, where 16 bits do: coefficients, in place of the others */
    void *workspace;
    int64_t workspace_bytes, elements[3];
    tsr_dirac_slice_plan *plan;
    tsr_dirac_core_coder *core;  /* NULL: slices */
    tsr_slice_coder coder;       /* of slices on a device; without context: they are coded on the host */
    int begins[TSR_SLICE_AHEAD]; /* a picture that waits there is the first of its frame */
    uint8_t digest[TSR_SLICE_AHEAD][TSR_DIRAC_DIGEST];
    int stage;
    double since;
    tsr_dirac_rate rate;
    uint8_t *out;
    int64_t size, room;
    uint32_t number, previous; /* of the next picture; bytes of the last unit */
    tsr_dirac_statistics *statistics;
    int64_t statistics_count, statistics_room;
};

static inline int tsr_dirac_encodes_on_host(const tsr_dirac_encoder *e) { return e->context->device.kind == TSR_DEVICE_CPU; }
static inline int tsr_dirac_is_core(const tsr_dirac_encode_options *o) { return o->coding >= TSR_DIRAC_CODING_ARITHMETIC; }

/* encoder.c: data units behind e->out + e->size */
tsr_status tsr_dirac_begin_unit(tsr_dirac_encoder *e, int32_t code, int64_t bytes); /* of `bytes`, to be appended */
void tsr_dirac_append(tsr_dirac_encoder *e, const void *bytes, int64_t size);
void tsr_dirac_append_big(tsr_dirac_encoder *e, uint32_t v, int bytes);
tsr_status tsr_dirac_put_header(tsr_dirac_encoder *e);
tsr_status tsr_dirac_put_padding(tsr_dirac_encoder *e, int64_t bytes); /* units of these bytes in all, 13 at least */
/* Auxiliary data with the MD5 of the coming picture. */
tsr_status tsr_dirac_put_digest(tsr_dirac_encoder *e, const uint8_t digest[TSR_DIRAC_DIGEST]);
/* Of a frame in host memory, or of one of its fields. */
void tsr_dirac_digest_of(const tsr_dirac_encoder *e, const tsr_video_frame *frame, int bottom, uint8_t digest[TSR_DIRAC_DIGEST]);
/* Samples (of a field: 0 top, 1 bottom) minus a prediction (NULL: none) become coefficients, on the host. */
tsr_status tsr_dirac_analyse(tsr_dirac_encoder *e, int bottom, int32_t *const predicted[3], const tsr_dirac_synthesis plans[2]);
/* A picture is done: notes it, and tells who asks. */
tsr_status tsr_dirac_picture_done(tsr_dirac_encoder *e, tsr_dirac_picture *info, const tsr_video_frame *reconstruction);

/* encoder_slices.c */
tsr_status tsr_dirac_slices_fill(tsr_dirac_encoder *e); /* the transform's parameters */
/* `planes`: device memory, in place of the frame. */
tsr_status tsr_dirac_slices_frame(tsr_dirac_encoder *e, const tsr_video_frame *frame, const void *planes);
/* Pictures that wait on the device are coded. */
tsr_status tsr_dirac_slices_end(tsr_dirac_encoder *e);
void tsr_dirac_encoder_enter(void *user, int stage); /* of the profile */

/* encoder_group.c */
tsr_status tsr_dirac_group_frame(tsr_dirac_encoder *e, const tsr_video_frame *frame);
tsr_status tsr_dirac_group_end(tsr_dirac_encoder *e);

/* encoder_core.c */
tsr_status tsr_dirac_core_create(tsr_dirac_encoder *e);
tsr_status tsr_dirac_core_make_memory(tsr_dirac_encoder *e); /* once the layouts are known */
void tsr_dirac_core_destroy(tsr_dirac_encoder *e);
tsr_status tsr_dirac_core_picture(tsr_dirac_encoder *e, const tsr_dirac_task *task);

#endif
