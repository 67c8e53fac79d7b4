/* render/batch_ray.h: tsr_maximum and tsr_accumulate for dense volumes on the CPU, many samples of a ray at a time, with the same bits.
 *
 * The walk over bricks is that of march.h; it only lists the samples. A batch of them goes through loops that become vector code: places, values,
 * transfer function, then, for those that are visible at all, opacities, gradients and light. What is left in order is the composition. At
 * most a batch is computed in vain behind the sample at which a ray ends. */
#ifndef TSR_RENDER_BATCH_RAY_H
#define TSR_RENDER_BATCH_RAY_H

#include "render/batch_region.h"

/* Keeps the samples that have opacity and length, in order. */
TSR_BATCH_FN int32_t tsr_batch_keep(tsr_batch *s, int32_t n, int gradients, int places)
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
        if (places) {
            s->px[kept] = s->px[i];
            s->py[kept] = s->py[i];
            s->pz[kept] = s->pz[i];
        }
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
    const int table = frame->lookup.kind != TSR_LOOKUP_OFF, level = transfer->needs_level && !table;
    if (gradients) tsr_batch_gradients(f, s, all);
    if (level || frame->region) tsr_batch_places(ray, s, whole);
    if (level) tsr_batch_levels(frame, s, all);
    if (frame->lookup.kind == TSR_LOOKUP_OF_PIECES) {
        float x[2][TSR_LANES], y[2][TSR_LANES], z[2][TSR_LANES];
        TSR_LANES_LOOP
        for (int32_t i = 0; i < whole; i++) {
            const tsr_float3 begin = tsr_along3(r.o, r.d, tsr_piece_begin(dt, s->k[i], shift, t0)),
                             end = tsr_along3(r.o, r.d, tsr_piece_end(dt, s->k[i], shift, t1));
            x[0][i] = begin.x;
            y[0][i] = begin.y;
            z[0][i] = begin.z;
            x[1][i] = end.x;
            y[1][i] = end.y;
            z[1][i] = end.z;
        }
        tsr_batch_values(f, x[0], y[0], z[0], all, s->value);
        tsr_batch_values(f, x[1], y[1], z[1], all, s->behind);
    } else {
        tsr_batch_values(f, s->x, s->y, s->z, all, s->value);
    }
    if (table) tsr_batch_lookup(&frame->lookup, s, all);
    else tsr_batch_transfer(transfer, points, s, all);
    const int32_t n = tsr_batch_keep(s, all, gradients, frame->region);
    if (!n) return;
    const int32_t kept = tsr_batch_whole(n);
    for (int32_t i = n; i < kept; i++) s->a[i] = 0.0f;
    tsr_batch_opacities(frame, s, n);
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
    if (!tsr_batch_fits(f)) {
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
        int32_t skip, stop;
        const int64_t b = tsr_march_brick(frame, f, &r, t0, t1, shift, k, end, &skip, &stop);
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

#endif
