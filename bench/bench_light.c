/* bench_light: light wavefronts and their pictures.
 *
 *   wave      the glass of wine under a point lamp: the simulation as published (light ends at caustics, surfaces take nothing), with surfaces that take what they reflect, and
 *             with light that goes on; on a GPU also with patches so
 *             small that 400 000 are under way at the peak
 *   step      one step of 400 000 patches: a plane wave, of which nothing ends or splits (GPU)
 *   view      pictures of the glass: 640 x 480 on a CPU, 1920 x 1080 on a GPU; with and without the passing of empty blocks
 *   relight   light and view together, as for each picture of a film
 *
 * Bars of the CPU are for two cores; --cpu-time takes the time of both, twice as much.
 * Bytes of a step: a patch is read and written in place, read once more and written to the next list, with 13 bytes of marks, 3.5 x 112 bytes in all. Flops: four corners by
 * Runge and Kutta's rule take 16 samples of about 60 and as much arithmetic again where the index varies, hardly any elsewhere: 2000 at most. */
#include "bench.h"
#include "tessera/light.h"

enum { PATCH_BYTES = 112 * 7 / 2 + 13 };

typedef struct glass {
    bench *b;
    tsr_light_scene *scene;
    tsr_light_matter *matter;
    tsr_light_field *field;
    tsr_light_options options;
    tsr_light_view_options view;
    tsr_light_source lamp;
    tsr_light_report report;
    tsr_volume *picture;
} glass;

static tsr_status glass_open(bench *b, int32_t resolution, glass *g)
{
    const tsr_light_scene_info *info = NULL;
    memset(g, 0, sizeof *g);
    g->b = b;
    for (int32_t i = 0; (info = tsr_light_scene_at(i)); i++)
        if (!strcmp(info->name, "wine-glass")) TSR_TRY(tsr_light_scene_parse(info->text, info->name, NULL, &g->scene));
    TSR_TRY(tsr_light_scene_matter(b->context, g->scene, resolution, NULL, &g->matter));
    g->options = *tsr_light_scene_options(g->scene);
    g->view = *tsr_light_scene_view(g->scene);
    g->lamp = (tsr_light_source){ .kind = TSR_LIGHT_POINT, .position = { -3, -2.2, 6.5 }, .color = { 75, 72, 66 } };
    g->view.sources = &g->lamp;
    g->view.source_count = 1;
    return TSR_OK;
}
static void glass_close(glass *g)
{
    tsr_light_field_destroy(&g->field);
    tsr_volume_destroy(&g->picture);
    tsr_light_matter_destroy(&g->matter);
    tsr_light_scene_destroy(&g->scene);
}

static tsr_status simulate(void *user)
{
    glass *g = (glass *)user;
    tsr_light_field_destroy(&g->field);
    g->report.struct_size = sizeof g->report;
    return tsr_light_simulate(g->b->context, g->matter, &g->lamp, 1, &g->options, &g->field, &g->report);
}
static tsr_status look(void *user)
{
    glass *g = (glass *)user;
    tsr_volume_destroy(&g->picture);
    return tsr_light_view(g->b->context, g->matter, g->field, tsr_light_scene_camera(g->scene), &g->view, &g->picture);
}
static tsr_status relight(void *user)
{
    TSR_TRY(simulate(user));
    return look(user);
}

/* Seconds of a bar that is meant for two cores, where processor time is taken: of both. */
static double allowed(const bench *b, double seconds) { return b->clock == CLOCK_MONOTONIC ? seconds : 2 * seconds; }

static void say(const glass *g)
{
    const tsr_light_report *r = &g->report;
    printf("    %lld steps, at most %lld patches, %.2f M patches moved, balance %.1e, %.1f %% of the power lands\n", (long long)r->steps, (long long)r->peak,
           1e-6 * (double)r->moved, r->balance, 100 * r->landed.power[1] / r->start.power[1]);
}

