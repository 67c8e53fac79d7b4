/* Writing films: Y4M by itself or into ffmpeg, or numbered pictures; nothing has its name before all is written. */
#include "io/target.h"
#include "formats/films/video.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum kind { Y4M, PNG, FFMPEG };
static const char *const kind_names[] = { "y4m", "png", "ffmpeg" };

struct tsr_video_writer {
    tsr_video_write_options options; /* its texts are copied below or not used after create */
    enum kind kind;
    char *path, *program, *codec;
    tsr_video_format format;
    int32_t rate[2];
    int started; /* the header is out: the format is settled */
    int64_t frames;
    tsr_output *output; /* Y4M: where it goes. ffmpeg: only the temporary file and its name */
    tsr_process *process;
    tsr_video_frame frame; /* an image on its way */
    char *folder;          /* PNG: where the pictures wait */
    char *pending;         /* the same with a slash behind, for tsr_pending_note, which gave it `place` */
    int place;
    tsr_numbered numbered;
    int is_numbered;
};

static tsr_status kind_of(const char *path, const char *format, enum kind *kind)
{
    tsr_numbered numbered;
    if (!path || !*path) TSR_FAIL(TSR_ERROR_ARGUMENT, "the output path is empty");
    for (int i = 0; format && i < 3; i++)
        if (!strcmp(format, kind_names[i])) {
            *kind = (enum kind)i;
            if (*kind != Y4M && !strcmp(path, "-"))
                TSR_FAIL(TSR_ERROR_ARGUMENT, "a film to standard output is Y4M, expected format y4m, not %s", format);
            return TSR_OK;
        }
    if (format) TSR_FAIL(TSR_ERROR_ARGUMENT, "format '%.40s' of a film, expected y4m, png or ffmpeg", format);
    if (!strcmp(path, "-")) TSR_FAIL(TSR_ERROR_ARGUMENT, "a film to standard output needs its format named: y4m");
    *kind = tsr_path_has_extension(path, ".y4m") ? Y4M : tsr_path_has_extension(path, ".png") ? PNG : FFMPEG;
    if (*kind == FFMPEG && !strchr(tsr_path_file(path), '.'))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: a film needs an extension: .y4m, .mp4, .mkv, ... or numbered pictures as name-%%04d.png", path);
    if (*kind != PNG && tsr_numbered_parse(path, &numbered))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: numbered pictures are PNG files: expected an extension .png", path);
    return TSR_OK;
}

static tsr_status check_options(const tsr_video_write_options *o, tsr_video_format *format)
{
    *format = (tsr_video_format){ format->width, format->height, o->chroma, o->bits, o->siting, o->matrix, o->range };
    TSR_TRY(tsr_video_format_complete(format));
    if (o->interlacing && !strchr("ptbm", o->interlacing)) TSR_FAIL(TSR_ERROR_ARGUMENT, "interlacing is '%c', expected p, t, b or m", o->interlacing);
    if (o->aspect[0] < 0 || o->aspect[1] < 0 || !o->aspect[0] != !o->aspect[1])
        TSR_FAIL(TSR_ERROR_ARGUMENT, "aspect is %d:%d, expected two positive numbers or 0:0", o->aspect[0], o->aspect[1]);
    if (o->first < 0) TSR_FAIL(TSR_ERROR_ARGUMENT, "first is %lld, expected the number of a picture", (long long)o->first);
    if (o->compression < -1 || o->compression > 9)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "compression is %d, expected -1 (none), 0 (default) or 1 to 9", o->compression);
    return TSR_OK;
}

tsr_status tsr_video_check_output(const char *path, const tsr_video_write_options *options)
{
    TSR_NEEDS(path);
    tsr_video_write_options own;
    tsr_video_format format = { .width = 2, .height = 2 };
    enum kind kind;
    TSR_TRY(TSR_OPTIONS_TAKE(&own, options));
    TSR_TRY(check_options(&own, &format));
    TSR_TRY(kind_of(path, own.format, &kind));
    return TSR_OK;
}

/* ---- pictures ------------------------------------------------------------------------------------------------------------------ */

