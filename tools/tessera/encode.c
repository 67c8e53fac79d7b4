#include <string.h>

#include "cli.h"

struct encode {
    cli_call *cli;
    const char *output;
    tsr_dirac_encode_options options;
    tsr_context *context;
    tsr_video_reader *reader;
    tsr_dirac_writer *writer;
    int64_t frames, bytes;
};

/* From the film's header. */
static int begin(struct encode *e, const tsr_video_frame *frame)
{
    const tsr_video_info *info = tsr_video_reader_info(e->reader);
    e->options.format = frame->format;
    if (!e->options.rate[0]) memcpy(e->options.rate, info->rate, sizeof info->rate);
    memcpy(e->options.aspect, info->aspect, sizeof info->aspect);
    if (info->interlacing == 't' || info->interlacing == 'b') e->options.interlaced = info->interlacing == 't' ? 1 : 2;
    tsr_write_options write = TSR_WRITE_OPTIONS;
    write.overwrite = e->cli->globals.force;
    const tsr_status status = tsr_dirac_writer_create(e->context, e->output, &e->options, &write, &e->writer);
    return status == TSR_OK ? CLI_OK : cli_status(e->cli, status, e->cli->input[0]);
}

static int encode_frame(struct encode *e, const tsr_video_frame *frame)
{
    int code = e->writer ? CLI_OK : begin(e, frame);
    if (code) return code;
    const tsr_status status = tsr_dirac_writer_append(e->writer, frame);
    e->frames++;
    e->bytes = tsr_dirac_writer_bytes(e->writer);
    return status == TSR_OK ? CLI_OK : cli_status(e->cli, status, e->output);
}

/* The next frame as planes: those of a film as they are, pictures converted. */
static tsr_status next_frame(struct encode *e, tsr_video_frame *frame, tsr_image *image, int *more)
{
    const tsr_video_info *info = tsr_video_reader_info(e->reader);
    if (strcmp(info->container, "png") != 0) return tsr_video_reader_next_frame(e->reader, frame, more);
    tsr_status status = tsr_video_reader_next(e->reader, image, more);
    if (status != TSR_OK || !*more) return status;
    if (!frame->bytes) {
        const tsr_video_format format = { .width = image->width, .height = image->height, .chroma = TSR_CHROMA_444, .bits = 8 };
        status = tsr_video_frame_create(&format, frame);
    }
    return status == TSR_OK ? tsr_video_frame_from_image(frame, image) : status;
}

static int encode_all(struct encode *e)
{
    const tsr_progress progress = cli_progress(e->cli);
    const int64_t count = tsr_video_reader_info(e->reader)->frames;
    tsr_video_frame frame = { 0 };
    tsr_image image = { 0 };
    int code = CLI_OK, more = 1;
    while (!code && more) {
        const tsr_status status = next_frame(e, &frame, &image, &more);
        if (status != TSR_OK) code = cli_status(e->cli, status, e->cli->input[0]);
        else if (more) code = encode_frame(e, &frame);
        if (!code && progress.report && progress.report(progress.user, count > 0 ? (double)e->frames / (double)count : -1, "encoding"))
            code = cli_error(e->cli, CLI_FAILED, "cancelled");
    }
    cli_progress_end(e->cli);
    tsr_image_destroy(&image);
    tsr_video_frame_destroy(&frame);
    if (!code && !e->frames) code = cli_error(e->cli, CLI_FAILED, "%s: no picture in it", e->cli->input[0]);
    return code;
}

