/* tessera/render.h: pictures without a window: shaded surfaces, slices, maximum intensity projection (MIP), transfer-function volume
 * rendering, and surface and volume together.
 *
 * A scene says WHAT is shown: a source volume and a surface (an isovalue of a volume, the zero set of a tile list, or a triangle mesh).
 * A camera, a slice plane and the option structs say HOW. The result is a picture on the device: linear light, premultiplied RGBA float and a
 * depth; it becomes sRGB when it is turned into a tsr_image. All coordinates are world coordinates of the scene's objects, which must share
 * one convention (RAS, LPS or none).
 * Class: tolerant between cpu and cuda (in practice the same arithmetic); cpu and emu give the same bits; independent of the thread count.
 * Source: [Lefohn04 V]; docs/theory/rendering.md. */
#ifndef TESSERA_RENDER_H
#define TESSERA_RENDER_H

#include <math.h>

#include "tessera/camera.h"
#include "tessera/io.h"
#include "tessera/mesh.h"
#include "tessera/tiles.h"
#include "tessera/volume.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- cameras ------------------------------------------------------------------------------------------------------------------- */

/* Cameras are those of tessera/camera.h. Everything here draws pinholes and orthographic views, shifted ones (`offset`, `aspect`) too; `clip` is not looked
 * at. TSR_ERROR_UNSUPPORTED for a lens that distorts (draw without it and add it with tsr_lens_warp) and for TSR_PROJECTION_MATRIX. */

/* The side the viewer stands on: TSR_VIEW_LEFT shows the patient's left side. Worlds without a convention are taken as RAS: x to the
 * right, y to the front (anterior), z up. */
typedef enum tsr_view { TSR_VIEW_ANTERIOR = 0, TSR_VIEW_POSTERIOR, TSR_VIEW_LEFT, TSR_VIEW_RIGHT, TSR_VIEW_SUPERIOR, TSR_VIEW_INFERIOR } tsr_view;

/* A camera at an angle, fitted to the bounds: azimuth 0 = from the front, 90 = from the patient's left, elevation 90 = from above (degrees).
 * `aspect` = width / height of the picture. TSR_ERROR_ARGUMENT for empty or not finite bounds. */
TSR_API tsr_status tsr_camera_orbit(const tsr_box *bounds, tsr_space space, double azimuth, double elevation, tsr_projection projection,
                                    double aspect, tsr_camera *camera) TSR_CHECKED;
TSR_API tsr_status tsr_camera_named(const tsr_box *bounds, tsr_space space, tsr_view view, tsr_projection projection, double aspect,
                                    tsr_camera *camera) TSR_CHECKED;
/* Keeps the direction of view and moves the eye (and sets fov 30 if 0, height) so that the middle of the bounds lies in the middle of the picture and the
 * bounds fill it with a margin of 4 %. */
TSR_API tsr_status tsr_camera_fit(tsr_camera *camera, const tsr_box *bounds, double aspect) TSR_CHECKED;
/* "anterior", "posterior", "left", "right", "superior", "inferior" (also front, back, top, bottom). */
TSR_API tsr_status tsr_view_parse(const char *name, tsr_view *view) TSR_CHECKED;

/* ---- pictures ------------------------------------------------------------------------------------------------------------------ */

typedef struct tsr_picture tsr_picture;

/* width and height in [1, 16384]. Content: transparent, depth infinite. The context must outlive it. RETURNS NEW. */
TSR_API tsr_status tsr_picture_create(tsr_context *context, int32_t width, int32_t height, tsr_picture **picture) TSR_CHECKED;
TSR_API void tsr_picture_destroy(tsr_picture **picture);
TSR_API int32_t tsr_picture_width(const tsr_picture *picture);
TSR_API int32_t tsr_picture_height(const tsr_picture *picture);
TSR_API tsr_device tsr_picture_device(const tsr_picture *picture);
/* RETURNS VIEW, device memory: [height][width][4] linear premultiplied RGBA, row 0 on top; [height][width] distance along the ray from the eye (from
 * the eye's plane if orthographic) to the surface, +infinity where there is none. */
