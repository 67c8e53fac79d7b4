/* tools/tessera/mvv_render.c: `tessera mvv render`: the moving mesh with its textures, from any side. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mvv.h"

typedef struct rendering {
    cli_call *cli;
    const char *output, *ideal_path, *like, *only, *leave_out;
    tsr_size3 size;
    tsr_vec3 eye, target, up;
    double fov, turn, sweep;
    float background[3];
    int eye_given, background_given;
    int32_t first, steps, still, power;
    tsr_context *context;
    tsr_multiview *textures, *ideal, *masks; /* masks: made anew for files without */
    tsr_multiview_model *model;
    tsr_texturer *texturer;
    tsr_multiview_parts parts;
    tsr_texturer_view look;
    mvv_layer layer;
    int32_t width, height, like_index;
    tsr_video_writer *film;
    double error[2]; /* squared, sums: RGB, luma */
    int64_t compared, surface, unseen;
    double seconds;
} rendering;

/* ---- where it is looked from ------------------------------------------------------------------------------------------------------- */

static int32_t find_camera(const rendering *r, const char *option, const char *name)
{
    char *end;
    for (int32_t c = 0; c < r->parts.cameras; c++)
        if (!strcmp(tsr_multiview_camera_name(r->textures, c), name)) return c;
    const long number = strtol(name, &end, 10);
    if (*name && !*end && number >= 0 && number < r->parts.cameras) return (int32_t)number;
    cli_usage(r->cli, "--%s: no camera '%s', expected a name or a number from 0 to %d", option, cli_shown(name), (int)r->parts.cameras - 1);
    return -1;
}

/* Round the vertical axis through the middle of what stands at the step. */
static void turn_camera(tsr_camera *c, tsr_vec3 middle, double degrees)
{
    const double a = degrees * 3.14159265358979323846 / 180, s = sin(a), k = cos(a);
    const double x = c->position.x - middle.x, y = c->position.y - middle.y;
    c->position.x = middle.x + k * x - s * y;
    c->position.y = middle.y + s * x + k * y;
    for (int i = 0; i < 3; i++) {
        const double u = c->rotation[i][0], v = c->rotation[i][1];
        c->rotation[i][0] = k * u - s * v;
        c->rotation[i][1] = s * u + k * v;
    }
}

static tsr_vec3 middle_of(const rendering *r, int32_t step)
{
    double low[3] = { HUGE_VAL, HUGE_VAL, HUGE_VAL }, high[3] = { -HUGE_VAL, -HUGE_VAL, -HUGE_VAL };
    const float *at = r->parts.position + (int64_t)step * r->parts.vertices * 3;
    for (int64_t i = 0; i < 3 * r->parts.vertices; i++) {
        low[i % 3] = fmin(low[i % 3], (double)at[i]);
        high[i % 3] = fmax(high[i % 3], (double)at[i]);
    }
    return (tsr_vec3){ 0.5 * (low[0] + high[0]), 0.5 * (low[1] + high[1]), 0.5 * (low[2] + high[2]) };
}

static tsr_status camera_at(const rendering *r, int32_t step, double t, tsr_camera *camera)
{
    if (r->eye_given) {
        *camera = (tsr_camera){ .fov = r->fov };
        const tsr_status status = tsr_camera_look_at(camera, r->eye, r->target, r->up);
        if (status != TSR_OK) return status;
    } else {
        *camera = r->parts.camera[(int64_t)(r->parts.camera_steps > 1 ? step : 0) * r->parts.cameras + r->like_index];
        memset(&camera->lens, 0, sizeof camera->lens);
    }
    turn_camera(camera, middle_of(r, r->first), r->turn + t * r->sweep);
    return TSR_OK;
}

/* ---- pictures ---------------------------------------------------------------------------------------------------------------------- */

