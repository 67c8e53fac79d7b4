#include "films.h"

#include <stdlib.h>
#include <string.h>

/* ---- in ------------------------------------------------------------------------------------------------------------------------ */

static int is_film(const char *path) { return strcmp(path, "-") ? tsr_video_recognise(path) : cli_input_is_film(); }

/* Verbs that work picture by picture work on 8 bits. */
static void tell_depth(const cli_call *cli, const char *path, int32_t bits)
{
    if (bits > 8) cli_note(cli, "%s: %d bits a channel, rounded to 8", path, bits);
}

static int open_next(cli_frames *f)
{
    const char *path = f->cli->input[++f->input];
    f->number = -1;
    if (!is_film(path)) return CLI_OK;
    const tsr_video_read_options options = { .struct_size = sizeof options, .progress = cli_progress(f->cli) };
    tsr_status status = tsr_video_reader_create(path, &options, &f->reader);
    if (status != TSR_OK) return cli_status(f->cli, status, path);
    const tsr_video_info *info = tsr_video_reader_info(f->reader);
    tell_depth(f->cli, path, info->picture_bits);
    if (!f->count && info->rate[0]) memcpy(f->rate, info->rate, sizeof f->rate);
    return CLI_OK;
}

static void set_name(cli_frames *f, const char *path)
{
    if (f->reader) snprintf(f->name, sizeof f->name, "%.260s:%lld", path, (long long)f->number);
    else snprintf(f->name, sizeof f->name, "%.290s", path);
}

int cli_frames_next(cli_frames *f, int *more)
{
    tsr_status status;
    *more = 0;
    while (f->reader || f->input + 1 < f->cli->inputs) {
        int code = f->reader ? CLI_OK : open_next(f);
        if (code) return code;
        const char *path = f->cli->input[f->input];
        f->number++;
        if (f->reader) {
            status = tsr_video_reader_next(f->reader, &f->image, more);
        } else {
            tsr_image_destroy(&f->image);
            int32_t bits = 0;
            const tsr_read_options read = { .struct_size = sizeof read, .image_bits = &bits };
            status = tsr_image_read(path, &read, &f->image);
            if (status == TSR_OK) tell_depth(f->cli, path, bits);
            *more = 1;
        }
        if (status != TSR_OK) return cli_status(f->cli, status, path);
        set_name(f, path);
        f->count += *more;
        if (*more) return CLI_OK;
        tsr_video_reader_destroy(&f->reader);
        cli_progress_end(f->cli);
    }
    return CLI_OK;
}

void cli_frames_destroy(cli_frames *f)
{
    tsr_video_reader_destroy(&f->reader);
    tsr_image_destroy(&f->image);
    cli_progress_end(f->cli);
}

int cli_frames_any(const cli_frames *f) { return f->count ? CLI_OK : cli_error(f->cli, CLI_FAILED, "%s: a film of no frames", f->cli->input[0]); }

int cli_frames_single(const cli_call *cli) { return cli->inputs == 1 && !is_film(cli->input[0]); }

/* ---- out ----------------------------------------------------------------------------------------------------------------------- */

int cli_film_check(const cli_call *cli, cli_film *film, const char *path, int single)
{
    film->path = path;
    if (!path) return CLI_OK;
    const int standard = !strcmp(path, "-");
    film->is_film = standard ? !single : tsr_video_names_film(path);
    if (!film->is_film) {
        if (!single)
            return cli_usage(
                cli, "'%s': more than one picture, expected a film (.y4m, .mp4, ...) or numbered pictures (name-%%04d.png) for the output", path);
        return cli_check_write(cli, path, TSR_FILE_IMAGE, standard ? "png" : NULL);
    }
    const int code = cli_check_output(cli, path);
    if (code) return code;
    const tsr_video_write_options options = { .struct_size = sizeof options, .format = standard ? "y4m" : NULL };
    return tsr_video_check_output(path, &options) == TSR_OK ? CLI_OK : cli_usage(cli, "%s", tsr_error_message());
}

int cli_film_begin(const cli_call *cli, cli_film *film, int32_t width, int32_t height, int32_t channels, const cli_frames *frames)
{
    if (!film->path || !film->is_film || film->writer) return CLI_OK;
    const tsr_video_write_options options = { .struct_size = sizeof options,
                                              .format = strcmp(film->path, "-") ? NULL : "y4m",
                                              .overwrite = cli->globals.force };
    tsr_status status = tsr_video_writer_create(film->path, width, height, frames->rate[0], frames->rate[1], &options, &film->writer);
    if (status == TSR_OK) status = tsr_video_writer_begin(film->writer, channels);
    return status == TSR_OK ? CLI_OK : cli_status(cli, status, film->path);
}

