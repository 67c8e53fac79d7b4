/* mesh/voxelize_batch.h: some triangles at a time, the lanes of vectors, for the passes over a mesh and over the tiles that it touches: frames are made where they are
 * wanted, which takes less than to keep and fetch them. Loops over lanes stand without omp simd, which would keep their small arrays in memory: compilers make
 * vectors of them unasked. */
#ifndef TSR_MESH_VOXELIZE_BATCH_H
#define TSR_MESH_VOXELIZE_BATCH_H

#include "mesh/voxelize_isa.h"

enum { TSR_VOX_BATCH = 16 };

struct tsr_vox_batch {
    int32_t count; /* lanes beyond repeat the last triangle */
    uint32_t vertex[3][TSR_VOX_BATCH];
    double corner[3][3][TSR_VOX_BATCH]; /* local */
    tsr_vox_triangle triangle[TSR_VOX_BATCH];
    double centre[3][TSR_VOX_BATCH]; /* of triangle[] */
    float radius[TSR_VOX_BATCH];
    int32_t lower[3][TSR_VOX_BATCH]; /* first tile of each box */
    int32_t more[TSR_VOX_BATCH];     /* how many more there are along the axes; or-ed */
    uint32_t mask[TSR_VOX_BATCH];    /* of tsr_vox_few, where that is at most one along each */
};

/* The corners of the triangles [first, end) that are listed; NULL: of all triangles. */
static inline void tsr_vox_batch_set(const tsr_vox_grid *g, const uint32_t *list, int64_t first, int64_t end, struct tsr_vox_batch *b)
{
    float at[3][3][TSR_VOX_BATCH];
    const tsr_vox_grid own = *g;
    b->count = (int32_t)tsr_minl(end - first, TSR_VOX_BATCH);
    for (int32_t l = 0; l < TSR_VOX_BATCH; l++) {
        const int64_t i = first + tsr_mini(l, b->count - 1), triangle = list ? (int64_t)list[i] : i;
        for (int32_t k = 0; k < 3; k++) {
            b->vertex[k][l] = g->corner[3 * triangle + k];
            for (int32_t r = 0; r < 3; r++) at[k][r][l] = g->vertex[3 * (int64_t)b->vertex[k][l] + r];
        }
    }
    for (int32_t k = 0; k < 3; k++)
        for (int32_t l = 0; l < TSR_VOX_BATCH; l++) {
            const float vertex[3] = { at[k][0][l], at[k][1][l], at[k][2][l] };
            double p[3];
            tsr_vox_locate(&own, vertex, p);
            for (int32_t r = 0; r < 3; r++) b->corner[k][r][l] = p[r];
        }
}
/* A lane as p[3][3]. */
#define TSR_VOX_CORNER(b, k, l)                                                  \
    {                                                                    \
        (b)->corner[k][0][l], (b)->corner[k][1][l], (b)->corner[k][2][l] \
    }
#define TSR_VOX_CORNERS(b, l)                                     \
    {                                                     \
        TSR_VOX_CORNER(b, 0, l), TSR_VOX_CORNER(b, 1, l), TSR_VOX_CORNER(b, 2, l) \
    }

static inline void tsr_vox_batch_frames(struct tsr_vox_batch *b)
{
    for (int32_t l = 0; l < TSR_VOX_BATCH; l++) {
        const double p[3][3] = TSR_VOX_CORNERS(b, l);
        tsr_vox_frame(p, &b->triangle[l]);
        for (int32_t r = 0; r < 3; r++) b->centre[r][l] = b->triangle[l].centre[r];
        b->radius[l] = b->triangle[l].radius;
    }
}

#endif
