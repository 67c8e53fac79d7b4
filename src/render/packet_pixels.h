/* render/packet_pixels.h: 4 x 4 pixels from a packet of rays. Pictures of an opaque surface alone are coloured 16 pixels at a time, with the bits of
 * tsr_frame_store; others get their first hits from the packet. Needs write.h. */
#ifndef TSR_RENDER_PACKET_PIXELS_H
#define TSR_RENDER_PACKET_PIXELS_H

#include "render/packet.h"

enum { TSR_PACKET_SIDE = 4, TSR_PACKET_SAMPLES = 16 };

/* Is the picture nothing but the first hit of one ray a pixel on a background? */
TSR_INLINE int tsr_packet_plain(const tsr_frame *frame)
{
    return frame->show_surface && !frame->show_volume && !frame->mip && !frame->clip && frame->samples == 1 && frame->pass == 0 &&
           (frame->layers == 1 || frame->opacity >= 1.0f);
}

/* A pixel by itself, whose code is large: once for both callers. */
static __attribute__((noinline)) void tsr_single_pixel(const tsr_frame *frame, const tsr_transfer_linear *transfer, int32_t x, int32_t y,
                                                       const tsr_hit *first, float *rgba, float *depth)
{
    tsr_frame_store(frame, TSR_PARTS_ALL, transfer, x, y, first, TSR_PACKET, rgba, depth);
}

/* tsr_occlusion of the lanes. */
static __attribute__((noinline)) void tsr_packet_occlusion(const tsr_frame *frame, tsr_packet *p)
{
    const tsr_field *f = &frame->surface;
    const float unit = f->spacing;
    tsr_batch s;
    float px[TSR_PACKET], py[TSR_PACKET], pz[TSR_PACKET], ux[TSR_PACKET], uy[TSR_PACKET], uz[TSR_PACKET], vx[TSR_PACKET], vy[TSR_PACKET],
        vz[TSR_PACKET];
    float x[TSR_LANES], y[TSR_LANES], z[TSR_LANES], value[TSR_LANES], hidden[TSR_PACKET], sum[TSR_PACKET];
    int32_t within[TSR_PACKET];
    TSR_LANES_LOOP
    for (int32_t i = 0; i < TSR_PACKET; i++) {
        const tsr_float3 at = tsr_along3(tsr_f3(p->wx[i], p->wy[i], p->wz[i]), tsr_f3(p->vx[i], p->vy[i], p->vz[i]), p->a[i]);
        const tsr_float3 ip = tsr_field_point(f, at);
        px[i] = at.x;
        py[i] = at.y;
        pz[i] = at.z;
        s.x[i] = ip.x;
        s.y[i] = ip.y;
        s.z[i] = ip.z;
        sum[i] = 0.0f;
    }
    TSR_LANES_LOOP
    for (int32_t i = 0; i < TSR_PACKET; i++) {
        const tsr_float3 n = tsr_towards(tsr_f3(p->nx[i], p->ny[i], p->nz[i]), tsr_f3(-p->vx[i], -p->vy[i], -p->vz[i]));
        tsr_float3 u, v;
        tsr_across(n, &u, &v);
        p->nx[i] = n.x;
        p->ny[i] = n.y;
        p->nz[i] = n.z;
        ux[i] = u.x;
        uy[i] = u.y;
        uz[i] = u.z;
        vx[i] = v.x;
        vy[i] = v.y;
        vz[i] = v.z;
    }
    tsr_batch_gradients(f, &s, TSR_PACKET);
    TSR_LANES_LOOP
    for (int32_t i = 0; i < TSR_PACKET; i++) p->slope[i] = tsr_occlusion_slope(f, tsr_f3(s.gx[i], s.gy[i], s.gz[i]));
    for (int32_t way = 0; way < TSR_OCCLUSION_DIRECTIONS; way++) {
        float weight, reach = TSR_OCCLUSION_NEAREST;
        const tsr_float3 h = tsr_hemisphere(way, &weight);
        for (int32_t i = 0; i < TSR_PACKET; i++) {
            hidden[i] = 0.0f;
            within[i] = 1;
        }
        for (int32_t j = 0; j < TSR_OCCLUSION_STEPS; j++) {
            TSR_LANES_LOOP
            for (int32_t i = 0; i < TSR_PACKET; i++) {
                const tsr_float3 d =
                    tsr_occlusion_direction(h, tsr_f3(ux[i], uy[i], uz[i]), tsr_f3(vx[i], vy[i], vz[i]), tsr_f3(p->nx[i], p->ny[i], p->nz[i]));
                const tsr_float3 ip = tsr_field_point(f, tsr_along3(tsr_f3(px[i], py[i], pz[i]), d, reach * unit));
                x[i] = ip.x;
                y[i] = ip.y;
                z[i] = ip.z;
                within[i] &= tsr_field_contains(f, ip, 0.0f);
            }
            tsr_batch_values(f, x, y, z, TSR_PACKET, value);
            TSR_LANES_LOOP
            for (int32_t i = 0; i < TSR_PACKET; i++) {
                const float more = tsr_maxf(hidden[i], tsr_occlusion_hidden(f->scale * value[i] + f->offset, p->slope[i], unit, reach));
                hidden[i] = within[i] ? more : hidden[i];
            }
            reach *= TSR_OCCLUSION_FURTHER;
        }
        TSR_LANES_LOOP
        for (int32_t i = 0; i < TSR_PACKET; i++) sum[i] += weight * hidden[i];
    }
    TSR_LANES_LOOP
    for (int32_t i = 0; i < TSR_PACKET; i++) p->open[i] = 1.0f - frame->occlusion * tsr_saturatef(sum[i]);
}

