/* Speed of pyramids and region trees. Lists of the non-zero bytes of a volume by HistoPyramid, beside cub::DeviceSelect::If on the same bytes in the same run.
 * Bound: the volume is read once, one bit per voxel is written and read where it is set, the list is written. Trees: from bytes to lists of leaves
 * and nodes; bound: the volume is read once, one bit per voxel written and read, the lists written. Meshes: from triangles to lists in every frame;
 * bound: the winding numbers are written, read and written by their sums and read once more. Tiles: as the whole, beside the whole. */
#include "bench.h"
#include "module.h"
#include "pyramid_tables.h"
#include "region/region_tree.h"

static struct {
    bench b;
    int64_t side, voxels;
    tsr_volume *volume;
    tsr_pyramid *pyramid;
    void *list, *found;
    int64_t count;
    void *peer;
} s;

static uint64_t random_next(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    return z ^ (z >> 31);
}

/* Bytes of which about `percent` are not zero, at random places; a block is repeated with eight seeds. */
static void fill(double percent)
{
    enum { BLOCK = 1 << 22 };
    uint8_t *host = (uint8_t *)malloc(BLOCK), *data = (uint8_t *)tsr_volume_data(s.volume);
    if (!host) exit(1);
    for (int64_t done = 0; done < s.voxels; done += BLOCK) {
        uint64_t seed = 1 + (uint64_t)(done / BLOCK) % 8;
        for (int64_t i = 0; i < BLOCK; i++) host[i] = (double)(random_next(&seed) >> 11) * 0x1p-53 * 100.0 < percent ? (uint8_t)(1 + i % 255) : 0;
        MUST(tsr_device_move(s.b.context, data + done, NULL, host, (size_t)(s.voxels - done < BLOCK ? s.voxels - done : BLOCK)));
    }
    free(host);
}

static tsr_status build_only(void *user)
{
    (void)user;
    return tsr_pyramid_build(s.pyramid, s.volume);
}
static tsr_status compact(void *user)
{
    (void)user;
    tsr_status status = tsr_pyramid_build(s.pyramid, s.volume);
    return status == TSR_OK ? tsr_pyramid_indices(s.pyramid, 0, s.count, TSR_U32, s.list) : status;
}
static tsr_status peer_compact(void *user)
{
    int (*call)(const void *, int64_t, void *, const void *, void *) =
        (int (*)(const void *, int64_t, void *, const void *, void *))dlsym(s.peer, "peer_select_u8");
    (void)user;
    return call && !call(tsr_volume_data(s.volume), s.voxels, s.list, s.found, NULL) ? TSR_OK : TSR_ERROR_DEVICE;
}
static tsr_status peer_synchronize(void *user)
{
    int (*call)(void) = (int (*)(void))dlsym(s.peer, "peer_synchronize");
    (void)user;
    return call && !call() ? TSR_OK : TSR_ERROR_DEVICE;
}

static void compaction(double percent, tsr_pyramid_order order)
{
    char name[100], bar[100];
    tsr_pyramid_options options = TSR_PYRAMID_OPTIONS;
    tsr_pyramid_info info = TSR_PYRAMID_INFO;
    options.classifier = TSR_PYRAMID_NONZERO;
    options.order = order;
    MUST(tsr_pyramid_create(s.b.context, tsr_volume_size(s.volume), &options, &s.pyramid));
    MUST(tsr_pyramid_build(s.pyramid, s.volume));
    MUST(tsr_pyramid_describe(s.pyramid, &info));
    s.count = (int64_t)info.total;
    MUST(tsr_device_allocate(s.b.context, (size_t)s.count * 4, &s.list));
    const double n = (double)s.voxels, words = percent < 1 ? fmin(1, percent * 0.64) : 1; /* share of the words that are not zero */
    snprintf(name, sizeof name, "compaction %lld^3 bytes, %g %%, %s order", (long long)s.side, percent, order ? "row" : "Morton");
    bench_case c = { .name = name, .n = s.voxels, .bytes = n + 2 * words * n / 8 + 4 * (double)s.count };
    c.time = bench_measure(&s.b, compact, NULL, NULL);
    if (s.peer) {
        c.peer_time = bench_measure(&s.b, peer_compact, NULL, peer_synchronize);
        c.peer = "CUB";
        const int large = s.side >= 1024 && percent <= 1;
        snprintf(bar, sizeof bar, large ? "not slower than CUB, at most 0.45 ms" : "not slower than CUB");
        c.bar = bar;
        c.holds = c.time.median <= c.peer_time.median && (!large || c.time.median <= 0.45e-3);
    }
    bench_report(&s.b, &c);
    snprintf(name, sizeof name, "  of it the build, %g %%", percent);
    bench_case own = { .name = name, .n = s.voxels, .bytes = n + words * n / 8, .time = bench_measure(&s.b, build_only, NULL, NULL) };
    bench_report(&s.b, &own);
    tsr_device_release(s.b.context, s.list, (size_t)s.count * 4);
    tsr_pyramid_destroy(&s.pyramid);
}

