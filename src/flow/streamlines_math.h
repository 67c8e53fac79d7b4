/* flow/streamlines_math.h: one step of one particle through a field. Class exact.
 *
 * A place is a cell and the fraction of it, float32: rounding is that of a number below 1, whatever the extents. */
#ifndef TSR_FLOW_STREAMLINES_MATH_H
#define TSR_FLOW_STREAMLINES_MATH_H

#include "flow/field_math.h"
#include "volume/deterministic.h"
#include "tessera/streamlines.h"

typedef struct tsr_stream_job {
    tsr_field_grid grid;
    /* Series: the vectors of frame k are at frame[k], those of a steady field at grid.v. */
    const float *const *frame;
    const double *times;
    int32_t frames; /* 1: steady */
    int32_t method, parameter, max_steps, keep_last;
    float step, tolerance, min_step, max_step, still; /* steps: world lengths, or times */
    float max_length;                                  /* of a half; INFINITY: none */
    double start;                                      /* time of the seeds */
    const double *at; /* seeds, index coordinates, `stride` doubles apart */
    int64_t stride;
    const float *lengths, *starts; /* of each line, or NULL: max_length; time after `start` */
    int64_t lines;
    int32_t sides[2]; /* backward, forward: traced? */
    /* Of half 2 line + side: point n is 4 floats (index coordinates, parameter) at path + half * half_stride + n * point_stride. */
    float *path;
    int64_t half_stride, point_stride;
    int32_t *points;
    uint8_t *ends;
} tsr_stream_job;

typedef struct tsr_particle {
    tsr_i4 c; /* the fourth is nobody's, and stays 0 */
    tsr_f4 f;
} tsr_particle;

typedef struct tsr_stream_state {
    tsr_particle p;
    float parameter, step, most; /* `most`: where it ends */
    float sign;
    double time;
    int32_t points, end; /* end 0: goes on */
} tsr_stream_state;

/* The place after a move by d cells, where that is known to be less than 10^6. */
TSR_HD void tsr_particle_step(tsr_particle *p, tsr_f4 d)
{
    const tsr_f4 g = p->f + d;
    tsr_i4 k = tsr_i4_of(g);
    k = k + tsr_f4_above(tsr_f4_of(k), g); /* -1 where true: down, not towards 0 */
    p->c = p->c + k;
    p->f = g - tsr_f4_of(k);
}
TSR_HD void tsr_particle_move(tsr_particle *p, tsr_f4 d)
{
    const tsr_f4 low = tsr_f4_make(-1e6f, -1e6f, -1e6f), high = tsr_f4_make(1e6f, 1e6f, 1e6f); /* the fourth becomes 0 */
    d = tsr_f4_pick(tsr_f4_above(low, d), low, d);
    d = tsr_f4_pick(tsr_f4_above(d, high), high, d);
    tsr_particle_step(p, d);
}

/* 0 .. n - 1, both ends included. */
TSR_HD int tsr_particle_inside(const tsr_particle *p, const int32_t n[3])
{
    int inside = 1;
    for (int i = 0; i < 3; i++) {
        const int32_t c = TSR_I4_AT(p->c, i);
        inside &= c >= 0 && (c + 1 < n[i] || (c + 1 == n[i] && !(TSR_F4_AT(p->f, i) > 0.0f)));
    }
    return inside;
}