static tsr_status wave(bench *b, int32_t resolution, int go_on, int surfaces, const char *bar, double bar_s)
{
    char name[80];
    glass g;
    tsr_status status = glass_open(b, resolution, &g);
    g.options.go_on = go_on;
    g.options.no_fresnel = !surfaces;
    if (status == TSR_OK) {
        const bench_time t = bench_measure(b, simulate, &g, NULL);
        snprintf(name, sizeof name, "wave, wine glass %d, %s", resolution, go_on ? "behind caustics" : surfaces ? "with surfaces" : "as published");
        bench_report(b, &(bench_case){ .name = name, .n = g.report.moved, .time = t, .bytes = (double)g.report.moved * PATCH_BYTES,
                                       .flops = 2000.0 * (double)g.report.moved, .bar = bar, .holds = t.runs && t.median <= allowed(b, bar_s) });
        say(&g);
        printf("    %.1f ns a patch and step\n", 1e9 * t.median / (double)(g.report.moved ? g.report.moved : 1));
        if (!go_on && !surfaces) { /* the statistics of the source */
            g.options.layers = 4;
            status = simulate(&g);
            printf("    lit from several directions: %.1f %% of the voxels (source 5.6 %%), the strongest ray carries %.1f %% of their light (source 81.6 %%)\n",
                   100 * g.report.several, 100 * g.report.strongest);
        }
    }
    glass_close(&g);
    return status;
}

/* The glass with patches so small that about `patches` are under way at the peak. */
static tsr_status crowd(bench *b, int32_t resolution, double patches, int gpu)
{
    glass g;
    tsr_status status = glass_open(b, resolution, &g);
    g.options.go_on = 0;
    g.options.no_fresnel = 1;
    g.options.capacity = 1 << 21;
    for (int i = 0; i < 4 && status == TSR_OK; i++) {
        status = simulate(&g);
        const double part = (double)g.report.peak / patches;
        if (part > 0.95 && part < 1.05) break;
        g.options.extent = fmin(fmax((g.options.extent > 0 ? g.options.extent : 0.75) * sqrt(part), 0.1), 1);
    }
    if (status == TSR_OK) {
        const bench_time t = bench_measure(b, simulate, &g, NULL);
        char name[80];
        snprintf(name, sizeof name, "wave, wine glass %d, peak %lld", resolution, (long long)g.report.peak);
        bench_report(b, &(bench_case){ .name = name, .n = g.report.peak, .time = t, .bytes = (double)g.report.moved * PATCH_BYTES,
                                       .flops = 2000.0 * (double)g.report.moved, .bar = gpu ? "at most 25 ms" : NULL, .holds = t.runs && t.median <= 25e-3 });
        say(&g);
        printf("    patches no larger than %.2f voxels; the source: about 10 s, GeForce 8800 GTX\n", g.options.extent > 0 ? g.options.extent : 0.75);
        const double step = t.median * patches / (double)(g.report.moved ? g.report.moved : 1);
        bench_report(b, &(bench_case){ .name = "step of 400 000 patches, mean of these", .n = (int64_t)patches, .time = { step, step, step, t.runs },
                                       .bytes = patches * PATCH_BYTES, .flops = 2000 * patches, .bar = gpu ? "at most 25 us" : NULL, .holds = step <= 25e-6 });
    }
    glass_close(&g);
    return status;
}