static tsr_status picture_path(const tsr_video_writer *w, int64_t number, char **name)
{
    *name = w->is_numbered ? tsr_numbered_path(w->path, &w->numbered, number) : strdup(w->path);
    if (!*name) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory", w->path);
    return TSR_OK;
}

static tsr_status waiting_path(const tsr_video_writer *w, int64_t n, char **name)
{
    const size_t bytes = strlen(w->folder) + 40;
    *name = (char *)malloc(bytes);
    if (!*name) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory", w->path);
    snprintf(*name, bytes, "%s/%lld.png", w->folder, (long long)n);
    return TSR_OK;
}

static tsr_status open_pictures(tsr_video_writer *w)
{
    const size_t length = (size_t)(tsr_path_file(w->path) - w->path);
    char *first;
    w->is_numbered = tsr_numbered_parse(w->path, &w->numbered);
    TSR_TRY(picture_path(w, w->options.first, &first));
    const int exists = access(first, F_OK) == 0;
    tsr_status status = TSR_OK;
    if (exists && !w->options.overwrite)
        status = TSR_FAILED(TSR_ERROR_IO, "%s: exists; not overwritten unless asked for (options.overwrite, --force)", first);
    free(first);
    TSR_TRY(status);
    w->folder = (char *)malloc(length + 32);
    if (!w->folder) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory", w->path);
    snprintf(w->folder, length + 32, "%.*s.tessera-XXXXXX", (int)length, w->path);
    if (!mkdtemp(w->folder)) {
        free(w->folder);
        w->folder = NULL;
        TSR_FAIL(TSR_ERROR_IO, "%s: cannot create a folder beside it: %s", w->path, strerror(errno));
    }
    w->pending = (char *)malloc(length + 33);
    if (!w->pending) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory", w->path);
    snprintf(w->pending, length + 33, "%s/", w->folder);
    w->place = tsr_pending_note(w->pending);
    return TSR_OK;
}

static tsr_status append_picture(tsr_video_writer *w, const tsr_image *image)
{
    char *name;
    const tsr_write_options write = { .struct_size = sizeof write, .format = "png", .compression = w->options.compression };
    if (!w->is_numbered && w->frames) TSR_FAIL(TSR_ERROR_STATE, "%s: one picture holds one frame: expected a pattern as name-%%04d.png", w->path);
    TSR_TRY(waiting_path(w, w->frames, &name));
    tsr_status status = tsr_image_write(image, name, &write);
    free(name);
    TSR_TRY(status);
    return TSR_OK;
}

static tsr_status picture_names(void *user, int64_t k, char **from, char **to)
{
    tsr_video_writer *w = (tsr_video_writer *)user;
    TSR_TRY(waiting_path(w, k, from));
    const tsr_status status = picture_path(w, w->options.first + k, to);
    if (status != TSR_OK) {
        free(*from);
        *from = NULL;
    }
    return status;
}

/* All get their names, or none does. What they replace lies in the folder then, until it is removed: no signal takes it away before. */
static tsr_status name_pictures(tsr_video_writer *w)
{
    if (!tsr_pending_forget(w->place, w->pending)) TSR_FAIL(TSR_ERROR_IO, "%s: the process is being ended", w->path);
    w->place = -1;
    TSR_TRY(tsr_rename_all(w->frames, picture_names, w, w->options.overwrite));
    return TSR_OK;
}

static void remove_folder(tsr_video_writer *w)
{
    for (int64_t n = 0; w->folder && n < w->frames; n++) {
        char *name;
        if (waiting_path(w, n, &name) != TSR_OK) continue;
        unlink(name);
        free(name);
    }
    if (w->folder) rmdir(w->folder);
    if (tsr_pending_forget(w->place, w->pending)) free(w->pending);
}

/* ---- planes -------------------------------------------------------------------------------------------------------------------- */

static tsr_status put(tsr_video_writer *w, const void *bytes, size_t size)
{
    if (w->process) TSR_TRY(tsr_process_write(w->process, bytes, size, &w->options.progress));
    else TSR_TRY(tsr_output_write(w->output, bytes, size));
    return TSR_OK;
}

