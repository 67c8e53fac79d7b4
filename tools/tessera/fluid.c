/* tools/tessera/fluid.c: `tessera fluid`: pictures and films of liquids from particles. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "films.h"

enum { AOVS = 7 };
static const char *const aov_formats[] = { "npy", "exr" };
static const struct {
    const char *name;
    tsr_fluid_image image;
} aovs[AOVS] = { { "depth", TSR_FLUID_IMAGE_SURFACE },      { "normal", TSR_FLUID_IMAGE_NORMAL }, { "thickness", TSR_FLUID_IMAGE_THICKNESS },
                 { "foam", TSR_FLUID_IMAGE_FOAM },          { "noise", TSR_FLUID_IMAGE_NOISE },   { "curvature", TSR_FLUID_IMAGE_CURVATURE },
                 { "raw-depth", TSR_FLUID_IMAGE_RAW_DEPTH } };

struct fluid {
    cli_call *cli;
    tsr_read_options read;
    tsr_fluid_options options;
    tsr_fluid_look look;
    tsr_fluid_backdrop backdrop;
    const char *output, *look_name, *smoother, *sky, *aov, *scene;
    int aov_format, resolution, scenery, projection, shadow_off;
    double radius, azimuth, elevation, fov, rate, turn, level, exposure, threshold, cooling, foam;
    tsr_vec3 eye, target, up;
    int eye_given, target_given, radius_given, iterations_given, blur_given, turntable_given, foam_given, threshold_given, scenery_given, rate_given,
        level_given, aov_format_given;
    int32_t turntable;
    int aov_on[AOVS];
    cli_film film;
    cli_frames frames; /* the rate alone */
    tsr_context *context;
    tsr_fluid *fluid;
    tsr_box bounds;          /* of all particles of all frames */
    double spacing;          /* of the first frame's particles: their radius where nothing says another */
    float *color, *distance; /* device: the background mesh as it is seen */
    size_t pixels;
    tsr_scene *mesh_scene;
    tsr_picture *mesh_picture;
    /* the frame at hand */
    int64_t count, not_finite, too_near;
    double seconds;
};

static void widen(tsr_box *b, const tsr_points *points)
{
    const float *p = tsr_points_positions_const(points);
    const tsr_vec3 o = tsr_points_origin(points);
    for (int64_t i = 0; i < tsr_points_count(points); i++, p += 3) {
        if (!isfinite(p[0]) || !isfinite(p[1]) || !isfinite(p[2])) continue;
        const tsr_vec3 q = { o.x + (double)p[0], o.y + (double)p[1], o.z + (double)p[2] };
        b->lower = (tsr_vec3){ fmin(b->lower.x, q.x), fmin(b->lower.y, q.y), fmin(b->lower.z, q.z) };
        b->upper = (tsr_vec3){ fmax(b->upper.x, q.x), fmax(b->upper.y, q.y), fmax(b->upper.z, q.z) };
    }
}

/* The radius that all have, or the mean of their own. */
static double radius_of(const struct fluid *f, const tsr_points *points)
{
    const float *r = tsr_points_radii_const(points);
    double sum = 0;
    int64_t n = 0;
    if (f->radius_given) return f->radius;
    for (int64_t i = 0; r && i < tsr_points_count(points); i++)
        if (r[i] > 0 && isfinite(r[i])) {
            sum += (double)r[i];
            n++;
        }
    return n ? sum / (double)n : f->spacing;
}

/* Looks at every frame once: how large everything is, and how far particles are apart. */
static int survey(struct fluid *f)
{
    int code = CLI_OK;
    f->bounds = (tsr_box){ { HUGE_VAL, HUGE_VAL, HUGE_VAL }, { -HUGE_VAL, -HUGE_VAL, -HUGE_VAL } };
    for (int i = 0; i < f->cli->inputs && !code; i++) {
        tsr_points *points = cli_read_points(f->cli, f->cli->input[i], &f->read, &code);
        if (code) break;
        widen(&f->bounds, points);
        if (f->spacing == 0 && tsr_points_count(points) > 1) f->spacing = 0.5 * cli_points_spacing(points);
        tsr_points_destroy(&points);
    }
    if (code) return code;
    if (!(f->bounds.lower.x <= f->bounds.upper.x)) f->bounds = (tsr_box){ { -1, -1, -1 }, { 1, 1, 1 } }; /* nothing: the scene alone */
    if (!(f->spacing > 0 && isfinite(f->spacing))) {
        const tsr_vec3 a = f->bounds.lower, b = f->bounds.upper;
        f->spacing = fmax(0.01 * sqrt((b.x - a.x) * (b.x - a.x) + (b.y - a.y) * (b.y - a.y) + (b.z - a.z) * (b.z - a.z)), 1e-6);
    }
    return CLI_OK;
}

