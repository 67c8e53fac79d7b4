/* surface/gather.c: triangles without an index by the ways that the literature compares (tessera/surface.h, tsr_surface_gather). */
#include "mesh/mesh.h"
#include "volume/volume.h"
#include "histopyramid/pyramid.h"
#include "surface/surface.h"
#include "tessera/primitives.h"

struct memory {
    void *of;
    size_t bytes;
};
typedef struct work {
    tsr_context *context;
    tsr_surface_grid grid;
    tsr_gather_job job;
    tsr_volume *counts; /* u8, one per cell */
    tsr_pyramid *pyramid;
    struct memory sides, list, listed, starts, scan;
} work;

static tsr_status take(work *w, struct memory *m, int64_t bytes)
{
    m->bytes = (size_t)bytes;
    TSR_TRY(tsr_device_allocate(w->context, m->bytes, &m->of));
    return TSR_OK;
}
static int64_t bytes_of(const work *w)
{
    return (int64_t)(w->sides.bytes + w->list.bytes + w->listed.bytes + w->starts.bytes + w->scan.bytes) + w->job.cells +
           (w->pyramid ? w->pyramid->bytes : 0);
}

/* Sides of the samples, outputs of the cells. */
static tsr_status count(work *w, const tsr_volume *volume)
{
    tsr_surface_grid *g = &w->grid;
    const tsr_surface_ops *ops = w->context->backend->surface;
    const tsr_size3 cells = { g->size[0] - 1, g->size[1] - 1, g->size[2] - 1 };
    const int64_t totals = 256;
    g->blocks = tsr_ceil_div(g->words, TSR_BLOCK_WORDS);
    TSR_TRY(take(w, &w->sides, totals + g->words * (int64_t)sizeof *g->bits));
    g->totals = (tsr_surface_totals *)w->sides.of;
    g->bits = (uint32_t *)(void *)((char *)w->sides.of + totals);
    TSR_TRY(w->context->backend->fill(w->context->queue, w->sides.of, 0, (size_t)totals));
    TSR_TRY(ops->sides(w->context->queue, g));
    TSR_TRY(tsr_volume_create(w->context, TSR_U8, cells, &volume->geometry, &w->counts));
    w->job.grid = g;
    w->job.cells = cells.x * cells.y * cells.z;
    w->job.counts = (uint8_t *)w->counts->data;
    TSR_TRY(ops->gather_count(w->context->queue, &w->job));
    return TSR_OK;
}

/* The pyramid over the counts, or (CELL) over the cells that have any; *total: its outputs. */
static tsr_status build(work *w, tsr_pyramid_classifier classifier, int64_t *total)
{
    tsr_pyramid_options options = TSR_PYRAMID_OPTIONS;
    tsr_pyramid_info info = TSR_PYRAMID_INFO;
    options.classifier = classifier;
    options.order = TSR_PYRAMID_ROW;
    TSR_TRY(tsr_pyramid_create(w->context, w->counts->size, &options, &w->pyramid));
    TSR_TRY(tsr_pyramid_build(w->pyramid, w->counts));
    TSR_TRY(tsr_pyramid_describe(w->pyramid, &info));
    *total = (int64_t)info.total;
    w->job.tree = &w->pyramid->tree;
    w->job.classes = &w->pyramid->classes;
    return TSR_OK;
}

/* starts[i] = sum of the counts before i; *total = of all. */
static tsr_status scan(work *w, const uint8_t *counts, int64_t n, int64_t *total)
{
    uint64_t last = 0;
    uint8_t own = 0;
    size_t bytes;
    *total = 0;
    if (n == 0) return TSR_OK;
    TSR_TRY(take(w, &w->starts, n * (int64_t)sizeof(uint64_t)));
    TSR_TRY(tsr_scan_workspace(w->context, n, &bytes));
    TSR_TRY(take(w, &w->scan, (int64_t)bytes));
    TSR_TRY(tsr_scan(w->context, TSR_SCAN_EXCLUSIVE, TSR_U8, counts, n, TSR_U64, w->starts.of, w->scan.of, bytes));
    w->job.starts = (const uint64_t *)w->starts.of;
    TSR_TRY(w->context->backend->download(w->context->queue, &last, w->job.starts + n - 1, sizeof last));
    TSR_TRY(w->context->backend->download(w->context->queue, &own, counts + n - 1, sizeof own));
    *total = (int64_t)last + own;
    return TSR_OK;
}

