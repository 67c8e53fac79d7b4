/* What convert does to a volume on its way: the steps, in the order of --help. */
#include "convert.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "labels.h"

int convert_has_steps(const convert *c)
{
    return c->crop_given || c->reorient || c->resample_given || c->like || c->deshear || c->axis_aligned || c->level || c->smooth_given ||
           c->threshold_given || c->largest_component || c->dtype_given || c->window_given || c->slice.text;
}

/* The result of a step becomes the volume. */
static tsr_status take(convert *c, tsr_status status, tsr_volume *next)
{
    if (status != TSR_OK) return status;
    tsr_volume_destroy(&c->volume);
    c->volume = next;
    return TSR_OK;
}

/* The grid of `like` in the unit of length of `volume`. */
static tsr_geometry in_unit_of(const tsr_volume *volume, const tsr_volume *like)
{
    const double from = tsr_volume_unit(like), to = tsr_volume_unit(volume), factor = (from > 0 ? from : 1) / (to > 0 ? to : 1);
    tsr_geometry g = *tsr_volume_geometry(like);
    for (int i = 0; i < 12 && factor != 1; i++) g.affine[i / 4][i % 4] *= factor;
    return g;
}

static int resample(convert *c, tsr_status *status)
{
    tsr_resample_options options = TSR_RESAMPLE_OPTIONS;
    tsr_geometry straight;
    tsr_volume *like = NULL, *next = NULL;
    int code = CLI_OK;
    options.interpolation = c->interpolation;
    if (!c->interpolation_given && c->source) options.interpolation = TSR_INTERPOLATE_NEAREST; /* segments are labels */
    else if (!c->interpolation_given && tsr_volume_holds_labels(c->volume)) {
        options.interpolation = TSR_INTERPOLATE_NEAREST;
        cli_note(c->cli, "%s holds labels: resampled to the nearest voxel's (--interpolation label has smoother borders)", c->cli->input[0]);
    } else if (!c->interpolation_given)
        cli_note_labels(c->cli, c->cli->input[0], c->volume, "linear interpolation mixes their numbers; --interpolation label or nearest keeps them");
    options.spacing = c->resample;
    if (isnan(c->fill) && (c->dtype == TSR_F32 || c->dtype == TSR_F64) && c->dtype_given && tsr_volume_dtype(c->volume) != c->dtype) {
        *status = tsr_volume_convert(c->context, c->volume, c->dtype, &next); /* --dtype first: integers are all numbers */
        *status = take(c, *status, next);
        next = NULL;
        if (*status != TSR_OK) return code;
    }
    if (!c->resample_given) { /* a grid that may reach beyond the volume */
        options.border = c->replicate && !c->fill_text ? TSR_BORDER_REPLICATE : TSR_BORDER_CONSTANT;
        options.value = c->fill;
    }
    if (c->deshear || c->axis_aligned) {
        *status = tsr_geometry_straighten(tsr_volume_geometry(c->volume), tsr_volume_size(c->volume),
                                          c->deshear ? TSR_STRAIGHTEN_DESHEAR : TSR_STRAIGHTEN_ALIGN, &straight, &options.size);
        if (*status != TSR_OK) return code;
        options.geometry = &straight;
    } else if (c->like) {
        like = cli_read_volume(c->cli, c->like, &c->read, &code);
        if (!like) return code;
        straight = in_unit_of(c->volume, like);
        if (c->source)
            straight = tsr_geometry_convert(&straight, tsr_volume_geometry(c->volume)->space); /* DICOM is LPS, whatever the labels are in */
        options.geometry = &straight;
        options.size = tsr_volume_size(like);
    }
    *status = tsr_volume_resample(c->context, c->volume, &options, &next);
    *status = take(c, *status, next);
    tsr_volume_destroy(&like);
    return CLI_OK;
}

