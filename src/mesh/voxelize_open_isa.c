/* mesh/voxelize_open_isa.c: tsr_vox_turn for all voxels of a tile at once.
 *
 * One walk through the tree per tile: what is near and what is far is the same for all its voxels. A row of voxels is a vector: y and z of an edge, its
 * exact side and all products of these are the row's. Only the distances of its ends differ, and the edges of a curve share theirs. */
#include "mesh/voxelize_isa.h"

#include "mesh/voxelize_open.h"

enum { LANES = 8, ROWS = 64, SECTORS = 256, DIPOLES = 128 };

/* The sums of a row so far. */
struct row {
    _Alignas(64) double x[LANES], y[LANES], upper[LANES], turns[LANES], dipoles[LANES];
};
static tsr_vox_spin get(const struct row *r, int32_t l)
{
    const tsr_vox_spin s = { r->x[l], r->y[l], r->upper[l], r->turns[l] };
    return s;
}
static void put(struct row *r, int32_t l, tsr_vox_spin s)
{
    r->x[l] = s.x;
    r->y[l] = s.y;
    r->upper[l] = s.upper;
    r->turns[l] = s.turns;
}

struct turns {
    const tsr_vox_grid *g;
    tsr_vox_view view;
    int64_t first[3]; /* voxels from base */
    int32_t rows, sectors, dipoles;
    const tsr_vox_edge *sector[SECTORS]; /* SECTORS is a multiple of TSR_VOX_FACTORS: the count goes on in the next batch */
    const tsr_vox_node *dipole[DIPOLES];
    struct row row[ROWS];
};

/* The row's fixed x positions, y, z. */
struct place {
    _Alignas(64) double x[LANES];
    int64_t y, z;
};

/* One end of an edge, from the voxels of a row. */
struct end {
    _Alignas(64) double over[LANES], under[LANES]; /* tsr_vox_ahead */
    double y, z;
    int on_row;
};

static void set_end(const struct turns *t, const struct place *p, const int32_t fixed[3], struct end *e)
{
    const double *scale = t->view.scale, x = (double)fixed[0], step = scale[0];
    e->y = (double)(fixed[1] - p->y) * scale[1];
    e->z = (double)(fixed[2] - p->z) * scale[2];
    e->on_row = tsr_vox_on_row(fixed, p->y, p->z);
    const double square = e->y * e->y + e->z * e->z;
#pragma omp simd
    for (int32_t l = 0; l < LANES; l++) {
        const tsr_vox_ratio r = tsr_vox_ahead((x - p->x[l]) * step, square);
        e->over[l] = r.over;
        e->under[l] = r.under;
    }
}

static void add_sector(const struct end *a, const struct end *b, double sign, struct row *r)
{
    const double across = fabs(a->y * b->z - a->z * b->y), along = a->y * b->y + a->z * b->z;
#pragma omp simd
    for (int32_t l = 0; l < LANES; l++) {
        const double under = a->under[l] * b->under[l];
        put(r, l, tsr_vox_spun(get(r, l), a->over[l] * b->over[l] + along * under, across * under, sign));
    }
}

/* An end on the row is seen in another direction from each of its voxels. */
static void add_sector_on_row(struct turns *t, const struct place *p, const tsr_vox_edge *e, struct row *r)
{
    t->view.y = p->y;
    t->view.z = p->z;
    for (int32_t l = 0; l < 1 << t->g->log2_edge; l++) {
        t->view.at[0] = (double)(t->first[0] + l);
        put(r, l, tsr_vox_sector(t->g, e, &t->view, get(r, l)));
    }
}

static void shorten(struct row *r)
{
#pragma omp simd
    for (int32_t l = 0; l < LANES; l++) put(r, l, tsr_vox_shorter(get(r, l)));
}

static void take_sectors(struct turns *t, const struct place *p, struct row *r)
{
    struct end end[2];
    const int32_t *held = NULL; /* the position of end[last] */
    int last = 0;
    for (int32_t i = 0; i < t->sectors; i++) {
        const tsr_vox_edge *e = t->sector[i];
        int64_t area;
        if (!held || tsr_vox_compare(held, e->fixed[0])) set_end(t, p, e->fixed[0], &end[last]);
        set_end(t, p, e->fixed[1], &end[1 - last]);
        if (end[0].on_row | end[1].on_row) add_sector_on_row(t, p, e, r);
        else add_sector(&end[last], &end[1 - last], tsr_vox_left(e->fixed[0], e->fixed[1], p->y, p->z, &area) ? 1.0 : -1.0, r);
        if (i % TSR_VOX_FACTORS == TSR_VOX_FACTORS - 1) shorten(r);
        last = 1 - last;
        held = e->fixed[1];
    }
}

