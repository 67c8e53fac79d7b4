/* region/region_cuda.cu: one kernel makes the bricks and reads the volume once; the levels above are counted and listed by units
 * (region_units_cuda.h): nothing is scattered by atomics, nothing waits. */
#include "region/region_units_cuda.h"
#include "region/triangle_ops.h"

enum { THREADS = 256, WARPS = THREADS / 32 };

TSR_DEVICE_FN int64_t own_index(void) { return (int64_t)blockIdx.x * THREADS + threadIdx.x; }

TSR_KERNEL(brick_kernel)(tsr_regions t, tsr_region_rule rule, int64_t count)
{
    const int64_t i = own_index();
    if (i < count && tsr_region_brick(&t, &rule, i)) atomicAdd((unsigned long long *)t.unheld, 1ull);
}

/* Bytes: blockIdx.y and z are the brick's. */
TSR_KERNEL(bytes_kernel)(tsr_regions t, tsr_region_rule rule)
{
    const int64_t at[3] = { (int64_t)blockIdx.x * blockDim.x + threadIdx.x, blockIdx.y, blockIdx.z };
    const tsr_classifier *c = &rule.channel[0];
    if (at[0] >= t.level[t.brick].size[0]) return;
    const int32_t deep = t.bits == 3 ? t.brick : 0;
    const int64_t origin = ((at[2] << deep) * c->size[1] + (at[1] << t.brick)) * c->size[0] + (at[0] << t.brick);
    const int64_t ny = c->size[1] - (at[1] << t.brick), nz = c->size[2] - (at[2] << deep);
    uint64_t kept = t.bits == 3 ? tsr_brick_cube(c, origin, ny, nz) : tsr_brick_plane(c, origin, ny);
    const uint64_t inside = rule.complement || rule.singles ? tsr_region_inside(&t, &rule, at) : 0;
    if (rule.complement) kept = ~kept & inside;
    tsr_region_put(&t, &rule, tsr_region_raster(&t.level[t.brick], at), kept, inside);
}

TSR_KERNEL(reduce_kernel)(tsr_regions t, tsr_region_rule_kind kind, double threshold, int32_t level, int64_t count)
{
    const int64_t i = own_index();
    int64_t at[3];
    if (i >= count) return;
    tsr_region_position(&t.level[level], i, at);
    tsr_region_reduce(&t, kind, threshold, level, at, i);
}

/* Without a base: level brick + 1, a thread per cell. */
TSR_KERNEL(reduce_asked_kernel)(tsr_regions t, tsr_region_rule rule, int64_t count)
{
    const int64_t i = own_index();
    int64_t at[3];
    if (i >= count) return;
    tsr_region_position(&t.level[t.brick + 1], i, at);
    tsr_region_reduce_asked(&t, &rule, at, i);
}
TSR_KERNEL(list_asked_kernel)(tsr_regions t, tsr_region_rule rule, tsr_region_lists lists, int64_t count)
{
    const int64_t i = own_index();
    int64_t at[3];
    if (i >= count) return;
    tsr_region_position(&t.level[t.brick + 1], i, at);
    tsr_region_list_asked(&t, &rule, &lists, at, i);
}
TSR_KERNEL(list_cells_kernel)(tsr_regions t, tsr_region_lists lists, int32_t level, int64_t count)
{
    const int64_t i = own_index();
    int64_t at[3];
    if (i >= count) return;
    tsr_region_position(&t.level[level], i, at);
    tsr_region_list_cell(&t, &lists, level, at, i, 0);
}

TSR_KERNEL(list_kernel)(tsr_regions t, tsr_region_lists lists)
{
    if (threadIdx.x == 0) tsr_region_list_brick(&t, &lists, 0);
}

TSR_KERNEL(find_kernel)(tsr_region_view view, int32_t linear, const int32_t *positions, int64_t count, tsr_region_hit *hits)
{
    const int64_t i = own_index();
    if (i < count) hits[i] = linear ? tsr_region_search(&view, positions + 3 * i) : tsr_region_find(&view, positions + 3 * i);
}

TSR_KERNEL(trace_kernel)
(tsr_region_view view, const tsr_region_ray *rays, int64_t count, int32_t room, int32_t mode, tsr_region_span *spans, int32_t *found)
{
    const int64_t i = own_index();
    if (i < count) found[i] = tsr_region_trace(&view, &rays[i], room, mode, spans + i * room);
}

TSR_KERNEL(enter_kernel)(tsr_region_view view, int32_t cap, tsr_region_entry *table, int64_t count)
{
    const int64_t i = own_index();
    if (i < count) table[i] = tsr_region_enter(&view, cap, i);
}

/* A thread per leaf and face. */
TSR_KERNEL(neighbour_kernel)(tsr_region_view view, int32_t *neighbours, int64_t count)
{
    const int64_t i = own_index();
    const int32_t faces = 2 * view.bits;
    if (i < count) neighbours[i] = tsr_region_neighbour(&view, i / faces, (int32_t)(i % faces));
}

