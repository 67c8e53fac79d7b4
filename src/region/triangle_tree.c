/* region/triangle_tree.c: level by level from the root: pairs of cells and triangles are split or done; those done, sorted, are the leaves and their lists. */
#include <stdlib.h>

#include "mesh/mesh.h"
#include "volume/volume.h"
#include "region/region_tree.h"
#include "region/triangle_ops.h"

enum { LEVELS = 20 };

/* Device memory that is released with its owner. */
struct room {
    void *memory;
    size_t bytes;
};

struct making {
    tsr_context *context;
    tsr_triangles mesh;
    tsr_triangle_tree_options options;
    struct room states, codes, triangles, masks, counts, done, keys, entries, next_codes, next_triangles, workspace, found;
    struct {
        struct room keys, triangles;
        int64_t count;
    } leaves[LEVELS]; /* pairs of leaves of each level */
    struct room all_keys, all_triangles, sorted;
};

static tsr_status take(tsr_context *context, struct room *r, int64_t count, size_t each)
{
    const size_t bytes = (size_t)(count > 0 ? count : 1) * each;
    if (r->memory && r->bytes >= bytes) return TSR_OK;
    if (r->memory) tsr_device_release(context, r->memory, r->bytes);
    *r = (struct room){ NULL, 0 };
    TSR_TRY(tsr_device_allocate(context, bytes, &r->memory));
    r->bytes = bytes;
    return TSR_OK;
}
static void give(tsr_context *context, struct room *r)
{
    if (r->memory) tsr_device_release(context, r->memory, r->bytes);
    *r = (struct room){ NULL, 0 };
}
static void release(struct making *m)
{
    struct room *const rooms[] = { &m->states,    &m->codes, &m->triangles, &m->masks,         &m->counts,
                                   &m->done,      &m->keys,  &m->entries,   &m->next_codes,    &m->next_triangles,
                                   &m->workspace, &m->found, &m->all_keys,  &m->all_triangles, &m->sorted };
    for (size_t k = 0; k < sizeof rooms / sizeof *rooms; k++) give(m->context, rooms[k]);
    for (int l = 0; l < LEVELS; l++) {
        give(m->context, &m->leaves[l].keys);
        give(m->context, &m->leaves[l].triangles);
    }
}

static tsr_status select_values(struct making *m, const uint8_t *flags, const void *values, int32_t bytes, int64_t count, struct room *kept,
                                int64_t capacity)
{
    size_t work;
    TSR_TRY(tsr_select_workspace(m->context, count, &work));
    TSR_TRY(take(m->context, &m->workspace, (int64_t)work, 1));
    TSR_TRY(take(m->context, kept, capacity, (size_t)bytes));
    TSR_TRY(tsr_select_values(m->context, flags, values, bytes, count, kept->memory, capacity, (uint64_t *)m->found.memory, m->workspace.memory,
                              m->workspace.bytes));
    return TSR_OK;
}
static tsr_status count_nonzero(struct making *m, const uint8_t *flags, int64_t count, int64_t *found)
{
    const tsr_predicate nonzero = { TSR_KEEP_NONZERO, 0, 0 };
    uint64_t value = 0;
    if (count) TSR_TRY(tsr_count(m->context, nonzero, TSR_U8, flags, count, (uint64_t *)m->found.memory));
    if (count) TSR_TRY(tsr_found_host(m->context, (const uint64_t *)m->found.memory, -1, &value));
    *found = (int64_t)value;
    return TSR_OK;
}
/* Indices i with lower <= states[i] <= upper as u32; *found may exceed the capacity. */
static tsr_status select_states(struct making *m, double lower, double upper, struct room *indices, int64_t capacity, int64_t *found)
{
    const tsr_predicate keep = { TSR_KEEP_RANGE, lower, upper };
    uint64_t value;
    size_t work;
    TSR_TRY(tsr_select_workspace(m->context, m->mesh.triangle_count, &work));
    TSR_TRY(take(m->context, &m->workspace, (int64_t)work, 1));
    TSR_TRY(take(m->context, indices, capacity, sizeof(uint32_t)));
    TSR_TRY(tsr_select_indices(m->context, keep, TSR_U8, m->states.memory, m->mesh.triangle_count, TSR_U32, indices->memory, capacity,
                               (uint64_t *)m->found.memory, m->workspace.memory, m->workspace.bytes));
    TSR_TRY(tsr_found_host(m->context, (const uint64_t *)m->found.memory, -1, &value));
    *found = (int64_t)value;
    return TSR_OK;
}

