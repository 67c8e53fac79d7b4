/* flow/flow_ops.h: what a backend provides for vector fields. All pointers of jobs are device memory of the queue. */
#ifndef TSR_FLOW_FLOW_OPS_H
#define TSR_FLOW_FLOW_OPS_H

#include "device/backend.h"
#include "flow/contours_math.h"
#include "flow/streamlines_math.h"
#include "flow/tubes_math.h"

typedef struct tsr_derive_job {
    tsr_field_grid grid;
    float *v, *w; /* those of the grid */
    int32_t quantity;
    double hand;
    float *volume;
} tsr_derive_job;

typedef struct tsr_flow_ops {
    tsr_status (*derive)(tsr_queue *queue, const tsr_derive_job *job);   /* w, curvature, |curl| of all samples */
    tsr_status (*moments)(tsr_queue *queue, const tsr_field_grid *grid, tsr_field_moments *slices);
    tsr_status (*quantity)(tsr_queue *queue, const tsr_derive_job *job); /* volume */
    tsr_status (*count)(tsr_queue *queue, const tsr_contour_job *job);   /* counts */
    tsr_status (*seeds)(tsr_queue *queue, const tsr_contour_job *job);
    tsr_status (*side)(tsr_queue *queue, const tsr_contour_job *job);    /* volume: S or T */
    tsr_status (*trace)(tsr_queue *queue, const tsr_stream_job *job);
    tsr_status (*totals)(tsr_queue *queue, const int32_t *points, int64_t lines, uint32_t *totals); /* points of each line */
    tsr_status (*lines)(tsr_queue *queue, const tsr_lines_job *job);
    tsr_status (*values)(tsr_queue *queue, const tsr_values_job *job);
    tsr_status (*lengths)(tsr_queue *queue, const tsr_values_job *job);  /* values: arc lengths */
    tsr_status (*frames)(tsr_queue *queue, const tsr_tube_job *job);
    tsr_status (*tubes)(tsr_queue *queue, const tsr_tube_job *job);
    tsr_status (*ftle)(tsr_queue *queue, const tsr_ftle_job *job);
} tsr_flow_ops;

TSR_HD void tsr_flow_unrank(const tsr_field_grid *g, int64_t i, int32_t at[3])
{
    at[0] = (int32_t)(i % g->n[0]);
    at[1] = (int32_t)(i / g->n[0] % g->n[1]);
    at[2] = (int32_t)(i / g->n[0] / g->n[1]);
}
TSR_HD int64_t tsr_flow_samples(const tsr_field_grid *g) { return (int64_t)g->n[0] * g->n[1] * g->n[2]; }

TSR_HD void tsr_derive_sample(const tsr_derive_job *j, int64_t i)
{
    int32_t at[3];
    tsr_flow_unrank(&j->grid, i, at);
    tsr_field_derive_one(&j->grid, at, j->w + 4 * i, j->v + 4 * i + 3);
}
TSR_HD void tsr_quantity_sample(const tsr_derive_job *j, int64_t i)
{
    int32_t at[3];
    tsr_flow_unrank(&j->grid, i, at);
    j->volume[i] = tsr_field_quantity_one(&j->grid, j->quantity, at, j->hand);
}
TSR_HD void tsr_ftle_sample(const tsr_ftle_job *j, int64_t i)
{
    int32_t at[3];
    tsr_flow_unrank(&j->grid, i, at);
    tsr_ftle_one(j, at);
}

#endif
