/* grid/topology.c: sorted tiles of voxel bits.
 *
 * Dilation slides over the list (spec levelset-stl.md 2.6): the tiles of the result are visited in order, each with pointers to the tiles
 * around it that move forward only. A tile is 8 words of 8 x 8 bits, so a step to a face is a shift of words, and nothing is unpacked. */
#include "tessera/topology.h"

#include <stdlib.h>
#include <string.h>

#include "core/parallel.h"
#include "grid/tiles_build.h"

struct tsr_topology {
    int64_t count;
    uint64_t *keys;      /* [count + 1], the last is TSR_KEY_END */
    uint64_t (*mask)[8]; /* [count] */
};

void tsr_topology_destroy(tsr_topology **topology)
{
    if (!topology || !*topology) return;
    free((*topology)->keys);
    free((*topology)->mask);
    free(*topology);
    *topology = NULL;
}

static tsr_status create(int64_t room, tsr_topology **topology)
{
    tsr_topology *t = (tsr_topology *)calloc(1, sizeof *t);
    if (t) {
        t->keys = (uint64_t *)malloc(((size_t)room + 1) * sizeof *t->keys);
        t->mask = (uint64_t(*)[8])aligned_alloc(64, ((size_t)room + 1) * sizeof *t->mask);
    }
    if (!t || !t->keys || !t->mask) {
        tsr_topology_destroy(&t);
        TSR_FAIL(TSR_ERROR_MEMORY, "topology: out of memory for %lld tiles", (long long)room);
    }
    t->keys[0] = TSR_KEY_END;
    *topology = t;
    return TSR_OK;
}

