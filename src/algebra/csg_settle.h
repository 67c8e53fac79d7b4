/* algebra/csg_settle.h: the bodies named in csg_ops.h, fourth part: samples that lie on the surface (docs/theory/editing.md 1).
 *
 * A sample at distance 0 is inside or outside by the half-open ranges of bodies. Marching cubes, which knows signs alone, cuts off an edge of a body where the
 * samples on both its faces are outside, and fills a groove where those on both are inside. So the faces across x have theirs inside, those across y outside, and
 * those across z inside, but outside beside a groove: every edge has a face with samples inside, every groove one with samples outside. Within a face it is all the
 * same: vertices between two samples on the surface are on it, too. Where there is no inside but samples on the surface (a body
 * one voxel thick) those that are inside by the half-open ranges stand for it and stay; without them (a sheet of nothing) nothing changes. Nor do those inside
 * with no outside beside them: faces of one body within another. */
#ifndef TSR_ALGEBRA_CSG_SETTLE_H
#define TSR_ALGEBRA_CSG_SETTLE_H

#include "algebra/csg_kernels.h"

/* -1 inside, 1 outside, 0 on the surface, -2 the same but inside by the half-open ranges, 3 the same but outside by what csg made of it, 2 beyond the domain. */
TSR_HD int8_t tsr_csg_side_of(float v, float near, int beyond)
{
    return (int8_t)(beyond ? 2 : tsr_absf(v) <= near ? (v < 0.0f ? -2 : v > 0.0f ? 3 : 0) : v < 0.0f ? -1 : 1);
}
TSR_HD int32_t tsr_csg_faces(const int8_t side[27], int32_t step) /* is the inside right beside the sample along this axis, on one side of it? */
{
    const int32_t a = side[13 - step], b = side[13 + step];
    return a != b && (a == -1 || b == -1);
}
/* Of the 27 sides around and with the sample that is asked for (number 13, on the surface), which are changed: -1 inside, 1 outside, 0: as it was. */
TSR_HD int32_t tsr_csg_settled(int8_t side[27])
{
    int32_t touched = 0, groove = 0, solid = 0, space = 0;
    for (int32_t k = 0; k < 27; k++) {
        solid |= side[k] == -1;
        space |= side[k] > 0 && side[k] < 3;
    }
    if (side[13] != 0 && (!solid || (side[13] < 0 && !space))) return 0; /* a wall within a body is none */
    for (int32_t k = 0; k < 27; k++) side[k] = (int8_t)(side[k] == -2 ? (solid ? 0 : -1) : side[k] == 3 ? 0 : side[k]);
    for (int32_t cell = 0; cell < 8; cell++) {
        const int32_t x = cell & 1, y = cell >> 1 & 1, z = cell >> 2;
        int32_t inside = 0, outside = 0, beyond = 0;
        uint32_t zero = 0;
        for (int32_t c = 0; c < 8; c++) {
            const int32_t s = side[9 * (z + (c >> 2)) + 3 * (y + (c >> 1 & 1)) + x + (c & 1)];
            inside |= s < 0;
            outside |= s == 1;
            beyond |= s == 2;
            zero |= (uint32_t)(s == 0) << c;
        }
        if (beyond) continue;
        touched |= inside;
        /* all zeros in one face: none on the opposite one */
        const int32_t flat = !(zero & 0x55u) || !(zero & 0xaau) || !(zero & 0x33u) || !(zero & 0xccu) || !(zero & 0x0fu) || !(zero & 0xf0u);
        groove |= outside & !inside & !flat;
    }
    if (!touched) return 0;
    return tsr_csg_faces(side, 3) ? 1 : tsr_csg_faces(side, 1) ? -1 : groove ? 1 : -1;
}

/* The least number that has a sign: vertices beside it are in the place of the sample to the last bit, also where that is 0. */
TSR_HD float tsr_csg_settled_value(int32_t settled, float v) { return settled < 0 || (settled == 0 && v < 0.0f) ? -1.401298464324817e-45f : 0.0f; }

TSR_HD int tsr_csg_on_surface(const tsr_tile_pool *p, const int32_t first[3], int32_t k, float v)
{
    const int32_t l = p->log2_edge, m = (1 << l) - 1;
    return tsr_absf(v) <= tsr_csg_near(p->spacing, tsr_csg_reach(p->spacing, first[0] + (k & m), first[1] + (k >> l & m), first[2] + (k >> 2 * l)));
}

/* The settled values of the samples on the surface go to the other buffer; totals[0] += those that change sides. */
TSR_HD void tsr_csg_settle_tile(const tsr_csg_args *g, int64_t i, int32_t first, int32_t step)
{
    const tsr_tile_pool *p = &g->a;
    const int32_t l = p->log2_edge, E = 1 << l, V = E * E * E;
    const uint32_t id = p->id[p->state->list][i];
    const uint64_t key = tsr_pool_key(p, p->state->list, i);
    const uint32_t *row = p->neighbours + (int64_t)id * TSR_NEIGHBOUR_ROW;
    const float *phi = tsr_csg_phi(p), most = tsr_csg_near(p->spacing, tsr_csg_tile_reach(p, key));
    float *to = p->phi[1 - p->state->phi] + (int64_t)id * V;
    const int32_t at[3] = { tsr_key_x(key) * E, tsr_key_y(key) * E, tsr_key_z(key) * E };
    int64_t changed = 0;
    for (int32_t k = first; k < V; k += step) {
        const float v = phi[(int64_t)id * V + k];
        if (tsr_absf(v) > most || !tsr_csg_on_surface(p, at, k, v)) continue;
        int8_t side[27];
        for (int32_t d = 0; d < 27; d++) {
            const int32_t x = (k & (E - 1)) + d % 3 - 1, y = (k >> l & (E - 1)) + d / 3 % 3 - 1, z = (k >> 2 * l) + d / 9 - 1;
            const int beyond = p->bounded && (at[0] + x < 0 || at[1] + y < 0 || at[2] + z < 0 || at[0] + x >= p->domain[0] ||
                                              at[1] + y >= p->domain[1] || at[2] + z >= p->domain[2]);
            const float w = beyond ? 0.0f : tsr_csg_at(p, phi, row, x, y, z);
            side[d] = tsr_csg_side_of(w, tsr_csg_near(p->spacing, tsr_csg_reach(p->spacing, at[0] + x, at[1] + y, at[2] + z)), beyond);
        }
        const int32_t s = tsr_csg_settled(side);
        to[k] = tsr_csg_settled_value(s, v);
        changed += s != 0 && (s < 0) != (v < 0.0f);
    }
    if (changed) tsr_csg_add(g->totals, changed);
}
/* From there to the current one. */
TSR_HD void tsr_csg_settle_back_tile(const tsr_csg_args *g, int64_t i, int32_t first, int32_t step)
{
    const tsr_tile_pool *p = &g->a;
    const int32_t E = 1 << p->log2_edge, V = tsr_csg_voxels(p);
    const uint32_t id = p->id[p->state->list][i];
    const uint64_t key = tsr_pool_key(p, p->state->list, i);
    const int32_t at[3] = { tsr_key_x(key) * E, tsr_key_y(key) * E, tsr_key_z(key) * E };
    const float *from = p->phi[1 - p->state->phi] + (int64_t)id * V, most = tsr_csg_near(p->spacing, tsr_csg_tile_reach(p, key));
    float *to = p->phi[p->state->phi] + (int64_t)id * V;
    for (int32_t k = first; k < V; k += step)
        if (tsr_absf(to[k]) <= most && tsr_csg_on_surface(p, at, k, to[k])) to[k] = from[k];
}

#endif
