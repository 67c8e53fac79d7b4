/* tiles/tiles_ops.h: what a backend provides for the sorted tile list. Pools are passed by pointer to a host struct whose array members
 * are device memory; every result that the host needs lies in pool->state. No call synchronises. */
#ifndef TSR_TILES_TILES_OPS_H
#define TSR_TILES_TILES_OPS_H

#include "device/backend.h"
#include "tiles/tile_pool.h"
#include "tiles/tiles_sample.h"

/* A change of the field by one sphere (docs/theory/segmentation.md 6): union (add) or subtraction (erase), radius and centre in world units
 * relative to voxel (0,0,0) along the grid axes, that is index * spacing. */
typedef struct tsr_tiles_sphere { float x, y, z, radius; int32_t erase; } tsr_tiles_sphere;

/* New value of voxel (x, y, z) after the spheres, in order. */
TSR_HD float tsr_paint(float v, int32_t x, int32_t y, int32_t z, const float spacing[3], float band, const tsr_tiles_sphere *spheres, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        const tsr_tiles_sphere *s = &spheres[i];
        float dx = (float)x * spacing[0] - s->x, dy = (float)y * spacing[1] - s->y, dz = (float)z * spacing[2] - s->z;
        float d = tsr_sqrt((dx * dx + dy * dy) + dz * dz) - s->radius;
        v = s->erase ? tsr_maxf(v, -d) : tsr_minf(v, d);
    }
    return tsr_clampf(v, -band, band);
}

/* Loading a dense field over the pool's domain, which a list without one takes from it for that time: must the tile of a voxel of it be stored? */
TSR_HD int tsr_load_stores(const tsr_tile_pool *pool, const float *field, int64_t x, int64_t y, int64_t z)
{
    const int64_t nx = pool->domain[0], ny = pool->domain[1], nz = pool->domain[2], at = (z * ny + y) * nx + x;
    const float v = field[at];
    const int in = v < 0.0f, capped = in && !pool->bounded;
    if (v > -pool->band && v < pool->band) return 1;
    return (x > 0 ? (field[at - 1] < 0.0f) != in : capped) || (x + 1 < nx ? (field[at + 1] < 0.0f) != in : capped) ||
           (y > 0 ? (field[at - nx] < 0.0f) != in : capped) || (y + 1 < ny ? (field[at + nx] < 0.0f) != in : capped) ||
           (z > 0 ? (field[at - nx * ny] < 0.0f) != in : capped) || (z + 1 < nz ? (field[at + nx * ny] < 0.0f) != in : capped);
}
/* What a voxel of a stored tile gets. */
TSR_HD float tsr_load_value(const tsr_tile_pool *pool, const float *field, int64_t x, int64_t y, int64_t z)
{
    const int64_t nx = pool->domain[0], ny = pool->domain[1], nz = pool->domain[2];
    if (!pool->bounded && (x >= nx || y >= ny || z >= nz)) return pool->band;
    return tsr_clampf(field[(tsr_minl(z, nz - 1) * ny + tsr_minl(y, ny - 1)) * nx + tsr_minl(x, nx - 1)], -pool->band, pool->band);
}

/* Rules that make every backend give the same bits:
 *  - Ids. The free stack starts as free_ids[i] = capacity - 1 - i, so that ids 2, 3, ... are popped in turn. The u-th created tile in list order
 *    takes free_ids[free_count - 1 - u]; then the removed ids are pushed in list order. load_fill gives ids 2.. in list order. grow pushes the new
 *    ids in descending order, so that old_capacity is popped next.
 *  - A created tile: both phi buffers hold its constant, activity = its class (TSR_ACTIVITY_OUTSIDE or 0), payload untouched, every neighbour entry
 *    the stored id or the tile's own constant. A removed tile's class becomes the neighbour entry of its stored neighbours.
 *  - Loading stores a tile iff one of its voxels in the field is strictly inside the band or has a 6-neighbour of opposite sign (v < 0): beyond the field
 *    there is none in a list with a domain, all is outside in one without.
 *  - A padding voxel (in a stored tile, beyond the domain) holds the value of the clamped voxel after load_fill, keeps its value in a step, is never
 *    read as a neighbour (halo cells beyond the domain are replaced by the cell at the clamped coordinate) and never counted. In a list without a domain
 *    it is a voxel as any other, outside.
 *  - Halo cells of absent tiles hold the neighbour entry's constant.
 *  - Activity word: areas (pool.guard wide for refresh, 1 for the segmentation's step) of voxels that are in the band or had a 6-neighbour of opposite sign; for refresh both from the current field, for a step
 *    the band test from the new value and the sign test from the old field. No area set: class bit from the sign of the tile's voxel 0. */
