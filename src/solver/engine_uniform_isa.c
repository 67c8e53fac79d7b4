/* solver/engine_uniform_isa.c: first-order passes over tiles of edge 8 whose terms are the same everywhere, in one vector loop.
 *
 * engine_isa.c keeps each part of the right-hand side in an array, so that any mixture of terms is a few loops; here the loop is one and what it
 * makes stays in registers, for the mixtures that most runs are: normal speed, curvature or both, with or without the reshape term, and sweeps of
 * reinitialisation. The parts are added in the order of tsr_scheme_rate, so that the bits are the same. */
#include "solver/engine_motion.h"
#include "solver/engine_rows.h"

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
    int32_t unit; /* voxels are 1 wide along every axis: multiplications by 1 are left out */
};

/* How far differences reach. */
ALWAYS int32_t reach_of(int32_t space) { return space == TSR_DIFFERENCE_WENO5 ? 3 : space == TSR_DIFFERENCE_ENO2 ? 2 : 1; }

/* Sixteen voxels that are worked on at once: two rows of the tile, or of any rows those that move (pack_pair). */
enum { LEFT, RIGHT, DOWN, UP, BELOW, ABOVE };
struct operands {
    const float *c, *side[6][3]; /* own values, and those 1 to 3 voxels to each side */
    const float *cross[3];       /* packed: of the planes xy, xz, yz what tsr_cross_sum makes */
    const float *start;          /* of the step */
    const uint32_t *areas;
    const int32_t *still; /* which of them stay */
    float *out;
};

/* One axis of both norms by a wide scheme, for sixteen voxels; `first`: it begins the sums. */
ALWAYS void wide_axis(int32_t space, float r, const float *c, const float *const before[3], const float *const after[3], int first, float *outward,
                      float *inward)
{
    const float *b1 = before[0], *b2 = before[1], *b3 = before[2], *a1 = after[0], *a2 = after[1], *a3 = after[2];
#pragma omp simd
    for (int32_t i = 0; i < TSR_PAIR; i++) {
        const float d0 = space == TSR_DIFFERENCE_WENO5 ? (b2[i] - b3[i]) * r : 0.0f, d5 = space == TSR_DIFFERENCE_WENO5 ? (a3[i] - a2[i]) * r : 0.0f;
        float minus, plus, out, in;
        tsr_one_sided(space, d0, (b1[i] - b2[i]) * r, (c[i] - b1[i]) * r, (a1[i] - c[i]) * r, (a2[i] - a1[i]) * r, d5, &minus, &plus);
        tsr_both_squares(space, minus, plus, &out, &in);
        outward[i] = first ? out : outward[i] + out;
        inward[i] = first ? in : inward[i] + in;
    }
}

/* One pass over sixteen voxels. Constants: `packed`, each operand is an array of its own; else c points into tsr_rows, which holds what lies around it.
 * `counts`, what the voxels are is added up here; else the bits of the tile say it afterwards.
 *
 * What multiplies and compares is what bounds this loop, so: signs are tested as bits, both ways of a front share their squares, and the root that
 * limits curvature is taken only where some lane may need it, which is why the loop is in two parts. */
