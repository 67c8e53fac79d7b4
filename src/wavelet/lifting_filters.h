/* wavelet/lifting_filters.h: filters made ready for the loops. */
#ifndef TSR_WAVELET_LIFTING_FILTERS_H
#define TSR_WAVELET_LIFTING_FILTERS_H

#include "core/core.h"
#include "wavelet/lifting.h"

/* Checks custom steps, for samples of `dtype` raised by `shift` bits: TSR_ERROR_ARGUMENT names the step and the field. */
tsr_status tsr_lift_check(const tsr_wavelet_step *steps, int32_t count, tsr_dtype dtype, int32_t shift);
void tsr_lift_prepare(const tsr_wavelet_step *steps, int32_t count, tsr_lift_filter *forward, tsr_lift_filter *inverse);
/* Accuracy bits per level as Dirac defines them. */
int32_t tsr_lift_dirac_bits(tsr_wavelet_filter filter);
double tsr_lift_norm(const tsr_wavelet_step *steps, int32_t count, int32_t level, int high);

#endif
