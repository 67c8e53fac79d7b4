/* tiles/tiles_warp.h: kernels that update the voxels of tiles of edge 8 which may change, one tile a warp, without barriers of the block.
 *
 * A lane updates the voxels whose cells lie in its bank of shared memory, one after another, so that every read of a neighbour (constant offset) is
 * free of conflicts, whatever the shape of the band: cell (x, y, z) lies at x + 12 y + 123 z and a constant, and each bank holds 16 voxels of a
 * tile. In spherical shells of half width 2.5 the busiest bank of a tile holds 6.8 voxels that may change where a bank holds 5.5 on average; lanes with
 * fewer take over what the busiest have too many of, which leaves 6.05 rounds.
 *
 * Which voxels may change follows from two bits of each voxel (outside: +band, inside: -band; no value lies beyond the band) with those of its six
 * neighbours: a voxel whose neighbours all are of its class, one of the two, stays. Bits are made from the values on their way to shared memory. A lane
 * is (z & 1) << 4 | y << 1 | x >> 2, and in its words of classes bit 4 h + j is voxel (x & 4) + j of z = 2 h + (z & 1): outside in the low half, inside
 * in the high half. */
#ifndef TSR_TILES_TILES_WARP_H
#define TSR_TILES_TILES_WARP_H

#include "tiles/tiles_slab.h"

enum { TSR_WARP_TILES = 4 /* warps of a block */, TSR_WARP_LANES = 32, TSR_WARP_CANDIDATES = 16 /* voxels of a lane */ };

struct tsr_warp_layout {
    enum { E = 8, V = 512, H = 10, P = 12, Q = 123, CUBE = 1224 /* without the last corner */ };
    TSR_INSIDE static int32_t cell(int32_t x, int32_t y, int32_t z) { return (z + 1) * Q + (y + 1) * P + x + 1; }
};

/* Shared memory of a warp and of a block. */
struct tsr_warp_shared {
    float4 fresh[TSR_SLAB_QUADS];        /* new values */
    float cube[tsr_warp_layout::CUBE];   /* the field with its halo */
    uint32_t words[TSR_WARP_CANDIDATES]; /* voxels that may change: those of word k in the order of their banks */
};
struct tsr_warp_block {
    tsr_warp_shared warp[TSR_WARP_TILES];
    uint2 entry[(1 + TSR_WARP_CANDIDATES) * TSR_WARP_LANES]; /* of bit i - 1 of a lane's word: byte of the cell | 4 times the voxel << 16; bit of its
                                                                area; first something for no bit */
};

/* Word k holds rows of plane k / 2 whose y has the parity of k: byte b, that of y = 2 ((k - b) & 3) + (k & 1). Bank of its first voxel. */
TSR_DEVICE_FN int32_t tsr_warp_first_bank(int32_t k) { return (4 * (k & 1) + tsr_warp_layout::Q * (k >> 1)) & 31; }
TSR_DEVICE_FN int32_t tsr_warp_row_byte(int32_t y) { return ((y & 1) - (y >> 1)) & 3; }

/* Fills the table of a block; a barrier follows. */
TSR_DEVICE_FN void tsr_warp_table(uint2 *entry)
{
    typedef tsr_warp_layout L;
    for (int32_t i = (int32_t)threadIdx.x; i < (1 + TSR_WARP_CANDIDATES) * TSR_WARP_LANES; i += (int32_t)blockDim.x) {
        const int32_t k = TSR_WARP_CANDIDATES - tsr_maxi(i / TSR_WARP_LANES, 1), place = (i % TSR_WARP_LANES - tsr_warp_first_bank(k)) & 31;
        const int32_t x = place & 7, y = 2 * (((k & 1) - (place >> 3)) & 3) + (k & 1), z = k >> 1;
        entry[i] = make_uint2((uint32_t)L::cell(x, y, z) * 4u | (uint32_t)((z * 8 + y) * 8 + x) << 18, 1u << tsr_area(x, y, z, L::E));
    }
}

/* What a lane loads: own quads, the quad of the planes below and above, the quad of the rows before and behind, cells to the left or right, and one
 * cell each of the edges along z, y and x (the first two at x = -1 in lanes without bit 3). Corners of the cube are read by no scheme. */
