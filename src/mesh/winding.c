/* mesh/winding.c: host logic of winding numbers. */
#include "tessera/winding.h"

#include <math.h>
#include <string.h>

#include "device/memory_limit.h"
#include "mesh/mesh.h"
#include "volume/volume.h"
#include "mesh/voxelize_boundary.h"
#include "mesh/voxelize_orient.h"
#include "mesh/winding_ops.h"

enum { FIXED_BITS = 30, MOST_FRACTION = 20 };

struct tsr_winding {
    tsr_context *context;
    tsr_geometry geometry;
    tsr_wind_grid grid;
    int64_t vertices; /* room */
    void *memory;     /* summary, then the fixed positions */
    size_t bytes;
    int built;
};

static tsr_status set_axes(tsr_winding *w)
{
    tsr_vox_grid *g = &w->grid.mesh;
    TSR_TRY(tsr_geometry_check_perpendicular(&w->geometry, "winding: geometry"));
    const tsr_vec3 h = tsr_geometry_spacing(&w->geometry);
    const double spacing[3] = { h.x, h.y, h.z };
    for (int k = 0; k < 3; k++) {
        g->spacing[k] = spacing[k];
        g->origin[k] = w->geometry.affine[k][3];
        for (int r = 0; r < 3; r++) g->axis[k][r] = w->geometry.affine[r][k] / spacing[k];
    }
    g->mirrored = tsr_geometry_determinant(&w->geometry) < 0;
    return TSR_OK;
}

tsr_status tsr_winding_create(tsr_context *context, tsr_size3 size, const tsr_geometry *geometry, int64_t vertices, tsr_winding **winding)
{
    TSR_RETURNS(winding);
    TSR_NEEDS(context);
    const int64_t most = (int64_t)1 << 19, longest = tsr_max64(size.x, tsr_max64(size.y, size.z));
    tsr_status status;
    if (size.x < 1 || size.y < 1 || size.z < 1 || longest > most)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "winding: a lattice of %lld x %lld x %lld voxels, expected extents from 1 to %lld", (long long)size.x,
                 (long long)size.y, (long long)size.z, (long long)most);
    if (vertices < 1 || vertices > (int64_t)UINT32_MAX)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "winding: room for %lld vertices, expected 1 to 4294967295", (long long)vertices);
    if (geometry) TSR_TRY(tsr_geometry_check(geometry));
    TSR_TRY(tsr_host_allocate(&context->host_allocator, sizeof **winding, (void **)winding));
    tsr_winding *w = *winding;
    *w = (tsr_winding){ .context = context, .vertices = vertices };
    w->geometry = geometry ? *geometry : tsr_geometry_make((tsr_vec3){ 1, 1, 1 }, (tsr_vec3){ 0, 0, 0 }, TSR_SPACE_NONE);
    TSR_TRY_GOTO(set_axes(w), fail);
    tsr_vox_grid *g = &w->grid.mesh;
    for (int k = 0; k < 3; k++) g->base[k] = -longest;
    w->grid.span = (double)(3 * longest);
    g->fraction = MOST_FRACTION;
    while ((3 * longest + 1) << g->fraction > (int64_t)1 << FIXED_BITS) g->fraction--;
    w->bytes = 256 + (size_t)vertices * sizeof *g->fixed;
    TSR_TRY_GOTO(tsr_device_allocate(context, w->bytes, &w->memory), fail);
    g->fixed = (int32_t(*)[3])(void *)((char *)w->memory + 256);
    return TSR_OK;
fail:
    tsr_winding_destroy(winding);
    return status;
}

void tsr_winding_destroy(tsr_winding **winding)
{
    if (!winding || !*winding) return;
    tsr_winding *w = *winding;
    *winding = NULL;
    if (w->memory) tsr_device_release(w->context, w->memory, w->bytes);
    tsr_host_release(&w->context->host_allocator, w, sizeof *w);
}

