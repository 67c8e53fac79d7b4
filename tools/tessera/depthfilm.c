/* tools/tessera/depthfilm.c: depth images of 16 bits to .tdf and back. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "depth.h"

struct film {
    cli_call *cli;
    const char *input, *output, *codec;
    tsr_depth_film_options options;
    int64_t first;
    double rate;
    int partial;
    tsr_depth_film_writer *writer;
    int32_t width, height;
    int64_t frames;
};

/* ---- to a depth film -------------------------------------------------------------------------------------------------------------------------- */

static int append(struct film *f, const uint16_t *samples, int32_t width, int32_t height, const char *name)
{
    tsr_status status = TSR_OK;
    if (!f->writer) {
        f->width = width;
        f->height = height;
        status = tsr_depth_film_writer_create(f->output, width, height, &f->options, &f->writer);
    }
    if (status == TSR_OK && (width != f->width || height != f->height))
        return cli_error(f->cli, CLI_FAILED, "%s: %d x %d samples, those before have %d x %d", name, width, height, f->width, f->height);
    if (status == TSR_OK) status = tsr_depth_film_writer_append(f->writer, samples);
    f->frames++;
    return status == TSR_OK ? CLI_OK : cli_status(f->cli, status, f->output);
}

/* Samples of 8 or 16 bits as they are. RETURNS NEW. */
static uint16_t *widened(const void *samples, int wide, int64_t count)
{
    uint16_t *to = malloc((size_t)count * sizeof *to);
    for (int64_t i = 0; to && i < count; i++) to[i] = wide ? ((const uint16_t *)samples)[i] : ((const uint8_t *)samples)[i];
    return to;
}

static int append_copy(struct film *f, const void *samples, int wide, int32_t width, int32_t height, const char *name)
{
    uint16_t *copy = widened(samples, wide, (int64_t)width * height);
    const int code = copy ? append(f, copy, width, height, name) : cli_error(f->cli, CLI_FAILED, "%s: out of memory", name);
    free(copy);
    return code;
}

static int append_picture(struct film *f, const char *name)
{
    const tsr_read_options read = TSR_READ_OPTIONS;
    int code = CLI_OK;
    tsr_volume *v = cli_read_volume(f->cli, name, &read, &code);
    if (!v) return code;
    const tsr_size3 n = tsr_volume_size(v);
    const tsr_dtype dtype = tsr_volume_dtype(v);
    if (n.z != 1 || (dtype != TSR_U8 && dtype != TSR_U16))
        code = cli_error(f->cli, CLI_FAILED, "%s: %lld x %lld x %lld samples of %s, expected one grey picture of u8 or u16", name, (long long)n.x,
                         (long long)n.y, (long long)n.z, tsr_dtype_name(dtype));
    else code = append_copy(f, tsr_volume_data_const(v), dtype == TSR_U16, (int32_t)n.x, (int32_t)n.y, name);
    tsr_volume_destroy(&v);
    return code;
}

/* From the first that is there of 0 to 9, or --first, as long as they go on. */
static int append_pictures(struct film *f, const char *pattern)
{
    char name[4096];
    int code = CLI_OK;
    int64_t number = f->first < 0 ? 0 : f->first;
    while (f->first < 0 && number < 9 && access(depth_numbered(pattern, number, name), R_OK) != 0) number++;
    do code = append_picture(f, depth_numbered(pattern, number, name));
    while (!code && access(depth_numbered(pattern, ++number, name), R_OK) == 0);
    if (!code && access(depth_numbered(pattern, number + 1, name), R_OK) == 0)
        cli_note(f->cli, "%s is there, but none before it: the film ends there", cli_shown(name));
    return code;
}

static int append_film(struct film *f, const char *path)
{
    tsr_video_reader *reader = NULL;
    tsr_video_frame frame = { 0 };
    int code = CLI_OK, more = 1;
    tsr_status status = tsr_video_reader_create(path, NULL, &reader);
    if (status == TSR_OK && !f->options.rate[0]) memcpy(f->options.rate, tsr_video_reader_info(reader)->rate, sizeof f->options.rate);
    while (!code && status == TSR_OK && more) {
        status = tsr_video_reader_next_frame(reader, &frame, &more);
        if (status != TSR_OK || !more) break;
        if (frame.planes != 1) code = cli_error(f->cli, CLI_FAILED, "%s: a film in colour, expected one of depths", path);
        else code = append_copy(f, frame.plane[0], frame.format.bits > 8, frame.width[0], frame.height[0], path);
    }
    if (!code && status != TSR_OK) code = cli_status(f->cli, status, path);
    tsr_video_frame_destroy(&frame);
    tsr_video_reader_destroy(&reader);
    return code;
}

