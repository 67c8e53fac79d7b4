/* surface/surface.h: the inside of surface extraction (host part), shared by dense volumes and tile lists. */
#ifndef TSR_SURFACE_SURFACE_H
#define TSR_SURFACE_SURFACE_H

#include "surface/surface_ops.h"

/* Checks the options and fills options, matrices and sides of the grid for samples of `dtype` with this scaling. */
tsr_status tsr_surface_prepare(tsr_surface_grid *grid, const tsr_surface_options *own, tsr_dtype dtype, double slope, double intercept,
                               const tsr_geometry *geometry);
/* Counts, allocates and writes; the grid has everything but its working memory. `extra`: ids of a tile list (slot_of), else 0. */
tsr_status tsr_surface_run(tsr_context *context, tsr_surface_grid *grid, int64_t extra, tsr_space space, tsr_mesh **mesh, tsr_surface_report *report);

#endif