/* --level: 2^level voxels along each axis become one. */
static int reduce(convert *c)
{
    int code = CLI_OK;
    tsr_levels *levels = NULL;
    tsr_volume *next = NULL;
    if (tsr_volume_holds_labels(c->volume) && !c->rule_given)
        return cli_usage(c->cli, "--level: %s holds labels, whose average is none of them: expected --resample, or --rule with a way that suits them",
                         c->cli->input[0]);
    if (!c->rule_given)
        cli_note_labels(c->cli, c->cli->input[0], c->volume, "--level averages their numbers; --rule max or --resample keeps some of them");
    tsr_status status = tsr_levels_create(c->context, tsr_volume_size(c->volume), tsr_volume_dtype(c->volume), c->rule, &levels);
    if (status == TSR_OK) status = tsr_levels_build(levels, c->volume, NULL);
    const int32_t count = tsr_levels_count(levels);
    if (status == TSR_OK && c->level > count)
        code = cli_usage(c->cli, "--level: %d given, expected at most %d, where one voxel is left", c->level, (int)count);
    if (status == TSR_OK && !code) status = tsr_volume_copy(tsr_levels_volume(levels, c->level), c->context, &next);
    if (status == TSR_OK && next) status = take(c, status, next);
    tsr_levels_destroy(&levels);
    return status == TSR_OK ? code : cli_status(c->cli, status, c->cli->input[0]);
}

static void note_not_numbers(const convert *c, const tsr_statistics *all)
{
    if (all->nan_count)
        cli_note(c->cli, "%s: %lld samples are not a number: 0 in %s", c->cli->input[0], (long long)all->nan_count, tsr_dtype_name(c->dtype));
}

/* --window: LOWER becomes 0, UPPER the largest number of the type. */
static tsr_status stretch(convert *c, tsr_volume **next)
{
    const double most = c->dtype == TSR_U8 ? 255 : 65535, scale = most / (c->window[1] - c->window[0]);
    double slope, intercept;
    tsr_statistics all = TSR_STATISTICS;
    if (tsr_volume_statistics(c->context, c->volume, &all) == TSR_OK) note_not_numbers(c, &all);
    tsr_volume_scaling(c->volume, &slope, &intercept);
    const tsr_status status = tsr_volume_set_scaling(c->volume, slope * scale, (intercept - c->window[0]) * scale);
    return status == TSR_OK ? tsr_volume_convert(c->context, c->volume, c->dtype, next) : status;
}

static int names_jpeg(const convert *c) { return c->write.format ? !strcasecmp(c->write.format, "jpeg") : cli_ends_in(c->output, ".jpg .jpeg"); }

static int check_window(convert *c)
{
    if (!(isfinite(c->window[0]) && isfinite(c->window[1]) && c->window[0] < c->window[1]))
        return cli_usage(c->cli, "--window: %g:%g given, expected LOWER:UPPER in rising order", c->window[0], c->window[1]);
    if (!c->dtype_given) c->dtype = names_jpeg(c) ? TSR_U8 : TSR_U16;
    if (c->dtype != TSR_U8 && c->dtype != TSR_U16) return cli_usage(c->cli, "--window: to --dtype %s, expected u8 or u16", tsr_dtype_name(c->dtype));
    return CLI_OK;
}

/* Steps for which all three axes are space. */
static int check_space(const convert *c)
{
    const char *step = c->level ? "level" : c->largest_component ? "largest-component" : NULL;
    if (!step || tsr_volume_channels(c->volume) < 2) return CLI_OK;
    return cli_usage(c->cli, "--%s: %s is an image of %d channels, expected one: --slice z=0 takes the first", step, c->cli->input[0],
                     tsr_volume_channels(c->volume));
}

