#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "films.h"

struct light {
    cli_call *cli;
    const char *output, *field_out, *field_in, *ground_out, *radiance_out;
    tsr_light_scene *scene;
    tsr_light_matter *matter;
    tsr_light_field *field;
    tsr_light_options simulate;
    tsr_light_view_options view;
    tsr_light_tone_options tone;
    tsr_light_source lights[16];
    int32_t count, resolution, frames, width, height, samples;
    int relight, width_given, height_given, samples_given;
    double from[16][3];
    double turn, rise;
    cli_film film;
    double adapted;
};

static void show_power(const char *name, const tsr_light_power *p, const tsr_light_report *r, int json)
{
    double share = 0, all = 0;
    for (int k = 0; k < 3; k++) {
        share += p->power[k];
        all += r->start.power[k];
    }
    share = all > 0 ? share / all : 0;
    if (json) {
        json_open(name, '{');
        json_real("red", p->power[0]);
        json_real("green", p->power[1]);
        json_real("blue", p->power[2]);
        json_real("share", share);
        json_int("patches", p->patches);
        json_close('}');
    } else if (p->patches) {
        printf("  %-9s %8.4f %%  %lld patches\n", name, 100 * share, (long long)p->patches);
    }
}

static void show(const struct light *l, const tsr_light_matter_info *m, const tsr_light_report *r, double view_seconds)
{
    const int json = l->cli->globals.json;
    const tsr_light_power absorbed = { { r->absorbed[0], r->absorbed[1], r->absorbed[2] }, 1 };
    const tsr_light_power reflected = { { r->reflected[0], r->reflected[1], r->reflected[2] }, 1 };
    if (json) json_open(NULL, '{');
    if (json) {
        json_int("x", m->size.x);
        json_int("y", m->size.y);
        json_int("z", m->size.z);
        json_real("empty", m->empty);
        json_int("steps", r->steps);
        json_int("peak", r->peak);
        json_int("moved", r->moved);
        json_int("crowded", r->crowded);
        json_real("balance", r->balance);
        json_real("lit", r->lit);
        json_real("several", r->several >= 0 ? r->several : (double)NAN);
        json_real("strongest", r->strongest >= 0 ? r->strongest : (double)NAN);
        json_real("seconds", r->seconds);
        json_real("view_seconds", view_seconds);
    } else {
        printf("%lld x %lld x %lld voxels, %.1f %% of the blocks empty; %lld steps, at most %lld patches, %.2f s; view %.2f s\n",
               (long long)m->size.x, (long long)m->size.y, (long long)m->size.z, 100 * m->empty, (long long)r->steps, (long long)r->peak, r->seconds,
               view_seconds);
        printf("power (balance %.1e):\n", r->balance);
    }
    show_power("start", &r->start, r, json);
    show_power("left", &r->left, r, json);
    show_power("floor", &r->landed, r, json);
    show_power("faint", &r->faint, r, json);
    show_power("caustic", &r->caustic, r, json);
    show_power("torn", &r->torn, r, json);
    show_power("stopped", &r->stopped, r, json);
    show_power("rest", &r->rest, r, json);
    show_power("absorbed", &absorbed, r, json);
    show_power("reflected", &reflected, r, json);
    if (json) json_close('}');
    else if (r->several >= 0)
        printf("lit voxels: %.1f %%; of these lit from several directions: %.1f %%, where the strongest ray carries %.1f %%\n", 100 * r->lit,
               100 * r->several, 100 * r->strongest);
    if (r->crowded) cli_note(l->cli, "the list of patches was full: %lld were not split, see --capacity", (long long)r->crowded);
    if (r->balance > 1e-5) cli_note(l->cli, "the sums of power differ by %.1e of it", r->balance);
}

/* Lights as they stand in frame i of a film: turned around the volume's middle, and raised. */
static void place_lights(struct light *l, const tsr_light_matter_info *m, int32_t frame)
{
    const double part = l->frames > 1 ? (double)frame / l->frames : 0, a = part * l->turn * (3.14159265358979323846 / 180), lift = part * l->rise;
    const double middle[2] = { 0.5 * (m->bounds.lower.x + m->bounds.upper.x), 0.5 * (m->bounds.lower.y + m->bounds.upper.y) };
    int32_t count;
    const tsr_light_source *from = tsr_light_scene_sources(l->scene, &count);
    for (int32_t i = 0; i < count && i < 16; i++) {
        l->lights[i] = from[i];
        const double *d = from[i].direction, *p = from[i].position;
        l->lights[i].direction[0] = cos(a) * d[0] - sin(a) * d[1];
        l->lights[i].direction[1] = sin(a) * d[0] + cos(a) * d[1];
        if (from[i].kind == TSR_LIGHT_DIRECTIONAL) l->lights[i].direction[2] = d[2] - lift;
        l->lights[i].position[0] = middle[0] + cos(a) * (p[0] - middle[0]) - sin(a) * (p[1] - middle[1]);
        l->lights[i].position[1] = middle[1] + sin(a) * (p[0] - middle[0]) + cos(a) * (p[1] - middle[1]);
        l->lights[i].position[2] = p[2] + lift;
    }
    l->count = count;
}

