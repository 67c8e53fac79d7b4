/* mesh/voxelize_cpu.c: mesh to level set on the CPU. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/parallel.h"
#include "tiles/tiles_ops.h"
#include "mesh/voxelize_isa.h"
#include "mesh/voxelize_ops.h"
#include "mesh/voxelize_open.h"

enum { TRIANGLES = 4096, TILES = 32 };

struct work {
    const tsr_vox_grid *g;
    const tsr_tile_pool *pool;
    tsr_vox_summary *summary;
    int64_t first; /* tile of place 0 */
    int failed;    /* out of memory */
};

static void lower_to(int64_t *target, int64_t value)
{
    for (int64_t old = __atomic_load_n(target, __ATOMIC_RELAXED); value < old;)
        if (__atomic_compare_exchange_n(target, &old, value, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) break;
}
static void raise_to(int64_t *target, int64_t value)
{
    for (int64_t old = __atomic_load_n(target, __ATOMIC_RELAXED); value > old;)
        if (__atomic_compare_exchange_n(target, &old, value, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) break;
}

/* ---- the mesh ------------------------------------------------------------------------------------------------------------------------ */

static void vertices_range(void *user, int64_t begin, int64_t end, int worker)
{
    const struct work *w = (const struct work *)user;
    (void)worker;
    for (int64_t i = 3 * begin; i < 3 * end; i++)
        if (!isfinite(w->g->vertex[i])) {
            lower_to(&w->summary->bad_vertex, i / 3);
            return;
        }
}

static void corners_of(const tsr_vox_grid *g, int64_t triangle, double p[3][3])
{
    for (int k = 0; k < 3; k++) tsr_vox_position(g, g->corner[3 * triangle + k], p[k]);
}

static void corners_range(void *user, int64_t begin, int64_t end, int worker)
{
    const struct work *w = (const struct work *)user;
    const tsr_vox_grid *g = w->g;
    double lower[3], upper[3];
    (void)worker;
    for (int64_t i = 3 * begin; i < 3 * end; i++)
        if ((int64_t)g->corner[i] >= g->vertices) {
            lower_to(&w->summary->bad_corner, i);
            return;
        }
    const int64_t rows = TSR_ISA_SELECT(tsr_vox_survey)(g, begin, end, lower, upper);
    for (int k = 0; k < 3; k++) {
        lower_to(&w->summary->lower[k], tsr_vox_order(lower[k]));
        raise_to(&w->summary->upper[k], tsr_vox_order(upper[k]));
    }
    __atomic_fetch_add(&w->summary->rows, rows, __ATOMIC_RELAXED);
}

static tsr_status cpu_survey(tsr_queue *queue, const tsr_vox_grid *g, tsr_vox_summary *summary)
{
    struct work w = { .g = g, .summary = summary };
    memset(summary, 0, sizeof *summary);
    summary->bad_vertex = summary->bad_corner = INT64_MAX;
    for (int k = 0; k < 3; k++) {
        summary->lower[k] = tsr_vox_order(INFINITY);
        summary->upper[k] = tsr_vox_order(-INFINITY);
    }
    tsr_parallel(queue->threads, g->vertices, TRIANGLES, vertices_range, &w);
    tsr_parallel(queue->threads, g->triangles, TRIANGLES, corners_range, &w);
    return TSR_OK;
}

static void fix_range(void *user, int64_t begin, int64_t end, int worker)
{
    const struct work *w = (const struct work *)user;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        double p[3];
        tsr_vox_position(w->g, (uint32_t)i, p);
        tsr_vox_fix(w->g, p, w->g->fixed[i]);
    }
}

static void write_tiles(const tsr_vox_grid *g, int64_t i, uint64_t *key)
{
    const tsr_vox_few few = g->few[i];
    if (!few.mask && g->count[i]) {
        double p[3][3];
        tsr_vox_triangle t;
        corners_of(g, i, p);
        tsr_vox_frame((const double(*)[3])p, &t);
        tsr_vox_tiles(g, &t, (const double(*)[3])p, 0, 1, key);
        return;
    }
    for (uint32_t mask = few.mask; mask; mask &= mask - 1) {
        const uint32_t bit = (uint32_t)__builtin_ctz(mask), row = bit / few.wide;
        *key++ = few.first + (bit - row * few.wide) + ((uint64_t)(row % few.high) << g->shift[1]) + ((uint64_t)(row / few.high) << g->shift[2]);
    }
}

static void frames_range(void *user, int64_t begin, int64_t end, int worker)
{
    const struct work *w = (const struct work *)user;
    uint64_t edges = 0;
    (void)worker;
    const int64_t degenerate = TSR_ISA_SELECT(tsr_vox_frames)(w->g, begin, end, &edges);
    __atomic_fetch_add(&w->summary->degenerate, degenerate, __ATOMIC_RELAXED);
    __atomic_fetch_add(&w->summary->edges, edges, __ATOMIC_RELAXED);
}

static tsr_status cpu_frames(tsr_queue *queue, const tsr_vox_grid *g, tsr_vox_summary *summary)
{
    struct work w = { .g = g, .summary = summary };
    tsr_parallel(queue->threads, g->vertices, TRIANGLES, fix_range, &w);
    tsr_parallel(queue->threads, g->triangles, TRIANGLES / 8, frames_range, &w);
    return TSR_OK;
}

/* The number of a tile in the box of tiles: as packed keys, but without what their bits have more. */
static uint32_t cell_of(const tsr_vox_grid *g, uint64_t key)
{
    const uint64_t wide = (uint64_t)(g->last[0] - g->first[0]) + 1, high = (uint64_t)(g->last[1] - g->first[1]) + 1;
    const uint64_t x = key & (((uint64_t)1 << g->shift[1]) - 1), y = key >> g->shift[1] & (((uint64_t)1 << (g->shift[2] - g->shift[1])) - 1);
    return (uint32_t)(((key >> g->shift[2]) * high + y) * wide + x);
}

static void pairs_range(void *user, int64_t begin, int64_t end, int worker)
{
    const tsr_vox_grid *g = ((const struct work *)user)->g;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        uint64_t at = g->offset[i] - g->count[i];
        write_tiles(g, i, g->key + at);
        for (; at < g->offset[i]; at++) g->owner[at] = (uint32_t)i;
    }
}

