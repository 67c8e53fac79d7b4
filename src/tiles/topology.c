/* tiles/topology.c: sorted tiles of voxel bits.
 *
 * Dilation slides over the list (docs/theory/tiles.md 5; topology_isa.c): the tiles of the result are visited in order, each with cursors at the tiles
 * around it that move forward only. A tile is 8 words of 8 x 8 bits, so a step to a face is a shift of words, and nothing is unpacked. */
#include <stdlib.h>
#include <string.h>

#include "core/parallel.h"
#include "tiles/tiles_build.h"
#include "tiles/topology.h"
#include "tiles/topology_isa.h"

void tsr_topology_destroy(tsr_topology **topology)
{
    if (!topology || !*topology) return;
    tsr_topology *t = *topology;
    *topology = NULL;
    if (t->context) {
        tsr_device_release(t->context, t->keys, ((size_t)t->room + 1) * sizeof *t->keys);
        tsr_device_release(t->context, t->mask, ((size_t)t->room + 1) * sizeof *t->mask);
    } else {
        free(t->keys);
        free(t->mask);
    }
    free(t);
}

static tsr_status allocate(tsr_topology *t)
{
    const size_t keys = ((size_t)t->room + 1) * sizeof *t->keys, masks = ((size_t)t->room + 1) * sizeof *t->mask;
    if (t->context) {
        TSR_TRY(tsr_device_allocate(t->context, keys, (void **)&t->keys));
        TSR_TRY(tsr_device_allocate(t->context, masks, (void **)&t->mask));
        TSR_TRY(t->context->backend->fill(t->context->queue, t->keys, 0xff, sizeof *t->keys)); /* TSR_KEY_END */
        return TSR_OK;
    }
    t->keys = (uint64_t *)malloc(keys);
    t->mask = (uint64_t(*)[8])aligned_alloc(64, masks);
    if (!t->keys || !t->mask) TSR_FAIL(TSR_ERROR_MEMORY, "topology: out of memory for %lld tiles", (long long)t->room);
    t->keys[0] = TSR_KEY_END;
    return TSR_OK;
}

tsr_status tsr_topology_room(tsr_context *context, int64_t room, tsr_topology **topology)
{
    tsr_status status;
    *topology = (tsr_topology *)calloc(1, sizeof **topology);
    if (!*topology) TSR_FAIL(TSR_ERROR_MEMORY, "topology: out of memory");
    (*topology)->context = context;
    (*topology)->room = room;
    for (int k = 0; k < 3; k++) (*topology)->upper[k] = -1;
    TSR_TRY_GOTO(allocate(*topology), fail);
    return TSR_OK;
fail:
    tsr_topology_destroy(topology);
    return status;
}
static tsr_status create(int64_t room, tsr_topology **topology)
{
    TSR_TRY(tsr_topology_room(NULL, room, topology));
    return TSR_OK;
}

tsr_status tsr_topology_create(int64_t count, const int32_t (*coordinates)[3], const uint64_t (*mask)[8], tsr_topology **topology)
{
    TSR_RETURNS(topology);
    tsr_status status;
    if (count < 0 || count > INT32_MAX || (count && (!coordinates || !mask)))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "topology: %lld tiles, expected 0 or more with coordinates and masks", (long long)count);
    TSR_TRY(create(count, topology));
    tsr_topology *t = *topology;
    for (int64_t i = 0; i < count; i++) {
        uint64_t any = 0;
        for (int k = 0; k < 3; k++)
            if (coordinates[i][k] <= -TSR_KEY_BIAS || coordinates[i][k] >= TSR_KEY_BIAS - 1)
                TSR_FAIL_GOTO(TSR_ERROR_ARGUMENT, fail, "topology: %c of tile %lld is %d, expected %d to %d", "xyz"[k], (long long)i,
                              coordinates[i][k], 1 - TSR_KEY_BIAS, TSR_KEY_BIAS - 2);
        for (int z = 0; z < 8; z++) any |= mask[i][z];
        const uint64_t key = tsr_key_make(coordinates[i][0], coordinates[i][1], coordinates[i][2]);
        if (t->count && key <= t->keys[t->count - 1])
            TSR_FAIL_GOTO(TSR_ERROR_ARGUMENT, fail, "topology: tile %lld is not in increasing order", (long long)i);
        if (!any) continue;
        t->keys[t->count] = key;
        memcpy(t->mask[t->count++], mask[i], sizeof mask[i]);
    }
    t->keys[t->count] = TSR_KEY_END;
    return TSR_OK;
