/* render/march.h: rays through fields: first hit, maximum, emission and absorption. Samples lie on one lattice per ray, t = (k + shift) dt for all
 * k, whatever is skipped, so that skipping and the layout of the data never change the picture (docs/theory/rendering.md 3). */
#ifndef TSR_RENDER_MARCH_H
#define TSR_RENDER_MARCH_H

#include "render/bricks.h"
#include "render/frame.h"

/* What a picture may need. `parts` is a constant below: what it leaves out costs a GPU no registers. */
enum {
    TSR_PART_SHEET = 1, /* a surface given by a field, or the clipping plane, hides or dims what is behind */
    TSR_PART_MESH = 2,
    TSR_PART_VOLUME = 4, /* emission and absorption by a function of value and gradient along the axes, evaluated at each sample */
    TSR_PART_MIP = 8,
    TSR_PART_EXTRA = 16, /* any other transfer function, tables, tint, surfaces as media */
    TSR_PARTS_ALL = 31
};
TSR_HD int tsr_frame_parts(const tsr_frame *frame, const tsr_transfer_linear *transfer)
{
    if (transfer->general || transfer->needs_level || frame->lookup.kind || frame->region == 3 || frame->shell) return TSR_PARTS_ALL;
    if (frame->mip) return TSR_PART_MIP;
    if (frame->show_volume && tsr_mini(frame->volume.size[0], tsr_mini(frame->volume.size[1], frame->volume.size[2])) < 2) return TSR_PARTS_ALL;
    int parts = frame->show_volume ? TSR_PART_VOLUME : 0;
    if (frame->show_surface) parts |= frame->surface.kind == TSR_FIELD_MESH ? TSR_PART_SHEET | TSR_PART_MESH : TSR_PART_SHEET;
    if (frame->clip && frame->clip_face == TSR_FACE_QUAD) parts |= TSR_PART_SHEET;
    return parts;
}
TSR_HD int tsr_frame_mesh(const tsr_frame *frame, int parts) { return (parts & TSR_PART_MESH) != 0 && frame->surface.kind == TSR_FIELD_MESH; }

enum { TSR_HIT_NONE = 0, TSR_HIT_SURFACE, TSR_HIT_BOX, TSR_HIT_PLANE };

typedef struct tsr_hit {
    int32_t kind;
    float t;
    tsr_float3 normal; /* frame space, unit, not turned to the viewer */
} tsr_hit;

TSR_HD tsr_ray tsr_field_ray(const tsr_field *f, const tsr_ray *ray)
{
    tsr_ray r;
    r.o = tsr_field_point(f, ray->o);
    r.d = tsr_field_direction(f, ray->d);
    return r;
}

/* Cuts [*t0, *t1] by the half space normal . x <= offset. *entered = 1 if the ray enters through the plane. Returns 0 if nothing is left. */
TSR_HD int tsr_plane_clip(const tsr_ray *ray, tsr_float3 normal, float offset, float *t0, float *t1, int32_t *entered)
{
    float along = tsr_dot3(normal, ray->d), above = tsr_dot3(normal, ray->o) - offset;
    if (tsr_absf(along) < 1.0e-9f) return above <= 0.0f;
    float t = -above / along;
    if (along > 0.0f) {
        *t1 = tsr_minf(*t1, t);
    } else if (t > *t0) {
        *t0 = t;
        *entered = 1;
    }
    return *t0 < *t1;
}

/* Zero between a (value fa >= 0 or < 0) and b (the other side): steps that alternate secant and bisection, always bracketing. Where step i looks,
 * as a share of the way from a to b, and where the zero is taken to be in the end. */
