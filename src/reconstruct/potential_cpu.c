/* reconstruct/potential_cpu.c: point clouds on the CPU: building the octree, the potential and the union of balls in tiles, sampling. */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "reconstruct/potential_isa.h"
#include "reconstruct/potential_ops.h"
#include "reconstruct/sample.h"

enum { POINTS_PER_CHUNK = 8192, LEAVES_PER_CHUNK = 2048, TILES_PER_CHUNK = 16, CHUNKS_MOST = 256 };

/* ---- bounds: chunks of fixed size, so that the result does not depend on the threads -------------------------------------------------- */

struct bounds {
    const float *positions;
    int64_t points, chunk;
    tsr_points_bounds part[CHUNKS_MOST];
};

static void bounds_range(void *user, int64_t begin, int64_t end, int worker)
{
    struct bounds *job = (struct bounds *)user;
    (void)worker;
    for (int64_t c = begin; c < end; c++) {
        tsr_points_bounds *b = &job->part[c];
        *b = (tsr_points_bounds){ { INFINITY, INFINITY, INFINITY }, { -INFINITY, -INFINITY, -INFINITY }, job->points };
        for (int64_t i = c * job->chunk; i < tsr_min64((c + 1) * job->chunk, job->points); i++) {
            const float *p = job->positions + 3 * i;
            if (!tsr_point_finite(p)) {
                b->bad = tsr_min64(b->bad, i);
                continue;
            }
            for (int k = 0; k < 3; k++) {
                b->lower[k] = tsr_minf(b->lower[k], p[k]);
                b->upper[k] = tsr_maxf(b->upper[k], p[k]);
            }
        }
    }
}

static tsr_status cpu_bounds(tsr_queue *queue, const float *positions, int64_t points, tsr_points_bounds *bounds)
{
    struct bounds job = { .positions = positions, .points = points, .chunk = tsr_max64(tsr_ceil_div(points, CHUNKS_MOST), 1) };
    tsr_parallel(queue->threads, CHUNKS_MOST, 1, bounds_range, &job);
    *bounds = job.part[0];
    for (int c = 1; c < CHUNKS_MOST; c++) {
        bounds->bad = tsr_min64(bounds->bad, job.part[c].bad);
        for (int k = 0; k < 3; k++) {
            bounds->lower[k] = tsr_minf(bounds->lower[k], job.part[c].lower[k]);
            bounds->upper[k] = tsr_maxf(bounds->upper[k], job.part[c].upper[k]);
        }
    }
    return TSR_OK;
}

/* ---- building ------------------------------------------------------------------------------------------------------------------------- */

static void keys_range(void *user, int64_t begin, int64_t end, int worker)
{
    const tsr_tree_build *b = (const tsr_tree_build *)user;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        b->keys[i] = tsr_point_key(b, i);
        b->order[i] = (uint32_t)i;
    }
}
static void fixed_range(void *user, int64_t begin, int64_t end, int worker)
{
    const tsr_tree_build *b = (const tsr_tree_build *)user;
    (void)worker;
    for (int64_t i = begin; i < end; i++) tsr_point_fixed(b, i);
}
struct others {
    const tsr_tree_build *build;
    tsr_lone_rule rule;
};
static void others_range(void *user, int64_t begin, int64_t end, int worker)
{
    const struct others *job = (const struct others *)user;
    (void)worker;
    for (int64_t i = begin; i < end; i++) job->build->first[i] = (uint8_t)tsr_point_has_others(job->build, &job->rule, i);
}
struct leaves {
    const tsr_tree_build *build;
    int32_t axis;
};
static void leaves_range(void *user, int64_t begin, int64_t end, int worker)
{
    const struct leaves *job = (const struct leaves *)user;
    (void)worker;
    for (int64_t i = begin; i < end; i++) tsr_leaf_gather(job->build, i, job->axis);
}
static void count_range(void *user, int64_t begin, int64_t end, int worker)
{
    const tsr_tree_build *b = (const tsr_tree_build *)user;
    (void)worker;
    for (int64_t i = begin; i < end; i++) b->counts[i] = i < b->leaves ? tsr_leaf_nodes(b, i) : 0;
}
static void nodes_range(void *user, int64_t begin, int64_t end, int worker)
{
    const tsr_tree_build *b = (const tsr_tree_build *)user;
    (void)worker;
    for (int64_t i = begin; i < end; i++) tsr_leaf_write(b, i);
}

