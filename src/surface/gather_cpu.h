/* surface/gather_cpu.h: triangles without an index (gather.c) on the CPU; part of surface_cpu.c. */
#ifndef TSR_SURFACE_GATHER_CPU_H
#define TSR_SURFACE_GATHER_CPU_H

#include "core/parallel.h"
#include "device/backend.h"
#include "surface/decider_table.h"
#include "surface/gather.h"

static const tsr_case_tables gather_tables = TSR_CASE_TABLES;

/* Rows of cells; most words have none. */
static void gather_count(void *user, int64_t begin, int64_t end, int worker)
{
    const tsr_gather_job *job = (const tsr_gather_job *)user;
    const tsr_surface_grid *g = job->grid;
    const int64_t along = g->size[0] - 1;
    (void)worker;
    for (int64_t row = begin; row < end; row++)
        for (int64_t x = 0; x < along; x += 32) {
            const int64_t first = row * along + x, n = tsr_minl(32, along - x);
            tsr_word_place p;
            int32_t bit;
            tsr_gather_place(g, first, &p, &bit);
            const uint64_t side[4] = { tsr_word_row(g, &p, 0, 0), tsr_word_row(g, &p, 1, 0), tsr_word_row(g, &p, 0, 1), tsr_word_row(g, &p, 1, 1) };
            memset(job->counts + first, 0, (size_t)n);
            for (uint64_t m = tsr_cells_active(g, &p, side); m; m &= m - 1) tsr_gather_count(job, first + tsr_bits_first(m), &gather_tables);
        }
}
static void gather_listed(void *user, int64_t begin, int64_t end, int worker)
{
    const tsr_gather_job *job = (const tsr_gather_job *)user;
    (void)worker;
    for (int64_t n = begin; n < end; n++) job->listed_counts[n] = job->counts[job->list[n]];
}
static void gather_vertices(void *user, int64_t begin, int64_t end, int worker)
{
    (void)worker;
    for (int64_t k = begin; k < end; k++) tsr_gather_vertex((const tsr_gather_job *)user, k, &gather_tables);
}
static void gather_triangles(void *user, int64_t begin, int64_t end, int worker)
{
    (void)worker;
    for (int64_t k = begin; k < end; k++) tsr_gather_one((const tsr_gather_job *)user, k, &gather_tables);
}
static void gather_cells(void *user, int64_t begin, int64_t end, int worker)
{
    const tsr_gather_job *job = (const tsr_gather_job *)user;
    (void)worker;
    for (int64_t n = begin; n < end; n++) tsr_gather_cell(job, (int64_t)job->list[n], job->listed_counts[n], (int64_t)job->starts[n], &gather_tables);
}
static void scatter_cells(void *user, int64_t begin, int64_t end, int worker)
{
    const tsr_gather_job *job = (const tsr_gather_job *)user;
    (void)worker;
    for (int64_t n = begin; n < end; n++)
        if (job->counts[n]) tsr_gather_cell(job, n, job->counts[n], (int64_t)job->starts[n], &gather_tables);
}

static tsr_status cpu_gather_count(tsr_queue *queue, const tsr_gather_job *job)
{
    tsr_gather_job own = *job;
    tsr_parallel(queue->threads, (job->grid->size[1] - 1) * (job->grid->size[2] - 1), 64, gather_count, &own);
    return TSR_OK;
}
static tsr_status cpu_gather_listed(tsr_queue *queue, const tsr_gather_job *job)
{
    tsr_gather_job own = *job;
    tsr_parallel(queue->threads, job->listed, 1 << 14, gather_listed, &own);
    return TSR_OK;
}
static tsr_status cpu_gather_write(tsr_queue *queue, const tsr_gather_job *job)
{
    tsr_gather_job own = *job;
    switch (job->gather) {
    case TSR_SURFACE_GATHER_VERTEX: tsr_parallel(queue->threads, 3 * job->triangles, 1 << 12, gather_vertices, &own); break;
    case TSR_SURFACE_GATHER_CELL: tsr_parallel(queue->threads, job->listed, 1 << 11, gather_cells, &own); break;
    case TSR_SURFACE_SCATTER: tsr_parallel(queue->threads, job->cells, 1 << 14, scatter_cells, &own); break;
    default: tsr_parallel(queue->threads, job->triangles, 1 << 11, gather_triangles, &own); break;
    }
    return TSR_OK;
}

#endif
