/* mip/mip_greedy.c: the order in which each coefficient takes the most off the L1 error of the volume, given those before it (docs/theory/mip.md 3).
 *
 * What a coefficient takes off is the sum, over the voxels that it covers, of how far its value exceeds what is there. That only falls while others are
 * taken, so numbers from before are bounds: the top of a heap is worked out anew and taken if it is what it was. One thread of the host. */
#include <stdlib.h>

#include "volume/volume.h"
#include "mip/mip_pyramid.h"

/* level 4 bits | value 16 bits | all ones minus index 44 bits: of equal gains the larger comes first. */
struct candidate {
    uint64_t gain, what;
};
enum { INDEX_BITS = 44, REPORT = 1 << 16 };
static const uint64_t index_mask = ((uint64_t)1 << INDEX_BITS) - 1;

struct offsets {
    int32_t (*at)[3];
    int64_t count;
};

struct greedy {
    tsr_adjunction a;                         /* levels in host memory */
    struct offsets cover[TSR_MIP_LEVELS + 1]; /* voxels of level 0 that a voxel 0 of the level covers */
    uint8_t *code[TSR_MIP_LEVELS + 1], *done; /* done: the volume that is taken so far */
    struct candidate *heap;
    int64_t count, room;
};

static int comes_before(const struct candidate *x, const struct candidate *y) { return x->gain != y->gain ? x->gain > y->gain : x->what > y->what; }

static void sift_down(struct greedy *g, int64_t at)
{
    const struct candidate moved = g->heap[at];
    for (int64_t child; (child = 2 * at + 1) < g->count; at = child) {
        child += child + 1 < g->count && comes_before(&g->heap[child + 1], &g->heap[child]);
        if (!comes_before(&g->heap[child], &moved)) break;
        g->heap[at] = g->heap[child];
    }
    g->heap[at] = moved;
}

static int by_place(const void *a, const void *b)
{
    const int32_t *p = (const int32_t *)a, *q = (const int32_t *)b;
    for (int k = 2; k >= 0; k--)
        if (p[k] != q[k]) return p[k] < q[k] ? -1 : 1;
    return 0;
}

/* Of level j + 1 from that of level j: each place and 2^j times each point of the element. */
static tsr_status widen(const tsr_adjunction *a, int32_t j, const struct offsets *from, struct offsets *to)
{
    TSR_TRY(tsr_host_allocate(NULL, (size_t)(from->count * a->points) * sizeof *to->at, (void **)&to->at));
    for (int64_t i = 0; i < from->count * a->points; i++)
        for (int k = 0; k < 3; k++) to->at[i][k] = from->at[i / a->points][k] + a->point[i % a->points][k] * (1 << j);
    qsort(to->at, (size_t)(from->count * a->points), sizeof *to->at, by_place);
    for (int64_t i = 0; i < from->count * a->points; i++)
        if (!i || by_place(to->at[i], to->at[to->count - 1])) memmove(to->at[to->count++], to->at[i], sizeof *to->at);
    return TSR_OK;
}

/* How much candidate `what` takes off; with `take` it is taken. */
static uint64_t gain_of(struct greedy *g, uint64_t what, int take)
{
    const tsr_adjunction *a = &g->a;
    const int32_t j = (int32_t)(what >> 60), *size = a->size[j], *whole = a->size[0];
    const uint32_t value = (uint32_t)(what >> INDEX_BITS & 65535u);
    const int64_t index = (int64_t)(index_mask - (what & index_mask));
    const int32_t x = (int32_t)(index % size[0]) * (1 << j), y = (int32_t)(index / size[0] % size[1]) * (1 << j),
                  z = (int32_t)(index / ((int64_t)size[0] * size[1])) * (1 << j);
    uint64_t gain = 0;
    for (int64_t i = 0; i < g->cover[j].count; i++) {
        const int32_t *o = g->cover[j].at[i];
        if (!tsr_adjunction_within(whole, x + o[0], y + o[1], z + o[2])) continue;
        const int64_t at = tsr_adjunction_index(whole, x + o[0], y + o[1], z + o[2]);
        const uint32_t there = tsr_adjunction_load(g->done, a->bytes, at);
        if (value <= there) continue;
        gain += value - there;
        if (take) tsr_adjunction_store(g->done, a->bytes, at, value);
    }
    return gain;
}

static void list(struct greedy *g)
{
    for (int32_t j = 0; j <= g->a.levels; j++) {
        const int32_t *n = g->a.size[j];
        int64_t index = 0;
        for (int32_t z = 0; z < n[2]; z++)
            for (int32_t y = 0; y < n[1]; y++)
                for (int32_t x = 0; x < n[0]; x++, index++) {
                    uint32_t residual;
                    const uint64_t value = tsr_adjunction_detail(&g->a, j, x, y, z, &residual);
                    if (!value || g->count == g->room) continue;
                    const uint64_t what = (uint64_t)j << 60 | value << INDEX_BITS | (index_mask - (uint64_t)index);
                    g->heap[g->count++] = (struct candidate){ gain_of(g, what, 0), what };
                }
    }
    for (int64_t i = g->count / 2 - 1; i >= 0; i--) sift_down(g, i);
}

