#define _POSIX_C_SOURCE 200809L /* open, poll */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "films.h"
#include "regions.h"

struct quadtree {
    cli_call *cli;
    cli_regions regions;
    const char *outline;
    cli_frames frames;
    cli_film film, film_outline;
    int64_t budget;                          /* pixels */
    const char *order, *statistics, *volume; /* tables, and what the second is about */
    int budget_given, ycbcr;
    const char *thresholds;  /* where new ones come from while a film runs */
    int knob;                /* its descriptor, -1: none */
    int grows;               /* it is a file, whose last line may become longer */
    char line[64];           /* of it, so far */
    size_t line_bytes, seen; /* and how much of it was taken for a line at the end of the file */
};

/* The colours of an image as volumes of 0 to 1; alpha is left out. */
static tsr_status channels_of(tsr_context *context, const tsr_image *image, int32_t count, tsr_volume **channel)
{
    const int64_t pixels = (int64_t)image->width * image->height;
    for (int32_t c = 0; c < count; c++) {
        tsr_volume *host = NULL;
        tsr_status status = tsr_volume_create(NULL, TSR_U8, (tsr_size3){ image->width, image->height, 1 }, NULL, &host);
        if (status == TSR_OK) status = tsr_volume_set_scaling(host, 1.0 / 255.0, 0);
        uint8_t *to = status == TSR_OK ? (uint8_t *)tsr_volume_data(host) : NULL;
        for (int64_t i = 0; i < pixels && to; i++) to[i] = image->pixels[i * image->channels + c];
        if (status == TSR_OK) status = tsr_volume_copy(host, context, &channel[c]);
        tsr_volume_destroy(&host);
        if (status != TSR_OK) return status;
    }
    return TSR_OK;
}

/* Colours to Y, Cb, Cr of full range (BT.601) and back; grey pictures stay. */
static tsr_status change_colours(tsr_image *image, int back)
{
    const tsr_video_format format = { .width = image->width, .height = image->height, .chroma = TSR_CHROMA_444, .range = TSR_RANGE_FULL };
    const int64_t pixels = (int64_t)image->width * image->height;
    tsr_video_frame frame;
    tsr_image rgb = { 0 };
    if (image->channels < 3) return TSR_OK;
    tsr_status status = tsr_video_frame_create(&format, &frame);
    if (status == TSR_OK && !back) status = tsr_video_frame_from_image(&frame, image);
    for (int64_t i = 0; i < 3 * pixels && status == TSR_OK; i++) {
        uint8_t *plane = (uint8_t *)frame.plane[i / pixels], *pixel = image->pixels + i % pixels * image->channels + i / pixels;
        if (back) plane[i % pixels] = *pixel;
        else *pixel = plane[i % pixels];
    }
    if (status == TSR_OK && back) status = tsr_video_frame_to_image(&frame, &rgb);
    for (int64_t i = 0; i < pixels && rgb.pixels; i++) memcpy(image->pixels + i * image->channels, rgb.pixels + 3 * i, 3);
    tsr_image_destroy(&rgb);
    tsr_video_frame_destroy(&frame);
    return status;
}

/* Every quad in its mean colour; pixels in none keep theirs. Returns the quads whose colour had to be cut to 0 to 1. */
static int64_t paint(tsr_image *image, const cli_tree *t, int32_t channels)
{
    const int64_t leaves = tsr_region_tree_describe(t->host)->leaves;
    int64_t cut = 0;
    for (int64_t i = 0; i < leaves; i++) {
        const tsr_region_leaf q = tsr_region_leaf_of(tsr_region_tree_leaves(t->host)[i], 2);
        int within = 1;
        for (int32_t c = 0; c < channels; c++) {
            const float mean = t->means[c][i], colour = mean > 0 ? mean < 1 ? mean : 1 : 0; /* NaN is 0 */
            const uint8_t v = (uint8_t)(colour * 255.0f + 0.5f);
            within &= mean > -1e-6f && mean < 1.000001f;
            for (int64_t p = 0; p < q.side * q.side; p++)
                image->pixels[((q.y + p / q.side) * image->width + q.x + p % q.side) * image->channels + c] = v;
        }
        cut += !within;
    }
    return cut;
}

