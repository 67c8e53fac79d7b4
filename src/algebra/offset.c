/* algebra/offset.c: the surface a distance away. */
#include "algebra/offset.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/parallel.h"
#include "algebra/csg.h"
#include "algebra/csg_kernels.h"
#include "tiles/tiles_build.h"

/* Tiles of the result, in the order in which they were found. */
struct found {
    uint64_t *key;
    float *values;
    int64_t count, room;
    int left; /* some voxel is not grown over */
};

struct job {
    const tsr_tiles *tiles;
    const tsr_offset_surface *surface;
    float sign, distance, band, spacing[3], beside; /* beside: as far as the nearest crossing may be from the nearest place */
    int32_t edge;
    int32_t first[3], blocks[3]; /* blocks of the result, of 2^TSR_OFFSET_TOP voxels */
    struct found *found;         /* [blocks] */
    int failed;                  /* out of memory */
};

/* One worker: the nodes of each level that a block has kept. */
struct walk {
    struct job *job;
    struct found *to;
    int32_t *kept[TSR_OFFSET_LEVELS], *below[TSR_OFFSET_LEVELS], *few;
    float *values; /* of the tile that is filled */
    int32_t origin[3];
    uint32_t id; /* the tile in the list that is given */
    int any;      /* within the band */
    int32_t last; /* the crossing nearest to a voxel before, or -1 */
};

/* ---- nearest -------------------------------------------------------------------------------------------------------------------------------- */

/* Those of `count` nodes that may hold what is nearest to a place within `reach` of `centre`: their numbers to `kept`. *least, *most: bounds of the distance of
 * `centre` itself; *most is given where some crossing is known, or HUGE_VALF. */
static int32_t keep(const tsr_offset_node *node, const int32_t *nodes, int32_t count, const float centre[3], float reach, int32_t *kept, float *least,
                    float *most)
{
    float upper = HUGE_VALF, lower = HUGE_VALF;
    int32_t n = 0;
    for (int32_t i = 0; i < count && *most == HUGE_VALF; i++) {
        const float *m = node[nodes[i]].middle, x = m[0] - centre[0], y = m[1] - centre[1], z = m[2] - centre[2];
        upper = tsr_minf(upper, x * x + y * y + z * z);
    }
    if (*most == HUGE_VALF) *most = sqrtf(upper);
    const float limit = (*most + 2 * reach) * 1.0001f, within = limit * limit;
    for (int32_t i = 0; i < count; i++) {
        const float square = tsr_offset_least(&node[nodes[i]], centre[0], centre[1], centre[2]);
        lower = square < lower ? square : lower;
        kept[n] = nodes[i];
        n += square <= within;
    }
    *least = sqrtf(lower);
    return n;
}

/* The distance to the surface near a crossing: that of the sphere which has the crossing's normal and curvature; where the nearest place is not beside the crossing, at
 * an edge, that of the crossing. */
static float distance_by(const tsr_offset_surface *s, int32_t k, const float at[3], float square, float near)
{
    float along = 0;
    const float straight = sqrtf(square), bent = s->bent[k];
    for (int a = 0; a < 3; a++) along += (at[a] - s->at[a][k]) * s->normal[a][k];
    const float wider = 1 + bent * along, beside = near * wider, inner = 1 + 2 * bent * along + bent * bent * square; /* what is beside grows on the way */
    if (!(along > 0) || !(wider > 0.25f) || square - along * along > beside * beside || !(inner > 0)) return straight;
    return fminf((bent * square + 2 * along) / (sqrtf(inner) + 1), straight);
}

/* ---- blocks --------------------------------------------------------------------------------------------------------------------------------- */

static float square_to(const tsr_offset_surface *s, int32_t k, float x, float y, float z)
{
    const float dx = x - s->at[0][k], dy = y - s->at[1][k], dz = z - s->at[2][k];
    return dx * dx + dy * dy + dz * dz;
}