static int encode(struct film *f)
{
    int code = cli_check_output(f->cli, f->output);
    f->options.overwrite = f->cli->globals.force;
    if (f->rate > 0) {
        int32_t a = f->options.rate[0] = (int32_t)(f->rate * 1000 + 0.5), b = f->options.rate[1] = 1000;
        while (b) { /* 30 / 1, not 30000 / 1000 */
            const int32_t rest = a % b;
            a = b;
            b = rest;
        }
        f->options.rate[0] /= a;
        f->options.rate[1] /= a;
    }
    if (!code) code = depth_is_numbered(f->input) ? append_pictures(f, f->input) : append_film(f, f->input);
    const int64_t bytes = tsr_depth_film_writer_bytes(f->writer);
    if (code || !f->writer) {
        tsr_depth_film_writer_destroy(&f->writer);
        return code ? code : cli_error(f->cli, CLI_FAILED, "%s: no frames", f->input);
    }
    const tsr_status status = tsr_depth_film_writer_finish(&f->writer);
    if (status != TSR_OK) return cli_status(f->cli, status, f->output);
    cli_note(f->cli, "%lld frames of %d x %d samples, %lld bytes: %.1f to 1", (long long)f->frames, f->width, f->height, (long long)bytes,
             2.0 * f->width * f->height * (double)f->frames / (double)bytes);
    return CLI_OK;
}

/* ---- and back --------------------------------------------------------------------------------------------------------------------------------- */

static int write_pictures(struct film *f, tsr_depth_film_reader *reader, const tsr_depth_film_info *info)
{
    char name[4096];
    int code = CLI_OK;
    tsr_context *context = NULL;
    tsr_volume *v = NULL;
    const tsr_write_options write = cli_write_options(f->cli);
    tsr_status status = TSR_OK;
    if ((code = cli_cpu_context(f->cli, &context))) return code;
    status = tsr_volume_create(context, TSR_U16, (tsr_size3){ info->width, info->height, 1 }, NULL, &v);
    for (int64_t k = 0; status == TSR_OK && k < info->frames; k++) {
        status = tsr_depth_film_reader_frame(reader, k, (uint16_t *)tsr_volume_data(v));
        if (status != TSR_OK && f->partial) {
            cli_note(f->cli, "%s", tsr_error_message());
            status = TSR_OK;
            continue;
        }
        if (status == TSR_OK) status = tsr_volume_write(v, depth_numbered(f->output, k + (f->first < 0 ? 0 : f->first), name), &write);
    }
    if (status != TSR_OK) code = cli_status(f->cli, status, NULL);
    tsr_volume_destroy(&v);
    tsr_context_destroy(&context);
    return code;
}

static int write_film(struct film *f, tsr_depth_film_reader *reader, const tsr_depth_film_info *info)
{
    const tsr_video_format format = { .width = info->width, .height = info->height, .chroma = TSR_CHROMA_MONO, .bits = 16, .range = TSR_RANGE_FULL };
    tsr_video_write_options write = TSR_VIDEO_WRITE_OPTIONS;
    tsr_video_writer *writer = NULL;
    tsr_video_frame frame = { 0 };
    write.overwrite = f->cli->globals.force;
    write.chroma = TSR_CHROMA_MONO;
    write.bits = 16;
    write.range = TSR_RANGE_FULL;
    write.codec = f->codec;
    tsr_status status = tsr_video_frame_create(&format, &frame);
    if (status == TSR_OK) status = tsr_video_writer_create(f->output, info->width, info->height, info->rate[0], info->rate[1], &write, &writer);
    for (int64_t k = 0; status == TSR_OK && k < info->frames; k++) {
        status = tsr_depth_film_reader_frame(reader, k, (uint16_t *)frame.plane[0]);
        if (status == TSR_OK) status = tsr_video_writer_append_frame(writer, &frame);
    }
    if (status == TSR_OK) status = tsr_video_writer_finish(&writer);
    const int code = status == TSR_OK ? CLI_OK : cli_status(f->cli, status, NULL);
    tsr_video_writer_destroy(&writer);
    tsr_video_frame_destroy(&frame);
    return code;
}

