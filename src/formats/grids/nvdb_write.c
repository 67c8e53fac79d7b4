/* formats/grids/nvdb_write.c: a tile list as a NanoVDB float level set, and a dense volume as a fog volume of the voxels that are not 0: one block in memory, filled by
 * several threads, then written. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/parallel.h"
#include "tiles/tiles_build.h"
#include "io/little_endian.h"
#include "formats/format.h"
#include "formats/grids/nvdb_reader.h"
#include "formats/volume_files.h"

enum { MOST_BLOCKS = 1 << 20 }; /* of 4096^3 voxels */

/* A leaf: its origin, its place in the tree, and the eight (edge 4) or one (edge 8) tiles in it. */
struct leaf {
    int32_t at[3];
    uint64_t root;    /* key of the root tile */
    uint32_t cell;    /* upper cell << 12 | lower cell */
    uint32_t tile[8]; /* list entries by octant, UINT32_MAX = none; edge 8: tile[0] */
};

/* What the nodes above need of the active values below. */
struct stats {
    float lowest, highest;
    double sum, squares;
    int64_t count;
    int32_t low[3], high[3];
};
static const struct stats no_stats = { INFINITY, -INFINITY, 0, 0, 0, { INT32_MAX, INT32_MAX, INT32_MAX }, { INT32_MIN, INT32_MIN, INT32_MIN } };

struct node {
    struct stats stats;
    int64_t first, last;
    uint8_t *to;
    int32_t at[3];
    uint64_t root;
    uint32_t cell;
}; /* children [first, last) one level below */

struct writer {
    const tsr_volume *fog;     /* a dense volume of float32; else NULL, and ... */
    const tsr_tile_pool *pool; /* ... a list */
    const tsr_geometry *geometry;
    int threads;
    const tsr_tiles_write_options *options;
    const char *path;
    tsr_tiles_parts parts;
    int32_t edge;
    float band; /* the background: of fog 0 */
    struct leaf *leaf;
    struct node *of_leaf, *lower, *upper;
    int64_t leaves, room, lowers, uppers;
    uint64_t *root_extra; /* keys of 4096^3 blocks that are inside and hold nothing */
    int64_t extras;
    uint8_t *grid;
    int64_t grid_size;
    struct stats all;
    int add; /* the grids of the file stay */
};

/* ---- leaves ------------------------------------------------------------------------------------------------------------------------------------ */

static int by_place(const void *a, const void *b)
{
    const struct leaf *x = (const struct leaf *)a, *y = (const struct leaf *)b;
    if (x->root != y->root) return x->root < y->root ? -1 : 1;
    return x->cell < y->cell ? -1 : x->cell > y->cell;
}

/* A tile of one constant, kept for its neighbours' sake, is no leaf: its cell holds the constant. Unless the sign changes beside it. */
static int varies(const struct writer *w, uint32_t id)
{
    const int32_t voxels = 1 << (3 * w->pool->log2_edge);
    const float *v = w->pool->phi[w->parts.state.phi] + (int64_t)id * voxels;
    for (int32_t i = 0; i < voxels; i++)
        if (v[i] != v[0]) return 1;
    return (w->pool->activity[id] & TSR_ACTIVITY_AREAS) != 0;
}

/* The leaf of a voxel, without a tile yet. */
static tsr_status add_leaf(struct writer *w, const int64_t voxel[3], struct leaf **leaf)
{
    if (w->leaves == w->room) {
        const int64_t room = w->room ? 2 * w->room : w->parts.count + 64;
        struct leaf *grown = (struct leaf *)realloc(w->leaf, (size_t)room * sizeof *grown);
        if (!grown) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for %lld leaves", w->path, (long long)room);
        w->leaf = grown;
        w->room = room;
    }
    struct leaf *l = &w->leaf[w->leaves++];
    for (int k = 0; k < 3; k++) l->at[k] = (int32_t)(voxel[k] & ~(int64_t)7);
    l->root = nvdb_root_key(l->at[0], l->at[1], l->at[2]);
    l->cell = (uint32_t)nvdb_upper_cell(l->at[0], l->at[1], l->at[2]) << 12 | (uint32_t)nvdb_lower_cell(l->at[0], l->at[1], l->at[2]);
    for (int o = 0; o < 8; o++) l->tile[o] = UINT32_MAX;
    *leaf = l;
    return TSR_OK;
}

/* Is there a leaf in the cell of this width (8, 128 or 4096 voxels)? The first `sorted` leaves are in order. */
static int has_leaf(const struct writer *w, int64_t sorted, const int32_t at[3], int32_t width)
{
    struct leaf first = { .root = nvdb_root_key(at[0], at[1], at[2]) };
    if (width < 4096) first.cell = (uint32_t)nvdb_upper_cell(at[0], at[1], at[2]) << 12;
    if (width < 128) first.cell |= (uint32_t)nvdb_lower_cell(at[0], at[1], at[2]);
    int64_t low = 0, high = sorted;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (by_place(&w->leaf[middle], &first) < 0) low = middle + 1;
        else high = middle;
    }
    if (low == sorted || w->leaf[low].root != first.root) return 0;
    return width == 4096 || (width == 128 ? w->leaf[low].cell >> 12 == first.cell >> 12 : w->leaf[low].cell == first.cell);
}