/* Eight voxels of the tile, from `at` in it on. */
static void fill_eight(struct walk *w, const int32_t at[3], const int32_t *cells, int32_t count)
{
    const struct job *j = w->job;
    const int32_t E = j->edge;
    const float *phi = tsr_csg_phi(&j->tiles->pool) + (int64_t)w->id * E * E * E;
    float place[3][TSR_OFFSET_LANES], square[TSR_OFFSET_LANES], centre[3], reach = 0, least, most = HUGE_VALF;
    int32_t nearest[TSR_OFFSET_LANES];
    for (int a = 0; a < 3; a++) {
        centre[a] = ((float)(w->origin[a] + at[a]) + 0.5f) * j->spacing[a];
        reach += 0.25f * j->spacing[a] * j->spacing[a];
    }
    for (int l = 0; l < TSR_OFFSET_LANES; l++) {
        for (int a = 0; a < 3; a++) place[a][l] = (float)(w->origin[a] + at[a] + (l >> a & 1)) * j->spacing[a];
        nearest[l] = w->last;
        square[l] = w->last < 0 ? HUGE_VALF : square_to(j->surface, w->last, place[0][l], place[1][l], place[2][l]);
    }
    if (w->last >= 0) most = sqrtf(square_to(j->surface, w->last, centre[0], centre[1], centre[2]));
    count = keep(j->surface->node[0], cells, count, centre, sqrtf(reach) * 1.0001f, w->few, &least, &most);
    TSR_ISA_SELECT(tsr_offset_nearest)(j->surface, w->few, count, (const float(*)[TSR_OFFSET_LANES])place, square, nearest);
    w->last = nearest[0];
    for (int l = 0; l < TSR_OFFSET_LANES; l++) {
        const int32_t i = ((at[2] + (l >> 2)) * E + at[1] + (l >> 1 & 1)) * E + at[0] + (l & 1);
        const float from[3] = { place[0][l], place[1][l], place[2][l] };
        const int inside = (phi[i] < 0) == (j->sign > 0);
        const float d = inside ? j->band : distance_by(j->surface, nearest[l], from, square[l], j->beside) - j->distance;
        const float v = inside ? -j->band : tsr_clampf(d, -j->band, j->band);
        w->values[i] = j->sign * v;
        w->any |= tsr_absf(v) < j->band;
        w->to->left |= v >= 0;
    }
}

/* The nodes below those that a block has kept. */
static int32_t expand(struct walk *w, int level, int32_t count)
{
    const tsr_offset_node *node = w->job->surface->node[level - TSR_OFFSET_CELL];
    int32_t n = 0;
    for (int32_t i = 0; i < count; i++)
        for (int32_t k = 0; k < node[w->kept[level - TSR_OFFSET_CELL][i]].count; k++)
            w->below[level - 1 - TSR_OFFSET_CELL][n++] = node[w->kept[level - TSR_OFFSET_CELL][i]].first + k;
    return n;
}

static void begin_tile(struct walk *w, const int32_t block[3])
{
    struct job *j = w->job;
    const int32_t V = j->edge * j->edge * j->edge;
    struct found *f = w->to;
    if (f->count == f->room) {
        const int64_t room = f->room ? 2 * f->room : 16;
        uint64_t *key = (uint64_t *)realloc(f->key, (size_t)room * sizeof *key);
        if (key) f->key = key;
        float *values = key ? (float *)realloc(f->values, (size_t)(room * V) * sizeof *values) : NULL;
        if (values) f->values = values;
        else __atomic_store_n(&j->failed, 1, __ATOMIC_RELAXED);
        if (values) f->room = room;
    }
    w->any = 0;
    w->last = -1; /* a tile does not depend on others */
    memcpy(w->origin, block, sizeof w->origin);
    w->values = f->room > f->count ? f->values + f->count * V : NULL;
}

static void end_tile(struct walk *w, uint64_t key)
{
    struct found *f = w->to;
    if (!w->any) return;
    f->key[f->count++] = key;
}