static tsr_status cpu_pairs(tsr_queue *queue, const tsr_vox_grid *g)
{
    struct work w = { .g = g };
    tsr_parallel(queue->threads, g->triangles, TRIANGLES / 8, pairs_range, &w);
    return TSR_OK;
}

static void heads_range(void *user, int64_t begin, int64_t end, int worker)
{
    const tsr_vox_grid *g = ((const struct work *)user)->g;
    (void)worker;
    for (int64_t i = begin; i < end; i++) g->head[i] = i == 0 || g->sorted_key[i] != g->sorted_key[i - 1];
}

static tsr_status cpu_heads(tsr_queue *queue, const tsr_vox_grid *g)
{
    struct work w = { .g = g };
    tsr_parallel(queue->threads, g->pairs, 1 << 16, heads_range, &w);
    return TSR_OK;
}

/* A triangle of many tiles needs room for their keys. */
static void cells_range(void *user, int64_t begin, int64_t end, int worker)
{
    struct work *w = (struct work *)user;
    const tsr_vox_grid *g = w->g;
    uint64_t some[256], *keys = some;
    int64_t room = 256;
    (void)worker;
    for (int64_t i = begin; i < end && !__atomic_load_n(&w->failed, __ATOMIC_RELAXED); i++) {
        uint32_t *cell = g->cell + (g->offset[i] - g->count[i]);
        if ((int64_t)g->count[i] > room) {
            if (keys != some) free(keys);
            room = g->count[i];
            keys = (uint64_t *)malloc((size_t)room * sizeof *keys);
            if (!keys) {
                __atomic_store_n(&w->failed, 1, __ATOMIC_RELAXED);
                return;
            }
        }
        write_tiles(g, i, keys);
        for (uint32_t k = 0; k < g->count[i]; k++) cell[k] = cell_of(g, keys[k]);
    }
    if (keys != some) free(keys);
}

static tsr_status cpu_cells(tsr_queue *queue, const tsr_vox_grid *g, const uint64_t *holes, int64_t hole_count)
{
    struct work w = { .g = g };
    tsr_parallel(queue->threads, g->triangles, TRIANGLES / 8, cells_range, &w);
    if (w.failed) TSR_FAIL(TSR_ERROR_MEMORY, "voxelize: out of memory for the tiles of a triangle");
    for (int64_t i = 0; i < hole_count; i++)
        g->cell[g->pairs - hole_count + i] = cell_of(g, tsr_vox_pack(g, tsr_key_x(holes[i]), tsr_key_y(holes[i]), tsr_key_z(holes[i])));
    return TSR_OK;
}

