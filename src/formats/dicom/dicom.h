/* formats/dicom/dicom.h: DICOM (PS3.3, PS3.5, PS3.10): slices, series of them and files of many frames.
 *
 * Data sets are read here, strictly, in all uncompressed transfer syntaxes, deflated ones and RLE. JPEG, JPEG-LS and JPEG 2000 are unpacked by the program
 * tessera-dicom (tools/helpers), which has GDCM: a frame goes in, its samples come out. */
#ifndef TSR_FORMATS_DICOM_H
#define TSR_FORMATS_DICOM_H

#include "formats/stored.h"

/* ---- data sets (elements.c) ---------------------------------------------------------------------------------------------------------------------- */

enum { TSR_DICOM_ITEM = 0xFFFEE000u };
#define TSR_DICOM_VR(a, b) ((uint16_t)((a) << 8 | (b)))

typedef struct tsr_dicom_element {
    uint32_t tag;  /* group << 16 | element */
    uint16_t vr;   /* two letters; 0: not said (implicit) */
    int32_t after; /* the elements between this one and that one are within it */
    int64_t at, bytes;
    int endless; /* of undefined length: a sequence, or packed pixels */
} tsr_dicom_element;

typedef enum tsr_dicom_syntax {
    TSR_DICOM_NATIVE = 0,
    TSR_DICOM_RLE,
    TSR_DICOM_PACKED /* JPEG and its kin */
} tsr_dicom_syntax;

typedef struct tsr_dicom_data {
    const char *name; /* of the file */
    const uint8_t *bytes;
    int64_t size;
    int big_endian, implicit;
    tsr_dicom_syntax syntax;
    char syntax_uid[68];
    uint8_t *inflated; /* what `bytes` is in a deflated file */
    tsr_dicom_element *element;
    int32_t count, room;
} tsr_dicom_data;

/* KEEPS `bytes`. `limit`: bytes that a deflated data set may unpack to. */
tsr_status tsr_dicom_parse(const char *name, const uint8_t *bytes, int64_t size, int64_t limit, tsr_dicom_data *data);
void tsr_dicom_free(tsr_dicom_data *data);

/* The element `tag` of the data set (item -1) or of an item; -1: there is none. */
int32_t tsr_dicom_find(const tsr_dicom_data *data, int32_t item, uint32_t tag);
/* Item number k of a sequence; -1: there is none. */
int32_t tsr_dicom_item(const tsr_dicom_data *data, int32_t sequence, int64_t k);
/* Number k of an element's value; `vr`: what it is where the file does not say. 0: there is none. */
int tsr_dicom_number(const tsr_dicom_data *data, int32_t element, uint16_t vr, int64_t k, double *value);
int64_t tsr_dicom_numbers(const tsr_dicom_data *data, int32_t item, uint32_t tag, uint16_t vr, double *values,
                          int64_t most); /* how many there were */
/* A text without the blanks round it, in UTF-8, cut to fit; "" if there is none. RETURNS `text`. */
const char *tsr_dicom_text(const tsr_dicom_data *data, int32_t item, uint32_t tag, char *text, size_t room);
/* Text of the character sets `list` ("ISO_IR 100", "\\ISO 2022 IR 87" ...; "": not said) in UTF-8 (characters.c). */
void tsr_dicom_characters(const char *file, const char *list, size_t list_bytes, const char *text, size_t bytes, char *to, size_t room);

/* ---- files (header.c) ------------------------------------------------------------------------------------------------------------------------------ */

typedef enum tsr_dicom_color {
    TSR_DICOM_GREY = 0,
    TSR_DICOM_GREY_INVERSE,
    TSR_DICOM_RGB,
    TSR_DICOM_YBR,
    TSR_DICOM_YBR_422,
    TSR_DICOM_PALETTE,
    TSR_DICOM_OTHER
} tsr_dicom_color;

typedef enum tsr_dicom_segmentation { TSR_DICOM_NO_SEGMENTATION = 0, TSR_DICOM_BITS, TSR_DICOM_FRACTIONS } tsr_dicom_segmentation;

typedef struct tsr_dicom_file {
    char *path; /* NULL: the input itself */
    char series[68], instance[68], type[120], syntax_uid[68], color_name[20];
    tsr_dicom_syntax syntax;
    tsr_dicom_color color;
    int big_endian, deflated, words; /* words: 8-bit pixels of a big-endian file lie in 16-bit words */
    int32_t rows, columns, samples, allocated, stored, high, is_signed, planar, real; /* real: 4 or 8: float pixels */
    int32_t frames;
    int64_t pixels, pixel_bytes;                    /* where they lie; of packed pixels: the items */
    int32_t series_number, cine;                    /* cine: the frames follow one another in time */
    int64_t *fragment;                              /* packed: where each frame begins and ends in the file: frames + 1 numbers */
    uint16_t *table;                                /* palette: 3 x entries; modality lookup table: 1 x entries */
    tsr_dicom_segmentation segmentation; /* of segments, each with frames of its own; of fractions fraction_half and more is inside */
    double fraction_half;
    int32_t entries, first, table_bits, table_kind; /* table_kind: 0 none, 1 palette, 3 modality */
} tsr_dicom_file;