static int inside_at(const struct writer *w, const int64_t at[3]);

/* Cells that the border of the domain cuts and that are inside cannot be one constant, for beyond the border all is outside: they become nodes and leaves.
 * `at` lies in the domain. Where a cell needs a node only, whose own cells end at the border, one leaf makes it. */
static tsr_status cut_cell(struct writer *w, int64_t sorted, const int32_t at[3], int32_t width)
{
    const int64_t first[3] = { at[0], at[1], at[2] }, before = w->leaves;
    const int32_t *n = w->pool->domain, part = width == 4096 ? 128 : 8, cells = width / part;
    struct leaf *leaf;
    int cut = 0;
    for (int k = 0; k < 3; k++) cut |= first[k] + width > n[k];
    if (!cut) return TSR_OK;
    const int node = has_leaf(w, sorted, at, width);
    if (!node && !inside_at(w, first)) return TSR_OK;
    if (width == 8) return node ? TSR_OK : add_leaf(w, first, &leaf);
    for (int32_t c = 0; c < cells * cells * cells; c++) {
        const int64_t to[3] = { first[0] + (c / cells / cells) * part, first[1] + (c / cells % cells) * part, first[2] + (c % cells) * part };
        const int32_t cell[3] = { (int32_t)to[0], (int32_t)to[1], (int32_t)to[2] };
        if (to[0] < n[0] && to[1] < n[1] && to[2] < n[2]) TSR_TRY(cut_cell(w, sorted, cell, part));
    }
    if (!node && w->leaves == before) TSR_TRY(add_leaf(w, first, &leaf));
    return TSR_OK;
}

static tsr_status cut_at_border(struct writer *w)
{
    const int64_t sorted = w->leaves;
    int64_t blocks = 1;
    if (!w->pool->bounded) return TSR_OK;
    for (int k = 0; k < 3; k++) blocks *= ((int64_t)w->pool->domain[k] + 4095) / 4096;
    for (int64_t z = 0, most = MOST_BLOCKS; z < w->pool->domain[2] && blocks <= most; z += 4096)
        for (int64_t y = 0; y < w->pool->domain[1]; y += 4096)
            for (int64_t x = 0; x < w->pool->domain[0]; x += 4096) {
                const int32_t at[3] = { (int32_t)x, (int32_t)y, (int32_t)z };
                TSR_PROGRESS(&w->options->progress, (double)z / w->pool->domain[2], "looking at the border");
                TSR_TRY(cut_cell(w, sorted, at, 4096));
            }
    if (w->leaves > sorted) qsort(w->leaf, (size_t)w->leaves, sizeof *w->leaf, by_place);
    return TSR_OK;
}

static tsr_status make_leaves(struct writer *w)
{
    const int64_t n = w->parts.count;
    for (int64_t i = 0; i < n; i++) {
        const uint64_t key = w->parts.keys[i];
        if (!varies(w, w->parts.ids[i])) continue;
        const int64_t voxel[3] = { (int64_t)tsr_key_x(key) * w->edge, (int64_t)tsr_key_y(key) * w->edge, (int64_t)tsr_key_z(key) * w->edge };
        struct leaf *l;
        int octant = 0;
        TSR_TRY(add_leaf(w, voxel, &l));
        for (int k = 0; k < 3; k++) octant |= (int)(voxel[k] >> 2 & 1) << k;
        l->tile[w->edge == 8 ? 0 : octant] = (uint32_t)i;
    }
    if (w->leaves) qsort(w->leaf, (size_t)w->leaves, sizeof *w->leaf, by_place);
    int64_t kept = 0;
    for (int64_t i = 0; i < w->leaves; i++) { /* tiles of edge 4 in the same leaf come together */
        if (kept && !by_place(&w->leaf[kept - 1], &w->leaf[i])) {
            for (int o = 0; o < 8; o++)
                if (w->leaf[i].tile[o] != UINT32_MAX) w->leaf[kept - 1].tile[o] = w->leaf[i].tile[o];
        } else {
            w->leaf[kept++] = w->leaf[i];
        }
    }
    w->leaves = kept;
    TSR_TRY(cut_at_border(w));
    return TSR_OK;
}

/* Nodes over runs of leaves with the same place. */
/* Of fog: the leaves with a voxel that is not 0. */
static tsr_status make_fog_leaves(struct writer *w)
{
    const tsr_size3 n = w->fog->size;
    const float *v = (const float *)w->fog->data;
    struct leaf *leaf;
    for (int64_t z = 0; z < n.z; z += 8)
        for (int64_t y = 0; y < n.y; y += 8)
            for (int64_t x = 0; x < n.x; x += 8) {
                const int64_t at[3] = { x, y, z }, wide = tsr_min64(8, n.x - x);
                int some = 0;
                for (int64_t row = 0; row < 64 && !some; row++) {
                    const int64_t ry = y + (row & 7), rz = z + (row >> 3);
                    for (int64_t i = 0; ry < n.y && rz < n.z && i < wide && !some; i++) some = v[(rz * n.y + ry) * n.x + x + i] != 0;
                }
                if (some) TSR_TRY(add_leaf(w, at, &leaf));
            }
    if (w->leaves) qsort(w->leaf, (size_t)w->leaves, sizeof *w->leaf, by_place);
    return TSR_OK;
}