/* Multiplicities of 0 to 255, all kept: a voxel is read, written into its brick, and read for the sums of bricks (16 bits each). */
static void counts(void)
{
    char name[100];
    tsr_pyramid_options options = TSR_PYRAMID_OPTIONS;
    options.classifier = TSR_PYRAMID_COUNTS;
    MUST(tsr_pyramid_create(s.b.context, tsr_volume_size(s.volume), &options, &s.pyramid));
    const double n = (double)s.voxels;
    snprintf(name, sizeof name, "pyramid of counts of %lld^3 bytes", (long long)s.side);
    bench_case c = { .name = name, .n = s.voxels, .bytes = n * (2.0 + 1.0 / 32) };
    c.time = bench_measure(&s.b, build_only, NULL, NULL);
    bench_report(&s.b, &c);
    tsr_pyramid_destroy(&s.pyramid);
}

/* ---- pyramids of reductions --------------------------------------------------------------------------------------------------------------- */

static tsr_levels *levels;
static tsr_status build_levels(void *user)
{
    (void)user;
    return tsr_levels_build(levels, s.volume, NULL);
}
/* All levels of the bytes: the volume is read once, each level is written, and read for the next. */
static void reductions(void)
{
    static const struct {
        tsr_level_rule rule;
        const char *name;
        double bytes; /* of a cell */
    } rules[] = { { TSR_LEVEL_MAX, "maxima", 1 }, { TSR_LEVEL_SUM, "sums", 8 }, { TSR_LEVEL_AVERAGE, "averages", 24 } };
    const double n = (double)s.voxels;
    for (size_t k = 0; k < sizeof rules / sizeof *rules; k++) {
        char name[100];
        MUST(tsr_levels_create(s.b.context, tsr_volume_size(s.volume), TSR_U8, rules[k].rule, &levels));
        snprintf(name, sizeof name, "all levels, %s of %lld^3 bytes", rules[k].name, (long long)s.side);
        bench_case c = { .name = name, .n = s.voxels, .bytes = n + n / 7 * rules[k].bytes * (1 + 1.0 / 8) };
        c.time = bench_measure(&s.b, build_levels, NULL, NULL);
        bench_report(&s.b, &c);
        tsr_levels_destroy(&levels);
    }
}

/* ---- several classes ----------------------------------------------------------------------------------------------------------------------- */

enum { CLASSES = 8 };
static tsr_pyramid *alone[CLASSES];
static tsr_status build_alone(void *user)
{
    tsr_status status = TSR_OK;
    (void)user;
    for (int k = 0; k < CLASSES && status == TSR_OK; k++) status = tsr_pyramid_build(alone[k], s.volume);
    return status;
}

