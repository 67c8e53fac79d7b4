/* tessera/rig.h: rigs: cameras with their names, images and depth images, and the files that hold them.
 *
 * Read and written: "transforms" (transforms.json of Blender and NeRF tools; ours adds what they lack and is the form to keep a rig in), "colmap" and
 * "colmap-text" (folders of binary or text models), "geocast" and "geoscene" (V1 is read, V2 written), "middlebury" (calib.txt of a stereo pair),
 * "par" (one
 * line a camera: image, K, R, t), "opencv" (YAML or XML), "bundler" (bundle.out), "tum" and "kitti" (trajectories: the intrinsics are asked for); read only: "lightfield" (a folder with a
 * picture for each camera of a grid).
 * Files are recognised by their content; sizes in them are checked before memory is taken. Source: docs/theory/cameras.md, docs/formats/cameras.md.
 * */
#ifndef TESSERA_RIG_H
#define TESSERA_RIG_H

#include "tessera/camera.h"
#include "tessera/depth_map.h"
#include "tessera/io.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tsr_rig tsr_rig; /* host memory, of no context */

enum { TSR_RIG_STATIC = -1 };

/* One camera, or one frame of a camera that moves. Texts are never NULL in what the library gives; NULL is "" in what it takes. */
typedef struct tsr_rig_camera {
    const char *name;
    const char *image, *depth; /* paths as the file has them, relative to its folder; of footage with %d or %04d for the frame. "": none */
    int32_t width, height;     /* of the images; 0 0: not known (then the camera has its own aspect, or square pixels) */
    tsr_camera camera;
    tsr_depth_encoding encoding; /* of the depth image */
    int32_t frame;               /* TSR_RIG_STATIC, or which frame of the footage this is */
    double time;                 /* seconds, or the file's own unit (D-NeRF: 0 to 1 over all of it); 0 where it says nothing */
} tsr_rig_camera;

/* A point of the scene that came with the cameras, and where one of them saw it. */
typedef struct tsr_rig_point {
    double position[3];
    uint8_t color[3];
    float error;
} tsr_rig_point;
typedef struct tsr_rig_sight {
    int32_t camera;
    int32_t point;
    float pixel[2];
} tsr_rig_sight; /* pixels from the upper left corner of the image */

TSR_API tsr_status tsr_rig_create(tsr_rig **rig) TSR_CHECKED; /* RETURNS NEW */
TSR_API void tsr_rig_destroy(tsr_rig **rig);
TSR_API int64_t tsr_rig_count(const tsr_rig *rig);
/* RETURNS VIEW: the texts live until the rig changes. TSR_ERROR_ARGUMENT beyond the last. */
TSR_API tsr_status tsr_rig_get(const tsr_rig *rig, int64_t index, tsr_rig_camera *camera) TSR_CHECKED;
/* -1: there is none of that name (the first frame of one that moves). */
TSR_API int64_t tsr_rig_find(const tsr_rig *rig, const char *name);
/* COPIES. The camera is checked. At most 2^24 cameras. */
TSR_API tsr_status tsr_rig_add(tsr_rig *rig, const tsr_rig_camera *camera) TSR_CHECKED;
TSR_API tsr_status tsr_rig_set(tsr_rig *rig, int64_t index, const tsr_rig_camera *camera) TSR_CHECKED;
TSR_API int64_t tsr_rig_points(const tsr_rig *rig, const tsr_rig_point **points);                            /* how many; RETURNS VIEW */
TSR_API int64_t tsr_rig_sights(const tsr_rig *rig, const tsr_rig_sight **sights);                            /* likewise */
TSR_API tsr_status tsr_rig_add_points(tsr_rig *rig, const tsr_rig_point *points, int64_t count) TSR_CHECKED; /* COPIES */
TSR_API tsr_status tsr_rig_add_sights(tsr_rig *rig, const tsr_rig_sight *sights, int64_t count) TSR_CHECKED; /* COPIES */
/* Frames of footage: first and last, of all streams alike. 0 0: one image each. */
TSR_API void tsr_rig_set_sequence(tsr_rig *rig, int32_t first, int32_t last);
TSR_API void tsr_rig_sequence(const tsr_rig *rig, int32_t *first, int32_t *last);
/* Lines of a GeoCast file that this library does not know: kept, and written again. One text of lines; "": none. */
TSR_API const char *tsr_rig_unknown(const tsr_rig *rig, int64_t index);
/* The folder that paths are relative to ("" = the current one). tsr_rig_path writes a path that can be opened, %d filled in. */
TSR_API const char *tsr_rig_folder(const tsr_rig *rig);
TSR_API tsr_status tsr_rig_set_folder(tsr_rig *rig, const char *folder) TSR_CHECKED; /* COPIES */
TSR_API tsr_status tsr_rig_path(const tsr_rig *rig, const char *path, int32_t frame, char *text, size_t room) TSR_CHECKED;
/* A picture of a camera, at a path that tsr_rig_path wrote or that somebody named for it: tsr_image_read with the size of the camera's images (camera_size: how a JPEG
 * with an EXIF orientation is turned). Of the camera only width and height count; options may be NULL. Fills *image: tsr_image_destroy. */
TSR_API tsr_status tsr_rig_read_image(const tsr_rig_camera *camera, const char *path, const tsr_read_options *options, tsr_image *image) TSR_CHECKED;

