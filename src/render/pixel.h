/* render/pixel.h: one pixel of a three-dimensional view. */
#ifndef TSR_RENDER_PIXEL_H
#define TSR_RENDER_PIXEL_H

#include "render/march.h"
#include "render/slice.h"

/* The CPU has loops over many samples at once that give the same bits (batch.h). */
#ifndef TSR_MAXIMUM
#define TSR_MAXIMUM tsr_maximum
#define TSR_ACCUMULATE tsr_accumulate
#endif

/* Directions of the hemisphere in which occlusion is felt, around the normal (z), and their weights (cosines, sum 1). */
TSR_HD tsr_float3 tsr_hemisphere(int32_t i, float *weight)
{
    const float x[5] = { 1.0f, 0.30901699f, -0.80901699f, -0.80901699f, 0.30901699f };
    const float y[5] = { 0.0f, 0.95105652f, 0.58778525f, -0.58778525f, -0.95105652f };
    if (i == 0) {
        *weight = 0.24f;
        return tsr_f3(0.0f, 0.0f, 1.0f);
    }
    if (i <= 5) {
        *weight = 0.108f;
        return tsr_f3(0.70710678f * x[i - 1], 0.70710678f * y[i - 1], 0.70710678f);
    }
    *weight = 0.044f;
    return tsr_f3(-0.94f * x[i - 6], -0.94f * y[i - 6], 0.34117444f);
}

/* Axes across a normal. */
TSR_HD void tsr_across(tsr_float3 normal, tsr_float3 *u, tsr_float3 *v)
{
    const int32_t upright = tsr_absf(normal.z) < 0.7f;
    const tsr_float3 side = tsr_f3(upright ? 0.0f : 1.0f, 0.0f, upright ? 1.0f : 0.0f);
    *u = tsr_normalize3(tsr_cross3(side, normal), side);
    *v = tsr_cross3(normal, *u);
}
enum { TSR_OCCLUSION_DIRECTIONS = 11, TSR_OCCLUSION_STEPS = 4 };
#define TSR_OCCLUSION_NEAREST 1.5f /* voxels; each step looks further by a factor of */
#define TSR_OCCLUSION_FURTHER 1.8f
TSR_HD tsr_float3 tsr_occlusion_direction(tsr_float3 h, tsr_float3 u, tsr_float3 v, tsr_float3 normal)
{
    return tsr_add3(tsr_add3(tsr_scale3(u, h.x), tsr_scale3(v, h.y)), tsr_scale3(normal, h.z));
}
/* How much a place with this value hides, `reach` voxels away. */
TSR_HD float tsr_occlusion_hidden(float phi, float slope, float unit, float reach)
{
    return tsr_saturatef(0.5f - phi / (2.0f * slope * unit)) * (1.0f - reach * 0.07f);
}
TSR_HD float tsr_occlusion_slope(const tsr_field *f, tsr_float3 gradient)
{
    return tsr_maxf(tsr_absf(f->scale) * tsr_sqrt(tsr_dot3(gradient, gradient)), 1.0e-12f);
}

/* How far the surface's surroundings hide the point from ambient light: 0 open, 1 hidden. Looks along eleven directions, at four distances in a field
 * (so that nothing flips from pixel to pixel), or with a short ray in a mesh. */
