#include "io/lz4.h"

#include <string.h>

/* A length of 15 goes on in bytes, up to one that is not 255. */
static int take_length(const uint8_t **at, const uint8_t *end, size_t *length)
{
    uint8_t more = 255;
    if (*length != 15) return 1;
    while (more == 255) {
        if (*at == end) return 0;
        more = *(*at)++;
        if (*length > SIZE_MAX / 2) return 0;
        *length += more;
    }
    return 1;
}

/* Sequences: a token of two lengths, literals, then a match further back. The last has literals alone. */
int tsr_lz4_unpack(const uint8_t *packed, size_t packed_size, uint8_t *to, size_t size)
{
    const uint8_t *at = packed, *end = packed + packed_size;
    size_t done = 0;
    while (at < end) {
        const uint8_t token = *at++;
        size_t literals = token >> 4, match = token & 15, back;
        if (!take_length(&at, end, &literals) || literals > (size_t)(end - at) || literals > size - done) return 0;
        if (literals) memcpy(to + done, at, literals);
        at += literals;
        done += literals;
        if (at == end) return done == size;
        if (end - at < 2) return 0;
        back = (size_t)at[0] | (size_t)at[1] << 8;
        at += 2;
        if (!take_length(&at, end, &match) || !back || back > done) return 0;
        match += 4;
        if (match > size - done) return 0;
        const uint8_t *from = to + done - back;
        if (back >= match) memcpy(to + done, from, match);
        else
            for (size_t k = 0; k < match; k++) to[done + k] = from[k]; /* it may repeat itself */
        done += match;
    }
    return 0;
}
