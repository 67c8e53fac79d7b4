/* video/dirac/dirac_container.c: where the bytes of a stream come from and go to: a file or a pipe as they are, or a container, which ffmpeg wraps and
 * unwraps without coding anew. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "formats/films/video.h"
#include "video/dirac/syntax.h"

/* ffmpeg's name of the container. */
typedef struct container {
    const char *extension, *format;
} container;
static const container containers[] = { { ".mkv", "matroska" }, { ".mp4", "mp4" }, { ".mov", "mov" }, { ".ts", "mpegts" },
                                        { ".avi", "avi" },      { ".nut", "nut" }, { ".mxf", "mxf" } };

/* NULL: the path names none. */

static const container *container_of(const char *path)
{
    for (size_t k = 0; k < sizeof containers / sizeof *containers; k++)
        if (tsr_path_has_extension(path, containers[k].extension)) return &containers[k];
    return NULL;
}

static tsr_status file_argument(const char *path, char **argument)
{
    const size_t bytes = strlen(path) + 8;
    *argument = (char *)malloc(bytes);
    if (!*argument) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory", path);
    snprintf(*argument, bytes, "file:%s", path); /* never an option or a protocol, whatever the name looks like */
    return TSR_OK;
}

/* ---- in ------------------------------------------------------------------------------------------------------------------------------------ */

struct tsr_dirac_source {
    char *path;
    int fd;               /* -1: the process's output */
    tsr_process *process; /* NULL: the file itself */
    int64_t bytes;
};

static tsr_status start_unwrapping(tsr_dirac_source *s, const container *c)
{
    char *input = NULL;
    TSR_TRY(file_argument(s->path, &input));
    const char *const arguments[] = { tsr_ffmpeg_program(NULL),
                                      "-v",
                                      "error",
                                      "-nostdin",
                                      "-protocol_whitelist",
                                      "file",
                                      "-f",
                                      c->format,
                                      "-i",
                                      input,
                                      "-map",
                                      "0:v:0",
                                      "-c",
                                      "copy",
                                      "-f",
                                      "dirac",
                                      "pipe:1",
                                      NULL };
    const tsr_status status = tsr_process_start(arguments, 0, &s->process);
    free(input);
    return status;
}

tsr_status tsr_dirac_source_create(const char *path, tsr_dirac_source **source)
{
    TSR_RETURNS(source);
    TSR_NEEDS(path);
    tsr_status status;
    tsr_dirac_source *s = (tsr_dirac_source *)calloc(1, sizeof *s);
    if (!s || !(s->path = strdup(path))) TSR_FAIL_GOTO(TSR_ERROR_MEMORY, fail, "%s: out of memory", path);
    s->fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
    if (s->fd < 0) TSR_FAIL_GOTO(TSR_ERROR_IO, fail, "%s: cannot be opened: %s", path, strerror(errno));
    const container *c = s->fd != STDIN_FILENO ? container_of(path) : NULL;
    if (c) {
        close(s->fd);
        s->fd = -1;
        TSR_TRY_GOTO(start_unwrapping(s, c), fail);
    }
    *source = s;
    return TSR_OK;
fail:
    tsr_dirac_source_destroy(&s);
    return status;
}

tsr_status tsr_dirac_source_read(tsr_dirac_source *s, void *bytes, size_t size, size_t *got)
{
    if (!s || !bytes || !got) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s is NULL", !s ? "source" : !bytes ? "bytes" : "got");
    *got = 0;
    if (!s->process) {
        ssize_t n;
        do n = read(s->fd, bytes, size);
        while (n < 0 && errno == EINTR);
        if (n < 0) TSR_FAIL(TSR_ERROR_IO, "%s: reading failed: %s", s->path, strerror(errno));
        *got = (size_t)n;
    } else {
        TSR_TRY(tsr_process_read(s->process, bytes, size, NULL, got));
        if (!*got && tsr_process_finish(s->process, NULL) != TSR_OK)
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: ffmpeg finds no stream in it: %s", s->path, tsr_process_said(s->process));
    }
    s->bytes += (int64_t)*got;
    return TSR_OK;
}

