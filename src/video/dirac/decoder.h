/* video/dirac/decoder.h: the state of a decoder. units (decoder.c) become pictures (pictures.c), these frames that wait for their turn (frames.c). */
#ifndef TSR_VIDEO_DIRAC_DECODER_H
#define TSR_VIDEO_DIRAC_DECODER_H

#include "video/dirac/dirac_core.h"
#include "video/dirac/dirac_ops.h"
#include "video/dirac/motion.h"
#include "video/dirac/slices.h"
#include "video/dirac/dirac_stream.h"
#include "video/dirac/synthesis.h"

enum { TSR_DIRAC_REFERENCES = 8, TSR_DIRAC_FRAMES = 8 };

/* What pictures with the same transform need; made anew when it changes. */
typedef struct tsr_dirac_residue {
    tsr_dirac_transform transform;
    tsr_dirac_layout layout[3];
    tsr_dirac_synthesis synthesis[2]; /* luma, chroma */
    int32_t *coefficients[3];         /* host memory, entropy-decoded to */
    int32_t *on_device[3], *samples;  /* on_device[k] is coefficients[k] where the device is the host */
    void *workspace;
    int64_t elements[3], workspace_bytes;
    /* The same in 16 bits, on the host: high-quality pictures are tried with it, and taken again in 32 bits where a value does not fit. */
    tsr_dirac_synthesis narrow_synthesis[2];
    int16_t *narrow[3], *narrow_samples;
    int made;
} tsr_dirac_residue;

/* A picture that others are predicted from. */
typedef struct tsr_dirac_reference {
    uint32_t number;
    int used, halved;      /* `halved`: the half-sample grids are made */
    int16_t *plane, *half; /* device memory, the components one after the other; a grid is 4 times as large */
    int64_t elements;
} tsr_dirac_reference;

/* What predicts an inter picture. */
typedef struct tsr_dirac_motion {
    tsr_dirac_prediction prediction;
    tsr_dirac_block *blocks, *on_device;
    int64_t bytes, device_bytes;
    int32_t *predicted; /* device memory of one component */
    int64_t predicted_elements;
    int32_t reference[2]; /* indices */
} tsr_dirac_motion;

/* A frame (or picture) that is being put together, or waits to be handed over. */
typedef struct tsr_dirac_frame {
    tsr_video_frame shape; /* no memory of its own */
    void *memory;          /* device memory of shape.bytes */
    int64_t room;
    int filled;   /* fields that are there: bit 0 the first, bit 1 the second */
    int complete; /* waits */
    int in_order; /* as coded: does not wait for others */
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
    tsr_dirac_residue residue;
    tsr_dirac_motion motion;
    tsr_dirac_reference reference[TSR_DIRAC_REFERENCES];
    int64_t *starts;
    int64_t starts_room;
    /* fragments of one picture */
    int collecting;
    uint32_t fragment_number;
    int64_t fragment_slices;
    tsr_dirac_frame frame[TSR_DIRAC_FRAMES];
    int current;      /* the one being put together, -1: none */
    int has_expected; /* `expected` is the number of the frame that comes next */
    uint32_t expected;
    int flushing; /* nothing more comes that could go before those that wait */
    tsr_dirac_sequence sequence_out;
    int damaged;     /* since the last picture */
    int64_t waiting; /* bytes of units since the last picture */
    int failed;
};

/* One picture on its way to a frame. */
typedef struct tsr_dirac_target {
    uint32_t number;
    int64_t offset;
    int32_t code;
    int predicted;                  /* from d->motion */
    int residue;                    /* 0: there is none; 2: in 16 bits */
    tsr_dirac_reference *reference; /* filled, if not NULL */
} tsr_dirac_target;

/* Told to the options' `damage`; an error where strict. */
tsr_status tsr_dirac_damage(tsr_dirac_decoder *d, int64_t offset, const char *format, ...) TSR_PRINTF(3, 4);
static inline int tsr_dirac_on_host(const tsr_dirac_decoder *d) { return d->context->device.kind == TSR_DEVICE_CPU; }

/* pictures.c: slice-coded pictures */
tsr_status tsr_dirac_decode_slices(tsr_dirac_decoder *d, const tsr_dirac_data *data);
tsr_status tsr_dirac_decode_fragment(tsr_dirac_decoder *d, const tsr_dirac_data *data);
/* A picture whose fragments did not all come is finished with what is there. */
tsr_status tsr_dirac_finish_fragments(tsr_dirac_decoder *d, int64_t offset);

/* pictures_core.c: core syntax, intra and inter */
tsr_status tsr_dirac_decode_core(tsr_dirac_decoder *d, const tsr_dirac_data *data);
void tsr_dirac_motion_free(tsr_dirac_decoder *d);

/* residue.c */
tsr_status tsr_dirac_residue_make(tsr_dirac_decoder *d, const tsr_dirac_transform *transform);
void tsr_dirac_residue_free(tsr_dirac_decoder *d);

/* frames.c */
tsr_status tsr_dirac_store_picture(tsr_dirac_decoder *d, const tsr_dirac_target *target);
/* A first field without a second becomes a frame. */
tsr_status tsr_dirac_finish_frame(tsr_dirac_decoder *d, int64_t offset);
/* The frame whose turn it is, NULL: none yet. */
tsr_dirac_frame *tsr_dirac_next_frame(tsr_dirac_decoder *d);
/* No room for the frame of another picture before one was handed over. */
int tsr_dirac_frames_full(const tsr_dirac_decoder *d);
void tsr_dirac_frames_free(tsr_dirac_decoder *d);

#endif
