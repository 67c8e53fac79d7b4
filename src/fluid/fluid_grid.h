/* fluid/fluid_grid.h: the bilateral grid [CPD] of a depth image: cells of `cell` x `cell` pixels and one sigma of depth. Counts and whole units are
 * summed, so that the order of the pixels has no say; the rest is gathered in one order on every backend. docs/theory/fluid.md 5. */
#ifndef TSR_FLUID_FLUID_GRID_H
#define TSR_FLUID_FLUID_GRID_H

#include "fluid/fluid_view.h"

enum {
    TSR_FLUID_GRID_DEEP = 128,   /* cells along z: surfaces farther behind the nearest stay as they are */
    TSR_FLUID_GRID_UNITS = 4096, /* of the place within a cell */
    TSR_FLUID_GRID_LEAST = 4,    /* pixels along the side of a cell */
    TSR_FLUID_GRID_MOST = 256,
    TSR_FLUID_GRID_CELLS = 1 << 24 /* in all: 1920 x 1080 with the least of cells */
};

/* Pixels in a cell: how many, and their places within it along z, in units. */
typedef struct tsr_fluid_pixels_in {
    uint32_t count, place;
} tsr_fluid_pixels_in;
/* The same after blurring: weight, and weighted place along z in cells from the nearest surface on. */
typedef struct tsr_fluid_weighted {
    float weight, place;
} tsr_fluid_weighted;

typedef struct tsr_fluid_grid_job {
    tsr_fluid_view view;
    float *depth;         /* padded image, smoothed in place */
    float nearest, sigma; /* where cells begin along z, and how deep they are */
    int32_t cell;         /* pixels */
    int32_t wide, high;   /* cells; TSR_FLUID_GRID_DEEP along z, which is the fastest axis */
    tsr_fluid_pixels_in *pixels;
    tsr_fluid_weighted *blurred[2];
    int32_t iterations;
} tsr_fluid_grid_job;

TSR_HD int64_t tsr_fluid_grid_at(const tsr_fluid_grid_job *j, int32_t x, int32_t y, int32_t z)
{
    return ((int64_t)y * j->wide + x) * TSR_FLUID_GRID_DEEP + z;
}

/* Place of a depth in cells; *z is the cell, -1: none. */
TSR_HD float tsr_fluid_grid_place(const tsr_fluid_grid_job *j, float depth, int32_t *z)
{
    const float place = (depth - j->nearest) / j->sigma;
    *z = place >= 0.0f && place < (float)TSR_FLUID_GRID_DEEP ? tsr_floor_int(place) : -1;
    return place;
}
TSR_HD uint32_t tsr_fluid_grid_units(float place, int32_t z) { return (uint32_t)tsr_floor_int((place - (float)z) * (float)TSR_FLUID_GRID_UNITS); }

TSR_HD tsr_fluid_weighted tsr_fluid_grid_weighted(const tsr_fluid_pixels_in *p, int32_t z)
{
    const float n = (float)p->count;
    const tsr_fluid_weighted w = { n, (float)p->place * (1.0f / (float)TSR_FLUID_GRID_UNITS) + n * (float)z };
    return w;
}

/* (1 4 6 4 1): the binomial of variance 1, without its factor, which the quotient of place and weight does not need. */
TSR_HD float tsr_fluid_grid_five(float a, float b, float c, float d, float e) { return (a + e) + 4.0f * (b + d) + 6.0f * c; }

/* Cell z of a column along z, or none beyond its ends. */
TSR_HD tsr_fluid_weighted tsr_fluid_grid_cell(const tsr_fluid_pixels_in *column, int32_t z)
{
    const tsr_fluid_weighted none = { 0.0f, 0.0f };
    return z >= 0 && z < TSR_FLUID_GRID_DEEP ? tsr_fluid_grid_weighted(&column[z], z) : none;
}
TSR_HD tsr_fluid_weighted tsr_fluid_grid_blurred(const tsr_fluid_weighted v[5])
{
    const tsr_fluid_weighted w = { tsr_fluid_grid_five(v[0].weight, v[1].weight, v[2].weight, v[3].weight, v[4].weight),
                                   tsr_fluid_grid_five(v[0].place, v[1].place, v[2].place, v[3].place, v[4].place) };
    return w;
}

/* Smoothed depth of the pixel: linear between the eight cells around it. */
TSR_HD float tsr_fluid_grid_slice(const tsr_fluid_grid_job *j, const tsr_fluid_weighted *from, int32_t x, int32_t y)
{
    const float own = j->depth[tsr_fluid_at(&j->view, x, y)];
    int32_t z;
    const float place = tsr_fluid_grid_place(j, own, &z);
    if (!(own < TSR_FLUID_NOTHING) || z < 0) return own;
    const float at[3] = { ((float)x + 0.5f) / (float)j->cell - 0.5f, ((float)y + 0.5f) / (float)j->cell - 0.5f, place - 0.5f };
    const int32_t extent[3] = { j->wide, j->high, TSR_FLUID_GRID_DEEP };
    int32_t low[3];
    float share[3], weight = 0.0f, sum = 0.0f;
    for (int32_t k = 0; k < 3; k++) {
        low[k] = tsr_floor_int(at[k]);
        share[k] = at[k] - (float)low[k];
    }
    for (int32_t corner = 0; corner < 8; corner++) {
        int32_t c[3], within = 1;
        float w = 1.0f;
        for (int32_t k = 0; k < 3; k++) {
            const int32_t upper = corner >> k & 1;
            c[k] = low[k] + upper;
            within &= c[k] >= 0 && c[k] < extent[k];
            w = w * (upper ? share[k] : 1.0f - share[k]);
        }
        if (!within) continue;
        const tsr_fluid_weighted *cell = &from[tsr_fluid_grid_at(j, c[0], c[1], c[2])];
        weight += w * cell->weight;
        sum += w * cell->place;
    }
    return weight > 0.0f ? j->nearest + j->sigma * (sum / weight) : own;
}

#endif
