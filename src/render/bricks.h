/* render/bricks.h: what is computed per brick before rays are cast: range of values and slopes, visibility, distance to the next visible brick. */
#ifndef TSR_RENDER_BRICKS_H
#define TSR_RENDER_BRICKS_H

#include "tiles/tile_pool.h"
#include "render/field.h"
#include "render/lookup.h"

typedef struct tsr_range {
    float low, high, slope;
} tsr_range;

TSR_HD tsr_range tsr_range_empty(void)
{
    tsr_range r;
    r.low = TSR_FLOAT_BIG;
    r.high = -TSR_FLOAT_BIG;
    r.slope = 0.0f;
    return r;
}
/* Without branches, so that loops become vector code. NaN changes nothing but the slope. */
TSR_HD tsr_range tsr_range_join(tsr_range r, float low, float high, float slope)
{
    r.low = low < r.low ? low : r.low;
    r.high = high > r.high ? high : r.high;
    r.slope = slope <= r.slope ? r.slope : slope == slope ? slope : TSR_FLOAT_BIG;
    return r;
}

/* Bricks that a block of threads, or a piece of a row, looks at together: column x stands at x - 8 * first brick, and the last brick's ninth
 * column is one more. */
enum { TSR_STRIP_BRICKS = 31, TSR_STRIP_COLUMNS = 8 * TSR_STRIP_BRICKS + 1 };

/* The dense volume whose bricks are looked at. `matrix`: index-space gradient -> world, as tsr_field_covector. */
typedef struct tsr_brick_source {
    const float *values;
    int32_t size[3], bricks[3];
    float matrix[3][3];
    float most; /* values of larger magnitude are left out of ranges like NaN: infinity, or the largest finite number */
} tsr_brick_source;

/* A voxel in the range of its column or brick. */
TSR_HD tsr_range tsr_range_voxel(const tsr_brick_source *s, tsr_range r, float v, float slope)
{
    const int32_t taken = tsr_absf(v) <= s->most;
    return tsr_range_join(r, taken ? v : TSR_FLOAT_BIG, taken ? v : -TSR_FLOAT_BIG, slope);
}

/* Square of the gradient's length in the world by central differences at a voxel that has neighbours on all sides. */
TSR_HD float tsr_voxel_steepness(const tsr_brick_source *s, const float *v, int64_t dy, int64_t dz)
{
    const float x = 0.5f * (v[1] - v[-1]), y = 0.5f * (v[dy] - v[-dy]), z = 0.5f * (v[dz] - v[-dz]);
    const tsr_float3 g =
        tsr_f3(s->matrix[0][0] * x + s->matrix[1][0] * y + s->matrix[2][0] * z, s->matrix[0][1] * x + s->matrix[1][1] * y + s->matrix[2][1] * z,
               s->matrix[0][2] * x + s->matrix[1][2] * y + s->matrix[2][2] * z);
    return tsr_dot3(g, g);
}

/* What is stored of a brick, whose slope is still squared. Inside the volume a sample's gradient is a mean of its voxels', so their longest bounds it (rounding: a part of
 * the values); at the volume's faces differences are one-sided, and no bound is given. */
TSR_HD tsr_range tsr_range_finish(const tsr_brick_source *s, const int32_t brick[3], tsr_range r)
{
    float reach = 0.0f;
    for (int32_t k = 0; k < 3; k++) {
        reach += (tsr_absf(s->matrix[k][0]) + tsr_absf(s->matrix[k][1])) + tsr_absf(s->matrix[k][2]);
        if (brick[k] == 0 || brick[k] == s->bricks[k] - 1) r.slope = TSR_FLOAT_BIG;
    }
    const float most = tsr_maxf(tsr_absf(r.low), tsr_absf(r.high)), bound = tsr_sqrt(r.slope) * 1.0001f + 4.0e-6f * most * reach;
    r.slope = r.slope < TSR_FLOAT_BIG && bound < TSR_FLOAT_BIG ? bound : TSR_FLOAT_BIG;
    return r;
}

/* Least and largest value of a volume and a high one that few bricks exceed, found digit by digit from the most significant: counts of the next
 * digit among the bricks that agree so far, then the digit in which the wanted one lies. Zeroed at first. */
