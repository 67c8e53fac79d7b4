/* vision/features.h: the inside of feature clustering. */
#ifndef TSR_VISION_FEATURES_H
#define TSR_VISION_FEATURES_H

#include "vision/features_ops.h"

struct tsr_features {
    tsr_context *context;
    tsr_features_options options;
    tsr_lens lens;
    tsr_features_job job; /* frame.data and previous are of the call */
    int32_t detected;
    void *memory;
    int64_t bytes;
};

/* Checks and makes ready; `where` begins the message. */
tsr_status tsr_feature_test_make(const char *where, const tsr_feature_filter *filter, tsr_feature_test *test);
/* The job of a call: its frames checked. */
tsr_status tsr_features_prepare(const tsr_features *features, const tsr_volume *frames, const tsr_volume *previous, tsr_features_job *job);
tsr_feature tsr_feature_of(const tsr_blob *blob);

#endif