/* Interpolated values at p, clamped to the grid. */
TSR_HD tsr_f4 tsr_particle_sample(const tsr_field_grid *g, const float *v, const tsr_particle *p)
{
    int32_t c[3] = { TSR_I4_AT(p->c, 0), TSR_I4_AT(p->c, 1), TSR_I4_AT(p->c, 2) };
    float f[3] = { TSR_F4_AT(p->f, 0), TSR_F4_AT(p->f, 1), TSR_F4_AT(p->f, 2) };
    if ((uint32_t)c[0] > (uint32_t)(g->n[0] - 2) || (uint32_t)c[1] > (uint32_t)(g->n[1] - 2) || (uint32_t)c[2] > (uint32_t)(g->n[2] - 2))
        for (int i = 0; i < 3; i++) { /* on the border, or beyond */
            const int32_t last = g->n[i] - 2;
            f[i] = c[i] < 0 ? 0.0f : c[i] > last ? 1.0f : f[i];
            c[i] = c[i] < 0 ? 0 : c[i] > last ? last : c[i];
        }
    return tsr_f4_trilinear(v + tsr_field_at(g, c[0], c[1], c[2]), g->sy, g->sz, f[0], f[1], f[2]);
}

/* v at p + scale d; `after` (of a series) the time `start`. */
TSR_HD tsr_f4 tsr_stream_velocity(const tsr_stream_job *j, const tsr_particle *p, float scale, tsr_f4 d, double start, float after)
{
    tsr_particle q = *p;
    if (j->parameter == TSR_STREAM_ARC) tsr_particle_step(&q, scale * d); /* a length of a step, which options keep below 10^5 cells */
    else tsr_particle_move(&q, scale * d);
    if (j->frames <= 1) return tsr_particle_sample(&j->grid, j->grid.v, &q);
    const double time = start + (double)after;
    int32_t k = 0;
    while (k + 2 < j->frames && time >= j->times[k + 1]) k++;
    const double share = (time - j->times[k]) / (j->times[k + 1] - j->times[k]);
    const float t = (float)(share < 0.0 ? 0.0 : share > 1.0 ? 1.0 : share);
    const tsr_f4 a = tsr_particle_sample(&j->grid, j->frame[k], &q), b = tsr_particle_sample(&j->grid, j->frame[k + 1], &q);
    return a + t * (b - a);
}

/* What the velocity is divided by: the speed where steps are lengths along the line; *stagnant where it is too small. The fourth number is 0. */
TSR_HD tsr_f4 tsr_stream_slope(const tsr_stream_job *j, const tsr_particle *p, float scale, tsr_f4 d, double start, float after, int32_t *stagnant)
{
    tsr_f4 v = tsr_stream_velocity(j, p, scale, d, start, after);
    TSR_F4_AT(v, 3) = 0.0f;
    if (j->parameter != TSR_STREAM_ARC) return v;
    const float speed = tsr_field_norm(&j->grid, v);
    *stagnant |= !(speed > j->still);
    return (speed > 0.0f ? 1.0f / speed : 0.0f) * v;
}

/* The seed of a half, and why it may not even begin. */
TSR_HD void tsr_stream_begin(const tsr_stream_job *j, int64_t half, tsr_stream_state *s)
{
    const int64_t line = half >> 1;
    const int side = (int)(half & 1);
    const double *at = j->at + line * j->stride;
    s->points = s->end = 0;
    s->parameter = 0.0f;
    s->step = j->step;
    s->sign = side ? 1.0f : -1.0f;
    s->most = j->lengths ? tsr_minf(j->lengths[line], j->max_length) : j->max_length;
    s->time = j->start + (j->starts ? (double)j->starts[line] : 0.0);
    s->p.c = tsr_i4_make(0, 0, 0);
    s->p.f = tsr_f4_make(0.0f, 0.0f, 0.0f);
    for (int i = 0; i < 3; i++) {
        const double place = at[i];
        if (!(place >= 0.0 && place <= (double)(j->grid.n[i] - 1))) {
            s->end = TSR_STREAM_OUTSIDE;
            continue;
        }
        int32_t c = (int32_t)place;
        if (c > j->grid.n[i] - 2) c = j->grid.n[i] - 2;
        TSR_I4_AT(s->p.c, i) = c;
        TSR_F4_AT(s->p.f, i) = (float)(place - (double)c);
    }
    if (!j->sides[side]) s->end = -1; /* ended, and nothing to tell */
    else if (!s->end && !(s->most > 0.0f)) s->end = TSR_STREAM_LENGTH;
}

