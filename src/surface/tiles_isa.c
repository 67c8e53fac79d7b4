/* surface/tiles_isa.c: counts, vertices and triangles of a tile list on the CPU, a tile at a time.
 *
 * The sides of a tile and of the two samples after it along each axis are gathered once, from the seven tiles that follow it; words no longer look up
 * their neighbours. The vertices of a tile follow one another: their numbers go to a table by place and axis, with those on the borders
 * that other tiles own, so that a triangle is three look-ups; their positions are made by vectors from a copy of the samples. Same numbers, same
 * order as cells.h, word by word. */
#include "surface/decider_table.h"
#include "surface/surface_isa.h"

enum { MOST = 8, ROWS = MOST + 2, SIDE = MOST + 1, NODES = SIDE * SIDE * SIDE, LIST = 3 * MOST * MOST * MOST, LANES = 16 };

static const tsr_case_tables tables = TSR_CASE_TABLES;

/* A tile with what follows it. */
typedef struct tile {
    tsr_word_place place;       /* of its first row */
    uint32_t id[2][2][2];       /* of the tiles [z][y][x] on; static ids where none is stored */
    int64_t first[2][2][2];     /* their first words, or TSR_WORD_OUTSIDE, TSR_WORD_INSIDE */
    uint32_t side[ROWS * ROWS]; /* [z][y]: edge + 2 sides */
    int32_t edge, whole;        /* whole: all seven are stored */
} tile;

#define EIGHT(v) v, v, v, v, v, v, v, v
static const uint32_t outside[MOST * MOST] = { 0 }, inside[MOST * MOST] = { EIGHT(EIGHT(~0u)) };

/* Rows of a tile and of the one after it along x. */
static void load_rows(const tsr_surface_grid *g, int64_t a, int64_t b, int32_t high, int32_t wide, int32_t edge, uint32_t *to)
{
    const uint32_t own_sides = (uint32_t)tsr_bits_low(edge),
                   *own = a >= 0                 ? g->bits + a
                          : a == TSR_WORD_INSIDE ? inside
                                                 : outside,
                   *next = b >= 0                 ? g->bits + b
                           : b == TSR_WORD_INSIDE ? inside
                                                  : outside;
    for (int32_t z = 0; z < high; z++)
        for (int32_t y = 0; y < wide; y++) to[z * ROWS + y] = (own[z * edge + y] & own_sides) | (next[z * edge + y] & 3u) << edge;
}

/* What lies beyond the domain is on no side. */
static void cut_rows(tile *t)
{
    const int64_t *left = t->place.left;
    for (int32_t z = 0; z < t->edge + 2; z++)
        for (int32_t y = 0; y < t->edge + 2; y++) {
            uint32_t *row = t->side + z * ROWS + y;
            if (y >= left[1] || z >= left[2]) *row = 0;
            else if (left[0] <= t->edge) *row &= (uint32_t)tsr_bits_low(t->edge);
        }
}

/* The tile whose first word this is. Returns 0 if all its cells and edges lie on one side. */
static int load(const tsr_surface_grid *g, int64_t word, tile *t)
{
    const int32_t k = g->log2_edge, edge = 1 << k;
    uint32_t any = 0, all = ~0u;
    tsr_word_locate(g, word, &t->place);
    const uint32_t *beside = g->neighbours + (int64_t)t->place.id * TSR_NEIGHBOUR_ROW;
    t->edge = edge;
    t->whole = 1;
    for (int32_t z = 0; z < 2; z++)
        for (int32_t y = 0; y < 2; y++)
            for (int32_t x = 0; x < 2; x++) {
                const uint32_t id = x + y + z ? beside[TSR_TILE_MIDDLE + 9 * z + 3 * y + x] : t->place.id;
                t->id[z][y][x] = id;
                t->whole &= id >= TSR_TILE_FIRST;
                t->first[z][y][x] = id >= TSR_TILE_FIRST    ? (int64_t)(g->by_id ? id : g->slot_of[id]) << 2 * k
                                    : id == TSR_TILE_INSIDE ? TSR_WORD_INSIDE
                                                            : TSR_WORD_OUTSIDE;
            }
    for (int32_t z = 0; z < 2; z++)
        for (int32_t y = 0; y < 2; y++)
            load_rows(g, t->first[z][y][0], t->first[z][y][1], z ? 2 : edge, y ? 2 : edge, edge, t->side + z * edge * ROWS + y * edge);
    if (g->bounded) cut_rows(t);
    for (int32_t z = 0; z <= edge; z++)
        for (int32_t y = 0; y <= edge; y++) {
            any |= t->side[z * ROWS + y];
            all &= t->side[z * ROWS + y];
        }
    return any && all != tsr_bits_low(edge + 2);
}

