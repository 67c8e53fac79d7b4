/* reconstruct/potential.c: host logic of the octree over points: memory, and the order of sorts and scans. */
#include "reconstruct/potential_host.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reconstruct/points_strays.h"
#include "tessera/primitives.h"

/* ---- device arrays that are released together ----------------------------------------------------------------------------------------- */

enum { ARRAYS_MOST = 24 };
struct arrays {
    tsr_context *context;
    int count;
    const tsr_lone_rule *lone; /* NULL: no point is left out */
    struct {
        void **place;
        size_t bytes;
    } array[ARRAYS_MOST];
};
static tsr_status take(struct arrays *a, void *place, int64_t count, size_t size)
{
    TSR_ASSERT(a->count < ARRAYS_MOST);
    *(void **)place = NULL;
    TSR_TRY(tsr_device_allocate(a->context, (size_t)tsr_max64(count, 1) * size, (void **)place));
    a->array[a->count].place = (void **)place;
    a->array[a->count++].bytes = (size_t)tsr_max64(count, 1) * size;
    return TSR_OK;
}
/* Releases one array (place) or all (NULL). */
static void give(struct arrays *a, void *place)
{
    for (int i = 0; i < a->count; i++) {
        if (place && a->array[i].place != (void **)place) continue;
        if (*a->array[i].place) tsr_device_release(a->context, *a->array[i].place, a->array[i].bytes);
        *a->array[i].place = NULL;
    }
}

/* ---- steps ---------------------------------------------------------------------------------------------------------------------------- */

static tsr_status sorted_keys(struct arrays *a, tsr_tree_build *b)
{
    tsr_context *context = a->context;
    size_t bytes;
    void *workspace;
    TSR_TRY(take(a, &b->keys, b->points, sizeof *b->keys));
    TSR_TRY(take(a, &b->order, b->points, sizeof *b->order));
    TSR_TRY(take(a, &b->sorted, b->points, sizeof *b->sorted));
    TSR_TRY(take(a, &b->permutation, b->points, sizeof *b->permutation));
    TSR_TRY(context->backend->potential->keys(context->queue, b));
    TSR_TRY(tsr_sort_workspace(context, TSR_U64, 1, b->points, &bytes));
    TSR_TRY(tsr_device_allocate(context, bytes, &workspace));
    tsr_status status = tsr_sort(context, TSR_U64, b->keys, b->sorted, b->order, b->permutation, b->points, 0, 3 * b->depth, workspace, bytes);
    tsr_device_release(context, workspace, bytes);
    TSR_TRY(status);
    give(a, &b->keys);
    give(a, &b->order);
    return TSR_OK;
}

static tsr_status take_fixed(tsr_context *context, tsr_tree_build *b, tsr_points_tree *tree)
{
    for (int k = 0; k < 3; k++) {
        if (tree->fixed[k]) tsr_device_release(context, tree->fixed[k], (size_t)tree->points * sizeof(uint32_t));
        tree->fixed[k] = NULL;
    }
    tree->points = b->points;
    for (int k = 0; k < 3; k++) {
        TSR_TRY(tsr_device_allocate(context, (size_t)b->points * sizeof(uint32_t), (void **)&tree->fixed[k]));
        b->fixed[k] = tree->fixed[k];
    }
    TSR_TRY(context->backend->potential->fixed(context->queue, b));
    return TSR_OK;
}

static const tsr_predicate SET = { .kind = TSR_KEEP_NONZERO };

/* The depth of the cells whose side is near by; below LONE_LEAST: none. */
enum { LONE_CELLS = 3, LONE_MEAN = 8, LONE_MANY = 24, LONE_LEAST = 2, LONE_ROUNDS = 3, LONE_FEW = 50 };
static tsr_status lone_cells(tsr_context *context, const tsr_tree_build *b, int32_t *cells)
{
    int64_t occupied;
    for (*cells = b->depth - LONE_CELLS; *cells >= LONE_LEAST; --*cells) {
        TSR_TRY(context->backend->potential->unique(context->queue, b->sorted, b->points, 3 * (b->depth - *cells), b->first));
        TSR_TRY(tsr_count_host(context, SET, TSR_U8, b->first, b->points, &occupied));
        if (occupied <= b->points / LONE_MEAN) return TSR_OK;
    }
    return TSR_OK;
}
/* first = 1 where a point has as many others near it as the rule says; *count of them. */
static tsr_status count_others(tsr_context *context, const tsr_tree_build *b, const tsr_lone_rule *rule, int64_t *count)
{
    TSR_TRY(context->backend->potential->others(context->queue, b, *rule));
    TSR_TRY(tsr_count_host(context, SET, TSR_U8, b->first, b->points, count));
    return TSR_OK;
}
/* Finer cells while three quarters of the points have many others within their side: among so many samples outliers have company, too. */
static tsr_status finer_cells(tsr_context *context, const tsr_tree_build *b, int32_t *cells)
{
    int64_t count;
    while (*cells >= b->depth - LONE_CELLS && *cells < b->depth) {
        const tsr_lone_rule many = { .others = LONE_MANY, .cells = *cells + 1 };
        TSR_TRY(count_others(context, b, &many, &count));
        if (count < b->points - b->points / 4) return TSR_OK;
        ++*cells;
    }
    return TSR_OK;
}

