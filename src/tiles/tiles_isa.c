/* tiles/tiles_isa.c: activity word and counts of a tile of edge 8 from bits: a word is a plane of 8 x 8 voxels, bit 8 y + x. For tiles that lie
 * in the domain with their neighbours; tiles_cpu.c looks at the others voxel by voxel. Integers only: every variant gives the same. */
#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "tiles/tiles_isa.h"

/* Bits of eight neighbouring values: those below `bound`, and those above it. */
#if defined(__AVX__)
static inline uint64_t tsr_bits_below(const float *v, float bound)
{
    return (uint64_t)(uint32_t)_mm256_movemask_ps(_mm256_cmp_ps(_mm256_loadu_ps(v), _mm256_set1_ps(bound), _CMP_LT_OQ));
}
static inline uint64_t tsr_bits_above(const float *v, float bound)
{
    return (uint64_t)(uint32_t)_mm256_movemask_ps(_mm256_cmp_ps(_mm256_loadu_ps(v), _mm256_set1_ps(bound), _CMP_GT_OQ));
}
#elif defined(__SSE2__)
static inline uint64_t tsr_bits_below(const float *v, float bound)
{
    const __m128 b = _mm_set1_ps(bound);
    return (uint64_t)(uint32_t)(_mm_movemask_ps(_mm_cmplt_ps(_mm_loadu_ps(v), b)) | _mm_movemask_ps(_mm_cmplt_ps(_mm_loadu_ps(v + 4), b)) << 4);
}
static inline uint64_t tsr_bits_above(const float *v, float bound)
{
    const __m128 b = _mm_set1_ps(bound);
    return (uint64_t)(uint32_t)(_mm_movemask_ps(_mm_cmpgt_ps(_mm_loadu_ps(v), b)) | _mm_movemask_ps(_mm_cmpgt_ps(_mm_loadu_ps(v + 4), b)) << 4);
}
#else
static inline uint64_t tsr_bits_below(const float *v, float bound)
{
    uint64_t bits = 0;
    for (int x = 0; x < 8; x++) bits |= (uint64_t)(v[x] < bound) << x;
    return bits;
}
static inline uint64_t tsr_bits_above(const float *v, float bound)
{
    uint64_t bits = 0;
    for (int x = 0; x < 8; x++) bits |= (uint64_t)(v[x] > bound) << x;
    return bits;
}
#endif

/* The tile's voxels that are negative, and those inside the band. */
static inline void tsr_planes_of_tile(const float *v, float band, uint64_t negative[8], uint64_t active[8])
{
    for (int z = 0; z < 8; z++) {
        negative[z] = active[z] = 0;
        for (int y = 0; y < 8; y++) {
            const float *row = v + 64 * z + 8 * y;
            negative[z] |= tsr_bits_below(row, 0.0f) << 8 * y;
            active[z] |= (tsr_bits_above(row, -band) & tsr_bits_below(row, band)) << 8 * y;
        }
    }
}

/* Signs beside plane z: of the neighbours at -x (bits of x = 0), +x (x = 7), -y (y = 0) and +y (y = 7). */
static inline uint64_t tsr_signs_beside_x(const float *v, int z, int x)
{
    uint64_t bits = 0;
    for (int y = 0; y < 8; y++) bits |= (tsr_bits_below(v + 64 * z + 8 * y, 0.0f) >> x & 1u) << (8 * y + 7 - x);
    return bits;
}
static inline uint64_t tsr_signs_beside_y(const float *v, int z, int y) { return tsr_bits_below(v + 64 * z + 8 * y, 0.0f) << 8 * (7 - y); }
static inline uint64_t tsr_signs_of_plane(const float *v)
{
    uint64_t bits = 0;
    for (int y = 0; y < 8; y++) bits |= tsr_bits_below(v + 8 * y, 0.0f) << 8 * y;
    return bits;
}

/* Area bits: those of the 27 areas that a voxel of `some` lies in, guard bands 1 to 3 voxels wide (in a tile of 8 they do not overlap). */
static inline uint32_t tsr_areas_of_planes(const uint64_t some[8], int32_t guard)
{
    const uint32_t low = (1u << guard) - 1u, high = low << (8 - guard), middle = 0xffu & ~(low | high);
    uint64_t slab[3] = { 0, 0, 0 };
    uint32_t areas = 0;
    for (int z = 0; z < 8; z++) slab[z < guard ? 0 : z >= 8 - guard ? 2 : 1] |= some[z];
    for (int z = 0; z < 3; z++) {
        uint32_t row[3] = { 0, 0, 0 };
        for (int y = 0; y < 8; y++) row[y < guard ? 0 : y >= 8 - guard ? 2 : 1] |= (uint32_t)(slab[z] >> 8 * y) & 0xffu;
        for (int y = 0; y < 3; y++)
            areas |= ((uint32_t)((row[y] & low) != 0) | (uint32_t)((row[y] & middle) != 0) << 1 | (uint32_t)((row[y] & high) != 0) << 2)
                     << (9 * z + 3 * y);
    }
    return areas;
}

/* Activity word; counts are added to. */
uint32_t TSR_ISA_NAME(tsr_refresh_tile)(const tsr_tile_pool *pool, const float *phi, uint32_t id, int64_t *active_count, int64_t *inside_count)
{
    const uint32_t *row = pool->neighbours + (int64_t)id * TSR_NEIGHBOUR_ROW;
    const float *v = phi + (int64_t)id * 512, *left = phi + (int64_t)row[12] * 512, *right = phi + (int64_t)row[14] * 512;
    const float *below = phi + (int64_t)row[10] * 512, *above = phi + (int64_t)row[16] * 512;
    uint64_t n[10], some[8];
    tsr_planes_of_tile(v, pool->band, n + 1, some);
    for (int z = 0; z < 8; z++) {
        *active_count += __builtin_popcountll(some[z]);
        *inside_count += __builtin_popcountll(n[z + 1]);
    }
    n[0] = tsr_signs_of_plane(phi + (int64_t)row[4] * 512 + 448);
    n[9] = tsr_signs_of_plane(phi + (int64_t)row[22] * 512);
    for (int z = 0; z < 8; z++) {
        const uint64_t m = n[z + 1], from_left = (m & ~0x8080808080808080ull) << 1 | tsr_signs_beside_x(left, z, 7),
                       from_right = (m & ~0x0101010101010101ull) >> 1 | tsr_signs_beside_x(right, z, 0),
                       from_below = m << 8 | tsr_signs_beside_y(below, z, 7), from_above = m >> 8 | tsr_signs_beside_y(above, z, 0);
        some[z] |= (m ^ from_left) | (m ^ from_right) | (m ^ from_below) | (m ^ from_above) | (m ^ n[z]) | (m ^ n[z + 2]);
    }
    const uint32_t areas = tsr_areas_of_planes(some, pool->guard);
    return areas ? areas : v[0] > 0.0f ? TSR_ACTIVITY_OUTSIDE : 0;
}
