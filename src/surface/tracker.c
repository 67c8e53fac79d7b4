/* surface/tracker.c: a mesh that follows a tile list: which tiles changed, where their vertices and triangles have room, and the work on them. */
#include <stdlib.h>
#include <string.h>

#include "mesh/mesh.h"
#include "tiles/tiles.h"
#include "surface/follow.h"
#include "surface/store.h"
#include "surface/surface.h"

/* Room is given in pieces of PIECE vertices or triangles; an 8^3 tile has at most 3 * 512 vertices and 10 * 512 triangles. */
enum { PIECE = 32 };

typedef struct place {
    uint32_t at[2], pieces[2]; /* of vertices, of triangles; pieces 0: none */
    uint32_t counts;           /* TSR_COUNT_SHIFT */
} place;

enum { VERTICES, TRIANGLES };

struct tsr_surface_tracker {
    tsr_surface_options options;
    tsr_follow follow; /* which tiles changed */
    void *memory;
    size_t bytes;
    uint32_t *bits, *first; /* device */
    uint16_t *prefix;
    place *places; /* host, [follow.capacity] */
    tsr_store stores[2];
    tsr_mesh *mesh; /* its counts are its capacity */
    tsr_mesh view;  /* the same arrays with the counts in use; owns nothing */
    int64_t vertices, triangles;
};

/* ---- memory ------------------------------------------------------------------------------------------------------------------------------------- */

static void forget(tsr_surface_tracker *t)
{
    for (int k = 0; k < 2; k++) tsr_store_empty(&t->stores[k]);
    t->vertices = t->triangles = 0;
}

static void drop(tsr_surface_tracker *t)
{
    tsr_device_release(t->follow.context, t->memory, t->bytes);
    free(t->places);
    t->memory = NULL;
    t->places = NULL;
    t->bytes = 0;
    tsr_follow_drop(&t->follow);
    forget(t);
}

/* Carves the arrays for `capacity` ids; `base` NULL only counts. */
static size_t carve(tsr_surface_tracker *t, int64_t capacity, int32_t log2_edge, char *base)
{
    const int64_t words = capacity << 2 * log2_edge;
    size_t at = 0;
#define TAKE(field, type, count)                                  \
    do {                                                          \
        t->field = base ? (type *)(void *)(base + at) : NULL;     \
        at += ((size_t)(count) * sizeof(type) + 255) / 256 * 256; \
    } while (0)
    TAKE(bits, uint32_t, words);
    TAKE(first, uint32_t, capacity);
    TAKE(prefix, uint16_t, words);
#undef TAKE
    return at;
}

/* Begins anew for a list of this kind, with room for its ids. */
static tsr_status begin(tsr_surface_tracker *t, const tsr_tiles *tiles)
{
    const tsr_tile_pool *pool = &tiles->pool;
    drop(t);
    TSR_TRY(tsr_follow_begin(&t->follow, tiles));
    t->bytes = carve(t, pool->capacity, pool->log2_edge, NULL);
    tsr_status status = tsr_device_allocate(t->follow.context, t->bytes, &t->memory);
    if (status != TSR_OK) t->bytes = 0;
    TSR_TRY(status);
    (void)carve(t, pool->capacity, pool->log2_edge, (char *)t->memory);
    t->places = (place *)calloc((size_t)pool->capacity, sizeof *t->places);
    if (!t->places) TSR_FAIL(TSR_ERROR_MEMORY, "surface: out of host memory for the places of %d tiles", pool->capacity);
    return TSR_OK;
}

/* More ids of the same list: what is known moves along. */
static tsr_status grow(tsr_surface_tracker *t, int64_t capacity)
{
    tsr_context *context = t->follow.context;
    const tsr_backend *backend = context->backend;
    tsr_queue *queue = context->queue;
    const int32_t log2_edge = t->follow.log2_edge;
    const size_t n = (size_t)t->follow.capacity, words = n << 2 * log2_edge;
    void *memory;
    place *places = (place *)realloc(t->places, (size_t)capacity * sizeof *places);
    if (places) t->places = places;
    if (!places) TSR_FAIL(TSR_ERROR_MEMORY, "surface: out of host memory for the places of %lld tiles", (long long)capacity);
    memset(places + n, 0, ((size_t)capacity - n) * sizeof *places);
    TSR_TRY(tsr_follow_grow(&t->follow, capacity));
    tsr_surface_tracker old = *t;
    size_t bytes = carve(t, capacity, log2_edge, NULL);
    TSR_TRY(tsr_device_allocate(context, bytes, &memory));
    (void)carve(t, capacity, log2_edge, (char *)memory);
    tsr_status status = backend->copy(queue, t->bits, old.bits, words * sizeof *t->bits);
    if (status == TSR_OK) status = backend->copy(queue, t->first, old.first, n * sizeof *t->first);
    if (status == TSR_OK) status = backend->copy(queue, t->prefix, old.prefix, words * sizeof *t->prefix);
    tsr_device_release(context, old.memory, old.bytes);
    t->memory = memory;
    t->bytes = bytes;
    return status;
}

