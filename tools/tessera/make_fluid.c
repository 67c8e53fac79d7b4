/* tools/tessera/make_fluid.c: tessera make fluid-...: simulated liquids, frame by frame. */
#include "make_fluid.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct fluid {
    cli_call *cli;
    tsr_fluid_scene_options options;
    tsr_fluid_sim_options sim;
    tsr_write_options write;
    const char *output, *solids;
    double seconds, fps, from;
    int64_t frames;
    cli_list meshes;
    double mesh_voxel;
    tsr_progress progress;
    double done, share; /* of the whole, for the bar */
};

int cli_is_fluid(const char *name)
{
    const tsr_fluid_scene *s = NULL;
    for (int32_t k = 0; (s = tsr_fluid_scene_at(k)); k++)
        if (!strcmp(name, s->name)) return 1;
    return !strncmp(name, "fluid-", 6) && !strchr(name, '.') && !strchr(name, '/'); /* a wrong name is told which there are */
}

void cli_list_fluids(const cli_call *cli)
{
    const tsr_fluid_scene *s = NULL;
    for (int32_t k = 0; (s = tsr_fluid_scene_at(k)); k++) {
        if (cli->globals.json) {
            json_open(NULL, '{');
            json_text("name", s->name);
            json_text("kind", "fluid");
            json_text("description", s->description);
            json_close('}');
        } else {
            printf("%-18s %-9s                    %s\n", s->name, "fluid", s->description);
        }
    }
}

/* The one mark for the number, %d or %04d: where it begins and ends, and how many digits. */
static int number_mark(const char *path, const char **begin, const char **end, int *digits)
{
    const char *at = strchr(path, '%');
    if (!at) return 0;
    const char *p = at + 1;
    *digits = 0;
    if (*p == '0') p++;
    while (isdigit((unsigned char)*p)) *digits = *digits < 100 ? 10 * *digits + (*p - '0') : 100, p++;
    if (*p != 'd' || strchr(p, '%') || *digits > 9) return -1;
    *begin = at;
    *end = p + 1;
    return 1;
}

static void name_of(const struct fluid *f, int64_t frame, char path[4096])
{
    const char *begin, *end;
    int digits;
    if (number_mark(f->output, &begin, &end, &digits) > 0)
        snprintf(path, 4096, "%.*s%0*lld%s", (int)(begin - f->output), f->output, digits, (long long)frame, end);
    else snprintf(path, 4096, "%s", f->output);
}

/* One bar for all frames. */
static int report(void *user, double fraction, const char *stage)
{
    const struct fluid *f = (const struct fluid *)user;
    return f->progress.report ? f->progress.report(f->progress.user, f->done + f->share * fraction, stage) : 0;
}

static tsr_status add_meshes(const struct fluid *f, tsr_fluid_sim *sim, int *code)
{
    for (int k = 0; k < f->meshes.count; k++) {
        tsr_mesh *mesh = cli_read_mesh(f->cli, f->meshes.item[k], NULL, code);
        if (!mesh) return TSR_OK;
        const tsr_status status = tsr_fluid_sim_add_mesh(sim, mesh, f->mesh_voxel, 0);
        tsr_mesh_destroy(&mesh);
        if (status != TSR_OK) {
            *code = cli_status(f->cli, status, f->meshes.item[k]);
            return TSR_OK;
        }
    }
    return TSR_OK;
}

static int write_solids(const struct fluid *f, const tsr_fluid_sim *sim)
{
    tsr_mesh *mesh = NULL;
    tsr_write_options write = f->write;
    write.format = NULL;
    tsr_status status = tsr_fluid_sim_solids(sim, &mesh);
    if (status == TSR_OK) status = tsr_mesh_write(mesh, f->solids, &write);
    tsr_mesh_destroy(&mesh);
    return status == TSR_OK ? CLI_OK : cli_status(f->cli, status, f->solids);
}

static int write_frame(const struct fluid *f, tsr_fluid_sim *sim, int64_t frame)
{
    char path[4096];
    tsr_points *points = NULL;
    name_of(f, frame, path);
    tsr_status status = tsr_fluid_sim_points(sim, &points);
    if (status == TSR_OK) status = tsr_points_write(points, path, &f->write);
    tsr_points_destroy(&points);
    return status == TSR_OK ? CLI_OK : cli_status(f->cli, status, path);
}

static void show(const struct fluid *f, const tsr_fluid_sim_info *i, double worst, double seconds)
{
    if (f->cli->globals.json) {
        json_open(NULL, '{');
        json_int("frames", f->frames);
        json_int("particles", i->particles);
        json_int("gone", i->gone);
        json_real("time", i->time);
        json_int("steps", i->steps);
        json_int("iterations", i->iterations);
        json_real("volume", i->volume);
        json_real("density_error", worst);
        json_real("kinetic", i->kinetic);
        json_real("potential", i->potential);
        json_real("seconds", seconds);
        json_close('}');
    } else
        printf("%lld %s, %lld particles%s, %.3g s in %lld steps, density error at most %.2f %%, %.1f s\n", (long long)f->frames, f->frames == 1 ? "frame" : "frames",
               (long long)i->particles, i->gone ? " left" : "", i->time, (long long)i->steps, 100 * worst, seconds);
}

