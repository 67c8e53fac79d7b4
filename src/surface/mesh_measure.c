/* surface/mesh_measure.c: area, volume and topology of an indexed mesh in linear time.
 *
 * Edges are counted without sorting: every half-edge goes to the bucket of its smaller vertex (counting sort, the ones that run upwards and
 * those that run downwards apart); then, bucket by bucket, a table over all vertices counts how often each larger vertex occurs. */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "surface/mesh_math.h"

enum { CHUNK = 4096 }; /* triangles per partial sum: fixes the order of addition whatever the number of threads */

struct sums {
    const tsr_mesh *mesh;
    tsr_vec3 centre;
    double *area, *volume; /* one per chunk */
    int64_t *flat;         /* likewise: triangles without area */
};

static void sum_chunks(void *user, int64_t begin, int64_t end, int worker)
{
    const struct sums *s = (const struct sums *)user;
    (void)worker;
    for (int64_t chunk = begin; chunk < end; chunk++) {
        int64_t last = tsr_min64((chunk + 1) * CHUNK, s->mesh->triangle_count);
        double area = 0, volume = 0;
        int64_t flat = 0;
        for (int64_t t = chunk * CHUNK; t < last; t++) {
            const uint32_t *corner = s->mesh->triangles + 3 * t;
            tsr_vec3 a = tsr_vec3_sub(tsr_mesh_position(s->mesh, corner[0]), s->centre), b = tsr_vec3_sub(tsr_mesh_position(s->mesh, corner[1]), s->centre);
            tsr_vec3 c = tsr_vec3_sub(tsr_mesh_position(s->mesh, corner[2]), s->centre), n = tsr_vec3_cross(tsr_vec3_sub(b, a), tsr_vec3_sub(c, a));
            area += sqrt(tsr_vec3_dot(n, n));
            volume += tsr_vec3_dot(a, tsr_vec3_cross(b, c));
            flat += tsr_mesh_flat(s->mesh, corner);
        }
        s->flat[chunk] = flat;
        s->area[chunk] = area;
        s->volume[chunk] = volume;
    }
}

static tsr_status area_and_volume(const tsr_mesh *mesh, tsr_mesh_measures *m)
{
    int64_t chunks = tsr_ceil_div(mesh->triangle_count, CHUNK);
    double *partial = NULL;
    if (!chunks) return TSR_OK;
    TSR_TRY(tsr_host_allocate(NULL, (size_t)chunks * 3 * sizeof *partial, (void **)&partial));
    /* Measured from the middle of the box: far from the origin the terms would cancel. */
    tsr_vec3 centre = { 0.5 * (m->lower.x + m->upper.x), 0.5 * (m->lower.y + m->upper.y), 0.5 * (m->lower.z + m->upper.z) };
    struct sums sums = { mesh, centre, partial, partial + chunks, (int64_t *)(void *)(partial + 2 * chunks) };
    tsr_parallel(mesh->context ? mesh->context->threads : tsr_parallel_default_threads(), chunks, 1, sum_chunks, &sums);
    double area = 0, volume = 0;
    for (int64_t i = 0; i < chunks; i++) {
        area += sums.area[i];
        volume += sums.volume[i];
        m->degenerate_triangles += sums.flat[i];
    }
    m->area = 0.5 * area;
    m->volume = volume / 6.0;
    tsr_host_release(NULL, partial, (size_t)chunks * 3 * sizeof *partial);
    return TSR_OK;
}

tsr_status tsr_mesh_check(const tsr_mesh *mesh, tsr_vec3 *lower_corner, tsr_vec3 *upper_corner)
{
    double lower[3] = { INFINITY, INFINITY, INFINITY }, upper[3] = { -INFINITY, -INFINITY, -INFINITY };
    for (int64_t v = 0; v < mesh->vertex_count; v++)
        for (int axis = 0; axis < 3; axis++) {
            double p = (double)mesh->vertices[3 * v + axis];
            if (!isfinite(p)) TSR_FAIL(TSR_ERROR_FORMAT, "mesh: %c of vertex %lld is %g, expected a finite number", 'x' + axis, (long long)v, p);
            if (p < lower[axis]) lower[axis] = p;
            if (p > upper[axis]) upper[axis] = p;
        }
    if (!mesh->vertex_count) memset(lower, 0, sizeof lower), memset(upper, 0, sizeof upper);
    *lower_corner = (tsr_vec3){ lower[0], lower[1], lower[2] };
    *upper_corner = (tsr_vec3){ upper[0], upper[1], upper[2] };
    for (int64_t i = 0; i < 3 * mesh->triangle_count; i++)
        if ((int64_t)mesh->triangles[i] >= mesh->vertex_count)
            TSR_FAIL(TSR_ERROR_FORMAT, "mesh: corner %d of triangle %lld is vertex %u, expected less than %lld", (int)(i % 3), (long long)(i / 3),
                     mesh->triangles[i], (long long)mesh->vertex_count);
    return TSR_OK;
}

