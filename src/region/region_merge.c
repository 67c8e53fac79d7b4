/* region/region_merge.c: trees of tiles put together. The roots of the tiles are level `level` of a pyramid without anything below; what stands above it,
 * and the numbers of each tile's first leaf and node, come from the functions that make any pyramid and its lists. docs/theory/regions.md 8, 9. */
#include <stdlib.h>
#include <string.h>

#include "volume/volume.h"
#include "region/region_tiles.h"

enum { CHANNELS_MOST = 64, STATES = 2 * TSR_REGION_CHANNELS };

struct tile {
    int64_t at[3], counts[2];
    uint64_t place; /* Morton code within the volume in hand */
    int32_t shift;
    float state[STATES]; /* of one that is a leaf */
    uint64_t *leaves;
    int32_t *nodes;
    float *values; /* [channels][leaves] */
    int64_t leaf_count;
};

struct tsr_region_merge {
    tsr_region_options options;
    int32_t level, width, channels;
    int tiny; /* the only tile is smaller than a brick: nothing can stand beside it */
    struct tile *tile;
    int64_t count, room;
    tsr_region_merge_info info;
};

/* Bricks know no state of cells smaller than themselves. */
static int32_t brick_level(int32_t dimensions) { return dimensions == 3 ? 2 : 3; }

tsr_status tsr_region_merge_create(const tsr_region_options *options, int32_t level, tsr_region_merge **merge)
{
    TSR_RETURNS(merge);
    tsr_region_options own;
    TSR_TRY(TSR_OPTIONS_TAKE(&own, options));
    if (own.dimensions != 2 && own.dimensions != 3) TSR_FAIL(TSR_ERROR_ARGUMENT, "region merge: dimensions is %d, expected 2 or 3", own.dimensions);
    if (own.top) TSR_FAIL(TSR_ERROR_ARGUMENT, "region merge: top is %d, expected 0", own.top);
    const int32_t most = own.dimensions == 3 ? 19 : 28;
    if (level < 0 || level > most) TSR_FAIL(TSR_ERROR_ARGUMENT, "region merge: level is %d, expected 0 to %d", level, most);
    TSR_TRY(tsr_host_allocate(NULL, sizeof **merge, (void **)merge));
    **merge = (tsr_region_merge){ .options = own, .level = level };
    return TSR_OK;
}

static void drop(struct tile *t)
{
    free(t->leaves);
    free(t->nodes);
    free(t->values);
}

void tsr_region_merge_destroy(tsr_region_merge **merge)
{
    if (!merge || !*merge) return;
    tsr_region_merge *m = *merge;
    *merge = NULL;
    for (int64_t i = 0; i < m->count; i++) drop(&m->tile[i]);
    free(m->tile);
    tsr_host_release(NULL, m, sizeof *m);
}

const tsr_region_merge_info *tsr_region_merge_describe(const tsr_region_merge *merge)
{
    static const tsr_region_merge_info none;
    return merge ? &merge->info : &none;
}

static void *take(int64_t bytes) { return malloc((size_t)(bytes ? bytes : 1)); }

/* The lists and means of the pyramid; a tile that is empty or one leaf keeps no list. */
static tsr_status collect(const tsr_region_pyramid *p, const tsr_region_info *info, const tsr_volume *const *values, int32_t count, struct tile *t)
{
    tsr_region_tree *tree = NULL;
    void *means = NULL;
    const int64_t leaves = info->leaves;
    const size_t mean_bytes = (size_t)leaves * sizeof(float);
    tsr_status status = TSR_OK;
    if (!leaves) return TSR_OK;
    TSR_TRY(tsr_region_tree_extract(p, &tree));
    t->leaf_count = info->nodes_only ? 0 : leaves;
    t->leaves = (uint64_t *)take(t->leaf_count * (int64_t)sizeof *t->leaves);
    t->nodes = (int32_t *)take((info->nodes << info->dimensions) * (int64_t)sizeof *t->nodes);
    t->values = (float *)take(count * leaves * (int64_t)sizeof *t->values);
    if (!t->leaves || !t->nodes || !t->values)
        TSR_FAIL_GOTO(TSR_ERROR_MEMORY, done, "region merge: no memory for a tile of %lld leaves and %lld nodes", (long long)leaves,
                      (long long)info->nodes);
    if (!info->nodes_only) TSR_TRY_GOTO(tsr_device_move(NULL, t->leaves, p->context, tree->leaves, (size_t)leaves * sizeof *t->leaves), done);
    if (info->nodes)
        TSR_TRY_GOTO(tsr_device_move(NULL, t->nodes, p->context, tree->nodes, (size_t)(info->nodes << info->dimensions) * sizeof *t->nodes), done);
    if (count) TSR_TRY_GOTO(tsr_device_allocate(p->context, mean_bytes, &means), done);
    for (int32_t c = 0; c < count; c++) {
        TSR_TRY_GOTO(tsr_region_tree_means(tree, values[c], (float *)means), done);
        TSR_TRY_GOTO(tsr_device_move(NULL, t->values + c * leaves, p->context, means, mean_bytes), done);
    }
    if (info->root == TSR_REGION_LEAF && p->regions.width)
        TSR_TRY_GOTO(tsr_device_move(NULL, t->state, p->context, p->regions.level[tsr_region_highest(&p->regions)].state,
                                     (size_t)p->regions.width * sizeof(float)),
                     done);
done:
    if (means) tsr_device_release(p->context, means, mean_bytes);
    tsr_region_tree_destroy(&tree);
    return status;
}

