/* bench_reconstruct: octree over points, the potential in tiles, whole reconstructions (docs/theory/reconstruction.md 11).
 *
 * The clouds are samples of the displaced sphere (detail over six octaves), the stand-in for a scanned statue. Bytes of the octree: what must move at
 * least: positions in, keys out and in for each radix pass of 8 bits, sums, nodes. Flops of the potential: 17 per voxel and accepted node. */
#include "bench.h"

#include "core/parallel.h"
#include "mesh/points.h"
#include "reconstruct/potential_host.h"
#include "tessera/reconstruct.h"

typedef struct cloud {
    tsr_context *context;
    tsr_points *points;
    const char *shape;
    double noise;
    tsr_points_frame frame;
    int32_t depth;
    tsr_points_tree *tree;
} cloud;

static tsr_status build_tree(void *user)
{
    cloud *c = (cloud *)user;
    tsr_points_tree_destroy(&c->tree);
    return tsr_points_tree_create(c->context, c->points->positions, NULL, c->points->count, &c->frame, c->depth, 0, &c->tree);
}

/* Parts of a cloud, each with a seed of its own, made side by side: one thread takes three seconds a million. */
enum { PARTS = 64 };
typedef struct parts {
    tsr_points *whole;
    const char *shape;
    double noise;
    int failed;
} parts;
static void make_parts(void *user, int64_t begin, int64_t end, int worker)
{
    parts *p = (parts *)user;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        const int64_t from = p->whole->count * i / PARTS, count = p->whole->count * (i + 1) / PARTS - from;
        tsr_points_options make = TSR_POINTS_OPTIONS;
        tsr_points *part = NULL;
        make.count = count;
        make.seed = (uint64_t)i + 1;
        make.noise = p->noise;
        if (tsr_points_make(p->shape, &make, &part) == TSR_OK) memcpy(p->whole->positions + 3 * from, part->positions, (size_t)count * 12);
        else __atomic_store_n(&p->failed, 1, __ATOMIC_RELAXED);
        tsr_points_destroy(&part);
    }
}
static int make_cloud(bench *b, int64_t count, const char *shape, double noise, cloud *c)
{
    parts p = { .shape = shape, .noise = noise };
    *c = (cloud){ .context = b->context, .shape = shape, .noise = noise, .frame = { { -1, -1, -1 }, 2, 0x1p30 } };
    if (tsr_points_create(NULL, count, 0, &p.whole) != TSR_OK) return 0;
    tsr_parallel(tsr_parallel_default_threads(), PARTS, 1, make_parts, &p);
    const int ok = !p.failed && tsr_points_copy(p.whole, b->context, &c->points) == TSR_OK;
    tsr_points_destroy(&p.whole);
    return ok;
}

/* ---- octree --------------------------------------------------------------------------------------------------------------------------- */

static int bench_tree(bench *b, cloud *c, int32_t depth, double bar)
{
    char name[96], words[64];
    c->depth = depth;
    bench_time t = bench_measure(b, build_tree, c, NULL);
    if (!c->tree) return 0;
    const double n = (double)c->points->count, passes = ceil(3.0 * depth / 8);
    snprintf(name, sizeof name, "octree of %.3g M points, depth %d", n / 1e6, depth);
    snprintf(words, sizeof words, "at most %g ms", 1e3 * bar);
    bench_report(b, &(bench_case){ .name = name,
                                   .n = c->points->count,
                                   .time = t,
                                   .bytes = n * (2 * 12 + 12 + passes * 24 + 3 * 20 + 12) + 24.0 * (double)c->tree->view.nodes,
                                   .bar = bar > 0 ? words : NULL,
                                   .holds = t.median <= bar });
    return 1;
}

/* ---- the potential: pages of tiles at the surface ------------------------------------------------------------------------------------- */

typedef struct pages {
    cloud *c;
    tsr_potential_params params;
    tsr_page_list list;
} pages;

