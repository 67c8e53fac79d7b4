/* tiles/tiles.c: host logic of the sorted tile list: memory, growth, loading, storing. */
#include "tiles/tiles.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tiles/tiles_build.h"
#include "volume/volume.h"
#include "tessera/tiles.h"

enum { DEFAULT_EDGE = 8, FIRST_CAPACITY = 1024, LEAST_TRIMMED = 1 << 14, MOST_CAPACITY = 1 << 30 };

/* ---- memory: one list of the arrays of a pool ---------------------------------------------------------------------------------------- */

struct array {
    void **pointer;
    size_t bytes;
    int copied;
};

enum { MOST_ARRAYS = 20 };

/* Arrays that only some lists have. */
enum { WITH_PAYLOAD = 1, WITH_STAGE = 2, WITH_AGE = 4 };
static int optional_of(const tsr_tile_pool *p) { return (p->payload ? WITH_PAYLOAD : 0) | (p->phi[2] ? WITH_STAGE : 0) | (p->age ? WITH_AGE : 0); }

/* The arrays that grow with the capacity, and their sizes; `copied` ones keep their content when they move. */
static int pool_arrays(tsr_tile_pool *p, int64_t scratch_words, int optional, struct array out[MOST_ARRAYS])
{
    size_t n = (size_t)p->capacity, tile = (size_t)tsr_pool_width(p) << (3 * p->log2_edge);
    const size_t key = (size_t)tsr_pool_key_width(p);
    int count = 0;
    for (int i = 0; i < 2; i++) {
        out[count++] = (struct array){ &p->key[i], (n + 1) * key, 1 };
        out[count++] = (struct array){ (void **)&p->id[i], n * sizeof(uint32_t), 1 };
        out[count++] = (struct array){ (void **)&p->phi[i], n * tile, 1 };
    }
    out[count++] = (struct array){ (void **)&p->neighbours, n * TSR_NEIGHBOUR_ROW * sizeof(uint32_t), 1 };
    out[count++] = (struct array){ (void **)&p->activity, n * sizeof(uint32_t), 1 };
    out[count++] = (struct array){ &p->key_of, n * key, 1 };
    out[count++] = (struct array){ (void **)&p->free_ids, n * sizeof(uint32_t), 1 };
    out[count++] = (struct array){ (void **)&p->created_ids, n * sizeof(uint32_t), 1 };
    out[count++] = (struct array){ (void **)&p->scratch, (size_t)scratch_words * sizeof(uint32_t), 0 };
    if (optional & WITH_PAYLOAD) out[count++] = (struct array){ (void **)&p->payload, n * tile, 1 };
    if (optional & WITH_STAGE) out[count++] = (struct array){ (void **)&p->phi[2], n * tile, 1 };
    if (optional & WITH_AGE) out[count++] = (struct array){ (void **)&p->age, n, 1 };
    return count;
}

static void release_arrays(tsr_context *context, tsr_tile_pool *pool, int64_t scratch_words)
{
    struct array arrays[MOST_ARRAYS];
    int count = pool_arrays(pool, scratch_words, optional_of(pool), arrays);
    for (int i = 0; i < count; i++) {
        tsr_device_release(context, *arrays[i].pointer, arrays[i].bytes);
        *arrays[i].pointer = NULL;
    }
}

/* Allocates every array of a pool whose capacity is set; all or nothing. */
static tsr_status allocate_arrays(tsr_tiles *tiles, tsr_tile_pool *pool, int optional, int64_t *scratch_words, int64_t *bytes)
{
    struct array arrays[MOST_ARRAYS];
    tsr_context *context = tiles->context;
    *scratch_words = context->backend->tiles->scratch_words(pool);
    pool->payload = pool->phi[2] = NULL;
    pool->age = NULL;
    int count = pool_arrays(pool, *scratch_words, optional, arrays);
    *bytes = 0;
    for (int i = 0; i < count; i++) {
        *bytes += (int64_t)arrays[i].bytes;
        *arrays[i].pointer = NULL;
    }
    if (tiles->memory_limit > 0 && *bytes > tiles->memory_limit)
        TSR_FAIL(TSR_ERROR_CAPACITY, "tile list: %d tiles need %lld bytes, the memory_limit is %lld", pool->capacity, (long long)*bytes,
                 (long long)tiles->memory_limit);
    for (int i = 0; i < count; i++) {
        tsr_status status = tsr_device_allocate(context, arrays[i].bytes, arrays[i].pointer);
        if (status == TSR_OK) continue;
        while (--i >= 0) {
            tsr_device_release(context, *arrays[i].pointer, arrays[i].bytes);
            *arrays[i].pointer = NULL;
        }
        TSR_FAIL(status == TSR_ERROR_MEMORY ? TSR_ERROR_CAPACITY : status, "tile list: no memory for %d tiles (%lld bytes): %s", pool->capacity,
                 (long long)*bytes, tsr_error_message());
    }
    return TSR_OK;
}

/* The content of `from` in the larger arrays of `to`. */
static tsr_status move_arrays(tsr_context *context, tsr_tile_pool *to, tsr_tile_pool *from)
{
    struct array source[MOST_ARRAYS], target[MOST_ARRAYS];
    int count = pool_arrays(from, 0, optional_of(from), source);
    pool_arrays(to, 0, optional_of(to), target);
    for (int i = 0; i < count; i++)
        if (source[i].copied) TSR_TRY(context->backend->copy(context->queue, *target[i].pointer, *source[i].pointer, source[i].bytes));
    return TSR_OK;
}

