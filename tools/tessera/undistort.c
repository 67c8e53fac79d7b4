#include <string.h>

#include "films.h"

struct undistort {
    cli_call *cli;
    tsr_lens lens;
    tsr_lens_search_options search;
    tsr_lens_warp_options warp;
    tsr_board_options board;
    const char *output, *mask;
    cli_frames frames;
    cli_film film;
    int find, make_board, criterion_given, bins_given;
    double range[2];
    int range_given;
};

/* To the film or picture `film`, or, where that is NULL, the mask to its file. */
static int write_volume(struct undistort *u, const tsr_volume *volume, int32_t channels, cli_film *film)
{
    tsr_volume *host = NULL;
    tsr_image image = { 0 };
    cli_film mask = { .path = u->mask };
    int code = CLI_OK;
    const tsr_size3 n = tsr_volume_size(volume);
    tsr_status status = tsr_volume_copy(volume, NULL, &host);
    if (status == TSR_OK) status = tsr_image_create((int32_t)(n.x / channels), (int32_t)n.y, channels, &image);
    if (status == TSR_OK) {
        const uint8_t *from = (const uint8_t *)tsr_volume_data_const(host);
        for (int64_t i = 0; i < n.x * n.y; i++) image.pixels[i] = !film ? (uint8_t)(from[i] * 255) : from[i];
        code = cli_film_append(u->cli, film ? film : &mask, &image, &u->frames);
    }
    tsr_image_destroy(&image);
    tsr_volume_destroy(&host);
    return status == TSR_OK ? code : cli_status(u->cli, status, film ? u->output : u->mask);
}

/* The grey values that the search looks at. */
static tsr_status grey_of(tsr_context *context, const tsr_image *image, tsr_volume **grey)
{
    tsr_image own = { 0 };
    tsr_status status = tsr_image_create(image->width, image->height, 1, &own);
    for (int64_t i = 0; i < (int64_t)image->width * image->height && status == TSR_OK; i++) {
        const uint8_t *p = image->pixels + i * image->channels;
        own.pixels[i] = image->channels > 1 ? (uint8_t)((77 * p[0] + 150 * p[1] + 29 * p[2] + 128) >> 8) : p[0];
    }
    if (status == TSR_OK) status = tsr_frames_upload(context, &own, 1, grey);
    tsr_image_destroy(&own);
    return status;
}

static void show(const struct undistort *u, const tsr_lens_found *found, double seconds)
{
    const double bend[2] = { found->lines ? found->bend_before : 0, found->lines ? found->bend : 0 };
    if (u->cli->globals.json) {
        json_open(NULL, '{');
        json_real("k1", found->lens.k1);
        json_real("k2", found->lens.k2);
        json_real("shift_x", found->lens.shift[0]);
        json_real("shift_y", found->lens.shift[1]);
        json_real("score", found->score);
        json_real("peak", found->peak);
        json_bool("at_edge", found->at_edge);
        json_int("lines", found->lines);
        json_real("bend_before", bend[0]);
        json_real("bend", bend[1]);
        json_bool("straighter", found->straighter);
        json_real("seconds", seconds);
        json_open("candidates", '[');
        for (int32_t i = 0; i < found->candidates; i++) {
            json_open(NULL, '{');
            json_real("k1", found->candidate[i].k1);
            json_real("score", found->candidate[i].score);
            json_int("votes", (int64_t)found->candidate[i].votes);
            json_close('}');
        }
        json_close(']');
        json_close('}');
    } else {
        char second[32] = "";
        if (u->search.quartic) snprintf(second, sizeof second, " k2 %.4f", found->lens.k2);
        printf("k1 %.5f%s, centre moved by %.4f %.4f half-widths, peak %.3f, %d candidates in %.3f s; bend of %lld lines %.3f, was %.3f pixels\n",
               found->lens.k1, second, found->lens.shift[0], found->lens.shift[1], found->peak, found->candidates, seconds, (long long)found->lines,
               bend[1], bend[0]);
    }
    if (found->at_edge)
        cli_note(u->cli, "the best candidate lies at the edge of the range: a k1 better than %.5f may lie outside, see --range", found->lens.k1);
    if (found->peak < 1.05) cli_note(u->cli, "the score hardly depends on k1 (peak %.3f): are there straight lines in the picture?", found->peak);
}