enum { TSR_RANK_PASSES = 3, TSR_RANK_BINS = 2048 };
typedef struct tsr_brick_summary {
    uint64_t nan_count;
    uint32_t lowest, highest; /* keys, the first one inverted: both grow */
    uint32_t bricks;          /* that have a value */
    uint32_t key, rank;       /* digits found, and the number of the wanted brick among those that agree with them */
} tsr_brick_summary;
typedef struct tsr_brick_counts {
    tsr_brick_summary found;
    uint32_t bin[TSR_RANK_PASSES][TSR_RANK_BINS];
} tsr_brick_counts;

/* Unsigned numbers in the order of floats. */
TSR_HD uint32_t tsr_float_key(float v)
{
    const uint32_t bits = tsr_float_bits(v);
    return bits ^ (bits >> 31 ? 0xffffffffu : 0x80000000u);
}
TSR_HD float tsr_key_float(uint32_t key) { return tsr_bits_float(key ^ (key >> 31 ? 0x80000000u : 0xffffffffu)); }

TSR_HD int32_t tsr_rank_shift(int32_t pass) { return pass == 0 ? 21 : pass == 1 ? 10 : 0; }
/* Bin of a key in a pass, or -1 if it differs from the digits found before. */
TSR_HD int32_t tsr_rank_bin(int32_t pass, uint32_t found, uint32_t key)
{
    if (pass > 0 && (key ^ found) >> tsr_rank_shift(pass - 1)) return -1;
    return (int32_t)(key >> tsr_rank_shift(pass) & (pass == 2 ? 1023u : 2047u));
}
/* The bin in which number `rank` lies, counted from 0; *rank becomes its number within the bin. */
TSR_HD int32_t tsr_rank_pick(const uint32_t *bin, int32_t bins, uint32_t *rank)
{
    int32_t i = 0;
    for (; i < bins - 1 && *rank >= bin[i]; i++) *rank -= bin[i];
    return i;
}
/* Which of `bricks` in rising order is asked for. */
TSR_HD uint32_t tsr_rank_wanted(uint32_t bricks) { return (uint32_t)((uint64_t)(bricks - 1) * 98 / 100); }

/* Id of the tile of a brick of the box that begins at tile `origin`. */
TSR_HD uint32_t tsr_brick_tile(const tsr_tile_pool *pool, const tsr_tile_state *state, const int32_t origin[3], const int32_t bricks[3],
                               int64_t brick)
{
    int32_t x = (int32_t)(brick % bricks[0]), y = (int32_t)(brick / bricks[0] % bricks[1]), z = (int32_t)(brick / ((int64_t)bricks[0] * bricks[1]));
    return tsr_tile_find(pool, tsr_pool_keys(pool, state->list), pool->id[state->list], state->count, state->background,
                         tsr_key_make(origin[0] + x, origin[1] + y, origin[2] + z));
}

/* What makes a brick visible. */
typedef struct tsr_brick_test {
    int32_t surface; /* 1: the field scale * v + offset changes sign; 0: the transfer function has opacity for it */
    float scale, offset;
    tsr_transfer_linear transfer;
    tsr_lookup_view lookup; /* of the transfer function, if it has a table */
    int32_t margin;         /* bricks so near to a visible one need a look, too: what is looked up may lie there */
} tsr_brick_test;

TSR_HD uint8_t tsr_brick_visible(const tsr_brick_test *test, float low, float high)
{
    const tsr_lookup_view *l = &test->lookup;
    float a = test->scale * low + test->offset, b = test->scale * high + test->offset;
    if (!test->surface && l->kind && low <= high) { /* an entry mixes the values of the nodes around it */
        const float last = (float)(l->size[0] - 1);
        const float first = tsr_clampf(tsr_lookup_value(l, low) - 0.01f, 0.0f, last), end = tsr_clampf(tsr_lookup_value(l, high) + 1.01f, 0.0f, last);
        a = tsr_minf(a, tsr_lookup_node(l, (int32_t)first));
        b = tsr_maxf(b, tsr_lookup_node(l, (int32_t)end));
    }
    if (!test->surface) return (uint8_t)(low <= high && tsr_transfer_visible(&test->transfer, tsr_minf(a, b), tsr_maxf(a, b)));
    return (uint8_t)(low <= high && tsr_minf(a, b) < 0.0f && tsr_maxf(a, b) >= 0.0f);
}