static tsr_status start_ffmpeg(tsr_video_writer *w)
{
    const char *temporary = tsr_output_temporary(w->output);
    if (!temporary) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: ffmpeg writes to plain files only, expected no pipe or device", w->path);
    const size_t bytes = strlen(temporary) + 8;
    char *target = (char *)malloc(bytes);
    if (!target) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory", w->path);
    snprintf(target, bytes, "file:%s", temporary);
    const char *const matrix = w->format.matrix == TSR_MATRIX_BT709 ? "bt709" : "smpte170m";
    const char *arguments[24] = { w->program,     "-v",          "error", "-nostdin", "-y",     "-xerror", "-f",
                                  "yuv4mpegpipe", "-colorspace", matrix,  "-i",       "pipe:0", "-an" };
    int n = 13;
    if (w->codec) {
        arguments[n++] = "-c:v";
        arguments[n++] = w->codec;
    }
    arguments[n++] = "-strict"; /* what it calls unusual chroma */
    arguments[n++] = "-1";
    arguments[n++] = target;
    arguments[n] = NULL;
    tsr_status status = tsr_process_start(arguments, 1, &w->process);
    free(target);
    return status;
}

/* ffmpeg's default for these containers is H.264, which halves chroma of whole pairs of pixels only. Said here, in our words, before it is fed. */
static tsr_status check_even(const tsr_video_writer *w)
{
    const int h264 = w->codec ? strstr(w->codec, "264") != NULL
                              : tsr_path_has_extension(w->path, ".mp4") || tsr_path_has_extension(w->path, ".mkv") ||
                                    tsr_path_has_extension(w->path, ".mov") || tsr_path_has_extension(w->path, ".m4v");
    const int wide = w->format.chroma == TSR_CHROMA_420 || w->format.chroma == TSR_CHROMA_422, high = w->format.chroma == TSR_CHROMA_420;
    if (w->kind != FFMPEG || !h264) return TSR_OK;
    if (wide && w->format.width % 2)
        TSR_FAIL(TSR_ERROR_ARGUMENT,
                 "%s: width %d of a film in H.264, chroma %s, expected an even one (.y4m, .webm, .avi and numbered .png take any)", w->path,
                 w->format.width, tsr_chroma_name(w->format.chroma));
    if (high && w->format.height % 2)
        TSR_FAIL(TSR_ERROR_ARGUMENT,
                 "%s: height %d of a film in H.264, chroma %s, expected an even one (.y4m, .webm, .avi and numbered .png take any)", w->path,
                 w->format.height, tsr_chroma_name(w->format.chroma));
    return TSR_OK;
}

/* The first frame settles the chroma; then the header goes out. */
static tsr_status begin(tsr_video_writer *w, tsr_chroma chroma)
{
    char line[256];
    if (w->started) return TSR_OK;
    w->format.chroma = chroma;
    TSR_TRY(tsr_y4m_header(&w->format, w->rate, w->options.aspect, w->options.interlacing ? w->options.interlacing : 'p', line));
    TSR_TRY(check_even(w));
    if (w->kind == FFMPEG) TSR_TRY(start_ffmpeg(w));
    TSR_TRY(put(w, line, strlen(line)));
    w->started = 1;
    return TSR_OK;
}

static tsr_status put_frame(tsr_video_writer *w, const tsr_video_frame *frame)
{
    TSR_TRY(put(w, "FRAME\n", 6));
    if (frame->format.bits > 8 && tsr_host_big_endian()) {
        uint8_t swapped[8192];
        for (int64_t at = 0; at < frame->bytes; at += (int64_t)sizeof swapped) {
            const int64_t step = tsr_min64(frame->bytes - at, (int64_t)sizeof swapped);
            memcpy(swapped, (const uint8_t *)frame->plane[0] + at, (size_t)step);
            tsr_swap_elements(swapped, step / 2, 2);
            TSR_TRY(put(w, swapped, (size_t)step));
        }
        return TSR_OK;
    }
    TSR_TRY(put(w, frame->plane[0], (size_t)frame->bytes));
    return w->process ? TSR_OK : tsr_output_pass(w->output);
}

/* ---- all ----------------------------------------------------------------------------------------------------------------------- */

