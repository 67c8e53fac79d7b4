#include "pyramid_tables.h"

static void stage(bench *b, const char *table, const char *what, const char *numbers, int64_t n, bench_time time)
{
    char name[160];
    snprintf(name, sizeof name, "%s %s%s", table, what, numbers);
    bench_report(b, &(bench_case){ .name = name, .n = n, .time = time });
}

/* ---- meshes --------------------------------------------------------------------------------------------------------------------------------- */

typedef struct solid {
    bench *b;
    tsr_mesh *mesh;
    tsr_winding *winding;
    tsr_volume *numbers; /* winding numbers; 1: inside */
    tsr_pyramid *points;
    tsr_region_pyramid *regions;
    tsr_region_tree *tree;
    void *list;
    int64_t count;
} solid;

/* Rings of `around` quadrilaterals, 2 around rings triangles: a torus, or a ball whose poles are closed by as many triangles; index coordinates. */
static tsr_status make_mesh(bench *b, int ball, int rings, int around, const double centre[3], const double radius[2], tsr_mesh **mesh)
{
    const double pi = 3.14159265358979323846;
    tsr_mesh *host = NULL;
    const int64_t vertices = ball ? 2 + (int64_t)(rings - 1) * around : (int64_t)rings * around,
                  triangles = ball ? 2 * (int64_t)(rings - 1) * around : 2 * (int64_t)rings * around;
    TSR_TRY(tsr_mesh_create(NULL, vertices, triangles, 0, &host));
    float *v = tsr_mesh_vertices(host);
    uint32_t *t = tsr_mesh_triangles(host);
    for (int i = 0; i < rings + ball; i++)
        for (int j = 0; j < (ball && (i == 0 || i == rings) ? 1 : around); j++, v += 3) {
            const double u = (ball ? pi : 2 * pi) * i / rings, w = 2 * pi * j / around,
                         out = ball ? radius[0] * sin(u) : radius[0] + radius[1] * cos(w);
            v[0] = (float)(centre[0] + (ball ? out * cos(w) : out * cos(u)));
            v[1] = (float)(centre[1] + (ball ? out * sin(w) : out * sin(u)));
            v[2] = (float)(centre[2] + (ball ? radius[0] * cos(u) : radius[1] * sin(w)));
        }
    for (int i = 0; i < rings; i++)
        for (int j = 0; j < around; j++) {
            const int next = (j + 1) % around;
            uint32_t a, c, d, e; /* corners of the quadrilateral: this ring j, next; the following ring j, next */
            if (ball) {
                a = i ? (uint32_t)(1 + (i - 1) * around + j) : 0;
                c = i ? (uint32_t)(1 + (i - 1) * around + next) : 0;
                d = i < rings - 1 ? (uint32_t)(1 + i * around + j) : (uint32_t)vertices - 1;
                e = i < rings - 1 ? (uint32_t)(1 + i * around + next) : (uint32_t)vertices - 1;
            } else {
                a = (uint32_t)(i * around + j);
                c = (uint32_t)(i * around + next);
                d = (uint32_t)((i + 1) % rings * around + j);
                e = (uint32_t)((i + 1) % rings * around + next);
            }
            const uint32_t corner[6] = { a, d, e, a, e, c };
            for (int k = d == e ? 3 : 0; k < (a == c ? 3 : 6); k++) *t++ = corner[k]; /* at a pole one of the two has no area */
        }
    const tsr_status status = tsr_mesh_copy(host, b->context, mesh);
    tsr_mesh_destroy(&host);
    return status;
}

static tsr_status voxelise(void *user)
{
    solid *s = (solid *)user;
    return tsr_winding_build(s->winding, s->mesh, NULL, s->numbers);
}
static tsr_status build_points(void *user) { return tsr_pyramid_build(((solid *)user)->points, ((solid *)user)->numbers); }
static tsr_status list_points(void *user)
{
    return tsr_pyramid_indices(((solid *)user)->points, 0, ((solid *)user)->count, TSR_U32, ((solid *)user)->list);
}
static tsr_status build_regions(void *user)
{
    solid *s = (solid *)user;
    return tsr_region_pyramid_build(s->regions, (const tsr_volume *const[]){ s->numbers }, 1);
}
static tsr_status list_regions(void *user) { return tsr_region_tree_renew(((solid *)user)->regions, ((solid *)user)->tree); }

static void drop(solid *s)
{
    tsr_region_tree_destroy(&s->tree);
    tsr_region_pyramid_destroy(&s->regions);
    tsr_pyramid_destroy(&s->points);
    tsr_device_release(s->b->context, s->list, (size_t)s->count * 4);
    tsr_volume_destroy(&s->numbers);
    tsr_winding_destroy(&s->winding);
    tsr_mesh_destroy(&s->mesh);
    *s = (solid){ .b = s->b };
}

