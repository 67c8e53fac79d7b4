/* histopyramid/max_tree.c: max-trees by union-find over sorted voxels, their attributes, and filters. */
#include "tessera/max_tree.h"

#include <math.h>
#include <string.h>

#include "volume/volume.h"

enum { NONE32 = UINT32_MAX, SLICE = 1 << 20 /* voxels between looks at the progress */ };

struct tsr_max_tree {
    tsr_max_tree_info info;
    int64_t voxels;
    tsr_volume *like; /* of one voxel: geometry, scaling, metadata */
    uint32_t *node;   /* per voxel */
    uint32_t *parent; /* per node */
    uint16_t *value;  /* per node */
    int64_t node_bytes;
};

void tsr_max_tree_destroy(tsr_max_tree **result)
{
    if (!result || !*result) return;
    tsr_max_tree *t = *result;
    *result = NULL;
    tsr_volume_destroy(&t->like);
    if (t->node) tsr_host_release(NULL, t->node, (size_t)t->voxels * 4);
    if (t->parent) tsr_host_release(NULL, t->parent, (size_t)t->node_bytes);
    tsr_host_release(NULL, t, sizeof *t);
}

const tsr_max_tree_info *tsr_max_tree_describe(const tsr_max_tree *tree)
{
    static const tsr_max_tree_info none;
    return tree ? &tree->info : &none;
}
const uint32_t *tsr_max_tree_parents(const tsr_max_tree *tree) { return tree ? tree->parent : NULL; }
const uint16_t *tsr_max_tree_values(const tsr_max_tree *tree) { return tree ? tree->value : NULL; }
const uint32_t *tsr_max_tree_voxels(const tsr_max_tree *tree) { return tree ? tree->node : NULL; }

/* ---- building ---------------------------------------------------------------------------------------------------------------------------- */

struct builder {
    const void *data;
    int bytes;
    int64_t n[3], count;
    int32_t neighbours;
    uint32_t *order;  /* voxels, value descending, then index ascending */
    uint32_t *parent; /* voxel to voxel */
    uint32_t *set;    /* union-find; NONE32: not met yet */
    uint32_t *lowest; /* of a set, by its representative: the voxel met last */
    uint8_t *rank;
    const tsr_progress *progress;
};

static uint32_t value_of(const struct builder *b, int64_t i)
{
    return b->bytes == 1 ? ((const uint8_t *)b->data)[i] : ((const uint16_t *)b->data)[i];
}

static tsr_status sort_voxels(struct builder *b)
{
    const int64_t values = b->bytes == 1 ? 256 : 65536;
    int64_t *start;
    TSR_TRY(tsr_host_allocate(NULL, (size_t)values * sizeof *start, (void **)&start));
    memset(start, 0, (size_t)values * sizeof *start);
    for (int64_t i = 0; i < b->count; i++) start[values - 1 - value_of(b, i)]++;
    int64_t sum = 0;
    for (int64_t v = 0; v < values; v++) {
        const int64_t n = start[v];
        start[v] = sum;
        sum += n;
    }
    for (int64_t i = 0; i < b->count; i++) b->order[start[values - 1 - value_of(b, i)]++] = (uint32_t)i;
    tsr_host_release(NULL, start, (size_t)values * sizeof *start);
    return TSR_OK;
}

static uint32_t find(uint32_t *set, uint32_t i)
{
    while (set[i] != i) {
        set[i] = set[set[i]];
        i = set[i];
    }
    return i;
}

/* Joins the set of a neighbour, if that was met, to the one that p is the lowest voxel of. */
static uint32_t join(struct builder *b, uint32_t p, uint32_t own, uint32_t neighbour)
{
    if (b->set[neighbour] == NONE32) return own;
    uint32_t other = find(b->set, neighbour);
    if (other == own) return own;
    b->parent[b->lowest[other]] = p;
    if (b->rank[own] < b->rank[other]) {
        const uint32_t swap = own;
        own = other;
        other = swap;
    }
    b->set[other] = own;
    b->rank[own] += b->rank[own] == b->rank[other];
    b->lowest[own] = p;
    return own;
}

static int connects(int32_t neighbours, int dx, int dy, int dz)
{
    const int steps = (dx != 0) + (dy != 0) + (dz != 0);
    return steps && steps <= (neighbours == 6 ? 1 : neighbours == 18 ? 2 : 3);
}

