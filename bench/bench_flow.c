/* bench_flow: the experiments of the sources on moving level sets, by name (--experiment NAME; also bench_levelset --experiment NAME), with the numbers of the sources beside ours.
 *
 *   sphere-collapse   radius 64 in 256^3 under mean curvature (half of K), fixed step 0.3, until it vanishes        spec levelset-stl.md 4.1
 *   spiral-volume     extruded spiral in 128^3 under volume-conserving curvature flow, 1000 steps, WENO5 + RK3        4.2
 *   lucy-collapse     stand-in of the 1024^3 statue: sphere with six octaves of bumps, speed -0.1, curvature 1        4.6
 *   lucy-weno         the same by HJ-WENO5 and RK3
 *   overheads         (by name only) its steps with a sweep of reinitialisation instead of the term, and in a band of 3        4.7
 *   curvature         a sphere of radius 128 under mean curvature, first order, one or three sweeps of reinitialisation a step, beside OpenVDB
 *   renormalise       three sweeps of WENO5 reinitialisation of the same sphere, beside OpenVDB
 *   dilate            a sphere of radius 64 moved outwards by 8 voxels, first order and ENO2, beside OpenVDB: time, and the volume against the exact one
 *   threads           the sphere of curvature by one thread and by two, by turns, on the clock of the wall (CPU)
 *   tile-sizes        (by name only) spiral-volume, sphere-collapse and lucy-collapse by the source's own method, a voxel at a time, in tiles of 3^3, 4^3, 8^3 (CPU)        4.2, 4.3, 4.6
 *   storage           a sphere of radius 100 under mean curvature, the field in float32 and in 16 bits
 *   keys              steps of lucy-collapse with keys of 64 and of 32 bits, by turns: the step, the management of the list in it, the bytes of a tile
 *   large, huge       (the second by name only) a sphere of about 2.2 and 36 million tiles of 4^3 under speed and curvature, first order: time of a step, memory (GPU)
 *   topology          the active set of a sphere (a GPU: 57 million voxels) dilated by one voxel
 *   sheet             the deformation of period 5 up to the time that the source says is the last before thin sheets break, 128^3 (a GPU: to 1024^3)     4.5
 *   enright           the periodic deformation, half way and back, at 64^3 to 512^3 (a GPU: 1024^3), beside OpenVDB up to 256^3       4.4, 4.5
 *   enright-reinit    (by name only) the way there in a band of 5 with a sweep of reinitialisation a step        levelset-gpu.md 4
 *   thai, lucy, armadillo, angel, dragon-collapse, edit-dragon      (by name only) bench/experiments.c
 *
 * Bytes: phi read and written once per stored voxel and pass, and the list's rows. Full runs take the time of the experiment: on the CPU the longest
 * ones (sphere-collapse, lucy-weno) are timed over their first steps, when the list is largest, and the time of the whole is said to be that of as many such steps as the
 * sources took: no less than it is, for the list shrinks. */
#include <math.h>
#include <stdlib.h>

#include "experiments.h"

/* What OpenVDB says of the same motion: bench/peers/openvdb_levelset.cpp. */
struct peer {
    double seconds, steps, volume;
    unsigned long long before, after;
    int there;
};
static struct peer ask_openvdb(const bench *b, const char *arguments)
{
    struct peer p = { 0 };
    char command[512], line[512] = "";
    if (access(BENCH_BIN "/openvdb_levelset", X_OK)) {
        printf("    without OpenVDB: openvdb_levelset was not built\n");
        return p;
    }
    snprintf(command, sizeof command, BENCH_BIN "/openvdb_levelset %s %d %s", arguments, b->threads,
             b->clock == CLOCK_MONOTONIC ? "wall" : "processor");
    FILE *pipe = popen(command, "r");
    if (pipe && fgets(line, sizeof line, pipe))
        p.there = sscanf(line, "{\"seconds\": %lf, \"steps\": %lf, \"before\": %llu, \"after\": %llu, \"volume\": %lf}", &p.seconds, &p.steps,
                         &p.before, &p.after, &p.volume) == 5;
    if (pipe) pclose(pipe);
    if (!p.there) printf("    without OpenVDB: openvdb_levelset failed: %s\n", line);
    return p;
}

/* So many steps, timed by the clock of the bench. */
static tsr_status step_for(bench *b, tsr_levelset *solver, int64_t steps, tsr_levelset_report *report)
{
    const double began = bench_clock(b->clock);
    TSR_TRY(tsr_levelset_step(solver, steps, NULL, report));
    report->seconds = bench_clock(b->clock) - began;
    return TSR_OK;
}
static tsr_status advance_for(bench *b, tsr_levelset *solver, double duration, tsr_levelset_report *report)
{
    const double began = bench_clock(b->clock);
    TSR_TRY(tsr_levelset_advance(solver, duration, NULL, report));
    report->seconds = bench_clock(b->clock) - began;
    return TSR_OK;
}

struct run {
    bench *b;
    const char *name;
    tsr_tiles *tiles;
    tsr_levelset_options options;
    int64_t steps;           /* to time */
    int64_t whole;           /* steps of the source; 0: not known */
    const published *source; /* its table; NULL: none */
    const char *bar;
    double bar_s; /* seconds of the whole run; 0: of one step in bar_step */
    double share; /* tiles of the list on average over the whole run, of those at its start; 0: not known */
    double bar_step;
};

/* The steps to time; on the CPU in parts, after each of which the list is looked at. */
static tsr_status step_in_parts(struct run *r, tsr_levelset *solver, int64_t first_count, tsr_levelset_report *report)
{
    enum { PARTS = 22 };
    const int64_t parts = strcmp(r->b->device, "cuda") ? PARTS : 1;
    double seconds = 0, tiles = 0;
    int64_t steps = 0;
    for (int64_t part = 0; part < parts; part++) {
        TSR_TRY(step_for(r->b, solver, r->steps * (part + 1) / parts - r->steps * part / parts, report));
        seconds += report->seconds;
        steps += report->steps;
        tiles += (double)report->tiles * (double)report->steps;
    }
    report->seconds = seconds;
    report->steps = steps;
    if (parts > 1 && steps > 0 && r->steps == r->whole) r->share = tiles / ((double)r->whole * (double)first_count);
    return TSR_OK;
}

/* Times `steps` steps from the start, reports, and leaves the list as it is then. The time of a run that is shortened is that of its first steps, of the
 * largest list. */
