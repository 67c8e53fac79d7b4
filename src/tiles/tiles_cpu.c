/* tiles/tiles_cpu.c: the sorted tile list on the CPU.
 *
 * Management costs a look at two words for a quiet tile. Requests are collected, sorted and merged with the list; only created and removed
 * tiles touch neighbour rows (docs/theory/tiles.md 3, fast path). */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "tiles/tiles_halo.h"
#include "tiles/tiles.h"
#include "tiles/tiles_index.h"
#include "tiles/tiles_isa.h"

enum { GRAIN = 256 };

/* ---- scratch ------------------------------------------------------------------------------------------------------------------------------ */

struct scratch {
    uint64_t *requests; /* [capacity] */
    uint32_t *removed;  /* [capacity] ids */
    uint8_t *keep;      /* [capacity] */
};

static int64_t cpu_scratch_words(const tsr_tile_pool *pool) { return (int64_t)pool->capacity * 3 + pool->capacity / 4 + 1; }

static struct scratch scratch_of(const tsr_tile_pool *pool)
{
    struct scratch s = { .requests = (uint64_t *)(void *)pool->scratch };
    s.removed = (uint32_t *)(void *)(s.requests + pool->capacity);
    s.keep = (uint8_t *)(s.removed + pool->capacity);
    return s;
}

static int64_t voxels_of(const tsr_tile_pool *pool) { return (int64_t)1 << (3 * pool->log2_edge); }

static void fill_values(const tsr_tile_pool *pool, float *phi, int64_t first, float value, int64_t count)
{
    for (int64_t i = 0; i < count; i++) tsr_pool_put(pool, phi, first + i, value);
}

static float constant_value(const tsr_tile_pool *pool, uint32_t constant) { return constant == TSR_TILE_OUTSIDE ? pool->band : -pool->band; }

/* ---- clear and grow ---------------------------------------------------------------------------------------------------------------------- */

static void release_ids(const tsr_tile_pool *pool, int32_t from)
{
    tsr_tile_state *state = pool->state;
    for (int32_t id = pool->capacity - 1; id >= from; id--) pool->free_ids[state->free_count++] = (uint32_t)id;
}

static void reset(const tsr_tile_pool *pool, int32_t background)
{
    int64_t voxels = voxels_of(pool);
    const size_t bytes = (size_t)voxels * (size_t)tsr_pool_width(pool);
    tsr_tile_state *state = pool->state;
    for (uint32_t id = 0; id < TSR_TILE_FIRST; id++) {
        for (int b = 0; b < 2; b++) fill_values(pool, pool->phi[b], id * voxels, constant_value(pool, id), voxels);
        if (pool->payload) memset((char *)pool->payload + id * bytes, 0, bytes);
        for (int i = 0; i < TSR_NEIGHBOUR_ROW; i++) pool->neighbours[id * TSR_NEIGHBOUR_ROW + (uint32_t)i] = id;
        pool->activity[id] = id == TSR_TILE_OUTSIDE ? TSR_ACTIVITY_OUTSIDE : 0;
        tsr_pool_key_of_put(pool, id, TSR_KEY_END);
    }
    if (pool->table)
        for (int64_t i = 0; i < (int64_t)pool->tiles[0] * pool->tiles[1] * pool->tiles[2]; i++) pool->table[i] = (uint32_t)background;
    for (int32_t list = 0; list < 2; list++) tsr_pool_key_put(pool, list, 0, TSR_KEY_END);
    state->free_count = 0;
    state->background = background;
    state->managed = 1;
    release_ids(pool, TSR_TILE_FIRST);
}

static tsr_status cpu_clear(tsr_queue *queue, const tsr_tile_pool *pool, int32_t background)
{
    (void)queue;
    memset(pool->state, 0, sizeof *pool->state);
    if (background == TSR_TILE_INSIDE && pool->bounded) pool->state->inside_absent = (int64_t)pool->domain[0] * pool->domain[1] * pool->domain[2];
    reset(pool, background);
    return TSR_OK;
}

static tsr_status cpu_grow(tsr_queue *queue, const tsr_tile_pool *pool, int32_t old_capacity)
{
    (void)queue;
    release_ids(pool, old_capacity);
    pool->state->shortage = 0;
    return TSR_OK;
}

/* ---- management ---------------------------------------------------------------------------------------------------------------------------- */

struct pass {
    const tsr_tile_pool *pool;
    struct scratch s;
    tsr_keys keys;
    const uint32_t *ids;
    int64_t asked, removed; /* counted with atomics: only the sums matter, requests are sorted later */
};

static void request(struct pass *pass, uint64_t key)
{
    int64_t place = __atomic_fetch_add(&pass->asked, 1, __ATOMIC_RELAXED);
    if (place < pass->pool->capacity) pass->s.requests[place] = key;
}

