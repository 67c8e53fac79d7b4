/* primitives/sort_cpu.h: the radix sort of the CPU backend. */
#ifndef TSR_PRIMITIVES_SORT_CPU_H
#define TSR_PRIMITIVES_SORT_CPU_H

#include "primitives/primitives_ops.h"

size_t tsr_cpu_sort_bytes(int32_t key_bytes, int payload, int64_t count);
tsr_status tsr_cpu_sort(tsr_queue *queue, const tsr_sort_job *job, void *workspace);

#endif
