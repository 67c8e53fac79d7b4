#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "tiles.h"

#define ROUNDING_MOST 0.05 /* of a voxel */
#define MISSED_MOST 0.02   /* of the points */
#define STRAYS_LEAST 0.4   /* share of the grid's side that 99 of 100 points take, below which it is said */

struct reconstruct {
    cli_call *cli;
    tsr_read_options read;
    tsr_write_options write;
    tsr_reconstruct_options options;
    tsr_surface_options surface;
    const char *output, *levels;
    tsr_context *context;
    int plan, header_shown, code;
    double bulk; /* largest extent along an axis of all but one point in 200 at either end; 0: not known */
};

static void show_level(struct reconstruct *r, const tsr_reconstruct_level *l)
{
    if (!r->header_shown) printf("level       voxel   steps      tiles    seconds   potential       error  in voxels    percent   outside\n");
    r->header_shown = 1;
    printf("%5d %11.5g %7lld %10lld %10.3f %11.3f %11.5g %10.3f %10.4f %9lld%s\n", l->level, l->voxel, (long long)l->steps, (long long)l->tiles,
           l->seconds, l->potential_seconds, l->error, l->error / l->voxel, l->error_percent, (long long)l->outside,
           l->converged ? "" : "  not converged");
    fflush(stdout);
}

/* A mesh, or the list itself where the path (or --format) names one; *kept: the mesh, NULL for a list. */
static int write_surface(struct reconstruct *r, const tsr_tiles *tiles, const char *path, tsr_mesh **kept)
{
    tsr_mesh *made = NULL, *mesh = NULL;
    if (cli_names_tiles(path, r->write.format)) {
        tsr_tiles_write_options list = TSR_TILES_WRITE_OPTIONS;
        list.format = r->write.format;
        return cli_write_tiles(r->cli, tiles, path, &list);
    }
    tsr_status status = tsr_surface_extract_tiles(r->context, tiles, &r->surface, &made, NULL);
    if (status == TSR_OK) status = tsr_mesh_copy(made, NULL, &mesh);
    tsr_mesh_destroy(&made);
    if (status == TSR_OK) status = tsr_mesh_write(mesh, path, &r->write);
    if (status == TSR_OK && kept) *kept = mesh;
    else tsr_mesh_destroy(&mesh);
    return status == TSR_OK ? CLI_OK : cli_status(r->cli, status, path);
}

/* The surface of a level, which reconstruction goes on with: of 16-bit values a copy in float32 is written. */
static int write_level(struct reconstruct *r, const tsr_tiles *tiles, const char *path)
{
    tsr_tiles *copy = NULL;
    if (r->options.storage == TSR_STORAGE_F32) return write_surface(r, tiles, path, NULL);
    tsr_status status = tsr_tiles_copy(tiles, r->context, &copy);
    if (status == TSR_OK) status = tsr_tiles_set_storage(copy, TSR_STORAGE_F32);
    const int code = status == TSR_OK ? write_surface(r, copy, path, NULL) : cli_status(r->cli, status, path);
    tsr_tiles_destroy(&copy);
    return code;
}

static void level_path(const struct reconstruct *r, int32_t level, char *path, size_t room)
{
    const char *mark = strstr(r->levels, "%d");
    snprintf(path, room, "%.*s%d%s", (int)(mark - r->levels), r->levels, level, mark + 2);
}

static int each_level(void *user, const tsr_reconstruct_level *level, const tsr_tiles *tiles)
{
    struct reconstruct *r = (struct reconstruct *)user;
    cli_progress_end(r->cli);
    if (!r->cli->globals.json && strcmp(r->output, "-")) show_level(r, level);
    if (!r->levels) return 0;
    char path[4096];
    level_path(r, level->level, path, sizeof path);
    r->code = write_level(r, tiles, path);
    return r->code != CLI_OK;
}

