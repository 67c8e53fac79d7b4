/* render/batch.h: tsr_maximum and tsr_accumulate for dense volumes on the CPU, many samples of a ray at a time, with the same bits.
 *
 * The walk over bricks is that of march.h; it only lists the samples. A batch of them goes through loops that become vector code: places, values,
 * transfer function, then, for those that are visible at all, opacities, gradients and light. What is left in order is the composition. At
 * most a batch is computed in vain behind the sample at which a ray ends. */
#ifndef TSR_RENDER_BATCH_H
#define TSR_RENDER_BATCH_H

#include "render/march.h"

enum { TSR_LANES = 32 };
/* The lanes of the next loop do not depend on each other. (Not `omp simd`: it keeps variables whose address is taken in arrays of lanes.) */
#if defined(__clang__)
#define TSR_LANES_LOOP _Pragma("clang loop vectorize(assume_safety)")
#else
#define TSR_LANES_LOOP _Pragma("GCC ivdep")
#endif
#define TSR_BATCH_FN TSR_INLINE

typedef struct tsr_batch {
    int32_t count, k[TSR_LANES], steep[TSR_LANES];
    float t[TSR_LANES], length[TSR_LANES], x[TSR_LANES], y[TSR_LANES], z[TSR_LANES]; /* index positions */
    float value[TSR_LANES], gx[TSR_LANES], gy[TSR_LANES], gz[TSR_LANES], slope[TSR_LANES], level[TSR_LANES];
    float a[TSR_LANES], r[TSR_LANES], g[TSR_LANES], b[TSR_LANES];
} tsr_batch;

/* The points of a transfer function one array each, so that lanes can look them up. */
typedef struct tsr_points {
    float value[TSR_TRANSFER_MOST_POINTS], alpha[TSR_TRANSFER_MOST_POINTS], r[TSR_TRANSFER_MOST_POINTS], g[TSR_TRANSFER_MOST_POINTS],
        b[TSR_TRANSFER_MOST_POINTS];
} tsr_points;

/* Indices of voxels fit 32 bits, and there is a cell along every axis. */
TSR_BATCH_FN int tsr_batch_fits(const tsr_field *f)
{
    return f->kind == TSR_FIELD_DENSE && f->size[0] > 1 && f->size[1] > 1 && f->size[2] > 1 &&
           (int64_t)f->size[0] * f->size[1] * f->size[2] <= 0x7fffffff;
}

/* Lanes that a loop over n samples takes: whole vectors, so that nothing is left over. Arrays are filled so far; positions of any kind are clamped. */
TSR_BATCH_FN int32_t tsr_batch_whole(int32_t n) { return (n + 15) & ~15; }

/* tsr_field_value of the lanes. The cells' voxels are fetched as pairs along x, which costs half as much as gathering single ones. */
static __attribute__((noinline)) void tsr_batch_values(const tsr_field *f, const float *x, const float *y, const float *z, int32_t n, float *value)
{
    const float *v = f->values;
    const int32_t sx = f->size[0], sy = f->size[1], sz = f->size[2], whole = tsr_batch_whole(n);
    const int64_t dy = sx, dz = (int64_t)sx * sy;
    int32_t at[TSR_LANES];
    float fx[TSR_LANES], fy[TSR_LANES], fz[TSR_LANES], pair[4][2 * TSR_LANES]; /* pair: rows (y, z) = 00 10 01 11 */
    TSR_LANES_LOOP
    for (int32_t i = 0; i < whole; i++) {
        int32_t cx, cy, cz;
        tsr_cell(x[i], sx, &cx, &fx[i]);
        tsr_cell(y[i], sy, &cy, &fy[i]);
        tsr_cell(z[i], sz, &cz, &fz[i]);
        at[i] = (cz * sy + cy) * sx + cx;
    }
    for (int32_t i = 0; i < whole; i++) {
        const float *from = v + at[i];
        memcpy(&pair[0][2 * i], from, 2 * sizeof *from);
        memcpy(&pair[1][2 * i], from + dy, 2 * sizeof *from);
        memcpy(&pair[2][2 * i], from + dz, 2 * sizeof *from);
        memcpy(&pair[3][2 * i], from + dz + dy, 2 * sizeof *from);
    }
    TSR_LANES_LOOP
    for (int32_t i = 0; i < whole; i++) {
        const float c[8] = { pair[0][2 * i], pair[0][2 * i + 1], pair[1][2 * i], pair[1][2 * i + 1],
                             pair[2][2 * i], pair[2][2 * i + 1], pair[3][2 * i], pair[3][2 * i + 1] };
        value[i] = tsr_trilinear(c, fx[i], fy[i], fz[i]);
    }
}

