/* bench_render: 1920 x 1080 pictures of a rippled ball in a float32 volume of n^3 voxels, then 1024 x 1024 pictures of one of 256^3 against bars for
 * the CPU, the same pictures without lighting by VTK if bench/peers/vtk_volume.cpp was built, and frames of a level set that moves meanwhile. No bytes are stated: which voxels a picture touches depends on the view. */
#include "bench.h"

#include <dlfcn.h>

#include "render/pixel.h"

enum { FIRST_HIT = 0, SHADED, MIP, VOLUME, COMBINED, SLICE, BRICKS, STACK, CASES };

struct job {
    tsr_scene *scene;
    const tsr_volume *volume;
    tsr_picture *picture;
    tsr_camera camera;
    tsr_render_options options;
    tsr_stack stack; /* the same volume a few slices at a time ([Lefohn04] V) */
    tsr_context *context;
    int which;
};

static tsr_status run(void *user)
{
    const struct job *j = (const struct job *)user;
    if (j->which == SLICE) return tsr_render_slice(j->scene, NULL, j->picture);
    if (j->which == STACK) return tsr_render_stack(j->context, &j->stack, &j->camera, &j->options, j->picture);
    if (j->which == BRICKS) return tsr_scene_set_volume(j->scene, j->volume);
    return tsr_render(j->scene, &j->camera, &j->options, j->picture);
}

static tsr_status make_volume(tsr_context *context, int64_t n, tsr_volume **volume)
{
    tsr_volume *host;
    tsr_status status = tsr_volume_create(NULL, TSR_F32, (tsr_size3){ n, n, n }, NULL, &host);
    if (status != TSR_OK) return status;
    float *v = (float *)tsr_volume_data(host), *wave = (float *)malloc((size_t)n * sizeof *wave);
    for (int64_t i = 0; i < n && wave; i++) wave[i] = (float)sin(40.0 * (double)i / (double)n);
    double c = 0.5 * (double)(n - 1);
    for (int64_t i = 0; i < n * n * n && wave; i++) {
        double x = (double)(i % n) - c, y = (double)(i / n % n) - c, z = (double)(i / n / n) - c;
        float ripple = wave[i % n] * wave[i / n % n] + wave[i / n / n] * wave[i % n];
        v[i] = (float)(0.36 * (double)n - sqrt(x * x + y * y + z * z)) + 0.015f * (float)n * ripple;
    }
    status = wave ? tsr_volume_copy(host, context, volume) : TSR_ERROR_MEMORY;
    free(wave);
    tsr_volume_destroy(&host);
    return status;
}

struct stage {
    struct job job;
    tsr_volume *volume;
    tsr_transfer transfer;
};

/* Scene, camera and transfer function for a volume of n^3 and a picture of width x height. */
static tsr_status stage_make(tsr_context *context, int64_t n, int32_t width, int32_t height, struct stage *s)
{
    tsr_scene_info info = TSR_SCENE_INFO;
    struct job *j = &s->job;
    *s = (struct stage){ .job = { .options = TSR_RENDER_OPTIONS } };
    tsr_status status = make_volume(context, n, &s->volume);
    if (status == TSR_OK) status = tsr_scene_create(context, &j->scene);
    if (status == TSR_OK) status = tsr_scene_set_volume(j->scene, s->volume);
    if (status == TSR_OK) status = tsr_scene_set_surface_volume(j->scene, s->volume, 0, 0);
    if (status == TSR_OK) status = tsr_picture_create(context, width, height, &j->picture);
    if (status == TSR_OK) status = tsr_scene_describe(j->scene, &info);
    if (status == TSR_OK)
        status = tsr_camera_orbit(&info.surface_bounds, info.space, 30, 20, TSR_PERSPECTIVE, (double)width / (double)height, &j->camera);
    s->transfer = (tsr_transfer){
        .points = 3,
        .point = { { -0.1f * (float)n, 0, { 0.3f, 0.4f, 0.6f } }, { 0, 0.004f, { 0.8f, 0.7f, 0.6f } }, { 0.3f * (float)n, 0.02f, { 1, 0.9f, 0.8f } } }
    };
    j->volume = s->volume;
    j->options.transfer = &s->transfer;
    return status;
}

static void stage_free(struct stage *s)
{
    tsr_picture_destroy(&s->job.picture);
    tsr_scene_destroy(&s->job.scene);
    tsr_volume_destroy(&s->volume);
}