static tsr_status measure(struct run *r)
{
    tsr_levelset *solver = NULL;
    tsr_levelset_report first = { 0 }, report = { 0 };
    tsr_tiles_info info;
    tsr_status status;
    const int passes = r->options.time == TSR_TIME_RK3 ? 3 : 1;
    TSR_TRY_GOTO(tsr_levelset_create(r->tiles, &r->options, &solver), done);
    TSR_TRY_GOTO(tsr_tiles_describe(r->tiles, &info), done);
    TSR_TRY_GOTO(tsr_levelset_step(solver, 4, NULL, &first), done); /* growth of the pool, recorded graphs */
    TSR_TRY_GOTO(tsr_context_synchronize(r->b->context), done);
    const double share = r->share > 0 && r->whole > r->steps ? r->share : 1;
    TSR_TRY_GOTO(step_in_parts(r, solver, info.count, &report), done);
    const double step = report.seconds / (double)(report.steps ? report.steps : 1);
    const double voxels = (double)info.count * info.edge * info.edge * info.edge,
                 seconds = report.empty ? report.seconds : step * share * (double)(r->whole ? r->whole : report.steps);
    const double bytes = passes * (8.0 * voxels + 144.0 * (double)info.count);
    const bench_time t = { step, step, step, 1 };
    const int holds = r->bar_s > 0 ? seconds <= r->bar_s : step <= r->bar_step;
    bench_report(r->b, &(bench_case){ .name = r->name, .n = report.active_voxels, .time = t, .bytes = bytes, .bar = r->bar, .holds = holds });
    printf("    %lld of %lld steps timed, %s%.3f s for all; %lld tiles and %.2f M active voxels at the start, %.1f M active voxels/s\n",
           (long long)report.steps, (long long)(r->whole ? r->whole : report.steps),
           r->whole > report.steps && !report.empty && share == 1 ? "at most " : "", seconds, (long long)info.count,
           1e-6 * (double)info.active_voxels, 1e-6 * (double)info.active_voxels / step);
    if (share < 1)
        printf("    the steps timed are the first; all of them: with a list of %.3f of its first size, as it is on average at first order\n", share);
    printf("    %.1f MB of device memory\n", 1e-6 * (double)report.device_bytes);
    if (r->source) bench_published(r->b, r->source, seconds);
    if (report.empty) printf("    vanished after %lld steps\n", (long long)(first.steps + report.steps));
    status = TSR_OK;
done:
    tsr_levelset_destroy(&solver);
    return status;
}

static tsr_status shape(bench *b, double band, tsr_shape s, tsr_tiles **tiles)
{
    tsr_tiles_options options = TSR_TILES_OPTIONS;
    options.band = band;
    return tsr_tiles_shape(b->context, NULL, &options, &s, tiles);
}

/* `persistent`: as the option of that name. */
static tsr_status sphere_collapse(bench *b, int gpu, int persistent)
{
    static const published collapse[] = { { "DT-Grid, one core of a Core 2 at 2.4 GHz", 2674 }, { "sorted tile list, the same", 429 }, { NULL, 0 } };
    struct run r = { b,
                     persistent < 0 ? "sphere-collapse, first order, launches" : "sphere-collapse, first order",
                     .options = TSR_LEVELSET_OPTIONS,
                     .steps = gpu ? 6500 : 400,
                     .whole = 6500,
                     .source = collapse };
    TSR_TRY(shape(b, 1.5, (tsr_shape){ .kind = TSR_SHAPE_SPHERE, .centre = { 128, 128, 128 }, .radius = 64 }, &r.tiles));
    r.options.terms[0] = (tsr_flow_term){ .kind = TSR_FLOW_CURVATURE, .value = 0.5 };
    r.options.term_count = 1;
    r.options.time_step = 0.3;
    r.options.persistent = persistent;
    tsr_status status = measure(&r);
    tsr_tiles_destroy(&r.tiles);
    return status;
}

static tsr_status spiral_volume(bench *b)
{
    static const published table[] = { { "DT-Grid, one core of a Core 2", 680 },
                                       { "tiles of 4^3, the same", 240 },
                                       { "tiles of 3^3", 230 },
                                       { "tiles of 4^3, SSE2", 80.1 },
                                       { NULL, 0 } };
    struct run r = { b,
                     "spiral-volume, WENO5 + RK3",
                     .options = TSR_LEVELSET_OPTIONS,
                     .steps = 1000,
                     .whole = 1000,
                     .source = table,
                     .bar = "at most 8 s on the CPU",
                     .bar_s = 8 };
    TSR_TRY(bench_from_rule(b, 128, 3, bench_spiral, &r.tiles));
    r.options.terms[0] = (tsr_flow_term){ .kind = TSR_FLOW_CURVATURE, .value = 0.5 };
    r.options.terms[1] = (tsr_flow_term){ .kind = TSR_FLOW_MEAN_CURVATURE, .value = 0.5 };
    r.options.term_count = 2;
    r.options.space = TSR_STENCIL_WENO5;
    r.options.time = TSR_TIME_RK3;
    r.options.feedback = 0.1;
    tsr_status status = measure(&r);
    tsr_tiles_destroy(&r.tiles);
    return status;
}

struct meshing {
    tsr_context *context;
    const tsr_tiles *tiles;
    int64_t triangles;
};
static tsr_status make_mesh(void *user)
{
    struct meshing *m = (struct meshing *)user;
    tsr_mesh *mesh = NULL;
    TSR_TRY(tsr_surface_extract_tiles(m->context, m->tiles, NULL, &mesh, NULL));
    m->triangles = tsr_mesh_triangle_count(mesh);
    tsr_mesh_destroy(&mesh);
    return TSR_OK;
}
/* The surface of the list as a mesh. */
static void measure_mesh(bench *b, const tsr_tiles *tiles, int gpu)
{
    struct meshing m = { b->context, tiles, 0 };
    const bench_time t = bench_measure(b, make_mesh, &m, NULL);
    bench_report(b, &(bench_case){ .name = "lucy-collapse, mesh of the first list",
                                   .n = m.triangles,
                                   .time = t,
                                   .bar = gpu ? "at most 0.3 ms" : NULL,
                                   .holds = t.runs && t.median <= 0.3e-3 });
}