/* tsr_field_gradient of the lanes, and its length. */
static __attribute__((noinline)) void tsr_batch_gradients(const tsr_field *f, tsr_batch *s, int32_t n)
{
    const int32_t whole = tsr_batch_whole(n);
    float at[3][2][TSR_LANES], value[2][TSR_LANES], g[3][TSR_LANES]; /* at: one voxel down and up the axis */
    const float *p[3] = { s->x, s->y, s->z };
    for (int32_t k = 0; k < 3; k++) {
        const float most = (float)(f->size[k] - 1);
        TSR_LANES_LOOP
        for (int32_t i = 0; i < whole; i++) {
            at[k][0][i] = tsr_maxf(p[k][i] - 1.0f, 0.0f);
            at[k][1][i] = tsr_minf(p[k][i] + 1.0f, most);
        }
        for (int32_t side = 0; side < 2; side++)
            tsr_batch_values(f, k == 0 ? at[0][side] : s->x, k == 1 ? at[1][side] : s->y, k == 2 ? at[2][side] : s->z, n, value[side]);
        TSR_LANES_LOOP
        for (int32_t i = 0; i < whole; i++) {
            const float low = at[k][0][i], high = at[k][1][i], d = (value[1][i] - value[0][i]) / (high - low);
            g[k][i] = high > low ? d : 0.0f;
        }
    }
    TSR_LANES_LOOP
    for (int32_t i = 0; i < whole; i++) {
        tsr_float3 w = tsr_field_covector(f, tsr_f3(g[0][i], g[1][i], g[2][i]));
        s->gx[i] = w.x;
        s->gy[i] = w.y;
        s->gz[i] = w.z;
        s->slope[i] = tsr_sqrt(tsr_dot3(w, w));
    }
}

TSR_BATCH_FN void tsr_points_take(const tsr_transfer_linear *transfer, tsr_points *points)
{
    for (int32_t i = 0; i < transfer->points; i++) {
        points->value[i] = transfer->point[i].value;
        points->alpha[i] = transfer->point[i].alpha;
        points->r[i] = transfer->point[i].color.x;
        points->g[i] = transfer->point[i].color.y;
        points->b[i] = transfer->point[i].color.z;
    }
}