static tsr_status camera_of(const struct fluid *f, double turned, tsr_camera *camera)
{
    const double aspect = (double)f->options.width / f->options.height;
    const tsr_vec3 middle = { 0.5 * (f->bounds.lower.x + f->bounds.upper.x), 0.5 * (f->bounds.lower.y + f->bounds.upper.y),
                              0.5 * (f->bounds.lower.z + f->bounds.upper.z) };
    *camera = (tsr_camera){ .fov = f->fov };
    if (f->eye_given) {
        const tsr_vec3 target = f->target_given ? f->target : middle, d = { f->eye.x - target.x, f->eye.y - target.y, f->eye.z - target.z };
        /* a turntable goes about the axis `up` through the target */
        const double n = sqrt(f->up.x * f->up.x + f->up.y * f->up.y + f->up.z * f->up.z), angle = turned / 57.29577951308232, c = cos(angle),
                     s = sin(angle);
        const tsr_vec3 u = { f->up.x / n, f->up.y / n, f->up.z / n };
        const double along = u.x * d.x + u.y * d.y + u.z * d.z;
        const tsr_vec3 cross = { u.y * d.z - u.z * d.y, u.z * d.x - u.x * d.z, u.x * d.y - u.y * d.x };
        const tsr_vec3 eye = { target.x + d.x * c + cross.x * s + u.x * along * (1 - c), target.y + d.y * c + cross.y * s + u.y * along * (1 - c),
                               target.z + d.z * c + cross.z * s + u.z * along * (1 - c) };
        return tsr_camera_look_at(camera, eye, target, f->up);
    }
    /* Around the middle at an angle, far enough for a ball about the particles. */
    const tsr_vec3 a = f->bounds.lower, b = f->bounds.upper;
    const double reach = 0.5 * sqrt((b.x - a.x) * (b.x - a.x) + (b.y - a.y) * (b.y - a.y) + (b.z - a.z) * (b.z - a.z)) + 4 * f->spacing;
    const double half = f->fov / 114.59155902616465, narrow = aspect < 1 ? atan(tan(half) * aspect) : half, away = 0.72 * reach / sin(narrow);
    const double turn = (f->azimuth + turned) / 57.29577951308232, lift = f->elevation / 57.29577951308232;
    /* level axes for any `up`: x of the world where it is level */
    const double n = sqrt(f->up.x * f->up.x + f->up.y * f->up.y + f->up.z * f->up.z);
    const tsr_vec3 u = { f->up.x / n, f->up.y / n, f->up.z / n };
    tsr_vec3 x = fabs(u.x) < 0.9 ? (tsr_vec3){ 1 - u.x * u.x, -u.x * u.y, -u.x * u.z } : (tsr_vec3){ -u.y * u.x, 1 - u.y * u.y, -u.y * u.z };
    const double m = sqrt(x.x * x.x + x.y * x.y + x.z * x.z);
    x = (tsr_vec3){ x.x / m, x.y / m, x.z / m };
    const tsr_vec3 y = { u.y * x.z - u.z * x.y, u.z * x.x - u.x * x.z, u.x * x.y - u.y * x.x };
    const double cx = away * cos(lift) * sin(turn), cy = -away * cos(lift) * cos(turn), cu = away * sin(lift);
    const tsr_vec3 eye = { middle.x + cx * x.x + cy * y.x + cu * u.x, middle.y + cx * x.y + cy * y.y + cu * u.y,
                           middle.z + cx * x.z + cy * y.z + cu * u.z };
    return tsr_camera_look_at(camera, eye, f->target_given ? f->target : middle, f->up);
}

/* ---- what stands behind --------------------------------------------------------------------------------------------------------- */