/* `fused`: with the arithmetic of the device. */
static tsr_status lucy_collapse(bench *b, int gpu, int weno, int fused, double *share)
{
    static const published first[] = { { "DT-Grid, one core of a Core 2", 7051 },
                                       { "sorted tile list, the same", 1506 },
                                       { "the same by SSE", 616 },
                                       { "GPU-STL, GTX 280", 29.5 },
                                       { NULL, 0 } };
    static const published fifth[] = { { "DT-Grid, one core of a Core 2", 136493 },
                                       { "sorted tile list, the same", 47794 },
                                       { "the same by SSE", 10541 },
                                       { "GPU-STL, GTX 280", 725 },
                                       { NULL, 0 } };
    struct run r = { b,
                     weno ? (fused ? "lucy-collapse, WENO5 + RK3" : "lucy-collapse, WENO5 + RK3, exact")
                          : (fused ? "lucy-collapse, first order" : "lucy-collapse, first order, exact"),
                     .options = TSR_LEVELSET_OPTIONS, .whole = 5830 };
    r.options.fused = fused;
    r.steps = gpu && weno ? 2000 : weno ? (b->quick ? 2 : 20) : b->quick ? 20 : 5830;
    r.source = weno ? fifth : first;
    r.bar = gpu ? (weno ? "at most 0.75 ms a step" : "at most 60 us a step") : weno ? "at most 1000 s on a core" : "at most 60 s on a core";
    r.bar_step = gpu ? (weno ? 0.75e-3 : 60e-6) : 0;
    r.bar_s = gpu ? 0 : weno ? 1000 : 60;
    TSR_TRY(bench_from_rule(b, 512, weno ? 3 : 1.5, bench_bumps, &r.tiles));
    r.options.terms[0] = (tsr_flow_term){ .kind = TSR_FLOW_SPEED, .value = -0.1 };
    r.options.terms[1] = (tsr_flow_term){ .kind = TSR_FLOW_CURVATURE, .value = 0.5 };
    r.options.term_count = 2;
    r.options.space = weno ? TSR_STENCIL_WENO5 : TSR_STENCIL_UPWIND;
    r.options.time = weno ? TSR_TIME_RK3 : TSR_TIME_EULER;
    if (!weno && fused == gpu) measure_mesh(b, r.tiles, gpu);
    r.share = *share;
    tsr_status status = measure(&r);
    *share = r.share;
    tsr_tiles_destroy(&r.tiles);
    return status;
}

/* First-order steps of copies of a list without management and with it, keys of so many bits. */
static tsr_status managed_steps(bench *b, const tsr_tiles *first, int64_t steps, int32_t key_bits, double step[2], tsr_tiles_info *info)
{
    tsr_status status = TSR_OK;
    for (int managed = 0; managed < 2 && status == TSR_OK; managed++) {
        struct run r = { b, "", .options = TSR_LEVELSET_OPTIONS, .steps = steps };
        tsr_levelset *solver = NULL;
        tsr_levelset_report report = { 0 };
        TSR_TRY(tsr_tiles_copy(first, b->context, &r.tiles));
        r.options.terms[0] = (tsr_flow_term){ .kind = TSR_FLOW_SPEED, .value = -0.1 };
        r.options.terms[1] = (tsr_flow_term){ .kind = TSR_FLOW_CURVATURE, .value = 0.5 };
        r.options.term_count = 2;
        r.options.fused = tsr_context_device(b->context).kind == TSR_DEVICE_CUDA;
        r.options.persistent = -1;
        r.options.managed_every = managed ? 1 : 1000;
        status = tsr_tiles_set_key_bits(r.tiles, key_bits);
        if (status == TSR_OK) status = tsr_tiles_compact(r.tiles, 0); /* the same room for both */
        if (status == TSR_OK) status = tsr_levelset_create(r.tiles, &r.options, &solver);
        if (status == TSR_OK) status = tsr_levelset_step(solver, 4, NULL, &report);
        for (int i = 0; i < 5 && status == TSR_OK; i++) {
            status = step_for(b, solver, r.steps, &report);
            const double one = report.seconds / (double)r.steps;
            step[managed] = i == 0 ? one : fmin(step[managed], one);
        }
        tsr_levelset_destroy(&solver);
        if (status == TSR_OK) status = tsr_tiles_describe(r.tiles, info);
        tsr_tiles_destroy(&r.tiles);
    }
    return status;
}

/* What the management is of a step. */
static tsr_status management_share(bench *b)
{
    double step[2] = { 0, 0 };
    tsr_tiles_info info;
    tsr_tiles *first;
    TSR_TRY(bench_from_rule(b, 512, 1.5, bench_bumps, &first));
    tsr_status status = managed_steps(b, first, 96, 64, step, &info);
    tsr_tiles_destroy(&first);
    TSR_TRY(status);
    bench_report(b, &(bench_case){ .name = "lucy-collapse, first order, management",
                                   .time = { step[1] - step[0], step[1] - step[0], step[1] - step[0], 1 },
                                   .bar = "at most 30 % of a step",
                                   .holds = step[1] - step[0] <= 0.3 * step[1] });
    printf("    %.1f %% of a step: %.2f us with it, %.2f us without\n", 100 * (1 - step[0] / step[1]), 1e6 * step[1], 1e6 * step[0]);
    return TSR_OK;
}

/* The same with keys of 64 and of 32 bits, by turns: the step, the management in it, and the memory of a tile. */
static tsr_status keys(bench *b, int gpu)
{
    enum { TURNS = 2 };
    static const char *const names[2][2] = { { "lucy-collapse, first order, 64-bit keys", "lucy-collapse, first order, 32-bit keys" },
                                             { "lucy-collapse, management, 64-bit keys", "lucy-collapse, management, 32-bit keys" } };
    double best[2][2] = { { 0 } };
    tsr_tiles_info info[2] = { { 0 }, { 0 } };
    tsr_tiles *first;
    tsr_status status = TSR_OK;
    TSR_TRY(bench_from_rule(b, b->quick ? 128 : gpu ? 512 : 256, 1.5, bench_bumps, &first));
    for (int turn = 0; turn < 2 * TURNS && status == TSR_OK; turn++) {
        const int i = turn % 2;
        double step[2] = { 0, 0 };
        status = managed_steps(b, first, gpu ? 96 : 4, i ? 32 : 64, step, &info[i]);
        for (int k = 0; k < 2; k++) best[i][k] = turn < 2 ? step[k] : fmin(best[i][k], step[k]);
    }
    tsr_tiles_destroy(&first);
    TSR_TRY(status);
    for (int i = 0; i < 2; i++) {
        const double step = best[i][1], management = fmax(best[i][1] - best[i][0], 0);
        bench_report(b, &(bench_case){ .name = names[0][i], .n = info[i].count, .time = { step, step, step, 1 } });
        bench_report(b, &(bench_case){ .name = names[1][i], .n = info[i].count, .time = { management, management, management, 1 } });
        printf("    %.1f bytes for each of %lld tiles\n", (double)info[i].device_bytes / (double)info[i].capacity, (long long)info[i].capacity);
    }
    return TSR_OK;
}

