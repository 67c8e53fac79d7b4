/* tests/tiles/tiles_check.h: a host picture of a tile list, and its invariants (docs/theory/tiles.md 1, I1 to I5). */
#ifndef TSR_TESTS_GRID_TILES_CHECK_H
#define TSR_TESTS_GRID_TILES_CHECK_H

#include "tiles/tiles.h"
#include "support.h"

typedef struct tiles_picture {
    tsr_tile_pool pool; /* array members point to host copies; table NULL for SORTED */
    tsr_tile_state state;
    const uint64_t *keys, *key_of; /* of 64 bits, whatever the list has */
    const uint32_t *ids;
    const float *phi;
    void *memory[12];
    int used;
} tiles_picture;

static inline void *picture_take(tiles_picture *p, tsr_context *context, const void *device, size_t bytes)
{
    void *host = malloc(bytes ? bytes : 1);
    assert_non_null(host);
    require_ok(context->backend->download(context->queue, host, device, bytes));
    p->memory[p->used++] = host;
    return host;
}

/* Keys of the list or of its ids, widened here by the words of the specification: 10 bits an axis, counted from the first tile of the box. */
static inline const uint64_t *picture_keys(tiles_picture *p, tsr_context *context, const void *device, size_t count)
{
    const uint64_t first = p->pool.key_first;
    if (!first) return (const uint64_t *)picture_take(p, context, device, count * sizeof(uint64_t));
    const uint32_t *narrow = (const uint32_t *)picture_take(p, context, device, count * sizeof(uint32_t));
    uint64_t *wide = (uint64_t *)malloc(count * sizeof *wide);
    assert_non_null(wide);
    for (size_t i = 0; i < count; i++) {
        const int32_t x = (int32_t)(narrow[i] % 1024), y = (int32_t)(narrow[i] / 1024 % 1024), z = (int32_t)(narrow[i] / 1024 / 1024);
        wide[i] = narrow[i] == UINT32_MAX ? TSR_KEY_END : tsr_key_make(tsr_key_x(first) + x, tsr_key_y(first) + y, tsr_key_z(first) + z);
    }
    p->memory[p->used++] = wide;
    return wide;
}

static inline tiles_picture picture_of(const tsr_tiles *tiles)
{
    tiles_picture p = { .pool = tiles->pool };
    tsr_context *context = tiles->context;
    size_t n = (size_t)tiles->pool.capacity, tile = sizeof(float) << (3 * tiles->pool.log2_edge);
    require_ok(tsr_tiles_read_state(tiles, &p.state));
    p.keys = picture_keys(&p, context, tiles->pool.key[p.state.list], n + 1);
    p.ids = (const uint32_t *)picture_take(&p, context, tiles->pool.id[p.state.list], n * sizeof(uint32_t));
    p.phi = (const float *)picture_take(&p, context, tiles->pool.phi[p.state.phi], n * tile);
    p.pool.neighbours = (uint32_t *)picture_take(&p, context, tiles->pool.neighbours, n * TSR_NEIGHBOUR_ROW * sizeof(uint32_t));
    p.pool.activity = (uint32_t *)picture_take(&p, context, tiles->pool.activity, n * sizeof(uint32_t));
    p.key_of = picture_keys(&p, context, tiles->pool.key_of, n);
    p.pool.free_ids = (uint32_t *)picture_take(&p, context, tiles->pool.free_ids, n * sizeof(uint32_t));
    if (tiles->pool.table)
        p.pool.table =
            (uint32_t *)picture_take(&p, context, tiles->pool.table,
                                     (size_t)tiles->pool.tiles[0] * (size_t)tiles->pool.tiles[1] * (size_t)tiles->pool.tiles[2] * sizeof(uint32_t));
    return p;
}

static inline void picture_drop(tiles_picture *p)
{
    while (p->used) free(p->memory[--p->used]);
}