static tsr_status copy_text(const char *text, char **copy)
{
    *copy = text ? strdup(text) : NULL;
    if (text && !*copy) TSR_FAIL(TSR_ERROR_MEMORY, "out of memory");
    return TSR_OK;
}

/* An error now, not after an hour of frames, if the program is missing. */
static tsr_status check_program(const char *program)
{
    tsr_process *process = NULL;
    const char *const arguments[] = { program, "-v", "quiet", "-version", NULL };
    TSR_TRY(tsr_process_start(arguments, 1, &process));
    tsr_process_destroy(&process);
    return TSR_OK;
}

static tsr_status open_target(tsr_video_writer *w)
{
    const tsr_write_options write = { .struct_size = sizeof write, .overwrite = w->options.overwrite, .progress = w->options.progress };
    if (w->kind == PNG) return open_pictures(w);
    if (w->kind == Y4M) {
        TSR_TRY(tsr_output_open(w->path, &write, &w->output));
        return TSR_OK;
    }
    TSR_TRY(check_program(w->program));
    TSR_TRY(tsr_output_open_named(w->path, &write, &w->output)); /* ffmpeg finds it, and the container, by its name */
    return TSR_OK;
}

tsr_status tsr_video_writer_create(const char *path, int32_t width, int32_t height, int32_t rate_numerator, int32_t rate_denominator,
                                   const tsr_video_write_options *options, tsr_video_writer **writer)
{
    TSR_RETURNS(writer);
    tsr_video_write_options own;
    tsr_video_format format = { .width = width, .height = height };
    enum kind kind;
    tsr_status status;
    TSR_TRY(TSR_OPTIONS_TAKE(&own, options));
    TSR_TRY(check_options(&own, &format));
    if (rate_numerator < 0 || rate_denominator < 0 || !rate_numerator != !rate_denominator)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "rate is %d / %d frames per second, expected two positive numbers or 0, 0", rate_numerator, rate_denominator);
    TSR_TRY(kind_of(path, own.format, &kind));
    tsr_video_writer *w = (tsr_video_writer *)calloc(1, sizeof *w);
    if (!w) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory", path);
    w->options = own;
    w->place = -1;
    w->kind = kind;
    w->format = format;
    w->rate[0] = kind == FFMPEG && !rate_numerator ? 25 : rate_numerator;
    w->rate[1] = kind == FFMPEG && !rate_numerator ? 1 : rate_denominator;
    TSR_TRY_GOTO(copy_text(path, &w->path), fail);
    TSR_TRY_GOTO(copy_text(tsr_ffmpeg_program(own.ffmpeg), &w->program), fail);
    TSR_TRY_GOTO(copy_text(own.codec, &w->codec), fail);
    w->options.format = w->options.ffmpeg = w->options.codec = NULL;
    if (own.chroma) TSR_TRY_GOTO(check_even(w), fail); /* else when the first frame says whether it is grey */
    TSR_TRY_GOTO(open_target(w), fail);
    *writer = w;
    return TSR_OK;
fail:
    tsr_video_writer_destroy(&w);
    return status;
}

tsr_status tsr_video_writer_begin(tsr_video_writer *writer, int32_t channels)
{
    TSR_NEEDS(writer);
    if (channels != 1 && channels != 3 && channels != 4) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: %d channels, expected 1, 3 or 4", writer->path, channels);
    if (writer->kind == PNG) return TSR_OK;
    const tsr_chroma colour = writer->kind == FFMPEG ? TSR_CHROMA_420 : TSR_CHROMA_444;
    TSR_TRY(begin(writer, writer->options.chroma ? writer->options.chroma : channels == 1 ? TSR_CHROMA_MONO : colour));
    return TSR_OK;
}