static int work(struct fluid *f)
{
    tsr_context *context = NULL;
    tsr_fluid_sim *sim = NULL;
    tsr_fluid_sim_info info = TSR_FLUID_SIM_INFO;
    double worst = 0;
    int code = cli_context(f->cli, &context);
    const double start = cli_seconds();
    tsr_status status = TSR_OK;
    const tsr_progress own = { report, f };
    if (!code) {
        status = tsr_fluid_scene_create_empty(context, f->cli->input[0], &f->options, &sim);
        if (status == TSR_OK) status = add_meshes(f, sim, &code);
        if (status == TSR_OK && !code) status = tsr_fluid_scene_fill(sim, f->cli->input[0], &f->options);
        if (status != TSR_OK) code = cli_status(f->cli, status, NULL);
    }
    if (!code && f->solids) code = write_solids(f, sim);
    for (int64_t k = 0; k < f->frames && !code; k++) {
        const double time = f->from + (f->frames > 1 ? (double)k / f->fps : f->seconds - f->from), ahead = time - info.time;
        f->done = (double)k / (double)f->frames;
        f->share = 1 / (double)f->frames;
        status = ahead > 0 ? tsr_fluid_sim_advance(sim, ahead, &own) : TSR_OK;
        if (status == TSR_OK) status = tsr_fluid_sim_describe(sim, &info);
        if (status != TSR_OK) code = cli_status(f->cli, status, NULL);
        worst = info.density_error > worst ? info.density_error : worst;
        if (!code) code = write_frame(f, sim, k);
    }
    cli_progress_end(f->cli);
    if (!code && strcmp(f->output, "-")) show(f, &info, worst, cli_seconds() - start);
    tsr_fluid_sim_destroy(&sim);
    tsr_context_destroy(&context);
    return code;
}

/* Names of all frames before any work. */
static int check(struct fluid *f)
{
    const char *begin, *end;
    int digits;
    if (!f->output) return cli_check_write(f->cli, NULL, TSR_FILE_POINTS, f->write.format);
    const int mark = number_mark(f->output, &begin, &end, &digits);
    if (mark < 0) return cli_usage(f->cli, "--output: '%s' given, expected one %%d or %%04d for the number of the frame", f->output);
    f->frames = mark ? (int64_t)floor((f->seconds - f->from) * f->fps + 1e-6) + 1 : 1;
    if (f->frames > 1000000) return cli_usage(f->cli, "--fps: %lld frames, expected at most 1000000", (long long)f->frames);
    int code = CLI_OK;
    for (int64_t k = 0; k < f->frames && !code; k++) {
        char path[4096];
        name_of(f, k, path);
        if (k == 0) code = cli_check_write(f->cli, path, TSR_FILE_POINTS, f->write.format);
        else code = f->cli->globals.force ? CLI_OK : cli_check_option(f->cli, "output", path);
    }
    if (!code && f->solids) code = cli_check_write_option(f->cli, "solids", f->solids, TSR_FILE_MESH, NULL);
    return code;
}