/* Eight ranges of bytes in one sweep, beside a pyramid for each. */
static void classes(void)
{
    char name[100];
    tsr_pyramid_class ranges[CLASSES];
    tsr_pyramid_options options = TSR_PYRAMID_OPTIONS;
    for (int k = 0; k < CLASSES; k++) {
        ranges[k] = (tsr_pyramid_class){ TSR_PYRAMID_RANGE, 1 + 30 * k, 31 + 30 * k };
        options.classifier = TSR_PYRAMID_RANGE;
        options.lower = ranges[k].lower;
        options.upper = ranges[k].upper;
        MUST(tsr_pyramid_create(s.b.context, tsr_volume_size(s.volume), &options, &alone[k]));
    }
    options.channels = CLASSES;
    options.classes = ranges;
    MUST(tsr_pyramid_create(s.b.context, tsr_volume_size(s.volume), &options, &s.pyramid));
    const double n = (double)s.voxels;
    snprintf(name, sizeof name, "pyramids of %d classes of %lld^3 bytes in one sweep", (int)CLASSES, (long long)s.side);
    bench_case c = { .name = name, .n = s.voxels, .bytes = n + CLASSES * (n / 8 + n / 64), .peer = "a pyramid for each" };
    c.time = bench_measure(&s.b, build_only, NULL, NULL);
    c.peer_time = bench_measure(&s.b, build_alone, NULL, NULL);
    bench_report(&s.b, &c);
    tsr_pyramid_destroy(&s.pyramid);
    for (int k = 0; k < CLASSES; k++) tsr_pyramid_destroy(&alone[k]);
}

/* ---- region trees ------------------------------------------------------------------------------------------------------------------------ */

static struct {
    tsr_volume *volume;
    tsr_region_pyramid *pyramid;
    tsr_region_tree *tree;
    void *rays, *found;
    int64_t count;
} r;

/* A ball (z = 1: a disc) of 3/4 of the side, in width x side x deep voxels: a row is one run. */
static void make_ball(int64_t width, int64_t side, int64_t deep)
{
    uint8_t *plane = (uint8_t *)malloc((size_t)(width * side));
    MUST(tsr_volume_create(s.b.context, TSR_U8, (tsr_size3){ width, side, deep }, NULL, &r.volume));
    for (int64_t z = 0; z < deep && plane; z++) {
        const int64_t dz = deep > 1 ? 2 * z + 1 - side : 0;
        memset(plane, 0, (size_t)(width * side));
        for (int64_t y = 0; y < side; y++) {
            const int64_t dy = 2 * y + 1 - side;
            int64_t half =
                (int64_t)sqrt(fmax(0, 9.0 / 16 * (double)(side * side) - (double)(dy * dy + dz * dz)) / 4) + 1; /* of the run, and one more */
            while (half > 0 && 16 * ((2 * half - 1) * (2 * half - 1) + dy * dy + dz * dz) > 9 * side * side) half--;
            memset(plane + y * width + width / 2 - half, 1, (size_t)(2 * half));
        }
        MUST(tsr_device_move(s.b.context, (uint8_t *)tsr_volume_data(r.volume) + z * width * side, NULL, plane, (size_t)(width * side)));
    }
    free(plane);
}

static tsr_status tree_call(void *user) /* build and lists into the room there is: as every frame of a moving scene */
{
    const tsr_region_lists lists = { r.tree->leaves, r.tree->nodes };
    (void)user;
    tsr_status status = tsr_region_pyramid_build(r.pyramid, (const tsr_volume *const[]){ r.volume }, 1);
    return status == TSR_OK ? s.b.context->backend->region->list(s.b.context->queue, &r.pyramid->regions, &r.pyramid->rule, &lists) : status;
}
static tsr_status tree_build_call(void *user)
{
    (void)user;
    return tsr_region_pyramid_build(r.pyramid, (const tsr_volume *const[]){ r.volume }, 1);
}
static tsr_status ray_call(void *user)
{
    (void)user;
    return tsr_region_tree_rays(r.tree, (const tsr_region_ray *)r.rays, r.count, 0, 1, NULL, (int32_t *)r.found);
}