static inline tsr_word_place place_of(const tile *t, int32_t y, int32_t z)
{
    tsr_word_place p = t->place;
    p.word += z * t->edge + y;
    p.row_y = y;
    p.row_z = z;
    p.y += y;
    p.z += z;
    p.left[1] -= y; /* of a list without a domain: as good as endless */
    p.left[2] -= z;
    return p;
}

static inline void four_rows(const tile *t, int32_t y, int32_t z, uint64_t row[4])
{
    const uint32_t *side = t->side + z * ROWS + y;
    row[0] = side[0];
    row[1] = side[1];
    row[2] = side[ROWS];
    row[3] = side[ROWS + 1];
}

static inline tsr_edge_bits edges_of(const tsr_surface_grid *g, const tile *t, int32_t y, int32_t z)
{
    const uint32_t *side = t->side + z * ROWS + y;
    return tsr_row_edges(g, side[0], side[1], side[ROWS], t->place.left[0], t->place.left[1] - y, t->place.left[2] - z);
}

/* ---- counts -------------------------------------------------------------------------------------------------------------------------------------- */

/* Prefixes of a tile's words; `sum` with its counts added. */
static uint32_t count_tile(const tsr_surface_grid *g, int64_t word, uint32_t sum, int *torn)
{
    tile t;
    const int some = load(g, word, &t);
    if (!some) {
        for (int32_t i = 0; i < t.edge * t.edge; i++) g->prefix[word + i] = (uint16_t)tsr_count_vertices(sum);
        return sum;
    }
    for (int32_t z = 0; z < t.edge; z++)
        for (int32_t y = 0; y < t.edge; y++) {
            uint64_t row[4];
            uint32_t triangles = 0;
            g->prefix[word + z * t.edge + y] = (uint16_t)tsr_count_vertices(sum);
            four_rows(&t, y, z, row);
            if (tsr_rows_uniform(g, row)) continue;
            const tsr_word_place p = place_of(&t, y, z);
            for (uint64_t m = tsr_cells_active(g, &p, row); m; m &= m - 1) {
                const int32_t bit = tsr_bits_first(m);
                triangles += (uint32_t)tsr_cell_filled(g, &p, bit, tsr_cell_case(g, row, bit), &tables).triangles;
            }
            sum += (uint32_t)tsr_edges_count(edges_of(g, &t, y, z), tsr_bits_low(t.edge)) | triangles << TSR_COUNT_SHIFT;
            if (!t.whole) {
                tsr_cell_rows c;
                tsr_cell_rows_load(g, &p, &c);
                *torn |= tsr_cells_torn(g, &p, &c);
            }
        }
    return sum;
}

int TSR_ISA_NAME(tsr_surface_count_tiles)(const tsr_surface_grid *g, int64_t begin, int64_t end)
{
    int torn = 0;
    for (int64_t block = begin; block < end; block++) {
        uint32_t sum = 0;
        const int64_t stop = tsr_minl((block + 1) << TSR_BLOCK_SHIFT, g->words);
        for (int64_t word = block << TSR_BLOCK_SHIFT; word < stop; word += (int64_t)1 << 2 * g->log2_edge) sum = count_tile(g, word, sum, &torn);
        g->block_sum[block] = sum;
    }
    return torn;
}

int TSR_ISA_NAME(tsr_surface_count_some)(const tsr_surface_grid *g, const tsr_surface_some *some, int64_t begin, int64_t end)
{
    int torn = 0;
    for (int64_t k = begin; k < end; k++) some->counts[k] = count_tile(g, (int64_t)some->ids[k] << 2 * g->log2_edge, 0, &torn);
    return torn;
}

/* ---- output --------------------------------------------------------------------------------------------------------------------------------------- */

typedef struct work {
    tile t;
    uint32_t number[3 * NODES];    /* [axis][z][y][x]: of the vertex on the edge there */
    uint32_t listed[LIST + LANES]; /* x | y << 4 | z << 8 | axis << 12 of the tile's own vertices */
    int32_t count;
    _Alignas(64) float sample[NODES + LANES]; /* [z][y][x] */
    double share[LIST + LANES];
    float x[LIST + LANES], y[LIST + LANES], z[LIST + LANES];
} work;

static inline int32_t node(int32_t x, int32_t y, int32_t z) { return (z * SIDE + y) * SIDE + x; }