/* Room beyond what is needed: growth costs a copy, so a list that grows from little to much is copied a few times only; large lists take
 * little more than they use, because there the memory is what runs out. */
static int64_t spare(int64_t tiles) { return tiles < 1 << 18 ? tiles / 4 : tiles / 16; }

tsr_status tsr_tiles_reserve(tsr_tiles *tiles, int64_t capacity)
{
    if (capacity <= tiles->pool.capacity) return TSR_OK;
    if (capacity > MOST_CAPACITY)
        TSR_FAIL(TSR_ERROR_CAPACITY, "tile list: %lld tiles asked for, at most %d are possible", (long long)capacity, (int)MOST_CAPACITY);
    tsr_context *context = tiles->context;
    tsr_tile_pool grown = tiles->pool;
    int64_t scratch_words, bytes;
    int32_t old = tiles->pool.capacity;
    grown.capacity = (int32_t)capacity;
    TSR_TRY(allocate_arrays(tiles, &grown, optional_of(&tiles->pool), &scratch_words, &bytes));
    tsr_status status = move_arrays(context, &grown, &tiles->pool);
    if (status == TSR_OK) status = context->backend->tiles->grow(context->queue, &grown, old);
    if (status != TSR_OK) {
        release_arrays(context, &grown, scratch_words);
        return status;
    }
    release_arrays(context, &tiles->pool, tiles->scratch_words);
    tiles->pool = grown;
    tiles->scratch_words = scratch_words;
    tiles->bytes = bytes;
    return TSR_OK;
}

/* Ids in the order of the list in new arrays; `fresh` has a state of its own. */
static tsr_status rewrite(tsr_tiles *tiles, tsr_tile_pool *fresh, tsr_tile_state *state)
{
    tsr_context *context = tiles->context;
    const size_t statics = (size_t)TSR_TILE_FIRST * (size_t)tsr_pool_width(fresh) << (3 * fresh->log2_edge);
    TSR_TRY(context->backend->tiles->clear(context->queue, fresh, state->background));
    if (fresh->phi[2]) TSR_TRY(context->backend->copy(context->queue, fresh->phi[2], fresh->phi[0], statics));
    if (fresh->age) TSR_TRY(context->backend->fill(context->queue, fresh->age, 0, (size_t)fresh->capacity));
    TSR_TRY(context->backend->tiles->compact(context->queue, &tiles->pool, fresh));
    state->list = state->phi = 0;
    state->free_count = fresh->capacity - TSR_TILE_FIRST - state->count;
    TSR_TRY(context->backend->upload(context->queue, fresh->state, state, sizeof *state));
    return TSR_OK;
}

tsr_status tsr_tiles_rebuild(tsr_tiles *tiles, int64_t capacity, uint64_t key_first)
{
    tsr_tile_state state;
    int64_t scratch_words, bytes;
    TSR_TRY(tsr_tiles_read_state(tiles, &state));
    const int64_t least = tsr_max64((int64_t)state.count + TSR_TILE_FIRST, 8);
    tsr_context *context = tiles->context;
    tsr_tile_pool fresh = tiles->pool;
    fresh.capacity = (int32_t)tsr_max64(capacity ? capacity : least + spare(least), least);
    fresh.key_first = key_first;
    fresh.table = NULL;
    TSR_TRY(allocate_arrays(tiles, &fresh, optional_of(&tiles->pool), &scratch_words, &bytes));
    tsr_status status = tsr_device_allocate(context, sizeof *fresh.state, (void **)&fresh.state);
    if (status == TSR_OK) status = rewrite(tiles, &fresh, &state);
    if (status != TSR_OK) {
        if (fresh.state != tiles->pool.state) tsr_device_release(context, fresh.state, sizeof *fresh.state);
        release_arrays(context, &fresh, scratch_words);
        return status;
    }
    release_arrays(context, &tiles->pool, tiles->scratch_words);
    tsr_device_release(context, tiles->pool.state, sizeof *tiles->pool.state);
    fresh.table = tiles->pool.table;
    tiles->pool = fresh;
    tiles->scratch_words = scratch_words;
    tiles->bytes = bytes;
    return TSR_OK;
}

tsr_status tsr_tiles_compact(tsr_tiles *tiles, int64_t capacity)
{
    TSR_NEEDS(tiles);
    if (capacity < 0 || capacity > MOST_CAPACITY)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "tile list: capacity is %lld, expected 0 to %d", (long long)capacity, (int)MOST_CAPACITY);
    TSR_TRY(tsr_tiles_rebuild(tiles, capacity, tiles->pool.key_first));
    return TSR_OK;
}

tsr_status tsr_tiles_trim(tsr_tiles *tiles, const tsr_tile_state *state, int *trimmed)
{
    const int64_t capacity = tiles->pool.capacity, least = tsr_max64((int64_t)state->count + TSR_TILE_FIRST, tiles->wished);
    const int64_t worth = state->count > tiles->seen ? 2 * spare(least) : spare(least) / 2; /* what grows will soon need it */
    *trimmed = 0;
    tiles->seen = state->count;
    if (capacity < LEAST_TRIMMED || !state->managed || capacity - least <= worth) return TSR_OK;
    tsr_status status = tsr_tiles_compact(tiles, least + spare(least) / 4);
    *trimmed = status == TSR_OK;
    return status == TSR_ERROR_CAPACITY ? TSR_OK : status;
}