/* Which of the four readings of a GeoCast V1 matrix holds. */
typedef enum tsr_geocast_matrix {
    TSR_GEOCAST_AUTO = 0, /* the one whose centre is the file's Pos; an error if none or several are */
    TSR_GEOCAST_WORLD_TO_EYE_ROWS,
    TSR_GEOCAST_WORLD_TO_EYE_COLUMNS,
    TSR_GEOCAST_EYE_TO_WORLD_ROWS,
    TSR_GEOCAST_EYE_TO_WORLD_COLUMNS
} tsr_geocast_matrix;

typedef struct tsr_rig_read_options {
    size_t struct_size;
    const char *format;         /* a name of above; NULL or "": by content */
    int64_t memory_limit;       /* bytes; 0 = physical memory */
    int32_t width, height;      /* of images whose files say no size (bundler, trajectories, transforms of an angle alone) */
    double focal, principal[2]; /* pixels, of trajectories; 0 = the first set's own: TUM 525, KITTI 718.856; 0 0 = the middle */
    tsr_geocast_matrix geocast_matrix;
    int geocast_half_window; /* != 0: Ortho WindowSize of GeoCast V1 is half of the window */
    tsr_progress progress;
    double baseline; /* of light fields without parameters: between neighbours of the grid, or what a unit of the places in names is; 0 = 1, below 0: turned round */
    double focus;    /* likewise: distance of the plane that falls on the same pixels of all pictures; 0: parallel axes */
} tsr_rig_read_options;
#define TSR_RIG_READ_OPTIONS TSR_SIZED(tsr_rig_read_options)
/* `path`: a file, or a folder with a model (COLMAP, also in sparse/0; transforms.json; calib.txt; a light field). What had to be assumed is said as remarks
 * (tsr_remarks_take). RETURNS NEW. */
TSR_API tsr_status tsr_rig_read(const char *path, const tsr_rig_read_options *options, tsr_rig **rig) TSR_CHECKED;
/* One file's bytes in a format that is one file: "transforms", "geocast", "geoscene", "middlebury", "par", "opencv", "bundler", "tum", "kitti". A
 * geoscene
 * reads no other file here: its cameras are refused. */
TSR_API tsr_status tsr_rig_read_text(const char *format, const void *bytes, size_t size, const char *name, const tsr_rig_read_options *options,
                                     tsr_rig **rig) TSR_CHECKED;

typedef struct tsr_rig_write_options {
    size_t struct_size;
    const char
        *format; /* a name of above; NULL or "": by the name of the path: .json, .geoscene, .geocast (one camera), calib.txt, .yml .yaml .xml, .out,
                         * a folder (no extension): colmap-text */
    int overwrite;
    tsr_progress progress;
} tsr_rig_write_options;
#define TSR_RIG_WRITE_OPTIONS TSR_SIZED(tsr_rig_write_options)
/* TSR_ERROR_UNSUPPORTED, naming the camera, for one that the format cannot hold (orthographic in COLMAP ...): nothing is written then. What is lost
 * without
 * harm (clip distances, depth images) is said as a remark. */
TSR_API tsr_status tsr_rig_write(const tsr_rig *rig, const char *path, const tsr_rig_write_options *options) TSR_CHECKED;

/* ---- ways of a camera ----------------------------------------------------------------------------------------------------------- */

/* A camera on the way from a (t = 0) to b (1): places on a straight line, rotations at a steady rate, the rest in proportion. */
TSR_API tsr_status tsr_camera_between(const tsr_camera *a, const tsr_camera *b, double t, tsr_camera *camera) TSR_CHECKED;
/* Past all cameras of the rig in their order, t from 0 to 1: places on a smooth line through them (Catmull and Rom), the rest as between two. TSR_ERROR_ARGUMENT without cameras. */
TSR_API tsr_status tsr_rig_along(const tsr_rig *rig, double t, tsr_camera *camera) TSR_CHECKED;

/* ---- rigs by rule -------------------------------------------------------------------------------------------------------------- */

typedef enum tsr_rig_layout {
    TSR_RIG_RING = 0, /* count cameras round the z axis, looking at the target */
    TSR_RIG_GRID,     /* columns x rows of a light field: parallel cameras side by side, their frusta sheared to one window at the target */
    TSR_RIG_PAIR,     /* two parallel cameras, one baseline apart */
    TSR_RIG_SWEEP,    /* two narrow orthographic cameras that pass by: count frames */
    TSR_RIG_ARC       /* count cameras on an arc of `degrees` in front of the target, looking at it */
} tsr_rig_layout;
typedef struct tsr_rig_layout_options {
    size_t struct_size;
    int32_t count, columns; /* 0 = 8 cameras (GRID 9 in 3 columns, SWEEP 32 frames) */
    tsr_vec3 target;
    double distance;              /* 0 = 4 */
    double height;                /* of the eyes above the target; ARC, RING */
    double degrees;               /* ARC; 0 = 90 */
    double baseline;              /* PAIR, GRID: between neighbours; 0 = 0.1 of the distance */
    double fov;                   /* degrees, vertical; 0 = 40 */
    double clip[2];               /* 0 0 = distance / 10, distance x 4 */
    int32_t width, height_pixels; /* 0 = 640, 480 */
} tsr_rig_layout_options;
#define TSR_RIG_LAYOUT_OPTIONS TSR_SIZED(tsr_rig_layout_options)
/* z is up; cameras that stand in front look along +y. Names are camera00, camera01, ... RETURNS NEW. */
TSR_API tsr_status tsr_rig_make(tsr_rig_layout layout, const tsr_rig_layout_options *options, tsr_rig **rig) TSR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
