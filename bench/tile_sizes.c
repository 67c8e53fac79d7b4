/* tile-sizes: the method of [Laan11 6], one voxel at a time, with tiles of 3^3, 4^3 and 8^3 (tests/solver/source), beside the library's lists of 4^3 and
 * 8^3 on the same fields: what Tables 6.2 and 7.1 of [Laan11] compare (docs/theory/tiles.md 10). One thread of a CPU. */
#include "experiments.h"

#include "../tests/solver/source/stl.h"

/* A motion for all, from the same dense field. */
struct contest {
    const char *name;
    bench_field rule;
    int64_t n;
    double band;
    int64_t turns, steps, whole; /* timed: turns of so many steps; steps of the published run */
    tsr_levelset_options options;
    source_motion motion;
    double table[2]; /* seconds in [Laan11] with tiles of 3^3 and 4^3; 0: not given */
};

/* One that takes part: the method of [Laan11 6], or the library. */
enum { PLAIN = 3, ENTRANTS = 5 };
struct entrant {
    int32_t edge;
    source_stl *source;
    tsr_tiles *tiles;
    tsr_levelset *solver;
    int64_t count, active, bytes;
    double step; /* the shortest of the turns */
};

static double sphere_rule(double x, double y, double z) { return sqrt((x - 128) * (x - 128) + (y - 128) * (y - 128) + (z - 128) * (z - 128)) - 64; }

/* The dense field of a contest, made a distance by the library, which both begin with. */
static tsr_status dense_of(bench *b, const struct contest *c, tsr_volume **field)
{
    const int64_t first[3] = { 0, 0, 0 };
    tsr_tiles *tiles = NULL;
    TSR_TRY(bench_from_rule(b, c->n, c->band, c->rule, &tiles));
    tsr_status status = tsr_volume_create(b->context, TSR_F32, (tsr_size3){ c->n, c->n, c->n }, NULL, field);
    if (status == TSR_OK) status = tsr_tiles_store_box(tiles, first, *field);
    tsr_tiles_destroy(&tiles);
    return status;
}

static void report(bench *b, const struct contest *c, const struct entrant *e, double table)
{
    char name[96];
    const int64_t voxels = e->count * e->edge * e->edge * e->edge, steps = c->turns * c->steps;
    snprintf(name, sizeof name, "tile-sizes %s, %s %d^3", c->name, e->source ? "a voxel at a time" : "tessera", (int)e->edge);
    bench_report(
        b, &(bench_case){ .name = name, .n = e->active, .time = { e->step, e->step, e->step, 1 }, .bytes = c->motion.stages * 8.0 * (double)voxels });
    printf("    %lld tiles, %.2f voxels stored and %.1f bytes for each of %.3f M active voxels; %.1f ns a stored voxel, %.2f M active voxels/s; ",
           (long long)e->count, (double)voxels / (double)e->active, (double)e->bytes / (double)e->active, 1e-6 * (double)e->active,
           1e9 * e->step / (double)voxels, 1e-6 * (double)e->active / e->step);
    printf("%lld steps as the best of the first %lld: %.1f s", (long long)c->whole, (long long)steps, e->step * (double)c->whole);
    if (table > 0) printf(" (source, one core of a Core 2: %.0f)", table);
    printf("\n");
}

/* The list of a field, after a first step, which takes the memory that a list grows into. */
static tsr_status enter(bench *b, const struct contest *c, const tsr_volume *field, int plain, struct entrant *e)
{
    const int32_t n[3] = { (int32_t)c->n, (int32_t)c->n, (int32_t)c->n };
    tsr_tiles_options list = TSR_TILES_OPTIONS;
    tsr_levelset_report first = TSR_LEVELSET_REPORT;
    tsr_tiles_info info = TSR_TILES_INFO;
    if (plain) {
        e->source = source_create(e->edge, (float)c->band, 1, c->motion.stages, (const float *)tsr_volume_data_const(field), n);
        if (!e->source || !source_step(e->source, &c->motion, 1)) TSR_FAIL(TSR_ERROR_MEMORY, "no memory for the list of the published method");
        e->count = e->source->count;
        e->active = source_active(e->source);
        e->bytes = source_bytes(e->source);
        return TSR_OK;
    }
    list.edge = e->edge;
    list.band = c->band;
    TSR_TRY(tsr_tiles_create(b->context, NULL, &list, &e->tiles));
    TSR_TRY(tsr_tiles_load(e->tiles, field));
    TSR_TRY(tsr_levelset_create(e->tiles, &c->options, &e->solver));
    TSR_TRY(tsr_levelset_step(e->solver, 1, NULL, &first));
    TSR_TRY(tsr_tiles_describe(e->tiles, &info));
    e->count = info.count;
    e->active = info.active_voxels;
    e->bytes = (int64_t)((double)info.device_bytes * (double)info.count / (double)info.capacity);
    return TSR_OK;
}