static tsr_status make_nodes(struct writer *w)
{
    w->of_leaf = (struct node *)calloc((size_t)w->leaves + 1, sizeof *w->of_leaf);
    w->lower = (struct node *)calloc((size_t)w->leaves + 1, sizeof *w->lower);
    w->upper = (struct node *)calloc((size_t)w->leaves + 1, sizeof *w->upper);
    if (!w->of_leaf || !w->lower || !w->upper)
        TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for the nodes of %lld leaves", w->path, (long long)w->leaves);
    for (int64_t i = 0; i < w->leaves; i++) {
        const struct leaf *l = &w->leaf[i];
        struct node *below = w->lowers ? &w->lower[w->lowers - 1] : NULL;
        if (!below || below->root != l->root || below->cell != l->cell >> 12) {
            below = &w->lower[w->lowers++];
            *below = (struct node){ .first = i, .root = l->root, .cell = l->cell >> 12, .at = { l->at[0] & ~127, l->at[1] & ~127, l->at[2] & ~127 } };
            struct node *above = w->uppers ? &w->upper[w->uppers - 1] : NULL;
            if (!above || above->root != l->root) {
                above = &w->upper[w->uppers++];
                *above = (struct node){ .first = w->lowers - 1, .root = l->root, .at = { l->at[0] & ~4095, l->at[1] & ~4095, l->at[2] & ~4095 } };
            }
            above->last = w->lowers;
        }
        below->last = i + 1;
    }
    return TSR_OK;
}

/* ---- signs of empty cells ----------------------------------------------------------------------------------------------------------------------- */

static int in_domain(const struct writer *w, const int64_t at[3])
{
    for (int k = 0; k < 3; k++)
        if (w->pool->bounded && (at[k] < 0 || at[k] >= w->pool->domain[k])) return 0;
    return 1;
}

/* Is the empty space at this voxel inside? Beyond a domain it is outside. */
static int inside_at(const struct writer *w, const int64_t at[3])
{
    const int64_t limit = TSR_KEY_BIAS - 2;
    int32_t tile[3];
    if (!in_domain(w, at)) return 0;
    for (int k = 0; k < 3; k++) tile[k] = (int32_t)tsr_max64(-limit, tsr_min64(at[k] >> w->pool->log2_edge, limit));
    const uint32_t id = tsr_tile_find(w->pool, tsr_keys_wide(w->parts.keys), w->parts.ids, (int32_t)w->parts.count, w->parts.state.background,
                                      tsr_key_make(tile[0], tile[1], tile[2]));
    return w->pool->phi[w->parts.state.phi][(int64_t)id << (3 * w->pool->log2_edge)] < 0;
}

/* Constants of the empty cells of a node: `side` cells along an axis, `width` voxels each. Empty cells that touch are one constant, so one look-up
 * for each run of them; the border of a domain ends runs. */
static void fill_cells(const struct writer *w, uint8_t *table, const uint8_t *children, int32_t side, int32_t width, const int32_t at[3])
{
    for (int32_t c = 0; c < side * side * side; c++) {
        const int32_t cell[3] = { c / side / side, c / side % side, c % side }, axis = cell[2] ? 2 : cell[1] ? 1 : 0;
        const int32_t before = axis == 2 ? c - 1 : axis == 1 ? c - side : c - side * side;
        int64_t here[3], there[3];
        if (children[c >> 3] >> (c & 7) & 1) continue;
        for (int k = 0; k < 3; k++) here[k] = there[k] = (int64_t)at[k] + (int64_t)cell[k] * width;
        there[axis] -= width;
        const int known = c > 0 && !(children[before >> 3] >> (before & 7) & 1) && in_domain(w, here) == in_domain(w, there);
        if (known) memcpy(table + 8 * c, table + 8 * before, 4);
        else tsr_put_f32(table + 8 * c, inside_at(w, here) ? -w->band : w->band);
    }
}

/* Blocks of 4096^3 between those with leaves that are inside. */
static tsr_status find_root_extras(struct writer *w)
{
    int32_t low[3] = { INT32_MAX, INT32_MAX, INT32_MAX }, high[3] = { INT32_MIN, INT32_MIN, INT32_MIN };
    int64_t blocks = 1;
    for (int64_t i = 0; i < w->uppers; i++)
        for (int k = 0; k < 3; k++) {
            low[k] = tsr_mini(low[k], w->upper[i].at[k] >> 12);
            high[k] = tsr_maxi(high[k], w->upper[i].at[k] >> 12);
        }
    if (w->pool->bounded) /* what an empty or far away part of a domain is */
        for (int k = 0; k < 3; k++) {
            low[k] = 0;
            high[k] = (w->pool->domain[k] - 1) >> 12;
        }
    else if (!w->uppers) return TSR_OK;
    for (int k = 0; k < 3; k++) blocks *= (int64_t)high[k] - low[k] + 1;
    if (blocks > MOST_BLOCKS)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: the list spans %lld blocks of 4096^3 voxels, expected at most %d", w->path, (long long)blocks,
                 (int)MOST_BLOCKS);
    w->root_extra = (uint64_t *)malloc((size_t)blocks * sizeof *w->root_extra);
    if (!w->root_extra) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for %lld blocks", w->path, (long long)blocks);
    for (int32_t x = low[0]; x <= high[0]; x++)
        for (int32_t y = low[1]; y <= high[1]; y++)
            for (int32_t z = low[2]; z <= high[2]; z++) {
                const uint64_t key = nvdb_root_key(x * 4096, y * 4096, z * 4096);
                int taken = 0;
                for (int64_t i = 0; i < w->uppers && !taken; i++) taken = w->upper[i].root == key;
                const int64_t at[3] = { (int64_t)x * 4096, (int64_t)y * 4096, (int64_t)z * 4096 };
                if (!taken && inside_at(w, at)) w->root_extra[w->extras++] = key;
            }
    return TSR_OK;
}