enum { TSR_REFINE_STEPS = 5 };
TSR_HD float tsr_refine_share(int32_t i, float fa, float fb)
{
    const float share = i == 2 ? 0.5f : fa / (fa - fb);
    return share > 0.02f ? (share < 0.98f ? share : 0.98f) : 0.02f;
}
TSR_HD float tsr_refine_end(float a, float fa, float b, float fb)
{
    const float share = fa / (fa - fb);
    return a + (share >= 0.0f && share <= 1.0f ? share : 0.5f) * (b - a);
}
TSR_HD float tsr_refine(const tsr_field *f, const tsr_ray *r, float a, float fa, float b, float fb)
{
    for (int32_t i = 0; i < TSR_REFINE_STEPS; i++) {
        float t = a + tsr_refine_share(i, fa, fb) * (b - a), ft = tsr_field_phi(f, tsr_along3(r->o, r->d, t));
        if ((ft < 0.0f) == (fa < 0.0f)) {
            a = t;
            fa = ft;
        } else {
            b = t;
            fb = ft;
        }
    }
    return tsr_refine_end(a, fa, b, fb);
}

TSR_HD float tsr_at(const tsr_field *f, const tsr_ray *r, float t) { return tsr_field_phi(f, tsr_along3(r->o, r->d, t)); }

/* First change of sign along the ray within [t0, t1] (inside the box). Returns 1 and *t. */
TSR_HD int tsr_first_hit(const tsr_field *f, const tsr_ray *r, float t0, float t1, float dt, float inverse_dt, float shift, float *t)
{
    float last_t = t0, last = tsr_at(f, r, t0);
    int32_t k = tsr_ceil_int(t0 * inverse_dt - shift), last_k = k - 1, end = tsr_ceil_int(t1 * inverse_dt - shift);
    while (k < end) {
        float at = ((float)k + shift) * dt;
        int32_t brick[3];
        int32_t skip = f->skip[tsr_field_brick(f, tsr_along3(r->o, r->d, at), brick)];
        int32_t stop = tsr_mini(end, tsr_maxi(k + 1, tsr_ceil_int(tsr_minf(tsr_field_exit(f, r, brick, skip), t1) * inverse_dt - shift)));
        if (skip && last_k != k - 1) { /* the sign is constant here, and was between the last look and here */
            k = stop;
            continue;
        }
        if (last_k != k - 1) {
            last_t = ((float)(k - 1) + shift) * dt;
            last = tsr_at(f, r, last_t);
        }
        for (int32_t to = skip ? k + 1 : stop; k < to; k++) {
            float now_t = ((float)k + shift) * dt, now = tsr_at(f, r, now_t);
            if ((now < 0.0f) != (last < 0.0f)) {
                *t = tsr_refine(f, r, last_t, last, now_t, now);
                return 1;
            }
            last = now;
            last_t = now_t;
        }
        last_k = k - 1;
        if (skip) k = tsr_maxi(k, stop);
    }
    if (last_k != end - 1) { /* the last piece was skipped: its sign is that of its end */
        last_t = tsr_maxf(t0, ((float)(end - 1) + shift) * dt);
        last = tsr_at(f, r, last_t);
    }
    float now = tsr_at(f, r, t1);
    if ((now < 0.0f) == (last < 0.0f)) return 0;
    *t = tsr_refine(f, r, last_t, last, t1, now);
    return 1;
}

/* The ray enters the inside at t0, through a face of the box or through the plane, having begun at `start`. Returns 0 if nothing is drawn there. */
TSR_HD int tsr_enter_hit(const tsr_frame *frame, const tsr_ray *ray, float start, float t0, int32_t axis, tsr_hit *hit)
{
    if (axis && t0 > start) {
        float g[3] = { 0.0f, 0.0f, 0.0f };
        g[axis < 0 ? -axis - 1 : axis - 1] = axis < 0 ? -1.0f : 1.0f;
        hit->kind = TSR_HIT_BOX;
        hit->t = t0;
        hit->normal = tsr_normalize3(tsr_field_covector(&frame->surface, tsr_f3(g[0], g[1], g[2])), tsr_scale3(ray->d, -1.0f));
        return 1;
    }
    if (frame->clip_face == TSR_FACE_OPEN) return 0;
    hit->kind = TSR_HIT_PLANE;
    hit->t = t0;
    hit->normal = frame->clip_normal;
    return 1;
}
/* Normal at a hit from the value's gradient. */
TSR_HD tsr_float3 tsr_hit_normal(const tsr_field *f, const tsr_ray *ray, tsr_float3 g)
{
    return tsr_normalize3(f->scale < 0.0f ? tsr_scale3(g, -1.0f) : g, tsr_scale3(ray->d, -1.0f));
}