static tsr_status turn(bench *b, const struct contest *c, struct entrant *e)
{
    tsr_levelset_report after = TSR_LEVELSET_REPORT;
    const double began = bench_clock(b->clock);
    if (e->solver) TSR_TRY(tsr_levelset_step(e->solver, c->steps, NULL, &after));
    for (int64_t i = 0; i < c->steps && e->source; i++)
        if (!source_step(e->source, &c->motion, 1)) TSR_FAIL(TSR_ERROR_MEMORY, "the list of the published method: %s", e->source->error);
    e->step = fmin(e->step, (bench_clock(b->clock) - began) / (double)c->steps);
    return TSR_OK;
}

static tsr_status contest(bench *b, const struct contest *c)
{
    static const int32_t edges[ENTRANTS] = { 3, 4, 8, 4, 8 };
    struct entrant all[ENTRANTS] = { { 0 } };
    tsr_volume *field = NULL;
    tsr_status status;
    TSR_TRY_GOTO(dense_of(b, c, &field), done);
    for (int i = 0; i < ENTRANTS; i++) {
        all[i].edge = edges[i];
        all[i].step = HUGE_VAL;
        TSR_TRY_GOTO(enter(b, c, field, i < PLAIN, &all[i]), done);
    }
    tsr_volume_destroy(&field);
    for (int64_t t = 0; t < c->turns * ENTRANTS; t++) TSR_TRY_GOTO(turn(b, c, &all[t % ENTRANTS]), done);
    for (int i = 0; i < ENTRANTS; i++) report(b, c, &all[i], i < 2 ? c->table[i] : 0);
    status = TSR_OK;
done:
    for (int i = 0; i < ENTRANTS; i++) {
        source_destroy(&all[i].source);
        tsr_levelset_destroy(&all[i].solver);
        tsr_tiles_destroy(&all[i].tiles);
    }
    tsr_volume_destroy(&field);
    return status;
}

tsr_status bench_tile_sizes(bench *b)
{
    /* Steps of 0.15 are within the bounds of both schemes. */
    struct contest contests[] = {
        { .name = "spiral",
          .rule = bench_spiral,
          .n = 128,
          .band = 3,
          .turns = 5,
          .steps = 4,
          .whole = 1000,
          .table = { 230, 240 },
          .motion = { .curvature = 0.5f, .mean = 0.5f, .feedback = 0.1f, .reshape = 1, .weno = 1, .stages = 3, .step = 0.15f } },
        { .name = "sphere",
          .rule = sphere_rule,
          .n = 256,
          .band = 1.5,
          .turns = 6,
          .steps = 10,
          .whole = 6500,
          .table = { 0, 429 },
          .motion = { .curvature = 0.5f, .reshape = 1, .stages = 1, .step = 0.15f } },
        { .name = "lucy",
          .rule = bench_bumps,
          .n = 512,
          .band = 1.5,
          .turns = 3,
          .steps = 2,
          .whole = 5830,
          .table = { 0, 1506 },
          .motion = { .speed = -0.1f, .curvature = 0.5f, .reshape = 1, .stages = 1, .step = 0.15f } },
    };
    tsr_status status = TSR_OK;
    if (tsr_context_device(b->context).kind != TSR_DEVICE_CPU) {
        printf("    tile-sizes compares CPUs: run it with --device cpu --threads 1\n");
        return TSR_OK;
    }
    for (int i = 0; i < (b->quick ? 2 : 3) && status == TSR_OK; i++) {
        struct contest *c = &contests[i];
        tsr_levelset_options *o = &c->options;
        if (b->quick) c->turns = c->steps = 1;
        o->struct_size = sizeof *o;
        o->time_step = (double)c->motion.step;
        o->terms[o->term_count++] = (tsr_levelset_term){ .kind = TSR_LEVELSET_CURVATURE, .value = (double)c->motion.curvature };
        if (c->motion.mean != 0) o->terms[o->term_count++] = (tsr_levelset_term){ .kind = TSR_LEVELSET_MEAN_CURVATURE, .value = (double)c->motion.mean };
        if (c->motion.speed != 0) o->terms[o->term_count++] = (tsr_levelset_term){ .kind = TSR_LEVELSET_SPEED, .value = (double)c->motion.speed };
        o->feedback = (double)c->motion.feedback;
        o->space = c->motion.weno ? TSR_STENCIL_WENO5 : TSR_STENCIL_UPWIND;
        o->time = c->motion.stages == 3 ? TSR_TIME_RK3 : TSR_TIME_EULER;
        status = contest(b, c);
    }
    return status;
}
