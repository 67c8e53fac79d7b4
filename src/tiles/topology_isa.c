/* tiles/topology_isa.c: compiled once per SIMD variant. Algorithm 6.2 of docs/theory/levelset.md: the tiles of the result are visited in order, each with a cursor
 * per direction that moves forward only. A cursor is a bit array: its next tile is the lowest bit of a word, and whether a cursor moves or stays is
 * arithmetic, not a branch, for what moves is as good as random. */
#include "tiles/topology_isa.h"

#include <string.h>

#include "core/core.h"

void TSR_ISA_NAME(tsr_dilation_reach)(const tsr_dilation *d, int64_t begin, int64_t end)
{
    for (int64_t w = begin; w < end; w++) {
        const int64_t first = 64 * w, n = tsr_min64(64, d->count - first);
        uint64_t word[TSR_TILE_DIRECTIONS] = { 0 };
        for (int64_t i = 0; i < n; i++) {
            const uint64_t *m = d->mask[first + i];
            if (d->neighbours == 6) { /* the directions in rising order: z-1, y-1, x-1, the middle, x+1, y+1, z+1 */
                const uint64_t all = ((m[0] | m[1]) | (m[2] | m[3])) | ((m[4] | m[5]) | (m[6] | m[7]));
                word[0] |= (uint64_t)(m[0] != 0) << i;
                word[1] |= (uint64_t)((all & TSR_PLANE_Y_FIRST) != 0) << i;
                word[2] |= (uint64_t)((all & TSR_PLANE_X_FIRST) != 0) << i;
                word[3] |= (uint64_t)1 << i;
                word[4] |= (uint64_t)((all & TSR_PLANE_X_LAST) != 0) << i;
                word[5] |= (uint64_t)((all & TSR_PLANE_Y_LAST) != 0) << i;
                word[6] |= (uint64_t)(m[7] != 0) << i;
            } else {
                const uint32_t reach = tsr_topology_reach(m, d->neighbours);
                for (int32_t k = 0; k < d->used; k++) word[k] |= (uint64_t)(reach >> d->direction[k] & 1u) << i;
            }
        }
        for (int32_t k = 0; k < d->used; k++) d->reach[k][w] = word[k];
    }
}

int64_t TSR_ISA_NAME(tsr_dilation_bound)(const tsr_dilation *d)
{
    int64_t bits = 0;
    for (int32_t k = 0; k < d->used; k++)
        for (int64_t w = 0; w < d->words; w++) bits += __builtin_popcountll(d->reach[k][w]);
    return bits;
}

static inline uint64_t lesser(uint64_t a, uint64_t b) { return a < b ? a : b; }

static const uint64_t nothing[8] __attribute__((aligned(64)));

/* 6 neighbours: the tile itself and those at its faces. around[i] = the mask in direction i or nothing. All planes of a tile are one vector. */
static inline void dilate_faces(const uint64_t *const around[TSR_TILE_DIRECTIONS], uint64_t to[8])
{
    typedef uint64_t planes __attribute__((vector_size(64)));
    planes m, left, right, below, above;
    uint64_t column[10], step[8];
    memcpy(&m, around[13], sizeof m);
    memcpy(&left, around[12], sizeof left);
    memcpy(&right, around[14], sizeof right);
    memcpy(&below, around[10], sizeof below);
    memcpy(&above, around[16], sizeof above);
    column[0] = around[4][7];
    memcpy(column + 1, around[13], sizeof m);
    column[9] = around[22][0];
    m = TSR_PLANE_STEP_X(m, left, right) | TSR_PLANE_STEP_Y(m, below, above);
    memcpy(step, &m, sizeof step);
    for (int z = 0; z < 8; z++) to[z] = step[z] | column[z] | column[z + 2];
}

/* 18 or 26 neighbours: the nine planes of every z are stepped in their own plane, then along z. */
static void dilate_box(const uint64_t *const around[TSR_TILE_DIRECTIONS], int32_t neighbours, uint64_t to[8])
{
    tsr_planes step[10]; /* [z = -1 .. 8] */
    for (int z = -1; z <= 8; z++) {
        uint64_t m[9];
        for (int k = 0; k < 9; k++) m[k] = around[9 * (z < 0 ? 0 : z > 7 ? 2 : 1) + k][z & 7];
        step[z + 1] = tsr_planes_step(m);
    }
    for (int z = 0; z < 8; z++) to[z] = step[z + 1].box | (neighbours == 26 ? step[z].box | step[z + 2].box : step[z].cross | step[z + 2].cross);
}

