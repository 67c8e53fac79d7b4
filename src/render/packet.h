/* render/packet.h: where 16 rays side by side first meet the surface of a dense field, on the CPU, with the bits of tsr_surface_hit.
 *
 * Rays look only at samples in blocks of 2^3 cells in which the field changes sign (tsr_field.cells), and at the ones before and after them: cells
 * next to each other share a corner, so that between two samples outside such blocks, at most a voxel apart, nothing can happen. All rays go on to
 * their next such sample first, then all evaluate theirs, so that both loops become vector code. */
#ifndef TSR_RENDER_PACKET_H
#define TSR_RENDER_PACKET_H

#include "render/batch.h"
#include "render/packet_beam.h"

enum { TSR_PACKET = 16 };

typedef struct tsr_packet {
    float wx[TSR_PACKET], wy[TSR_PACKET], wz[TSR_PACKET], vx[TSR_PACKET], vy[TSR_PACKET], vz[TSR_PACKET]; /* in the frame: origin, direction */
    float ox[TSR_PACKET], oy[TSR_PACKET], oz[TSR_PACKET], dx[TSR_PACKET], dy[TSR_PACKET], dz[TSR_PACKET]; /* in the field */
    float inverse[3][TSR_PACKET];
    float start[TSR_PACKET], t0[TSR_PACKET], t1[TSR_PACKET], shift[TSR_PACKET];
    int32_t axis[TSR_PACKET], entered[TSR_PACKET];
    int32_t alive[TSR_PACKET]; /* 1: on its way, 0: done */
    int32_t found[TSR_PACKET];
    int32_t k[TSR_PACKET], first[TSR_PACKET], end[TSR_PACKET];
    float nx[TSR_PACKET], ny[TSR_PACKET], nz[TSR_PACKET], slope[TSR_PACKET], open[TSR_PACKET]; /* normal and slope at the hit; not hidden there */
    float a[TSR_PACKET], fa[TSR_PACKET], b[TSR_PACKET], fb[TSR_PACKET];                        /* last sample, this sample */
} tsr_packet;

/* Can packets find the surface of this frame? Samples must not be further apart than voxels are. */
TSR_INLINE int tsr_packet_fits(const tsr_frame *frame)
{
    const tsr_field *f = &frame->surface;
    return frame->show_surface && !frame->shell && f->cells && tsr_batch_fits(f) && frame->dt <= f->spacing;
}

TSR_INLINE tsr_ray tsr_packet_ray(const tsr_packet *p, int32_t i)
{
    tsr_ray r;
    r.o = tsr_f3(p->wx[i], p->wy[i], p->wz[i]);
    r.d = tsr_f3(p->vx[i], p->vy[i], p->vz[i]);
    return r;
}

/* Takes the ray of lane i over into the field. */
TSR_INLINE tsr_ray tsr_packet_enter(const tsr_field *f, tsr_packet *p, int32_t i)
{
    const tsr_ray ray = tsr_packet_ray(p, i), r = tsr_field_ray(f, &ray);
    p->ox[i] = r.o.x;
    p->oy[i] = r.o.y;
    p->oz[i] = r.o.z;
    p->dx[i] = r.d.x;
    p->dy[i] = r.d.y;
    p->dz[i] = r.d.z;
    p->inverse[0][i] = 1.0f / r.d.x;
    p->inverse[1][i] = 1.0f / r.d.y;
    p->inverse[2][i] = 1.0f / r.d.z;
    return r;
}

/* The field of the lanes at t. */
static __attribute__((noinline)) void tsr_packet_values(const tsr_field *f, const tsr_packet *p, const float *t, float *value)
{
    float x[TSR_LANES], y[TSR_LANES], z[TSR_LANES], v[TSR_LANES];
    TSR_LANES_LOOP
    for (int32_t i = 0; i < TSR_PACKET; i++) {
        x[i] = p->ox[i] + p->dx[i] * t[i];
        y[i] = p->oy[i] + p->dy[i] * t[i];
        z[i] = p->oz[i] + p->dz[i] * t[i];
    }
    tsr_batch_values(f, x, y, z, TSR_PACKET, v);
    TSR_LANES_LOOP
    for (int32_t i = 0; i < TSR_PACKET; i++) value[i] = f->scale * v[i] + f->offset;
}