fail:
    tsr_topology_destroy(topology);
    return status;
}

tsr_status tsr_topology_describe(const tsr_topology *t, tsr_topology_info *info)
{
    TSR_NEEDS(t, info);
    tsr_topology_info own = { .tiles = t->count, .voxels = t->context ? t->voxels : 0, .bytes = t->count * (int64_t)(sizeof *t->keys + sizeof *t->mask) };
    for (int64_t i = 0; i < t->count && !t->context; i++)
        for (int z = 0; z < 8; z++) own.voxels += __builtin_popcountll(t->mask[i][z]);
    return TSR_STRUCT_GIVE(info, &own);
}

tsr_status tsr_topology_download(const tsr_topology *topology, int32_t (*coordinates)[3], uint64_t (*mask)[8])
{
    TSR_NEEDS(topology);
    tsr_topology *host = NULL;
    const tsr_topology *t = topology;
    if (topology->context) {
        TSR_TRY(tsr_topology_copy(topology, NULL, &host));
        t = host;
    }
    for (int64_t i = 0; i < t->count; i++) {
        if (coordinates) {
            coordinates[i][0] = tsr_key_x(t->keys[i]);
            coordinates[i][1] = tsr_key_y(t->keys[i]);
            coordinates[i][2] = tsr_key_z(t->keys[i]);
        }
        if (mask) memcpy(mask[i], t->mask[i], sizeof mask[i]);
    }
    tsr_topology_destroy(&host);
    return TSR_OK;
}

/* ---- from a list --------------------------------------------------------------------------------------------------------------------------------- */

struct piece {
    uint64_t key;
    int64_t tile;
};

static int by_key(const void *a, const void *b)
{
    const uint64_t x = ((const struct piece *)a)->key, y = ((const struct piece *)b)->key;
    return x < y ? -1 : x > y;
}

/* Active voxels of a tile of edge 8 or 4 into the block of 8^3 it lies in. */
static void add_active(const tsr_tile_pool *pool, uint64_t key, const float *v, uint64_t mask[8])
{
    const int32_t e = 1 << pool->log2_edge, at[3] = { tsr_key_x(key) * e, tsr_key_y(key) * e, tsr_key_z(key) * e };
    for (int32_t z = 0; z < e; z++)
        for (int32_t y = 0; y < e; y++)
            for (int32_t x = 0; x < e; x++) {
                const float f = v[(z * e + y) * e + x];
                int active = f > -pool->band && f < pool->band;
                if (pool->bounded) active = active && at[0] + x < pool->domain[0] && at[1] + y < pool->domain[1] && at[2] + z < pool->domain[2];
                mask[(at[2] + z) & 7] |= (uint64_t)active << (((at[1] + y) & 7) * 8 + ((at[0] + x) & 7));
            }
}