/* Allocates one optional array, zeroed. */
static tsr_status need_array(tsr_tiles *tiles, void **pointer, size_t bytes)
{
    void *memory;
    if (*pointer) return TSR_OK;
    if (tiles->memory_limit > 0 && tiles->bytes + (int64_t)bytes > tiles->memory_limit)
        TSR_FAIL(TSR_ERROR_CAPACITY, "tile list: %lld more bytes are needed, the memory_limit is %lld and %lld are taken", (long long)bytes,
                 (long long)tiles->memory_limit, (long long)tiles->bytes);
    TSR_TRY(tsr_device_allocate(tiles->context, bytes, &memory));
    tsr_status status = tiles->context->backend->fill(tiles->context->queue, memory, 0, bytes);
    if (status != TSR_OK) {
        tsr_device_release(tiles->context, memory, bytes);
        return status;
    }
    *pointer = memory;
    tiles->bytes += (int64_t)bytes;
    return TSR_OK;
}

static size_t tile_bytes(const tsr_tiles *tiles) { return (size_t)tsr_pool_width(&tiles->pool) << (3 * tiles->pool.log2_edge); }

tsr_status tsr_tiles_need_payload(tsr_tiles *tiles)
{
    TSR_TRY(need_array(tiles, (void **)&tiles->pool.payload, (size_t)tiles->pool.capacity * tile_bytes(tiles)));
    return TSR_OK;
}

tsr_status tsr_tiles_need_stage(tsr_tiles *tiles)
{
    tsr_tile_pool *pool = &tiles->pool;
    if (pool->phi[2]) return TSR_OK;
    TSR_TRY(need_array(tiles, (void **)&pool->phi[2], (size_t)pool->capacity * tile_bytes(tiles)));
    TSR_TRY(tiles->context->backend->copy(tiles->context->queue, pool->phi[2], pool->phi[0], TSR_TILE_FIRST * tile_bytes(tiles)));
    return TSR_OK;
}

tsr_status tsr_tiles_need_age(tsr_tiles *tiles)
{
    TSR_TRY(need_array(tiles, (void **)&tiles->pool.age, (size_t)tiles->pool.capacity));
    return TSR_OK;
}

/* ---- storage ---------------------------------------------------------------------------------------------------------------------------- */

tsr_status tsr_tiles_need_f32(const tsr_tiles *tiles, const char *what)
{
    if (tiles->pool.coded) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: the tile list holds 16-bit values: tsr_tiles_set_storage to F32 first", what);
    return TSR_OK;
}

tsr_status tsr_tiles_set_storage(tsr_tiles *tiles, tsr_storage storage)
{
    TSR_NEEDS(tiles);
    if (storage != TSR_STORAGE_F32 && storage != TSR_STORAGE_I16)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "tile list: storage is %d, expected F32 or I16", (int)storage);
    tsr_tile_pool *pool = &tiles->pool, to = *pool;
    tsr_context *context = tiles->context;
    tsr_status status = TSR_OK;
    to.coded = storage == TSR_STORAGE_I16;
    if (to.coded == pool->coded) return TSR_OK;
    const int64_t values = (int64_t)pool->capacity << (3 * pool->log2_edge);
    const size_t before = (size_t)values * (size_t)tsr_pool_width(pool), after = (size_t)values * (size_t)tsr_pool_width(&to);
    const int buffers = pool->phi[2] ? 3 : 2, arrays = buffers + (pool->payload ? 1 : 0);
    const int64_t more = (int64_t)arrays * ((int64_t)after - (int64_t)before);
    if (tiles->memory_limit > 0 && tiles->bytes + more > tiles->memory_limit)
        TSR_FAIL(TSR_ERROR_CAPACITY, "tile list: %lld bytes are needed, the memory_limit is %lld", (long long)(tiles->bytes + more),
                 (long long)tiles->memory_limit);
    for (int b = 0; b < 3; b++) to.phi[b] = NULL;
    to.payload = NULL;
    for (int b = 0; b < buffers && status == TSR_OK; b++) {
        status = tsr_device_allocate(context, after, (void **)&to.phi[b]);
        if (status == TSR_OK) status = context->backend->tiles->recode(context->queue, pool, &to, b);
    }
    if (pool->payload && status == TSR_OK) { /* its client fills it anew */
        status = tsr_device_allocate(context, after, (void **)&to.payload);
        if (status == TSR_OK) status = context->backend->fill(context->queue, to.payload, 0, after);
    }
    tsr_tile_pool *spent = status == TSR_OK ? pool : &to; /* its arrays go */
    if (spent->payload) tsr_device_release(context, spent->payload, status == TSR_OK ? before : after);
    for (int b = 0; b < buffers; b++)
        if (spent->phi[b]) tsr_device_release(context, spent->phi[b], status == TSR_OK ? before : after);
    TSR_TRY(status);
    *pool = to;
    tiles->bytes += more;
    return TSR_OK;
}

/* ---- creation --------------------------------------------------------------------------------------------------------------------------- */

static tsr_status set_domain(tsr_tile_pool *pool, tsr_size3 size)
{
    const int64_t extents[3] = { size.x, size.y, size.z };
    for (int k = 0; k < 3; k++) {
        int64_t tiles = (extents[k] + (1 << pool->log2_edge) - 1) >> pool->log2_edge;
        if (extents[k] <= 0 || tiles >= TSR_KEY_BIAS || extents[k] > INT32_MAX / 2)
            TSR_FAIL(TSR_ERROR_ARGUMENT, "tile list: domain has %lld voxels along %c, expected 1 to %d", (long long)extents[k], "xyz"[k],
                     (TSR_KEY_BIAS - 1) << pool->log2_edge);
        pool->domain[k] = (int32_t)extents[k];
        pool->tiles[k] = (int32_t)tiles;
    }
    return TSR_OK;
}

