/* The experiments that start from points or meshes, with the tables of [Laan11] and [Jalba13] beside ours (docs/theory/reconstruction.md 11, docs/theory/levelset.md 8).
 *
 *   thai              5 M points to depth 12 (a CPU: 10): points on a sphere displaced over six octaves stand for the statue
 *   lucy              14 M points to depth 12 (a CPU: 2 M to 9), the same stand-in
 *   armadillo         points on the armadillo, coarse to fine and directly: steps of both
 *   angel             2 M points with noise of half a voxel of depth 10 and 4000 outliers, the same stand-in as for the statues
 *   dragon-collapse   the dragon in 512^3, first order, speed -0.1 and curvature 1
 *   edit-dragon       the same in 1024^3: 300 frames of strokes, each with the records and the mesh of what changed and a picture of 1920x1080
 *
 * Armadillo and dragon are those of scripts/get-data.sh meshes; where they are not there, a knotted tube with bumps of as many triangles as the publication's
 * scans stands in, and the cases say so. --quick takes fewer points and smaller grids. */
#include "experiments.h"

#include "core/parallel.h"
#include "mesh/mesh.h"
#include "mesh/points.h"

/* ---- what they share ---------------------------------------------------------------------------------------------------------------------------- */

struct rows {
    bench_field rule;
    float *field;
    int64_t n;
    double band;
};
static void fill_rows(void *user, int64_t begin, int64_t end, int worker)
{
    const struct rows *r = (const struct rows *)user;
    (void)worker;
    for (int64_t row = begin; row < end; row++)
        for (int64_t x = 0; x < r->n; x++)
            r->field[row * r->n + x] = (float)fmin(fmax(r->rule((double)x, (double)(row % r->n), (double)(row / r->n)), -r->band), r->band);
}
tsr_status bench_from_rule(bench *b, int64_t n, double band, bench_field rule, tsr_tiles **tiles)
{
    tsr_tiles_options options = TSR_TILES_OPTIONS;
    tsr_volume *host = NULL, *field = NULL;
    tsr_status status;
    options.band = band;
    TSR_TRY(tsr_volume_create(NULL, TSR_F32, (tsr_size3){ n, n, n }, NULL, &host));
    struct rows rows = { rule, (float *)tsr_volume_data(host), n, band };
    tsr_parallel(tsr_parallel_default_threads(), n * n, 64, fill_rows, &rows);
    TSR_TRY_GOTO(tsr_volume_copy(host, b->context, &field), done);
    TSR_TRY_GOTO(tsr_tiles_create(b->context, NULL, &options, tiles), done);
    TSR_TRY_GOTO(tsr_tiles_load(*tiles, field), done);
    TSR_TRY_GOTO(tsr_levelset_redistance(*tiles, 0, NULL), done);
    status = TSR_OK;
done:
    tsr_volume_destroy(&field);
    tsr_volume_destroy(&host);
    if (status != TSR_OK) tsr_tiles_destroy(tiles);
    return status;
}

double bench_spiral(double x, double y, double z)
{
    const double pi = 3.14159265358979323846, turns = 2.5, pitch = 32 / turns;
    const double dx = x - 64, dy = y - 64, r = sqrt(dx * dx + dy * dy), a = atan2(dy, dx);
    double nearest = 1e9;
    for (int k = 0; k <= 3; k++) {
        const double t = (a < 0 ? a + 2 * pi : a) / (2 * pi) + k;
        if (t <= turns) nearest = fmin(nearest, fabs(r - (12 + pitch * t)));
    }
    for (int end = 0; end < 2; end++) {
        const double t = end ? turns : 0, angle = 2 * pi * t, at = 12 + pitch * t;
        nearest = fmin(nearest, hypot(dx - at * cos(angle), dy - at * sin(angle)));
    }
    return fmax(nearest - 5, fabs(z - 64) - 20);
}

