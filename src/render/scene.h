/* render/scene.h: the inside of a scene and of a picture. */
#ifndef TSR_RENDER_SCENE_H
#define TSR_RENDER_SCENE_H

#include "camera/camera.h"
#include "core/vec3.h"
#include "mesh/mesh.h"
#include "tiles/tiles.h"
#include "volume/volume.h"
#include "render/render_ops.h"
#include "tessera/render.h"

struct tsr_picture {
    tsr_context *context;
    int32_t width, height;
    float *rgba, *depth;  /* device */
    const void *drawn_by; /* what may draw parts of it anew, records that follow a list; NULL: somebody else drew last */
    uint64_t turn;        /* of drawn_by */
};

/* A dense volume as float32 with its bricks; source and surface may share it. */
typedef struct tsr_dense {
    int32_t users;
    const tsr_volume *volume; /* what it was made of, only compared */
    const float *values;      /* device: the volume's own or that of `owned` */
    tsr_volume *owned;
    tsr_geometry geometry;
    int32_t size[3], bricks[3];
    int64_t brick_count;
    float *range, *slope; /* device, [brick_count][2] and [brick_count] */
    int64_t nan_voxels;
    double minimum, maximum, window_low, window_high;
} tsr_dense;

/* What a table of a transfer function depends on. Zeroed before it is filled: compared as bytes. */
struct tsr_lookup_key {
    tsr_transfer_linear transfer;
    int32_t kind, size;
    float low, high, length; /* range of values; extinction times step */
};

struct tsr_scene {
    tsr_context *context;
    struct {
        struct tsr_lookup_key key;
        tsr_lookup_view view;
        void *entries;
        size_t bytes;
    } lookup;
    tsr_dense *source;
    uint8_t *source_skip, *source_scratch; /* of the transfer function of the picture being drawn */

    int32_t surface_kind; /* TSR_FIELD_... */
    tsr_dense *surface;
    double isovalue;
    int32_t inside_below;
    double box_low[3], box_high[3]; /* dense: index box of the bricks in which the field changes sign; */
    int32_t boxed;                  /* 0 if there is none */
    uint8_t *surface_skip, *surface_scratch;
    uint64_t *surface_cells;             /* dense, where the backend uses them */
    uint8_t *shell_skip, *shell_scratch; /* of its transfer function; made when first used */
    size_t surface_skip_bytes;
    /* tiles */
    const float *tile_values;
    uint32_t *table;
    float tile_band;                   /* static tiles are +band and -band */
    const struct tsr_records *records; /* of the list: what its surface is drawn from; NULL: the field */
    double tile_isovalue;              /* theirs, else 0 */
    int cull;                          /* of the records: no backs */
    int32_t log2_edge, tile_size[3], tile_bricks[3], tile_origin[3];
    tsr_geometry tile_geometry;
    /* mesh */
    tsr_bvh bvh;
    size_t node_bytes, corner_bytes;
    tsr_vec3 mesh_origin;
    tsr_space mesh_space;
    tsr_box mesh_bounds;
};

/* Nodes and reordered triangles of a host mesh, host memory (free with tsr_bvh_free). */
typedef struct tsr_bvh_host {
    tsr_bvh_node *nodes;
    float *corners, *normals;
    int64_t node_count, triangles;
    tsr_vec3 origin;
    tsr_box bounds;
} tsr_bvh_host;
tsr_status tsr_bvh_build(const tsr_mesh *mesh, tsr_bvh_host *bvh);
void tsr_bvh_free(tsr_bvh_host *bvh);

/* Field of a dense volume or tile list relative to the frame's centre; scale, offset and skip are left to the caller. */
tsr_status tsr_dense_field(const tsr_dense *dense, tsr_vec3 centre, tsr_field *field);
/* info: bounds, space and spacing. */
void tsr_dense_describe(const tsr_dense *dense, tsr_scene_info *info);
tsr_status tsr_scene_surface_field(const tsr_scene *scene, tsr_vec3 centre, tsr_field *field);
/* The table for a key, made anew or the one of the call before. */
tsr_status tsr_scene_lookup(tsr_scene *scene, const struct tsr_lookup_key *key, tsr_lookup_view *view);
void tsr_scene_drop_lookup(tsr_scene *scene);
tsr_status tsr_transfer_check(const tsr_transfer *transfer, tsr_transfer_linear *linear);

/* Rows of the picture that are drawn between two reports, and the report after one. */
int32_t tsr_band_rows(const tsr_context *context, const tsr_progress *progress, int32_t width, int32_t height, int32_t samples);
tsr_status tsr_band_done(const tsr_context *context, const tsr_progress *progress, int32_t rows, int32_t height);
/* Are the records of a list with this geometry in this context? */
tsr_status tsr_records_belong(const struct tsr_records *records, const tsr_context *context, const tsr_geometry *geometry);
/* Draws a frame around `centre` whose surface is met in the records, layer by layer; the rest as the frame says. */
tsr_status tsr_records_paint(const struct tsr_records *records, tsr_vec3 centre, const tsr_frame *frame, const tsr_transfer_linear *transfer,
                             int cull, const tsr_progress *progress, tsr_picture *picture);

/* Parts of a frame: rays of a camera around `centre` (of info: bounds), colours and light (of info: the window), rays per pixel. */
tsr_status tsr_frame_set_camera(const tsr_camera *camera, const tsr_scene_info *info, tsr_vec3 centre, tsr_frame *frame);
tsr_status tsr_frame_set_look(const tsr_scene_info *info, const tsr_render_options *options, tsr_frame *frame);
/* Steps along rays; the clipping plane (`source`: there is a volume to show on it); the source as a medium of a transfer function, checked into *transfer. */
tsr_status tsr_frame_set_step(const tsr_scene_info *info, const tsr_render_options *options, tsr_frame *frame);
tsr_status tsr_frame_set_clip(int source, const tsr_render_options *options, tsr_vec3 centre, tsr_frame *frame);
tsr_status tsr_frame_set_medium(const tsr_scene_info *info, const tsr_render_options *options, tsr_transfer_linear *transfer, tsr_frame *frame);
tsr_status tsr_frame_supersampling(int32_t n, int32_t *samples);

static inline tsr_float3 tsr_vec3_float(tsr_vec3 a) { return tsr_f3((float)a.x, (float)a.y, (float)a.z); }
static inline tsr_float3 tsr_color_linear(tsr_color c) { return tsr_srgb_linear(c.r, c.g, c.b); }
static inline int tsr_color_unset(tsr_color c) { return !(c.r > 0 || c.g > 0 || c.b > 0); }
/* A colour of the options or, where it is black and not `given` (a bit of tsr_given), the default. */
static inline tsr_color tsr_color_or(tsr_color c, uint32_t given, uint32_t bit, tsr_color otherwise)
{
    return tsr_color_unset(c) && !(given & bit) ? otherwise : c;
}

#endif
