#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "mip.h"

/* Spacing as stretch, the finest axis 1; the whole volume in the picture unless a zoom is asked for. A view has no shear. */
static int view_of(const struct mip *m, const tsr_mip_info *i, tsr_mip_view *view)
{
    const int code = mip_failed(m, tsr_geometry_check_perpendicular(&i->geometry, m->cli->input[1]), m->cli->input[1]);
    const double least = fmin(i->spacing.x, fmin(i->spacing.y, i->spacing.z));
    const tsr_vec3 s = { i->spacing.x / least, i->spacing.y / least, i->spacing.z / least };
    const double x = s.x * (double)i->size.x, y = s.y * (double)i->size.y, z = s.z * (double)i->size.z;
    const double fit = fmin(m->width, m->height) / sqrt(x * x + y * y + z * z);
    *view = tsr_mip_orbit(m->azimuth, m->elevation, m->zoom > 0 ? m->zoom : fit > 1 ? 1 : fit);
    view->stretch = s;
    return code;
}

/* Values as they are, 8 or 16 bits wide. */
static tsr_status save_values(const struct mip *m, const uint32_t *values, tsr_dtype dtype, const tsr_write_options *write)
{
    const int64_t pixels = (int64_t)m->width * m->height;
    tsr_volume *picture = NULL;
    tsr_status status = tsr_volume_create(NULL, dtype, (tsr_size3){ m->width, m->height, 1 }, NULL, &picture);
    for (int64_t i = 0; i < pixels && status == TSR_OK; i++)
        if (dtype == TSR_U8) ((uint8_t *)tsr_volume_data(picture))[i] = (uint8_t)values[i];
        else ((uint16_t *)tsr_volume_data(picture))[i] = (uint16_t)values[i];
    if (status == TSR_OK) status = tsr_volume_write(picture, m->output, write);
    tsr_volume_destroy(&picture);
    return status;
}

/* The frame's values on the host; the caller frees them. */
static tsr_status values_of(const struct mip *m, const tsr_mip_frame *frame, uint32_t **values)
{
    *values = malloc((size_t)m->width * (size_t)m->height * sizeof **values);
    return *values ? tsr_mip_frame_download(frame, *values) : TSR_ERROR_MEMORY;
}

static tsr_status save_wide(const struct mip *m, const tsr_mip_frame *frame, const tsr_write_options *write)
{
    uint32_t *values = NULL;
    tsr_status status = values_of(m, frame, &values);
    if (status == TSR_OK) status = save_values(m, values, TSR_U16, write);
    free(values);
    return status;
}

/* What the frame lacks of the picture from all coefficients, pixel by pixel; --window: these differences black and white. */
static int save_difference(const struct mip *m, const tsr_mip_view *view, const tsr_mip_frame *frame, tsr_dtype dtype)
{
    const int64_t pixels = (int64_t)m->width * m->height;
    tsr_mip_render_options all = m->render;
    tsr_write_options write = cli_write_options(m->cli);
    tsr_mip_frame *full = NULL;
    tsr_mip_errors e = TSR_MIP_ERRORS;
    uint32_t *have = NULL, *want = NULL;
    if (!strcmp(m->output, "-")) write.format = "png";
    all.count = 0;
    all.fraction = all.error = 0;
    all.finest = 0;
    tsr_status status = tsr_mip_frame_create(m->context, m->width, m->height, &full);
    if (status == TSR_OK) status = tsr_mip_render(m->pyramid, view, &all, full, NULL);
    if (status == TSR_OK) status = tsr_mip_compare(frame, full, &e);
    if (status == TSR_OK) status = values_of(m, frame, &have);
    if (status == TSR_OK) status = values_of(m, full, &want);
    for (int64_t i = 0; i < pixels && status == TSR_OK; i++) {
        const double d = fabs((double)want[i] - (double)have[i]);
        want[i] = !m->window_given ? (uint32_t)d : (uint32_t)(255 * fmin(fmax((d - m->window[0]) / (m->window[1] - m->window[0]), 0), 1) + 0.5);
    }
    if (status == TSR_OK) status = save_values(m, want, m->window_given ? TSR_U8 : dtype, &write);
    if (status == TSR_OK) cli_note(m->cli, "largest difference %g, relative L1 %.2e, median %g", e.maximum, e.relative, e.median);
    free(want);
    free(have);
    tsr_mip_frame_destroy(&full);
    return mip_failed(m, status, m->output);
}