/* A block of 2^level voxels that begins at voxel `block`, for which the first `count` of `below` may count. */
static void descend(struct walk *w, int level, const int32_t block[3], int32_t count)
{
    struct job *j = w->job;
    const int at = level - TSR_OFFSET_CELL;
    const int32_t size = 1 << level, half = size / 2;
    float centre[3], reach = 0, least, most = HUGE_VALF;
    uint64_t key = 0;
    for (int a = 0; a < 3; a++) {
        centre[a] = ((float)block[a] + 0.5f * (float)(size - 1)) * j->spacing[a];
        reach += (0.5f * (float)(size - 1) * j->spacing[a]) * (0.5f * (float)(size - 1) * j->spacing[a]);
    }
    reach = sqrtf(reach) * 1.0001f;
    if (__atomic_load_n(&j->failed, __ATOMIC_RELAXED)) return;
    count = keep(j->surface->node[at], w->below[at], count, centre, reach, w->kept[at], &least, &most);
    if (size >= j->edge && (least - reach > j->distance + j->band || most + reach < j->distance - j->band)) return;
    if (size == j->edge) {
        const tsr_tile_pool *p = &j->tiles->pool;
        key = tsr_key_make(block[0] >> p->log2_edge, block[1] >> p->log2_edge, block[2] >> p->log2_edge);
        if (!tsr_tile_allowed(p, key)) return;
        w->id = tsr_csg_find(p, key);
        if (w->id == (j->sign > 0 ? TSR_TILE_INSIDE : TSR_TILE_OUTSIDE)) return;
        begin_tile(w, block);
        if (!w->values) return;
    }
    if (level == TSR_OFFSET_CELL) {
        for (int k = 0; k < 8; k++) {
            const int32_t from[3] = { block[0] - w->origin[0] + 2 * (k & 1), block[1] - w->origin[1] + 2 * (k >> 1 & 1), block[2] - w->origin[2] + 2 * (k >> 2) };
            fill_eight(w, from, w->kept[at], count);
        }
    } else {
        const int32_t below = expand(w, level, count);
        for (int k = 0; k < 8; k++) {
            const int32_t from[3] = { block[0] + half * (k & 1), block[1] + half * (k >> 1 & 1), block[2] + half * (k >> 2) };
            descend(w, level - 1, from, below);
        }
    }
    if (size == j->edge) end_tile(w, key);
}

static int take_walk(struct walk *w)
{
    int missing = !(w->few = (int32_t *)malloc((size_t)w->job->surface->nodes[0] * sizeof(int32_t)));
    for (int k = 0; k < TSR_OFFSET_LEVELS; k++) {
        const size_t n = (size_t)w->job->surface->nodes[k];
        missing |= !(w->kept[k] = (int32_t *)malloc(n * sizeof(int32_t)));
        missing |= !(w->below[k] = (int32_t *)malloc(n * sizeof(int32_t)));
    }
    return !missing;
}

static void blocks_range(void *user, int64_t begin, int64_t end, int worker)
{
    struct job *j = (struct job *)user;
    struct walk w = { .job = j };
    const int top = TSR_OFFSET_LEVELS - 1;
    const int32_t all = (int32_t)j->surface->nodes[top];
    (void)worker;
    if (!take_walk(&w)) __atomic_store_n(&j->failed, 1, __ATOMIC_RELAXED);
    for (int64_t i = begin; i < end && !__atomic_load_n(&j->failed, __ATOMIC_RELAXED); i++) {
        const int32_t at[3] = { (int32_t)(i % j->blocks[0]), (int32_t)(i / j->blocks[0] % j->blocks[1]), (int32_t)(i / j->blocks[0] / j->blocks[1]) };
        int32_t block[3];
        for (int a = 0; a < 3; a++) block[a] = (j->first[a] + at[a]) * (1 << TSR_OFFSET_TOP);
        for (int32_t k = 0; k < all; k++) w.below[top][k] = k;
        w.to = &j->found[i];
        descend(&w, TSR_OFFSET_TOP, block, all);
    }
    for (int k = 0; k < TSR_OFFSET_LEVELS; k++) {
        free(w.kept[k]);
        free(w.below[k]);
    }
    free(w.few);
}

/* ---- the list ------------------------------------------------------------------------------------------------------------------------------- */