static tsr_status check_mesh(const tsr_winding *w, const tsr_mesh *mesh)
{
    if (!w || !mesh) TSR_FAIL(TSR_ERROR_ARGUMENT, "winding or mesh is NULL");
    const int on_host = !mesh->context || mesh->context->device.kind == TSR_DEVICE_CPU;
    if (mesh->context != w->context && !(on_host && w->context->device.kind == TSR_DEVICE_CPU))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "winding: the mesh lives on %s, the context is %s: copy it with tsr_mesh_copy",
                 tsr_device_kind_name(tsr_mesh_device(mesh).kind), tsr_device_kind_name(w->context->device.kind));
    if (!mesh->triangle_count) TSR_FAIL(TSR_ERROR_ARGUMENT, "winding: the mesh has no triangles (%lld vertices)", (long long)mesh->vertex_count);
    if (mesh->space != TSR_SPACE_NONE && w->geometry.space != TSR_SPACE_NONE && mesh->space != w->geometry.space)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "winding: mesh and geometry are in different spaces: convert the mesh with tsr_mesh_convert_space");
    if (mesh->vertex_count > w->vertices)
        TSR_FAIL(TSR_ERROR_CAPACITY, "winding: %lld vertices, there is room for %lld", (long long)mesh->vertex_count, (long long)w->vertices);
    return TSR_OK;
}

tsr_status tsr_winding_build(tsr_winding *winding, const tsr_mesh *mesh, const int64_t lower[3], tsr_volume *volume)
{
    TSR_NEEDS(winding, mesh, volume);
    const int64_t zero[3] = { 0, 0, 0 }, far = (int64_t)1 << 21;
    TSR_TRY(check_mesh(winding, mesh));
    TSR_TRY(tsr_volume_require(winding->context, volume, "volume"));
    if (volume->dtype != TSR_I32) TSR_FAIL(TSR_ERROR_ARGUMENT, "winding: a volume of %s, expected i32", tsr_dtype_name(volume->dtype));
    if (!lower) lower = zero;
    for (int k = 0; k < 3; k++)
        if (lower[k] < -far || lower[k] > far)
            TSR_FAIL(TSR_ERROR_ARGUMENT, "winding: lower along %c is %lld, expected within +-%lld", 'x' + k, (long long)lower[k], (long long)far);
    tsr_wind_grid *grid = &winding->grid;
    tsr_vox_grid *g = &grid->mesh;
    g->vertices = mesh->vertex_count;
    g->triangles = mesh->triangle_count;
    g->vertex = mesh->vertices;
    g->corner = mesh->triangles;
    memcpy(grid->lower, lower, sizeof grid->lower);
    grid->size[0] = volume->size.x;
    grid->size[1] = volume->size.y;
    grid->size[2] = volume->size.z;
    grid->number = (int32_t *)volume->data;
    tsr_geometry here = winding->geometry;
    const tsr_vec3 corner = tsr_geometry_to_world(&here, (tsr_vec3){ (double)lower[0], (double)lower[1], (double)lower[2] });
    here.affine[0][3] = corner.x;
    here.affine[1][3] = corner.y;
    here.affine[2][3] = corner.z;
    if (here.space == TSR_SPACE_NONE) here.space = mesh->space;
    TSR_TRY(tsr_volume_set_geometry(volume, &here));
    volume->slope = 1;
    volume->intercept = 0;
    const tsr_backend *backend = winding->context->backend;
    tsr_queue *queue = winding->context->queue;
    TSR_TRY(backend->fill(queue, winding->memory, 0, sizeof(tsr_wind_summary)));
    TSR_TRY(backend->fill(queue, volume->data, 0, (size_t)volume->bytes));
    TSR_TRY(backend->winding->build(queue, grid, (tsr_wind_summary *)winding->memory));
    winding->built = 1;
    return TSR_OK;
}

/* Edges and loops of a mesh whose edges do not fit, sorted out on the host. */
static tsr_status boundary(const tsr_winding *w, tsr_winding_report *report)
{
    tsr_vox_grid host = w->grid.mesh;
    tsr_vox_boundary b = { 0 };
    tsr_vox_edges edges;
    const size_t vertices = (size_t)host.vertices, triangles = (size_t)host.triangles;
    const size_t fixed = vertices * sizeof *host.fixed, corners = triangles * 3 * sizeof(uint32_t), own = vertices * sizeof(uint32_t) + triangles;
    const size_t bytes = own + (w->context->device.kind == TSR_DEVICE_CPU ? 0 : fixed + corners);
    uint32_t *id = NULL;
    int64_t turned;
    tsr_status status;
    TSR_TRY(tsr_host_allocate(NULL, bytes, (void **)&id));
    if (bytes > own) {
        host.fixed = (int32_t(*)[3])(void *)(id + vertices);
        uint32_t *corner = (uint32_t *)(void *)(host.fixed + vertices);
        host.corner = corner;
        TSR_TRY_GOTO(tsr_device_move(NULL, host.fixed, w->context, w->grid.mesh.fixed, fixed), done);
        TSR_TRY_GOTO(tsr_device_move(NULL, corner, w->context, w->grid.mesh.corner, corners), done);
    }
    host.faced = host.corner; /* numbers are of the triangles as they are */
    TSR_TRY_GOTO(tsr_vox_weld(&host, id), done);
    TSR_TRY_GOTO(tsr_vox_orient(&host, id, 0, &edges, (uint8_t *)id + bytes - triangles, &turned), done);
    TSR_TRY_GOTO(tsr_vox_boundary_make(&host, id, &b), done);
    report->boundary_edges = edges.boundary;
    report->misoriented_edges = edges.misoriented;
    report->boundary_loops = b.loops;
done:
    tsr_vox_boundary_free(&b);
    tsr_host_release(NULL, id, bytes);
    return status;
}

