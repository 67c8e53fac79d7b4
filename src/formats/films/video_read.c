/* Reading films: which kind of source it is, and its frames. */
#include "formats/films/video.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum kind { Y4M, PNG, FFMPEG };
static const char *const kind_names[] = { "y4m", "png", "ffmpeg" };

struct tsr_video_reader {
    tsr_video_read_options options; /* its texts are copied, or not used after create */
    enum kind kind;
    char *path, *program;
    tsr_video_info info;
    tsr_video_source source;
    tsr_video_frame frame; /* of next(): the planes an image is made of */
    tsr_numbered numbered;
    int is_numbered;
    int64_t number, given; /* next picture; frames handed out */
    int ended;
};

/* ---- names --------------------------------------------------------------------------------------------------------------------- */

int tsr_numbered_parse(const char *path, tsr_numbered *numbered)
{
    const char *file = path ? tsr_path_file(path) : NULL, *percent = file ? strchr(file, '%') : NULL, *end;
    if (!percent || strchr(percent + 1, '%')) return 0;
    *numbered = (tsr_numbered){ .prefix = (int32_t)(percent - path), .digits = 1 };
    end = percent + 1;
    if (end[0] == '0' && end[1] >= '1' && end[1] <= '9') {
        numbered->digits = end[1] - '0';
        end += 2;
    }
    numbered->suffix = (int32_t)(end + 1 - path);
    return *end == 'd';
}

char *tsr_numbered_path(const char *path, const tsr_numbered *numbered, int64_t number)
{
    const size_t bytes = strlen(path) + 32;
    char *name = (char *)malloc(bytes);
    if (name) snprintf(name, bytes, "%.*s%0*lld%s", numbered->prefix, path, numbered->digits, (long long)number, path + numbered->suffix);
    return name;
}

const char *tsr_ffmpeg_program(const char *option)
{
    const char *environment = getenv("TESSERA_FFMPEG");
    return option && *option ? option : environment && *environment ? environment : "ffmpeg";
}

static int is_film_extension(const char *path)
{
    static const char *const extensions[] = { ".y4m", ".mp4", ".m4v", ".mkv", ".avi", ".webm", ".mov", ".mpg", ".mpeg", ".ogv",
                                              ".wmv", ".flv", ".ts",  ".mts", ".gif", ".mxf",  ".nut", ".3gp", ".264",  ".265" };
    for (size_t i = 0; i < sizeof extensions / sizeof extensions[0]; i++)
        if (tsr_path_has_extension(path, extensions[i])) return 1;
    return 0;
}

int tsr_video_names_film(const char *path)
{
    tsr_numbered numbered;
    if (!path || !*path || !strcmp(path, "-")) return 0;
    return tsr_numbered_parse(path, &numbered) || is_film_extension(path);
}

int tsr_video_recognise(const char *path)
{
    tsr_file_kind kind;
    const char *format;
    if (!path || !*path || !strcmp(path, "-")) return 0;
    if (tsr_video_names_film(path)) return 1;
    return tsr_file_recognise(path, &kind, &format) == TSR_OK && kind == TSR_FILE_VIDEO;
}

/* ---- pictures ------------------------------------------------------------------------------------------------------------------ */

static tsr_status picture_path(const tsr_video_reader *r, int64_t number, char **name)
{
    *name = r->is_numbered ? tsr_numbered_path(r->path, &r->numbered, number) : strdup(r->path);
    if (!*name) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory", r->path);
    return TSR_OK;
}

static int there(const char *path) { return access(path, F_OK) == 0; }

