#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "films.h"
#include "rigs.h"
#include "tessera/align.h"

struct align {
    cli_call *cli;
    tsr_align_options o;
    tsr_align_result result;
    const char *output, *format, *proxy, *start, *camera, *overlay;
    cli_rig how;
    int free_centre, known_focal, show, frames, show_given, frames_given;
    int32_t radial, players, smooth;
    double crease, noise;
    tsr_size3 size;
    tsr_align_line *line;
    tsr_mesh *mesh;
    tsr_align_proxy shape;
    tsr_rig *found;
    /* of a film: */
    tsr_pinhole *track;
    double *rms;
    int *known; /* 0: a gap */
    char (*name)[300];
    int64_t count, room;
    double seconds;
};

/* ---- proxies ------------------------------------------------------------------------------------------------------------------- */

static int read_proxy(struct align *a)
{
    int code = CLI_OK;
    const char *dot = strrchr(a->proxy, '.');
    if (!strcmp(a->proxy, "pitch")) {
        a->shape.lines = tsr_pitch_lines(NULL);
        a->line = (tsr_align_line *)malloc((size_t)a->shape.lines * sizeof *a->line);
        if (!a->line) return cli_error(a->cli, CLI_FAILED, "out of memory");
        tsr_pitch_lines(a->line);
    } else if (dot && !strcmp(dot, ".csv")) {
        const tsr_read_options read = cli_limit_options(a->cli);
        const tsr_status status = tsr_align_lines_read(a->proxy, &read, &a->line, &a->shape.lines);
        if (status != TSR_OK) code = cli_status(a->cli, status, NULL);
    } else {
        const tsr_read_options read = cli_limit_options(a->cli);
        a->mesh = cli_read_mesh(a->cli, a->proxy, &read, &code);
    }
    a->shape.line = a->line;
    a->shape.mesh = a->mesh;
    a->shape.crease = a->crease;
    return code;
}

/* ---- pictures to try it on ------------------------------------------------------------------------------------------------------ */

static tsr_pinhole stand(double turn, double zoom, int32_t width, int32_t height)
{
    const double eye[3] = { 0, -75, 22 }, target[3] = { 26 + 18 * turn, -2, 0 };
    double f[3], r[3], d[3], length = 0;
    tsr_pinhole c = { .width = width, .height = height, .fx = zoom * width, .fy = zoom * width, .cx = 0.5 * width, .cy = 0.5 * height };
    for (int k = 0; k < 3; k++) f[k] = target[k] - eye[k], length += f[k] * f[k];
    for (int k = 0; k < 3; k++) f[k] /= sqrt(length);
    const double across = hypot(f[0], f[1]);
    r[0] = f[1] / across, r[1] = -f[0] / across, r[2] = 0;
    d[0] = f[1] * r[2] - f[2] * r[1], d[1] = f[2] * r[0] - f[0] * r[2], d[2] = f[0] * r[1] - f[1] * r[0];
    for (int k = 0; k < 3; k++) c.rotation[0][k] = r[k], c.rotation[1][k] = d[k], c.rotation[2][k] = f[k];
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) c.translation[i] -= c.rotation[i][k] * eye[k];
    return c;
}

static tsr_status keep(struct align *a, const tsr_pinhole *camera, const char *name)
{
    tsr_rig_camera r = { .frame = TSR_RIG_STATIC, .name = name, .width = camera->width, .height = camera->height };
    tsr_status status = tsr_camera_from_pinhole(camera, &r.camera);
    if (status == TSR_OK && !a->found) status = tsr_rig_create(&a->found);
    return status == TSR_OK ? tsr_rig_add(a->found, &r) : status;
}
static int write_found(struct align *a, const char *path)
{
    tsr_rig_write_options o = TSR_RIG_WRITE_OPTIONS;
    o.format = a->format;
    o.overwrite = a->cli->globals.force;
    const tsr_status status = tsr_rig_write(a->found, path, &o);
    return status == TSR_OK ? CLI_OK : cli_status(a->cli, status, NULL);
}

