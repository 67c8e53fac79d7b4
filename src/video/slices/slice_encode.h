/* video/slices/slice_encode.h: pictures of slices that a device codes together. */
#ifndef TSR_VIDEO_SLICES_SLICE_ENCODE_H
#define TSR_VIDEO_SLICES_SLICE_ENCODE_H

#include "video/dirac/synthesis.h"
#include "video/slices/picture_graph.h"
#include "video/slices/slice_jobs.h"

typedef struct tsr_slice_coder {
    tsr_context *context;
    int32_t ahead, count; /* pictures at most; that wait */
    tsr_dirac_transform transform;
    tsr_dirac_layout layout[3];
    tsr_slice_shape shape;
    int64_t slices, elements[2];
    int32_t compatible;                    /* as in tsr_dirac_slices_writing */
    tsr_dirac_synthesis many[2], one[2];   /* luma, chroma; of all pictures, of one */
    int32_t *samples[2], *coefficients[2]; /* device memory; chroma: both components of a picture, then of the next */
    void *workspace;
    int64_t workspace_bytes;
    uint64_t *scale;
    tsr_dirac_slice_plan *plan; /* device memory */
    tsr_slice_total *total, totals[TSR_SLICE_AHEAD];
    int32_t *approximation; /* low delay: of all pictures what it was, then what a decoder has */
    int64_t approximation_batch;
    uint8_t *bytes;
    int64_t room; /* of a picture */
    tsr_picture_graph transforms, plans;
    void (*stage)(void *user, int stage); /* NULL: nobody asks; as in tsr_slice_flight */
    void *user;
} tsr_slice_coder;

/* *usable 0: the device cannot. `expected`: bytes of a picture. */
tsr_status tsr_slice_coder_make(tsr_slice_coder *coder, tsr_context *context, int32_t ahead, const tsr_dirac_transform *transform,
                                const tsr_dirac_layout layout[3], int64_t expected, int *usable);
void tsr_slice_coder_free(tsr_slice_coder *coder);
/* Another picture waits; `load` says where component c lies (plane, plane_stride, bytes, depth; device memory). */
tsr_status tsr_slice_coder_add(tsr_slice_coder *coder, const tsr_dirac_load_job load[3]);
/* Coefficients of all that wait. */
tsr_status tsr_slice_coder_transform(tsr_slice_coder *coder);
/* Quantisers, lengths and places; `quantiser` -1: slices of fixed size. TSR_ERROR_CAPACITY: what is in some of these does not fit. With `write`, the bytes, too. Then `totals` are there. */
tsr_status tsr_slice_coder_plan(tsr_slice_coder *coder, int32_t quantiser, int write);
/* What picture k became, to host memory: totals[k].bytes; its plan, if not NULL. */
tsr_status tsr_slice_coder_take(tsr_slice_coder *coder, int32_t k, void *bytes, tsr_dirac_slice_plan *plan);

#endif
