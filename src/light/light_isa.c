#include "light/light_isa.h"
#include "light/view_lanes.h"
#include "light/wave_lanes.h"

int64_t TSR_ISA_NAME(tsr_light_visit_range)(const tsr_light_wave *wave, int pass, int64_t step, int64_t begin, int64_t end, tsr_light_account *sums)
{
    int64_t all = 0, i = begin;
    if (pass == TSR_LIGHT_PASS_STEP)
        for (; i + LANES <= end; i += LANES) all += lanes_visit(wave, step, i, sums);
    for (; i < end; i++) all += tsr_light_visit(wave, pass, step, i, sums, NULL);
    return all;
}

/* Runs of patches that stay as they are go many at a time, where none is written behind the end of what these become. */
void TSR_ISA_NAME(tsr_light_grow_range)(const tsr_light_wave *wave, int64_t step, int64_t begin, int64_t end, int64_t to, int64_t last)
{
    for (int64_t i = begin; i < end;) {
        int count = 0;
        while (count < LANES && i + count < end && wave->fate[i + count] == TSR_LIGHT_KEEP) count++;
        if (!wave->sums && count > 2 && i + LANES <= end && to + LANES <= last) {
            lanes_keep(wave, step, i, to, count);
            to += count;
            i += count;
            continue;
        }
        const int64_t upto = count ? i + count : i + 1;
        for (; i < upto; i++) {
            tsr_light_grow(wave, step, i, to);
            to += tsr_light_becomes(wave, i);
        }
    }
}

void TSR_ISA_NAME(tsr_light_trace_range)(const tsr_light_tracing *job, int64_t begin, int64_t end)
{
    for (int64_t i = begin; i < end; i++) tsr_light_ray_run(job, i);
}

void TSR_ISA_NAME(tsr_light_view_range)(const tsr_light_seen *job, int64_t begin, int64_t end)
{
    lanes_look(job, begin, end);
}

void TSR_ISA_NAME(tsr_light_tone_range)(const tsr_light_tones *job, int64_t begin, int64_t end)
{
    for (int64_t i = begin; i < end; i++) tsr_light_tone_pixel(job, i);
}
