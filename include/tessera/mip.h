/* tessera/mip.h: maximum intensity projection from morphological pyramids.
 *
 * A volume f_0 of 8- or 16-bit grey values becomes levels f_{j+1}(n) = (erosion of f_j by A)(2n) and details d_j(n) = f_j(n) where that differs from
 * the expansion of f_{j+1}, else 0; only what is not 0 is stored. The pyramid reconstructs f_0 exactly (the volume may be destroyed) and is drawn
 * as it is: a coefficient of level j covers the cells that j expansions of one voxel cover. Coefficients are ordered by their effect, so that
 * any number of the first of them gives the best picture it can.
 *
 * Geometry: orthographic. A rotation R (unit quaternion), a zoom and a stretch per axis take voxel centres to pixels in 16.16 fixed point, the volume's
 * centre to the picture's centre, x to the right, y down. Class exact: the same pixels on every backend, number of threads and format.
 * Source: [Laan11 2] (first as van der Laan, Jalba, Roerdink, "Multiresolution MIP rendering of large volumetric data accelerated on graphics hardware", 2007);
 * docs/theory/mip.md. */
#ifndef TESSERA_MIP_H
#define TESSERA_MIP_H

#include "tessera/io.h"
#include "tessera/planes_source.h"
#include "tessera/volume.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { TSR_MIP_LEVELS = 8, TSR_MIP_POINTS = 64, TSR_MIP_STEPS = 16 };

/* ---- the pyramid ------------------------------------------------------------------------------------------------------------------------- */

typedef struct tsr_mip tsr_mip;

/* Flat structuring element A. It must have a point that differs from all others by an odd number along some axis (the pyramid condition). */
typedef enum tsr_mip_element {
    TSR_MIP_CUBE2 = 0, /* {0,1}^3: smallest of 2 x 2 x 2 voxels, an octree */
    TSR_MIP_CUBE3,     /* {-1,0,1}^3 */
    TSR_MIP_CROSS6,    /* the centre and its six neighbours */
    TSR_MIP_OWN        /* the options' points */
} tsr_mip_element;

/* Effect of a coefficient of level j whose value exceeds the expansion of the next level by e. Ties: level descending, value descending, place. */
typedef enum tsr_mip_key {
    TSR_MIP_KEY_IMAGE1 = 0, /* 2^j e: best at small numbers */
    TSR_MIP_KEY_RESIDUAL,   /* e */
    TSR_MIP_KEY_IMAGE,      /* 4^j e: by the pixels covered */
    TSR_MIP_KEY_VOLUME,     /* 8^j e: by the voxels covered */
    TSR_MIP_KEY_NONE,       /* all the same: level by level, bright ones first */
    /* What it takes off the L1 error of the volume after those before it, worked out anew each time: in 255 (u8) or 65535 (u16) classes, short ones
     * first. Host work of one thread, in linear memory (16 bytes a coefficient and two volumes); time grows with the voxels that a coefficient covers. */
    TSR_MIP_KEY_GREEDY
} tsr_mip_key;

/* How coefficients are stored. All but LIST8 say the value once per run of equal ones. */
typedef enum tsr_mip_format {
    TSR_MIP_BRICKS = 0, /* 2 bytes: place within a brick of 32^3 voxels; the fastest */
    TSR_MIP_LIST4,      /* 4 bytes: x, y and z in as many bits as each needs, 32 together */
    TSR_MIP_LIST6,      /* 6 bytes: three numbers of 16 bits */
    TSR_MIP_LIST8       /* 8 bytes: three numbers and the value */
} tsr_mip_format;