static void take_dipoles(const struct turns *t, const int64_t at[3], struct row *r)
{
    const tsr_vox_grid *g = t->g;
    _Alignas(64) double place[LANES];
    for (int32_t l = 0; l < LANES; l++) place[l] = (double)(at[0] + l);
    for (int32_t i = 0; i < t->dipoles; i++) {
        const tsr_vox_node *n = t->dipole[i];
        const double y = ((double)n->centre[1] - (double)at[1]) * g->spacing[1], z = ((double)n->centre[2] - (double)at[2]) * g->spacing[2];
        const double x = (double)n->centre[0], step = g->spacing[0];
#pragma omp simd
        for (int32_t l = 0; l < LANES; l++) r->dipoles[l] += tsr_vox_dipole(n->area, (x - place[l]) * step, y, z);
    }
}

/* Takes what has been found so far into the sums of all rows. */
static void flush(struct turns *t)
{
    const int32_t log2_edge = t->g->log2_edge, edge = 1 << log2_edge;
    const int64_t one = (int64_t)1 << t->g->fraction;
    for (int32_t i = 0; i < t->rows; i++) {
        const int64_t at[3] = { t->first[0], t->first[1] + (i & (edge - 1)), t->first[2] + (i >> log2_edge) };
        struct place p = { .y = at[1] * one, .z = at[2] * one };
        for (int32_t l = 0; l < LANES; l++) p.x[l] = (double)(at[0] + l) * (double)one;
        take_sectors(t, &p, &t->row[i]);
        take_dipoles(t, at, &t->row[i]);
    }
    t->sectors = t->dipoles = 0;
}

static void walk(struct turns *t)
{
    const tsr_vox_grid *g = t->g;
    int32_t stack[64], depth = 0;
    stack[depth++] = 0;
    while (depth) {
        const int32_t own = stack[--depth];
        const tsr_vox_node *n = &g->node[own];
        const tsr_vox_aspect seen = tsr_vox_judge(g, n, &t->view);
        if (!seen.far && n->right) {
            stack[depth++] = n->right;
            stack[depth++] = own + 1;
            continue;
        }
        const tsr_vox_edge *edge = seen.far ? n->chord : g->edge + n->first;
        const int32_t count = seen.far ? n->chords : n->last - n->first;
        if (seen.far) t->dipole[t->dipoles++] = n;
        for (int32_t k = 0; k < count; k++) {
            t->sector[t->sectors++] = &edge[k];
            if (t->sectors == SECTORS) flush(t);
        }
        if (t->dipoles == DIPOLES) { /* the sums are apart: sectors wait until their batch is full */
            const int32_t sectors = t->sectors;
            t->sectors = 0;
            flush(t);
            t->sectors = sectors;
        }
    }
    flush(t);
}

void TSR_ISA_NAME(tsr_vox_turns)(const tsr_vox_grid *g, const int32_t tile[3], int32_t *winding)
{
    const int32_t edge = 1 << g->log2_edge;
    const tsr_vox_spin begin = TSR_VOX_SPIN;
    struct turns t;
    t.g = g;
    t.rows = edge * edge;
    t.sectors = t.dipoles = 0;
    tsr_vox_tile_box(g, tile, &t.view);
    for (int k = 0; k < 3; k++) t.first[k] = (int64_t)tile[k] * edge - g->base[k];
    for (int32_t i = 0; i < t.rows; i++)
        for (int32_t l = 0; l < LANES; l++) {
            put(&t.row[i], l, begin);
            t.row[i].dipoles[l] = 0;
        }
    walk(&t);
    for (int32_t i = 0; i < t.rows; i++)
        for (int32_t l = 0; l < edge; l++) {
            int32_t *own = &winding[i * edge + l];
            *own = tsr_vox_whole(g, *own, tsr_vox_all_turns(g, get(&t.row[i], l), t.row[i].dipoles[l]));
        }
}
