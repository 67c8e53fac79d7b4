/* vision/textures/multiview_model.h: what a model is inside. */
#ifndef TSR_VISION_TEXTURES_MULTIVIEW_MODEL_H
#define TSR_VISION_TEXTURES_MULTIVIEW_MODEL_H

#include "core/core.h"
#include "tessera/multiview_model.h"

struct tsr_multiview_model {
    tsr_multiview_parts parts; /* its arrays are the model's own */
    tsr_box *box;           /* [steps] of the positions */
};

/* Sizes within their limits, in words for `what` ("model", a file); TSR_ERROR_ARGUMENT or `code`. */
tsr_status tsr_multiview_check_sizes(const char *what, tsr_status code, const tsr_multiview_parts *parts) TSR_CHECKED;
/* The rules with their defaults; TSR_ERROR_ARGUMENT for those out of range. */
tsr_status tsr_mask_rules_take(const char *what, const tsr_mask_rules *rules, tsr_mask_rules *taken) TSR_CHECKED;
/* A model with room for parts of these sizes, content undefined; boxes are not made. */
tsr_status tsr_multiview_model_allocate(const tsr_multiview_parts *parts, tsr_multiview_model **model) TSR_CHECKED;
/* Checks all of a model that has been filled, in words for `what`, and makes its boxes. */
tsr_status tsr_multiview_model_complete(const char *what, tsr_status code, tsr_multiview_model *model) TSR_CHECKED;

#endif