static int wanted_by_neighbour(const tsr_tile_pool *pool, const uint32_t *row)
{
    for (int32_t d = 0; d < TSR_TILE_DIRECTIONS; d++)
        if (d != TSR_TILE_MIDDLE && row[d] >= TSR_TILE_FIRST && tsr_request_mask(pool->activity[row[d]]) >> (26 - d) & 1u) return 1;
    return 0;
}

/* Many tiles ask for the same absent one, and their requests would want room for all: of those that see each other, the first in the list
 * asks. */
static uint32_t asked_by_others(const tsr_tile_pool *pool, const uint32_t *row)
{
    uint32_t asked = 0;
    for (int32_t d = 0; d < TSR_TILE_MIDDLE; d++) /* neighbours that come before it */
        if (row[d] >= TSR_TILE_FIRST) asked |= tsr_directions_from(tsr_request_mask(pool->activity[row[d]]), d);
    return asked;
}

static void mark_range(void *user, int64_t begin, int64_t end, int worker)
{
    struct pass *pass = (struct pass *)user;
    const tsr_tile_pool *pool = pass->pool;
    int64_t removed = 0;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        uint32_t id = pass->ids[i], areas = pool->activity[id] & TSR_ACTIVITY_AREAS, wanted = tsr_request_mask(areas);
        const uint32_t *row = pool->neighbours + (int64_t)id * TSR_NEIGHBOUR_ROW;
        pass->s.keep[i] = (uint8_t)(areas != 0 || wanted_by_neighbour(pool, row));
        removed += !pass->s.keep[i];
        for (int32_t d = 0; d < TSR_TILE_DIRECTIONS; d++)
            if (row[d] >= TSR_TILE_FIRST) wanted &= ~(1u << d);
        if (wanted) wanted &= ~asked_by_others(pool, row);
        for (; wanted; wanted &= wanted - 1) {
            int32_t d = __builtin_ctz(wanted);
            uint64_t key = tsr_key_at(pass->keys, i) + (uint64_t)tsr_key_offset(d);
            if (tsr_tile_fenced_off(pool, key)) continue;
            if (tsr_tile_allowed(pool, key)) request(pass, key);
            else if (!pool->bounded) __atomic_fetch_add(&pool->state->beyond, 1, __ATOMIC_RELAXED);
        }
    }
    __atomic_fetch_add(&pass->removed, removed, __ATOMIC_RELAXED);
}

/* The stored tile with this key in a list, or 0. */
static uint32_t stored_tile(const tsr_tile_pool *pool, tsr_keys keys, const uint32_t *ids, int32_t count, uint64_t key)
{
    if (pool->table) {
        uint32_t id = tsr_tile_allowed(pool, key) ? pool->table[tsr_tile_linear(pool, key)] : 0;
        return id >= TSR_TILE_FIRST ? id : 0;
    }
    int32_t at = tsr_keys_lower_bound(keys, count, key);
    return at < count && tsr_key_at(keys, at) == key ? ids[at] : 0;
}

/* The voxels of a tile that is INSIDE move from the stored tiles to the absent space (or back, negative). */
static void inside_becomes_absent(tsr_tile_state *state, int64_t voxels)
{
    state->inside_absent += voxels;
    state->inside_voxels -= voxels;
}

static void remove_tile(const tsr_tile_pool *pool, uint64_t key, uint32_t id)
{
    uint32_t constant = pool->activity[id] & TSR_ACTIVITY_OUTSIDE ? TSR_TILE_OUTSIDE : TSR_TILE_INSIDE;
    const uint32_t *row = pool->neighbours + (int64_t)id * TSR_NEIGHBOUR_ROW;
    if (pool->table) pool->table[tsr_tile_linear(pool, key)] = constant;
    if (constant == TSR_TILE_INSIDE) inside_becomes_absent(pool->state, tsr_tile_voxels(pool, key));
    for (int32_t d = 0; d < TSR_TILE_DIRECTIONS; d++)
        if (d != TSR_TILE_MIDDLE && row[d] >= TSR_TILE_FIRST) pool->neighbours[(int64_t)row[d] * TSR_NEIGHBOUR_ROW + 26 - d] = constant;
}