double bench_bumps(double x, double y, double z)
{
    const double dx = x - 256, dy = y - 256, dz = z - 256, r = sqrt(dx * dx + dy * dy + dz * dz), n = r > 1 ? 1 / r : 1;
    double height = 0, size = 9, frequency = 3;
    if (fabs(r - 190) > 40) return r - 190; /* far from every bump */
    for (int octave = 0; octave < 6; octave++, size *= 0.55, frequency *= 2)
        height += size * sin(frequency * dx * n + octave) * sin(frequency * 1.1 * dy * n + 2 * octave) * sin(frequency * 0.9 * dz * n + 3 * octave);
    return (r - 190 - height) * 0.7;
}

/* A tube round a trefoil, thick and thin by turns, bumps all over: closed, of 2 `along` x `round` triangles. */
static tsr_status knotted_tube(int32_t along, int32_t round, tsr_mesh **mesh)
{
    const double pi = 3.14159265358979323846;
    TSR_TRY(tsr_mesh_create(NULL, (int64_t)along * round, 2 * (int64_t)along * round, 0, mesh));
    float *v = tsr_mesh_vertices(*mesh);
    uint32_t *t = tsr_mesh_triangles(*mesh);
    for (int32_t i = 0; i < along; i++) {
        /* The line lies on a torus, whose normal `out` and the line's direction make the frame of the tube. */
        const double u = 2 * pi * i / along, c2 = cos(2 * u), s2 = sin(2 * u), c3 = cos(3 * u), s3 = sin(3 * u), far = 1 + 0.45 * c3;
        const double out[3] = { c3 * c2, c3 * s2, s3 };
        double go[3] = { -1.35 * s3 * c2 - 2 * far * s2, -1.35 * s3 * s2 + 2 * far * c2, 1.35 * c3 };
        const double length = sqrt(go[0] * go[0] + go[1] * go[1] + go[2] * go[2]);
        for (int k = 0; k < 3; k++) go[k] /= length;
        const double side[3] = { go[1] * out[2] - go[2] * out[1], go[2] * out[0] - go[0] * out[2], go[0] * out[1] - go[1] * out[0] };
        for (int32_t j = 0; j < round; j++) {
            const double w = 2 * pi * j / round;
            const double r = 0.2 * (1 + 0.3 * sin(5 * u)) * (1 + 0.06 * sin(40 * u) * sin(4 * w) + 0.02 * sin(150 * u) * sin(15 * w));
            const double at[3] = { far * c2, far * s2, 0.45 * s3 };
            const int64_t next = (int64_t)(i + 1) % along * round, own = (int64_t)i * round, here = own + j, beside = (j + 1) % round;
            for (int k = 0; k < 3; k++) v[3 * here + k] = (float)(at[k] + r * (cos(w) * out[k] + sin(w) * side[k]));
            const int64_t corners[6] = { here, next + j, next + beside, here, next + beside, own + beside };
            for (int k = 0; k < 6; k++) t[6 * here + k] = (uint32_t)corners[k];
        }
    }
    return TSR_OK;
}

/* A scan of the publications, its stand-in: 2 along x round triangles, as many as the scan has to a few hundred; which of the two it is. */
struct scan {
    const char *file, *name;
    int32_t along, round, made;
};
static struct scan the_armadillo(void) { return (struct scan){ "armadillo", "armadillo", 832, 208, 0 }; }     /* 345 944 */
static struct scan the_dragon(void) { return (struct scan){ "ChineseDragon-10kv", "dragon", 1320, 330, 0 }; } /* 871 414 */
static const char *stands_in(const struct scan *scan) { return scan->made ? " (stand-in)" : ""; }