/* One picture. */
typedef struct tsr_dicom_frame {
    int32_t file, number; /* of the file, from 0 */
    int placed, oriented, sized, odd_size; /* odd_size: a size of pixels that is none */
    double position[3], row[3], column[3], size[2]; /* row: along a row, x; size: x, y in mm */
    double thickness, between;                      /* 0: not said */
    double slope, intercept;
    double order[6]; /* pictures of one place: temporal position, acquisition, echo, trigger, b value, number */
    int32_t stack;   /* what keeps frames apart that could lie together: stacks, segments */
    double along;    /* the place along the normal */
} tsr_dicom_frame;

typedef struct tsr_dicom_frames {
    tsr_dicom_frame *at;
    int64_t count, room;
} tsr_dicom_frames;

/* Reads what is needed of a data set: the file and its frames, which are appended with `number` as their file. *skipped: it has no pixels (1) and is passed over. */
tsr_status tsr_dicom_file_read(const tsr_dicom_data *data, int32_t number, tsr_dicom_file *file, tsr_dicom_frames *frames, int *skipped);
void tsr_dicom_file_free(tsr_dicom_file *file);
/* The metadata that a volume keeps. */
tsr_status tsr_dicom_meta(const tsr_dicom_data *data, tsr_volume *volume);

/* ---- segmentations (segmentation.c, segmentation_write.c) --------------------------------------------------------------------------------------------- */

void tsr_dicom_take_segmentation(const tsr_dicom_data *data, tsr_dicom_file *file);
/* The names of the segments, as a segmentation of 3D Slicer says them (tsr_label_names_of_volume). */
tsr_status tsr_dicom_segment_names(const tsr_dicom_data *data, tsr_volume *volume);
/* "" where it has none. */
void tsr_dicom_segment_name(const tsr_dicom_data *data, int32_t number, char *text, size_t room);
typedef struct tsr_dicom_study tsr_dicom_study;
/* All segments of the one file of the study, as labels. RETURNS NEW. */
tsr_status tsr_dicom_read_labels(tsr_dicom_study *study, const tsr_read_options *options, tsr_volume **volume);
/* A volume of labels, u8 or u16, as such a file. */
tsr_status tsr_dicom_write_labels(const tsr_volume *labels, const char *source, const char *path, const tsr_write_options *options);

/* ---- pixels (pixels.c, unpack.c) -------------------------------------------------------------------------------------------------------------------- */

int32_t tsr_dicom_channels(const tsr_dicom_file *file); /* of a pixel, as it is read: 1 or 3 */
tsr_dtype tsr_dicom_dtype(const tsr_dicom_file *file);
typedef struct tsr_dicom_helper tsr_dicom_helper;
/* The samples of a frame, the channels of a pixel side by side, native byte order, of the type above. `bytes`: the content of the file (inflated). *helper is
 * started when it is needed. */
tsr_status tsr_dicom_frame_read(const tsr_dicom_file *file, const char *name, const uint8_t *bytes, int64_t size, int32_t frame,
                                tsr_dicom_helper **helper, uint8_t *to);
void tsr_dicom_helper_close(tsr_dicom_helper **helper);
/* Unpacks one frame. to: `room` bytes, exactly. *ybr: the samples are Y, Cb, Cr; *by_planes: channel after channel. */
tsr_status tsr_dicom_unpack(const tsr_dicom_file *file, const char *name, const uint8_t *packed, int64_t size, tsr_dicom_helper **helper, uint8_t *to,
                            int64_t room, int *ybr, int *by_planes);

/* ---- series (series.c, place.c) --------------------------------------------------------------------------------------------------------------------- */

/* Pictures that make one volume, or several of them one after another (frames). */
typedef struct tsr_dicom_series {
    int64_t *frame; /* frames x slices numbers of pictures: the slices of one frame lie together; -1: there is none, where `missing` and where a segment has nothing */
    int64_t frames, slices, missing;
    char label[128]; /* for people */
    char why[400];   /* not "": the pictures do not make a whole, and reading refuses with this */
    int unplaced;    /* the file does not say where the slices lie */
} tsr_dicom_series;

struct tsr_dicom_study {
    tsr_input *input;
    tsr_dicom_file *file;
    int32_t files;
    tsr_dicom_frames frames;
    tsr_dicom_series *series;
    int64_t count;
    int64_t doubles; /* files that hold a picture that another one holds, too */
};

/* All pictures of the input: a file, or, where it stands for a folder, all files of it and of those below. KEEPS the input. */
tsr_status tsr_dicom_study_open(tsr_input *input, tsr_dicom_study *study);
void tsr_dicom_study_close(tsr_dicom_study *study);
/* Which pictures belong together, and in which order. */
tsr_status tsr_dicom_sort(tsr_dicom_study *study);
/* The number of a picture of slice k: that of the first frame that has one; -1: a segment has nothing there (never in its first and last slice). */
int64_t tsr_dicom_slice_picture(const tsr_dicom_series *series, int64_t k);
/* Where the slices lie, as [from, to) do; TSR_ERROR_UNSUPPORTED, naming the slices, where these are not evenly spaced. */
tsr_status tsr_dicom_place(const tsr_dicom_study *study, const tsr_dicom_series *series, int64_t from, int64_t to, tsr_geometry *geometry);

#endif
