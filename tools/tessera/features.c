#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include <stdlib.h>
#include <string.h>

#include "films.h"

enum method { CLUSTER, EXACT, SCANLINE };

struct features {
    cli_call *cli;
    tsr_features_options options;
    tsr_lens lens;
    int lens_given; /* frames are looked at without its distortion */
    int ycbcr;      /* of pictures: their channels are no colours yet, as those of frames are */
    cli_list filters;
    int method;
    const char *list;
    char *lines; /* of the list, as they come */
    size_t lines_bytes;
    FILE *lines_file;
    cli_frames frames;
    cli_film output;
    tsr_context *context;
    tsr_features *features;
    tsr_volume *frame, *before; /* this one and the one before */
    int all;                    /* of --method exact: every region */
    tsr_feature found[TSR_FEATURES_MOST * TSR_FEATURES_KEEP];
    tsr_feature *every[TSR_FEATURES_MOST];      /* of --all */
    const tsr_feature *rows[TSR_FEATURES_MOST]; /* what a filter found, in either; at least one entry, of no pixels if there was nothing */
    int64_t row_count[TSR_FEATURES_MOST];
    double seconds;
};

static int failed(const struct features *f, tsr_status status, const char *path)
{
    return status == TSR_OK ? CLI_OK : cli_status(f->cli, status, path);
}

/* The first frame says how large all are. */
static tsr_status prepare(struct features *f, const tsr_image *image)
{
    f->options.width = image->width;
    f->options.height = image->height;
    f->options.channels = image->channels;
    f->options.ycbcr = f->ycbcr && !f->frames.reader;
    if (f->ycbcr && f->frames.reader) cli_note(f->cli, "--ycbcr: of pictures; the frames of %s come as RGB", f->cli->input[f->frames.input]);
    return tsr_features_create(f->context, &f->options, &f->features);
}

/* All regions of a filter: their number is known once they are labelled. */
static tsr_status detect_all(struct features *f, int32_t n)
{
    int64_t total = 0, room = 64;
    for (;;) {
        free(f->every[n]);
        f->every[n] = calloc((size_t)room, sizeof *f->every[n]);
        if (!f->every[n]) return TSR_ERROR_MEMORY;
        const tsr_status status = tsr_features_exact(f->features, f->frame, f->before, 0, n, f->every[n], room, &total);
        f->rows[n] = f->every[n];
        f->row_count[n] = total > 0 ? total : 1;
        if (status != TSR_OK || total <= room) return status;
        room = total;
    }
}

static tsr_status detect(struct features *f)
{
    const int32_t keep = f->options.keep ? f->options.keep : 1;
    tsr_status status = TSR_OK;
    int64_t total;
    const double start = cli_seconds();
    if (f->method == CLUSTER) {
        status = tsr_features_detect(f->features, f->frame, f->before);
        if (status == TSR_OK) status = tsr_features_results(f->features, f->found);
    }
    for (int32_t n = 0; n < f->options.count; n++) {
        f->rows[n] = &f->found[n * keep];
        f->row_count[n] = keep;
    }
    for (int32_t n = 0; n < f->options.count && status == TSR_OK && f->method != CLUSTER; n++)
        status = f->all               ? detect_all(f, n)
                 : f->method == EXACT ? tsr_features_exact(f->features, f->frame, f->before, 0, n, &f->found[n * keep], keep, &total)
                                      : tsr_features_scanline(f->features, f->frame, f->before, 0, n, &f->found[n]);
    f->seconds += cli_seconds() - start;
    return status;
}