static int64_t cpu_count_cells(const tsr_vox_grid *g, uint32_t *times, int64_t cells)
{
    int64_t tiles = 0;
    memset(times, 0, (size_t)cells * sizeof *times);
    for (int64_t i = 0; i < g->pairs; i++) tiles += !times[g->cell[i]]++;
    return tiles;
}

static void cpu_deal(const tsr_vox_grid *g, uint32_t *times, int64_t cells)
{
    const int64_t wide = (int64_t)g->last[0] - g->first[0] + 1, high = (int64_t)g->last[1] - g->first[1] + 1;
    uint32_t at = 0;
    int64_t tile = 0, pair = 0;
    for (int64_t c = 0; c < cells; c++) {
        const uint32_t own = times[c];
        if (!own) continue;
        g->start[tile] = times[c] = at;
        g->tile_key[tile++] = (uint64_t)(c % wide) + ((uint64_t)(c / wide % high) << g->shift[1]) + ((uint64_t)(c / wide / high) << g->shift[2]);
        at += own;
    }
    g->start[tile] = at;
    for (int64_t i = 0; i < g->triangles; i++)
        for (; pair < (int64_t)g->offset[i]; pair++) g->sorted_owner[times[g->cell[pair]]++] = (uint32_t)i;
    for (; pair < g->pairs; pair++) g->sorted_owner[times[g->cell[pair]]++] = TSR_VOX_NOBODY;
}

/* ---- tiles ---------------------------------------------------------------------------------------------------------------------------- */

static void fill_range(void *user, int64_t begin, int64_t end, int worker)
{
    const struct work *w = (const struct work *)user;
    const tsr_vox_grid *g = w->g;
    const tsr_tile_pool *pool = w->pool;
    const int32_t edge = 1 << g->log2_edge, rows = edge * edge, voxels = rows * edge;
    (void)worker;
    for (int64_t t = w->first + begin; t < w->first + end; t++) {
        int32_t tile[3];
        uint32_t id = TSR_TILE_FIRST + (uint32_t)t;
        uint32_t *owner = g->sorted_owner + g->start[t]; /* no longer needed once read: those that cross replace them */
        int64_t count = (int64_t)g->start[t + 1] - g->start[t];
        int32_t *winding = (int32_t *)(void *)(pool->phi[1] + (int64_t)id * voxels);
        tsr_vox_unpack(g, g->tile_key ? g->tile_key[t] : g->sorted_key[g->start[t]], tile);
        tsr_pool_key_put(pool, 0, t, tsr_key_make(tile[0], tile[1], tile[2]));
        tsr_pool_key_of_put(pool, id, tsr_key_make(tile[0], tile[1], tile[2]));
        pool->id[0][t] = id;
        count = TSR_ISA_SELECT(tsr_vox_tile)(g, tile, owner, count, pool->phi[0] + (int64_t)id * voxels, g->before ? owner : NULL);
        if (!g->before) continue;
        memset(winding, 0, (size_t)voxels * sizeof *winding);
        TSR_ISA_SELECT(tsr_vox_rows)(g, tile, owner, count, winding);
        for (int32_t row = 0; row < rows; row++) g->before[t * rows + row] = winding[row * edge + edge - 1];
    }
}

static tsr_status cpu_fill(tsr_queue *queue, const tsr_vox_grid *g, const tsr_tile_pool *pool, int64_t begin, int64_t end)
{
    struct work w = { .g = g, .pool = pool, .first = begin };
    tsr_parallel(queue->threads, end - begin, TILES, fill_range, &w);
    tsr_pool_key_put(pool, 0, g->tiles, TSR_KEY_END);
    return TSR_OK;
}

static void wind_range(void *user, int64_t begin, int64_t end, int worker)
{
    const struct work *w = (const struct work *)user;
    const tsr_vox_grid *g = w->g;
    const uint64_t *key = (const uint64_t *)w->pool->key[0]; /* the list was made with keys of 64 bits */
    const int32_t edge = 1 << g->log2_edge, rows = edge * edge, middle = tsr_vox_middle_row(g);
    (void)worker;
    for (int64_t head = begin; head < end; head++) {
        int32_t sum[64] = { 0 };
        if (head > 0 && key[head] >> TSR_KEY_BITS == key[head - 1] >> TSR_KEY_BITS) continue; /* the row of tiles began before */
        for (int64_t t = head; t < g->tiles && key[t] >> TSR_KEY_BITS == key[head] >> TSR_KEY_BITS; t++) {
            int32_t *before = g->before + t * rows;
            for (int32_t row = 0; row < rows; row++) {
                int32_t own = before[row];
                before[row] = sum[row];
                sum[row] += own;
            }
            g->after[t] = sum[middle];
            if (g->exit) memcpy(g->exit + t * rows, sum, (size_t)rows * sizeof *sum);
        }
    }
}

