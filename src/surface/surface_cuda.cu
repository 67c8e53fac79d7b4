/* surface/surface_cuda.cu: indexed marching cubes on the GPU (and the emulator): count, place, emit. */
#include "device/dependent_launch.h"
#include "device/mail.h"
#include "surface/emit_cuda.h"
#include "surface/sides_cuda.h"
#include "surface/surface_ops.h"

/* Blocks that a multiprocessor holds, of counting and of writing: what registers are left to. */
enum { COUNT_BLOCKS = 8, EMIT_BLOCKS = 8 };
enum { GROUP = 1024, FEW_GROUPS = 4, PLACE_SHARES = 8 };
/* Below so many words with work per multiprocessor a warp takes FEW_SHARE of them, not 32, and the vertices or the triangles alone: there are warps to
 * spare, and what is waited for is the longest of them. */
enum { SHARED_WORDS = 32 * 64, FEW_SHARE = 16 };

/* ---- counts and their scan ---------------------------------------------------------------------------------------------------------- */

/* Sum of the values of the threads before in the block (a multiple of 32 threads, at most 1024); *total = of all. */
TSR_DEVICE_FN uint32_t scan_block(uint32_t value, uint32_t *warps, uint32_t *total)
{
    uint32_t lane = threadIdx.x & 31, warp = threadIdx.x >> 5, sum = value, before = 0, all = 0;
    for (uint32_t d = 1; d < 32; d <<= 1) {
        uint32_t other = __shfl_up_sync(TSR_WARP_ALL, sum, d);
        if (lane >= d) sum += other;
    }
    if (lane == 31) warps[warp] = sum;
    __syncthreads();
    for (uint32_t k = 0; k < blockDim.x >> 5; k++) {
        if (k < warp) before += warps[k];
        all += warps[k];
    }
    __syncthreads();
    *total = all;
    return before + sum - value;
}

/* Triangles of up to 32 words of a dense volume by a warp, a word a lane, 0 in lanes without: their cells are shared evenly. sums: 32 numbers of the warp. */
TSR_DEVICE_FN uint32_t count_triangles(const tsr_surface_grid &g, uint32_t active, const uint64_t row[4], uint32_t lane, uint32_t *sums)
{
    const tsr_case_tables tables = TSR_CASE_TABLES;
    uint32_t cells;
    const uint32_t first = warp_before((uint32_t)__popc(active), lane, &cells);
    sums[lane] = 0;
    __syncwarp();
    for (uint32_t base = 0; base < cells; base += 32) {
        const uint32_t i = base + lane, from = lane_of(first, i), before = __shfl_sync(TSR_WARP_ALL, first, (int)from),
                       mask = __shfl_sync(TSR_WARP_ALL, active, (int)from);
        uint64_t side[4];
#pragma unroll
        for (int32_t j = 0; j < 4; j++) side[j] = __shfl_sync(TSR_WARP_ALL, row[j], (int)from);
        if (i < cells) atomicAdd(&sums[from], (uint32_t)tables.triangles[tsr_cell_case(&g, side, (int32_t)bit_of(mask, i - before))]);
    }
    __syncwarp();
    return sums[lane];
}

/* What decides faces (DECIDE 1) takes up to twice the registers: the other kernels are compiled without it, since there the field is known to be 0.
 * A block of words: all threads look whether their word is quiet, and those that are not, few, go to the first threads. */
template <int DECIDE, int TILED>
TSR_KERNEL(__launch_bounds__(TSR_BLOCK_WORDS, DECIDE  ? 1
                                              : TILED ? 4
                                                      : COUNT_BLOCKS) count_kernel)