void tsr_dirac_source_destroy(tsr_dirac_source **source)
{
    tsr_dirac_source *s = source ? *source : NULL;
    if (!s) return;
    *source = NULL;
    tsr_process_destroy(&s->process);
    if (s->fd > STDIN_FILENO) close(s->fd);
    free(s->path);
    free(s);
}

int tsr_dirac_recognise(const char *path)
{
    char first[4] = { 0 };
    size_t filled = 0, got = 1;
    tsr_dirac_source *source = NULL;
    if (path && !strcmp(path, "-")) return pread(STDIN_FILENO, first, sizeof first, 0) == sizeof first && !memcmp(first, "BBCD", sizeof first);
    if (!path || tsr_dirac_source_create(path, &source) != TSR_OK) return 0;
    while (filled < sizeof first && got && tsr_dirac_source_read(source, first + filled, sizeof first - filled, &got) == TSR_OK) filled += got;
    tsr_dirac_source_destroy(&source);
    return !memcmp(first, "BBCD", sizeof first);
}

/* ---- out ----------------------------------------------------------------------------------------------------------------------------------- */

enum { HEAD = 1024 }; /* bytes of a sequence header at most */

struct tsr_dirac_sink {
    char *path;
    const container *container;
    tsr_output *output; /* where the bytes go; of a container only the temporary file and its name */
    tsr_process *process;
    int64_t bytes;
    uint8_t head[HEAD + TSR_BITS_SLACK];
    size_t head_size;
};

tsr_status tsr_dirac_sink_create(const char *path, const tsr_write_options *options, tsr_dirac_sink **sink)
{
    TSR_RETURNS(sink);
    TSR_NEEDS(path);
    tsr_write_options own = TSR_WRITE_OPTIONS;
    tsr_status status;
    if (options) TSR_TRY(TSR_OPTIONS_TAKE(&own, options));
    tsr_dirac_sink *s = (tsr_dirac_sink *)calloc(1, sizeof *s);
    if (!s || !(s->path = strdup(path))) TSR_FAIL_GOTO(TSR_ERROR_MEMORY, fail, "%s: out of memory", path);
    s->container = strcmp(path, "-") ? container_of(path) : NULL;
    TSR_TRY_GOTO((s->container ? tsr_output_open_named : tsr_output_open)(path, &own, &s->output), fail);
    if (s->container && !tsr_output_temporary(s->output))
        TSR_FAIL_GOTO(TSR_ERROR_UNSUPPORTED, fail, "%s: ffmpeg writes containers to plain files only, expected no pipe or device", path);
    *sink = s;
    return TSR_OK;
fail:
    tsr_dirac_sink_destroy(&s);
    return status;
}

/* The frame rate stands in the first sequence header, of which `head` has so much. *whole 0: it goes on. */
static tsr_status read_head(const tsr_dirac_sink *s, tsr_dirac_sequence *sequence, int *whole)
{
    tsr_dirac_unit unit;
    *whole = 0;
    if (s->head_size < TSR_DIRAC_HEADER) return TSR_OK;
    if (!tsr_dirac_unit_read(s->head, &unit) || unit.code != TSR_DIRAC_SEQUENCE_HEADER || unit.next < TSR_DIRAC_HEADER || unit.next > HEAD)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: expected a stream that begins with a sequence header", s->path);
    if (s->head_size < unit.next) return TSR_OK;
    tsr_bits bits = { s->head + TSR_DIRAC_HEADER, 0, 8 * ((int64_t)unit.next - TSR_DIRAC_HEADER) };
    TSR_TRY(tsr_dirac_sequence_read(&bits, sequence));
    if (sequence->fields)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: a stream whose pictures are fields, which ffmpeg puts into no container: expected .drc or .vc2",
                 s->path);
    *whole = 1;
    return TSR_OK;
}

/* ffmpeg takes picture numbers for times in a unit of its own: they are set anew, in coded order and in the order of numbers, two behind it. The end of
 * a sequence, which is a packet there, has none. */
