/* tessera/multiview_model.h: what the footage of several cameras shows: a moving mesh of fixed topology, its atlas, the cameras; and the textures that are
 * made of their pictures.
 *
 * A texture holds, for a camera and a step of time, the colour of each point of the surface where an atlas puts it: the same texel is the same point of the
 * surface in all cameras and at all times. A texel is visible if its point faces the camera, lies within the picture and nothing is in front of it, which
 * a depth map of the mesh itself tells. Encoder and decoder find the same texels visible, bit for bit: corners are rounded to 1/256 pixel, whole numbers decide
 * what is covered and how far it is.
 * Planes are Y, U, V of BT.601, full range (docs/theory/multiview-textures.md 4), row 0 of an atlas is v = 1 (v of a mesh goes up).
 * Class: exact: cpu, emu and cuda give the same bits with any number of threads. Source: docs/theory/multiview-textures.md. */
#ifndef TESSERA_MULTIVIEW_MODEL_H
#define TESSERA_MULTIVIEW_MODEL_H

#include "tessera/camera.h"
#include "tessera/io.h"
#include "tessera/rig.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- models -------------------------------------------------------------------------------------------------------------------- */

enum {
    TSR_MULTIVIEW_ATLAS_MOST = 8192,   /* texels a side */
    TSR_MULTIVIEW_PICTURE_MOST = 8192, /* pixels a side, of pictures and of their depth maps */
    TSR_MULTIVIEW_CAMERAS_MOST = 256,
    TSR_MULTIVIEW_STEPS_MOST = 1 << 20,
    TSR_MULTIVIEW_TRIANGLES_MOST = 1 << 24
};

/* When a texel is visible: part of a model, because a decoder that makes the masks anew repeats it. */
typedef struct tsr_mask_rules {
    double bias;       /* of the depth test, in quanta of 2^-24 of the range of depths; 0 = 1.5, negative: none */
    double slope;      /* added: so many times the change of depth over a texel of the depth map; 0 = 0.125, negative: none */
    double slope_most; /* at most this share of the range; 0 = 1/16; negative: nothing */
    double cos_min;    /* of the angle between the normal of the triangle and the way to the camera: below it a texel is not visible; 0 to 1 */
    int vote;          /* != 0: of the four texels of the depth map round the place at least two must say visible; 0: the nearest decides */
    int32_t scale;     /* of the depth map over the picture, 1 to 8; 0 = 2, or 3 where no picture has more than 2^18 pixels */
} tsr_mask_rules;

/* Arrays of the caller, or views of a model's own. */
typedef struct tsr_multiview_parts {
    size_t struct_size;
    int32_t width, height;               /* of the atlas */
    int32_t cameras, steps;              /* of the footage */
    int64_t vertices, places, triangles; /* places: of the atlas */
    const uint32_t *triangle;            /* [triangles][3] vertices, counter-clockwise seen from outside */
    const uint32_t *corner;              /* [triangles][3] places; NULL: the numbers of `triangle` (then places = vertices) */
    const float *place;                  /* [places][2] u, v within 0 to 1 */
    const float *position;               /* [steps][vertices][3] world units */
    const tsr_camera *camera;            /* [camera_steps][cameras], with their lenses */
    int32_t camera_steps;                /* 1: they stand still; else = steps */
    const int32_t *picture;              /* [cameras][2] width and height of their pictures */
    tsr_mask_rules rules;
} tsr_multiview_parts;
#define TSR_MULTIVIEW_PARTS TSR_SIZED(tsr_multiview_parts)

typedef struct tsr_multiview_model tsr_multiview_model; /* host memory, of no context; immutable: any thread */

/* COPIES. TSR_ERROR_ARGUMENT names what is wrong: a u or v outside 0 to 1 (with the triangle), an index out of range, a position that is not finite, a camera
 * that is singular or has another fault (with step and number), sizes out of range. Triangles without area in the atlas are taken and have no texels. */
TSR_API tsr_status tsr_multiview_model_create(const tsr_multiview_parts *parts, tsr_multiview_model **model) TSR_CHECKED;
TSR_API void tsr_multiview_model_destroy(tsr_multiview_model **model);
TSR_API tsr_multiview_parts tsr_multiview_model_parts(const tsr_multiview_model *model); /* RETURNS VIEW, defaults of the rules filled in */

