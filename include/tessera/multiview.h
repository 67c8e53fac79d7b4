/* tessera/multiview.h: multi-view video textures: the footage of several cameras, in the texture space of the moving object that they film.
 *
 * The same texel shows the same place of the surface in every camera and at every time, which is complete compensation of motion and of disparity. An
 * object holds Y, U and V of every step and camera, and for each a mask of the texels that this camera sees. It is written to and read from .mvv
 * files
 * (docs/formats/mvv.md), as it is or coded by one of two codecs whose streams may be cut at any byte. Class exact: the same bytes and the same
 * samples on
 * every backend and thread count. Source: [Ziegler10 3]; docs/theory/multiview.md. */
#ifndef TESSERA_MULTIVIEW_H
#define TESSERA_MULTIVIEW_H

#include "tessera/device.h"
#include "tessera/io.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { TSR_MULTIVIEW_MOST_SIDE = 16384, TSR_MULTIVIEW_MOST_CAMERAS = 256, TSR_MULTIVIEW_MOST_STEPS = 1 << 20 };

/* Owns textures on the device of its context, which must outlive it. */
typedef struct tsr_multiview tsr_multiview;

/* Y, U, V: BT.601, full range, all three in full resolution, [step][camera][height][width]. Visible: [step][camera][height][words] with
 * words = (width + 63) / 64, bit u % 64 of word u / 64 is texel u, bits from width on are 0; NULL: every texel is relevant. Atlas: [height][words],
 * texels
 * that belong to a triangle; NULL: all. Pointers of the device. */
typedef struct tsr_multiview_view {
    int32_t width, height, cameras, steps;
    uint8_t *plane[3];
    uint64_t *visible, *atlas;
} tsr_multiview_view;

/* Everything 0 at first; `masks` != 0: with visible and atlas. 25 steps a second, no names, no model. TSR_ERROR_ARGUMENT outside the limits above,
 * TSR_ERROR_MEMORY. RETURNS NEW. */
TSR_API tsr_status tsr_multiview_create(tsr_context *context, int32_t width, int32_t height, int32_t cameras, int32_t steps, int masks,
                                        tsr_multiview **multiview) TSR_CHECKED;
TSR_API void tsr_multiview_destroy(tsr_multiview **multiview); /* NULL is fine */
/* RETURNS VIEW: the pointers live as long as the object. */
TSR_API tsr_status tsr_multiview_view_of(const tsr_multiview *multiview, tsr_multiview_view *view) TSR_CHECKED;
TSR_API tsr_context *tsr_multiview_context(const tsr_multiview *multiview);

/* Steps a second, rate[0] / rate[1], both from 1 to 2^31 - 1. */
TSR_API tsr_status tsr_multiview_set_rate(tsr_multiview *multiview, const int32_t rate[2]) TSR_CHECKED;
TSR_API void tsr_multiview_rate(const tsr_multiview *multiview, int32_t rate[2]);
/* Of camera 0 ...; COPIES a text of at most 255 bytes, UTF-8. "" at first. */
TSR_API tsr_status tsr_multiview_set_camera_name(tsr_multiview *multiview, int32_t camera, const char *name) TSR_CHECKED;
TSR_API const char *tsr_multiview_camera_name(const tsr_multiview *multiview, int32_t camera); /* RETURNS VIEW; "" for a camera that is none */
/* The bytes of the model (mesh, poses, cameras, how masks were made), as its own functions write and read them; files carry them. COPIES. Size 0:
 * none. */
TSR_API tsr_status tsr_multiview_set_model_bytes(tsr_multiview *multiview, const void *bytes, size_t size) TSR_CHECKED;
TSR_API const void *tsr_multiview_model_bytes(const tsr_multiview *multiview, size_t *size); /* RETURNS VIEW; NULL: none */

/* ---- files ------------------------------------------------------------------------------------------------------------------------------------ */

typedef enum tsr_multiview_codec {
    TSR_MULTIVIEW_RAW = 0, /* every sample, packed by a general coder */
    TSR_MULTIVIEW_SPIHT4D, /* wavelets over time, cameras and texture, set partitioning in trees: docs/theory/multiview.md 3 */
    TSR_MULTIVIEW_DIFF2D,  /* master, averages over the cameras, differences; shape-adaptive wavelets: docs/theory/multiview.md 4 */
    TSR_MULTIVIEW_CODECS
} tsr_multiview_codec;

typedef enum tsr_multiview_masks {
    TSR_MULTIVIEW_MASKS_SENT = 0, /* in the file */
    TSR_MULTIVIEW_MASKS_REBUILT,  /* made again by the reader from the model; the file holds a 64-bit hash of each */
    TSR_MULTIVIEW_MASKS_NONE,     /* every texel is coded and relevant from then on */
    TSR_MULTIVIEW_MASK_MODES
} tsr_multiview_masks;

