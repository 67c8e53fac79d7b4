/* primitives/segments_cpu.h: the parts of the CPU backend's table that stand in segments_cpu.c and scatter_cpu.c. */
#ifndef TSR_PRIMITIVES_SEGMENTS_CPU_H
#define TSR_PRIMITIVES_SEGMENTS_CPU_H

#include "primitives/primitives_ops.h"

tsr_status tsr_cpu_reduce(tsr_queue *queue, tsr_reduction reduction, tsr_dtype dtype, const void *data, int64_t count, tsr_reduced *result,
                          void *workspace);
tsr_status tsr_cpu_segment_reduce(tsr_queue *queue, const tsr_segment_reduce_job *job, void *workspace);
size_t tsr_cpu_segment_scan_bytes(int64_t count);
tsr_status tsr_cpu_segment_scan(tsr_queue *queue, const tsr_segment_scan_job *job, void *workspace);
tsr_status tsr_cpu_segment_rest(tsr_queue *queue, void *offsets, int32_t wide, int64_t capacity, const uint64_t *found, int64_t count);
tsr_status tsr_cpu_gather(tsr_queue *queue, const tsr_gather_job *job);
tsr_status tsr_cpu_scatter(tsr_queue *queue, const tsr_scatter_job *job);
tsr_status tsr_cpu_combine(tsr_queue *queue, const tsr_scatter_job *job);
tsr_status tsr_cpu_ramp(tsr_queue *queue, uint32_t *numbers, int64_t count);
tsr_status tsr_cpu_starts(tsr_queue *queue, const void *keys, int32_t wide, int64_t count, int64_t out_count, uint64_t *starts);
tsr_status tsr_cpu_combine_places(tsr_queue *queue, tsr_scatter_rule rule, tsr_dtype dtype, const uint64_t *starts, const tsr_reduced *reduced,
                                  int64_t out_count, void *out);

#endif
