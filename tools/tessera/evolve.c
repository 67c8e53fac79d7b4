#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lists.h"
#include "tiles.h"

struct evolve {
    cli_call *cli;
    tsr_read_options read;
    cli_list_options list;
    const char *output;
    tsr_levelset_options options;
    const char *speed_field, *frames_pattern, *term, *term_data;
    float term_numbers[16];
    int term_count;
    tsr_levelset_user user;
    cli_list velocity_field;
    double speed, curvature, conserve, enright, rotation, duration;
    int axis_given, sign_given, cfl_given, reshape_space_given;
    tsr_vec3 velocity, axis, centre;
    int64_t steps, frames;
    int storage, persistent; /* choices */
    int speed_given, curvature_given, conserve_given, enright_given, rotation_given, velocity_given, centre_given, duration_given, steps_given;
    tsr_context *context;
    tsr_tiles *tiles;
    tsr_volume *field[4]; /* of speed and velocity */
};

/* What writes and measures surfaces reads float32 lists; a run that goes on takes its own storage again. */
static int write_surface(const struct evolve *e, const char *path, const char *format, int goes_on)
{
    tsr_status status = tsr_tiles_set_storage(e->tiles, TSR_STORAGE_F32);
    if (status != TSR_OK) return cli_status(e->cli, status, path);
    const int code = cli_write_list(e->cli, e->context, e->tiles, path, format);
    if (code) return code;
    if (goes_on) status = tsr_tiles_set_storage(e->tiles, (tsr_storage)e->storage);
    return status == TSR_OK ? CLI_OK : cli_status(e->cli, status, path);
}

static tsr_levelset_term *add_term(struct evolve *e, tsr_levelset_kind kind, double value)
{
    tsr_levelset_term *term = &e->options.terms[e->options.term_count++];
    *term = (tsr_levelset_term){ .kind = kind, .value = value, .centre = e->centre };
    return term;
}

/* Centroid of the surface and radius of the ball (in a plane of the disc) of its volume: what --rotation and --enright refer to. */
static tsr_status place_of_terms(struct evolve *e, double *radius)
{
    tsr_tiles_measures m = TSR_TILES_MEASURES;
    tsr_status status = tsr_tiles_measure(e->tiles, &m);
    if (status != TSR_OK) return status;
    const double pi = 3.14159265358979323846;
    *radius = m.dimensions == 3 ? cbrt(0.75 / pi * m.volume) : sqrt(m.volume / pi);
    if (!e->centre_given) e->centre = m.centroid;
    return TSR_OK;
}

static int read_field(struct evolve *e, const char *path, int slot)
{
    int code = CLI_OK;
    e->field[slot] = cli_read_to_device(e->cli, path, &e->read, e->context, &code);
    if (code || tsr_volume_dtype(e->field[slot]) == TSR_F32) return code;
    tsr_volume *converted = NULL;
    tsr_status status = tsr_volume_convert(e->context, e->field[slot], TSR_F32, &converted);
    if (status != TSR_OK) return cli_status(e->cli, status, path);
    tsr_volume_destroy(&e->field[slot]);
    e->field[slot] = converted;
    return CLI_OK;
}

/* Is voxel (x, y, z) of the list beyond the voxels of the field? */
static int is_beyond(const tsr_geometry *list, const tsr_volume *field, double x, double y, double z)
{
    const tsr_size3 n = tsr_volume_size(field);
    tsr_vec3 at;
    if (tsr_geometry_to_index(tsr_volume_geometry(field), tsr_geometry_to_world(list, (tsr_vec3){ x, y, z }), &at) != TSR_OK) return 0;
    const double reach = 0.5 + 1e-6; /* a voxel reaches half of its edge around its place */
    return at.x < -reach || at.y < -reach || at.z < -reach || at.x > (double)(n.x - 1) + reach || at.y > (double)(n.y - 1) + reach ||
           at.z > (double)(n.z - 1) + reach;
}

