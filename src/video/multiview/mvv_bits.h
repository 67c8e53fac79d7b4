/* video/multiview/mvv_bits.h: rows of bits; bit k lies in byte k / 8 at weight 2^(k % 8). */
#ifndef TSR_VIDEO_MULTIVIEW_MVV_BITS_H
#define TSR_VIDEO_MULTIVIEW_MVV_BITS_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "io/little_endian.h"

typedef struct tsr_mvv_bits {
    uint64_t *word;
    int64_t count, room; /* bits; room: words, all 0 from the count on */
    int failed;
} tsr_mvv_bits;

static inline void tsr_mvv_bits_grow(tsr_mvv_bits *b, int64_t words)
{
    int64_t room = b->room ? b->room : 1024;
    while (room < words) room *= 2;
    uint64_t *grown = (uint64_t *)realloc(b->word, (size_t)room * 8);
    if (!grown) {
        b->failed = 1;
        b->count = 0; /* goes on without memory; the result is thrown away */
        return;
    }
    memset(grown + b->room, 0, (size_t)(room - b->room) * 8);
    b->word = grown;
    b->room = room;
}

static inline void tsr_mvv_bits_put(tsr_mvv_bits *b, uint32_t bit)
{
    if (b->count >= 64 * b->room) {
        tsr_mvv_bits_grow(b, b->room + 1);
        if (!b->room) return;
    }
    b->word[b->count >> 6] |= (uint64_t)bit << (b->count & 63);
    b->count++;
}

/* Adds the bits of another row, which becomes empty. */
static inline void tsr_mvv_bits_append(tsr_mvv_bits *b, tsr_mvv_bits *more)
{
    const int64_t words = (more->count + 63) / 64, at = b->count >> 6;
    const int by = (int)(b->count & 63);
    b->failed |= more->failed;
    if (b->room < at + words + 1) tsr_mvv_bits_grow(b, at + words + 1);
    if (b->room < at + words + 1) return;
    for (int64_t k = 0; k < words; k++) {
        b->word[at + k] |= more->word[k] << by;
        if (by) b->word[at + k + 1] |= more->word[k] >> (64 - by);
        more->word[k] = 0;
    }
    b->count += more->count;
    more->count = 0;
}


static inline int tsr_mvv_bit_at(const uint8_t *bytes, int64_t at) { return bytes[at >> 3] >> (at & 7) & 1; }

/* Bits set in [from, to). */
static inline int64_t tsr_mvv_bits_count(const uint8_t *bytes, int64_t from, int64_t to)
{
    int64_t sum = 0;
    for (; from < to && from & 7; from++) sum += tsr_mvv_bit_at(bytes, from);
    for (; to - from >= 64; from += 64) sum += __builtin_popcountll(tsr_get_u64(bytes + (from >> 3)));
    for (; from < to; from++) sum += tsr_mvv_bit_at(bytes, from);
    return sum;
}

#endif
