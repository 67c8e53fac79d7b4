#include "light/light_isa.h"

int64_t TSR_ISA_NAME(tsr_light_visit_range)(const tsr_light_wave *wave, int pass, int64_t step, int64_t begin, int64_t end, tsr_light_account *sums)
{
    int64_t all = 0;
    for (int64_t i = begin; i < end; i++) all += tsr_light_visit(wave, pass, step, i, sums);
    return all;
}

void TSR_ISA_NAME(tsr_light_grow_range)(const tsr_light_wave *wave, int64_t step, int64_t begin, int64_t end, int64_t to)
{
    for (int64_t i = begin; i < end; i++) {
        tsr_light_grow(wave, step, i, to);
        to += tsr_light_becomes(wave, i);
    }
}

void TSR_ISA_NAME(tsr_light_trace_range)(const tsr_light_tracing *job, int64_t begin, int64_t end)
{
    for (int64_t i = begin; i < end; i++) tsr_light_ray_run(job, i);
}

void TSR_ISA_NAME(tsr_light_view_range)(const tsr_light_seen *job, int64_t begin, int64_t end)
{
    for (int64_t i = begin; i < end; i++) tsr_light_pixel(job, i);
}

void TSR_ISA_NAME(tsr_light_tone_range)(const tsr_light_tones *job, int64_t begin, int64_t end)
{
    for (int64_t i = begin; i < end; i++) tsr_light_tone_pixel(job, i);
}
