/* histopyramid/pyramid_cpu.c: strips of bricks, sums level by level, queries; lists by tiles. Nothing depends on the number of threads. */
#include "core/parallel.h"
#include "histopyramid/bricks_isa.h"
#include "histopyramid/pyramid_ops.h"

enum { WORKERS = 64 };

/* Slots of a strip of bricks along x: of brick x, base + (x >> bits << all) | child[x & mask]; base: of the strip's first brick. */
struct strips {
    int64_t child[64];
    int32_t bits, all, mask;
};

struct work {
    const tsr_tree *tree;
    const tsr_class_set *classes;
    int32_t level;
    const uint64_t *keys;
    const int64_t *voxels;
    const tsr_tree_list *list;
    const tsr_points_job *points;
    const tsr_matrix_job *matrix;
    const tsr_product_job *product;
    tsr_pyramid_entry *entries;
    uint64_t *ranks;
    struct strips slots;
    int counts; /* bricks of bytes */
    int64_t cell[TSR_TREE_BRICK];
    int64_t not_a_number[WORKERS]; /* per worker */
};

static void plan_strips(const tsr_tree *t, struct strips *s)
{
    *s = (struct strips){ 0 };
    if (t->levels == 2) return;
    s->all = t->level[2].bits;
    s->bits = t->level[2].shift[0] - t->level[1].shift[0];
    s->mask = (1 << s->bits) - 1;
    for (int64_t x = 0; x <= s->mask; x++) {
        int64_t only[4] = { x, 0, 0, 0 };
        s->child[x] = tsr_tree_up(&t->level[2], only);
    }
}

/* ROW, PLANE and CUBE. The unit of work is a strip, whose voxels make the bricks of every class. Bricks are of bits, or where some class counts, of bytes. */
static void strips(void *user, int64_t begin, int64_t end, int worker)
{
    struct work *w = (struct work *)user;
    const tsr_tree *t = w->tree;
    const tsr_tree_level *l = &t->level[0], *bricks = &t->level[1];
    const int rows_y = 1 << bricks->shift[1], rows_z = 1 << bricks->shift[2], wide = 1 << bricks->shift[0];
    const int64_t pieces = tsr_ceil_div(l->size[0], TSR_STRIP_VOXELS);
    const struct strips *slots = &w->slots;
    uint64_t words[TSR_STRIP_VOXELS / 4];
    uint8_t sums[TSR_STRIP_VOXELS / 4];
    uint16_t totals[TSR_STRIP_VOXELS / 4];
    int64_t places[TSR_STRIP_VOXELS / 4];
    for (int64_t i = begin; i < end; i++) {
        const int64_t x0 = i % pieces * TSR_STRIP_VOXELS, strip = i / pieces, count = tsr_min64(TSR_STRIP_VOXELS, l->size[0] - x0);
        int64_t at[4] = { 0, strip % bricks->size[1], strip / bricks->size[1] % bricks->size[2], strip / bricks->size[1] / bricks->size[2] };
        int64_t rows[16];
        for (int r = 0; r < rows_y * rows_z; r++) {
            const int64_t row[4] = { x0, (at[1] << bricks->shift[1]) + r % rows_y, (at[2] << bricks->shift[2]) + r / rows_y, at[3] };
            rows[r] = tsr_tree_within(l, row) ? tsr_tree_origin(t, 0, row) : -1;
        }
        for (int32_t c = 0; c < w->classes->count; c++) {
            const tsr_classifier own = tsr_class_of(w->classes, c);
            int64_t brick[4] = { 0, at[1], at[2], at[3] + c * (bricks->size[3] / w->classes->count) };
            const int64_t base = tsr_tree_slot(t, 1, brick), n = tsr_ceil_div(count, wide);
            for (int64_t k = 0; k < n; k++) {
                const int64_t x = x0 / wide + k;
                places[k] = (base + ((x >> slots->bits) << slots->all)) | slots->child[x & slots->mask];
            }
            int32_t not_a_number;
            if (w->counts) {
                uint8_t *bytes = t->base == TSR_TREE_BYTES ? (uint8_t *)t->voxels : NULL;
                not_a_number = TSR_ISA_SELECT(tsr_brick_counts)(&own, t->brick, rows, count, places, bytes, totals);
                for (int64_t k = 0; k < n; k++) tsr_tree_set(bricks, places[k], totals[k]);
            } else {
                not_a_number = TSR_ISA_SELECT(tsr_brick_strip)(&own, t->brick, rows, count, words, sums);
                for (int64_t k = 0; k < n; k++) {
                    if (t->base == TSR_TREE_WORDS && words[k]) ((uint64_t *)t->voxels)[places[k]] = words[k];
                    ((uint8_t *)bricks->sums)[places[k]] = sums[k]; /* multiplicities of 0 and 1: sums of bricks are bytes */
                }
            }
            if (c == 0) w->not_a_number[worker] += not_a_number;
        }
    }
}

