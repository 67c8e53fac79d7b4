/* formats/volume_files.h: what the volume formats share. */
#ifndef TSR_FORMATS_VOLUME_FILES_H
#define TSR_FORMATS_VOLUME_FILES_H

#include "volume/volume.h"
#include "formats/format.h"
#include "io/text.h"

/* How the voxels lie in a file or in several. */
typedef enum tsr_encoding { TSR_ENCODING_RAW, TSR_ENCODING_GZIP, TSR_ENCODING_ZLIB, TSR_ENCODING_ASCII } tsr_encoding;
typedef struct tsr_layout {
    tsr_dtype dtype;
    tsr_size3 size;
    int swap;
    tsr_encoding encoding;
    int64_t lines;  /* text lines to skip first */
    int64_t skip;   /* then bytes to skip (of decoded data where compressed); -1, raw only: the voxels are the end of the file */
    int64_t packed; /* compressed bytes, -1 = to the end of the file */
    int64_t bytes;  /* in a file of their own: of the voxels of all its parts, unpacked; 0: not said */
} tsr_layout;

/* What lies behind the voxels, of which there are `bytes` behind `offset`, is not read, and that is said: a file that was put together wrongly, or described so.
 * `by`: what describes it ("the header"). */
void tsr_layout_remark_rest(const tsr_input *input, int64_t offset, const tsr_layout *layout, int64_t bytes, const char *by);

/* Reads all voxels out of one input from `offset` on. */
tsr_status tsr_layout_read(tsr_input *input, int64_t offset, const tsr_layout *layout, tsr_block *block);
/* Names of data files, one after another with a zero byte behind each. */
typedef struct tsr_names {
    char *text;
    size_t used;
    int64_t count;
} tsr_names;
tsr_status tsr_names_add(tsr_names *names, const char *name, size_t length);
/* "slice%03d.raw" for first, first + step, ... last. Only one %d conversion (with zeros and width) is allowed. */
tsr_status tsr_names_add_pattern(tsr_names *names, const tsr_input *input, const char *pattern, int64_t first, int64_t last, int64_t step,
                                 int64_t most);
void tsr_names_free(tsr_names *names);
/* Halves that were read as u16, of a layout that says u16: float32 takes their place, in the layout too. Not in pieces: TSR_ERROR_UNSUPPORTED. ADOPTS the block. */
tsr_status tsr_block_widen_halves(tsr_input *input, tsr_layout *layout, tsr_block *block);
/* The files named hold equal shares of the voxels, in order. One name is one file with all. */
tsr_status tsr_layout_read_files(tsr_input *header, const tsr_names *names, const tsr_layout *layout, tsr_block *block);

/* Bytes of the voxels; errors name the file. */
tsr_status tsr_voxel_bytes(const tsr_input *input, tsr_dtype dtype, tsr_size3 size, int64_t *bytes);
/* Checks the geometry (errors name the file) and wraps the block, which it ADOPTS. */
tsr_status tsr_volume_of_block(const tsr_input *input, const tsr_layout *layout, const tsr_geometry *geometry, tsr_block *block, tsr_volume **volume);

/* The shortest of 15, 16 or 17 digits that reads back as the same number, '.' in every locale. */
const char *tsr_print_double(char text[32], double value);
/* `count` numbers out of a text: 1 if there are exactly that many. Brackets, commas and parentheses count as white space. */
int tsr_parse_numbers(const char *text, double *numbers, int count);
/* Numbers joined by one space, out of a metadata value: 1 if the key exists and holds exactly `count`. */
int tsr_meta_numbers(const tsr_volume *volume, const char *key, double *numbers, int count);
tsr_status tsr_set_meta_numbers(tsr_volume *volume, const char *key, const double *numbers, int count);

/* How many volumes of its size the writer of a file gets one after another, which go along a fourth axis (frame_stack.c); 0: it is one. */
int64_t tsr_volume_stack(const tsr_volume *volume);
/* Does the format carry a unit of so many millimetres? */
int tsr_format_keeps_unit(const tsr_format *format, double unit);
/* The volume as the format can hold it: *fit is `volume`, or one of `parts` (the caller destroys them when it is written), whose voxels are real values
 * where the format has no place for a scaling (unless stored_values), whose lengths are in the format's unit where it has no place for others, and whose
 * element type is one of the format's. TSR_ERROR_UNSUPPORTED where none of these holds every value. */
enum { TSR_FIT_PARTS = 3 };
tsr_status tsr_volume_for_format(const tsr_volume *volume, const tsr_format *format, int stored_values, tsr_volume *parts[TSR_FIT_PARTS], const tsr_volume **fit);
void tsr_fit_parts_destroy(tsr_volume *parts[TSR_FIT_PARTS]);

/* Formats without a place for slope and intercept refuse others than 1 and 0. */
tsr_status tsr_require_unscaled(const tsr_volume *volume, const char *path, const char *format);
/* Writes all voxels as they are, or as text. */
tsr_status tsr_output_voxels(tsr_output *output, const tsr_volume *volume, int swap);
tsr_status tsr_output_voxels_ascii(tsr_output *output, const tsr_volume *volume);

#endif
