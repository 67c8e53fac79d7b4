#include <math.h>
#include <string.h>

#include "lists.h"
#include "tiles.h"

enum { DILATE, ERODE, OPEN, CLOSE };

struct offset {
    cli_call *cli;
    tsr_read_options read;
    cli_list_options list;
    const char *output;
    double distance, voxel;
    int operation, fast;
    tsr_context *context;
    tsr_tiles *tiles;
};

/* From so many voxels on the distance to the surface itself says where it comes to: the work of steps grows with their number. */
enum { WIDE = 8 };

static tsr_status move_far(struct offset *o, double distance, tsr_levelset_report *sum)
{
    const tsr_progress progress = cli_progress(o->cli);
    tsr_tiles *moved = NULL;
    tsr_tiles_info info = TSR_TILES_INFO;
    const double begin = cli_seconds();
    tsr_status status = tsr_tiles_offset(o->tiles, distance, &progress, &moved);
    if (status == TSR_OK) status = tsr_tiles_describe(moved, &info);
    if (status != TSR_OK) return status;
    tsr_tiles_destroy(&o->tiles);
    o->tiles = moved;
    sum->seconds += cli_seconds() - begin;
    sum->tiles = info.count;
    sum->active_voxels = info.active_voxels;
    sum->empty = info.count == 0;
    return TSR_OK;
}

/* The surface `distance` further out (negative: in). */
static tsr_status move_by_steps(const struct offset *o, double distance, tsr_levelset_report *sum)
{
    tsr_levelset_options options = TSR_LEVELSET_OPTIONS;
    tsr_levelset_report report = TSR_LEVELSET_REPORT;
    tsr_levelset *solver = NULL;
    const tsr_progress progress = cli_progress(o->cli);
    options.terms[0] = (tsr_levelset_term){ .kind = TSR_LEVELSET_SPEED, .value = distance > 0 ? o->voxel : -o->voxel };
    options.term_count = 1;
    options.space = o->fast ? TSR_STENCIL_ENO2 : TSR_STENCIL_WENO5;
    options.time = o->fast ? TSR_TIME_EULER : TSR_TIME_RK3;
    options.reshape = o->fast ? TSR_RESHAPE_REINIT : TSR_RESHAPE_TERM;
    if (o->fast) options.sign = TSR_SIGN_SUBCELL; /* the sweeps leave the surface where the step has put it */
    tsr_status status = tsr_levelset_create(o->tiles, &options, &solver);
    if (status == TSR_OK) status = tsr_levelset_advance(solver, fabs(distance) / o->voxel, &progress, &report);
    tsr_levelset_destroy(&solver);
    sum->steps += report.steps;
    sum->seconds += report.seconds;
    sum->tiles = report.tiles;
    sum->active_voxels = report.active_voxels;
    sum->empty = report.empty;
    return status;
}

static tsr_status move(struct offset *o, double distance, tsr_levelset_report *sum)
{
    tsr_tiles_info info = TSR_TILES_INFO;
    const tsr_status status = tsr_tiles_describe(o->tiles, &info);
    if (status != TSR_OK) return status;
    const int far = fabs(distance) >= WIDE * o->voxel && fabs(distance) >= info.band && info.count > 0;
    return far ? move_far(o, distance, sum) : move_by_steps(o, distance, sum);
}

static void show(const struct offset *o, const tsr_levelset_report *r)
{
    if (o->cli->globals.json) {
        json_open(NULL, '{');
        json_text("input", o->cli->input[0]);
        json_int("steps", r->steps);
        json_real("seconds", r->seconds);
        json_int("tiles", r->tiles);
        json_int("active_voxels", r->active_voxels);
        json_bool("empty", r->empty);
        cli_show_surface(o->cli, o->tiles);
        json_close('}');
        return;
    }
    if (r->steps) printf("steps        %lld in %.3f s\n", (long long)r->steps, r->seconds);
    else printf("distances    %.3f s\n", r->seconds);
    cli_show_surface(o->cli, o->tiles);
}

static int offset(struct offset *o)
{
    static const int first[4] = { 1, -1, -1, 1 }, second[4] = { 0, 0, 1, -1 };
    tsr_levelset_report report = TSR_LEVELSET_REPORT;
    int code = cli_context(o->cli, &o->context);
    if (!code) o->tiles = cli_read_list(o->cli, o->context, o->cli->input[0], &o->read, &o->list, &code);
    if (!code) code = cli_check_plane(o->cli, o->tiles, o->output, o->list.format);
    if (!code) {
        const tsr_vec3 h = tsr_band_spacing(tsr_geometry_spacing(tsr_tiles_geometry(o->tiles)), tsr_tiles_domain(o->tiles));
        o->voxel = fmin(h.x, fmin(h.y, h.z));
        tsr_status status = move(o, first[o->operation] * o->distance, &report);
        if (status == TSR_OK && second[o->operation] && !report.empty) status = move(o, second[o->operation] * o->distance, &report);
        if (status != TSR_OK) code = cli_status(o->cli, status, o->cli->input[0]);
    }
    cli_progress_end(o->cli);
    if (!code) code = cli_write_list(o->cli, o->context, o->tiles, o->output, o->list.format);
    if (!code && report.empty) cli_note_vanished(o->cli, o->tiles, o->output);
    if (!code && strcmp(o->output, "-")) show(o, &report);
    tsr_tiles_destroy(&o->tiles);
    tsr_context_destroy(&o->context);
    return code;
}

static int run(cli_call *cli, int argc, char **argv)
{
    struct offset o = { .cli = cli, .read = TSR_READ_OPTIONS, .list = { .planes = 1 } };
    int distance_given = 0;
    const cli_option options[] = {
        CLI_OUTPUT_OPTION(o.output),
        CLI_LIST_OPTIONS(o.list),
        { .name = "distance",
          .letter = 'd',
          .type = CLI_REAL,
          .value = &o.distance,
          .argument = "D",
          .help = "in world units; negative: the opposite operation",
          .lower = -1e9,
          .upper = 1e9,
          .given = &distance_given },
        { .name = "operation",
          .type = CLI_CHOICE,
          .value = &o.operation,
          .argument = "NAME",
          .help = "with a ball of radius D: grow, shrink, remove what is thinner, fill what is narrower than 2 D",
          .choices = "dilate erode open close" },
        { .name = "fast",
          .type = CLI_FLAG,
          .value = &o.fast,
          .help = "ENO2 and Euler instead of WENO5 and RK3: five times as fast, rounder where the surface has edges or gets thin" },
        CLI_READ_OPTIONS(o.read),
        { 0 },
    };
    int code = cli_parse(cli, options, 1, 1, argc, argv);
    if (code >= 0) return code;
    if (!distance_given || o.distance == 0) return cli_usage(cli, "--distance: missing or 0, expected a length in world units");
    code = cli_check_list(cli, o.output, o.list.format);
    return code ? code : offset(&o);
}

const cli_verb verb_offset = { "offset", "[options] SURFACE -o SURFACE", "Grow, shrink, open or close a surface by a distance",
                               "  tessera make torus --size 96 -o torus.nii.gz\n"
                               "  tessera offset torus.nii.gz --distance 4 -o thick.ply\n"
                               "  tessera offset torus.nii.gz --distance 2 --operation open -o opened.nrrd\n",
                               run };
