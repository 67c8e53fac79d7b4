/* render/packet_volume.h: emission and absorption along 16 rays side by side in a dense volume, on the CPU, with the values of tsr_accumulate.
 *
 * Two pieces of 16 rays are computed at a time (batch.h), and then composed, 16 rays at once: nothing is left that goes sample by sample. Every
 * TSR_LEAP pieces the rays look at the bricks where they are and leave out those without opacity; pieces of such bricks that are computed all the same
 * come out clear. */
#ifndef TSR_RENDER_PACKET_VOLUME_H
#define TSR_RENDER_PACKET_VOLUME_H

#include "render/batch_region.h"
#include "render/packet_pixels.h"

enum { TSR_TURN = TSR_LANES / TSR_PACKET, TSR_LEAP = 8 };
_Static_assert(TSR_LEAP % TSR_TURN == 0, "whole turns");

/* Rays in the volume and what has been seen along them. */
typedef struct tsr_bundle {
    float alpha[TSR_PACKET], r[TSR_PACKET], g[TSR_PACKET], b[TSR_PACKET];
    int32_t flat; /* nothing steep among the lanes of this turn */
} tsr_bundle;

/* Can packets draw the volume of this frame: one ray a pixel, and an opaque surface in it or none? */
TSR_INLINE int tsr_bundle_fits(const tsr_frame *frame)
{
    return frame->show_volume && !frame->mip && tsr_batch_fits(&frame->volume) && frame->samples == 1 && !frame->shell &&
           !(frame->clip && (frame->show_surface || frame->clip_face == TSR_FACE_QUAD)) && !(frame->show_surface && frame->opacity < 1.0f);
}

/* Rays that are on their way leave bricks without opacity. Returns how many have pieces left. */
static __attribute__((noinline)) int32_t tsr_bundle_skip(const tsr_frame *frame, tsr_packet *p, const tsr_bundle *s)
{
    const tsr_field *f = &frame->volume;
    const int32_t across = f->bricks[0], along = f->bricks[1];
    const int32_t mx = f->bricks[0] - 1, my = f->bricks[1] - 1, mz = f->bricks[2] - 1;
    const float scale = 1.0f / (float)(1 << TSR_BRICK_LOG2), edge = (float)(1 << TSR_BRICK_LOG2);
    int32_t brick[3][TSR_PACKET], at[TSR_PACKET], skip[TSR_PACKET], moved, left;
    do {
        TSR_LANES_LOOP
        for (int32_t i = 0; i < TSR_PACKET; i++) {
            const float t = tsr_clampf(((float)p->k[i] + p->shift[i] + 0.5f) * frame->dt, p->t0[i], p->t1[i]);
            brick[0][i] = tsr_maxi(0, tsr_mini(mx, (int32_t)((p->ox[i] + p->dx[i] * t) * scale)));
            brick[1][i] = tsr_maxi(0, tsr_mini(my, (int32_t)((p->oy[i] + p->dy[i] * t) * scale)));
            brick[2][i] = tsr_maxi(0, tsr_mini(mz, (int32_t)((p->oz[i] + p->dz[i] * t) * scale)));
            at[i] = (brick[2][i] * along + brick[1][i]) * across + brick[0][i];
        }
        moved = left = 0;
        for (int32_t i = 0; i < TSR_PACKET; i++) {
            const int32_t on = p->alive[i] & (p->k[i] < p->end[i]) & (s->alpha[i] < 0.998f);
            skip[i] = on ? f->skip[at[i]] : 0;
            moved |= skip[i];
            left += on;
        }
        if (!moved) break;
        TSR_LANES_LOOP
        for (int32_t i = 0; i < TSR_PACKET; i++) {
            const float fx = (float)(brick[0][i] + (p->dx[i] > 0.0f ? skip[i] : 1 - skip[i])) * edge;
            const float fy = (float)(brick[1][i] + (p->dy[i] > 0.0f ? skip[i] : 1 - skip[i])) * edge;
            const float fz = (float)(brick[2][i] + (p->dz[i] > 0.0f ? skip[i] : 1 - skip[i])) * edge;
            const float tx = (fx - p->ox[i]) * p->inverse[0][i], ty = (fy - p->oy[i]) * p->inverse[1][i], tz = (fz - p->oz[i]) * p->inverse[2][i];
            const float ax = tsr_absf(p->dx[i]) < 1.0e-12f ? TSR_FLOAT_BIG : tx, ay = tsr_absf(p->dy[i]) < 1.0e-12f ? TSR_FLOAT_BIG : ty,
                        az = tsr_absf(p->dz[i]) < 1.0e-12f ? TSR_FLOAT_BIG : tz;
            const float exit = tsr_minf(tsr_minf(ax, ay), tsr_minf(az, p->t1[i]));
            const int32_t next = tsr_maxi(p->k[i] + 1, tsr_ceil_int(exit * frame->inverse_dt - p->shift[i] - 0.5f));
            p->k[i] = skip[i] ? tsr_mini(p->end[i], next) : p->k[i];
        }
    } while (moved);
    return left;
}

