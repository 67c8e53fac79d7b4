#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "films.h"
#include "labels.h"
#include "lists.h"
#include "slice.h"
#include "tiles.h"

struct convert {
    cli_call *cli;
    tsr_read_options read;
    tsr_write_options write;
    const char *output, *like, *source; /* source: of a DICOM output, the series that was segmented */
    tsr_size3 crop[2];
    tsr_vec3 resample;
    double smooth, threshold[2], window[2];
    cli_slice slice;
    const char *threshold_text;
    tsr_interpolation interpolation;
    tsr_level_rule rule;
    int level;
    tsr_dtype dtype;
    const char *reorient, *fill_text, *frames_text;
    int64_t frames[2]; /* --frames: the first and the last */
    double fill;
    int space, space_given, crop_given, resample_given, smooth_given, threshold_given, largest_component, dtype_given, deshear, axis_aligned,
        interpolation_given, rule_given, replicate, window_given;
    tsr_tiles_options tiles;
    cli_tiles_options files;
    int unbounded, add, of_mesh; /* the points are vertices of a mesh */
    tsr_context *context;
    tsr_volume *volume;
};

#define STEPS                                                                                                                                        \
    "--crop, --reorient, --resample, --like, --deshear, --axis-aligned, --level, --smooth, --threshold, --largest-component, --window, --dtype and " \
    "--slice"

static int names_fog(const char *format) { return format && (!strcmp(format, "vdb-fog") || !strcmp(format, "nvdb-fog")); }

static int has_steps(const struct convert *c)
{
    return c->crop_given || c->reorient || c->resample_given || c->like || c->deshear || c->axis_aligned || c->level || c->smooth_given ||
           c->threshold_given || c->largest_component || c->dtype_given || c->window_given || c->slice.text;
}

/* The result of a step becomes the volume. */
static tsr_status take(struct convert *c, tsr_status status, tsr_volume *next)
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

static int resample(struct convert *c, tsr_status *status)
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
        if (c->source) straight = tsr_geometry_convert(&straight, tsr_volume_geometry(c->volume)->space); /* DICOM is LPS, whatever the labels are in */
        options.geometry = &straight;
        options.size = tsr_volume_size(like);
    }
    *status = tsr_volume_resample(c->context, c->volume, &options, &next);
    *status = take(c, *status, next);
    tsr_volume_destroy(&like);
    return CLI_OK;
}