/* Cuts [*t0, *t1] of the ray by the surface's box, whose frame it leaves in *r. Returns 0 if nothing is left, 1 if the ray goes on, 2 if it begins
 * inside the surface: *hit. `entered`: t0 is on the clipping plane. */
TSR_HD int tsr_surface_begin(const tsr_frame *frame, const tsr_ray *ray, int32_t entered, tsr_ray *r, float *t0, float *t1, tsr_hit *hit)
{
    const tsr_field *f = &frame->surface;
    const float start = *t0;
    int32_t axis;
    *r = tsr_field_ray(f, ray);
    if (!tsr_field_clip(f, r, t0, t1, &axis)) return 0;
    return (axis || entered) && tsr_at(f, r, *t0) < 0.0f && tsr_enter_hit(frame, ray, start, *t0, axis, hit) ? 2 : 1;
}

/* The surface along a ray of the frame within [t0, t1]; `entered`: t0 is on the clipping plane. */
TSR_HD tsr_hit tsr_surface_hit(const tsr_frame *frame, int parts, const tsr_ray *ray, float t0, float t1, int32_t entered, float shift)
{
    tsr_hit hit = { TSR_HIT_NONE, TSR_FLOAT_BIG, { 0.0f, 0.0f, 0.0f } };
    const tsr_field *f = &frame->surface;
    if (tsr_frame_mesh(frame, parts)) {
        tsr_bvh_hit b = { t1, 0.0f, 0.0f, -1 };
        tsr_bvh_trace(&frame->bvh, tsr_sub3(ray->o, frame->mesh_origin), ray->d, t0, 0, &b);
        if (b.triangle < 0) return hit;
        const float *n = frame->bvh.normals + 9 * b.triangle;
        float w = (1.0f - b.u) - b.v;
        hit.kind = TSR_HIT_SURFACE;
        hit.t = b.t;
        if (frame->flat) {
            const float *q = frame->bvh.corners + 9 * b.triangle;
            tsr_float3 e = tsr_f3(q[3] - q[0], q[4] - q[1], q[5] - q[2]), g = tsr_f3(q[6] - q[0], q[7] - q[1], q[8] - q[2]);
            hit.normal = tsr_normalize3(tsr_cross3(e, g), tsr_scale3(ray->d, -1.0f));
            return hit;
        }
        hit.normal =
            tsr_normalize3(tsr_f3((w * n[0] + b.u * n[3]) + b.v * n[6], (w * n[1] + b.u * n[4]) + b.v * n[7], (w * n[2] + b.u * n[5]) + b.v * n[8]),
                           tsr_scale3(ray->d, -1.0f));
        return hit;
    }
    tsr_ray r;
    if (tsr_surface_begin(frame, ray, entered, &r, &t0, &t1, &hit) != 1) return hit;
    if (tsr_first_hit(f, &r, t0, t1, frame->dt, frame->inverse_dt, shift, &hit.t)) {
        hit.kind = TSR_HIT_SURFACE;
        hit.normal = tsr_hit_normal(f, ray, tsr_field_gradient(f, tsr_along3(r.o, r.d, hit.t)));
    }
    return hit;
}

/* A sample of a brick whose voxels are at most `high`: rounding must not lift it above, or the order in which bricks are looked at would show. */
TSR_HD float tsr_bounded(float v, float high) { return v > high ? high : v; }

