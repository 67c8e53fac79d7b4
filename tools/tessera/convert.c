#include <math.h>
#include <string.h>

#include "cli.h"

struct convert {
    cli_call *cli;
    tsr_read_options read;
    tsr_write_options write;
    const char *output, *like;
    tsr_size3 crop[2];
    tsr_vec3 resample;
    double smooth, threshold[2];
    tsr_interpolation interpolation;
    tsr_dtype dtype;
    int crop_given, resample_given, smooth_given, threshold_given, largest_component, dtype_given;
    tsr_context *context;
    tsr_volume *volume;
};

/* The result of a step becomes the volume. */
static tsr_status take(struct convert *c, tsr_status status, tsr_volume *next)
{
    if (status != TSR_OK) return status;
    tsr_volume_destroy(&c->volume);
    c->volume = next;
    return TSR_OK;
}

static int resample(struct convert *c, tsr_status *status)
{
    tsr_resample_options options = TSR_RESAMPLE_OPTIONS;
    options.interpolation = c->interpolation;
    options.spacing = c->resample;
    tsr_volume *like = NULL, *next = NULL;
    int code = CLI_OK;
    if (c->like) {
        like = cli_read_volume(c->cli, c->like, &c->read, &code);
        if (!like) return code;
        options.spacing = (tsr_vec3){ 0 };
        options.geometry = tsr_volume_geometry(like);
        options.size = tsr_volume_size(like);
    }
    *status = tsr_volume_resample(c->context, c->volume, &options, &next);
    *status = take(c, *status, next);
    tsr_volume_destroy(&like);
    return CLI_OK;
}

/* The steps in the order --help promises. */
static int process(struct convert *c)
{
    tsr_volume *next = NULL;
    tsr_status status = cli_move_volume(c->context, &c->volume);
    if (status == TSR_OK && c->crop_given) {
        status = tsr_volume_crop(c->context, c->volume, c->crop[0], c->crop[1], &next);
        status = take(c, status, next);
    }
    if (status == TSR_OK && (c->resample_given || c->like)) {
        int code = resample(c, &status);
        if (code) return code;
    }
    if (status == TSR_OK && c->smooth_given) {
        tsr_smooth_options options = TSR_SMOOTH_OPTIONS;
        options.sigma = c->smooth;
        status = tsr_volume_smooth(c->context, c->volume, &options, &next);
        status = take(c, status, next);
    }
    if (status == TSR_OK && c->threshold_given) {
        status = tsr_volume_threshold(c->context, c->volume, c->threshold[0], c->threshold[1], &next);
        status = take(c, status, next);
    }
    if (status == TSR_OK && c->largest_component) {
        status = tsr_volume_largest_component(c->context, c->volume, 6, &next, NULL);
        status = take(c, status, next);
    }
    if (status == TSR_OK && c->dtype_given) {
        status = tsr_volume_convert(c->context, c->volume, c->dtype, &next);
        status = take(c, status, next);
    }
    if (status == TSR_OK) status = cli_move_volume(NULL, &c->volume);
    return status == TSR_OK ? CLI_OK : cli_status(c->cli, status, c->cli->input[0]);
}

static int convert_volume(struct convert *c)
{
    int code = CLI_OK;
    c->volume = cli_read_volume(c->cli, c->cli->input[0], &c->read, &code);
    if (!c->volume) return code;
    if (c->crop_given || c->resample_given || c->like || c->smooth_given || c->threshold_given || c->largest_component || c->dtype_given) {
        code = cli_context(c->cli, &c->context);
        if (!code) code = process(c);
    }
    if (!code) {
        tsr_status status = tsr_volume_write(c->volume, c->output, &c->write);
        if (status != TSR_OK) code = cli_status(c->cli, status, c->output);
    }
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
    if (c->crop_given || c->resample_given || c->like || c->smooth_given || c->threshold_given || c->largest_component || c->dtype_given)
        return cli_usage(c->cli, "%s is a mesh: --crop, --resample, --like, --smooth, --threshold, --largest-component and --dtype are for volumes",
                         c->cli->input[0]);
    int code = CLI_OK;
    tsr_mesh *mesh = cli_read_mesh(c->cli, c->cli->input[0], &c->read, &code);
    if (!mesh) return code;
    tsr_status status = tsr_mesh_write(mesh, c->output, &c->write);
    if (status != TSR_OK) code = cli_status(c->cli, status, c->output);
    tsr_mesh_destroy(&mesh);
    return code;
}

