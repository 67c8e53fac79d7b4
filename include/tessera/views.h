/* tessera/views.h: new views from depth images: projection of depth surfaces, textures from other cameras, merging, accumulation over a sweep.
 *
 * A depth image and its camera are a projector: every sample becomes a point of the world, neighbours a mesh of quads, which another camera looks
 * at. The
 * rasteriser is our own: corners in 1/256 pixel, whole numbers decide what is covered, and per pixel the smallest of (distance, number of the
 * triangle) wins,
 * whatever the order of work. Pixels whose centre lies on an edge belong to the triangles on both sides.
 * Class: exact: cpu, emu and cuda give the same bits, with any number of threads. Images are 8-bit sRGB and mixed as they are.
 * Source: docs/theory/cameras.md. */
#ifndef TESSERA_VIEWS_H
#define TESSERA_VIEWS_H

#include "tessera/camera.h"
#include "tessera/io.h"
#include "tessera/volume.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { TSR_VIEWS_MOST = 16 }; /* that are merged, or textures of one view */

/* Cameras must have no lens (remove it from the images: tsr_lens_warp; from depths with TSR_LENS_NEAREST). */
typedef struct tsr_projector {
    tsr_camera camera;
    const tsr_volume *depth;    /* BORROWS; f32 [height][width] on the view's device: distance along the axis, 0 = none (tsr_depth_decode) */
    const tsr_volume *position; /* or a geometry image: f32 [height][3 width], x y z of the world per pixel; not a number cuts a hole */
    const tsr_volume *color;    /* BORROWS; u8 [rows][3 columns] (tsr_frames_upload), any size of the same aspect; NULL: white */
    double quantum;             /* step of the depths in world units (tsr_depth_report); 0: real numbers */
    tsr_vec3 cone_axis;         /* with cone_degrees > 0: seen only from within this cone, its tip in the camera's position, */
    double cone_degrees;        /* half of its opening angle */
} tsr_projector;

/* ---- one projector ------------------------------------------------------------------------------------------------------------- */

typedef struct tsr_novel tsr_novel; /* picture, distances and where they come from, on a device */

TSR_API tsr_status tsr_novel_create(tsr_context *context, int32_t width, int32_t height,
                                    tsr_novel **view) TSR_CHECKED; /* RETURNS NEW, empty; up to 16384 */
TSR_API void tsr_novel_destroy(tsr_novel **view);
TSR_API int32_t tsr_novel_width(const tsr_novel *view);
TSR_API int32_t tsr_novel_height(const tsr_novel *view);
/* Either may be NULL: depth [height][width], distance along the view's axis, 0 = nothing; color [height][width][4], alpha 255 or 0. Waits. */
TSR_API tsr_status tsr_novel_download(const tsr_novel *view, float *depth, uint8_t *color) TSR_CHECKED;
TSR_API tsr_status tsr_novel_image(const tsr_novel *view, int32_t channels,
                                   tsr_image *image) TSR_CHECKED; /* 3 (over black) or 4; tsr_image_destroy */

typedef enum tsr_connect {
    TSR_CONNECT_ALL = 0,   /* neighbours are always connected */
    TSR_CONNECT_THRESHOLD, /* not where the larger depth is more than `ratio` times the smaller */
    TSR_CONNECT_NONE       /* points: squares of `point_size` pixels */
} tsr_connect;
/* FRONT: where a view meets a surface from behind it has nothing there. The way from the eye then began in what the camera knows nothing of, so it says
 * nothing about where matter begins: what TSR_MERGE_CSG and TSR_MERGE_FREESPACE want of cameras that look from elsewhere. Of depths, not of points. */
typedef enum tsr_faces { TSR_FACES_BOTH = 0, TSR_FACES_FRONT } tsr_faces;
typedef enum tsr_diagonal { TSR_DIAGONAL_AUTO = 0, TSR_DIAGONAL_FIXED } tsr_diagonal; /* AUTO: the one with the smaller difference of depths */

typedef struct tsr_project_options {
    size_t struct_size;
    tsr_connect connect;
    double ratio;      /* THRESHOLD: above 1; 0 = 1.05 */
    double point_size; /* NONE: pixels of the view; 0 = as large as the sample appears */
    tsr_diagonal diagonal;
    int keep_far; /* != 0: samples without depth lie on the far plane (wants clip distances): skins run back to it. Else their quads are left out */
    int keep;     /* != 0: the view's content stays, and nearer surfaces go over it */
    tsr_faces faces;
} tsr_project_options;
#define TSR_PROJECT_OPTIONS TSR_SIZED(tsr_project_options)

/* Draws a projector into the view of a camera, which replaces its content. Quads with a corner on or behind the eye's plane are left out. The
 * camera's clip
 * distances count. A projector whose cone the camera is not in, or none of whose frustum can be in the picture, draws nothing. Asynchronous on a
 * GPU. */
