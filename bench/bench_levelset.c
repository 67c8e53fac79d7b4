/* bench_levelset: steps of a segmentation on a sorted tile list, for both tile edges and both indices.
 *
 *   tumour     phantom_tumour, target = mean and epsilon = two standard deviations of a probed ball, three seeded spheres: growing and settled
 *   cortex     phantom_cortex from its truth on, at rest
 *   linearity  balls of ten sizes: time over active voxels
 *   --experiment NAME   any experiment of bench_flow: sphere-collapse, spiral-volume, lucy-collapse, enright, thai, edit-dragon, ...
 *   shells     concentric spherical shells 100 voxels apart (two of them at 128^3, 54 M active voxels at 1024^3) at rest in a tent; edge 8 sorted also with
 *              keys of 32 bits
 *
 * Bytes that must move in a step: phi read and written and speed read for every stored voxel, 12 bytes, and per tile its key, id, row of
 * neighbours and activity. If the program itk_segment was built beside this one, it does the same work with ITK. */
#include "bench.h"
#include "core/parallel.h"
#include "segment/segment.h"

enum { TILE_BYTES = 8 + 4 + 128 + 4, PERIOD = 200, GROWING_STEPS = 512 };
static const double alpha = 0.7;

struct seed {
    tsr_vec3 at;
    double radius;
};
struct scene {
    const char *name;
    tsr_volume *image, *truth; /* on the device of the bench; truth: phantoms only */
    tsr_volume *mask;          /* surface to start from; NULL: the seeds */
    struct seed seeds[3];
    double target, epsilon;
    double bar; /* steps/s on a GPU, 0 = none */
    int32_t key_bits;
};

/* ---- scenes ------------------------------------------------------------------------------------------------------------------------------ */

/* Centres deep inside the truth: the deepest voxel, then the deepest one outside the balls found so far. */
static tsr_status find_seeds(bench *b, struct scene *scene)
{
    tsr_volume *distance = NULL, *host = NULL;
    tsr_status status;
    TSR_TRY_GOTO(tsr_distance_transform(b->context, scene->truth, NULL, &distance), done);
    TSR_TRY_GOTO(tsr_volume_copy(distance, NULL, &host), done);
    tsr_size3 n = tsr_volume_size(host);
    const float *d = (const float *)tsr_volume_data(host);
    for (int s = 0; s < 3; s++) {
        struct seed *seed = &scene->seeds[s];
        double deepest = 0;
        for (int64_t i = 0; i < tsr_volume_count(host); i++) {
            double x = (double)(i % n.x), y = (double)(i / n.x % n.y), z = (double)(i / n.x / n.y), depth = -(double)d[i];
            if (depth <= deepest) continue;
            int covered = 0;
            for (int o = 0; o < s; o++) {
                const struct seed *other = &scene->seeds[o];
                double dx = x - other->at.x, dy = y - other->at.y, dz = z - other->at.z;
                covered |= dx * dx + dy * dy + dz * dz < 4 * other->radius * other->radius;
            }
            if (covered) continue;
            deepest = depth;
            *seed = (struct seed){ { x, y, z }, fmax(0.5 * depth, 2.0) };
        }
    }
    status = TSR_OK;
done:
    tsr_volume_destroy(&host);
    tsr_volume_destroy(&distance);
    return status;
}

static tsr_status make_tumour(bench *b, struct scene *scene)
{
    tsr_volume *image = NULL, *truth = NULL;
    tsr_phantom_options options = TSR_PHANTOM_OPTIONS;
    tsr_status status;
    if (b->quick) options.size = (tsr_size3){ 96, 96, 66 };
    TSR_TRY(tsr_phantom_make("phantom_tumour", &options, &image, &truth));
    TSR_TRY_GOTO(tsr_volume_copy(image, b->context, &scene->image), done);
    TSR_TRY_GOTO(tsr_volume_copy(truth, b->context, &scene->truth), done);
    TSR_TRY_GOTO(find_seeds(b, scene), done);
    scene->name = b->quick ? "tumour 96x96x66" : "tumour 256x256x175";
    scene->bar = 20000;
    status = TSR_OK;
done:
    tsr_volume_destroy(&truth);
    tsr_volume_destroy(&image);
    return status;
}