static tsr_status over(tsr_queue *queue, int64_t count, int64_t grain, tsr_parallel_body body, const tsr_tree_build *build)
{
    tsr_tree_build own = *build;
    tsr_parallel(queue->threads, count, grain, body, &own);
    return TSR_OK;
}
static tsr_status cpu_keys(tsr_queue *queue, const tsr_tree_build *b) { return over(queue, b->points, POINTS_PER_CHUNK, keys_range, b); }
static tsr_status cpu_fixed(tsr_queue *queue, const tsr_tree_build *b) { return over(queue, b->points, POINTS_PER_CHUNK, fixed_range, b); }
static tsr_status cpu_others(tsr_queue *queue, const tsr_tree_build *b, tsr_lone_rule rule)
{
    struct others job = { b, rule };
    tsr_parallel(queue->threads, b->points, POINTS_PER_CHUNK, others_range, &job);
    return TSR_OK;
}
static tsr_status cpu_leaves(tsr_queue *queue, const tsr_tree_build *b, int32_t axis)
{
    struct leaves job = { b, axis };
    tsr_parallel(queue->threads, b->leaves + 1, POINTS_PER_CHUNK, leaves_range, &job);
    return TSR_OK;
}
static tsr_status cpu_count(tsr_queue *queue, const tsr_tree_build *b) { return over(queue, b->leaves + 1, LEAVES_PER_CHUNK, count_range, b); }
static tsr_status cpu_nodes(tsr_queue *queue, const tsr_tree_build *b) { return over(queue, b->leaves, LEAVES_PER_CHUNK, nodes_range, b); }

/* ---- pages ---------------------------------------------------------------------------------------------------------------------------- */

struct pages {
    const tsr_tree_view *tree;
    const tsr_potential_params *potential; /* or */
    const tsr_ball_params *balls;
    const tsr_page_list *list;
};

/* A block and the accepted nodes that wait to be added. */
struct block {
    uint32_t centre[3];
    int32_t count;
    tsr_seen list[TSR_LIST_MOST];
    float sum[TSR_BLOCK_VOXELS];
};

static void block_begin(struct block *b, const int32_t voxel[3], int32_t level)
{
    for (int k = 0; k < 3; k++) b->centre[k] = tsr_block_centre(voxel[k], level);
    b->count = 0;
    memset(b->sum, 0, sizeof b->sum);
}
static void block_add(struct block *b, const tsr_potential_params *k)
{
    TSR_ISA_SELECT(tsr_potential_list)(b->list, b->count, k, b->sum);
    b->count = 0;
}
/* The walk through the nodes from `node` up to `end`. */
static void block_walk(struct block *b, const tsr_tree_view *tree, const tsr_potential_params *k, uint32_t node, uint32_t end)
{
    while (node < end) {
        tsr_seen *seen = &b->list[b->count];
        *seen = tsr_node_seen(&tree->centre[node], b->centre, k->unit);
        if (!tsr_node_accepted(&tree->walk[node], seen, k)) {
            node++;
            continue;
        }
        node = tree->walk[node].skip;
        if (++b->count == TSR_LIST_MOST) block_add(b, k);
    }
}

/* Blocks side by side along x open and take mostly the same nodes: one walk finds those about which all agree, with a margin for rounding, and leaves the
 * subtrees of the others to a walk of each. What a block adds, and in which order, is what its own walk would add. */
enum { RUN_MOST = 4, SHARED_MOST = 512 };
struct shared {
    int32_t count;
    uint32_t node[SHARED_MOST];
    uint8_t taken[SHARED_MOST]; /* by all; else: each walks the subtree */
};

static void run_share(struct block *blocks, int32_t length, const tsr_tree_view *tree, const tsr_potential_params *k, struct shared *shared)
{
    for (int32_t j = 0; j < length; j++) {
        struct block *b = &blocks[j];
        for (int32_t i = 0; i < shared->count; i++) {
            const uint32_t node = shared->node[i];
            if (!shared->taken[i]) {
                block_walk(b, tree, k, node, tree->walk[node].skip);
                continue;
            }
            b->list[b->count] = tsr_node_seen(&tree->centre[node], b->centre, k->unit);
            if (++b->count == TSR_LIST_MOST) block_add(b, k);
        }
    }
    shared->count = 0;
}