/* A sphere under mean curvature, first order, in a band of 3 voxels, the field kept a distance by so many sweeps a step, and the list managed: voxels in
 * the band moved per second. */
static tsr_status curvature_peer(bench *b, int gpu, int32_t sweeps)
{
    char name[80], arguments[64];
    struct run r = { b, name, .options = TSR_LEVELSET_OPTIONS, .steps = gpu ? 2000 : 4 };
    tsr_levelset *solver = NULL;
    tsr_levelset_report report = { 0 };
    tsr_tiles_info info;
    const double radius = b->quick ? 32 : 128;
    snprintf(name, sizeof name, "curvature, band of 3, first order, %d sweep%s", (int)sweeps, sweeps > 1 ? "s" : "");
    TSR_TRY(shape(b, 3, (tsr_shape){ .kind = TSR_SHAPE_SPHERE, .radius = radius }, &r.tiles));
    r.options.terms[0] = (tsr_flow_term){ .kind = TSR_FLOW_CURVATURE, .value = 0.5 };
    r.options.term_count = 1;
    r.options.reshape = TSR_RESHAPE_REINIT;
    r.options.reshape_sweeps = sweeps;
    r.options.reshape_step = 0.3;
    r.options.space = TSR_STENCIL_GODUNOV;
    tsr_status status = tsr_tiles_describe(r.tiles, &info);
    if (status == TSR_OK) status = tsr_levelset_create(r.tiles, &r.options, &solver);
    if (status == TSR_OK) status = tsr_levelset_step(solver, 4, NULL, &report);
    double step = HUGE_VAL; /* the shortest, as the peer's */
    for (int i = 0; i < (gpu ? 1 : 8) && status == TSR_OK; i++) {
        status = step_for(b, solver, r.steps, &report);
        step = fmin(step, report.seconds / (double)r.steps);
    }
    tsr_levelset_destroy(&solver);
    tsr_tiles_destroy(&r.tiles);
    TSR_TRY(status);
    snprintf(arguments, sizeof arguments, "curvature %g %d", radius, (int)sweeps);
    const struct peer p = ask_openvdb(b, arguments);
    const double theirs = p.seconds / fmax(p.steps, 1);
    bench_case row = { .name = r.name, .n = info.active_voxels, .time = { step, step, step, 1 } };
    if (p.there) {
        row.peer = "OpenVDB, LevelSetFilter::meanCurvature";
        row.peer_time = (bench_time){ theirs, theirs, theirs, 1 };
        row.bar = "11 times the voxels per second of OpenVDB";
        row.holds = (double)info.active_voxels / step >= 11 * (double)p.before / theirs;
    }
    bench_report(b, &row);
    printf("    %.1f M active voxels/s", 1e-6 * (double)info.active_voxels / step);
    if (p.there) printf("; OpenVDB %.1f M/s (%llu active voxels)", 1e-6 * (double)p.before / theirs, p.before);
    printf("\n");
    return TSR_OK;
}

/* The same flow by one thread and by two, by turns: wall time, whatever the clock of the bench, and no less than 1.8 times as fast. */
static tsr_status two_threads(bench *b)
{
    enum { RUNS = 12, STEPS = 4 };
    tsr_levelset_options options = TSR_LEVELSET_OPTIONS;
    tsr_tiles_options list = TSR_TILES_OPTIONS;
    tsr_context *context[2] = { NULL, NULL };
    tsr_tiles *tiles[2] = { NULL, NULL };
    tsr_levelset *solver[2] = { NULL, NULL };
    tsr_levelset_report report = { 0 };
    double step[2] = { HUGE_VAL, HUGE_VAL };
    tsr_status status;
    options.terms[0] = (tsr_flow_term){ .kind = TSR_FLOW_CURVATURE, .value = 0.5 };
    options.term_count = 1;
    options.reshape = TSR_RESHAPE_REINIT;
    options.reshape_step = 0.3;
    options.space = TSR_STENCIL_GODUNOV;
    list.band = 3;
    for (int i = 0; i < 2; i++) {
        tsr_context_options wanted = TSR_CONTEXT_OPTIONS;
        const tsr_shape sphere = { .kind = TSR_SHAPE_SPHERE, .radius = b->quick ? 32 : 128 };
        wanted.device = "cpu";
        wanted.threads = 1 + i;
        TSR_TRY_GOTO(tsr_context_create(&wanted, &context[i]), done);
        TSR_TRY_GOTO(tsr_tiles_shape(context[i], NULL, &list, &sphere, &tiles[i]), done);
        TSR_TRY_GOTO(tsr_levelset_create(tiles[i], &options, &solver[i]), done);
        TSR_TRY_GOTO(tsr_levelset_step(solver[i], 4, NULL, &report), done);
    }
    for (int run = 0; run < 2 * RUNS; run++) {
        const double began = bench_seconds();
        TSR_TRY_GOTO(tsr_levelset_step(solver[run % 2], STEPS, NULL, &report), done);
        step[run % 2] = fmin(step[run % 2], (bench_seconds() - began) / STEPS);
    }
    bench_report(b, &(bench_case){ .name = "curvature, one sweep: two threads",
                                   .n = report.active_voxels,
                                   .time = { step[1], step[1], step[1], RUNS },
                                   .peer = "one thread",
                                   .peer_time = { step[0], step[0], step[0], RUNS },
                                   .bar = "1.8 times one thread",
                                   .holds = step[0] >= 1.8 * step[1] });
    printf("    wall clock, shortest of %d runs of %d steps each, by turns\n", RUNS, STEPS);
    status = TSR_OK;
done:
    for (int i = 0; i < 2; i++) {
        tsr_levelset_destroy(&solver[i]);
        tsr_tiles_destroy(&tiles[i]);
        tsr_context_destroy(&context[i]);
    }
    return status;
}

/* bench/tile_sizes.c, and how many voxels a second OpenVDB moves in the same minutes. */
static tsr_status tile_sizes(bench *b, int gpu)
{
    TSR_TRY(bench_tile_sizes(b));
    const struct peer p = gpu ? (struct peer){ 0 } : ask_openvdb(b, "curvature 64 1");
    if (p.there)
        printf("    OpenVDB, LevelSetFilter::meanCurvature with one sweep, sphere of radius 64 in a band of 3: %.2f M active voxels/s\n",
               1e-6 * (double)p.before * p.steps / p.seconds);
    return TSR_OK;
}