/* Scaled to `extent` along its longest side; NULL and a message where TESSERA_MESHES names a folder without it. */
static tsr_mesh *scan_mesh(bench *b, struct scan *scan, double extent)
{
    const char *folder = getenv("TESSERA_MESHES");
    char path[600];
    tsr_mesh *mesh = NULL;
    tsr_mesh_measures m = TSR_MESH_MEASURES;
    snprintf(path, sizeof path, "%s/%s.off", folder ? folder : "data/meshes/meshes", scan->file);
    scan->made = access(path, R_OK) != 0;
    if (scan->made && folder) {
        bench_lacks(b, path);
        return NULL;
    }
    if ((scan->made ? knotted_tube(scan->along, scan->round, &mesh) : tsr_mesh_read(path, NULL, &mesh)) != TSR_OK ||
        tsr_mesh_measure(mesh, &m) != TSR_OK) {
        fprintf(stderr, "bench flow: %s\n", tsr_error_message());
        tsr_mesh_destroy(&mesh);
        return NULL;
    }
    const double scale = extent / fmax(m.upper.x - m.lower.x, fmax(m.upper.y - m.lower.y, m.upper.z - m.lower.z));
    const double from[3] = { m.lower.x, m.lower.y, m.lower.z };
    float *v = tsr_mesh_vertices(mesh);
    for (int64_t i = 0; i < 3 * tsr_mesh_vertex_count(mesh); i++) v[i] = (float)(((double)v[i] - from[i % 3]) * scale);
    printf("    %s: %s, %lld triangles\n", scan->name, scan->made ? "a knotted tube stands in (no data/meshes of scripts/get-data.sh)" : path,
           (long long)tsr_mesh_triangle_count(mesh));
    return mesh;
}

/* ---- points ---------------------------------------------------------------------------------------------------------------------------------------- */

static uint64_t next_random(uint64_t *state) /* splitmix64 */
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}
static double next_share(uint64_t *state) { return (double)(next_random(state) >> 11) * 0x1p-53; }

/* `count` points, evenly over the area of a mesh. */
static tsr_status sample_mesh(const tsr_mesh *mesh, int64_t count, tsr_points **points)
{
    const int64_t triangles = tsr_mesh_triangle_count(mesh);
    const float *v = tsr_mesh_vertices_const(mesh);
    const uint32_t *t = tsr_mesh_triangles_const(mesh);
    double *sum = (double *)malloc((size_t)triangles * sizeof *sum), all = 0;
    if (!sum) return TSR_ERROR_MEMORY;
    tsr_status status = tsr_points_create(NULL, count, 0, points);
    for (int64_t i = 0; i < triangles && status == TSR_OK; i++) {
        const float *p[3] = { v + 3 * (int64_t)t[3 * i], v + 3 * (int64_t)t[3 * i + 1], v + 3 * (int64_t)t[3 * i + 2] };
        double a[3], c[3];
        for (int k = 0; k < 3; k++) {
            a[k] = (double)p[1][k] - (double)p[0][k];
            c[k] = (double)p[2][k] - (double)p[0][k];
        }
        all += sqrt(pow(a[1] * c[2] - a[2] * c[1], 2) + pow(a[2] * c[0] - a[0] * c[2], 2) + pow(a[0] * c[1] - a[1] * c[0], 2));
        sum[i] = all;
    }
    uint64_t state = 1;
    float *to = status == TSR_OK ? tsr_points_positions(*points) : NULL;
    for (int64_t i = 0; i < count && status == TSR_OK; i++) {
        const double wanted = next_share(&state) * all, root = sqrt(next_share(&state)), share = next_share(&state);
        int64_t low = 0, high = triangles - 1;
        while (low < high) {
            const int64_t middle = (low + high) / 2;
            if (sum[middle] < wanted) low = middle + 1;
            else high = middle;
        }
        for (int k = 0; k < 3; k++)
            to[3 * i + k] =
                (float)((1 - root) * (double)v[3 * (int64_t)t[3 * low] + k] + root * (1 - share) * (double)v[3 * (int64_t)t[3 * low + 1] + k] +
                        root * share * (double)v[3 * (int64_t)t[3 * low + 2] + k]);
    }
    free(sum);
    return status;
}

/* A level of the published tables; times are added up over the levels, without the octree. 0: not given. */
typedef struct level {
    int32_t depth;
    int64_t steps, tiles;
    double hybrid, gpu, percent;
} level;

static const level thai[] = { { 7, 704, 1724, 2.2, 2.6, 0.1 },
                              { 8, 297, 7127, 4.4, 3.3, 0.05 },
                              { 9, 128, 38425, 10.1, 5.5, 0.03 },
                              { 10, 107, 138812, 30.5, 9.5, 0.02 },
                              { 11, 101, 557030, 122.9, 25.7, 0.009 },
                              { 12, 100, 2246782, 506.3, 0, 0 },
                              { 0 } };
