/* solver/engine_tile.h: one tile of a pass of the level-set solver on the CPU, built once per SIMD variant. */
#ifndef TSR_SOLVER_ENGINE_TILE_H
#define TSR_SOLVER_ENGINE_TILE_H

#include "device/isa.h"
#include "solver/engine.h"

struct tsr_tile_bits;

typedef struct tsr_tile_totals {
    int64_t active, inside;
    float change;          /* largest |phi_new - phi| of voxels in the band */
    float rate, curvature; /* largest of the terms, voxels in the band */
    uint64_t bad;          /* tsr_bad_word, largest */
    int32_t noted;         /* the bits of the last tile's values have been written */
    int32_t beyond;        /* a value lies beyond the band: bits do not say which voxels move */
} tsr_tile_totals;

typedef struct tsr_tile_pass {
    const tsr_engine_scheme *scheme;
    const tsr_engine_flow *flow; /* NULL: a sweep */
    const tsr_engine_moment *moment;
    float step, blend;
    int32_t measure, last;
    int32_t edge, radius;
    int32_t index, entry;        /* of the pass in its step, of the tile in the list */
    const float *cube;           /* tiles_halo.h, tsr_cross_gather; or NULL: edge 8, or edge 4 and radius 1; halo in the domain, and: */
    const uint32_t *row;         /* the tile's neighbours in `pages` */
    const float *pages;          /* the field that is read, all tiles */
    const float *payload;        /* all tiles; NULL: no gradient is needed */
    const uint32_t *payload_row; /* the tile's neighbours there */
    int32_t velocities;          /* it holds velocities, not a potential */
    const tsr_coding *coding;    /* how new values will be stored; NULL: as they are */
    const float *gradient[3];    /* with a cube or edge 8: [edge^3] of the payload or NULL */
    const float *start;          /* [edge^3] field at the beginning of the step */
    const uint32_t *areas;       /* [edge^3] tsr_areas of every voxel, 0 beyond the extent */
    int32_t first[3], extent[3]; /* voxel index of the tile's first voxel; voxels in the domain */
    const float *ahead[6]; /* edge 8, to be fetched meanwhile (tsr_pair_ahead): a tile, what it will become, the planes below and above it, the rows
                                  * before and after it; [0] NULL: none */
    const struct tsr_tile_bits *ahead_bits; /* of ahead[0], where there are bits */
    float *out;                             /* [edge^3]; voxels beyond the extent keep what they have */
    int32_t guard;                          /* width of the areas */
    const struct tsr_tile_bits *bits;       /* of `pages`, all tiles; NULL: not known, and out_bits are none of the pass's business */
    const struct tsr_tile_bits *start_bits; /* of `start`, the tile's */
    struct tsr_tile_bits *out_bits;         /* of `out`, to be written */
    int32_t out_known;                      /* they are already those of what `out` holds now */
} tsr_tile_pass;

/* The halo of a tile: tsr_cross_gather for radius 3, else tsr_cube_gather. */
TSR_ISA_DECLARE(void, tsr_engine_gather, const tsr_tile_pool *pool, const float *phi, uint64_t key, uint32_t id, int32_t radius, float *cube,
                int32_t extent[3])

/* Runs the pass on the tile; returns the area bits of the activity word and adds to the totals. */
TSR_ISA_DECLARE(uint32_t, tsr_engine_tile, const tsr_tile_pass *pass, tsr_tile_totals *totals)

/* The same for what most runs do, in one loop without arrays in between: terms that hold everywhere alone. 0 if this pass is none of those;
 * `bits` are the area bits. */
TSR_ISA_DECLARE(int, tsr_engine_uniform, const tsr_tile_pass *pass, tsr_tile_totals *totals, uint32_t *bits)

/* The bits of a tile's values; 1 if one of them lies beyond the band. */
TSR_ISA_DECLARE(int, tsr_engine_note, const float *values, float band, struct tsr_tile_bits *bits)

/* 1 if tsr_engine_tile finds by the bits of the tiles which voxels move, in this pass over tiles of edge 8 whose halo lies in the domain (engine_bits.h). */
TSR_ISA_DECLARE(int, tsr_engine_by_bits, const tsr_tile_pass *pass)

/* Adds what the voxels of a tile of edge 8, whose halo lies in the domain, say of mean curvature, area and volume (tsr_engine_mean_voxel). */
TSR_ISA_DECLARE(void, tsr_engine_mean_tile, const float *phi, const uint32_t *row, const tsr_engine_scheme *scheme, float e, int64_t sums[3])

#endif
