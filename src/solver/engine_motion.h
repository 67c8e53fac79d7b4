/* solver/engine_motion.h: what a pass does to a tile of edge 8, found by the bits of the tile and its neighbours (engine_bits.h) before any value is looked
 * at, and what the tile is afterwards, from its new bits. */
#ifndef TSR_SOLVER_ENGINE_MOTION_H
#define TSR_SOLVER_ENGINE_MOTION_H

#include "solver/engine_bits.h"
#include "solver/engine_rows.h"

#if defined(TSR_LANES)

/* By pairs of rows: which of their voxels are worked on, which of those only take their share of what the stages of the step have done to them so far, and
 * which are inside; and, as words, which of those that move have a neighbour on the other side. */
struct tsr_motion {
    _Alignas(64) uint16_t works[TSR_PAIRS];
    uint16_t settles[TSR_PAIRS], inside[TSR_PAIRS];
    uint64_t crossing[8];
    uint32_t pairs;   /* bit k: something is worked on in pair k */
    int32_t settling; /* some voxel settles */
};

/* Planes of a tile with the one below it and the one above it. */
struct tsr_bit_planes {
    uint64_t own[10];
};
TSR_INLINE void tsr_bit_planes_load(struct tsr_bit_planes *to, const uint64_t *below, const uint64_t *own, const uint64_t *above)
{
    to->own[0] = below[7];
    memcpy(to->own + 1, own, 8 * sizeof *own);
    to->own[9] = above[0];
}

/* What lies one voxel to each side along x and y, from the words of the tile and of its neighbour there. */
TSR_INLINE uint64_t tsr_bits_left(uint64_t own, uint64_t before) { return (own << 1 & 0xfefefefefefefefeu) | (before >> 7 & 0x0101010101010101u); }
TSR_INLINE uint64_t tsr_bits_right(uint64_t own, uint64_t after) { return (own >> 1 & 0x7f7f7f7f7f7f7f7fu) | (after << 7 & 0x8080808080808080u); }
TSR_INLINE uint64_t tsr_bits_down(uint64_t own, uint64_t before) { return own << 8 | before >> 56; }
TSR_INLINE uint64_t tsr_bits_up(uint64_t own, uint64_t after) { return own >> 8 | after << 56; }

/* `all`: bits of the field that is read; `start`: of the tile at the beginning of the step, NULL: that is the field. */
TSR_INLINE void tsr_motion_find(const tsr_tile_bits *all, const uint32_t *row, const tsr_tile_bits *start, struct tsr_motion *to)
{
    enum { M = TSR_TILE_MIDDLE };
    const tsr_tile_bits *own = &all[row[M]], *left = &all[row[M - 1]], *right = &all[row[M + 1]], *down = &all[row[M - 3]], *up = &all[row[M + 3]],
                        *below = &all[row[M - 9]], *above = &all[row[M + 9]];
    struct tsr_bit_planes loose, inside;
    uint64_t moves[8], settles[8] = { 0 }, some = 0;
    tsr_bit_planes_load(&loose, below->free, own->free, above->free);
    tsr_bit_planes_load(&inside, below->inside, own->inside, above->inside);
#pragma omp simd
    for (int32_t z = 0; z < 8; z++) {
        const uint64_t f = loose.own[z + 1], i = inside.own[z + 1];
        const uint64_t other = (i ^ tsr_bits_left(i, left->inside[z])) | (i ^ tsr_bits_right(i, right->inside[z])) |
                               (i ^ tsr_bits_down(i, down->inside[z])) | (i ^ tsr_bits_up(i, up->inside[z])) | (i ^ inside.own[z]) |
                               (i ^ inside.own[z + 2]);
        to->crossing[z] = other;
        moves[z] = f | tsr_bits_left(f, left->free[z]) | tsr_bits_right(f, right->free[z]) | tsr_bits_down(f, down->free[z]) |
                   tsr_bits_up(f, up->free[z]) | loose.own[z] | loose.own[z + 2] | other;
    }
    if (start) {
#pragma omp simd reduction(| : some)
        for (int32_t z = 0; z < 8; z++) {
            settles[z] = (start->free[z] | (start->inside[z] ^ own->inside[z])) & ~moves[z];
            moves[z] |= settles[z];
            some |= settles[z];
        }
    }
    memcpy(to->works, moves, sizeof moves);
    memcpy(to->settles, settles, sizeof settles);
    memcpy(to->inside, own->inside, sizeof own->inside);
    to->pairs = tsr_words_used(moves);
    to->settling = some != 0;
}

