/* grid/voxelize_isa.c: exact squared distances from the voxels of a tile to the triangles binned to it.
 *
 * Most (voxel, triangle) pairs of a tile cannot matter. Triangles are sifted by their circles, first against blocks of 4^3 voxels, then
 * against blocks of 2^3: eight voxels, the lanes of a vector. The nearest circle is measured first; its distances are a bound that leaves
 * few of the others. What is left out is surely farther than what is kept, so that the minimum is the same as over all triangles. */
#include "grid/voxelize_isa.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

enum { CHUNK = 512, LANES = 8, GROUP = 16, AHEAD = 8 }; /* CHUNK triangles at a time: what stays in the second-level cache */

struct circles {
    _Alignas(64) float x[CHUNK + GROUP], y[CHUNK + GROUP], z[CHUNK + GROUP], radius[CHUNK + GROUP];
    _Alignas(64) float plane[4][CHUNK + GROUP]; /* of the near ones */
    uint16_t which[CHUNK + GROUP];
    int32_t count;
};

struct work {
    tsr_vox_local local[CHUNK];
    struct circles all, near;
    _Alignas(64) float square[CHUNK + GROUP]; /* from the middle of a block to the circles' centres */
    uint16_t kept[CHUNK + GROUP];
};

/* Fills up to a multiple of GROUP with circles far away. */
static void pad(struct circles *c)
{
    for (int32_t i = c->count; i < c->count + GROUP; i++) {
        c->x[i] = c->y[i] = c->z[i] = 1e18f;
        c->radius[i] = 0;
        for (int32_t k = 0; k < 4; k++) c->plane[k][i] = 0;
    }
}

/* Squared distances of p from all centres; returns the smallest. */
static float measure(const struct circles *c, const float p[3], float *square)
{
    float least = 3e38f;
    int32_t n = (c->count + GROUP - 1) / GROUP * GROUP;
#pragma omp simd reduction(min : least)
    for (int32_t i = 0; i < n; i++) {
        float x = c->x[i] - p[0], y = c->y[i] - p[1], z = c->z[i] - p[2], d = (x * x + y * y) + z * z;
        square[i] = d;
        least = d < least ? d : least;
    }
    return least;
}

/* Lower bounds of the squared distances of p from all triangles; returns the smallest. */
static float estimate(const struct circles *c, const float p[3], float *square)
{
    float least = 3e38f;
    int32_t n = (c->count + GROUP - 1) / GROUP * GROUP;
#pragma omp simd reduction(min : least)
    for (int32_t i = 0; i < n; i++) {
        const tsr_vox_disc disc = { { c->x[i], c->y[i], c->z[i] }, c->radius[i], { c->plane[0][i], c->plane[1][i], c->plane[2][i], c->plane[3][i] } };
        const float d = tsr_vox_least(&disc, p[0], p[1], p[2]);
        square[i] = d;
        least = d < least ? d : least;
    }
    return least;
}

static int holds(const float *square, float value)
{
    int some = 0;
#pragma omp simd reduction(| : some)
    for (int32_t i = 0; i < GROUP; i++) some |= square[i] == value;
    return some;
}

/* Indices of the circles that a ball may reach. */
static int32_t sift(const struct circles *c, const float *square, float ball, uint16_t *kept)
{
    int32_t n = 0;
#if defined(__AVX2__)
    const __m256 reach = _mm256_set1_ps(ball), slack = _mm256_set1_ps(1.00002f);
    for (int32_t i = 0; i < c->count; i += 8) { /* tsr_vox_clear, eight at a time; the padding is always clear */
        __m256 sum = _mm256_mul_ps(_mm256_add_ps(reach, _mm256_load_ps(c->radius + i)), slack);
        uint32_t bits = (uint32_t)_mm256_movemask_ps(_mm256_cmp_ps(_mm256_load_ps(square + i), _mm256_mul_ps(sum, sum), _CMP_LE_OQ));
        for (; bits; bits &= bits - 1) kept[n++] = (uint16_t)(i + __builtin_ctz(bits));
    }
#else
    for (int32_t i = 0; i < c->count; i++) {
        kept[n] = (uint16_t)i;
        n += !tsr_vox_clear(square[i], ball, c->radius[i]);
    }
#endif
    return n;
}

