/* solver/engine_isa.c: the vector loops of a pass of the level-set solver on the CPU.
 *
 * Rows of the tile in which nothing can move are copied. The others are packed into lanes, up to 64, so that every later loop is one run of full
 * vectors whatever the edge of the tile: differences, terms, then each part of the right-hand side in a loop of its own, in the order of
 * tsr_scheme_rate, so that the bits are the same. Options are uniform for a pass: they are tested outside the loops. */
#include <string.h>

#include "tiles/tiles_halo.h"
#include "solver/engine_planes.h"
#include "solver/engine_rows.h"
#include "solver/engine_tile.h"

enum { LANES = 64 };
#define ALWAYS TSR_INLINE
#define LOOP _Pragma("omp simd") for (int32_t i = 0; i < n; i++)

struct lanes {
    _Alignas(64) float d[3][6][LANES];
    float c[LANES], start[LANES], rate[LANES], fresh[LANES], minus[3][LANES], plus[3][LANES], cross[3][LANES];
    float speed[LANES], velocity[3][LANES], curvature[LANES], weight[LANES], gradient[3][LANES], outward[LANES], inward[LANES];
    int32_t x[LANES], y[LANES], z[LANES], still[LANES], crossing[LANES];
    uint32_t area[LANES];
    int32_t row[LANES / 4]; /* index of each row's first voxel in the tile */
};

/* ---- packing ------------------------------------------------------------------------------------------------------------------------------ */

/* Which voxels of a row stay (tsr_voxel_still), written to its lanes; 1 if all do: then they have one value. */
ALWAYS int row_still(struct lanes *l, int32_t at, const float *p, int32_t E, int32_t H, int32_t P, float band)
{
    int32_t all = 1;
#pragma omp simd reduction(& : all)
    for (int32_t i = 0; i < E; i++) {
        const float c = p[i];
        const int32_t still =
            ((c >= band) | (c <= -band)) & (c == p[i - 1]) & (c == p[i + 1]) & (c == p[i - H]) & (c == p[i + H]) & (c == p[i - P]) & (c == p[i + P]);
        l->still[at + i] = still;
        all &= still;
    }
    return all;
}

ALWAYS void pack_axis(const float *p, int32_t E, int32_t s, float r, int wide, float (*d)[LANES], int32_t at)
{
#pragma omp simd
    for (int32_t i = 0; i < E; i++) {
        d[2][at + i] = (p[i] - p[i - s]) * r;
        d[3][at + i] = (p[i + s] - p[i]) * r;
    }
    if (!wide) return;
#pragma omp simd
    for (int32_t i = 0; i < E; i++) {
        d[0][at + i] = (p[i - 2 * s] - p[i - 3 * s]) * r;
        d[1][at + i] = (p[i - s] - p[i - 2 * s]) * r;
        d[4][at + i] = (p[i + 2 * s] - p[i + s]) * r;
        d[5][at + i] = (p[i + 3 * s] - p[i + 2 * s]) * r;
    }
}

ALWAYS void pack_row(struct lanes *l, int32_t at, const tsr_tile_pass *pass, int32_t E, int32_t y, int32_t z, const float *p, int32_t H, int wide,
                     int placed)
{
    const int32_t P = H * H, row = (z * E + y) * E;
    const tsr_engine_scheme *k = pass->scheme;
    const float *r = k->inverse_spacing;
#pragma omp simd
    for (int32_t i = 0; i < E; i++) {
        const float c = p[i];
        const int32_t inside = c < 0.0f;
        l->c[at + i] = c;
        l->start[at + i] = pass->start[row + i];
        l->area[at + i] = pass->areas[row + i];
        l->crossing[at + i] = ((p[i - 1] < 0.0f) != inside) | ((p[i + 1] < 0.0f) != inside) | ((p[i - H] < 0.0f) != inside) |
                              ((p[i + H] < 0.0f) != inside) | ((p[i - P] < 0.0f) != inside) | ((p[i + P] < 0.0f) != inside);
    }
    if (placed) {
#pragma omp simd
        for (int32_t i = 0; i < E; i++) {
            l->x[at + i] = pass->first[0] + i;
            l->y[at + i] = pass->first[1] + y;
            l->z[at + i] = pass->first[2] + z;
        }
    }
    pack_axis(p, E, 1, r[0], wide, l->d[0], at);
    pack_axis(p, E, H, r[1], wide, l->d[1], at);
    pack_axis(p, E, P, r[2], wide, l->d[2], at);
    if (pass->flow && k->has_curvature) {
#pragma omp simd
        for (int32_t i = 0; i < E; i++) {
            l->cross[0][at + i] = tsr_cross_difference(p + i, 1, H, r[0], r[1]);
            l->cross[1][at + i] = tsr_cross_difference(p + i, 1, P, r[0], r[2]);
            l->cross[2][at + i] = tsr_cross_difference(p + i, H, P, r[1], r[2]);
        }
    }
    for (int k3 = 0; k3 < 3 && pass->gradient[k3]; k3++) memcpy(&l->gradient[k3][at], pass->gradient[k3] + row, (size_t)E * sizeof(float));
    l->row[at / 4] = row;
}

