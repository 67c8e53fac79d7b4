/* tiles/tiles_build.c: building a list from keys, signs and values; taking one apart. Linear in the tiles. */
#include "tiles/tiles_build.h"

#include <stdlib.h>
#include <string.h>

#include "core/parallel.h"
#include "tiles/tiles_absent.h"

enum { GRAIN = 1024, COPY_TILES = 4096 };

int tsr_tiles_host_readable(const tsr_tiles *tiles) { return tiles->context->device.kind == TSR_DEVICE_CPU; }

/* ---- memory that is the pool's own where the host can write it, else a copy on its way there ------------------------------------------- */

struct staged {
    void *host, *device;
    size_t bytes;
};

static tsr_status stage(const tsr_tiles *tiles, void *device, size_t bytes, struct staged *s)
{
    *s = (struct staged){ device, device, bytes };
    if (tsr_tiles_host_readable(tiles) || bytes == 0) return TSR_OK;
    s->host = malloc(bytes);
    if (!s->host) TSR_FAIL(TSR_ERROR_MEMORY, "tile list: out of host memory for %zu bytes", bytes);
    return TSR_OK;
}

static tsr_status unstage(const tsr_tiles *tiles, struct staged *s, tsr_status status)
{
    if (s->host == s->device) return status;
    if (status == TSR_OK) status = tiles->context->backend->upload(tiles->context->queue, s->device, s->host, s->bytes);
    if (status == TSR_OK) status = tiles->context->backend->synchronize(tiles->context->queue); /* the copy is about to go */
    free(s->host);
    s->host = s->device = NULL;
    return status;
}

/* ---- checks ------------------------------------------------------------------------------------------------------------------------------ */

static tsr_status check_keys(const tsr_tile_pool *pool, const tsr_tiles_frame *f, const char *name)
{
    for (int64_t i = 0; i < f->count; i++) {
        if (f->keys[i] >> 63 || !tsr_tile_allowed(pool, f->keys[i]))
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: key of tile %lld is (%d, %d, %d), expected one inside the %s", name, (long long)i, tsr_key_x(f->keys[i]),
                     tsr_key_y(f->keys[i]), tsr_key_z(f->keys[i]), pool->bounded ? "domain" : "limits of the coordinates");
        if (i && f->keys[i] <= f->keys[i - 1])
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: keys of tiles %lld and %lld are not in increasing order", name, (long long)i - 1, (long long)i);
    }
    return TSR_OK;
}

/* ---- neighbours -------------------------------------------------------------------------------------------------------------------------- */

struct rows {
    const tsr_tiles_frame *frame;
    uint32_t *rows; /* of id 2 and the following */
    int64_t wrong;  /* first tile whose signs name a stored neighbour */
};

