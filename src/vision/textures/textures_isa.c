/* vision/textures/textures_isa.c */
#include "vision/textures/textures_isa.h"

void TSR_ISA_NAME(tsr_texture_make_faces)(const tsr_texture_job *job, int64_t begin, int64_t end)
{
    for (int64_t i = begin; i < end; i++) tsr_texture_make_face(job, (int32_t)(i / job->triangles), i % job->triangles);
}

void TSR_ISA_NAME(tsr_texture_draw_band)(const tsr_texture_job *job, int32_t c, int32_t from, int32_t to)
{
    for (int64_t i = 0; i < job->triangles; i++) tsr_texture_draw_depth(job, c, i, from, to, 0, 1);
}

void TSR_ISA_NAME(tsr_texture_make_rows)(const tsr_texture_job *job, int64_t begin, int64_t end)
{
    for (int64_t i = begin; i < end; i++)
        for (int32_t word = 0; word < job->words; word++) tsr_texture_word(job, (int32_t)(i / job->height), (int32_t)(i % job->height), word);
}