TSR_HD float tsr_occlusion(const tsr_frame *frame, int parts, tsr_float3 p, tsr_float3 normal)
{
    const tsr_field *f = &frame->surface;
    const int mesh = tsr_frame_mesh(frame, parts);
    tsr_float3 u, v;
    tsr_across(normal, &u, &v);
    float occlusion = 0.0f, unit = mesh ? 0.06f * frame->radius : f->spacing, slope = 1.0f;
    if (!mesh) { slope = tsr_occlusion_slope(f, tsr_field_gradient(f, tsr_field_point(f, p))); }
    for (int32_t i = 0; i < TSR_OCCLUSION_DIRECTIONS; i++) {
        float weight, hidden = 0.0f;
        tsr_float3 h = tsr_hemisphere(i, &weight);
        tsr_float3 d = tsr_occlusion_direction(h, u, v, normal);
        if (mesh) {
            tsr_bvh_hit hit = { unit, 0.0f, 0.0f, -1 };
            tsr_float3 o = tsr_sub3(tsr_along3(p, normal, 0.01f * unit), frame->mesh_origin);
            tsr_bvh_trace(&frame->bvh, o, d, 0.01f * unit, 0, &hit);
            if (hit.triangle >= 0) hidden = 1.0f - hit.t / unit;
        } else {
            float reach = TSR_OCCLUSION_NEAREST;
            for (int32_t j = 0; j < TSR_OCCLUSION_STEPS; j++) {
                tsr_float3 ip = tsr_field_point(f, tsr_along3(p, d, reach * unit));
                if (!tsr_field_contains(f, ip, 0.0f)) break;
                hidden = tsr_maxf(hidden, tsr_occlusion_hidden(tsr_field_phi(f, ip), slope, unit, reach));
                reach *= TSR_OCCLUSION_FURTHER;
            }
        }
        occlusion += weight * hidden;
    }
    return tsr_saturatef(occlusion);
}

TSR_HD tsr_float3 tsr_towards(tsr_float3 normal, tsr_float3 viewer)
{
    const float side = tsr_dot3(normal, viewer) < 0.0f ? -1.0f : 1.0f;
    return tsr_scale3(normal, side);
}

/* Colour of what a ray hit, not premultiplied. */
TSR_HD tsr_float3 tsr_hit_color(const tsr_frame *frame, int parts, const tsr_ray *ray, const tsr_hit *hit)
{
    tsr_float3 p = tsr_along3(ray->o, ray->d, hit->t), viewer = tsr_scale3(ray->d, -1.0f), normal = hit->normal;
    if (hit->kind == TSR_HIT_PLANE && frame->volume.kind == TSR_FIELD_DENSE) {
        tsr_float3 u, v, color;
        tsr_across(normal, &u, &v);
        float pixel = frame->orthographic ? frame->pixel_size : frame->pixel_size * hit->t;
        float foreshortened = tsr_maxf(tsr_absf(tsr_dot3(normal, ray->d)), 0.25f);
        tsr_slice_color(&frame->look, &frame->volume, &frame->surface, p, u, v, pixel / foreshortened, &color);
        return color;
    }
    normal = tsr_towards(normal, viewer);
    float open = 1.0f;
    if (frame->occlusion > 0.0f && hit->kind == TSR_HIT_SURFACE) open = 1.0f - frame->occlusion * tsr_occlusion(frame, parts, p, normal);
    return tsr_shade(frame, frame->surface_color, normal, viewer, open, frame->specular);
}

TSR_HD void tsr_over(tsr_float3 *c, float *alpha, tsr_float3 color, float opacity)
{
    float weight = (1.0f - *alpha) * opacity;
    *c = tsr_add3(*c, tsr_scale3(color, weight));
    *alpha += weight;
}

/* Where the whole clipping plane is drawn (TSR_FACE_QUAD): the hit on it, if it lies in the box of the source and before `hit`. */
TSR_HD void tsr_quad_hit(const tsr_frame *frame, const tsr_ray *ray, float from, tsr_hit *hit)
{
    float along = tsr_dot3(frame->clip_normal, ray->d);
    if (tsr_absf(along) < 1.0e-9f) return;
    float t = (frame->clip_offset - tsr_dot3(frame->clip_normal, ray->o)) / along;
    if (!(t > from) || t > hit->t) return;
    if (!tsr_field_contains(&frame->volume, tsr_field_point(&frame->volume, tsr_along3(ray->o, ray->d, t)), 0.0f)) return;
    hit->kind = TSR_HIT_PLANE;
    hit->t = t;
    hit->normal = frame->clip_normal;
}

