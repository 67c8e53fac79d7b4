/* surface/cells.h: the mathematics of marching cubes on one word of samples: sides as bits, counts, ranks of vertices, the vertex itself.
 *
 * A word holds one bit per sample (1 = inside) of `width` neighbouring samples along x: 32 of a dense row, or one row of a tile (4 or 8).
 * Words are numbered in memory order (tile lists: tile by tile), 256 to a block. A sample owns the edges to its +x, +y and +z neighbours
 * and the cell whose lowest corner it is. Vertex number of an edge = vertices of the blocks before + of the words before in the block
 * (`prefix`) + set bits before in the word: the rank query of a HistoPyramid with fan-outs 32, 256 and the scan over blocks; no hash, no
 * atomics. docs/theory/surfaces.md 2 to 4, docs/theory/histopyramid.md (rank). */
#ifndef TSR_SURFACE_CELLS_H
#define TSR_SURFACE_CELLS_H

#include <math.h>

#include "tiles/tile_pool.h"
#include "volume/voxel.h"
#include "surface/sides.h"
#include "tessera/surface.h"

/* Counts of up to a block in one number: at most 3 vertices and TSR_CASE_MOST triangles for each of 8192 samples. */
enum { TSR_SURFACE_SEVERAL = 64 }; /* isovalues at once */
enum { TSR_LIST_GRAIN = 8 };
enum { TSR_BLOCK_WORDS = 256, TSR_BLOCK_SHIFT = 8, TSR_COUNT_SHIFT = 15 };
TSR_HD uint32_t tsr_count_vertices(uint32_t count) { return count & ((1u << TSR_COUNT_SHIFT) - 1u); }
TSR_HD uint32_t tsr_count_triangles(uint32_t count) { return count >> TSR_COUNT_SHIFT; }

/* Division by a constant as a product: n / by for n below 2^31 (Granlund and Montgomery 1994, theorem 4.2). */
typedef struct tsr_divisor {
    uint32_t factor, shift;
} tsr_divisor;
TSR_HD tsr_divisor tsr_divisor_of(uint32_t by)
{
    tsr_divisor d = { 0, 31 };
    while ((uint64_t)1 << (d.shift - 31) < by) d.shift++;
    d.factor = (uint32_t)((((uint64_t)1 << d.shift) + by - 1) / by);
    return d;
}
TSR_HD uint32_t tsr_divide(tsr_divisor d, uint32_t n) { return (uint32_t)((uint64_t)n * d.factor >> d.shift); }

typedef struct tsr_surface_totals {
    uint64_t vertices, triangles, not_a_number;
    uint32_t torn; /* != 0: a cut edge belongs to a tile that is not stored */
    uint32_t active_blocks;
    uint64_t list_words; /* the device's: in its list of words with work */
} tsr_surface_totals;

typedef struct tsr_surface_grid {
    int32_t tiled, width, pad, mirrored, normals;
    int32_t flip;   /* 255: cases of the other side, so that ambiguous faces separate the outside corners */
    int32_t decide; /* != 0: ambiguous faces by their saddle; flip is 0 */
    int32_t refuse; /* != 0: NaN samples are an error (the host's) */
    tsr_side side;
    double isovalue, cut;                /* in stored values; where edges are cut: the same, or NaN for their middle */
    double affine[3][4], gradient[3][3]; /* index to world; gradient in index space to world, signed to point outwards */
    const void *data;                    /* dense: samples */
    tsr_dtype dtype;
    int64_t stored[3], size[3], row_words; /* extents of the volume; the same with the pad */
    tsr_divisor by_row, by_plane;          /* by row_words and by size[1], for fewer than 2^31 words */
    int64_t slab, below, own;              /* part of a larger volume: index of its first plane there, planes that lie before `data`, planes that are
                                            * its own (at most size[2]); of the others the sides alone count */
    uint32_t base;                         /* vertices of the parts before */
    const float *phi;                      /* tile list: as in tsr_tile_pool, the current buffers */
    tsr_keys keys;
    const uint32_t *ids, *neighbours;
    int32_t by_id;     /* tile lists: words are numbered by tile id, not by place in the list; keys is by id too, block_vertex has one entry a tile */
    uint32_t *slot_of; /* place in the list of a stored id */
    int32_t log2_edge, bounded, domain[3];
    int64_t words, blocks;
    uint32_t *bits;                    /* [words] */
    uint16_t *prefix;                  /* [words] vertices before the word in its block; undefined in blocks without vertices */
    uint32_t *block_sum;               /* [blocks] vertices | triangles << TSR_COUNT_SHIFT */
    uint32_t *block_vertex;            /* [blocks] vertices before */
    uint64_t *block_triangle;          /* [blocks] triangles before */
    uint32_t *active;                  /* [blocks] the blocks that have vertices or triangles, ascending */
    uint32_t *busy;                    /* [blocks][8] the CPU's: a bit per word that has some, in active blocks; tile lists: per tile of the block that has */
    uint8_t *list_word;                /* the device's instead, [blocks][256]: which words those are, and how many */
    uint32_t *list_before;             /* [blocks][256] counts of the words before in the block */
    uint32_t *list_count;              /* [blocks] */
    uint64_t *list_first;              /* [blocks] such words in the active blocks before */
    uint32_t *list_turn;               /* [words / TSR_LIST_GRAIN] of every such word number n TSR_LIST_GRAIN: the place of its block in `active` */
    uint64_t *place;                   /* [blocks] the CPU's: where the vertices of the block lie in the store */
    struct tsr_vertex_store *store;    /* the CPU's, from count to finish */
    uint64_t *groups;                  /* [ceil(blocks / 1024)][4] sums of the device's scan */
    int32_t clear;                     /* the device's: nothing was added to the totals since they were cleared */
    tsr_surface_totals *totals, *mail; /* mail: the device's, where the host finds the same without waiting for what comes after */
} tsr_surface_grid;

