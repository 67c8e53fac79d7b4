#include <string.h>

#include "lists.h"
#include "tiles.h"

struct voxelize {
    cli_call *cli;
    tsr_read_options read;
    tsr_voxelize_options options;
    const char *output;
    int mask, tiles, winding; /* what the result is */
    double seconds;           /* of the conversion alone */
    tsr_winding_report numbers;
};

/* `volume` NULL: the result is a tile list. */
static void show(const struct voxelize *v, const tsr_volume *volume, const tsr_voxelize_report *report)
{
    static const char *const signs[] = { "consistent", "turned", "crossings", "winding" };
    tsr_size3 n = volume ? tsr_volume_size(volume) : (tsr_size3){ 0, 0, 0 };
    if (v->cli->globals.json) {
        json_open(NULL, '{');
        json_text("input", v->cli->input[0]);
        json_int("triangles", report->triangles);
        json_int("degenerate_triangles", report->degenerate_triangles);
        json_int("boundary_edges", report->boundary_edges);
        json_int("boundary_loops", report->boundary_loops);
        json_int("nonmanifold_edges", report->nonmanifold_edges);
        json_int("misoriented_edges", report->misoriented_edges);
        json_int("turned_triangles", report->turned_triangles);
        if (!v->winding) json_real("closing", report->closing);
        if (!v->winding) json_text("signs", signs[report->signs]);
        json_int("tiles", report->tiles);
        json_int("pairs", report->pairs);
        json_int("work_bytes", report->work_bytes);
        if (volume) {
            json_open("size", '[');
            json_int(NULL, n.x);
            json_int(NULL, n.y);
            json_int(NULL, n.z);
            json_close(']');
        }
        json_real("seconds", v->seconds);
        json_close('}');
        return;
    }
    printf("mesh         %lld triangles, %lld degenerate, %lld boundary edges, %lld misoriented edges\n", (long long)report->triangles,
           (long long)report->degenerate_triangles, (long long)report->boundary_edges, (long long)report->misoriented_edges);
    if (volume)
        printf("volume       %lld x %lld x %lld voxels, %s\n", (long long)n.x, (long long)n.y, (long long)n.z,
               v->winding ? "winding numbers"
               : v->mask  ? "mask"
                          : "signed distance");
    if (!v->winding)
        printf("work         %lld tiles, %lld pairs of tile and triangle, %.1f MB\n", (long long)report->tiles, (long long)report->pairs,
               (double)report->work_bytes * 1e-6);
    printf("time         %.3f s\n", v->seconds);
}

/* Into *tiles or *volume. */
static tsr_status convert(struct voxelize *v, tsr_context *context, const tsr_mesh *mesh, tsr_tiles **tiles, tsr_volume **volume,
                          tsr_voxelize_report *report)
{
    const tsr_mesh *there;
    tsr_mesh *moved;
    tsr_status status = cli_mesh_there(mesh, context, &there, &moved);
    double start = cli_seconds();
    if (v->winding) {
        const tsr_winding_options options = { .struct_size = sizeof options,
                                              .memory_limit = v->options.memory_limit,
                                              .progress = v->options.progress };
        tsr_geometry geometry;
        tsr_size3 size;
        const tsr_vec3 o = v->options.origin, place = tsr_mesh_origin(mesh), local = { o.x - place.x, o.y - place.y, o.z - place.z };
        if (status == TSR_OK) status = tsr_winding_lattice(mesh, v->options.spacing, local, 1, &size, &geometry);
        if (status == TSR_OK) status = tsr_winding_volume(context, there, size, &geometry, &options, volume, &v->numbers);
        geometry.affine[0][3] += place.x;
        geometry.affine[1][3] += place.y;
        geometry.affine[2][3] += place.z;
        if (status == TSR_OK) status = tsr_volume_set_geometry(*volume, &geometry);
        report->triangles = v->numbers.triangles;
        report->boundary_edges = v->numbers.boundary_edges;
        report->boundary_loops = v->numbers.boundary_loops;
        report->misoriented_edges = v->numbers.misoriented_edges;
    } else if (status == TSR_OK && v->tiles) status = tsr_tiles_from_mesh(context, there, &v->options, tiles, report);
    else if (status == TSR_OK) status = tsr_volume_from_mesh(context, there, v->mask ? TSR_U8 : TSR_F32, &v->options, volume, report);
    v->seconds = cli_seconds() - start;
    tsr_mesh_destroy(&moved);
    if (status == TSR_OK && !v->tiles) status = cli_move_volume(NULL, volume);
    return status;
}

static int write_result(const struct voxelize *v, const tsr_tiles *tiles, const tsr_volume *volume)
{
    tsr_write_options write = cli_write_options(v->cli);
    tsr_tiles_write_options of_tiles = TSR_TILES_WRITE_OPTIONS;
    of_tiles.format = v->cli->format;
    if (tiles) return cli_write_tiles(v->cli, tiles, v->output, &of_tiles);
    tsr_status status = tsr_volume_write(volume, v->output, &write);
    return status == TSR_OK ? CLI_OK : cli_status(v->cli, status, v->output);
}

