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

/* ---- paging: [Lefohn04] III -------------------------------------------------------------------------------------------------------------------- */

/* Pages of a x b x c voxels with a voxel of the band or beside one, its faces' neighbours, so that a front finds them: what [Lefohn04]'s pages would hold. */
static int64_t pages_needed(const float *f, int64_t n, float band, const int32_t page[3])
{
    const int64_t across[3] = { (n + page[0] - 1) / page[0], (n + page[1] - 1) / page[1], (n + page[2] - 1) / page[2] };
    uint8_t *needed = (uint8_t *)calloc((size_t)(across[0] * across[1] * across[2]), 1);
    int64_t pages = 0;
    if (!needed) return 0;
    for (int64_t i = 0; i < n * n * n; i++) {
        if (!(fabsf(f[i]) < band)) continue;
        const int64_t at[3] = { i % n, i / n % n, i / n / n };
        for (int k = 0; k < 7; k++) { /* itself and six beside it */
            int64_t p[3] = { at[0], at[1], at[2] };
            if (k) p[(k - 1) / 2] += (k & 1) ? 1 : -1;
            if (p[0] < 0 || p[1] < 0 || p[2] < 0 || p[0] >= n || p[1] >= n || p[2] >= n) continue;
            needed[(p[2] / page[2] * across[1] + p[1] / page[1]) * across[0] + p[0] / page[0]] = 1;
        }
    }
    for (int64_t i = 0; i < across[0] * across[1] * across[2]; i++) pages += needed[i];
    free(needed);
    return pages;
}

/* Voxels within the smallest rectangles round what is active of each slice: what goes slice by slice computes. */
static int64_t rectangles(const float *f, int64_t n, float band)
{
    int64_t sum = 0;
    for (int64_t z = 0; z < n; z++) {
        int64_t low[2] = { n, n }, high[2] = { -1, -1 };
        for (int64_t i = 0; i < n * n; i++) {
            if (!(fabsf(f[z * n * n + i]) < band)) continue;
            const int64_t at[2] = { i % n, i / n };
            for (int k = 0; k < 2; k++) {
                low[k] = low[k] < at[k] ? low[k] : at[k];
                high[k] = high[k] > at[k] ? high[k] : at[k];
            }
        }
        if (high[0] >= 0) sum += (high[0] - low[0] + 1) * (high[1] - low[1] + 1);
    }
    return sum;
}

/* How many voxels are held or computed for one that is active: by pages of several shapes, slice by slice, and in a whole volume, as depth culling keeps it. */
static tsr_status wasted(bench *b, const tsr_tiles *tiles, int64_t n)
{
    static const int32_t shapes[][3] = { { 8, 8, 8 }, { 4, 4, 4 }, { 16, 16, 1 } };
    tsr_tiles_info info = TSR_TILES_INFO;
    tsr_volume *field = NULL, *host = NULL;
    tsr_status status;
    char text[160];
    TSR_TRY(tsr_tiles_describe(tiles, &info));
    TSR_TRY(tsr_volume_create(b->context, TSR_F32, (tsr_size3){ n, n, n }, NULL, &field));
    TSR_TRY_GOTO(tsr_tiles_store(tiles, field), done);
    TSR_TRY_GOTO(tsr_volume_copy(field, NULL, &host), done);
    const float *f = (const float *)tsr_volume_data_const(host), band = (float)info.band;
    const double active = (double)info.active_voxels;
    for (int k = 0; k < 3; k++) {
        const int64_t voxels = (int64_t)shapes[k][0] * shapes[k][1] * shapes[k][2], pages = pages_needed(f, n, band, shapes[k]);
        snprintf(text, sizeof text, "paging, waste: pages of %d x %d x %d, %.2f voxels held for an active one", shapes[k][0], shapes[k][1],
                 shapes[k][2], (double)(pages * voxels) / active);
        bench_report(b, &(bench_case){ .name = text, .n = pages });
    }
    snprintf(text, sizeof text, "paging, waste: our list, tiles of %d^3, %.2f voxels held for an active one", (int)info.edge,
             (double)info.count * info.edge * info.edge * info.edge / active);
    bench_report(b, &(bench_case){ .name = text, .n = info.count });
    snprintf(text, sizeof text, "paging, waste: slice by slice, %.2f voxels computed for an active one", (double)rectangles(f, n, band) / active);
    bench_report(b, &(bench_case){ .name = text, .n = n });
    snprintf(text, sizeof text, "paging, waste: a whole volume with depth culling, %.2f voxels held for an active one", (double)(n * n * n) / active);
    bench_report(b, &(bench_case){ .name = text, .n = n * n * n });
done:
    tsr_volume_destroy(&host);
    tsr_volume_destroy(&field);
    return status;
}

struct taking {
    tsr_context *context;
};
static tsr_status take_pages(void *user)
{
    const struct taking *t = (const struct taking *)user;
    tsr_tiles_options options = TSR_TILES_OPTIONS;
    tsr_tiles *tiles;
    options.edge = 4;
    options.band = 1.5;
    options.capacity = 1 << 20;
    TSR_TRY(tsr_tiles_create(t->context, NULL, &options, &tiles));
    tsr_tiles_destroy(&tiles);
    return TSR_OK;
}

/* What [Lefohn04]'s paging is measured by: the share of a step that goes into requests and pages, requests a second (26 neighbours of each page a step), the time
 * that a million pages take to be there, and voxels held for nothing. */
tsr_status flow_paging(bench *b, int gpu)
{
    const int64_t n = b->quick ? 128 : 512;
    double step[2] = { 0, 0 };
    tsr_tiles_info info = TSR_TILES_INFO;
    struct taking taking = { b->context };
    tsr_tiles *first;
    char name[80];
    TSR_TRY(bench_from_rule(b, n, 1.5, bench_bumps, &first));
    tsr_status status = managed_steps(b, first, gpu ? 96 : b->quick ? 4 : 16, 64, step, &info);
    if (status == TSR_OK) status = wasted(b, first, n);
    tsr_tiles_destroy(&first);
    TSR_TRY(status);
    const double managing = step[1] - step[0], requests = 26.0 * (double)info.count;
    snprintf(name, sizeof name, "paging, management of %lld pages", (long long)info.count);
    if (managing > 0)
        bench_report(b, &(bench_case){ .name = name,
                                       .n = (int64_t)requests,
                                       .time = { managing, managing, managing, 1 },
                                       .bar = "at least 1e8 requests a second",
                                       .holds = requests >= 1e8 * managing });
    if (managing > 0)
        printf("    %.1f %% of a step (published: about 15 %% of the instructions are requests), %.3g requests a second\n", 100 * managing / step[1],
               requests / managing);
    else printf("    %s: lost in what else the machine does (%.3g s a step without, %.3g with); try --cpu-time\n", name, step[0], step[1]);
    bench_report(b, &(bench_case){ .name = "paging, a million pages of 4^3 made and given back",
                                   .n = 1 << 20,
                                   .time = bench_measure(b, take_pages, &taking, NULL) });
    return TSR_OK;
}
