/* surface/compare_mesh.c: distances between two meshes, from vertices to triangles both ways. */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "volume/surface_distances.h"
#include "surface/nearest_triangle.h"
#include "surface/mesh_math.h"

enum { CHUNK = 1024 }; /* vertices that pass the nearest triangle on to the next */

struct search {
    const tsr_mesh *from;
    const tsr_triangle_tree *to;
    float *distances;
};

static void search_chunks(void *user, int64_t begin, int64_t end, int worker)
{
    const struct search *s = (const struct search *)user;
    (void)worker;
    for (int64_t chunk = begin; chunk < end; chunk++) {
        int64_t last = tsr_min64((chunk + 1) * CHUNK, s->from->vertex_count);
        uint32_t hint = 0;
        for (int64_t v = chunk * CHUNK; v < last; v++)
            s->distances[v] = (float)sqrt(tsr_triangle_tree_nearest(s->to, tsr_mesh_position(s->from, (uint32_t)v), &hint));
    }
}

/* *distances RETURNS NEW, one per vertex. */
static tsr_status directed(const tsr_mesh *from, const tsr_mesh *to, float **distances)
{
    tsr_triangle_tree *tree;
    TSR_TRY(tsr_host_allocate(NULL, (size_t)from->vertex_count * sizeof(float), (void **)distances));
    TSR_TRY(tsr_triangle_tree_create(to, &tree));
    struct search search = { from, tree, *distances };
    int threads = from->context ? from->context->threads : tsr_parallel_default_threads();
    tsr_parallel(threads, tsr_ceil_div(from->vertex_count, CHUNK), 1, search_chunks, &search);
    tsr_triangle_tree_destroy(&tree);
    return TSR_OK;
}

static tsr_status usable(const tsr_mesh *mesh, const char *name)
{
    tsr_vec3 lower, upper;
    TSR_TRY(tsr_mesh_require_host(mesh, "tsr_compare_meshes"));
    if (!mesh->triangle_count) TSR_FAIL(TSR_ERROR_STATE, "compare: the %s has no triangle", name);
    TSR_TRY(tsr_mesh_check(mesh, &lower, &upper));
    return TSR_OK;
}

tsr_status tsr_compare_meshes(const tsr_mesh *mesh, const tsr_mesh *reference, const tsr_compare_options *options, tsr_surface_distances *distances)
{
    TSR_NEEDS(mesh, reference, distances);
    static const char *const spaces[] = { "none", "RAS", "LPS" };
    tsr_compare_options own = TSR_COMPARE_OPTIONS;
    float *values[2] = { NULL, NULL };
    tsr_mesh *turned = NULL; /* the reference in the frame of the other, where they differ */
    tsr_status status;
    memset(distances, 0, sizeof *distances);
    TSR_TRY(TSR_OPTIONS_TAKE(&own, options));
    TSR_TRY(usable(mesh, "mesh"));
    TSR_TRY(usable(reference, "reference"));
    if (!own.ignore_geometry && (mesh->space == TSR_SPACE_NONE) != (reference->space == TSR_SPACE_NONE))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "compare: the spaces differ: %s and %s; ignore_geometry compares the numbers", spaces[mesh->space],
                 spaces[reference->space]);
    if (!own.ignore_geometry && mesh->space != reference->space) {
        TSR_TRY(tsr_mesh_copy(reference, NULL, &turned));
        TSR_TRY_GOTO(tsr_mesh_convert_space(turned, mesh->space), done);
        reference = turned;
    }
    TSR_TRY_GOTO(directed(mesh, reference, &values[0]), done);
    TSR_TRY_GOTO(directed(reference, mesh, &values[1]), done);
    tsr_surface_distances_summarise(values[0], mesh->vertex_count, values[1], reference->vertex_count, distances);
done:
    if (values[0]) tsr_host_release(NULL, values[0], (size_t)mesh->vertex_count * sizeof(float));
    if (values[1]) tsr_host_release(NULL, values[1], (size_t)reference->vertex_count * sizeof(float));
    tsr_mesh_destroy(&turned);
    return status;
}
