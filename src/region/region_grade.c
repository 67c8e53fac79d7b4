/* region/region_grade.c: from the finest leaves up: whoever touches a leaf of level l is split until it is of level l + 1. What that makes is of level l + 1 or
 * more, so that one pass over the levels is enough. */
#include "tessera/region_tree.h"

#include <stdlib.h>
#include <string.h>

#include "volume/volume.h"
#include "region/region_tree.h"

enum { LEVELS_MOST = 29, REPORT_EVERY = 1 << 16 };

/* A tree that can be split: entries as in the list of nodes, but leaves name the leaf of the tree before that they are, or are part of. */
struct ripple {
    int32_t dimensions, top;
    int32_t *child;
    int64_t nodes, room, leaves;
    struct level {
        uint64_t *corner; /* Morton codes of the lower corners of the leaves, some of which have been split since */
        int64_t count, room;
    } level[LEVELS_MOST];
};

static tsr_status push(struct ripple *r, int32_t level, uint64_t corner)
{
    struct level *l = &r->level[level];
    if (l->count == l->room) {
        const int64_t room = l->room ? 2 * l->room : 64;
        uint64_t *corners = (uint64_t *)realloc(l->corner, (size_t)room * sizeof *corners);
        if (!corners) TSR_FAIL(TSR_ERROR_MEMORY, "region grade: no memory for %lld leaves of level %d", (long long)room, level);
        l->corner = corners;
        l->room = room;
    }
    l->corner[l->count++] = corner;
    return TSR_OK;
}

/* The leaf at entry `at` (a cell of `level` whose corner has this code) becomes a node. */
static tsr_status split(struct ripple *r, int64_t at, int32_t level, uint64_t corner)
{
    const int32_t children = 1 << r->dimensions, leaf = r->child[at];
    if (r->nodes + 1 > INT32_MAX || r->leaves + children - 1 > INT32_MAX)
        TSR_FAIL(TSR_ERROR_CAPACITY, "region grade: %lld leaves and %lld nodes, expected fewer than 2^31: grade parts", (long long)r->leaves,
                 (long long)r->nodes);
    if (r->nodes == r->room) {
        const int64_t room = r->room + r->room / 2 + 64;
        int32_t *child = (int32_t *)realloc(r->child, (size_t)(room << r->dimensions) * sizeof *child);
        if (!child) TSR_FAIL(TSR_ERROR_MEMORY, "region grade: no memory for %lld nodes", (long long)room);
        r->child = child;
        r->room = room;
    }
    const int64_t node = r->nodes++;
    r->child[at] = (int32_t)node;
    r->leaves += children - 1;
    for (int32_t c = 0; c < children; c++) {
        r->child[(node << r->dimensions) + c] = leaf;
        TSR_TRY(push(r, level - 1, corner | (uint64_t)c << (r->dimensions * (level - 1))));
    }
    return TSR_OK;
}

/* Splits what covers the cell with this code until it is of level `finest` at most. */
static tsr_status reach(struct ripple *r, uint64_t code, int32_t finest)
{
    int64_t node = 0;
    for (int32_t level = r->top - 1; level > finest; level--) {
        const uint64_t mask = ((uint64_t)1 << r->dimensions) - 1;
        const int64_t at = (node << r->dimensions) + (int64_t)(code >> (r->dimensions * level) & mask);
        if (r->child[at] == 0) return TSR_OK;
        if (r->child[at] < 0) TSR_TRY(split(r, at, level, code >> (r->dimensions * level) << (r->dimensions * level)));
        node = r->child[at];
    }
    return TSR_OK;
}

/* Is there still a leaf with this corner at this level? */
static int stands(const struct ripple *r, uint64_t code, int32_t finest)
{
    int64_t node = 0;
    for (int32_t level = r->top - 1;; level--) {
        const int32_t entry = r->child[(node << r->dimensions) + (int64_t)(code >> (r->dimensions * level) & (((uint64_t)1 << r->dimensions) - 1))];
        if (level == finest || entry <= 0) return level == finest && entry < 0;
        node = entry;
    }
}

