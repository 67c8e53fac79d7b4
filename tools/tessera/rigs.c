/* tools/tessera/rigs.c: rigs and their images in verbs. */
#include "rigs.h"

#include <stdlib.h>
#include <string.h>

tsr_rig *cli_read_rig(const cli_call *cli, const char *path, cli_rig *o, int *code)
{
    tsr_rig *rig = NULL;
    o->read.width = (int32_t)o->size.x;
    o->read.height = (int32_t)o->size.y;
    o->read.geocast_matrix = (tsr_geocast_matrix)o->matrix;
    o->read.geocast_half_window = o->half;
    o->read.progress = cli_progress(cli);
    const tsr_status status = tsr_rig_read(path, &o->read, &rig);
    cli_progress_end(cli);
    *code = status == TSR_OK ? CLI_OK : cli_status(cli, status, NULL);
    return rig;
}

int64_t cli_rig_find(const cli_call *cli, const tsr_rig *rig, const char *option, const char *name)
{
    char *end;
    int64_t index = tsr_rig_find(rig, name);
    if (index >= 0) return index;
    index = strtoll(name, &end, 10);
    if (*name && !*end && index >= 0 && index < tsr_rig_count(rig)) return index;
    cli_usage(cli, "--%s: no camera '%s', expected a name or a number from 0 to %lld", option, cli_shown(name), (long long)tsr_rig_count(rig) - 1);
    return -1;
}

static tsr_status remove_lens(tsr_context *context, const tsr_rig_camera *c, int32_t width, int32_t height, tsr_volume **color)
{
    tsr_volume *warped = NULL;
    tsr_lens_warp_options o = TSR_LENS_WARP_OPTIONS;
    tsr_lens lens = c->camera.lens;
    if (!tsr_lens_distorts(&lens)) return TSR_OK;
    if (lens.model == TSR_LENS_FISHEYE && !(lens.focal > 0)) {
        double p[16];
        const tsr_status status = tsr_camera_matrices(&c->camera, width, height, NULL, p);
        if (status != TSR_OK) return status;
        lens.focal = p[0];
    }
    o.channels = 3;
    const tsr_status status = tsr_lens_warp(context, *color, &lens, &o, &warped, NULL);
    if (status == TSR_OK) {
        tsr_volume_destroy(color);
        *color = warped;
    }
    return status;
}

static int load_color(const cli_call *cli, tsr_context *context, const tsr_rig *rig, const tsr_rig_camera *c, int32_t frame, cli_projector *p)
{
    char path[4096];
    tsr_image image = { 0 }, plain = { 0 };
    tsr_status status = tsr_rig_path(rig, c->image, frame, path, sizeof path);
    if (status == TSR_OK) status = tsr_image_read(path, NULL, &image);
    if (status == TSR_OK && image.channels != 3) {
        status = tsr_image_create(image.width, image.height, 3, &plain);
        for (int64_t i = 0; status == TSR_OK && i < (int64_t)image.width * image.height; i++)
            for (int k = 0; k < 3; k++) plain.pixels[3 * i + k] = image.pixels[i * image.channels + (image.channels > 2 ? k : 0)];
    }
    p->width = image.width;
    p->height = image.height;
    if (status == TSR_OK) status = tsr_frames_upload(context, plain.pixels ? &plain : &image, 1, &p->color);
    if (status == TSR_OK) status = remove_lens(context, c, image.width, image.height, &p->color);
    tsr_image_destroy(&image);
    tsr_image_destroy(&plain);
    p->projector.color = p->color;
    return status == TSR_OK ? CLI_OK : cli_status(cli, status, NULL);
}