static int draw(struct align *a)
{
    cli_frames frames = CLI_FRAMES(a->cli);
    cli_film film = { 0 };
    int code = cli_film_check(a->cli, &film, a->output, a->show == 1);
    const int32_t width = a->size.x ? (int32_t)a->size.x : 1280, height = a->size.x ? (int32_t)a->size.y : 720;
    for (int32_t n = 0; n < a->show && !code; n++) {
        tsr_image image = { 0 };
        tsr_pitch_options o = TSR_PITCH_OPTIONS;
        char name[32];
        const double t = a->show > 1 ? (double)n / (a->show - 1) : 0.5;
        const tsr_pinhole c = stand(2 * t - 1, 1.5 + 0.1 * t, width, height);
        snprintf(name, sizeof name, "frame%04d", (int)n);
        o.players = a->players;
        o.noise = a->noise;
        o.seed = a->o.seed;
        tsr_status status = tsr_pitch_draw(&c, &o, &image);
        if (status == TSR_OK) status = keep(a, &c, name);
        if (status != TSR_OK) code = cli_status(a->cli, status, NULL);
        if (!code && n == 0) code = cli_film_begin(a->cli, &film, image.width, image.height, image.channels, &frames);
        if (!code) code = cli_film_append(a->cli, &film, &image, &frames);
        tsr_image_destroy(&image);
    }
    code = cli_film_finish(a->cli, &film, code);
    return code ? code : write_found(a, a->start);
}

/* ---- work ---------------------------------------------------------------------------------------------------------------------- */

/* The proxy's lines in red over the picture. */
static int write_overlay(struct align *a, const tsr_image *image, const tsr_pinhole *camera)
{
    tsr_image to = { 0 };
    tsr_camera c;
    const tsr_write_options write = cli_image_options(a->cli, a->overlay);
    tsr_status status = tsr_camera_from_pinhole(camera, &c);
    if (status == TSR_OK) status = tsr_image_create(image->width, image->height, 3, &to);
    for (int64_t i = 0; status == TSR_OK && i < (int64_t)image->width * image->height; i++)
        for (int k = 0; k < 3; k++) to.pixels[3 * i + k] = image->pixels[i * image->channels + (image->channels > 2 ? k : 0)];
    const int64_t triangles = a->mesh ? tsr_mesh_triangle_count(a->mesh) : 0;
    for (int64_t i = 0; status == TSR_OK && i < a->shape.lines + 3 * triangles; i++) {
        double end[2][3], last[2] = { 0, 0 };
        for (int e = 0; e < 2; e++) {
            if (i < a->shape.lines) {
                const tsr_vec3 p = e ? a->line[i].to : a->line[i].from;
                end[e][0] = p.x, end[e][1] = p.y, end[e][2] = p.z;
            } else {
                const int64_t n = i - a->shape.lines;
                const float *v = tsr_mesh_vertices_const(a->mesh) + 3 * (int64_t)tsr_mesh_triangles_const(a->mesh)[n / 3 * 3 + (n + e) % 3];
                for (int k = 0; k < 3; k++) end[e][k] = (double)v[k];
            }
        }
        for (int k = 0; k <= 2000; k++) {
            const double t = k / 2000.0;
            double pixel[2], depth;
            const tsr_vec3 x = { end[0][0] + t * (end[1][0] - end[0][0]), end[0][1] + t * (end[1][1] - end[0][1]),
                                 end[0][2] + t * (end[1][2] - end[0][2]) };
            if (tsr_camera_project(&c, image->width, image->height, x, pixel, &depth) != TSR_OK) continue;
            if (!(pixel[0] >= 0 && pixel[1] >= 0 && pixel[0] < image->width && pixel[1] < image->height)) continue;
            if (k && fabs(pixel[0] - last[0]) + fabs(pixel[1] - last[1]) < 0.5) continue;
            memcpy(last, pixel, sizeof last);
            uint8_t *p = to.pixels + 3 * ((int64_t)pixel[1] * image->width + (int64_t)pixel[0]);
            p[0] = 255, p[1] = 40, p[2] = 30;
        }
    }
    if (status == TSR_OK) status = tsr_image_write(&to, a->overlay, &write);
    tsr_image_destroy(&to);
    return status == TSR_OK ? CLI_OK : cli_status(a->cli, status, a->overlay);
}

