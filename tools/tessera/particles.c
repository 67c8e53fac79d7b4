#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "tiles.h"

struct particles {
    cli_call *cli;
    tsr_read_options read;
    tsr_write_options write;
    tsr_particles_options options;
    tsr_surface_options surface;
    const char *output;
    int64_t min_part; /* voxels */
    int fill_voids;
};

/* Balls that do not reach each other are drops, and three quarters of the spacing leave voids between eight of them. */
static void note_gaps(const struct particles *p, const tsr_points *points)
{
    const double spacing = tsr_points_radii_const(points) || tsr_points_count(points) < 2 ? 0 : cli_points_spacing(points);
    if (p->options.radius < 0.75 * spacing && isfinite(spacing))
        cli_note(p->cli, "--radius %g: the particles lie %.3g apart, so that %s; about %.3g closes", p->options.radius, spacing,
                 p->options.radius < 0.5 * spacing ? "most of them stay drops of their own" : "voids stay between them", spacing);
}

/* *tiles without the pieces that have fewer voxels or, of its complement, without those beyond the first, around everything. */
static tsr_status keep_pieces(tsr_tiles **tiles, int64_t least, int only_first, int64_t *largest)
{
    int64_t count = 0, gone = 0;
    tsr_tiles *kept = NULL;
    tsr_status status = tsr_tiles_components(*tiles, 26, NULL, 0, &count);
    if (status != TSR_OK || count == 0) return status;
    tsr_component *parts = (tsr_component *)malloc((size_t)count * sizeof *parts);
    uint8_t *keep = (uint8_t *)malloc((size_t)count);
    if (!parts || !keep) status = TSR_ERROR_MEMORY;
    if (status == TSR_OK) status = tsr_tiles_components(*tiles, 26, parts, count, &count);
    for (int64_t i = 0; i < count && status == TSR_OK; i++) *largest = parts[i].voxels > *largest ? parts[i].voxels : *largest;
    for (int64_t i = 0; i < count && status == TSR_OK; i++) gone += !(keep[i] = only_first ? i == 0 : parts[i].voxels >= least);
    if (status == TSR_OK && gone) status = tsr_tiles_keep(*tiles, keep, count, &kept);
    free(parts);
    free(keep);
    if (kept) {
        tsr_tiles_destroy(tiles);
        *tiles = kept;
    }
    return status;
}
static tsr_status turn_over(tsr_tiles **tiles)
{
    tsr_tiles *turned = NULL;
    const tsr_status status = tsr_tiles_complement(*tiles, &turned);
    if (status != TSR_OK) return status;
    tsr_tiles_destroy(tiles);
    *tiles = turned;
    return TSR_OK;
}
static tsr_status tidy(const struct particles *p, tsr_tiles **tiles, int64_t *largest)
{
    int64_t around;
    *largest = INT64_MAX;
    if (p->min_part > 1) *largest = 0;
    tsr_status status = p->min_part > 1 ? keep_pieces(tiles, p->min_part, 0, largest) : TSR_OK;
    around = 0;
    if (!p->fill_voids) return status;
    if (status == TSR_OK) status = turn_over(tiles);
    if (status == TSR_OK) status = keep_pieces(tiles, 0, 1, &around);
    if (status == TSR_OK) status = turn_over(tiles);
    return status;
}

static int work(struct particles *p)
{
    tsr_context *context = NULL;
    tsr_points *points = NULL;
    tsr_tiles *tiles = NULL;
    tsr_tiles_info info = TSR_TILES_INFO;
    tsr_mesh *made = NULL, *mesh = NULL;
    int code = cli_context(p->cli, &context);
    tsr_points *host = code ? NULL : cli_read_points(p->cli, p->cli->input[0], &p->read, &code);
    const double start = cli_seconds();
    int64_t largest;
    if (host) {
        tsr_status status = tsr_points_copy(host, context, &points);
        note_gaps(p, host);
        tsr_points_destroy(&host);
        if (status == TSR_OK) status = tsr_particles_surface(context, points, &p->options, &tiles);
        if (status == TSR_OK) status = tidy(p, &tiles, &largest);
        if (status == TSR_OK) status = tsr_tiles_describe(tiles, &info);
        if (status == TSR_OK) status = tsr_surface_extract_tiles(context, tiles, &p->surface, &made, NULL);
        if (status == TSR_OK) status = tsr_mesh_copy(made, NULL, &mesh);
        if (status != TSR_OK) code = cli_status(p->cli, status, p->cli->input[0]);
        else if (largest < p->min_part)
            code = cli_error(p->cli, CLI_FAILED, "%s: --min-part %lld: nothing is left, the largest piece has %lld voxels", p->cli->input[0],
                             (long long)p->min_part, (long long)largest);
    }
    const double seconds = cli_seconds() - start;
    if (!code) {
        if (cli_names_tiles(p->output, p->write.format)) {
            tsr_tiles_write_options list = TSR_TILES_WRITE_OPTIONS;
            list.format = p->write.format;
            code = cli_write_tiles(p->cli, tiles, p->output, &list);
        } else {
            tsr_status status = tsr_mesh_write(mesh, p->output, &p->write);
            if (status != TSR_OK) code = cli_status(p->cli, status, p->output);
        }
    }
    if (!code && p->cli->globals.json && strcmp(p->output, "-")) {
        json_open(NULL, '{');
        json_int("particles", tsr_points_count(points));
        json_int("tiles", info.count);
        json_int("vertices", tsr_mesh_vertex_count(mesh));
        json_int("triangles", tsr_mesh_triangle_count(mesh));
        json_real("seconds", seconds);
        json_close('}');
    } else if (!code && strcmp(p->output, "-")) {
        printf("%lld particles, %lld tiles, %lld vertices, %lld triangles, %.3f s\n", (long long)tsr_points_count(points), (long long)info.count,
               (long long)tsr_mesh_vertex_count(mesh), (long long)tsr_mesh_triangle_count(mesh), seconds);
    }
    tsr_mesh_destroy(&made);
    tsr_mesh_destroy(&mesh);
    tsr_tiles_destroy(&tiles);
    tsr_points_destroy(&points);
    tsr_context_destroy(&context);
    return code;
}