/* One line per region, and one with no extents per filter that found none. */
static void list_frame(const struct features *f)
{
    for (int64_t n = 0, i = 0; n < f->options.count && f->lines_file; i + 1 < f->row_count[n] ? i++ : (n++, i = 0)) {
        const tsr_feature *r = &f->rows[n][i];
        if (!r->count && i) continue;
        fprintf(f->lines_file, "%lld,%.6f,\"%s\",%lld,%d,%d,%d,%d,%.6g,%.6g\n", (long long)f->frames.count - 1,
                (double)(f->frames.count - 1) * f->frames.rate[1] / f->frames.rate[0], f->filters.item[n], (long long)r->count, r->lower[0],
                r->lower[1], r->upper[0] - r->lower[0], r->upper[1] - r->lower[1], r->centroid[0], r->centroid[1]);
    }
}

static void print_frame(const struct features *f, const char *path)
{
    const int json = f->cli->globals.json;
    if (json) {
        json_open(NULL, '{');
        json_text("frame", path);
        json_open("features", '[');
    }
    for (int64_t n = 0, i = 0; n < f->options.count; i + 1 < f->row_count[n] ? i++ : (n++, i = 0)) {
        const tsr_feature *r = &f->rows[n][i];
        if (json && r->count) {
            json_open(NULL, '{');
            json_text("filter", f->filters.item[n]);
            json_int("x", r->lower[0]);
            json_int("y", r->lower[1]);
            json_int("width", r->upper[0] - r->lower[0]);
            json_int("height", r->upper[1] - r->lower[1]);
            json_int("count", r->count);
            json_real("centroid_x", r->centroid[0]);
            json_real("centroid_y", r->centroid[1]);
            json_close('}');
        } else if (!json && r->count) {
            printf("%s  %-24s  %5d %5d  %5d x %-5d  %8lld pixels, centroid %.2f %.2f\n", cli_shown(path), f->filters.item[n], r->lower[0],
                   r->lower[1], r->upper[0] - r->lower[0], r->upper[1] - r->lower[1], (long long)r->count, r->centroid[0], r->centroid[1]);
        } else if (!json && !i) {
            printf("%s  %-24s  none\n", cli_shown(path), f->filters.item[n]);
        }
    }
    if (json) {
        json_close(']');
        json_close('}');
    }
}

/* What the search saw: the frame without the lens's distortion. */
static tsr_status straighten(const struct features *f, tsr_image *copy)
{
    tsr_lens_warp_options options = TSR_LENS_WARP_OPTIONS;
    tsr_volume *warped = NULL, *host = NULL;
    options.sampling = TSR_LENS_NEAREST;
    options.channels = f->options.channels;
    tsr_status status = tsr_lens_warp(f->context, f->frame, &f->lens, &options, &warped, NULL);
    if (status == TSR_OK) status = tsr_volume_copy(warped, NULL, &host);
    const uint8_t *pixels = status == TSR_OK ? (const uint8_t *)tsr_volume_data_const(host) : NULL;
    for (int64_t i = 0; i < (int64_t)copy->width * copy->height && pixels; i++)
        for (int c = 0; c < 3; c++) copy->pixels[3 * i + c] = pixels[i * options.channels + (options.channels > 1 ? c : 0)];
    tsr_volume_destroy(&host);
    tsr_volume_destroy(&warped);
    return status;
}

