/* tools/tessera/reproject.c: new views of a rig's depth images. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "films.h"
#include "rigs.h"

enum { OVERLAY, BLEND, CSG, FREESPACE, SWEEP };

struct reproject {
    cli_call *cli;
    cli_rig how;
    tsr_rig *rig, *keys; /* keys: of the path */
    tsr_context *context;
    const char *output, *depth_output, *choice_output, *like, *to, *path;
    cli_list use;
    tsr_vec3 eye, target, up;
    double fov;
    tsr_size3 size;
    int eye_given, mode, connect, fixed, faces, keep_far, others, most, keep, background_unknown;
    int32_t frames, footage;
    tsr_project_options project;
    tsr_blend_options blend;
    int64_t like_index, to_index;
    rig_projector *loaded; /* of all cameras of the rig; depth NULL: not yet */
    tsr_novel *view[TSR_VIEWS_MOST], *merged;
    int32_t width, height;
    /* against the camera that was left out */
    double psnr, depth_median, depth_rms, covered;
    int64_t depth_pixels;
    double seconds;
};

/* ---- where it is looked from ----------------------------------------------------------------------------------------------------- */

static int camera_at(const struct reproject *r, double t, tsr_camera *camera)
{
    tsr_rig_camera a, b;
    tsr_status status = TSR_OK;
    if (r->eye_given) {
        *camera = (tsr_camera){ .fov = r->fov };
        status = tsr_camera_look_at(camera, r->eye, r->target, r->up);
    } else if (r->keys) {
        status = tsr_rig_along(r->keys, t, camera);
        memset(&camera->lens, 0, sizeof camera->lens);
    } else {
        status = tsr_rig_get(r->rig, r->like_index, &a);
        if (status == TSR_OK) *camera = a.camera;
        if (status == TSR_OK && r->to) {
            status = tsr_rig_get(r->rig, r->to_index, &b);
            if (status == TSR_OK) status = tsr_camera_between(&a.camera, &b.camera, t, camera);
        }
        memset(&camera->lens, 0, sizeof camera->lens);
    }
    if (r->size.x && camera->projection != TSR_PROJECTION_MATRIX && r->eye_given) camera->aspect = (double)r->width / r->height;
    if (status == TSR_OK) status = tsr_camera_check(camera);
    return status == TSR_OK ? CLI_OK : cli_status(r->cli, status, NULL);
}

/* ---- projectors ------------------------------------------------------------------------------------------------------------------ */

static int wanted(const struct reproject *r, int64_t index, const char *name)
{
    if (!r->use.count) return r->keep || index != r->like_index || r->eye_given || (r->to && r->frames > 1);
    char number[24];
    snprintf(number, sizeof number, "%lld", (long long)index);
    for (int i = 0; i < r->use.count; i++)
        if (!strcmp(r->use.item[i], name) || !strcmp(r->use.item[i], number)) return 1;
    return 0;
}

/* The cameras that see most of what the new one sees: by the angle between the axes, then by the way between them. */
static int choose(struct reproject *r, const tsr_camera *camera, rig_rank *list, int64_t *count)
{
    *count = 0;
    for (int64_t i = 0; i < tsr_rig_count(r->rig); i++) {
        tsr_rig_camera c;
        if (tsr_rig_get(r->rig, i, &c) != TSR_OK || !*c.depth || !wanted(r, i, c.name)) continue;
        *count += rig_rank_of(&c, i, camera, r->width, r->height, r->mode != SWEEP && !r->use.count, &list[*count]);
    }
    rig_rank_sort(list, *count);
    if (!*count) return cli_error(r->cli, CLI_FAILED, "no camera with a depth image looks where the new view does");
    if (r->mode != SWEEP && *count > r->most) *count = r->most;
    return CLI_OK;
}

static int load(struct reproject *r, int64_t index)
{
    if (r->loaded[index].depth) return CLI_OK;
    return cli_projector_load(r->cli, r->context, r->rig, index, r->footage, RIG_PROJECTOR_DEPTH | RIG_PROJECTOR_COLOR, &r->loaded[index]);
}

/* ---- one picture ------------------------------------------------------------------------------------------------------------------- */