/* Nine monotone pointers, one for each row of three neighbours (docs/theory/tiles.md 3). */
static void rows_range(void *user, int64_t begin, int64_t end, int worker)
{
    struct rows *r = (struct rows *)user;
    const uint64_t *keys = r->frame->keys;
    const int32_t count = (int32_t)r->frame->count;
    int32_t at[9];
    int64_t wrong = INT64_MAX;
    (void)worker;
    for (int row = 0; row < 9; row++) at[row] = tsr_key_lower_bound(keys, count, keys[begin] + (uint64_t)tsr_key_offset(3 * row));
    for (int64_t i = begin; i < end; i++) {
        uint32_t *to = r->rows + i * TSR_NEIGHBOUR_ROW, inside = r->frame->inside[i], stored = 0;
        for (int row = 0; row < 9; row++) {
            uint64_t first = keys[i] + (uint64_t)tsr_key_offset(3 * row);
            while (at[row] < count && keys[at[row]] < first) at[row]++;
            int32_t q = at[row];
            for (int x = 0; x < 3; x++) {
                int d = 3 * row + x;
                if (q < count && keys[q] == first + (uint64_t)x) {
                    to[d] = (uint32_t)(TSR_TILE_FIRST + q++);
                    stored |= 1u << d;
                } else {
                    to[d] = inside >> d & 1u ? TSR_TILE_INSIDE : TSR_TILE_OUTSIDE;
                }
            }
        }
        for (int d = TSR_TILE_DIRECTIONS; d < TSR_NEIGHBOUR_ROW; d++) to[d] = 0;
        if ((inside & stored || inside >> TSR_TILE_DIRECTIONS) && i < wrong) wrong = i;
    }
    for (int64_t old = __atomic_load_n(&r->wrong, __ATOMIC_RELAXED); wrong < old;)
        if (__atomic_compare_exchange_n(&r->wrong, &old, wrong, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) break;
}

/* ---- inside voxels of absent tiles --------------------------------------------------------------------------------------------------------- */

struct box {
    const tsr_tile_pool *pool;
    const uint64_t *keys;
    const uint32_t *ids;
    int32_t count, background;
};

/* Inside voxels of the space without tiles; in unbounded space only what lies between two tiles of a row is enclosed. */
static int64_t count_inside(const struct box *b)
{
    const tsr_tile_pool *pool = b->pool;
    int64_t voxels = 0;
    if (b->count == 0) return pool->bounded && b->background == TSR_TILE_INSIDE ? (int64_t)pool->domain[0] * pool->domain[1] * pool->domain[2] : 0;
    for (int32_t i = 0; i < b->count; i++) voxels += tsr_absent_inside(pool, tsr_keys_wide(b->keys), b->ids, b->count, b->background, i);
    return voxels;
}

int64_t tsr_tiles_count_absent(const tsr_tile_pool *pool, const tsr_tiles_parts *parts, const uint32_t *rows)
{
    tsr_tile_pool view = *pool;
    view.neighbours = (uint32_t *)(uintptr_t)rows;
    view.table = NULL;
    const struct box box = { &view, parts->keys, parts->ids, (int32_t)parts->count, parts->state.background };
    return count_inside(&box);
}

/* ---- page table ----------------------------------------------------------------------------------------------------------------------------- */

/* Stored tiles and what they say of their neighbours; what is left has no stored neighbour, so it is the constant of the cell before it. */
static void fill_table(const tsr_tile_pool *pool, const struct box *b, uint32_t *table)
{
    const int64_t nx = pool->tiles[0], ny = pool->tiles[1], n = nx * ny * pool->tiles[2];
    uint32_t before = (uint32_t)b->background;
    memset(table, 0xff, (size_t)n * sizeof *table);
    for (int32_t i = 0; i < b->count; i++) {
        const uint32_t *row = pool->neighbours + (int64_t)b->ids[i] * TSR_NEIGHBOUR_ROW;
        for (int d = 0; d < TSR_TILE_DIRECTIONS; d++) {
            uint64_t key = b->keys[i] + (uint64_t)tsr_key_offset(d);
            if (tsr_tile_allowed(pool, key)) table[tsr_tile_linear(pool, key)] = row[d];
        }
    }
    if (b->count && n && table[0] == UINT32_MAX) {
        tsr_tile_pool without = *pool;
        without.table = NULL;
        before = tsr_tile_find(&without, tsr_keys_wide(b->keys), b->ids, b->count, b->background, tsr_key_make(0, 0, 0));
    }
    for (int64_t i = 0; i < n; i++) {
        if (table[i] == UINT32_MAX) table[i] = i % nx ? table[i - 1] : i / nx % ny ? table[i - nx] : i ? table[i - nx * ny] : before;
    }
}

/* ---- putting together -------------------------------------------------------------------------------------------------------------------------- */

static tsr_status create(tsr_context *context, const tsr_tiles_frame *f, const char *name, tsr_tiles **tiles)
{
    tsr_tiles_options options = f->options;
    options.struct_size = sizeof options;
    options.capacity = f->count + f->count / 4 + TSR_TILE_FIRST + 64;
    tsr_status status = tsr_tiles_create(context, &f->geometry, &options, tiles);
    if (status == TSR_ERROR_CAPACITY) { /* as much as is really needed */
        options.capacity = f->count + TSR_TILE_FIRST;
        status = tsr_tiles_create(context, &f->geometry, &options, tiles);
    }
    if (status == TSR_ERROR_ARGUMENT) return TSR_FAILED(TSR_ERROR_FORMAT, "%s: %s", name, tsr_error_message());
    return status;
}

static tsr_status lay_out(tsr_tiles *tiles, const tsr_tiles_frame *f, const char *name, uint32_t *ids, uint32_t *rows)
{
    tsr_context *context = tiles->context;
    tsr_tile_pool pool = tiles->pool; /* a host view: only what the functions above read */
    const tsr_backend *backend = context->backend;
    const size_t n = (size_t)f->count;
    struct rows job = { f, rows + TSR_TILE_FIRST * TSR_NEIGHBOUR_ROW, INT64_MAX };
    if (n) tsr_parallel(context->threads, f->count, GRAIN, rows_range, &job);
    if (job.wrong != INT64_MAX) TSR_FAIL(TSR_ERROR_FORMAT, "%s: signs of tile %lld name a neighbour that is stored", name, (long long)job.wrong);
    pool.neighbours = rows;
    pool.table = NULL;
    struct box box = { &pool, f->keys, ids, (int32_t)f->count, f->background };
    tsr_tile_state state;
    TSR_TRY(tsr_tiles_read_state(tiles, &state));
    state.count = (int32_t)f->count;
    state.free_count = tiles->pool.capacity - TSR_TILE_FIRST - state.count;
    state.background = f->background;
    state.inside_absent = f->inside_absent >= 0 ? f->inside_absent : count_inside(&box);
    if (tiles->pool.table) {
        struct staged table;
        TSR_TRY(stage(tiles, tiles->pool.table, (size_t)pool.tiles[0] * (size_t)pool.tiles[1] * (size_t)pool.tiles[2] * sizeof(uint32_t), &table));
        fill_table(&pool, &box, (uint32_t *)table.host);
        TSR_TRY(unstage(tiles, &table, TSR_OK));
    }
    TSR_TRY(tsr_tiles_put_keys(tiles, f->keys, f->count));
    TSR_TRY(backend->upload(context->queue, tiles->pool.id[0], ids, n * sizeof *ids));
    TSR_TRY(backend->upload(context->queue, tiles->pool.state, &state, sizeof state));
    TSR_TRY(backend->synchronize(context->queue));
    return TSR_OK;
}

tsr_status tsr_tiles_begin(tsr_context *context, const tsr_tiles_frame *f, const char *name, tsr_tiles **tiles)
{
    tsr_status status;
    struct staged rows = { 0 };
    uint32_t *ids = NULL;
    *tiles = NULL;
    if (f->count < 0 || f->count > 1 << 29) TSR_FAIL(TSR_ERROR_CAPACITY, "%s: %lld tiles, expected at most %d", name, (long long)f->count, 1 << 29);
    TSR_TRY(create(context, f, name, tiles));
    TSR_TRY_GOTO(tsr_tiles_place_box(*tiles, f->keys, f->count, name), fail);
    TSR_TRY_GOTO(check_keys(&(*tiles)->pool, f, name), fail);
    ids = (uint32_t *)malloc(((size_t)f->count + 1) * sizeof *ids);
    if (!ids) TSR_FAIL_GOTO(TSR_ERROR_MEMORY, fail, "%s: out of memory for %lld tiles", name, (long long)f->count);
    for (int64_t i = 0; i < f->count; i++) ids[i] = (uint32_t)(TSR_TILE_FIRST + i);
    TSR_TRY_GOTO(stage(*tiles, (*tiles)->pool.neighbours, ((size_t)f->count + TSR_TILE_FIRST) * TSR_NEIGHBOUR_ROW * sizeof(uint32_t), &rows), fail);
    for (uint32_t i = 0; i < TSR_TILE_FIRST * TSR_NEIGHBOUR_ROW; i++) ((uint32_t *)rows.host)[i] = i / TSR_NEIGHBOUR_ROW; /* as clear leaves them */
    status = lay_out(*tiles, f, name, ids, (uint32_t *)rows.host);
    TSR_TRY_GOTO(unstage(*tiles, &rows, status), fail);
    free(ids);
    return TSR_OK;
fail:
    free(ids);
    tsr_tiles_destroy(tiles);
    return status;
}

float *tsr_tiles_direct(const tsr_tiles *tiles, int64_t first)
{
    return tsr_tiles_host_readable(tiles) ? tiles->pool.phi[0] + ((first + TSR_TILE_FIRST) << (3 * tiles->pool.log2_edge)) : NULL;
}

tsr_status tsr_tiles_put(tsr_tiles *tiles, int64_t first, int64_t count, const float *values)
{
    const size_t at = (size_t)(first + TSR_TILE_FIRST) << (3 * tiles->pool.log2_edge), bytes = ((size_t)count * sizeof *values)
                                                                                               << (3 * tiles->pool.log2_edge);
    for (int b = 0; b < 2; b++) TSR_TRY(tiles->context->backend->upload(tiles->context->queue, tiles->pool.phi[b] + at, values, bytes));
    return TSR_OK;
}

tsr_status tsr_tiles_complete(tsr_tiles *tiles, int manage)
{
    TSR_TRY(tiles->context->backend->tiles->refresh(tiles->context->queue, &tiles->pool));
    if (manage) TSR_TRY(tsr_tiles_manage(tiles));
    TSR_TRY(tiles->context->backend->synchronize(tiles->context->queue));
    return TSR_OK;
}

/* ---- taking apart --------------------------------------------------------------------------------------------------------------------------------- */

void tsr_tiles_parts_free(tsr_tiles_parts *parts)
{
    free(parts->keys);
    free(parts->ids);
    free(parts->inside);
    *parts = (tsr_tiles_parts){ 0 };
}

struct signs {
    const tsr_tiles_parts *parts;
    const uint32_t *rows;
};

static void signs_range(void *user, int64_t begin, int64_t end, int worker)
{
    const struct signs *s = (const struct signs *)user;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        const uint32_t *row = s->rows + (int64_t)s->parts->ids[i] * TSR_NEIGHBOUR_ROW;
        uint32_t word = 0;
        for (int d = 0; d < TSR_TILE_DIRECTIONS; d++) word |= (uint32_t)(row[d] == TSR_TILE_INSIDE) << d;
        s->parts->inside[i] = word;
    }
}