/* The voxels within one of the surface, and those of them beyond each field (NULL: left out). */
static tsr_status count_beyond(const tsr_tiles *tiles, tsr_volume *const field[4], int64_t *near, int64_t beyond[4])
{
    const tsr_geometry *geometry = tsr_tiles_geometry(tiles);
    const tsr_size3 n = tsr_tiles_domain(tiles);
    const tsr_vec3 h = tsr_band_spacing(tsr_geometry_spacing(geometry), n);
    const double voxel = fmin(h.x, fmin(h.y, h.z));
    tsr_tiles_info info = TSR_TILES_INFO;
    tsr_status status = tsr_tiles_describe(tiles, &info);
    if (status != TSR_OK || info.count == 0) return status;
    const int64_t E = info.edge, voxels = E * E * E;
    int32_t(*tile)[3] = malloc((size_t)info.count * sizeof *tile);
    float *value = malloc((size_t)(info.count * voxels) * sizeof *value);
    status = tile && value ? tsr_tiles_download(tiles, tile, value) : TSR_OK; /* without the memory there is no remark */
    for (int64_t i = 0; i < info.count * voxels && tile && value && status == TSR_OK; i++) {
        const int32_t *t = tile[i / voxels];
        const int64_t k = i % voxels, x = t[0] * E + k % E, y = t[1] * E + k / E % E, z = t[2] * E + k / (E * E);
        if (!(fabs((double)value[i]) < voxel) || (n.x && (x >= n.x || y >= n.y || z >= n.z))) continue;
        ++*near;
        for (int f = 0; f < 4; f++)
            if (field[f]) beyond[f] += is_beyond(geometry, field[f], (double)x, (double)y, (double)z);
    }
    free(tile);
    free(value);
    return status;
}

/* Fields go on beyond their borders with the values there: said of those that do not cover the surface, at the end of those that it has left. */
static int note_coverage(const struct evolve *e, const char *when, int said[4])
{
    tsr_volume *field[4] = { 0 };
    int64_t near = 0, beyond[4] = { 0 };
    int any = 0;
    for (int k = 0; k < 4; k++) {
        if (!said[k]) field[k] = e->field[k];
        any |= field[k] != NULL;
    }
    if (!any) return CLI_OK;
    const tsr_status status = count_beyond(e->tiles, field, &near, beyond);
    if (status != TSR_OK) return cli_status(e->cli, status, e->cli->input[0]);
    for (int k = 0; k < 4; k++) {
        if (!beyond[k]) continue;
        cli_note(e->cli, "%s: does not cover all of the surface%s: %.3g %% of it lie beyond, where the values of its border go on",
                 k == 3 ? e->speed_field : e->velocity_field.item[k], when, 100 * (double)beyond[k] / (double)near);
        said[k] = 1;
    }
    return CLI_OK;
}

/* --term-data: float32 numbers, as the struct of the module has them. */
static int parse_term_data(struct evolve *e)
{
    const int most = (int)(sizeof e->term_numbers / sizeof *e->term_numbers);
    for (const char *at = e->term_data; at; e->term_count++) {
        char *end;
        const float value = strtof(at, &end);
        if (end == at || (*end && *end != ',') || e->term_count == most)
            return cli_usage(e->cli, "--term-data: '%s' given, expected up to %d numbers with commas between them", e->term_data, most);
        e->term_numbers[e->term_count] = value;
        at = *end ? end + 1 : NULL;
    }
    return CLI_OK;
}

