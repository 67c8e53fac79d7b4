/* surface/contract.c: triangles without area, where a surface passes through samples. */
#include <stdlib.h>
#include <string.h>

#include "mesh/mesh.h"
#include "mesh/weld.h"
#include "tessera/surface.h"

/* What becomes of the vertices: up[v] is another one of its set, the first of them itself; apart[v]: it stays alone. */
struct sets {
    const tsr_mesh *mesh;
    uint32_t *up;
    uint8_t *apart;
};

/* Of a set of vertices the first; halves the way on each visit. */
static uint32_t first_of(uint32_t *up, uint32_t v)
{
    for (; up[v] != v; v = up[v]) up[v] = up[up[v]];
    return v;
}

/* Joins corners in one place, triangle by triangle; returns whether there were any. */
static int join_corners(const struct sets *s)
{
    const tsr_mesh *mesh = s->mesh;
    int found = 0;
    for (int64_t v = 0; v < mesh->vertex_count; v++) s->up[v] = (uint32_t)v;
    for (int64_t t = 0; t < mesh->triangle_count; t++) {
        const uint32_t *c = mesh->triangles + 3 * t;
        for (int k = 0; k < 3; k++) {
            const uint32_t u = c[k], v = c[(k + 1) % 3];
            const float *a = mesh->vertices + 3 * (int64_t)u, *b = mesh->vertices + 3 * (int64_t)v;
            if (u == v || a[0] != b[0] || a[1] != b[1] || a[2] != b[2] || s->apart[u] || s->apart[v]) continue;
            const uint32_t p = first_of(s->up, u), q = first_of(s->up, v);
            s->up[p < q ? q : p] = p < q ? p : q;
            found = 1;
        }
    }
    for (int64_t v = 0; v < mesh->vertex_count; v++) s->up[v] = first_of(s->up, (uint32_t)v);
    return found;
}

/* An edge between sets; count: of the triangles that have it. */
struct edge {
    uint64_t key; /* 0: free */
    uint32_t count;
};

/* Where bodies touch along an edge, sets would tie more than two triangles to it: such sets stay apart. *found: were there some that were joined? */
static tsr_status part_ties(const struct sets *s, int *found)
{
    const tsr_mesh *mesh = s->mesh;
    uint64_t mask = 1023;
    *found = 0;
    while (mask < 3 * (uint64_t)mesh->triangle_count) mask = 2 * mask + 1;
    struct edge *edge = (struct edge *)calloc(mask + 1, sizeof *edge);
    uint8_t *tied = (uint8_t *)calloc((size_t)mesh->vertex_count + 1, 1); /* of first vertices: 1 the set has others, 2 it is tied */
    if (!edge || !tied) {
        free(edge);
        free(tied);
        TSR_FAIL(TSR_ERROR_MEMORY, "mesh: out of memory for the edges of %lld triangles", (long long)mesh->triangle_count);
    }
    for (int64_t v = 0; v < mesh->vertex_count; v++) tied[s->up[v]] |= s->up[v] != (uint32_t)v;
    for (int64_t t = 0; t < mesh->triangle_count; t++) {
        const uint32_t *c = mesh->triangles + 3 * t, set[3] = { s->up[c[0]], s->up[c[1]], s->up[c[2]] };
        if (set[0] == set[1] || set[1] == set[2] || set[2] == set[0]) continue;
        for (int k = 0; k < 3; k++) {
            const uint32_t a = set[k], b = set[(k + 1) % 3];
            const uint64_t key = (a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a) + 1;
            uint64_t at = (key * UINT64_C(0x9e3779b97f4a7c15) >> 20) & mask;
            while (edge[at].key && edge[at].key != key) at = (at + 1) & mask;
            edge[at].key = key;
            if (++edge[at].count < 3) continue;
            for (int end = 0; end < 2; end++)
                if (tied[end ? b : a]) tied[end ? b : a] = 2;
        }
    }
    for (int64_t v = 0; v < mesh->vertex_count; v++)
        if (tied[s->up[v]] == 2) *found = s->apart[v] = 1;
    free(edge);
    free(tied);
    return TSR_OK;
}

/* From here on apart[v] says of the first of a set: a triangle that stays has it. A piece that shrank to a point has none. */
static void mark_used(const struct sets *s)
{
    memset(s->apart, 0, (size_t)s->mesh->vertex_count);
    for (int64_t t = 0; t < s->mesh->triangle_count; t++) {
        const uint32_t *c = s->mesh->triangles + 3 * t, set[3] = { s->up[c[0]], s->up[c[1]], s->up[c[2]] };
        if (set[0] != set[1] && set[1] != set[2] && set[2] != set[0]) s->apart[set[0]] = s->apart[set[1]] = s->apart[set[2]] = 1;
    }
}

tsr_status tsr_surface_contract(const tsr_mesh *mesh, tsr_mesh **contracted)
{
    TSR_RETURNS(contracted);
    TSR_NEEDS(mesh);
    struct sets s = { .mesh = mesh };
    int64_t vertices = 0;
    int joined, again = 1;
    tsr_status status;
    TSR_TRY(tsr_mesh_require_host(mesh, "mesh"));
    TSR_TRY(tsr_weld_check(mesh));
    const size_t bytes = (size_t)mesh->vertex_count * (2 * sizeof *s.up + 1);
    if (!mesh->triangle_count) return TSR_OK;
    TSR_TRY(tsr_host_allocate(NULL, bytes, (void **)&s.up));
    uint32_t *first = s.up + mesh->vertex_count;
    s.apart = (uint8_t *)(first + mesh->vertex_count);
    memset(s.apart, 0, (size_t)mesh->vertex_count);
    joined = join_corners(&s);
    while (joined && again) { /* each time more of them stay apart */
        TSR_TRY_GOTO(part_ties(&s, &again), done);
        if (again) joined = join_corners(&s);
    }
    status = TSR_OK;
    if (joined) {
        mark_used(&s);
        for (int64_t v = 0; v < mesh->vertex_count; v++) { /* the first of a set comes before the others, so that it has its number */
            const uint32_t own = s.up[v];
            if (own == (uint32_t)v && s.apart[v]) first[vertices] = own;
            s.up[v] = own != (uint32_t)v ? s.up[own] : s.apart[v] ? (uint32_t)vertices++ : 0;
        }
        TSR_TRY_GOTO(tsr_weld_mesh(mesh, s.up, first, vertices, contracted), done);
    }
done:
    tsr_host_release(NULL, s.up, bytes);
    return status;
}
