/* tools/tessera/mvv_files.c: mvv encode, decode, info and compare. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "mvv.h"

/* Footage is a folder; textures of it are a file. */
static int refuse_folder(const cli_call *cli, const char *path)
{
    struct stat about;
    if (stat(path, &about) || !S_ISDIR(about.st_mode)) return CLI_OK;
    return cli_error(cli, CLI_FAILED, "%s: is a folder, expected a file of textures, which tessera mvv make %s -o FILE.mvv makes of footage",
                     cli_shown(path), cli_shown(path));
}

tsr_multiview *mvv_read(const cli_call *cli, tsr_context *context, const char *path, const tsr_multiview_read_options *options, int *code)
{
    tsr_multiview_read_options own = *options;
    tsr_multiview *m = NULL;
    tsr_mask_maker *maker = NULL;
    if ((*code = refuse_folder(cli, path))) return NULL;
    tsr_status status = tsr_mask_maker_create(context, &maker);
    own.rebuild = tsr_mask_maker_rebuild;
    own.user = maker;
    own.progress = cli_progress(cli);
    if (status == TSR_OK) status = tsr_multiview_read(context, path, &own, &m);
    tsr_mask_maker_destroy(&maker);
    cli_progress_end(cli);
    if (status != TSR_OK) *code = cli_status(cli, status, path);
    else cli_remarks(cli);
    return m;
}

tsr_multiview *mvv_read_layer(const cli_call *cli, tsr_context *context, const char *path, const tsr_multiview_read_options *options,
                              const mvv_layer *layer, int *code)
{
    static const tsr_multiview_layer layers[] = { TSR_MULTIVIEW_LAYER_TEXTURES, TSR_MULTIVIEW_LAYER_AVERAGES, TSR_MULTIVIEW_LAYER_MASTER,
                                                  TSR_MULTIVIEW_LAYER_DIFFERENCES, TSR_MULTIVIEW_LAYER_AVERAGE_DIFFERENCES };
    const tsr_multiview_layer wanted = layers[layer->which];
    const int all = wanted == TSR_MULTIVIEW_LAYER_MASTER || wanted == TSR_MULTIVIEW_LAYER_AVERAGE_DIFFERENCES;
    tsr_multiview_read_options own = *options;
    tsr_multiview *m, *layered = NULL;
    tsr_multiview_view v;
    if (layer->gain_given && wanted != TSR_MULTIVIEW_LAYER_DIFFERENCES && wanted != TSR_MULTIVIEW_LAYER_AVERAGE_DIFFERENCES) {
        *code = cli_usage(cli, "--gain is of --show differences and average-differences");
        return NULL;
    }
    if (all) own.first_step = own.steps = 0;
    m = mvv_read(cli, context, path, &own, code);
    if (!m || wanted == TSR_MULTIVIEW_LAYER_TEXTURES) return m;
    const int32_t first = all ? options->first_step : 0;
    tsr_status status = tsr_multiview_view_of(m, &v);
    if (status == TSR_OK)
        status = tsr_multiview_layer_of(m, wanted, first, all && options->steps ? options->steps : v.steps - first, layer->gain, &layered);
    if (status != TSR_OK) *code = cli_status(cli, status, path);
    tsr_multiview_destroy(&m);
    return layered;
}

/* ---- what a file takes ------------------------------------------------------------------------------------------------------------------------ */

static const char *const codec_name[] = { "raw", "spiht4d", "diff2d" };
static const char *const mask_name[] = { "sent", "rebuilt", "none" };
static const char *const fill_name[] = { "4d", "2d", "none" };
static const char *const syntax_name[] = { "planes", "serial" };
static const char *const filter_name[] = { "97", "53", "haar" };