TSR_API const float *tsr_picture_rgba(const tsr_picture *picture);
TSR_API const float *tsr_picture_depth(const tsr_picture *picture);
/* Downloads; either pointer may be NULL. Waits for the queue. */
TSR_API tsr_status tsr_picture_download(const tsr_picture *picture, float *rgba, float *depth) TSR_CHECKED;
/* New 8-bit sRGB image, channels 3 (over black) or 4 (straight alpha). The caller calls tsr_image_destroy. Waits for the queue. */
TSR_API tsr_status tsr_picture_image(const tsr_picture *picture, int32_t channels, tsr_image *image) TSR_CHECKED;

/* ---- scenes -------------------------------------------------------------------------------------------------------------------- */

typedef struct tsr_scene tsr_scene;

TSR_API tsr_status tsr_scene_create(tsr_context *context, tsr_scene **scene) TSR_CHECKED; /* RETURNS NEW */
TSR_API void tsr_scene_destroy(tsr_scene **scene);

/* Source volume (any element type, on the scene's device). KEEPS float32 volumes with slope 1 and intercept 0, COPIES others as real float32
 * values. Builds the min/max grid of 8^3 bricks in one pass; call again when the content changed. NULL removes. NaN voxels are transparent. */
TSR_API tsr_status tsr_scene_set_volume(tsr_scene *scene, const tsr_volume *volume) TSR_CHECKED;

/* Surface = where the volume equals isovalue; inside is above it, or below if `inside_below` is not 0 (a level set has inside_below = 1,
 * isovalue 0). The same volume may be source and surface (then it is held once). Memory rules as above. */
TSR_API tsr_status tsr_scene_set_surface_volume(tsr_scene *scene, const tsr_volume *volume, double isovalue, int inside_below) TSR_CHECKED;

/* Surface = zero set of a tile list on the scene's device. KEEPS; call again after the list changed (steps, edits): the look-up table over the
 * box of stored tiles (4 bytes each) is rebuilt. TSR_ERROR_STATE if the list is empty (there is no surface). */
TSR_API tsr_status tsr_scene_set_surface_tiles(tsr_scene *scene, const tsr_tiles *tiles) TSR_CHECKED;

/* Surface = triangle mesh on any device. COPIES; the bounding volume hierarchy is built on the host and sent to the scene's device. Normals
 * of the mesh are used if it has them, else area-weighted vertex normals. TSR_ERROR_STATE if it has no triangles. */
TSR_API tsr_status tsr_scene_set_surface_mesh(tsr_scene *scene, const tsr_mesh *mesh) TSR_CHECKED;
TSR_API void tsr_scene_clear_surface(tsr_scene *scene);

typedef struct tsr_scene_info {
    size_t struct_size;
    int has_volume, has_surface;
    tsr_box bounds;              /* of everything */
    tsr_box surface_bounds;      /* of the bricks, tiles or triangles that hold the surface; = bounds if there is none */
    tsr_space space;
    double spacing;              /* smallest voxel spacing: the unit of `step` and of the opacity scale */
    double minimum, maximum;     /* of the source volume, NaN and infinite voxels left out */
    double window_low, window_high; /* a window that suits most data: minimum to the 98th percentile of the brick maxima */
    int64_t nan_voxels;          /* in the source volume */
    int64_t device_bytes;
} tsr_scene_info;
#define TSR_SCENE_INFO TSR_SIZED(tsr_scene_info)
TSR_API tsr_status tsr_scene_describe(const tsr_scene *scene, tsr_scene_info *info) TSR_CHECKED;

/* ---- transfer functions -------------------------------------------------------------------------------------------------------- */

typedef struct tsr_color { float r, g, b; } tsr_color; /* sRGB, 0 to 1, as in web colours; made linear inside */

enum { TSR_TRANSFER_POINTS = 16, TSR_TRANSFER_GAUSSIANS = 8 };

