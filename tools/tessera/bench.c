#define _POSIX_C_SOURCE 200809L /* gmtime_r, readlink */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../../bench/published.h"
#include "cli.h"

/* A quick look at this machine through the public API; the programs of bench/ measure against bars and peers. */
struct bench {
    cli_call *cli;
    tsr_context *context;
    tsr_volume *image, *truth, *field; /* on the device */
    tsr_segmentation *segmentation;
    tsr_scene *scene;
    tsr_picture *picture;
    tsr_camera camera;
    int32_t size, repeat, steps;
};

static tsr_status drop(tsr_status status, tsr_volume *result)
{
    tsr_volume_destroy(&result);
    return status;
}
static tsr_status run_copy(struct bench *b)
{
    tsr_volume *result = NULL;
    tsr_status status = tsr_volume_copy(b->image, b->context, &result);
    return drop(status, result);
}
static tsr_status run_convert(struct bench *b)
{
    tsr_volume *result = NULL;
    tsr_status status = tsr_volume_convert(b->context, b->image, TSR_U8, &result);
    return drop(status, result);
}
static tsr_status run_smooth(struct bench *b)
{
    tsr_smooth_options options = TSR_SMOOTH_OPTIONS;
    options.sigma = 1;
    tsr_volume *result = NULL;
    tsr_status status = tsr_volume_smooth(b->context, b->image, &options, &result);
    return drop(status, result);
}
static tsr_status run_statistics(struct bench *b)
{
    tsr_statistics statistics = TSR_STATISTICS;
    return tsr_volume_statistics(b->context, b->image, &statistics);
}
static tsr_status run_distance(struct bench *b)
{
    tsr_volume *result = NULL;
    tsr_status status = tsr_distance_transform(b->context, b->truth, NULL, &result);
    return drop(status, result);
}
static tsr_status run_steps(struct bench *b) { return tsr_segmentation_step(b->segmentation, b->steps, NULL, NULL); }
static tsr_status run_surface(struct bench *b)
{
    tsr_surface_options options = TSR_SURFACE_OPTIONS;
    options.inside = TSR_SURFACE_INSIDE_BELOW;
    tsr_mesh *mesh = NULL;
    tsr_status status = tsr_surface_extract(b->context, b->field, &options, &mesh, NULL);
    tsr_mesh_destroy(&mesh);
    return status;
}
static tsr_status run_render(struct bench *b) { return tsr_render(b->scene, &b->camera, NULL, b->picture); }