/* The folded sheet of the cortex from its truth on, the band at rest: as the last stages of the published run. */
static tsr_status make_cortex(bench *b, struct scene *scene)
{
    tsr_volume *image = NULL, *truth = NULL;
    tsr_phantom_options options = TSR_PHANTOM_OPTIONS;
    tsr_status status;
    double sum = 0, squares = 0;
    int64_t count = 0;
    options.size = b->quick ? (tsr_size3){ 96, 96, 66 } : (tsr_size3){ 256, 256, 175 };
    TSR_TRY(tsr_phantom_make("phantom_cortex", &options, &image, &truth));
    const float *v = (const float *)tsr_volume_data(image);
    const uint8_t *within = (const uint8_t *)tsr_volume_data(truth);
    for (int64_t i = 0; i < tsr_volume_count(image); i++)
        if (within[i]) {
            sum += (double)v[i];
            squares += (double)v[i] * (double)v[i];
            count++;
        }
    scene->target = sum / (double)count;
    scene->epsilon = 2 * sqrt(squares / (double)count - scene->target * scene->target);
    TSR_TRY_GOTO(tsr_volume_copy(image, b->context, &scene->image), done);
    TSR_TRY_GOTO(tsr_volume_copy(truth, b->context, &scene->mask), done);
    scene->name = b->quick ? "cortex 96x96x66" : "cortex 256x256x175";
    scene->bar = 5000;
    status = TSR_OK;
done:
    tsr_volume_destroy(&truth);
    tsr_volume_destroy(&image);
    return status;
}

struct shells {
    int64_t n;
    uint8_t *image;
};

/* Grey value 128 on the shells, a slope of 24 per voxel across them. */
static void shell_rows(void *user, int64_t begin, int64_t end, int worker)
{
    const struct shells *s = (const struct shells *)user;
    double centre = 0.5 * (double)(s->n - 1);
    (void)worker;
    for (int64_t row = begin; row < end; row++)
        for (int64_t x = 0; x < s->n; x++) {
            double dx = (double)x - centre, dy = (double)(row % s->n) - centre, dz = (double)(row / s->n) - centre;
            double within = fmod(sqrt(dx * dx + dy * dy + dz * dz), PERIOD), phi = fabs(within - PERIOD / 2) < PERIOD / 4 ? 1 : -1;
            phi *= fabs(fabs(within - PERIOD / 2) - PERIOD / 4);
            s->image[row * s->n + x] = (uint8_t)fmin(fmax(128 - 24 * phi, 1), 255);
        }
}

static tsr_status make_shells(bench *b, int64_t n, struct scene *scene, char name[32])
{
    tsr_volume *host = NULL;
    tsr_status status;
    TSR_TRY(tsr_volume_create(NULL, TSR_U8, (tsr_size3){ n, n, n }, NULL, &host));
    struct shells shells = { n, (uint8_t *)tsr_volume_data(host) };
    tsr_parallel(tsr_parallel_default_threads(), n * n, 256, shell_rows, &shells);
    TSR_TRY_GOTO(tsr_volume_copy(host, b->context, &scene->image), done);
    TSR_TRY_GOTO(tsr_volume_threshold(b->context, scene->image, 128, 255, &scene->mask), done);
    snprintf(name, 32, "shells %lld^3", (long long)n);
    scene->name = name;
    scene->target = 255;
    scene->epsilon = 127;
    scene->bar = n == 1024 ? 1000 : 0;
    status = TSR_OK;
done:
    tsr_volume_destroy(&host);
    return status;
}

static void drop_scene(struct scene *scene)
{
    tsr_volume_destroy(&scene->image);
    tsr_volume_destroy(&scene->truth);
    tsr_volume_destroy(&scene->mask);
    *scene = (struct scene){ 0 };
}

/* ---- the peer ---------------------------------------------------------------------------------------------------------------------------- */