/* The planes and masks of a step, counted from the first that was read. */
static tsr_status planes_of(const rendering *r, const tsr_multiview *m, int32_t step, uint8_t *plane[3], const uint64_t **visible)
{
    tsr_multiview_view v, masks;
    tsr_status status = tsr_multiview_view_of(m, &v);
    if (status != TSR_OK) return status;
    const int64_t texels = (int64_t)v.cameras * v.height * v.width, words = (int64_t)v.cameras * v.height * ((v.width + 63) / 64);
    for (int k = 0; k < 3; k++) plane[k] = v.plane[k] + step * texels;
    *visible = v.visible + (v.visible ? step * words : 0);
    if (v.visible) return TSR_OK;
    status = tsr_multiview_view_of(r->masks, &masks);
    if (status == TSR_OK) status = tsr_texturer_step(r->texturer, r->first + step, NULL, TSR_TEXTURE_BILINEAR, NULL, masks.visible);
    *visible = masks.visible;
    return status;
}

static tsr_status draw(rendering *r, const tsr_multiview *m, int32_t step, const tsr_camera *camera, tsr_image *image, tsr_texturer_seen *seen)
{
    uint8_t *plane[3];
    const uint64_t *visible;
    tsr_status status = planes_of(r, m, step, plane, &visible);
    if (status == TSR_OK)
        status = tsr_texturer_draw(r->texturer, r->first + step, plane, visible, camera, r->width, r->height, &r->look, image, seen);
    return status;
}

static double luma(const uint8_t *p) { return 0.299 * p[0] + 0.587 * p[1] + 0.114 * p[2]; }

/* On pixels that show the mesh and that a camera saw. */
static void measure(rendering *r, const tsr_image *a, const tsr_image *b)
{
    for (int64_t i = 0; i < (int64_t)a->width * a->height; i++) {
        const uint8_t *p = a->pixels + 4 * i, *q = b->pixels + 4 * i;
        if (!q[3]) continue;
        for (int k = 0; k < 3; k++) r->error[0] += (double)(p[k] - q[k]) * (p[k] - q[k]) / 3;
        r->error[1] += (luma(p) - luma(q)) * (luma(p) - luma(q));
        r->compared++;
    }
}

static tsr_status append(rendering *r, const tsr_image *image)
{
    tsr_image plain = { 0 };
    tsr_status status = tsr_image_create(image->width, image->height, 3, &plain);
    for (int64_t i = 0; i < (int64_t)image->width * image->height && status == TSR_OK; i++) memcpy(plain.pixels + 3 * i, image->pixels + 4 * i, 3);
    if (status == TSR_OK) status = tsr_video_writer_append(r->film, &plain);
    tsr_image_destroy(&plain);
    return status;
}