/* Lanes whose block of cells at t is one in which the field changes sign; `beyond`: first t behind what is known to be empty. */
static __attribute__((noinline)) void tsr_packet_blocks(const tsr_field *f, const tsr_packet *p, const float *t, int32_t *seen, float *beyond)
{
    const int32_t mx = f->bricks[0] - 1, my = f->bricks[1] - 1, mz = f->bricks[2] - 1, across = f->bricks[0], along = f->bricks[1];
    int32_t cell[3][TSR_PACKET], brick[TSR_PACKET], bit[TSR_PACKET], skip[TSR_PACKET];
    TSR_LANES_LOOP
    for (int32_t i = 0; i < TSR_PACKET; i++) {
        const float x = p->ox[i] + p->dx[i] * t[i], y = p->oy[i] + p->dy[i] * t[i], z = p->oz[i] + p->dz[i] * t[i];
        const int32_t cx = tsr_mini(tsr_maxi((int32_t)x, 0), 8 * mx + 7), cy = tsr_mini(tsr_maxi((int32_t)y, 0), 8 * my + 7),
                      cz = tsr_mini(tsr_maxi((int32_t)z, 0), 8 * mz + 7);
        cell[0][i] = cx;
        cell[1][i] = cy;
        cell[2][i] = cz;
        brick[i] = ((cz >> 3) * along + (cy >> 3)) * across + (cx >> 3);
        bit[i] = (cz >> 1 & 3) * 16 + (cy >> 1 & 3) * 4 + (cx >> 1 & 3);
    }
    for (int32_t i = 0; i < TSR_PACKET; i++) {
        skip[i] = f->skip[brick[i]];
        seen[i] = (int32_t)(f->cells[brick[i]] >> bit[i] & 1); /* none where bricks are skipped */
    }
    TSR_LANES_LOOP
    for (int32_t i = 0; i < TSR_PACKET; i++) {
        const int32_t edge = skip[i] ? 3 : 1, high = tsr_maxi(skip[i], 1), low = 1 - high;
        const float scale = skip[i] ? 8.0f : 2.0f;
        const float fx = (float)((cell[0][i] >> edge) + (p->dx[i] > 0.0f ? high : low)) * scale;
        const float fy = (float)((cell[1][i] >> edge) + (p->dy[i] > 0.0f ? high : low)) * scale;
        const float fz = (float)((cell[2][i] >> edge) + (p->dz[i] > 0.0f ? high : low)) * scale;
        const float tx = (fx - p->ox[i]) * p->inverse[0][i], ty = (fy - p->oy[i]) * p->inverse[1][i], tz = (fz - p->oz[i]) * p->inverse[2][i];
        const float ax = tsr_absf(p->dx[i]) < 1.0e-12f ? TSR_FLOAT_BIG : tx, ay = tsr_absf(p->dy[i]) < 1.0e-12f ? TSR_FLOAT_BIG : ty,
                    az = tsr_absf(p->dz[i]) < 1.0e-12f ? TSR_FLOAT_BIG : tz;
        beyond[i] = tsr_minf(tsr_minf(ax, ay), tsr_minf(az, p->t1[i]));
    }
}

/* Rays in the field, cut by its box. Returns how many are left. */
static __attribute__((noinline)) int32_t tsr_packet_start(const tsr_frame *frame, tsr_packet *p)
{
    const tsr_field *f = &frame->surface;
    int32_t alive = 0;
    for (int32_t i = 0; i < TSR_PACKET; i++) p->start[i] = p->t0[i];
    TSR_LANES_LOOP
    for (int32_t i = 0; i < TSR_PACKET; i++) {
        const tsr_ray r = tsr_packet_enter(f, p, i);
        float t0 = p->t0[i], t1 = p->t1[i];
        int32_t axis;
        const int hit = tsr_field_clip(f, &r, &t0, &t1, &axis);
        p->alive[i] = p->alive[i] & hit;
        p->t0[i] = t0;
        p->t1[i] = t1;
        p->axis[i] = axis;
        p->found[i] = 0;
        p->k[i] = p->first[i] = hit ? tsr_ceil_int(t0 * frame->inverse_dt - p->shift[i]) : 0;
        p->end[i] = hit ? tsr_ceil_int(t1 * frame->inverse_dt - p->shift[i]) : 0;
    }
    for (int32_t i = 0; i < TSR_PACKET; i++) {
        if (!p->alive[i]) p->t0[i] = p->t1[i] = 0.0f;
        alive += p->alive[i];
    }
    return alive;
}

