/* solver/terms.h: the terms of the level-set equation at one voxel and one moment: normal speed F, velocity U, curvature coefficient a.
 *
 * docs/theory/levelset.md 2, 4, 7. Exact class: sine, cosine and exponential by polynomials (absolute errors below 1e-6, tested), so that
 * every backend has the same bits. Positions are index * spacing, in float. Terms that are the same everywhere are summed by the host into
 * `everywhere`; only the others are visited per voxel. */
#ifndef TSR_SOLVER_TERMS_H
#define TSR_SOLVER_TERMS_H

#include "solver/scheme.h"
#include "tessera/levelset_term.h"

enum { TSR_ENGINE_SOURCES = 8 };

/* = tsr_levelset_kind */
enum {
    TSR_SOURCE_SPEED = 0,
    TSR_SOURCE_SPEED_FIELD,
    TSR_SOURCE_VELOCITY,
    TSR_SOURCE_VELOCITY_FIELD,
    TSR_SOURCE_ROTATION,
    TSR_SOURCE_ENRIGHT,
    TSR_SOURCE_CURVATURE,
    TSR_SOURCE_POTENTIAL,
    TSR_SOURCE_MEAN_CURVATURE,
    TSR_SOURCE_USER,
    TSR_SOURCE_PULL
};

/* A dense float32 field and the way from a voxel of the list to its index space: index = matrix * (x, y, z, 1). */
typedef struct tsr_engine_field {
    const float *data;
    int32_t size[3];
    float matrix[3][4];
} tsr_engine_field;

typedef struct tsr_engine_source {
    int32_t kind;
    int32_t term; /* index of the caller's term */
    float value;
    float vector[3], centre[3];
    float edge;         /* of the cube of ENRIGHT */
    float period;       /* <= 0: no oscillation */
    float brush_reach2; /* squared distance beyond which the term is 0; 0: no brush */
    float brush_rate;   /* log2(e) / (2 sigma^2) */
    tsr_engine_field field[3];
    void (*evaluate)(const void *data, const float x[3], double t, tsr_levelset_answer *answer); /* of USER, host code */
    const void *data;              /* of USER; where `evaluate` or the kernels read it */
    const tsr_term_module *module; /* of USER, off the CPU */
    int32_t gives, channels;       /* of its answers */
    const float *answers;          /* [id][channels][edge^3], written before each stage */
} tsr_engine_source;

typedef struct tsr_engine_flow {
    int32_t count;
    float spacing[3];
    tsr_engine_values everywhere;
    tsr_engine_source source[TSR_ENGINE_SOURCES]; /* those that depend on the place */
} tsr_engine_flow;

/* What is the same for all voxels at a moment. */
typedef struct tsr_engine_moment {
    double time;
    float mean_speed;                /* what MEAN_CURVATURE and feedback add to F */
    float swing[TSR_ENGINE_SOURCES]; /* cos(pi t / T) of ENRIGHT terms */
} tsr_engine_moment;

/* ---- elementary functions ------------------------------------------------------------------------------------------------------------- */

/* sin(pi x), |x| < 2^30. */
TSR_HD float tsr_sin_pi(float x)
{
    const int32_t n = (int32_t)(x + (x >= 0.0f ? 0.5f : -0.5f));
    const float r = x - (float)n, s = r * r;
    const float y = r * (3.14159265f + s * (-5.16771278f + s * (2.55016404f + s * (-0.599264529f + s * (0.0821458866f + s * -0.00737043094f)))));
    return n & 1 ? -y : y;
}
TSR_HD float tsr_cos_pi(float x) { return tsr_sin_pi(x + 0.5f); }

/* 2^-x for 0 <= x < 100. Not tsr_exp2 of core/exponent.h, which rounds down where this rounds to the nearest: steps are promised to the bit. */
TSR_HD float tsr_exp2_minus(float x)
{
    const int32_t n = (int32_t)(x + 0.5f);
    const float r = (float)n - x;
    const float y =
        1.0f + r * (0.693147181f + r * (0.240226507f + r * (0.0555041087f + r * (0.00961812911f + r * (0.00133335581f + r * 0.000154035304f)))));
    return y * tsr_bits_float((uint32_t)(127 - n) << 23);
}

