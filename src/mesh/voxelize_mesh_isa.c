/* mesh/voxelize_mesh_isa.c: the passes over the mesh, a block of triangles at a time: the lanes of vectors. Loops over lanes stand without omp simd, which
 * would keep their small arrays in memory: compilers make vectors of them unasked. */
#include "mesh/voxelize_batch.h"

/* Tiles in the triangle's box, or 0 where there are more than a mask holds. */
static int32_t small_box(const tsr_vox_grid *g, const double p[3][3], tsr_vox_box *box)
{
    int64_t tiles = 1;
    tsr_vox_bound(g, p, box);
    for (int k = 0; k < 3; k++) {
        if (box->upper[k] < box->lower[k] || box->upper[k] - box->lower[k] >= TSR_VOX_SMALL) return 0;
        tiles *= box->upper[k] - box->lower[k] + 1;
    }
    return tiles <= TSR_VOX_SMALL ? (int32_t)tiles : 0;
}

/* tsr_vox_tiles with a memory; the closer looks are left out. */
static tsr_vox_few look(const tsr_vox_grid *g, const tsr_vox_triangle *t, const double p[3][3])
{
    tsr_vox_box box;
    float outside[3][TSR_VOX_SMALL];
    int32_t bit = 0, tile[3];
    tsr_vox_few few = { .mask = 0 };
    if (!small_box(g, p, &box)) return few;
    for (int k = 0; k < 3; k++)
        for (int32_t at = box.lower[k]; at <= box.upper[k]; at++) outside[k][at - box.lower[k]] = tsr_vox_outside(g, t->centre[k], k, at);
    for (tile[2] = box.lower[2]; tile[2] <= box.upper[2]; tile[2]++)
        for (tile[1] = box.lower[1]; tile[1] <= box.upper[1]; tile[1]++)
            for (tile[0] = box.lower[0]; tile[0] <= box.upper[0]; tile[0]++, bit++) {
                const float square = (outside[0][tile[0] - box.lower[0]] + outside[1][tile[1] - box.lower[1]]) + outside[2][tile[2] - box.lower[2]];
                few.mask |= (uint32_t)!tsr_vox_clear(square, g->touch, t->radius) << bit;
            }
    few.first = tsr_vox_pack(g, box.lower[0], box.lower[1], box.lower[2]);
    few.wide = (uint16_t)(box.upper[0] - box.lower[0] + 1);
    few.high = (uint16_t)(box.upper[1] - box.lower[1] + 1);
    return few;
}

/* Without the tiles of the mask that a closer look shows the triangle does not touch. */
static uint32_t look_closely(const tsr_vox_grid *g, const tsr_vox_triangle *t, const tsr_vox_few *few)
{
    int32_t first[3];
    uint32_t mask = few->mask;
    tsr_vox_unpack(g, few->first, first);
    for (uint32_t left = mask; left; left &= left - 1) {
        const int32_t bit = __builtin_ctz(left), row = bit / few->wide;
        const int32_t at[3] = { first[0] + bit % few->wide, first[1] + row % few->high, first[2] + row / few->high };
        if (!tsr_vox_touches_closely(g, t, at)) mask &= ~((uint32_t)1 << bit);
    }
    return mask;
}

int64_t TSR_ISA_NAME(tsr_vox_survey)(const tsr_vox_grid *g, int64_t begin, int64_t end, double lower[3], double upper[3])
{
    struct tsr_vox_batch b;
    int64_t rows = 0;
    double least[3][TSR_VOX_BATCH], most[3][TSR_VOX_BATCH], estimate[TSR_VOX_BATCH];
    const tsr_vox_grid own = *g;
    for (int32_t l = 0; l < 3 * TSR_VOX_BATCH; l++) {
        least[l / TSR_VOX_BATCH][l % TSR_VOX_BATCH] = INFINITY;
        most[l / TSR_VOX_BATCH][l % TSR_VOX_BATCH] = -INFINITY;
    }
    for (int64_t first = begin; first < end; first += TSR_VOX_BATCH) {
        tsr_vox_batch_set(g, NULL, first, end, &b);
        for (int32_t l = 0; l < TSR_VOX_BATCH; l++) {
            const double p[3][3] = TSR_VOX_CORNERS(&b, l);
            for (int32_t k = 0; k < 3; k++)
                for (int32_t n = 0; n < 3; n++) {
                    least[k][l] = p[n][k] < least[k][l] ? p[n][k] : least[k][l];
                    most[k][l] = p[n][k] > most[k][l] ? p[n][k] : most[k][l];
                }
            estimate[l] = tsr_vox_row_estimate(&own, p);
        }
        for (int32_t l = 0; l < b.count; l++) rows += (int64_t)estimate[l];
    }
    for (int32_t k = 0; k < 3; k++) {
        lower[k] = least[k][0];
        upper[k] = most[k][0];
        for (int32_t l = 1; l < TSR_VOX_BATCH; l++) {
            lower[k] = least[k][l] < lower[k] ? least[k][l] : lower[k];
            upper[k] = most[k][l] > upper[k] ? most[k][l] : upper[k];
        }
    }
    return rows;
}

