/* surface/emit_cuda.h: output of up to 32 words by a warp. */
#ifndef TSR_SURFACE_EMIT_CUDA_H
#define TSR_SURFACE_EMIT_CUDA_H

#include "device/kernel.h"

#include "surface/decider_table.h"
#include "surface/emit.h"

/* Sum of the values of the lanes before; *total = of all. */
TSR_DEVICE_FN uint32_t warp_before(uint32_t own, uint32_t lane, uint32_t *total)
{
    uint32_t sum = own;
    for (uint32_t d = 1; d < 32; d <<= 1) {
        uint32_t other = __shfl_up_sync(TSR_WARP_ALL, sum, d);
        if (lane >= d) sum += other;
    }
    *total = __shfl_sync(TSR_WARP_ALL, sum, 31);
    return sum - own;
}

/* A warp takes up to 32 words with work. Each lane unfolds one of them into lists of vertices (word, sample, axis) and triangles (word, case, cell,
 * number), which the lanes then share evenly. */
enum { EMIT_WARPS = 4, VERTEX_LIST = 256, TRIANGLE_LIST = 256 };

typedef struct emit_lists {
    tsr_word_reach reach[32];
    uint16_t vertex[VERTEX_LIST];
    uint32_t triangle[TRIANGLE_LIST];
} emit_lists;

/* Work of the word that the lane holds. */
typedef struct emit_work {
    tsr_reach_row cut; /* the edges that it owns */
    uint32_t active, triangles;
} emit_work;

/* Position of set bit number n in 256 bits; the caller knows that there is one. */
TSR_DEVICE_FN uint32_t find_bit(const uint32_t *mask, uint32_t n)
{
    uint32_t k = 0, bits = mask[0];
    for (uint32_t count = (uint32_t)__popc(bits); n >= count; count = (uint32_t)__popc(bits)) {
        n -= count;
        bits = mask[++k];
    }
    for (; n; n--) bits &= bits - 1;
    return k * 32 + (uint32_t)__ffs((int)bits) - 1u;
}

/* Triangles of a cell of the word that the lane holds. */
TSR_DEVICE_FN uint32_t triangles_of(const tsr_surface_grid &g, const tsr_word_reach *reach, int32_t bit, uint32_t code, const tsr_case_tables *tables)
{
    tsr_word_place p;
    if (!g.decide || !tables->faces[code]) return tables->triangles[code];
    tsr_word_locate(&g, reach->word, &p);
    return (uint32_t)tsr_cell_filled(&g, &p, bit, code, tables).triangles;
}

/* The lane's word is number n of those with a bit in mask, if n < end. */
TSR_DEVICE_FN void emit_load(const tsr_surface_grid &g, int64_t first, const uint32_t *mask, uint32_t n, uint32_t end, uint32_t lane, emit_lists *l,
                             emit_work *work)
{
    const emit_work none = { { 0, 0, 0, 0 }, 0, 0 };
    *work = none;
    if (n < end) {
        const tsr_case_tables tables = TSR_CASE_TABLES;
        tsr_word_reach *reach = &l->reach[lane];
        tsr_word_place p;
        const uint32_t word = find_bit(mask, n);
        tsr_word_locate(&g, first + word, &p);
        tsr_reach_load(&g, &p, reach);
        work->cut = reach->row[0];
        work->active = (uint32_t)tsr_cells_active(&g, &p, reach->side);
        for (uint32_t m = work->active; m; m &= m - 1) {
            const int32_t bit = __ffs((int)m) - 1;
            work->triangles += triangles_of(g, reach, bit, tsr_cell_case(&g, reach->side, bit), &tables);
        }
    }
    __syncwarp();
}

/* Where in the list of words with work a warp begins. */
typedef struct emit_turn {
    int64_t word;    /* of the lane; -1: none */
    uint32_t counts; /* its vertices and triangles */
    uint32_t vertex; /* the first of lane 0 */
    uint64_t triangle;
} emit_turn;

/* Words number `from` (a multiple of the grain) and on of the list, up to `end`, at most 32. */
TSR_DEVICE_FN emit_turn emit_find(const tsr_surface_grid &g, int64_t from, int64_t end, uint32_t active, uint32_t lane)
{
    const uint32_t at = g.list_turn[from / TSR_LIST_GRAIN] + lane; /* every active block has a word: these hold the 32 */
    const uint32_t here = at < active ? g.active[at] : 0;
    const int32_t start = at < active ? (int32_t)((int64_t)g.list_first[here] - from < 32 ? (int64_t)g.list_first[here] - from : 32) : 32;
    const uint32_t starts = __reduce_or_sync(TSR_WARP_ALL, lane && start < 32 ? 1u << start : 0);
    const int which = __popc(starts & (uint32_t)((2ull << lane) - 1u));
    const int64_t block = (int64_t)__shfl_sync(TSR_WARP_ALL, here, which);
    const int32_t number = (int32_t)lane - __shfl_sync(TSR_WARP_ALL, start, which);
    emit_turn turn = { -1, 0, 0, 0 };
    if (from + lane < end) {
        const int64_t entry = block * TSR_BLOCK_WORDS + number;
        const uint32_t before = g.list_before[entry];
        turn.word = block * TSR_BLOCK_WORDS + g.list_word[entry];
        turn.counts = (number + 1 < (int32_t)g.list_count[block] ? g.list_before[entry + 1] : g.block_sum[block]) - before;
        if (lane == 0) {
            turn.vertex = g.block_vertex[block] + tsr_count_vertices(before);
            turn.triangle = g.block_triangle[block] + tsr_count_triangles(before);
        }
    }
    turn.vertex = __shfl_sync(TSR_WARP_ALL, turn.vertex, 0);
    turn.triangle = __shfl_sync(TSR_WARP_ALL, turn.triangle, 0);
    return turn;
}