static void show_json(const tsr_multiview_report *r)
{
    json_open(NULL, '{');
    json_text("codec", codec_name[r->codec]);
    json_text("masks", mask_name[r->masks]);
    json_int("width", r->width);
    json_int("height", r->height);
    json_int("cameras", r->cameras);
    json_int("steps", r->steps);
    json_real("rate", (double)r->rate[0] / r->rate[1]);
    json_int("group", r->group);
    json_int("groups", r->groups);
    json_bool("padded", r->padded);
    json_bool("lossless", r->lossless);
    if (r->codec == TSR_MULTIVIEW_SPIHT4D) {
        json_text("fill", fill_name[r->fill]);
        json_text("syntax", syntax_name[r->syntax]);
    }
    if (r->codec == TSR_MULTIVIEW_DIFF2D) {
        json_text("filter", filter_name[r->filter]);
        json_int("levels", r->levels);
        json_bool("open_loop", r->open_loop);
    }
    json_int("bytes", r->file_bytes);
    json_int("model_bytes", r->model_bytes);
    json_int("mask_bytes", r->mask_bytes);
    json_int("texels", r->texels);
    json_int("relevant", r->relevant);
    json_open("stream_bytes", '[');
    for (int p = 0; p < 3; p++) json_int(NULL, r->stream_bytes[p]);
    json_close(']');
    json_open("bpp", '[');
    for (int p = 0; p < 3; p++) json_real(NULL, r->bpp[p]);
    json_close(']');
    json_open("bpp_relevant", '[');
    for (int p = 0; p < 3; p++) json_real(NULL, r->relevant > 0 ? r->bpp_relevant[p] : (double)NAN);
    json_close(']');
    json_real("ratio", r->ratio);
    json_real("ratio_total", r->ratio_total);
    json_int("chunks", r->chunks);
    json_int("damaged", r->damaged);
    json_close('}');
}

static void show_report(const tsr_multiview_report *r)
{
    printf("%d x %d texels, %d cameras, %d steps, %g a second\n", r->width, r->height, r->cameras, r->steps, (double)r->rate[0] / r->rate[1]);
    printf("codec %s%s", codec_name[r->codec], r->lossless ? ", lossless" : "");
    if (r->codec == TSR_MULTIVIEW_SPIHT4D) printf(", fill %s, syntax %s", fill_name[r->fill], syntax_name[r->syntax]);
    if (r->codec == TSR_MULTIVIEW_DIFF2D)
        printf(", filter %s, %d levels, %s loop", filter_name[r->filter], r->levels, r->open_loop ? "open" : "closed");
    if (r->codec != TSR_MULTIVIEW_RAW) printf(", %d groups of %d steps%s", r->groups, r->group, r->padded ? " (the last one padded)" : "");
    printf("\nmasks %s", mask_name[r->masks]);
    if (r->relevant >= 0) printf(", %.1f %% of the texels are relevant", 100.0 * (double)r->relevant / (double)r->texels);
    printf("\n%lld bytes: model %lld, masks %lld", (long long)r->file_bytes, (long long)r->model_bytes, (long long)r->mask_bytes);
    if (r->codec == TSR_MULTIVIEW_RAW) printf(", textures %lld\n", (long long)r->stream_bytes[0]);
    else {
        printf(", Y %lld, U %lld, V %lld\n", (long long)r->stream_bytes[0], (long long)r->stream_bytes[1], (long long)r->stream_bytes[2]);
        printf("bits a texel: Y %.4f, U %.4f, V %.4f", r->bpp[0], r->bpp[1], r->bpp[2]);
        if (r->relevant > 0) printf("; a relevant texel: Y %.4f, U %.4f, V %.4f", r->bpp_relevant[0], r->bpp_relevant[1], r->bpp_relevant[2]);
        printf("\n");
    }
    printf("ratio %.2f, with masks %.2f\n", r->ratio, r->ratio_total);
    if (r->damaged) printf("damaged or missing: %lld of %lld chunks\n", (long long)r->damaged, (long long)r->chunks);
}