/* The upper and left edges of quads, black and half transparent, so that small ones still show their colour. */
static void outline(tsr_image *image, const cli_tree *t, int32_t channels)
{
    const int64_t leaves = tsr_region_tree_describe(t->host)->leaves;
    for (int64_t i = 0; i < leaves; i++) {
        const tsr_region_leaf q = tsr_region_leaf_of(tsr_region_tree_leaves(t->host)[i], 2);
        for (int64_t p = 0; p < 2 * q.side - 1 && q.side > 1; p++) {
            const int64_t x = p < q.side ? q.x + p : q.x, y = p < q.side ? q.y : q.y + p - q.side + 1;
            for (int32_t c = 0; c < channels; c++) image->pixels[(y * image->width + x) * image->channels + c] /= 3;
        }
    }
}

/* The tree of the picture at hand, which stays for the pixels in no quad. */
static int from_image(struct quadtree *q, tsr_context *context, cli_tree *tree, int32_t *channels, double *seconds)
{
    tsr_volume *channel[4] = { NULL };
    tsr_image *image = &q->frames.image;
    *channels = image->channels >= 3 && q->regions.options.rule != TSR_REGION_CLASSES && !q->regions.options.gradient ? 3 : 1;
    const int code = cli_regions_colour(q->cli, &q->regions, *channels);
    if (code) return code;
    tsr_status status = q->ycbcr ? change_colours(image, 0) : TSR_OK;
    if (status == TSR_OK) status = channels_of(context, image, *channels, channel);
    const double start = cli_seconds();
    if (status == TSR_OK) status = cli_tree_make(context, (const tsr_volume *const *)channel, *channels, &q->regions.options, tree);
    *seconds = cli_seconds() - start;
    for (int c = 0; c < 4; c++) tsr_volume_destroy(&channel[c]);
    return status == TSR_OK ? CLI_OK : cli_status(q->cli, status, q->frames.name);
}

/* The tree of a file; its image is black where no quad is. */
static int from_tree(struct quadtree *q, tsr_context *context, tsr_image *image, cli_tree *tree, int32_t *channels)
{
    const char *path = q->cli->input[0];
    int code = cli_tree_read(q->cli, path, context, 4, tree, channels);
    if (code) return code;
    const tsr_region_info info = *tsr_region_tree_describe(tree->host);
    if (info.dimensions != 2) return cli_error(q->cli, CLI_FAILED, "%s: a tree of a volume, expected one of an image: use tessera octree", path);
    if (info.size.x > INT32_MAX / 4 || info.size.y > INT32_MAX / 4)
        return cli_error(q->cli, CLI_FAILED, "%s: %lld x %lld pixels, expected an image", path, (long long)info.size.x, (long long)info.size.y);
    const tsr_status status = tsr_image_create((int32_t)info.size.x, (int32_t)info.size.y, *channels < 3 ? 1 : 3, image);
    return status == TSR_OK ? CLI_OK : cli_status(q->cli, status, path);
}