/* Largest value of the source along the ray; -TSR_FLOAT_BIG if there is none. Bricks that cannot beat the best so far are skipped. */
TSR_HD float tsr_maximum(const tsr_frame *frame, const tsr_ray *ray, float t0, float t1, float shift)
{
    const tsr_field *f = &frame->volume;
    tsr_ray r = tsr_field_ray(f, ray);
    int32_t axis;
    float best = -TSR_FLOAT_BIG;
    if (!tsr_field_clip(f, &r, &t0, &t1, &axis)) return best;
    int32_t k = tsr_ceil_int(t0 * frame->inverse_dt - shift), end = tsr_floor_int(t1 * frame->inverse_dt - shift) + 1;
    while (k < end) {
        float at = ((float)k + shift) * frame->dt;
        int32_t brick[3];
        int64_t b = tsr_field_brick(f, tsr_along3(r.o, r.d, at), brick);
        int32_t stop = tsr_mini(end, tsr_maxi(k + 1, tsr_ceil_int(tsr_minf(tsr_field_exit(f, &r, brick, 0), t1) * frame->inverse_dt - shift)));
        if (f->range[2 * b + 1] <= best) {
            k = stop;
            continue;
        }
        for (; k < stop; k++) {
            float v = tsr_bounded(tsr_field_value(f, tsr_along3(r.o, r.d, ((float)k + shift) * frame->dt)), f->range[2 * b + 1]);
            if (v > best) best = v; /* NaN is left out */
        }
    }
    return best;
}

/* Blinn-Phong with a key light and a light at the viewer, sky and ground ambient; two-sided. `open` = share of the surroundings not hidden. */
TSR_HD tsr_float3 tsr_shade(const tsr_frame *frame, tsr_float3 color, tsr_float3 normal, tsr_float3 to_viewer, float open, float specular)
{
    if (tsr_dot3(normal, to_viewer) < 0.0f) normal = tsr_scale3(normal, -1.0f);
    float key = tsr_maxf(tsr_dot3(normal, frame->to_key_light), 0.0f), head = tsr_maxf(tsr_dot3(normal, to_viewer), 0.0f);
    float sky = 0.5f + 0.5f * tsr_dot3(normal, frame->up);
    float ambient = (0.13f + 0.15f * sky) * open, direct = 0.62f * key + 0.30f * head;
    tsr_float3 half = tsr_normalize3(tsr_add3(frame->to_key_light, to_viewer), to_viewer);
    float s = tsr_maxf(tsr_dot3(normal, half), 0.0f);
    s *= s;
    s *= s;
    s *= s;
    s *= s;
    s *= s; /* to the 32nd power */
    float shine = specular * s * open;
    float light = ambient + direct * (0.35f + 0.65f * open);
    return tsr_f3(color.x * light + shine, color.y * light + shine, color.z * light + shine);
}

/* Weight of the source by the sign of the surface field: smooth over one voxel to each side. Where the surface is more than a brick away the sign is
 * enough; beyond a dense field it is outside. */
TSR_HD int32_t tsr_region_inside(const tsr_frame *frame) { return frame->region != 2; }
TSR_HD float tsr_region_far(float phi, int32_t inside) { return (phi < 0.0f) == inside ? 1.0f : 0.0f; }
TSR_HD float tsr_region_beyond(const tsr_field *f) { return 2.0f * f->spacing; }
TSR_HD float tsr_region_distance(const tsr_field *f, float phi, float slope) { return phi / tsr_maxf(tsr_absf(f->scale) * slope, 1.0e-12f); }
TSR_HD float tsr_region_near(const tsr_field *f, float distance, int32_t inside)
{
    return tsr_smoothstepf(-f->spacing, f->spacing, inside ? -distance : distance);
}
TSR_HD float tsr_region_weight(const tsr_frame *frame, tsr_float3 p)
{
    const int32_t inside = tsr_region_inside(frame);
    const tsr_field *f = &frame->surface;
    tsr_float3 ip = tsr_field_point(f, p);
    float distance;
    if (!tsr_field_contains(f, ip, 0.0f) && f->kind == TSR_FIELD_DENSE) {
        distance = tsr_region_beyond(f);
    } else {
        int32_t brick[3];
        float phi = tsr_field_phi(f, ip);
        if (f->skip[tsr_field_brick(f, ip, brick)] > 1) return tsr_region_far(phi, inside);
        tsr_float3 g = tsr_field_gradient(f, ip);
        distance = tsr_region_distance(f, phi, tsr_sqrt(tsr_dot3(g, g)));
    }
    return tsr_region_near(f, distance, inside);
}