/* Where the move d from p leaves the grid, which it does: the share of it that is left, and the place on the border. */
TSR_HD float tsr_particle_cut(const int32_t n[3], const tsr_particle *p, tsr_f4 d, tsr_particle *q)
{
    float share = 1.0f;
    int axis = -1, high = 0;
    for (int i = 0; i < 3; i++) {
        const float c = (float)TSR_I4_AT(p->c, i), below = c + TSR_F4_AT(p->f, i), above = ((float)(n[i] - 1) - c) - TSR_F4_AT(p->f, i), by = TSR_F4_AT(d, i);
        const float own = by > 0.0f ? above / by : by < 0.0f ? below / -by : 1.0f;
        if (own < share) share = own, axis = i, high = by > 0.0f;
    }
    *q = *p;
    tsr_particle_move(q, share * d);
    for (int i = 0; i < 3; i++) { /* rounding may leave it outside by its last bit */
        const int32_t last = n[i] - 2, c = TSR_I4_AT(q->c, i);
        if (c < 0 || (i == axis && !high)) TSR_I4_AT(q->c, i) = 0, TSR_F4_AT(q->f, i) = 0.0f;
        if (c > last || (i == axis && high)) TSR_I4_AT(q->c, i) = last, TSR_F4_AT(q->f, i) = 1.0f;
    }
    return share;
}

/* Takes the move d, cut at the border; notes the point. */
TSR_HD void tsr_stream_advance(const tsr_stream_job *j, int64_t half, tsr_stream_state *s, tsr_f4 d, float gained, int ends)
{
    tsr_particle q = s->p;
    float share = 1.0f;
    tsr_particle_move(&q, d);
    if (!tsr_particle_inside(&q, j->grid.n)) {
        share = tsr_particle_cut(j->grid.n, &s->p, d, &q);
        s->end = TSR_STREAM_BORDER;
        if (!(share > 0.0f)) return;
    } else if (ends) s->end = TSR_STREAM_LENGTH;
    s->p = q;
    s->parameter += share * gained;
    tsr_f4 point = tsr_f4_of(q.c) + q.f;
    TSR_F4_AT(point, 3) = s->sign * s->parameter;
    tsr_f4_store(j->path + half * j->half_stride + (j->keep_last ? 0 : s->points * j->point_stride), point);
    s->points++;
    if (!s->end && s->points >= j->max_steps) s->end = TSR_STREAM_STEPS;
}

/* The length of the step to take: what is left, if that is less. */
TSR_HD float tsr_stream_left(const tsr_stream_state *s, float step, int32_t *ends)
{
    const float left = s->most - s->parameter;
    *ends = left <= step * 1.00001f;
    return *ends ? left : step;
}

/* What a step of nominal length `step` gained on the parameter. */
TSR_HD float tsr_stream_gain(const tsr_stream_job *j, float step, tsr_f4 d) { return j->parameter == TSR_STREAM_SPEED ? tsr_field_norm(&j->grid, d) : step; }

/* A step of a fixed-step method in stages, so that several lines can go through them side by side. */
typedef struct tsr_stream_stages {
    tsr_f4 k[4];
    float step, h;
    int32_t ends, stagnant;
} tsr_stream_stages;

TSR_HD void tsr_stream_first(const tsr_stream_job *j, const tsr_stream_state *s, tsr_stream_stages *t)
{
    tsr_f4 v = tsr_stream_velocity(j, &s->p, 0.0f, tsr_f4_make(0.0f, 0.0f, 0.0f), s->time, 0.0f);
    TSR_F4_AT(v, 3) = 0.0f;
    const float speed = tsr_field_norm(&j->grid, v);
    t->step = tsr_stream_left(s, s->step, &t->ends);
    /* of a series, which may move it again, a particle may rest */
    t->stagnant = !(speed > j->still) && !(j->parameter == TSR_STREAM_TIME && j->frames > 1);
    t->h = s->sign * (j->parameter == TSR_STREAM_SPEED ? t->step / speed : t->step);
    t->k[0] = j->parameter == TSR_STREAM_ARC ? (1.0f / speed) * v : v;
    if (t->stagnant) t->h = 0.0f, t->k[0] = tsr_f4_make(0.0f, 0.0f, 0.0f);
    t->k[1] = t->k[2] = t->k[3] = t->k[0];
}