/* Entry of a key in the list, or -1. Linear in the logarithm; independent of tsr_keys_lower_bound. */
static inline int32_t picture_entry(const tiles_picture *p, uint64_t key)
{
    int32_t low = -1, high = p->state.count;
    while (high - low > 1) {
        int32_t middle = low + (high - low) / 2;
        if (p->keys[middle] > key) high = middle;
        else low = middle;
    }
    return low >= 0 && p->keys[low] == key ? low : -1;
}

/* Ids and lists: I1, I5, the free stack is the complement, the page table agrees. */
static inline void check_ids(const tiles_picture *p)
{
    const tsr_tile_state *s = &p->state;
    uint8_t *seen = (uint8_t *)calloc((size_t)p->pool.capacity, 1);
    assert_non_null(seen);
    seen[TSR_TILE_OUTSIDE] = seen[TSR_TILE_INSIDE] = 1;
    assert_int_equal(s->count + s->free_count + TSR_TILE_FIRST, p->pool.capacity);
    for (int32_t i = 0; i < s->count; i++) {
        assert_true(i == 0 || p->keys[i] > p->keys[i - 1]);
        assert_true(p->ids[i] >= TSR_TILE_FIRST && p->ids[i] < (uint32_t)p->pool.capacity);
        assert_int_equal(seen[p->ids[i]], 0);
        seen[p->ids[i]] = 1;
        assert_true(p->key_of[p->ids[i]] == p->keys[i]);
        assert_true(tsr_tile_allowed(&p->pool, p->keys[i]));
        if (p->pool.table) assert_int_equal(p->pool.table[tsr_tile_linear(&p->pool, p->keys[i])], p->ids[i]);
    }
    assert_true(p->keys[s->count] == TSR_KEY_END);
    for (int32_t i = 0; i < s->free_count; i++) {
        assert_true(p->pool.free_ids[i] < (uint32_t)p->pool.capacity);
        assert_int_equal(seen[p->pool.free_ids[i]], 0);
        seen[p->pool.free_ids[i]] = 1;
    }
    if (p->pool.table) { /* as many stored entries as the list has, the others static */
        int64_t stored = 0, n = (int64_t)p->pool.tiles[0] * p->pool.tiles[1] * p->pool.tiles[2];
        for (int64_t t = 0; t < n; t++) stored += p->pool.table[t] >= TSR_TILE_FIRST;
        assert_int_equal(stored, s->count);
    }
    free(seen);
}

/* Neighbour rows: stored ids where stored, else constants about which all neighbours of the absent tile agree (I4). */
static inline void check_neighbours(const tiles_picture *p)
{
    for (int32_t i = 0; i < p->state.count; i++) {
        const uint32_t *row = p->pool.neighbours + (int64_t)p->ids[i] * TSR_NEIGHBOUR_ROW;
        assert_int_equal(row[TSR_TILE_MIDDLE], p->ids[i]);
        for (int32_t d = 0; d < TSR_TILE_DIRECTIONS; d++) {
            uint64_t key = p->keys[i] + (uint64_t)tsr_key_offset(d);
            int32_t at = picture_entry(p, key);
            if (at >= 0) {
                assert_int_equal(row[d], p->ids[at]);
                continue;
            }
            assert_true(row[d] < TSR_TILE_FIRST);
            if (!tsr_tile_allowed(&p->pool, key)) continue;
            if (p->pool.table) assert_int_equal(p->pool.table[tsr_tile_linear(&p->pool, key)], row[d]);
            for (int32_t e = 0; e < TSR_TILE_DIRECTIONS; e++) {
                int32_t other = picture_entry(p, key + (uint64_t)tsr_key_offset(e));
                if (other >= 0) assert_int_equal(p->pool.neighbours[(int64_t)p->ids[other] * TSR_NEIGHBOUR_ROW + 26 - e], row[d]);
            }
        }
    }
}

/* Voxel k of a tile lies beyond the domain. */
static inline int beyond(const tsr_tile_pool *pool, uint64_t key, int32_t k)
{
    const int32_t E = 1 << pool->log2_edge;
    return pool->bounded && (tsr_key_x(key) * E + k % E >= pool->domain[0] || tsr_key_y(key) * E + k / E % E >= pool->domain[1] ||
                             tsr_key_z(key) * E + k / (E * E) >= pool->domain[2]);
}