/* A model as bytes: the MODL chunk of .mvv files (docs/theory/multiview-textures.md 6). Nothing is lost. *bytes: RETURNS NEW, tsr_free(). */
TSR_API tsr_status tsr_multiview_model_pack(const tsr_multiview_model *model, uint8_t **bytes, size_t *size) TSR_CHECKED;
/* `name` begins messages; memory_limit in bytes, 0 = physical memory. TSR_ERROR_FORMAT for damaged or contradictory bytes. RETURNS NEW. */
TSR_API tsr_status tsr_multiview_model_unpack(const void *bytes, size_t size, const char *name, int64_t memory_limit,
                                              tsr_multiview_model **model) TSR_CHECKED;

typedef struct tsr_multiview_model_options {
    size_t struct_size;
    const char *atlas;     /* an OBJ file whose texture coordinates all steps have (they may then be of any format of meshes); NULL: the first step's */
    int64_t first;         /* number of the first mesh of a path with %d; 0 = the first that is there of 0 to 9 */
    int32_t steps;         /* at most; 0 = as many as there are */
    int32_t width, height; /* of the atlas; 0 = 512 */
    tsr_mask_rules rules;
    const tsr_rig_read_options *rig; /* BORROWS; NULL: the defaults */
    int64_t memory_limit; /* bytes; 0 = physical memory */
    tsr_progress progress;
    double rate;           /* steps a second of a glTF animation; 0 = 25 */
    const char *animation; /* of a glTF file, by its name; NULL: the first */
    int unwrap; /* != 0: an atlas is made of the first step's shape; the files' own is not asked for, they may be of any format of meshes */
} tsr_multiview_model_options;
#define TSR_MULTIVIEW_MODEL_OPTIONS TSR_SIZED(tsr_multiview_model_options)
/* Meshes from numbered files ("mesh-%04d.obj"), or one file: a glTF scene (.glb, .gltf) whose animation moves it by nodes, skins and morph targets, sampled at
 * `rate` from second first / rate on to its end; or a thing that does not move. Cameras from a rig: one file, or one per step (a path with %d).
 * Cameras without frames that name numbered pictures in a folder each ("cam0/0000.png": the first step's with the others beside it, or those of all steps) get the
 * frames, or paths by number; as many frames as meshes, counted from another number, are moved to theirs: both with a remark. Progress and cancelling: "unwrapping",
 * "meshes". TSR_ERROR_FORMAT for a step with another topology (the file, the triangle), cameras that are missing for a step, or a step with another number of them.
 * *rig (NULL: not wanted): the cameras as they were read, for the paths of their pictures; those of one file per step are entries of frames; the
 * sequence is the numbers of the meshes: RETURNS NEW. */
TSR_API tsr_status tsr_multiview_model_read(const char *meshes, const char *cameras, const tsr_multiview_model_options *options,
                                            tsr_multiview_model **model, tsr_rig **rig) TSR_CHECKED;

/* Model error on purpose: every vertex moved by `sigma` world units (Gaussian, rigidly per step if `rigid`, else each for itself), from a seed. RETURNS NEW. */
TSR_API tsr_status tsr_multiview_model_jitter(const tsr_multiview_model *model, double sigma, int rigid, uint64_t seed,
                                              tsr_multiview_model **jittered) TSR_CHECKED;

/* ---- textures ------------------------------------------------------------------------------------------------------------------ */

typedef struct tsr_texturer tsr_texturer; /* a model on a device: its atlas, depth maps */

typedef struct tsr_texturer_report {
    int64_t texels;      /* of the atlas that belong to a triangle */
    int64_t overlapping; /* of these, texels that more than one triangle covers: the first triangle has them */
    int64_t degenerate;  /* triangles without area in the atlas */
    int64_t empty;       /* triangles with an area that covers no texel's centre */
} tsr_texturer_report;

/* KEEPS the model, which must live longer. RETURNS NEW. */
TSR_API tsr_status tsr_texturer_create(tsr_context *context, const tsr_multiview_model *model, tsr_texturer **texturer) TSR_CHECKED;
TSR_API void tsr_texturer_destroy(tsr_texturer **texturer);
TSR_API const tsr_texturer_report *tsr_texturer_look(const tsr_texturer *texturer);
/* Which texels belong to a triangle: [height][words] on the texturer's device, words = (width + 63) / 64, bit u % 64 of word u / 64. RETURNS VIEW. */
TSR_API const uint64_t *tsr_texturer_atlas(const tsr_texturer *texturer);
/* The same, copied to memory of the device that is the caller's. */
TSR_API tsr_status tsr_texturer_copy_atlas(const tsr_texturer *texturer, uint64_t *atlas) TSR_CHECKED;