/* The leaves of the highest means, until the budget is spent, in their order: a table and, of the picture, these alone. */
static int spend(struct quadtree *q, tsr_image *image, const cli_tree *t)
{
    const int64_t leaves = tsr_region_tree_describe(t->host)->leaves, pixels = (int64_t)image->width * image->height;
    const size_t room = 64 + (size_t)leaves * 120;
    tsr_region_batch *batches = (tsr_region_batch *)malloc(((size_t)leaves + 1) * sizeof *batches);
    uint8_t *kept = (uint8_t *)calloc((size_t)pixels, 1);
    char *text = (char *)malloc(room);
    size_t at = 0;
    int code = batches && kept && text ? CLI_OK : cli_error(q->cli, CLI_FAILED, "no memory for %lld batches", (long long)leaves);
    if (!code && tsr_region_batches(t->host, t->means[0], batches) != TSR_OK) code = cli_error(q->cli, CLI_FAILED, "%s", tsr_error_message());
    const int64_t within = code ? 0 : q->budget_given ? tsr_region_batches_within(batches, leaves, q->budget) : leaves;
    if (!code) at = (size_t)snprintf(text, room, "x,y,side,saliency,pixels\n");
    for (int64_t i = 0; i < within; i++) {
        const tsr_region_leaf l = tsr_region_leaf_of(tsr_region_tree_leaves(t->host)[batches[i].leaf], 2);
        at += (size_t)snprintf(text + at, room - at, "%lld,%lld,%lld,%.6g,%lld\n", (long long)l.x, (long long)l.y, (long long)l.side,
                               (double)batches[i].saliency, (long long)batches[i].work);
        for (int64_t p = 0; p < l.side * l.side; p++) kept[(l.y + p / l.side) * image->width + l.x + p % l.side] = 1;
    }
    for (int64_t i = 0; i < pixels && !code && q->budget_given; i++)
        if (!kept[i]) memset(image->pixels + i * image->channels, 0, (size_t)(image->channels == 4 ? 3 : image->channels));
    if (!code && q->budget_given)
        cli_note(q->cli, "%lld of %lld quads, %lld of %lld pixels: %.1f %% saved", (long long)within, (long long)leaves,
                 within ? (long long)batches[within - 1].work : 0, (long long)pixels,
                 100.0 - 100.0 * (double)(within ? batches[within - 1].work : 0) / (double)pixels);
    if (!code && q->order) code = cli_write_text(q->cli, q->order, text);
    free(batches);
    free(kept);
    free(text);
    return code;
}

/* The pictures of a tree to their files or films, and its list. */
static int results(struct quadtree *q, tsr_image *image, const cli_tree *tree, int32_t channels)
{
    int code = cli_tree_write(q->cli, &q->regions, tree, channels);
    if (code) return code;
    const int64_t cut = paint(image, tree, channels < 3 ? 1 : 3);
    if (cut) cli_note(q->cli, "%s: %lld quads have values that are not 0 to 1 and were cut to that as colours", q->cli->input[0], (long long)cut);
    if (q->ycbcr && change_colours(image, 1) != TSR_OK) return cli_error(q->cli, CLI_FAILED, "%s", tsr_error_message());
    if (q->budget_given || q->order) code = spend(q, image, tree);
    if (code) return code;
    code = cli_film_append(q->cli, &q->film, image, &q->frames);
    if (code || !q->outline) return code;
    outline(image, tree, image->channels >= 3 ? 3 : 1);
    return cli_film_append(q->cli, &q->film_outline, image, &q->frames);
}

static void show_frame(const struct quadtree *q, const cli_tree *tree, double seconds)
{
    const tsr_region_info info = *tsr_region_tree_describe(tree->host);
    if (q->cli->globals.json) {
        json_open(NULL, '{');
        json_text("frame", q->frames.name);
        json_int("leaves", info.leaves);
        json_int("nodes", info.nodes);
        if (q->thresholds) json_real("threshold", q->regions.options.threshold);
        json_real("seconds", seconds);
        json_close('}');
    } else {
        printf("%s  %lld leaves, %lld nodes, %.3f s\n", cli_shown(q->frames.name), (long long)info.leaves, (long long)info.nodes, seconds);
    }
}

static int begin_films(struct quadtree *q)
{
    const tsr_image *image = &q->frames.image;
    int code = cli_film_begin(q->cli, &q->film, image->width, image->height, image->channels, &q->frames);
    if (!code) code = cli_film_begin(q->cli, &q->film_outline, image->width, image->height, image->channels, &q->frames);
    return code;
}