/* Is a lane's sample in a brick where light may change a colour? */
static __attribute__((noinline)) void tsr_bundle_steep(const tsr_frame *frame, tsr_batch *s, tsr_bundle *bundle)
{
    const tsr_field *f = &frame->volume;
    const float scale = 1.0f / (float)(1 << TSR_BRICK_LOG2);
    const int32_t mx = f->bricks[0] - 1, my = f->bricks[1] - 1, mz = f->bricks[2] - 1, across = f->bricks[0], along = f->bricks[1];
    int32_t at[TSR_LANES], any = 0;
    TSR_LANES_LOOP
    for (int32_t i = 0; i < TSR_LANES; i++) {
        const int32_t x = tsr_maxi(0, tsr_mini(mx, (int32_t)(s->x[i] * scale))), y = tsr_maxi(0, tsr_mini(my, (int32_t)(s->y[i] * scale))),
                      z = tsr_maxi(0, tsr_mini(mz, (int32_t)(s->z[i] * scale)));
        at[i] = (z * along + y) * across + x;
    }
    for (int32_t i = 0; i < TSR_LANES; i++) {
        s->steep[i] = s->a[i] > 0.0f && !tsr_brick_flat(frame, at[i]);
        any |= s->steep[i];
    }
    bundle->flat = !any;
}

/* Values at the beginning and the end of the pieces. */
static __attribute__((noinline)) void tsr_bundle_ends(const tsr_frame *frame, const tsr_packet *p, int32_t turn, tsr_batch *s)
{
    const float dt = frame->dt;
    float x[TSR_LANES], y[TSR_LANES], z[TSR_LANES];
    for (int32_t end = 0; end < 2; end++) {
        for (int32_t j = 0; j < TSR_TURN; j++) {
            const int32_t o = j * TSR_PACKET, more = turn + j;
            TSR_LANES_LOOP
            for (int32_t i = 0; i < TSR_PACKET; i++) {
                const int32_t k = tsr_mini(p->k[i] + more, p->end[i]);
                const float begin = tsr_piece_begin(dt, k, p->shift[i], p->t0[i]), behind = tsr_piece_end(dt, k, p->shift[i], p->t1[i]);
                const float t = end ? behind : begin;
                x[o + i] = p->ox[i] + p->dx[i] * t;
                y[o + i] = p->oy[i] + p->dy[i] * t;
                z[o + i] = p->oz[i] + p->dz[i] * t;
            }
        }
        tsr_batch_values(&frame->volume, x, y, z, TSR_LANES, end ? s->behind : s->value);
    }
}