/* Blocks that the result can lie in; their number, 0 where there are too many. */
static int64_t place_blocks(struct job *j)
{
    const tsr_offset_surface *s = j->surface;
    const int32_t size = 1 << TSR_OFFSET_TOP;
    int64_t count = 1;
    for (int a = 0; a < 3; a++) {
        float low = HUGE_VALF, high = -HUGE_VALF;
        for (int64_t i = 0; i < s->nodes[TSR_OFFSET_LEVELS - 1]; i++) {
            low = fminf(low, s->node[TSR_OFFSET_LEVELS - 1][i].low[a]);
            high = fmaxf(high, s->node[TSR_OFFSET_LEVELS - 1][i].high[a]);
        }
        const double h = j->spacing[a] > 0 ? (double)j->spacing[a] : 1, wide = j->spacing[a] > 0 ? (double)(j->distance + j->band) : 0;
        int64_t first = (int64_t)floor(((double)low - wide) / h) - 1, end = (int64_t)ceil(((double)high + wide) / h) + 2;
        if (j->tiles->pool.bounded) {
            first = tsr_max64(first, 0);
            end = tsr_min64(end, j->tiles->pool.domain[a]);
        }
        j->first[a] = (int32_t)floor((double)first / size);
        j->blocks[a] = (int32_t)tsr_max64(tsr_ceil_div(end, size) - j->first[a], 1);
        if (count > INT32_MAX / j->blocks[a]) return 0;
        count *= j->blocks[a];
    }
    return count;
}

struct entry {
    uint64_t key;
    const float *values;
};
static int by_key(const void *a, const void *b)
{
    const uint64_t x = ((const struct entry *)a)->key, y = ((const struct entry *)b)->key;
    return x < y ? -1 : x > y;
}

/* The tiles that were found as a list like the one given. */
static tsr_status put_together(const struct job *j, const tsr_tiles *like, int64_t blocks, tsr_tiles **result)
{
    const int64_t V = (int64_t)j->edge * j->edge * j->edge;
    tsr_tiles_options options = TSR_TILES_OPTIONS;
    tsr_tiles_contents contents = TSR_TILES_CONTENTS;
    int64_t count = 0, n = 0;
    int left = 0;
    for (int64_t i = 0; i < blocks; i++) {
        count += j->found[i].count;
        left |= j->found[i].left;
    }
    if (!left) count = blocks = 0;
    struct entry *entry = (struct entry *)malloc((size_t)tsr_max64(count, 1) * sizeof *entry);
    int32_t(*coordinates)[3] = (int32_t(*)[3])malloc((size_t)tsr_max64(count, 1) * sizeof *coordinates);
    float *values = (float *)malloc((size_t)tsr_max64(count * V, 1) * sizeof *values);
    tsr_status status = entry && coordinates && values ? TSR_OK : TSR_FAILED(TSR_ERROR_MEMORY, "offset: out of memory for %lld tiles", (long long)count);
    if (status == TSR_OK) {
        for (int64_t i = 0; i < blocks; i++)
            for (int64_t k = 0; k < j->found[i].count; k++) entry[n++] = (struct entry){ j->found[i].key[k], j->found[i].values + k * V };
        qsort(entry, (size_t)count, sizeof *entry, by_key);
        for (int64_t i = 0; i < count; i++) {
            const int32_t at[3] = { tsr_key_x(entry[i].key), tsr_key_y(entry[i].key), tsr_key_z(entry[i].key) };
            memcpy(coordinates[i], at, sizeof at);
            memcpy(values + i * V, entry[i].values, (size_t)V * sizeof *values);
        }
        options.edge = j->edge;
        options.index = like->pool.table ? TSR_TILES_PAGED : TSR_TILES_SORTED;
        if (like->pool.bounded) options.domain = (tsr_size3){ like->pool.domain[0], like->pool.domain[1], like->pool.domain[2] };
        options.band = (double)like->pool.band;
        options.memory_limit = like->memory_limit;
        contents.count = count;
        contents.coordinates = (const int32_t(*)[3])coordinates;
        contents.values = values;
        contents.background_inside = j->sign > 0; /* grown over all of the domain, or gone */
        status = tsr_tiles_assemble(like->context, &like->geometry, &options, &contents, result);
    }
    free(entry);
    free(coordinates);
    free(values);
    return status;
}