/* tsr_transfer_evaluate of the lanes. */
static __attribute__((noinline)) void tsr_batch_transfer(const tsr_transfer_linear *f, const tsr_points *p, tsr_batch *s, int32_t n)
{
    const int32_t whole = tsr_batch_whole(n);
    const int32_t points = f->points, last = points - 1;
    TSR_LANES_LOOP
    for (int32_t i = 0; i < whole; i++) s->a[i] = s->r[i] = s->g[i] = s->b[i] = 0.0f;
    if (points > 0) { /* the points on both sides of the value, picked one after the other: gathering them costs several times as much */
        const float lowest = p->value[0], highest = p->value[last];
        const int32_t second = tsr_mini(1, last);
        float v0[TSR_LANES], v1[TSR_LANES], a1[TSR_LANES], r1[TSR_LANES], g1[TSR_LANES], b1[TSR_LANES];
        TSR_LANES_LOOP
        for (int32_t i = 0; i < whole; i++) {
            v0[i] = lowest;
            s->a[i] = p->alpha[0];
            s->r[i] = p->r[0];
            s->g[i] = p->g[0];
            s->b[i] = p->b[0];
            v1[i] = p->value[second];
            a1[i] = p->alpha[second];
            r1[i] = p->r[second];
            g1[i] = p->g[second];
            b1[i] = p->b[second];
        }
        for (int32_t k = 1; k < points; k++) {
            const int32_t next = tsr_mini(k + 1, last);
            const float bound = p->value[k];
            TSR_LANES_LOOP
            for (int32_t i = 0; i < whole; i++) {
                const int32_t above = s->value[i] > bound;
                v0[i] = above ? bound : v0[i];
                s->a[i] = above ? p->alpha[k] : s->a[i];
                s->r[i] = above ? p->r[k] : s->r[i];
                s->g[i] = above ? p->g[k] : s->g[i];
                s->b[i] = above ? p->b[k] : s->b[i];
                v1[i] = above ? p->value[next] : v1[i];
                a1[i] = above ? p->alpha[next] : a1[i];
                r1[i] = above ? p->r[next] : r1[i];
                g1[i] = above ? p->g[next] : g1[i];
                b1[i] = above ? p->b[next] : b1[i];
            }
        }
        TSR_LANES_LOOP
        for (int32_t i = 0; i < whole; i++) {
            const float v = s->value[i], t = tsr_transfer_share(v, v0[i], v1[i]);
            const tsr_float3 mixed = tsr_mix3(tsr_f3(s->r[i], s->g[i], s->b[i]), tsr_f3(r1[i], g1[i], b1[i]), t);
            const float alpha = tsr_transfer_between(s->a[i], a1[i], t);
            const int32_t between = (v > lowest) & !(v > highest);
            s->r[i] = between ? mixed.x : s->r[i];
            s->g[i] = between ? mixed.y : s->g[i];
            s->b[i] = between ? mixed.z : s->b[i];
            s->a[i] = between ? alpha : s->a[i];
        }
    }
    if (f->gaussians > 0) {
        TSR_LANES_LOOP
        for (int32_t i = 0; i < whole; i++) {
            s->r[i] *= s->a[i];
            s->g[i] *= s->a[i];
            s->b[i] *= s->a[i];
        }
        for (int32_t k = 0; k < f->gaussians; k++) {
            const tsr_float3 color = f->gaussian[k].color;
            float square[TSR_LANES], exponent[TSR_LANES];
            if (f->general) {
                for (int32_t i = 0; i < whole; i++) {
                    const float a = tsr_transfer_primitive(f, k, s->value[i], s->slope[i], s->level[i]);
                    s->a[i] += a;
                    s->r[i] += color.x * a;
                    s->g[i] += color.y * a;
                    s->b[i] += color.z * a;
                }
                continue;
            }
            TSR_LANES_LOOP
            for (int32_t i = 0; i < whole; i++) {
                square[i] = tsr_transfer_square(f, k, s->value[i], s->slope[i]);
                exponent[i] = tsr_exp2_clamp(tsr_expf_exponent(-square[i]));
            }
            TSR_LANES_LOOP
            for (int32_t i = 0; i < whole; i++) exponent[i] = tsr_exp2_within(exponent[i]);
            TSR_LANES_LOOP
            for (int32_t i = 0; i < whole; i++) {
                const float a = tsr_transfer_bump(f->gaussian[k].alpha, square[i], exponent[i]);
                s->a[i] += a;
                s->r[i] += color.x * a;
                s->g[i] += color.y * a;
                s->b[i] += color.z * a;
            }
        }
        TSR_LANES_LOOP
        for (int32_t i = 0; i < whole; i++) {
            const float scale = 1.0f / s->a[i];
            s->r[i] *= scale;
            s->g[i] *= scale;
            s->b[i] *= scale;
        }
    }
    TSR_LANES_LOOP
    for (int32_t i = 0; i < whole; i++) s->a[i] = s->value[i] == s->value[i] ? tsr_minf(s->a[i], 1.0f) : 0.0f;
}