(tsr_surface_grid g)
{
    if (!DECIDE) g.decide = 0;
    g.tiled = TILED;
    tsr_chain_next();
    tsr_chain_wait();
    TSR_SHARED(uint32_t, warps, 32);
    TSR_SHARED(uint8_t, words, TSR_BLOCK_WORDS);
    TSR_SHARED(uint32_t, sums, DECIDE || TILED ? 1 : TSR_BLOCK_WORDS);
    const uint32_t lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const int64_t first = (int64_t)blockIdx.x * TSR_BLOCK_WORDS, word = first + threadIdx.x;
    uint32_t before = 0, busy = 0, count = 0, total;
    tsr_word_place p;
    int torn, stirs = 0;
    if (TILED && word < g.words) {
        tsr_word_locate(&g, word, &p);
        const uint64_t row[4] = { tsr_word_row(&g, &p, 0, 0), tsr_word_row(&g, &p, 1, 0), tsr_word_row(&g, &p, 0, 1), tsr_word_row(&g, &p, 1, 1) };
        stirs = !tsr_rows_uniform(&g, row);
    }
    if (!TILED) { /* the next word's are the next lane's */
        tsr_word_meet m = { 0, 0xffffffffu, 0, 0, 0 };
        if (word < g.words) m = tsr_word_meets(&g, word);
        uint32_t any = __shfl_down_sync(TSR_WARP_ALL, m.any, 1), all = __shfl_down_sync(TSR_WARP_ALL, m.all, 1);
        if (lane == 31 && m.more) tsr_rows_meet(g.bits + word + 1, m.to_y, m.to_z, &any, &all);
        if (!m.more) {
            any = 0;
            all = 1;
        }
        stirs = ((m.any | (any & 1u)) != 0 && (~m.all | (~all & 1u)) != 0) || word == tsr_word_next_part(&g); /* whose prefix place_kernel wants */
    }
    const uint32_t mask = __ballot_sync(TSR_WARP_ALL, stirs);
    if (lane == 0) warps[warp] = (uint32_t)__popc(mask);
    __syncthreads();
    for (uint32_t k = 0; k < TSR_BLOCK_WORDS / 32; k++) {
        before += k < warp ? warps[k] : 0;
        busy += warps[k];
    }
    if (threadIdx.x == 0) g.list_count[blockIdx.x] = busy;
    if (!busy) {
        if (threadIdx.x == 0) g.block_sum[blockIdx.x] = 0;
        return;
    }
    if (stirs) words[before + (uint32_t)__popc(mask & ((1u << lane) - 1u))] = (uint8_t)threadIdx.x;
    __syncthreads();
    if (busy <= 32 && warp) return;
    if (!DECIDE && !TILED) {
        tsr_cell_rows c;
        c.active = 0;
#pragma unroll
        for (int32_t j = 0; j < 4; j++) c.row[j] = 0;
        if (threadIdx.x < busy) {
            tsr_word_locate(&g, first + words[threadIdx.x], &p);
            tsr_cell_rows_load(&g, &p, &c);
            count = (uint32_t)tsr_edges_count(c.edges[0], 0xffffffffu);
        }
        count |= count_triangles(g, (uint32_t)c.active, c.row, lane, sums + 32 * warp) << TSR_COUNT_SHIFT;
    } else if (threadIdx.x < busy) {
        const tsr_case_tables tables = TSR_CASE_TABLES;
        tsr_word_locate(&g, first + words[threadIdx.x], &p);
        count = tsr_word_count(&g, &p, &tables, &torn);
        if (torn) atomicOr(&g.totals->torn, 1u);
    }
    before = busy <= 32 ? warp_before(count, lane, &total) : scan_block(count, warps, &total);
    if (threadIdx.x < busy) {
        g.list_word[first + threadIdx.x] = words[threadIdx.x];
        g.list_before[first + threadIdx.x] = before;
        g.prefix[first + words[threadIdx.x]] = (uint16_t)tsr_count_vertices(before);
    }
    if (threadIdx.x == 0) g.block_sum[blockIdx.x] = total;
}

/* Sums of a group of 1024 blocks: fewer than 2^27 vertices and 2^29 triangles in one number, active blocks and their words with work in another. */
typedef struct group_sums {
    uint64_t mesh, list;
} group_sums;
typedef struct group_place {
    uint64_t vertices, triangles, active, words;
} group_place;
TSR_DEVICE_FN group_sums sums_of(const tsr_surface_grid &g, int64_t block)
{
    const uint32_t sum = block < g.blocks ? g.block_sum[block] : 0;
    const group_sums s = { (uint64_t)tsr_count_vertices(sum) | (uint64_t)tsr_count_triangles(sum) << 27,
                           sum ? (uint64_t)g.list_count[block] << 13 | 1u : 0 };
    return s;
}
TSR_DEVICE_FN group_place after_sums(group_place p, group_sums s)
{
    p.vertices += s.mesh & ((1u << 27) - 1u);
    p.triangles += s.mesh >> 27;
    p.active += s.list & ((1u << 13) - 1u);
    p.words += s.list >> 13;
    return p;
}

