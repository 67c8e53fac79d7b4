/* region/region_cpu.c: bricks by strips where voxels are classified by themselves; levels, lists and queries cell by cell. */
#include "core/parallel.h"
#include "histopyramid/bricks_isa.h"
#include "region/region_isa.h"
#include "region/triangle_ops.h"

struct work {
    const tsr_regions *regions;
    const tsr_region_rule *rule;
    const tsr_region_lists *lists;
    const tsr_region_view *view;
    const tsr_classifier *source;
    const tsr_region_paint_job *paint;
    const tsr_region_ray *rays;
    const int32_t *positions;
    tsr_region_hit *hits;
    tsr_region_span *spans;
    int32_t *found;
    float *means;
    tsr_region_statistics *statistics;
    tsr_region_entry *table;
    int32_t *neighbours;
    int32_t level, room, mode, linear, cap;
};

static void bricks(void *user, int64_t begin, int64_t end, int worker)
{
    const struct work *w = (const struct work *)user;
    (void)worker;
    uint64_t unheld = 0;
    for (int64_t i = begin; i < end; i++) unheld += (uint64_t)tsr_region_brick(w->regions, w->rule, i);
    if (unheld) __atomic_fetch_add(w->regions->unheld, unheld, __ATOMIC_RELAXED);
}

/* Rows of bricks along x, in pieces of TSR_STRIP_VOXELS. */
static void strips(void *user, int64_t begin, int64_t end, int worker)
{
    const struct work *w = (const struct work *)user;
    const tsr_regions *t = w->regions;
    const tsr_region_level *l = &t->level[t->brick];
    const int64_t *n = w->rule->size, *all = w->rule->channel[0].size, *lower = w->rule->lower, pieces = tsr_ceil_div(n[0], TSR_STRIP_VOXELS);
    const int32_t side = 1 << t->brick, deep = t->bits == 3 ? side : 1;
    uint8_t sums[TSR_STRIP_VOXELS / 4];
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        const int64_t x0 = i % pieces * TSR_STRIP_VOXELS, y = i / pieces % l->size[1], z = i / pieces / l->size[1];
        const int64_t first = (z * l->size[1] + y) * l->size[0] + x0 / side, count = tsr_min64(TSR_STRIP_VOXELS, n[0] - x0);
        int64_t rows[16];
        for (int32_t r = 0; r < side * deep; r++) {
            const int64_t ry = y * side + r % side, rz = z * deep + r / side;
            rows[r] = ry < n[1] && rz < n[2] ? ((lower[2] + rz) * all[1] + lower[1] + ry) * all[0] + lower[0] + x0 : -1;
        }
        TSR_ISA_SELECT(tsr_brick_strip)(&w->rule->channel[0], t->bits == 3 ? TSR_BRICK_CUBE : TSR_BRICK_PLANE, rows, count, t->words + first, sums);
        if (!w->rule->complement && !w->rule->singles) continue;
        for (int64_t k = 0; k < tsr_ceil_div(count, side); k++) {
            const int64_t at[3] = { x0 / side + k, y, z };
            const uint64_t inside = tsr_region_inside(t, w->rule, at), kept = t->words[first + k];
            tsr_region_put(t, w->rule, first + k, w->rule->complement ? ~kept & inside : kept, inside);
        }
    }
}