/* Field: |phi| <= band, areas as the activity words say at least (I2, I3: what the areas face is stored), counts. */
static inline void check_field(const tiles_picture *p)
{
    const int32_t E = 1 << p->pool.log2_edge, V = E * E * E;
    const float band = p->pool.band;
    int64_t active = 0, inside = 0;
    for (int32_t i = 0; i < p->state.count; i++) {
        const float *v = p->phi + (int64_t)p->ids[i] * V;
        const uint32_t word = p->pool.activity[p->ids[i]];
        uint32_t areas = 0;
        for (int32_t k = 0; k < V; k++) {
            int32_t x = k % E, y = k / E % E, z = k / (E * E);
            assert_true(v[k] >= -band && v[k] <= band);
            if (beyond(&p->pool, p->keys[i], k)) continue;
            int in_band = v[k] > -band && v[k] < band;
            active += in_band;
            inside += v[k] < 0;
            if (in_band)
                areas |= 1u << (9 * (z == 0 ? 0 : z == E - 1 ? 2 : 1) + 3 * (y == 0 ? 0 : y == E - 1 ? 2 : 1) + (x == 0 ? 0 : x == E - 1 ? 2 : 1));
        }
        assert_int_equal(areas & ~word, 0);
        if (!(word & TSR_ACTIVITY_AREAS)) /* a constant tile that a neighbour asked for: its class is its sign */
            for (int32_t k = 0; k < V; k++) {
                if (beyond(&p->pool, p->keys[i], k)) continue;
                assert_true((v[k] > 0) == ((word & TSR_ACTIVITY_OUTSIDE) != 0) && (v[k] == band || v[k] == -band));
            }
        for (int32_t d = 0; d < TSR_TILE_DIRECTIONS; d++) { /* the neighbours that set areas touch */
            int needed = 0;
            for (int32_t a = 0; a < 27; a++) {
                if (!(word >> a & 1u)) continue;
                int ax = a % 3 - 1, ay = a / 3 % 3 - 1, az = a / 9 - 1, dx = d % 3 - 1, dy = d / 3 % 3 - 1, dz = d / 9 - 1;
                needed |= (dx == 0 || dx == ax) && (dy == 0 || dy == ay) && (dz == 0 || dz == az);
            }
            uint64_t key = p->keys[i] + (uint64_t)tsr_key_offset(d);
            if (needed && tsr_tile_allowed(&p->pool, key)) assert_true(picture_entry(p, key) >= 0);
        }
    }
    assert_int_equal(p->state.active_voxels, active);
    assert_int_equal(p->state.inside_voxels, inside);
}

/* All invariants of a managed list. */
static inline void check_invariants(const tsr_tiles *tiles)
{
    tiles_picture p = picture_of(tiles);
    assert_int_equal(p.state.managed, 1);
    assert_int_equal(p.state.shortage, 0);
    for (int i = 0; i < 16; i++) assert_int_equal(p.state.scratch[i], 0);
    check_ids(&p);
    check_neighbours(&p);
    check_field(&p);
    picture_drop(&p);
}

/* The field in a dense box, on the host: first corner `low`, n^3 voxels. Independent of the device code: the downloaded tiles, and the sign of
 * absent ones by flood from stored neighbours' values is avoided by asking store. */
static inline float *tiles_dense(tsr_context *context, const tsr_tiles *tiles, int32_t low, int32_t n)
{
    const int32_t first[3] = { low, low, low };
    const int64_t size[3] = { n, n, n };
    size_t bytes = (size_t)n * (size_t)n * (size_t)n * sizeof(float);
    void *device;
    float *host = (float *)malloc(bytes);
    require_ok(tsr_device_allocate(context, bytes, &device));
    require_ok(context->backend->tiles->store(context->queue, &tiles->pool, first, size, (float *)device, NULL));
    require_ok(context->backend->download(context->queue, host, device, bytes));
    tsr_device_release(context, device, bytes);
    return host;
}

#endif
