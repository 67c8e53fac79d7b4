/* bench_surface: cells per second of marching cubes: a gyroid of 460 voxels per period, which cuts 1 % of the cells at every size, the
 * noise that cuts nearly all, with and without decided faces and in the order of a view, and a tile list; gyroids of the sizes and the shares of cut
 * cells of the table that the literature gives ([Ziegler10] table 7.1; docs/theory/surfaces.md 10). Bytes that must move: the samples
 * once, the mesh once. Peer on the CPU: vtkFlyingEdges3D on the same samples with as many threads, if bench/peers/vtk_flying_edges.cpp was
 * built; the same output, indexed triangles without normals.
 * Compact records of lists of eight million voxels, on a GPU of 131 million, too (--only records).
 * Real volumes under TESSERA_DATA: a head MRI, a chest CT, a skull, as they are and resampled to 256^3. */
#include <dlfcn.h>
#include <math.h>

#include "bench.h"

typedef long long (*flying_edges)(const float *data, int nx, int ny, int nz, double isovalue, int threads);

struct job {
    tsr_context *context;
    const tsr_volume *volume;
    const tsr_tiles *tiles;
    tsr_surface_workspace *workspace; /* not NULL: memory and mesh of the call before */
    tsr_surface_options options;
    int64_t vertices, triangles;
    tsr_surface_report report;
    flying_edges peer;
    const float *samples;
    int threads, bar; /* times the peer, per core */
};

static tsr_status run(void *user)
{
    struct job *j = (struct job *)user;
    tsr_mesh *mesh = NULL;
    if (j->workspace) {
        const tsr_mesh *kept = NULL;
        j->report.struct_size = sizeof j->report;
        const tsr_status again = tsr_surface_extract_again(j->workspace, j->volume, &j->options, &kept, &j->report);
        if (again == TSR_OK) {
            j->vertices = tsr_mesh_vertex_count(kept);
            j->triangles = tsr_mesh_triangle_count(kept);
        }
        return again;
    }
    j->report.struct_size = sizeof j->report;
    tsr_status status = j->tiles ? tsr_surface_extract_tiles(j->context, j->tiles, &j->options, &mesh, &j->report)
                                 : tsr_surface_extract(j->context, j->volume, &j->options, &mesh, &j->report);
    if (status == TSR_OK) {
        j->vertices = tsr_mesh_vertex_count(mesh);
        j->triangles = tsr_mesh_triangle_count(mesh);
    }
    tsr_mesh_destroy(&mesh);
    return status;
}
static tsr_status run_peer(void *user)
{
    const struct job *j = (const struct job *)user;
    tsr_size3 n = tsr_volume_size(j->volume);
    return j->peer(j->samples, (int)n.x, (int)n.y, (int)n.z, j->options.isovalue, j->threads) > 0 ? TSR_OK : TSR_ERROR_STATE;
}

static void measure(bench *b, struct job *job, const char *what, tsr_dtype dtype, int64_t samples, int64_t cells, const char *bar, double rate)
{
    char name[96];
    bench_time t, peer = { 0 };
    if (job->peer && dtype == TSR_F32 && !job->tiles) bench_measure_pair(b, run, run_peer, job, &t, &peer);
    else t = bench_measure(b, run, job, NULL);
    double bytes = (double)samples * (double)tsr_dtype_size(dtype) + 12.0 * (double)(job->vertices * (job->options.normals ? 2 : 1) + job->triangles);
    double per_second = t.runs ? (double)cells / t.median : 0;
    snprintf(name, sizeof name, "%s, %.2f G cells/s, %.1f M triangles", what, per_second * 1e-9, (double)job->triangles * 1e-6);
    int against_peer = peer.runs > 0 && b->threads == 1;
    bench_report(b, &(bench_case){ .name = name,
                                   .n = cells,
                                   .time = t,
                                   .bytes = bytes,
                                   .peer = peer.runs ? "vtkFlyingEdges3D" : NULL,
                                   .peer_time = peer,
                                   .bar = bar             ? bar
                                          : !against_peer ? NULL
                                          : job->bar == 3 ? "3 times vtkFlyingEdges3D per core"
                                                          : "2 times vtkFlyingEdges3D per core",
                                   .holds = bar ? per_second >= rate : against_peer && t.median * job->bar <= peer.median });
}

