/* surface/tetrahedra_cpu.h: marching tetrahedra (tetrahedra.c) on the CPU; part of surface_cpu.c. */
#ifndef TSR_SURFACE_TETRAHEDRA_CPU_H
#define TSR_SURFACE_TETRAHEDRA_CPU_H

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
    (void)worker;
    for (int64_t k = begin; k < end; k++) tsr_tetra_vertex((const tsr_tetra_job *)user, k);
}
static void tetra_triangles(void *user, int64_t begin, int64_t end, int worker)
{
    (void)worker;
    for (int64_t k = begin; k < end; k++) tsr_tetra_triangle((const tsr_tetra_job *)user, k);
}

static tsr_status cpu_tetra_count(tsr_queue *queue, const tsr_tetra_job *job)
{
    tsr_tetra_job own = *job;
    for (int64_t p = 0; p < job->points; p++) *job->not_a_number += !(job->value[p] == job->value[p]);
    tsr_parallel(queue->threads, job->edges, 1 << 14, tetra_edges, &own);
    tsr_parallel(queue->threads, job->tetrahedra, 1 << 13, tetra_counts, &own);
    return TSR_OK;
}
static tsr_status cpu_tetra_write(tsr_queue *queue, const tsr_tetra_job *job)
{
    tsr_tetra_job own = *job;
    tsr_parallel(queue->threads, job->vertices, 1 << 12, tetra_vertices, &own);
    tsr_parallel(queue->threads, job->triangles, 1 << 11, tetra_triangles, &own);
    return TSR_OK;
}

#endif