TSR_KERNEL(means_kernel)(tsr_region_view view, tsr_classifier source, float *means)
{
    const int64_t leaf = (int64_t)blockIdx.x * WARPS + threadIdx.x / 32u;
    const uint32_t lane = threadIdx.x & 31u;
    if (leaf >= view.leaves) return;
    double sum = tsr_region_lane_sum(&view, &source, leaf, (int32_t)lane);
    for (uint32_t step = 16; step > 0; step /= 2) sum += __shfl_down_sync(TSR_WARP_ALL, sum, step); /* lane 0: the tree of the CPU */
    if (lane == 0) means[leaf] = tsr_region_mean(&view, leaf, sum);
}

/* A warp per leaf. */
TSR_KERNEL(statistics_kernel)(tsr_region_view view, tsr_classifier source, tsr_region_statistics *statistics)
{
    const int64_t leaf = (int64_t)blockIdx.x * WARPS + threadIdx.x / 32u;
    const uint32_t lane = threadIdx.x & 31u;
    if (leaf >= view.leaves) return;
    const tsr_region_box box = tsr_region_box_of(&view, leaf);
    tsr_region_seen seen = tsr_region_unseen();
    double squares = 0.0;
    for (int64_t k = lane; k < box.voxels; k += 32) {
        const double value = tsr_classifier_value(&source, tsr_region_box_voxel(&view, &box, k));
        tsr_region_join(&seen, value, value, value);
    }
    for (uint32_t step = 16; step > 0; step /= 2) {
        const double sum = __shfl_down_sync(TSR_WARP_ALL, seen.sum, step), least = __shfl_down_sync(TSR_WARP_ALL, seen.least, step),
                     most = __shfl_down_sync(TSR_WARP_ALL, seen.most, step);
        tsr_region_join(&seen, sum, least, most); /* lane 0: the tree of the CPU */
    }
    const double mean = tsr_region_average(&box, __shfl_sync(TSR_WARP_ALL, seen.sum, 0));
    for (int64_t k = lane; k < box.voxels; k += 32)
        squares += tsr_region_square(tsr_classifier_value(&source, tsr_region_box_voxel(&view, &box, k)), mean);
    for (uint32_t step = 16; step > 0; step /= 2) squares += __shfl_down_sync(TSR_WARP_ALL, squares, step);
    if (lane == 0) statistics[leaf] = tsr_region_statistics_of(&box, &seen, squares);
}

TSR_KERNEL(paint_kernel)(tsr_region_paint_job job, int64_t count)
{
    const int64_t i = own_index();
    if (i < count) tsr_region_paint_voxel(&job, i);
}

static uint32_t blocks_for(int64_t count) { return tsr_blocks(count, THREADS, INT32_MAX); }

/* Is the box all of the channels. */
static int whole(const tsr_region_rule *r)
{
    const int64_t *n = r->channel[0].size;
    return r->size[0] == n[0] && r->size[1] == n[1] && r->size[2] == n[2];
}

/* Levels above the bricks: by units where nothing but words is compared, then level by level, the last ones at once. */
template <int BITS> static void launch_levels(tsr_queue *queue, const tsr_regions *t, const tsr_region_rule *rule)
{
    const int32_t depth = t->width || !t->words ? 0 : unit_depth<BITS>(t);
    int32_t n = t->brick + depth + (t->words ? 1 : 2);
    if (depth) TSR_LAUNCH(queue, unit_count_kernel<BITS>, (uint32_t)tsr_region_cells(&t->level[t->brick + depth]), UNIT_COUNT_THREADS, 0, *t, depth);
    for (; n <= t->top && tsr_region_cells(&t->level[n]) > TOP_CELLS; n++) {
        const int64_t count = tsr_region_cells(&t->level[n]);
        TSR_LAUNCH(queue, reduce_kernel, blocks_for(count), THREADS, 0, *t, rule->kind, rule->threshold, n, count);
    }
    void (*plain)(tsr_regions, tsr_region_rule_kind, double, int32_t) = top_kernel<BITS, 0>;
    void (*states)(tsr_regions, tsr_region_rule_kind, double, int32_t) = top_kernel<BITS, 1>;
    if (n <= t->top) TSR_LAUNCH(queue, (t->width ? states : plain), 1, TOP_THREADS, 0, *t, rule->kind, rule->threshold, n);
}

