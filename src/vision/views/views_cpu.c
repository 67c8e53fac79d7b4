/* vision/views/views_cpu.c: rows of samples and of pixels in parallel; keys only become smaller, so that the order does not matter. */
#include "core/parallel.h"
#include "vision/views/views_isa.h"
#include "vision/views/views_ops.h"

#define OVER_RANGE(name, type, call)                                     \
    static void name(void *user, int64_t begin, int64_t end, int worker) \
    {                                                                    \
        (void)worker;                                                    \
        call((const type *)user, begin, end);                            \
    }
OVER_RANGE(place_vertices, tsr_view_job, TSR_ISA_SELECT(tsr_views_vertex_rows))
OVER_RANGE(draw_samples, tsr_view_job, TSR_ISA_SELECT(tsr_views_draw_rows))
OVER_RANGE(resolve_pixels, tsr_view_job, TSR_ISA_SELECT(tsr_views_resolve_rows))
OVER_RANGE(merge_pixels, tsr_merge_job, TSR_ISA_SELECT(tsr_views_merge_rows))
OVER_RANGE(texture_pixels, tsr_merge_job, TSR_ISA_SELECT(tsr_views_texture_rows))
OVER_RANGE(sweep_pixels, tsr_sweep_job, TSR_ISA_SELECT(tsr_views_sweep_rows))

enum { GRAIN = 8 /* rows */ };

static tsr_status cpu_project(tsr_queue *queue, const tsr_view_job *job)
{
    tsr_view_job own = *job;
    tsr_parallel(queue->threads, job->rows, GRAIN, place_vertices, &own);
    tsr_parallel(queue->threads, job->rows, GRAIN, draw_samples, &own);
    tsr_parallel(queue->threads, job->height, GRAIN, resolve_pixels, &own);
    return TSR_OK;
}
static tsr_status cpu_merge(tsr_queue *queue, const tsr_merge_job *job)
{
    tsr_merge_job own = *job;
    tsr_parallel(queue->threads, job->height, GRAIN, merge_pixels, &own);
    return TSR_OK;
}
static tsr_status cpu_texture(tsr_queue *queue, const tsr_merge_job *job)
{
    tsr_merge_job own = *job;
    tsr_parallel(queue->threads, job->height, GRAIN, texture_pixels, &own);
    return TSR_OK;
}
static tsr_status cpu_sweep(tsr_queue *queue, const tsr_sweep_job *job)
{
    tsr_sweep_job own = *job;
    tsr_parallel(queue->threads, job->height, GRAIN, sweep_pixels, &own);
    return TSR_OK;
}

const tsr_views_ops tsr_views_cpu = { .project = cpu_project, .merge = cpu_merge, .texture = cpu_texture, .sweep = cpu_sweep };
