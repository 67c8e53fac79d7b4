/* compress/raw_bricks.c: bricks as they are, their samples in the order of the bands that a transform would make. */
#include "compress/raw_bricks.h"

#include <stdlib.h>

static int32_t extent(int32_t n, int32_t shift) { return (n + (1 << shift) - 1) >> shift; }

/* Samples of a resolution, in the order of its stream, row by row: `n` of them, from `place` on, `step` apart, the first is number `number`. */
typedef void row_call(void *user, int64_t place, int64_t step, int32_t n, int64_t number);
static void walk(const int32_t size[3], int32_t levels, int32_t r, row_call *each, void *user)
{
    const int32_t shift = r ? levels - r : levels;
    int64_t number = 0;
    for (int k = r ? 1 : 0; k < (r ? 8 : 1); k++) {
        int32_t n[3], by = r ? 2 : 1;
        for (int a = 0; a < 3; a++) {
            const int32_t e = extent(size[a], shift);
            n[a] = !r ? e : k >> a & 1 ? e / 2 : (e + 1) / 2;
        }
        for (int32_t z = 0; z < n[2]; z++)
            for (int32_t y = 0; y < n[1] && n[0]; y++, number += n[0]) {
                const int64_t px = (int64_t)(k & 1) << shift, py = (int64_t)(by * y + (k >> 1 & 1)) << shift,
                              pz = (int64_t)(by * z + (k >> 2 & 1)) << shift;
                each(user, (pz * size[1] + py) * size[0] + px, (int64_t)by << shift, n[0], number);
            }
    }
}

/* All that a resolution holds, without a walk. */
static int64_t count_of(const int32_t size[3], int32_t levels, int32_t r)
{
    int64_t fine = 1, coarse = 1;
    for (int a = 0; a < 3; a++) {
        fine *= extent(size[a], levels - r);
        coarse *= r ? extent(size[a], levels - r + 1) : 0;
    }
    return fine - coarse;
}

static size_t stream_size(int64_t count, int32_t bytes) { return TSR_RAW_HEADER + (size_t)(count * bytes + 1) / 2 * 2; }

int64_t tsr_raw_size(const int32_t *samples, const int32_t size[3], int32_t levels, int32_t *bytes)
{
    const int64_t count = (int64_t)size[0] * size[1] * size[2];
    uint32_t all = 0;
    int64_t whole = 0;
    for (int64_t i = 0; i < count; i++) all |= (uint32_t)samples[i];
    *bytes = all < 256 ? 1 : all < 65536 ? 2 : 4;
    for (int32_t r = 0; r <= levels; r++) {
        const int64_t n = count_of(size, levels, r);
        whole += n ? (int64_t)stream_size(n, *bytes) : 0;
    }
    return whole;
}

struct copy {
    const int32_t *from;
    uint8_t *to;
    int32_t bytes;
    const tsr_brick_stream *stream;
    int32_t *samples;
};
static void put(void *user, int64_t place, int64_t step, int32_t n, int64_t number)
{
    const struct copy *c = (const struct copy *)user;
    uint8_t *to = c->to + TSR_RAW_HEADER + number * c->bytes;
    for (int32_t i = 0; i < n; i++)
        for (int32_t k = 0; k < c->bytes; k++) *to++ = (uint8_t)((uint32_t)c->from[place + i * step] >> (8 * k));
}
static void get(void *user, int64_t place, int64_t step, int32_t n, int64_t number)
{
    const struct copy *c = (const struct copy *)user;
    const uint8_t *from = c->stream->bytes;
    const int64_t size = (int64_t)c->stream->size;
    for (int32_t i = 0; i < n; i++) c->samples[place + i * step] = from ? tsr_raw_sample(from, size, number + i) : 0;
}

tsr_status tsr_raw_encode(const int32_t *samples, const int32_t size[3], int32_t levels, int32_t absent, int32_t bytes, tsr_planes_stream *stream)
{
    for (int32_t r = 0; r <= levels; r++) {
        const int64_t n = count_of(size, levels, r);
        tsr_planes_stream *to = &stream[r ? r + absent : 0];
        if (!n) continue;
        *to = (tsr_planes_stream){ .size = stream_size(n, bytes), .passes = 1 };
        to->pass[0].bytes = (uint32_t)to->size;
        to->bytes = (uint8_t *)calloc(to->size, 1);
        if (!to->bytes) TSR_FAIL(TSR_ERROR_MEMORY, "compression: out of memory for a stream");
        to->bytes[0] = (uint8_t)(TSR_RAW + bytes);
        struct copy c = { .from = samples, .to = to->bytes, .bytes = bytes };
        walk(size, levels, r, put, &c);
    }
    return TSR_OK;
}

void tsr_raw_decode(const tsr_brick_stream *stream, const int32_t size[3], int32_t levels, int32_t absent, int32_t *samples)
{
    for (int32_t r = 0; r <= levels; r++) {
        struct copy c = { .stream = &stream[r ? r + absent : 0], .samples = samples };
        walk(size, levels, r, get, &c);
    }
}