/* The order becomes classes as far as a residual's bytes tell them apart, short ones first: class c ends at the share ((c + 1) / classes)^3 of all. */
static int64_t class_end(int64_t all, int32_t c, int32_t classes)
{
    const double share = (double)(c + 1) / (double)classes;
    return c + 1 == classes ? all : (int64_t)((double)all * (share * share * share));
}

static tsr_status order(struct greedy *g, const tsr_progress *progress)
{
    const int64_t all = g->count;
    const int32_t classes = (1 << (8 * g->a.bytes)) - 1;
    int32_t c = 0;
    for (int64_t i = 0, turns = 0; g->count;) {
        struct candidate *top = g->heap;
        const uint64_t gain = gain_of(g, top->what, 0);
        if (turns++ % REPORT == 0) TSR_PROGRESS(progress, 0.1 * (double)i / (double)all, "order");
        if (gain != top->gain) {
            top->gain = gain;
        } else {
            while (i >= class_end(all, c, classes)) c++;
            tsr_adjunction_store(g->code[top->what >> 60], g->a.bytes, (int64_t)(index_mask - (top->what & index_mask)), (uint32_t)(classes - c));
            gain_of(g, top->what, 1);
            *top = g->heap[--g->count];
            i++;
        }
        if (g->count) sift_down(g, 0);
    }
    return TSR_OK;
}

static tsr_status prepare(struct greedy *g, const tsr_mip *mip, const tsr_adjunction *a)
{
    g->a = *a;
    memset(g->a.level, 0, sizeof g->a.level);
    for (int32_t j = 0; j <= a->levels; j++) {
        const size_t bytes = (size_t)(tsr_adjunction_cells(a->size[j]) * a->bytes);
        TSR_TRY(tsr_host_allocate(NULL, bytes, &g->a.level[j]));
        TSR_TRY(tsr_device_move(NULL, g->a.level[j], mip->context, a->level[j], bytes));
        TSR_TRY(tsr_host_allocate(NULL, bytes, (void **)&g->code[j]));
        memset(g->code[j], 0, bytes);
    }
    const size_t bytes = (size_t)(tsr_adjunction_cells(a->size[0]) * a->bytes);
    TSR_TRY(tsr_host_allocate(NULL, bytes, (void **)&g->done));
    memset(g->done, 0, bytes);
    TSR_TRY(tsr_host_allocate(NULL, sizeof *g->cover[0].at, (void **)&g->cover[0].at));
    memset(g->cover[0].at, 0, sizeof *g->cover[0].at);
    g->cover[0].count = 1;
    for (int32_t j = 0; j < a->levels; j++) TSR_TRY(widen(a, j, &g->cover[j], &g->cover[j + 1]));
    g->room = mip->details.count;
    TSR_TRY(tsr_host_allocate(NULL, (size_t)g->room * sizeof *g->heap + 1, (void **)&g->heap));
    return TSR_OK;
}

static void forget(struct greedy *g)
{
    for (int32_t j = 0; j <= g->a.levels; j++) {
        const size_t bytes = (size_t)(tsr_adjunction_cells(g->a.size[j]) * g->a.bytes);
        const int64_t widest = j ? g->cover[j - 1].count * g->a.points : 1;
        if (g->a.level[j]) tsr_host_release(NULL, g->a.level[j], bytes);
        if (g->code[j]) tsr_host_release(NULL, g->code[j], bytes);
        if (!j && g->done) tsr_host_release(NULL, g->done, bytes);
        if (g->cover[j].at) tsr_host_release(NULL, g->cover[j].at, (size_t)widest * sizeof *g->cover[j].at);
    }
    if (g->heap) tsr_host_release(NULL, g->heap, (size_t)g->room * sizeof *g->heap + 1);
}

tsr_status tsr_mip_order_greedily(const tsr_mip *mip, tsr_adjunction *a, const tsr_progress *progress)
{
    struct greedy g = { 0 };
    tsr_status status = prepare(&g, mip, a);
    if (status == TSR_OK) {
        list(&g);
        status = order(&g, progress);
    }
    for (int32_t j = 0; j <= a->levels && status == TSR_OK; j++) {
        const size_t bytes = (size_t)(tsr_adjunction_cells(a->size[j]) * a->bytes);
        status = tsr_device_allocate(mip->context, bytes > 8 ? bytes : 8, &a->code[j]);
        if (status == TSR_OK) status = tsr_device_move(mip->context, a->code[j], NULL, g.code[j], bytes);
    }
    forget(&g);
    TSR_TRY(status);
    return TSR_OK;
}