/* Values in [0, 1]; noise: one hash per voxel; else a gyroid. */
static tsr_volume *make(tsr_size3 size, double period, int noise)
{
    tsr_volume *volume;
    const int64_t n = size.x > size.y ? (size.x > size.z ? size.x : size.z) : size.y > size.z ? size.y : size.z;
    double *table = (double *)malloc((size_t)n * 2 * sizeof *table);
    if (!table || tsr_volume_create(NULL, TSR_F32, size, NULL, &volume) != TSR_OK) {
        free(table);
        return NULL;
    }
    float *f = (float *)tsr_volume_data(volume);
    for (int64_t i = 0; i < n; i++) {
        table[2 * i] = sin(2 * 3.14159265358979 / period * (double)i);
        table[2 * i + 1] = cos(2 * 3.14159265358979 / period * (double)i);
    }
    for (int64_t z = 0, v = 0; z < size.z; z++)
        for (int64_t y = 0; y < size.y; y++)
            for (int64_t x = 0; x < size.x; x++, v++) {
                uint64_t h = (uint64_t)v * 0x9e3779b97f4a7c15u;
                h = (h ^ h >> 29) * 0xbf58476d1ce4e5b9u;
                f[v] = noise
                           ? (float)(h >> 40) * 0x1p-24f
                           : (float)(0.5 + (table[2 * x] * table[2 * y + 1] + table[2 * y] * table[2 * z + 1] + table[2 * z] * table[2 * x + 1]) / 6);
            }
    free(table);
    return volume;
}

static int dense(bench *b, int64_t n, flying_edges peer)
{
    static const tsr_dtype types[3] = { TSR_F32, TSR_U16, TSR_U8 };
    int bar = tsr_context_device(b->context).kind == TSR_DEVICE_CUDA && n != 512, failed;
    int64_t cells = (n - 1) * (n - 1) * (n - 1);
    tsr_volume *host = make((tsr_size3){ n, n, n }, 460, 0), *scaled = NULL, *typed = NULL, *volume = NULL;
    failed = !host;
    for (int k = 0; k < 3 && !failed; k++) {
        struct job job = {
            b->context, .options = TSR_SURFACE_OPTIONS, .peer = peer, .samples = (const float *)tsr_volume_data(host), .threads = b->threads, .bar = 2
        };
        char name[64];
        double most = types[k] == TSR_U16 ? 60000 : types[k] == TSR_U8 ? 250 : 1;
        failed = tsr_volume_set_scaling(host, most, 0) != TSR_OK || tsr_volume_copy(host, b->context, &scaled) != TSR_OK ||
                 (k && tsr_volume_convert(b->context, scaled, types[k], &typed) != TSR_OK);
        volume = k ? typed : scaled;
        if (failed || tsr_volume_set_scaling(volume, 1, 0) != TSR_OK) break;
        job.volume = volume;
        job.options.isovalue = 0.4 * most;
        snprintf(name, sizeof name, "gyroid %s %lld^3", tsr_dtype_name(types[k]), (long long)n);
        measure(b, &job, name, types[k], n * n * n, cells, bar ? (n >= 1024 ? "600 G cells/s" : "300 G cells/s") : NULL, n >= 1024 ? 600e9 : 300e9);
        job.peer = NULL;
        failed = tsr_surface_workspace_create(b->context, &job.workspace) != TSR_OK;
        if (failed) break;
        snprintf(name, sizeof name, "gyroid %s %lld^3, frame after frame", tsr_dtype_name(types[k]), (long long)n);
        measure(b, &job, name, types[k], n * n * n, cells, bar ? (n >= 1024 ? "600 G cells/s" : "300 G cells/s") : NULL, n >= 1024 ? 600e9 : 300e9);
        tsr_surface_workspace_destroy(&job.workspace);
        if (k == 0) {
            job.options.normals = TSR_SURFACE_NORMALS_CENTRAL;
            job.peer = NULL;
            snprintf(name, sizeof name, "gyroid f32 %lld^3, central normals", (long long)n);
            measure(b, &job, name, types[k], n * n * n, cells, NULL, 0);
        }
        tsr_volume_destroy(&typed);
        tsr_volume_destroy(&scaled);
    }
    tsr_volume_destroy(&typed);
    tsr_volume_destroy(&scaled);
    tsr_volume_destroy(&host);
    return failed;
}

/* Cayley's cubic 4 (x^2 + y^2 + z^2) + 16 x y z - 1 in [-0.95, 0.95]^3, which has the published shares of cut cells. */
static tsr_volume *make_cayley(tsr_size3 size)
{
    tsr_volume *volume;
    if (tsr_volume_create(NULL, TSR_F32, size, NULL, &volume) != TSR_OK) return NULL;
    float *f = (float *)tsr_volume_data(volume);
    const double step = 1.9 / (double)(size.x - 1);
    for (int64_t i = 0; i < size.x * size.y * size.z; i++) {
        const double x = step * (double)(i % size.x) - 0.95, y = step * (double)(i / size.x % size.y) - 0.95,
                     z = step * (double)(i / size.x / size.y) - 0.95;
        f[i] = (float)(4 * (x * x + y * y + z * z) + 16 * x * y * z - 1);
    }
    return volume;
}

