#include "mesh/mesh.h"
#include "volume/array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Memory of a device or, without a context, of the host. An empty array is NULL. */
static tsr_status take(tsr_context *context, int64_t elements, size_t size, void **memory)
{
    *memory = NULL;
    if (!elements) return TSR_OK;
    if (context) TSR_TRY(tsr_device_allocate(context, (size_t)elements * size, memory));
    else TSR_TRY(tsr_host_allocate(NULL, (size_t)elements * size, memory));
    return TSR_OK;
}
static void give(tsr_context *context, void *memory, int64_t elements, size_t size)
{
    if (context) tsr_device_release(context, memory, (size_t)elements * size);
    else tsr_host_release(NULL, memory, (size_t)elements * size);
}

/* The allocation holds the capacities it was made with: they lie in front of the public part. */
struct mesh_block {
    tsr_mesh mesh;
    int64_t vertex_capacity, triangle_capacity;
    tsr_array lent[4]; /* by tsr_mesh_array_part: memory of a caller's, owner included; data NULL: the part's memory is ours */
};

static void give_part(struct mesh_block *block, tsr_mesh_array_part part)
{
    void *memory[] = { block->mesh.vertices, block->mesh.normals, block->mesh.triangles, block->mesh.colors };
    const size_t size[] = { 3 * sizeof(float), 3 * sizeof(float), 3 * sizeof(uint32_t), 4 };
    if (block->lent[part].data) tsr_array_release(&block->lent[part]);
    else give(block->mesh.context, memory[part], part == TSR_MESH_ARRAY_TRIANGLES ? block->triangle_capacity : block->vertex_capacity, size[part]);
}

static void drop_parts(tsr_mesh *mesh)
{
    free(mesh->parts);
    free(mesh->part_names);
    mesh->parts = NULL;
    mesh->part_names = NULL;
    mesh->part_count = 0;
}

tsr_status tsr_mesh_create(tsr_context *context, int64_t vertices, int64_t triangles, int normals, tsr_mesh **mesh)
{
    TSR_RETURNS(mesh);
    if (vertices < 0 || vertices > (int64_t)UINT32_MAX)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "mesh: %lld vertices, expected 0 to 4294967295 (indices are 32 bits)", (long long)vertices);
    if (triangles < 0 || triangles > INT64_MAX / 64) TSR_FAIL(TSR_ERROR_ARGUMENT, "mesh: %lld triangles, expected 0 or more", (long long)triangles);
    struct mesh_block *block = NULL;
    tsr_status status;
    TSR_TRY(tsr_host_allocate(NULL, sizeof *block, (void **)&block));
    *block = (struct mesh_block){ .mesh = { .context = context, .vertex_count = vertices, .triangle_count = triangles }, .vertex_capacity = vertices,
                                  .triangle_capacity = triangles };
    *mesh = &block->mesh;
    TSR_TRY_GOTO(take(context, vertices, 3 * sizeof(float), (void **)&(*mesh)->vertices), fail);
    if (normals) TSR_TRY_GOTO(take(context, vertices, 3 * sizeof(float), (void **)&(*mesh)->normals), fail);
    TSR_TRY_GOTO(take(context, triangles, 3 * sizeof(uint32_t), (void **)&(*mesh)->triangles), fail);
    return TSR_OK;
fail:
    tsr_mesh_destroy(mesh);
    return status;
}

void tsr_mesh_destroy(tsr_mesh **mesh)
{
    if (!mesh || !*mesh) return;
    struct mesh_block *block = (struct mesh_block *)*mesh;
    *mesh = NULL;
    for (int part = TSR_MESH_ARRAY_VERTICES; part <= TSR_MESH_ARRAY_COLORS; part++) give_part(block, (tsr_mesh_array_part)part);
    drop_parts(&block->mesh);
    tsr_host_release(NULL, block, sizeof *block);
}

void tsr_mesh_shrink(tsr_mesh *mesh, int64_t vertices, int64_t triangles)
{
    TSR_ASSERT(vertices <= mesh->vertex_count && triangles <= mesh->triangle_count);
    mesh->vertex_count = vertices;
    mesh->triangle_count = triangles;
}

tsr_status tsr_mesh_refill(tsr_context *context, int64_t vertices, int64_t triangles, int normals, tsr_mesh **mesh)
{
    struct mesh_block *block = (struct mesh_block *)*mesh;
    if (!block || vertices > block->vertex_capacity || triangles > block->triangle_capacity || (normals != 0) != (block->mesh.normals != NULL)) {
        tsr_mesh_destroy(mesh);
        TSR_TRY(tsr_mesh_create(context, tsr_min64(vertices + vertices / 4 + 1, UINT32_MAX), triangles + triangles / 4 + 1, normals, mesh));
    }
    (*mesh)->vertex_count = vertices;
    (*mesh)->triangle_count = triangles;
    (*mesh)->odd_faces = 0;
    return TSR_OK;
}