/* --level: 2^level voxels along each axis become one. */
static int reduce(struct convert *c)
{
    int code = CLI_OK;
    tsr_levels *levels = NULL;
    tsr_volume *next = NULL;
    if (tsr_volume_holds_labels(c->volume) && !c->rule_given)
        return cli_usage(c->cli, "--level: %s holds labels, whose average is none of them: expected --resample, or --rule with a way that suits them",
                         c->cli->input[0]);
    if (!c->rule_given) cli_note_labels(c->cli, c->cli->input[0], c->volume, "--level averages their numbers; --rule max or --resample keeps some of them");
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

static void note_not_numbers(const struct convert *c, const tsr_statistics *all)
{
    if (all->nan_count)
        cli_note(c->cli, "%s: %lld samples are not a number: 0 in %s", c->cli->input[0], (long long)all->nan_count, tsr_dtype_name(c->dtype));
}

/* --window: LOWER becomes 0, UPPER the largest number of the type. */
static tsr_status stretch(struct convert *c, tsr_volume **next)
{
    const double most = c->dtype == TSR_U8 ? 255 : 65535, scale = most / (c->window[1] - c->window[0]);
    double slope, intercept;
    tsr_statistics all = TSR_STATISTICS;
    if (tsr_volume_statistics(c->context, c->volume, &all) == TSR_OK) note_not_numbers(c, &all);
    tsr_volume_scaling(c->volume, &slope, &intercept);
    const tsr_status status = tsr_volume_set_scaling(c->volume, slope * scale, (intercept - c->window[0]) * scale);
    return status == TSR_OK ? tsr_volume_convert(c->context, c->volume, c->dtype, next) : status;
}

static int names_jpeg(const struct convert *c)
{
    const char *dot = strrchr(c->output, '.'), *name = c->write.format ? c->write.format : dot ? dot + 1 : "";
    return !strcasecmp(name, "jpeg") || !strcasecmp(name, "jpg");
}

static int check_window(struct convert *c)
{
    if (!(isfinite(c->window[0]) && isfinite(c->window[1]) && c->window[0] < c->window[1]))
        return cli_usage(c->cli, "--window: %g:%g given, expected LOWER:UPPER in rising order", c->window[0], c->window[1]);
    if (!c->dtype_given) c->dtype = names_jpeg(c) ? TSR_U8 : TSR_U16;
    if (c->dtype != TSR_U8 && c->dtype != TSR_U16) return cli_usage(c->cli, "--window: to --dtype %s, expected u8 or u16", tsr_dtype_name(c->dtype));
    return CLI_OK;
}

/* Steps for which all three axes are space. */
static int check_space(const struct convert *c)
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
static tsr_status threshold(const struct convert *c, tsr_volume **mask)
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
static void note_cut(const struct convert *c)
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
static int process(struct convert *c)
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

/* Of the formats with one frame, the one that an extension names (an output may be a pipe, whose reader has gone: it is not looked into). */
static const char *format_of_name(const char *path)
{
    static const char *const ends[][2] = { { ".mha", "metaimage" }, { ".mhd", "metaimage" }, { ".nii", "nifti" },
                                           { ".nii.gz", "nifti" },  { ".hdr", "nifti" },     { ".img", "nifti" } };
    const size_t length = strlen(path);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (length > strlen(ends[i][0]) && !strcasecmp(path + length - strlen(ends[i][0]), ends[i][0])) return ends[i][1];
    return NULL;
}

/* A file format that knows one frame gives it to data that came without: MetaImage always, NIfTI with more than voxel sizes. */
static void remark_frame(const struct convert *c)
{
    const tsr_geometry *g = tsr_volume_geometry(c->volume);
    const char *format = c->write.format, *frame = NULL;
    int sizes_only = 1;
    if (g->space != TSR_SPACE_NONE) return;
    for (int i = 0; i < 12; i++) sizes_only &= i / 4 == i % 4 ? g->affine[i / 4][i % 4] > 0 : g->affine[i / 4][i % 4] == 0;
    if (!format) format = format_of_name(c->output);
    if (format && !strcmp(format, "metaimage")) frame = "LPS";
    if (format && !strncmp(format, "nifti", 5) && !sizes_only) frame = "RAS";
    if (frame)
        cli_note(c->cli, "%s names no world frame, %s calls its axes %s; --space RAS or --space LPS says which they are", c->cli->input[0], c->output,
                 frame);
}

static int write_tiles(struct convert *c, const tsr_tiles *tiles)
{
    const int code = cli_check_plane(c->cli, tiles, c->output, c->write.format);
    if (code) return code;
    c->files.write.format = c->write.format;
    c->files.write.compression = c->write.compression;
    return (c->add ? cli_add_tiles : cli_write_tiles)(c->cli, tiles, c->output, &c->files.write);
}

/* The volume as level set or mask in a tile list. */
static int tiles_of_volume(struct convert *c)
{
    tsr_tiles *tiles = NULL;
    int code = c->context ? CLI_OK : cli_context(c->cli, &c->context);
    if (code) return code;
    cli_note_labels(c->cli, c->cli->input[0], c->volume, "a list takes all labels together; --threshold L:L takes one");
    tsr_status status = cli_move_volume(c->context, &c->volume);
    if (status == TSR_OK) status = cli_tiles_of_dense(c->context, c->volume, &c->tiles, !c->unbounded, &tiles);
    code = status == TSR_OK ? write_tiles(c, tiles) : cli_status(c->cli, status, c->cli->input[0]);
    tsr_tiles_destroy(&tiles);
    return code;
}

/* Lengths that the output has no unit for, or none but millimetres. */
static void remark_unit(const struct convert *c)
{
    const double unit = tsr_volume_unit(c->volume);
    int keeps = 1;
    if (unit == 0 || unit == 1) return;
    if (cli_names_tiles(c->output, c->write.format))
        cli_note_unit(c->cli, c->cli->input[0], c->volume, c->output);
    else if (tsr_file_keeps_unit(c->output, &c->write, unit, &keeps) == TSR_OK && !keeps)
        cli_note(c->cli, "%s: lengths are in %s, those of %s in mm", c->cli->input[0], tsr_volume_unit_name(c->volume), c->output);
}

/* c->volume, through the steps, into the output. */
static tsr_status write_dense(const struct convert *c)
{
    if (c->source) return tsr_volume_write_segments(c->volume, c->source, c->output, &c->write);
    if (c->add) return tsr_volume_add_grid(c->volume, c->output, &c->write);
    return tsr_volume_write(c->volume, c->output, &c->write);
}

static int convert_dense(struct convert *c)
{
    int code = CLI_OK;
    if (has_steps(c)) {
        code = c->context ? CLI_OK : cli_context(c->cli, &c->context);
        if (!code) code = process(c);
    }
    if (code) return code;
    tsr_status status = c->space_given ? set_space(c->volume, (tsr_space)(c->space + 1)) : TSR_OK;
    if (status != TSR_OK) return cli_status(c->cli, status, c->cli->input[0]);
    if (!c->source) remark_unit(c);
    if (cli_names_tiles(c->output, c->write.format)) return tiles_of_volume(c);
    if (names_fog(c->write.format) && c->files.write.name)
        status = tsr_volume_set_meta(c->volume, strcmp(c->write.format, "vdb-fog") ? "nvdb.name" : "vdb.name", c->files.write.name);
    if (status == TSR_OK) status = write_dense(c);
    if (status != TSR_OK) return cli_status(c->cli, status, c->output);
    remark_frame(c);
    return CLI_OK;
}

/* "frame-%03d.nii.gz": where the digits go, or 0 for a plain name. */
static int is_numbered(const char *path)
{
    const char *percent = strchr(path, '%'), *end = percent ? percent + 1 + strspn(percent + 1, "0123456789") : NULL;
    return percent && *end == 'd' && end - percent <= 3 && !strchr(end, '%');
}
static void number_path(const char *pattern, int64_t number, char *path, size_t room)
{
    const char *percent = strchr(pattern, '%'), *end = strchr(percent, 'd');
    const int zeros = percent[1] == '0', width = (int)strtol(percent + 1, NULL, 10);
    snprintf(path, room, zeros ? "%.*s%0*lld%s" : "%.*s%*lld%s", (int)(percent - pattern), pattern, width, (long long)number, end + 1);
}

/* "A-B", from 0, both of them included; A- to the end. */
static int check_frames(struct convert *c, int64_t count)
{
    char *end;
    if (!c->frames_text) return CLI_OK;
    errno = 0;
    c->frames[0] = strtoll(c->frames_text, &end, 10);
    const int open = *end == '-' && !end[1];
    c->frames[1] = open ? count - 1 : *end == '-' ? strtoll(end + 1, &end, 10) : c->frames[0];
    if (end == c->frames_text || (*end && !open) || errno || c->frames[0] < 0 || c->frames[1] < c->frames[0] || c->frames[1] >= count)
        return cli_usage(c->cli, "--frames: '%s' given, expected A-B within 0-%lld, which %s has", c->frames_text, (long long)count - 1,
                         c->cli->input[0]);
    return CLI_OK;
}

/* One picture of a film: a frame or, of a `whole` without frames, a slice. */
static int append_picture(struct convert *c, int64_t number, const tsr_volume *whole, cli_film *film, cli_frames *frames)
{
    int code = CLI_OK;
    if (whole) {
        const tsr_size3 n = tsr_volume_size(whole);
        const size_t bytes = (size_t)(n.x * n.y) * tsr_dtype_size(tsr_volume_dtype(whole));
        double slope, intercept;
        tsr_volume_scaling(whole, &slope, &intercept);
        tsr_status status = tsr_volume_create(NULL, tsr_volume_dtype(whole), (tsr_size3){ n.x, n.y, 1 }, tsr_volume_geometry(whole), &c->volume);
        if (status == TSR_OK) status = tsr_volume_set_scaling(c->volume, slope, intercept);
        if (status != TSR_OK) return cli_status(c->cli, status, c->cli->input[0]);
        memcpy(tsr_volume_data(c->volume), (const char *)tsr_volume_data_const(whole) + (size_t)number * bytes, bytes);
    } else {
        c->read.frame = number;
        c->volume = cli_read_volume(c->cli, c->cli->input[0], &c->read, &code);
    }
    if (!c->volume) return code;
    if (has_steps(c)) {
        code = c->context ? CLI_OK : cli_context(c->cli, &c->context);
        if (!code) code = process(c);
    }
    tsr_image_destroy(&frames->image);
    if (!code && tsr_image_from_volume(c->volume, &frames->image) != TSR_OK)
        code = cli_error(c->cli, CLI_FAILED,
                         "%s: a picture of a film is one slice, or 3 or 4 channels, of u8: --slice and --window LOWER:UPPER --dtype u8 make it: %s",
                         c->cli->input[0], tsr_error_message());
    tsr_volume_destroy(&c->volume);
    return code ? code : cli_film_append(c->cli, film, &frames->image, frames);
}

/* The frames of a volume, or its slices, one after another as a film. */
static int convert_to_film(struct convert *c)
{
    cli_film film = { .path = NULL };
    cli_frames frames = CLI_FRAMES(c->cli);
    int64_t count;
    int code = cli_film_check(c->cli, &film, c->output, 0);
    if (code) return code;
    const int chosen = c->read.frame_given;
    c->read.frame_given = 1;
    c->volume = cli_read_volume(c->cli, c->cli->input[0], &c->read, &code);
    if (!c->volume) return code;
    tsr_volume_parts(c->volume, &count, NULL, NULL);
    tsr_volume *whole = NULL;
    if ((count <= 1 || chosen) && tsr_volume_channels(c->volume) < 2 && !c->slice.text) {
        whole = c->volume;
        c->volume = NULL;
        count = tsr_volume_size(whole).z;
    }
    tsr_volume_destroy(&c->volume);
    code = check_frames(c, count);
    const int64_t from = c->frames[0], to = c->frames_text ? c->frames[1] + 1 : count;
    for (int64_t i = from; i < to && !code; i++) code = append_picture(c, i, whole, &film, &frames);
    code = cli_film_finish(c->cli, &film, code);
    tsr_image_destroy(&frames.image);
    if (!code) cli_note(c->cli, "%lld pictures, one a %s", (long long)(to - from), whole ? "slice" : "frame");
    tsr_volume_destroy(&whole);
    return code;
}

/* Every frame, layer or channel that no option chooses, into a file of its own; with --frames, where there are none, every slice. */
static int convert_parts(struct convert *c)
{
    static const char *const names[] = { "frame", "layer", "channel" };
    const char *const pattern = c->output;
    tsr_read_options *const o = &c->read;
    int64_t *const index[3] = { &o->frame, &o->layer, &o->channel }, count[3];
    int *const given[3] = { &o->frame_given, &o->layer_given, &o->channel_given }, chosen[3] = { *given[0], *given[1], *given[2] };
    int code = CLI_OK, along = -1;
    char path[4096];
    for (int k = 0; k < 3; k++) *given[k] = 1;
    c->volume = cli_read_volume(c->cli, c->cli->input[0], o, &code);
    if (!c->volume) return code;
    tsr_volume_parts(c->volume, &count[0], &count[1], &count[2]);
    const tsr_size3 size = tsr_volume_size(c->volume);
    const tsr_size3 corner = o->box_given ? o->box[0] : (tsr_size3){ 0, 0, 0 };
    tsr_volume_destroy(&c->volume);
    for (int k = 0; k < 3; k++) {
        if (chosen[k] || count[k] == 1) continue;
        if (along >= 0)
            return cli_usage(c->cli, "%s holds several %ss and %ss: --%s or --%s says which to keep", c->cli->input[0], names[along], names[k],
                             names[along], names[k]);
        along = k;
    }
    const int slices = along < 0 && !chosen[0] && c->frames_text && !c->slice.text;
    const int64_t files = slices ? size.z : along < 0 ? 1 : count[along];
    if (c->frames_text && along > 0) return cli_usage(c->cli, "--frames: %s holds %ss, no frames", c->cli->input[0], names[along]);
    code = check_frames(c, files);
    if (code) return code;
    const int64_t from = c->frames[0], to = c->frames_text ? c->frames[1] + 1 : files;
    for (int64_t i = from; i < to && !code; i++) { /* before any is written */
        number_path(pattern, i, path, sizeof path);
        code = cli_check_write(c->cli, path, cli_names_tiles(path, c->write.format) ? TSR_FILE_TILES : TSR_FILE_VOLUME, c->write.format);
    }
    for (int64_t i = from; i < to && !code; i++) {
        number_path(pattern, i, path, sizeof path);
        c->output = path;
        if (along >= 0) *index[along] = i;
        if (slices) {
            o->box_given = 1;
            o->box[0] = (tsr_size3){ corner.x, corner.y, corner.z + i };
            o->box[1] = (tsr_size3){ corner.x + size.x, corner.y + size.y, corner.z + i + 1 };
        }
        c->volume = cli_read_volume(c->cli, c->cli->input[0], o, &code);
        if (c->volume) code = convert_dense(c);
        tsr_volume_destroy(&c->volume);
    }
    c->output = pattern;
    if (!code)
        cli_note(c->cli, "%lld %s, one a %s", (long long)(to - from), to - from == 1 ? "file" : "files",
                 slices      ? "slice"
                 : along < 0 ? "volume"
                             : names[along]);
    return code;
}

/* A frame of the input, through the steps. */
static int read_frame(struct convert *c, int64_t number)
{
    int code = CLI_OK;
    c->read.frame = number;
    c->volume = cli_read_volume(c->cli, c->cli->input[0], &c->read, &code);
    if (!code && has_steps(c)) {
        code = c->context ? CLI_OK : cli_context(c->cli, &c->context);
        if (!code) code = process(c);
    }
    const tsr_status status = !code && c->space_given ? set_space(c->volume, (tsr_space)(c->space + 1)) : TSR_OK;
    return status == TSR_OK ? code : cli_status(c->cli, status, c->cli->input[0]);
}

/* --frames A-B into one file that has an axis for them. */
static int convert_to_stack(struct convert *c)
{
    int64_t count = 0;
    int code = CLI_OK;
    c->read.frame_given = 1;
    c->volume = cli_read_volume(c->cli, c->cli->input[0], &c->read, &code);
    if (!c->volume) return code;
    tsr_volume_parts(c->volume, &count, NULL, NULL);
    tsr_volume_destroy(&c->volume);
    code = check_frames(c, count);
    if (code) return code;
    const int64_t n = c->frames[1] - c->frames[0] + 1;
    tsr_volume **frames = (tsr_volume **)calloc((size_t)n, sizeof *frames);
    if (!frames) code = cli_error(c->cli, CLI_FAILED, "out of memory for %lld frames", (long long)n);
    for (int64_t k = 0; k < n && !code; k++) {
        code = read_frame(c, c->frames[0] + k);
        frames[k] = c->volume;
        c->volume = NULL;
    }
    if (!code) {
        const tsr_status status = tsr_volume_write_frames((const tsr_volume *const *)frames, n, c->output, &c->write);
        if (status != TSR_OK) code = cli_status(c->cli, status, c->output);
    }
    if (!code) {
        c->volume = frames[0];
        remark_unit(c);
        remark_frame(c);
        c->volume = NULL;
        cli_note(c->cli, "%lld frame%s", (long long)n, n == 1 ? "" : "s");
    }
    for (int64_t k = 0; frames && k < n; k++) tsr_volume_destroy(&frames[k]);
    free(frames);
    return code;
}

/* --level of a file that stores levels reads one of them. */
static void take_stored_level(struct convert *c)
{
    tsr_contents *contents = NULL;
    tsr_contents_entry entry;
    int levels = 0;
    if (!c->level || c->rule_given || !strcmp(c->cli->input[0], "-")) return;
    if (tsr_file_contents(c->cli->input[0], &c->read, &contents) == TSR_OK)
        for (int32_t i = 0; tsr_contents_at(contents, i, &entry); i++) levels += !strcmp(entry.kind, "level");
    tsr_contents_destroy(&contents);
    if (levels > 1 && c->level >= levels)
        cli_note(c->cli, "%s: stores the levels 0 to %d: level %d is averaged from level 0", c->cli->input[0], levels - 1, c->level);
    if (c->level >= levels) return;
    c->read.level = c->level;
    c->read.level_given = 1;
    c->level = 0;
}

/* A volume that nothing is done with goes from file to file within the limit; 0: it must be read as a whole. */
static int transfers(const struct convert *c)
{
    return c->read.memory_limit && !has_steps(c) && !c->space_given && strcmp(c->cli->input[0], "-") && !cli_names_tiles(c->output, c->write.format);
}

static int transfer(struct convert *c)
{
    tsr_read_options read = c->read;
    read.progress = cli_progress(c->cli);
    const tsr_status status = tsr_volume_transfer(c->cli->input[0], &read, c->output, &c->write);
    cli_progress_pause();
    return status == TSR_OK ? CLI_OK : cli_status(c->cli, status, strstr(tsr_error_message(), c->output) ? c->output : c->cli->input[0]);
}

static int convert_volume(struct convert *c)
{
    int code = CLI_OK;
    take_stored_level(c);
    if (!is_numbered(c->output) && tsr_video_names_film(c->output)) {
        code = convert_to_film(c);
        tsr_context_destroy(&c->context);
        return code;
    }
    if (is_numbered(c->output) || c->frames_text) {
        code = is_numbered(c->output) ? convert_parts(c) : convert_to_stack(c);
        tsr_context_destroy(&c->context);
        return code;
    }
    if (transfers(c)) return transfer(c);
    c->volume = cli_read_volume(c->cli, c->cli->input[0], &c->read, &code);
    if (c->volume) code = convert_dense(c);
    tsr_volume_destroy(&c->volume);
    tsr_context_destroy(&c->context);
    return code;
}

/* From a tile list: to another file of tiles as it is, or to a volume. */
static int convert_tiles(struct convert *c)
{
    const int steps = has_steps(c);
    const int to_tiles = cli_names_tiles(c->output, c->write.format);
    tsr_tiles_extras *extras = NULL;
    tsr_tiles_meta meta[1024];
    tsr_tiles_channel channels[64];
    if (steps && to_tiles) return cli_usage(c->cli, "%s is a tile list: " STEPS " need a volume as output", c->cli->input[0]);
    int code = cli_context(c->cli, &c->context);
    if (code) return code;
    c->files.read.memory_limit = c->read.memory_limit;
    c->files.read.format = c->read.format;
    tsr_tiles *tiles = cli_read_tiles(c->cli, c->context, c->cli->input[0], &c->files.read, &extras, &code);
    if (tiles && to_tiles) {
        tsr_tiles_write_options *w = &c->files.write;
        const int keeps = c->write.format ? !strcmp(c->write.format, "tsr") : strstr(c->output, ".tsr") != NULL;
        while (keeps && w->meta_count < 1024 && tsr_tiles_extras_meta_at(extras, w->meta_count, &meta[w->meta_count])) w->meta_count++;
        while (keeps && w->channel_count < 64 && tsr_tiles_extras_channel_at(extras, w->channel_count, &channels[w->channel_count]))
            w->channel_count++;
        w->meta = meta;
        w->channels = channels;
        code = write_tiles(c, tiles);
    } else if (tiles) {
        tsr_status status = cli_dense_of_tiles(c->context, tiles, &c->volume);
        c->replicate = 1; /* what is outside has the band's value, not 0, which is the surface */
        if (status == TSR_OK) status = cli_move_volume(NULL, &c->volume);
        if (status != TSR_OK) code = cli_status(c->cli, status, c->cli->input[0]);
        if (!code) code = convert_dense(c);
    }
    tsr_tiles_extras_destroy(&extras);
    tsr_tiles_destroy(&tiles);
    tsr_volume_destroy(&c->volume);
    tsr_context_destroy(&c->context);
    return code;
}

/* Does the output hold points only? Then the vertices of a mesh are what is wanted. */
static int output_is_points(const struct convert *c)
{
    static const char *const names[] = { "xyz", "pts", "pcd" };
    const char *dot = strrchr(c->output, '.'), *name = c->write.format ? c->write.format : dot ? dot + 1 : "";
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(name, names[i])) return 1;
    return 0;
}