/* The triangles that the root holds. */
static tsr_status begin(struct making *m, int64_t *pairs)
{
    const int64_t all = m->mesh.triangle_count;
    int64_t wrong;
    TSR_TRY(take(m->context, &m->states, all, 1));
    TSR_TRY(m->context->backend->region->triangle->look(m->context->queue, &m->mesh, (uint8_t *)m->states.memory));
    TSR_TRY(select_states(m, TSR_TRIANGLE_CORNER, TSR_TRIANGLE_POSITION, &m->triangles, 1, &wrong));
    if (wrong) {
        uint32_t first, corner[3];
        uint8_t state;
        TSR_TRY(tsr_device_move(NULL, &first, m->context, m->triangles.memory, sizeof first));
        TSR_TRY(tsr_device_move(NULL, corner, m->context, m->mesh.triangles + 3 * (size_t)first, sizeof corner));
        TSR_TRY(tsr_device_move(NULL, &state, m->context, (const uint8_t *)m->states.memory + first, 1));
        if (state == TSR_TRIANGLE_CORNER)
            TSR_FAIL(TSR_ERROR_FORMAT, "triangle %u has corners %u, %u, %u, expected below %lld", first, corner[0], corner[1], corner[2],
                     (long long)m->mesh.vertex_count);
        TSR_FAIL(TSR_ERROR_FORMAT, "triangle %u with corners %u, %u, %u: a position is no number or too large", first, corner[0], corner[1],
                 corner[2]);
    }
    TSR_TRY(select_states(m, TSR_TRIANGLE_THERE, TSR_TRIANGLE_THERE, &m->triangles, all, pairs));
    TSR_TRY(take(m->context, &m->codes, *pairs, sizeof(uint64_t)));
    TSR_TRY(m->context->backend->fill(m->context->queue, m->codes.memory, 0, m->codes.bytes));
    return TSR_OK;
}

static void swap(struct room *a, struct room *b)
{
    const struct room c = *a;
    *a = *b;
    *b = c;
}

static tsr_status sort_pairs(struct making *m, struct room *keys, struct room *triangles, int64_t count, int32_t bits, struct room *to_keys,
                             struct room *to_triangles)
{
    size_t work;
    TSR_TRY(tsr_sort_workspace(m->context, TSR_U64, 1, count, &work));
    TSR_TRY(take(m->context, &m->workspace, (int64_t)work, 1));
    TSR_TRY(take(m->context, to_keys, count, sizeof(uint64_t)));
    TSR_TRY(take(m->context, to_triangles, count, sizeof(uint32_t)));
    TSR_TRY(tsr_sort(m->context, TSR_U64, keys->memory, to_keys->memory, (const uint32_t *)triangles->memory, (uint32_t *)to_triangles->memory, count,
                     0, bits, m->workspace.memory, m->workspace.bytes));
    return TSR_OK;
}