static void show_json(const struct reconstruct *r, const tsr_reconstruct_report *report, const tsr_mesh *mesh)
{
    json_open(NULL, '{');
    json_text("input", r->cli->input[0]);
    json_int("points", report->points);
    json_int("lone", report->lone);
    json_int("leaves", report->leaves);
    json_int("nodes", report->nodes);
    json_int("tree_bytes", report->tree_bytes);
    json_real("tree_seconds", report->tree_seconds);
    json_real("seconds", report->seconds);
    json_bool("flat", report->flat);
    json_int("refused", report->refused);
    json_int("crowded", report->crowded);
    json_open("levels", '[');
    for (int32_t i = 0; i < report->levels; i++) {
        const tsr_reconstruct_level *l = &report->level[i];
        json_open(NULL, '{');
        json_int("level", l->level);
        json_real("voxel", l->voxel);
        json_int("steps", l->steps);
        json_bool("converged", l->converged);
        json_int("tiles", l->tiles);
        json_int("active_voxels", l->active_voxels);
        json_real("seconds", l->seconds);
        json_real("potential_seconds", l->potential_seconds);
        json_real("error", l->error);
        json_real("error_percent", l->error_percent);
        json_int("outside", l->outside);
        json_int("device_bytes", l->device_bytes);
        json_close('}');
    }
    json_close(']');
    if (mesh) {
        json_int("vertices", tsr_mesh_vertex_count(mesh));
        json_int("triangles", tsr_mesh_triangle_count(mesh));
    }
    json_close('}');
}

static void note_flat(const struct reconstruct *r, int32_t flat)
{
    if (flat) cli_note(r->cli, "%s: the points lie in a plane, on a line or in one place: the box round them is widened", r->cli->input[0]);
}

static int by_size(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}
static double bulk_of(const tsr_points *host)
{
    enum { SAMPLE = 20000 };
    const int64_t n = tsr_points_count(host), step = n / SAMPLE + 1, count = (n + step - 1) / step;
    const float *p = tsr_points_positions_const(host);
    float *sorted = (float *)malloc((size_t)count * sizeof *sorted);
    double bulk = 0;
    for (int k = 0; k < 3 && sorted && count >= 200; k++) {
        for (int64_t i = 0; i < count; i++) sorted[i] = p[3 * i * step + k];
        qsort(sorted, (size_t)count, sizeof *sorted, by_size);
        bulk = fmax(bulk, (double)sorted[count - 1 - count / 200] - (double)sorted[count / 200]);
    }
    free(sorted);
    return bulk;
}
/* Positions are float32: far from the origin they are coarse. */
static void note_rounding(const struct reconstruct *r, const tsr_reconstruct_report *report)
{
    const double voxel = report->level[report->levels - 1].voxel, low[3] = { report->lower.x, report->lower.y, report->lower.z };
    double farthest = 0;
    for (int k = 0; k < 3; k++) farthest = fmax(farthest, fmax(fabs(low[k]), fabs(low[k] + report->side)));
    const double step = ldexp(farthest, -23);
    if (step > ROUNDING_MOST * voxel)
        cli_note(r->cli, "%s: coordinates up to %g are kept in steps of %.3g, %.2g of a voxel: move the points nearer to the origin",
                 r->cli->input[0], farthest, step, step / voxel);
}
/* Strays in company are not lone: the grid is round them, and its voxels are large. */
static void note_strays(const struct reconstruct *r, double side)
{
    if (r->bulk > 0 && r->bulk < STRAYS_LEAST * side)
        cli_note(r->cli,
                 "%s: 99 of 100 points lie within %.3g along each axis, the grid round all is %.3g wide: strays make its voxels large; a larger "
                 "--min-neighbours leaves out groups of them",
                 r->cli->input[0], r->bulk, side);
}

static void note_lone(const struct reconstruct *r, const tsr_reconstruct_report *report)
{
    char why[64] = "lie scattered";
    if (report->lone == 0) return;
    if (r->options.min_neighbours > 0) snprintf(why, sizeof why, "have fewer than %d others near them", r->options.min_neighbours);
    cli_note(r->cli, "%lld of %lld points %s and are left out as outliers (--min-neighbours 0 keeps them)", (long long)report->lone,
             (long long)(report->points + report->lone), why);
}