/* The centres lie at most `half` voxels from the place the node is seen from: 1 all take it, 0 all open it, -1 each decides. */
static int run_agrees(const tsr_tree_walk *walk, const tsr_seen *s, float half, const tsr_potential_params *k)
{
    const uint32_t depth = walk->depth & 31u;
    if ((walk->depth & TSR_TREE_LEAF) || depth >= (uint32_t)k->level) return 1;
    const float x = tsr_absf(s->x), across = s->y * s->y + s->z * s->z, near = tsr_maxf(x - half, 0.0f), far = x + half, limit = k->far2[depth];
    if (near * near + across > limit * 1.0001f) return 1;
    return far * far + across < limit * 0.9999f ? 0 : -1;
}

static void run_potential(const struct pages *job, const int32_t voxel[3], int32_t length, struct block *blocks)
{
    const tsr_tree_view *tree = job->tree;
    const tsr_potential_params *k = job->potential;
    const float half = 0.5f * (float)(TSR_BLOCK_EDGE * (length - 1));
    uint32_t middle[3];
    struct shared shared;
    shared.count = 0;
    for (int32_t j = 0; j < length; j++) block_begin(&blocks[j], (const int32_t[3]){ voxel[0] + TSR_BLOCK_EDGE * j, voxel[1], voxel[2] }, k->level);
    for (int i = 0; i < 3; i++) middle[i] = blocks[0].centre[i];
    middle[0] += (blocks[length - 1].centre[0] - blocks[0].centre[0]) / 2;
    if (length == 1) block_walk(&blocks[0], tree, k, 0, tree->nodes);
    for (uint32_t node = 0; node < tree->nodes && length > 1;) {
        const tsr_seen seen = tsr_node_seen(&tree->centre[node], middle, k->unit);
        const int agreed = run_agrees(&tree->walk[node], &seen, half, k);
        if (agreed == 0) {
            node++;
            continue;
        }
        shared.node[shared.count] = node;
        shared.taken[shared.count] = agreed == 1;
        node = tree->walk[node].skip;
        if (++shared.count == SHARED_MOST) run_share(blocks, length, tree, k, &shared);
    }
    run_share(blocks, length, tree, k, &shared);
    for (int32_t j = 0; j < length; j++) {
        block_add(&blocks[j], k);
        float *sum = blocks[j].sum;
        if (job->list->coded) {
            for (int i = 0; i < TSR_BLOCK_VOXELS; i++) sum[i] = tsr_potential_code(sum[i], k);
        } else {
            for (int i = 0; i < TSR_BLOCK_VOXELS; i++) sum[i] = tsr_potential_kept(sum[i], k);
        }
    }
}

static void block_balls(const struct pages *job, const int32_t voxel[3], float least[TSR_BLOCK_VOXELS])
{
    const tsr_tree_view *tree = job->tree;
    const tsr_ball_params *k = job->balls;
    const uint32_t centre[3] = { tsr_block_centre(voxel[0], k->level), tsr_block_centre(voxel[1], k->level), tsr_block_centre(voxel[2], k->level) };
    const float reach = tsr_ball_reach(k);
    tsr_seen list[TSR_LIST_MOST];
    int32_t count = 0;
    for (int i = 0; i < TSR_BLOCK_VOXELS; i++) least[i] = k->band;
    for (uint32_t node = 0; node < tree->nodes;) {
        const uint32_t depth = tree->walk[node].depth;
        if (!tsr_ball_near(&tree->centre[node], depth & 31u, centre, reach, k->unit)) {
            node = tree->walk[node].skip;
            continue;
        }
        if (!(depth & TSR_TREE_LEAF)) {
            node++;
            continue;
        }
        list[count] = tsr_node_seen(&tree->centre[node], centre, k->unit);
        list[count].count = tree->radius ? tree->radius[node] : k->radius;
        node = tree->walk[node].skip;
        if (++count < TSR_LIST_MOST) continue;
        TSR_ISA_SELECT(tsr_ball_list)(list, count, k->voxel, least);
        count = 0;
    }
    TSR_ISA_SELECT(tsr_ball_list)(list, count, k->voxel, least);
    for (int i = 0; i < TSR_BLOCK_VOXELS; i++) least[i] = tsr_maxf(least[i], -k->band);
}

/* A block to its place in the page of a tile. */
static void page_write(float *page, int32_t E, int32_t x, int32_t y, int32_t z, const float *block)
{
    for (int32_t row = 0; row < 16; row++) memcpy(page + ((z + row / 4) * E + y + row % 4) * E + x, block + 4 * row, 4 * sizeof *page);
}

