/* segment/segment_isa.c: the vector loops of a step on the CPU.
 *
 * Rows of the cube are one after another, so a plane is one long run of lanes: the two halo columns are computed, too, and thrown away, and so is
 * what rounds the run up to whole vectors. Each face normal is computed once and serves the voxels on both sides. New values and totals have
 * loops of their own: together they do not become vector code. The same arithmetic in the same order as tsr_segment_update. */
#include <string.h>

#include "tiles/tiles_halo.h"
#include "segment/segment_step.h"

enum { CELLS = TSR_CUBE_MOST };

TSR_INLINE int32_t whole_vectors(int32_t cells) { return (cells + 15) & ~15; }

TSR_INLINE void faces(const float *cube, int32_t from, int32_t count, int32_t s, int32_t t, int32_t u, float rs,
                                                        float rt, float ru, float *out)
{
    const float *p = cube + from;
    float *to = out + from;
#pragma omp simd
    for (int32_t i = 0; i < count; i++) to[i] = tsr_face_normal(p + i, s, t, u, rs, rt, ru);
}

/* New values of one plane of cells from `from`. */
TSR_INLINE void update_plane(const float *cube, const float *fx, const float *fy, const float *fz,
                                                               const float *speed, int32_t H, int32_t from, int32_t count, float dt,
                                                               const tsr_segment_params *k, float *fresh)
{
    const float rx = k->inverse_spacing[0], ry = k->inverse_spacing[1], rz = k->inverse_spacing[2];
    const int curved = k->curvature != 0.0f;
#pragma omp simd
    for (int32_t i = from; i < from + count; i++) {
        float curvature = 0.0f;
        if (curved) curvature = ((fx[i] - fx[i - 1]) * rx + (fy[i] - fy[i - H]) * ry) + (fz[i] - fz[i - H * H]) * rz;
        fresh[i] = tsr_segment_apply(cube + i, H, H * H, speed[i], curvature, dt, k);
    }
}

/* Totals and area bits of the cells of a plane whose area bit is not 0. */
TSR_INLINE uint32_t count_plane(const float *cube, const float *fresh, const float *speed, const uint32_t *area,
                                                                  int32_t H, int32_t from, int32_t count, float band, tsr_step_totals *totals)
{
    const float inverse_band = 1.0f / band;
    uint32_t active = 0, inside = 0, bits = 0, high = 0, low = 0; /* change = high * 2^16 + low: no overflow in 80 cells */
    float largest = totals->speed;
#pragma omp simd reduction(+ : active, inside, high, low) reduction(| : bits) reduction(max : largest)
    for (int32_t j = 0; j < count; j++) {
        const float *p = cube + from + j;
        float v = fresh[from + j], f = tsr_absf(speed[from + j]);
        uint32_t counted = area[j] ? 1u : 0u, in_band = v > -band ? v < band ? counted : 0u : 0u;
        uint32_t kept = in_band | (uint32_t)tsr_sign_change(p, H, H * H), moved = counted ? tsr_segment_change(p[0], v, inverse_band) : 0u;
        bits |= kept ? area[j] : 0u;
        active += in_band;
        inside += v < 0.0f ? counted : 0u;
        high += moved >> 16;
        low += moved & 0xffffu;
        f = in_band ? f : 0.0f;
        largest = f > largest ? f : largest;
    }
    totals->active += active;
    totals->inside += inside;
    totals->change += ((uint64_t)high << 16) + low;
    totals->speed = largest;
    return bits;
}

/* Is a plane of cells saturated and all one value? */
TSR_INLINE int plane_flat(const float *p, int32_t cells, float band)
{
    const float c = p[0];
    uint32_t different = c != band && c != -band;
#pragma omp simd reduction(| : different)
    for (int32_t i = 0; i < cells; i++) different |= p[i] != c ? 1u : 0u;
    return !different;
}

