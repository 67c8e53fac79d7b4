/* wavelet/wavelet_ops.h: what a backend provides for wavelet transforms. All pointers are device memory of the queue. */
#ifndef TSR_WAVELET_WAVELET_OPS_H
#define TSR_WAVELET_WAVELET_OPS_H

#include "device/backend.h"
#include "wavelet/lifting.h"

enum { TSR_WAVELET_DIMENSIONS = TSR_WAVELET_AXES + 1, /* the last one is the batch, never transformed */ TSR_WAVELET_BANDS = 1 << TSR_WAVELET_AXES };

typedef struct tsr_wavelet_array {
    void *data;
    int64_t stride[TSR_WAVELET_DIMENSIONS]; /* elements */
} tsr_wavelet_array;

/* One level. Element i of the level's samples along a transformed axis a belongs to the bands with bit a = i & 1, there it is number i >> 1. */
typedef struct tsr_wavelet_level {
    tsr_dtype dtype;
    tsr_wavelet_boundary boundary;
    int32_t shift;                        /* accuracy bits */
    int32_t inplace;                      /* the bands lie in the memory of `whole` */
    int32_t scaled;                       /* scale[] is not all 1 */
    uint32_t axes;                        /* bit a: transformed (and longer than 1) */
    int64_t size[TSR_WAVELET_DIMENSIONS]; /* of the samples */
    tsr_wavelet_array whole;
    tsr_wavelet_array band[TSR_WAVELET_BANDS]; /* by bits high along axis a; only subsets of `axes` */
    double scale[TSR_WAVELET_BANDS];           /* the forward transform's factor, floats only */
} tsr_wavelet_level;

/* What a backend remembers of a plan's last transforms, so that the next one of the same memory is one call. */
typedef struct tsr_wavelet_recording tsr_wavelet_recording;

typedef struct tsr_wavelet_job {
    const tsr_wavelet_level *level; /* host memory, finest first */
    int32_t levels;
    const tsr_lift_filter *forward, *inverse; /* host memory */
    uint32_t *lost;                           /* one word, set to non-zero when a value does not fit into 16 bits; NULL: nobody asks */
    void *work;                               /* work_bytes */
    tsr_wavelet_recording *recording;         /* NULL: none */
    const void *memory[3];                    /* that decides all addresses: samples, coefficients, workspace */
} tsr_wavelet_job;

struct tsr_shrink_ops;
struct tsr_keep_ops;

typedef struct tsr_wavelet_ops {
    /* How often a level's samples are read and written. NULL: once for x and y together, once for every other axis. */
    int32_t (*passes)(const tsr_wavelet_level *level, const tsr_lift_filter *forward, int inverse);
    /* How many of the job's levels, from number `first` on (the finest of them), go through memory together, which reads and writes the samples of the first
     * once: below 2: none. NULL: never. */
    int32_t (*together)(tsr_queue *queue, const tsr_wavelet_job *job, int32_t first, int inverse);
    size_t (*work_bytes)(tsr_queue *queue, int32_t threads, const tsr_wavelet_level *level, int32_t levels, const tsr_lift_filter *filter);
    tsr_status (*forward)(tsr_queue *queue, const tsr_wavelet_job *job);
    tsr_status (*inverse)(tsr_queue *queue, const tsr_wavelet_job *job);
    tsr_status (*copy)(tsr_queue *queue, size_t element, const int64_t size[TSR_WAVELET_DIMENSIONS], const tsr_wavelet_array *from,
                       const tsr_wavelet_array *to);
    /* NULL: nothing is recorded. */
    tsr_status (*recording_create)(tsr_wavelet_recording **recording);
    void (*recording_destroy)(tsr_wavelet_recording **recording);
    const struct tsr_shrink_ops *denoise; /* shrink.h */
    const struct tsr_keep_ops *keep;      /* keep.h */
} tsr_wavelet_ops;

/* Numbers along axis a of a band with these bits. */
TSR_HD int64_t tsr_wavelet_band_size(const tsr_wavelet_level *l, uint32_t bits, int32_t a)
{
    return !(l->axes >> a & 1) ? l->size[a] : (bits >> a & 1) ? l->size[a] / 2 : (l->size[a] + 1) / 2;
}

/* The samples seen as interleaved bands. */
TSR_HD tsr_wavelet_array tsr_wavelet_interleaved(const tsr_wavelet_array *whole, uint32_t axes, uint32_t bits, size_t element)
{
    tsr_wavelet_array b = *whole;
    int64_t offset = 0;
    for (int32_t a = 0; a < TSR_WAVELET_AXES; a++) {
        if (!(axes >> a & 1)) continue;
        if (bits >> a & 1) offset += whole->stride[a];
        b.stride[a] = 2 * whole->stride[a];
    }
    b.data = (char *)whole->data + offset * (int64_t)element;
    return b;
}

/* Bands of a partly inverted level: those along the axes of `left` still apart (in place: where they are; else as halves), the others back in
 * place of the samples. */
static inline void tsr_wavelet_partly(const tsr_wavelet_level *l, uint32_t left, size_t element, tsr_wavelet_array *bands)
{
    for (uint32_t bits = 0; bits < TSR_WAVELET_BANDS; bits++) {
        if (bits & ~l->axes) continue;
        bands[bits] = tsr_wavelet_interleaved(&l->whole, l->axes & ~left, bits & ~left, element);
        for (int32_t a = 0; a < TSR_WAVELET_AXES; a++) {
            if (!(l->axes & left) || !((l->axes & left) >> a & 1)) continue;
            int64_t step = (l->size[a] + 1) / 2 * l->whole.stride[a] * (int64_t)element;
            if (l->inplace) {
                step = (const char *)l->band[1u << a].data - (const char *)l->band[0].data;
                bands[bits].stride[a] = l->band[0].stride[a];
            }
            if (bits >> a & 1) bands[bits].data = (char *)bands[bits].data + step;
        }
    }
}

#endif