double tsr_band_default(tsr_vec3 h, double voxels)
{
    const double smallest = fmin(h.x, fmin(h.y, h.z)), largest = fmax(h.x, fmax(h.y, h.z));
    return fmin(fmax(voxels * smallest, 2 * largest), 1000 * smallest);
}

tsr_vec3 tsr_band_spacing(tsr_vec3 h, tsr_size3 n)
{
    double smallest = 0;
    if (n.x != 1) smallest = h.x;
    if (n.y != 1 && !(smallest > 0 && smallest < h.y)) smallest = h.y;
    if (n.z != 1 && !(smallest > 0 && smallest < h.z)) smallest = h.z;
    if (!(smallest > 0)) return h; /* one voxel */
    return (tsr_vec3){ n.x == 1 ? smallest : h.x, n.y == 1 ? smallest : h.y, n.z == 1 ? smallest : h.z };
}

static int64_t domain_tiles(const tsr_tile_pool *pool) { return (int64_t)pool->tiles[0] * pool->tiles[1] * pool->tiles[2]; }

static tsr_status set_up(tsr_tiles *tiles, const tsr_tiles_options *o)
{
    tsr_tile_pool *pool = &tiles->pool;
    tsr_context *context = tiles->context;
    tsr_vec3 h = tsr_geometry_spacing(&tiles->geometry);
    const tsr_vec3 counted = tsr_band_spacing(h, o->domain);
    double smallest = fmin(counted.x, fmin(counted.y, counted.z)), band = o->band != 0 ? o->band : tsr_band_default(counted, 2.5);
    int32_t edge = o->edge ? o->edge : DEFAULT_EDGE;
    if (edge != 4 && edge != 8) TSR_FAIL(TSR_ERROR_ARGUMENT, "tile list: edge is %d, expected 4 or 8", o->edge);
    if (!(band >= smallest * (1 - 1e-6) && band <= 1000 * smallest)) /* a band that was rounded to float32 before is fine */
        TSR_FAIL(TSR_ERROR_ARGUMENT, "tile list: band is %g, expected 1 to 1000 voxels of %g", band, smallest);
    if (o->capacity < 0 || o->capacity > MOST_CAPACITY)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "tile list: capacity is %lld, expected 0 to %d", (long long)o->capacity, (int)MOST_CAPACITY);
    pool->log2_edge = edge == 8 ? 3 : 2;
    if (o->storage != TSR_STORAGE_F32 && o->storage != TSR_STORAGE_I16)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "tile list: storage is %d, expected F32 or I16", (int)o->storage);
    pool->coded = o->storage == TSR_STORAGE_I16;
    pool->guard = 1;
    pool->band = (float)band;
    pool->spacing[0] = (float)h.x;
    pool->spacing[1] = (float)h.y;
    pool->spacing[2] = (float)h.z;
    pool->bounded = o->domain.x != 0 || o->domain.y != 0 || o->domain.z != 0;
    if (pool->bounded) TSR_TRY(set_domain(pool, o->domain));
    TSR_TRY(tsr_tiles_check_key_bits(o->key_bits));
    if (o->key_bits == 32) TSR_TRY(tsr_tiles_key_box(pool, NULL, 0, pool->bounded ? "tile list: its domain" : "tile list", &pool->key_first));
    if (o->index != TSR_TILES_SORTED && o->index != TSR_TILES_PAGED)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "tile list: index is %d, expected SORTED or PAGED", (int)o->index);
    if (o->index == TSR_TILES_PAGED) {
        if (!pool->bounded) TSR_FAIL(TSR_ERROR_ARGUMENT, "tile list: a PAGED index needs a domain");
        TSR_TRY(tsr_device_allocate(context, (size_t)domain_tiles(pool) * sizeof(uint32_t), (void **)&pool->table));
    }
    TSR_TRY(tsr_device_allocate(context, sizeof *pool->state, (void **)&pool->state));
    pool->capacity = (int32_t)(o->capacity ? tsr_max64(o->capacity, 8) : FIRST_CAPACITY);
    tiles->wished = o->capacity;
    TSR_TRY(allocate_arrays(tiles, pool, 0, &tiles->scratch_words, &tiles->bytes));
    TSR_TRY(context->backend->tiles->clear(context->queue, pool, TSR_TILE_OUTSIDE));
    return TSR_OK;
}

tsr_status tsr_tiles_create(tsr_context *context, const tsr_geometry *geometry, const tsr_tiles_options *options, tsr_tiles **tiles)
{
    TSR_RETURNS(tiles);
    TSR_NEEDS(context);
    tsr_tiles_options own;
    tsr_status status;
    TSR_TRY(TSR_OPTIONS_TAKE(&own, options));
    if (geometry) TSR_TRY(tsr_geometry_check(geometry));
    tsr_tiles *t = (tsr_tiles *)calloc(1, sizeof *t);
    if (!t) TSR_FAIL(TSR_ERROR_MEMORY, "tile list: out of memory (%zu bytes asked for)", sizeof *t);
    t->context = context;
    t->geometry = geometry ? *geometry : tsr_geometry_make((tsr_vec3){ 1, 1, 1 }, (tsr_vec3){ 0, 0, 0 }, TSR_SPACE_NONE);
    t->memory_limit = own.memory_limit;
    TSR_TRY_GOTO(set_up(t, &own), fail);
    *tiles = t;
    return TSR_OK;
fail:
    tsr_tiles_destroy(&t);
    return status;
}