TSR_API tsr_status tsr_novel_project(tsr_novel *view, const tsr_camera *camera, const tsr_projector *projector,
                                     const tsr_project_options *options) TSR_CHECKED;
/* 0: the projector cannot be seen by the camera: outside its cone, or its frustum (up to its clip distances or largest depth `farthest`) beside the
 * picture. */
TSR_API int tsr_projector_visible(const tsr_projector *projector, double farthest, const tsr_camera *camera, int32_t width, int32_t height);

/* How several cameras share a pixel. */
typedef struct tsr_blend_options {
    size_t struct_size;
    double epsilon;       /* world units; 0: from quantum and slope alone */
    int32_t power;        /* of the cosine between the view's ray and a camera's; 0 = 8; negative: uniform */
    double feather;       /* pixels from a camera's border over which it fades; 0 = 8; negative: none */
    int background_known; /* MERGE_FREESPACE: 0 = a sample without depth is free space up to infinity; != 0: it says nothing */
} tsr_blend_options;
#define TSR_BLEND_OPTIONS TSR_SIZED(tsr_blend_options)

/* Colours a view anew from the pictures of projectors (1 to TSR_VIEWS_MOST; those with depths only where their own surface is not nearer: a shadow
 * test). Pixels
 * that none of them sees keep their colour. */
TSR_API tsr_status tsr_novel_texture(tsr_novel *view, const tsr_camera *camera, const tsr_projector *const *textures, int32_t count,
                                     const tsr_blend_options *options) TSR_CHECKED;

/* ---- several projectors -------------------------------------------------------------------------------------------------------- */

typedef enum tsr_merge {
    TSR_MERGE_OVERLAY = 0, /* the nearest camera lies on top */
    TSR_MERGE_BLEND,       /* all views, weighted once for each camera by the angle between the axes */
    TSR_MERGE_CSG,         /* the farthest surface wins, those within epsilon of it are mixed: what one camera looked through is cut away */
    TSR_MERGE_FREESPACE    /* nearest of what no other camera looked through */
} tsr_merge;
TSR_API tsr_status tsr_merge_parse(const char *name, tsr_merge *mode) TSR_CHECKED; /* "overlay", "blend", "csg", "freespace" */

/* Views of the same size, each made of its projector for the same camera. *choice (NULL: not wanted): which of them each pixel shows, bit i for view
 * i
 * [height][width] u32 on the device, RETURNS NEW. Result independent of the order of views but for the bits of `choice`. */
TSR_API tsr_status tsr_novel_merge(tsr_novel *result, const tsr_camera *camera, const tsr_novel *const *views, const tsr_projector *const *projectors,
                                   int32_t count, tsr_merge mode, const tsr_blend_options *options, tsr_volume **choice) TSR_CHECKED;
/* The map of choices in colours, mixed where views are. host u32 volume. */
TSR_API tsr_status tsr_choice_image(const tsr_volume *choice, tsr_image *image) TSR_CHECKED;

/* ---- sweeps -------------------------------------------------------------------------------------------------------------------- */

/* A fixed view of something that does not move, by depth cameras that do: per pixel the nearest surface of all frames. */
typedef struct tsr_sweep tsr_sweep;
TSR_API tsr_status tsr_sweep_create(tsr_context *context, const tsr_camera *camera, int32_t width, int32_t height,
                                    tsr_sweep **sweep) TSR_CHECKED; /* RETURNS NEW */
TSR_API void tsr_sweep_destroy(tsr_sweep **sweep);
/* One frame: `number` names it (0 to 2^31 - 2): frames may come in any order, also with the same number for two cameras. */
TSR_API tsr_status tsr_sweep_add(tsr_sweep *sweep, int32_t number, const tsr_projector *projector, const tsr_project_options *options) TSR_CHECKED;
/* Into another sweep of the same camera and size (of another rank): as if its frames had come there. */
TSR_API tsr_status tsr_sweep_join(tsr_sweep *into, const tsr_sweep *from) TSR_CHECKED;

enum { TSR_SWEEP_UNKNOWN = 0, TSR_SWEEP_SURFACE, TSR_SWEEP_EMPTY };
/* Host memory of the caller, [height][width] each, any may be NULL. winner and first: frame numbers, -1 = none; state: a surface was seen; or the
 * ray was looked
 * along and free wherever anyone looked (EMPTY); or not known: a hole. Waits. */
typedef struct tsr_sweep_maps {
    float *depth;
    uint8_t *color; /* [4] */
    int32_t *winner, *first, *hits;
    uint8_t *state;
} tsr_sweep_maps;
TSR_API tsr_status tsr_sweep_download(const tsr_sweep *sweep, const tsr_sweep_maps *maps,
                                      double *coverage) TSR_CHECKED; /* share of pixels with a surface */

#ifdef __cplusplus
}
#endif
#endif