tsr_status tsr_tiles_take_apart(const tsr_tiles *tiles, tsr_tiles_parts *parts)
{
    const tsr_tile_pool *pool = &tiles->pool;
    tsr_context *context = tiles->context;
    tsr_status status;
    uint32_t *copy = NULL;
    *parts = (tsr_tiles_parts){ 0 };
    TSR_TRY(tsr_tiles_need_f32(tiles, "tile list"));
    TSR_TRY(tsr_tiles_read_state(tiles, &parts->state));
    const size_t n = (size_t)parts->state.count;
    parts->count = parts->state.count;
    parts->keys = (uint64_t *)malloc((n + 1) * sizeof *parts->keys);
    parts->ids = (uint32_t *)malloc((n + 1) * sizeof *parts->ids);
    parts->inside = (uint32_t *)malloc((n + 1) * sizeof *parts->inside);
    if (!parts->keys || !parts->ids || !parts->inside) TSR_FAIL_GOTO(TSR_ERROR_MEMORY, fail, "tile list: out of memory to take %zu tiles apart", n);
    if (n) {
        uint32_t most = 0;
        TSR_TRY_GOTO(tsr_tiles_get_keys(tiles, parts->state.list, parts->count, parts->keys), fail);
        TSR_TRY_GOTO(context->backend->download(context->queue, parts->ids, pool->id[parts->state.list], n * sizeof *parts->ids), fail);
        const uint32_t *rows = pool->neighbours;
        if (!tsr_tiles_host_readable(tiles)) {
            for (size_t i = 0; i < n; i++) most = parts->ids[i] > most ? parts->ids[i] : most;
            const size_t bytes = ((size_t)most + 1) * TSR_NEIGHBOUR_ROW * sizeof *rows;
            copy = (uint32_t *)malloc(bytes);
            if (!copy) TSR_FAIL_GOTO(TSR_ERROR_MEMORY, fail, "tile list: out of memory for %zu bytes", bytes);
            TSR_TRY_GOTO(context->backend->download(context->queue, copy, pool->neighbours, bytes), fail);
            rows = copy;
        }
        struct signs job = { parts, rows };
        tsr_parallel(context->threads, parts->count, GRAIN, signs_range, &job);
        if (parts->state.inside_absent < 0) {
            TSR_TRY_GOTO(tsr_tiles_check_signs(pool, parts, "tile list"), fail);
            parts->state.inside_absent = tsr_tiles_count_absent(pool, parts, rows);
        }
        free(copy);
    }
    return TSR_OK;
fail:
    free(copy);
    tsr_tiles_parts_free(parts);
    return status;
}

