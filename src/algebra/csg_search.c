/* algebra/csg_search.c: which tiles a surface meets. */
#include "algebra/csg_search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/parallel.h"
#include "device/memory_limit.h"

void tsr_tiles_middle(const tsr_tile_pool *pool, const int64_t at[3], int level, float x[3])
{
    for (int k = 0; k < 3; k++) {
        double edge = (double)(1 << pool->log2_edge);
        x[k] = (float)(((double)at[k] + 0.5 * (double)((int64_t)1 << level)) * edge - 0.5) * pool->spacing[k];
    }
}

static int64_t memory_for(const tsr_tiles *tiles) { return tsr_memory_most(tiles->context, tiles->memory_limit); }

int64_t tsr_tiles_most(const tsr_tiles *tiles)
{
    const int64_t bytes = (int64_t)(tiles->pool.coded ? 2 * sizeof(int16_t) : 2 * sizeof(float)) << (3 * tiles->pool.log2_edge);
    return tsr_min64(memory_for(tiles) / bytes, INT32_MAX - TSR_TILE_FIRST);
}

tsr_status tsr_tiles_too_many(const tsr_tiles *tiles, const char *name)
{
    TSR_FAIL(TSR_ERROR_CAPACITY, "%s: more than %lld tiles, %s is %lld bytes", name, (long long)tsr_tiles_most(tiles),
             tsr_memory_limit_name(tiles->memory_limit), (long long)memory_for(tiles));
}

static tsr_status keep_tile(tsr_tile_search *s, const int64_t at[3])
{
    if (s->count >= s->most) return tsr_tiles_too_many(s->list, s->name);
    if (s->count == s->room) {
        int64_t room = 2 * s->room + 1024;
        uint64_t *keys = (uint64_t *)realloc(s->keys, (size_t)room * sizeof *keys);
        if (!keys) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for %lld tiles", s->name, (long long)room);
        s->keys = keys;
        s->room = room;
    }
    s->keys[s->count++] = tsr_key_make((int32_t)at[0], (int32_t)at[1], (int32_t)at[2]);
    return TSR_OK;
}

/* Depth first; the surface can only meet a cube whose middle is nearer to it than the cube's corner. */
static tsr_status search_cube(tsr_tile_search *s, const int64_t at[3], int level)
{
    const tsr_tile_pool *pool = &s->list->pool;
    float x[3];
    double half = 0;
    for (int k = 0; k < 3; k++)
        if (at[k] > s->last[k] || at[k] + ((int64_t)1 << level) <= s->first[k]) return TSR_OK;
    tsr_tiles_middle(pool, at, level, x);
    for (int k = 0; k < 3; k++) {
        double e = 0.5 * (double)((int64_t)1 << (pool->log2_edge + level)) * (double)pool->spacing[k];
        half += e * e;
    }
    if ((double)s->least(s->surface, x) > 1.0001 * (sqrt(half) + (double)s->reach)) return TSR_OK;
    if (level == s->leaf) return keep_tile(s, at);
    for (int i = 0; i < 8; i++) {
        const int64_t step = (int64_t)1 << (level - 1);
        const int64_t child[3] = { at[0] + (i & 1) * step, at[1] + (i >> 1 & 1) * step, at[2] + (i >> 2) * step };
        TSR_TRY(search_cube(s, child, level - 1));
    }
    return TSR_OK;
}