/* Colour along a ray. `first`: what tsr_surface_hit finds on it layer by layer, as far as that is `known` already. */
TSR_HD void tsr_ray_color(const tsr_frame *frame, int parts, const tsr_transfer_linear *transfer, const tsr_ray *ray, float shift,
                          const tsr_hit *first, int32_t known, tsr_float3 *c, float *alpha, float *depth)
{
    float s0 = frame->t_near, s1 = TSR_FLOAT_BIG, v0 = frame->t_near, v1 = TSR_FLOAT_BIG;
    int32_t entered = 0, ignored = 0;
    int surface = (parts & TSR_PART_SHEET) && frame->show_surface, volume = (parts & (TSR_PART_VOLUME | TSR_PART_MIP)) && frame->show_volume;
    if (frame->clip && frame->clip_surface) surface = surface && tsr_plane_clip(ray, frame->clip_normal, frame->clip_offset, &s0, &s1, &entered);
    if (frame->clip && frame->clip_volume) volume = volume && tsr_plane_clip(ray, frame->clip_normal, frame->clip_offset, &v0, &v1, &ignored);
    if ((parts & TSR_PART_MIP) && frame->mip) {
        float m = volume ? TSR_MAXIMUM(frame, ray, v0, v1, shift) : -TSR_FLOAT_BIG;
        if (!(m > -TSR_FLOAT_BIG)) return;
        float g = tsr_srgb_decode((m - frame->look.low) * frame->look.inverse_width);
        tsr_over(c, alpha, tsr_f3(g, g, g), 1.0f);
        return;
    }
    tsr_hit hit = { TSR_HIT_NONE, TSR_FLOAT_BIG, { 0.0f, 0.0f, 0.0f } };
    const int shell = (parts & TSR_PART_EXTRA) && surface && frame->shell, sheet = surface && !shell;
    const float apart = (tsr_frame_mesh(frame, parts) ? 1.0e-3f : 0.02f) * frame->dt; /* of layers: more than the error of a hit */
    for (int32_t layer = 0;; layer++) {
        const float from = layer ? hit.t : frame->t_near; /* what lies before is drawn */
        hit.kind = TSR_HIT_NONE;
        hit.t = TSR_FLOAT_BIG;
        if ((parts & TSR_PART_SHEET) && layer < frame->layers) { /* behind the last layer there is only the volume */
            if (sheet && layer < known) hit = first[layer];
            else if (sheet) hit = tsr_surface_hit(frame, parts, ray, tsr_maxf(s0, layer ? from + apart : s0), s1, layer ? 0 : entered, shift);
            if (frame->clip && frame->clip_face == TSR_FACE_QUAD && frame->volume.kind == TSR_FIELD_DENSE) tsr_quad_hit(frame, ray, from, &hit);
        }
        const float to = tsr_minf(v1, hit.t);
        if (shell)
            tsr_accumulate_media(frame, transfer, ray, volume, tsr_maxf(v0, from), to, tsr_maxf(s0, from), tsr_minf(s1, hit.t), shift, c, alpha);
        else if ((parts & TSR_PART_VOLUME) && volume) TSR_ACCUMULATE(frame, parts, transfer, ray, tsr_maxf(v0, from), to, shift, c, alpha);
        if (hit.kind == TSR_HIT_NONE) return;
        float opacity = hit.kind == TSR_HIT_PLANE ? 1.0f : frame->opacity;
        if (*alpha < 0.998f) tsr_over(c, alpha, tsr_hit_color(frame, parts, ray, &hit), opacity);
        *depth = tsr_minf(*depth, hit.t + frame->depth_shift);
        if (opacity >= 1.0f || *alpha >= 0.998f) return;
    }
}

/* Shifts of pass n within a pixel and along a ray: the additive sequences of the plastic number and the golden ratio, which fill evenly. */
TSR_HD float tsr_pass_shift(int32_t pass, float step)
{
    float v = 0.5f + (float)pass * step;
    return v - (float)tsr_floor_int(v);
}