/* Vertices of up to 32 words; returns how many. */
TSR_DEVICE_FN uint32_t emit_vertices(const tsr_surface_grid &g, const tsr_surface_output &out, tsr_reach_row cut, uint32_t lane, emit_lists *l,
                                     uint32_t number)
{
    uint32_t total, to = warp_before((uint32_t)(__popc(cut.x) + __popc(cut.y) + __popc(cut.z)), lane, &total);
    tsr_word_place p;
    for (uint32_t base = 0; base < total; base += VERTEX_LIST) {
        for (uint32_t m = cut.x | cut.y | cut.z; m && to < base + VERTEX_LIST; m = cut.x | cut.y | cut.z, to++) {
            const uint32_t one = m & (0u - m), axis = cut.x & one ? 0u : cut.y & one ? 1u : 2u;
            if (axis == 0) cut.x ^= one;
            else if (axis == 1) cut.y ^= one;
            else cut.z ^= one;
            l->vertex[to - base] = (uint16_t)(lane << 7 | ((uint32_t)__ffs((int)one) - 1u) << 2 | axis);
        }
        __syncwarp();
        for (uint32_t i = lane; i < VERTEX_LIST && base + i < total; i += 32) {
            const int32_t code = l->vertex[i];
            const int64_t at = 3 * ((int64_t)number + base + i);
            if ((int64_t)number + base + i >= out.vertex_count) break; /* of the next part */
            tsr_word_locate(&g, l->reach[code >> 7].word, &p);
            tsr_vertex(&g, &p, code >> 2 & 31, code & 3, out.vertices + at, g.normals ? out.normals + at : 0);
        }
        __syncwarp();
    }
    return total;
}

TSR_DEVICE_FN uint32_t emit_triangles(const tsr_surface_grid &g, const tsr_surface_output &out, emit_work work, uint32_t lane, emit_lists *l,
                                      uint64_t number)
{
    const tsr_case_tables tables = TSR_CASE_TABLES;
    uint32_t total, k = 0, to = warp_before(work.triangles, lane, &total);
    for (uint32_t base = 0; base < total; base += TRIANGLE_LIST) {
        while (work.active && to < base + TRIANGLE_LIST) {
            const int32_t bit = __ffs((int)work.active) - 1;
            const uint32_t code = tsr_cell_case(&g, l->reach[lane].side, bit), count = triangles_of(g, &l->reach[lane], bit, code, &tables);
            for (; k < count && to < base + TRIANGLE_LIST; k++, to++) l->triangle[to - base] = lane << 17 | code << 9 | (uint32_t)bit << 4 | k;
            if (k < count) break;
            k = 0;
            work.active &= work.active - 1;
        }
        __syncwarp();
        for (uint32_t i = lane; i < TRIANGLE_LIST && base + i < total; i += 32) {
            const uint32_t entry = l->triangle[i], code = entry >> 9 & 255u;
            const int32_t bit = (int32_t)(entry >> 4 & 31u);
            const tsr_word_reach *reach = &l->reach[entry >> 17];
            const uint8_t *edges = tables.edges[code];
            if (g.decide) {
                tsr_word_place p;
                tsr_word_locate(&g, reach->word, &p);
                edges = tsr_cell_filled(&g, &p, bit, code, &tables).edges;
            }
            tsr_reach_triangle(&g, reach, bit, edges + 3 * (entry & 15u), out.triangles + 3 * (int64_t)(number + base + i));
        }
        __syncwarp();
    }
    return total;
}

/* All of one block of words, by a warp: `busy` words have a bit in mask. */
TSR_DEVICE_FN void emit_block(const tsr_surface_grid &g, const tsr_surface_output &out, int64_t first, const uint32_t *mask, uint32_t busy,
                              uint32_t vertex, uint64_t triangle, uint32_t lane, emit_lists *l)
{
    for (uint32_t done = 0; done < busy; done += 32) {
        emit_work work;
        emit_load(g, first, mask, done + lane, busy, lane, l, &work);
        vertex += emit_vertices(g, out, work.cut, lane, l, vertex);
        triangle += emit_triangles(g, out, work, lane, l, triangle);
    }
}

/* Words `from` to `end` of the list (at most 32), by a warp. */
TSR_DEVICE_FN void emit_words(const tsr_surface_grid &g, const tsr_surface_output &out, int64_t from, int64_t end, uint32_t active, uint32_t lane,
                              emit_lists *l)
{
    const emit_turn turn = emit_find(g, from, end, active, lane);
    emit_work work = { { 0, 0, 0, 0 }, 0, 0 };
    if (turn.word >= 0) {
        tsr_word_reach *reach = &l->reach[lane];
        tsr_word_place p;
        tsr_word_locate(&g, turn.word, &p);
        if (g.tiled) tsr_reach_load(&g, &p, reach);
        else tsr_reach_load_dense(&g, &p, reach);
        work.cut = reach->row[0];
        work.active = (uint32_t)tsr_cells_active(&g, &p, reach->side);
        work.triangles = tsr_count_triangles(turn.counts);
    }
    __syncwarp();
    emit_vertices(g, out, work.cut, lane, l, turn.vertex);
    emit_triangles(g, out, work, lane, l, turn.triangle);
}

#endif