struct tsr_warp_values {
    float4 own[4], across_z, across_y;
    float beside[4], edge[3];
};

/* Where they come from and go to, the same for every tile. */
struct tsr_warp_place {
    const float *from; /* in tile 0 */
    uint32_t to;       /* direction of the tile | byte of the cell << 5 */
};
struct tsr_warp_places {
    tsr_warp_place own, across_z, across_y, beside, edge[3];
};

TSR_DEVICE_FN int32_t tsr_warp_lane(void) { return (int32_t)threadIdx.x & 31; }

TSR_DEVICE_FN tsr_warp_place tsr_warp_place_at(const float *phi, int32_t x, int32_t y, int32_t z)
{
    const int32_t direction = 9 * ((z + 8) / 8) + 3 * ((y + 8) / 8) + (x + 8) / 8, voxel = ((z & 7) * 8 + (y & 7)) * 8 + (x & 7);
    const tsr_warp_place place = { tsr_hold(phi + voxel), tsr_hold((uint32_t)tsr_warp_layout::cell(x, y, z) << 7 | (uint32_t)direction) };
    return place;
}
TSR_DEVICE_FN tsr_warp_places tsr_warp_places_of(const float *phi)
{
    const int32_t lane = tsr_warp_lane(), low = lane >> 4, y = lane >> 1 & 7, side = lane & 1;
    const int32_t n = lane & 7, first = lane & 8 ? 8 : -1, second = lane & 16 ? 8 : -1; /* edges */
    tsr_warp_places p;
    p.own = tsr_warp_place_at(phi, 4 * side, y, low);
    p.across_z = tsr_warp_place_at(phi, 4 * side, y, low ? 8 : -1);
    p.across_y = tsr_warp_place_at(phi, 4 * side, lane & 2 ? 8 : -1, (lane >> 2 & 3) * 2 + low);
    p.beside = tsr_warp_place_at(phi, side ? 8 : -1, y, low);
    p.edge[0] = tsr_warp_place_at(phi, first, second, n);
    p.edge[1] = tsr_warp_place_at(phi, first, n, second);
    p.edge[2] = tsr_warp_place_at(phi, n, first, second);
    return p;
}

/* The values of tile `row[13]`; a lane's `row` is its entry of the neighbour row. */
TSR_DEVICE_FN const float *tsr_warp_from(const tsr_warp_place &place, uint32_t row)
{
    return place.from + (int64_t)__shfl_sync(TSR_WARP_ALL, row, (int)place.to) * tsr_warp_layout::V; /* lane modulo 32 */
}
/* `after`: the tile to the left is the one that the warp did last. Its last layer along x with what lies around it still stands in the cube, and need not
 * come from memory, where each of these cells costs 32 bytes. */
TSR_DEVICE_FN void tsr_warp_load(const tsr_warp_places &places, uint32_t row, int after, const float *cube, tsr_warp_values *v)
{
    enum { Q = tsr_warp_layout::Q, E = tsr_warp_layout::E };
    const int32_t lane = tsr_warp_lane();
    const int beside_after = after && !(lane & 1), edge_after = after && !(lane & 8);
    const float *own = tsr_warp_from(places.own, row), *beside = tsr_warp_from(places.beside, row);
#pragma unroll
    for (int32_t h = 0; h < 4; h++) v->own[h] = ((const float4 *)(const void *)own)[h * 32];
    v->across_z = *(const float4 *)(const void *)tsr_warp_from(places.across_z, row);
    v->across_y = *(const float4 *)(const void *)tsr_warp_from(places.across_y, row);
#define TSR_LAST(place) ((const float *)(const void *)((const char *)cube + ((place).to >> 5)) + E)
    if (beside_after) {
#pragma unroll
        for (int32_t h = 0; h < 4; h++) v->beside[h] = TSR_LAST(places.beside)[2 * h * Q];
    } else {
#pragma unroll
        for (int32_t h = 0; h < 4; h++) v->beside[h] = beside[h * 128];
    }
#pragma unroll
    for (int32_t e = 0; e < 3; e++) {
        const float *edge = tsr_warp_from(places.edge[e], row);
        v->edge[e] = e < 2 && edge_after ? *TSR_LAST(places.edge[e]) : *edge;
    }
#undef TSR_LAST
    __syncwarp(); /* the cube may be written */
}

