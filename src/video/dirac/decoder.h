/* video/dirac/decoder.h: the state of a decoder. units (decoder.c) become pictures (pictures.c), these frames that wait for their turn (frames.c). */
#ifndef TSR_VIDEO_DIRAC_DECODER_H
#define TSR_VIDEO_DIRAC_DECODER_H

#include "video/dirac/checksum.h"
#include "video/dirac/dirac_core.h"
#include "video/dirac/dirac_ops.h"
#include "video/dirac/motion.h"
#include "video/dirac/profile.h"
#include "video/dirac/slices.h"
#include "video/dirac/dirac_stream.h"
#include "video/dirac/synthesis.h"
#include "video/slices/core_ahead.h"
#include "video/slices/core_device.h"
#include "video/slices/slice_flight.h"

enum { TSR_DIRAC_REFERENCES = 8, TSR_DIRAC_FRAMES = 8 + TSR_SLICE_AHEAD };

/* What pictures with the same transform need; made anew when it changes, but for memory that is large enough. */
typedef struct tsr_dirac_residue {
    tsr_dirac_transform transform;
    tsr_dirac_layout layout[3];
    tsr_dirac_synthesis synthesis[2];   /* luma, chroma; on a device both of chroma at once */
    int32_t *coefficients[3];           /* host memory, entropy-decoded to */
    int32_t *on_device[3], *samples[3]; /* where the device is the host, on_device[k] is coefficients[k], and all samples are the same memory */
    int32_t *piece, *upload;            /* a device's memory of both; where numbers of 16 bits are uploaded to */
    int64_t piece_room;                 /* elements */
    int first;                          /* what a device begins with: 0 luma, 1 chroma */
    void *workspace;
    int64_t elements[3], room[3], workspace_bytes; /* elements; those that there is memory for */
    /* The same in 16 bits, in the host's memory: high-quality and core pictures are tried with it, and taken again in 32 bits where a value does not fit. */
    tsr_dirac_synthesis narrow_synthesis[2], coarse_synthesis[2]; /* coarse: all but the finest level, of LeGall's filter; count 0: there is none */
    int16_t *narrow[3], *narrow_samples;
    int64_t host_room[3];                      /* of coefficients[k] where a device has others: the approximation's rows until 16 bits do not do */
    uint8_t empty[3][TSR_DIRAC_LEVELS + 1][4]; /* sub-bands of `narrow` that are 0 */
    int made;
} tsr_dirac_residue;

/* The jobs of a core picture's components, in the memory of a device whose graphs read them. */
typedef struct tsr_dirac_component_jobs {
    tsr_dirac_predict_job predict[3];
    tsr_dirac_store_job store[3];
} tsr_dirac_component_jobs;

/* A picture that others are predicted from. */
typedef struct tsr_dirac_reference {
    uint32_t number;
    int used, halved; /* `halved`: the half-sample grids are made; else their first planes are there, which are the picture */
    void *grid;       /* device memory, the components one after the other */
    int64_t elements; /* of the picture: a quarter of those of the grids */
    int32_t bytes;    /* of a sample */
} tsr_dirac_reference;

/* What predicts an inter picture. */
typedef struct tsr_dirac_motion {
    tsr_dirac_prediction prediction;
    tsr_dirac_block *blocks, *on_device;
    int64_t bytes, device_bytes;
    int32_t reference[2]; /* indices */
} tsr_dirac_motion;

/* A frame (or picture) that is being put together, or waits to be handed over. */
typedef struct tsr_dirac_frame {
    tsr_video_frame shape; /* on the host with its memory, which is handed over */
    void *memory;          /* device memory of shape.bytes; on the host shape.plane[0] */
    int64_t room;
    int filled;    /* fields that are there: bit 0 the first, bit 1 the second */
    int complete;  /* waits */
    int in_order;  /* as coded: does not wait for others */
    int in_flight; /* its samples are not there before the flight has run */
    tsr_dirac_frame_info info;
    tsr_dirac_sequence sequence;
} tsr_dirac_frame;

struct tsr_dirac_decoder {
    tsr_context *context;
    tsr_dirac_decode_options options;
    tsr_dirac_stream stream;
    int has_sequence, in_sequence; /* a header was read; the sequence goes on */
    tsr_dirac_sequence sequence;
    uint8_t *header; /* bytes of its payload, to compare repeated ones */
    int64_t header_size;
    int old_blocks; /* see tsr_dirac_core */
    int has_digest; /* auxiliary data said what the coming picture is */
    uint8_t digest[TSR_DIRAC_DIGEST];
    tsr_dirac_transform transform; /* of the last picture of slices */
    tsr_dirac_residue residue;
    tsr_dirac_motion motion;
    tsr_dirac_reference reference[TSR_DIRAC_REFERENCES];
    int64_t *starts;
    int64_t starts_room;
    /* fragments of one picture */
    int collecting;
    uint32_t fragment_number;
    int64_t fragment_slices;
    int gathering; /* nothing of them is missing: their slices wait in `gathered`, to be decoded on the device as those of a whole picture */
    uint8_t *gathered;
    int64_t gathered_size, gathered_room;
    uint8_t *quantisers; /* of slices, where somebody asks */
    int64_t quantisers_room;
    tsr_dirac_frame frame[TSR_DIRAC_FRAMES];
    int32_t frames;          /* that may be used */
    tsr_slice_flight flight; /* pictures of slices, on a device */
    tsr_core_device core_device;
    tsr_core_ahead core_ahead;  /* pictures of arithmetic codes, on a device where options.arithmetic says so */
    tsr_picture_graph graph[3]; /* of intra pictures, and those of one and two references, on a device */
    tsr_dirac_component_jobs *jobs;
    int stage, kind; /* of the profile: the stage at hand, references of the picture */
    double since;
    int current;      /* the one being put together, -1: none */
    int has_expected; /* `expected` is the number of the frame that comes next */
    uint32_t expected;
    int flushing; /* nothing more comes that could go before those that wait */
    tsr_dirac_sequence sequence_out;
    int damaged;     /* since the last picture */
    int64_t waiting; /* bytes of units since the last picture */
    int failed;
};