tsr_status tsr_tiles_get(const tsr_tiles *tiles, const tsr_tiles_parts *parts, int64_t first, int64_t count, float *memory, const float **tile)
{
    const int shift = 3 * tiles->pool.log2_edge;
    const float *phi = tiles->pool.phi[parts->state.phi];
    const uint32_t *ids = parts->ids + first;
    if (tsr_tiles_host_readable(tiles)) {
        for (int64_t i = 0; i < count; i++) tile[i] = phi + ((int64_t)ids[i] << shift);
        return TSR_OK;
    }
    for (int64_t i = 0; i < count;) { /* runs of ids one after another are one copy */
        int64_t run = 1;
        while (i + run < count && run < COPY_TILES && ids[i + run] == ids[i] + (uint32_t)run) run++;
        TSR_TRY(tiles->context->backend->download(tiles->context->queue, memory + (i << shift), phi + ((int64_t)ids[i] << shift),
                                                  ((size_t)run * sizeof *memory) << shift));
        for (int64_t k = 0; k < run; k++) tile[i + k] = memory + ((i + k) << shift);
        i += run;
    }
    return TSR_OK;
}

/* ---- the public way in ------------------------------------------------------------------------------------------------------------------------------ */

/* The sign of the voxel of the tile that is nearest to direction d: what an absent neighbour there is, as the field does not jump. */
static uint32_t signs_of_values(const float *values, int32_t edge)
{
    uint32_t word = 0;
    for (int d = 0; d < TSR_TILE_DIRECTIONS; d++) {
        const int32_t step[3] = { tsr_direction_x(d), tsr_direction_y(d), tsr_direction_z(d) };
        int32_t at[3];
        for (int k = 0; k < 3; k++) at[k] = step[k] < 0 ? 0 : step[k] > 0 ? edge - 1 : edge / 2;
        word |= (uint32_t)(values[(at[2] * edge + at[1]) * edge + at[0]] < 0.0f) << d;
    }
    return word;
}