void tsr_mesh_room(const tsr_mesh *mesh, int normals, int64_t *vertices, int64_t *triangles)
{
    const struct mesh_block *block = (const struct mesh_block *)mesh;
    const int same = (normals != 0) == (mesh->normals != NULL);
    *vertices = same ? block->vertex_capacity : 0;
    *triangles = same ? block->triangle_capacity : 0;
}

void tsr_mesh_drop_normals(tsr_mesh *mesh)
{
    give_part((struct mesh_block *)mesh, TSR_MESH_ARRAY_NORMALS);
    mesh->normals = NULL;
}

int64_t tsr_mesh_vertex_count(const tsr_mesh *mesh) { return mesh ? mesh->vertex_count : 0; }
int64_t tsr_mesh_triangle_count(const tsr_mesh *mesh) { return mesh ? mesh->triangle_count : 0; }
tsr_device tsr_mesh_device(const tsr_mesh *mesh)
{
    if (!mesh) return (tsr_device){ 0 };
    return mesh->context ? mesh->context->device : (tsr_device){ TSR_DEVICE_CPU, 0 };
}
float *tsr_mesh_vertices(tsr_mesh *mesh) { return mesh ? mesh->vertices : NULL; }
float *tsr_mesh_normals(tsr_mesh *mesh) { return mesh ? mesh->normals : NULL; }
uint32_t *tsr_mesh_triangles(tsr_mesh *mesh) { return mesh ? mesh->triangles : NULL; }
const float *tsr_mesh_vertices_const(const tsr_mesh *mesh) { return mesh ? mesh->vertices : NULL; }
const float *tsr_mesh_normals_const(const tsr_mesh *mesh) { return mesh ? mesh->normals : NULL; }
const uint32_t *tsr_mesh_triangles_const(const tsr_mesh *mesh) { return mesh ? mesh->triangles : NULL; }
tsr_space tsr_mesh_space(const tsr_mesh *mesh) { return mesh ? mesh->space : (tsr_space)0; }
int64_t tsr_mesh_odd_faces(const tsr_mesh *mesh) { return mesh ? mesh->odd_faces : 0; }
void tsr_mesh_set_space(tsr_mesh *mesh, tsr_space space)
{
    if (mesh) mesh->space = space;
}

tsr_status tsr_mesh_require_host(const tsr_mesh *mesh, const char *what)
{
    if (!mesh) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: mesh is NULL", what);
    if (mesh->context && mesh->context->device.kind != TSR_DEVICE_CPU)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: the mesh lives on %s: copy it to the host with tsr_mesh_copy", what,
                 tsr_device_kind_name(mesh->context->device.kind));
    return TSR_OK;
}

static void turn(float *vectors, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        vectors[3 * i] = 0.0f - vectors[3 * i]; /* 0 stays +0 */
        vectors[3 * i + 1] = 0.0f - vectors[3 * i + 1];
    }
}

tsr_status tsr_mesh_convert_space(tsr_mesh *mesh, tsr_space space)
{
    TSR_NEEDS(mesh);
    TSR_TRY(tsr_mesh_require_host(mesh, "tsr_mesh_convert_space"));
    if (mesh->space == TSR_SPACE_NONE || space == TSR_SPACE_NONE || mesh->space == space) return TSR_OK;
    turn(mesh->vertices, mesh->vertex_count);
    if (mesh->normals) turn(mesh->normals, mesh->vertex_count);
    for (int i = 0; i < 2; i++) mesh->origin[i] = 0.0 - mesh->origin[i];
    mesh->space = space;
    return TSR_OK;
}