static tsr_status gather(const tsr_tiles *tiles, const tsr_tiles_parts *parts, struct piece *piece, float *copy, tsr_topology *t)
{
    const int64_t n = parts->count;
    const int32_t down = 3 - tiles->pool.log2_edge;
    for (int64_t i = 0; i < n; i++)
        piece[i] =
            (struct piece){ tsr_key_make(tsr_key_x(parts->keys[i]) >> down, tsr_key_y(parts->keys[i]) >> down, tsr_key_z(parts->keys[i]) >> down),
                            i };
    if (down) qsort(piece, (size_t)n, sizeof *piece, by_key);
    for (int64_t i = 0; i < n;) {
        uint64_t mask[8] = { 0 }, any = 0;
        const uint64_t key = piece[i].key;
        for (; i < n && piece[i].key == key; i++) {
            const float *v;
            TSR_TRY(tsr_tiles_get(tiles, parts, piece[i].tile, 1, copy, &v));
            add_active(&tiles->pool, parts->keys[piece[i].tile], v, mask);
        }
        for (int z = 0; z < 8; z++) any |= mask[z];
        if (!any) continue;
        t->keys[t->count] = key;
        memcpy(t->mask[t->count++], mask, sizeof mask);
    }
    t->keys[t->count] = TSR_KEY_END;
    return TSR_OK;
}

tsr_status tsr_topology_of_tiles(const tsr_tiles *tiles, tsr_topology **topology)
{
    TSR_RETURNS(topology);
    TSR_NEEDS(tiles);
    tsr_tiles_parts parts;
    tsr_status status;
    struct piece *piece = NULL;
    float copy[512];
    TSR_TRY(tsr_tiles_take_apart(tiles, &parts));
    piece = (struct piece *)malloc(((size_t)parts.count + 1) * sizeof *piece);
    if (!piece) TSR_FAIL_GOTO(TSR_ERROR_MEMORY, done, "topology: out of memory for %lld tiles", (long long)parts.count);
    TSR_TRY_GOTO(create(parts.count, topology), done);
    TSR_TRY_GOTO(gather(tiles, &parts, piece, copy, *topology), done);
done:
    free(piece);
    tsr_tiles_parts_free(&parts);
    if (status != TSR_OK) tsr_topology_destroy(topology);
    return status;
}

/* ---- dilation -------------------------------------------------------------------------------------------------------------------------------------- */

struct pass {
    tsr_dilation dilation;
    int64_t parts, *begin; /* key ranges: part i covers keys from keys[begin[i]] (the first from nothing, the last to the end) */
    int64_t *found, *place;
    tsr_topology *to;
};

static void reach_range(void *user, int64_t begin, int64_t end, int worker)
{
    const struct pass *p = (const struct pass *)user;
    (void)worker;
    TSR_ISA_SELECT(tsr_dilation_reach)(&p->dilation, begin, end);
}

/* Counts the tiles of some parts, or writes them if `to` is there. */
static void slide_range(void *user, int64_t begin, int64_t end, int worker)
{
    struct pass *p = (struct pass *)user;
    const uint64_t *keys = p->dilation.keys;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        const uint64_t first = i ? keys[p->begin[i]] : 0, last = i + 1 < p->parts ? keys[p->begin[i + 1]] : TSR_KEY_END;
        p->found[i] = TSR_ISA_SELECT(tsr_dilation_slide)(&p->dilation, first, last, p->to ? p->to->keys + p->place[i] : NULL,
                                                         p->to ? p->to->mask + p->place[i] : NULL);
    }
}

static tsr_status check_limits(const tsr_topology *t)
{
    for (int64_t i = 0; i < t->count; i++) {
        const int32_t k[3] = { tsr_key_x(t->keys[i]), tsr_key_y(t->keys[i]), tsr_key_z(t->keys[i]) };
        for (int a = 0; a < 3; a++)
            if (k[a] <= 2 - TSR_KEY_BIAS || k[a] >= TSR_KEY_BIAS - 3)
                TSR_FAIL(TSR_ERROR_ARGUMENT, "topology: tile (%d, %d, %d) cannot be dilated: the limits of the coordinates are reached", k[0], k[1],
                         k[2]);
    }
    return TSR_OK;
}

