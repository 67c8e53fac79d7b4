/* tools/tessera/render_film.c: films of `tessera render`: turntables, sweeps of slices, series of inputs. */
#include <math.h>
#include <string.h>

#include "render.h"

static void widen(tsr_box *all, const tsr_box *b)
{
    all->lower = (tsr_vec3){ fmin(all->lower.x, b->lower.x), fmin(all->lower.y, b->lower.y), fmin(all->lower.z, b->lower.z) };
    all->upper = (tsr_vec3){ fmax(all->upper.x, b->upper.x), fmax(all->upper.y, b->upper.y), fmax(all->upper.z, b->upper.z) };
}

/* The camera stands still in a series: it is fitted to everything that will be seen. Volumes of a series have one place; of meshes and tile lists
 * each is looked at. */
static int fit(struct render *r)
{
    for (int i = 0; i < r->cli->inputs; i++) {
        tsr_scene_info info = TSR_SCENE_INFO;
        int code = render_scene(r, r->cli->input[i]);
        if (code) return code;
        tsr_status status = tsr_scene_describe(r->scene, &info);
        if (status != TSR_OK) return cli_status(r->cli, status, r->cli->input[i]);
        const tsr_box *b = info.has_surface && !info.has_volume ? &info.surface_bounds : &info.bounds;
        if (i == 0) r->bounds = *b;
        else widen(&r->bounds, b);
        if (r->volume || r->eye_given) break;
    }
    return CLI_OK;
}

/* From the middle of what is shown, which cameras are fitted to, to the eye. */
static tsr_vec3 from_middle(const struct render *r, const tsr_camera *camera)
{
    const tsr_box *b = &r->bounds;
    const tsr_vec3 p = camera->position;
    return (tsr_vec3){ p.x - 0.5 * (b->lower.x + b->upper.x), p.y - 0.5 * (b->lower.y + b->upper.y), p.z - 0.5 * (b->lower.z + b->upper.z) };
}

/* A box needs more room from its corners than from its sides: the largest of all frames fits them all. */
static tsr_status fit_turntable(struct render *r, int32_t frames)
{
    tsr_scene_info info = TSR_SCENE_INFO;
    tsr_camera camera;
    tsr_status status = tsr_scene_describe(r->scene, &info);
    for (int32_t at = 0; at < frames && status == TSR_OK; at++) {
        status = render_camera(r, &info, r->azimuth + 360.0 * at / frames, &camera);
        if (status != TSR_OK) break;
        const tsr_vec3 d = from_middle(r, &camera);
        r->fit_distance = fmax(r->fit_distance, sqrt(d.x * d.x + d.y * d.y + d.z * d.z));
        r->fit_height = fmax(r->fit_height, camera.height);
    }
    return status;
}

/* The camera of one frame, as far away as that of every other. */
static void stand_back(const struct render *r, tsr_camera *camera)
{
    const tsr_vec3 d = from_middle(r, camera), p = camera->position;
    const double further = r->fit_distance / sqrt(d.x * d.x + d.y * d.y + d.z * d.z) - 1;
    camera->position = (tsr_vec3){ p.x + further * d.x, p.y + further * d.y, p.z + further * d.z };
    camera->height = r->fit_height;
}

static tsr_status frame(struct render *r, tsr_video_writer *writer, int32_t at, int32_t frames, tsr_image *image)
{
    tsr_scene_info info = TSR_SCENE_INFO;
    tsr_camera camera;
    tsr_status status = tsr_scene_describe(r->scene, &info);
    if (r->sweep) {
        const tsr_size3 size = tsr_volume_size(r->volume);
        const int64_t extent = r->slice.axis == 0 ? size.x : r->slice.axis == 1 ? size.y : size.z;
        r->slice.position = frames > 1 ? (double)(extent - 1) * at / (frames - 1) : 0.5 * (double)(extent - 1);
    }
    if (status == TSR_OK) status = render_camera(r, &info, r->azimuth + (r->turntable ? 360.0 * at / frames : 0), &camera);
    if (status == TSR_OK && r->turntable) stand_back(r, &camera);
    r->share = 1.0 / frames;
    r->drawn = (double)at / frames;
    if (status == TSR_OK) status = render_picture(r, &camera);
    tsr_image_destroy(image);
    if (status == TSR_OK) status = render_image(r, image);
    return status == TSR_OK ? tsr_video_writer_append(writer, image) : status;
}

/* How many frames each of the inputs gets: a turntable goes around once over all of them. */
static int32_t frames_of(const struct render *r)
{
    if (r->turntable) return r->frames_given ? r->frames : r->cli->inputs > 1 ? r->cli->inputs : 96;
    if (!r->sweep) return r->cli->inputs;
    const tsr_size3 size = tsr_volume_size(r->volume);
    const int64_t extent = r->slice.axis == 0 ? size.x : r->slice.axis == 1 ? size.y : size.z;
    return r->frames_given ? r->frames : (int32_t)extent;
}

static int draw_frames(struct render *r, tsr_video_writer *writer)
{
    const int32_t frames = frames_of(r), inputs = r->cli->inputs;
    tsr_image image = { 0 };
    int code = CLI_OK, shown = inputs > 1 ? -1 : 0; /* the input in the scene */
    for (int32_t i = 0; i < frames && !code; i++) {
        const int input = (int)((int64_t)i * inputs / frames);
        if (input != shown) {
            code = render_scene(r, r->cli->input[input]);
            if (!code) code = render_transfers(r);
            shown = input;
        }
        if (code) break;
        tsr_status status = frame(r, writer, i, frames, &image);
        if (status != TSR_OK) code = cli_status(r->cli, status, NULL);
    }
    cli_progress_end(r->cli);
    tsr_image_destroy(&image);
    return code;
}

int render_film(struct render *r)
{
    tsr_video_write_options options = TSR_VIDEO_WRITE_OPTIONS;
    tsr_video_writer *writer = NULL;
    options.overwrite = r->cli->globals.force;
    if (!r->output) return cli_usage(r->cli, "--output: missing, expected -o FILM.y4m, FRAME-%%04d.png, FILM.mp4, ...");
    if (!strcmp(r->output, "-")) options.format = "y4m";
    else if (!strstr(r->output, ".y4m") && !strstr(r->output, ".png"))
        options.chroma = TSR_CHROMA_420; /* ffmpeg: its size is checked before we draw */
    tsr_status status = tsr_video_check_output(r->output, &options);
    if (status != TSR_OK) return cli_error(r->cli, CLI_USAGE, "%s", tsr_error_message());
    int code = fit(r);
    if (!code && r->sweep && !r->volume) code = cli_usage(r->cli, "--sweep: %s is no volume", r->cli->input[0]);
    if (!code) code = render_transfers(r);
    if (code) return code;
    if (r->turntable) status = fit_turntable(r, frames_of(r));
    if (status != TSR_OK) return cli_status(r->cli, status, NULL);
    status = tsr_video_writer_create(r->output, r->width, r->height, (int32_t)lround(r->rate * 1000), 1000, &options, &writer);
    if (status != TSR_OK) return cli_status(r->cli, status, NULL);
    code = draw_frames(r, writer);
    if (!code) {
        status = tsr_video_writer_finish(&writer);
        if (status != TSR_OK) code = cli_status(r->cli, status, NULL);
    }
    tsr_video_writer_destroy(&writer);
    return code;
}