/* Sweeps of reinitialisation by HJ-WENO5 on the same sphere. */
struct renormalising {
    tsr_tiles *tiles;
    int32_t sweeps;
};
static tsr_status renormalise(void *user)
{
    const struct renormalising *r = (const struct renormalising *)user;
    return tsr_levelset_reinitialise(r->tiles, TSR_STENCIL_WENO5, r->sweeps, NULL);
}
static tsr_status renormalise_peer(bench *b)
{
    struct renormalising r = { NULL, 3 };
    tsr_tiles_info info;
    const double radius = b->quick ? 32 : 128;
    char arguments[64];
    TSR_TRY(shape(b, 3, (tsr_shape){ .kind = TSR_SHAPE_SPHERE, .radius = radius }, &r.tiles));
    tsr_status status = tsr_tiles_describe(r.tiles, &info);
    const bench_time t = status == TSR_OK ? bench_measure(b, renormalise, &r, NULL) : (bench_time){ 0 };
    tsr_tiles_destroy(&r.tiles);
    TSR_TRY(status);
    snprintf(arguments, sizeof arguments, "renormalise %g %d", radius, (int)r.sweeps);
    const struct peer p = ask_openvdb(b, arguments);
    bench_case row = { .name = "renormalise, WENO5, 3 sweeps", .n = info.active_voxels, .time = { t.min, t.min, t.max, t.runs } };
    if (p.there) {
        row.peer = "OpenVDB, LevelSetTracker::normalize";
        row.peer_time = (bench_time){ p.seconds, p.seconds, p.seconds, 1 };
        row.bar = "4 times OpenVDB";
        row.holds = 4 * t.min <= p.seconds;
    }
    bench_report(b, &row);
    printf("    %.1f M active voxels/s", 1e-6 * (double)info.active_voxels / t.min);
    if (p.there) printf("; OpenVDB %.1f M/s (%llu active voxels)", 1e-6 * (double)p.before / p.seconds, p.before);
    printf("\n");
    return TSR_OK;
}

/* A sphere moved outwards by 8 voxels on a band of 3 that is kept a distance, there by LevelSetFilter::offset (first order), here by these
 * differences and one sweep a step; the exact answer is a sphere. */
static tsr_status dilate_peer(bench *b, tsr_stencil space)
{
    const double radius = b->quick ? 24 : 64, distance = 8, pi = 3.14159265358979323846;
    tsr_levelset_options options = TSR_LEVELSET_OPTIONS;
    tsr_levelset_report report = { 0 };
    tsr_tiles_measures after = { 0 };
    tsr_status status = TSR_OK;
    char name[80], arguments[64];
    double seconds = HUGE_VAL;
    options.terms[0] = (tsr_flow_term){ .kind = TSR_FLOW_SPEED, .value = 1 };
    options.term_count = 1;
    options.space = space;
    options.reshape = TSR_RESHAPE_REINIT;
    options.sign = TSR_SIGN_SUBCELL; /* the sweeps leave the surface where the step has put it */
    for (int i = 0; i < 5 && status == TSR_OK; i++) {
        tsr_tiles *tiles = NULL;
        tsr_levelset *solver = NULL;
        status = shape(b, 3, (tsr_shape){ .kind = TSR_SHAPE_SPHERE, .radius = radius }, &tiles);
        if (status == TSR_OK) status = tsr_levelset_create(tiles, &options, &solver);
        if (status == TSR_OK) status = advance_for(b, solver, distance, &report);
        if (status == TSR_OK) status = tsr_tiles_measure(tiles, &after);
        tsr_levelset_destroy(&solver);
        tsr_tiles_destroy(&tiles);
        seconds = fmin(seconds, report.seconds);
    }
    TSR_TRY(status);
    snprintf(name, sizeof name, "dilate a sphere of radius %g by %g, %s", radius, distance, space == TSR_STENCIL_ENO2 ? "ENO2" : "first order");
    snprintf(arguments, sizeof arguments, "dilate %g %g", radius, distance);
    const struct peer p = ask_openvdb(b, arguments);
    const double exact = 4.0 / 3 * pi * pow(radius + distance, 3), error = fabs(after.volume / exact - 1);
    bench_case row = { .name = name, .n = report.active_voxels, .time = { seconds, seconds, seconds, 1 } };
    const double theirs = fabs(p.volume * pow(radius / (radius + distance), 3) - 1); /* their share of their own start */
    if (p.there) {
        row.peer = "OpenVDB, LevelSetFilter::offset";
        row.peer_time = (bench_time){ p.seconds, p.seconds, p.seconds, 1 };
        row.bar = space == TSR_STENCIL_ENO2 ? "8 times as fast as OpenVDB, no larger error" : "8 times as fast as OpenVDB";
        row.holds = 8 * seconds <= p.seconds && (space != TSR_STENCIL_ENO2 || error <= theirs);
    }
    bench_report(b, &row);
    printf("    %lld steps; volume off by %.4f %%", (long long)report.steps, 100 * error);
    if (p.there) printf("; OpenVDB %.4f %%, %.1f times our time", 100 * theirs, p.seconds / seconds);
    printf("\n");
    return TSR_OK;
}

/* The same flow on float32 and on 16-bit values: time and memory. */
static tsr_status storages(bench *b, int gpu)
{
    static const char *const names[] = { "curvature, first order, float32", "curvature, first order, 16 bits" };
    int64_t held[2] = { 0 };
    double step[2] = { 0 };
    for (int i = 0; i < 2; i++) {
        tsr_levelset_options options = TSR_LEVELSET_OPTIONS;
        tsr_levelset_report report = { 0 };
        tsr_tiles_info info;
        tsr_tiles *tiles = NULL;
        tsr_levelset *solver = NULL;
        options.terms[0] = (tsr_flow_term){ .kind = TSR_FLOW_CURVATURE, .value = 0.5 };
        options.term_count = 1;
        options.time_step = 0.3;
        TSR_TRY(shape(b, 1.5, (tsr_shape){ .kind = TSR_SHAPE_SPHERE, .radius = b->quick ? 24 : gpu ? 500 : 100 }, &tiles));
        tsr_status status = tsr_tiles_set_storage(tiles, i ? TSR_STORAGE_I16 : TSR_STORAGE_F32);
        if (status == TSR_OK) status = tsr_tiles_compact(tiles, 0);
        if (status == TSR_OK) status = tsr_levelset_create(tiles, &options, &solver);
        if (status == TSR_OK) status = tsr_levelset_step(solver, 4, NULL, &report);
        if (status == TSR_OK) status = step_for(b, solver, gpu ? 500 : 40, &report);
        if (status == TSR_OK) status = tsr_tiles_describe(tiles, &info);
        tsr_levelset_destroy(&solver);
        tsr_tiles_destroy(&tiles);
        TSR_TRY(status);
        step[i] = report.seconds / (double)report.steps;
        held[i] = info.device_bytes;
        const double voxels = (double)info.count * info.edge * info.edge * info.edge;
        bench_report(b, &(bench_case){ .name = names[i],
                                       .n = report.active_voxels,
                                       .time = { step[i], step[i], step[i], 1 },
                                       .bytes = (i ? 4.0 : 8.0) * voxels + 144.0 * (double)info.count });
    }
    printf("    %.1f MB in 16 bits, %.1f MB in float32; %.2f times as long a step\n", 1e-6 * (double)held[1], 1e-6 * (double)held[0],
           step[1] / step[0]);
    return TSR_OK;
}