static int reconstruct(struct reconstruct *r, const tsr_points *points)
{
    tsr_reconstruct_report report = TSR_RECONSTRUCT_REPORT;
    tsr_tiles *tiles = NULL;
    tsr_mesh *mesh = NULL;
    tsr_status status = tsr_reconstruct(r->context, points, &r->options, &tiles, &report);
    if (r->code) return r->code;
    note_flat(r, report.flat);
    note_lone(r, &report);
    note_strays(r, report.side);
    if (status != TSR_OK) return cli_status(r->cli, status, r->cli->input[0]);
    for (int32_t i = 0; i < report.levels; i++)
        if (!report.level[i].converged)
            cli_note(r->cli, "level %d stopped after %lld steps without convergence: see --max-steps", report.level[i].level,
                     (long long)report.level[i].steps);
    const tsr_reconstruct_level *last = &report.level[report.levels - 1];
    note_rounding(r, &report);
    if ((double)last->outside > MISSED_MOST * (double)report.points)
        cli_note(
            r->cli,
            "%lld of %lld points are farther from the surface than the band, and count as that far in the error: outliers, parts thinner than a few "
            "voxels of the first level, or what lies inside the surface",
            (long long)last->outside, (long long)report.points);
    if (report.refused)
        cli_note(r->cli, "%d thin parts stay lost: put back at the end they would have made other pieces or handles, such as loops of wire",
                 report.refused);
    if (report.crowded) cli_note(r->cli, "thin parts were not put back: there was no memory for a second list");
    status = tsr_tiles_set_storage(tiles, TSR_STORAGE_F32);
    const int code = status == TSR_OK ? write_surface(r, tiles, r->output, &mesh) : cli_status(r->cli, status, r->cli->input[0]);
    tsr_tiles_destroy(&tiles);
    if (code) return code;
    if (r->cli->globals.json && strcmp(r->output, "-")) {
        show_json(r, &report, mesh);
    } else if (strcmp(r->output, "-")) {
        printf("octree %lld points, %lld leaves, %lld nodes, %.1f MB, %.3f s\n", (long long)report.points, (long long)report.leaves,
               (long long)report.nodes, 1e-6 * (double)report.tree_bytes, report.tree_seconds);
        if (mesh)
            printf("mesh   %lld vertices, %lld triangles; %.3f s in all\n", (long long)tsr_mesh_vertex_count(mesh),
                   (long long)tsr_mesh_triangle_count(mesh), report.seconds);
        else printf("list   %lld tiles; %.3f s in all\n", (long long)last->tiles, report.seconds);
    }
    tsr_mesh_destroy(&mesh);
    return CLI_OK;
}

static int plan(struct reconstruct *r, const tsr_points *points)
{
    tsr_reconstruct_plan p = TSR_RECONSTRUCT_PLAN;
    tsr_status status = tsr_reconstruct_estimate(r->context, points, &r->options, &p);
    if (status != TSR_OK) return cli_status(r->cli, status, r->cli->input[0]);
    note_flat(r, p.flat);
    if (r->cli->globals.json) {
        json_open(NULL, '{');
        json_int("points", p.points);
        json_int("lone", p.lone);
        json_int("tree_bytes", p.tree_bytes);
        json_int("build_bytes", p.build_bytes);
        json_int("peak_bytes", p.peak_bytes);
        json_real("potential_seconds", p.seconds);
        json_open("levels", '[');
    } else {
        printf("level   occupied      tiles          MB   (estimated)\n");
    }
    for (int32_t i = 0; i < p.levels; i++) {
        if (r->cli->globals.json) {
            json_open(NULL, '{');
            json_int("level", p.level[i].level);
            json_int("occupied", p.level[i].occupied);
            json_int("tiles", p.level[i].tiles);
            json_int("bytes", p.level[i].bytes);
            json_close('}');
        } else {
            printf("%5d %10lld %10lld %11.1f\n", p.level[i].level, (long long)p.level[i].occupied, (long long)p.level[i].tiles,
                   1e-6 * (double)p.level[i].bytes);
        }
    }
    if (r->cli->globals.json) {
        json_close(']');
        json_close('}');
    } else {
        printf("octree %.1f MB, peak %.1f MB of device memory, about %.2g s for the potential\n", 1e-6 * (double)p.tree_bytes,
               1e-6 * (double)p.peak_bytes, p.seconds);
    }
    return CLI_OK;
}

static int work(struct reconstruct *r)
{
    int code = cli_context(r->cli, &r->context);
    tsr_points *host = code ? NULL : cli_read_points(r->cli, r->cli->input[0], &r->read, &code), *points = NULL;
    if (host) {
        r->bulk = bulk_of(host);
        tsr_status status = tsr_points_copy(host, r->context, &points);
        tsr_points_destroy(&host);
        if (status != TSR_OK) code = cli_status(r->cli, status, r->cli->input[0]);
        else code = r->plan ? plan(r, points) : reconstruct(r, points);
    }
    tsr_points_destroy(&points);
    tsr_context_destroy(&r->context);
    return code;
}