/* Lone points that lie in a sheet are not lone: on the host. *others: see tsr_strays_judge. */
static tsr_status judge_on_host(struct arrays *a, const tsr_tree_build *b, const tsr_lone_rule *rule, int64_t *kept, int32_t *others)
{
    const tsr_backend *backend = a->context->backend;
    tsr_queue *queue = a->context->queue;
    const size_t n = (size_t)b->points;
    tsr_tree_build host = *b;
    int64_t strays = 0;
    uint64_t *memory = (uint64_t *)malloc(n * (sizeof *b->sorted + 3 * sizeof *b->fixed[0] + 1));
    if (!memory) TSR_FAIL(TSR_ERROR_MEMORY, "reconstruct: out of host memory for %lld points", (long long)b->points);
    host.sorted = memory;
    for (int k = 0; k < 3; k++) host.fixed[k] = (uint32_t *)(void *)(memory + n) + (size_t)k * n;
    host.first = (uint8_t *)(void *)(host.fixed[2] + n);
    tsr_status status = backend->download(queue, host.sorted, b->sorted, n * sizeof *b->sorted);
    for (int k = 0; k < 3 && status == TSR_OK; k++) status = backend->download(queue, host.fixed[k], b->fixed[k], n * sizeof *b->fixed[k]);
    if (status == TSR_OK) status = backend->download(queue, host.first, b->first, n);
    if (status == TSR_OK) status = tsr_strays_judge(a->context->threads, &host, rule, &strays, others);
    if (status == TSR_OK) status = backend->upload(queue, b->first, host.first, n);
    free(memory);
    *kept = b->points - strays;
    return status;
}

/* first = 0 where a point is lone in these cells; *kept: how many are not. */
static tsr_status mark_lone_in(struct arrays *a, const tsr_tree_build *b, tsr_lone_rule rule, int64_t *kept)
{
    int32_t others = rule.others, before = 0;
    for (int round = 0;; round++) { /* the more of them are known the better is known how dense they are */
        const int last = round >= LONE_ROUNDS;
        rule.others = others;
        TSR_TRY(count_others(a->context, b, &rule, kept));
        if (*kept == b->points) return TSR_OK;
        TSR_TRY(judge_on_host(a, b, &rule, kept, &others));
        if (*kept < rule.least && before > 0) { /* too much is asked for */
            others = before;
            before = 0;
            round = LONE_ROUNDS - 1;
        } else if (last || others <= rule.others) {
            return TSR_OK;
        } else {
            before = rule.others;
        }
    }
}

/* The same where few outliers are looked for with the cells of the rule, many with finer ones if these hold more points than it takes. */
static tsr_status mark_lone(struct arrays *a, const tsr_tree_build *b, tsr_lone_rule rule, int64_t *kept)
{
    tsr_lone_rule finer = rule;
    TSR_TRY(count_others(a->context, b, &rule, kept));
    if (!rule.judged || *kept == b->points) return TSR_OK;
    TSR_TRY(finer_cells(a->context, b, &finer.cells));
    if (finer.cells != rule.cells) {
        TSR_TRY(mark_lone_in(a, b, finer, kept));
        if (*kept >= rule.least && *kept < b->points - b->points / LONE_FEW) return TSR_OK;
    }
    return mark_lone_in(a, b, rule, kept);
}

