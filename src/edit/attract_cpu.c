/* edit/attract_cpu.c: attraction by points on the CPU: tiles within reach, pages of velocities, putting back. */
#include <string.h>

#include "core/parallel.h"
#include "edit/attract_ops.h"
#include "reconstruct/potential_isa.h"

enum { TILES_PER_CHUNK = 4, KEYS_PER_CHUNK = 64, NEAR_MOST = 32 /* nodes looked at before the bound is renewed */ };

/* ---- tiles within reach ------------------------------------------------------------------------------------------------------------------ */

struct within {
    const tsr_tree_view *tree;
    const tsr_attract_params *params;
    const uint64_t *keys;
    int32_t log2_edge;
    uint8_t *within;
};
static void within_range(void *user, int64_t begin, int64_t end, int worker)
{
    const struct within *c = (const struct within *)user;
    (void)worker;
    for (int64_t i = begin; i < end; i++) c->within[i] = (uint8_t)tsr_attract_within(c->tree, c->params, c->keys[i], c->log2_edge);
}
static tsr_status cpu_within(tsr_queue *queue, const tsr_tree_view *tree, const tsr_attract_params *params, const uint64_t *keys, int64_t count,
                             int32_t log2_edge, uint8_t *within)
{
    struct within job = { tree, params, keys, log2_edge, within };
    tsr_parallel(queue->threads, count, KEYS_PER_CHUNK, within_range, &job);
    return TSR_OK;
}

/* ---- pages --------------------------------------------------------------------------------------------------------------------------------- */

struct pages {
    const tsr_tree_view *tree;
    const tsr_attract_params *params;
    const tsr_attract_cache *cache;
    const tsr_page_list *list;
};

static float largest(const float v[TSR_BLOCK_VOXELS])
{
    float most = 0.0f;
    for (int i = 0; i < TSR_BLOCK_VOXELS; i++) most = tsr_maxf(most, v[i]);
    return most;
}

/* least[...] = min(least, squared distance + spread) over the cells of depth `limit` (and leaves above) that may be nearer than `bound`; their number. */
static int64_t nearest(const struct pages *job, const uint32_t centre[3], int32_t limit, float spread, float bound, float least[TSR_BLOCK_VOXELS])
{
    const tsr_tree_view *tree = job->tree;
    const tsr_attract_params *k = job->params;
    tsr_seen list[NEAR_MOST];
    int32_t count = 0;
    int64_t taken = 0;
    for (uint32_t node = 0; node < tree->nodes;) {
        const int choice = tsr_attract_look(&tree->centre[node], tree->walk[node].depth, centre, k, limit, bound);
        if (choice > 0) {
            list[count++] = tsr_node_seen(&tree->centre[node], centre, k->potential.unit);
            taken++;
        }
        node = choice == 0 ? node + 1 : tree->walk[node].skip;
        if (count < NEAR_MOST) continue;
        TSR_ISA_SELECT(tsr_attract_near_list)(list, count, k->step, spread, least);
        bound = tsr_minf(bound, largest(least));
        count = 0;
    }
    TSR_ISA_SELECT(tsr_attract_near_list)(list, count, k->step, spread, least);
    return taken;
}

static void force(const struct pages *job, const uint32_t centre[3], float gradient[3][TSR_BLOCK_VOXELS])
{
    const tsr_tree_view *tree = job->tree;
    const tsr_attract_params *k = job->params;
    tsr_seen list[TSR_LIST_MOST];
    int32_t count = 0;
    memset(gradient, 0, 3 * sizeof *gradient);
    for (uint32_t node = 0; node < tree->nodes;) {
        list[count] = tsr_node_seen(&tree->centre[node], centre, k->potential.unit);
        if (!tsr_node_accepted(&tree->walk[node], &list[count], &k->potential)) {
            node++;
            continue;
        }
        node = tree->walk[node].skip;
        if (++count < TSR_LIST_MOST) continue;
        TSR_ISA_SELECT(tsr_attract_force_list)(list, count, &k->potential, k->step, gradient);
        count = 0;
    }
    TSR_ISA_SELECT(tsr_attract_force_list)(list, count, &k->potential, k->step, gradient);
}