static tsr_status open_pictures(tsr_video_reader *r)
{
    char *name = NULL;
    int64_t n;
    r->is_numbered = tsr_numbered_parse(r->path, &r->numbered);
    r->number = r->options.first;
    for (int i = 0; i < 10 && r->is_numbered && !r->options.first; i++) {
        TSR_TRY(picture_path(r, i, &name));
        const int found = there(name);
        free(name);
        r->number = i;
        if (found) break;
        if (i == 9) TSR_FAIL(TSR_ERROR_IO, "%s: there is no picture of a number from 0 to 9 (options.first is the number of another)", r->path);
    }
    tsr_image image = { 0 };
    int32_t bits = 0;
    tsr_read_options read = { .struct_size = sizeof read, .memory_limit = r->options.memory_limit, .image_bits = &bits };
    TSR_TRY(picture_path(r, r->number, &name));
    tsr_status status = tsr_image_read(name, &read, &image);
    free(name);
    TSR_TRY(status);
    r->info = (tsr_video_info){ .format = { .width = image.width, .height = image.height },
                                .interlacing = 'p',
                                .channels = image.channels,
                                .container = "png",
                                .picture_bits = bits };
    tsr_image_destroy(&image);
    r->info.format.chroma = r->info.channels == 1 ? TSR_CHROMA_MONO : TSR_CHROMA_444;
    TSR_TRY(tsr_video_format_complete(&r->info.format));
    for (n = r->number; r->is_numbered; n++) {
        TSR_TRY(picture_path(r, n, &name));
        const int found = there(name);
        free(name);
        if (!found) break;
    }
    r->info.frames = r->is_numbered ? n - r->number : 1;
    return TSR_OK;
}

static tsr_status next_picture(tsr_video_reader *r, tsr_image *image)
{
    char *name = NULL;
    tsr_image got = { 0 };
    tsr_read_options read = { .struct_size = sizeof read, .memory_limit = r->options.memory_limit };
    TSR_TRY(picture_path(r, r->number, &name));
    tsr_status status = tsr_image_read(name, &read, &got);
    if (status == TSR_OK && (got.width != r->info.format.width || got.height != r->info.format.height || got.channels != r->info.channels)) {
        status = TSR_FAILED(TSR_ERROR_FORMAT, "%s: %d x %d pixels with %d channels, expected %d x %d with %d as in the first picture", name,
                            got.width, got.height, got.channels, r->info.format.width, r->info.format.height, r->info.channels);
        tsr_image_destroy(&got);
    }
    free(name);
    TSR_TRY(status);
    tsr_image_destroy(image);
    *image = got;
    r->number++;
    return TSR_OK;
}

/* ---- ffmpeg -------------------------------------------------------------------------------------------------------------------- */

/* What Y4M has a word for: ffmpeg picks the nearest. */
#define PIXEL_FORMATS                                                                                                                     \
    "format=pix_fmts=yuv420p|yuvj420p|yuv422p|yuvj422p|yuv444p|yuvj444p|yuv411p|gray|gray10le|gray12le|gray16le|yuv420p9le|yuv422p9le|"   \
    "yuv444p9le|yuv420p10le|yuv422p10le|yuv444p10le|yuv420p12le|yuv422p12le|yuv444p12le|yuv420p14le|yuv422p14le|yuv444p14le|yuv420p16le|" \
    "yuv422p16le|yuv444p16le"

/* Containers and single pictures, none of which names other files: a playlist that calls itself a film would make ffmpeg open what it likes. */
#define CONTAINERS                                                                                                                            \
    "mov,matroska,webm,avi,mpeg,mpegts,mpegvideo,ogg,asf,flv,gif,apng,mxf,nut,h261,h263,h264,hevc,m4v,mjpeg,yuv4mpegpipe,ivf,obu,av1,dv,vc1," \
    "vc1test,dirac,rm,wtv,image2,png_pipe,jpeg_pipe,bmp_pipe,tiff_pipe,webp_pipe,pgm_pipe,ppm_pipe,pam_pipe"

/* The process's own words in place of ours if it failed, or if it complained although frames came. */
static tsr_status explain(tsr_video_reader *r, tsr_status status)
{
    char said[1024];
    if (!r->source.process || status == TSR_ERROR_CANCELLED) return status;
    tsr_status ended = tsr_process_finish(r->source.process, r->source.progress);
    if (ended == TSR_ERROR_CANCELLED) return ended;
    if (ended == TSR_OK) {
        if (status != TSR_OK || !*tsr_process_said(r->source.process)) return status;
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: damaged or truncated after %lld frames: %s", r->path, (long long)r->given,
                 tsr_process_said(r->source.process));
    }
    if (strstr(tsr_process_said(r->source.process), "not on whitelist"))
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: no container of a film: a playlist, a script or another kind of file, which may name other files",
                 r->path);
    snprintf(said, sizeof said, "%s", tsr_error_message());
    TSR_FAIL(TSR_ERROR_FORMAT, "%s: %s", r->path, said);
}