/* Pairs of the children: a HistoPyramid over the numbers of children gives each its place. */
static tsr_status expand(struct making *m, const tsr_triangle_pairs *p, int64_t *children)
{
    tsr_pyramid_options options = TSR_PYRAMID_OPTIONS;
    tsr_pyramid *pyramid = NULL;
    tsr_volume *counts = NULL;
    tsr_pyramid_info info = TSR_PYRAMID_INFO;
    tsr_status status;
    options.order = TSR_PYRAMID_ROW;
    options.implicit_base = 1;
    TSR_TRY_GOTO(tsr_volume_wrap(m->context, TSR_U8, (tsr_size3){ p->count, 1, 1 }, NULL, p->counts, NULL, NULL, &counts), done);
    TSR_TRY_GOTO(tsr_pyramid_create(m->context, (tsr_size3){ p->count, 1, 1 }, &options, &pyramid), done);
    TSR_TRY_GOTO(tsr_pyramid_build(pyramid, counts), done);
    TSR_TRY_GOTO(tsr_pyramid_describe(pyramid, &info), done);
    if (info.total > INT32_MAX)
        TSR_FAIL_GOTO(TSR_ERROR_CAPACITY, done,
                      "triangle tree: %lld pairs of cells and triangles on level %d, expected fewer than 2^31: use a coarser lattice",
                      (long long)info.total, p->level - 1);
    *children = (int64_t)info.total;
    if (*children) {
        TSR_TRY_GOTO(take(m->context, &m->entries, *children, sizeof(tsr_pyramid_entry)), done);
        TSR_TRY_GOTO(take(m->context, &m->next_codes, *children, sizeof(uint64_t)), done);
        TSR_TRY_GOTO(take(m->context, &m->next_triangles, *children, sizeof(uint32_t)), done);
        TSR_TRY_GOTO(tsr_pyramid_extract(pyramid, 0, *children, (tsr_pyramid_entry *)m->entries.memory), done);
        TSR_TRY_GOTO(m->context->backend->region->triangle->descend(m->context->queue, p, (const tsr_pyramid_entry *)m->entries.memory, *children,
                                                                    (uint64_t *)m->next_codes.memory, (uint32_t *)m->next_triangles.memory),
                     done);
    }
    TSR_TRY_GOTO(tsr_context_synchronize(m->context), done); /* the pyramid is released */
done:
    tsr_pyramid_destroy(&pyramid);
    tsr_volume_destroy(&counts);
    return status;
}

/* One level: leaves are put aside, the rest goes on. */
static tsr_status step(struct making *m, int32_t level, int64_t *pairs)
{
    const int64_t n = *pairs;
    TSR_TRY(take(m->context, &m->masks, n, 1));
    TSR_TRY(take(m->context, &m->counts, n, 1));
    TSR_TRY(take(m->context, &m->done, n, 1));
    TSR_TRY(take(m->context, &m->keys, n, sizeof(uint64_t)));
    const tsr_triangle_pairs p = { .count = n,
                                   .level = level,
                                   .codes = (const uint64_t *)m->codes.memory,
                                   .triangles = (const uint32_t *)m->triangles.memory,
                                   .masks = (uint8_t *)m->masks.memory,
                                   .counts = (uint8_t *)m->counts.memory,
                                   .done = (uint8_t *)m->done.memory,
                                   .keys = (uint64_t *)m->keys.memory };
    TSR_TRY(m->context->backend->region->triangle->split(m->context->queue, &m->mesh, &p));
    TSR_TRY(count_nonzero(m, p.done, n, &m->leaves[level].count));
    if (m->leaves[level].count) {
        TSR_TRY(select_values(m, p.done, p.keys, 8, n, &m->leaves[level].keys, m->leaves[level].count));
        TSR_TRY(select_values(m, p.done, p.triangles, 4, n, &m->leaves[level].triangles, m->leaves[level].count));
    }
    TSR_TRY(expand(m, &p, pairs));
    if (!*pairs) return TSR_OK;
    if (m->mesh.voxels) {
        swap(&m->codes, &m->next_codes);
        swap(&m->triangles, &m->next_triangles);
    } else {
        TSR_TRY(sort_pairs(m, &m->next_codes, &m->next_triangles, *pairs, 3 * (m->mesh.top - level + 1), &m->codes, &m->triangles));
    }
    return TSR_OK;
}

