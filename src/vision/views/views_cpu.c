/* vision/views/views_cpu.c: samples and pixels in parallel; keys only become smaller, so that the order does not matter. */
#include "core/parallel.h"
#include "vision/views/views_ops.h"

#define OVER_RANGE(name, type, call)                                          \
    static void name(void *user, int64_t begin, int64_t end, int worker)      \
    {                                                                         \
        const type *j = (const type *)user;                                   \
        (void)worker;                                                         \
        for (int64_t i = begin; i < end; i++) call(j, i);                     \
    }
OVER_RANGE(place_vertices, tsr_view_job, tsr_view_place_vertex)
OVER_RANGE(draw_samples, tsr_view_job, tsr_view_draw)
OVER_RANGE(resolve_pixels, tsr_view_job, tsr_view_resolve)
OVER_RANGE(merge_pixels, tsr_merge_job, tsr_merge_pixel)
OVER_RANGE(texture_pixels, tsr_merge_job, tsr_texture_pixel)
OVER_RANGE(sweep_pixels, tsr_sweep_job, tsr_sweep_pixel)

static tsr_status cpu_project(tsr_queue *queue, const tsr_view_job *job)
{
    tsr_view_job own = *job;
    const int64_t samples = (int64_t)job->columns * job->rows, pixels = (int64_t)job->width * job->height;
    tsr_parallel(queue->threads, samples, 4096, place_vertices, &own);
    tsr_parallel(queue->threads, samples, 4096, draw_samples, &own);
    tsr_parallel(queue->threads, pixels, 4096, resolve_pixels, &own);
    return TSR_OK;
}
static tsr_status cpu_merge(tsr_queue *queue, const tsr_merge_job *job)
{
    tsr_merge_job own = *job;
    tsr_parallel(queue->threads, (int64_t)job->width * job->height, 4096, merge_pixels, &own);
    return TSR_OK;
}
static tsr_status cpu_texture(tsr_queue *queue, const tsr_merge_job *job)
{
    tsr_merge_job own = *job;
    tsr_parallel(queue->threads, (int64_t)job->width * job->height, 4096, texture_pixels, &own);
    return TSR_OK;
}
static tsr_status cpu_sweep(tsr_queue *queue, const tsr_sweep_job *job)
{
    tsr_sweep_job own = *job;
    tsr_parallel(queue->threads, (int64_t)job->width * job->height, 4096, sweep_pixels, &own);
    return TSR_OK;
}

const tsr_views_ops tsr_views_cpu = { .project = cpu_project, .merge = cpu_merge, .texture = cpu_texture, .sweep = cpu_sweep };