static int read_start(struct align *a, tsr_pinhole *start, const tsr_image *image)
{
    int code;
    tsr_rig_camera c;
    tsr_rig *rig = cli_read_rig(a->cli, a->start, &a->how, &code);
    const int64_t index = rig ? a->camera ? cli_rig_find(a->cli, rig, "camera", a->camera) : 0 : -1;
    if (rig && index < 0) code = CLI_USAGE;
    if (!code) {
        tsr_status status = tsr_rig_get(rig, index, &c);
        if (status == TSR_OK && c.width && (c.width != image->width || c.height != image->height))
            code = cli_error(a->cli, CLI_FAILED, "%s: camera '%s' has pictures of %d x %d pixels, this one has %d x %d", cli_shown(a->start),
                             cli_shown(c.name), (int)c.width, (int)c.height, (int)image->width, (int)image->height);
        if (!code && status == TSR_OK) status = tsr_camera_to_pinhole(&c.camera, image->width, image->height, start);
        if (!code && status != TSR_OK) code = cli_status(a->cli, status, a->start);
    }
    tsr_rig_destroy(&rig);
    return code;
}

static int more_room(struct align *a)
{
    if (a->count < a->room) return CLI_OK;
    a->room = a->room ? 2 * a->room : 64;
    void *track = realloc(a->track, (size_t)a->room * sizeof *a->track);
    if (track) a->track = (tsr_pinhole *)track;
    void *rms = realloc(a->rms, (size_t)a->room * sizeof *a->rms);
    if (rms) a->rms = (double *)rms;
    void *known = realloc(a->known, (size_t)a->room * sizeof *a->known);
    if (known) a->known = (int *)known;
    void *name = realloc(a->name, (size_t)a->room * sizeof *a->name);
    if (name) a->name = (char(*)[300])name;
    return track && rms && known && name ? CLI_OK : cli_error(a->cli, CLI_FAILED, "out of memory for %lld pictures", (long long)a->room);
}

/* A picture that follows another: the camera before it, moved on as before, is the start. */
static tsr_status follow(struct align *a, tsr_context *context, const tsr_image *image, const tsr_pinhole *start)
{
    tsr_align_options o = a->o;
    if (a->count) {
        o.degrees = fmin(o.degrees > 0 ? o.degrees : 6, 2);
        o.distance = fmin(o.distance > 0 ? o.distance : 0.06, 0.02);
        o.field = fmin(o.field > 0 ? o.field : 0.12, 0.04);
        o.candidates = o.candidates ? o.candidates : 2048;
    }
    a->result.struct_size = sizeof a->result;
    return tsr_align_edges(context, image, &a->shape, start, &o, &a->result);
}

static int work(struct align *a)
{
    cli_frames frames = CLI_FRAMES(a->cli);
    tsr_context *context = NULL;
    tsr_pinhole start = { 0 };
    int more = 1, code = read_proxy(a);
    if (!code) code = cli_context(a->cli, &context);
    while (!code && more) {
        code = cli_frames_next(&frames, &more);
        if (code || !more) break;
        if (!a->count) code = read_start(a, &start, &frames.image);
        if (!code) code = more_room(a);
        if (code) break;
        const double begin = cli_seconds();
        const tsr_status status = follow(a, context, &frames.image, &start);
        a->seconds += cli_seconds() - begin;
        cli_progress_end(a->cli);
        snprintf(a->name[a->count], sizeof *a->name, "%s", frames.name);
        a->known[a->count] = status == TSR_OK;
        a->rms[a->count] = a->result.rms;
        if (status == TSR_OK) start = a->result.camera;
        else if (!a->count || status != TSR_ERROR_STATE) code = cli_status(a->cli, status, frames.name);
        else cli_note(a->cli, "%s: a gap: %s", cli_shown(frames.name), tsr_error_message());
        a->track[a->count++] = start;
        if (!code && a->overlay && a->count == 1) code = write_overlay(a, &frames.image, &start);
    }
    if (!code) code = cli_frames_any(&frames);
    cli_frames_destroy(&frames);
    tsr_context_destroy(&context);
    return code;
}