static int info(cli_call *cli, int argc, char **argv)
{
    tsr_multiview_report report = TSR_MULTIVIEW_REPORT;
    const cli_option options[] = { { 0 } };
    int code = cli_parse(cli, options, 1, 1, argc, argv);
    if (code >= 0) return code;
    if ((code = refuse_folder(cli, cli->input[0]))) return code;
    const tsr_status status = tsr_multiview_inspect(cli->input[0], &report);
    if (status != TSR_OK) return cli_status(cli, status, cli->input[0]);
    if (cli->globals.json) show_json(&report);
    else show_report(&report);
    return report.damaged ? CLI_FAILED : CLI_OK;
}

const cli_verb mvv_info = { "mvv info", "FILE.mvv", "What a file of multi-view textures holds and what it takes", "  tessera mvv info film.mvv\n",
                            info };

/* ---- encode ----------------------------------------------------------------------------------------------------------------------------------- */

static int encode(cli_call *cli, int argc, char **argv)
{
    tsr_multiview_write_options o = TSR_MULTIVIEW_WRITE_OPTIONS;
    tsr_multiview_read_options read = TSR_MULTIVIEW_READ_OPTIONS;
    tsr_multiview_report report = TSR_MULTIVIEW_REPORT;
    tsr_context *context = NULL;
    tsr_multiview *m = NULL;
    const char *output = NULL;
    int codec = 0, masks = 0, fill = 0, syntax = 0, filter = 0, allocation = 0;
    int given[3] = { 0 }, for_coded = 0, for_spiht = 0, for_diff = 0;
    const cli_option options[] = {
        CLI_OUTPUT_OPTION(output),
        { .name = "codec",
          .type = CLI_CHOICE,
          .value = &codec,
          .argument = "NAME",
          .help = "raw: every sample (default spiht4d)",
          .choices = "spiht4d diff2d raw" },
        { .name = "bpp",
          .type = CLI_REAL,
          .value = &o.bpp[0],
          .given = &given[0],
          .argument = "BITS",
          .help = "a texel of Y, all texels counted (default 0.75)",
          .lower = 1e-9,
          .upper = 64 },
        { .name = "bpp-u",
          .type = CLI_REAL,
          .value = &o.bpp[1],
          .given = &given[1],
          .argument = "BITS",
          .help = "(default: a third of Y)",
          .lower = 1e-9,
          .upper = 64 },
        { .name = "bpp-v",
          .type = CLI_REAL,
          .value = &o.bpp[2],
          .given = &given[2],
          .argument = "BITS",
          .help = "(default: a third of Y)",
          .lower = 1e-9,
          .upper = 64 },
        { .name = "lossless", .type = CLI_FLAG, .value = &o.lossless, .given = &for_coded, .help = "relevant texels come back as they are" },
        { .name = "masks",
          .type = CLI_CHOICE,
          .value = &masks,
          .argument = "NAME",
          .help = "in the file, made again from the model by the reader, or every texel is coded",
          .choices = "sent rebuilt none" },
        { .name = "group",
          .type = CLI_INT,
          .value = &o.group,
          .given = &for_coded,
          .argument = "N",
          .help = "steps in a group of pictures (spiht4d: a power of two, default 8) or in a segment (diff2d: default all)",
          .lower = 1,
          .upper = TSR_MULTIVIEW_MOST_STEPS },
        { .name = "fill",
          .type = CLI_CHOICE,
          .value = &fill,
          .given = &for_spiht,
          .argument = "NAME",
          .help = "spiht4d: what irrelevant texels become (default 4d)",
          .choices = "4d 2d none" },
        { .name = "syntax",
          .type = CLI_CHOICE,
          .value = &syntax,
          .given = &for_spiht,
          .argument = "NAME",
          .help = "spiht4d: planes (default, decoded faster) or serial, as published",
          .choices = "planes serial" },
        { .name = "filter",
          .type = CLI_CHOICE,
          .value = &filter,
          .given = &for_diff,
          .argument = "NAME",
          .help = "diff2d: wavelet (default 97, lossless 53)",
          .choices = "97 53 haar" },
        { .name = "levels",
          .type = CLI_INT,
          .value = &o.levels,
          .given = &for_diff,
          .argument = "N",
          .help = "diff2d: of the transform (default 5)",
          .lower = 1,
          .upper = 12 },
        { .name = "open-loop",
          .type = CLI_FLAG,
          .value = &o.open_loop,
          .given = &for_diff,
          .help = "diff2d: differences to what was, not to what the decoder has" },
        { .name = "allocation",
          .type = CLI_CHOICE,
          .value = &allocation,
          .given = &for_diff,
          .argument = "NAME",
          .help = "diff2d: where a bit helps most (rdo, default) or fixed shares",
          .choices = "rdo fixed" },
        { .name = "memory-limit",
          .type = CLI_BYTES,
          .value = &read.memory_limit,
          .argument = "BYTES",
          .help = "of the textures",
          .lower = 1,
          .upper = 9e18 },
        { 0 },
    };
    int code = cli_parse(cli, options, 1, 1, argc, argv);
    if (code >= 0) return code;
    static const tsr_multiview_codec codecs[] = { TSR_MULTIVIEW_SPIHT4D, TSR_MULTIVIEW_DIFF2D, TSR_MULTIVIEW_RAW };
    o.codec = codecs[codec];
    o.masks = (tsr_multiview_masks)masks;
    o.fill = (tsr_multiview_fill)fill;
    o.syntax = (tsr_multiview_syntax)syntax;
    o.filter = (tsr_multiview_filter)filter;
    o.allocation = (tsr_multiview_allocation)allocation;
    o.overwrite = cli->globals.force;
    if (o.lossless && (given[0] || given[1] || given[2])) return cli_usage(cli, "--lossless and --bpp: only one of them");
    for_coded = for_coded || given[0] || given[1] || given[2];
    if (o.codec != TSR_MULTIVIEW_SPIHT4D && for_spiht) return cli_usage(cli, "--fill and --syntax are of --codec spiht4d");
    if (o.codec != TSR_MULTIVIEW_DIFF2D && for_diff) return cli_usage(cli, "--filter, --levels, --open-loop and --allocation are of --codec diff2d");
    if (o.codec == TSR_MULTIVIEW_RAW && for_coded)
        return cli_usage(cli, "--bpp, --lossless and --group are not of --codec raw, which keeps every sample");
    code = cli_check_output(cli, output);
    if (!code) code = cli_context(cli, &context);
    if (!code) m = mvv_read(cli, context, cli->input[0], &read, &code);
    if (!code) {
        o.progress = cli_progress(cli);
        const tsr_status status = tsr_multiview_write(m, output, &o, &report);
        cli_progress_end(cli);
        if (status != TSR_OK) code = cli_status(cli, status, output);
    }
    if (!code && cli->globals.json && strcmp(output, "-") != 0) show_json(&report);
    else if (!code) cli_note(cli, "%lld bytes, ratio %.2f, with masks %.2f", (long long)report.file_bytes, report.ratio, report.ratio_total);
    tsr_multiview_destroy(&m);
    tsr_context_destroy(&context);
    return code;
}

