/* reconstruct/potential_isa.c: many nodes, the 64 voxels of a block. A plane of 16 voxels is one vector that stays in registers while the nodes pass;
 * the part of the squared distance that all planes share is computed once per node. The same arithmetic in the same order as tsr_potential_at. */
#include "reconstruct/potential_isa.h"

#include "core/simd.h"

enum { LANES = TSR_WIDE_32, PARTS = 16 / LANES };
typedef tsr_wide_f32_at lanes;
typedef tsr_wide_u32_at bits;

static inline __attribute__((always_inline)) lanes reciprocal(lanes x)
{
    lanes y = (lanes)(0x7ef311c3u - (bits)x);
    y = y * (2.0f - x * y);
    y = y * (2.0f - x * y);
    return y * (2.0f - x * y);
}
static inline __attribute__((always_inline)) lanes term(float n, lanes d2, tsr_power power, float exponent)
{
    if (power == TSR_POWER_SQUARE) return n * reciprocal(d2);
    if (power == TSR_POWER_ROOT) return n * tsr_wide_rsqrt(d2);
    if (power == TSR_POWER_FOURTH) {
        lanes y = reciprocal(d2);
        return n * (y * y);
    }
    if (power == TSR_POWER_SIXTH) {
        lanes y = reciprocal(d2);
        return n * (y * y * y);
    }
    lanes t;
    for (int l = 0; l < LANES; l++) t[l] = tsr_potential_term(n, d2[l], TSR_POWER_ANY, exponent);
    return t;
}

/* Offsets of the 16 voxels of a plane. */
static inline __attribute__((always_inline)) void plane(float across, float along, lanes x[PARTS], lanes y[PARTS])
{
    for (int i = 0; i < 16; i++) {
        x[i / LANES][i % LANES] = ((float)(i & 3) - 1.5f) * across;
        y[i / LANES][i % LANES] = ((float)(i >> 2) - 1.5f) * along;
    }
}

static inline __attribute__((always_inline)) void potential(const tsr_seen *nodes, int32_t count, float epsilon2, tsr_power power, float exponent,
                                                            float *sum)
{
    lanes x[PARTS], y[PARTS];
    plane(1.0f, 1.0f, x, y);
    for (int32_t part = 0; part < PARTS; part++) {
        lanes total[4];
        for (int z = 0; z < 4; z++) memcpy(&total[z], sum + 16 * z + part * LANES, sizeof total[z]);
        for (int32_t i = 0; i < count; i++) {
            lanes dx = x[part] - nodes[i].x, dy = y[part] - nodes[i].y, xy = dx * dx + dy * dy;
            for (int z = 0; z < 4; z++) {
                float dz = ((float)z - 1.5f) - nodes[i].z;
                total[z] = total[z] + term(nodes[i].count, xy + (dz * dz + epsilon2), power, exponent);
            }
        }
        for (int z = 0; z < 4; z++) memcpy(sum + 16 * z + part * LANES, &total[z], sizeof total[z]);
    }
}

void TSR_ISA_NAME(tsr_potential_list)(const tsr_seen *nodes, int32_t count, const tsr_potential_params *k, float sum[TSR_BLOCK_VOXELS])
{
    switch (k->power) {
    case TSR_POWER_SQUARE: potential(nodes, count, k->epsilon2, TSR_POWER_SQUARE, k->exponent, sum); break;
    case TSR_POWER_ROOT: potential(nodes, count, k->epsilon2, TSR_POWER_ROOT, k->exponent, sum); break;
    case TSR_POWER_FOURTH: potential(nodes, count, k->epsilon2, TSR_POWER_FOURTH, k->exponent, sum); break;
    case TSR_POWER_SIXTH: potential(nodes, count, k->epsilon2, TSR_POWER_SIXTH, k->exponent, sum); break;
    default: potential(nodes, count, k->epsilon2, TSR_POWER_ANY, k->exponent, sum); break;
    }
}