typedef struct tsr_surface_output {
    float *vertices, *normals;
    uint32_t *triangles;
    int64_t active_blocks, list_words, vertex_count, triangle_count; /* without `totals` what there is */
    const tsr_surface_totals
        *totals; /* not NULL: what there is stands here; the counts above are the room, and if it is too small nothing is written */
} tsr_surface_output;

/* Words to write. */
TSR_HD int64_t tsr_output_words(const tsr_surface_output *o)
{
    const tsr_surface_totals *t = o->totals;
    if (!t) return o->list_words;
    return t->vertices <= (uint64_t)o->vertex_count && t->triangles <= (uint64_t)o->triangle_count ? (int64_t)t->list_words : 0;
}

TSR_HD int32_t tsr_bits_count(uint64_t v)
{
#if defined(__CUDA_ARCH__)
    return __popcll(v);
#else
    return __builtin_popcountll(v);
#endif
}
TSR_HD int32_t tsr_bits_first(uint64_t v) /* v != 0 */
{
#if defined(__CUDA_ARCH__)
    return __ffsll((long long)v) - 1;
#else
    return __builtin_ctzll(v);
#endif
}
TSR_HD uint64_t tsr_bits_low(int64_t n) { return n >= 64 ? ~(uint64_t)0 : n <= 0 ? 0 : ((uint64_t)1 << n) - 1; }

/* ---- where a word lies ------------------------------------------------------------------------------------------------------------ */

typedef struct tsr_word_place {
    int64_t word;
    int64_t x, y, z;      /* first sample, in padded coordinates; tile lists: in voxels of the list */
    int64_t left[3];      /* samples from here to the end of the domain, this one included */
    int32_t row_y, row_z; /* tile lists: row within the tile */
    uint32_t id;
} tsr_word_place;

TSR_HD void tsr_word_locate(const tsr_surface_grid *g, int64_t word, tsr_word_place *p)
{
    p->word = word;
    if (g->tiled) {
        int32_t edge = 1 << g->log2_edge, row = (int32_t)(word & (edge * edge - 1));
        int64_t tile = word >> (2 * g->log2_edge);
        uint64_t key = tsr_key_at(g->keys, tile);
        p->id = g->by_id ? (uint32_t)tile : g->ids[tile];
        p->row_y = row & (edge - 1);
        p->row_z = row >> g->log2_edge;
        p->x = (int64_t)tsr_key_x(key) * edge;
        p->y = (int64_t)tsr_key_y(key) * edge + p->row_y;
        p->z = (int64_t)tsr_key_z(key) * edge + p->row_z;
        p->left[0] = g->bounded ? g->domain[0] - p->x : INT64_MAX;
        p->left[1] = g->bounded ? g->domain[1] - p->y : INT64_MAX;
        p->left[2] = g->bounded ? g->domain[2] - p->z : INT64_MAX;
        return;
    }
    if (g->words <= (int64_t)INT32_MAX) { /* 64-bit divisions cost ten times as much */
        uint32_t row = tsr_divide(g->by_row, (uint32_t)word), z = tsr_divide(g->by_plane, row);
        p->x = (int64_t)((uint32_t)word - row * (uint32_t)g->row_words) * 32;
        p->y = (int64_t)(row - z * (uint32_t)g->size[1]);
        p->z = (int64_t)z;
    } else {
        int64_t row = word / g->row_words;
        p->x = (word - row * g->row_words) * 32;
        p->z = row / g->size[1];
        p->y = row - p->z * g->size[1];
    }
    p->row_y = p->row_z = 0;
    p->id = 0;
    p->left[0] = g->size[0] - p->x;
    p->left[1] = g->size[1] - p->y;
    p->left[2] = g->size[2] - p->z;
}