static void page_write_codes(uint16_t *page, int32_t E, int32_t x, int32_t y, int32_t z, const float *block)
{
    for (int32_t i = 0; i < TSR_BLOCK_VOXELS; i++) page[((z + i / 16) * E + y + i / 4 % 4) * E + x + i % 4] = (uint16_t)block[i];
}

/* Tiles from t on whose blocks form one row: their number, at most RUN_MOST. Wider tiles are a row by themselves. */
static int32_t run_length(const tsr_page_list *list, int64_t t, int64_t end)
{
    int32_t length = 1;
    if (list->log2_edge != 2) return 1;
    const uint64_t first = tsr_key_at(list->keys, list->ids ? list->ids[t] : t);
    while (length < RUN_MOST && t + length < end &&
           tsr_key_at(list->keys, list->ids ? list->ids[t + length] : t + length) == first + (uint64_t)length)
        length++;
    return length;
}

static void potential_range(void *user, int64_t begin, int64_t end, int worker)
{
    const struct pages *job = (const struct pages *)user;
    const tsr_page_list *list = job->list;
    const int32_t E = 1 << list->log2_edge;
    struct block blocks[RUN_MOST];
    (void)worker;
    for (int64_t t = begin; t < end;) {
        const int32_t tiles = run_length(list, t, end), length = E == TSR_BLOCK_EDGE ? tiles : E / TSR_BLOCK_EDGE;
        const uint64_t key = tsr_key_at(list->keys, list->ids ? list->ids[t] : t);
        for (int32_t z = 0; z < E; z += TSR_BLOCK_EDGE)
            for (int32_t y = 0; y < E; y += TSR_BLOCK_EDGE) {
                const int32_t voxel[3] = { tsr_key_x(key) * E, tsr_key_y(key) * E + y, tsr_key_z(key) * E + z };
                run_potential(job, voxel, length, blocks);
                for (int32_t j = 0; j < length; j++) {
                    const int64_t at = t + (E == TSR_BLOCK_EDGE ? j : 0), id = list->ids ? list->ids[at] : at;
                    const int64_t page = id << (3 * list->log2_edge);
                    const int32_t x = E == TSR_BLOCK_EDGE ? 0 : j * TSR_BLOCK_EDGE;
                    if (list->coded) page_write_codes((uint16_t *)(void *)list->pages + page, E, x, y, z, blocks[j].sum);
                    else page_write(list->pages + page, E, x, y, z, blocks[j].sum);
                }
            }
        t += tiles;
    }
}

static void balls_range(void *user, int64_t begin, int64_t end, int worker)
{
    const struct pages *job = (const struct pages *)user;
    const tsr_page_list *list = job->list;
    const int32_t E = 1 << list->log2_edge;
    float block[TSR_BLOCK_VOXELS];
    (void)worker;
    for (int64_t t = begin; t < end; t++) {
        const int64_t id = list->ids ? list->ids[t] : t;
        const uint64_t key = tsr_key_at(list->keys, id);
        for (int32_t z = 0; z < E; z += TSR_BLOCK_EDGE)
            for (int32_t y = 0; y < E; y += TSR_BLOCK_EDGE)
                for (int32_t x = 0; x < E; x += TSR_BLOCK_EDGE) {
                    const int32_t voxel[3] = { tsr_key_x(key) * E + x, tsr_key_y(key) * E + y, tsr_key_z(key) * E + z };
                    block_balls(job, voxel, block);
                    page_write(list->pages + (id << (3 * list->log2_edge)), E, x, y, z, block);
                }
    }
}

static tsr_status fill_pages(tsr_queue *queue, const struct pages *job)
{
    tsr_page_list list = *job->list;
    struct pages own = *job;
    tsr_pages_open(&list);
    own.list = &list;
    tsr_parallel(queue->threads, list.count, TILES_PER_CHUNK, own.potential ? potential_range : balls_range, &own);
    return TSR_OK;
}
static tsr_status cpu_evaluate(tsr_queue *queue, const tsr_tree_view *tree, const tsr_potential_params *params, const tsr_page_list *pages)
{
    struct pages job = { tree, params, NULL, pages };
    return fill_pages(queue, &job);
}
static tsr_status cpu_balls(tsr_queue *queue, const tsr_tree_view *tree, const tsr_ball_params *params, const tsr_page_list *pages)
{
    struct pages job = { tree, NULL, params, pages };
    return fill_pages(queue, &job);
}

