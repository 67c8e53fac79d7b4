/* surface/surface.h: the inside of surface extraction (host part), shared by dense volumes and tile lists. */
#ifndef TSR_SURFACE_SURFACE_H
#define TSR_SURFACE_SURFACE_H

#include "surface/surface_ops.h"

/* Checks the options and fills options, matrices and sides of the grid for samples of `dtype` with this scaling. */
tsr_status tsr_surface_prepare(tsr_surface_grid *grid, const tsr_surface_options *own, tsr_dtype dtype, double slope, double intercept,
                               const tsr_geometry *geometry);

struct tsr_surface_workspace {
    tsr_context *context;
    void *memory;
    int64_t bytes, list_words; /* of the surface before */
    int32_t clear;             /* as the grid's */
    tsr_mesh *mesh;
    struct tsr_vertex_store *store; /* the CPU's */
};

/* Counts, allocates and writes; the grids (of one volume, for several isovalues) have everything but their working memory. `extra`: ids of a tile
 * list (slot_of), else 0. reports: NULL, or with the cells filled in. After a failure the meshes are NULL. With a
 * workspace (count 1) memory and mesh are the workspace's. */
tsr_status tsr_surface_run(tsr_context *context, tsr_surface_grid *grids, int32_t count, int64_t extra, tsr_space space,
                           tsr_surface_workspace *workspace, tsr_mesh **meshes, tsr_surface_report *reports);
/* options->nan. */
tsr_status tsr_surface_check_samples(const tsr_surface_grid *grid, uint64_t not_a_number);
/* The extents of a volume with the pad set; checks them. `data` NULL so far. */
tsr_status tsr_surface_lay(tsr_surface_grid *grid, tsr_size3 size);
/* Grids of a volume for these isovalues, but for their working memory; reports NULL or [count], their cells. */
tsr_status tsr_surface_lay_volume(tsr_context *context, const tsr_volume *volume, const tsr_surface_options *options, const double *isovalues,
                                  int32_t count, tsr_surface_grid *grids, tsr_surface_report *reports);
/* Checks options and list and fills the grid but for its working memory; *count = stored tiles. Waits for the queue. */
tsr_status tsr_surface_lay_tiles(tsr_context *context, const struct tsr_tiles *tiles, const tsr_surface_options *options, tsr_surface_grid *grid,
                                 int64_t *count);

#endif