/* Tile (stored or static id) that holds the voxel (x, y, z), counted from the first of the place's tile. */
TSR_HD uint32_t tsr_tile_beside(const tsr_surface_grid *g, const tsr_word_place *p, int32_t x, int32_t y, int32_t z)
{
    int32_t k = g->log2_edge, direction = 9 * ((z >> k) + 1) + 3 * ((y >> k) + 1) + (x >> k) + 1;
    return direction == TSR_TILE_MIDDLE ? p->id : g->neighbours[(int64_t)p->id * TSR_NEIGHBOUR_ROW + direction];
}

enum { TSR_WORD_NONE = -1, TSR_WORD_OUTSIDE = -2, TSR_WORD_INSIDE = -3 };

/* First word of the next part of a larger volume; -1 where there is none. */
TSR_HD int64_t tsr_word_next_part(const tsr_surface_grid *g) { return !g->tiled && g->own < g->size[2] ? g->own * g->row_words * g->size[1] : -1; }

/* Number of the word `next` words on and oy, oz rows on (0 .. 2), or one of the above: beyond the domain, in a tile that is not stored. */
TSR_HD int64_t tsr_word_beside(const tsr_surface_grid *g, const tsr_word_place *p, int32_t next, int32_t oy, int32_t oz)
{
    if (oy >= p->left[1] || oz >= p->left[2] || (next && p->left[0] <= g->width)) return TSR_WORD_NONE;
    if (!g->tiled) return p->word + next + (oy + oz * g->size[1]) * g->row_words;
    int32_t edge = 1 << g->log2_edge, y = p->row_y + oy, z = p->row_z + oz;
    uint32_t id = tsr_tile_beside(g, p, next * edge, y, z);
    if (id < TSR_TILE_FIRST) return id == TSR_TILE_INSIDE ? TSR_WORD_INSIDE : TSR_WORD_OUTSIDE;
    return ((((int64_t)(g->by_id ? id : g->slot_of[id]) << g->log2_edge) | (z & (edge - 1))) << g->log2_edge) | (y & (edge - 1));
}
TSR_HD uint32_t tsr_word_value(const tsr_surface_grid *g, int64_t word)
{
    return word >= 0 ? g->bits[word] : word == TSR_WORD_INSIDE ? (uint32_t)tsr_bits_low(g->width) : 0;
}
/* width + 2 sides: the word's and the first two of the next. */
TSR_HD uint64_t tsr_word_row(const tsr_surface_grid *g, const tsr_word_place *p, int32_t oy, int32_t oz)
{
    if (!g->tiled) { /* the same without a detour: most of the time of counting */
        if (oy >= p->left[1] || oz >= p->left[2]) return 0;
        const uint32_t *bits = g->bits + (p->word + (oy + oz * g->size[1]) * g->row_words);
        return bits[0] | (p->left[0] > 32 ? (uint64_t)(bits[1] & 3u) << 32 : 0);
    }
    return tsr_word_value(g, tsr_word_beside(g, p, 0, oy, oz)) | ((uint64_t)(tsr_word_value(g, tsr_word_beside(g, p, 1, oy, oz)) & 3u) << g->width);
}

/* ---- samples ---------------------------------------------------------------------------------------------------------------------- */

TSR_HD double tsr_not_a_number(void)
{
    uint64_t bits = 0x7ff8000000000000u;
    double v;
    memcpy(&v, &bits, 8);
    return v;
}