/* Pieces k, k + 1 of all rays. */
static __attribute__((noinline)) void tsr_bundle_turn(const tsr_frame *frame, const tsr_transfer_linear *transfer, const tsr_points *points,
                                                      const tsr_packet *p, int32_t turn, tsr_bundle *bundle)
{
    const tsr_field *f = &frame->volume;
    const float dt = frame->dt;
    const int gradients = transfer->needs_gradient != 0, table = frame->lookup.kind != TSR_LOOKUP_OFF, level = transfer->needs_level && !table;
    tsr_batch s;
    for (int32_t j = 0; j < TSR_TURN; j++) {
        const int32_t o = j * TSR_PACKET, more = turn + j;
        TSR_LANES_LOOP
        for (int32_t i = 0; i < TSR_PACKET; i++) {
            const int32_t k = tsr_mini(p->k[i] + more, p->end[i]);
            const float t = tsr_piece_middle(dt, k, p->shift[i], p->t0[i], p->t1[i]);
            s.t[o + i] = t;
            s.length[o + i] = tsr_piece_length(dt, k, p->shift[i], p->t0[i], p->t1[i]);
            s.x[o + i] = p->ox[i] + p->dx[i] * t;
            s.y[o + i] = p->oy[i] + p->dy[i] * t;
            s.z[o + i] = p->oz[i] + p->dz[i] * t;
            s.slope[o + i] = s.level[o + i] = 0.0f;
        }
    }
    if (level || frame->region) {
        for (int32_t j = 0; j < TSR_TURN; j++) {
            const int32_t o = j * TSR_PACKET;
            TSR_LANES_LOOP
            for (int32_t i = 0; i < TSR_PACKET; i++) {
                s.px[o + i] = p->wx[i] + p->vx[i] * s.t[o + i];
                s.py[o + i] = p->wy[i] + p->vy[i] * s.t[o + i];
                s.pz[o + i] = p->wz[i] + p->vz[i] * s.t[o + i];
            }
        }
    }
    if (gradients) tsr_batch_gradients(f, &s, TSR_LANES);
    if (level) tsr_batch_levels(frame, &s, TSR_LANES);
    if (frame->lookup.kind == TSR_LOOKUP_OF_PIECES) tsr_bundle_ends(frame, p, turn, &s);
    else tsr_batch_values(f, s.x, s.y, s.z, TSR_LANES, s.value);
    if (table) tsr_batch_lookup(&frame->lookup, &s, TSR_LANES);
    else tsr_batch_transfer(transfer, points, &s, TSR_LANES);
    tsr_batch_opacities(frame, &s, TSR_LANES);
    bundle->flat = 1;
    if (frame->shaded) tsr_bundle_steep(frame, &s, bundle);
    if (!bundle->flat) {
        if (!gradients) tsr_batch_gradients(f, &s, TSR_LANES);
        for (int32_t j = 0; j < TSR_TURN; j++) {
            const int32_t o = j * TSR_PACKET;
            TSR_LANES_LOOP
            for (int32_t i = 0; i < TSR_PACKET; i++) {
                const tsr_float3 viewer = tsr_f3(-p->vx[i], -p->vy[i], -p->vz[i]);
                const tsr_float3 lit = tsr_sample_lit(frame, tsr_f3(s.r[o + i], s.g[o + i], s.b[o + i]),
                                                      tsr_f3(s.gx[o + i], s.gy[o + i], s.gz[o + i]), s.slope[o + i], viewer);
                s.r[o + i] = s.steep[o + i] ? lit.x : s.r[o + i];
                s.g[o + i] = s.steep[o + i] ? lit.y : s.g[o + i];
                s.b[o + i] = s.steep[o + i] ? lit.z : s.b[o + i];
            }
        }
    }
    for (int32_t j = 0; j < TSR_TURN; j++) {
        const int32_t o = j * TSR_PACKET, more = turn + j;
        TSR_LANES_LOOP
        for (int32_t i = 0; i < TSR_PACKET; i++) {
            const int32_t on =
                p->alive[i] & (p->k[i] + more < p->end[i]) & (bundle->alpha[i] < 0.998f) & (s.a[o + i] > 0.0f) & (s.length[o + i] > 0.0f);
            const float weight = on ? (1.0f - bundle->alpha[i]) * s.a[o + i] : 0.0f;
            bundle->r[i] += on ? s.r[o + i] * weight : 0.0f;
            bundle->g[i] += on ? s.g[o + i] * weight : 0.0f;
            bundle->b[i] += on ? s.b[o + i] * weight : 0.0f;
            bundle->alpha[i] += weight;
        }
    }
}

