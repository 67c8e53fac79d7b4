/* flow/flow_isa.h: loops built once per SIMD variant. */
#ifndef TSR_FLOW_FLOW_ISA_H
#define TSR_FLOW_FLOW_ISA_H

#include "device/isa.h"
#include "flow/flow_ops.h"

/* S and, behind it, T of slice z, [2][ny][nx]. */
TSR_ISA_DECLARE(void, tsr_contour_slice, const tsr_contour_job *job, int32_t z, float *s)
/* Counts of the samples of slice z from S and T of this slice and the next (NULL behind the last). */
TSR_ISA_DECLARE(void, tsr_contour_count_slice, const tsr_contour_job *job, int32_t z, const float *here, const float *above)
TSR_ISA_DECLARE(void, tsr_contour_seed_range, const tsr_contour_job *job, int64_t begin, int64_t end)
TSR_ISA_DECLARE(void, tsr_derive_range, const tsr_derive_job *job, int64_t begin, int64_t end)
TSR_ISA_DECLARE(void, tsr_stream_range, const tsr_stream_job *job, int64_t begin, int64_t end)
TSR_ISA_DECLARE(void, tsr_line_range, const tsr_lines_job *job, int64_t begin, int64_t end)
TSR_ISA_DECLARE(void, tsr_value_range, const tsr_values_job *job, int64_t begin, int64_t end)

#endif