/* Bricks that volumes of few voxels or thirds have. The unit of work is a brick of every class. */
static void bricks(void *user, int64_t begin, int64_t end, int worker)
{
    struct work *w = (struct work *)user;
    const tsr_tree *t = w->tree;
    const int32_t share = tsr_tree_share(t);
    int32_t not_a_number = 0;
    for (int64_t i = begin * share; i < end * share; i++) {
        int64_t at[4], parent[4];
        tsr_tree_position(&t->level[1], tsr_tree_shared(t, i), at);
        memcpy(parent, at, sizeof parent);
        const int64_t slot = tsr_tree_slot(t, 1, parent), origin = tsr_tree_origin(t, 1, at);
        uint8_t *bytes = t->base == TSR_TREE_BYTES ? (uint8_t *)t->voxels + slot * TSR_TREE_BRICK : NULL;
        uint64_t word = 0, sum = 0;
        for (int32_t c = 0; c < tsr_tree_children(&t->level[1]); c++) {
            int64_t voxel[4] = { at[0], at[1], at[2], at[3] };
            tsr_tree_down(&t->level[1], c, voxel);
            const uint32_t m = tsr_tree_within(&t->level[0], voxel) ? tsr_classify_stacked(w->classes, origin + w->cell[c], &not_a_number) : 0;
            if (bytes) bytes[c] = (uint8_t)m;
            word |= (uint64_t)(m & 1u) << c;
            sum += m;
        }
        if (t->base == TSR_TREE_WORDS && word) ((uint64_t *)t->voxels)[slot] = word;
        tsr_tree_set(&t->level[1], slot, sum);
    }
    w->not_a_number[worker] += not_a_number;
}

static void reduce(void *user, int64_t begin, int64_t end, int worker)
{
    const struct work *w = (const struct work *)user;
    const tsr_tree *t = w->tree;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        int64_t at[4];
        tsr_tree_position(&t->level[w->level], i, at);
        tsr_tree_set(&t->level[w->level], tsr_tree_slot(t, w->level, at), tsr_tree_reduce(t, w->level, i));
    }
}
static void select_range(void *user, int64_t begin, int64_t end, int worker)
{
    const struct work *w = (const struct work *)user;
    (void)worker;
    for (int64_t i = begin; i < end; i++) w->entries[i] = tsr_tree_select(w->tree, w->classes, w->keys[i]);
}
static void rank_range(void *user, int64_t begin, int64_t end, int worker)
{
    const struct work *w = (const struct work *)user;
    (void)worker;
    for (int64_t i = begin; i < end; i++) w->ranks[i] = tsr_tree_rank(w->tree, w->classes, w->voxels[i]);
}