/* Numbers of the vertices of row (y, z), from that of its first one; `list`: of the tile's own, which are listed too. Returns the next number. */
static inline uint32_t number_row(work *w, tsr_edge_bits e, int32_t y, int32_t z, uint32_t number, int list)
{
    const uint32_t ex = (uint32_t)e.x, ey = (uint32_t)e.y, ez = (uint32_t)e.z, place = (uint32_t)(y << 4 | z << 8);
    for (uint32_t m = (ex | ey | ez) & (uint32_t)tsr_bits_low(w->t.edge); m; m &= m - 1) { /* without a branch on the axis */
        const uint32_t bit = (uint32_t)tsr_bits_first(m);
        uint32_t *to = w->number + node((int32_t)bit, y, z);
        const uint32_t has[3] = { ex >> bit & 1u, ey >> bit & 1u, ez >> bit & 1u };
        for (int32_t axis = 0; axis < 3; axis++) {
            to[axis * NODES] = number;
            number += has[axis];
            if (!list) continue;
            w->listed[w->count] = bit | place | (uint32_t)axis << 12;
            w->count += (int32_t)has[axis];
        }
    }
    return number;
}

/* Numbers of all edges that the tile's cells have. */
static void number_edges(const tsr_surface_grid *g, int64_t word, work *w)
{
    const tile *t = &w->t;
    const int32_t edge = t->edge;
    uint32_t own = tsr_word_first(g, word);
    w->count = 0;
    for (int32_t z = 0; z <= edge; z++)
        for (int32_t y = 0; y <= edge; y++) {
            const int32_t dy = y == edge, dz = z == edge, row = (z & (edge - 1)) * edge + (y & (edge - 1));
            const tsr_edge_bits e = edges_of(g, t, y, z);
            const uint32_t last = 1u << edge;
            if (!(e.x | e.y | e.z)) continue;
            if (!dy && !dz) own = number_row(w, e, y, z, own, 1);
            else if (t->first[dz][dy][0] >= 0) number_row(w, e, y, z, tsr_word_first(g, t->first[dz][dy][0] + row), 0);
            if (!((e.y | e.z) & last) || t->first[dz][dy][1] < 0) continue;
            uint32_t *to = w->number + node(edge, y, z), number = tsr_word_first(g, t->first[dz][dy][1] + row);
            number += (e.x & last) != 0;
            to[NODES] = number;
            to[2 * NODES] = number + ((e.y & last) != 0);
        }
}

/* The samples of the tile and the first ones after it. */
static void load_samples(const tsr_surface_grid *g, work *w)
{
    const tile *t = &w->t;
    const int32_t k = g->log2_edge, edge = t->edge, mask = edge - 1;
    for (int32_t z = 0; z <= edge; z++)
        for (int32_t y = 0; y <= edge; y++) {
            const uint32_t *id = t->id[z == edge][y == edge];
            const int64_t row = (int64_t)((z & mask) << k | (y & mask)) << k;
            float *to = w->sample + node(0, y, z);
            memcpy(to, g->phi + ((int64_t)id[0] << 3 * k) + row, (size_t)edge * sizeof *to);
            to[edge] = g->phi[((int64_t)id[1] << 3 * k) + row];
        }
}

static void make_vertices(const tsr_surface_grid *g, work *w, const tsr_surface_output *out, uint32_t first)
{
    const double cut = g->cut, from_x = (double)w->t.place.x, from_y = (double)w->t.place.y, from_z = (double)w->t.place.z;
    const int32_t n = (w->count + LANES - 1) / LANES * LANES;
    for (int32_t i = w->count; i < n; i++) w->listed[i] = w->listed[0]; /* no remainders: the last vector repeats a vertex */
    float *to = out->vertices + 3 * (int64_t)first;
#pragma omp simd
    for (int32_t i = 0; i < n; i++) {
        const int32_t code = (int32_t)w->listed[i], x = code & 15, y = code >> 4 & 15, z = code >> 8 & 15, axis = code >> 12;
        const int32_t at = (z * SIDE + y) * SIDE + x;
        const double lower = (double)w->sample[at], upper = (double)w->sample[at + (axis == 0 ? 1 : axis == 1 ? SIDE : SIDE * SIDE)];
        const double s = tsr_vertex_share(cut, lower, upper);
        const double px = from_x + (double)x + (axis == 0 ? s : 0.0), py = from_y + (double)y + (axis == 1 ? s : 0.0),
                     pz = from_z + (double)z + (axis == 2 ? s : 0.0);
        w->share[i] = s;
        w->x[i] = tsr_vertex_coordinate(g, 0, px, py, pz);
        w->y[i] = tsr_vertex_coordinate(g, 1, px, py, pz);
        w->z[i] = tsr_vertex_coordinate(g, 2, px, py, pz);
    }
    for (int32_t i = 0; i < w->count; i++) {
        to[3 * i] = w->x[i];
        to[3 * i + 1] = w->y[i];
        to[3 * i + 2] = w->z[i];
    }
    for (int32_t i = 0; i < w->count && g->normals; i++) {
        const int32_t code = (int32_t)w->listed[i], x = code & 15, y = code >> 4 & 15, z = code >> 8 & 15, axis = code >> 12, at = node(x, y, z);
        const tsr_word_place p = place_of(&w->t, y, z);
        tsr_vertex_normal(g, &p, x, axis, (double)w->sample[at],
                          (double)w->sample[at + (axis == 0   ? 1
                                                  : axis == 1 ? SIDE
                                                              : SIDE * SIDE)],
                          w->share[i], out->normals + 3 * ((int64_t)first + i));
    }
}

