#include "tessera/region_tree.h"

#include <stdlib.h>
#include <string.h>

#include "region/region_tree.h"

/* Places the rows of all leaves: next[row] is where the row's next one goes. Leaves come in Morton order, which along a row is the order of x. */
static void place_rows(const tsr_region_tree *t, int64_t *next, tsr_region_run *runs)
{
    const int32_t dimensions = t->info.dimensions;
    for (int64_t i = 0; i < t->info.leaves; i++) {
        const tsr_region_leaf l = tsr_region_leaf_of(t->leaves[i], dimensions);
        for (int64_t z = l.z; z < l.z + (dimensions == 3 ? l.side : 1); z++)
            for (int64_t y = l.y; y < l.y + l.side; y++) {
                const int64_t row = z * t->info.size.y + y;
                if (runs) runs[next[row]] = (tsr_region_run){ row * t->info.size.x + l.x, l.side, i };
                next[row]++;
            }
    }
}

static int joins(const tsr_region_run *a, const tsr_region_run *b, int64_t width, const float *values, int64_t last)
{
    if (a->start + a->length != b->start || b->start % width == 0) return 0;
    return !values || (values[last] >= values[b->leaf] && values[last] <= values[b->leaf]);
}

tsr_status tsr_region_runs(const tsr_region_tree *t, const float *values, tsr_region_run **runs, int64_t *count)
{
    TSR_RETURNS(runs);
    TSR_NEEDS(count);
    *count = 0;
    if (!t || t->context) TSR_FAIL(TSR_ERROR_ARGUMENT, "region runs: tree is %s, expected one on the host", t ? "on a context" : "NULL");
    if (t->info.nodes_only) TSR_FAIL(TSR_ERROR_ARGUMENT, "region runs: the tree has no list of leaves (nodes_only)");
    const int64_t rows = t->info.size.y * t->info.size.z;
    int64_t *next = (int64_t *)calloc((size_t)rows + 1, sizeof *next), all = 0, joined = 0;
    if (!next) TSR_FAIL(TSR_ERROR_MEMORY, "region runs: out of host memory for %lld rows", (long long)rows);
    place_rows(t, next, NULL);
    for (int64_t r = 0; r < rows; r++) { /* numbers of the rows before */
        const int64_t here = next[r];
        next[r] = all;
        all += here;
    }
    tsr_region_run *list = (tsr_region_run *)malloc((size_t)(all + 1) * sizeof *list);
    if (!list) {
        free(next);
        TSR_FAIL(TSR_ERROR_MEMORY, "region runs: out of host memory for %lld runs", (long long)all);
    }
    place_rows(t, next, list);
    free(next);
    for (int64_t i = 0, last = 0; i < all; i++) {
        const tsr_region_run run = list[i];
        if (joined && joins(&list[joined - 1], &run, t->info.size.x, values, last)) list[joined - 1].length += run.length;
        else list[joined++] = run;
        last = run.leaf;
    }
    *runs = list;
    *count = joined;
    return TSR_OK;
}

void tsr_region_runs_destroy(tsr_region_run **runs)
{
    if (!runs) return;
    free(*runs);
    *runs = NULL;
}
