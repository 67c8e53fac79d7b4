#include "core/parallel.h"
#include "pyramid/pyramid_ops.h"

struct work {
    const tsr_tree *tree;
    const tsr_tree_classifier *classifier;
    int32_t level;
    const uint64_t *keys;
    uint64_t first;
    const int64_t *voxels;
    tsr_pyramid_entry *entries;
    uint64_t *ranks;
    int64_t not_a_number[256]; /* per worker */
};

static void classify(void *user, int64_t begin, int64_t end, int worker)
{
    struct work *w = (struct work *)user;
    uint8_t *base = (uint8_t *)w->tree->level[0].sums;
    int32_t not_a_number = 0;
    for (int64_t i = begin; i < end; i++) base[i] = tsr_tree_classify(w->classifier, i, &not_a_number);
    w->not_a_number[worker & 255] += not_a_number;
}
static void reduce(void *user, int64_t begin, int64_t end, int worker)
{
    const struct work *w = (const struct work *)user;
    (void)worker;
    for (int64_t i = begin; i < end; i++) tsr_tree_reduce(w->tree, w->level, i);
}
static void select_range(void *user, int64_t begin, int64_t end, int worker)
{
    const struct work *w = (const struct work *)user;
    (void)worker;
    for (int64_t i = begin; i < end; i++) w->entries[i] = tsr_tree_select(w->tree, w->keys ? w->keys[i] : w->first + (uint64_t)i);
}
static void rank_range(void *user, int64_t begin, int64_t end, int worker)
{
    const struct work *w = (const struct work *)user;
    (void)worker;
    for (int64_t i = begin; i < end; i++) w->ranks[i] = tsr_tree_rank(w->tree, w->voxels[i]);
}

static tsr_status cpu_build(tsr_queue *queue, const tsr_tree *tree, const tsr_tree_classifier *classifier)
{
    struct work w = { .tree = tree, .classifier = classifier };
    const tsr_tree_level *l = tree->level;
    int threads = queue->threads < 256 ? queue->threads : 256;
    tsr_parallel(threads, l->size[0] * l->size[1] * l->size[2], 1 << 16, classify, &w);
    for (w.level = 1; w.level < tree->levels; w.level++) {
        l = &tree->level[w.level];
        tsr_parallel(threads, l->size[0] * l->size[1] * l->size[2], 4096, reduce, &w);
    }
    *tree->not_a_number = 0;
    for (int k = 0; k < threads; k++) *tree->not_a_number += (uint64_t)w.not_a_number[k];
    return TSR_OK;
}

static tsr_status cpu_select(tsr_queue *queue, const tsr_tree *tree, const uint64_t *keys, uint64_t first, int64_t count, tsr_pyramid_entry *entries)
{
    struct work w = { .tree = tree, .keys = keys, .first = first, .entries = entries };
    tsr_parallel(queue->threads, count, 1024, select_range, &w);
    return TSR_OK;
}

static tsr_status cpu_rank(tsr_queue *queue, const tsr_tree *tree, const int64_t *voxels, int64_t count, uint64_t *keys)
{
    struct work w = { .tree = tree, .voxels = voxels, .ranks = keys };
    tsr_parallel(queue->threads, count, 1024, rank_range, &w);
    return TSR_OK;
}

const tsr_pyramid_ops tsr_pyramid_cpu = { .build = cpu_build, .select = cpu_select, .rank = cpu_rank };
