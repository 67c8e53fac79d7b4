/* bench_flow: the experiments of [Laan11] and [Jalba13] on moving level sets, by name (--experiment NAME; also bench_levelset --experiment NAME), with their numbers beside ours.
 *
 *   sphere-collapse   radius 64 in 256^3 under mean curvature (half of K), fixed step 0.3, until it vanishes        docs/theory/levelset.md 8
 *   spiral-volume     extruded spiral in 128^3 under volume-conserving curvature flow, 1000 steps, WENO5 + RK3        4.2
 *   lucy-collapse     stand-in of the 1024^3 statue: sphere with six octaves of bumps, speed -0.1, curvature 1        4.6
 *   lucy-weno         the same by HJ-WENO5 and RK3
 *   overheads         (by name only) its steps with a sweep of reinitialisation instead of the term, and in a band of 3        4.7
 *   curvature         a sphere of radius 128 under mean curvature, first order, one or three sweeps of reinitialisation a step, beside OpenVDB
 *   renormalise       three sweeps of WENO5 reinitialisation of the same sphere, beside OpenVDB
 *   dilate            a sphere of radius 64 moved outwards by 8 voxels, first order and ENO2, beside OpenVDB: time, and the volume against the exact one
 *   threads           the sphere of curvature by one thread and by two, by turns, on the clock of the wall (CPU)
 *   tile-sizes        (by name only) spiral-volume, sphere-collapse and lucy-collapse by the method of [Laan11 6], a voxel at a time, in tiles of 3^3, 4^3, 8^3 (CPU)        4.2, 4.3, 4.6
 *   storage           a sphere of radius 100 under mean curvature, the field in float32 and in 16 bits
 *   keys              steps of lucy-collapse with keys of 64 and of 32 bits, by turns: the step, the management of the list in it, the bytes of a tile
 *   large, huge       (the second by name only) a sphere of about 2.2 and 36 million tiles of 4^3 under speed and curvature, first order: time of a step, memory (GPU)
 *   topology          the active set of a sphere (a GPU: 57 million voxels) dilated by one voxel
 *   sheet             the deformation of period 5 up to the time that [Laan11 6.5.4] says is the last before thin sheets break, 128^3 (a GPU: to 1024^3)     4.5
 *   enright           the periodic deformation, half way and back, at 64^3 to 512^3 (a GPU: 1024^3), beside OpenVDB up to 256^3       4.4, 4.5
 *   enright-reinit    (by name only) the way there in a band of 5 with a sweep of reinitialisation a step        docs/theory/levelset.md 8
 *   thai, lucy, armadillo, angel, dragon-collapse, edit-dragon      (by name only) bench/experiments.c
 *
 * Bytes: phi read and written once per stored voxel and pass, and the list's rows. Full runs take the time of the experiment: on the CPU the longest
 * ones (sphere-collapse, lucy-weno) are timed over their first steps, when the list is largest, and the time of the whole is said to be that of as many such steps as the
 * sources took: no less than it is, for the list shrinks. */
#include <math.h>
#include <stdlib.h>

#include "flow.h"

/* So many steps, timed by the clock of the bench. */
tsr_status flow_step(bench *b, tsr_levelset *solver, int64_t steps, tsr_levelset_report *report)
{
    const double began = bench_clock(b->clock);
    TSR_TRY(tsr_levelset_step(solver, steps, NULL, report));
    report->seconds = bench_clock(b->clock) - began;
    return TSR_OK;
}
tsr_status flow_advance(bench *b, tsr_levelset *solver, double duration, tsr_levelset_report *report)
{
    const double began = bench_clock(b->clock);
    TSR_TRY(tsr_levelset_advance(solver, duration, NULL, report));
    report->seconds = bench_clock(b->clock) - began;
    return TSR_OK;
}

tsr_status flow_shape(bench *b, double band, tsr_shape s, tsr_tiles **tiles)
{
    tsr_tiles_options options = TSR_TILES_OPTIONS;
    options.band = band;
    return tsr_tiles_shape(b->context, NULL, &options, &s, tiles);
}

