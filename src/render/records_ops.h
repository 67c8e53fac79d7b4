/* render/records_ops.h: what a backend provides for surface records. All pointers in the jobs are device memory of the queue. */
#ifndef TSR_RENDER_RECORDS_OPS_H
#define TSR_RENDER_RECORDS_OPS_H

#include "device/backend.h"
#include "render/records.h"
#include "render/render_ops.h"

typedef struct tsr_records_ops {
    tsr_status (*count)(tsr_queue *queue, const tsr_records_job *job);    /* counts of the tiles */
    tsr_status (*extract)(tsr_queue *queue, const tsr_records_job *job);  /* the records, by the places */
    tsr_status (*settle)(tsr_queue *queue, const tsr_records_some *some); /* empties the gaps, sets the runs */
    tsr_status (*expand_count)(tsr_queue *queue, const tsr_records_expand *job);
    tsr_status (*expand)(tsr_queue *queue, const tsr_records_expand *job);
    tsr_status (*splat)(tsr_queue *queue, const tsr_records_draw_job *job); /* hits of the layer at hand, which are TSR_RECORD_NO_HIT before */
    tsr_status (*clear)(tsr_queue *queue, const tsr_records_draw_job *job); /* no hits in the window of the layer at hand */
    /* Rows of the window, counted in the picture. */
    tsr_status (*draw)(tsr_queue *queue, const tsr_records_draw_job *job, const tsr_transfer_linear *transfer, int32_t row_begin, int32_t row_end,
                       float *rgba, float *depth);
} tsr_records_ops;

#endif