static int search(struct undistort *u, tsr_context *context, const tsr_image *image)
{
    tsr_volume *grey = NULL;
    tsr_lens_found found = { 0 };
    const double start = cli_seconds();
    tsr_status status = grey_of(context, image, &grey);
    u->search.lens = u->lens;
    u->search.progress = cli_progress(u->cli);
    if (status == TSR_OK) status = tsr_lens_search(context, grey, &u->search, &found);
    if (status == TSR_ERROR_STATE && !u->criterion_given) { /* too few lines: then by directions, to be looked at, not to be written */
        u->search.criterion = TSR_LENS_CONCENTRATION;
        status = tsr_lens_search(context, grey, &u->search, &found);
    }
    cli_progress_end(u->cli);
    int code = status == TSR_OK ? CLI_OK : cli_status(u->cli, status, u->cli->input[0]);
    if (!code) {
        if (!u->output || strcmp(u->output, "-")) show(u, &found, cli_seconds() - start);
        u->lens = found.lens;
    }
    if (!code && u->output && !found.straighter)
        code = found.lines < 1
                   ? cli_error(u->cli, CLI_DIFFERS, "%s: no straight lines, by which the lens could be judged: %s is not written", u->cli->input[0],
                               u->output)
                   : cli_error(u->cli, CLI_DIFFERS,
                               "%s: its lines (%lld, together %.0f pixels long) would not be straighter: bend %.3f, now %.3f pixels: %s is not "
                               "written",
                               u->cli->input[0], (long long)found.lines, found.line_length, found.bend, found.bend_before, u->output);
    tsr_lens_found_destroy(&found);
    tsr_volume_destroy(&grey);
    return code;
}

static int work_frame(struct undistort *u, tsr_context *context)
{
    const tsr_image image = u->frames.image;
    tsr_volume *frames = NULL, *warped = NULL, *mask = NULL;
    const int with_mask = u->mask && u->frames.count == 1; /* all frames have the same */
    u->warp.channels = image.channels;
    tsr_status status = tsr_frames_upload(context, &image, 1, &frames);
    if (status == TSR_OK) status = tsr_lens_warp(context, frames, &u->lens, &u->warp, &warped, with_mask ? &mask : NULL);
    int code = status == TSR_OK ? CLI_OK : cli_status(u->cli, status, u->frames.name);
    if (!code) code = write_volume(u, warped, image.channels, &u->film);
    if (!code && mask) code = write_volume(u, mask, 1, NULL);
    tsr_volume_destroy(&mask);
    tsr_volume_destroy(&warped);
    tsr_volume_destroy(&frames);
    return code;
}

/* The lens is looked for in the first frame. */
static int work(struct undistort *u)
{
    tsr_context *context = NULL;
    int more = 1, code = cli_context(u->cli, &context);
    while (!code && more) {
        code = cli_frames_next(&u->frames, &more);
        if (!code && more)
            code = cli_film_begin(u->cli, &u->film, u->frames.image.width, u->frames.image.height, u->frames.image.channels, &u->frames);
        if (!code && more && u->find && u->frames.count == 1) code = search(u, context, &u->frames.image);
        if (!code && more && u->output) code = work_frame(u, context);
        if (!u->output) break;
    }
    if (!code) code = cli_frames_any(&u->frames);
    code = cli_film_finish(u->cli, &u->film, code);
    cli_frames_destroy(&u->frames);
    tsr_context_destroy(&context);
    return code;
}

static int work_board(struct undistort *u)
{
    tsr_image image = { 0 };
    const tsr_write_options write = cli_image_options(u->cli, u->output);
    u->board.lens = u->lens;
    tsr_status status = tsr_board_make(&u->board, &image);
    if (status != TSR_OK) return cli_status(u->cli, status, NULL);
    status = tsr_image_write(&image, u->output, &write);
    tsr_image_destroy(&image);
    return status == TSR_OK ? CLI_OK : cli_status(u->cli, status, u->output);
}