/* A mesh of all triangles: vertices are numbered by 32 bits. */
static tsr_status check_count(const work *w)
{
    if (w->job.triangles > (int64_t)UINT32_MAX / 3)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "surface: %lld triangles without an index, expected at most %u (three vertices each)",
                 (long long)w->job.triangles, UINT32_MAX / 3);
    return TSR_OK;
}

/* The list of TILE, for `count` triangles at once. */
static tsr_status take_entries(work *w, int64_t count)
{
    TSR_TRY(take(w, &w->list, count * (int64_t)sizeof(tsr_pyramid_entry)));
    w->job.entries = (const tsr_pyramid_entry *)w->list.of;
    return TSR_OK;
}

/* What the way needs to find the cells of its outputs, and how many triangles there are; `chunk`: most of them at once, 0: all. */
static tsr_status find(work *w, int64_t chunk)
{
    tsr_gather_job *job = &w->job;
    int64_t total = 0;
    switch (job->gather) {
    case TSR_SURFACE_GATHER_VERTEX:
    case TSR_SURFACE_GATHER_TRIANGLE:
        TSR_TRY(build(w, TSR_PYRAMID_COUNTS, &total));
        job->triangles = job->gather == TSR_SURFACE_GATHER_VERTEX ? total / 3 : total;
        break;
    case TSR_SURFACE_GATHER_CELL:
        TSR_TRY(build(w, TSR_PYRAMID_NONZERO, &job->listed));
        if (!job->listed) break;
        TSR_TRY(take(w, &w->list, job->listed * (int64_t)sizeof(uint64_t)));
        TSR_TRY(take(w, &w->listed, job->listed));
        TSR_TRY(tsr_pyramid_indices(w->pyramid, 0, job->listed, TSR_U64, w->list.of));
        job->list = (const uint64_t *)w->list.of;
        job->listed_counts = (uint8_t *)w->listed.of;
        TSR_TRY(w->context->backend->surface->gather_listed(w->context->queue, job));
        TSR_TRY(scan(w, job->listed_counts, job->listed, &job->triangles));
        break;
    case TSR_SURFACE_GATHER_TILE:
        TSR_TRY(build(w, TSR_PYRAMID_COUNTS, &job->triangles));
        if (!job->triangles) break;
        if (!chunk) TSR_TRY(check_count(w)); /* before the list takes memory */
        TSR_TRY(take_entries(w, chunk ? tsr_minl(chunk, job->triangles) : job->triangles));
        if (!chunk) TSR_TRY(tsr_pyramid_extract(w->pyramid, 0, job->triangles, (tsr_pyramid_entry *)w->list.of));
        break;
    default: TSR_TRY(scan(w, job->counts, job->cells, &job->triangles)); break;
    }
    return TSR_OK;
}

static tsr_status write(work *w, tsr_space space, tsr_mesh **mesh)
{
    tsr_gather_job *job = &w->job;
    TSR_TRY(check_count(w));
    TSR_TRY(tsr_mesh_create(w->context, 3 * job->triangles, job->triangles, w->grid.normals != TSR_SURFACE_NORMALS_NONE, mesh));
    tsr_mesh_set_space(*mesh, space);
    job->output = (tsr_surface_output){ .vertices = (*mesh)->vertices, .normals = (*mesh)->normals, .triangles = (*mesh)->triangles };
    if (job->triangles) TSR_TRY(w->context->backend->surface->gather_write(w->context->queue, job));
    return TSR_OK;
}

/* Chunk after chunk into one mesh, each given to the consumer. */
static tsr_status give_chunks(work *w, tsr_space space, int64_t chunk, tsr_surface_consumer consumer, void *user, tsr_mesh **mesh)
{
    const int64_t total = w->job.triangles, room = tsr_minl(chunk, total);
    if (!total) return TSR_OK;
    TSR_TRY(tsr_mesh_create(w->context, 3 * room, room, w->grid.normals != TSR_SURFACE_NORMALS_NONE, mesh));
    tsr_mesh_set_space(*mesh, space);
    w->job.output = (tsr_surface_output){ .vertices = (*mesh)->vertices, .normals = (*mesh)->normals, .triangles = (*mesh)->triangles };
    for (int64_t first = 0; first < total; first += room) {
        const int64_t count = tsr_minl(room, total - first);
        w->job.first = first;
        w->job.triangles = count;
        if (w->job.entries) TSR_TRY(tsr_pyramid_extract(w->pyramid, (uint64_t)first, count, (tsr_pyramid_entry *)w->list.of));
        TSR_TRY(w->context->backend->surface->gather_write(w->context->queue, &w->job));
        tsr_mesh_shrink(*mesh, 3 * count, count);
        const tsr_status status = consumer(user, *mesh, first, total);
        if (status == TSR_ERROR_CANCELLED) TSR_FAIL(status, "surface: cancelled after %lld of %lld triangles", (long long)first, (long long)total);
        TSR_TRY(status);
    }
    return TSR_OK;
}

