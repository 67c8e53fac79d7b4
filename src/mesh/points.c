#include "mesh/points.h"

#include <stdlib.h>
#include <string.h>

#include "mesh/mesh.h"
#include "volume/array.h"

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

static void give_part(tsr_points *p, tsr_points_array_part part)
{
    float *memory[] = { p->positions, p->normals, p->radii };
    if (p->lent[part].data) tsr_array_release(&p->lent[part]);
    else give(p->context, memory[part], p->capacity, part == TSR_POINTS_ARRAY_RADII ? 1 : 3);
}

tsr_status tsr_points_create(tsr_context *context, int64_t count, int parts, tsr_points **points)
{
    TSR_RETURNS(points);
    tsr_status status;
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
    for (int part = TSR_POINTS_ARRAY_POSITIONS; part <= TSR_POINTS_ARRAY_RADII; part++) give_part(p, (tsr_points_array_part)part);
    for (int32_t k = 0; k < p->attributes; k++) give(p->context, p->attribute[k].data, p->capacity, (size_t)p->attribute[k].components);
    free(p);
}

static int32_t find(const tsr_points *p, const char *name)
{
    for (int32_t k = 0; p && name && k < p->attributes; k++)
        if (!strcmp(p->attribute[k].name, name)) return k;
    return -1;
}

tsr_status tsr_points_add_attribute(tsr_points *points, const char *name, int32_t components, float **data)
{
    if (data) *data = NULL;
    if (!points || !name) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s is NULL", points ? "name" : "points");
    const size_t length = strlen(name);
    if (length < 1 || length >= sizeof points->attribute->name)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "name of an attribute has %zu bytes, expected 1 to %zu", length, sizeof points->attribute->name - 1);
    if (components < 1 || components > TSR_POINTS_COMPONENTS)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "attribute %s has %d components, expected 1 to %d", name, (int)components, TSR_POINTS_COMPONENTS);
    if (find(points, name) >= 0) TSR_FAIL(TSR_ERROR_ARGUMENT, "attribute %s is there already", name);
    if (points->attributes == TSR_POINTS_ATTRIBUTES) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "more than %d attributes", TSR_POINTS_ATTRIBUTES);
    tsr_points_column *column = &points->attribute[points->attributes];
    TSR_TRY(take(points->context, points->capacity, (size_t)components, &column->data));
    memcpy(column->name, name, length + 1);
    column->components = components;
    points->attributes++;
    if (data) *data = column->data;
    return TSR_OK;
}
const float *tsr_points_attribute_const(const tsr_points *points, const char *name, int32_t *components)
{
    const int32_t k = find(points, name);
    if (components) *components = k < 0 ? 0 : points->attribute[k].components;
    return k < 0 ? NULL : points->attribute[k].data;
}
float *tsr_points_attribute(tsr_points *points, const char *name, int32_t *components)
{
    const int32_t k = find(points, name);
    if (components) *components = k < 0 ? 0 : points->attribute[k].components;
    return k < 0 ? NULL : points->attribute[k].data;
}
int tsr_points_attribute_at(const tsr_points *points, int32_t index, const char **name, int32_t *components)
{
    if (!points || index < 0 || index >= points->attributes) return 0;
    if (name) *name = points->attribute[index].name;
    if (components) *components = points->attribute[index].components;
    return 1;
}
void tsr_points_remove_attribute(tsr_points *points, const char *name)
{
    const int32_t k = find(points, name);
    if (k < 0) return;
    give(points->context, points->attribute[k].data, points->capacity, (size_t)points->attribute[k].components);
    points->attributes--;
    for (int32_t i = k; i < points->attributes; i++) points->attribute[i] = points->attribute[i + 1];
}

int64_t tsr_points_count(const tsr_points *points) { return points ? points->count : 0; }
tsr_device tsr_points_device(const tsr_points *points)
{
    if (!points) return (tsr_device){ 0 };
    return points->context ? points->context->device : (tsr_device){ TSR_DEVICE_CPU, 0 };
}
float *tsr_points_positions(tsr_points *points) { return points ? points->positions : NULL; }
float *tsr_points_normals(tsr_points *points) { return points ? points->normals : NULL; }
float *tsr_points_radii(tsr_points *points) { return points ? points->radii : NULL; }
const float *tsr_points_positions_const(const tsr_points *points) { return points ? points->positions : NULL; }
const float *tsr_points_normals_const(const tsr_points *points) { return points ? points->normals : NULL; }
const float *tsr_points_radii_const(const tsr_points *points) { return points ? points->radii : NULL; }
tsr_space tsr_points_space(const tsr_points *points) { return points ? points->space : (tsr_space)0; }
void tsr_points_set_space(tsr_points *points, tsr_space space)
{
    if (points) points->space = space;
}

tsr_vec3 tsr_points_origin(const tsr_points *points)
{
    if (!points) return (tsr_vec3){ 0 };
    return (tsr_vec3){ points->origin[0], points->origin[1], points->origin[2] };
}
void tsr_points_set_origin(tsr_points *points, tsr_vec3 origin)
{
    if (!points) return;
    points->origin[0] = origin.x;
    points->origin[1] = origin.y;
    points->origin[2] = origin.z;
}
tsr_status tsr_points_change_origin(tsr_points *points, tsr_vec3 origin)
{
    TSR_NEEDS(points);
    TSR_TRY(tsr_points_require_host(points, "points"));
    TSR_TRY(tsr_positions_change_origin(points->positions, points->count, points->origin, origin));
    return TSR_OK;
}