typedef struct tsr_mip_options {
    size_t struct_size;
    int32_t levels;             /* L, reductions: 1 to 8; 0 = 2 (1 of a single voxel); negative: none (a plain voxel list) */
    tsr_mip_element element;
    const int8_t (*points)[3];  /* OWN: points x, y, z in [-8, 8]; BORROWS */
    int32_t point_count;        /* 1 to 64 */
    tsr_mip_key key;
    tsr_mip_format format;
    int hide;                   /* != 0: first drop what no ray from any direction can show (tsr_mip_hide) */
    int measure;                /* != 0: measure the error at 16 numbers of coefficients over three views (tsr_mip_render_options.error) */
    tsr_progress progress;      /* of tsr_mip_build and tsr_mip_hide; TSR_ERROR_CANCELLED leaves nothing behind */
} tsr_mip_options;
#define TSR_MIP_OPTIONS TSR_SIZED(tsr_mip_options)

/* Builds the pyramid of a u8 or u16 volume on the context's device. RETURNS NEW; the volume is BORROWED. Linear time: levels, one sort by (level, value,
 * effect). TSR_ERROR_ARGUMENT for other element types, L above floor(log2(largest extent)) + 1, an element without the pyramid condition (the message
 * names the offset), extents a format cannot hold (names the axis). Waits. */
TSR_API tsr_status tsr_mip_build(tsr_context *context, const tsr_volume *volume, const tsr_mip_options *options, tsr_mip **mip) TSR_CHECKED;
TSR_API void tsr_mip_destroy(tsr_mip **mip);

typedef struct tsr_mip_step { int64_t count; double relative, median; } tsr_mip_step;

typedef struct tsr_mip_info {
    tsr_size3 size;
    tsr_vec3 spacing;                           /* of the volume */
    int32_t levels;                             /* L; there are L + 1 arrays */
    tsr_dtype dtype;
    tsr_mip_element element;
    int32_t points;                             /* of the element */
    tsr_mip_key key;
    tsr_mip_format format;
    int64_t coefficients, by_level[TSR_MIP_LEVELS + 1];
    int64_t runs, bricks, device_bytes;
    int32_t steps;                              /* measured ones, 0 or 16 */
    tsr_mip_step step[TSR_MIP_STEPS];           /* ascending numbers */
    tsr_geometry geometry;                      /* of the volume */
} tsr_mip_info;
/* Never NULL: all zero of no pyramid. RETURNS VIEW. */
TSR_API const tsr_mip_info *tsr_mip_describe(const tsr_mip *mip);
/* The info's `points` points of the element, x, y, z each; room for 64 is always enough. Host memory. */
TSR_API void tsr_mip_get_points(const tsr_mip *mip, int8_t (*points)[3]);

/* A pyramid of the first `count` coefficients of the order (0 to all) on the same device, where memory or a file has no room for all: it draws what the
 * whole one draws with that many, and what it reconstructs lies nowhere above f_0. Nothing is measured in it. A refinement of `mip` begins anew
 * afterwards. RETURNS NEW. Waits. */
TSR_API tsr_status tsr_mip_keep(tsr_mip *mip, int64_t count, tsr_mip **kept) TSR_CHECKED;

/* f_0, bit for bit. RETURNS NEW on the pyramid's device. */
TSR_API tsr_status tsr_mip_reconstruct(const tsr_mip *mip, tsr_volume **volume) TSR_CHECKED;

/* The volume with every voxel that can never be seen lowered to its opening, so that its detail vanishes: voxels with at most one lower face neighbour
 * (in the order of value, then index; outside is lower) and voxels below the level to which they are flooded from the border, 6-connected. A ray through
 * voxels as cubes has the same maximum before and after. Host work; RETURNS NEW on the volume's device; *hidden (may be NULL) counts the voxels. */
TSR_API tsr_status tsr_mip_hide(tsr_context *context, const tsr_volume *volume, const tsr_mip_options *options, tsr_volume **result,
                                int64_t *hidden) TSR_CHECKED;

/* ---- pictures ---------------------------------------------------------------------------------------------------------------------------- */