void tsr_tiles_destroy(tsr_tiles **tiles)
{
    if (!tiles || !*tiles) return;
    tsr_tiles *t = *tiles;
    *tiles = NULL;
    if (t->pool.key[0]) release_arrays(t->context, &t->pool, t->scratch_words);
    tsr_device_release(t->context, t->pool.state, sizeof *t->pool.state);
    if (t->pool.table) tsr_device_release(t->context, t->pool.table, (size_t)domain_tiles(&t->pool) * sizeof(uint32_t));
    free(t);
}

tsr_status tsr_tiles_read_state(const tsr_tiles *tiles, tsr_tile_state *state)
{
    TSR_TRY(tiles->context->backend->download(tiles->context->queue, state, tiles->pool.state, sizeof *state));
    return TSR_OK;
}

/* ---- management --------------------------------------------------------------------------------------------------------------------------- */

/* Room for what the last pass was short of, and some more. */
static tsr_status grow_for(tsr_tiles *tiles, const tsr_tile_state *state)
{
    int64_t needed = (int64_t)tiles->pool.capacity + state->shortage, wanted = needed + spare(needed);
    tsr_status status = tsr_tiles_reserve(tiles, wanted);
    if (status == TSR_ERROR_CAPACITY) status = tsr_tiles_reserve(tiles, needed); /* as much as is really needed */
    return status;
}

tsr_status tsr_tiles_manage(tsr_tiles *tiles)
{
    tsr_context *context = tiles->context;
    tsr_tile_state state;
    TSR_TRY(tsr_tiles_read_state(tiles, &state));
    for (;;) {
        if (state.shortage > 0) TSR_TRY(grow_for(tiles, &state));
        TSR_TRY(context->backend->tiles->manage(context->queue, &tiles->pool));
        TSR_TRY(tsr_tiles_read_state(tiles, &state));
        if (state.managed) break;
    }
    if (state.inside_absent < 0 && !tiles->pool.coded && !tiles->pool.fenced) { /* created in space that has no end, of which none is counted */
        tsr_tiles_parts parts;
        TSR_TRY(tsr_tiles_take_apart(tiles, &parts));
        const int64_t inside = parts.state.inside_absent;
        tsr_tiles_parts_free(&parts);
        TSR_TRY(context->backend->upload(context->queue, &tiles->pool.state->inside_absent, &inside, sizeof inside));
        TSR_TRY(context->backend->synchronize(context->queue));
    }
    if (!state.beyond) return TSR_OK;
    const int64_t none = 0;
    TSR_TRY(context->backend->upload(context->queue, &tiles->pool.state->beyond, &none, sizeof none));
    TSR_FAIL(TSR_ERROR_CAPACITY,
             "tile list: the surface has come to the limits of the tile coordinates (%d to %d along x, %d to %d along y, %d to %d along z)",
             tsr_pool_least(&tiles->pool, 0), tsr_pool_most(&tiles->pool, 0), tsr_pool_least(&tiles->pool, 1), tsr_pool_most(&tiles->pool, 1),
             tsr_pool_least(&tiles->pool, 2), tsr_pool_most(&tiles->pool, 2));
}

/* ---- painting ------------------------------------------------------------------------------------------------------------------------------ */

