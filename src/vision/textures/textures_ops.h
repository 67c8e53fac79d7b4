/* vision/textures/textures_ops.h: what a backend provides for textures. All pointers in jobs are device memory of the queue. */
#ifndef TSR_VISION_TEXTURES_TEXTURES_OPS_H
#define TSR_VISION_TEXTURES_TEXTURES_OPS_H

#include "device/backend.h"
#include "vision/textures/textures_draw.h"

typedef struct tsr_textures_ops {
    tsr_status (*shapes)(tsr_queue *queue, const tsr_texture_job *job); /* corners and faces of all cameras */
    tsr_status (*maps)(tsr_queue *queue, const tsr_texture_job *job);   /* depth maps, which are TSR_TEXTURE_NOTHING before; after shapes */
    tsr_status (*texels)(tsr_queue *queue, const tsr_texture_job *job); /* masks and colours; after maps */
    tsr_status (*gutter)(tsr_queue *queue, const tsr_gutter_job *job);
    tsr_status (*draw)(tsr_queue *queue, const tsr_texture_view *view); /* keys (TSR_KEY_NONE before) and colours; after shapes */
} tsr_textures_ops;

#endif
