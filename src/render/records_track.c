/* Surface records that follow a tile list: runs of records per tile in a pool, renewed where the list changed (docs/theory/editing.md 10). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "render/records_list.h"
#include "surface/follow.h"
#include "surface/store.h"

/* Room is given in pieces of PIECE records; an 8^3 tile has at most 9^3. */
enum { PIECE = 16, DIRTY_MOST = 1 << 14 };

typedef struct run {
    uint32_t at, pieces, count;
    uint64_t key; /* of the tile whose records they are */
} run;

struct tsr_records_tracker {
    double isovalue;
    tsr_follow follow;
    tsr_record_run *runs; /* device, [follow.capacity] */
    run *places;          /* host, the same */
    tsr_store store;
    tsr_records records;
    tsr_records_canvas canvas;
};

/* ---- memory ------------------------------------------------------------------------------------------------------------------------------------ */

static size_t run_bytes(int64_t capacity) { return (size_t)capacity * sizeof(tsr_record_run); }

static void drop(tsr_records_tracker *t)
{
    tsr_context *c = t->follow.context;
    tsr_device_release(c, t->runs, t->runs ? run_bytes(t->follow.capacity) : 0);
    tsr_device_release(c, t->records.memory, t->records.memory ? (size_t)t->records.room * TSR_RECORD_BYTES : 0);
    free(t->places);
    t->runs = NULL;
    t->places = NULL;
    tsr_store_empty(&t->store);
    tsr_follow_drop(&t->follow);
    t->records = (tsr_records){ .context = c, .isovalue = t->isovalue };
    t->canvas.all = 1;
}

/* Begins anew for a list of this kind, with room for its ids. */
static tsr_status begin(tsr_records_tracker *t, const tsr_tiles *tiles)
{
    const int64_t capacity = tiles->pool.capacity;
    tsr_context *c = t->follow.context;
    drop(t);
    TSR_TRY(tsr_records_set_box(tiles, 1, &t->records));
    TSR_TRY(tsr_follow_begin(&t->follow, tiles));
    TSR_TRY(tsr_device_allocate(c, run_bytes(capacity), (void **)&t->runs));
    TSR_TRY(c->backend->fill(c->queue, t->runs, 0, run_bytes(capacity)));
    t->places = (run *)calloc((size_t)capacity, sizeof *t->places);
    if (!t->places) TSR_FAIL(TSR_ERROR_MEMORY, "records: out of host memory for the places of %lld tiles", (long long)capacity);
    t->records.geometry = tiles->geometry;
    t->records.log2_edge = tiles->pool.log2_edge;
    return TSR_OK;
}

/* More ids of the same list; all records stay. */
static tsr_status grow(tsr_records_tracker *t, int64_t capacity)
{
    tsr_context *c = t->follow.context;
    const size_t n = (size_t)t->follow.capacity;
    void *memory;
    run *places = (run *)realloc(t->places, (size_t)capacity * sizeof *places);
    if (places) t->places = places;
    if (!places) TSR_FAIL(TSR_ERROR_MEMORY, "records: out of host memory for the places of %lld tiles", (long long)capacity);
    memset(places + n, 0, ((size_t)capacity - n) * sizeof *places);
    TSR_TRY(tsr_device_allocate(c, run_bytes(capacity), &memory));
    tsr_status status = c->backend->fill(c->queue, memory, 0, run_bytes(capacity));
    if (status == TSR_OK) status = c->backend->copy(c->queue, memory, t->runs, run_bytes((int64_t)n));
    tsr_device_release(c, t->runs, run_bytes((int64_t)n));
    t->runs = NULL; /* until the capacity is what its bytes are counted by */
    if (status == TSR_OK) status = tsr_follow_grow(&t->follow, capacity);
    if (status != TSR_OK) tsr_device_release(c, memory, run_bytes(capacity));
    else t->runs = (tsr_record_run *)memory;
    return status;
}

/* Room for all that is placed; gaps are of case 0. */
static tsr_status grow_pool(tsr_records_tracker *t)
{
    tsr_context *c = t->follow.context;
    tsr_records *r = &t->records, old = *r;
    const int64_t wanted = t->store.used * PIECE, kept = old.count;
    if (wanted >= (int64_t)1 << (32 - TSR_RECORD_TRIANGLE_BITS))
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "records: the surface cuts %lld cells and has gaps between them, expected fewer than 2^29",
                 (long long)wanted);
    if (wanted > old.room) {
        TSR_TRY(tsr_records_take(r, wanted + wanted / 4 + 64 * PIECE));
        tsr_status status = c->backend->fill(c->queue, r->cases, 0, (size_t)r->room);
        if (status == TSR_OK && kept) status = c->backend->copy(c->queue, r->values, old.values, (size_t)kept * sizeof *r->values);
        if (status == TSR_OK && kept) status = c->backend->copy(c->queue, r->positions, old.positions, (size_t)kept * 3 * sizeof *r->positions);
        if (status == TSR_OK && kept) status = c->backend->copy(c->queue, r->cases, old.cases, (size_t)kept);
        tsr_device_release(c, old.memory, old.memory ? (size_t)old.room * TSR_RECORD_BYTES : 0);
        TSR_TRY(status);
    }
    r->count = wanted;
    return TSR_OK;
}