/* tsr_accumulate of the lanes between t0 and t1 of the packet: colours (premultiplied) and opacities of the bundle. */
static __attribute__((noinline)) void tsr_bundle_accumulate(const tsr_frame *frame, const tsr_transfer_linear *transfer, tsr_packet *p, tsr_bundle *s)
{
    const tsr_field *f = &frame->volume;
    tsr_points points;
    tsr_points_take(transfer, &points);
    TSR_LANES_LOOP
    for (int32_t i = 0; i < TSR_PACKET; i++) {
        const tsr_ray r = tsr_packet_enter(f, p, i);
        float t0 = p->t0[i], t1 = p->t1[i];
        int32_t axis;
        const int hit = tsr_field_clip(f, &r, &t0, &t1, &axis) & (t0 < t1);
        p->alive[i] &= hit;
        p->t0[i] = hit ? t0 : 0.0f;
        p->t1[i] = hit ? t1 : 0.0f;
        p->k[i] = hit ? tsr_floor_int(t0 * frame->inverse_dt - p->shift[i]) : 0;
        p->end[i] = hit ? tsr_ceil_int(t1 * frame->inverse_dt - p->shift[i]) : 0;
        s->alpha[i] = s->r[i] = s->g[i] = s->b[i] = 0.0f;
    }
    while (tsr_bundle_skip(frame, p, s)) {
        for (int32_t turn = 0; turn < TSR_LEAP; turn += TSR_TURN) tsr_bundle_turn(frame, transfer, &points, p, turn, s);
        for (int32_t i = 0; i < TSR_PACKET; i++) p->k[i] = tsr_mini(p->k[i] + TSR_LEAP, p->end[i]);
    }
}

/* Pixels (x, y) .. (x + columns - 1, y + rows - 1), at most 4 x 4 of them; `u`: as for tsr_packet_pixels. */
static void tsr_bundle_pixels(const tsr_frame *frame, const tsr_transfer_linear *transfer, int32_t x, int32_t y, int32_t columns, int32_t rows,
                              float u, float *rgba, float *depth)
{
    tsr_packet p;
    tsr_bundle bundle;
    tsr_hit hits[TSR_PACKET];
    tsr_float3 color[TSR_PACKET];
    int32_t across[TSR_PACKET], down[TSR_PACKET], any = 0;
    const int32_t count = columns * rows;
    tsr_packet_places(frame, &p, x, y, columns, count, across, down);
    tsr_packet_rays(frame, &p, across, down, 0, 0);
    for (int32_t i = 0; i < TSR_PACKET; i++) hits[i] = (tsr_hit){ TSR_HIT_NONE, TSR_FLOAT_BIG, { 0.0f, 0.0f, 0.0f } };
    if (frame->show_surface && tsr_packet_fits(frame)) {
        tsr_packet_hits(frame, &p, count, tsr_packet_safe(frame, x, y, x + columns, y + rows, &u), hits);
        for (int32_t i = 0; i < count; i++) any |= hits[i].kind != TSR_HIT_NONE;
        if (any) tsr_packet_shade(frame, &p, hits, color);
    } else if (frame->show_surface) {
        for (int32_t i = 0; i < count; i++) {
            const tsr_ray ray = tsr_packet_ray(&p, i);
            hits[i] = tsr_surface_hit(frame, TSR_PARTS_ALL, &ray, frame->t_near, TSR_FLOAT_BIG, 0, p.shift[i]);
            if (hits[i].kind != TSR_HIT_NONE) color[i] = tsr_hit_color(frame, TSR_PARTS_ALL, &ray, hits + i);
        }
    }
    for (int32_t i = 0; i < TSR_PACKET; i++) {
        const tsr_ray ray = tsr_packet_ray(&p, i);
        int32_t ignored = 0;
        p.t0[i] = frame->t_near;
        p.t1[i] = TSR_FLOAT_BIG;
        p.alive[i] = i < count;
        if (frame->clip && frame->clip_volume)
            p.alive[i] &= tsr_plane_clip(&ray, frame->clip_normal, frame->clip_offset, &p.t0[i], &p.t1[i], &ignored);
        p.t1[i] = tsr_minf(p.t1[i], hits[i].t);
    }
    tsr_bundle_accumulate(frame, transfer, &p, &bundle);
    for (int32_t i = 0; i < count; i++) {
        tsr_float3 c = tsr_f3(bundle.r[i], bundle.g[i], bundle.b[i]);
        float alpha = bundle.alpha[i], far = TSR_FLOAT_BIG;
        if (hits[i].kind != TSR_HIT_NONE) {
            if (alpha < 0.998f) tsr_over(&c, &alpha, color[i], frame->opacity);
            far = hits[i].t + frame->depth_shift;
        }
        if (!frame->transparent) tsr_over(&c, &alpha, tsr_frame_background(frame, down[i]), 1.0f);
        tsr_pixel out = { c.x, c.y, c.z, tsr_minf(alpha, 1.0f), far };
        tsr_pixel_blend(frame, &out, rgba, depth, (int64_t)down[i] * frame->width + across[i]);
    }
}

#endif