/* ---- statistics ------------------------------------------------------------------------------------------------------------------------------------ */

static void add_stats(struct stats *to, const struct stats *from)
{
    to->lowest = tsr_minf(to->lowest, from->lowest);
    to->highest = tsr_maxf(to->highest, from->highest);
    to->sum += from->sum;
    to->squares += from->squares;
    to->count += from->count;
    for (int k = 0; k < 3; k++) {
        to->low[k] = tsr_mini(to->low[k], from->low[k]);
        to->high[k] = tsr_maxi(to->high[k], from->high[k]);
    }
}

static void put_stats(uint8_t *at, const struct stats *s)
{
    const double n = (double)s->count, mean = s->count ? s->sum / n : 0, variance = s->count ? s->squares / n - mean * mean : 0;
    tsr_put_f32(at, s->count ? s->lowest : 0);
    tsr_put_f32(at + 4, s->count ? s->highest : 0);
    tsr_put_f32(at + 8, (float)mean);
    tsr_put_f32(at + 12, (float)sqrt(variance > 0 ? variance : 0));
}

static void put_box(uint8_t *at, const struct stats *s)
{
    for (int k = 0; k < 3; k++) {
        tsr_put_i32(at + 4 * k, s->low[k]);
        tsr_put_i32(at + 12 + 4 * k, s->high[k]);
    }
}

/* ---- nodes ------------------------------------------------------------------------------------------------------------------------------------------ */

static void add_active(uint8_t *leaf, int32_t n, float v, const int32_t p[3], struct stats *s)
{
    leaf[NVDB_LEAF_MASK + (n >> 3)] = (uint8_t)(leaf[NVDB_LEAF_MASK + (n >> 3)] | 1u << (n & 7));
    s->lowest = tsr_minf(s->lowest, v);
    s->highest = tsr_maxf(s->highest, v);
    s->sum += (double)v;
    s->squares += (double)v * (double)v;
    s->count++;
    for (int k = 0; k < 3; k++) {
        s->low[k] = tsr_mini(s->low[k], p[k]);
        s->high[k] = tsr_maxi(s->high[k], p[k]);
    }
}

/* Of fog: what is not 0 is active. */
static void fog_values(const struct writer *w, const struct leaf *l, uint8_t *to, struct stats *s)
{
    const tsr_size3 size = w->fog->size;
    for (int32_t n = 0; n < 512; n++) {
        const int32_t p[3] = { l->at[0] + (n >> 6), l->at[1] + (n >> 3 & 7), l->at[2] + (n & 7) };
        if (p[0] >= size.x || p[1] >= size.y || p[2] >= size.z) continue;
        const float v = ((const float *)w->fog->data)[((int64_t)p[2] * size.y + p[1]) * size.x + p[0]];
        if (v == 0) continue;
        tsr_put_f32(to + NVDB_LEAF_VALUES + 4 * n, v);
        add_active(to, n, v, p, s);
    }
}

/* 512 values, x slowest, and which of them are active: inside the band and in the domain. Beyond it lies the outside. */
static void leaf_values(const struct writer *w, const struct leaf *l, uint8_t *to, struct stats *s)
{
    const int shift = 3 * w->pool->log2_edge, e = w->edge;
    const float *phi = w->pool->phi[w->parts.state.phi], *tile[8];
    for (int o = 0; o < (e == 8 ? 1 : 8); o++) {
        const int64_t at[3] = { l->at[0] + (o & 1) * 4, l->at[1] + (o >> 1 & 1) * 4, l->at[2] + (o >> 2) * 4 };
        if (l->tile[o] != UINT32_MAX) tile[o] = phi + ((int64_t)w->parts.ids[l->tile[o]] << shift);
        else tile[o] = phi + ((int64_t)(inside_at(w, at) ? TSR_TILE_INSIDE : TSR_TILE_OUTSIDE) << shift);
    }
    for (int32_t n = 0; n < 512; n++) {
        const int32_t x = n >> 6, y = n >> 3 & 7, z = n & 7, p[3] = { l->at[0] + x, l->at[1] + y, l->at[2] + z };
        float v = e == 8 ? tile[0][(z * 8 + y) * 8 + x] : tile[x >> 2 | (y >> 2) << 1 | (z >> 2) << 2][((z & 3) * 4 + (y & 3)) * 4 + (x & 3)];
        int active = v > -w->band && v < w->band;
        if (w->pool->bounded && (p[0] >= w->pool->domain[0] || p[1] >= w->pool->domain[1] || p[2] >= w->pool->domain[2])) {
            active = 0;
            v = w->band;
        }
        tsr_put_f32(to + NVDB_LEAF_VALUES + 4 * n, v);
        if (active) add_active(to, n, v, p, s);
    }
}