/* Takes the lone points out of the sorted order. */
static tsr_status drop_lone(struct arrays *a, tsr_tree_build *b, tsr_points_tree *tree)
{
    tsr_context *context = a->context;
    tsr_lone_rule rule = *a->lone;
    int64_t kept;
    uint64_t *found;
    size_t bytes;
    tsr_status status = TSR_OK;
    TSR_TRY(lone_cells(context, b, &rule.cells));
    if (rule.cells < LONE_LEAST) return TSR_OK;
    TSR_TRY(mark_lone(a, b, rule, &kept));
    if (kept == b->points || kept < rule.least) return TSR_OK;
    TSR_TRY(tsr_select_workspace(context, b->points, &bytes));
    TSR_TRY(tsr_device_allocate(context, bytes + 256, (void **)&found));
    void *workspace = (char *)found + 256;
    TSR_TRY_GOTO(take(a, &b->keys, b->points, sizeof *b->keys), done);
    TSR_TRY_GOTO(take(a, &b->order, b->points, sizeof *b->order), done);
    TSR_TRY_GOTO(tsr_select_values(context, b->first, b->sorted, 8, b->points, b->keys, kept, found, workspace, bytes), done);
    TSR_TRY_GOTO(tsr_select_values(context, b->first, b->permutation, 4, b->points, b->order, kept, found, workspace, bytes), done);
    uint64_t *keys = b->sorted; /* of one size, so that they can change places */
    uint32_t *order = b->permutation;
    b->sorted = b->keys;
    b->permutation = b->order;
    b->keys = keys;
    b->order = order;
    give(a, &b->keys);
    give(a, &b->order);
    tree->lone = b->points - kept;
    b->points = kept;
    TSR_TRY_GOTO(take_fixed(context, b, tree), done);
    TSR_TRY_GOTO(tsr_points_create(context, b->points, 0, &tree->kept), done);
    TSR_TRY_GOTO(context->backend->potential->gather(context->queue, (const uint32_t *)(const void *)b->positions, b->permutation, b->points, 3,
                                                     (uint32_t *)(void *)tree->kept->positions),
                 done);
done:
    tsr_device_release(context, found, bytes + 256);
    return status;
}

/* Where the leaves begin, and how many there are. */
static tsr_status find_leaves(struct arrays *a, tsr_tree_build *b, tsr_points_tree *tree)
{
    tsr_context *context = a->context;
    size_t bytes;
    void *workspace;
    uint64_t *found, leaves;
    TSR_TRY(take(a, &b->first, b->points, 1));
    TSR_TRY(take_fixed(context, b, tree));
    if (a->lone) {
        TSR_TRY(drop_lone(a, b, tree));
        if (tree->lone == 0) TSR_TRY(context->backend->potential->unique(context->queue, b->sorted, b->points, 0, b->first)); /* the leaves again */
    }
    TSR_TRY(take(a, &b->start, b->points + 1, sizeof *b->start));
    TSR_TRY(tsr_select_workspace(context, b->points, &bytes));
    TSR_TRY(tsr_device_allocate(context, bytes + 256, (void **)&found));
    workspace = (char *)found + 256;
    tsr_status status = tsr_select_indices(context, SET, TSR_U8, b->first, b->points, TSR_U32, b->start, b->points, found, workspace, bytes);
    if (status == TSR_OK) status = tsr_found_host(context, found, b->points, &leaves);
    tsr_device_release(context, found, bytes + 256);
    TSR_TRY(status);
    b->leaves = (int64_t)leaves;
    give(a, &b->first);
    return TSR_OK;
}

static tsr_status sum_leaves(struct arrays *a, tsr_tree_build *b)
{
    tsr_context *context = a->context;
    size_t bytes;
    void *workspace;
    tsr_status status = TSR_OK;
    TSR_TRY(take(a, &b->leaf_keys, b->leaves, sizeof *b->leaf_keys));
    if (b->radii) TSR_TRY(take(a, &b->leaf_radii, b->leaves, sizeof *b->leaf_radii));
    for (int k = 0; k < 3; k++) TSR_TRY(take(a, &b->leaf_sums[k], b->leaves + 1, sizeof *b->leaf_sums[k]));
    TSR_TRY(take(a, &b->sums, b->points, sizeof *b->sums));
    TSR_TRY(tsr_scan_workspace(context, b->points, &bytes));
    TSR_TRY(tsr_device_allocate(context, bytes, &workspace));
    for (int32_t k = 0; k < 3 && status == TSR_OK; k++) {
        status = tsr_scan(context, TSR_SCAN_EXCLUSIVE, TSR_U32, b->fixed[k], b->points, TSR_U64, b->sums, workspace, bytes);
        if (status == TSR_OK) status = context->backend->potential->leaves(context->queue, b, k);
    }
    tsr_device_release(context, workspace, bytes);
    TSR_TRY(status);
    give(a, &b->sums);
    give(a, &b->sorted);
    give(a, &b->permutation);
    return TSR_OK;
}

