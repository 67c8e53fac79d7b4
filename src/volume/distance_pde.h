/* volume/distance_pde.h: one voxel of the two evolutions that make a level set a distance (docs/theory/distance.md 2). |grad phi| is taken toward the surface: of
 * each axis the steeper of the differences to neighbours of smaller |phi|. Neighbours outside the volume are skipped. */
#ifndef TSR_VOLUME_DISTANCE_PDE_H
#define TSR_VOLUME_DISTANCE_PDE_H

#include <math.h>

#include "core/hd.h"

typedef struct tsr_distance_pde_job {
    int64_t size[3];
    float inverse[3]; /* 1 / spacing */
    float step, band;
    int32_t source;      /* != 0: phi |grad phi| (1 - |grad phi|), else sign(phi) (1 - |grad phi|) beside the locked voxels */
    const float *from;   /* phi */
    const float *locked; /* distance of voxels beside the surface, INFINITY elsewhere */
    float *to;
    uint32_t *change; /* bits of the largest |change|: not negative, so that they order as the numbers do */
} tsr_distance_pde_job;

TSR_HD int tsr_distance_pde_sides(const tsr_distance_pde_job *j, const float *phi, int64_t i, const int64_t at[3], int axis, float *low, float *high)
{
    const int64_t stride = axis == 0 ? 1 : axis == 1 ? j->size[0] : j->size[0] * j->size[1];
    const int below = at[axis] > 0, above = at[axis] + 1 < j->size[axis];
    *low = below ? phi[i - stride] : phi[i];
    *high = above ? phi[i + stride] : phi[i];
    return below + above;
}

/* Of a voxel with a neighbour of the other sign: phi / |grad phi| from the steepest difference of each axis, at most the distance to a crossing along an axis. */
TSR_HD float tsr_distance_pde_lock(const tsr_distance_pde_job *j, int64_t i, const int64_t at[3])
{
    const float v = j->from[i];
    float sum = 0.0f, nearest = INFINITY;
    for (int k = 0; k < 3; k++) {
        float low, high;
        const int sides = tsr_distance_pde_sides(j, j->from, i, at, k, &low, &high);
        if (!sides) continue;
        const float middle = (high - low) / (float)sides, down = v - low, up = high - v;
        float steep = fabsf(middle) > fabsf(down) ? middle : down;
        steep = fabsf(steep) > fabsf(up) ? steep : up;
        sum += steep * j->inverse[k] * (steep * j->inverse[k]);
        if ((low < 0.0f) != (v < 0.0f)) nearest = fminf(nearest, v / (v - low) / j->inverse[k]);
        if ((high < 0.0f) != (v < 0.0f)) nearest = fminf(nearest, v / (v - high) / j->inverse[k]);
    }
    if (nearest == INFINITY) return INFINITY;
    const float d = sum > 0.0f ? fminf(fabsf(v) / sqrtf(sum), nearest) : nearest;
    return v < 0.0f ? -d : d;
}

TSR_HD float tsr_distance_pde_voxel(const tsr_distance_pde_job *j, int64_t i, const int64_t at[3])
{
    const float v = j->from[i], sign = v < 0.0f ? -1.0f : 1.0f;
    float sum = 0.0f, to;
    if (!j->source && j->locked[i] != INFINITY) return j->locked[i];
    for (int k = 0; k < 3; k++) {
        float low, high;
        tsr_distance_pde_sides(j, j->from, i, at, k, &low, &high);
        const float steep = fmaxf(fmaxf(sign * (v - low), sign * (v - high)), 0.0f) * j->inverse[k];
        sum += steep * steep;
    }
    const float slope = sqrtf(sum);
    to = v + j->step * (j->source ? v * slope * (1.0f - slope) : sign * (1.0f - slope));
    to = sign * fmaxf(sign * to, 0.0f); /* the surface does not move */
    return fminf(fmaxf(to, -j->band), j->band);
}

#endif
