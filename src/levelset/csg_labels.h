/* levelset/csg_labels.h: the bodies named in csg_ops.h, second part: connected components of a tile list, and its measures.
 *
 * Components: union-find with atomic minima over the voxels of stored tiles (index entry * edge^3 + voxel), the gaps between two entries of a row
 * (behind all voxels, by the entry before the gap) and the space beyond the last entry of rows (one node, the last). A set is named by its smallest
 * index, whatever the order of the unions, so the labels are the same on every backend. */
#ifndef TSR_LEVELSET_CSG_LABELS_H
#define TSR_LEVELSET_CSG_LABELS_H

#include "levelset/csg_kernels.h"
#include "levelset/update.h"

#define TSR_CSG_NO_LABEL UINT32_MAX

TSR_HD uint32_t tsr_csg_root_of(const uint32_t *parent, uint32_t i)
{
    for (uint32_t up = tsr_csg_peek(parent + i); up != i; up = tsr_csg_peek(parent + i)) i = up;
    return i;
}
/* Every failed exchange lowers one of the two, so the loop ends whatever other threads do. */
TSR_HD void tsr_csg_unite(uint32_t *parent, uint32_t a, uint32_t b)
{
    for (;;) {
        a = tsr_csg_root_of(parent, a);
        b = tsr_csg_root_of(parent, b);
        if (a == b) return;
        uint32_t high = a < b ? b : a, low = a < b ? a : b, old = tsr_csg_least(&parent[high], low);
        if (old == high) return;
        a = old;
        b = low;
    }
}

/* entries[id] = list position. */
TSR_HD void tsr_csg_entry_of(const tsr_csg_args *g, int64_t i) { g->entries[g->a.id[g->a.state->list][i]] = (uint32_t)i; }

