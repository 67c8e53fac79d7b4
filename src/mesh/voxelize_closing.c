/* mesh/voxelize_closing.c: how much of the surface round the inside of an open mesh no triangle lies in. */
#include <math.h>
#include <stdlib.h>

#include "core/parallel.h"
#include "mesh/voxelize_job.h"
#include "tiles/tiles.h"

struct closing {
    const uint64_t *key;
    const uint32_t *id; /* NULL: values in the order of the keys */
    const float *value;
    int64_t tiles, cut, closing; /* edges between an inside and an outside voxel; those that no triangle cuts */
    int32_t log2_edge;
    float most[3]; /* |a| + |b| of an edge that a triangle cuts */
};

static const float *values_of(const struct closing *c, int64_t tile)
{
    return c->value + ((size_t)(c->id ? c->id[tile] : tile) << (3 * c->log2_edge));
}

/* A triangle between two voxels is no farther from either than they are from each other, and both distances together are at most that. */
static void count_range(void *user, int64_t begin, int64_t end, int worker)
{
    struct closing *c = (struct closing *)user;
    const int32_t l = c->log2_edge, edge = 1 << l, voxels = 1 << (3 * l);
    int64_t cut = 0, closing = 0;
    (void)worker;
    for (int64_t t = begin; t < end; t++) {
        const float *own = values_of(c, t);
        for (int32_t axis = 0; axis < 3; axis++) {
            const int32_t step = 1 << (axis * l);
            const uint64_t wanted = c->key[t] + (uint64_t)tsr_key_offset(axis == 0 ? 14 : axis == 1 ? 16 : 22);
            const int64_t at = tsr_key_lower_bound(c->key, (int32_t)c->tiles, wanted);
            const float *next = at < c->tiles && c->key[at] == wanted ? values_of(c, at) : NULL;
            for (int32_t k = 0; k < voxels; k++) {
                const int last = (k >> (axis * l) & (edge - 1)) == edge - 1;
                if (last && !next) continue;
                const float a = own[k], b = last ? next[k - (edge - 1) * step] : own[k + step];
                if ((a < 0) == (b < 0)) continue;
                cut++;
                closing += fabsf(a) + fabsf(b) > c->most[axis];
            }
        }
    }
    __atomic_fetch_add(&c->cut, cut, __ATOMIC_RELAXED);
    __atomic_fetch_add(&c->closing, closing, __ATOMIC_RELAXED);
}

/* How many edges of the lattice the triangles cut, on an average over its places: those along an axis see their projections. */
static double expected_cuts(const tsr_vox_grid *g, const float *vertex, const uint32_t *corner)
{
    double sum[3] = { 0 };
    for (int64_t t = 0; t < g->triangles; t++) {
        double u[3], v[3], n[3];
        for (int k = 0; k < 3; k++) {
            const float *a = vertex + 3 * (int64_t)corner[3 * t], *b = vertex + 3 * (int64_t)corner[3 * t + 1],
                        *c = vertex + 3 * (int64_t)corner[3 * t + 2];
            u[k] = (double)b[k] - (double)a[k];
            v[k] = (double)c[k] - (double)a[k];
        }
        for (int k = 0; k < 3; k++) n[k] = 0.5 * (u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3]);
        for (int k = 0; k < 3; k++) sum[k] += fabs(tsr_vox_dot(n, g->axis[k]));
    }
    return sum[0] / (g->spacing[1] * g->spacing[2]) + sum[1] / (g->spacing[2] * g->spacing[0]) + sum[2] / (g->spacing[0] * g->spacing[1]);
}

static tsr_status expect(const struct tsr_vox_job *j, double *cuts)
{
    const tsr_vox_grid *g = &j->g;
    const size_t vertices = (size_t)g->vertices * 12, corners = (size_t)g->triangles * 12;
    tsr_status status = TSR_OK;
    if (j->context->device.kind == TSR_DEVICE_CPU) {
        *cuts = expected_cuts(g, g->vertex, g->faced);
        return TSR_OK;
    }
    float *vertex = (float *)malloc(vertices);
    uint32_t *corner = (uint32_t *)malloc(corners);
    if (!vertex || !corner) TSR_FAIL_GOTO(TSR_ERROR_MEMORY, done, "voxelize: out of memory for %lld triangles", (long long)g->triangles);
    TSR_TRY_GOTO(j->context->backend->download(j->context->queue, vertex, g->vertex, vertices), done);
    TSR_TRY_GOTO(j->context->backend->download(j->context->queue, corner, g->faced, corners), done);
    *cuts = expected_cuts(g, vertex, corner);
done:
    free(vertex);
    free(corner);
    return status;
}

tsr_status tsr_vox_measure_closing(struct tsr_vox_job *j, const tsr_tiles *list)
{
    const int on_host = j->context->device.kind == TSR_DEVICE_CPU;
    struct closing c = { .log2_edge = list->pool.log2_edge };
    tsr_tile_state state;
    TSR_TRY(tsr_tiles_read_state(list, &state));
    c.tiles = state.count;
    j->report.closing = 1;
    if (!c.tiles) return TSR_OK;
    const size_t tiles = (size_t)c.tiles, values = on_host ? 0 : tiles << (3 * c.log2_edge);
    uint64_t *key = (uint64_t *)malloc(tiles * sizeof *key);
    float *copy = values ? (float *)malloc(values * sizeof *copy) : NULL;
    tsr_status status;
    if (!key || (values && !copy)) TSR_FAIL_GOTO(TSR_ERROR_MEMORY, done, "voxelize: out of memory for %lld tiles", (long long)c.tiles);
    TSR_TRY_GOTO(tsr_tiles_get_keys(list, state.list, c.tiles, key), done);
    if (copy) TSR_TRY_GOTO(tsr_tiles_download(list, NULL, copy), done);
    c.key = key;
    c.id = copy ? NULL : list->pool.id[state.list];
    c.value = copy ? copy : list->pool.phi[state.phi];
    for (int k = 0; k < 3; k++) c.most[k] = (float)(j->g.spacing[k] * 1.001);
    tsr_parallel(j->context->threads, c.tiles, 16, count_range, &c);
    if (c.cut) { /* that no triangle is between two voxels may be hidden by one that is near; that there are more cuts than triangles could make is not */
        double cuts = 0;
        TSR_TRY_GOTO(expect(j, &cuts), done);
        j->report.closing = fmax((double)c.closing, (double)c.cut - cuts) / (double)c.cut;
    }
done:
    free(key);
    free(copy);
    return status;
}
