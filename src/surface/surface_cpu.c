#include "core/parallel.h"
#include "surface/surface_isa.h"
#include "surface/surface_ops.h"

struct work {
    const tsr_surface_grid *grid;
    const tsr_surface_output *output;
    int64_t not_a_number[256]; /* per worker: integer sums, so the partition does not matter */
    int torn[256];
};

static void rows(void *user, int64_t begin, int64_t end, int worker)
{
    struct work *w = (struct work *)user;
    w->not_a_number[worker & 255] += w->grid->tiled ? TSR_ISA_SELECT(tsr_surface_tile_rows)(w->grid, begin, end)
                                                    : TSR_ISA_SELECT(tsr_surface_rows)(w->grid, begin, end);
}

static void count_blocks(void *user, int64_t begin, int64_t end, int worker)
{
    struct work *w = (struct work *)user;
    if (w->grid->tiled) w->torn[worker & 255] |= TSR_ISA_SELECT(tsr_surface_count_tiles)(w->grid, begin, end);
    else TSR_ISA_SELECT(tsr_surface_count_dense)(w->grid, begin, end);
}

static void emit_blocks(void *user, int64_t begin, int64_t end, int worker)
{
    const struct work *w = (const struct work *)user;
    (void)worker;
    if (w->grid->tiled) TSR_ISA_SELECT(tsr_surface_emit_tiles)(w->grid, w->output, begin, end);
    else TSR_ISA_SELECT(tsr_surface_emit_dense)(w->grid, w->output, begin, end);
}

static tsr_status cpu_count(tsr_queue *queue, const tsr_surface_grid *g)
{
    struct work w = { .grid = g };
    int threads = queue->threads < 256 ? queue->threads : 256;
    tsr_surface_totals totals = { 0 };
    if (g->tiled) {
        for (int64_t tile = 0; tile < g->words >> 2 * g->log2_edge; tile++) g->slot_of[g->ids[tile]] = (uint32_t)tile;
        tsr_parallel(threads, g->words, 4096, rows, &w);
    } else {
        tsr_parallel(threads, g->size[1] * g->size[2], 64, rows, &w);
    }
    tsr_parallel(threads, g->blocks, 16, count_blocks, &w);
    for (int k = 0; k < threads; k++) {
        totals.not_a_number += (uint64_t)w.not_a_number[k];
        totals.torn |= (uint32_t)w.torn[k];
    }
    for (int64_t block = 0; block < g->blocks; block++) {
        uint32_t sum = g->block_sum[block];
        g->block_vertex[block] = (uint32_t)totals.vertices;
        g->block_triangle[block] = totals.triangles;
        totals.vertices += sum & 0xffff;
        totals.triangles += sum >> 16;
        if (sum) g->active[totals.active_blocks++] = (uint32_t)block;
    }
    *g->totals = totals;
    return TSR_OK;
}

static tsr_status cpu_emit(tsr_queue *queue, const tsr_surface_grid *g, const tsr_surface_output *output)
{
    struct work w = { .grid = g, .output = output };
    tsr_parallel(queue->threads, output->active_blocks, 4, emit_blocks, &w);
    return TSR_OK;
}

const tsr_surface_ops tsr_surface_cpu = { .count = cpu_count, .emit = cpu_emit };