static void leaf_range(void *user, int64_t begin, int64_t end, int worker)
{
    struct writer *w = (struct writer *)user;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        struct node *n = &w->of_leaf[i];
        const struct leaf *l = &w->leaf[i];
        n->stats = no_stats;
        if (w->fog) fog_values(w, l, n->to, &n->stats);
        else leaf_values(w, l, n->to, &n->stats);
        const int some = n->stats.count > 0;
        for (int k = 0; k < 3; k++) {
            tsr_put_i32(n->to + 4 * k, some ? n->stats.low[k] : l->at[k]);
            n->to[NVDB_LEAF_BOX + k] = (uint8_t)(some ? n->stats.high[k] - n->stats.low[k] : 0);
        }
        n->to[NVDB_LEAF_FLAGS] = some ? 2 : 0;
        put_stats(n->to + NVDB_LEAF_STATS, &n->stats);
    }
}

static void inner_node(const struct writer *w, struct node *n, const struct node *children, int upper)
{
    uint8_t *mask = n->to + (upper ? NVDB_UPPER_CHILDREN : NVDB_LOWER_CHILDREN), *table = n->to + (upper ? NVDB_UPPER_TABLE : NVDB_LOWER_TABLE);
    n->stats = no_stats;
    for (int64_t i = n->first; i < n->last; i++) {
        const uint32_t c = upper ? children[i].cell : w->leaf[i].cell & 4095u;
        mask[c >> 3] = (uint8_t)(mask[c >> 3] | 1u << (c & 7));
        tsr_put_u64(table + 8 * c, (uint64_t)(children[i].to - n->to));
        add_stats(&n->stats, &children[i].stats);
    }
    if (!w->fog) fill_cells(w, table, mask, upper ? 32 : 16, upper ? 128 : 8, n->at);
    put_box(n->to, &n->stats);
    tsr_put_u64(n->to + NVDB_NODE_FLAGS, n->stats.count ? 2 : 0);
    put_stats(n->to + (upper ? NVDB_UPPER_STATS : NVDB_LOWER_STATS), &n->stats);
}

static void lower_range(void *user, int64_t begin, int64_t end, int worker)
{
    struct writer *w = (struct writer *)user;
    (void)worker;
    for (int64_t i = begin; i < end; i++) inner_node(w, &w->lower[i], w->of_leaf, 0);
}
static void upper_range(void *user, int64_t begin, int64_t end, int worker)
{
    struct writer *w = (struct writer *)user;
    (void)worker;
    for (int64_t i = begin; i < end; i++) inner_node(w, &w->upper[i], w->lower, 1);
}

/* Table of the root by key: nodes and blocks that are inside. */
static void put_root(struct writer *w, uint8_t *root)
{
    uint32_t tiles = 0;
    w->all = no_stats;
    for (int64_t u = 0, x = 0; u < w->uppers || x < w->extras;) {
        uint8_t *to = root + NVDB_ROOT + (int64_t)tiles++ * NVDB_ROOT_TILE;
        if (x == w->extras || (u < w->uppers && w->upper[u].root < w->root_extra[x])) {
            tsr_put_u64(to, w->upper[u].root);
            tsr_put_u64(to + NVDB_ROOT_TILE_CHILD, (uint64_t)(w->upper[u].to - root));
            add_stats(&w->all, &w->upper[u++].stats);
        } else {
            tsr_put_u64(to, w->root_extra[x++]);
            tsr_put_f32(to + NVDB_ROOT_TILE_VALUE, -w->band);
        }
    }
    if (!w->all.count) /* an empty box, as NanoVDB writes it */
        for (int k = 0; k < 3; k++) {
            w->all.low[k] = INT32_MAX;
            w->all.high[k] = INT32_MIN;
        }
    put_box(root, &w->all);
    tsr_put_u32(root + NVDB_ROOT_TILES, tiles);
    tsr_put_f32(root + NVDB_ROOT_BACKGROUND, w->band);
    put_stats(root + NVDB_ROOT_STATS, &w->all);
}

/* ---- grid header ------------------------------------------------------------------------------------------------------------------------------------ */

static void invert(const double m[3][4], double inverse[3][3])
{
    double det = 0;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            const int a = (k + 1) % 3, b = (k + 2) % 3, c = (i + 1) % 3, d = (i + 2) % 3;
            inverse[i][k] = m[a][c] * m[b][d] - m[a][d] * m[b][c];
        }
    for (int k = 0; k < 3; k++) det += m[0][k] * inverse[k][0];
    for (int i = 0; i < 9; i++) inverse[i / 3][i % 3] /= det;
}

static void world_box(const struct writer *w, double box[6])
{
    for (int k = 0; k < 3; k++) {
        box[k] = INFINITY;
        box[3 + k] = -INFINITY;
    }
    for (int c = 0; c < 8; c++) { /* corners of the index box, upper side exclusive, as NanoVDB does */
        const tsr_vec3 p = tsr_geometry_to_world(w->geometry, (tsr_vec3){ c & 1 ? (double)w->all.high[0] + 1 : w->all.low[0],
                                                                          c & 2 ? (double)w->all.high[1] + 1 : w->all.low[1],
                                                                          c & 4 ? (double)w->all.high[2] + 1 : w->all.low[2] });
        const double v[3] = { p.x, p.y, p.z };
        for (int k = 0; k < 3; k++) {
            box[k] = fmin(box[k], v[k]);
            box[3 + k] = fmax(box[3 + k], v[k]);
        }
    }
}