/* First hits of parallel rays, side x side of them, that look along z with a tilt. */
static void rays(int64_t side)
{
    char name[100];
    const int64_t across = side < 1024 ? side : 1024;
    r.count = across * across;
    tsr_region_ray *host = (tsr_region_ray *)malloc((size_t)r.count * sizeof *host);
    if (!host) exit(1);
    for (int64_t i = 0; i < r.count; i++)
        host[i] = (tsr_region_ray){ { ((double)(i % across) + 0.5) * (double)side / (double)across,
                                      ((double)(i / across) + 0.5) * (double)side / (double)across, -1 },
                                    { 0.07, 0.03, 1 },
                                    1e9 };
    MUST(tsr_device_allocate(s.b.context, (size_t)r.count * sizeof *host, &r.rays));
    MUST(tsr_device_allocate(s.b.context, (size_t)r.count * 4, &r.found));
    MUST(tsr_device_move(s.b.context, r.rays, NULL, host, (size_t)r.count * sizeof *host));
    bench_case c = { .name = name, .n = r.count, .time = bench_measure(&s.b, ray_call, NULL, NULL) };
    const int gpu = tsr_context_device(s.b.context).kind == TSR_DEVICE_CUDA;
    snprintf(name, sizeof name, "  first hits of %lld^2 rays: %.3g M rays/s", (long long)across, (double)r.count / c.time.median * 1e-6);
    if (gpu) {
        c.bar = "at least 1 G rays/s";
        c.holds = (double)r.count >= 1e9 * c.time.median;
    }
    bench_report(&s.b, &c);
    tsr_device_release(s.b.context, r.rays, (size_t)r.count * sizeof *host);
    tsr_device_release(s.b.context, r.found, (size_t)r.count * 4);
    free(host);
}

/* most: of seconds on a GPU, of seconds and threads per voxel on a CPU. */
static void tree(int64_t side, int64_t deep, double most_gpu, double most_cpu)
{
    char name[120], bar[80];
    const int gpu = tsr_context_device(s.b.context).kind == TSR_DEVICE_CUDA;
    tsr_region_options options = TSR_REGION_OPTIONS;
    options.classifier = TSR_PYRAMID_NONZERO;
    make_ball(side, side, deep);
    const tsr_size3 size = tsr_volume_size(r.volume);
    const int64_t voxels = size.x * size.y * size.z;
    MUST(tsr_region_pyramid_create(s.b.context, size, &options, &r.pyramid));
    MUST(tree_build_call(NULL));
    MUST(tsr_region_tree_extract(r.pyramid, &r.tree));
    const tsr_region_info info = *tsr_region_tree_describe(r.tree);
    bench_case c = { .name = name, .n = voxels, .bytes = (double)voxels * 1.25 + (double)info.device_bytes };
    c.time = bench_measure(&s.b, tree_call, NULL, NULL);
    const double most = gpu ? most_gpu : most_cpu * (double)voxels / s.b.threads;
    snprintf(name, sizeof name, "%s of %lld^%d bytes: %lld leaves, %lld nodes, %.3g G voxels/s", deep > 1 ? "octree" : "quadtree", (long long)side,
             deep > 1 ? 3 : 2, (long long)info.leaves, (long long)info.nodes, (double)voxels / c.time.median * 1e-9);
    snprintf(bar, sizeof bar, gpu ? "at most %.3g ms" : "at most %.3g ms (per core)", most * 1e3);
    if (most > 0) c.bar = bar;
    c.holds = c.time.median <= most;
    bench_report(&s.b, &c);
    bench_case own = {
        .name = "  of it the pyramid", .n = voxels, .bytes = (double)voxels * 1.25, .time = bench_measure(&s.b, tree_build_call, NULL, NULL)
    };
    bench_report(&s.b, &own);
    if (deep > 1) rays(side);
    tsr_region_pyramid_destroy(&r.pyramid);
    if (side < 2048 || deep == 1) { /* the other way to store it: no bits of voxels, which are classified once more for the lists */
        options.implicit_base = 1;
        MUST(tsr_region_pyramid_create(s.b.context, size, &options, &r.pyramid));
        MUST(tree_build_call(NULL));
        bench_case bare = { .name = "  the same without a base", .n = voxels, .bytes = (double)voxels * 2 + (double)info.device_bytes };
        bare.time = bench_measure(&s.b, tree_call, NULL, NULL);
        bench_report(&s.b, &bare);
        tsr_region_pyramid_destroy(&r.pyramid);
    }
    tsr_region_tree_destroy(&r.tree);
    tsr_volume_destroy(&r.volume);
}