/* Stages 1, 2, 3 of RK4; stage 1 of the midpoint rule. */
TSR_HD void tsr_stream_stage(const tsr_stream_job *j, const tsr_stream_state *s, tsr_stream_stages *t, int stage)
{
    const float share = stage < 3 ? 0.5f : 1.0f;
    t->k[stage] = tsr_stream_slope(j, &s->p, share * t->h, t->k[stage - 1], s->time, share * (s->sign * t->step), &t->stagnant);
}

TSR_HD void tsr_stream_last_stage(const tsr_stream_job *j, int64_t half, tsr_stream_state *s, const tsr_stream_stages *t)
{
    if (t->stagnant) {
        s->end = TSR_STREAM_STAGNANT;
        return;
    }
    const tsr_f4 d = j->method == TSR_STREAM_RK4   ? (t->h * (1.0f / 6.0f)) * ((t->k[0] + t->k[3]) + 2.0f * (t->k[1] + t->k[2]))
                     : j->method == TSR_STREAM_RK2 ? t->h * t->k[1]
                                                   : t->h * t->k[0];
    tsr_stream_advance(j, half, s, d, tsr_stream_gain(j, t->step, d), t->ends);
    s->time += (double)(s->sign * t->step);
}

TSR_HD void tsr_stream_step_fixed(const tsr_stream_job *j, int64_t half, tsr_stream_state *s)
{
    tsr_stream_stages t;
    const int stages = j->method == TSR_STREAM_RK4 ? 4 : j->method == TSR_STREAM_RK2 ? 2 : 1;
    tsr_stream_first(j, s, &t);
    for (int k = 1; k < stages; k++) tsr_stream_stage(j, s, &t, k);
    tsr_stream_last_stage(j, half, s, &t);
}

/* x^(-1/5) for positive normal x, to 1e-6: a guess from the exponent and Newton's method. */
TSR_HD float tsr_inverse_fifth_root(float x)
{
    float y = tsr_bits_float(0x4c2b5b3bu - tsr_float_bits(x) / 5u);
    for (int k = 0; k < 5; k++) {
        const float square = y * y;
        y = y * (1.2f - 0.2f * x * (square * square * y));
    }
    return y;
}