static tsr_status keys_and_signs(const tsr_tiles_contents *c, int32_t edge, uint64_t *keys, uint32_t *inside)
{
    const int64_t voxels = (int64_t)edge * edge * edge;
    for (int64_t i = 0; i < c->count; i++) {
        const int32_t *t = c->coordinates[i];
        for (int k = 0; k < 3; k++)
            if (t[k] <= -TSR_KEY_BIAS || t[k] >= TSR_KEY_BIAS - 1)
                TSR_FAIL(TSR_ERROR_ARGUMENT, "tile list: %c of tile %lld is %d, expected %d to %d", "xyz"[k], (long long)i, t[k], 1 - TSR_KEY_BIAS,
                         TSR_KEY_BIAS - 2);
        keys[i] = tsr_key_make(t[0], t[1], t[2]);
        inside[i] = c->inside ? c->inside[i] : signs_of_values(c->values + i * voxels, edge);
    }
    for (int64_t i = 0; i < c->count * voxels; i++)
        if (!(tsr_absf(c->values[i]) < 3e38f))
            TSR_FAIL(TSR_ERROR_ARGUMENT, "tile list: voxel %lld of tile %lld is not finite", (long long)(i % voxels), (long long)(i / voxels));
    if (c->inside) return TSR_OK;
    for (int64_t i = 0; i < c->count; i++) /* only where there is none */
        for (int d = 0; d < TSR_TILE_DIRECTIONS; d++) {
            uint64_t key = keys[i] + (uint64_t)tsr_key_offset(d);
            int32_t at = tsr_key_lower_bound(keys, (int32_t)c->count, key);
            if (at < c->count && keys[at] == key) inside[i] &= ~(1u << d);
        }
    return TSR_OK;
}

