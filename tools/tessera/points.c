#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "tessera/planes.h"

struct points {
    cli_call *cli;
    tsr_read_options read;
    tsr_write_options write;
    tsr_points_volume_options options;
    tsr_pyramid_options pyramid;
    tsr_triangle_tree_options surface; /* of meshes */
    tsr_vec3 spacing, origin;
    const char *output, *user, *user_data;
    tsr_map rule; /* of --user */
    float numbers[16];
    int number_count, morton; /* morton: that order was asked for */
    tsr_points *clouds[TSR_PYRAMID_CHANNELS];
    int32_t count;
    int64_t voxels, not_a_number;
};

/* A file whose voxels are more than --memory-limit is listed as it is read, a slab of an eighth of the limit at a time. *streamed: it was. */
static int of_file(struct points *p, tsr_context *context, double *seconds, int *streamed)
{
    const char *path = p->cli->input[0];
    tsr_planes *planes = NULL;
    tsr_planes_info info = TSR_PLANES_INFO;
    tsr_planes_source source = TSR_PLANES_SOURCE;
    int code = cli_open_planes(p->cli, path, &p->read, &info, &planes);
    *streamed = planes != NULL;
    if (code || !planes) return code;
    if (p->user || p->morton)
        code = cli_usage(p->cli, "--%s: '%s' is larger than --memory-limit and is listed by slabs, expected %s", p->user ? "user" : "order",
                         cli_given(path), p->user ? "another classifier" : "row");
    else {
        const int64_t plane = info.size.x * info.size.y * (int64_t)tsr_dtype_size(info.dtype);
        const double start = cli_seconds();
        p->options.progress = cli_progress(p->cli);
        p->voxels = info.size.x * info.size.y * info.size.z;
        p->pyramid.order = TSR_PYRAMID_ROW;
        p->options.pyramid = &p->pyramid;
        p->options.not_a_number = &p->not_a_number;
        tsr_status status = tsr_planes_as_source(planes, &source);
        if (status == TSR_OK) status = tsr_points_from_source(context, &source, &p->options, p->read.memory_limit / 8 / plane + 1, p->clouds);
        *seconds = cli_seconds() - start;
        cli_progress_end(p->cli);
        if (status != TSR_OK) code = cli_status(p->cli, status, path);
    }
    tsr_planes_close(&planes);
    return code;
}

static int of_volume(struct points *p, tsr_context *context, double *seconds)
{
    int streamed, code = of_file(p, context, seconds, &streamed);
    if (code || streamed) return code;
    tsr_volume *volume = cli_read_to_device(p->cli, p->cli->input[0], &p->read, context, &code);
    if (!volume) return code;
    const double start = cli_seconds();
    p->voxels = tsr_volume_count(volume);
    tsr_status status = TSR_OK;
    if (p->user) {
        status = tsr_map_load(context, p->user, (size_t)p->number_count * sizeof *p->numbers, &p->rule);
        if (status != TSR_OK) code = cli_status(p->cli, status, p->user);
        p->rule.data = p->numbers;
        p->pyramid.user = &p->rule;
    }
    if (code) {
        tsr_volume_destroy(&volume);
        return code;
    }
    p->options.pyramid = &p->pyramid;
    p->options.not_a_number = &p->not_a_number;
    status = tsr_points_from_classes(context, volume, &p->options, p->clouds);
    *seconds = cli_seconds() - start;
    tsr_volume_destroy(&volume);
    return status == TSR_OK ? CLI_OK : cli_status(p->cli, status, p->cli->input[0]);
}

/* The surface voxels of a mesh. */
static int of_mesh(struct points *p, tsr_context *context, double *seconds)
{
    int code = CLI_OK;
    tsr_mesh *mesh = cli_read_mesh(p->cli, p->cli->input[0], &p->read, &code), *there = NULL;
    tsr_geometry geometry;
    tsr_size3 size;
    if (!mesh) return code;
    tsr_status status = tsr_winding_lattice(mesh, p->spacing, p->origin, 1, &size, &geometry);
    if (status == TSR_OK) status = tsr_mesh_copy(mesh, context, &there);
    const double start = cli_seconds();
    p->surface.progress = cli_progress(p->cli);
    if (status == TSR_OK) {
        p->voxels = size.x * size.y * size.z;
        status = tsr_points_from_surface(context, there, size, &geometry, &p->surface, p->options.normals, &p->clouds[0]);
    }
    *seconds = cli_seconds() - start;
    tsr_mesh_destroy(&there);
    tsr_mesh_destroy(&mesh);
    return status == TSR_OK ? CLI_OK : cli_status(p->cli, status, p->cli->input[0]);
}