/* Merges kept entries and new keys into the other list. Created tiles get an id and a row that is marked as not linked. */
static void merge(struct pass *pass, int32_t created, int inserting)
{
    const tsr_tile_pool *pool = pass->pool;
    tsr_tile_state *state = pool->state;
    const uint64_t *fresh = pass->s.requests;
    const tsr_keys keys = tsr_pool_keys(pool, state->list ^ 1);
    uint32_t *ids = pool->id[state->list ^ 1];
    int32_t out = 0, u = 0, removed = 0;
    for (int32_t i = 0; i <= state->count; i++) {
        while (u < created && (i == state->count || fresh[u] < tsr_key_at(pass->keys, i))) {
            uint32_t id = pool->free_ids[state->free_count - 1 - u];
            if (inserting) {
                uint32_t constant = tsr_tile_find(pool, pass->keys, pass->ids, state->count, state->background, fresh[u]);
                pool->activity[id] = constant == TSR_TILE_OUTSIDE ? TSR_ACTIVITY_OUTSIDE : 0;
            }
            pool->created_ids[u] = id;
            tsr_pool_key_of_put(pool, id, fresh[u]);
            pool->neighbours[(int64_t)id * TSR_NEIGHBOUR_ROW + TSR_TILE_MIDDLE] = UINT32_MAX;
            tsr_key_put(keys, out, fresh[u++]);
            ids[out++] = id;
        }
        if (i == state->count) break;
        if (pass->s.keep[i]) {
            tsr_key_put(keys, out, tsr_key_at(pass->keys, i));
            ids[out++] = pass->ids[i];
        } else {
            pass->s.removed[removed++] = pass->ids[i];
            remove_tile(pool, tsr_key_at(pass->keys, i), pass->ids[i]);
        }
    }
    tsr_key_put(keys, out, TSR_KEY_END);
    state->count = out;
    state->list ^= 1;
    state->free_count -= created;
    for (int32_t r = 0; r < removed; r++) pool->free_ids[state->free_count++] = pass->s.removed[r];
    if (pool->table)
        for (int32_t k = 0; k < created; k++) pool->table[tsr_tile_linear(pool, fresh[k])] = pool->created_ids[k];
}

/* Neighbour rows and values of the created tiles. */
static void link_created(const tsr_tile_pool *pool, int32_t created, int inserting)
{
    tsr_tile_state *state = pool->state;
    const tsr_keys keys = tsr_pool_keys(pool, state->list);
    const uint32_t *ids = pool->id[state->list];
    int64_t voxels = voxels_of(pool);
    for (int32_t u = 0; u < created; u++) {
        uint32_t id = pool->created_ids[u], *row = pool->neighbours + (int64_t)id * TSR_NEIGHBOUR_ROW, constant = TSR_TILE_OUTSIDE;
        if (inserting && !(pool->activity[id] & TSR_ACTIVITY_OUTSIDE)) constant = TSR_TILE_INSIDE;
        for (int32_t d = 0; d < TSR_TILE_DIRECTIONS; d++) {
            if (d == TSR_TILE_MIDDLE) continue;
            row[d] = stored_tile(pool, keys, ids, state->count, tsr_pool_key_of(pool, id) + (uint64_t)tsr_key_offset(d));
            if (row[d] == 0) continue;
            uint32_t *other = pool->neighbours + (int64_t)row[d] * TSR_NEIGHBOUR_ROW;
            if (other[TSR_TILE_MIDDLE] == UINT32_MAX) continue; /* created, too: looks for itself */
            if (!inserting && other[26 - d] < TSR_TILE_FIRST) constant = other[26 - d];
            other[26 - d] = id;
        }
        for (int32_t d = 0; d < TSR_TILE_DIRECTIONS; d++)
            if (d != TSR_TILE_MIDDLE && row[d] == 0) row[d] = constant;
        if (constant == TSR_TILE_INSIDE) inside_becomes_absent(state, -tsr_tile_voxels(pool, tsr_pool_key_of(pool, id)));
        pool->activity[id] = inserting ? TSR_ACTIVITY_AREAS : constant == TSR_TILE_OUTSIDE ? TSR_ACTIVITY_OUTSIDE : 0;
        for (int b = 0; b < 2; b++) fill_values(pool, pool->phi[b], (int64_t)id * voxels, constant_value(pool, constant), voxels);
    }
    for (int32_t u = 0; u < created; u++)
        pool->neighbours[(int64_t)pool->created_ids[u] * TSR_NEIGHBOUR_ROW + TSR_TILE_MIDDLE] = pool->created_ids[u];
}

static void finish_pass(struct pass *pass, int inserting)
{
    const tsr_tile_pool *pool = pass->pool;
    tsr_tile_state *state = pool->state;
    int64_t total = pass->asked < pool->capacity ? pass->asked : pool->capacity, missing = pass->asked - total;
    int32_t created = (int32_t)tsr_keys_sort_unique(pass->s.requests, total);
    if (created > state->free_count) missing += created - state->free_count;
    state->created = state->removed = 0;
    state->shortage = (int32_t)tsr_minl(missing, INT32_MAX);
    state->managed = missing == 0;
    if (missing) return;
    state->quiet = created ? 0 : state->quiet + 1;
    state->created = created;
    state->removed = (int32_t)pass->removed;
    if (created == 0 && pass->removed == 0) return;
    merge(pass, created, inserting);
    link_created(pool, created, inserting);
    if (state->count == 0 && pool->bounded) state->background = state->inside_absent > 0 ? TSR_TILE_INSIDE : TSR_TILE_OUTSIDE;
}