/* Room in the mesh for all that is placed; what it has stays. */
static tsr_status grow_mesh(tsr_surface_tracker *t)
{
    const int64_t vertices = t->stores[VERTICES].used * PIECE, triangles = t->stores[TRIANGLES].used * PIECE;
    const tsr_backend *backend = t->follow.context->backend;
    tsr_queue *queue = t->follow.context->queue;
    tsr_mesh *old = t->mesh, *made;
    if (old && vertices <= old->vertex_count && triangles <= old->triangle_count) return TSR_OK;
    TSR_TRY(tsr_mesh_create(t->follow.context, tsr_min64(vertices + vertices / 2 + PIECE, UINT32_MAX), triangles + triangles / 2 + PIECE,
                            t->options.normals != TSR_SURFACE_NORMALS_NONE, &made));
    const size_t all = (size_t)made->vertex_count * 3 * sizeof(float), kept = old ? (size_t)old->vertex_count * 3 * sizeof(float) : 0;
    const size_t all_triangles = (size_t)made->triangle_count * 3 * sizeof(uint32_t),
                 kept_triangles = old ? (size_t)old->triangle_count * 3 * sizeof(uint32_t) : 0;
    tsr_status status = backend->fill(queue, made->vertices, 0, all); /* gaps are numbers too */
    if (status == TSR_OK && made->normals) status = backend->fill(queue, made->normals, 0, all);
    if (status == TSR_OK) status = backend->fill(queue, made->triangles, 0, all_triangles);
    if (old && all >= kept && all_triangles >= kept_triangles) {
        if (status == TSR_OK) status = backend->copy(queue, made->vertices, old->vertices, kept);
        if (status == TSR_OK && made->normals) status = backend->copy(queue, made->normals, old->normals, kept);
        if (status == TSR_OK) status = backend->copy(queue, made->triangles, old->triangles, kept_triangles);
    }
    tsr_mesh_destroy(&t->mesh);
    t->mesh = made;
    return status;
}

/* ---- an update ---------------------------------------------------------------------------------------------------------------------------------- */

typedef struct update {
    tsr_surface_tracker *tracker;
    tsr_surface_grid grid;
    tsr_surface_some some; /* device */
    int64_t entries, changed, gaps;
    uint32_t *ids, *counts, *vertex; /* host, [some.count] */
    uint64_t *triangle, (*gap)[2];
    void *host, *device;
    size_t device_bytes;
} update;

/* Arrays for the tiles that are reached, on host and device: gaps, places of triangles, ids, counts, places of vertices, busy words, torn. */
static tsr_status choose(update *u)
{
    tsr_surface_tracker *t = u->tracker;
    const uint32_t *found = t->follow.words + 1;
    int64_t n = 0, gaps = 1;
    for (int64_t k = 0; k < t->follow.count; k++) {
        const uint32_t kind = found[k] & TSR_TRACK_KIND_MASK;
        n += kind != TSR_FOUND_GONE;
        gaps += kind == TSR_FOUND_GONE;
        u->changed += kind == TSR_FOUND_CHANGED;
    }
    gaps += 2 * n; /* the run that is left, and the end of the new one */
    const size_t head = (size_t)gaps * sizeof *u->gap + (size_t)n * sizeof *u->triangle;
    u->device_bytes = head + ((size_t)n * 5 + 1) * sizeof(uint32_t);
    u->host = malloc(head + (size_t)n * 3 * sizeof(uint32_t));
    if (!u->host) TSR_FAIL(TSR_ERROR_MEMORY, "surface: out of host memory for %lld tiles", (long long)n);
    TSR_TRY(tsr_device_allocate(t->follow.context, u->device_bytes, &u->device));
    u->gap = (uint64_t(*)[2])u->host;
    u->triangle = (uint64_t *)(void *)(u->gap + gaps);
    u->ids = (uint32_t *)(void *)(u->triangle + n);
    u->counts = u->ids + n;
    u->vertex = u->counts + n;
    uint64_t(*gap)[2] = (uint64_t(*)[2])u->device, *triangle = (uint64_t *)(void *)(gap + gaps);
    uint32_t *ids = (uint32_t *)(void *)(triangle + n);
    u->some = (tsr_surface_some){ .count = n,
                                  .gap = (const uint64_t(*)[2])gap,
                                  .triangle = triangle,
                                  .ids = ids,
                                  .counts = ids + n,
                                  .vertex = ids + 2 * n,
                                  .busy = ids + 3 * n,
                                  .torn = ids + 5 * n };
    for (int64_t k = 0, to = 0; k < t->follow.count; k++)
        if ((found[k] & TSR_TRACK_KIND_MASK) != TSR_FOUND_GONE) u->ids[to++] = found[k] >> TSR_TRACK_KIND_BITS;
    return TSR_OK;
}