static const char *grid_name(const struct writer *w) { return w->options->name ? w->options->name : "tessera"; }

static void put_head(const struct writer *w)
{
    uint8_t *g = w->grid, *map = g + NVDB_GRID_MAP, *tree = g + NVDB_GRID;
    const tsr_geometry *geometry = w->geometry;
    const tsr_vec3 h = tsr_geometry_spacing(geometry);
    const double size[3] = { h.x, h.y, h.z };
    double inverse[3][3], box[6];
    invert(geometry->affine, inverse);
    world_box(w, box);
    tsr_put_u64(g, TSR_NVDB_MAGIC_0);
    tsr_put_u64(g + NVDB_GRID_CHECKSUM, UINT64_MAX); /* none */
    tsr_put_u32(g + NVDB_GRID_VERSION, (uint32_t)NVDB_MAJOR << 21 | (uint32_t)NVDB_MINOR << 10 | NVDB_PATCH);
    tsr_put_u32(g + NVDB_GRID_FLAGS, NVDB_HAS_BOX | NVDB_HAS_RANGE | NVDB_HAS_MEAN | NVDB_HAS_DEVIATION | NVDB_BREADTH_FIRST);
    tsr_put_u32(g + NVDB_GRID_COUNT, 1);
    tsr_put_u64(g + NVDB_GRID_SIZE, (uint64_t)w->grid_size);
    memcpy(g + NVDB_GRID_NAME, grid_name(w), strlen(grid_name(w)));
    for (int i = 0; i < 9; i++) {
        const double m = geometry->affine[i / 3][i % 3], v = inverse[i / 3][i % 3];
        tsr_put_f32(map + NVDB_MAP_MATRIX_F + 4 * i, (float)m);
        tsr_put_f32(map + NVDB_MAP_INVERSE_F + 4 * i, (float)v);
        tsr_put_f64(map + NVDB_MAP_MATRIX + 8 * i, m);
        tsr_put_f64(map + NVDB_MAP_INVERSE + 8 * i, v);
    }
    for (int k = 0; k < 3; k++) {
        tsr_put_f32(map + NVDB_MAP_VECTOR_F + 4 * k, (float)geometry->affine[k][3]);
        tsr_put_f64(map + NVDB_MAP_VECTOR + 8 * k, geometry->affine[k][3]);
        tsr_put_f64(g + NVDB_GRID_VOXEL_SIZE + 8 * k, size[k]);
    }
    tsr_put_f32(map + NVDB_MAP_TAPER_F, 1);
    tsr_put_f64(map + NVDB_MAP_TAPER, 1);
    for (int k = 0; k < 6; k++) tsr_put_f64(g + NVDB_GRID_WORLD + 8 * k, w->all.count ? box[k] : 0);
    tsr_put_u32(g + NVDB_GRID_CLASS, w->fog ? NVDB_FOG : NVDB_LEVEL_SET);
    tsr_put_u32(g + NVDB_GRID_TYPE, NVDB_FLOAT);
    const int64_t root = NVDB_TREE, upper = root + NVDB_ROOT + (w->uppers + w->extras) * NVDB_ROOT_TILE, lower = upper + w->uppers * NVDB_UPPER,
                  leaf = lower + w->lowers * NVDB_LOWER;
    const int64_t offsets[4] = { leaf, lower, upper, root }, nodes[3] = { w->leaves, w->lowers, w->uppers };
    for (int k = 0; k < 4; k++) tsr_put_u64(tree + 8 * k, (uint64_t)offsets[k]);
    for (int k = 0; k < 3; k++) tsr_put_u32(tree + NVDB_TREE_NODES + 4 * k, (uint32_t)nodes[k]);
    tsr_put_u64(tree + NVDB_TREE_VOXELS, (uint64_t)w->all.count);
}

static tsr_status fill_grid(struct writer *w)
{
    const int threads = w->threads;
    const int64_t root = NVDB_GRID + NVDB_TREE, upper = root + NVDB_ROOT + (w->uppers + w->extras) * NVDB_ROOT_TILE,
                  lower = upper + w->uppers * NVDB_UPPER, leaf = lower + w->lowers * NVDB_LOWER;
    w->grid_size = leaf + w->leaves * NVDB_LEAF;
    w->grid = (uint8_t *)calloc((size_t)w->grid_size, 1);
    if (!w->grid) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for a grid of %lld bytes", w->path, (long long)w->grid_size);
    for (int64_t i = 0; i < w->uppers; i++) w->upper[i].to = w->grid + upper + i * NVDB_UPPER;
    for (int64_t i = 0; i < w->lowers; i++) w->lower[i].to = w->grid + lower + i * NVDB_LOWER;
    for (int64_t i = 0; i < w->leaves; i++) w->of_leaf[i].to = w->grid + leaf + i * NVDB_LEAF;
    tsr_parallel(threads, w->leaves, 256, leaf_range, w);
    tsr_parallel(threads, w->lowers, 1, lower_range, w);
    tsr_parallel(threads, w->uppers, 1, upper_range, w);
    put_root(w, w->grid + root);
    put_head(w);
    return TSR_OK;
}

/* ---- file ------------------------------------------------------------------------------------------------------------------------------------------ */