TSR_DEVICE_FN uint64_t scan_warp(uint64_t sum, uint32_t lane)
{
    for (uint32_t d = 1; d < 32; d <<= 1) {
        const uint64_t other = __shfl_up_sync(TSR_WARP_ALL, sum, d);
        if (lane >= d) sum += other;
    }
    return sum;
}
/* Of a block of GROUP threads: the sums of the threads before; *total = of all. */
TSR_DEVICE_FN group_sums scan_group(group_sums value, group_sums *warps, group_sums *total)
{
    const uint32_t lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const group_sums sum = { scan_warp(value.mesh, lane), scan_warp(value.list, lane) };
    if (lane == 31) warps[warp] = sum;
    __syncthreads();
    if (warp == 0) { /* shuffles are one a cycle for all warps together */
        const group_sums own = warps[lane];
        warps[lane].mesh = scan_warp(own.mesh, lane);
        warps[lane].list = scan_warp(own.list, lane);
    }
    __syncthreads();
    group_sums before = { sum.mesh - value.mesh, sum.list - value.list };
    if (warp) {
        before.mesh += warps[warp - 1].mesh;
        before.list += warps[warp - 1].list;
    }
    *total = warps[GROUP / 32 - 1];
    return before;
}

/* Sums of 1024 blocks; then, with the sums scanned, the place of each block. */
TSR_KERNEL(group_kernel)(tsr_surface_grid g)
{
    tsr_chain_next();
    tsr_chain_wait();
    TSR_SHARED(group_sums, warps, GROUP / 32);
    const group_place none = { 0, 0, 0, 0 };
    group_sums total;
    scan_group(sums_of(g, (int64_t)blockIdx.x * GROUP + threadIdx.x), warps, &total);
    if (threadIdx.x == 0) ((group_place *)g.groups)[blockIdx.x] = after_sums(none, total);
}

TSR_DEVICE_FN void post_totals(const tsr_surface_grid &g, group_place all)
{
    g.totals->vertices = all.vertices;
    g.totals->triangles = all.triangles;
    g.totals->active_blocks = (uint32_t)all.active;
    g.totals->list_words = all.words;
    *g.mail = *g.totals;
    g.totals->not_a_number = 0; /* clear for the next count of a workspace */
    g.totals->torn = 0;
}

TSR_KERNEL(total_kernel)(tsr_surface_grid g, int64_t groups)
{
    tsr_chain_next();
    tsr_chain_wait();
    const uint32_t lane = threadIdx.x;
    uint64_t carry[4] = { 0, 0, 0, 0 };
    for (int64_t first = 0; first < groups; first += 32)
        for (int k = 0; k < 4; k++) {
            const int64_t at = 4 * (first + lane) + k;
            const uint64_t own = first + lane < groups ? g.groups[at] : 0, sum = scan_warp(own, lane);
            if (first + lane < groups) g.groups[at] = carry[k] + sum - own;
            carry[k] += __shfl_sync(TSR_WARP_ALL, sum, 31);
        }
    const group_place all = { carry[0], carry[1], carry[2], carry[3] };
    if (lane == 0) post_totals(g, all);
}

TSR_DEVICE_FN void place_block(const tsr_surface_grid &g, int64_t block, group_sums own, group_place place)
{
    const int64_t next = tsr_word_next_part(&g); /* the vertices from there on are of the next part */
    if (block >= g.blocks) return;
    g.block_vertex[block] = (uint32_t)place.vertices;
    g.block_triangle[block] = place.triangles;
    g.list_first[block] = place.words;
    if (own.list) {
        const uint64_t end = place.words + (own.list >> 13);
        g.active[place.active] = (uint32_t)block;
        for (uint64_t k = (place.words + TSR_LIST_GRAIN - 1) / TSR_LIST_GRAIN; k * TSR_LIST_GRAIN < end; k++) g.list_turn[k] = (uint32_t)place.active;
    }
    if (next >= 0 && block == next >> TSR_BLOCK_SHIFT) g.mail->vertices = g.totals->vertices = place.vertices + (own.list ? g.prefix[next] : 0);
}

