#include <stdlib.h>
#include <string.h>

#include "cli.h"

enum { PIECE = 1 << 20, PACKET = 1400, FLIP_EVERY = 20000, LOSE_EVERY = 60000, UNTOUCHED = 64 };
/* bytes: of a lost packet at most; between two events, on average; at the beginning */

struct transcode {
    cli_call *cli;
    const char *output;
    tsr_dirac_transcode_options options;
    tsr_dirac_sink *sink;
    int64_t bytes, flipped, lost, losing;
    int64_t seed;
    int damage;
    uint64_t random;
    unsigned char *held; /* bytes that are damaged nowhere as yet: a small stream has one place all the same */
    size_t held_size;
};

static uint64_t draw(struct transcode *t) /* SplitMix64 (Steele, Lea, Flood 2014); tools see the public headers alone, core/mix.h is none of them */
{
    uint64_t z = t->random += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* --damage: bits turn round and runs of bytes are lost, at places that the seed decides. The first sequence header stays. */
static size_t spoil(struct transcode *t, const unsigned char *from, size_t size, unsigned char *to)
{
    size_t kept = 0;
    for (size_t k = 0; k < size; k++) {
        const uint64_t dice = draw(t);
        unsigned char byte = from[k];
        if (t->bytes + (int64_t)k >= UNTOUCHED && !t->losing && dice % LOSE_EVERY == 1) t->losing = 1 + (int64_t)(dice >> 32) % PACKET;
        if (t->losing) {
            t->losing--;
            t->lost++;
            continue;
        }
        if (t->bytes + (int64_t)k >= UNTOUCHED && dice % FLIP_EVERY == 0) {
            byte = (unsigned char)(byte ^ 1u << (dice >> 40 & 7));
            t->flipped++;
        }
        to[kept++] = byte;
    }
    return kept;
}

static tsr_status write_held(struct transcode *t)
{
    const tsr_status status = t->held_size ? tsr_dirac_sink_write(t->sink, t->held, t->held_size) : TSR_OK;
    t->held_size = 0;
    return status;
}

/* Bytes are held until the first damage. */
static tsr_status write_spoiled(struct transcode *t, const unsigned char *bytes, size_t size)
{
    if (size > SIZE_MAX - t->held_size) return TSR_ERROR_MEMORY;
    unsigned char *larger = (unsigned char *)realloc(t->held, t->held_size + size);
    if (!larger) return TSR_ERROR_MEMORY;
    t->held = larger;
    t->held_size += spoil(t, bytes, size, larger + t->held_size);
    return t->flipped || t->lost ? write_held(t) : TSR_OK;
}

/* What is still held is all of a small stream: one bit turns round. */
static tsr_status spoil_held(struct transcode *t)
{
    if (!t->held_size) return TSR_OK;
    const size_t first = t->held_size / 2 < UNTOUCHED ? t->held_size / 2 : UNTOUCHED;
    const uint64_t dice = draw(t);
    t->held[first + (size_t)(dice >> 8) % (t->held_size - first)] ^= (unsigned char)(1u << (dice & 7));
    t->flipped++;
    return write_held(t);
}

static tsr_status write_bytes(void *user, const void *bytes, size_t size)
{
    struct transcode *t = (struct transcode *)user;
    const tsr_status status = t->damage && size ? write_spoiled(t, (const unsigned char *)bytes, size) : tsr_dirac_sink_write(t->sink, bytes, size);
    t->bytes += (int64_t)size;
    return status;
}

static int one_input(struct transcode *t, tsr_dirac_transcoder *transcoder, const char *path, int64_t *pictures)
{
    tsr_dirac_source *source = NULL;
    char *piece = (char *)malloc(PIECE);
    size_t got = 1;
    int code = piece ? CLI_OK : cli_error(t->cli, CLI_FAILED, "out of memory");
    tsr_status status = code ? TSR_OK : tsr_dirac_source_create(path, &source);
    if (status != TSR_OK) code = cli_status(t->cli, status, path);
    const tsr_progress progress = cli_progress(t->cli);
    while (!code && got) {
        status = tsr_dirac_source_read(source, piece, PIECE, &got);
        if (status == TSR_OK) status = got ? tsr_dirac_transcoder_push(transcoder, piece, got) : tsr_dirac_transcoder_end(transcoder, pictures);
        if (status != TSR_OK) code = cli_status(t->cli, status, path);
        if (!code && progress.report && progress.report(progress.user, -1, "copying")) code = cli_error(t->cli, CLI_FAILED, "cancelled");
    }
    cli_progress_end(t->cli);
    tsr_dirac_source_destroy(&source);
    free(piece);
    return code;
}

static int run(cli_call *cli, int argc, char **argv)
{
    struct transcode t = { .cli = cli, .options = TSR_DIRAC_TRANSCODE_OPTIONS };
    tsr_dirac_transcoder *transcoder = NULL;
    int64_t pictures = 0;
    const cli_option options[] = {
        CLI_OUTPUT_OPTION(t.output),
        { .name = "first",
          .type = CLI_COUNT,
          .value = &t.options.first,
          .argument = "N",
          .help = "pictures of each stream to leave out, in coded order; the cut is at the intra picture at or before that one",
          .lower = 0,
          .upper = 9e18 },
        { .name = "count",
          .type = CLI_COUNT,
          .value = &t.options.count,
          .argument = "N",
          .help = "pictures to take from there (default: all)",
          .lower = 1,
          .upper = 9e18 },
        { .name = "fragment",
          .type = CLI_INT,
          .value = &t.options.fragment,
          .argument = "N",
          .help = "slice-coded pictures become fragments of so many slices",
          .lower = 1,
          .upper = 65535 },
        { .name = "whole", .type = CLI_FLAG, .value = &t.options.whole, .help = "fragments become whole pictures" },
        { .name = "drop", .type = CLI_FLAG, .value = &t.options.drop, .help = "leave out auxiliary data and padding" },
        { .name = "damage",
          .type = CLI_COUNT,
          .value = &t.seed,
          .given = &t.damage,
          .argument = "SEED",
          .help = "spoil the result for tests of decoders: bits (about one in 20 kB, but at least one) and packets, at places that the seed decides",
          .lower = 0,
          .upper = 9e18 },
        { 0 },
    };
    int code = cli_parse(cli, options, 1, 64, argc, argv);
    if (code >= 0) return code;
    t.random = (uint64_t)t.seed;
    code = cli_check_output(cli, t.output);
    if (!code) {
        const tsr_write_options write = cli_write_options(cli);
        tsr_status status = tsr_dirac_sink_create(t.output, &write, &t.sink);
        if (status == TSR_OK) status = tsr_dirac_transcoder_create(&t.options, write_bytes, &t, &transcoder);
        if (status != TSR_OK) code = cli_status(cli, status, NULL);
    }
    for (int k = 0; k < cli->inputs && !code; k++) code = one_input(&t, transcoder, cli->input[k], &pictures);
    if (!code && !pictures) code = cli_error(cli, CLI_FAILED, "%s: no picture in it", cli->input[0]);
    if (!code) {
        const tsr_status status = spoil_held(&t);
        if (status != TSR_OK) code = cli_status(cli, status, NULL);
    }
    if (!code) {
        const tsr_status status = tsr_dirac_sink_finish(&t.sink, t.damage || t.options.fragment ? 0 : pictures);
        if (status != TSR_OK) code = cli_status(cli, status, NULL);
    }
    tsr_dirac_sink_destroy(&t.sink);
    free(t.held);
    if (!code) cli_note(cli, "%lld pictures, %lld bytes", (long long)pictures, (long long)(t.bytes - t.lost));
    if (!code && t.damage)
        cli_note(cli, "%lld bit%s turned round, %lld bytes lost", (long long)t.flipped, t.flipped == 1 ? "" : "s", (long long)t.lost);
    tsr_dirac_transcoder_destroy(&transcoder);
    return code;
}

const cli_verb verb_transcode = { "transcode", "[options] STREAM... -o STREAM", "Cut, join and repack Dirac and VC-2 streams without coding anew",
                                  "  tessera make film-balls -o film.y4m\n  tessera encode film.y4m -o film.vc2\n"
                                  "  tessera transcode film.vc2 --first 2 --count 3 --fragment 8 -o part.vc2\n"
                                  "  tessera transcode part.vc2 film.vc2 -o joined.vc2\n",
                                  run };