static int make_terms(struct evolve *e)
{
    double radius = 0;
    int code = CLI_OK;
    tsr_status status = e->rotation_given || e->enright_given ? place_of_terms(e, &radius) : TSR_OK;
    if (status != TSR_OK) return cli_status(e->cli, status, e->cli->input[0]);
    const tsr_size3 n = tsr_tiles_domain(e->tiles);
    if (e->enright_given && (n.x == 1 || n.y == 1 || n.z == 1))
        return cli_usage(e->cli, "--enright: a flow in three dimensions, %s is a plane", e->cli->input[0]);
    if (e->speed_given && !e->speed_field) add_term(e, TSR_LEVELSET_SPEED, e->speed);
    if (e->speed_field) {
        code = read_field(e, e->speed_field, 3);
        if (code) return code;
        add_term(e, TSR_LEVELSET_SPEED_FIELD, e->speed_given ? e->speed : 1)->field[0] = e->field[3];
    }
    if (e->curvature_given) add_term(e, TSR_LEVELSET_CURVATURE, e->curvature);
    if (e->conserve_given) {
        add_term(e, TSR_LEVELSET_CURVATURE, e->conserve);
        add_term(e, TSR_LEVELSET_MEAN_CURVATURE, e->conserve);
    }
    if (e->velocity_given) add_term(e, TSR_LEVELSET_VELOCITY, 1)->vector = e->velocity;
    if (e->velocity_field.count) {
        for (int k = 0; k < 3 && !code; k++) code = read_field(e, e->velocity_field.item[k], k);
        if (code) return code;
        tsr_levelset_term *term = add_term(e, TSR_LEVELSET_VELOCITY_FIELD, 1);
        for (int k = 0; k < 3; k++) term->field[k] = e->field[k];
    }
    if (e->rotation_given) add_term(e, TSR_LEVELSET_ROTATION, e->rotation * (3.14159265358979323846 / 180))->vector = e->axis;
    if (e->term) {
        status = tsr_term_load(e->context, e->term, (size_t)e->term_count * sizeof *e->term_numbers, &e->user);
        if (status != TSR_OK) return cli_status(e->cli, status, e->term);
        e->user.data = e->term_numbers;
        add_term(e, TSR_LEVELSET_USER, 1)->user = &e->user;
    }
    if (e->enright_given) { /* in the literature's unit cube the sphere lies at 0.35 and has radius 0.15 */
        tsr_levelset_term *term = add_term(e, TSR_LEVELSET_ENRIGHT, 1);
        term->radius = radius / 0.15;
        term->period = e->enright;
        term->centre = (tsr_vec3){ e->centre.x - 0.35 * term->radius, e->centre.y - 0.35 * term->radius, e->centre.z - 0.35 * term->radius };
    }
    return CLI_OK;
}

static void show(const struct evolve *e, const tsr_levelset_report *r)
{
    tsr_tiles_info info = TSR_TILES_INFO;
    if (tsr_tiles_describe(e->tiles, &info) != TSR_OK) info.capacity = 1;
    if (e->cli->globals.json) {
        json_open(NULL, '{');
        json_text("input", e->cli->input[0]);
        json_int("steps", r->total_steps);
        json_real("time", r->time);
        json_real("time_step", r->time_step);
        json_real("seconds", r->seconds);
        json_real("steps_per_second", r->steps_per_second);
        json_int("tiles", r->tiles);
        json_int("active_voxels", r->active_voxels);
        json_int("device_bytes", r->device_bytes);
        json_int("key_bits", info.key_bits);
        json_real("bytes_per_tile", (double)info.device_bytes / (double)info.capacity);
        json_real("curvature", r->curvature);
        json_bool("converged", r->converged);
        json_bool("empty", r->empty);
        cli_show_surface(e->cli, e->tiles);
        json_close('}');
        return;
    }
    printf("steps        %lld in %.3f s, %.4g steps/s; time %.6g, last step %.4g\n", (long long)r->total_steps, r->seconds, r->steps_per_second,
           r->time, r->time_step);
    printf("tiles        %lld, %lld active voxels, %.1f MB; %d-bit keys, room for %lld tiles of %.0f bytes each%s\n", (long long)r->tiles,
           (long long)r->active_voxels, 1e-6 * (double)r->device_bytes, info.key_bits, (long long)info.capacity,
           (double)info.device_bytes / (double)info.capacity,
           r->empty       ? info.inside_voxels ? "; all is inside" : "; the surface has vanished"
           : r->converged ? "; converged"
                          : "");
    if (r->curvature != 0) printf("curvature    %.6g K, K the sum of the principal curvatures\n", r->curvature);
    cli_show_surface(e->cli, e->tiles);
}

/* One part of the run; its report is added to what was before. */
static tsr_status run_part(const struct evolve *e, tsr_levelset *solver, int64_t part, tsr_levelset_report *sum)
{
    const tsr_progress progress = cli_progress(e->cli);
    const int64_t parts = e->frames ? e->frames : 1;
    tsr_levelset_report r = TSR_LEVELSET_REPORT;
    tsr_status status;
    if (e->duration_given) status = tsr_levelset_advance(solver, e->duration / (double)parts, &progress, &r);
    else if (e->steps_given) status = tsr_levelset_step(solver, e->steps * (part + 1) / parts - e->steps * part / parts, &progress, &r);
    else status = tsr_levelset_run(solver, &progress, &r);
    const double seconds = sum->seconds + r.seconds;
    const int64_t steps = sum->steps + r.steps;
    *sum = r;
    sum->steps = steps;
    sum->seconds = seconds;
    sum->steps_per_second = seconds > 0 ? (double)steps / seconds : 0;
    return status;
}