typedef enum tsr_multiview_fill { TSR_MULTIVIEW_FILL_4D = 0, TSR_MULTIVIEW_FILL_2D, TSR_MULTIVIEW_FILL_NONE, TSR_MULTIVIEW_FILLS } tsr_multiview_fill;
typedef enum tsr_multiview_syntax { TSR_MULTIVIEW_SYNTAX_PLANES = 0, TSR_MULTIVIEW_SYNTAX_SERIAL, TSR_MULTIVIEW_SYNTAXES } tsr_multiview_syntax;
typedef enum tsr_multiview_filter {
    TSR_MULTIVIEW_FILTER_97 = 0, /* CDF 9/7 */
    TSR_MULTIVIEW_FILTER_53,     /* LeGall 5/3 */
    TSR_MULTIVIEW_FILTER_HAAR,
    TSR_MULTIVIEW_FILTERS
} tsr_multiview_filter;
typedef enum tsr_multiview_allocation {
    TSR_MULTIVIEW_ALLOCATION_RDO = 0, /* where a bit takes away most error */
    TSR_MULTIVIEW_ALLOCATION_FIXED,   /* differences all alike, the master four times that */
    TSR_MULTIVIEW_ALLOCATIONS
} tsr_multiview_allocation;

typedef struct tsr_multiview_write_options {
    size_t struct_size;
    tsr_multiview_codec codec;
    tsr_multiview_masks masks;
    double bpp[3]; /* bits a texel of Y, U and V, all texels counted; 0: Y 0.75, U and V a third of Y */
    int lossless;  /* relevant texels come back as they are; bpp is not looked at */
    int32_t
        group; /* steps in a group of pictures (SPIHT4D: a power of two; default 8) or in a segment with a master of its own (DIFF2D; default all) */
    tsr_multiview_fill fill;             /* SPIHT4D: what irrelevant texels become */
    tsr_multiview_syntax syntax;         /* SPIHT4D */
    tsr_multiview_filter filter;         /* DIFF2D */
    int32_t levels;                      /* DIFF2D: of the transform, 1 to 12; 0 = 5 */
    int open_loop;                       /* DIFF2D: differences to what was, not to what the decoder has */
    tsr_multiview_allocation allocation; /* DIFF2D */
    int overwrite;                       /* replace an existing file */
    tsr_progress progress;
} tsr_multiview_write_options;
#define TSR_MULTIVIEW_WRITE_OPTIONS TSR_SIZED(tsr_multiview_write_options)

/* What a file holds and what it takes. Bits a texel count the coded component, over all texels of the array and over the relevant ones. */
typedef struct tsr_multiview_report {
    size_t struct_size;
    tsr_multiview_codec codec;
    tsr_multiview_masks masks;
    int32_t width, height, cameras, steps, rate[2], group, groups;
    int lossless, has_masks, has_atlas;
    tsr_multiview_fill fill;
    tsr_multiview_syntax syntax;
    tsr_multiview_filter filter;
    int32_t levels;
    int open_loop;
    int64_t file_bytes, model_bytes, mask_bytes; /* mask_bytes: masks, atlas and hashes */
    int64_t texels, relevant;                    /* relevant: of all steps and cameras; -1: not known (masks that are rebuilt) */
    int64_t stream_bytes[3];                     /* of Y, U, V; RAW: their sum in the first */
    double bpp[3], bpp_relevant[3];              /* 0 where not known */
    double ratio;                                /* 24 / (bpp[0] + bpp[1] + bpp[2]) */
    double ratio_total;                          /* masks counted, too */
    int64_t chunks, damaged;                     /* chunks, and those whose checksum is wrong or that are cut off */
    int padded;                                  /* 1: the last group has fewer steps than the others */
} tsr_multiview_report;
#define TSR_MULTIVIEW_REPORT TSR_SIZED(tsr_multiview_report)

/* Path "-" is standard output. `options` may be NULL: RAW. `report` (may be NULL) is filled. BORROWS all. Takes memory for one copy of the textures
 * on the
 * host where they lie elsewhere, and for SPIHT4D 9 bytes a texel of a group and thread. TSR_ERROR_ARGUMENT: bpp not above 0, a group that is no
 * power of two ...;
 * TSR_ERROR_STATE: masks asked for that are not there, rebuilt without a model. */
TSR_API tsr_status tsr_multiview_write(const tsr_multiview *multiview, const char *path, const tsr_multiview_write_options *options,
                                       tsr_multiview_report *report) TSR_CHECKED;