static int save(const struct mip *m, const tsr_mip_frame *frame, tsr_dtype dtype)
{
    const double most = dtype == TSR_U8 ? 255 : 65535;
    const double low = m->window_given ? m->window[0] : 0, high = m->window_given ? m->window[1] : most;
    tsr_write_options write = cli_write_options(m->cli);
    tsr_image image;
    if (!strcmp(m->output, "-")) write.format = "png";
    if (dtype == TSR_U16 && !m->window_given && (write.format || cli_ends_in(m->output, ".png")))
        return mip_failed(m, save_wide(m, frame, &write), m->output);
    tsr_status status = tsr_mip_frame_image(frame, dtype, high - low, 0.5 * (low + high), &image);
    if (status == TSR_OK) status = tsr_image_write(&image, m->output, &write);
    tsr_image_destroy(&image);
    return mip_failed(m, status, m->output);
}

/* The frame's picture from several contexts: of the devices kind:0 to kind:n-1 on a GPU, else of one device. */
static tsr_status render_group(struct mip *m, const tsr_mip_view *view, tsr_mip_frame *frame, tsr_mip_statistics *s)
{
    const tsr_device first = tsr_context_device(m->context);
    tsr_context *contexts[64] = { m->context };
    tsr_mip_group *group = NULL;
    tsr_status status = TSR_OK;
    for (int32_t k = 1; k < m->devices && status == TSR_OK; k++) {
        char name[32];
        tsr_context_options options = TSR_CONTEXT_OPTIONS;
        if (first.kind == TSR_DEVICE_CUDA) snprintf(name, sizeof name, "cuda:%d", first.index + k);
        else snprintf(name, sizeof name, "%s", tsr_device_kind_name(first.kind));
        options.device = name;
        options.threads = tsr_context_threads(m->context);
        status = tsr_context_create(&options, &contexts[k]);
    }
    if (status == TSR_OK) status = tsr_mip_group_create(contexts, m->devices, m->pyramid, &group);
    if (status == TSR_OK) tsr_mip_destroy(&m->pyramid);
    if (status == TSR_OK) status = tsr_mip_group_render(group, view, &m->render, frame, s);
    tsr_mip_group_destroy(&group);
    for (int32_t k = 1; k < m->devices; k++) tsr_context_destroy(&contexts[k]);
    return status;
}

static int open_stream(struct mip *m, const char *path)
{
    tsr_mip_stream_options options = TSR_MIP_STREAM_OPTIONS;
    options.memory_limit = m->read.memory_limit;
    options.progress = cli_progress(m->cli);
    const tsr_status status = tsr_mip_stream_create(m->context, path, &options, &m->file);
    cli_progress_end(m->cli);
    return mip_failed(m, status, path);
}

static int render(struct mip *m)
{
    tsr_mip_frame *frame = NULL;
    tsr_mip_statistics s = TSR_MIP_STATISTICS;
    int code = m->stream ? open_stream(m, m->cli->input[1]) : mip_load(m, m->cli->input[1]);
    if (code) return code;
    const tsr_mip_info info = m->stream ? *tsr_mip_stream_describe(m->file) : *tsr_mip_describe(m->pyramid);
    if (m->devices > 1 && info.format != TSR_MIP_BRICKS)
        return cli_usage(m->cli, "--devices: %s is stored in the format %s, expected a pyramid of format bricks", m->cli->input[1],
                         mip_formats[info.format]);
    if (m->devices > info.bricks)
        cli_note(m->cli, "warning: %d devices for %lld bricks: %lld of them have nothing to draw", m->devices, (long long)info.bricks,
                 (long long)(m->devices - info.bricks));
    tsr_mip_view view;
    code = view_of(m, &info, &view);
    if (code) return code;
    tsr_status status = tsr_mip_frame_create(m->context, m->width, m->height, &frame);
    if (status == TSR_OK)
        status = m->stream        ? tsr_mip_stream_render(m->file, &view, &m->render, frame, &s)
                 : m->devices > 1 ? render_group(m, &view, frame, &s)
                                  : tsr_mip_render(m->pyramid, &view, &m->render, frame, &s);
    if (m->stream) cli_progress_end(m->cli);
    code = mip_failed(m, status, NULL);
    if (!code) code = m->difference ? save_difference(m, &view, frame, info.dtype) : save(m, frame, info.dtype);
    if (!code) cli_note(m->cli, "%lld of %lld coefficients", (long long)s.drawn, (long long)info.coefficients);
    tsr_mip_frame_destroy(&frame);
    return code;
}