static int convert_mesh(struct convert *c)
{
    if (has_steps(c)) return cli_usage(c->cli, "%s is a mesh: " STEPS " are for volumes", c->cli->input[0]);
    int code = CLI_OK;
    tsr_mesh *mesh = cli_read_mesh(c->cli, c->cli->input[0], &c->read, &code);
    if (!mesh) return code;
    tsr_status status = c->space_given ? tsr_mesh_convert_space(mesh, (tsr_space)(c->space + 1)) : TSR_OK;
    if (c->space_given) tsr_mesh_set_space(mesh, (tsr_space)(c->space + 1));
    if (status == TSR_OK) status = tsr_mesh_write(mesh, c->output, &c->write);
    if (status != TSR_OK) code = cli_status(c->cli, status, c->output);
    else cli_remark_mesh(c->cli, mesh, c->output, &c->write);
    tsr_mesh_destroy(&mesh);
    return code;
}

/* Points have places and normals; of a mesh with colours that is said. */
static void remark_colors(const struct convert *c)
{
    tsr_mesh *mesh = NULL;
    if (c->cli->globals.quiet || !strcmp(c->cli->input[0], "-") || tsr_mesh_read(c->cli->input[0], &c->read, &mesh) != TSR_OK) return;
    if (tsr_mesh_colors_const(mesh)) cli_note(c->cli, "%s: the colours of the vertices are not kept: PLY, OBJ and OFF keep them", c->output);
    tsr_mesh_destroy(&mesh);
}