/* ---- terms -------------------------------------------------------------------------------------------------------------------------------- */

/* One source for all lanes; `kind` is a constant where this is called, so that the loop has no switch in it. */
ALWAYS void add_source(struct lanes *l, int32_t n, const tsr_engine_flow *flow, const tsr_engine_moment *moment, int32_t index, int32_t kind)
{
    if (flow->source[index].brush_reach2 > 0.0f) LOOP l->weight[i] = tsr_source_weight(flow, index, l->x[i], l->y[i], l->z[i]);
    else LOOP l->weight[i] = flow->source[index].value;
    if (kind == TSR_SOURCE_POTENTIAL) {
        LOOP
        {
            const float gx = l->gradient[0][i], gy = l->gradient[1][i], gz = l->gradient[2][i], length = tsr_pull_length(gx, gy, gz);
            l->velocity[0][i] = tsr_pull_moved(l->velocity[0][i], l->weight[i], gx, length);
            l->velocity[1][i] = tsr_pull_moved(l->velocity[1][i], l->weight[i], gy, length);
            l->velocity[2][i] = tsr_pull_moved(l->velocity[2][i], l->weight[i], gz, length);
        }
        return;
    }
    LOOP
    {
        const tsr_engine_given given = { .gradient = { l->gradient[0][i], l->gradient[1][i], l->gradient[2][i] } };
        tsr_engine_values v = { l->speed[i], { l->velocity[0][i], l->velocity[1][i], l->velocity[2][i] }, l->curvature[i] };
        tsr_engine_kind_add(flow, index, kind, l->weight[i], moment, l->x[i], l->y[i], l->z[i], &given, &v);
        l->speed[i] = v.speed;
        l->velocity[0][i] = v.velocity[0];
        l->velocity[1][i] = v.velocity[1];
        l->velocity[2][i] = v.velocity[2];
        l->curvature[i] = v.curvature;
    }
}

/* The caller's own term: only for voxels that count. */
static __attribute__((noinline)) void ask_user(struct lanes *l, int32_t n, const tsr_engine_flow *flow, const tsr_engine_moment *moment,
                                               int32_t index)
{
    const tsr_engine_given none = { 0 };
    for (int32_t i = 0; i < n; i++) {
        if (l->area[i] == 0 || l->still[i]) continue;
        tsr_engine_values v = { l->speed[i], { l->velocity[0][i], l->velocity[1][i], l->velocity[2][i] }, l->curvature[i] };
        tsr_engine_kind_add(flow, index, TSR_SOURCE_USER, tsr_source_weight(flow, index, l->x[i], l->y[i], l->z[i]), moment, l->x[i], l->y[i],
                            l->z[i], &none, &v);
        l->speed[i] = v.speed;
        for (int k = 0; k < 3; k++) l->velocity[k][i] = v.velocity[k];
        l->curvature[i] = v.curvature;
    }
}