static tsr_status evaluate(void *user)
{
    pages *p = (pages *)user;
    return p->c->context->backend->potential->evaluate(p->c->context->queue, &p->c->tree->view, &p->params, &p->list);
}

static int64_t count_nodes(const pages *p, const uint64_t *keys, int32_t count)
{
    const tsr_points_tree *tree = p->c->tree;
    const tsr_backend *backend = p->c->context->backend;
    tsr_tree_centre *centre = (tsr_tree_centre *)malloc(tree->view.nodes * sizeof *centre);
    tsr_tree_walk *walk = (tsr_tree_walk *)malloc(tree->view.nodes * sizeof *walk);
    int64_t nodes = 0;
    if (centre && walk && backend->download(p->c->context->queue, centre, tree->centre, tree->view.nodes * sizeof *centre) == TSR_OK &&
        backend->download(p->c->context->queue, walk, tree->walk, tree->view.nodes * sizeof *walk) == TSR_OK) {
        tsr_tree_view v = tree->view;
        v.centre = centre;
        v.walk = walk;
        for (int32_t t = 0; t < count; t += 16) {
            const int32_t l = p->params.level;
            const uint32_t middle[3] = { tsr_block_centre(4 * tsr_key_x(keys[t]), l), tsr_block_centre(4 * tsr_key_y(keys[t]), l),
                                         tsr_block_centre(4 * tsr_key_z(keys[t]), l) };
            tsr_potential_at(&v, middle, 0, 0, 0, &p->params, &nodes);
        }
    }
    free(centre);
    free(walk);
    return 16 * nodes;
}

static int bench_pages(bench *b, cloud *c, int32_t level, int32_t tiles)
{
    char name[96];
    const int64_t stride = c->points->count / tiles;
    uint64_t *keys = (uint64_t *)malloc((size_t)tiles * sizeof *keys);
    tsr_points *host = NULL;
    pages p = { .c = c };
    void *device = NULL, *device_keys = NULL;
    const size_t bytes = (size_t)tiles * 256;
    int ok = keys && tsr_points_copy(c->points, NULL, &host) == TSR_OK && tsr_potential_prepare(7, 0.5, 0.5, level, &p.params) == TSR_OK &&
             tsr_device_allocate(c->context, bytes, &device) == TSR_OK && tsr_device_allocate(c->context, (size_t)tiles * 8, &device_keys) == TSR_OK;
    for (int32_t t = 0; t < tiles && ok; t++) {
        const float *q = host->positions + 3 * stride * t;
        const double scale = ldexp(1, level - 3);
        keys[t] = tsr_key_make((int32_t)(((double)q[0] + 1) * scale), (int32_t)(((double)q[1] + 1) * scale), (int32_t)(((double)q[2] + 1) * scale));
    }
    ok = ok && c->context->backend->upload(c->context->queue, device_keys, keys, (size_t)tiles * 8) == TSR_OK;
    if (ok) {
        p.list = (tsr_page_list){ .keys = tsr_keys_wide((const uint64_t *)device_keys), .count = tiles, .log2_edge = 2, .pages = (float *)device };
        const int64_t nodes = count_nodes(&p, keys, tiles);
        bench_time t = bench_measure(b, evaluate, &p, NULL);
        snprintf(name, sizeof name, "potential in %d tiles at level %d, %.0f nodes each", tiles, level, (double)nodes / tiles);
        bench_report(b, &(bench_case){ .name = name, .n = tiles * 64, .time = t, .bytes = (double)bytes, .flops = 17.0 * 64 * (double)nodes });
    }
    if (device) tsr_device_release(c->context, device, bytes);
    if (device_keys) tsr_device_release(c->context, device_keys, (size_t)tiles * 8);
    tsr_points_destroy(&host);
    free(keys);
    return ok;
}

/* ---- whole reconstructions: points on the device to the list of tiles ------------------------------------------------------------------ */