/* Without edges: a corner is repeated. */
static int degenerate(const uint32_t *corner) { return corner[0] == corner[1] || corner[1] == corner[2] || corner[2] == corner[0]; }

/* Half-edges by their smaller vertex v: larger[start[v] .. start[v + 1]), first those that run upwards (v to the larger one), from up_end[v] on
 * the others. */
struct half_edges {
    int64_t *start, *up_end;
    uint32_t *larger;
};

/* Calls for every half-edge of every proper triangle; `pass` 0 counts, 1 stores. Stored from both ends of a bucket inwards. */
static void walk(const tsr_mesh *mesh, int pass, struct half_edges *edges, int64_t *down_begin)
{
    for (int64_t t = 0; t < mesh->triangle_count; t++) {
        const uint32_t *corner = mesh->triangles + 3 * t;
        if (degenerate(corner)) continue;
        for (int k = 0; k < 3; k++) {
            uint32_t a = corner[k], b = corner[k == 2 ? 0 : k + 1];
            if (!pass) edges->start[(a < b ? a : b) + 1]++;
            else if (a < b) edges->larger[edges->up_end[a]++] = b;
            else edges->larger[--down_begin[b]] = a;
        }
    }
}

/* `seen` holds for each larger vertex how many half-edges run up (low half) and down (high half); all zero before and after. */
static void classify(const struct half_edges *edges, int64_t vertex, uint64_t *seen, tsr_mesh_measures *m)
{
    int64_t begin = edges->start[vertex], middle = edges->up_end[vertex], end = edges->start[vertex + 1];
    for (int64_t i = begin; i < end; i++) seen[edges->larger[i]] += i < middle ? 1u : (uint64_t)1 << 32;
    for (int64_t i = begin; i < end; i++) {
        uint64_t *entry = &seen[edges->larger[i]], up = *entry & 0xffffffffu, down = *entry >> 32;
        if (!*entry) continue; /* counted already */
        *entry = 0;
        m->edges++;
        if (up + down == 1) m->boundary_edges++;
        else if (up + down > 2) m->nonmanifold_edges++;
        else if (up != 1) m->misoriented_edges++;
    }
}

static tsr_status count_edges(const tsr_mesh *mesh, tsr_mesh_measures *m)
{
    int64_t n = mesh->vertex_count, half_edge_count = 3 * mesh->triangle_count;
    size_t table_bytes = (size_t)(n + 1) * 3 * sizeof(int64_t), edge_bytes = (size_t)half_edge_count * sizeof(uint32_t);
    struct half_edges edges = { NULL, NULL, NULL };
    tsr_status status;
    if (!mesh->triangle_count) return TSR_OK;
    TSR_TRY(tsr_host_allocate(NULL, table_bytes, (void **)&edges.start));
    TSR_TRY_GOTO(tsr_host_allocate(NULL, edge_bytes, (void **)&edges.larger), done);
    memset(edges.start, 0, (size_t)(n + 1) * sizeof(int64_t));
    walk(mesh, 0, &edges, NULL);
    edges.up_end = edges.start + n + 1;
    int64_t *down_begin = edges.up_end + n + 1;
    for (int64_t v = 0; v < n; v++) {
        edges.start[v + 1] += edges.start[v];
        edges.up_end[v] = edges.start[v];
        down_begin[v] = edges.start[v + 1];
    }
    walk(mesh, 1, &edges, down_begin);
    uint64_t *seen = (uint64_t *)(void *)down_begin; /* its work is done */
    memset(seen, 0, (size_t)n * sizeof *seen);
    for (int64_t v = 0; v < n; v++) classify(&edges, v, seen, m);
done:
    tsr_host_release(NULL, edges.larger, edge_bytes);
    tsr_host_release(NULL, edges.start, table_bytes);
    return status;
}