/* All rays go to their next sample that needs a look, or to the end: `look`. */
static __attribute__((noinline)) int32_t tsr_packet_advance(const tsr_frame *frame, tsr_packet *p, int32_t *look)
{
    const tsr_field *f = &frame->surface;
    int32_t going[TSR_PACKET], seen[TSR_PACKET], any = 0, left = 0;
    float t[TSR_PACKET], beyond[TSR_PACKET];
    for (int32_t i = 0; i < TSR_PACKET; i++) {
        look[i] = 0;
        going[i] = p->alive[i] && p->k[i] < p->end[i];
        left |= going[i];
    }
    while (left) {
        TSR_LANES_LOOP
        for (int32_t i = 0; i < TSR_PACKET; i++) t[i] = ((float)p->k[i] + p->shift[i]) * frame->dt;
        tsr_packet_blocks(f, p, t, seen, beyond);
        left = 0;
        for (int32_t i = 0; i < TSR_PACKET; i++) {
            const int32_t next = tsr_mini(p->end[i], tsr_maxi(p->k[i] + 1, tsr_ceil_int(beyond[i] * frame->inverse_dt - p->shift[i])));
            const int32_t stays = going[i] & seen[i];
            look[i] |= stays;
            p->k[i] = (going[i] & !stays) ? next : p->k[i];
            going[i] = going[i] & !stays & (p->k[i] < p->end[i]);
            left |= going[i];
            any |= stays;
        }
    }
    return any;
}

/* Rays that `look` compare samples until one changes sign, or none of the two at hand needs a look. */
static __attribute__((noinline)) void tsr_packet_compare(const tsr_frame *frame, tsr_packet *p, int32_t *look)
{
    const tsr_field *f = &frame->surface;
    int32_t seen[TSR_PACKET], before[TSR_PACKET], left = 1;
    float t[TSR_PACKET], value[TSR_PACKET], beyond[TSR_PACKET];
    for (int32_t i = 0; i < TSR_PACKET; i++) {
        p->a[i] = p->k[i] == p->first[i] ? p->t0[i] : ((float)(p->k[i] - 1) + p->shift[i]) * frame->dt;
        before[i] = 1;
    }
    tsr_packet_values(f, p, p->a, p->fa);
    while (left) {
        for (int32_t i = 0; i < TSR_PACKET; i++) t[i] = ((float)p->k[i] + p->shift[i]) * frame->dt;
        tsr_packet_values(f, p, t, value);
        tsr_packet_blocks(f, p, t, seen, beyond);
        left = 0;
        for (int32_t i = 0; i < TSR_PACKET; i++) {
            const int32_t crossed = look[i] & ((value[i] < 0.0f) != (p->fa[i] < 0.0f));
            const int32_t on = look[i] & !crossed;
            p->b[i] = crossed ? t[i] : p->b[i];
            p->fb[i] = crossed ? value[i] : p->fb[i];
            p->a[i] = on ? t[i] : p->a[i];
            p->fa[i] = on ? value[i] : p->fa[i];
            p->found[i] |= crossed;
            p->alive[i] &= !crossed;
            p->k[i] += on;
            look[i] = on & (seen[i] | before[i]) & (p->k[i] < p->end[i]);
            before[i] = seen[i];
            left |= look[i];
        }
    }
}