tsr_status tsr_topology_create(int64_t count, const int32_t (*coordinates)[3], const uint64_t (*mask)[8], tsr_topology **topology)
{
    tsr_status status;
    if (!topology) TSR_FAIL(TSR_ERROR_ARGUMENT, "topology is NULL");
    *topology = NULL;
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

void tsr_topology_describe(const tsr_topology *t, tsr_topology_info *info)
{
    *info = (tsr_topology_info){ t->count, 0, t->count * (int64_t)(sizeof *t->keys + sizeof *t->mask) };
    for (int64_t i = 0; i < t->count; i++)
        for (int z = 0; z < 8; z++) info->voxels += __builtin_popcountll(t->mask[i][z]);
}

void tsr_topology_download(const tsr_topology *t, int32_t (*coordinates)[3], uint64_t (*mask)[8])
{
    for (int64_t i = 0; i < t->count; i++) {
        if (coordinates) {
            coordinates[i][0] = tsr_key_x(t->keys[i]);
            coordinates[i][1] = tsr_key_y(t->keys[i]);
            coordinates[i][2] = tsr_key_z(t->keys[i]);
        }
        if (mask) memcpy(mask[i], t->mask[i], sizeof mask[i]);
    }
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
    tsr_tiles_parts parts;
    tsr_status status;
    struct piece *piece = NULL;
    float copy[512];
    if (!topology) TSR_FAIL(TSR_ERROR_ARGUMENT, "topology is NULL");
    *topology = NULL;
    if (!tiles) TSR_FAIL(TSR_ERROR_ARGUMENT, "tile list is NULL");
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

#define X_FIRST 0x0101010101010101ull /* voxels with x = 0 of a plane */
#define X_LAST 0x8080808080808080ull
#define Y_FIRST 0xffull
#define Y_LAST 0xff00000000000000ull

/* Which of the 27 places around a tile a mask reaches in one step. */
static uint32_t reach(const uint64_t m[8], int32_t neighbours)
{
    uint64_t all = 0;
    uint32_t word = 1u << TSR_TILE_MIDDLE;
    for (int z = 0; z < 8; z++) all |= m[z];
    const uint64_t plane[3] = { m[0], all, m[7] };
    for (int d = 0; d < TSR_TILE_DIRECTIONS; d++) {
        const int x = tsr_direction_x(d), y = tsr_direction_y(d), z = tsr_direction_z(d), moved = (x != 0) + (y != 0) + (z != 0);
        if (moved == 0 || (neighbours == 6 && moved > 1) || (neighbours == 18 && moved > 2)) continue;
        const uint64_t side = plane[z + 1] & (x < 0 ? X_FIRST : x > 0 ? X_LAST : UINT64_MAX) & (y < 0 ? Y_FIRST : y > 0 ? Y_LAST : UINT64_MAX);
        word |= (uint32_t)(side != 0) << d;
    }
    return word;
}

static const uint64_t nothing[8];

/* One plane (z of the tile) stepped along x, with the planes of the tiles at x-1 and x+1. */
static inline uint64_t step_x(uint64_t m, uint64_t left, uint64_t right)
{
    return m | (m & ~X_LAST) << 1 | (left & X_LAST) >> 7 | (m & ~X_FIRST) >> 1 | (right & X_FIRST) << 7;
}
static inline uint64_t step_y(uint64_t m, uint64_t below, uint64_t above) { return m | m << 8 | below >> 56 | m >> 8 | above << 56; }

/* 6 neighbours: the tile itself and those at its faces. around[d] = the mask in direction d or nothing. */
static void dilate_faces(const uint64_t *const around[27], uint64_t to[8])
{
    const uint64_t *m = around[13], *left = around[12], *right = around[14], *below = around[10], *above = around[16];
    for (int z = 0; z < 8; z++)
        to[z] =
            step_x(m[z], left[z], right[z]) | step_y(m[z], below[z], above[z]) | (z ? m[z - 1] : around[4][7]) | (z < 7 ? m[z + 1] : around[22][0]);
}

/* A plane of 24 x 24 voxels round the tile's own is not needed: its rows of three tiles are. Box (26) is x, then y, then z; 18 leaves out the corners. */
static void dilate_box(const uint64_t *const around[27], int32_t neighbours, uint64_t to[8])
{
    uint64_t row[3][10], cross[10], box[10]; /* [y of tile][z = -1 .. 8]: stepped along x */
    for (int y = 0; y < 3; y++)
        for (int z = -1; z <= 8; z++) {
            const int dz = z < 0 ? 0 : z > 7 ? 2 : 1, p = z & 7, d = 9 * dz + 3 * y;
            row[y][z + 1] = step_x(around[d + 1][p], around[d][p], around[d + 2][p]);
        }
    for (int z = -1; z <= 8; z++) {
        const int dz = z < 0 ? 0 : z > 7 ? 2 : 1, p = z & 7;
        box[z + 1] = step_y(row[1][z + 1], row[0][z + 1], row[2][z + 1]);
        cross[z + 1] = row[1][z + 1] | step_y(around[9 * dz + 4][p], around[9 * dz + 1][p], around[9 * dz + 7][p]);
    }
    for (int z = 0; z < 8; z++) to[z] = box[z + 1] | (neighbours == 26 ? box[z] | box[z + 2] : cross[z] | cross[z + 2]);
}

struct pass {
    const tsr_topology *from;
    int32_t neighbours, used; /* directions */
    int32_t direction[27];
    uint32_t *reach;       /* [count] */
    int64_t parts, *begin; /* key ranges: part i covers keys from keys[begin[i]] (the first from nothing, the last to the end) */
    int64_t *found, *place;
    tsr_topology *to;
};

static void reach_range(void *user, int64_t begin, int64_t end, int worker)
{
    struct pass *p = (struct pass *)user;
    (void)worker;
    for (int64_t i = begin; i < end; i++) p->reach[i] = reach(p->from->mask[i], p->neighbours);
}

/* Algorithm 6.2 over one range of keys: counts the tiles, or writes them if `to` is there. */
static int64_t slide(const struct pass *p, int64_t part, tsr_topology *to, int64_t place)
{
    const uint64_t *keys = p->from->keys;
    const int64_t n = p->from->count;
    const uint64_t first = part ? keys[p->begin[part]] : 0, last = part + 1 < p->parts ? keys[p->begin[part + 1]] : TSR_KEY_END;
    int64_t at[27], found = 0;
    uint64_t next[27]; /* key of the result that each pointer asks for */
    for (int i = 0; i < p->used; i++) {
        const uint64_t offset = (uint64_t)tsr_key_offset(p->direction[i]);
        at[i] = first ? tsr_key_lower_bound(keys, (int32_t)n, first - offset) : 0; /* source + offset = result */
        while (at[i] < n && !(p->reach[at[i]] >> p->direction[i] & 1u)) at[i]++;
        next[i] = at[i] < n ? keys[at[i]] + offset : TSR_KEY_END;
    }
    for (;;) {
        uint64_t current = TSR_KEY_END;
        for (int i = 0; i < p->used; i++) current = next[i] < current ? next[i] : current;
        if (current >= last || current == TSR_KEY_END) return found;
        const uint64_t *around[27];
        if (to)
            for (int d = 0; d < 27; d++) around[d] = nothing;
        for (int i = 0; i < p->used; i++) {
            if (next[i] != current) continue;
            const int d = p->direction[i];
            if (to) around[26 - d] = p->from->mask[at[i]];
            const uint64_t offset = (uint64_t)tsr_key_offset(d);
            do at[i]++;
            while (at[i] < n && !(p->reach[at[i]] >> d & 1u));
            next[i] = at[i] < n ? keys[at[i]] + offset : TSR_KEY_END;
        }
        if (to) {
            to->keys[place + found] = current;
            if (p->neighbours == 6) dilate_faces(around, to->mask[place + found]);
            else dilate_box(around, p->neighbours, to->mask[place + found]);
        }
        found++;
    }
}

static void slide_range(void *user, int64_t begin, int64_t end, int worker)
{
    struct pass *p = (struct pass *)user;
    (void)worker;
    for (int64_t i = begin; i < end; i++) p->found[i] = slide(p, i, p->to, p->to ? p->place[i] : 0);
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

static tsr_status one_step(tsr_context *context, const tsr_topology *from, int32_t neighbours, tsr_topology **dilated)
{
    enum { PARTS = 64 };
    int64_t begin[PARTS], found[PARTS], place[PARTS], total = 0;
    struct pass p = { .from = from, .neighbours = neighbours, .begin = begin, .found = found, .place = place };
    tsr_status status;
    TSR_TRY(check_limits(from));
    for (int d = 0; d < TSR_TILE_DIRECTIONS; d++) {
        const int moved = (tsr_direction_x(d) != 0) + (tsr_direction_y(d) != 0) + (tsr_direction_z(d) != 0);
        if (moved <= (neighbours == 6 ? 1 : neighbours == 18 ? 2 : 3)) p.direction[p.used++] = d;
    }
    p.parts = context->threads == 1 || from->count < 4 * PARTS ? 1 : PARTS;
    for (int64_t i = 0; i < p.parts; i++) begin[i] = i * from->count / p.parts;
    p.reach = (uint32_t *)malloc(((size_t)from->count + 1) * sizeof *p.reach);
    if (!p.reach) TSR_FAIL(TSR_ERROR_MEMORY, "topology: out of memory for %lld tiles", (long long)from->count);
    if (from->count) {
        tsr_parallel(context->threads, from->count, 4096, reach_range, &p);
        tsr_parallel(context->threads, p.parts, 1, slide_range, &p);
        for (int64_t i = 0; i < p.parts; i++) {
            place[i] = total;
            total += found[i];
        }
    }
    if (total > INT32_MAX)
        TSR_FAIL_GOTO(TSR_ERROR_CAPACITY, done, "topology: %lld tiles after dilation, expected at most %d", (long long)total, INT32_MAX);
    TSR_TRY_GOTO(create(total, &p.to), done);
    if (total) tsr_parallel(context->threads, p.parts, 1, slide_range, &p);
    p.to->count = total;
    p.to->keys[total] = TSR_KEY_END;
    *dilated = p.to;
    status = TSR_OK;
done:
    free(p.reach);
    return status;
}

tsr_status tsr_topology_dilate(tsr_context *context, const tsr_topology *topology, int32_t steps, int32_t neighbours, tsr_topology **dilated)
{
    if (!dilated) TSR_FAIL(TSR_ERROR_ARGUMENT, "dilated is NULL");
    *dilated = NULL;
    if (!context || !topology) TSR_FAIL(TSR_ERROR_ARGUMENT, "context or topology is NULL");
    if (steps < 0 || (neighbours != 6 && neighbours != 18 && neighbours != 26))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "topology: %d steps of %d neighbours, expected 0 or more of 6, 18 or 26", steps, neighbours);
    tsr_topology *now = NULL, *next;
    TSR_TRY(create(topology->count, &now));
    now->count = topology->count;
    memcpy(now->keys, topology->keys, ((size_t)topology->count + 1) * sizeof *now->keys);
    memcpy(now->mask, topology->mask, (size_t)topology->count * sizeof *now->mask);
    for (int32_t i = 0; i < steps; i++) {
        tsr_status status = one_step(context, i ? now : topology, neighbours, &next);
        tsr_topology_destroy(&now);
        TSR_TRY(status);
        now = next;
    }
    *dilated = now;
    return TSR_OK;
}
