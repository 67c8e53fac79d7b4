/* render/slice.h: colour of a plane through the source: window/level grey or a diverging map, contour and zero line (see
 * docs/theory/rendering.md 7). */
#ifndef TSR_RENDER_SLICE_H
#define TSR_RENDER_SLICE_H

#include "render/frame.h"

/* Share of a line of half width `half` pixels that covers a pixel `distance` pixels away: anti-aliased over one pixel. */
TSR_HD float tsr_line_coverage(float distance, float half) { return tsr_saturatef(half + 0.5f - distance); }

/* Distance from p to the zero set of a field within the plane of the units u and v, in world units: |f| / |gradient in the plane|. */
TSR_HD float tsr_plane_distance(const tsr_field *f, tsr_float3 p, tsr_float3 u, tsr_float3 v, float reach)
{
    tsr_float3 ip = tsr_field_point(f, p), iu = tsr_field_direction(f, tsr_scale3(u, reach)), iv = tsr_field_direction(f, tsr_scale3(v, reach));
    float at = tsr_field_phi(f, ip);
    float du = tsr_field_phi(f, tsr_add3(ip, iu)) - tsr_field_phi(f, tsr_sub3(ip, iu));
    float dv = tsr_field_phi(f, tsr_add3(ip, iv)) - tsr_field_phi(f, tsr_sub3(ip, iv));
    float slope = tsr_sqrt(du * du + dv * dv) / (2.0f * reach);
    return slope > 1.0e-20f ? tsr_absf(at) / slope : TSR_FLOAT_BIG; /* flat: a static tile, never a line */
}

/* Blue to red with a dark middle, the two signs clearly apart; v in [-1, 1]. */
TSR_HD tsr_float3 tsr_diverging(float v)
{
    tsr_float3 dark = tsr_f3(0.012f, 0.012f, 0.016f);
    tsr_float3 low = v < 0.0f ? tsr_f3(0.020f, 0.085f, 0.40f) : tsr_f3(0.42f, 0.020f, 0.022f);
    tsr_float3 high = v < 0.0f ? tsr_f3(0.22f, 0.60f, 1.0f) : tsr_f3(1.0f, 0.42f, 0.20f);
    float m = tsr_minf(tsr_absf(v), 1.0f);
    return m < 0.5f ? tsr_mix3(dark, low, m * 2.0f) : tsr_mix3(low, high, m * 2.0f - 1.0f);
}

/* Colour at frame position p of a plane spanned by the units u and v; `pixel` = size of a pixel in world units there. Returns its opacity. */
TSR_HD float tsr_slice_color(const tsr_slice_look *look, const tsr_field *volume, const tsr_field *surface, tsr_float3 p, tsr_float3 u, tsr_float3 v,
                             float pixel, tsr_float3 *color)
{
    float alpha = look->transparent_outside ? 0.0f : 1.0f;
    *color = look->outside;
    if (volume->kind == TSR_FIELD_DENSE) {
        tsr_float3 ip = tsr_field_point(volume, p);
        if (tsr_field_contains(volume, ip, 0.5f)) { /* voxels are half a voxel wide around their index */
            float value = look->nearest ? tsr_field_nearest(volume, ip) : tsr_field_value(volume, ip);
            float g = (value - look->low) * look->inverse_width;
            alpha = 1.0f;
            if (look->palette == 0) {
                g = tsr_srgb_decode(g); /* the window is linear in what the eye sees */
                *color = tsr_f3(g, g, g);
            } else if (value == value) {
                *color = tsr_diverging(2.0f * g - 1.0f);
                if (look->half_line > 0.0f) {
                    float distance = tsr_plane_distance(volume, p, u, v, 0.5f * volume->spacing) / pixel;
                    *color = tsr_mix3(*color, tsr_f3(1.0f, 1.0f, 1.0f), tsr_line_coverage(distance, look->half_line));
                }
            }
        }
    }
    if (look->contour && look->half_line > 0.0f && tsr_field_contains(surface, tsr_field_point(surface, p), 0.0f)) {
        float cover = tsr_line_coverage(tsr_plane_distance(surface, p, u, v, 0.5f * surface->spacing) / pixel, look->half_line);
        *color = tsr_mix3(tsr_scale3(*color, alpha), look->line_color, cover);
        alpha = alpha + cover * (1.0f - alpha);
        if (alpha > 0.0f) *color = tsr_scale3(*color, 1.0f / alpha);
    }
    return alpha;
}

TSR_HD tsr_pixel tsr_slice_pixel(const tsr_slice_frame *f, int32_t x, int32_t y)
{
    tsr_pixel out = { 0.0f, 0.0f, 0.0f, 0.0f, TSR_FLOAT_BIG };
    float share = 1.0f / (float)f->samples;
    tsr_float3 u = tsr_scale3(f->right, 1.0f / f->pixel_size), v = tsr_scale3(f->down, 1.0f / f->pixel_size);
    for (int32_t j = 0; j < f->samples; j++) {
        for (int32_t i = 0; i < f->samples; i++) {
            float px = (float)x + ((float)i + 0.5f) * share, py = (float)y + ((float)j + 0.5f) * share;
            tsr_float3 color, p = tsr_along3(tsr_along3(f->corner, f->right, px), f->down, py);
            float alpha = tsr_slice_color(&f->look, &f->volume, &f->surface, p, u, v, f->pixel_size, &color);
            out.r += color.x * alpha;
            out.g += color.y * alpha;
            out.b += color.z * alpha;
            out.a += alpha;
        }
    }
    float mean = share * share;
    out.r *= mean;
    out.g *= mean;
    out.b *= mean;
    out.a *= mean;
    return out;
}

#endif