/* Writes the pairs that stay, of one value each, where they are not in memory already, and notes their bits. */
TSR_INLINE void tsr_motion_keep(const tsr_tile_pass *pass, const struct tsr_motion *motion)
{
    tsr_tile_bits *bits = pass->out_bits;
    uint64_t inside[8];
    uint32_t writes = ~motion->pairs;
    memcpy(inside, motion->inside, sizeof inside);
    if (pass->out_known) {
        uint64_t differs[8];
#pragma omp simd
        for (int32_t z = 0; z < 8; z++) differs[z] = bits->free[z] | (bits->inside[z] ^ inside[z]);
        writes &= tsr_words_used(differs);
    }
    for (; writes; writes &= writes - 1) {
        const int32_t pair = __builtin_ctz(writes);
        const float value = motion->inside[pair] ? -pass->scheme->band : pass->scheme->band;
#pragma omp simd
        for (int32_t i = 0; i < TSR_PAIR; i++) pass->out[pair * TSR_PAIR + i] = value;
    }
    memset(bits->free, 0, sizeof bits->free);
    memcpy(bits->inside, inside, sizeof inside);
}

/* The bits of a pair that has been written; those of the tile said before that none of its voxels was free. Words are read and written as such: what is
 * written in parts and read as a whole has to wait. */
TSR_INLINE void tsr_motion_note(tsr_tile_bits *bits, int32_t pair, tsr_lanes v, float band)
{
    const uint64_t loose = tsr_lanes_free(v, band), inside = tsr_lanes_inside(v);
    const int32_t z = pair / 4, shift = pair % 4 * TSR_PAIR;
    bits->free[z] |= loose << shift;
    bits->inside[z] = (bits->inside[z] & ~((uint64_t)0xffff << shift)) | inside << shift;
}

/* The next pair of a set, and the set without it. */
TSR_INLINE int32_t tsr_take_pair(uint32_t *pairs)
{
    const int32_t pair = __builtin_ctz(*pairs);
    *pairs &= *pairs - 1;
    return pair;
}

/* Planes that the stencils of these pairs reach, as tsr_rows_gather wants them. */
TSR_INLINE uint32_t tsr_pairs_planes(uint32_t pairs, int32_t reach)
{
    pairs |= pairs >> 2;
    pairs |= pairs >> 1;
    uint32_t planes = _pext_u32(pairs, 0x11111111u);
    for (int32_t k = 0; k < reach; k++) planes |= planes << 1 | planes << 2;
    return planes;
}

TSR_INLINE int32_t tsr_words_count(const uint64_t *words)
{
    int32_t sum = 0;
    for (int i = 0; i < 8; i++) sum += __builtin_popcountll(words[i]);
    return sum;
}

/* What the tile is now, from its bits: voxels in the band, voxels inside, and the areas that hold one in the band or beside the other side. */
TSR_INLINE uint32_t tsr_motion_sum(const tsr_tile_pass *pass, const struct tsr_motion *motion, tsr_tile_totals *totals)
{
    uint64_t hit[8];
    const tsr_tile_bits *bits = pass->out_bits;
    totals->noted = 1;
    totals->inside += tsr_words_count(bits->inside);
    totals->active += tsr_words_count(bits->free);
    for (int z = 0; z < 8; z++) hit[z] = bits->free[z] | motion->crossing[z];
    return pass->last ? tsr_bits_areas(hit, pass->guard) : 0;
}

/* Pairs of the tile on its way that will most likely be written: those with a free voxel, and those beside them. */
TSR_INLINE uint32_t tsr_pairs_ahead(const tsr_tile_pass *pass)
{
    if (!pass->ahead[0]) return 0;
    const uint32_t pairs = tsr_words_used(pass->ahead_bits->free);
    return pairs | pairs << 1 | pairs >> 1 | pairs << 4 | pairs >> 4;
}

#endif

#endif
