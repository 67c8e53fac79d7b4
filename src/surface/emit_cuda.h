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

/* A warp takes up to 32 words with work, one a lane. Vertices, and cells, of all of them are numbered through; each lane takes one of those numbers and finds
 * word and bit by bisection, so that no lane walks through the bits of a full word while the others wait. The triangles of 32 cells go through a list. */
enum { EMIT_WARPS = 4, TRIANGLE_LIST = 32 * TSR_CASE_MOST };

typedef struct emit_lists {
    tsr_word_reach reach[32];
    uint32_t triangle[TRIANGLE_LIST]; /* word, case, cell, number */
} emit_lists;

/* Work of the word that the lane holds. */
typedef struct emit_work {
    tsr_reach_row cut; /* the edges that it owns */
    uint32_t active;   /* its cells that have triangles */
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
    const emit_work none = { { 0, 0, 0, 0 }, 0 };
    *work = none;
    if (n < end) {
        tsr_word_reach *reach = &l->reach[lane];
        tsr_word_place p;
        const uint32_t word = find_bit(mask, n);
        tsr_word_locate(&g, first + word, &p);
        tsr_reach_load(&g, &p, reach);
        work->cut = reach->row[0];
        work->active = (uint32_t)tsr_cells_active(&g, &p, reach->side);
    }
    __syncwarp();
}

/* Where in the list of words with work a warp begins. */
typedef struct emit_turn {
    int64_t word;    /* of the lane; -1: none */
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
    emit_turn turn = { -1, 0, 0 };
    if (from + lane < end) {
        const int64_t entry = block * TSR_BLOCK_WORDS + number;
        turn.word = block * TSR_BLOCK_WORDS + g.list_word[entry];
        if (lane == 0) {
            const uint32_t before = g.list_before[entry];
            turn.vertex = g.block_vertex[block] + tsr_count_vertices(before);
            turn.triangle = g.block_triangle[block] + tsr_count_triangles(before);
        }
    }
    turn.vertex = __shfl_sync(TSR_WARP_ALL, turn.vertex, 0);
    turn.triangle = __shfl_sync(TSR_WARP_ALL, turn.triangle, 0);
    return turn;
}

/* The lane whose items, of numbers `first` and on that ascend over the lanes, hold number n. */
TSR_DEVICE_FN uint32_t lane_of(uint32_t first, uint32_t n)
{
    uint32_t lane = 0;
    for (uint32_t d = 16; d; d >>= 1) {
        const uint32_t other = __shfl_sync(TSR_WARP_ALL, first, (int)(lane + d));
        if (other <= n) lane += d;
    }
    return lane;
}
TSR_DEVICE_FN uint32_t bits_below(const tsr_reach_row &r, uint32_t at)
{
    const uint32_t below = (1u << at) - 1u;
    return (uint32_t)(__popc(r.x & below) + __popc(r.y & below) + __popc(r.z & below));
}
/* Position of set bit number n of a mask that has it. */
TSR_DEVICE_FN uint32_t bit_of(uint32_t mask, uint32_t n)
{
    uint32_t at = 0;
    for (uint32_t d = 16; d; d >>= 1)
        if ((uint32_t)__popc(mask & ((1u << (at + d)) - 1u)) <= n) at += d;
    return at;
}

/* Vertices of up to 32 words; returns how many. */
TSR_DEVICE_FN uint32_t emit_vertices(const tsr_surface_grid &g, const tsr_surface_output &out, tsr_reach_row cut, uint32_t lane, emit_lists *l,
                                     uint32_t number)
{
    uint32_t total;
    const uint32_t first = warp_before((uint32_t)(__popc(cut.x) + __popc(cut.y) + __popc(cut.z)), lane, &total);
    for (uint32_t base = 0; base < total; base += 32) {
        const uint32_t i = base + lane, from = lane_of(first, i), before = __shfl_sync(TSR_WARP_ALL, first, (int)from);
        if (i >= total || (int64_t)number + i >= out.vertex_count) continue; /* of the next part */
        const tsr_word_reach *reach = &l->reach[from];
        const tsr_reach_row row = reach->row[0];
        const int64_t at = 3 * ((int64_t)number + i);
        uint32_t bit = 0, n = i - before;
        for (uint32_t d = 16; d; d >>= 1)
            if (bits_below(row, bit + d) <= n) bit += d;
        n -= bits_below(row, bit);
        const uint32_t x = row.x >> bit & 1u, y = row.y >> bit & 1u, axis = n < x ? 0u : n < x + y ? 1u : 2u;
        tsr_word_place p;
        tsr_word_locate(&g, reach->word, &p);
        tsr_vertex(&g, &p, (int32_t)bit, (int32_t)axis, out.vertices + at, g.normals ? out.normals + at : 0);
    }
    return total;
}