static int write_volume(const struct light *l, tsr_volume *volume, const char *path, tsr_status status)
{
    const tsr_write_options write = cli_write_options(l->cli);
    if (status == TSR_OK) status = tsr_volume_write(volume, path, &write);
    tsr_volume_destroy(&volume);
    return status == TSR_OK ? CLI_OK : cli_status(l->cli, status, path);
}

static int write_extras(struct light *l, tsr_context *context, const tsr_volume *picture)
{
    tsr_volume *volume = NULL;
    int code = CLI_OK;
    if (l->field_out) {
        const tsr_status status = tsr_light_field_to_volume(context, l->matter, l->field, &volume);
        code = write_volume(l, volume, l->field_out, status);
    }
    if (!code && l->ground_out) {
        volume = NULL;
        const tsr_status status = tsr_light_field_ground(context, l->field, &volume);
        code = write_volume(l, volume, l->ground_out, status);
    }
    if (!code && l->radiance_out && picture) {
        volume = NULL;
        const tsr_status status = tsr_volume_copy(picture, NULL, &volume);
        code = write_volume(l, volume, l->radiance_out, status);
    }
    return code;
}

static int take_field(struct light *l, tsr_context *context)
{
    int code = CLI_OK;
    const tsr_read_options read = TSR_READ_OPTIONS;
    tsr_volume *volume = cli_read_volume(l->cli, l->field_in, &read, &code);
    if (!volume) return code;
    const tsr_status status = tsr_light_field_from_volume(context, l->matter, volume, &l->field);
    tsr_volume_destroy(&volume);
    if (status == TSR_OK && l->simulate.ground.present)
        cli_note(l->cli, "%s: the floor's light is not in a field: the picture's floor has no light of the simulation", cli_shown(l->field_in));
    return status == TSR_OK ? CLI_OK : cli_status(l->cli, status, l->field_in);
}

static int draw(struct light *l, tsr_context *context, const tsr_light_matter_info *info, const tsr_light_report *report, const cli_frames *rate)
{
    tsr_volume *picture = NULL;
    tsr_image image = { 0 };
    const double start = cli_seconds();
    l->view.sources = l->lights;
    l->view.source_count = l->count;
    tsr_status status = tsr_light_view(context, l->matter, l->field, tsr_light_scene_camera(l->scene), &l->view, &picture);
    if (status == TSR_OK) status = tsr_light_tone(context, picture, &l->tone, &image);
    cli_progress_end(l->cli);
    int code = status == TSR_OK ? CLI_OK : cli_status(l->cli, status, NULL);
    if (!code && report && strcmp(l->output, "-") != 0) show(l, info, report, cli_seconds() - start);
    if (!code) code = cli_film_append(l->cli, &l->film, &image, rate);
    if (!code) code = write_extras(l, context, picture);
    tsr_image_destroy(&image);
    tsr_volume_destroy(&picture);
    return code;
}

static int work(struct light *l, const char *path)
{
    tsr_context *context = NULL;
    tsr_light_matter_info info = TSR_LIGHT_MATTER_INFO;
    tsr_light_report report = TSR_LIGHT_REPORT;
    cli_frames rate = CLI_FRAMES(l->cli);
    int code = cli_context(l->cli, &context);
    if (code) return code;
    const tsr_progress progress = cli_progress(l->cli);
    tsr_status status = tsr_light_scene_matter(context, l->scene, l->resolution, &progress, &l->matter);
    if (status == TSR_OK) status = tsr_light_matter_describe(l->matter, &info);
    if (status != TSR_OK) code = cli_status(l->cli, status, path);
    l->simulate.progress = l->view.progress = progress;
    if (l->frames < 1) l->frames = 1;
    for (int32_t f = 0; f < l->frames && !code; f++) {
        place_lights(l, &info, f);
        if (l->field_in) code = take_field(l, context);
        else {
            status = tsr_light_simulate(context, l->matter, l->lights, l->count, &l->simulate, &l->field, &report);
            if (status != TSR_OK) code = cli_status(l->cli, status, path);
        }
        if (!code) code = draw(l, context, &info, l->field_in || f ? NULL : &report, &rate);
        tsr_light_field_destroy(&l->field);
    }
    code = cli_film_finish(l->cli, &l->film, code);
    tsr_light_matter_destroy(&l->matter);
    tsr_context_destroy(&context);
    return code;
}

