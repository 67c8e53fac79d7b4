/* algebra/csg_kernels.h: the bodies named in csg_ops.h. Integer counts use atomics, whose order does not matter; real sums go to their own place
 * and are added in a fixed order by the host. */
#ifndef TSR_ALGEBRA_CSG_KERNELS_H
#define TSR_ALGEBRA_CSG_KERNELS_H

#include "tiles/tiles_absent.h"
#include "algebra/csg_ops.h"

#if defined(__CUDA_ARCH__)
TSR_HD void tsr_csg_add(int64_t *to, int64_t v) { atomicAdd((unsigned long long *)(void *)to, (unsigned long long)v); }
TSR_HD uint32_t tsr_csg_next(uint32_t *to) { return atomicAdd(to, 1u); }
TSR_HD void tsr_csg_or(uint32_t *to, uint32_t v) { atomicOr(to, v); }
TSR_HD uint32_t tsr_csg_least(uint32_t *to, uint32_t v) { return atomicMin(to, v); }
TSR_HD uint32_t tsr_csg_peek(const uint32_t *from) { return __ldcg(from); }
#else
TSR_HD void tsr_csg_add(int64_t *to, int64_t v) { __atomic_fetch_add(to, v, __ATOMIC_RELAXED); }
TSR_HD uint32_t tsr_csg_next(uint32_t *to) { return __atomic_fetch_add(to, 1u, __ATOMIC_RELAXED); }
TSR_HD void tsr_csg_or(uint32_t *to, uint32_t v) { __atomic_fetch_or(to, v, __ATOMIC_RELAXED); }
TSR_HD uint32_t tsr_csg_least(uint32_t *to, uint32_t v)
{
    uint32_t old = __atomic_load_n(to, __ATOMIC_RELAXED);
    while (v < old && !__atomic_compare_exchange_n(to, &old, v, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
    return old;
}
TSR_HD uint32_t tsr_csg_peek(const uint32_t *from) { return __atomic_load_n(from, __ATOMIC_RELAXED); }
#endif

/* ---- reading a list -------------------------------------------------------------------------------------------------------------------- */

TSR_HD int32_t tsr_csg_voxels(const tsr_tile_pool *p) { return 1 << (3 * p->log2_edge); }
TSR_HD const float *tsr_csg_phi(const tsr_tile_pool *p) { return p->phi[p->state->phi]; }
TSR_HD uint32_t tsr_csg_find(const tsr_tile_pool *p, uint64_t key)
{
    const tsr_tile_state *s = p->state;
    return tsr_tile_find(p, tsr_pool_keys(p, s->list), p->id[s->list], s->count, s->background, key);
}
/* Value of voxel (x, y, z) of a tile, coordinates from -1 to edge: through its row of neighbours. */
TSR_HD float tsr_csg_at(const tsr_tile_pool *p, const float *phi, const uint32_t *row, int32_t x, int32_t y, int32_t z)
{
    const int32_t E = 1 << p->log2_edge, m = E - 1, d = 9 * ((z >> p->log2_edge) + 1) + 3 * ((y >> p->log2_edge) + 1) + (x >> p->log2_edge) + 1;
    return phi[(int64_t)row[d] * E * E * E + (((z & m) * E + (y & m)) * E + (x & m))];
}

/* ---- lists with a domain ------------------------------------------------------------------------------------------------------------------ */

/* The voxel of the tile that lies in the domain nearest to voxel k: beyond it the field is replicated. */
TSR_HD int32_t tsr_csg_in_domain(const tsr_tile_pool *p, uint64_t key, int32_t k)
{
    const int32_t l = p->log2_edge, m = (1 << l) - 1;
    if (!p->bounded) return k;
    const int32_t x = tsr_mini(k & m, p->domain[0] - 1 - (tsr_key_x(key) << l)), y = tsr_mini(k >> l & m, p->domain[1] - 1 - (tsr_key_y(key) << l)),
                  z = tsr_mini(k >> 2 * l, p->domain[2] - 1 - (tsr_key_z(key) << l));
    return (z << 2 * l) + (y << l) + x;
}
/* Does the neighbour of this tile in direction d lie in the domain? */
TSR_HD int tsr_csg_faces_domain(const tsr_tile_pool *p, uint64_t key, int32_t d)
{
    return !p->bounded || tsr_tile_allowed(p, key + (uint64_t)tsr_key_offset(d));
}

/* A walk through the field: remembers the tile of the last voxel. */
typedef struct tsr_csg_reader {
    const tsr_tile_pool *pool;
    const float *phi;
    uint64_t key;
    uint32_t id;
} tsr_csg_reader;
TSR_HD float tsr_csg_voxel(tsr_csg_reader *r, int32_t x, int32_t y, int32_t z)
{
    const int32_t l = r->pool->log2_edge, m = (1 << l) - 1;
    uint64_t key = tsr_key_make(x >> l, y >> l, z >> l);
    if (key != r->key) {
        r->key = key;
        r->id = tsr_csg_find(r->pool, key);
    }
    return r->phi[((int64_t)r->id << (3 * l)) + ((((z & m) << l) + (y & m)) << l) + (x & m)];
}

/* Cubic where all 64 samples lie in the band, else linear; a cell of one constant keeps it. (x, y, z) in index units of the source. */
TSR_HD float tsr_csg_sample(tsr_csg_reader *r, double x, double y, double z, float band)
{
    int32_t ix = (int32_t)x - (x < (double)(int32_t)x), iy = (int32_t)y - (y < (double)(int32_t)y), iz = (int32_t)z - (z < (double)(int32_t)z);
    float tx = (float)(x - (double)ix), ty = (float)(y - (double)iy), tz = (float)(z - (double)iz), v[8];
    int32_t full = 0, empty = 0;
    for (int32_t i = 0; i < 8; i++) {
        v[i] = tsr_csg_voxel(r, ix + (i & 1), iy + (i >> 1 & 1), iz + (i >> 2));
        full += v[i] <= 0.0f - band;
        empty += v[i] >= band;
    }
    if (full == 8) return 0.0f - band;
    if (empty == 8) return band;
    if (full == 0 && empty == 0) {
        float wx[4], wy[4], wz[4], sum = 0.0f;
        int32_t clean = 1;
        tsr_csg_cubic(tx, wx);
        tsr_csg_cubic(ty, wy);
        tsr_csg_cubic(tz, wz);
        for (int32_t c = 0; c < 4 && clean; c++)
            for (int32_t b = 0; b < 4; b++) {
                float line = 0.0f;
                for (int32_t a = 0; a < 4; a++) {
                    float s = tsr_csg_voxel(r, ix - 1 + a, iy - 1 + b, iz - 1 + c);
                    clean &= s > 0.0f - band && s < band;
                    line = line + wx[a] * s;
                }
                sum = sum + wz[c] * wy[b] * line;
            }
        if (clean) return sum;
    }
    for (int32_t i = 0; i < 4; i++) v[i] = v[2 * i] + (v[2 * i + 1] - v[2 * i]) * tx;
    v[0] = v[0] + (v[1] - v[0]) * ty;
    v[1] = v[2] + (v[3] - v[2]) * ty;
    return v[0] + (v[1] - v[0]) * tz;
}
/* The field that resampling sees at a voxel of the target. */
TSR_HD float tsr_csg_resampled(const tsr_csg_args *g, tsr_csg_reader *r, int32_t x, int32_t y, int32_t z)
{
    const double *m = g->matrix, X = (double)x, Y = (double)y, Z = (double)z;
    const float v = tsr_csg_sample(r, ((m[0] * X + m[1] * Y) + m[2] * Z) + m[3], ((m[4] * X + m[5] * Y) + m[6] * Z) + m[7],
                                   ((m[8] * X + m[9] * Y) + m[10] * Z) + m[11], g->a.band);
    /* of a smaller image the field ends in plateaus at the scaled band: a jump there would shift the crossings beside it */
    return tsr_clampf(v * g->scale, 0.0f - g->to.band, g->to.band) + 0.0f;
}

/* ---- lists: borders, look-up, patches ------------------------------------------------------------------------------------------------------ */

/* words[i] of a combination of a and b with sources first and second (b may be unused). */
TSR_HD void tsr_csg_borders(const tsr_csg_args *g, int64_t i)
{
    const uint32_t *ra = g->a.neighbours + (int64_t)g->first[i] * TSR_NEIGHBOUR_ROW;
    const uint32_t *rb = g->second ? g->b.neighbours + (int64_t)g->second[i] * TSR_NEIGHBOUR_ROW : ra;
    uint32_t word = 0;
    for (int32_t d = 0; d < TSR_TILE_DIRECTIONS; d++)
        if (ra[d] < TSR_TILE_FIRST && rb[d] < TSR_TILE_FIRST && tsr_csg_faces_domain(&g->a, g->keys[i], d))
            word |= tsr_csg_combine_sign(g->operation, ra[d], rb[d], g->amount) << d;
    g->words[i] = word;
}
/* The signs that the neighbours of a tile have for it if they are not stored: a stored one counts as its voxel next to the tile. */
TSR_HD uint32_t tsr_csg_facing_word(const tsr_tile_pool *p, uint32_t id)
{
    const uint32_t *row = p->neighbours + (int64_t)id * TSR_NEIGHBOUR_ROW;
    const float *phi = tsr_csg_phi(p);
    const int32_t E = 1 << p->log2_edge, facing[3] = { -1, E / 2, E };
    uint32_t word = 0;
    for (int32_t d = 0; d < TSR_TILE_DIRECTIONS; d++) {
        float v = tsr_csg_at(p, phi, row, facing[tsr_direction_x(d) + 1], facing[tsr_direction_y(d) + 1], facing[tsr_direction_z(d) + 1]);
        word |= (uint32_t)(v < 0.0f) << d;
    }
    return word;
}
/* words[i] of a part of a. */
TSR_HD void tsr_csg_sub_borders(const tsr_csg_args *g, int64_t i) { g->words[i] = tsr_csg_facing_word(&g->a, g->first[i]); }
/* words[i] of a resampled list: the sign at the middle of the neighbour. */
TSR_HD void tsr_csg_probe_borders(const tsr_csg_args *g, int64_t i)
{
    const int32_t E = 1 << g->to.log2_edge;
    tsr_csg_reader r = { &g->a, tsr_csg_phi(&g->a), TSR_KEY_END, 0 };
    uint32_t word = 0;
    for (int32_t d = 0; d < TSR_TILE_DIRECTIONS; d++) {
        uint64_t key = g->keys[i] + (uint64_t)tsr_key_offset(d);
        word |= (uint32_t)(tsr_csg_resampled(g, &r, tsr_key_x(key) * E + E / 2, tsr_key_y(key) * E + E / 2, tsr_key_z(key) * E + E / 2) < 0.0f) << d;
    }
    g->words[i] = word;
}
/* first[i] = id of keys[i] in a, stored or static. */
TSR_HD void tsr_csg_locate(const tsr_csg_args *g, int64_t i) { g->first[i] = tsr_csg_find(&g->a, g->keys[i]); }
/* The same where a is a part of a list, cut out and moved, and pages[i] are what the list had there. A tile that the part has dropped since is of one sign,
 * which its rows cannot tell: what follows the tile in the list may lie beyond the cut. Its stored neighbours know; without any it is as it was. */
TSR_HD void tsr_csg_locate_moved(const tsr_csg_args *g, int64_t i)
{
    const int32_t V = tsr_csg_voxels(&g->a);
    uint32_t id = tsr_csg_find(&g->a, g->keys[i]), known = TSR_TILE_FIRST;
    for (int32_t d = 0; d < TSR_TILE_DIRECTIONS && id < TSR_TILE_FIRST && known >= TSR_TILE_FIRST; d++) {
        const uint32_t beside = tsr_csg_find(&g->a, g->keys[i] + (uint64_t)tsr_key_offset(d));
        if (beside >= TSR_TILE_FIRST) known = g->a.neighbours[(int64_t)beside * TSR_NEIGHBOUR_ROW + TSR_TILE_DIRECTIONS - 1 - d];
    }
    if (id < TSR_TILE_FIRST && known >= TSR_TILE_FIRST) {
        float sum = 0.0f;
        for (int32_t k = 0; k < V; k++) sum = sum + g->pages[i * V + k];
        known = sum < 0.0f ? TSR_TILE_INSIDE : TSR_TILE_OUTSIDE;
    }
    g->first[i] = id < TSR_TILE_FIRST ? known : id;
}
/* keys[i], first[i] = entry i of a, key shifted. */
TSR_HD void tsr_csg_locate_entry(const tsr_csg_args *g, int64_t i)
{
    g->keys[i] = tsr_pool_key(&g->a, g->a.state->list, i) + (uint64_t)g->shift_a;
    g->first[i] = g->a.id[g->a.state->list][i];
}
/* Entries of a from keys[i] to keys[i] + shift_a (not included): first[i] <= entry < second[i]. */
TSR_HD void tsr_csg_row_ends(const tsr_csg_args *g, int64_t i)
{
    const tsr_tile_state *s = g->a.state;
    g->first[i] = (uint32_t)tsr_keys_lower_bound(tsr_pool_keys(&g->a, s->list), s->count, g->keys[i]);
    g->second[i] = (uint32_t)tsr_keys_lower_bound(tsr_pool_keys(&g->a, s->list), s->count, g->keys[i] + (uint64_t)g->shift_a);
}
/* Their keys, row after row, from tallies[flags[i]]. */
TSR_HD void tsr_csg_row_keys(const tsr_csg_args *g, int64_t i)
{
    const tsr_keys keys = tsr_pool_keys(&g->a, g->a.state->list);
    for (uint32_t entry = g->first[i]; entry < g->second[i]; entry++) g->tallies[g->flags[i] + (entry - g->first[i])] = tsr_key_at(keys, entry);
}
TSR_HD uint32_t tsr_csg_word_of(const tsr_tile_pool *p, uint32_t id)
{
    const uint32_t *row = p->neighbours + (int64_t)id * TSR_NEIGHBOUR_ROW;
    uint32_t word = 0;
    for (int32_t d = 0; d < TSR_TILE_DIRECTIONS; d++)
        if (row[d] < TSR_TILE_FIRST) word |= row[d] << d;
    return word;
}
/* words[i] of a patch: management may have made a neighbour that the list does not have when the patch comes back. */
TSR_HD void tsr_csg_read_borders(const tsr_csg_args *g, int64_t i) { g->words[i] = tsr_csg_facing_word(&g->a, g->first[i]); }
TSR_HD void tsr_csg_write_borders(const tsr_csg_args *g, int64_t i)
{
    uint32_t *row = g->a.neighbours + (int64_t)g->first[i] * TSR_NEIGHBOUR_ROW;
    if (g->first[i] < TSR_TILE_FIRST) return;
    for (int32_t d = 0; d < TSR_TILE_DIRECTIONS; d++)
        if (row[d] < TSR_TILE_FIRST) row[d] = g->words[i] >> d & 1u;
}

/* ---- activity and counts of listed tiles (first: ids in a) ------------------------------------------------------------------------------------- */

TSR_HD void tsr_csg_activity_begin(const tsr_csg_args *g, int64_t i) { g->flags[i] = 0; }
TSR_HD void tsr_csg_activity_tile(const tsr_csg_args *g, int64_t i, int32_t first, int32_t step)
{
    const tsr_tile_pool *p = &g->a;
    const int32_t E = 1 << p->log2_edge, V = E * E * E;
    uint32_t id = g->first[i], areas = 0;
    if (id < TSR_TILE_FIRST) return;
    const float *phi = tsr_csg_phi(p);
    const uint32_t *row = p->neighbours + (int64_t)id * TSR_NEIGHBOUR_ROW;
    for (int32_t k = first; k < V; k += step) {
        int32_t x = k % E, y = k / E % E, z = k / (E * E);
        float v = phi[(int64_t)id * V + k];
        int in = v<0.0f, kept = v> 0.0f - p->band && v < p->band;
        kept |= (tsr_csg_at(p, phi, row, x - 1, y, z) < 0.0f) != in || (tsr_csg_at(p, phi, row, x + 1, y, z) < 0.0f) != in ||
                (tsr_csg_at(p, phi, row, x, y - 1, z) < 0.0f) != in || (tsr_csg_at(p, phi, row, x, y + 1, z) < 0.0f) != in ||
                (tsr_csg_at(p, phi, row, x, y, z - 1) < 0.0f) != in || (tsr_csg_at(p, phi, row, x, y, z + 1) < 0.0f) != in;
        if (kept) areas |= 1u << tsr_area(x, y, z, E);
    }
    if (areas) tsr_csg_or(&g->flags[i], areas);
}
TSR_HD void tsr_csg_activity_end(const tsr_csg_args *g, int64_t i)
{
    uint32_t id = g->first[i];
    if (id < TSR_TILE_FIRST) return;
    float v = tsr_csg_phi(&g->a)[(int64_t)id * tsr_csg_voxels(&g->a)];
    g->a.activity[id] = g->flags[i] ? g->flags[i] : v > 0.0f ? TSR_ACTIVITY_OUTSIDE : 0u;
}
/* Adds (wanted > 0) or takes away the voxels of the listed tiles from the counts of a. */
TSR_HD void tsr_csg_count_tile(const tsr_csg_args *g, int64_t i, int32_t first, int32_t step)
{
    const int32_t V = tsr_csg_voxels(&g->a);
    int64_t active = 0, inside = 0;
    if (g->first[i] < TSR_TILE_FIRST) return;
    const float *v = tsr_csg_phi(&g->a) + (int64_t)g->first[i] * V;
    for (int32_t k = first; k < V; k += step) {
        active += v[k] > 0.0f - g->a.band && v[k] < g->a.band;
        inside += v[k] < 0.0f;
    }
    if (active) tsr_csg_add(&g->a.state->active_voxels, g->wanted > 0 ? active : -active);
    if (inside) tsr_csg_add(&g->a.state->inside_voxels, g->wanted > 0 ? inside : -inside);
}
/* totals[0] += positive voxels. */
TSR_HD void tsr_csg_positive_tile(const tsr_csg_args *g, int64_t i, int32_t first, int32_t step)
{
    const int32_t V = tsr_csg_voxels(&g->a);
    const float *v = tsr_csg_phi(&g->a) + (int64_t)g->first[i] * V;
    int64_t positive = 0;
    for (int32_t k = first; k < V; k += step) positive += v[k] > 0.0f;
    if (positive) tsr_csg_add(g->totals, positive);
}
/* totals[0] += voxels inside one list and outside the other where one of the fields is at the end of its band: a surface between both may lie there, and
 * a clamped value puts it in the wrong place. */
TSR_HD void tsr_csg_conflict_tile(const tsr_csg_args *g, int64_t i, int32_t first, int32_t step)
{
    const int32_t V = tsr_csg_voxels(&g->a);
    const float *a = tsr_csg_phi(&g->a) + (int64_t)g->first[i] * V, *b = tsr_csg_phi(&g->b) + (int64_t)g->second[i] * V, band = g->a.band;
    int64_t conflicts = 0;
    for (int32_t k = first; k < V; k += step)
        if (tsr_csg_in_domain(&g->a, g->keys[i], k) == k)
            conflicts += (a[k] < 0.0f) != (b[k] < 0.0f) && (a[k] <= 0.0f - band || a[k] >= band || b[k] <= 0.0f - band || b[k] >= band);
    if (conflicts) tsr_csg_add(g->totals, conflicts);
}
TSR_HD void tsr_csg_enclosed(const tsr_csg_args *g, int64_t i)
{
    const tsr_tile_state *s = g->a.state;
    int64_t inside = tsr_absent_inside(&g->a, tsr_pool_keys(&g->a, s->list), g->a.id[s->list], s->count, s->background, (int32_t)i);
    if (inside) tsr_csg_add(&g->a.state->inside_absent, inside);
}
/* sums[5 i ..] = voxels of the absent inside tiles that belong to entry i, the sums of their x, y, z, and their share of the Euler characteristic: within
 * the inside a voxel's vertex, edges, faces and cell towards its next neighbours cancel out; in a domain that of its last voxel stands alone. */
TSR_HD void tsr_csg_enclosed_sums(const tsr_csg_args *g, int64_t i)
{
    const tsr_tile_pool *p = &g->a;
    const tsr_tile_state *s = p->state;
    const tsr_keys keys = tsr_pool_keys(p, s->list);
    const uint32_t *ids = p->id[s->list];
    double sums[5] = { 0 };
    int32_t low[3], high[3];
    int64_t middle[3];
    for (int32_t kind = 0; kind < tsr_absent_kinds(p); kind++) {
        if (!tsr_absent_box(p, keys, s->count, (int32_t)i, kind, low, high)) continue;
        if (tsr_absent_constant(p, keys, ids, s->count, s->background, (int32_t)i, kind, low) != TSR_TILE_INSIDE) continue;
        const double n = (double)tsr_absent_voxels(p, low, high, middle);
        sums[0] += n;
        for (int32_t k = 0; k < 3; k++) sums[1 + k] += n * (0.5 * (double)middle[k]);
        if (p->bounded && high[0] == p->tiles[0] && high[1] == p->tiles[1] && high[2] == p->tiles[2]) sums[4] += 1;
    }
    for (int32_t k = 0; k < 5; k++) g->sums[5 * i + k] = sums[k];
}

/* How far from the origin a sample lies, and the farthest of a tile (tsr_csg_near). */
TSR_HD float tsr_csg_reach(const float spacing[3], int32_t x, int32_t y, int32_t z)
{
    return tsr_maxf(tsr_absf((float)x) * spacing[0], tsr_maxf(tsr_absf((float)y) * spacing[1], tsr_absf((float)z) * spacing[2]));
}
TSR_HD float tsr_csg_tile_reach(const tsr_tile_pool *p, uint64_t key)
{
    const int32_t E = 1 << p->log2_edge, x = tsr_key_x(key), y = tsr_key_y(key), z = tsr_key_z(key);
    return tsr_csg_reach(p->spacing, E * (x + (x >= 0)), E * (y + (y >= 0)), E * (z + (z >= 0)));
}

/* ---- values ------------------------------------------------------------------------------------------------------------------------------- */

/* Tile i of `to` (id i + 2) from tiles first[i] of a and second[i] of b. */
/* The side of voxel k, which lies on the surface: that of the point beside it, displaced a little along x, less along y and least along z, as far as the voxels on
 * that way know: a body holds the voxels of its lower faces (docs/guide/editing.md). -1 inside, 1 outside, 0: no voxel knows. */
TSR_HD int32_t tsr_csg_side(const tsr_tile_pool *p, uint64_t key, uint32_t id, int32_t k, float near)
{
    const int32_t l = p->log2_edge, m = (1 << l) - 1, x = k & m, y = k >> l & m, z = k >> (2 * l);
    const int32_t first[3] = { tsr_key_x(key) * (m + 1), tsr_key_y(key) * (m + 1), tsr_key_z(key) * (m + 1) };
    const uint32_t *row = p->neighbours + (int64_t)id * TSR_NEIGHBOUR_ROW;
    for (int32_t i = 0; i < 7; i++) {
        const int32_t d = 0x4625731 >> (4 * i) & 7, to[3] = { x + (d & 1), y + (d >> 1 & 1), z + (d >> 2) }; /* x, xy, xyz, xz, y, yz, z */
        if (p->bounded && (first[0] + to[0] >= p->domain[0] || first[1] + to[1] >= p->domain[1] || first[2] + to[2] >= p->domain[2])) continue;
        const float v = tsr_csg_at(p, tsr_csg_phi(p), row, to[0], to[1], to[2]);
        if (tsr_absf(v) > near) return v < 0.0f ? -1 : 1;
    }
    return 0;
}
/* Do bodies a and b meet in voxel k, which lies on the surface of both? They do where they lie on different sides of it and nothing beside it is outside
 * both: on the rim of what they share something is. */
TSR_HD int tsr_csg_met(const tsr_csg_args *g, int64_t i, uint32_t ia, uint32_t ib, int32_t k, float near)
{
    const tsr_tile_pool *p = &g->a, *q = &g->b;
    const int32_t l = p->log2_edge, m = (1 << l) - 1, x = k & m, y = k >> l & m, z = k >> (2 * l);
    const uint64_t key = g->keys[i];
    if (tsr_csg_side(p, key, ia, k, near) * tsr_csg_side(q, key, ib, k, near) >= 0) return 0;
    const uint32_t *ra = p->neighbours + (int64_t)ia * TSR_NEIGHBOUR_ROW, *rb = q->neighbours + (int64_t)ib * TSR_NEIGHBOUR_ROW;
    for (int32_t d = 0; d < TSR_TILE_DIRECTIONS; d++) {
        const int32_t to[3] = { x + tsr_direction_x(d), y + tsr_direction_y(d), z + tsr_direction_z(d) };
        const int32_t at[3] = { tsr_key_x(key) * (m + 1) + to[0], tsr_key_y(key) * (m + 1) + to[1], tsr_key_z(key) * (m + 1) + to[2] };
        if (p->bounded && (at[0] < 0 || at[1] < 0 || at[2] < 0 || at[0] >= p->domain[0] || at[1] >= p->domain[1] || at[2] >= p->domain[2])) continue;
        if (tsr_csg_at(p, tsr_csg_phi(p), ra, to[0], to[1], to[2]) > near && tsr_csg_at(q, tsr_csg_phi(q), rb, to[0], to[1], to[2]) > near) return 0;
    }
    return 1;
}
TSR_HD void tsr_csg_combine_tile(const tsr_csg_args *g, int64_t i, int32_t first, int32_t step)
{
    const int32_t V = tsr_csg_voxels(&g->to);
    const uint32_t ia = g->first[i], ib = g->second ? g->second[i] : ia;
    const float *a = tsr_csg_phi(&g->a) + (int64_t)ia * V, *b = g->second ? tsr_csg_phi(&g->b) + (int64_t)ib * V : a;
    float *to = g->to.phi[0] + (i + TSR_TILE_FIRST) * V;
    const float near = tsr_csg_near(g->to.spacing, tsr_csg_tile_reach(&g->to, g->keys[i]));
    int32_t both = 0;
    for (int32_t k = first; k < V; k += step) {
        const int32_t at = tsr_csg_in_domain(&g->to, g->keys[i], k);
        to[k] = tsr_csg_combine(g->operation, a[at], b[at], g->amount, g->to.band);
        both |= (tsr_absf(a[at]) <= near) & (tsr_absf(b[at]) <= near);
    }
    if (!both || g->operation != TSR_CSG_UNION) return; /* the others leave such a voxel outside, as they should */
    for (int32_t k = first; k < V; k += step) {
        const int32_t at = tsr_csg_in_domain(&g->to, g->keys[i], k);
        if (tsr_absf(a[at]) <= near && tsr_absf(b[at]) <= near && tsr_csg_met(g, i, ia, ib, at, near))
            to[k] = tsr_minf(to[k], 0.0f - near * TSR_CSG_LEAST);
    }
}
TSR_HD void tsr_csg_shape_tile(const tsr_csg_args *g, int64_t i, int32_t first, int32_t step)
{
    const tsr_tile_pool *p = &g->to;
    const int32_t E = 1 << p->log2_edge, V = E * E * E;
    uint64_t key = g->keys[i];
    float *to = p->phi[0] + (i + TSR_TILE_FIRST) * V;
    for (int32_t k = first; k < V; k += step) {
        float x[3] = { (float)(tsr_key_x(key) * E + k % E) * p->spacing[0], (float)(tsr_key_y(key) * E + k / E % E) * p->spacing[1],
                       (float)(tsr_key_z(key) * E + k / (E * E)) * p->spacing[2] };
        to[k] = tsr_clampf(tsr_csg_distance(&g->shape, x), 0.0f - p->band, p->band) + 0.0f;
    }
}
TSR_HD void tsr_csg_resample_tile(const tsr_csg_args *g, int64_t i, int32_t first, int32_t step)
{
    const int32_t E = 1 << g->to.log2_edge, V = E * E * E;
    uint64_t key = g->keys[i];
    float *to = g->to.phi[0] + (i + TSR_TILE_FIRST) * V;
    tsr_csg_reader r = { &g->a, tsr_csg_phi(&g->a), TSR_KEY_END, 0 };
    for (int32_t k = first; k < V; k += step)
        to[k] = tsr_csg_resampled(g, &r, tsr_key_x(key) * E + k % E, tsr_key_y(key) * E + k / E % E, tsr_key_z(key) * E + k / (E * E));
}
TSR_HD void tsr_csg_read_tile(const tsr_csg_args *g, int64_t i, int32_t first, int32_t step)
{
    const int32_t V = tsr_csg_voxels(&g->a);
    const float *from = tsr_csg_phi(&g->a) + (int64_t)g->first[i] * V;
    for (int32_t k = first; k < V; k += step) g->pages[i * V + k] = from[k];
}
TSR_HD void tsr_csg_write_tile(const tsr_csg_args *g, int64_t i, int32_t first, int32_t step)
{
    const int32_t V = tsr_csg_voxels(&g->a);
    if (g->first[i] < TSR_TILE_FIRST) return;
    float *to = g->a.phi[g->a.state->phi] + (int64_t)g->first[i] * V;
    for (int32_t k = first; k < V; k += step) to[k] = g->pages[i * V + k];
}
/* flags[i] |= 1 if tile first[i] of a and second[i] of b are not the same bits, or the space around them. */
TSR_HD void tsr_csg_differs_tile(const tsr_csg_args *g, int64_t i, int32_t first, int32_t step)
{
    const int32_t V = tsr_csg_voxels(&g->a);
    uint32_t a = g->first[i], b = g->second[i];
    const float *va = tsr_csg_phi(&g->a) + (int64_t)a * V, *vb = tsr_csg_phi(&g->b) + (int64_t)b * V;
    int differs = (a < TSR_TILE_FIRST) != (b < TSR_TILE_FIRST);
    if (first == 0) {
        const uint32_t words = tsr_csg_word_of(&g->a, a) ^ tsr_csg_word_of(&g->b, b);
        for (int32_t d = 0; d < TSR_TILE_DIRECTIONS; d++) differs |= (int)(words >> d & 1u) & tsr_csg_faces_domain(&g->a, g->keys[i], d);
    }
    for (int32_t k = first; k < V && !differs; k += step)
        differs = tsr_float_bits(va[k]) != tsr_float_bits(vb[k]) && tsr_csg_in_domain(&g->a, g->keys[i], k) == k;
    if (differs) tsr_csg_or(&g->flags[i], 1u);
}
/* Within the sphere `shape` the pages take the values of a (ids first), beyond it they stay. */
TSR_HD void tsr_csg_ball_tile(const tsr_csg_args *g, int64_t i, int32_t first, int32_t step)
{
    const tsr_tile_pool *p = &g->a;
    const int32_t E = 1 << p->log2_edge, V = E * E * E;
    uint64_t key = g->keys[i];
    const float *from = tsr_csg_phi(p) + (int64_t)g->first[i] * V;
    for (int32_t k = first; k < V; k += step) {
        float x = (float)(tsr_key_x(key) * E + k % E) * p->spacing[0] - g->shape.centre[0];
        float y = (float)(tsr_key_y(key) * E + k / E % E) * p->spacing[1] - g->shape.centre[1];
        float z = (float)(tsr_key_z(key) * E + k / (E * E)) * p->spacing[2] - g->shape.centre[2];
        if ((x * x + y * y) + z * z <= g->shape.radius * g->shape.radius) g->pages[i * V + k] = from[k];
    }
}

#endif