/* Value at (x, y, z) counted from the first sample of the word; NaN beyond the volume. */
TSR_HD double tsr_sample(const tsr_surface_grid *g, const tsr_word_place *p, int32_t x, int32_t y, int32_t z)
{
    if (!g->tiled) {
        int64_t i = p->x + x - g->pad, j = p->y + y - g->pad, k = p->z + z - g->pad;
        if (i < 0 || j < 0 || k < -g->below || i >= g->stored[0] || j >= g->stored[1] || k >= g->stored[2]) return tsr_not_a_number();
        return tsr_voxel_load(g->data, g->dtype, (k * g->stored[1] + j) * g->stored[0] + i);
    }
    if (x >= p->left[0] || y >= p->left[1] || z >= p->left[2]) return tsr_not_a_number();
    if (g->bounded && (p->x + x < 0 || p->y + y < 0 || p->z + z < 0)) return tsr_not_a_number();
    int32_t log2 = g->log2_edge, mask = (1 << log2) - 1, ty = p->row_y + y, tz = p->row_z + z;
    int64_t tile = (int64_t)tsr_tile_beside(g, p, x, ty, tz);
    return (double)g->phi[((((tile << log2 | (tz & mask)) << log2) | (ty & mask)) << log2) | (x & mask)];
}

/* ---- counts ----------------------------------------------------------------------------------------------------------------------- */

typedef struct tsr_edge_bits {
    uint64_t x, y, z;
} tsr_edge_bits; /* cut edges by the sample that owns them, width + 1 bits */

/* From the samples and those at x + 1, y + 1 and z + 1, within the masks of the edges that exist. */
TSR_HD tsr_edge_bits tsr_edges_between(uint64_t own, uint64_t at_x, uint64_t at_y, uint64_t at_z, uint64_t reach_x, uint64_t reach_y, uint64_t reach_z)
{
    tsr_edge_bits e;
    e.x = (own ^ at_x) & reach_x;
    e.y = (own ^ at_y) & reach_y;
    e.z = (own ^ at_z) & reach_z;
    return e;
}
/* The same of a row and those at y + 1 and z + 1. */
TSR_HD tsr_edge_bits tsr_edges_cut(uint64_t row, uint64_t row_y, uint64_t row_z, uint64_t reach_x, uint64_t reach_y, uint64_t reach_z)
{
    return tsr_edges_between(row, row >> 1, row_y, row_z, reach_x, reach_y, reach_z);
}
/* The same; left_y, left_z as seen from the row. */
TSR_HD tsr_edge_bits tsr_row_edges(const tsr_surface_grid *g, uint64_t row, uint64_t row_y, uint64_t row_z, int64_t left_x, int64_t left_y,
                                   int64_t left_z)
{
    uint64_t reach = tsr_bits_low(g->width + 1), reach_yz = reach & tsr_bits_low(left_x);
    return tsr_edges_cut(row, row_y, row_z, reach & tsr_bits_low(left_x - 1), left_y > 1 ? reach_yz : 0, left_z > 1 ? reach_yz : 0);
}
TSR_HD int32_t tsr_edges_count(tsr_edge_bits e, uint64_t below)
{
    return tsr_bits_count(e.x & below) + tsr_bits_count(e.y & below) + tsr_bits_count(e.z & below);
}
/* Cells whose corners are not all on one side; rows in the order (y, z) = 00 10 01 11. */
TSR_HD uint64_t tsr_cells_cut(const uint64_t row[4], uint64_t reach)
{
    uint64_t any = row[0] | row[1] | row[2] | row[3], all = row[0] & row[1] & row[2] & row[3];
    return (any | any >> 1) & ~(all & all >> 1) & reach;
}
TSR_HD uint64_t tsr_cells_active(const tsr_surface_grid *g, const tsr_word_place *p, const uint64_t row[4])
{
    if (p->left[1] < 2 || p->left[2] < 2 || (!g->tiled && p->z >= g->own)) return 0;
    return tsr_cells_cut(row, tsr_bits_low(tsr_minl(g->width, p->left[0] - 1)));
}
/* Case of a cell, the row of the case table. */
TSR_HD uint32_t tsr_cell_case(const tsr_surface_grid *g, const uint64_t row[4], int32_t bit)
{
    return ((uint32_t)(row[0] >> bit & 3) | (uint32_t)(row[1] >> bit & 3) << 2 | (uint32_t)(row[2] >> bit & 3) << 4 |
            (uint32_t)(row[3] >> bit & 3) << 6) ^
           (uint32_t)g->flip;
}

/* Is the saddle of a face on the inside, so that its inside corners hold together? inner and outer: the values at the corners of either side, less the
 * isovalue; the value of the bilinear interpolant at its saddle is the isovalue + (i0 i1 - o0 o1) / (i0 + i1 - o0 - o1), whose denominator has the sign
 * of the inside (Nielson and Hamann 1991). On the isovalue it belongs to the side to which a sample does. Both cells beside the face call
 * this with the same numbers. An end that is not finite: separated. */
