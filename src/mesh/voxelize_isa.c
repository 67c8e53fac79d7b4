/* mesh/voxelize_isa.c: exact squared distances from the voxels of a tile to the triangles binned to it.
 *
 * Most (voxel, triangle) pairs of a tile cannot matter. Triangles are sifted by their discs, first for blocks of 4^3 voxels, then for blocks of
 * 2^3 (AVX-512: 4 x 2 x 2): the lanes of a vector. The triangle of the nearest disc is measured first, at the corners of the block; distances are convex, so
 * that a disc whose tangent there lies farther at every corner than that triangle is farther everywhere in the block. What is left out is surely farther
 * than what is kept: the minimum is the same as over all triangles. */
#include "mesh/voxelize_batch.h"

#include <string.h>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-thread-jumps") /* it splits minima and maxima of constants into cases, and loops with cases into scalars */
#endif

#if defined(__AVX512F__)
enum { LANES = 16 };
#else
enum { LANES = 8 };
#endif
enum { WIDE = LANES / 4 };                            /* lanes of a block along x; two along y and z */
enum { CHUNK = 512, GROUP = 16, FEW = 4, AHEAD = 8 }; /* CHUNK triangles at a time: what stays in the second-level cache */

struct discs {
    _Alignas(64) float x[CHUNK + GROUP], y[CHUNK + GROUP], z[CHUNK + GROUP], radius[CHUNK + GROUP];
    _Alignas(64) float plane[4][CHUNK + GROUP];
    int32_t which[CHUNK + GROUP];
    int32_t count;
};

struct work {
    tsr_vox_local local[CHUNK];
    uint32_t owner[CHUNK];
    struct discs all, near;
    _Alignas(64) float square[CHUNK + GROUP], slope[3][CHUNK + GROUP]; /* tsr_vox_slope, from the middle of a block */
    int32_t kept[CHUNK + GROUP];
    int32_t nearest; /* of the discs last sifted */
};

/* Fills up to a multiple of GROUP with discs far away. */
static void pad(struct discs *c)
{
    for (int32_t i = c->count; i < (c->count + GROUP - 1) / GROUP * GROUP; i++) {
        c->x[i] = c->y[i] = c->z[i] = 1e18f;
        c->radius[i] = 0;
        for (int32_t k = 0; k < 4; k++) c->plane[k][i] = 0;
    }
}

/* Lower bounds of the squared distances of p from all triangles and how they grow; returns the smallest. */
static float estimate(const struct discs *c, const float p[3], struct work *w)
{
    float least = 3e38f, *square = w->square, *sx = w->slope[0], *sy = w->slope[1], *sz = w->slope[2];
    int32_t n = (c->count + GROUP - 1) / GROUP * GROUP;
#pragma omp simd reduction(min : least)
    for (int32_t i = 0; i < n; i++) {
        const tsr_vox_disc disc = { { c->x[i], c->y[i], c->z[i] }, c->radius[i], { c->plane[0][i], c->plane[1][i], c->plane[2][i], c->plane[3][i] } };
        const tsr_vox_slope s = tsr_vox_lean(&disc, p[0], p[1], p[2]);
        square[i] = s.square;
        sx[i] = s.x;
        sy[i] = s.y;
        sz[i] = s.z;
        least = s.square < least ? s.square : least;
    }
    return least;
}

/* Which of a group are at most `most`; of padding none is. */
static uint32_t at_most(const float *square, float most)
{
#if defined(__AVX512F__)
    return _mm512_cmp_ps_mask(_mm512_load_ps(square), _mm512_set1_ps(most), _CMP_LE_OQ);
#elif defined(__AVX2__)
    const __m256 limit = _mm256_set1_ps(most);
    return (uint32_t)_mm256_movemask_ps(_mm256_cmp_ps(_mm256_load_ps(square), limit, _CMP_LE_OQ)) |
           (uint32_t)_mm256_movemask_ps(_mm256_cmp_ps(_mm256_load_ps(square + 8), limit, _CMP_LE_OQ)) << 8;
#else
    uint32_t bits = 0;
    for (int32_t i = 0; i < GROUP; i++) bits |= (uint32_t)(square[i] <= most) << i;
    return bits;
#endif
}