tsr_status tsr_mesh_copy(const tsr_mesh *mesh, tsr_context *context, tsr_mesh **copy)
{
    TSR_RETURNS(copy);
    TSR_NEEDS(mesh);
    tsr_status status;
    TSR_TRY(tsr_mesh_create(context, mesh->vertex_count, mesh->triangle_count, mesh->normals != NULL, copy));
    (*copy)->space = mesh->space;
    memcpy((*copy)->origin, mesh->origin, sizeof mesh->origin);
    size_t vertex_bytes = (size_t)mesh->vertex_count * 3 * sizeof(float);
    TSR_TRY_GOTO(tsr_device_move(context, (*copy)->vertices, mesh->context, mesh->vertices, vertex_bytes), fail);
    if (mesh->normals) TSR_TRY_GOTO(tsr_device_move(context, (*copy)->normals, mesh->context, mesh->normals, vertex_bytes), fail);
    TSR_TRY_GOTO(tsr_device_move(context, (*copy)->triangles, mesh->context, mesh->triangles, (size_t)mesh->triangle_count * 3 * sizeof(uint32_t)),
                 fail);
    if (mesh->colors) {
        TSR_TRY_GOTO(tsr_mesh_add_colors(*copy), fail);
        TSR_TRY_GOTO(tsr_device_move(context, (*copy)->colors, mesh->context, mesh->colors, (size_t)mesh->vertex_count * 4), fail);
    }
    TSR_TRY_GOTO(tsr_mesh_set_parts(*copy, mesh->parts, mesh->part_count), fail);
    return TSR_OK;
fail:
    tsr_mesh_destroy(copy);
    return status;
}

/* ---- origin, colours, parts ---------------------------------------------------------------------------------------------------------------- */

tsr_vec3 tsr_mesh_origin(const tsr_mesh *mesh) { return mesh ? (tsr_vec3){ mesh->origin[0], mesh->origin[1], mesh->origin[2] } : (tsr_vec3){ 0 }; }
void tsr_mesh_set_origin(tsr_mesh *mesh, tsr_vec3 origin)
{
    if (!mesh) return;
    mesh->origin[0] = origin.x;
    mesh->origin[1] = origin.y;
    mesh->origin[2] = origin.z;
}

tsr_status tsr_positions_change_origin(float *positions, int64_t count, double from[3], tsr_vec3 origin)
{
    const double to[3] = { origin.x, origin.y, origin.z };
    if (!isfinite(origin.x) || !isfinite(origin.y) || !isfinite(origin.z)) TSR_FAIL(TSR_ERROR_ARGUMENT, "the origin is not finite");
    for (int k = 0; k < 3; k++) {
        if (from[k] == to[k]) continue;
        for (int64_t i = k; i < 3 * count; i += 3) positions[i] = (float)(((double)positions[i] + from[k]) - to[k]);
        from[k] = to[k];
    }
    return TSR_OK;
}

tsr_status tsr_mesh_change_origin(tsr_mesh *mesh, tsr_vec3 origin)
{
    TSR_NEEDS(mesh);
    TSR_TRY(tsr_mesh_require_host(mesh, "mesh"));
    TSR_TRY(tsr_positions_change_origin(mesh->vertices, mesh->vertex_count, mesh->origin, origin));
    return TSR_OK;
}

const uint8_t *tsr_mesh_colors_const(const tsr_mesh *mesh) { return mesh ? mesh->colors : NULL; }
uint8_t *tsr_mesh_colors(tsr_mesh *mesh) { return mesh ? mesh->colors : NULL; }
tsr_status tsr_mesh_add_colors(tsr_mesh *mesh)
{
    TSR_NEEDS(mesh);
    if (mesh->colors) return TSR_OK;
    TSR_TRY(take(mesh->context, ((struct mesh_block *)mesh)->vertex_capacity, 4, (void **)&mesh->colors));
    return TSR_OK;
}
void tsr_mesh_drop_colors(tsr_mesh *mesh)
{
    give_part((struct mesh_block *)mesh, TSR_MESH_ARRAY_COLORS);
    mesh->colors = NULL;
}

tsr_status tsr_mesh_set_parts(tsr_mesh *mesh, const tsr_mesh_part *parts, int32_t count)
{
    TSR_NEEDS(mesh);
    int64_t triangles = 0;
    if (count < 0 || (count && !parts)) TSR_FAIL(TSR_ERROR_ARGUMENT, "mesh: %d parts, expected 0 or more", (int)count);
    for (int32_t i = 0; i < count; i++) {
        if (parts[i].triangles < 0 || parts[i].triangles > mesh->triangle_count - triangles) triangles = mesh->triangle_count + 1;
        else triangles += parts[i].triangles;
        if (triangles > mesh->triangle_count) break;
    }
    if (count && triangles != mesh->triangle_count)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "mesh: its parts have %s triangles than the %lld of the mesh",
                 triangles > mesh->triangle_count ? "more" : "fewer", (long long)mesh->triangle_count);
    size_t bytes = 0;
    for (int32_t i = 0; i < count; i++) bytes += parts[i].name ? strlen(parts[i].name) + 1 : 0;
    tsr_mesh_part *own = count ? (tsr_mesh_part *)calloc((size_t)count, sizeof *own) : NULL;
    char *names = bytes ? (char *)malloc(bytes) : NULL, *at = names;
    if ((count && !own) || (bytes && !names)) {
        free(own);
        free(names);
        TSR_FAIL(TSR_ERROR_MEMORY, "mesh: out of host memory for %d parts", (int)count);
    }
    for (int32_t i = 0; i < count; i++) {
        own[i] = (tsr_mesh_part){ parts[i].value, NULL, parts[i].triangles };
        if (!parts[i].name) continue;
        const size_t size = strlen(parts[i].name) + 1;
        own[i].name = (const char *)memcpy(at, parts[i].name, size);
        at += size;
    }
    drop_parts(mesh);
    mesh->parts = own;
    mesh->part_names = names;
    mesh->part_count = count;
    return TSR_OK;
}