static const level lucy[] = { { 7, 602, 1320, 1.9, 2.3, 0.08 },
                              { 8, 210, 6691, 2.5, 2.7, 0.04 },
                              { 9, 180, 35956, 6.4, 4.5, 0.02 },
                              { 10, 120, 127537, 22.8, 8.3, 0.01 },
                              { 11, 112, 408362, 95.0, 21.7, 0.006 },
                              { 12, 114, 2047288, 432.4, 0, 0 },
                              { 0 } };
static const level armadillo[] = { { 7, 700, 0, 0, 0, 0 }, { 8, 100, 0, 0, 0, 0 }, { 9, 100, 0, 0, 0, 0 }, { 10, 100, 0, 0, 0, 0 }, { 0 } };
static const level angel[] = { { 10, 0, 0, 0, 0, 0 }, { 0 } };

static void print_number(double v, const char *format, int width)
{
    if (v > 0) printf(format, width, v);
    else printf("%*s", width, "-");
}

/* Runs, prints the table, reports the time of all levels. `steps`: of all levels. */
static tsr_status reconstruct(bench *b, const char *name, tsr_points *host, int32_t start, int32_t depth, const level *source, int64_t *steps)
{
    tsr_reconstruct_options options = TSR_RECONSTRUCT_OPTIONS;
    tsr_reconstruct_report report = TSR_RECONSTRUCT_REPORT;
    tsr_mesh_measures m = TSR_MESH_MEASURES;
    tsr_points *points = NULL;
    tsr_tiles *tiles = NULL;
    tsr_mesh *mesh = NULL, *whole = NULL;
    tsr_status status;
    char text[128];
    int errors_hold = 1, levels_compared = 0;
    double total = 0;
    *steps = 0;
    options.depth = depth;
    options.start_depth = start;
    TSR_TRY(tsr_points_copy(host, b->context, &points));
    const double began = bench_clock(b->clock);
    TSR_TRY_GOTO(tsr_reconstruct(b->context, points, &options, &tiles, &report), done);
    TSR_TRY_GOTO(tsr_context_synchronize(b->context), done);
    const double seconds = bench_clock(b->clock) - began;
    TSR_TRY_GOTO(tsr_surface_extract_tiles(b->context, tiles, NULL, &mesh, NULL), done);
    TSR_TRY_GOTO(tsr_mesh_copy(mesh, NULL, &whole), done);
    TSR_TRY_GOTO(tsr_mesh_measure(whole, &m), done);
    printf("    %s: source (GTX 280 and Core 2; s added up, without the octree)        | here (%s; the same sums)\n", name, b->device);
    printf("    depth  steps     tiles  hybrid s    GPU s   error %%  |  steps     tiles          s   error %%  voxels\n");
    for (int32_t i = 0; i < report.levels; i++) {
        const tsr_reconstruct_level *l = &report.level[i];
        const level *s = source;
        while (s->depth && s->depth != l->level) s++;
        total += l->seconds;
        *steps += l->steps;
        printf("    %5d ", l->level);
        print_number((double)s->steps, "%*.0f", 6);
        print_number((double)s->tiles, "%*.0f", 10);
        print_number(s->hybrid, "%*.1f", 10);
        print_number(s->gpu, "%*.1f", 9);
        print_number(s->percent, "%*.3f", 10);
        printf("  | %6lld %9lld %10.3f %9.4f %7.3f%s\n", (long long)l->steps, (long long)l->tiles, total, l->error_percent, l->error / l->voxel,
               l->converged ? "" : " (not at rest)");
        if (s->percent > 0) {
            levels_compared++;
            errors_hold &= l->error_percent <= s->percent;
        }
    }
    snprintf(text, sizeof text, "%s, %.3g M points to depth %d", name, 1e-6 * (double)tsr_points_count(host), depth);
    const int one = m.components == 1;
    bench_report(b, &(bench_case){ .name = text,
                                   .n = report.level[report.levels - 1].tiles,
                                   .time = { seconds, seconds, seconds, 1 },
                                   .bar = levels_compared ? "one piece, errors of no level above the published ones" : "one piece",
                                   .holds = one && errors_hold });
    printf("    octree %.3f s; %lld piece%s\n", report.tree_seconds, (long long)m.components, one ? "" : "s");
    status = TSR_OK;
done:
    tsr_mesh_destroy(&whole);
    tsr_mesh_destroy(&mesh);
    tsr_tiles_destroy(&tiles);
    tsr_points_destroy(&points);
    return status;
}