struct tsr_topology_ops;
typedef struct tsr_tiles_ops {
    /* u32 words of pool->scratch that the functions below need for this capacity. */
    int64_t (*scratch_words)(const tsr_tile_pool *pool);

    /* Empties the list: state, static tiles, free stack, table. */
    tsr_status (*clear)(tsr_queue *queue, const tsr_tile_pool *pool, int32_t background);

    /* Pass 1 of loading a dense field: codes[tile] = 0 outside, 1 inside, 2 stored (row-major over pool->tiles), state->count = number of
     * stored tiles, state->inside_absent; *first_bad = linear index of the first voxel that is not finite or INT64_MAX (all device memory). */
    tsr_status (*load_classify)(tsr_queue *queue, const tsr_tile_pool *pool, const float *field, uint8_t *codes, int64_t *first_bad);
    /* Pass 2: list in order, ids 2.. in list order, values, neighbours, activity, table. Uses codes and state->count of pass 1. */
    tsr_status (*load_fill)(tsr_queue *queue, const tsr_tile_pool *pool, const float *field, const uint8_t *codes);

    /* Adds tiles for the sorted unique keys (device memory) that are allowed and absent, filled with the constant of their place; their
     * activity is TSR_ACTIVITY_AREAS (all areas) until the next refresh. On shortage nothing changes and state->shortage tells. */
    tsr_status (*insert)(tsr_queue *queue, const tsr_tile_pool *pool, const uint64_t *keys, int32_t count);

    /* phi = min(phi, |x-c| - R) or max(phi, R - |x-c|), clamped, in all stored tiles, for each sphere in order; then refreshes. */
    tsr_status (*paint)(tsr_queue *queue, const tsr_tile_pool *pool, const tsr_tiles_sphere *spheres /* device */, int32_t count);

    /* Recomputes activity words and the counts of state from phi. */
    tsr_status (*refresh)(tsr_queue *queue, const tsr_tile_pool *pool);

    /* One management pass (docs/theory/tiles.md 3): from the activity words removes tiles nobody needs, creates those that are asked for,
     * keeps list, neighbours, table, free stack and state->inside_absent right. On shortage nothing changes (state->managed = 0). */
    tsr_status (*manage)(tsr_queue *queue, const tsr_tile_pool *pool);

    /* After the pool's arrays were moved to larger ones (old capacity given): pushes the new ids on the free stack. */
    tsr_status (*grow)(tsr_queue *queue, const tsr_tile_pool *pool, int32_t old_capacity);

    /* The tiles of `from` in the arrays of `to`, a cleared pool with room for them: ids 2, 3, ... in the order of the list, as list 0 and in phi[0] and
     * phi[1]. Writes from->table (which both share) and from->scratch, and nothing of either state. */
    tsr_status (*compact)(tsr_queue *queue, const tsr_tile_pool *from, const tsr_tile_pool *to);

    /* Array `buffer` of `from` as the same array of `to`, which holds values where that holds codes or the other way round. Counts on neither state. */
    tsr_status (*recode)(tsr_queue *queue, const tsr_tile_pool *from, const tsr_tile_pool *to, int32_t buffer);

    /* Dense output over the domain or any box of extents size starting at voxel `first`: float field, or u8 mask (phi < 0). */
    tsr_status (*store)(tsr_queue *queue, const tsr_tile_pool *pool, const int32_t first[3], const int64_t size[3], float *field, uint8_t *mask);

    /* The field at `count` positions (device memory): tiles_sample.h. */
    tsr_status (*sample)(tsr_queue *queue, const tsr_tile_pool *pool, const tsr_sample_map *map, const float *positions, float *values, int64_t count);

    /* Voxel sets in the memory of the device (tiles/topology_ops.h); NULL on the CPU. */
    const struct tsr_topology_ops *topology;
} tsr_tiles_ops;

/* The CPU table by name: a CPU step is followed by a management pass. */
extern const tsr_tiles_ops tsr_tiles_cpu;

#endif