int tsr_mesh_part_at(const tsr_mesh *mesh, int32_t index, tsr_mesh_part *part)
{
    if (!mesh || !part) return 0;
    if (index < 0 || index >= mesh->part_count) return 0;
    *part = mesh->parts[index];
    return 1;
}

/* One mesh into a larger one, its vertices from `vertices` on and its triangles from `triangles` on. */
static void place(tsr_mesh *to, const tsr_mesh *from, int64_t vertices, int64_t triangles)
{
    if (from->vertex_count) memcpy(to->vertices + 3 * vertices, from->vertices, (size_t)from->vertex_count * 3 * sizeof(float));
    if (to->normals && from->vertex_count) memcpy(to->normals + 3 * vertices, from->normals, (size_t)from->vertex_count * 3 * sizeof(float));
    if (to->colors && from->vertex_count) memcpy(to->colors + 4 * vertices, from->colors, (size_t)from->vertex_count * 4);
    for (int64_t i = 0; i < 3 * from->triangle_count; i++) to->triangles[3 * triangles + i] = from->triangles[i] + (uint32_t)vertices;
}

tsr_status tsr_mesh_join(tsr_mesh *const *meshes, const tsr_mesh_part *parts, int32_t count, tsr_mesh **joined)
{
    TSR_RETURNS(joined);
    int64_t vertices = 0, triangles = 0;
    int normals = 1, colors = 1;
    tsr_status status;
    if (count < 1 || !meshes || !parts) TSR_FAIL(TSR_ERROR_ARGUMENT, "mesh: %d meshes to join, expected 1 or more with their parts", (int)count);
    for (int32_t i = 0; i < count; i++) {
        TSR_TRY(tsr_mesh_require_host(meshes[i], "mesh"));
        if (meshes[i]->space != meshes[0]->space || memcmp(meshes[i]->origin, meshes[0]->origin, sizeof meshes[0]->origin) != 0)
            TSR_FAIL(TSR_ERROR_ARGUMENT, "mesh: mesh %d to join has another space or origin than the first", (int)i);
        vertices += meshes[i]->vertex_count;
        triangles += meshes[i]->triangle_count;
        normals &= meshes[i]->normals != NULL;
        colors &= meshes[i]->colors != NULL;
    }
    tsr_mesh_part *own = (tsr_mesh_part *)calloc((size_t)count, sizeof *own);
    if (!own) TSR_FAIL(TSR_ERROR_MEMORY, "mesh: out of host memory for %d parts", (int)count);
    TSR_TRY_GOTO(tsr_mesh_create(NULL, vertices, triangles, normals, joined), done);
    if (colors) TSR_TRY_GOTO(tsr_mesh_add_colors(*joined), done);
    (*joined)->space = meshes[0]->space;
    memcpy((*joined)->origin, meshes[0]->origin, sizeof meshes[0]->origin);
    vertices = triangles = 0;
    for (int32_t i = 0; i < count; i++) {
        place(*joined, meshes[i], vertices, triangles);
        own[i] = (tsr_mesh_part){ parts[i].value, parts[i].name, meshes[i]->triangle_count };
        vertices += meshes[i]->vertex_count;
        triangles += meshes[i]->triangle_count;
    }
    TSR_TRY_GOTO(tsr_mesh_set_parts(*joined, own, count), done);
done:
    free(own);
    if (status != TSR_OK) tsr_mesh_destroy(joined);
    return status;
}

/* ---- arrays of the caller ------------------------------------------------------------------------------------------------------------- */