static tsr_status spread(struct ripple *r, const tsr_region_grading *how)
{
    const int64_t across = (int64_t)1 << r->top;
    const int32_t most = how->touch == TSR_REGION_TOUCH_FACES ? 1 : how->touch == TSR_REGION_TOUCH_EDGES ? 2 : 3;
    for (int32_t level = 0; level + 2 < r->top; level++)
        for (int64_t i = 0; i < r->level[level].count; i++) {
            const uint64_t code = r->level[level].corner[i];
            const int64_t side = (int64_t)1 << level;
            int64_t at[3];
            if (i % REPORT_EVERY == 0 && tsr_progress_report(&how->progress, (double)level / (double)r->top, "grade"))
                TSR_FAIL(TSR_ERROR_CANCELLED, "cancelled at level %d of %d", level, r->top);
            if (!stands(r, code, level)) continue;
            tsr_region_decode(r->dimensions, code, at);
            for (int32_t n = 0; n < (r->dimensions == 3 ? 27 : 9); n++) {
                const int32_t d[3] = { n % 3 - 1, n / 3 % 3 - 1, r->dimensions == 3 ? n / 9 - 1 : 0 };
                const int32_t off = (d[0] != 0) + (d[1] != 0) + (d[2] != 0);
                const int64_t x = at[0] + d[0] * side, y = at[1] + d[1] * side, z = at[2] + d[2] * side;
                if (!off || off > most || x < 0 || y < 0 || z < 0 || x >= across || y >= across || z >= across) continue;
                TSR_TRY(reach(r, tsr_region_code(r->dimensions, x, y, z), level + 1));
            }
        }
    return TSR_OK;
}

/* What stands below a node, into the lists of the new tree: depth first, leaves in Morton order. */
struct copy {
    const struct ripple *from;
    tsr_region_tree *to;
    int32_t *leaf_of; /* of the tree before */
    int64_t nodes, leaves;
};
static int32_t copy_below(struct copy *c, int64_t node, int32_t level, uint64_t corner)
{
    const int32_t dimensions = c->from->dimensions;
    const int64_t own = c->nodes++;
    for (int32_t k = 0; k < 1 << dimensions; k++) {
        const int32_t entry = c->from->child[(node << dimensions) + k];
        const uint64_t at = corner | (uint64_t)k << (dimensions * (level - 1));
        int32_t reference = 0;
        if (entry > 0) reference = copy_below(c, entry, level - 1, at);
        else if (entry < 0) {
            if (c->leaf_of) {
                c->leaf_of[c->leaves] = ~entry;
                c->to->leaves[c->leaves] = at << 6 | (uint64_t)(level - 1);
            }
            reference = c->leaf_of ? ~(int32_t)c->leaves : ~0;
            c->leaves++;
        }
        c->to->nodes[(own << dimensions) + k] = reference;
    }
    return (int32_t)own;
}

/* Nodes of the tree as they are, leaves by level. */
static tsr_status collect(struct ripple *r, const tsr_region_tree *t, int64_t node, int32_t level, uint64_t corner)
{
    for (int32_t k = 0; k < 1 << r->dimensions; k++) {
        const int32_t entry = t->nodes[(node << r->dimensions) + k];
        const uint64_t at = corner | (uint64_t)k << (r->dimensions * (level - 1));
        if (entry > 0) TSR_TRY(collect(r, t, entry, level - 1, at));
        else if (entry < 0) TSR_TRY(push(r, level - 1, at));
    }
    return TSR_OK;
}

static tsr_status grade(const tsr_region_tree *host, const tsr_region_grading *how, tsr_region_tree **graded, int32_t **leaf_of)
{
    struct ripple r = { .dimensions = host->info.dimensions, .top = host->info.top, .nodes = host->info.nodes, .leaves = host->info.leaves };
    const int64_t entries = host->info.nodes << r.dimensions;
    tsr_status status;
    r.room = r.nodes;
    r.child = (int32_t *)malloc((size_t)entries * sizeof *r.child);
    if (!r.child) TSR_FAIL_GOTO(TSR_ERROR_MEMORY, done, "region grade: no memory for %lld nodes", (long long)r.nodes);
    memcpy(r.child, host->nodes, (size_t)entries * sizeof *r.child);
    TSR_TRY_GOTO(collect(&r, host, 0, r.top, 0), done);
    TSR_TRY_GOTO(spread(&r, how), done);
    tsr_region_info info = host->info;
    info.leaves = r.leaves;
    info.nodes = r.nodes;
    TSR_TRY_GOTO(tsr_region_tree_create(NULL, &info, &host->geometry, graded), done);
    if (!info.nodes_only) {
        *leaf_of = (int32_t *)malloc((size_t)info.leaves * sizeof **leaf_of);
        if (!*leaf_of) TSR_FAIL_GOTO(TSR_ERROR_MEMORY, done, "region grade: no memory for %lld leaves", (long long)info.leaves);
    }
    struct copy copy = { &r, *graded, *leaf_of, 0, 0 };
    (void)copy_below(&copy, 0, r.top, 0);
    TSR_ASSERT(copy.leaves == r.leaves && copy.nodes == r.nodes);
done:
    for (int32_t level = 0; level < LEVELS_MOST; level++) free(r.level[level].corner);
    free(r.child);
    if (status != TSR_OK) tsr_region_tree_destroy(graded);
    return status;
}

