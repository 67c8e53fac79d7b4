/* algebra/csg_cpu.c: the algebra of tile lists on the CPU. */
#include "core/parallel.h"
#include "tiles/tiles.h"
#include "tiles/tiles_isa.h"
#include "algebra/csg_carve.h"
#include "algebra/csg_labels.h"
#include "algebra/csg_settle.h"
#include "algebra/csg_tiles_cpu.h"

enum { ITEM_GRAIN = 1024, TILE_GRAIN = 32 };

/* One loop per body, so that each is compiled with its own inner loop. */
#define X(name)                                                                  \
    static void name##_items(void *user, int64_t begin, int64_t end, int worker) \
    {                                                                            \
        const tsr_csg_args *g = (const tsr_csg_args *)user;                      \
        (void)worker;                                                            \
        for (int64_t i = begin; i < end; i++) tsr_csg_##name(g, i);              \
    }
TSR_CSG_ITEMS(X)
#undef X
#define X(name)                                                                  \
    static void name##_tiles(void *user, int64_t begin, int64_t end, int worker) \
    {                                                                            \
        const tsr_csg_args *g = (const tsr_csg_args *)user;                      \
        (void)worker;                                                            \
        for (int64_t i = begin; i < end; i++) tsr_csg_##name##_tile(g, i, 0, 1); \
    }
TSR_CSG_TILES(X)
#undef X

/* tsr_csg_activity_tile by words of signs: the flags are whole activity words, which activity_end keeps as they are. */
static void activity_words(void *user, int64_t begin, int64_t end, int worker)
{
    const tsr_csg_args *g = (const tsr_csg_args *)user;
    const float *phi = tsr_csg_phi(&g->a);
    int64_t active = 0, inside = 0;
    (void)worker;
    for (int64_t i = begin; i < end; i++)
        if (g->first[i] >= TSR_TILE_FIRST) g->flags[i] = TSR_ISA_SELECT(tsr_refresh_tile)(&g->a, phi, g->first[i], &active, &inside);
}

/* Boxes of absent tiles and the space beyond: the nodes behind those of voxels. */
static void label_begin_space(void *user, int64_t begin, int64_t end, int worker)
{
    const tsr_csg_args *g = (const tsr_csg_args *)user;
    const int64_t voxels = g->count * tsr_csg_voxels(&g->a);
    (void)worker;
    for (int64_t i = begin; i < end; i++) tsr_csg_label_begin(g, voxels + i);
}

/* Those that are done tile by tile, for all items at once. */
static int run_by_tiles(int threads, tsr_csg_kernel kernel, tsr_csg_args *args)
{
    switch (kernel) {
    case TSR_CSG_label_begin_kernel:
        tsr_csg_label_begin_tiles(threads, args);
        tsr_parallel(threads, args->count * tsr_absent_kinds(&args->a) + 1, ITEM_GRAIN, label_begin_space, args);
        return 1;
    case TSR_CSG_label_join_kernel: tsr_csg_label_join_tiles(threads, args); return 1;
    case TSR_CSG_measure_kernel: tsr_csg_measure_tiles(threads, args); return 1;
    default: return 0;
    }
}

static tsr_status cpu_run(tsr_queue *queue, tsr_csg_kernel kernel, const tsr_csg_args *args, int64_t items)
{
    tsr_csg_args own = *args;
    if (run_by_tiles(queue->threads, kernel, &own)) return TSR_OK;
    if (kernel == TSR_CSG_activity_kernel && own.a.log2_edge == 3 && !own.a.bounded) {
        tsr_parallel(queue->threads, items, TILE_GRAIN, activity_words, &own);
        return TSR_OK;
    }
    switch (kernel) {
#define X(name) \
    case TSR_CSG_##name##_kernel: tsr_parallel(queue->threads, items, ITEM_GRAIN, name##_items, &own); break;
        TSR_CSG_ITEMS(X)
#undef X
#define X(name) \
    case TSR_CSG_##name##_kernel: tsr_parallel(queue->threads, items, TILE_GRAIN, name##_tiles, &own); break;
        TSR_CSG_TILES(X)
#undef X
    }
    return TSR_OK;
}

/* ---- merging two lists: one pass of two pointers ------------------------------------------------------------------------------------------ */

