/* fluid/fluid_isa.h: tiles of splatted particles and rows of pixels, built once per SIMD variant. */
#ifndef TSR_FLUID_FLUID_ISA_H
#define TSR_FLUID_FLUID_ISA_H

#include "device/isa.h"
#include "fluid/fluid_ops.h"

/* Particles in records; fates and entries are added up. */
TSR_ISA_DECLARE(void, tsr_fluid_project_range, const tsr_fluid_bin_job *job, int32_t begin, int32_t end, tsr_fluid_tally *tally)
TSR_ISA_DECLARE(void, tsr_fluid_splat_tile, const tsr_fluid_splat_job *job, int32_t tile)
TSR_ISA_DECLARE(void, tsr_fluid_enlarge_row, const tsr_fluid_view *thin, const float *from, const tsr_fluid_view *view, float *to, int32_t y)
TSR_ISA_DECLARE(void, tsr_fluid_noise_tile, const tsr_fluid_noise_job *job, int32_t tile)
TSR_ISA_DECLARE(void, tsr_fluid_shape_range, const tsr_fluid_shape_job *job, int32_t begin, int32_t end)
/* Pixels [begin, end) of row y, from one image to the other. */
TSR_ISA_DECLARE(void, tsr_fluid_flow_row, const tsr_fluid_flow_job *job, const float *from, float *to, int32_t y, int32_t begin, int32_t end)
/* Implicit steps: coefficients of a row; a window of up to 16 rows, and of up to 16 columns (from w in `other` back to `depth`). */
TSR_ISA_DECLARE(void, tsr_fluid_assemble_row, const tsr_fluid_flow_job *job, int32_t both, int32_t y)
TSR_ISA_DECLARE(void, tsr_fluid_solve_rows, const tsr_fluid_flow_job *job, int32_t x, int32_t y)
TSR_ISA_DECLARE(void, tsr_fluid_solve_columns, const tsr_fluid_flow_job *job, int32_t x, int32_t y)
TSR_ISA_DECLARE(void, tsr_fluid_relax_row, const tsr_fluid_level *level, const float *from, float *to, float weight, int32_t y)
TSR_ISA_DECLARE(void, tsr_fluid_filter_row, const tsr_fluid_filter_job *job, const float *from, float *to, int32_t pass, int32_t y)
/* A row of cells of the bilateral grid: its pixels, blurred along axis 2, 0 or 1; and a row of pixels from it. */
TSR_ISA_DECLARE(void, tsr_fluid_grid_fill_row, const tsr_fluid_grid_job *job, int32_t y)
TSR_ISA_DECLARE(void, tsr_fluid_grid_blur_row, const tsr_fluid_grid_job *job, int32_t axis, int32_t y)
TSR_ISA_DECLARE(void, tsr_fluid_grid_slice_row, const tsr_fluid_grid_job *job, int32_t y)
TSR_ISA_DECLARE(void, tsr_fluid_blur_row, const tsr_fluid_blur_job *job, const float *from, float *to, int32_t across, int32_t y)
TSR_ISA_DECLARE(void, tsr_fluid_normal_row, const tsr_fluid_normal_job *job, int32_t y)
TSR_ISA_DECLARE(void, tsr_fluid_backdrop_row, const tsr_fluid_backdrop_job *job, int32_t y)
TSR_ISA_DECLARE(void, tsr_fluid_scene_row, const tsr_fluid_backdrop_job *job, int32_t y)
TSR_ISA_DECLARE(void, tsr_fluid_compose_row, const tsr_fluid_compose_job *job, int32_t y)
TSR_ISA_DECLARE(void, tsr_fluid_encode_range, const float *color, uint8_t *image, int64_t begin, int64_t end, int32_t channels, float exposure)

#endif