/* Frames of a film, pyramids one after another without a wait between them. */
static tsr_status film_call(void *user)
{
    tsr_status status = TSR_OK;
    for (int k = 0; k < *(const int *)user && status == TSR_OK; k++) status = tree_build_call(NULL);
    return status;
}
static void film(int frames)
{
    char name[100];
    const int64_t pixels = (int64_t)1920 * 1080 * frames;
    tsr_region_options options = TSR_REGION_OPTIONS;
    options.classifier = TSR_PYRAMID_NONZERO;
    make_ball(1920, 1080, 1);
    MUST(tsr_region_pyramid_create(s.b.context, tsr_volume_size(r.volume), &options, &r.pyramid));
    bench_case c = { .name = name, .n = pixels, .bytes = (double)pixels * 1.25, .time = bench_measure(&s.b, film_call, &frames, NULL) };
    snprintf(name, sizeof name, "quadtrees of %d frames of 1920 x 1080, builds, %.4g G pixels/s", frames, (double)pixels / c.time.median * 1e-9);
    if (tsr_context_device(s.b.context).kind == TSR_DEVICE_CUDA) {
        c.bar = "at least 100 G pixels/s";
        c.holds = (double)pixels >= 100e9 * c.time.median;
    }
    bench_report(&s.b, &c);
    tsr_region_pyramid_destroy(&r.pyramid);
    tsr_volume_destroy(&r.volume);
}

/* ---- meshes and tiles -------------------------------------------------------------------------------------------------------------------- */

static struct {
    tsr_mesh *mesh;
    tsr_winding *winding;
    tsr_volume *numbers, *host;
} m;

/* A ball in `side` voxels of [-1, 1]^3. 12 rings: that of 264 triangles of the literature, centre (0.19, 0.114, 0.884); more: around the middle. */
static void make_mesh(double side, int rings)
{
    tsr_mesh *host;
    MUST(tsr_mesh_create(NULL, 2 + (rings - 1) * rings, 2 * rings * (rings - 1), 0, &host));
    float *v = tsr_mesh_vertices(host);
    uint32_t *t = tsr_mesh_triangles(host);
    const double centre[3] = { rings > 12 ? 0 : 0.19, rings > 12 ? 0 : 0.114, rings > 12 ? 0 : 0.884 }, radius = rings > 12 ? 0.9 : 0.1;
    for (int i = 0; i <= rings; i++)
        for (int j = 0; j < (i % rings ? rings : 1); j++, v += 3) {
            const double a = 3.14159265358979323846 * i / rings, b = 2 * 3.14159265358979323846 * j / rings;
            const double p[3] = { radius * sin(a) * cos(b), radius * sin(a) * sin(b), radius * cos(a) };
            for (int k = 0; k < 3; k++) v[k] = (float)((centre[k] + p[k] + 1) * 0.5 * side - 0.5);
        }
    for (uint32_t i = 0, n = (uint32_t)rings; i < n; i++)
        for (uint32_t j = 0; j < n; j++) {
            const uint32_t last = 1 + (n - 1) * n, next = (j + 1) % n, up = 1 + (i - 1) * n, down = 1 + i * n;
            const uint32_t a = i ? up + j : 0, b = i ? up + next : 0, c = i < n - 1 ? down + j : last, d = i < n - 1 ? down + next : last;
            const uint32_t corner[6] = { a, c, d, a, d, b };
            for (int k = i < n - 1 ? 0 : 3; k < (i ? 6 : 3); k++) *t++ = corner[k];
        }
    MUST(tsr_mesh_copy(host, s.b.context, &m.mesh));
    tsr_mesh_destroy(&host);
}

