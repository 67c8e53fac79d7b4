/* solver/engine_rows.h: a tile of edge 8 and what the stencils of its voxels read, as rows of 8 without gaps, so that two rows are one run of 16
 * lanes whatever the axis: a step along y is 8 floats, one along z a plane, and one along x is another array, which holds the tile seen so many voxels
 * to the left or to the right. Only for tiles whose halo lies in the domain. */
#ifndef TSR_SOLVER_ENGINE_ROWS_H
#define TSR_SOLVER_ENGINE_ROWS_H

#include "core/simd.h"
#include "solver/engine_tile.h"

enum { TSR_ROW = 8, TSR_PAIR = 2 * TSR_ROW, TSR_ROWS_TILE = 512, TSR_PAIRS = TSR_ROWS_TILE / TSR_PAIR, TSR_ROWS_MOST = 14 * 14 * TSR_ROW + TSR_PAIR };

/* Voxel i of the tile at tsr_rows_place of each array: of the tile with the rows and planes around it, and of what lies k + 1 voxels to the left and
 * right of that. Radius 1: the six neighbours, with `corners` the twelve of the edges too; radius 2 or 3: so many voxels along each axis. */
struct tsr_rows {
    _Alignas(64) float own[TSR_ROWS_MOST];
    float left[3][TSR_ROWS_MOST], right[3][TSR_ROWS_MOST];
};

/* Rows from one plane to the next are 8 + 2 R; an odd number of them before the tile's first begins half a line late, so that the pairs of rows of the
 * tile, and of those one plane away, are whole lines of memory. R is a constant where this is called. */
TSR_INLINE int32_t tsr_rows_plane_stride(int32_t R) { return (TSR_ROW + 2 * R) * TSR_ROW; }
TSR_INLINE int32_t tsr_rows_place(int32_t first, int32_t R)
{
    enum { PLANE = TSR_ROW * TSR_ROW };
    return (first / PLANE + R) * tsr_rows_plane_stride(R) + first % PLANE + (R + (R & 1)) * TSR_ROW;
}

/* `count` rows that follow each other in the tiles of three[0..2]: those of the middle one seen from `far` voxels and fewer to both sides. */
TSR_INLINE void tsr_rows_shift(const float *phi, const uint32_t *three, int32_t line, int32_t count, int32_t far, struct tsr_rows *to, int32_t at)
{
    const float *before = phi + (int64_t)three[0] * TSR_ROWS_TILE + line, *own = phi + (int64_t)three[1] * TSR_ROWS_TILE + line,
                *after = phi + (int64_t)three[2] * TSR_ROWS_TILE + line;
    for (int32_t i = 0; i < count * TSR_ROW; i += TSR_ROW) {
        const tsr_octet a = tsr_octet_load(before + i), b = tsr_octet_load(own + i), c = tsr_octet_load(after + i);
        tsr_octet_store(to->left[0] + at + i, tsr_octet_join_1(a, b));
        tsr_octet_store(to->right[0] + at + i, tsr_octet_join_7(b, c));
        if (far == 1) continue;
        tsr_octet_store(to->left[1] + at + i, tsr_octet_join_2(a, b));
        tsr_octet_store(to->right[1] + at + i, tsr_octet_join_6(b, c));
        if (far == 2) continue;
        tsr_octet_store(to->left[2] + at + i, tsr_octet_join_3(a, b));
        tsr_octet_store(to->right[2] + at + i, tsr_octet_join_5(b, c));
    }
}

TSR_INLINE void tsr_rows_copy(const float *phi, uint32_t id, int32_t line, int32_t count, struct tsr_rows *to, int32_t at)
{
    memcpy(to->own + at, phi + (int64_t)id * TSR_ROWS_TILE + line, (size_t)(count * TSR_ROW) * sizeof *phi);
}