ALWAYS void evaluate_terms(struct lanes *l, int32_t n, const tsr_engine_flow *flow, const tsr_engine_moment *moment)
{
    const float speed = flow->everywhere.speed + moment->mean_speed;
    LOOP
    {
        l->speed[i] = speed;
        l->velocity[0][i] = flow->everywhere.velocity[0];
        l->velocity[1][i] = flow->everywhere.velocity[1];
        l->velocity[2][i] = flow->everywhere.velocity[2];
        l->curvature[i] = flow->everywhere.curvature;
    }
    for (int32_t s = 0; s < flow->count; s++) {
        switch (flow->source[s].kind) {
        case TSR_SOURCE_SPEED: add_source(l, n, flow, moment, s, TSR_SOURCE_SPEED); break;
        case TSR_SOURCE_SPEED_FIELD: add_source(l, n, flow, moment, s, TSR_SOURCE_SPEED_FIELD); break;
        case TSR_SOURCE_VELOCITY: add_source(l, n, flow, moment, s, TSR_SOURCE_VELOCITY); break;
        case TSR_SOURCE_VELOCITY_FIELD: add_source(l, n, flow, moment, s, TSR_SOURCE_VELOCITY_FIELD); break;
        case TSR_SOURCE_ROTATION: add_source(l, n, flow, moment, s, TSR_SOURCE_ROTATION); break;
        case TSR_SOURCE_ENRIGHT: add_source(l, n, flow, moment, s, TSR_SOURCE_ENRIGHT); break;
        case TSR_SOURCE_CURVATURE: add_source(l, n, flow, moment, s, TSR_SOURCE_CURVATURE); break;
        case TSR_SOURCE_POTENTIAL: add_source(l, n, flow, moment, s, TSR_SOURCE_POTENTIAL); break;
        case TSR_SOURCE_PULL: add_source(l, n, flow, moment, s, TSR_SOURCE_PULL); break;
        default: ask_user(l, n, flow, moment, s); break;
        }
    }
}

/* Largest rates of the terms over lanes in the band. */
ALWAYS void measure_terms(const struct lanes *l, int32_t n, const tsr_engine_scheme *k, tsr_tile_totals *totals)
{
    float rate = totals->rate, curvature = totals->curvature;
#pragma omp simd reduction(max : rate, curvature)
    for (int32_t i = 0; i < n; i++) {
        const tsr_engine_values v = { l->speed[i], { l->velocity[0][i], l->velocity[1][i], l->velocity[2][i] }, l->curvature[i] };
        const int32_t counted = (l->area[i] != 0u) & (l->c[i] < k->band) & (l->c[i] > -k->band);
        float h = tsr_engine_hyperbolic(&v, k), a = tsr_absf(v.curvature);
        h = counted & tsr_finite(h) ? h : 0.0f;
        a = counted & tsr_finite(a) ? a : 0.0f;
        rate = h > rate ? h : rate;
        curvature = a > curvature ? a : curvature;
    }
    totals->rate = rate;
    totals->curvature = curvature;
}

/* ---- the right-hand side ------------------------------------------------------------------------------------------------------------------- */

ALWAYS void one_sided_of(struct lanes *l, int32_t n, int32_t space)
{
    for (int axis = 0; axis < 3; axis++) {
        const float(*d)[LANES] = (const float(*)[LANES])l->d[axis];
        float *minus = l->minus[axis], *plus = l->plus[axis];
        if (space == TSR_DIFFERENCE_WENO5) LOOP tsr_weno5(d[0][i], d[1][i], d[2][i], d[3][i], d[4][i], d[5][i], &minus[i], &plus[i]);
        else if (space == TSR_DIFFERENCE_ENO2)
            LOOP tsr_one_sided(TSR_DIFFERENCE_ENO2, d[0][i], d[1][i], d[2][i], d[3][i], d[4][i], d[5][i], &minus[i], &plus[i]);
        else LOOP
            {
                minus[i] = d[2][i];
                plus[i] = d[3][i];
            }
    }
}

ALWAYS void norms_as(struct lanes *l, int32_t n, int32_t space)
{
    LOOP
    {
        l->outward[i] = (tsr_outward_square(space, l->minus[0][i], l->plus[0][i]) + tsr_outward_square(space, l->minus[1][i], l->plus[1][i])) +
                        tsr_outward_square(space, l->minus[2][i], l->plus[2][i]);
        l->inward[i] = (tsr_inward_square(space, l->minus[0][i], l->plus[0][i]) + tsr_inward_square(space, l->minus[1][i], l->plus[1][i])) +
                       tsr_inward_square(space, l->minus[2][i], l->plus[2][i]);
    }
}
ALWAYS void norms(struct lanes *l, int32_t n, int32_t space)
{
    if (space == TSR_DIFFERENCE_UPWIND) norms_as(l, n, TSR_DIFFERENCE_UPWIND);
    else norms_as(l, n, TSR_DIFFERENCE_GODUNOV);
}