static tsr_status cpu_gather_keys(tsr_queue *queue, tsr_keys key_of, const uint32_t *ids, int32_t count, uint64_t *keys)
{
    (void)queue;
    for (int32_t i = 0; i < count; i++) keys[i] = tsr_key_at(key_of, ids[i]);
    return TSR_OK;
}
static tsr_status cpu_scatter_pages(tsr_queue *queue, const float *pages, const uint32_t *ids, int32_t count, int32_t log2_words, float *payload)
{
    const int64_t size = (int64_t)1 << log2_words;
    (void)queue;
    for (int32_t i = 0; i < count; i++) memcpy(payload + ids[i] * size, pages + i * size, (size_t)size * sizeof *pages);
    return TSR_OK;
}

/* ---- sampling ------------------------------------------------------------------------------------------------------------------------- */

struct sample {
    const tsr_tile_pool *pool;
    const tsr_sample_job *job;
};
static void sample_range(void *user, int64_t begin, int64_t end, int worker)
{
    const struct sample *s = (const struct sample *)user;
    (void)worker;
    for (int64_t i = begin; i < end; i++) s->job->distance[i] = tsr_sample_point(s->pool, s->job, i);
}
static tsr_status cpu_sample(tsr_queue *queue, const tsr_tile_pool *pool, const tsr_sample_job *job)
{
    struct sample s = { pool, job };
    tsr_parallel(queue->threads, job->points, LEAVES_PER_CHUNK, sample_range, &s);
    return TSR_OK;
}

struct gather {
    const uint32_t *from, *places;
    uint32_t *to;
    int32_t width;
};
static void gather_range(void *user, int64_t begin, int64_t end, int worker)
{
    const struct gather *g = (const struct gather *)user;
    (void)worker;
    for (int64_t i = begin; i < end; i++)
        for (int32_t k = 0; k < g->width; k++) g->to[i * g->width + k] = g->from[(int64_t)g->places[i] * g->width + k];
}
static tsr_status cpu_gather(tsr_queue *queue, const uint32_t *from, const uint32_t *places, int64_t count, int32_t width, uint32_t *to)
{
    struct gather g = { from, places, to, width };
    tsr_parallel(queue->threads, count, LEAVES_PER_CHUNK, gather_range, &g);
    return TSR_OK;
}

struct round {
    const tsr_tree_build *build;
    int32_t depth, reach;
    uint64_t *keys;
};
static void round_range(void *user, int64_t begin, int64_t end, int worker)
{
    const struct round *r = (const struct round *)user;
    const int64_t each = tsr_tiles_round_count(r->reach);
    (void)worker;
    for (int64_t i = begin; i < end; i++)
        for (int64_t k = 0; k < each; k++) r->keys[i * each + k] = tsr_tile_round(r->build, i, r->depth, r->reach, (int32_t)k);
}
static tsr_status cpu_tiles_round(tsr_queue *queue, const tsr_tree_build *build, int32_t depth, int32_t reach, uint64_t *keys)
{
    struct round job = { build, depth, reach, keys };
    tsr_parallel(queue->threads, build->leaves, LEAVES_PER_CHUNK, round_range, &job);
    return TSR_OK;
}

struct unique {
    const uint64_t *sorted;
    int32_t shift;
    uint8_t *first;
};
static void unique_range(void *user, int64_t begin, int64_t end, int worker)
{
    const struct unique *u = (const struct unique *)user;
    (void)worker;
    for (int64_t i = begin; i < end; i++) u->first[i] = (uint8_t)tsr_key_first(u->sorted, i, u->shift);
}
static tsr_status cpu_unique(tsr_queue *queue, const uint64_t *sorted, int64_t count, int32_t shift, uint8_t *first)
{
    struct unique job = { sorted, shift, first };
    tsr_parallel(queue->threads, count, POINTS_PER_CHUNK, unique_range, &job);
    return TSR_OK;
}

const tsr_potential_ops tsr_potential_cpu = { .bounds = cpu_bounds,
                                              .keys = cpu_keys,
                                              .fixed = cpu_fixed,
                                              .others = cpu_others,
                                              .leaves = cpu_leaves,
                                              .count = cpu_count,
                                              .nodes = cpu_nodes,
                                              .evaluate = cpu_evaluate,
                                              .balls = cpu_balls,
                                              .gather_keys = cpu_gather_keys,
                                              .scatter_pages = cpu_scatter_pages,
                                              .sample = cpu_sample,
                                              .gather = cpu_gather,
                                              .tiles_round = cpu_tiles_round,
                                              .unique = cpu_unique };