tsr_status tsr_video_writer_append(tsr_video_writer *w, const tsr_image *image)
{
    if (!w || !image || !image->pixels) TSR_FAIL(TSR_ERROR_ARGUMENT, "writer or image is NULL or has no pixels");
    if (image->width != w->format.width || image->height != w->format.height)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: image of %d x %d pixels, expected %d x %d", w->path, image->width, image->height, w->format.width,
                 w->format.height);
    TSR_PROGRESS(&w->options.progress, -1, "writing");
    if (w->kind == PNG) {
        TSR_TRY(append_picture(w, image));
        w->frames++;
        return TSR_OK;
    }
    TSR_TRY(tsr_video_writer_begin(w, image->channels));
    if (!w->frame.plane[0]) TSR_TRY(tsr_video_frame_create(&w->format, &w->frame));
    TSR_TRY(tsr_video_frame_from_image(&w->frame, image));
    TSR_TRY(put_frame(w, &w->frame));
    w->frames++;
    return TSR_OK;
}

tsr_status tsr_video_writer_append_frame(tsr_video_writer *w, const tsr_video_frame *frame)
{
    if (!w || !frame || !frame->plane[0]) TSR_FAIL(TSR_ERROR_ARGUMENT, "writer or frame is NULL or has no planes");
    if (w->kind == PNG) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: pictures have no planes: tsr_video_writer_append writes them", w->path);
    tsr_video_format expected = w->format;
    if (!w->started && !w->options.chroma) expected.chroma = frame->format.chroma;
    if (!tsr_video_same_format(&expected, &frame->format))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: frame of %d x %d, chroma %s, %d bits; expected %d x %d, %s, %d bits, and the same siting, matrix and range",
                 w->path, frame->format.width, frame->format.height, tsr_chroma_name(frame->format.chroma), frame->format.bits, expected.width,
                 expected.height, tsr_chroma_name(expected.chroma), expected.bits);
    TSR_PROGRESS(&w->options.progress, -1, "writing");
    TSR_TRY(begin(w, expected.chroma));
    TSR_TRY(put_frame(w, frame));
    w->frames++;
    return TSR_OK;
}

int64_t tsr_video_writer_frames(const tsr_video_writer *writer) { return writer ? writer->frames : 0; }

/* ffmpeg may end in peace though its file could not take all: what it said counts, and what can be read of its file. */
static tsr_status finish_ffmpeg(tsr_video_writer *w)
{
    TSR_TRY(tsr_process_finish(w->process, &w->options.progress));
    const char *said = tsr_process_said(w->process), *temporary = tsr_output_temporary(w->output);
    if (*said) TSR_FAIL(TSR_ERROR_IO, "%s: ffmpeg could not write the film: %s", w->path, said);
    const size_t bytes = strlen(temporary) + 8;
    char *input = (char *)malloc(bytes);
    if (!input) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory", w->path);
    snprintf(input, bytes, "file:%s", temporary);
    const int counts = !tsr_path_has_extension(w->path, ".ogv"); /* Theora leaves out frames like the one before */
    const int64_t packets = counts ? tsr_ffprobe(w->program, input, 1, &w->options.progress, NULL) : -1;
    free(input);
    if (packets > 0 && packets < w->frames)
        TSR_FAIL(TSR_ERROR_IO, "%s: ffmpeg wrote %lld of %lld frames", w->path, (long long)packets, (long long)w->frames);
    return TSR_OK;
}

tsr_status tsr_video_writer_finish(tsr_video_writer **writer)
{
    tsr_video_writer *w = writer ? *writer : NULL;
    tsr_status status;
    if (!w) TSR_FAIL(TSR_ERROR_ARGUMENT, "writer is NULL");
    if (!w->frames) TSR_FAIL_GOTO(TSR_ERROR_STATE, done, "%s: a film of no frames", w->path);
    status = TSR_OK;
    if (w->process) TSR_TRY_GOTO(finish_ffmpeg(w), done);
    TSR_TRY_GOTO(w->kind == PNG ? name_pictures(w) : tsr_output_commit(&w->output), done);
done:
    tsr_video_writer_destroy(writer);
    return status;
}

void tsr_video_writer_destroy(tsr_video_writer **writer)
{
    tsr_video_writer *w = writer ? *writer : NULL;
    if (!w) return;
    *writer = NULL;
    tsr_process_destroy(&w->process); /* before the file it writes goes */
    tsr_output_abort(&w->output);
    remove_folder(w);
    tsr_video_frame_destroy(&w->frame);
    free(w->folder);
    free(w->codec);
    free(w->program);
    free(w->path);
    free(w);
}