static uint64_t name_key(const char *name)
{
    uint64_t hash = 0;
    for (; *name; name++) {
        const uint64_t overflow = hash >> 56;
        hash = hash * 67 + (uint8_t)*name + overflow;
    }
    return hash;
}

static tsr_status write_file(const struct writer *w, tsr_output *out)
{
    const int zip = w->options->compression > 0;
    uint8_t head[NVDB_FILE_HEADER + NVDB_META] = { 0 }, *meta = head + NVDB_FILE_HEADER, packed_bytes[8] = { 0 };
    const uint8_t *g = w->grid;
    const size_t name_size = strlen(grid_name(w)) + 1;
    int64_t packed = 0;
    if (zip && !tsr_output_can_patch(out))
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: a packed .nvdb file goes to a plain file only: compression 0 for a pipe", w->path);
    if (w->add) TSR_TRY(tsr_nvdb_keep_grids(w->path, grid_name(w), out));
    const int64_t begin = tsr_output_position(out);
    tsr_put_u64(head, TSR_NVDB_MAGIC_0);
    memcpy(head + NVDB_FILE_VERSION, g + NVDB_GRID_VERSION, 4);
    tsr_put_u16(head + NVDB_FILE_GRIDS, 1);
    tsr_put_u16(head + NVDB_FILE_CODEC, zip ? NVDB_CODEC_ZIP : NVDB_CODEC_NONE);
    tsr_put_u64(meta + NVDB_META_GRID_SIZE, (uint64_t)w->grid_size);
    tsr_put_u64(meta + NVDB_META_FILE_SIZE, (uint64_t)w->grid_size);
    tsr_put_u64(meta + NVDB_META_NAME_KEY, name_key(grid_name(w)));
    tsr_put_u64(meta + NVDB_META_VOXELS, (uint64_t)w->all.count);
    tsr_put_u32(meta + NVDB_META_TYPE, NVDB_FLOAT);
    tsr_put_u32(meta + NVDB_META_CLASS, w->fog ? NVDB_FOG : NVDB_LEVEL_SET);
    memcpy(meta + NVDB_META_WORLD, g + NVDB_GRID_WORLD, 48);
    memcpy(meta + NVDB_META_INDEX, g + NVDB_GRID + NVDB_TREE, 24);
    memcpy(meta + NVDB_META_VOXEL_SIZE, g + NVDB_GRID_VOXEL_SIZE, 24);
    tsr_put_u32(meta + NVDB_META_NAME_SIZE, (uint32_t)name_size);
    memcpy(meta + NVDB_META_NODES, g + NVDB_GRID + NVDB_TREE_NODES, 12);
    tsr_put_u32(meta + NVDB_META_NODES + 12, 1);
    tsr_put_u16(meta + NVDB_META_CODEC, zip ? NVDB_CODEC_ZIP : NVDB_CODEC_NONE);
    memcpy(meta + NVDB_META_VERSION, g + NVDB_GRID_VERSION, 4);
    tsr_output_write(out, head, sizeof head);
    tsr_output_write(out, grid_name(w), name_size);
    if (!zip) return tsr_output_elements(out, g, w->grid_size, 1, 0);
    const int64_t at = tsr_output_position(out);
    tsr_output_write(out, packed_bytes, 8);
    TSR_TRY(tsr_output_deflate_begin(out, TSR_WRAPPER_ZLIB, w->options->compression));
    tsr_output_elements(out, g, w->grid_size, 1, 0);
    TSR_TRY(tsr_output_deflate_end(out, &packed));
    tsr_put_u64(packed_bytes, (uint64_t)packed);
    TSR_TRY(tsr_output_patch(out, at, packed_bytes, 8));
    tsr_put_u64(packed_bytes, (uint64_t)packed + 8);
    return tsr_output_patch(out, begin + NVDB_FILE_HEADER + NVDB_META_FILE_SIZE, packed_bytes, 8);
}

static tsr_status check_name(const struct writer *w)
{
    if (strlen(grid_name(w)) > 255)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: name of the grid has %zu bytes, expected at most 255", w->path, strlen(grid_name(w)));
    return TSR_OK;
}

static tsr_status check(const struct writer *w)
{
    const tsr_tiles_write_options *o = w->options;
    TSR_TRY(check_name(w));
    const int32_t *n = w->pool->domain;
    if (w->pool->bounded && (n[0] == 1 || n[1] == 1 || n[2] == 1))
        TSR_FAIL(TSR_ERROR_UNSUPPORTED,
                 "%s: a level set in two dimensions (%d x %d x %d voxels): .nvdb files hold surfaces in three; write a .tsr file, or a volume",
                 w->path, n[0], n[1], n[2]);
    if (o->meta_count || o->channel_count || o->raw || o->values != TSR_TILES_F32)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: .nvdb files hold no metadata, channels, raw or 16-bit values: write a .tsr file", w->path);
    if (w->parts.state.managed == 0) TSR_FAIL(TSR_ERROR_STATE, "%s: the list waits for its management; it cannot be written", w->path);
    const int64_t count = w->parts.count; /* behind the last tile lies the space around all of them */
    const int inside = count ? w->parts.inside[count - 1] >> 14 & 1 : w->parts.state.background == TSR_TILE_INSIDE;
    if (inside && !w->pool->bounded)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: %s inside, which a .nvdb file cannot say", w->path,
                 count ? "the space around the surface is" : "everything is");
    return TSR_OK;
}