static tsr_status prepare(struct bench *b)
{
    tsr_phantom_options phantom = TSR_PHANTOM_OPTIONS;
    phantom.size = (tsr_size3){ b->size, b->size, b->size };
    phantom.noise = 0.05;
    phantom.threads = b->cli->globals.threads;
    tsr_segment_options segment = TSR_SEGMENT_OPTIONS;
    segment.target = 0.7;
    segment.epsilon = 0.15;
    tsr_scene_info info = TSR_SCENE_INFO;
    tsr_status status = tsr_phantom_make("phantom_tumour", &phantom, &b->image, &b->truth);
    if (status == TSR_OK) status = cli_move_volume(b->context, &b->image);
    if (status == TSR_OK) status = cli_move_volume(b->context, &b->truth);
    if (status == TSR_OK) status = tsr_segmentation_create(b->context, b->image, &segment, &b->segmentation);
    if (status == TSR_OK) status = tsr_segmentation_from_mask(b->segmentation, b->truth);
    if (status == TSR_OK) status = tsr_segmentation_field(b->segmentation, &b->field);
    if (status == TSR_OK) status = tsr_scene_create(b->context, &b->scene);
    if (status == TSR_OK) status = tsr_scene_set_volume(b->scene, b->image);
    if (status == TSR_OK) status = tsr_scene_set_surface_volume(b->scene, b->field, 0, 1);
    if (status == TSR_OK) status = tsr_scene_describe(b->scene, &info);
    if (status == TSR_OK) status = tsr_camera_orbit(&info.bounds, info.space, 30, 20, TSR_PERSPECTIVE, 1, &b->camera);
    if (status == TSR_OK) status = tsr_picture_create(b->context, 512, 512, &b->picture);
    return status;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int measure(struct bench *b, const char *name, tsr_status (*run_case)(struct bench *), double n, const char *unit)
{
    double seconds[101];
    tsr_status status = run_case(b); /* warm */
    for (int i = 0; i < b->repeat && status == TSR_OK; i++) {
        double start = cli_seconds();
        status = run_case(b);
        if (status == TSR_OK) status = tsr_context_synchronize(b->context);
        seconds[i] = cli_seconds() - start;
    }
    if (status != TSR_OK) return cli_status(b->cli, status, name);
    qsort(seconds, (size_t)b->repeat, sizeof *seconds, by_value);
    double median = seconds[b->repeat / 2];
    if (b->cli->globals.json) {
        json_open(NULL, '{');
        json_text("case", name);
        json_text("device", tsr_device_kind_name(tsr_context_device(b->context).kind));
        json_int("threads", tsr_context_threads(b->context));
        json_real("n", n);
        json_text("unit", unit);
        json_real("median_s", median);
        json_real("min_s", seconds[0]);
        json_real("max_s", seconds[b->repeat - 1]);
        json_close('}');
    } else {
        printf("%-14s %10.3f ms  (%.3f to %.3f)  %10.4g M %s/s\n", name, median * 1e3, seconds[0] * 1e3, seconds[b->repeat - 1] * 1e3,
               n / median * 1e-6, unit);
    }
    return CLI_OK;
}

static int measure_all(struct bench *b)
{
    const double voxels = pow(b->size, 3);
    const struct {
        const char *name;
        tsr_status (*run)(struct bench *);
        double n;
        const char *unit;
    } cases[] = {
        { "copy", run_copy, voxels, "voxels" },         { "convert", run_convert, voxels, "voxels" },
        { "smooth", run_smooth, voxels, "voxels" },     { "statistics", run_statistics, voxels, "voxels" },
        { "distance", run_distance, voxels, "voxels" }, { "surface", run_surface, voxels, "voxels" },
        { "render", run_render, 512 * 512, "rays" },    { "segment", run_steps, b->steps, "steps" },
    };
    int code = CLI_OK;
    for (size_t i = 0; i < sizeof cases / sizeof *cases && !code; i++) code = measure(b, cases[i].name, cases[i].run, cases[i].n, cases[i].unit);
    return code;
}

/* ---- published experiments ------------------------------------------------------------------------------------------------------------------- */

static int list_published(const cli_call *cli)
{
    if (cli->globals.json) json_open(NULL, '[');
    for (int i = 0; i < PUBLISHED_EXPERIMENTS; i++) {
        const published_experiment *e = &published_experiments[i];
        int rows = 0;
        for (int k = 0; k < PUBLISHED_ROWS; k++) rows += !strcmp(published_rows[k].experiment, e->name);
        if (cli->globals.json) {
            json_open(NULL, '{');
            json_text("name", e->name);
            json_text("program", e->program);
            json_text("published", e->table);
            json_text("hardware", e->hardware);
            json_text("differs", e->differs);
            json_int("rows", rows);
            if (e->data) json_text("data", e->data);
            json_close('}');
        } else {
            printf("%-24s bench_%-10s %-28s %3d rows, %s\n%25s%s%s%s\n", e->name, e->program, e->table, rows,
                   *e->hardware ? e->hardware : "no hardware named", "", e->differs, e->data ? "; the scan itself: " : "", e->data ? e->data : "");
        }
    }
    if (cli->globals.json) json_close(']');
    return CLI_OK;
}

/* Becomes the program that measures the experiment: beside this one, or in the folder that TESSERA_BENCHES names. */
static int run_experiment(const cli_call *cli, const char *name, int quick)
{
    const published_experiment *e = published_find(name);
    const char *argv[12], *folder = getenv("TESSERA_BENCHES");
    char own[4096], path[4200], threads[16];
    int argc = 0;
    if (!e) return cli_usage(cli, "--experiment: '%s' given, expected one of the names that --published lists", name);
    if (cli->globals.json) return cli_usage(cli, "--json: without effect with --experiment: bench_%s --json FILE writes its numbers", e->program);
    const ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    own[length > 0 ? length : 0] = 0;
    char *end = strrchr(own, '/');
    if (end) *end = 0;
    snprintf(path, sizeof path, "%.4000s/bench_%s", folder && *folder ? folder : own, e->program);
    if (access(path, X_OK))
        return cli_error(cli, CLI_FAILED,
                         "'%s' is not there: measuring programs are built in the source tree (make bench); TESSERA_BENCHES names their folder", path);
    argv[argc++] = path;
    argv[argc++] = "--experiment";
    argv[argc++] = e->name;
    if (cli->globals.device) {
        argv[argc++] = "--device";
        argv[argc++] = cli->globals.device;
    }
    if (cli->globals.threads > 0) {
        snprintf(threads, sizeof threads, "%d", cli->globals.threads);
        argv[argc++] = "--threads";
        argv[argc++] = threads;
    }
    if (quick) argv[argc++] = "--quick";
    argv[argc] = NULL;
    fflush(stdout);
    execv(path, (char *const *)(uintptr_t)argv); /* which changes none of them */
    return cli_error(cli, CLI_FAILED, "'%s' cannot be started: %s", path, strerror(errno));
}

static int run(cli_call *cli, int argc, char **argv)
{
    struct bench b = { .cli = cli, .size = 128, .repeat = 5, .steps = 50 };
    const char *experiment = NULL;
    int published = 0, quick = 0, given[3] = { 0 };
    const cli_option options[] = {
        { .name = "size",
          .type = CLI_INT,
          .value = &b.size,
          .argument = "N",
          .help = "phantom of N^3 voxels (default 128)",
          .lower = 16,
          .upper = 2048,
          .given = &given[0] },
        { .name = "repeat",
          .type = CLI_INT,
          .value = &b.repeat,
          .argument = "N",
          .help = "runs of each case; the median counts (default 5)",
          .lower = 1,
          .upper = 101,
          .given = &given[1] },
        { .name = "steps",
          .type = CLI_INT,
          .value = &b.steps,
          .argument = "N",
          .help = "level-set steps of one run (default 50)",
          .lower = 1,
          .upper = 1e6,
          .given = &given[2] },
        { .name = "published",
          .type = CLI_FLAG,
          .value = &published,
          .help = "list the experiments of the publications, what they measured and what differs here" },
        { .name = "experiment",
          .type = CLI_TEXT,
          .value = &experiment,
          .argument = "NAME",
          .help = "run one of them: the published rows below ours; exit code 3 if its data is not there" },
        { .name = "quick", .type = CLI_FLAG, .value = &quick, .help = "with --experiment: smaller, to see that it runs" },
        { 0 },
    };
    int code = cli_parse(cli, options, 0, 0, argc, argv);
    if (code >= 0) return code;
    for (int k = 0; k < 3 && (published || experiment); k++)
        if (given[k]) return cli_usage(cli, "--%s: without effect with --%s", options[k].name, published ? "published" : "experiment");
    if (published && experiment) return cli_usage(cli, "--published and --experiment: expected one of them");
    if (quick && !experiment) return cli_usage(cli, "--quick: without effect without --experiment");
    if (published) return list_published(cli);
    if (experiment) return run_experiment(cli, experiment, quick);
    code = cli_context(cli, &b.context);
    if (code) return code;
    tsr_status status = prepare(&b);
    if (status != TSR_OK) code = cli_status(cli, status, NULL);
    if (!code) {
        tsr_device_info info = TSR_DEVICE_INFO;
        char date[32];
        time_t now = time(NULL);
        struct tm utc;
        strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
        status = tsr_device_describe(tsr_context_device(b.context), &info);
        if (status != TSR_OK) info.name[0] = 0;
        if (cli->globals.json) {
            json_open(NULL, '{');
            json_text("version", tsr_version());
            json_text("device", info.name);
            json_text("date", date);
            json_open("results", '[');
        } else {
            printf("phantom_tumour %d^3 on %s, %d threads\n", b.size, info.name, tsr_context_threads(b.context));
        }
        code = measure_all(&b);
        if (cli->globals.json) {
            json_close(']');
            json_close('}');
        }
    }
    tsr_picture_destroy(&b.picture);
    tsr_scene_destroy(&b.scene);
    tsr_segmentation_destroy(&b.segmentation);
    tsr_volume_destroy(&b.field);
    tsr_volume_destroy(&b.truth);
    tsr_volume_destroy(&b.image);
    tsr_context_destroy(&b.context);
    return code;
}

const cli_verb verb_bench = { "bench", "[options]", "Measure the main operations on this machine in a few seconds",
                              "  tessera bench\n  tessera bench --device cpu --threads 1 --size 64 --json\n  tessera bench --published\n", run };
