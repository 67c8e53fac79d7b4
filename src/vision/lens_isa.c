#include "vision/lens_isa.h"

void TSR_ISA_NAME(tsr_warp_range)(const tsr_warp_job *job, int64_t begin, int64_t end)
{
    for (int64_t i = begin; i < end; i++) tsr_warp_pixel(job, i);
}

enum { WIDE = TSR_VOTES_WIDE + 2 * TSR_LENS_REACH, HIGH = TSR_VOTES_HIGH + 2 * TSR_LENS_REACH };

void TSR_ISA_NAME(tsr_votes_tile)(const tsr_votes_job *job, const tsr_lens_map *map, int32_t x0, int32_t y0, uint32_t *histogram)
{
    const tsr_lens_votes *v = job->votes;
    float value[HIGH][WIDE], smooth[HIGH][TSR_VOTES_WIDE], slope[HIGH][TSR_VOTES_WIDE];
    uint8_t known[HIGH][WIDE], row_known[HIGH][TSR_VOTES_WIDE];
    for (int32_t y = 0; y < HIGH; y++)
        for (int32_t x = 0; x < WIDE; x++)
            known[y][x] = (uint8_t)tsr_lens_sample(v, map, job->image, x0 + x - TSR_LENS_REACH, y0 + y - TSR_LENS_REACH, &value[y][x]);
    for (int32_t y = 0; y < HIGH; y++)
        for (int32_t x = 0; x < TSR_VOTES_WIDE; x++) {
            uint8_t all = 1;
            for (int32_t t = 0; t < TSR_LENS_TAPS; t++) all &= known[y][x + t];
            row_known[y][x] = all;
            smooth[y][x] = tsr_lens_taps(&value[y][x], 1, v->smooth);
            slope[y][x] = tsr_lens_taps(&value[y][x], 1, v->slope);
        }
    for (int32_t y = 0; y < TSR_VOTES_HIGH; y++)
        for (int32_t x = 0; x < TSR_VOTES_WIDE; x++) {
            uint8_t all = 1;
            for (int32_t t = 0; t < TSR_LENS_TAPS; t++) all &= row_known[y + t][x];
            if (all)
                tsr_lens_vote(v, tsr_lens_taps(&slope[y][x], TSR_VOTES_WIDE, v->smooth), tsr_lens_taps(&smooth[y][x], TSR_VOTES_WIDE, v->slope),
                              histogram);
        }
}