int cli_make_fluid(cli_call *cli, int argc, char **argv)
{
    struct fluid f = { .cli = cli, .options = TSR_FLUID_SCENE_OPTIONS, .sim = TSR_FLUID_SIM_OPTIONS, .write = TSR_WRITE_OPTIONS, .fps = 30 };
    tsr_fluid_sim_options *sim = &f.sim;
    int64_t seed = 0;
    int seconds_given = 0, viscosity_given = 0, tension_given = 0, friction_given = 0, gravity_given = 0, jitter_given = 0;
    const cli_option options[] = {
        CLI_OUTPUT_OPTION(f.output),
        { .name = "count", .type = CLI_COUNT, .value = &f.options.count, .argument = "N", .help = "particles, about (default 64000)", .lower = 1000, .upper = 1e8 },
        { .name = "seconds",
          .type = CLI_REAL,
          .value = &f.seconds,
          .argument = "T",
          .help = "how long (default: the scene's own)",
          .lower = 0,
          .upper = 1e5,
          .given = &seconds_given },
        { .name = "from", .type = CLI_REAL, .value = &f.from, .argument = "T", .help = "time of the first frame (default 0)", .lower = 0, .upper = 1e5 },
        { .name = "fps", .type = CLI_REAL, .value = &f.fps, .argument = "N", .help = "frames per second (default 30)", .lower = 1e-3, .upper = 1e5 },
        { .name = "solids", .type = CLI_TEXT, .value = &f.solids, .argument = "MESH", .help = "also write what the fluid runs against, to be drawn beside it" },
        { .name = "mesh", .type = CLI_LIST, .value = &f.meshes, .argument = "MESH", .help = "a closed mesh in the way of the fluid, metres, z up; several times" },
        { .name = "mesh-voxel",
          .type = CLI_REAL,
          .value = &f.mesh_voxel,
          .argument = "SIZE",
          .help = "how finely meshes are looked at (default: the particles' spacing)",
          .lower = 1e-6,
          .upper = 1e3 },
        { .name = "viscosity",
          .type = CLI_REAL,
          .value = &sim->viscosity,
          .argument = "NU",
          .help = "kinematic, m^2/s: oil 1e-4, honey 0.01; below what keeps the particles calm it is that, 0 = none",
          .lower = 0,
          .upper = 1e3,
          .given = &viscosity_given },
        { .name = "tension",
          .type = CLI_REAL,
          .value = &sim->tension,
          .argument = "N/M",
          .help = "of the surface: water 0.073",
          .lower = 0,
          .upper = 1e4,
          .given = &tension_given },
        { .name = "friction",
          .type = CLI_REAL,
          .value = &sim->friction,
          .argument = "SHARE",
          .help = "of walls, 0 to 1: what is lost in a hundredth of a second",
          .lower = 0,
          .upper = 1,
          .given = &friction_given },
        { .name = "density", .type = CLI_REAL, .value = &sim->density, .argument = "RHO", .help = "at rest, kg/m^3 (default 1000)", .lower = 1e-3, .upper = 1e6 },
        { .name = "gravity",
          .type = CLI_VEC3,
          .value = &sim->gravity,
          .help = "m/s^2 (default 0,0,-9.81)",
          .lower = -1e6,
          .upper = 1e6,
          .given = &gravity_given },
        { .name = "step", .type = CLI_REAL, .value = &sim->step, .argument = "S", .help = "longest step (default: as the fluid needs)", .lower = 1e-9, .upper = 1 },
        { .name = "courant",
          .type = CLI_REAL,
          .value = &sim->courant,
          .argument = "N",
          .help = "spacings that a particle may move in a step (default 0.4)",
          .lower = 1e-3,
          .upper = 1 },
        { .name = "tolerance",
          .type = CLI_REAL,
          .value = &sim->tolerance,
          .argument = "SHARE",
          .help = "mean density error that a step may leave (default 0.0001)",
          .lower = 1e-9,
          .upper = 0.1 },
        { .name = "iterations", .type = CLI_INT, .value = &sim->iterations, .argument = "N", .help = "of the pressure at most (default 100)", .lower = 1, .upper = 10000 },
        { .name = "seed", .type = CLI_COUNT, .value = &seed, .argument = "N", .help = "of the small displacements", .lower = 0, .upper = 9.2e18 },
        { .name = "jitter",
          .type = CLI_REAL,
          .value = &sim->jitter,
          .argument = "SHARE",
          .help = "their size, of the spacing (default 0.01, 0 = none)",
          .lower = 0,
          .upper = 0.3,
          .given = &jitter_given },
        { .name = "memory-limit", .type = CLI_BYTES, .value = &sim->memory_limit, .argument = "BYTES", .help = "of device memory", .lower = 1, .upper = 9e18 },
        { .name = "format", .type = CLI_TEXT, .value = &f.write.format, .argument = "NAME", .help = "of the frames (default: by extension)" },
        { .name = "ascii", .type = CLI_FLAG, .value = &f.write.ascii, .help = "frames as text where the format has both" },
        { 0 },
    };
    int code = cli_parse(cli, options, 1, 1, argc, argv);
    if (code >= 0) return code;
    const tsr_fluid_scene *scene = NULL;
    for (int32_t k = 0; (scene = tsr_fluid_scene_at(k)) && strcmp(scene->name, cli->input[0]); k++) continue;
    if (!seconds_given && scene) f.seconds = scene->seconds;
    if (f.from > f.seconds) return cli_usage(cli, "--from: %g given, expected at most the %g of --seconds", f.from, f.seconds);
    /* for the API 0 is the scene's choice */
    if (viscosity_given && sim->viscosity == 0) sim->viscosity = -1;
    if (tension_given && sim->tension == 0) sim->tension = -1;
    if (friction_given && sim->friction == 0) sim->friction = -1;
    if (jitter_given && sim->jitter == 0) sim->jitter = -1;
    sim->weightless = gravity_given;
    sim->seed = (uint64_t)seed;
    f.options.seconds = f.seconds;
    f.options.sim = sim;
    f.write.overwrite = cli->globals.force;
    if ((code = check(&f)) != CLI_OK) return code;
    f.progress = cli_progress(cli);
    return work(&f);
}