/* Weights of the neighbours that are known: of the straight line through them, at i, so that a camera that pans is not held back where they lie on one side. */
static double weight_of(const struct align *a, int64_t i, int64_t k, int64_t reach, const double moment[3])
{
    const double near = a->known[k] ? 1 - fabs((double)(k - i)) / (double)(reach + 1) : 0, det = moment[0] * moment[2] - moment[1] * moment[1];
    return det > 1e-9 * moment[0] * moment[2] ? near * (moment[2] - moment[1] * (double)(k - i)) / det : near / moment[0];
}

/* Straight lines through neighbours that are known, of places, directions and focal lengths; gaps between those on both sides, or as the last that is known. */
static void smooth(struct align *a)
{
    if (a->count < 2) return;
    tsr_pinhole *to = (tsr_pinhole *)malloc((size_t)a->count * sizeof *to);
    if (!to) return;
    for (int64_t i = 0; i < a->count; i++) {
        to[i] = a->track[i];
        int64_t before = i, behind = i;
        while (before >= 0 && !a->known[before]) before--;
        while (behind < a->count && !a->known[behind]) behind++;
        const int inside = before >= 0 && behind < a->count;
        if (!inside) { /* nothing is known beyond */
            if (before >= 0) to[i] = a->track[before];
            else if (behind < a->count) to[i] = a->track[behind];
            continue;
        }
        const int64_t reach = (i - before > behind - i ? i - before : behind - i) + a->smooth, first = i - reach < 0 ? 0 : i - reach,
                      last = i + reach < a->count ? i + reach : a->count - 1;
        double moment[3] = { 0 }, r[3][3] = { { 0 } }, eye[3] = { 0 }, f = 0;
        for (int64_t k = first; k <= last; k++)
            for (int m = 0; m < 3 && a->known[k]; m++) moment[m] += (1 - fabs((double)(k - i)) / (double)(reach + 1)) * pow((double)(k - i), m);
        for (int64_t k = first; k <= last; k++) {
            const tsr_pinhole *c = &a->track[k];
            const double weight = weight_of(a, i, k, reach, moment);
            for (int m = 0; m < 3; m++)
                for (int n = 0; n < 3; n++) {
                    r[m][n] += weight * c->rotation[m][n];
                    eye[n] -= weight * c->rotation[m][n] * c->translation[m];
                }
            f += weight * log(c->fx);
        }
        /* rows made orthonormal: small turns, so that the order does not matter much */
        for (int m = 2; m >= 0; m--) {
            for (int k = 2; k > m; k--) {
                const double dot = r[m][0] * r[k][0] + r[m][1] * r[k][1] + r[m][2] * r[k][2];
                for (int n = 0; n < 3; n++) r[m][n] -= dot * r[k][n];
            }
            const double length = sqrt(r[m][0] * r[m][0] + r[m][1] * r[m][1] + r[m][2] * r[m][2]);
            for (int n = 0; n < 3; n++) r[m][n] /= length;
        }
        const double ratio = to[i].fy / to[i].fx;
        memcpy(to[i].rotation, r, sizeof r);
        to[i].fx = exp(f);
        to[i].fy = ratio * to[i].fx;
        for (int m = 0; m < 3; m++) to[i].translation[m] = -(r[m][0] * eye[0] + r[m][1] * eye[1] + r[m][2] * eye[2]);
    }
    memcpy(a->track, to, (size_t)a->count * sizeof *to);
    free(to);
}

