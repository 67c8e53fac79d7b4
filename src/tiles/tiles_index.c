#include "tiles/tiles_index.h"

#include <stdlib.h>
#include <string.h>

#include "core/parallel.h"

enum { UNKNOWN = -1, MOST_BLOCKS = 1 << 24 };

void tsr_tile_index_free(tsr_tile_index *index)
{
    free(index->block);
    free(index->cell);
    *index = (tsr_tile_index){ NULL, NULL };
}

static uint32_t *entry(const tsr_tile_finder *f, tsr_tile_index *index, uint64_t key)
{
    const int32_t x = tsr_key_x(key), y = tsr_key_y(key), z = tsr_key_z(key);
    const int32_t b[3] = { (x >> 3) - f->lower[0], (y >> 3) - f->lower[1], (z >> 3) - f->lower[2] };
    for (int k = 0; k < 3; k++)
        if ((uint32_t)b[k] >= (uint32_t)f->blocks[k]) return NULL;
    const uint32_t block = index->block[((int64_t)b[2] * f->blocks[1] + b[1]) * f->blocks[0] + b[0]];
    return block < TSR_TILE_FIRST || block == (uint32_t)UNKNOWN
               ? NULL
               : &index->cell[(int64_t)(block - TSR_TILE_FIRST) * 512 + ((z & 7) * 8 + (y & 7)) * 8 + (x & 7)];
}

static uint32_t searched(const tsr_tile_finder *f, int32_t x, int32_t y, int32_t z)
{
    const int32_t most = TSR_KEY_BIAS - 2;
    return tsr_tile_find(f->pool, f->keys, f->ids, f->count, f->background,
                         tsr_key_make(tsr_mini(tsr_maxi(x, -most), most), tsr_mini(tsr_maxi(y, -most), most), tsr_mini(tsr_maxi(z, -most), most)));
}

/* Box of the blocks; 0 if there is none or it is too large for the tiles in it. */
static int64_t box_of(tsr_tile_finder *f)
{
    int32_t high[3] = { INT32_MIN, INT32_MIN, INT32_MIN };
    int64_t blocks = 1;
    for (int k = 0; k < 3; k++) f->lower[k] = INT32_MAX;
    for (int32_t i = 0; i < f->count; i++) {
        const int32_t b[3] = { tsr_key_x(tsr_key_at(f->keys, i)) >> 3, tsr_key_y(tsr_key_at(f->keys, i)) >> 3,
                               tsr_key_z(tsr_key_at(f->keys, i)) >> 3 };
        for (int k = 0; k < 3; k++) {
            f->lower[k] = tsr_mini(f->lower[k], b[k]);
            high[k] = tsr_maxi(high[k], b[k]);
        }
    }
    for (int k = 0; k < 3; k++) {
        f->blocks[k] = f->count ? high[k] - f->lower[k] + 1 : 0;
        blocks *= f->blocks[k];
    }
    return blocks <= MOST_BLOCKS && blocks <= 64 * (int64_t)f->count + 4096 ? blocks : 0;
}

/* What a stored tile says of its neighbours goes into the cells; a cell that nobody knows has no stored neighbour, so it is the constant of the
 * cell before it, and one look-up decides the first. */
static void resolve_block(const tsr_tile_finder *f, int32_t x0, int32_t y0, int32_t z0, uint32_t *cell)
{
    for (int i = 0; i < 512; i++) {
        if (cell[i] != (uint32_t)UNKNOWN) continue;
        cell[i] = i & 7 ? cell[i - 1] : i & 56 ? cell[i - 8] : i ? cell[i - 64] : searched(f, x0, y0, z0);
    }
}

