#include <string.h>

#include "cli.h"

struct depthmesh {
    cli_call *cli;
    tsr_read_options read;
    tsr_depth_mesh_options options;
    tsr_camera camera;
    double focal, principal[2];
    int principal_given[2];
    const char *output;
};

/* A volume of one slice, or the first channel of a picture. */
static int read_map(struct depthmesh *d, tsr_volume **map)
{
    const char *path = d->cli->input[0];
    int code = CLI_OK;
    tsr_context *context = NULL;
    tsr_volume *first = NULL, *host = NULL;
    d->cli->channels = 1;
    *map = cli_read_volume(d->cli, path, &d->read, &code);
    if (!*map || tsr_volume_channels(*map) < 2) return code;
    code = cli_cpu_context(d->cli, &context);
    if (code) return code;
    const tsr_size3 n = tsr_volume_size(*map);
    tsr_status status = tsr_volume_crop(context, *map, (tsr_size3){ 0, 0, 0 }, (tsr_size3){ n.x, n.y, 1 }, &first);
    if (status == TSR_OK) status = tsr_volume_copy(first, NULL, &host); /* of no context: this one goes */
    tsr_volume_destroy(&first);
    tsr_volume_destroy(map);
    *map = host;
    tsr_context_destroy(&context);
    return status == TSR_OK ? CLI_OK : cli_status(d->cli, status, path);
}

static void show(const struct depthmesh *d, const tsr_depth_mesh_info *info, double seconds)
{
    if (d->cli->globals.json) {
        json_open(NULL, '{');
        json_int("cells", info->cells);
        json_int("leaves", info->leaves);
        json_int("vertices", info->vertices);
        json_int("triangles", info->triangles);
        json_real("max_error", info->max_error);
        json_real("rms_error", info->rms_error);
        json_real("seconds", seconds);
        json_close('}');
    } else {
        printf("%lld triangles of %lld, %lld vertices, error at most %.6g, RMS %.3g, %.3f s\n", (long long)info->triangles,
               2 * (long long)info->cells, (long long)info->vertices, info->max_error, info->rms_error, seconds);
    }
}

static int work(struct depthmesh *d)
{
    tsr_volume *map = NULL;
    tsr_mesh *mesh = NULL;
    tsr_depth_mesh_info info = TSR_DEPTH_MESH_INFO;
    int code = read_map(d, &map);
    if (code) return code;
    if (d->focal > 0) {
        const tsr_size3 n = tsr_volume_size(map);
        const int32_t width = (int32_t)(n.x < 65536 ? n.x : 65536), height = (int32_t)(n.y < 65536 ? n.y : 65536); /* more is refused below */
        const tsr_pinhole pinhole = { .width = width,
                                      .height = height,
                                      .fx = d->focal,
                                      .fy = d->focal,
                                      .cx = d->principal_given[0] ? d->principal[0] : 0.5 * width,
                                      .cy = d->principal_given[1] ? d->principal[1] : 0.5 * height,
                                      .rotation = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } } };
        const tsr_status made = tsr_camera_from_pinhole(&pinhole, &d->camera);
        if (made != TSR_OK) {
            tsr_volume_destroy(&map);
            return cli_status(d->cli, made, d->cli->input[0]);
        }
        d->options.camera = &d->camera;
    }
    d->options.threads = d->cli->globals.threads;
    d->options.progress = cli_progress(d->cli);
    const double start = cli_seconds();
    tsr_status status = tsr_depth_mesh(map, &d->options, &mesh, &info);
    const double seconds = cli_seconds() - start;
    cli_progress_end(d->cli);
    if (status != TSR_OK) code = cli_status(d->cli, status, d->cli->input[0]);
    if (!code) {
        const tsr_write_options write = cli_write_options(d->cli);
        status = tsr_mesh_write(mesh, d->output, &write);
        if (status != TSR_OK) code = cli_status(d->cli, status, d->output);
    }
    if (!code && strcmp(d->output, "-")) show(d, &info, seconds);
    tsr_mesh_destroy(&mesh);
    tsr_volume_destroy(&map);
    return code;
}

static int run(cli_call *cli, int argc, char **argv)
{
    struct depthmesh d = { .cli = cli, .read = TSR_READ_OPTIONS, .options = TSR_DEPTH_MESH_OPTIONS };
    const cli_option options[] = {
        CLI_OUTPUT_OPTION(d.output),
        CLI_FORMAT_OPTION(cli),
        { .name = "tolerance",
          .type = CLI_REAL,
          .value = &d.options.tolerance,
          .argument = "D",
          .help = "largest error of the depth at any pixel (default 0)",
          .lower = 0,
          .upper = 1e300 },
        { .name = "discontinuity",
          .type = CLI_REAL,
          .value = &d.options.discontinuity,
          .argument = "D",
          .help = "pixels whose depths differ by more are not joined (default 0: all are)",
          .lower = 0,
          .upper = 1e300 },
        { .name = "focal",
          .type = CLI_REAL,
          .value = &d.focal,
          .argument = "PIXELS",
          .help = "the map is what a pinhole sees: values are depths (without: heights over a plane)",
          .lower = 1e-9,
          .upper = 1e9 },
        { .name = "principal-x",
          .type = CLI_REAL,
          .value = &d.principal[0],
          .argument = "PIXEL",
          .help = "of the pinhole, from the left edge (default: the middle)",
          .lower = -1e9,
          .upper = 1e9,
          .given = &d.principal_given[0] },
        { .name = "principal-y",
          .type = CLI_REAL,
          .value = &d.principal[1],
          .argument = "PIXEL",
          .help = "likewise, from the upper edge",
          .lower = -1e9,
          .upper = 1e9,
          .given = &d.principal_given[1] },
        { .name = "disparity",
          .type = CLI_REAL,
          .value = &d.options.disparity,
          .argument = "FB",
          .help = "values are FB / depth, FB = focal length x baseline (with --focal)",
          .lower = 1e-300,
          .upper = 1e300 },
        { .name = "most-side",
          .type = CLI_INT,
          .value = &d.options.most_side,
          .argument = "N",
          .help = "largest square in pixels, a power of two",
          .lower = 1,
          .upper = 65536 },
        CLI_READ_OPTIONS(d.read),
        { 0 },
    };
    int code = cli_parse(cli, options, 1, 1, argc, argv);
    if (code >= 0) return code;
    if (d.options.disparity > 0 && !(d.focal > 0)) return cli_usage(cli, "--disparity: expected --focal as well");
    if ((d.principal_given[0] || d.principal_given[1]) && !(d.focal > 0)) return cli_usage(cli, "--principal-%c: expected --focal as well", d.principal_given[0] ? 'x' : 'y');
    if (d.options.most_side & (d.options.most_side - 1))
        return cli_usage(cli, "--most-side: '%d' given, expected a power of two", d.options.most_side);
    code = cli_check_write(cli, d.output, TSR_FILE_MESH, cli->format);
    return code ? code : work(&d);
}

const cli_verb verb_depthmesh = { "depthmesh", "[options] DEPTH -o MESH", "Turn a depth map into a mesh of few triangles, without cracks",
                                  "  tessera make torus --size 64 -o torus.nii.gz\n"
                                  "  tessera convert torus.nii.gz --crop 0,0,32:64,64,33 -o slice.nrrd\n"
                                  "  tessera depthmesh slice.nrrd --tolerance 0.05 -o relief.ply\n"
                                  "  tessera make picture-disparity -o disparity.png\n"
                                  "  tessera depthmesh disparity.png --focal 512 --disparity 256 --tolerance 0.01 --discontinuity 0.1 -o scene.ply\n",
                                  run };