/* ---- terms ------------------------------------------------------------------------------------------------------------------------------ */

/* Trilinear, coordinates clamped to the field. */
TSR_HD float tsr_field_sample(const tsr_engine_field *f, int32_t x, int32_t y, int32_t z)
{
    int64_t low[3], high[3];
    float t[3];
    for (int32_t k = 0; k < 3; k++) {
        float at = ((f->matrix[k][0] * (float)x + f->matrix[k][1] * (float)y) + f->matrix[k][2] * (float)z) + f->matrix[k][3];
        at = tsr_clampf(at, 0.0f, (float)(f->size[k] - 1));
        low[k] = tsr_mini((int32_t)at, f->size[k] - 1);
        high[k] = tsr_mini((int32_t)at + 1, f->size[k] - 1);
        t[k] = at - (float)low[k];
    }
    const float *p = f->data;
    const int64_t nx = f->size[0], ny = f->size[1];
    const float *r00 = p + (low[2] * ny + low[1]) * nx, *r01 = p + (low[2] * ny + high[1]) * nx, *r10 = p + (high[2] * ny + low[1]) * nx,
                *r11 = p + (high[2] * ny + high[1]) * nx;
    const float a = r00[low[0]] + t[0] * (r00[high[0]] - r00[low[0]]), b = r01[low[0]] + t[0] * (r01[high[0]] - r01[low[0]]);
    const float c = r10[low[0]] + t[0] * (r10[high[0]] - r10[low[0]]), d = r11[low[0]] + t[0] * (r11[high[0]] - r11[low[0]]);
    const float e = a + t[1] * (b - a), g = c + t[1] * (d - c);
    return e + t[2] * (g - e);
}

/* value * exp(-d^2 / 2 sigma^2), 0 beyond 3 sigma; value without a brush. */
TSR_HD float tsr_source_weight(const tsr_engine_flow *flow, int32_t index, int32_t x, int32_t y, int32_t z)
{
    const tsr_engine_source *s = &flow->source[index];
    const float dx = (float)x * flow->spacing[0] - s->centre[0], dy = (float)y * flow->spacing[1] - s->centre[1],
                dz = (float)z * flow->spacing[2] - s->centre[2], d2 = (dx * dx + dy * dy) + dz * dz;
    const float falloff = tsr_exp2_minus(tsr_minf(d2, s->brush_reach2) * s->brush_rate);
    return s->brush_reach2 > 0.0f ? (d2 > s->brush_reach2 ? 0.0f : s->value * falloff) : s->value;
}

/* What the periodic deformation needs of one coordinate in the unit cube. */
typedef struct tsr_enright_wave {
    float square, twice; /* sin^2(pi x), sin(2 pi x) */
} tsr_enright_wave;
TSR_HD tsr_enright_wave tsr_enright_wave_at(float x)
{
    const float s = tsr_sin_pi(x);
    const tsr_enright_wave wave = { s * s, tsr_sin_pi(2.0f * x) };
    return wave;
}
/* The wave at place i of an axis. */
TSR_HD tsr_enright_wave tsr_enright_wave_of(const tsr_engine_source *s, const float spacing[3], int32_t axis, int32_t i)
{
    return tsr_enright_wave_at(((float)i * spacing[axis] - s->centre[axis]) / s->edge);
}
/* Its velocity, in units of the edge per unit of time times `scale`. */
TSR_HD void tsr_enright_velocity(tsr_enright_wave x, tsr_enright_wave y, tsr_enright_wave z, float scale, float u[3])
{
    u[0] = 2.0f * x.square * (y.twice * z.twice) * scale;
    u[1] = -(x.twice * y.square * z.twice) * scale;
    u[2] = -(x.twice * y.twice * z.square) * scale;
}

/* |grad P|, by which it is divided; where it is flat nothing pulls. A maximum, not a choice, keeps vector loops free of branches. */
TSR_HD float tsr_pull_length(float gx, float gy, float gz) { return tsr_maxf(tsr_sqrt((gx * gx + gy * gy) + gz * gz), 1e-18f); }

