/* levelset/levelset_isa.c: the vector loops of a step on the CPU.
 *
 * Rows of the cube are one after another, so a plane is one long run of lanes: the two halo columns are computed, too, and thrown away. Each face
 * normal is computed once and serves the voxels on both sides. The same arithmetic in the same order as tsr_levelset_update. */
#include <string.h>

#include "levelset/levelset_step.h"

enum { CELLS = 10 * 10 * 10 + 32 };

static inline __attribute__((always_inline)) void faces(const float *cube, int32_t from, int32_t count, int32_t s, int32_t t, int32_t u, float rs, float rt,
                                                        float ru, float *out)
{
    const float *p = cube + from;
    float *to = out + from;
#pragma omp simd
    for (int32_t i = 0; i < count; i++) to[i] = tsr_face_normal(p + i, s, t, u, rs, rt, ru);
}

/* One plane of cells from `from`: new values, and the totals of the cells whose area bit is not 0. */
static inline __attribute__((always_inline)) uint32_t update_plane(const float *cube, const float *fx, const float *fy, const float *fz, const float *speed,
                                                                   const uint32_t *area, int32_t H, int32_t from, int32_t count, float dt,
                                                                   const tsr_levelset_params *k, float *fresh, tsr_step_totals *totals)
{
    const float *r = k->inverse_spacing, band = k->band, inverse_band = 1.0f / k->band;
    const int curved = k->curvature != 0.0f;
    int32_t active = 0, inside = 0;
    uint32_t bits = 0;
    uint64_t change = 0;
    float largest = totals->speed;
#pragma omp simd reduction(+ : active, inside, change) reduction(| : bits) reduction(max : largest)
    for (int32_t j = 0; j < count; j++) {
        int32_t i = from + j;
        const float *p = cube + i;
        float x = fx[i] - fx[i - 1], y = fy[i] - fy[i - H], z = fz[i] - fz[i - H * H];
        float curvature = curved ? (x * r[0] + y * r[1]) + z * r[2] : 0.0f;
        float v = tsr_levelset_apply(p, H, H * H, speed[i], curvature, dt, k);
        int32_t counted = area[j] != 0, in_band = (v > -band) & (v < band) & counted;
        fresh[i] = v;
        bits |= in_band | tsr_sign_change(p, H, H * H) ? area[j] : 0u;
        active += in_band;
        inside += (v < 0.0f) & counted;
        uint32_t moved = tsr_levelset_change(p[0], v, inverse_band);
        change += counted ? moved : 0u;
        float f = tsr_absf(speed[i]);
        f = in_band ? f : 0.0f;
        largest = f > largest ? f : largest;
    }
    totals->active += active;
    totals->inside += inside;
    totals->change += change;
    totals->speed = largest;
    return bits;
}

/* All cells of three planes equal and saturated: nothing moves in the middle one. */
static inline int planes_flat(const float *cube, int32_t H, int32_t z, float band)
{
    const float *p = cube + (z - 1) * H * H;
    float c = p[0];
    int different = 0;
    if (c != band && c != -band) return 0;
#pragma omp simd reduction(| : different)
    for (int32_t i = 0; i < 3 * H * H; i++) different |= p[i] != c;
    return !different;
}

static inline __attribute__((always_inline)) uint32_t step(int32_t E, const float *cube, const float *speed, const uint32_t *area, const int32_t extent[3], float dt,
                                                           const tsr_levelset_params *k, float *out, tsr_step_totals *totals)
{
    _Alignas(64) float fx[CELLS], fy[CELLS], fz[CELLS], fresh[CELLS], padded[CELLS];
    const int32_t H = E + 2, P = H * H;
    const float *r = k->inverse_spacing;
    uint32_t areas = 0;
    int32_t below = -1; /* plane whose upper face normals are known */
    for (int32_t z = 1; z <= extent[2]; z++) {
        if (planes_flat(cube, H, z, k->band)) {
            float c = cube[z * P];
            for (int32_t y = 0; y < extent[1]; y++)
                for (int32_t x = 0; x < extent[0]; x++) out[((z - 1) * E + y) * E + x] = c;
            if (c < 0.0f) totals->inside += (int64_t)extent[0] * extent[1];
            continue;
        }
        const int32_t from = z * P + H, count = E * H;
        for (int32_t y = 0; y < E; y++) {
            float *row = padded + from + y * H;
            memcpy(row + 1, speed + ((z - 1) * E + y) * E, (size_t)E * sizeof(float));
            row[0] = row[E + 1] = 0.0f;
        }
        if (k->curvature != 0.0f) {
            faces(cube, from, count, 1, H, P, r[0], r[1], r[2], fx);
            fx[from - 1] = 0.0f;
            faces(cube, from - H, count + H, H, 1, P, r[1], r[0], r[2], fy);
            if (below != z - 1) faces(cube, from - P, count, P, 1, H, r[2], r[0], r[1], fz);
            faces(cube, from, count, P, 1, H, r[2], r[0], r[1], fz);
            below = z;
        }
        uint32_t bits = update_plane(cube, fx, fy, fz, padded, area, H, from, count, dt, k, fresh, totals);
        areas |= bits << (z == 1 ? 0 : z == E ? 18 : 9);
        for (int32_t y = 0; y < extent[1]; y++) memcpy(out + ((z - 1) * E + y) * E, fresh + from + y * H + 1, (size_t)extent[0] * sizeof(float));
    }
    return areas;
}

uint32_t TSR_ISA_NAME(tsr_step_tile)(int32_t E, const float *cube, const float *speed, const uint32_t *area, const int32_t extent[3], float dt,
                                     const tsr_levelset_params *params, float *out, tsr_step_totals *totals)
{
    tsr_levelset_params k = *params;
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