ALWAYS void add_curvature(struct lanes *l, int32_t n, const tsr_engine_scheme *k)
{
    const float rx = k->inverse_spacing[0], ry = k->inverse_spacing[1], rz = k->inverse_spacing[2], limit = k->curvature_limit;
    LOOP
    {
        const float xm = l->d[0][2][i], xp = l->d[0][3][i], ym = l->d[1][2][i], yp = l->d[1][3][i], zm = l->d[2][2][i], zp = l->d[2][3][i];
        l->rate[i] += l->curvature[i] * tsr_curvature_part(0.5f * (xm + xp), 0.5f * (ym + yp), 0.5f * (zm + zp), (xp - xm) * rx, (yp - ym) * ry,
                                                           (zp - zm) * rz, l->cross[0][i], l->cross[1][i], l->cross[2][i], limit);
    }
}

/* `sign` is a constant where this is called. */
ALWAYS void add_reshape_as(struct lanes *l, int32_t n, const tsr_engine_scheme *from, int32_t sign)
{
    tsr_engine_scheme k = *from;
    k.sign = sign;
    LOOP
    {
        float steepest = 0.0f;
        if (sign == TSR_SIGNED_SUBCELL)
            steepest = tsr_steepest_of(l->d[0][2][i], l->d[0][3][i], l->d[1][2][i], l->d[1][3][i], l->d[2][2][i], l->d[2][3][i]);
        l->rate[i] = l->rate[i] + tsr_reshape_part(&k, l->c[i], l->c[i] > 0.0f ? l->outward[i] : l->inward[i], l->crossing[i], steepest);
    }
}

ALWAYS void add_reshape(struct lanes *l, int32_t n, const tsr_engine_scheme *k)
{
    if (k->sign == TSR_SIGNED_SMOOTH) add_reshape_as(l, n, k, TSR_SIGNED_SMOOTH);
    else if (k->sign == TSR_SIGNED_SGN) add_reshape_as(l, n, k, TSR_SIGNED_SGN);
    else if (k->sign == TSR_SIGNED_PHI) add_reshape_as(l, n, k, TSR_SIGNED_PHI);
    else if (k->sign == TSR_SIGNED_GRADIENT) add_reshape_as(l, n, k, TSR_SIGNED_GRADIENT);
    else add_reshape_as(l, n, k, TSR_SIGNED_SUBCELL);
}

ALWAYS void right_hand_side(struct lanes *l, int32_t n, const tsr_tile_pass *pass)
{
    const tsr_engine_scheme *k = pass->scheme;
    const int flow = pass->flow != NULL, upwind = flow && (k->has_speed || k->has_velocity), reshaped = k->reshape != 0.0f;
    const int32_t space = upwind ? k->space : k->reshape_space;
    if (upwind || reshaped) one_sided_of(l, n, space);
    if ((flow && k->has_speed) || reshaped) norms(l, n, space);
    LOOP l->rate[i] = 0.0f;
    if (flow && k->has_speed) LOOP l->rate[i] = l->rate[i] + tsr_speed_part(l->speed[i], l->speed[i] > 0.0f ? l->outward[i] : l->inward[i]);
    if (flow && k->has_velocity)
        LOOP l->rate[i] = l->rate[i] + ((tsr_velocity_part(l->velocity[0][i], l->minus[0][i], l->plus[0][i]) +
                                         tsr_velocity_part(l->velocity[1][i], l->minus[1][i], l->plus[1][i])) +
                                        tsr_velocity_part(l->velocity[2][i], l->minus[2][i], l->plus[2][i]));
    if (flow && k->has_curvature) add_curvature(l, n, k);
    if (!reshaped) return;
    if (upwind && k->reshape_space != k->space) {
        one_sided_of(l, n, k->reshape_space);
        norms(l, n, k->reshape_space);
    }
    add_reshape(l, n, k);
}

/* ---- results -------------------------------------------------------------------------------------------------------------------------------- */

/* Some lane is not finite: the first of the tile. */
static __attribute__((noinline, cold)) void name_bad(const struct lanes *l, int32_t n, const tsr_tile_pass *pass, tsr_tile_totals *totals)
{
    const int32_t E = pass->edge;
    for (int32_t i = 0; i < n; i++) {
        if (l->area[i] == 0 || l->still[i] || tsr_finite(l->c[i] + pass->step * l->rate[i])) continue;
        const uint64_t word = tsr_bad_word(pass->index, pass->entry, l->row[(i - i % E) / 4] + i % E);
        totals->bad = word > totals->bad ? word : totals->bad;
    }
}