TSR_HD int tsr_face_joined(double i0, double i1, double o0, double o1, int32_t below)
{
    double a = fabs(i0), b = fabs(i1), c = fabs(o0), d = fabs(o1), most = a > b ? a : b, other = c > d ? c : d;
    most = other > most ? other : most;
    if (most > 1e150 || most < 1e-150) { /* products would leave the range: a power of two more or less changes no sign */
        const double scale = most > 1 ? 0x1p-513 : most < 1e-300 ? 0x1p1000 : 0x1p513;
        i0 *= scale;
        i1 *= scale;
        o0 *= scale;
        o1 *= scale;
    }
    const double rise = i0 * i1 - o0 * o1;
    return rise - rise == 0.0 && (below ? rise > 0.0 : rise >= 0.0);
}

/* The decisions on the ambiguous faces (mask, bit 2 axis + side) of the cell at `bit`, numbered as in decider_table.h. */
TSR_HD uint32_t tsr_cell_decide(const tsr_surface_grid *g, const tsr_word_place *p, int32_t bit, uint32_t code, uint32_t faces)
{
    uint32_t decisions = 0, next = 1;
    double value[8];
    for (int32_t c = 0; c < 8; c++) value[c] = tsr_sample(g, p, bit + (c & 1), c >> 1 & 1, c >> 2) - g->isovalue;
    for (uint32_t f = 0; f < 6; f++) {
        if (!(faces >> f & 1)) continue;
        const uint32_t axis = f >> 1, u = axis == 2 ? 1u : 2u << axis, v = axis == 0 ? 4u : axis == 1 ? 1u : 2u, low = (f & 1) << axis;
        const double d0 = value[low], d1 = value[low | u | v], e0 = value[low | u], e1 = value[low | v];
        const int joined = code >> low & 1 ? tsr_face_joined(d0, d1, e0, e1, g->side.below) : tsr_face_joined(e0, e1, d0, d1, g->side.below);
        decisions |= joined ? next : 0;
        next <<= 1;
    }
    return decisions;
}

/* The tables, wherever they lie: TSR_CASE_TABLES. */
typedef struct tsr_case_tables {
    const uint8_t *triangles;
    const uint8_t (*edges)[16];
    const uint8_t *faces;
    const uint16_t *first, *from;
    const uint8_t *decided;
} tsr_case_tables;
typedef struct tsr_cell_fill {
    const uint8_t *edges;
    int32_t triangles;
} tsr_cell_fill;

/* Triangles of a case, decided where that is asked for. */
TSR_HD tsr_cell_fill tsr_cell_filled(const tsr_surface_grid *g, const tsr_word_place *p, int32_t bit, uint32_t code, const tsr_case_tables *t)
{
    tsr_cell_fill fill = { t->edges[code], t->triangles[code] };
    const uint32_t faces = g->decide ? t->faces[code] : 0;
    if (faces) {
        const uint32_t row = t->first[code] + tsr_cell_decide(g, p, bit, code, faces);
        fill.edges = t->decided + t->from[row];
        fill.triangles = (t->from[row + 1] - t->from[row]) / 3;
    }
    return fill;
}

/* Everything the edges of a word's cells need: masks and vertex numbers of its four rows. */
typedef struct tsr_cell_rows {
    uint64_t row[4], active;
    tsr_edge_bits edges[4];
} tsr_cell_rows;

TSR_HD void tsr_cell_rows_load(const tsr_surface_grid *g, const tsr_word_place *p, tsr_cell_rows *c)
{
    const int64_t *l = p->left;
    c->row[0] = tsr_word_row(g, p, 0, 0);
    c->row[1] = tsr_word_row(g, p, 1, 0);
    c->row[2] = tsr_word_row(g, p, 0, 1);
    c->row[3] = tsr_word_row(g, p, 1, 1);
    c->active = tsr_cells_active(g, p, c->row);
    c->edges[0] = tsr_row_edges(g, c->row[0], c->row[1], c->row[2], l[0], l[1], l[2]);
}
/* The other three rows' edges: four more rows, only where a cell is active. */
TSR_HD void tsr_cell_edges_load(const tsr_surface_grid *g, const tsr_word_place *p, tsr_cell_rows *c)
{
    const int64_t *l = p->left;
    c->edges[1] = tsr_row_edges(g, c->row[1], tsr_word_row(g, p, 2, 0), c->row[3], l[0], l[1] - 1, l[2]);
    c->edges[2] = tsr_row_edges(g, c->row[2], c->row[3], tsr_word_row(g, p, 0, 2), l[0], l[1], l[2] - 1);
    c->edges[3] = tsr_row_edges(g, c->row[3], tsr_word_row(g, p, 2, 1), tsr_word_row(g, p, 1, 2), l[0], l[1] - 1, l[2] - 1);
}