static int open_scene(struct fluid *f)
{
    int code = CLI_OK;
    if (!f->scene) return CLI_OK;
    tsr_mesh *mesh = cli_read_mesh(f->cli, f->scene, &f->read, &code);
    if (code) return code;
    tsr_status status = tsr_scene_create(f->context, &f->mesh_scene);
    if (status == TSR_OK) status = tsr_scene_set_surface_mesh(f->mesh_scene, mesh);
    if (status == TSR_OK) status = tsr_picture_create(f->context, f->options.width, f->options.height, &f->mesh_picture);
    tsr_mesh_destroy(&mesh);
    return status == TSR_OK ? CLI_OK : cli_status(f->cli, status, f->scene);
}

/* The mesh as the camera sees it; its distances along rays become distances along the axis. */
static tsr_status draw_scene(struct fluid *f, const tsr_camera *camera, tsr_volume **color, tsr_volume **distance)
{
    tsr_render_options o = TSR_RENDER_OPTIONS;
    const int32_t w = f->options.width, h = f->options.height;
    tsr_volume *host[2] = { NULL, NULL };
    o.transparent = 1;
    o.supersampling = 2;
    o.surface_color = (tsr_color){ 0.72f, 0.70f, 0.67f };
    tsr_status status = tsr_render(f->mesh_scene, camera, &o, f->mesh_picture);
    if (status == TSR_OK) status = tsr_volume_create(NULL, TSR_F32, (tsr_size3){ 4 * (int64_t)w, h, 1 }, NULL, &host[0]);
    if (status == TSR_OK) status = tsr_volume_create(NULL, TSR_F32, (tsr_size3){ w, h, 1 }, NULL, &host[1]);
    if (status == TSR_OK) status = tsr_picture_download(f->mesh_picture, (float *)tsr_volume_data(host[0]), (float *)tsr_volume_data(host[1]));
    if (status == TSR_OK) {
        float *d = (float *)tsr_volume_data(host[1]);
        for (int32_t y = 0; y < h && status == TSR_OK; y++)
            for (int32_t x = 0; x < w && status == TSR_OK; x++) {
                const double at[2] = { x + 0.5, y + 0.5 };
                tsr_vec3 origin, r;
                if (!isfinite(d[(int64_t)y * w + x])) continue;
                status = tsr_camera_ray(camera, w, h, at, &origin, &r);
                if (status == TSR_OK) d[(int64_t)y * w + x] = (float)((double)d[(int64_t)y * w + x] / sqrt(r.x * r.x + r.y * r.y + r.z * r.z));
            }
    }
    if (status == TSR_OK) status = tsr_volume_copy(host[0], f->context, color);
    if (status == TSR_OK) status = tsr_volume_copy(host[1], f->context, distance);
    tsr_volume_destroy(&host[0]);
    tsr_volume_destroy(&host[1]);
    return status;
}

/* ---- one frame -------------------------------------------------------------------------------------------------------------------- */

/* By the names of renderers, which programs that compose pictures know. */
static const char *channel_names(tsr_fluid_image image)
{
    switch (image) {
    case TSR_FLUID_IMAGE_SURFACE:
    case TSR_FLUID_IMAGE_RAW_DEPTH: return "Z";
    case TSR_FLUID_IMAGE_NORMAL: return "N.X N.Y N.Z";
    default: return "Y";
    }
}