/* Where sample k is taken, and the length of the piece it stands for. */
TSR_HD float tsr_piece_middle(float dt, int32_t k, float shift, float t0, float t1)
{
    return tsr_clampf(((float)k + shift) * dt + 0.5f * dt, t0, t1);
}
TSR_HD float tsr_piece_begin(float dt, int32_t k, float shift, float t0) { return tsr_maxf(((float)k + shift) * dt, t0); }
TSR_HD float tsr_piece_end(float dt, int32_t k, float shift, float t1) { return tsr_minf(((float)k + shift) * dt + dt, t1); }
TSR_HD float tsr_piece_length(float dt, int32_t k, float shift, float t0, float t1)
{
    return tsr_piece_end(dt, k, shift, t1) - tsr_piece_begin(dt, k, shift, t0);
}
/* Opacity over a length from the opacity per reference length: 1 - 2^exponent. */
TSR_HD float tsr_piece_exponent(float extinction, float a, float length) { return extinction * length * tsr_transparency(a); }
/* Exponent per reference length of a piece with this exponent. */
TSR_HD float tsr_piece_reference(float extinction, float exponent, float length) { return exponent / (extinction * length); }
/* Colour of a sample in the light: the steeper the field, the more it is a surface. */
TSR_HD tsr_float3 tsr_sample_lit(const tsr_frame *frame, tsr_float3 color, tsr_float3 gradient, float slope, tsr_float3 viewer)
{
    tsr_float3 lit = tsr_shade(frame, color, tsr_normalize3(gradient, viewer), viewer, 1.0f, 0.5f * frame->specular);
    return tsr_mix3(color, lit, tsr_smoothstepf(frame->gradient_low, frame->gradient_high, slope));
}

/* Value of the surface's field at a frame position; beyond the field, that of its border. */
TSR_HD float tsr_frame_level(const tsr_frame *frame, tsr_float3 p) { return tsr_field_phi(&frame->surface, tsr_field_point(&frame->surface, p)); }

TSR_HD tsr_float3 tsr_region_tint(const tsr_frame *frame, tsr_float3 color, float weight)
{
    return tsr_mix3(color, frame->surface_color, 0.5f * weight);
}

/* Is the source nowhere steep enough in brick b for light to change a colour? (tsr_sample_lit would mix in none of it.) */
TSR_HD int tsr_brick_flat(const tsr_frame *frame, int64_t b) { return frame->volume.slope && frame->volume.slope[b] <= frame->gradient_low; }