/* A file, or the name of a scene that comes with the library. */
static int open_scene(struct light *l, const char *path)
{
    const tsr_light_scene_info *info = NULL;
    tsr_status status = TSR_OK;
    int found = 0;
    for (int32_t i = 0; !found && (info = tsr_light_scene_at(i)); i++) found = !strcmp(info->name, path);
    status = found ? tsr_light_scene_parse(info->text, info->name, NULL, &l->scene) : tsr_light_scene_read(path, NULL, &l->scene);
    return status == TSR_OK ? CLI_OK : cli_status(l->cli, status, NULL);
}

static int run(cli_call *cli, int argc, char **argv)
{
    struct light l = { .cli = cli, .frames = 1 };
    int record = 0, record_given = 0, go_on = 0, no_fresnel = 0, layers_given = 0, grid_given = 0, frames_given = 0, turn_given = 0, rise_given = 0;
    int32_t layers = 0, grid = 0;
    const cli_option options[] = {
        CLI_OUTPUT_OPTION(l.output),
        { .name = "resolution",
          .type = CLI_INT,
          .value = &l.resolution,
          .argument = "N",
          .help = "voxels along the longest extent (default: as the scene says)",
          .lower = 8,
          .upper = 1024 },
        { .name = "width",
          .type = CLI_INT,
          .value = &l.width,
          .argument = "PIXELS",
          .help = "of the picture",
          .lower = 1,
          .upper = 16384,
          .given = &l.width_given },
        { .name = "height",
          .type = CLI_INT,
          .value = &l.height,
          .argument = "PIXELS",
          .help = "likewise",
          .lower = 1,
          .upper = 16384,
          .given = &l.height_given },
        { .name = "samples",
          .type = CLI_INT,
          .value = &l.samples,
          .argument = "N",
          .help = "rays per pixel",
          .lower = 1,
          .upper = 4096,
          .given = &l.samples_given },
        { .name = "record",
          .type = CLI_CHOICE,
          .value = &record,
          .argument = "NAME",
          .help = "what voxels keep: the strongest rays, or all light",
          .choices = "strongest gather",
          .given = &record_given },
        { .name = "layers",
          .type = CLI_INT,
          .value = &layers,
          .argument = "N",
          .help = "rays that a voxel keeps, 1 to 4",
          .lower = 1,
          .upper = 4,
          .given = &layers_given },
        { .name = "go-on", .type = CLI_FLAG, .value = &go_on, .help = "light goes on behind caustics" },
        { .name = "no-fresnel", .type = CLI_FLAG, .value = &no_fresnel, .help = "surfaces take nothing from light that passes them" },
        { .name = "grid",
          .type = CLI_INT,
          .value = &grid,
          .argument = "N",
          .help = "patches along an edge of the wave at the start (default 64)",
          .lower = 2,
          .upper = 1024,
          .given = &grid_given },
        { .name = "capacity",
          .type = CLI_COUNT,
          .value = &l.simulate.capacity,
          .argument = "N",
          .help = "of the list of patches (default 1048576)",
          .lower = 1,
          .upper = 67108863 },
        { .name = "relight", .type = CLI_FLAG, .value = &l.relight, .help = "make a film in which the lights move" },
        { .name = "frames",
          .type = CLI_INT,
          .value = &l.frames,
          .argument = "N",
          .help = "of --relight (default 24)",
          .lower = 1,
          .upper = 100000,
          .given = &frames_given },
        { .name = "turn",
          .type = CLI_REAL,
          .value = &l.turn,
          .argument = "DEGREES",
          .help = "of --relight: around the middle (default 360)",
          .lower = -36000,
          .upper = 36000,
          .given = &turn_given },
        { .name = "rise",
          .type = CLI_REAL,
          .value = &l.rise,
          .argument = "LENGTH",
          .help = "of --relight: how much higher lights are at the end",
          .lower = -1e6,
          .upper = 1e6,
          .given = &rise_given },
        { .name = "field-out", .type = CLI_TEXT, .value = &l.field_out, .argument = "FILE", .help = "the light in every voxel, as a volume" },
        { .name = "field", .type = CLI_TEXT, .value = &l.field_in, .argument = "FILE", .help = "light from such a volume instead of a simulation" },
        { .name = "floor-out",
          .type = CLI_TEXT,
          .value = &l.ground_out,
          .argument = "FILE",
          .help = "the light on the floor, as a volume of 3 channels" },
        { .name = "radiance-out",
          .type = CLI_TEXT,
          .value = &l.radiance_out,
          .argument = "FILE",
          .help = "the picture as radiance, a volume of 3 channels" },
        { 0 },
    };
    int code = cli_parse(cli, options, 1, 1, argc, argv);
    if (code >= 0) return code;
    if (!l.output) return cli_usage(cli, "no output given: expected -o PICTURE or, with --relight, -o FILM");
    if (!l.relight && (frames_given || turn_given || rise_given))
        return cli_usage(cli, "--frames, --turn and --rise: without effect without --relight");
    if (l.field_in && (l.relight || record_given || layers_given || go_on || no_fresnel || grid_given || l.field_out || l.ground_out))
        return cli_usage(cli, "--field: light that is there is not simulated: expected without --relight, --record, --layers, --go-on, --no-fresnel, "
                              "--grid and outputs of light");
    if (l.relight && (l.field_out || l.ground_out || l.radiance_out))
        return cli_usage(cli, "--relight: expected without outputs of light, which are of one picture");
    code = cli_film_check(cli, &l.film, l.output, !l.relight);
    if (!code && l.field_out) code = cli_check_write_option(cli, "--field-out", l.field_out, TSR_FILE_VOLUME, NULL);
    if (!code && l.ground_out) code = cli_check_write_option(cli, "--floor-out", l.ground_out, TSR_FILE_VOLUME, NULL);
    if (!code && l.radiance_out) code = cli_check_write_option(cli, "--radiance-out", l.radiance_out, TSR_FILE_VOLUME, NULL);
    if (!code) code = open_scene(&l, cli->input[0]);
    if (code) return code;
    const int64_t capacity = l.simulate.capacity;
    l.simulate = *tsr_light_scene_options(l.scene);
    l.view = *tsr_light_scene_view(l.scene);
    l.tone = *tsr_light_scene_tone(l.scene);
    if (capacity) l.simulate.capacity = capacity;
    if (record_given) {
        l.simulate.record = record ? TSR_LIGHT_GATHER : TSR_LIGHT_STRONGEST;
        if (record) l.simulate.layers = 1;
    }
    if (layers_given) l.simulate.layers = layers;
    if (grid_given) l.simulate.grid = grid;
    if (go_on) l.simulate.go_on = 1;
    if (no_fresnel) l.simulate.no_fresnel = 1;
    if (l.width_given || l.height_given) {
        const double shape = l.view.width ? (double)l.view.width / l.view.height : 4.0 / 3;
        if (!l.height_given) l.height = (int32_t)fmax(1, lround(l.width / shape));
        if (!l.width_given) l.width = (int32_t)fmax(1, lround(l.height * shape));
        l.view.width = l.width;
        l.view.height = l.height;
    }
    if (l.samples_given) l.view.samples = l.samples;
    if (l.relight && !frames_given) l.frames = 24;
    if (l.relight && !turn_given && !rise_given) l.turn = 360;
    if (l.relight) {
        l.tone.adapted = &l.adapted;
        l.tone.seconds = 1.0 / 25;
    }
    code = work(&l, cli->input[0]);
    tsr_light_scene_destroy(&l.scene);
    return code;
}

const cli_verb verb_light = { "light", "[options] SCENE -o PICTURE|FILM",
                              "Light glass, water, amber and smoke: send wavefronts through a scene and look at it along bent rays",
                              "  tessera make --list                                  # scenes that come with the program: light-*\n"
                              "  tessera light wine-glass --resolution 32 --width 160 -o wine.png\n"
                              "  tessera make light-glass-sphere -o ball.txt          # the scene as a text, to be changed\n"
                              "  tessera light ball.txt --resolution 24 --width 160 -o ball.png --floor-out floor.nrrd\n"
                              "  tessera light ball.txt --resolution 16 --width 80 --relight --frames 4 --turn 90 -o ball.y4m\n",
                              run };