#if defined(TSR_ISA_IS_avx512)
/* One plane of whole tiles, two rows at a time: tsr_rows_copy and tsr_rows_shift, the second for `far` 1. */
TSR_INLINE void tsr_rows_plane(const float *phi, const uint32_t *three, int32_t line, struct tsr_rows *to, int32_t at)
{
    const float *before = phi + (int64_t)three[0] * TSR_ROWS_TILE + line, *own = phi + (int64_t)three[1] * TSR_ROWS_TILE + line,
                *after = phi + (int64_t)three[2] * TSR_ROWS_TILE + line;
    for (int32_t i = 0; i < TSR_ROW * TSR_ROW; i += TSR_PAIR) {
        const tsr_lanes a = tsr_lanes_load(before + i), b = tsr_lanes_load(own + i), c = tsr_lanes_load(after + i);
        tsr_lanes_store(to->own + at + i, b);
        tsr_lanes_store(to->left[0] + at + i, tsr_lanes_rows_down(a, b));
        tsr_lanes_store(to->right[0] + at + i, tsr_lanes_rows_up(b, c));
    }
}
#else
TSR_INLINE void tsr_rows_plane(const float *phi, const uint32_t *three, int32_t line, struct tsr_rows *to, int32_t at)
{
    tsr_rows_copy(phi, three[1], line, TSR_ROW, to, at);
    tsr_rows_shift(phi, three, line, TSR_ROW, 1, to, at);
}
#endif

/* `R` and `corners` are constants where this is called. `planes`: those that are asked for, bit R + z for plane z. */
TSR_INLINE void tsr_rows_gather(const float *phi, const uint32_t *row, int32_t R, int corners, uint32_t planes, struct tsr_rows *to)
{
    enum { E = TSR_ROW, PLANE = TSR_ROW * TSR_ROW };
    for (int32_t z = -R; z < E + R; z++) {
        if (!(planes >> (z + R) & 1u)) continue;
        const int32_t dz = z < 0 ? 0 : z >= E ? 2 : 1, line = (z & (E - 1)) * PLANE, at = tsr_rows_place(0, R) + z * tsr_rows_plane_stride(R);
        const uint32_t *slab = row + 9 * dz; /* the nine tiles of this plane */
        const int shifted = R == 1 && (dz == 1 || corners);
        if (shifted) tsr_rows_plane(phi, slab + 3, line, to, at);
        else tsr_rows_copy(phi, slab[4], line, E, to, at);
        if (dz == 1) {
            tsr_rows_copy(phi, slab[1], line + (E - R) * E, R, to, at - R * E);
            tsr_rows_copy(phi, slab[7], line, R, to, at + PLANE);
            if (!shifted) tsr_rows_shift(phi, slab + 3, line, E, R, to, at);
            if (!corners) continue;
            tsr_rows_shift(phi, slab, line + (E - 1) * E, 1, 1, to, at - E);
            tsr_rows_shift(phi, slab + 6, line, 1, 1, to, at + PLANE);
        } else if (corners && z >= -1 && z <= E) {
            tsr_rows_copy(phi, slab[1], line + (E - 1) * E, 1, to, at - E);
            tsr_rows_copy(phi, slab[7], line, 1, to, at + PLANE);
            if (!shifted) tsr_rows_shift(phi, slab + 3, line, E, 1, to, at);
        }
    }
}

/* Which voxels of the two rows at `o` stay (tsr_voxel_still); 1 if all do: then they have one value. P is the plane's stride, a constant where this is
 * called. */