/* Piece k of the ray through the source, in a brick that is `flat` or not: colour, and the exponent of its transparency (0 = clear, else negative). */
TSR_HD float tsr_volume_piece(const tsr_frame *frame, int parts, const tsr_transfer_linear *transfer, const tsr_ray *ray, const tsr_ray *in_field,
                              float t0, float t1, int32_t k, float shift, int flat, tsr_float3 *color)
{
    const tsr_field *f = &frame->volume;
    float t = tsr_piece_middle(frame->dt, k, shift, t0, t1), length = tsr_piece_length(frame->dt, k, shift, t0, t1), slope = 0.0f, exponent;
    tsr_float3 ip = tsr_along3(in_field->o, in_field->d, t), gradient = { 0.0f, 0.0f, 0.0f };
    if (transfer->needs_gradient) {
        gradient = tsr_field_gradient(f, ip);
        slope = tsr_sqrt(tsr_dot3(gradient, gradient));
    }
    if ((parts & TSR_PART_EXTRA) && frame->lookup.kind) {
        const tsr_lookup_view *l = &frame->lookup;
        float x, y, value;
        if (l->kind == TSR_LOOKUP_OF_PIECES) {
            value = tsr_field_value(f, tsr_along3(in_field->o, in_field->d, tsr_piece_begin(frame->dt, k, shift, t0)));
            x = tsr_lookup_value(l, value);
            float end = tsr_field_value(f, tsr_along3(in_field->o, in_field->d, tsr_piece_end(frame->dt, k, shift, t1)));
            y = tsr_lookup_value(l, end);
            value += end;
        } else {
            value = tsr_field_value(f, ip);
            x = tsr_lookup_value(l, value);
            y = tsr_lookup_gradient(l, slope);
        }
        if (!(value == value) || !(length > 0.0f)) return 0.0f;
        exponent = frame->extinction * length * tsr_lookup_entry(l, x, y, color);
        if (frame->region == 1 || frame->region == 2) { /* the weight multiplies the opacity, as below */
            float a =
                (1.0f - tsr_exp2(tsr_piece_reference(frame->extinction, exponent, length))) * tsr_region_weight(frame, tsr_along3(ray->o, ray->d, t));
            exponent = tsr_piece_exponent(frame->extinction, a, length);
        }
    } else {
        float level = (parts & TSR_PART_EXTRA) && transfer->needs_level ? tsr_frame_level(frame, tsr_along3(ray->o, ray->d, t)) : 0.0f;
        float a = tsr_transfer_evaluate(transfer, parts & TSR_PART_EXTRA, tsr_field_value(f, ip), slope, level, color);
        if (!(a > 0.0f) || !(length > 0.0f)) return 0.0f;
        if (frame->region == 1 || frame->region == 2) a *= tsr_region_weight(frame, tsr_along3(ray->o, ray->d, t));
        exponent = tsr_piece_exponent(frame->extinction, a, length);
    }
    if (!(exponent < 0.0f)) return 0.0f;
    if ((parts & TSR_PART_EXTRA) && frame->region == 3)
        *color = tsr_region_tint(frame, *color, tsr_region_weight(frame, tsr_along3(ray->o, ray->d, t)));
    if (frame->shaded && !flat) {
        if (!transfer->needs_gradient) {
            gradient = tsr_field_gradient(f, ip);
            slope = tsr_sqrt(tsr_dot3(gradient, gradient));
        }
        *color = tsr_sample_lit(frame, *color, gradient, slope, tsr_scale3(ray->d, -1.0f));
    }
    return exponent;
}

/* The same through the surface as a medium: colours in full light, by the normal of its level. */
TSR_HD float tsr_shell_piece(const tsr_frame *frame, const tsr_ray *ray, const tsr_ray *in_field, float t0, float t1, int32_t k, float shift,
                             tsr_float3 *color)
{
    const tsr_field *f = &frame->surface;
    float t = tsr_piece_middle(frame->dt, k, shift, t0, t1), length = tsr_piece_length(frame->dt, k, shift, t0, t1);
    tsr_float3 ip = tsr_along3(in_field->o, in_field->d, t), p = tsr_along3(ray->o, ray->d, t), viewer = tsr_scale3(ray->d, -1.0f);
    float distance = frame->clip_offset - tsr_dot3(frame->clip_normal, p);
    float a = tsr_transfer_evaluate(&frame->shell_transfer, 1, tsr_field_phi(f, ip), distance, 0.0f, color);
    if (!(a > 0.0f) || !(length > 0.0f)) return 0.0f;
    float exponent = tsr_piece_exponent(frame->shell_extinction, a, length);
    if (!(exponent < 0.0f)) return 0.0f;
    if (frame->shaded) *color = tsr_shade(frame, *color, tsr_normalize3(tsr_field_gradient(f, ip), viewer), viewer, 1.0f, frame->specular);
    return exponent;
}

