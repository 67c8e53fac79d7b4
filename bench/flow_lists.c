/* Rows of bench_flow that are about the list: what its management takes, keys, storage, topology, and lists that only memory limits. */
#include <math.h>

#include "flow.h"

/* First-order steps of copies of a list without management and with it, keys of so many bits. */
static tsr_status managed_steps(bench *b, const tsr_tiles *first, int64_t steps, int32_t key_bits, double step[2], tsr_tiles_info *info)
{
    tsr_status status = TSR_OK;
    for (int managed = 0; managed < 2 && status == TSR_OK; managed++) {
        tsr_levelset_options options = TSR_LEVELSET_OPTIONS;
        tsr_levelset *solver = NULL;
        tsr_levelset_report report = TSR_LEVELSET_REPORT;
        tsr_tiles *tiles = NULL;
        TSR_TRY(tsr_tiles_copy(first, b->context, &tiles));
        options.terms[0] = (tsr_levelset_term){ .kind = TSR_LEVELSET_SPEED, .value = -0.1 };
        options.terms[1] = (tsr_levelset_term){ .kind = TSR_LEVELSET_CURVATURE, .value = 0.5 };
        options.term_count = 2;
        options.fused = tsr_context_device(b->context).kind == TSR_DEVICE_CUDA;
        options.persistent = -1;
        options.managed_every = managed ? 1 : 1000;
        if (!managed) options.time_step = 1e-3; /* the surface stays in its band */
        status = tsr_tiles_set_key_bits(tiles, key_bits);
        if (status == TSR_OK) status = tsr_tiles_compact(tiles, 0); /* the same room for both */
        if (status == TSR_OK) status = tsr_levelset_create(tiles, &options, &solver);
        if (status == TSR_OK) status = tsr_levelset_step(solver, 4, NULL, &report);
        for (int i = 0; i < 5 && status == TSR_OK; i++) {
            status = flow_step(b, solver, steps, &report);
            const double one = report.seconds / (double)steps;
            step[managed] = i == 0 ? one : fmin(step[managed], one);
        }
        tsr_levelset_destroy(&solver);
        if (status == TSR_OK) status = tsr_tiles_describe(tiles, info);
        tsr_tiles_destroy(&tiles);
    }
    return status;
}

/* What the management is of a step. */
tsr_status flow_management_share(bench *b)
{
    const int gpu = tsr_context_device(b->context).kind == TSR_DEVICE_CUDA;
    const double most = gpu ? 0.3 : 0.15; /* docs/theory/levelset.md 8: the target on a CPU */
    double step[2] = { 0, 0 };
    tsr_tiles_info info = TSR_TILES_INFO;
    tsr_tiles *first;
    TSR_TRY(bench_from_rule(b, 512, 1.5, bench_bumps, &first));
    tsr_status status = managed_steps(b, first, gpu ? 96 : 16, 64, step, &info);
    tsr_tiles_destroy(&first);
    TSR_TRY(status);
    bench_report(b, &(bench_case){ .name = "lucy-collapse, first order, management",
                                   .time = { step[1] - step[0], step[1] - step[0], step[1] - step[0], 1 },
                                   .bar = gpu ? "at most 30 % of a step" : "at most 15 % of a step",
                                   .holds = step[1] - step[0] <= most * step[1] });
    printf("    %.1f %% of a step: %.2f us with it, %.2f us without\n", 100 * (1 - step[0] / step[1]), 1e6 * step[1], 1e6 * step[0]);
    return TSR_OK;
}