#if defined(TSR_ISA_IS_avx512)
TSR_INLINE uint32_t tsr_pair_stays(const struct tsr_rows *r, int32_t o, int32_t P, float band)
{
    const float *p = r->own + o;
    const tsr_lanes c = tsr_lanes_load(p); /* where |c| is at least the band, equal numbers have equal bits */
    tsr_lane_bits differs = tsr_lanes_differ(c, r->left[0] + o);
    differs = tsr_lanes_differ_too(differs, c, r->right[0] + o);
    differs = tsr_lanes_differ_too(differs, c, p - TSR_ROW);
    differs = tsr_lanes_differ_too(differs, c, p + TSR_ROW);
    differs = tsr_lanes_differ_too(differs, c, p - P);
    differs = tsr_lanes_differ_too(differs, c, p + P);
    return tsr_lanes_without(tsr_lanes_beyond(c, band), differs);
}
TSR_INLINE int tsr_pair_still(const struct tsr_rows *r, int32_t o, int32_t P, float band, int32_t still[TSR_PAIR])
{
    const uint32_t stays = tsr_pair_stays(r, o, P, band);
    tsr_lanes_flags(still, stays);
    return stays == 0xffff;
}
#else
TSR_INLINE int tsr_pair_still(const struct tsr_rows *r, int32_t o, int32_t P, float band, int32_t still[TSR_PAIR])
{
    const float *p = r->own + o, *left = r->left[0] + o, *right = r->right[0] + o;
    int32_t all = 1;
#pragma omp simd reduction(& : all)
    for (int32_t i = 0; i < TSR_PAIR; i++) {
        const float c = p[i];
        still[i] = ((c >= band) | (c <= -band)) & (c == left[i]) & (c == right[i]) & (c == p[i - TSR_ROW]) & (c == p[i + TSR_ROW]) & (c == p[i - P]) &
                   (c == p[i + P]);
        all &= still[i];
    }
    return all;
}
#endif

/* While the pair of rows that begins at voxel `first` of the tile is worked on: the same of the tile after the next, on its way from memory, and what
 * its halo reads of the tiles below and above. Little by little, for what waits at a time is limited. `written`: pairs that will be. */
TSR_INLINE void tsr_pair_ahead(const tsr_tile_pass *pass, int32_t first, uint32_t written)
{
    enum { PLANE = TSR_ROW * TSR_ROW };
    if (!pass->ahead[0]) return;
    __builtin_prefetch(pass->ahead[0] + first, 0);
    __builtin_prefetch(pass->ahead[written >> first / TSR_PAIR & 1u] + first, 1); /* the one above once more where there is nothing to do */
    if (first < 2 * PLANE) __builtin_prefetch(pass->ahead[2 + first / PLANE] + first % PLANE, 0);
    if (first % PLANE < 2 * TSR_PAIR) __builtin_prefetch(pass->ahead[4 + first % PLANE / TSR_PAIR] + first / PLANE * PLANE, 0);
}

/* A row in which nothing moves: it keeps its value, or what the blend of the stages makes of it where the start of the step was another. */
TSR_INLINE uint32_t tsr_row_kept(const tsr_tile_pass *pass, int32_t E, int32_t row, const float *p, tsr_tile_totals *totals)
{
    const float c = p[0], *start = pass->start + row, band = pass->scheme->band;
    float *out = pass->out + row;
    uint32_t bits = 0;
    int32_t moved = 0;
    if (pass->blend != 1.0f) {
#pragma omp simd reduction(| : moved)
        for (int32_t i = 0; i < E; i++) moved |= start[i] != c;
    }
    if (!moved && pass->extent[0] == E) {
#pragma omp simd
        for (int32_t i = 0; i < E; i++) out[i] = c;
        totals->inside += c < 0.0f ? E : 0;
        return 0;
    }
    for (int32_t x = 0; x < pass->extent[0]; x++) {
        const float kept = tsr_stage_value(start[x], c, 0.0f, pass->blend, band), v = pass->coding ? tsr_code_rounded(pass->coding, kept) : kept;
        const int in_band = v > -band && v < band;
        out[x] = v;
        if (in_band) {
            bits |= pass->areas[row + x];
            totals->change = tsr_maxf(totals->change, tsr_absf(v - start[x]));
        }
        totals->active += in_band;
        totals->inside += v < 0.0f;
    }
    return bits;
}

#endif