TSR_HD float tsr_pixel_shift(const tsr_frame *frame, int32_t x, int32_t y)
{
    float shift = frame->jitter ? tsr_pixel_hash((uint32_t)x, (uint32_t)y) : 0.0f;
    if (frame->pass > 0) {
        shift += tsr_pass_shift(frame->pass, 0.61803399f) - 0.5f;
        shift -= (float)tsr_floor_int(shift);
    }
    return shift;
}
/* Ray (i, j) of the samples x samples of a pixel. */
TSR_HD tsr_ray tsr_pixel_ray(const tsr_frame *frame, int32_t x, int32_t y, int32_t i, int32_t j)
{
    const float share = 1.0f / (float)frame->samples;
    const float dx = frame->pass > 0 ? tsr_pass_shift(frame->pass, 0.75487767f) : 0.5f,
                dy = frame->pass > 0 ? tsr_pass_shift(frame->pass, 0.56984029f) : 0.5f;
    const float px = (float)x + ((float)i + dx) * share, py = (float)y + ((float)j + dy) * share;
    const tsr_float3 at = tsr_along3(tsr_along3(frame->corner, frame->right, px), frame->down, py);
    tsr_ray ray;
    ray.o = frame->orthographic ? at : frame->origin;
    ray.d = frame->orthographic ? frame->forward : tsr_normalize3(at, frame->forward);
    return ray;
}

TSR_HD tsr_float3 tsr_frame_background(const tsr_frame *frame, int32_t y)
{
    return tsr_mix3(frame->background[0], frame->background[1], ((float)y + 0.5f) / (float)frame->height);
}

/* One more ray of a pixel over its background, and the mean of all. */
TSR_HD void tsr_pixel_add(const tsr_frame *frame, tsr_float3 background, tsr_float3 c, float alpha, tsr_pixel *out)
{
    if (!frame->transparent) tsr_over(&c, &alpha, background, 1.0f);
    out->r += c.x;
    out->g += c.y;
    out->b += c.z;
    out->a += alpha;
}
TSR_HD void tsr_pixel_mean(const tsr_frame *frame, tsr_pixel *out)
{
    const float share = 1.0f / (float)frame->samples, mean = share * share;
    out->r *= mean;
    out->g *= mean;
    out->b *= mean;
    out->a = tsr_minf(out->a * mean, 1.0f);
}

/* `first`: the first layer of tsr_ray_color, of the pixel's rays one after the other, `apart` entries from each other; or NULL. */
TSR_HD tsr_pixel tsr_frame_pixel(const tsr_frame *frame, int parts, const tsr_transfer_linear *transfer, int32_t x, int32_t y, const tsr_hit *first,
                                 int32_t apart)
{
    tsr_pixel out = { 0.0f, 0.0f, 0.0f, 0.0f, TSR_FLOAT_BIG };
    const float shift = tsr_pixel_shift(frame, x, y);
    const tsr_float3 background = tsr_frame_background(frame, y);
    for (int32_t j = 0; j < frame->samples; j++) {
        for (int32_t i = 0; i < frame->samples; i++) {
            const tsr_ray ray = tsr_pixel_ray(frame, x, y, i, j);
            tsr_float3 c = { 0.0f, 0.0f, 0.0f };
            float alpha = 0.0f;
            tsr_ray_color(frame, parts, transfer, &ray, shift, first, first != NULL, &c, &alpha, &out.depth);
            if (first) first += apart;
            tsr_pixel_add(frame, background, c, alpha, &out);
        }
    }
    tsr_pixel_mean(frame, &out);
    return out;
}

/* One channel of an 8-bit sRGB image from linear premultiplied RGBA; channels 3: over black, 4: straight alpha. */
TSR_HD uint8_t tsr_encode_channel(const float *rgba, int32_t channels, int32_t channel)
{
    float v = rgba[channel];
    if (channel == 3) return (uint8_t)(tsr_saturatef(v) * 255.0f + 0.5f);
    if (channels == 4 && rgba[3] > 0.0f) v = v / rgba[3];
    return (uint8_t)(tsr_srgb_encode(v) * 255.0f + 0.5f);
}

#endif