TSR_INLINE uint32_t step(int32_t E, const float *cube, const float *speed, const uint32_t *area,
                                                           const int32_t extent[3], float dt, const tsr_segment_params *k, float *out,
                                                           tsr_step_totals *totals)
{
    _Alignas(64) float fx[CELLS], fy[CELLS], fz[CELLS], fresh[CELLS], padded[CELLS];
    const int32_t H = E + 2, P = H * H;
    const float *r = k->inverse_spacing;
    uint32_t areas = 0;
    int32_t below = -1; /* plane whose upper face normals are known */
    int flat[10];
    for (int32_t z = 0; z < H; z++) flat[z] = plane_flat(cube + z * P, P, k->band);
    for (int32_t z = 1; z <= extent[2]; z++) {
        const float c = cube[z * P];
        if (flat[z - 1] && flat[z] && flat[z + 1] && cube[(z - 1) * P] == c && cube[(z + 1) * P] == c) { /* nothing moves */
            if (extent[0] == E) {
                for (int32_t i = 0; i < extent[1] * E; i++) out[(z - 1) * E * E + i] = c;
            } else {
                for (int32_t y = 0; y < extent[1]; y++)
                    for (int32_t x = 0; x < extent[0]; x++) out[((z - 1) * E + y) * E + x] = c;
            }
            if (c < 0.0f) totals->inside += (int64_t)extent[0] * extent[1];
            continue;
        }
        const int32_t from = z * P + H, count = whole_vectors(E * H), with_row_below = whole_vectors(count + H);
        for (int32_t y = 0; y < E; y++) {
            float *row = padded + from + y * H;
            memcpy(row + 1, speed + ((z - 1) * E + y) * E, (size_t)E * sizeof(float));
            row[0] = row[E + 1] = 0.0f;
        }
        for (int32_t i = E * H; i < count; i++) padded[from + i] = 0.0f;
        if (k->curvature != 0.0f) {
            faces(cube, from, count, 1, H, P, r[0], r[1], r[2], fx);
            fx[from - 1] = 0.0f;
            faces(cube, from - H, with_row_below, H, 1, P, r[1], r[0], r[2], fy);
            if (below != z - 1) faces(cube, from - P, count, P, 1, H, r[2], r[0], r[1], fz);
            faces(cube, from, count, P, 1, H, r[2], r[0], r[1], fz);
            below = z;
        }
        update_plane(cube, fx, fy, fz, padded, H, from, count, dt, k, fresh);
        uint32_t bits = count_plane(cube, fresh, padded, area, H, from, count, k->band, totals);
        areas |= bits << (z == 1 ? 0 : z == E ? 18 : 9);
        for (int32_t y = 0; y < extent[1]; y++) {
            const float *row = fresh + from + y * H + 1;
            float *to = out + ((z - 1) * E + y) * E;
            if (extent[0] == E) memcpy(to, row, (size_t)E * sizeof(float));
            else memcpy(to, row, (size_t)extent[0] * sizeof(float));
        }
    }
    return areas;
}

uint32_t TSR_ISA_NAME(tsr_step_tile)(int32_t E, const float *cube, const float *speed, const uint32_t *area, const int32_t extent[3], float dt,
                                     const tsr_segment_params *params, float *out, tsr_step_totals *totals)
{
    tsr_segment_params k = *params;
    int usual = !k.lumped && !k.godunov && (k.rescale_mode == TSR_RESCALE_PLAIN || k.rescale_mode == TSR_RESCALE_NONE);
    if (!usual || k.curvature == 0.0f) return step(E, cube, speed, area, extent, dt, &k, out, totals);
    k.lumped = 0; /* constants, so that the compiler makes straight-line vector code of the usual options */
    k.godunov = 0;
    if (k.rescale_mode == TSR_RESCALE_NONE) {
        return E == 8 ? step(8, cube, speed, area, extent, dt, &k, out, totals) : step(4, cube, speed, area, extent, dt, &k, out, totals);
    }
    k.rescale_mode = TSR_RESCALE_PLAIN;
    return E == 8 ? step(8, cube, speed, area, extent, dt, &k, out, totals) : step(4, cube, speed, area, extent, dt, &k, out, totals);
}