struct run {
    bench *b;
    const char *name;
    tsr_tiles *tiles;
    tsr_levelset_options options;
    int64_t steps;   /* to time */
    int64_t whole;   /* published steps; 0: not known */
    const char *all; /* "NAME in all": what published rows of the whole run stand under; NULL: none */
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
        TSR_TRY(flow_step(r->b, solver, r->steps * (part + 1) / parts - r->steps * part / parts, report));
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
    tsr_levelset_report first = TSR_LEVELSET_REPORT, report = TSR_LEVELSET_REPORT;
    tsr_tiles_info info = TSR_TILES_INFO;
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
    if (r->all) bench_published(r->b, r->all, seconds, report.active_voxels);
    if (report.empty) printf("    vanished after %lld steps\n", (long long)(first.steps + report.steps));
    status = TSR_OK;
done:
    tsr_levelset_destroy(&solver);
    return status;
}

/* `persistent`: as the option of that name. */
static tsr_status sphere_collapse(bench *b, int gpu, int persistent)
{
    struct run r = { b,
                     persistent < 0 ? "sphere-collapse, first order, launches" : "sphere-collapse, first order",
                     .options = TSR_LEVELSET_OPTIONS,
                     .steps = gpu ? 6500 : 400,
                     .whole = 6500,
                     .all = "sphere-collapse in all" };
    TSR_TRY(flow_shape(b, 1.5, (tsr_shape){ .kind = TSR_SHAPE_SPHERE, .centre = { 128, 128, 128 }, .radius = 64 }, &r.tiles));
    r.options.terms[0] = (tsr_levelset_term){ .kind = TSR_LEVELSET_CURVATURE, .value = 0.5 };
    r.options.term_count = 1;
    r.options.time_step = 0.3;
    r.options.persistent = persistent;
    tsr_status status = measure(&r);
    tsr_tiles_destroy(&r.tiles);
    return status;
}