static int convert_points(struct convert *c)
{
    if (c->crop_given || c->resample_given || c->like || c->smooth_given || c->threshold_given || c->largest_component || c->dtype_given)
        return cli_usage(c->cli,
                         "%s holds points: --crop, --resample, --like, --smooth, --threshold, --largest-component and --dtype are for volumes",
                         c->cli->input[0]);
    int code = CLI_OK;
    tsr_points *points = cli_read_points(c->cli, c->cli->input[0], &c->read, &code);
    if (!points) return code;
    tsr_status status = tsr_points_write(points, c->output, &c->write);
    if (status != TSR_OK) code = cli_status(c->cli, status, c->output);
    tsr_points_destroy(&points);
    return code;
}

static int run(cli_call *cli, int argc, char **argv)
{
    struct convert c = { .cli = cli, .read = TSR_READ_OPTIONS, .write = TSR_WRITE_OPTIONS };
    int interpolation = 0;
    const cli_option options[] = {
        CLI_OUTPUT_OPTION(c.output),
        { .name = "crop", .type = CLI_BOX, .value = c.crop, .help = "1. keep the voxels from the first corner to before the second",
          .given = &c.crop_given },
        { .name = "resample", .type = CLI_VEC3, .value = &c.resample, .help = "2. new spacing in world units, one number or three", .lower = 1e-12,
          .upper = 1e12, .given = &c.resample_given },
        { .name = "like", .type = CLI_TEXT, .value = &c.like, .argument = "FILE", .help = "2. or: onto the grid of another volume" },
        { .name = "interpolation", .type = CLI_CHOICE, .value = &interpolation, .argument = "WAY", .help = "of 2",
          .choices = "linear nearest cubic" },
        { .name = "smooth", .type = CLI_REAL, .value = &c.smooth, .argument = "SIGMA", .help = "3. Gaussian, standard deviation in world units",
          .lower = 0, .upper = 1e9, .given = &c.smooth_given },
        { .name = "threshold", .type = CLI_RANGE, .value = c.threshold, .help = "4. mask of the values from LOWER to UPPER, both included",
          .given = &c.threshold_given },
        { .name = "largest-component", .type = CLI_FLAG, .value = &c.largest_component, .help = "5. of a mask, keep the largest connected piece" },
        { .name = "dtype", .type = CLI_DTYPE, .value = &c.dtype, .help = "6. element type; integers are rounded and saturated",
          .given = &c.dtype_given },
        { .name = "format", .type = CLI_TEXT, .value = &c.write.format, .argument = "NAME", .help = "of the output (default: by extension)" },
        { .name = "compression", .type = CLI_INT, .value = &c.write.compression, .argument = "LEVEL", .help = "-1 none, 0 default, 1 to 9",
          .lower = -1, .upper = 9 },
        { .name = "ascii", .type = CLI_FLAG, .value = &c.write.ascii, .help = "text variant of PLY, STL and PCD" },
        { .name = "big-endian", .type = CLI_FLAG, .value = &c.write.big_endian, .help = "byte order, where the format has a choice" },
        { .name = "detached", .type = CLI_FLAG, .value = &c.write.detached, .help = "header and data in two files, with --format" },
        CLI_READ_OPTIONS(c.read),
        { 0 },
    };
    int code = cli_parse(cli, options, 1, 1, argc, argv);
    if (code >= 0) return code;
    code = cli_check_output(cli, c.output);
    if (code) return code;
    if (c.resample_given && c.like) return cli_usage(cli, "--resample and --like: expected one of them");
    c.interpolation = (tsr_interpolation)interpolation;
    c.write.overwrite = cli->globals.force;
    c.write.progress = cli_progress(cli);

    tsr_file_kind kind;
    const char *format;
    code = cli_recognise(cli, cli->input[0], &c.read, &kind, &format);
    if (code) return code;
    if (kind == TSR_FILE_POINTS || (kind == TSR_FILE_MESH && output_is_points(&c))) return convert_points(&c);
    if (kind == TSR_FILE_MESH) return convert_mesh(&c);
    if (kind == TSR_FILE_VOLUME) return convert_volume(&c);
    return cli_error(cli, CLI_FAILED, "%s: expected a volume, a mesh or points, this is an image", cli->input[0]);
}

const cli_verb verb_convert = { "convert", "[options] INPUT -o OUTPUT",
                                "Convert volumes, meshes and points between formats, cut, resample, smooth and threshold",
                                "  tessera make sphere -o sphere.nii.gz\n"
                                "  tessera convert sphere.nii.gz --resample 2 --dtype f32 -o coarse.nrrd\n", run };