/* Dormand and Prince 1980: seven stages, the last of which is the first of the next step (computed again: the border may have cut the step). */
TSR_HD void tsr_stream_step_adaptive(const tsr_stream_job *j, int64_t half, tsr_stream_state *s)
{
    int32_t stagnant = 0;
    const tsr_f4 zero = tsr_f4_make(0.0f, 0.0f, 0.0f);
    const tsr_f4 k1 = tsr_stream_slope(j, &s->p, 0.0f, zero, s->time, 0.0f, &stagnant);
    const float speed = tsr_field_norm(&j->grid, k1);
    if (stagnant || (j->parameter != TSR_STREAM_ARC && !(speed > j->still) && !(j->parameter == TSR_STREAM_TIME && j->frames > 1))) {
        s->end = TSR_STREAM_STAGNANT;
        return;
    }
    for (;;) {
        int32_t ends;
        const float step = tsr_stream_left(s, s->step, &ends), h = s->sign * (j->parameter == TSR_STREAM_SPEED ? step / speed : step);
        const float dt = s->sign * step;
        const tsr_f4 k2 = tsr_stream_slope(j, &s->p, h, 0.2f * k1, s->time, 0.2f * dt, &stagnant);
        const tsr_f4 k3 = tsr_stream_slope(j, &s->p, h, (3.0f / 40.0f) * k1 + (9.0f / 40.0f) * k2, s->time, 0.3f * dt, &stagnant);
        const tsr_f4 k4 = tsr_stream_slope(j, &s->p, h, ((44.0f / 45.0f) * k1 - (56.0f / 15.0f) * k2) + (32.0f / 9.0f) * k3, s->time, 0.8f * dt, &stagnant);
        const tsr_f4 k5 = tsr_stream_slope(j, &s->p, h,
                                           ((19372.0f / 6561.0f) * k1 - (25360.0f / 2187.0f) * k2) + ((64448.0f / 6561.0f) * k3 - (212.0f / 729.0f) * k4),
                                           s->time, (8.0f / 9.0f) * dt, &stagnant);
        const tsr_f4 k6 = tsr_stream_slope(j, &s->p, h,
                                           (((9017.0f / 3168.0f) * k1 - (355.0f / 33.0f) * k2) + ((46732.0f / 5247.0f) * k3 + (49.0f / 176.0f) * k4)) -
                                               (5103.0f / 18656.0f) * k5,
                                           s->time, dt, &stagnant);
        const tsr_f4 sum = (((35.0f / 384.0f) * k1 + (500.0f / 1113.0f) * k3) + ((125.0f / 192.0f) * k4 - (2187.0f / 6784.0f) * k5)) + (11.0f / 84.0f) * k6;
        const tsr_f4 k7 = tsr_stream_slope(j, &s->p, h, sum, s->time, dt, &stagnant);
        if (stagnant) {
            s->end = TSR_STREAM_STAGNANT;
            return;
        }
        const tsr_f4 e = h * ((((71.0f / 57600.0f) * k1 - (71.0f / 16695.0f) * k3) + ((71.0f / 1920.0f) * k4 - (17253.0f / 339200.0f) * k5)) +
                              ((22.0f / 525.0f) * k6 - 0.025f * k7));
        const float error = tsr_maxf(tsr_absf(TSR_F4_AT(e, 0)), tsr_maxf(tsr_absf(TSR_F4_AT(e, 1)), tsr_absf(TSR_F4_AT(e, 2))));
        const float ratio = tsr_clampf(error / j->tolerance, 1e-5f, 1e10f);
        const float next = tsr_clampf(step * tsr_clampf(0.9f * tsr_inverse_fifth_root(ratio), 0.2f, 5.0f), j->min_step, j->max_step);
        if (!(error <= j->tolerance)) {
            if (!(step > j->min_step)) {
                s->end = TSR_STREAM_STIFF;
                return;
            }
            s->step = next;
            continue;
        }
        const tsr_f4 d = h * sum;
        s->step = ends ? s->step : next;
        tsr_stream_advance(j, half, s, d, tsr_stream_gain(j, step, d), ends);
        s->time += (double)dt;
        return;
    }
}

TSR_HD void tsr_stream_finish(const tsr_stream_job *j, int64_t half, const tsr_stream_state *s)
{
    j->points[half] = s->points;
    j->ends[half] = (uint8_t)(s->end < 0 ? 0 : s->end);
}

TSR_HD void tsr_stream_half(const tsr_stream_job *j, int64_t half)
{
    tsr_stream_state s;
    tsr_stream_begin(j, half, &s);
    if (j->method == TSR_STREAM_DORMAND_PRINCE)
        while (!s.end) tsr_stream_step_adaptive(j, half, &s);
    else
        while (!s.end) tsr_stream_step_fixed(j, half, &s);
    tsr_stream_finish(j, half, &s);
}

/* ---- lines out of halves ---------------------------------------------------------------------------------------------------------------- */