int cli_film_append(const cli_call *cli, cli_film *film, const tsr_image *image, const cli_frames *frames)
{
    tsr_status status = TSR_OK;
    if (!film->path) return CLI_OK;
    if (!film->is_film) {
        const tsr_write_options write = cli_image_options(cli, film->path);
        status = tsr_image_write(image, film->path, &write);
        return status == TSR_OK ? CLI_OK : cli_status(cli, status, film->path);
    }
    const int code = cli_film_begin(cli, film, image->width, image->height, image->channels, frames);
    if (code) return code;
    status = tsr_video_writer_append(film->writer, image);
    return status == TSR_OK ? CLI_OK : cli_status(cli, status, film->path);
}

int cli_film_finish(const cli_call *cli, cli_film *film, int code)
{
    if (code || !film->writer) {
        tsr_video_writer_destroy(&film->writer);
        return code;
    }
    const tsr_status status = tsr_video_writer_finish(&film->writer);
    return status == TSR_OK ? CLI_OK : cli_status(cli, status, film->path);
}

/* ---- convert ------------------------------------------------------------------------------------------------------------------- */

/* Plane by plane where both sides have planes of one kind, which keeps every sample; else picture by picture. */
static tsr_status copy_planes(tsr_video_reader *reader, tsr_video_writer *writer)
{
    tsr_video_frame frame = { 0 };
    tsr_status status = TSR_OK;
    for (int more = 1; more && status == TSR_OK;) {
        status = tsr_video_reader_next_frame(reader, &frame, &more);
        if (status == TSR_OK && more) status = tsr_video_writer_append_frame(writer, &frame);
    }
    tsr_video_frame_destroy(&frame);
    return status;
}

static tsr_status copy_pictures(tsr_video_reader *reader, tsr_video_writer *writer)
{
    tsr_image image = { 0 };
    tsr_status status = TSR_OK;
    for (int more = 1; more && status == TSR_OK;) {
        status = tsr_video_reader_next(reader, &image, &more);
        if (status == TSR_OK && more) status = tsr_video_writer_append(writer, &image);
    }
    tsr_image_destroy(&image);
    return status;
}

/* What ffmpeg made of it: its default codec for the extension is its own choice. */
static void tell_loss(const cli_call *cli, const char *output, const tsr_video_format *from)
{
    tsr_video_reader *reader = NULL;
    char lost[128] = "";
    if (cli->globals.quiet || tsr_video_reader_create(output, NULL, &reader) != TSR_OK) return;
    const tsr_video_format *to = &tsr_video_reader_info(reader)->format;
    if (to->chroma != from->chroma)
        snprintf(lost, sizeof lost, ", chroma %s instead of %s", tsr_chroma_name(to->chroma), tsr_chroma_name(from->chroma));
    if (to->bits != from->bits) snprintf(lost + strlen(lost), sizeof lost - strlen(lost), ", %d bits instead of %d", to->bits, from->bits);
    cli_note(cli, "%s: ffmpeg's usual codec for this extension, which may lose detail%s; .y4m keeps every sample", output, lost);
    tsr_video_reader_destroy(&reader);
}

int cli_film_convert(cli_call *cli, const char *output, const char *format)
{
    const char *input = cli->input[0];
    const tsr_video_read_options read = { .struct_size = sizeof read, .progress = cli_progress(cli) };
    tsr_video_write_options write = { .struct_size = sizeof write, .format = format, .overwrite = cli->globals.force };
    tsr_video_reader *reader = NULL;
    tsr_video_writer *writer = NULL;
    const int by_ffmpeg = format ? !strcmp(format, "ffmpeg") : output && !strstr(output, ".y4m") && !strstr(output, ".png");
    int code = cli_check_output(cli, output);
    if (code) return code;
    if (tsr_video_check_output(output, &write) != TSR_OK) return cli_error(cli, CLI_USAGE, "%s", tsr_error_message());
    tsr_status status = tsr_video_reader_create(input, &read, &reader);
    if (status == TSR_OK) {
        const tsr_video_info *info = tsr_video_reader_info(reader);
        const int pictures = !strcmp(info->container, "png") || (format ? !strcmp(format, "png") : strstr(output, ".png") != NULL);
        if (!pictures) {
            write.chroma = info->format.chroma;
            write.bits = info->format.bits;
            write.siting = info->format.siting;
            write.matrix = info->format.matrix;
            write.range = info->format.range;
            write.interlacing = info->interlacing == '?' ? 0 : info->interlacing;
            memcpy(write.aspect, info->aspect, sizeof write.aspect);
        }
        const int rated = info->rate[0] > 0;
        tell_depth(cli, input, info->picture_bits);
        status = tsr_video_writer_create(output, info->format.width, info->format.height, rated ? info->rate[0] : 25, rated ? info->rate[1] : 1,
                                         &write, &writer);
        if (status == TSR_OK) status = pictures ? copy_pictures(reader, writer) : copy_planes(reader, writer);
    }
    if (status == TSR_OK) status = tsr_video_writer_finish(&writer);
    cli_progress_end(cli);
    if (status == TSR_OK && by_ffmpeg) tell_loss(cli, output, &tsr_video_reader_info(reader)->format);
    tsr_video_writer_destroy(&writer);
    tsr_video_reader_destroy(&reader);
    return status == TSR_OK ? CLI_OK : cli_status(cli, status, input);
}