static tsr_status count_nodes(struct arrays *a, tsr_tree_build *b, uint32_t *nodes)
{
    tsr_context *context = a->context;
    size_t bytes;
    void *workspace;
    TSR_TRY(take(a, &b->counts, b->leaves + 1, sizeof *b->counts));
    TSR_TRY(take(a, &b->offsets, b->leaves + 1, sizeof *b->offsets));
    TSR_TRY(context->backend->potential->count(context->queue, b));
    TSR_TRY(tsr_scan_workspace(context, b->leaves + 1, &bytes));
    TSR_TRY(tsr_device_allocate(context, bytes, &workspace));
    tsr_status status = tsr_scan(context, TSR_SCAN_EXCLUSIVE, TSR_U32, b->counts, b->leaves + 1, TSR_U32, b->offsets, workspace, bytes);
    if (status == TSR_OK) status = context->backend->download(context->queue, nodes, b->offsets + b->leaves, sizeof *nodes);
    tsr_device_release(context, workspace, bytes);
    TSR_TRY(status);
    return TSR_OK;
}

static tsr_status build(struct arrays *a, tsr_tree_build *b, tsr_points_tree *tree)
{
    tsr_context *context = a->context;
    uint32_t nodes;
    TSR_TRY(sorted_keys(a, b));
    TSR_TRY(find_leaves(a, b, tree));
    TSR_TRY(sum_leaves(a, b));
    TSR_TRY(count_nodes(a, b, &nodes));
    tree->view.nodes = nodes;
    tree->leaves = b->leaves;
    TSR_TRY(tsr_device_allocate(context, nodes * sizeof *tree->centre, (void **)&tree->centre));
    TSR_TRY(tsr_device_allocate(context, nodes * sizeof *tree->walk, (void **)&tree->walk));
    if (b->radii) TSR_TRY(tsr_device_allocate(context, nodes * sizeof *tree->radius, (void **)&tree->radius));
    b->centre = tree->centre;
    b->walk = tree->walk;
    b->radius = tree->radius;
    TSR_TRY(context->backend->potential->nodes(context->queue, b));
    if (tree->keep_build) { /* what tiles_round needs */
        TSR_TRY(tsr_device_allocate(context, (size_t)(b->leaves + 1) * sizeof *tree->start, (void **)&tree->start));
        TSR_TRY(context->backend->copy(context->queue, tree->start, b->start, (size_t)(b->leaves + 1) * sizeof *tree->start));
    }
    return TSR_OK;
}

static tsr_status create(const tsr_tree_build *wanted, tsr_context *context, int keep_starts, const tsr_lone_rule *lone, tsr_points_tree **tree)
{
    const int64_t points = wanted->points;
    const int32_t depth = wanted->depth;
    *tree = NULL;
    if (points < 1 || points > INT32_MAX) TSR_FAIL(TSR_ERROR_ARGUMENT, "octree: %lld points, expected 1 to 2147483647", (long long)points);
    if (depth < 1 || depth > TSR_TREE_DEPTH_MOST)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "octree: depth is %d, expected 1 to %d (keys of 64 bits)", depth, TSR_TREE_DEPTH_MOST);
    tsr_points_tree *t = (tsr_points_tree *)calloc(1, sizeof *t);
    if (!t) TSR_FAIL(TSR_ERROR_MEMORY, "octree: out of memory (%zu bytes asked for)", sizeof *t);
    struct arrays arrays = { .context = context, .lone = lone };
    tsr_tree_build b = *wanted;
    t->context = context;
    t->frame = b.frame;
    t->keep_build = keep_starts;
    tsr_status status = build(&arrays, &b, t);
    give(&arrays, NULL);
    t->view.centre = t->centre;
    t->view.walk = t->walk;
    t->view.radius = t->radius;
    t->view.depth = depth;
    if (status != TSR_OK) {
        tsr_points_tree_destroy(&t);
        return tsr_frame_at(status, __func__, __FILE__, __LINE__);
    }
    *tree = t;
    return TSR_OK;
}

tsr_status tsr_points_tree_create(tsr_context *context, const float *positions, const float *radii, int64_t points, const tsr_points_frame *frame,
                                  int32_t depth, int keep_starts, tsr_points_tree **tree)
{
    const tsr_tree_build wanted = { .positions = positions, .radii = radii, .points = points, .depth = depth, .frame = *frame };
    return create(&wanted, context, keep_starts, NULL, tree);
}
tsr_status tsr_points_tree_create_without_lone(tsr_context *context, const float *positions, int64_t points, const tsr_points_frame *frame,
                                               int32_t depth, const tsr_lone_rule *rule, tsr_points_tree **tree)
{
    const tsr_tree_build wanted = { .positions = positions, .points = points, .depth = depth, .frame = *frame };
    return create(&wanted, context, 0, rule, tree);
}