static int key_order(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

int64_t tsr_keys_sort_unique(uint64_t *keys, int64_t count)
{
    int64_t kept = 0;
    if (count > 0) qsort(keys, (size_t)count, sizeof *keys, key_order); /* no keys may come as NULL */
    for (int64_t i = 0; i < count; i++)
        if (i == 0 || keys[i] != keys[kept - 1]) keys[kept++] = keys[i];
    return kept;
}

/* Keys of the tiles that a sphere and the band around it meet, appended to *keys. */
static tsr_status sphere_keys(const tsr_tile_pool *pool, const tsr_tiles_sphere *s, uint64_t **keys, int64_t *count, int64_t *room)
{
    const double centre[3] = { (double)s->x, (double)s->y, (double)s->z };
    double reach = (double)s->radius + (double)pool->band;
    int32_t low[3], high[3], edge = 1 << pool->log2_edge;
    for (int k = 0; k < 3; k++) {
        double h = (double)pool->spacing[k] * edge, a = floor((centre[k] - reach) / h) - 1, b = floor((centre[k] + reach) / h) + 1;
        double first = tsr_pool_least(pool, k), last = tsr_pool_most(pool, k);
        if (!pool->bounded && (a < first || b > last))
            TSR_FAIL(TSR_ERROR_ARGUMENT, "tile list: a sphere reaches beyond the limits of the tile coordinates, %.0f to %.0f along %c", first, last,
                     "xyz"[k]);
        low[k] = (int32_t)fmax(a, first);
        high[k] = (int32_t)fmin(b, last);
    }
    for (int32_t z = low[2]; z <= high[2]; z++)
        for (int32_t y = low[1]; y <= high[1]; y++)
            for (int32_t x = low[0]; x <= high[0]; x++) {
                const int32_t t[3] = { x, y, z };
                double nearest = 0;
                for (int k = 0; k < 3; k++) { /* distance of the centre from the tile's box */
                    double a = (double)t[k] * edge * (double)pool->spacing[k], b = a + (edge - 1) * (double)pool->spacing[k];
                    double d = centre[k] < a ? a - centre[k] : centre[k] > b ? centre[k] - b : 0;
                    nearest += d * d;
                }
                if (nearest > reach * reach) continue;
                if (*count == *room) {
                    int64_t more = 2 * *room + 1024;
                    uint64_t *grown = (uint64_t *)realloc(*keys, (size_t)more * sizeof **keys);
                    if (!grown) TSR_FAIL(TSR_ERROR_MEMORY, "tile list: out of memory for the tiles of a sphere");
                    *keys = grown;
                    *room = more;
                }
                (*keys)[(*count)++] = tsr_key_make(x, y, z);
            }
    return TSR_OK;
}

static tsr_status paint_with(tsr_tiles *tiles, const tsr_tiles_sphere *spheres, int32_t count, const uint64_t *keys, int64_t key_count, void *device)
{
    tsr_context *context = tiles->context;
    const tsr_tiles_ops *ops = context->backend->tiles;
    tsr_tile_state state;
    uint64_t *device_keys = (uint64_t *)device;
    tsr_tiles_sphere *device_spheres = (tsr_tiles_sphere *)(void *)(device_keys + key_count);
    TSR_TRY(context->backend->upload(context->queue, device_keys, keys, (size_t)key_count * sizeof *keys));
    TSR_TRY(context->backend->upload(context->queue, device_spheres, spheres, (size_t)count * sizeof *spheres));
    TSR_TRY(tsr_tiles_read_state(tiles, &state));
    TSR_TRY(tsr_tiles_reserve(tiles, state.count + key_count + TSR_TILE_FIRST));
    TSR_TRY(ops->insert(context->queue, &tiles->pool, device_keys, (int32_t)key_count));
    TSR_TRY(ops->paint(context->queue, &tiles->pool, device_spheres, count));
    TSR_TRY(tsr_tiles_manage(tiles));
    return TSR_OK;
}

tsr_status tsr_tiles_paint(tsr_tiles *tiles, const tsr_tiles_sphere *spheres, int32_t count)
{
    TSR_TRY(tsr_tiles_need_f32(tiles, "spheres"));
    uint64_t *keys = NULL;
    int64_t key_count = 0, room = 0;
    void *device = NULL;
    tsr_status status = TSR_OK;
    for (int32_t i = 0; i < count && status == TSR_OK; i++) {
        status = sphere_keys(&tiles->pool, &spheres[i], &keys, &key_count, &room);
        if (status == TSR_OK && (i == count - 1 || key_count > 1 << 20)) { /* sorted and unique, now and then to bound the memory */
            key_count = tsr_keys_sort_unique(keys, key_count);
        }
    }
    if (status == TSR_OK && key_count > MOST_CAPACITY / 2)
        status = TSR_FAILED(TSR_ERROR_CAPACITY, "tile list: the spheres meet %lld tiles", (long long)key_count);
    if (status == TSR_OK && key_count > 0) {
        size_t bytes = (size_t)key_count * sizeof *keys + (size_t)count * sizeof *spheres;
        status = tsr_device_allocate(tiles->context, bytes, &device);
        if (status == TSR_OK) status = paint_with(tiles, spheres, count, keys, key_count, device);
        tsr_device_release(tiles->context, device, bytes);
    }
    free(keys);
    return status;
}

/* ---- dense fields ----------------------------------------------------------------------------------------------------------------------------- */

/* Loading a box into an unbounded list needs scratch for the tiles of the box. */
static tsr_status reserve_scratch(tsr_tiles *tiles, const tsr_tile_pool *box)
{
    tsr_context *context = tiles->context;
    tsr_tile_pool sized = *box;
    sized.bounded = 1;
    sized.capacity = tiles->pool.capacity;
    const int64_t words = context->backend->tiles->scratch_words(&sized), word = (int64_t)sizeof(uint32_t);
    void *larger;
    if (words <= tiles->scratch_words) return TSR_OK;
    TSR_TRY(tsr_device_allocate(context, (size_t)(words * word), &larger));
    tsr_device_release(context, tiles->pool.scratch, (size_t)(tiles->scratch_words * word));
    tiles->pool.scratch = (uint32_t *)larger;
    tiles->bytes += (words - tiles->scratch_words) * word;
    tiles->scratch_words = words;
    return TSR_OK;
}

/* What loading needs to know before anything changes: the number of tiles and the constant voxels. The list keeps its state. */
static tsr_status classify(tsr_tiles *tiles, const tsr_volume *field, const tsr_tile_pool *pool, uint8_t *codes, int64_t *first_bad,
                           tsr_tile_state *found)
{
    tsr_context *context = tiles->context;
    tsr_tile_state before;
    int64_t bad;
    TSR_TRY(tsr_tiles_read_state(tiles, &before));
    TSR_TRY(context->backend->tiles->load_classify(context->queue, pool, (const float *)field->data, codes, first_bad));
    TSR_TRY(context->backend->download(context->queue, &bad, first_bad, sizeof bad));
    TSR_TRY(tsr_tiles_read_state(tiles, found));
    TSR_TRY(context->backend->upload(context->queue, tiles->pool.state, &before, sizeof before));
    if (bad != INT64_MAX)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "field: voxel (%lld, %lld, %lld) is not finite", (long long)(bad % field->size.x),
                 (long long)(bad / field->size.x % field->size.y), (long long)(bad / field->size.x / field->size.y));
    TSR_TRY(tsr_tiles_reserve(tiles, (int64_t)found->count + spare(found->count) + TSR_TILE_FIRST + 64));
    TSR_TRY(reserve_scratch(tiles, pool));
    return TSR_OK;
}