/* New values; 1 if one of them is not finite. `blend` is a constant where it is 1. */
ALWAYS int32_t stage_lanes(struct lanes *l, int32_t n, float step, float blend, float band)
{
    int32_t bad = 0;
#pragma omp simd reduction(| : bad)
    for (int32_t i = 0; i < n; i++) {
        const float change = tsr_bits_float(tsr_float_bits(step * l->rate[i]) & ((uint32_t)l->still[i] - 1u)); /* 0 if still, without a branch */
        bad |= !tsr_finite(l->c[i] + change);
        l->fresh[i] = tsr_stage_value(l->start[i], l->c[i], change, blend, band);
    }
    return bad;
}

ALWAYS uint32_t finish_lanes(struct lanes *l, int32_t n, const tsr_tile_pass *pass, tsr_tile_totals *totals)
{
    const float band = pass->scheme->band, step = pass->step, blend = pass->blend;
    const int32_t bad = blend == 1.0f ? stage_lanes(l, n, step, 1.0f, band) : stage_lanes(l, n, step, blend, band);
    if (__builtin_expect(bad, 0)) name_bad(l, n, pass, totals);
    if (pass->coding) LOOP l->fresh[i] = tsr_code_rounded(pass->coding, l->fresh[i]);
    if (!pass->last) return 0;
    uint32_t bits = 0, active = 0, inside = 0;
    float largest = totals->change;
#pragma omp simd reduction(+ : active, inside) reduction(| : bits) reduction(max : largest)
    for (int32_t i = 0; i < n; i++) {
        const float v = l->fresh[i];
        const uint32_t counted = l->area[i] ? 1u : 0u, in_band = ((v > -band) & (v < band)) ? counted : 0u;
        float moved = tsr_absf(v - l->start[i]);
        bits |= in_band | (uint32_t)l->crossing[i] ? l->area[i] : 0u;
        active += in_band;
        inside += v < 0.0f ? counted : 0u;
        moved = in_band ? moved : 0.0f;
        largest = moved > largest ? moved : largest;
    }
    totals->active += active;
    totals->inside += inside;
    totals->change = largest;
    return bits;
}

/* All that has been packed, and a fresh start. */
ALWAYS uint32_t flush_as(struct lanes *l, int32_t count, int32_t E, const tsr_tile_pass *pass, tsr_tile_totals *totals)
{
    const int32_t n = (count + 15) & ~15;
    for (int32_t at = count; at < n; at += E) { /* lanes that only fill the last vector: a copy of the last row, not counted */
        for (int k = 0; k < 3; k++)
            for (int j = 0; j < 6; j++) memcpy(&l->d[k][j][at], &l->d[k][j][at - E], (size_t)E * sizeof(float));
        for (int32_t i = at; i < at + E; i++) {
            l->c[i] = l->start[i] = 0.0f;
            l->area[i] = 0;
            l->x[i] = l->y[i] = l->z[i] = l->still[i] = l->crossing[i] = 0;
            for (int k = 0; k < 3; k++) l->cross[k][i] = l->gradient[k][i] = 0.0f;
        }
    }
    if (pass->flow) {
        evaluate_terms(l, n, pass->flow, pass->moment);
        if (pass->measure) measure_terms(l, n, pass->scheme, totals);
    }
    right_hand_side(l, n, pass);
    const uint32_t bits = finish_lanes(l, n, pass, totals);
    for (int32_t at = 0; at < count; at += E) {
        const int32_t row = l->row[at / 4];
        if (pass->extent[0] == E) memcpy(pass->out + row, &l->fresh[at], (size_t)E * sizeof(float));
        else memcpy(pass->out + row, &l->fresh[at], (size_t)pass->extent[0] * sizeof(float));
    }
    return bits;
}

/* ---- whole tiles of edge 4 -------------------------------------------------------------------------------------------------------------------- */

/* Gradient of the payload in all lanes: one-sided towards absent tiles, as tsr_payload_gradient. */
ALWAYS void planes_gradient(struct lanes *l, const tsr_tile_pass *pass, float (*near)[LANES])
{
    enum { n = LANES };
    const float *own = pass->payload + (int64_t)pass->payload_row[TSR_TILE_MIDDLE] * LANES;
    if (pass->velocities) {
        for (int32_t k = 0; k < 3; k++) LOOP l->gradient[k][i] = tsr_pull_component(tsr_float_bits(own[i]), k);
        return;
    }
    tsr_planes_faces(pass->payload, pass->payload_row, near);
    for (int32_t k = 0, direction = 1, shift = 0; k < 3; k++, direction *= 3, shift += 2) {
        const int32_t before = pass->payload_row[TSR_TILE_MIDDLE - direction] >= TSR_TILE_FIRST,
                      after = pass->payload_row[TSR_TILE_MIDDLE + direction] >= TSR_TILE_FIRST;
        const float *low = near[TSR_TILE_MIDDLE - direction], *high = near[TSR_TILE_MIDDLE + direction], inverse = pass->scheme->inverse_spacing[k];
        LOOP
        {
            const int32_t at = i >> shift & 3;
            l->gradient[k][i] = tsr_payload_slope(low[i], own[i], high[i], before | (at > 0), after | (at < 3), inverse);
        }
    }
}

