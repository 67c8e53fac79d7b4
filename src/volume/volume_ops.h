/* volume/volume_ops.h: what a backend provides for dense volumes. All pointers are device memory of the queue unless said otherwise. */
#ifndef TSR_VOLUME_VOLUME_OPS_H
#define TSR_VOLUME_VOLUME_OPS_H

#include "device/backend.h"
#include "volume/filter_math.h"
#include "tessera/map.h"

/* Voxels to be read as real values. */
typedef struct tsr_source {
    const void *data;
    tsr_dtype dtype;
    double slope, intercept;
} tsr_source;

typedef struct tsr_smooth_plan {
    int64_t size[3];
    int64_t radius[3];
    const float *weights[3]; /* radius + 1 each, centre first */
} tsr_smooth_plan;

typedef struct tsr_volume_ops {
    /* to[i] = real value of from[i] as tsr_voxel_store writes it */
    tsr_status (*convert)(tsr_queue *queue, const tsr_source *from, void *to, tsr_dtype to_type, int64_t count);
    tsr_status (*rearrange)(tsr_queue *queue, const tsr_rearrange *plan, const void *from, void *to, size_t element);
    tsr_status (*resample)(tsr_queue *queue, const tsr_resample_plan *plan, const void *from, tsr_dtype dtype, void *to);
    /* `scratch`: as large as `to` where smooth_needs_scratch, else NULL */
    tsr_status (*smooth)(tsr_queue *queue, const tsr_smooth_plan *plan, const tsr_source *from, float *to, float *scratch);
    int smooth_needs_scratch;
    tsr_status (*laplacian)(tsr_queue *queue, const float *from, float *to, const int64_t size[3], const float inverse[3]);
    /* one record per TSR_STATISTICS_BLOCK voxels, first_nonfinite counted from the volume's begin */
    tsr_status (*statistics)(tsr_queue *queue, const tsr_source *from, int64_t count, tsr_block_statistics *blocks);
    /* *bad |= 1 if a stored value is NaN or infinite; f32 and f64 only */
    tsr_status (*find_nonfinite)(tsr_queue *queue, const void *data, tsr_dtype dtype, int64_t count, uint32_t *bad);
    /* counts of bins + 3 numbers, zero before */
    tsr_status (*histogram)(tsr_queue *queue, const tsr_source *from, int64_t count, const tsr_histogram_plan *plan, uint64_t *counts);
    tsr_status (*threshold)(tsr_queue *queue, const tsr_source *from, int64_t count, double lower, double upper, uint8_t *mask);
    /* mask[i] = tsr_voxel_selected(data, dtype, i, lower, upper, outside) */
    tsr_status (*select)(tsr_queue *queue, const void *data, tsr_dtype dtype, int64_t count, int64_t lower, int64_t upper, int outside,
                         uint8_t *mask);
    tsr_status (*combine)(tsr_queue *queue, tsr_combination combination, double a, const tsr_source *first, double b, const tsr_source *second,
                          double c, float *to, int64_t count);
    /* labels of the components of mask and their number; `work`: components_work bytes (may be 0) */
    tsr_status (*components)(tsr_queue *queue, const uint8_t *mask, const int64_t size[3], int connectivity, uint32_t *labels, void *work,
                             uint32_t *total);
    size_t (*components_work)(const int64_t size[3]);
    /* sizes[label] += its voxels */
    tsr_status (*label_sizes)(tsr_queue *queue, const uint32_t *labels, int64_t count, uint64_t *sizes);
    /* mask[i] = keep[labels[i]] */
    tsr_status (*select_labels)(tsr_queue *queue, const uint32_t *labels, int64_t count, const uint8_t *keep, uint8_t *mask);
    /* the module's function on every element of the domain */
    tsr_status (*map)(tsr_queue *queue, const tsr_map_module *module, const tsr_map_job *job);
} tsr_volume_ops;

#endif