/* Tile lists: does an edge of an active cell belong to a tile that is not stored? */
TSR_HD int tsr_cells_torn(const tsr_surface_grid *g, const tsr_word_place *p, tsr_cell_rows *c)
{
    if (!g->tiled || !c->active) return 0;
    uint64_t torn = 0, ends = c->active | c->active << 1, last = (uint64_t)1 << g->width;
    tsr_cell_edges_load(g, p, c);
    for (int32_t j = 0; j < 4; j++) {
        uint64_t used = (c->edges[j].x & c->active) | (j & 1 ? 0 : c->edges[j].y & ends) | (j & 2 ? 0 : c->edges[j].z & ends);
        if (tsr_word_beside(g, p, 0, j & 1, j >> 1) < 0) torn |= used & ~last;
        if (tsr_word_beside(g, p, 1, j & 1, j >> 1) < 0) torn |= used & last;
    }
    return torn != 0;
}

/* Are all samples of the four rows on one side? */
TSR_HD int tsr_rows_uniform(const tsr_surface_grid *g, const uint64_t row[4])
{
    return !(row[0] | row[1] | row[2] | row[3]) || (row[0] & row[1] & row[2] & row[3]) == tsr_bits_low(g->width + 2);
}

/* Dense: what any and what all of the rows (y, z) = 00 10 01 11 that there are have in a word, and whether another follows in its row. */
typedef struct tsr_word_meet {
    uint32_t any, all;
    int32_t more;
    int64_t to_y, to_z; /* words from row to row, 0 at the end */
} tsr_word_meet;
TSR_HD void tsr_rows_meet(const uint32_t *bits, int64_t to_y, int64_t to_z, uint32_t *any, uint32_t *all)
{
    const uint32_t own = *bits, y = bits[to_y], z = bits[to_z], yz = bits[to_y + to_z];
    *any = own | y | z | yz;
    *all = own & y & z & yz;
}
TSR_HD tsr_word_meet tsr_word_meets(const tsr_surface_grid *g, int64_t word)
{
    tsr_word_meet m;
    int32_t end_y, end_z;
    if (g->words <= (int64_t)INT32_MAX) {
        const uint32_t n = (uint32_t)word, row = tsr_divide(g->by_row, n), z = tsr_divide(g->by_plane, row);
        m.more = n - row * (uint32_t)g->row_words + 1 < (uint32_t)g->row_words;
        end_y = row - z * (uint32_t)g->size[1] + 1 >= (uint32_t)g->size[1];
        end_z = z + 1 >= (uint32_t)g->size[2];
    } else {
        const int64_t row = word / g->row_words, z = row / g->size[1];
        m.more = word - row * g->row_words + 1 < g->row_words;
        end_y = row - z * g->size[1] + 1 >= g->size[1];
        end_z = z + 1 >= g->size[2];
    }
    m.to_y = end_y ? 0 : g->row_words;
    m.to_z = end_z ? 0 : g->row_words * g->size[1];
    tsr_rows_meet(g->bits + word, m.to_y, m.to_z, &m.any, &m.all);
    if (!m.more) m.all |= ~(uint32_t)tsr_bits_low(g->size[0] - 32 * (g->row_words - 1));
    return m;
}

/* Counts of a word. */
TSR_HD uint32_t tsr_word_count(const tsr_surface_grid *g, const tsr_word_place *p, const tsr_case_tables *tables, int *torn)
{
    tsr_cell_rows c;
    *torn = 0;
    tsr_cell_rows_load(g, p, &c);
    if (tsr_rows_uniform(g, c.row)) return 0; /* most words */
    uint32_t vertices = (uint32_t)tsr_edges_count(c.edges[0], tsr_bits_low(g->width)), triangles = 0;
    for (uint64_t m = c.active; m; m &= m - 1) {
        const int32_t bit = tsr_bits_first(m);
        triangles += (uint32_t)tsr_cell_filled(g, p, bit, tsr_cell_case(g, c.row, bit), tables).triangles;
    }
    *torn = tsr_cells_torn(g, p, &c);
    return vertices | triangles << TSR_COUNT_SHIFT;
}

/* ---- vertices --------------------------------------------------------------------------------------------------------------------- */