/* A tile whose halo lies in the domain: all its voxels as lanes. */
static __attribute__((noinline)) uint32_t run_planes(const tsr_tile_pass *pass, tsr_tile_totals *totals)
{
    enum { n = LANES, M = TSR_TILE_MIDDLE };
    struct lanes l;
    _Alignas(64) float near[TSR_TILE_DIRECTIONS][LANES];
    const tsr_engine_scheme *k = pass->scheme;
    const float *c = pass->pages + (int64_t)pass->row[M] * LANES, *r = k->inverse_spacing, band = k->band;
    int32_t all = 1;
    tsr_planes_faces(pass->pages, pass->row, near);
#pragma omp simd reduction(& : all)
    for (int32_t i = 0; i < n; i++) {
        const int32_t still = ((c[i] >= band) | (c[i] <= -band)) & (c[i] == near[M - 1][i]) & (c[i] == near[M + 1][i]) & (c[i] == near[M - 3][i]) &
                              (c[i] == near[M + 3][i]) & (c[i] == near[M - 9][i]) & (c[i] == near[M + 9][i]);
        l.still[i] = still;
        all &= still;
    }
    if (all && pass->blend == 1.0f) { /* nothing moves, and all values are one */
        memcpy(pass->out, c, LANES * sizeof *c);
        totals->inside += c[0] < 0.0f ? n : 0;
        return 0;
    }
    LOOP
    {
        const int32_t inside = c[i] < 0.0f;
        l.c[i] = c[i];
        l.start[i] = pass->start[i];
        l.area[i] = pass->areas[i];
        l.crossing[i] = ((near[M - 1][i] < 0.0f) != inside) | ((near[M + 1][i] < 0.0f) != inside) | ((near[M - 3][i] < 0.0f) != inside) |
                        ((near[M + 3][i] < 0.0f) != inside) | ((near[M - 9][i] < 0.0f) != inside) | ((near[M + 9][i] < 0.0f) != inside);
        l.d[0][2][i] = (c[i] - near[M - 1][i]) * r[0];
        l.d[0][3][i] = (near[M + 1][i] - c[i]) * r[0];
        l.d[1][2][i] = (c[i] - near[M - 3][i]) * r[1];
        l.d[1][3][i] = (near[M + 3][i] - c[i]) * r[1];
        l.d[2][2][i] = (c[i] - near[M - 9][i]) * r[2];
        l.d[2][3][i] = (near[M + 9][i] - c[i]) * r[2];
        l.x[i] = pass->first[0] + (i & 3);
        l.y[i] = pass->first[1] + (i >> 2 & 3);
        l.z[i] = pass->first[2] + (i >> 4);
    }
    for (int32_t row = 0; row < LANES / 4; row++) l.row[row] = 4 * row;
    if (pass->flow && k->has_curvature) {
        tsr_planes_edges(pass->pages, pass->row, near);
        LOOP
        {
            l.cross[0][i] = tsr_cross_of(near[M + 4][i], near[M - 2][i], near[M + 2][i], near[M - 4][i], r[0], r[1]);
            l.cross[1][i] = tsr_cross_of(near[M + 10][i], near[M - 8][i], near[M + 8][i], near[M - 10][i], r[0], r[2]);
            l.cross[2][i] = tsr_cross_of(near[M + 12][i], near[M - 6][i], near[M + 6][i], near[M - 12][i], r[1], r[2]);
        }
    }
    if (pass->flow && pass->payload) planes_gradient(&l, pass, near);
    if (pass->flow) {
        evaluate_terms(&l, n, pass->flow, pass->moment);
        if (pass->measure) measure_terms(&l, n, k, totals);
    }
    right_hand_side(&l, n, pass);
    const uint32_t bits = finish_lanes(&l, n, pass, totals);
    memcpy(pass->out, l.fresh, sizeof l.fresh);
    return bits;
}