TSR_HD void tsr_compose(tsr_float3 color, float exponent, tsr_float3 *c, float *alpha)
{
    float a = 1.0f - tsr_exp2(exponent);
    if (!(a > 0.0f)) return;
    float weight = (1.0f - *alpha) * a;
    *c = tsr_add3(*c, tsr_scale3(color, weight));
    *alpha += weight;
}

/* Number of the brick in which piece k of the ray lies; pieces up to *stop (at most `end`) lie in it or, if *skip, in bricks beside it that show nothing. */
TSR_HD int64_t tsr_march_brick(const tsr_frame *frame, const tsr_field *f, const tsr_ray *r, float t0, float t1, float shift, int32_t k, int32_t end,
                               int32_t *skip, int32_t *stop)
{
    const float at = tsr_clampf(((float)k + shift + 0.5f) * frame->dt, t0, t1);
    int32_t brick[3];
    const int64_t b = tsr_field_brick(f, tsr_along3(r->o, r->d, at), brick);
    *skip = f->skip[b];
    *stop = tsr_mini(end, tsr_maxi(k + 1, tsr_ceil_int(tsr_minf(tsr_field_exit(f, r, brick, *skip), t1) * frame->inverse_dt - shift - 0.5f)));
    return b;
}

/* Adds emission and absorption of the source in [t0, t1] to premultiplied *c with opacity *alpha, front to back. Sample k stands for the piece
 * [k, k + 1) dt of the ray, cut at t0 and t1, and is taken at the middle of the whole piece. */
TSR_HD void tsr_accumulate(const tsr_frame *frame, int parts, const tsr_transfer_linear *transfer, const tsr_ray *ray, float t0, float t1,
                           float shift, tsr_float3 *c, float *alpha)
{
    const tsr_field *f = &frame->volume;
    tsr_ray r = tsr_field_ray(f, ray);
    int32_t axis;
    if (!tsr_field_clip(f, &r, &t0, &t1, &axis)) return;
    int32_t k = tsr_floor_int(t0 * frame->inverse_dt - shift), end = tsr_ceil_int(t1 * frame->inverse_dt - shift);
    while (k < end && *alpha < 0.998f) {
        int32_t skip, stop;
        const int64_t b = tsr_march_brick(frame, f, &r, t0, t1, shift, k, end, &skip, &stop);
        if (skip) {
            k = stop;
            continue;
        }
        const int flat = tsr_brick_flat(frame, b);
        for (; k < stop && *alpha < 0.998f; k++) {
            tsr_float3 color = { 0.0f, 0.0f, 0.0f };
            float exponent = tsr_volume_piece(frame, parts, transfer, ray, &r, t0, t1, k, shift, flat, &color);
            if (exponent < 0.0f) tsr_compose(color, exponent, c, alpha);
        }
    }
}

/* One medium on its way along the ray. */
typedef struct tsr_medium {
    const tsr_field *field;
    const uint8_t *skip;
    tsr_ray ray; /* in the field */
    float t0, t1;
    int32_t begin, end;  /* pieces */
    int32_t seen, until; /* whether the pieces before `until` need a look */
    int64_t brick;       /* of these */
} tsr_medium;

TSR_HD void tsr_medium_start(const tsr_frame *frame, const tsr_field *f, const uint8_t *skip, const tsr_ray *ray, int show, float t0, float t1,
                             float shift, tsr_medium *m)
{
    int32_t axis;
    m->field = f;
    m->skip = skip;
    m->t0 = t0;
    m->t1 = t1;
    m->seen = m->until = 0;
    m->brick = 0;
    m->begin = m->end = 0;
    m->ray = *ray;
    if (!show || !(t0 < t1)) return;
    m->ray = tsr_field_ray(f, ray);
    if (!tsr_field_clip(f, &m->ray, &m->t0, &m->t1, &axis)) return;
    m->begin = tsr_floor_int(m->t0 * frame->inverse_dt - shift);
    m->end = tsr_ceil_int(m->t1 * frame->inverse_dt - shift);
    m->until = m->begin;
}