static tsr_status cpu_manage(tsr_queue *queue, const tsr_tile_pool *pool)
{
    const tsr_tile_state *state = pool->state;
    if (tsr_tile_stopped(state)) return TSR_OK;
    struct pass pass = { pool, scratch_of(pool), tsr_pool_keys(pool, state->list), pool->id[state->list], 0, 0 };
    tsr_parallel(queue->threads, state->count, 16 * GRAIN, mark_range, &pass);
    finish_pass(&pass, 0);
    return TSR_OK;
}

static tsr_status cpu_insert(tsr_queue *queue, const tsr_tile_pool *pool, const uint64_t *keys, int32_t count)
{
    const tsr_tile_state *state = pool->state;
    (void)queue;
    if (state->shortage > 0) return TSR_OK;
    struct pass pass = { pool, scratch_of(pool), tsr_pool_keys(pool, state->list), pool->id[state->list], 0, 0 };
    memset(pass.s.keep, 1, (size_t)state->count);
    for (int32_t i = 0; i < count; i++)
        if (tsr_tile_allowed(pool, keys[i]) && !stored_tile(pool, pass.keys, pass.ids, state->count, keys[i])) request(&pass, keys[i]);
    finish_pass(&pass, 1);
    return TSR_OK;
}

/* ---- activity and counts -------------------------------------------------------------------------------------------------------------------- */

struct refresh {
    const tsr_tile_pool *pool;
    int64_t active, inside;
};

/* 1 if neither the tile nor its halo meets the border of the domain. */
static int is_inner(const tsr_tile_pool *pool, uint64_t key)
{
    if (!pool->bounded) return 1;
    const int32_t e = pool->log2_edge, at[3] = { tsr_key_x(key), tsr_key_y(key), tsr_key_z(key) };
    for (int k = 0; k < 3; k++)
        if (at[k] == 0 || (at[k] + 1) << e >= pool->domain[k]) return 0;
    return 1;
}

static void refresh_range(void *user, int64_t begin, int64_t end, int worker)
{
    struct refresh *r = (struct refresh *)user;
    const tsr_tile_pool *pool = r->pool;
    const int32_t E = 1 << pool->log2_edge, H = E + 2;
    int64_t active = 0, inside = 0;
    float cube[TSR_CUBE_MOST], decoded[TSR_TILE_DIRECTIONS * 512]; /* of a coded list: the tile and its neighbours */
    uint32_t near[TSR_NEIGHBOUR_ROW];
    tsr_tile_pool seen = *pool;
    uint32_t (*refresh_tile)(const tsr_tile_pool *, const float *, uint32_t, int64_t *, int64_t *) = TSR_ISA_SELECT(tsr_refresh_tile);
    (void)worker;
    if (pool->coded) seen.neighbours = near;
    for (int64_t at = begin; at < end; at++) {
        int32_t extent[3];
        uint32_t id = pool->id[pool->state->list][at], areas = 0;
        if (pool->coded) {
            const int32_t V = E * E * E;
            const uint32_t *row = pool->neighbours + (int64_t)id * TSR_NEIGHBOUR_ROW;
            for (int32_t d = 0; d < TSR_TILE_DIRECTIONS; d++) {
                for (int32_t i = 0; i < V; i++) decoded[d * V + i] = tsr_pool_value(pool, pool->phi[pool->state->phi], (int64_t)row[d] * V + i);
                near[d] = (uint32_t)d;
            }
        }
        if (!pool->coded && E == 8 && pool->guard == 1 && is_inner(pool, tsr_pool_key(pool, pool->state->list, at))) {
            pool->activity[id] = refresh_tile(pool, pool->phi[pool->state->phi], id, &active, &inside);
            continue;
        }
        tsr_cube_gather(&seen, pool->coded ? decoded : pool->phi[pool->state->phi], tsr_pool_key(pool, pool->state->list, at), pool->coded ? 0 : id,
                        cube, extent);
        for (int32_t z = 0; z < extent[2]; z++)
            for (int32_t y = 0; y < extent[1]; y++)
                for (int32_t x = 0; x < extent[0]; x++) {
                    const float *p = cube + ((z + 1) * H + y + 1) * H + x + 1;
                    int in_band = p[0] > -pool->band && p[0] < pool->band;
                    if (in_band || tsr_sign_change(p, H, H * H)) areas |= tsr_areas(x, y, z, E, pool->guard);
                    active += in_band;
                    inside += p[0] < 0.0f;
                }
        pool->activity[id] = areas ? areas : cube[(H + 1) * H + 1] > 0.0f ? TSR_ACTIVITY_OUTSIDE : 0;
    }
    __atomic_fetch_add(&r->active, active, __ATOMIC_RELAXED);
    __atomic_fetch_add(&r->inside, inside, __ATOMIC_RELAXED);
}