typedef struct tsr_mip_view {
    double rotation[4];         /* quaternion w, x, y, z, normalised; all 0 = identity */
    double zoom;                /* pixels per voxel, at most 64; 0 = 1. Where voxels lie more than a pixel apart in the plane of the picture it is drawn
                                   smaller, across or down, and its pixels are repeated */
    tsr_vec3 stretch;           /* of the axes, 1/64 to 64: relative spacing; 0 = 1. Thick slices seen from above are drawn as fine as a slice */
} tsr_mip_view;

/* The view of an angle: azimuth turns about the volume's z axis, elevation tips towards the viewer (degrees); z is up at elevation 0. */
TSR_API tsr_mip_view tsr_mip_orbit(double azimuth, double elevation, double zoom);

typedef enum tsr_mip_mode {
    TSR_MIP_SPLAT = 0,          /* a coefficient of level j is a square of 2^j pixels (other elements: their projection) */
    TSR_MIP_CASCADE,            /* level pictures of 1/2^j size, expanded in 2D: cheapest, displaced by up to 2^j pixels in oblique views */
    TSR_MIP_EXACT               /* every voxel a coefficient stands for, by itself: all coefficients give the projection of every voxel of f_0 */
} tsr_mip_mode;

/* Pixel-sized holes of oblique views: closing of the picture by the projected element. */
typedef enum tsr_mip_close {
    TSR_MIP_CLOSE_AUTO = 0,     /* HOLES where the view is oblique, else OFF */
    TSR_MIP_CLOSE_OFF,
    TSR_MIP_CLOSE_ALL,
    TSR_MIP_CLOSE_HOLES         /* changes only pixels that nothing was drawn to */
} tsr_mip_close;

typedef struct tsr_mip_render_options {
    size_t struct_size;
    tsr_mip_mode mode;
    double fraction;            /* of all coefficients, 0 to 1; 0 = 1 */
    int64_t count;              /* their number instead, if > 0 */
    double error;               /* relative L1 error instead, if > 0: the fewest that reached it when the pyramid was measured */
    double milliseconds;        /* time per frame instead, if > 0: a line through the times of this frame's earlier pictures */
    int32_t lower, upper;       /* values below `lower` are background, above `upper` saturate; 0 = 1, the largest */
    tsr_mip_close close;
    int slab;                   /* != 0: only voxels whose depth along the view (voxels, 0 = the volume's centre, away from the viewer) is in */
    double slab_lower, slab_upper; /* [slab_lower, slab_upper); mode EXACT only */
    int refine;                 /* != 0: keep the picture and add the coefficients since the last call (same view and options, not fewer) */
    int32_t finest;             /* only levels from this one up, 0 to L: a preview, level by level (the method's MMIP); 0 = all */
    /* tsr_mip_dense_render only. != 0: slice after slice across the axis that the view mostly follows, each blended with the whole picture by maximum
     * (the texture slices of the method's comparison, nearest samples): the same picture, nothing skipped. */
    int slices;
    /* tsr_mip_dense_render only: the element that closes the picture; that of the pyramid for the same picture. OWN: tsr_mip_get_points has its points */
    tsr_mip_element element;
    const int8_t (*points)[3];  /* OWN: as in tsr_mip_options; BORROWS */
    int32_t point_count;
} tsr_mip_render_options;
#define TSR_MIP_RENDER_OPTIONS TSR_SIZED(tsr_mip_render_options)

typedef struct tsr_mip_frame tsr_mip_frame;