static double now(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int frame(rendering *r, int32_t number, int32_t count)
{
    tsr_image image = { 0 }, ideal = { 0 };
    tsr_camera camera;
    tsr_texturer_seen seen = TSR_TEXTURER_SEEN;
    const int32_t step = r->still ? 0 : number;
    tsr_status status = camera_at(r, r->first + step, count > 1 ? (double)number / count : 0, &camera);
    const double begun = now();
    if (status == TSR_OK) status = draw(r, r->textures, step, &camera, &image, &seen);
    r->seconds += now() - begun;
    r->surface += seen.surface;
    r->unseen += seen.unseen;
    if (status == TSR_OK && r->ideal) status = draw(r, r->ideal, step, &camera, &ideal, NULL);
    if (status == TSR_OK && r->ideal) measure(r, &image, &ideal);
    if (status == TSR_OK && r->film) status = append(r, &image);
    tsr_image_destroy(&ideal);
    tsr_image_destroy(&image);
    if (status == TSR_ERROR_STATE && r->film && count > 1 && !r->still) /* one picture, and there are more */
        return cli_error(r->cli, CLI_FAILED, "%s, or --step N: one of the %d steps", tsr_error_message(), (int)count);
    return status == TSR_OK ? CLI_OK : cli_status(r->cli, status, NULL);
}

/* ---- the work ---------------------------------------------------------------------------------------------------------------------- */

static int load(rendering *r)
{
    tsr_multiview_read_options read = TSR_MULTIVIEW_READ_OPTIONS;
    size_t size = 0;
    int code = CLI_OK;
    read.first_step = r->first;
    read.steps = r->still ? 1 : r->steps;
    r->textures = mvv_read_layer(r->cli, r->context, r->cli->input[0], &read, &r->layer, &code);
    if (!code && r->ideal_path) r->ideal = mvv_read_layer(r->cli, r->context, r->ideal_path, &read, &r->layer, &code);
    if (code) return code;
    const void *bytes = tsr_multiview_model_bytes(r->textures, &size);
    if (!bytes)
        return cli_error(r->cli, CLI_FAILED, "%s: textures without a model, which says where they belong (tessera mvv make writes it)",
                         cli_given(r->cli->input[0]));
    tsr_multiview_view v, own;
    tsr_status status = tsr_multiview_model_unpack(bytes, size, cli_given(r->cli->input[0]), 0, &r->model);
    if (status == TSR_OK) status = tsr_texturer_create(r->context, r->model, &r->texturer);
    if (status == TSR_OK) status = tsr_multiview_view_of(r->textures, &v);
    if (status == TSR_OK && !v.visible) status = tsr_multiview_create(r->context, v.width, v.height, v.cameras, 1, 1, &r->masks);
    if (status == TSR_OK && r->ideal) status = tsr_multiview_view_of(r->ideal, &own);
    if (status != TSR_OK) return cli_status(r->cli, status, NULL);
    r->parts = tsr_multiview_model_parts(r->model);
    if (v.width != r->parts.width || v.height != r->parts.height || v.cameras != r->parts.cameras || r->first + v.steps > r->parts.steps)
        return cli_error(r->cli, CLI_FAILED, "%s: its model has %d x %d texels, %d cameras, %d steps, its textures %d x %d, %d, %d from %d on",
                         cli_given(r->cli->input[0]), r->parts.width, r->parts.height, r->parts.cameras, r->parts.steps, v.width, v.height, v.cameras,
                         v.steps, r->first);
    if (r->ideal && (own.width != v.width || own.height != v.height || own.cameras != v.cameras || own.steps != v.steps))
        return cli_error(r->cli, CLI_FAILED, "%s: %d x %d texels, %d cameras, %d steps, expected those of %s", r->ideal_path, own.width, own.height,
                         own.cameras, own.steps, cli_given(r->cli->input[0]));
    r->steps = v.steps;
    return CLI_OK;
}

static int choose(rendering *r)
{
    r->like_index = r->like ? find_camera(r, "like", r->like) : 0;
    const int32_t only = r->only ? find_camera(r, "only", r->only) : -1, out = r->leave_out ? find_camera(r, "leave-out", r->leave_out) : -1;
    if (r->like_index < 0 || (r->only && only < 0) || (r->leave_out && out < 0)) return CLI_USAGE;
    r->look = (tsr_texturer_view)TSR_TEXTURER_VIEW;
    r->look.power = r->power;
    r->look.only = only + 1;
    r->look.leave_out = out + 1;
    for (int k = 0; k < 3; k++) {
        r->look.background[k] = (uint8_t)(r->background[k] * 255 + 0.5f);
        r->look.unseen[k] = 128;
    }
    r->width = r->size.x ? (int32_t)r->size.x : r->parts.picture[2 * r->like_index];
    r->height = r->size.y ? (int32_t)r->size.y : r->parts.picture[2 * r->like_index + 1];
    return CLI_OK;
}

static double psnr(double sum, int64_t count) { return count && sum > 0 ? 10 * log10(255.0 * 255.0 * (double)count / sum) : HUGE_VAL; }

static void show(const rendering *r, int32_t frames)
{
    const double unseen = r->surface ? (double)r->unseen / (double)r->surface : 0;
    if (r->cli->globals.json) {
        json_open(NULL, '{');
        if (r->output) json_text("output", r->output);
        json_int("frames", frames);
        json_int("width", r->width);
        json_int("height", r->height);
        json_int("surface_pixels", r->surface);
        json_real("unseen", unseen);
        json_real("seconds_per_frame", r->seconds / frames);
        if (r->ideal) {
            json_int("compared_pixels", r->compared);
            json_real("psnr_rgb", psnr(r->error[0], r->compared));
            json_real("psnr_luma", psnr(r->error[1], r->compared));
        }
        json_close('}');
        return;
    }
    printf("%s%s%d %s of %d x %d pixels, %.1f ms each; no camera saw %.2f %% of the surface in them\n", r->output ? r->output : "",
           r->output ? ": " : "", (int)frames, frames == 1 ? "picture" : "pictures", (int)r->width, (int)r->height, 1e3 * r->seconds / frames,
           100 * unseen);
    if (r->ideal)
        printf("against %s: PSNR %.3f dB (RGB), %.3f dB (luma), over %lld pixels\n", r->ideal_path, psnr(r->error[0], r->compared),
               psnr(r->error[1], r->compared), (long long)r->compared);
}

static int work(rendering *r)
{
    int32_t rate[2] = { 25, 1 };
    int code = load(r);
    if (!code) code = choose(r);
    const int32_t frames = r->still ? r->still : r->steps;
    if (!code && r->output) {
        tsr_video_write_options write = TSR_VIDEO_WRITE_OPTIONS;
        write.overwrite = r->cli->globals.force;
        tsr_multiview_rate(r->textures, rate);
        tsr_status status = tsr_video_writer_create(r->output, r->width, r->height, rate[0], rate[1], &write, &r->film);
        if (status != TSR_OK) code = cli_status(r->cli, status, r->output);
    }
    const tsr_progress progress = cli_progress(r->cli);
    for (int32_t n = 0; n < frames && !code; n++) {
        code = frame(r, n, frames);
        if (!code && progress.report && progress.report(progress.user, (n + 1.0) / frames, "frames"))
            code = cli_error(r->cli, CLI_FAILED, "stopped at frame %d", (int)n);
    }
    cli_progress_end(r->cli);
    if (!code && r->film) {
        const tsr_status status = tsr_video_writer_finish(&r->film);
        if (status != TSR_OK) code = cli_status(r->cli, status, r->output);
    }
    if (!code) show(r, frames);
    return code;
}

static int run(cli_call *cli, int argc, char **argv)
{
    rendering r = { .cli = cli, .up = { 0, 0, 1 }, .fov = 40, .layer = { .gain = 4 } };
    int32_t step = 0;
    int step_given = 0, for_eye = 0, for_film = 0, power_given = 0;
    const cli_option options[] = {
        { .name = "output",
          .letter = 'o',
          .type = CLI_TEXT,
          .value = &r.output,
          .argument = "FILE",
          .help = "a film (.y4m, .mp4 ...), numbered pictures (view-%04d.png) or, with --step, one picture" },
        { .name = "compare",
          .type = CLI_TEXT,
          .value = &r.ideal_path,
          .argument = "RAW.mvv",
          .help = "the same textures uncoded: tells how far the views are from the ideal ones" },
        MVV_SHOW_OPTIONS(r.layer),
        { .name = "like",
          .type = CLI_TEXT,
          .value = &r.like,
          .argument = "CAMERA",
          .help = "looks as this camera of the footage (default: the first)" },
        { .name = "turn",
          .type = CLI_REAL,
          .value = &r.turn,
          .argument = "DEGREES",
          .help = "the camera goes round the mesh by so much, about z",
          .lower = -360,
          .upper = 360 },
        { .name = "sweep",
          .type = CLI_REAL,
          .value = &r.sweep,
          .argument = "DEGREES",
          .help = "and on by so much until the end of the film",
          .lower = -36000,
          .upper = 36000 },
        { .name = "eye",
          .type = CLI_VEC3,
          .value = &r.eye,
          .help = "looks from here (with --target)",
          .lower = -1e9,
          .upper = 1e9,
          .given = &r.eye_given },
        { .name = "target",
          .type = CLI_VEC3,
          .given = &for_eye,
          .value = &r.target,
          .help = "of --eye (default 0,0,0)",
          .lower = -1e9,
          .upper = 1e9 },
        { .name = "up", .type = CLI_VEC3, .given = &for_eye, .value = &r.up, .help = "of --eye (default 0,0,1)", .lower = -1e9, .upper = 1e9 },
        { .name = "fov",
          .type = CLI_REAL,
          .value = &r.fov,
          .given = &for_eye,
          .argument = "DEGREES",
          .help = "of --eye, vertical (default 40)",
          .lower = 0.1,
          .upper = 179 },
        { .name = "size", .type = CLI_SIZE2, .value = &r.size, .help = "of the pictures (default: as the camera's)", .lower = 1, .upper = 8192 },
        { .name = "step",
          .type = CLI_INT,
          .value = &step,
          .argument = "N",
          .help = "this step alone",
          .lower = 0,
          .upper = 1 << 20,
          .given = &step_given },
        { .name = "first",
          .type = CLI_INT,
          .value = &r.first,
          .given = &for_film,
          .argument = "N",
          .help = "step of the film's first picture (default 0)",
          .lower = 0,
          .upper = 1 << 20 },
        { .name = "steps",
          .type = CLI_INT,
          .value = &r.steps,
          .given = &for_film,
          .argument = "N",
          .help = "so many (default: to the end)",
          .lower = 1,
          .upper = 1 << 20 },
        { .name = "frames",
          .type = CLI_INT,
          .value = &r.still,
          .argument = "N",
          .help = "of a film of --step: time stands still, the camera moves (--sweep)",
          .lower = 1,
          .upper = 1 << 20 },
        { .name = "power",
          .type = CLI_INT,
          .value = &r.power,
          .given = &power_given,
          .argument = "K",
          .help = "of the cosine between the ways to the view and to a camera (default 8; negative: all alike)",
          .lower = -1,
          .upper = 1000 },
        { .name = "only", .type = CLI_TEXT, .value = &r.only, .argument = "CAMERA", .help = "the textures of this camera alone" },
        { .name = "leave-out", .type = CLI_TEXT, .value = &r.leave_out, .argument = "CAMERA", .help = "all textures but those of this camera" },
        { .name = "background", .type = CLI_COLOR, .value = r.background, .argument = "#RRGGBB", .help = "where no mesh is (default black)" },
        { 0 },
    };
    int code = cli_parse(cli, options, 1, 1, argc, argv);
    if (code >= 0) return code;
    if (!r.output && !r.ideal_path) return cli_usage(cli, "nothing to do: expected -o FILE, or --compare RAW.mvv");
    if (r.still && !step_given) return cli_usage(cli, "--frames: of a film in which time stands still, expected --step as well");
    if (for_eye && !r.eye_given) return cli_usage(cli, "--target, --up and --fov are of --eye, and there is none");
    if (r.eye_given && r.like) return cli_usage(cli, "--eye and --like: only one of them");
    if (step_given && for_film) return cli_usage(cli, "--step is one step alone: expected no --first and no --steps");
    if (r.only && r.leave_out) return cli_usage(cli, "--only and --leave-out: only one of them");
    if (power_given && !r.power) r.power = -1; /* the power 0 of anything is 1: all cameras alike; the library's 0 is its default */
    if (step_given) {
        r.first = step;
        if (!r.still) r.still = 1;
    }
    if (r.output) code = cli_check_output(cli, r.output);
    if (code < 0) code = CLI_OK;
    if (!code) code = cli_context(cli, &r.context);
    if (!code) code = work(&r);
    tsr_video_writer_destroy(&r.film);
    tsr_texturer_destroy(&r.texturer);
    tsr_multiview_model_destroy(&r.model);
    tsr_multiview_destroy(&r.masks);
    tsr_multiview_destroy(&r.ideal);
    tsr_multiview_destroy(&r.textures);
    tsr_context_destroy(&r.context);
    return code;
}

const cli_verb mvv_render = { "mvv render", "[options] FILE.mvv -o FILE", "The moving mesh with its textures, from any side, as a film or pictures",
                              "  tessera make mvv dancer --steps 4 -o dancer\n"
                              "  tessera mvv make dancer -o dancer.mvv\n"
                              "  tessera mvv render dancer.mvv --turn 22 -o turned.y4m\n"
                              "  tessera mvv render dancer.mvv --step 2 --frames 12 --sweep 360 -o 'round-%04d.png'\n",
                              run };