/* The pairs of all leaves, sorted: lists->triangles; the keys of the leaves to *keys. */
static tsr_status gather(struct making *m, tsr_triangle_lists *lists, struct room *keys)
{
    const uint64_t *sorted;
    size_t work;
    for (int l = 0; l < LEVELS; l++) lists->pairs += m->leaves[l].count;
    const int64_t n = lists->pairs;
    if (n > INT32_MAX)
        TSR_FAIL(TSR_ERROR_CAPACITY, "triangle tree: %lld pairs of leaves and triangles, expected fewer than 2^31: use a coarser lattice",
                 (long long)n);
    TSR_TRY(tsr_device_allocate(m->context, (size_t)(n ? n : 1) * sizeof *lists->triangles, (void **)&lists->triangles));
    if (n) {
        TSR_TRY(take(m->context, &m->all_keys, n, sizeof(uint64_t)));
        TSR_TRY(take(m->context, &m->all_triangles, n, sizeof(uint32_t)));
        for (int64_t l = LEVELS - 1, at = 0; l >= 0; at += m->leaves[l--].count) {
            const size_t count = (size_t)m->leaves[l].count;
            if (!count) continue;
            TSR_TRY(tsr_device_move(m->context, (uint64_t *)m->all_keys.memory + at, m->context, m->leaves[l].keys.memory, count * sizeof(uint64_t)));
            TSR_TRY(tsr_device_move(m->context, (uint32_t *)m->all_triangles.memory + at, m->context, m->leaves[l].triangles.memory,
                                    count * sizeof(uint32_t)));
        }
        struct room own = { lists->triangles, (size_t)n * sizeof *lists->triangles };
        TSR_TRY(sort_pairs(m, &m->all_keys, &m->all_triangles, n, 64, &m->sorted, &own));
        sorted = (const uint64_t *)m->sorted.memory;
        TSR_TRY(take(m->context, &m->done, n, 1));
        TSR_TRY(m->context->backend->region->triangle->heads(m->context->queue, sorted, n, (uint8_t *)m->done.memory));
        TSR_TRY(count_nonzero(m, (const uint8_t *)m->done.memory, n, &lists->leaves));
        TSR_TRY(select_values(m, (const uint8_t *)m->done.memory, sorted, 8, n, keys, lists->leaves));
    }
    TSR_TRY(tsr_device_allocate(m->context, (size_t)(lists->leaves + 1) * sizeof *lists->starts, (void **)&lists->starts));
    if (n) {
        const tsr_predicate nonzero = { TSR_KEEP_NONZERO, 0, 0 };
        TSR_TRY(tsr_select_workspace(m->context, n, &work));
        TSR_TRY(take(m->context, &m->workspace, (int64_t)work, 1));
        TSR_TRY(tsr_select_indices(m->context, nonzero, TSR_U8, m->done.memory, n, TSR_U64, lists->starts, lists->leaves, (uint64_t *)m->found.memory,
                                   m->workspace.memory, m->workspace.bytes));
    }
    const uint64_t end = (uint64_t)n;
    TSR_TRY(tsr_device_move(m->context, lists->starts + lists->leaves, NULL, &end, sizeof end));
    return TSR_OK;
}

