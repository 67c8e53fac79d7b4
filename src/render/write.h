/* render/write.h: puts a pixel into a picture. */
#ifndef TSR_RENDER_WRITE_H
#define TSR_RENDER_WRITE_H

#include "render/pixel.h"

TSR_HD void tsr_pixel_store(const tsr_pixel *p, float *rgba, float *depth, int64_t at)
{
    rgba[4 * at] = p->r;
    rgba[4 * at + 1] = p->g;
    rgba[4 * at + 2] = p->b;
    rgba[4 * at + 3] = p->a;
    depth[at] = p->depth < TSR_FLOAT_BIG ? p->depth : tsr_bits_float(0x7f800000u);
}

#endif
