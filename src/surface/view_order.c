/* surface/view_order.c: triangles in the order in which a view draws them. */
#include "surface/view_order.h"

#include <math.h>

#include "mesh/mesh.h"
#include "surface/surface.h"
#include "tessera/primitives.h"

static tsr_status view_of(const tsr_geometry *geometry, const tsr_surface_view *view, tsr_view_job *job)
{
    const double(*a)[4] = geometry->affine, d[3] = { view->direction.x, view->direction.y, view->direction.z },
          e[3] = { view->eye.x, view->eye.y, view->eye.z };
    TSR_TRY(tsr_geometry_check(geometry));
    const double determinant = tsr_geometry_determinant(geometry);
    for (int r = 0; r < 3; r++)
        if (!isfinite(view->perspective ? e[r] : d[r]))
            TSR_FAIL(TSR_ERROR_ARGUMENT, "surface: the %s of the view is not finite", view->perspective ? "eye" : "direction");
    if (!view->perspective && d[0] == 0 && d[1] == 0 && d[2] == 0)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "surface: the direction of the view is 0 0 0, expected a direction (or perspective and an eye)");
    for (int r = 0; r < 3; r++) {
        int r1 = (r + 1) % 3, r2 = (r + 2) % 3;
        for (int c = 0; c < 3; c++) { /* cofactors / determinant */
            int c1 = (c + 1) % 3, c2 = (c + 2) % 3;
            job->index[c][r] = (a[r1][c1] * a[r2][c2] - a[r1][c2] * a[r2][c1]) / determinant;
        }
    }
    for (int c = 0; c < 3; c++) {
        const double *m = job->index[c], along = m[0] * d[0] + m[1] * d[1] + m[2] * d[2];
        job->index[c][3] = -(m[0] * a[0][3] + m[1] * a[1][3] + m[2] * a[2][3]);
        job->eye[c] = view->perspective ? m[0] * e[0] + m[1] * e[1] + m[2] * e[2] + m[3] : along < 0 ? 0x1p30 : -0x1p30;
    }
    return TSR_OK;
}

tsr_status tsr_surface_order(tsr_context *context, tsr_mesh *mesh, const tsr_geometry *geometry, const tsr_surface_view *view)
{
    TSR_NEEDS(context, mesh, geometry);
    tsr_surface_view own;
    tsr_view_job job = { 0 };
    tsr_status status;
    void *memory = NULL, *workspace = NULL;
    size_t workspace_bytes = 0;
    if (mesh->context != context) TSR_FAIL(TSR_ERROR_ARGUMENT, "mesh lives in another context: copy it with tsr_mesh_copy");
    TSR_TRY(TSR_OPTIONS_TAKE(&own, view));
    TSR_TRY(view_of(geometry, &own, &job));
    if (mesh->triangle_count > (int64_t)UINT32_MAX)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "surface: %lld triangles in the order of a view, expected at most 4294967295",
                 (long long)mesh->triangle_count);
    if (mesh->triangle_count == 0) return TSR_OK;
    const size_t n = (size_t)mesh->triangle_count, bytes = n * (2 * sizeof *job.keys + 5 * sizeof *job.order);
    job.nearest_first = own.nearest_first != 0;
    job.triangles = mesh->triangle_count;
    job.vertices = mesh->vertices;
    job.numbers = mesh->triangles;
    TSR_TRY(tsr_sort_workspace(context, TSR_U64, 1, job.triangles, &workspace_bytes));
    TSR_TRY(tsr_device_allocate(context, bytes, &memory));
    TSR_TRY_GOTO(tsr_device_allocate(context, workspace_bytes, &workspace), done);
    job.keys = (uint64_t *)memory;
    job.sorted_keys = job.keys + n;
    job.order = (uint32_t *)(void *)(job.sorted_keys + n);
    job.sorted = job.order + n;
    job.moved = job.sorted + n;
    TSR_TRY_GOTO(context->backend->surface->view_keys(context->queue, &job), done);
    TSR_TRY_GOTO(
        tsr_sort(context, TSR_U64, job.keys, job.sorted_keys, job.order, job.sorted, job.triangles, 0, 3 * TSR_VIEW_BITS, workspace, workspace_bytes),
        done);
    TSR_TRY_GOTO(context->backend->surface->view_move(context->queue, &job), done);
    TSR_TRY_GOTO(context->backend->copy(context->queue, mesh->triangles, job.moved, 3 * n * sizeof *job.moved), done);
done:
    tsr_device_release(context, workspace, workspace ? workspace_bytes : 0);
    tsr_device_release(context, memory, bytes);
    return status;
}