static int write_aovs(struct fluid *f, int32_t number, int single)
{
    const char *dot = strrchr(f->output, '.'), *slash = strrchr(f->output, '/'), *percent = strchr(f->output, '%');
    int stem = dot && (!slash || dot > slash) ? (int)(dot - f->output) : (int)strlen(f->output);
    if (percent && percent - f->output < stem) stem = (int)(percent - f->output);
    while (stem > 0 && (f->output[stem - 1] == '-' || f->output[stem - 1] == '_')) stem--;
    for (int k = 0; k < AOVS; k++) {
        char path[4200], frame[16] = "";
        int32_t width, height, channels;
        tsr_volume *volume = NULL;
        if (!f->aov_on[k]) continue;
        if (!single) snprintf(frame, sizeof frame, "-%04d", (int)number);
        snprintf(path, sizeof path, "%.*s-%s%s.%s", stem, f->output, aovs[k].name, frame, aov_formats[f->aov_format]);
        const tsr_write_options write = cli_write_options(f->cli);
        tsr_status status = tsr_fluid_image_shape(f->fluid, aovs[k].image, &width, &height, &channels);
        float *values = status == TSR_OK ? (float *)malloc((size_t)width * (size_t)height * (size_t)channels * sizeof *values) : NULL;
        if (status == TSR_OK && !values) status = TSR_ERROR_MEMORY;
        if (status == TSR_OK) status = tsr_fluid_download(f->fluid, aovs[k].image, values);
        if (status == TSR_OK) status = tsr_volume_create(NULL, TSR_F32, (tsr_size3){ width, height, channels }, NULL, &volume);
        if (status == TSR_OK) { /* planes, one channel after the other */
            float *to = (float *)tsr_volume_data(volume);
            const int64_t pixels = (int64_t)width * height;
            for (int64_t i = 0; i < pixels; i++)
                for (int32_t c = 0; c < channels; c++) to[c * pixels + i] = values[i * channels + c];
            if (f->aov_format) status = tsr_volume_set_meta(volume, "exr.channels", channel_names(aovs[k].image));
        }
        if (status == TSR_OK) status = tsr_volume_write(volume, path, &write);
        free(values);
        tsr_volume_destroy(&volume);
        if (status != TSR_OK) return cli_status(f->cli, status, path);
    }
    return CLI_OK;
}

/* `points` on the device. */
static tsr_status draw(struct fluid *f, tsr_points *points, double turned)
{
    tsr_fluid_particles p = TSR_FLUID_PARTICLES;
    tsr_fluid_info info = TSR_FLUID_INFO;
    tsr_camera camera;
    tsr_volume *color = NULL, *distance = NULL;
    int32_t components = 0;
    p.count = tsr_points_count(points);
    p.positions = tsr_points_positions_const(points);
    p.radii = f->radius_given ? NULL : tsr_points_radii_const(points);
    p.densities = tsr_points_attribute_const(points, "density", &components);
    if (components != 1) p.densities = NULL;
    p.velocities = tsr_points_attribute_const(points, "velocity", &components);
    if (components != 3) p.velocities = NULL;
    p.radius = f->radius;
    p.origin = tsr_points_origin(points);
    tsr_status status = camera_of(f, turned, &camera);
    if (status == TSR_OK && p.velocities && f->foam > 0) status = tsr_fluid_agitate(f->fluid, &p, 1 / f->rate, f->threshold, f->cooling);
    if (status == TSR_OK && f->scene) {
        status = draw_scene(f, &camera, &color, &distance);
        f->backdrop.scenery = TSR_FLUID_PICTURE;
        f->backdrop.color = color ? (const float *)tsr_volume_data(color) : NULL;
        f->backdrop.distance = distance ? (const float *)tsr_volume_data(distance) : NULL;
    }
    const double start = cli_seconds();
    if (status == TSR_OK) status = tsr_fluid_draw(f->fluid, &p, &camera, &f->backdrop, &f->look, &f->options, &info);
    if (status == TSR_OK) status = tsr_context_synchronize(f->context);
    f->seconds += cli_seconds() - start;
    f->count += p.count;
    f->not_finite += info.not_finite;
    f->too_near += info.too_near;
    tsr_volume_destroy(&color);
    tsr_volume_destroy(&distance);
    return status;
}

static int frame(struct fluid *f, tsr_points *points, int32_t at, int32_t frames)
{
    tsr_image image = { 0 };
    const double turned = f->turntable_given ? 360.0 * at / f->turntable : 0;
    tsr_status status = draw(f, points, turned);
    if (status == TSR_OK) status = tsr_fluid_picture(f->fluid, f->exposure, &image);
    int code = status == TSR_OK ? CLI_OK : cli_status(f->cli, status, NULL);
    if (!code) code = cli_film_append(f->cli, &f->film, &image, &f->frames);
    if (!code && f->aov) code = write_aovs(f, at, frames == 1);
    tsr_image_destroy(&image);
    return code;
}