TSR_DEVICE_FN uint32_t emit_triangles(const tsr_surface_grid &g, const tsr_surface_output &out, uint32_t active, uint32_t lane, emit_lists *l,
                                      uint64_t number)
{
    const tsr_case_tables tables = TSR_CASE_TABLES;
    uint32_t cells, done = 0;
    const uint32_t first = warp_before((uint32_t)__popc(active), lane, &cells);
    for (uint32_t base = 0; base < cells; base += 32) {
        const uint32_t i = base + lane, from = lane_of(first, i), before = __shfl_sync(TSR_WARP_ALL, first, (int)from),
                       mask = __shfl_sync(TSR_WARP_ALL, active, (int)from);
        uint32_t count = 0, entry = 0, total;
        if (i < cells) {
            const tsr_word_reach *reach = &l->reach[from];
            const uint32_t bit = bit_of(mask, i - before), code = tsr_cell_case(&g, reach->side, (int32_t)bit);
            count = triangles_of(g, reach, (int32_t)bit, code, &tables);
            entry = from << 17 | code << 9 | bit << 4;
        }
        const uint32_t to = warp_before(count, lane, &total);
        for (uint32_t k = 0; k < count; k++) l->triangle[to + k] = entry | k;
        __syncwarp();
        for (uint32_t j = lane; j < total; j += 32) {
            const uint32_t one = l->triangle[j], code = one >> 9 & 255u;
            const int32_t bit = (int32_t)(one >> 4 & 31u);
            const tsr_word_reach *reach = &l->reach[one >> 17];
            const uint8_t *edges = tables.edges[code];
            if (g.decide) {
                tsr_word_place p;
                tsr_word_locate(&g, reach->word, &p);
                edges = tsr_cell_filled(&g, &p, bit, code, &tables).edges;
            }
            tsr_reach_triangle(&g, reach, bit, edges + 3 * (one & 15u), out.triangles + 3 * (int64_t)(number + done + j));
        }
        __syncwarp();
        done += total;
    }
    return done;
}

/* All of one block of words, by a warp: `busy` words have a bit in mask. */
TSR_DEVICE_FN void emit_block(const tsr_surface_grid &g, const tsr_surface_output &out, int64_t first, const uint32_t *mask, uint32_t busy,
                              uint32_t vertex, uint64_t triangle, uint32_t lane, emit_lists *l)
{
    for (uint32_t done = 0; done < busy; done += 32) {
        emit_work work;
        emit_load(g, first, mask, done + lane, busy, lane, l, &work);
        vertex += emit_vertices(g, out, work.cut, lane, l, vertex);
        triangle += emit_triangles(g, out, work.active, lane, l, triangle);
    }
}

enum { EMIT_VERTICES = 1, EMIT_TRIANGLES = 2, EMIT_BOTH = 3 };
/* Words `from` to `end` of the list (at most 32), by a warp: what `parts` names of them. */
TSR_DEVICE_FN void emit_words(const tsr_surface_grid &g, const tsr_surface_output &out, int64_t from, int64_t end, uint32_t active, uint32_t parts,
                              uint32_t lane, emit_lists *l)
{
    const emit_turn turn = emit_find(g, from, end, active, lane);
    emit_work work = { { 0, 0, 0, 0 }, 0 };
    if (turn.word >= 0) {
        tsr_word_reach *reach = &l->reach[lane];
        tsr_word_place p;
        tsr_word_locate(&g, turn.word, &p);
        if (g.tiled) tsr_reach_load(&g, &p, reach);
        else if (parts == EMIT_VERTICES) tsr_reach_load_own(&g, &p, reach);
        else tsr_reach_load_dense(&g, &p, reach);
        work.cut = reach->row[0];
        if (parts != EMIT_VERTICES) work.active = (uint32_t)tsr_cells_active(&g, &p, reach->side);
    }
    __syncwarp();
    if (parts != EMIT_TRIANGLES) emit_vertices(g, out, work.cut, lane, l, turn.vertex);
    if (parts != EMIT_VERTICES) emit_triangles(g, out, work.active, lane, l, turn.triangle);
    __syncwarp();
}

#endif