/* One component of a velocity to which `weight` times the unit gradient of the potential is added. */
TSR_HD float tsr_pull_moved(float velocity, float weight, float g, float length) { return velocity + weight * (g / length); }
TSR_HD void tsr_pull_add(float weight, const float g[3], tsr_engine_values *sum)
{
    const float length = tsr_pull_length(g[0], g[1], g[2]);
    for (int k = 0; k < 3; k++) sum->velocity[k] = tsr_pull_moved(sum->velocity[k], weight, g[k], length);
}

/* A velocity at most 1 long as the payload keeps it: three components of 10 bits, to 1/1022, and bit 30 to tell it from "none here", which is 0 and
 * means a velocity of 0. Opposite velocities have opposite components, bit for bit. */
#define TSR_PULL_HERE ((uint32_t)1 << 30)
TSR_HD uint32_t tsr_pull_pack(const float u[3])
{
    uint32_t word = TSR_PULL_HERE;
    for (int32_t k = 0; k < 3; k++) {
        const float v = tsr_clampf(u[k], -1.0f, 1.0f) * 511.0f;
        word |= (uint32_t)((int32_t)(v < 0.0f ? v - 0.5f : v + 0.5f) + 512) << (10 * k);
    }
    return word;
}
TSR_HD float tsr_pull_component(uint32_t word, int32_t k)
{
    return (float)((int32_t)(word >> (10 * k) & 1023u) - (int32_t)(word >> 30 << 9)) * (1.0f / 511.0f);
}

/* What a voxel has beside its place: the gradient of the payload (POTENTIAL) or the velocity it keeps (PULL); off the CPU where its answers lie (USER). */
typedef struct tsr_engine_given {
    float gradient[3];
    uint32_t id;
    int32_t voxel, voxels; /* index in its tile of so many */
} tsr_engine_given;

/* The answers of the caller's own term: asked for here on the CPU, by a kernel before the stage elsewhere. */
TSR_HD tsr_levelset_answer tsr_engine_ask(const tsr_engine_source *s, const float x[3], double t, const tsr_engine_given *given)
{
    tsr_levelset_answer answer = { 0.0f, { 0.0f, 0.0f, 0.0f }, 0.0f };
#if defined(__CUDACC__) || defined(TSR_EMU)
    const float *from = s->answers + (int64_t)given->id * s->channels * given->voxels + given->voxel;
    (void)x;
    (void)t;
    if (s->gives & TSR_TERM_SPEED) {
        answer.speed = *from;
        from += given->voxels;
    }
    for (int32_t k = 0; k < 3 && (s->gives & TSR_TERM_VELOCITY); k++, from += given->voxels) answer.velocity[k] = *from;
    if (s->gives & TSR_TERM_CURVATURE) answer.curvature = *from;
#else
    (void)given;
    s->evaluate(s->data, x, t, &answer);
#endif
    return answer;
}