static int convert_points(struct convert *c)
{
    if (has_steps(c)) return cli_usage(c->cli, "%s holds points: " STEPS " are for volumes", c->cli->input[0]);
    int code = CLI_OK;
    tsr_points *points = cli_read_points(c->cli, c->cli->input[0], &c->read, &code);
    if (!points) return code;
    tsr_status status = tsr_points_write(points, c->output, &c->write);
    if (status != TSR_OK) code = cli_status(c->cli, status, c->output);
    if (!code && c->of_mesh) remark_colors(c);
    tsr_points_destroy(&points);
    return code;
}

/* Options of tile lists that would have no effect, each with the reason. */
static int check_tile_options(const struct convert *c, tsr_file_kind kind, const char *format, tsr_file_kind written)
{
    const char *in = c->cli->input[0];
    const tsr_tiles_write_options *w = &c->files.write;
    const int to_tiles = written == TSR_FILE_TILES, to_vdb = to_tiles && cli_names_vdb(c->output, c->write.format), to_fog = names_fog(c->write.format);
    const int to_tsr = to_tiles && !to_vdb && !cli_names_nvdb(c->output, c->write.format),
              from_grids = (kind == TSR_FILE_TILES && strcmp(format, "tsr")) || names_fog(format);
    if (c->tiles.edge && !(kind == TSR_FILE_VOLUME ? to_tiles : !strcmp(format, "nvdb")))
        return cli_usage(c->cli, "--edge: of tiles made of a volume or an .nvdb file, got %s to %s%s", in, c->output,
                         kind == TSR_FILE_TILES ? ": this list keeps the edge of its tiles" : "");
    if (c->files.read.grid && !from_grids) return cli_usage(c->cli, "--grid: %s holds no named grids, expected an .nvdb or .vdb file", in);
    if (w->name && !to_fog && (!to_tiles || to_tsr)) return cli_usage(c->cli, "--name: %s holds no named grids, expected an .nvdb or .vdb file", c->output);
    if (c->add && !to_fog && (!to_tiles || to_tsr)) return cli_usage(c->cli, "--add: %s holds no named grids, expected an .nvdb or .vdb file", c->output);
    if ((w->raw || w->values) && !to_tiles)
        return cli_usage(c->cli, "--%s: of .tsr files, expected one as output, got %s", w->raw ? "raw" : "values", c->output);
    if (!to_vdb) return CLI_OK;
    if (w->raw) return cli_usage(c->cli, "--raw: %s: .vdb files are packed by OpenVDB, expected a .tsr file", c->output);
    if (w->values) return cli_usage(c->cli, "--values q16: %s: .vdb files hold float32 values, expected a .tsr file", c->output);
    if (c->write.compression)
        return cli_usage(c->cli, "--compression: %s: .vdb files are packed by OpenVDB, expected a .tsr or .nvdb file", c->output);
    return CLI_OK;
}