static int voxelize(struct voxelize *v)
{
    tsr_context *context = NULL;
    tsr_volume *volume = NULL;
    tsr_tiles *tiles = NULL;
    tsr_voxelize_report report = TSR_VOXELIZE_REPORT;
    int code = cli_context(v->cli, &context);
    if (code) return code;
    v->read.local_origin = 1;
    tsr_mesh *mesh = cli_read_mesh(v->cli, v->cli->input[0], &v->read, &code);
    if (mesh && tsr_mesh_colors_const(mesh)) cli_note(v->cli, "%s: its colours have no place in a volume: left out", v->cli->input[0]);
    if (mesh) {
        v->options.origin = cli_near_voxel(v->options.origin, v->options.spacing, tsr_mesh_origin(mesh));
        tsr_status status = convert(v, context, mesh, &tiles, &volume, &report);
        if (status == TSR_ERROR_UNSUPPORTED)
            code = cli_error(v->cli, CLI_FAILED, "%s: %s (--spacing, --origin)", v->cli->input[0], tsr_error_message());
        else if (status != TSR_OK) code = cli_status(v->cli, status, v->cli->input[0]);
    }
    if (!code && v->winding) cli_note_winding(v->cli, v->cli->input[0], &v->numbers);
    else if (!code) cli_note_signs(v->cli, v->cli->input[0], &report);
    if (!code) code = write_result(v, tiles, volume);
    if (!code && strcmp(v->output, "-")) show(v, volume, &report);
    tsr_tiles_destroy(&tiles);
    tsr_volume_destroy(&volume);
    tsr_mesh_destroy(&mesh);
    tsr_context_destroy(&context);
    return code;
}

static int run(cli_call *cli, int argc, char **argv)
{
    struct voxelize v = { .cli = cli, .read = TSR_READ_OPTIONS, .options = TSR_VOXELIZE_OPTIONS, .numbers = TSR_WINDING_REPORT };
    int rule = 0, given = 0;
    const cli_option options[] = {
        CLI_OUTPUT_OPTION(v.output),
        CLI_FORMAT_OPTION(cli),
        { .name = "spacing",
          .type = CLI_VEC3,
          .value = &v.options.spacing,
          .argument = "X,Y,Z",
          .help = "world units per voxel (one number: all axes)",
          .lower = 1e-300,
          .upper = 1e300,
          .given = &given },
        { .name = "origin",
          .type = CLI_VEC3,
          .value = &v.options.origin,
          .argument = "X,Y,Z",
          .help = "a world position that is a voxel (default 0,0,0)",
          .lower = -1e300,
          .upper = 1e300 },
        { .name = "band",
          .type = CLI_REAL,
          .value = &v.options.band,
          .argument = "B",
          .help = "distances are clamped to +-B world units (default: 3 of the smallest spacing, at least 2 of the largest)",
          .lower = 1e-300,
          .upper = 1e300 },
        { .name = "rule",
          .type = CLI_CHOICE,
          .value = &rule,
          .argument = "RULE",
          .help = "which winding numbers are inside (after turned triangles are turned back); shell: a sheet around the triangles",
          .choices = "nonzero even-odd positive shell" },
        { .name = "thickness",
          .type = CLI_REAL,
          .value = &v.options.thickness,
          .argument = "T",
          .help = "of the shell, world units (default: 2 voxels)",
          .lower = 1e-300,
          .upper = 1e300 },
        { .name = "edge",
          .type = CLI_INT,
          .value = &v.options.edge,
          .argument = "N",
          .help = "voxels per tile edge, 4 or 8 (default 8)",
          .lower = 4,
          .upper = 8 },
        { .name = "mask", .type = CLI_FLAG, .value = &v.mask, .help = "write a mask (1 inside, 0 outside) instead of signed distances" },
        { .name = "winding",
          .type = CLI_FLAG,
          .value = &v.winding,
          .help = "write winding numbers (1 inside, 0 outside, 2 nested, -1 inverted) instead of signed distances" },
        { .name = "input-format",
          .type = CLI_TEXT,
          .value = &v.read.format,
          .argument = "NAME",
          .help = "read as ply, stl, obj, off (default: by content)" },
        { .name = "memory-limit",
          .type = CLI_BYTES,
          .value = &v.options.memory_limit,
          .argument = "BYTES",
          .help = "fail rather than use more",
          .lower = 1,
          .upper = 9e18 },
        { 0 },
    };
    int code = cli_parse(cli, options, 1, 1, argc, argv);
    if (code >= 0) return code;
    if (!given) return cli_usage(cli, "--spacing: missing, expected world units per voxel");
    v.tiles = v.output && cli_names_tiles(v.output, cli->format);
    if (v.tiles && v.mask)
        return cli_usage(cli, "--mask: a tile list holds distances: expected the name of a volume as --output, not '%s'", v.output);
    if (v.winding && (v.mask || v.tiles || rule || v.options.band > 0 || v.options.edge || v.options.thickness > 0))
        return cli_usage(cli, "--winding: winding numbers go to a volume, without --mask, --rule, --band, --edge and --thickness");
    if (v.options.thickness > 0 && rule != TSR_VOXELIZE_SHELL) return cli_usage(cli, "--thickness: without effect without --rule shell");
    code = v.tiles ? cli_check_vdb(cli, v.output, cli->format) : CLI_OK;
    if (!code) code = cli_check_write(cli, v.output, v.tiles ? TSR_FILE_TILES : TSR_FILE_VOLUME, cli->format);
    if (code) return code;
    v.options.rule = (tsr_voxelize_rule)rule;
    v.options.progress = cli_progress(cli);
    return voxelize(&v);
}

const cli_verb verb_voxelize = {
    "voxelize", "[options] MESH --spacing S -o VOLUME|TILES", "Turn a triangle mesh into a signed distance field, tile list or mask",
    "  tessera make torus -o torus.nii.gz\n  tessera surface torus.nii.gz -o torus.ply\n"
    "  tessera voxelize torus.ply --spacing 0.5 -o field.nrrd\n  tessera voxelize torus.ply --spacing 0.25 -o field.tsr\n",
    run
};