tsr_status tsr_region_merge_add(tsr_region_merge *merge, const tsr_region_pyramid *pyramid, const int64_t tile[3], int32_t shift,
                                const tsr_volume *const *values, int32_t count)
{
    TSR_NEEDS(merge, pyramid, tile);
    tsr_region_info info = TSR_REGION_INFO;
    if (count < 0 || count > CHANNELS_MOST || (count && !values)) TSR_FAIL(TSR_ERROR_ARGUMENT, "region merge: %d values, expected 0 to 64", count);
    if (merge->count && count != merge->channels)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "region merge: %d values, expected %d as for the tiles before", count, merge->channels);
    for (int64_t i = 0; i < merge->count; i++)
        if (!memcmp(merge->tile[i].at, tile, sizeof merge->tile[i].at))
            TSR_FAIL(TSR_ERROR_ARGUMENT, "region merge: tile (%lld, %lld, %lld) is there already", (long long)tile[0], (long long)tile[1],
                     (long long)tile[2]);
    const tsr_region_options *a = &merge->options, *b = &pyramid->options;
    if (a->rule != b->rule || a->threshold != b->threshold || !a->complement != !b->complement || !a->singles != !b->singles ||
        a->dimensions != b->dimensions || !a->nodes_only != !b->nodes_only)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "region merge: a pyramid of other options, expected rule %d, threshold %g, dimensions %d, nodes_only %d",
                 (int)a->rule, a->threshold, a->dimensions, a->nodes_only);
    if (a->nodes_only && count) TSR_FAIL(TSR_ERROR_ARGUMENT, "region merge: %d values, expected none with nodes_only", count);
    TSR_TRY(tsr_region_pyramid_describe(pyramid, &info));
    const int tiny = info.top < brick_level(info.dimensions);
    if (shift < 0 || info.top != merge->level - shift || (merge->count && (tiny || merge->tiny)))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "region merge: pyramid with top %d, shift %d, expected top %d - shift, of several tiles at least %d", info.top,
                 shift, merge->level, brick_level(info.dimensions));
    if (merge->count && pyramid->regions.width != merge->width)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "region merge: a pyramid of another number of channels than those before");
    if (merge->count == merge->room) {
        const int64_t room = 2 * merge->room + 16;
        struct tile *grown = (struct tile *)realloc(merge->tile, (size_t)room * sizeof *grown);
        if (!grown) TSR_FAIL(TSR_ERROR_MEMORY, "region merge: no memory for %lld tiles", (long long)room);
        merge->tile = grown;
        merge->room = room;
    }
    struct tile *t = &merge->tile[merge->count];
    *t = (struct tile){ .at = { tile[0], tile[1], tile[2] }, .shift = shift };
    t->counts[0] = info.root == TSR_REGION_LEAF ? -1 : info.leaves;
    t->counts[1] = info.nodes;
    const tsr_status status = collect(pyramid, &info, values, count, t);
    if (status != TSR_OK) {
        drop(t);
        TSR_TRY(status);
    }
    merge->count++;
    merge->tiny = tiny;
    merge->channels = count;
    merge->width = pyramid->regions.width;
    merge->info.tiles = merge->count;
    merge->info.leaves += info.leaves;
    merge->info.nodes += info.nodes;
    merge->info.bytes += t->leaf_count * (int64_t)(sizeof *t->leaves + (size_t)count * sizeof *t->values) +
                         (info.nodes << info.dimensions) * (int64_t)sizeof *t->nodes + (int64_t)sizeof *t;
    return TSR_OK;
}

/* ---- the pyramid above the tiles --------------------------------------------------------------------------------------------------------- */

struct top {
    const tsr_region_merge *m;
    const struct tile **tile; /* in Morton order */
    tsr_regions t;
    int64_t first[3];
};

static int by_place(const void *a, const void *b)
{
    const struct tile *const *x = (const struct tile *const *)a, *const *y = (const struct tile *const *)b;
    return (*x)->place < (*y)->place ? -1 : (*x)->place > (*y)->place;
}

