/* levelset/engine_uniform_isa.c: first-order passes over tiles of edge 8 whose terms are the same everywhere, in one vector loop.
 *
 * engine_isa.c keeps each part of the right-hand side in an array, so that any mixture of terms is a few loops; here the loop is one and what it
 * makes stays in registers, for the mixtures that most runs are: normal speed, curvature or both, with or without the reshape term, and sweeps of
 * reinitialisation. The parts are added in the order of tsr_scheme_rate, so that the bits are the same. */
#include "levelset/engine_rows.h"

#define ALWAYS TSR_INLINE

/* What the lanes of a tile have found. */
struct found {
    float change[TSR_PAIR];
    uint32_t bits[TSR_PAIR];
    int32_t active[TSR_PAIR], inside[TSR_PAIR], bad[TSR_PAIR];
};

/* What a pass adds up; constants where they are used. */
struct mixture {
    int32_t speed, curvature, reshape;
    int32_t space, sign;
};

/* How far differences reach. */
ALWAYS int32_t reach_of(int32_t space) { return space == TSR_DIFFERENCE_WENO5 ? 3 : space == TSR_DIFFERENCE_ENO2 ? 2 : 1; }

/* |v| by its bits: one operation of a vector where tsr_absf, which keeps the sign of -0, is three. */
ALWAYS float magnitude(float v) { return tsr_bits_float(tsr_float_bits(v) & 0x7fffffffu); }

/* Two rows at `o` of `rows`, the first voxel of which is `first` of the tile; `still`: which of them stay (tsr_pair_still).
 *
 * What multiplies and compares is what bounds this loop, so: signs are tested as bits, both ways of a front share their squares, and the root that
 * limits curvature is taken only where some lane may need it, which is why the loop is in two parts. */