/* ---- an update ---------------------------------------------------------------------------------------------------------------------------------- */

typedef struct update {
    tsr_records_tracker *tracker;
    tsr_records_job job;
    tsr_records_some some;
    const tsr_surface_region *region;
    int far, again; /* a tile lies beyond the positions; one vanished beyond the region, so that all must be looked at */
    int64_t entries;
    int64_t changed, renewed, most; /* tiles: changed, made anew; those and the vanished ones */
    /* one block each on host and device: keys, places, gaps, runs; ids, counts */
    void *host, *device;
    size_t bytes;
    uint64_t *keys, *places;
    uint32_t (*gap)[2], (*run)[3], *ids, *counts;
} update;

static uint64_t *carve(update *u, char *base, int64_t n, int64_t most)
{
    u->keys = (uint64_t *)(void *)base;
    u->places = u->keys + n;
    u->gap = (uint32_t(*)[2])(u->places + n + 1);
    u->run = (uint32_t(*)[3])(u->gap + 2 * most);
    u->ids = (uint32_t *)(u->run + most);
    u->counts = u->ids + n;
    return u->keys;
}

static tsr_status take(update *u)
{
    const tsr_follow *f = &u->tracker->follow;
    for (int64_t k = 0; k < f->count; k++) {
        const uint32_t kind = f->words[1 + k] & TSR_TRACK_KIND_MASK;
        u->changed += kind == TSR_FOUND_CHANGED;
        u->renewed += kind == TSR_FOUND_CHANGED || kind == TSR_FOUND_RING;
        u->most += kind != TSR_FOUND_REACHED;
    }
    const int64_t n = u->renewed;
    u->bytes =
        (size_t)n * (2 * sizeof(uint64_t) + 2 * sizeof(uint32_t)) + sizeof(uint64_t) + sizeof(uint32_t) + (size_t)u->most * 7 * sizeof(uint32_t);
    u->host = malloc(u->bytes);
    if (!u->host) TSR_FAIL(TSR_ERROR_MEMORY, "records: out of host memory for %lld tiles", (long long)n);
    TSR_TRY(tsr_device_allocate(f->context, u->bytes, &u->device));
    u->job.tiles = (int32_t)n;
    u->job.by_id = 1;
    (void)carve(u, (char *)u->device, n, u->most);
    u->job.tile_keys = u->keys;
    u->job.places = u->places;
    u->job.ids = u->ids;
    u->job.counts = u->counts;
    u->some = (tsr_records_some){ .gap = (const uint32_t(*)[2])u->gap, .run = (const uint32_t(*)[3])u->run, .runs = u->tracker->runs };
    (void)carve(u, (char *)u->host, n, u->most);
    for (int64_t k = 0, to = 0; k < f->count; k++)
        if ((f->words[1 + k] & TSR_TRACK_KIND_MASK) >= TSR_FOUND_RING) u->ids[to++] = f->words[1 + k] >> TSR_TRACK_KIND_BITS;
    return TSR_OK;
}

static void add_gap(update *u, uint32_t begin, uint32_t end)
{
    if (begin >= end) return;
    u->gap[u->some.gaps][0] = begin;
    u->gap[u->some.gaps++][1] = end;
}

/* The tile has, or had, records that the picture may show. */
static void add_dirty(tsr_records_canvas *c, uint64_t key)
{
    if (c->all || !c->valid) return;
    if (c->count == c->room) {
        const int64_t room = 2 * c->room + 1024;
        uint64_t *grown = room <= 2 * DIRTY_MOST ? (uint64_t *)realloc(c->keys, (size_t)room * sizeof *grown) : NULL;
        if (!grown) {
            c->all = 1;
            return;
        }
        c->keys = grown;
        c->room = room;
    }
    c->keys[c->count++] = key;
}