static void release_top(struct top *u)
{
    for (int32_t l = 0; l < TSR_REGION_LEVELS; l++) {
        free(u->t.level[l].counts);
        free(u->t.level[l].state);
    }
    free(u->tile);
}

static void relative(const struct top *u, const struct tile *tile, int64_t at[3])
{
    for (int k = 0; k < 3; k++) at[k] = tile->at[k] - u->first[k];
}

static tsr_status make_top(struct top *u, tsr_size3 size)
{
    const tsr_region_merge *m = u->m;
    tsr_regions *t = &u->t;
    const int64_t n[3] = { size.x, size.y, size.z }, most = tsr_max64(size.x, tsr_max64(size.y, size.z));
    t->bits = m->options.dimensions;
    t->width = m->width;
    while (((int64_t)1 << t->top) < most) t->top++;
    if (t->top < m->level)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "region merge: a volume of %lld x %lld x %lld voxels, expected one larger than half a tile of %lld",
                 (long long)size.x, (long long)size.y, (long long)size.z, (long long)1 << m->level);
    for (int32_t l = m->level; l <= t->top; l++) {
        tsr_region_level *own = &t->level[l];
        for (int k = 0; k < 3; k++) own->size[k] = k < 2 || t->bits == 3 ? ((n[k] - 1) >> l) + 1 : 1;
        const size_t cells = (size_t)tsr_region_cells(own);
        own->counts = (int64_t *)calloc(cells, 2 * sizeof *own->counts);
        own->state = t->width ? (float *)calloc(cells, (size_t)t->width * sizeof *own->state) : NULL;
        if (!own->counts || (t->width && !own->state)) TSR_FAIL(TSR_ERROR_MEMORY, "region merge: no memory for %zu tiles", cells);
    }
    u->tile = (const struct tile **)take(m->count * (int64_t)sizeof *u->tile);
    if (!u->tile) TSR_FAIL(TSR_ERROR_MEMORY, "region merge: no memory for %lld tiles", (long long)m->count);
    for (int64_t i = 0; i < m->count; i++) {
        struct tile *tile = &m->tile[i];
        int64_t at[3];
        relative(u, tile, at);
        if (at[0] < 0 || at[1] < 0 || at[2] < 0 || !tsr_region_within(&t->level[m->level], at))
            TSR_FAIL(TSR_ERROR_ARGUMENT,
                     "region merge: tile (%lld, %lld, %lld) lies outside of the volume of %lld x %lld x %lld voxels from tile "
                     "(%lld, %lld, %lld)",
                     (long long)tile->at[0], (long long)tile->at[1], (long long)tile->at[2], (long long)size.x, (long long)size.y, (long long)size.z,
                     (long long)u->first[0], (long long)u->first[1], (long long)u->first[2]);
        const int64_t cell = tsr_region_raster(&t->level[m->level], at);
        memcpy(t->level[m->level].counts + 2 * cell, tile->counts, sizeof tile->counts);
        if (t->width) memcpy(t->level[m->level].state + cell * t->width, tile->state, (size_t)t->width * sizeof(float));
        tile->place = tsr_region_code(t->bits, at[0], at[1], at[2]);
        u->tile[i] = tile;
    }
    qsort(u->tile, (size_t)m->count, sizeof *u->tile, by_place);
    for (int32_t l = m->level + 1; l <= t->top; l++) {
        int64_t at[3];
        for (int64_t i = 0; i < tsr_region_cells(&t->level[l]); i++) {
            tsr_region_position(&t->level[l], i, at);
            tsr_region_reduce(t, m->options.rule, m->options.threshold, l, at, i);
        }
    }
    return TSR_OK;
}

/* Number of the leaf that a full tile is or became part of. */
static int64_t leaf_of(const tsr_regions *t, int32_t level, const int64_t tile[3])
{
    int64_t at[3] = { tile[0], tile[1], tile[2] }, first[2];
    int32_t l = level;
    while (tsr_region_swallowed(t, l, at)) {
        tsr_region_parent(t->bits, at);
        l++;
    }
    tsr_region_first(t, l, at, first);
    return first[0];
}

