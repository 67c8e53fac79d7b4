/* wavelet/fast_body.h: the loops of fast_isa.c for one width of coefficients; T as in restore_body.h. */

#include "wavelet/rans_body.h"
#include "wavelet/restore_body.h"

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

/* The samples, in `work`; details by rANS if there is a lookup. */
static const T *NAME(decode)(const tsr_fast_source *streams, int32_t levels, const int32_t size[3], const tsr_rans_lookup *lookup, void *memory)
{
    int32_t extent[MOST_LEVELS + 1][3];
    const int64_t count = (int64_t)size[0] * size[1] * size[2];
    uint32_t *sums = (uint32_t *)memory;
    T *work = (T *)(void *)(sums + (lookup ? count : 0));
    T *now = work, *next = work + count, *bands = work + 2 * count, *slabs = work + 3 * count, *slice = work + 4 * count;
    memcpy(extent[0], size, sizeof extent[0]);
    for (int32_t l = 0; l < levels; l++)
        for (int a = 0; a < 3; a++) extent[l + 1][a] = (extent[l][a] + 1) / 2;
    NAME(unpack_bands)(&streams[0], 0, extent[levels], lookup != NULL, now);
    for (int32_t r = 1; r <= levels; r++) {
        const int32_t *e = extent[levels - r];
        if (lookup && streams[r].bytes) NAME(rans_stream)(&streams[r], e, lookup, bands, (uint8_t *)(slice + count), sums);
        else NAME(unpack_bands)(&streams[r], r, e, 0, bands);
        NAME(level)(now, bands, e, slabs, slice, next);
        T *other = now;
        now = next;
        next = other;
    }
    return now;
}