tsr_status tsr_winding_check(tsr_winding *winding, const tsr_mesh *mesh, tsr_winding_report *report)
{
    TSR_NEEDS(winding, mesh);
    tsr_wind_summary s;
    tsr_winding_report own = TSR_WINDING_REPORT;
    TSR_TRY(TSR_STRUCT_GIVE(report, &own));
    TSR_TRY(check_mesh(winding, mesh));
    if (!winding->built || winding->grid.mesh.vertex != mesh->vertices || winding->grid.mesh.corner != mesh->triangles)
        TSR_FAIL(TSR_ERROR_STATE, "winding: the last build was not of this mesh: call tsr_winding_build first");
    TSR_TRY(tsr_device_move(NULL, &s, winding->context, winding->memory, sizeof s));
    if (s.bad_corner) {
        const int64_t at = INT64_MAX - s.bad_corner;
        TSR_FAIL(TSR_ERROR_FORMAT, "mesh: corner %d of triangle %lld is out of range, expected less than %lld", (int)(at % 3), (long long)(at / 3),
                 (long long)mesh->vertex_count);
    }
    if (s.bad_vertex || s.far_vertex) {
        const int64_t at = INT64_MAX - (s.bad_vertex ? s.bad_vertex : s.far_vertex);
        float p[3];
        TSR_TRY(tsr_device_move(NULL, p, winding->context, mesh->vertices + 3 * at, sizeof p));
        TSR_FAIL(s.bad_vertex ? TSR_ERROR_FORMAT : TSR_ERROR_UNSUPPORTED, "mesh: vertex %lld is (%g, %g, %g), expected %s", (long long)at,
                 (double)p[0], (double)p[1], (double)p[2],
                 s.bad_vertex ? "finite numbers" : "no more than its largest extent outside of the lattice: use a larger one");
    }
    own.triangles = mesh->triangle_count;
    if (s.edges) TSR_TRY(boundary(winding, &own));
    return TSR_STRUCT_GIVE(report, &own);
}

static tsr_status check_memory(const tsr_context *context, const tsr_mesh *mesh, tsr_size3 size, int64_t limit)
{
    const double bytes = 4.0 * (double)size.x * (double)size.y * (double)size.z + 12.0 * (double)mesh->vertex_count;
    if (limit < 0) TSR_FAIL(TSR_ERROR_ARGUMENT, "winding: memory_limit is %lld, expected 0 (what there is) or more", (long long)limit);
    const int64_t most = tsr_memory_most(context, limit);
    if (bytes > (double)most)
        TSR_FAIL(TSR_ERROR_CAPACITY, "winding: %lld x %lld x %lld voxels take %.0f bytes, %s is %lld: use a larger spacing", (long long)size.x,
                 (long long)size.y, (long long)size.z, bytes, tsr_memory_limit_name(limit), (long long)most);
    return TSR_OK;
}

/* A box of the lattice comes out the same alone as in the whole: layers make a long wait one that can be ended. */
static tsr_status build_layers(tsr_winding *w, const tsr_mesh *mesh, const tsr_progress *progress, tsr_volume *volume)
{
    const tsr_size3 n = volume->size;
    const int64_t voxels = tsr_max64((int64_t)1 << 22, 8 * mesh->triangle_count); /* every layer looks at all triangles */
    const int64_t most = tsr_max64(1, voxels / (n.x * n.y)), layer_bytes = n.x * n.y * (int64_t)sizeof(int32_t);
    for (int64_t z = 0; z < n.z; z += most) {
        tsr_volume layer = *volume;
        const int64_t lower[3] = { 0, 0, z };
        TSR_PROGRESS(progress, (double)z / (double)n.z, "winding numbers");
        layer.size.z = tsr_min64(most, n.z - z);
        layer.bytes = layer.size.z * layer_bytes;
        layer.data = (char *)volume->data + z * layer_bytes;
        TSR_TRY(tsr_winding_build(w, mesh, lower, &layer));
        TSR_TRY(tsr_context_synchronize(w->context));
        if (z == 0) volume->geometry = layer.geometry;
    }
    TSR_PROGRESS(progress, 1, "winding numbers");
    return TSR_OK;
}

