/* formats/grids/tsr_codec.c: the bytes of the chunks of a .tsr file. */
#include "formats/grids/tsr.h"

#include "formats/grids/tsr_codec_isa.h"
#include "io/xxh64.h"


/* ---- byte planes: byte b of every element together, which is what makes floats and sorted keys compressible ------------------------------ */

void tsr_plain_keys(const uint64_t *keys, const uint32_t *inside, int64_t count, uint64_t before, uint8_t *plain)
{
    for (int64_t i = 0; i < count; i++) {
        uint64_t step = keys[i] - before;
        before = keys[i];
        for (int b = 0; b < 8; b++) plain[b * count + i] = (uint8_t)(step >> 8 * b);
        for (int b = 0; b < 4; b++) plain[(8 + b) * count + i] = (uint8_t)(inside[i] >> 8 * b);
    }
}

void tsr_keys_of_plain(const uint8_t *plain, int64_t count, uint64_t before, uint64_t *keys, uint32_t *inside)
{
    for (int64_t i = 0; i < count; i++) {
        uint64_t step = 0;
        for (int b = 0; b < 8; b++) step |= (uint64_t)plain[b * count + i] << 8 * b;
        keys[i] = before += step;
    }
    (void)TSR_ISA_SELECT(tsr_words_of_planes)(plain + 8 * count, count, inside);
}

int64_t tsr_plain_bound(int64_t tiles, int32_t edge, int values)
{
    int64_t voxels = tiles * edge * edge * edge;
    return voxels / 4 + voxels * (values == TSR_TILES_Q16 ? 2 : 4);
}

/* ---- values -------------------------------------------------------------------------------------------------------------------------------- */

/* Masks of one tile; explicit values are appended to `explicit_values`, whose new number is returned. */
static int64_t split_q16(const float *from, int32_t voxels, float band, uint8_t *listed, uint8_t *negative, uint32_t *explicit_values, int64_t n)
{
    for (int32_t i = 0; i < voxels; i += 8) {
        uint32_t e = 0, s = 0;
        for (int k = 0; k < 8; k++) {
            int32_t q = tsr_q16(from[i + k], band);
            s |= (uint32_t)(q == -32767) << k;
            if (q == 32767 || q == -32767) continue;
            e |= 1u << k;
            explicit_values[n++] = (uint16_t)(int16_t)q;
        }
        listed[i >> 3] = (uint8_t)e;
        negative[i >> 3] = (uint8_t)s;
    }
    return n;
}

int64_t tsr_plain_values(const float *const *tile, int64_t tiles, int32_t edge, float band, int values, uint32_t *scratch, uint8_t *plain)
{
    const int32_t voxels = edge * edge * edge, bytes = voxels / 8;
    uint8_t *listed = plain, *negative = plain + tiles * bytes, *planes = negative + tiles * bytes;
    int64_t (*split)(const float *, int32_t, uint32_t, uint8_t *, uint8_t *, uint32_t *, int64_t) = TSR_ISA_SELECT(tsr_split_tile);
    uint32_t outside;
    int64_t n = 0;
    memcpy(&outside, &band, sizeof outside);
    for (int64_t t = 0; t < tiles; t++)
        n = values == TSR_TILES_Q16 ? split_q16(tile[t], voxels, band, listed + t * bytes, negative + t * bytes, scratch, n)
                                    : split(tile[t], voxels, outside, listed + t * bytes, negative + t * bytes, scratch, n);
    TSR_ISA_SELECT(tsr_planes_of_words)(scratch, n, values == TSR_TILES_Q16 ? 2 : 4, planes);
    return 2 * tiles * bytes + n * (values == TSR_TILES_Q16 ? 2 : 4);
}

/* ---- back ------------------------------------------------------------------------------------------------------------------------------------ */

static int64_t count_bits(const uint8_t *bytes, int64_t size)
{
    int64_t n = 0, i = 0;
    for (; i + 8 <= size; i += 8) n += __builtin_popcountll(tsr_get_u64(bytes + i));
    for (; i < size; i++) n += __builtin_popcount(bytes[i]);
    return n;
}