/* Parts with seeds of their own, side by side: one thread takes three seconds a million. */
enum { PARTS = 64 };
typedef struct parts {
    tsr_points *whole;
    tsr_points_options make;
    int64_t surface; /* points on it */
    int failed;
} parts;
static void make_parts(void *user, int64_t begin, int64_t end, int worker)
{
    parts *p = (parts *)user;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        const int64_t from = p->surface * i / PARTS;
        tsr_points_options make = p->make;
        tsr_points *part = NULL;
        make.count = p->surface * (i + 1) / PARTS - from;
        make.seed = (uint64_t)i + 1;
        if (tsr_points_make("points-displaced", &make, &part) == TSR_OK)
            memcpy(tsr_points_positions(p->whole) + 3 * from, tsr_points_positions_const(part), (size_t)make.count * 12);
        else __atomic_store_n(&p->failed, 1, __ATOMIC_RELAXED);
        tsr_points_destroy(&part);
    }
}
/* `outliers` more points lie anywhere in the box of twice 1.1. */
static tsr_status statue(bench *b, const char *name, int64_t count, double noise, int64_t outliers, int32_t depth, const level *source)
{
    parts p = { .make = TSR_POINTS_OPTIONS, .surface = count };
    int64_t steps;
    uint64_t state = 1;
    p.make.noise = noise;
    TSR_TRY(tsr_points_create(NULL, count + outliers, 0, &p.whole));
    tsr_parallel(tsr_parallel_default_threads(), PARTS, 1, make_parts, &p);
    float *to = tsr_points_positions(p.whole) + 3 * count;
    for (int64_t i = 0; i < 3 * outliers; i++) to[i] = (float)(2.2 * next_share(&state) - 1.1);
    tsr_status status = p.failed ? TSR_ERROR_MEMORY : reconstruct(b, name, p.whole, 7, depth, source, &steps);
    tsr_points_destroy(&p.whole);
    return status;
}

static tsr_status scanned_armadillo(bench *b, int gpu)
{
    const int32_t depth = b->quick ? 8 : gpu ? 10 : 9;
    struct scan scan = the_armadillo();
    tsr_mesh *mesh = scan_mesh(b, &scan, 1);
    tsr_points *points = NULL;
    int64_t levels = 0, direct = 0;
    if (!mesh) return TSR_OK;
    const char *name = scan.made ? "armadillo (stand-in)" : "armadillo",
               *directly = scan.made ? "armadillo (stand-in), directly" : "armadillo, directly";
    tsr_status status = sample_mesh(mesh, b->quick ? 60000 : gpu ? 2000000 : 400000, &points);
    tsr_mesh_destroy(&mesh);
    if (status == TSR_OK) status = reconstruct(b, name, points, 7, depth, armadillo, &levels);
    if (status == TSR_OK) status = reconstruct(b, directly, points, depth < 9 ? depth : 9, depth, armadillo, &direct);
    if (status == TSR_OK)
        printf("    source: more than 1000 steps at depth 10 directly; here %lld steps of all levels, directly %lld\n", (long long)levels,
               (long long)direct);
    tsr_points_destroy(&points);
    return status;
}

/* ---- meshes ----------------------------------------------------------------------------------------------------------------------------------------- */

/* *path: the mesh itself, or NULL where it is missing. */
static tsr_status dragon_list(bench *b, struct scan *scan, double extent, double band, tsr_tiles **tiles, tsr_mesh **path)
{
    tsr_voxelize_options options = TSR_VOXELIZE_OPTIONS;
    tsr_mesh *mesh = NULL;
    *path = scan_mesh(b, scan, extent);
    if (!*path) return TSR_OK;
    options.spacing = (tsr_vec3){ 1, 1, 1 };
    options.band = band;
    tsr_status status = tsr_mesh_copy(*path, b->context, &mesh);
    if (status == TSR_OK) status = tsr_tiles_from_mesh(b->context, mesh, &options, tiles, NULL);
    tsr_mesh_destroy(&mesh);
    return status;
}

