/* render/records_list.h: the inside of surface records (host part), shared by extraction, drawing and the records that follow a list. */
#ifndef TSR_RENDER_RECORDS_LIST_H
#define TSR_RENDER_RECORDS_LIST_H

#include "tiles/tiles.h"
#include "render/records_ops.h"
#include "render/scene.h"

struct tsr_records {
    tsr_context *context;
    tsr_geometry geometry;
    double isovalue;
    int64_t count; /* places of records; those in gaps are of case 0 */
    int64_t kept;  /* of them: without gaps */
    int64_t origin[3];
    int32_t fixed;              /* the box is that of the domain */
    int64_t lower[3], upper[3]; /* half-open box of the cells' corners that can be met, in voxels */
    void *memory;
    int64_t room;     /* records that the memory holds */
    uint64_t *values; /* in `memory`, one after the other */
    uint16_t *positions;
    uint8_t *cases;
    /* Of records that follow a list, else NULL: where those of each tile are, by id. */
    const tsr_record_run *runs;
    const uint64_t *keys; /* of the ids */
    int64_t ids;
    int32_t log2_edge;
};

/* Checks list and isovalue and fills a job but for its arrays; the state of the list. Waits for the queue. */
tsr_status tsr_records_lay(tsr_context *context, const tsr_tiles *tiles, double isovalue, tsr_records_job *job, tsr_tile_state *state);
/* Where the surface can lie, and the voxel from which positions count; `centred`: a list that may grow, with as much room on all sides, the box in
 * steps. */
enum { TSR_RECORDS_STEP = 64 };
tsr_status tsr_records_set_box(const tsr_tiles *tiles, int centred, tsr_records *records);
/* Records as kernels see them; positions in the world relative to `centre`. */
void tsr_records_view_of(const tsr_records *records, tsr_vec3 centre, int outside, tsr_records_view *view);
/* Memory for `room` records, not filled. */
tsr_status tsr_records_take(tsr_records *records, int64_t room);

/* The picture of the call before: what is drawn anew is where something changed since. Zeroed at first. */
typedef struct tsr_records_canvas {
    uint64_t *hits; /* device */
    size_t bytes;
    int valid;
    uint64_t turn; /* pictures drawn */
    tsr_camera camera;
    tsr_render_options options;
    tsr_records box; /* its box, origin and geometry are those that rays were made for */
    int cull;
    /* Tiles whose records are others now; too many to list: all. */
    uint64_t *keys;
    int64_t count, room;
    int all;
} tsr_records_canvas;

/* As tsr_records_draw; with a canvas the pixels that changed alone, *pixels of them. */
tsr_status tsr_records_draw_on(const tsr_records *records, const tsr_camera *camera, const tsr_render_options *options, int cull,
                               tsr_picture *picture, tsr_records_canvas *canvas, int64_t *pixels);

#endif