/* Item i: voxels, then gaps, then the unbounded space. A voxel that is not wanted has no label. */
TSR_HD void tsr_csg_label_begin(const tsr_csg_args *g, int64_t i)
{
    const int32_t V = tsr_csg_voxels(&g->a);
    int wanted = 1;
    if (i < g->count * V) {
        float v = tsr_csg_phi(&g->a)[(int64_t)g->a.id[g->a.state->list][i / V] * V + i % V];
        wanted = (v < 0.0f) == (g->wanted != 0);
    } else if (i < g->count * V + g->count) {
        wanted = tsr_csg_gap(&g->a, i - g->count * V, g->wanted ? TSR_TILE_INSIDE : TSR_TILE_OUTSIDE) > 0;
    }
    g->parent[i] = wanted ? (uint32_t)i : TSR_CSG_NO_LABEL;
}
/* The node of the space around the absent tile with this key. */
TSR_HD uint32_t tsr_csg_space_node(const tsr_csg_args *g, uint64_t key)
{
    const tsr_tile_pool *p = &g->a;
    const tsr_keys keys = tsr_pool_keys(p, p->state->list);
    const int64_t V = tsr_csg_voxels(p);
    int32_t at = tsr_keys_lower_bound(keys, (int32_t)g->count, key);
    int between = at > 0 && at < g->count && tsr_key_at(keys, at - 1) >> 21 == key >> 21 && tsr_key_at(keys, at) >> 21 == key >> 21;
    return (uint32_t)(g->count * V + (between ? at - 1 : g->count));
}
/* Joins voxel i with its 13 earlier wanted neighbours (26 where a neighbour's tile is absent). `amount` 6: faces only. */
TSR_HD void tsr_csg_label_join(const tsr_csg_args *g, int64_t i)
{
    const tsr_tile_pool *p = &g->a;
    const int32_t l = p->log2_edge, E = 1 << l, V = E * E * E, m = E - 1, at = (int32_t)(i % V);
    if (tsr_csg_peek(g->parent + i) == TSR_CSG_NO_LABEL) return;
    const uint32_t *row = p->neighbours + (int64_t)p->id[p->state->list][i / V] * TSR_NEIGHBOUR_ROW;
    for (int32_t d = 0; d < TSR_TILE_DIRECTIONS; d++) {
        int32_t dx = tsr_direction_x(d), dy = tsr_direction_y(d), dz = tsr_direction_z(d);
        if (d == TSR_TILE_MIDDLE || (g->operation == 6 && dx * dx + dy * dy + dz * dz != 1)) continue;
        int32_t x = at % E + dx, y = at / E % E + dy, z = at / (E * E) + dz, t = 9 * ((z >> l) + 1) + 3 * ((y >> l) + 1) + (x >> l) + 1;
        if (row[t] >= TSR_TILE_FIRST) {
            int64_t other = (int64_t)g->entries[row[t]] * V + (((z & m) * E + (y & m)) * E + (x & m));
            if (other < i && tsr_csg_peek(g->parent + other) != TSR_CSG_NO_LABEL) tsr_csg_unite(g->parent, (uint32_t)i, (uint32_t)other);
        } else if (row[t] == (g->wanted ? TSR_TILE_INSIDE : TSR_TILE_OUTSIDE)) {
            uint64_t key = tsr_pool_key(p, p->state->list, i / V) + (uint64_t)tsr_key_offset(t);
            tsr_csg_unite(g->parent, (uint32_t)i, tsr_csg_space_node(g, key));
        }
    }
}
/* Joins the gap behind entry i with the absent space beside it in the eight rows around. Two absent tiles that touch have the same sign. */
TSR_HD void tsr_csg_label_gaps(const tsr_csg_args *g, int64_t i)
{
    const tsr_tile_pool *p = &g->a;
    const tsr_keys keys = tsr_pool_keys(p, p->state->list);
    const int64_t V = tsr_csg_voxels(p), own = g->count * V + i;
    if (tsr_csg_peek(g->parent + own) == TSR_CSG_NO_LABEL) return;
    for (int32_t d = 1; d < TSR_TILE_DIRECTIONS; d += 3) { /* dx = 0 */
        if (d == TSR_TILE_MIDDLE) continue;
        int32_t margin = g->operation != 6;
        if (!margin && tsr_direction_y(d) * tsr_direction_z(d) != 0) continue;
        uint64_t offset = (uint64_t)tsr_key_offset(d), low = tsr_key_at(keys, i) + 1 - (uint64_t)margin + offset,
                 high = tsr_key_at(keys, i + 1) - 1 + (uint64_t)margin + offset;
        int32_t at = tsr_keys_lower_bound(keys, (int32_t)g->count, low);
        for (uint64_t cell = low; cell <= high;) { /* one look per gap: from stored tile to stored tile */
            if (at < g->count && tsr_key_at(keys, at) == cell) {
                cell++;
                at++;
                continue;
            }
            tsr_csg_unite(g->parent, (uint32_t)own, tsr_csg_space_node(g, cell));
            if (at >= g->count || tsr_key_at(keys, at) > high) break;
            cell = tsr_key_at(keys, at);
        }
    }
}
TSR_HD void tsr_csg_label_flatten(const tsr_csg_args *g, int64_t i)
{
    if (tsr_csg_peek(g->parent + i) == TSR_CSG_NO_LABEL) return;
    uint32_t root = tsr_csg_root_of(g->parent, (uint32_t)i);
    tsr_csg_least(&g->parent[i], root);
}
/* roots[flags[0]++] = i for every voxel that names a set. */
TSR_HD void tsr_csg_label_roots(const tsr_csg_args *g, int64_t i)
{
    if (g->parent[i] != (uint32_t)i) return;
    uint32_t place = tsr_csg_next(g->flags);
    if ((int64_t)place < g->root_room) g->roots[place] = (uint32_t)i;
}
/* The root becomes the number of the component (roots are in order). */
TSR_HD void tsr_csg_label_number(const tsr_csg_args *g, int64_t i)
{
    uint32_t root = g->parent[i];
    int32_t low = 0, count = g->root_count;
    if (root == TSR_CSG_NO_LABEL) return;
    while (count > 0) {
        int32_t half = count >> 1;
        if (g->roots[low + half] < root) {
            low += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    g->parent[i] = low < g->root_count && g->roots[low] == root ? (uint32_t)low : TSR_CSG_NO_LABEL;
}
/* tallies[component] += voxels of node i. Item: a row of voxels of a tile, or a gap. */
TSR_HD void tsr_csg_label_tally(const tsr_csg_args *g, int64_t i)
{
    const int32_t E = 1 << g->a.log2_edge, V = E * E * E;
    int64_t rows = g->count * E * E, run = 0;
    uint32_t last = TSR_CSG_NO_LABEL;
    if (i >= rows) {
        int64_t entry = i - rows, node = g->count * V + entry;
        if (g->parent[node] == TSR_CSG_NO_LABEL) return;
        tsr_csg_add((int64_t *)(void *)&g->tallies[g->parent[node]], tsr_csg_gap(&g->a, entry, g->wanted ? TSR_TILE_INSIDE : TSR_TILE_OUTSIDE) * V);
        return;
    }
    for (int32_t x = 0; x <= E; x++) {
        uint32_t label = x < E ? g->parent[i * E + x] : TSR_CSG_NO_LABEL;
        if (x < E && label == last) {
            run++;
            continue;
        }
        if (last != TSR_CSG_NO_LABEL) tsr_csg_add((int64_t *)(void *)&g->tallies[last], run);
        last = label;
        run = 1;
    }
}

/* Bit c of mask 2 i + c / 32 (32-bit words of `roots`): component c has a voxel in tile i. */
TSR_HD void tsr_csg_label_masks_tile(const tsr_csg_args *g, int64_t i, int32_t first, int32_t step)
{
    const int32_t V = tsr_csg_voxels(&g->a);
    uint32_t low = 0, high = 0;
    for (int32_t k = first; k < V; k += step) {
        const uint32_t label = g->parent[i * V + k];
        if (label < 32) low |= 1u << label;
        else if (label < 64) high |= 1u << (label - 32);
    }
    if (low) tsr_csg_or(&g->roots[2 * i], low);
    if (high) tsr_csg_or(&g->roots[2 * i + 1], high);
}

/* ---- keeping some of the components: roots[component] != 0 is kept ------------------------------------------------------------------------------- */

/* flags[entry] = 1 if the tile has a voxel of a kept component. Item: voxel. */
TSR_HD void tsr_csg_keep_mark(const tsr_csg_args *g, int64_t i)
{
    uint32_t label = g->parent[i];
    if (label != TSR_CSG_NO_LABEL && g->roots[label]) tsr_csg_or(&g->flags[i / tsr_csg_voxels(&g->a)], 1u);
}
/* words[entry]: the absent space of kept components stays inside, the rest becomes outside. */
TSR_HD void tsr_csg_keep_borders(const tsr_csg_args *g, int64_t i)
{
    const tsr_tile_pool *p = &g->a;
    const uint32_t *row = p->neighbours + (int64_t)p->id[p->state->list][i] * TSR_NEIGHBOUR_ROW;
    uint32_t word = 0;
    for (int32_t d = 0; d < TSR_TILE_DIRECTIONS; d++) {
        if (row[d] != TSR_TILE_INSIDE) continue;
        uint32_t label = g->parent[tsr_csg_space_node(g, tsr_pool_key(p, p->state->list, i) + (uint64_t)tsr_key_offset(d))];
        if (label != TSR_CSG_NO_LABEL && g->roots[label]) word |= 1u << d;
    }
    g->words[i] = word;
}
/* Tile i of `to`: voxels of components that are not kept become outside, and so does everything in tiles without a kept voxel in them or beside
 * them: what stays near the cut is the distance to what is gone, for redistancing to replace. */
TSR_HD void tsr_csg_keep_tile(const tsr_csg_args *g, int64_t i, int32_t first, int32_t step)
{
    const tsr_tile_pool *p = &g->a;
    const int32_t V = tsr_csg_voxels(p);
    const uint32_t id = p->id[p->state->list][i], *row = p->neighbours + (int64_t)id * TSR_NEIGHBOUR_ROW;
    const float *from = tsr_csg_phi(p) + (int64_t)id * V;
    float *to = g->to.phi[0] + (i + TSR_TILE_FIRST) * V;
    int beside = 0;
    for (int32_t d = 0; d < TSR_TILE_DIRECTIONS; d++) beside |= row[d] >= TSR_TILE_FIRST && g->flags[g->entries[row[d]]];
    for (int32_t k = first; k < V; k += step) {
        uint32_t label = g->parent[i * V + k];
        int kept = label == TSR_CSG_NO_LABEL ? beside : g->roots[label] != 0;
        to[k] = kept ? from[k] : p->band;
    }
}

/* ---- measures ------------------------------------------------------------------------------------------------------------------------------------- */

/* Item: plane z of tile i / edge. sums[item] = volume inside (smeared step), area (delta |grad|), K delta |grad|, positions (volume times x, y, z
 * of the band voxels); corners += vertices, edges, faces and cells of the complex of inside voxels joined by faces. */
TSR_HD void tsr_csg_measure(const tsr_csg_args *g, int64_t i)
{
    const tsr_tile_pool *p = &g->a;
    const int32_t E = 1 << p->log2_edge, z = (int32_t)(i % E), V = E * E * E;
    const uint32_t id = p->id[p->state->list][i / E], *row = p->neighbours + (int64_t)id * TSR_NEIGHBOUR_ROW;
    const uint64_t key = tsr_pool_key(p, p->state->list, i / E);
    const float *phi = tsr_csg_phi(p), r[3] = { 1.0f / p->spacing[0], 1.0f / p->spacing[1], 1.0f / p->spacing[2] };
    double sums[6] = { 0 }, width = (double)g->width;
    int64_t corners[4] = { 0 };
    for (int32_t k = 0; k < E * E; k++) {
        int32_t x = k % E, y = k / E;
        float v = phi[(int64_t)id * V + z * E * E + k], cube[27];
        double inside = 1.0 - tsr_csg_step((double)v / width);
        sums[0] += inside;
        sums[3] += inside * (double)(tsr_key_x(key) * E + x);
        sums[4] += inside * (double)(tsr_key_y(key) * E + y);
        sums[5] += inside * (double)(tsr_key_z(key) * E + z);
        double delta = tsr_csg_delta((double)v / width) / width;
        if (v < 0.0f) {
            uint32_t in = 0;
            for (int32_t c = 0; c < 8; c++) in |= (uint32_t)(tsr_csg_at(p, phi, row, x + (c & 1), y + (c >> 1 & 1), z + (c >> 2)) < 0.0f) << c;
            corners[0]++;
            corners[1] += (int64_t)(in >> 1 & 1u) + (in >> 2 & 1u) + (in >> 4 & 1u);
            corners[2] += (int64_t)((in & 0x0fu) == 0x0fu) + ((in & 0x33u) == 0x33u) + ((in & 0x55u) == 0x55u);
            corners[3] += in == 0xffu;
        }
        if (delta == 0.0) continue;
        for (int32_t c = 0; c < 27; c++) cube[c] = tsr_csg_at(p, phi, row, x + c % 3 - 1, y + c / 3 % 3 - 1, z + c / 9 - 1);
        float dx = (cube[14] - cube[12]) * 0.5f * r[0], dy = (cube[16] - cube[10]) * 0.5f * r[1], dz = (cube[22] - cube[4]) * 0.5f * r[2];
        double area = delta * (double)tsr_csg_length3(dx, dy, dz);
        sums[1] += area;
        sums[2] += area * (double)tsr_curvature(cube + 13, 3, 9, r);
    }
    for (int32_t k = 0; k < 6; k++) g->sums[i * 6 + k] = sums[k];
    for (int32_t k = 0; k < 4; k++)
        if (corners[k]) tsr_csg_add(&g->corners[k], corners[k]);
}

#endif
