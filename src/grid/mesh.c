#include "grid/mesh.h"

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
};

tsr_status tsr_mesh_create(tsr_context *context, int64_t vertices, int64_t triangles, int normals, tsr_mesh **mesh)
{
    *mesh = NULL;
    if (vertices < 0 || vertices > (int64_t)UINT32_MAX)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "mesh: %lld vertices, expected 0 to 4294967295 (indices are 32 bits)", (long long)vertices);
    if (triangles < 0 || triangles > INT64_MAX / 64) TSR_FAIL(TSR_ERROR_ARGUMENT, "mesh: %lld triangles, expected 0 or more", (long long)triangles);
    struct mesh_block *block = NULL;
    tsr_status status;
    TSR_TRY(tsr_host_allocate(NULL, sizeof *block, (void **)&block));
    *block = (struct mesh_block){ { .context = context, .vertex_count = vertices, .triangle_count = triangles }, vertices, triangles };
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
    give(block->mesh.context, block->mesh.vertices, block->vertex_capacity, 3 * sizeof(float));
    give(block->mesh.context, block->mesh.normals, block->vertex_capacity, 3 * sizeof(float));
    give(block->mesh.context, block->mesh.triangles, block->triangle_capacity, 3 * sizeof(uint32_t));
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
    give(mesh->context, mesh->normals, ((struct mesh_block *)mesh)->vertex_capacity, 3 * sizeof(float));
    mesh->normals = NULL;
}

int64_t tsr_mesh_vertex_count(const tsr_mesh *mesh) { return mesh->vertex_count; }
int64_t tsr_mesh_triangle_count(const tsr_mesh *mesh) { return mesh->triangle_count; }
tsr_device tsr_mesh_device(const tsr_mesh *mesh) { return mesh->context ? mesh->context->device : (tsr_device){ TSR_DEVICE_CPU, 0 }; }
float *tsr_mesh_vertices(tsr_mesh *mesh) { return mesh->vertices; }
float *tsr_mesh_normals(tsr_mesh *mesh) { return mesh->normals; }
uint32_t *tsr_mesh_triangles(tsr_mesh *mesh) { return mesh->triangles; }
const float *tsr_mesh_vertices_const(const tsr_mesh *mesh) { return mesh->vertices; }
const float *tsr_mesh_normals_const(const tsr_mesh *mesh) { return mesh->normals; }
const uint32_t *tsr_mesh_triangles_const(const tsr_mesh *mesh) { return mesh->triangles; }
tsr_space tsr_mesh_space(const tsr_mesh *mesh) { return mesh->space; }
int64_t tsr_mesh_odd_faces(const tsr_mesh *mesh) { return mesh->odd_faces; }
void tsr_mesh_set_space(tsr_mesh *mesh, tsr_space space) { mesh->space = space; }

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
    TSR_TRY(tsr_mesh_require_host(mesh, "tsr_mesh_convert_space"));
    if (mesh->space == TSR_SPACE_NONE || space == TSR_SPACE_NONE || mesh->space == space) return TSR_OK;
    turn(mesh->vertices, mesh->vertex_count);
    if (mesh->normals) turn(mesh->normals, mesh->vertex_count);
    mesh->space = space;
    return TSR_OK;
}

tsr_status tsr_mesh_copy(const tsr_mesh *mesh, tsr_context *context, tsr_mesh **copy)
{
    tsr_status status;
    TSR_TRY(tsr_mesh_create(context, mesh->vertex_count, mesh->triangle_count, mesh->normals != NULL, copy));
    (*copy)->space = mesh->space;
    size_t vertex_bytes = (size_t)mesh->vertex_count * 3 * sizeof(float);
    TSR_TRY_GOTO(tsr_device_move(context, (*copy)->vertices, mesh->context, mesh->vertices, vertex_bytes), fail);
    if (mesh->normals) TSR_TRY_GOTO(tsr_device_move(context, (*copy)->normals, mesh->context, mesh->normals, vertex_bytes), fail);
    TSR_TRY_GOTO(tsr_device_move(context, (*copy)->triangles, mesh->context, mesh->triangles, (size_t)mesh->triangle_count * 3 * sizeof(uint32_t)),
                 fail);
    return TSR_OK;
fail:
    tsr_mesh_destroy(copy);
    return status;
}