/* How opacity falls off around a centre; q = K (sample - centre), K upper triangular with 1 / width on its diagonal and `shear` above it. */
typedef enum tsr_transfer_shape {
    TSR_TRANSFER_GAUSSIAN = 0, /* alpha exp(-|q|^2) */
    TSR_TRANSFER_BOX,          /* alpha where no component of q exceeds 1 */
    TSR_TRANSFER_TRIANGLE      /* alpha (1 - largest component of q) */
} tsr_transfer_shape;

/* Value, gradient magnitude and level-set value to colour and opacity per voxel length (`spacing` of the scene). Piecewise linear through points of
 * rising value (opacity 0 beyond the ends if the end points say 0, else their value is held), plus Gaussians alpha * exp(-((v - centre) / width)^2),
 * boxes and triangles, optionally also of the gradient magnitude in value per world unit and of the value phi of the scene's surface (negative
 * inside; world units for level sets, else value - isovalue with its sign; beyond the surface's field the value at its border); width 0 = any.
 * Opacities add up and are clamped to 1; colours mix by opacity. Evaluated at each sample unless tsr_render_options says otherwise
 * (docs/theory/rendering.md 4). */
typedef struct tsr_transfer {
    int32_t points, gaussians; /* numbers in use */
    struct tsr_transfer_point { float value, alpha; tsr_color color; } point[TSR_TRANSFER_POINTS];
    struct tsr_transfer_gaussian {
        float centre, width, gradient_centre, gradient_width, alpha;
        tsr_color color;
        float level_centre, level_width;
        float shear[3]; /* of K: value-gradient, value-level, gradient-level; 1 / (units of the column) */
        tsr_transfer_shape shape;
        int32_t
            beyond; /* sum of 1 (value), 2 (gradient), 4 (level): above the centre of that axis as at the centre: a ramp that stays up; no shear */
    } gaussian[TSR_TRANSFER_GAUSSIANS];
} tsr_transfer;

typedef enum tsr_transfer_preset {
    TSR_TRANSFER_GREY = 0,   /* grey ramp over the window */
    TSR_TRANSFER_MRI_HEAD,   /* translucent skin, pale tissue; over the window */
    TSR_TRANSFER_MRI_BRAIN,  /* grey and white matter apart; over the window */
    TSR_TRANSFER_CT_BONE,    /* Hounsfield units: bone only */
    TSR_TRANSFER_CT_SOFT     /* Hounsfield units: skin, muscle, contrast, bone */
} tsr_transfer_preset;
TSR_API tsr_status tsr_transfer_make(tsr_transfer_preset preset, double window_low, double window_high, tsr_transfer *transfer) TSR_CHECKED;
/* "grey", "mri-head", "mri-brain", "ct-bone", "ct-soft". */
TSR_API tsr_status tsr_transfer_parse(const char *name, tsr_transfer_preset *preset) TSR_CHECKED;
/* Transfer functions as text files, docs/formats/transfer.md. Read is strict: TSR_ERROR_FORMAT names file, line and what was expected; a function
 * that was read can be drawn. Write gives every number so that it comes back bit for bit. `text` of length bytes needs no ending 0; `name` stands in
 * messages. */
TSR_API tsr_status tsr_transfer_read(const char *path, tsr_transfer *transfer) TSR_CHECKED;
TSR_API tsr_status tsr_transfer_read_text(const char *text, size_t length, const char *name, tsr_transfer *transfer) TSR_CHECKED;
TSR_API tsr_status tsr_transfer_write(const tsr_transfer *transfer, const char *path, const tsr_write_options *options) TSR_CHECKED;
/* Opacity per voxel length and sRGB colour of one sample, as the renderer evaluates it. `color` may be NULL. */
TSR_API tsr_status tsr_transfer_sample(const tsr_transfer *transfer, double value, double gradient, double level, double *alpha,
                                       tsr_color *color) TSR_CHECKED;
/* A function that shows the tissue at probed points: appends a Gaussian with the mean and the standard deviation of the volume's values at `count`
 * world positions, and, if by_gradient is not 0, of the gradient magnitudes there (deviations at least 1 % of the mean magnitude and of the volume's
 * range, so that one point is enough). Points outside the volume count as errors. The volume may live anywhere. */