static tsr_status check_values(const tsr_region_tree *t, const tsr_volume *values, tsr_volume **graded_values)
{
    if (!graded_values) TSR_FAIL(TSR_ERROR_ARGUMENT, "region grade: graded_values is NULL, expected a place for the values");
    if (t->info.nodes_only) TSR_FAIL(TSR_ERROR_STATE, "region grade: values for a tree that has nodes only, expected one with a list of leaves");
    if (values->context && values->context->device.kind != TSR_DEVICE_CPU)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "region grade: values lie on %s, expected host memory: copy them with tsr_volume_copy",
                 tsr_device_kind_name(values->context->device.kind));
    if (values->dtype != TSR_F32 || values->size.x != t->info.leaves || values->size.z != 1)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "region grade: values are %s, %lld x %lld x %lld, expected f32, %lld x channels x 1",
                 tsr_dtype_name(values->dtype), (long long)values->size.x, (long long)values->size.y, (long long)values->size.z,
                 (long long)t->info.leaves);
    return TSR_OK;
}

static tsr_status hand_down(const tsr_volume *values, const int32_t *leaf_of, int64_t leaves, tsr_volume **graded)
{
    const int64_t before = values->size.x, channels = values->size.y;
    TSR_TRY(tsr_volume_create(NULL, TSR_F32, (tsr_size3){ leaves, channels, 1 }, NULL, graded));
    const float *from = (const float *)values->data;
    float *to = (float *)(*graded)->data;
    for (int64_t c = 0; c < channels; c++)
        for (int64_t i = 0; i < leaves; i++) to[c * leaves + i] = from[c * before + leaf_of[i]];
    return TSR_OK;
}

tsr_status tsr_region_tree_grade(const tsr_region_tree *tree, const tsr_region_grading *grading, const tsr_volume *values, tsr_region_tree **graded,
                                 tsr_volume **graded_values)
{
    TSR_RETURNS(graded);
    TSR_NEEDS(tree);
    tsr_region_grading how;
    tsr_region_tree *host = NULL, *made = NULL;
    int32_t *leaf_of = NULL;
    tsr_status status;
    if (graded_values) *graded_values = NULL;
    TSR_TRY(TSR_OPTIONS_TAKE(&how, grading));
    if ((unsigned)how.touch > TSR_REGION_TOUCH_CORNERS)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "region grade: touch is %d, expected faces, edges or corners", (int)how.touch);
    if (values) TSR_TRY(check_values(tree, values, graded_values));
    if (tree->context) TSR_TRY_GOTO(tsr_region_tree_copy(tree, NULL, &host), done);
    const tsr_region_tree *from = host ? host : tree;
    if (tree->info.root == TSR_REGION_NODE) TSR_TRY_GOTO(grade(from, &how, &made, &leaf_of), done);
    else TSR_TRY_GOTO(tsr_region_tree_copy(from, NULL, &made), done);
    if (values && leaf_of) TSR_TRY_GOTO(hand_down(values, leaf_of, made->info.leaves, graded_values), done);
    else if (values) TSR_TRY_GOTO(tsr_volume_copy(values, NULL, graded_values), done);
    if (tree->context) TSR_TRY_GOTO(tsr_region_tree_copy(made, tree->context, graded), done);
    else {
        *graded = made;
        made = NULL;
    }
done:
    free(leaf_of);
    tsr_region_tree_destroy(&made);
    tsr_region_tree_destroy(&host);
    if (status != TSR_OK && graded_values) tsr_volume_destroy(graded_values);
    return status;
}
