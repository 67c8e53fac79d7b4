/* vision/depth/fusion.h: the inside of a fusion. */
#ifndef TSR_VISION_FUSION_H
#define TSR_VISION_FUSION_H

#include "camera/camera.h"
#include "tessera/fusion.h"
#include "vision/depth/depth_work.h"
#include "vision/depth/fusion_ops.h"

struct tsr_fusion {
    tsr_context *context;
    tsr_fusion_options o;
    tsr_fusion_table table;
    float *pool;
    int64_t capacity; /* bricks the pool has room for */
    int64_t bricks, maps, touched;
    int colored;
};

/* Bricks on the host, sorted by key. */
typedef struct tsr_fusion_bricks {
    int64_t count;
    uint64_t *keys;
    float *parts; /* [count][TSR_FUSION_PARTS][TSR_FUSION_VOXELS] */
} tsr_fusion_bricks;
tsr_status tsr_fusion_download(tsr_fusion *fusion, tsr_fusion_bricks *bricks) TSR_CHECKED;
void tsr_fusion_bricks_free(tsr_fusion_bricks *bricks);
int64_t tsr_fusion_find(const tsr_fusion_bricks *bricks, const int32_t place[3]); /* -1: none */

#endif
