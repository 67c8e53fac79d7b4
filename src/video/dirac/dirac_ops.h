/* video/dirac/dirac_ops.h: what a backend provides for Dirac and VC-2 pictures. All pointers are device memory of the queue. */
#ifndef TSR_VIDEO_DIRAC_DIRAC_OPS_H
#define TSR_VIDEO_DIRAC_DIRAC_OPS_H

#include "core/hd.h"
#include "device/backend.h"
#include "video/dirac/predict.h"

/* Residue and prediction become samples of a plane: cropped, clamped, no longer around 0; and those of a reference, which stay around 0. */
typedef struct tsr_dirac_store_job {
    const int16_t *narrow;              /* in place of `residue` where it fits */
    const int32_t *residue, *predicted; /* NULL: 0; rows `stride` and `predicted_stride` apart */
    int32_t doubled[2]; /* on the host: columns and rows of `narrow` where LeGall's finest level, which is 0, is yet to be undone; 0: not */
    int64_t stride, predicted_stride;
    void *plane;          /* NULL: nobody wants it */
    int64_t plane_stride; /* elements of `bytes` bytes */
    void *reference;      /* width x height, tight; NULL: none */
    int32_t width, height, bytes, depth;
    int32_t reference_bytes; /* of its sample, 1 or 2; on a device always 2 */
} tsr_dirac_store_job;

/* The way back: a plane becomes samples around 0, its last column and row repeated up to the padded extents. */
typedef struct tsr_dirac_load_job {
    const void *plane;
    int64_t plane_stride;     /* elements of `bytes` bytes */
    const int32_t *predicted; /* is taken off; NULL: nothing is; rows `predicted_stride` apart */
    int64_t predicted_stride;
    int32_t *samples;
    int16_t *narrow; /* in place of `samples`; without a prediction */
    int64_t stride;
    int32_t width, height, padded_width, padded_height, bytes, depth;
} tsr_dirac_load_job;

/* What is launched between begin and end is recorded, not done; replay does it. */
struct tsr_graph;
typedef struct tsr_dirac_record_ops {
    tsr_status (*begin)(tsr_queue *queue);
    tsr_status (*end)(tsr_queue *queue, struct tsr_graph **graph);
    tsr_status (*replay)(tsr_queue *queue, struct tsr_graph *graph);
    void (*forget)(struct tsr_graph **graph);
} tsr_dirac_record_ops;

typedef struct tsr_dirac_ops {
    tsr_status (*store)(tsr_queue *queue, const tsr_dirac_store_job *job);
    tsr_status (*predict)(tsr_queue *queue, const tsr_dirac_predict_job *job);
    tsr_status (*load)(tsr_queue *queue, const tsr_dirac_load_job *job);
    tsr_status (*half)(tsr_queue *queue, const tsr_dirac_half_job *job);
    /* `count` jobs in the device's memory, of planes of one size. NULL where `record` is. */
    tsr_status (*store_there)(tsr_queue *queue, const tsr_dirac_store_job *there, int32_t width, int32_t height, int32_t count);
    /* What is predicted is stored at once. `job` is the first of those there, of which the extents are looked at. */
    tsr_status (*predict_there)(tsr_queue *queue, const tsr_dirac_predict_job *there, const tsr_dirac_store_job *stores,
                                const tsr_dirac_predict_job *job, int32_t count);
    /* Numbers of 16 bits become those of 32; behind the first `there` of `count` they are 0. NULL where `record` is. */
    tsr_status (*widen)(tsr_queue *queue, const int16_t *from, int64_t there, int32_t *to, int64_t count);
    const tsr_dirac_record_ops *record; /* NULL: it is of no use */
    const struct tsr_slice_ops *slices; /* slices/slice_jobs.h; NULL: slices are coded on the host */
    const struct tsr_core_ops *core;    /* slices/core_jobs.h: variable-length codes of core syntax; NULL: on the host */
} tsr_dirac_ops;

/* A sample around 0 as it is shown. */
TSR_HD int32_t tsr_dirac_shown(int64_t sum, int32_t half) { return (int32_t)tsr_minl(tsr_maxl(sum, -half), half - 1) + half; }

/* Sample (x, y), residue and prediction together. */
TSR_HD void tsr_dirac_store_sum(const tsr_dirac_store_job *j, int32_t x, int64_t y, int64_t sum)
{
    const int32_t half = 1 << (j->depth - 1), value = tsr_dirac_shown(sum, half) - half;
    if (j->reference) tsr_dirac_put_sample(j->reference, j->reference_bytes, y * j->width + x, value);
    if (!j->plane) return;
    if (j->bytes == 1) ((uint8_t *)j->plane)[y * j->plane_stride + x] = (uint8_t)(value + half);
    else ((uint16_t *)j->plane)[y * j->plane_stride + x] = (uint16_t)(value + half);
}

TSR_HD void tsr_dirac_store_sample(const tsr_dirac_store_job *j, int32_t x, int64_t y)
{
    const int64_t residue = j->narrow ? j->narrow[y * j->stride + x] : j->residue ? j->residue[y * j->stride + x] : 0;
    tsr_dirac_store_sum(j, x, y, residue + (j->predicted ? j->predicted[y * j->predicted_stride + x] : 0));
}

TSR_HD void tsr_dirac_load_sample(const tsr_dirac_load_job *j, int32_t x, int64_t y)
{
    const int64_t from_y = tsr_minl(y, j->height - 1), from_x = tsr_mini(x, j->width - 1), at = from_y * j->plane_stride + from_x;
    const int32_t value = j->bytes == 1 ? ((const uint8_t *)j->plane)[at] : ((const uint16_t *)j->plane)[at];
    const int32_t predicted = j->predicted ? j->predicted[from_y * j->predicted_stride + from_x] : 0;
    if (j->narrow) j->narrow[y * j->stride + x] = (int16_t)(value - (1 << (j->depth - 1)));
    else j->samples[y * j->stride + x] = value - (1 << (j->depth - 1)) - predicted;
}

#endif