ALWAYS void pass_pair(const tsr_tile_pass *pass, struct mixture m, const struct tsr_rows *rows, int32_t o, int32_t first, const int32_t *still,
                      struct found *f)
{
    const int32_t E = TSR_ROW, R = reach_of(m.space), P = (TSR_ROW + 2 * R) * TSR_ROW;
    const float *p = rows->own + o, *left = rows->left[0] + o, *right = rows->right[0] + o, *start = pass->start + first;
    const float *left2 = rows->left[1] + o, *right2 = rows->right[1] + o, *left3 = rows->left[2] + o, *right3 = rows->right[2] + o;
    const uint32_t *areas = pass->areas + first;
    float *out = pass->out + first;
    tsr_flow_scheme k = *pass->scheme;
    const float rx = k.inverse_spacing[0], ry = k.inverse_spacing[1], rz = k.inverse_spacing[2], band = k.band, step = pass->step;
    const float speed = m.speed ? pass->flow->everywhere.speed + pass->moment->mean_speed : 0.0f;
    const float weight = m.curvature ? pass->flow->everywhere.curvature : 0.0f;
    const float blend = R > 1 ? pass->blend : 1.0f;
    float driven[TSR_PAIR], bent[TSR_PAIR], square[TSR_PAIR], reshaped[TSR_PAIR];
    uint32_t crossing[TSR_PAIR];
    int32_t steep = 0;
    k.sign = m.sign;
#pragma omp simd reduction(| : steep)
    for (int32_t i = 0; i < TSR_PAIR; i++) {
        const float c = p[i], l = left[i], r = right[i], d = p[i - E], u = p[i + E], b = p[i - P], a = p[i + P];
        const float xm = (c - l) * rx, xp = (r - c) * rx, ym = (c - d) * ry, yp = (u - c) * ry, zm = (c - b) * rz, zp = (a - c) * rz;
        const float gx = 0.5f * (xm + xp), gy = 0.5f * (ym + yp), gz = 0.5f * (zm + zp);
        float outward = 0.0f, inward = 0.0f, xl = xm, xr = xp, yl = ym, yr = yp, zl = zm, zr = zp; /* biased to the left and to the right */
        if (R > 1) {
            const float x1 = (l - left2[i]) * rx, x4 = (right2[i] - r) * rx, y1 = (d - p[i - 2 * E]) * ry, y4 = (p[i + 2 * E] - u) * ry,
                        z1 = (b - p[i - 2 * P]) * rz, z4 = (p[i + 2 * P] - a) * rz;
            float x0 = 0.0f, x5 = 0.0f, y0 = 0.0f, y5 = 0.0f, z0 = 0.0f, z5 = 0.0f;
            if (R > 2) {
                x0 = (left2[i] - left3[i]) * rx;
                x5 = (right3[i] - right2[i]) * rx;
                y0 = (p[i - 2 * E] - p[i - 3 * E]) * ry;
                y5 = (p[i + 3 * E] - p[i + 2 * E]) * ry;
                z0 = (p[i - 2 * P] - p[i - 3 * P]) * rz;
                z5 = (p[i + 3 * P] - p[i + 2 * P]) * rz;
            }
            tsr_one_sided(m.space, x0, x1, xm, xp, x4, x5, &xl, &xr);
            tsr_one_sided(m.space, y0, y1, ym, yp, y4, y5, &yl, &yr);
            tsr_one_sided(m.space, z0, z1, zm, zp, z4, z5, &zl, &zr);
        }
        /* a neighbour has the other sign (tsr_voxel_crossing); + 0 makes 0 of -0, which is not inside */
        const uint32_t own = tsr_float_bits(c + 0.0f);
        const uint32_t other = (own ^ tsr_float_bits(l + 0.0f)) | (own ^ tsr_float_bits(r + 0.0f)) | (own ^ tsr_float_bits(d + 0.0f)) |
                               (own ^ tsr_float_bits(u + 0.0f)) | (own ^ tsr_float_bits(b + 0.0f)) | (own ^ tsr_float_bits(a + 0.0f));
        crossing[i] = 0u - (other >> 31);
        if (m.speed | m.reshape) {
            float xo, xi, yo, yi, zo, zi;
            tsr_both_squares(m.space, xl, xr, &xo, &xi);
            tsr_both_squares(m.space, yl, yr, &yo, &yi);
            tsr_both_squares(m.space, zl, zr, &zo, &zi);
            outward = (xo + yo) + zo;
            inward = (xi + yi) + zi;
        }
        if (m.speed) driven[i] = 0.0f + tsr_speed_part(speed, speed > 0.0f ? outward : inward);
        if (m.curvature) {
            float gradient_square;
            const float free = tsr_curvature_free(gx, gy, gz, (xp - xm) * rx, (yp - ym) * ry, (zp - zm) * rz,
                                                  tsr_cross_of(right[i + E], right[i - E], left[i + E], left[i - E], rx, ry),
                                                  tsr_cross_of(right[i + P], right[i - P], left[i + P], left[i - P], rx, rz),
                                                  tsr_cross_of(p[i + E + P], p[i + E - P], p[i + P - E], p[i - E - P], ry, rz), &gradient_square);
            bent[i] = free;
            square[i] = gradient_square;
            steep |= !tsr_curvature_within(free, gradient_square, k.curvature_limit);
        }
        if (m.reshape) {
            float steepest = 0.0f;
            if (m.sign == TSR_SIGNED_SUBCELL)
                steepest = tsr_maxf(tsr_maxf(tsr_maxf(tsr_absf(xm), tsr_absf(xp)), tsr_maxf(tsr_absf(ym), tsr_absf(yp))),
                                    tsr_maxf(tsr_maxf(tsr_absf(zm), tsr_absf(zp)), tsr_sqrt((gx * gx + gy * gy) + gz * gz)));
            reshaped[i] = tsr_reshape_part(&k, c, c > 0.0f ? outward : inward, (int)(other >> 31), steepest);
        }
    }
    if (m.curvature && steep) {
#pragma omp simd
        for (int32_t i = 0; i < TSR_PAIR; i++) bent[i] = tsr_curvature_limited(bent[i], square[i], k.curvature_limit);
    }
#pragma omp simd
    for (int32_t i = 0; i < TSR_PAIR; i++) {
        const float c = p[i];
        float rate = 0.0f;
        if (m.speed) rate = driven[i];
        if (m.curvature) rate = rate + weight * bent[i];
        if (m.reshape) rate = rate + reshaped[i];
        const float change = tsr_bits_float(tsr_float_bits(step * rate) & ((uint32_t)still[i] - 1u)); /* 0 if still, without a branch */
        const float v = R > 1 ? tsr_stage_value(start[i], c, change, blend, band) : tsr_stage_value(c, c, change, 1.0f, band);
        f->bad[i] |= !(magnitude(c + change) <= 3e38f); /* tsr_finite */
        out[i] = v;
        const uint32_t in_band = 0u - (uint32_t)(magnitude(v) < band);
        const float before = f->change[i], moved = tsr_bits_float(tsr_float_bits(magnitude(v - start[i])) & in_band);
        f->bits[i] |= areas[i] & (in_band | crossing[i]);
        f->active[i] -= (int32_t)in_band;
        f->inside[i] += v < 0.0f;
        f->change[i] = moved > before ? moved : before;
    }
}