/* Of a volume's values, or of the picture's first channel, which is not painted over yet. */
static int statistics(const struct quadtree *q, tsr_context *context, const cli_tree *tree)
{
    const tsr_read_options read = TSR_READ_OPTIONS;
    const char *format, *name = q->volume ? q->volume : q->frames.name;
    tsr_volume *first = NULL;
    tsr_image other = { 0 };
    tsr_file_kind kind = TSR_FILE_IMAGE;
    tsr_status status = TSR_OK;
    int code = q->volume ? cli_recognise_image(q->cli, q->volume, &read, &kind, &format) : CLI_OK;
    if (code) return code;
    if (kind != TSR_FILE_IMAGE) return cli_tree_statistics(q->cli, tree, context, &read, q->volume, q->statistics);
    if (q->volume) status = tsr_image_read(q->volume, &read, &other);
    if (status == TSR_OK) status = channels_of(context, q->volume ? &other : &q->frames.image, 1, &first);
    code = status == TSR_OK ? cli_tree_statistics_of(q->cli, tree, context, first, name, q->statistics) : cli_status(q->cli, status, name);
    tsr_volume_destroy(&first);
    tsr_image_destroy(&other);
    return code;
}

/* One tree, from a picture or a file of a tree. */
static int work_one(struct quadtree *q, tsr_context *context)
{
    tsr_image black = { 0 };
    cli_tree tree = { 0 };
    double seconds = 0;
    int32_t channels = 0;
    int more, code;
    const int is_tree = cli_tree_is_file(q->cli, q->cli->input[0]);
    if (is_tree) code = from_tree(q, context, &black, &tree, &channels);
    else code = cli_frames_next(&q->frames, &more);
    if (!is_tree && !code) code = begin_films(q);
    if (!is_tree && !code) code = from_image(q, context, &tree, &channels, &seconds);
    if (!code) code = cli_tree_filter(q->cli, &q->regions, context, channels, &tree);
    if (!code) code = cli_tree_grade(q->cli, &q->regions, context, channels, &tree);
    if (!code && q->statistics) code = statistics(q, context, &tree);
    if (!code) code = results(q, is_tree ? &black : &q->frames.image, &tree, channels);
    if (!code && strcmp(q->film.path, "-") && !cli_regions_on_stdout(&q->regions)) cli_tree_show(q->cli, &tree, seconds);
    cli_tree_destroy(&tree);
    tsr_image_destroy(&black);
    return code;
}

/* ---- a threshold that is changed while the film runs -------------------------------------------------------------------------------------- */

static int open_knob(struct quadtree *q)
{
    q->knob = -1;
    if (!q->thresholds) return CLI_OK;
    q->knob = strcmp(q->thresholds, "-") ? open(q->thresholds, O_RDONLY | O_NONBLOCK | O_CLOEXEC) : STDIN_FILENO; /* pipes do not wait for a writer */
    if (q->knob < 0) return cli_error(q->cli, CLI_FAILED, "--thresholds: %s: cannot open: %s", q->thresholds, strerror(errno));
    struct stat info;
    if (fstat(q->knob, &info)) return cli_error(q->cli, CLI_FAILED, "--thresholds: %s: cannot be read: %s", q->thresholds, strerror(errno));
    if (S_ISDIR(info.st_mode)) return cli_error(q->cli, CLI_FAILED, "--thresholds: '%s' is a directory, expected a file or a pipe", q->thresholds);
    q->grows = S_ISREG(info.st_mode);
    return CLI_OK;
}

static void turn(struct quadtree *q)
{
    char *end;
    if (q->line_bytes == sizeof q->line) {
        cli_note(q->cli, "%s: a line of more than %d characters, expected a threshold: passed over", q->thresholds, (int)sizeof q->line - 1);
        return;
    }
    q->line[q->line_bytes] = 0;
    const double threshold = strtod(q->line, &end);
    end += strspn(end, " \t\r");
    if (end == q->line || end != q->line + q->line_bytes || !isfinite(threshold) || threshold < 0)
        cli_note(q->cli, "%s: '%s' given, expected a threshold of 0 or more: passed over", q->thresholds, q->line);
    else q->regions.options.threshold = threshold;
}

static void take_knob(struct quadtree *q, char c)
{
    if (c == '\n') {
        if (q->line_bytes > q->seen) turn(q);
        q->line_bytes = q->seen = 0;
    } else if (q->line_bytes < sizeof q->line) {
        q->line[q->line_bytes++] = c; /* full: too long */
    }
}