static void show(const cli_call *cli, const tsr_depth_film_info *i)
{
    const double raw = 2.0 * i->width * i->height * (double)i->frames, ratio = raw / (double)i->bytes;
    if (cli->globals.json) {
        json_open(NULL, '{');
        json_int("width", i->width);
        json_int("height", i->height);
        json_int("frames", i->frames);
        json_real("rate", (double)i->rate[0] / i->rate[1]);
        json_real("scale", i->scale);
        json_real("largest_error", i->largest_error);
        json_int("bytes", i->bytes);
        json_real("ratio", ratio);
        json_int("damaged", i->damaged);
        json_close('}');
        return;
    }
    printf("%lld frames of %d x %d samples of %g, %g a second, ", (long long)i->frames, i->width, i->height, i->scale,
           (double)i->rate[0] / i->rate[1]);
    if (i->largest_error > 0) printf("largest error %g\n", i->largest_error);
    else printf("lossless\n");
    printf("%lld bytes, %.1f to 1\n", (long long)i->bytes, ratio);
    if (i->damaged) printf("damaged or missing: %lld\n", (long long)i->damaged);
}

static int decode(struct film *f)
{
    tsr_depth_film_reader *reader = NULL;
    tsr_depth_film_info info = TSR_DEPTH_FILM_INFO;
    tsr_status status = tsr_depth_film_reader_create(f->input, f->partial || !f->output, &reader);
    if (status == TSR_OK) status = tsr_depth_film_reader_info(reader, &info);
    int code = status == TSR_OK ? CLI_OK : cli_status(f->cli, status, f->input);
    if (!code && !f->output) {
        show(f->cli, &info);
        code = info.damaged ? CLI_FAILED : CLI_OK;
    } else if (!code) {
        const int numbered = depth_is_numbered(f->output);
        if (!numbered) code = cli_check_output(f->cli, f->output);
        if (!code) code = numbered ? write_pictures(f, reader, &info) : write_film(f, reader, &info);
    }
    tsr_depth_film_reader_destroy(&reader);
    return code;
}

static int run(cli_call *cli, int argc, char **argv)
{
    struct film f = { .cli = cli, .options = TSR_DEPTH_FILM_OPTIONS, .first = -1 };
    int lossy = 0, scaled = 0, rated = 0, given = 0;
    const cli_option options[] = {
        { .name = "output",
          .letter = 'o',
          .type = CLI_TEXT,
          .value = &f.output,
          .argument = "FILE",
          .help = "a depth film (.tdf); from one: numbered pictures (depth-%04d.png, .pgm) or a film (.mkv, .y4m); without: say what is in it" },
        { .name = "largest-error",
          .type = CLI_REAL,
          .value = &f.options.largest_error,
          .argument = "D",
          .help = "that a sample may have, in the unit of the scale (default 0: lossless)",
          .upper = 1e12,
          .given = &lossy },
        { .name = "scale",
          .type = CLI_REAL,
          .value = &f.options.scale,
          .argument = "S",
          .help = "of one unit of the samples (default 0.001)",
          .lower = 1e-12,
          .upper = 1e12,
          .given = &scaled },
        { .name = "rate",
          .type = CLI_REAL,
          .value = &f.rate,
          .argument = "N",
          .help = "frames a second (default: as the film says, else 30)",
          .lower = 0.001,
          .upper = 1e6,
          .given = &rated },
        { .name = "first",
          .type = CLI_COUNT,
          .value = &f.first,
          .argument = "N",
          .help = "number of the first picture (default: the first that is there of 0 to 9; of outputs 0)",
          .upper = 1e9,
          .given = &given },
        { .name = "codec", .type = CLI_TEXT, .value = &f.codec, .argument = "NAME", .help = "of ffmpeg, for a film as output (ffv1)" },
        { .name = "partial", .type = CLI_FLAG, .value = &f.partial, .help = "read a damaged or cut file as far as it goes" },
        { 0 },
    };
    const int code = cli_parse(cli, options, 1, 1, argc, argv);
    if (code >= 0) return code;
    f.input = cli->input[0];
    const int to = cli_ends_in(f.output, ".tdf") || (f.output && !strcmp(f.output, "-") && !cli_ends_in(f.input, ".tdf"));
    if (to && (f.partial || f.codec)) return cli_usage(cli, "--partial and --codec are of films that are read from .tdf");
    if (!to && (lossy || scaled || rated))
        return cli_usage(cli, "--largest-error, --scale and --rate are of a film to be written: expected -o FILM.tdf");
    return to ? encode(&f) : decode(&f);
}

const cli_verb verb_depthfilm = { "depthfilm", "[options] 'DEPTH-%04d.png' -o FILM.tdf",
                                  "Depth images of 16 bits as a film, lossless or with a largest error, and back",
                                  "  tessera make picture-disparity -o disparity-0.png\n"
                                  "  tessera depthfilm 'disparity-%d.png' --scale 1 -o disparity.tdf\n"
                                  "  tessera depthfilm disparity.tdf\n"
                                  "  tessera depthfilm disparity.tdf -o 'back-%04d.png'\n",
                                  run };