/* Moves them from or to the cells of the cube. */
template <class F> TSR_DEVICE_FN void tsr_warp_cells(const tsr_warp_places &places, float *cube, tsr_warp_values *v, F move)
{
    enum { Q = tsr_warp_layout::Q };
#define TSR_CELL(place) ((float *)(void *)((char *)cube + ((place).to >> 5)))
#define TSR_MOVE_QUAD(p, q) (move((p), (q).x), move((p) + 1, (q).y), move((p) + 2, (q).z), move((p) + 3, (q).w))
    float *own = TSR_CELL(places.own), *across_z = TSR_CELL(places.across_z), *across_y = TSR_CELL(places.across_y),
          *beside = TSR_CELL(places.beside);
#pragma unroll
    for (int32_t h = 0; h < 4; h++) TSR_MOVE_QUAD(own + 2 * h * Q, v->own[h]);
    TSR_MOVE_QUAD(across_z, v->across_z);
    TSR_MOVE_QUAD(across_y, v->across_y);
#pragma unroll
    for (int32_t h = 0; h < 4; h++) move(beside + 2 * h * Q, v->beside[h]);
#pragma unroll
    for (int32_t e = 0; e < 3; e++) move(TSR_CELL(places.edge[e]), v->edge[e]);
#undef TSR_MOVE_QUAD
#undef TSR_CELL
}
struct tsr_warp_to_cube {
    TSR_INSIDE void operator()(float *cell, float &v) const { *cell = v; }
};
struct tsr_warp_from_cube {
    TSR_INSIDE void operator()(float *cell, float &v) const { v = *cell; }
};

/* ---- which voxels may change ---------------------------------------------------------------------------------------------------------- */

/* Shifts in whether a value is within the band, and its sign. */
TSR_DEVICE_FN void tsr_warp_class(float v, float band, uint32_t *active, uint32_t *sign)
{
    *active = *active << 1 | tsr_float_bits(fabsf(v) - band) >> 31;
    *sign = *sign << 1 | tsr_float_bits(v) >> 31;
}
TSR_DEVICE_FN void tsr_warp_class_quad(float4 q, float band, uint32_t *active, uint32_t *sign)
{
    tsr_warp_class(q.w, band, active, sign);
    tsr_warp_class(q.z, band, active, sign);
    tsr_warp_class(q.y, band, active, sign);
    tsr_warp_class(q.x, band, active, sign);
}
/* Classes of up to 16 voxels. */
TSR_DEVICE_FN uint32_t tsr_warp_classes(uint32_t active, uint32_t sign) { return (~(active | sign) & 0xffffu) | (sign & ~active) << 16; }

/* Which of a lane's own voxels may change, bit 4 h + j; `within`: those in the domain. Adds those inside that stay to `inside`. */
TSR_DEVICE_FN uint32_t tsr_warp_moves(const tsr_warp_values *v, float band, uint32_t within, uint32_t *inside)
{
    const int32_t lane = tsr_warp_lane(), y = lane >> 1 & 7, side = lane & 1;
    uint32_t active = 0, sign = 0;
#pragma unroll
    for (int32_t h = 3; h >= 0; h--) tsr_warp_class_quad(v->own[h], band, &active, &sign);
    const uint32_t own = tsr_warp_classes(active, sign);
    /* x: the neighbour beyond the quad is the other quad's, or a cell of the next tile */
    active = sign = 0;
#pragma unroll
    for (int32_t h = 3; h >= 0; h--) {
        active = active << 4 | tsr_float_bits(fabsf(v->beside[h]) - band) >> 31;
        sign = sign << 4 | tsr_float_bits(v->beside[h]) >> 31;
    }
    const uint32_t halo = tsr_warp_classes(active, sign) & 0x11111111u, other = __shfl_xor_sync(TSR_WARP_ALL, own, 1) >> (side ? 3 : 0) & 0x11111111u;
    uint32_t rest = own & ((own << 1 & 0xeeeeeeeeu) | (side ? other : halo)) & ((own >> 1 & 0x77777777u) | (side ? halo : other) << 3);
    /* y: lanes side by side; what lies across was loaded by the lanes of the same z & 1, side and x, a quad each */
    active = sign = 0;
    tsr_warp_class_quad(v->across_y, band, &active, &sign);
    uint32_t across = (tsr_warp_classes(active, sign) & 0x000f000fu) << (lane & 12);
    across |= __shfl_xor_sync(TSR_WARP_ALL, across, 4);
    across |= __shfl_xor_sync(TSR_WARP_ALL, across, 8);
    const uint32_t before = __shfl_up_sync(TSR_WARP_ALL, own, 2), after = __shfl_down_sync(TSR_WARP_ALL, own, 2);
    rest &= (y == 0 ? across : before) & (y == 7 ? across : after);
    /* z: both neighbours are the other half's, one of them a quad further */
    active = sign = 0;
    tsr_warp_class_quad(v->across_z, band, &active, &sign);
    across = tsr_warp_classes(active, sign) & 0x000f000fu;
    const uint32_t planes = __shfl_xor_sync(TSR_WARP_ALL, own, 16);
    rest &= planes & (lane & 16 ? (planes >> 4 & 0x0fff0fffu) | across << 12 : (planes << 4 & 0xfff0fff0u) | across);
    *inside += (uint32_t)__popc(rest >> 16 & within);
    return ~(rest | rest >> 16) & within;
}