static tsr_status unite(struct builder *b)
{
    int64_t offset[26];
    int8_t step[26][3];
    int count = 0;
    for (int dz = -1; dz <= 1; dz++)
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++) {
                if (!connects(b->neighbours, dx, dy, dz)) continue;
                const int8_t own[3] = { (int8_t)dx, (int8_t)dy, (int8_t)dz };
                memcpy(step[count], own, 3);
                offset[count++] = ((int64_t)dz * b->n[1] + dy) * b->n[0] + dx;
            }
    memset(b->set, 0xff, (size_t)b->count * 4);
    for (int64_t i = 0; i < b->count; i++) {
        const uint32_t p = b->order[i];
        const int64_t at[3] = { p % b->n[0], p / b->n[0] % b->n[1], p / b->n[0] / b->n[1] };
        uint32_t own = p;
        if (i % SLICE == 0) TSR_PROGRESS(b->progress, 0.1 + 0.7 * (double)i / (double)b->count, "components");
        b->parent[p] = b->set[p] = b->lowest[p] = p;
        b->rank[p] = 0;
        for (int k = 0; k < count; k++) {
            int within = 1;
            for (int c = 0; c < 3; c++) within &= at[c] + step[k][c] >= 0 && at[c] + step[k][c] < b->n[c];
            if (within) own = join(b, p, own, (uint32_t)((int64_t)p + offset[k]));
        }
    }
    return TSR_OK;
}

/* Is voxel p the one that stands for its node? */
static int stands(const struct builder *b, uint32_t p) { return b->parent[p] == p || value_of(b, b->parent[p]) != value_of(b, p); }

/* Every parent becomes one that stands for its node; nodes are numbered upwards from the root. tree->node is the builder's `set`, whose work is done. */
static tsr_status number_nodes(struct builder *b, tsr_max_tree *t)
{
    int64_t nodes = 0;
    for (int64_t i = b->count - 1; i >= 0; i--) {
        const uint32_t p = b->order[i], q = b->parent[p];
        if (value_of(b, b->parent[q]) == value_of(b, q)) b->parent[p] = b->parent[q];
        nodes += stands(b, p);
    }
    t->node_bytes = nodes * 6;
    TSR_TRY(tsr_host_allocate(NULL, (size_t)t->node_bytes, (void **)&t->parent));
    t->value = (uint16_t *)(void *)(t->parent + nodes);
    t->info.nodes = nodes;
    nodes = 0;
    for (int64_t i = b->count - 1; i >= 0; i--) { /* what stands for a node of equal value may come after others of it: two rounds */
        const uint32_t p = b->order[i];
        if (!stands(b, p)) continue;
        t->parent[nodes] = b->parent[p] == p ? 0 : b->set[b->parent[p]];
        t->value[nodes] = (uint16_t)value_of(b, p);
        b->set[p] = (uint32_t)nodes++;
    }
    for (int64_t i = 0; i < b->count; i++)
        if (!stands(b, (uint32_t)i)) b->set[i] = b->set[b->parent[i]];
    return TSR_OK;
}

static int64_t count_leaves(const tsr_max_tree *t, uint8_t *inner)
{
    int64_t leaves = 0;
    memset(inner, 0, (size_t)t->info.nodes);
    for (int64_t i = 1; i < t->info.nodes; i++) inner[t->parent[i]] = 1;
    for (int64_t i = 0; i < t->info.nodes; i++) leaves += !inner[i];
    return leaves;
}

static tsr_status build(struct builder *b, tsr_max_tree *t)
{
    const size_t bytes = (size_t)b->count * 4;
    tsr_status status = tsr_host_allocate(NULL, bytes, (void **)&b->order);
    if (status == TSR_OK) status = tsr_host_allocate(NULL, bytes, (void **)&b->parent);
    if (status == TSR_OK) status = tsr_host_allocate(NULL, bytes, (void **)&b->lowest);
    if (status == TSR_OK) status = tsr_host_allocate(NULL, (size_t)b->count, (void **)&b->rank);
    if (status == TSR_OK) status = sort_voxels(b);
    if (status == TSR_OK) status = unite(b);
    if (status == TSR_OK) status = number_nodes(b, t);
    if (status == TSR_OK) t->info.leaves = count_leaves(t, b->rank);
    if (b->order) tsr_host_release(NULL, b->order, bytes);
    if (b->parent) tsr_host_release(NULL, b->parent, bytes);
    if (b->lowest) tsr_host_release(NULL, b->lowest, bytes);
    if (b->rank) tsr_host_release(NULL, b->rank, (size_t)b->count);
    return status;
}