/* A table of errors and times by number of coefficients; with the volume also whether the exact picture is that of every voxel. */
static int compare(struct mip *m)
{
    static const double parts[6] = { 1, 0.5, 0.25, 0.13, 0.06, 0.01 };
    tsr_mip_frame *frame = NULL, *full = NULL;
    tsr_mip_dense *dense = NULL;
    tsr_mip_errors e = TSR_MIP_ERRORS;
    int8_t points[64][3];
    int code = mip_load(m, m->cli->input[1]), differs = 0;
    if (!code && m->cli->inputs == 3) {
        tsr_volume_destroy(&m->volume);
        code = mip_read_volume(m, m->cli->input[2]);
    }
    if (code) return code;
    const tsr_mip_info info = *tsr_mip_describe(m->pyramid);
    if (m->cli->inputs == 3) {
        const tsr_size3 n = tsr_volume_size(m->volume);
        if (n.x != info.size.x || n.y != info.size.y || n.z != info.size.z)
            return cli_usage(m->cli, "%s: %lld x %lld x %lld voxels, expected %lld x %lld x %lld as in %s", m->cli->input[2], (long long)n.x,
                             (long long)n.y, (long long)n.z, (long long)info.size.x, (long long)info.size.y, (long long)info.size.z,
                             m->cli->input[1]);
    }
    tsr_mip_view view;
    code = view_of(m, &info, &view);
    if (code) return code;
    tsr_mip_render_options o = m->render;
    tsr_status status = tsr_mip_frame_create(m->context, m->width, m->height, &frame);
    if (status == TSR_OK) status = tsr_mip_frame_create(m->context, m->width, m->height, &full);
    o.fraction = 0;
    if (status == TSR_OK) status = tsr_mip_render(m->pyramid, &view, &o, full, NULL);
    if (m->cli->globals.json) {
        json_open(NULL, '{');
        json_open("table", '[');
    } else {
        printf("coefficients  largest  relative L1  median        ms\n");
    }
    for (int k = 0; k < 6 && status == TSR_OK; k++) {
        o.fraction = parts[k];
        status = tsr_mip_render(m->pyramid, &view, &o, frame, NULL); /* chooses */
        const double start = cli_seconds();
        if (status == TSR_OK) status = tsr_mip_render(m->pyramid, &view, &o, frame, NULL);
        if (status == TSR_OK) status = tsr_context_synchronize(m->context);
        const double seconds = cli_seconds() - start;
        if (status == TSR_OK) status = tsr_mip_compare(frame, full, &e);
        if (status != TSR_OK) break;
        if (m->cli->globals.json) {
            json_open(NULL, '{');
            json_real("fraction", parts[k]);
            json_real("maximum", e.maximum);
            json_real("relative", e.relative);
            json_real("median", e.median);
            json_real("seconds", seconds);
            json_close('}');
        } else {
            printf("%10.0f %%  %7.0f  %11.2e  %6.1f  %8.2f\n", 100 * parts[k], e.maximum, e.relative, e.median, 1e3 * seconds);
        }
    }
    if (m->cli->globals.json) json_close(']');
    if (status == TSR_OK && m->volume && m->cli->inputs == 3) {
        o.fraction = 0;
        o.mode = TSR_MIP_EXACT;
        o.element = info.element;
        o.points = (const int8_t(*)[3])points;
        o.point_count = info.points;
        tsr_mip_get_points(m->pyramid, points);
        status = tsr_mip_render(m->pyramid, &view, &o, frame, NULL);
        if (status == TSR_OK) status = tsr_mip_dense_create(m->context, m->volume, &dense);
        if (status == TSR_OK) status = tsr_mip_dense_render(dense, &view, &o, full);
        if (status == TSR_OK) status = tsr_mip_compare(frame, full, &e);
        differs = e.different != 0;
        if (m->cli->globals.json && status == TSR_OK) json_int("different", e.different);
        else if (status == TSR_OK) printf("exact mode and the dense volume: %lld pixels differ\n", (long long)e.different);
    }
    if (m->cli->globals.json) json_close('}');
    tsr_mip_dense_destroy(&dense);
    tsr_mip_frame_destroy(&full);
    tsr_mip_frame_destroy(&frame);
    return status != TSR_OK ? cli_status(m->cli, status, NULL) : differs ? CLI_DIFFERS : CLI_OK;
}

