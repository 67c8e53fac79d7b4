#include <string.h>

#include "cli.h"

struct points {
    cli_call *cli;
    tsr_read_options read;
    tsr_write_options write;
    tsr_points_volume_options options;
    const char *output;
};

static int work(struct points *p)
{
    tsr_context *context = NULL;
    tsr_points *there = NULL, *points = NULL;
    int code = cli_context(p->cli, &context);
    tsr_volume *volume = code ? NULL : cli_read_to_device(p->cli, p->cli->input[0], &p->read, context, &code);
    const double start = cli_seconds();
    if (volume) {
        tsr_status status = tsr_points_from_volume(context, volume, &p->options, &there);
        if (status == TSR_OK) status = tsr_points_copy(there, NULL, &points);
        if (status != TSR_OK) code = cli_status(p->cli, status, p->cli->input[0]);
    }
    const double seconds = cli_seconds() - start;
    if (!code && !tsr_points_count(points)) code = cli_error(p->cli, CLI_FAILED, "%s: no voxel is kept, nothing to write", p->cli->input[0]);
    if (!code) {
        tsr_status status = tsr_points_write(points, p->output, &p->write);
        if (status != TSR_OK) code = cli_status(p->cli, status, p->output);
    }
    if (!code && p->cli->globals.json && strcmp(p->output, "-")) {
        json_open(NULL, '{');
        json_int("points", tsr_points_count(points));
        json_int("voxels", tsr_volume_count(volume));
        json_real("seconds", seconds);
        json_close('}');
    } else if (!code && strcmp(p->output, "-")) {
        printf("%lld points of %lld voxels, %.3f s\n", (long long)tsr_points_count(points), (long long)tsr_volume_count(volume), seconds);
    }
    tsr_points_destroy(&points);
    tsr_points_destroy(&there);
    tsr_volume_destroy(&volume);
    tsr_context_destroy(&context);
    return code;
}

static int run(cli_call *cli, int argc, char **argv)
{
    struct points p = { .cli = cli, .read = TSR_READ_OPTIONS, .write = TSR_WRITE_OPTIONS, .options = TSR_POINTS_VOLUME_OPTIONS };
    tsr_pyramid_options *o = &p.options.pyramid;
    double range[2] = { 0 }, value = 0;
    int classifier = 0, order = 0, range_given = 0, value_given = 0, classifier_given = 0;
    const cli_option options[] = {
        CLI_OUTPUT_OPTION(p.output),
        { .name = "classifier",
          .type = CLI_CHOICE,
          .value = &classifier,
          .argument = "RULE",
          .help = "which voxels: range, boundary (of the range), nonzero, label, magnitude, surface (cells around the isosurface),\n"
                  "crossings (points of the isosurface itself, on the edges between voxels); default range",
          .choices = "range boundary nonzero label magnitude surface crossings",
          .given = &classifier_given },
        { .name = "range",
          .type = CLI_RANGE,
          .value = range,
          .argument = "LOWER:UPPER",
          .help = "of range and boundary: LOWER <= v < UPPER, either may be missing",
          .given = &range_given },
        { .name = "value",
          .type = CLI_REAL,
          .value = &value,
          .argument = "V",
          .help = "the label, the isovalue (default 0) or what |v| must exceed (default 0)",
          .lower = -1e300,
          .upper = 1e300,
          .given = &value_given },
        { .name = "order", .type = CLI_CHOICE, .value = &order, .argument = "ORDER", .help = "of the points", .choices = "morton row" },
        { .name = "normals", .type = CLI_FLAG, .value = &p.options.normals, .help = "with unit normals along the gradient" },
        { .name = "inward", .type = CLI_FLAG, .value = &p.options.inward, .help = "normals against the gradient: values grow inwards" },
        { .name = "format", .type = CLI_TEXT, .value = &p.write.format, .argument = "NAME", .help = "of the output (default: by extension)" },
        CLI_READ_OPTIONS(p.read),
        { 0 },
    };
    static const tsr_pyramid_classifier kinds[] = { TSR_PYRAMID_RANGE,     TSR_PYRAMID_BOUNDARY, TSR_PYRAMID_NONZERO,  TSR_PYRAMID_LABEL,
                                                    TSR_PYRAMID_MAGNITUDE, TSR_PYRAMID_SURFACE,  TSR_PYRAMID_CROSSINGS };
    int code = cli_parse(cli, options, 1, 1, argc, argv);
    if (code >= 0) return code;
    code = cli_check_write(cli, p.output, TSR_FILE_POINTS, p.write.format);
    if (code) return code;
    if (value_given && !classifier_given) return cli_usage(cli, "--value: needs --classifier label, magnitude, surface or crossings");
    if (range_given && classifier > 1) return cli_usage(cli, "--range: is for the classifiers range and boundary");
    if (!range_given && classifier <= 1) return cli_usage(cli, "--range: missing, expected --range LOWER:UPPER (or another --classifier)");
    if (value_given && classifier <= 2) return cli_usage(cli, "--value: is for the classifiers label, magnitude, surface and crossings");
    if (!value_given && kinds[classifier] == TSR_PYRAMID_LABEL) return cli_usage(cli, "--value: missing, expected the label");
    o->classifier = kinds[classifier];
    o->order = order ? TSR_PYRAMID_ROW : TSR_PYRAMID_MORTON;
    o->lower = classifier <= 1 ? range[0] : value;
    o->upper = range[1];
    p.write.overwrite = cli->globals.force;
    return work(&p);
}

const cli_verb verb_points = { "points", "[options] VOLUME -o POINTS", "List voxels of a volume, or points of its isosurface, as a cloud",
                               "  tessera make torus -o torus.nii.gz\n"
                               "  tessera points torus.nii.gz --classifier crossings --value 0 --normals -o torus.ply\n"
                               "  tessera points torus.nii.gz --range -1:1 -o band.xyz\n",
                               run };