/* The share of cut cells in percent, two triangles to a cut cell, with the job's volume made anew; below 0: failed. */
static double share_of(bench *b, struct job *job, tsr_volume **volume, tsr_volume *host, int64_t cells)
{
    tsr_volume_destroy(volume);
    const int failed = !host || tsr_volume_copy(host, b->context, volume) != TSR_OK;
    tsr_volume_destroy(&host);
    job->volume = *volume;
    return failed || run(job) != TSR_OK ? -1 : 50.0 * (double)job->triangles / (double)cells;
}

/* A gyroid whose period gives the share; where few periods fit, one period whose value does. */
static int cut_to_share(bench *b, struct job *job, tsr_volume **volume, tsr_size3 size, int64_t cells, double percent)
{
    double period = 460 / percent, share = 0, low = 0.5, high = 1;
    job->options.isovalue = 0.4;
    for (int turn = 0; turn < 3; turn++) {
        share = share_of(b, job, volume, make(size, period, 0), cells);
        if (share < 0) return 1;
        if (turn < 2 && share > 0) period *= share / percent;
    }
    if (fabs(share - percent) <= 0.02 * percent) return 0;
    for (int turn = 0; turn < 14; turn++) { /* the share falls from the middle of the values to their end */
        job->options.isovalue = 0.5 * (low + high);
        share = share_of(b, job, volume, make(size, (double)size.x, 0), cells);
        if (share < 0) return 1;
        if (share > percent) low = job->options.isovalue;
        else high = job->options.isovalue;
    }
    return 0;
}

/* The rows of the table. */
static int table_row(bench *b, const char *model, tsr_size3 cells, double percent)
{
    struct job job = { b->context, .options = TSR_SURFACE_OPTIONS, .threads = b->threads };
    const tsr_size3 size = { cells.x + 1, cells.y + 1, cells.z + 1 };
    const int64_t all = cells.x * cells.y * cells.z;
    tsr_volume *volume = NULL;
    int failed =
        !strcmp(model, "Cayley") ? share_of(b, &job, &volume, make_cayley(size), all) < 0 : cut_to_share(b, &job, &volume, size, all, percent);
    if (!failed) {
        char name[112];
        const bench_time t = bench_measure(b, run, &job, NULL);
        const double temporary = (double)job.report.work_bytes / (double)all;
        snprintf(name, sizeof name, "table 7.1 %s %lldx%lldx%lld, %.2f %% (%.2f): %.0f M cells/s, %.2f bytes/cell beside", model, (long long)cells.x,
                 (long long)cells.y, (long long)cells.z, percent, 50.0 * (double)job.triangles / (double)all,
                 t.runs ? (double)all / t.median * 1e-6 : 0, temporary);
        const int large = all > 1000000;
        bench_report(b, &(bench_case){ .name = name,
                                       .n = all,
                                       .time = t,
                                       .bytes = 4.0 * (double)(size.x * size.y * size.z) + 12.0 * (double)(job.vertices + job.triangles),
                                       .bar = large ? "at most 1.5 bytes per cell beside volume and mesh" : NULL,
                                       .holds = temporary <= 1.5 });
    }
    tsr_volume_destroy(&volume);
    return failed;
}
static int table(bench *b)
{
    static const struct {
        const char *model;
        int64_t deep;
        double percent[4];
    } rows[] = { { "Bunny", 256, { 3.18, 5.64, 9.07, 13.57 } },   { "CTHead", 128, { 3.73, 6.25, 9.62, 14.46 } },
                 { "MRBrain", 128, { 5.87, 7.35, 9.96, 14.91 } }, { "Bonsai", 256, { 3.04, 5.07, 6.69, 8.17 } },
                 { "Aneurism", 256, { 1.60, 2.11, 3.70, 6.80 } }, { "Cayley", 256, { 0.93, 1.89, 3.87, 8.10 } } };
    int failed = 0;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        for (int half = b->quick ? 2 : 0; half < 4 && !failed; half++)
            failed =
                table_row(b, rows[k].model, (tsr_size3){ (256 >> half) - 1, (256 >> half) - 1, (rows[k].deep >> half) - 1 }, rows[k].percent[half]);
    return failed;
}

/* The triangles of the noise in the order of a view. Bytes: key and number of a triangle written and sorted in one pass (36), the triangle read
 * twice and written twice (48), its vertices (36). */