static int info(struct mip *m)
{
    const char *path = m->cli->input[1];
    const int chosen = cli_no_choice(m->cli, path, &m->read, "a pyramid");
    if (chosen) return chosen;
    const tsr_status status = tsr_mip_read(m->context, path, &m->read, &m->pyramid);
    if (status != TSR_OK) return cli_status(m->cli, status, path);
    const tsr_mip_info i = *tsr_mip_describe(m->pyramid);
    mip_show(m, &i, -1);
    return CLI_OK;
}

/* A volume by its max-tree. */
static int filter(struct mip *m)
{
    const int threshold_given = m->threshold_given;
    int64_t nodes = 0, kept = 0;
    m->threshold_given = 0; /* not twice */
    int code = mip_read_volume(m, m->cli->input[1]);
    m->threshold_given = threshold_given;
    if (code) return code;
    code = mip_failed(m, mip_filter_volume(m, &m->volume, &nodes, &kept), m->cli->input[1]);
    tsr_write_options write = cli_write_options(m->cli);
    write.stored_values = 1; /* the grey values that --range made are what pyramids are built of */
    if (!code) code = mip_failed(m, tsr_volume_write(m->volume, m->output, &write), m->output);
    if (code) return code;
    if (m->cli->globals.json && strcmp(m->output, "-")) {
        json_open(NULL, '{');
        json_int("components", nodes);
        json_int("kept", kept);
        json_close('}');
    }
    cli_note(m->cli, "%lld of %lld components stay", (long long)kept, (long long)nodes);
    return code;
}

static int analyse(struct mip *m)
{
    const int code = mip_read_volume(m, m->cli->input[1]);
    return code ? code : mip_analyse(m);
}

static int check(struct mip *m, const char *action)
{
    static const char *const names[] = { "build", "info", "render", "compare", "filter", "analyse" };
    int known = 0;
    for (int k = 0; k < 6; k++) known |= !strcmp(action, names[k]);
    if (!known) return cli_usage(m->cli, "'%s': expected build, info, render, compare, filter or analyse", action);
    if (m->cli->inputs == 3 && strcmp(action, "compare")) return cli_usage(m->cli, "%s: unexpected third argument", m->cli->input[2]);
    if (m->cli->inputs < 2)
        return cli_usage(m->cli, "%s: missing input, expected a %s", action,
                         strcmp(action, "build") && strcmp(action, "filter") && strcmp(action, "analyse") ? "pyramid" : "volume");
    const int filters = !strcmp(action, "filter"), writes = filters || !strcmp(action, "build") || !strcmp(action, "render");
    if ((filters || !strcmp(action, "analyse")) && m->output && !strcmp(m->output, "-"))
        m->cli->format = "nrrd"; /* --format names the storage of pyramids */
    if (filters && !m->threshold_given) return cli_usage(m->cli, "filter: missing --threshold, the least attribute that stays");
    if (filters || (!strcmp(action, "analyse") && m->output)) return cli_check_write(m->cli, m->output, TSR_FILE_VOLUME, NULL);
    if (!strcmp(action, "analyse")) return CLI_OK;
    if (!writes && m->output) return cli_usage(m->cli, "--output: %s writes no file", action);
    if (!strcmp(action, "build"))
        return mip_is_pyramid(m->output ? m->output : "-") || (m->output && !strcmp(m->output, "-"))
                   ? cli_check_output(m->cli, m->output)
                   : cli_usage(m->cli, "--output: '%s', expected a name that ends in .mip or .mip.gz", m->output ? m->output : "");
    if (writes) return cli_check_write(m->cli, m->output, TSR_FILE_IMAGE, m->output && !strcmp(m->output, "-") ? "png" : NULL);
    return CLI_OK;
}

