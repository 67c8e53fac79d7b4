/* region/triangle_cuda.cu: pairs of cells and triangles, one a thread. */
#include "device/kernel.h"
#include "region/triangle_ops.h"

enum { THREADS = 256 };

TSR_DEVICE_FN int64_t own_index(void) { return (int64_t)blockIdx.x * THREADS + threadIdx.x; }
static uint32_t blocks_for(int64_t count) { return tsr_blocks(count, THREADS, INT32_MAX); }

TSR_KERNEL(look_kernel)(tsr_triangles mesh, uint8_t *states)
{
    const int64_t i = own_index();
    if (i < mesh.triangle_count) states[i] = tsr_triangle_look(&mesh, i);
}
TSR_KERNEL(split_kernel)(tsr_triangles mesh, tsr_triangle_pairs pairs)
{
    const int64_t i = own_index();
    if (i < pairs.count) tsr_triangle_split(&mesh, &pairs, i);
}
TSR_KERNEL(descend_kernel)
(tsr_triangle_pairs pairs, const tsr_pyramid_entry *entries, int64_t count, uint64_t *codes, uint32_t *triangles)
{
    const int64_t i = own_index();
    if (i < count) tsr_triangle_descend(&pairs, entries, codes, triangles, i);
}
TSR_KERNEL(heads_kernel)(const uint64_t *keys, int64_t count, uint8_t *heads)
{
    const int64_t i = own_index();
    if (i < count) heads[i] = tsr_triangle_head(keys, i);
}
TSR_KERNEL(surface_kernel)(tsr_surface_job job)
{
    const int64_t i = own_index();
    if (i < job.count) tsr_surface_point(&job, i);
}

static tsr_status cuda_look(tsr_queue *queue, const tsr_triangles *mesh, uint8_t *states)
{
    TSR_LAUNCH(queue, look_kernel, blocks_for(mesh->triangle_count), THREADS, 0, *mesh, states);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}
static tsr_status cuda_split(tsr_queue *queue, const tsr_triangles *mesh, const tsr_triangle_pairs *pairs)
{
    TSR_LAUNCH(queue, split_kernel, blocks_for(pairs->count), THREADS, 0, *mesh, *pairs);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}
static tsr_status cuda_descend(tsr_queue *queue, const tsr_triangle_pairs *pairs, const tsr_pyramid_entry *entries, int64_t count, uint64_t *codes,
                               uint32_t *triangles)
{
    TSR_LAUNCH(queue, descend_kernel, blocks_for(count), THREADS, 0, *pairs, entries, count, codes, triangles);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}
static tsr_status cuda_heads(tsr_queue *queue, const uint64_t *keys, int64_t count, uint8_t *heads)
{
    TSR_LAUNCH(queue, heads_kernel, blocks_for(count), THREADS, 0, keys, count, heads);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}
static tsr_status cuda_surface(tsr_queue *queue, const tsr_surface_job *job)
{
    TSR_LAUNCH(queue, surface_kernel, blocks_for(job->count), THREADS, 0, *job);
    TSR_TRY(tsr_launch_check(queue));
    return TSR_OK;
}

extern "C" const tsr_triangle_ops tsr_triangle_cuda = { cuda_look, cuda_split, cuda_descend, cuda_heads, cuda_surface };