/* The sphere of the periodic deformation in n^3, in a band of so many voxels, and the options of its motion: HJ-WENO5 and RK3. */
static tsr_status deformation(bench *b, int64_t n, double band, double period, tsr_levelset_options *options, tsr_tiles **tiles)
{
    const double at = 0.35 * (double)n;
    options->terms[0] = (tsr_flow_term){ .kind = TSR_FLOW_ENRIGHT, .value = 1, .radius = (double)n, .period = period };
    options->term_count = 1;
    options->space = TSR_STENCIL_WENO5;
    options->time = TSR_TIME_RK3;
    options->fused = 1;
    options->sign = TSR_SIGN_SUBCELL;           /* the smooth one moves the surface a little in every stage */
    options->reshape_weight = 0.25 * (double)n; /* voxels per unit of time: the flow crosses the cube in about one */
    return shape(b, band, (tsr_shape){ .kind = TSR_SHAPE_SPHERE, .centre = { at, at, at }, .radius = 0.15 * (double)n }, tiles);
}

/* A deformation that has run. */
struct flight {
    tsr_levelset_report report;
    tsr_tiles_measures before, after;
    double bytes; /* what three passes a step move at least, from the list at its end */
    double kept;  /* volume, of that at the start */
};

/* Lets the list, which is destroyed, flow for so long. */
static tsr_status fly(bench *b, tsr_tiles *tiles, const tsr_levelset_options *options, double duration, struct flight *f)
{
    tsr_levelset *solver = NULL;
    tsr_tiles_info info;
    tsr_status status;
    TSR_TRY_GOTO(tsr_tiles_measure(tiles, &f->before), done);
    TSR_TRY_GOTO(tsr_levelset_create(tiles, options, &solver), done);
    TSR_TRY_GOTO(advance_for(b, solver, duration, &f->report), done);
    TSR_TRY_GOTO(tsr_tiles_measure(tiles, &f->after), done);
    TSR_TRY_GOTO(tsr_tiles_describe(tiles, &info), done);
    f->bytes = 3.0 * (double)f->report.steps * (double)info.count * (8.0 * info.edge * info.edge * info.edge + 144.0);
    f->kept = f->after.volume / f->before.volume;
    status = TSR_OK;
done:
    tsr_levelset_destroy(&solver);
    tsr_tiles_destroy(&tiles);
    return status;
}

static bench_case row_of(const char *name, const struct flight *f)
{
    return (bench_case){
        .name = name, .n = f->report.active_voxels, .time = { f->report.seconds, f->report.seconds, f->report.seconds, 1 }, .bytes = f->bytes
    };
}
static void print_flight(const struct flight *f)
{
    printf("    %lld steps, %.3f ms each; volume %.5f of the start, %lld pieces\n", (long long)f->report.steps,
           1e3 * f->report.seconds / (double)(f->report.steps ? f->report.steps : 1), f->kept, (long long)f->after.components);
}

/* Is the sheet whole, in one piece and with its volume, when the source's breaks? */
static tsr_status sheet(bench *b, int64_t n, double duration)
{
    tsr_levelset_options options = TSR_LEVELSET_OPTIONS;
    struct flight f = { 0 };
    tsr_tiles *tiles = NULL;
    char name[64];
    TSR_TRY(deformation(b, n, 3, 5, &options, &tiles));
    options.reshape_weight = 0.5 * (double)n; /* holds a sheet of a voxel or two together: with half of it the one in 512^3 is in three pieces */
    TSR_TRY(fly(b, tiles, &options, duration, &f));
    snprintf(name, sizeof name, "sheet %lld^3, period 5, to %g", (long long)n, duration);
    bench_case row = row_of(name, &f);
    row.bar = "one piece, 95 % of its volume";
    row.holds = f.after.components == 1 && f.kept >= 0.95;
    bench_report(b, &row);
    print_flight(&f);
    printf("    source: the last time before sheets break is 0.77 in 128^3, 1.1 in 256^3, 1.55 in 512^3, 2.05 in 1024^3\n");
    return TSR_OK;
}

/* What a step of lucy-collapse takes with one sweep of reinitialisation instead of the term, and in a band of 3 (spec levelset-gpu.md 4). */
static tsr_status overheads(bench *b, int gpu)
{
    static const char *const names[] = { "overheads: the term, band 1.5", "overheads: one sweep a step", "overheads: band 3" };
    double step[3] = { 0 };
    for (int i = 0; i < 3; i++) {
        tsr_levelset_options options = TSR_LEVELSET_OPTIONS;
        tsr_levelset_report report = { 0 };
        tsr_tiles *tiles = NULL;
        tsr_levelset *solver = NULL;
        options.terms[0] = (tsr_flow_term){ .kind = TSR_FLOW_SPEED, .value = -0.1 };
        options.terms[1] = (tsr_flow_term){ .kind = TSR_FLOW_CURVATURE, .value = 0.5 };
        options.term_count = 2;
        options.time_step = 0.3;
        options.fused = gpu;
        options.reshape = i == 1 ? TSR_RESHAPE_REINIT : TSR_RESHAPE_TERM;
        TSR_TRY(bench_from_rule(b, 512, i == 2 ? 3 : 1.5, bench_bumps, &tiles));
        tsr_status status = tsr_levelset_create(tiles, &options, &solver);
        if (status == TSR_OK) status = tsr_levelset_step(solver, 4, NULL, &report);
        if (status == TSR_OK) status = step_for(b, solver, b->quick ? 20 : gpu ? 1000 : 100, &report);
        tsr_levelset_destroy(&solver);
        tsr_tiles_destroy(&tiles);
        TSR_TRY(status);
        step[i] = report.seconds / (double)report.steps;
        bench_report(b, &(bench_case){ .name = names[i], .n = report.active_voxels, .time = { step[i], step[i], step[i], 1 } });
    }
    printf("    source: a sweep a step +17 %%, band 3 +15 %%; here %+.0f %% and %+.0f %%\n", 100 * (step[1] / step[0] - 1),
           100 * (step[2] / step[0] - 1));
    return TSR_OK;
}