static void expand_keys(void *user, int64_t begin, int64_t end, int worker)
{
    const struct work *w = (const struct work *)user;
    (void)worker;
    for (int64_t i = begin; i < end; i++) tsr_tree_write_key(w->tree, w->classes, w->list, w->list->first + (uint64_t)i);
}
static void expand_tiles(void *user, int64_t begin, int64_t end, int worker)
{
    const struct work *w = (const struct work *)user;
    const tsr_tree *t = w->tree;
    const tsr_tree_level *tiles = &t->level[w->level];
    int64_t offset[64] = { 0 };
    (void)worker;
    if (w->level == 2)
        for (int32_t c = 0; c < tsr_tree_children(tiles); c++) offset[c] = tsr_tree_offset(t, 2, c);
    for (int64_t i = begin; i < end; i++) {
        int64_t at[4], climb[4];
        tsr_tree_position(tiles, i, at);
        const uint64_t sum = tsr_tree_tile_sum(t, w->level, at);
        if (!sum) continue;
        memcpy(climb, at, sizeof climb);
        uint64_t key = tsr_tree_first(t, w->level, climb);
        if (key + sum <= w->list->first || key >= w->list->end) continue;
        const int64_t origin = tsr_tree_origin(t, w->level, at);
        if (w->level == 1) {
            tsr_tree_expand(t, w->classes, w->list, w->cell, at, 0, origin, key);
            continue;
        }
        for (int32_t v = 0; v < tsr_tree_children(tiles); v++) {
            const int32_t c = tsr_tree_seen(tiles, v);
            const int64_t slot = tsr_tree_family(tiles, i) + c;
            const uint64_t own = tsr_tree_get(&t->level[1], slot);
            int64_t brick[4] = { at[0], at[1], at[2], at[3] };
            if (!own) continue;
            tsr_tree_down(tiles, c, brick);
            tsr_tree_expand(t, w->classes, w->list, w->cell, brick, slot, origin + offset[c], key);
            key += own;
        }
    }
}

static void make_points(void *user, int64_t begin, int64_t end, int worker)
{
    const struct work *w = (const struct work *)user;
    (void)worker;
    for (int64_t i = begin; i < end; i++) tsr_point_make(w->points, i);
}
static void make_matrix(void *user, int64_t begin, int64_t end, int worker)
{
    const struct work *w = (const struct work *)user;
    (void)worker;
    for (int64_t i = begin; i < end; i++) tsr_matrix_entry(w->matrix, i);
}
static void make_rows(void *user, int64_t begin, int64_t end, int worker)
{
    const struct work *w = (const struct work *)user;
    (void)worker;
    for (int64_t i = begin; i < end; i++) w->matrix->starts[i] = tsr_tree_rank(w->tree, NULL, i * w->matrix->width);
}

/* Sums beyond the entries of a row are 0, and left out: that changes none. */
static void multiply_rows(void *user, int64_t begin, int64_t end, int worker)
{
    const tsr_product_job *job = ((const struct work *)user)->product;
    (void)worker;
    for (int64_t row = begin; row < end; row++) {
        double sum[TSR_PRODUCT_LANES] = { 0.0 };
        const int32_t lanes = (int32_t)tsr_min64((int64_t)(job->starts[row + 1] - job->starts[row]), TSR_PRODUCT_LANES);
        for (int32_t lane = 0; lane < lanes; lane++) sum[lane] = tsr_product_lane(job, row, lane);
        for (int32_t half = TSR_PRODUCT_LANES / 2; half > 0; half /= 2)
            for (int32_t lane = 0; lane + half < lanes && lane < half; lane++) sum[lane] += sum[lane + half];
        tsr_product_store(job, row, sum[0]);
    }
}

/* UINT64_MAX - the first voxel whose value is no multiplicity; the caller knows that there is one. */
static uint64_t first_refused(const tsr_tree *t, const tsr_classifier *c)
{
    const int64_t count = tsr_tree_cells(&t->level[0]) / t->channels;
    int32_t refused = 0;
    int64_t i = 0;
    while (i < count && (tsr_classify_count(c, i, &refused), !refused)) i++;
    return UINT64_MAX - (uint64_t)i;
}

static int workers(const tsr_queue *queue) { return queue->threads < WORKERS ? queue->threads : WORKERS; }

