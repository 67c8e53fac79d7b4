/* tessera/video.h: films, frame by frame, in and out.
 *
 * Three kinds of source and target, told apart by path (reading: and content):
 *   y4m     YUV4MPEG2 (.y4m), by our own code: 4:2:0, 4:1:1, 4:2:2, 4:4:4 and mono, 8 to 16 bits. "-" is standard input or output.
 *   png     numbered pictures: a path with one %d or %0Nd, as "frame-%04d.png" (a path without one is a film of one picture)
 *   ffmpeg  everything else, through a process of the program `ffmpeg`, which must be installed: never through a shell, without network
 *           protocols, killed when the call is cancelled. Its messages stand in ours.
 *
 * A frame comes as an 8-bit image (grey or RGB) or as the planes of samples the file holds. The conversion: Y' = Kr R' + (1 - Kr - Kb) G' + Kb B',
 * Cb = (B' - Y') / (2 - 2 Kb), Cr = (R' - Y') / (2 - 2 Kr) with Kr, Kb = 0.299, 0.114 (BT.601) or 0.2126, 0.0722 (BT.709), at 8 bits of limited
 * range 16 + 219 Y', 128 + 224 C, of full range 255 Y', 128 + 255 C, times 2^(bits-8) where there are more (full range: 2^bits - 1 in place of
 * 255), rounded to nearest and clamped. Chroma is interpolated linearly from where its samples lie (`siting`) and, the other way, averaged.
 * A file that says nothing means BT.601, limited range. Class exact: the same bits everywhere.
 * Source: [Ziegler10 8.8] (film players); ITU-R BT.601-7 2.5, BT.709-6 3; the YUV4MPEG2 stream header. */
#ifndef TESSERA_VIDEO_H
#define TESSERA_VIDEO_H

#include "tessera/io.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tsr_chroma {
    TSR_CHROMA_DEFAULT = 0, /* of writers: mono for grey images; else 4:4:4 in Y4M, 4:2:0 through ffmpeg */
    TSR_CHROMA_420,         /* chroma of half the width and height, rounded up */
    TSR_CHROMA_422,         /* of half the width */
    TSR_CHROMA_444,
    TSR_CHROMA_411, /* of a quarter of the width */
    TSR_CHROMA_MONO /* one plane */
} tsr_chroma;

/* Where chroma samples of 4:2:0 lie in their block of 2 x 2 pixels. Those of 4:2:2 and 4:1:1 lie on the first pixel of their group. */
typedef enum tsr_siting {
    TSR_SITING_CENTRE = 0, /* "420jpeg": the middle of the block */
    TSR_SITING_LEFT,       /* "420mpeg2": on the left column, between the rows */
    TSR_SITING_TOP_LEFT    /* "420paldv": on the first pixel */
} tsr_siting;

typedef enum tsr_video_matrix { TSR_MATRIX_DEFAULT = 0, TSR_MATRIX_BT601, TSR_MATRIX_BT709 } tsr_video_matrix;
typedef enum tsr_video_range { TSR_RANGE_DEFAULT = 0, TSR_RANGE_LIMITED, TSR_RANGE_FULL } tsr_video_range;

/* What the samples of a frame mean. */
typedef struct tsr_video_format {
    int32_t width, height; /* pixels, 1 to 65535 */
    tsr_chroma chroma;
    int32_t bits; /* 8 to 16 */
    tsr_siting siting;
    tsr_video_matrix matrix;
    tsr_video_range range;
} tsr_video_format;

/* The planes Y, Cb, Cr, each tight, row 0 on top: uint8_t samples at 8 bits, uint16_t above (native byte order). */
typedef struct tsr_video_frame {
    tsr_video_format format;
    int32_t planes; /* 1 or 3 */
    int32_t width[3], height[3];
    void *plane[3]; /* one block of memory that begins at plane[0] */
    int64_t bytes;  /* of all planes */
} tsr_video_frame;