static tsr_status put_clamped(tsr_tiles *tiles, const tsr_tiles_contents *c)
{
    const int64_t voxels = (int64_t)1 << (3 * tiles->pool.log2_edge);
    const float band = tiles->pool.band;
    float *copy = (float *)malloc((size_t)(COPY_TILES * voxels) * sizeof *copy);
    tsr_status status = copy ? TSR_OK : TSR_FAILED(TSR_ERROR_MEMORY, "tile list: out of memory for the values of %d tiles", (int)COPY_TILES);
    for (int64_t first = 0; first < c->count && status == TSR_OK; first += COPY_TILES) {
        int64_t n = tsr_min64(COPY_TILES, c->count - first);
        for (int64_t i = 0; i < n * voxels; i++) copy[i] = tsr_clampf(c->values[first * voxels + i], -band, band);
        status = tsr_tiles_put(tiles, first, n, copy);
        if (status == TSR_OK) status = tiles->context->backend->synchronize(tiles->context->queue);
    }
    free(copy);
    return status;
}

tsr_status tsr_tiles_assemble(tsr_context *context, const tsr_geometry *geometry, const tsr_tiles_options *options,
                              const tsr_tiles_contents *contents, tsr_tiles **tiles)
{
    TSR_RETURNS(tiles);
    TSR_NEEDS(context, contents);
    tsr_tiles_contents c;
    tsr_tiles_frame frame = { .inside_absent = -1 };
    tsr_status status;
    TSR_TRY(TSR_OPTIONS_TAKE(&c, contents));
    TSR_TRY(TSR_OPTIONS_TAKE(&frame.options, options));
    const tsr_storage storage = frame.options.storage;
    frame.options.storage = TSR_STORAGE_F32; /* the parts are put together as they are given */
    if (geometry) TSR_TRY(tsr_geometry_check(geometry));
    frame.geometry = geometry ? *geometry : tsr_geometry_make((tsr_vec3){ 1, 1, 1 }, (tsr_vec3){ 0, 0, 0 }, TSR_SPACE_NONE);
    if (c.count < 0 || c.count > 1 << 29 || (c.count && (!c.coordinates || !c.values)))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "tile list: %lld tiles, coordinates or values missing; expected 0 to %d tiles with both", (long long)c.count,
                 1 << 29);
    const int32_t edge = frame.options.edge ? frame.options.edge : 8;
    if (edge != 4 && edge != 8) TSR_FAIL(TSR_ERROR_ARGUMENT, "tile list: edge is %d, expected 4 or 8", edge);
    uint64_t *keys = (uint64_t *)malloc(((size_t)c.count + 1) * sizeof *keys);
    uint32_t *inside = (uint32_t *)malloc(((size_t)c.count + 1) * sizeof *inside);
    if (!keys || !inside) TSR_FAIL_GOTO(TSR_ERROR_MEMORY, fail, "tile list: out of memory for %lld tiles", (long long)c.count);
    TSR_TRY_GOTO(keys_and_signs(&c, edge, keys, inside), fail);
    frame.background = c.background_inside ? TSR_TILE_INSIDE : TSR_TILE_OUTSIDE;
    frame.count = c.count;
    frame.keys = keys;
    frame.inside = inside;
    status = tsr_tiles_begin(context, &frame, "tile list", tiles);
    if (status == TSR_ERROR_FORMAT) status = TSR_FAILED(TSR_ERROR_ARGUMENT, "%s", tsr_error_message());
    TSR_TRY_GOTO(status, fail);
    TSR_TRY_GOTO(put_clamped(*tiles, &c), fail);
    TSR_TRY_GOTO(tsr_tiles_complete(*tiles, !c.keep), fail);
    TSR_TRY_GOTO(tsr_tiles_set_storage(*tiles, storage), fail);
    status = TSR_OK;
fail:
    free(keys);
    free(inside);
    if (status != TSR_OK) tsr_tiles_destroy(tiles);
    return status;
}