static tsr_status cpu_refresh(tsr_queue *queue, const tsr_tile_pool *pool)
{
    struct refresh r = { pool, 0, 0 };
    tsr_parallel(queue->threads, pool->state->count, GRAIN, refresh_range, &r);
    pool->state->active_voxels = r.active;
    pool->state->inside_voxels = r.inside;
    return TSR_OK;
}

/* ---- compaction ------------------------------------------------------------------------------------------------------------------------------ */

struct compact {
    const tsr_tile_pool *from, *to;
};

static void rename_range(void *user, int64_t begin, int64_t end, int worker)
{
    const tsr_tile_pool *from = ((const struct compact *)user)->from;
    (void)worker;
    for (int64_t at = begin; at < end; at++) from->scratch[from->id[from->state->list][at]] = TSR_TILE_FIRST + (uint32_t)at;
}

static void compact_range(void *user, int64_t begin, int64_t end, int worker)
{
    const tsr_tile_pool *from = ((const struct compact *)user)->from, *to = ((const struct compact *)user)->to;
    const tsr_tile_state *state = from->state;
    const int64_t V = voxels_of(from);
    (void)worker;
    for (int64_t at = begin; at < end; at++) {
        const uint32_t old = from->id[state->list][at], id = TSR_TILE_FIRST + (uint32_t)at;
        const uint64_t key = tsr_pool_key(from, state->list, at);
        const size_t bytes = (size_t)V * (size_t)tsr_pool_width(from);
        for (int b = 0; b < 2; b++) memcpy((char *)to->phi[b] + id * bytes, (const char *)from->phi[state->phi] + old * bytes, bytes);
        if (from->payload) memcpy((char *)to->payload + id * bytes, (const char *)from->payload + old * bytes, bytes);
        if (from->age) to->age[id] = from->age[old];
        for (int32_t d = 0; d < TSR_TILE_DIRECTIONS; d++)
            to->neighbours[(int64_t)id * TSR_NEIGHBOUR_ROW + d] =
                tsr_entry_renamed(from->scratch, from->neighbours[(int64_t)old * TSR_NEIGHBOUR_ROW + d]);
        to->activity[id] = from->activity[old];
        tsr_pool_key_put(to, 0, at, key);
        tsr_pool_key_of_put(to, id, key);
        to->id[0][at] = id;
        if (from->table) from->table[tsr_tile_linear(from, key)] = id;
    }
}

static tsr_status cpu_compact(tsr_queue *queue, const tsr_tile_pool *from, const tsr_tile_pool *to)
{
    struct compact c = { from, to };
    const int32_t count = from->state->count;
    tsr_parallel(queue->threads, count, 16 * GRAIN, rename_range, &c);
    tsr_parallel(queue->threads, count, GRAIN, compact_range, &c);
    tsr_pool_key_put(to, 0, count, TSR_KEY_END);
    return TSR_OK;
}

/* ---- storage ----------------------------------------------------------------------------------------------------------------------------------- */

struct recode {
    const tsr_tile_pool *from, *to;
    int32_t buffer;
};

static void recode_range(void *user, int64_t begin, int64_t end, int worker)
{
    const struct recode *r = (const struct recode *)user;
    const tsr_coding c = tsr_coding_of(r->from->band);
    (void)worker;
    if (r->to->coded) {
        const float *from = r->from->phi[r->buffer];
        int16_t *to = (int16_t *)(void *)r->to->phi[r->buffer];
        for (int64_t i = begin; i < end; i++) to[i] = (int16_t)tsr_code_of(&c, tsr_clampf(from[i], -c.band, c.band)); /* unused tiles hold anything */
    } else {
        const int16_t *from = (const int16_t *)(const void *)r->from->phi[r->buffer];
        float *to = r->to->phi[r->buffer];
        for (int64_t i = begin; i < end; i++) to[i] = tsr_code_value(&c, from[i]);
    }
}

static tsr_status cpu_recode(tsr_queue *queue, const tsr_tile_pool *from, const tsr_tile_pool *to, int32_t buffer)
{
    struct recode r = { from, to, buffer };
    tsr_parallel(queue->threads, from->capacity * voxels_of(from), 1 << 14, recode_range, &r);
    return TSR_OK;
}

/* ---- loading ----------------------------------------------------------------------------------------------------------------------------------- */

struct load {
    const tsr_tile_pool *pool;
    const float *field;
    uint8_t *codes;
    int64_t first_bad, inside;
    int32_t count;
};

enum { VALUES_INSIDE = 1, VALUES_OUTSIDE = 2, VALUES_IN_BAND = 4, VALUES_BAD = 8 };

/* What is among the values of a row. */
static inline int values_of(const float *v, int64_t n, float band)
{
    int inside = 0, outside = 0, in_band = 0, bad = 0;
    for (int64_t i = 0; i < n; i++) {
        inside |= v[i] < 0.0f;
        outside |= !(v[i] < 0.0f);
        in_band |= (v[i] > -band) & (v[i] < band);
        bad |= !(v[i] - v[i] == 0.0f);
    }
    return inside * VALUES_INSIDE | outside * VALUES_OUTSIDE | in_band * VALUES_IN_BAND | bad * VALUES_BAD;
}

