/* histopyramid/detail.h: the stored coefficients of a morphological pyramid. A brick is a box of 32^3 voxels of level 0, or the whole volume (lists). Its runs
 * are the (level, value) pairs it has, level descending, then value descending; inside a run coefficients lie by residual descending, then by place in
 * the order of emission: cells of 32^3 voxels in memory order, inside a cell level ascending and memory order. */
#ifndef TSR_HISTOPYRAMID_DETAIL_H
#define TSR_HISTOPYRAMID_DETAIL_H

#include "histopyramid/adjunction.h"

enum { TSR_CELL = 5 /* log2 of the side */, TSR_CELL_SIDE = 1 << TSR_CELL };

typedef struct tsr_detail_brick {
    int64_t first; /* coefficient */
    uint32_t count;
    uint32_t run, runs; /* first run, number of them */
} tsr_detail_brick;

typedef struct tsr_detail_run {
    uint32_t first; /* coefficient, from the brick's first */
    uint16_t value, level;
} tsr_detail_run;

/* A brick of which something is selected, and the largest value of that. */
typedef struct tsr_detail_order {
    uint32_t brick, most;
} tsr_detail_order;

/* Part of a run of a list: coefficients [begin, end) of it. */
typedef struct tsr_detail_chunk {
    uint32_t run, begin, end;
} tsr_detail_chunk;

typedef struct tsr_details {
    int32_t levels, bytes, format; /* L, bytes of a residual, tsr_mip_format */
    int32_t width;                 /* bytes of a place: 2, 4, 6, 8 */
    int32_t size[TSR_MIP_LEVELS + 1][3];
    int32_t bits[TSR_MIP_LEVELS + 1][2]; /* LIST4: of x and y */
    int32_t cells[3];                    /* of 32^3 voxels; bricks of BRICKS lie in this order */
    int64_t bricks, runs, count;
    tsr_detail_brick *brick;
    tsr_detail_run *run;
    void *place;
    void *residual;
    tsr_detail_order *order; /* the bricks with something to draw, largest value first */
    int64_t ordered;         /* their number */
    uint32_t *from, *to;     /* per run: coefficients [from, to) of it are drawn */
} tsr_details;

TSR_HD uint32_t tsr_detail_run_count(const tsr_details *d, const tsr_detail_brick *b, uint32_t run)
{
    return (run + 1 < b->run + b->runs ? d->run[run + 1].first : b->count) - d->run[run].first;
}

/* Bits of 15 as coordinates inside a brick: 5 each at level 0, fewer above. */
TSR_HD uint32_t tsr_detail_local(int32_t x, int32_t y, int32_t z) { return (uint32_t)(x & 31) | (uint32_t)(y & 31) << 5 | (uint32_t)(z & 31) << 10; }

/* First voxel of a brick at level j. There are less than 2^32 bricks: tsr_mip_plan. */
TSR_HD void tsr_detail_origin(const tsr_details *d, int64_t brick, int32_t level, int32_t origin[3])
{
    const uint32_t row = (uint32_t)brick / (uint32_t)d->cells[0], slice = row / (uint32_t)d->cells[1];
    origin[0] = (int32_t)(((uint32_t)brick - row * (uint32_t)d->cells[0]) << TSR_CELL) >> level;
    origin[1] = (int32_t)((row - slice * (uint32_t)d->cells[1]) << TSR_CELL) >> level;
    origin[2] = (int32_t)(slice << TSR_CELL) >> level;
}

/* Stores the place of coefficient i, given as memory index of its level (BRICKS: as tsr_detail_local). */
TSR_HD void tsr_detail_put(const tsr_details *d, int64_t i, int32_t level, uint32_t value, uint32_t payload)
{
    const uint32_t nx = (uint32_t)d->size[level][0], ny = (uint32_t)d->size[level][1];
    if (d->width == 2) {
        ((uint16_t *)d->place)[i] = (uint16_t)payload;
        return;
    }
    const uint32_t x = payload % nx, y = payload / nx % ny, z = payload / nx / ny;
    if (d->width == 4) {
        const int32_t *bits = d->bits[level];
        ((uint32_t *)d->place)[i] = (uint32_t)((uint64_t)x | (uint64_t)y << bits[0] | (uint64_t)z << (bits[0] + bits[1]));
        return;
    }
    uint16_t *p = (uint16_t *)d->place + i * (d->width / 2);
    p[0] = (uint16_t)x;
    p[1] = (uint16_t)y;
    p[2] = (uint16_t)z;
    if (d->width == 8) p[3] = (uint16_t)value;
}