static int check_surface(const struct reconstruct *r, const char *path)
{
    const int code = path ? cli_check_vdb(r->cli, path, r->write.format) : CLI_OK;
    return code ? code
                : cli_check_write(r->cli, path, path && cli_names_tiles(path, r->write.format) ? TSR_FILE_TILES : TSR_FILE_MESH, r->write.format);
}

/* Before the work: the mesh, and the file of each level. */
static int check_outputs(struct reconstruct *r)
{
    const tsr_reconstruct_options *o = &r->options;
    const int32_t depth = o->depth ? o->depth : 8, first = o->start_depth ? o->start_depth : depth < 6 ? depth : 6;
    int code = check_surface(r, r->output);
    for (int32_t level = first; !code && r->levels && level <= depth; level++) {
        char path[4096];
        level_path(r, level, path, sizeof path);
        code = check_surface(r, path);
    }
    return code;
}

static int run(cli_call *cli, int argc, char **argv)
{
    struct reconstruct r = {
        .cli = cli, .read = TSR_READ_OPTIONS, .write = TSR_WRITE_OPTIONS, .options = TSR_RECONSTRUCT_OPTIONS, .surface = TSR_SURFACE_OPTIONS
    };
    tsr_reconstruct_options *o = &r.options;
    int placement = 0, normals = 0, storage = 0, alpha_given = 0, smooth_given = 0, recapture_given = 0, neighbours_given = 0;
    const cli_option options[] = {
        CLI_OUTPUT_OPTION(r.output),
        { .name = "depth",
          .letter = 'd',
          .type = CLI_INT,
          .value = &o->depth,
          .argument = "D",
          .help = "2^D voxels per axis (default 8)",
          .lower = 4,
          .upper = 21 },
        { .name = "start-depth",
          .type = CLI_INT,
          .value = &o->start_depth,
          .argument = "D",
          .help = "of the first surface, a box (default 6)",
          .lower = 4,
          .upper = 9 },
        { .name = "plan", .type = CLI_FLAG, .value = &r.plan, .help = "say what it would take, and do nothing" },
        { .name = "levels",
          .type = CLI_TEXT,
          .value = &r.levels,
          .argument = "PATTERN",
          .help = "also write the surface of each level, as level-%d.ply" },
        { .name = "placement",
          .type = CLI_CHOICE,
          .value = &placement,
          .argument = "WHERE",
          .help = "octree and potential on the device, or on the CPU threads (hybrid)",
          .choices = "auto device hybrid" },
        { .name = "alpha",
          .type = CLI_REAL,
          .value = &o->alpha,
          .argument = "A",
          .help = "stiffness: more bridges noise and gaps (default 0.02)",
          .lower = 0,
          .upper = 2,
          .given = &alpha_given },
        { .name = "smooth-iters",
          .type = CLI_INT,
          .value = &o->smooth_iters,
          .argument = "N",
          .help = "steps of curvature flow after each level (default 10)",
          .lower = 0,
          .upper = 10000,
          .given = &smooth_given },
        { .name = "min-neighbours",
          .type = CLI_INT,
          .value = &o->min_neighbours,
          .argument = "N",
          .help = "leave out points with fewer than N others near them, within 8 voxels (default: those that lie scattered; 0: none)",
          .lower = 0,
          .upper = 1000,
          .given = &neighbours_given },
        { .name = "recapture",
          .type = CLI_INT,
          .value = &o->recapture,
          .argument = "0|1",
          .help = "put back thin parts that a level has missed (default 1)",
          .lower = 0,
          .upper = 1,
          .given = &recapture_given },
        { .name = "power",
          .type = CLI_REAL,
          .value = &o->power,
          .argument = "P",
          .help = "of the inverse distances (default 7; 3 loses thin parts)",
          .lower = 1.01,
          .upper = 10 },
        { .name = "epsilon",
          .type = CLI_REAL,
          .value = &o->epsilon,
          .argument = "VOXELS",
          .help = "softening (default 0.5)",
          .lower = 1e-6,
          .upper = 1e3 },
        { .name = "theta",
          .type = CLI_REAL,
          .value = &o->theta,
          .argument = "T",
          .help = "opening of octree cells (default 0.5)",
          .lower = 0.01,
          .upper = 1.25 },
        { .name = "band",
          .type = CLI_REAL,
          .value = &o->band,
          .argument = "VOXELS",
          .help = "half width of what is stored (default 1.5)",
          .lower = 1,
          .upper = 5 },
        { .name = "time-step",
          .type = CLI_REAL,
          .value = &o->time_step,
          .argument = "T",
          .help = "in which a front moves T voxels (default 0.2)",
          .lower = 0.001,
          .upper = 0.28 },
        { .name = "margin",
          .type = CLI_REAL,
          .value = &o->margin,
          .argument = "SHARE",
          .help = "of the grid round the points (default 1/16)",
          .lower = 0.001,
          .upper = 0.45 },
        { .name = "age",
          .type = CLI_INT,
          .value = &o->age,
          .argument = "STEPS",
          .help = "without new tiles that end a level",
          .lower = 1,
          .upper = 250 },
        { .name = "change-tolerance",
          .type = CLI_REAL,
          .value = &o->change_tolerance,
          .argument = "VOXELS",
          .help = "largest change per step at the end of a level (default a tenth of --time-step at the first level, a fifth later)",
          .lower = 1e-9,
          .upper = 10 },
        { .name = "max-steps", .type = CLI_COUNT, .value = &o->max_steps, .argument = "N", .help = "of one level", .lower = 1, .upper = 1e9 },
        { .name = "storage",
          .type = CLI_CHOICE,
          .value = &storage,
          .argument = "KIND",
          .help = "of field and potential: float32, or 16-bit codes in half the memory (default f32)",
          .choices = "f32 i16" },
        { .name = "memory-limit",
          .type = CLI_BYTES,
          .value = &o->memory_limit,
          .argument = "BYTES",
          .help = "of device memory for the surface",
          .lower = 1,
          .upper = 9e18 },
        { .name = "normals", .type = CLI_CHOICE, .value = &normals, .argument = "WAY", .help = "of the vertices", .choices = "none forward central" },
        { .name = "input-format",
          .type = CLI_TEXT,
          .value = &r.read.format,
          .argument = "NAME",
          .help = "read as ply, xyz, pts, ... (default: by content)" },
        { .name = "format", .type = CLI_TEXT, .value = &r.write.format, .argument = "NAME", .help = "of the output (default: by extension)" },
        { 0 },
    };
    int code = cli_parse(cli, options, 1, 1, argc, argv);
    if (code >= 0) return code;
    if (r.levels && (!strstr(r.levels, "%d") || strchr(strstr(r.levels, "%d") + 2, '%') || strchr(r.levels, '%') != strstr(r.levels, "%d")))
        return cli_usage(cli, "--levels: '%s' given, expected a file name with one %%d for the level", r.levels);
    code = r.plan ? CLI_OK : check_outputs(&r);
    if (code) return code;
    if (alpha_given && o->alpha == 0) o->alpha = -1; /* for the API 0 is the default */
    if (smooth_given && o->smooth_iters == 0) o->smooth_iters = -1;
    if (neighbours_given && o->min_neighbours == 0) o->min_neighbours = -1;
    if (recapture_given && o->recapture == 0) o->recapture = -1;
    o->placement = (tsr_placement)placement;
    o->storage = (tsr_storage)storage;
    o->progress = cli_progress(cli);
    o->level = each_level;
    o->user = &r;
    if (normals && !r.plan && cli_names_tiles(r.output, r.write.format) && (!r.levels || cli_names_tiles(r.levels, r.write.format)))
        return cli_usage(cli, "--normals: expected with a mesh as output, got %s", r.output);
    r.surface.normals = (tsr_surface_normals)normals;
    r.write.overwrite = cli->globals.force;
    return work(&r);
}

const cli_verb verb_reconstruct = { "reconstruct", "[options] POINTS -o MESH|TILES", "Make a closed surface from points without normals",
                                    "  tessera make points-trefoil --count 100000 --noise 0.002 -o knot.ply\n"
                                    "  tessera reconstruct knot.ply --depth 8 -o surface.ply\n"
                                    "  tessera reconstruct knot.ply --depth 9 --plan\n",
                                    run };
