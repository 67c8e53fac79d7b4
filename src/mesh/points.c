#include "mesh/points.h"

#include <stdlib.h>
#include <string.h>

#include "mesh/mesh.h"

static tsr_status take(tsr_context *context, int64_t count, size_t floats, float **memory)
{
    const size_t bytes = (size_t)tsr_max64(count, 1) * floats * sizeof(float);
    *memory = NULL;
    if (context) TSR_TRY(tsr_device_allocate(context, bytes, (void **)memory));
    else TSR_TRY(tsr_host_allocate(NULL, bytes, (void **)memory));
    return TSR_OK;
}
static void give(tsr_context *context, float *memory, int64_t count, size_t floats)
{
    const size_t bytes = (size_t)tsr_max64(count, 1) * floats * sizeof(float);
    if (!memory) return;
    if (context) tsr_device_release(context, memory, bytes);
    else tsr_host_release(NULL, memory, bytes);
}

tsr_status tsr_points_create(tsr_context *context, int64_t count, int parts, tsr_points **points)
{
    tsr_status status;
    *points = NULL;
    if (count < 0 || count > INT32_MAX) TSR_FAIL(TSR_ERROR_ARGUMENT, "points: count is %lld, expected 0 to 2147483647", (long long)count);
    if (parts & ~(TSR_POINTS_NORMALS | TSR_POINTS_RADII)) TSR_FAIL(TSR_ERROR_ARGUMENT, "points: parts is %d, expected normals and radii only", parts);
    tsr_points *p = (tsr_points *)calloc(1, sizeof *p);
    if (!p) TSR_FAIL(TSR_ERROR_MEMORY, "points: out of memory (%zu bytes asked for)", sizeof *p);
    p->context = context;
    p->count = p->capacity = count;
    p->space = TSR_SPACE_NONE;
    TSR_TRY_GOTO(take(context, count, 3, &p->positions), fail);
    if (parts & TSR_POINTS_NORMALS) TSR_TRY_GOTO(take(context, count, 3, &p->normals), fail);
    if (parts & TSR_POINTS_RADII) TSR_TRY_GOTO(take(context, count, 1, &p->radii), fail);
    *points = p;
    return TSR_OK;
fail:
    tsr_points_destroy(&p);
    return status;
}

void tsr_points_destroy(tsr_points **points)
{
    if (!points || !*points) return;
    tsr_points *p = *points;
    *points = NULL;
    give(p->context, p->positions, p->capacity, 3);
    give(p->context, p->normals, p->capacity, 3);
    give(p->context, p->radii, p->capacity, 1);
    free(p);
}

int64_t tsr_points_count(const tsr_points *points) { return points->count; }
tsr_device tsr_points_device(const tsr_points *points) { return points->context ? points->context->device : (tsr_device){ TSR_DEVICE_CPU, 0 }; }
float *tsr_points_positions(tsr_points *points) { return points->positions; }
float *tsr_points_normals(tsr_points *points) { return points->normals; }
float *tsr_points_radii(tsr_points *points) { return points->radii; }
const float *tsr_points_positions_const(const tsr_points *points) { return points->positions; }
const float *tsr_points_normals_const(const tsr_points *points) { return points->normals; }
const float *tsr_points_radii_const(const tsr_points *points) { return points->radii; }
tsr_space tsr_points_space(const tsr_points *points) { return points->space; }
void tsr_points_set_space(tsr_points *points, tsr_space space) { points->space = space; }

tsr_vec3 tsr_points_origin(const tsr_points *points) { return (tsr_vec3){ points->origin[0], points->origin[1], points->origin[2] }; }
void tsr_points_set_origin(tsr_points *points, tsr_vec3 origin)
{
    points->origin[0] = origin.x;
    points->origin[1] = origin.y;
    points->origin[2] = origin.z;
}
tsr_status tsr_points_change_origin(tsr_points *points, tsr_vec3 origin)
{
    TSR_TRY(tsr_points_require_host(points, "points"));
    TSR_TRY(tsr_positions_change_origin(points->positions, points->count, points->origin, origin));
    return TSR_OK;
}

void tsr_points_shrink(tsr_points *points, int64_t count)
{
    TSR_ASSERT(count <= points->count);
    points->count = count;
}
void tsr_points_drop_normals(tsr_points *points)
{
    give(points->context, points->normals, points->capacity, 3);
    points->normals = NULL;
}

tsr_status tsr_points_require_host(const tsr_points *points, const char *what)
{
    if (!points) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: points is NULL", what);
    if (points->context && points->context->device.kind != TSR_DEVICE_CPU)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: the points live on %s: copy them to the host with tsr_points_copy", what,
                 tsr_device_kind_name(points->context->device.kind));
    return TSR_OK;
}

tsr_status tsr_points_copy(const tsr_points *points, tsr_context *context, tsr_points **copy)
{
    tsr_status status;
    *copy = NULL;
    if (!points) TSR_FAIL(TSR_ERROR_ARGUMENT, "points is NULL");
    const size_t bytes = (size_t)points->count * sizeof(float);
    TSR_TRY(tsr_points_create(context, points->count, (points->normals ? TSR_POINTS_NORMALS : 0) | (points->radii ? TSR_POINTS_RADII : 0), copy));
    (*copy)->space = points->space;
    memcpy((*copy)->origin, points->origin, sizeof points->origin);
    TSR_TRY_GOTO(tsr_device_move(context, (*copy)->positions, points->context, points->positions, 3 * bytes), fail);
    if (points->normals) TSR_TRY_GOTO(tsr_device_move(context, (*copy)->normals, points->context, points->normals, 3 * bytes), fail);
    if (points->radii) TSR_TRY_GOTO(tsr_device_move(context, (*copy)->radii, points->context, points->radii, bytes), fail);
    return TSR_OK;
fail:
    tsr_points_destroy(copy);
    return status;
}

tsr_status tsr_points_from_mesh(const tsr_mesh *mesh, tsr_points **points)
{
    tsr_status status;
    *points = NULL;
    if (!mesh) TSR_FAIL(TSR_ERROR_ARGUMENT, "mesh is NULL");
    TSR_TRY(tsr_points_create(mesh->context, mesh->vertex_count, mesh->normals ? TSR_POINTS_NORMALS : 0, points));
    (*points)->space = mesh->space;
    memcpy((*points)->origin, mesh->origin, sizeof mesh->origin);
    const size_t bytes = (size_t)mesh->vertex_count * 3 * sizeof(float);
    TSR_TRY_GOTO(tsr_device_move(mesh->context, (*points)->positions, mesh->context, mesh->vertices, bytes), fail);
    if (mesh->normals) TSR_TRY_GOTO(tsr_device_move(mesh->context, (*points)->normals, mesh->context, mesh->normals, bytes), fail);
    return TSR_OK;
fail:
    tsr_points_destroy(points);
    return status;
}