static void show(const struct align *a)
{
    int64_t gaps = 0;
    for (int64_t i = 0; i < a->count; i++) gaps += !a->known[i];
    const tsr_pinhole *c = &a->track[0];
    double eye[3] = { 0 };
    for (int m = 0; m < 3; m++)
        for (int n = 0; n < 3; n++) eye[n] -= c->rotation[m][n] * c->translation[m];
    if (a->cli->globals.json) {
        json_open(NULL, '{');
        json_int("pictures", a->count);
        json_int("gaps", gaps);
        json_real("seconds", a->seconds);
        json_int("candidates", a->result.candidates);
        json_real("rms", a->rms[0]);
        json_int("samples", a->result.samples);
        json_int("matched", a->result.matched);
        json_real("condition", a->result.condition);
        json_real("focal", c->fx);
        json_open("position", '[');
        for (int k = 0; k < 3; k++) json_real(NULL, eye[k]);
        json_close(']');
        json_open("frames", '[');
        for (int64_t i = 0; i < a->count; i++) {
            json_open(NULL, '{');
            json_text("name", a->name[i]);
            json_bool("known", a->known[i]);
            json_real("rms", a->rms[i]);
            json_real("focal", a->track[i].fx);
            json_close('}');
        }
        json_close(']');
        json_close('}');
        return;
    }
    printf("%lld picture%s, %.3f s each%s\n", (long long)a->count, a->count == 1 ? "" : "s", a->seconds / (double)a->count, gaps ? "" : ", no gaps");
    if (gaps) printf("%lld gaps, filled from their neighbours\n", (long long)gaps);
    printf("lines lie %.3f pixels (RMS) from edges; focal length %.3f (+- %.2g), at %.6g %.6g %.6g (+- %.2g along the axis)\n", a->rms[0], c->fx,
           a->result.sigma.fx, eye[0], eye[1], eye[2], a->result.sigma.translation[2]);
}