/* Adds first + the places of the bits; writes up to GROUP numbers. */
static int32_t add(int32_t *kept, int32_t n, int32_t first, uint32_t bits)
{
#if defined(__AVX512F__)
    const __m512i places = _mm512_add_epi32(_mm512_set1_epi32(first), _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
    _mm512_storeu_si512(kept + n, _mm512_maskz_compress_epi32((__mmask16)bits, places));
    return n + __builtin_popcount(bits);
#else
    for (; bits; bits &= bits - 1) kept[n++] = first + __builtin_ctz(bits);
    return n;
#endif
}

/* Leaves in w->kept the discs whose bound is at most `most` and that are not surely farther than limit[] from the corners of the block. */
static int32_t within(struct work *w, int32_t count, float most, const float half[3], const float limit[8])
{
    _Alignas(64) float verdict[GROUP];
    int32_t n = 0;
    for (int32_t i = 0; i < count; i += GROUP) {
        const float *square = w->square + i, *sx = w->slope[0] + i, *sy = w->slope[1] + i, *sz = w->slope[2] + i;
        if (!at_most(square, most)) continue;
#pragma omp simd
        for (int32_t k = 0; k < GROUP; k++) {
            const tsr_vox_slope s = { square[k], sx[k], sy[k], sz[k] };
            verdict[k] = tsr_vox_aside(s, half, limit) ? 3e38f : square[k];
        }
        n = add(w->kept, n, i, at_most(verdict, most));
    }
    return n;
}

/* A block of voxels, seen from its middle. */
struct place {
    float middle[3], half[3], radius;
    _Alignas(64) float x[LANES], y[LANES], z[LANES]; /* voxels of its edges along x */
};

/* The block from `first` on (in voxels from the tile's middle) that reaches so many voxels further along each axis: places by the same products as everywhere. */
static void set_place(struct place *b, const float first[3], const float further[3], const float h[3])
{
    const float step = further[0] / (float)(WIDE - 1); /* a whole number */
    for (int32_t k = 0; k < 3; k++) {
        b->half[k] = 0.5f * further[k] * h[k];
        b->middle[k] = (first[k] + 0.5f * further[k]) * h[k];
    }
    b->radius = tsr_vox_block_radius(b->half);
    for (int32_t l = 0; l < LANES; l++) {
        b->x[l] = (first[0] + step * (float)(l % WIDE)) * h[0];
        b->y[l] = (first[1] + further[1] * (float)(l / WIDE & 1)) * h[1];
        b->z[l] = (first[2] + further[2] * (float)(l / (2 * WIDE))) * h[2];
    }
}
/* The lane of a corner: those of larger x are odd, of larger y have bit 1, of larger z bit 2. */
static int32_t lane_of(int32_t corner) { return (corner >> 1) * WIDE + (corner & 1) * (WIDE - 1); }

static void measure(const tsr_vox_local *t, const struct place *b, float *own)
{
#pragma omp simd
    for (int32_t l = 0; l < LANES; l++) own[l] = tsr_minf(own[l], tsr_vox_distance(t, b->x[l], b->y[l], b->z[l]));
}

static float largest(const float *own)
{
    float most = 0;
#pragma omp simd reduction(max : most)
    for (int32_t l = 0; l < LANES; l++) most = own[l] > most ? own[l] : most;
    return most;
}

/* Number of discs in w->kept that may be nearer than `bound` and own[] somewhere in the block; own[LANES] has the nearest disc's triangle in it then. */
static int32_t sift(struct work *w, const struct discs *c, const struct place *b, float bound, float *own)
{
    _Alignas(64) float fresh[LANES];
    float limit[8], most, least = estimate(c, b->middle, w);
    int32_t group = 0;
    if (least > tsr_vox_margin(bound + b->radius)) return 0;
    uint32_t bits = at_most(w->square, least);
    while (!bits) {
        group += GROUP;
        bits = at_most(w->square + group, least);
    }
    w->nearest = group + __builtin_ctz(bits);
    for (int32_t l = 0; l < LANES; l++) fresh[l] = 3e38f;
    measure(&w->local[c->which[w->nearest]], b, fresh);
    for (int32_t l = 0; l < LANES; l++) own[l] = tsr_minf(own[l], fresh[l]);
    most = largest(own);
    for (int32_t k = 0; k < 8; k++) limit[k] = tsr_vox_limit(fresh[lane_of(k)], b->radius);
    return within(w, c->count, tsr_vox_margin(tsr_minf(sqrtf(most), bound) + b->radius), b->half, limit);
}

/* One block of as many voxels as lanes: best[] so far, improved by the triangles. */
static void improve(struct work *w, const struct discs *c, const struct place *b, float *best)
{
    _Alignas(64) float own[LANES];
    if (c->count <= FEW) { /* sifting costs more */
        for (int32_t i = 0; i < c->count; i++) measure(&w->local[c->which[i]], b, best);
        return;
    }
    for (int32_t l = 0; l < LANES; l++) own[l] = best[l];
    const int32_t n = sift(w, c, b, sqrtf(largest(own)), own);
    for (int32_t i = 0; i < n; i++)
        if (w->kept[i] != w->nearest) measure(&w->local[c->which[w->kept[i]]], b, own);
    for (int32_t l = 0; l < LANES && n; l++) best[l] = own[l];
}

/* The number of the block of a voxel. */
static int32_t block_of(int32_t x, int32_t y, int32_t z, int32_t edge) { return ((z >> 1) * (edge / 2) + (y >> 1)) * (edge / WIDE) + x / WIDE; }

/* Copies the n discs kept. */
static void gather(struct work *w, int32_t n)
{
    const struct discs *from = &w->all;
    struct discs *to = &w->near;
    const int32_t *kept = w->kept;
#pragma omp simd
    for (int32_t i = 0; i < n; i++) {
        const int32_t k = kept[i];
        to->x[i] = from->x[k];
        to->y[i] = from->y[k];
        to->z[i] = from->z[k];
        to->radius[i] = from->radius[k];
        to->plane[0][i] = from->plane[0][k];
        to->plane[1][i] = from->plane[1][k];
        to->plane[2][i] = from->plane[2][k];
        to->plane[3][i] = from->plane[3][k];
        to->which[i] = k;
    }
    to->count = n;
    pad(to);
}

/* One chunk of triangles; best[] in blocks of LANES. */
static void chunk(const tsr_vox_grid *g, struct work *w, float *best)
{
    const int32_t edge = 1 << g->log2_edge, per = edge / 4, across = 4 / WIDE;
    const float shift = -0.5f * (float)(edge - 1), four[3] = { 3, 3, 3 }, small[3] = { WIDE - 1, 1, 1 };
    struct place place;
    for (int32_t q = 0; q < per * per * per; q++) {
        const int32_t at[3] = { q % per * 4, q / per % per * 4, q / (per * per) * 4 };
        const float quarter[3] = { (float)at[0] + shift, (float)at[1] + shift, (float)at[2] + shift };
        _Alignas(64) float own[LANES];
        for (int32_t l = 0; l < LANES; l++) own[l] = 3e38f;
        set_place(&place, quarter, four, g->h);
        const int32_t n = sift(w, &w->all, &place, g->reach, own);
        if (!n) continue;
        gather(w, n);
        for (int32_t b = 0; b < 4 * across; b++) {
            const int32_t x = at[0] + b % across * WIDE, y = at[1] + 2 * (b / across & 1), z = at[2] + 2 * (b / (2 * across));
            const float first[3] = { (float)x + shift, (float)y + shift, (float)z + shift };
            set_place(&place, first, small, g->h);
            improve(w, &w->near, &place, best + block_of(x, y, z, edge) * LANES);
        }
    }
}

/* Leaves in w->kept the discs whose box meets that of the tile's rows, and its plane too: other triangles cross none of them. */
static int32_t crossing(struct work *w, const tsr_vox_grid *g)
{
    const struct discs *c = &w->all;
    const float half = 0.5f * (float)((1 << g->log2_edge) - 1), more = half + 0.01f + 1.0f / (float)(1 << g->fraction); /* crossings round corners */
    const float x = (more + 1.0f) * g->h[0], y = more * g->h[1], z = more * g->h[2]; /* and count for the voxel behind */
    int32_t n = 0;
    for (int32_t i = 0; i < c->count; i += GROUP) {
#pragma omp simd
        for (int32_t k = i; k < i + GROUP; k++) {
            const float box = tsr_maxf(tsr_absf(c->x[k]) - x, tsr_maxf(tsr_absf(c->y[k]) - y, tsr_absf(c->z[k]) - z)) - c->radius[k] * 1.0001f;
            const float spread =
                (tsr_absf(c->plane[0][k]) * x + tsr_absf(c->plane[1][k]) * y) + (tsr_absf(c->plane[2][k]) * z + 1e-6f * c->radius[k]);
            w->square[k] = tsr_maxf(box, tsr_absf(c->plane[3][k]) - spread);
        }
        n = add(w->kept, n, i, at_most(w->square + i, 0.0f));
    }
    return n;
}

/* A triangle as number n of the chunk, seen from the middle of the tile. */
static void keep_local(struct work *w, int32_t n, const tsr_vox_triangle *t, const double middle[3])
{
    tsr_vox_local *l = &w->local[n];
    tsr_vox_localise(t, middle, l);
    w->all.x[n] = l->centre[0];
    w->all.y[n] = l->centre[1];
    w->all.z[n] = l->centre[2];
    w->all.radius[n] = l->radius;
    for (int32_t r = 0; r < 4; r++) w->all.plane[r][n] = l->w[r];
    w->all.which[n] = n;
}

int64_t TSR_ISA_NAME(tsr_vox_tile)(const tsr_vox_grid *g, const int32_t tile[3], const uint32_t *owner, int64_t count, float *square,
                                   uint32_t *through)
{
    const int32_t edge = 1 << g->log2_edge;
    struct work w;
    struct tsr_vox_batch b;
    _Alignas(64) float best[512];
    double middle[3];
    int64_t crossings = 0;
    tsr_vox_middle(g, tile, middle);
    for (int32_t i = 0; i < edge * edge * edge; i++) best[i] = g->reach * g->reach;
    for (int64_t from = 0; from < count; from += CHUNK) {
        int32_t n = 0;
        for (int64_t i = from; i < count && i < from + CHUNK; i++)
            if (owner[i] != TSR_VOX_NOBODY) w.owner[n++] = owner[i];
        for (int32_t first = 0; first < n; first += TSR_VOX_BATCH) {
            tsr_vox_batch_set(g, w.owner, first, n, &b);
            tsr_vox_batch_frames(&b);
            for (int32_t l = 0; l < b.count; l++) keep_local(&w, first + l, &b.triangle[l], middle);
        }
        w.all.count = n;
        pad(&w.all);
        if (n) chunk(g, &w, best);
        n = through ? crossing(&w, g) : 0;
        for (int32_t i = 0; i < n; i++) through[crossings++] = w.owner[w.kept[i]];
    }
    for (int32_t row = 0; row < edge * edge; row++) /* from blocks to rows */
        for (int32_t x = 0; x < edge; x += WIDE) {
            const int32_t y = row & (edge - 1), z = row >> g->log2_edge;
            memcpy(square + row * edge + x, best + block_of(x, y, z, edge) * LANES + ((z & 1) << 1 | (y & 1)) * WIDE, WIDE * sizeof *square);
        }
    return crossings;
}

/* The rows of a slice of the tile that cross the triangle, from y to last: which, and the areas of tsr_vox_crosses. A vector of rows at a time pays from three
 * on; those beyond `last` are not used. */
enum { ROWS = 8 };
struct slice {
    int32_t side[ROWS];
    int64_t ea[ROWS], eb[ROWS], ec[ROWS];
};
static void slice(const int32_t *a, const int32_t *b, const int32_t *c, int64_t at_y, int64_t at_z, int64_t one, int32_t y, int32_t last,
                  struct slice *s)
{
    if (last - y < 2) {
        for (; y <= last; y++) s->side[y] = tsr_vox_crosses(a, b, c, at_y + y * one, at_z, &s->ea[y], &s->eb[y], &s->ec[y]);
        return;
    }
#pragma omp simd
    for (int32_t i = 0; i < ROWS; i++) {
        int64_t ea, eb, ec;
        s->side[i] = tsr_vox_crosses(a, b, c, at_y + i * one, at_z, &ea, &eb, &ec);
        s->ea[i] = ea;
        s->eb[i] = eb;
        s->ec[i] = ec;
    }
}

/* The crossings of one triangle. */
static void cross(const tsr_vox_grid *g, const int32_t tile[3], uint32_t triangle, int32_t *winding)
{
    tsr_vox_box box = { { 0, 0, 0 }, { 0, 0, 0 } };
    struct slice s;
    const uint32_t *corner = g->faced + 3 * (int64_t)triangle;
    const int32_t *a = g->fixed[corner[0]], *b = g->fixed[corner[1]], *c = g->fixed[corner[2]], edge = 1 << g->log2_edge;
    const int64_t one = (int64_t)1 << g->fraction;
    int64_t first[3];
    if (!tsr_vox_meets(g, a, b, c, tile, &box)) return;
    for (int k = 0; k < 3; k++) first[k] = (int64_t)tile[k] * edge - g->base[k];
    for (int32_t z = box.lower[2]; z <= box.upper[2]; z++) {
        slice(a, b, c, first[1] * one, (first[2] + z) * one, one, box.lower[1], box.upper[1], &s);
        for (int32_t y = box.lower[1]; y <= box.upper[1]; y++) {
            if (!s.side[y]) continue;
            const int64_t voxel = tsr_vox_behind(g, a, b, c, s.ea[y], s.eb[y], s.ec[y]);
            if (voxel < first[0] || voxel >= first[0] + edge) continue;
            int32_t *row = winding + ((int64_t)z * edge + y) * edge;
            for (int64_t x = voxel - first[0]; x < edge; x++) row[x] += g->mirrored ? s.side[y] : -s.side[y];
        }
    }
}

void TSR_ISA_NAME(tsr_vox_rows)(const tsr_vox_grid *g, const int32_t tile[3], const uint32_t *owner, int64_t count, int32_t *winding)
{
    for (int64_t i = 0; i < count; i++) {
        if (i + AHEAD < count) __builtin_prefetch(g->faced + 3 * (int64_t)owner[i + AHEAD]);
        cross(g, tile, owner[i], winding);
    }
}

void TSR_ISA_NAME(tsr_vox_sign)(const tsr_vox_grid *g, const int32_t *TSR_RESTRICT winding, int closed, int32_t voxels, float *TSR_RESTRICT field,
                                float *TSR_RESTRICT other)
{
    const tsr_vox_grid own = { .rule = g->rule, .band = g->band, .shell = g->shell };
#pragma omp simd
    for (int32_t i = 0; i < voxels; i++) {
        const float v = tsr_vox_field(&own, field[i], closed & tsr_vox_inside(&own, winding[i]));
        field[i] = v;
        other[i] = v;
    }
}
