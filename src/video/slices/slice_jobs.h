/* video/slices/slice_jobs.h: slices of several pictures at once, entropy-decoded and -coded where the pictures lie. All pointers of jobs are device
 * memory of the queue. */
#ifndef TSR_VIDEO_SLICES_SLICE_JOBS_H
#define TSR_VIDEO_SLICES_SLICE_JOBS_H

#include "video/dirac/dirac_ops.h"
#include "video/dirac/layout.h"
#include "video/dirac/quantiser.h"
#include "video/dirac/encoder/slices_write.h"

enum {
    TSR_SLICE_BANDS = 3 * TSR_DIRAC_DEPTH + TSR_DIRAC_DEPTH + 1, /* of all transforms */
    TSR_SLICE_AHEAD = 16,                                        /* pictures at once */
    TSR_SLICE_COARSEST = 100,                                    /* no coarser quantiser is tried */
    TSR_SLICE_GUESS = 20,                                        /* the quantiser that is tried first where nothing is known */
    TSR_SLICE_MOST = 1 << 24,                                    /* coefficients of a slice */
    TSR_SLICE_BYTES = 1 << 27                                    /* that a slice is written to: with codes of at most 64 bits as many as it takes */
};

typedef struct tsr_slice_band {
    int64_t offset;
    int32_t width, height, matrix;
    tsr_dirac_steps steps;
} tsr_slice_band;

/* What the pictures of a job have in common: [0] luma, [1] chroma. */
typedef struct tsr_slice_shape {
    int32_t slices_x, slices_y, bands, high_quality, long_length;
    int32_t stride[2];
    tsr_slice_band band[2][TSR_SLICE_BANDS];
} tsr_slice_shape;

/* One picture's slices in the bytes of a job. */
typedef struct tsr_slice_picture {
    int64_t data, end; /* where its bytes begin, a multiple of 4; how many there are: 4 more are readable */
    uint32_t prefix, scaler;
    void *plane[3]; /* where its samples go */
} tsr_slice_picture;

typedef struct tsr_slices_decode_job {
    tsr_slice_shape shape;
    const uint8_t *bytes;
    const tsr_slice_picture *picture;
    const uint32_t *starts;         /* bytes from the picture's first; of each picture one more than it has slices */
    const tsr_quantiser *quantiser; /* of index 0 to TSR_QUANTISER_MOST */
    int32_t *coefficients[3];
    int64_t batch[3]; /* from one picture to the next */
    int32_t pictures;
} tsr_slices_decode_job;

/* The approximations of low-delay pictures: differences from a prediction become values. */
typedef struct tsr_slices_predict_job {
    int32_t *coefficients;
    int64_t offset, batch, stride;
    int32_t width, height, pictures;
} tsr_slices_predict_job;

/* What a picture's slices take; how many of them do not fit with the coarsest quantiser. */
typedef struct tsr_slice_total {
    int64_t bytes;
    int64_t scaler;
    uint64_t overfull;
} tsr_slice_total;

typedef struct tsr_slices_encode_job {
    tsr_slice_shape shape;
    int32_t *coefficients[3]; /* low delay: the approximation becomes differences from its prediction */
    int64_t batch[3];
    int32_t *wanted[3], *decoded[3]; /* low delay: the approximation as it was, and as a decoder has it; rows are as wide as it */
    int64_t approximation_batch;
    int32_t pictures;
    int32_t compatible; /* as in tsr_dirac_slices_writing */
    int32_t quantiser;  /* -1: slices have their bytes, numerator / denominator of them */
    uint32_t prefix, scaler, numerator, denominator;
    const uint64_t *scale; /* tsr_quantiser_scale of index 0 to 127 */
    tsr_dirac_slice_plan *plan;
    tsr_slice_total *total;
    uint8_t *bytes; /* `room` of them for each picture; one that takes more is not written */
    int64_t room;
} tsr_slices_encode_job;

/* Component `component` of several pictures, or both of chroma from it on, to their planes. */
typedef struct tsr_slices_store_job {
    tsr_dirac_store_job one; /* of the first picture, but for its plane */
    int64_t batch, apart;    /* residue elements from one picture to the next; from one component to the next */
    const tsr_slice_picture *picture;
    int32_t component, components, pictures;
} tsr_slices_store_job;
/* All components of a picture. */
typedef struct tsr_slices_load_job {
    tsr_dirac_load_job component[3];
} tsr_slices_load_job;

typedef struct tsr_slice_ops {
    tsr_status (*decode)(tsr_queue *queue, const tsr_slices_decode_job *job);
    tsr_status (*predict)(tsr_queue *queue, const tsr_slices_predict_job *job);
    tsr_status (*plan)(tsr_queue *queue, const tsr_slices_encode_job *job); /* quantisers, lengths, places and the total */
    tsr_status (*write)(tsr_queue *queue, const tsr_slices_encode_job *job);
    tsr_status (*store)(tsr_queue *queue, const tsr_slices_store_job *job);
    tsr_status (*load)(tsr_queue *queue, const tsr_slices_load_job *job);
} tsr_slice_ops;

/* Where the search for the quantiser of a low-delay slice begins: at that of the slice to its left, or above. */
TSR_HD int32_t tsr_slice_first_guess(const int32_t *before) { return before ? *before : TSR_SLICE_GUESS; }

/* Where slice n of those of a fixed size begins. */
TSR_HD int64_t tsr_slice_fixed_place(const tsr_slices_encode_job *j, int64_t n) { return (int64_t)((uint64_t)n * j->numerator / j->denominator); }

TSR_HD int32_t tsr_slice_index(int32_t index, int32_t matrix)
{
    const int32_t own = index > matrix ? index - matrix : 0;
    return own < TSR_QUANTISER_MOST ? own : TSR_QUANTISER_MOST;
}

/* The part of band b that slice (sx, sy) covers. */
TSR_HD tsr_dirac_area tsr_slice_area(const tsr_slice_shape *s, const tsr_slice_band *b, int32_t sx, int32_t sy)
{
    tsr_dirac_area a;
    if (b->steps.x && b->steps.y) {
        a.x0 = sx * b->steps.x;
        a.x1 = a.x0 + b->steps.x;
        a.y0 = sy * b->steps.y;
        a.y1 = a.y0 + b->steps.y;
        return a;
    }
    a.x0 = (int32_t)((int64_t)b->width * sx / s->slices_x);
    a.x1 = (int32_t)((int64_t)b->width * (sx + 1) / s->slices_x);
    a.y0 = (int32_t)((int64_t)b->height * sy / s->slices_y);
    a.y1 = (int32_t)((int64_t)b->height * (sy + 1) / s->slices_y);
    return a;
}

/* slice_shape.c. 0: a slice is too large for it. */
int tsr_slice_shape_make(const tsr_dirac_transform *transform, const tsr_dirac_layout layout[3], tsr_slice_shape *shape);

#endif