/* The end of a file ends its last line, of which more may come later; that of a pipe's writer ends it for good. */
static void end_knob(struct quadtree *q)
{
    if (q->line_bytes > q->seen) turn(q);
    q->seen = q->line_bytes;
    if (!q->grows) q->line_bytes = q->seen = 0;
}

/* Takes what has come since the frame before, not more than KNOB_BYTES, lest a source without an end hold the film up; the last line holds. */
static int read_knob(struct quadtree *q)
{
    enum { KNOB_BYTES = 1 << 16 };
    struct pollfd ready = { .fd = q->knob, .events = POLLIN };
    char text[1024];
    ssize_t got = 1;
    for (size_t taken = 0; got > 0 && taken < KNOB_BYTES && q->knob >= 0; taken += (size_t)got) {
        if (poll(&ready, 1, 0) <= 0 || !(ready.revents & (POLLIN | POLLHUP | POLLERR))) return CLI_OK;
        got = read(q->knob, text, sizeof text);
        if (got < 0 && (errno == EAGAIN || errno == EINTR)) return CLI_OK;
        if (got < 0) return cli_error(q->cli, CLI_FAILED, "--thresholds: %s: cannot be read: %s", q->thresholds, strerror(errno));
        for (ssize_t i = 0; i < got; i++) take_knob(q, text[i]);
        if (!got) end_knob(q);
    }
    return CLI_OK;
}

static int work_film(struct quadtree *q, tsr_context *context)
{
    int more = 1, code = CLI_OK;
    const int shown = strcmp(q->film.path, "-") && (!q->outline || strcmp(q->outline, "-")); /* else standard output is a film */
    setvbuf(stdout, NULL, _IOLBF, 1 << 16);                                                  /* what a live film holds is told at once */
    if (shown && q->cli->globals.json) json_open(NULL, '[');
    while (!code && more) {
        cli_tree tree = { 0 };
        double seconds = 0;
        int32_t channels = 0;
        code = cli_frames_next(&q->frames, &more);
        if (!code && more) code = begin_films(q);
        if (!code && more) code = read_knob(q);
        if (!code && more) code = from_image(q, context, &tree, &channels, &seconds);
        if (!code && more) code = cli_tree_filter(q->cli, &q->regions, context, channels, &tree);
        if (!code && more) code = cli_tree_grade(q->cli, &q->regions, context, channels, &tree);
        if (!code && more) code = results(q, &q->frames.image, &tree, channels);
        if (!code && more && shown) show_frame(q, &tree, seconds);
        cli_tree_destroy(&tree);
    }
    if (shown && q->cli->globals.json) json_close(']');
    return code ? code : cli_frames_any(&q->frames);
}

static int work(struct quadtree *q)
{
    tsr_context *context = NULL;
    int code = cli_context(q->cli, &context);
    if (!code) code = open_knob(q);
    if (!code) code = cli_frames_single(q->cli) ? work_one(q, context) : work_film(q, context);
    code = cli_film_finish(q->cli, &q->film, code);
    code = cli_film_finish(q->cli, &q->film_outline, code);
    cli_frames_destroy(&q->frames);
    if (q->thresholds && q->knob > STDIN_FILENO) close(q->knob);
    tsr_context_destroy(&context);
    return code;
}