TSR_API tsr_status tsr_transfer_probe(tsr_transfer *transfer, const tsr_volume *volume, const tsr_vec3 *points, int32_t count, int by_gradient,
                                      double alpha, tsr_color color) TSR_CHECKED;

/* ---- three-dimensional views --------------------------------------------------------------------------------------------------- */

typedef enum tsr_render_mode {
    TSR_RENDER_AUTO = 0, /* surface, volume, or both, whatever the scene has */
    TSR_RENDER_SURFACE,  /* first hit, shaded */
    TSR_RENDER_VOLUME,   /* emission and absorption of the source volume */
    TSR_RENDER_COMBINED, /* the volume with the surface at its exact depth */
    TSR_RENDER_MIP       /* largest value along the ray through the grey window */
} tsr_render_mode;

/* Which part of the source volume is shown, by the sign of the surface (volume or tiles): one voxel wide smooth border. */
typedef enum tsr_region {
    TSR_REGION_ALL = 0,
    TSR_REGION_INSIDE,
    TSR_REGION_OUTSIDE,
    TSR_REGION_TINT /* all, and inside half-way in the colour of the surface */
} tsr_region;

/* Whether the volume's transfer function is evaluated at each sample or looked up. */
typedef enum tsr_lookup {
    TSR_LOOKUP_NONE = 0,     /* evaluated */
    TSR_LOOKUP_TABLE,        /* of value, or of value and gradient magnitude, interpolated linearly */
    TSR_LOOKUP_PREINTEGRATED /* of the values at both ends of a piece of the ray: the integral over those between. Functions of the value alone */
} tsr_lookup;

/* What is drawn on the clipping plane. */
typedef enum tsr_clip_face {
    TSR_CLIP_CAP = 0, /* the source as a grey slice where the plane cuts the inside of the surface (a plain cap without a source) */
    TSR_CLIP_OPEN,    /* nothing: one looks into the surface */
    TSR_CLIP_QUAD     /* the source as a grey slice all over the plane, the surface's contour in yellow */
} tsr_clip_face;

/* Bits of the field `given` of options: what is meant as it stands, although it is black or 0, which else means the default. */
typedef enum tsr_given {
    TSR_GIVEN_BACKGROUND_TOP = 1,
    TSR_GIVEN_BACKGROUND_BOTTOM = 2,
    TSR_GIVEN_SURFACE_COLOR = 4,
    TSR_GIVEN_SURFACE_OPACITY = 8,
    TSR_GIVEN_OPACITY_SCALE = 16,
    TSR_GIVEN_LINE_COLOR = 32,
    TSR_GIVEN_CENTRE = 64
} tsr_given;