/* The same of the voxels from..to of the field; beyond it is what `beyond` says. */
static int values_in_box(const struct load *load, const int64_t from[3], const int64_t to[3], int beyond)
{
    const int32_t *n = load->pool->domain;
    int found = 0;
    for (int a = 0; a < 3; a++)
        if (from[a] < 0 || from[a] >= n[a]) return beyond;
    for (int64_t z = from[2]; z < to[2]; z++)
        for (int64_t y = from[1]; y < to[1]; y++) {
            const float *row = load->field + (z * n[1] + y) * n[0] + from[0];
            const int64_t wide = to[0] - from[0];
            found |= wide == 8 ? values_of(row, 8, load->pool->band) : values_of(row, wide, load->pool->band);
        }
    return found;
}

/* tsr_load_stores for a tile at once: one whose values are all of one side and beyond the band is stored for the sake of its neighbours alone. */
static int stores_tile(const struct load *load, const int64_t from[3], const int64_t to[3], int values)
{
    const int side = values & (VALUES_INSIDE | VALUES_OUTSIDE), beyond = load->pool->bounded ? 0 : VALUES_OUTSIDE;
    if ((values & VALUES_IN_BAND) || side == (VALUES_INSIDE | VALUES_OUTSIDE)) return 1;
    for (int a = 0; a < 3; a++)
        for (int up = 0; up < 2; up++) {
            int64_t first[3] = { from[0], from[1], from[2] }, end[3] = { to[0], to[1], to[2] };
            first[a] = up ? to[a] : from[a] - 1;
            end[a] = first[a] + 1;
            if ((values_in_box(load, first, end, side == VALUES_INSIDE ? beyond : 0) & (VALUES_INSIDE | VALUES_OUTSIDE)) & ~side) return 1;
        }
    return 0;
}