static int run(cli_call *cli, int argc, char **argv)
{
    struct encode e = { .cli = cli, .options = TSR_DIRAC_ENCODE_OPTIONS };
    tsr_video_read_options read = TSR_VIDEO_READ_OPTIONS;
    int coding = 0, wavelet = 1, quantiser = 0, quantiser_given = 0;
    double fps = 0;
    const cli_option options[] = {
        CLI_OUTPUT_OPTION(e.output),
        { .name = "coding", .type = CLI_CHOICE, .value = &coding, .argument = "NAME", .help = "of slices", .choices = "high-quality low-delay" },
        { .name = "lossless", .type = CLI_FLAG, .value = &e.options.lossless, .help = "every sample comes back" },
        { .name = "quantiser",
          .type = CLI_INT,
          .value = &quantiser,
          .given = &quantiser_given,
          .argument = "N",
          .help = "the same everywhere: 0 lossless, 4 more double the step",
          .lower = 0,
          .upper = 100 },
        { .name = "picture-bytes",
          .type = CLI_COUNT,
          .value = &e.options.picture_bytes,
          .argument = "BYTES",
          .help = "of slices in each picture (default: a fifth of the samples' bytes)",
          .lower = 1,
          .upper = 4294967296.0 },
        { .name = "wavelet",
          .type = CLI_CHOICE,
          .value = &wavelet,
          .argument = "NAME",
          .help = "filter",
          .choices = "dd97 legall53 dd137 haar haar-shift fidelity daub97" },
        { .name = "depth",
          .type = CLI_INT,
          .value = &e.options.depth,
          .argument = "N",
          .help = "levels of the transform (default 3)",
          .lower = 1,
          .upper = 4 },
        { .name = "slice-width",
          .type = CLI_INT,
          .value = &e.options.slice[0],
          .argument = "N",
          .help = "luma samples (default 32)",
          .lower = 2,
          .upper = 16384 },
        { .name = "slice-height", .type = CLI_INT, .value = &e.options.slice[1], .argument = "N", .help = "(default 8)", .lower = 2, .upper = 16384 },
        { .name = "fragment",
          .type = CLI_INT,
          .value = &e.options.fragment,
          .argument = "N",
          .help = "slices in a data unit (default: all)",
          .lower = 1,
          .upper = 65535 },
        { .name = "fields", .type = CLI_FLAG, .value = &e.options.fields, .help = "each field of an interlaced film is a picture" },
        { .name = "rate",
          .type = CLI_REAL,
          .value = &fps,
          .argument = "FPS",
          .help = "frames a second (default: of the film, or 25)",
          .lower = 0.001,
          .upper = 1000 },
        { .name = "memory-limit",
          .type = CLI_COUNT,
          .value = &read.memory_limit,
          .argument = "BYTES",
          .help = "of a frame",
          .lower = 1,
          .upper = 9e18 },
        { 0 },
    };
    int code = cli_parse(cli, options, 1, 1, argc, argv);
    if (code >= 0) return code;
    e.options.coding = (tsr_dirac_coding)coding;
    e.options.wavelet = wavelet + 1;
    if (quantiser_given) e.options.quantiser = quantiser + 1;
    if (fps > 0) {
        e.options.rate[0] = (int32_t)(fps * 1000 + 0.5);
        e.options.rate[1] = 1000;
    }
    code = cli_check_output(cli, e.output);
    if (!code) code = cli_context(cli, &e.context);
    if (!code) {
        const tsr_status status = tsr_video_reader_create(cli->input[0], &read, &e.reader);
        if (status != TSR_OK) code = cli_status(cli, status, cli->input[0]);
    }
    if (!code) code = encode_all(&e);
    if (!code) {
        const tsr_status status = tsr_dirac_writer_finish(&e.writer);
        if (status != TSR_OK) code = cli_status(cli, status, e.output);
    }
    if (!code) cli_note(cli, "%lld frames, %lld bytes", (long long)e.frames, (long long)e.bytes);
    tsr_dirac_writer_destroy(&e.writer);
    tsr_video_reader_destroy(&e.reader);
    tsr_context_destroy(&e.context);
    return code;
}

const cli_verb verb_encode = { "encode", "[options] FILM -o STREAM", "Encode a film as a VC-2 stream",
                               "  tessera make film-balls -o film.y4m\n"
                               "  tessera encode film.y4m --picture-bytes 30000 -o film.vc2\n  tessera decode film.vc2 -o decoded.y4m\n",
                               run };