/* Usage errors: options that what is asked for does not use. */
static int check_given(const struct undistort *u, const cli_option *options, const int *given)
{
    static const struct {
        const char *name;
        enum { FINDS, BOARDS, WARPS } kind;
    } own[] = { { "find", FINDS },     { "criterion", FINDS }, { "range", FINDS },  { "step", FINDS },
                { "bins", FINDS },     { "threshold", FINDS }, { "centre", FINDS }, { "quartic", FINDS },
                { "degrees", BOARDS }, { "square", BOARDS },   { "noise", BOARDS }, { "seed", BOARDS },
                { "sampling", WARPS }, { "scale", WARPS },     { "add", WARPS },    { "mask", WARPS } };
    for (int k = 0; options[k].name; k++) {
        for (size_t i = 0; given[k] && i < sizeof own / sizeof *own; i++) {
            if (strcmp(own[i].name, options[k].name)) continue;
            if (own[i].kind == BOARDS && !u->make_board) return cli_usage(u->cli, "--%s: without effect without --board", own[i].name);
            if (own[i].kind != BOARDS && u->make_board) return cli_usage(u->cli, "--%s: without effect on --board", own[i].name);
            if (own[i].kind == FINDS && !u->find) return cli_usage(u->cli, "--%s: without effect without --find", own[i].name);
            if (own[i].kind == WARPS && !u->output) return cli_usage(u->cli, "--%s: expected --output as well", own[i].name);
        }
    }
    return CLI_OK;
}

