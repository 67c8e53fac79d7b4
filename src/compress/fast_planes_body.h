/* compress/fast_planes_body.h: the loops of fast_isa.c for one width of coefficients; T as in restore_body.h. */

#include "compress/rans_body.h"
#include "compress/restore_body.h"

/* One band out of a stream; what is missing is 0. `even`: the widths take an even number of bytes. */
static const uint8_t *NAME(unpack)(const uint8_t *at, const uint8_t *end, int64_t count, int even, T *TSR_RESTRICT to)
{
    const int64_t blocks = (count + BLOCK - 1) / BLOCK;
    const uint8_t *widths = at;
    if (end - at < blocks + (even && blocks & 1)) {
        memset(to, 0, (size_t)count * sizeof(T));
        return end;
    }
    at += blocks + (even && blocks & 1);
    for (int64_t b = 0; b < blocks; b++, to += BLOCK) {
        const int width = widths[b] < 8 * (int)sizeof(T) ? widths[b] : 8 * (int)sizeof(T);
        const int64_t n = count - b * BLOCK;
        T v[BLOCK] = { 0 };
        if (end - at < 4 * (ptrdiff_t)width) at = end;
        else if (n >= BLOCK) {
            NAME(planes)(at, width, to);
            at += 4 * width;
            continue;
        } else {
            NAME(planes)(at, width, v);
            at += 4 * width;
        }
        memcpy(to, v, (size_t)(n < BLOCK ? n : BLOCK) * sizeof(T));
    }
    return at;
}

/* The bands of resolution r, of extents `e`, packed. */
static void NAME(unpack_bands)(const tsr_fast_source *stream, int32_t r, const int32_t e[3], int even, T *to)
{
    const uint8_t *at = stream->bytes, *end = at ? at + stream->size : NULL;
    for (int k = r ? 1 : 0; k < (r ? 8 : 1); k++) {
        int64_t n = 1;
        for (int a = 0; a < 3; a++) n *= !r ? e[a] : k >> a & 1 ? e[a] / 2 : (e[a] + 1) / 2;
        if (at) at = NAME(unpack)(at, end, n, even, to);
        else memset(to, 0, (size_t)n * sizeof(T));
        to += n;
    }
}

/* Details of resolution r of `many` bricks, by rANS. */
static void NAME(decode_details)(const NAME(details) * d, int many, int32_t r, const int32_t e[3], const tsr_rans_lookup *lookup)
{
    int both = many == 2;
    for (int b = 0; b < many; b++) both &= d[b].stream->bytes != NULL;
    if (both) NAME(rans_streams)(d, 2, e, lookup);
    for (int b = 0; b < many && !both; b++) {
        if (d[b].stream->bytes) NAME(rans_streams)(&d[b], 1, e, lookup);
        else NAME(unpack_bands)(d[b].stream, r, e, 0, d[b].to);
    }
}

/* The samples, in `memory`; details by rANS if there is a lookup. */
static void NAME(decode)(const tsr_fast_brick *bricks, int many, int32_t levels, const int32_t size[3], const tsr_rans_lookup *lookup, void *memory,
                         const void **samples)
{
    int32_t extent[MOST_LEVELS + 1][3];
    const int64_t count = (int64_t)size[0] * size[1] * size[2];
    T *now[TSR_FAST_TOGETHER], *next[TSR_FAST_TOGETHER], *slabs = NULL, *slice = NULL;
    NAME(details) details[TSR_FAST_TOGETHER];
    memcpy(extent[0], size, sizeof extent[0]);
    for (int32_t l = 0; l < levels; l++)
        for (int a = 0; a < 3; a++) extent[l + 1][a] = (extent[l][a] + 1) / 2;
    for (int b = 0; b < many; b++) {
        uint32_t *sums = (uint32_t *)(void *)((char *)memory + (size_t)b * tsr_fast_work(count, 1, sizeof(T) == 2, lookup != NULL));
        now[b] = (T *)(void *)(sums + (lookup ? count : 0));
        next[b] = now[b] + count;
        slabs = now[b] + 3 * count; /* those of the last brick are those of all */
        slice = now[b] + 4 * count;
        details[b] = (NAME(details)){ NULL, now[b] + 2 * count, (uint8_t *)(now[b] + 5 * count), sums };
        NAME(unpack_bands)(&bricks[b].stream[0], 0, extent[levels], lookup != NULL, now[b]);
    }
    for (int32_t r = 1; r <= levels; r++) {
        const int32_t *e = extent[levels - r];
        for (int b = 0; b < many; b++) {
            details[b].stream = &bricks[b].stream[r];
            if (!lookup) NAME(unpack_bands)(details[b].stream, r, e, 0, details[b].to);
        }
        if (lookup) NAME(decode_details)(details, many, r, e, lookup);
        for (int b = 0; b < many; b++) {
            NAME(level)(now[b], details[b].to, e, slabs, slice, next[b]);
            T *other = now[b];
            now[b] = next[b];
            next[b] = other;
        }
    }
    for (int b = 0; b < many; b++) samples[b] = now[b];
}
