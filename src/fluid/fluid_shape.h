/* fluid/fluid_shape.h: ellipsoids that follow the surface, after Yu and Turk, "Reconstructing surfaces of particle-based fluids using anisotropic kernels", 2013: a particle's
 * axes are those of the weighted covariance of its neighbours, its place is drawn towards their mean. */
#ifndef TSR_FLUID_SHAPE_H
#define TSR_FLUID_SHAPE_H

#include "fluid/fluid_view.h"

/* Neighbours are found by a hash of cells as wide as their reach. */
typedef struct tsr_fluid_shape_job {
    const float *positions;          /* [count][3] */
    uint32_t *keys, *numbers;        /* [count]: hash of the cell, own number (keys); both sorted by the hash after */
    uint32_t *first, *last;          /* [mask + 1]: where a hash begins and ends in the sorted list; zeroed before */
    float *places, *shapes;          /* [count][3], [count][6] */
    int32_t count, fewest;           /* particles with fewer neighbours stay spheres */
    uint32_t mask;
    float reach, inverse;            /* and its inverse */
    float pull;                      /* share of the way to the mean */
    float longest;                   /* most that the longest axis exceeds the shortest */
} tsr_fluid_shape_job;

TSR_HD int tsr_fluid_cell(const tsr_fluid_shape_job *j, const float *p, int32_t cell[3])
{
    int good = 1;
    for (int32_t k = 0; k < 3; k++) {
        const float at = p[k] * j->inverse;
        const int in = at > -1.0e9f && at < 1.0e9f; /* no NaN */
        cell[k] = in ? tsr_floor_int(at) : 0;
        good &= in;
    }
    return good;
}
TSR_HD uint32_t tsr_fluid_cell_key(const tsr_fluid_shape_job *j, const int32_t cell[3])
{
    uint32_t h = (uint32_t)cell[0] * 0x9e3779b1u ^ (uint32_t)cell[1] * 0x85ebca6bu ^ (uint32_t)cell[2] * 0xc2b2ae35u;
    h ^= h >> 15;
    h *= 0x2c1b3c6du;
    h ^= h >> 13;
    return h & j->mask;
}
TSR_HD void tsr_fluid_key_particle(const tsr_fluid_shape_job *j, int32_t i)
{
    int32_t cell[3];
    tsr_fluid_cell(j, j->positions + 3 * (int64_t)i, cell);
    j->keys[i] = tsr_fluid_cell_key(j, cell);
    j->numbers[i] = (uint32_t)i;
}
TSR_HD void tsr_fluid_range_particle(const tsr_fluid_shape_job *j, int32_t i)
{
    const uint32_t key = j->keys[i];
    if (i == 0 || j->keys[i - 1] != key) j->first[key] = (uint32_t)i;
    if (i == j->count - 1 || j->keys[i + 1] != key) j->last[key] = (uint32_t)i + 1u;
}

/* Turns axes p, q of the symmetric matrix a so that a[p][q] vanishes; v gathers the turns. */
TSR_HD void tsr_fluid_jacobi(float a[3][3], float v[3][3], int32_t p, int32_t q)
{
    if (tsr_absf(a[p][q]) < 1.0e-12f) return;
    const float theta = (a[q][q] - a[p][p]) / (2.0f * a[p][q]);
    const float t = (theta < 0.0f ? -1.0f : 1.0f) / (tsr_absf(theta) + tsr_sqrt(theta * theta + 1.0f)), c = tsr_rsqrt(t * t + 1.0f), s = t * c;
    for (int32_t k = 0; k < 3; k++) {
        const float kp = a[k][p], kq = a[k][q];
        a[k][p] = c * kp - s * kq;
        a[k][q] = s * kp + c * kq;
    }
    for (int32_t k = 0; k < 3; k++) {
        const float pk = a[p][k], qk = a[q][k], vp = v[k][p], vq = v[k][q];
        a[p][k] = c * pk - s * qk;
        a[q][k] = s * pk + c * qk;
        v[k][p] = c * vp - s * vq;
        v[k][q] = s * vp + c * vq;
    }
}