struct view_job {
    tsr_context *context;
    tsr_mesh *mesh;
    const tsr_geometry *geometry;
    tsr_surface_view view;
};
static tsr_status run_order(void *user)
{
    struct view_job *j = (struct view_job *)user;
    j->view.direction.x = -j->view.direction.x; /* never in order before */
    return tsr_surface_order(j->context, j->mesh, j->geometry, &j->view);
}
static int ordered(bench *b, const struct job *job, int64_t n)
{
    struct view_job view = { .context = b->context, .geometry = tsr_volume_geometry(job->volume), .view = TSR_SURFACE_VIEW };
    char name[96];
    view.view.direction = (tsr_vec3){ 0.3, -0.5, 0.8 };
    if (tsr_surface_extract(b->context, job->volume, &job->options, &view.mesh, NULL) != TSR_OK) return 1;
    const int64_t triangles = tsr_mesh_triangle_count(view.mesh);
    bench_time t = bench_measure(b, run_order, &view, NULL);
    snprintf(name, sizeof name, "noise f32 %lld^3, triangles by view, %.1f M/s", (long long)n, t.runs ? (double)triangles / t.median * 1e-6 : 0);
    bench_report(b, &(bench_case){ .name = name, .n = triangles, .time = t, .bytes = (double)triangles * 120 });
    tsr_mesh_destroy(&view.mesh);
    return 0;
}

static int others(bench *b, int64_t n, flying_edges peer)
{
    struct job job = { b->context, .options = TSR_SURFACE_OPTIONS, .peer = peer, .threads = b->threads, .bar = 2 };
    tsr_tiles_options tile_options = TSR_TILES_OPTIONS;
    tsr_volume *noise = make((tsr_size3){ n, n, n }, 460, 1), *gyroid = make((tsr_size3){ n, n, n }, 460, 0), *volume = NULL, *field = NULL;
    tsr_tiles *tiles = NULL;
    tsr_tiles_info info = TSR_TILES_INFO;
    char name[64];
    int failed = !noise || !gyroid;
    float *f = failed ? NULL : (float *)tsr_volume_data(gyroid);
    for (int64_t v = 0; v < n * n * n && f; v++) f[v] = (f[v] - 0.4f) * 220.0f; /* roughly a distance in voxels */
    tile_options.domain = (tsr_size3){ n, n, n };
    failed = failed || tsr_volume_copy(noise, b->context, &volume) != TSR_OK || tsr_volume_copy(gyroid, b->context, &field) != TSR_OK ||
             tsr_tiles_create(b->context, NULL, &tile_options, &tiles) != TSR_OK || tsr_tiles_load(tiles, field) != TSR_OK ||
             tsr_tiles_describe(tiles, &info) != TSR_OK;
    if (!failed) {
        job.volume = volume;
        job.samples = (const float *)tsr_volume_data(noise);
        job.options.isovalue = 0.5;
        snprintf(name, sizeof name, "noise f32 %lld^3", (long long)n);
        measure(b, &job, name, TSR_F32, n * n * n, (n - 1) * (n - 1) * (n - 1), NULL, 0);
        job.peer = NULL; /* which decides no faces */
        job.options.ambiguity = TSR_SURFACE_DECIDE;
        snprintf(name, sizeof name, "noise f32 %lld^3, faces decided", (long long)n);
        measure(b, &job, name, TSR_F32, n * n * n, (n - 1) * (n - 1) * (n - 1), NULL, 0);
        job.options.ambiguity = TSR_SURFACE_SEPARATE_INSIDE;
        failed = ordered(b, &job, n);
        job.tiles = tiles;
        job.options.isovalue = 0;
        snprintf(name, sizeof name, "%lld tiles of a %lld^3 gyroid", (long long)info.count, (long long)n);
        measure(b, &job, name, TSR_F32, info.count * 512, info.count * 512, NULL, 0);
    }
    tsr_tiles_destroy(&tiles);
    tsr_volume_destroy(&field);
    tsr_volume_destroy(&volume);
    tsr_volume_destroy(&gyroid);
    tsr_volume_destroy(&noise);
    return failed;
}

/* The ways to triangles that the literature compares (docs/theory/surfaces.md 5, 10), on gyroids of two densities: indexed, unindexed over the index,
 * by the descents of a HistoPyramid per vertex, per triangle, per cell, by tile expansion, and by scan and scatter; then four isovalues at once and one after
 * another. Bytes: the samples once, the mesh once. */