typedef struct tsr_render_options {
    size_t struct_size;
    tsr_render_mode mode;
    double step;                 /* distance of samples in voxels (`spacing` of the scene); 0 = 0.5 */
    int32_t supersampling;       /* n x n rays per pixel, 1 to 4; 0 = 1 */
    int jitter;                  /* shift the samples of each pixel by a hash of its place (hides rings at large steps) */
    tsr_color background[2];     /* top and bottom of the picture; both black = the default dark neutral */
    int transparent;             /* no background: alpha stays */
    tsr_color surface_color;     /* black = the default pale rose */
    double surface_opacity;      /* (0, 1]; 0 = 1 */
    double ambient_occlusion;    /* strength 0 to 1; 0 = default 0.75; negative = off */
    double specular;             /* 0 = default 0.18; negative = off */
    const tsr_transfer *transfer; /* BORROWS; NULL = TSR_TRANSFER_MRI_HEAD over the window */
    int unshaded;                 /* the volume (and the surface as a medium) emits its colour without lighting */
    double opacity_scale;        /* multiplies the volume's extinction; 0 = 1 */
    tsr_region region;
    int clip;                    /* 1: everything with normal . x > offset is cut away */
    tsr_vec3 clip_normal;        /* any length but 0 */
    double clip_offset;          /* normal . x of the plane, with the normal as given */
    int clip_surface_only, clip_volume_only; /* at most one: cut only that part */
    tsr_clip_face clip_face;
    double window_low, window_high; /* of grey slices and MIP; both 0 = the window of tsr_scene_info */
    /* BORROWS. Not NULL: the surface (volume or tiles) is a medium beside the source, not an opaque sheet. The function's value is phi (as the level
     * of a source's function), its gradient axis is the distance from the clipping plane in world units (without a plane that axis does not count).
     * Both media absorb and emit side by side, whatever their order (docs/theory/rendering.md 6). */
    const tsr_transfer *surface_transfer;
    tsr_lookup lookup;
    int32_t lookup_size;    /* entries along each axis, 2 to 4096 (pre-integrated to 512); 0 = 1024, with the gradient 256, pre-integrated 256 */
    int32_t surface_layers; /* of a translucent surface that are drawn one behind the other, 1 to 64; 0 = 1: the front only */
    int flat;               /* meshes: the normals of the triangles instead of those of the vertices */
    int32_t pass;           /* refinement: n > 0: the picture is the mean of n pictures; becomes the mean of n + 1. Each pass shifts rays within
                                  * their pixels and samples along the rays by its number: the same n, the same picture. Depth: the nearest */
    /* Asked after every band of rows (the picture does not depend on it); the call then waits for the device. After TSR_ERROR_CANCELLED the picture
     * is partly drawn: only a call with pass 0 may go on with it. */
    tsr_progress progress;
    uint32_t given; /* bits of tsr_given */
} tsr_render_options;
#define TSR_RENDER_OPTIONS TSR_SIZED(tsr_render_options)

/* Draws the scene into the picture (same context). Asynchronous on a GPU. `options` may be NULL. TSR_ERROR_STATE if the scene lacks what the
 * mode needs, TSR_ERROR_CANCELLED if `progress` says so. An eye inside the scene is fine; a perspective eye farther than 10^4 scene radii is an error
 * (use orthographic).
 * Cost: pixels times the samples in bricks that can be seen. */
TSR_API tsr_status tsr_render(tsr_scene *scene, const tsr_camera *camera, const tsr_render_options *options, tsr_picture *picture) TSR_CHECKED;

/* ---- volumes of which a few slices are in memory at a time --------------------------------------------------------------------- */

/* Start from TSR_STACK and give one of volume, tiles and read. */
typedef struct tsr_stack {
    size_t struct_size;
    const tsr_volume *volume;  /* in the context; any element type; BORROWS */
    const tsr_tiles *tiles;    /* in the context: phi of its domain, or of the box of its tiles without one; BORROWS */
    /* Fills a float32 volume in host memory with the voxels of the stack from `first` on (x, y, z): all of the plane that the view looks across, at most
     * 10 slices deep. A status other than TSR_OK ends the picture. */
    tsr_status (*read)(void *user, const int64_t first[3], tsr_volume *box);
    void *user;
    tsr_size3 size;            /* of read: extents and place in the world */
    tsr_geometry geometry;
    double window_low, window_high; /* grey window: light, and the function where the options have none; both 0 = the points of the function */
} tsr_stack;
#define TSR_STACK TSR_SIZED(tsr_stack)

/* The picture that tsr_render draws of the volume (mode VOLUME), from slices across the axis that the view mostly follows, front to back, at most 11 at a
 * time: for what is larger than memory, and for tile lists (the transfer function's value is phi) without a dense copy. Of the options: step, jitter,
 * unshaded, opacity_scale, transfer (of value and gradient), colours, clip (cap or open), specular, progress. All rays must go one way along that axis:
 * TSR_ERROR_UNSUPPORTED for fields of view beyond that. Waits. [Lefohn04 V]; docs/theory/rendering.md 2. */
TSR_API tsr_status tsr_render_stack(tsr_context *context, const tsr_stack *stack, const tsr_camera *camera, const tsr_render_options *options,
                                    tsr_picture *picture) TSR_CHECKED;

