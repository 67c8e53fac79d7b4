/* render/batch_region.h: what tables, regions and the level axis of transfer functions add to a batch of samples, with the bits of
 * tsr_volume_piece (march.h). */
#ifndef TSR_RENDER_BATCH_REGION_H
#define TSR_RENDER_BATCH_REGION_H

#include "render/batch.h"

/* Frame positions of the samples of a ray. */
TSR_BATCH_FN void tsr_batch_places(const tsr_ray *ray, tsr_batch *s, int32_t whole)
{
    const tsr_ray r = *ray;
    TSR_LANES_LOOP
    for (int32_t i = 0; i < whole; i++) {
        const tsr_float3 p = tsr_along3(r.o, r.d, s->t[i]);
        s->px[i] = p.x;
        s->py[i] = p.y;
        s->pz[i] = p.z;
    }
}

/* tsr_lookup_entry of the lanes: colours, and the exponent's negative as `a`; 0 for NaN. */
static __attribute__((noinline)) void tsr_batch_lookup(const tsr_lookup_view *l, tsr_batch *s, int32_t n)
{
    const int32_t whole = tsr_batch_whole(n), pieces = l->kind == TSR_LOOKUP_OF_PIECES;
    int32_t at[TSR_LANES];
    float fx[TSR_LANES], fy[TSR_LANES], entry[TSR_LANES][4];
    TSR_LANES_LOOP
    for (int32_t i = 0; i < whole; i++) {
        const float y = pieces ? tsr_lookup_value(l, s->behind[i]) : tsr_lookup_gradient(l, s->slope[i]);
        at[i] = tsr_lookup_place(l, tsr_lookup_value(l, s->value[i]), y, &fx[i], &fy[i]);
    }
    for (int32_t i = 0; i < whole; i++) tsr_lookup_mix(l, at[i], fx[i], fy[i], entry[i]);
    TSR_LANES_LOOP
    for (int32_t i = 0; i < whole; i++) {
        const float behind = pieces ? s->behind[i] : 0.0f, value = s->value[i] + behind;
        s->r[i] = entry[i][0];
        s->g[i] = entry[i][1];
        s->b[i] = entry[i][2];
        s->a[i] = value == value ? -entry[i][3] : 0.0f;
    }
}

/* Index positions of the lanes in the surface's field. */
static __attribute__((noinline)) void tsr_batch_enter(const tsr_field *f, const tsr_batch *s, int32_t n, tsr_batch *in)
{
    const int32_t whole = tsr_batch_whole(n);
    TSR_LANES_LOOP
    for (int32_t i = 0; i < whole; i++) {
        const tsr_float3 p = tsr_field_point(f, tsr_f3(s->px[i], s->py[i], s->pz[i]));
        in->x[i] = p.x;
        in->y[i] = p.y;
        in->z[i] = p.z;
    }
}

/* tsr_frame_level of the lanes. */
static __attribute__((noinline)) void tsr_batch_levels(const tsr_frame *frame, tsr_batch *s, int32_t n)
{
    const tsr_field *f = &frame->surface;
    const int32_t whole = tsr_batch_whole(n);
    tsr_batch in;
    if (!tsr_batch_fits(f)) {
        for (int32_t i = 0; i < n; i++) s->level[i] = tsr_frame_level(frame, tsr_f3(s->px[i], s->py[i], s->pz[i]));
        return;
    }
    tsr_batch_enter(f, s, n, &in);
    tsr_batch_values(f, in.x, in.y, in.z, n, in.value);
    TSR_LANES_LOOP
    for (int32_t i = 0; i < whole; i++) s->level[i] = f->scale * in.value[i] + f->offset;
}

