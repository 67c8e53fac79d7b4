/* vision/views/views_isa.h: loops over samples, triangles and pixels, a variant per instruction set. Class exact. */
#ifndef TSR_VISION_VIEWS_VIEWS_ISA_H
#define TSR_VISION_VIEWS_VIEWS_ISA_H

#include "device/isa.h"
#include "vision/views/views_math.h"

/* Rows [begin, end) of samples. */
TSR_ISA_DECLARE(void, tsr_views_vertex_rows, const tsr_view_job *job, int64_t begin, int64_t end)
TSR_ISA_DECLARE(void, tsr_views_draw_rows, const tsr_view_job *job, int64_t begin, int64_t end)
/* Rows [begin, end) of pixels. */
TSR_ISA_DECLARE(void, tsr_views_resolve_rows, const tsr_view_job *job, int64_t begin, int64_t end)
TSR_ISA_DECLARE(void, tsr_views_merge_rows, const tsr_merge_job *job, int64_t begin, int64_t end)
TSR_ISA_DECLARE(void, tsr_views_texture_rows, const tsr_merge_job *job, int64_t begin, int64_t end)
TSR_ISA_DECLARE(void, tsr_views_sweep_rows, const tsr_sweep_job *job, int64_t begin, int64_t end)

#endif