tsr_status tsr_max_tree_create(const tsr_volume *volume, const tsr_max_tree_options *options, tsr_max_tree **tree)
{
    TSR_RETURNS(tree);
    TSR_NEEDS(volume);
    tsr_max_tree_options own;
    tsr_volume *host = NULL;
    tsr_status status;
    TSR_TRY(TSR_OPTIONS_TAKE(&own, options));
    if (!own.neighbours) own.neighbours = 26;
    if (own.neighbours != 6 && own.neighbours != 18 && own.neighbours != 26)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "max tree: neighbours is %d, expected 6, 18 or 26", own.neighbours);
    if (volume->dtype != TSR_U8 && volume->dtype != TSR_U16)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "max tree: the volume is %s, expected u8 or u16: convert it", tsr_dtype_name(volume->dtype));
    const int64_t count = tsr_volume_count(volume);
    if (count > (int64_t)UINT32_MAX - 1) TSR_FAIL(TSR_ERROR_CAPACITY, "max tree: %lld voxels, expected at most 2^32 - 2", (long long)count);
    TSR_TRY(tsr_host_allocate(NULL, sizeof **tree, (void **)tree));
    tsr_max_tree *t = *tree;
    *t = (tsr_max_tree){ .info = { .size = volume->size, .dtype = volume->dtype, .neighbours = own.neighbours }, .voxels = count };
    TSR_TRY_GOTO(tsr_volume_create(NULL, volume->dtype, (tsr_size3){ 1, 1, 1 }, NULL, &t->like), fail);
    TSR_TRY_GOTO(tsr_volume_copy_header(t->like, volume), fail);
    TSR_TRY_GOTO(tsr_host_allocate(NULL, (size_t)count * 4, (void **)&t->node), fail);
    if (volume->context) TSR_TRY_GOTO(tsr_volume_copy(volume, NULL, &host), fail);
    struct builder b = { .data = host ? host->data : volume->data,
                         .bytes = volume->dtype == TSR_U8 ? 1 : 2,
                         .n = { volume->size.x, volume->size.y, volume->size.z },
                         .count = count,
                         .neighbours = own.neighbours,
                         .set = t->node,
                         .progress = &own.progress };
    TSR_TRY_GOTO(build(&b, t), fail);
    tsr_volume_destroy(&host);
    return TSR_OK;
fail:
    tsr_volume_destroy(&host);
    tsr_max_tree_destroy(tree);
    return status;
}

/* ---- attributes -------------------------------------------------------------------------------------------------------------------------- */

/* What components add up. */
struct sums {
    double voxels, mass, at[3], squares;
    int32_t low[3], high[3];
    uint16_t most;
};

static void add_voxels(const tsr_max_tree *t, struct sums *s)
{
    const int64_t nx = t->info.size.x, ny = t->info.size.y;
    for (int64_t i = 0; i < t->voxels; i++) {
        const int32_t at[3] = { (int32_t)(i % nx), (int32_t)(i / nx % ny), (int32_t)(i / nx / ny) };
        struct sums *own = &s[t->node[i]];
        if (own->voxels == 0) {
            memcpy(own->low, at, sizeof at);
            memcpy(own->high, at, sizeof at);
        }
        own->voxels++;
        for (int c = 0; c < 3; c++) {
            own->at[c] += at[c];
            own->squares += (double)at[c] * at[c];
            own->low[c] = tsr_mini(own->low[c], at[c]);
            own->high[c] = tsr_maxi(own->high[c], at[c]);
        }
    }
    for (int64_t k = 0; k < t->info.nodes; k++) {
        s[k].most = t->value[k];
        s[k].mass = s[k].voxels * t->value[k];
    }
}

static void add_component(struct sums *to, const struct sums *from)
{
    to->voxels += from->voxels;
    to->mass += from->mass;
    to->squares += from->squares;
    to->most = to->most > from->most ? to->most : from->most;
    for (int c = 0; c < 3; c++) {
        to->at[c] += from->at[c];
        to->low[c] = tsr_mini(to->low[c], from->low[c]);
        to->high[c] = tsr_maxi(to->high[c], from->high[c]);
    }
}

static double attribute_of(const struct sums *s, tsr_max_tree_attribute attribute, double below)
{
    int32_t side = 0;
    double spread = s->squares;
    switch (attribute) {
    case TSR_MAX_TREE_VOLUME: return s->voxels;
    case TSR_MAX_TREE_HEIGHT: return s->most - below;
    case TSR_MAX_TREE_MASS: return s->mass - s->voxels * below;
    case TSR_MAX_TREE_EXTENT:
        for (int c = 0; c < 3; c++) side = tsr_maxi(side, s->high[c] - s->low[c] + 1);
        return side;
    case TSR_MAX_TREE_NONCOMPACTNESS:
        for (int c = 0; c < 3; c++) spread -= s->at[c] * s->at[c] / s->voxels;
        return (fmax(spread, 0) + 0.25 * s->voxels) / pow(s->voxels, 5.0 / 3);
    }
    return 0;
}