static tsr_status dragon_collapse(bench *b, int gpu)
{
    tsr_levelset_options options = TSR_LEVELSET_OPTIONS;
    tsr_levelset_report report = TSR_LEVELSET_REPORT;
    tsr_tiles_info info = TSR_TILES_INFO;
    tsr_tiles *tiles = NULL;
    tsr_levelset *solver = NULL;
    tsr_mesh *path;
    tsr_status status;
    char name[80];
    struct scan scan = the_dragon();
    const double extent = b->quick ? 128 : 500; /* room for the band within 512 */
    status = dragon_list(b, &scan, extent, 1.5, &tiles, &path);
    tsr_mesh_destroy(&path);
    if (status != TSR_OK || !tiles) return status;
    options.terms[0] = (tsr_levelset_term){ .kind = TSR_LEVELSET_SPEED, .value = -0.1 };
    options.terms[1] = (tsr_levelset_term){ .kind = TSR_LEVELSET_CURVATURE, .value = 0.5 };
    options.term_count = 2;
    options.time_step = 0.3;
    options.fused = gpu;
    options.max_steps = gpu || b->quick ? 20000 : 100;
    TSR_TRY_GOTO(tsr_tiles_describe(tiles, &info), done);
    TSR_TRY_GOTO(tsr_levelset_create(tiles, &options, &solver), done);
    TSR_TRY_GOTO(tsr_levelset_step(solver, 4, NULL, &report), done);
    const double began = bench_clock(b->clock);
    TSR_TRY_GOTO(tsr_levelset_run(solver, NULL, &report), done);
    const double seconds = bench_clock(b->clock) - began, step = seconds / (double)(report.steps ? report.steps : 1);
    snprintf(name, sizeof name, "dragon-collapse%s, first order, a step", stands_in(&scan));
    bench_report(b, &(bench_case){ .name = name, .n = info.active_voxels, .time = { step, step, step, 1 } });
    printf("    %lld tiles of 8^3 at first; %lld steps, %.3f s%s\n    source: about 5 times as fast as the narrow band of Roberts et al. (no times "
           "given)\n",
           (long long)info.count, (long long)report.steps, seconds, report.empty ? ", then nothing was left" : " (the first of the run)");
    status = TSR_OK;
done:
    tsr_levelset_destroy(&solver);
    tsr_tiles_destroy(&tiles);
    return status;
}

enum { FRAMES = 300 };
/* Seconds of each frame: the dab's steps on the tiles within reach; their way into the model's list and its management (list_seconds of the history); the records of what changed; a mesh of it; the pixels that changed. Apart: a whole picture, which only a frame that moves the
 * camera needs. */
enum { UPDATE, MANAGE, EXTRACT, MESH, DRAW, WHOLE, CAMERA, STAGES };
struct frame {
    double stage[STAGES][FRAMES];
    int64_t pixels;
};
struct edit_session {
    bench *b;
    tsr_editor *editor;
    tsr_records_tracker *records;
    tsr_surface_tracker *mesh;
    tsr_picture *picture, *spare;
    tsr_camera camera;
};

/* One frame of a session: a dab that grows, shrinks or smooths, records of what it changed, and the picture from them; the mesh as a saved file would
 * need it. */