static void classify_range(void *user, int64_t begin, int64_t end, int worker)
{
    struct load *load = (struct load *)user;
    const tsr_tile_pool *pool = load->pool;
    const int32_t *n = pool->domain;
    int64_t E = 1 << pool->log2_edge, bad = INT64_MAX, inside_voxels = 0;
    int32_t count = 0;
    (void)worker;
    for (int64_t t = begin; t < end; t++) {
        const int64_t from[3] = { t % pool->tiles[0] * E, t / pool->tiles[0] % pool->tiles[1] * E, t / pool->tiles[0] / pool->tiles[1] * E };
        const int64_t to[3] = { tsr_minl(from[0] + E, n[0]), tsr_minl(from[1] + E, n[1]), tsr_minl(from[2] + E, n[2]) };
        const int values = values_in_box(load, from, to, 0), stored = stores_tile(load, from, to, values), inside = values & VALUES_INSIDE;
        for (int64_t z = from[2]; values & VALUES_BAD && z < to[2]; z++)
            for (int64_t y = from[1]; y < to[1]; y++)
                for (int64_t x = from[0]; x < to[0]; x++)
                    if (!isfinite(load->field[(z * n[1] + y) * n[0] + x])) bad = tsr_minl(bad, (z * n[1] + y) * n[0] + x);
        load->codes[t] = (uint8_t)(stored ? 2 : inside ? 1 : 0);
        count += stored;
        if (!stored && inside)
            inside_voxels += tsr_tile_voxels(pool, tsr_key_make((int32_t)(from[0] / E), (int32_t)(from[1] / E), (int32_t)(from[2] / E)));
    }
    __atomic_fetch_add(&load->count, count, __ATOMIC_RELAXED);
    __atomic_fetch_add(&load->inside, inside_voxels, __ATOMIC_RELAXED);
    for (int64_t old = __atomic_load_n(&load->first_bad, __ATOMIC_RELAXED); bad < old;)
        if (__atomic_compare_exchange_n(&load->first_bad, &old, bad, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) break;
}

static tsr_status cpu_load_classify(tsr_queue *queue, const tsr_tile_pool *pool, const float *field, uint8_t *codes, int64_t *first_bad)
{
    struct load load = { pool, field, codes, INT64_MAX, 0, 0 };
    tsr_parallel(queue->threads, (int64_t)pool->tiles[0] * pool->tiles[1] * pool->tiles[2], GRAIN, classify_range, &load);
    *first_bad = load.first_bad;
    pool->state->count = load.count;
    pool->state->inside_absent = load.inside;
    return TSR_OK;
}

static void values_range(void *user, int64_t begin, int64_t end, int worker)
{
    const struct load *load = (const struct load *)user;
    const tsr_tile_pool *pool = load->pool;
    int64_t E = 1 << pool->log2_edge, V = E * E * E;
    (void)worker;
    for (int64_t at = begin; at < end; at++) {
        uint64_t key = tsr_pool_key(pool, 0, at);
        int64_t id = TSR_TILE_FIRST + at, x0 = tsr_key_x(key) * E, y0 = tsr_key_y(key) * E, z0 = tsr_key_z(key) * E;
        float *to = pool->phi[0] + id * V;
        for (int64_t i = 0; i < V; i++) to[i] = tsr_load_value(pool, load->field, x0 + i % E, y0 + i / E % E, z0 + i / (E * E));
        memcpy(pool->phi[1] + id * V, to, (size_t)V * sizeof *to);
        for (int32_t d = 0; d < TSR_TILE_DIRECTIONS; d++) {
            uint64_t other = key + (uint64_t)tsr_key_offset(d);
            int32_t x = tsr_key_x(other), y = tsr_key_y(other), z = tsr_key_z(other);
            uint32_t entry = TSR_TILE_OUTSIDE;
            if (x >= 0 && y >= 0 && z >= 0 && x < pool->tiles[0] && y < pool->tiles[1] && z < pool->tiles[2]) {
                uint8_t code = load->codes[tsr_tile_linear(pool, other)];
                entry = code == 2 ? TSR_TILE_FIRST + (uint32_t)tsr_keys_lower_bound(tsr_pool_keys(pool, 0), load->count, other) : code;
            }
            pool->neighbours[id * TSR_NEIGHBOUR_ROW + d] = entry;
        }
    }
}

static tsr_status cpu_load_fill(tsr_queue *queue, const tsr_tile_pool *pool, const float *field, const uint8_t *codes)
{
    tsr_tile_state *state = pool->state;
    int32_t count = 0, tiles[3] = { pool->tiles[0], pool->tiles[1], pool->tiles[2] };
    struct load load = { .pool = pool, .field = field, .count = state->count };
    union {
        const uint8_t *from;
        uint8_t *to;
    } same = { .from = codes }; /* classify writes what this only reads */
    load.codes = same.to;
    reset(pool, TSR_TILE_OUTSIDE);
    for (int32_t z = 0; z < tiles[2]; z++)
        for (int32_t y = 0; y < tiles[1]; y++)
            for (int32_t x = 0; x < tiles[0]; x++) {
                int64_t t = ((int64_t)z * tiles[1] + y) * tiles[0] + x;
                if (codes[t] == 2) {
                    uint32_t id = TSR_TILE_FIRST + (uint32_t)count;
                    tsr_pool_key_put(pool, 0, count, tsr_key_make(x, y, z));
                    tsr_pool_key_of_put(pool, id, tsr_key_make(x, y, z));
                    pool->id[0][count++] = id;
                    if (pool->table) pool->table[t] = id;
                } else if (pool->table) {
                    pool->table[t] = codes[t];
                }
            }
    tsr_pool_key_put(pool, 0, count, TSR_KEY_END);
    state->list = state->phi = 0;
    if (count == 0 && pool->bounded && state->inside_absent > 0) state->background = TSR_TILE_INSIDE;
    state->free_count = pool->capacity - TSR_TILE_FIRST - count;
    state->quiet = 0;
    tsr_parallel(queue->threads, count, GRAIN, values_range, &load);
    return cpu_refresh(queue, pool);
}

/* ---- painting and dense output ------------------------------------------------------------------------------------------------------------------ */

struct paint {
    const tsr_tile_pool *pool;
    const tsr_tiles_sphere *spheres;
    int32_t count;
};

/* May the sphere change voxels of this tile? A band and more away from it tsr_paint only clamps; a voxel more is left for rounding. */
static int reaches(const tsr_tile_pool *pool, uint64_t key, const tsr_tiles_sphere *s)
{
    const int32_t at[3] = { tsr_key_x(key), tsr_key_y(key), tsr_key_z(key) }, E = 1 << pool->log2_edge;
    const double centre[3] = { (double)s->x, (double)s->y, (double)s->z };
    double reach = (double)s->radius + (double)pool->band, most = 0, nearest = 0;
    for (int k = 0; k < 3; k++) {
        const double h = (double)pool->spacing[k], a = (double)at[k] * E * h, b = a + (E - 1) * h;
        const double d = fmax(fmax(a - centre[k], centre[k] - b), 0);
        nearest += d * d;
        most = fmax(most, h);
    }
    reach += most;
    return nearest <= reach * reach;
}

enum { REACHING = 64 }; /* spheres of a stroke that are told apart for one tile */

static void paint_range(void *user, int64_t begin, int64_t end, int worker)
{
    const struct paint *paint = (const struct paint *)user;
    const tsr_tile_pool *pool = paint->pool;
    int32_t E = 1 << pool->log2_edge, V = E * E * E, list = pool->state->list;
    (void)worker;
    for (int64_t at = begin; at < end; at++) {
        uint64_t key = tsr_pool_key(pool, list, at);
        float *phi = pool->phi[pool->state->phi] + (int64_t)pool->id[list][at] * V;
        tsr_tiles_sphere near[REACHING];
        const tsr_tiles_sphere *spheres = paint->count <= REACHING ? near : paint->spheres;
        int32_t count = paint->count <= REACHING ? 0 : paint->count;
        for (int32_t k = 0; k < paint->count && spheres == near; k++)
            if (reaches(pool, key, &paint->spheres[k])) near[count++] = paint->spheres[k];
        for (int32_t i = 0; i < V && !count; i++) phi[i] = tsr_clampf(phi[i], -pool->band, pool->band);
        for (int32_t i = 0; i < V && count; i++)
            phi[i] = tsr_paint(phi[i], tsr_key_x(key) * E + (i & (E - 1)), tsr_key_y(key) * E + (i >> pool->log2_edge & (E - 1)),
                               tsr_key_z(key) * E + (i >> 2 * pool->log2_edge), pool->spacing, pool->band, spheres, count);
    }
}

static tsr_status cpu_paint(tsr_queue *queue, const tsr_tile_pool *pool, const tsr_tiles_sphere *spheres, int32_t count)
{
    struct paint paint = { pool, spheres, count };
    tsr_parallel(queue->threads, pool->state->count, GRAIN, paint_range, &paint);
    return cpu_refresh(queue, pool);
}

struct store {
    const tsr_tile_pool *pool;
    int32_t first[3];
    int64_t size[3];
    float *field;
    uint8_t *mask;
};

/* Rows of tiles: what lies in a tile is looked up once. */
static void store_range(void *user, int64_t begin, int64_t end, int worker)
{
    const struct store *s = (const struct store *)user;
    const tsr_tile_pool *pool = s->pool;
    const tsr_tile_state *state = pool->state;
    const int32_t log2 = pool->log2_edge, E = 1 << log2, V = E * E * E;
    const int64_t tiles_y = ((s->first[1] + s->size[1] - 1) >> log2) - (s->first[1] >> log2) + 1;
    (void)worker;
    for (int64_t r = begin; r < end; r++) {
        const int64_t ky = (s->first[1] >> log2) + r % tiles_y, kz = (s->first[2] >> log2) + r / tiles_y;
        const int64_t y0 = tsr_max64(ky * E, s->first[1]), y1 = tsr_min64((ky + 1) * E, s->first[1] + s->size[1]);
        const int64_t z0 = tsr_max64(kz * E, s->first[2]), z1 = tsr_min64((kz + 1) * E, s->first[2] + s->size[2]);
        for (int64_t x = s->first[0], x1; x < s->first[0] + s->size[0]; x = x1) {
            const int64_t kx = x >> log2;
            x1 = tsr_min64((kx + 1) * E, s->first[0] + s->size[0]);
            const uint32_t id = tsr_tile_find(pool, tsr_pool_keys(pool, state->list), pool->id[state->list], state->count, state->background,
                                              tsr_key_make((int32_t)kx, (int32_t)ky, (int32_t)kz));
            for (int64_t z = z0; z < z1; z++)
                for (int64_t y = y0; y < y1; y++) {
                    const int64_t from = (int64_t)id * V + ((z & (E - 1)) * E + (y & (E - 1))) * E + (x & (E - 1));
                    const int64_t to = ((z - s->first[2]) * s->size[1] + y - s->first[1]) * s->size[0] + x - s->first[0];
                    for (int64_t i = 0; i < x1 - x; i++) {
                        const float v = tsr_pool_value(pool, pool->phi[state->phi], from + i);
                        if (s->field) s->field[to + i] = v;
                        else s->mask[to + i] = v < 0.0f;
                    }
                }
        }
    }
}

static tsr_status cpu_store(tsr_queue *queue, const tsr_tile_pool *pool, const int32_t first[3], const int64_t size[3], float *field, uint8_t *mask)
{
    struct store s = { pool, { first[0], first[1], first[2] }, { size[0], size[1], size[2] }, field, mask };
    int64_t rows = 1;
    for (int a = 1; a < 3; a++) rows *= ((first[a] + size[a] - 1) >> pool->log2_edge) - (first[a] >> pool->log2_edge) + 1;
    tsr_parallel(queue->threads, rows, 1, store_range, &s);
    return TSR_OK;
}

const tsr_tiles_ops tsr_tiles_cpu = { .scratch_words = cpu_scratch_words,
                                      .clear = cpu_clear,
                                      .load_classify = cpu_load_classify,
                                      .load_fill = cpu_load_fill,
                                      .insert = cpu_insert,
                                      .paint = cpu_paint,
                                      .refresh = cpu_refresh,
                                      .manage = cpu_manage,
                                      .grow = cpu_grow,
                                      .compact = cpu_compact,
                                      .recode = cpu_recode,
                                      .store = cpu_store,
                                      .sample = tsr_tiles_cpu_sample };