static int draw_frames(struct fluid *f)
{
    const int32_t inputs = f->cli->inputs, frames = f->turntable_given ? (inputs > 1 ? inputs : f->turntable) : inputs;
    const tsr_progress progress = cli_progress(f->cli);
    tsr_points *points = NULL;
    int code = CLI_OK, held = -1;
    if (f->turntable_given && inputs > 1) f->turntable = inputs;
    for (int32_t at = 0; at < frames && !code; at++) {
        const int input = inputs > 1 ? at : 0;
        if (progress.report && progress.report(progress.user, (double)at / frames, "drawing")) {
            code = cli_error(f->cli, CLI_FAILED, "cancelled after %d of %d frames", (int)at, (int)frames);
            break;
        }
        if (input != held) {
            tsr_points *host = cli_read_points(f->cli, f->cli->input[input], &f->read, &code);
            if (!code) {
                if (held < 0) {
                    if (!f->radius_given) f->radius = radius_of(f, host);
                    tsr_fluid_preset preset = TSR_FLUID_WATER;
                    tsr_status status = tsr_fluid_preset_parse(f->look_name, &preset);
                    if (status == TSR_OK) status = tsr_fluid_look_make(preset, f->radius, &f->look);
                    f->look.noise *= (float)f->foam;
                    f->look.agitated *= (float)f->foam;
                    if (!f->threshold_given) f->threshold = 20 * 9.81 / f->rate; /* of a velocity in a frame: 20 times what falling adds */
                    if (status != TSR_OK) code = cli_status(f->cli, status, NULL);
                }
                tsr_points_destroy(&points);
                const tsr_status status = code ? TSR_OK : tsr_points_copy(host, f->context, &points);
                if (status != TSR_OK) code = cli_status(f->cli, status, f->cli->input[input]);
                held = input;
            }
            tsr_points_destroy(&host);
        }
        if (!code) code = frame(f, points, at, frames);
    }
    tsr_points_destroy(&points);
    cli_progress_end(f->cli);
    if (!code && f->not_finite)
        cli_note(f->cli, "%lld particles were left out: a position that is not a number, or a radius or density that is none",
                 (long long)f->not_finite);
    if (!code && f->cli->globals.json) {
        json_open(NULL, '{');
        json_int("frames", frames);
        json_int("particles", f->count);
        json_int("not_finite", f->not_finite);
        json_int("too_near", f->too_near);
        json_real("radius", f->radius);
        json_real("seconds_per_frame", f->seconds / frames);
        json_close('}');
    }
    return code;
}

static int set_light(struct fluid *f)
{
    tsr_status status;
    if (strpbrk(f->sky, "./")) { /* the name of a file, not of a sky */
        tsr_volume *map = NULL;
        status = tsr_panorama_read(f->sky, &f->read, &map);
        if (status == TSR_OK) status = tsr_fluid_set_panorama(f->fluid, map, f->up);
        tsr_volume_destroy(&map);
        if (status != TSR_OK) return cli_status(f->cli, status, f->sky);
    } else status = tsr_fluid_set_sky(f->fluid, f->sky, f->up);
    if (status == TSR_OK) status = tsr_fluid_adjust_sky(f->fluid, f->turn, f->level);
    return status == TSR_OK ? CLI_OK : cli_usage(f->cli, "--sky: %s", tsr_error_message());
}

static int work(struct fluid *f)
{
    int code = cli_context(f->cli, &f->context);
    if (!code) {
        const tsr_status status = tsr_fluid_create(f->context, &f->fluid);
        if (status != TSR_OK) code = cli_status(f->cli, status, NULL);
    }
    if (!code) code = set_light(f);
    if (!code) code = survey(f);
    if (!code) {
        tsr_box *b = &f->backdrop.bounds;
        const double *low = &f->bounds.lower.x, *high = &f->bounds.upper.x;
        f->backdrop.shadow = !f->shadow_off;
        f->backdrop.shadow_bounds = f->bounds;
        /* in the level frame: the corners' extents along its axes */
        tsr_vec3 axes[3];
        tsr_fluid_level_axes(f->up, axes);
        *b = (tsr_box){ { HUGE_VAL, HUGE_VAL, HUGE_VAL }, { -HUGE_VAL, -HUGE_VAL, -HUGE_VAL } };
        for (int k = 0; k < 8; k++) {
            const tsr_vec3 c = { k & 1 ? high[0] : low[0], k & 2 ? high[1] : low[1], k & 4 ? high[2] : low[2] };
            for (int m = 0; m < 3; m++) {
                const double at = axes[m].x * c.x + axes[m].y * c.y + axes[m].z * c.z;
                (&b->lower.x)[m] = fmin((&b->lower.x)[m], at - f->spacing);
                (&b->upper.x)[m] = fmax((&b->upper.x)[m], at + f->spacing);
            }
        }
        code = open_scene(f);
    }
    if (!code) code = draw_frames(f);
    code = cli_film_finish(f->cli, &f->film, code);
    tsr_picture_destroy(&f->mesh_picture);
    tsr_scene_destroy(&f->mesh_scene);
    tsr_fluid_destroy(&f->fluid);
    tsr_context_destroy(&f->context);
    return code;
}