/* With a constant edge its copies are single vectors. */
static __attribute__((noinline)) uint32_t flush_4(struct lanes *l, int32_t count, const tsr_tile_pass *pass, tsr_tile_totals *totals)
{
    return flush_as(l, count, 4, pass, totals);
}
static __attribute__((noinline)) uint32_t flush_8(struct lanes *l, int32_t count, const tsr_tile_pass *pass, tsr_tile_totals *totals)
{
    return flush_as(l, count, 8, pass, totals);
}

/* ---- whole tiles of edge 8 -------------------------------------------------------------------------------------------------------------------- */

/* As pack_axis along x, where the voxels before and after are arrays of their own. */
ALWAYS void pack_sides(const struct tsr_rows *rows, int32_t o, float r, int wide, float (*d)[LANES], int32_t at)
{
    const float *p = rows->own + o, *left = rows->left[0] + o, *right = rows->right[0] + o;
#pragma omp simd
    for (int32_t i = 0; i < TSR_PAIR; i++) {
        d[2][at + i] = (p[i] - left[i]) * r;
        d[3][at + i] = (right[i] - p[i]) * r;
    }
    if (!wide) return;
    const float *left2 = rows->left[1] + o, *left3 = rows->left[2] + o, *right2 = rows->right[1] + o, *right3 = rows->right[2] + o;
#pragma omp simd
    for (int32_t i = 0; i < TSR_PAIR; i++) {
        d[0][at + i] = (left2[i] - left3[i]) * r;
        d[1][at + i] = (left[i] - left2[i]) * r;
        d[4][at + i] = (right2[i] - right[i]) * r;
        d[5][at + i] = (right3[i] - right2[i]) * r;
    }
}

ALWAYS void pack_pair(struct lanes *l, int32_t at, const tsr_tile_pass *pass, int32_t y, int32_t z, const struct tsr_rows *rows, int32_t o, int32_t P,
                      int wide, int corners, int placed)
{
    const int32_t first = (z * TSR_ROW + y) * TSR_ROW, E = TSR_ROW;
    const float *p = rows->own + o, *left = rows->left[0] + o, *right = rows->right[0] + o, *r = pass->scheme->inverse_spacing;
    const float *start = pass->start + first;
    const uint32_t *areas = pass->areas + first;
#pragma omp simd
    for (int32_t i = 0; i < TSR_PAIR; i++) {
        const float c = p[i];
        const int32_t inside = c < 0.0f;
        l->c[at + i] = c;
        l->start[at + i] = start[i];
        l->area[at + i] = areas[i];
        l->crossing[at + i] = ((left[i] < 0.0f) != inside) | ((right[i] < 0.0f) != inside) | ((p[i - E] < 0.0f) != inside) |
                              ((p[i + E] < 0.0f) != inside) | ((p[i - P] < 0.0f) != inside) | ((p[i + P] < 0.0f) != inside);
    }
    if (placed) {
#pragma omp simd
        for (int32_t i = 0; i < TSR_PAIR; i++) {
            l->x[at + i] = pass->first[0] + (i & (TSR_ROW - 1));
            l->y[at + i] = pass->first[1] + y + (i >> 3);
            l->z[at + i] = pass->first[2] + z;
        }
    }
    pack_sides(rows, o, r[0], wide, l->d[0], at);
    pack_axis(p, TSR_PAIR, E, r[1], wide, l->d[1], at);
    pack_axis(p, TSR_PAIR, P, r[2], wide, l->d[2], at);
    if (corners) {
#pragma omp simd
        for (int32_t i = 0; i < TSR_PAIR; i++) {
            l->cross[0][at + i] = tsr_cross_of(right[i + E], right[i - E], left[i + E], left[i - E], r[0], r[1]);
            l->cross[1][at + i] = tsr_cross_of(right[i + P], right[i - P], left[i + P], left[i - P], r[0], r[2]);
            l->cross[2][at + i] = tsr_cross_of(p[i + E + P], p[i + E - P], p[i + P - E], p[i - E - P], r[1], r[2]);
        }
    }
    for (int k = 0; k < 3 && pass->gradient[k]; k++) memcpy(&l->gradient[k][at], pass->gradient[k] + first, TSR_PAIR * sizeof(float));
    l->row[at / 4] = first;
    l->row[at / 4 + 2] = first + TSR_ROW;
}