/* Difference along an axis from f0 and its neighbours fm, fp (NaN where there is none). */
TSR_HD double tsr_difference(int32_t normals, double fm, double f0, double fp)
{
    double d;
    if (!(fp == fp)) d = f0 - fm;
    else if (normals == TSR_SURFACE_NORMALS_FORWARD || !(fm == fm)) d = fp - f0;
    else d = (fp - fm) * 0.5;
    return d - d == 0.0 ? d : 0.0;
}
TSR_HD void tsr_gradient(const tsr_surface_grid *g, const tsr_word_place *p, int32_t x, int32_t y, int32_t z, double f0, double out[3])
{
    out[0] = tsr_difference(g->normals, tsr_sample(g, p, x - 1, y, z), f0, tsr_sample(g, p, x + 1, y, z));
    out[1] = tsr_difference(g->normals, tsr_sample(g, p, x, y - 1, z), f0, tsr_sample(g, p, x, y + 1, z));
    out[2] = tsr_difference(g->normals, tsr_sample(g, p, x, y, z - 1), f0, tsr_sample(g, p, x, y, z + 1));
}

/* v / |v| in float32; 0 if v is 0. Scaled first: squares of float64 values may overflow. */
TSR_HD void tsr_unit_normal(const double v[3], float out[3])
{
    double a = v[0] < 0 ? -v[0] : v[0], b = v[1] < 0 ? -v[1] : v[1], c = v[2] < 0 ? -v[2] : v[2], most = a > b ? a : b;
    most = c > most ? c : most;
    if (!(most > 0)) {
        out[0] = out[1] = out[2] = 0.0f;
        return;
    }
    double x = v[0] / most, y = v[1] / most, z = v[2] / most, length = sqrt(x * x + y * y + z * z);
    out[0] = (float)(x / length);
    out[1] = (float)(y / length);
    out[2] = (float)(z / length);
}

/* Where the surface cuts an edge between the samples fa and fb, as a share of its length. */
TSR_HD double tsr_vertex_share(double isovalue, double fa, double fb)
{
    double rise = fb - fa, t = (isovalue - fa) / rise;
    return ((rise - rise == 0.0) & (t >= 0.0) & (t <= 1.0)) ? t : 0.5; /* else an end is NaN, infinite or beyond the volume */
}
/* World coordinate r of an index position. */
TSR_HD float tsr_vertex_coordinate(const tsr_surface_grid *g, int32_t r, double i, double j, double k)
{
    return (float)(g->affine[r][0] * i + g->affine[r][1] * j + g->affine[r][2] * k + g->affine[r][3]);
}
TSR_HD void tsr_vertex_normal(const tsr_surface_grid *g, const tsr_word_place *p, int32_t x, int32_t axis, double fa, double fb, double t,
                              float normal[3])
{
    int32_t d[3] = { axis == 0, axis == 1, axis == 2 };
    double a[3], b[3], v[3], world[3];
    int32_t flat = 1;
    if (fa == fa && fb == fb) {
        tsr_gradient(g, p, x, 0, 0, fa, a);
        tsr_gradient(g, p, x + d[0], d[1], d[2], fb, b);
        for (int32_t r = 0; r < 3; r++) {
            v[r] = a[r] + t * (b[r] - a[r]);
            flat &= v[r] == 0.0;
        }
        if (g->normals == TSR_SURFACE_NORMALS_TRILINEAR) {
            double rise = fb - fa;
            for (int32_t r = 0; r < 3; r++) v[r] = d[r] && rise - rise == 0.0 ? rise : v[r];
            flat = v[0] == 0.0 && v[1] == 0.0 && v[2] == 0.0;
        }
    }
    if (flat) { /* along the edge: values fall (inside above) or rise from the inside sample to the other */
        int inside_a = TSR_SIDE_REAL(fa, g->isovalue, g->side.below);
        for (int32_t r = 0; r < 3; r++) v[r] = d[r] ? (inside_a == g->side.below ? 1.0 : -1.0) : 0.0;
    }
    for (int32_t r = 0; r < 3; r++) world[r] = g->gradient[r][0] * v[0] + g->gradient[r][1] * v[1] + g->gradient[r][2] * v[2];
    tsr_unit_normal(world, normal);
}

/* The values at the ends of an edge, which both exist unless the volume is padded. */
TSR_HD void tsr_edge_values(const tsr_surface_grid *g, const tsr_word_place *p, int32_t x, int32_t axis, double *fa, double *fb)
{
    if (!g->tiled && !g->pad) {
        const int64_t at = (p->z * g->stored[1] + p->y) * g->stored[0] + p->x + x;
        *fa = tsr_voxel_load(g->data, g->dtype, at);
        *fb = tsr_voxel_load(g->data, g->dtype, at + (axis == 0 ? 1 : axis == 1 ? g->stored[0] : g->stored[0] * g->stored[1]));
        return;
    }
    *fa = tsr_sample(g, p, x, 0, 0);
    *fb = tsr_sample(g, p, x + (axis == 0), axis == 1, axis == 2);
}