int64_t tsr_ffprobe(const char *program, const char *input, int count, const tsr_progress *progress, tsr_video_matrix *matrix)
{
    const size_t length = strlen(program);
    char *name = (char *)malloc(length + 2), text[256];
    size_t used = 0, got = 1;
    tsr_process *process = NULL;
    if (name && length >= 6 && !strcmp(program + length - 6, "ffmpeg")) {
        snprintf(name, length + 2, "%.*sprobe", (int)length - 4, program); /* ffmpeg -> ffprobe */
        const char *const arguments[] = { name,
                                          "-v",
                                          "quiet",
                                          "-protocol_whitelist",
                                          "file",
                                          "-format_whitelist",
                                          CONTAINERS,
                                          "-select_streams",
                                          "v:0",
                                          "-show_entries",
                                          count ? "stream=nb_read_packets" : "stream=color_space,nb_frames",
                                          "-of",
                                          "default=noprint_wrappers=1",
                                          input,
                                          count ? "-count_packets" : NULL,
                                          NULL };
        if (tsr_process_start(arguments, 0, &process) != TSR_OK) process = NULL;
    }
    while (process && got && used < sizeof text - 1 && tsr_process_read(process, text + used, sizeof text - 1 - used, progress, &got) == TSR_OK)
        used += got;
    text[used] = 0;
    tsr_process_destroy(&process);
    free(name);
    if (matrix && strstr(text, "color_space=bt709")) *matrix = TSR_MATRIX_BT709;
    const char *const key = count ? "nb_read_packets=" : "nb_frames=", *frames = strstr(text, key);
    const long long number = frames ? strtoll(frames + strlen(key), NULL, 10) : 0;
    return number > 0 ? number : -1;
}

/* What Y4M does not carry: the matrix and, where the container says it, the number of frames. Best effort: a machine without ffprobe has neither. */
static void probe(tsr_video_reader *r, const char *input)
{
    tsr_video_matrix matrix = r->info.format.matrix;
    r->info.frames = tsr_ffprobe(r->program, input, 0, r->source.progress, &matrix);
    if (!r->options.matrix) r->info.format.matrix = matrix;
}

static char *ffmpeg_input(const char *path)
{
    const size_t bytes = strlen(path) + 8;
    char *input = (char *)malloc(bytes);
    if (input) snprintf(input, bytes, "file:%s", path); /* never an option or a protocol, whatever the name looks like */
    return input;
}

static tsr_status open_ffmpeg(tsr_video_reader *r)
{
    char *input = ffmpeg_input(r->path);
    r->program = strdup(tsr_ffmpeg_program(r->options.ffmpeg));
    if (!input || !r->program) {
        free(input);
        TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory", r->path);
    }
    const char *const arguments[] = {
        r->program, "-v",  "error",        "-nostdin", "-xerror",   "-protocol_whitelist", "file", "-format_whitelist", CONTAINERS,
        "-i",       input, "-map",         "0:v:0",    "-fps_mode", "passthrough",         "-vf",  PIXEL_FORMATS,       "-strict",
        "-1",       "-f",  "yuv4mpegpipe", "pipe:1",   NULL
    };
    tsr_status status = tsr_process_start(arguments, 0, &r->source.process);
    if (status == TSR_OK) {
        status = tsr_y4m_read_header(&r->source, &r->info);
        if (status != TSR_OK) status = explain(r, status);
        r->info.container = "ffmpeg";
        r->info.frames = -1;
    }
    if (status == TSR_OK) probe(r, input);
    free(input);
    return status;
}