static int run(cli_call *cli, int argc, char **argv)
{
    struct undistort u = {
        .cli = cli, .search = TSR_LENS_SEARCH_OPTIONS, .warp = TSR_LENS_WARP_OPTIONS, .board = TSR_BOARD_OPTIONS, .frames = CLI_FRAMES(cli)
    };
    int model = 0, criterion = 0, sampling = 0, k1_given = 0;
    int64_t seed = 0;
    cli_option options[] = {
        CLI_OUTPUT_OPTION(u.output),
        { .name = "find", .type = CLI_FLAG, .value = &u.find, .help = "find k1 by the directions of the contours" },
        { .name = "model", .type = CLI_CHOICE, .value = &model, .argument = "NAME", .help = "of the lens", .choices = "division poly" },
        { .name = "k1",
          .type = CLI_REAL,
          .value = &u.lens.k1,
          .argument = "K",
          .help = "radii in half-widths",
          .lower = -10,
          .upper = 10,
          .given = &k1_given },
        { .name = "k2", .type = CLI_REAL, .value = &u.lens.k2, .argument = "K", .help = "(poly)", .lower = -10, .upper = 10 },
        { .name = "k3", .type = CLI_REAL, .value = &u.lens.k3, .argument = "K", .help = "(poly)", .lower = -10, .upper = 10 },
        { .name = "p1", .type = CLI_REAL, .value = &u.lens.p1, .argument = "P", .help = "tangential (poly)", .lower = -10, .upper = 10 },
        { .name = "p2", .type = CLI_REAL, .value = &u.lens.p2, .argument = "P", .help = "likewise", .lower = -10, .upper = 10 },
        { .name = "shift-x",
          .type = CLI_REAL,
          .value = &u.lens.shift[0],
          .argument = "S",
          .help = "of the centre, in half-widths",
          .lower = -1,
          .upper = 1 },
        { .name = "shift-y", .type = CLI_REAL, .value = &u.lens.shift[1], .argument = "S", .help = "likewise", .lower = -1, .upper = 1 },
        { .name = "sampling",
          .type = CLI_CHOICE,
          .value = &sampling,
          .argument = "NAME",
          .help = "of the source",
          .choices = "bilinear catmull-rom nearest" },
        { .name = "scale",
          .type = CLI_REAL,
          .value = &u.warp.scale,
          .argument = "S",
          .help = "above 1 shows more of the border",
          .lower = 0.01,
          .upper = 100 },
        { .name = "add", .type = CLI_FLAG, .value = &u.warp.add, .help = "give the picture the distortion instead" },
        { .name = "mask", .type = CLI_TEXT, .value = &u.mask, .argument = "FILE.png", .help = "where the result is known: white" },
        { .name = "criterion",
          .type = CLI_CHOICE,
          .value = &criterion,
          .argument = "NAME",
          .help = "of --find: straight lines (where there are too few: concentration), concentration of directions, or as first published",
          .choices = "lines concentration source",
          .given = &u.criterion_given },
        { .name = "range",
          .type = CLI_RANGE,
          .value = u.range,
          .argument = "K:K",
          .help = "of --find (default -0.15:0.15)",
          .given = &u.range_given },
        { .name = "step",
          .type = CLI_REAL,
          .value = &u.search.step,
          .argument = "K",
          .help = "of --find (default 0.005)",
          .lower = 1e-6,
          .upper = 1 },
        { .name = "bins",
          .type = CLI_INT,
          .value = &u.search.bins,
          .argument = "N",
          .help = "of --criterion concentration (default 90)",
          .lower = 8,
          .upper = 360,
          .given = &u.bins_given },
        { .name = "threshold",
          .type = CLI_REAL,
          .value = &u.search.threshold,
          .argument = "G",
          .help = "of --find: least contrast, grey values per pixel (default 8)",
          .lower = 1e-6,
          .upper = 255 },
        { .name = "centre", .type = CLI_FLAG, .value = &u.search.centre, .help = "--find looks for the centre as well" },
        { .name = "quartic", .type = CLI_FLAG, .value = &u.search.quartic, .help = "--find looks for k2 as well (--model poly)" },
        { .name = "board", .type = CLI_FLAG, .value = &u.make_board, .help = "make a checkerboard seen through the lens instead" },
        { .name = "degrees",
          .type = CLI_REAL,
          .value = &u.board.degrees,
          .argument = "D",
          .help = "by which the board is turned",
          .lower = -360,
          .upper = 360 },
        { .name = "square",
          .type = CLI_REAL,
          .value = &u.board.square,
          .argument = "PIXELS",
          .help = "of the board (default 48)",
          .lower = 1,
          .upper = 16384 },
        { .name = "noise", .type = CLI_REAL, .value = &u.board.noise, .argument = "GREYS", .help = "of the board", .lower = 0, .upper = 255 },
        { .name = "seed", .type = CLI_COUNT, .value = &seed, .argument = "N", .help = "of the noise", .lower = 0, .upper = 9.2e18 },
        { 0 },
    };
    int given[sizeof options / sizeof *options] = { 0 };
    for (size_t k = 0; k < sizeof options / sizeof *options; k++)
        if (!options[k].given) options[k].given = &given[k];
    int code = cli_parse(cli, options, 0, 1, argc, argv);
    if (code >= 0) return code;
    for (size_t k = 0; k < sizeof options / sizeof *options; k++) given[k] = *options[k].given;
    u.lens.model = model ? TSR_LENS_POLY : TSR_LENS_DIVISION;
    u.warp.sampling = (tsr_lens_sampling)sampling;
    u.search.criterion = criterion == 0 ? TSR_LENS_LINES : criterion == 1 ? TSR_LENS_CONCENTRATION : TSR_LENS_SOURCE;
    u.board.seed = (uint64_t)seed;
    if (u.range_given) {
        u.search.lower = u.range[0];
        u.search.upper = u.range[1];
        if (u.search.step == 0) u.search.step = 0.005;
    } else if (u.search.step > 0) {
        u.search.lower = -0.15;
        u.search.upper = 0.15;
    }
    if (cli->inputs != !u.make_board) return cli_usage(cli, "%d images given, expected %s", cli->inputs, u.make_board ? "none with --board" : "one");
    if (u.bins_given && u.find && criterion == 0) return cli_usage(cli, "--bins: of directions, expected --criterion concentration beside it");
    if (u.find && k1_given) return cli_usage(cli, "--k1: expected without --find, which looks for it (see --range)");
    if (!u.output && !u.find) return cli_usage(cli, "nothing to do: expected --output or --find");
    code = check_given(&u, options, given);
    if (code) return code;
    if (u.range_given && !(u.range[0] < u.range[1]))
        return cli_usage(cli, "--range: %g:%g given, expected LOWER:UPPER in rising order", u.range[0], u.range[1]);
    code = cli_film_check(cli, &u.film, u.output, u.make_board || cli_frames_single(cli));
    if (!code && u.mask) code = cli_check_write(cli, u.mask, TSR_FILE_IMAGE, NULL);
    if (code) return code;
    return u.make_board ? work_board(&u) : work(&u);
}

const cli_verb verb_undistort = { "undistort", "[options] IMAGE.png|FILM -o OUTPUT",
                                  "Take a lens's distortion out of an image or film, or find how strong it is",
                                  "  tessera undistort --board --k1 -0.085 --degrees 20 --noise 3 -o board.png\n"
                                  "  tessera undistort board.png --find -o straight.png\n"
                                  "  tessera undistort board.png --k1 -0.085 --sampling catmull-rom --mask known.png -o again.png\n"
                                  "  tessera make picture-board -o board-1.png\n"
                                  "  tessera convert board-%d.png -o film.y4m\n"
                                  "  tessera undistort film.y4m --find -o straight.y4m    # the lens is looked for in the first frame\n",
                                  run };