/* The colours of a plain picture's pixels. */
static __attribute__((noinline)) void tsr_packet_shade(const tsr_frame *frame, tsr_packet *p, const tsr_hit *hits, tsr_float3 *color)
{
    float r[TSR_PACKET], g[TSR_PACKET], b[TSR_PACKET];
    for (int32_t i = 0; i < TSR_PACKET; i++) {
        p->open[i] = 1.0f;
        p->nx[i] = hits[i].normal.x;
        p->ny[i] = hits[i].normal.y;
        p->nz[i] = hits[i].normal.z;
    }
    if (frame->occlusion > 0.0f) {
        tsr_packet_occlusion(frame, p);
        for (int32_t i = 0; i < TSR_PACKET; i++)
            if (hits[i].kind != TSR_HIT_SURFACE) p->open[i] = 1.0f;
    }
    TSR_LANES_LOOP
    for (int32_t i = 0; i < TSR_PACKET; i++) {
        const tsr_float3 viewer = tsr_f3(-p->vx[i], -p->vy[i], -p->vz[i]), n = tsr_towards(tsr_f3(p->nx[i], p->ny[i], p->nz[i]), viewer);
        const tsr_float3 c = tsr_shade(frame, frame->surface_color, n, viewer, p->open[i], frame->specular);
        r[i] = c.x;
        g[i] = c.y;
        b[i] = c.z;
    }
    for (int32_t i = 0; i < TSR_PACKET; i++) color[i] = tsr_f3(r[i], g[i], b[i]);
}