static int write_raw(const char *path, const void *data, size_t bytes)
{
    FILE *f = fopen(path, "wb");
    if (!f) return 0;
    int ok = fwrite(data, 1, bytes, f) == bytes;
    return fclose(f) == 0 && ok;
}

static int read_raw(const char *path, void *data, size_t bytes)
{
    FILE *f = fopen(path, "rb");
    if (!f) return 0;
    int ok = fread(data, 1, bytes, f) == bytes;
    fclose(f);
    return ok;
}

struct itk {
    double seconds_per_step, all_seconds;
    tsr_volume *mask;
};

/* The same start, image and parameters through the program itk_segment beside this one. Grey values divided by epsilon, as
 * TSR_NORMALISE_EPSILON does, for ITK has no unit of its own. Returns 0 if there is no such program or it failed. */
static int run_itk(const bench *b, const struct scene *scene, const tsr_volume *field, int iterations, struct itk *itk)
{
    char program[1024], folder[] = "/tmp/bench_levelset.XXXXXX", image_path[64], field_path[64], mask_path[64], command[2048], line[256] = "";
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 32);
    tsr_volume *image = NULL, *start_field = NULL;
    unsigned steps = 0;
    double seconds = 0;
    int ok = 0;
    *itk = (struct itk){ 0 };
    if (length <= 0) return 0;
    program[length] = 0;
    char *slash = strrchr(program, '/');
    memcpy(slash + 1, "itk_segment", sizeof "itk_segment");
    if (access(program, X_OK)) {
        printf("    no itk_segment beside this program: no comparison with ITK\n");
        return 0;
    }
    if (!mkdtemp(folder)) return 0;
    snprintf(image_path, sizeof image_path, "%s/image", folder);
    snprintf(field_path, sizeof field_path, "%s/field", folder);
    snprintf(mask_path, sizeof mask_path, "%s/mask", folder);
    if (tsr_volume_copy(scene->image, NULL, &image) == TSR_OK && tsr_volume_copy(field, NULL, &start_field) == TSR_OK &&
        tsr_volume_create(NULL, TSR_U8, tsr_volume_size(image), tsr_volume_geometry(image), &itk->mask) == TSR_OK) {
        tsr_size3 n = tsr_volume_size(image);
        size_t count = (size_t)tsr_volume_count(image);
        float *grey = (float *)tsr_volume_data(image); /* phantoms are f32 */
        for (size_t i = 0; i < count; i++) grey[i] = (float)((double)grey[i] / scene->epsilon);
        double middle = scene->target / scene->epsilon;
        snprintf(command, sizeof command, "'%s' %s %s %lld %lld %lld %.9g %.9g %.9g %.9g %d %d %s", program, image_path, field_path, (long long)n.x,
                 (long long)n.y, (long long)n.z, 1.0, middle - 1, middle + 1, alpha, iterations, b->threads, mask_path);
        if (write_raw(image_path, grey, count * sizeof *grey) && write_raw(field_path, tsr_volume_data(start_field), count * sizeof(float))) {
            bench_command(command, line, sizeof line);
            ok = sscanf(line, "{\"steps\": %u, \"seconds\": %lf, \"all_seconds\": %lf}", &steps, &seconds, &itk->all_seconds) == 3 && steps > 0 &&
                 read_raw(mask_path, tsr_volume_data(itk->mask), count);
            itk->seconds_per_step = ok ? seconds / steps : 0;
        }
    }
    unlink(image_path);
    unlink(field_path);
    unlink(mask_path);
    rmdir(folder);
    tsr_volume_destroy(&start_field);
    tsr_volume_destroy(&image);
    if (!ok) {
        tsr_volume_destroy(&itk->mask);
        fprintf(stderr, "bench levelset: itk_segment failed: %s\n", command);
    }
    return ok;
}

/* ---- segmentations ------------------------------------------------------------------------------------------------------------------------- */

