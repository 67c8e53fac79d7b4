/* formats/films/video.h: what readers and writers of films share. */
#ifndef TSR_FORMATS_VIDEO_H
#define TSR_FORMATS_VIDEO_H

#include "io/process.h"
#include "io/stream.h"
#include "tessera/video.h"

enum { TSR_VIDEO_EXTENT = 65535, TSR_VIDEO_LINE = 1024 }; /* pixels on a side; bytes of a header line */

/* Checks every field and puts in what 0 means. */
tsr_status tsr_video_format_complete(tsr_video_format *format);
int tsr_video_same_format(const tsr_video_format *a, const tsr_video_format *b);
void tsr_video_frame_lay_out(tsr_video_frame *frame); /* planes, extents and bytes from the format; no memory */
/* The image keeps its memory if it has this shape. */
tsr_status tsr_video_image_reuse(int32_t width, int32_t height, int32_t channels, tsr_image *image);

/* Where the bytes of a Y4M stream come from: a descriptor, a process (its output), or memory (fuzzing). Bytes are taken in order. */
typedef struct tsr_video_source {
    const char *name;     /* for messages */
    int fd;               /* -1 for memory */
    tsr_process *process; /* NULL unless the bytes come from one */
    const uint8_t *memory;
    int64_t size;     /* of a plain file or of memory, -1 if not known */
    int64_t position; /* of the next byte a reader gets */
    const tsr_progress *progress;
    uint8_t buffer[65536];
    size_t at, filled;
} tsr_video_source;

/* Y4M. The header goes to `info` (rate, aspect, format, frames if the size tells). */
tsr_status tsr_y4m_read_header(tsr_video_source *source, tsr_video_info *info);
/* The next frame into `frame`, which has the format of the header or is zero; *more = 0 at the end. `memory_limit` in bytes, 0 = physical memory. */
tsr_status tsr_y4m_read_frame(tsr_video_source *source, const tsr_video_format *format, int64_t memory_limit, tsr_video_frame *frame, int *more);
/* The header line with its newline. TSR_ERROR_UNSUPPORTED where Y4M has no word for the format. */
tsr_status tsr_y4m_header(const tsr_video_format *format, const int32_t rate[2], const int32_t aspect[2], char interlacing, char line[256]);

/* A path with one %d or %0Nd in its file name. */
typedef struct tsr_numbered {
    int32_t prefix, suffix, digits;
} tsr_numbered;                                                   /* bytes before, first byte after, least number of digits */
int tsr_numbered_parse(const char *path, tsr_numbered *numbered); /* 1 if it is one */
/* New string, to be freed; NULL if memory is exhausted. */
char *tsr_numbered_path(const char *path, const tsr_numbered *numbered, int64_t number);

/* The programme's name: options, environment, "ffmpeg". RETURNS VIEW. */
const char *tsr_ffmpeg_program(const char *option);
/* What ffprobe, which comes with `program`, says of a film: the frames of its header or, with `count`, those that can be read; -1 where it says nothing or is
 * not there. *matrix (may be NULL) is set where the file names one. */
int64_t tsr_ffprobe(const char *program, const char *input, int count, const tsr_progress *progress, tsr_video_matrix *matrix);

#endif