tsr_status tsr_winding_volume(tsr_context *context, const tsr_mesh *mesh, tsr_size3 size, const tsr_geometry *geometry,
                              const tsr_winding_options *options, tsr_volume **volume, tsr_winding_report *report)
{
    TSR_RETURNS(volume);
    TSR_NEEDS(context, mesh);
    tsr_winding_options o;
    tsr_winding *w = NULL;
    tsr_status status;
    const tsr_winding_report nothing = TSR_WINDING_REPORT;
    TSR_TRY(TSR_STRUCT_GIVE(report, &nothing));
    TSR_TRY(TSR_OPTIONS_TAKE(&o, options));
    TSR_TRY(check_memory(context, mesh, size, o.memory_limit));
    TSR_TRY(tsr_winding_create(context, size, geometry, tsr_max64(mesh->vertex_count, 1), &w));
    TSR_TRY_GOTO(tsr_volume_create(context, TSR_I32, size, geometry, volume), done);
    TSR_TRY_GOTO(build_layers(w, mesh, &o.progress, *volume), done);
    TSR_TRY_GOTO(tsr_winding_check(w, mesh, report), done);
done:
    tsr_winding_destroy(&w);
    if (status != TSR_OK) tsr_volume_destroy(volume);
    return status;
}

tsr_status tsr_winding_lattice(const tsr_mesh *mesh, tsr_vec3 spacing, tsr_vec3 origin, int64_t margin, tsr_size3 *size, tsr_geometry *geometry)
{
    TSR_NEEDS(mesh, size, geometry);
    const double h[3] = { spacing.x, spacing.y, spacing.z }, o[3] = { origin.x, origin.y, origin.z };
    double first[3];
    int64_t extent[3];
    TSR_TRY(tsr_mesh_require_host(mesh, "mesh"));
    if (!mesh->triangle_count) TSR_FAIL(TSR_ERROR_ARGUMENT, "winding: the mesh has no triangles (%lld vertices)", (long long)mesh->vertex_count);
    if (margin < 0 || margin > 1 << 19) TSR_FAIL(TSR_ERROR_ARGUMENT, "winding: margin is %lld voxels, expected 0 to 524288", (long long)margin);
    for (int k = 0; k < 3; k++) {
        double lower = INFINITY, upper = -INFINITY;
        if (!(h[k] > 0) || !isfinite(h[k]) || !isfinite(o[k]))
            TSR_FAIL(TSR_ERROR_ARGUMENT, "winding: spacing along %c is %g, origin %g, expected a positive and a finite number", 'x' + k, h[k], o[k]);
        for (int64_t i = 0; i < mesh->vertex_count; i++) {
            const double v = ((double)mesh->vertices[3 * i + k] - o[k]) / h[k];
            if (!isfinite(v))
                TSR_FAIL(TSR_ERROR_FORMAT, "mesh: vertex %lld is (%g, %g, %g), expected finite numbers", (long long)i, (double)mesh->vertices[3 * i],
                         (double)mesh->vertices[3 * i + 1], (double)mesh->vertices[3 * i + 2]);
            lower = fmin(lower, v);
            upper = fmax(upper, v);
        }
        if (!(fabs(lower) <= 0x1p52 && fabs(upper) <= 0x1p52))
            TSR_FAIL(TSR_ERROR_UNSUPPORTED,
                     "winding: the mesh lies %.3g voxels from the origin %g along %c, expected up to 2^52: use a nearer origin",
                     fmax(fabs(lower), fabs(upper)), o[k], 'x' + k);
        first[k] = floor(lower) - (double)margin;
        if (ceil(upper) + (double)margin - first[k] + 1 > 524288)
            TSR_FAIL(TSR_ERROR_UNSUPPORTED, "winding: the mesh spans %.0f voxels along %c, expected up to 524288: use a larger spacing",
                     upper - lower, 'x' + k);
        extent[k] = (int64_t)(ceil(upper) + (double)margin - first[k]) + 1;
    }
    *size = (tsr_size3){ extent[0], extent[1], extent[2] };
    *geometry = tsr_geometry_make(spacing, (tsr_vec3){ o[0] + first[0] * h[0], o[1] + first[1] * h[1], o[2] + first[2] * h[2] }, mesh->space);
    return TSR_OK;
}