static int take_aovs(struct fluid *f)
{
    const char *at = f->aov;
    if (!at) return f->aov_format_given ? cli_usage(f->cli, "--aov-format: without effect without --aov") : CLI_OK;
    if (!strcmp(f->output, "-")) return cli_usage(f->cli, "--aov: its files are named after the output, expected a file for --output");
    while (*at) {
        const size_t length = strcspn(at, ",");
        int found = -1;
        for (int k = 0; k < AOVS; k++)
            if (strlen(aovs[k].name) == length && !strncmp(at, aovs[k].name, length)) found = k;
        if (found < 0)
            return cli_usage(f->cli, "--aov: '%.*s' is none, expected some of depth,normal,thickness,foam,noise,curvature,raw-depth", (int)length,
                             at);
        f->aov_on[found] = 1;
        at += length;
        if (*at == ',') at++;
    }
    return CLI_OK;
}

static int run(cli_call *cli, int argc, char **argv)
{
    struct fluid f = { .cli = cli,
                       .read = TSR_READ_OPTIONS,
                       .options = TSR_FLUID_OPTIONS,
                       .backdrop = TSR_FLUID_BACKDROP,
                       .look_name = "water",
                       .smoother = "flow",
                       .sky = "day",
                       .scenery = TSR_FLUID_FLOOR,
                       .fov = 35,
                       .azimuth = 20,
                       .elevation = 22,
                       .rate = 25,
                       .level = 1,
                       .exposure = 1,
                       .cooling = 0.5,
                       .foam = 1,
                       .up = { 0, 0, 1 },
                       .frames = CLI_FRAMES(cli) };
    f.options.width = 1280;
    f.options.height = 720;
    f.options.particle_scale = 1.75;
    int smoother_given = 0;
    const cli_option options[] = {
        CLI_OUTPUT_OPTION(f.output),
        { .name = "width",
          .type = CLI_INT,
          .value = &f.options.width,
          .argument = "PIXELS",
          .help = "of the picture (default 1280)",
          .lower = 1,
          .upper = 16384 },
        { .name = "height",
          .type = CLI_INT,
          .value = &f.options.height,
          .argument = "PIXELS",
          .help = "likewise (default 720)",
          .lower = 1,
          .upper = 16384 },
        { .name = "look", .type = CLI_TEXT, .value = &f.look_name, .argument = "NAME", .help = "water, oil, milk, lava or honey (default water)" },
        { .name = "radius",
          .type = CLI_REAL,
          .value = &f.radius,
          .argument = "R",
          .help = "of all particles (default: the file's, else half their distance)",
          .lower = 1e-12,
          .upper = 1e12,
          .given = &f.radius_given },
        { .name = "particle-scale",
          .type = CLI_REAL,
          .value = &f.options.particle_scale,
          .argument = "S",
          .help = "draw particles so much larger (default 1.75)",
          .lower = 0.01,
          .upper = 100 },
        { .name = "smoother",
          .type = CLI_TEXT,
          .value = &f.smoother,
          .argument = "NAME",
          .help =
              "flow, exact, implicit, multigrid, narrow-range, bilateral, bilateral-true, bilateral-grid, gaussian, binomial or none (default flow)",
          .given = &smoother_given },
        { .name = "iterations",
          .type = CLI_INT,
          .value = &f.options.iterations,
          .argument = "N",
          .help = "of the smoother (default: as many as look smooth)",
          .lower = 0,
          .upper = 100000,
          .given = &f.iterations_given },
        { .name = "step",
          .type = CLI_REAL,
          .value = &f.options.step,
          .argument = "S",
          .help = "of the flow, as a share of the longest stable one (default 0.9)",
          .lower = 1e-6,
          .upper = 1 },
        { .name = "resolution",
          .type = CLI_CHOICE,
          .value = &f.resolution,
          .argument = "NAME",
          .help = "of the fluid's passes (default full)",
          .choices = "full half quarter" },
        { .name = "layers",
          .type = CLI_INT,
          .value = &f.options.layers,
          .argument = "N",
          .help = "surfaces behind one another that are seen (default 1)",
          .lower = 1,
          .upper = 4 },
        { .name = "threshold",
          .type = CLI_REAL,
          .value = &f.options.threshold,
          .argument = "D",
          .help = "depths that differ by more are different surfaces (default 2 radii)",
          .lower = 1e-12,
          .upper = 1e12 },
        { .name = "thickness-blur",
          .type = CLI_INT,
          .value = &f.options.thickness_blur,
          .argument = "N",
          .help = "passes over the thickness (default 4)",
          .lower = 0,
          .upper = 1000,
          .given = &f.blur_given },
        { .name = "foam",
          .type = CLI_REAL,
          .value = &f.foam,
          .argument = "S",
          .help = "strength of noise and foam (default 1; foam needs velocities)",
          .lower = 0,
          .upper = 100,
          .given = &f.foam_given },
        { .name = "agitation",
          .type = CLI_REAL,
          .value = &f.threshold,
          .argument = "V",
          .help = "change of velocity in a frame from which a particle foams (default 20 times what falling adds)",
          .lower = 0,
          .upper = 1e12,
          .given = &f.threshold_given },
        { .name = "cooling",
          .type = CLI_REAL,
          .value = &f.cooling,
          .argument = "SECONDS",
          .help = "in which foam fades to a third (default 0.5)",
          .lower = 1e-6,
          .upper = 1e6 },
        { .name = "spray-low",
          .type = CLI_REAL,
          .value = &f.options.spray_low,
          .argument = "DENSITY",
          .help = "particles below it are spray alone",
          .lower = 0,
          .upper = 1e12 },
        { .name = "spray-high",
          .type = CLI_REAL,
          .value = &f.options.spray_high,
          .argument = "DENSITY",
          .help = "above it fluid alone",
          .lower = 0,
          .upper = 1e12 },
        { .name = "curvature", .type = CLI_FLAG, .value = &f.options.curvature, .help = "show the curvature instead: green humps, red hollows" },
        { .name = "anisotropic",
          .type = CLI_FLAG,
          .value = &f.options.anisotropic,
          .help = "ellipsoids that follow the surface in place of spheres" },
        { .name = "sprites", .type = CLI_FLAG, .value = &f.options.sprites, .help = "discs in place of spheres" },
        { .name = "eye",
          .type = CLI_VEC3,
          .value = &f.eye,
          .help = "where the camera stands (default: at an angle, everything in view)",
          .given = &f.eye_given },
        { .name = "target", .type = CLI_VEC3, .value = &f.target, .help = "what it looks at (default: the middle)", .given = &f.target_given },
        { .name = "up", .type = CLI_VEC3, .value = &f.up, .help = "upwards (default 0,0,1)" },
        { .name = "azimuth",
          .type = CLI_REAL,
          .value = &f.azimuth,
          .argument = "D",
          .help = "degrees about the middle (default 20)",
          .lower = -3600,
          .upper = 3600 },
        { .name = "elevation",
          .type = CLI_REAL,
          .value = &f.elevation,
          .argument = "D",
          .help = "degrees above it (default 22)",
          .lower = -89,
          .upper = 89 },
        { .name = "fov",
          .type = CLI_REAL,
          .value = &f.fov,
          .argument = "D",
          .help = "height of the picture in degrees (default 35)",
          .lower = 0.1,
          .upper = 170 },
        { .name = "turntable",
          .type = CLI_INT,
          .value = &f.turntable,
          .argument = "N",
          .help = "go around once in N frames",
          .lower = 1,
          .upper = 100000,
          .given = &f.turntable_given },
        { .name = "rate",
          .type = CLI_REAL,
          .value = &f.rate,
          .argument = "FPS",
          .help = "frames in a second (default 25)",
          .lower = 0.1,
          .upper = 1000,
          .given = &f.rate_given },
        { .name = "sky",
          .type = CLI_TEXT,
          .value = &f.sky,
          .argument = "NAME|FILE.hdr",
          .help = "day, sunset, overcast, studio, night, or the file of a panorama: Radiance, EXR or a picture (default day)" },
        { .name = "sky-turn", .type = CLI_REAL, .value = &f.turn, .argument = "D", .help = "turn it, degrees", .lower = -3600, .upper = 3600 },
        { .name = "sky-level",
          .type = CLI_REAL,
          .value = &f.level,
          .argument = "L",
          .help = "multiply its light",
          .lower = 0,
          .upper = 1000,
          .given = &f.level_given },
        { .name = "scenery",
          .type = CLI_CHOICE,
          .value = &f.scenery,
          .argument = "NAME",
          .help = "what stands behind (default floor)",
          .choices = "sky floor room",
          .given = &f.scenery_given },
        { .name = "check",
          .type = CLI_REAL,
          .value = &f.backdrop.check,
          .argument = "SIDE",
          .help = "of the floor's checks",
          .lower = 1e-9,
          .upper = 1e12 },
        { .name = "no-shadow", .type = CLI_FLAG, .value = &f.shadow_off, .help = "the fluid takes no light from the floor" },
        { .name = "scene",
          .type = CLI_TEXT,
          .value = &f.scene,
          .argument = "MESH",
          .help = "a mesh that stands in the picture, in place of --scenery" },
        { .name = "exposure",
          .type = CLI_REAL,
          .value = &f.exposure,
          .argument = "E",
          .help = "multiply light (default 1)",
          .lower = 1e-6,
          .upper = 1e6 },
        { .name = "aov",
          .type = CLI_TEXT,
          .value = &f.aov,
          .argument = "NAMES",
          .help = "write passes, too, as files named after the output: depth,normal,thickness,foam,noise,curvature,raw-depth" },
        { .name = "aov-format",
          .type = CLI_CHOICE,
          .value = &f.aov_format,
          .argument = "NAME",
          .help = "of these files: NumPy arrays or OpenEXR pictures (default npy)",
          .choices = "npy exr",
          .given = &f.aov_format_given },
        CLI_READ_OPTIONS(f.read),
        { 0 },
    };
    int code = cli_parse(cli, options, 1, 1000000, argc, argv);
    if (code >= 0) return code;
    f.options.resolution = 1 << f.resolution;
    f.options.given = (f.iterations_given ? TSR_FLUID_GIVEN_ITERATIONS : 0) | (f.blur_given ? TSR_FLUID_GIVEN_THICKNESS_BLUR : 0);
    f.backdrop.scenery = (tsr_fluid_scenery)f.scenery;
    tsr_fluid_preset preset;
    if (tsr_fluid_preset_parse(f.look_name, &preset) != TSR_OK) return cli_usage(cli, "--look: %s", tsr_error_message());
    if (tsr_fluid_smoother_parse(f.smoother, &f.options.smoother) != TSR_OK) return cli_usage(cli, "--smoother: %s", tsr_error_message());
    if (!f.output) return cli_usage(cli, "--output: missing, expected -o PICTURE.png, FILM.mp4 or FRAME-%%04d.png");
    if (f.scene && f.scenery_given) return cli_usage(cli, "--scenery: without effect with --scene");
    if (f.options.spray_high > 0 && !(f.options.spray_high > f.options.spray_low))
        return cli_usage(cli, "--spray-high: %g, expected more than --spray-low", f.options.spray_high);
    if (!(f.up.x * f.up.x + f.up.y * f.up.y + f.up.z * f.up.z > 0)) return cli_usage(cli, "--up: 0,0,0, expected a direction");
    if ((code = take_aovs(&f))) return code;
    f.frames.rate[0] = (int32_t)lround(f.rate * 1000);
    f.frames.rate[1] = 1000;
    code = cli_film_check(cli, &f.film, f.output, cli->inputs == 1 && !f.turntable_given);
    return code ? code : work(&f);
}

const cli_verb verb_fluid = { "fluid", "[options] PARTICLES... -o PICTURE.png|FILM",
                              "Draw a liquid from its particles: water, oil, milk, lava, honey; one file for each frame",
                              "  tessera make points-torus --count 20000 -o ring.ply\n"
                              "  tessera fluid ring.ply --radius 0.03 -o ring.png\n"
                              "  tessera fluid ring.ply --radius 0.03 --look honey --sky studio --width 320 --height 180 --turntable 12 -o ring.y4m\n"
                              "  tessera fluid ring.ply --radius 0.03 --resolution half --smoother narrow-range --aov depth,normal -o ring-2.png\n",
                              run };