TSR_KERNEL(place_kernel)(tsr_surface_grid g)
{
    tsr_chain_wait();
    TSR_SHARED(group_sums, warps, GROUP / 32);
    const int64_t block = (int64_t)blockIdx.x * GROUP + threadIdx.x;
    const group_sums own = sums_of(g, block);
    group_sums total;
    const group_sums before = scan_group(own, warps, &total);
    place_block(g, block, own, after_sums(((const group_place *)g.groups)[blockIdx.x], before));
}

/* The three in one, for up to FEW_GROUPS groups: every block of threads sums all, and writes its share of the places. */
TSR_KERNEL(__launch_bounds__(GROUP) place_few_kernel)
(tsr_surface_grid g, int32_t groups)
{
    tsr_chain_wait();
    TSR_SHARED(group_sums, warps, GROUP / 32);
    group_place place = { 0, 0, 0, 0 }, at[FEW_GROUPS];
    group_sums own[FEW_GROUPS], total;
#pragma unroll
    for (int32_t k = 0; k < FEW_GROUPS; k++) own[k] = sums_of(g, k * GROUP + (int64_t)threadIdx.x);
#pragma unroll
    for (int32_t k = 0; k < FEW_GROUPS; k++) {
        at[k] = place;
        if (k >= groups) continue;
        at[k] = after_sums(place, scan_group(own[k], warps, &total));
        place = after_sums(place, total);
        __syncthreads(); /* the sums of the warps have been read */
    }
    const int64_t next = tsr_word_next_part(&g);
    const uint32_t poster = next >= 0 ? (uint32_t)(next >> (TSR_BLOCK_SHIFT + 5)) % gridDim.x : 0;
    if (threadIdx.x == 0 && blockIdx.x == poster) post_totals(g, place);
    __syncthreads(); /* a part's vertices come after those of all */
#pragma unroll
    for (int32_t k = 0; k < FEW_GROUPS; k++) {
        const uint32_t block = (uint32_t)k * GROUP + threadIdx.x;
        if ((block >> 5) % gridDim.x == blockIdx.x) place_block(g, block, own[k], at[k]);
    }
}

