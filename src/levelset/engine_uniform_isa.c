/* levelset/engine_uniform_isa.c: first-order passes over tiles of edge 8 whose terms are the same everywhere, in one vector loop.
 *
 * engine_isa.c keeps each part of the right-hand side in an array, so that any mixture of terms is a few loops; here the loop is one and what it
 * makes stays in registers, for the mixtures that most runs are: normal speed, curvature or both, with or without the reshape term, and sweeps of
 * reinitialisation. The parts are added in the order of tsr_scheme_rate, so that the bits are the same. */
#include "levelset/engine_bits.h"
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
    int32_t unit; /* voxels are 1 wide along every axis: multiplications by 1 are left out */
};

/* How far differences reach. */
ALWAYS int32_t reach_of(int32_t space) { return space == TSR_DIFFERENCE_WENO5 ? 3 : space == TSR_DIFFERENCE_ENO2 ? 2 : 1; }

/* |v| by its bits: one operation of a vector where tsr_absf, which keeps the sign of -0, is three. */
ALWAYS float magnitude(float v) { return tsr_bits_float(tsr_float_bits(v) & 0x7fffffffu); }

/* Sixteen voxels that are worked on at once: two rows of the tile, or of any rows those that move (tsr_pack). */
struct operands {
    const float *c, *left[3], *right[3];    /* own values and those 1 to 3 voxels along x */
    const float *down, *up, *below, *above; /* along y and z */
    const float *cross[3];                  /* packed: of the planes xy, xz, yz what tsr_cross_sum makes */
    const float *start;                     /* of the step */
    const uint32_t *areas;
    const int32_t *still; /* which of them stay */
    float *out;
};

/* One pass over sixteen voxels. Constants: `packed`, each operand is an array of its own; else c points into tsr_rows, which holds what lies around it.
 * `counts`, what the voxels are is added up here; else the bits of the tile say it afterwards.
 *
 * What multiplies and compares is what bounds this loop, so: signs are tested as bits, both ways of a front share their squares, and the root that
 * limits curvature is taken only where some lane may need it, which is why the loop is in two parts. */