/* Boxes two pixels thick in a colour per filter, a cross at the centroid. */
static int paint(struct features *f, const tsr_image *image)
{
    static const uint8_t colors[TSR_FEATURES_MOST][3] = { { 255, 64, 64 },  { 64, 255, 96 }, { 80, 140, 255 }, { 255, 220, 0 },
                                                          { 255, 80, 255 }, { 0, 230, 230 }, { 255, 150, 40 }, { 200, 255, 160 } };
    tsr_image copy;
    tsr_status status = tsr_image_create(image->width, image->height, 3, &copy);
    if (status != TSR_OK) return failed(f, status, f->output.path);
    for (int64_t i = 0; i < (int64_t)image->width * image->height; i++)
        for (int c = 0; c < 3; c++) copy.pixels[3 * i + c] = image->pixels[i * image->channels + (image->channels > 1 ? c : 0)];
    if (f->lens_given) status = straighten(f, &copy);
    for (int64_t n = 0, i = 0; n < f->options.count; i + 1 < f->row_count[n] ? i++ : (n++, i = 0)) {
        const tsr_feature *r = &f->rows[n][i];
        for (int32_t y = r->lower[1] - 2; y < r->upper[1] + 2 && r->count; y++)
            for (int32_t x = r->lower[0] - 2; x < r->upper[0] + 2; x++) {
                const int border = x < r->lower[0] || y < r->lower[1] || x >= r->upper[0] || y >= r->upper[1];
                const int32_t dx = abs(x - (int32_t)(r->centroid[0] + 0.5)), dy = abs(y - (int32_t)(r->centroid[1] + 0.5));
                if ((border || (!dx && dy < 5) || (!dy && dx < 5)) && x >= 0 && y >= 0 && x < copy.width && y < copy.height)
                    memcpy(copy.pixels + 3 * ((int64_t)y * copy.width + x), colors[n], 3);
            }
    }
    const int code = status == TSR_OK ? cli_film_append(f->cli, &f->output, &copy, &f->frames) : failed(f, status, f->output.path);
    tsr_image_destroy(&copy);
    return code;
}

static int work_frame(struct features *f)
{
    const char *path = f->frames.name;
    const tsr_image image = f->frames.image;
    const int fits = cli_film_begin(f->cli, &f->output, image.width, image.height, 3, &f->frames);
    if (fits) return fits;
    tsr_status status = f->features ? TSR_OK : prepare(f, &image);
    tsr_volume_destroy(&f->before);
    f->before = f->frame;
    f->frame = NULL;
    if (status == TSR_OK && (image.width != f->options.width || image.height != f->options.height || image.channels != f->options.channels)) {
        return cli_error(f->cli, CLI_FAILED, "%s: %d x %d with %d channels, expected %d x %d with %d as %s", path, image.width, image.height,
                         image.channels, f->options.width, f->options.height, f->options.channels, f->cli->input[0]);
    }
    if (status == TSR_OK && f->options.ycbcr != (f->ycbcr && !f->frames.reader))
        return cli_usage(f->cli, "--ycbcr: of pictures, expected no film among them, got %s", f->cli->input[f->frames.input]);
    if (status == TSR_OK) status = tsr_frames_upload(f->context, &image, 1, &f->frame);
    if (status == TSR_OK) status = detect(f);
    int code = failed(f, status, path);
    if (!code && f->output.path) code = paint(f, &image);
    if (!code) list_frame(f);
    if (!code && (!f->output.path || strcmp(f->output.path, "-")) && (!f->list || strcmp(f->list, "-"))) print_frame(f, path);
    return code;
}

static int work(struct features *f)
{
    setvbuf(stdout, NULL, _IOLBF, 1 << 16); /* what is found in a live film is told at once */
    int code = f->method == SCANLINE ? cli_cpu_context(f->cli, &f->context) : cli_context(f->cli, &f->context), more = 1;
    if (!code && f->list) {
        f->lines_file = open_memstream(&f->lines, &f->lines_bytes);
        if (!f->lines_file) code = cli_error(f->cli, CLI_FAILED, "%s: no memory for the list", f->list);
        else fprintf(f->lines_file, "frame,time,filter,count,x,y,width,height,centroid_x,centroid_y\n");
    }
    const int json = !code && f->cli->globals.json && (!f->list || strcmp(f->list, "-")) && (!f->output.path || strcmp(f->output.path, "-"));
    if (json) json_open(NULL, '[');
    while (!code && more) {
        code = cli_frames_next(&f->frames, &more);
        if (!code && more) code = work_frame(f);
    }
    if (!code) code = cli_frames_any(&f->frames);
    if (json) json_close(']');
    if (f->lines_file && fclose(f->lines_file) && !code) code = cli_error(f->cli, CLI_FAILED, "%s: no memory for the list", f->list);
    if (!code && f->list) code = cli_write_text(f->cli, f->list, f->lines);
    code = cli_film_finish(f->cli, &f->output, code);
    if (!code)
        cli_note(f->cli, "%lld frames, %.3f ms each for the search alone", (long long)f->frames.count, 1e3 * f->seconds / (double)f->frames.count);
    return code;
}