static const char *const GATHERS[5] = { "per vertex", "per triangle", "per cell", "tile expansion", "scan and scatter" };
struct mode_job {
    tsr_context *context;
    const tsr_volume *volume;
    tsr_surface_options options;
    int way; /* 0 to 4: tsr_surface_gather; 5: indexed; 6: indexed, then unindexed; 7: four at once; 8: one after another */
    int64_t vertices, triangles, work_bytes;
};
enum { MODE_INDEXED = 5, MODE_UNINDEXED, MODE_FOUR, MODE_ONE_BY_ONE, MODES };
static tsr_status run_mode(void *user)
{
    struct mode_job *j = (struct mode_job *)user;
    static const double factor[4] = { 1.0, 0.9, 1.1, 1.2 };
    tsr_mesh *mesh[4] = { NULL, NULL, NULL, NULL }, *soup = NULL;
    tsr_surface_report report[4] = { TSR_SURFACE_REPORT, TSR_SURFACE_REPORT, TSR_SURFACE_REPORT, TSR_SURFACE_REPORT };
    tsr_surface_options options = j->options;
    double value[4];
    tsr_status status = TSR_OK;
    for (int k = 0; k < 4; k++) value[k] = options.isovalue * factor[k];
    if (j->way < MODE_INDEXED)
        status = tsr_surface_extract_triangles(j->context, j->volume, &options, (tsr_surface_gather)j->way, &mesh[0], &report[0]);
    else if (j->way == MODE_FOUR) status = tsr_surface_extract_several(j->context, j->volume, &options, value, 4, mesh, report);
    else
        for (int k = 0; k < (j->way == MODE_ONE_BY_ONE ? 4 : 1) && status == TSR_OK; k++) {
            options.isovalue = value[k];
            status = tsr_surface_extract(j->context, j->volume, &options, &mesh[k], &report[k]);
        }
    if (status == TSR_OK && j->way == MODE_UNINDEXED) {
        status = tsr_surface_unindex(j->context, mesh[0], &soup);
        tsr_mesh_destroy(&mesh[0]);
        mesh[0] = soup;
    }
    j->vertices = j->triangles = j->work_bytes = 0;
    for (int k = 0; k < 4 && status == TSR_OK && mesh[k]; k++) {
        j->vertices += tsr_mesh_vertex_count(mesh[k]);
        j->triangles += tsr_mesh_triangle_count(mesh[k]);
        j->work_bytes += report[k].work_bytes;
    }
    if (status == TSR_OK) status = tsr_context_synchronize(j->context);
    for (int k = 0; k < 4; k++) tsr_mesh_destroy(&mesh[k]);
    return status;
}
static int modes(bench *b, double percent)
{
    const int64_t n = b->quick ? 128 : 256, cells = (n - 1) * (n - 1) * (n - 1);
    struct mode_job job = { b->context, .options = TSR_SURFACE_OPTIONS };
    tsr_volume *host = make((tsr_size3){ n, n, n }, 460.0 * (double)n / 256 / percent, 0), *volume = NULL;
    int failed = !host || tsr_volume_copy(host, b->context, &volume) != TSR_OK;
    int64_t expected = 0;
    tsr_volume_destroy(&host);
    job.volume = volume;
    job.options.isovalue = 0.4;
    static const int order[MODES] = { MODE_INDEXED, MODE_UNINDEXED, 0, 1, 2, 3, 4, MODE_FOUR, MODE_ONE_BY_ONE };
    for (int k = 0; k < MODES && !failed; k++) {
        char name[128];
        job.way = order[k];
        const bench_time t = bench_measure(b, run_mode, &job, NULL);
        const char *what = job.way < MODE_INDEXED      ? GATHERS[job.way]
                           : job.way == MODE_INDEXED   ? "indexed"
                           : job.way == MODE_UNINDEXED ? "indexed, then unindexed"
                           : job.way == MODE_FOUR      ? "four isovalues at once"
                                                       : "four isovalues, one by one";
        if (job.way == MODE_INDEXED) expected = job.triangles;
        failed = t.runs == 0 || (job.way < MODE_FOUR && job.triangles != expected);
        snprintf(name, sizeof name, "modes f32 %lld^3, %.2f %%: %s, %.2f G cells/s, %.0f M triangles/s, %.2f bytes/cell beside", (long long)n,
                 50.0 * (double)expected / (double)cells, what, t.runs ? (double)cells / t.median * 1e-9 : 0,
                 t.runs ? (double)job.triangles / t.median * 1e-6 : 0, (double)job.work_bytes / (double)cells);
        bench_report(
            b,
            &(bench_case){ .name = name, .n = cells, .time = t, .bytes = 4.0 * (double)(n * n * n) + 12.0 * (double)(job.vertices + job.triangles) });
    }
    tsr_volume_destroy(&volume);
    return failed;
}