static int run(cli_call *cli, int argc, char **argv)
{
    struct particles p = {
        .cli = cli, .read = TSR_READ_OPTIONS, .write = TSR_WRITE_OPTIONS, .options = TSR_PARTICLES_OPTIONS, .surface = TSR_SURFACE_OPTIONS
    };
    int normals = 0, smooth_given = 0;
    const cli_option options[] = {
        CLI_OUTPUT_OPTION(p.output),
        { .name = "radius", .type = CLI_REAL, .value = &p.options.radius, .argument = "R", .help = "of a particle", .lower = 1e-30, .upper = 1e30 },
        { .name = "voxel",
          .type = CLI_REAL,
          .value = &p.options.voxel,
          .argument = "SIZE",
          .help = "of the grid (default: half the radius)",
          .lower = 1e-30,
          .upper = 1e30 },
        { .name = "smooth",
          .type = CLI_REAL,
          .value = &p.options.smooth,
          .argument = "TIME",
          .help = "of curvature flow, in squares of the radius (default 0.15, 0 = none): lone drops lose volume, from 0.25 on they vanish",
          .lower = 0,
          .upper = 10,
          .given = &smooth_given },
        { .name = "conserve",
          .type = CLI_FLAG,
          .value = &p.options.conserve,
          .help = "keep the volume while smoothing (to 1 % at the default voxel and time)" },
        { .name = "min-part",
          .type = CLI_COUNT,
          .value = &p.min_part,
          .argument = "VOXELS",
          .help = "leave out pieces of fewer voxels",
          .lower = 1,
          .upper = 9e18 },
        { .name = "fill-voids", .type = CLI_FLAG, .value = &p.fill_voids, .help = "fill what is enclosed" },
        { .name = "band",
          .type = CLI_REAL,
          .value = &p.options.band,
          .argument = "VOXELS",
          .help = "half width of what is stored (default 2)",
          .lower = 1,
          .upper = 5 },
        { .name = "memory-limit",
          .type = CLI_BYTES,
          .value = &p.options.memory_limit,
          .argument = "BYTES",
          .help = "of device memory for the surface",
          .lower = 1,
          .upper = 9e18 },
        { .name = "normals", .type = CLI_CHOICE, .value = &normals, .argument = "WAY", .help = "of the vertices", .choices = "none forward central" },
        { .name = "input-format",
          .type = CLI_TEXT,
          .value = &p.read.format,
          .argument = "NAME",
          .help = "read as ply, xyz, pts, ... (default: by content)" },
        { .name = "format", .type = CLI_TEXT, .value = &p.write.format, .argument = "NAME", .help = "of the output (default: by extension)" },
        { 0 },
    };
    int code = cli_parse(cli, options, 1, 1, argc, argv);
    if (code >= 0) return code;
    if (p.output) code = cli_check_vdb(cli, p.output, p.write.format);
    else code = CLI_OK;
    if (!code)
        code = cli_check_write(cli, p.output, p.output && cli_names_tiles(p.output, p.write.format) ? TSR_FILE_TILES : TSR_FILE_MESH, p.write.format);
    if (code) return code;
    if (p.options.radius == 0) return cli_usage(cli, "--radius: missing, expected --radius R");
    if (smooth_given && p.options.smooth == 0 && p.options.conserve) return cli_usage(cli, "--conserve: expected with a --smooth above 0");
    if (smooth_given && p.options.smooth == 0) p.options.smooth = -1; /* for the API 0 is the default */
    p.options.progress = cli_progress(cli);
    p.surface.normals = (tsr_surface_normals)normals;
    p.write.overwrite = cli->globals.force;
    return work(&p);
}

const cli_verb verb_particles = { "particles", "[options] POINTS --radius R -o MESH|TILES",
                                  "Make the smooth surface of the particles of a fluid or a heap",
                                  "  tessera make points-torus --count 3000 --noise 0.05 -o drops.xyz\n"
                                  "  tessera particles drops.xyz --radius 0.06 -o fluid.ply\n",
                                  run };
