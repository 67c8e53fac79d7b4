/* surface/tetrahedra_cpu.h: marching tetrahedra (tetrahedra.c) on the CPU; part of surface_cpu.c. */
#ifndef TSR_SURFACE_TETRAHEDRA_CPU_H
#define TSR_SURFACE_TETRAHEDRA_CPU_H

#include <string.h>

#include "core/parallel.h"
#include "device/backend.h"
#include "surface/tetrahedra.h"

static void tetra_edges(void *user, int64_t begin, int64_t end, int worker)
{
    (void)worker;
    for (int64_t e = begin; e < end; e++) tsr_tetra_count_edge((const tsr_tetra_job *)user, e);
}
static void tetra_counts(void *user, int64_t begin, int64_t end, int worker)
{
    (void)worker;
    for (int64_t t = begin; t < end; t++) tsr_tetra_count((const tsr_tetra_job *)user, t);
}
static void tetra_vertices(void *user, int64_t begin, int64_t end, int worker)
{
    const tsr_tetra_job *j = (const tsr_tetra_job *)user;
    int64_t k = (int64_t)tsr_tree_rank(j->edge_tree, j->edge_classes, begin);
    (void)worker;
    for (int64_t e = begin; e < end; e++)
        if (j->cut_edges[e]) tsr_tetra_vertex(j, k++, e);
}
static void tetra_triangles(void *user, int64_t begin, int64_t end, int worker)
{
    const tsr_tetra_job *j = (const tsr_tetra_job *)user;
    int64_t k = (int64_t)tsr_tree_rank(j->tree, j->classes, begin);
    (void)worker;
    for (int64_t t = begin; t < end; t++) {
        uint64_t eight;
        if (t + 8 <= end && (memcpy(&eight, j->counts + t, sizeof eight), eight == 0)) {
            t += 7;
            continue;
        }
        for (uint32_t copy = 0; copy < j->counts[t]; copy++) tsr_tetra_triangle(j, k++, t, copy);
    }
}

static tsr_status cpu_tetra_count(tsr_queue *queue, const tsr_tetra_job *job)
{
    tsr_tetra_job own = *job;
    for (int64_t p = 0; p < job->points; p++) *job->not_a_number += (uint64_t)tsr_tetra_side(job, p);
    tsr_parallel(queue->threads, job->edges, 1 << 14, tetra_edges, &own);
    tsr_parallel(queue->threads, job->tetrahedra, 1 << 13, tetra_counts, &own);
    return TSR_OK;
}
static tsr_status cpu_tetra_write(tsr_queue *queue, const tsr_tetra_job *job)
{
    tsr_tetra_job own = *job;
    tsr_parallel(queue->threads, job->edges, 1 << 14, tetra_vertices, &own);
    tsr_parallel(queue->threads, job->tetrahedra, 1 << 13, tetra_triangles, &own);
    return TSR_OK;
}

#endif