/* One thread writes at once, into room for the most there can be (memory that is not touched costs nothing); several count first. */
static tsr_status write_tiles(tsr_context *context, struct pass *p)
{
    const int64_t count = p->dilation.count, bound = TSR_ISA_SELECT(tsr_dilation_bound)(&p->dilation);
    int64_t total = 0;
    if (p->parts > 1 || bound > 8 * count || bound > INT32_MAX) {
        tsr_parallel(context->threads, p->parts, 1, slide_range, p);
        for (int64_t i = 0; i < p->parts; i++) {
            p->place[i] = total;
            total += p->found[i];
        }
        if (total > INT32_MAX) TSR_FAIL(TSR_ERROR_CAPACITY, "topology: %lld tiles after dilation, expected at most %d", (long long)total, INT32_MAX);
        TSR_TRY(create(total, &p->to));
        tsr_parallel(context->threads, p->parts, 1, slide_range, p);
    } else {
        p->place[0] = 0;
        TSR_TRY(create(bound, &p->to));
        slide_range(p, 0, 1, 0);
        total = p->found[0];
    }
    p->to->count = total;
    p->to->keys[total] = TSR_KEY_END;
    return TSR_OK;
}

static tsr_status one_step(tsr_context *context, const tsr_topology *from, int32_t neighbours, tsr_topology **dilated)
{
    enum { PARTS = 64 };
    int64_t begin[PARTS], found[PARTS], place[PARTS];
    struct pass p = { .begin = begin, .found = found, .place = place };
    tsr_dilation *d = &p.dilation;
    TSR_TRY(check_limits(from));
    if (from->count == 0) {
        TSR_TRY(create(0, dilated));
        return TSR_OK;
    }
    d->keys = from->keys;
    d->mask = (const uint64_t(*)[8])from->mask;
    d->count = from->count;
    d->words = from->count / 64 + 1;
    d->neighbours = neighbours;
    for (int i = 0; i < TSR_TILE_DIRECTIONS; i++)
        if (tsr_topology_reaches(i, neighbours)) d->direction[d->used++] = i;
    p.parts = context->threads == 1 || from->count < 4 * PARTS ? 1 : PARTS;
    for (int64_t i = 0; i < p.parts; i++) begin[i] = i * from->count / p.parts;
    uint64_t *reach = (uint64_t *)malloc((size_t)d->used * (size_t)d->words * sizeof *reach);
    if (!reach) TSR_FAIL(TSR_ERROR_MEMORY, "topology: out of memory for %lld tiles", (long long)from->count);
    for (int32_t i = 0; i < d->used; i++) d->reach[i] = reach + i * d->words;
    tsr_parallel(context->threads, d->words, 64, reach_range, &p);
    tsr_status status = write_tiles(context, &p);
    free(reach);
    if (status == TSR_OK) *dilated = p.to;
    else tsr_topology_destroy(&p.to);
    return status;
}

tsr_status tsr_topology_dilate(tsr_context *context, const tsr_topology *topology, int32_t steps, int32_t neighbours, tsr_topology **dilated)
{
    TSR_RETURNS(dilated);
    TSR_NEEDS(context, topology);
    if (steps < 0 || (neighbours != 6 && neighbours != 18 && neighbours != 26))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "topology: %d steps of %d neighbours, expected 0 or more of 6, 18 or 26", steps, neighbours);
    if (topology->context && topology->context != context)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "topology: it lies in the memory of another context's device (tsr_topology_copy brings it here)");
    tsr_topology *now = NULL, *next;
    if (steps == 0) return tsr_topology_copy(topology, topology->context, dilated);
    for (int32_t i = 0; i < steps; i++) {
        const tsr_topology *from = i ? now : topology;
        tsr_status status = topology->context ? tsr_topology_device_step(from, neighbours, &next) : one_step(context, from, neighbours, &next);
        tsr_topology_destroy(&now);
        TSR_TRY(status);
        now = next;
    }
    *dilated = now;
    return TSR_OK;
}