/* Where voxel `first` of the tile, the first of a pair of rows, lies in the arrays of tsr_rows. */
ALWAYS int32_t place_of(int32_t first, int32_t R, int32_t P)
{
    enum { PLANE = TSR_ROW * TSR_ROW };
    return (first / PLANE + R) * P + first % PLANE + R * TSR_ROW;
}

ALWAYS uint32_t run_tile(const tsr_tile_pass *pass, struct mixture m, tsr_tile_totals *totals, int32_t *bad)
{
    const int32_t R = reach_of(m.space), P = (TSR_ROW + 2 * R) * TSR_ROW;
    enum { PAIRS = TSR_ROWS_TILE / TSR_PAIR };
    _Alignas(64) struct tsr_rows rows;
    _Alignas(64) struct found f;
    int32_t still[PAIRS + 1][TSR_PAIR], moving[PAIRS + 1], kept[PAIRS + 1], moves = 0, keeps = 0;
    uint32_t bits = 0;
    int32_t kept_inside = 0;
    memset(&f, 0, sizeof f);
    tsr_rows_gather(pass->pages, pass->row, R, m.curvature, &rows);
    /* Which pairs of rows move: lists of both kinds first, without a branch that nobody can foretell. */
    for (int32_t pair = 0; pair < PAIRS; pair++) {
        const int32_t first = pair * TSR_PAIR, o = place_of(first, R, P);
        tsr_pair_ahead(pass, first);
        const int all = tsr_pair_still(&rows, o, P, pass->scheme->band, still[moves]);
        moving[moves] = first;
        kept[keeps] = first;
        moves += !all;
        keeps += all;
    }
    for (int32_t at = 0; at < moves; at++) pass_pair(pass, m, &rows, place_of(moving[at], R, P), moving[at], still[at], &f);
    for (int32_t at = 0; at < keeps; at++) {
        const int32_t first = kept[at];
        const float *c = rows.own + place_of(first, R, P);
        if (R == 1) { /* one value, and no stages: a copy */
            memcpy(pass->out + first, c, TSR_PAIR * sizeof *c);
            kept_inside += c[0] < 0.0f ? TSR_PAIR : 0;
        } else {
            for (int32_t i = 0; i < TSR_PAIR; i += TSR_ROW) bits |= tsr_row_kept(pass, TSR_ROW, first + i, c + i, totals);
        }
    }
    totals->inside += kept_inside;
    *bad = 0;
    float change = totals->change;
    for (int32_t i = 0; i < TSR_PAIR; i++) {
        bits |= f.bits[i];
        *bad |= f.bad[i];
        totals->active += f.active[i];
        totals->inside += f.inside[i];
        change = tsr_maxf(change, f.change[i]);
    }
    totals->change = change;
    return bits;
}