/* The picture that the job's ones tend to: a step of 0.2 voxel, shifted by pixel so that what is left of the step is noise. */
static tsr_status converge(struct job *j, tsr_image *reference)
{
    const tsr_render_options kept = j->options;
    j->options.mode = TSR_RENDER_VOLUME;
    j->options.step = 0.2;
    j->options.lookup = TSR_LOOKUP_NONE;
    j->options.jitter = 1;
    tsr_status status = tsr_render(j->scene, &j->camera, &j->options, j->picture);
    if (status == TSR_OK) status = tsr_picture_image(j->picture, 3, reference);
    j->options = kept;
    return status;
}

/* PSNR in dB of the job's picture, as 8-bit sRGB. */
static tsr_status quality(struct job *j, const tsr_image *reference, double *psnr)
{
    tsr_image image = { 0 };
    tsr_status status = tsr_render(j->scene, &j->camera, &j->options, j->picture);
    if (status == TSR_OK) status = tsr_picture_image(j->picture, 3, &image);
    double squares = 0;
    const int64_t count = (int64_t)reference->width * reference->height * 3;
    for (int64_t i = 0; i < count && status == TSR_OK; i++) {
        const double d = (double)image.pixels[i] - (double)reference->pixels[i];
        squares += d * d;
    }
    *psnr = status == TSR_OK ? 10 * log10(255.0 * 255.0 / fmax(squares / (double)count, 1e-9)) : 0;
    tsr_image_destroy(&image);
    return status;
}

/* The CPU's bars: 15 pictures a second of a surface on 2 cores, which is 0.133 s of one; a volume's picture close to the converged one. */
static int bars(bench *b)
{
    static const struct {
        const char *name;
        tsr_render_mode mode;
        double step;
        tsr_lookup lookup;
        tsr_region region;
    } cases[] = {
        { "first hit", TSR_RENDER_SURFACE, 0, TSR_LOOKUP_NONE, TSR_REGION_ALL },
        { "volume rendering, step 0.5", TSR_RENDER_VOLUME, 0.5, TSR_LOOKUP_NONE, TSR_REGION_ALL },
        { "volume rendering, step 1", TSR_RENDER_VOLUME, 1, TSR_LOOKUP_NONE, TSR_REGION_ALL },
        { "volume rendering, step 1, pre-integrated", TSR_RENDER_VOLUME, 1, TSR_LOOKUP_PREINTEGRATED, TSR_REGION_ALL },
        { "volume rendering, step 1, table", TSR_RENDER_VOLUME, 1, TSR_LOOKUP_TABLE, TSR_REGION_ALL },
        { "volume rendering, step 1, outside the surface", TSR_RENDER_VOLUME, 1, TSR_LOOKUP_NONE, TSR_REGION_OUTSIDE },
    };
    enum { CASES_HERE = sizeof cases / sizeof *cases };
    const int64_t n = b->quick ? 64 : 256;
    const int32_t side = b->quick ? 128 : 1024;
    const int gpu = tsr_context_device(b->context).kind == TSR_DEVICE_CUDA;
    struct stage s;
    tsr_image reference = { 0 };
    int failed = stage_make(b->context, n, side, side, &s) != TSR_OK;
    for (int i = 0; i < CASES_HERE && !failed; i++) {
        char name[128];
        double psnr = 0;
        int length = snprintf(name, sizeof name, "%s, %lld^3, %d x %d", cases[i].name, (long long)n, side, side);
        if (!bench_wants(b, name)) continue;
        s.job.which = i == 0 ? FIRST_HIT : VOLUME;
        s.job.options.mode = cases[i].mode;
        s.job.options.step = cases[i].step;
        s.job.options.lookup = cases[i].lookup;
        if (s.job.options.region != cases[i].region) tsr_image_destroy(&reference); /* of another picture */
        s.job.options.region = cases[i].region;
        s.job.options.ambient_occlusion = -1;
        if (i > 0 && !reference.pixels) failed = converge(&s.job, &reference) != TSR_OK;
        if (i > 0 && !failed) failed = quality(&s.job, &reference, &psnr) != TSR_OK;
        if (i > 0) snprintf(name + length, sizeof name - (size_t)length, ", %.1f dB", psnr);
        bench_case c = { .name = name, .n = (int64_t)side * side, .time = bench_measure(b, run, &s.job, NULL) };
        failed |= c.time.runs == 0;
        if (i == 0 && !gpu && !b->quick) {
            c.bar = "15 pictures a second on 2 cores";
            c.holds = c.time.median <= (b->threads == 1 ? 2 : 1) / 15.0;
        }
        if (i > 0) {
            c.bar = "35 dB";
            c.holds = psnr > 35;
        }
        bench_report(b, &c);
    }
    tsr_image_destroy(&reference);
    stage_free(&s);
    return failed;
}

