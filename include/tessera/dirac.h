/* tessera/dirac.h: Dirac and VC-2 (SMPTE ST 2042) video streams.
 *
 * A stream is a row of sequences; a sequence is a header (what the pictures are), pictures, and an end. A decoder takes the bytes as they come, in
 * pieces of any size, and gives frames: push, then next until *more is 0, push again; tsr_dirac_decoder_end says that no more bytes come. Slices
 * are decoded on the context's device, arithmetic codes of core syntax on CPU threads or, where an option says so, on the device; transform, prediction and samples on the device. Class exact: the same samples on
 * every backend and thread count.
 *
 * Damage does not end a stream: what is lost is concealed (missing coefficients are 0) and told to `damage`; `strict` makes it an error instead.
 * Source: Dirac Specification 2.2.3; SMPTE ST 2042-1:2017 (VC-2); W. J. van der Laan, Multiresolution Volume Processing and Visualization on
 * Graphics Hardware, chapter 4. */
#ifndef TESSERA_DIRAC_H
#define TESSERA_DIRAC_H

#include "tessera/device.h"
#include "tessera/video.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A sequence header, its presets resolved. Numbers of presets are those of the standard. */
typedef struct tsr_dirac_sequence {
    size_t struct_size;
    int32_t major_version, minor_version, profile, level;
    int32_t base_format; /* 0 to 22 */
    int32_t width, height;
    tsr_chroma chroma; /* 4:4:4, 4:2:2 or 4:2:0 */
    int32_t interlaced, top_field_first;
    int32_t fields; /* 1: each picture is one field, half as high as the frame */
    int32_t rate[2], aspect[2];
    int32_t clean_width, clean_height, clean_left, clean_top;
    int32_t luma_offset, luma_excursion, chroma_offset, chroma_excursion;
    int32_t luma_depth, chroma_depth; /* bits, 1 to 16 */
    int32_t primaries, matrix, transfer;
    uint32_t
        custom; /* fields that do not follow from base_format, bit by bit: 0 extents, 1 chroma, 2 scan, 3 frame rate, 4 aspect, 5 clean area, 6 range,
                        7 colour */
} tsr_dirac_sequence;
#define TSR_DIRAC_SEQUENCE TSR_SIZED(tsr_dirac_sequence)

/* Of one frame (or picture) that came out. */
typedef struct tsr_dirac_frame_info {
    size_t struct_size;
    uint32_t number;    /* of the picture; of its first field */
    int32_t damaged;    /* 1: something of it was concealed */
    int64_t offset;     /* of its first data unit in the stream, bytes */
    int64_t bytes;      /* of its data units */
    int32_t parse_code; /* of the picture's last data unit */
} tsr_dirac_frame_info;
#define TSR_DIRAC_FRAME_INFO TSR_SIZED(tsr_dirac_frame_info)

/* The work on a picture, as [Laan11 4, Table 4.2] cuts it. An encoder counts slices as RESIDUAL_DECODE, frames to samples as COMBINE. */
typedef enum tsr_dirac_stage {
    TSR_DIRAC_MOTION_DECODE = 0, /* vectors and modes of blocks */
    TSR_DIRAC_MOTION_RENDER,     /* prediction */
    TSR_DIRAC_RESIDUAL_DECODE,   /* coefficients, and what brings them to the device */
    TSR_DIRAC_WAVELET_TRANSFORM,
    TSR_DIRAC_COMBINE,  /* prediction and residue become samples; on a device part of MOTION_RENDER where there is a prediction */
    TSR_DIRAC_UPSAMPLE, /* half-sample grids of references */
    TSR_DIRAC_STAGES
} tsr_dirac_stage;

/* Where the time goes: seconds of each stage, of intra pictures and of those with one and two references. */
typedef struct tsr_dirac_profile {
    size_t struct_size;
    int synchronise; /* 1: the device is waited for after each stage, so that its time is counted where it is spent; 0: as the work runs */
    double seconds[TSR_DIRAC_STAGES][3];
    int64_t pictures[3];
} tsr_dirac_profile;
#define TSR_DIRAC_PROFILE TSR_SIZED(tsr_dirac_profile)

/* A block that is predicted. */
typedef struct tsr_dirac_block_info {
    int16_t vector[2][2]; /* of each reference, x and y, in units of 2^-precision samples */
    uint8_t mode;         /* bit r: from reference r; 0: a constant */
    uint8_t global;       /* 1: by the motion of the whole picture, not by `vector` */
} tsr_dirac_block_info;