/* From the own voxels of all lanes that may change to this lane's candidates: bit 15 - k is that of word k. */
TSR_DEVICE_FN uint32_t tsr_warp_candidates(uint32_t moves, uint32_t *words)
{
    const int32_t lane = tsr_warp_lane(), low = lane >> 4, y = lane >> 1 & 7, side = lane & 1;
    uint32_t rows = (moves | moves << 8) & 0x00ff00ffu; /* a byte for each row of two lanes, z = low, low + 2, .. */
    rows = (rows | rows << 4) & 0x0f0f0f0fu;
    rows <<= 4 * side;
    rows |= __shfl_xor_sync(TSR_WARP_ALL, rows, 1);
    rows >>= 16 * side;
    uint8_t *bytes = (uint8_t *)(void *)words + ((low + 4 * side) * 2 + (y & 1)) * 4 + tsr_warp_row_byte(y);
    bytes[0] = (uint8_t)rows;
    bytes[16] = (uint8_t)(rows >> 8);
    __syncwarp();
    if (lane < TSR_WARP_CANDIDATES) { /* in the order of the banks */
        const int32_t first = tsr_warp_first_bank(lane);
        words[lane] = words[lane] << first | words[lane] >> ((32 - first) & 31);
    }
    __syncwarp();
    uint32_t mine = 0;
#pragma unroll
    for (int32_t k = 0; k < TSR_WARP_CANDIDATES; k += 4) {
        const uint4 four = *(const uint4 *)(const void *)(words + k);
        mine = mine << 1 | four.x << (31 - lane) >> 31;
        mine = mine << 1 | four.y << (31 - lane) >> 31;
        mine = mine << 1 | four.z << (31 - lane) >> 31;
        mine = mine << 1 | four.w << (31 - lane) >> 31;
    }
    return mine;
}

/* Takes the highest bit out of a word; -1 if there is none. */
TSR_DEVICE_FN int32_t tsr_take_highest(uint32_t *word)
{
#ifdef __CUDA_ARCH__
    int32_t last;
    uint32_t bit;
    asm("bfind.u32 %0, %1;" : "=r"(last) : "r"(*word));
    asm("shl.b32 %0, 1, %1;" : "=r"(bit) : "r"(last)); /* 0 for -1 */
    *word &= ~bit;
#else
    const int32_t last = 31 - __clz((int)*word);
    if (last >= 0) *word ^= 1u << last;
#endif
    return last;
}

/* Evens out the rounds of a warp: voxels that the busiest lanes have too many of go to other lanes, one each, where that saves a round; their reads may
 * conflict. What a lane takes over: 32 times the bit plus the lane whose candidate it is (its entry in the table, from bit 0); -1 for nothing. Needs
 * `words` no longer. */