/* The old content goes here. */
static tsr_status fill(tsr_tiles *tiles, const tsr_volume *field, const tsr_tile_pool *box, const uint8_t *codes, const tsr_tile_state *found)
{
    tsr_context *context = tiles->context;
    tsr_tile_state state;
    TSR_TRY(context->backend->tiles->clear(context->queue, &tiles->pool, TSR_TILE_OUTSIDE));
    tiles->pool.key_first = box->key_first;
    tsr_tile_pool pool = tiles->pool;
    memcpy(pool.domain, box->domain, sizeof pool.domain);
    memcpy(pool.tiles, box->tiles, sizeof pool.tiles);
    TSR_TRY(tsr_tiles_read_state(tiles, &state));
    state.count = found->count;
    state.inside_absent = found->inside_absent;
    TSR_TRY(context->backend->upload(context->queue, tiles->pool.state, &state, sizeof state));
    TSR_TRY(context->backend->tiles->load_fill(context->queue, &pool, (const float *)field->data, codes));
    TSR_TRY(tsr_tiles_manage(tiles));
    return TSR_OK;
}

static tsr_status load(tsr_tiles *tiles, const tsr_volume *field)
{
    tsr_context *context = tiles->context;
    TSR_TRY(tsr_volume_require(context, field, "field"));
    if (field->dtype != TSR_F32) TSR_FAIL(TSR_ERROR_ARGUMENT, "field: element type %s, expected f32", tsr_dtype_name(field->dtype));
    tsr_tile_pool pool = tiles->pool;
    if (pool.bounded && (field->size.x != pool.domain[0] || field->size.y != pool.domain[1] || field->size.z != pool.domain[2]))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "field: %lld x %lld x %lld voxels, the domain of the tile list has %d x %d x %d", (long long)field->size.x,
                 (long long)field->size.y, (long long)field->size.z, pool.domain[0], pool.domain[1], pool.domain[2]);
    if (!pool.bounded) { /* the box the field covers */
        TSR_TRY(set_domain(&pool, field->size));
        const uint64_t corners[2] = { tsr_key_make(0, 0, 0), tsr_key_make(pool.tiles[0] - 1, pool.tiles[1] - 1, pool.tiles[2] - 1) };
        if (pool.key_first) TSR_TRY(tsr_tiles_key_box(&pool, corners, 2, "field", &pool.key_first));
    }
    size_t bytes = ((size_t)domain_tiles(&pool) + 7) / 8 * 8 + sizeof(int64_t);
    void *memory;
    TSR_TRY(tsr_device_allocate(context, bytes, &memory));
    int64_t *first_bad = (int64_t *)memory;
    uint8_t *codes = (uint8_t *)(first_bad + 1);
    tsr_tile_state found;
    tsr_status status = classify(tiles, field, &pool, codes, first_bad, &found);
    if (status == TSR_OK) {
        status = fill(tiles, field, &pool, codes, &found);
        if (status != TSR_OK) { /* half a list is worse than none */
            tsr_status cleared = context->backend->tiles->clear(context->queue, &tiles->pool, TSR_TILE_OUTSIDE);
            (void)cleared;
        }
    }
    tsr_device_release(context, memory, bytes);
    TSR_TRY(status);
    return TSR_OK;
}

tsr_status tsr_tiles_load(tsr_tiles *tiles, const tsr_volume *field)
{
    TSR_NEEDS(tiles, field);
    const int coded = tiles->pool.coded;
    if (coded) TSR_TRY(tsr_tiles_set_storage(tiles, TSR_STORAGE_F32));
    tsr_status status = load(tiles, field);
    if (coded) { /* also after a failure; a list that cannot be narrowed for want of memory stays a good one in F32, as tiles.h says */
        tsr_status back = tsr_tiles_set_storage(tiles, TSR_STORAGE_I16);
        if (status == TSR_OK) status = back;
    }
    TSR_TRY(status);
    return TSR_OK;
}

tsr_status tsr_tiles_store(const tsr_tiles *tiles, tsr_volume *volume)
{
    TSR_NEEDS(tiles, volume);
    TSR_TRY(tsr_volume_require(tiles->context, volume, "volume"));
    if (volume->dtype != TSR_F32 && volume->dtype != TSR_U8)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "volume: element type %s, expected f32 (field) or u8 (mask)", tsr_dtype_name(volume->dtype));
    const int32_t first[3] = { 0, 0, 0 };
    const int64_t size[3] = { volume->size.x, volume->size.y, volume->size.z };
    TSR_TRY(tiles->context->backend->tiles->store(tiles->context->queue, &tiles->pool, first, size,
                                                  volume->dtype == TSR_F32 ? (float *)volume->data : NULL,
                                                  volume->dtype == TSR_U8 ? (uint8_t *)volume->data : NULL));
    return TSR_OK;
}

/* ---- questions ---------------------------------------------------------------------------------------------------------------------------------- */