/* bench/peers/vtk_volume.cpp */
struct vtk {
    void *(*create)(const float *data, const int size[3], int side, const double eye[3], const double target[3], const double up[3], double fov,
                    const double (*points)[5], int count, int threads);
    int (*render)(void *peer, double step);
    void (*picture)(void *peer, int side, float *rgba);
    void (*destroy)(void *peer);
    void *volume;
    double step;
};
static int vtk_open(struct vtk *v, const struct stage *s, int64_t n, int side, int threads)
{
    void *library = dlopen(BENCH_MODULES "/libbench_vtk_volume.so", RTLD_NOW);
    if (!library) return 0;
    *(void **)&v->create = dlsym(library, "peer_volume_create");
    *(void **)&v->render = dlsym(library, "peer_volume_render");
    *(void **)&v->picture = dlsym(library, "peer_volume_picture");
    *(void **)&v->destroy = dlsym(library, "peer_volume_destroy");
    if (!v->create || !v->render || !v->picture || !v->destroy) return 0;
    const tsr_camera *c = &s->job.camera;
    double points[TSR_TRANSFER_POINTS][5];
    for (int i = 0; i < s->transfer.points; i++) { /* colours of ours are sRGB and mixed in linear light */
        const struct tsr_transfer_point *p = &s->transfer.point[i];
        const tsr_float3 color = tsr_srgb_linear(p->color.r, p->color.g, p->color.b);
        const double row[5] = { (double)p->value, (double)p->alpha, (double)color.x, (double)color.y, (double)color.z };
        memcpy(points[i], row, sizeof row);
    }
    v->volume =
        v->create((const float *)tsr_volume_data(s->volume), (const int[3]){ (int)n, (int)n, (int)n }, side,
                  (const double[3]){ c->position.x, c->position.y, c->position.z },
                  (const double[3]){ c->position.x - c->rotation[2][0], c->position.y - c->rotation[2][1], c->position.z - c->rotation[2][2] },
                  c->rotation[1], c->fov, points, s->transfer.points, threads);
    return v->volume != NULL;
}
static tsr_status vtk_run(void *user)
{
    const struct vtk *v = (const struct vtk *)user;
    return v->render(v->volume, v->step) ? TSR_OK : TSR_ERROR_INTERNAL;
}
/* PSNR in dB of its last picture, as 8-bit sRGB. */
static double vtk_quality(const struct vtk *v, const tsr_image *reference)
{
    const int64_t pixels = (int64_t)reference->width * reference->height;
    float *rgba = (float *)malloc((size_t)pixels * 4 * sizeof *rgba);
    double squares = 0;
    if (!rgba) return 0;
    v->picture(v->volume, reference->width, rgba);
    for (int64_t i = 0; i < 3 * pixels; i++) {
        const double d = (double)tsr_encode_channel(rgba + 4 * (i / 3), 3, (int32_t)(i % 3)) - (double)reference->pixels[i];
        squares += d * d;
    }
    free(rgba);
    return 10 * log10(255.0 * 255.0 / fmax(squares / (double)(3 * pixels), 1e-9));
}