/* Keeps the samples that have opacity and length, in order. */
TSR_BATCH_FN int32_t tsr_batch_keep(tsr_batch *s, int32_t n, int gradients)
{
    int32_t kept = 0;
    for (int32_t i = 0; i < n; i++) {
        const int keep = (s->a[i] > 0.0f) & (s->length[i] > 0.0f);
        s->t[kept] = s->t[i];
        s->length[kept] = s->length[i];
        s->x[kept] = s->x[i];
        s->y[kept] = s->y[i];
        s->z[kept] = s->z[i];
        s->steep[kept] = s->steep[i];
        s->a[kept] = s->a[i];
        s->r[kept] = s->r[i];
        s->g[kept] = s->g[i];
        s->b[kept] = s->b[i];
        if (gradients) {
            s->gx[kept] = s->gx[i];
            s->gy[kept] = s->gy[i];
            s->gz[kept] = s->gz[i];
            s->slope[kept] = s->slope[i];
        }
        kept += keep;
    }
    return kept;
}

/* Adds the listed samples of a ray to *c and *alpha, as the loop of tsr_accumulate does. */
static __attribute__((noinline)) void tsr_batch_add(const tsr_frame *frame, const tsr_transfer_linear *transfer, const tsr_points *points,
                                                    const tsr_ray *ray, const tsr_ray *in_field, float t0, float t1, float shift, tsr_batch *s,
                                                    tsr_float3 *c, float *alpha)
{
    const tsr_field *f = &frame->volume;
    const tsr_ray r = *in_field;
    const float dt = frame->dt;
    const int gradients = transfer->needs_gradient != 0, all = s->count;
    const int32_t whole = tsr_batch_whole(all);
    s->count = 0;
    for (int32_t i = all; i < whole; i++) {
        s->k[i] = s->k[all - 1];
        s->steep[i] = 0;
    }
    TSR_LANES_LOOP
    for (int32_t i = 0; i < whole; i++) {
        s->t[i] = tsr_piece_middle(dt, s->k[i], shift, t0, t1);
        s->length[i] = tsr_piece_length(dt, s->k[i], shift, t0, t1);
        tsr_float3 p = tsr_along3(r.o, r.d, s->t[i]);
        s->x[i] = p.x;
        s->y[i] = p.y;
        s->z[i] = p.z;
        s->slope[i] = s->level[i] = 0.0f;
    }
    if (gradients) tsr_batch_gradients(f, s, all);
    for (int32_t i = 0; i < all && transfer->needs_level; i++) s->level[i] = tsr_frame_level(frame, tsr_along3(ray->o, ray->d, s->t[i]));
    tsr_batch_values(f, s->x, s->y, s->z, all, s->value);
    tsr_batch_transfer(transfer, points, s, all);
    const int32_t n = tsr_batch_keep(s, all, gradients);
    if (!n) return;
    const int32_t kept = tsr_batch_whole(n);
    const int part = frame->region == 1 || frame->region == 2;
    for (int32_t i = 0; i < n && part; i++) s->a[i] *= tsr_region_weight(frame, tsr_along3(ray->o, ray->d, s->t[i]));
    const float extinction = frame->extinction;
    TSR_LANES_LOOP
    for (int32_t i = 0; i < kept; i++) s->a[i] = tsr_exp2_clamp(tsr_piece_exponent(extinction, s->a[i], s->length[i]));
    TSR_LANES_LOOP
    for (int32_t i = 0; i < kept; i++) s->a[i] = 1.0f - tsr_exp2_within(s->a[i]);
    for (int32_t i = 0; i < n && frame->region == 3; i++) {
        const tsr_float3 tinted = tsr_region_tint(frame, tsr_f3(s->r[i], s->g[i], s->b[i]), tsr_along3(ray->o, ray->d, s->t[i]));
        s->r[i] = tinted.x;
        s->g[i] = tinted.y;
        s->b[i] = tinted.z;
    }
    int32_t steep = 0;
    for (int32_t i = 0; i < n; i++) steep |= s->steep[i];
    if (frame->shaded && steep) {
        const tsr_float3 viewer = tsr_scale3(ray->d, -1.0f);
        if (!gradients) tsr_batch_gradients(f, s, n);
        TSR_LANES_LOOP
        for (int32_t i = 0; i < kept; i++) {
            tsr_float3 lit = tsr_sample_lit(frame, tsr_f3(s->r[i], s->g[i], s->b[i]), tsr_f3(s->gx[i], s->gy[i], s->gz[i]), s->slope[i], viewer);
            s->r[i] = s->steep[i] ? lit.x : s->r[i];
            s->g[i] = s->steep[i] ? lit.y : s->g[i];
            s->b[i] = s->steep[i] ? lit.z : s->b[i];
        }
    }
    for (int32_t i = 0; i < n && *alpha < 0.998f; i++) {
        if (!(s->a[i] > 0.0f)) continue;
        float weight = (1.0f - *alpha) * s->a[i];
        *c = tsr_add3(*c, tsr_scale3(tsr_f3(s->r[i], s->g[i], s->b[i]), weight));
        *alpha += weight;
    }
}