typedef struct tsr_lines_job {
    tsr_field_grid grid;
    const double *at;
    int64_t stride, lines;
    const float *path;
    int64_t half_stride, point_stride;
    const int32_t *points;    /* [2 lines] */
    const uint64_t *offsets;  /* [lines]: first point of each line in the output */
    double affine[3][4];
    float *positions, *parameter; /* of all points */
} tsr_lines_job;

TSR_HD uint32_t tsr_line_points(const int32_t *points, int64_t line) { return (uint32_t)points[2 * line] + (uint32_t)points[2 * line + 1] + 1u; }

/* Point n of a line: the backward half from its end, the seed, the forward half. */
TSR_HD void tsr_line_point(const tsr_lines_job *j, int64_t line, int64_t n)
{
    const int64_t back = j->points[2 * line], to = (int64_t)j->offsets[line] + n;
    double p[3] = { 0.0, 0.0, 0.0 };
    float parameter = 0.0f;
    if (n == back) {
        for (int i = 0; i < 3; i++) p[i] = j->at[line * j->stride + i];
    } else {
        const int side = n > back;
        const float *from = j->path + (2 * line + side) * j->half_stride + (side ? n - back - 1 : back - 1 - n) * j->point_stride;
        for (int i = 0; i < 3; i++) p[i] = (double)from[i];
        parameter = from[3];
    }
    for (int r = 0; r < 3; r++)
        j->positions[3 * to + r] = (float)(j->affine[r][0] * p[0] + j->affine[r][1] * p[1] + j->affine[r][2] * p[2] + j->affine[r][3]);
    j->parameter[to] = parameter;
}

/* ---- values at points ------------------------------------------------------------------------------------------------------------------- */

typedef struct tsr_values_job {
    tsr_field_grid grid;
    int32_t attribute;
    int64_t count, lines;
    const uint64_t *offsets; /* [lines + 1] */
    const float *positions, *parameter;
    double inverse[3][4]; /* world to index */
    float *values, *tangents; /* either may be NULL; tangents [points][3], world, unit or 0 */
} tsr_values_job;

TSR_HD void tsr_particle_at(const tsr_field_grid *g, const double inverse[3][4], const float *p, tsr_particle *q)
{
    q->c = tsr_i4_make(0, 0, 0);
    q->f = tsr_f4_make(0.0f, 0.0f, 0.0f);
    for (int i = 0; i < 3; i++) {
        double at = inverse[i][0] * (double)p[0] + inverse[i][1] * (double)p[1] + inverse[i][2] * (double)p[2] + inverse[i][3];
        at = at < 0.0 ? 0.0 : at > (double)(g->n[i] - 1) ? (double)(g->n[i] - 1) : at;
        int32_t c = (int32_t)at;
        if (c > g->n[i] - 2) c = g->n[i] - 2;
        TSR_I4_AT(q->c, i) = c;
        TSR_F4_AT(q->f, i) = (float)(at - (double)c);
    }
}

TSR_HD void tsr_value_one(const tsr_values_job *j, int64_t k)
{
    tsr_particle p;
    tsr_particle_at(&j->grid, j->inverse, j->positions + 3 * k, &p);
    if (j->tangents || j->attribute != TSR_STREAM_AT_VORTICITY) {
        const tsr_f4 v = tsr_particle_sample(&j->grid, j->grid.v, &p);
        const float speed = tsr_field_norm(&j->grid, v);
        if (j->values) j->values[k] = j->attribute == TSR_STREAM_AT_CURVATURE ? TSR_F4_AT(v, 3) : speed;
        for (int r = 0; j->tangents && r < 3; r++) {
            double sum = 0.0;
            const double own[3] = { (double)TSR_F4_AT(v, 0), (double)TSR_F4_AT(v, 1), (double)TSR_F4_AT(v, 2) };
            for (int i = 0; i < 3; i++) sum += j->grid.axis[r][i] * (j->grid.h[i] * own[i]);
            j->tangents[3 * k + r] = (double)speed > j->grid.still ? (float)(sum / (double)speed) : 0.0f;
        }
    } else {
        const tsr_f4 w = tsr_particle_sample(&j->grid, j->grid.w, &p);
        j->values[k] = TSR_F4_AT(w, 3);
    }
}