static int run(cli_call *cli, int argc, char **argv)
{
    struct features f = { .cli = cli, .options = TSR_FEATURES_OPTIONS, .frames = CLI_FRAMES(cli) };
    int connectivity = 1, model = 0, given[7] = { 0 };
    const cli_option options[] = {
        { .name = "filter",
          .type = CLI_LIST,
          .value = &f.filters,
          .argument = "FILTER",
          .help = "luminance=L:U, box=#rrggbb:#rrggbb, distance=#rrggbb:R, hsv=H:H,S:S,V:V, mask=BITS, motion=D, gradient=G, smooth=D; up to 8" },
        { .name = "method",
          .type = CLI_CHOICE,
          .value = &f.method,
          .argument = "NAME",
          .help = "cluster: one reduction, approximate where regions interlock (boxes of touching cells are united); exact: labelling of components; "
                  "scanline: a tracker, exact, one region (CPU)",
          .choices = "cluster exact scanline" },
        { .name = "connectivity", .type = CLI_CHOICE, .value = &connectivity, .argument = "N", .help = "of pixels (default 8)", .choices = "4 8" },
        { .name = "by-count", .type = CLI_FLAG, .value = &f.options.by_count, .help = "the largest is that of most pixels, not of the largest box" },
        { .name = "keep",
          .type = CLI_INT,
          .value = &f.options.keep,
          .argument = "N",
          .help = "regions per filter (default 1)",
          .lower = 1,
          .upper = TSR_FEATURES_KEEP },
        { .name = "all", .type = CLI_FLAG, .value = &f.all, .help = "of --method exact: all regions, the largest first, not --keep of them" },
        { .name = "ycbcr", .type = CLI_FLAG, .value = &f.ycbcr, .help = "the pixels of pictures are Y, Cb, Cr (frames of films come as RGB)" },
        { .name = "model",
          .type = CLI_CHOICE,
          .value = &model,
          .argument = "NAME",
          .help = "of the lens, as for undistort",
          .choices = "division poly" },
        { .name = "k1",
          .type = CLI_REAL,
          .value = &f.lens.k1,
          .argument = "K",
          .help = "frames are looked at without the distortion of this lens; places are those of the straight picture",
          .lower = -10,
          .upper = 10,
          .given = &given[0] },
        { .name = "k2", .type = CLI_REAL, .value = &f.lens.k2, .argument = "K", .help = "(poly)", .lower = -10, .upper = 10, .given = &given[1] },
        { .name = "k3", .type = CLI_REAL, .value = &f.lens.k3, .argument = "K", .help = "(poly)", .lower = -10, .upper = 10, .given = &given[2] },
        { .name = "p1",
          .type = CLI_REAL,
          .value = &f.lens.p1,
          .argument = "P",
          .help = "tangential (poly)",
          .lower = -10,
          .upper = 10,
          .given = &given[5] },
        { .name = "p2", .type = CLI_REAL, .value = &f.lens.p2, .argument = "P", .help = "likewise", .lower = -10, .upper = 10, .given = &given[6] },
        { .name = "shift-x",
          .type = CLI_REAL,
          .value = &f.lens.shift[0],
          .argument = "S",
          .help = "of the centre, in half-widths",
          .lower = -2,
          .upper = 2,
          .given = &given[3] },
        { .name = "shift-y",
          .type = CLI_REAL,
          .value = &f.lens.shift[1],
          .argument = "S",
          .help = "likewise",
          .lower = -2,
          .upper = 2,
          .given = &given[4] },
        { .name = "output",
          .letter = 'o',
          .type = CLI_TEXT,
          .value = &f.output.path,
          .argument = "FILE",
          .help = "the frames with the boxes: a film, numbered pictures, or one picture of one frame" },
        { .name = "list", .type = CLI_TEXT, .value = &f.list, .argument = "FILE.csv", .help = "the regions of every frame, one per line" },
        { 0 },
    };
    int code = cli_parse(cli, options, 1, 1000000, argc, argv);
    if (code >= 0) return code;
    if (!f.filters.count) return cli_usage(cli, "no --filter given: expected one like luminance=200:255 or distance=#ff2010:60");
    if (f.filters.count > TSR_FEATURES_MOST) return cli_usage(cli, "--filter: %d given, expected at most %d", f.filters.count, TSR_FEATURES_MOST);
    for (f.options.count = 0; f.options.count < f.filters.count; f.options.count++)
        if (tsr_feature_filter_parse(f.filters.item[f.options.count], &f.options.filter[f.options.count]) != TSR_OK)
            return cli_usage(cli, "--filter: %s", tsr_error_message());
    if (f.method == SCANLINE && f.options.keep > 1) return cli_usage(cli, "--keep: the scan-line tracker keeps one region");
    if (f.all && f.method != EXACT) return cli_usage(cli, "--all: needs --method exact, which lists all regions");
    if (f.all && f.options.keep) return cli_usage(cli, "--keep: given beside --all, expected one of them");
    f.options.connectivity = connectivity ? 8 : 4;
    f.lens.model = model ? TSR_LENS_POLY : TSR_LENS_DIVISION;
    f.lens_given = given[0] || given[1] || given[2] || given[5] || given[6];
    if ((model || given[3] || given[4]) && !f.lens_given)
        return cli_usage(cli, "--%s: expected --k1, the distortion of the lens, as well", model ? "model" : given[3] ? "shift-x" : "shift-y");
    if (!model && (given[1] || given[2] || given[5] || given[6]))
        return cli_usage(cli, "--%s: the division model has k1 alone, expected --model poly",
                         given[1]   ? "k2"
                         : given[2] ? "k3"
                         : given[5] ? "p1"
                                    : "p2");
    if (f.lens_given) f.options.lens = &f.lens;
    code = cli_film_check(cli, &f.output, f.output.path, cli_frames_single(cli));
    if (!code && f.list) code = cli_check_output(cli, f.list);
    if (!code) code = work(&f);
    free(f.lines);
    for (int n = 0; n < TSR_FEATURES_MOST; n++) free(f.every[n]);
    cli_frames_destroy(&f.frames);
    tsr_features_destroy(&f.features);
    tsr_volume_destroy(&f.before);
    tsr_volume_destroy(&f.frame);
    tsr_context_destroy(&f.context);
    return code;
}

const cli_verb verb_features = {
    "features", "[options] --filter FILTER FRAME.png|FILM...", "Find the largest connected region of a colour, brightness or motion in every frame",
    "  tessera make sphere -o ball.nii.gz\n"
    "  tessera render ball.nii.gz -o ball.png\n"
    "  tessera features ball.png --filter luminance=120:255 --filter gradient=40 -o found.png\n"
    "  tessera features ball.png --filter luminance=120:255 --method exact --all\n"
    "  tessera make film-balls -o film.y4m\n"
    "  tessera convert film.y4m -o frame-%02d.png\n"
    "  tessera features frame-*.png --filter distance=#e8d020:80 --filter motion=24 --json\n"
    "  tessera features film.y4m --filter motion=24 --list moves.csv -o boxes.y4m    # or boxes.mp4, with ffmpeg\n"
    "  cat film.y4m | tessera features - --k1 -0.08 --filter hsv=40:70,100:255,80:255    # a live film: ffmpeg -i /dev/video0 -f yuv4mpegpipe -\n",
    run
};