static tsr_status start(bench *b, struct scene *scene, int32_t edge, tsr_tiles_index index, tsr_segmentation **s)
{
    tsr_segment_options options = TSR_SEGMENT_OPTIONS;
    options.alpha = alpha;
    options.normalise = TSR_NORMALISE_EPSILON;
    options.target = scene->target;
    options.epsilon = scene->epsilon > 0 ? scene->epsilon : 1; /* until it is probed */
    options.tile_edge = edge;
    options.tile_index = index;
    options.key_bits = scene->key_bits;
    TSR_TRY(tsr_segmentation_create(b->context, scene->image, &options, s));
    if (scene->mask) return tsr_segmentation_from_mask(*s, scene->mask);
    tsr_probe probe;
    TSR_TRY(tsr_segmentation_probe(*s, scene->seeds[0].at, 5, &probe));
    scene->target = probe.mean;
    scene->epsilon = 2 * probe.deviation; /* one deviation is half of the target's own noise: the surface crawls or shrinks */
    TSR_TRY(tsr_segmentation_get_options(*s, &options));
    options.epsilon = scene->epsilon;
    TSR_TRY(tsr_segmentation_set_options(*s, &options));
    for (int i = 0; i < 3; i++) TSR_TRY(tsr_segmentation_sphere(*s, scene->seeds[i].at, scene->seeds[i].radius, 0));
    return TSR_OK;
}

struct job {
    tsr_segmentation *s;
    int32_t steps;
};
static tsr_status run_steps(void *user)
{
    const struct job *job = (const struct job *)user;
    return tsr_segmentation_step(job->s, job->steps, NULL, NULL);
}

static bench_time per_step(bench_time t, int32_t steps) { return (bench_time){ t.median / steps, t.min / steps, t.max / steps, t.runs }; }

static double step_bytes(const tsr_tiles_info *info)
{
    double voxels = (double)info->count * info->edge * info->edge * info->edge;
    return 12.0 * voxels + (double)TILE_BYTES * (double)info->count;
}

static tsr_status describe(const tsr_segmentation *s, tsr_tiles_info *info) { return tsr_tiles_describe(tsr_segmentation_tiles(s), info); }

static double dice(const tsr_segmentation *s, const tsr_volume *reference)
{
    tsr_volume *mask = NULL, *a = NULL, *c = NULL;
    tsr_context *cpu = NULL;
    tsr_context_options on_cpu = TSR_CONTEXT_OPTIONS;
    tsr_compare_options options = TSR_COMPARE_OPTIONS;
    tsr_mask_comparison comparison = TSR_MASK_COMPARISON;
    on_cpu.device = "cpu";
    options.skip_distances = options.ignore_geometry = 1;
    if (tsr_segmentation_mask(s, &mask) != TSR_OK || tsr_volume_copy(mask, NULL, &a) != TSR_OK || tsr_volume_copy(reference, NULL, &c) != TSR_OK ||
        tsr_context_create(&on_cpu, &cpu) != TSR_OK || tsr_compare_masks(cpu, a, c, &options, &comparison) != TSR_OK)
        fprintf(stderr, "bench levelset: %s\n", tsr_error_message());
    tsr_context_destroy(&cpu);
    tsr_volume_destroy(&c);
    tsr_volume_destroy(&a);
    tsr_volume_destroy(&mask);
    return comparison.dice;
}

/* From the seeds: three new segmentations, the last stays. */
static tsr_status measure_growing(bench *b, struct scene *scene, int32_t edge, tsr_tiles_index index, const char *label, tsr_segmentation **s)
{
    double seconds[3];
    tsr_tiles_info info = TSR_TILES_INFO;
    for (int run = 0; run < 3; run++) {
        tsr_segmentation_destroy(s);
        TSR_TRY(start(b, scene, edge, index, s));
        TSR_TRY(tsr_context_synchronize(b->context));
        double began = bench_seconds();
        TSR_TRY(tsr_segmentation_step(*s, GROWING_STEPS, NULL, NULL));
        seconds[run] = (bench_seconds() - began) / GROWING_STEPS;
    }
    qsort(seconds, 3, sizeof *seconds, bench_compare);
    TSR_TRY(describe(*s, &info));
    char name[96];
    snprintf(name, sizeof name, "%s growing, %s", scene->name, label);
    bench_report(b, &(bench_case){ .name = name, .n = info.active_voxels, .time = { seconds[1], seconds[0], seconds[2], 3 } });
    printf("    %.0f steps/s over the first %d steps, allocations and speeds of new tiles included; Dice to the truth %.4f\n", 1 / seconds[1],
           (int)GROWING_STEPS, dice(*s, scene->truth));
    return TSR_OK;
}