/* Static id of an absent tile of a list whose first entry with a key not below it is `at`: from the neighbours in its row, else by search. */
static uint32_t absent_sign(const tsr_tile_pool *p, tsr_keys keys, const uint32_t *ids, int32_t count, int32_t at, uint64_t key)
{
    if (at > 0 && tsr_key_at(keys, at - 1) >> 21 == key >> 21) return p->neighbours[(int64_t)ids[at - 1] * TSR_NEIGHBOUR_ROW + 14];
    if (at < count && tsr_key_at(keys, at) >> 21 == key >> 21) return p->neighbours[(int64_t)ids[at] * TSR_NEIGHBOUR_ROW + 12];
    return tsr_tile_find(p, keys, ids, count, p->state->background, key);
}

static tsr_status cpu_merge(tsr_queue *queue, const tsr_csg_args *g)
{
    (void)queue;
    const tsr_tile_pool *a = &g->a, *b = &g->b;
    const tsr_keys ka = tsr_pool_keys(a, a->state->list), kb = tsr_pool_keys(b, b->state->list);
    const uint64_t sa = (uint64_t)g->shift_a, sb = (uint64_t)g->shift_b;
    const uint32_t *ia = a->id[a->state->list], *ib = b->id[b->state->list];
    int32_t i = 0, j = 0, na = a->state->count, nb = b->state->count;
    int64_t n = 0;
    for (; i < na || j < nb; n++) {
        int from_a = j == nb || (i < na && tsr_key_at(ka, i) + sa <= tsr_key_at(kb, j) + sb),
            from_b = i == na || (j < nb && tsr_key_at(kb, j) + sb <= tsr_key_at(ka, i) + sa);
        uint64_t key = from_a ? tsr_key_at(ka, i) + sa : tsr_key_at(kb, j) + sb;
        g->keys[n] = key;
        g->first[n] = from_a ? ia[i] : absent_sign(a, ka, ia, na, i, key - sa);
        g->second[n] = from_b ? ib[j] : absent_sign(b, kb, ib, nb, j, key - sb);
        i += from_a;
        j += from_b;
    }
    g->totals[0] = n;
    return TSR_OK;
}

/* ---- linking: nine rows walk along ------------------------------------------------------------------------------------------------------------- */

static void link_range(void *user, int64_t begin, int64_t end, int worker)
{
    const tsr_csg_args *g = (const tsr_csg_args *)user;
    const tsr_tile_pool *to = &g->to;
    const uint64_t *keys = g->keys;
    const int32_t n = (int32_t)g->count;
    int32_t at[9];
    (void)worker;
    for (int32_t r = 0; r < 9; r++) at[r] = tsr_key_lower_bound(keys, n, keys[begin] + (uint64_t)tsr_key_offset(3 * r));
    for (int64_t i = begin; i < end; i++) {
        uint32_t *row = to->neighbours + (i + TSR_TILE_FIRST) * TSR_NEIGHBOUR_ROW;
        for (int32_t r = 0; r < 9; r++) {
            uint64_t key = keys[i] + (uint64_t)tsr_key_offset(3 * r);
            while (at[r] < n && keys[at[r]] < key) at[r]++;
            for (int32_t d = 0, k = at[r]; d < 3; d++) {
                int found = k < n && keys[k] == key + (uint64_t)d;
                row[3 * r + d] = found ? (uint32_t)k + TSR_TILE_FIRST : g->words[i] >> (3 * r + d) & 1u;
                k += found;
            }
        }
        uint32_t id = (uint32_t)i + TSR_TILE_FIRST;
        tsr_pool_key_put(to, 0, i, keys[i]);
        tsr_pool_key_of_put(to, id, keys[i]);
        to->id[0][i] = id;
        to->activity[id] = TSR_ACTIVITY_AREAS;
    }
}

static tsr_status cpu_link(tsr_queue *queue, const tsr_csg_args *g)
{
    tsr_csg_args own = *g;
    tsr_tile_state *state = g->to.state;
    tsr_parallel(queue->threads, g->count, 512, link_range, &own);
    tsr_pool_key_put(&g->to, 0, g->count, TSR_KEY_END);
    state->count = (int32_t)g->count;
    state->free_count = g->to.capacity - TSR_TILE_FIRST - state->count;
    return TSR_OK;
}

const tsr_csg_ops tsr_csg_cpu = { .run = cpu_run, .merge = cpu_merge, .link = cpu_link };
