#include <stdlib.h>
#include <string.h>

#include "core/core.h"
#include "mesh/mesh.h"
#include "volume/volume.h"
#include "surface/surface.h"

/* Slab [begin, end) owns the vertices and cells of its planes. Their numbers and normals reach two planes further and one back. */
enum { BEHIND = 1, AFTER = 2 };

struct parts {
    tsr_mesh **mesh; /* on the host */
    int64_t count, vertices, triangles;
};

static tsr_status join(const struct parts *parts, int normals, tsr_space space, tsr_mesh **mesh)
{
    TSR_TRY(tsr_mesh_create(NULL, parts->vertices, parts->triangles, normals, mesh));
    int64_t vertex = 0, triangle = 0;
    for (int64_t k = 0; k < parts->count; k++) {
        const tsr_mesh *part = parts->mesh[k];
        size_t vertex_bytes = (size_t)part->vertex_count * 3 * sizeof(float);
        if (vertex_bytes) memcpy((*mesh)->vertices + 3 * vertex, part->vertices, vertex_bytes);
        if (vertex_bytes && normals) memcpy((*mesh)->normals + 3 * vertex, part->normals, vertex_bytes);
        if (part->triangle_count) memcpy((*mesh)->triangles + 3 * triangle, part->triangles, (size_t)part->triangle_count * 3 * sizeof(uint32_t));
        vertex += part->vertex_count;
        triangle += part->triangle_count;
        tsr_mesh_destroy(&parts->mesh[k]);
    }
    (*mesh)->space = space;
    return TSR_OK;
}

/* The part of the planes [begin, end); the device has [from, to) of them. */
static tsr_status slab(tsr_context *context, const tsr_planes_source *source, const tsr_surface_grid *prepared, const char *device, int64_t from,
                       int64_t begin, int64_t end, int64_t to, tsr_space space, struct parts *parts, tsr_surface_report *report)
{
    tsr_surface_grid g = *prepared;
    tsr_mesh *part = NULL;
    tsr_surface_report own = TSR_SURFACE_REPORT;
    const int64_t plane = source->size.x * source->size.y * (int64_t)tsr_dtype_size(source->dtype);
    g.data = device + (begin - from) * plane;
    g.slab = begin;
    g.below = begin - from;
    g.own = end - begin;
    g.base = (uint32_t)parts->vertices;
    TSR_TRY(tsr_surface_lay(&g, (tsr_size3){ source->size.x, source->size.y, to - begin }));
    TSR_TRY(tsr_surface_run(context, &g, 1, 0, space, NULL, &part, &own));
    report->work_bytes = tsr_maxl(report->work_bytes, own.work_bytes);
    parts->vertices += part->vertex_count;
    parts->triangles += part->triangle_count;
    tsr_status status = tsr_mesh_copy(part, NULL, &parts->mesh[parts->count]);
    if (status == TSR_OK) parts->count++;
    tsr_mesh_destroy(&part);
    return status;
}

tsr_status tsr_surface_extract_source(tsr_context *context, const tsr_planes_source *source, const tsr_surface_options *options, int64_t planes,
                                      tsr_mesh **mesh, tsr_surface_report *report)
{
    TSR_RETURNS(mesh);
    TSR_NEEDS(context, source);
    tsr_surface_options own;
    tsr_planes_source from;
    tsr_surface_grid g = { .width = 32 };
    tsr_surface_report made = TSR_SURFACE_REPORT;
    struct parts parts = { 0 };
    tsr_status status;
    int64_t bytes;
    char *host = NULL;
    void *device = NULL;
    TSR_TRY(TSR_OPTIONS_TAKE(&own, options));
    TSR_TRY(TSR_OPTIONS_TAKE(&from, source));
    TSR_TRY(TSR_STRUCT_BEGUN(report));
    if (!from.planes) TSR_FAIL(TSR_ERROR_ARGUMENT, "surface: the source has no function that gives planes");
    if ((unsigned)from.dtype >= TSR_DTYPE_COUNT) TSR_FAIL(TSR_ERROR_ARGUMENT, "surface: element type %d of the source is unknown", (int)from.dtype);
    if (own.close) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "surface: close of a surface by slabs: read the volume as a whole");
    if (planes < 0) TSR_FAIL(TSR_ERROR_ARGUMENT, "surface: slabs of %lld planes, expected 0 or more", (long long)planes);
    if (from.slope == 0.0) from.slope = 1.0;
    tsr_geometry geometry = from.geometry ? *from.geometry : tsr_geometry_make((tsr_vec3){ 1, 1, 1 }, (tsr_vec3){ 0, 0, 0 }, TSR_SPACE_NONE);
    TSR_TRY(tsr_surface_prepare(&g, &own, from.dtype, from.slope, from.intercept, &geometry));
    TSR_TRY(tsr_surface_lay(&g, from.size));
    const int64_t plane = from.size.x * from.size.y * (int64_t)tsr_dtype_size(from.dtype), depth = from.size.z;
    if (!planes) planes = tsr_maxl(8, (64 << 20) / plane);
    planes = tsr_minl(planes, depth);
    TSR_TRY(tsr_size_bytes((tsr_size3){ from.size.x, from.size.y, tsr_minl(depth, planes + BEHIND + AFTER) }, tsr_dtype_size(from.dtype),
                           "slab of the source", &bytes));
    TSR_TRY_GOTO(tsr_host_allocate(NULL, (size_t)bytes, (void **)&host), done);
    TSR_TRY_GOTO(tsr_host_allocate(NULL, (size_t)tsr_ceil_div(depth, planes) * sizeof *parts.mesh, (void **)&parts.mesh), done);
    if (context->device.kind != TSR_DEVICE_CPU) TSR_TRY_GOTO(tsr_device_allocate(context, (size_t)bytes, &device), done);
    for (int64_t begin = 0, kept = 0, have = 0; begin < depth; begin += planes) { /* the host has the planes [kept, have) */
        int64_t end = tsr_minl(begin + planes, depth), first = tsr_maxl(0, begin - BEHIND), to = tsr_minl(end + AFTER, depth);
        if (end == depth - 1) end = depth; /* a last plane alone has no cells */
        if (begin) memmove(host, host + (first - kept) * plane, (size_t)((have - first) * plane));
        kept = first;
        if (to > have) {
            char *fresh = host + (have - kept) * plane;
            TSR_TRY_GOTO(from.planes(from.user, have, to, fresh), done);
            made.not_a_number += tsr_samples_nan(from.dtype, fresh, (to - have) * from.size.x * from.size.y);
            TSR_TRY_GOTO(tsr_surface_check_samples(&g, (uint64_t)made.not_a_number), done);
            have = to;
        }
        if (device) TSR_TRY_GOTO(context->backend->upload(context->queue, device, host, (size_t)((have - kept) * plane)), done);
        TSR_TRY_GOTO(slab(context, &from, &g, device ? (const char *)device : host, kept, begin, end, to, geometry.space, &parts, &made), done);
        if (end == depth) break;
    }
    TSR_TRY_GOTO(join(&parts, g.normals != TSR_SURFACE_NORMALS_NONE, geometry.space, mesh), done);
    made.cells = (from.size.x - 1) * (from.size.y - 1) * (depth - 1);
    made.work_bytes += bytes;
    status = TSR_STRUCT_GIVE(report, &made);
done:
    for (int64_t k = 0; k < parts.count; k++) tsr_mesh_destroy(&parts.mesh[k]);
    tsr_host_release(NULL, parts.mesh, 0);
    tsr_device_release(context, device, (size_t)bytes);
    tsr_host_release(NULL, host, (size_t)bytes);
    return status;
}