static tsr_status measure_settled(bench *b, const struct scene *scene, const char *label, tsr_segmentation *s)
{
    tsr_tiles_info info = TSR_TILES_INFO;
    int on_gpu = tsr_context_device(b->context).kind == TSR_DEVICE_CUDA;
    struct job job = { s, on_gpu ? 128 : 8 };
    TSR_TRY(tsr_segmentation_step(s, 64, NULL, NULL));
    int64_t allocations = tsr_context_memory(b->context)->allocations;
    bench_time t = per_step(bench_measure(b, run_steps, &job, NULL), job.steps);
    allocations = tsr_context_memory(b->context)->allocations - allocations;
    TSR_TRY(describe(s, &info));
    double voxels = (double)info.count * info.edge * info.edge * info.edge, rate = t.runs ? 1 / t.median : 0;
    char name[96], bar[64];
    snprintf(name, sizeof name, "%s settled, %s", scene->name, label);
    snprintf(bar, sizeof bar, "at least %.0f steps/s on a GPU", scene->bar);
    bench_report(b, &(bench_case){ .name = name,
                                   .n = info.active_voxels,
                                   .time = t,
                                   .bytes = step_bytes(&info),
                                   .bar = on_gpu && scene->bar > 0 && !b->quick ? bar : NULL,
                                   .holds = rate >= scene->bar });
    printf("    %.0f steps/s, %.3f ns per stored voxel; %lld tiles, %.2f M stored and %.3f M active voxels\n", rate, 1e9 * t.median / voxels,
           (long long)info.count, 1e-6 * voxels, 1e-6 * (double)info.active_voxels);
    double most = 1.3 * voxels * 4 * 3 + 64.0 * 1024 * 1024;
    snprintf(name, sizeof name, "%s device bytes, %s", scene->name, label);
    bench_report(b, &(bench_case){ .name = name,
                                   .n = info.device_bytes,
                                   .time = t,
                                   .bar = "at most 1.3 x three buffers + 64 MiB",
                                   .holds = (double)info.device_bytes <= most });
    snprintf(name, sizeof name, "%s device allocations, %s", scene->name, label);
    bench_report(b, &(bench_case){ .name = name, .n = allocations, .time = t, .bar = "none while stepping", .holds = allocations == 0 });
    printf("    %.1f MB on the device (bar %.1f MB), %.1f bytes for each of %lld tiles, %lld allocations\n", 1e-6 * (double)info.device_bytes,
           1e-6 * most, (double)info.device_bytes / (double)info.capacity, (long long)info.capacity, (long long)allocations);
    return TSR_OK;
}

static tsr_status measure(bench *b, struct scene *scene, int32_t edge, tsr_tiles_index index)
{
    tsr_segmentation *s = NULL;
    tsr_status status;
    char label[48];
    snprintf(label, sizeof label, "edge %d %s%s", edge, index == TSR_TILES_PAGED ? "paged" : "sorted", scene->key_bits == 32 ? ", 32-bit keys" : "");
    if (scene->mask) TSR_TRY_GOTO(start(b, scene, edge, index, &s), done);
    else TSR_TRY_GOTO(measure_growing(b, scene, edge, index, label, &s), done);
    TSR_TRY_GOTO(measure_settled(b, scene, label, s), done);
    status = TSR_OK;
done:
    tsr_segmentation_destroy(&s);
    return status;
}