enum { NO_MEMORY = -1, TOO_MANY = -2 }; /* as the count of a part that failed */
/* Part by part of the cube, each for itself. */
struct parts {
    const tsr_tile_search *whole;
    const uint64_t *first; /* keys of their first tiles */
    tsr_tile_search *part;
    int level;
};
static void search_parts(void *user, int64_t begin, int64_t end, int worker)
{
    const struct parts *p = (const struct parts *)user;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        const int64_t at[3] = { tsr_key_x(p->first[i]), tsr_key_y(p->first[i]), tsr_key_z(p->first[i]) };
        p->part[i] = *p->whole;
        p->part[i].keys = NULL;
        p->part[i].count = p->part[i].room = p->part[i].leaf = 0;
        const tsr_status status = search_cube(&p->part[i], at, p->level);
        if (status != TSR_OK) p->part[i].count = status == TSR_ERROR_CAPACITY ? TOO_MANY : NO_MEMORY;
    }
}
static tsr_status gather_parts(tsr_tile_search *s, const struct parts *p, int64_t parts)
{
    int64_t total = 0, at = 0;
    for (int64_t i = 0; i < parts; i++) {
        if (p->part[i].count == NO_MEMORY) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for its tiles", s->name);
        if (p->part[i].count == TOO_MANY) return tsr_tiles_too_many(s->list, s->name);
        total += p->part[i].count;
    }
    if (total > s->most) return tsr_tiles_too_many(s->list, s->name);
    s->keys = (uint64_t *)malloc((size_t)tsr_max64(total, 1) * sizeof *s->keys);
    if (!s->keys) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for %lld tiles", s->name, (long long)total);
    for (int64_t i = 0; i < parts; at += p->part[i++].count)
        if (p->part[i].count > 0) memcpy(s->keys + at, p->part[i].keys, (size_t)p->part[i].count * sizeof *s->keys);
    s->count = s->room = total;
    return TSR_OK;
}
static tsr_status search_wide(tsr_tile_search *s, int threads)
{
    enum { DEPTH = 4 }; /* at most some thousand parts */
    s->leaf = s->level > DEPTH ? s->level - DEPTH : 0;
    TSR_TRY(search_cube(s, s->low, s->level));
    if (s->leaf == 0) return TSR_OK;
    const int64_t parts = s->count;
    uint64_t *first = s->keys;
    struct parts p = { s, first, (tsr_tile_search *)calloc((size_t)tsr_max64(parts, 1), sizeof *p.part), s->leaf };
    tsr_status status = p.part ? TSR_OK : TSR_FAILED(TSR_ERROR_MEMORY, "out of memory for %lld parts of the search for tiles", (long long)parts);
    s->keys = NULL;
    s->count = s->room = 0;
    if (p.part) {
        tsr_parallel(threads, parts, 1, search_parts, &p);
        status = gather_parts(s, &p, parts);
        for (int64_t i = 0; i < parts; i++) free(p.part[i].keys);
    }
    free(p.part);
    free(first);
    if (!p.part) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for %lld parts", s->name, (long long)parts);
    return status;
}

/* Keys in order: by counting, from the last digit of x to the first of z. */
static tsr_status sort_tiles(tsr_tile_search *s)
{
    enum { BITS = 12, DIGITS = 1 << BITS };
    const size_t bytes = (size_t)tsr_max64(s->count, 1) * sizeof(uint64_t);
    int64_t *first = (int64_t *)malloc((DIGITS + 1) * sizeof *first);
    uint64_t *other = (uint64_t *)malloc(bytes);
    if (!first || !other) {
        free(first);
        free(other);
        TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for %lld tiles", s->name, (long long)s->count);
    }
    for (int axis = 0; axis < 3; axis++)
        for (int bit = 0; bit < s->level; bit += BITS) {
            const int64_t low = s->low[axis] + TSR_KEY_BIAS;
            const int shift = TSR_KEY_BITS * axis;
            uint64_t *from = s->keys;
#define DIGIT(key) (((int64_t)((key) >> shift & ((1u << TSR_KEY_BITS) - 1u)) - low) >> bit & (DIGITS - 1))
            memset(first, 0, (DIGITS + 1) * sizeof *first);
            for (int64_t i = 0; i < s->count; i++) first[DIGIT(from[i]) + 1]++;
            for (int d = 0; d < DIGITS; d++) first[d + 1] += first[d];
            for (int64_t i = 0; i < s->count; i++) other[first[DIGIT(from[i])]++] = from[i];
#undef DIGIT
            s->keys = other;
            other = from;
        }
    free(first);
    free(other);
    return TSR_OK;
}

tsr_status tsr_search_tiles(tsr_tile_search *s, int threads)
{
    int64_t widest = 1;
    s->keys = NULL;
    s->count = s->room = 0;
    s->level = 0;
    s->most = tsr_tiles_most(s->list);
    for (int k = 0; k < 3; k++) {
        if (s->first[k] > s->last[k]) return TSR_OK;
        s->low[k] = s->first[k];
        widest = tsr_max64(widest, s->last[k] - s->first[k] + 1);
    }
    while ((int64_t)1 << s->level < widest) s->level++;
    TSR_TRY(search_wide(s, threads));
    TSR_TRY(sort_tiles(s));
    return TSR_OK;
}