/* The deformation as the journal paper runs it: a band of 5, one sweep of reinitialisation a step, stopped on the way (spec levelset-gpu.md 4). */
static tsr_status enright_reinit(bench *b, int64_t n, double duration)
{
    tsr_levelset_options options = TSR_LEVELSET_OPTIONS;
    struct flight f = { 0 };
    tsr_tiles *tiles = NULL;
    char name[80];
    TSR_TRY(deformation(b, n, 5, 5, &options, &tiles));
    options.reshape = TSR_RESHAPE_REINIT;
    TSR_TRY(fly(b, tiles, &options, duration, &f));
    snprintf(name, sizeof name, "enright-reinit %lld^3, band 5, to %g", (long long)n, duration);
    bench_case row = row_of(name, &f);
    row.bar = "one piece";
    row.holds = f.after.components == 1;
    bench_report(b, &row);
    print_flight(&f);
    printf("    source: 512^3 to 1.1 on a GTX 280 as DT-Grid, about two orders of magnitude faster (no times given)\n");
    return TSR_OK;
}

/* Whole runs: there and back, with the volume that is left. */
static tsr_status enright(bench *b, int64_t n, double period, int gpu)
{
    tsr_levelset_options options = TSR_LEVELSET_OPTIONS;
    struct flight f = { 0 };
    tsr_tiles *tiles = NULL;
    char name[64], arguments[64];
    TSR_TRY(deformation(b, n, 3, period, &options, &tiles));
    TSR_TRY(fly(b, tiles, &options, period, &f));
    snprintf(name, sizeof name, "enright %lld^3, period %g", (long long)n, period);
    snprintf(arguments, sizeof arguments, "enright %lld %g", (long long)n, period);
    const struct peer p = n <= 256 ? ask_openvdb(b, arguments) : (struct peer){ 0 };
    bench_case row = row_of(name, &f);
    if (p.there) {
        row.peer = "OpenVDB, LevelSetAdvection, its own steps";
        row.peer_time = (bench_time){ p.seconds, p.seconds, p.seconds, 1 };
        row.bar = "4 times OpenVDB, and no more volume lost";
        row.holds = 4 * f.report.seconds <= p.seconds && f.kept >= p.volume;
    }
    if (gpu && n == 1024) {
        row.bar = "at most 0.4 ms a step";
        row.holds = f.report.seconds <= 0.4e-3 * (double)f.report.steps;
    }
    bench_report(b, &row);
    print_flight(&f);
    printf("    %.1f MB of device memory", 1e-6 * (double)f.report.device_bytes);
    printf(n == 1024 ? "; source: 149 MB at most, for one array of tiles of 4^3 in a band of 1.5\n" : "\n");
    if (p.there) printf("    OpenVDB: %.0f steps, %.3f ms each; volume %.5f of the start\n", p.steps, 1e3 * p.seconds / fmax(p.steps, 1), p.volume);
    return TSR_OK;
}

/* A sphere in so many tiles of 4^3 that only memory counts. */
static tsr_status large(bench *b, double radius, int64_t steps)
{
    tsr_levelset_options options = TSR_LEVELSET_OPTIONS;
    tsr_tiles_options list = TSR_TILES_OPTIONS;
    tsr_levelset_report report = { 0 };
    tsr_tiles_info info;
    tsr_tiles *tiles = NULL;
    tsr_levelset *solver = NULL;
    tsr_status status;
    char name[80];
    list.edge = 4;
    list.band = 1.5;
    options.terms[0] = (tsr_flow_term){ .kind = TSR_FLOW_SPEED, .value = -0.1 };
    options.terms[1] = (tsr_flow_term){ .kind = TSR_FLOW_CURVATURE, .value = 0.5 };
    options.term_count = 2;
    options.fused = 1;
    TSR_TRY(tsr_tiles_shape(b->context, NULL, &list, &(tsr_shape){ .kind = TSR_SHAPE_SPHERE, .radius = radius }, &tiles));
    TSR_TRY_GOTO(tsr_levelset_create(tiles, &options, &solver), done);
    TSR_TRY_GOTO(tsr_levelset_step(solver, 4, NULL, &report), done);
    TSR_TRY_GOTO(step_for(b, solver, steps, &report), done);
    TSR_TRY_GOTO(tsr_tiles_describe(tiles, &info), done);
    const double step = report.seconds / (double)report.steps;
    const int two = info.count < 10000000;
    snprintf(name, sizeof name, "%s, %.1f M tiles of 4^3, first order", two ? "large" : "huge", 1e-6 * (double)info.count);
    bench_report(b, &(bench_case){ .name = name,
                                   .n = info.count,
                                   .time = { step, step, step, 1 },
                                   .bytes = (8.0 * 64 + 144) * (double)info.count,
                                   .bar = two ? "at most 2 ms a step" : "at most 60 GB",
                                   .holds = two ? step <= 2e-3 : info.device_bytes <= 60000000000 });
    printf("    %.2f GB, %.0f bytes a tile\n", 1e-9 * (double)info.device_bytes, (double)info.device_bytes / (double)info.count);
    status = TSR_OK;
done:
    tsr_levelset_destroy(&solver);
    tsr_tiles_destroy(&tiles);
    return status;
}

/* The active voxels of a sphere in a band of 3, one step to their neighbours: bits alone. */
struct widen {
    tsr_context *context;
    tsr_topology *from;
    int32_t neighbours;
};
static tsr_status widen(void *user)
{
    const struct widen *w = (const struct widen *)user;
    tsr_topology *to = NULL;
    tsr_status status = tsr_topology_dilate(w->context, w->from, 1, w->neighbours, &to);
    tsr_topology_destroy(&to);
    return status;
}
static tsr_status topologies(bench *b, int gpu)
{
    struct widen w = { .context = b->context };
    tsr_tiles *tiles = NULL;
    tsr_topology *host = NULL, *to = NULL;
    tsr_status status;
    TSR_TRY(shape(b, 3, (tsr_shape){ .kind = TSR_SHAPE_SPHERE, .radius = b->quick ? 40 : gpu ? 772 : 200 }, &tiles));
    TSR_TRY_GOTO(tsr_topology_of_tiles(tiles, &host), done);
    TSR_TRY_GOTO(tsr_topology_copy(host, b->context, &w.from), done);
    for (w.neighbours = 6; w.neighbours <= 26; w.neighbours += 20) {
        tsr_topology_info before, after;
        char name[96];
        TSR_TRY_GOTO(tsr_topology_dilate(b->context, w.from, 1, w.neighbours, &to), done);
        tsr_topology_describe(w.from, &before);
        tsr_topology_describe(to, &after);
        tsr_topology_destroy(&to);
        snprintf(name, sizeof name, "topology, %d neighbours: to %.1f M voxels in %.2f M tiles", w.neighbours, 1e-6 * (double)after.voxels,
                 1e-6 * (double)after.tiles);
        const bench_time t = bench_measure(b, widen, &w, NULL);
        bench_report(b, &(bench_case){ .name = name,
                                       .n = after.voxels,
                                       .time = t,
                                       .bytes = 72.0 * (double)(before.tiles + after.tiles),
                                       .bar = gpu && !b->quick ? "57 M voxels: at most 0.4 ms" : NULL,
                                       .holds = t.runs && t.median <= 0.4e-3 });
    }
    status = TSR_OK;
done:
    tsr_topology_destroy(&w.from);
    tsr_topology_destroy(&host);
    tsr_tiles_destroy(&tiles);
    return status;
}