/* Steps per second over the whole way from the seeds to the end, and whether both end at the same mask. */
static tsr_status compare_with_itk(bench *b, struct scene *scene)
{
    enum { OWN_STEPS = 1000, ITK_STEPS = 1500 };
    tsr_segmentation *s = NULL;
    tsr_volume *field = NULL;
    tsr_segment_report report = TSR_SEGMENT_REPORT;
    struct itk itk = { 0 };
    tsr_status status;
    TSR_TRY_GOTO(start(b, scene, 0, TSR_TILES_SORTED, &s), done);
    TSR_TRY_GOTO(tsr_segmentation_field(s, &field), done);
    TSR_TRY_GOTO(tsr_segmentation_step(s, OWN_STEPS, NULL, &report), done);
    status = TSR_OK;
    if (!run_itk(b, scene, field, ITK_STEPS, &itk)) goto done;
    double own = report.seconds / OWN_STEPS, same = dice(s, itk.mask);
    bench_time mine = { own, own, own, 1 }, theirs = { itk.seconds_per_step, itk.seconds_per_step, itk.seconds_per_step, 1 };
    char name[96];
    snprintf(name, sizeof name, "%s from seeds to the end", scene->name);
    bench_report(b, &(bench_case){ .name = name,
                                   .n = report.active_voxels,
                                   .time = mine,
                                   .peer = "ITK 5 sparse field",
                                   .peer_time = theirs,
                                   .bar = b->quick ? NULL : "at least 10 x the steps/s of ITK",
                                   .holds = theirs.median >= 10 * own });
    snprintf(name, sizeof name, "%s Dice to the result of ITK", scene->name);
    bench_report(
        b, &(bench_case){ .name = name, .n = report.inside_voxels, .time = mine, .bar = b->quick ? NULL : "at least 0.99", .holds = same >= 0.99 });
    printf("    Dice %.4f; tessera %.0f steps/s, %d steps in %.2f s; ITK %.1f steps/s, %d steps in %.2f s\n", same, 1 / own, (int)OWN_STEPS,
           report.seconds, 1 / theirs.median, (int)ITK_STEPS, itk.all_seconds);
done:
    tsr_volume_destroy(&itk.mask);
    tsr_volume_destroy(&field);
    tsr_segmentation_destroy(&s);
    return status;
}

static tsr_status measure_all(bench *b, struct scene *scene)
{
    for (int32_t edge = 4; edge <= 8; edge += 4)
        for (int paged = 0; paged < 2; paged++) TSR_TRY(measure(b, scene, edge, paged ? TSR_TILES_PAGED : TSR_TILES_SORTED));
    scene->key_bits = 32;
    if (scene->mask) TSR_TRY(measure(b, scene, 8, TSR_TILES_SORTED));
    scene->key_bits = 0;
    return TSR_OK;
}

/* The published solver is "linear in active voxels": a line through the times of a step of balls of ten sizes at rest, in one image. */
static tsr_status linearity(bench *b)
{
    enum { POINTS = 10 };
    const int gpu = tsr_context_device(b->context).kind == TSR_DEVICE_CUDA;
    const int64_t n = b->quick ? 96 : gpu ? 512 : 256;
    double x[POINTS], y[POINTS], slope, intercept;
    bench_time last = { 0 };
    char name[128];
    tsr_volume *image = NULL;
    tsr_segmentation *s = NULL;
    tsr_status status;
    TSR_TRY(tsr_volume_create(b->context, TSR_F32, (tsr_size3){ n, n, n }, NULL,
                              &image)); /* grey value 0 all over, no speed with that target and no curvature */
    tsr_segment_options options = TSR_SEGMENT_OPTIONS;
    options.alpha = 1;
    options.target = 1;
    options.epsilon = 1;
    options.normalise = TSR_NORMALISE_NONE;
    TSR_TRY_GOTO(tsr_segmentation_create(b->context, image, &options, &s), done);
    for (int k = 0; k < POINTS; k++) { /* each ball takes the one before in */
        const double middle = 0.5 * (double)(n - 1), most = 0.45 * (double)n;
        tsr_tiles_info info = TSR_TILES_INFO;
        struct job job = { s, gpu ? 64 : 8 };
        TSR_TRY_GOTO(tsr_segmentation_sphere(s, (tsr_vec3){ middle, middle, middle }, most * sqrt((k + 1.0) / POINTS), 0), done);
        TSR_TRY_GOTO(tsr_segmentation_step(s, 8, NULL, NULL), done);
        last = per_step(bench_measure(b, run_steps, &job, NULL), job.steps);
        TSR_TRY_GOTO(describe(s, &info), done);
        x[k] = (double)info.active_voxels;
        y[k] = last.min; /* of a busy machine the least is the honest one */
        printf("    %9lld active voxels %10.4f ms a step\n", (long long)info.active_voxels, 1e3 * last.min);
    }
    const double fit = bench_line(x, y, POINTS, &slope, &intercept);
    snprintf(name, sizeof name, "linearity in active voxels: R^2 %.4f, %.2f ns each", fit, 1e9 * slope);
    bench_report(b, &(bench_case){ .name = name, .n = (int64_t)x[POINTS - 1], .time = last, .bar = "R^2 above 0.99", .holds = fit > 0.99 });
done:
    tsr_segmentation_destroy(&s);
    tsr_volume_destroy(&image);
    return status;
}