void tsr_tile_index_build(tsr_tile_finder *f, tsr_tile_index *index)
{
    *index = (tsr_tile_index){ NULL, NULL };
    const int64_t blocks = box_of(f);
    uint32_t used = 0;
    if (!blocks) return;
    index->block = (uint32_t *)malloc((size_t)blocks * sizeof *index->block);
    if (!index->block) return;
    memset(index->block, 0xff, (size_t)blocks * sizeof *index->block);
    for (int32_t i = 0; i < f->count; i++) {
        const uint64_t key = tsr_key_at(f->keys, i);
        const int64_t b = ((int64_t)((tsr_key_z(key) >> 3) - f->lower[2]) * f->blocks[1] + (tsr_key_y(key) >> 3) - f->lower[1]) * f->blocks[0] +
                          (tsr_key_x(key) >> 3) - f->lower[0];
        if (index->block[b] == (uint32_t)UNKNOWN) index->block[b] = TSR_TILE_FIRST + used++;
    }
    index->cell = (uint32_t *)malloc((size_t)used * 512 * sizeof *index->cell);
    if (!index->cell) {
        tsr_tile_index_free(index);
        return;
    }
    memset(index->cell, 0xff, (size_t)used * 512 * sizeof *index->cell);
    for (int32_t i = 0; i < f->count; i++) {
        const uint32_t *row = f->pool->neighbours + (int64_t)f->ids[i] * TSR_NEIGHBOUR_ROW;
        *entry(f, index, tsr_key_at(f->keys, i)) = f->ids[i];
        for (int d = 0; d < TSR_TILE_DIRECTIONS; d++) {
            if (row[d] >= TSR_TILE_FIRST) continue;
            uint32_t *to = entry(f, index, tsr_key_at(f->keys, i) + (uint64_t)tsr_key_offset(d));
            if (to) *to = row[d];
        }
    }
    for (int64_t b = 0; b < blocks; b++) {
        const int32_t x = (int32_t)(b % f->blocks[0] + f->lower[0]) * 8, y = (int32_t)(b / f->blocks[0] % f->blocks[1] + f->lower[1]) * 8,
                      z = (int32_t)(b / f->blocks[0] / f->blocks[1] + f->lower[2]) * 8;
        if (index->block[b] == (uint32_t)UNKNOWN) index->block[b] = searched(f, x, y, z); /* no tile in it: one constant */
        else resolve_block(f, x, y, z, index->cell + (int64_t)(index->block[b] - TSR_TILE_FIRST) * 512);
    }
    f->beyond = searched(f, (f->lower[0] + f->blocks[0]) * 8, f->lower[1] * 8, f->lower[2] * 8);
    f->block = index->block;
    f->cell = index->cell;
}

/* ---- sampling ---------------------------------------------------------------------------------------------------------------------------------- */

struct job {
    const tsr_tile_finder *finder;
    const tsr_sample_map *map;
    const float *positions;
    float *values;
};

enum { TOGETHER = 64 };

/* Nearest voxels through the index, many on their way at once: cells, then pages, then values. */
static void sample_nearest(const struct job *j, int64_t begin, int32_t n)
{
    const tsr_tile_finder *f = j->finder;
    const int32_t e = f->pool->log2_edge, m = (1 << e) - 1;
    int64_t cell[TOGETHER], at[TOGETHER];
    uint32_t block[TOGETHER];
    uint8_t finite[TOGETHER];
    for (int32_t i = 0; i < n; i++) {
        float p[3];
        int32_t v[3];
        finite[i] = (uint8_t)tsr_sample_place(f, j->map, j->positions + 3 * (begin + i), p);
        for (int32_t k = 0; k < 3; k++) {
            v[k] = tsr_nearest(p[k]);
            if (f->pool->bounded) v[k] = tsr_mini(tsr_maxi(v[k], 0), f->pool->domain[k] - 1);
        }
        block[i] = tsr_finder_block(f, v[0] >> e, v[1] >> e, v[2] >> e, &cell[i]);
        at[i] = ((((v[2] & m) << e) + (v[1] & m)) << e) + (v[0] & m);
        __builtin_prefetch(f->cell + cell[i]);
    }
    for (int32_t i = 0; i < n; i++) {
        const uint32_t stored = f->cell[cell[i]], id = block[i] < TSR_TILE_FIRST ? block[i] : stored;
        at[i] += (int64_t)id << 3 * e;
        __builtin_prefetch(f->phi + at[i]);
    }
    for (int32_t i = 0; i < n; i++) j->values[begin + i] = finite[i] ? f->phi[at[i]] : tsr_bits_float(0x7fc00000u);
}

static void sample_range(void *user, int64_t begin, int64_t end, int worker)
{
    const struct job *j = (const struct job *)user;
    (void)worker;
    if (j->map->nearest && j->finder->block) {
        for (int64_t i = begin; i < end; i += TOGETHER) sample_nearest(j, i, (int32_t)tsr_min64(TOGETHER, end - i));
        return;
    }
    for (int64_t i = begin; i < end; i++) j->values[i] = tsr_tile_sample(j->finder, j->map, j->positions + 3 * i);
}

tsr_status tsr_tiles_cpu_sample(tsr_queue *queue, const tsr_tile_pool *pool, const tsr_sample_map *map, const float *positions, float *values,
                                int64_t count)
{
    tsr_tile_finder finder = tsr_finder_of(pool);
    tsr_tile_index index = { NULL, NULL };
    if (!pool->table && count > 4 * (int64_t)finder.count) tsr_tile_index_build(&finder, &index);
    struct job job = { &finder, map, positions, values };
    tsr_parallel(queue->threads, count, 16384, sample_range, &job);
    tsr_tile_index_free(&index);
    return TSR_OK;
}