static void reduce(void *user, int64_t begin, int64_t end, int worker)
{
    const struct work *w = (const struct work *)user;
    (void)worker;
    TSR_ISA_SELECT(tsr_region_reduce_range)(w->regions, w->rule->kind, w->rule->threshold, w->level, begin, end);
}
static void list_cells(void *user, int64_t begin, int64_t end, int worker)
{
    const struct work *w = (const struct work *)user;
    (void)worker;
    TSR_ISA_SELECT(tsr_region_list_range)(w->regions, w->lists, w->level, begin, end);
}
/* Without a base: level brick + 1. */
static void reduce_asked(void *user, int64_t begin, int64_t end, int worker)
{
    const struct work *w = (const struct work *)user;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        int64_t at[3];
        tsr_region_position(&w->regions->level[w->regions->brick + 1], i, at);
        tsr_region_reduce_asked(w->regions, w->rule, at, i);
    }
}
static void list_asked(void *user, int64_t begin, int64_t end, int worker)
{
    const struct work *w = (const struct work *)user;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        int64_t at[3];
        tsr_region_position(&w->regions->level[w->regions->brick + 1], i, at);
        tsr_region_list_asked(w->regions, w->rule, w->lists, at, i);
    }
}
static void find_range(void *user, int64_t begin, int64_t end, int worker)
{
    const struct work *w = (const struct work *)user;
    (void)worker;
    for (int64_t i = begin; i < end; i++)
        w->hits[i] = w->linear ? tsr_region_search(w->view, w->positions + 3 * i) : tsr_region_find(w->view, w->positions + 3 * i);
}
static void trace_range(void *user, int64_t begin, int64_t end, int worker)
{
    const struct work *w = (const struct work *)user;
    (void)worker;
    for (int64_t i = begin; i < end; i++) w->found[i] = tsr_region_trace(w->view, &w->rays[i], w->room, w->mode, w->spans + i * w->room);
}
static void enter_range(void *user, int64_t begin, int64_t end, int worker)
{
    const struct work *w = (const struct work *)user;
    (void)worker;
    for (int64_t i = begin; i < end; i++) w->table[i] = tsr_region_enter(w->view, w->cap, i);
}
static void neighbour_range(void *user, int64_t begin, int64_t end, int worker)
{
    const struct work *w = (const struct work *)user;
    const int32_t faces = 2 * w->view->bits;
    (void)worker;
    for (int64_t i = begin; i < end; i++)
        for (int32_t f = 0; f < faces; f++) w->neighbours[i * faces + f] = tsr_region_neighbour(w->view, i, f);
}
static void mean_range(void *user, int64_t begin, int64_t end, int worker)
{
    const struct work *w = (const struct work *)user;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        double sums[32];
        for (int32_t lane = 0; lane < 32; lane++) sums[lane] = tsr_region_lane_sum(w->view, w->source, i, lane);
        for (int step = 16; step > 0; step /= 2)
            for (int lane = 0; lane < step; lane++) sums[lane] += sums[lane + step];
        w->means[i] = tsr_region_mean(w->view, i, sums[0]);
    }
}
static void statistics_range(void *user, int64_t begin, int64_t end, int worker)
{
    const struct work *w = (const struct work *)user;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        const tsr_region_box box = tsr_region_box_of(w->view, i);
        tsr_region_seen seen[32];
        double squares[32] = { 0 };
        for (int lane = 0; lane < 32; lane++) seen[lane] = tsr_region_unseen();
        for (int64_t k = 0; k < box.voxels; k++) {
            const double value = tsr_classifier_value(w->source, tsr_region_box_voxel(w->view, &box, k));
            tsr_region_join(&seen[k & 31], value, value, value);
        }
        for (int step = 16; step > 0; step /= 2)
            for (int lane = 0; lane < step; lane++)
                tsr_region_join(&seen[lane], seen[lane + step].sum, seen[lane + step].least, seen[lane + step].most);
        const double mean = tsr_region_average(&box, seen[0].sum);
        for (int64_t k = 0; k < box.voxels; k++)
            squares[k & 31] += tsr_region_square(tsr_classifier_value(w->source, tsr_region_box_voxel(w->view, &box, k)), mean);
        for (int step = 16; step > 0; step /= 2)
            for (int lane = 0; lane < step; lane++) squares[lane] += squares[lane + step];
        w->statistics[i] = tsr_region_statistics_of(&box, &seen[0], squares[0]);
    }
}
static void paint_range(void *user, int64_t begin, int64_t end, int worker)
{
    const struct work *w = (const struct work *)user;
    (void)worker;
    for (int64_t i = begin; i < end; i++) tsr_region_paint_voxel(w->paint, i);
}