/* What a picture is put together from, for who shows or studies it. */
typedef struct tsr_dirac_anatomy {
    size_t struct_size;
    uint32_t number;
    int32_t references; /* 0 to 2, */
    uint32_t reference[2];
    int32_t blocks[2], separation[2], precision; /* luma blocks across and down, luma samples from one to the next; 0: none */
    const tsr_dirac_block_info *block;           /* row by row */
    int32_t slices[2];                           /* across and down; 0: core syntax */
    const uint8_t *quantiser;                    /* of each slice, row by row */
} tsr_dirac_anatomy;
#define TSR_DIRAC_ANATOMY TSR_SIZED(tsr_dirac_anatomy)

typedef struct tsr_dirac_decode_options {
    size_t struct_size;
    int pictures;         /* 1: pictures as they are coded; of field streams each field by itself. 0: frames */
    int strict;           /* 1: damage is an error */
    int long_length;      /* 1: in low-delay slices of 2^n bytes the length of the luma part has a bit more, as FFmpeg and Schroedinger write it */
    int64_t memory_limit; /* bytes that pictures may take; 0 = a quarter of physical memory */
    /* What was lost and where: called from tsr_dirac_decoder_next, `offset` in bytes from the start of the stream. NULL: nobody asks. */
    void (*damage)(void *user, int64_t offset, const char *text);
    void *user;
    int32_t ahead; /* pictures of slices that a device (not the CPU) decodes together where so many have been pushed, 1 to 16; 0 = 1: no latency */
    tsr_dirac_profile *profile; /* KEEPS: adds to it until the decoder is destroyed; NULL: nobody asks */
    /* Called from tsr_dirac_decoder_next as pictures are decoded, which is before they come: views for the call. NULL: nobody asks. */
    void (*anatomy)(void *user, const tsr_dirac_anatomy *anatomy);
    int32_t
        arithmetic; /* pictures whose arithmetic codes a device (not the CPU) decodes together where so many have been pushed, 1 to 64; fewer where
                           memory_limit says so. 0: threads of the CPU decode them, and the coefficients go up */
} tsr_dirac_decode_options;
#define TSR_DIRAC_DECODE_OPTIONS TSR_SIZED(tsr_dirac_decode_options)

typedef struct tsr_dirac_decoder tsr_dirac_decoder;

/* COPIES options (may be NULL); the context must outlive the decoder. RETURNS NEW. */
TSR_API tsr_status tsr_dirac_decoder_create(tsr_context *context, const tsr_dirac_decode_options *options, tsr_dirac_decoder **decoder) TSR_CHECKED;
TSR_API void tsr_dirac_decoder_destroy(tsr_dirac_decoder **decoder);
/* COPIES bytes of the stream. TSR_ERROR_STATE after tsr_dirac_decoder_end. */
TSR_API tsr_status tsr_dirac_decoder_push(tsr_dirac_decoder *decoder, const void *bytes, size_t size) TSR_CHECKED;
TSR_API tsr_status tsr_dirac_decoder_end(tsr_dirac_decoder *decoder) TSR_CHECKED;
/* The next frame (zero *frame before the first call; its memory is used again while its format stays; tsr_video_frame_destroy). *more is 0 when
 * more bytes are needed or the stream has ended; then the frame is as it was. Samples are those of the stream, without offset or conversion;
 * `format.bits` is the greater depth, at least 8. Takes time in proportion to the picture and its bytes. Errors: TSR_ERROR_FORMAT (strict: any
 * damage; else a stream without a sequence header), _UNSUPPORTED (a coding this build lacks), _MEMORY. */
TSR_API tsr_status tsr_dirac_decoder_next(tsr_dirac_decoder *decoder, tsr_video_frame *frame, tsr_dirac_frame_info *info, int *more) TSR_CHECKED;
/* A frame that stays where it was decoded: planes in memory of the context's device, as tsr_video_frame has them. */
typedef struct tsr_dirac_device_frame {
    size_t struct_size;
    tsr_video_format format;
    int32_t width[3], height[3];
    const void *plane[3]; /* behind one another from plane[0] on */
    int64_t bytes;        /* of all planes */
} tsr_dirac_device_frame;
#define TSR_DIRAC_DEVICE_FRAME TSR_SIZED(tsr_dirac_device_frame)
/* tsr_dirac_decoder_next without the way to the host. RETURNS VIEW, valid until the next call; what the context runs after it sees the samples. */
TSR_API tsr_status tsr_dirac_decoder_next_on_device(tsr_dirac_decoder *decoder, tsr_dirac_device_frame *frame, tsr_dirac_frame_info *info,
                                                    int *more) TSR_CHECKED;