/* 1 to 32768 pixels each way. RETURNS NEW; the context must outlive it. */
TSR_API tsr_status tsr_mip_frame_create(tsr_context *context, int32_t width, int32_t height, tsr_mip_frame **frame) TSR_CHECKED;
TSR_API void tsr_mip_frame_destroy(tsr_mip_frame **frame);
/* RETURNS VIEW, device memory: [height][width] values, row 0 on top, 0 where there is nothing. */
TSR_API const uint32_t *tsr_mip_frame_values(const tsr_mip_frame *frame);
TSR_API tsr_status tsr_mip_frame_download(const tsr_mip_frame *frame, uint32_t *values) TSR_CHECKED; /* waits */
/* Pixelwise maximum with another frame of equal size, of any context: pictures of the parts of one volume. Waits. */
TSR_API tsr_status tsr_mip_frame_combine(tsr_mip_frame *frame, const tsr_mip_frame *other) TSR_CHECKED;
/* New 8-bit grey image: values from level - window/2 to level + window/2 become 0 to 255. Both 0 = 0 to the largest value of `dtype`. Waits. */
TSR_API tsr_status tsr_mip_frame_image(const tsr_mip_frame *frame, tsr_dtype dtype, double window, double level, tsr_image *image) TSR_CHECKED;

typedef struct tsr_mip_statistics {
    size_t struct_size;
    int64_t drawn;              /* coefficients asked for: K */
    double milliseconds;        /* of this call, measured only if `milliseconds` was asked for */
} tsr_mip_statistics;
#define TSR_MIP_STATISTICS TSR_SIZED(tsr_mip_statistics)

/* Draws into the frame (same device). `options` and `statistics` may be NULL. Asynchronous on a GPU but where the number of coefficients changes. The
 * pyramid remembers the number drawn last: one call on it at a time. */
TSR_API tsr_status tsr_mip_render(tsr_mip *mip, const tsr_mip_view *view, const tsr_mip_render_options *options, tsr_mip_frame *frame,
                                  tsr_mip_statistics *statistics) TSR_CHECKED;

/* A pyramid of format BRICKS dealt out over several contexts, brick by brick in the order of their largest values, so that each has its share of the work
 * and of the bright. RETURNS NEW; `mip` is BORROWED, the contexts must outlive the group; they may be of one device. */
typedef struct tsr_mip_group tsr_mip_group;
TSR_API tsr_status tsr_mip_group_create(tsr_context *const *contexts, int32_t count, const tsr_mip *mip, tsr_mip_group **group) TSR_CHECKED;
TSR_API void tsr_mip_group_destroy(tsr_mip_group **group);
TSR_API const tsr_mip_info *tsr_mip_group_describe(const tsr_mip_group *group); /* device_bytes: of the largest part. RETURNS VIEW */
/* As tsr_mip_render, the same pixels: every context draws its part, and the frame, of the first context, gets the larger ones before they are expanded and
 * closed. Waits. No `refine`. */
TSR_API tsr_status tsr_mip_group_render(tsr_mip_group *group, const tsr_mip_view *view, const tsr_mip_render_options *options, tsr_mip_frame *frame,
                                        tsr_mip_statistics *statistics) TSR_CHECKED;

/* The same picture (mode EXACT, all coefficients, bit for bit) from the dense u8 or u16 volume: a ray per pixel visits the voxels whose centres fall on it,
 * front to back, skipping bricks that hold nothing brighter than what it met. lower, upper, close, slab, slices, element and points of the options are used. */
typedef struct tsr_mip_dense tsr_mip_dense;
/* KEEPS the volume; finds the largest value of every brick of 8^3. RETURNS NEW. */
TSR_API tsr_status tsr_mip_dense_create(tsr_context *context, const tsr_volume *volume, tsr_mip_dense **dense) TSR_CHECKED;
TSR_API void tsr_mip_dense_destroy(tsr_mip_dense **dense);
TSR_API tsr_status tsr_mip_dense_render(tsr_mip_dense *dense, const tsr_mip_view *view, const tsr_mip_render_options *options,
                                        tsr_mip_frame *frame) TSR_CHECKED;

/* ---- errors ------------------------------------------------------------------------------------------------------------------------------ */

