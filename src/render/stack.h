/* render/stack.h: a volume drawn from a few of its slices at a time: the pieces of a ray whose middle lies between two slices that are in memory. The
 * pieces are those of tsr_accumulate (march.h), so that the picture is the one of the whole volume; slices go by front to back.
 * docs/theory/rendering.md 2. */
#ifndef TSR_RENDER_STACK_H
#define TSR_RENDER_STACK_H

#include "render/pixel.h"
#include "render/write.h"

/* Slices across `axis`, of which those from `base` on are in memory as frame.volume. Pieces in [first, last) along the axis are drawn. */
typedef struct tsr_stack_block {
    tsr_field whole; /* without values */
    int32_t axis, base, first, last;
    int32_t begin, end;           /* of the picture: nothing was drawn before, nothing comes behind */
    int32_t upper_row, lower_row; /* a CPU draws rows [upper_row, lower_row), kernels all of them */
} tsr_stack_block;

/* Adds the pieces of a ray that lie in the block. All rays go the same way along the axis. */
TSR_HD void tsr_stack_march(const tsr_frame *frame, const tsr_transfer_linear *transfer, const tsr_stack_block *b, const tsr_ray *ray, float shift,
                            tsr_float3 *c, float *alpha)
{
    float t0 = frame->t_near, t1 = TSR_FLOAT_BIG;
    int32_t entered = 0, axis;
    if (frame->clip && frame->clip_volume && !tsr_plane_clip(ray, frame->clip_normal, frame->clip_offset, &t0, &t1, &entered)) return;
    const tsr_ray r = tsr_field_ray(&b->whole, ray);
    if (!tsr_field_clip(&b->whole, &r, &t0, &t1, &axis)) return;
    tsr_ray in = r;
    in.o.x -= b->axis == 0 ? (float)b->base : 0.0f;
    in.o.y -= b->axis == 1 ? (float)b->base : 0.0f;
    in.o.z -= b->axis == 2 ? (float)b->base : 0.0f;
    const float o = tsr_get3(r.o, b->axis), d = tsr_get3(r.d, b->axis);
    const int32_t gaps = tsr_maxi(b->whole.size[b->axis] - 1, 1), up = d > 0.0f;
    int32_t k = tsr_floor_int(t0 * frame->inverse_dt - shift);
    const int32_t end = tsr_ceil_int(t1 * frame->inverse_dt - shift);
    const float enters = (float)(up ? b->first : b->last) - o;
    if (tsr_absf(d) > 1.0e-12f && enters / d > t0) k = tsr_maxi(k, tsr_floor_int(tsr_minf(enters / d, t1) * frame->inverse_dt - shift) - 2);
    for (; k < end && *alpha < 0.998f; k++) {
        tsr_float3 color = { 0.0f, 0.0f, 0.0f };
        const int32_t gap = tsr_mini(tsr_maxi(tsr_floor_int(o + d * tsr_piece_middle(frame->dt, k, shift, t0, t1)), 0), gaps - 1);
        if (up ? gap >= b->last : gap < b->first) break;
        if (up ? gap < b->first : gap >= b->last) continue;
        const float exponent = tsr_volume_piece(frame, TSR_PART_VOLUME, transfer, ray, &in, t0, t1, k, shift, 0, &color);
        if (exponent < 0.0f) tsr_compose(color, exponent, c, alpha);
    }
}

/* Pixel (x, y): premultiplied colour and opacity until the last block, then the picture. */
TSR_HD void tsr_stack_pixel(const tsr_frame *frame, const tsr_transfer_linear *transfer, const tsr_stack_block *b, int32_t x, int32_t y, float *rgba,
                            float *depth)
{
    const int64_t at = (int64_t)y * frame->width + x;
    const tsr_ray ray = tsr_pixel_ray(frame, x, y, 0, 0);
    tsr_pixel p = { rgba[4 * at], rgba[4 * at + 1], rgba[4 * at + 2], rgba[4 * at + 3], TSR_FLOAT_BIG };
    if (b->begin) p.r = p.g = p.b = p.a = 0.0f;
    tsr_float3 c = { p.r, p.g, p.b };
    float alpha = p.a;
    tsr_stack_march(frame, transfer, b, &ray, tsr_pixel_shift(frame, x, y), &c, &alpha);
    p.r = p.g = p.b = p.a = 0.0f;
    if (b->end) {
        tsr_pixel_add(frame, tsr_frame_background(frame, y), c, alpha, &p);
        tsr_pixel_mean(frame, &p);
    } else {
        p.r = c.x;
        p.g = c.y;
        p.b = c.z;
        p.a = alpha;
    }
    tsr_pixel_store(&p, rgba, depth, at);
}

#endif