TSR_DEVICE_FN int32_t tsr_warp_share(uint32_t *mine, uint32_t *words)
{
    const int32_t lane = tsr_warp_lane();
    const uint32_t own = (uint32_t)__popc(*mine), most = __reduce_max_sync(TSR_WARP_ALL, own);
    uint32_t keep = __reduce_add_sync(TSR_WARP_ALL, own) / TSR_WARP_LANES; /* rounds without what is taken over */
    if (most < keep + 2) return -1;
    uint32_t excess = own > keep ? own - keep : 0u;
    if (__reduce_add_sync(TSR_WARP_ALL, excess) > TSR_WARP_LANES) {
        if (most < ++keep + 2) return -1;
        excess = excess ? excess - 1 : 0u;
        if (__reduce_add_sync(TSR_WARP_ALL, excess) > TSR_WARP_LANES) return -1;
    }
    uint16_t *list = (uint16_t *)(void *)words;
    __syncwarp(); /* all have read the words */
    const uint32_t below = (1u << lane) - 1u;
    int32_t listed = 0;
    for (uint32_t giving; (giving = __ballot_sync(TSR_WARP_ALL, excess > 0)) != 0; listed += __popc(giving))
        if (excess > 0) {
            const int32_t bit = 31 - __clz((int)*mine);
            *mine ^= 1u << bit;
            list[listed + __popc(giving & below)] = (uint16_t)(bit * TSR_WARP_LANES + lane);
            excess--;
        }
    __syncwarp();
    return lane < listed ? list[lane] : -1;
}

/* ---- tiles ------------------------------------------------------------------------------------------------------------------------------- */

/* How a lane finds out whether a tile touches a face of the domain: lanes 0 to 2 look at one axis of its key each. */
struct tsr_warp_faces {
    uint32_t shift, most; /* a tile is clear of both faces at places 1 to `most`: none is where there is but one (most = 2^32 - 1 then) */
};
TSR_DEVICE_FN tsr_warp_faces tsr_warp_faces_of(const tsr_tile_pool &pool)
{
    const int32_t axis = tsr_mini(tsr_warp_lane(), 2), domain = axis == 0 ? pool.domain[0] : axis == 1 ? pool.domain[1] : pool.domain[2];
    const tsr_warp_faces faces = { tsr_hold((uint32_t)(TSR_KEY_BITS * axis)), tsr_hold((uint32_t)((domain - 1) / tsr_warp_layout::E - 1)) };
    return faces;
}
/* All lanes get the answer. */
TSR_DEVICE_FN int tsr_warp_touches(const tsr_tile_pool &pool, const tsr_warp_faces &faces, uint64_t key)
{
    const uint32_t at = ((uint32_t)(key >> faces.shift) & ((1u << TSR_KEY_BITS) - 1u)) - (uint32_t)TSR_KEY_BIAS - 1u;
    return __any_sync(TSR_WARP_ALL, pool.bounded && at >= faces.most);
}

/* The cube and the fresh values of a tile; returns the lane's candidates that may change. `moves` gets its own voxels that do, bit 4 h + j; `inside` is
 * added the voxels inside that stay. */
TSR_DEVICE_FN uint32_t tsr_warp_put(const tsr_tile_pool &pool, const tsr_warp_places &places, const tsr_warp_faces &faces, uint64_t key,
                                    tsr_warp_shared *sh, tsr_warp_values *v, uint32_t *moves, uint32_t *inside)
{
    const int32_t lane = tsr_warp_lane();
    uint32_t within = 0xffffu;
    tsr_warp_cells(places, sh->cube, v, tsr_warp_to_cube());
#pragma unroll
    for (int32_t h = 0; h < 4; h++) sh->fresh[h * 32 + lane] = v->own[h];
    if (tsr_warp_touches(pool, faces, key)) { /* rare: classes are of the clamped cells */
        __syncwarp();
        tsr_slab_clamp<8, tsr_warp_layout>(pool, key, lane, TSR_WARP_LANES, sh->cube);
        within = 0;
        for (int32_t h = 0; h < 4; h++) within |= tsr_slab_within<8>(pool, key, h * 32 + lane) << 4 * h;
        __syncwarp();
        tsr_warp_cells(places, sh->cube, v, tsr_warp_from_cube());
    }
    *moves = tsr_warp_moves(v, pool.band, within, inside);
    return tsr_warp_candidates(*moves, sh->words);
}

#endif