static tsr_status prepare(solid *s, tsr_size3 size)
{
    TSR_TRY(tsr_winding_create(s->b->context, size, NULL, tsr_mesh_vertex_count(s->mesh), &s->winding));
    TSR_TRY(tsr_volume_create(s->b->context, TSR_I32, size, NULL, &s->numbers));
    TSR_TRY(voxelise(s));
    TSR_TRY(tsr_winding_check(s->winding, s->mesh, NULL));
    return TSR_OK;
}

static tsr_status points_of(solid *s, tsr_size3 size)
{
    char table[64], numbers[64];
    tsr_pyramid_options o = TSR_PYRAMID_OPTIONS;
    tsr_pyramid_info info = TSR_PYRAMID_INFO;
    snprintf(table, sizeof table, "tables 6 %lldx%lldx%lld", (long long)size.x, (long long)size.y, (long long)size.z);
    o.classifier = TSR_PYRAMID_BOUNDARY;
    o.lower = 1;
    o.upper = INFINITY;
    TSR_TRY(prepare(s, size));
    const int64_t voxels = size.x * size.y * size.z;
    stage(s->b, table, "voxelisation", "", voxels, bench_measure(s->b, voxelise, s, NULL));
    TSR_TRY(tsr_pyramid_create(s->b->context, size, &o, &s->points));
    TSR_TRY(build_points(s));
    TSR_TRY(tsr_pyramid_describe(s->points, &info));
    s->count = (int64_t)info.total;
    TSR_TRY(tsr_device_allocate(s->b->context, (size_t)s->count * 4, &s->list));
    stage(s->b, table, "build", "", voxels, bench_measure(s->b, build_points, s, NULL));
    snprintf(numbers, sizeof numbers, ", %lld points", (long long)info.total);
    stage(s->b, table, "extraction", numbers, voxels, bench_measure(s->b, list_points, s, NULL));
    return TSR_OK;
}

tsr_status pyramid_tables_6(bench *b)
{
    static const tsr_size3 sizes[] = { { 256, 256, 256 }, { 256, 128, 128 }, { 256, 64, 64 } };
    solid s = { .b = b };
    tsr_status status = TSR_OK;
    for (int k = 0; k < 3 && status == TSR_OK; k++) {
        const double side = (double)sizes[k].z, centre[3] = { 128, 0.5 * side, 0.5 * side }, radius[2] = { 0.26 * side, 0.11 * side };
        status = make_mesh(b, 0, 56, 28, centre, radius, &s.mesh);
        if (status == TSR_OK) status = points_of(&s, sizes[k]);
        drop(&s);
    }
    return status;
}

static tsr_status octree_of(solid *s, int ball, int64_t side)
{
    char table[64], numbers[80];
    const tsr_size3 size = { side, side, side };
    const int64_t voxels = side * side * side;
    tsr_region_options o = TSR_REGION_OPTIONS;
    o.classifier = TSR_PYRAMID_RANGE;
    o.lower = 0;
    o.upper = 1; /* empty space */
    snprintf(table, sizeof table, "tables 9 %s %lld^3", ball ? "ball" : "torus", (long long)side);
    TSR_TRY(prepare(s, size));
    stage(s->b, table, "voxelisation", "", voxels, bench_measure(s->b, voxelise, s, NULL));
    TSR_TRY(tsr_region_pyramid_create(s->b->context, size, &o, &s->regions));
    TSR_TRY(build_regions(s));
    TSR_TRY(tsr_region_tree_extract(s->regions, &s->tree));
    stage(s->b, table, "build", "", voxels, bench_measure(s->b, build_regions, s, NULL));
    const tsr_region_info *info = tsr_region_tree_describe(s->tree);
    snprintf(numbers, sizeof numbers, ", %lld nodes, %lld leaves", (long long)info->nodes, (long long)info->leaves);
    stage(s->b, table, "lists", numbers, voxels, bench_measure(s->b, list_regions, s, NULL));
    return TSR_OK;
}

tsr_status pyramid_tables_9(bench *b)
{
    solid s = { .b = b };
    tsr_status status = TSR_OK;
    for (int64_t side = 128; side <= 256 && status == TSR_OK; side *= 2)
        for (int ball = 1; ball >= 0 && status == TSR_OK; ball--) {
            const double h = 0.5 * (double)side, radius[2] = { ball ? 0.1 * h : 0.45 * h, 0.2 * h };
            const double centre[3] = { ball ? 1.19 * h : h, ball ? 1.114 * h : h, ball ? 1.884 * h : h };
            status = ball ? make_mesh(b, 1, 12, 12, centre, radius, &s.mesh) : make_mesh(b, 0, 56, 28, centre, radius, &s.mesh);
            if (status == TSR_OK) status = octree_of(&s, ball, side);
            drop(&s);
        }
    return status;
}