/* File of cloud k: of several, the number stands where %d does. */
static void path_of(const struct points *p, int32_t k, char path[4096])
{
    const char *mark = p->count > 1 ? strstr(p->output, "%d") : NULL;
    if (mark) snprintf(path, 4096, "%.*s%d%s", (int)(mark - p->output), p->output, k + 1, mark + 2);
    else snprintf(path, 4096, "%s", p->output);
}

static int work(struct points *p, tsr_file_kind kind)
{
    tsr_context *context = NULL;
    char path[4096];
    int64_t total = 0;
    double seconds = 0;
    int code = cli_context(p->cli, &context);
    if (!code) code = kind == TSR_FILE_MESH ? of_mesh(p, context, &seconds) : of_volume(p, context, &seconds);
    for (int32_t k = 0; k < p->count && !code; k++) total += tsr_points_count(p->clouds[k]);
    if (!code && p->not_a_number)
        cli_note(p->cli, "%s: %lld voxels are not a number and make no point", p->cli->input[0], (long long)p->not_a_number);
    if (!code && !total)
        code = cli_error(p->cli, CLI_FAILED, "%s: no voxel is %s, nothing to write", p->cli->input[0], kind == TSR_FILE_MESH ? "touched" : "kept");
    for (int32_t k = 0; k < p->count && !code; k++) {
        tsr_points *local = NULL;
        path_of(p, k, path);
        tsr_status status = tsr_points_copy(p->clouds[k], NULL, &local);
        if (status == TSR_OK) status = tsr_points_write(local, path, &p->write);
        if (status != TSR_OK) code = cli_status(p->cli, status, path);
        tsr_points_destroy(&local);
    }
    if (!code && p->cli->globals.json && strcmp(p->output, "-")) {
        json_open(NULL, '{');
        json_int("points", total);
        json_int("voxels", p->voxels);
        if (kind != TSR_FILE_MESH) json_int("not_a_number", p->not_a_number);
        if (p->count > 1) {
            json_open("clouds", '[');
            for (int32_t k = 0; k < p->count; k++) json_int(NULL, tsr_points_count(p->clouds[k]));
            json_close(']');
        }
        json_real("seconds", seconds);
        json_close('}');
    } else if (!code && strcmp(p->output, "-")) {
        printf("%lld points of %lld voxels, %.3f s\n", (long long)total, (long long)p->voxels, seconds);
        for (int32_t k = 0; k < p->count && p->count > 1; k++) {
            path_of(p, k, path);
            printf("  %-24s %lld points\n", path, (long long)tsr_points_count(p->clouds[k]));
        }
    }
    for (int32_t k = 0; k < p->count; k++) tsr_points_destroy(&p->clouds[k]);
    tsr_context_destroy(&context);
    return code;
}

/* --user-data: float32 numbers, as the struct of the module has them. */
static int parse_user_data(struct points *p)
{
    const int most = (int)(sizeof p->numbers / sizeof *p->numbers);
    for (const char *at = p->user_data; at; p->number_count++) {
        char *end;
        const float value = strtof(at, &end);
        if (end == at || (*end && *end != ',') || p->number_count == most)
            return cli_usage(p->cli, "--user-data: '%s' given, expected up to %d numbers with commas between them", p->user_data, most);
        p->numbers[p->number_count] = value;
        at = *end ? end + 1 : NULL;
    }
    return CLI_OK;
}