/* ---- slices -------------------------------------------------------------------------------------------------------------------- */

typedef enum tsr_palette {
    TSR_PALETTE_GREY = 0,
    TSR_PALETTE_DIVERGING /* for speed functions: blue below 0, red above, white line at 0 */
} tsr_palette;

/* Axis slices lie in index space of the source volume (or surface, without a source). With RAS or LPS they are shown as radiologists do:
 * the patient's right on the left, the front up (axial) or to the left (sagittal), the head up. Without convention: x or y to the right, y or z up. */
typedef struct tsr_slice_options {
    size_t struct_size;
    int32_t axis;                /* 0, 1, 2 = x, y, z; 3 = oblique */
    double position;             /* voxel index along the axis, may be fractional; NAN = the middle */
    tsr_vec3 normal, up, centre; /* oblique only, world: centre 0 0 0 with NAN position = the middle of the volume */
    double height;               /* world units from the bottom to the top; 0 = the whole slice fits */
    tsr_palette palette;
    double window_low, window_high; /* both 0 = the window of tsr_scene_info; diverging: -m to m with m the largest magnitude */
    tsr_color background;        /* outside the volume; black by default */
    double line_width;           /* of the surface's contour (and of the zero line) in pixels; 0 = 1.5; negative = none */
    tsr_color line_color;        /* black = bright yellow */
    int nearest;                 /* nearest voxel instead of trilinear */
    int32_t supersampling;       /* n x n, 1 to 4; 0 = 1 */
    tsr_progress progress;       /* as in tsr_render_options */
    uint32_t given;              /* bits of tsr_given */
} tsr_slice_options;
#ifdef __cplusplus
#define TSR_SLICE_OPTIONS [] { tsr_slice_options tsr_made_ = TSR_SIZED(tsr_slice_options); tsr_made_.axis = 2; tsr_made_.position = (double)NAN; return tsr_made_; }()
#else
#define TSR_SLICE_OPTIONS { .struct_size = sizeof(tsr_slice_options), .axis = 2, .position = (double)NAN }
#endif

/* Draws a slice. Pixels are square. The contour of mesh surfaces is not drawn (TSR_ERROR_UNSUPPORTED with a line width > 0).
 * Asynchronous on a GPU. */
TSR_API tsr_status tsr_render_slice(tsr_scene *scene, const tsr_slice_options *options, tsr_picture *picture) TSR_CHECKED;

/* ---- all at once --------------------------------------------------------------------------------------------------------------- */

/* Pictures of a segmentation: three slices with the contour, two three-dimensional views and one view of volume and surface together. */
typedef struct tsr_gallery {
    tsr_image slice[3];  /* sagittal, coronal, axial: axis x, y, z through the middle of the surface */
    tsr_image view[2];   /* from the front and left, from above; 3 channels */
    tsr_image combined;
} tsr_gallery;

typedef struct tsr_gallery_options {
    size_t struct_size;
    int32_t size;                /* width = height of each picture in pixels; 0 = 768 */
    const tsr_transfer *transfer; /* of the combined view; NULL = TSR_TRANSFER_MRI_HEAD over the window */
    tsr_color surface_color;     /* black = default */
    tsr_progress progress;       /* over all six pictures */
    uint32_t given;              /* bits of tsr_given */
} tsr_gallery_options;
#define TSR_GALLERY_OPTIONS TSR_SIZED(tsr_gallery_options)

/* The scene needs a volume and a surface (volume or tiles). `options` may be NULL. The caller calls tsr_gallery_destroy. */
TSR_API tsr_status tsr_gallery_render(tsr_scene *scene, const tsr_gallery_options *options, tsr_gallery *gallery) TSR_CHECKED;
/* The six pictures in two rows of three. The caller calls tsr_image_destroy. */
TSR_API tsr_status tsr_gallery_sheet(const tsr_gallery *gallery, tsr_image *sheet) TSR_CHECKED;
TSR_API void tsr_gallery_destroy(tsr_gallery *gallery);

#ifdef __cplusplus
}
#endif
#endif