/* Cursors of the directions: the tile of each is bit ctz(word) of the word whose first bit is tile `base`. */
struct cursors {
    uint64_t word[TSR_TILE_DIRECTIONS], next[TSR_TILE_DIRECTIONS], offset[TSR_TILE_DIRECTIONS]; /* next: key of the result that it asks for */
    int64_t base[TSR_TILE_DIRECTIONS], at[TSR_TILE_DIRECTIONS];
};

/* The next word that is not zero; behind the last the cursor stands at the end of the list for ever. */
static void next_word(const tsr_dilation *d, struct cursors *c, int i)
{
    int64_t w = c->base[i] / 64 + 1;
    while (w < d->words && !d->reach[i][w]) w++;
    c->word[i] = w < d->words ? d->reach[i][w] : 1;
    c->base[i] = w < d->words ? 64 * w : d->count;
    if (w >= d->words) c->offset[i] = 0;
}

static inline void look(const tsr_dilation *d, struct cursors *c, int i)
{
    c->at[i] = c->base[i] + __builtin_ctzll(c->word[i]);
    c->next[i] = d->keys[c->at[i]] + c->offset[i];
}

static void begin_at(const tsr_dilation *d, struct cursors *c, uint64_t first)
{
    for (int i = 0; i < d->used; i++) {
        c->offset[i] = (uint64_t)tsr_key_offset(d->direction[i]); /* source + offset = result */
        const int64_t at = first ? tsr_key_lower_bound(d->keys, (int32_t)d->count, first - c->offset[i]) : 0;
        c->base[i] = at / 64 * 64;
        c->word[i] = d->reach[i][at / 64] & UINT64_MAX << (at & 63);
        if (!c->word[i]) next_word(d, c, i);
        look(d, c, i);
    }
}

/* The faces alone: seven cursors. */
static int64_t slide_faces(const tsr_dilation *d, uint64_t first, uint64_t last, uint64_t *keys, uint64_t (*mask)[8])
{
    enum { USED = 7 };
    struct cursors c;
    const uint64_t *around[TSR_TILE_DIRECTIONS];
    int64_t found = 0;
    begin_at(d, &c, first);
    for (;;) {
        const uint64_t a = lesser(c.next[0], c.next[1]), b = lesser(c.next[2], c.next[3]), e = lesser(c.next[4], c.next[5]);
        const uint64_t current = lesser(lesser(a, b), lesser(e, c.next[6]));
        if (current >= last || current == TSR_KEY_END) return found;
#pragma GCC unroll 7
        for (int i = 0; i < USED; i++) {
            static const int8_t towards[USED] = { 22, 16, 14, 13, 12, 10, 4 }; /* seen from the result */
            const uint64_t hit = c.next[i] == current;
            around[towards[i]] = hit ? d->mask[c.at[i]] : nothing;
            c.word[i] &= c.word[i] - hit;
            if (__builtin_expect(!c.word[i], 0)) next_word(d, &c, i);
            look(d, &c, i);
        }
        if (keys) {
            keys[found] = current;
            dilate_faces(around, mask[found]);
        }
        found++;
    }
}

static int64_t slide_box(const tsr_dilation *d, uint64_t first, uint64_t last, uint64_t *keys, uint64_t (*mask)[8])
{
    struct cursors c;
    int64_t found = 0;
    begin_at(d, &c, first);
    for (;;) {
        const uint64_t *around[TSR_TILE_DIRECTIONS];
        uint64_t current = TSR_KEY_END;
        for (int i = 0; i < d->used; i++) current = lesser(current, c.next[i]);
        if (current >= last || current == TSR_KEY_END) return found;
        for (int i = 0; i < TSR_TILE_DIRECTIONS; i++) around[i] = nothing;
        for (int i = 0; i < d->used; i++) {
            if (c.next[i] != current) continue;
            around[26 - d->direction[i]] = d->mask[c.at[i]];
            c.word[i] &= c.word[i] - 1;
            if (!c.word[i]) next_word(d, &c, i);
            look(d, &c, i);
        }
        if (keys) {
            keys[found] = current;
            dilate_box(around, d->neighbours, mask[found]);
        }
        found++;
    }
}

int64_t TSR_ISA_NAME(tsr_dilation_slide)(const tsr_dilation *d, uint64_t first, uint64_t last, uint64_t *keys, uint64_t (*mask)[8])
{
    return d->neighbours == 6 ? slide_faces(d, first, last, keys, mask) : slide_box(d, first, last, keys, mask);
}