/* ffmpeg ends in peace where a file does. Fewer frames came than the container says: were they there? (A decoder may drop some, an edit list hide some.) */
static tsr_status check_count(tsr_video_reader *r)
{
    if (r->kind != FFMPEG || r->given >= r->info.frames) return TSR_OK;
    char *input = ffmpeg_input(r->path);
    if (!input) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory", r->path);
    const int64_t packets = tsr_ffprobe(r->program, input, 1, r->source.progress, NULL);
    free(input);
    if (packets > 0 && packets < r->info.frames)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: truncated: %lld frames came, its header says %lld", r->path, (long long)r->given, (long long)r->info.frames);
    return TSR_OK;
}

/* ---- all ----------------------------------------------------------------------------------------------------------------------- */

static tsr_status open_y4m(tsr_video_reader *r)
{
    struct stat about;
    if (!strcmp(r->path, "-")) {
        r->source.fd = STDIN_FILENO;
        r->source.name = "standard input";
    } else {
        r->source.fd = open(r->path, O_RDONLY | O_CLOEXEC);
        if (r->source.fd < 0) TSR_FAIL(TSR_ERROR_IO, "%s: cannot open: %s", r->path, strerror(errno));
    }
    if (!fstat(r->source.fd, &about) && S_ISREG(about.st_mode)) {
        const off_t at = lseek(r->source.fd, 0, SEEK_CUR); /* standard input may be a file someone read from */
        r->source.size = (int64_t)about.st_size - (at > 0 ? (int64_t)at : 0);
    }
    TSR_TRY(tsr_y4m_read_header(&r->source, &r->info));
    return TSR_OK;
}

/* By name, path and content. */
static tsr_status kind_of(const char *path, const char *format, enum kind *kind)
{
    tsr_numbered numbered;
    uint8_t head[10];
    for (int i = 0; format && i < 3; i++)
        if (!strcmp(format, kind_names[i])) {
            *kind = (enum kind)i;
            return TSR_OK;
        }
    if (format) TSR_FAIL(TSR_ERROR_ARGUMENT, "format '%.40s' of a film, expected y4m, png or ffmpeg", format);
    *kind = tsr_numbered_parse(path, &numbered) ? PNG : Y4M;
    if (*kind == PNG || !strcmp(path, "-") || tsr_path_has_extension(path, ".y4m")) return TSR_OK;
    struct stat about;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) TSR_FAIL(TSR_ERROR_IO, "%s: cannot open: %s", path, strerror(errno));
    const int regular = !fstat(fd, &about) && S_ISREG(about.st_mode);
    const ssize_t got = regular ? read(fd, head, sizeof head) : 0;
    close(fd);
    if (!regular && S_ISDIR(about.st_mode)) TSR_FAIL(TSR_ERROR_IO, "%s: is a folder, expected a film", path);
    if (!regular) return TSR_OK; /* a pipe cannot be looked at twice: Y4M */
    if (got <= 0) TSR_FAIL(TSR_ERROR_FORMAT, "%s: the file is empty, expected a film", path);
    *kind = got == 10 && !memcmp(head, "YUV4MPEG2 ", 10) ? Y4M : got >= 8 && !memcmp(head, "\x89PNG\r\n\x1a\n", 8) ? PNG : FFMPEG;
    return TSR_OK;
}

static tsr_status check_options(const tsr_video_read_options *o)
{
    if ((unsigned)o->matrix > TSR_MATRIX_BT709) TSR_FAIL(TSR_ERROR_ARGUMENT, "matrix is %d, expected a tsr_video_matrix", (int)o->matrix);
    if ((unsigned)o->range > TSR_RANGE_FULL) TSR_FAIL(TSR_ERROR_ARGUMENT, "range is %d, expected a tsr_video_range", (int)o->range);
    if (o->first < 0) TSR_FAIL(TSR_ERROR_ARGUMENT, "first is %lld, expected the number of a picture", (long long)o->first);
    if (o->memory_limit < 0) TSR_FAIL(TSR_ERROR_ARGUMENT, "memory_limit is %lld, expected 0 or more bytes", (long long)o->memory_limit);
    return TSR_OK;
}