/* A bound as an integer of 64 bits, where it is one and a double would round it. */
static int whole_bound(const char *text, int is_unsigned, int64_t missing, int64_t *value)
{
    char *end;
    errno = 0;
    *value = missing;
    if (!*text || *text == ':') return 1;
    if (is_unsigned && *text == '-') return 0;
    *value = is_unsigned ? (int64_t)strtoull(text, &end, 10) : (int64_t)strtoll(text, &end, 10);
    return end > text && (!*end || *end == ':') && !errno;
}

/* --threshold; labels of 64 bits are told apart beyond the 53 bits of a double. */
static tsr_status threshold(const convert *c, tsr_volume **mask)
{
    const tsr_dtype dtype = tsr_volume_dtype(c->volume);
    const char *upper = strchr(c->threshold_text, ':') + 1;
    double slope, intercept;
    int64_t bound[2];
    tsr_volume_scaling(c->volume, &slope, &intercept);
    if ((dtype == TSR_I64 || dtype == TSR_U64) && slope == 1 && intercept == 0 &&
        whole_bound(c->threshold_text, dtype == TSR_U64, dtype == TSR_U64 ? 0 : INT64_MIN, &bound[0]) &&
        whole_bound(upper, dtype == TSR_U64, dtype == TSR_U64 ? -1 : INT64_MAX, &bound[1]))
        return tsr_volume_threshold_integers(c->context, c->volume, bound[0], bound[1], mask);
    return tsr_volume_threshold(c->context, c->volume, c->threshold[0], c->threshold[1], mask);
}

/* --dtype: samples that the type has no number for. */
static void note_cut(const convert *c)
{
    static const struct {
        tsr_dtype dtype;
        double lower, upper; /* beyond them rounding leaves the type */
    } types[] = { { TSR_U8, -0.5, 255.5 },        { TSR_I8, -128.5, 127.5 },       { TSR_U16, -0.5, 65535.5 },
                  { TSR_I16, -32768.5, 32767.5 }, { TSR_U32, -0.5, 4294967295.5 }, { TSR_I32, -2147483648.5, 2147483647.5 },
                  { TSR_U64, -0.5, 0x1p64 },      { TSR_I64, -0x1p63, 0x1p63 },    { TSR_F32, -0x1.ffffffp127, 0x1.ffffffp127 } };
    tsr_statistics all = TSR_STATISTICS, within = TSR_STATISTICS;
    tsr_volume *mask = NULL;
    size_t k = 0;
    while (k < sizeof types / sizeof *types && types[k].dtype != c->dtype) k++;
    if (k == sizeof types / sizeof *types || tsr_volume_statistics(c->context, c->volume, &all) != TSR_OK) return;
    const int real = c->dtype == TSR_F32;
    if (!real) note_not_numbers(c, &all);
    const int64_t endless = real ? 0 : all.infinite_count;
    if (!endless && (!all.count || (all.minimum >= types[k].lower && all.maximum <= types[k].upper))) return;
    if (tsr_volume_threshold(c->context, c->volume, types[k].lower, types[k].upper, &mask) == TSR_OK &&
        tsr_volume_statistics(c->context, mask, &within) == TSR_OK)
        cli_note(c->cli, "%s: %lld samples of %.9g to %.9g are beyond %s: %s", c->cli->input[0],
                 (long long)(all.count + endless - (int64_t)(within.sum + 0.5)), all.minimum, all.maximum, tsr_dtype_name(c->dtype),
                 real ? "infinite" : "cut to its range (--window stretches)");
    tsr_volume_destroy(&mask);
}

