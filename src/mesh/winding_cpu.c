/* mesh/winding_cpu.c: winding numbers on the CPU: integer sums, so that any order of the triangles gives the same. */
#include "core/parallel.h"
#include "mesh/winding_ops.h"

struct work {
    const tsr_wind_grid *w;
    tsr_wind_summary *summary;
};

static void raise_to(int64_t *target, int64_t value)
{
    for (int64_t old = __atomic_load_n(target, __ATOMIC_RELAXED); value > old;)
        if (__atomic_compare_exchange_n(target, &old, value, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) break;
}

static void fix_range(void *user, int64_t begin, int64_t end, int worker)
{
    const struct work *k = (const struct work *)user;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        const int32_t result = tsr_wind_fix(k->w, i);
        if (result) raise_to(result == TSR_WIND_BAD ? &k->summary->bad_vertex : &k->summary->far_vertex, INT64_MAX - i);
    }
}

static void cross_range(void *user, int64_t begin, int64_t end, int worker)
{
    const struct work *k = (const struct work *)user;
    const tsr_wind_grid *w = k->w;
    const tsr_vox_grid *g = &w->mesh;
    uint64_t edges = 0;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        const int64_t bad = tsr_wind_bad_corner(g, i);
        int64_t first[3], last[3], voxel;
        if (bad >= 0) {
            raise_to(&k->summary->bad_corner, INT64_MAX - bad);
            continue;
        }
        const int32_t *a = g->fixed[g->corner[3 * i]], *b = g->fixed[g->corner[3 * i + 1]], *c = g->fixed[g->corner[3 * i + 2]];
        if (a[0] < 0 || b[0] < 0 || c[0] < 0) continue;
        edges += tsr_wind_edges(a, b, c);
        if (!tsr_wind_rows(w, a, b, c, first, last)) continue;
        for (int64_t z = first[2]; z <= last[2]; z++)
            for (int64_t y = first[1]; y <= last[1]; y++) {
                const int32_t turn = tsr_wind_cross(w, a, b, c, y, z, &voxel);
                if (turn) __atomic_fetch_add(&w->number[voxel], turn, __ATOMIC_RELAXED);
            }
    }
    __atomic_fetch_add(&k->summary->edges, edges, __ATOMIC_RELAXED);
}

static void sum_range(void *user, int64_t begin, int64_t end, int worker)
{
    const struct work *k = (const struct work *)user;
    const int64_t n = k->w->size[0];
    (void)worker;
    for (int64_t r = begin; r < end; r++) {
        int32_t *row = k->w->number + r * n, sum = 0;
        for (int64_t x = 0; x < n; x++) row[x] = sum += row[x];
    }
}

static tsr_status cpu_build(tsr_queue *queue, const tsr_wind_grid *w, tsr_wind_summary *summary)
{
    struct work k = { w, summary };
    tsr_parallel(queue->threads, w->mesh.vertices, 4096, fix_range, &k);
    tsr_parallel(queue->threads, w->mesh.triangles, 64, cross_range, &k);
    tsr_parallel(queue->threads, w->size[1] * w->size[2], 64, sum_range, &k);
    return TSR_OK;
}

const tsr_winding_ops tsr_winding_cpu = { .build = cpu_build };