/* The piece between the last sample and the end of the ray. */
TSR_INLINE void tsr_packet_last(const tsr_frame *frame, tsr_packet *p)
{
    const tsr_field *f = &frame->surface;
    int32_t seen[2][TSR_PACKET], any = 0;
    float t[TSR_PACKET], value[TSR_PACKET], beyond[TSR_PACKET];
    for (int32_t i = 0; i < TSR_PACKET; i++) any |= p->alive[i];
    if (!any) return;
    any = 0;
    for (int32_t i = 0; i < TSR_PACKET; i++) t[i] = tsr_maxf(p->t0[i], ((float)(p->end[i] - 1) + p->shift[i]) * frame->dt);
    tsr_packet_blocks(f, p, t, seen[0], beyond);
    tsr_packet_blocks(f, p, p->t1, seen[1], beyond);
    for (int32_t i = 0; i < TSR_PACKET; i++) any |= p->alive[i] & (seen[0][i] | seen[1][i]);
    if (!any) return;
    float low[TSR_PACKET];
    tsr_packet_values(f, p, t, low);
    tsr_packet_values(f, p, p->t1, value);
    for (int32_t i = 0; i < TSR_PACKET; i++) {
        if (!p->alive[i] || !(seen[0][i] | seen[1][i]) || (value[i] < 0.0f) == (low[i] < 0.0f)) continue;
        p->a[i] = t[i];
        p->fa[i] = low[i];
        p->b[i] = p->t1[i];
        p->fb[i] = value[i];
        p->found[i] = 1;
        p->alive[i] = 0;
    }
}

/* tsr_refine of the rays that crossed the surface, and the normals there. */
static __attribute__((noinline)) void tsr_packet_refine(const tsr_frame *frame, tsr_packet *p)
{
    const tsr_field *f = &frame->surface;
    float t[TSR_PACKET], value[TSR_PACKET];
    tsr_batch s;
    for (int32_t step = 0; step < TSR_REFINE_STEPS; step++) {
        TSR_LANES_LOOP
        for (int32_t i = 0; i < TSR_PACKET; i++) t[i] = p->a[i] + tsr_refine_share(step, p->fa[i], p->fb[i]) * (p->b[i] - p->a[i]);
        tsr_packet_values(f, p, t, value);
        TSR_LANES_LOOP
        for (int32_t i = 0; i < TSR_PACKET; i++) {
            const int32_t same = (value[i] < 0.0f) == (p->fa[i] < 0.0f);
            p->a[i] = same ? t[i] : p->a[i];
            p->fa[i] = same ? value[i] : p->fa[i];
            p->b[i] = same ? p->b[i] : t[i];
            p->fb[i] = same ? p->fb[i] : value[i];
        }
    }
    TSR_LANES_LOOP
    for (int32_t i = 0; i < TSR_PACKET; i++) {
        t[i] = tsr_refine_end(p->a[i], p->fa[i], p->b[i], p->fb[i]);
        s.x[i] = p->ox[i] + p->dx[i] * t[i];
        s.y[i] = p->oy[i] + p->dy[i] * t[i];
        s.z[i] = p->oz[i] + p->dz[i] * t[i];
    }
    tsr_batch_gradients(f, &s, TSR_PACKET);
    TSR_LANES_LOOP
    for (int32_t i = 0; i < TSR_PACKET; i++) {
        const tsr_ray ray = tsr_packet_ray(p, i);
        const tsr_float3 n = tsr_hit_normal(f, &ray, tsr_f3(s.gx[i], s.gy[i], s.gz[i]));
        p->a[i] = t[i];
        p->nx[i] = n.x;
        p->ny[i] = n.y;
        p->nz[i] = n.z;
    }
}

/* Do rays that find no change of sign find nothing? */
TSR_INLINE int tsr_packet_shut(const tsr_frame *frame) { return frame->surface.closed && !(frame->clip && frame->clip_surface); }

/* Before which t there is nothing for pixels (x0, y0) .. (x1 - 1, y1 - 1), if rays need not look before *u, which moves along. */
static float tsr_packet_safe(const tsr_frame *frame, int32_t x0, int32_t y0, int32_t x1, int32_t y1, float *u)
{
    tsr_beam beam;
    tsr_beam_make(frame, &frame->surface, x0, y0, x1, y1, &beam);
    *u = tsr_beam_walk(&beam, &frame->surface, *u);
    if (*u >= TSR_FLOAT_BIG) return TSR_FLOAT_BIG;
    return frame->orthographic ? *u : tsr_maxf(frame->t_near, *u * beam.shortest);
}