/* The vertex on the edge along `axis` owned by sample x of the word. */
TSR_HD void tsr_vertex(const tsr_surface_grid *g, const tsr_word_place *p, int32_t x, int32_t axis, float position[3], float normal[3])
{
    int32_t d[3] = { axis == 0, axis == 1, axis == 2 };
    double fa, fb;
    tsr_edge_values(g, p, x, axis, &fa, &fb);
    const double t = tsr_vertex_share(g->cut, fa, fb);
    double i = (double)(p->x + x - g->pad) + (d[0] ? t : 0.0), j = (double)(p->y - g->pad) + (d[1] ? t : 0.0),
           k = (double)(p->z + g->slab - g->pad) + (d[2] ? t : 0.0);
    for (int32_t r = 0; r < 3; r++) position[r] = tsr_vertex_coordinate(g, r, i, j, k);
    if (g->normals) tsr_vertex_normal(g, p, x, axis, fa, fb, t, normal);
}

/* Corner k of the triangles, one by one. */
TSR_HD void tsr_unindex(const tsr_surface_output *from, const tsr_surface_output *to, int64_t k)
{
    int64_t at = 3 * (int64_t)from->triangles[k];
    for (int32_t r = 0; r < 3; r++) to->vertices[3 * k + r] = from->vertices[at + r];
    for (int32_t r = 0; r < 3 && from->normals; r++) to->normals[3 * k + r] = from->normals[at + r];
    to->triangles[k] = (uint32_t)k;
}

/* ---- output of one word ------------------------------------------------------------------------------------------------------------ */

TSR_HD void tsr_word_vertices(const tsr_surface_grid *g, const tsr_word_place *p, tsr_edge_bits e, uint32_t first, const tsr_surface_output *out)
{
    uint64_t own = tsr_bits_low(g->width);
    for (uint64_t m = (e.x | e.y | e.z) & own; m; m &= m - 1) {
        int32_t bit = tsr_bits_first(m);
        for (int32_t axis = 0; axis < 3; axis++) {
            if (!((axis == 0 ? e.x : axis == 1 ? e.y : e.z) >> bit & 1)) continue;
            tsr_vertex(g, p, bit, axis, out->vertices + 3 * (int64_t)first, g->normals ? out->normals + 3 * (int64_t)first : 0);
            first++;
        }
    }
}

TSR_HD uint32_t tsr_word_first(const tsr_surface_grid *g, int64_t word)
{
    return word < 0 ? 0 : g->base + g->block_vertex[word >> (g->by_id ? 2 * g->log2_edge : TSR_BLOCK_SHIFT)] + g->prefix[word];
}

/* Returns the number after the last triangle. */
TSR_HD uint64_t tsr_word_triangles(const tsr_surface_grid *g, const tsr_word_place *p, tsr_cell_rows *c, const tsr_case_tables *tables,
                                   uint64_t triangle, const tsr_surface_output *out)
{
    uint32_t first[4][2];
    tsr_cell_edges_load(g, p, c);
    for (int32_t j = 0; j < 4; j++)
        for (int32_t next = 0; next < 2; next++) first[j][next] = tsr_word_first(g, tsr_word_beside(g, p, next, j & 1, j >> 1));
    for (uint64_t m = c->active; m; m &= m - 1) {
        int32_t bit = tsr_bits_first(m);
        const tsr_cell_fill fill = tsr_cell_filled(g, p, bit, tsr_cell_case(g, c->row, bit), tables);
        for (int32_t k = 0; k < 3 * fill.triangles; k += 3, triangle++)
            for (int32_t n = 0; n < 3; n++) {
                int32_t edge = fill.edges[k + n], axis = edge >> 2, u = edge & 1, v = edge >> 1 & 1;
                int32_t row = axis == 0 ? u + 2 * v : axis == 1 ? 2 * v : v, at = bit + (axis ? u : 0), next = at == g->width;
                tsr_edge_bits e = c->edges[row];
                uint32_t number = first[row][next] + (next ? 0 : (uint32_t)tsr_edges_count(e, tsr_bits_low(at)));
                number += (axis > 0 ? (uint32_t)(e.x >> at & 1) : 0) + (axis > 1 ? (uint32_t)(e.y >> at & 1) : 0);
                out->triangles[3 * (int64_t)triangle + (n && g->mirrored ? 3 - n : n)] = number;
            }
    }
    return triangle;
}

#endif