typedef struct whole {
    int64_t points;
    int32_t depth, runs, long_run;
    tsr_placement placement;
    tsr_storage storage;
    double margin, bar; /* seconds; 0: none */
    const char *shape;  /* NULL: the displaced sphere */
    double noise;       /* Gaussian, of a sphere of radius 0.8 */
} whole;

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int bench_whole(bench *b, cloud *c, const whole *w)
{
    enum { RUNS_MOST = 5 };
    char name[128], words[64], place[96];
    tsr_reconstruct_options options = TSR_RECONSTRUCT_OPTIONS;
    tsr_reconstruct_report report = TSR_RECONSTRUCT_REPORT;
    tsr_tiles *tiles = NULL;
    double seconds[RUNS_MOST];
    snprintf(place, sizeof place, "reconstruction %s%sof %.3g M points to depth %d", w->placement == TSR_PLACEMENT_HYBRID ? "(hybrid) " : "",
             w->storage == TSR_STORAGE_I16 ? "(16 bits) " : "", (double)w->points * 1e-6, w->depth);
    const char *shape = w->shape ? w->shape : "points-displaced";
    if (w->shape) snprintf(place + strlen(place), sizeof place - strlen(place), " (%s%s)", w->shape, w->noise > 0 ? ", noise" : "");
    if (!bench_wants(b, place)) return 1;
    if (!c->points || c->points->count != w->points || strcmp(c->shape, shape) != 0 || c->noise != w->noise) {
        tsr_points_destroy(&c->points);
        if (!make_cloud(b, w->points, shape, w->noise, c)) return 0;
    }
    options.depth = w->depth;
    options.placement = w->placement;
    options.storage = w->storage;
    options.margin = w->margin;
    tsr_context_reset_peak(b->context);
    const int64_t before = tsr_context_memory(b->context)->current_bytes;
    for (int i = 0; i < w->runs; i++) {
        const double start = bench_clock(b->clock);
        if (tsr_reconstruct(c->context, c->points, &options, &tiles, &report) != TSR_OK || tsr_context_synchronize(c->context) != TSR_OK) return 0;
        seconds[i] = bench_clock(b->clock) - start;
        tsr_tiles_destroy(&tiles);
    }
    qsort(seconds, (size_t)w->runs, sizeof *seconds, by_value);
    const bench_time t = { .median = seconds[w->runs / 2], .min = seconds[0], .max = seconds[w->runs - 1], .runs = w->runs };
    for (int32_t i = 0; i < report.levels; i++) {
        const tsr_reconstruct_level *l = &report.level[i];
        printf("  level %2d %5lld steps %9lld tiles %8.3f s, error %.3f voxels, %.4f %%%s\n", l->level, (long long)l->steps, (long long)l->tiles,
               l->seconds, l->error / l->voxel, l->error_percent, l->converged ? "" : ", not converged");
    }
    const double peak = (double)(tsr_context_memory(b->context)->peak_bytes - before);
    const tsr_reconstruct_level *last = &report.level[report.levels - 1];
    printf("  list of the last level: %.2f GB, %.0f bytes a tile\n", (double)last->device_bytes * 1e-9,
           (double)last->device_bytes / (double)last->tiles);
    snprintf(name, sizeof name, "%s, %.2f GB", place, peak * 1e-9);
    snprintf(words, sizeof words, "at most %g s", w->bar);
    bench_report(
        b, &(bench_case){
               .name = name, .n = report.level[report.levels - 1].tiles, .time = t, .bar = w->bar > 0 ? words : NULL, .holds = t.median <= w->bar });
    fflush(stdout);
    return 1;
}