/* A plane wave of 400 000 patches in air: nothing ends or splits, so that all steps are alike. Two runs of different length; the difference is that of the steps. */
static tsr_status step(bench *b, int gpu)
{
    glass g;
    tsr_status status = glass_open(b, 256, &g);
    g.options = (tsr_light_options)TSR_LIGHT_OPTIONS;
    g.options.grid = 512;
    g.options.capacity = 1 << 21;
    g.options.extent = 1;
    g.lamp = (tsr_light_source){ .kind = TSR_LIGHT_DIRECTIONAL, .direction = { 0, 0, -1 }, .color = { 1, 1, 1 } };
    double seconds[2] = { 0 }, moved[2] = { 0 };
    for (int i = 0; i < 2 && status == TSR_OK; i++) {
        g.options.steps = i ? 120 : 20;
        const bench_time t = bench_measure(b, simulate, &g, NULL);
        if (!t.runs) status = TSR_ERROR_STATE;
        seconds[i] = t.median;
        moved[i] = (double)g.report.moved;
    }
    if (status == TSR_OK) {
        const double patches = (moved[1] - moved[0]) / 100, one = (seconds[1] - seconds[0]) / 100, t = one * 4e5 / patches;
        bench_report(b, &(bench_case){ .name = "step of 400 000 patches, plane wave", .n = 400000, .time = { t, t, t, 3 }, .bytes = 4e5 * PATCH_BYTES, .flops = 2000 * 4e5,
                                       .bar = gpu ? "at most 25 us" : NULL, .holds = t <= 25e-6 });
        printf("    measured with %.0f patches, scaled to 400 000\n", patches);
    }
    glass_close(&g);
    return status;
}

static tsr_status view(bench *b, int32_t resolution, int32_t width, int32_t height, double fps)
{
    char name[80], bar[40];
    glass g;
    tsr_status status = glass_open(b, resolution, &g);
    g.options.go_on = 0;
    g.view.width = width;
    g.view.height = height;
    g.view.samples = 1;
    g.view.step = 0.5;
    if (status == TSR_OK) status = simulate(&g);
    snprintf(bar, sizeof bar, "at least %g fps", fps);
    for (int skipping = 1; skipping >= 0 && status == TSR_OK; skipping--) {
        g.view.no_skipping = !skipping;
        const bench_time t = bench_measure(b, look, &g, NULL);
        snprintf(name, sizeof name, "view %d x %d of %d^3%s", width, height, resolution, skipping ? "" : ", nothing passed");
        bench_report(b, &(bench_case){ .name = name, .n = (int64_t)width * height, .time = t, .bar = skipping ? bar : NULL, .holds = t.runs && t.median <= allowed(b, 1 / fps) });
        printf("    %.1f fps\n", t.runs ? allowed(b, 1) / t.median : 0);
    }
    if (status == TSR_OK && fps > 100) {
        g.view.no_skipping = 0;
        const bench_time t = bench_measure(b, relight, &g, NULL);
        snprintf(name, sizeof name, "relight and view %d x %d of %d^3", width, height, resolution);
        bench_report(b, &(bench_case){ .name = name, .n = g.report.moved, .time = t, .bar = "at least 30 fps", .holds = t.runs && t.median * 30 <= 1 });
        printf("    %.1f fps\n", t.runs ? 1 / t.median : 0);
    }
    glass_close(&g);
    return status;
}

int main(int argc, char **argv)
{
    bench b;
    tsr_status status = TSR_OK;
    if (!bench_begin(&b, argc, argv, "light")) return 2;
    const int gpu = tsr_context_device(b.context).kind == TSR_DEVICE_CUDA;
    const int32_t n = b.quick ? 48 : gpu ? 256 : 128;
    if (bench_wants(&b, "wave")) {
        TSR_TRY_GOTO(wave(&b, n, 0, 0, gpu || b.quick ? NULL : "at most 3 s", 3), done);
        TSR_TRY_GOTO(wave(&b, n, 0, 1, NULL, 0), done);
        TSR_TRY_GOTO(wave(&b, n, 1, 1, NULL, 0), done);
        if (gpu) TSR_TRY_GOTO(crowd(&b, n, 4e5, gpu), done);
    }
    if (gpu && bench_wants(&b, "step")) TSR_TRY_GOTO(step(&b, gpu), done);
    if (bench_wants(&b, "view")) TSR_TRY_GOTO(gpu ? view(&b, n, 1920, 1080, 120) : view(&b, n, 640, 480, 3), done);
done:
    if (status != TSR_OK) fprintf(stderr, "bench light: %s\n", tsr_error_trace());
    return bench_end_with(&b, status != TSR_OK);
}