static int run(cli_call *cli, int argc, char **argv)
{
    struct points p = { .cli = cli,
                        .read = TSR_READ_OPTIONS,
                        .write = TSR_WRITE_OPTIONS,
                        .options = TSR_POINTS_VOLUME_OPTIONS,
                        .pyramid = TSR_PYRAMID_OPTIONS,
                        .surface = TSR_TRIANGLE_TREE_OPTIONS };
    tsr_pyramid_options *o = &p.pyramid;
    tsr_pyramid_class classes[TSR_PYRAMID_CHANNELS];
    cli_list ranges = { .count = 0 };
    cli_reals values = { .count = 0 };
    tsr_file_kind kind = TSR_FILE_VOLUME;
    const char *format;
    int classifier = 0, order = 0, classifier_given = 0, order_given = 0, spacing_given = 0;
    const cli_option options[] = {
        CLI_OUTPUT_OPTION(p.output),
        { .name = "classifier",
          .type = CLI_CHOICE,
          .value = &classifier,
          .argument = "RULE",
          .help = "which voxels: range, boundary (of the range), nonzero, label, magnitude, surface (cells around the isosurface),\n"
                  "crossings (points of the isosurface itself, on the edges between voxels), user (a rule in C: --user); default range",
          .choices = "range boundary nonzero label magnitude surface crossings user",
          .given = &classifier_given },
        { .name = "range",
          .type = CLI_LIST,
          .value = &ranges,
          .argument = "LOWER:UPPER",
          .help = "of range and boundary: LOWER <= v < UPPER, either may be missing; given several times (up to 16): a cloud for each in one\n"
                  "sweep over the voxels, into files of which the output names one %d" },
        { .name = "value",
          .type = CLI_REALS,
          .value = &values,
          .argument = "V",
          .help = "the label, the isovalue (default 0) or what |v| must exceed (default 0); several as --range",
          .lower = -1e300,
          .upper = 1e300 },
        { .name = "user",
          .type = CLI_TEXT,
          .value = &p.user,
          .argument = "MODULE",
          .help = "of --classifier user: what tessera_add_map made of a file with one TSR_CLASSIFIER (tessera/map.h)" },
        { .name = "user-data", .type = CLI_TEXT, .value = &p.user_data, .argument = "N,N,...", .help = "its numbers, as float32 (default: none)" },
        { .name = "spacing",
          .type = CLI_VEC3,
          .value = &p.spacing,
          .argument = "X,Y,Z",
          .help = "of a mesh: world units per voxel; a point for each voxel that the surface touches",
          .lower = 1e-300,
          .upper = 1e300,
          .given = &spacing_given },
        { .name = "origin",
          .type = CLI_VEC3,
          .value = &p.origin,
          .argument = "X,Y,Z",
          .help = "of a mesh: a world position that is a voxel (default 0,0,0)",
          .lower = -1e300,
          .upper = 1e300 },
        { .name = "centres",
          .type = CLI_FLAG,
          .value = &p.surface.centres,
          .help = "of a mesh: only voxels whose centre line along z meets the surface within them" },
        { .name = "order",
          .type = CLI_CHOICE,
          .value = &order,
          .argument = "ORDER",
          .help = "of the points (default: morton; row for a file larger than --memory-limit, which is listed by slabs)",
          .choices = "morton row",
          .given = &order_given },
        { .name = "normals", .type = CLI_FLAG, .value = &p.options.normals, .help = "with unit normals along the gradient" },
        { .name = "inward", .type = CLI_FLAG, .value = &p.options.inward, .help = "normals against the gradient: values grow inwards" },
        { .name = "format", .type = CLI_TEXT, .value = &p.write.format, .argument = "NAME", .help = "of the output (default: by extension)" },
        CLI_READ_OPTIONS(p.read),
        { 0 },
    };
    static const tsr_pyramid_classifier kinds[] = { TSR_PYRAMID_RANGE,     TSR_PYRAMID_BOUNDARY, TSR_PYRAMID_NONZERO,   TSR_PYRAMID_LABEL,
                                                    TSR_PYRAMID_MAGNITUDE, TSR_PYRAMID_SURFACE,  TSR_PYRAMID_CROSSINGS, TSR_PYRAMID_USER };
    int code = cli_parse(cli, options, 1, 1, argc, argv);
    if (code >= 0) return code;
    const int several = ranges.count > 1 || values.count > 1; /* then --output is no name yet: see below */
    if (!several || !p.output) code = cli_check_write(cli, p.output, TSR_FILE_POINTS, p.write.format);
    if (code > 0) return code;
    code = cli_recognise(cli, cli->input[0], &p.read, &kind, &format);
    if (code) return code;
    p.write.overwrite = cli->globals.force;
    p.write.progress = cli_progress(cli);
    p.count = 1;
    if (kind == TSR_FILE_MESH) {
        const char *name = classifier_given   ? "classifier"
                           : ranges.count     ? "range"
                           : values.count     ? "value"
                           : order_given      ? "order"
                           : p.options.inward ? "inward"
                           : p.user           ? "user"
                                              : NULL;
        if (name) return cli_usage(cli, "--%s: is for volumes", name);
        if (!spacing_given) return cli_usage(cli, "--spacing: missing, expected world units per voxel of the mesh");
        return work(&p, kind);
    }
    if (spacing_given || p.surface.centres) return cli_usage(cli, "--%s: is for meshes", spacing_given ? "spacing" : "centres");
    const int by_user = kinds[classifier] == TSR_PYRAMID_USER;
    if (!by_user && (p.user || p.user_data)) return cli_usage(cli, "--%s: is for --classifier user", p.user ? "user" : "user-data");
    if (values.count && !classifier_given) return cli_usage(cli, "--value: needs --classifier label, magnitude, surface or crossings");
    if (ranges.count && classifier > 1) return cli_usage(cli, "--range: is for the classifiers range and boundary");
    if (!ranges.count && classifier <= 1) return cli_usage(cli, "--range: missing, expected --range LOWER:UPPER (or another --classifier)");
    if (by_user && !p.user) return cli_usage(cli, "--user: missing, expected the module of the rule");
    if (by_user && (code = parse_user_data(&p)) != CLI_OK) return code;
    if (values.count && by_user) return cli_usage(cli, "--value: is not for --classifier user: its numbers are --user-data");
    if (values.count && classifier <= 2) return cli_usage(cli, "--value: is for the classifiers label, magnitude, surface and crossings");
    if (!values.count && kinds[classifier] == TSR_PYRAMID_LABEL) return cli_usage(cli, "--value: missing, expected the label");
    p.count = classifier <= 1 ? ranges.count : classifier == 2 || !values.count ? 1 : values.count;
    if (p.count > TSR_PYRAMID_CHANNELS)
        return cli_usage(cli, "--%s: %d given, expected at most %d", classifier <= 1 ? "range" : "value", p.count, (int)TSR_PYRAMID_CHANNELS);
    const char *mark = strstr(p.output, "%d");
    if (p.count > 1 && (!mark || strchr(p.output, '%') != strrchr(p.output, '%')))
        return cli_usage(cli, "--output: '%s' given, expected a file name with one %%d for the number of each of %d clouds", p.output, p.count);
    for (int32_t k = 0; k < p.count; k++) {
        double range[2] = { 0, 0 };
        const cli_option one = { .name = "range", .value = range };
        if (classifier <= 1 && (code = cli_take_range(cli, &one, ranges.item[k])) >= 0) return code;
        const double value = k < values.count ? values.item[k] : 0;
        classes[k] = (tsr_pyramid_class){ kinds[classifier], classifier <= 1 ? range[0] : value, range[1] };
    }
    for (int32_t k = 0; k < p.count && several; k++) {
        char path[4096];
        path_of(&p, k, path);
        if ((code = cli_check_write(cli, path, TSR_FILE_POINTS, p.write.format)) != CLI_OK) return code;
    }
    o->classifier = kinds[classifier];
    o->channels = p.count;
    o->classes = by_user ? NULL : classes;
    o->order = order ? TSR_PYRAMID_ROW : TSR_PYRAMID_MORTON;
    p.morton = order_given && !order;
    return work(&p, kind);
}

const cli_verb verb_points = { "points", "[options] VOLUME|MESH -o POINTS",
                               "List voxels of a volume, points of its isosurface, or what a mesh touches, as a cloud",
                               "  tessera make torus -o torus.nii.gz\n"
                               "  tessera points torus.nii.gz --classifier crossings --value 0 --normals -o torus.ply\n"
                               "  tessera points torus.nii.gz --range -1:1 -o band.xyz\n"
                               "  tessera points torus.nii.gz --range :0 --range 0:2 --range 2:4 -o layer-%d.xyz\n"
                               "  tessera surface torus.nii.gz -o torus.stl && tessera points torus.stl --spacing 0.5 --normals -o dense.ply\n",
                               run };
