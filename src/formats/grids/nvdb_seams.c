/* formats/grids/nvdb_seams.c: where the inside of a NanoVDB level set ends without a band: grids that were clipped, cut or made of open meshes, and lists whose inside
 * reached the border of their domain.
 *
 * A tile list holds one sign for absent tiles that touch. A tree holds a constant per cell, whatever stands beside it; so cells of both signs that touch
 * are stored. The field is that of the file at every voxel. */
#include <stdlib.h>

#include "formats/grids/nvdb_reader.h"

enum { OUTSIDE = 0, INSIDE = 1, STORED = 2 };

/* A block of 128^3 voxels: a lower node, or (NULL) a constant. */
struct block {
    const uint8_t *node;
    int sign;
};

static struct block block_at(const tsr_nvdb_reader *r, int32_t x, int32_t y, int32_t z)
{
    const uint8_t *tile = tsr_nvdb_root_tile(r, x, y, z);
    if (!tile) return (struct block){ NULL, OUTSIDE };
    const int64_t child = tsr_get_i64(tile + NVDB_ROOT_TILE_CHILD);
    if (!child) return (struct block){ NULL, tsr_get_f32(tile + NVDB_ROOT_TILE_VALUE) < 0 };
    const int32_t c = nvdb_upper_cell(x, y, z);
    const uint8_t *upper = r->root + child, *cell = upper + NVDB_UPPER_TABLE + 8 * c;
    if (!tsr_nvdb_bit(upper + NVDB_UPPER_CHILDREN, c)) return (struct block){ NULL, tsr_get_f32(cell) < 0 };
    return (struct block){ upper + tsr_get_i64(cell), STORED };
}

/* Cell (x, y, z) of the block in the middle of the 27, coordinates from -1 to 16. */
static int cell_at(const tsr_nvdb_reader *r, const struct block near[27], int32_t x, int32_t y, int32_t z)
{
    const struct block *b = &near[9 * ((z >> 4) + 1) + 3 * ((y >> 4) + 1) + (x >> 4) + 1];
    if (!b->node) return b->sign;
    const int32_t c = (x & 15) << 8 | (y & 15) << 4 | (z & 15);
    if (tsr_nvdb_bit(b->node + NVDB_LOWER_CHILDREN, c)) return STORED;
    const float value = tsr_get_f32(b->node + NVDB_LOWER_TABLE + 8 * c);
    if (tsr_nvdb_bit(b->node + NVDB_NODE_MASK, c) && value > -r->background && value < r->background) return STORED;
    return value < 0 ? INSIDE : OUTSIDE;
}

enum { SIDE = 18, MARKS = SIDE * SIDE * SIDE }; /* a block and the cells around it */

/* Marks a cell of the block that is inside where cells around it are outside, and those. */
static void mark_cell(const tsr_nvdb_reader *r, const struct block near[27], int32_t x, int32_t y, int32_t z, uint8_t mark[MARKS])
{
    const int32_t own = ((z + 1) * SIDE + y + 1) * SIDE + x + 1;
    for (int d = 0; d < 27; d++) {
        const int32_t dx = d % 3 - 1, dy = d / 3 % 3 - 1, dz = d / 9 - 1;
        if (cell_at(r, near, x + dx, y + dy, z + dz) != OUTSIDE) continue;
        mark[own + (dz * SIDE + dy) * SIDE + dx] = OUTSIDE + 1;
        mark[own] = INSIDE + 1;
    }
}