static void tsr_batch_accumulate(const tsr_frame *frame, int parts, const tsr_transfer_linear *transfer, const tsr_ray *ray, float t0, float t1,
                                 float shift, tsr_float3 *c, float *alpha)
{
    const tsr_field *f = &frame->volume;
    if (!tsr_batch_fits(f) || frame->lookup.kind) {
        tsr_accumulate(frame, parts, transfer, ray, t0, t1, shift, c, alpha);
        return;
    }
    tsr_ray r = tsr_field_ray(f, ray);
    int32_t axis;
    if (!tsr_field_clip(f, &r, &t0, &t1, &axis)) return;
    tsr_batch s;
    tsr_points points;
    s.count = 0;
    tsr_points_take(transfer, &points);
    int32_t k = tsr_floor_int(t0 * frame->inverse_dt - shift), end = tsr_ceil_int(t1 * frame->inverse_dt - shift);
    while (k < end && *alpha < 0.998f) {
        float at = tsr_clampf(((float)k + shift + 0.5f) * frame->dt, t0, t1);
        int32_t brick[3];
        const int64_t b = tsr_field_brick(f, tsr_along3(r.o, r.d, at), brick);
        int32_t skip = f->skip[b];
        int32_t stop =
            tsr_mini(end, tsr_maxi(k + 1, tsr_ceil_int(tsr_minf(tsr_field_exit(f, &r, brick, skip), t1) * frame->inverse_dt - shift - 0.5f)));
        if (skip) {
            k = stop;
            continue;
        }
        const int32_t steep = !tsr_brick_flat(frame, b);
        while (k < stop && *alpha < 0.998f) {
            const int32_t some = tsr_mini(stop - k, TSR_LANES - s.count);
            for (int32_t i = 0; i < some; i++) {
                s.k[s.count + i] = k + i;
                s.steep[s.count + i] = steep;
            }
            s.count += some;
            k += some;
            if (s.count == TSR_LANES) tsr_batch_add(frame, transfer, &points, ray, &r, t0, t1, shift, &s, c, alpha);
        }
    }
    if (s.count && *alpha < 0.998f) tsr_batch_add(frame, transfer, &points, ray, &r, t0, t1, shift, &s, c, alpha);
}

/* Largest value among samples k .. stop - 1 of a brick with values up to `high`, and `best`. */
static __attribute__((noinline)) float tsr_batch_best(const tsr_frame *frame, const tsr_ray *in_field, int32_t k, int32_t stop, float shift,
                                                      float high, float best)
{
    const float dt = frame->dt;
    const tsr_ray r = *in_field;
    float x[TSR_LANES], y[TSR_LANES], z[TSR_LANES], value[TSR_LANES];
    for (; k < stop; k += TSR_LANES) {
        const int32_t n = tsr_mini(stop - k, TSR_LANES), whole = tsr_batch_whole(n);
        TSR_LANES_LOOP
        for (int32_t i = 0; i < whole; i++) {
            tsr_float3 p = tsr_along3(r.o, r.d, ((float)(k + i) + shift) * dt);
            x[i] = p.x;
            y[i] = p.y;
            z[i] = p.z;
        }
        tsr_batch_values(&frame->volume, x, y, z, n, value);
        for (int32_t i = 0; i < n; i++) {
            const float v = tsr_bounded(value[i], high);
            if (v > best) best = v; /* NaN is left out */
        }
    }
    return best;
}