/* The steps in the order --help promises. */
static int process(convert *c)
{
    tsr_volume *next = NULL;
    const int refused = check_space(c);
    if (refused) return refused;
    tsr_status status = cli_move_volume(c->context, &c->volume);
    if (status == TSR_OK && c->crop_given) {
        status = tsr_volume_crop(c->context, c->volume, c->crop[0], c->crop[1], &next);
        status = take(c, status, next);
    }
    if (status == TSR_OK && c->reorient) {
        status = tsr_volume_reorient(c->context, c->volume, c->reorient, &next);
        status = take(c, status, next);
    }
    if (status == TSR_OK && (c->resample_given || c->like || c->deshear || c->axis_aligned)) {
        int code = resample(c, &status);
        if (code) return code;
    }
    if (status == TSR_OK && c->level) {
        int code = reduce(c);
        if (code) return code;
    }
    if (status == TSR_OK && c->smooth_given) {
        cli_note_labels(c->cli, c->cli->input[0], c->volume,
                        "--smooth mixes their numbers; of one label: --threshold L:L into a file of its own first");
        tsr_smooth_options options = TSR_SMOOTH_OPTIONS;
        options.sigma = c->smooth;
        status = tsr_volume_smooth(c->context, c->volume, &options, &next);
        status = take(c, status, next);
    }
    if (status == TSR_OK && c->threshold_given) {
        status = threshold(c, &next);
        status = take(c, status, next);
    }
    if (status == TSR_OK && c->largest_component) {
        cli_note_labels(c->cli, c->cli->input[0], c->volume, "--largest-component takes all labels together; --threshold L:L takes one");
        status = tsr_volume_largest_component(c->context, c->volume, 6, &next, NULL);
        status = take(c, status, next);
    }
    if (status == TSR_OK && c->window_given) {
        status = stretch(c, &next);
        status = take(c, status, next);
    } else if (status == TSR_OK && c->dtype_given) {
        note_cut(c);
        status = tsr_volume_convert(c->context, c->volume, c->dtype, &next);
        status = take(c, status, next);
    }
    if (status == TSR_OK && c->slice.text) {
        const int code = cli_slice_cut(c->cli, c->context, &c->slice, &c->volume);
        if (code) return code;
    }
    if (status == TSR_OK) status = cli_move_volume(NULL, &c->volume);
    return status == TSR_OK ? CLI_OK : cli_status(c->cli, status, c->cli->input[0]);
}

/* --space: other numbers for the same points or, where the input names no frame, a name for its numbers. */
static tsr_status set_space(tsr_volume *volume, tsr_space space)
{
    tsr_geometry geometry = tsr_geometry_convert(tsr_volume_geometry(volume), space);
    geometry.space = space;
    return tsr_volume_set_geometry(volume, &geometry);
}

int convert_steps(convert *c)
{
    int code = CLI_OK;
    if (convert_has_steps(c)) {
        code = c->context ? CLI_OK : cli_context(c->cli, &c->context);
        if (!code) code = process(c);
    }
    const tsr_status status = !code && c->space_given ? set_space(c->volume, (tsr_space)(c->space + 1)) : TSR_OK;
    return status == TSR_OK ? code : cli_status(c->cli, status, c->cli->input[0]);
}

static int check_resample(convert *c)
{
    const struct {
        int given;
        const char *name;
    } ways[] = { { c->resample_given, "resample" }, { c->like != NULL, "like" }, { c->deshear, "deshear" }, { c->axis_aligned, "axis-aligned" } };
    const char *first = NULL;
    for (int i = 0; i < 4; i++) {
        if (ways[i].given && first) return cli_usage(c->cli, "--%s and --%s: expected one of them", first, ways[i].name);
        if (ways[i].given) first = ways[i].name;
    }
    if (!c->fill_text) return CLI_OK;
    if (!first || c->resample_given) return cli_usage(c->cli, "--fill: expected with --like, --deshear or --axis-aligned");
    const cli_option number = { .name = "fill", .type = CLI_REAL, .value = &c->fill };
    if (!strcasecmp(c->fill_text, "nan")) c->fill = (double)NAN;
    else if (cli_take_number(c->cli, &number, c->fill_text) >= 0) return CLI_USAGE;
    return CLI_OK;
}

int convert_check_steps(convert *c)
{
    const int code = c->window_given ? check_window(c) : CLI_OK;
    return code ? code : check_resample(c);
}