ALWAYS void pass_lanes(const tsr_tile_pass *pass, struct mixture m, int packed, int counts, const struct operands *v, struct found *f)
{
    const int32_t E = TSR_ROW, R = reach_of(m.space), P = (TSR_ROW + 2 * R) * TSR_ROW;
    const float *p = v->c, *left = v->side[LEFT][0], *right = v->side[RIGHT][0], *down = v->side[DOWN][0], *up = v->side[UP][0],
                *below = v->side[BELOW][0], *above = v->side[ABOVE][0];
    const float *xy = v->cross[0], *xz = v->cross[1], *yz = v->cross[2], *start = v->start;
    const uint32_t *areas = v->areas;
    const int32_t *still = v->still;
    float *out = v->out;
    tsr_engine_scheme k = *pass->scheme;
    const float rx = m.unit ? 1.0f : k.inverse_spacing[0], ry = m.unit ? 1.0f : k.inverse_spacing[1], rz = m.unit ? 1.0f : k.inverse_spacing[2];
    const float band = k.band, step = pass->step;
    const float speed = m.speed ? pass->flow->everywhere.speed + pass->moment->mean_speed : 0.0f;
    const float weight = m.curvature ? pass->flow->everywhere.curvature : 0.0f;
    const float blend = R > 1 ? pass->blend : 1.0f;
    const int crossings = counts || (m.reshape && m.sign == TSR_SIGNED_SUBCELL);
    float driven[TSR_PAIR], bent[TSR_PAIR], square[TSR_PAIR], reshaped[TSR_PAIR], wide_outward[TSR_PAIR], wide_inward[TSR_PAIR];
    uint32_t crossing[TSR_PAIR];
    int32_t steep = 0;
    k.sign = m.sign;
    if (R > 1 && (m.speed | m.reshape)) {
        wide_axis(m.space, rx, p, v->side[LEFT], v->side[RIGHT], 1, wide_outward, wide_inward);
        wide_axis(m.space, ry, p, v->side[DOWN], v->side[UP], 0, wide_outward, wide_inward);
        wide_axis(m.space, rz, p, v->side[BELOW], v->side[ABOVE], 0, wide_outward, wide_inward);
    }
#pragma omp simd reduction(| : steep)
    for (int32_t i = 0; i < TSR_PAIR; i++) {
        const float c = p[i], l = left[i], r = right[i], d = down[i], u = up[i], b = below[i], a = above[i];
        const float xm = (c - l) * rx, xp = (r - c) * rx, ym = (c - d) * ry, yp = (u - c) * ry, zm = (c - b) * rz, zp = (a - c) * rz;
        const float gx = 0.5f * (xm + xp), gy = 0.5f * (ym + yp), gz = 0.5f * (zm + zp);
        float outward = 0.0f, inward = 0.0f;
        /* a neighbour has the other sign (tsr_voxel_crossing); + 0 makes 0 of -0, which is not inside */
        uint32_t other = 0;
        if (crossings) {
            const uint32_t own = tsr_float_bits(c + 0.0f);
            other = (own ^ tsr_float_bits(l + 0.0f)) | (own ^ tsr_float_bits(r + 0.0f)) | (own ^ tsr_float_bits(d + 0.0f)) |
                    (own ^ tsr_float_bits(u + 0.0f)) | (own ^ tsr_float_bits(b + 0.0f)) | (own ^ tsr_float_bits(a + 0.0f));
            crossing[i] = 0u - (other >> 31);
        }
        if (R > 1) {
            outward = wide_outward[i];
            inward = wide_inward[i];
        } else if (m.speed | m.reshape) {
            float xo, xi, yo, yi, zo, zi;
            tsr_both_squares(m.space, xm, xp, &xo, &xi);
            tsr_both_squares(m.space, ym, yp, &yo, &yi);
            tsr_both_squares(m.space, zm, zp, &zo, &zi);
            outward = (xo + yo) + zo;
            inward = (xi + yi) + zi;
        }
        if (m.speed) driven[i] = 0.0f + tsr_speed_part(speed, speed > 0.0f ? outward : inward);
        if (m.curvature) {
            float gradient_square;
            const float dxy = packed ? xy[i] : tsr_cross_sum(right[i + E], right[i - E], left[i + E], left[i - E]),
                        dxz = packed ? xz[i] : tsr_cross_sum(right[i + P], right[i - P], left[i + P], left[i - P]),
                        dyz = packed ? yz[i] : tsr_cross_sum(p[i + E + P], p[i + E - P], p[i + P - E], p[i - E - P]);
            const float free = tsr_curvature_free(gx, gy, gz, (xp - xm) * rx, (yp - ym) * ry, (zp - zm) * rz, dxy * tsr_cross_scale(rx, ry),
                                                  dxz * tsr_cross_scale(rx, rz), dyz * tsr_cross_scale(ry, rz), &gradient_square);
            bent[i] = free;
            square[i] = gradient_square;
            steep |= !tsr_curvature_within(free, gradient_square, k.curvature_limit);
        }
        if (m.reshape) {
            const float steepest = m.sign == TSR_SIGNED_SUBCELL ? tsr_steepest_of(xm, xp, ym, yp, zm, zp) : 0.0f;
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
        const float w = R > 1 ? tsr_stage_value(start[i], c, change, blend, band) : tsr_stage_value(c, c, change, 1.0f, band);
        f->bad[i] |= !(tsr_magnitude(c + change) <= 3e38f); /* tsr_finite */
        out[i] = w;
        const uint32_t in_band = 0u - (uint32_t)(tsr_magnitude(w) < band);
        const float before = f->change[i], moved = tsr_bits_float(tsr_float_bits(tsr_magnitude(w - start[i])) & in_band);
        if (counts) {
            f->bits[i] |= areas[i] & (in_band | crossing[i]);
            f->active[i] -= (int32_t)in_band;
            f->inside[i] += w < 0.0f;
        }
        f->change[i] = moved > before ? moved : before;
    }
}

/* Two rows at `o` of `rows`, the first voxel of which is `first` of the tile. */
ALWAYS void pass_pair(const tsr_tile_pass *pass, struct mixture m, int counts, const struct tsr_rows *rows, int32_t o, int32_t first,
                      const int32_t *still, struct found *f)
{
    const int32_t E = TSR_ROW, R = reach_of(m.space), P = (TSR_ROW + 2 * R) * TSR_ROW;
    const float *p = rows->own + o;
    struct operands v = { .c = p, .start = pass->start + first, .areas = pass->areas + first, .still = still, .out = pass->out + first };
    for (int32_t k = 0; k < R; k++) {
        const float *const sides[6] = { rows->left[k] + o, rows->right[k] + o, p - (k + 1) * E, p + (k + 1) * E, p - (k + 1) * P, p + (k + 1) * P };
        for (int32_t side = 0; side < 6; side++) v.side[side][k] = sides[side];
    }
    pass_lanes(pass, m, 0, counts, &v, f);
}

#if defined(TSR_LANES)

/* The voxels that move, one after the other: about half of those of the rows that hold them, in a narrow band. What they read is put side by side once
 * by a permutation, and the arithmetic, nearly all of the time, runs with full vectors, so many voxels at a time as stay in the first cache. */
enum { TSR_PACK = 8 * TSR_PAIR, TSR_PACK_MOST = TSR_PACK + 2 * TSR_PAIR };
/* Where more voxels of a pair of rows than these move, packing them takes as long as it saves. */
enum { DENSE = 10, DENSE_CURVED = 11, DENSE_WIDE = 14 };
struct pack {
    _Alignas(64) float c[TSR_PACK_MOST];
    float side[6][3][TSR_PACK_MOST], cross[3][TSR_PACK_MOST], start[TSR_PACK_MOST];
    int32_t still[TSR_PACK_MOST];
    float out[TSR_ROWS_TILE + TSR_PAIR]; /* of all voxels of the tile that have been packed */
    int32_t count, done;                 /* packed, and before them already worked on */
};

ALWAYS tsr_lanes pack_cross(const float *both, const float *first, const float *second, const float *none)
{
    return tsr_lanes_minus(tsr_lanes_minus(tsr_lanes_load(both), tsr_lanes_load(first)),
                           tsr_lanes_minus(tsr_lanes_load(second), tsr_lanes_load(none)));
}

/* Adds the voxels `works` of the pair of rows at `o`; `settles` of them stay. What comes after them in the arrays is of no meaning. */
ALWAYS void pack_pair(const tsr_tile_pass *pass, struct mixture m, const struct tsr_rows *rows, int32_t o, int32_t first, uint32_t works,
                      uint32_t settles, int fresh, struct pack *to)
{
    const int32_t E = TSR_ROW, R = reach_of(m.space), P = (TSR_ROW + 2 * R) * TSR_ROW, n = to->count;
    const float *p = rows->own + o, *left = rows->left[0] + o, *right = rows->right[0] + o;
    const tsr_lane_order order = tsr_lanes_order(works);
    tsr_lanes_pack(to->c + n, order, tsr_lanes_load(p));
    for (int32_t k = 0; k < R; k++) {
        tsr_lanes_pack(to->side[LEFT][k] + n, order, tsr_lanes_load(rows->left[k] + o));
        tsr_lanes_pack(to->side[RIGHT][k] + n, order, tsr_lanes_load(rows->right[k] + o));
        tsr_lanes_pack(to->side[DOWN][k] + n, order, tsr_lanes_load(p - (k + 1) * E));
        tsr_lanes_pack(to->side[UP][k] + n, order, tsr_lanes_load(p + (k + 1) * E));
        tsr_lanes_pack(to->side[BELOW][k] + n, order, tsr_lanes_load(p - (k + 1) * P));
        tsr_lanes_pack(to->side[ABOVE][k] + n, order, tsr_lanes_load(p + (k + 1) * P));
    }
    if (m.curvature) {
        tsr_lanes_pack(to->cross[0] + n, order, pack_cross(right + E, right - E, left + E, left - E));
        tsr_lanes_pack(to->cross[1] + n, order, pack_cross(right + P, right - P, left + P, left - P));
        tsr_lanes_pack(to->cross[2] + n, order, pack_cross(p + E + P, p + E - P, p + P - E, p - E - P));
    }
    if (fresh) tsr_lanes_pack(to->start + n, order, tsr_lanes_load(pass->start + first));
    if (settles) tsr_lanes_flags(to->still + n, _pext_u32(settles, works));
    else tsr_lanes_flags(to->still + n, 0);
    to->count = n + __builtin_popcount(works);
}

/* All arrays of a pack that a mixture reads. */
ALWAYS int32_t pack_arrays(struct mixture m, int fresh, struct pack *pack, float *all[24])
{
    int32_t n = 0;
    all[n++] = pack->c;
    for (int32_t side = 0; side < 6; side++)
        for (int32_t k = 0; k < reach_of(m.space); k++) all[n++] = pack->side[side][k];
    for (int32_t k = 0; k < 3 && m.curvature; k++) all[n++] = pack->cross[k];
    if (fresh) all[n++] = pack->start;
    return n;
}

/* Runs the pass over what has been packed, all of it, or all whole vectors and what is left comes to the front. */
ALWAYS void pass_pack(const tsr_tile_pass *pass, struct mixture m, struct pack *pack, int all, int fresh, struct found *f)
{
    float *arrays[24];
    const int32_t used = pack_arrays(m, fresh, pack, arrays), whole = pack->count / TSR_PAIR * TSR_PAIR;
    if (all) { /* lanes that only fill the last vector count nowhere */
        for (int32_t k = 0; k < used; k++)
            for (int32_t i = 0; i < TSR_PAIR; i++) arrays[k][pack->count + i] = pass->scheme->band;
        tsr_lanes_flags(pack->still + pack->count, 0xffff);
    }
    for (int32_t at = 0; at < (all ? pack->count : whole); at += TSR_PAIR) {
        struct operands v = { .c = pack->c + at,
                              .cross = { pack->cross[0] + at, pack->cross[1] + at, pack->cross[2] + at },
                              .start = (fresh ? pack->start : pack->c) + at,
                              .still = pack->still + at,
                              .out = pack->out + pack->done + at };
        for (int32_t side = 0; side < 6; side++)
            for (int32_t k = 0; k < reach_of(m.space); k++) v.side[side][k] = pack->side[side][k] + at;
        pass_lanes(pass, m, 1, 0, &v, f);
    }
    if (all) return;
    for (int32_t k = 0; k < used; k++) memcpy(arrays[k], arrays[k] + whole, TSR_PAIR * sizeof *arrays[k]);
    memcpy(pack->still, pack->still + whole, TSR_PAIR * sizeof *pack->still);
    pack->done += whole;
    pack->count -= whole;
}

ALWAYS uint32_t run_packed(const tsr_tile_pass *pass, struct mixture m, tsr_tile_totals *totals, struct found *f)
{
    _Alignas(64) struct tsr_rows rows;
    _Alignas(64) struct pack pack;
    struct tsr_motion motion;
    uint32_t sparse = 0;
    int32_t ahead = 0, n = 0;
    const int32_t R = reach_of(m.space), packed_most = R > 1 ? DENSE_WIDE : m.curvature ? DENSE_CURVED : DENSE;
    const int fresh = pass->start != pass->pages + (int64_t)pass->row[TSR_TILE_MIDDLE] * TSR_ROWS_TILE;
    const float band = pass->scheme->band;
    const uint32_t written = tsr_pairs_ahead(pass);
    pack.count = pack.done = 0;
    tsr_motion_find(pass->bits, pass->row, R > 1 && pass->blend != 1.0f ? pass->start_bits : NULL, &motion);
    tsr_motion_keep(pass, &motion);
    tsr_rows_gather(pass->pages, pass->row, R, m.curvature, tsr_pairs_planes(motion.pairs, R), &rows);
    for (uint32_t left = motion.pairs; left; ahead += TSR_PAIR) {
        const int32_t pair = tsr_take_pair(&left), first = pair * TSR_PAIR, o = tsr_rows_place(first, R);
        const uint32_t works = motion.works[pair], settles = R > 1 ? motion.settles[pair] : 0;
        tsr_pair_ahead(pass, ahead, written);
        if (__builtin_popcount(works) <= packed_most) {
            sparse |= 1u << pair;
            pack_pair(pass, m, &rows, o, first, works, settles, fresh, &pack);
            if (pack.count >= TSR_PACK) pass_pack(pass, m, &pack, 0, fresh, f);
            continue;
        }
        int32_t still[TSR_PAIR];
        tsr_lanes_flags(still, 0xffffu & ~(works & ~settles));
        pass_pair(pass, m, 0, &rows, o, first, still, f);
        tsr_motion_note(pass->out_bits, pair, tsr_lanes_load(pass->out + first), band);
    }
    for (; ahead < TSR_ROWS_TILE; ahead += TSR_PAIR) tsr_pair_ahead(pass, ahead, written);
    if (pack.count) pass_pack(pass, m, &pack, 1, fresh, f);
    for (uint32_t left = sparse; left;) {
        const int32_t pair = tsr_take_pair(&left), first = pair * TSR_PAIR;
        const uint32_t works = motion.works[pair];
        const tsr_lanes v = tsr_lanes_unpack(tsr_lanes_load(rows.own + tsr_rows_place(first, R)), works, pack.out + n);
        tsr_lanes_store(pass->out + first, v);
        tsr_motion_note(pass->out_bits, pair, v, band);
        n += __builtin_popcount(works);
    }
    return tsr_motion_sum(pass, &motion, totals);
}

#endif

/* Rows that move two by two, all their voxels. */
ALWAYS uint32_t run_rows(const tsr_tile_pass *pass, struct mixture m, tsr_tile_totals *totals, struct found *f)
{
    const int32_t R = reach_of(m.space), P = (TSR_ROW + 2 * R) * TSR_ROW;
    enum { PAIRS = TSR_PAIRS };
    _Alignas(64) struct tsr_rows rows;
    int32_t still[PAIRS + 1][TSR_PAIR], moving[PAIRS + 1], kept[PAIRS + 1], moves = 0, keeps = 0;
    uint32_t bits = 0;
    int32_t kept_inside = 0;
    tsr_rows_gather(pass->pages, pass->row, R, m.curvature, ~0u, &rows);
    /* Which pairs of rows move: lists of both kinds first, without a branch that nobody can foretell. */
    for (int32_t pair = 0; pair < PAIRS; pair++) {
        const int32_t first = pair * TSR_PAIR, o = tsr_rows_place(first, R);
        tsr_pair_ahead(pass, first, ~0u);
        const int all = tsr_pair_still(&rows, o, P, pass->scheme->band, still[moves]);
        moving[moves] = first;
        kept[keeps] = first;
        moves += !all;
        keeps += all;
    }
    for (int32_t at = 0; at < moves; at++) pass_pair(pass, m, 1, &rows, tsr_rows_place(moving[at], R), moving[at], still[at], f);
    for (int32_t at = 0; at < keeps; at++) {
        const int32_t first = kept[at];
        const float *c = rows.own + tsr_rows_place(first, R);
        if (R == 1) { /* one value, and no stages: a copy */
            memcpy(pass->out + first, c, TSR_PAIR * sizeof *c);
            kept_inside += c[0] < 0.0f ? TSR_PAIR : 0;
        } else {
            for (int32_t i = 0; i < TSR_PAIR; i += TSR_ROW) bits |= tsr_row_kept(pass, TSR_ROW, first + i, c + i, totals);
        }
    }
    totals->inside += kept_inside;
    return bits;
}

ALWAYS uint32_t run_tile(const tsr_tile_pass *pass, struct mixture m, tsr_tile_totals *totals, int32_t *bad)
{
    _Alignas(64) struct found f;
    memset(&f, 0, sizeof f);
#if defined(TSR_LANES)
    uint32_t bits = pass->bits ? run_packed(pass, m, totals, &f) : run_rows(pass, m, totals, &f);
#else
    uint32_t bits = run_rows(pass, m, totals, &f);
#endif
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
#define MIXTURE(name, has_speed, has_curvature, has_reshape, in_space, with_sign, with_unit)                         \
    static __attribute__((noinline)) uint32_t name(const tsr_tile_pass *pass, tsr_tile_totals *totals, int32_t *bad) \
    {                                                                                                                \
        const struct mixture m = { has_speed, has_curvature, has_reshape, in_space, with_sign, with_unit };          \
        return run_tile(pass, m, totals, bad);                                                                       \
    }
/* Without the reshape term and with two of its signs. */
#define MIXTURES(name, has_speed, has_curvature, in_space, with_unit)                           \
    MIXTURE(name##_plain, has_speed, has_curvature, 0, in_space, TSR_SIGNED_SMOOTH, with_unit)  \
    MIXTURE(name##_smooth, has_speed, has_curvature, 1, in_space, TSR_SIGNED_SMOOTH, with_unit) \
    MIXTURE(name##_subcell, has_speed, has_curvature, 1, in_space, TSR_SIGNED_SUBCELL, with_unit)

MIXTURES(speed_eno2, 1, 0, TSR_DIFFERENCE_ENO2, 0)
MIXTURES(sweep_eno2, 0, 0, TSR_DIFFERENCE_ENO2, 0)
/* For any spacing and for voxels of unit width. */
#define SPACINGS(name, has_speed, has_curvature, suffix, in_space)   \
    MIXTURES(name##_##suffix, has_speed, has_curvature, in_space, 0) \
    MIXTURES(name##_##suffix##_unit, has_speed, has_curvature, in_space, 1)
#define MOST_SCHEMES(name, has_speed, has_curvature)                          \
    SPACINGS(name, has_speed, has_curvature, upwind, TSR_DIFFERENCE_UPWIND)   \
    SPACINGS(name, has_speed, has_curvature, godunov, TSR_DIFFERENCE_GODUNOV) \
    SPACINGS(name, has_speed, has_curvature, weno5, TSR_DIFFERENCE_WENO5)
MOST_SCHEMES(speed, 1, 0)
MOST_SCHEMES(curvature, 0, 1)
MOST_SCHEMES(both, 1, 1)
MOST_SCHEMES(sweep, 0, 0)

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

/* The same for unit spacing; ENO2 has none. */
static const tile_function unit_functions[4][4][3] = {
    { FUNCTIONS(sweep_upwind_unit), FUNCTIONS(sweep_godunov_unit), { NULL }, FUNCTIONS(sweep_weno5_unit) },
    { FUNCTIONS(speed_upwind_unit), FUNCTIONS(speed_godunov_unit), { NULL }, FUNCTIONS(speed_weno5_unit) },
    { FUNCTIONS(curvature_upwind_unit), FUNCTIONS(curvature_godunov_unit), { NULL }, FUNCTIONS(curvature_weno5_unit) },
    { FUNCTIONS(both_upwind_unit), FUNCTIONS(both_godunov_unit), { NULL }, FUNCTIONS(both_weno5_unit) },
};

static tile_function function_of(const tsr_tile_pass *pass)
{
    const tsr_engine_scheme *k = pass->scheme;
    const tsr_engine_flow *flow = pass->flow;
    const int32_t speed = flow && k->has_speed, curvature = flow && k->has_curvature, reshaped = k->reshape != 0.0f;
    const int32_t space = speed ? k->space : reshaped ? k->reshape_space : TSR_DIFFERENCE_GODUNOV; /* curvature alone: central */
    if (pass->coding || pass->measure || (flow && (flow->count > 0 || k->has_velocity))) return NULL;
    if (space < TSR_DIFFERENCE_ENO2 && pass->blend != 1.0f) return NULL; /* they have the stage of Euler alone */
    if (reshaped && (k->reshape_space != space || (k->sign != TSR_SIGNED_SMOOTH && k->sign != TSR_SIGNED_SUBCELL))) return NULL;
    const int32_t moved_by = speed + 2 * curvature, sign = !reshaped ? 0 : k->sign == TSR_SIGNED_SUBCELL ? 2 : 1;
    const int unit = k->inverse_spacing[0] == 1.0f && k->inverse_spacing[1] == 1.0f && k->inverse_spacing[2] == 1.0f;
    return unit && space != TSR_DIFFERENCE_ENO2 ? unit_functions[moved_by][space][sign] : functions[moved_by][space][sign];
}

int TSR_ISA_NAME(tsr_engine_note)(const float *values, float band, tsr_tile_bits *bits)
{
    uint32_t beyond = 0;
    memset(bits, 0, sizeof *bits);
    for (int32_t first = 0; first < TSR_ROWS_TILE; first += TSR_PAIR) {
#if defined(TSR_LANES)
        tsr_motion_note(bits, first / TSR_PAIR, tsr_lanes_load(values + first), band);
#pragma omp simd reduction(| : beyond)
        for (int32_t i = first; i < first + TSR_PAIR; i++) beyond |= tsr_magnitude(values[i]) > band;
#else
        for (int32_t i = first; i < first + TSR_PAIR; i++) {
            const float v = values[i];
            bits->free[i / 64] |= (uint64_t) !(v == band || v == -band) << i % 64;
            bits->inside[i / 64] |= (uint64_t)(v < 0.0f) << i % 64;
            beyond |= v > band || v < -band;
        }
#endif
    }
    return beyond != 0;
}

int TSR_ISA_NAME(tsr_engine_by_bits)(const tsr_tile_pass *pass)
{
#if defined(TSR_LANES)
    return function_of(pass) != NULL;
#else
    (void)pass;
    return 0;
#endif
}

int TSR_ISA_NAME(tsr_engine_uniform)(const tsr_tile_pass *pass, tsr_tile_totals *totals, uint32_t *bits)
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

void TSR_ISA_NAME(tsr_engine_mean_tile)(const float *phi, const uint32_t *row, const tsr_engine_scheme *k, float e, int64_t sums[3])
{
    enum { E = TSR_ROW, P = (TSR_ROW + 2) * TSR_ROW };
    _Alignas(64) struct tsr_rows rows;
    const float rx = k->inverse_spacing[0], ry = k->inverse_spacing[1], rz = k->inverse_spacing[2];
    tsr_rows_gather(phi, row, 1, 1, ~0u, &rows);
    for (int32_t z = 0; z < E; z++)
        for (int32_t y = 0; y < E; y += 2) {
            const int32_t o = tsr_rows_place((z * E + y) * E, 1);
            const float *p = rows.own + o, *left = rows.left[0] + o, *right = rows.right[0] + o;
            float found[3][TSR_PAIR];
            int32_t near = 0, inside = 0;
#pragma omp simd reduction(+ : near, inside)
            for (int32_t i = 0; i < TSR_PAIR; i++) {
                near += tsr_absf(p[i]) < e;
                inside += p[i] <= -e;
            }
            sums[2] += inside * tsr_engine_fixed(1.0f);
            if (!near) continue;
#pragma omp simd
            for (int32_t i = 0; i < TSR_PAIR; i++) {
                const float c = p[i];
                const tsr_mean_parts parts =
                    tsr_engine_mean_parts(c, (c - left[i]) * rx, (right[i] - c) * rx, (c - p[i - E]) * ry, (p[i + E] - c) * ry, (c - p[i - P]) * rz,
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
                for (int32_t i = 0; i < TSR_PAIR; i++) sum += tsr_engine_fixed(found[j][i]);
                sums[j] += sum;
            }
        }
}
