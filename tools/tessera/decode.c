#include <stdlib.h>
#include <string.h>

#include "cli.h"

enum { PIECE = 1 << 20, TOGETHER = 1 << 24 /* pictures that a GPU decodes together must be there */, SAID_MOST = 20 };

struct decode {
    cli_call *cli;
    const char *output;
    tsr_dirac_decoder *decoder;
    tsr_video_writer *writer;
    tsr_video_write_options write;
    int64_t frames, damaged, bytes;
    int64_t events;
    int profile, synchronise, together;
    tsr_dirac_profile stages;
};

static void damage(void *user, int64_t offset, const char *text)
{
    struct decode *d = (struct decode *)user;
    d->events++;
    if (d->events <= SAID_MOST) cli_note(d->cli, "at byte %lld: %s", (long long)offset, text);
    if (d->events == SAID_MOST + 1) cli_note(d->cli, "more of it is not said");
}

static int begin(struct decode *d, const tsr_video_frame *frame)
{
    tsr_dirac_sequence sequence = TSR_DIRAC_SEQUENCE;
    tsr_status status = tsr_dirac_decoder_sequence(d->decoder, &sequence);
    d->write.chroma = frame->format.chroma;
    d->write.bits = frame->format.bits;
    d->write.siting = frame->format.siting;
    d->write.matrix = frame->format.matrix;
    d->write.range = frame->format.range;
    d->write.aspect[0] = sequence.aspect[0];
    d->write.aspect[1] = sequence.aspect[1];
    d->write.interlacing = sequence.interlaced ? sequence.top_field_first ? 't' : 'b' : 'p';
    if (status == TSR_OK)
        status =
            tsr_video_writer_create(d->output, frame->format.width, frame->format.height, sequence.rate[0], sequence.rate[1], &d->write, &d->writer);
    return status == TSR_OK ? CLI_OK : cli_status(d->cli, status, d->output);
}

static int take(struct decode *d, const tsr_video_frame *frame, const tsr_dirac_frame_info *info)
{
    int code = d->writer ? CLI_OK : begin(d, frame);
    if (!code) {
        const tsr_status status = tsr_video_writer_append_frame(d->writer, frame);
        if (status != TSR_OK) code = cli_status(d->cli, status, d->output);
    }
    d->frames++;
    d->damaged += info->damaged;
    d->bytes += info->bytes;
    return code;
}

/* All frames that the bytes so far give. */
static int drain(struct decode *d, tsr_video_frame *frame)
{
    tsr_dirac_frame_info info = TSR_DIRAC_FRAME_INFO;
    int code = CLI_OK, more = 1;
    while (!code && more) {
        const tsr_status status = tsr_dirac_decoder_next(d->decoder, frame, &info, &more);
        if (status != TSR_OK) code = cli_status(d->cli, status, d->cli->input[0]);
        else if (more) code = take(d, frame, &info);
    }
    return code;
}

static int read_stream(struct decode *d, tsr_dirac_source *source)
{
    const tsr_progress progress = cli_progress(d->cli);
    tsr_video_frame frame = { 0 };
    const size_t size = d->together ? TOGETHER : PIECE;
    char *piece = (char *)malloc(size);
    size_t got = 1;
    int code = piece ? CLI_OK : cli_error(d->cli, CLI_FAILED, "out of memory");
    while (!code && got) {
        tsr_status status = tsr_dirac_source_read(source, piece, size, &got);
        if (status == TSR_OK) status = got ? tsr_dirac_decoder_push(d->decoder, piece, got) : tsr_dirac_decoder_end(d->decoder);
        if (status != TSR_OK) code = cli_status(d->cli, status, d->cli->input[0]);
        if (!code) code = drain(d, &frame);
        if (!code && progress.report && progress.report(progress.user, -1, "decoding")) code = cli_error(d->cli, CLI_FAILED, "cancelled");
    }
    cli_progress_end(d->cli);
    tsr_video_frame_destroy(&frame);
    free(piece);
    return code;
}

static const char *const stage_names[TSR_DIRAC_STAGES] = { "motion decode",     "motion render", "residual decode",
                                                           "wavelet transform", "combine",       "upsample" };
static const char *const kind_names[3] = { "intra", "one reference", "two references" };

/* Seconds of each stage, milliseconds of it a picture. */
static void show_stages(const struct decode *d)
{
    const tsr_dirac_profile *p = &d->stages;
    double all = 0;
    for (int stage = 0; stage < TSR_DIRAC_STAGES; stage++)
        for (int kind = 0; kind < 3; kind++) all += p->seconds[stage][kind];
    if (d->cli->globals.json && strcmp(d->output, "-")) {
        json_open("stages", '[');
        for (int stage = 0; stage < TSR_DIRAC_STAGES; stage++)
            for (int kind = 0; kind < 3; kind++) {
                if (!p->pictures[kind]) continue;
                json_open(NULL, '{');
                json_text("stage", stage_names[stage]);
                json_text("pictures_of", kind_names[kind]);
                json_int("pictures", p->pictures[kind]);
                json_real("seconds", p->seconds[stage][kind]);
                json_close('}');
            }
        json_close(']');
        return;
    }
    cli_note(d->cli, "%-18s %10s %6s   ms a picture: intra (%lld), one reference (%lld), two (%lld)", "stage", "seconds", "share",
             (long long)p->pictures[0], (long long)p->pictures[1], (long long)p->pictures[2]);
    for (int stage = 0; stage < TSR_DIRAC_STAGES; stage++) {
        double sum = 0, ms[3];
        for (int kind = 0; kind < 3; kind++) {
            sum += p->seconds[stage][kind];
            ms[kind] = p->pictures[kind] ? 1e3 * p->seconds[stage][kind] / (double)p->pictures[kind] : 0;
        }
        cli_note(d->cli, "%-18s %10.4f %5.1f%%   %9.3f %9.3f %9.3f", stage_names[stage], sum, all > 0 ? 100 * sum / all : 0, ms[0], ms[1], ms[2]);
    }
    cli_note(d->cli, "%-18s %10.4f", "all stages", all);
}