/* Where the twelve edges of the case table stand in `number`, from the cell's lowest corner. */
#define CORNER(axis, x, y, z) ((axis)*NODES + ((z)*SIDE + (y)) * SIDE + (x))
static const uint16_t corner[12] = { CORNER(0, 0, 0, 0), CORNER(0, 0, 1, 0), CORNER(0, 0, 0, 1), CORNER(0, 0, 1, 1),
                                     CORNER(1, 0, 0, 0), CORNER(1, 1, 0, 0), CORNER(1, 0, 0, 1), CORNER(1, 1, 0, 1),
                                     CORNER(2, 0, 0, 0), CORNER(2, 1, 0, 0), CORNER(2, 0, 1, 0), CORNER(2, 1, 1, 0) };

/* Returns the end of what was written. */
static uint32_t *make_triangles(const tsr_surface_grid *g, const work *w, uint32_t *to)
{
    const tile *t = &w->t;
    const int32_t swap = g->mirrored != 0;
    for (int32_t z = 0; z < t->edge; z++)
        for (int32_t y = 0; y < t->edge; y++) {
            uint64_t row[4];
            four_rows(t, y, z, row);
            if (!tsr_cells_cut(row, tsr_bits_low(t->edge))) continue;
            const tsr_word_place p = place_of(t, y, z);
            for (uint64_t m = tsr_cells_active(g, &p, row); m; m &= m - 1) {
                const int32_t bit = tsr_bits_first(m);
                const tsr_cell_fill fill = tsr_cell_filled(g, &p, bit, tsr_cell_case(g, row, bit), &tables);
                const uint32_t *number = w->number + node(bit, y, z);
                for (const uint8_t *e = fill.edges, *end = e + 3 * fill.triangles; e < end; e += 3, to += 3) {
                    to[0] = number[corner[e[0]]];
                    to[1 + swap] = number[corner[e[1]]];
                    to[2 - swap] = number[corner[e[2]]];
                }
            }
        }
    return to;
}

static uint32_t *emit_tile(const tsr_surface_grid *g, const tsr_surface_output *out, int64_t word, uint32_t *triangles, work *w)
{
    if (!load(g, word, &w->t)) return triangles;
    number_edges(g, word, w);
    if (w->count) {
        load_samples(g, w);
        make_vertices(g, w, out, tsr_word_first(g, word));
    }
    return make_triangles(g, w, triangles);
}

void TSR_ISA_NAME(tsr_surface_emit_tiles)(const tsr_surface_grid *g, const tsr_surface_output *out, int64_t begin, int64_t end)
{
    work w;
    for (int64_t k = begin; k < end; k++) {
        const int64_t block = g->active[k], stop = tsr_minl((block + 1) << TSR_BLOCK_SHIFT, g->words);
        uint32_t *to = out->triangles + 3 * (int64_t)g->block_triangle[block];
        for (int64_t word = block << TSR_BLOCK_SHIFT; word < stop; word += (int64_t)1 << 2 * g->log2_edge) to = emit_tile(g, out, word, to, &w);
    }
}

void TSR_ISA_NAME(tsr_surface_emit_some)(const tsr_surface_grid *g, const tsr_surface_some *some, const tsr_surface_output *out, int64_t begin,
                                         int64_t end)
{
    work w;
    for (int64_t k = begin; k < end; k++)
        if (some->counts[k]) emit_tile(g, out, (int64_t)some->ids[k] << 2 * g->log2_edge, out->triangles + 3 * (int64_t)some->triangle[k], &w);
}