static void add_gap(update *u, uint64_t begin, uint64_t end)
{
    if (begin >= end) return;
    u->gap[u->gaps][0] = begin;
    u->gap[u->gaps++][1] = end;
}

/* Gives a tile's run of vertices or triangles back. */
static void leave(update *u, place *p, int kind)
{
    tsr_store_give(&u->tracker->stores[kind], p->at[kind], p->pieces[kind]);
    if (kind == TRIANGLES) add_gap(u, (uint64_t)p->at[kind] * PIECE, ((uint64_t)p->at[kind] + p->pieces[kind]) * PIECE);
    p->pieces[kind] = 0;
}

static void settle_counts(tsr_surface_tracker *t, place *p, uint32_t counts)
{
    t->vertices += (int64_t)tsr_count_vertices(counts) - (int64_t)tsr_count_vertices(p->counts);
    t->triangles += (int64_t)tsr_count_triangles(counts) - (int64_t)tsr_count_triangles(p->counts);
    p->counts = counts;
}

/* Finds room: a tile stays where it is while that is enough and not much too large. Gaps are blanked before anything is written, since a run that one
 * tile leaves may be the place of another. */
static tsr_status put(update *u)
{
    tsr_surface_tracker *t = u->tracker;
    for (int64_t k = 0; k < t->follow.count; k++) {
        const uint32_t word = t->follow.words[1 + k], id = word >> TSR_TRACK_KIND_BITS;
        if ((word & TSR_TRACK_KIND_MASK) != TSR_FOUND_GONE) continue;
        for (int kind = 0; kind < 2; kind++) leave(u, &t->places[id], kind);
        settle_counts(t, &t->places[id], 0);
    }
    for (int64_t k = 0; k < u->some.count; k++) {
        place *p = &t->places[u->ids[k]];
        const uint32_t counts[2] = { tsr_count_vertices(u->counts[k]), tsr_count_triangles(u->counts[k]) };
        for (int kind = 0; kind < 2; kind++) {
            const uint32_t pieces = (counts[kind] + PIECE - 1) / PIECE;
            if (p->pieces[kind] >= pieces && p->pieces[kind] <= 2 * pieces) continue;
            leave(u, p, kind);
            if (pieces) TSR_TRY(tsr_store_take(&t->stores[kind], pieces, PIECE, "surface: more than 4294967295 vertices or triangles", &p->at[kind]));
            p->pieces[kind] = pieces;
        }
        settle_counts(t, p, u->counts[k]);
        u->vertex[k] = p->at[VERTICES] * PIECE;
        u->triangle[k] = (uint64_t)p->at[TRIANGLES] * PIECE;
        add_gap(u, u->triangle[k] + counts[TRIANGLES], u->triangle[k] + (uint64_t)p->pieces[TRIANGLES] * PIECE);
    }
    return TSR_OK;
}

static tsr_status renew(update *u)
{
    tsr_surface_tracker *t = u->tracker;
    const tsr_backend *backend = t->follow.context->backend;
    tsr_queue *queue = t->follow.context->queue;
    uint32_t torn = 0;
    TSR_TRY(choose(u));
    const size_t n = (size_t)u->some.count;
    if (n) TSR_TRY(backend->upload(queue, (void *)(uintptr_t)u->some.ids, u->ids, n * sizeof *u->ids));
    TSR_TRY(backend->surface->count_some(queue, &u->grid, &u->some));
    TSR_TRY(backend->download(queue, &torn, u->some.torn, sizeof torn));
    if (torn) TSR_FAIL(TSR_ERROR_STATE, "surface: a sign change of the tile list lies beside a tile that is not stored");
    if (n) TSR_TRY(backend->download(queue, u->counts, u->some.counts, n * sizeof *u->counts));
    TSR_TRY(put(u));
    TSR_TRY(grow_mesh(t));
    u->some.gaps = u->gaps;
    if (u->gaps) TSR_TRY(backend->upload(queue, u->device, u->gap, (size_t)u->gaps * sizeof *u->gap));
    if (n) TSR_TRY(backend->upload(queue, (void *)(uintptr_t)u->some.triangle, u->triangle, n * sizeof *u->triangle));
    if (n) TSR_TRY(backend->upload(queue, (void *)(uintptr_t)u->some.vertex, u->vertex, n * sizeof *u->vertex));
    const tsr_surface_output output = {
        t->mesh->vertices, t->mesh->normals, t->mesh->triangles, 0, 0, t->mesh->vertex_count, t->mesh->triangle_count, NULL
    };
    TSR_TRY(backend->surface->emit_some(queue, &u->grid, &u->some, &output));
    return TSR_OK;
}