/* DICOM files are written as segmentations of the series that --like names. */
static int check_dicom(struct convert *c)
{
    static const char *const ends[] = { ".dcm", ".dicom", ".ima" };
    const size_t length = strlen(c->output);
    int dicom = c->write.format && !strcasecmp(c->write.format, "dicom");
    for (size_t i = 0; i < sizeof ends / sizeof *ends && !c->write.format; i++) {
        const size_t n = strlen(ends[i]);
        dicom |= length > n && !strcasecmp(c->output + length - n, ends[i]);
    }
    if (!dicom) return CLI_OK;
    c->source = c->like;
    return c->like ? CLI_OK : cli_usage(c->cli, "--output: %s: DICOM files are written as segmentations of a series, expected --like SERIES beside it", c->output);
}

/* One grid at most, and what to put outside of it. */
static int check_resample(struct convert *c)
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

static int run(cli_call *cli, int argc, char **argv)
{
    struct convert c = { .cli = cli,
                         .read = TSR_READ_OPTIONS,
                         .write = TSR_WRITE_OPTIONS,
                         .tiles = TSR_TILES_OPTIONS,
                         .files = { TSR_TILES_READ_OPTIONS, TSR_TILES_WRITE_OPTIONS } };
    int interpolation = 0, values = 0, index = 0, rule = 0;
    const cli_option options[] = {
        CLI_OUTPUT_OPTION(c.output),
        { .name = "frames",
          .type = CLI_TEXT,
          .value = &c.frames_text,
          .argument = "A-B",
          .help = "to a film, numbered files or one file with an axis for them (NIfTI, NRRD, TIFF, Zarr): these frames of the input, from 0, both "
                  "included; of a volume without frames its slices, to the former two" },
        { .name = "crop",
          .type = CLI_BOX,
          .value = c.crop,
          .help = "1. keep the voxels from the first corner to before the second",
          .given = &c.crop_given },
        { .name = "reorient",
          .type = CLI_TEXT,
          .value = &c.reorient,
          .argument = "RAS",
          .help = "2. first: turn the axes so that x, y and z run as nearly as possible towards these (R L A P S I); voxels stay as they are" },
        { .name = "resample",
          .type = CLI_VEC3,
          .value = &c.resample,
          .help = "2. new spacing in world units, one number or three",
          .lower = 1e-12,
          .upper = 1e12,
          .given = &c.resample_given },
        { .name = "like", .type = CLI_TEXT, .value = &c.like, .argument = "FILE", .help = "2. or: onto the grid of another volume; of a DICOM output: of the series whose segmentation it is" },
        { .name = "deshear",
          .type = CLI_FLAG,
          .value = &c.deshear,
          .help = "2. or: onto perpendicular axes (tilted gantry): slices stay in their planes" },
        { .name = "axis-aligned", .type = CLI_FLAG, .value = &c.axis_aligned, .help = "2. or: onto a grid along the world's axes" },
        { .name = "interpolation",
          .type = CLI_CHOICE,
          .value = &interpolation,
          .argument = "WAY",
          .help = "of 2 (default linear; of files that say they hold labels nearest); label: the label with most weight",
          .choices = "linear nearest cubic label",
          .given = &c.interpolation_given },
        { .name = "fill",
          .type = CLI_TEXT,
          .value = &c.fill_text,
          .argument = "VALUE",
          .help = "of 2: value outside the input (default 0), a number or nan; of --like, --deshear and --axis-aligned" },
        { .name = "level",
          .type = CLI_INT,
          .value = &c.level,
          .argument = "N",
          .help = "3. 2^N voxels along each axis become one; of a stored pyramid (Zarr, TIFF) without --rule: its level N is read",
          .lower = 1,
          .upper = 62 },
        { .name = "rule",
          .type = CLI_CHOICE,
          .value = &rule,
          .argument = "RULE",
          .help = "of 3: what becomes of them (default average, as f64; sums are 64 bits wide)",
          .choices = "average sum min max",
          .given = &c.rule_given },
        { .name = "smooth",
          .type = CLI_REAL,
          .value = &c.smooth,
          .argument = "SIGMA",
          .help = "4. Gaussian, standard deviation in world units",
          .lower = 0,
          .upper = 1e9,
          .given = &c.smooth_given },
        { .name = "threshold",
          .type = CLI_TEXT,
          .value = &c.threshold_text,
          .argument = "LOWER:UPPER",
          .help = "5. mask of the values from LOWER to UPPER, both included",
          .given = &c.threshold_given },
        { .name = "largest-component", .type = CLI_FLAG, .value = &c.largest_component, .help = "6. of a mask, keep the largest piece; voxels are connected by faces (6 neighbours)" },
        { .name = "dtype",
          .type = CLI_DTYPE,
          .value = &c.dtype,
          .help = "7. element type; integers are rounded and saturated",
          .given = &c.dtype_given },
        { .name = "window",
          .type = CLI_RANGE,
          .value = c.window,
          .help = "7. or: LOWER becomes 0, UPPER the largest number of --dtype u8 or u16 (default u16; u8 for JPEG)",
          .given = &c.window_given },
        { .name = "slice",
          .type = CLI_TEXT,
          .value = &c.slice.text,
          .argument = "AXIS=N",
          .help = "8. one slice, x=N, y=N or z=N, as for a PNG file; of an image z=N is channel N" },
        { .name = "space",
          .type = CLI_CHOICE,
          .value = &c.space,
          .argument = "FRAME",
          .help = "world frame of the output; an input that names none gets this one",
          .choices = "RAS LPS",
          .given = &c.space_given },
        { .name = "format", .type = CLI_TEXT, .value = &c.write.format, .argument = "NAME", .help = "of the output (default: by extension)" },
        { .name = "compression",
          .type = CLI_INT,
          .value = &c.write.compression,
          .argument = "LEVEL",
          .help = "-1 none, 0 default, 1 to 9",
          .lower = -1,
          .upper = 9 },
        { .name = "ascii", .type = CLI_FLAG, .value = &c.write.ascii, .help = "text variant of PLY, STL and PCD" },
        { .name = "big-endian", .type = CLI_FLAG, .value = &c.write.big_endian, .help = "byte order, where the format has a choice" },
        { .name = "detached", .type = CLI_FLAG, .value = &c.write.detached, .help = "header and data in two files, with --format" },
        { .name = "band",
          .type = CLI_REAL,
          .value = &c.tiles.band,
          .argument = "WIDTH",
          .help = "volume to tiles: half width of the band in world units (default 3 voxels, at least 2 of the largest)",
          .lower = 1e-12,
          .upper = 1e12 },
        { .name = "edge",
          .type = CLI_INT,
          .value = &c.tiles.edge,
          .argument = "N",
          .help = "volume or .nvdb to tiles: voxels of a tile, 4 or 8 (default 8)",
          .lower = 4,
          .upper = 8 },
        { .name = "index",
          .type = CLI_CHOICE,
          .value = &index,
          .argument = "WAY",
          .help = "volume to tiles: how tiles are found",
          .choices = "sorted paged" },
        { .name = "unbounded", .type = CLI_FLAG, .value = &c.unbounded, .help = "volume to tiles: forget the extents" },
        { .name = "values",
          .type = CLI_CHOICE,
          .value = &values,
          .argument = "KIND",
          .help = "of a .tsr file: 32-bit floats or 16-bit codes",
          .choices = "f32 q16" },
        { .name = "raw", .type = CLI_FLAG, .value = &c.files.write.raw, .help = "of a .tsr file: page-aligned and uncompressed, to be mapped" },
        { .name = "grid",
          .type = CLI_TEXT,
          .value = &c.files.read.grid,
          .argument = "NAME",
          .help = "of .nvdb and .vdb: which grid to read (default: first level set)" },
        { .name = "name", .type = CLI_TEXT, .value = &c.files.write.name, .argument = "NAME", .help = "of .nvdb and .vdb: name of the grid written" },
        { .name = "add",
          .type = CLI_FLAG,
          .value = &c.add,
          .help = "of .nvdb and .vdb: the grid joins those of the file that is there" },
        { .name = "pyramid",
          .type = CLI_INT,
          .value = &c.write.levels,
          .argument = "LEVELS",
          .help = "of a Zarr output: how many levels, each half as fine as the one before (default 1: no pyramid)",
          .lower = 1,
          .upper = 30 },
        CLI_READ_OPTIONS_LIMIT(c.read, "refuse larger files; with no steps: of memory to take, voxels go from file to file slab by slab"),
        { 0 },
    };
    cli->channels = cli->cuts = 1;
    int code = cli_parse(cli, options, 1, 1, argc, argv);
    if (code >= 0) return code;
    const cli_option range = { .name = "threshold", .value = c.threshold };
    if (c.threshold_given && (code = cli_take_range(cli, &range, c.threshold_text)) >= 0) return code;
    if (!c.output) return cli_check_output(cli, NULL);
    code = cli_slice_parse(cli, &c.slice);
    if (!code && c.window_given) code = check_window(&c);
    if (code) return code;
    code = check_resample(&c);
    if (!code) code = check_dicom(&c);
    if (code) return code;
    if (c.rule_given && !c.level) return cli_usage(cli, "--rule: needs --level");
    c.interpolation = (tsr_interpolation)interpolation;
    c.rule = (tsr_level_rule)rule;
    if (c.tiles.edge && c.tiles.edge != 4 && c.tiles.edge != 8) return cli_usage(cli, "--edge: '%d' given, expected 4 or 8", c.tiles.edge);
    if (index && c.unbounded) return cli_usage(cli, "--index paged and --unbounded: a page table needs the extents");
    c.tiles.index = (tsr_tiles_index)index;
    c.files.write.values = (tsr_tiles_values)values;
    c.files.read.edge = c.tiles.edge;
    c.write.overwrite = cli->globals.force;
    c.write.progress = cli_progress(cli);

    tsr_file_kind kind;
    const char *format;
    if (!c.read.format && tsr_video_recognise(cli->input[0])) return cli_film_convert(cli, c.output, c.write.format);
    c.read.dataset = c.files.read.grid ? c.files.read.grid : c.read.dataset; /* before it is known which kind of grid it is */
    code = cli_recognise(cli, cli->input[0], &c.read, &kind, &format);
    if (code) return code;
    if (names_fog(format) && !c.write.format && cli_names_tiles(c.output, NULL) && !strstr(c.output, ".tsr"))
        c.write.format = cli_names_vdb(c.output, NULL) ? "vdb-fog" : "nvdb-fog"; /* fog stays fog */
    if (kind == TSR_FILE_TILES && !c.files.read.grid) c.files.read.grid = c.read.dataset;
    if (kind == TSR_FILE_VIDEO) return cli_film_convert(cli, c.output, c.write.format);       /* standard input */
    if (kind == TSR_FILE_MESH && output_is_points(&c)) kind = TSR_FILE_POINTS, c.of_mesh = 1; /* its vertices */
    const int from_field = kind == TSR_FILE_VOLUME || kind == TSR_FILE_TILES;
    const tsr_file_kind written = !from_field ? kind : cli_names_tiles(c.output, c.write.format) ? TSR_FILE_TILES : TSR_FILE_VOLUME;
    const int to_film = kind == TSR_FILE_VOLUME && !is_numbered(c.output) && tsr_video_names_film(c.output);
    if (c.frames_text && kind != TSR_FILE_VOLUME) return cli_usage(cli, "--frames: of volumes, %s is none", cli->input[0]);
    if (c.source) code = cli_check_output(cli, c.output);
    else if (kind != TSR_FILE_UNSTRUCTURED && !to_film) code = cli_check_write(cli, c.output, written, c.write.format);
    if (code) return code;
    const char *idle = c.unbounded ? "--unbounded" : c.tiles.band > 0 ? "--band" : index ? "--index paged" : NULL;
    if (idle && (kind != TSR_FILE_VOLUME || written != TSR_FILE_TILES))
        return cli_usage(cli, "%s shapes the tile list of a volume: expected a volume as input and a tile list as output, got %s to %s", idle,
                         cli->input[0], c.output);
    code = check_tile_options(&c, kind, format, written);
    if (code) return code;
    switch (kind) {
    case TSR_FILE_VOLUME: return convert_volume(&c);
    case TSR_FILE_MESH: c.read.local_origin = 1; return convert_mesh(&c);
    case TSR_FILE_TILES: return convert_tiles(&c);
    case TSR_FILE_POINTS: c.read.local_origin = 1; return convert_points(&c);
    default:
        return cli_error(cli, CLI_FAILED, "%s: expected a volume, an image, a mesh, a tile list or points, this is an unstructured grid",
                         cli->input[0]);
    }
}

const cli_verb verb_convert = { "convert", "[options] INPUT -o OUTPUT",
                                "Convert volumes, images, meshes, tile lists, points and films between formats, cut, resample, smooth and threshold",
                                "  tessera make sphere -o sphere.nii.gz\n"
                                "  tessera convert sphere.nii.gz --resample 2 --dtype f32 -o coarse.nrrd\n"
                                "  tessera convert sphere.nii.gz --window -20:20 --slice z=32 -o slice.png\n"
                                "  tessera convert sphere.nii.gz --window -20:20 --dtype u8 --frames 10-50 -o slices.y4m\n"
                                "  tessera convert sphere.nii.gz --compression 6 -o sphere.tif\n"
                                "  tessera convert sphere.nii.gz --format nvdb-fog --name density -o fog.nvdb\n"
                                "  tessera convert sphere.nii.gz -o sphere.tsr\n"
                                "  tessera convert sphere.tsr -o sphere.nvdb\n",
                                run };