/* Q of an ellipsoid with the covariance's axes, lengths by the roots of its eigenvalues, of the volume of the unit ball. m = xx, yy, zz, xy, xz, yz. */
TSR_HD void tsr_fluid_ellipsoid_of(const float m[6], float longest, float q[6])
{
    const float trace = m[0] + m[1] + m[2], unit = trace > 1.0e-30f ? 1.0f / trace : 0.0f;
    float a[3][3] = { { m[0] * unit, m[3] * unit, m[4] * unit }, { m[3] * unit, m[1] * unit, m[5] * unit }, { m[4] * unit, m[5] * unit, m[2] * unit } };
    float v[3][3] = { { 1.0f, 0.0f, 0.0f }, { 0.0f, 1.0f, 0.0f }, { 0.0f, 0.0f, 1.0f } }, e[3];
    for (int32_t sweep = 0; sweep < 5; sweep++) {
        tsr_fluid_jacobi(a, v, 0, 1);
        tsr_fluid_jacobi(a, v, 0, 2);
        tsr_fluid_jacobi(a, v, 1, 2);
    }
    const float most = tsr_maxf(a[0][0], tsr_maxf(a[1][1], a[2][2])), least = tsr_maxf(most / (longest * longest), 1.0e-12f);
    for (int32_t k = 0; k < 3; k++) e[k] = tsr_maxf(a[k][k], least);
    const float volume = tsr_powf(e[0] * e[1] * e[2], 1.0f / 3.0f); /* squared lengths are e / volume */
    for (int32_t k = 0; k < 3; k++) e[k] = volume / e[k];
    q[0] = e[0] * v[0][0] * v[0][0] + e[1] * v[0][1] * v[0][1] + e[2] * v[0][2] * v[0][2];
    q[1] = e[0] * v[1][0] * v[1][0] + e[1] * v[1][1] * v[1][1] + e[2] * v[1][2] * v[1][2];
    q[2] = e[0] * v[2][0] * v[2][0] + e[1] * v[2][1] * v[2][1] + e[2] * v[2][2] * v[2][2];
    q[3] = e[0] * v[0][0] * v[1][0] + e[1] * v[0][1] * v[1][1] + e[2] * v[0][2] * v[1][2];
    q[4] = e[0] * v[0][0] * v[2][0] + e[1] * v[0][1] * v[2][1] + e[2] * v[0][2] * v[2][2];
    q[5] = e[0] * v[1][0] * v[2][0] + e[1] * v[1][1] * v[2][1] + e[2] * v[1][2] * v[2][2];
}

/* Particle `i`: sums over the neighbours within reach, in the order of cells and of the sorted list. All relative to the particle, so that float32 is enough. */
TSR_HD void tsr_fluid_shape_particle(const tsr_fluid_shape_job *j, int32_t i)
{
    const float *p = j->positions + 3 * (int64_t)i;
    float *place = j->places + 3 * (int64_t)i, *q = j->shapes + 6 * (int64_t)i;
    int32_t cell[3], count = 0;
    const int good = tsr_fluid_cell(j, p, cell);
    float weights = 0.0f, mean[3] = { 0.0f, 0.0f, 0.0f }, m[6] = { 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f };
    for (int32_t k = 0; k < 3; k++) place[k] = p[k];
    for (int32_t k = 0; k < 6; k++) q[k] = k < 3 ? 1.0f : 0.0f;
    for (int32_t n = 0; good && n < 27; n++) {
        const int32_t other[3] = { cell[0] + n % 3 - 1, cell[1] + n / 3 % 3 - 1, cell[2] + n / 9 - 1 };
        const uint32_t key = tsr_fluid_cell_key(j, other), end = j->last[key];
        for (uint32_t at = j->first[key]; at < end; at++) {
            const float *r = j->positions + 3 * (int64_t)j->numbers[at];
            int32_t its[3];
            if (!tsr_fluid_cell(j, r, its) || its[0] != other[0] || its[1] != other[1] || its[2] != other[2]) continue; /* of another cell of the same hash */
            const float d[3] = { r[0] - p[0], r[1] - p[1], r[2] - p[2] };
            const float share2 = (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]) * (j->inverse * j->inverse);
            if (!(share2 < 1.0f)) continue;
            const float w = 1.0f - share2 * tsr_sqrt(share2);
            count++;
            weights += w;
            for (int32_t k = 0; k < 3; k++) mean[k] += w * d[k];
            m[0] += w * (d[0] * d[0]);
            m[1] += w * (d[1] * d[1]);
            m[2] += w * (d[2] * d[2]);
            m[3] += w * (d[0] * d[1]);
            m[4] += w * (d[0] * d[2]);
            m[5] += w * (d[1] * d[2]);
        }
    }
    if (count < j->fewest) return;
    const float per = 1.0f / weights; /* its own weight is 1 */
    for (int32_t k = 0; k < 3; k++) {
        mean[k] *= per;
        place[k] = p[k] + j->pull * mean[k];
    }
    const float c[6] = { m[0] * per - mean[0] * mean[0], m[1] * per - mean[1] * mean[1], m[2] * per - mean[2] * mean[2],
                         m[3] * per - mean[0] * mean[1], m[4] * per - mean[0] * mean[2], m[5] * per - mean[1] * mean[2] };
    tsr_fluid_ellipsoid_of(c, j->longest, q);
}

#endif