tsr_status tsr_max_tree_attributes(const tsr_max_tree *tree, tsr_max_tree_attribute attribute, double *values)
{
    TSR_NEEDS(tree, values);
    struct sums *s;
    if ((unsigned)attribute > TSR_MAX_TREE_NONCOMPACTNESS)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "max tree: attribute is %d, expected one of tsr_max_tree_attribute (0 to %d)", (int)attribute,
                 (int)TSR_MAX_TREE_NONCOMPACTNESS);
    const size_t bytes = (size_t)tree->info.nodes * sizeof *s;
    TSR_TRY(tsr_host_allocate(NULL, bytes, (void **)&s));
    memset(s, 0, bytes);
    add_voxels(tree, s);
    for (int64_t k = tree->info.nodes - 1; k > 0; k--) add_component(&s[tree->parent[k]], &s[k]);
    for (int64_t k = 0; k < tree->info.nodes; k++) values[k] = attribute_of(&s[k], attribute, k ? tree->value[tree->parent[k]] : 0);
    tsr_host_release(NULL, s, bytes);
    return TSR_OK;
}

/* ---- filters ----------------------------------------------------------------------------------------------------------------------------- */

/* stays[node] by the rule, and the values. Parents come before their children. */
static int64_t decide(const tsr_max_tree *t, const tsr_max_tree_filter_options *o, const double *attribute, uint8_t *stays, uint16_t *out)
{
    const int64_t nodes = t->info.nodes;
    int64_t kept = 0;
    for (int64_t k = 0; k < nodes; k++) stays[k] = k == 0 || attribute[k] >= o->threshold;
    if (o->rule == TSR_MAX_TREE_MIN)
        for (int64_t k = 1; k < nodes; k++) stays[k] &= stays[t->parent[k]];
    if (o->rule == TSR_MAX_TREE_MAX)
        for (int64_t k = nodes - 1; k > 0; k--) stays[t->parent[k]] |= stays[k];
    for (int64_t k = 0; k < nodes; k++) {
        const uint32_t up = t->parent[k];
        const int rise = o->rule == TSR_MAX_TREE_SUBTRACTIVE && k ? out[up] + (t->value[k] - t->value[up]) : t->value[k];
        out[k] = stays[k] ? (uint16_t)rise : out[up];
        kept += stays[k];
    }
    return kept;
}

tsr_status tsr_max_tree_filter(tsr_context *context, const tsr_max_tree *tree, const tsr_max_tree_filter_options *options, tsr_volume **filtered,
                               int64_t *kept)
{
    TSR_RETURNS(filtered);
    TSR_NEEDS(tree);
    tsr_max_tree_filter_options own;
    tsr_volume *host = NULL;
    double *attribute = NULL;
    tsr_status status;
    TSR_TRY(TSR_OPTIONS_TAKE(&own, options));
    if ((unsigned)own.rule > TSR_MAX_TREE_SUBTRACTIVE)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "max tree: rule is %d, expected one of tsr_max_tree_rule (0 to %d)", (int)own.rule,
                 (int)TSR_MAX_TREE_SUBTRACTIVE);
    if (!isfinite(own.threshold)) TSR_FAIL(TSR_ERROR_ARGUMENT, "max tree: threshold is %g, expected a finite number", own.threshold);
    const size_t bytes = (size_t)tree->info.nodes * (sizeof *attribute + 3);
    TSR_TRY(tsr_host_allocate(NULL, bytes, (void **)&attribute));
    uint16_t *out = (uint16_t *)(void *)(attribute + tree->info.nodes);
    TSR_TRY_GOTO(tsr_max_tree_attributes(tree, own.attribute, attribute), done);
    const int64_t stay = decide(tree, &own, attribute, (uint8_t *)(out + tree->info.nodes), out);
    TSR_TRY_GOTO(tsr_volume_create(NULL, tree->info.dtype, tree->info.size, &tree->like->geometry, &host), done);
    TSR_TRY_GOTO(tsr_volume_copy_header(host, tree->like), done);
    if (tree->info.dtype == TSR_U8)
        for (int64_t i = 0; i < tree->voxels; i++) ((uint8_t *)host->data)[i] = (uint8_t)out[tree->node[i]];
    else
        for (int64_t i = 0; i < tree->voxels; i++) ((uint16_t *)host->data)[i] = out[tree->node[i]];
    if (context) TSR_TRY_GOTO(tsr_volume_copy(host, context, filtered), done);
    else {
        *filtered = host;
        host = NULL;
    }
    if (kept) *kept = stay;
done:
    tsr_volume_destroy(&host);
    tsr_host_release(NULL, attribute, bytes);
    return status;
}
