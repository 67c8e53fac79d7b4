/* region/region_components.c: neighbours are found on the device; the union of some leaves is a matter of the host. */
#include "tessera/region_tree.h"

#include <stdlib.h>

#include "volume/components.h"
#include "region/region_tree.h"

struct tsr_region_components {
    int64_t count;
    int32_t *labels;
    tsr_region_component *list;
};

tsr_status tsr_region_tree_neighbours(const tsr_region_tree *t, int32_t *neighbours)
{
    TSR_NEEDS(neighbours);
    TSR_TRY(tsr_region_tree_require(t, t ? t->info.leaves : 0, neighbours, neighbours));
    if (t->info.nodes_only) TSR_FAIL(TSR_ERROR_STATE, "region tree: it has nodes only, expected one with a list of leaves");
    const tsr_region_view view = tsr_region_view_of(t);
    if (t->info.leaves) TSR_TRY(t->context->backend->region->neighbours(t->context->queue, &view, neighbours));
    return TSR_OK;
}

void tsr_region_components_destroy(tsr_region_components **components)
{
    if (!components || !*components) return;
    tsr_region_components *c = *components;
    *components = NULL;
    free(c->labels);
    free(c->list);
    tsr_host_release(NULL, c, sizeof *c);
}

int64_t tsr_region_components_count(const tsr_region_components *c) { return c ? c->count : 0; }
const int32_t *tsr_region_components_labels(const tsr_region_components *c) { return c ? c->labels : NULL; }
const tsr_region_component *tsr_region_components_list(const tsr_region_components *c) { return c ? c->list : NULL; }

/* Sets of touching leaves, each named by its first one. */
static void join(const tsr_region_info *info, const int32_t *neighbours, const float *values, uint32_t *parent)
{
    const int32_t faces = 2 * info->dimensions;
    for (int64_t i = 0; i < info->leaves; i++) parent[i] = (uint32_t)i;
    for (int64_t i = 0; i < info->leaves; i++)
        for (int32_t f = 0; f < faces; f++) {
            const int32_t other = neighbours[i * faces + f];
            if (other >= 0 && (!values || values[i] == values[other])) tsr_union_merge(parent, (uint32_t)i, (uint32_t)other);
        }
}

static void add(tsr_region_component *c, const tsr_region_leaf *leaf, int32_t dimensions, const float *value)
{
    const int64_t at[3] = { leaf->x, leaf->y, leaf->z }, side[3] = { leaf->side, leaf->side, dimensions == 3 ? leaf->side : 1 };
    const int64_t voxels = side[0] * side[1] * side[2];
    for (int k = 0; k < 3; k++) {
        if (!c->leaves || at[k] < c->lower[k]) c->lower[k] = at[k];
        if (!c->leaves || at[k] + side[k] > c->upper[k]) c->upper[k] = at[k] + side[k];
        c->centre[k] += (double)voxels * ((double)at[k] + 0.5 * (double)(side[k] - 1));
    }
    c->leaves++;
    c->voxels += voxels;
    if (value) c->mean += (double)voxels * (double)*value;
}