const cli_verb mvv_encode = { "mvv encode", "[options] FILE.mvv -o CODED.mvv", "Code multi-view textures",
                              "  tessera mvv encode film.mvv --bpp 0.3 -o film-030.mvv\n"
                              "  tessera mvv encode film.mvv --codec diff2d --bpp 0.75 -o film-diff.mvv\n",
                              encode };

/* ---- decode ----------------------------------------------------------------------------------------------------------------------------------- */

/* FIRST or FIRST:LAST, from 0 on. */
static int take_span(cli_call *cli, const char *option, const char *text, int32_t *first, int32_t *count)
{
    int a, b, used = 0;
    if (!text) return CLI_OK; /* seven digits at most: of a larger number only some bits would be left */
    if (sscanf(text, "%7d:%7d%n", &a, &b, &used) == 2 && !text[used] && a >= 0 && b >= a) *count = b - a + 1;
    else if (sscanf(text, "%7d%n", &a, &used) == 1 && !text[used] && a >= 0) *count = 1;
    else return cli_usage(cli, "--%s: '%s', expected FIRST:LAST or one number, counted from 0", option, text);
    *first = a;
    return CLI_OK;
}

static int write_pictures(cli_call *cli, const tsr_multiview *m, const char *folder, const tsr_multiview_read_options *range, int alpha)
{
    tsr_multiview_view v;
    char path[4096];
    int code = CLI_OK;
    if (tsr_multiview_view_of(m, &v) != TSR_OK) return CLI_FAILED;
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) return cli_error(cli, CLI_FAILED, "%s: cannot make the folder: %s", folder, strerror(errno));
    for (int32_t k = 0; !code && k < v.steps * v.cameras; k++) {
        tsr_image image = { 0 };
        snprintf(path, sizeof path, "%s/step%05d-camera%03d.png", folder, range->first_step + k / v.cameras, range->first_camera + k % v.cameras);
        const tsr_write_options write = cli_image_options(cli, path);
        tsr_status status = tsr_multiview_image(m, k / v.cameras, k % v.cameras, alpha, &image);
        if (status == TSR_OK) status = tsr_image_write(&image, path, &write);
        if (status != TSR_OK) code = cli_status(cli, status, path);
        tsr_image_destroy(&image);
    }
    return code;
}