static void frame_path(const struct evolve *e, int64_t frame, char path[4096])
{
    const char *mark = strstr(e->frames_pattern, "%d");
    snprintf(path, 4096, "%.*s%04lld%s", (int)(mark - e->frames_pattern), e->frames_pattern, (long long)frame, mark + 2);
}

static int check_frames(const struct evolve *e)
{
    int code = CLI_OK;
    char path[4096];
    for (int64_t frame = 0; e->frames && frame <= e->frames && !code; frame++) {
        frame_path(e, frame, path);
        code = cli_check_list(e->cli, path, NULL);
    }
    return code;
}

static int write_frame(const struct evolve *e, int64_t frame)
{
    char path[4096];
    frame_path(e, frame, path);
    return write_surface(e, path, NULL, frame < e->frames);
}

static int evolve(struct evolve *e)
{
    tsr_levelset *solver = NULL;
    tsr_levelset_report report = TSR_LEVELSET_REPORT;
    int64_t last = 0; /* frame written */
    int said[4] = { 0 };
    int code = cli_context(e->cli, &e->context);
    if (!code) e->tiles = cli_read_list(e->cli, e->context, e->cli->input[0], &e->read, &e->list, &code);
    if (!code && e->output) code = cli_check_plane(e->cli, e->tiles, e->output, e->list.format);
    if (!code && e->frames) code = cli_check_plane(e->cli, e->tiles, e->frames_pattern, NULL);
    if (!code) code = make_terms(e);
    if (!code) code = note_coverage(e, "", said);
    if (!code) {
        tsr_status status = tsr_tiles_set_storage(e->tiles, (tsr_storage)e->storage);
        if (status == TSR_OK) status = tsr_levelset_create(e->tiles, &e->options, &solver);
        if (e->frames && status == TSR_OK) code = write_frame(e, 0);
        for (int64_t part = 0; part < (e->frames ? e->frames : 1) && status == TSR_OK && !code && !report.empty; part++) {
            status = run_part(e, solver, part, &report);
            if (status == TSR_OK && e->frames && !report.empty) {
                code = write_frame(e, part + 1);
                last = part + 1;
            }
        }
        tsr_levelset_destroy(&solver);
        if (status != TSR_OK) code = cli_status(e->cli, status, e->cli->input[0]);
    }
    cli_progress_end(e->cli);
    if (!code) {
        tsr_status status = tsr_tiles_set_storage(e->tiles, TSR_STORAGE_F32);
        if (status != TSR_OK) code = cli_status(e->cli, status, e->cli->input[0]);
    }
    if (!code) code = note_coverage(e, " at the end", said);
    if (!code && e->output) code = write_surface(e, e->output, e->list.format, 0);
    if (!code && report.empty && e->output) cli_note_vanished(e->cli, e->tiles, e->output);
    if (!code && last < e->frames) cli_note(e->cli, "frames %lld to %lld are not written: no surface is left", (long long)last + 1, (long long)e->frames);
    if (!code && (!e->output || strcmp(e->output, "-"))) show(e, &report);
    tsr_tiles_destroy(&e->tiles);
    for (int k = 0; k < 4; k++) tsr_volume_destroy(&e->field[k]);
    tsr_context_destroy(&e->context);
    return code;
}