static tsr_status one_frame(struct edit_session *s, const tsr_brush *dab, int smooth, int i, struct frame *f)
{
    bench *b = s->b;
    tsr_render_options look = TSR_RENDER_OPTIONS;
    tsr_surface_region region;
    const tsr_surface_region *changed;
    const tsr_records *records;
    const tsr_mesh *mesh;
    tsr_edit_history history = TSR_EDIT_HISTORY;
    int64_t pixels;
    const double wall = bench_clock(CLOCK_MONOTONIC), t0 = bench_clock(b->clock);
    TSR_TRY(smooth ? tsr_editor_smooth_brush(s->editor, "dragon", dab, NULL) : tsr_editor_brush(s->editor, "dragon", dab, NULL));
    TSR_TRY(tsr_context_synchronize(b->context));
    const double dab_seconds = bench_clock(b->clock) - t0, wall_seconds = bench_clock(CLOCK_MONOTONIC) - wall;
    tsr_editor_history(s->editor, &history);
    const double t1 = bench_clock(b->clock);
    TSR_TRY(tsr_editor_changes(s->editor, "dragon", &region, &changed));
    TSR_TRY(tsr_records_update(s->records, tsr_editor_tiles(s->editor, "dragon"), changed, &records, NULL));
    TSR_TRY(tsr_context_synchronize(b->context));
    const double t2 = bench_clock(b->clock);
    TSR_TRY(tsr_surface_update(s->mesh, tsr_editor_tiles(s->editor, "dragon"), changed, &mesh, NULL));
    TSR_TRY(tsr_context_synchronize(b->context));
    const double t3 = bench_clock(b->clock);
    TSR_TRY(tsr_records_redraw(s->records, &s->camera, &look, 1, s->picture, &pixels));
    TSR_TRY(tsr_context_synchronize(b->context));
    const double t4 = bench_clock(b->clock);
    if (i % 50 == 0) {
        TSR_TRY(tsr_records_draw(records, &s->camera, &look, 1, s->spare));
        TSR_TRY(tsr_context_synchronize(b->context));
        f->stage[CAMERA][i / 50] = bench_clock(b->clock) - t4;
    }
    f->stage[MANAGE][i] = dab_seconds * history.list_seconds / wall_seconds; /* the same share, whichever clock */
    f->stage[UPDATE][i] = dab_seconds - f->stage[MANAGE][i];
    f->stage[EXTRACT][i] = t2 - t1;
    f->stage[MESH][i] = t3 - t2;
    f->stage[DRAW][i] = t4 - t3;
    f->stage[WHOLE][i] = dab_seconds + (t4 - t1);
    if (i > 0 && pixels > f->pixels) f->pixels = pixels;
    return TSR_OK;
}

static bench_time summary(double *seconds, int count)
{
    qsort(seconds, (size_t)count, sizeof *seconds, bench_compare);
    return (bench_time){ seconds[count / 2], seconds[0], seconds[count - 1], count };
}