/* Emission and absorption alone, over black: pictures that both make, each against the converged one. */
static int with_vtk(bench *b)
{
    const int64_t n = b->quick ? 64 : 256;
    const int32_t side = b->quick ? 128 : 1024;
    struct stage s;
    struct vtk vtk = { 0 };
    tsr_image reference = { 0 };
    int wanted = 0;
    for (int i = 0; i < 3; i++) {
        char name[64];
        snprintf(name, sizeof name, "unshaded volume, step %g", 0.5 * (1 << i));
        wanted |= bench_wants(b, name);
    }
    if (!wanted || tsr_context_device(b->context).kind != TSR_DEVICE_CPU) return 0;
    int failed = stage_make(b->context, n, side, side, &s) != TSR_OK;
    const int there = !failed && vtk_open(&vtk, &s, n, side, b->threads);
    s.job.which = VOLUME;
    s.job.options.mode = TSR_RENDER_VOLUME;
    s.job.options.unshaded = 1;
    s.job.options.transparent = 1;
    if (!failed) failed = converge(&s.job, &reference) != TSR_OK;
    for (int i = 0; i < 3 && !failed; i++) {
        double psnr, peer_psnr = 0;
        char name[160];
        s.job.options.step = vtk.step = 0.5 * (1 << i);
        snprintf(name, sizeof name, "unshaded volume, step %g", vtk.step);
        if (!bench_wants(b, name)) continue;
        failed = quality(&s.job, &reference, &psnr) != TSR_OK;
        bench_case c = { .name = name, .n = (int64_t)side * side, .time = bench_measure(b, run, &s.job, NULL) };
        if (there) {
            c.peer = "vtkFixedPointVolumeRayCastMapper";
            c.peer_time = bench_measure(b, vtk_run, &vtk, NULL);
            peer_psnr = vtk_quality(&vtk, &reference);
            c.bar = "twice vtkSmartVolumeMapper in software at 35 dB";
            c.holds = psnr > 35 && c.time.median * 2 <= c.peer_time.median;
        }
        failed |= c.time.runs == 0;
        const int length =
            snprintf(name, sizeof name, "unshaded volume, step %g, %lld^3, %d x %d, %.1f dB", vtk.step, (long long)n, side, side, psnr);
        if (there) snprintf(name + length, sizeof name - (size_t)length, " (peer %.1f dB)", peer_psnr);
        bench_report(b, &c);
    }
    if (there) vtk.destroy(vtk.volume);
    tsr_image_destroy(&reference);
    stage_free(&s);
    return failed;
}

/* One frame of a workbench: the solver steps, its surface is handed over, surface and source are drawn together at half a voxel. */
struct frame {
    struct stage *stage;
    tsr_segmentation *segmentation;
    tsr_picture *picture;
    int steps;
};
static tsr_status solve_and_draw(void *user)
{
    const struct frame *f = (const struct frame *)user;
    const struct job *j = &f->stage->job;
    tsr_segment_report report = TSR_SEGMENT_REPORT;
    if (f->steps > 0) TSR_TRY(tsr_segmentation_step(f->segmentation, f->steps, NULL, &report));
    TSR_TRY(tsr_scene_set_surface_tiles(j->scene, tsr_segmentation_tiles(f->segmentation)));
    TSR_TRY(tsr_render(j->scene, &j->camera, &j->options, f->picture));
    return TSR_OK;
}

/* The GPU's bars: 60 pictures a second of surface and source while the solver steps, 30 at 3840 x 2160 (of both, and of the surface alone). */
static int live(bench *b, struct stage *s, int64_t n)
{
    const int gpu = tsr_context_device(b->context).kind == TSR_DEVICE_CUDA;
    tsr_segment_options options = TSR_SEGMENT_OPTIONS;
    struct frame frame = { .stage = s };
    tsr_picture *fine = NULL;
    char name[128];
    options.target = 0.2 * (double)n;
    options.epsilon = 0.2 * (double)n;
    const double c = 0.5 * (double)(n - 1);
    int failed = tsr_segmentation_create(b->context, s->volume, &options, &frame.segmentation) != TSR_OK ||
                 tsr_segmentation_sphere(frame.segmentation, (tsr_vec3){ c, c, c }, 0.3 * (double)n, 0) != TSR_OK;
    s->job.options.mode = TSR_RENDER_COMBINED;
    s->job.options.region = TSR_REGION_ALL;
    s->job.options.ambient_occlusion = -1;
    s->job.options.surface_opacity = 0.5;
    if (!failed) failed = tsr_picture_create(b->context, b->quick ? 960 : 3840, b->quick ? 540 : 2160, &fine) != TSR_OK;
    for (int i = 0; i < 4 && !failed; i++) {
        frame.steps = i < 3 ? 5 * i : 5;
        frame.picture = i < 3 ? s->job.picture : fine;
        snprintf(name, sizeof name, "live level set and source, %d steps a frame, %lld^3, %d x %d", frame.steps, (long long)n,
                 tsr_picture_width(frame.picture), tsr_picture_height(frame.picture));
        bench_case k = { .name = name, .n = (int64_t)tsr_picture_width(frame.picture) * tsr_picture_height(frame.picture) };
        k.time = bench_measure(b, solve_and_draw, &frame, NULL);
        failed = k.time.runs == 0;
        if (gpu && i > 0 && !b->quick) {
            k.bar = i < 3 ? "60 pictures a second on an H200" : "30 pictures a second on an H200";
            k.holds = k.time.median <= 1.0 / (i < 3 ? 60 : 30);
        }
        bench_report(b, &k);
    }
    tsr_segmentation_destroy(&frame.segmentation);
    s->job.options.surface_opacity = 0;
    s->job.options.mode = TSR_RENDER_SURFACE;
    s->job.which = FIRST_HIT;
    if (!failed) failed = tsr_scene_set_surface_volume(s->job.scene, s->volume, 0, 0) != TSR_OK;
    if (!failed) {
        struct job job = s->job;
        job.picture = fine;
        snprintf(name, sizeof name, "live first hit, %lld^3, %d x %d", (long long)n, tsr_picture_width(fine), tsr_picture_height(fine));
        bench_case k = { .name = name, .n = (int64_t)tsr_picture_width(fine) * tsr_picture_height(fine), .time = bench_measure(b, run, &job, NULL) };
        failed = k.time.runs == 0;
        if (gpu && !b->quick) {
            k.bar = "30 pictures a second on an H200";
            k.holds = k.time.median <= 1.0 / 30;
        }
        bench_report(b, &k);
    }
    tsr_picture_destroy(&fine);
    return failed;
}