/* Voxel of coefficient i at its level; `brick` it lies in. */
TSR_HD void tsr_detail_get(const tsr_details *d, int64_t i, int32_t level, int64_t brick, int32_t at[3])
{
    if (d->width == 2) {
        const uint32_t v = ((const uint16_t *)d->place)[i];
        tsr_detail_origin(d, brick, level, at);
        at[0] += (int32_t)(v & 31u);
        at[1] += (int32_t)(v >> 5 & 31u);
        at[2] += (int32_t)(v >> 10 & 31u);
    } else if (d->width == 4) {
        const int32_t *bits = d->bits[level];
        const uint64_t v = ((const uint32_t *)d->place)[i];
        at[0] = (int32_t)(v & (((uint64_t)1 << bits[0]) - 1u));
        at[1] = (int32_t)(v >> bits[0] & (((uint64_t)1 << bits[1]) - 1u));
        at[2] = (int32_t)(v >> (bits[0] + bits[1]));
    } else {
        const uint16_t *p = (const uint16_t *)d->place + i * (d->width / 2);
        for (int k = 0; k < 3; k++) at[k] = p[k];
    }
}

/* Residual of a coefficient. */
TSR_HD uint32_t tsr_detail_residual(const tsr_details *d, int64_t i) { return tsr_adjunction_load(d->residual, d->bytes, i); }

/* How many of the `count` coefficients from `first` have a residual above `bar`: they come first. */
TSR_HD uint32_t tsr_detail_above(const tsr_details *d, int64_t first, uint32_t count, uint32_t bar)
{
    uint32_t low = 0, high = count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2u;
        if (tsr_detail_residual(d, first + middle) > bar) low = middle + 1u;
        else high = middle;
    }
    return low;
}

/* ---- building ---------------------------------------------------------------------------------------------------------------------------- */

/* Sort key of a coefficient: brick | level descending | value descending | residual descending. */
typedef struct tsr_detail_sort {
    int32_t key_bytes, value_bits, level_bits, brick_bits;
    int64_t brick, bricks; /* of this part */
    int64_t first, count;  /* coefficients of this part */
    const int64_t *cell;   /* first coefficient of each cell */
    void *keys;
    uint32_t *payload;
} tsr_detail_sort;

TSR_HD uint64_t tsr_detail_key(const tsr_detail_sort *s, int32_t levels, int64_t brick, int32_t level, uint32_t value, uint32_t residual)
{
    const uint32_t most = (1u << s->value_bits) - 1u;
    return (((uint64_t)(brick - s->brick) << s->level_bits | (uint64_t)(uint32_t)(levels - level)) << s->value_bits | (uint64_t)(most - value))
               << s->value_bits |
           (uint64_t)(most - residual);
}
TSR_HD void tsr_detail_key_put(const tsr_detail_sort *s, int64_t i, uint64_t key)
{
    if (s->key_bytes == 4) ((uint32_t *)s->keys)[i] = (uint32_t)key;
    else ((uint64_t *)s->keys)[i] = key;
}
TSR_HD uint64_t tsr_detail_key_get(const tsr_detail_sort *s, int64_t i)
{
    return s->key_bytes == 4 ? (uint64_t)((const uint32_t *)s->keys)[i] : ((const uint64_t *)s->keys)[i];
}

/* Voxels of level j in a cell: origin and extents, clipped. Returns their number. Above level 5 a cell has the voxels whose corner it holds. */
TSR_HD int32_t tsr_detail_cell(const tsr_details *d, int64_t cell, int32_t level, int32_t origin[3], int32_t extent[3])
{
    const int32_t c[3] = { (int32_t)(cell % d->cells[0]), (int32_t)(cell / d->cells[0] % d->cells[1]),
                           (int32_t)(cell / ((int64_t)d->cells[0] * d->cells[1])) };
    for (int k = 0; k < 3; k++) {
        const int32_t begin = c[k] << TSR_CELL, step = 1 << level, end = (c[k] + 1) << TSR_CELL;
        origin[k] = (begin + step - 1) >> level;
        const int32_t last = (end + step - 1) >> level;
        extent[k] = tsr_mini(last, d->size[level][k]) - origin[k];
        if (extent[k] <= 0) return 0;
    }
    return extent[0] * extent[1] * extent[2];
}

/* Coefficient of a voxel of a cell (whose first voxel at this level is `origin`), if it has one: its key and payload. */
TSR_HD int tsr_detail_emit(const tsr_adjunction *a, const tsr_details *d, const tsr_detail_sort *s, int64_t cell, int32_t level,
                           const int32_t origin[3], int32_t x, int32_t y, int32_t z, uint64_t *key, uint32_t *payload)
{
    uint32_t residual;
    const uint32_t value = tsr_adjunction_detail(a, level, x, y, z, &residual);
    if (!value) return 0;
    if (a->code[level]) residual = tsr_adjunction_load(a->code[level], a->bytes, tsr_adjunction_index(a->size[level], x, y, z));
    else if (a->same) residual = 1;
    *key = tsr_detail_key(s, d->levels, d->format == TSR_MIP_BRICKS ? cell : 0, level, value, residual);
    *payload = d->format == TSR_MIP_BRICKS ? tsr_detail_local(x - origin[0], y - origin[1], z - origin[2])
                                           : (uint32_t)tsr_adjunction_index(d->size[level], x, y, z);
    return 1;
}