/* Indices of the triangles whose estimate is within a ball. */
static int32_t within(const struct circles *c, const float *square, float ball, uint16_t *kept)
{
    const float most = tsr_vox_margin(ball);
    int32_t n = 0;
#if defined(__AVX2__)
    const __m256 limit = _mm256_set1_ps(most);
    for (int32_t i = 0; i < c->count; i += 8) { /* the padding is always beyond */
        uint32_t bits = (uint32_t)_mm256_movemask_ps(_mm256_cmp_ps(_mm256_load_ps(square + i), limit, _CMP_LE_OQ));
        for (; bits; bits &= bits - 1) kept[n++] = (uint16_t)(i + __builtin_ctz(bits));
    }
#else
    for (int32_t i = 0; i < c->count; i++) {
        kept[n] = (uint16_t)i;
        n += square[i] <= most;
    }
#endif
    return n;
}

/* Places of the voxels of a block, by the same products as everywhere. */
static void lanes_of(const float first[3], const float h[3], float x[LANES], float y[LANES], float z[LANES])
{
    for (int32_t l = 0; l < LANES; l++) {
        x[l] = (first[0] + (float)(l & 1)) * h[0];
        y[l] = (first[1] + (float)(l >> 1 & 1)) * h[1];
        z[l] = (first[2] + (float)(l >> 2)) * h[2];
    }
}

/* One block of 2^3 voxels from `first` on (in voxels from the tile's middle): best[8] so far, improved by the circles. */
static void block(struct work *w, const struct circles *c, const float first[3], const float h[3], float half, float *best)
{
    _Alignas(32) float x[LANES], y[LANES], z[LANES], own[LANES];
    const float middle[3] = { (first[0] + 0.5f) * h[0], (first[1] + 0.5f) * h[1], (first[2] + 0.5f) * h[2] };
    float least = estimate(c, middle, w->square), most = 0;
    int32_t nearest = 0;
    for (int32_t l = 0; l < LANES; l++) most = tsr_maxf(most, best[l]);
    if (least > tsr_vox_margin(sqrtf(most) + half)) return; /* no triangle comes so near */
    most = 0;
    while (!holds(w->square + nearest, least)) nearest += GROUP;
    while (w->square[nearest] != least) nearest++;
    lanes_of(first, h, x, y, z);
    for (int32_t l = 0; l < LANES; l++) own[l] = best[l];
    const tsr_vox_local *t = &w->local[c->which[nearest]];
#pragma omp simd
    for (int32_t l = 0; l < LANES; l++) own[l] = tsr_minf(own[l], tsr_vox_distance(t, x[l], y[l], z[l]));
    for (int32_t l = 0; l < LANES; l++) most = tsr_maxf(most, own[l]);
    int32_t n = within(c, w->square, sqrtf(most) + half, w->kept);
    for (int32_t i = 0; i < n; i++) {
        const int32_t k = w->kept[i];
        if (k == nearest) continue;
        t = &w->local[c->which[k]];
#pragma omp simd
        for (int32_t l = 0; l < LANES; l++) own[l] = tsr_minf(own[l], tsr_vox_distance(t, x[l], y[l], z[l]));
    }
    for (int32_t l = 0; l < LANES; l++) best[l] = own[l];
}

