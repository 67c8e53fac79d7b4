/* Speed of new views from depth images: projection, merging, textures. Bounds: a projector reads its depth and picture once, writes and reads a vertex of 32 bytes
 * per sample, and fills, lowers and reads a key of 8 bytes per pixel; merging reads depth and colour of every view. */
#include "bench.h"

enum { MOST = 8 };
static struct {
    bench b;
    int32_t count, width, height;
    tsr_camera camera;
    tsr_projector projector[MOST];
    tsr_volume *depth[MOST], *color[MOST];
    tsr_novel *view[MOST], *merged;
    tsr_merge mode;
} s;

static void begin(int32_t count, int32_t width, int32_t height)
{
    tsr_rig *rig;
    s.count = count;
    s.width = width;
    s.height = height;
    const tsr_rig_layout_options layout = { .struct_size = sizeof layout, .count = count, .width = width, .height_pixels = height, .degrees = 60 };
    const tsr_analytic_options look = { .struct_size = sizeof look, .supersampling = 1, .backdrop = 1 };
    MUST(tsr_rig_make(TSR_RIG_ARC, &layout, &rig));
    s.camera = (tsr_camera){ .fov = 40, .clip = { 0.5, 30 } };
    MUST(tsr_camera_look_at(&s.camera, (tsr_vec3){ 0.3, -4, 0.5 }, (tsr_vec3){ 0, 0, 0 }, (tsr_vec3){ 0, 0, 1 }));
    for (int i = 0; i < count; i++) {
        tsr_rig_camera c;
        tsr_image image;
        tsr_volume *host;
        MUST(tsr_rig_get(rig, i, &c));
        MUST(tsr_volume_create(NULL, TSR_F32, (tsr_size3){ width, height, 1 }, NULL, &host));
        MUST(tsr_analytic_render("head", &c.camera, width, height, &look, &image, (float *)tsr_volume_data(host)));
        MUST(tsr_volume_copy(host, s.b.context, &s.depth[i]));
        MUST(tsr_frames_upload(s.b.context, &image, 1, &s.color[i]));
        tsr_image_destroy(&image);
        tsr_volume_destroy(&host);
        s.projector[i] = (tsr_projector){ .camera = c.camera, .depth = s.depth[i], .color = s.color[i] };
        MUST(tsr_novel_create(s.b.context, width, height, &s.view[i]));
    }
    MUST(tsr_novel_create(s.b.context, width, height, &s.merged));
    tsr_rig_destroy(&rig);
}
static void end(void)
{
    for (int i = 0; i < s.count; i++) {
        tsr_novel_destroy(&s.view[i]);
        tsr_volume_destroy(&s.depth[i]);
        tsr_volume_destroy(&s.color[i]);
    }
    tsr_novel_destroy(&s.merged);
}

static tsr_status project_call(void *user)
{
    (void)user;
    return tsr_novel_project(s.view[0], &s.camera, &s.projector[0], NULL);
}
static tsr_status merge_call(void *user)
{
    const tsr_novel *views[MOST];
    const tsr_projector *projectors[MOST];
    (void)user;
    for (int i = 0; i < s.count; i++) {
        views[i] = s.view[i];
        projectors[i] = &s.projector[i];
    }
    return tsr_novel_merge(s.merged, &s.camera, views, projectors, s.count, s.mode, NULL, NULL);
}
static tsr_status picture_call(void *user)
{
    for (int i = 0; i < s.count; i++) {
        const tsr_status status = tsr_novel_project(s.view[i], &s.camera, &s.projector[i], NULL);
        if (status != TSR_OK) return status;
    }
    return merge_call(user);
}

static void sizes(int32_t count, int32_t width, int32_t height, double bar)
{
    static const char *const names[] = { "overlay", "blend", "csg", "freespace" };
    char name[80], text[60];
    begin(count, width, height);
    const double pixels = (double)width * height, project = pixels * (4 + 3 + 64 + 32 + 8), merge = pixels * 8 * (count + 1);
    snprintf(name, sizeof name, "project %d x %d", (int)width, (int)height);
    bench_report(&s.b, &(bench_case){ .name = name, .n = (int64_t)pixels, .bytes = project, .time = bench_measure(&s.b, project_call, NULL, NULL) });
    for (int i = 0; i < count; i++) MUST(tsr_novel_project(s.view[i], &s.camera, &s.projector[i], NULL));
    for (int mode = 0; mode < 4; mode++) {
        s.mode = (tsr_merge)mode;
        snprintf(name, sizeof name, "  merge of %d, %s", (int)count, names[mode]);
        bench_report(&s.b, &(bench_case){ .name = name, .n = (int64_t)pixels, .bytes = merge, .time = bench_measure(&s.b, merge_call, NULL, NULL) });
    }
    s.mode = TSR_MERGE_CSG;
    snprintf(name, sizeof name, "%d projectors %d x %d, csg", (int)count, (int)width, (int)height);
    bench_case c = {
        .name = name, .n = (int64_t)pixels * count, .bytes = project * count + merge, .time = bench_measure(&s.b, picture_call, NULL, NULL)
    };
    if (bar > 0) {
        snprintf(text, sizeof text, "at least %g pictures/s", bar);
        c.bar = text;
        c.holds = c.time.median <= 1 / bar;
    }
    bench_report(&s.b, &c);
    end();
}

int main(int argc, char **argv)
{
    if (!bench_begin(&s.b, argc, argv, "views")) return 2;
    const int gpu = tsr_context_device(s.b.context).kind == TSR_DEVICE_CUDA;
    if (bench_wants(&s.b, "256 x 256")) sizes(2, 256, 256, 0); /* the published size */
    if (s.b.only) return bench_end(&s.b);
    if (s.b.quick) sizes(2, 320, 180, 0);
    else {
        sizes(2, 1280, 720, gpu ? 0 : 8);
        if (gpu) sizes(8, 1920, 1080, 240);
        if (gpu) sizes(4, 3840, 2160, 500);
    }
    return bench_end(&s.b);
}
