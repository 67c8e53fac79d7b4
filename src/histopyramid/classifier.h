/* histopyramid/classifier.h: classifiers made ready by the host for the backends. */
#ifndef TSR_HISTOPYRAMID_CLASSIFIER_H
#define TSR_HISTOPYRAMID_CLASSIFIER_H

#include "volume/volume.h"
#include "histopyramid/classify.h"

tsr_status tsr_classifier_check(const char *what, tsr_pyramid_classifier kind, double lower, double upper);
/* The largest multiplicity that a classifier gives; `most`: of COUNTS. */
uint32_t tsr_classifier_most(tsr_pyramid_classifier kind, int32_t most);
/* BORROWS the volume, a stack of `batch` along z; arguments are checked before. TSR_ERROR_ARGUMENT for counts that are not integers. */
tsr_status tsr_classifier_make(const char *what, tsr_pyramid_classifier kind, double lower, double upper, const tsr_volume *volume, int64_t batch,
                               tsr_classifier *classifier);

#endif