static tsr_status cpu_wind(tsr_queue *queue, const tsr_vox_grid *g, const tsr_tile_pool *pool)
{
    struct work w = { .g = g, .pool = pool };
    tsr_parallel(queue->threads, g->tiles, 256, wind_range, &w);
    return TSR_OK;
}

/* Field and its copy; until now the copy held winding numbers. */
static void sign_tile(const tsr_vox_grid *g, const int32_t tile[3], const int32_t *before, float *field, float *other)
{
    const int32_t edge = 1 << g->log2_edge, voxels = edge * edge * edge;
    int32_t winding[512], turn = 0;
    if (!before) {
        memset(winding, 0, sizeof winding);
    } else {
        const int steady = tsr_vox_steady(g, tile, &turn);
        if (!steady) turn = 0;
        memcpy(winding, other, (size_t)voxels * sizeof *winding);
        for (int32_t row = 0; row < edge * edge; row++)
            for (int32_t x = 0; x < edge; x++) winding[row * edge + x] += before[row] + turn;
        if (!steady) TSR_ISA_SELECT(tsr_vox_turns)(g, tile, winding);
    }
    TSR_ISA_SELECT(tsr_vox_sign)(g, winding, before != NULL, voxels, field, other);
}

static void sign_range(void *user, int64_t begin, int64_t end, int worker)
{
    const struct work *w = (const struct work *)user;
    const tsr_vox_grid *g = w->g;
    const tsr_tile_pool *pool = w->pool;
    const int32_t edge = 1 << g->log2_edge, rows = edge * edge;
    const int64_t voxels = (int64_t)rows * edge;
    const uint64_t *key = (const uint64_t *)pool->key[0];
    int64_t place[9], inside = 0;
    (void)worker;
    for (int32_t k = 0; k < 9; k++) place[k] = tsr_key_lower_bound(key, (int32_t)g->tiles, key[begin] + (uint64_t)tsr_key_offset(3 * k));
    for (int64_t t = begin; t < end; t++) {
        const int32_t tile[3] = { tsr_key_x(key[t]), tsr_key_y(key[t]), tsr_key_z(key[t]) };
        int64_t id = TSR_TILE_FIRST + t;
        float *phi = pool->phi[0] + id * voxels;
        uint32_t *row = pool->neighbours + id * TSR_NEIGHBOUR_ROW;
        sign_tile(g, tile, g->before ? g->before + t * rows : NULL, phi, pool->phi[1] + id * voxels);
        for (int32_t side = 0; g->face && side < 6; side++) g->face[t][side] = tsr_vox_face(phi, g->log2_edge, side);
        for (int32_t d = 0; d < TSR_TILE_DIRECTIONS; d++) {
            int64_t *at = &place[d / 3];
            uint64_t wanted = key[t] + (uint64_t)tsr_key_offset(d);
            while (*at < g->tiles && key[*at] < wanted) ++*at;
            row[d] = *at < g->tiles && key[*at] == wanted ? TSR_TILE_FIRST + (uint32_t)*at : tsr_vox_absent(g, key, *at, wanted);
            if (d % 3 == 2) *at -= 2 < *at ? 2 : *at; /* the next tile looks again from its own left */
        }
        if (g->before && t + 1 < g->tiles && key[t + 1] >> TSR_KEY_BITS == key[t] >> TSR_KEY_BITS && key[t + 1] > key[t] + 1 &&
            tsr_vox_absent(g, key, t + 1, key[t] + 1) == TSR_TILE_INSIDE)
            inside += (int64_t)(key[t + 1] - key[t] - 1) * voxels;
    }
    __atomic_fetch_add(&pool->state->inside_absent, inside, __ATOMIC_RELAXED);
}

static tsr_status cpu_sign(tsr_queue *queue, const tsr_vox_grid *g, const tsr_tile_pool *pool)
{
    struct work w = { .g = g, .pool = pool };
    tsr_parallel(queue->threads, g->tiles, 8 * TILES, sign_range, &w);
    return TSR_OK;
}

const tsr_voxelize_ops tsr_voxelize_cpu = {
    .survey = cpu_survey, .frames = cpu_frames, .pairs = cpu_pairs, .cells = cpu_cells, .count_cells = cpu_count_cells, .deal = cpu_deal, .heads = cpu_heads, .fill = cpu_fill, .wind = cpu_wind, .sign = cpu_sign
};