static tsr_status frame_call(void *user) /* winding numbers, pyramid, lists: nothing is allocated, one wait for the lengths */
{
    (void)user;
    tsr_status status = tsr_winding_build(m.winding, m.mesh, NULL, m.numbers);
    if (status == TSR_OK) status = tsr_region_pyramid_build(r.pyramid, (const tsr_volume *const[]){ m.numbers }, 1);
    return status == TSR_OK ? tsr_region_tree_renew(r.pyramid, r.tree) : status;
}

static void frames(int64_t side, double most_gpu)
{
    char name[120];
    const tsr_size3 size = { side, side, side };
    const double voxels = (double)(side * side * side);
    tsr_region_options options = TSR_REGION_OPTIONS;
    options.classifier = TSR_PYRAMID_RANGE;
    options.lower = 0;
    options.upper = 1; /* empty space */
    make_mesh((double)side, 12);
    MUST(tsr_winding_create(s.b.context, size, NULL, tsr_mesh_vertex_count(m.mesh), &m.winding));
    MUST(tsr_volume_create(s.b.context, TSR_I32, size, NULL, &m.numbers));
    MUST(tsr_winding_build(m.winding, m.mesh, NULL, m.numbers));
    MUST(tsr_winding_check(m.winding, m.mesh, NULL));
    MUST(tsr_region_pyramid_create(s.b.context, size, &options, &r.pyramid));
    MUST(tsr_region_pyramid_build(r.pyramid, (const tsr_volume *const[]){ m.numbers }, 1));
    MUST(tsr_region_tree_extract(r.pyramid, &r.tree));
    bench_case c = { .name = name, .n = side * side * side, .bytes = 16 * voxels };
    c.time = bench_measure(&s.b, frame_call, NULL, NULL);
    const tsr_region_info info = *tsr_region_tree_describe(r.tree);
    snprintf(name, sizeof name, "octree of a moving mesh, %lld^3: %lld leaves, %lld nodes, %.4g frames/s", (long long)side, (long long)info.leaves,
             (long long)info.nodes, 1 / c.time.median);
    if (most_gpu > 0 && tsr_context_device(s.b.context).kind == TSR_DEVICE_CUDA) {
        c.bar = "at least 500 frames/s";
        c.holds = c.time.median <= most_gpu;
    }
    bench_report(&s.b, &c);
    tsr_region_tree_destroy(&r.tree);
    tsr_region_pyramid_destroy(&r.pyramid);
    tsr_volume_destroy(&m.numbers);
    tsr_winding_destroy(&m.winding);
    tsr_mesh_destroy(&m.mesh);
}

static int64_t crowd_leaves, crowd_pairs;
static tsr_status crowd_call(void *user)
{
    const int64_t side = *(const int64_t *)user;
    tsr_triangle_tree_options options = TSR_TRIANGLE_TREE_OPTIONS;
    tsr_triangle_lists lists;
    tsr_region_tree *made = NULL;
    options.most = 8;
    const tsr_status status = tsr_region_tree_from_triangles(s.b.context, m.mesh, (tsr_size3){ side, side, side }, NULL, &options, &made, &lists);
    crowd_leaves = lists.leaves;
    crowd_pairs = lists.pairs;
    tsr_triangle_lists_destroy(&lists);
    tsr_region_tree_destroy(&made);
    return status;
}

/* From triangles to leaves that hold 8 at most, nodes (host work) and lists. */
static void crowds(int rings)
{
    char name[120];
    int64_t side = 4096;
    make_mesh((double)side, rings);
    bench_case c = { .name = name, .n = tsr_mesh_triangle_count(m.mesh) };
    c.time = bench_measure(&s.b, crowd_call, &side, NULL);
    c.bytes = 36.0 * (double)c.n + 4 * (double)crowd_pairs + 48 * (double)crowd_leaves;
    snprintf(name, sizeof name, "octree of %lld triangles in %lld^3, 8 a leaf: %lld leaves, %lld pairs", (long long)c.n, (long long)side,
             (long long)crowd_leaves, (long long)crowd_pairs);
    bench_report(&s.b, &c);
    tsr_mesh_destroy(&m.mesh);
}