static int bench_parts(bench *b, int64_t points, int32_t depth, int32_t tiles, double bar)
{
    cloud c;
    if (!bench_wants(b, "octree") && !bench_wants(b, "potential")) return 1;
    const int ok = make_cloud(b, points, "points-displaced", 0, &c) && bench_tree(b, &c, depth, bar) && bench_pages(b, &c, depth, tiles);
    tsr_points_tree_destroy(&c.tree);
    tsr_points_destroy(&c.points);
    return ok;
}

/* Depth 14, and depth 12 in the hybrid placement, take up to a minute: `--only "depth 14"` asks for it. The margin makes the object half as wide as the
 * grid: 3.6e7 tiles, as the statue of [Laan11] would have (docs/theory/reconstruction.md 4). */
int main(int argc, char **argv)
{
    static const whole cpu[] = { { .points = 1000000, .depth = 8, .runs = 3, .bar = 1.5 },
                                 { .points = 1000000, .depth = 8, .runs = 3, .storage = TSR_STORAGE_I16 },
                                 { .points = 1000000, .depth = 10, .runs = 1, .bar = 15 },
                                 { .points = 1000000, .depth = 10, .runs = 1, .shape = "points-sphere", .bar = 20 },
                                 { .points = 1000000, .depth = 10, .runs = 1, .shape = "points-sphere", .noise = 0.0016, .bar = 20 }, /* a voxel */
                                 { .points = 100000, .depth = 10, .runs = 1, .shape = "points-sphere", .bar = 20 },
                                 { .points = 10000, .depth = 10, .runs = 1, .shape = "points-sphere", .bar = 30 } };
    static const whole gpu[] = {
        { .points = 1000000, .depth = 8, .runs = 3 },
        { .points = 1000000, .depth = 8, .runs = 3, .placement = TSR_PLACEMENT_HYBRID },
        { .points = 5000000, .depth = 10, .runs = 5, .bar = 0.25 },
        { .points = 5000000, .depth = 10, .runs = 5, .storage = TSR_STORAGE_I16 },
        { .points = 5000000, .depth = 10, .runs = 1, .placement = TSR_PLACEMENT_HYBRID },
        { .points = 5000000, .depth = 11, .runs = 3, .bar = 0.8 },
        { .points = 5000000, .depth = 11, .runs = 3, .storage = TSR_STORAGE_I16 },
        { .points = 5000000, .depth = 12, .runs = 1, .bar = 4 },
        { .points = 5000000, .depth = 12, .runs = 1, .storage = TSR_STORAGE_I16 },
        { .points = 5000000, .depth = 12, .runs = 1, .long_run = 1, .storage = TSR_STORAGE_I16, .placement = TSR_PLACEMENT_HYBRID },
        { .points = 14000000, .depth = 14, .runs = 1, .long_run = 1, .margin = 0.25, .bar = 60 }
    };
    static const whole small[] = { { .points = 50000, .depth = 7, .runs = 1 } };
    bench b;
    cloud c = { 0 };
    if (!bench_begin(&b, argc, argv, "reconstruct")) return 2;
    const int on_gpu = tsr_context_device(b.context).kind == TSR_DEVICE_CUDA;
    const whole *list = b.quick ? small : on_gpu ? gpu : cpu;
    const int count = (int)(b.quick ? sizeof small / sizeof *small : on_gpu ? sizeof gpu / sizeof *gpu : sizeof cpu / sizeof *cpu);
    int ok = b.quick ? bench_parts(&b, 50000, 8, 1000, 0) : bench_parts(&b, 1000000, 10, on_gpu ? 100000 : 20000, on_gpu ? 0 : 1.0);
    for (int i = 0; i < count && ok; i++)
        if (!list[i].long_run || b.only) ok = bench_whole(&b, &c, &list[i]);
    tsr_points_destroy(&c.points);
    if (ok && on_gpu && !b.quick) ok = bench_parts(&b, 14000000, 12, 1000000, 0.05);
    if (!ok) fprintf(stderr, "bench reconstruct: %s\n", tsr_error_message());
    return bench_end_with(&b, !ok);
}