tsr_status tsr_video_reader_create(const char *path, const tsr_video_read_options *options, tsr_video_reader **reader)
{
    TSR_RETURNS(reader);
    tsr_video_read_options own;
    tsr_status status;
    TSR_TRY(TSR_OPTIONS_TAKE(&own, options));
    if (!path || !*path) TSR_FAIL(TSR_ERROR_ARGUMENT, "the input path is empty");
    TSR_TRY(check_options(&own));
    tsr_video_reader *r = (tsr_video_reader *)calloc(1, sizeof *r);
    if (!r) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory", path);
    r->options = own;
    r->source = (tsr_video_source){ .fd = -1, .size = -1, .progress = &r->options.progress };
    r->path = strdup(path);
    if (!r->path) TSR_FAIL_GOTO(TSR_ERROR_MEMORY, fail, "%s: out of memory", path);
    r->source.name = r->path;
    TSR_TRY_GOTO(kind_of(path, own.format, &r->kind), fail);
    TSR_TRY_GOTO(r->kind == Y4M ? open_y4m(r) : r->kind == PNG ? open_pictures(r) : open_ffmpeg(r), fail);
    if (own.matrix) r->info.format.matrix = own.matrix;
    if (own.range) r->info.format.range = own.range;
    r->options.format = r->options.ffmpeg = NULL;
    *reader = r;
    return TSR_OK;
fail:
    tsr_video_reader_destroy(&r);
    return status;
}

void tsr_video_reader_destroy(tsr_video_reader **reader)
{
    tsr_video_reader *r = reader ? *reader : NULL;
    if (!r) return;
    *reader = NULL;
    tsr_process_destroy(&r->source.process);
    if (r->source.fd > STDERR_FILENO) close(r->source.fd);
    tsr_video_frame_destroy(&r->frame);
    free(r->program);
    free(r->path);
    free(r);
}

const tsr_video_info *tsr_video_reader_info(const tsr_video_reader *reader) { return reader ? &reader->info : NULL; }

static tsr_status begin_frame(tsr_video_reader *r)
{
    const double size = (double)r->source.size;
    TSR_PROGRESS(&r->options.progress,
                 r->info.frames > 0 ? tsr_min64(r->given, r->info.frames) / (double)r->info.frames
                 : size > 0         ? (double)r->source.position / size
                                    : -1,
                 "reading");
    return TSR_OK;
}

static tsr_status read_planes(tsr_video_reader *r, tsr_video_frame *frame, int *more)
{
    if (r->ended) return TSR_OK;
    tsr_status status = tsr_y4m_read_frame(&r->source, &r->info.format, r->options.memory_limit, frame, more);
    if (status != TSR_OK || !*more) {
        r->ended = 1;
        status = explain(r, status);
        if (status == TSR_OK) status = check_count(r);
    }
    r->given += *more;
    return status;
}

tsr_status tsr_video_reader_next_frame(tsr_video_reader *reader, tsr_video_frame *frame, int *more)
{
    TSR_NEEDS(reader, frame, more);
    *more = 0;
    if (reader->kind == PNG) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: pictures have no planes: tsr_video_reader_next reads them", reader->path);
    TSR_TRY(begin_frame(reader));
    TSR_TRY(read_planes(reader, frame, more));
    return TSR_OK;
}

tsr_status tsr_video_reader_next(tsr_video_reader *reader, tsr_image *image, int *more)
{
    TSR_NEEDS(reader, image, more);
    *more = 0;
    TSR_TRY(begin_frame(reader));
    if (reader->kind == PNG) {
        if (reader->given == reader->info.frames) return TSR_OK;
        TSR_TRY(next_picture(reader, image));
        reader->given++;
        *more = 1;
        return TSR_OK;
    }
    int came = 0;
    TSR_TRY(read_planes(reader, &reader->frame, &came));
    if (came) TSR_TRY(tsr_video_frame_to_image(&reader->frame, image));
    *more = came;
    return TSR_OK;
}
