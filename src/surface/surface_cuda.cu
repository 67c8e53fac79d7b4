#include "device/mail.h"
#include "surface/emit_cuda.h"
#include "surface/surface_ops.h"

/* Blocks that a multiprocessor holds, of counting and of writing: what registers are left to. */
enum { COUNT_BLOCKS = 8, EMIT_BLOCKS = 8 };
enum { GROUP = 1024, FEW_GROUPS = 4, PLACE_SHARES = 8 };
/* Below so many words with work per multiprocessor a warp takes FEW_SHARE of them, not 32, and the vertices or the triangles alone: there are warps to
 * spare, and what is waited for is the longest of them. */
enum { SHARED_WORDS = 32 * 64, FEW_SHARE = 16 };

/* ---- sides: one bit per sample ------------------------------------------------------------------------------------------------------ */

TSR_DEVICE_FN int side(const tsr_side &s, uint8_t v) { return TSR_SIDE_INTEGER(v, (uint8_t)s.u, s.invert); }
TSR_DEVICE_FN int side(const tsr_side &s, int8_t v) { return TSR_SIDE_INTEGER(v, (int8_t)s.i, s.invert); }
TSR_DEVICE_FN int side(const tsr_side &s, uint16_t v) { return TSR_SIDE_INTEGER(v, (uint16_t)s.u, s.invert); }
TSR_DEVICE_FN int side(const tsr_side &s, int16_t v) { return TSR_SIDE_INTEGER(v, (int16_t)s.i, s.invert); }
TSR_DEVICE_FN int side(const tsr_side &s, uint32_t v) { return TSR_SIDE_INTEGER(v, (uint32_t)s.u, s.invert); }
TSR_DEVICE_FN int side(const tsr_side &s, int32_t v) { return TSR_SIDE_INTEGER(v, (int32_t)s.i, s.invert); }
TSR_DEVICE_FN int side(const tsr_side &s, uint64_t v) { return TSR_SIDE_INTEGER(v, s.u, s.invert); }
TSR_DEVICE_FN int side(const tsr_side &s, int64_t v) { return TSR_SIDE_INTEGER(v, s.i, s.invert); }
TSR_DEVICE_FN int side(const tsr_side &s, float v) { return TSR_SIDE_REAL(v, s.f, s.below); }
TSR_DEVICE_FN int side(const tsr_side &s, double v) { return TSR_SIDE_REAL(v, s.d, s.below); }

TSR_DEVICE_FN void add_total(uint64_t *total, uint32_t own)
{
    uint32_t sum = __reduce_add_sync(TSR_WARP_ALL, own);
    if ((threadIdx.x & 31) == 0 && sum) atomicAdd((unsigned long long *)total, (unsigned long long)sum);
}

/* Of samples that are always numbers: nothing is added to the totals before all words are there, so that their kernel clears them. */
TSR_DEVICE_FN void begin_totals(const tsr_surface_grid &g)
{
    const tsr_surface_totals none = { 0, 0, 0, 0, 0, 0 };
    if (blockIdx.x == 0 && threadIdx.x == 0) *g.totals = none;
}

/* A warp makes 32 words, one ballot each: reads and writes are coalesced. */
template <class T> TSR_KERNEL(rows_kernel)(tsr_surface_grid g)
{
    const T *TSR_RESTRICT data = (const T *)g.data;
    uint32_t lane = threadIdx.x & 31, word_bits = 0, not_a_number = 0;
    int64_t first = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) - lane;
    if (first >= g.words) return;
    if (!g.pad && g.stored[0] % 32 == 0 && first + 32 <= g.words) {
        const T *from = data + first * 32 + lane;
#pragma unroll 8
        for (uint32_t k = 0; k < 32; k++) {
            T v = from[k * 32];
            uint32_t bits = __ballot_sync(TSR_WARP_ALL, side(g.side, v));
            not_a_number += !(v == v);
            if (lane == k) word_bits = bits;
        }
    } else {
        int64_t row = -1; /* index of the row's first sample, of the word this lane will own */
        int32_t x = 0;
        if (first + lane < g.words) {
            tsr_word_place p;
            tsr_word_locate(&g, first + lane, &p);
            int64_t y = p.y - g.pad, z = p.z - g.pad;
            if (y >= 0 && z >= 0 && y < g.stored[1] && z < g.stored[2]) row = (z * g.stored[1] + y) * g.stored[0];
            x = (int32_t)p.x - g.pad;
        }
#pragma unroll 4
        for (uint32_t k = 0; k < 32; k++) {
            int64_t from = __shfl_sync(TSR_WARP_ALL, row, (int)k), at = __shfl_sync(TSR_WARP_ALL, x, (int)k) + (int64_t)lane;
            int inside = 0;
            if (from >= 0 && at >= 0 && at < g.stored[0]) {
                T v = data[from + at];
                inside = side(g.side, v);
                not_a_number += !(v == v);
            }
            uint32_t bits = __ballot_sync(TSR_WARP_ALL, inside);
            if (lane == k) word_bits = bits;
        }
    }
    if (first + lane < g.words) g.bits[first + lane] = word_bits;
    if ((T)0.5 != (T)0) add_total(&g.totals->not_a_number, not_a_number);
    else begin_totals(g);
}