/* Number `number` of those that are counted together. */
static tsr_status count_grid(tsr_queue *queue, const tsr_surface_grid *grid, int32_t number)
{
    tsr_surface_grid g = *grid;
    int64_t groups = (g.blocks + GROUP - 1) / GROUP;
    g.mail = (tsr_surface_totals *)tsr_queue_mail(queue) + number;
    memset(g.mail, 0, sizeof *g.mail);
    if (g.words == 0) return TSR_OK;
    if (!g.clear && (g.tiled || g.dtype == TSR_F32 || g.dtype == TSR_F64)) TSR_TRY(tsr_queue_fill(queue, g.totals, 0, sizeof *g.totals));
    uint32_t blocks = (uint32_t)g.blocks;
    if (g.tiled) {
        int64_t tiles = g.words >> (2 * g.log2_edge);
        TSR_LAUNCH(queue, slots_kernel, tsr_blocks(tiles, 256, INT32_MAX), 256, 0, g, tiles);
        TSR_LAUNCH(queue, tile_rows_kernel, tsr_blocks(g.words << g.log2_edge, 256, INT32_MAX), 256, 0, g);
    } else launch_sides(queue, g);
    if (g.tiled) {
        if (g.decide) TSR_LAUNCH_DEPENDENT(queue, (count_kernel<1, 1>), blocks, TSR_BLOCK_WORDS, 0, g);
        else TSR_LAUNCH_DEPENDENT(queue, (count_kernel<0, 1>), blocks, TSR_BLOCK_WORDS, 0, g);
    } else if (g.decide) TSR_LAUNCH_DEPENDENT(queue, (count_kernel<1, 0>), blocks, TSR_BLOCK_WORDS, 0, g);
    else TSR_LAUNCH_DEPENDENT(queue, (count_kernel<0, 0>), blocks, TSR_BLOCK_WORDS, 0, g);
    if (groups <= FEW_GROUPS) TSR_LAUNCH_DEPENDENT(queue, place_few_kernel, PLACE_SHARES, GROUP, 0, g, (int32_t)groups);
    else {
        TSR_LAUNCH_DEPENDENT(queue, group_kernel, (uint32_t)groups, GROUP, 0, g);
        TSR_LAUNCH_DEPENDENT(queue, total_kernel, 1, 32, 0, g, groups);
        TSR_LAUNCH_DEPENDENT(queue, place_kernel, (uint32_t)groups, GROUP, 0, g);
    }
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

static tsr_status cuda_count(tsr_queue *queue, tsr_surface_grid *grids, int32_t count)
{
    tsr_status status;
    static_assert(TSR_SURFACE_SEVERAL * sizeof(tsr_surface_totals) <= TSR_QUEUE_MAIL, "a place for each");
    for (int32_t k = 0; k < count; k++) TSR_TRY_GOTO(count_grid(queue, &grids[k], k), fail);
    TSR_TRY_GOTO(tsr_queue_mail_mark(queue), fail);
    return TSR_OK;
fail: /* kernels of this count may still write the mail, which the next one clears */
    if (tsr_queue_mail_mark(queue) == TSR_OK) (void)tsr_queue_mail_wait(queue);
    return status;
}
static tsr_status cuda_totals(tsr_queue *queue, const tsr_surface_grid *grid, int32_t number, tsr_surface_totals *totals)
{
    (void)grid;
    TSR_TRY(tsr_queue_mail_wait(queue));
    *totals = ((const tsr_surface_totals *)tsr_queue_mail(queue))[number];
    return TSR_OK;
}

/* ---- output ------------------------------------------------------------------------------------------------------------------------- */

/* TYPE: the element type of a volume without pad whose vertices have no normals, the kernel without the rest. */
enum { ANY_TYPE = -1 };
/* A warp takes `share` words of the list, a multiple of TSR_LIST_GRAIN up to 32; apart != 0: the vertices by one block of threads, the triangles by another. */
template <int DECIDE, int TILED, int TYPE = ANY_TYPE>
TSR_KERNEL(__launch_bounds__(EMIT_WARPS * 32, DECIDE ? 1 : EMIT_BLOCKS) emit_kernel)
(tsr_surface_grid g, tsr_surface_output out, int32_t share, int32_t apart)
{
    tsr_chain_next();
    if (!DECIDE) g.decide = 0;
    g.tiled = TILED;
    if (TYPE != ANY_TYPE) {
        g.dtype = (tsr_dtype)TYPE;
        g.normals = g.pad = 0;
    }
    TSR_SHARED(emit_lists, lists, EMIT_WARPS);
    const uint32_t lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const int64_t words = tsr_output_words(&out), step = (int64_t)(gridDim.x >> apart) * EMIT_WARPS * share;
    const uint32_t active = words ? g.totals->active_blocks : 0, parts = !apart ? EMIT_BOTH : blockIdx.x & 1u ? EMIT_TRIANGLES : EMIT_VERTICES;
    for (int64_t from = ((int64_t)(blockIdx.x >> apart) * EMIT_WARPS + warp) * share; from < words; from += step)
        emit_words(g, out, from, min(from + share, words), active, parts, lane, &lists[warp]);
}

/* `words`: with work, or as many as are expected; the kernels go on until all are done. */
static tsr_status launch_emit(tsr_queue *queue, const tsr_surface_grid &g, const tsr_surface_output &out, int64_t words)
{
    const int32_t few = words < (int64_t)SHARED_WORDS * tsr_queue_processors(queue);
    const int32_t share = few ? FEW_SHARE : 32;
    const uint32_t blocks = tsr_blocks(words, EMIT_WARPS * share, INT32_MAX / 2) << few;
    if (g.tiled) {
        if (g.decide) TSR_LAUNCH(queue, (emit_kernel<1, 1>), blocks, EMIT_WARPS * 32, 0, g, out, share, few);
        else TSR_LAUNCH(queue, (emit_kernel<0, 1>), blocks, EMIT_WARPS * 32, 0, g, out, share, few);
    } else if (g.decide) TSR_LAUNCH(queue, (emit_kernel<1, 0>), blocks, EMIT_WARPS * 32, 0, g, out, share, few);
    else if (g.dtype == TSR_F32 && !g.pad && !g.normals)
        TSR_LAUNCH(queue, (emit_kernel<0, 0, TSR_F32>), blocks, EMIT_WARPS * 32, 0, g, out, share, few);
    else if (g.dtype == TSR_U16 && !g.pad && !g.normals)
        TSR_LAUNCH(queue, (emit_kernel<0, 0, TSR_U16>), blocks, EMIT_WARPS * 32, 0, g, out, share, few);
    else if (g.dtype == TSR_I16 && !g.pad && !g.normals)
        TSR_LAUNCH(queue, (emit_kernel<0, 0, TSR_I16>), blocks, EMIT_WARPS * 32, 0, g, out, share, few);
    else if (g.dtype == TSR_U8 && !g.pad && !g.normals)
        TSR_LAUNCH(queue, (emit_kernel<0, 0, TSR_U8>), blocks, EMIT_WARPS * 32, 0, g, out, share, few);
    else TSR_LAUNCH(queue, (emit_kernel<0, 0>), blocks, EMIT_WARPS * 32, 0, g, out, share, few);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}
static tsr_status cuda_emit(tsr_queue *queue, const tsr_surface_grid *grid, const tsr_surface_output *output)
{
    TSR_TRY(launch_emit(queue, *grid, *output, output->list_words));
    return TSR_OK;
}
static tsr_status cuda_extract(tsr_queue *queue, tsr_surface_grid *grid, const tsr_surface_output *room, tsr_surface_totals *totals)
{
    tsr_status status;
    tsr_surface_output out = *room;
    out.totals = grid->totals;
    TSR_TRY(cuda_count(queue, grid, 1));
    if (grid->words) TSR_TRY_GOTO(launch_emit(queue, *grid, out, tsr_minl(grid->words, room->list_words + room->list_words / 16)), fail);
    TSR_TRY(cuda_totals(queue, grid, 0, totals));
    return TSR_OK;
fail:
    (void)tsr_queue_mail_wait(queue);
    return status;
}

TSR_KERNEL(unindex_kernel)(tsr_surface_output from, tsr_surface_output to, int64_t corners)
{
    int64_t k = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (k < corners) tsr_unindex(&from, &to, k);
}

static tsr_status cuda_unindex(tsr_queue *queue, const tsr_surface_output *from, int64_t triangles, const tsr_surface_output *to)
{
    TSR_LAUNCH(queue, unindex_kernel, tsr_blocks(3 * triangles, 256, INT32_MAX), 256, 0, *from, *to, 3 * triangles);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

#include "surface/gather_cuda.h"
#include "surface/tetrahedra_cuda.h"
#include "surface/tracker_cuda.h"

/* ---- the order of a view --------------------------------------------------------------------------------------------------------------------- */

TSR_KERNEL(view_keys_kernel)(tsr_view_job job)
{
    int64_t k = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (k < job.triangles) tsr_view_key(&job, k);
}
TSR_KERNEL(view_move_kernel)(tsr_view_job job)
{
    int64_t k = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (k < job.triangles) tsr_view_move(&job, k);
}

static tsr_status cuda_view_keys(tsr_queue *queue, const tsr_view_job *job)
{
    TSR_LAUNCH(queue, view_keys_kernel, tsr_blocks(job->triangles, 256, INT32_MAX), 256, 0, *job);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}
static tsr_status cuda_view_move(tsr_queue *queue, const tsr_view_job *job)
{
    TSR_LAUNCH(queue, view_move_kernel, tsr_blocks(job->triangles, 256, INT32_MAX), 256, 0, *job);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

static tsr_status cuda_sides(tsr_queue *queue, const tsr_surface_grid *grid)
{
    if (grid->words) launch_sides(queue, *grid);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

extern "C" const tsr_surface_ops tsr_surface_cuda = { cuda_count,       cuda_totals,     cuda_extract,      cuda_emit,          nullptr,
                                                      cuda_unindex,     cuda_look,       cuda_count_some,   cuda_emit_some,     cuda_view_keys,
                                                      cuda_view_move,   cuda_sides,      cuda_gather_count, cuda_gather_listed, cuda_gather_write,
                                                      cuda_tetra_count, cuda_tetra_write };
