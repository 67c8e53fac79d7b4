/* flow/stream_lanes.h: halves of lines by RK4 along their arc length through a steady field, as many as a register has lanes: the arithmetic of streamlines_math.h in
 * the same order, hence the same bits. Only the samples are taken lane by lane. Included by flow_isa.c, once per SIMD variant. */
#ifndef TSR_FLOW_STREAM_LANES_H
#define TSR_FLOW_STREAM_LANES_H

#include "core/simd_lanes.h"
#include "flow/flow_ops.h"

/* Can these lines go by lanes? */
TSR_INLINE int halves_fit(const tsr_stream_job *j)
{
    return j->method == TSR_STREAM_RK4 && j->parameter == TSR_STREAM_ARC && j->frames <= 1 &&
           (int64_t)j->grid.n[0] * j->grid.n[1] * j->grid.n[2] <= INT32_MAX;
}

typedef struct lanes_place {
    marks c[3];
    lanes f[3];
} lanes_place;

/* The halves under way, and those that wait: next to end - 1. */
typedef struct lanes_halves {
    const tsr_stream_job *job;
    float f[3][LANES], parameter[LANES], most[LANES], sign[LANES];
    int32_t c[3][LANES], alive[LANES], points[LANES];
    int64_t half[LANES], next, end;
} lanes_halves;

TSR_INLINE marks marks_load(const int32_t *from)
{
    marks v;
    memcpy(&v, from, sizeof v);
    return v;
}
TSR_INLINE void marks_store(int32_t *to, marks v) { memcpy(to, &v, sizeof v); }
TSR_INLINE lanes lanes_of(marks v) { return __builtin_convertvector(v, lanes); }

/* Lane l takes the next half that begins at all; none: it rests in the first cell. */
static void half_next(lanes_halves *h, int l)
{
    const tsr_stream_job *j = h->job;
    tsr_stream_state s = { .points = 0 };
    for (; h->next < h->end; h->next++) {
        tsr_stream_begin(j, h->next, &s);
        if (!s.end) break;
        tsr_stream_finish(j, h->next, &s);
    }
    h->alive[l] = h->next < h->end ? -1 : 0;
    for (int k = 0; k < 3; k++) {
        h->c[k][l] = h->alive[l] ? TSR_I4_AT(s.p.c, k) : 0;
        h->f[k][l] = h->alive[l] ? TSR_F4_AT(s.p.f, k) : 0.0f;
    }
    h->parameter[l] = 0.0f;
    h->points[l] = 0;
    if (!h->alive[l]) return;
    h->most[l] = s.most;
    h->sign[l] = s.sign;
    h->half[l] = h->next++;
}

static void half_done(lanes_halves *h, int l, int32_t end)
{
    const tsr_stream_state s = { .points = h->points[l], .end = end };
    tsr_stream_finish(h->job, h->half[l], &s);
    half_next(h, l);
}

/* As tsr_stream_advance, where the move leaves the grid. */
static void half_leaves(lanes_halves *h, int l, const float d[3], float step, int ends)
{
    tsr_stream_state s = { .parameter = h->parameter[l], .most = h->most[l], .sign = h->sign[l], .points = h->points[l] };
    s.p.c = tsr_i4_make(h->c[0][l], h->c[1][l], h->c[2][l]);
    s.p.f = tsr_f4_make(h->f[0][l], h->f[1][l], h->f[2][l]);
    tsr_stream_advance(h->job, h->half[l], &s, tsr_f4_make(d[0], d[1], d[2]), step, ends);
    h->points[l] = s.points;
    half_done(h, l, s.end);
}

/* As tsr_particle_step. */
TSR_INLINE void lanes_step(lanes_place *p, const lanes d[3])
{
    for (int k = 0; k < 3; k++) {
        const lanes g = p->f[k] + d[k];
        marks whole_part = whole(g);
        whole_part += (marks)(lanes_of(whole_part) > g);
        p->c[k] += whole_part;
        p->f[k] = g - lanes_of(whole_part);
    }
}

/* The direction at p + d, and the lanes where there is none; as tsr_stream_slope. */
TSR_INLINE marks lanes_slope(const tsr_stream_job *j, uint32_t which, lanes_place p, const lanes d[3], lanes to[3])
{
    const tsr_field_grid *g = &j->grid;
    float f[3][LANES], four[LANES][4], square[LANES], root[LANES];
    uint32_t index[LANES];
    lanes v[4];
    lanes_step(&p, d);
    const marks last[3] = { (marks){ 0 } + (g->n[0] - 2), (marks){ 0 } + (g->n[1] - 2), (marks){ 0 } + (g->n[2] - 2) };
    const marks beyond = (p.c[0] < 0) | (p.c[0] > last[0]) | (p.c[1] < 0) | (p.c[1] > last[1]) | (p.c[2] < 0) | (p.c[2] > last[2]);
    if (lanes_bits(beyond))
        for (int k = 0; k < 3; k++) { /* on the border, or beyond */
            const marks low = p.c[k]<0, high = p.c[k]> last[k];
            p.f[k] = lanes_pick(low, lanes_all(0.0f), lanes_pick(high, lanes_all(1.0f), p.f[k]));
            p.c[k] = marks_pick(low, (marks){ 0 }, marks_pick(high, last[k], p.c[k]));
        }
    const words sample = (words)((p.c[2] * g->n[1] + p.c[1]) * g->n[0] + p.c[0]);
    memcpy(index, &sample, sizeof sample);
    for (int k = 0; k < 3; k++) lanes_store(f[k], p.f[k]);
    if (which == (uint32_t)((1ull << LANES) - 1))
        for (int l = 0; l < LANES; l++)
            tsr_f4_store(four[l], tsr_f4_trilinear(g->v + (int64_t)index[l] * 4, g->sy, g->sz, f[0][l], f[1][l], f[2][l]));
    else {
        memset(four, 0, sizeof four);
        for (; which; which &= which - 1) {
            const int l = __builtin_ctz(which);
            tsr_f4_store(four[l], tsr_f4_trilinear(g->v + (int64_t)index[l] * 4, g->sy, g->sz, f[0][l], f[1][l], f[2][l]));
        }
    }
    lanes_turn_over((const float(*)[4])four, v);
    lanes_store(square, (g->m[0] * (v[0] * v[0]) + g->m[1] * (v[1] * v[1])) + g->m[2] * (v[2] * v[2]));
#pragma omp simd
    for (int l = 0; l < LANES; l++) root[l] = sqrtf(square[l]);
    const lanes speed = lanes_load(root), inverse = lanes_pick((marks)(speed > 0.0f), 1.0f / speed, lanes_all(0.0f));
    for (int k = 0; k < 3; k++) to[k] = inverse * v[k];
    return ~(marks)(speed > j->still);
}