/* From the sorted key i of a part: place and residual; 1 if a run begins here. */
TSR_HD int tsr_detail_code(const tsr_details *d, const tsr_detail_sort *s, int64_t i, int32_t *level, uint32_t *value, uint32_t *residual,
                           int64_t *brick)
{
    const uint32_t most = (1u << s->value_bits) - 1u;
    const uint64_t key = tsr_detail_key_get(s, i), bin = key >> s->value_bits;
    *residual = most - (uint32_t)(key & most);
    *value = most - (uint32_t)(bin & most);
    *level = d->levels - (int32_t)(bin >> s->value_bits & ((1u << s->level_bits) - 1u));
    *brick = s->brick + (int64_t)(bin >> (s->value_bits + s->level_bits));
    tsr_adjunction_store(d->residual, d->bytes, s->first + i, *residual);
    tsr_detail_put(d, s->first + i, *level, *value, s->payload[i]);
    return i == 0 || tsr_detail_key_get(s, i - 1) >> s->value_bits != bin;
}

/* Record of the run that begins at key i. */
TSR_HD tsr_detail_run tsr_detail_run_make(const tsr_details *d, const tsr_detail_sort *s, int64_t i)
{
    const uint64_t bin = tsr_detail_key_get(s, i) >> s->value_bits;
    const uint32_t most = (1u << s->value_bits) - 1u;
    const int64_t brick = s->brick + (int64_t)(bin >> (s->value_bits + s->level_bits));
    tsr_detail_run r;
    r.value = (uint16_t)(most - (uint32_t)(bin & most));
    r.level = (uint16_t)(d->levels - (int32_t)(bin >> s->value_bits & ((1u << s->level_bits) - 1u)));
    r.first = (uint32_t)(s->first + i - d->brick[brick].first);
    return r;
}

/* ---- selection --------------------------------------------------------------------------------------------------------------------------- */

/* The first K: residuals above above[level], and of those equal to equal[level] (0: none) the bins before `bin`, and `rest` of that bin. */
typedef struct tsr_detail_choice {
    uint32_t above[TSR_MIP_LEVELS + 1], equal[TSR_MIP_LEVELS + 1];
    int64_t bin;    /* (levels - level) * values + (values - 1 - value) */
    int64_t rest;   /* the host's: ties that are still wanted */
    int32_t values; /* 256 or 65536 */
    uint64_t *ties; /* device, per bin: coefficients equal to the bar */
} tsr_detail_choice;

TSR_HD int64_t tsr_detail_bin(const tsr_details *d, const tsr_detail_choice *c, const tsr_detail_run *r)
{
    return (int64_t)(d->levels - r->level) * c->values + (c->values - 1 - r->value);
}

/* Run of a brick: how many lie above the bar; *ties = how many at it. */
TSR_HD uint32_t tsr_detail_choose(const tsr_details *d, const tsr_detail_choice *c, const tsr_detail_brick *b, uint32_t run, uint32_t *ties)
{
    const tsr_detail_run *r = &d->run[run];
    const uint32_t count = tsr_detail_run_count(d, b, run), bar = c->above[r->level], equal = c->equal[r->level];
    const uint32_t above = tsr_detail_above(d, b->first + r->first, count, bar);
    *ties = equal ? tsr_detail_above(d, b->first + r->first + above, count - above, equal - 1u) : 0u;
    return above;
}

/* Largest value of which a brick has something selected, 0 without. */
TSR_HD uint32_t tsr_detail_most(const tsr_details *d, const tsr_detail_brick *b, uint32_t run)
{
    const uint32_t k = b->run + run;
    return d->to[k] > d->from[k] ? d->run[k].value : 0u;
}

/* The run of a brick in a bin, or -1. */
TSR_HD int64_t tsr_detail_find(const tsr_details *d, const tsr_detail_choice *c, const tsr_detail_brick *b, int64_t bin)
{
    uint32_t low = 0, high = b->runs;
    while (low < high) {
        const uint32_t middle = (low + high) / 2u;
        if (tsr_detail_bin(d, c, &d->run[b->run + middle]) < bin) low = middle + 1u;
        else high = middle;
    }
    return low < b->runs && tsr_detail_bin(d, c, &d->run[b->run + low]) == bin ? (int64_t)(b->run + low) : -1;
}

/* Ties of the choice's bin in a brick. */
TSR_HD uint32_t tsr_detail_rest(const tsr_details *d, const tsr_detail_choice *c, int64_t brick)
{
    uint32_t ties = 0;
    const int64_t k = tsr_detail_find(d, c, &d->brick[brick], c->bin);
    if (k >= 0) tsr_detail_choose(d, c, &d->brick[brick], (uint32_t)k, &ties);
    return ties;
}
TSR_HD void tsr_detail_take_rest(const tsr_details *d, const tsr_detail_choice *c, int64_t brick, uint32_t number)
{
    const int64_t k = number ? tsr_detail_find(d, c, &d->brick[brick], c->bin) : -1;
    if (k >= 0) d->to[k] += number;
}

#endif