/* The header of the sequence that the last frame belongs to; TSR_ERROR_STATE before the first one was read. */
TSR_API tsr_status tsr_dirac_decoder_sequence(const tsr_dirac_decoder *decoder, tsr_dirac_sequence *sequence) TSR_CHECKED;

/* ---- what a stream is made of ---------------------------------------------------------------------------------------------------------------- */

enum { TSR_DIRAC_BAND_LEVELS = 13 };

/* One data unit, without its samples. */
typedef struct tsr_dirac_unit_info {
    size_t struct_size;
    int64_t offset, bytes; /* in the stream; header included */
    int32_t code;
    const char *name; /* "sequence header", "picture of two references" ... */
    int is_picture;   /* 1: a picture or a fragment of one; the rest counts */
    uint32_t number;
    int is_reference;
    int32_t references;
    uint32_t reference[2];                                        /* their numbers */
    int64_t motion_bits;                                          /* prediction parameters and blocks */
    int32_t wavelet, wavelet_horizontal, depth, depth_horizontal; /* indices of the standard */
    int32_t slices[2];                                            /* 0: core syntax */
    int64_t fragment[2]; /* first slice and number of slices of a fragment; 0, 0: none, or the one with the parameters */
    /* Bits of each sub-band by component, level (0: approximation) and orientation (1 HL, 2 LH, 3 HH); the quantisers of core syntax, -1: no
     * coefficients. */
    int64_t band_bits[3][TSR_DIRAC_BAND_LEVELS][4];
    int32_t band_quantiser[3][TSR_DIRAC_BAND_LEVELS][4];
    int64_t padding_bits;                    /* of slices: what codes leave of their length */
    int32_t quantiser_least, quantiser_most; /* of slices */
    const char *problem;                     /* what is wrong with it, or what its level forbids; NULL: nothing. A view until the next call */
} tsr_dirac_unit_info;
#define TSR_DIRAC_UNIT_INFO TSR_SIZED(tsr_dirac_unit_info)

/* Goes through a stream unit by unit, without decoding samples: push bytes, next until *more is 0, push again, end. Checks VC-2 levels 1 to 7 and
 * 64 to 66. */
typedef struct tsr_dirac_inspector tsr_dirac_inspector;
TSR_API tsr_status tsr_dirac_inspector_create(tsr_dirac_inspector **inspector) TSR_CHECKED; /* RETURNS NEW */
TSR_API void tsr_dirac_inspector_destroy(tsr_dirac_inspector **inspector);
TSR_API tsr_status tsr_dirac_inspector_push(tsr_dirac_inspector *inspector, const void *bytes, size_t size) TSR_CHECKED; /* COPIES */
TSR_API tsr_status tsr_dirac_inspector_end(tsr_dirac_inspector *inspector) TSR_CHECKED;
TSR_API tsr_status tsr_dirac_inspector_next(tsr_dirac_inspector *inspector, tsr_dirac_unit_info *info, int *more) TSR_CHECKED;
/* The last sequence header; TSR_ERROR_STATE before the first one. */
TSR_API tsr_status tsr_dirac_inspector_sequence(const tsr_dirac_inspector *inspector, tsr_dirac_sequence *sequence) TSR_CHECKED;

/* Changes streams without coding anything anew. Streams that are pushed one after the other (tsr_dirac_transcoder_end after each) become one
 * behind the other, each a sequence of its own. */
typedef struct tsr_dirac_transcode_options {
    size_t struct_size;
    int64_t first,
        count; /* pictures of the coded order that stay, of each stream; count 0 = all. A cut begins at the intra picture at or before `first` */
    int32_t fragment; /* slices in a fragment: whole slice-coded pictures become fragments (the version becomes 3); 0 = as they are */
    int whole;        /* 1: fragments become whole pictures */
    int drop;         /* 1: auxiliary data and padding go */
} tsr_dirac_transcode_options;
#define TSR_DIRAC_TRANSCODE_OPTIONS TSR_SIZED(tsr_dirac_transcode_options)
typedef struct tsr_dirac_transcoder tsr_dirac_transcoder;
/* `write` is called with the bytes of the new stream as they come; what it returns is passed on. RETURNS NEW. */
TSR_API tsr_status tsr_dirac_transcoder_create(const tsr_dirac_transcode_options *options,
                                               tsr_status (*write)(void *user, const void *bytes, size_t size), void *user,
                                               tsr_dirac_transcoder **transcoder) TSR_CHECKED;