/* Finds what tsr_surface_hit finds for the rays and shifts of the packet; lanes from `count` on are copies. Hits on the surface are left in
 * `found`, `a` and the normals, too. `safe`: there is nothing to meet before it, as tsr_packet_safe knows; t_near if nothing is known. */
static void tsr_packet_hits(const tsr_frame *frame, tsr_packet *p, int32_t count, float safe, tsr_hit *hits)
{
    const tsr_field *f = &frame->surface;
    const tsr_hit none = { TSR_HIT_NONE, TSR_FLOAT_BIG, { 0.0f, 0.0f, 0.0f } };
    int32_t look[TSR_PACKET], any = 0, found = 0;
    float value[TSR_PACKET], beyond[TSR_PACKET];
    for (int32_t i = 0; i < TSR_PACKET; i++) {
        hits[i] = none;
        p->t0[i] = frame->t_near;
        p->t1[i] = TSR_FLOAT_BIG;
        p->entered[i] = p->found[i] = 0;
        p->alive[i] = i < count;
        p->a[i] = p->b[i] = 0.0f;
        p->fa[i] = -1.0f;
        p->fb[i] = 1.0f;
    }
    if (safe >= TSR_FLOAT_BIG && tsr_packet_shut(frame)) return;
    for (int32_t i = 0; i < count && frame->clip && frame->clip_surface; i++) {
        const tsr_ray ray = tsr_packet_ray(p, i);
        p->alive[i] = tsr_plane_clip(&ray, frame->clip_normal, frame->clip_offset, &p->t0[i], &p->t1[i], &p->entered[i]);
    }
    if (!tsr_packet_start(frame, p)) return;
    for (int32_t i = 0; i < TSR_PACKET; i++) any |= p->alive[i] & (((p->axis[i] != 0) & !f->closed) | p->entered[i]);
    if (any) {
        tsr_packet_values(f, p, p->t0, value);
        for (int32_t i = 0; i < TSR_PACKET; i++) {
            const tsr_ray ray = tsr_packet_ray(p, i);
            if (p->alive[i] && (p->axis[i] || p->entered[i]) && value[i] < 0.0f &&
                tsr_enter_hit(frame, &ray, p->start[i], p->t0[i], p->axis[i], &hits[i]))
                p->alive[i] = 0;
        }
    }
    if (safe >= TSR_FLOAT_BIG) return;
    any = 0;
    for (int32_t i = 0; i < TSR_PACKET; i++) any |= p->alive[i] & (p->t0[i] >= safe);
    if (any) { /* where rays begin need not be a sample */
        tsr_packet_blocks(f, p, p->t0, look, beyond);
        any = 0;
        for (int32_t i = 0; i < TSR_PACKET; i++) {
            look[i] &= p->alive[i] & (p->k[i] < p->end[i]);
            any |= look[i];
        }
        if (any) tsr_packet_compare(frame, p, look);
    }
    TSR_LANES_LOOP
    for (int32_t i = 0; i < TSR_PACKET; i++) {
        const int32_t next = tsr_ceil_int(tsr_minf(safe, p->t1[i]) * frame->inverse_dt - p->shift[i]);
        p->k[i] = tsr_maxi(p->k[i], tsr_mini(next, p->end[i]));
    }
    while (tsr_packet_advance(frame, p, look)) tsr_packet_compare(frame, p, look);
    tsr_packet_last(frame, p);
    for (int32_t i = 0; i < TSR_PACKET; i++) found |= p->found[i];
    if (!found) return;
    tsr_packet_refine(frame, p);
    for (int32_t i = 0; i < TSR_PACKET; i++) {
        if (!p->found[i]) continue;
        hits[i].kind = TSR_HIT_SURFACE;
        hits[i].t = p->a[i];
        hits[i].normal = tsr_f3(p->nx[i], p->ny[i], p->nz[i]);
    }
}

#endif