typedef struct tsr_multiview_read_options {
    size_t struct_size;
    int32_t first_step, steps;     /* steps 0: all from first_step on */
    int32_t first_camera, cameras; /* likewise */
    double bpp;                    /* of Y at most, U and V in proportion: the rest of each embedded stream is not read; 0 = all of it */
    int partial;                   /* a file that is cut off or damaged is read as far as it goes: missing streams leave grey, remarks say which */
    int no_masks;                  /* SPIHT4D and RAW: masks are neither read nor rebuilt, every texel is relevant */
    int64_t memory_limit;          /* bytes that the textures may take; 0 = physical memory */
    /* Masks that are rebuilt: fills [height][words] (host memory, zeros at first) for step t and camera c, from the bytes of the model (NULL, 0:
     * none).
     * What it returns is passed on. May be called from one thread at a time, in any order. */
    tsr_status (*rebuild)(void *user, const void *model, size_t model_size, int32_t t, int32_t c, int32_t width, int32_t height, uint64_t *mask);
    void *user;
    tsr_progress progress;
    int no_textures; /* != 0: nothing is decoded: names, rate and model, with one step of black textures without masks in place of those of the file */
} tsr_multiview_read_options;
#define TSR_MULTIVIEW_READ_OPTIONS TSR_SIZED(tsr_multiview_read_options)

/* Path "-" is standard input. RETURNS NEW in *multiview: the steps and cameras asked for; names, rate and model are those of the file. Irrelevant
 * texels
 * are 0, in RAW files as they were written. Of a file, only the chunks that are needed are looked at. TSR_ERROR_FORMAT: damage (the chunk is named),
 * a mask that is not the one whose hash the
 * file holds (t and c are named); TSR_ERROR_STATE: masks to be rebuilt, but no `rebuild`; _ARGUMENT, _MEMORY, _IO. */
TSR_API tsr_status tsr_multiview_read(tsr_context *context, const char *path, const tsr_multiview_read_options *options,
                                      tsr_multiview **multiview) TSR_CHECKED;
/* Without decoding a texture. Damage of streams is counted, not an error. */
TSR_API tsr_status tsr_multiview_inspect(const char *path, tsr_multiview_report *report) TSR_CHECKED;

/* Fills `report->ratio` from `report->bpp`: 24 / (Y + U + V). */
TSR_API double tsr_multiview_ratio(const double bpp[3]);

/* Differences of two objects of the same extents on the host's or any device, on texels that are relevant in both. Squared errors are means; PSNR
 * has 255 as
 * its peak and is infinite where nothing differs, 0 where no texel counts. */
typedef struct tsr_multiview_difference {
    size_t struct_size;
    int64_t texels;           /* that count */
    int64_t masks_differ;     /* texels relevant in one of them alone */
    double mse[3], psnr[3];   /* Y, U, V */
    double mse_rgb, psnr_rgb; /* over the three channels of RGB */
    int32_t largest[3];       /* difference */
} tsr_multiview_difference;
#define TSR_MULTIVIEW_DIFFERENCE TSR_SIZED(tsr_multiview_difference)
TSR_API tsr_status tsr_multiview_compare(const tsr_multiview *a, const tsr_multiview *b, tsr_multiview_difference *difference) TSR_CHECKED;

/* What DIFF2D codes, to look at: layers of the textures of some steps (steps >= 1 from first_step on), every camera's in its place. Averages, the
 * master and their differences are seen where any camera sees a texel (the master: at any step of the object, `multiview`); differences are grey (128)
 * plus `gain` (-1000 to 1000) times the difference, in Y, U and V. TEXTURES copies. RETURNS NEW in *layered: with rate, names and model of
 * `multiview`, on its device. Class exact. */
typedef enum tsr_multiview_layer {
    TSR_MULTIVIEW_LAYER_TEXTURES = 0,
    TSR_MULTIVIEW_LAYER_AVERAGES,            /* of each step over the cameras that see a texel */
    TSR_MULTIVIEW_LAYER_MASTER,              /* of the averages over the steps */
    TSR_MULTIVIEW_LAYER_DIFFERENCES,         /* textures less averages */
    TSR_MULTIVIEW_LAYER_AVERAGE_DIFFERENCES, /* averages less the master */
    TSR_MULTIVIEW_LAYERS
} tsr_multiview_layer;
TSR_API tsr_status tsr_multiview_layer_of(const tsr_multiview *multiview, tsr_multiview_layer layer, int32_t first_step, int32_t steps, double gain,
                                          tsr_multiview **layered) TSR_CHECKED;

/* One texture as a picture: RGB, or with `alpha` != 0 RGBA whose alpha is the mask. RETURNS NEW, in host memory. */
TSR_API tsr_status tsr_multiview_image(const tsr_multiview *multiview, int32_t step, int32_t camera, int alpha, tsr_image *image) TSR_CHECKED;
/* R'G'B' of 8 bits to Y, U, V as textures hold them, and back. */
TSR_API void tsr_multiview_yuv(const uint8_t rgb[3], uint8_t yuv[3]);
TSR_API void tsr_multiview_rgb(const uint8_t yuv[3], uint8_t rgb[3]);

#ifdef __cplusplus
}
#endif
#endif