static tsr_status spiral_volume(bench *b)
{
    struct run r = { b,
                     "spiral-volume, WENO5 + RK3",
                     .options = TSR_LEVELSET_OPTIONS,
                     .steps = 1000,
                     .whole = 1000,
                     .all = "spiral-volume in all",
                     .bar = "at most 8 s on the CPU",
                     .bar_s = 8 };
    TSR_TRY(bench_from_rule(b, 128, 3, bench_spiral, &r.tiles));
    r.options.terms[0] = (tsr_levelset_term){ .kind = TSR_LEVELSET_CURVATURE, .value = 0.5 };
    r.options.terms[1] = (tsr_levelset_term){ .kind = TSR_LEVELSET_MEAN_CURVATURE, .value = 0.5 };
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
    struct run r = { b,
                     weno ? (fused ? "lucy-collapse, WENO5 + RK3" : "lucy-collapse, WENO5 + RK3, exact")
                          : (fused ? "lucy-collapse, first order" : "lucy-collapse, first order, exact"),
                     .options = TSR_LEVELSET_OPTIONS, .whole = 5830 };
    r.options.fused = fused;
    r.steps = gpu && weno ? 2000 : weno ? (b->quick ? 2 : 20) : b->quick ? 20 : 5830;
    r.all = weno ? "lucy-weno in all" : "lucy-collapse in all";
    r.bar = gpu ? (weno ? "at most 0.75 ms a step" : "at most 60 us a step") : weno ? "at most 1000 s on a core" : "at most 60 s on a core";
    r.bar_step = gpu ? (weno ? 0.75e-3 : 60e-6) : 0;
    r.bar_s = gpu ? 0 : weno ? 1000 : 60;
    TSR_TRY(bench_from_rule(b, 512, weno ? 3 : 1.5, bench_bumps, &r.tiles));
    r.options.terms[0] = (tsr_levelset_term){ .kind = TSR_LEVELSET_SPEED, .value = -0.1 };
    r.options.terms[1] = (tsr_levelset_term){ .kind = TSR_LEVELSET_CURVATURE, .value = 0.5 };
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

/* bench/tile_sizes.c, and how many voxels a second OpenVDB moves in the same minutes. */
static tsr_status tile_sizes(bench *b, int gpu)
{
    TSR_TRY(bench_tile_sizes(b));
    const struct flow_peer p = gpu ? (struct flow_peer){ 0 } : flow_openvdb(b, "curvature 64 1");
    if (p.there)
        printf("    OpenVDB, LevelSetFilter::meanCurvature with one sweep, sphere of radius 64 in a band of 3: %.2f M active voxels/s\n",
               1e-6 * (double)p.before * p.steps / p.seconds);
    return TSR_OK;
}

/* What a step of lucy-collapse takes with one sweep of reinitialisation instead of the term, and in a band of 3; of the sweep in steps of fifth order, too, for
 * the publication does not say which of the two it timed (docs/theory/levelset.md 8). */
static tsr_status overheads(bench *b, int gpu)
{
    static const struct {
        const char *name;
        int weno, sweep;
        double band;
    } rows[] = { { "overheads: the term, band 1.5", 0, 0, 1.5 },
                 { "overheads: one sweep a step", 0, 1, 1.5 },
                 { "overheads: band 3", 0, 0, 3 },
                 { "overheads, fifth order: the term, band 3", 1, 0, 3 },
                 { "overheads, fifth order: one sweep a step", 1, 1, 3 } };
    double step[5] = { 0 };
    for (int i = 0; i < 5; i++) {
        tsr_levelset_options options = TSR_LEVELSET_OPTIONS;
        tsr_levelset_report report = TSR_LEVELSET_REPORT;
        tsr_tiles *tiles = NULL;
        tsr_levelset *solver = NULL;
        const int weno = rows[i].weno;
        options.terms[0] = (tsr_levelset_term){ .kind = TSR_LEVELSET_SPEED, .value = -0.1 };
        options.terms[1] = (tsr_levelset_term){ .kind = TSR_LEVELSET_CURVATURE, .value = 0.5 };
        options.term_count = 2;
        options.space = weno ? TSR_STENCIL_WENO5 : TSR_STENCIL_UPWIND;
        options.time = weno ? TSR_TIME_RK3 : TSR_TIME_EULER;
        options.time_step = 0.3;
        options.fused = gpu;
        options.reshape = rows[i].sweep ? TSR_RESHAPE_REINIT : TSR_RESHAPE_TERM;
        TSR_TRY(bench_from_rule(b, b->quick ? 256 : 512, rows[i].band, bench_bumps, &tiles));
        tsr_status status = tsr_levelset_create(tiles, &options, &solver);
        if (status == TSR_OK) status = tsr_levelset_step(solver, 4, NULL, &report);
        if (status == TSR_OK) status = flow_step(b, solver, b->quick ? 4 : gpu ? 1000 : weno ? 12 : 100, &report);
        tsr_levelset_destroy(&solver);
        tsr_tiles_destroy(&tiles);
        TSR_TRY(status);
        step[i] = report.seconds / (double)report.steps;
        bench_report(b, &(bench_case){ .name = rows[i].name, .n = report.active_voxels, .time = { step[i], step[i], step[i], 1 } });
    }
    printf("    source: a sweep a step +17 %%, band 3 +15 %%; here %+.0f %% (fifth order in three stages: %+.0f %%) and %+.0f %%\n",
           100 * (step[1] / step[0] - 1), 100 * (step[4] / step[3] - 1), 100 * (step[2] / step[0] - 1));
    return TSR_OK;
}

static int wants_size(const bench *b, const char *experiment, int64_t n)
{
    char name[40];
    snprintf(name, sizeof name, "%s %lld", experiment, (long long)n);
    return bench_wants(b, name);
}

/* The published experiments; what else bench_flow times has names of its own, too. */
static int known(const char *name)
{
    static const char *const names[] = {
        "sphere-collapse", "spiral-volume", "lucy-collapse", "lucy-weno", "overheads", "enright",    "enright-reinit", "sheet",
        "dragon-collapse", "edit-dragon",   "thai",          "lucy",      "armadillo", "angel",      "curvature",      "renormalise",
        "storage",         "large",         "topology",      "dilate",    "keys",      "tile-sizes", "paging"
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
    if (bench_wants(&b, "lucy-collapse") && gpu) TSR_TRY_GOTO(flow_management_share(&b), done);
    if (bench_wants(&b, "lucy-weno") && (!b.quick || b.experiment)) TSR_TRY_GOTO(lucy_collapse(&b, gpu, 1, gpu, &share), done);
    if (bench_wants(&b, "lucy-weno") && gpu) TSR_TRY_GOTO(lucy_collapse(&b, gpu, 1, 0, &share), done);
    if (bench_wants(&b, "curvature")) {
        TSR_TRY_GOTO(flow_curvature_peer(&b, gpu, 1), done);
        TSR_TRY_GOTO(flow_curvature_peer(&b, gpu, 3), done);
    }
    if (bench_wants(&b, "threads") && !gpu && sysconf(_SC_NPROCESSORS_ONLN) > 1) TSR_TRY_GOTO(flow_two_threads(&b), done);
    if (b.only && bench_wants(&b, "tile-sizes")) TSR_TRY_GOTO(tile_sizes(&b, gpu), done);
    if (b.only && bench_wants(&b, "paging")) TSR_TRY_GOTO(flow_paging(&b, gpu), done);
    if (b.only && bench_wants(&b, "overheads")) TSR_TRY_GOTO(overheads(&b, gpu), done);
    if (b.only && bench_wants(&b, "enright-reinit")) { /* as far as the sheet holds, and there and back in twice that time */
        const double far = b.quick ? 0.4 : gpu ? 1.55 : 0.77;
        TSR_TRY_GOTO(flow_enright_reinit(&b, b.quick ? 64 : gpu ? 512 : 128, b.quick || !gpu ? far : 1.1), done);
        TSR_TRY_GOTO(flow_enright(&b, b.quick ? 64 : gpu ? 512 : 128, 2 * far, gpu), done);
    }
    if (bench_wants(&b, "renormalise")) TSR_TRY_GOTO(flow_renormalise_peer(&b), done);
    if (bench_wants(&b, "keys")) TSR_TRY_GOTO(flow_keys(&b, gpu), done);
    if (bench_wants(&b, "storage")) TSR_TRY_GOTO(flow_storages(&b, gpu), done);
    if (gpu && !b.quick && bench_wants(&b, "large")) TSR_TRY_GOTO(flow_large(&b, 1029, 500), done);
    if (gpu && b.only && bench_wants(&b, "huge, 36 M tiles")) TSR_TRY_GOTO(flow_large(&b, 4160, 20), done);
    if (bench_wants(&b, "topology")) TSR_TRY_GOTO(flow_topologies(&b, gpu), done);
    if (bench_wants(&b, "dilate")) {
        TSR_TRY_GOTO(flow_dilate_peer(&b, TSR_STENCIL_GODUNOV), done);
        TSR_TRY_GOTO(flow_dilate_peer(&b, TSR_STENCIL_ENO2), done);
    }
    const double last[] = { 0.77, 1.1, 1.55, 2.05 }; /* docs/theory/levelset.md 7 */
    for (int i = 0; i < (b.quick ? 0 : gpu ? 4 : 1); i++)
        if (wants_size(&b, "sheet", 128 << i)) TSR_TRY_GOTO(flow_sheet(&b, 128 << i, last[i]), done);
    if (b.quick && b.experiment && wants_size(&b, "sheet", 64)) TSR_TRY_GOTO(flow_sheet(&b, 64, 0.5), done);
    for (int64_t n = 64; n <= (b.quick ? 64 : gpu ? 1024 : 128); n *= 2)
        if (wants_size(&b, "enright", n)) TSR_TRY_GOTO(flow_enright(&b, n, 1.5, gpu), done);
    TSR_TRY_GOTO(bench_experiments(&b, gpu), done);
done:
    if (status != TSR_OK) fprintf(stderr, "bench flow: %s\n", tsr_error_trace());
    return bench_end_with(&b, status != TSR_OK);
}