tsr_status tsr_mesh_array(const tsr_mesh *m, tsr_mesh_array_part part, tsr_array *array)
{
    static const char *const names[] = { "vertices", "normals", "triangles", "colors" };
    static const tsr_dtype type[] = { TSR_F32, TSR_F32, TSR_U32, TSR_U8 };
    if (!m || !array) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s is NULL", m ? "array" : "mesh");
    if ((int)part < 0 || part > TSR_MESH_ARRAY_COLORS) TSR_FAIL(TSR_ERROR_ARGUMENT, "part is %d, expected 0 to %d", (int)part, (int)TSR_MESH_ARRAY_COLORS);
    const void *memory[] = { m->vertices, m->normals, m->triangles, m->colors };
    const int64_t shape[2] = { part == TSR_MESH_ARRAY_TRIANGLES ? m->triangle_count : m->vertex_count, part == TSR_MESH_ARRAY_COLORS ? 4 : 3 };
    if (!memory[part] && shape[0]) TSR_FAIL(TSR_ERROR_STATE, "the mesh has no %s", names[part]);
    *array = tsr_array_view(m->context, memory[part], type[part], 2, shape);
    return TSR_OK;
}

tsr_status tsr_mesh_from_arrays(tsr_context *context, tsr_array *vertices, tsr_array *triangles, tsr_array *normals, tsr_array *colors, tsr_mesh **mesh)
{
    static const char *const names[] = { "vertices", "normals", "triangles", "colors" };
    static const tsr_dtype type[] = { TSR_F32, TSR_F32, TSR_U32, TSR_U8 };
    tsr_array *const given[] = { vertices, normals, triangles, colors };
    struct mesh_block *block = NULL;
    tsr_status status = TSR_OK;
    if (mesh) *mesh = NULL;
    if (!mesh || !vertices || !triangles)
        TSR_FAIL_GOTO(TSR_ERROR_ARGUMENT, done, "%s is NULL", mesh ? vertices ? "triangles" : "vertices" : "mesh");
    for (int part = TSR_MESH_ARRAY_VERTICES; part <= TSR_MESH_ARRAY_COLORS; part++) {
        tsr_array *a = given[part];
        if (!a) continue;
        TSR_TRY_GOTO(tsr_array_settle(context, (int)type[part], 1, names[part], a), done);
        const int64_t width = part == TSR_MESH_ARRAY_COLORS ? 4 : 3;
        if (a->axes != 2 || a->shape[1] != width)
            TSR_FAIL_GOTO(TSR_ERROR_ARGUMENT, done, "%s: %d axes, %lld in a row, expected 2 axes and %lld", names[part], a->axes,
                          (long long)(a->axes > 1 ? a->shape[1] : 0), (long long)width);
        if ((part == TSR_MESH_ARRAY_NORMALS || part == TSR_MESH_ARRAY_COLORS) && a->shape[0] != vertices->shape[0])
            TSR_FAIL_GOTO(TSR_ERROR_ARGUMENT, done, "%s: %lld rows, expected one for each of %lld vertices", names[part], (long long)a->shape[0],
                          (long long)vertices->shape[0]);
    }
    const int64_t count = vertices->shape[0], faces = triangles->shape[0];
    if (count > (int64_t)UINT32_MAX) TSR_FAIL_GOTO(TSR_ERROR_ARGUMENT, done, "vertices: %lld rows, expected at most 4294967295", (long long)count);
    for (int64_t i = 0; triangles->device.kind == TSR_DEVICE_CPU && i < 3 * faces; i++)
        if (((const uint32_t *)triangles->data)[i] >= count)
            TSR_FAIL_GOTO(TSR_ERROR_ARGUMENT, done, "triangles: row %lld names vertex %u, expected less than %lld", (long long)(i / 3),
                          ((const uint32_t *)triangles->data)[i], (long long)count);
    TSR_TRY_GOTO(tsr_host_allocate(NULL, sizeof *block, (void **)&block), done);
    *block = (struct mesh_block){ .mesh = { .context = context, .vertex_count = count, .triangle_count = faces }, .vertex_capacity = count,
                                  .triangle_capacity = faces };
    void **place[] = { (void **)&block->mesh.vertices, (void **)&block->mesh.normals, (void **)&block->mesh.triangles, (void **)&block->mesh.colors };
    for (int part = TSR_MESH_ARRAY_VERTICES; part <= TSR_MESH_ARRAY_COLORS; part++) {
        if (!given[part] || !given[part]->data) continue;
        block->lent[part] = *given[part];
        *place[part] = given[part]->data;
        *given[part] = (tsr_array)TSR_ARRAY;
    }
    *mesh = &block->mesh;
done:
    for (int part = TSR_MESH_ARRAY_VERTICES; part <= TSR_MESH_ARRAY_COLORS; part++) tsr_array_release(given[part]);
    return status;
}
