/* mesh/voxelize_job.h: one conversion of a mesh, as the host sees it. */
#ifndef TSR_MESH_VOXELIZE_JOB_H
#define TSR_MESH_VOXELIZE_JOB_H

#include "device/backend.h"
#include "mesh/voxelize_boundary.h"
#include "mesh/voxelize_ops.h"
#include "tessera/voxelize.h"

enum { TSR_VOX_PIECES = 24 };

/* One conversion: the grid as the backend sees it and what must be released. */
struct tsr_vox_job {
    tsr_context *context;
    const tsr_mesh *mesh;
    tsr_voxelize_options options;
    tsr_geometry geometry;
    tsr_vox_grid g;
    tsr_vox_summary found, *summary;
    tsr_vox_boundary boundary;
    uint64_t *holes; /* keys of tiles that no triangle touches */
    int64_t hole_count;
    int32_t lower[3], upper[3]; /* tiles the mesh may touch */
    int sorted_out;             /* open_mesh was here */
    int inverted;               /* consistent, but pieces of it are inside out */
    struct {
        void *memory;
        size_t bytes;
        int kept; /* from one pass to the next */
    } piece[TSR_VOX_PIECES];
    int64_t held;
    tsr_voxelize_report report;
};

/* What the host made, for the backend, from this pass to the next. */
tsr_status tsr_vox_take_copy(struct tsr_vox_job *j, const void *host, int64_t bytes, const char *what, const void **copy);

/* Sorts out on the host a mesh whose edges do not fit: turned triangles, or a boundary. After the frames of its triangles. */
tsr_status tsr_vox_open_mesh(struct tsr_vox_job *j);
/* The signs of what is absent in the list of an open mesh; or *again: tiles were missing, and another pass makes them. The last pass takes what there is. */
tsr_status tsr_vox_close_list(struct tsr_vox_job *j, tsr_tiles *list, int last, int *again);
/* report.closing of the list of an open mesh. */
tsr_status tsr_vox_measure_closing(struct tsr_vox_job *j, const tsr_tiles *list);

#endif