void tsr_points_tree_destroy(tsr_points_tree **tree)
{
    if (!tree || !*tree) return;
    tsr_points_tree *t = *tree;
    *tree = NULL;
    for (int k = 0; k < 3; k++)
        if (t->fixed[k]) tsr_device_release(t->context, t->fixed[k], (size_t)t->points * sizeof(uint32_t));
    if (t->centre) tsr_device_release(t->context, t->centre, t->view.nodes * sizeof *t->centre);
    if (t->walk) tsr_device_release(t->context, t->walk, t->view.nodes * sizeof *t->walk);
    if (t->radius) tsr_device_release(t->context, t->radius, t->view.nodes * sizeof *t->radius);
    if (t->start) tsr_device_release(t->context, t->start, (size_t)(t->leaves + 1) * sizeof *t->start);
    tsr_points_destroy(&t->kept);
    free(t);
}

int64_t tsr_points_tree_bytes(const tsr_points_tree *tree)
{
    return tree->points * 12 + (int64_t)tree->view.nodes * (int64_t)(sizeof *tree->centre + sizeof *tree->walk + (tree->radius ? 4 : 0));
}

/* ---- the potential -------------------------------------------------------------------------------------------------------------------- */

/* Distance from which a node of this side stands for its points, voxels: side / theta near by. What a shell of the surface at distance d adds falls as
 * d^-(p-3) and the relative error of a node as (side / d)^2; with equal errors of all shells theta grows as d^((p-3)/2), here up to twice its value, and 1. */
static double reach_of(double p, double theta, double side)
{
    const double near = 8; /* voxels: up to here theta counts as it is */
    const double most = side / theta, least = fmin(fmax(most / 2, side), most);
    return p > 3 ? fmin(most, fmax(least, pow(most * pow(near, (p - 3) / 2), 2 / (p - 1)))) : most;
}

tsr_status tsr_potential_prepare(double p, double epsilon, double theta, int32_t level, tsr_potential_params *params)
{
    if (!(p > 1 && p <= 10)) TSR_FAIL(TSR_ERROR_ARGUMENT, "potential: p is %g, expected more than 1 and at most 10", p);
    if (!(epsilon > 0 && epsilon < 1e6))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "potential: epsilon is %g voxels, expected a positive number below 1e6", epsilon);
    if (!(theta >= 0 && theta <= 2)) TSR_FAIL(TSR_ERROR_ARGUMENT, "potential: theta is %g, expected 0 (sum of all points) to 2", theta);
    if (level < 2 || level > TSR_TREE_DEPTH_MOST)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "potential: level is %d, expected 2 to %d", level, TSR_TREE_DEPTH_MOST);
    *params = (tsr_potential_params){ .level = level,
                                      .unit = (float)ldexp(1, level - TSR_FIXED_BITS),
                                      .epsilon2 = (float)(epsilon * epsilon),
                                      .exponent = (float)(-(p - 1) / 2),
                                      .power = p == 3   ? TSR_POWER_SQUARE
                                               : p == 2 ? TSR_POWER_ROOT
                                               : p == 5 ? TSR_POWER_FOURTH
                                               : p == 7 ? TSR_POWER_SIXTH
                                                        : TSR_POWER_ANY };
    for (int d = 0; d <= TSR_TREE_DEPTH_MOST; d++) {
        const double far = theta > 0 ? reach_of(p, theta, ldexp(1, level - d)) + (double)TSR_BLOCK_RADIUS : (double)INFINITY;
        params->far2[d] = (float)(far * far);
    }
    return TSR_OK;
}

void tsr_potential_from_afar(double theta, tsr_potential_params *params)
{
    const double near = 32;
    for (int d = 0; d <= TSR_TREE_DEPTH_MOST && theta > 0; d++) {
        const double as_it_is = ldexp(1, params->level - d) / theta, far = as_it_is * fmax(as_it_is / near, 1) + (double)TSR_BLOCK_RADIUS;
        params->far2[d] = (float)(far * far);
    }
}

void tsr_potential_code_range(int64_t points, tsr_potential_params *params)
{
    const double count = log2((double)points), epsilon2 = (double)params->epsilon2, diagonal2 = 3 * ldexp(1, 2 * params->level) + epsilon2;
    const double low = count + (double)params->exponent * log2(diagonal2), high = count + (double)params->exponent * log2(epsilon2);
    params->code_low = (float)fmax(low, log2(1e-36)); /* below and above it is no float32 number */
    params->code_scale = (float)(65535 / (fmin(high, 128) - (double)params->code_low));
}