/* ---- frames --------------------------------------------------------------------------------------------------------------------------------- */

typedef struct frame {
    bench *b;
    tsr_volume *channel[3];
    tsr_region_pyramid *pyramid;
    tsr_region_tree *tree;
} frame;
static tsr_status build_frame(void *user)
{
    frame *f = (frame *)user;
    return tsr_region_pyramid_build(f->pyramid, (const tsr_volume *const *)f->channel, 3);
}
static tsr_status list_frame(void *user) { return tsr_region_tree_renew(((frame *)user)->pyramid, ((frame *)user)->tree); }

/* Values from 0 to 1: shaded discs of several sizes before a slope, and noise of 1 in 64. */
static tsr_status make_frame(frame *f)
{
    enum { WIDTH = 720, HEIGHT = 576 };
    tsr_volume *host = NULL;
    TSR_TRY(tsr_volume_create(NULL, TSR_F32, (tsr_size3){ WIDTH, HEIGHT, 1 }, NULL, &host));
    uint64_t state = 7;
    tsr_status status = TSR_OK;
    for (int c = 0; c < 3 && status == TSR_OK; c++) {
        float *to = (float *)tsr_volume_data(host);
        for (int i = 0; i < WIDTH * HEIGHT; i++) {
            const int x = i % WIDTH, y = i / WIDTH;
            double v = 0.2 + 0.3 * x / WIDTH + 0.1 * c * y / HEIGHT;
            for (int k = 0; k < 40; k++) {
                const double dx = x - (k * 211 % WIDTH), dy = y - (k * 167 % HEIGHT), r = 12 + k * 3;
                const double d = (dx * dx + dy * dy) / (r * r);
                if (d < 1) v = (0.25 + 0.75 * (k * 37 % 64) / 64.0) * (1 - 0.6 * d) * (c == k % 3 ? 1 : 0.6);
            }
            state = state * 6364136223846793005u + 1442695040888963407u;
            to[i] = (float)(v + ((double)(state >> 40) * 0x1p-24 - 0.5) / 64);
        }
        status = tsr_volume_copy(host, f->b->context, &f->channel[c]);
    }
    tsr_volume_destroy(&host);
    return status;
}

static tsr_status quadtree_of(frame *f, tsr_region_rule_kind rule, const char *text, double threshold)
{
    char table[64], numbers[64];
    const tsr_size3 size = tsr_volume_size(f->channel[0]);
    tsr_region_options o = TSR_REGION_OPTIONS;
    o.rule = rule;
    o.threshold = threshold;
    o.singles = rule == TSR_REGION_EDGES; /* every pixel lies in a leaf, as there */
    snprintf(table, sizeof table, "tables 8 %s", text);
    TSR_TRY(tsr_region_pyramid_create(f->b->context, size, &o, &f->pyramid));
    TSR_TRY(build_frame(f));
    TSR_TRY(tsr_region_tree_extract(f->pyramid, &f->tree));
    stage(f->b, table, "build", "", size.x * size.y, bench_measure(f->b, build_frame, f, NULL));
    snprintf(numbers, sizeof numbers, ", %lld leaves", (long long)tsr_region_tree_describe(f->tree)->leaves);
    stage(f->b, table, "lists", numbers, size.x * size.y, bench_measure(f->b, list_frame, f, NULL));
    tsr_region_tree_destroy(&f->tree);
    tsr_region_pyramid_destroy(&f->pyramid);
    return TSR_OK;
}

/* Thresholds of deviation are lengths there, squares here (docs/theory/regions.md 2). */
tsr_status pyramid_tables_8(bench *b)
{
    frame f = { .b = b };
    tsr_status status = make_frame(&f);
    if (status == TSR_OK) status = quadtree_of(&f, TSR_REGION_DEVIATION, "deviation 0.1", 0.1 * 0.1);
    if (status == TSR_OK) status = quadtree_of(&f, TSR_REGION_DEVIATION, "deviation 0.2", 0.2 * 0.2);
    if (status == TSR_OK) status = quadtree_of(&f, TSR_REGION_EDGES, "edges 0.10", 0.10 * 0.10);
    if (status == TSR_OK) status = quadtree_of(&f, TSR_REGION_EDGES, "edges 0.22", 0.22 * 0.22);
    if (status == TSR_OK) status = quadtree_of(&f, TSR_REGION_EDGES, "edges 0.92", 0.92 * 0.92);
    tsr_region_tree_destroy(&f.tree);
    tsr_region_pyramid_destroy(&f.pyramid);
    for (int c = 0; c < 3; c++) tsr_volume_destroy(&f.channel[c]);
    return status;
}