/* Compact records of a tile list of eight million voxels, from the list to arrays of their exact size: counted, then written. Bytes: the tiles' values
 * twice, the records once. */
struct records_job {
    tsr_context *context;
    const tsr_tiles *tiles;
    int64_t count;
};
static tsr_status run_records(void *user)
{
    struct records_job *j = (struct records_job *)user;
    tsr_records *records = NULL;
    tsr_status status = tsr_records_extract(j->context, j->tiles, 0, &records);
    if (status == TSR_OK) {
        j->count = tsr_records_count(records);
        status = tsr_context_synchronize(j->context);
    }
    tsr_records_destroy(&records);
    return status;
}
/* The same surface drawn from records and from triangles of its own: [Jalba13] has records 8 times smaller, 2 times slower to draw, and 2 times faster with triangles
 * that face away left out. Memory: 15 bytes a record; three corners with normals, 72 bytes a triangle, as vertex arrays hold them. */
struct draw_job {
    const tsr_records *records; /* NULL: the scene */
    tsr_scene *scene;
    tsr_picture *picture;
    tsr_camera camera;
    tsr_render_options options;
    int cull;
};
static tsr_status run_draw(void *user)
{
    const struct draw_job *j = (const struct draw_job *)user;
    return j->records ? tsr_records_draw(j->records, &j->camera, &j->options, j->cull, j->picture)
                      : tsr_render(j->scene, &j->camera, &j->options, j->picture);
}
static int records_drawn(bench *b, const tsr_tiles *tiles, int64_t n)
{
    const int32_t side = b->quick ? 128 : 1024;
    const double middle = 0.5 * (double)(n - 1);
    struct draw_job job = { .options = TSR_RENDER_OPTIONS };
    tsr_records *records = NULL;
    tsr_mesh *mesh = NULL;
    char name[128];
    job.options.mode = TSR_RENDER_SURFACE;
    job.options.ambient_occlusion = -1;
    job.camera = (tsr_camera){ .fov = 40 };
    int failed = tsr_camera_look_at(&job.camera, (tsr_vec3){ middle + 1.4 * (double)n, middle - 1.1 * (double)n, middle + 0.8 * (double)n },
                                    (tsr_vec3){ middle, middle, middle }, (tsr_vec3){ 0, 0, 1 }) != TSR_OK ||
                 tsr_records_extract(b->context, tiles, 0, &records) != TSR_OK ||
                 tsr_records_mesh(records, TSR_SURFACE_SEPARATE_INSIDE, &mesh) != TSR_OK || tsr_scene_create(b->context, &job.scene) != TSR_OK ||
                 tsr_scene_set_surface_mesh(job.scene, mesh) != TSR_OK || tsr_picture_create(b->context, side, side, &job.picture) != TSR_OK;
    if (!failed) {
        const double small = 15.0 * (double)tsr_records_count(records), large = 72.0 * (double)tsr_mesh_triangle_count(mesh);
        for (int k = 0; k < 3; k++) {
            job.records = k < 2 ? records : NULL;
            job.cull = k == 1;
            snprintf(name, sizeof name, "records against triangles, %d^2: %s, %.1f MB", (int)side,
                     k == 0   ? "records"
                     : k == 1 ? "records, culled"
                              : "triangles by a tree of boxes",
                     1e-6 * (k < 2 ? small : large));
            bench_report(b, &(bench_case){ .name = name,
                                           .n = k < 2 ? tsr_records_count(records) : tsr_mesh_triangle_count(mesh),
                                           .time = bench_measure(b, run_draw, &job, NULL),
                                           .bytes = k < 2 ? small : large });
        }
        printf("    records take %.2f times less than triangles with normals\n", large / small);
    }
    tsr_picture_destroy(&job.picture);
    tsr_scene_destroy(&job.scene);
    tsr_mesh_destroy(&mesh);
    tsr_records_destroy(&records);
    return failed;
}