static void block_words(const struct pages *job, const int32_t voxel[3], uint32_t words[TSR_BLOCK_VOXELS])
{
    const tsr_attract_params *k = job->params;
    uint32_t centre[3];
    float upper[TSR_BLOCK_VOXELS], least[TSR_BLOCK_VOXELS], gradient[3][TSR_BLOCK_VOXELS];
    int any = 0;
    for (int i = 0; i < TSR_BLOCK_VOXELS; i++) upper[i] = least[i] = k->radius2;
    memset(words, 0, TSR_BLOCK_VOXELS * sizeof *words);
    tsr_attract_centre(k, voxel, 2, centre);
    if (nearest(job, centre, k->coarse, k->spread, k->radius2, upper) == 0) return;
    nearest(job, centre, TSR_TREE_DEPTH_MOST + 1, 0.0f, largest(upper), least);
    for (int i = 0; i < TSR_BLOCK_VOXELS; i++) any |= least[i] < k->radius2;
    if (!any) return;
    force(job, centre, gradient);
    for (int i = 0; i < TSR_BLOCK_VOXELS; i++) {
        const float g[3] = { gradient[0][i], gradient[1][i], gradient[2][i] };
        words[i] = tsr_attract_word(g, least[i], k);
    }
}

static void pages_range(void *user, int64_t begin, int64_t end, int worker)
{
    const struct pages *job = (const struct pages *)user;
    const tsr_page_list *list = job->list;
    const int32_t E = 1 << list->log2_edge;
    uint32_t words[TSR_BLOCK_VOXELS];
    (void)worker;
    for (int64_t t = begin; t < end; t++) {
        const int64_t id = list->ids ? list->ids[t] : t;
        const uint64_t key = tsr_key_at(list->keys, id);
        float *page = list->pages + (id << 3 * list->log2_edge);
        const int32_t at = job->cache->count ? tsr_key_lower_bound(job->cache->keys, job->cache->count, key) : 0;
        if (at < job->cache->count && job->cache->keys[at] == key) {
            memcpy(page, job->cache->pages + ((int64_t)at << 3 * list->log2_edge), sizeof *page << 3 * list->log2_edge);
            continue;
        }
        for (int32_t block = 0; block < 1 << 3 * (list->log2_edge - 2); block++) {
            const int32_t per = list->log2_edge - 2, mask = (1 << per) - 1;
            const int32_t x = (block & mask) * 4, y = (block >> per & mask) * 4, z = (block >> 2 * per) * 4;
            const int32_t voxel[3] = { tsr_key_x(key) * E + x, tsr_key_y(key) * E + y, tsr_key_z(key) * E + z };
            block_words(job, voxel, words);
            for (int32_t row = 0; row < 16; row++) memcpy(page + ((z + row / 4) * E + y + row % 4) * E + x, words + 4 * row, 4 * sizeof *words);
        }
    }
}

static tsr_status cpu_fill(tsr_queue *queue, const tsr_tree_view *tree, const tsr_attract_params *params, const tsr_attract_cache *cache,
                           const tsr_page_list *pages)
{
    tsr_page_list list = *pages;
    struct pages job = { tree, params, cache, &list };
    tsr_pages_open(&list);
    tsr_parallel(queue->threads, list.count, TILES_PER_CHUNK, pages_range, &job);
    return TSR_OK;
}

/* ---- putting back ---------------------------------------------------------------------------------------------------------------------------- */

static void blend_range(void *user, int64_t begin, int64_t end, int worker)
{
    const tsr_attract_blend *b = (const tsr_attract_blend *)user;
    const int32_t V = 1 << 3 * b->log2_edge;
    (void)worker;
    for (int64_t at = begin; at < end; at++) {
        float most = 0.0f, change;
        for (int32_t i = 0; i < V; i++) {
            b->pages[at * V + i] = tsr_attract_blended(b, at, i, &change);
            most = tsr_maxf(most, change);
        }
        b->change[at] = most;
    }
}
static tsr_status cpu_blend(tsr_queue *queue, const tsr_attract_blend *blend)
{
    tsr_attract_blend job = *blend;
    tsr_parallel(queue->threads, job.count, KEYS_PER_CHUNK, blend_range, &job);
    return TSR_OK;
}

const tsr_attract_ops tsr_attract_cpu = { .within = cpu_within, .fill = cpu_fill, .blend = cpu_blend };