static int run(cli_call *cli, int argc, char **argv)
{
    struct evolve e = { .cli = cli, .read = TSR_READ_OPTIONS, .list = { .planes = 1 }, .options = TSR_LEVELSET_OPTIONS };
    tsr_levelset_options *o = &e.options;
    int space = 0, time = 0, reshape = 0, reshape_space = 0, sign = 0, form = 0, form_given = 0, change_given = 0;
    const cli_option options[] = {
        CLI_OUTPUT_OPTION(e.output),
        CLI_LIST_OPTIONS(e.list),
        { .name = "speed", .type = CLI_REAL, .value = &e.speed, .argument = "F", .help = "along the normal: > 0 grows", .given = &e.speed_given },
        { .name = "speed-field",
          .type = CLI_TEXT,
          .value = &e.speed_field,
          .argument = "FILE",
          .help = "a speed per place, times --speed (default 1)" },
        { .name = "curvature",
          .type = CLI_REAL,
          .value = &e.curvature,
          .argument = "A",
          .help = "curvature flow: speed -A K, K = 2/R on a sphere",
          .lower = 0,
          .upper = 1e12,
          .given = &e.curvature_given },
        { .name = "conserve",
          .type = CLI_REAL,
          .value = &e.conserve,
          .argument = "A",
          .help = "curvature flow that keeps the volume: speed A (mean K - K)",
          .lower = 0,
          .upper = 1e12,
          .given = &e.conserve_given },
        { .name = "curvature-form",
          .type = CLI_CHOICE,
          .value = &form,
          .argument = "FORM",
          .help = "what A multiplies: K, the sum of the principal curvatures, or half of it (default full)",
          .choices = "full half",
          .given = &form_given },
        { .name = "feedback",
          .type = CLI_REAL,
          .value = &o->feedback,
          .argument = "L",
          .help = "with --conserve: pulls the volume back to the first one",
          .lower = 0,
          .upper = 1e6 },
        { .name = "mean-width",
          .type = CLI_REAL,
          .value = &o->mean_width,
          .argument = "VOXELS",
          .help = "with --conserve: half width of the step that measures the volume (default 1.5)",
          .lower = 1e-6,
          .upper = 10 },
        { .name = "velocity", .type = CLI_VEC3, .value = &e.velocity, .help = "moves with it", .given = &e.velocity_given },
        { .name = "velocity-field",
          .type = CLI_LIST,
          .value = &e.velocity_field,
          .argument = "FILE",
          .help = "moves with the wind of three volumes: x, y, z components, given one after another" },
        { .name = "rotation",
          .type = CLI_REAL,
          .value = &e.rotation,
          .argument = "DEGREES",
          .help = "turns by so much in a unit of time",
          .given = &e.rotation_given },
        { .name = "axis", .type = CLI_VEC3, .value = &e.axis, .help = "of --rotation (default 0,0,1)", .given = &e.axis_given },
        { .name = "centre",
          .type = CLI_VEC3,
          .value = &e.centre,
          .help = "of --rotation and --enright (default: of the surface), index times spacing",
          .given = &e.centre_given },
        { .name = "enright",
          .type = CLI_REAL,
          .value = &e.enright,
          .argument = "PERIOD",
          .help = "the periodic deformation of the literature, in a cube in which the surface takes the place of its sphere",
          .lower = 1e-9,
          .upper = 1e12,
          .given = &e.enright_given },
        { .name = "term",
          .type = CLI_TEXT,
          .value = &e.term,
          .argument = "MODULE",
          .help = "a term in C of your own: what tessera_add_term made (docs/guide/levelset.md)" },
        { .name = "term-data", .type = CLI_TEXT, .value = &e.term_data, .argument = "A,B,...", .help = "float numbers of its struct" },
        { .name = "duration",
          .type = CLI_REAL,
          .value = &e.duration,
          .argument = "T",
          .help = "how long, exactly",
          .lower = 1e-12,
          .upper = 1e12,
          .given = &e.duration_given },
        { .name = "steps",
          .type = CLI_COUNT,
          .value = &e.steps,
          .argument = "N",
          .help = "or: how many steps",
          .lower = 1,
          .upper = 1e12,
          .given = &e.steps_given },
        { .name = "age",
          .type = CLI_INT,
          .value = &o->age,
          .argument = "N",
          .help = "or: until no tile is younger than N steps",
          .lower = 1,
          .upper = 254 },
        { .name = "change-tolerance",
          .type = CLI_REAL,
          .value = &o->change_tolerance,
          .argument = "D",
          .help = "with --age: and no voxel of the band changes by D in a step (world units)",
          .lower = 1e-18,
          .upper = 1e18,
          .given = &change_given },
        { .name = "calm-steps",
          .type = CLI_INT,
          .value = &o->calm_steps,
          .argument = "N",
          .help = "with --age and --change-tolerance: N such steps running are enough",
          .lower = 1,
          .upper = 1e9 },
        { .name = "fused", .type = CLI_FLAG, .value = &o->fused, .help = "a GPU takes its own arithmetic: faster, other last bits" },
        { .name = "persistent",
          .type = CLI_CHOICE,
          .value = &e.persistent,
          .argument = "WHEN",
          .help = "a GPU runs many first-order steps in one kernel: of small lists, of all, of none (default small); the same bits",
          .choices = "small always never" },
        { .name = "max-steps",
          .type = CLI_COUNT,
          .value = &o->max_steps,
          .argument = "N",
          .help = "the most steps with --age (default 100000)",
          .lower = 1,
          .upper = 1e12 },
        { .name = "frames",
          .type = CLI_COUNT,
          .value = &e.frames,
          .argument = "N",
          .help = "also write the surface at the begin and N times on the way; each is a pause of the run, which can change the length of automatic "
                  "steps",
          .lower = 1,
          .upper = 9999 },
        { .name = "frames-output", .type = CLI_TEXT, .value = &e.frames_pattern, .argument = "PATTERN", .help = "of --frames, as frame-%d.ply" },
        { .name = "space",
          .type = CLI_CHOICE,
          .value = &space,
          .argument = "SCHEME",
          .help = "differences (default upwind, first order)",
          .choices = "upwind godunov eno2 weno5" },
        { .name = "time",
          .type = CLI_CHOICE,
          .value = &time,
          .argument = "SCHEME",
          .help = "steps in time (default euler)",
          .choices = "euler rk2 rk3" },
        { .name = "reshape",
          .type = CLI_CHOICE,
          .value = &reshape,
          .argument = "WAY",
          .help = "keeps distances: a term, sweeps after each step, or not",
          .choices = "term reinit none" },
        { .name = "sign",
          .type = CLI_CHOICE,
          .value = &sign,
          .argument = "WAY",
          .help = "of the reshaping",
          .given = &e.sign_given,
          .choices = "smooth sgn phi subcell gradient" },
        { .name = "reshape-sweeps",
          .type = CLI_INT,
          .value = &o->reshape_sweeps,
          .argument = "N",
          .help = "with --reshape reinit: after each step (default 1)",
          .lower = 1,
          .upper = 16 },
        { .name = "reshape-step",
          .type = CLI_REAL,
          .value = &o->reshape_step,
          .argument = "VOXELS",
          .help = "with --reshape reinit: length of a sweep (default 0.3, less where the sign asks for it)",
          .lower = 1e-6,
          .upper = 0.6 },
        { .name = "reshape-space",
          .type = CLI_CHOICE,
          .value = &reshape_space,
          .argument = "SCHEME",
          .help = "differences of the reshaping (default: those of --space)",
          .given = &e.reshape_space_given,
          .choices = "same godunov eno2 weno5" },
        { .name = "reshape-weight",
          .type = CLI_REAL,
          .value = &o->reshape_weight,
          .argument = "B",
          .help = "voxels per unit of time (default 1)",
          .lower = 1e-9,
          .upper = 1e9 },
        { .name = "time-step",
          .type = CLI_REAL,
          .value = &o->time_step,
          .argument = "DT",
          .help = "fixed (default: automatic)",
          .lower = 1e-12,
          .upper = 1e12 },
        { .name = "cfl",
          .type = CLI_REAL,
          .value = &o->cfl,
          .argument = "C",
          .help = "of the automatic step (default 0.9)",
          .given = &e.cfl_given,
          .lower = 1e-6,
          .upper = 1 },
        { .name = "force-time-step", .type = CLI_FLAG, .value = &o->force, .help = "takes a --time-step over the stability bound, too" },
        { .name = "guard",
          .type = CLI_INT,
          .value = &o->guard,
          .argument = "VOXELS",
          .help = "width of the guard bands (default 1; 3 without reshaping)",
          .lower = 1,
          .upper = 3 },
        { .name = "managed-every",
          .type = CLI_INT,
          .value = &o->managed_every,
          .argument = "N",
          .help = "steps between passes over the list (default 1)",
          .lower = 1,
          .upper = 1000 },
        { .name = "source-rule", .type = CLI_FLAG, .value = &o->source_rule, .help = "with --age: the ages alone decide, as published; not safe" },
        { .name = "storage",
          .type = CLI_CHOICE,
          .value = &e.storage,
          .argument = "KIND",
          .help = "of the field while it moves: float32, or 16-bit fixed point in half the memory (default f32)",
          .choices = "f32 i16" },
        CLI_READ_OPTIONS(e.read),
        { 0 },
    };
    e.axis = (tsr_vec3){ 0, 0, 1 };
    int code = cli_parse(cli, options, 1, 1, argc, argv);
    if (code >= 0) return code;
    o->persistent = e.persistent == 2 ? -1 : e.persistent;
    if (!(e.speed_given || e.speed_field || e.curvature_given || e.conserve_given || e.velocity_given || e.velocity_field.count || e.rotation_given ||
          e.enright_given || e.term))
        return cli_usage(
            cli, "nothing moves the surface: expected --speed, --curvature, --conserve, --velocity, --rotation, --enright, --term or a field");
    if (e.duration_given + e.steps_given + (o->age > 0) != 1) return cli_usage(cli, "expected one of --duration, --steps and --age");
    if ((change_given || o->max_steps || o->source_rule) && !(o->age > 0))
        return cli_usage(cli, "--%s: expected with --age", change_given ? "change-tolerance" : o->max_steps ? "max-steps" : "source-rule");
    if (o->calm_steps && !(o->age > 0 && change_given)) return cli_usage(cli, "--calm-steps: expected with --age and --change-tolerance");
    if ((o->reshape_sweeps || o->reshape_step > 0) && reshape != TSR_RESHAPE_REINIT)
        return cli_usage(cli, "--%s: expected with --reshape reinit", o->reshape_sweeps ? "reshape-sweeps" : "reshape-step");
    if (form_given && !e.curvature_given && !e.conserve_given) return cli_usage(cli, "--curvature-form: expected with --curvature or --conserve");
    if (o->feedback > 0 && !e.conserve_given) return cli_usage(cli, "--feedback: expected with --conserve");
    if (o->mean_width > 0 && !e.conserve_given) return cli_usage(cli, "--mean-width: expected with --conserve");
    if (e.axis_given && !e.rotation_given) return cli_usage(cli, "--axis: expected with --rotation");
    if (e.centre_given && !e.rotation_given && !e.enright_given) return cli_usage(cli, "--centre: expected with --rotation or --enright");
    if (e.cfl_given && o->time_step > 0) return cli_usage(cli, "--cfl: given beside --time-step, expected one of them");
    if (reshape == TSR_RESHAPE_NONE && (e.sign_given || e.reshape_space_given))
        return cli_usage(cli, "--%s: expected with --reshape term or reinit", e.sign_given ? "sign" : "reshape-space");
    if (o->reshape_weight > 0 && reshape != TSR_RESHAPE_TERM) return cli_usage(cli, "--reshape-weight: expected with --reshape term");
    if (o->force && !(o->time_step > 0)) return cli_usage(cli, "--force-time-step: expected with --time-step");
    if (e.velocity_field.count && e.velocity_field.count != 3)
        return cli_usage(cli, "--velocity-field: given %d times, expected 3 (x, y and z components)", e.velocity_field.count);
    if (!e.frames != !e.frames_pattern) return cli_usage(cli, "--frames and --frames-output belong together");
    if (e.frames && o->age > 0) return cli_usage(cli, "--frames: expected with --duration or --steps");
    if (e.frames_pattern && (!strstr(e.frames_pattern, "%d") || strchr(e.frames_pattern, '%') != strrchr(e.frames_pattern, '%')))
        return cli_usage(cli, "--frames-output: '%s' given, expected a file name with one %%d for the number", e.frames_pattern);
    if (e.output || !e.frames) code = cli_check_list(cli, e.output, e.list.format);
    else code = CLI_OK;
    if (!code) code = check_frames(&e);
    if (code) return code;
    o->space = (tsr_stencil)space;
    o->time = (tsr_time)time;
    o->reshape = (tsr_reshape)reshape;
    o->sign = (tsr_sign)sign;
    o->reshape_space = (tsr_stencil)reshape_space;
    o->curvature_form = (tsr_curvature_form)form;
    if (o->age > 0 && !o->max_steps) o->max_steps = 100000;
    if (e.term_data && !e.term) return cli_usage(cli, "--term-data belongs to --term");
    code = parse_term_data(&e);
    if (code) return code;
    return evolve(&e);
}

const cli_verb verb_evolve = { "evolve", "[options] SURFACE -o SURFACE", "Move a surface: speeds, curvature flow, velocity fields, rotation",
                               "  tessera make torus --size 96 -o torus.nii.gz\n"
                               "  tessera evolve torus.nii.gz --curvature 1 --duration 20 -o smooth.ply\n"
                               "  tessera evolve torus.nii.gz --speed -1 --duration 3 --space weno5 --time rk3 -o thin.tsr\n",
                               run };
