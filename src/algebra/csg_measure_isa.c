/* algebra/csg_measure_isa.c, compiled once per SIMD variant: what the voxels of a row have of a surface. */
#include "algebra/csg_tiles_cpu.h"

/* Constant: `width`, that of the gauge. */
TSR_INLINE void measure_row(const tsr_csg_gauge *m, float width, const float *v, int32_t sy, int32_t sz, uint32_t crossed, double *TSR_RESTRICT inside,
                            double *TSR_RESTRICT area, double *TSR_RESTRICT curved)
{
    const tsr_csg_gauge own = *m;
#pragma omp simd
    for (int32_t x = 0; x < TSR_CSG_ROW; x++) {
        const tsr_csg_share s = tsr_csg_measure_near(&own, width, v + x, sy, sz, (int32_t)(crossed >> x & 1u));
        inside[x] = s.inside;
        area[x] = s.area;
        curved[x] = s.curved;
    }
}

void TSR_ISA_NAME(tsr_csg_measure_row)(const tsr_csg_gauge *m, const float *v, int32_t sy, int32_t sz, uint32_t crossed, double *inside, double *area,
                                       double *curved)
{
    if (m->width >= 2.0f) measure_row(m, 2.0f, v, sy, sz, crossed, inside, area, curved);
    else if (m->width >= 1.5f) measure_row(m, 1.5f, v, sy, sz, crossed, inside, area, curved);
    else measure_row(m, m->width, v, sy, sz, crossed, inside, area, curved);
}
