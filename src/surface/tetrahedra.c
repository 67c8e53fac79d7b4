/* surface/tetrahedra.c: the surface of an unstructured grid (tessera/unstructured.h): one pyramid over the edges, one over the tetrahedra. */
#include <math.h>

#include "mesh/mesh.h"
#include "volume/volume.h"
#include "histopyramid/pyramid.h"
#include "surface/surface.h"

typedef struct work {
    tsr_context *context;
    tsr_tetra_job job;
    tsr_volume *sides, *cut_edges, *counts; /* u8 */
    tsr_pyramid *edge_pyramid, *pyramid;
    uint64_t *not_a_number;
    void *numbers;
} work;

static tsr_status bytes_of(work *w, int64_t count, tsr_volume **volume, uint8_t **bytes)
{
    TSR_TRY(tsr_volume_create(w->context, TSR_U8, (tsr_size3){ count, 1, 1 }, NULL, volume));
    *bytes = (uint8_t *)(*volume)->data;
    return TSR_OK;
}
static tsr_status build(const tsr_volume *counts, tsr_pyramid_classifier classifier, tsr_context *context, tsr_pyramid **pyramid, int64_t *total)
{
    tsr_pyramid_options options = TSR_PYRAMID_OPTIONS;
    tsr_pyramid_info info = TSR_PYRAMID_INFO;
    options.classifier = classifier;
    options.order = TSR_PYRAMID_ROW;
    TSR_TRY(tsr_pyramid_create(context, counts->size, &options, pyramid));
    TSR_TRY(tsr_pyramid_build(*pyramid, counts));
    TSR_TRY(tsr_pyramid_describe(*pyramid, &info));
    *total = (int64_t)info.total;
    return TSR_OK;
}

static tsr_status find(work *w)
{
    tsr_tetra_job *j = &w->job;
    TSR_TRY(bytes_of(w, j->points, &w->sides, &j->sides));
    TSR_TRY(bytes_of(w, j->edges, &w->cut_edges, &j->cut_edges));
    TSR_TRY(bytes_of(w, j->tetrahedra, &w->counts, &j->counts));
    TSR_TRY(w->context->backend->surface->tetra_count(w->context->queue, j));
    TSR_TRY(build(w->cut_edges, TSR_PYRAMID_NONZERO, w->context, &w->edge_pyramid, &j->vertices));
    TSR_TRY(build(w->counts, TSR_PYRAMID_COUNTS, w->context, &w->pyramid, &j->triangles));
    j->edge_tree = &w->edge_pyramid->tree;
    j->edge_classes = &w->edge_pyramid->classes;
    j->tree = &w->pyramid->tree;
    j->classes = &w->pyramid->classes;
    return TSR_OK;
}

static tsr_status check(tsr_context *context, const tsr_unstructured *grid, const tsr_surface_options *own)
{
    if (!context) TSR_FAIL(TSR_ERROR_ARGUMENT, "context is NULL");
    if (!grid) TSR_FAIL(TSR_ERROR_ARGUMENT, "unstructured grid is NULL");
    if (grid->context != context) TSR_FAIL(TSR_ERROR_ARGUMENT, "unstructured grid lives in another context: copy it with tsr_unstructured_copy");
    if (isnan(own->isovalue)) TSR_FAIL(TSR_ERROR_ARGUMENT, "surface: isovalue is NaN, expected a number");
    if ((unsigned)own->inside > TSR_SURFACE_INSIDE_BELOW)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "surface: inside is %d, expected above or below", (int)own->inside);
    if ((unsigned)own->nan > TSR_SURFACE_NAN_FAIL) TSR_FAIL(TSR_ERROR_ARGUMENT, "surface: nan is %d, expected outside or fail", (int)own->nan);
    if (own->normals) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "surface: normals of an unstructured grid, expected none");
    if (own->close) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "surface: close of an unstructured grid");
    return TSR_OK;
}

static int64_t work_bytes(const work *w)
{
    const int64_t numbers = w->numbers ? w->job.edges * (int64_t)sizeof *w->job.numbers : 0;
    return w->pyramid ? w->job.points + w->job.tetrahedra + w->job.edges + numbers + w->pyramid->bytes + w->edge_pyramid->bytes : 0;
}

tsr_status tsr_surface_extract_unstructured(tsr_context *context, const tsr_unstructured *grid, const tsr_surface_options *options, tsr_mesh **mesh,
                                            tsr_surface_report *report)
{
    TSR_RETURNS(mesh);
    TSR_NEEDS(context, grid);
    tsr_surface_options own;
    work w = { .context = context };
    uint64_t not_a_number = 0;
    tsr_status status;
    TSR_TRY(TSR_STRUCT_BEGUN(report));
    TSR_TRY(TSR_OPTIONS_TAKE(&own, options));
    TSR_TRY(check(context, grid, &own));
    const tsr_unstructured_info *info = &grid->info;
    w.job = (tsr_tetra_job){ .isovalue = own.isovalue,
                             .cut = own.midpoints ? (double)NAN : own.isovalue,
                             .below = own.inside == TSR_SURFACE_INSIDE_BELOW,
                             .points = info->points,
                             .tetrahedra = info->tetrahedra,
                             .edges = info->edges,
                             .point = grid->points,
                             .value = grid->values,
                             .corner = grid->corners,
                             .edge = grid->edges,
                             .edge_of = grid->edges_of };
    TSR_TRY_GOTO(tsr_device_allocate(context, sizeof *w.not_a_number, (void **)&w.not_a_number), done);
    TSR_TRY_GOTO(context->backend->fill(context->queue, w.not_a_number, 0, sizeof *w.not_a_number), done);
    w.job.not_a_number = w.not_a_number;
    if (info->tetrahedra) TSR_TRY_GOTO(find(&w), done);
    TSR_TRY_GOTO(context->backend->download(context->queue, &not_a_number, w.not_a_number, sizeof not_a_number), done);
    const tsr_surface_grid rule = { .refuse = own.nan == TSR_SURFACE_NAN_FAIL };
    TSR_TRY_GOTO(tsr_surface_check_samples(&rule, not_a_number), done);
    TSR_TRY_GOTO(tsr_mesh_create(context, w.job.vertices, w.job.triangles, 0, mesh), done);
    tsr_mesh_set_space(*mesh, info->space);
    w.job.vertex_out = (*mesh)->vertices;
    w.job.triangle_out = (*mesh)->triangles;
    if (w.job.triangles) TSR_TRY_GOTO(tsr_device_allocate(context, (size_t)info->edges * sizeof *w.job.numbers, &w.numbers), done);
    w.job.numbers = (uint32_t *)w.numbers;
    if (w.job.triangles) TSR_TRY_GOTO(context->backend->surface->tetra_write(context->queue, &w.job), done);
    const tsr_surface_report found = { .cells = info->tetrahedra, .not_a_number = (int64_t)not_a_number, .work_bytes = work_bytes(&w) };
    status = TSR_STRUCT_GIVE(report, &found);
done:
    if (status != TSR_OK) tsr_mesh_destroy(mesh);
    tsr_pyramid_destroy(&w.edge_pyramid);
    tsr_pyramid_destroy(&w.pyramid);
    tsr_volume_destroy(&w.sides);
    tsr_volume_destroy(&w.cut_edges);
    tsr_volume_destroy(&w.counts);
    if (w.numbers) tsr_device_release(context, w.numbers, (size_t)info->edges * sizeof *w.job.numbers);
    tsr_device_release(context, w.not_a_number, sizeof *w.not_a_number);
    return status;
}
