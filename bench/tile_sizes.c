/* tile-sizes: the source's own method, one voxel at a time, with tiles of 3^3, 4^3 and 8^3 (tests/levelset/source), beside the library's lists of 4^3 and
 * 8^3 on the same fields: what Tables 6.2 and 7.1 and section 4.3 of spec levelset-stl.md compare. One thread of a CPU. */
#include "experiments.h"

#include "../tests/levelset/source/stl.h"

/* A motion for both, from the same dense field. */
struct contest {
    const char *name;
    bench_field rule;
    int64_t n;
    double band;
    int64_t steps, whole; /* timed; of the source's run */
    tsr_levelset_options options;
    source_motion motion;
    double seconds_3, seconds_4; /* of the source's table; 0: not given */
};

struct outcome {
    int64_t tiles, voxels, active, bytes;
    double step;
};

static double sphere_rule(double x, double y, double z) { return sqrt((x - 128) * (x - 128) + (y - 128) * (y - 128) + (z - 128) * (z - 128)) - 64; }

static void report(bench *b, const struct contest *c, const char *who, int edge, double table, const struct outcome *o)
{
    char name[96];
    const double whole = o->step * (double)c->whole;
    snprintf(name, sizeof name, "tile-sizes %s, %s %d^3", c->name, who, edge);
    bench_report(b, &(bench_case){ .name = name,
                                   .n = o->active,
                                   .time = { o->step, o->step, o->step, 1 },
                                   .bytes = (c->motion.stages == 3 ? 3 : 1) * 8.0 * (double)o->voxels });
    printf("    %lld tiles, %.2f voxels stored and %.1f bytes for each of %.3f M active voxels; %.1f ns a stored voxel; %lld steps as the first "
           "%lld: %.1f s",
           (long long)o->tiles, (double)o->voxels / (double)o->active, (double)o->bytes / (double)o->active, 1e-6 * (double)o->active,
           1e9 * o->step / (double)o->voxels, (long long)c->whole, (long long)c->steps, whole);
    if (table > 0) printf(" (source, one core of a Core 2: %.0f)", table);
    printf("\n");
}

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

static int plain(bench *b, const struct contest *c, int edge, double table, const float *field)
{
    const int32_t n[3] = { (int32_t)c->n, (int32_t)c->n, (int32_t)c->n };
    source_stl *s = source_create(edge, (float)c->band, 1, c->motion.stages, field, n);
    struct outcome o = { 0 };
    if (!s) return 0;
    int ok = source_step(s, &c->motion, 1); /* memory for what grows */
    o.tiles = s->count;
    o.voxels = (int64_t)s->count * s->voxels;
    o.active = source_active(s);
    o.bytes = source_bytes(s);
    const double began = bench_clock(b->clock);
    for (int64_t i = 0; i < c->steps && ok; i++) ok = source_step(s, &c->motion, 1);
    o.step = (bench_clock(b->clock) - began) / (double)c->steps;
    if (ok) report(b, c, "plain", edge, table, &o);
    else fprintf(stderr, "bench flow: %s\n", s->error);
    source_destroy(&s);
    return ok;
}

static tsr_status ours(bench *b, const struct contest *c, int32_t edge, const tsr_volume *field)
{
    tsr_tiles_options list = TSR_TILES_OPTIONS;
    tsr_levelset_report steps = { 0 };
    tsr_tiles_info info;
    tsr_tiles *tiles = NULL;
    tsr_levelset *solver = NULL;
    tsr_status status;
    list.edge = edge;
    list.band = c->band;
    TSR_TRY(tsr_tiles_create(b->context, NULL, &list, &tiles));
    TSR_TRY_GOTO(tsr_tiles_load(tiles, field), done);
    TSR_TRY_GOTO(tsr_levelset_create(tiles, &c->options, &solver), done);
    TSR_TRY_GOTO(tsr_levelset_step(solver, 1, NULL, &steps), done);
    TSR_TRY_GOTO(tsr_tiles_describe(tiles, &info), done);
    const double began = bench_clock(b->clock);
    TSR_TRY_GOTO(tsr_levelset_step(solver, c->steps, NULL, &steps), done);
    const struct outcome o = { info.count, info.count * edge * edge * edge, info.active_voxels,
                               (int64_t)((double)info.device_bytes * (double)info.count / (double)info.capacity),
                               (bench_clock(b->clock) - began) / (double)c->steps };
    report(b, c, "tessera", (int)edge, 0, &o);
    status = TSR_OK;
done:
    tsr_levelset_destroy(&solver);
    tsr_tiles_destroy(&tiles);
    return status;
}

static tsr_status contest(bench *b, const struct contest *c)
{
    tsr_volume *field = NULL;
    tsr_status status = dense_of(b, c, &field);
    const float *values = status == TSR_OK ? (const float *)tsr_volume_data_const(field) : NULL;
    if (status == TSR_OK && !(plain(b, c, 3, c->seconds_3, values) && plain(b, c, 4, c->seconds_4, values) && plain(b, c, 8, 0, values)))
        status = TSR_ERROR_MEMORY;
    for (int32_t edge = 4; edge <= 8 && status == TSR_OK; edge += 4) status = ours(b, c, edge, field);
    tsr_volume_destroy(&field);
    return status;
}

tsr_status bench_tile_sizes(bench *b)
{
    struct contest contests[] = {
        { "spiral",
          bench_spiral,
          128,
          3,
          b->quick ? 1 : 20,
          1000,
          TSR_LEVELSET_OPTIONS,
          { .curvature = 0.5f, .mean = 0.5f, .feedback = 0.1f, .reshape = 1, .weno = 1, .stages = 3 },
          230,
          240 },
        { "sphere", sphere_rule, 256, 1.5, b->quick ? 4 : 60, 6500, TSR_LEVELSET_OPTIONS, { .curvature = 0.5f, .reshape = 1, .stages = 1 }, 0, 429 },
        { "lucy", bench_bumps, 512, 1.5, 6, 5830, TSR_LEVELSET_OPTIONS, { .speed = -0.1f, .curvature = 0.5f, .reshape = 1, .stages = 1 }, 0, 1506 },
    };
    tsr_status status = TSR_OK;
    if (tsr_context_device(b->context).kind != TSR_DEVICE_CPU) {
        printf("    tile-sizes compares CPUs: run it with --device cpu --threads 1\n");
        return TSR_OK;
    }
    for (int i = 0; i < (b->quick ? 2 : 3) && status == TSR_OK; i++) {
        struct contest *c = &contests[i];
        tsr_levelset_options *o = &c->options;
        c->motion.step = 0.15f; /* within the bounds of both schemes */
        o->time_step = (double)c->motion.step;
        o->terms[o->term_count++] = (tsr_flow_term){ .kind = TSR_FLOW_CURVATURE, .value = (double)c->motion.curvature };
        if (c->motion.mean != 0) o->terms[o->term_count++] = (tsr_flow_term){ .kind = TSR_FLOW_MEAN_CURVATURE, .value = (double)c->motion.mean };
        if (c->motion.speed != 0) o->terms[o->term_count++] = (tsr_flow_term){ .kind = TSR_FLOW_SPEED, .value = (double)c->motion.speed };
        o->feedback = (double)c->motion.feedback;
        o->space = c->motion.weno ? TSR_STENCIL_WENO5 : TSR_STENCIL_UPWIND;
        o->time = c->motion.stages == 3 ? TSR_TIME_RK3 : TSR_TIME_EULER;
        status = contest(b, c);
    }
    return status;
}