/* Where the ray leaves the block of 8 x 8 x 8 bricks around `brick`. */
TSR_BATCH_FN float tsr_block_exit(const tsr_ray *r, const int32_t brick[3])
{
    float t = TSR_FLOAT_BIG;
    for (int32_t k = 0; k < 3; k++) {
        float d = tsr_get3(r->d, k);
        if (tsr_absf(d) < 1.0e-12f) continue;
        float face = d > 0.0f ? (float)(((brick[k] >> 3) + 1) * 64) : (float)((brick[k] >> 3) * 64);
        t = tsr_minf(t, (face - tsr_get3(r->o, k)) / d);
    }
    return t;
}

/* The loop of tsr_maximum over samples k .. end - 1, with `best` so far: the brick with the largest values first. */
static float tsr_batch_bricks(const tsr_frame *frame, const tsr_ray *r, int32_t k, int32_t end, float t1, float shift, float best)
{
    enum { BRICKS = 32 };
    const tsr_field *f = &frame->volume;
    int32_t first[BRICKS], after[BRICKS];
    float high[BRICKS];
    while (k < end) {
        int32_t bricks = 0, highest = 0;
        while (k < end && bricks < BRICKS) {
            float at = ((float)k + shift) * frame->dt;
            int32_t brick[3];
            int64_t b = tsr_field_brick(f, tsr_along3(r->o, r->d, at), brick);
            first[bricks] = k;
            k = tsr_mini(end, tsr_maxi(k + 1, tsr_ceil_int(tsr_minf(tsr_field_exit(f, r, brick, 0), t1) * frame->inverse_dt - shift)));
            after[bricks] = k;
            high[bricks] = f->range[2 * b + 1];
            if (high[bricks] > high[highest]) highest = bricks;
            bricks += high[bricks] > best;
        }
        if (bricks) best = tsr_batch_best(frame, r, first[highest], after[highest], shift, high[highest], best);
        for (int32_t i = 0; i < bricks; i++)
            if (high[i] > best && i != highest) best = tsr_batch_best(frame, r, first[i], after[i], shift, high[i], best);
    }
    return best;
}

/* Blocks of 8 x 8 x 8 bricks along the ray are listed first, and the one with the largest value is looked at first: few others are left then. A
 * block ends where its last brick does, so the pieces of the ray that belong to a brick are those of tsr_maximum, and so is the result. */
static float tsr_batch_maximum(const tsr_frame *frame, const tsr_ray *ray, float t0, float t1, float shift)
{
    enum { BLOCKS = 48 };
    const tsr_field *f = &frame->volume;
    if (!tsr_batch_fits(f) || !f->coarse) return tsr_maximum(frame, ray, t0, t1, shift);
    tsr_ray r = tsr_field_ray(f, ray);
    int32_t axis, across = (f->bricks[0] + 7) >> 3, along = (f->bricks[1] + 7) >> 3, first[BLOCKS + 1];
    float best = -TSR_FLOAT_BIG, most[BLOCKS];
    if (!tsr_field_clip(f, &r, &t0, &t1, &axis)) return best;
    int32_t k = tsr_ceil_int(t0 * frame->inverse_dt - shift), end = tsr_floor_int(t1 * frame->inverse_dt - shift) + 1;
    while (k < end) {
        int32_t blocks = 0, highest = 0;
        for (; k < end && blocks < BLOCKS; blocks++) {
            float at = ((float)k + shift) * frame->dt;
            int32_t brick[3];
            (void)tsr_field_brick(f, tsr_along3(r.o, r.d, at), brick);
            first[blocks] = k;
            most[blocks] = f->coarse[((int64_t)(brick[2] >> 3) * along + (brick[1] >> 3)) * across + (brick[0] >> 3)];
            if (most[blocks] > most[highest]) highest = blocks;
            k = tsr_mini(end, tsr_maxi(k + 1, tsr_ceil_int(tsr_minf(tsr_block_exit(&r, brick), t1) * frame->inverse_dt - shift)));
        }
        first[blocks] = k;
        best = tsr_batch_bricks(frame, &r, first[highest], first[highest + 1], t1, shift, best);
        for (int32_t i = 0; i < blocks; i++)
            if (most[i] > best) best = tsr_batch_bricks(frame, &r, first[i], first[i + 1], t1, shift, best);
    }
    return best;
}

#undef TSR_BATCH_FN
#endif