/* The lanes' pixels (those from `count` on are copies of the first) and their shifts; their rays, sample (sx, sy) of each. */
TSR_INLINE void tsr_packet_places(const tsr_frame *frame, tsr_packet *p, int32_t x, int32_t y, int32_t columns, int32_t count, int32_t *across,
                                  int32_t *down)
{
    for (int32_t i = 0; i < TSR_PACKET; i++) {
        across[i] = x + (i < count ? i % columns : 0);
        down[i] = y + (i < count ? i / columns : 0);
        p->shift[i] = tsr_pixel_shift(frame, across[i], down[i]);
    }
}
TSR_INLINE void tsr_packet_rays(const tsr_frame *frame, tsr_packet *p, const int32_t *across, const int32_t *down, int32_t sx, int32_t sy)
{
    TSR_LANES_LOOP
    for (int32_t i = 0; i < TSR_PACKET; i++) {
        const tsr_ray ray = tsr_pixel_ray(frame, across[i], down[i], sx, sy);
        p->wx[i] = ray.o.x;
        p->wy[i] = ray.o.y;
        p->wz[i] = ray.o.z;
        p->vx[i] = ray.d.x;
        p->vy[i] = ray.d.y;
        p->vz[i] = ray.d.z;
    }
}

/* Pixels of a plain picture that show the background alone. */
static void tsr_packet_nothing(const tsr_frame *frame, int32_t x, int32_t y, int32_t columns, int32_t rows, float *rgba, float *depth)
{
    for (int32_t j = 0; j < rows; j++) {
        tsr_float3 c = { 0.0f, 0.0f, 0.0f };
        float alpha = 0.0f;
        if (!frame->transparent) tsr_over(&c, &alpha, tsr_frame_background(frame, y + j), 1.0f);
        const tsr_pixel out = { c.x, c.y, c.z, tsr_minf(alpha, 1.0f), TSR_FLOAT_BIG };
        for (int32_t i = 0; i < columns; i++) tsr_pixel_store(&out, rgba, depth, (int64_t)(y + j) * frame->width + x + i);
    }
}

/* Pixels (x, y) .. (x + columns - 1, y + rows - 1), at most 4 x 4 of them; `u`: from where the walk of a beam goes on (tsr_packet_safe). */
static void tsr_packet_pixels(const tsr_frame *frame, const tsr_transfer_linear *transfer, int32_t x, int32_t y, int32_t columns, int32_t rows,
                              float u, float *rgba, float *depth)
{
    const float safe = tsr_packet_safe(frame, x, y, x + columns, y + rows, &u);
    const int32_t plain = tsr_packet_plain(frame);
    if (plain && safe >= TSR_FLOAT_BIG && tsr_packet_shut(frame)) {
        tsr_packet_nothing(frame, x, y, columns, rows, rgba, depth);
        return;
    }
    tsr_packet p;
    tsr_hit hits[TSR_PACKET_SAMPLES * TSR_PACKET];
    tsr_float3 color[TSR_PACKET];
    int32_t across[TSR_PACKET], down[TSR_PACKET], any = 0;
    const int32_t count = columns * rows, samples = frame->samples * frame->samples;
    tsr_packet_places(frame, &p, x, y, columns, count, across, down);
    for (int32_t n = 0; n < samples; n++) {
        tsr_packet_rays(frame, &p, across, down, n % frame->samples, n / frame->samples);
        tsr_packet_hits(frame, &p, count, safe, hits + n * TSR_PACKET);
    }
    for (int32_t i = 0; i < count; i++) any |= hits[i].kind != TSR_HIT_NONE;
    if (plain && any) tsr_packet_shade(frame, &p, hits, color);
    for (int32_t i = 0; i < count; i++) {
        if (!plain) {
            tsr_single_pixel(frame, transfer, across[i], down[i], hits + i, rgba, depth);
            continue;
        }
        tsr_float3 c = { 0.0f, 0.0f, 0.0f };
        float alpha = 0.0f, far = TSR_FLOAT_BIG;
        if (hits[i].kind != TSR_HIT_NONE) {
            tsr_over(&c, &alpha, color[i], frame->opacity);
            far = hits[i].t + frame->depth_shift;
        }
        if (!frame->transparent) tsr_over(&c, &alpha, tsr_frame_background(frame, down[i]), 1.0f);
        const tsr_pixel out = { c.x, c.y, c.z, tsr_minf(alpha, 1.0f), far };
        tsr_pixel_store(&out, rgba, depth, (int64_t)down[i] * frame->width + across[i]);
    }
}

#endif