TSR_API void tsr_dirac_transcoder_destroy(tsr_dirac_transcoder **transcoder);
TSR_API tsr_status tsr_dirac_transcoder_push(tsr_dirac_transcoder *transcoder, const void *bytes, size_t size) TSR_CHECKED; /* COPIES */
TSR_API tsr_status tsr_dirac_transcoder_end(tsr_dirac_transcoder *transcoder, int64_t *pictures) TSR_CHECKED; /* written so far, of all streams */

/* ---- encoder ------------------------------------------------------------------------------------------------------------------------------- */

enum { TSR_DIRAC_PROFILE_STATISTICS = 116 }; /* tsr_dirac_sequence.profile; where a decoder is strict it is an error */

typedef enum tsr_dirac_coding {
    TSR_DIRAC_CODING_HIGH_QUALITY = 0, /* VC-2 HQ: slices of any size, lossless where wanted */
    TSR_DIRAC_CODING_LOW_DELAY,        /* VC-2 LD: slices of fixed size */
    TSR_DIRAC_CODING_ARITHMETIC,       /* Dirac core syntax, arithmetic coding: intra pictures alone (main intra profile) or long groups (main) */
    TSR_DIRAC_CODING_VARIABLE,         /* Dirac core syntax, variable-length codes: intra pictures (simple profile) */
    TSR_DIRAC_CODING_STATISTICS /* as arithmetic, but sub-bands by interleaved rANS with frequencies of the picture: faster to decode. No standard
                                          has it: the profile is TSR_DIRAC_PROFILE_STATISTICS, and only this library reads it */
} tsr_dirac_coding;

typedef enum tsr_dirac_preset { TSR_DIRAC_MEDIUM = 0, TSR_DIRAC_FAST, TSR_DIRAC_BEST } tsr_dirac_preset;

/* How a picture was coded. */
typedef struct tsr_dirac_picture {
    size_t struct_size;
    uint32_t number;
    int32_t parse_code, references; /* references: 0 intra, 1, 2 */
    int32_t quantiser;              /* index that a coefficient of weight 1 would have; -1: slices each with its own */
    int32_t scene;                  /* 1: intra because the scene changed */
    int32_t weight[3];              /* of the two references and the shift, where they are not the usual ones; else 0 */
    int64_t bytes, motion_bytes;    /* of its data units, with a sequence header before it; of prediction parameters and blocks */
    double error[3];                /* mean squared error of Y, C1, C2; -1: not known (slices) */
    int64_t buffer;                 /* bits in the decoder's buffer after it is taken out, by the buffer model; -1 without one */
} tsr_dirac_picture;
#define TSR_DIRAC_PICTURE TSR_SIZED(tsr_dirac_picture)

/* What a first pass found out about a picture, in coded order. */
typedef struct tsr_dirac_statistics {
    uint32_t number;
    int32_t kind, quantiser; /* kind: 0 intra, 1 a reference behind others, 2 between references */
    int64_t bytes;
} tsr_dirac_statistics;

