/* render/write.h: puts pixels into a picture. */
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

/* A pixel of this pass into the picture: the mean of `pass` pictures becomes that of one more. */
TSR_HD void tsr_pixel_blend(const tsr_frame *frame, tsr_pixel *p, float *rgba, float *depth, int64_t at)
{
    if (frame->pass > 0) {
        float share = 1.0f / (float)(frame->pass + 1);
        p->r = rgba[4 * at] + (p->r - rgba[4 * at]) * share;
        p->g = rgba[4 * at + 1] + (p->g - rgba[4 * at + 1]) * share;
        p->b = rgba[4 * at + 2] + (p->b - rgba[4 * at + 2]) * share;
        p->a = rgba[4 * at + 3] + (p->a - rgba[4 * at + 3]) * share;
        p->depth = tsr_minf(p->depth, depth[at]);
    }
    tsr_pixel_store(p, rgba, depth, at);
}

/* Draws pixel (x, y) into the picture. `first`, `apart`: as for tsr_frame_pixel. */
TSR_HD void tsr_frame_store(const tsr_frame *frame, int parts, const tsr_transfer_linear *transfer, int32_t x, int32_t y, const tsr_hit *first,
                            int32_t apart, float *rgba, float *depth)
{
    tsr_pixel p = tsr_frame_pixel(frame, parts, transfer, x, y, first, apart);
    tsr_pixel_blend(frame, &p, rgba, depth, (int64_t)y * frame->width + x);
}

#endif