TSR_HD double tsr_chord(const float *positions, int64_t a, int64_t b)
{
    double square = 0.0;
    for (int r = 0; r < 3; r++) {
        const double d = (double)positions[3 * b + r] - (double)positions[3 * a + r];
        square += d * d;
    }
    return sqrt(square);
}

/* Arc lengths of one line from its seed: the point whose parameter is 0 and that lies behind the backward half. */
TSR_HD void tsr_length_line(const tsr_values_job *j, int64_t line)
{
    const int64_t first = (int64_t)j->offsets[line], last = (int64_t)j->offsets[line + 1];
    int64_t seed = first;
    double sum = 0.0;
    while (seed < last && j->parameter[seed] < 0.0f) seed++;
    if (seed == last) seed = first;
    for (int64_t k = seed; k < last; k++) {
        if (k > seed) sum += tsr_chord(j->positions, k - 1, k);
        j->values[k] = (float)sum;
    }
    sum = 0.0;
    for (int64_t k = seed - 1; k >= first; k--) {
        sum += tsr_chord(j->positions, k, k + 1);
        j->values[k] = (float)-sum;
    }
}

/* ---- finite-time Lyapunov exponent ------------------------------------------------------------------------------------------------------ */

typedef struct tsr_ftle_job {
    tsr_field_grid grid;
    const float *map; /* [samples][4]: where each particle ended, index coordinates */
    double duration;
    float *out;
} tsr_ftle_job;

/* Largest eigenvalue of a symmetric matrix by Jacobi's rotations. */
TSR_HD double tsr_largest_eigenvalue(double a[3][3])
{
    for (int sweep = 0; sweep < 12; sweep++)
        for (int n = 0; n < 3; n++) {
            const int p = n == 2, q = n == 0 ? 1 : 2, o = 3 - p - q;
            if (a[p][q] == 0.0) continue;
            const double theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
            const double t = (theta < 0.0 ? -1.0 : 1.0) / (fabs(theta) + sqrt(theta * theta + 1.0)), c = 1.0 / sqrt(t * t + 1.0), s = t * c;
            const double app = a[p][p] - t * a[p][q], aqq = a[q][q] + t * a[p][q], aop = c * a[o][p] - s * a[o][q], aoq = s * a[o][p] + c * a[o][q];
            a[p][p] = app;
            a[q][q] = aqq;
            a[p][q] = a[q][p] = 0.0;
            a[o][p] = a[p][o] = aop;
            a[o][q] = a[q][o] = aoq;
        }
    return fmax(a[0][0], fmax(a[1][1], a[2][2]));
}

TSR_HD void tsr_ftle_one(const tsr_ftle_job *j, const int32_t at[3])
{
    const int64_t step[3] = { 1, j->grid.n[0], (int64_t)j->grid.n[0] * j->grid.n[1] }, base = at[0] + at[1] * step[1] + at[2] * step[2];
    double f[3][3], c[3][3];
    for (int k = 0; k < 3; k++) {
        const int low = at[k] > 0, high = at[k] + 1 < j->grid.n[k];
        const float *a = j->map + 4 * (base - (low ? step[k] : 0)), *b = j->map + 4 * (base + (high ? step[k] : 0));
        for (int i = 0; i < 3; i++) f[i][k] = ((double)b[i] - (double)a[i]) * j->grid.h[i] / ((double)(low + high) * j->grid.h[k]);
    }
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) c[i][k] = f[0][i] * f[0][k] + f[1][i] * f[1][k] + f[2][i] * f[2][k];
    const double most = tsr_largest_eigenvalue(c);
    j->out[base] = (float)(0.5 * tsr_det_log(most > 1e-30 ? most : 1e-30) / j->duration);
}

#endif