static int decode(cli_call *cli, int argc, char **argv)
{
    tsr_multiview_read_options read = TSR_MULTIVIEW_READ_OPTIONS;
    tsr_context *context = NULL;
    tsr_multiview *m = NULL;
    const char *output = NULL, *pictures = NULL, *steps = NULL, *cameras = NULL;
    mvv_layer layer = { .gain = 4 };
    int alpha = 0;
    const cli_option options[] = {
        { .name = "output", .letter = 'o', .type = CLI_TEXT, .value = &output, .argument = "FILE", .help = "the textures, uncoded (.mvv)" },
        { .name = "pictures", .type = CLI_TEXT, .value = &pictures, .argument = "FOLDER", .help = "a PNG picture of every step and camera" },
        { .name = "alpha", .type = CLI_FLAG, .value = &alpha, .help = "of pictures: where the mask is" },
        MVV_SHOW_OPTIONS(layer),
        { .name = "steps", .type = CLI_TEXT, .value = &steps, .argument = "FIRST:LAST", .help = "from 0 on (default: all)" },
        { .name = "cameras", .type = CLI_TEXT, .value = &cameras, .argument = "FIRST:LAST", .help = "from 0 on (default: all)" },
        { .name = "bpp",
          .type = CLI_REAL,
          .value = &read.bpp,
          .argument = "BITS",
          .help = "a texel of Y: leave the rest of the streams unread",
          .lower = 1e-9,
          .upper = 64 },
        { .name = "partial", .type = CLI_FLAG, .value = &read.partial, .help = "read a damaged or cut file as far as it goes" },
        { .name = "no-masks", .type = CLI_FLAG, .value = &read.no_masks, .help = "spiht4d and raw: without the masks" },
        { .name = "memory-limit",
          .type = CLI_BYTES,
          .value = &read.memory_limit,
          .argument = "BYTES",
          .help = "of the textures",
          .lower = 1,
          .upper = 9e18 },
        { 0 },
    };
    int code = cli_parse(cli, options, 1, 1, argc, argv);
    if (code >= 0) return code;
    if (!output && !pictures) return cli_usage(cli, "where to? Expected --output FILE or --pictures FOLDER");
    code = take_span(cli, "steps", steps, &read.first_step, &read.steps);
    if (!code) code = take_span(cli, "cameras", cameras, &read.first_camera, &read.cameras);
    if (!code && output) code = cli_check_output(cli, output);
    if (!code) code = cli_context(cli, &context);
    if (!code) m = mvv_read_layer(cli, context, cli->input[0], &read, &layer, &code);
    if (!code && output) {
        tsr_multiview_write_options o = TSR_MULTIVIEW_WRITE_OPTIONS;
        o.overwrite = cli->globals.force;
        o.progress = cli_progress(cli);
        const tsr_status status = tsr_multiview_write(m, output, &o, NULL);
        cli_progress_end(cli);
        if (status != TSR_OK) code = cli_status(cli, status, output);
    }
    if (!code && pictures) code = write_pictures(cli, m, pictures, &read, alpha);
    tsr_multiview_destroy(&m);
    tsr_context_destroy(&context);
    return code;
}

