/* video/dirac/decoder.h: the state of a decoder. */
#ifndef TSR_VIDEO_DIRAC_DECODER_H
#define TSR_VIDEO_DIRAC_DECODER_H

#include "video/dirac/dirac_ops.h"
#include "video/dirac/slices.h"
#include "video/dirac/stream.h"
#include "video/dirac/synthesis.h"

/* Slice-coded pictures with the same transform; made anew when it changes. */
typedef struct tsr_dirac_picture {
    tsr_dirac_transform transform;
    tsr_dirac_layout layout[3];
    tsr_dirac_synthesis synthesis[2]; /* luma, chroma */
    int32_t *coefficients[3];         /* host memory, entropy-decoded to */
    int32_t *on_device[3], *samples;  /* on_device[k] is coefficients[k] where the device is the host */
    void *workspace;
    int64_t elements[3], workspace_bytes;
    int made;
} tsr_dirac_picture;

struct tsr_dirac_decoder {
    tsr_context *context;
    tsr_dirac_decode_options options;
    tsr_dirac_stream stream;
    int has_sequence, in_sequence; /* a header was read; the sequence goes on */
    tsr_dirac_sequence sequence;
    uint8_t *header; /* bytes of its payload, to compare repeated ones */
    int64_t header_size;
    tsr_dirac_picture picture;
    int64_t *starts;
    int64_t starts_room;
    /* fragments of one picture */
    int collecting;
    uint32_t fragment_number;
    int64_t fragment_slices;
    /* the frame (or picture) being put together */
    tsr_video_frame shape; /* no memory of its own */
    void *assembled;       /* device memory of shape.bytes */
    int filled;            /* fields that are there: bit 0 the first, bit 1 the second */
    tsr_dirac_frame_info info;
    tsr_dirac_sequence sequence_out;
    int ready;
    int64_t waiting; /* bytes of units since the last picture */
    int failed;
};

/* Told to the options' `damage`; an error where strict. */
tsr_status tsr_dirac_damage(tsr_dirac_decoder *d, int64_t offset, const char *format, ...) TSR_PRINTF(3, 4);

/* decoder_pictures.c */
tsr_status tsr_dirac_decode_slices(tsr_dirac_decoder *d, const tsr_dirac_data *data);
tsr_status tsr_dirac_decode_fragment(tsr_dirac_decoder *d, const tsr_dirac_data *data);
/* A picture whose fragments did not all come is finished with what is there. */
tsr_status tsr_dirac_finish_fragments(tsr_dirac_decoder *d, int64_t offset);
/* A first field without a second becomes a frame. */
tsr_status tsr_dirac_finish_frame(tsr_dirac_decoder *d, int64_t offset);
void tsr_dirac_picture_free(tsr_dirac_decoder *d);

#endif