static tsr_status cuda_build(tsr_queue *queue, const tsr_regions *t, const tsr_region_rule *rule)
{
    const tsr_region_level *l = &t->level[t->brick];
    if (t->unheld) TSR_TRY(tsr_queue_fill(queue, t->unheld, 0, sizeof *t->unheld));
    const int bytes = rule->kind == TSR_REGION_CLASSES && whole(rule) && l->size[1] < 65536 && l->size[2] < 65536;
    if (!t->words) {
        const int64_t cells = tsr_region_cells(&t->level[t->brick + 1]);
        TSR_LAUNCH(queue, reduce_asked_kernel, blocks_for(cells), THREADS, 0, *t, *rule, cells);
    } else if (bytes && tsr_bricks_of_rows(&rule->channel[0])) {
        if (t->bits == 3) launch_rows<3>(queue, t, rule);
        else launch_rows<2>(queue, t, rule);
    } else if (bytes && tsr_bricks_of_bytes(&rule->channel[0], t->bits == 3 ? TSR_BRICK_CUBE : TSR_BRICK_PLANE)) {
        const uint32_t threads = l->size[0] > 128 ? 256 : l->size[0] > 32 ? 128 : 32;
        const dim3 blocks(tsr_blocks(l->size[0], threads, INT32_MAX), (uint32_t)l->size[1], (uint32_t)l->size[2]);
        TSR_LAUNCH(queue, bytes_kernel, blocks, dim3(threads), 0, *t, *rule);
    } else {
        TSR_LAUNCH(queue, brick_kernel, blocks_for(tsr_region_cells(l)), THREADS, 0, *t, *rule, tsr_region_cells(l));
    }
    if (t->bits == 3) launch_levels<3>(queue, t, rule);
    else launch_levels<2>(queue, t, rule);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

static tsr_status cuda_list(tsr_queue *queue, const tsr_regions *t, const tsr_region_rule *rule, const tsr_region_lists *lists)
{
    if (!t->words) {
        int64_t cells = tsr_region_cells(&t->level[t->brick + 1]);
        TSR_LAUNCH(queue, list_asked_kernel, blocks_for(cells), THREADS, 0, *t, *rule, *lists, cells);
        for (int32_t l = t->brick + 2; l <= t->top; l++) {
            cells = tsr_region_cells(&t->level[l]);
            TSR_LAUNCH(queue, list_cells_kernel, blocks_for(cells), THREADS, 0, *t, *lists, l, cells);
        }
    } else if (t->top <= t->brick) { /* one brick */
        TSR_LAUNCH(queue, list_kernel, 1, 32, 0, *t, *lists);
    } else if (t->bits == 3) launch_lists<3>(queue, t, lists);
    else launch_lists<2>(queue, t, lists);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

static tsr_status cuda_find(tsr_queue *queue, const tsr_region_view *view, int linear, const int32_t *positions, int64_t count, tsr_region_hit *hits)
{
    TSR_LAUNCH(queue, find_kernel, blocks_for(count), THREADS, 0, *view, linear, positions, count, hits);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

static tsr_status cuda_trace(tsr_queue *queue, const tsr_region_view *view, const tsr_region_ray *rays, int64_t count, int32_t room, int32_t mode,
                             tsr_region_span *spans, int32_t *found)
{
    TSR_LAUNCH(queue, trace_kernel, blocks_for(count), THREADS, 0, *view, rays, count, room, mode, spans, found);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

static tsr_status cuda_enter(tsr_queue *queue, const tsr_region_view *view, int32_t cap, tsr_region_entry *table)
{
    const int64_t count = (int64_t)1 << (view->bits * cap);
    TSR_LAUNCH(queue, enter_kernel, blocks_for(count), THREADS, 0, *view, cap, table, count);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

static tsr_status cuda_neighbours(tsr_queue *queue, const tsr_region_view *view, int32_t *neighbours)
{
    const int64_t count = view->leaves * 2 * view->bits;
    TSR_LAUNCH(queue, neighbour_kernel, blocks_for(count), THREADS, 0, *view, neighbours, count);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

static tsr_status cuda_means(tsr_queue *queue, const tsr_region_view *view, const tsr_classifier *source, float *means)
{
    TSR_LAUNCH(queue, means_kernel, tsr_blocks(view->leaves, WARPS, INT32_MAX), THREADS, 0, *view, *source, means);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

static tsr_status cuda_statistics(tsr_queue *queue, const tsr_region_view *view, const tsr_classifier *source, tsr_region_statistics *statistics)
{
    TSR_LAUNCH(queue, statistics_kernel, tsr_blocks(view->leaves, WARPS, INT32_MAX), THREADS, 0, *view, *source, statistics);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

static tsr_status cuda_paint(tsr_queue *queue, const tsr_region_paint_job *job)
{
    const int64_t count = job->view.size[0] * job->view.size[1] * job->view.size[2];
    TSR_LAUNCH(queue, paint_kernel, blocks_for(count), THREADS, 0, *job, count);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

extern "C" const tsr_region_ops tsr_region_cuda = { cuda_build,      cuda_list,  cuda_find,       cuda_trace, cuda_enter,
                                                    cuda_neighbours, cuda_means, cuda_statistics, cuda_paint, &tsr_triangle_cuda };
