/* algebra/csg_tiles_cpu.c: components and measures of a tile list on the CPU, tile by tile.
 *
 * The signs of a tile are bits, a word per plane: what hangs together within it is found by filling words, and only voxels at its faces meet others. A set
 * is named by its smallest node, as everywhere (csg_labels.h), so the labels are those of the union voxel by voxel. */
#include "algebra/csg_tiles_cpu.h"

#include "core/parallel.h"
#include "algebra/csg_labels.h"

enum { GRAIN = 64, ROW = TSR_CSG_ROW }; /* tiles at a time; bits between rows of a plane, whatever the edge */

#define COLUMN 0x0101010101010101ull

/* ---- sets --------------------------------------------------------------------------------------------------------------------------------- */

/* Halves the way on each visit: a node's new parent is above it, and its set stays what it is whoever else writes. */
static uint32_t root_of(uint32_t *parent, uint32_t i)
{
    for (;;) {
        const uint32_t up = __atomic_load_n(parent + i, __ATOMIC_RELAXED);
        if (up == i) return i;
        const uint32_t top = __atomic_load_n(parent + up, __ATOMIC_RELAXED);
        if (top != up) __atomic_store_n(parent + i, top, __ATOMIC_RELAXED);
        i = top;
    }
}
/* Only a root is linked, and to a smaller one. */
static void unite(uint32_t *parent, uint32_t a, uint32_t b)
{
    for (;;) {
        a = root_of(parent, a);
        b = root_of(parent, b);
        if (a == b) return;
        uint32_t high = a < b ? b : a, low = a < b ? a : b, expected = high;
        if (__atomic_compare_exchange_n(parent + high, &expected, low, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) return;
    }
}
/* A pair of sets that was united last: voxels side by side ask for the same again. */
typedef struct pair {
    uint32_t a, b;
} pair;
static void unite_new(uint32_t *parent, uint32_t a, uint32_t b, pair *last)
{
    const pair now = { __atomic_load_n(parent + a, __ATOMIC_RELAXED), __atomic_load_n(parent + b, __ATOMIC_RELAXED) };
    if (now.a == now.b || (now.a == last->a && now.b == last->b)) return;
    if (now.a == TSR_CSG_NO_LABEL || now.b == TSR_CSG_NO_LABEL) return; /* as tsr_csg_unite: where the signs of a list contradict each other */
    unite(parent, a, b);
    *last = now;
}

/* ---- components of a tile ------------------------------------------------------------------------------------------------------------------- */

static uint64_t spread_x(uint64_t w) { return w | (w << 1 & ~COLUMN) | (w >> 1 & ~(COLUMN << 7)); }
static uint64_t spread_y(uint64_t w) { return w | w << ROW | w >> ROW; }
static uint64_t spread(uint64_t w, int diagonals) { return diagonals ? spread_y(spread_x(w)) : spread_x(w) | spread_y(w); }

static uint64_t fill_plane(uint64_t seed, uint64_t mask, int diagonals)
{
    for (;;) {
        const uint64_t grown = spread(seed, diagonals) & mask;
        if (grown == seed) return seed;
        seed = grown;
    }
}

/* What hangs together with the bits in `found` (in `mask`): up and down through the planes until nothing is added. */
static void fill_tile(uint64_t *found, const uint64_t *mask, int32_t planes, int diagonals)
{
    for (int changed = 1; changed;) {
        changed = 0;
        for (int32_t i = 0; i < 2 * planes; i++) {
            const int32_t z = i < planes ? i : 2 * planes - 1 - i, beside = i < planes ? z - 1 : z + 1;
            const uint64_t from = beside < 0 || beside >= planes ? 0 : diagonals ? spread(found[beside], 1) : found[beside];
            const uint64_t seed = found[z] | (from & mask[z]);
            if (!seed) continue;
            const uint64_t grown = fill_plane(seed, mask[z], diagonals);
            changed |= grown != found[z];
            found[z] = grown;
        }
    }
}

/* The voxels that are wanted, a word per plane. */
static void wanted_of(const tsr_csg_args *g, int64_t entry, uint64_t mask[8])
{
    const tsr_tile_pool *p = &g->a;
    const int32_t E = 1 << p->log2_edge, list = p->state->list;
    const float *v = tsr_csg_phi(p) + ((int64_t)p->id[list][entry] << (3 * p->log2_edge));
    const uint64_t key = tsr_pool_key(p, list, entry);
    int32_t ends[3] = { E, E, E };
    for (int32_t k = 0; k < 3 && p->bounded; k++)
        ends[k] = tsr_mini(E, p->domain[k] - (k == 0 ? tsr_key_x(key) : k == 1 ? tsr_key_y(key) : tsr_key_z(key)) * E);
    const uint64_t row = (1ull << ends[0]) - 1;
    for (int32_t z = 0; z < E; z++) {
        mask[z] = 0;
        for (int32_t y = 0; y < E; y++, v += E) {
            uint64_t bits = 0;
            for (int32_t x = 0; x < E; x++) bits |= (uint64_t)(v[x] < 0.0f) << x;
            if (!g->wanted) bits = ~bits;
            if (y < ends[1] && z < ends[2]) mask[z] |= (bits & row) << (ROW * y);
        }
    }
}

static int32_t voxel_of(int32_t bit, int32_t z, int32_t log2_edge) { return (z << 2 * log2_edge) + (bit / ROW << log2_edge) + bit % ROW; }

static void begin_range(void *user, int64_t begin, int64_t end, int worker)
{
    const tsr_csg_args *g = (const tsr_csg_args *)user;
    const int32_t l = g->a.log2_edge, E = 1 << l, V = E * E * E;
    (void)worker;
    for (int64_t entry = begin; entry < end; entry++) {
        uint32_t *own = g->parent + entry * V;
        uint64_t mask[8];
        wanted_of(g, entry, mask);
        for (int32_t k = 0; k < V; k++) own[k] = TSR_CSG_NO_LABEL;
        for (int32_t first = 0; first < E;) {
            uint64_t found[8] = { 0 };
            if (!mask[first]) {
                first++;
                continue;
            }
            const int32_t bit = __builtin_ctzll(mask[first]);
            const uint32_t name = (uint32_t)(entry * V + voxel_of(bit, first, l));
            found[first] = 1ull << bit;
            fill_tile(found, mask, E, g->operation != 6);
            for (int32_t z = first; z < E; z++) {
                mask[z] &= ~found[z];
                for (uint64_t rest = found[z]; rest; rest &= rest - 1) own[voxel_of(__builtin_ctzll(rest), z, l)] = name;
            }
        }
    }
}

void tsr_csg_label_begin_tiles(int threads, const tsr_csg_args *args)
{
    tsr_csg_args own = *args;
    tsr_parallel(threads, args->count, GRAIN, begin_range, &own);
}

/* ---- across the faces ----------------------------------------------------------------------------------------------------------------------- */

/* Voxels of a tile that lie at its side in one direction, or, of its neighbour there, at the side that meets it: `first` and two steps of `count` voxels. */
typedef struct side {
    int32_t first, step[2], count[2];
} side;
static side side_at(int32_t log2_edge, int32_t direction, int of_neighbour)
{
    const int32_t E = 1 << log2_edge, d[3] = { tsr_direction_x(direction), tsr_direction_y(direction), tsr_direction_z(direction) };
    side s = { 0, { 0, 0 }, { 1, 1 } };
    int32_t free_axes = 0;
    for (int32_t k = 0; k < 3; k++) {
        const int32_t step = 1 << (k * log2_edge);
        if (d[k] == 0) {
            if (free_axes == 2) continue; /* of the tile itself nothing is asked */
            s.step[free_axes] = step;
            s.count[free_axes++] = E;
        } else if ((d[k] > 0) != of_neighbour) {
            s.first += (E - 1) * step;
        }
    }
    return s;
}
/* Which of them have a label. */
static uint64_t bits_of(const uint32_t *parent, const side *s)
{
    uint64_t bits = 0;
    for (int32_t b = 0; b < s->count[1]; b++)
        for (int32_t a = 0; a < s->count[0]; a++)
            bits |= (uint64_t)(__atomic_load_n(parent + s->first + b * s->step[1] + a * s->step[0], __ATOMIC_RELAXED) != TSR_CSG_NO_LABEL)
                    << (ROW * b + a);
    return bits;
}
static uint32_t node_of(const side *s, int32_t bit) { return (uint32_t)(s->first + bit / ROW * s->step[1] + bit % ROW * s->step[0]); }

/* Two tiles side by side. Voxels of the other one round the nearest hang together with that; where it is not one of them each is asked. */
static void join_stored(uint32_t *parent, uint32_t own, const side *here, uint32_t other, const side *there, int diagonals)
{
    const uint64_t b = bits_of(parent + other, there);
    pair last = { TSR_CSG_NO_LABEL, TSR_CSG_NO_LABEL };
    if (!b) return;
    for (uint64_t rest = bits_of(parent + own, here) & (diagonals ? spread(b, 1) : b); rest; rest &= rest - 1) {
        const uint64_t bit = rest & (0 - rest);
        const uint32_t from = own + node_of(here, __builtin_ctzll(bit));
        for (uint64_t to = bit & b ? bit : spread(bit, 1) & b; to; to &= to - 1)
            unite_new(parent, from, other + node_of(there, __builtin_ctzll(to)), &last);
    }
}

static void join_space(uint32_t *parent, uint32_t own, const side *here, uint32_t space)
{
    pair last = { TSR_CSG_NO_LABEL, TSR_CSG_NO_LABEL };
    for (uint64_t rest = bits_of(parent + own, here); rest; rest &= rest - 1)
        unite_new(parent, own + node_of(here, __builtin_ctzll(rest)), space, &last);
}

/* Pieces of the outside that come to the border of the domain go on beyond. No border lies across a plane. */
static void join_border(const tsr_csg_args *g, uint32_t own, uint64_t key)
{
    const tsr_tile_pool *p = &g->a;
    const int32_t l = p->log2_edge, m = (1 << l) - 1, first[3] = { tsr_key_x(key) << l, tsr_key_y(key) << l, tsr_key_z(key) << l };
    pair last = { TSR_CSG_NO_LABEL, TSR_CSG_NO_LABEL };
    int32_t inner = 1;
    for (int32_t k = 0; k < 3; k++) inner &= p->domain[k] == 1 || (first[k] > 0 && first[k] + m + 1 < p->domain[k]);
    for (int32_t at = 0; at < 1 << 3 * l && !inner; at++) {
        int32_t leaves = 0;
        if (__atomic_load_n(g->parent + own + at, __ATOMIC_RELAXED) == TSR_CSG_NO_LABEL) continue;
        for (int32_t k = 0; k < 3; k++) {
            const int32_t place = first[k] + (at >> (k * l) & m);
            leaves |= p->domain[k] > 1 && (place == 0 || place + 1 == p->domain[k]);
        }
        if (leaves) unite_new(g->parent, own + (uint32_t)at, tsr_csg_beyond(g), &last);
    }
}

static void join_range(void *user, int64_t begin, int64_t end, int worker)
{
    const tsr_csg_args *g = (const tsr_csg_args *)user;
    const tsr_tile_pool *p = &g->a;
    const int32_t V = tsr_csg_voxels(p), list = p->state->list, diagonals = g->operation != 6;
    const uint32_t space = g->wanted ? TSR_TILE_INSIDE : TSR_TILE_OUTSIDE;
    const tsr_keys keys = tsr_pool_keys(p, list);
    side sides[2][TSR_TILE_DIRECTIONS];
    int32_t at[9]; /* places of the nine rows round the tile: they walk along with it */
    (void)worker;
    for (int32_t d = 0; d < 2 * TSR_TILE_DIRECTIONS; d++) sides[d & 1][d >> 1] = side_at(p->log2_edge, d >> 1, d & 1);
    for (int32_t r = 0; r < 9; r++) at[r] = tsr_keys_lower_bound(keys, (int32_t)g->count, tsr_key_at(keys, begin) + (uint64_t)tsr_key_offset(3 * r));
    for (int64_t entry = begin; entry < end; entry++) {
        const uint64_t own_key = tsr_key_at(keys, entry);
        const uint32_t own = (uint32_t)(entry * V), *row = p->neighbours + (int64_t)p->id[list][entry] * TSR_NEIGHBOUR_ROW;
        if (p->bounded && !g->wanted) join_border(g, own, own_key);
        for (int32_t d = 0; d < TSR_TILE_DIRECTIONS; d++) {
            const int32_t dx = tsr_direction_x(d), dy = tsr_direction_y(d), dz = tsr_direction_z(d);
            const uint64_t key = own_key + (uint64_t)tsr_key_offset(d);
            if (d == TSR_TILE_MIDDLE || (!diagonals && dx * dx + dy * dy + dz * dz != 1)) continue;
            if (row[d] >= TSR_TILE_FIRST ? d > TSR_TILE_MIDDLE : row[d] != space || !tsr_csg_faces_domain(p, own_key, d)) continue;
            const side *here = &sides[0][d], *there = &sides[1][d];
            if (row[d] >= TSR_TILE_FIRST) {
                join_stored(g->parent, own, here, g->entries[row[d]] * (uint32_t)V, there, diagonals);
            } else {
                int32_t *walk = &at[d / 3];
                while (*walk < g->count && tsr_key_at(keys, *walk) < key) (*walk)++;
                join_space(g->parent, own, here, tsr_csg_space_node_at(g, key, *walk));
            }
        }
    }
}

void tsr_csg_label_join_tiles(int threads, const tsr_csg_args *args)
{
    tsr_csg_args own = *args;
    tsr_parallel(threads, args->count, GRAIN, join_range, &own);
}

/* ---- measures ------------------------------------------------------------------------------------------------------------------------------- */

enum { SIDE = 10, HALO = SIDE * SIDE * SIDE, FIRST = SIDE * SIDE + SIDE + 1 }; /* a tile with a voxel all round, whatever its edge */

/* The window of a tile: what tsr_csg_seen sees at (x, y, z) lies at FIRST + x + SIDE (y + SIDE z). */
static void copy_window(const tsr_csg_window *w, float halo[HALO])
{
    const int32_t l = w->pool->log2_edge, E = 1 << l, m = E - 1;
    for (int32_t z = -1; z <= E; z++)
        for (int32_t y = -1; y <= E; y++) {
            const int32_t cy = tsr_mini(tsr_maxi(y, w->low[1]), w->high[1]), cz = tsr_mini(tsr_maxi(z, w->low[2]), w->high[2]);
            const uint32_t *tile = w->row + 9 * ((cz >> l) + 1) + 3 * ((cy >> l) + 1);
            const int32_t at = (((cz & m) << l) + (cy & m)) << l;
            float *to = halo + FIRST + SIDE * (y + SIDE * z);
            const float *from = w->phi + ((int64_t)tile[1] << 3 * l) + at;
            for (int32_t x = 0; x < E; x++) to[x] = from[x];
            to[-1] = w->low[0] < 0 ? w->phi[((int64_t)tile[0] << 3 * l) + at + m] : to[0];
            to[E] = w->phi[((int64_t)tile[2] << 3 * l) + at];
            for (int32_t x = w->high[0] + 1; x <= E; x++) to[x] = to[w->high[0]];
        }
}

/* Signs of the rows of a window, bit x + 1 of row y + 1 + SIDE (z + 1): voxel (x, y, z) is inside. */
static void signs_of(const float halo[HALO], int32_t E, uint32_t rows[SIDE * SIDE])
{
    for (int32_t z = 0; z < E + 2; z++)
        for (int32_t y = 0; y < E + 2; y++) {
            const float *v = halo + SIDE * (y + SIDE * z);
            uint32_t bits = 0;
            for (int32_t x = 0; x < E + 2; x++) bits |= (uint32_t)(v[x] < 0.0f) << x;
            rows[y + SIDE * z] = bits;
        }
}

/* Vertices, edges, faces and cells of the complex of inside voxels. */
static void add_corners(const tsr_csg_window *w, const uint32_t signs[SIDE * SIDE], int64_t corners[4])
{
    const int32_t E = 1 << w->pool->log2_edge;
    const uint32_t seen = (2u << w->high[0]) - 1; /* none beyond the domain */
    uint64_t plane[2][4] = { { 0 } };             /* of this z and the next: bits of (x, y), (x + 1, y), (x, y + 1), (x + 1, y + 1) */
    for (int32_t z = E; z >= 0; z--) {
        uint64_t *now = plane[z & 1], *next = plane[(z & 1) ^ 1];
        uint32_t rows[SIDE] = { 0 };
        for (int32_t y = 0; y <= E && y <= w->high[1] && z <= w->high[2]; y++) rows[y] = signs[y + 1 + SIDE * (z + 1)] >> 1 & seen;
        for (int32_t k = 0; k < 4; k++) {
            now[k] = 0;
            for (int32_t y = 0; y < E; y++) now[k] |= (uint64_t)(rows[y + (k >> 1)] >> (k & 1) & ((1u << E) - 1)) << (ROW * y);
        }
        if (z == E) continue;
        const uint64_t x = now[0] & now[1], y = now[0] & now[2], up = now[0] & next[0];
        corners[0] += __builtin_popcountll(now[0]);
        corners[1] += __builtin_popcountll(x) + __builtin_popcountll(y) + __builtin_popcountll(up);
        corners[2] +=
            __builtin_popcountll(x & now[2] & now[3]) + __builtin_popcountll(x & next[0] & next[1]) + __builtin_popcountll(y & next[0] & next[2]);
        corners[3] += __builtin_popcountll(x & now[2] & now[3] & next[0] & next[1] & next[2] & next[3]);
    }
}

/* Voxels of row (y, z) beside which one of the 26 has the other sign, as tsr_csg_crossed has it: bit x. */
static uint32_t crossed_in(const uint32_t signs[SIDE * SIDE], int32_t y, int32_t z)
{
    const uint32_t *row = signs + y + 1 + SIDE * (z + 1);
    uint32_t any = 0, all = ~0u;
    for (int32_t k = 0; k < 9; k++) {
        any |= row[k % 3 - 1 + SIDE * (k / 3 - 1)];
        all &= row[k % 3 - 1 + SIDE * (k / 3 - 1)];
    }
    any |= any << 1 | any >> 1;
    all &= all << 1 & all >> 1;
    return ((*row & ~all) | (~*row & any)) >> 1;
}

/* One row of voxels, of which `n` count. */
static void measure_row(const tsr_csg_gauge *m, const float *v, int32_t n, uint32_t crossed, const int32_t place[3], double sums[6])
{
    double inside[ROW], area[ROW], curved[ROW];
    int32_t near = 0;
    for (int32_t x = 0; x < n; x++) near |= tsr_absf(v[x]) < m->beyond;
    if (near) TSR_ISA_SELECT(tsr_csg_measure_row)(m, v, SIDE, SIDE * SIDE, crossed, inside, area, curved);
    for (int32_t x = 0; x < n; x++) {
        tsr_csg_share s = { v[x] < 0.0f ? 1.0 : 0.0, 0.0, 0.0 };
        if (tsr_absf(v[x]) < m->beyond) s = (tsr_csg_share){ inside[x], area[x], curved[x] };
        tsr_csg_measure_add(&s, place[0] + x, place[1], place[2], sums);
    }
}

static void measure_range(void *user, int64_t begin, int64_t end, int worker)
{
    const tsr_csg_args *g = (const tsr_csg_args *)user;
    const tsr_tile_pool *p = &g->a;
    const int32_t E = 1 << p->log2_edge, list = p->state->list;
    const tsr_csg_gauge m = tsr_csg_gauge_of(g);
    int64_t corners[4] = { 0 };
    float halo[HALO] = { 0 };
    uint32_t signs[SIDE * SIDE];
    (void)worker;
    for (int64_t entry = begin; entry < end; entry++) {
        const uint64_t key = tsr_pool_key(p, list, entry);
        const int32_t first[3] = { tsr_key_x(key) * E, tsr_key_y(key) * E, tsr_key_z(key) * E };
        const tsr_csg_window w = tsr_csg_window_of(p, key, p->id[list][entry]);
        copy_window(&w, halo);
        signs_of(halo, E, signs);
        for (int32_t z = 0; z < E; z++) {
            double *sums = g->sums + 6 * (entry * E + z);
            for (int32_t k = 0; k < 6; k++) sums[k] = 0;
            for (int32_t y = 0; y < E && y <= w.high[1] && z <= w.high[2]; y++) {
                const int32_t place[3] = { first[0], first[1] + y, first[2] + z };
                measure_row(&m, halo + FIRST + SIDE * (y + SIDE * z), tsr_mini(E, w.high[0] + 1), crossed_in(signs, y, z), place, sums);
            }
        }
        add_corners(&w, signs, corners);
    }
    for (int32_t k = 0; k < 4; k++)
        if (corners[k]) tsr_csg_add(&g->corners[k], corners[k]);
}

void tsr_csg_measure_tiles(int threads, const tsr_csg_args *args)
{
    tsr_csg_args own = *args;
    tsr_parallel(threads, args->count, GRAIN, measure_range, &own);
}