typedef struct tsr_dirac_encode_options {
    size_t struct_size;
    tsr_dirac_coding coding;
    tsr_video_format format; /* of all frames: 4:4:4, 4:2:2 or 4:2:0, 8 to 16 bits; chroma must divide the extents */
    int32_t rate[2];         /* frames a second; 0, 0 = 25 */
    int32_t aspect[2];       /* of a pixel; 0, 0 = 1, 1 */
    int32_t interlaced;      /* 0 progressive, 1 top field first, 2 bottom field first */
    int fields;              /* 1: each field is a picture of its own */
    int32_t wavelet;  /* index + 1 of the standard's filters, 1 to 7; 0 = Le Gall (5,3) in slices, Deslauriers-Dubuc (9,7) in intra pictures of core
                         syntax; lossless: Haar without shift */
    int32_t depth;    /* levels, 1 to 6; 0 = 3 in slices (4: lossless, without slice, matrix, fragment), 4 in core syntax (fewer in small pictures) */
    int32_t slice[2]; /* width and height of a slice in luma samples, multiples of 2^depth; 0, 0 = 32 x 8 (at least 2^depth, and 2^depth chroma
                                samples) */
    /* One of: */
    int lossless;
    int32_t quantiser; /* index + 1, 1 to 101: the same everywhere; core syntax: of a coefficient of weight 1 in an intra picture */
    int64_t
        picture_bytes; /* of slices in each picture; what is left of a slice is padding. 0, and none of the others: a fifth of the samples' bytes */
    int32_t fragment;  /* slices in a fragment (version 3); 0 = whole pictures */
    int64_t first_number; /* of the first picture, 0 to 2^32 - 1 */

    int64_t bit_rate;                       /* bits a second: quantisers are chosen picture by picture. Not with low delay, which has a fixed size */
    int64_t buffer_bits;                    /* of the decoder's buffer, which no picture empties; 0 = one second */
    int constant_rate;                      /* 1: what would overflow the buffer is filled with padding units; 0: the rate may be lower (VBR) */
    const tsr_dirac_statistics *statistics; /* COPIES; of a first pass over the same frames: the rate is spread over the whole film */
    int64_t statistics_count;

    /* Asymmetric transforms (version 3), high quality and low delay: */
    int32_t wavelet_horizontal; /* index + 1; 0 = `wavelet` */
    int32_t depth_horizontal;   /* levels of rows alone, 0 to 4, before the others */
    const int32_t
        *matrix; /* BORROWS for tsr_dirac_encoder_create: quantisation matrix in the order of the stream; NULL = the standard's, or where it has
                                   none the weights of the bands */
    int32_t matrix_count;

    /* Core syntax: */
    tsr_dirac_preset preset;
    int32_t group;         /* frames from one intra picture to the next; 0 = 48, 1 = intra pictures alone. TSR_DIRAC_CODING_VARIABLE: 0 or 1 */
    int32_t distance;      /* frames from one forward reference to the next, those between have two references: 1 to 8; 0 = 3 */
    int32_t inter_wavelet; /* of inter pictures, index + 1; 0 = Le Gall (5,3), lossless: Haar without shift */
    int32_t block[4];      /* length x, y, separation x, y of luma blocks; 0s = 12, 12, 8, 8; up to 64 */
    int32_t precision;     /* of vectors, + 1: 1 whole samples ... 4 eighths; 0 = 3, quarters */
    int compatible;     /* 1: nothing that FFmpeg's decoder gets wrong: no weights, no fractions of vectors at the border; high-quality slices (which
                              have it, too): room for every coefficient, zeros at the end of a component as well */
    int32_t perceptual; /* 0 to 100: how much finer what the eye sees better is quantised; 0: least squared error */
    int no_scenes;      /* 1: scene changes begin no group */

    /* Called for each coded picture, in coded order; `reconstruction` (NULL for slices) is what a decoder makes of it: a view for the call. */
    void (*picture)(void *user, const tsr_dirac_picture *info, const tsr_video_frame *reconstruction);
    void *user;
    int32_t ahead; /* slices on a device (not the CPU), without bit_rate: pictures that are coded together, 1 to 16; their bytes come with the
                      last one. 0 = 1: no latency */
    tsr_dirac_profile *profile; /* KEEPS, as a decoder's; of slices on a device */
    int checksum; /* 1: before each picture auxiliary data with its MD5, which decoders compare with theirs. Core syntax, and lossless slices of frames
                     in host memory: there the encoder knows the samples */
    int32_t level; /* of VC-2, 1 to 7, 64 to 66 (over SDI), which slices then keep to; 0 = any. Size, rate, scan, chroma and range must be those of
                      one of its base formats; colours and clean area become that one's. Over SDI transform, slices and bytes are fixed: 0s */
} tsr_dirac_encode_options;
#define TSR_DIRAC_ENCODE_OPTIONS TSR_SIZED(tsr_dirac_encode_options)

typedef struct tsr_dirac_encoder tsr_dirac_encoder;

/* COPIES options; the context must outlive the encoder. TSR_ERROR_ARGUMENT names the field. RETURNS NEW. */
TSR_API tsr_status tsr_dirac_encoder_create(tsr_context *context, const tsr_dirac_encode_options *options, tsr_dirac_encoder **encoder) TSR_CHECKED;
TSR_API void tsr_dirac_encoder_destroy(tsr_dirac_encoder **encoder);
/* Takes a frame of the options' format (BORROWS). *bytes and *size are the data units that are ready: those of this frame, with slices and intra
 * pictures; in long groups those of frames before it, or none, since pictures wait for the reference behind them. A sequence header precedes every
 * intra picture (of slices: every frame), so that a stream can be entered there. RETURNS VIEW, valid until the next call. */