static tsr_status prepare(struct making *m, const tsr_mesh *mesh, tsr_size3 size, const tsr_geometry *geometry,
                          const tsr_triangle_tree_options *options)
{
    const int64_t longest = tsr_max64(size.x, tsr_max64(size.y, size.z)), most = (int64_t)1 << (LEVELS - 1);
    TSR_TRY(TSR_OPTIONS_TAKE(&m->options, options));
    if (!mesh) TSR_FAIL(TSR_ERROR_ARGUMENT, "mesh is NULL");
    const int on_host = !mesh->context || mesh->context->device.kind == TSR_DEVICE_CPU;
    if (mesh->context != m->context && !(on_host && m->context->device.kind == TSR_DEVICE_CPU))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "triangle tree: the mesh lives on %s, expected %s: copy it with tsr_mesh_copy",
                 tsr_device_kind_name(tsr_mesh_device(mesh).kind), tsr_device_kind_name(m->context->device.kind));
    if (size.x < 1 || size.y < 1 || size.z < 1 || longest > most)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "triangle tree: a lattice of %lld x %lld x %lld voxels, expected extents from 1 to %lld", (long long)size.x,
                 (long long)size.y, (long long)size.z, (long long)most);
    if (mesh->triangle_count < 1 || mesh->triangle_count > UINT32_MAX)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "triangle tree: a mesh of %lld triangles, expected 1 to 4294967295", (long long)mesh->triangle_count);
    if (m->options.most < 0 || m->options.most > TSR_TRIANGLE_MOST)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "triangle tree: most is %d, expected 0 to %d", m->options.most, (int)TSR_TRIANGLE_MOST);
    if (m->options.centres && !m->options.voxels) TSR_FAIL(TSR_ERROR_ARGUMENT, "triangle tree: centres is for voxels, expected voxels as well");
    TSR_TRY(tsr_geometry_check(geometry));
    m->mesh = (tsr_triangles){ .vertices = mesh->vertices,
                               .triangles = mesh->triangles,
                               .vertex_count = mesh->vertex_count,
                               .triangle_count = mesh->triangle_count,
                               .size = { size.x, size.y, size.z },
                               .most = m->options.most ? m->options.most : 1,
                               .voxels = m->options.voxels != 0,
                               .centres = m->options.centres != 0 };
    while (((int64_t)1 << m->mesh.top) < longest) m->mesh.top++;
    const double determinant = tsr_geometry_determinant(geometry);
    for (int r = 0; r < 3; r++) {
        m->mesh.origin[r] = geometry->affine[r][3];
        for (int c = 0; c < 3; c++) {
            const int r1 = (r + 1) % 3, r2 = (r + 2) % 3, c1 = (c + 1) % 3, c2 = (c + 2) % 3;
            m->mesh.index[c][r] =
                (geometry->affine[r1][c1] * geometry->affine[r2][c2] - geometry->affine[r1][c2] * geometry->affine[r2][c1]) / determinant;
        }
    }
    TSR_TRY(take(m->context, &m->found, 1, sizeof(uint64_t)));
    return TSR_OK;
}

/* Leaves and their lists on the device. */
static tsr_status make(struct making *m, tsr_triangle_lists *lists, struct room *keys)
{
    int64_t pairs;
    TSR_TRY(begin(m, &pairs));
    for (int32_t level = m->mesh.top; level >= 0 && pairs; level--) {
        if (tsr_progress_report(&m->options.progress, (double)(m->mesh.top - level) / (double)(m->mesh.top + 1), "triangles"))
            TSR_FAIL(TSR_ERROR_CANCELLED, "cancelled at level %d of %d", level, m->mesh.top);
        TSR_TRY(step(m, level, &pairs));
    }
    TSR_TRY(gather(m, lists, keys));
    return TSR_OK;
}

void tsr_triangle_lists_destroy(tsr_triangle_lists *l)
{
    if (!l || !l->context) return;
    if (l->starts) tsr_device_release(l->context, l->starts, (size_t)(l->leaves + 1) * sizeof *l->starts);
    if (l->triangles) tsr_device_release(l->context, l->triangles, (size_t)(l->pairs ? l->pairs : 1) * sizeof *l->triangles);
    *l = (tsr_triangle_lists){ 0 };
}