/* The leaves are there: the nodes above them, and the file. */
static tsr_status write_leaves(struct writer *w, const tsr_write_options *settings)
{
    tsr_output *out = NULL;
    TSR_TRY(make_nodes(w));
    if (!w->fog) TSR_TRY(find_root_extras(w));
    TSR_TRY(fill_grid(w));
    tsr_write_options manner = *settings;
    if (w->add) manner.overwrite = 1;
    TSR_TRY(tsr_output_open(w->path, &manner, &out));
    return tsr_output_finish(&out, write_file(w, out));
}

static void writer_free(struct writer *w)
{
    free(w->leaf);
    free(w->of_leaf);
    free(w->lower);
    free(w->upper);
    free(w->root_extra);
    free(w->grid);
}

static tsr_status write_host(const tsr_tiles *tiles, const char *path, const tsr_tiles_write_options *options, int add)
{
    struct writer w = { .pool = &tiles->pool,
                        .geometry = &tiles->geometry,
                        .threads = tiles->context->threads,
                        .options = options,
                        .add = add,
                        .path = path,
                        .edge = 1 << tiles->pool.log2_edge,
                        .band = tiles->pool.band };
    const tsr_write_options settings = { .struct_size = sizeof settings, .overwrite = options->overwrite, .progress = options->progress };
    TSR_TRY(tsr_tiles_take_apart(tiles, &w.parts));
    tsr_status status = check(&w);
    if (status == TSR_OK) status = make_leaves(&w);
    if (status == TSR_OK) status = write_leaves(&w, &settings);
    writer_free(&w);
    tsr_tiles_parts_free(&w.parts);
    return status;
}

static const char *meta_name(const tsr_volume *fog)
{
    const char *own = tsr_volume_meta(fog, "nvdb.name");
    return own && *own ? own : tsr_volume_meta(fog, "vdb.name");
}

static tsr_status write_fog(const tsr_volume *fog, const char *path, const tsr_write_options *options, int add)
{
    const tsr_tiles_write_options names = { .struct_size = sizeof names,
                                            .name = meta_name(fog),
                                            .compression = options->compression };
    struct writer w = { .fog = fog, .add = add, .geometry = &fog->geometry, .threads = tsr_parallel_default_threads(), .options = &names, .path = path };
    if (fog->size.x > 1 << 30 || fog->size.y > 1 << 30 || fog->size.z > 1 << 30)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: more than 2^30 voxels along an axis, which a .nvdb file cannot count", path);
    TSR_TRY(tsr_require_unscaled(fog, path, "a fog volume"));
    tsr_status status = check_name(&w);
    if (status == TSR_OK) status = make_fog_leaves(&w);
    if (status == TSR_OK) status = write_leaves(&w, options);
    writer_free(&w);
    return status;
}

/* Empty space is looked up in the list itself, so a list on a device comes to the host first. */
static tsr_status write_list(const tsr_tiles *tiles, const char *path, const tsr_tiles_write_options *options, int add)
{
    if (tsr_tiles_host_readable(tiles)) return write_host(tiles, path, options, add);
    tsr_context_options on_cpu = TSR_CONTEXT_OPTIONS;
    tsr_context *context = NULL;
    tsr_tiles *copy = NULL;
    on_cpu.device = "cpu";
    on_cpu.threads = tiles->context->threads;
    tsr_status status = tsr_context_create(&on_cpu, &context);
    if (status == TSR_OK) status = tsr_tiles_copy(tiles, context, &copy);
    if (status == TSR_OK) status = write_host(copy, path, options, add);
    tsr_tiles_destroy(&copy);
    tsr_context_destroy(&context);
    return status;
}

static tsr_status write_nvdb(const tsr_tiles *tiles, const char *path, const tsr_tiles_write_options *options) { return write_list(tiles, path, options, 0); }
static tsr_status add_nvdb(const tsr_tiles *tiles, const char *path, const tsr_tiles_write_options *options) { return write_list(tiles, path, options, 1); }
tsr_status tsr_nvdb_write_fog(const tsr_volume *fog, const char *path, const tsr_write_options *options) { return write_fog(fog, path, options, 0); }
tsr_status tsr_nvdb_add_fog(const tsr_volume *fog, const char *path, const tsr_write_options *options) { return write_fog(fog, path, options, 1); }

static int recognise(const tsr_signature *s)
{
    if (s->head_bytes < 16) return TSR_NOT_MINE;
    const uint64_t magic = tsr_get_u64(s->head);
    return (magic == TSR_NVDB_MAGIC_0 || magic == TSR_NVDB_MAGIC_FILE) && !tsr_nvdb_is_fog(s) ? TSR_SURELY_MINE : TSR_NOT_MINE;
}

const tsr_format tsr_format_nvdb = { .name = "nvdb",
                                     .kind = TSR_FILE_TILES,
                                     .extensions = { ".nvdb" },
                                     .recognise = recognise,
                                     .read_tiles = tsr_read_nvdb,
                                     .describe_tiles = tsr_describe_nvdb,
                                     .write_tiles = write_nvdb,
                                     .add_tiles = add_nvdb,
                                     .other = "nvdb-fog" };