static tsr_status cpu_build(tsr_queue *queue, const tsr_tree *tree, const tsr_class_set *classes)
{
    struct work w = { .tree = tree, .classes = classes };
    const tsr_tree_level *l = &tree->level[1];
    for (int32_t c = 0; c < classes->count; c++)
        w.counts |= tsr_class_of(classes, c).kind == TSR_PYRAMID_COUNTS || tsr_class_of(classes, c).kind == TSR_PYRAMID_CROSSINGS;
    const int bytes = !w.counts || tree->base == TSR_TREE_BYTES || classes->first.most <= UINT8_MAX; /* strips work them out as bytes */
    if (tree->brick != TSR_BRICK_OTHER && bytes) {
        const int64_t pieces = tsr_ceil_div(tree->level[0].size[0], TSR_STRIP_VOXELS);
        plan_strips(tree, &w.slots);
        tsr_parallel(workers(queue), l->size[1] * l->size[2] * (l->size[3] / classes->count) * pieces, 16, strips, &w);
    } else {
        for (int32_t c = 0; c < tsr_tree_children(l); c++) w.cell[c] = tsr_tree_offset(tree, 1, c);
        tsr_parallel(workers(queue), tsr_tree_cells(l) / tsr_tree_share(tree), 1024, bricks, &w);
    }
    for (w.level = 2; w.level < tree->levels; w.level++) tsr_parallel(workers(queue), tsr_tree_cells(&tree->level[w.level]), 1024, reduce, &w);
    *tree->not_a_number = 0;
    for (int k = 0; k < WORKERS; k++) *tree->not_a_number += (uint64_t)w.not_a_number[k];
    const tsr_classifier first = tsr_class_of(classes, 0);
    if (*tree->not_a_number && first.kind == TSR_PYRAMID_COUNTS) tree->not_a_number[1] = first_refused(tree, &first);
    return TSR_OK;
}

static tsr_status cpu_select(tsr_queue *queue, const tsr_tree *tree, const tsr_class_set *classes, const uint64_t *keys, int64_t count,
                             tsr_pyramid_entry *entries)
{
    struct work w = { .tree = tree, .classes = classes, .keys = keys, .entries = entries };
    tsr_parallel(queue->threads, count, 1024, select_range, &w);
    return TSR_OK;
}

static tsr_status cpu_extract(tsr_queue *queue, const tsr_tree *tree, const tsr_class_set *classes, const tsr_tree_list *list)
{
    struct work w = { .tree = tree, .classes = classes, .list = list, .level = tsr_tree_tile_level(tree) };
    const int64_t tiles = tsr_tree_cells(&tree->level[w.level]);
    if (tsr_tree_few(list, tiles)) {
        tsr_parallel(queue->threads, (int64_t)(list->end - list->first), 1024, expand_keys, &w);
        return TSR_OK;
    }
    for (int32_t v = 0; v < tsr_tree_children(&tree->level[1]); v++) w.cell[v] = tsr_tree_offset(tree, 1, tsr_tree_seen(&tree->level[1], v));
    tsr_parallel(queue->threads, tiles, 16, expand_tiles, &w);
    return TSR_OK;
}

static tsr_status cpu_rank(tsr_queue *queue, const tsr_tree *tree, const tsr_class_set *classes, const int64_t *voxels, int64_t count, uint64_t *keys)
{
    struct work w = { .tree = tree, .classes = classes, .voxels = voxels, .ranks = keys };
    tsr_parallel(queue->threads, count, 1024, rank_range, &w);
    return TSR_OK;
}

static tsr_status cpu_firsts(tsr_queue *queue, const tsr_tree *tree, const tsr_class_set *classes, int64_t batch, uint64_t *keys)
{
    (void)queue;
    for (int64_t b = 0; b <= batch; b++) keys[b] = tsr_tree_batch_first(tree, classes, b);
    return TSR_OK;
}

static tsr_status cpu_points(tsr_queue *queue, const tsr_points_job *job)
{
    struct work w = { .points = job };
    tsr_parallel(queue->threads, job->count, 4096, make_points, &w);
    return TSR_OK;
}

static tsr_status cpu_matrix(tsr_queue *queue, const tsr_tree *tree, const tsr_matrix_job *job)
{
    struct work w = { .tree = tree, .matrix = job };
    tsr_parallel(queue->threads, job->nonzeros, 16384, make_matrix, &w);
    tsr_parallel(queue->threads, job->rows + 1, 1024, make_rows, &w);
    return TSR_OK;
}

static tsr_status cpu_product(tsr_queue *queue, const tsr_product_job *job)
{
    struct work w = { .product = job };
    tsr_parallel(queue->threads, job->rows, 1024, multiply_rows, &w);
    return TSR_OK;
}

const tsr_pyramid_ops tsr_pyramid_cpu = { .build = cpu_build,
                                          .select = cpu_select,
                                          .extract = cpu_extract,
                                          .rank = cpu_rank,
                                          .firsts = cpu_firsts,
                                          .points = cpu_points,
                                          .matrix = cpu_matrix,
                                          .product = cpu_product,
                                          .levels = tsr_levels_cpu };