/* How much is drawn, and between which grey values. */
static int check_amount(const struct mip *m)
{
    const char *const first = m->fraction_given ? "fraction" : "count", *const second = m->error_given ? "error" : "count";
    if (m->fraction_given && m->render.fraction == 0) return cli_usage(m->cli, "--fraction: 0 given, expected more than 0, at most 1");
    if (m->error_given && m->render.error == 0) return cli_usage(m->cli, "--error: 0 given, expected more than 0");
    if (m->fraction_given + m->count_given + m->error_given > 1)
        return cli_usage(m->cli, "--%s: --%s is given already, expected one of --fraction, --count and --error", second, first);
    if (m->window_given && !(isfinite(m->window[0]) && isfinite(m->window[1]) && m->window[0] < m->window[1]))
        return cli_usage(m->cli, "--window: %g:%g given, expected LOWER:UPPER, two finite numbers in rising order", m->window[0], m->window[1]);
    return CLI_OK;
}

static int work(struct mip *m, const char *action)
{
    static const tsr_mip_key keys[] = { TSR_MIP_KEY_IMAGE1, TSR_MIP_KEY_RESIDUAL, TSR_MIP_KEY_IMAGE,
                                        TSR_MIP_KEY_VOLUME, TSR_MIP_KEY_NONE,     TSR_MIP_KEY_GREEDY };
    m->build.element = (tsr_mip_element)m->element;
    m->build.key = keys[m->key];
    m->build.format = (tsr_mip_format)m->format;
    m->build.levels = !m->levels_given ? 0 : m->levels ? m->levels : -1;
    m->render.mode = (tsr_mip_mode)m->mode;
    m->render.close = (tsr_mip_close)m->close;
    m->render.slab = m->slab_given;
    m->render.slab_lower = m->slab[0];
    m->render.slab_upper = m->slab[1];
    int code = cli_context(m->cli, &m->context);
    if (!code)
        code = !strcmp(action, "build")     ? mip_build(m)
               : !strcmp(action, "info")    ? info(m)
               : !strcmp(action, "render")  ? render(m)
               : !strcmp(action, "filter")  ? filter(m)
               : !strcmp(action, "analyse") ? analyse(m)
                                            : compare(m);
    tsr_mip_stream_destroy(&m->file);
    tsr_mip_destroy(&m->pyramid);
    tsr_volume_destroy(&m->volume);
    tsr_context_destroy(&m->host);
    tsr_context_destroy(&m->context);
    return code;
}