enum {
    TSR_DIRAC_RESIDUE = 1,    /* in the host's memory */
    TSR_DIRAC_RESIDUE_NARROW, /* in 16 bits */
    TSR_DIRAC_RESIDUE_THERE   /* in the device's memory already */
};

/* One picture on its way to a frame. */
typedef struct tsr_dirac_target {
    uint32_t number;
    int64_t offset;
    int32_t code;
    int predicted;                  /* from d->motion */
    int residue;                    /* TSR_DIRAC_RESIDUE ...; 0: there is none */
    tsr_dirac_reference *reference; /* filled, if not NULL */
} tsr_dirac_target;

/* Told to the options' `damage`; an error where strict. */
tsr_status tsr_dirac_damage(tsr_dirac_decoder *d, int64_t offset, const char *format, ...) TSR_PRINTF(3, 4);
static inline int tsr_dirac_on_host(const tsr_dirac_decoder *d) { return d->context->device.kind == TSR_DEVICE_CPU; }

/* What is done from now on belongs to this stage; -1: to none. */
static inline void tsr_dirac_enter(tsr_dirac_decoder *d, int stage)
{
    tsr_dirac_profile_enter(d->options.profile, d->context, stage, d->kind, &d->stage, &d->since);
}

/* pictures.c: slice-coded pictures */
tsr_status tsr_dirac_decode_slices(tsr_dirac_decoder *d, const tsr_dirac_data *data);
tsr_status tsr_dirac_decode_fragment(tsr_dirac_decoder *d, const tsr_dirac_data *data);
/* A picture whose fragments did not all come is finished with what is there. */
tsr_status tsr_dirac_finish_fragments(tsr_dirac_decoder *d, int64_t offset);

/* anatomy.c: for options.anatomy, nothing where nobody asks. Slices [first, first + count) of d->transform begin at `bits`. */
tsr_status tsr_dirac_note_slices(tsr_dirac_decoder *d, const tsr_bits *bits, int64_t first, int64_t count);
void tsr_dirac_show_slices(const tsr_dirac_decoder *d, uint32_t number);
tsr_status tsr_dirac_show_core(const tsr_dirac_decoder *d, const tsr_dirac_target *target, const uint32_t reference[2]);

/* pictures_core.c: core syntax, intra and inter */
tsr_status tsr_dirac_decode_core(tsr_dirac_decoder *d, const tsr_dirac_data *data);
int32_t tsr_dirac_reference_bytes(const tsr_dirac_decoder *d); /* of a sample: 1 where 8 bits do, on the host */
void tsr_dirac_motion_free(tsr_dirac_decoder *d);

/* residue.c */
tsr_status tsr_dirac_within_limit(const tsr_dirac_decoder *d, int64_t bytes);
/* Room for all coefficients of the host in 32 bits, before something but approximations is written to them: the pointers may become others. */
tsr_status tsr_dirac_residue_whole(tsr_dirac_decoder *d);
tsr_status tsr_dirac_residue_make(tsr_dirac_decoder *d, const tsr_dirac_transform *transform);
tsr_status tsr_dirac_residue_wide(tsr_dirac_decoder *d); /* what synthesis in 32 bits needs is there: on the host for few pictures */
void tsr_dirac_residue_free(tsr_dirac_decoder *d);

/* frames.c */
tsr_status tsr_dirac_store_picture(tsr_dirac_decoder *d, const tsr_dirac_target *target);
/* The same in two steps: the frame that a picture belongs to, and where in it; what the picture was. */
tsr_status tsr_dirac_begin_picture(tsr_dirac_decoder *d, const tsr_dirac_target *target, tsr_dirac_frame **frame);
/* The samples of a picture that is there against what auxiliary data said of them; damage where they differ. */
tsr_status tsr_dirac_check_digest(tsr_dirac_decoder *d, const tsr_dirac_target *target, const tsr_dirac_frame *frame);
void tsr_dirac_end_picture(tsr_dirac_decoder *d, const tsr_dirac_target *target, tsr_dirac_frame *frame);
tsr_slice_target tsr_dirac_planes(const tsr_dirac_decoder *d, const tsr_dirac_target *target, const tsr_dirac_frame *frame);
/* What waits on the device is decoded. */
tsr_status tsr_dirac_land(tsr_dirac_decoder *d);
/* A first field without a second becomes a frame. */
tsr_status tsr_dirac_finish_frame(tsr_dirac_decoder *d, int64_t offset);
/* The frame whose turn it is, NULL: none yet. */
tsr_dirac_frame *tsr_dirac_next_frame(tsr_dirac_decoder *d);
/* No room for the frame of another picture before one was handed over. */
int tsr_dirac_frames_full(const tsr_dirac_decoder *d);
void tsr_dirac_frames_free(tsr_dirac_decoder *d);

#endif