static int run(cli_call *cli, int argc, char **argv)
{
    struct align a = { .cli = cli, .how = CLI_RIG, .o = TSR_ALIGN_OPTIONS, .result = TSR_ALIGN_RESULT, .smooth = 0, .players = 0 };
    int64_t seed = 0;
    const cli_option options[] = {
        CLI_OUTPUT_OPTION(a.output),
        { .name = "format",
          .type = CLI_TEXT,
          .value = &a.format,
          .argument = "NAME",
          .help = "of the cameras: opencv, transforms, ... (default: by name)" },
        { .name = "proxy",
          .type = CLI_TEXT,
          .value = &a.proxy,
          .argument = "pitch|MESH|LINES.csv",
          .help = "what is seen: a football pitch, a mesh, or lines X,Y,Z,X,Y,Z" },
        { .name = "start", .type = CLI_TEXT, .value = &a.start, .argument = "CAMERAS", .help = "where the camera is about" },
        { .name = "camera", .type = CLI_TEXT, .value = &a.camera, .argument = "NUMBER|NAME", .help = "of --start (default the first)" },
        { .name = "degrees",
          .type = CLI_REAL,
          .value = &a.o.degrees,
          .argument = "D",
          .help = "by which the start's direction may be wrong (default 6)",
          .lower = 1e-6,
          .upper = 90 },
        { .name = "distance",
          .type = CLI_REAL,
          .value = &a.o.distance,
          .argument = "SHARE",
          .help = "of the distance by which its place may be wrong (default 0.06)",
          .lower = 1e-9,
          .upper = 1 },
        { .name = "field",
          .type = CLI_REAL,
          .value = &a.o.field,
          .argument = "SHARE",
          .help = "by which its focal length may be wrong (default 0.12)",
          .lower = 1e-9,
          .upper = 1 },
        { .name = "known-focal", .type = CLI_FLAG, .value = &a.known_focal, .help = "hold the focal length" },
        { .name = "free-centre", .type = CLI_FLAG, .value = &a.free_centre, .help = "find the centre of the picture as well" },
        { .name = "radial",
          .type = CLI_INT,
          .value = &a.radial,
          .argument = "N",
          .help = "coefficients of the lens to find, 0 to 2 (default 0)",
          .lower = 0,
          .upper = 2 },
        { .name = "contrast",
          .type = CLI_REAL,
          .value = &a.o.contrast,
          .argument = "GREYS",
          .help = "least slope of an edge, a pixel (default 4)",
          .lower = 0.01,
          .upper = 255 },
        { .name = "crease",
          .type = CLI_REAL,
          .value = &a.crease,
          .argument = "DEGREES",
          .help = "edges of a mesh that are sharper count always (default 25)",
          .lower = 0,
          .upper = 180 },
        { .name = "candidates",
          .type = CLI_INT,
          .value = &a.o.candidates,
          .argument = "N",
          .help = "cameras tried on each level (default 8192)",
          .lower = 64,
          .upper = 1 << 20 },
        { .name = "refine-only", .type = CLI_FLAG, .value = &a.o.refine_only, .help = "the start is some pixels off: no search" },
        { .name = "smooth",
          .type = CLI_INT,
          .value = &a.smooth,
          .argument = "N",
          .help = "of a film: a straight line through N frames before and behind",
          .lower = 0,
          .upper = 1000 },
        { .name = "overlay", .type = CLI_TEXT, .value = &a.overlay, .argument = "FILE.png", .help = "the proxy's lines over the first picture" },
        { .name = "show",
          .type = CLI_INT,
          .value = &a.show,
          .argument = "N",
          .help = "make N pictures of a pitch instead, and their true cameras as --start",
          .lower = 1,
          .upper = 100000,
          .given = &a.show_given },
        { .name = "players", .type = CLI_INT, .value = &a.players, .argument = "N", .help = "of --show", .lower = 0, .upper = 1000 },
        { .name = "noise", .type = CLI_REAL, .value = &a.noise, .argument = "GREYS", .help = "of --show", .lower = 0, .upper = 255 },
        { .name = "seed",
          .type = CLI_COUNT,
          .value = &seed,
          .argument = "N",
          .help = "of the candidates, and of --show",
          .lower = 0,
          .upper = 9.2e18 },
        CLI_RIG_OPTIONS(a.how),
        { 0 },
    };
    int code = cli_parse(cli, options, 0, 1 << 20, argc, argv);
    if (code >= 0) return code;
    code = CLI_OK;
    a.size = a.how.size;
    a.o.seed = (uint64_t)seed;
    a.o.progress = cli_progress(cli);
    a.o.free = (a.known_focal ? 0 : (uint32_t)TSR_FREE_FOCAL) | (a.free_centre ? (uint32_t)TSR_FREE_CENTRE : 0) |
               (a.radial > 0 ? (uint32_t)TSR_FREE_K1 : 0) | (a.radial > 1 ? (uint32_t)TSR_FREE_K2 : 0);
    if (!a.o.free) a.o.free = TSR_FREE_POSE_ONLY;
    if (!a.proxy) code = cli_usage(cli, "--proxy: missing: expected pitch, a mesh, or a .csv of lines");
    else if (!a.start) code = cli_usage(cli, "--start: missing: expected a file of cameras");
    else if (a.show_given && (cli->inputs || strcmp(a.proxy, "pitch") != 0 || !a.output))
        code = cli_usage(cli, "--show: expected --proxy pitch and -o, and no pictures");
    else if (!a.show_given && !cli->inputs) code = cli_usage(cli, "no pictures given");
    if (!code && a.output && !a.show_given) code = cli_check_output(cli, a.output);
    if (!code && a.show_given) code = cli_check_option(cli, "start", a.start);
    if (!code && a.overlay) code = cli_check_write_option(cli, "overlay", a.overlay, TSR_FILE_IMAGE, NULL);
    if (!code) code = a.show_given ? draw(&a) : work(&a);
    if (!code && !a.show_given) {
        smooth(&a);
        tsr_status status = TSR_OK;
        for (int64_t i = 0; i < a.count && status == TSR_OK; i++) status = keep(&a, &a.track[i], a.name[i]);
        if (status != TSR_OK) code = cli_status(cli, status, NULL);
        if (!code && a.output) code = write_found(&a, a.output);
        if (!code) show(&a);
    }
    tsr_rig_destroy(&a.found);
    tsr_mesh_destroy(&a.mesh);
    free(a.line);
    free(a.track);
    free(a.rms);
    free(a.known);
    free(a.name);
    return code;
}

const cli_verb verb_align = { "align", "[options] PICTURE... --proxy pitch|MESH|LINES.csv --start CAMERAS -o CAMERAS",
                              "Find the camera of a picture, or of every frame of a film, from something in it whose shape is known",
                              "  tessera align --proxy pitch --show 1 -o pitch.png --start true.json --image-size 640,360\n"
                              "  tessera align pitch.png --proxy pitch --start true.json -o camera.json --overlay overlay.png\n",
                              run };