/* `parts` in 2: the edge of the volume, 2 for eight million voxels, 5 for the 131 million that tiles of 4^3 around a surface in 4096^3 hold. */
static int records_of(bench *b, int edge, int parts)
{
    const int64_t n = (b->quick ? 64 : 128) * (int64_t)parts;
    const double most = parts > 2 ? 8 : 0.5; /* ms on one H200 */
    const int gpu = tsr_context_device(b->context).kind == TSR_DEVICE_CUDA;
    const double period = edge == 8 ? 112 : 76; /* eight million voxels in the tiles of either size */
    tsr_tiles_options options = TSR_TILES_OPTIONS;
    tsr_tiles_info info = TSR_TILES_INFO;
    tsr_volume *gyroid = make((tsr_size3){ n, n, n }, period, 0), *field = NULL;
    tsr_tiles *tiles = NULL;
    float *f = gyroid ? (float *)tsr_volume_data(gyroid) : NULL;
    for (int64_t v = 0; v < n * n * n && f; v++) f[v] = (float)((f[v] - 0.5f) * 0.64f * (float)period); /* roughly a distance in voxels */
    options.edge = edge;
    options.domain = (tsr_size3){ n, n, n };
    int failed = !gyroid || tsr_volume_copy(gyroid, b->context, &field) != TSR_OK || tsr_tiles_create(b->context, NULL, &options, &tiles) != TSR_OK ||
                 tsr_tiles_load(tiles, field) != TSR_OK || tsr_tiles_describe(tiles, &info) != TSR_OK;
    tsr_volume_destroy(&field);
    tsr_volume_destroy(&gyroid);
    if (!failed) {
        struct records_job job = { b->context, tiles, 0 };
        char name[96], bar[16];
        const int64_t voxels = info.count * edge * edge * edge;
        const bench_time t = bench_measure(b, run_records, &job, NULL);
        snprintf(name, sizeof name, "15-byte records, %lld tiles of %d^3 (%.1f M voxels), %.2f M records", (long long)info.count, edge,
                 (double)voxels * 1e-6, (double)job.count * 1e-6);
        snprintf(bar, sizeof bar, "%g ms", most);
        bench_report(b, &(bench_case){ .name = name,
                                       .n = voxels,
                                       .time = t,
                                       .bytes = 8.0 * (double)voxels + 15.0 * (double)job.count,
                                       .bar = gpu && !b->quick ? bar : NULL,
                                       .holds = t.median <= 1e-3 * most });
        failed = edge == 8 && records_drawn(b, tiles, n);
    }
    tsr_tiles_destroy(&tiles);
    return failed;
}

/* Marching tetrahedra, the baseline of the literature's table: the samples as points of an unstructured grid, six tetrahedra to a cell, beside marching cubes
 * on the same samples. Bytes: values and corners of the tetrahedra and edges once, the mesh once. */
struct tetra_job {
    tsr_context *context;
    const tsr_unstructured *grid;
    tsr_surface_options options;
    int64_t vertices, triangles;
};
static tsr_status run_tetrahedra(void *user)
{
    struct tetra_job *j = (struct tetra_job *)user;
    tsr_mesh *mesh;
    tsr_status status = tsr_surface_extract_unstructured(j->context, j->grid, &j->options, &mesh, NULL);
    if (status == TSR_OK) {
        j->vertices = tsr_mesh_vertex_count(mesh);
        j->triangles = tsr_mesh_triangle_count(mesh);
        status = tsr_context_synchronize(j->context);
    }
    tsr_mesh_destroy(&mesh);
    return status;
}
static int tetrahedra(bench *b)
{
    const int64_t n = b->quick ? 32 : 64, cells = (n - 1) * (n - 1) * (n - 1);
    struct tetra_job job = { b->context, .options = TSR_SURFACE_OPTIONS };
    struct job cubes = { b->context, .options = TSR_SURFACE_OPTIONS, .threads = b->threads };
    tsr_volume *host = make((tsr_size3){ n, n, n }, 460.0 * (double)n / 256 / 3.87, 0), *volume = NULL;
    tsr_unstructured *grid = NULL;
    const tsr_unstructured_info *info = NULL;
    int failed = !host || tsr_volume_copy(host, b->context, &volume) != TSR_OK || tsr_unstructured_from_volume(b->context, host, &grid) != TSR_OK;
    if (!failed) info = tsr_unstructured_describe(grid);
    if (!failed) {
        char name[96];
        job.grid = grid;
        job.options.isovalue = cubes.options.isovalue = 0.4;
        cubes.volume = volume;
        const bench_time t = bench_measure(b, run_tetrahedra, &job, NULL);
        snprintf(name, sizeof name, "tetrahedra f32 %lld^3, %.0f M cells/s, %.2f M triangles", (long long)n,
                 t.runs ? (double)cells / t.median * 1e-6 : 0, (double)job.triangles * 1e-6);
        bench_report(b, &(bench_case){ .name = name,
                                       .n = cells,
                                       .time = t,
                                       .bytes = 8.0 * (double)info->points + 16.0 * (double)info->tetrahedra + 8.0 * (double)info->edges +
                                                12.0 * (double)(job.vertices + job.triangles) });
        snprintf(name, sizeof name, "tetrahedra: cubes f32 %lld^3", (long long)n);
        measure(b, &cubes, name, TSR_F32, n * n * n, cells, NULL, 0);
    }
    tsr_unstructured_destroy(&grid);
    tsr_volume_destroy(&volume);
    tsr_volume_destroy(&host);
    return failed;
}

