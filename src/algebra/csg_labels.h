/* algebra/csg_labels.h: the bodies named in csg_ops.h, second part: connected components of a tile list, and its measures.
 *
 * Components: union-find with atomic minima over the voxels of stored tiles (index entry * edge^3 + voxel), the boxes of absent tiles
 * (tiles/tiles_absent.h: behind all voxels, by entry and kind) and the space beyond (one node, the last): that of a list without a domain which no two
 * tiles of a row enclose; of a domain what lies beyond its border, which pieces of the outside that reach the border belong to. A set is named by its
 * smallest index, whatever the order of the unions, so the labels are the same on every backend. */
#ifndef TSR_ALGEBRA_CSG_LABELS_H
#define TSR_ALGEBRA_CSG_LABELS_H

#include "algebra/csg_kernels.h"
#include "segment/update.h"

#define TSR_CSG_NO_LABEL UINT32_MAX

TSR_HD uint32_t tsr_csg_root_of(const uint32_t *parent, uint32_t i)
{
    for (uint32_t up = tsr_csg_peek(parent + i); up != i; up = tsr_csg_peek(parent + i)) i = up;
    return i;
}
/* Every failed exchange lowers one of the two, so the loop ends whatever other threads do. A node without a label is united with none: where the signs of a list
 * contradict each other, absent space is of one sort to a tile and of the other to its own box. */