/* Bytes of rows of whole words: a lane takes half a word at a time, and neighbours put theirs together. */
enum { BYTES_STEPS = 8, BYTES_WORDS = TSR_BLOCK_WORDS / 2 * BYTES_STEPS /* of a block of threads */ };
template <class T> TSR_KERNEL(rows_bytes_kernel)(tsr_surface_grid g)
{
    const int with_sign = (T)-1 < 0;
    const tsr_side_bytes s = tsr_side_bytes_of((uint32_t)(uint8_t)(with_sign ? (uint64_t)(g.side.i + 128) : g.side.u), with_sign, g.side.invert);
    const uint32_t lane = threadIdx.x & 31, odd = lane & 1;
    const int64_t first = ((int64_t)blockIdx.x * TSR_BLOCK_WORDS + threadIdx.x - lane) * BYTES_STEPS, halves = 2 * g.words;
    const uint4 *data = (const uint4 *)g.data + first;
    uint4 v[BYTES_STEPS];
    uint32_t half[BYTES_STEPS];
    begin_totals(g);
    if (first >= halves) return;
    if (first + 32 * BYTES_STEPS <= halves) {
#pragma unroll
        for (int k = 0; k < BYTES_STEPS; k++) v[k] = __ldcs(data + 32 * k + lane);
    } else {
#pragma unroll
        for (int k = 0; k < BYTES_STEPS; k++) v[k] = first + 32 * k + lane < halves ? data[32 * k + lane] : make_uint4(0, 0, 0, 0);
    }
#pragma unroll
    for (int k = 0; k < BYTES_STEPS; k++)
        half[k] =
            tsr_side_of_bytes(s, v[k].x) | tsr_side_of_bytes(s, v[k].y) << 4 | tsr_side_of_bytes(s, v[k].z) << 8 | tsr_side_of_bytes(s, v[k].w) << 12;
#pragma unroll
    for (int k = 0; k < BYTES_STEPS; k += 2) { /* even lanes end with the words of step k, odd ones with those of the next */
        const uint32_t other = __shfl_xor_sync(TSR_WARP_ALL, odd ? half[k] : half[k + 1], 1);
        const int64_t word = first / 2 + 16 * (k + (int)odd) + lane / 2;
        if (word < g.words) g.bits[word] = odd ? other | half[k + 1] << 16 : half[k] | other << 16;
    }
}
static void launch_bytes(tsr_queue *queue, const tsr_surface_grid &g)
{
    const uint32_t blocks = tsr_blocks(g.words, BYTES_WORDS, INT32_MAX);
    if (g.dtype == TSR_U8) TSR_LAUNCH(queue, rows_bytes_kernel<uint8_t>, blocks, TSR_BLOCK_WORDS, 0, g);
    else TSR_LAUNCH(queue, rows_bytes_kernel<int8_t>, blocks, TSR_BLOCK_WORDS, 0, g);
}

TSR_KERNEL(slots_kernel)(tsr_surface_grid g, int64_t tiles)
{
    int64_t tile = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (tile < tiles) g.slot_of[g.ids[tile]] = (uint32_t)tile;
}

