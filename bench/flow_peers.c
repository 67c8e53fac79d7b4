/* Rows of bench_flow beside OpenVDB, whose share a program of its own does, and those of one thread and two. */
#include <math.h>

#include "flow.h"

struct flow_peer flow_openvdb(const bench *b, const char *arguments)
{
    struct flow_peer p = { 0 };
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

/* A sphere under mean curvature, first order, in a band of 3 voxels, the field kept a distance by so many sweeps a step, and the list managed: voxels in
 * the band moved per second. */
tsr_status flow_curvature_peer(bench *b, int gpu, int32_t sweeps)
{
    char name[80], arguments[64];
    const int64_t steps = gpu ? 2000 : 4;
    tsr_levelset_options options = TSR_LEVELSET_OPTIONS;
    tsr_tiles *tiles = NULL;
    tsr_levelset *solver = NULL;
    tsr_levelset_report report = TSR_LEVELSET_REPORT;
    tsr_tiles_info info = TSR_TILES_INFO;
    const double radius = b->quick ? 32 : 128;
    snprintf(name, sizeof name, "curvature, band of 3, first order, %d sweep%s", (int)sweeps, sweeps > 1 ? "s" : "");
    TSR_TRY(flow_shape(b, 3, (tsr_shape){ .kind = TSR_SHAPE_SPHERE, .radius = radius }, &tiles));
    options.terms[0] = (tsr_levelset_term){ .kind = TSR_LEVELSET_CURVATURE, .value = 0.5 };
    options.term_count = 1;
    options.reshape = TSR_RESHAPE_REINIT;
    options.reshape_sweeps = sweeps;
    options.reshape_step = 0.3;
    options.space = TSR_STENCIL_GODUNOV;
    tsr_status status = tsr_tiles_describe(tiles, &info);
    if (status == TSR_OK) status = tsr_levelset_create(tiles, &options, &solver);
    if (status == TSR_OK) status = tsr_levelset_step(solver, 4, NULL, &report);
    double step = HUGE_VAL; /* the shortest, as the peer's */
    for (int i = 0; i < (gpu ? 1 : 20) && status == TSR_OK; i++) {
        status = flow_step(b, solver, steps, &report);
        step = fmin(step, report.seconds / (double)steps);
    }
    tsr_levelset_destroy(&solver);
    tsr_tiles_destroy(&tiles);
    TSR_TRY(status);
    snprintf(arguments, sizeof arguments, "curvature %g %d", radius, (int)sweeps);
    const struct flow_peer p = flow_openvdb(b, arguments);
    const double theirs = p.seconds / fmax(p.steps, 1);
    bench_case row = { .name = name, .n = info.active_voxels, .time = { step, step, step, 1 } };
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
tsr_status flow_two_threads(bench *b)
{
    enum { RUNS = 12, STEPS = 4 };
    tsr_levelset_options options = TSR_LEVELSET_OPTIONS;
    tsr_tiles_options list = TSR_TILES_OPTIONS;
    tsr_context *context[2] = { NULL, NULL };
    tsr_tiles *tiles[2] = { NULL, NULL };
    tsr_levelset *solver[2] = { NULL, NULL };
    tsr_levelset_report report = TSR_LEVELSET_REPORT;
    double step[2] = { HUGE_VAL, HUGE_VAL };
    tsr_status status;
    options.terms[0] = (tsr_levelset_term){ .kind = TSR_LEVELSET_CURVATURE, .value = 0.5 };
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
tsr_status flow_renormalise_peer(bench *b)
{
    struct renormalising r = { NULL, 3 };
    tsr_tiles_info info = TSR_TILES_INFO;
    const double radius = b->quick ? 32 : 128;
    char arguments[64];
    TSR_TRY(flow_shape(b, 3, (tsr_shape){ .kind = TSR_SHAPE_SPHERE, .radius = radius }, &r.tiles));
    tsr_status status = tsr_tiles_describe(r.tiles, &info);
    const bench_time t = status == TSR_OK ? bench_measure(b, renormalise, &r, NULL) : (bench_time){ 0 };
    tsr_tiles_destroy(&r.tiles);
    TSR_TRY(status);
    snprintf(arguments, sizeof arguments, "renormalise %g %d", radius, (int)r.sweeps);
    const struct flow_peer p = flow_openvdb(b, arguments);
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
tsr_status flow_dilate_peer(bench *b, tsr_stencil space)
{
    const double radius = b->quick ? 24 : 64, distance = 8, pi = 3.14159265358979323846;
    tsr_levelset_options options = TSR_LEVELSET_OPTIONS;
    tsr_levelset_report report = TSR_LEVELSET_REPORT;
    tsr_tiles_measures after = TSR_TILES_MEASURES;
    tsr_status status = TSR_OK;
    char name[80], arguments[64];
    double seconds = HUGE_VAL;
    options.terms[0] = (tsr_levelset_term){ .kind = TSR_LEVELSET_SPEED, .value = 1 };
    options.term_count = 1;
    options.space = space;
    options.reshape = TSR_RESHAPE_REINIT;
    options.sign = TSR_SIGN_SUBCELL; /* the sweeps leave the surface where the step has put it */
    for (int i = 0; i < 5 && status == TSR_OK; i++) {
        tsr_tiles *tiles = NULL;
        tsr_levelset *solver = NULL;
        status = flow_shape(b, 3, (tsr_shape){ .kind = TSR_SHAPE_SPHERE, .radius = radius }, &tiles);
        if (status == TSR_OK) status = tsr_levelset_create(tiles, &options, &solver);
        if (status == TSR_OK) status = flow_advance(b, solver, distance, &report);
        if (status == TSR_OK) status = tsr_tiles_measure(tiles, &after);
        tsr_levelset_destroy(&solver);
        tsr_tiles_destroy(&tiles);
        seconds = fmin(seconds, report.seconds);
    }
    TSR_TRY(status);
    snprintf(name, sizeof name, "dilate a sphere of radius %g by %g, %s", radius, distance, space == TSR_STENCIL_ENO2 ? "ENO2" : "first order");
    snprintf(arguments, sizeof arguments, "dilate %g %g", radius, distance);
    const struct flow_peer p = flow_openvdb(b, arguments);
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
