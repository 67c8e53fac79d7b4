/* light/first_wave.h: a light becomes patches. */
#ifndef TSR_LIGHT_FIRST_WAVE_H
#define TSR_LIGHT_FIRST_WAVE_H

#include "light/light.h"

/* A light's frame: cells of the plane (directional) or of six faces of a cube (others) are split until they are small. */
typedef struct tsr_light_emission {
    const tsr_light_source *light;
    const tsr_light_wave *wave;
    double at[3], d[3], across[3], up[3]; /* voxels; unit vectors */
    double plane, radius, size, centre[3], reach; /* where waves start; the cell size that is small enough; middle and half diagonal of the volume */
    double edge;       /* of the square that a mask covers: half, voxels or tangent */
    int within, splits_mask;
    int32_t colors;    /* 1 or 3 wavefronts */
    double power[3];   /* of all */
    float *words[2];   /* patches that meet the volume, and those that go to the floor */
    int64_t count[2], room[2];
} tsr_light_emission;

/* Appends all patches of e->light, `grid` along an edge of the volume. */
tsr_status tsr_light_emit(tsr_light_emission *e, const tsr_light_matter *m, int32_t grid);

#endif
