/* volume/volume_cpu.h: the CPU operations of volume_ops.h that have files of their own. */
#ifndef TSR_VOLUME_VOLUME_CPU_H
#define TSR_VOLUME_VOLUME_CPU_H

#include "volume/volume_ops.h"

tsr_status tsr_cpu_smooth(tsr_queue *queue, const tsr_smooth_plan *plan, const tsr_source *from, float *to, float *scratch);
tsr_status tsr_cpu_laplacian(tsr_queue *queue, const float *from, float *to, const int64_t size[3], const float inverse[3]);
tsr_status tsr_cpu_resample(tsr_queue *queue, const tsr_resample_plan *plan, const void *from, tsr_dtype dtype, void *to);
size_t tsr_cpu_components_work(const int64_t size[3]);
tsr_status tsr_cpu_components(tsr_queue *queue, const uint8_t *mask, const int64_t size[3], int connectivity, uint32_t *labels, void *work,
                               uint32_t *total);
tsr_status tsr_cpu_label_sizes(tsr_queue *queue, const uint32_t *labels, int64_t count, uint64_t *sizes);
tsr_status tsr_cpu_select_labels(tsr_queue *queue, const uint32_t *labels, int64_t count, const uint8_t *keep, uint8_t *mask);

#endif