/* Planes and masks of the texturer's device to host memory. Waits. */
TSR_API tsr_status tsr_texturer_download(const tsr_texturer *texturer, void *host, const void *device, size_t bytes) TSR_CHECKED;

typedef enum tsr_texture_sampling {
    TSR_TEXTURE_BILINEAR = 0, /* between the four nearest pixels */
    TSR_TEXTURE_EWA           /* weighted over the ellipse that a texel has in the picture: for pictures finer than the atlas */
} tsr_texture_sampling;

/* One step of all cameras at once. `pictures`: [cameras], RGB or grey host images as the cameras saw them (lenses are taken out here) of the sizes of the model.
 * plane: Y, U, V of this step, [cameras][height][width]; visible: [cameras][height][words]; both on the texturer's device, of the caller. pictures and plane
 * NULL: the masks alone, as a decoder makes them. What is not visible is 0. TSR_ERROR_ARGUMENT names the camera whose picture is missing or of another size. */
TSR_API tsr_status tsr_texturer_step(tsr_texturer *texturer, int32_t step, const tsr_image *pictures, tsr_texture_sampling sampling,
                                     uint8_t *const plane[3], uint64_t *visible) TSR_CHECKED;
/* 64-bit XXH64 (seed 0) of a mask [height][words] in host memory, its words little-endian: guards masks that are made anew. */
TSR_API uint64_t tsr_mask_hash(const uint64_t *mask, int32_t width, int32_t height);

/* Masks made again by a reader of .mvv files: the function that tsr_multiview_read_options.rebuild wants, with a maker as its `user`. A maker keeps the model and
 * the masks of the step at hand. One thread at a time. Create RETURNS NEW. */
typedef struct tsr_mask_maker tsr_mask_maker;
TSR_API tsr_status tsr_mask_maker_create(tsr_context *context, tsr_mask_maker **maker) TSR_CHECKED;
TSR_API void tsr_mask_maker_destroy(tsr_mask_maker **maker);
TSR_API tsr_status tsr_mask_maker_rebuild(void *maker, const void *model, size_t model_size, int32_t t, int32_t c, int32_t width, int32_t height,
                                          uint64_t *mask) TSR_CHECKED;

/* For display by plain look-up: texels of one texture beyond the atlas take the colour of the nearest visible texel within `gutter` (0 = 2, up to 16) of them, so
 * that no border bleeds. Planes [height][width] and visible [height][words] on the device. */
TSR_API tsr_status tsr_texturer_gutter(const tsr_texturer *texturer, int32_t gutter, const uint64_t *visible, uint8_t *const plane[3]) TSR_CHECKED;

/* ---- views of the textured mesh ------------------------------------------------------------------------------------------------ */

typedef struct tsr_texturer_view {
    size_t struct_size;
    int32_t power;       /* of the cosine between the ways to the view and to a camera; 0 = 8, negative: all that see it alike */
    int32_t only;        /* 1 + number of the one camera whose texture is taken; 0: all */
    int32_t leave_out;   /* 1 + number of a camera whose texture is not taken; 0: none */
    uint8_t background[3], unseen[3]; /* RGB where there is no mesh, and of points that no camera saw */
} tsr_texturer_view;
#define TSR_TEXTURER_VIEW TSR_SIZED(tsr_texturer_view)
typedef struct tsr_texturer_seen {
    size_t struct_size;
    int64_t surface, unseen; /* pixels that show the mesh; of these, points that no camera saw */
} tsr_texturer_seen;
#define TSR_TEXTURER_SEEN TSR_SIZED(tsr_texturer_seen)

/* The mesh of a step with the textures of that step, from any camera without a lens: plane and visible as tsr_texturer_step makes them, [cameras]. *image: RGBA,
 * alpha 255 where the mesh is; tsr_image_destroy. *seen may be NULL. Class: exact. */
TSR_API tsr_status tsr_texturer_draw(tsr_texturer *texturer, int32_t step, uint8_t *const plane[3], const uint64_t *visible, const tsr_camera *camera,
                                     int32_t width, int32_t height, const tsr_texturer_view *options, tsr_image *image,
                                     tsr_texturer_seen *seen) TSR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