tsr_status tsr_region_tree_from_triangles(tsr_context *context, const tsr_mesh *mesh, tsr_size3 size, const tsr_geometry *geometry,
                                          const tsr_triangle_tree_options *options, tsr_region_tree **tree, tsr_triangle_lists *lists)
{
    TSR_RETURNS(tree);
    TSR_NEEDS(context);
    struct making m = { .context = context };
    struct room keys = { NULL, 0 };
    uint64_t *host = NULL;
    tsr_status status;
    tsr_triangle_lists own = { .context = context };
    if (lists) *lists = (tsr_triangle_lists){ 0 };
    const tsr_geometry unit = tsr_geometry_make((tsr_vec3){ 1, 1, 1 }, (tsr_vec3){ 0, 0, 0 }, mesh ? mesh->space : TSR_SPACE_NONE);
    if (!geometry) geometry = &unit;
    TSR_TRY_GOTO(prepare(&m, mesh, size, geometry, options), done);
    TSR_TRY_GOTO(make(&m, &own, &keys), done);
    host = (uint64_t *)malloc((size_t)(own.leaves ? own.leaves : 1) * sizeof *host);
    if (!host) TSR_FAIL_GOTO(TSR_ERROR_MEMORY, done, "triangle tree: no memory for %lld leaves", (long long)own.leaves);
    if (own.leaves) TSR_TRY_GOTO(tsr_device_move(NULL, host, context, keys.memory, (size_t)own.leaves * sizeof *host), done);
    TSR_TRY_GOTO(tsr_region_tree_from_keys(context, host, own.leaves, size, 3, geometry, tree), done);
    TSR_TRY_GOTO(tsr_context_synchronize(context), done);
    if (lists) {
        *lists = own;
        own = (tsr_triangle_lists){ 0 };
    }
done:
    free(host);
    give(context, &keys);
    release(&m);
    tsr_triangle_lists_destroy(&own);
    if (status != TSR_OK) tsr_region_tree_destroy(tree);
    return status;
}

tsr_status tsr_points_from_surface(tsr_context *context, const tsr_mesh *mesh, tsr_size3 size, const tsr_geometry *geometry,
                                   const tsr_triangle_tree_options *options, int normals, tsr_points **points)
{
    TSR_RETURNS(points);
    TSR_NEEDS(context);
    struct making m = { .context = context };
    struct room keys = { NULL, 0 };
    tsr_status status;
    tsr_triangle_lists own = { .context = context };
    tsr_triangle_tree_options all;
    const tsr_geometry unit = tsr_geometry_make((tsr_vec3){ 1, 1, 1 }, (tsr_vec3){ 0, 0, 0 }, mesh ? mesh->space : TSR_SPACE_NONE);
    if (!geometry) geometry = &unit;
    TSR_TRY(TSR_OPTIONS_TAKE(&all, options));
    all.voxels = 1;
    all.struct_size = sizeof all;
    TSR_TRY_GOTO(prepare(&m, mesh, size, geometry, &all), done);
    TSR_TRY_GOTO(make(&m, &own, &keys), done);
    TSR_TRY_GOTO(tsr_points_create(context, own.leaves, normals ? TSR_POINTS_NORMALS : 0, points), done);
    tsr_points_set_space(*points, geometry->space);
    tsr_surface_job job = { .mesh = m.mesh,
                            .count = own.leaves,
                            .leaves = (const uint64_t *)keys.memory,
                            .starts = own.starts,
                            .triangles = own.triangles,
                            .positions = tsr_points_positions(*points),
                            .normals = tsr_points_normals(*points) };
    memcpy(job.affine, geometry->affine, sizeof job.affine);
    if (own.leaves) TSR_TRY_GOTO(context->backend->region->triangle->surface(context->queue, &job), done);
    TSR_TRY_GOTO(tsr_context_synchronize(context), done); /* the lists are released */
done:
    give(context, &keys);
    release(&m);
    tsr_triangle_lists_destroy(&own);
    if (status != TSR_OK) tsr_points_destroy(points);
    return status;
}