static tsr_status seams_of_block(tsr_nvdb_reader *r, int32_t x0, int32_t y0, int32_t z0)
{
    struct block near[27];
    uint8_t mark[MARKS] = { 0 };
    int same = 1;
    for (int d = 0; d < 27; d++) {
        near[d] = block_at(r, x0 + 128 * (d % 3 - 1), y0 + 128 * (d / 3 % 3 - 1), z0 + 128 * (d / 9 - 1));
        same &= !near[d].node && near[d].sign == INSIDE;
    }
    if (same || (!near[13].node && near[13].sign != INSIDE)) return TSR_OK;
    for (int32_t x = 0; x < 16; x++)
        for (int32_t y = 0; y < 16; y++) {
            const int border = x == 0 || x == 15 || y == 0 || y == 15;
            for (int32_t z = 0; z < 16; z += near[13].node || border ? 1 : 15) /* a constant ends at its faces */
                if (cell_at(r, near, x, y, z) == INSIDE) mark_cell(r, near, x, y, z, mark);
        }
    for (int32_t i = 0; i < MARKS; i++)
        if (mark[i])
            TSR_TRY(tsr_nvdb_add_leaf(r, x0 + 8 * (i % SIDE - 1), y0 + 8 * (i / SIDE % SIDE - 1), z0 + 8 * (i / SIDE / SIDE - 1), NULL,
                                      mark[i] == INSIDE + 1 ? -r->background : r->background));
    TSR_TRY(tsr_nvdb_check_memory(r));
    return TSR_OK;
}

static int is_constant(const uint8_t *tile) { return !tile || !tsr_get_i64(tile + NVDB_ROOT_TILE_CHILD); }

/* A tile of the root, 4096^3 voxels that are inside: the blocks at its faces, unless all around is as it is. */
static tsr_status seams_of_root_tile(tsr_nvdb_reader *r, int32_t x0, int32_t y0, int32_t z0)
{
    int same = 1;
    for (int d = 0; d < 27; d++) {
        const int32_t x = x0 + 4096 * (d % 3 - 1), y = y0 + 4096 * (d / 3 % 3 - 1), z = z0 + 4096 * (d / 9 - 1);
        const uint8_t *tile = tsr_nvdb_root_tile(r, x, y, z);
        if (is_constant(tile) && !(tile && tsr_get_f32(tile + NVDB_ROOT_TILE_VALUE) < 0))
            TSR_FAIL(TSR_ERROR_UNSUPPORTED,
                     "%s: the 4096^3 voxels from (%d, %d, %d) are inside, those from (%d, %d, %d) outside, and no band lies between", r->name, x0, y0,
                     z0, x, y, z);
        same &= is_constant(tile);
    }
    if (same) return TSR_OK;
    for (int32_t i = 0; i < 32 * 32 * 32; i++) {
        const int32_t x = i & 31, y = i >> 5 & 31, z = i >> 10;
        if ((x % 31) && (y % 31) && (z % 31)) continue;
        TSR_TRY(seams_of_block(r, x0 + 128 * x, y0 + 128 * y, z0 + 128 * z));
    }
    return TSR_OK;
}

tsr_status tsr_nvdb_add_seams(tsr_nvdb_reader *r)
{
    for (uint32_t i = 0; i < r->root_tiles; i++) {
        const uint8_t *tile = r->root_order[i];
        const uint64_t key = tsr_get_u64(tile);
        const int32_t x0 = nvdb_root_axis(key, 0), y0 = nvdb_root_axis(key, 1), z0 = nvdb_root_axis(key, 2);
        const int32_t most = (TSR_KEY_BIAS - 2) * 4; /* no leaf lies beyond */
        if (x0 > most || y0 > most || z0 > most || x0 < -most - 4096 || y0 < -most - 4096 || z0 < -most - 4096) continue;
        TSR_PROGRESS(&r->options->progress, (double)i / r->root_tiles, "looking at signs");
        if (is_constant(tile)) {
            if (tsr_get_f32(tile + NVDB_ROOT_TILE_VALUE) < 0) TSR_TRY(seams_of_root_tile(r, x0, y0, z0));
            continue;
        }
        for (int32_t c = 0; c < NVDB_UPPER_CELLS; c++)
            TSR_TRY(seams_of_block(r, x0 + (c >> 10) * 128, y0 + (c >> 5 & 31) * 128, z0 + (c & 31) * 128));
    }
    return TSR_OK;
}