/* Zero-filled. In `format` 0 bits = 8, chroma, matrix and range DEFAULT = 4:2:0, BT.601, limited. TSR_ERROR_ARGUMENT names the field. RETURNS NEW. */
TSR_API tsr_status tsr_video_frame_create(const tsr_video_format *format, tsr_video_frame *frame) TSR_CHECKED;
TSR_API void tsr_video_frame_destroy(tsr_video_frame *frame);
/* The frame as an 8-bit image, 1 channel for mono, else 3 (new, or the memory of `image` where its shape fits). Samples beyond the range are clamped. */
TSR_API tsr_status tsr_video_frame_to_image(const tsr_video_frame *frame, tsr_image *image) TSR_CHECKED;
/* Fills the planes from an image of the same extents; alpha is left out. Mono takes Y' of a colour image. */
TSR_API tsr_status tsr_video_frame_from_image(tsr_video_frame *frame, const tsr_image *image) TSR_CHECKED;

typedef struct tsr_video_info {
    tsr_video_format format;
    int32_t rate[2];       /* frames per second as a fraction; 0, 0 if the file does not say */
    int32_t aspect[2];     /* width over height of a pixel; 0, 0 if the file does not say */
    char interlacing;      /* 'p' progressive, 't' top field first, 'b' bottom first, 'm' mixed, '?' unknown: frames are handed on as they are */
    int32_t channels;      /* of images that come: 1, 3, or 4 (only PNG) */
    int64_t frames;        /* -1 if not known before the end */
    const char *container; /* "y4m", "png", "ffmpeg" */
    int32_t picture_bits;  /* of numbered pictures: of a channel in the first file; 16 are rounded to 8. Else 0 */
} tsr_video_info;

typedef struct tsr_video_read_options {
    size_t struct_size;
    const char *format;      /* "y4m", "png", "ffmpeg"; NULL = by content and path */
    tsr_video_matrix matrix; /* in place of what the file says */
    tsr_video_range range;   /* likewise */
    int64_t first;           /* number of the first picture of a sequence; 0 = the first that is there of 0 to 9 */
    int64_t memory_limit;    /* bytes of one frame; 0 = physical memory */
    const char *ffmpeg;      /* name or path of the program; NULL = environment TESSERA_FFMPEG, else "ffmpeg" */
    tsr_progress progress;   /* reported for every frame; a wait for ffmpeg can be cancelled */
} tsr_video_read_options;
#define TSR_VIDEO_READ_OPTIONS TSR_SIZED(tsr_video_read_options)

typedef struct tsr_video_reader tsr_video_reader;

/* Opens a film and reads its header. COPIES options (may be NULL). Errors: TSR_ERROR_IO (missing, unreadable; no ffmpeg), _FORMAT (damaged: field
 * and value named; what ffmpeg said), _UNSUPPORTED, _MEMORY (a frame over the limit). RETURNS NEW. */
TSR_API tsr_status tsr_video_reader_create(const char *path, const tsr_video_read_options *options, tsr_video_reader **reader) TSR_CHECKED;
TSR_API void tsr_video_reader_destroy(tsr_video_reader **reader);                    /* ends the process, if there is one */
TSR_API const tsr_video_info *tsr_video_reader_info(const tsr_video_reader *reader); /* RETURNS VIEW */
/* The next frame as an image: zero *image before the first call, its memory is used again; the caller calls tsr_image_destroy. *more is 1 when a
 * frame came, 0 at the end of the film (then the image is as it was). After a failure only destroy is of use. */
TSR_API tsr_status tsr_video_reader_next(tsr_video_reader *reader, tsr_image *image, int *more) TSR_CHECKED;
/* The same as planes, sample for sample as they lie in the file (zero *frame before the first call; tsr_video_frame_destroy). A sample over
 * 2^bits - 1 is TSR_ERROR_FORMAT. TSR_ERROR_UNSUPPORTED for pictures. */
TSR_API tsr_status tsr_video_reader_next_frame(tsr_video_reader *reader, tsr_video_frame *frame, int *more) TSR_CHECKED;

typedef struct tsr_video_write_options {
    size_t struct_size;
    const char *format; /* "y4m", "png", "ffmpeg"; NULL = by extension; needed for "-" */
    int overwrite;      /* 0: an existing file is an error */
    tsr_chroma chroma;
    int32_t bits; /* 0 = 8; more for tsr_video_writer_append_frame */
    tsr_siting siting;
    tsr_video_matrix matrix; /* 0 = BT.601 */
    tsr_video_range range;   /* 0 = limited */
    int32_t aspect[2];       /* of a pixel; 0, 0 = not said */
    char interlacing;        /* 'p', 't', 'b', 'm'; 0 = 'p' */
    int64_t first;           /* number of the first picture of a sequence */
    int compression;         /* of PNG, as in tsr_write_options */
    const char *codec;       /* ffmpeg's name of the encoder ("libx264", "ffv1"); NULL = its choice for the extension */
    const char *ffmpeg;      /* as in tsr_video_read_options */
    tsr_progress progress;
} tsr_video_write_options;
#define TSR_VIDEO_WRITE_OPTIONS TSR_SIZED(tsr_video_write_options)

