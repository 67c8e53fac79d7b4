/* region/region_ops.h: what a backend provides for region trees. All pointers are device memory of the queue. */
#ifndef TSR_REGION_REGION_OPS_H
#define TSR_REGION_REGION_OPS_H

#include "device/backend.h"
#include "region/region_query.h"
#include "region/region_rule.h"

typedef struct tsr_region_paint_job {
    tsr_region_view view;
    const float *values; /* NULL: 1 */
    float background;
    tsr_dtype dtype;
    void *data;
} tsr_region_paint_job;

typedef struct tsr_region_ops {
    tsr_status (*build)(tsr_queue *queue, const tsr_regions *regions, const tsr_region_rule *rule);
    tsr_status (*list)(tsr_queue *queue, const tsr_regions *regions, const tsr_region_rule *rule,
                       const tsr_region_lists *lists); /* rule: of the build */
    tsr_status (*find)(tsr_queue *queue, const tsr_region_view *view, int linear, const int32_t *positions, int64_t count, tsr_region_hit *hits);
    tsr_status (*trace)(tsr_queue *queue, const tsr_region_view *view, const tsr_region_ray *rays, int64_t count, int32_t room, int32_t mode,
                        tsr_region_span *spans, int32_t *found);
    tsr_status (*enter)(tsr_queue *queue, const tsr_region_view *view, int32_t cap, tsr_region_entry *table);
    tsr_status (*neighbours)(tsr_queue *queue, const tsr_region_view *view, int32_t *neighbours);
    tsr_status (*means)(tsr_queue *queue, const tsr_region_view *view, const tsr_classifier *source, float *means);
    tsr_status (*statistics)(tsr_queue *queue, const tsr_region_view *view, const tsr_classifier *source, tsr_region_statistics *statistics);
    tsr_status (*paint)(tsr_queue *queue, const tsr_region_paint_job *job);
    const struct tsr_triangle_ops *triangle; /* octrees of triangles: triangle_ops.h */
} tsr_region_ops;

/* Voxel i of the painted volume. */
TSR_HD void tsr_region_paint_voxel(const tsr_region_paint_job *job, int64_t i)
{
    const int64_t *n = job->view.size;
    const int32_t at[3] = { (int32_t)(i % n[0]), (int32_t)(i / n[0] % n[1]), (int32_t)(i / n[0] / n[1]) };
    const tsr_region_hit hit = tsr_region_find(&job->view, at);
    tsr_voxel_store(job->data, job->dtype, i, hit.leaf < 0 ? (double)job->background : job->values ? (double)job->values[hit.leaf] : 1.0);
}

#endif
