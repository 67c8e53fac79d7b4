/* bench_reconstruct: octree over points, the potential in tiles, whole reconstructions (spec reconstruction.md 4).
 *
 * The clouds are samples of the displaced sphere (detail over six octaves), the stand-in for a scanned statue. Bytes of the octree: what must move at
 * least: positions in, keys out and in for each radix pass of 8 bits, sums, nodes. Flops of the potential: 17 per voxel and accepted node. */
#include "bench.h"

#include "grid/points.h"
#include "levelset/potential_host.h"
#include "tessera/reconstruct.h"

typedef struct cloud {
    tsr_context *context;
    tsr_points *points;
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

static int make_cloud(bench *b, int64_t count, cloud *c)
{
    tsr_points *host = NULL;
    tsr_points_options make = TSR_POINTS_OPTIONS;
    make.count = count;
    *c = (cloud){ .context = b->context, .frame = { { -1, -1, -1 }, 2, 0x1p30 } };
    int ok = tsr_points_make("points-displaced", &make, &host) == TSR_OK && tsr_points_copy(host, b->context, &c->points) == TSR_OK;
    tsr_points_destroy(&host);
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
    int ok = keys && tsr_points_copy(c->points, NULL, &host) == TSR_OK && tsr_potential_prepare(3, 0.5, 0.5, level, &p.params) == TSR_OK &&
             tsr_device_allocate(c->context, bytes, &device) == TSR_OK && tsr_device_allocate(c->context, (size_t)tiles * 8, &device_keys) == TSR_OK;
    for (int32_t t = 0; t < tiles && ok; t++) {
        const float *q = host->positions + 3 * stride * t;
        const double scale = ldexp(1, level - 3);
        keys[t] = tsr_key_make((int32_t)(((double)q[0] + 1) * scale), (int32_t)(((double)q[1] + 1) * scale), (int32_t)(((double)q[2] + 1) * scale));
    }
    ok = ok && c->context->backend->upload(c->context->queue, device_keys, keys, (size_t)tiles * 8) == TSR_OK;
    if (ok) {
        p.list = (tsr_page_list){ .keys = (const uint64_t *)device_keys, .count = tiles, .log2_edge = 2, .pages = (float *)device };
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

static int bench_whole(bench *b, const cloud *c, int32_t depth, double bar)
{
    char name[96], words[64];
    tsr_reconstruct_options options = TSR_RECONSTRUCT_OPTIONS;
    tsr_reconstruct_report report;
    tsr_tiles *tiles = NULL;
    bench_time t = { 0, HUGE_VAL, 0, 0 };
    options.depth = depth;
    const int runs = b->quick ? 1 : 2;
    tsr_context_reset_peak(b->context);
    const int64_t before = tsr_context_memory(b->context).current_bytes;
    for (int i = 0; i < runs; i++) {
        const double start = bench_seconds();
        if (tsr_reconstruct(c->context, c->points, &options, &tiles, &report) != TSR_OK || tsr_context_synchronize(c->context) != TSR_OK) return 0;
        const double seconds = bench_seconds() - start;
        tsr_tiles_destroy(&tiles);
        t.min = fmin(t.min, seconds);
        t.max = fmax(t.max, seconds);
        t.median = t.min;
        t.runs++;
    }
    for (int32_t i = 0; i < report.levels; i++) {
        const tsr_reconstruct_level *l = &report.level[i];
        printf("  level %2d %5lld steps %9lld tiles %8.3f s, error %.3f voxels, %.4f %%%s\n", l->level, (long long)l->steps, (long long)l->tiles,
               l->seconds, l->error / l->voxel, l->error_percent, l->converged ? "" : ", not converged");
    }
    const double peak = (double)(tsr_context_memory(b->context).peak_bytes - before);
    snprintf(name, sizeof name, "reconstruction of %.3g M points to depth %d, %.2f GB", (double)c->points->count * 1e-6, depth, peak * 1e-9);
    snprintf(words, sizeof words, "at most %g s", bar);
    bench_report(b, &(bench_case){
                        .name = name, .n = report.level[report.levels - 1].tiles, .time = t, .bar = bar > 0 ? words : NULL, .holds = t.min <= bar });
    return 1;
}

int main(int argc, char **argv)
{
    bench b;
    if (!bench_begin(&b, argc, argv, "reconstruct")) return 2;
    const int gpu = tsr_context_device(b.context).kind == TSR_DEVICE_CUDA, quick = b.quick;
    cloud c;
    int ok = make_cloud(&b, quick ? 50000 : 1000000, &c) && bench_tree(&b, &c, 10, gpu ? 0 : 1.0);
    ok = ok && bench_pages(&b, &c, quick ? 8 : 10, quick ? 1000 : gpu ? 100000 : 20000);
    ok = ok && bench_whole(&b, &c, quick ? 7 : 8, gpu || quick ? 0 : 1.5) && (quick || bench_whole(&b, &c, 10, gpu ? 0 : 15));
    tsr_points_tree_destroy(&c.tree);
    tsr_points_destroy(&c.points);
    if (ok && gpu && !quick) {
        ok = make_cloud(&b, 5000000, &c) && bench_whole(&b, &c, 10, 0.25) && bench_whole(&b, &c, 11, 0.8) && bench_whole(&b, &c, 12, 4);
        tsr_points_tree_destroy(&c.tree);
        tsr_points_destroy(&c.points);
    }
    if (ok && gpu && !quick) {
        ok = make_cloud(&b, 14000000, &c) && bench_tree(&b, &c, 12, 0.05) && bench_pages(&b, &c, 12, 1000000);
        tsr_points_tree_destroy(&c.tree);
        tsr_points_destroy(&c.points);
    }
    if (!ok) fprintf(stderr, "bench reconstruct: %s\n", tsr_error_message());
    return bench_end(&b) || !ok;
}