/* The same with keys of 64 and of 32 bits, by turns: the step, the management in it, and the memory of a tile. */
tsr_status flow_keys(bench *b, int gpu)
{
    enum { TURNS = 2 };
    static const char *const names[2][2] = { { "lucy-collapse, first order, 64-bit keys", "lucy-collapse, first order, 32-bit keys" },
                                             { "lucy-collapse, management, 64-bit keys", "lucy-collapse, management, 32-bit keys" } };
    double best[2][2] = { { 0 } };
    tsr_tiles_info info[2] = { TSR_TILES_INFO, TSR_TILES_INFO };
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

/* The same flow on float32 and on 16-bit values: time and memory. */
tsr_status flow_storages(bench *b, int gpu)
{
    static const char *const names[] = { "curvature, first order, float32", "curvature, first order, 16 bits" };
    int64_t held[2] = { 0 };
    double step[2] = { 0 };
    for (int i = 0; i < 2; i++) {
        tsr_levelset_options options = TSR_LEVELSET_OPTIONS;
        tsr_levelset_report report = TSR_LEVELSET_REPORT;
        tsr_tiles_info info = TSR_TILES_INFO;
        tsr_tiles *tiles = NULL;
        tsr_levelset *solver = NULL;
        options.terms[0] = (tsr_levelset_term){ .kind = TSR_LEVELSET_CURVATURE, .value = 0.5 };
        options.term_count = 1;
        options.time_step = 0.3;
        TSR_TRY(flow_shape(b, 1.5, (tsr_shape){ .kind = TSR_SHAPE_SPHERE, .radius = b->quick ? 24 : gpu ? 500 : 100 }, &tiles));
        tsr_status status = tsr_tiles_set_storage(tiles, i ? TSR_STORAGE_I16 : TSR_STORAGE_F32);
        if (status == TSR_OK) status = tsr_tiles_compact(tiles, 0);
        if (status == TSR_OK) status = tsr_levelset_create(tiles, &options, &solver);
        if (status == TSR_OK) status = tsr_levelset_step(solver, 4, NULL, &report);
        if (status == TSR_OK) status = flow_step(b, solver, gpu ? 500 : 40, &report);
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

/* A sphere in so many tiles of 4^3 that only memory counts. */
tsr_status flow_large(bench *b, double radius, int64_t steps)
{
    tsr_levelset_options options = TSR_LEVELSET_OPTIONS;
    tsr_tiles_options list = TSR_TILES_OPTIONS;
    tsr_levelset_report report = TSR_LEVELSET_REPORT;
    tsr_tiles_info info = TSR_TILES_INFO;
    tsr_tiles *tiles = NULL;
    tsr_levelset *solver = NULL;
    tsr_status status;
    char name[80];
    list.edge = 4;
    list.band = 1.5;
    options.terms[0] = (tsr_levelset_term){ .kind = TSR_LEVELSET_SPEED, .value = -0.1 };
    options.terms[1] = (tsr_levelset_term){ .kind = TSR_LEVELSET_CURVATURE, .value = 0.5 };
    options.term_count = 2;
    options.fused = 1;
    TSR_TRY(tsr_tiles_shape(b->context, NULL, &list, &(tsr_shape){ .kind = TSR_SHAPE_SPHERE, .radius = radius }, &tiles));
    TSR_TRY_GOTO(tsr_levelset_create(tiles, &options, &solver), done);
    TSR_TRY_GOTO(tsr_levelset_step(solver, 4, NULL, &report), done);
    TSR_TRY_GOTO(flow_step(b, solver, steps, &report), done);
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
tsr_status flow_topologies(bench *b, int gpu)
{
    struct widen w = { .context = b->context };
    tsr_tiles *tiles = NULL;
    tsr_topology *host = NULL, *to = NULL;
    tsr_status status;
    TSR_TRY(flow_shape(b, 3, (tsr_shape){ .kind = TSR_SHAPE_SPHERE, .radius = b->quick ? 40 : gpu ? 772 : 200 }, &tiles));
    TSR_TRY_GOTO(tsr_topology_of_tiles(tiles, &host), done);
    TSR_TRY_GOTO(tsr_topology_copy(host, b->context, &w.from), done);
    for (w.neighbours = 6; w.neighbours <= 26; w.neighbours += 20) {
        tsr_topology_info before = TSR_TOPOLOGY_INFO, after = TSR_TOPOLOGY_INFO;
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