tsr_status tsr_tiles_describe(const tsr_tiles *tiles, tsr_tiles_info *info)
{
    TSR_NEEDS(tiles, info);
    tsr_tile_state state;
    tsr_tiles_info own = TSR_TILES_INFO;
    TSR_TRY(TSR_STRUCT_GIVE(info, &own));
    TSR_TRY(tsr_tiles_read_state(tiles, &state));
    int64_t fixed = (int64_t)sizeof state + (tiles->pool.table ? domain_tiles(&tiles->pool) * (int64_t)sizeof(uint32_t) : 0);
    own = (tsr_tiles_info){ .count = state.count,
                              .capacity = tiles->pool.capacity,
                              .edge = 1 << tiles->pool.log2_edge,
                              .band = (double)tiles->pool.band,
                              .storage = tiles->pool.coded ? TSR_STORAGE_I16 : TSR_STORAGE_F32,
                              .key_bits = 8 * tsr_pool_key_width(&tiles->pool),
                              .device_bytes = tiles->bytes + fixed,
                              .active_voxels = state.active_voxels,
                              .inside_voxels = state.inside_voxels + state.inside_absent };
    return TSR_STRUCT_GIVE(info, &own);
}

const tsr_geometry *tsr_tiles_geometry(const tsr_tiles *tiles) { return &tiles->geometry; }
tsr_device tsr_tiles_device(const tsr_tiles *tiles) { return tiles ? tiles->context->device : (tsr_device){ 0 }; }

tsr_status tsr_tiles_copy(const tsr_tiles *tiles, tsr_context *context, tsr_tiles **copy)
{
    TSR_RETURNS(copy);
    TSR_NEEDS(tiles, context);
    const tsr_tile_pool *from = &tiles->pool;
    tsr_tiles_options options = TSR_TILES_OPTIONS;
    options.edge = 1 << from->log2_edge;
    options.index = from->table ? TSR_TILES_PAGED : TSR_TILES_SORTED;
    if (from->bounded) options.domain = (tsr_size3){ from->domain[0], from->domain[1], from->domain[2] };
    options.band = (double)from->band;
    options.capacity = from->capacity;
    options.memory_limit = tiles->memory_limit;
    options.storage = from->coded ? TSR_STORAGE_I16 : TSR_STORAGE_F32;
    options.key_bits = 8 * tsr_pool_key_width(from);
    tsr_status status;
    struct array source[MOST_ARRAYS], target[MOST_ARRAYS];
    TSR_TRY(tsr_tiles_create(context, &tiles->geometry, &options, copy));
    tsr_tile_pool *to = &(*copy)->pool;
    to->band = from->band;
    to->key_first = from->key_first;
    if (from->payload) TSR_TRY_GOTO(tsr_tiles_need_payload(*copy), fail);
    tsr_tile_pool view = *from;
    int count = pool_arrays(&view, 0, optional_of(&view) & WITH_PAYLOAD, source);
    pool_arrays(to, 0, optional_of(to) & WITH_PAYLOAD, target);
    for (int i = 0; i < count; i++)
        if (source[i].copied) TSR_TRY_GOTO(tsr_device_move(context, *target[i].pointer, tiles->context, *source[i].pointer, source[i].bytes), fail);
    TSR_TRY_GOTO(tsr_device_move(context, to->state, tiles->context, from->state, sizeof *from->state), fail);
    if (from->table)
        TSR_TRY_GOTO(tsr_device_move(context, to->table, tiles->context, from->table, (size_t)domain_tiles(from) * sizeof(uint32_t)), fail);
    return TSR_OK;
fail:
    tsr_tiles_destroy(copy);
    return status;
}

/* Codes in the first half of a page become its values, from the last on. */
static void decode_page(const tsr_tile_pool *pool, float *page, size_t voxels)
{
    const tsr_coding coding = tsr_coding_of(pool->band);
    for (size_t i = voxels; i-- > 0;) {
        int16_t code;
        memcpy(&code, (const char *)page + i * sizeof code, sizeof code);
        page[i] = tsr_code_value(&coding, code);
    }
}

tsr_status tsr_tiles_download(const tsr_tiles *tiles, int32_t (*coordinates)[3], float *values)
{
    TSR_NEEDS(tiles);
    tsr_tile_state state;
    const tsr_tile_pool *pool = &tiles->pool;
    tsr_context *context = tiles->context;
    TSR_TRY(tsr_tiles_read_state(tiles, &state));
    size_t n = (size_t)state.count, tile = (size_t)1 << (3 * pool->log2_edge);
    if (n == 0) return TSR_OK;
    uint64_t *keys = (uint64_t *)malloc(n * sizeof *keys);
    uint32_t *ids = (uint32_t *)malloc(n * sizeof *ids);
    tsr_status status = keys && ids ? TSR_OK : TSR_FAILED(TSR_ERROR_MEMORY, "tile list: out of memory to download %zu tiles", n);
    if (status == TSR_OK) status = tsr_tiles_get_keys(tiles, state.list, state.count, keys);
    if (status == TSR_OK) status = context->backend->download(context->queue, ids, pool->id[state.list], n * sizeof *ids);
    for (size_t i = 0; i < n && status == TSR_OK; i++) {
        if (coordinates) {
            coordinates[i][0] = tsr_key_x(keys[i]);
            coordinates[i][1] = tsr_key_y(keys[i]);
            coordinates[i][2] = tsr_key_z(keys[i]);
        }
        if (values) {
            const size_t bytes = tile * (size_t)tsr_pool_width(pool);
            status = context->backend->download(context->queue, values + i * tile, (const char *)pool->phi[state.phi] + ids[i] * bytes, bytes);
        }
        if (values && pool->coded && status == TSR_OK) decode_page(pool, values + i * tile, tile);
    }
    free(keys);
    free(ids);
    return status;
}