/* Adds a source at voxel (x, y, z); `kind` is the source's (a constant in vector loops), `weight` from tsr_source_weight. */
TSR_HD void tsr_engine_kind_add(const tsr_engine_flow *flow, int32_t index, int32_t kind, float weight, const tsr_engine_moment *moment, int32_t x,
                                int32_t y, int32_t z, const tsr_engine_given *given, tsr_engine_values *sum)
{
    const tsr_engine_source *s = &flow->source[index];
    const float px = (float)x * flow->spacing[0], py = (float)y * flow->spacing[1], pz = (float)z * flow->spacing[2];
    float u[3] = { 0.0f, 0.0f, 0.0f };
    switch (kind) {
    case TSR_SOURCE_SPEED: sum->speed = sum->speed + weight; return;
    case TSR_SOURCE_SPEED_FIELD: sum->speed = sum->speed + weight * tsr_field_sample(&s->field[0], x, y, z); return;
    case TSR_SOURCE_CURVATURE: sum->curvature = sum->curvature + weight; return;
    case TSR_SOURCE_VELOCITY:
        u[0] = s->vector[0];
        u[1] = s->vector[1];
        u[2] = s->vector[2];
        break;
    case TSR_SOURCE_VELOCITY_FIELD:
        for (int32_t k = 0; k < 3; k++) u[k] = tsr_field_sample(&s->field[k], x, y, z);
        break;
    case TSR_SOURCE_ROTATION: {
        const float dx = px - s->centre[0], dy = py - s->centre[1], dz = pz - s->centre[2];
        u[0] = s->vector[1] * dz - s->vector[2] * dy;
        u[1] = s->vector[2] * dx - s->vector[0] * dz;
        u[2] = s->vector[0] * dy - s->vector[1] * dx;
        break;
    }
    case TSR_SOURCE_ENRIGHT:
        tsr_enright_velocity(tsr_enright_wave_of(s, flow->spacing, 0, x), tsr_enright_wave_of(s, flow->spacing, 1, y),
                             tsr_enright_wave_of(s, flow->spacing, 2, z), s->edge * moment->swing[index], u);
        break;
    case TSR_SOURCE_POTENTIAL: tsr_pull_add(weight, given->gradient, sum); return;
    case TSR_SOURCE_PULL:
        u[0] = given->gradient[0];
        u[1] = given->gradient[1];
        u[2] = given->gradient[2];
        break;
    case TSR_SOURCE_USER: {
        const float place[3] = { px, py, pz };
        const tsr_levelset_answer answer = tsr_engine_ask(s, place, moment->time, given);
        sum->speed = sum->speed + weight * answer.speed;
        sum->curvature = sum->curvature + weight * answer.curvature;
        u[0] = answer.velocity[0];
        u[1] = answer.velocity[1];
        u[2] = answer.velocity[2];
        break;
    }
    default: return;
    }
    sum->velocity[0] = sum->velocity[0] + weight * u[0];
    sum->velocity[1] = sum->velocity[1] + weight * u[1];
    sum->velocity[2] = sum->velocity[2] + weight * u[2];
}

TSR_HD tsr_engine_values tsr_engine_at(const tsr_engine_flow *flow, const tsr_engine_moment *moment, int32_t x, int32_t y, int32_t z,
                                       const tsr_engine_given *given)
{
    tsr_engine_values v = flow->everywhere;
    v.speed = v.speed + moment->mean_speed;
    for (int32_t i = 0; i < flow->count; i++)
        tsr_engine_kind_add(flow, i, flow->source[i].kind, tsr_source_weight(flow, i, x, y, z), moment, x, y, z, given, &v);
    return v;
}

/* cos(pi t / T) of an ENRIGHT term, 1 of any other. */
TSR_HD float tsr_engine_swing(const tsr_engine_source *s, double time)
{
    if (s->kind != TSR_SOURCE_ENRIGHT || !(s->period > 0.0f)) return 1.0f;
    const double turns = time / (2.0 * (double)s->period); /* one turn = two periods of cos(pi t / T) */
    return tsr_cos_pi(2.0f * (float)(turns - (double)(int64_t)turns));
}

TSR_HD void tsr_engine_moment_at(const tsr_engine_flow *flow, double time, float mean_speed, tsr_engine_moment *moment)
{
    moment->time = time;
    moment->mean_speed = mean_speed;
    for (int32_t i = 0; i < flow->count; i++) moment->swing[i] = tsr_engine_swing(&flow->source[i], time);
}

/* Central difference of the payload along an axis; one-sided where a neighbour tile is absent (no page), 0 where both are. */
TSR_HD float tsr_payload_slope(float before, float here, float after, int has_before, int has_after, float inverse_spacing)
{
    if (has_before && has_after) return (after - before) * (0.5f * inverse_spacing);
    if (has_after) return (after - here) * inverse_spacing;
    return has_before ? (here - before) * inverse_spacing : 0.0f;
}

/* Rate at which information crosses voxels: times a time step it must stay below 1. */
TSR_HD float tsr_engine_hyperbolic(const tsr_engine_values *v, const tsr_engine_scheme *k)
{
    const float *r = k->rate_spacing;
    return ((tsr_absf(v->velocity[0]) * r[0] + tsr_absf(v->velocity[1]) * r[1]) + tsr_absf(v->velocity[2]) * r[2]) +
           1.7320508f * tsr_absf(v->speed) / k->spacing;
}

#endif