/* Experiments on moving surfaces stand in bench_flow, beside this program: `bench_levelset --experiment NAME` is its front door. */
static void hand_over(int argc, char **argv)
{
    for (int i = 1; i + 1 < argc; i++) {
        char path[4200], own[4096];
        const published_experiment *e = published_find(argv[i + 1]);
        if (strcmp(argv[i], "--experiment") || (e && !strcmp(e->program, "levelset")) || !strcmp(argv[i + 1], "tumour") ||
            !strcmp(argv[i + 1], "shells"))
            continue;
        const ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1); /* argv[0] need not be a path: PATH may have found it */
        own[length > 0 ? length : 0] = 0;
        const char *end = strrchr(own, '/');
        snprintf(path, sizeof path, "%.*sbench_flow", end ? (int)(end - own) + 1 : 2, end ? own : "./");
        execv(path, argv);
        fprintf(stderr, "bench levelset: cannot start '%s'\n", path);
        exit(2);
    }
}

int main(int argc, char **argv)
{
    bench b;
    struct scene scene = { 0 };
    hand_over(argc, argv);
    char name[32];
    tsr_status status;
    if (!bench_begin(&b, argc, argv, "levelset")) return 2;
    int64_t sizes[3] = { b.quick ? 64 : 128, b.quick ? 0 : 256, !b.quick && tsr_context_device(b.context).kind == TSR_DEVICE_CUDA ? 1024 : 0 };
    if (bench_wants(&b, "tumour")) {
        TSR_TRY_GOTO(make_tumour(&b, &scene), done);
        TSR_TRY_GOTO(measure_all(&b, &scene), done);
        TSR_TRY_GOTO(compare_with_itk(&b, &scene), done);
        printf("    source (256x256x175): 70 steps/s falling to 3.5 on a Radeon 9800 Pro, 7 to 0.25 by ITK's sparse field on a Xeon at 1.7 GHz\n");
    }
    if (bench_wants(&b, "cortex")) {
        drop_scene(&scene);
        TSR_TRY_GOTO(make_cortex(&b, &scene), done);
        TSR_TRY_GOTO(measure_all(&b, &scene), done);
    }
    if (bench_wants(&b, "linearity")) TSR_TRY_GOTO(linearity(&b), done);
    for (int i = 0; i < 3 && sizes[i]; i++) {
        snprintf(name, sizeof name, "shells %lld", (long long)sizes[i]);
        if (!bench_wants(&b, name)) continue;
        drop_scene(&scene);
        TSR_TRY_GOTO(make_shells(&b, sizes[i], &scene, name), done);
        TSR_TRY_GOTO(measure_all(&b, &scene), done);
    }
    status = TSR_OK;
done:
    if (status != TSR_OK) fprintf(stderr, "bench levelset: %s\n", tsr_error_trace());
    drop_scene(&scene);
    return bench_end_with(&b, status != TSR_OK);
}