TSR_API tsr_status tsr_dirac_encoder_frame(tsr_dirac_encoder *encoder, const tsr_video_frame *frame, const void **bytes, size_t *size) TSR_CHECKED;
/* The same from memory of the context's device, planes behind one another as in tsr_video_frame (BORROWS). Slices alone, high quality and low delay. */
TSR_API tsr_status tsr_dirac_encoder_frame_on_device(tsr_dirac_encoder *encoder, const void *planes, const void **bytes, size_t *size) TSR_CHECKED;
/* What still waits, and the end of the sequence: to be written behind the rest. RETURNS VIEW. */
TSR_API tsr_status tsr_dirac_encoder_end(tsr_dirac_encoder *encoder, const void **bytes, size_t *size) TSR_CHECKED;

/* Of all pictures so far, for a second pass. RETURNS VIEW, valid until the next call. */
TSR_API tsr_status tsr_dirac_encoder_statistics(const tsr_dirac_encoder *encoder, const tsr_dirac_statistics **statistics,
                                                int64_t *count) TSR_CHECKED;

/* ---- files ----------------------------------------------------------------------------------------------------------------------------------- */

/* Bytes of a stream from a file, from standard input ("-"), or out of a container (.mkv, .mp4, .mov, .ts, .avi, .nut, .mxf), which the program ffmpeg
 * (TESSERA_FFMPEG, PATH) unwraps without coding anew. One thread at a time. RETURNS NEW. Errors: TSR_ERROR_IO, _FORMAT (ffmpeg found nothing). */
typedef struct tsr_dirac_source tsr_dirac_source;
TSR_API tsr_status tsr_dirac_source_create(const char *path, tsr_dirac_source **source) TSR_CHECKED;
/* Up to `size` bytes as soon as there are some; *got 0 at the end. */
TSR_API tsr_status tsr_dirac_source_read(tsr_dirac_source *source, void *bytes, size_t size, size_t *got) TSR_CHECKED;
TSR_API void tsr_dirac_source_destroy(tsr_dirac_source **source);
/* 1: a stream of Dirac or VC-2 is in the file or container, by its first bytes; "-": in a file that is standard input, which stays where it is. */
TSR_API int tsr_dirac_recognise(const char *path);

/* Where a stream goes: a file, standard output ("-"), or a container by its extension, as above. Nothing is at `path` until finish. RETURNS NEW. */
typedef struct tsr_dirac_sink tsr_dirac_sink;
TSR_API tsr_status tsr_dirac_sink_create(const char *path, const tsr_write_options *options, tsr_dirac_sink **sink) TSR_CHECKED;
/* TSR_ERROR_UNSUPPORTED: pictures that are fields, in a container. */
TSR_API tsr_status tsr_dirac_sink_write(tsr_dirac_sink *sink, const void *bytes, size_t size) TSR_CHECKED;
TSR_API int64_t tsr_dirac_sink_bytes(const tsr_dirac_sink *sink); /* of the stream so far */
/* Completes it. `pictures`: so many must be found in a container again. Frees the sink and sets it to NULL in every case. */
TSR_API tsr_status tsr_dirac_sink_finish(tsr_dirac_sink **sink, int64_t pictures) TSR_CHECKED;
TSR_API void tsr_dirac_sink_destroy(tsr_dirac_sink **sink); /* removes what was written. NULL is fine */

/* An encoder whose stream goes to a tsr_dirac_sink at `path`. COPIES options. RETURNS NEW. */
typedef struct tsr_dirac_writer tsr_dirac_writer;
TSR_API tsr_status tsr_dirac_writer_create(tsr_context *context, const char *path, const tsr_dirac_encode_options *options,
                                           const tsr_write_options *write, tsr_dirac_writer **writer) TSR_CHECKED;
TSR_API tsr_status tsr_dirac_writer_append(tsr_dirac_writer *writer, const tsr_video_frame *frame) TSR_CHECKED;
/* No more frames come: what still waits is coded. tsr_dirac_writer_finish does it, too; this is for who wants to know the bytes of all. */
TSR_API tsr_status tsr_dirac_writer_end(tsr_dirac_writer *writer) TSR_CHECKED;
TSR_API int64_t tsr_dirac_writer_bytes(const tsr_dirac_writer *writer); /* of the stream so far */
/* Completes the stream and gives it its name. Frees the writer and sets it to NULL in every case. */
TSR_API tsr_status tsr_dirac_writer_finish(tsr_dirac_writer **writer) TSR_CHECKED;
TSR_API void tsr_dirac_writer_destroy(tsr_dirac_writer **writer); /* removes what was written. NULL is fine */

#ifdef __cplusplus
}
#endif
#endif