/* Is the list one that the tracker knows, and the mesh not mostly gaps? */
static int can_go_on(const tsr_surface_tracker *t, const tsr_tiles *tiles)
{
    for (int kind = 0; kind < 2; kind++)
        if (tsr_store_mostly_idle(&t->stores[kind])) return 0;
    return tsr_follow_goes_on(&t->follow, tiles);
}

static tsr_status follow(tsr_surface_tracker *t, const tsr_tiles *tiles, const tsr_surface_region *region, update *u)
{
    TSR_TRY(tsr_surface_lay_tiles(t->follow.context, tiles, &t->options, &u->grid, &u->entries));
    if (!can_go_on(t, tiles)) {
        TSR_TRY(begin(t, tiles));
        region = NULL;
    } else if (tiles->pool.capacity > t->follow.capacity) {
        TSR_TRY(grow(t, tiles->pool.capacity));
    }
    tsr_surface_look look = { .keys = u->grid.keys, .ids = u->grid.ids, .neighbours = u->grid.neighbours, .phi = u->grid.phi, .entries = u->entries };
    TSR_TRY(tsr_follow_look(&t->follow, &look, region, 0));
    u->grid.by_id = 1;
    u->grid.keys = tsr_pool_keys_of(&tiles->pool);
    u->grid.words = t->follow.capacity << 2 * t->follow.log2_edge;
    u->grid.bits = t->bits;
    u->grid.prefix = t->prefix;
    u->grid.block_vertex = t->first;
    TSR_TRY(renew(u));
    return TSR_OK;
}

tsr_status tsr_surface_update(tsr_surface_tracker *tracker, const tsr_tiles *tiles, const tsr_surface_region *region, const tsr_mesh **mesh,
                              tsr_surface_update_report *report)
{
    TSR_RETURNS(mesh);
    TSR_NEEDS(tracker, tiles);
    TSR_TRY(TSR_STRUCT_BEGUN(report));
    update u = { .tracker = tracker };
    tsr_status status = follow(tracker, tiles, region, &u);
    tsr_device_release(tracker->follow.context, u.device, u.device ? u.device_bytes : 0);
    free(u.host);
    if (status != TSR_OK) {
        drop(tracker);
        return status;
    }
    tracker->view = *tracker->mesh;
    tracker->view.vertex_count = tsr_min64(tracker->stores[VERTICES].used * PIECE, tracker->mesh->vertex_count);
    tracker->view.triangle_count = tracker->stores[TRIANGLES].used * PIECE;
    tracker->view.space = tiles->geometry.space;
    *mesh = &tracker->view;
    const tsr_surface_update_report made = { .tiles = u.entries,
                                             .changed = u.changed,
                                             .renewed = u.some.count,
                                             .vertices = tracker->vertices,
                                             .triangles = tracker->triangles,
                                             .work_bytes = (int64_t)(tracker->bytes + tracker->follow.bytes) };
    return TSR_STRUCT_GIVE(report, &made);
}

/* ---- life ------------------------------------------------------------------------------------------------------------------------------------------ */

tsr_status tsr_surface_tracker_create(tsr_context *context, const tsr_surface_options *options, tsr_surface_tracker **tracker)
{
    TSR_RETURNS(tracker);
    TSR_NEEDS(context);
    tsr_surface_options own;
    TSR_TRY(TSR_OPTIONS_TAKE(&own, options));
    if (own.nan == TSR_SURFACE_NAN_FAIL)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "surface: nan is fail, a surface that follows its list does not look for such samples: extract the list");
    TSR_TRY(tsr_host_allocate(NULL, sizeof **tracker, (void **)tracker));
    own.struct_size = sizeof own;
    **tracker = (tsr_surface_tracker){ .follow = { .context = context }, .options = own };
    forget(*tracker);
    return TSR_OK;
}

void tsr_surface_tracker_destroy(tsr_surface_tracker **tracker)
{
    if (!tracker || !*tracker) return;
    tsr_surface_tracker *t = *tracker;
    drop(t);
    for (int k = 0; k < 2; k++) tsr_store_drop(&t->stores[k]);
    tsr_mesh_destroy(&t->mesh);
    tsr_host_release(NULL, t, sizeof *t);
    *tracker = NULL;
}