/* tsr_field.cells of a brick. NaN counts as outside, as where rays are cast. */
TSR_HD uint64_t tsr_brick_cells(const tsr_brick_test *test, const float *values, const int32_t size[3], const int32_t brick[3])
{
    uint32_t inside[9][9]; /* [z][y] bits along x */
    uint64_t cells = 0;
    for (int32_t z = 0; z < 9; z++) {
        for (int32_t y = 0; y < 9; y++) {
            const float *row =
                values + ((int64_t)tsr_mini(8 * brick[2] + z, size[2] - 1) * size[1] + tsr_mini(8 * brick[1] + y, size[1] - 1)) * size[0];
            inside[z][y] = 0;
            for (int32_t x = 0; x < 9; x++)
                inside[z][y] |= (uint32_t)(test->scale * row[tsr_mini(8 * brick[0] + x, size[0] - 1)] + test->offset < 0.0f) << x;
        }
    }
    for (int32_t z = 0; z < 4; z++) {
        for (int32_t y = 0; y < 4; y++) {
            uint32_t any = 0, all = 0x1ffu;
            for (int32_t i = 0; i < 9; i++) {
                any |= inside[2 * z + i / 3][2 * y + i % 3];
                all &= inside[2 * z + i / 3][2 * y + i % 3];
            }
            for (int32_t x = 0; x < 4; x++) {
                const uint32_t three = 7u << (2 * x);
                if ((any & three) != 0 && (all & three) != three) cells |= (uint64_t)1 << (16 * z + 4 * y + x);
            }
        }
    }
    return cells;
}

/* Chebyshev distance to the nearest visible brick, one axis after the other, less the margin. Pass 0 reads visibility, passes 1 and 2 the result of
 * the pass before. */
TSR_HD uint8_t tsr_brick_distance(const uint8_t *in, const int32_t bricks[3], int32_t pass, int32_t margin, int64_t index)
{
    int32_t x = (int32_t)(index % bricks[0]), y = (int32_t)(index / bricks[0] % bricks[1]), z = (int32_t)(index / ((int64_t)bricks[0] * bricks[1]));
    int32_t at = pass == 0 ? x : pass == 1 ? y : z, count = bricks[pass], best = TSR_SKIP_MOST;
    int64_t stride = pass == 0 ? 1 : pass == 1 ? bricks[0] : (int64_t)bricks[0] * bricks[1];
    for (int32_t away = 0; away < best; away++) {
        for (int32_t side = -1; side <= 1; side += 2) {
            int32_t to = at + side * away;
            if (to < 0 || to >= count) continue;
            int32_t v = in[index + (to - at) * stride];
            v = pass == 0 ? (v ? 0 : TSR_SKIP_MOST) : v;
            best = tsr_mini(best, tsr_maxi(v, away));
        }
    }
    return (uint8_t)(pass == 2 ? tsr_maxi(best - margin, 0) : best);
}

/* A brick of a tile list needs a look if a voxel of its cells lies in a stored tile: its own or one of the seven next ones. */
TSR_HD uint8_t tsr_brick_stored(const uint32_t *table, const int32_t bricks[3], int64_t index)
{
    int32_t x = (int32_t)(index % bricks[0]), y = (int32_t)(index / bricks[0] % bricks[1]), z = (int32_t)(index / ((int64_t)bricks[0] * bricks[1]));
    for (int32_t i = 0; i < 8; i++) {
        int32_t a = tsr_mini(x + (i & 1), bricks[0] - 1), b = tsr_mini(y + (i >> 1 & 1), bricks[1] - 1), c = tsr_mini(z + (i >> 2), bricks[2] - 1);
        if (table[((int64_t)c * bricks[1] + b) * bricks[0] + a] >= 2u) return 1;
    }
    return 0;
}

#endif
