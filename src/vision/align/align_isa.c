#include "vision/align/align_isa.h"

uint32_t TSR_ISA_NAME(tsr_align_candidate_cost)(const tsr_align_job *job, const tsr_align_candidate *candidate)
{
    enum { BLOCK = 64 };
    const tsr_align_candidate c = *candidate;
    const int32_t w = job->width, h = job->height;
    const int64_t n = job->samples;
    const float *s = job->sample;
    int32_t at[BLOCK];
    uint32_t sum = 0;
    for (int32_t begin = 0; begin < n; begin += BLOCK) {
        const int32_t count = n - begin < BLOCK ? (int32_t)(n - begin) : BLOCK;
        const float *p = s + begin;
        for (int32_t i = 0; i < count; i++) at[i] = tsr_align_place(&c, w, h, p[i], p[n + i], p[2 * n + i], p[3 * n + i], p[4 * n + i], p[5 * n + i]);
        for (int32_t i = 0; i < count; i++) sum += at[i] < 0 ? (uint32_t)TSR_ALIGN_OUTSIDE : job->distance[at[i]];
    }
    return sum;
}