typedef struct tsr_mip_errors {
    size_t struct_size;
    double maximum;             /* largest |reference - frame| */
    double relative;            /* sum |reference - frame| / sum |reference|; 0 for equal pictures */
    double median;              /* of the differences that are not 0, 0 without any: below about 5 to 7 of 256 they are hardly seen */
    int64_t different;          /* pixels */
} tsr_mip_errors;
#define TSR_MIP_ERRORS TSR_SIZED(tsr_mip_errors)
TSR_API tsr_status tsr_mip_compare(const tsr_mip_frame *frame, const tsr_mip_frame *reference, tsr_mip_errors *errors) TSR_CHECKED; /* waits */

/* ---- files ------------------------------------------------------------------------------------------------------------------------------- */

/* .mip and .mip.gz (docs/formats/mip.md). The file is written beside the target and renamed. */
TSR_API tsr_status tsr_mip_write(const tsr_mip *mip, const char *path, const tsr_write_options *options) TSR_CHECKED;
/* RETURNS NEW on the context's device. TSR_ERROR_FORMAT names the field of a damaged file; nothing larger than the file allows is allocated. */
TSR_API tsr_status tsr_mip_read(tsr_context *context, const char *path, const tsr_read_options *options, tsr_mip **mip) TSR_CHECKED;

/* A file that is drawn piece by piece: no more of its coefficients than the limit are in memory at a time. */
typedef struct tsr_mip_stream tsr_mip_stream;
typedef struct tsr_mip_stream_options {
    size_t struct_size;
    int64_t memory_limit;       /* bytes of coefficients, their places and order, at a time; 0 = 256 MiB */
    tsr_progress progress;      /* of opening, and of every picture */
} tsr_mip_stream_options;
#define TSR_MIP_STREAM_OPTIONS TSR_SIZED(tsr_mip_stream_options)

/* Reads the file once: the checksum and every coefficient are checked and the order is found. A plain .mip: what is packed cannot be read from the middle
 * (TSR_ERROR_UNSUPPORTED). Of the whole file only 24 bytes per brick of 32^3 voxels stay in memory. TSR_ERROR_CAPACITY: the limit is below what the largest
 * brick takes (of the list formats: the list of runs and 1024 coefficients); the message says how much that is. RETURNS NEW; the context must outlive it. */
TSR_API tsr_status tsr_mip_stream_create(tsr_context *context, const char *path, const tsr_mip_stream_options *options, tsr_mip_stream **stream) TSR_CHECKED;
TSR_API void tsr_mip_stream_destroy(tsr_mip_stream **stream);
TSR_API const tsr_mip_info *tsr_mip_stream_describe(const tsr_mip_stream *stream); /* device_bytes: of a piece. RETURNS VIEW */
/* As tsr_mip_render of the whole pyramid, the same pixels; reads the file once, twice where the number of coefficients is new. Waits. No `refine`. A file
 * that has changed since it was opened is an error where its runs and coefficients are out of order or range; the checksum is not taken again. */
TSR_API tsr_status tsr_mip_stream_render(tsr_mip_stream *stream, const tsr_mip_view *view, const tsr_mip_render_options *options, tsr_mip_frame *frame,
                                         tsr_mip_statistics *statistics) TSR_CHECKED;

/* ---- built of more than memory holds ---------------------------------------------------------------------------------------------------- */

/* Builds the pyramid of a source of u8 or u16 box after box and writes its file: bit for bit that of tsr_mip_build and tsr_mip_write. About `memory_limit` bytes (0: 256 MiB) are taken of the
 * host's and the device's memory together; coefficients wait in files without a name beside `path`. TSR_ERROR_UNSUPPORTED for what looks at the whole volume: list formats (one
 * sort), the key GREEDY, hide and measure. TSR_ERROR_MEMORY: the limit is below what the smallest box takes; the message says how much that is. *info (may be NULL): of the pyramid,
 * device_bytes 0. */
TSR_API tsr_status tsr_mip_build_file(tsr_context *context, const tsr_planes_source *source, const tsr_mip_options *options, int64_t memory_limit, const char *path,
                                      const tsr_write_options *write, tsr_mip_info *info) TSR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
