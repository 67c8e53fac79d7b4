/* Rows of bench_flow of the periodic deformation: there and back beside OpenVDB, thin sheets, a sweep of reinitialisation a step. */
#include "flow.h"

/* The sphere of the periodic deformation in n^3, in a band of so many voxels, and the options of its motion: HJ-WENO5 and RK3. */
static tsr_status deformation(bench *b, int64_t n, double band, double period, tsr_levelset_options *options, tsr_tiles **tiles)
{
    const double at = 0.35 * (double)n;
    options->terms[0] = (tsr_levelset_term){ .kind = TSR_LEVELSET_ENRIGHT, .value = 1, .radius = (double)n, .period = period };
    options->term_count = 1;
    options->space = TSR_STENCIL_WENO5;
    options->time = TSR_TIME_RK3;
    options->fused = 1;
    options->sign = TSR_SIGN_SUBCELL;           /* the smooth one moves the surface a little in every stage */
    options->reshape_weight = 0.25 * (double)n; /* voxels per unit of time: the flow crosses the cube in about one */
    return flow_shape(b, band, (tsr_shape){ .kind = TSR_SHAPE_SPHERE, .centre = { at, at, at }, .radius = 0.15 * (double)n }, tiles);
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
    tsr_tiles_info info = TSR_TILES_INFO;
    tsr_status status;
    f->before = f->after = (tsr_tiles_measures)TSR_TILES_MEASURES;
    f->report = (tsr_levelset_report)TSR_LEVELSET_REPORT;
    TSR_TRY_GOTO(tsr_tiles_measure(tiles, &f->before), done);
    TSR_TRY_GOTO(tsr_levelset_create(tiles, options, &solver), done);
    TSR_TRY_GOTO(flow_advance(b, solver, duration, &f->report), done);
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

/* Is the sheet whole, in one piece and with its volume, when that of [Laan11] breaks? */
tsr_status flow_sheet(bench *b, int64_t n, double duration)
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

/* The deformation as the journal paper runs it: a band of 5, one sweep of reinitialisation a step, stopped on the way (docs/theory/levelset.md 8). */
tsr_status flow_enright_reinit(bench *b, int64_t n, double duration)
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
tsr_status flow_enright(bench *b, int64_t n, double period, int gpu)
{
    tsr_levelset_options options = TSR_LEVELSET_OPTIONS;
    struct flight f = { 0 };
    tsr_tiles *tiles = NULL;
    char name[64], arguments[64];
    TSR_TRY(deformation(b, n, 3, period, &options, &tiles));
    TSR_TRY(fly(b, tiles, &options, period, &f));
    snprintf(name, sizeof name, "enright %lld^3, period %g", (long long)n, period);
    snprintf(arguments, sizeof arguments, "enright %lld %g", (long long)n, period);
    const struct flow_peer p = n <= 256 ? flow_openvdb(b, arguments) : (struct flow_peer){ 0 };
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