/* A tile's records go to `pieces` pieces; it stays where it is while that is enough and not much too large. */
static tsr_status place(update *u, uint32_t id, uint64_t key, uint32_t count)
{
    tsr_records_tracker *t = u->tracker;
    run *p = &t->places[id];
    const uint32_t pieces = (count + PIECE - 1) / PIECE;
    if (p->count) add_dirty(&t->canvas, p->key);
    if (count && !(p->count && p->key == key)) add_dirty(&t->canvas, key);
    if (p->pieces < pieces || p->pieces > 2 * pieces) {
        tsr_store_give(&t->store, p->at, p->pieces);
        add_gap(u, p->at * PIECE, (p->at + p->pieces) * PIECE);
        p->pieces = 0;
        if (pieces) TSR_TRY(tsr_store_take(&t->store, pieces, PIECE, "records: more than 2^32 cells", &p->at));
        p->pieces = pieces;
    }
    if (pieces) add_gap(u, p->at * PIECE + count, (p->at + p->pieces) * PIECE);
    t->records.kept += (int64_t)count - (int64_t)p->count;
    p->count = count;
    p->key = key;
    uint32_t *to = u->run[u->some.count++];
    to[0] = id;
    to[1] = p->at * PIECE;
    to[2] = count;
    return TSR_OK;
}

/* The box holds the cells of all tiles; it grows in large steps, since a picture that is drawn in parts must keep its rays. Returns 0 if positions are
 * too few. */
static int widen(tsr_records *r, uint64_t key)
{
    const int64_t at[3] = { tsr_key_x(key), tsr_key_y(key), tsr_key_z(key) };
    for (int k = 0; k < 3 && !r->fixed; k++) {
        const int64_t low = at[k] * ((int64_t)1 << r->log2_edge) - 1, high = (at[k] + 1) * ((int64_t)1 << r->log2_edge) + 1;
        if (low < r->origin[k] || high > r->origin[k] + 65536) return 0;
        while (low < r->lower[k]) r->lower[k] = tsr_max64(r->lower[k] - TSR_RECORDS_STEP, r->origin[k]);
        while (high > r->upper[k]) r->upper[k] = tsr_min64(r->upper[k] + TSR_RECORDS_STEP, r->origin[k] + 65536);
    }
    return 1;
}

/* Does a tile reach beyond the region? */
static int beyond(const tsr_surface_region *region, int32_t log2_edge, uint64_t key)
{
    const int64_t at[3] = { tsr_key_x(key), tsr_key_y(key), tsr_key_z(key) };
    int out = 0;
    for (int k = 0; k < 3; k++)
        out |= at[k] * ((int64_t)1 << log2_edge) < region->lower[k] || (at[k] + 1) * ((int64_t)1 << log2_edge) > region->upper[k];
    return out;
}

/* Vanished tiles give their records back. */
static tsr_status leave(update *u)
{
    const tsr_follow *f = &u->tracker->follow;
    for (int64_t k = 0; k < f->count; k++) {
        const uint32_t word = f->words[1 + k], id = word >> TSR_TRACK_KIND_BITS;
        run *p = &u->tracker->places[id];
        if ((word & TSR_TRACK_KIND_MASK) != TSR_FOUND_GONE) continue;
        if (u->region && p->key) u->again |= beyond(u->region, f->log2_edge, p->key);
        TSR_TRY(place(u, id, 0, 0));
    }
    return TSR_OK;
}

/* Counts the records of the tiles that are reached, finds room and writes them. */
static tsr_status renew(update *u)
{
    tsr_records_tracker *t = u->tracker;
    tsr_context *c = t->follow.context;
    const tsr_records_ops *ops = c->backend->render->records;
    TSR_TRY(take(u));
    const size_t n = (size_t)u->renewed;
    TSR_TRY(leave(u));
    if (n) {
        TSR_TRY(c->backend->upload(c->queue, (void *)(uintptr_t)u->job.ids, u->ids, n * sizeof *u->ids));
        TSR_TRY(ops->count(c->queue, &u->job));
        TSR_TRY(c->backend->download(c->queue, u->counts, u->job.counts, n * sizeof *u->counts));
        TSR_TRY(c->backend->download(c->queue, u->keys, u->job.tile_keys, n * sizeof *u->keys));
    }
    for (size_t k = 0; k < n; k++) {
        const run *p = &t->places[u->ids[k]];
        u->far |= !widen(&t->records, u->keys[k]);
        if (u->region && p->key && p->key != u->keys[k]) u->again |= beyond(u->region, t->follow.log2_edge, p->key); /* vanished, its id taken */
        TSR_TRY(place(u, u->ids[k], u->keys[k], u->counts[k]));
        u->places[k] = (uint64_t)p->at * PIECE;
    }
    if (u->far) return TSR_OK;
    TSR_TRY(grow_pool(t));
    u->some.cases = t->records.cases;
    if (u->some.gaps) TSR_TRY(c->backend->upload(c->queue, (void *)(uintptr_t)u->some.gap, u->gap, (size_t)u->some.gaps * sizeof *u->gap));
    if (u->some.count) TSR_TRY(c->backend->upload(c->queue, (void *)(uintptr_t)u->some.run, u->run, (size_t)u->some.count * sizeof *u->run));
    TSR_TRY(ops->settle(c->queue, &u->some));
    if (!n) return TSR_OK;
    TSR_TRY(c->backend->upload(c->queue, (void *)(uintptr_t)u->job.places, u->places, n * sizeof *u->places));
    u->job.positions = t->records.positions;
    u->job.cases = t->records.cases;
    u->job.values = t->records.values;
    for (int k = 0; k < 3; k++) u->job.origin[k] = t->records.origin[k];
    TSR_TRY(ops->extract(c->queue, &u->job));
    return TSR_OK;
}

