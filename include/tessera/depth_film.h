/* tessera/depth_film.h: films of depth images of 16 bits, as sensors of robots give them, in .tdf files.
 *
 * A sample is a whole number of `scale` metres (or whatever unit the caller measures in), 0 where the sensor saw nothing. Frames are coded one by one: each can
 * be read alone. Lossless, or with a largest error that no sample exceeds; where there is a sample is kept exactly in both. Class exact: the same bytes
 * and the same samples on every machine. Objects are for one thread at a time. Source: docs/formats/tdf.md; docs/theory/multiview.md 6. */
#ifndef TESSERA_DEPTH_FILM_H
#define TESSERA_DEPTH_FILM_H

#include "tessera/io.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { TSR_DEPTH_FILM_MOST_SIDE = 16384 };

typedef struct tsr_depth_film_options {
    size_t struct_size;
    double scale;         /* of one unit of the samples; 0 = 0.001 */
    double largest_error; /* what a sample may be off, in the unit of `scale`; 0 = lossless */
    int32_t rate[2];      /* frames a second, as a fraction; 0, 0 = 30 */
    int overwrite;        /* replace an existing file */
} tsr_depth_film_options;
#define TSR_DEPTH_FILM_OPTIONS TSR_SIZED(tsr_depth_film_options)

typedef struct tsr_depth_film_writer tsr_depth_film_writer;

/* Path "-" is standard output. COPIES options (may be NULL). Nothing is at `path` until tsr_depth_film_writer_finish. TSR_ERROR_ARGUMENT: sides, scale, error or
 * rate out of range (the error: below 32767 units); _IO, _MEMORY. RETURNS NEW. */
TSR_API tsr_status tsr_depth_film_writer_create(const char *path, int32_t width, int32_t height, const tsr_depth_film_options *options,
                                                tsr_depth_film_writer **writer) TSR_CHECKED;
/* BORROWS [height][width] samples, row 0 on top. */
TSR_API tsr_status tsr_depth_film_writer_append(tsr_depth_film_writer *writer, const uint16_t *samples) TSR_CHECKED;
TSR_API int64_t tsr_depth_film_writer_bytes(const tsr_depth_film_writer *writer); /* of the file, if it were finished now */
/* Completes the file and gives it its name. Frees the writer and sets it to NULL in every case; on failure nothing is left behind. A film without frames is
 * TSR_ERROR_STATE. */
TSR_API tsr_status tsr_depth_film_writer_finish(tsr_depth_film_writer **writer) TSR_CHECKED;
TSR_API void tsr_depth_film_writer_destroy(tsr_depth_film_writer **writer); /* removes what was written. NULL is fine */

typedef struct tsr_depth_film_info {
    size_t struct_size;
    int32_t width, height;
    int64_t frames, bytes; /* of the film; of the file */
    int32_t rate[2];
    double scale, largest_error; /* largest_error: as kept, at most what was asked for */
    int64_t damaged;             /* frames (partial) that are missing, cut off or have another checksum, and 1 for a missing directory */
} tsr_depth_film_info;
#define TSR_DEPTH_FILM_INFO TSR_SIZED(tsr_depth_film_info)

typedef struct tsr_depth_film_reader tsr_depth_film_reader;

/* Path "-" is standard input. `partial`: a file that is cut off or damaged is read as far as it goes. RETURNS NEW. TSR_ERROR_FORMAT for another kind of file,
 * or damage. */
TSR_API tsr_status tsr_depth_film_reader_create(const char *path, int partial, tsr_depth_film_reader **reader) TSR_CHECKED;
TSR_API void tsr_depth_film_reader_destroy(tsr_depth_film_reader **reader);
TSR_API tsr_status tsr_depth_film_reader_info(const tsr_depth_film_reader *reader, tsr_depth_film_info *info) TSR_CHECKED;
/* Frame 0, 1, ... in any order into [height][width] samples. A frame that is missing or damaged is TSR_ERROR_FORMAT, `partial` or not; others can be read
 * after that. */
TSR_API tsr_status tsr_depth_film_reader_frame(tsr_depth_film_reader *reader, int64_t frame, uint16_t *samples) TSR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