static int run(cli_call *cli, int argc, char **argv)
{
    struct mip m = { .cli = cli,
                     .read = TSR_READ_OPTIONS,
                     .build = TSR_MIP_OPTIONS,
                     .render = TSR_MIP_RENDER_OPTIONS,
                     .tree = TSR_MAX_TREE_OPTIONS,
                     .filter = TSR_MAX_TREE_FILTER_OPTIONS,
                     .analysis = TSR_FILTER_PYRAMID_OPTIONS,
                     .width = 512,
                     .height = 512,
                     .bits = 8,
                     .azimuth = 30,
                     .elevation = 20 };
    cli_option options[] = {
        { .name = "output",
          .letter = 'o',
          .type = CLI_TEXT,
          .value = &m.output,
          .argument = "FILE",
          .help = "build: pyramid (.mip, .mip.gz); render: PNG; filter, analyse: volume (-: NRRD)" },
        { .name = "levels",
          .type = CLI_INT,
          .value = &m.levels,
          .argument = "L",
          .help = "reductions (default 2)",
          .lower = 0,
          .upper = 8,
          .given = &m.levels_given },
        { .name = "element",
          .type = CLI_CHOICE,
          .value = &m.element,
          .argument = "A",
          .help = "structuring element",
          .choices = "cube2 cube3 cross6" },
        { .name = "key",
          .type = CLI_CHOICE,
          .value = &m.key,
          .argument = "ORDER",
          .help = "order of the coefficients",
          .choices = "image1 residual image volume none greedy" },
        { .name = "format", .type = CLI_CHOICE, .value = &m.format, .argument = "NAME", .help = "storage", .choices = "bricks list4 list6 list8" },
        { .name = "hide", .type = CLI_FLAG, .value = &m.build.hide, .help = "drop voxels that cannot be seen from anywhere" },
        { .name = "keep",
          .type = CLI_REAL,
          .value = &m.keep,
          .argument = "SHARE",
          .help = "build: of the coefficients only the first of the order, of a volume or of a pyramid's",
          .lower = 0,
          .upper = 1,
          .given = &m.keep_given },
        { .name = "measure", .type = CLI_FLAG, .value = &m.build.measure, .help = "measure errors for --error" },
        { .name = "range",
          .type = CLI_RANGE,
          .value = m.range,
          .help = "values of other voxel types that become 0 and the largest grey value",
          .given = &m.range_given },
        { .name = "bits",
          .type = CLI_INT,
          .value = &m.bits,
          .argument = "8|16",
          .help = "with --range: of the grey values (default 8)",
          .lower = 8,
          .upper = 16 },
        { .name = "attribute",
          .type = CLI_CHOICE,
          .value = &m.attribute,
          .argument = "WHAT",
          .help = "with --threshold: measure of the components of the max-tree",
          .choices = "volume height mass extent noncompactness" },
        { .name = "threshold",
          .type = CLI_REAL,
          .value = &m.filter.threshold,
          .argument = "LAMBDA",
          .help = "drop components of less than this attribute from the volume",
          .given = &m.threshold_given },
        { .name = "rule",
          .type = CLI_CHOICE,
          .value = &m.rule,
          .argument = "RULE",
          .help = "with --threshold: what becomes of components inside dropped ones",
          .choices = "direct min max subtractive" },
        { .name = "neighbours",
          .type = CLI_INT,
          .value = &m.tree.neighbours,
          .argument = "6|18|26",
          .help = "with --threshold: of a voxel (default 26)" },
        { .name = "filter",
          .type = CLI_CHOICE,
          .value = &m.analysis_filter,
          .argument = "WHAT",
          .help = "analyse: what comes before subsampling",
          .choices = "erosion opening reconstruction" },
        { .name = "iterations",
          .type = CLI_INT,
          .value = &m.analysis.iterations,
          .argument = "N",
          .help = "analyse: conditional dilations of a reconstruction (default: until nothing changes)",
          .lower = 1,
          .upper = 1000000 },
        { .name = "width", .type = CLI_INT, .value = &m.width, .argument = "PIXELS", .help = "default 512", .lower = 1, .upper = 32768 },
        { .name = "height", .type = CLI_INT, .value = &m.height, .argument = "PIXELS", .help = "default 512", .lower = 1, .upper = 32768 },
        { .name = "azimuth", .type = CLI_REAL, .value = &m.azimuth, .argument = "DEGREES", .help = "0 looks along -y, z up (default 30)" },
        { .name = "elevation", .type = CLI_REAL, .value = &m.elevation, .argument = "DEGREES", .help = "90 from above (default 20)" },
        { .name = "zoom",
          .type = CLI_REAL,
          .value = &m.zoom,
          .argument = "Z",
          .help = "pixels per voxel (default: the volume fits, at most 1)",
          .lower = 0.001,
          .upper = 64 },
        { .name = "mode",
          .type = CLI_CHOICE,
          .value = &m.mode,
          .argument = "MODE",
          .help = "how coefficients are drawn",
          .choices = "splat cascade exact" },
        { .name = "fraction",
          .type = CLI_REAL,
          .value = &m.render.fraction,
          .argument = "P",
          .help = "of the coefficients, more than 0, at most 1 (default 1)",
          .lower = 0,
          .upper = 1,
          .given = &m.fraction_given },
        { .name = "count",
          .type = CLI_COUNT,
          .value = &m.render.count,
          .argument = "K",
          .help = "coefficients, instead",
          .lower = 1,
          .upper = 9e15,
          .given = &m.count_given },
        { .name = "error",
          .type = CLI_REAL,
          .value = &m.render.error,
          .argument = "E",
          .help = "relative error instead, more than 0; needs a measured pyramid",
          .lower = 0,
          .upper = 1e9,
          .given = &m.error_given },
        { .name = "stream",
          .type = CLI_FLAG,
          .value = &m.stream,
          .help = "read the pyramid piece by piece: no more of it in memory than --memory-limit (default 256 MiB)" },
        { .name = "devices",
          .type = CLI_INT,
          .value = &m.devices,
          .argument = "N",
          .help = "deal the pyramid out over N devices; --format bricks alone",
          .lower = 1,
          .upper = 64 },
        { .name = "finest",
          .type = CLI_INT,
          .value = &m.render.finest,
          .argument = "LEVEL",
          .help = "only levels from this one up: a preview; analyse: of the volume that is written",
          .lower = 0,
          .upper = 8 },
        { .name = "lower",
          .type = CLI_INT,
          .value = &m.render.lower,
          .argument = "V",
          .help = "darker values are background",
          .lower = 1,
          .upper = 65535 },
        { .name = "upper",
          .type = CLI_INT,
          .value = &m.render.upper,
          .argument = "V",
          .help = "brighter values are white",
          .lower = 1,
          .upper = 65535 },
        { .name = "window",
          .type = CLI_RANGE,
          .value = m.window,
          .help = "grey values shown black and white (default: all; 16-bit values are then written as they are)",
          .given = &m.window_given },
        { .name = "difference",
          .type = CLI_FLAG,
          .value = &m.difference,
          .help = "the picture of what these coefficients lack of all: |all - these|; --window makes it brighter" },
        { .name = "close",
          .type = CLI_CHOICE,
          .value = &m.close,
          .argument = "WHAT",
          .help = "holes of oblique views",
          .choices = "auto off all holes" },
        { .name = "slab",
          .type = CLI_RANGE,
          .value = m.slab,
          .help = "only these depths from the middle (voxels, away); needs --mode exact",
          .given = &m.slab_given },
        { .name = "slices",
          .type = CLI_FLAG,
          .value = &m.render.slices,
          .help = "compare with a volume: draw it slice after slice (as textures), not ray by ray" },
        CLI_READ_OPTIONS_LIMIT(m.read, "refuse larger files; build goes through a larger volume box by box"),
        { 0 },
    };
    int given[sizeof options / sizeof *options] = { 0 };
    for (size_t k = 0; k < sizeof options / sizeof *options; k++)
        if (!options[k].given) options[k].given = &given[k];
    cli->first = 1; /* behind the word */
    int code = cli_parse(cli, options, 1, 3, argc, argv);
    if (code >= 0) return code;
    for (size_t k = 0; k < sizeof options / sizeof *options; k++) given[k] = *options[k].given;
    if (m.bits != 8 && m.bits != 16) return cli_usage(cli, "--bits: %d, expected 8 or 16", m.bits);
    code = check(&m, cli->input[0]);
    if (!code) code = mip_check_given(&m, options, given, cli->input[0]);
    if (!code) code = check_amount(&m);
    return code ? code : work(&m, cli->input[0]);
}

const cli_verb verb_mip = { "mip",
                            "[options] build VOLUME -o FILE.mip | info FILE.mip | render FILE.mip -o PNG | compare FILE.mip [VOLUME] | filter VOLUME "
                            "-o VOLUME | analyse VOLUME",
                            "Maximum intensity projection from morphological pyramids: fast previews, exact pictures",
                            "  tessera make phantom_liver --size 96 -o vessels.nrrd\n"
                            "  tessera mip build vessels.nrrd --range 0:1 --measure -o vessels.mip\n"
                            "  tessera mip render vessels.mip --fraction 0.06 -o preview.png\n"
                            "  tessera mip render vessels.mip --mode exact --azimuth 60 -o exact.png\n"
                            "  tessera mip compare vessels.mip vessels.nrrd --range 0:1\n"
                            "  tessera mip filter vessels.nrrd --range 0:1 --attribute noncompactness --threshold 0.5 -o tubes.nrrd\n",
                            run };