/* Codes become float32 bits; 0 if one is no code of a value inside the band. */
static int floats_of_codes(const uint8_t *planes, int64_t n, float band, uint32_t *to)
{
    int good = 1;
    for (int64_t i = 0; i < n; i++) {
        int16_t q = (int16_t)(uint16_t)(planes[i] | planes[n + i] << 8);
        float v = tsr_of_q16(q, band);
        good &= q > -32767 && q < 32767;
        memcpy(to + i, &v, sizeof v);
    }
    return good;
}

int64_t tsr_values_of_plain(const uint8_t *plain, int64_t size, int64_t tiles, int32_t edge, float band, int values, uint32_t *scratch, float *to)
{
    const int32_t voxels = edge * edge * edge, bytes = voxels / 8, width = values == TSR_TILES_Q16 ? 2 : 4;
    const uint8_t *listed = plain, *negative = plain + tiles * bytes, *planes = negative + tiles * bytes;
    int64_t (*join)(const uint8_t *, const uint8_t *, int32_t, uint32_t, const uint32_t *, int64_t, float *) = TSR_ISA_SELECT(tsr_join_tile);
    uint32_t outside;
    int good = 1;
    memcpy(&outside, &band, sizeof outside);
    if (size < 2 * tiles * bytes) return -2;
    const int64_t total = count_bits(listed, tiles * bytes);
    if (size != 2 * tiles * bytes + total * width) return -2;
    if (values == TSR_TILES_Q16) {
        good = floats_of_codes(planes, total, band, scratch);
    } else {
        good = TSR_ISA_SELECT(tsr_words_of_planes)(planes, total, scratch) < outside; /* NaN and infinity are larger as integers, too */
    }
    for (int64_t i = 0; i < tiles * bytes; i++) good &= (listed[i] & negative[i]) == 0;
    int64_t n = 0;
    for (int64_t t = 0; t < tiles; t++) {
        int64_t next = join(listed + t * bytes, negative + t * bytes, voxels, outside, scratch, n, to + t * voxels);
        if (!good) { /* which tile it is */
            for (int64_t i = n; i < next; i++) {
                float v;
                memcpy(&v, &scratch[i], sizeof v);
                if (!(v > -band && v < band)) return t;
            }
            for (int64_t i = t * bytes; i < (t + 1) * bytes; i++)
                if (listed[i] & negative[i]) return t;
        }
        n = next;
    }
    return good ? -1 : 0;
}

/* ---- chunks ------------------------------------------------------------------------------------------------------------------------------------- */

void tsr_chunk_header(const tsr_chunk *chunk, uint8_t header[TSR_CHUNK_HEADER])
{
    tsr_put_u32(header + TSR_AT_KIND, (uint32_t)chunk->kind);
    tsr_put_u32(header + TSR_AT_CHANNEL, (uint32_t)chunk->channel);
    tsr_put_u64(header + TSR_AT_FIRST, (uint64_t)chunk->first);
    tsr_put_u32(header + TSR_AT_TILES, (uint32_t)chunk->tiles);
    tsr_put_u32(header + TSR_AT_CHUNK_CODEC, (uint32_t)chunk->codec);
    tsr_put_u64(header + TSR_AT_STORED, (uint64_t)chunk->stored);
    tsr_put_u64(header + TSR_AT_PLAIN, (uint64_t)chunk->plain);
    tsr_put_u64(header + TSR_AT_CHUNK_SUM, tsr_chunk_sum(header, chunk->bytes, chunk->stored));
}

uint64_t tsr_chunk_sum(const uint8_t header[TSR_CHUNK_HEADER], const uint8_t *stored, int64_t size)
{
    return tsr_xxh64(stored, (size_t)size, tsr_xxh64(header, TSR_AT_CHUNK_SUM, 0));
}