/* One function for each mixture. */
#define MIXTURE(name, has_speed, has_curvature, has_reshape, in_space, with_sign)                                                                  \
    static __attribute__((noinline)) uint32_t name(const tsr_tile_pass *pass, tsr_tile_totals *totals, int32_t *bad)                               \
    {                                                                                                                                              \
        const struct mixture m = { .speed = has_speed, .curvature = has_curvature, .reshape = has_reshape, .space = in_space, .sign = with_sign }; \
        return run_tile(pass, m, totals, bad);                                                                                                     \
    }
/* Without the reshape term and with two of its signs. */
#define MIXTURES(name, has_speed, has_curvature, in_space)                           \
    MIXTURE(name##_plain, has_speed, has_curvature, 0, in_space, TSR_SIGNED_SMOOTH)  \
    MIXTURE(name##_smooth, has_speed, has_curvature, 1, in_space, TSR_SIGNED_SMOOTH) \
    MIXTURE(name##_subcell, has_speed, has_curvature, 1, in_space, TSR_SIGNED_SUBCELL)

MIXTURES(speed_upwind, 1, 0, TSR_DIFFERENCE_UPWIND)
MIXTURES(speed_godunov, 1, 0, TSR_DIFFERENCE_GODUNOV)
MIXTURES(speed_eno2, 1, 0, TSR_DIFFERENCE_ENO2)
MIXTURES(speed_weno5, 1, 0, TSR_DIFFERENCE_WENO5)
MIXTURES(curvature_upwind, 0, 1, TSR_DIFFERENCE_UPWIND)
MIXTURES(curvature_godunov, 0, 1, TSR_DIFFERENCE_GODUNOV)
MIXTURES(curvature_weno5, 0, 1, TSR_DIFFERENCE_WENO5)
MIXTURES(both_upwind, 1, 1, TSR_DIFFERENCE_UPWIND)
MIXTURES(both_godunov, 1, 1, TSR_DIFFERENCE_GODUNOV)
MIXTURES(both_weno5, 1, 1, TSR_DIFFERENCE_WENO5)
MIXTURES(sweep_upwind, 0, 0, TSR_DIFFERENCE_UPWIND)
MIXTURES(sweep_godunov, 0, 0, TSR_DIFFERENCE_GODUNOV)
MIXTURES(sweep_eno2, 0, 0, TSR_DIFFERENCE_ENO2)
MIXTURES(sweep_weno5, 0, 0, TSR_DIFFERENCE_WENO5)

typedef uint32_t (*tile_function)(const tsr_tile_pass *pass, tsr_tile_totals *totals, int32_t *bad);
#define FUNCTIONS(name)                             \
    {                                               \
        name##_plain, name##_smooth, name##_subcell \
    }
/* By what moves the surface (none, speed, curvature, both), differences, and the reshape term (none, smooth, sub-cell). */
static const tile_function functions[4][4][3] = {
    { FUNCTIONS(sweep_upwind), FUNCTIONS(sweep_godunov), FUNCTIONS(sweep_eno2), FUNCTIONS(sweep_weno5) },
    { FUNCTIONS(speed_upwind), FUNCTIONS(speed_godunov), FUNCTIONS(speed_eno2), FUNCTIONS(speed_weno5) },
    { FUNCTIONS(curvature_upwind), FUNCTIONS(curvature_godunov), { NULL }, FUNCTIONS(curvature_weno5) },
    { FUNCTIONS(both_upwind), FUNCTIONS(both_godunov), { NULL }, FUNCTIONS(both_weno5) },
};

static tile_function function_of(const tsr_tile_pass *pass)
{
    const tsr_flow_scheme *k = pass->scheme;
    const tsr_flow *flow = pass->flow;
    const int32_t speed = flow && k->has_speed, curvature = flow && k->has_curvature, reshaped = k->reshape != 0.0f;
    const int32_t space = speed ? k->space : reshaped ? k->reshape_space : TSR_DIFFERENCE_GODUNOV; /* curvature alone: central */
    if (pass->coding || pass->measure || (flow && (flow->count > 0 || k->has_velocity))) return NULL;
    if (space < TSR_DIFFERENCE_ENO2 && pass->blend != 1.0f) return NULL; /* they have the stage of Euler alone */
    if (!reshaped) return functions[speed + 2 * curvature][space][0];
    if (k->reshape_space != space || (k->sign != TSR_SIGNED_SMOOTH && k->sign != TSR_SIGNED_SUBCELL)) return NULL;
    return functions[speed + 2 * curvature][space][k->sign == TSR_SIGNED_SUBCELL ? 2 : 1];
}

int TSR_ISA_NAME(tsr_flow_uniform)(const tsr_tile_pass *pass, tsr_tile_totals *totals, uint32_t *bits)
{
    const tile_function run = function_of(pass);
    const tsr_tile_totals before = *totals;
    int32_t bad = 0;
    if (!run) return 0;
    *bits = run(pass, totals, &bad);
    if (!bad) return 1;
    *totals = before; /* a value is not finite: the other path finds out where */
    return 0;
}

/* ---- mean curvature, volume, area -------------------------------------------------------------------------------------------------------------- */

void TSR_ISA_NAME(tsr_flow_mean_tile)(const float *phi, const uint32_t *row, const tsr_flow_scheme *k, float e, int64_t sums[3])
{
    enum { E = TSR_ROW, P = (TSR_ROW + 2) * TSR_ROW };
    _Alignas(64) struct tsr_rows rows;
    const float rx = k->inverse_spacing[0], ry = k->inverse_spacing[1], rz = k->inverse_spacing[2];
    tsr_rows_gather(phi, row, 1, 1, &rows);
    for (int32_t z = 0; z < E; z++)
        for (int32_t y = 0; y < E; y += 2) {
            const int32_t o = (z + 1) * P + (y + 1) * E;
            const float *p = rows.own + o, *left = rows.left[0] + o, *right = rows.right[0] + o;
            float found[3][TSR_PAIR];
            int32_t near = 0, inside = 0;
#pragma omp simd reduction(+ : near, inside)
            for (int32_t i = 0; i < TSR_PAIR; i++) {
                near += tsr_absf(p[i]) < e;
                inside += p[i] <= -e;
            }
            sums[2] += inside * tsr_flow_fixed(1.0f);
            if (!near) continue;
#pragma omp simd
            for (int32_t i = 0; i < TSR_PAIR; i++) {
                const float c = p[i];
                const tsr_mean_parts parts =
                    tsr_flow_mean_parts(c, (c - left[i]) * rx, (right[i] - c) * rx, (c - p[i - E]) * ry, (p[i + E] - c) * ry, (c - p[i - P]) * rz,
                                        (p[i + P] - c) * rz, tsr_cross_of(right[i + E], right[i - E], left[i + E], left[i - E], rx, ry),
                                        tsr_cross_of(right[i + P], right[i - P], left[i + P], left[i - P], rx, rz),
                                        tsr_cross_of(p[i + E + P], p[i + E - P], p[i + P - E], p[i - E - P], ry, rz), k, e);
                const uint32_t counted = 0u - (uint32_t)(tsr_absf(c) < e);
                found[0][i] = tsr_bits_float(tsr_float_bits(parts.weight) & counted);
                found[1][i] = tsr_bits_float(tsr_float_bits(parts.curved) & counted);
                found[2][i] = tsr_bits_float(tsr_float_bits(parts.inside) & counted);
            }
            for (int32_t j = 0; j < 3; j++) {
                int64_t sum = 0;
#pragma omp simd reduction(+ : sum)
                for (int32_t i = 0; i < TSR_PAIR; i++) sum += tsr_flow_fixed(found[j][i]);
                sums[j] += sum;
            }
        }
}
