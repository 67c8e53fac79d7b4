/* mip/mip_ops.h: what a backend provides for maximum intensity projection. All pointers but the struct arguments are device memory of the queue. */
#ifndef TSR_MIP_MIP_OPS_H
#define TSR_MIP_MIP_OPS_H

#include "device/backend.h"
#include "mip/mip_pixels.h"
#include "mip/mip_ray.h"

typedef struct tsr_mip_ops {
    /* the image grows by the selected coefficients of the job's levels */
    tsr_status (*draw)(tsr_queue *queue, const tsr_mip_job *job);
    /* own = max(own, expansion of the level picture above) */
    tsr_status (*expand)(tsr_queue *queue, const uint32_t *above, int32_t above_width, int32_t above_height, const tsr_mip_offsets *element,
                         uint32_t *own, int32_t width, int32_t height);
    /* `dilated` is memory for the closing, or the finish's is NULL */
    tsr_status (*finish)(tsr_queue *queue, const tsr_mip_finish *finish, uint32_t *dilated);
    tsr_status (*combine)(tsr_queue *queue, uint32_t *image, const uint32_t *other, int64_t pixels); /* image = max(image, other) */
    tsr_status (*bricks)(tsr_queue *queue, const tsr_mip_rays *rays, uint16_t *most);
    tsr_status (*cast)(tsr_queue *queue, const tsr_mip_rays *rays);
} tsr_mip_ops;

#endif