/* One chunk of triangles; best[] in blocks of 2^3. */
static void chunk(const tsr_vox_grid *g, struct work *w, float *best)
{
    const int32_t edge = 1 << g->log2_edge, blocks = edge / 2;
    const float *h = g->h, shift = -0.5f * (float)(edge - 1);
    const float half_four[3] = { 1.5f * h[0], 1.5f * h[1], 1.5f * h[2] }, half_two[3] = { 0.5f * h[0], 0.5f * h[1], 0.5f * h[2] };
    const float four = tsr_vox_block_radius(half_four), two = tsr_vox_block_radius(half_two);
    for (int32_t q = 0; q < edge * edge * edge / 64; q++) {
        int32_t per = edge / 4, qx = q % per * 4, qy = q / per % per * 4, qz = q / (per * per) * 4;
        const float middle[3] = { ((float)qx + 1.5f + shift) * h[0], ((float)qy + 1.5f + shift) * h[1], ((float)qz + 1.5f + shift) * h[2] };
        float least = measure(&w->all, middle, w->square), ball = 2 * four;
        ball = tsr_minf(sqrtf(least) + ball, g->reach + four); /* some voxel-to-centre distance bounds what matters */
        int32_t n = sift(&w->all, w->square, ball, w->kept);
        if (!n) continue;
        for (int32_t i = 0; i < n; i++) {
            int32_t k = w->kept[i];
            w->near.x[i] = w->all.x[k];
            w->near.y[i] = w->all.y[k];
            w->near.z[i] = w->all.z[k];
            w->near.radius[i] = w->all.radius[k];
            for (int32_t r = 0; r < 4; r++) w->near.plane[r][i] = w->local[k].w[r];
            w->near.which[i] = (uint16_t)k;
        }
        w->near.count = n;
        pad(&w->near);
        for (int32_t b = 0; b < 8; b++) {
            int32_t bx = qx + 2 * (b & 1), by = qy + 2 * (b >> 1 & 1), bz = qz + 2 * (b >> 2);
            const float first[3] = { (float)bx + shift, (float)by + shift, (float)bz + shift };
            block(w, &w->near, first, h, two, best + (((bz / 2) * blocks + by / 2) * blocks + bx / 2) * LANES);
        }
    }
}

/* The triangles of a tile lie anywhere in memory. */
static void fetch(const tsr_vox_triangle *t)
{
    __builtin_prefetch(t);
    __builtin_prefetch((const char *)t + 64);
}

void TSR_ISA_NAME(tsr_vox_tile)(const tsr_vox_grid *g, const int32_t tile[3], const uint32_t *owner, int64_t count, float *square)
{
    const int32_t edge = 1 << g->log2_edge, blocks = edge / 2;
    struct work w;
    _Alignas(64) float best[512];
    double middle[3];
    tsr_vox_middle(g, tile, middle);
    for (int32_t i = 0; i < edge * edge * edge; i++) best[i] = g->reach * g->reach;
    for (int64_t from = 0; from < count; from += CHUNK) {
        int32_t n = 0;
        for (int64_t i = from; i < count && i < from + CHUNK; i++) {
            if (i + AHEAD < count && owner[i + AHEAD] != TSR_VOX_NOBODY) fetch(&g->triangle[owner[i + AHEAD]]);
            if (owner[i] == TSR_VOX_NOBODY) continue;
            tsr_vox_local *l = &w.local[n];
            tsr_vox_localise(&g->triangle[owner[i]], middle, l);
            w.all.x[n] = l->centre[0];
            w.all.y[n] = l->centre[1];
            w.all.z[n] = l->centre[2];
            w.all.radius[n++] = l->radius;
        }
        w.all.count = n;
        pad(&w.all);
        if (n) chunk(g, &w, best);
    }
    for (int32_t z = 0; z < edge; z++)
        for (int32_t y = 0; y < edge; y++)
            for (int32_t x = 0; x < edge; x++)
                square[(z * edge + y) * edge + x] =
                    best[(((z >> 1) * blocks + (y >> 1)) * blocks + (x >> 1)) * LANES + (((z & 1) << 2) | ((y & 1) << 1) | (x & 1))];
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