/* tsr_region_weight of the lanes that have opacity. */
static __attribute__((noinline)) void tsr_batch_weights(const tsr_frame *frame, const tsr_batch *s, int32_t n, float *weight)
{
    const tsr_field *f = &frame->surface;
    const int32_t inside = tsr_region_inside(frame), whole = tsr_batch_whole(n);
    if (!tsr_batch_fits(f)) {
        for (int32_t i = 0; i < n; i++) weight[i] = s->a[i] > 0.0f ? tsr_region_weight(frame, tsr_f3(s->px[i], s->py[i], s->pz[i])) : 0.0f;
        for (int32_t i = n; i < whole; i++) weight[i] = 0.0f;
        return;
    }
    const float scale = 1.0f / (float)(1 << TSR_BRICK_LOG2);
    const int32_t mx = f->bricks[0] - 1, my = f->bricks[1] - 1, mz = f->bricks[2] - 1, across = f->bricks[0], along = f->bricks[1];
    tsr_batch in;
    int32_t at[TSR_LANES], within[TSR_LANES], far[TSR_LANES], near = 0;
    tsr_batch_enter(f, s, n, &in);
    tsr_batch_values(f, in.x, in.y, in.z, n, in.value);
    TSR_LANES_LOOP
    for (int32_t i = 0; i < whole; i++) {
        within[i] = tsr_field_contains(f, tsr_f3(in.x[i], in.y[i], in.z[i]), 0.0f);
        in.value[i] = f->scale * in.value[i] + f->offset;
        in.slope[i] = 1.0f;
        at[i] = (tsr_maxi(0, tsr_mini(mz, (int32_t)(in.z[i] * scale))) * along + tsr_maxi(0, tsr_mini(my, (int32_t)(in.y[i] * scale)))) * across +
                tsr_maxi(0, tsr_mini(mx, (int32_t)(in.x[i] * scale)));
    }
    for (int32_t i = 0; i < whole; i++) {
        far[i] = f->skip[at[i]] > 1;
        near |= within[i] & !far[i] & (s->a[i] > 0.0f);
    }
    if (near) tsr_batch_gradients(f, &in, n);
    TSR_LANES_LOOP
    for (int32_t i = 0; i < whole; i++) {
        const float distance = within[i] ? tsr_region_distance(f, in.value[i], in.slope[i]) : tsr_region_beyond(f);
        const float sign = tsr_region_far(in.value[i], inside), smooth = tsr_region_near(f, distance, inside);
        weight[i] = (within[i] & far[i]) ? sign : smooth;
    }
}

/* What tsr_volume_piece and tsr_compose do with the opacities of the lanes: from those per reference length (of tables: the exponents' negatives) to
 * those of the pieces, and colours tinted. Lanes with a = 0 stay clear. */
static __attribute__((noinline)) void tsr_batch_opacities(const tsr_frame *frame, tsr_batch *s, int32_t n)
{
    const int32_t whole = tsr_batch_whole(n), table = frame->lookup.kind != TSR_LOOKUP_OFF;
    const float extinction = frame->extinction;
    float weight[TSR_LANES], exponent[TSR_LANES];
    if (frame->region) tsr_batch_weights(frame, s, n, weight);
    if (frame->region == 3) {
        TSR_LANES_LOOP
        for (int32_t i = 0; i < whole; i++) {
            const tsr_float3 tinted = tsr_region_tint(frame, tsr_f3(s->r[i], s->g[i], s->b[i]), weight[i]);
            s->r[i] = tinted.x;
            s->g[i] = tinted.y;
            s->b[i] = tinted.z;
        }
    }
    const int part = frame->region == 1 || frame->region == 2;
    if (table) {
        TSR_LANES_LOOP
        for (int32_t i = 0; i < whole; i++) exponent[i] = extinction * s->length[i] * -s->a[i];
        if (part) { /* to the opacity per reference length and back */
            TSR_LANES_LOOP
            for (int32_t i = 0; i < whole; i++) {
                const float length = s->length[i] > 0.0f ? s->length[i] : 1.0f; /* of lanes whose ray ended */
                s->a[i] = tsr_exp2_clamp(tsr_piece_reference(extinction, exponent[i], length));
            }
            TSR_LANES_LOOP
            for (int32_t i = 0; i < whole; i++) s->a[i] = 1.0f - tsr_exp2_within(s->a[i]);
        }
    }
    if (part) {
        TSR_LANES_LOOP
        for (int32_t i = 0; i < whole; i++) s->a[i] *= weight[i];
    }
    if (!table || part) {
        TSR_LANES_LOOP
        for (int32_t i = 0; i < whole; i++) exponent[i] = tsr_piece_exponent(extinction, s->a[i], s->length[i]);
    }
    TSR_LANES_LOOP
    for (int32_t i = 0; i < whole; i++) s->a[i] = tsr_exp2_clamp(exponent[i]);
    TSR_LANES_LOOP
    for (int32_t i = 0; i < whole; i++) s->a[i] = 1.0f - tsr_exp2_within(s->a[i]);
}

#endif