/* Real volumes under TESSERA_DATA (folders, ':' between them), as float32 at the size they have and resampled to n^3. */
static tsr_volume *find(const char *file)
{
    const char *folders = getenv("TESSERA_DATA");
    tsr_volume *volume = NULL;
    char path[1024];
    for (const char *from = folders ? folders : "data"; *from && !volume;) {
        int length = (int)strcspn(from, ":");
        snprintf(path, sizeof path, "%.*s/%s", length, from, file);
        if (access(path, R_OK) == 0 && tsr_volume_read(path, NULL, &volume) != TSR_OK) fprintf(stderr, "bench surface: %s\n", tsr_error_message());
        from += length + (from[length] == ':');
    }
    if (!volume) printf("skipped: no %s under TESSERA_DATA\n", file);
    return volume;
}

static int real(bench *b, const char *what, const char *file, double isovalue, int64_t n, flying_edges peer)
{
    struct job job = { b->context, .options = TSR_SURFACE_OPTIONS, .peer = peer, .threads = b->threads, .bar = 3 };
    tsr_resample_options to = TSR_RESAMPLE_OPTIONS;
    tsr_volume *read = find(file), *host = NULL, *typed = NULL, *resized = NULL, *volume = NULL;
    char name[64];
    if (!read) return 0;
    to.size = (tsr_size3){ n, n, n };
    int failed = tsr_volume_copy(read, b->context, &host) != TSR_OK || tsr_volume_convert(b->context, host, TSR_F32, &typed) != TSR_OK ||
                 (n && tsr_volume_resample(b->context, typed, &to, &resized) != TSR_OK) ||
                 tsr_volume_copy(n ? resized : typed, NULL, &volume) != TSR_OK;
    if (!failed) {
        tsr_size3 s = tsr_volume_size(volume);
        job.volume = n ? resized : typed;
        job.samples = (const float *)tsr_volume_data(volume);
        job.options.isovalue = isovalue;
        snprintf(name, sizeof name, "%s %lld x %lld x %lld at %g", what, (long long)s.x, (long long)s.y, (long long)s.z, isovalue);
        measure(b, &job, name, TSR_F32, s.x * s.y * s.z, (s.x - 1) * (s.y - 1) * (s.z - 1), NULL, 0);
    }
    tsr_volume_destroy(&volume);
    tsr_volume_destroy(&resized);
    tsr_volume_destroy(&typed);
    tsr_volume_destroy(&host);
    tsr_volume_destroy(&read);
    return failed;
}

int main(int argc, char **argv)
{
    bench b;
    flying_edges peer = NULL;
    if (!bench_begin(&b, argc, argv, "surface")) return 2;
    int gpu = tsr_context_device(b.context).kind == TSR_DEVICE_CUDA;
    void *library = gpu ? NULL : dlopen(BENCH_MODULES "/libbench_vtk.so", RTLD_NOW);
    if (library) *(void **)&peer = dlsym(library, "peer_flying_edges");
    int failed = 0;
    for (int64_t n = 256; n <= (b.quick ? 256 : gpu ? 1024 : 512) && !failed; n *= 2) {
        char name[32];
        snprintf(name, sizeof name, "gyroid %lld", (long long)n);
        if (bench_wants(&b, name)) failed = dense(&b, n, peer);
    }
    if (bench_wants(&b, "table")) failed = failed || table(&b);
    if (bench_wants(&b, "modes")) failed = failed || modes(&b, 1) || modes(&b, 8);
    if (bench_wants(&b, "tetrahedra")) failed = failed || tetrahedra(&b);
    if (bench_wants(&b, "others")) failed = failed || others(&b, 256, peer);
    if (bench_wants(&b, "records")) failed = failed || records_of(&b, 8, 2) || records_of(&b, 4, 2) || (gpu && records_of(&b, 4, 5));
    static const struct {
        const char *what, *file;
        double isovalue;
    } known[] = {
        { "MRI head", "mri/ch2.nii.gz", 60 },
        { "chest CT", "ct-chest.nrrd", 100 },
        { "skull", "meshes/images/skull_2.9.inr", 2.9 },
    };
    for (size_t k = 0; k < sizeof known / sizeof *known && !failed && bench_wants(&b, "real"); k++)
        failed = real(&b, known[k].what, known[k].file, known[k].isovalue, 0, peer) ||
                 real(&b, known[k].what, known[k].file, known[k].isovalue, 256, peer);
    if (failed) fprintf(stderr, "bench surface: %s\n", tsr_error_message());
    return bench_end_with(&b, failed);
}