/* `wide` and `corners` are constants where this is called. */
ALWAYS uint32_t run_rows_as(const tsr_tile_pass *pass, int wide, int corners, tsr_tile_totals *totals)
{
    const int32_t R = wide ? 3 : 1, P = tsr_rows_plane_stride(R);
    const int placed = pass->flow && pass->flow->count > 0;
    struct lanes l;
    _Alignas(64) struct tsr_rows rows;
    uint32_t bits = 0;
    int32_t count = 0;
    tsr_rows_gather(pass->pages, pass->row, R, corners, ~0u, &rows);
    for (int32_t z = 0; z < TSR_ROW; z++)
        for (int32_t y = 0; y < TSR_ROW; y += 2) {
            const int32_t o = tsr_rows_place((z * TSR_ROW + y) * TSR_ROW, R);
            tsr_pair_ahead(pass, (z * TSR_ROW + y) * TSR_ROW, ~0u);
            if (tsr_pair_still(&rows, o, P, pass->scheme->band, l.still + count)) {
                for (int32_t i = 0; i < TSR_PAIR; i += TSR_ROW)
                    bits |= tsr_row_kept(pass, TSR_ROW, (z * TSR_ROW + y) * TSR_ROW + i, rows.own + o + i, totals);
                continue;
            }
            pack_pair(&l, count, pass, y, z, &rows, o, P, wide, corners, placed);
            count += TSR_PAIR;
            if (count < LANES) continue;
            bits |= flush_8(&l, count, pass, totals);
            count = 0;
        }
    if (count > 0) bits |= flush_8(&l, count, pass, totals);
    return bits;
}

static __attribute__((noinline)) uint32_t run_rows(const tsr_tile_pass *pass, int wide, tsr_tile_totals *totals)
{
    const int corners = pass->flow && pass->scheme->has_curvature;
    if (wide) return corners ? run_rows_as(pass, 1, 1, totals) : run_rows_as(pass, 1, 0, totals);
    return corners ? run_rows_as(pass, 0, 1, totals) : run_rows_as(pass, 0, 0, totals);
}

/* ---- tiles with a halo cube -------------------------------------------------------------------------------------------------------------------- */

/* Does the pass read three voxels to each side? */
static int reads_wide(const tsr_tile_pass *pass)
{
    const tsr_engine_scheme *k = pass->scheme;
    const int upwind = pass->flow && (k->has_speed || k->has_velocity);
    return (upwind && k->space >= TSR_DIFFERENCE_ENO2) || (k->reshape != 0.0f && k->reshape_space >= TSR_DIFFERENCE_ENO2);
}

ALWAYS uint32_t run(const tsr_tile_pass *pass, int32_t E, tsr_tile_totals *totals)
{
    struct lanes l;
    const int32_t R = pass->radius, H = E + 2 * R, P = H * H;
    const tsr_engine_scheme *k = pass->scheme;
    const int wide = reads_wide(pass), placed = pass->flow && pass->flow->count > 0;
    uint32_t bits = 0;
    int32_t count = 0;
    for (int32_t z = 0; z < pass->extent[2]; z++)
        for (int32_t y = 0; y < pass->extent[1]; y++) {
            const float *p = pass->cube + ((z + R) * H + y + R) * H + R;
            if (row_still(&l, count, p, E, H, P, k->band)) {
                bits |= tsr_row_kept(pass, E, (z * E + y) * E, p, totals);
                continue;
            }
            pack_row(&l, count, pass, E, y, z, p, H, wide, placed);
            count += E;
            if (count < LANES) continue;
            bits |= E == 8 ? flush_8(&l, count, pass, totals) : flush_4(&l, count, pass, totals);
            count = 0;
        }
    if (count > 0) bits |= E == 8 ? flush_8(&l, count, pass, totals) : flush_4(&l, count, pass, totals);
    return bits;
}

void TSR_ISA_NAME(tsr_engine_gather)(const tsr_tile_pool *pool, const float *phi, uint64_t key, uint32_t id, int32_t radius, float *cube,
                                     int32_t extent[3])
{
    if (radius == 3) tsr_cross_gather(pool, phi, key, id, cube, extent);
    else tsr_cube_gather(pool, phi, key, id, cube, extent);
}

uint32_t TSR_ISA_NAME(tsr_engine_tile)(const tsr_tile_pass *pass, tsr_tile_totals *totals)
{
    if (!pass->cube && pass->edge == 8) {
        uint32_t bits;
        return TSR_ISA_NAME(tsr_engine_uniform)(pass, totals, &bits) ? bits : run_rows(pass, reads_wide(pass), totals);
    }
    if (!pass->cube) return run_planes(pass, totals);
    return pass->edge == 8 ? run(pass, 8, totals) : run(pass, 4, totals);
}