/* look() for boxes of at most two tiles along each axis, which most are. */
static void look_at_eight(const tsr_vox_grid *g, struct tsr_vox_batch *b)
{
    const tsr_vox_grid own = *g;
    for (int32_t l = 0; l < TSR_VOX_BATCH; l++) {
        const double p[3][3] = TSR_VOX_CORNERS(b, l);
        tsr_vox_box box;
        float outside[3][2];
        int32_t all_more = 0;
        uint32_t mask = 0xff;
        tsr_vox_bound(&own, p, &box);
        for (int32_t k = 0; k < 3; k++) {
            const int32_t more = box.upper[k] - box.lower[k];
            all_more |= more;
            mask &= more ? 0xff : k == 0 ? 0x55 : k == 1 ? 0x33 : 0x0f;
            for (int32_t n = 0; n < 2; n++) outside[k][n] = tsr_vox_outside(&own, b->centre[k][l], k, box.lower[k] + n);
            b->lower[k][l] = box.lower[k];
        }
        for (int32_t n = 0; n < 8; n++) {
            const float square = (outside[0][n & 1] + outside[1][n >> 1 & 1]) + outside[2][n >> 2];
            mask &= tsr_vox_clear(square, own.touch, b->radius[l]) ? ~((uint32_t)1 << n) : 0xff;
        }
        b->mask[l] = mask;
        b->more[l] = all_more;
    }
}

/* Counts the tiles that triangle i touches: lane l of the block. */
static void count(const tsr_vox_grid *g, int64_t i, const struct tsr_vox_batch *b, int32_t l)
{
    const double p[3][3] = TSR_VOX_CORNERS(b, l);
    const tsr_vox_triangle *t = &b->triangle[l];
    tsr_vox_few few = { tsr_vox_pack(g, b->lower[0][l], b->lower[1][l], b->lower[2][l]), b->mask[l], 2, 2 };
    if (b->more[l] & ~1) few = look(g, t, p);
    if (few.mask && t->radius >= 0.5f * g->touch) few.mask = look_closely(g, t, &few);
    g->few[i] = few;
    g->count[i] = few.wide ? (uint32_t)__builtin_popcount(few.mask) : tsr_vox_tiles(g, t, p, 0, 1, NULL);
}

/* The sum of the numbers of all edges. */
static uint64_t edge_numbers(const tsr_vox_grid *g, const struct tsr_vox_batch *b)
{
    int32_t fixed[3][3][TSR_VOX_BATCH];
    uint64_t number[TSR_VOX_BATCH], sum = 0;
    for (int32_t l = 0; l < TSR_VOX_BATCH; l++)
        for (int32_t k = 0; k < 3; k++)
            for (int32_t r = 0; r < 3; r++) fixed[k][r][l] = g->fixed[b->vertex[k][l]][r];
    for (int32_t l = 0; l < TSR_VOX_BATCH; l++) {
        uint64_t place[3];
        for (int32_t k = 0; k < 3; k++) {
            const int32_t p[3] = { fixed[k][0][l], fixed[k][1][l], fixed[k][2][l] };
            place[k] = tsr_vox_place(p);
        }
        number[l] = tsr_vox_edge_number(place[0], place[1]) + tsr_vox_edge_number(place[1], place[2]) + tsr_vox_edge_number(place[2], place[0]);
    }
    for (int32_t l = 0; l < b->count; l++) sum += number[l];
    return sum;
}

int64_t TSR_ISA_NAME(tsr_vox_frames)(const tsr_vox_grid *g, int64_t begin, int64_t end, uint64_t *edges)
{
    struct tsr_vox_batch b;
    int64_t degenerate = 0;
    for (int64_t first = begin; first < end; first += TSR_VOX_BATCH) {
        tsr_vox_batch_set(g, NULL, first, end, &b);
        tsr_vox_batch_frames(&b);
        look_at_eight(g, &b);
        *edges += edge_numbers(g, &b);
        for (int32_t l = 0; l < b.count; l++) {
            degenerate += b.triangle[l].cy == 0.0f;
            count(g, first + l, &b, l);
        }
    }
    return degenerate;
}