void TSR_ISA_NAME(tsr_ball_list)(const tsr_seen *balls, int32_t count, float voxel, float least[TSR_BLOCK_VOXELS])
{
    lanes x[PARTS], y[PARTS];
    plane(voxel, voxel, x, y);
    for (int32_t part = 0; part < PARTS; part++) {
        for (int z = 0; z < 4; z++) {
            lanes best;
            memcpy(&best, least + 16 * z + part * LANES, sizeof best);
            for (int32_t i = 0; i < count; i++) {
                lanes dx = x[part] - balls[i].x, dy = y[part] - balls[i].y;
                float dz = ((float)z - 1.5f) * voxel - balls[i].z;
                lanes d2 = (dx * dx + dy * dy) + dz * dz, d = d2 * tsr_wide_rsqrt(d2) - balls[i].count;
                bits closer = (bits)(d < best);
                best = (lanes)(((bits)d & closer) | ((bits)best & ~closer));
            }
            memcpy(least + 16 * z + part * LANES, &best, sizeof best);
        }
    }
}

static inline __attribute__((always_inline)) void force(const tsr_seen *nodes, int32_t count, const tsr_potential_params *k, tsr_power power,
                                                        const float step[3], float *gradient)
{
    lanes x[PARTS], y[PARTS];
    plane(step[0], step[1], x, y);
    for (int32_t part = 0; part < PARTS; part++) {
        lanes g[3][4];
        for (int a = 0; a < 3; a++)
            for (int z = 0; z < 4; z++) memcpy(&g[a][z], gradient + TSR_BLOCK_VOXELS * a + 16 * z + part * LANES, sizeof g[a][z]);
        for (int32_t i = 0; i < count; i++) {
            lanes dx = x[part] - nodes[i].x, dy = y[part] - nodes[i].y, xy = dx * dx + dy * dy;
            for (int z = 0; z < 4; z++) {
                float dz = ((float)z - 1.5f) * step[2] - nodes[i].z;
                lanes d2 = xy + (dz * dz + k->epsilon2), f = term(nodes[i].count, d2, power, k->exponent) * reciprocal(d2);
                g[0][z] = g[0][z] - f * dx;
                g[1][z] = g[1][z] - f * dy;
                g[2][z] = g[2][z] - f * dz;
            }
        }
        for (int a = 0; a < 3; a++)
            for (int z = 0; z < 4; z++) memcpy(gradient + TSR_BLOCK_VOXELS * a + 16 * z + part * LANES, &g[a][z], sizeof g[a][z]);
    }
}

void TSR_ISA_NAME(tsr_attract_force_list)(const tsr_seen *nodes, int32_t count, const tsr_potential_params *k, const float step[3],
                                          float gradient[3][TSR_BLOCK_VOXELS])
{
    switch (k->power) {
    case TSR_POWER_SQUARE: force(nodes, count, k, TSR_POWER_SQUARE, step, gradient[0]); break;
    case TSR_POWER_ROOT: force(nodes, count, k, TSR_POWER_ROOT, step, gradient[0]); break;
    case TSR_POWER_FOURTH: force(nodes, count, k, TSR_POWER_FOURTH, step, gradient[0]); break;
    case TSR_POWER_SIXTH: force(nodes, count, k, TSR_POWER_SIXTH, step, gradient[0]); break;
    default: force(nodes, count, k, TSR_POWER_ANY, step, gradient[0]); break;
    }
}

void TSR_ISA_NAME(tsr_attract_near_list)(const tsr_seen *nodes, int32_t count, const float step[3], float spread, float least[TSR_BLOCK_VOXELS])
{
    lanes x[PARTS], y[PARTS];
    plane(step[0], step[1], x, y);
    for (int32_t part = 0; part < PARTS; part++) {
        lanes best[4];
        for (int z = 0; z < 4; z++) memcpy(&best[z], least + 16 * z + part * LANES, sizeof best[z]);
        for (int32_t i = 0; i < count; i++) {
            lanes dx = x[part] - nodes[i].x, dy = y[part] - nodes[i].y, xy = dx * dx + dy * dy;
            for (int z = 0; z < 4; z++) {
                float dz = ((float)z - 1.5f) * step[2] - nodes[i].z;
                lanes d = (xy + dz * dz) + spread;
                bits closer = (bits)(d < best[z]);
                best[z] = (lanes)(((bits)d & closer) | ((bits)best[z] & ~closer));
            }
        }
        for (int z = 0; z < 4; z++) memcpy(least + 16 * z + part * LANES, &best[z], sizeof best[z]);
    }
}