/* One thread per voxel of the stored tiles; a ballot holds 4 or 8 words. */
TSR_KERNEL(tile_rows_kernel)(tsr_surface_grid g)
{
    int64_t voxel = (int64_t)blockIdx.x * blockDim.x + threadIdx.x, word = voxel >> g.log2_edge;
    int32_t edge = 1 << g.log2_edge;
    int inside = 0, not_a_number = 0;
    if (word < g.words) {
        float v = g.phi[((int64_t)g.ids[voxel >> (3 * g.log2_edge)] << (3 * g.log2_edge)) | (voxel & (edge * edge * edge - 1))];
        inside = side(g.side, v);
        not_a_number = !(v == v);
    }
    uint32_t bits = __ballot_sync(TSR_WARP_ALL, inside);
    if (word < g.words && (voxel & (edge - 1)) == 0) g.bits[word] = bits >> (threadIdx.x & 31) & (uint32_t)tsr_bits_low(edge);
    add_total(&g.totals->not_a_number, (uint32_t)not_a_number);
}

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
}

TSR_KERNEL(total_kernel)(tsr_surface_grid g, int64_t groups)
{
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
    if (g.tiled || g.dtype == TSR_F32 || g.dtype == TSR_F64) TSR_TRY(tsr_queue_fill(queue, g.totals, 0, sizeof *g.totals));
    uint32_t blocks = (uint32_t)g.blocks;
    if (g.tiled) {
        int64_t tiles = g.words >> (2 * g.log2_edge);
        TSR_LAUNCH(queue, slots_kernel, tsr_blocks(tiles, 256, INT32_MAX), 256, 0, g, tiles);
        TSR_LAUNCH(queue, tile_rows_kernel, tsr_blocks(g.words << g.log2_edge, 256, INT32_MAX), 256, 0, g);
    } else if ((g.dtype == TSR_U8 || g.dtype == TSR_I8) && !g.pad && g.stored[0] % 32 == 0) {
        launch_bytes(queue, g);
    } else {
        switch (g.dtype) {
        case TSR_U8: TSR_LAUNCH(queue, rows_kernel<uint8_t>, blocks, TSR_BLOCK_WORDS, 0, g); break;
        case TSR_I8: TSR_LAUNCH(queue, rows_kernel<int8_t>, blocks, TSR_BLOCK_WORDS, 0, g); break;
        case TSR_U16: TSR_LAUNCH(queue, rows_kernel<uint16_t>, blocks, TSR_BLOCK_WORDS, 0, g); break;
        case TSR_I16: TSR_LAUNCH(queue, rows_kernel<int16_t>, blocks, TSR_BLOCK_WORDS, 0, g); break;
        case TSR_U32: TSR_LAUNCH(queue, rows_kernel<uint32_t>, blocks, TSR_BLOCK_WORDS, 0, g); break;
        case TSR_I32: TSR_LAUNCH(queue, rows_kernel<int32_t>, blocks, TSR_BLOCK_WORDS, 0, g); break;
        case TSR_U64: TSR_LAUNCH(queue, rows_kernel<uint64_t>, blocks, TSR_BLOCK_WORDS, 0, g); break;
        case TSR_I64: TSR_LAUNCH(queue, rows_kernel<int64_t>, blocks, TSR_BLOCK_WORDS, 0, g); break;
        case TSR_F32: TSR_LAUNCH(queue, rows_kernel<float>, blocks, TSR_BLOCK_WORDS, 0, g); break;
        default: TSR_LAUNCH(queue, rows_kernel<double>, blocks, TSR_BLOCK_WORDS, 0, g); break;
        }
    }
    if (g.tiled) {
        if (g.decide) TSR_LAUNCH(queue, (count_kernel<1, 1>), blocks, TSR_BLOCK_WORDS, 0, g);
        else TSR_LAUNCH(queue, (count_kernel<0, 1>), blocks, TSR_BLOCK_WORDS, 0, g);
    } else if (g.decide) TSR_LAUNCH(queue, (count_kernel<1, 0>), blocks, TSR_BLOCK_WORDS, 0, g);
    else TSR_LAUNCH(queue, (count_kernel<0, 0>), blocks, TSR_BLOCK_WORDS, 0, g);
    if (groups <= FEW_GROUPS) TSR_LAUNCH(queue, place_few_kernel, PLACE_SHARES, GROUP, 0, g, (int32_t)groups);
    else {
        TSR_LAUNCH(queue, group_kernel, (uint32_t)groups, GROUP, 0, g);
        TSR_LAUNCH(queue, total_kernel, 1, 32, 0, g, groups);
        TSR_LAUNCH(queue, place_kernel, (uint32_t)groups, GROUP, 0, g);
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

/* A warp takes `share` words of the list, a multiple of TSR_LIST_GRAIN up to 32; apart != 0: the vertices by one block of threads, the triangles by another. */
template <int DECIDE, int TILED>
TSR_KERNEL(__launch_bounds__(EMIT_WARPS * 32, DECIDE ? 1 : EMIT_BLOCKS) emit_kernel)
(tsr_surface_grid g, tsr_surface_output out, int32_t share, int32_t apart)
{
    if (!DECIDE) g.decide = 0;
    g.tiled = TILED;
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

/* ---- a surface that follows its list: some tiles of it --------------------------------------------------------------------------------------- */

/* A warp per entry of the list; most only compare keys. */
TSR_KERNEL(look_kernel)(tsr_surface_look l)
{
    const uint32_t lane = threadIdx.x & 31;
    const int64_t entry = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) >> 5;
    if (entry >= l.entries) return;
    const uint64_t key = l.keys[entry];
    const uint32_t id = l.ids[entry];
    const int wanted = tsr_track_wanted(&l, key, id);
    uint64_t sum = wanted ? tsr_track_sum(&l, id, (int32_t)lane, 32) : 0;
    for (uint32_t d = 16; d; d >>= 1) sum += __shfl_xor_sync(TSR_WARP_ALL, sum, d);
    __syncwarp();
    if (lane == 0) tsr_track_keep(&l, key, id, wanted, sum);
}
TSR_KERNEL(gone_kernel)(tsr_surface_look l)
{
    int64_t id = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (id < l.capacity) tsr_track_gone(&l, id);
}
TSR_KERNEL(ring_kernel)(tsr_surface_look l)
{
    int64_t entry = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (entry < l.entries) tsr_track_ring(&l, l.ids[entry]);
}
TSR_KERNEL(reach_kernel)(tsr_surface_look l)
{
    int64_t entry = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (entry < l.entries) tsr_track_reach(&l, l.ids[entry]);
}

static tsr_status cuda_look(tsr_queue *queue, const tsr_surface_look *look)
{
    const tsr_surface_look l = *look;
    TSR_LAUNCH(queue, look_kernel, tsr_blocks(l.entries * 32, 256, INT32_MAX), 256, 0, l);
    TSR_LAUNCH(queue, gone_kernel, tsr_blocks(l.capacity, 256, INT32_MAX), 256, 0, l);
    TSR_LAUNCH(queue, ring_kernel, tsr_blocks(l.entries, 256, INT32_MAX), 256, 0, l);
    TSR_LAUNCH(queue, reach_kernel, tsr_blocks(l.entries, 256, INT32_MAX), 256, 0, l);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

TSR_KERNEL(some_rows_kernel)(tsr_surface_grid g, tsr_surface_some some)
{
    const int64_t at = (int64_t)blockIdx.x * blockDim.x + threadIdx.x, k = at >> 3 * g.log2_edge;
    const int32_t edge = 1 << g.log2_edge;
    int64_t voxel = 0;
    int inside = 0;
    if (k < some.count) {
        voxel = (int64_t)some.ids[k] << 3 * g.log2_edge | (at & (edge * edge * edge - 1));
        inside = side(g.side, g.phi[voxel]);
    }
    uint32_t bits = __ballot_sync(TSR_WARP_ALL, inside);
    if (k < some.count && (voxel & (edge - 1)) == 0) g.bits[voxel >> g.log2_edge] = bits >> (threadIdx.x & 31) & (uint32_t)tsr_bits_low(edge);
}

/* A block of 64 threads per tile, a word each (16 of them have one if the edge is 4). */
enum { SOME_THREADS = 64 };
template <int DECIDE> TSR_KERNEL(some_count_kernel)(tsr_surface_grid g, tsr_surface_some some)
{
    if (!DECIDE) g.decide = 0;
    TSR_SHARED(uint32_t, warps, 32);
    const int64_t k = blockIdx.x, words = (int64_t)1 << 2 * g.log2_edge, word = ((int64_t)some.ids[k] << 2 * g.log2_edge) + threadIdx.x;
    uint32_t count = 0, total;
    if (threadIdx.x < words) {
        const tsr_case_tables tables = TSR_CASE_TABLES;
        tsr_word_place p;
        int torn;
        tsr_word_locate(&g, word, &p);
        count = tsr_word_count(&g, &p, &tables, &torn);
        if (torn) atomicOr(some.torn, 1u);
    }
    uint32_t before = scan_block(count, warps, &total), busy = __ballot_sync(TSR_WARP_ALL, count != 0);
    if ((threadIdx.x & 31) == 0) some.busy[2 * k + (threadIdx.x >> 5)] = busy;
    if (threadIdx.x < words) g.prefix[word] = (uint16_t)tsr_count_vertices(before);
    if (threadIdx.x == 0) some.counts[k] = total;
}

static tsr_status cuda_count_some(tsr_queue *queue, const tsr_surface_grid *grid, const tsr_surface_some *some)
{
    const tsr_surface_grid g = *grid;
    const tsr_surface_some s = *some;
    TSR_TRY(tsr_queue_fill(queue, s.torn, 0, sizeof *s.torn));
    if (s.count == 0) return TSR_OK;
    TSR_LAUNCH(queue, some_rows_kernel, tsr_blocks(s.count << 3 * g.log2_edge, 256, INT32_MAX), 256, 0, g, s);
    if (g.decide) TSR_LAUNCH(queue, some_count_kernel<1>, (uint32_t)s.count, SOME_THREADS, 0, g, s);
    else TSR_LAUNCH(queue, some_count_kernel<0>, (uint32_t)s.count, SOME_THREADS, 0, g, s);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

template <int DECIDE>
TSR_KERNEL(__launch_bounds__(EMIT_WARPS * 32) some_emit_kernel)
(tsr_surface_grid g, tsr_surface_some some, tsr_surface_output out)
{
    if (!DECIDE) g.decide = 0;
    TSR_SHARED(emit_lists, lists, EMIT_WARPS);
    const uint32_t lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const int64_t k = (int64_t)blockIdx.x * EMIT_WARPS + warp;
    if (k >= some.count) return;
    const uint32_t *mask = some.busy + 2 * k, id = some.ids[k];
    emit_block(g, out, (int64_t)id << 2 * g.log2_edge, mask, (uint32_t)(__popc(mask[0]) + __popc(mask[1])), g.block_vertex[id], some.triangle[k],
               lane, &lists[warp]);
}

TSR_KERNEL(some_place_kernel)(tsr_surface_grid g, tsr_surface_some some)
{
    int64_t k = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (k < some.count) g.block_vertex[some.ids[k]] = some.vertex[k];
}
/* A block per gap. */
TSR_KERNEL(gap_kernel)(tsr_surface_some some, uint32_t *triangles)
{
    const uint64_t *gap = some.gap[blockIdx.x];
    for (uint64_t k = 3 * gap[0] + threadIdx.x; k < 3 * gap[1]; k += blockDim.x) triangles[k] = 0;
}

static tsr_status cuda_emit_some(tsr_queue *queue, const tsr_surface_grid *grid, const tsr_surface_some *some, const tsr_surface_output *output)
{
    const tsr_surface_grid g = *grid;
    const tsr_surface_some s = *some;
    const tsr_surface_output out = *output;
    if (s.gaps) TSR_LAUNCH(queue, gap_kernel, (uint32_t)s.gaps, 64, 0, s, out.triangles);
    if (s.count) {
        TSR_LAUNCH(queue, some_place_kernel, tsr_blocks(s.count, 256, INT32_MAX), 256, 0, g, s);
        if (g.decide) TSR_LAUNCH(queue, some_emit_kernel<1>, tsr_blocks(s.count, EMIT_WARPS, INT32_MAX), EMIT_WARPS * 32, 0, g, s, out);
        else TSR_LAUNCH(queue, some_emit_kernel<0>, tsr_blocks(s.count, EMIT_WARPS, INT32_MAX), EMIT_WARPS * 32, 0, g, s, out);
    }
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

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

extern "C" const tsr_surface_ops tsr_surface_cuda = { cuda_count, cuda_totals,     cuda_extract,   cuda_emit,      nullptr,       cuda_unindex,
                                                      cuda_look,  cuda_count_some, cuda_emit_some, cuda_view_keys, cuda_view_move };