const cli_verb mvv_decode = { "mvv decode", "[options] FILE.mvv (-o RAW.mvv | --pictures FOLDER)", "Decode multi-view textures",
                              "  tessera mvv decode film-030.mvv -o decoded.mvv\n"
                              "  tessera mvv decode film-030.mvv --steps 3 --cameras 0:1 --pictures step3\n"
                              "  tessera mvv decode film-030.mvv --show master --steps 0 --cameras 0 --pictures master\n",
                              decode };

/* ---- compare ---------------------------------------------------------------------------------------------------------------------------------- */

static int compare(cli_call *cli, int argc, char **argv)
{
    tsr_multiview_read_options read = TSR_MULTIVIEW_READ_OPTIONS;
    tsr_multiview_difference d = TSR_MULTIVIEW_DIFFERENCE;
    tsr_context *context = NULL;
    tsr_multiview *m[2] = { NULL, NULL };
    double least = 0;
    int least_given = 0;
    const cli_option options[] = {
        { .name = "psnr",
          .type = CLI_REAL,
          .value = &least,
          .given = &least_given,
          .argument = "DB",
          .help = "exit with 3 if Y has less (default: if anything differs)",
          .lower = 0,
          .upper = 1000 },
        { .name = "bpp",
          .type = CLI_REAL,
          .value = &read.bpp,
          .argument = "BITS",
          .help = "a texel of Y: leave the rest of B's embedded streams unread",
          .lower = 1e-9,
          .upper = 64 },
        { .name = "memory-limit",
          .type = CLI_BYTES,
          .value = &read.memory_limit,
          .argument = "BYTES",
          .help = "of the textures",
          .lower = 1,
          .upper = 9e18 },
        { 0 },
    };
    int code = cli_parse(cli, options, 2, 2, argc, argv);
    if (code >= 0) return code;
    code = cli_context(cli, &context);
    const double bpp = read.bpp;
    for (int k = 0; !code && k < 2; k++) {
        read.bpp = k ? bpp : 0; /* A is what B is measured by: all of it */
        m[k] = mvv_read(cli, context, cli->input[k], &read, &code);
    }
    if (!code) {
        const tsr_status status = tsr_multiview_compare(m[0], m[1], &d);
        if (status != TSR_OK) code = cli_status(cli, status, cli->input[1]);
    }
    if (!code && cli->globals.json) {
        json_open(NULL, '{');
        json_int("texels", d.texels);
        json_int("masks_differ", d.masks_differ);
        json_open("psnr", '[');
        for (int p = 0; p < 3; p++) json_real(NULL, d.psnr[p]);
        json_close(']');
        json_real("psnr_rgb", d.psnr_rgb);
        json_open("largest", '[');
        for (int p = 0; p < 3; p++) json_int(NULL, d.largest[p]);
        json_close(']');
        json_close('}');
    } else if (!code) {
        printf("%lld relevant texels; masks differ in %lld\n", (long long)d.texels, (long long)d.masks_differ);
        for (int p = 0; p < 3; p++) printf("%c: PSNR %.3f dB, largest difference %d\n", "YUV"[p], d.psnr[p], d.largest[p]);
        printf("RGB: PSNR %.3f dB\n", d.psnr_rgb);
    }
    if (!code) code = (least_given ? d.psnr[0] < least : d.masks_differ || d.largest[0] || d.largest[1] || d.largest[2]) ? CLI_DIFFERS : CLI_OK;
    for (int k = 0; k < 2; k++) tsr_multiview_destroy(&m[k]);
    tsr_context_destroy(&context);
    return code;
}

const cli_verb mvv_compare = { "mvv compare", "[options] A.mvv B.mvv", "Errors of textures on relevant texels",
                               "  tessera mvv compare film.mvv film-030.mvv\n", compare };