int main(int argc, char **argv)
{
    static const char *const names[CASES] = { "first hit",
                                              "first hit with ambient occlusion",
                                              "MIP",
                                              "volume rendering",
                                              "volume and surface",
                                              "slice with contour",
                                              "float32 volume to bricks",
                                              "stack of slices" };
    static const tsr_render_mode modes[CASES] = { TSR_RENDER_SURFACE,  TSR_RENDER_SURFACE, TSR_RENDER_MIP,  TSR_RENDER_VOLUME,
                                                  TSR_RENDER_COMBINED, TSR_RENDER_AUTO,    TSR_RENDER_AUTO, TSR_RENDER_AUTO };
    bench b;
    if (!bench_begin(&b, argc, argv, "render")) return 2;
    int gpu = tsr_context_device(b.context).kind == TSR_DEVICE_CUDA;
    int64_t n = b.quick ? 128 : 512;
    struct stage s = { 0 };
    int wanted = bench_wants(&b, "live");
    for (int i = 0; i < CASES; i++) wanted |= bench_wants(&b, names[i]);
    int failed = wanted && stage_make(b.context, n, b.quick ? 480 : 1920, b.quick ? 270 : 1080, &s) != TSR_OK;
    for (int i = 0; i < CASES && !failed; i++) {
        char name[96];
        if (!bench_wants(&b, names[i])) continue;
        s.job.which = i;
        s.job.context = b.context;
        s.job.stack = (tsr_stack)TSR_STACK;
        s.job.stack.volume = s.job.volume;
        s.job.options.mode = modes[i];
        s.job.options.ambient_occlusion = i == SHADED ? 0 : -1;
        s.job.options.region = i == COMBINED ? TSR_REGION_OUTSIDE : TSR_REGION_ALL;
        snprintf(name, sizeof name, "%s, %lld^3, %d x %d", names[i], (long long)n, tsr_picture_width(s.job.picture),
                 tsr_picture_height(s.job.picture));
        bench_case c = { .name = name,
                         .n = (int64_t)tsr_picture_width(s.job.picture) * tsr_picture_height(s.job.picture),
                         .time = bench_measure(&b, run, &s.job, NULL) };
        failed = c.time.runs == 0;
        if (i == BRICKS) c.bytes = 4.0 * (double)(n * n * n);
        if (i == FIRST_HIT && !b.quick) {
            c.bar = gpu ? "2 ms on an H200" : "1 s on 2 cores";
            c.holds = c.time.median <= (gpu ? 2e-3 : 1.0);
        }
        bench_report(&b, &c);
    }
    if (!failed && bench_wants(&b, "live")) failed = live(&b, &s, n);
    if (wanted) stage_free(&s);
    if (!failed) failed = bars(&b);
    if (!failed) failed = with_vtk(&b);
    if (failed) fprintf(stderr, "bench render: %s\n", tsr_error_message());
    return bench_end_with(&b, failed);
}