static tsr_status save_depth(struct reproject *r, const float *depth)
{
    tsr_volume *v = NULL;
    const tsr_write_options write = cli_write_options(r->cli);
    tsr_status status = tsr_volume_create(NULL, TSR_F32, (tsr_size3){ r->width, r->height, 1 }, NULL, &v);
    if (status == TSR_OK) {
        memcpy(tsr_volume_data(v), depth, (size_t)r->width * (size_t)r->height * sizeof *depth);
        status = tsr_volume_write(v, r->depth_output, &write);
    }
    tsr_volume_destroy(&v);
    return status;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Against the picture and the depths of the camera that was left out. */
static int judge(struct reproject *r, const float *depth, const uint8_t *color)
{
    tsr_rig_camera c;
    rig_projector truth;
    const int64_t pixels = (int64_t)r->width * r->height;
    if (tsr_rig_get(r->rig, r->like_index, &c) != TSR_OK || (!*c.image && !*c.depth)) return CLI_OK;
    tsr_context *cpu = NULL;
    int code = cli_cpu_context(r->cli, &cpu);
    if (!code)
        code = cli_projector_load(r->cli, cpu, r->rig, r->like_index, r->footage,
                                  (*c.depth ? RIG_PROJECTOR_DEPTH : 0) | (*c.image ? RIG_PROJECTOR_COLOR : 0), &truth);
    if (code) {
        tsr_context_destroy(&cpu);
        return code;
    }
    double sum = 0, *off = (double *)malloc((size_t)pixels * sizeof *off);
    int64_t shown = 0;
    const tsr_size3 n = truth.depth ? tsr_volume_size(truth.depth) : (tsr_size3){ 0, 0, 0 };
    if (truth.color && truth.width == r->width && truth.height == r->height) {
        const uint8_t *t = (const uint8_t *)tsr_volume_data(truth.color);
        for (int64_t i = 0; i < pixels; i++) {
            if (!(depth[i] > 0)) continue;
            for (int k = 0; k < 3; k++) sum += ((double)color[4 * i + k] - (double)t[3 * i + k]) * ((double)color[4 * i + k] - (double)t[3 * i + k]);
            shown++;
        }
        r->psnr = shown ? 10 * log10(255.0 * 255.0 / fmax(1e-12, sum / (3.0 * (double)shown))) : 0;
    }
    if (off && n.x == r->width && n.y == r->height) {
        const float *t = (const float *)tsr_volume_data(truth.depth);
        double square = 0;
        int64_t count = 0, there = 0;
        for (int64_t i = 0; i < pixels; i++) {
            there += t[i] > 0;
            if (!(t[i] > 0) || !(depth[i] > 0)) continue;
            off[count] = fabs((double)depth[i] - (double)t[i]);
            square += off[count] * off[count];
            count++;
        }
        qsort(off, (size_t)count, sizeof *off, by_value);
        r->depth_pixels = count;
        r->depth_median = count ? off[count / 2] : 0;
        r->depth_rms = count ? sqrt(square / (double)count) : 0;
        r->covered = there ? (double)count / (double)there : 0;
    }
    free(off);
    rig_projector_unload(&truth);
    tsr_context_destroy(&cpu);
    return CLI_OK;
}

static int sweep(struct reproject *r, tsr_camera camera, const rig_rank *list, int64_t count, float *depth, uint8_t *color)
{
    tsr_sweep *s = NULL;
    double far_ = 0, coverage = 0;
    uint8_t *state = (uint8_t *)malloc((size_t)r->width * (size_t)r->height);
    int code = state ? CLI_OK : cli_error(r->cli, CLI_FAILED, "out of memory");
    for (int64_t i = 0; i < count && !code; i++) code = load(r, list[i].index);
    for (int64_t i = 0; i < count && !code; i++) {
        const tsr_vec3 p = r->loaded[list[i].index].projector.camera.position;
        far_ = fmax(far_, hypot(hypot(p.x - camera.position.x, p.y - camera.position.y), p.z - camera.position.z) +
                              1.5 * r->loaded[list[i].index].report.farthest);
    }
    if (camera.clip[0] == 0 && camera.clip[1] == 0) {
        camera.clip[0] = 1e-3 * far_;
        camera.clip[1] = far_;
    }
    tsr_status status = code ? TSR_OK : tsr_sweep_create(r->context, &camera, r->width, r->height, &s);
    for (int64_t i = 0; i < count && !code && status == TSR_OK; i++) {
        tsr_rig_camera c;
        status = tsr_rig_get(r->rig, list[i].index, &c);
        if (status == TSR_OK)
            status = tsr_sweep_add(s, c.frame >= 0 ? c.frame : (int32_t)list[i].index, &r->loaded[list[i].index].projector, &r->project);
    }
    const tsr_sweep_maps maps = { .depth = depth, .color = color, .state = state };
    if (!code && status == TSR_OK) status = tsr_sweep_download(s, &maps, &coverage);
    if (!code && status == TSR_OK && r->choice_output) {
        static const uint8_t colors[3][3] = { { 150, 30, 30 }, { 210, 210, 210 }, { 20, 40, 90 } }; /* unknown, surface, empty */
        const tsr_write_options write = cli_write_options(r->cli);
        tsr_image image = { 0 };
        status = tsr_image_create(r->width, r->height, 3, &image);
        for (int64_t i = 0; status == TSR_OK && i < (int64_t)r->width * r->height; i++) memcpy(image.pixels + 3 * i, colors[state[i]], 3);
        if (status == TSR_OK) status = tsr_image_write(&image, r->choice_output, &write);
        tsr_image_destroy(&image);
    }
    tsr_sweep_destroy(&s);
    free(state);
    return status == TSR_OK ? code : cli_status(r->cli, status, NULL);
}

static int merge(struct reproject *r, const tsr_camera *camera, const rig_rank *list, int64_t count, float *depth, uint8_t *color)
{
    const tsr_projector *projectors[TSR_VIEWS_MOST];
    const tsr_novel *views[TSR_VIEWS_MOST];
    tsr_volume *choice = NULL, *host = NULL;
    tsr_status status = TSR_OK;
    int code = CLI_OK;
    for (int64_t i = 0; i < count && !code; i++) {
        code = load(r, list[i].index);
        projectors[i] = &r->loaded[list[i].index].projector;
    }
    const double start = cli_seconds();
    for (int64_t i = 0; i < count && !code && status == TSR_OK; i++) {
        if (!r->view[i]) status = tsr_novel_create(r->context, r->width, r->height, &r->view[i]);
        if (status == TSR_OK) status = tsr_novel_project(r->view[i], camera, projectors[i], &r->project);
        if (status == TSR_OK && r->others) status = tsr_novel_texture(r->view[i], camera, projectors, (int32_t)count, &r->blend);
        views[i] = r->view[i];
    }
    if (!code && status == TSR_OK && !r->merged) status = tsr_novel_create(r->context, r->width, r->height, &r->merged);
    if (!code && status == TSR_OK)
        status =
            tsr_novel_merge(r->merged, camera, views, projectors, (int32_t)count, (tsr_merge)r->mode, &r->blend, r->choice_output ? &choice : NULL);
    if (!code && status == TSR_OK) status = tsr_novel_download(r->merged, depth, color);
    r->seconds += cli_seconds() - start;
    if (choice && status == TSR_OK) {
        const tsr_write_options write = cli_write_options(r->cli);
        tsr_image image = { 0 };
        status = tsr_volume_copy(choice, NULL, &host);
        if (status == TSR_OK) status = tsr_choice_image(host, &image);
        if (status == TSR_OK) status = tsr_image_write(&image, r->choice_output, &write);
        tsr_image_destroy(&image);
    }
    tsr_volume_destroy(&host);
    tsr_volume_destroy(&choice);
    return status == TSR_OK ? code : cli_status(r->cli, status, NULL);
}

static int draw(struct reproject *r, double t, rig_rank *list, tsr_image *image, int64_t *used)
{
    tsr_camera camera;
    const size_t pixels = (size_t)r->width * (size_t)r->height;
    float *depth = (float *)malloc(pixels * sizeof *depth);
    uint8_t *color = (uint8_t *)malloc(pixels * 4);
    int code = depth && color ? camera_at(r, t, &camera) : cli_error(r->cli, CLI_FAILED, "out of memory");
    if (!code) code = choose(r, &camera, list, used);
    if (!code) code = r->mode == SWEEP ? sweep(r, camera, list, *used, depth, color) : merge(r, &camera, list, *used, depth, color);
    if (!code && r->like && !r->to && !r->keep) code = judge(r, depth, color);
    tsr_status status = TSR_OK;
    if (!code && r->depth_output) status = save_depth(r, depth);
    if (!code && status == TSR_OK) status = tsr_image_create(r->width, r->height, 3, image);
    for (size_t i = 0; !code && status == TSR_OK && i < pixels; i++) memcpy(image->pixels + 3 * i, color + 4 * i, 3);
    free(depth);
    free(color);
    return status == TSR_OK ? code : cli_status(r->cli, status, NULL);
}

static void show(const struct reproject *r, int64_t used)
{
    const int judged = r->psnr > 0 || r->depth_pixels > 0;
    if (r->cli->globals.json) {
        json_open(NULL, '{');
        json_int("projectors", used);
        json_int("frames", r->frames);
        json_real("seconds", r->seconds);
        if (r->psnr > 0) json_real("psnr", r->psnr);
        if (r->depth_pixels > 0) {
            json_real("depth_median_error", r->depth_median);
            json_real("depth_rms_error", r->depth_rms);
            json_real("covered", r->covered);
        }
        json_close('}');
        return;
    }
    printf("%lld of the cameras, %d %s of %d x %d pixels", (long long)used, (int)r->frames, r->frames == 1 ? "picture" : "pictures", (int)r->width,
           (int)r->height);
    if (r->mode != SWEEP) printf(", %.1f ms each", 1e3 * r->seconds / r->frames);
    printf("\n");
    if (judged) printf("against the camera that was left out:");
    if (r->psnr > 0) printf(" PSNR %.2f dB where there is a surface", r->psnr);
    if (r->depth_pixels > 0)
        printf("%s depth off by %.4g (median), %.4g (RMS), %.2f %% of its pixels covered", r->psnr > 0 ? "," : "", r->depth_median, r->depth_rms,
               100 * r->covered);
    if (judged) printf("\n");
}

static int work(struct reproject *r)
{
    cli_frames rate = CLI_FRAMES(r->cli);
    cli_film film = { .path = NULL };
    rig_rank *list = NULL;
    int64_t used = 0;
    int code = CLI_OK;
    tsr_rig_camera c;
    r->like_index = r->to_index = -1;
    r->rig = cli_read_rig(r->cli, r->cli->input[0], &r->how, &code);
    if (!code && r->path) {
        cli_rig plain = CLI_RIG;
        r->keys = cli_read_rig(r->cli, r->path, &plain, &code);
        if (!code && !r->frames) r->frames = (int32_t)fmin(100000, (double)tsr_rig_count(r->keys));
    }
    if (!code && r->like && (r->like_index = cli_rig_find(r->cli, r->rig, "like", r->like)) < 0) code = CLI_USAGE;
    if (!code && r->to && (r->to_index = cli_rig_find(r->cli, r->rig, "to", r->to)) < 0) code = CLI_USAGE;
    if (!code) {
        const tsr_status status = tsr_rig_get(r->keys ? r->keys : r->rig, r->like_index >= 0 ? r->like_index : 0, &c);
        if (status != TSR_OK) code = cli_status(r->cli, status, NULL);
        r->width = r->size.x ? (int32_t)r->size.x : c.width ? c.width : 640;
        r->height = r->size.x ? (int32_t)r->size.y : c.width ? c.height : 480;
    }
    if (!code) code = cli_film_check(r->cli, &film, r->output, r->frames == 1);
    if (!code) code = cli_context(r->cli, &r->context);
    const size_t count = code ? 0 : (size_t)tsr_rig_count(r->rig);
    r->loaded = (rig_projector *)calloc(count + 1, sizeof *r->loaded);
    list = (rig_rank *)calloc(count + 1, sizeof *list);
    if (!code && (!r->loaded || !list)) code = cli_error(r->cli, CLI_FAILED, "out of memory");
    for (int32_t n = 0; n < r->frames && !code; n++) {
        tsr_image image = { 0 };
        code = draw(r, r->frames > 1 ? (double)n / (r->frames - 1) : 0, list, &image, &used);
        if (!code) code = cli_film_append(r->cli, &film, &image, &rate);
        tsr_image_destroy(&image);
    }
    code = cli_film_finish(r->cli, &film, code);
    if (!code && strcmp(r->output, "-") != 0) show(r, used);
    for (size_t i = 0; r->loaded && i < count; i++) rig_projector_unload(&r->loaded[i]);
    for (int i = 0; i < TSR_VIEWS_MOST; i++) tsr_novel_destroy(&r->view[i]);
    tsr_novel_destroy(&r->merged);
    free(r->loaded);
    free(list);
    tsr_rig_destroy(&r->rig);
    tsr_rig_destroy(&r->keys);
    tsr_context_destroy(&r->context);
    return code;
}

static int run(cli_call *cli, int argc, char **argv)
{
    struct reproject r = { .cli = cli,
                           .how = CLI_RIG,
                           .up = { 0, 0, 1 },
                           .fov = 40,
                           .mode = CSG,
                           .most = 8,
                           .frames = 1,
                           .project = TSR_PROJECT_OPTIONS,
                           .blend = TSR_BLEND_OPTIONS };
    int frames_given = 0, most_given = 0;
    const cli_option options[] = {
        { .name = "output",
          .letter = 'o',
          .type = CLI_TEXT,
          .value = &r.output,
          .argument = "FILE",
          .help = "the picture, or with --frames the film" },
        { .name = "like",
          .type = CLI_TEXT,
          .value = &r.like,
          .argument = "CAMERA",
          .help = "look from this camera (name or number), which is left out and compared with" },
        { .name = "keep", .type = CLI_FLAG, .value = &r.keep, .help = "do not leave it out" },
        { .name = "to", .type = CLI_TEXT, .value = &r.to, .argument = "CAMERA", .help = "fly from --like to this camera" },
        { .name = "path",
          .type = CLI_TEXT,
          .value = &r.path,
          .argument = "CAMERAS",
          .help = "fly along the cameras of this file, through each of them" },
        { .name = "frames",
          .type = CLI_INT,
          .value = &r.frames,
          .argument = "N",
          .help = "of the film (default 48; of a path: one for each of its cameras)",
          .lower = 1,
          .upper = 100000,
          .given = &frames_given },
        { .name = "eye", .type = CLI_VEC3, .value = &r.eye, .help = "look from here instead", .given = &r.eye_given },
        { .name = "target", .type = CLI_VEC3, .value = &r.target, .help = "to here (default 0,0,0)" },
        { .name = "up", .type = CLI_VEC3, .value = &r.up, .help = "upwards in the picture (default 0,0,1)" },
        { .name = "fov",
          .type = CLI_REAL,
          .value = &r.fov,
          .argument = "DEGREES",
          .help = "of --eye, vertical (default 40)",
          .lower = 0.1,
          .upper = 179 },
        { .name = "size", .type = CLI_SIZE2, .value = &r.size, .help = "of the picture (default: as the camera's)", .lower = 1, .upper = 16384 },
        { .name = "mode",
          .type = CLI_CHOICE,
          .value = &r.mode,
          .argument = "HOW",
          .help = "several views become one (default csg)",
          .choices = "overlay blend csg freespace sweep" },
        { .name = "use",
          .type = CLI_LIST,
          .value = &r.use,
          .argument = "CAMERA",
          .help = "take this camera (several times; default: those that look the same way)" },
        { .name = "most",
          .type = CLI_INT,
          .value = &r.most,
          .argument = "N",
          .help = "cameras at once (default 8; sweep: all)",
          .lower = 1,
          .upper = TSR_VIEWS_MOST,
          .given = &most_given },
        { .name = "connect",
          .type = CLI_CHOICE,
          .value = &r.connect,
          .argument = "HOW",
          .help = "samples beside each other",
          .choices = "all threshold none" },
        { .name = "ratio",
          .type = CLI_REAL,
          .value = &r.project.ratio,
          .argument = "R",
          .help = "threshold: of depths that are not connected (default 1.05)",
          .lower = 1.000001,
          .upper = 1000 },
        { .name = "point-size",
          .type = CLI_REAL,
          .value = &r.project.point_size,
          .argument = "PIXELS",
          .help = "none: side of the points (default: as large as the samples)",
          .lower = 0.1,
          .upper = 256 },
        { .name = "fixed-diagonal", .type = CLI_FLAG, .value = &r.fixed, .help = "divide all quads the same way" },
        { .name = "faces",
          .type = CLI_CHOICE,
          .value = &r.faces,
          .argument = "WHICH",
          .help = "sides of surfaces that count (default: csg and freespace front, the others both)",
          .choices = "auto both front" },
        { .name = "keep-far", .type = CLI_FLAG, .value = &r.keep_far, .help = "samples without depth lie on the far plane" },
        { .name = "all-textures", .type = CLI_FLAG, .value = &r.others, .help = "colour every surface from all pictures that see it" },
        { .name = "epsilon",
          .type = CLI_REAL,
          .value = &r.blend.epsilon,
          .argument = "D",
          .help = "surfaces that are so near are one (default: from steps and slope)",
          .lower = 0,
          .upper = 1e300 },
        { .name = "power",
          .type = CLI_INT,
          .value = &r.blend.power,
          .argument = "K",
          .help = "of the cosine that weighs pictures (default 8; -1: all the same)",
          .lower = -1,
          .upper = 1000 },
        { .name = "feather",
          .type = CLI_REAL,
          .value = &r.blend.feather,
          .argument = "PIXELS",
          .help = "pictures fade towards their border (default 8; -1: not)",
          .lower = -1,
          .upper = 1e6 },
        { .name = "background-unknown", .type = CLI_FLAG, .value = &r.background_unknown, .help = "freespace: samples without depth say nothing" },
        { .name = "depth-output", .type = CLI_TEXT, .value = &r.depth_output, .argument = "FILE", .help = "the distances as well (.npy)" },
        { .name = "choice-output",
          .type = CLI_TEXT,
          .value = &r.choice_output,
          .argument = "FILE",
          .help = "which camera each pixel shows; sweep: grey surface, red unknown, blue empty" },
        { .name = "footage", .type = CLI_INT, .value = &r.footage, .argument = "N", .help = "frame of footage", .lower = 0, .upper = 2147483646 },
        CLI_RIG_OPTIONS(r.how),
        { 0 },
    };
    int code = cli_parse(cli, options, 1, 1, argc, argv);
    if (code >= 0) return code;
    if (!r.output) return cli_usage(cli, "no output: expected -o FILE");
    if (r.eye_given + (r.like != NULL) + (r.path != NULL) != 1) return cli_usage(cli, "expected --like CAMERA, --eye X,Y,Z or --path CAMERAS");
    if (r.to && !r.like) return cli_usage(cli, "--to: expected --like as well");
    if (frames_given && !r.to && !r.path) return cli_usage(cli, "--frames: expected --like and --to, or --path");
    if (r.to && !frames_given) r.frames = 48;
    if (r.path && !frames_given) r.frames = 0; /* as many as it has cameras */
    if (r.frames != 1 && (r.depth_output || r.choice_output))
        return cli_usage(cli, "--%s-output: of one picture, not of a film", r.depth_output ? "depth" : "choice");
    if (r.depth_output) code = cli_check_write_option(cli, "depth-output", r.depth_output, TSR_FILE_VOLUME, NULL);
    if (code <= 0 && r.choice_output) code = cli_check_option(cli, "choice-output", r.choice_output);
    if (code > 0) return code;
    r.project.connect = (tsr_connect)r.connect;
    r.project.diagonal = r.fixed ? TSR_DIAGONAL_FIXED : TSR_DIAGONAL_AUTO;
    r.project.keep_far = r.keep_far;
    r.project.faces = r.faces == 2 || (!r.faces && (r.mode == TSR_MERGE_CSG || r.mode == TSR_MERGE_FREESPACE)) ? TSR_FACES_FRONT : TSR_FACES_BOTH;
    r.blend.background_known = r.background_unknown;
    return work(&r);
}

const cli_verb verb_reproject = { "reproject", "[options] CAMERAS -o PICTURE", "Look at the depth images of a rig from elsewhere",
                                  "  tessera make scene head --layout arc --count 5 -o head\n"
                                  "  tessera reproject head/transforms.json --like camera02 --choice-output choice.png -o new.png\n"
                                  "  tessera reproject head/transforms.json --like camera01 --to camera03 --frames 24 -o flight.y4m\n"
                                  "  tessera make scene car --layout sweep -o car\n"
                                  "  tessera reproject car/transforms.json --eye 2,-4,2 --mode sweep -o car.png\n",
                                  run };