/* Does piece k need a look? Sets `until` to where that may change. */
TSR_HD int tsr_medium_look(const tsr_frame *frame, tsr_medium *m, int32_t k, float shift)
{
    if (k < m->begin) return 0;
    if (k >= m->end) {
        m->until = 0x7fffffff;
        return 0;
    }
    if (k < m->until) return m->seen;
    float at = tsr_clampf(((float)k + shift + 0.5f) * frame->dt, m->t0, m->t1);
    int32_t brick[3];
    m->brick = tsr_field_brick(m->field, tsr_along3(m->ray.o, m->ray.d, at), brick);
    int32_t skip = m->skip[m->brick];
    float exit = tsr_minf(tsr_field_exit(m->field, &m->ray, brick, skip), m->t1);
    m->until = tsr_mini(m->end, tsr_maxi(k + 1, tsr_ceil_int(exit * frame->inverse_dt - shift - 0.5f)));
    m->seen = skip == 0;
    return m->seen;
}

/* As tsr_accumulate for source and surface as two media in the same place: extinctions add up and colours mix by extinction, so that neither comes
 * first (docs/theory/rendering.md 6). The source counts in [v0, v1], the surface in [s0, s1]. */
TSR_HD void tsr_accumulate_media(const tsr_frame *frame, const tsr_transfer_linear *transfer, const tsr_ray *ray, int volume, float v0, float v1,
                                 float s0, float s1, float shift, tsr_float3 *c, float *alpha)
{
    tsr_medium source, shell;
    tsr_medium_start(frame, &frame->volume, frame->volume.skip, ray, volume, v0, v1, shift, &source);
    tsr_medium_start(frame, &frame->surface, frame->shell_skip, ray, 1, s0, s1, shift, &shell);
    int32_t any_source = source.begin < source.end, any_shell = shell.begin < shell.end;
    if (!any_source && !any_shell) return;
    int32_t k = !any_source ? shell.begin : !any_shell ? source.begin : tsr_mini(source.begin, shell.begin);
    int32_t end = !any_source ? shell.end : !any_shell ? source.end : tsr_maxi(source.end, shell.end);
    while (k < end && *alpha < 0.998f) {
        int in_source = any_source && tsr_medium_look(frame, &source, k, shift), in_shell = any_shell && tsr_medium_look(frame, &shell, k, shift);
        if (!in_source && !in_shell) {
            int32_t a = !any_source ? end : k < source.begin ? source.begin : source.until;
            int32_t b = !any_shell ? end : k < shell.begin ? shell.begin : shell.until;
            k = tsr_maxi(k + 1, tsr_mini(a, b));
            continue;
        }
        tsr_float3 color = { 0.0f, 0.0f, 0.0f }, other = { 0.0f, 0.0f, 0.0f };
        float e = 0.0f;
        if (in_source)
            e = tsr_volume_piece(frame, TSR_PARTS_ALL, transfer, ray, &source.ray, source.t0, source.t1, k, shift,
                                 tsr_brick_flat(frame, source.brick), &color);
        float g = in_shell ? tsr_shell_piece(frame, ray, &shell.ray, shell.t0, shell.t1, k, shift, &other) : 0.0f;
        if (g < 0.0f) color = e < 0.0f ? tsr_scale3(tsr_add3(tsr_scale3(color, e), tsr_scale3(other, g)), 1.0f / (e + g)) : other;
        if (e + g < 0.0f) tsr_compose(color, e + g, c, alpha);
        k++;
    }
}

#endif
