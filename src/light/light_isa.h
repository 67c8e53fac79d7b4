/* light/light_isa.h: ranges of patches, rays and pixels, built once per SIMD variant. */
#ifndef TSR_LIGHT_LIGHT_ISA_H
#define TSR_LIGHT_LIGHT_ISA_H

#include "device/isa.h"
#include "light/light_ops.h"

/* Patches begin to end of the list of `step`; returns how many they become, adds to sums. */
TSR_ISA_DECLARE(int64_t, tsr_light_visit_range, const tsr_light_wave *wave, int pass, int64_t step, int64_t begin, int64_t end, tsr_light_account *sums)
/* They go to place `to` up to `last` of the next list. */
TSR_ISA_DECLARE(void, tsr_light_grow_range, const tsr_light_wave *wave, int64_t step, int64_t begin, int64_t end, int64_t to, int64_t last)
TSR_ISA_DECLARE(void, tsr_light_trace_range, const tsr_light_tracing *job, int64_t begin, int64_t end)
TSR_ISA_DECLARE(void, tsr_light_view_range, const tsr_light_seen *job, int64_t begin, int64_t end)
TSR_ISA_DECLARE(void, tsr_light_tone_range, const tsr_light_tones *job, int64_t begin, int64_t end)

#endif