void tsr_points_shrink(tsr_points *points, int64_t count)
{
    TSR_ASSERT(count <= points->count);
    points->count = count;
}
tsr_status tsr_points_add_part(tsr_points *points, tsr_points_parts part)
{
    float **to = part == TSR_POINTS_NORMALS ? &points->normals : &points->radii;
    if (!*to) TSR_TRY(take(points->context, points->capacity, part == TSR_POINTS_NORMALS ? 3 : 1, to));
    return TSR_OK;
}
void tsr_points_drop_normals(tsr_points *points)
{
    give_part(points, TSR_POINTS_ARRAY_NORMALS);
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
    TSR_RETURNS(copy);
    TSR_NEEDS(points);
    tsr_status status;
    const size_t bytes = (size_t)points->count * sizeof(float);
    TSR_TRY(tsr_points_create(context, points->count, (points->normals ? TSR_POINTS_NORMALS : 0) | (points->radii ? TSR_POINTS_RADII : 0), copy));
    (*copy)->space = points->space;
    memcpy((*copy)->origin, points->origin, sizeof points->origin);
    TSR_TRY_GOTO(tsr_device_move(context, (*copy)->positions, points->context, points->positions, 3 * bytes), fail);
    if (points->normals) TSR_TRY_GOTO(tsr_device_move(context, (*copy)->normals, points->context, points->normals, 3 * bytes), fail);
    if (points->radii) TSR_TRY_GOTO(tsr_device_move(context, (*copy)->radii, points->context, points->radii, bytes), fail);
    for (int32_t k = 0; k < points->attributes; k++) {
        const tsr_points_column *column = &points->attribute[k];
        float *data;
        TSR_TRY_GOTO(tsr_points_add_attribute(*copy, column->name, column->components, &data), fail);
        TSR_TRY_GOTO(tsr_device_move(context, data, points->context, column->data, (size_t)column->components * bytes), fail);
    }
    return TSR_OK;
fail:
    tsr_points_destroy(copy);
    return status;
}

tsr_status tsr_points_from_mesh(const tsr_mesh *mesh, tsr_points **points)
{
    TSR_RETURNS(points);
    TSR_NEEDS(mesh);
    tsr_status status;
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

/* ---- arrays of the caller ------------------------------------------------------------------------------------------------------------- */

static const char *const part_names[] = { "positions", "normals", "radii" };

tsr_status tsr_points_array(const tsr_points *p, tsr_points_array_part part, tsr_array *array)
{
    if (!p || !array) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s is NULL", p ? "array" : "points");
    if ((int)part < 0 || part > TSR_POINTS_ARRAY_RADII) TSR_FAIL(TSR_ERROR_ARGUMENT, "part is %d, expected 0 to %d", (int)part, (int)TSR_POINTS_ARRAY_RADII);
    const float *memory[] = { p->positions, p->normals, p->radii };
    const int64_t shape[2] = { p->count, 3 };
    if (!memory[part]) TSR_FAIL(TSR_ERROR_STATE, "the points have no %s", part_names[part]);
    *array = tsr_array_view(p->context, memory[part], TSR_F32, part == TSR_POINTS_ARRAY_RADII ? 1 : 2, shape);
    return TSR_OK;
}

tsr_status tsr_points_from_arrays(tsr_context *context, tsr_array *positions, tsr_array *normals, tsr_array *radii, tsr_points **points)
{
    tsr_array *const given[] = { positions, normals, radii };
    tsr_status status = TSR_OK;
    if (points) *points = NULL;
    if (!points || !positions) TSR_FAIL_GOTO(TSR_ERROR_ARGUMENT, done, "%s is NULL", points ? "positions" : "points");
    for (int part = 0; part <= TSR_POINTS_ARRAY_RADII; part++) {
        tsr_array *a = given[part];
        const int32_t axes = part == TSR_POINTS_ARRAY_RADII ? 1 : 2;
        if (!a) continue;
        TSR_TRY_GOTO(tsr_array_settle(context, TSR_F32, 1, part_names[part], a), done);
        if (a->axes != axes || (axes == 2 && a->shape[1] != 3))
            TSR_FAIL_GOTO(TSR_ERROR_ARGUMENT, done, "%s: %d axes, expected [count]%s", part_names[part], a->axes, axes == 2 ? "[3]" : "");
        if (a->shape[0] != positions->shape[0] || a->shape[0] > INT32_MAX)
            TSR_FAIL_GOTO(TSR_ERROR_ARGUMENT, done, "%s: %lld rows, expected %lld, 2147483647 at most", part_names[part], (long long)a->shape[0],
                          (long long)positions->shape[0]);
    }
    tsr_points *p = (tsr_points *)calloc(1, sizeof *p);
    if (!p) TSR_FAIL_GOTO(TSR_ERROR_MEMORY, done, "points: out of memory (%zu bytes asked for)", sizeof *p);
    p->context = context;
    p->count = p->capacity = positions->shape[0];
    float **place[] = { &p->positions, &p->normals, &p->radii };
    for (int part = 0; part <= TSR_POINTS_ARRAY_RADII; part++) {
        if (!given[part] || !given[part]->data) continue;
        p->lent[part] = *given[part];
        *place[part] = (float *)given[part]->data;
        *given[part] = (tsr_array)TSR_ARRAY;
    }
    *points = p;
done:
    for (int part = 0; part <= TSR_POINTS_ARRAY_RADII; part++) tsr_array_release(given[part]);
    return status;
}
