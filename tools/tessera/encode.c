#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

enum { MATRIX_MOST = 64 };

struct encode {
    cli_call *cli;
    const char *output, *report_path;
    tsr_dirac_encode_options options;
    tsr_video_read_options read;
    tsr_context *context;
    tsr_video_reader *reader;
    tsr_dirac_encoder *first; /* of two passes: its bytes go nowhere */
    tsr_dirac_writer *writer;
    int64_t frames, bytes;
    char *report; /* CSV, a line a picture */
    size_t report_size, report_room;
    int32_t matrix[MATRIX_MOST];
    int failed, first_pass;
};

/* A line of --report. */
static void picture(void *user, const tsr_dirac_picture *p, const tsr_video_frame *reconstruction)
{
    struct encode *e = (struct encode *)user;
    const double most = (1 << e->options.format.bits) - 1;
    (void)reconstruction;
    if (e->report_size + 256 > e->report_room) {
        char *larger = (char *)realloc(e->report, 2 * e->report_room + 4096);
        if (!larger) {
            e->failed = 1;
            return;
        }
        e->report = larger;
        e->report_room = 2 * e->report_room + 4096;
    }
    if (!e->report_size)
        e->report_size = (size_t)snprintf(
            e->report, 256, "number,kind,references,quantiser,bytes,motion_bytes,scene,weight1,weight2,weight_bits,psnr_y,psnr_c1,psnr_c2,buffer\n");
    e->report_size += (size_t)snprintf(e->report + e->report_size, 200, "%u,%s,%d,%d,%lld,%lld,%d,%d,%d,%d", p->number,
                                       p->references ? (p->parse_code & 0x0c) == 0x0c ? "forward" : "between" : "intra", p->references, p->quantiser,
                                       (long long)p->bytes, (long long)p->motion_bytes, p->scene, p->weight[0], p->weight[1], p->weight[2]);
    for (int c = 0; c < 3; c++)
        e->report_size += (size_t)(p->error[c] > 0 ? snprintf(e->report + e->report_size, 16, ",%.3f", 10 * log10(most * most / p->error[c]))
                                                   : snprintf(e->report + e->report_size, 16, p->error[c] == 0 ? ",inf" : ","));
    e->report_size += (size_t)snprintf(e->report + e->report_size, 24, p->buffer < 0 ? ",\n" : ",%lld\n", (long long)p->buffer);
}

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
    const tsr_status status = e->first_pass ? tsr_dirac_encoder_create(e->context, &e->options, &e->first)
                                            : tsr_dirac_writer_create(e->context, e->output, &e->options, &write, &e->writer);
    return status == TSR_OK ? CLI_OK : cli_status(e->cli, status, e->cli->input[0]);
}

static int encode_frame(struct encode *e, const tsr_video_frame *frame)
{
    int code = (e->first_pass ? e->first != NULL : e->writer != NULL) ? CLI_OK : begin(e, frame);
    const void *bytes;
    size_t size;
    if (code) return code;
    const tsr_status status = e->first_pass ? tsr_dirac_encoder_frame(e->first, frame, &bytes, &size) : tsr_dirac_writer_append(e->writer, frame);
    e->frames++;
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
        if (!code && progress.report &&
            progress.report(progress.user, count > 0 ? (double)e->frames / (double)count : -1, e->first_pass ? "first pass" : "encoding"))
            code = cli_error(e->cli, CLI_FAILED, "cancelled");
    }
    cli_progress_end(e->cli);
    tsr_image_destroy(&image);
    tsr_video_frame_destroy(&frame);
    if (!code && !e->frames) code = cli_error(e->cli, CLI_FAILED, "%s: no picture in it", e->cli->input[0]);
    return code;
}

#define FILTERS "dd97 legall53 dd137 haar haar-shift fidelity daub97"

static int take_matrix(struct encode *e, const char *text)
{
    if (!text) return CLI_OK;
    for (const char *at = text;;) {
        int used = 0;
        if (e->options.matrix_count == MATRIX_MOST || sscanf(at, "%d%n", &e->matrix[e->options.matrix_count], &used) != 1)
            return cli_usage(e->cli, "--matrix: '%s', expected whole numbers with commas between", text);
        e->options.matrix_count++;
        at += used;
        if (!*at) break;
        if (*at++ != ',') return cli_usage(e->cli, "--matrix: '%s', expected whole numbers with commas between", text);
    }
    e->options.matrix = e->matrix;
    return CLI_OK;
}

/* The film once, from its beginning. */
static int pass(struct encode *e)
{
    e->frames = 0;
    const tsr_status status = tsr_video_reader_create(e->cli->input[0], &e->read, &e->reader);
    const int code = status == TSR_OK ? encode_all(e) : cli_status(e->cli, status, e->cli->input[0]);
    tsr_video_reader_destroy(&e->reader);
    return code;
}