static tsr_status start_wrapping(tsr_dirac_sink *s, tsr_dirac_sequence q)
{
    char rate[40], times[200], *target = NULL;
    TSR_TRY(file_argument(tsr_output_temporary(s->output), &target));
    snprintf(rate, sizeof rate, "%d/%d", q.rate[0], q.rate[1]);
    snprintf(times, sizeof times, "setts=dts=N*%d/%d/TB:pts=(if(gt(abs(PTS-STARTPTS-N)\\,64)\\,N\\,PTS-STARTPTS)+2)*%d/%d/TB", q.rate[1], q.rate[0],
             q.rate[1], q.rate[0]);
    const char *const arguments[] = { tsr_ffmpeg_program(NULL),
                                      "-v",
                                      "error",
                                      "-nostdin",
                                      "-y",
                                      "-xerror",
                                      "-f",
                                      "dirac",
                                      "-framerate",
                                      rate,
                                      "-i",
                                      "pipe:0",
                                      "-c",
                                      "copy",
                                      "-bsf:v",
                                      times,
                                      "-f",
                                      s->container->format,
                                      target,
                                      NULL };
    const tsr_status status = tsr_process_start(arguments, 1, &s->process);
    free(target);
    return status;
}

tsr_status tsr_dirac_sink_write(tsr_dirac_sink *s, const void *bytes, size_t size)
{
    if (!s || (!bytes && size)) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s is NULL", s ? "bytes" : "sink");
    if (!size) return TSR_OK;
    s->bytes += (int64_t)size;
    if (s->container && !s->process) { /* the beginning waits until the header is whole */
        const size_t taken = size < HEAD - s->head_size ? size : HEAD - s->head_size;
        tsr_dirac_sequence sequence;
        int whole = 0;
        memcpy(s->head + s->head_size, bytes, taken);
        s->head_size += taken;
        TSR_TRY(read_head(s, &sequence, &whole));
        if (!whole) return TSR_OK;
        TSR_TRY(start_wrapping(s, sequence));
        TSR_TRY(tsr_process_write(s->process, s->head, s->head_size, NULL));
        bytes = (const char *)bytes + taken;
        size -= taken;
    }
    if (s->process) return tsr_process_write(s->process, bytes, size, NULL);
    TSR_TRY(tsr_output_write(s->output, bytes, size));
    return tsr_output_pass(s->output);
}

int64_t tsr_dirac_sink_bytes(const tsr_dirac_sink *sink) { return sink ? sink->bytes : 0; }

/* What a reader gets out of it again counts. */
static tsr_status check_container(tsr_dirac_sink *s, int64_t pictures)
{
    char *input = NULL;
    if (tsr_process_finish(s->process, NULL) != TSR_OK)
        TSR_FAIL(TSR_ERROR_IO, "%s: ffmpeg could not put the stream into %s: %s", s->path, s->container->format, tsr_process_said(s->process));
    TSR_TRY(file_argument(tsr_output_temporary(s->output), &input));
    const int64_t packets = tsr_ffprobe(tsr_ffmpeg_program(NULL), input, 1, NULL, NULL);
    free(input);
    if (packets > 0 && packets < pictures)
        TSR_FAIL(TSR_ERROR_IO, "%s: of %lld pictures ffmpeg finds %lld again in %s: expected another container, .mkv or .mp4", s->path,
                 (long long)pictures, (long long)packets, s->container->format);
    return TSR_OK;
}

tsr_status tsr_dirac_sink_finish(tsr_dirac_sink **sink, int64_t pictures)
{
    tsr_dirac_sink *s = sink ? *sink : NULL;
    if (!s) TSR_FAIL(TSR_ERROR_ARGUMENT, "sink is NULL");
    tsr_status status = TSR_OK;
    if (s->process) status = check_container(s, pictures);
    else if (s->container) status = TSR_FAILED(TSR_ERROR_FORMAT, "%s: a stream without a sequence header", s->path);
    if (status == TSR_OK) status = tsr_output_commit(&s->output);
    tsr_dirac_sink_destroy(sink);
    return status;
}

void tsr_dirac_sink_destroy(tsr_dirac_sink **sink)
{
    tsr_dirac_sink *s = sink ? *sink : NULL;
    if (!s) return;
    *sink = NULL;
    tsr_process_destroy(&s->process);
    tsr_output_abort(&s->output);
    free(s->path);
    free(s);
}