static int wants_size(const bench *b, const char *experiment, int64_t n)
{
    char name[40];
    snprintf(name, sizeof name, "%s %lld", experiment, (long long)n);
    return bench_wants(b, name);
}

/* The experiments of the sources; what else bench_flow times has names of its own, too. */
static int known(const char *name)
{
    static const char *const names[] = {
        "sphere-collapse", "spiral-volume", "lucy-collapse", "lucy-weno", "overheads", "enright",   "enright-reinit", "sheet",
        "dragon-collapse", "edit-dragon",   "thai",          "lucy",      "armadillo", "angel",     "curvature",      "renormalise",
        "storage",         "large",         "topology",      "dilate",    "keys",      "tile-sizes"
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(names[i], name)) return 1;
    fprintf(stderr, "bench flow: no experiment '%s'; there are", name);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) fprintf(stderr, " %s", names[i]);
    fprintf(stderr, "\n");
    return 0;
}

int main(int argc, char **argv)
{
    bench b;
    double share = 0; /* of the collapse at first order, for that by WENO */
    tsr_status status = TSR_OK;
    if (!bench_begin(&b, argc, argv, "flow")) return 2;
    if (b.experiment && !known(b.experiment)) {
        bench_end(&b);
        return 2;
    }
    const int gpu = tsr_context_device(b.context).kind == TSR_DEVICE_CUDA;
    if (bench_wants(&b, "sphere-collapse")) TSR_TRY_GOTO(sphere_collapse(&b, gpu, 0), done);
    if (bench_wants(&b, "sphere-collapse") && gpu) TSR_TRY_GOTO(sphere_collapse(&b, gpu, -1), done);
    if (bench_wants(&b, "spiral-volume")) TSR_TRY_GOTO(spiral_volume(&b), done);
    if (bench_wants(&b, "lucy-collapse") && (!b.quick || b.experiment)) TSR_TRY_GOTO(lucy_collapse(&b, gpu, 0, gpu, &share), done);
    if (bench_wants(&b, "lucy-collapse") && gpu) TSR_TRY_GOTO(lucy_collapse(&b, gpu, 0, 0, &share), done);
    if (bench_wants(&b, "lucy-collapse") && gpu) TSR_TRY_GOTO(management_share(&b), done);
    if (bench_wants(&b, "lucy-weno") && (!b.quick || b.experiment)) TSR_TRY_GOTO(lucy_collapse(&b, gpu, 1, gpu, &share), done);
    if (bench_wants(&b, "lucy-weno") && gpu) TSR_TRY_GOTO(lucy_collapse(&b, gpu, 1, 0, &share), done);
    if (bench_wants(&b, "curvature")) {
        TSR_TRY_GOTO(curvature_peer(&b, gpu, 1), done);
        TSR_TRY_GOTO(curvature_peer(&b, gpu, 3), done);
    }
    if (bench_wants(&b, "threads") && !gpu && sysconf(_SC_NPROCESSORS_ONLN) > 1) TSR_TRY_GOTO(two_threads(&b), done);
    if (b.only && bench_wants(&b, "tile-sizes")) TSR_TRY_GOTO(tile_sizes(&b, gpu), done);
    if (b.only && bench_wants(&b, "overheads")) TSR_TRY_GOTO(overheads(&b, gpu), done);
    if (b.only && bench_wants(&b, "enright-reinit"))
        TSR_TRY_GOTO(enright_reinit(&b, b.quick ? 64 : gpu ? 512 : 128, b.quick ? 0.4 : gpu ? 1.1 : 0.77), done);
    if (bench_wants(&b, "renormalise")) TSR_TRY_GOTO(renormalise_peer(&b), done);
    if (bench_wants(&b, "keys")) TSR_TRY_GOTO(keys(&b, gpu), done);
    if (bench_wants(&b, "storage")) TSR_TRY_GOTO(storages(&b, gpu), done);
    if (gpu && !b.quick && bench_wants(&b, "large")) TSR_TRY_GOTO(large(&b, 1029, 500), done);
    if (gpu && b.only && bench_wants(&b, "huge, 36 M tiles")) TSR_TRY_GOTO(large(&b, 4160, 20), done);
    if (bench_wants(&b, "topology")) TSR_TRY_GOTO(topologies(&b, gpu), done);
    if (bench_wants(&b, "dilate")) {
        TSR_TRY_GOTO(dilate_peer(&b, TSR_STENCIL_GODUNOV), done);
        TSR_TRY_GOTO(dilate_peer(&b, TSR_STENCIL_ENO2), done);
    }
    const double last[] = { 0.77, 1.1, 1.55, 2.05 }; /* spec levelset-stl.md 4.5 */
    for (int i = 0; i < (b.quick ? 0 : gpu ? 4 : 1); i++)
        if (wants_size(&b, "sheet", 128 << i)) TSR_TRY_GOTO(sheet(&b, 128 << i, last[i]), done);
    if (b.quick && b.experiment && wants_size(&b, "sheet", 64)) TSR_TRY_GOTO(sheet(&b, 64, 0.5), done);
    for (int64_t n = 64; n <= (b.quick ? 64 : gpu ? 1024 : 128); n *= 2)
        if (wants_size(&b, "enright", n)) TSR_TRY_GOTO(enright(&b, n, 1.5, gpu), done);
    TSR_TRY_GOTO(bench_experiments(&b, gpu), done);
done:
    if (status != TSR_OK) fprintf(stderr, "bench flow: %s\n", tsr_error_trace());
    return bench_end(&b) || status != TSR_OK;
}