struct order {
    int64_t voxels;
    int32_t number;
};
static int larger_first(const void *a, const void *b)
{
    const struct order *x = (const struct order *)a, *y = (const struct order *)b;
    if (x->voxels != y->voxels) return x->voxels > y->voxels ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* From sets in c->labels (as parents) to numbers and the list. */
static tsr_status number(tsr_region_components *c, const tsr_region_tree *host, const float *values, uint32_t *parent)
{
    const tsr_region_info *info = &host->info;
    tsr_status status = TSR_OK;
    int32_t *rank = NULL;
    struct order *order = NULL;
    for (int64_t i = 0; i < info->leaves; i++) c->count += tsr_union_find(parent, (uint32_t)i) == (uint32_t)i;
    c->list = (tsr_region_component *)calloc((size_t)c->count + 1, sizeof *c->list);
    tsr_region_component *found = (tsr_region_component *)calloc((size_t)c->count + 1, sizeof *found);
    rank = (int32_t *)malloc(((size_t)c->count + 1) * sizeof *rank);
    order = (struct order *)malloc(((size_t)c->count + 1) * sizeof *order);
    if (!c->list || !found || !rank || !order)
        TSR_FAIL_GOTO(TSR_ERROR_MEMORY, done, "region components: no memory for %lld components", (long long)c->count);
    int32_t next = 0;
    for (int64_t i = 0; i < info->leaves; i++) { /* roots come before what they stand for */
        const uint32_t root = tsr_union_find(parent, (uint32_t)i);
        c->labels[i] = root == (uint32_t)i ? next++ : c->labels[root];
        const tsr_region_leaf leaf = tsr_region_leaf_of(host->leaves[i], info->dimensions);
        add(&found[c->labels[i]], &leaf, info->dimensions, values ? &values[i] : NULL);
    }
    for (int32_t n = 0; n < next; n++) order[n] = (struct order){ found[n].voxels, n };
    qsort(order, (size_t)next, sizeof *order, larger_first);
    for (int32_t n = 0; n < next; n++) {
        tsr_region_component *to = &c->list[n];
        rank[order[n].number] = n;
        *to = found[order[n].number];
        for (int k = 0; k < 3; k++) to->centre[k] /= (double)to->voxels;
        to->mean /= (double)to->voxels;
    }
    for (int64_t i = 0; i < info->leaves; i++) c->labels[i] = rank[c->labels[i]];
done:
    free(found);
    free(rank);
    free(order);
    return status;
}

tsr_status tsr_region_components_create(const tsr_region_tree *tree, const float *values, int equal, tsr_region_components **components)
{
    TSR_RETURNS(components);
    TSR_NEEDS(tree);
    tsr_region_tree *host = NULL;
    int32_t *device = NULL, *neighbours = NULL;
    uint32_t *parent = NULL;
    tsr_status status;
    TSR_TRY(tsr_region_tree_require(tree, 0, NULL, NULL));
    if (tree->info.nodes_only) TSR_FAIL(TSR_ERROR_STATE, "region components: the tree has nodes only, expected one with a list of leaves");
    if (equal && !values && tree->info.leaves) TSR_FAIL(TSR_ERROR_ARGUMENT, "region components: values is NULL, expected one per leaf to compare");
    const int64_t leaves = tree->info.leaves;
    const size_t bytes = (size_t)leaves * 2 * (size_t)tree->info.dimensions * sizeof *neighbours;
    TSR_TRY(tsr_host_allocate(NULL, sizeof **components, (void **)components));
    tsr_region_components *c = *components;
    *c = (tsr_region_components){ 0 };
    c->labels = (int32_t *)malloc(((size_t)leaves + 1) * sizeof *c->labels);
    neighbours = (int32_t *)malloc(bytes + 1);
    parent = (uint32_t *)malloc(((size_t)leaves + 1) * sizeof *parent);
    if (!c->labels || !neighbours || !parent)
        TSR_FAIL_GOTO(TSR_ERROR_MEMORY, fail, "region components: no memory for %lld leaves", (long long)leaves);
    TSR_TRY_GOTO(tsr_region_tree_copy(tree, NULL, &host), fail);
    if (leaves) {
        TSR_TRY_GOTO(tsr_device_allocate(tree->context, bytes, (void **)&device), fail);
        TSR_TRY_GOTO(tsr_region_tree_neighbours(tree, device), fail);
        TSR_TRY_GOTO(tsr_device_move(NULL, neighbours, tree->context, device, bytes), fail);
    }
    join(&tree->info, neighbours, equal ? values : NULL, parent);
    TSR_TRY_GOTO(number(c, host, values, parent), fail);
    goto done;
fail:
    tsr_region_components_destroy(components);
done:
    if (device) tsr_device_release(tree->context, device, bytes);
    tsr_region_tree_destroy(&host);
    free(neighbours);
    free(parent);
    return status;
}