static int run(cli_call *cli, int argc, char **argv)
{
    struct quadtree q = { .cli = cli, .regions = CLI_REGIONS, .frames = CLI_FRAMES(cli) };
    const cli_option options[] = {
        CLI_OUTPUT_OPTION(q.film.path),
        { .name = "outline", .type = CLI_TEXT, .value = &q.outline, .argument = "FILE", .help = "the same with the edges of the quads" },
        { .name = "ycbcr", .type = CLI_FLAG, .value = &q.ycbcr, .help = "the rule looks at Y, Cb, Cr instead of red, green, blue" },
        { .name = "thresholds",
          .type = CLI_TEXT,
          .value = &q.thresholds,
          .argument = "FILE",
          .help = "of a film: lines with new thresholds, read before every frame (up to 64 KiB each time); the last one holds (a named pipe, or - "
                  "for what is typed)" },
        { .name = "order",
          .type = CLI_TEXT,
          .value = &q.order,
          .argument = "FILE.csv",
          .help = "the quads by descending mean of the first channel (saliency), with the pixels so far" },
        { .name = "budget",
          .type = CLI_COUNT,
          .value = &q.budget,
          .argument = "PIXELS",
          .help = "only the quads of the highest means that this many pixels pay for; the others are black",
          .lower = 0,
          .upper = 9e18,
          .given = &q.budget_given },
        { .name = "statistics",
          .type = CLI_TEXT,
          .value = &q.statistics,
          .argument = "FILE.csv",
          .help = "the quads with what the values over them are like: mean, variance, least, most" },
        { .name = "volume",
          .type = CLI_TEXT,
          .value = &q.volume,
          .argument = "IMAGE|VOLUME",
          .help = "whose values --statistics takes, of the picture's size; of images the first channel, 0 to 1 (default: that of the picture: grey, "
                  "red, or\n"
                  "Y with --ycbcr)" },
        CLI_REGION_OPTIONS(q.regions),
        { 0 },
    };
    int code = cli_parse(cli, options, 1, 1, argc, argv);
    if (code >= 0) return code;
    const int single = cli_frames_single(cli);
    if (!q.film.path) return cli_check_output(cli, NULL);
    code = cli_film_check(cli, &q.film, q.film.path, single);
    if (!code) code = cli_film_check(cli, &q.film_outline, q.outline, single);
    if (!code && q.ycbcr && (q.regions.tree || cli_tree_is_file(cli, cli->input[0])))
        code = cli_usage(cli, "--ycbcr: is not for files of trees, which hold colours");
    if (!code && q.order) code = cli_check_option(cli, "order", q.order);
    if (!code && q.volume && !q.statistics) code = cli_usage(cli, "--volume: is for --statistics");
    if (!code && q.statistics && !q.volume && cli_tree_is_file(cli, cli->input[0]))
        code = cli_usage(cli, "--statistics: %s holds no values, expected --volume too", cli->input[0]);
    if (!code && q.statistics) code = cli_check_option(cli, "statistics", q.statistics);
    if (!code && !single && (q.regions.list || q.regions.tree || q.regions.runs || q.order || q.statistics))
        code = cli_usage(cli, "--%s: is of one picture, the input is a film",
                         q.regions.list   ? "list"
                         : q.regions.tree ? "tree"
                         : q.regions.runs ? "runs"
                         : q.order        ? "order"
                                          : "statistics");
    if (!code && single && cli_tree_is_file(cli, cli->input[0])) code = cli_regions_of_tree(cli, &q.regions);
    if (!code && q.thresholds && single) code = cli_usage(cli, "--thresholds: is for films, whose frames they change between");
    if (!code && q.thresholds && q.regions.rule == CLI_RULE_CLASSES) code = cli_usage(cli, "--thresholds: is not for --rule classes");
    for (int i = 0; i < cli->inputs && !code && q.thresholds; i++)
        if (!strcmp(q.thresholds, "-") && !strcmp(cli->input[i], "-")) code = cli_usage(cli, "--thresholds: '-' given, which is the film already");
    if (!code) code = cli_regions_prepare(cli, &q.regions);
    return code ? code : work(&q);
}

const cli_verb verb_quadtree = {
    "quadtree", "[options] IMAGE|FILM|TREE.rgt -o IMAGE|FILM", "Simplify an image or film to the leaves of a region quadtree",
    "  tessera make torus -o torus.nii.gz\n"
    "  tessera render torus.nii.gz -o torus.png\n"
    "  tessera quadtree torus.png --threshold 0.01 -o quads.png --outline outline.png --tree quads.rgt.gz\n"
    "  tessera quadtree quads.rgt.gz -o again.png\n"
    "  tessera make film-balls -o film.y4m\n"
    "  tessera quadtree film.y4m --threshold 0.002 -o mosaic.y4m    # or mosaic.mp4, with ffmpeg\n"
    "  tessera quadtree film.y4m --rule edges --ycbcr --threshold 0.02 -o - | tessera info -    # to watch it: | ffplay -\n",
    run
};
