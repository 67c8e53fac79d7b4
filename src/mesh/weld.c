/* mesh/weld.c: places found by hashing the bits of their coordinates. Linear time. */
#include "mesh/weld.h"

#include <string.h>

static uint32_t hash_place(const float *p)
{
    uint32_t bits[3], h = 0x9e3779b9u;
    memcpy(bits, p, sizeof bits);
    for (int i = 0; i < 3; i++) {
        h = (h ^ bits[i]) * 0x85ebca6bu;
        h ^= h >> 15;
    }
    h *= 0xc2b2ae35u;
    return h ^ h >> 13;
}

static int same_place(const float *a, const float *b) { return a[0] == b[0] && a[1] == b[1] && a[2] == b[2]; }

/* The vertex at the place of `point`, or 0xffffffff after entering `vertex` there. */
static uint32_t find_or_enter(tsr_weld *w, int64_t point, uint32_t vertex)
{
    uint64_t mask = (uint64_t)(2 * w->room) - 1;
    const float *p = w->points + 3 * point;
    for (uint64_t at = hash_place(p) & mask;; at = (at + 1) & mask) {
        if (!w->table[at]) {
            w->table[at] = vertex + 1;
            return UINT32_MAX;
        }
        uint32_t other = w->table[at] - 1;
        if (same_place(w->points + 3 * (int64_t)w->first[other], p)) return other;
    }
}

void tsr_weld_free(tsr_weld *w)
{
    tsr_host_release(NULL, w->first, (size_t)w->room * 4);
    tsr_host_release(NULL, w->table, (size_t)w->room * 8);
}

static tsr_status take(const tsr_weld *w, int64_t count, size_t element, void **memory)
{
    return w->allocate ? w->allocate(w->user, count, element, memory) : tsr_host_allocate(NULL, (size_t)count * element, memory);
}

static tsr_status grow(tsr_weld *w)
{
    tsr_weld larger = *w;
    tsr_status status;
    larger.room = w->room ? 2 * w->room : 1024;
    larger.first = larger.table = NULL;
    TSR_TRY_GOTO(take(w, larger.room, 4, (void **)&larger.first), fail);
    TSR_TRY_GOTO(take(w, larger.room, 8, (void **)&larger.table), fail);
    memset(larger.table, 0, (size_t)larger.room * 8);
    if (w->vertices) memcpy(larger.first, w->first, (size_t)w->vertices * 4);
    for (int64_t v = 0; v < w->vertices; v++) find_or_enter(&larger, w->first[v], (uint32_t)v);
    tsr_weld_free(w);
    *w = larger;
    return TSR_OK;
fail:
    tsr_weld_free(&larger);
    return status;
}

tsr_status tsr_weld_points(tsr_weld *w, int64_t count, const tsr_progress *progress, uint32_t *indices)
{
    for (int64_t i = 0; i < count; i++) {
        if (progress && (i & 0xffff) == 0) TSR_PROGRESS(progress, (double)i / (double)count, "joining corners");
        if (w->vertices == w->room) TSR_TRY(grow(w));
        uint32_t vertex = find_or_enter(w, i, (uint32_t)w->vertices);
        if (vertex == UINT32_MAX) {
            vertex = (uint32_t)w->vertices;
            w->first[w->vertices++] = (uint32_t)i;
        }
        indices[i] = vertex;
    }
    return TSR_OK;
}

/* ---- a mesh ---------------------------------------------------------------------------------------------------------------------------------- */

/* Triangles with three different corners, those of a part after another; returns how many. */
static int64_t keep_triangles(const tsr_mesh *mesh, const uint32_t *vertex_of, uint32_t *to, tsr_mesh_part *parts)
{
    int64_t kept = 0, end = 0;
    int32_t part = -1;
    for (int64_t t = 0; t < mesh->triangle_count; t++) {
        while (parts && t == end) {
            end += mesh->parts[++part].triangles;
            parts[part] = (tsr_mesh_part){ mesh->parts[part].value, mesh->parts[part].name, 0 };
        }
        uint32_t c[3];
        for (int k = 0; k < 3; k++) c[k] = vertex_of[mesh->triangles[3 * t + k]];
        if (c[0] == c[1] || c[1] == c[2] || c[2] == c[0]) continue;
        if (to) memcpy(to + 3 * kept, c, sizeof c);
        if (parts) parts[part].triangles++;
        kept++;
    }
    return kept;
}

tsr_status tsr_weld_check(const tsr_mesh *mesh)
{
    for (int64_t i = 0; i < 3 * mesh->triangle_count; i++)
        if ((int64_t)mesh->triangles[i] >= mesh->vertex_count)
            TSR_FAIL(TSR_ERROR_FORMAT, "mesh: corner %d of triangle %lld is vertex %u, expected less than %lld", (int)(i % 3), (long long)(i / 3),
                     mesh->triangles[i], (long long)mesh->vertex_count);
    return TSR_OK;
}

tsr_status tsr_weld_mesh(const tsr_mesh *mesh, const uint32_t *indices, const uint32_t *first, int64_t vertices, tsr_mesh **welded)
{
    tsr_mesh_part *parts = NULL;
    const size_t part_bytes = (size_t)mesh->part_count * sizeof *parts;
    const int64_t triangles = keep_triangles(mesh, indices, NULL, NULL);
    tsr_status status;
    if (mesh->part_count) TSR_TRY(tsr_host_allocate(NULL, part_bytes, (void **)&parts));
    TSR_TRY_GOTO(tsr_mesh_create(NULL, vertices, triangles, mesh->normals != NULL, welded), done);
    if (mesh->colors) TSR_TRY_GOTO(tsr_mesh_add_colors(*welded), done);
    for (int64_t v = 0; v < vertices; v++) {
        memcpy((*welded)->vertices + 3 * v, mesh->vertices + 3 * (int64_t)first[v], 12);
        if (mesh->normals) memcpy((*welded)->normals + 3 * v, mesh->normals + 3 * (int64_t)first[v], 12);
        if (mesh->colors) memcpy((*welded)->colors + 4 * v, mesh->colors + 4 * (int64_t)first[v], 4);
    }
    keep_triangles(mesh, indices, (*welded)->triangles, parts);
    if (parts) TSR_TRY_GOTO(tsr_mesh_set_parts(*welded, parts, mesh->part_count), done);
    (*welded)->space = mesh->space;
    memcpy((*welded)->origin, mesh->origin, sizeof mesh->origin);
done:
    tsr_host_release(NULL, parts, part_bytes);
    if (status != TSR_OK) tsr_mesh_destroy(welded);
    return status;
}

tsr_status tsr_mesh_weld(const tsr_mesh *mesh, tsr_mesh **welded)
{
    TSR_RETURNS(welded);
    TSR_NEEDS(mesh);
    tsr_weld w = { .points = NULL };
    uint32_t *indices = NULL;
    tsr_status status;
    TSR_TRY(tsr_mesh_require_host(mesh, "weld"));
    TSR_TRY(tsr_weld_check(mesh));
    const size_t bytes = (size_t)mesh->vertex_count * sizeof *indices;
    w.points = mesh->vertices;
    if (bytes) TSR_TRY(tsr_host_allocate(NULL, bytes, (void **)&indices));
    TSR_TRY_GOTO(tsr_weld_points(&w, mesh->vertex_count, NULL, indices), done);
    TSR_TRY_GOTO(tsr_weld_mesh(mesh, indices, w.first, w.vertices, welded), done);
done:
    tsr_weld_free(&w);
    tsr_host_release(NULL, indices, bytes);
    return status;
}