typedef struct tsr_video_writer tsr_video_writer;

/* Begins a film of width x height pixels with rate_numerator / rate_denominator frames per second (0, 0 = not said; ffmpeg then means 25). COPIES
 * options (may be NULL). Nothing is at `path` until tsr_video_writer_finish. TSR_ERROR_IO if it exists (without overwrite) or there is no ffmpeg.
 * RETURNS NEW. */
TSR_API tsr_status tsr_video_writer_create(const char *path, int32_t width, int32_t height, int32_t rate_numerator, int32_t rate_denominator,
                                           const tsr_video_write_options *options, tsr_video_writer **writer) TSR_CHECKED;
/* May come before the first image, which will have so many channels (1, 3 or 4): what that one would settle is settled now, so that long work does not end
 * in TSR_ERROR_ARGUMENT because the encoder takes no film of this size. Nothing after the first. */
TSR_API tsr_status tsr_video_writer_begin(tsr_video_writer *writer, int32_t channels) TSR_CHECKED;
/* BORROWS the image. The first one decides what TSR_CHROMA_DEFAULT means. */
TSR_API tsr_status tsr_video_writer_append(tsr_video_writer *writer, const tsr_image *image) TSR_CHECKED;
/* BORROWS planes, which are written as they are; their chroma and bits (and siting, matrix, range) must be those of the options (chroma default: of
 * the first frame). */
TSR_API tsr_status tsr_video_writer_append_frame(tsr_video_writer *writer, const tsr_video_frame *frame) TSR_CHECKED;
TSR_API int64_t tsr_video_writer_frames(const tsr_video_writer *writer); /* appended so far */
/* Completes the film and gives it its name. Frees the writer and sets it to NULL in every case; on failure nothing is left behind. A film without
 * frames is TSR_ERROR_STATE. */
TSR_API tsr_status tsr_video_writer_finish(tsr_video_writer **writer) TSR_CHECKED;
TSR_API void tsr_video_writer_destroy(tsr_video_writer **writer); /* removes what was written. NULL is fine */

/* How alike two frames of the same format are. */
typedef struct tsr_video_quality {
    size_t struct_size;
    double error[3], psnr[3]; /* mean squared error of each plane; 10 log10(peak^2 / error), infinite where they are equal */
    double ssim;              /* of luma: mean over windows of 8 x 8 samples, 4 apart, of the structural similarity (Wang, Bovik, Sheikh, Simoncelli 2004) with
                                 equal weights, K1 0.01, K2 0.03; of planes below 8 samples one window of all */
} tsr_video_quality;
#define TSR_VIDEO_QUALITY TSR_SIZED(tsr_video_quality)
/* BORROWS. TSR_ERROR_ARGUMENT: other formats. */
TSR_API tsr_status tsr_video_compare(const tsr_video_frame *frame, const tsr_video_frame *reference, tsr_video_quality *quality) TSR_CHECKED;

/* 1 if the path names a film: Y4M by content, a pattern of numbered pictures, or an extension of films (.y4m .mp4 .mkv .avi .webm .mov ...). */
TSR_API int tsr_video_recognise(const char *path);
/* The same by the name alone, for outputs: nothing is opened. */
TSR_API int tsr_video_names_film(const char *path);
/* Before long work: could a film be written to `path`? Touches no file; does not start ffmpeg. */
TSR_API tsr_status tsr_video_check_output(const char *path, const tsr_video_write_options *options) TSR_CHECKED;
/* "420", "422", "444", "411", "mono". */
TSR_API tsr_status tsr_chroma_parse(const char *name, tsr_chroma *chroma) TSR_CHECKED;
TSR_API const char *tsr_chroma_name(tsr_chroma chroma);

#ifdef __cplusplus
}
#endif
#endif