ALWAYS void pass_lanes(const tsr_tile_pass *pass, struct mixture m, int packed, int counts, const struct operands *v, struct found *f)
{
    const int32_t E = TSR_ROW, R = reach_of(m.space), P = (TSR_ROW + 2 * R) * TSR_ROW;
    const float *p = v->c, *left = v->left[0], *right = v->right[0], *down = v->down, *up = v->up, *below = v->below, *above = v->above;
    const float *left2 = v->left[1], *right2 = v->right[1], *left3 = v->left[2], *right3 = v->right[2], *start = v->start;
    const float *xy = v->cross[0], *xz = v->cross[1], *yz = v->cross[2];
    const uint32_t *areas = v->areas;
    const int32_t *still = v->still;
    float *out = v->out;
    tsr_flow_scheme k = *pass->scheme;
    const float rx = m.unit ? 1.0f : k.inverse_spacing[0], ry = m.unit ? 1.0f : k.inverse_spacing[1], rz = m.unit ? 1.0f : k.inverse_spacing[2];
    const float band = k.band, step = pass->step;
    const float speed = m.speed ? pass->flow->everywhere.speed + pass->moment->mean_speed : 0.0f;
    const float weight = m.curvature ? pass->flow->everywhere.curvature : 0.0f;
    const float blend = R > 1 ? pass->blend : 1.0f;
    const int crossings = counts || (m.reshape && m.sign == TSR_SIGNED_SUBCELL);
    float driven[TSR_PAIR], bent[TSR_PAIR], square[TSR_PAIR], reshaped[TSR_PAIR];
    uint32_t crossing[TSR_PAIR];
    int32_t steep = 0;
    k.sign = m.sign;
#pragma omp simd reduction(| : steep)
    for (int32_t i = 0; i < TSR_PAIR; i++) {
        const float c = p[i], l = left[i], r = right[i], d = down[i], u = up[i], b = below[i], a = above[i];
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
        uint32_t other = 0;
        if (crossings) {
            const uint32_t own = tsr_float_bits(c + 0.0f);
            other = (own ^ tsr_float_bits(l + 0.0f)) | (own ^ tsr_float_bits(r + 0.0f)) | (own ^ tsr_float_bits(d + 0.0f)) |
                    (own ^ tsr_float_bits(u + 0.0f)) | (own ^ tsr_float_bits(b + 0.0f)) | (own ^ tsr_float_bits(a + 0.0f));
            crossing[i] = 0u - (other >> 31);
        }
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
        const float w = R > 1 ? tsr_stage_value(start[i], c, change, blend, band) : tsr_stage_value(c, c, change, 1.0f, band);
        f->bad[i] |= !(magnitude(c + change) <= 3e38f); /* tsr_finite */
        out[i] = w;
        const uint32_t in_band = 0u - (uint32_t)(magnitude(w) < band);
        const float before = f->change[i], moved = tsr_bits_float(tsr_float_bits(magnitude(w - start[i])) & in_band);
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
    const struct operands v = { .c = p,
                                .left = { rows->left[0] + o, rows->left[1] + o, rows->left[2] + o },
                                .right = { rows->right[0] + o, rows->right[1] + o, rows->right[2] + o },
                                .down = p - E,
                                .up = p + E,
                                .below = p - P,
                                .above = p + P,
                                .start = pass->start + first,
                                .areas = pass->areas + first,
                                .still = still,
                                .out = pass->out + first };
    pass_lanes(pass, m, 0, counts, &v, f);
}

#if defined(TSR_ISA_IS_avx512)

/* The voxels that move, one after the other: about half of those of the rows that hold them, in a narrow band. What they read is put side by side once
 * by a permutation, and the arithmetic, nearly all of the time, runs with full vectors. */
enum { TSR_PACK_MOST = TSR_ROWS_TILE + TSR_PAIR };
/* Where more voxels of a pair of rows than these move, on average over a tile, packing them takes as long as it saves. */
enum { DENSE_CURVED = 10, DENSE = 8 };
struct pack {
    _Alignas(64) float c[TSR_PACK_MOST];
    float left[TSR_PACK_MOST], right[TSR_PACK_MOST], down[TSR_PACK_MOST], up[TSR_PACK_MOST], below[TSR_PACK_MOST], above[TSR_PACK_MOST];
    float cross[3][TSR_PACK_MOST], start[TSR_PACK_MOST], out[TSR_PACK_MOST];
};

ALWAYS void pack_put(float *to, __m512i order, __m512 v) { _mm512_storeu_ps(to, _mm512_permutexvar_ps(order, v)); }
ALWAYS __m512 pack_cross(const float *both, const float *first, const float *second, const float *none)
{
    return _mm512_sub_ps(_mm512_sub_ps(_mm512_loadu_ps(both), _mm512_loadu_ps(first)), _mm512_sub_ps(_mm512_loadu_ps(second), _mm512_loadu_ps(none)));
}

/* Adds the voxels `moves` of the pair of rows at `o` from place n on. What comes after them there is of no meaning. */
ALWAYS void pack_pair(const tsr_tile_pass *pass, struct mixture m, const struct tsr_rows *rows, int32_t o, int32_t first, __mmask16 moves, int fresh,
                      struct pack *to, int32_t n)
{
    const int32_t E = TSR_ROW, P = (TSR_ROW + 2) * TSR_ROW;
    const float *p = rows->own + o, *left = rows->left[0] + o, *right = rows->right[0] + o;
    const __m512i order = _mm512_maskz_compress_epi32(moves, _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
    pack_put(to->c + n, order, _mm512_loadu_ps(p));
    pack_put(to->left + n, order, _mm512_loadu_ps(left));
    pack_put(to->right + n, order, _mm512_loadu_ps(right));
    pack_put(to->down + n, order, _mm512_loadu_ps(p - E));
    pack_put(to->up + n, order, _mm512_loadu_ps(p + E));
    pack_put(to->below + n, order, _mm512_loadu_ps(p - P));
    pack_put(to->above + n, order, _mm512_loadu_ps(p + P));
    if (m.curvature) {
        pack_put(to->cross[0] + n, order, pack_cross(right + E, right - E, left + E, left - E));
        pack_put(to->cross[1] + n, order, pack_cross(right + P, right - P, left + P, left - P));
        pack_put(to->cross[2] + n, order, pack_cross(p + E + P, p + E - P, p + P - E, p - E - P));
    }
    if (fresh) pack_put(to->start + n, order, _mm512_loadu_ps(pass->start + first));
}

/* Lanes that only fill the last vector, from n on: they count nowhere. */
ALWAYS void pack_fill(struct mixture m, struct pack *to, int32_t n, float band)
{
    const __m512 beyond = _mm512_set1_ps(band);
    float *const all[] = { to->c, to->left, to->right, to->down, to->up, to->below, to->above, to->start };
    for (int k = 0; k < 8; k++) _mm512_storeu_ps(all[k] + n, beyond);
    for (int k = 0; k < 3 && m.curvature; k++) _mm512_storeu_ps(to->cross[k] + n, _mm512_setzero_ps());
}

/* All that has been packed. */
ALWAYS void pass_pack(const tsr_tile_pass *pass, struct mixture m, struct pack *pack, int32_t n, int fresh, struct found *f)
{
    static const int32_t none[TSR_PAIR] = { 0 };
    int32_t last[TSR_PAIR];
    for (int32_t i = 0; i < TSR_PAIR; i++) last[i] = i >= n % TSR_PAIR;
    pack_fill(m, pack, n, pass->scheme->band);
    for (int32_t at = 0; at < n; at += TSR_PAIR) {
        const struct operands v = { .c = pack->c + at,
                                    .left = { pack->left + at },
                                    .right = { pack->right + at },
                                    .down = pack->down + at,
                                    .up = pack->up + at,
                                    .below = pack->below + at,
                                    .above = pack->above + at,
                                    .cross = { pack->cross[0] + at, pack->cross[1] + at, pack->cross[2] + at },
                                    .start = (fresh ? pack->start : pack->c) + at,
                                    .still = at + TSR_PAIR <= n ? none : last,
                                    .out = pack->out + at };
        pass_lanes(pass, m, 1, 0, &v, f);
    }
}

/* What a tile of a pass does, by pairs of rows: which of their voxels move, which are inside, and which of those that move have a neighbour on the
 * other side. */
struct motion {
    _Alignas(64) uint16_t moves[TSR_PAIRS];
    uint16_t inside[TSR_PAIRS];
    uint64_t crossing[8];
    uint32_t pairs; /* bit k: something moves in pair k */
};

/* Eight words at once, each a plane: of what lies one voxel to each of the six sides, from the words of that neighbour tile. */
ALWAYS __m512i bits_left(__m512i own, __m512i before)
{
    return _mm512_or_si512(_mm512_and_si512(_mm512_slli_epi64(own, 1), _mm512_set1_epi64((int64_t)0xfefefefefefefefeull)),
                           _mm512_and_si512(_mm512_srli_epi64(before, 7), _mm512_set1_epi64(0x0101010101010101ll)));
}
ALWAYS __m512i bits_right(__m512i own, __m512i after)
{
    return _mm512_or_si512(_mm512_and_si512(_mm512_srli_epi64(own, 1), _mm512_set1_epi64(0x7f7f7f7f7f7f7f7fll)),
                           _mm512_and_si512(_mm512_slli_epi64(after, 7), _mm512_set1_epi64((int64_t)0x8080808080808080ull)));
}
ALWAYS __m512i bits_down(__m512i own, __m512i before) { return _mm512_or_si512(_mm512_slli_epi64(own, 8), _mm512_srli_epi64(before, 56)); }
ALWAYS __m512i bits_up(__m512i own, __m512i after) { return _mm512_or_si512(_mm512_srli_epi64(own, 8), _mm512_slli_epi64(after, 56)); }
ALWAYS __m512i bits_below(__m512i own, __m512i before) { return _mm512_alignr_epi64(own, before, 7); }
ALWAYS __m512i bits_above(__m512i own, __m512i after) { return _mm512_alignr_epi64(after, own, 1); }

/* From the bits of the tile and its six neighbours. */
ALWAYS void find_motion(const tsr_tile_bits *all, const uint32_t *row, struct motion *to)
{
    enum { M = TSR_TILE_MIDDLE };
    const tsr_tile_bits *own = all + row[M];
    const __m512i loose = _mm512_load_si512(own->free), inside = _mm512_load_si512(own->inside);
    __m512i moves = loose, crossing = _mm512_setzero_si512();
#define SIDE(of, direction)                                                                 \
    moves = _mm512_or_si512(moves, of(loose, _mm512_load_si512(all[row[direction]].free))); \
    crossing = _mm512_or_si512(crossing, _mm512_xor_si512(inside, of(inside, _mm512_load_si512(all[row[direction]].inside))));
    SIDE(bits_left, M - 1)
    SIDE(bits_right, M + 1)
    SIDE(bits_down, M - 3)
    SIDE(bits_up, M + 3)
    SIDE(bits_below, M - 9)
    SIDE(bits_above, M + 9)
#undef SIDE
    moves = _mm512_or_si512(moves, crossing);
    _mm512_store_si512(to->moves, moves);
    _mm512_store_si512(to->inside, inside);
    _mm512_store_si512(to->crossing, crossing);
    to->pairs = _mm512_test_epi16_mask(moves, moves);
}

/* Writes the pairs that stay, of one value each, where they are not in memory already, and notes their bits. */
ALWAYS void keep_pairs(const tsr_tile_pass *pass, const struct motion *motion)
{
    tsr_tile_bits *bits = pass->out_bits;
    const __m512i inside = _mm512_load_si512(motion->inside);
    uint32_t writes = ~motion->pairs;
    if (pass->out_known)
        writes &= _mm512_test_epi16_mask(_mm512_load_si512(bits->free), _mm512_load_si512(bits->free)) |
                  _mm512_cmpneq_epi16_mask(_mm512_load_si512(bits->inside), inside);
    for (; writes; writes &= writes - 1) {
        const int32_t pair = __builtin_ctz(writes);
        _mm512_storeu_ps(pass->out + pair * TSR_PAIR, _mm512_set1_ps(motion->inside[pair] ? -pass->scheme->band : pass->scheme->band));
    }
    _mm512_store_si512(bits->free, _mm512_setzero_si512());
    _mm512_store_si512(bits->inside, inside);
}

/* The bits of a pair that has been written; those of the tile said before that none of its voxels was free. Words are read and written as such: what is
 * written in parts and read as a whole has to wait. */
ALWAYS void note_pair(tsr_tile_bits *bits, int32_t pair, __m512 v, float band)
{
    const uint64_t loose = _mm512_cmp_ps_mask(_mm512_abs_ps(v), _mm512_set1_ps(band), _CMP_NEQ_UQ),
                   inside = _mm512_cmp_ps_mask(v, _mm512_setzero_ps(), _CMP_LT_OQ);
    const int32_t z = pair / 4, shift = pair % 4 * TSR_PAIR;
    bits->free[z] |= loose << shift;
    bits->inside[z] = (bits->inside[z] & ~((uint64_t)0xffff << shift)) | inside << shift;
}

/* The next pair of a set, and the set without it. */
ALWAYS int32_t take_pair(uint32_t *pairs)
{
    const int32_t pair = __builtin_ctz(*pairs);
    *pairs &= *pairs - 1;
    return pair;
}

/* Planes that the stencils of these pairs reach, as tsr_rows_gather wants them. */
ALWAYS uint32_t planes_of(uint32_t pairs)
{
    pairs |= pairs >> 2;
    pairs |= pairs >> 1;
    const uint32_t planes = _pext_u32(pairs, 0x11111111u);
    return planes | planes << 1 | planes << 2;
}

ALWAYS int32_t count_words(const uint64_t *words)
{
    int32_t sum = 0;
    for (int i = 0; i < 8; i++) sum += __builtin_popcountll(words[i]);
    return sum;
}

/* What the tile is now, from its bits: voxels in the band, voxels inside, and the areas that hold one in the band or beside the other side. */
ALWAYS uint32_t sum_up(const tsr_tile_pass *pass, const struct motion *motion, tsr_tile_totals *totals)
{
    uint64_t hit[8];
    const tsr_tile_bits *bits = pass->out_bits;
    totals->noted = 1;
    totals->inside += count_words(bits->inside);
    totals->active += count_words(bits->free);
    for (int z = 0; z < 8; z++) hit[z] = bits->free[z] | motion->crossing[z];
    return pass->last ? tsr_bits_areas(hit, pass->guard) : 0;
}

/* Pairs of the tile on its way that will most likely be written: those with a free voxel, and those beside them. */
ALWAYS uint32_t pairs_ahead(const tsr_tile_pass *pass)
{
    if (!pass->ahead[0]) return 0;
    const __m512i loose = _mm512_load_si512(pass->ahead_bits->free);
    const uint32_t pairs = _mm512_test_epi16_mask(loose, loose);
    return pairs | pairs << 1 | pairs >> 1 | pairs << 4 | pairs >> 4;
}

ALWAYS uint32_t run_packed(const tsr_tile_pass *pass, struct mixture m, tsr_tile_totals *totals, struct found *f)
{
    _Alignas(64) struct tsr_rows rows;
    _Alignas(64) struct pack pack;
    struct motion motion;
    uint64_t words[8];
    int32_t n = 0, ahead = 0;
    const int fresh = pass->start != pass->pages + (int64_t)pass->row[TSR_TILE_MIDDLE] * TSR_ROWS_TILE;
    const float band = pass->scheme->band;
    const uint32_t written = pairs_ahead(pass);
    find_motion(pass->bits, pass->row, &motion);
    keep_pairs(pass, &motion);
    tsr_rows_gather(pass->pages, pass->row, 1, m.curvature, planes_of(motion.pairs), &rows);
    memcpy(words, motion.moves, sizeof words);
    const int dense = count_words(words) > (m.curvature ? DENSE_CURVED : DENSE) * __builtin_popcount(motion.pairs);
    for (uint32_t left = motion.pairs; left; ahead += TSR_PAIR) {
        const int32_t pair = take_pair(&left), first = pair * TSR_PAIR, o = tsr_rows_place(first, 1);
        const __mmask16 moves = (__mmask16)motion.moves[pair];
        tsr_pair_ahead(pass, ahead, written);
        if (!dense) {
            pack_pair(pass, m, &rows, o, first, moves, fresh, &pack, n);
            n += __builtin_popcount(moves);
            continue;
        }
        int32_t still[TSR_PAIR];
        _mm512_storeu_si512(still, _mm512_maskz_set1_epi32((__mmask16)~moves, 1));
        pass_pair(pass, m, 0, &rows, o, first, still, f);
        note_pair(pass->out_bits, pair, _mm512_loadu_ps(pass->out + first), band);
    }
    for (; ahead < TSR_ROWS_TILE; ahead += TSR_PAIR) tsr_pair_ahead(pass, ahead, written);
    if (n) pass_pack(pass, m, &pack, n, fresh, f);
    n = 0;
    for (uint32_t left = dense ? 0 : motion.pairs; left;) {
        const int32_t pair = take_pair(&left), first = pair * TSR_PAIR;
        const __mmask16 moves = (__mmask16)motion.moves[pair];
        const __m512 own = _mm512_loadu_ps(rows.own + tsr_rows_place(first, 1)), v = _mm512_mask_expand_ps(own, moves, _mm512_loadu_ps(pack.out + n));
        _mm512_storeu_ps(pass->out + first, v);
        note_pair(pass->out_bits, pair, v, band);
        n += __builtin_popcount(moves);
    }
    return sum_up(pass, &motion, totals);
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
#if defined(TSR_ISA_IS_avx512)
    uint32_t bits = reach_of(m.space) == 1 && pass->bits ? run_packed(pass, m, totals, &f) : run_rows(pass, m, totals, &f);
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
MIXTURES(speed_weno5, 1, 0, TSR_DIFFERENCE_WENO5, 0)
MIXTURES(curvature_weno5, 0, 1, TSR_DIFFERENCE_WENO5, 0)
MIXTURES(both_weno5, 1, 1, TSR_DIFFERENCE_WENO5, 0)
MIXTURES(sweep_eno2, 0, 0, TSR_DIFFERENCE_ENO2, 0)
MIXTURES(sweep_weno5, 0, 0, TSR_DIFFERENCE_WENO5, 0)
/* Of first order for any spacing and for voxels of unit width. */
#define FIRST_ORDER(name, has_speed, has_curvature)                                  \
    MIXTURES(name##_upwind, has_speed, has_curvature, TSR_DIFFERENCE_UPWIND, 0)      \
    MIXTURES(name##_godunov, has_speed, has_curvature, TSR_DIFFERENCE_GODUNOV, 0)    \
    MIXTURES(name##_upwind_unit, has_speed, has_curvature, TSR_DIFFERENCE_UPWIND, 1) \
    MIXTURES(name##_godunov_unit, has_speed, has_curvature, TSR_DIFFERENCE_GODUNOV, 1)
FIRST_ORDER(speed, 1, 0)
FIRST_ORDER(curvature, 0, 1)
FIRST_ORDER(both, 1, 1)
FIRST_ORDER(sweep, 0, 0)

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

/* The same for unit spacing, first order. */
static const tile_function unit_functions[4][2][3] = {
    { FUNCTIONS(sweep_upwind_unit), FUNCTIONS(sweep_godunov_unit) },
    { FUNCTIONS(speed_upwind_unit), FUNCTIONS(speed_godunov_unit) },
    { FUNCTIONS(curvature_upwind_unit), FUNCTIONS(curvature_godunov_unit) },
    { FUNCTIONS(both_upwind_unit), FUNCTIONS(both_godunov_unit) },
};

static tile_function function_of(const tsr_tile_pass *pass)
{
    const tsr_flow_scheme *k = pass->scheme;
    const tsr_flow *flow = pass->flow;
    const int32_t speed = flow && k->has_speed, curvature = flow && k->has_curvature, reshaped = k->reshape != 0.0f;
    const int32_t space = speed ? k->space : reshaped ? k->reshape_space : TSR_DIFFERENCE_GODUNOV; /* curvature alone: central */
    if (pass->coding || pass->measure || (flow && (flow->count > 0 || k->has_velocity))) return NULL;
    if (space < TSR_DIFFERENCE_ENO2 && pass->blend != 1.0f) return NULL; /* they have the stage of Euler alone */
    if (reshaped && (k->reshape_space != space || (k->sign != TSR_SIGNED_SMOOTH && k->sign != TSR_SIGNED_SUBCELL))) return NULL;
    const int32_t moved_by = speed + 2 * curvature, sign = !reshaped ? 0 : k->sign == TSR_SIGNED_SUBCELL ? 2 : 1;
    const int unit = k->inverse_spacing[0] == 1.0f && k->inverse_spacing[1] == 1.0f && k->inverse_spacing[2] == 1.0f;
    return unit && space < TSR_DIFFERENCE_ENO2 ? unit_functions[moved_by][space][sign] : functions[moved_by][space][sign];
}

int TSR_ISA_NAME(tsr_flow_note)(const float *values, float band, tsr_tile_bits *bits)
{
    uint32_t beyond = 0;
    memset(bits, 0, sizeof *bits);
    for (int32_t first = 0; first < TSR_ROWS_TILE; first += TSR_PAIR) {
#if defined(TSR_ISA_IS_avx512)
        const __m512 v = _mm512_loadu_ps(values + first);
        note_pair(bits, first / TSR_PAIR, v, band);
        beyond |= _mm512_cmp_ps_mask(_mm512_abs_ps(v), _mm512_set1_ps(band), _CMP_GT_OQ);
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

int TSR_ISA_NAME(tsr_flow_by_bits)(const tsr_tile_pass *pass)
{
#if defined(TSR_ISA_IS_avx512)
    return function_of(pass) != NULL && pass->radius == 1;
#else
    (void)pass;
    return 0;
#endif
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