static void show(const struct decode *d)
{
    if (!d->cli->globals.json || !strcmp(d->output, "-")) {
        cli_note(d->cli, "%lld frames from %lld bytes%s", (long long)d->frames, (long long)d->bytes, d->damaged ? "" : ", none damaged");
        if (d->damaged) cli_note(d->cli, "%lld of them are damaged", (long long)d->damaged);
        if (d->profile) show_stages(d);
        return;
    }
    json_open(NULL, '{');
    json_int("frames", d->frames);
    json_int("damaged", d->damaged);
    json_int("bytes", d->bytes);
    if (d->profile) show_stages(d);
    json_close('}');
}

static int run(cli_call *cli, int argc, char **argv)
{
    struct decode d = { .cli = cli, .write = TSR_VIDEO_WRITE_OPTIONS, .stages = TSR_DIRAC_PROFILE };
    tsr_dirac_decode_options o = TSR_DIRAC_DECODE_OPTIONS;
    tsr_context *context = NULL;
    const cli_option options[] = {
        CLI_OUTPUT_OPTION(d.output),
        { .name = "format",
          .type = CLI_TEXT,
          .value = &d.write.format,
          .argument = "NAME",
          .help = "of the film: y4m, png, ffmpeg (default: by extension; y4m to standard output)" },
        { .name = "pictures",
          .type = CLI_FLAG,
          .value = &o.pictures,
          .help = "pictures as they are coded: of interlaced streams each field by itself" },
        { .name = "strict", .type = CLI_FLAG, .value = &o.strict, .help = "damage is an error; otherwise it is concealed and said" },
        { .name = "long-length",
          .type = CLI_FLAG,
          .value = &o.long_length,
          .help = "low-delay streams of FFmpeg and Schroedinger whose slices have 2^n bytes" },
        { .name = "ahead",
          .type = CLI_INT,
          .value = &o.ahead,
          .argument = "N",
          .help = "pictures of slices that a GPU decodes together (default 1)",
          .lower = 1,
          .upper = 16 },
        { .name = "device-arithmetic",
          .type = CLI_INT,
          .value = &o.arithmetic,
          .argument = "N",
          .help = "pictures whose arithmetic codes a GPU decodes together (default: threads of the CPU decode them)",
          .lower = 1,
          .upper = 64 },
        { .name = "profile",
          .type = CLI_FLAG,
          .value = &d.profile,
          .help = "a table of the time that each stage takes, the device waited for after each" },
        { .name = "profile-running", .type = CLI_FLAG, .value = &d.synchronise, .help = "the same as the work runs: what waits has the time" },
        { .name = "memory-limit",
          .type = CLI_BYTES,
          .value = &o.memory_limit,
          .argument = "BYTES",
          .help = "of pictures",
          .lower = 1,
          .upper = 9e18 },
        { 0 },
    };
    int code = cli_parse(cli, options, 1, 1, argc, argv);
    if (code >= 0) return code;
    code = cli_check_output(cli, d.output);
    if (!d.write.format && d.output && !strcmp(d.output, "-")) d.write.format = "y4m";
    d.write.overwrite = cli->globals.force;
    if (!code) {
        const tsr_status status = tsr_video_check_output(d.output, &d.write);
        if (status != TSR_OK) code = cli_status(cli, status, d.output);
    }
    if (!code) code = cli_context(cli, &context);
    d.stages.synchronise = d.profile;
    d.profile |= d.synchronise;
    if (d.profile) o.profile = &d.stages;
    d.together = o.arithmetic > 0;
    o.damage = damage;
    o.user = &d;
    tsr_dirac_source *source = NULL;
    if (!code) {
        tsr_status status = tsr_dirac_source_create(cli->input[0], &source);
        if (status == TSR_OK) status = tsr_dirac_decoder_create(context, &o, &d.decoder);
        code = status == TSR_OK ? read_stream(&d, source) : cli_status(cli, status, NULL);
    }
    if (!code && !d.frames) code = cli_error(cli, CLI_FAILED, "%s: no picture in it", cli->input[0]);
    if (!code) {
        const tsr_status status = tsr_video_writer_finish(&d.writer);
        if (status != TSR_OK) code = cli_status(cli, status, d.output);
    }
    if (!code) show(&d);
    tsr_dirac_source_destroy(&source);
    tsr_video_writer_destroy(&d.writer);
    tsr_dirac_decoder_destroy(&d.decoder);
    tsr_context_destroy(&context);
    return code;
}

const cli_verb verb_decode = { "decode", "[options] STREAM -o FILM", "Decode a VC-2 or Dirac stream to a film",
                               "  tessera make film-balls -o film.y4m\n  tessera encode film.y4m -o film.vc2\n"
                               "  tessera decode film.vc2 -o decoded.y4m\n",
                               run };