/* One look at the list and what follows from it. */
static tsr_status follow(tsr_records_tracker *t, const tsr_tiles *tiles, const tsr_surface_region *region, update *u)
{
    tsr_tile_state state;
    *u = (update){ .tracker = t, .region = region };
    TSR_TRY(tsr_records_lay(t->follow.context, tiles, t->isovalue, &u->job, &state));
    if (!tsr_follow_goes_on(&t->follow, tiles) || tsr_store_mostly_idle(&t->store)) {
        TSR_TRY(begin(t, tiles));
        u->region = NULL;
    } else if (tiles->pool.capacity > t->follow.capacity) {
        TSR_TRY(grow(t, tiles->pool.capacity));
    }
    u->entries = state.count;
    tsr_surface_look look = { .keys = tsr_pool_keys(&tiles->pool, state.list),
                              .ids = tiles->pool.id[state.list],
                              .neighbours = tiles->pool.neighbours,
                              .phi = u->job.phi,
                              .entries = state.count };
    TSR_TRY(tsr_follow_look(&t->follow, &look, u->region, 1)); /* a tile beside a vanished one may have its cells now */
    u->job.keys = tsr_pool_keys_of(&tiles->pool);
    const tsr_status status = renew(u);
    tsr_device_release(t->follow.context, u->device, u->device ? u->bytes : 0);
    free(u->host);
    return status;
}

tsr_status tsr_records_update(tsr_records_tracker *tracker, const tsr_tiles *tiles, const tsr_surface_region *region, const tsr_records **records,
                              tsr_records_update_report *report)
{
    TSR_RETURNS(records);
    TSR_NEEDS(tracker);
    tsr_records_update_report r = TSR_RECORDS_UPDATE_REPORT;
    update u;
    tsr_status status;
    TSR_TRY(TSR_STRUCT_BEGUN(report));
    for (;;) {
        status = follow(tracker, tiles, region, &u);
        r.changed += u.changed;
        r.renewed += u.renewed;
        if (status != TSR_OK || !(u.far || u.again)) break;
        region = NULL;      /* all values are looked at ... */
        if (u.far) drop(tracker); /* ... and positions count from another voxel */
    }
    if (status != TSR_OK) {
        drop(tracker);
        return status;
    }
    tracker->records.runs = tracker->runs;
    tracker->records.keys = tracker->follow.key;
    tracker->records.ids = tracker->follow.capacity;
    r.tiles = u.entries;
    r.records = tracker->records.kept;
    r.bytes = tracker->records.room * TSR_RECORD_BYTES + (int64_t)(run_bytes(tracker->follow.capacity) + tracker->follow.bytes);
    *records = &tracker->records;
    return TSR_STRUCT_GIVE(report, &r);
}

tsr_status tsr_records_redraw(tsr_records_tracker *tracker, const tsr_camera *camera, const tsr_render_options *options, int cull,
                              tsr_picture *picture, int64_t *pixels)
{
    TSR_NEEDS(tracker);
    TSR_TRY(tsr_records_draw_on(&tracker->records, camera, options, cull, picture, &tracker->canvas, pixels));
    return TSR_OK;
}

/* ---- life --------------------------------------------------------------------------------------------------------------------------------------- */

tsr_status tsr_records_tracker_create(tsr_context *context, double isovalue, tsr_records_tracker **tracker)
{
    TSR_RETURNS(tracker);
    TSR_NEEDS(context);
    if (!isfinite(isovalue)) TSR_FAIL(TSR_ERROR_ARGUMENT, "records: isovalue is %g, expected a finite number", isovalue);
    TSR_TRY(tsr_host_allocate(NULL, sizeof **tracker, (void **)tracker));
    **tracker = (tsr_records_tracker){ .isovalue = isovalue, .follow = { .context = context } };
    drop(*tracker);
    return TSR_OK;
}

void tsr_records_tracker_destroy(tsr_records_tracker **tracker)
{
    if (!tracker || !*tracker) return;
    tsr_records_tracker *t = *tracker;
    *tracker = NULL;
    drop(t);
    tsr_store_drop(&t->store);
    tsr_device_release(t->follow.context, t->canvas.hits, t->canvas.bytes);
    free(t->canvas.keys);
    tsr_host_release(NULL, t, sizeof *t);
}