static tsr_status search(struct job *j, const tsr_tiles *like, const tsr_progress *progress, tsr_tiles **result)
{
    const int64_t blocks = place_blocks(j);
    tsr_status status = TSR_OK;
    if (!blocks) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "offset: %g is too far for this list, expected less", (double)j->distance);
    j->found = (struct found *)calloc((size_t)blocks, sizeof *j->found);
    if (!j->found) TSR_FAIL(TSR_ERROR_MEMORY, "offset: out of memory for %lld blocks", (long long)blocks);
    const int threads = like->context->threads > 0 ? like->context->threads : 1;
    if (tsr_progress_report(progress, 0.1, "offset")) status = TSR_FAILED(TSR_ERROR_CANCELLED, "cancelled during offset");
    if (status == TSR_OK) tsr_parallel(threads, blocks, 1, blocks_range, j);
    if (status == TSR_OK && j->failed) status = TSR_FAILED(TSR_ERROR_MEMORY, "offset: out of memory for tiles");
    if (status == TSR_OK && tsr_progress_report(progress, 0.9, "offset")) status = TSR_FAILED(TSR_ERROR_CANCELLED, "cancelled during offset");
    if (status == TSR_OK) status = put_together(j, like, blocks, result);
    for (int64_t i = 0; i < blocks; i++) {
        free(j->found[i].key);
        free(j->found[i].values);
    }
    free(j->found);
    return status;
}

static tsr_status offset(const tsr_tiles *host, const tsr_tiles *like, double distance, const tsr_progress *progress, tsr_tiles **result)
{
    tsr_offset_surface surface;
    struct job j = { .tiles = host, .surface = &surface, .sign = distance > 0 ? 1.0f : -1.0f, .band = host->pool.band };
    float squares = 0, least = HUGE_VALF;
    j.distance = (float)fabs(distance);
    j.edge = 1 << host->pool.log2_edge;
    for (int a = 0; a < 3; a++) {
        j.spacing[a] = tsr_pool_flat(&host->pool, a) ? 0 : host->pool.spacing[a];
        squares += j.spacing[a] * j.spacing[a];
        if (j.spacing[a] > 0) least = fminf(least, j.spacing[a]);
    }
    j.beside = 0.64f * sqrtf(squares - (tsr_pool_flat(&host->pool, 0) || tsr_pool_flat(&host->pool, 1) || tsr_pool_flat(&host->pool, 2) ? 0 : least * least));
    TSR_TRY(tsr_offset_surface_take(host, j.sign, j.spacing, &surface));
    tsr_status status = TSR_OK;
    if (surface.count == 0) status = tsr_tiles_copy(like, like->context, result);
    else status = search(&j, like, progress, result);
    tsr_offset_surface_drop(&surface);
    return status;
}

tsr_status tsr_tiles_offset(const tsr_tiles *tiles, double distance, const tsr_progress *progress, tsr_tiles **result)
{
    TSR_RETURNS(result);
    TSR_NEEDS(tiles);
    tsr_context *context = NULL;
    tsr_tiles *copy = NULL;
    tsr_status status = TSR_OK;
    const int were = TSR_TILES_WERE_WHOLE(tiles);
    TSR_TRY(tsr_csg_require_field(tiles, "offset"));
    if (!(fabs(distance) >= (double)tiles->pool.band && fabs(distance) < 1e9))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "offset: distance is %g, expected at least the band of %g, either way, and below 1e9", distance,
                 (double)tiles->pool.band);
    TSR_TRY(tiles->context->backend->synchronize(tiles->context->queue));
    if (!tsr_tiles_host_readable(tiles)) {
        const tsr_context_options cpu = { .struct_size = sizeof cpu, .device = "cpu" };
        status = tsr_context_create(&cpu, &context);
        if (status == TSR_OK) status = tsr_tiles_copy(tiles, context, &copy);
    }
    if (status == TSR_OK) status = offset(copy ? copy : tiles, tiles, distance, progress, result);
    tsr_tiles_destroy(&copy);
    tsr_context_destroy(&context);
    TSR_TRY(status);
    return TSR_TILES_ARE_WHOLE(were, *result, "offset");
}