TSR_HD void tsr_csg_unite(uint32_t *parent, uint32_t a, uint32_t b)
{
    if (tsr_csg_peek(parent + a) == TSR_CSG_NO_LABEL || tsr_csg_peek(parent + b) == TSR_CSG_NO_LABEL) return;
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

TSR_HD int64_t tsr_csg_nodes(const tsr_tile_pool *p, int64_t count) { return count * (tsr_csg_voxels(p) + tsr_absent_kinds(p)) + 1; }

/* Does box `node` of the absent space exist, and is it of the sort that is labelled? */
TSR_HD int tsr_csg_box_wanted(const tsr_csg_args *g, int64_t node, int32_t low[3], int32_t high[3])
{
    const tsr_tile_pool *p = &g->a;
    const tsr_tile_state *s = p->state;
    const tsr_keys keys = tsr_pool_keys(p, s->list);
    const int32_t kinds = tsr_absent_kinds(p), entry = (int32_t)(node / kinds), kind = (int32_t)(node % kinds);
    return tsr_absent_box(p, keys, s->count, entry, kind, low, high) &&
           tsr_absent_constant(p, keys, p->id[s->list], s->count, s->background, entry, kind, low) ==
               (g->wanted ? TSR_TILE_INSIDE : TSR_TILE_OUTSIDE);
}

/* Item i: voxels, then boxes, then the space beyond. A voxel that is not wanted has no label. */
TSR_HD void tsr_csg_label_begin(const tsr_csg_args *g, int64_t i)
{
    const int32_t V = tsr_csg_voxels(&g->a);
    int32_t low[3], high[3];
    int wanted = 1;
    if (i < g->count * V) {
        const int32_t list = g->a.state->list, k = (int32_t)(i % V);
        float v = tsr_csg_phi(&g->a)[(int64_t)g->a.id[list][i / V] * V + k];
        wanted = (v < 0.0f) == (g->wanted != 0) && tsr_csg_in_domain(&g->a, tsr_pool_key(&g->a, list, i / V), k) == k;
    } else if (i + 1 < tsr_csg_nodes(&g->a, g->count)) {
        wanted = tsr_csg_box_wanted(g, i - g->count * V, low, high);
    }
    g->parent[i] = wanted ? (uint32_t)i : TSR_CSG_NO_LABEL;
}
/* The node of the space beyond, and that of the space around the absent tile with this key. */
TSR_HD uint32_t tsr_csg_beyond(const tsr_csg_args *g) { return (uint32_t)(tsr_csg_nodes(&g->a, g->count) - 1); }
/* `at`: the first entry whose key is not below that of the tile. */
TSR_HD uint32_t tsr_csg_space_node_at(const tsr_csg_args *g, uint64_t key, int32_t at)
{
    const tsr_tile_pool *p = &g->a;
    const tsr_keys keys = tsr_pool_keys(p, p->state->list);
    const int64_t V = tsr_csg_voxels(p);
    if (p->bounded) return (uint32_t)(g->count * V + tsr_absent_at(keys, (int32_t)g->count, at, key));
    int between = at > 0 && at < g->count && tsr_key_at(keys, at - 1) >> 21 == key >> 21 && tsr_key_at(keys, at) >> 21 == key >> 21;
    return between ? (uint32_t)(g->count * V + at - 1) : tsr_csg_beyond(g);
}
TSR_HD uint32_t tsr_csg_space_node(const tsr_csg_args *g, uint64_t key)
{
    return tsr_csg_space_node_at(g, key, tsr_keys_lower_bound(tsr_pool_keys(&g->a, g->a.state->list), (int32_t)g->count, key));
}
/* Joins voxel i with its 13 earlier wanted neighbours (26 where a neighbour's tile is absent). `operation` 6: faces only. */
TSR_HD void tsr_csg_label_join(const tsr_csg_args *g, int64_t i)
{
    const tsr_tile_pool *p = &g->a;
    const int32_t l = p->log2_edge, E = 1 << l, V = E * E * E, m = E - 1, at = (int32_t)(i % V);
    if (tsr_csg_peek(g->parent + i) == TSR_CSG_NO_LABEL) return;
    const uint64_t own = tsr_pool_key(p, p->state->list, i / V);
    const int32_t first[3] = { tsr_key_x(own) * E, tsr_key_y(own) * E, tsr_key_z(own) * E };
    const uint32_t *row = p->neighbours + (int64_t)p->id[p->state->list][i / V] * TSR_NEIGHBOUR_ROW;
    for (int32_t d = 0; d < TSR_TILE_DIRECTIONS; d++) {
        int32_t dx = tsr_direction_x(d), dy = tsr_direction_y(d), dz = tsr_direction_z(d);
        if (d == TSR_TILE_MIDDLE || (g->operation == 6 && dx * dx + dy * dy + dz * dz != 1)) continue;
        int32_t x = at % E + dx, y = at / E % E + dy, z = at / (E * E) + dz, t = 9 * ((z >> l) + 1) + 3 * ((y >> l) + 1) + (x >> l) + 1;
        if (p->bounded) {
            const int32_t place[3] = { first[0] + x, first[1] + y, first[2] + z };
            int32_t left = 0, flat = 0;
            for (int32_t k = 0; k < 3; k++) {
                left |= place[k] < 0 || place[k] >= p->domain[k];
                flat |= (place[k] < 0 || place[k] >= p->domain[k]) && p->domain[k] == 1; /* no border lies across a plane */
            }
            if (left && !flat && !g->wanted) tsr_csg_unite(g->parent, (uint32_t)i, tsr_csg_beyond(g));
            if (left) continue;
        }
        if (row[t] >= TSR_TILE_FIRST) {
            int64_t other = (int64_t)g->entries[row[t]] * V + (((z & m) * E + (y & m)) * E + (x & m));
            if (other < i && tsr_csg_peek(g->parent + other) != TSR_CSG_NO_LABEL) tsr_csg_unite(g->parent, (uint32_t)i, (uint32_t)other);
        } else if (row[t] == (g->wanted ? TSR_TILE_INSIDE : TSR_TILE_OUTSIDE)) {
            tsr_csg_unite(g->parent, (uint32_t)i, tsr_csg_space_node(g, own + (uint64_t)tsr_key_offset(t)));
        }
    }
}
/* Joins a box of a row with the absent space beside it: tiles x0 to x1 of row (y, z). */
TSR_HD void tsr_csg_join_row(const tsr_csg_args *g, uint32_t own, int32_t x0, int32_t x1, int32_t y, int32_t z)
{
    const tsr_tile_pool *p = &g->a;
    const tsr_keys keys = tsr_pool_keys(p, p->state->list);
    const uint64_t low = tsr_key_make(x0, y, z), high = tsr_key_make(x1, y, z);
    int32_t at = tsr_keys_lower_bound(keys, (int32_t)g->count, low);
    for (uint64_t cell = low; cell <= high;) { /* one look per gap: from stored tile to stored tile */
        if (at < g->count && tsr_key_at(keys, at) == cell) {
            cell++;
            at++;
            continue;
        }
        tsr_csg_unite(g->parent, own, tsr_csg_space_node(g, cell));
        if (at >= g->count || tsr_key_at(keys, at) > high) break;
        cell = tsr_key_at(keys, at);
    }
}
/* Joins a box of whole rows with those of the slab z beside it. Rows with tiles in them join themselves. */
TSR_HD void tsr_csg_join_slab(const tsr_csg_args *g, uint32_t own, int32_t y0, int32_t y1, int32_t z)
{
    const tsr_tile_pool *p = &g->a;
    const tsr_keys keys = tsr_pool_keys(p, p->state->list);
    for (int32_t y = tsr_maxi(y0, 0); y <= tsr_mini(y1, p->tiles[1] - 1);) {
        const uint64_t key = tsr_key_make(0, y, z);
        const int32_t at = tsr_keys_lower_bound(keys, (int32_t)g->count, key);
        const uint64_t next = at < g->count ? tsr_key_at(keys, at) : TSR_KEY_END;
        if (next >> 21 == key >> 21) {
            y++;
            continue;
        }
        tsr_csg_unite(g->parent, own, tsr_csg_space_node(g, key));
        if (next >> 42 != key >> 42) break;
        y = tsr_key_y(next);
    }
}
/* Joins box i with the absent space around it. Two absent tiles that touch have the same sign; a box is joined with those that come to it, too. */
TSR_HD void tsr_csg_label_gaps(const tsr_csg_args *g, int64_t i)
{
    const tsr_tile_pool *p = &g->a;
    const int32_t kinds = tsr_absent_kinds(p), kind = (int32_t)(i % kinds), margin = g->operation != 6;
    const uint32_t own = (uint32_t)(g->count * tsr_csg_voxels(p) + i);
    int32_t low[3], high[3];
    if (tsr_csg_peek(g->parent + own) == TSR_CSG_NO_LABEL || !tsr_csg_box_wanted(g, i, low, high)) return;
    for (int32_t k = 0; k < 3 && p->bounded && !g->wanted; k++)
        if (p->domain[k] > 1 && (low[k] == 0 || high[k] == p->tiles[k])) tsr_csg_unite(g->parent, own, tsr_csg_beyond(g));
    if (kind == TSR_ABSENT_SLABS_BEFORE || kind == TSR_ABSENT_SLABS_AFTER) return; /* between slabs with tiles, whose boxes come */
    for (int32_t dz = -1; dz <= 1; dz++) {
        const int32_t z = low[2] + dz;
        if (p->bounded && (z < 0 || z >= p->tiles[2])) continue;
        if (kind == TSR_ABSENT_ROWS_BEFORE || kind == TSR_ABSENT_ROWS_AFTER) {
            if (dz) tsr_csg_join_slab(g, own, low[1] - margin, high[1] - 1 + margin, z);
            continue;
        }
        for (int32_t dy = -1; dy <= 1; dy++) {
            const int32_t y = low[1] + dy;
            if ((!dy && !dz) || (!margin && dy * dz != 0) || (p->bounded && (y < 0 || y >= p->tiles[1]))) continue;
            const int32_t x0 = low[0] - margin, x1 = high[0] - 1 + margin;
            tsr_csg_join_row(g, own, p->bounded ? tsr_maxi(x0, 0) : x0, p->bounded ? tsr_mini(x1, p->tiles[0] - 1) : x1, y, z);
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
/* flags[0] = sets but for one of the space beyond alone; flags[1]: the space beyond belongs to one of them. */
TSR_HD void tsr_csg_label_count(const tsr_csg_args *g, int64_t i)
{
    const uint32_t up = tsr_csg_peek(g->parent + i);
    if ((uint32_t)i == tsr_csg_beyond(g)) g->flags[1] = up != (uint32_t)i;
    else if (up == (uint32_t)i) tsr_csg_next(g->flags);
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
/* tallies[component] += voxels of node i. Item: a row of voxels of a tile, or a box. */
TSR_HD void tsr_csg_label_tally(const tsr_csg_args *g, int64_t i)
{
    const int32_t E = 1 << g->a.log2_edge, V = E * E * E;
    int64_t rows = g->count * E * E, run = 0;
    uint32_t last = TSR_CSG_NO_LABEL;
    if (i >= rows) {
        const int64_t node = g->count * V + i - rows;
        int32_t low[3], high[3];
        int64_t middle[3];
        if (g->parent[node] == TSR_CSG_NO_LABEL || !tsr_csg_box_wanted(g, i - rows, low, high)) return;
        tsr_csg_add((int64_t *)(void *)&g->tallies[g->parent[node]], tsr_absent_voxels(&g->a, low, high, middle));
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

/* roots[component] = 1 where stored voxels of list b are inside, too. Item: voxel of b. */
TSR_HD void tsr_csg_keep_where(const tsr_csg_args *g, int64_t i)
{
    const tsr_tile_pool *p = &g->b;
    const int32_t V = tsr_csg_voxels(p), list = p->state->list, k = (int32_t)(i % V);
    const uint64_t key = tsr_pool_key(p, list, i / V);
    if (!(tsr_csg_phi(p)[(int64_t)p->id[list][i / V] * V + k] < 0.0f) || tsr_csg_in_domain(p, key, k) != k) return;
    const uint32_t id = tsr_csg_find(&g->a, key);
    if (id == TSR_TILE_OUTSIDE) return;
    const uint32_t label = g->parent[id >= TSR_TILE_FIRST ? (int64_t)g->entries[id] * V + k : (int64_t)tsr_csg_space_node(g, key)];
    if (label != TSR_CSG_NO_LABEL) tsr_csg_or(&g->roots[label], 1u);
}
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
    const uint64_t own = tsr_pool_key(p, p->state->list, i);
    uint32_t word = 0;
    for (int32_t d = 0; d < TSR_TILE_DIRECTIONS; d++) {
        if (row[d] != TSR_TILE_INSIDE || !tsr_csg_faces_domain(p, own, d)) continue;
        uint32_t label = g->parent[tsr_csg_space_node(g, own + (uint64_t)tsr_key_offset(d))];
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
        const int32_t at = tsr_csg_in_domain(p, tsr_pool_key(p, p->state->list, i), k);
        uint32_t label = g->parent[i * V + at];
        int kept = label == TSR_CSG_NO_LABEL ? beside : g->roots[label] != 0;
        to[k] = kept ? from[at] : p->band;
    }
}

/* ---- measures ------------------------------------------------------------------------------------------------------------------------------------- */

/* What stencils of a tile see: coordinates of the last voxels of the domain, of the halo where it goes on. */
typedef struct tsr_csg_window {
    const tsr_tile_pool *pool;
    const float *phi;
    const uint32_t *row;
    int32_t low[3], high[3];
} tsr_csg_window;
TSR_HD tsr_csg_window tsr_csg_window_of(const tsr_tile_pool *p, uint64_t key, uint32_t id)
{
    const int32_t E = 1 << p->log2_edge, first[3] = { tsr_key_x(key) * E, tsr_key_y(key) * E, tsr_key_z(key) * E };
    tsr_csg_window w = { p, tsr_csg_phi(p), p->neighbours + (int64_t)id * TSR_NEIGHBOUR_ROW, { -1, -1, -1 }, { E, E, E } };
    for (int32_t k = 0; k < 3 && p->bounded; k++) {
        w.low[k] = first[k] == 0 ? 0 : -1;
        w.high[k] = tsr_mini(p->domain[k] - 1 - first[k], E);
    }
    return w;
}
/* Beyond the domain the field is replicated. */
TSR_HD float tsr_csg_seen(const tsr_csg_window *w, int32_t x, int32_t y, int32_t z)
{
    return tsr_csg_at(w->pool, w->phi, w->row, tsr_mini(tsr_maxi(x, w->low[0]), w->high[0]), tsr_mini(tsr_maxi(y, w->low[1]), w->high[1]),
                      tsr_mini(tsr_maxi(z, w->low[2]), w->high[2]));
}
/* Voxels of the complex lie in the domain. */
TSR_HD uint32_t tsr_csg_solid_at(const tsr_csg_window *w, int32_t x, int32_t y, int32_t z)
{
    return x <= w->high[0] && y <= w->high[1] && z <= w->high[2] && tsr_csg_seen(w, x, y, z) < 0.0f;
}

/* What the measures of a list have in common: reach of the delta, edge along which a wall without a gradient is measured, known: differences do not meet
 * the end of the band (else values are taken for distances as they are). */
typedef struct tsr_csg_gauge {
    const float *spacing;
    float r[3], width, beyond, along;
    int32_t known;
} tsr_csg_gauge;
TSR_HD tsr_csg_gauge tsr_csg_gauge_of(const tsr_csg_args *g)
{
    const tsr_tile_pool *p = &g->a;
    tsr_csg_gauge m = { p->spacing, { 1.0f / p->spacing[0], 1.0f / p->spacing[1], 1.0f / p->spacing[2] }, g->width, 0.0f, 0.0f, 0 };
    float edge = 0.0f; /* the largest edge of a voxel, as `along` is the first; nothing varies across a plane */
    for (int32_t a = 2; a >= 0; a--) {
        if (p->bounded && p->domain[a] == 1) continue;
        edge = tsr_maxf(edge, p->spacing[a]);
        m.along = p->spacing[a];
    }
    m.beyond = m.width * edge;
    m.known = p->band >= m.beyond + edge;
    return m;
}
/* Is one of the 26 voxels round `p` on the other side? */
TSR_HD int32_t tsr_csg_crossed(const float *p, int32_t sy, int32_t sz)
{
    int32_t crossed = 0;
    for (int32_t c = 0; c < 27; c++) crossed |= (p[c % 3 - 1 + (c / 3 % 3 - 1) * sy + (c / 9 - 1) * sz] < 0.0f) != (p[0] < 0.0f);
    return crossed;
}
/* What a voxel has of a surface: what of it is inside, area, K times area. */
typedef struct tsr_csg_share {
    double inside, area, curved;
} tsr_csg_share;
/* Of a voxel at `p`, those beside it 1, sy and sz away, of value within `beyond`; crossed: tsr_csg_crossed. Without a branch that matters, so that rows of
 * voxels are vectors. */
TSR_HD tsr_csg_share tsr_csg_measure_near(const tsr_csg_gauge *m, float width, const float *p, int32_t sy, int32_t sz, int32_t crossed)
{
    const float v = p[0], *r = m->r;
    const float dx = (p[1] - p[-1]) * 0.5f * r[0], dy = (p[sy] - p[-sy]) * 0.5f * r[1], dz = (p[sz] - p[-sz]) * 0.5f * r[2];
    const float slope = tsr_csg_length3(dx, dy, dz);
    const float bend = tsr_csg_length3((p[1] - 2.0f * v + p[-1]) * 0.5f * r[0], (p[sy] - 2.0f * v + p[-sy]) * 0.5f * r[1],
                                       (p[sz] - 2.0f * v + p[-sz]) * 0.5f * r[2]);
    /* the voxel's edge along the normal; where there is none, in the middle of a wall, along the first axis */
    const float edge = tsr_csg_length3(dx * m->spacing[0], dy * m->spacing[1], dz * m->spacing[2]) / slope, h = slope > 0.0f ? edge : m->along;
    const double level = (double)v / (double)h, whole = v < 0.0f ? 1.0 : 0.0;
    /* so near to a surface some voxel beside is on its other side; where none is, bodies have met, and the surface between them is gone */
    const double wall = crossed ? 0.0 : 0.75, away = level < 0.0 ? 0.0 - level : level;
    const double sloped = m->known ? (double)tsr_csg_slope(slope, bend) : 1.0, found = tsr_csg_delta(level, width) / (double)h * sloped;
    const double bent = found * (double)tsr_curvature(p, sy, sz, r), curved = found != 0.0 ? bent : 0.0;
    const double inside = 1.0 - tsr_csg_step(level, width) - 0.5 * tsr_csg_moment(width) * (double)h * (double)h * curved;
    const tsr_csg_share s = { away < wall ? whole : inside, away < wall ? 0.0 : found, away < wall ? 0.0 : curved };
    return s;
}
/* Adds the share of the voxel (x, y, z): volume inside, area, K times area, volume times the place. */
TSR_HD void tsr_csg_measure_add(const tsr_csg_share *share, int32_t x, int32_t y, int32_t z, double sums[6])
{
    sums[0] += share->inside;
    sums[1] += share->area;
    sums[2] += share->curved;
    sums[3] += share->inside * (double)x;
    sums[4] += share->inside * (double)y;
    sums[5] += share->inside * (double)z;
}

/* Item: plane z of tile i / edge. sums[item] = volume inside (smeared step), area (delta |grad|), K delta |grad|, positions (volume times x, y, z
 * of the band voxels); corners += vertices, edges, faces and cells of the complex of inside voxels joined by faces. Of a plane: its area, the length of
 * its curves, K of curves; there are no cells. */
TSR_HD void tsr_csg_measure(const tsr_csg_args *g, int64_t i)
{
    const tsr_tile_pool *p = &g->a;
    const int32_t E = 1 << p->log2_edge, z = (int32_t)(i % E), V = E * E * E;
    const uint32_t id = p->id[p->state->list][i / E];
    const uint64_t key = tsr_pool_key(p, p->state->list, i / E);
    const tsr_csg_window w = tsr_csg_window_of(p, key, id);
    const tsr_csg_gauge m = tsr_csg_gauge_of(g);
    double sums[6] = { 0 };
    int64_t corners[4] = { 0 };
    for (int32_t k = 0; k < E * E; k++) {
        int32_t x = k % E, y = k / E;
        if (x > w.high[0] || y > w.high[1] || z > w.high[2]) continue;
        float v = w.phi[(int64_t)id * V + z * E * E + k], cube[27];
        tsr_csg_share share = { v < 0.0f ? 1.0 : 0.0, 0.0, 0.0 };
        if (tsr_absf(v) < m.beyond) {
            for (int32_t c = 0; c < 27; c++) cube[c] = tsr_csg_seen(&w, x + c % 3 - 1, y + c / 3 % 3 - 1, z + c / 9 - 1);
            share = tsr_csg_measure_near(&m, m.width, cube + 13, 3, 9, tsr_csg_crossed(cube + 13, 3, 9));
        }
        tsr_csg_measure_add(&share, tsr_key_x(key) * E + x, tsr_key_y(key) * E + y, tsr_key_z(key) * E + z, sums);
        if (v < 0.0f) {
            uint32_t in = 0;
            for (int32_t c = 0; c < 8; c++) in |= tsr_csg_solid_at(&w, x + (c & 1), y + (c >> 1 & 1), z + (c >> 2)) << c;
            corners[0]++;
            corners[1] += (int64_t)(in >> 1 & 1u) + (in >> 2 & 1u) + (in >> 4 & 1u);
            corners[2] += (int64_t)((in & 0x0fu) == 0x0fu) + ((in & 0x33u) == 0x33u) + ((in & 0x55u) == 0x55u);
            corners[3] += in == 0xffu;
        }
    }
    for (int32_t k = 0; k < 6; k++) g->sums[i * 6 + k] = sums[k];
    for (int32_t k = 0; k < 4; k++)
        if (corners[k]) tsr_csg_add(&g->corners[k], corners[k]);
}

#endif
