/* wavelet/wavelet.h: the inside of a plan. */
#ifndef TSR_WAVELET_WAVELET_H
#define TSR_WAVELET_WAVELET_H

#include "wavelet/wavelet_ops.h"

enum tsr_wavelet_memory { TSR_WAVELET_SAMPLES = 0, TSR_WAVELET_COEFFICIENTS, TSR_WAVELET_WORK };

/* An array before its memory is known. */
typedef struct tsr_wavelet_slot {
    enum tsr_wavelet_memory memory;
    int64_t offset, stride[TSR_WAVELET_DIMENSIONS]; /* elements */
} tsr_wavelet_slot;

typedef struct tsr_wavelet_stage {
    uint32_t axes;
    int64_t size[TSR_WAVELET_DIMENSIONS];
    int32_t splits[TSR_WAVELET_AXES]; /* how often each axis was split, this level included */
    tsr_wavelet_slot whole, band[TSR_WAVELET_BANDS];
    double scale[TSR_WAVELET_BANDS];
} tsr_wavelet_stage;

struct tsr_wavelet_plan {
    tsr_context *context;
    tsr_dtype dtype;
    int32_t dimensions, levels, stages, shift, inplace, checked, step_count;
    tsr_wavelet_filter filter;
    tsr_wavelet_boundary boundary;
    tsr_wavelet_layout layout;
    double scale; /* K; 1 = not normalised */
    int64_t size[TSR_WAVELET_DIMENSIONS], elements;
    int64_t coefficient_stride[TSR_WAVELET_DIMENSIONS]; /* of their whole array; of subbands only the batch's counts */
    int64_t approximation_offset, work_offset, workspace_bytes;
    int64_t dense_bytes; /* of samples and of coefficients where neither have gaps, else 0 */
    tsr_wavelet_step steps[TSR_WAVELET_STEPS];
    tsr_lift_filter forward, inverse;
    tsr_wavelet_recording *recording; /* of the backend; not part of what the plan fixes */
    tsr_wavelet_stage stage[];        /* one per level; one without axes where there is no level */
};

/* wide.c: the way back of a checked int16 plan, exact; *fits 0: the samples do not fit into 16 bits, and what they hold is what it was. Waits for
 * the queue. */
tsr_status tsr_wavelet_inverse_wide(const tsr_wavelet_plan *plan, void *samples, void *coefficients, int *fits);

#endif