/* Its statistics stay with e->first, which the second pass copies them from. */
static int first_pass(struct encode *e)
{
    const void *bytes;
    size_t size;
    e->first_pass = 1;
    const int code = pass(e);
    e->first_pass = 0;
    if (code) return code;
    tsr_status status = tsr_dirac_encoder_end(e->first, &bytes, &size);
    if (status == TSR_OK) status = tsr_dirac_encoder_statistics(e->first, &e->options.statistics, &e->options.statistics_count);
    return status == TSR_OK ? CLI_OK : cli_status(e->cli, status, e->cli->input[0]);
}

static int run(cli_call *cli, int argc, char **argv)
{
    struct encode e = { .cli = cli, .options = TSR_DIRAC_ENCODE_OPTIONS, .read = TSR_VIDEO_READ_OPTIONS };
    int coding = 0, wavelet = 0, wavelet_given = 0, inter_wavelet = 0, inter_wavelet_given = 0, wavelet_horizontal = 0, horizontal_given = 0;
    int quantiser = 0, quantiser_given = 0, preset = 0, precision = 0, precision_given = 0;
    int32_t passes = 1;
    const char *block = NULL, *matrix = NULL;
    double fps = 0;
    int used = 0;
    const cli_option options[] = {
        CLI_OUTPUT_OPTION(e.output),
        { .name = "coding",
          .type = CLI_CHOICE,
          .value = &coding,
          .argument = "NAME",
          .help = "slices (VC-2), Dirac's core syntax with one of its coders, or with one of tessera's own that no other program reads (statistics)",
          .choices = "high-quality low-delay arithmetic variable statistics" },
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
          .type = CLI_BYTES,
          .value = &e.options.picture_bytes,
          .argument = "BYTES",
          .help = "of slices in each picture (default: a fifth of the samples' bytes)",
          .lower = 1,
          .upper = 4294967296.0 },
        { .name = "wavelet",
          .type = CLI_CHOICE,
          .value = &wavelet,
          .given = &wavelet_given,
          .argument = "NAME",
          .help = "filter (default: legall53 in slices, dd97 in core syntax, haar without loss)",
          .choices = FILTERS },
        { .name = "wavelet-horizontal",
          .type = CLI_CHOICE,
          .value = &wavelet_horizontal,
          .given = &horizontal_given,
          .argument = "NAME",
          .help = "of rows, where it is another one (VC-2 version 3)",
          .choices = FILTERS },
        { .name = "inter-wavelet",
          .type = CLI_CHOICE,
          .value = &inter_wavelet,
          .given = &inter_wavelet_given,
          .argument = "NAME",
          .help = "of predicted pictures (default: legall53, haar without loss)",
          .choices = FILTERS },
        { .name = "depth",
          .type = CLI_INT,
          .value = &e.options.depth,
          .argument = "N",
          .help = "levels of the transform (default 3, in core syntax and without loss 4)",
          .lower = 1,
          .upper = 6 },
        { .name = "depth-horizontal",
          .type = CLI_INT,
          .value = &e.options.depth_horizontal,
          .argument = "N",
          .help = "more levels of rows alone (VC-2 version 3)",
          .lower = 0,
          .upper = 4 },
        { .name = "matrix",
          .type = CLI_TEXT,
          .value = &matrix,
          .argument = "N,N,...",
          .help = "quantisation matrix of slices: approximation, then HL, LH, HH of each level from the coarsest" },
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
        { .name = "bit-rate",
          .type = CLI_COUNT,
          .value = &e.options.bit_rate,
          .argument = "BITS",
          .help = "a second: quantisers follow it",
          .lower = 1,
          .upper = 1099511627776.0 },
        { .name = "buffer",
          .type = CLI_COUNT,
          .value = &e.options.buffer_bits,
          .argument = "BITS",
          .help = "of the decoder, which no picture empties (default: a second)",
          .lower = 1,
          .upper = 17592186044416.0 },
        { .name = "constant-rate", .type = CLI_FLAG, .value = &e.options.constant_rate, .help = "what pictures leave of the rate is padding" },
        { .name = "passes",
          .type = CLI_INT,
          .value = &passes,
          .argument = "N",
          .help = "2: the film is read twice, the rate is spread over all of it",
          .lower = 1,
          .upper = 2 },
        { .name = "preset",
          .type = CLI_CHOICE,
          .value = &preset,
          .argument = "NAME",
          .help = "how hard motion is searched for",
          .choices = "medium fast best" },
        { .name = "group",
          .type = CLI_INT,
          .value = &e.options.group,
          .argument = "N",
          .help = "frames from one intra picture to the next (default 48; 1: all are)",
          .lower = 1,
          .upper = 1048576 },
        { .name = "distance",
          .type = CLI_INT,
          .value = &e.options.distance,
          .argument = "N",
          .help = "frames from one forward reference to the next (default 3)",
          .lower = 1,
          .upper = 8 },
        { .name = "block",
          .type = CLI_TEXT,
          .value = &block,
          .argument = "LENGTH,SEPARATION",
          .help = "of the blocks of motion in luma samples (default 12,8)" },
        { .name = "precision",
          .type = CLI_INT,
          .value = &precision,
          .given = &precision_given,
          .argument = "N",
          .help = "of vectors: 0 samples, 1 halves, 2 quarters (default), 3 eighths",
          .lower = 0,
          .upper = 3 },
        { .name = "perceptual",
          .type = CLI_INT,
          .value = &e.options.perceptual,
          .argument = "N",
          .help = "0 (default: least error) to 100: finer where the eye sees more",
          .lower = 0,
          .upper = 100 },
        { .name = "compatible", .type = CLI_FLAG, .value = &e.options.compatible, .help = "nothing that FFmpeg's decoder gets wrong" },
        { .name = "no-scenes", .type = CLI_FLAG, .value = &e.options.no_scenes, .help = "changes of scene begin no group" },
        { .name = "checksum",
          .type = CLI_FLAG,
          .value = &e.options.checksum,
          .help = "the MD5 of each picture in the stream (core syntax, and lossless slices)" },
        { .name = "report", .type = CLI_TEXT, .value = &e.report_path, .argument = "FILE", .help = "a table (CSV) of pictures, with their PSNR" },
        { .name = "fields", .type = CLI_FLAG, .value = &e.options.fields, .help = "each field of an interlaced film is a picture" },
        { .name = "rate",
          .type = CLI_REAL,
          .value = &fps,
          .argument = "FPS",
          .help = "frames a second (default: of the film, or 25)",
          .lower = 0.001,
          .upper = 1000 },
        { .name = "level",
          .type = CLI_INT,
          .value = &e.options.level,
          .argument = "N",
          .help = "of VC-2, which the film and the stream must keep to: 1 to 7, 64 to 66 (default: none); colours become those of its format",
          .lower = 0,
          .upper = 66 },
        { .name = "ahead",
          .type = CLI_INT,
          .value = &e.options.ahead,
          .argument = "N",
          .help = "high quality: pictures that a GPU codes together (default 1)",
          .lower = 1,
          .upper = 16 },
        { .name = "memory-limit",
          .type = CLI_BYTES,
          .value = &e.read.memory_limit,
          .argument = "BYTES",
          .help = "of a frame",
          .lower = 1,
          .upper = 9e18 },
        { 0 },
    };
    int code = cli_parse(cli, options, 1, 1, argc, argv);
    if (code >= 0) return code;
    e.options.coding = (tsr_dirac_coding)coding;
    e.options.preset = (tsr_dirac_preset)preset;
    if (wavelet_given) e.options.wavelet = wavelet + 1;
    if (inter_wavelet_given) e.options.inter_wavelet = inter_wavelet + 1;
    if (horizontal_given) e.options.wavelet_horizontal = wavelet_horizontal + 1;
    if (quantiser_given) e.options.quantiser = quantiser + 1;
    if (precision_given) e.options.precision = precision + 1;
    if (fps > 0) {
        e.options.rate[0] = (int32_t)(fps * 1000 + 0.5);
        e.options.rate[1] = 1000;
    }
    if (passes == 2 && !e.options.bit_rate) return cli_usage(cli, "--passes: needs --bit-rate");
    if (passes == 2 && !strcmp(cli->input[0], "-")) return cli_usage(cli, "--passes: standard input can be read once, expected a file");
    if (block && sscanf(block, "%d,%d%n", &e.options.block[0], &e.options.block[2], &used) >= 1 && !block[used]) block = NULL;
    if (block) return cli_usage(cli, "--block: '%s', expected LENGTH,SEPARATION", block);
    code = take_matrix(&e, matrix);
    if (!code) code = cli_check_output(cli, e.output);
    if (!code && e.report_path) code = cli_check_option(cli, "report", e.report_path);
    if (!code) code = cli_context(cli, &e.context);
    if (!code && passes == 2) code = first_pass(&e);
    if (e.report_path) {
        e.options.picture = picture;
        e.options.user = &e;
    }
    if (!code) code = pass(&e);
    if (!code) {
        tsr_status status = tsr_dirac_writer_end(e.writer);
        e.bytes = tsr_dirac_writer_bytes(e.writer);
        if (status == TSR_OK) status = tsr_dirac_writer_finish(&e.writer);
        if (status != TSR_OK) code = cli_status(cli, status, e.output);
    }
    if (!code && e.failed) code = cli_error(cli, CLI_FAILED, "out of memory");
    if (!code && e.report_path) code = cli_write_text(cli, e.report_path, e.report);
    if (!code) cli_note(cli, "%lld frames, %lld bytes", (long long)e.frames, (long long)e.bytes);
    tsr_dirac_writer_destroy(&e.writer);
    tsr_dirac_encoder_destroy(&e.first);
    tsr_context_destroy(&e.context);
    free(e.report);
    return code;
}

const cli_verb verb_encode = { "encode", "[options] FILM -o STREAM", "Encode a film as a VC-2 or Dirac stream",
                               "  tessera make film-balls -o film.y4m\n"
                               "  tessera encode film.y4m --picture-bytes 30000 -o film.vc2\n"
                               "  tessera encode film.y4m --coding arithmetic --bit-rate 500000 -o film.drc\n"
                               "  tessera decode film.vc2 -o decoded.y4m\n",
                               run };