/* One step of all that are under way; as tsr_stream_first, tsr_stream_stage and tsr_stream_last_stage. */
TSR_INLINE void halves_step(lanes_halves *h)
{
    const tsr_stream_job *j = h->job;
    const marks alive = marks_load(h->alive);
    const uint32_t which = lanes_bits(alive);
    const lanes none[3] = { { 0 }, { 0 }, { 0 } }, parameter = lanes_load(h->parameter), left = lanes_load(h->most) - parameter;
    const marks ends = (marks)(left <= lanes_all(j->step * 1.00001f));
    const lanes step = lanes_pick(ends, left, lanes_all(j->step)), sign = lanes_load(h->sign);
    lanes_place p, q;
    lanes k[4][3], d[3], at[3];
    for (int i = 0; i < 3; i++) {
        p.c[i] = marks_load(h->c[i]);
        p.f[i] = lanes_load(h->f[i]);
    }
    marks stagnant = lanes_slope(j, which, p, none, k[0]);
    const lanes length = sign * step;
    for (int stage = 1; stage < 4; stage++) {
        const lanes share = (stage < 3 ? 0.5f : 1.0f) * length;
        for (int i = 0; i < 3; i++) d[i] = share * k[stage - 1][i];
        stagnant |= lanes_slope(j, which, p, d, k[stage]);
    }
    q = p;
    for (int i = 0; i < 3; i++) d[i] = (length * (1.0f / 6.0f)) * ((k[0][i] + k[3][i]) + 2.0f * (k[1][i] + k[2][i]));
    lanes_step(&q, d);
    marks inside = alive & ~stagnant;
    for (int i = 0; i < 3; i++) {
        const int32_t n = j->grid.n[i];
        inside &= (q.c[i] >= 0) & ((q.c[i] + 1 < n) | ((q.c[i] + 1 == n) & ~(marks)(q.f[i] > 0.0f)));
    }
    const uint32_t moved = lanes_bits(inside), leave = which & ~moved & ~lanes_bits(stagnant), length_ends = lanes_bits(ends);
    float point[4][LANES], by[3][LANES], steps[LANES];
    lanes_store(steps, step);
    for (int i = 0; i < 3; i++) {
        at[i] = lanes_of(q.c[i]) + q.f[i];
        lanes_store(point[i], at[i]);
        lanes_store(by[i], d[i]);
    }
    for (uint32_t rest = leave; rest;
         rest &= rest - 1) { /* these halves end; their lanes begin new ones, which the values of this step are not for */
        const int l = __builtin_ctz(rest);
        const float own[3] = { by[0][l], by[1][l], by[2][l] };
        half_leaves(h, l, own, steps[l], (int)(length_ends >> l & 1));
    }
    for (uint32_t rest = which & ~moved & ~leave; rest; rest &= rest - 1) half_done(h, __builtin_ctz(rest), TSR_STREAM_STAGNANT);
    const lanes gained = parameter + step;
    for (int i = 0; i < 3; i++) {
        marks_store(h->c[i], marks_pick(inside, q.c[i], marks_load(h->c[i])));
        lanes_store(h->f[i], lanes_pick(inside, q.f[i], lanes_load(h->f[i])));
    }
    lanes_store(h->parameter, lanes_pick(inside, gained, lanes_load(h->parameter)));
    lanes_store(point[3], sign * gained);
    for (uint32_t rest = moved; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        float *to = j->path + h->half[l] * j->half_stride + (j->keep_last ? 0 : h->points[l] * j->point_stride);
        for (int i = 0; i < 4; i++) to[i] = point[i][l];
        h->points[l]++;
        if (length_ends >> l & 1) half_done(h, l, TSR_STREAM_LENGTH);
        else if (h->points[l] >= j->max_steps) half_done(h, l, TSR_STREAM_STEPS);
    }
}

static void halves_run(const tsr_stream_job *job, int64_t begin, int64_t end)
{
    lanes_halves h = { .job = job, .next = begin, .end = end };
    for (int l = 0; l < LANES; l++) half_next(&h, l);
    while (lanes_bits(marks_load(h.alive))) halves_step(&h);
}

#endif