static uint32_t find_root(uint32_t *parent, uint32_t v)
{
    while (parent[v] != v) v = parent[v] = parent[parent[v]];
    return v;
}

static const uint32_t UNUSED = UINT32_MAX; /* no vertex has this index: there are at most 2^32 - 1 */

/* Pieces are joined by common vertices. The smaller root wins, which keeps the trees flat enough in practice (near linear). */
static tsr_status count_components(const tsr_mesh *mesh, tsr_mesh_measures *m)
{
    int64_t n = mesh->vertex_count, used = 0, faces = 0; /* vertices and faces of the complex: all of Euler's number but the edges */
    uint32_t *parent = NULL;
    if (!n) return TSR_OK;
    TSR_TRY(tsr_host_allocate(NULL, (size_t)n * sizeof *parent, (void **)&parent));
    memset(parent, 0xff, (size_t)n * sizeof *parent);
    for (int64_t t = 0; t < mesh->triangle_count; t++) {
        const uint32_t *corner = mesh->triangles + 3 * t;
        if (degenerate(corner)) continue;
        faces++;
        uint32_t root = UNUSED;
        for (int k = 0; k < 3; k++) {
            if (parent[corner[k]] == UNUSED) {
                parent[corner[k]] = corner[k];
                used++;
                m->components++;
            }
            uint32_t other = find_root(parent, corner[k]);
            if (k && other != root) {
                uint32_t low = other < root ? other : root;
                parent[other] = parent[root] = low;
                m->components--;
                root = low;
            } else {
                root = other;
            }
        }
    }
    m->euler = used + faces;
    tsr_host_release(NULL, parent, (size_t)n * sizeof *parent);
    return TSR_OK;
}

/* Edges and pieces have nothing in common: a thread each. */
struct topology {
    const tsr_mesh *mesh;
    tsr_mesh_measures own[2];
    int missing; /* memory */
};
static void count_part(void *user, int64_t begin, int64_t end, int worker)
{
    struct topology *t = (struct topology *)user;
    (void)worker;
    for (int64_t part = begin; part < end; part++) {
        const tsr_status status = part ? count_components(t->mesh, &t->own[1]) : count_edges(t->mesh, &t->own[0]);
        if (status != TSR_OK) __atomic_store_n(&t->missing, 1, __ATOMIC_RELAXED);
    }
}

static tsr_status count_topology(const tsr_mesh *mesh, tsr_mesh_measures *m)
{
    struct topology t = { .mesh = mesh, .own = { TSR_MESH_MEASURES, TSR_MESH_MEASURES } };
    tsr_parallel(mesh->context ? mesh->context->threads : tsr_parallel_default_threads(), 2, 1, count_part, &t);
    if (t.missing) TSR_FAIL(TSR_ERROR_MEMORY, "mesh: out of memory for the edges of %lld triangles", (long long)mesh->triangle_count);
    m->edges = t.own[0].edges;
    m->boundary_edges = t.own[0].boundary_edges;
    m->nonmanifold_edges = t.own[0].nonmanifold_edges;
    m->misoriented_edges = t.own[0].misoriented_edges;
    m->components = t.own[1].components;
    m->euler = t.own[1].euler - m->edges;
    return TSR_OK;
}

tsr_status tsr_mesh_measure(const tsr_mesh *mesh, tsr_mesh_measures *measures)
{
    TSR_NEEDS(mesh, measures);
    tsr_mesh_measures m = TSR_MESH_MEASURES;
    TSR_TRY(TSR_STRUCT_GIVE(measures, &m));
    TSR_TRY(tsr_mesh_require_host(mesh, "mesh"));
    m.vertices = mesh->vertex_count;
    m.triangles = mesh->triangle_count;
    TSR_TRY(tsr_mesh_check(mesh, &m.lower, &m.upper));
    TSR_TRY(area_and_volume(mesh, &m));
    TSR_TRY(count_topology(mesh, &m));
    return TSR_STRUCT_GIVE(measures, &m);
}
