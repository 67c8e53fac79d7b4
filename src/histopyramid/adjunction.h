/* histopyramid/adjunction.h: one voxel of a morphological pyramid: erosion and subsampling, upsampling and dilation (docs/theory/mip.md 1, 2). Samples outside a
 * level are skipped. */
#ifndef TSR_HISTOPYRAMID_ADJUNCTION_H
#define TSR_HISTOPYRAMID_ADJUNCTION_H

#include "core/hd.h"
#include "tessera/mip.h"

typedef struct tsr_adjunction {
    int32_t levels, bytes; /* reductions; of a value, 1 or 2 */
    int32_t cube2, points; /* cube2: A = {0,1}^3 */
    int8_t point[TSR_MIP_POINTS][4];
    int32_t size[TSR_MIP_LEVELS + 1][3];
    void *level[TSR_MIP_LEVELS + 1]; /* f_j, while they exist */
    void *code[TSR_MIP_LEVELS + 1];  /* what is stored as residual instead; NULL: the residual */
    int32_t same;                    /* or all are 1 */
} tsr_adjunction;

TSR_HD int64_t tsr_adjunction_index(const int32_t size[3], int32_t x, int32_t y, int32_t z) { return ((int64_t)z * size[1] + y) * size[0] + x; }
TSR_HD int64_t tsr_adjunction_cells(const int32_t size[3]) { return (int64_t)size[0] * size[1] * size[2]; }
TSR_HD int tsr_adjunction_within(const int32_t size[3], int32_t x, int32_t y, int32_t z)
{
    return (uint32_t)x < (uint32_t)size[0] && (uint32_t)y < (uint32_t)size[1] && (uint32_t)z < (uint32_t)size[2];
}
TSR_HD uint32_t tsr_adjunction_load(const void *data, int32_t bytes, int64_t i)
{
    return bytes == 1 ? ((const uint8_t *)data)[i] : ((const uint16_t *)data)[i];
}
TSR_HD void tsr_adjunction_store(void *data, int32_t bytes, int64_t i, uint32_t v)
{
    if (bytes == 1) ((uint8_t *)data)[i] = (uint8_t)v;
    else ((uint16_t *)data)[i] = (uint16_t)v;
}

/* The erosion of f_j by A. */
TSR_HD uint32_t tsr_adjunction_erode(const tsr_adjunction *a, int32_t j, int32_t x, int32_t y, int32_t z)
{
    uint32_t least = a->bytes == 1 ? 255u : 65535u, found = 0;
    for (int32_t k = 0; k < a->points; k++) {
        const int32_t px = x + a->point[k][0], py = y + a->point[k][1], pz = z + a->point[k][2];
        if (!tsr_adjunction_within(a->size[j], px, py, pz)) continue;
        const uint32_t v = tsr_adjunction_load(a->level[j], a->bytes, tsr_adjunction_index(a->size[j], px, py, pz));
        least = v < least ? v : least;
        found = 1;
    }
    return found ? least : 0u; /* an element away from its centre may miss the level */
}
/* f_{j+1}(x, y, z). */
TSR_HD uint32_t tsr_adjunction_reduce(const tsr_adjunction *a, int32_t j, int32_t x, int32_t y, int32_t z)
{
    return tsr_adjunction_erode(a, j, 2 * x, 2 * y, 2 * z);
}
/* The dilation of f_j by A. */
TSR_HD uint32_t tsr_adjunction_dilate(const tsr_adjunction *a, int32_t j, int32_t x, int32_t y, int32_t z)
{
    uint32_t most = 0;
    for (int32_t k = 0; k < a->points; k++) {
        const int32_t px = x - a->point[k][0], py = y - a->point[k][1], pz = z - a->point[k][2];
        if (!tsr_adjunction_within(a->size[j], px, py, pz)) continue;
        const uint32_t v = tsr_adjunction_load(a->level[j], a->bytes, tsr_adjunction_index(a->size[j], px, py, pz));
        most = v > most ? v : most;
    }
    return most;
}

/* Expansion of f_{j+1} at (x, y, z) of level j: the largest of the f_{j+1}(n) with (x, y, z) = 2 n + a, a in A. */
TSR_HD uint32_t tsr_adjunction_expand(const tsr_adjunction *a, int32_t j, int32_t x, int32_t y, int32_t z)
{
    const int32_t *size = a->size[j + 1];
    uint32_t most = 0;
    if (a->cube2) return tsr_adjunction_load(a->level[j + 1], a->bytes, tsr_adjunction_index(size, x >> 1, y >> 1, z >> 1));
    for (int32_t k = 0; k < a->points; k++) {
        const int32_t px = x - a->point[k][0], py = y - a->point[k][1], pz = z - a->point[k][2];
        if (((px | py | pz) & 1) || !tsr_adjunction_within(size, px >> 1, py >> 1, pz >> 1)) continue;
        const uint32_t v = tsr_adjunction_load(a->level[j + 1], a->bytes, tsr_adjunction_index(size, px >> 1, py >> 1, pz >> 1));
        most = v > most ? v : most;
    }
    return most;
}

/* d_j at a voxel, 0 if there is none; *residual = what it exceeds the expansion by. */
TSR_HD uint32_t tsr_adjunction_detail(const tsr_adjunction *a, int32_t j, int32_t x, int32_t y, int32_t z, uint32_t *residual)
{
    const uint32_t v = tsr_adjunction_load(a->level[j], a->bytes, tsr_adjunction_index(a->size[j], x, y, z));
    const uint32_t s = j < a->levels && v ? tsr_adjunction_expand(a, j, x, y, z) : 0u;
    *residual = v - s;
    return v > s ? v : 0u;
}

#endif
