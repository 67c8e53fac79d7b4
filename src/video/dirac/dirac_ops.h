/* video/dirac/dirac_ops.h: what a backend provides for Dirac and VC-2 pictures. All pointers are device memory of the queue. */
#ifndef TSR_VIDEO_DIRAC_DIRAC_OPS_H
#define TSR_VIDEO_DIRAC_DIRAC_OPS_H

#include "core/hd.h"
#include "device/backend.h"

/* Samples of a component become those of a plane: cropped, clamped, no longer around 0. */
typedef struct tsr_dirac_store_job {
    const int32_t *samples;
    int64_t stride; /* of the samples, elements */
    void *plane;
    int64_t plane_stride; /* elements of `bytes` bytes */
    int32_t width, height, bytes, depth;
} tsr_dirac_store_job;

typedef struct tsr_dirac_ops {
    tsr_status (*store)(tsr_queue *queue, const tsr_dirac_store_job *job);
} tsr_dirac_ops;

TSR_HD int32_t tsr_dirac_sample(int32_t value, int32_t depth)
{
    const int32_t half = 1 << (depth - 1);
    return (value < -half ? -half : value > half - 1 ? half - 1 : value) + half;
}

#endif
