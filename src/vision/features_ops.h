/* vision/features_ops.h: what a backend provides for feature clustering. All pointers are device memory of the queue. */
#ifndef TSR_VISION_FEATURES_OPS_H
#define TSR_VISION_FEATURES_OPS_H

#include "device/backend.h"
#include "vision/filter.h"
#include "vision/feature_region.h"

/* Tiles of 64 x 64 pixels become one cell each (stage 0), 32 x 32 cells of a stage one of the next, up to a single one. */
enum { TSR_FEATURES_STAGES = 6, TSR_FEATURES_JOIN = 32 };

typedef struct tsr_features_job {
    tsr_frame_view frame; /* of image 0 */
    tsr_feature_test test[TSR_FEATURES_MOST];
    int32_t tests, images, keep, stages;
    tsr_blob_rule rule;
    int32_t columns[TSR_FEATURES_STAGES], rows[TSR_FEATURES_STAGES];
    tsr_blob *cells[TSR_FEATURES_STAGES]; /* [images][tests][rows][columns][keep]; the last is the result */
} tsr_features_job;

TSR_HD tsr_blob *tsr_features_cell(const tsr_features_job *j, int32_t stage, int32_t image, int32_t test, int32_t row, int32_t column)
{
    return j->cells[stage] + ((((int64_t)image * j->tests + test) * j->rows[stage] + row) * j->columns[stage] + column) * j->keep;
}
TSR_HD tsr_frame_view tsr_features_view(const tsr_features_job *j, int32_t image)
{
    tsr_frame_view v = j->frame;
    v.data += image * v.image;
    if (v.previous) v.previous += image * v.image;
    return v;
}

typedef struct tsr_features_ops {
    tsr_status (*detect)(tsr_queue *queue, const tsr_features_job *job);
    /* mask[images][height][width] of test `index` */
    tsr_status (*mask)(tsr_queue *queue, const tsr_features_job *job, int32_t index, uint8_t *mask);
    /* blobs[label - 1] of the `count` labels of one image of width x height, 0: none */
    tsr_status (*measure)(tsr_queue *queue, const uint32_t *labels, int32_t width, int32_t height, tsr_blob *blobs, int64_t count);
} tsr_features_ops;

#endif
