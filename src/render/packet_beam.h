/* render/packet_beam.h: how far all rays through a rectangle of pixels go before one of them may meet the surface of a dense field.
 *
 * Rays through pixels next to each other see the same empty bricks. One walk with the box around all of them, from the distances to bricks in which
 * the field changes sign, takes the place of as many walks as there are rays; where the box no longer fits between such bricks each ray goes on by
 * itself. Nothing but samples that need no look is left out, so pictures keep their bits. */
#ifndef TSR_RENDER_PACKET_BEAM_H
#define TSR_RENDER_PACKET_BEAM_H

#include "render/march.h"

enum { TSR_BEAM_STEPS = 64 };

/* Index positions of the rays at u lie between low + least u and high + most u; u is the length along a ray over that of its direction, which is not
 * of unit length, so that the corners of the rectangle bound what lies between them. */
typedef struct tsr_beam {
    float low[3], high[3], least[3], most[3];
    float shortest; /* bound of the directions' lengths, 0: too short to be of use */
} tsr_beam;

/* Pixels (x0, y0) .. (x1 - 1, y1 - 1). */
static inline void tsr_beam_make(const tsr_frame *frame, const tsr_field *f, int32_t x0, int32_t y0, int32_t x1, int32_t y1, tsr_beam *b)
{
    float reach = 0.0f, across = 0.0f;
    tsr_float3 first = frame->forward;
    for (int32_t i = 0; i < 4; i++) {
        const tsr_float3 at = tsr_along3(tsr_along3(frame->corner, frame->right, (float)(i & 1 ? x1 : x0)), frame->down, (float)(i & 2 ? y1 : y0));
        const tsr_float3 o = tsr_field_point(f, frame->orthographic ? at : frame->origin);
        const tsr_float3 d = tsr_field_direction(f, frame->orthographic ? frame->forward : at);
        if (!frame->orthographic && i == 0) first = at;
        if (!frame->orthographic) {
            const tsr_float3 apart = tsr_sub3(at, first);
            across = tsr_maxf(across, tsr_dot3(apart, apart));
        }
        for (int32_t k = 0; k < 3; k++) {
            const float p = tsr_get3(o, k), v = tsr_get3(d, k);
            b->low[k] = i && b->low[k] < p ? b->low[k] : p;
            b->high[k] = i && b->high[k] > p ? b->high[k] : p;
            b->least[k] = i && b->least[k] < v ? b->least[k] : v;
            b->most[k] = i && b->most[k] > v ? b->most[k] : v;
            reach = tsr_maxf(reach, tsr_absf(p) + (float)f->size[k]);
        }
    }
    const float margin = 0.01f + 4.0e-6f * reach; /* more than the rounding of rays' positions */
    for (int32_t k = 0; k < 3; k++) {
        b->low[k] -= margin;
        b->high[k] += margin;
    }
    const float length = 0.99999f * (tsr_sqrt(tsr_dot3(first, first)) - tsr_sqrt(across));
    b->shortest = length > 0.25f * tsr_sqrt(tsr_dot3(first, first)) ? length : 0.0f;
}

/* No ray changes sign before the u that this returns, if none does before u; TSR_FLOAT_BIG: never. */
static inline float tsr_beam_walk(const tsr_beam *b, const tsr_field *f, float u)
{
    const float edge = (float)(1 << TSR_BRICK_LOG2);
    if (!(b->shortest > 0.0f)) return u;
    for (int32_t step = 0; step < TSR_BEAM_STEPS; step++) {
        float low[3], high[3], next = TSR_FLOAT_BIG;
        int32_t brick[3];
        for (int32_t k = 0; k < 3; k++) {
            low[k] = b->low[k] + b->least[k] * u;
            high[k] = b->high[k] + b->most[k] * u;
            brick[k] = (int32_t)tsr_clampf(0.5f * (low[k] + high[k]) * (1.0f / edge), 0.0f, (float)(f->bricks[k] - 1));
        }
        const int32_t free = f->skip[((int64_t)brick[2] * f->bricks[1] + brick[1]) * f->bricks[0] + brick[0]];
        if (!free) return u;
        for (int32_t k = 0; k < 3; k++) { /* nothing is outside of the bricks */
            const float top = brick[k] + free >= f->bricks[k] ? TSR_FLOAT_BIG : (float)(brick[k] + free) * edge;
            const float bottom = brick[k] - free < 0 ? -TSR_FLOAT_BIG : (float)(brick[k] - free + 1) * edge;
            if (!(high[k] <= top && low[k] >= bottom)) return u;
            if (b->most[k] > 0.0f && top < TSR_FLOAT_BIG) next = tsr_minf(next, (top - b->high[k]) / b->most[k]);
            if (b->least[k] < 0.0f && bottom > -TSR_FLOAT_BIG) next = tsr_minf(next, (bottom - b->low[k]) / b->least[k]);
        }
        if (next >= 0.5f * TSR_FLOAT_BIG) return TSR_FLOAT_BIG;
        if (!(next > u + 1.0e-6f * tsr_absf(u) && next < 1.0e20f)) return u; /* so far that boxes could overflow */
        u = next;
    }
    return u;
}

#endif
