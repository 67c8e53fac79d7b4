/* algebra/csg_carve.h: the bodies named in csg_ops.h, third part: tiles of a selection, and fields carved along its faces (docs/theory/editing.md 4). */
#ifndef TSR_ALGEBRA_CSG_CARVE_H
#define TSR_ALGEBRA_CSG_CARVE_H

#include "algebra/csg_kernels.h"

/* Where a tile lies: beyond `reach` of the faces on the one side or the other, or near them. */
enum { TSR_TILE_BEYOND = 0, TSR_TILE_WITHIN = 1, TSR_TILE_NEAR = 2 };

/* World place of voxel (x, y, z) of a tile, at half voxels too. */
TSR_HD void tsr_csg_place(const tsr_tile_pool *p, uint64_t key, float x, float y, float z, float at[3])
{
    const int32_t E = 1 << p->log2_edge;
    at[0] = ((float)(tsr_key_x(key) * E) + x) * p->spacing[0];
    at[1] = ((float)(tsr_key_y(key) * E) + y) * p->spacing[1];
    at[2] = ((float)(tsr_key_z(key) * E) + z) * p->spacing[2];
}
TSR_HD float tsr_csg_middle_distance(const tsr_csg_args *g, uint64_t key, float at[3])
{
    const float half = 0.5f * (float)((1 << g->a.log2_edge) - 1);
    tsr_csg_place(&g->a, key, half, half, half, at);
    return tsr_selection_distance(&g->selection, at);
}

/* flags[i] = where tile keys[i] lies: from the distance of its middle. */
TSR_HD void tsr_csg_selection_near(const tsr_csg_args *g, int64_t i)
{
    const float *h = g->a.spacing, half = 0.5f * (float)((1 << g->a.log2_edge) - 1);
    float at[3], d = tsr_csg_middle_distance(g, g->keys[i], at);
    const float margin = 1.0001f * (half * tsr_csg_length3(h[0], h[1], h[2]) + g->reach) + tsr_selection_slack(&g->selection, at);
    g->flags[i] = d > margin ? TSR_TILE_BEYOND : d < 0.0f - margin ? TSR_TILE_WITHIN : TSR_TILE_NEAR;
}
/* words[i] (0 before) = 1 if tile keys[i] has a voxel in the selection. */
TSR_HD void tsr_csg_selection_tile(const tsr_csg_args *g, int64_t i, int32_t first, int32_t step)
{
    const int32_t l = g->a.log2_edge, m = (1 << l) - 1, V = tsr_csg_voxels(&g->a);
    int found = g->flags[i] == TSR_TILE_WITHIN && first == 0;
    for (int32_t k = first; k < V && !found && g->flags[i] == TSR_TILE_NEAR; k += step) {
        float at[3];
        tsr_csg_place(&g->a, g->keys[i], (float)(k & m), (float)(k >> l & m), (float)(k >> (2 * l)), at);
        found = tsr_selection_distance(&g->selection, at) <= 0.0f;
    }
    if (found) tsr_csg_or(&g->words[i], 1u);
}
/* The keys of those tiles to tallies, in order: flags holds the sums of words before. */
TSR_HD void tsr_csg_selection_keys(const tsr_csg_args *g, int64_t i)
{
    if (g->words[i]) g->tallies[g->flags[i]] = g->keys[i];
}

/* words[i] of a carved list: absent space keeps its sign in the part of the selection that stays. No absent tile inside is near the faces, so that those beside a
 * tile that is not near them either lie on its side. */
TSR_HD void tsr_csg_carve_borders(const tsr_csg_args *g, int64_t i)
{
    const uint32_t *row = g->a.neighbours + (int64_t)g->first[i] * TSR_NEIGHBOUR_ROW, where = g->flags[i];
    uint32_t word = 0;
    for (int32_t d = 0; d < TSR_TILE_DIRECTIONS; d++) {
        if (row[d] != TSR_TILE_INSIDE) continue;
        float at[3];
        int within = where == TSR_TILE_WITHIN;
        if (where == TSR_TILE_NEAR && g->operation != TSR_CARVE_SEVERED)
            within = tsr_csg_middle_distance(g, g->keys[i] + (uint64_t)tsr_key_offset(d), at) < 0.0f;
        word |= (uint32_t)(g->operation == TSR_CARVE_SEVERED || within == (g->operation == TSR_CARVE_INNER)) << d;
    }
    g->words[i] = word;
}
/* Tile i of `to` from tile first[i] of a, carved. flags: where it lies. */
TSR_HD void tsr_csg_carve_tile(const tsr_csg_args *g, int64_t i, int32_t first, int32_t step)
{
    const int32_t l = g->to.log2_edge, m = (1 << l) - 1, V = tsr_csg_voxels(&g->to), part = g->operation;
    const float *from = tsr_csg_phi(&g->a) + (int64_t)g->first[i] * V, band = g->to.band;
    float *to = g->to.phi[0] + (i + TSR_TILE_FIRST) * V;
    const uint32_t where = g->flags[i];
    const int whole = where == TSR_TILE_BEYOND ? part != TSR_CARVE_INNER : part != TSR_CARVE_OUTER;
    for (int32_t k = first; k < V; k += step) {
        float at[3], v;
        if (where == TSR_TILE_NEAR) {
            tsr_csg_place(&g->to, g->keys[i], (float)(k & m), (float)(k >> l & m), (float)(k >> (2 * l)), at);
            v = tsr_csg_carve(part, from[k], tsr_selection_distance(&g->selection, at), g->width, band);
        } else {
            v = whole ? tsr_clampf(from[k], 0.0f - band, band) + 0.0f : band;
        }
        to[k] = v;
    }
}

#endif