static tsr_status cpu_build(tsr_queue *queue, const tsr_regions *t, const tsr_region_rule *rule)
{
    struct work w = { .regions = t, .rule = rule };
    const tsr_region_level *l = &t->level[t->brick];
    const int64_t pieces = tsr_ceil_div(rule->size[0], TSR_STRIP_VOXELS);
    if (t->unheld) *t->unheld = 0;
    w.level = t->brick + 1;
    if (!t->words) tsr_parallel(queue->threads, tsr_region_cells(&t->level[w.level++]), 32, reduce_asked, &w);
    else if (rule->kind == TSR_REGION_CLASSES) tsr_parallel(queue->threads, l->size[1] * l->size[2] * pieces, 8, strips, &w);
    else tsr_parallel(queue->threads, tsr_region_cells(l), 256, bricks, &w);
    for (; w.level <= t->top; w.level++) tsr_parallel(queue->threads, tsr_region_cells(&t->level[w.level]), 512, reduce, &w);
    return TSR_OK;
}

static tsr_status cpu_list(tsr_queue *queue, const tsr_regions *t, const tsr_region_rule *rule, const tsr_region_lists *lists)
{
    struct work w = { .regions = t, .rule = rule, .lists = lists };
    const int32_t highest = tsr_region_highest(t);
    /* cells above the bricks list their bricks, so that only they climb */
    w.level = tsr_mini(t->brick + 1, highest);
    if (!t->words) tsr_parallel(queue->threads, tsr_region_cells(&t->level[w.level++]), 32, list_asked, &w);
    for (; w.level <= highest; w.level++) tsr_parallel(queue->threads, tsr_region_cells(&t->level[w.level]), 1024, list_cells, &w);
    return TSR_OK;
}

static tsr_status cpu_find(tsr_queue *queue, const tsr_region_view *view, int linear, const int32_t *positions, int64_t count, tsr_region_hit *hits)
{
    struct work w = { .view = view, .linear = linear, .positions = positions, .hits = hits };
    tsr_parallel(queue->threads, count, 4096, find_range, &w);
    return TSR_OK;
}

static tsr_status cpu_trace(tsr_queue *queue, const tsr_region_view *view, const tsr_region_ray *rays, int64_t count, int32_t room, int32_t mode,
                            tsr_region_span *spans, int32_t *found)
{
    struct work w = { .view = view, .rays = rays, .room = room, .mode = mode, .spans = spans, .found = found };
    tsr_parallel(queue->threads, count, 256, trace_range, &w);
    return TSR_OK;
}

static tsr_status cpu_enter(tsr_queue *queue, const tsr_region_view *view, int32_t cap, tsr_region_entry *table)
{
    struct work w = { .view = view, .cap = cap, .table = table };
    tsr_parallel(queue->threads, (int64_t)1 << (view->bits * cap), 4096, enter_range, &w);
    return TSR_OK;
}

static tsr_status cpu_neighbours(tsr_queue *queue, const tsr_region_view *view, int32_t *neighbours)
{
    struct work w = { .view = view, .neighbours = neighbours };
    tsr_parallel(queue->threads, view->leaves, 1024, neighbour_range, &w);
    return TSR_OK;
}

static tsr_status cpu_means(tsr_queue *queue, const tsr_region_view *view, const tsr_classifier *source, float *means)
{
    struct work w = { .view = view, .source = source, .means = means };
    tsr_parallel(queue->threads, view->leaves, 64, mean_range, &w);
    return TSR_OK;
}

static tsr_status cpu_statistics(tsr_queue *queue, const tsr_region_view *view, const tsr_classifier *source, tsr_region_statistics *statistics)
{
    struct work w = { .view = view, .source = source, .statistics = statistics };
    tsr_parallel(queue->threads, view->leaves, 64, statistics_range, &w);
    return TSR_OK;
}

static tsr_status cpu_paint(tsr_queue *queue, const tsr_region_paint_job *job)
{
    struct work w = { .paint = job };
    tsr_parallel(queue->threads, job->view.size[0] * job->view.size[1] * job->view.size[2], 16384, paint_range, &w);
    return TSR_OK;
}

const tsr_region_ops tsr_region_cpu = { .build = cpu_build,
                                        .list = cpu_list,
                                        .find = cpu_find,
                                        .trace = cpu_trace,
                                        .enter = cpu_enter,
                                        .neighbours = cpu_neighbours,
                                        .means = cpu_means,
                                        .statistics = cpu_statistics,
                                        .paint = cpu_paint,
                                        .triangle = &tsr_triangle_cpu };