/* Lists of a tile that is neither empty nor one leaf, moved to its place. */
static void relocate(const struct top *u, const struct tile *tile, const tsr_region_tree *tree, float *values, int64_t total)
{
    const tsr_regions *t = &u->t;
    int64_t at[3], first[2];
    relative(u, tile, at);
    tsr_region_first(t, u->m->level, at, first);
    const uint64_t place = tsr_region_code(t->bits, at[0], at[1], at[2]) << (t->bits * u->m->level) << 6;
    for (int64_t i = 0; i < tile->leaf_count; i++) {
        const uint64_t key = tile->leaves[i];
        tree->leaves[first[0] + i] = place + (key >> 6 << (t->bits * tile->shift) << 6) + (key & 63u) + (uint64_t)tile->shift;
    }
    for (int64_t i = 0; i < tile->counts[1] << t->bits; i++) {
        const int32_t r = tile->nodes[i];
        tree->nodes[(first[1] << t->bits) + i] = r > 0 ? r + (int32_t)first[1] : r < 0 && !u->m->options.nodes_only ? r - (int32_t)first[0] : r;
    }
    for (int32_t c = 0; c < u->m->channels && values; c++)
        memcpy(values + c * total + first[0], tile->values + c * tile->leaf_count, (size_t)tile->leaf_count * sizeof *values);
}

/* Values of the leaves that are one or several tiles: tiles come in Morton order, so those of a leaf come one after the other. */
static void join_values(const struct top *u, float *values, int64_t total)
{
    const tsr_region_merge *m = u->m;
    for (int64_t i = 0; i < m->count;) {
        int64_t at[3], same = 1;
        relative(u, u->tile[i], at);
        if (u->tile[i]->counts[0] != -1) {
            i++;
            continue;
        }
        const int64_t leaf = leaf_of(&u->t, m->level, at);
        for (; i + same < m->count && u->tile[i + same]->counts[0] == -1; same++) {
            relative(u, u->tile[i + same], at);
            if (leaf_of(&u->t, m->level, at) != leaf) break;
        }
        for (int32_t c = 0; c < m->channels; c++) {
            double sum = 0;
            for (int64_t k = 0; k < same; k++) sum += (double)u->tile[i + k]->values[c];
            values[c * total + leaf] = (float)(sum / (double)same);
        }
        i += same;
    }
}

tsr_status tsr_region_merge_tree(const tsr_region_merge *merge, const int64_t first[3], tsr_size3 size, const tsr_geometry *geometry,
                                 tsr_region_tree **tree, tsr_volume **values)
{
    TSR_RETURNS(tree);
    TSR_NEEDS(merge, first);
    tsr_status status;
    int64_t bytes;
    if (values) *values = NULL;
    TSR_TRY(tsr_size_bytes(size, 8, "region merge", &bytes));
    const int64_t most = (int64_t)1 << (merge->options.dimensions == 3 ? 19 : 28);
    if (size.x > most || size.y > most || size.z > most || (merge->options.dimensions == 2 && size.z != 1))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "region merge: %lld x %lld x %lld voxels, expected extents up to %lld%s", (long long)size.x, (long long)size.y,
                 (long long)size.z, (long long)most, merge->options.dimensions == 2 ? ", extent z 1" : "");
    const tsr_geometry unit = tsr_geometry_make((tsr_vec3){ 1, 1, 1 }, (tsr_vec3){ 0, 0, 0 }, TSR_SPACE_NONE);
    struct top u = { .m = merge, .first = { first[0], first[1], first[2] } };
    TSR_TRY_GOTO(make_top(&u, size), fail);
    tsr_region_info info = { .size = size, .dimensions = merge->options.dimensions, .top = u.t.top, .nodes_only = merge->options.nodes_only != 0 };
    tsr_region_count(u.t.level[u.t.top].counts, &info);
    TSR_TRY_GOTO(tsr_region_tree_create(NULL, &info, geometry ? geometry : &unit, tree), fail);
    float *v = NULL;
    if (values && merge->channels && info.leaves) {
        TSR_TRY_GOTO(tsr_volume_create(NULL, TSR_F32, (tsr_size3){ info.leaves, merge->channels, 1 }, NULL, values), fail);
        v = (float *)(*values)->data;
    }
    const tsr_region_lists lists = { info.nodes_only ? NULL : (*tree)->leaves, (*tree)->nodes };
    for (int32_t l = merge->level; l <= u.t.top && info.leaves; l++) {
        int64_t at[3];
        for (int64_t i = 0; i < tsr_region_cells(&u.t.level[l]); i++) {
            tsr_region_position(&u.t.level[l], i, at);
            if (l > merge->level || u.t.level[l].counts[2 * i] < 0) tsr_region_list_cell(&u.t, &lists, l, at, i, 0);
        }
    }
    for (int64_t i = 0; i < merge->count; i++)
        if (u.tile[i]->counts[0] > 0) relocate(&u, u.tile[i], *tree, v, info.leaves);
    if (v) join_values(&u, v, info.leaves);
    release_top(&u);
    return TSR_OK;
fail:
    release_top(&u);
    tsr_region_tree_destroy(tree);
    if (values) tsr_volume_destroy(values);
    return status;
}
