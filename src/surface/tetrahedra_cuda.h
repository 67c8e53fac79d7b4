/* surface/tetrahedra_cuda.h: marching tetrahedra (tetrahedra.c); part of surface_cuda.cu. A thread per edge, tetrahedron, vertex or triangle. */
#ifndef TSR_SURFACE_TETRAHEDRA_CUDA_H
#define TSR_SURFACE_TETRAHEDRA_CUDA_H

#include "surface/emit_cuda.h"
#include "surface/tetrahedra.h"

/* What stands behind the pointers of a job travels with the launch. */
typedef struct tetra_args {
    tsr_tree edge_tree, tree;
    tsr_class_set edge_classes, classes;
    tsr_tetra_job job;
} tetra_args;
static tetra_args tetra_args_of(const tsr_tetra_job *job)
{
    tetra_args a;
    memset(&a, 0, sizeof a);
    a.edge_tree = *job->edge_tree;
    a.tree = *job->tree;
    a.edge_classes = *job->edge_classes;
    a.classes = *job->classes;
    a.job = *job;
    return a;
}
TSR_DEVICE_FN tsr_tetra_job tetra_job_of(const tetra_args &a)
{
    tsr_tetra_job job = a.job;
    job.edge_tree = &a.edge_tree;
    job.tree = &a.tree;
    job.edge_classes = &a.edge_classes;
    job.classes = &a.classes;
    return job;
}
enum { TETRA_THREADS = 256 };

TSR_KERNEL(tetra_side_kernel)(tsr_tetra_job job)
{
    const int64_t p = (int64_t)blockIdx.x * TETRA_THREADS + threadIdx.x;
    add_total(job.not_a_number, p < job.points && tsr_tetra_side(&job, p));
}
TSR_KERNEL(tetra_count_kernel)(tsr_tetra_job job)
{
    const int64_t k = (int64_t)blockIdx.x * TETRA_THREADS + threadIdx.x;
    if (k < job.edges) tsr_tetra_count_edge(&job, k);
    if (k < job.tetrahedra) tsr_tetra_count(&job, k);
}
TSR_KERNEL(tetra_vertex_kernel)(tetra_args a)
{
    const tsr_tetra_job job = tetra_job_of(a);
    const int64_t k = (int64_t)blockIdx.x * TETRA_THREADS + threadIdx.x;
    if (k < job.vertices) tsr_tetra_vertex(&job, k, tsr_tree_select(job.edge_tree, job.edge_classes, (uint64_t)k).voxel);
}
TSR_KERNEL(tetra_triangle_kernel)(tetra_args a)
{
    const tsr_tetra_job job = tetra_job_of(a);
    const int64_t k = (int64_t)blockIdx.x * TETRA_THREADS + threadIdx.x;
    if (k >= job.triangles) return;
    const tsr_pyramid_entry entry = tsr_tree_select(job.tree, job.classes, (uint64_t)k);
    tsr_tetra_triangle(&job, k, entry.voxel, (uint32_t)entry.copy);
}

static tsr_status cuda_tetra_count(tsr_queue *queue, const tsr_tetra_job *job)
{
    const int64_t most = tsr_maxl(job->edges, job->tetrahedra);
    TSR_LAUNCH(queue, tetra_side_kernel, tsr_blocks(job->points, TETRA_THREADS, INT32_MAX), TETRA_THREADS, 0, *job);
    TSR_LAUNCH(queue, tetra_count_kernel, tsr_blocks(most, TETRA_THREADS, INT32_MAX), TETRA_THREADS, 0, *job);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}
static tsr_status cuda_tetra_write(tsr_queue *queue, const tsr_tetra_job *job)
{
    const tetra_args a = tetra_args_of(job);
    TSR_LAUNCH(queue, tetra_vertex_kernel, tsr_blocks(job->vertices, TETRA_THREADS, INT32_MAX), TETRA_THREADS, 0, a);
    TSR_LAUNCH(queue, tetra_triangle_kernel, tsr_blocks(job->triangles, TETRA_THREADS, INT32_MAX), TETRA_THREADS, 0, a);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

#endif