static tsr_status tiles_call(void *user)
{
    tsr_region_options options = TSR_REGION_OPTIONS;
    tsr_region_tiling tiling = TSR_REGION_TILING;
    tsr_region_tree *made = NULL;
    options.classifier = TSR_PYRAMID_NONZERO;
    tiling.tile = *(const int64_t *)user;
    const tsr_status status = tsr_region_tree_make_tiled(s.b.context, (const tsr_volume *const[]){ m.host }, 1, &options, &tiling, &made, NULL);
    tsr_region_tree_destroy(&made);
    return status;
}

/* From host memory to host lists, in one tile and in 64. */
static void tiles(int64_t side)
{
    char name[100];
    int64_t part = side / 4, whole = side;
    make_ball(side, side, side);
    MUST(tsr_volume_copy(r.volume, NULL, &m.host));
    tsr_volume_destroy(&r.volume);
    bench_case c = { .name = name, .n = side * side * side, .bytes = (double)(side * side * side) };
    c.time = bench_measure(&s.b, tiles_call, &part, NULL);
    c.peer_time = bench_measure(&s.b, tiles_call, &whole, NULL);
    c.peer = "one tile";
    snprintf(name, sizeof name, "octree of %lld^3 bytes on the host, tiles of %lld^3", (long long)side, (long long)part);
    bench_report(&s.b, &c);
    tsr_volume_destroy(&m.host);
}

int main(int argc, char **argv)
{
    static const double percents[] = { 0.01, 0.1, 1, 10, 50 };
    if (!bench_begin(&s.b, argc, argv, "pyramid")) return 2;
    const int gpu = tsr_context_device(s.b.context).kind == TSR_DEVICE_CUDA;
    if (gpu) s.peer = bench_module("libbench_peer_cub.so");
    s.side = gpu ? (s.b.quick ? 512 : 1024) : (s.b.quick ? 128 : 256);
    s.voxels = s.side * s.side * s.side;
    MUST(tsr_volume_create(s.b.context, TSR_U8, (tsr_size3){ s.side, s.side, s.side }, NULL, &s.volume));
    MUST(tsr_device_allocate(s.b.context, 256, &s.found));
    for (size_t k = 0; k < sizeof percents / sizeof *percents && bench_wants(&s.b, "compaction"); k++) {
        fill(percents[k]);
        compaction(percents[k], TSR_PYRAMID_MORTON);
        compaction(percents[k], TSR_PYRAMID_ROW);
    }
    if (bench_wants(&s.b, "levels")) {
        fill(50);
        reductions();
    }
    if (bench_wants(&s.b, "classes")) {
        fill(50);
        classes();
        counts();
    }
    tsr_device_release(s.b.context, s.found, 256);
    tsr_volume_destroy(&s.volume);
    if (bench_wants(&s.b, "quadtree")) {
        tree(4096, 1, 0.1e-3, 2e-9);
        film(64);
    }
    if (bench_wants(&s.b, "octree")) {
        tree(256, 256, 0.05e-3, 1e-9);
        if (gpu && !s.b.quick) {
            tree(1024, 1024, 0.7e-3, 0);
            tree(2048, 2048, 6e-3, 0);
        }
    }
    if (bench_wants(&s.b, "frames")) {
        frames(256, 0);
        if (gpu) frames(512, 2e-3);
    }
    if (bench_wants(&s.b, "tables 6")) MUST(pyramid_tables_6(&s.b));
    if (bench_wants(&s.b, "tables 8")) MUST(pyramid_tables_8(&s.b));
    if (bench_wants(&s.b, "tables 9")) MUST(pyramid_tables_9(&s.b));
    if (bench_wants(&s.b, "triangles")) crowds(gpu && !s.b.quick ? 1000 : 200);
    if (bench_wants(&s.b, "tiles")) tiles(256);
    return bench_end(&s.b);
}