static tsr_status edit_dragon(bench *b, int gpu)
{
    const int32_t width = b->quick ? 320 : 1920, height = b->quick ? 180 : 1080, frames = b->quick ? 12 : FRAMES;
    tsr_editor_options options = TSR_EDITOR_OPTIONS;
    tsr_tiles_info info = TSR_TILES_INFO;
    tsr_tiles *tiles = NULL;
    struct edit_session s = { .b = b };
    tsr_mesh *path = NULL;
    tsr_mesh_measures m = TSR_MESH_MEASURES;
    tsr_status status;
    struct scan scan = the_dragon();
    struct frame *f = (struct frame *)calloc(1, sizeof *f);
    const double extent = b->quick ? 200 : 1000;
    if (!f) return TSR_ERROR_MEMORY;
    options.draft = 1;
    TSR_TRY_GOTO(dragon_list(b, &scan, extent, 3, &tiles, &path), done);
    if (!path) {
        status = TSR_OK;
        goto done;
    }
    TSR_TRY_GOTO(tsr_tiles_describe(tiles, &info), done);
    TSR_TRY_GOTO(tsr_mesh_measure(path, &m), done);
    TSR_TRY_GOTO(tsr_editor_create(b->context, &options, &s.editor), done);
    TSR_TRY_GOTO(tsr_editor_add(s.editor, "dragon", tiles), done);
    TSR_TRY_GOTO(tsr_records_tracker_create(b->context, 0, &s.records), done);
    TSR_TRY_GOTO(tsr_surface_tracker_create(b->context, NULL, &s.mesh), done);
    TSR_TRY_GOTO(tsr_picture_create(b->context, width, height, &s.picture), done);
    TSR_TRY_GOTO(tsr_picture_create(b->context, width, height, &s.spare), done);
    TSR_TRY_GOTO(tsr_camera_orbit(&(tsr_box){ m.lower, m.upper }, TSR_SPACE_NONE, 30, 20, TSR_PERSPECTIVE, (double)width / height, &s.camera), done);
    for (int32_t i = -2; i < frames; i++) { /* two to warm up */
        const float *at = tsr_mesh_vertices_const(path) + 3 * ((int64_t)(i + 2) * (tsr_mesh_vertex_count(path) / (FRAMES + 2)));
        const tsr_brush dab = { { (double)at[0], (double)at[1], (double)at[2] }, 8, (i + 2) % 3 == 0 ? -1 : 1, 1 }; /* shrink, grow, smooth */
        TSR_TRY_GOTO(one_frame(&s, &dab, (i + 2) % 3 == 2, i < 0 ? 0 : i, f), done);
    }
    bench_time t[STAGES];
    for (int k = 0; k < STAGES; k++) t[k] = summary(f->stage[k], k == CAMERA ? (frames + 49) / 50 : frames);
    char name[120];
    snprintf(name, sizeof name, "edit-dragon%s, a frame of %dx%d at %.0f^3", stands_in(&scan), width, height, b->quick ? 256.0 : 1024.0);
    bench_report(b, &(bench_case){ .name = name,
                                   .n = info.active_voxels,
                                   .time = t[WHOLE],
                                   .bar = gpu ? "16 ms" : "100 ms; published: 50",
                                   .holds = t[WHOLE].median <= (gpu ? 16e-3 : 100e-3) });
    static const char *const stages[STAGES] = { "update", "management", "extraction", "mesh", "drawing", "a frame", "whole picture" };
    printf("    %lld tiles of 8^3, %d frames; ms       least  median    most\n", (long long)info.count, frames);
    for (int k = 0; k < STAGES; k++) printf("    %-32s %8.2f %7.2f %7.2f\n", stages[k], 1e3 * t[k].min, 1e3 * t[k].median, 1e3 * t[k].max);
    printf("    drawing: at most %lld pixels of %d; a whole picture %.1f Mpixel/s\n", (long long)f->pixels, width * height,
           1e-6 * width * height / t[CAMERA].median);
    printf("    source: at least about 20 frames/s; here at least %.0f, half of them above %.0f\n", 1 / t[WHOLE].max, 1 / t[WHOLE].median);
    status = TSR_OK;
done:
    tsr_picture_destroy(&s.picture);
    tsr_picture_destroy(&s.spare);
    tsr_records_tracker_destroy(&s.records);
    tsr_surface_tracker_destroy(&s.mesh);
    tsr_editor_destroy(&s.editor);
    tsr_mesh_destroy(&path);
    tsr_tiles_destroy(&tiles);
    free(f);
    return status;
}

tsr_status bench_experiments(bench *b, int gpu)
{
    const double half_voxel = 0.5 * 2.25 / 1024; /* the grid is an eighth wider than the points */
    if (!b->only) return TSR_OK;
    if (bench_wants(b, "thai")) TSR_TRY(statue(b, "thai", b->quick ? 100000 : 5000000, 0, 0, b->quick ? 8 : gpu ? 12 : 10, thai));
    if (bench_wants(b, "lucy")) TSR_TRY(statue(b, "lucy", b->quick ? 100000 : gpu ? 14000000 : 2000000, 0, 0, b->quick ? 8 : gpu ? 12 : 9, lucy));
    if (bench_wants(b, "armadillo")) TSR_TRY(scanned_armadillo(b, gpu));
    if (bench_wants(b, "angel"))
        TSR_TRY(statue(b, "angel", b->quick ? 100000 : 2000000, half_voxel, b->quick ? 200 : 4000, b->quick ? 8 : 10, angel));
    if (bench_wants(b, "dragon-collapse")) TSR_TRY(dragon_collapse(b, gpu));
    if (bench_wants(b, "edit-dragon")) TSR_TRY(edit_dragon(b, gpu));
    return TSR_OK;
}