static int load_depth(const cli_call *cli, tsr_context *context, const tsr_rig *rig, const tsr_rig_camera *c, int32_t frame, cli_projector *p)
{
    char path[4096];
    int code = CLI_OK;
    tsr_volume *file = NULL, *real = NULL;
    tsr_context *cpu = NULL;
    tsr_status status = tsr_rig_path(rig, c->depth, frame, path, sizeof path);
    if (status != TSR_OK) return cli_status(cli, status, NULL);
    status = tsr_volume_read(path, NULL, &file);
    if (status != TSR_OK) return cli_status(cli, status, NULL);
    const tsr_size3 n = tsr_volume_size(file);
    if (n.z != 1 || n.x > 16384 || n.y > 16384)
        code = cli_error(cli, CLI_FAILED, "%s: %lld x %lld x %lld numbers, expected one slice of at most 16384 pixels a side", cli_shown(path), (long long)n.x, (long long)n.y,
                         (long long)n.z);
    if (!code && c->width && (n.x * c->height != n.y * c->width) && (llabs((long long)(n.x * c->height - n.y * c->width)) > c->width))
        code = cli_error(cli, CLI_FAILED, "%s: %lld x %lld pixels, but the images of camera '%s' have %d x %d: another shape", cli_shown(path), (long long)n.x, (long long)n.y,
                         cli_shown(c->name), (int)c->width, (int)c->height);
    if (!code) code = cli_cpu_context(cli, &cpu);
    if (!code) {
        status = tsr_volume_convert(cpu, file, TSR_F32, &real);
        float *d = status == TSR_OK ? (float *)tsr_volume_data(real) : NULL;
        p->report = (tsr_depth_report)TSR_DEPTH_REPORT;
        tsr_depth_encoding encoding = c->encoding; /* how many bits, the file knows best */
        if (encoding.bits && (tsr_volume_dtype(file) == TSR_F32 || tsr_volume_dtype(file) == TSR_F64)) encoding.bits = 0;
        else if (encoding.bits && encoding.kind != TSR_DEPTH_EYE) encoding.bits = 8 * (int32_t)tsr_dtype_size(tsr_volume_dtype(file));
        if (status == TSR_OK) status = tsr_depth_decode(&c->camera, &encoding, (int32_t)n.x, (int32_t)n.y, d, d, &p->report);
        if (status == TSR_OK && tsr_lens_distorts(&c->camera.lens)) {
            float *straight = (float *)malloc((size_t)n.x * (size_t)n.y * sizeof *straight);
            if (straight) status = tsr_depth_undistort(&c->camera, (int32_t)n.x, (int32_t)n.y, d, straight);
            if (straight && status == TSR_OK) memcpy(d, straight, (size_t)n.x * (size_t)n.y * sizeof *straight);
            if (!straight) code = cli_error(cli, CLI_FAILED, "out of memory");
            free(straight);
        }
        if (status == TSR_OK && !code) status = tsr_volume_copy(real, context, &p->depth);
        if (status != TSR_OK) code = cli_status(cli, status, path);
    }
    if (!code && !p->report.valid)
        code = cli_error(cli, CLI_FAILED, "%s: no sample of %lld is a distance (%lld no numbers, %lld not above 0, %lld outside the clip distances, %lld background)", cli_shown(path),
                         (long long)p->report.samples, (long long)p->report.not_numbers, (long long)p->report.behind, (long long)p->report.beyond, (long long)p->report.background);
    p->projector.depth = p->depth;
    p->projector.quantum = p->report.quantum;
    if (!p->width) {
        p->width = (int32_t)n.x;
        p->height = (int32_t)n.y;
    }
    tsr_volume_destroy(&real);
    tsr_volume_destroy(&file);
    tsr_context_destroy(&cpu);
    return code;
}

int cli_projector_load(const cli_call *cli, tsr_context *context, const tsr_rig *rig, int64_t index, int32_t frame, int parts, cli_projector *p)
{
    tsr_rig_camera c;
    memset(p, 0, sizeof *p);
    const tsr_status status = tsr_rig_get(rig, index, &c);
    if (status != TSR_OK) return cli_status(cli, status, NULL);
    int code = CLI_OK;
    p->projector.camera = c.camera;
    memset(&p->projector.camera.lens, 0, sizeof p->projector.camera.lens);
    if ((parts & CLI_PROJECTOR_DEPTH) && !*c.depth) return cli_error(cli, CLI_FAILED, "camera '%s' has no depth image", cli_shown(c.name));
    if (parts == CLI_PROJECTOR_COLOR && !*c.image) return cli_error(cli, CLI_FAILED, "camera '%s' has no picture", cli_shown(c.name));
    if ((parts & CLI_PROJECTOR_COLOR) && *c.image) code = load_color(cli, context, rig, &c, frame, p);
    if (!code && (parts & CLI_PROJECTOR_DEPTH)) code = load_depth(cli, context, rig, &c, frame, p);
    if (!code && p->projector.camera.projection != TSR_PROJECTION_MATRIX && p->projector.camera.aspect == 0 && p->width)
        p->projector.camera.aspect = (double)p->width / p->height;
    if (code) cli_projector_unload(p);
    return code;
}

void cli_projector_unload(cli_projector *p)
{
    tsr_volume_destroy(&p->depth);
    tsr_volume_destroy(&p->color);
    p->projector.depth = p->projector.color = NULL;
}