static void release(work *w)
{
    struct memory *const all[] = { &w->sides, &w->list, &w->listed, &w->starts, &w->scan };
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) tsr_device_release(w->context, all[k]->of, all[k]->bytes);
    tsr_pyramid_destroy(&w->pyramid);
    tsr_volume_destroy(&w->counts);
}

tsr_status tsr_surface_expand(tsr_context *context, const tsr_volume *volume, const tsr_surface_options *options, tsr_surface_gather gather,
                              int64_t chunk, tsr_surface_consumer consumer, void *user, tsr_surface_report *report)
{
    TSR_NEEDS(context, volume);
    work w = { .context = context, .job.gather = gather };
    tsr_surface_options own;
    tsr_surface_report found = TSR_SURFACE_REPORT;
    tsr_surface_totals totals;
    tsr_mesh *mesh = NULL;
    tsr_status status;
    TSR_TRY(TSR_STRUCT_BEGUN(report));
    TSR_TRY(TSR_OPTIONS_TAKE(&own, options));
    if (gather != TSR_SURFACE_GATHER_VERTEX && gather != TSR_SURFACE_GATHER_TRIANGLE && gather != TSR_SURFACE_GATHER_TILE)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "surface: gather is %d, expected vertex, triangle or tile: the others make all triangles at once", (int)gather);
    if (chunk < 0 || chunk > (int64_t)UINT32_MAX / 3)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "surface: chunks of %lld triangles, expected 1 to %u, or 0", (long long)chunk, UINT32_MAX / 3);
    if (!consumer) TSR_FAIL(TSR_ERROR_ARGUMENT, "surface: no function that takes the triangles");
    if (!chunk) chunk = 1 << 20;
    TSR_TRY(tsr_surface_lay_volume(context, volume, &own, &own.isovalue, 1, &w.grid, &found));
    TSR_TRY_GOTO(count(&w, volume), done);
    TSR_TRY_GOTO(find(&w, chunk), done);
    TSR_TRY_GOTO(context->backend->download(context->queue, &totals, w.grid.totals, sizeof totals), done);
    TSR_TRY_GOTO(tsr_surface_check_samples(&w.grid, totals.not_a_number), done);
    const int64_t held = tsr_minl(chunk, w.job.triangles) * (w.grid.normals ? 84 : 48);
    TSR_TRY_GOTO(give_chunks(&w, volume->geometry.space, chunk, consumer, user, &mesh), done);
    found.not_a_number = (int64_t)totals.not_a_number;
    found.work_bytes = bytes_of(&w) + held;
    status = TSR_STRUCT_GIVE(report, &found);
done:
    tsr_mesh_destroy(&mesh);
    release(&w);
    return status;
}

tsr_status tsr_surface_extract_triangles(tsr_context *context, const tsr_volume *volume, const tsr_surface_options *options,
                                         tsr_surface_gather gather, tsr_mesh **mesh, tsr_surface_report *report)
{
    TSR_RETURNS(mesh);
    TSR_NEEDS(context, volume);
    work w = { .context = context, .job.gather = gather };
    tsr_surface_options own;
    tsr_surface_report found = TSR_SURFACE_REPORT;
    tsr_surface_totals totals;
    tsr_status status;
    TSR_TRY(TSR_STRUCT_BEGUN(report));
    TSR_TRY(TSR_OPTIONS_TAKE(&own, options));
    if ((int)gather < 0 || gather > TSR_SURFACE_SCATTER)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "surface: gather is %d, expected a tsr_surface_gather", (int)gather);
    TSR_TRY(tsr_surface_lay_volume(context, volume, &own, &own.isovalue, 1, &w.grid, &found));
    TSR_TRY_GOTO(count(&w, volume), done);
    TSR_TRY_GOTO(find(&w, 0), done); /* waits: so does the next line */
    TSR_TRY_GOTO(context->backend->download(context->queue, &totals, w.grid.totals, sizeof totals), done);
    TSR_TRY_GOTO(tsr_surface_check_samples(&w.grid, totals.not_a_number), done);
    TSR_TRY_GOTO(write(&w, volume->geometry.space, mesh), done);
    found.not_a_number = (int64_t)totals.not_a_number;
    found.work_bytes = bytes_of(&w);
    status = TSR_STRUCT_GIVE(report, &found);
done:
    if (status != TSR_OK) tsr_mesh_destroy(mesh);
    release(&w);
    return status;
}
